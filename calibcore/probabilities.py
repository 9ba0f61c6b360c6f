"""From logits to probabilities and back, stable at any magnitude."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.blocks import row_blocks, row_maxima, row_totals
from calibcore.validation import Floats, Logits


def below_largest(block: Logits, out: Floats, maxima: Logits | None = None) -> None:
    """Write each row's logits minus the row's largest, in float64 whatever they are kept in."""
    out[...] = block
    with np.errstate(over="ignore"):  # a difference too large for a float is minus infinity
        largest = row_maxima(block) if maxima is None else maxima[:, np.newaxis]
        out -= largest.astype(np.float64)  # in the loop it takes longer


_SAFE = 1e-3, 1e100
"""Sums of exponentials between which no class is lost, and none is too large for a float."""


def softmax(logits: ArrayLike) -> Floats:
    """Turn logits into class probabilities.

    Parameters
    ----------
    logits : array_like of float, shape (n_samples, n_classes)
        Any real numbers; minus infinity rules a class out.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_classes)
        Rows sum to 1.

    Raises
    ------
    CalibrationInputError
        Not two dimensions, NaN, plus infinity, or a row without a finite logit.

    Notes
    -----
    exp(z_k) / sum_j exp(z_j), in float64 whatever the input's precision. A row whose sum is very
    large or small has its largest logit taken off first. The other rows do not matter to it.

    Examples
    --------
    >>> softmax([[0.0, 0.0], [1000.0, 0.0]]).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    table = validation.matrix(logits, "logits")
    result = np.empty(table.shape, dtype=np.float64)
    for rows in row_blocks(*table.shape):
        block = result[rows]
        block /= exponentials(table[rows], out=block)
        if np.isnan(block[:, 0]).any():
            validation.logits(table)  # says what is wrong
    return result


def exponentials(block: Logits, out: Floats) -> Floats:
    """Write exp(z) of each row, up to a factor for the row, and give the sums.

    Which factor a row has depends on nothing but the row, so that equal rows of a table stay equal.
    What are no logits give NaN.

    Returns
    -------
    ndarray of float64, shape (n_rows, 1)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        np.exp(block, out=out, dtype=np.float64)
        totals = row_totals(out)
        unsafe = ((totals < _SAFE[0]) | (totals > _SAFE[1]))[:, 0]
        if unsafe.any():
            below = np.empty((np.count_nonzero(unsafe), block.shape[1]))
            below_largest(block[unsafe], out=below)
            out[unsafe] = np.exp(below, out=below)
            totals[unsafe] = row_totals(below)
    return totals


def log_softmax(logits: ArrayLike) -> Floats:
    """Turn logits into logarithms of class probabilities, without underflow.

    Parameters and errors are those of `softmax`.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_classes)
        Natural logarithms, at most 0; minus infinity for a class that is ruled out.

    Examples
    --------
    >>> log_softmax([[1000.0, 0.0]]).tolist()
    [[0.0, -1000.0]]
    """
    table = validation.logits(logits)
    result = np.empty(table.shape, dtype=np.float64)
    for rows in row_blocks(*table.shape):
        block = result[rows]
        below_largest(table[rows], out=block)
        block -= np.log(np.exp(block).sum(axis=1, keepdims=True))
    return result


def log_probabilities(probabilities: ArrayLike) -> Floats:
    """Turn class probabilities into logits: their natural logarithm.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        In [0, 1]; rows sum to 1 within 0.001.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_classes)
        A probability of 0 becomes minus infinity: the class is ruled out.

    Raises
    ------
    CalibrationInputError
        Values outside [0, 1], rows that do not sum to 1, NaN.

    Examples
    --------
    >>> log_probabilities([[1.0, 0.0]]).tolist()
    [[0.0, -inf]]
    """
    with np.errstate(divide="ignore"):
        return np.log(validation.probabilities(probabilities))
