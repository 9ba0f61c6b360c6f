"""Cheap stand-ins for the inverse Hessian of the linear model, which speed its Newton steps."""

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats

Product = Callable[[Floats], Floats]

_EXACT = 600
_DENSE = 4_096
_WORK = 2e10
_WAITING = 1_000


class Curved(Protocol):
    """What is asked of a model: `calibcore.calibrators.linear.LinearModel` is one."""

    inputs: Floats
    free: NDArray[np.bool_]
    centred: bool
    mean_squares: Floats

    @property
    def strength(self) -> Floats:
        """Strength of each parameter's penalty."""

    @property
    def n_rows(self) -> int:
        """Number of rows that count."""

    def blocks(self) -> Iterator[slice]:
        """Cut the rows that count into blocks."""

    def probabilities(self, rows: slice) -> Floats:
        """Give the probabilities at the parameters evaluated last."""


def approximate_inverse(model: Curved) -> Product:
    """Make a symmetric, positive stand-in for the inverse Hessian, where the model is now.

    A diagonal matrix with its bias, or a full one with few classes, has its whole Hessian
    inverted. Otherwise two parts are added: the inverse for the diagonal and the bias alone, and
    that of the Hessian averaged over rows as a Kronecker product of a table over classes and one
    over inputs.
    """
    strength, free = model.strength, model.free
    full = strength.shape[1] > 2
    if not full or strength.size <= _EXACT:
        return _settled(_dense_inverse(model, full=full), model)
    own, rest = _dense_inverse(model, full=False), _kronecker_inverse(model)
    classes = np.arange(len(free))

    def product(slope: Floats) -> Floats:
        found = rest(slope)
        pair = own(np.column_stack([slope[classes, classes], slope[:, -1]]))
        found[classes, classes] += pair[:, 0]
        found[:, -1] += pair[:, 1]
        return found

    return _settled(product, model)


def _settled(product: Product, model: Curved) -> Product:
    """Keep held parameters, and all directions that change no probability, where they are."""
    free = model.free
    loose = np.logical_and(free.all(axis=0), ~model.strength.any(axis=0))
    if free.shape[1] == 2:
        loose = np.array([False, loose[1]])

    equal_columns = model.centred and free.shape[1] > 2 and not model.strength[:, :-1].any()

    def settled(slope: Floats) -> Floats:
        found = np.where(free, product(slope), 0.0)
        if equal_columns:
            found[:, :-1] -= found[:, :-1].mean(axis=1, keepdims=True)
        found[:, loose] -= found[:, loose].mean(axis=0)
        return found

    return settled


def _lifted(diagonal: Floats) -> Floats:
    """Keep what is divided by away from 0."""
    least = 1e-10 * float(diagonal.max()) + float(np.finfo(np.float64).tiny)
    return np.asarray(np.maximum(diagonal, least))


def _dense_inverse(model: Curved, *, full: bool) -> Product:
    """Invert the Hessian of the whole matrix, or of its diagonal and the bias.

    It is sum over rows of p_k (1 if k = l else 0 - p_l) x_i x_j, for entries (k, i) and (l, j).
    """
    n_classes = len(model.free)
    width = n_classes + 1 if full else 2
    size = n_classes * width
    every = max(1, math.ceil(model.n_rows * float(size) ** 2 / _WORK))
    dense = size <= _DENSE
    table = np.zeros((size, size)) if dense else np.zeros(size)
    same = np.zeros((n_classes, width, width))
    waiting: list[Floats] = []
    used = subtracted = 0
    for rows in model.blocks():
        weights, inputs = model.probabilities(rows)[::every], model.inputs[rows][::every]
        if full:
            wide = np.column_stack([inputs, np.ones(len(inputs))])
            each = weights[:, :, np.newaxis] * wide[:, np.newaxis, :]
            same += np.tensordot(each, wide, axes=(0, 0))
        else:
            weighted = weights * inputs
            each = np.stack([weighted, weights], axis=2)
            same[:, 0, 0] += np.einsum("nk,nk->k", weighted, inputs)
            same[:, 0, 1] += weighted.sum(axis=0)
            same[:, 1, 1] += weights.sum(axis=0)
        used += len(weights)
        waiting.append(each.reshape(len(each), size))
        if used >= subtracted + min(size, _WAITING):
            subtracted = used
            _subtract_squares(table, waiting)
    _subtract_squares(table, waiting)
    same[:, 1, 0] = same[:, 1, 0] if full else same[:, 0, 1]
    penalty = np.asarray(model.strength if full else _pair(model.strength), dtype=np.float64)
    free = np.asarray(model.free if full else _pair(model.free), dtype=np.bool_)
    if not dense:
        found = (table + np.diagonal(same, axis1=1, axis2=2).ravel()) / used + 2 * penalty.ravel()
        inverse = 1 / _lifted(found).reshape(n_classes, width)
        return lambda slope: inverse * slope
    blocks = table.reshape(n_classes, width, n_classes, width)
    classes = np.arange(n_classes)
    blocks[classes, :, classes, :] += same
    table /= used
    table[np.diag_indices(size)] += 2 * penalty.ravel()
    return _inverted(table, free, 1e-6 * (float(model.mean_squares.max()) or 1.0))


def _subtract_squares(table: Floats, waiting: list[Floats]) -> None:
    """Subtract what all waiting rows contribute; many at a time, as the table may be large."""
    if waiting:
        rows = waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
        table -= rows.T @ rows if table.ndim == 2 else np.einsum("ni,ni->i", rows, rows)
        waiting.clear()


def _pair(values: NDArray[Any]) -> NDArray[Any]:
    """Take the diagonal's and the bias's column out of an array like the parameters."""
    own = np.diagonal(values) if values.shape[1] > 2 else values[:, 0]
    return np.column_stack([own, values[:, -1]])


def _inverted(table: Floats, free: NDArray[np.bool_], least: float) -> Product:
    held = np.flatnonzero(~free)
    ends = np.maximum(_lifted(np.diagonal(table)), least)
    table[held] = 0
    table[:, held] = 0
    # A Hessian has no negative eigenvalue but for rounding, which the lift exceeds.
    table[np.diag_indices(len(table))] += 1e-9 * ends
    table[held, held] = 1
    inverse = np.linalg.inv(table)
    inverse += inverse.T.copy()
    return lambda slope: np.asarray(0.5 * (inverse @ slope.ravel()).reshape(slope.shape))


def _kronecker_inverse(model: Curved) -> Product:
    n_classes = len(model.free)
    classes = np.zeros((n_classes, n_classes))
    inputs = np.zeros((n_classes + 1, n_classes + 1))
    for rows in model.blocks():
        weights, block = model.probabilities(rows), model.inputs[rows]
        classes -= weights.T @ weights
        classes[np.diag_indices(n_classes)] += weights.sum(axis=0)
        wide = np.column_stack([block, np.ones(len(block))])
        inputs += wide.T @ wide
    left, left_basis = np.linalg.eigh(classes / model.n_rows)
    right, right_basis = np.linalg.eigh(inputs / model.n_rows)
    ridge = 2 * float(np.median(model.strength))
    scale = _lifted(np.outer(np.maximum(left, 0), np.maximum(right, 0)) + ridge)

    def product(slope: Floats) -> Floats:
        turned: Floats = left_basis.T @ slope @ right_basis
        turned /= scale
        back: Floats = left_basis @ turned @ right_basis.T
        return back

    return product
