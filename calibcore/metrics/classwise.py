"""Calibration errors of every class, each class against the others."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.binning import bin_places
from calibcore.blocks import row_blocks
from calibcore.validation import Floats


def classwise_ece(probabilities: ArrayLike, labels: ArrayLike, *, n_bins: int = 15) -> float:
    """Average over the classes of each class's expected calibration error.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1.
    labels : array_like of int, shape (n_samples,)
        True classes, from 0.
    n_bins : int, default 15
        Equal-width bins of each class's probability, (lower, upper], the first closed below.

    Returns
    -------
    float
        In probability units, 0 to 1. With many classes it is small, because most probabilities are.

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit, fewer than one bin.

    Notes
    -----
    (1 / K) sum_k sum_b n_kb / N |mean p_k - frequency of class k|, over the rows in bin b of p_k.
    A class that no row has counts like any other.

    References
    ----------
    Vasilev and D'yakonov 2023, eq. 9; Kull et al., NeurIPS 2019.

    Examples
    --------
    >>> classwise_ece([[0.5, 0.5], [0.75, 0.25]], [0, 0], n_bins=2)
    0.375
    """
    return float(classwise_errors(probabilities, labels, n_bins=n_bins).mean())


def max_classwise_ece(probabilities: ArrayLike, labels: ArrayLike, *, n_bins: int = 15) -> float:
    """Largest expected calibration error of any class.

    Parameters and errors are those of `classwise_ece`.

    Returns
    -------
    float
        In probability units, 0 to 1; `classwise_ece` to `n_classes` times that.

    Examples
    --------
    >>> max_classwise_ece([[0.75, 0.125, 0.125], [0.75, 0.125, 0.125]], [0, 0])
    0.25
    """
    return float(classwise_errors(probabilities, labels, n_bins=n_bins).max())


def classwise_errors(probabilities: ArrayLike, labels: ArrayLike, *, n_bins: int = 15) -> Floats:
    """Give the expected calibration error of each class, in one pass over the table.

    Parameters and errors are those of `classwise_ece`.

    Returns
    -------
    ndarray of float64, shape (n_classes,)
        `calibcore.metrics.ece` of each class's probability, in probability units.

    Examples
    --------
    >>> classwise_errors([[0.5, 0.5], [0.75, 0.25]], [0, 0], n_bins=2).tolist()
    [0.375, 0.375]
    """
    table = validation.probabilities(probabilities)
    n_rows, n_classes = table.shape
    true = validation.labels(labels, n_rows=n_rows, n_classes=n_classes)
    n_bins = validation.whole_number(n_bins, "n_bins", least=1, most=1_000_000)
    gaps = np.zeros(n_classes * n_bins)
    for rows in row_blocks(n_rows, n_classes):
        block, own = table[rows], true[rows]
        gaps += _binned(block, n_bins)
        hit = bin_places(block[np.arange(len(own)), own], n_bins) + own * n_bins
        gaps -= np.bincount(hit, minlength=gaps.size)
    return np.asarray(np.abs(gaps).reshape(n_classes, n_bins).sum(axis=1) / n_rows)


def _binned(block: Floats, n_bins: int) -> Floats:
    """Sum the probabilities of each class in each bin, shape (n_classes * n_bins,).

    A row has fewer cells above the first bin than there are bins, so with many classes nearly all
    are in the first, whose sums need no search.
    """
    n_classes, flat = block.shape[1], block.ravel()
    above = np.flatnonzero(flat > 1 / n_bins)
    values = flat[above]
    place = (above % n_classes) * n_bins + bin_places(values, n_bins)
    sums = np.zeros(n_classes * n_bins)
    sums += np.bincount(place, weights=values, minlength=sums.size)
    first = flat.copy()
    first[above] = 0
    sums[::n_bins] += first.reshape(block.shape).sum(axis=0)
    return sums
