"""An own slow reading of Zhang et al., ICML 2020, section 3: nothing shared with calibcore."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = list[list[float]]
Curve = Callable[[float], float]


def softmax(row: list[float], temperature: float = 1.0) -> list[float]:
    """z^(1/t) / sum z^(1/t) of section 3.2.2, from logits."""
    top = max(row)
    powers = [math.exp((z - top) / temperature) for z in row]
    return [power / math.fsum(powers) for power in powers]


def loss(probabilities: Any, labels: Any, kind: str) -> float:
    """Mean over the rows of -ln p_y, or of the squared distance to the one-hot label."""
    total = 0.0
    for row, label in zip(probabilities, labels, strict=True):
        if kind == "nll":
            total += -math.log(row[label]) if row[label] > 0 else math.inf
        else:
            total += math.fsum((p - (k == label)) ** 2 for k, p in enumerate(row))
    return total / len(labels)


# Ensemble temperature scaling, eq. 5 ------------------------------------------------------------


def mixture(logits: Rows, temperature: float, weights: Any) -> Rows:
    return [
        [
            weights[0] * hot + weights[1] * plain + weights[2] / len(row)
            for hot, plain in zip(softmax(row, temperature), softmax(row), strict=True)
        ]
        for row in logits
    ]


def temperature_loss(logits: Rows, labels: Any, kind: str) -> Callable[[float], float]:
    return lambda log_t: loss([softmax(row, math.exp(log_t)) for row in logits], labels, kind)


def least_on_grid(function: Curve, low: float, high: float, n: int) -> tuple[float, float]:
    """The least value, and where: a fine grid, then a bounded search beside its best place."""
    grid = np.linspace(low, high, n)
    values = [function(place) for place in grid.tolist()]
    best = int(np.argmin(values))
    polished = scipy.optimize.minimize_scalar(
        function,
        bounds=(grid[max(best - 1, 0)], grid[min(best + 1, n - 1)]),
        method="bounded",
        options={"xatol": 1e-11},
    )
    if polished.fun < values[best]:
        return float(polished.fun), float(polished.x)
    return values[best], float(grid[best])


def program_temperature(logits: Rows, labels: Any, kind: str) -> float:
    """Temperature scaling's own T, which the authors' program keeps."""
    return math.exp(least_on_grid(temperature_loss(logits, labels, kind), -6.9, 6.9, 150)[1])


def program_weights(logits: Rows, labels: Any, temperature: float, kind: str) -> Floats:
    """Fit the weights alone with scipy's SLSQP, as the authors' program does."""
    parts = np.stack([np.array(mixture(logits, temperature, unit)) for unit in np.eye(3)])

    def objective(weights: Floats) -> float:
        return min(loss(np.tensordot(np.abs(weights), parts, 1), labels, kind), 1e6)

    result = scipy.optimize.minimize(
        objective,
        np.array([0.8, 0.1, 0.1]),
        method="SLSQP",
        bounds=[(0, 1)] * 3,
        constraints=scipy.optimize.LinearConstraint(np.ones((1, 3)), 1, 1),
        tol=1e-12,
    )
    weights = np.clip(result.x, 0, 1)
    return np.asarray(weights / weights.sum())


def ensemble_loss(logits: Rows, labels: Any, kind: str, temperature: float) -> float:
    weights = program_weights(logits, labels, temperature, kind)
    return loss(mixture(logits, temperature, weights), labels, kind)


# Isotonic regression, one for all classes (IRM) and one a class (IROvA) --------------------------


def pool_adjacent_violators(scores: Any, hits: Any) -> list[tuple[float, float, float]]:
    """Lowest score, highest score and mean hit of each step, equal scores together."""
    steps: list[list[float]] = []
    for score in sorted(set(scores)):
        inside = [hit for s, hit in zip(scores, hits, strict=True) if s == score]
        steps.append([score, score, float(sum(inside)), float(len(inside))])
        while len(steps) > 1 and steps[-2][2] * steps[-1][3] >= steps[-1][2] * steps[-2][3]:
            low, _, total, count = steps[-2]
            steps[-2:] = [[low, steps[-1][1], total + steps[-1][2], count + steps[-1][3]]]
    return [(low, high, total / count) for low, high, total, count in steps]


def read_steps(steps: list[tuple[float, float, float]], score: float) -> float:
    """Straight lines between steps, constant outside: scikit-learn, and so the program."""
    if score <= steps[0][1]:
        return steps[0][2]
    for (_, end, before), (start, last, after) in pairwise(steps):
        if score < start:
            return before + (after - before) * (score - end) / (start - end)
        if score <= last:
            return after
    return steps[-1][2]


def normalised(row: list[float], otherwise: list[float]) -> list[float]:
    total = math.fsum(row)
    return [value / total for value in row] if total > 0 else otherwise


def irm(calibration: Rows, labels: Any, rows: Rows, strictness: float = 1e-9) -> Rows:
    """Steps 1-3 of section 3.3.2, put into eq. 4."""
    entries = [p for row in calibration for p in row]
    hits = [
        int(k == y) for row, y in zip(calibration, labels, strict=True) for k in range(len(row))
    ]
    steps = pool_adjacent_violators(entries, hits)
    return [normalised([read_steps(steps, p) + strictness * p for p in row], row) for row in rows]


def irova(calibration: Rows, labels: Any, rows: Rows) -> Rows:
    """One isotonic regression a class, rows normalised; a row of zeros stays as it was."""
    curves = [
        pool_adjacent_violators([row[k] for row in calibration], [int(y == k) for y in labels])
        for k in range(len(calibration[0]))
    ]
    return [
        normalised([read_steps(curve, p) for curve, p in zip(curves, row, strict=True)], row)
        for row in rows
    ]
