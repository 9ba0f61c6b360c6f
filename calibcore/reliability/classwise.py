"""The reliability diagram of every class, each class against the others, in one pass."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.binning import BinTable, bin_places
from calibcore.blocks import row_blocks
from calibcore.reliability.bands import check_level
from calibcore.reliability.intervals import BinnedReliability, Interval, with_intervals


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

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit, fewer than one bin, another
        interval, a level that is not between 0 and 1.

    Notes
    -----
    Row k is `binned_reliability` of the event "class k", and the bins are those of
    `calibcore.metrics.classwise_ece`, which is the mean over the classes of
    sum_b n_kb / N |mean_score - frequency|. A class that no row has keeps its bins, at frequency 0.
    Memory is that of one block of rows and the tables, whatever the number of rows. The mean scores
    are summed in the order of the rows, which can change their last digit.

    References
    ----------
    Kull et al., NeurIPS 2019; Vasilev and D'yakonov 2023, eq. 9.

    Examples
    --------
    >>> found = classwise_reliability([[0.5, 0.5], [0.75, 0.25]], [0, 0], n_bins=2)
    >>> found.bins.counts.tolist()
    [[1, 1], [2, 0]]
    >>> found.bins.frequency.tolist()
    [[1.0, 1.0], [0.0, nan]]
    """
    table, true = validation.labelled(probabilities, labels)
    n_rows, n_classes = table.shape
    n_bins = validation.whole_number(n_bins, "n_bins", least=1, most=1_000_000)
    check_level(level)
    edges = np.arange(n_bins + 1) / n_bins
    size, firsts = n_classes * n_bins, np.arange(n_classes) * n_bins
    counts, hits = np.zeros((2, size), dtype=np.int64)
    totals = np.zeros(size)
    for rows in row_blocks(n_rows, n_classes):
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
