"""Rows of inputs worked on together: their outputs, their probabilities, and sums over them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

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


class Typed:
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
    found = times(weights, inputs, out=out)
    found += parameters[:, -1:]
    if ruled_out is not None:
        found[ruled_out] = -np.inf
    return found


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
        found = linear_outputs(block.inputs, (LOG2_E * parameters).astype(np.float32), None, out)
        own = found.take(block.places) / np.float64(LOG2_E)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            total = turn_to_probabilities(found, np.exp2)
        if total.min() > _SAFE[0] and total.max() < _SAFE[1]:
            return found, own, total
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        typed = np.asarray(parameters, dtype=block.inputs.dtype)
        for moved in (False, True):
            found = linear_outputs(block.inputs, typed, block.ruled_out, out)
            if moved:
                found -= found.max(axis=0)
            own = found.take(block.places)
            total = turn_to_probabilities(found)
            if total.min() > _SAFE[0] and total.max() < _SAFE[1]:
                break
    return found, own, total


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
