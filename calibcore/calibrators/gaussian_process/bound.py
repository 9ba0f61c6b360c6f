"""The evidence bound of one latent function shared by all classes, and its gradient.

The function has one argument, so a table of logits is worked on as places on one line: the
bound's parts that cost matrix products are evaluated at a few thousand nodes, and each cell of the
table lies between two of them.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import row_blocks
from calibcore.probabilities import below_largest
from calibcore.results import result_class
from calibcore.validation import Floats, Labels, Logits

LOWEST_INPUT = -1e4
"""Log-probabilities below are taken for this one."""

N_NODES = 2048
"""Nodes; a table with fewer cells than this has one at each of its inputs."""

_ORDERING = 4


@result_class
class Cells:
    """A table of log-probabilities as places between neighbouring nodes."""

    nodes: Floats
    """Increasing; the first and the last enclose every input; shape (n_nodes,)."""
    index: NDArray[np.uint16]
    """Node at or below each cell; ``n_nodes`` for a class that is ruled out; shape (n_samples,
    n_classes).
    """
    weight: NDArray[np.float32]
    """How far the cell is on the way to the next node, in [0, 1); shape (n_samples, n_classes)."""
    own_index: NDArray[np.uint16]
    own_weight: NDArray[np.float32]
    """The same of each row's true class; shape (n_samples,)."""

    def thinned(self, step: int) -> "Cells":
        """Keep every ``step``-th row."""
        return Cells(
            self.nodes,
            self.index[::step],
            self.weight[::step],
            self.own_index[::step],
            self.own_weight[::step],
        )

    def counts(self) -> Floats:
        """Return each node's share of all cells."""
        total = np.zeros(len(self.nodes))
        for rows in row_blocks(*self.index.shape):
            ones = np.ones(self.index[rows].shape)
            total += scatter(self.index[rows], self.weight[rows], ones, len(total))
        return total


class Kernel(NamedTuple):
    """Squared exponential: a^2 (exp(-(x - x')^2 / (2 l^2)) + noise where x is x')."""

    amplitude: float
    lengthscale: float
    noise: float


class Bound(NamedTuple):
    """The bound at q's best covariance."""

    value: float
    """Evidence lower bound of all rows."""
    gradient: Floats
    """In the mean of q, the log amplitude and the log lengthscale; shape (n_inducing + 2,)."""
    factor: Floats
    """Lower Cholesky factor of the best covariance; shape (n_inducing, n_inducing)."""


class Basis(NamedTuple):
    """The unit kernel between inducing places and inputs, plain and whitened."""

    cross: Floats
    white: Floats
    """R(places, inputs), and ``whitener`` @ that; shape (n_inducing, n_inputs)."""
    whitener: Floats
    """Inverse of the lower Cholesky factor of ``unit`` + noise; shape (n_inducing, n_inducing)."""
    unit: Floats
    """R(places, places); shape (n_inducing, n_inducing)."""


def inputs(logits: Logits) -> Floats:
    """Return the log-probabilities the latent function is applied to.

    A finite logit's is at least `LOWEST_INPUT`; a class that is ruled out keeps minus infinity.
    """
    table = np.empty(logits.shape)
    below_largest(logits, out=table)
    table -= np.log(np.exp(table).sum(axis=1, keepdims=True))
    np.maximum(table, LOWEST_INPUT, out=table)
    table[np.isneginf(logits)] = -np.inf
    return table


def place(logits: Logits, labels: Labels) -> Cells:
    """Put a table of logits on the line of nodes.

    Each row is sorted, and rows are put in an order of their content, so that neither the order of
    the rows nor that of the classes changes a sum's rounding.
    """
    n_rows, n_classes = logits.shape
    own, keys, lowest, highest = _survey(logits, labels)
    order = np.lexsort((*keys.T, own))
    if logits.size < N_NODES:
        nodes = np.unique(inputs(_sorted_rows(logits)))
        nodes = nodes[np.isfinite(nodes)]
    else:
        nodes = np.linspace(lowest, highest, N_NODES)
    nodes = np.unique(nodes)
    index = np.empty((n_rows, n_classes), dtype=np.uint16)
    weight = np.empty((n_rows, n_classes), dtype=np.float32)
    for rows in row_blocks(n_rows, n_classes):
        table = inputs(_sorted_rows(logits[order[rows]]))
        index[rows], weight[rows] = _between(nodes, table)
    return Cells(nodes, index, weight, *_between(nodes, own[order]))


