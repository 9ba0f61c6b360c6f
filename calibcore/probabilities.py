"""From logits to probabilities and back, stable at any magnitude."""

import math

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.strips import NARROW, row_maxima, row_strips, row_totals
from calibcore.validation import Floats, Logits

PROBABILITY_FLOOR = float(np.finfo(np.float64).tiny)
"""A probability below this, 2.2e-308, counts as this in a logarithm: 708.4 nats, not infinity."""

SMALLEST_NUMBER = 5e-324
"""The smallest number above 0."""

SMALLEST_SCORE = 2.0**-52
"""Nearest that a score comes to 0 or 1 before its logarithm is taken."""

SMALLEST_SPAN = 1e-6
"""Log-odds that differ by less than this share of the largest, or of 1, count as equal."""

LOG2_E = 1 / math.log(2)
"""Powers of 2 take less time than those of e."""

_LONG = 208
"""Columns from which on numpy had better not copy the number that goes with each row."""


def read_in_place(n_columns: int) -> None:
    """Keep numpy from filling a buffer with a row's number, where its rows are long.

    Arithmetic of a table with a column then takes a third of the time. Lasts to the end of the
    ``numpy.errstate`` that surrounds it.
    """
    if n_columns >= _LONG:
        np.setbufsize(_LONG)


def below_largest(block: Logits, out: Floats, maxima: Logits | None = None) -> None:
    """Write each row's logits minus the row's largest, in float64 whatever they are kept in."""
    out[...] = block
    with np.errstate(over="ignore"):  # a difference too large for a float is minus infinity
        largest = row_maxima(block) if maxima is None else maxima[:, np.newaxis]
        out -= largest.astype(np.float64)  # in the loop it takes longer


_COARSE = 48.0
"""Added to a number up to 1 and taken off again, it leaves the multiple of 2^-47 next to it."""


def sum_over_classes(weights: Floats) -> Floats:
    """Sum rows of numbers from 0 to 1, shape (n_rows, 1), alike in any order of the classes.

    Among many classes ties are rare, and their sums not worth the time.
    """
    if weights.shape[1] > NARROW:
        return row_totals(weights)
    return sum_columns(np.ascontiguousarray(weights.T))[:, np.newaxis]


def sum_columns(weights: Floats) -> Floats:
    """Sum numbers from 0 to 1 over the first axis, the classes, alike in any order of them.

    So models that are unsure between the same few numbers stay tied, whichever the classes are.
    Multiples of 2^-47 are summed without rounding, and what is left of each is too small to matter.
    """
    ones = np.ones(len(weights))
    coarse = weights + _COARSE
    coarse -= _COARSE
    total = ones @ coarse
    total += ones @ np.subtract(weights, coarse, out=coarse)
    return np.asarray(total)


LAST_DECIMAL = 1e12
"""Times this, a probability with 12 decimals is a whole number."""

FEW_DIGITS = 2.0**-30
"""A probability below this has three digits at most among 12 decimals."""


def twelve_decimals(probabilities: Floats) -> Floats:
    """Round probabilities of any shape to 12 decimals; those below 1e-9 are left as they are.

    Logarithms and exponentials move the last of 16 digits, and no two programs alike: what was
    given as 0.1 in two rows comes out as two numbers. Rounded, both are what was given, to the
    last digit.

    >>> (np.array([0.1 + 0.2, 1e-20]) == [0.3, 1e-20]).tolist()
    [False, True]
    >>> (twelve_decimals(np.array([0.1 + 0.2, 1e-20])) == [0.3, 1e-20]).tolist()
    [True, True]
    """
    near = np.rint(probabilities * LAST_DECIMAL) / LAST_DECIMAL
    return np.where(probabilities < FEW_DIGITS, probabilities, near)


