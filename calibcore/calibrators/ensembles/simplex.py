"""Convex functions of weights that are at least 0 and sum to 1."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats

_MOST_STEPS = 60


class OnWeights(NamedTuple):
    """A function of the weights with its gradient and Hessian; infinity where it is undefined.

    Where it depends on a number besides: its two derivatives in that, and that of its gradient.
    """

    value: float
    gradient: Floats
    hessian: Floats
    first: float = 0.0
    second: float = 0.0
    mixed: Floats = np.empty(0)


class Least(NamedTuple):
    """A minimum over the simplex, and the last place before it, a tiny step away."""

    weights: Floats
    before: OnWeights
    step: Floats

    @property
    def value(self) -> float:
        """Return the value before the step."""
        return self.before.value

    @property
    def gain(self) -> float:
        """Return what the step was expected to gain."""
        return -float(self.before.gradient @ self.step)


def onto_simplex(weights: Floats) -> Floats:
    """Cut weights off at 0 and make them sum to 1."""
    kept = np.maximum(weights, 0.0)
    return np.asarray(kept / kept.sum())


def newton_step(gradient: Floats, hessian: Floats, free: NDArray[np.bool_]) -> Floats:
    """Return Newton's step among free weights that go on summing to the same; the others stay.

    A trace of curvature is added, because weights of parts that are equal cannot be distinguished.
    """
    ways, unit = _ways(free.tobytes())
    bend = ways @ hessian @ ways.T + 1e-13 * (sum(hessian.diagonal().tolist()) or 1.0) * unit
    slope = ways @ gradient
    return np.asarray(-_solved(bend, slope) @ ways)


def _solved(table: Floats, right: Floats) -> Floats:
    """Solve equations whose table is positive; one or two by hand, as a library takes longer."""
    if len(right) == 1:
        return np.asarray(right / table[0])
    if len(right) != 2:
        return np.asarray(np.linalg.solve(table, right))
    (one, mixed), (_, two) = table.tolist()
    first, second = right.tolist()
    share = mixed / one
    second = (second - share * first) / (two - share * mixed)
    return np.array([(first - mixed * second) / one, second])


@lru_cache(maxsize=64)
def _ways(free: bytes) -> tuple[Floats, Floats]:
    """Return the ways from the first free weight to each other, one a row, and as large a unit."""
    towards = np.eye(len(free))[np.frombuffer(free, dtype=np.bool_)]
    return np.asarray(towards[1:] - towards[0]), np.eye(max(len(towards) - 1, 0))


def least_on_simplex(
    function: Callable[[Floats], OnWeights], start: Floats, tolerance: float = 1e-13
) -> Least:
    """Find the minimum of a convex function over the simplex.

    ``function``: takes weights. ``start``: on the simplex; where the function is infinite, the
    search begins a little further inside; shape (n_weights,). ``tolerance``: share of the
    function's value that a step must promise to gain.

    Weights that do not count are exactly 0.

    Notes
    -----
    Newton's method on the weights that are not held at 0, cut short where one reaches 0; a weight
    at 0 is let go while that would lower the function.
    """
    weights = start
    here = function(weights)
    if not np.isfinite(here.value):
        weights = onto_simplex(weights + 0.01)
        here = function(weights)
    for _ in range(_MOST_STEPS):
        step = _feasible_step(here, weights)
        gain = -float(here.gradient @ step)
        if gain <= tolerance * max(abs(here.value), 1e-3):
            least = onto_simplex(weights + step)
            return Least(least, here, least - weights)
        reach = np.where(step < 0, weights / np.where(step < 0, -step, 1.0), np.inf)
        first, length = int(reach.argmin()), min(1.0, float(reach.min()))
        trial = weights + length * step
        if length < 1:
            trial[first] = 0.0
        trial = onto_simplex(trial)
        there = function(trial)
        while not there.value <= here.value - 1e-4 * length * gain:
            length /= 2
            if length < 1e-6:
                return Least(weights, here, np.zeros(weights.size))
            trial = onto_simplex(weights + length * step)
            there = function(trial)
        weights, here = trial, there
    return Least(weights, here, np.zeros(weights.size))


def _feasible_step(here: OnWeights, weights: Floats) -> Floats:
    """Return Newton's step, which takes no weight that is 0 below 0."""
    free = weights > 0
    if not free.all():
        slack = here.gradient - here.gradient @ weights
        free |= slack < -1e-13 * np.abs(here.gradient).max()
    while True:
        step = newton_step(here.gradient, here.hessian, free)
        outward = (weights == 0) & (step < 0)
        if not outward.any():
            return step
        free &= ~outward
