"""The linear model with sampling weights: the same loss, weighted by row, by a general solver."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from calibcore.calibrators.base import Progress, part_of
from calibcore.calibrators.linear.model import (
    Block,
    LinearModel,
    evaluated,
    largest_of,
    linear_outputs,
    pull_back,
)
from calibcore.calibrators.linear.newton import GOAL, Optimum
from calibcore.validation import Floats

_STEPS = 500


def minimise_weighted(
    model: LinearModel, weights: Floats, start: Floats, *, progress: Progress | None = None
) -> Optimum:
    """Find the parameters that make the penalised weighted mean NLL least.

    ``model``: the rows, the penalty, and what is free. ``weights``: of the rows, above 0; shape
    (n_rows,). ``start``: parameters that are not free stay there. ``progress``: as of `minimise`.

    A trust region whose steps are found by conjugate gradients (Nocedal and Wright 2006, algorithm
    7.2). Blocks are worked on in turn, so that memory does not grow with the rows.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - half a second to import, rarely needed

    loss = _Loss(model, weights / weights.sum(), start, part_of(progress))
    result = minimize(
        loss.evaluate, start[model.free],
        jac=True, hessp=loss.product, method="trust-ncg",
        options={"gtol": GOAL, "maxiter": _STEPS},
    )  # fmt: skip
    parameters = loss.table(result.x, start)
    unbounded = not model.strength[model.free].any()
    separated = model.evaluate(parameters).separated and unbounded
    return Optimum(
        parameters, float(result.fun), largest_of(result.jac), separated=separated, escaping=False
    )


@dataclass
class _Loss:
    """The loss as a function of the parameters that are free."""

    model: LinearModel
    shares: Floats
    """Of the weight; shape (n_rows,)."""
    start: Floats
    progress: Progress
    norms: list[float] = field(default_factory=list)
    """Of the gradients so far."""

    def table(self, values: Floats, rest: Floats) -> Floats:
        """Return all parameters, those that are not free as in the rest."""
        whole = rest.copy()
        whole[self.model.free] = values
        return whole

    def evaluate(self, values: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        parameters = self.table(values, self.start)
        off = parameters - self.model.penalty.centre
        slope = 2 * self.model.strength * off
        total = float(np.vdot(slope, off)) / 2
        for block, each in self._blocks():
            outputs, own, sums = evaluated(block, parameters)
            total += float(each @ (np.log(sums) - own))
            outputs.put(block.places, outputs.take(block.places) - 1)
            outputs *= each
            pull_back(outputs, block.inputs, slope)
        gradient = np.asarray(slope[self.model.free])
        self.norms.append(max(largest_of(gradient), GOAL))
        first = self.norms[0]
        self.progress(math.log(first / min(self.norms)) / math.log(max(first / GOAL, 2)))
        return total, gradient

    def product(self, values: Floats, direction: Floats) -> Floats:
        """Multiply a direction by the Hessian."""
        parameters = self.table(values, self.start)
        step = self.table(direction, np.zeros_like(self.start))
        turned = 2 * self.model.strength * step
        for block, each in self._blocks():
            probabilities = evaluated(block, parameters)[0]
            moved = linear_outputs(block.inputs, step)
            moved *= probabilities
            moved -= probabilities * moved.sum(axis=0)
            moved *= each
            pull_back(moved, block.inputs, turned)
        return np.asarray(turned[self.model.free])

    def _blocks(self) -> Iterator[tuple[Block, Floats]]:
        begin = 0
        for block in self.model.blocks:
            yield block, self.shares[begin : begin + len(block.labels)]
            begin += len(block.labels)
