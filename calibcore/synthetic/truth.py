"""What infinitely many rows would show of a world: the values that estimates aim at."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from calibcore.calibrators.base import FittedScoreMap
from calibcore.cumulative import CumulativeCurves, curves_of
from calibcore.metrics import METRICS, EventMeasure, Options
from calibcore.results import find, result_class
from calibcore.tally import Tally, expected_tally
from calibcore.validation import Floats

EVENT_MEASURES = {one.key: one for one in METRICS if isinstance(one, EventMeasure)}
"""Every measure of one event, by its key."""

_ROUNDING = 1e-12
_AIM_AT_DISTANCE = ("ece", "ece_equal_mass", "sweep_ece", "kde_ece")
_AIM_AT_ROOT_OF_SQUARES = ("ece_l2", "debiased_ece")


@dataclass(frozen=True)
class MapDistance:
    """How far a map of scores is from the true frequency, over all rows of a world."""

    root_mean_squared: float
    mean_absolute: float
    """In probability units, 0 to 1."""


@result_class
class Population:
    """Scores that each stand for equally many rows, with the true frequency of the event there.

    Notes
    -----
    Every value is a mean over the points, or computed from a tally whose hits are fractions:
    infinitely many rows, but for the 25,200 points that stand for them. Points with equal scores
    have one frequency, their mean, as nobody who is given the score can tell more.
    """

    scores: Floats
    """In [0, 1]; shape (n_points,)."""
    frequency: Floats
    """Of the event, in [0, 1]; shape (n_points,)."""

    @cached_property
    def counted(self) -> Tally:
        """Points counted by score, with the expected hits."""
        return expected_tally(self.scores, self.frequency)

    @cached_property
    def curves(self) -> CumulativeCurves:
        """Cumulative score and cumulative frequency; its p-values and limits mean nothing here."""
        return curves_of(self.counted)

    @cached_property
    def rate(self) -> float:
        """Frequency of the event."""
        return float(self.frequency.mean())

    @cached_property
    def mean_score(self) -> float:
        """Mean of the scores."""
        return float(self.scores.mean())

    @cached_property
    def mean_distance(self) -> float:
        """E |s - p(s)|: the ECE that binned and kernel estimates aim at (Zhang 2020, eq. 2).

        Summed over both classes, as in that equation, it is twice as large.
        """
        return float(np.abs(self._gaps_in_points).sum() / self.counted.n_samples)

    @cached_property
    def distance(self) -> MapDistance:
        """Of the scores from the frequency, point by point: also where scores are equal."""
        gap = self.scores - self.frequency
        return MapDistance(float(np.sqrt((gap**2).mean())), float(np.abs(gap).mean()))

    @property
    def is_calibrated(self) -> bool:
        """Whether every score is the true frequency, but for rounding."""
        return self.mean_distance < _ROUNDING

    @cached_property
    def squared_distance(self) -> float:
        """E (s - p(s))^2: how much higher the Brier score is than `brier_floor`."""
        squares = self._gaps_in_points**2 / self.counted.counts
        return float(squares.sum() / self.counted.n_samples)

    @property
    def ks(self) -> float:
        """KS error."""
        return self.measure("ks_error")

    @cached_property
    def brier_floor(self) -> float:
        """E p(1 - p), given the uncalibrated score: no map of it has a lower Brier score."""
        return float((self.frequency * (1 - self.frequency)).mean())

    @property
    def _gaps_in_points(self) -> Floats:
        return np.asarray(self.counted.counts * self.counted.scores - self.counted.hits)

    def measure(self, key: str, options: Options | None = None) -> float:
        """Return what a measure would be with infinitely many rows.

        Parameters
        ----------
        key : str
            Of any measure of one event in `calibcore.metrics.METRICS`.
        options : Options, optional
            Such as the number of bins, which stays as it is however many rows there are.

        Returns
        -------
        float
            Of a measure in rows, the share of them. KDE-ECE is `mean_distance`, as its kernel
            becomes narrower with each row.

        Raises
        ------
        CalibrationInputError
            No such measure of one event.
        """
        measure = find(EVENT_MEASURES, key, "measure")
        if key == "kde_ece":
            return self.mean_distance
        value = measure.true_distance(self.counted, options or Options())
        return value / self.counted.n_samples if measure.unit == "rows" else value

    def aim(self, key: str, options: Options | None = None) -> float:
        """Return the quantity that a measure is an estimate of.

        Parameters and errors are those of `measure`.

        Returns
        -------
        float
            `mean_distance` of ECE by bins and by kernel densities; its counterpart for squares, a
            root, of ECE of squared gaps; of any other measure what `measure` returns.
        """
        if key in _AIM_AT_DISTANCE:
            return self.mean_distance
        if key in _AIM_AT_ROOT_OF_SQUARES:
            return float(np.sqrt(self.squared_distance))
        return self.measure(key, options)


@result_class
class Truth(Population):
    """What is true of a world.

    Attributes
    ----------
    scores, frequency : ndarray of float64, shape (n_points,)
        As of `Population`; scores are ascending.
    curve : callable
        (scores) to the true frequency of the event at them.

    Examples
    --------
    >>> from calibcore.synthetic import LogOddsCurve, World
    >>> truth = World(LogOddsCurve(slope=0.5)).truth()
    >>> round(truth.measure("calibration_slope"), 3)
    0.5
    >>> truth.measure("ece") <= truth.aim("ece") == truth.mean_distance
    True
    """

    curve: Callable[[ArrayLike], Floats]

    def after(self, fitted: FittedScoreMap) -> Population:
        """Return what is true of scores after a fitted map of them.

        Parameters
        ----------
        fitted : FittedScoreMap
            Any map of scores of the event.
        """
        return Population(fitted.predict(self.scores), self.frequency)
