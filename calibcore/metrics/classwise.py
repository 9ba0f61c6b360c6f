"""Calibration errors of every class, each class against the others."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.binning import Binning, bin_places, bin_tally
from calibcore.cumulative import ks_of
from calibcore.metrics.binned import ece_of
from calibcore.metrics.measure import ClassMeasure
from calibcore.strips import strip_rows
from calibcore.tally import Tally, tally
from calibcore.validation import Floats, Labels
from calibcore.weights import SampleWeight, weights_of

_BLOCKS = 8  # at once: sums of all bins are made for each, which is work too
_CLASSES = 16  # made into columns at once: a row of the table is read once for all of them


def classwise_ece(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    n_bins: int = 15,
    binning: Binning = "equal_width",
    sample_weight: SampleWeight = None,
) -> float:
    """Compute the class-wise ECE: the mean over classes of each one's expected calibration error.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1 (y_prob).
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.
    n_bins : int, default 15
        Bins of each class's probability, (lower, upper], the first closed below.
    binning : {"equal_width", "equal_mass"}, default "equal_width"
        As in `calibcore.binning.bin_scores`. Where most probabilities of a class are near 0, bins
        of equal mass part them, and those of equal width do not.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In probability units, 0 to 1. With many classes it is small, because most probabilities are.

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit, fewer than one bin, another
        binning.

    Notes
    -----
    (1 / K) sum_k sum_b n_kb / N |mean p_k - frequency of class k|, over the rows in bin b of p_k.
    A class that no row has counts like any other.

    References
    ----------
    Vasilev and D'yakonov 2023, eq. 9, and section 3.2 on bins of equal mass; Kull et al., NeurIPS
    2019.

    Examples
    --------
    >>> classwise_ece([[0.5, 0.5], [0.75, 0.25]], [0, 0], n_bins=2)
    0.375
    """
    errors = classwise_errors(
        probabilities, labels, n_bins=n_bins, binning=binning, sample_weight=sample_weight
    )
    return float(errors.mean())


def max_classwise_ece(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    n_bins: int = 15,
    sample_weight: SampleWeight = None,
) -> float:
    """Compute the largest expected calibration error of any class.

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
    errors = classwise_errors(probabilities, labels, n_bins=n_bins, sample_weight=sample_weight)
    return float(errors.max())


def classwise_errors(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    n_bins: int = 15,
    binning: Binning = "equal_width",
    sample_weight: SampleWeight = None,
) -> Floats:
    """Return the expected calibration error of each class.

    It is `calibcore.metrics.ece` of each class's probability, in probability units; shape
    (n_classes,). Parameters and errors are those of `classwise_ece`.
    """
    table, true = validation.labelled(probabilities, labels, sample_weight)
    n_rows, n_classes = table.shape
    if binning != "equal_width" or sample_weight is not None:
        tallies = _tallies(table, true, sample_weight)
        bins = (bin_tally(one, n_bins=n_bins, binning=binning) for one in tallies)
        return np.array([float(ece_of(one)) for one in bins])
    n_bins = validation.whole_number(n_bins, "n_bins", least=1, most=1_000_000)
    own = table[np.arange(n_rows), true]
    hits = np.bincount(true * n_bins + bin_places(own, n_bins), minlength=n_classes * n_bins)
    gaps = _binned(table, n_bins) - hits.reshape(n_classes, n_bins)
    return np.asarray(np.abs(gaps).sum(axis=1) / n_rows)


