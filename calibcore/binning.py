"""Rows gathered into bins of their score."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.results import result_class
from calibcore.tally import Tally, tally
from calibcore.validation import Floats
from calibcore.weights import SampleWeight

Binning = Literal["equal_width", "equal_mass"]

_ALMOST = 1 - 1e-12
"""Share of a total of weights that counts as all of it: rounding."""


@result_class
class BinTable:
    """What each bin of scores holds.

    Attributes
    ----------
    edges : ndarray of float64, shape (n_bins + 1,)
        From 0 to 1. Bin b is (edges[b], edges[b + 1]]; the first one holds 0 too.
    counts : ndarray of int64, shape (n_bins,)
        Rows in each bin; of rows with sampling weights, the sums of these, float64, whose mean over
        all rows is 1.
    mean_score, frequency : ndarray of float64, shape (n_bins,)
        Mean predicted score and observed frequency; NaN in an empty bin.
    rows_alike : ndarray of float64, shape (n_bins,), or None
        Of rows with weights or clusters, how many rows drawn one by one would tell the frequency
        as well: `calibcore.weights.OrderedDesign.rows_alike`; 0 in an empty bin.
    kish : ndarray of float64, shape (n_bins,), or None
        Of rows with sampling weights, Kish's effective number of rows; 0 in an empty bin.

    Of several resamples, with the leading dimensions of their `Tally`.
    """

    edges: Floats
    counts: NDArray[np.int64] | Floats
    mean_score: Floats
    frequency: Floats
    rows_alike: Floats | None = None
    kish: Floats | None = None

    @property
    def gap(self) -> Floats:
        """``mean_score - frequency``: above 0 where scores are too high."""
        return self.mean_score - self.frequency


def bin_scores(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_bins: int = 15,
    binning: Binning = "equal_width",
    sample_weight: SampleWeight = None,
) -> BinTable:
    """Gather rows into bins of their score.

    ``scores``: predicted probability of the event (y_prob), in [0, 1]; shape (n_samples,).
    ``hits``: whether the event happened (y_true of the event); shape (n_samples,). ``n_bins``: at
    least 1. ``binning``: bins as wide as each other, or holding as many rows as each other.
    ``sample_weight``: of the rows, as in `calibcore.weights`; shape (n_samples,).

    As many bins as asked for, empty ones included.

    Raises `CalibrationInputError` for scores or hits out of range, fewer than one bin, and another
    binning.

    Bins are (lower, upper], the first one closed below. Equal width: edge k is k / n_bins. Equal
    mass: inner edge k is the score of the row at place floor(k n_samples / n_bins) of the sorted
    rows, counted from 1 (place 0 gives 0); rows with equal scores always share a bin, so with many
    ties some bins are empty. Sums run over the distinct scores, so no bit depends on row order.
    With sampling weights, of mean 1, it is the lowest score up to which rows have
    floor(k n_samples / n_bins) of the weight.

    Source: Guo et al., ICML 2017, section 2 (equal width); Vasilev and D'yakonov 2023, section 3.2.

    >>> bin_scores([0.1, 0.5, 0.6], [0, 1, 1], n_bins=2).counts.tolist()
    [2, 1]
    """
    counted = tally(scores, hits, sample_weight=sample_weight)
    return bin_tally(counted, n_bins=n_bins, binning=binning)


def bin_tally(counted: Tally, *, n_bins: int = 15, binning: Binning = "equal_width") -> BinTable:
    """Gather rows that are counted by score into bins, as `bin_scores`; resamples all at once."""
    n_bins = validation.whole_number(n_bins, "n_bins", least=1, most=1_000_000)
    validation.choice(binning, "binning", allowed=("equal_width", "equal_mass"))
    if binning == "equal_width":
        edges = equal_width_edges(n_bins)
        starts = equal_width_starts(counted, n_bins)
    else:
        starts = equal_mass_starts(counted, n_bins)
        edges = np.ones((*starts.shape[:-1], n_bins + 1))
        edges[..., :-1] = np.where(starts > 0, counted.scores[np.maximum(starts, 1) - 1], 0.0)
    counts = bin_sums(counted.counts, starts)
    with np.errstate(invalid="ignore"):  # an empty bin has no mean: 0 / 0 is NaN
        frequency = bin_sums(counted.hits, starts) / counts
        return BinTable(
            edges=edges,
            counts=counts.astype(np.int64) if counted.squares is None else counts,
            mean_score=bin_sums(counted.counts * counted.scores, starts) / counts,
            frequency=frequency,
            rows_alike=_rows_alike(counted, starts, frequency),
            kish=_kish(counted, starts, counts),
        )


def _kish(counted: Tally, starts: NDArray[np.intp], counts: Floats) -> Floats | None:
    """Return Kish's effective number of rows in each bin; None of rows without such weights."""
    if counted.squares is None or counted.counts.ndim > 1:
        return None
    squares = bin_sums(counted.squares, starts)
    return np.divide(counts**2, squares, out=np.zeros_like(counts), where=squares > 0)


