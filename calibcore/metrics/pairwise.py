"""Kernel calibration errors: gaps of score and outcome, compared pair by pair."""

import math
from itertools import combinations_with_replacement
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.metrics.kernel import KernelTest, kernel_test
from calibcore.metrics.measure import ClassMeasure, EventMeasure
from calibcore.tally import Tally, tally
from calibcore.validation import Floats, Labels
from calibcore.weights import (
    SampleWeight,
    refuse_design,
    refuse_sampling,
    repeats,
    shares_of,
    weights_of,
)

WIDTH = 0.4
"""Distance of scores over which the kernel falls to 1 / e, as Kumar 2018 has it."""

LEAST_WIDTH = 0.01
"""Of the kernel of scores: exp(1 / width) is multiplied up along them."""


def mmce(
    scores: ArrayLike, hits: ArrayLike, *, width: float = WIDTH, sample_weight: SampleWeight = None
) -> float:
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
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

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
    return float(mmce_of(tally(scores, hits, sample_weight=sample_weight), width=width))


def mmce_of(counted: Tally, *, width: float = WIDTH) -> Floats:
    """Return the `mmce` of score-tallied rows, vectorised over resamples."""
    return np.sqrt(np.maximum(_gap_products(counted, width), 0.0)) / counted.n_samples


def event_skce(
    scores: ArrayLike, hits: ArrayLike, *, width: float = WIDTH, sample_weight: SampleWeight = None
) -> float:
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
    With sampling weights a pair weighs w_i w_j, and N (N - 1) is the sum of these.

    References
    ----------
    Widmann, Lindsten, Zachariah, *Calibration tests in multi-class classification: a unifying
    framework*, NeurIPS 2019, table 1 (SKCE_uq).

    Examples
    --------
    >>> event_skce([0.5, 0.5], [1, 1]), event_skce([0.5, 0.5], [0, 1])
    (0.5, -0.5)
    """
    return float(event_skce_of(tally(scores, hits, sample_weight=sample_weight), width=width))


def event_skce_of(counted: Tally, *, width: float = WIDTH) -> Floats:
    """Return the `event_skce` of score-tallied rows, vectorised over resamples."""
    scores, n = counted.scores, counted.n_samples
    if n < 2:
        return np.full(counted.hits.shape[:-1], math.nan)
    own = counted.own
    if own is None:
        misses = counted.counts - counted.hits
        own = counted.hits @ np.square(1 - scores) + misses @ np.square(scores)
    return np.asarray(2 * (_gap_products(counted, width) - own) / _pairs(counted))


def _pairs(counted: Tally) -> float:
    """Return the number of ordered pairs of two rows, or the sum of the products of weights."""
    n = counted.n_samples
    if counted.squares is None:
        return n * (n - 1.0)
    return float(counted.counts.sum() ** 2 - counted.squares.sum())


def true_skce_of(counted: Tally) -> Floats:
    """Return the `event_skce` of infinitely many rows whose hits are the expected ones."""
    return 2 * np.square(mmce_of(counted))


def event_skce_test(
    scores: ArrayLike, hits: ArrayLike, *, width: float = WIDTH, sample_weight: SampleWeight = None
) -> KernelTest:
    """Test whether the scores of an event are the true probabilities, by the `event_skce`.

    Parameters and errors are those of `mmce`.

    One-sided: large errors reject. If the scores are true, N times the error tends to a weighted
    sum of centred chi-squared variables; the authors draw it by a bootstrap of the pairs. Here its
    mean and variance, which the scores give exactly, choose a gamma law with the least value that a
    sum of squares has (as Gretton et al. do for HSIC), so there is nothing to draw and the cost is
    that of one sort.

    Source: Widmann et al., NeurIPS 2019, section 6 and appendix G; Gretton et al., *A kernel
    statistical test of independence*, NeurIPS 2007.
    """
    return event_skce_test_of(tally(scores, hits, sample_weight=sample_weight), width=width)


def event_skce_test_of(counted: Tally, *, width: float = WIDTH) -> KernelTest:
    """Return the `event_skce_test` of score-tallied rows."""
    n, value = counted.n_samples, float(event_skce_of(counted, width=width))
    if n < 2:
        return KernelTest(value, math.nan, math.nan, math.nan, width)
    if counted.squares is not None:
        refuse_sampling("event_skce_test", "a test by the exact moments of equal rows")
    refuse_design(counted.design, "event_skce_test")
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

    ``scores``: ascending; shape (n_blocks,). ``values``: shape (..., n_blocks). ``width``: no
    narrower than half of `LEAST_WIDTH`.

    >>> float(kernel_products(np.array([0.0, 1.0]), np.array([1.0, 2.0]), 1.0).round(4))
    6.4715
    """
    rise = np.exp((scores - scores[0]) / width)
    totals = np.cumsum(values * rise, axis=-1)
    totals *= values
    totals /= rise
    return np.asarray(2 * totals.sum(axis=-1) - np.square(values).sum(axis=-1))


