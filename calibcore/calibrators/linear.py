"""One linear model, softmax(W x + b), with a structure and a penalty: its loss and derivatives.

The penalised mean NLL is convex in W and b. `calibcore.calibrators.newton` finds its minimum with
the gradient and with products with the Hessian alone, so no table larger than W itself is made
and the rows are worked on in blocks.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats, Labels, Logits

KEPT_CELLS = 1 << 22
"""Tables of up to so many cells are kept in double precision where that saves time."""

_SAFE = 1e-12, 1e25
"""Sums of exponentials between which single precision is exact enough for each of them."""

LONG = 1e9
"""Cells times columns of the parameters from which on a product takes about a tenth of a second."""

_FEW_CELLS = 1 << 13
_NOISE = 1e-6


@dataclass(frozen=True, eq=False)
class Penalty:
    """Sum of strength * (parameter - centre)**2, added to the mean NLL.

    Parameters
    ----------
    strength, centre : ndarray of float64, shape of the parameters
        A strength of 0 leaves a parameter free.
    """

    strength: Floats
    centre: Floats


@dataclass(frozen=True, eq=False)
class Block:
    """Rows that are worked on together, one column each: numpy is fastest along long rows.

    Attributes
    ----------
    inputs : ndarray of float, shape (n_classes, n_rows)
        The inputs x, all finite.
    labels : ndarray of int64, shape (n_rows,)
        True classes.
    ruled_out : ndarray of bool, shape (n_classes, n_rows), optional
        True where the probability is 0 whatever the parameters.
    """

    inputs: Logits
    labels: Labels
    ruled_out: NDArray[np.bool_] | None = None

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where in a table like the inputs, row after row, the true classes are."""
        return np.asarray(self.labels * len(self.labels) + np.arange(len(self.labels)))

    def in_precision(self, kind: type[np.floating[Any]]) -> "Block":
        """Give the same block with inputs of this type."""
        return replace(self, inputs=np.asarray(self.inputs, dtype=kind))


