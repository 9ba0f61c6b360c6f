"""Bands: the region that holds the middle part of many resampled curves."""

from dataclasses import dataclass

import numpy as np

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.results import result_class
from calibcore.validation import Floats

MOST_RESAMPLES = 10_000


@result_class
class Band:
    """A pointwise region about a reliability curve."""

    score: Floats
    """Where the band is given, ascending; shape (n_places,)."""
    lower: Floats
    upper: Floats
    """Lowest and highest frequency, in [0, 1]; NaN where no resample has an estimate; shape
    (n_places,).
    """
    level: float
    """Share of the resampled curves inside, at each place on its own."""
    n_resamples: int
    seed: int
    """How many resamples, and the seed they were drawn from."""


@dataclass(frozen=True)
class Resampling:
    """How a band is drawn: checked once, then handed on."""

    n_resamples: int
    seed: int
    level: float
    """Of `Band`."""

    def __post_init__(self) -> None:
        """Check the options."""
        validation.whole_number(self.n_resamples, "n_resamples", least=1, most=MOST_RESAMPLES)
        validation.whole_number(self.seed, "seed", least=0)
        check_level(self.level)

    def generator(self) -> np.random.Generator:
        """Start the random numbers of this seed."""
        return np.random.default_rng(self.seed)

    def band(self, score: Floats, lower: Floats, upper: Floats) -> Band:
        """Make the band, with what it was drawn from."""
        return Band(score, lower, upper, self.level, self.n_resamples, self.seed)


def check_level(level: float) -> float:
    """Raise if a level is not strictly between 0 and 1."""
    if not isinstance(level, float | np.floating) or not 0 < level < 1:
        raise CalibrationInputError("level", repr(level), "a number between 0 and 1")
    return float(level)


def quantile_band(curves: Floats, level: float) -> tuple[Floats, Floats]:
    """Find where the middle of many curves lies, at each place on its own.

    ``curves``: NaN where a resample has no estimate; shape (n_resamples, n_places). ``level``:
    share of the curves inside.

    Lower and upper quantile; NaN where no resample has an estimate; shape (n_places,).

    Notes
    -----
    Of n curves known at a place, the quantile q is the (n + 1) q-th lowest, interpolated. So one
    more curve like them is inside with probability ``level``, exactly so where
    (n + 1)(1 - level) / 2 is whole.

    Examples
    --------
    >>> lower, upper = quantile_band(np.arange(1.0, 40.0)[:, np.newaxis], 0.9)
    >>> lower.round(9).tolist(), upper.round(9).tolist()
    ([2.0], [38.0])
    """
    ordered = np.sort(curves, axis=0)  # NaN come last
    known = curves.shape[0] - np.isnan(curves).sum(axis=0)
    last = np.maximum(known - 1, 0)

    def quantile(share: float) -> Floats:
        place = np.clip(share * (known + 1) - 1, 0, last)
        below = place.astype(np.intp)
        low = np.take_along_axis(ordered, below[np.newaxis], axis=0)[0]
        above = np.minimum(below + 1, last)
        high = np.take_along_axis(ordered, above[np.newaxis], axis=0)[0]
        return np.asarray(low + (place - below) * (high - low))

    return quantile((1 - level) / 2), quantile((1 + level) / 2)
