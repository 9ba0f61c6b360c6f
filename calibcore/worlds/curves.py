"""The two halves of a world: how often an event happens at a score, and which scores there are."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.score_maps.platt import log_odds, sigmoid
from calibcore.errors import CalibrationInputError
from calibcore.validation import Floats

STEEPEST = 100.0
"""Largest slope, shift and wave of a curve, in log-odds."""

FARTHEST = 16.0
"""Log-odds at which scores end, so that none is so near to 0 or 1 that it is rounded to it."""


@dataclass(frozen=True)
class LogOddsCurve:
    """True frequency of an event at each score, by its log-odds.

    Parameters
    ----------
    slope : float, default 1.0
        Below 1 scores are too extreme (overconfident), above 1 too timid; it is the true
        `calibcore.metrics.calibration_slope` where there is no wave.
    shift : float, default 0.0
        Above 0 scores are too low, below 0 too high.
    wave : float, default 0.0
        Scores are too low below one half and too high above it, or the reverse below 0.

    Raises
    ------
    CalibrationInputError
        A value beyond -100 to 100.

    Notes
    -----
    logit p = shift + slope logit s + wave sin(2 pi s).

    References
    ----------
    Cox, *Biometrika* 1958, for slope and shift.

    Examples
    --------
    >>> LogOddsCurve(slope=0.5).frequency([0.2, 0.5, 0.8]).round(3).tolist()
    [0.333, 0.5, 0.667]
    """

    slope: float = 1.0
    shift: float = 0.0
    wave: float = 0.0

    def __post_init__(self) -> None:
        """Raise if a number is too large."""
        for name in ("slope", "shift", "wave"):
            validation.number(getattr(self, name), name, least=-STEEPEST, most=STEEPEST)

    def frequency(self, scores: ArrayLike) -> Floats:
        """Return how often the event truly happens.

        Parameters
        ----------
        scores : array_like of float, shape (...)
            Predicted probability of the event (y_prob), in [0, 1].

        Returns
        -------
        ndarray of float64, shape (...)
            In [0, 1].

        Raises
        ------
        CalibrationInputError
            Scores out of range.
        """
        checked = _scores(scores)
        if (self.slope, self.shift, self.wave) == (1, 0, 0):
            return checked  # to the last digit
        waves = self.wave * np.sin(2 * np.pi * checked) if self.wave else 0.0
        return sigmoid(self.shift + self.slope * log_odds(checked) + waves)


@dataclass(frozen=True)
class HandCurve:
    """True frequency of an event at each score, drawn by hand.

    Parameters
    ----------
    handles : tuple of float
        Frequencies at equally spaced scores from 0 to 1, at least two; straight lines between.

    Raises
    ------
    CalibrationInputError
        Fewer than two handles, or one that is not from 0 to 1.

    Examples
    --------
    >>> HandCurve((0.0, 0.8, 1.0)).frequency([0.25, 0.5]).tolist()
    [0.4, 0.8]
    """

    handles: tuple[float, ...]

    def __post_init__(self) -> None:
        """Raise if these are no frequencies."""
        if not isinstance(self.handles, tuple) or len(self.handles) < 2:
            raise CalibrationInputError(
                "handles", repr(self.handles), "a tuple of 2 numbers or more"
            )
        for handle in self.handles:
            validation.number(handle, "handles", least=0, most=1)

    def frequency(self, scores: ArrayLike) -> Floats:
        """Return how often the event truly happens, as `LogOddsCurve.frequency` does."""
        places = np.linspace(0, 1, len(self.handles))
        return np.asarray(np.interp(_scores(scores), places, self.handles), dtype=np.float64)


Curve = LogOddsCurve | HandCurve


@dataclass(frozen=True)
class NormalScores:
    """Scores whose log-odds are normal, or two normal distributions of equal size.

    Parameters
    ----------
    centre : float
        Mean of the log-odds.
    spread : float
        Their standard deviation, of each of the two.
    apart : float, default 0.0
        How far the two lie from their mean, in log-odds; 0: they are one.

    Raises
    ------
    CalibrationInputError
        A centre beyond -100 to 100, a spread or a distance that is not from 0 to 100.

    Notes
    -----
    Log-odds end at `FARTHEST` on both sides: what is beyond is moved there.

    Examples
    --------
    >>> NormalScores(centre=1.0, spread=0.0).points(2).round(3).tolist()
    [0.731, 0.731]
    """

    centre: float
    spread: float
    apart: float = 0.0

    def __post_init__(self) -> None:
        """Raise if these are no distributions."""
        validation.number(self.centre, "centre", least=-STEEPEST, most=STEEPEST)
        for name in ("spread", "apart"):
            validation.number(getattr(self, name), name, least=0, most=STEEPEST)

    def points(self, n_points: int) -> Floats:
        """Return scores that each stand for equally many rows, ascending, shape (n_points,).

        They are the quantiles in the middle of equal shares, of each of the two by itself.

        Parameters
        ----------
        n_points : int
            An even number.
        """
        if not self.apart:
            return squeezed(self.centre + self.spread * middles(n_points))
        half, sides = self.spread * middles(n_points // 2), (-self.apart, self.apart)
        return squeezed(np.sort(np.concatenate([self.centre + side + half for side in sides])))

    def draw(
        self, normal: np.random.Generator, side: np.random.Generator, shape: tuple[int, ...]
    ) -> Floats:
        """Draw scores.

        Parameters
        ----------
        normal, side : numpy.random.Generator
            For the places, and for which of the two distributions.
        shape : tuple of int
            Shape of what is returned.
        """
        odds = self.centre + self.spread * normal.standard_normal(shape)
        if self.apart:
            odds += np.where(side.random(shape) < 0.5, -self.apart, self.apart)
        return squeezed(odds)


def squeezed(odds: Floats) -> Floats:
    """Turn log-odds into scores, those beyond `FARTHEST` into its own."""
    return sigmoid(np.clip(odds, -FARTHEST, FARTHEST))


@cache
def middles(n: int) -> Floats:
    """Return the normal quantiles in the middle of n equal shares, read-only."""
    from scipy.special import ndtri  # noqa: PLC0415 - a tenth of a second to import

    found: Floats = ndtri((np.arange(n) + 0.5) / n)
    found.flags.writeable = False
    return found


def at_other_odds(frequency: Floats, shift: float) -> Floats:
    """Return frequencies whose log-odds are higher by a shift; 0 and 1 stay.

    Examples
    --------
    >>> at_other_odds(np.array([0.0, 0.5, 1.0]), math.log(3)).round(3).tolist()
    [0.0, 0.75, 1.0]
    """
    factor = math.exp(shift)
    return frequency * factor / (frequency * factor + (1 - frequency))


def _scores(scores: ArrayLike) -> Floats:
    """Check scores of any shape."""
    array = validation.real_array(scores, "scores")
    return validation.scores(array.ravel()).reshape(array.shape)
