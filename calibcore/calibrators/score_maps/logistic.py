"""Logistic regression on a few columns and many rows, and what its maps share."""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from calibcore.probabilities import SMALLEST_SCORE, SMALLEST_SPAN
from calibcore.strips import row_strips
from calibcore.validation import Floats, Hits

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
    weights: Floats | None = None,
) -> Optimum:
    """Find the logistic regression with the least mean NLL.

    ``columns``: what is weighted; of about unit size. A column of ones is an intercept; shape
    (n_columns, n_samples). ``targets``: in [0, 1]; shape (n_samples,). ``start``: first weights
    tried; best those that ignore all but the intercept; shape (n_columns,). ``along``: ascending;
    rows of which it is about equal should have columns that are; shape (n_samples,). ``bounded``:
    columns whose weight must not be negative. ``weights``: of the rows; shape (n_samples,).

    Newton's method with a line search. A step goes to the minimum of the quadratic model under the
    bounds, found by trying every set of weights held at 0; as the NLL is convex, the point where
    this stops is the constrained optimum. It starts from the optimum for the means of groups of
    rows, which takes little time and is near.

    >>> column = np.array([[0.0, 0.0, 1.0, 1.0]])
    >>> targets = np.array([0.0, 1.0, 0.0, 0.0])
    >>> minimum = minimise_nll(column, targets, np.zeros(1), along=column[0], bounded=(0,))
    >>> minimum.weights.tolist(), minimum.converged
    ([0.0], True)
    """
    rows = _Rows(columns, targets, np.ones(targets.size) if weights is None else weights)
    if targets.size > 4 * _GROUPS:
        near = _search(_grouped(rows, along, weights), start, bounded, enough=1e-6)
        start = near.weights if near.converged else start
    return _search(rows, start, bounded)


def _grouped(rows: _Rows, along: Floats, weights: Floats | None) -> _Rows:
    edges = np.linspace(along[0], along[-1], _GROUPS + 1)[1:-1]
    ends = np.append(np.searchsorted(along, edges), along.size)
    starts = np.concatenate([[0], ends[:-1][np.diff(ends) > 0]])
    starts = starts[np.diff(starts, prepend=-1) > 0]
    columns, targets = rows.columns, rows.targets
    if weights is None:
        counts = np.diff(starts, append=along.size).astype(np.float64)
    else:
        counts = np.add.reduceat(weights, starts)
        columns, targets = columns * weights, targets * weights
    return _Rows(
        np.add.reduceat(columns, starts, axis=1) / counts,
        np.add.reduceat(targets, starts) / counts,
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
    for part in row_strips(n_rows, 8):  # so that a few temporary columns fit in the cache
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
        for at_zero in combinations(bounded, size):
            step = _step_with(point, at_zero)
            value = float(point.gradient @ step + step @ point.hessian @ step / 2)
            if value < least and not any(point.weights[k] + step[k] < 0 for k in bounded):
                best, least = step, value
    return best


def _step_with(point: _Point, at_zero: tuple[int, ...]) -> Floats:
    """Minimise the quadratic model with the held weights brought to 0."""
    step = np.zeros_like(point.weights)
    step[list(at_zero)] = -point.weights[list(at_zero)]
    free = [k for k in range(step.size) if k not in at_zero]
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


NOT_CONVERGED = "The fit did not reach its optimum; do not rely on it."


PARTED = (
    "One score parts the calibration rows: hits lie on one side of it and misses on the other (rows"
    " at that score may be either), so the steeper the curve the better and no finite one is best."
    " Platt's smoothed targets, which give a finite one, were used."
)


ODDS = [
    f"x = np.clip(x, {SMALLEST_SCORE!r}, 1 - {SMALLEST_SCORE!r})",
    "low, high = np.log(x), -np.log1p(-x)",
]
"""From scores to ``low`` and ``high``, the two parts of their log-odds."""


SIGMOID = ["tail = np.exp(-np.abs(y))", "y = np.where(y >= 0, 1.0, tail) / (1 + tail)"]
"""From log-odds to scores."""


def smoothed(hits: Hits, weights: Floats | None = None) -> Floats:
    """Return Platt's targets: the mean of the posterior under one more row of each kind."""
    n_hits: float = int(np.count_nonzero(hits))
    n_rows: float = hits.size
    if weights is not None:
        n_hits, n_rows = float(weights @ hits), float(weights.sum())
    of_hit, of_miss = (n_hits + 1) / (n_hits + 2), 1 / (n_rows - n_hits + 2)
    return np.where(hits == 1, of_hit, of_miss)


def one_target(hits: Hits, weights: Floats | None = None) -> str:
    """Return a warning that all rows have one smoothed target, if so."""
    if hits.min() != hits.max():
        return ""
    row = "a hit" if hits[0] else "a miss"
    chance = float(smoothed(hits, weights)[0])
    return f"Every calibration row is {row}, so every score becomes {chance:.4g}."


def logit(chance: float) -> float:
    """Return the log-odds of one probability strictly inside (0, 1)."""
    return math.log(chance) - math.log1p(-chance)


def is_constant(odds: Floats) -> bool:
    """Return whether sorted log-odds differ too little to carry a slope."""
    first, last = float(odds[0]), float(odds[-1])
    return abs(last - first) <= SMALLEST_SPAN * max(1.0, abs(first), abs(last))


def is_separable(column: Floats, hits: Hits) -> bool:
    """Return whether no miss has a higher value than any hit; values sorted, both kinds present."""
    first_hit = int(np.argmax(hits))
    last_miss = hits.size - 1 - int(np.argmin(hits[::-1]))
    return bool(column[last_miss] <= column[first_hit])


def only_one_class(hits: Hits) -> str:
    """Return a warning that hits are all the same, if so."""
    if hits.min() != hits.max():
        return ""
    row = "a hit" if hits[0] else "a miss"
    return (
        f"Every calibration row is {row}, so no finite curve is best; the scores stay as they are."
    )


def constant_score(ordered: Floats) -> str:
    """Return a warning that the calibration set has one score only."""
    return (
        f"Every calibration row has the score {ordered[0]:.4g} or one too near it to"
        " distinguish them, so only the height of the curve is fitted."
    )
