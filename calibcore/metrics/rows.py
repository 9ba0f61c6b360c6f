"""Measures that are means over the rows, row by row: seen, and expected of true probabilities."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calibcore.blocks import row_blocks
from calibcore.metrics.proper import PROBABILITY_FLOOR
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
    """Give the moments of a block whose value for each class is known."""
    mean = np.einsum("ij,ij->i", probabilities, values)
    off = values - mean[:, np.newaxis]
    off *= off
    variance = np.einsum("ij,ij->i", probabilities, off)
    return RowValues(values[np.arange(len(labels)), labels], mean, variance)


def nll_rows(probabilities: Floats, labels: Labels) -> RowValues:
    """Give each row's `calibcore.metrics.nll`."""
    return _in_blocks(
        probabilities, labels, lambda block: -np.log(np.maximum(block, PROBABILITY_FLOOR))
    )


def brier_rows(probabilities: Floats, labels: Labels) -> RowValues:
    """Give each row's `calibcore.metrics.brier`."""

    def values(block: Floats) -> Floats:
        # |p - e_k|^2 = sum of the other classes' p^2 + (1 - p_k)^2
        squares = block * block
        others = squares.sum(axis=1, keepdims=True) - squares
        return np.asarray(others + np.square(1 - block))

    return _in_blocks(probabilities, labels, values)


def accuracy_rows(probabilities: Floats, labels: Labels) -> RowValues:
    """Give each row's `calibcore.metrics.accuracy`: 1 where the decision is right."""
    decided = probabilities.argmax(axis=1)
    score = probabilities[np.arange(len(labels)), decided]
    return RowValues((decided == labels).astype(np.float64), score, score * (1 - score))


def _in_blocks(
    probabilities: Floats, labels: Labels, values: Callable[[Floats], Floats]
) -> RowValues:
    found = np.empty((3, len(labels)))
    for rows in row_blocks(*probabilities.shape):
        block = probabilities[rows]
        found[:, rows] = _moments(block, labels[rows], values(block))
    return RowValues(*found)
