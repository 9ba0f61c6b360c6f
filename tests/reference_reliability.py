"""Slow, obvious loops that calibcore's reliability curves are compared with.

Plain Python, as `tests.reference`: nothing here imports calibcore, numpy or scipy.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tests import reference_measures
from tests.reference import Numbers


def crossing(rises: Callable[[float], float], low: float, high: float) -> float:
    """Find where a rising function passes 0, by halving."""
    for _ in range(200):
        middle = (low + high) / 2
        if rises(middle) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


# Intervals of one probability -----------------------------------------------------------------


def normal_quantile(level: float) -> float:
    """The z with probability ``level`` between -z and z."""
    return crossing(lambda z: (1 - level) - math.erfc(z / math.sqrt(2)), 0.0, 40.0)


def wilson(k: int, n: int, level: float) -> tuple[float, float]:
    """All p whose score test does not reject: (k / n - p)^2 <= z^2 p (1 - p) / n."""
    z, share = normal_quantile(level), k / n

    def excess(p: float) -> float:
        return (share - p) ** 2 - z * z * p * (1 - p) / n

    lower = 0.0 if k == 0 else crossing(lambda p: -excess(p), 0.0, share)
    return lower, 1.0 if k == n else crossing(excess, share, 1.0)


def at_least(k: int, n: int, p: float) -> float:
    return math.fsum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


def clopper_pearson(k: int, n: int, level: float) -> tuple[float, float]:
    """All p under which neither this few hits nor this many are rarer than (1 - level) / 2."""
    tail = (1 - level) / 2
    lower = 0.0 if k == 0 else crossing(lambda p: at_least(k, n, p) - tail, 0.0, 1.0)
    # At most k hits is at least n - k misses.
    upper = 1.0 if k == n else crossing(lambda p: tail - at_least(n - k, n, 1 - p), 0.0, 1.0)
    return lower, upper


# The isotonic curve ---------------------------------------------------------------------------


class Steps(NamedTuple):
    scores: list[float]
    frequency: list[float]
    first: list[float]
    last: list[float]
    heights: list[float]
    counts: list[int]
    hits: list[int]


def isotonic(scores: Numbers, hits: Sequence[int]) -> Steps:
    distinct = sorted({float(score) for score in scores})
    own = [[hit for s, hit in zip(scores, hits, strict=True) if s == d] for d in distinct]
    n, best = len(distinct), reference_measures.isotonic(scores, hits)
    curve = [best[score] for score in distinct]
    heights = sorted(set(curve))
    on_step = [[i for i in range(n) if curve[i] == height] for height in heights]
    return Steps(
        distinct,
        [float(value) for value in curve],
        [distinct[step[0]] for step in on_step],
        [distinct[step[-1]] for step in on_step],
        [float(height) for height in heights],
        [sum(len(own[i]) for i in step) for step in on_step],
        [sum(sum(own[i]) for i in step) for step in on_step],
    )


# The smoothed curve ---------------------------------------------------------------------------


def reflected(t: float, s: float, sigma: float) -> float:
    """Weight at t of a row at s, with its images beyond 0 and 1; the density of a Gaussian."""
    images = [sign * s + 2 * k for k in range(-6, 7) for sign in (1, -1)]
    powers = [math.exp(-((t - image) ** 2) / (2 * sigma**2)) for image in images]
    return math.fsum(powers) / (sigma * math.sqrt(2 * math.pi))


class SmoothPoint(NamedTuple):
    frequency: float
    mean_score: float
    density: float
    rows: float


def smooth(scores: Numbers, hits: Sequence[int], t: float, sigma: float) -> SmoothPoint:
    weights = [reflected(t, s, sigma) for s in scores]
    total = math.fsum(weights)
    return SmoothPoint(
        math.fsum(w * hit for w, hit in zip(weights, hits, strict=True)) / total,
        math.fsum(w * s for w, s in zip(weights, scores, strict=True)) / total,
        total / len(scores),
        total**2 / math.fsum(w * w for w in weights),
    )


def smooth_ece(scores: Numbers, hits: Sequence[int], sigma: float, n_steps: int = 400) -> float:
    """Mean over the middles of n_steps intervals of |smoothed hit - score| / N."""
    total = 0.0
    for j in range(n_steps):
        t = (j + 0.5) / n_steps
        gap = math.fsum(
            reflected(t, s, sigma) * (hit - s) for s, hit in zip(scores, hits, strict=True)
        )
        total += abs(gap)
    return total / n_steps / len(scores)


# The null band --------------------------------------------------------------------------------


def gap_deviations(scores: Numbers) -> list[float]:
    """Deviation of the gap at the end of each distinct score, if each score is true."""
    return [
        math.sqrt(math.fsum(s * (1 - s) for s in scores if s <= at)) / len(scores)
        for at in sorted({float(score) for score in scores})
    ]


# Quantiles ------------------------------------------------------------------------------------


def quantile(values: Numbers, share: float) -> float:
    """The (n + 1) share-th lowest of those that are known, between two of them on a line."""
    known = sorted(value for value in values if not math.isnan(value))
    if not known:
        return math.nan
    place = min(max((len(known) + 1) * share, 1.0), float(len(known)))
    below = math.floor(place)
    above = min(below + 1, len(known))
    return known[below - 1] + (place - below) * (known[above - 1] - known[below - 1])
