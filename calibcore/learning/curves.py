"""What learning curves hold, and what can be read off them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.metrics import METRICS, Measure
from calibcore.results import find, result_class
from calibcore.validation import Floats

LEARNED = ("ks_error", "ece", "kde_ece", "event_nll", "event_brier", "nll", "accuracy")
"""Measures of a learning curve, by key, in the order of `LearningPoint.values`."""

ENOUGH = 0.9
"""A size is enough from which on the mean keeps this part of the gain that all rows give."""

_RESAMPLES, _SEED = 400, 0
"""Of the draws, for the interval of the rows that are enough."""

MEASURES: tuple[Measure, ...] = tuple(
    next(measure for measure in METRICS if measure.key == key) for key in LEARNED
)
"""The same, as `calibcore.metrics` describes them."""


@dataclass(frozen=True)
class Plan:
    """How learning curves are made.

    Raises
    ------
    CalibrationInputError
        Sizes out of order, or a number that is out of range.
    """

    sizes: tuple[int, ...]
    """Rows to fit on, ascending, at least one size."""
    n_draws: int = 10
    """Draws of each size, at least 1; of the whole calibration set there is one."""
    seed: int = 0
    """Of the draws, at least 0."""
    n_bins: int = 15
    """Bins of the ECE."""

    def __post_init__(self) -> None:
        """Raise if the last size is not the largest, as `LearningCurve.enough` needs."""
        for size in self.sizes:
            validation.whole_number(size, "sizes", least=1)
        if not self.sizes or any(a >= b for a, b in pairwise(self.sizes)):
            found = ", ".join(map(str, self.sizes)) or "none"
            raise CalibrationInputError("sizes", found, "at least one number, ascending")
        validation.whole_number(self.n_draws, "n_draws", least=1)
        validation.whole_number(self.seed, "seed", least=0)


@result_class
class LearningPoint:
    """One calibrator fitted on draws of one size, evaluated on the test set."""

    size: int
    """Calibration rows of each draw."""
    values: Floats
    """`LEARNED` after each fit; NaN where a measure is not defined; shape (n_fitted, 6)."""
    refused: tuple[str, ...]
    """Why a draw could not be fitted, one sentence a draw that was refused."""


@result_class
class LearningCurve:
    """One calibrator over the size of the calibration set."""

    key: str
    """Of the calibrator."""
    points: tuple[LearningPoint, ...]
    """The smallest size first."""

    @cached_property
    def usable(self) -> tuple[LearningPoint, ...]:
        """Sizes at which at least one draw could be fitted."""
        return tuple(point for point in self.points if len(point.values))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Usable sizes, shape (n_sizes,)."""
        return np.array([point.size for point in self.usable], dtype=np.int64)

    @property
    def n_refused(self) -> int:
        """Draws of any size that could not be fitted."""
        return sum(len(point.refused) for point in self.points)

    def mean(self, measure: str) -> Floats:
        """Return the mean over the draws at each usable size; NaN where it is not defined."""
        return np.array([values.mean() for values in self._draws(measure)])

    def quantile(self, measure: str, share: float) -> Floats:
        """Return the value that this share of the draws stays below, at each usable size."""
        return np.array([np.quantile(values, share) for values in self._draws(measure)])

    def enough(self, measure: str, before: float) -> "EnoughRows | None":
        """Find the rows from which on 90% of the gain over uncalibrated scores is kept.

        ``measure``: one of `LEARNED`. ``before``: its value without calibration.

        None where nothing was fitted, the measure is not defined, or all rows give no gain.

        Notes
        -----
        The gain is interpolated between sizes by the logarithm of the rows. The interval is that of
        percentiles over resamples of the draws at each size: it tells how well the draws determine
        the number, for these test rows.
        """
        draws = [values for values in self._draws(measure) if not np.isnan(values).any()]
        if not draws or len(draws) < self.sizes.size:
            return None
        sign = 1 if _is_better_higher(measure) else -1
        gains = [sign * (values - before) for values in draws]
        if gains[-1].mean() <= 0:
            return None
        found = self._first_kept(np.array([[gain.mean()] for gain in gains]))
        rng = np.random.default_rng(_SEED)
        again = (gain[rng.integers(gain.size, size=(_RESAMPLES, gain.size))] for gain in gains)
        resampled = self._first_kept(np.stack([gain.mean(axis=1) for gain in again]))
        low, high = np.quantile(resampled, [0.025, 0.975])
        return EnoughRows(float(found[0]), float(min(low, found[0])), float(max(high, found[0])))

    def _first_kept(self, gains: Floats) -> Floats:
        """Return the rows from which on the gains are kept, shape (n,), of gains (n_sizes, n)."""
        wanted, logs = ENOUGH * gains[-1], np.log(self.sizes)
        short = gains[:-1] < wanted
        last = short.shape[0] - 1 - np.argmax(short[::-1], axis=0) if short.size else 0
        found = np.full(gains.shape[1], float(self.sizes[0]))
        for place in range(short.shape[0]):
            here = short[place] & (last == place)
            below, above = gains[place][here], gains[place + 1][here]
            with np.errstate(invalid="ignore"):  # a fit that is infinitely bad
                step = np.nan_to_num((wanted[here] - below) / (above - below), nan=1.0)
            between = logs[place] + step.clip(0, 1) * (logs[place + 1] - logs[place])
            found[here] = np.exp(between)
        return found

    def _draws(self, measure: str) -> Iterator[Floats]:
        column = LEARNED.index(measure)
        return (point.values[:, column] for point in self.usable)


@result_class
class EnoughRows:
    """How many rows are enough, and how well that is known."""

    n_rows: float
    """From so many on, 90% of the gain that all rows give is kept."""
    low: float
    high: float
    """95% interval."""


@result_class
class LearningCurves:
    """Calibrators over the size of the calibration set, all fitted on the same draws."""

    curves: tuple[LearningCurve, ...]
    """One a calibrator."""
    plan: Plan
    """Sizes, draws and seed."""

    def curve(self, key: str) -> LearningCurve:
        """Find the curve of a calibrator."""
        return find({curve.key: curve for curve in self.curves}, key, "calibrator")

    def best(self, measure: str) -> list[tuple[int, str]]:
        """Return the calibrator that has the best mean at each size, the first of equals.

        Size and key of the calibrator, at each size at which any was fitted.
        """
        sign = -1 if _is_better_higher(measure) else 1
        means: dict[int, list[tuple[float, str]]] = {}
        for curve in self.curves:
            for size, mean in zip(curve.sizes.tolist(), curve.mean(measure), strict=True):
                if not np.isnan(mean):
                    means.setdefault(size, []).append((sign * mean, curve.key))
        first = {size: min(found, key=lambda pair: pair[0]) for size, found in means.items()}
        return [(size, first[size][1]) for size in sorted(first)]


def _is_better_higher(measure: str) -> bool:
    return MEASURES[LEARNED.index(measure)].better == "higher"