def softmax(logits: ArrayLike) -> Floats:
    """Compute class probabilities from logits.

    ``logits``: any real numbers; minus infinity rules a class out; shape (n_samples, n_classes).

    Rows sum to 1; shape (n_samples, n_classes).

    Raises `CalibrationInputError` for logits that are not of two dimensions, NaN, plus infinity, or
    a row without a finite logit.

    exp(z_k - max z) / sum_j exp(z_j - max z), in float64 whatever the input's precision. Classes
    whose probabilities are too small for a float rank by their logits all the same: see
    `rank_by_logits`.

    >>> softmax([[0.0, 0.0], [1000.0, 0.0]]).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    table, maxima = validation.logits_and_maxima(logits)
    result = np.empty(table.shape, dtype=np.float64)
    with np.errstate():
        read_in_place(table.shape[1])
        for rows in row_strips(*table.shape):
            block = result[rows]
            below_largest(table[rows], out=block, maxima=maxima[rows])
            np.exp(block, out=block)
            block *= 1 / sum_over_classes(block)
            rank_by_logits(block, table[rows])
    return result


def rank_by_logits(probabilities: Floats, logits: Logits) -> None:
    """Let classes whose probabilities are 0 for want of digits rank by their logits, in place.

    ``probabilities``, ``logits``: of some rows; shape (n_rows, n_classes). Where logits differ, a
    probability of 0 becomes the next number above those of the classes with smaller logits: some
    5e-324, of which nothing but the order is seen. Classes of equal logits stay equal.

    Costs a look for the smallest probability where none is nearly 0.

    >>> table = np.array([[1.0, 0.0, 0.0]])
    >>> rank_by_logits(table, np.array([[0.0, -3000.0, -1000.0]]))
    >>> table.tolist()
    [[1.0, 0.0, 5e-324]]
    """
    if probabilities.size == 0 or probabilities.min() >= PROBABILITY_FLOOR:
        return
    lost = probabilities < PROBABILITY_FLOOR  # below, digits are lost one by one
    several = np.count_nonzero(lost, axis=1) > 1
    rows = np.flatnonzero(several & np.any(lost & (logits > -np.inf), axis=1))
    own: Floats = logits[rows].astype(np.float64)
    order = np.lexsort((own, probabilities[rows]), axis=1)
    own = np.take_along_axis(own, order, axis=1)
    values = np.take_along_axis(probabilities[rows], order, axis=1)
    above = (values[:, 1:] > values[:, :-1]) | (
        (values[:, 1:] < PROBABILITY_FLOOR) & (own[:, 1:] > own[:, :-1])
    )
    places = np.zeros(values.shape)
    places[:, 1:] = np.cumsum(above, axis=1) * SMALLEST_NUMBER
    values = np.maximum.accumulate(values - places, axis=1) + places
    ranked = probabilities[rows]
    np.put_along_axis(ranked, order, values, axis=1)
    probabilities[rows] = ranked


def log_softmax(logits: ArrayLike) -> Floats:
    """Compute the logarithms of class probabilities from logits, without underflow.

    Parameters and errors are those of `softmax`.

    Natural logarithms, at most 0; minus infinity for a class that is ruled out; shape (n_samples,
    n_classes).
    """
    table = validation.logits(logits)
    result = np.empty(table.shape, dtype=np.float64)
    for rows in row_strips(*table.shape):
        block = result[rows]
        below_largest(table[rows], out=block)
        block -= np.log(sum_over_classes(np.exp(block)))
    return result


def log_probabilities(probabilities: ArrayLike) -> Floats:
    """Compute logits from class probabilities: their natural logarithm.

    ``probabilities``: in [0, 1]; rows sum to 1 within 0.001; shape (n_samples, n_classes).

    A probability of 0 becomes minus infinity: the class is ruled out; shape (n_samples, n_classes).

    Raises `CalibrationInputError` for values outside [0, 1], rows that do not sum to 1, NaN.

    >>> log_probabilities([[1.0, 0.0]]).tolist()
    [[0.0, -inf]]
    """
    with np.errstate(divide="ignore"):
        return np.log(validation.probabilities(probabilities))


def log_odds(scores: Floats) -> Floats:
    """Return log(s / (1 - s)), with scores held `SMALLEST_SCORE` from 0 and 1."""
    inside = np.clip(scores, SMALLEST_SCORE, 1 - SMALLEST_SCORE)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def sigmoid(odds: Floats) -> Floats:
    """Turn log-odds into probabilities, without overflow."""
    tail = np.exp(-np.abs(odds))
    return np.asarray(np.where(odds >= 0, 1.0, tail) / (1 + tail))
