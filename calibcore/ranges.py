"""Numbers grouped by ranges that hold about as many of them each."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.results import result_class
from calibcore.validation import Floats


@result_class
class Ranges:
    """Values cut into ranges that hold about the same number of them.

    Attributes
    ----------
    low, high : ndarray of float64, shape (n_ranges,)
        Smallest and largest value in each range, ascending.
    places : ndarray of int, shape (n_samples,)
        Range of each value, from 0; -1 where it is NaN.
    """

    low: Floats
    high: Floats
    places: NDArray[np.intp]


def equal_ranges(values: ArrayLike, n_ranges: int) -> Ranges:
    """Cut values into ranges that hold about the same number of them.

    Parameters
    ----------
    values : array_like of float, shape (n_samples,)
        NaN is in no range.
    n_ranges : int
        At most so many: equal values are never parted.

    Returns
    -------
    Ranges

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