def classwise_ks(
    probabilities: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the class-wise KS error: the mean over classes of each one's KS error.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1 (y_prob).
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In probability units, 0 to 1. With many classes it is small, because most probabilities are.

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit.

    Notes
    -----
    (1 / K) sum_k KS(p_k, 1(y = k)), each `calibcore.metrics.ks_error` of one class against the
    others. A class that no row has counts like any other. The paper has the errors of single
    classes; their mean and largest are formed as in the class-wise ECE.

    References
    ----------
    Gupta et al., ICLR 2021, eqs. 6-12; Vasilev and D'yakonov 2023, eq. 9, for the mean.

    Examples
    --------
    >>> classwise_ks([[0.5, 0.5], [0.75, 0.25]], [0, 0])
    0.375
    """
    errors = classwise_ks_errors(probabilities, labels, sample_weight=sample_weight)
    return float(errors.mean())


def max_classwise_ks(
    probabilities: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the largest KS error of any class.

    Parameters and errors are those of `classwise_ks`.

    Returns
    -------
    float
        In probability units, 0 to 1; `classwise_ks` to `n_classes` times that.

    Examples
    --------
    >>> max_classwise_ks([[0.75, 0.125, 0.125], [0.75, 0.125, 0.125]], [0, 0])
    0.25
    """
    return float(classwise_ks_errors(probabilities, labels, sample_weight=sample_weight).max())


def classwise_ks_errors(
    probabilities: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
) -> Floats:
    """Return the KS error of each class against the others.

    In probability units; shape (n_classes,). Parameters and errors are those of `classwise_ks`.
    """
    table, true = validation.labelled(probabilities, labels, sample_weight)
    return np.array([float(ks_of(one)) for one in _tallies(table, true, sample_weight)])


def top_label_ece(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    n_bins: int = 15,
    sample_weight: SampleWeight = None,
) -> float:
    """Compute the top-label ECE: the ECE of the top score, in rows of each predicted class apart.

    The ECE of the top score mixes the rows of all predicted classes, so that one predicted with
    scores too high may hide another with scores too low.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1 (y_prob).
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.
    n_bins : int, default 15
        Bins of the top score of each predicted class, of equal width.
    sample_weight : RowWeights or array_like of float, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In probability units, 0 to 1; at least `calibcore.metrics.ece` of the top score in the same
        bins. With few rows of a predicted class, mostly noise.

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit, fewer than one bin.

    Notes
    -----
    sum_k sum_b n_kb / N |mean score - frequency|, over the rows in bin b of those whose most
    probable class is k (of equals the first); the score is its probability, and a hit a row whose
    true class it is.

    References
    ----------
    Gupta and Ramdas, *Top-label calibration and multiclass-to-binary reductions*, ICLR 2022.

    Examples
    --------
    >>> top_label_ece([[0.75, 0.25], [0.25, 0.75]], [0, 0], n_bins=1)  # (1/4 + 3/4) / 2
    0.5
    """
    table, true = validation.labelled(probabilities, labels, sample_weight)
    n_bins = validation.whole_number(n_bins, "n_bins", least=1, most=1_000_000)
    decided = table.argmax(axis=1)
    score = np.minimum(table[np.arange(len(true)), decided], 1.0)
    place = decided * n_bins + bin_places(score, n_bins)
    known = weights_of(sample_weight, len(true))
    weights = np.ones(len(true)) if known is None else known.values
    gap = np.bincount(place, weights=weights * (score - (decided == true)))
    return float(np.abs(gap).sum() / weights.sum())


def _tallies(table: Floats, true: Labels, sample_weight: SampleWeight) -> Iterator[Tally]:
    """Count the rows of each class by its probability, which is 1 at most."""
    for first in range(0, table.shape[1], _CLASSES):
        columns = np.minimum(table[:, first : first + _CLASSES].T, 1.0, order="C")
        for k, scores in enumerate(columns, first):
            yield tally(scores, true == k, sample_weight=sample_weight)


def _binned(table: Floats, n_bins: int) -> Floats:
    """Sum the probabilities of each class in each bin, shape (n_classes, n_bins).

    A row has fewer cells above the first bin than there are bins, so with many classes nearly all
    are in the first, whose sum is what the others leave of the whole.
    """
    n_rows, n_classes = table.shape
    sums = np.zeros((n_classes, n_bins))
    step = _BLOCKS * strip_rows(n_classes)
    for start in range(0, n_rows, step):
        block = table[start : start + step]
        sums[:, 0] += np.einsum("ij->j", block)
        above = np.flatnonzero(block > 1 / n_bins)
        column, values = above % n_classes, block.reshape(-1)[above]
        place = column * n_bins + bin_places(values, n_bins)
        sums += np.bincount(place, weights=values, minlength=sums.size).reshape(sums.shape)
        sums[:, 0] -= np.bincount(column, weights=values, minlength=n_classes)
    return sums


CLASSWISE_KS = ClassMeasure(
    key="classwise_ks",
    name="Class-wise KS error",
    group="cumulative",
    source="Gupta 2021, eq. 12",
    explained="KS error of each class against the others, averaged over the classes. No bins.",
    ideal=0.0,
    compute=lambda p, y, _: classwise_ks(p, y),
    weighted=lambda p, y, _, w: classwise_ks(p, y, sample_weight=w),
)

MAX_CLASSWISE_KS = ClassMeasure(
    key="max_classwise_ks",
    name="Class-wise KS error, worst class",
    group="cumulative",
    source="Gupta 2021, eq. 12",
    explained="Largest KS error of any class against the others.",
    formula="max_k KS error of the probability of class k against the others.",
    ideal=0.0,
    compute=lambda p, y, _: max_classwise_ks(p, y),
    weighted=lambda p, y, _, w: max_classwise_ks(p, y, sample_weight=w),
)

CLASSWISE_ECE = ClassMeasure(
    key="classwise_ece",
    name="Class-wise ECE",
    group="binned",
    source="Vasilev 2023, eq. 9",
    explained="Expected calibration error of each class against the others, averaged over the"
    " classes.",
    ideal=0.0,
    short=True,
    compute=lambda p, y, o: classwise_ece(p, y, n_bins=o.n_bins),
    weighted=lambda p, y, o, w: classwise_ece(p, y, n_bins=o.n_bins, sample_weight=w),
)

MAX_CLASSWISE_ECE = ClassMeasure(
    key="max_classwise_ece",
    name="Class-wise ECE, worst class",
    group="binned",
    source="Vasilev 2023, eq. 9",
    explained="Largest expected calibration error of any class against the others.",
    formula="max_k ECE of the probability of class k against the others.",
    ideal=0.0,
    compute=lambda p, y, o: max_classwise_ece(p, y, n_bins=o.n_bins),
    weighted=lambda p, y, o, w: max_classwise_ece(p, y, n_bins=o.n_bins, sample_weight=w),
)

CLASSWISE_ECE_EQUAL_MASS = ClassMeasure(
    key="classwise_ece_equal_mass",
    name="Class-wise ECE, equal-mass bins",
    group="binned",
    source="Vasilev 2023, section 3.2",
    explained="Class-wise ECE over bins of equally many rows, each class with its own: they also"
    " part the many rows whose probability of a class is near 0.",
    formula="(1 / K) sum_k sum_b n_kb / N |mean p_k - frequency of class k|, the inner edges of"
    " class k at its probabilities of the rows at places b N / n_bins.",
    ideal=0.0,
    compute=lambda p, y, o: classwise_ece(p, y, n_bins=o.n_bins, binning="equal_mass"),
    weighted=lambda p, y, o, w: classwise_ece(
        p, y, n_bins=o.n_bins, binning="equal_mass", sample_weight=w
    ),
)

TOP_LABEL_ECE = ClassMeasure(
    key="top_label_ece",
    name="Top-label ECE",
    group="binned",
    source="Gupta and Ramdas 2022",
    explained="ECE of the top score within the rows of each predicted class, so that classes cannot"
    " make up for each other. With few rows per class, mostly noise.",
    ideal=0.0,
    compute=lambda p, y, o: top_label_ece(p, y, n_bins=o.n_bins),
    weighted=lambda p, y, o, w: top_label_ece(p, y, n_bins=o.n_bins, sample_weight=w),
)
