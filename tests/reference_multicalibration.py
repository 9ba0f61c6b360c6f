"""Multicalibration by the definition: every row, cell and fold in a loop."""

import math

import numpy as np

from tests.reference_score_maps import chance, log_odds

Cell = tuple[int, int, int]
"""Grouping, -1 for all rows as one group; group; bin, -1 for all bins."""


def loss(odds: float, hit: int) -> float:
    return math.log1p(math.exp(-abs(odds))) + max(odds, 0.0) - hit * odds


def edges_of(scores: list[float], n_bins: int) -> list[float]:
    ordered, n = sorted(scores), len(scores)
    return sorted({ordered[n * i // n_bins] for i in range(1, n_bins)})


def cells_of(score: float, groups: list[int], edges: list[float]) -> list[Cell]:
    own_bin = sum(score >= edge for edge in edges)
    results = [(-1, 0, -1), (-1, 0, own_bin)]
    for grouping, group in enumerate(groups):
        results += [(grouping, group, -1), (grouping, group, own_bin)]
    return results


def rows_by_cell(
    scores: list[float], groups: list[list[int]], edges: list[float]
) -> dict[Cell, list[int]]:
    results: dict[Cell, list[int]] = {}
    for i, score in enumerate(scores):
        for cell in cells_of(score, groups[i], edges):
            results.setdefault(cell, []).append(i)
    return results


def multicalibrate(
    scores: list[float],
    hits: list[int],
    groups: list[list[int]],
    n_bins: int,
    penalty: float,
    rounds: int,
) -> dict[Cell, float]:
    """Return the shift of each cell that is corrected."""
    order = sorted(range(len(scores)), key=lambda i: (scores[i], hits[i], groups[i][::-1]))
    drawn = np.random.default_rng(0).permutation(len(scores)).tolist()
    fold = {order[place]: turn % 5 for turn, place in enumerate(drawn)}
    rows_of = rows_by_cell(scores, groups, edges_of(scores, n_bins))
    odds = [[log_odds(score) for score in scores] for _ in range(6)]  # of five folds, and of all
    shifts: dict[Cell, float] = {}

    def step(cell: Cell, k: int) -> float:
        seen = [i for i in rows_of[cell] if fold[i] != k]
        left = math.fsum(hits[i] - chance(odds[k][i]) for i in seen)
        weight = math.fsum(chance(odds[k][i]) * (1 - chance(odds[k][i])) for i in seen)
        return max(-1.0, min(1.0, left / (weight + penalty)))

    def gain(cell: Cell, steps: list[float]) -> float:
        own = [(odds[fold[i]][i], steps[fold[i]], hits[i]) for i in rows_of[cell]]
        return math.fsum(loss(at, hit) - loss(at + by, hit) for at, by, hit in own)

    def shift(cell: Cell, k: int) -> float:
        seen = [i for i in rows_of[cell] if fold[i] != k]
        low, high = -100.0, 100.0
        for _ in range(100):
            middle = (low + high) / 2
            left = math.fsum(hits[i] - chance(odds[k][i] + middle) for i in seen)
            low, high = (middle, high) if left > penalty * middle else (low, middle)
        return low

    for _ in range(rounds):
        best = max(rows_of, key=lambda cell: gain(cell, [step(cell, k) for k in range(5)]))
        added = [shift(best, k) for k in range(6)]
        if gain(best, added) <= math.log(len(rows_of) / 0.3):
            break
        shifts[best] = shifts.get(best, 0.0) + added[5]
        for k in range(6):
            for i in rows_of[best]:
                odds[k][i] += added[k]
    return shifts


def predict(
    shifts: dict[Cell, float], edges: list[float], score: float, groups: list[int]
) -> float:
    added = math.fsum(shifts.get(cell, 0.0) for cell in cells_of(score, groups, edges))
    return chance(log_odds(score) + added) if added else score
