"""The calibration belt by its definition: every row in a loop, one constrained fit a bound."""

import math

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import chi2

from tests.reference_score_maps import chance, log_odds

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


def p_value(found: float, degree: int) -> float:
    """Return how often a sum of chi-squareds, all but the first two above `K`, is larger."""
    if degree == 1:
        return float(chi2.sf(max(found, 0.0), 2))
    if found <= (degree - 1) * K:
        return 1.0
    end = found - (degree - 2) * K
    inside = quad(lambda y: chi2.pdf(y, 1) / 0.05 * p_value(found - y, degree - 1), K, end)[0]
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
