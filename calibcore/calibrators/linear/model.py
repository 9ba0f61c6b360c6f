"""One linear model, softmax(W x + b), with a structure and a penalty: its loss and derivatives.

The penalised mean NLL is convex in W and b. `linear.newton` finds its minimum with
the gradient and with products with the Hessian alone, so no table larger than W itself is made
and the rows are worked on in blocks.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.probabilities import LOG2_E
from calibcore.results import result_class
from calibcore.validation import Floats, Labels, Logits

_SAFE = 1e-12, 1e25
"""Sums of exponentials between which single precision is exact enough for each of them."""

_LOWEST = -80.0
"""Outputs from which on no power of single precision underflows."""


@result_class
class Block:
    """Rows that are worked on together, one column each: numpy is fastest along long rows."""

    inputs: Logits
    """The inputs x, all finite; shape (n_classes, n_rows)."""
    labels: Labels
    """True classes; shape (n_rows,)."""
    ruled_out: NDArray[np.bool_] | None = None
    """True where the probability is 0 whatever the parameters; shape (n_classes, n_rows)."""

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where in a table like the inputs, row after row, the true classes are."""
        return np.asarray(self.labels * len(self.labels) + np.arange(len(self.labels)))

    @cached_property
    def ends(self) -> tuple[Logits, Logits]:
        """The least and the largest input of each class."""
        return self.inputs.min(axis=1), self.inputs.max(axis=1)

    def in_precision(self, kind: type[np.floating[Any]]) -> "Block":
        """Return the same block with inputs of this type."""
        return replace(self, inputs=np.asarray(self.inputs, dtype=kind))


def grouped(blocks: Iterable[Block], most: int) -> list[list[Block]]:
    """Put neighbours together that have at most so many rows, or are one."""
    groups: list[list[Block]] = []
    length = most
    for block in blocks:
        length += len(block.labels)
        if length > most:
            groups.append([])
            length = len(block.labels)
        groups[-1].append(block)
    return groups


def joined(group: list[Block], places: list[slice], whole: Logits) -> Block:
    """Make one block of several, with inputs in a table that has a place for each of them."""
    for block, place in zip(group, places, strict=True):
        whole[:, place] = block.inputs
    if len(group) == 1:
        return replace(group[0], inputs=whole)
    ruled_out = None
    if any(block.ruled_out is not None for block in group):
        ruled_out = np.zeros(whole.shape, dtype=np.bool_)
        for block, place in zip(group, places, strict=True):
            ruled_out[:, place] = False if block.ruled_out is None else block.ruled_out
    return Block(whole, np.concatenate([block.labels for block in group]), ruled_out)


class TypedBlocks:
    """Blocks with inputs of one type, made again each time they are gone through."""

    def __init__(self, blocks: Iterable[Block], kind: type[np.floating[Any]]) -> None:
        self.blocks, self.kind = blocks, kind

    def __iter__(self) -> Iterator[Block]:
        """Make the blocks in turn."""
        return (block.in_precision(self.kind) for block in self.blocks)


def linear_outputs(
    inputs: Logits,
    parameters: NDArray[Any],
    ruled_out: NDArray[np.bool_] | None = None,
    out: NDArray[Any] | None = None,
) -> Any:
    """Return W x + b, classes first; minus infinity for what is ruled out."""
    full = parameters.shape[1] > 2
    times, weights = (np.matmul, parameters[:, :-1]) if full else (np.multiply, parameters[:, :1])
    outputs = times(weights, inputs, out=out)
    outputs += parameters[:, -1:]
    if ruled_out is not None:
        outputs[ruled_out] = -np.inf
    return outputs


def summed_nll(blocks: Iterable[Block], parameters: Floats) -> float:
    """Sum the negative logarithms of the true classes' probabilities."""
    return sum(nll_of(*evaluated(block, parameters)[1:]) for block in blocks)


def nll_of(own: Logits, total: Logits) -> float:
    """Sum the negative log-probabilities, given true outputs and sums of exponentials."""
    return float(np.log(total).sum(dtype=np.float64) - own.sum(dtype=np.float64))


