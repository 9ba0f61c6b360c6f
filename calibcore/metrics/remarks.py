"""What papers say that holds on some data and not on others: whether, and with what numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.blocks import row_blocks
from calibcore.cumulative import CumulativeCurves, cumulative_curves
from calibcore.metrics.proper import nll
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.results import short_repr
from calibcore.weights import SampleWeight, row_mean

CLOSE = 1e-4
"""Share by which entropy and NLL may differ: the fit of a temperature stops before the last digit.
"""

ALIKE = 0.01
"""Share of the KS error by which the mean gap may be less: noise turns the last rows."""


@dataclass(frozen=True)
class KsIsMeanGap:
    """The largest gap of the cumulative curves is the last one, or hardly larger.

    Attributes
    ----------
    ks_error : float
        In probability units.
    mean_gap : float
        Mean score less observed frequency; its size is that of the KS error.
    """

    ks_error: float
    mean_gap: float

    __repr__ = short_repr


def ks_is_mean_gap(
    scores: ArrayLike, hits: ArrayLike, *, close: float = ALIKE
) -> KsIsMeanGap | None:
    """Return whether the KS error is the mean gap of score and outcome.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    close : float, default 0.01
        Share of the KS error by which the mean gap may be less, and by which the curves may be
        apart to the other side.

    Returns
    -------
    KsIsMeanGap or None
        None where the cumulative curves are farther apart before their end, or first to the other
        side, or never apart.

    Raises
    ------
    CalibrationInputError
        Empty input, unequal lengths, NaN, values outside the stated range.

    Notes
    -----
    If the scores are too high everywhere, or too low, the gap only grows, so the largest is the
    last: KS = |mean score - hit rate|. The reverse need not hold: scores may be too low in a part
    as long as the gap is made up before and after.

    References
    ----------
    Gupta et al., ICLR 2021, eq. 8.

    Examples
    --------
    >>> ks_is_mean_gap([0.5, 0.75], [0, 0])
    KsIsMeanGap(ks_error=0.625, mean_gap=0.625)
    >>> ks_is_mean_gap([0.5, 0.75], [0, 1]) is None
    True
    """
    return ks_is_mean_gap_of(cumulative_curves(scores, hits), close=close)


def ks_is_mean_gap_of(curves: CumulativeCurves, *, close: float = ALIKE) -> KsIsMeanGap | None:
    """Return `ks_is_mean_gap` of curves that are known."""
    last, largest = float(curves.gap[-1]), curves.ks_error
    if largest == 0 or abs(last) < largest * (1 - close):
        return None
    if curves.kuiper > largest * (1 + close):  # it has been on the other side of 0
        return None
    return KsIsMeanGap(largest, last)


@dataclass(frozen=True)
class EntropyIsNll:
    """Probabilities are as uncertain on average as the labels find them to be.

    Attributes
    ----------
    entropy, nll : float
        Means over the rows, in nats.
    """

    entropy: float
    nll: float

    __repr__ = short_repr


def entropy_is_nll(
    probabilities: ArrayLike, labels: ArrayLike, *, close: float = CLOSE
) -> EntropyIsNll | None:
    """Return whether the mean entropy of the probabilities equals their NLL.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1 (y_prob).
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.
    close : float, default 0.0001
        Share of the NLL by which they may differ.

    Returns
    -------
    EntropyIsNll or None
        None where they differ by more.

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit.

    Notes
    -----
    On the rows on which the temperature was fitted by log loss it holds: with q = softmax(z / T),
    the derivative of the NLL over 1 / T is the mean of sum_k q_k z_k - z_y, which is 0 there, and
    entropy less NLL is that mean over -T. It does not where T has come to the end of its range, nor
    after a fit by squared error, nor but by chance on other rows.

    References
    ----------
    Guo et al., ICML 2017, section S2 and figure S1.

    Examples
    --------
    >>> entropy_is_nll([[0.5, 0.5], [0.5, 0.5]], [0, 1]).entropy  # ln 2
    0.6931471805599453
    >>> entropy_is_nll([[0.9, 0.1], [0.9, 0.1]], [0, 1]) is None
    True
    """
    table = validation.probabilities(probabilities)
    loss, entropy = nll(table, labels), mean_entropy(table)
    return EntropyIsNll(entropy, loss) if abs(entropy - loss) <= close * loss else None


def mean_entropy(probabilities: ArrayLike, *, sample_weight: SampleWeight = None) -> float:
    """Compute the mean entropy of rows of probabilities: how uncertain they say they are.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1 (y_prob).
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In nats, 0 to ln(n_classes).

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities.

    Notes
    -----
    -(1/N) sum_ik p_ik ln p_ik, 0 ln 0 = 0.

    Examples
    --------
    >>> mean_entropy([[0.5, 0.5], [1.0, 0.0]]) * 2  # ln 2
    0.6931471805599453
    """
    table = validation.probabilities(probabilities)
    mean_logs = np.empty(len(table))
    for rows in row_blocks(*table.shape):
        block = table[rows]
        mean_logs[rows] = np.einsum("ij,ij->i", block, np.log(np.maximum(block, PROBABILITY_FLOOR)))
    return 0.0 - row_mean(mean_logs, sample_weight)
