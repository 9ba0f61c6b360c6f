"""Softmax of logits at one temperature, or a mixture of several, in few passes."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.blocks import NARROW, row_blocks, row_totals
from calibcore.probabilities import LOG2_E, below_largest, read_in_place, sum_columns
from calibcore.validation import Floats, Logits

Part = tuple[float, float]
"""A share of the mixture, and its inverse temperature."""

_SAFE = 1e-30, 1e30
"""Sums of exponentials between which they are exact without the row's largest logit taken off."""


def mixture(logits: ArrayLike, parts: Iterable[Part], *, flat: float = 0.0) -> Floats:
    """Mix the probabilities of rows of logits at some temperatures with the uniform ones.

    ``logits``: raw outputs before softmax; shape (n_samples, n_classes). ``parts``: shares and
    inverse temperatures u, above 0; at most two. ``flat``: the uniform distribution's share.

    sum of share * softmax(u * logits), plus flat / n_classes; shape (n_samples, n_classes).

    Raises
    ------
    CalibrationInputError
        Logits that cannot be used.

    Notes
    -----
    The first logit of each row is subtracted, so that adding a constant changes no bit; nothing has
    to be looked for. The largest is only where exponentials do not sum to a moderate number so,
    and among few classes, where ties must not depend on the order of the classes.
    Sums run along each row by itself: equal rows have equal probabilities wherever they are.
    """
    table = validation.matrix(logits, "logits")
    parts, uniform = [part for part in parts if part[0] > 0], flat / table.shape[1]
    parts = parts or [(0.0, 1.0)]
    result, totals = np.empty(table.shape), np.empty((len(parts), len(table)))
    mix = _mix_columns if table.shape[1] <= NARROW else _mix_rows
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # such rows are done again
        read_in_place(table.shape[1])
        for rows in row_blocks(*table.shape):
            mix(table[rows], parts, uniform, result[rows], totals[:, rows])
        if not (_SAFE[0] < totals.min() and totals.max() < _SAFE[1]):
            validation.logits(table)
            far = ~((totals > _SAFE[0]) & (totals < _SAFE[1])).all(axis=0)
            again = np.empty((np.count_nonzero(far), table.shape[1]))
            _mix_rows(table[far], parts, uniform, again, totals[:, : len(again)], largest=True)
            result[far] = again
    return result


def _mix_rows(
    block: Logits,
    parts: list[Part],
    uniform: float,
    out: Floats,
    totals: Floats,
    *,
    largest: bool = False,
) -> None:
    """Write the mixture of some rows, and the sums of their exponentials.

    What is taken off is the first logit, or the ``largest``.
    """
    below = out if len(parts) == 1 else np.empty(block.shape)
    if largest:
        below_largest(block, out=below)
    else:
        below[...] = block
        below -= below[:, :1].copy()
    _mix(below, parts, uniform, out, totals[:, :, np.newaxis], row_totals)


def _mix_columns(
    block: Logits, parts: list[Part], uniform: float, out: Floats, totals: Floats
) -> None:
    """Do the same where classes are few, with the largest taken off."""
    below = np.empty(block.shape[::-1])
    below[...] = block.T
    below -= below.max(axis=0)
    mixed = below if len(parts) == 1 else np.empty_like(below)
    _mix(below, parts, uniform, mixed, totals, sum_columns)
    out[...] = mixed.T


def _mix(
    below: Floats,
    parts: list[Part],
    uniform: float,
    out: Floats,
    totals: Floats,
    add_up: Callable[[Floats], Floats],
) -> None:
    """Write the mixture of one or two parts, given differences of logits, which are lost."""
    for number, (share, inverse) in enumerate(parts):
        part = below if number else out
        np.multiply(below, inverse * LOG2_E, out=part)
        np.exp2(part, out=part)
        totals[number] = add_up(part)
        part *= share / totals[number]
        if number:
            out += part
    if uniform > 0:
        out += uniform
    if len(parts) > 1 and out.max() > 1:  # shares may sum to a digit more
        np.minimum(out, 1.0, out=out)
