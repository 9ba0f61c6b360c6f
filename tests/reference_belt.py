"""The calibration belt by its definition: every row in a loop, one constrained fit a bound."""

import math

import numpy as np
from scipy.integrate import quad
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.stats import chi2, norm
from scipy.stats import t as student

from tests.reference_score_maps import chance, log_odds
from tests.reference_weighted import Rows, misses_over_hits, tilt

K = float(chi2.ppf(0.95, 1))
"""What a further degree has to gain in twice the log-likelihood."""


def log_likelihood(columns: list[list[float]], offsets: list[float], hits: list[int],
                   values: list[float]) -> float:  # fmt: skip
    total = 0.0
    for row, offset, hit in zip(columns, offsets, hits, strict=True):
        odds = offset + math.fsum(a * b for a, b in zip(row, values, strict=True))
        total -= math.log1p(math.exp(-abs(odds))) + max(odds, 0.0) - hit * odds
    return total


def fit(columns: list[list[float]], offsets: list[float], hits: list[int]) -> list[float]:
    """Return the logistic regression of the hits on the columns, by Newton's method."""
    values = [0.0] * len(columns[0])
    for _ in range(60):
        slope, curved = np.zeros(len(values)), np.zeros((len(values), len(values)))
        for row, offset, hit in zip(columns, offsets, hits, strict=True):
            p = chance(offset + math.fsum(a * b for a, b in zip(row, values, strict=True)))
            slope += (hit - p) * np.array(row)
            curved += p * (1 - p) * np.outer(row, row)
        step = np.linalg.solve(curved, slope)
        now, share = log_likelihood(columns, offsets, hits, values), 1.0
        while True:
            following = [a + share * b for a, b in zip(values, step.tolist(), strict=True)]
            if log_likelihood(columns, offsets, hits, following) >= now - 1e-13 * abs(now):
                break
            share /= 2
        values = following
    return values


def powers(score: float, degree: int) -> list[float]:
    return [log_odds(score) ** j for j in range(degree + 1)]


def chosen(scores: list[float], hits: list[int]) -> tuple[list[float], float]:
    """Return the coefficients by forward selection, and their log-likelihood."""
    zeros = [0.0] * len(scores)
    best: tuple[list[float], float] | None = None
    for degree in range(1, 5):
        columns = [powers(score, degree) for score in scores]
        values = fit(columns, zeros, hits)
        likelihood = log_likelihood(columns, zeros, hits, values)
        if best is not None and 2 * (likelihood - best[1]) < K:
            break
        best = values, likelihood
    assert best is not None
    return best


def statistic(scores: list[float], hits: list[int]) -> float:
    diagonal = log_likelihood([[log_odds(s)] for s in scores], [0.0] * len(scores), hits, [1.0])
    return 2 * (chosen(scores, hits)[1] - diagonal)


def p_value(result: float, degree: int) -> float:
    """Return how often a sum of chi-squareds, all but the first two above `K`, is larger."""
    if degree == 1:
        return float(chi2.sf(max(result, 0.0), 2))
    if result <= (degree - 1) * K:
        return 1.0
    end = result - (degree - 2) * K
    inside = quad(lambda y: chi2.pdf(y, 1) / 0.05 * p_value(result - y, degree - 1), K, end)[0]
    return float(inside + chi2.sf(end, 1) / 0.05)


def bounds(scores: list[float], hits: list[int], at: float, level: float) -> tuple[float, float]:
    """Return the belt at one score: frequencies whose best curve is likely enough."""
    values, likelihood = chosen(scores, hits)
    degree = len(values) - 1
    enough = brentq(lambda t: p_value(t, degree) - (1 - level), (degree - 1) * K, 80)
    here = powers(at, degree)
    rest = [[a - b for a, b in zip(powers(s, degree), here, strict=True)][1:] for s in scores]

    def left(odds: float) -> float:
        offsets = [odds] * len(scores)
        own = fit(rest, offsets, hits)
        return log_likelihood(rest, offsets, hits, own) - likelihood + enough / 2

    best = math.fsum(a * b for a, b in zip(values, here, strict=True))
    ends = []
    for sign in (-1, 1):
        width = 0.5
        while left(best + sign * width) > 0:
            width *= 2
        ends.append(chance(brentq(left, best, best + sign * width, xtol=1e-10)))
    return ends[0], ends[1]


# Rows with weights, or that belong together ---------------------------------------------------


def robust(scores: list[float], hits: list[int], weights: list[float], of: list[int] | None,
           degree: int) -> tuple[list[float], np.ndarray]:  # fmt: skip
    """Return the weighted fit, and its covariance by how the parts of clusters, or rows, differ."""
    total = math.fsum(weights)
    shares = [w * len(weights) / total for w in weights]
    rows = [np.array(powers(score, degree)) for score in scores]
    values = np.zeros(degree + 1)
    for _ in range(100):
        slope, curved = np.zeros(degree + 1), np.zeros((degree + 1, degree + 1))
        for row, hit, w in zip(rows, hits, shares, strict=True):
            p = chance(float(row @ values))
            slope += w * (hit - p) * row
            curved += w * p * (1 - p) * np.outer(row, row)
        step = np.linalg.solve(curved, slope)
        values = values + step / max(1.0, float(np.abs(step).max()))
    units = list(range(len(scores))) if of is None else of
    parts = {unit: np.zeros(degree + 1) for unit in units}
    for row, hit, w, unit in zip(rows, hits, shares, units, strict=True):
        parts[unit] += w * (hit - chance(float(row @ values))) * row
    middle, n, times = np.zeros(degree + 1), len(parts), 1.0
    if of is not None:
        middle = np.sum([*parts.values()], axis=0) / n
        times = n / (n - 1) * (student.ppf(0.975, n - 1) / norm.ppf(0.975)) ** 2
    spread = times * np.sum(
        [np.outer(one - middle, one - middle) for one in parts.values()], axis=0
    )
    alone = np.zeros((degree + 1, degree + 1))
    even = len(set(weights)) == 1
    ratio = 1.0 if even else misses_over_hits(Rows(scores, hits, weights))
    for row, w in zip(rows, shares, strict=True):
        p = chance(float(row @ values))
        alone += w * w * p * (1 - p) * tilt(p, ratio) * np.outer(row, row)
    times_alone, sides = eigh(
        spread, alone
    )  # in each direction at least that of rows by themselves
    spread = alone @ sides @ np.diag(np.maximum(times_alone, 1)) @ sides.T @ alone
    inverse = np.linalg.inv(curved)
    return values.tolist(), inverse @ spread @ inverse


def robust_chosen(scores: list[float], hits: list[int], weights: list[float],
                  of: list[int] | None) -> tuple[list[float], np.ndarray, float]:  # fmt: skip
    """Return coefficients by forward selection, their covariance, and how far the diagonal is."""
    values, covariance = robust(scores, hits, weights, of, 1)
    for degree in range(2, 5):
        others, theirs = robust(scores, hits, weights, of, degree)
        if others[-1] ** 2 / theirs[-1, -1] < K:
            break
        values, covariance = others, theirs
    off = np.array(values)
    off[1] -= 1
    return values, covariance, float(off @ np.linalg.solve(covariance, off))


def robust_bounds(values: list[float], covariance: np.ndarray, at: float,
                  level: float) -> tuple[float, float]:  # fmt: skip
    degree = len(values) - 1
    enough = brentq(lambda t: p_value(t, degree) - (1 - level), (degree - 1) * K, 80)
    here = np.array(powers(at, degree))
    best, far = float(here @ values), math.sqrt(enough * float(here @ covariance @ here))
    return chance(best - far), chance(best + far)
