"""Convex functions of weights that are at least 0 and sum to 1."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calibcore.validation import Floats

_MOST_STEPS = 60


class OnWeights(NamedTuple):
    """A function of the weights with its gradient and Hessian; infinity where it is undefined."""

    value: float
    gradient: Floats
    hessian: Floats


class Least(NamedTuple):
    """A minimum over the simplex, with the Hessian there."""

    value: float
    weights: Floats
    hessian: Floats


def onto_simplex(weights: Floats) -> Floats:
    """Cut weights off at 0 and make them sum to 1."""
    kept = np.maximum(weights, 0.0)
    return np.asarray(kept / kept.sum())


def newton_step(gradient: Floats, hessian: Floats) -> Floats:
    """Give Newton's step among weights that go on summing to the same.

    A trace of curvature is added, because weights of parts that are equal cannot be told apart.
    """
    if gradient.size == 1:
        return np.zeros(1)
    # In the weights but the first, which makes up for the others
    slope = gradient[1:] - gradient[0]
    bend = hessian[1:, 1:] - hessian[1:, :1] - hessian[:1, 1:] + hessian[0, 0]
    ridge = 1e-13 * (float(np.trace(hessian)) or 1.0)
    others = np.linalg.solve(bend + ridge * np.eye(slope.size), -slope)
    return np.concatenate([[-others.sum()], others])


def least_on_simplex(
    function: Callable[[Floats], OnWeights], start: Floats, tolerance: float = 1e-13
) -> Least:
    """Find the minimum of a convex function over the simplex.

    Parameters
    ----------
    function : callable
        Takes weights.
    start : ndarray of float64, shape (n_weights,)
        On the simplex; where the function is infinite, the search begins a little further inside.
    tolerance : float, default 1e-13
        Share of the function's value that a step must promise to gain.

    Returns
    -------
    Least
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
            return Least(here.value, onto_simplex(weights + step), here.hessian)
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
                return Least(here.value, weights, here.hessian)
            trial = onto_simplex(weights + length * step)
            there = function(trial)
        weights, here = trial, there
    return Least(here.value, weights, here.hessian)


def _feasible_step(here: OnWeights, weights: Floats) -> Floats:
    """Give Newton's step, which takes no weight that is 0 below 0."""
    slack = here.gradient - here.gradient @ weights
    free = (weights > 0) | (slack < -1e-13 * np.abs(here.gradient).max())
    while True:
        step = np.zeros(len(weights))
        step[free] = newton_step(here.gradient[free], here.hessian[free][:, free])
        outward = free & (weights == 0) & (step < 0)
        if not outward.any():
            return step
        free &= ~outward