def evaluated(
    block: Block, parameters: Floats, out: NDArray[Any] | None = None
) -> tuple[Logits, Logits, Logits]:
    """Return the probabilities, each row's true output, and sum exp of all.

    The largest output of a row is taken off first only if that sum would be extreme without.
    """
    if _has_powers_of_2(block, parameters):
        outputs = linear_outputs(block.inputs, (LOG2_E * parameters).astype(np.float32), None, out)
        own = outputs.take(block.places) / np.float64(LOG2_E)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            total = turn_to_probabilities(outputs, np.exp2)
        if total.min() > _SAFE[0] and total.max() < _SAFE[1]:
            return outputs, own, total
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        typed = np.asarray(parameters, dtype=block.inputs.dtype)
        for moved in (False, True):
            outputs = linear_outputs(block.inputs, typed, block.ruled_out, out)
            if moved:
                outputs -= outputs.max(axis=0)
            own = outputs.take(block.places)
            total = turn_to_probabilities(outputs)
            if total.min() > _SAFE[0] and total.max() < _SAFE[1]:
                break
    return outputs, own, total


def _has_powers_of_2(block: Block, parameters: Floats) -> bool:
    """Return whether powers of 2 serve: in single precision they take two thirds of exp's time.

    Those that underflow take a hundred times as long.
    """
    single = block.inputs.dtype == np.float32
    if not single or parameters.shape[1] > 2 or block.ruled_out is not None:
        return False
    (low, high), (weights, bias) = block.ends, parameters.T
    return bool((np.minimum(weights * low, weights * high) + bias).min() > _LOWEST)


def turn_to_probabilities(outputs: Logits, power: np.ufunc = np.exp) -> Logits:
    """Replace columns of outputs by their softmax; give what was divided by."""
    power(outputs, out=outputs)
    total: Logits = np.ones(len(outputs), dtype=outputs.dtype) @ outputs
    outputs *= 1 / total
    return total


def pull_back(outputs: Logits, inputs: Logits, into: Floats) -> None:
    """Add up, over rows, what each parameter contributes to the outputs."""
    if into.shape[1] > 2:
        into[:, :-1] += outputs @ inputs.T
    else:
        into[:, 0] += np.vecdot(outputs, inputs)
    into[:, -1] += outputs @ np.ones(outputs.shape[1], dtype=outputs.dtype)


CACHE_CELLS = 1 << 22
"""Tables of up to so many cells are kept in double precision where that saves time."""

LONG = 1e9
"""Cells times columns of the parameters from which on a product takes about a tenth of a second."""

_FEW_CELLS = 1 << 13
_TOGETHER = 1 << 19
"""Cells, at most, of blocks that are joined."""

_NOISE = 1e-6


@result_class
class Penalty:
    """Sum of strength * (parameter - centre)**2, added to the mean NLL."""

    strength: Floats
    """0 leaves a parameter free; shape of the parameters."""
    centre: NDArray[Any]
    """Of the same shape."""


