"""Ranges of scores that are shown to be too high or too low, with all bins looked at together."""

import numpy as np
from numpy.typing import NDArray

from calibcore.binning import BinTable
from calibcore.inference.multiple_testing import holm
from calibcore.reliability.bands import check_level
from calibcore.results import result_class
from calibcore.validation import Floats

Places = NDArray[np.intp]


@result_class
class OffRange:
    """Neighbouring bins whose scores are shown to be off in one direction.

    Attributes
    ----------
    low, high : float
        Ends of the range, in [0, 1]; it holds the scores above ``low`` and up to ``high``.
    first, last : bool
        Whether no score is below the range, and none above it.
    n_rows : int
        Rows in the range.
    mean_score, frequency : float
        Mean predicted score and observed frequency of these rows.
    """

    low: float
    high: float
    first: bool
    last: bool
    n_rows: int
    mean_score: float
    frequency: float

    @property
    def gap(self) -> float:
        """``mean_score - frequency``: above 0 where scores are too high."""
        return self.mean_score - self.frequency


def off_ranges(bins: BinTable, *, level: float = 0.05) -> tuple[OffRange, ...]:
    """Find the ranges of scores that are too high or too low, beyond chance.

    Parameters
    ----------
    bins : BinTable
        Rows in bins of their score.
    level : float, default 0.05
        Chance of naming even one range if the scores are the true probabilities; in (0, 1).

    Returns
    -------
    tuple of OffRange
        From low to high scores; empty where no range is shown to be off.

    Raises
    ------
    CalibrationInputError
        A level that is not between 0 and 1.

    Notes
    -----
    Each bin that holds rows is tested by `bin_p_values`, adjusted for all of them by Holm's method.
    Bins that are off in the same direction make one range if there is no other bin with rows
    between them.

    Examples
    --------
    >>> from calibcore.binning import bin_scores
    >>> (found,) = off_ranges(bin_scores([0.2] * 50 + [0.9] * 50, [0] * 40 + [1] * 35 + [0] * 25))
    >>> round(found.low, 2), found.last, found.n_rows, round(found.gap, 2)
    (0.87, True, 50, 0.4)
    """
    check_level(level)
    filled = np.flatnonzero(bins.counts)
    adjusted = holm(bin_p_values(bins)[filled])
    signs = np.where(adjusted < level, np.sign(bins.gap[filled]), 0)
    # A run ends where the sign changes.
    starts = np.flatnonzero(np.diff(signs, prepend=np.nan) != 0)
    ends = np.append(starts[1:], signs.size)
    return tuple(
        _range(bins, filled, start, end)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        if signs[start]
    )


def _range(bins: BinTable, filled: Places, start: int, end: int) -> OffRange:
    places = filled[start:end]
    counts = bins.counts[places]
    return OffRange(
        low=float(bins.edges[places[0]]),
        high=float(bins.edges[places[-1] + 1]),
        first=start == 0,
        last=end == filled.size,
        n_rows=int(counts.sum()),
        mean_score=float(np.average(bins.mean_score[places], weights=counts)),
        frequency=float(np.average(bins.frequency[places], weights=counts)),
    )


def bin_p_values(bins: BinTable) -> Floats:
    """Return for each bin how rare its gap is if the scores are the true probabilities.

    Parameters
    ----------
    bins : BinTable
        Rows in bins of their score.

    Returns
    -------
    ndarray of float64, shape (n_bins,)
        Two-sided p-values, never below the exact ones; 1 in an empty bin.

    Notes
    -----
    The hits of a bin are a sum of draws with its rows' scores as probabilities. From one hit above
    the mean on, its upper tail is at most the binomial one of the mean score; that of a single hit
    is at most the expected number. Likewise for the misses. Twice the smaller tail is reported.

    References
    ----------
    Hoeffding, *On the distribution of the number of successes in independent trials*, Annals of
    Mathematical Statistics 1956, theorem 4.
    """
    rows = bins.counts.astype(np.float64)
    score, frequency = np.nan_to_num(bins.mean_score), np.nan_to_num(bins.frequency)
    hits = np.rint(frequency * rows)
    more = _tail(hits, rows, score)
    fewer = _tail(rows - hits, rows, 1 - score)
    return np.asarray(np.minimum(2 * np.minimum(more, fewer), 1.0))


def _tail(hits: Floats, rows: Floats, share: Floats) -> Floats:
    """Bound the chance of so many hits or more."""
    from scipy.special import betainc  # noqa: PLC0415 - a tenth of a second to import

    expected = rows * share
    some = np.maximum(hits, 1.0)
    tail = betainc(some, np.maximum(rows, 1.0) - some + 1, np.clip(share, 0.0, 1.0))
    tail = np.where(hits >= expected + 1, tail, 1.0)
    single = np.where(rows > 0, np.minimum(expected, 1.0), 1.0)
    return np.asarray(np.where(hits == 1, single, tail))
