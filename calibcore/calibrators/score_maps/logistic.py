"""Logistic regression on a few columns and many rows, by Newton's method."""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from calibcore.blocks import row_blocks
from calibcore.validation import Floats

_GROUPS = 256
"""Groups of like rows on which the search gets its starting point."""


class Optimum(NamedTuple):
    """Where a search ended, and whether the NLL is least there."""

    weights: Floats
    converged: bool


class _Rows(NamedTuple):
    """What is weighted, what is wanted, and how many rows each stands for."""

    columns: Floats
    targets: Floats
    counts: Floats


class _Point(NamedTuple):
    """The mean NLL at some weights, with its first and second derivatives."""

    weights: Floats
    nll: float
    gradient: Floats
    hessian: Floats


def minimise_nll(
    columns: Floats,
    targets: Floats,
    start: Floats,
    *,
    along: Floats,
    bounded: tuple[int, ...] = (),
) -> Optimum:
    """Find the logistic regression with the least mean NLL.

    ``columns``: what is weighted; of about unit size. A column of ones is an intercept; shape
    (n_columns, n_samples). ``targets``: in [0, 1]; shape (n_samples,). ``start``: first weights
    tried; best those that ignore all but the intercept; shape (n_columns,). ``along``: ascending;
    rows of which it is about equal should have columns that are; shape (n_samples,). ``bounded``:
    columns whose weight must not be negative.

    Notes
    -----
    Newton's method with a line search. A step goes to the minimum of the quadratic model under the
    bounds, found by trying every set of weights held at 0; as the NLL is convex, the point where
    this stops is the constrained optimum. It starts from the optimum for the means of groups of
    rows, which takes little time and is near.

    Examples
    --------
    >>> column = np.array([[0.0, 0.0, 1.0, 1.0]])
    >>> targets = np.array([0.0, 1.0, 0.0, 0.0])
    >>> found = minimise_nll(column, targets, np.zeros(1), along=column[0], bounded=(0,))
    >>> found.weights.tolist(), found.converged
    ([0.0], True)
    """
    rows = _Rows(columns, targets, np.ones(targets.size))
    if targets.size > 4 * _GROUPS:
        near = _search(_grouped(rows, along), start, bounded, enough=1e-6)
        start = near.weights if near.converged else start
    return _search(rows, start, bounded)


def _grouped(rows: _Rows, along: Floats) -> _Rows:
    edges = np.linspace(along[0], along[-1], _GROUPS + 1)[1:-1]
    ends = np.append(np.searchsorted(along, edges), along.size)
    starts = np.concatenate([[0], ends[:-1][np.diff(ends) > 0]])
    starts = starts[np.diff(starts, prepend=-1) > 0]
    counts = np.diff(starts, append=along.size).astype(np.float64)
    return _Rows(
        np.add.reduceat(rows.columns, starts, axis=1) / counts,
        np.add.reduceat(rows.targets, starts) / counts,
        counts,
    )


def _search(
    rows: _Rows, start: Floats, bounded: tuple[int, ...], *, enough: float = 1e-13
) -> Optimum:
    point = _evaluate(rows, start)
    for _ in range(100):
        step = _newton_step(point, bounded)
        expected = -float(point.gradient @ step)  # twice what the step should gain
        if expected <= enough * point.nll:
            return Optimum(point.weights + step, converged=True)
        share = 1.0
        following = _evaluate(rows, point.weights + step)
        while following.nll > point.nll * (1 + 4e-15) - 1e-4 * share * expected:
            share /= 2
            if share < 1e-12:
                return Optimum(point.weights, converged=False)
            following = _evaluate(rows, point.weights + share * step)
        point = following
    return Optimum(point.weights, converged=False)


def _evaluate(rows: _Rows, weights: Floats) -> _Point:
    n_columns, n_rows = rows.columns.shape
    nll, gradient, hessian = 0.0, np.zeros(n_columns), np.zeros((n_columns, n_columns))
    for part in row_blocks(n_rows, 8):  # so that a few temporary columns fit in the cache
        block, wanted, counts = rows.columns[:, part], rows.targets[part], rows.counts[part]
        odds = weights @ block
        tail = np.exp(-np.abs(odds))
        nll += float(counts @ (np.log1p(tail) + np.maximum(odds, 0) - wanted * odds))
        share = 1 / (1 + tail)
        miss = tail * share  # the lesser of the chances of a hit and of a miss
        gradient += block @ (counts * (np.where(odds >= 0, share, miss) - wanted))
        curved = block * (counts * miss * share)
        for number in range(n_columns):  # a product of two short, long matrices is far slower
            hessian[number] += curved @ block[number]
    total = float(rows.counts.sum())
    return _Point(weights, nll / total, gradient / total, hessian / total)


def _newton_step(point: _Point, bounded: tuple[int, ...]) -> Floats:
    """Go to the minimum of the quadratic model of the NLL, with no bounded weight below 0."""
    best = _solved(point.hessian, -point.gradient)
    if not any(point.weights[k] + best[k] < 0 for k in bounded):
        return best
    least = math.inf
    for size in range(1, len(bounded) + 1):
        for held in combinations(bounded, size):
            step = _step_with(point, held)
            value = float(point.gradient @ step + step @ point.hessian @ step / 2)
            if value < least and not any(point.weights[k] + step[k] < 0 for k in bounded):
                best, least = step, value
    return best


def _step_with(point: _Point, held: tuple[int, ...]) -> Floats:
    """Minimise the quadratic model with the held weights brought to 0."""
    step = np.zeros_like(point.weights)
    step[list(held)] = -point.weights[list(held)]
    free = [k for k in range(step.size) if k not in held]
    slope = point.gradient + point.hessian @ step
    step[free] = _solved(point.hessian[free][:, free], -slope[free])
    return step


def _solved(matrix: Floats, right: Floats) -> Floats:
    """Solve a few equations whose matrix is positive semi-definite."""
    rows = [[*row, value] for row, value in zip(matrix.tolist(), right.tolist(), strict=True)]
    for k in range(len(rows)):  # elimination by hand: NumPy takes ten times longer for so few
        pivot = rows[k]
        if pivot[k] <= 1e-9 * matrix[k, k]:
            # Least squares: where scores are few, some directions change nothing.
            return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-15)[0])
        for i in range(len(rows)):
            if i != k:
                factor = rows[i][k] / pivot[k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], pivot, strict=True)]
    return np.array([row[-1] / row[k] for k, row in enumerate(rows)])