def _rows_alike(counted: Tally, starts: NDArray[np.intp], frequency: Floats) -> Floats | None:
    """Return how many equal rows tell the frequency of each bin as well; None of equal rows."""
    if counted.design is None or counted.hits.ndim > 1:
        return None
    filled = ~np.isnan(frequency)
    rows = np.zeros(frequency.shape)
    rows[filled] = counted.design.rows_alike(frequency[filled], starts[filled])
    return rows


def equal_width_starts(counted: Tally, n_bins: int) -> NDArray[np.intp]:
    """Return the first block of each bin of equal width, shape (n_bins,)."""
    inner = np.arange(1, n_bins) / n_bins
    return np.concatenate([[0], np.searchsorted(counted.scores, inner, side="right")])


def equal_mass_starts(
    counted: Tally, n_bins: int, totals: Floats | None = None
) -> NDArray[np.intp]:
    """Return the first block of each bin of equal mass, shape (..., n_bins).

    ``totals``, the running totals of the counts, are made where they are not given.
    """
    places = mass_places(counted, np.arange(1, n_bins), n_bins)
    if totals is None:
        totals = np.cumsum(counted.counts, axis=-1)
    starts = np.zeros((*totals.shape[:-1], n_bins), dtype=np.intp)
    starts[..., 1:] = first_reaching(totals, places) + 1
    if counted.scores[0] > 0:
        starts[..., 1:][..., places == 0] = 0
    return starts