# The squared kernel calibration error of all classes together ---------------------------------


_WORK = 1_000_000_000
"""Of all pairs, at most, in differences of two probabilities; of more rows some pairs count."""

_OF_A_PAIR = 10
"""What a pair takes beside its differences."""

_LEAST_BLOCK = 64
"""Rows of a block, however many rows and classes there are."""

_TILE = 128
"""Rows compared at once with as many, at most: what is made of them stays in a cache."""

_PRODUCT = 2**18
"""Multiplications of a matrix product that stays in one thread; of more, BLAS' threads would wait
for each other where other processes are at work."""

_SOME_ROWS = 1_000
"""Rows from which the median distance is found where there are more."""


def skce(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    width: float | None = None,
    sample_weight: SampleWeight = None,
) -> float:
    """Compute the squared kernel calibration error (SKCE) of all classes together, unbiased.

    It asks whether whole rows of probabilities are right, not those of one class or of the most
    probable one alone; on average over draws of the labels it is 0 if they are.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1 (y_prob).
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.
    width : float, optional
        Of the kernel, in total variation distance, above 0. By default the median distance of two
        rows (their mean where that is 0), of 1,000 rows where there are more.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In squared probability summed over the classes, -2 to 2; NaN of a single row. Below 0 is
        chance.

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit, a width that is not above 0.

    Notes
    -----
    The mean over pairs of two rows of (e_y - p) . (e_z - q) exp(-TV(p, q) / width), with e_y the
    true class as a row of 0 and 1 and TV half the sum of |p_k - q_k|: the quadratic estimator with
    the matrix-valued kernel exp(-TV / width) I. All pairs are compared as long as that takes no
    longer than 10^9 differences of two numbers (10,000 rows of ten classes). Of more rows those in
    the same one of equal blocks are: still unbiased, with more spread. Rows are dealt to the blocks
    at random from a seed made of what is in them, so their order does not count. With sampling
    weights a pair weighs w_i w_j; the width is that of the rows, whatever their weights.

    References
    ----------
    Widmann, Lindsten, Zachariah, *Calibration tests in multi-class classification: a unifying
    framework*, NeurIPS 2019, section 5 and table 1; blocks: *Calibration tests beyond
    classification*, ICLR 2021.

    Examples
    --------
    >>> skce([[0.5, 0.5], [0.5, 0.5]], [1, 1]), skce([[0.5, 0.5], [0.5, 0.5]], [0, 1])
    (0.5, -0.5)
    """
    return _checked(probabilities, labels, width, sample_weight, tests=False).value


def skce_test(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    width: float | None = None,
    sample_weight: SampleWeight = None,
) -> KernelTest:
    """Test whether all class probabilities are the true ones, by the `skce`.

    Parameters and errors are those of `skce`.

    As `event_skce_test`: large errors reject, by a gamma law with the exact mean and variance of
    the error under perfect calibration. Two rows add 2 k^2 sum_ab C_ab D_ab to the variance of the
    sum over pairs, C and D the covariance matrices of their labels, p_a 1(a = b) - p_a p_b.

    Source: Widmann et al., NeurIPS 2019, section 6 and appendix G.
    """
    return _checked(probabilities, labels, width, sample_weight, tests=True)


def _checked(
    probabilities: ArrayLike,
    labels: ArrayLike,
    width: float | None,
    sample_weight: SampleWeight,
    *,
    tests: bool,
) -> KernelTest:
    table, true = validation.labelled(probabilities, labels, sample_weight)
    weights, each = weights_of(sample_weight, len(table)), None
    if weights is not None and weights.counts:
        rows = repeats(weights)
        table, true = table[rows], true[rows]
    elif weights is not None:
        if tests:
            refuse_sampling("skce_test", "a test by the exact moments of equal rows")
        some = weights.values > 0
        table, true, each = table[some], true[some], shares_of(weights.values[some])
    if width is not None and not 0 < width < math.inf:
        raise CalibrationInputError("width", repr(width), "a number above 0")
    if len(table) < 2:
        return KernelTest(math.nan, math.nan, math.nan, math.nan, width or 1.0)
    order = _random_order(table, true)
    near = _median_distance(table[order[:_SOME_ROWS]]) if width is None else width
    total, variance, pairs = 0.0, 0.0, 0.0
    for rows in _blocks(order, table.shape[1]):
        own = None if each is None else each[rows]
        sums = _compare(table[rows], true[rows], own, near, tests=tests)
        total, variance = total + sums[0], variance + sums[1]
        if own is None:
            pairs += rows.size * (rows.size - 1.0)
        else:
            pairs += float(own.sum() ** 2 - own @ own)
    if not tests:
        return KernelTest(total / pairs, math.nan, math.nan, math.nan, near)
    alone = float(len(table) - np.einsum("ij,ij->", table, table))
    deviation = math.sqrt(max(variance, 0.0)) / pairs
    return kernel_test(total / pairs, deviation, max(alone, 0.0) / pairs, near)


