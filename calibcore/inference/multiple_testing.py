"""Many classes at once: which of them are miscalibrated, when all are looked at."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.cumulative import FEW_EXPECTED, brownian_tail, expected_steps, rare_tail
from calibcore.inference.groups import Screen, stays_off
from calibcore.ordering import sort_together
from calibcore.results import result_class
from calibcore.validation import Floats, Labels

_CELLS = 1 << 20
"""Cells of the table that are copied and sorted at a time, unless a column is longer."""


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values for multiple tests by Holm's method.

    Parameters
    ----------
    p_values : array_like of float, shape (n_tests,)
        Each in [0, 1].

    Returns
    -------
    ndarray of float64, shape (n_tests,)
        The chance of even one adjusted p-value of at most 5% is at most 5% if nothing is off.

    Raises
    ------
    CalibrationInputError
        NaN, or values outside [0, 1].

    Notes
    -----
    Sorted, the i-th of m (from 0) is multiplied by m - i; none is below one before it, nor above 1.

    References
    ----------
    Holm, *Scandinavian Journal of Statistics* 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    values = validation.scores(p_values)
    order = np.argsort(values)
    factors = np.arange(values.size, 0, -1)
    rising = np.maximum.accumulate(np.minimum(values[order] * factors, 1.0))
    adjusted = np.empty_like(rising)
    adjusted[order] = rising
    return adjusted


@result_class
class ClassScreen(Screen):
    """Every class against the others: how large each gap is, and whether chance explains it."""

    n_samples: int
    """Number of rows."""
    rows: Labels
    """Rows of each class; shape (n_classes,)."""
    mean_score: Floats
    """Mean predicted probability of each class; shape (n_classes,)."""
    gap: Floats
    """The KS error with its sign: above 0 where its scores are too high; shape (n_classes,)."""
    null_deviation: Floats
    """As `calibcore.cumulative.CumulativeCurves.null_deviation`; shape (n_classes,)."""
    p_value: Floats
    """Of the KS error, as if the class had been the only one:
    `calibcore.cumulative.CumulativeCurves.ks_p_value`; shape (n_classes,).
    """
    adjusted: Floats
    """The larger of it and the tail for few rows, adjusted by `holm`; shape (n_classes,)."""
    remains: NDArray[np.bool_]
    """Which classes were off before calibration and keep most of that mean gap, as of `since`;
    shape (n_classes,).
    """

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.rows.size

    @property
    def frequency(self) -> Floats:
        """Observed frequency of each class."""
        return self.rows / self.n_samples

    @property
    def mean_gap(self) -> Floats:
        """Mean score minus observed frequency of each class: above 0 where scores are too high."""
        return self.mean_score - self.frequency

    @property
    def ks_error(self) -> Floats:
        """Largest absolute gap of each class, in probability units."""
        return np.abs(self.gap)

    @property
    def order(self) -> NDArray[np.intp]:
        """The classes, worst first: those of `off`, then by p-value, KS error and index."""
        return np.lexsort((-self.ks_error, self.adjusted, ~self.off()))

    def since(self, before: "ClassScreen") -> "ClassScreen":
        """Return the same classes, with those that `before` calibration were off and still are."""
        left = stays_off(before.mean_gap, self.mean_gap, before.ks_error)
        return replace(self, remains=before.off() & left)


def screen_classes(probabilities: ArrayLike, labels: ArrayLike) -> ClassScreen:
    """Test the calibration of every class against the others, adjusted for the number of tests.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1 (y_prob).
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.

    Returns
    -------
    ClassScreen

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit.

    Notes
    -----
    Entry k is `calibcore.cumulative.cumulative_curves` of the event "class k": rows of equal score
    form one block, and of several largest gaps the first counts. Few columns are copied at a time,
    so memory is that of the table and some 10 million cells. A probability above 1, of a row scaled
    within the tolerance, counts as 1. With two classes both say the same.

    ``p_value`` is the Brownian limit but where fewer than 3 rows of a class are expected. Far out,
    where a p-value of one among many must lie, more rows are skewed too: with the limit alone one
    class of a thousand is flagged in 20 to 50% of cases in which none is (5,000 and 2,000
    rows). So what is adjusted is always the larger of the limit and twice
    `calibcore.cumulative.rare_tail`.

    References
    ----------
    Gupta et al., ICLR 2021, eqs. 9-12; Holm 1979.

    Examples
    --------
    >>> screen = screen_classes([[0.5, 0.3, 0.2]] * 40, [1] * 20 + [0] * 20)
    >>> screen.gap.round(3).tolist()
    [0.0, -0.2, 0.2]
    >>> screen.order.tolist(), screen.off().tolist()
    ([2, 1, 0], [False, True, True])
    """
    table, true = validation.labelled(probabilities, labels)
    n_rows, n_classes = table.shape
    mean_score, gap, variance, skew = np.empty((4, n_classes))
    step = max(1, _CELLS // n_rows)
    for start in range(0, n_classes, step):
        block = slice(start, start + step)
        statistics = _screen_block(table, true, block)
        mean_score[block], gap[block], variance[block], skew[block] = statistics
    deviation = np.sqrt(variance) / n_rows
    sizes = np.full(n_classes, n_rows)
    p_value, careful = gap_p_values(np.abs(gap), sizes, variance, skew)
    return ClassScreen(
        n_samples=n_rows,
        rows=np.bincount(true, minlength=n_classes),
        mean_score=mean_score,
        gap=gap,
        null_deviation=deviation,
        p_value=p_value,
        adjusted=holm(careful),
        remains=np.zeros(n_classes, dtype=np.bool_),
    )


def _screen_block(
    table: Floats, true: Labels, block: slice
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return a few classes' mean score, largest gap, and the final gap's null variance and skew.

    The last two are as `calibcore.cumulative.rare_tail` takes them.
    """
    n_rows = len(table)
    scores = np.array(table[:, block].T, order="C")
    hits = np.zeros(scores.shape, dtype=np.int8)
    mine = np.flatnonzero((true >= block.start) & (true < block.start + len(scores)))
    hits[true[mine] - block.start, mine] = 1
    sort_together(scores, hits)
    mean_score = scores.sum(axis=1) / n_rows
    spread = scores * (1 - scores)
    variance = spread.sum(axis=1)
    skew = np.einsum("ki,ki->k", spread, np.abs(1 - 2 * scores))
    gaps = np.subtract(scores, hits, out=spread)
    np.cumsum(gaps, axis=1, out=gaps)
    gaps[:, :-1][scores[:, 1:] == scores[:, :-1]] = 0.0  # within a block no gap counts
    largest = np.abs(gaps).argmax(axis=1)
    gap = gaps[np.arange(len(gaps)), largest] / n_rows
    return mean_score, gap, variance, skew


def gap_p_values(
    ks_error: Floats, rows: Labels, variance: Floats, skew: Floats
) -> tuple[Floats, Floats]:
    """Return the p-values of several KS errors: each by itself, and careful for looking at many.

    ``ks_error``: in probability units; shape (n_tests,). ``rows``: rows that each is of; shape
    (n_tests,). ``variance``, ``skew``: as `calibcore.cumulative.rare_tail` takes them; shape
    (n_tests,).

    See `screen_classes`.
    """
    limit = np.array(list(map(_limit_p_value, ks_error, np.sqrt(variance) / rows)))
    careful = np.maximum(limit, np.minimum(2 * rare_tail(ks_error * rows, variance, skew), 1.0))
    return np.where(expected_steps(variance, skew) < FEW_EXPECTED, careful, limit), careful


def _limit_p_value(ks_error: float, deviation: float) -> float:
    if deviation == 0:
        return 1.0 if ks_error == 0 else 0.0
    return brownian_tail(ks_error / deviation)
