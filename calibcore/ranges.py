"""Numbers grouped by ranges that hold about as many of them each."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.results import result_class
from calibcore.validation import Floats


@result_class
class Ranges:
    """Values cut into ranges that hold about the same number of them."""

    low: Floats
    high: Floats
    """Smallest and largest value in each range, ascending; shape (n_ranges,)."""
    places: NDArray[np.intp]
    """Range of each value, from 0; -1 where it is NaN; shape (n_samples,)."""


def equal_ranges(values: ArrayLike, n_ranges: int) -> Ranges:
    """Cut values into ranges that hold about the same number of them.

    ``values``: NaN is in no range; shape (n_samples,). ``n_ranges``: at most so many: equal values
    are never parted.

    Raises
    ------
    CalibrationInputError
        What is no number, not one a row, or a number of ranges that is not from 1 to 1,000.

    Examples
    --------
    >>> found = equal_ranges([3.0, 1.0, np.nan, 2.0, 4.0], 2)
    >>> found.low.tolist(), found.high.tolist(), found.places.tolist()
    ([1.0, 3.0], [2.0, 4.0], [1, 0, -1, 0, 1])
    """
    n_ranges = validation.whole_number(n_ranges, "n_ranges", least=1, most=1_000)
    found = validation.numbers(values, "values")
    known = ~np.isnan(found)
    places = np.full(found.size, -1, dtype=np.intp)
    if not known.any():
        return Ranges(np.empty(0), np.empty(0), places)
    ordered = np.sort(found[known])
    # The last place of each range's share; equal ones among them make one range.
    lasts = np.arange(1, n_ranges + 1) * ordered.size // n_ranges - 1
    high = np.unique(ordered[lasts[lasts >= 0]])
    firsts = np.append(0, np.searchsorted(ordered, high[:-1], side="right"))
    places[known] = np.searchsorted(high, found[known])
    return Ranges(ordered[firsts], high, places)


@result_class
class RoundRanges:
    """Values cut at round numbers."""

    cuts: Floats
    """Least number of each range but the first, ascending; shape (n_ranges - 1,)."""
    whole: bool
    """Whether all values are whole numbers."""
    places: NDArray[np.intp]
    """Range of each value, from 0; -1 where it is NaN; shape (n_samples,)."""


_STEPS = (5.0, 2.5, 2.0, 1.0)
"""Times a power of 10: the distances between round numbers, the roundest first."""


def round_ranges(values: ArrayLike, n_ranges: int) -> RoundRanges:
    """Cut values at round numbers into ranges that hold not too unequal numbers of them.

    ``values``: NaN is in no range; shape (n_samples,). ``n_ranges``: at most so many.

    Raises
    ------
    CalibrationInputError
        What is no number, not one a row, or a number of ranges that is not from 1 to 1,000.

    Notes
    -----
    A cut is the roundest number within a quarter of a range of its quantile: a multiple of 1, 2,
    2.5 or 5 times a power of 10, the largest that has one there. So a range holds at least
    half of n / n_ranges values; where equal values are in the way, cuts are left out.

    Examples
    --------
    >>> found = round_ranges([18, 23, 29, 34, 41, 47, 58, 66], 4)
    >>> found.cuts.tolist(), found.places.tolist()
    ([25.0, 40.0, 50.0], [0, 0, 1, 1, 2, 2, 3, 3])
    """
    n_ranges = validation.whole_number(n_ranges, "n_ranges", least=1, most=1_000)
    found = validation.numbers(values, "values")
    known = ~np.isnan(found)
    ordered = np.sort(found[known])
    whole = bool(np.isfinite(ordered).all() and (ordered == np.rint(ordered)).all())
    least, last = ordered.size / (2 * n_ranges), 0
    cuts: list[float] = []
    for k in range(1, n_ranges if ordered.size > 1 else 1):
        cut = _round_cut(ordered, (2 * k) * least, least / 2, whole=whole)
        below = int(np.searchsorted(ordered, cut))
        if below > 0 and below - last >= least and ordered.size - below >= least:
            cuts.append(cut)
            last = below
    places = np.full(found.size, -1, dtype=np.intp)
    places[known] = np.searchsorted(cuts, found[known], side="right")
    return RoundRanges(np.array(cuts), whole, places)


def _round_cut(ordered: Floats, target: float, room: float, *, whole: bool) -> float:
    """Return the roundest number below which about so many values lie.

    Where equal values are in the way, the value itself or the next, whichever is nearer.
    """
    first, last = int(np.ceil(target - room)), int(np.floor(target + room))
    if not 0 < first <= last < ordered.size:
        first = last = min(max(round(target), 1), ordered.size - 1)
    low, high = float(ordered[first - 1]), float(ordered[last])
    if low == high:
        below, upto = np.searchsorted(ordered, low), np.searchsorted(ordered, low, side="right")
        after = float(ordered[min(int(upto), ordered.size - 1)])
        if target - below <= upto - target:
            return low
        return _roundest(low, after, after, whole=whole)
    return _roundest(low, high, float(ordered[int(target)]), whole=whole)


def _roundest(low: float, high: float, wanted: float, *, whole: bool) -> float:
    """Return the roundest number above ``low`` and up to ``high``, the nearest to ``wanted``."""
    if not np.isfinite([low, high]).all() or low == high:
        return high
    size = max(abs(low), abs(high))
    power = int(np.ceil(np.log10(size))) if size else 0
    for exponent in range(power, max(power - 16, -300), -1):
        for factor in _STEPS:
            step = factor * 10.0**exponent
            if whole and step != round(step):
                continue
            least, most = np.floor(low / step) + 1, np.floor(high / step)
            if least <= most:
                times = min(max(round(wanted / step), least), most)
                cut = float(f"{times * step:.15g}")
                if low < cut <= high:
                    return cut
    return high
