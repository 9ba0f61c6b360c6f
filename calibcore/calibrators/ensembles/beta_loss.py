"""What a beta ensemble's fit minimises: the maps on rows of logits, their loss, its gradient."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from calibcore.blocks import row_blocks, row_maxima, row_totals
from calibcore.calibrators.base import Progress
from calibcore.calibrators.temperature.scaling import Loss
from calibcore.probabilities import below_largest
from calibcore.validation import Floats, Labels, Logits

LARGEST_OFFSET = 50.0
"""Offsets c beyond which the logistic curve is a plain exponential, or is 1, to the last digit."""

SLOPE_BOUNDS = (1e-3, 1e3)
"""A slope a of 0 would not rise strictly."""

DEEPEST = -1e6
"""Logarithms of probabilities further down weigh as much as this."""

TINY = float(np.finfo(np.float64).tiny)
VANISHING, OVERFLOWING = 500.0, 700.0
_KEPT_CELLS = 1 << 20
_MOST_STEPS = 500

_USUAL_PASSES = 30
"""Passes over all rows after which about two thirds of a fit are taken to be done."""

_TOLD_CELLS = 1 << 22
"""Cells after which progress is told within a pass."""


class Maps(NamedTuple):
    """Parameters of the maps, each of shape (n_maps,)."""

    a: Floats
    b: Floats
    c: Floats
    weights: Floats


class _Block(NamedTuple):
    """Rows that are worked on together: ln p and ln(1 - p) of all classes, and the true classes."""

    low: Floats
    high: Floats
    labels: Labels


def maps_of(parameters: Floats) -> Maps:
    """Turn a, b, c and the logarithm of the weight of each map, shape (4, n_maps), into maps."""
    a, b, c, log_weights = parameters
    weights = np.exp(log_weights - log_weights.max())
    return Maps(a, b, c, weights / weights.sum())


def logarithms(block: Logits, plain: Floats | None = None) -> tuple[Floats, Floats]:
    """Return ln p and ln(1 - p), neither of them infinite, and write p, where that is wanted."""
    low = np.empty(block.shape)
    below_largest(block, out=low)
    high = np.exp(low)
    total = row_totals(high)
    low -= np.log(total)
    np.clip(low, DEEPEST, 0.0, out=low)
    high *= 1 / total
    if plain is not None:
        plain[...] = high
    np.subtract(1, high, out=high)
    np.log(np.maximum(high, TINY, out=high), out=high)
    return low, high


def one_map(low: Floats, high: Floats, maps: Maps, number: int) -> tuple[Floats, Floats]:
    """Apply one map to rows: the normalised probabilities, and 1 - g."""
    a, b, c = maps.a[number], maps.b[number], maps.c[number]
    against = -a * low  # minus the logarithm of g / (1 - g)
    if b != 0:
        against += b * high
    against -= c
    if a * math.log(low.shape[1]) - c > VANISHING:  # what is possible for a row's largest
        # As g is the exponential there, to the last digit, a factor a row changes nothing.
        against -= np.maximum(-row_maxima(-against) - VANISHING, 0.0)
    g = np.exp(np.minimum(against, OVERFLOWING, out=against), out=against)
    g += 1
    np.reciprocal(g, out=g)
    slack = 1 - g
    g *= 1 / row_totals(g)
    return g, slack


class Done:
    """How much of a fit is done, and who is told.

    ``progress``: told the share. ``n_cells``: size of the table of all rows.
    """

    def __init__(self, progress: Progress | None, n_cells: int) -> None:
        self.progress, self.n_cells = progress, n_cells
        self.cells = self.told = 0

    def add(self, n_cells: int) -> None:
        """Count cells that have been worked on, and now and then tell."""
        self.cells += n_cells
        if self.cells - self.told >= _TOLD_CELLS:
            self.tell()

    def tell(self) -> None:
        """Report the share that is done, as far as it can be known."""
        self.told = self.cells
        if self.progress is not None:
            self.progress(1 - math.exp(-self.cells / (_USUAL_PASSES * self.n_cells)))


class Search:
    """The loss of an ensemble on given rows, and the search for its minimum."""

    def __init__(self, logits: Logits, labels: Labels, loss: Loss, done: Done) -> None:
        self.logits, self.labels, self.loss, self.done = logits, labels, loss, done
        self._kept = list(self._made()) if logits.size <= _KEPT_CELLS else None

    def _made(self) -> Iterator[_Block]:
        """Make blocks of rows in turn."""
        for rows in small_blocks(*self.logits.shape):
            yield _Block(*logarithms(self.logits[rows]), self.labels[rows])

    def minimise(self, start: Floats) -> tuple[Floats, bool]:
        """Search from parameters of shape (4, n_maps); tell whether the search converged."""
        from scipy.optimize import minimize  # noqa: PLC0415 - a third of a second to import

        bounds = [SLOPE_BOUNDS, (0.0, SLOPE_BOUNDS[1])]
        bounds += [(-LARGEST_OFFSET, LARGEST_OFFSET), (-LARGEST_OFFSET, LARGEST_OFFSET)]
        found = minimize(
            self.evaluate,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=[bound for bound in bounds for _ in range(start.shape[1])],
            options={"maxiter": _MOST_STEPS, "ftol": 1e-11, "gtol": 1e-7},
        )
        return np.asarray(found.x, dtype=np.float64).reshape(start.shape), bool(found.success)

    def evaluate(self, flat: Floats) -> tuple[float, Floats]:
        """Return the mean loss and its gradient in the parameters."""
        parameters = flat.reshape(4, -1)
        maps = maps_of(parameters)
        value, gradient = 0.0, np.zeros(parameters.shape)
        add = self._add_nll if self.loss == "nll" else self._add_squared
        for block in self._kept or self._made():
            value += add(block, maps, gradient)
            self.done.add(block.low.size)
        # From the weights to their logarithms, which go through a softmax
        gradient[3] = maps.weights * (gradient[3] - maps.weights @ gradient[3])
        self.done.tell()
        return value / len(self.labels), gradient.ravel() / len(self.labels)

    def _add_nll(self, block: _Block, maps: Maps, gradient: Floats) -> float:
        """Add a block of rows to the gradient, and give its loss."""
        low, high, labels = block
        applied = [one_map(low, high, maps, number) for number in range(len(maps.weights))]
        at = np.arange(len(labels))
        chances = np.stack([part[at, labels] for part, _ in applied])
        own = np.maximum(maps.weights @ chances, TINY)
        for number, (part, slack) in enumerate(applied):
            share = chances[number] / own
            gradient[3, number] -= share.sum()
            own_slack = slack[at, labels]
            pull = np.multiply(part, slack, out=part)
            sums = [np.vecdot(pull, low), -np.vecdot(pull, high), row_totals(pull)[:, 0]]
            sums[0] -= own_slack * low[at, labels]
            sums[1] += own_slack * high[at, labels]
            sums[2] -= own_slack
            gradient[:3, number] += np.stack(sums) @ (maps.weights[number] * share)
        return -float(np.log(own).sum())

    def _add_squared(self, block: _Block, maps: Maps, gradient: Floats) -> float:
        """Add a block of rows to the gradient, and give its loss."""
        low, high, labels = block
        applied = [one_map(low, high, maps, number) for number in range(len(maps.weights))]
        off = np.zeros(low.shape)
        for weight, (part, _) in zip(maps.weights, applied, strict=True):
            off += weight * part
        off[np.arange(len(labels)), labels] -= 1
        for number, (part, slack) in enumerate(applied):
            pull = 2 * off * part
            total = row_totals(pull)
            gradient[3, number] += total.sum()
            pull -= part * total
            pull *= slack * maps.weights[number]
            gradient[:3, number] += np.vdot(pull, low), -np.vdot(pull, high), pull.sum()
        return float(np.square(off).sum())


def small_blocks(n_rows: int, n_classes: int) -> Iterator[slice]:
    """Cut rows into blocks of which some ten tables stay in a processor's cache."""
    return row_blocks(n_rows, 4 * n_classes)
