"""Kernel calibration errors of one event: gaps of score and outcome, compared pair by pair."""

import math

import numpy as np
from numpy.typing import ArrayLike

from calibcore.errors import CalibrationInputError
from calibcore.metrics.kernel import KernelTest, kernel_test
from calibcore.tally import Tally, tally
from calibcore.validation import Floats

WIDTH = 0.4
"""Distance of scores over which the kernel falls to 1 / e, as Kumar 2018 has it."""

LEAST_WIDTH = 0.01
"""Of the kernel of scores: exp(1 / width) is multiplied up along them."""


def mmce(scores: ArrayLike, hits: ArrayLike, *, width: float = WIDTH) -> float:
    """Compute the maximum mean calibration error (MMCE): gaps of rows with near scores, multiplied.

    It needs no bins: two rows count together as much as their scores are alike.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    width : float, default 0.4
        Of the kernel, in units of score, 0.01 or more.

    Returns
    -------
    float
        In probability units, 0 to 1: of gaps that are all alike, their size; less where gaps of
        unlike sign are near to each other.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range, a width below 0.01.

    Notes
    -----
    sqrt((1 / N^2) sum_ij (h_i - s_i) (h_j - s_j) exp(-|s_i - s_j| / width)), a row with itself too,
    so that noise lengthens it. With D the sum of s - h at each distinct score, lowest first, and r
    = exp(s / width), the double sum is 2 sum_b (D_b / r_b) sum_(a <= b) D_a r_a - sum_b D_b^2: one
    running total, exact, and independent of the order of the rows. The paper has no test; that of
    `event_skce_test` is of the same kernel.

    References
    ----------
    Kumar, Sarawagi, Jain, *Trainable calibration measures for neural networks from kernel mean
    embeddings*, ICML 2018: Laplacian kernel of width 0.4, of the top prediction.

    Examples
    --------
    >>> mmce([0.5, 0.5], [1, 1]), mmce([0.5, 0.5], [0, 1])
    (0.5, 0.0)
    """
    return float(mmce_of(tally(scores, hits), width=width))


def mmce_of(counted: Tally, *, width: float = WIDTH) -> Floats:
    """Return the `mmce` of score-tallied rows, vectorised over resamples."""
    return np.sqrt(np.maximum(_gap_products(counted, width), 0.0)) / counted.n_samples


def event_skce(scores: ArrayLike, hits: ArrayLike, *, width: float = WIDTH) -> float:
    """Compute the squared kernel calibration error (SKCE) of an event, unbiased.

    On average over draws of the hits it is 0 if the scores are the true probabilities.

    Parameters and errors are those of `mmce`.

    Returns
    -------
    float
        In squared probability, -2 to 2; NaN of a single row. Below 0 is chance.

    Notes
    -----
    (2 / (N (N - 1))) sum_(i != j) (h_i - s_i) (h_j - s_j) exp(-|s_i - s_j| / width): `skce` of the
    table of columns 1 - s and s, whose total variation distance is |s_i - s_j|; the factor 2 is
    that of two classes. In many rows it is twice the square of the `mmce`. Its kernel has the width
    of the MMCE, as the median distance that the authors use is near 0 where most scores are near 1.

    References
    ----------
    Widmann, Lindsten, Zachariah, *Calibration tests in multi-class classification: a unifying
    framework*, NeurIPS 2019, table 1 (SKCE_uq).

    Examples
    --------
    >>> event_skce([0.5, 0.5], [1, 1]), event_skce([0.5, 0.5], [0, 1])
    (0.5, -0.5)
    """
    return float(event_skce_of(tally(scores, hits), width=width))


def event_skce_of(counted: Tally, *, width: float = WIDTH) -> Floats:
    """Return the `event_skce` of score-tallied rows, vectorised over resamples."""
    scores, n = counted.scores, counted.n_samples
    if n < 2:
        return np.full(counted.hits.shape[:-1], math.nan)
    own = counted.hits @ np.square(1 - scores) + (counted.counts - counted.hits) @ np.square(scores)
    return np.asarray(2 * (_gap_products(counted, width) - own) / (n * (n - 1.0)))


def true_skce_of(counted: Tally, *, width: float = WIDTH) -> Floats:
    """Return the `event_skce` of rows without number whose hits are the expected ones."""
    return 2 * np.square(mmce_of(counted, width=width))


def event_skce_test(scores: ArrayLike, hits: ArrayLike, *, width: float = WIDTH) -> KernelTest:
    """Test whether the scores of an event are the true probabilities, by the `event_skce`.

    Parameters and errors are those of `mmce`.

    Returns
    -------
    KernelTest

    Notes
    -----
    One-sided: large errors reject. If the scores are true, N times the error tends to a weighted
    sum of centred chi-squared variables; the authors draw it by a bootstrap of the pairs. Here its
    mean and variance, which the scores give exactly, choose a gamma law with the least value that a
    sum of squares has (as Gretton et al. do for HSIC), so there is nothing to draw and the cost is
    that of one sort.

    References
    ----------
    Widmann et al., NeurIPS 2019, section 6 and appendix G; Gretton et al., *A kernel statistical
    test of independence*, NeurIPS 2007.

    Examples
    --------
    >>> event_skce_test([0.9] * 50, [1, 0] * 25).p_value < 1e-6
    True
    """
    return event_skce_test_of(tally(scores, hits), width=width)


def event_skce_test_of(counted: Tally, *, width: float = WIDTH) -> KernelTest:
    """Return the `event_skce_test` of score-tallied rows."""
    n, value = counted.n_samples, float(event_skce_of(counted, width=width))
    if n < 2:
        return KernelTest(value, math.nan, math.nan, math.nan, width)
    variance = counted.scores * (1 - counted.scores)
    each = counted.counts * variance
    pairs = kernel_products(counted.scores, each, width / 2) - each @ variance
    scale = 2 / (n * (n - 1.0))
    deviation = scale * math.sqrt(2 * max(float(pairs), 0.0))
    return kernel_test(value, deviation, scale * float(each.sum()), width)


def _gap_products(counted: Tally, width: float) -> Floats:
    if not width >= LEAST_WIDTH:
        raise CalibrationInputError("width", repr(width), f"{LEAST_WIDTH} or more")
    return kernel_products(counted.scores, counted.counts * counted.scores - counted.hits, width)


def kernel_products(scores: Floats, values: Floats, width: float) -> Floats:
    """Sum v_a v_b exp(-|s_a - s_b| / width) over all pairs, along the last axis of the values.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_blocks,)
        Ascending.
    values : ndarray of float64, shape (..., n_blocks)
    width : float
        No narrower than half of `LEAST_WIDTH`.

    Examples
    --------
    >>> float(kernel_products(np.array([0.0, 1.0]), np.array([1.0, 2.0]), 1.0).round(4))
    6.4715
    """
    rise = np.exp((scores - scores[0]) / width)
    totals = np.cumsum(values * rise, axis=-1)
    totals *= values
    totals /= rise
    return np.asarray(2 * totals.sum(axis=-1) - np.square(values).sum(axis=-1))