@dataclass(eq=False)
class LinearModel:
    """The rows a linear map is fitted on, and what its parameters may be.

    Parameters hold one row a class: its weights, then its bias. With two columns the matrix W is
    diagonal, with n_classes + 1 it is full.
    """

    blocks: Iterable[Block]
    """All rows; gone through many times."""
    penalty: Penalty
    """Its arrays give the parameters their shape."""
    free: NDArray[np.bool_]
    """False where a parameter keeps its first value."""
    centred: bool = False
    """Whether the inputs of a row sum to 0, so that a matrix of equal columns changes nothing."""
    n_rows: int = field(init=False)
    """Number of rows."""
    mean_squares: Floats = field(init=False)
    """Of each input, over all rows; shape (n_classes,)."""
    n_products: int = field(default=0, init=False)
    report: Callable[[], object] = field(default_factory=lambda: lambda: None, init=False)
    """Called before each evaluation, each product with the Hessian and, where the model is
    ``long``, each block of rows that is worked on; whatever it raises ends the work.
    """
    kind: type[np.floating[Any]] = field(init=False)
    """Precision of products and probabilities. Single is enough for a direction, and twice as fast;
    of the loss and its gradient, only where they are far from the optimum.
    """
    _lengths: list[int] = field(init=False)
    _at: Floats = field(init=False)
    _typed: Iterable[Block] = field(init=False)
    _buffers: list[Logits] = field(init=False)
    _parts: list[Logits] = field(init=False)
    _multiplied: bool = field(default=False, init=False)
    _sums: Floats | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Look at the rows, and choose the precision of directions."""
        self._lengths, squares = [], np.zeros(len(self.free))
        for block in self.blocks:
            self._lengths.append(len(block.labels))
            squares += np.vecdot(block.inputs, block.inputs)
        self.n_rows = sum(self._lengths)
        self.mean_squares = squares / self.n_rows
        self._at = self.penalty.centre
        self._work_in(np.float64 if self.n_cells <= _FEW_CELLS else np.float32)

    def use_double(self) -> None:
        """Work in double precision, where single no longer leads on."""
        self._work_in(np.float64)

    def _work_in(self, kind: type[np.floating[Any]]) -> None:
        """Make room for the probabilities, and the inputs, in this precision, as far as they fit.

        Beside a product of large matrices the time to make inputs again is small.
        """
        self.kind = kind
        few = self.n_cells <= CACHE_CELLS
        self._typed, self._buffers, self._parts = TypedBlocks(self.blocks, kind), [], []
        if few and not self.full and kind == np.float32:
            self._join()
            return
        if not self.full or few:
            as_they_are = few or kind == np.float64
            self._typed = list(self._typed if as_they_are else self._copied(kind))
        if few or kind == np.float32:
            self._buffers = list(self._room(2 if few and not self.full else 1, kind, self._lengths))
            self._parts = [buffer[-1] for buffer in self._buffers]

    def _join(self) -> None:
        """Keep few cells in single precision, many rows together, as that takes fewer calls."""
        groups = grouped(self.blocks, 0 if self.long else _TOGETHER // len(self.free))
        lengths = [sum(len(block.labels) for block in group) for group in groups]
        typed: list[Block] = []
        for group, room in zip(groups, self._room(3, np.float32, lengths), strict=True):
            ends = np.cumsum([len(block.labels) for block in group]).tolist()
            places = [slice(*both) for both in zip([0, *ends], ends, strict=False)]
            typed.append(joined(group, places, room[0]))
            self._buffers.append(room[1:])
            self._parts += [room[2][:, place] for place in places]
        self._typed = typed

    def _copied(self, kind: type[np.floating[Any]]) -> Iterator[Block]:
        rooms = self._room(1, kind, self._lengths)
        for block, room in zip(self.blocks, rooms, strict=True):
            room[0] = block.inputs
            yield replace(block, inputs=room[0])

    def _room(
        self, parts: int, kind: type[np.floating[Any]], lengths: list[int]
    ) -> Iterator[Logits]:
        """Make room for so many tables of as many rows.

        One large array is given back to the system, or had again, as a whole.
        """
        whole, start = np.empty(parts * self.n_cells, dtype=kind), 0
        for length in lengths:
            end = start + parts * len(self.free) * length
            yield whole[start:end].reshape(parts, len(self.free), length)
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
        """Return a size that the Hessian's entries do not exceed."""
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
        """Return the penalised mean NLL with its gradient, and whether every row is right.

        ``rough`` is for single precision, where the model works in it and sees a slope by it.
        """
        self.report()
        self._at, self._sums, self._multiplied = parameters, None, False
        loss, separated = 0.0, True
        rough = rough and self.kind == np.float32
        slope = np.zeros_like(parameters)
        outputs: Logits = np.empty(0)
        exact = self.blocks if self.kind == np.float32 else self._typed
        for number, block in enumerate(self.watched(self._typed if rough else exact)):
            buffer = self._room_of(number, joined=rough)
            same = buffer is not None and buffer.dtype == block.inputs.dtype
            room = buffer if same else outputs
            fits = room is not None and room.shape == block.inputs.shape
            outputs, own, total = evaluated(block, parameters, room if fits else None)
            if buffer is not None and not same:
                buffer[...] = outputs
            loss += nll_of(own, total)
            truth = outputs.take(block.places)
            separated = separated and bool(truth.min() > 0.5)
            outputs.put(block.places, truth - 1)
            pull_back(outputs, block.inputs, slope)
            outputs.put(block.places, truth)
        off = parameters - self.penalty.centre
        pull = self.penalty.strength * off
        loss = loss / self.n_rows + float(np.vdot(pull, off))
        slope /= self.n_rows
        slope += np.multiply(pull, 2, out=pull)
        slope[~self.free] = 0.0
        largest = largest_of(slope)
        if rough and largest < _NOISE:
            del off, pull, slope
            return self.evaluate(parameters)
        return Evaluation(loss, slope, largest, separated, rough)

    def _room_of(self, number: int, *, joined: bool) -> Logits | None:
        """Return where the probabilities of a block, or of blocks that were joined, are kept."""
        if not self._buffers:
            return None
        return np.asarray(self._buffers[number][-1] if joined else self._parts[number])

    def product(self, direction: Floats) -> Floats:
        """Multiply a direction by the Hessian at the parameters evaluated last."""
        self.n_products += 1
        self.report()
        product = np.zeros_like(direction)
        scale = largest_of(direction) or 1.0
        scaled = np.empty(direction.shape, dtype=self.kind)
        np.divide(direction, scale, out=scaled, casting="same_kind")
        ones = np.ones(len(direction), dtype=self.kind)
        if self.full:
            for inputs, weights in self.weighted():
                moved = linear_outputs(inputs, scaled)
                moved *= weights
                moved -= weights * (ones @ moved)
                pull_back(moved, inputs, product)
        else:
            for _, pair in self.contributions():
                rows = pair.reshape(scaled.size, -1)
                product -= (rows @ (scaled.T.ravel() @ rows)).reshape(2, -1).T
            product += np.vecdot(self.own_sums(), scaled[:, np.newaxis])
        product *= scale / self.n_rows / 2
        product += self.strength * direction
        product *= 2
        product[~self.free] = 0.0
        return product

    def own_sums(self) -> Floats:
        """Sum p_k (x_k, 1) (x_k, 1)' over rows at the parameters evaluated last, for each class.

        Each sum is rounded as its square in `contributions` is: they are to cancel.
        """
        if self._sums is None:
            sums = np.zeros((len(self.free), 3))
            for inputs, pair in self.contributions():
                mixed, weight = pair @ np.ones(inputs.shape[1], dtype=self.kind)
                sums += np.stack([np.vecdot(pair[0], inputs), mixed, weight], axis=1)
            self._sums = sums[:, [0, 1, 1, 2]].reshape(-1, 2, 2)
        return self._sums

    def weighted(self) -> Iterator[tuple[Logits, Logits]]:
        """Go through inputs and probabilities at the parameters evaluated last, classes first."""
        return ((block.inputs, weights) for block, weights in self._evaluated_blocks())

    def missed(self) -> Floats:
        """Sum 1 - p of the true class over each class's rows at the parameters evaluated last."""
        sums = np.zeros(len(self.free))
        for block, weights in self._evaluated_blocks():
            missed = 1 - weights.take(block.places)
            sums += np.bincount(block.labels, missed, len(sums))
        return sums

    def watched(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Go through blocks, telling of each where the model is long."""
        for block in blocks:
            if self.long:
                self.report()
            yield block

    def _evaluated_blocks(self) -> Iterator[tuple[Block, Logits]]:
        for number, block in enumerate(self.watched(self._typed)):
            buffers = self._buffers
            yield block, buffers[number][-1] if buffers else evaluated(block, self._at)[0]

    def contributions(self) -> Iterator[tuple[Logits, NDArray[Any]]]:
        """Go through inputs and p_k (x_k, 1), shape (2, n_classes, n_rows), as `weighted`."""
        for number, (inputs, weights) in enumerate(self.weighted()):
            if not self._buffers or len(self._buffers[number]) == 1:
                yield inputs, np.stack([weights * inputs, weights])
                continue
            if not self._multiplied:
                np.multiply(weights, inputs, out=self._buffers[number][0])
            yield inputs, self._buffers[number]
        self._multiplied = True


def largest_of(values: Floats) -> float:
    """Return the largest absolute value."""
    return float(max(values.max(), -values.min()))


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