@dataclass(eq=False)
class LinearModel:
    """The rows a linear map is fitted on, and what its parameters may be.

    Parameters hold one row a class: its weights, then its bias. With two columns the matrix W is
    diagonal, with n_classes + 1 it is full.

    Parameters
    ----------
    blocks : iterable of Block
        All rows; gone through many times.
    penalty : Penalty
        Its arrays give the parameters their shape.
    free : ndarray of bool, shape of the parameters
        False where a parameter keeps its first value.
    centred : bool
        Whether the inputs of a row sum to 0, so that a matrix of equal columns changes nothing.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    mean_squares : ndarray of float64, shape (n_classes,)
        Of each input, over all rows.
    kind : numpy type
        Precision of products and probabilities. Single is enough for a direction, and twice as
        fast; of the loss and its gradient, only where they are far from the optimum.
    told : callable
        Called before each evaluation, each product with the Hessian and, where the model is
        ``long``, each block of rows that is worked on; whatever it raises ends the work.
    """

    blocks: Iterable[Block]
    penalty: Penalty
    free: NDArray[np.bool_]
    centred: bool = False
    n_rows: int = field(init=False)
    mean_squares: Floats = field(init=False)
    n_products: int = field(default=0, init=False)
    told: Callable[[], object] = field(default_factory=lambda: lambda: None, init=False)
    kind: type[np.floating[Any]] = field(init=False)
    _lengths: list[int] = field(init=False)
    _at: Floats = field(init=False)
    _typed: Iterable[Block] = field(init=False)
    _kept: list[Logits] | None = field(init=False)
    _multiplied: bool = field(default=False, init=False)
    _sums: Floats | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Look at the rows, and choose the precision of directions."""
        self._lengths = [len(block.labels) for block in self.blocks]
        self.n_rows = sum(self._lengths)
        squares = sum(np.vecdot(block.inputs, block.inputs) for block in self.blocks)
        self.mean_squares = np.asarray(squares / self.n_rows)
        self._at = self.penalty.centre
        self._work_in(np.float64 if self.n_cells <= _FEW_CELLS else np.float32)

    def use_double(self) -> None:
        """Work in double precision, where single no longer leads on."""
        self._work_in(np.float64)

    def _work_in(self, kind: type[np.floating[Any]]) -> None:
        """Make room for the probabilities, and the inputs, in this precision, as far as they fit.

        Beside a product of large matrices the time to make inputs anew is small.
        """
        self.kind = kind
        few = self.n_cells <= KEPT_CELLS
        self._typed = _Typed(self.blocks, kind)
        if not self.full or few:
            as_they_are = few or kind == np.float64
            self._typed = list(self._typed if as_they_are else self._copied(kind))
        self._kept = None
        if few or kind == np.float32:
            self._kept = list(self._room(2 if few and not self.full else 1, kind))

    def _copied(self, kind: type[np.floating[Any]]) -> Iterator[Block]:
        for block, room in zip(self.blocks, self._room(1, kind), strict=True):
            room[0] = block.inputs
            yield replace(block, inputs=room[0])

    def _room(self, parts: int, kind: type[np.floating[Any]]) -> Iterator[Logits]:
        """Make room for so many tables like each block's inputs.

        Small arrays are had fast; of many cells, one large array is given back to the system as
        soon as it is no longer needed, and many small ones would not be.
        """
        shapes = [(parts, len(self.mean_squares), length) for length in self._lengths]
        if self.n_cells <= KEPT_CELLS:
            yield from (np.empty(shape, dtype=kind) for shape in shapes)
            return
        whole, start = np.empty(parts * self.n_cells, dtype=kind), 0
        for shape in shapes:
            end = start + math.prod(shape)
            yield whole[start:end].reshape(shape)
            start = end

    @property
    def n_cells(self) -> int:
        """Number of inputs, over all rows."""
        return self.n_rows * len(self.mean_squares)

    @property
    def long(self) -> bool:
        """Whether a product with the Hessian takes about a tenth of a second or more."""
        return bool(self.n_cells * self.free.shape[1] > LONG)

    @property
    def steepest(self) -> float:
        """Give a size that the Hessian's entries do not exceed."""
        return float(max(self.mean_squares.max(), 1.0) + 2 * self.strength.max())

    @property
    def strength(self) -> Floats:
        """Strength of each parameter's penalty."""
        return self.penalty.strength

    @property
    def full(self) -> bool:
        """Whether the matrix has entries off its diagonal."""
        return bool(self.penalty.strength.shape[1] > 2)

    def evaluate(self, parameters: Floats, *, rough: bool = False) -> "Evaluation":
        """Give the penalised mean NLL with its gradient, and whether every row is right.

        ``rough`` is for single precision, where the model works in it and sees a slope by it.
        """
        self.told()
        self._at, self._sums, self._multiplied = parameters, None, False
        loss, separated = 0.0, True
        rough = rough and self.kind == np.float32
        slope = np.zeros_like(parameters)
        found: Logits = np.empty(0)
        for number, block in enumerate(self.watched(self._typed if rough else self.blocks)):
            kept = None if self._kept is None else self._kept[number][-1]
            same = kept is not None and kept.dtype == block.inputs.dtype
            room = kept if same else found
            fits = room is not None and room.shape == block.inputs.shape
            found, own, total = _judged(block, parameters, room if fits else None)
            if kept is not None and not same:
                kept[...] = found
            loss += _nll(own, total)
            truth = found.take(block.places)
            separated = separated and bool(truth.min() > 0.5)
            found.put(block.places, truth - 1)
            slope += _pulled_back(found, block.inputs, full=self.full)
            found.put(block.places, truth)
        off = parameters - self.penalty.centre
        pull = self.penalty.strength * off
        slope = np.where(self.free, slope / self.n_rows + 2 * pull, 0.0)
        loss = loss / self.n_rows + float((pull * off).sum())
        largest = float(np.abs(slope).max())
        if rough and largest < _NOISE:
            return self.evaluate(parameters)
        return Evaluation(loss, slope, largest, separated, rough)

    def product(self, direction: Floats) -> Floats:
        """Multiply a direction by the Hessian at the parameters evaluated last."""
        self.n_products += 1
        self.told()
        found = np.zeros_like(direction)
        scale = float(np.abs(direction).max()) or 1.0
        scaled = np.asarray(direction / scale, dtype=self.kind)
        ones = np.ones(len(direction), dtype=self.kind)
        if self.full:
            for inputs, weights in self.weighted():
                moved = linear_outputs(inputs, scaled)
                moved *= weights
                moved -= weights * (ones @ moved)
                found += _pulled_back(moved, inputs, full=True)
        else:
            for _, pair in self.contributions():
                rows = pair.reshape(scaled.size, -1)
                found -= (rows @ (scaled.T.ravel() @ rows)).reshape(2, -1).T
            found += np.vecdot(self.own_sums(), scaled[:, np.newaxis])
        found = found * (scale / self.n_rows) + 2 * self.strength * direction
        return np.where(self.free, found, 0.0)

    def own_sums(self) -> Floats:
        """Sum p_k (x_k, 1) (x_k, 1)' over rows at the parameters evaluated last, for each class."""
        if self._sums is None:
            sums = np.zeros((len(self.free), 3))
            for inputs, pair in self.contributions():
                mixed, weight = pair @ np.ones(inputs.shape[1], dtype=self.kind)
                sums += np.stack([np.vecdot(pair[0], inputs), mixed, weight], axis=1)
            self._sums = sums[:, [0, 1, 1, 2]].reshape(-1, 2, 2)
        return self._sums

    def weighted(self) -> Iterator[tuple[Logits, Logits]]:
        """Go through inputs and probabilities at the parameters evaluated last, classes first."""
        return ((block.inputs, found) for block, found in self._judged_blocks())

    def missed(self) -> Floats:
        """Sum 1 - p of the true class over each class's rows at the parameters evaluated last."""
        found = np.zeros(len(self.free))
        for block, weights in self._judged_blocks():
            missed = 1 - weights.take(block.places)
            found += np.bincount(block.labels, missed, len(found))
        return found

    def watched(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Go through blocks, telling of each where the model is long."""
        for block in blocks:
            if self.long:
                self.told()
            yield block

    def _judged_blocks(self) -> Iterator[tuple[Block, Logits]]:
        for number, block in enumerate(self.watched(self._typed)):
            kept = self._kept
            yield block, _judged(block, self._at)[0] if kept is None else kept[number][-1]

    def contributions(self) -> Iterator[tuple[Logits, NDArray[Any]]]:
        """Go through inputs and p_k (x_k, 1), shape (2, n_classes, n_rows), as `weighted`."""
        for number, (inputs, weights) in enumerate(self.weighted()):
            if self._kept is None or len(self._kept[number]) == 1:
                yield inputs, np.stack([weights * inputs, weights])
                continue
            if not self._multiplied:
                np.multiply(weights, inputs, out=self._kept[number][0])
            yield inputs, self._kept[number]
        self._multiplied = True


class _Typed:
    """Blocks with inputs of one type, made anew each time they are gone through."""

    def __init__(self, blocks: Iterable[Block], kind: type[np.floating[Any]]) -> None:
        self.blocks, self.kind = blocks, kind

    def __iter__(self) -> Iterator[Block]:
        return (block.in_precision(self.kind) for block in self.blocks)


class Evaluation(NamedTuple):
    """Penalised mean NLL, its gradient, and whether each row has its true class strictly on top.

    ``gradient_norm`` is the gradient's largest absolute entry; ``rough`` where all of it is that
    of single precision.
    """

    loss: float
    slope: Floats
    gradient_norm: float
    separated: bool
    rough: bool


def linear_outputs(
    inputs: Logits,
    parameters: NDArray[Any],
    ruled_out: NDArray[np.bool_] | None = None,
    out: NDArray[Any] | None = None,
) -> Any:
    """Give W x + b, classes first; minus infinity for what is ruled out."""
    full = parameters.shape[1] > 2
    times, weights = (np.matmul, parameters[:, :-1]) if full else (np.multiply, parameters[:, :1])
    found = times(weights, inputs, out=out)
    found += parameters[:, -1:]
    if ruled_out is not None:
        found[ruled_out] = -np.inf
    return found


def summed_nll(blocks: Iterable[Block], parameters: Floats) -> float:
    """Sum the negative logarithms of the true classes' probabilities."""
    return sum(_nll(*_judged(block, parameters)[1:]) for block in blocks)


def _nll(own: Logits, total: Logits) -> float:
    return float(np.log(total).sum(dtype=np.float64) - own.sum(dtype=np.float64))


def _judged(
    block: Block, parameters: Floats, out: NDArray[Any] | None = None
) -> tuple[Logits, Logits, Logits]:
    """Give the probabilities, each row's true output, and sum exp of all.

    The largest output of a row is taken off first only if that sum would be extreme without.
    """
    typed = np.asarray(parameters, dtype=block.inputs.dtype)
    for moved in (False, True):
        found = linear_outputs(block.inputs, typed, block.ruled_out, out)
        if moved:
            found -= found.max(axis=0)
        own = found.take(block.places)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            total = turn_to_probabilities(found)
        if total.min() > _SAFE[0] and total.max() < _SAFE[1]:
            break
    return found, own, total


def turn_to_probabilities(outputs: Logits) -> Logits:
    """Replace columns of outputs by their softmax; give what was divided by."""
    np.exp(outputs, out=outputs)
    total: Logits = np.ones(len(outputs), dtype=outputs.dtype) @ outputs
    outputs *= 1 / total
    return total


def _pulled_back(outputs: Logits, inputs: Logits, *, full: bool) -> NDArray[Any]:
    """Sum, over rows, what each parameter contributes to the outputs."""
    bias = outputs @ np.ones(outputs.shape[1], dtype=outputs.dtype)
    weights = outputs @ inputs.T if full else np.vecdot(outputs, inputs)
    return np.column_stack([weights, bias])
