"""The reliability diagram in bins, with an interval about the frequency of each bin."""

from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.binning import Binning, BinTable, bin_places, bin_tally
from calibcore.reliability.bands import check_level
from calibcore.results import result_class
from calibcore.strips import row_strips
from calibcore.tally import Tally, counted_rows
from calibcore.validation import Floats
from calibcore.weights import SampleWeight

Interval = Literal["wilson", "clopper_pearson"]

LEAST_SHARE = 0.01
"""Share of the rows from which on a bin is spoken of; the frequency of a smaller one is vague."""


@result_class
class BinnedReliability:
    """Bins of scores, with an interval about the frequency of each.

    Attributes
    ----------
    bins : BinTable
        Edges, counts, mean score and observed frequency.
    lower, upper : ndarray of float64, shape (n_bins,)
        Interval that covers the true frequency of a bin's rows; NaN in an empty bin.
    interval : {"wilson", "clopper_pearson"}
        How it was computed.
    level : float
        Probability of covering, for each bin on its own.

    Of several classes, ``counts``, ``mean_score``, ``frequency``, ``lower`` and ``upper`` have the
    shape (n_classes, n_bins).
    """

    bins: BinTable
    lower: Floats
    upper: Floats
    interval: Interval
    level: float

    @property
    def telling(self) -> NDArray[np.bool_]:
        """Return which bins hold at least `LEAST_SHARE` of the rows."""
        counts = self.bins.counts
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True) >= LEAST_SHARE)

    @property
    def off(self) -> NDArray[np.int8]:
        """Return which bins' intervals leave out their mean score.

        1 where the mean score lies above the interval, -1 where it lies below; 0 otherwise, and in
        an empty bin. Scores that are true leave a share ``1 - level`` of the bins outside, about.
        """
        above = (self.bins.mean_score > self.upper).astype(np.int8)
        return np.asarray(above - (self.bins.mean_score < self.lower), dtype=np.int8)

    def of_class(self, k: int) -> "BinnedReliability":
        """Return the bins of one of several classes."""
        table = self.bins
        bins = BinTable(table.edges, table.counts[k], table.mean_score[k], table.frequency[k])
        return BinnedReliability(bins, self.lower[k], self.upper[k], self.interval, self.level)


def binned_reliability(  # noqa: PLR0913 - each has a default that serves
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_bins: int = 15,
    binning: Binning = "equal_width",
    interval: Interval = "wilson",
    level: float = 0.95,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
) -> BinnedReliability:
    """Compute a binned reliability curve (calibration curve) with confidence intervals.

    ``scores``: predicted probability of the event (y_prob), in [0, 1]; shape (n_samples,).
    ``hits``: whether the event happened (y_true of the event); shape (n_samples,). ``n_bins``,
    ``binning``: as in `calibcore.binning.bin_scores`. ``interval``, ``level``: as in
    `binomial_interval`. ``sample_weight``: of the rows, as in `calibcore.weights`. ``clusters``:
    whom each row belongs to; shape (n_samples,).

    Raises `CalibrationInputError` for scores or hits out of range, fewer than one bin, another
    binning or interval, and a level that is not between 0 and 1.

    The rows of a bin are treated as draws with one probability. Their scores differ a little, so
    the interval is slightly too wide for their mean frequency. Of rows with sampling weights or
    clusters it is that of as many rows as would tell the frequency as well, as Korn and Graubard
    have it: by linearisation, of clusters and Student's t, but not more than Kish's effective
    number.

    Source: Guo et al., ICML 2017, section 2; Brown, Cai, DasGupta, *Interval estimation for a
    binomial proportion*, Statistical Science 2001; Korn and Graubard, *Confidence intervals for
    proportions with small expected number of positive counts estimated from survey data*, Survey
    Methodology 1998.
    """
    counted = counted_rows(scores, hits, sample_weight, clusters)
    return binned_of(counted, n_bins=n_bins, binning=binning, interval=interval, level=level)


def binned_of(
    counted: Tally,
    *,
    n_bins: int = 15,
    binning: Binning = "equal_width",
    interval: Interval = "wilson",
    level: float = 0.95,
) -> BinnedReliability:
    """Gather rows that are counted by score, as `binned_reliability`."""
    return with_intervals(bin_tally(counted, n_bins=n_bins, binning=binning), interval, level)


def with_intervals(bins: BinTable, interval: Interval, level: float) -> BinnedReliability:
    """Add to bins, of one event or of each class, the interval about each frequency."""
    if bins.rows_alike is None:
        rows, hits = bins.counts, np.rint(np.nan_to_num(bins.frequency) * bins.counts)
    else:
        rows, hits = bins.rows_alike, np.nan_to_num(bins.frequency) * bins.rows_alike
    lower, upper = binomial_interval(hits, rows, interval=interval, level=level)
    return BinnedReliability(bins, lower, upper, interval, level)


