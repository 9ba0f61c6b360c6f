"""Seeded data that look like an overconfident network's, so nothing has to be downloaded."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from calibcore import EventScores
from calibcore.probabilities import softmax
from calibcore.validation import Floats, Labels

OVERCONFIDENCE = 2.0
"""The temperature that would calibrate the logits, by construction."""

_FEATURES = 64


@dataclass(frozen=True, eq=False)
class Table:
    """Logits with labels, and their softmax, computed once and outside every timing.

    Attributes
    ----------
    logits : ndarray of float32, shape (n_samples, n_classes)
    labels : ndarray of int64, shape (n_samples,)
    """

    logits: NDArray[np.float32]
    labels: Labels

    @cached_property
    def probabilities(self) -> Floats:
        """Class probabilities in float64, shape (n_samples, n_classes)."""
        return softmax(self.logits)


def draw_table(n_samples: int, n_classes: int, *, seed: int = 0) -> Table:
    """Draw logits of a classifier that is right about four times in five and overconfident.

    Parameters
    ----------
    n_samples, n_classes : int
        Shape of the logits.
    seed : int, default 0
        The same seed gives the same table.

    Notes
    -----
    Each class has a random direction; a row is its class's direction plus noise as strong as
    confuses half of the rows by the union bound, which is loose. The exact log-posterior of that
    mixture is calibrated; times `OVERCONFIDENCE` it is not. Half of a row's largest logit is
    subtracted, which softmax does not see and which keeps float32's exp finite.
    """
    rng = np.random.default_rng(seed)
    noise = -1 / (np.sqrt(2) * ndtri(0.5 / (n_classes - 1)))
    directions = rng.standard_normal((n_classes, _FEATURES))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    labels = rng.integers(n_classes, size=n_samples)
    rows = directions[labels] + noise * rng.standard_normal((n_samples, _FEATURES))
    logits = OVERCONFIDENCE / noise**2 * (rows @ directions.T)
    logits -= logits.max(axis=1, keepdims=True) / 2
    return Table(logits.astype(np.float32), labels)


def draw_events(n_samples: int, *, seed: int = 0) -> EventScores:
    """Draw scores of an event that happens four times in five and is scored too far from 0.5.

    Notes
    -----
    The event's log-odds are normal; the score has them times `OVERCONFIDENCE`.
    """
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(2.0, 1.5, n_samples)
    hits = rng.random(n_samples) < expit(log_odds)
    return EventScores(expit(OVERCONFIDENCE * log_odds), hits)
