"""What the peers and the tests of their figures are given: every sample, prepared once.

No peer is imported here, so the ordinary tests can use it.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from benchmarks.data import Table
from calibcore import EventScores, OneClass, TopR
from calibcore.events import Event
from calibcore.probabilities import softmax
from calibcore.validation import Floats

FOLDER = Path(__file__).parents[2] / "sample_logits"
FURTHER = {"fashion_cnn_label_smoothing_0_1", "fashion_cnn_focal_1", "fashion_cnn_focal_2"}
"""Further strengths of the same losses, which show of peers what the others show."""

NAMES = sorted({path.stem for path in FOLDER.glob("*.npz")} - FURTHER)

EPSILON = float(np.finfo(np.float64).eps)
"""Where netcal and betacal clip a probability before they take its logarithm."""

EVENTS: dict[str, Event] = {"": TopR(1), ", class 1": OneClass(1)}
"""Events that are measured, by what is added to the name of a job."""

CUTOFFS = tuple(round(0.05 * k, 2) for k in range(1, 20))
"""At which net benefit is compared."""

N_BINS = 15
N_PROBES = 21


@dataclass(frozen=True, eq=False)
class Case:
    """A sample with its top-1 events and the scores at which fitted maps are read off."""

    name: str
    calibration: Table
    test: Table

    @cached_property
    def calibration_events(self) -> EventScores:
        """Top-1 scores and hits of the calibration set."""
        return TopR(1).outcomes(self.calibration.probabilities, self.calibration.labels)

    @cached_property
    def test_events(self) -> EventScores:
        """Top-1 scores and hits of the test set."""
        return TopR(1).outcomes(self.test.probabilities, self.test.labels)

    @cached_property
    def events(self) -> dict[str, EventScores]:
        """Outcomes of `EVENTS` on the test set."""
        table = self.test
        return {
            name: event.outcomes(table.probabilities, table.labels)
            for name, event in EVENTS.items()
        }

    @cached_property
    def cooled(self) -> Floats:
        """Class probabilities of the test set at a temperature of 2."""
        return softmax(self.test.logits / 2)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.test.logits.shape[1])

    @property
    def probes(self) -> Floats:
        """Equally spaced quantiles of the test set's top-1 scores, each the score of a row."""
        return _spread(self.test_events.scores)

    @property
    def known_probes(self) -> Floats:
        """The same of the calibration set's, where a step and an interpolated map agree."""
        return _spread(self.calibration_events.scores)


def _spread(scores: Floats) -> Floats:
    places = np.linspace(0, len(scores) - 1, N_PROBES).round().astype(np.intp)
    return np.sort(scores)[places]


@cache
def case(name: str) -> Case:
    """Load one sample."""
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as stored:
        return Case(
            name,
            Table(stored["logits_calibration"], stored["labels_calibration"]),
            Table(stored["logits_test"], stored["labels_test"]),
        )


def whole_bins(events: EventScores) -> EventScores:
    """Give the first rows, as many as fill `N_BINS` bins of equal mass without a surplus."""
    n = len(events.scores) // N_BINS * N_BINS
    return EventScores(events.scores[:n], events.hits[:n])


def clipped(probabilities: Floats) -> Floats:
    """Keep probabilities away from 0 and 1 by `EPSILON`."""
    return np.clip(probabilities, EPSILON, 1 - EPSILON)


def log_odds(scores: Floats) -> Floats:
    """Give ln(s / (1 - s)) of scores kept away from 0 and 1 by `EPSILON`."""
    kept: Floats = np.log(clipped(scores) / (1 - clipped(scores)))
    return kept


def logits_nll(logits: Floats, table: Table) -> float:
    """Give the mean negative log-likelihood, in nats, of a table's labels under other logits."""
    below = np.asarray(logits, dtype=np.float64)
    below = below - below.max(axis=1, keepdims=True)
    own = below[np.arange(len(below)), table.labels]
    return float(np.mean(np.log(np.exp(below).sum(axis=1)) - own))


def odds_nll(calibrated_log_odds: Floats, events: EventScores) -> float:
    """Give the mean negative log-likelihood, in nats, of hits under calibrated log-odds."""
    signed = np.where(events.hits == 1, -calibrated_log_odds, calibrated_log_odds)
    return float(np.logaddexp(0, signed).mean())


__all__ = [
    "EPSILON",
    "EVENTS",
    "NAMES",
    "N_BINS",
    "Case",
    "case",
    "clipped",
    "log_odds",
    "logits_nll",
    "odds_nll",
    "whole_bins",
]