def binomial_interval(
    hits: ArrayLike, counts: ArrayLike, *, interval: Interval = "wilson", level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return an interval for a probability from hits among independent rows.

    ``hits``, ``counts``: hits, and rows they are among; whole numbers, ``0 <= hits <= counts``.
    ``interval``: wilson's score interval covers with the probability ``level`` on average; that of
    Clopper and Pearson, the wider one, with at least ``level`` always. ``level``: between 0 and 1.

    Lower and upper end, about ``hits / counts``; NaN where there are no rows.

    Raises
    ------
    CalibrationInputError
        Another interval, or a level that is not between 0 and 1.

    Notes
    -----
    Of k hits among n, Wilson's lower end is (k^2 / n) / (k + z^2 / 2 + z sqrt(k (n - k) / n +
    z^2 / 4)) with z the normal quantile of (1 + level) / 2; that of Clopper and Pearson is the
    quantile (1 - level) / 2 of the beta distribution of parameters k, n - k + 1. The upper end is
    one minus the lower end of the misses. No continuity correction.

    References
    ----------
    Wilson, JASA 1927; Clopper and Pearson, Biometrika 1934; Newcombe, *Two-sided confidence
    intervals for the single proportion*, Statistics in Medicine 1998, methods 3 and 5.

    Examples
    --------
    >>> lower, upper = binomial_interval(81, 263)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.2553, 0.3662)
    """
    validation.choice(interval, "interval", allowed=("wilson", "clopper_pearson"))
    check_level(level)
    n = np.asarray(counts, dtype=np.float64)
    k = np.asarray(hits, dtype=np.float64)
    lower_end = _wilson_lower if interval == "wilson" else _clopper_pearson_lower
    with np.errstate(invalid="ignore"):  # no rows: 0 / 0 is NaN
        share = k / n
    empty = n == 0
    rows = np.where(empty, 1.0, n)
    lower = np.where(empty, np.nan, lower_end(k, rows, level))
    upper = np.where(empty, np.nan, 1 - lower_end(np.where(empty, 0.0, n - k), rows, level))
    return np.minimum(lower, share), np.maximum(upper, share)


def _wilson_lower(k: Floats, n: Floats, level: float) -> Floats:
    z = -NormalDist().inv_cdf((1 - level) / 2)
    # Written as a quotient, it loses no digits to a difference and is exactly 0 without hits.
    return np.asarray((k * k / n) / (k + z * z / 2 + z * np.sqrt(k * (n - k) / n + z * z / 4)))


def _clopper_pearson_lower(k: Floats, n: Floats, level: float) -> Floats:
    from scipy.special import betaincinv  # noqa: PLC0415 - a tenth of a second to import

    some = np.maximum(k, 1.0)
    return np.where(k > 0, betaincinv(some, n - some + 1, (1 - level) / 2), 0.0)


# The reliability diagram of every class, each class against the others, in one pass -----------


def classwise_reliability(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    n_bins: int = 15,
    interval: Interval = "wilson",
    level: float = 0.95,
) -> BinnedReliability:
    """Compute the binned reliability curve of every class.

    ``probabilities``: rows that sum to 1 (y_prob); shape (n_samples, n_classes). ``labels``: True
    classes (y_true), from 0; shape (n_samples,). ``n_bins``: equal-width bins of each class's
    probability, (lower, upper], the first closed below. ``interval``, ``level``: as in
    `calibcore.reliability.binomial_interval`.

    Its arrays have the shape (n_classes, n_bins), the edges (n_bins + 1,).

    Raises `CalibrationInputError` for rows that are not probabilities, labels that do not fit,
    fewer than one bin, another interval, and a level that is not between 0 and 1.

    Row k is `binned_reliability` of the event "class k", and the bins are those of
    `calibcore.metrics.classwise_ece`, which is the mean over the classes of
    sum_b n_kb / N |mean_score - frequency|. A class that no row has keeps its bins, at frequency 0.
    Memory is that of one block of rows and the tables, whatever the number of rows. The mean scores
    are summed in the order of the rows, which can change their last digit.

    Source: Kull et al., NeurIPS 2019; Vasilev and D'yakonov 2023, eq. 9.
    """
    table, true = validation.labelled(probabilities, labels)
    n_rows, n_classes = table.shape
    n_bins = validation.whole_number(n_bins, "n_bins", least=1, most=1_000_000)
    check_level(level)
    edges = np.arange(n_bins + 1) / n_bins
    size, firsts = n_classes * n_bins, np.arange(n_classes) * n_bins
    counts, hits = np.zeros((2, size), dtype=np.int64)
    totals = np.zeros(size)
    for rows in row_strips(n_rows, n_classes):
        block, own = table[rows], true[rows]
        place = bin_places(block, n_bins) + firsts
        counts += np.bincount(place.ravel(), minlength=size)
        totals += np.bincount(place.ravel(), weights=block.ravel(), minlength=size)
        hits += np.bincount(place[np.arange(len(own)), own], minlength=size)
    with np.errstate(invalid="ignore"):  # an empty bin has no mean: 0 / 0 is NaN
        means, frequency = totals / counts, hits / counts
    shape = (n_classes, n_bins)
    bins = BinTable(edges, counts.reshape(shape), means.reshape(shape), frequency.reshape(shape))
    return with_intervals(bins, interval, level)