def _survey(logits: Logits, labels: Labels) -> tuple[Floats, Floats, float, float]:
    """Find each true class's input, each row's largest inputs, and the range of all."""
    n_rows, n_classes = logits.shape
    own, keys = np.empty(n_rows), np.empty((n_rows, min(n_classes, _ORDERING)))
    lowest, highest = 0.0, LOWEST_INPUT
    for rows in row_blocks(n_rows, n_classes):
        block = _sorted_rows(logits[rows])
        table = inputs(block)
        keys[rows] = table[:, -keys.shape[1] :]
        chosen = logits[rows][np.arange(len(block)), labels[rows]]
        at = np.less(block, chosen[:, np.newaxis]).sum(axis=1)
        own[rows] = table[np.arange(len(block)), at]
        lowest = min(lowest, float(table.min(where=np.isfinite(table), initial=0.0)))
        highest = max(highest, float(table[:, -1].max()))
    return own, keys, lowest, highest


def _sorted_rows(logits: Logits) -> Logits:
    table = logits.copy()
    table.sort(axis=1)
    return table


def _between(nodes: Floats, values: Floats) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    if len(nodes) == N_NODES:
        width = (nodes[-1] - nodes[0]) / (N_NODES - 1)
        scaled = (np.where(np.isfinite(values), values, nodes[0]) - nodes[0]) / width
        index = np.clip(scaled.astype(np.int64), 0, N_NODES - 2)
        share = np.clip(scaled - index, 0, 1)
    else:
        index = np.searchsorted(nodes, values, side="right") - 1
        index = np.maximum(index, 0)
        share = np.zeros(values.shape)
    ruled_out = np.isneginf(values)
    index[ruled_out], share[ruled_out] = len(nodes), 0.0
    return index.astype(np.uint16), share.astype(np.float32)


def scatter(
    index: NDArray[np.uint16], weight: NDArray[np.float32], values: NDArray[np.generic], n: int
) -> Floats:
    """Sum the cells' values at the nodes around them: the transpose of linear interpolation."""
    places = index.ravel().astype(np.intp)
    amounts = np.asarray(values, dtype=np.float64).ravel()
    below = np.bincount(places, amounts, minlength=n + 1)
    moved = np.bincount(places, amounts * weight.ravel(), minlength=n + 1)
    below -= moved
    below[1:] += moved[:-1]
    return np.asarray(below[:n], dtype=np.float64)


def basis(values: Floats, places: Floats, kernel: Kernel) -> Basis:
    """Evaluate the unit kernel between inputs (n,) and inducing places (m,)."""
    unit = np.exp(-0.5 * ((places[:, np.newaxis] - places) / kernel.lengthscale) ** 2)
    whitener = np.linalg.inv(np.linalg.cholesky(unit + kernel.noise * np.eye(len(places))))
    cross = np.exp(-0.5 * ((places[:, np.newaxis] - values) / kernel.lengthscale) ** 2)
    return Basis(cross, whitener @ cross, whitener, unit)