def mass_places(
    counted: Tally, edges: NDArray[np.integer], n_bins: int | NDArray[np.integer]
) -> NDArray[np.int64] | Floats:
    """Return the running total of rows at which bins of equal mass end: whole, if rows are equal.

    >>> mass_places(tally([0.1, 0.2, 0.3], [0, 0, 1]), np.array([1]), 2).tolist()
    [1]
    """
    places = np.asarray(edges * counted.n_samples // n_bins)
    return places if counted.squares is None else places * _ALMOST


def first_reaching(totals: Floats, places: NDArray[np.int64] | Floats) -> NDArray[np.intp]:
    """Find in each row of rising whole numbers where each place is first reached.

    >>> first_reaching(np.array([[1.0, 3.0], [2.0, 3.0]]), np.array([2, 3])).tolist()
    [[1, 1], [0, 1]]
    """
    *shape, n_blocks = totals.shape
    # One search serves all rows: each is lifted above the one before.
    lift = np.arange(totals.size // n_blocks)[:, np.newaxis] * (totals[..., -1].max() + 1)
    lifted = (totals.reshape(-1, n_blocks) + lift).ravel()
    firsts = np.searchsorted(lifted, places + lift) - np.arange(len(lift))[:, np.newaxis] * n_blocks
    return np.asarray(firsts.reshape(*shape, places.size))


def bin_sums(values: Floats, starts: NDArray[np.intp]) -> Floats:
    """Add up the blocks of each bin; 0 in an empty bin.

    ``values``: what is added up; shape (..., n_blocks). ``starts``: first block of each bin, rising
    from 0: the same for all, or with the leading dimensions of ``values``; shape (..., n_bins).
    """
    *shape, n_blocks = values.shape
    n_bins = starts.shape[-1]
    filled = np.empty(starts.shape, dtype=np.bool_)
    np.less(starts[..., :-1], starts[..., 1:], out=filled[..., :-1])
    np.less(starts[..., -1], n_blocks, out=filled[..., -1])
    sums = np.zeros((*shape, n_bins))
    if starts.ndim == 1:
        sums[..., filled] = np.add.reduceat(values, starts[filled], axis=-1)
        return sums
    rows = np.arange(values.size // n_blocks)[:, np.newaxis] * n_blocks
    places = (starts.reshape(-1, n_bins) + rows)[filled.reshape(-1, n_bins)]
    sums[filled] = np.add.reduceat(values.ravel(), places)
    return sums


def bin_places(block: Floats, n_bins: int) -> NDArray[np.intp]:
    """Find the equal-width bin of each cell: a product guesses it, the edges correct the guess."""
    edges = equal_width_edges(n_bins)
    edges[0], edges[-1] = -np.inf, np.inf  # a row scaled within the tolerance may pass 1
    # What exceeds the rounded edge k / n_bins exceeds k / n_bins, so its guess is at least k.
    guess = (block * n_bins).astype(np.intp)
    np.minimum(guess, n_bins, out=guess)
    guess -= block <= edges[guess]
    return guess


def equal_width_edges(n_bins: int) -> Floats:
    """Return the edges k / n_bins of bins of equal width, shape (n_bins + 1,)."""
    return np.arange(n_bins + 1) / n_bins


# Numbers grouped by ranges that hold about as many of them each -------------------------------


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

    Raises `CalibrationInputError` for what is no number, not one a row, and a number of ranges that
    is not from 1 to 1,000.
    """
    n_ranges = validation.whole_number(n_ranges, "n_ranges", least=1, most=1_000)
    numbers = validation.numbers(values, "values")
    known = ~np.isnan(numbers)
    places = np.full(numbers.size, -1, dtype=np.intp)
    if not known.any():
        return Ranges(np.empty(0), np.empty(0), places)
    ordered = np.sort(numbers[known])
    # The last place of each range's share; equal ones among them make one range.
    lasts = np.arange(1, n_ranges + 1) * ordered.size // n_ranges - 1
    high = np.unique(ordered[lasts[lasts >= 0]])
    firsts = np.append(0, np.searchsorted(ordered, high[:-1], side="right"))
    places[known] = np.searchsorted(high, numbers[known])
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

    Raises `CalibrationInputError` as `equal_ranges` does.

    A cut is the roundest number within a quarter of a range of its quantile: a multiple of 1, 2,
    2.5 or 5 times a power of 10, the largest that has one there. So a range holds at least
    half of n / n_ranges values; where equal values are in the way, cuts are left out.
    """
    n_ranges = validation.whole_number(n_ranges, "n_ranges", least=1, most=1_000)
    numbers = validation.numbers(values, "values")
    known = ~np.isnan(numbers)
    ordered = np.sort(numbers[known])
    whole = bool(np.isfinite(ordered).all() and (ordered == np.rint(ordered)).all())
    least, last = ordered.size / (2 * n_ranges), 0
    cuts: list[float] = []
    for k in range(1, n_ranges if ordered.size > 1 else 1):
        cut = _round_cut(ordered, (2 * k) * least, least / 2, whole=whole)
        below = int(np.searchsorted(ordered, cut))
        if below > 0 and below - last >= least and ordered.size - below >= least:
            cuts.append(cut)
            last = below
    places = np.full(numbers.size, -1, dtype=np.intp)
    places[known] = np.searchsorted(cuts, numbers[known], side="right")
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