def _random_order(table: Floats, true: Labels) -> NDArray[np.intp]:
    """Return the rows in a random order that depends on what is in them, not on where they are.

    The seed is made from all of them: with one seed for all data, rows would be dealt by the rank
    of their labels, always alike, which is no random choice of pairs.
    """
    weights = np.random.default_rng(0).random(table.shape[1])
    keys = np.einsum("ij,j->i", table, weights) + true
    order = np.argsort(keys, kind="stable")
    seed = crc32(np.round(keys[order], 6).tobytes())
    return order[np.random.default_rng(seed).permutation(len(table))]


def _median_distance(table: Floats) -> float:
    from scipy.spatial.distance import pdist  # noqa: PLC0415 - a tenth of a second to import

    distances = pdist(table, "cityblock") / 2
    return float(np.median(distances)) or float(distances.mean()) or 1.0


def _blocks(order: NDArray[np.intp], n_classes: int) -> list[NDArray[np.intp]]:
    """Part the rows into blocks of like size, as few as the pairs in them can be compared."""
    most = 2 * _WORK / (order.size * (n_classes + _OF_A_PAIR))
    return np.array_split(order, math.ceil(order.size / max(most, _LEAST_BLOCK)))


def _compare(
    table: Floats, true: Labels, weights: Floats | None, width: float, *, tests: bool
) -> tuple[float, float]:
    """Compare all pairs of rows, tile by tile; one weighs the product of its rows' weights.

    Over ordered pairs of two rows: the products of residuals, and the variance of their sum.
    """
    from scipy.spatial.distance import cdist  # noqa: PLC0415 - a tenth of a second to import

    residual = -table
    residual[np.arange(len(true)), true] += 1
    if weights is not None:
        residual *= weights[:, np.newaxis]
    products = variance = 0.0
    size = min(_TILE, math.isqrt(_PRODUCT // (2 * table.shape[1])) or 1)
    tiles = [slice(first, first + size) for first in range(0, len(table), size)]
    for rows, others in combinations_with_replacement(tiles, 2):
        kernel = cdist(table[rows], table[others], "cityblock")
        kernel *= -0.5 / width
        np.exp(kernel, out=kernel)
        times = 2.0
        if rows == others:  # each pair is in the tile twice, and each row with itself
            np.fill_diagonal(kernel, 0.0)
            times = 1.0
        products += times * _sum(kernel, residual[rows] @ residual[others].T)
        if tests:
            kernel *= kernel
            variance += 2 * times * _sum(kernel, _covariances(table[rows], table[others]))
    return products, variance


def _sum(first: Floats, second: Floats) -> float:
    return float(np.einsum("ij,ij->", first, second))


def _covariances(some: Floats, others: Floats) -> Floats:
    """Return the sum over both classes of the product of the labels' covariances, row by row."""
    both: Floats = some @ others.T
    products = both * both
    products += both
    products -= np.hstack([some, some**2]) @ np.hstack([others**2, others]).T
    return products


MMCE = EventMeasure(
    key="mmce",
    name="MMCE",
    group="kernel",
    source="Kumar, Sarawagi, Jain 2018",
    explained="Maximum mean calibration error: root of the mean product of two rows' gaps between"
    " score and outcome, weighted by how alike their scores are (kernel width 0.4). No bins. Gaps"
    " of opposite sign at similar scores cancel.",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, _: mmce_of(c),
)

EVENT_SKCE = EventMeasure(
    key="event_skce",
    name="SKCE of the event",
    group="kernel",
    source="Widmann 2019",
    explained="Squared kernel calibration error: mean product of two different rows' gaps, twice,"
    " weighted as in MMCE. Unbiased: 0 on average if perfectly calibrated, so small negative"
    " values are chance.",
    unit="small",
    ideal=0.0,
    interval="inverted",
    truth=lambda c, _: true_skce_of(c),
    compute=lambda c, _: event_skce_of(c),
)

SKCE = ClassMeasure(
    key="skce",
    name="SKCE, all classes",
    group="kernel",
    source="Widmann 2019",
    explained="Squared kernel calibration error of all class probabilities together: it tests"
    " whole rows, not one class or prediction at a time. Unbiased, so small negative values are"
    " chance. The kernel is as wide as the median distance of two rows, so it differs before and"
    " after: compare each with its value under perfect calibration.",
    unit="small",
    ideal=0.0,
    is_tested_only=True,
    compares_pairs=True,
    compute=lambda p, y, _: skce(p, y),
    weighted=lambda p, y, _, w: skce(p, y, sample_weight=w),
)