def bound(q_mean: Floats, kernel: Kernel, places: Floats, cells: Cells) -> Bound:
    """Evaluate the evidence bound at the best covariance of q, and its gradient.

    Notes
    -----
    With p = softmax(mu), the expected log-likelihood of Wenger 2020 is linear in the variances v:

        E log p(y) = mu_y - log sum exp mu - 1/2 sum_k p_k (1 - p_k) v_k,

    so for a given mean the best whitened covariance is S = (I + W)^-1, where W sums
    p (1 - p) a^2 A A' over all cells. The gradient holds it fixed, which at its best is exact.
    """
    amplitude, _, noise = kernel
    parts = basis(cells.nodes, places, kernel)
    white = parts.white
    mean = cells.nodes + amplitude * (q_mean @ white)
    log_total, spread = _first_pass(cells, mean)
    precision = np.eye(len(places)) + amplitude**2 * (white * spread) @ white.T
    # Turned around twice, the inverse of the precision's factor is the covariance's, lower again.
    factor = np.linalg.inv(np.linalg.cholesky(precision[::-1, ::-1])).T[::-1, ::-1]
    inside = ((factor.T @ white) ** 2).sum(axis=0)
    rest = 1 + noise - (white * white).sum(axis=0)
    variance = amplitude**2 * (rest + inside)
    own = scatter(cells.own_index, cells.own_weight, np.ones(len(cells.own_index)), len(mean))
    slope = own - _second_pass(cells, mean, variance)
    value = float(
        own @ mean
        - log_total
        - 0.5 * amplitude**2 * (spread @ rest)
        + np.log(np.diag(factor)).sum()
        - 0.5 * (q_mean @ q_mean)
    )
    gradient = np.empty(len(q_mean) + 2)
    gradient[:-2] = amplitude * (white @ slope) - q_mean
    gradient[-2] = slope @ (mean - cells.nodes) - spread @ variance
    adjoint = amplitude * np.outer(q_mean, slope)
    adjoint -= amplitude**2 * (factor @ (factor.T @ white) - white) * spread
    gradient[-1] = _lengthscale_slope(parts, adjoint, kernel, places, cells.nodes)
    return Bound(value, gradient, np.ascontiguousarray(factor))


def _lengthscale_slope(
    parts: Basis, adjoint: Floats, kernel: Kernel, places: Floats, nodes: Floats
) -> float:
    """Carry a derivative in the whitened basis back to the log lengthscale."""
    to_cross = parts.whitener.T @ adjoint
    # Through the Cholesky factor: of (factor)' (slope in it) the lower half, diagonal halved.
    inner = np.tril(-adjoint @ parts.white.T)
    inner[np.diag_indices_from(inner)] /= 2
    to_unit = parts.whitener.T @ inner @ parts.whitener
    far = ((places[:, np.newaxis] - nodes) / kernel.lengthscale) ** 2
    near = ((places[:, np.newaxis] - places) / kernel.lengthscale) ** 2
    return float((to_cross * parts.cross * far).sum() + (to_unit * parts.unit * near).sum())


def _probabilities(cells: Cells, mean: Floats) -> Iterator[tuple[slice, Floats, float]]:
    """Return block after block the softmax of the latent mean, and the sum of its log totals."""
    values, steps = np.append(mean, -np.inf), np.append(np.diff(mean), [0.0, 0.0])
    for rows in row_blocks(*cells.index.shape):
        table = _interpolated(values, steps, cells, rows)
        largest = table.max(axis=1, keepdims=True)
        table -= largest
        np.exp(table, out=table)
        totals = table.sum(axis=1, keepdims=True)
        table /= totals
        yield rows, table, float(largest.sum() + np.log(totals).sum())


def _interpolated(values: Floats, steps: Floats, cells: Cells, rows: slice) -> Floats:
    at = cells.index[rows].astype(np.intp)
    table = steps.take(at)
    table *= cells.weight[rows]
    table += values.take(at)
    return table


def _first_pass(cells: Cells, mean: Floats) -> tuple[float, Floats]:
    """Sum the log totals, and p (1 - p) at the nodes."""
    log_total, spread = 0.0, np.zeros(len(cells.nodes))
    for rows, p, total in _probabilities(cells, mean):
        log_total += total
        np.subtract(p, p * p, out=p)
        spread += scatter(cells.index[rows], cells.weight[rows], p, len(spread))
    return log_total, spread


def _second_pass(cells: Cells, mean: Floats, variance: Floats) -> Floats:
    """Sum at the nodes what the bound loses by a higher latent mean, but for the true classes."""
    values, steps = np.append(variance, 0.0), np.append(np.diff(variance), [0.0, 0.0])
    slope = np.zeros(len(cells.nodes))
    for rows, p, _ in _probabilities(cells, mean):
        tilt = _interpolated(values, steps, cells, rows)
        tilt *= 0.5 - p
        tilt *= p
        loss = p - p * tilt.sum(axis=1, keepdims=True)
        loss += tilt
        slope += scatter(cells.index[rows], cells.weight[rows], loss, len(slope))
    return slope
