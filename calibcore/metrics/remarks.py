"""What papers say that holds on some data and not on others: whether, and with what numbers."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.cumulative import CumulativeCurves
from calibcore.metrics.proper import nll
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.strips import row_strips
from calibcore.weights import SampleWeight, row_mean

CLOSE = 1e-4
"""Share by which entropy and NLL may differ: the fit of a temperature stops before the last digit.
"""

ALIKE = 0.01
"""Share of the KS error by which the mean gap may be less: noise turns the last rows."""


def ks_is_mean_gap(curves: CumulativeCurves, *, close: float = ALIKE) -> bool:
    """Return whether the KS error is the mean gap of score and outcome.

    ``close``: share of the KS error by which the mean gap may be less, and by which the curves may
    be apart to the other side.

    False where the cumulative curves are farther apart before their end, or first to the other
    side, or never apart.

    If the scores are too high everywhere, or too low, the gap only grows, so the largest is the
    last: KS = |mean score - hit rate|. The reverse need not hold: scores may be too low in a part
    as long as the gap is made up before and after.

    Source: Gupta et al., ICLR 2021, eq. 8.

    >>> from calibcore.cumulative import cumulative_curves
    >>> ks_is_mean_gap(cumulative_curves([0.5, 0.75], [0, 0]))
    True
    >>> ks_is_mean_gap(cumulative_curves([0.5, 0.75], [0, 1]))
    False
    """
    last, largest = abs(float(curves.gap[-1])), curves.ks_error
    is_last = largest > 0 and last >= largest * (1 - close)
    return bool(is_last and curves.kuiper <= largest * (1 + close))


def entropy_is_nll(probabilities: ArrayLike, labels: ArrayLike) -> float | None:
    """Return the mean entropy of the probabilities where it equals their NLL.

    ``probabilities``: rows that sum to 1 (y_prob); shape (n_samples, n_classes). ``labels``: true
    classes (y_true), from 0; shape (n_samples,).

    In nats; None where they differ by more than `CLOSE`. Raises `CalibrationInputError` for rows
    that are not probabilities, and labels that do not fit.

    On the rows on which the temperature was fitted by log loss it holds: with q = softmax(z / T),
    the derivative of the NLL over 1 / T is the mean of sum_k q_k z_k - z_y, which is 0 there, and
    entropy less NLL is that mean over -T. It does not where T has come to the end of its range, nor
    after a fit by squared error, nor but by chance on other rows.

    Source: Guo et al., ICML 2017, section S2 and figure S1.

    >>> entropy_is_nll([[0.5, 0.5], [0.5, 0.5]], [0, 1])  # ln 2
    0.6931471805599453
    >>> entropy_is_nll([[0.9, 0.1], [0.9, 0.1]], [0, 1]) is None
    True
    """
    validation.refuse_reordered(probabilities=probabilities, labels=labels)
    table = validation.probabilities(probabilities)
    loss, entropy = nll(table, labels), mean_entropy(table)
    return loss if abs(entropy - loss) <= CLOSE * loss else None


def mean_entropy(probabilities: ArrayLike, *, sample_weight: SampleWeight = None) -> float:
    """Compute the mean entropy of rows of probabilities: how uncertain they say they are.

    ``probabilities``: rows that sum to 1 (y_prob); shape (n_samples, n_classes). ``sample_weight``:
    of the rows, as in `calibcore.weights`; shape (n_samples,).

    -(1/N) sum_ik p_ik ln p_ik, 0 ln 0 = 0: in nats, 0 to ln(n_classes). Raises
    `CalibrationInputError` for rows that are not probabilities.
    """
    validation.refuse_reordered(probabilities=probabilities, sample_weight=sample_weight)
    table = validation.probabilities(probabilities)
    mean_logs = np.empty(len(table))
    for rows in row_strips(*table.shape):
        block = table[rows]
        mean_logs[rows] = np.einsum("ij,ij->i", block, np.log(np.maximum(block, PROBABILITY_FLOOR)))
    return 0.0 - row_mean(mean_logs, sample_weight)
