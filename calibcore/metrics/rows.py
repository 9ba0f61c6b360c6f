"""Measures that are means over the rows, row by row: seen, and expected of true probabilities."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calibcore.blocks import row_blocks
from calibcore.events import WithinTopR
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.validation import Floats, Labels


class RowValues(NamedTuple):
    """One value a row, with its mean and variance if the label came from the probabilities.

    Attributes
    ----------
    seen, mean, variance : ndarray of float64, shape (n_samples,)
    """

    seen: Floats
    mean: Floats
    variance: Floats


def _moments(probabilities: Floats, labels: Labels, values: Floats) -> RowValues:
    """Return the moments of a block whose value for each class is known."""
    mean = np.einsum("ij,ij->i", probabilities, values)
    off = values - mean[:, np.newaxis]
    off *= off
    variance = np.einsum("ij,ij->i", probabilities, off)
    return RowValues(values[np.arange(len(labels)), labels], mean, variance)


def nll_rows(probabilities: Floats, labels: Labels) -> RowValues:
    """Return each row's `calibcore.metrics.nll`."""
    return _in_blocks(
        probabilities, labels, lambda block: -np.log(np.maximum(block, PROBABILITY_FLOOR))
    )


def brier_rows(probabilities: Floats, labels: Labels) -> RowValues:
    """Return each row's `calibcore.metrics.brier`."""

    def values(block: Floats) -> Floats:
        # |p - e_k|^2 = sum of the other classes' p^2 + (1 - p_k)^2
        squares = block * block
        others = squares.sum(axis=1, keepdims=True) - squares
        return np.asarray(others + np.square(1 - block))

    return _in_blocks(probabilities, labels, values)


def accuracy_rows(probabilities: Floats, labels: Labels) -> RowValues:
    """Return each row's `calibcore.metrics.accuracy`: 1 where the decision is right."""
    decided = probabilities.argmax(axis=1)
    score = probabilities[np.arange(len(labels)), decided]
    return RowValues((decided == labels).astype(np.float64), score, score * (1 - score))


def top_r_rows(probabilities: Floats, labels: Labels, r: int) -> RowValues:
    """Return each row's `calibcore.metrics.top_r_accuracy`; 1 where classes are fewer than r."""
    event = WithinTopR(min(r, probabilities.shape[1])).outcomes(probabilities, labels)
    score = event.scores
    return RowValues(event.hits.astype(np.float64), score, score * (1 - score))


def gain_rows(before: Floats, after: Floats, labels: Labels) -> RowValues:
    """Return each row's `calibcore.metrics.calibration_gain`.

    Notes
    -----
    |p - e_k|^2 - |q - e_k|^2 = |p - q|^2 + 2 (p - q)(q - e_k), p before and q after; if q is true,
    the last term is 0 on average.
    """
    found = np.empty((3, len(labels)))
    for rows in row_blocks(*after.shape):
        moved, now, true = before[rows] - after[rows], after[rows], labels[rows]
        square = np.einsum("ij,ij->i", moved, moved)
        middle = np.einsum("ij,ij->i", moved, now)
        own = moved[np.arange(len(true)), true]
        moved -= middle[:, np.newaxis]
        moved *= moved
        found[0, rows] = square + 2 * (middle - own)
        found[1, rows] = square
        found[2, rows] = 4 * np.einsum("ij,ij->i", moved, now)
    return RowValues(*found)


def _in_blocks(
    probabilities: Floats, labels: Labels, values: Callable[[Floats], Floats]
) -> RowValues:
    found = np.empty((3, len(labels)))
    for rows in row_blocks(*probabilities.shape):
        block = probabilities[rows]
        found[:, rows] = _moments(block, labels[rows], values(block))
    return RowValues(*found)
