"""Softmax of logits at one temperature, or a mixture of several, in few passes."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.blocks import NARROW, row_blocks, row_totals
from calibcore.probabilities import below_largest, sum_over_classes
from calibcore.validation import Floats, Logits

Part = tuple[float, float]
"""A share of the mixture, and its inverse temperature."""

_SAFE = 1e-30, 1e30
"""Sums of exponentials between which they are exact without the row's largest logit taken off."""


def mixture(logits: ArrayLike, parts: Iterable[Part], *, flat: float = 0.0) -> Floats:
    """Mix the probabilities of rows of logits at some temperatures with the uniform ones.

    Parameters
    ----------
    logits : array_like of float, shape (n_samples, n_classes)
        Raw outputs before softmax.
    parts : iterable of (float, float)
        Shares and inverse temperatures u, above 0.
    flat : float
        The uniform distribution's share.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_classes)
        sum of share * softmax(u * logits), plus flat / n_classes.

    Raises
    ------
    CalibrationInputError
        Logits that cannot be used.

    Notes
    -----
    The first logit of each row is taken off, so that adding a constant changes no bit; nothing has
    to be looked for. The largest is only where exponentials do not sum to a moderate number so,
    and among few classes, where ties must not depend on the order of the classes.
    Sums run along each row by itself: equal rows have equal probabilities wherever they are.
    """
    table = validation.matrix(logits, "logits")
    parts, uniform = [part for part in parts if part[0] > 0], flat / table.shape[1]
    parts = parts or [(0.0, 1.0)]
    result, few = np.empty(table.shape), table.shape[1] <= NARROW
    for rows in row_blocks(*table.shape):
        block, found = table[rows], result[rows]
        far = _mix(block, parts, uniform, found, largest=few)
        if far.any():
            validation.logits(table)
            again = np.empty((np.count_nonzero(far), table.shape[1]))
            _mix(block[far], parts, uniform, again, largest=True)
            found[far] = again
    return result


def _mix(
    block: Logits, parts: list[Part], uniform: float, out: Floats, *, largest: bool = False
) -> NDArray[np.bool_]:
    """Write the mixture of some rows, and mark the rows where that cannot be relied on.

    What is taken off is the first logit, or the ``largest``.
    """
    below = out if len(parts) == 1 else np.empty(block.shape)
    far = np.zeros(len(block), dtype=np.bool_)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # such rows are marked
        if largest:
            below_largest(block, out=below)
        else:
            below[...] = block
            below -= below[:, :1].copy()
        for number, (share, inverse) in enumerate(parts):
            part = np.empty_like(below) if number else out
            np.multiply(below, inverse, out=part)
            np.exp(part, out=part)
            total = sum_over_classes(part) if largest else row_totals(part)
            if not (_SAFE[0] < total.min() and total.max() < _SAFE[1]):
                far |= ~((total > _SAFE[0]) & (total < _SAFE[1]))[:, 0]
            part *= share / total
            if number:
                out += part
    if uniform > 0:
        out += uniform
    if len(parts) > 1 and out.max() > 1:  # shares may sum to a digit more
        np.minimum(out, 1.0, out=out)
    return far
