"""Worlds by numerical integrals: what infinitely many rows show, from the parameters alone."""

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from calibcore.synthetic import HandCurve, LogOddsCurve, World

FAR = 9.0
"""Standard deviations beyond which a normal distribution holds 1e-19 of all rows."""


def logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds > 0 else math.exp(odds) / (1 + math.exp(odds))


def frequency_at(curve: LogOddsCurve | HandCurve, score: float) -> float:
    if isinstance(curve, LogOddsCurve):
        odds = math.log(score / (1 - score))
        wave = curve.wave * math.sin(2 * math.pi * score)
        return logistic(curve.shift + curve.slope * odds + wave)
    steps = len(curve.handles) - 1
    cell = min(int(score * steps), steps - 1)
    share = score * steps - cell
    return curve.handles[cell] * (1 - share) + curve.handles[cell + 1] * share


def pooled_at(world: World, score: float) -> float:
    p = frequency_at(world.curve, score)
    if p in (0, 1):
        return p
    odds = math.log(p / (1 - p))
    return (logistic(odds - world.group_shift) + logistic(odds + world.group_shift)) / 2


class Slow:
    """Integrals over the normal z behind a score; of two normals, over each by itself."""

    def __init__(self, world: World) -> None:
        self.world, known = world, world.spread_of_scores
        self.centres = sorted({known.centre - known.apart, known.centre + known.apart})
        self.spread = known.spread

    def score(self, odds: float) -> float:
        least = 0.0 if self.world.n_classes == 2 else 1 / self.world.n_classes
        return least + (1 - least) * logistic(odds)

    def mean(
        self, of: Callable[[float, float], float], low: float = -math.inf, high: float = math.inf
    ) -> float:
        """Integrate of(score, frequency) over the scores whose log-odds are from low to high."""
        total = 0.0
        for centre in self.centres:

            def term(z: float, centre: float = centre) -> float:
                score = self.score(centre + self.spread * z)
                return norm_density(z) * of(score, pooled_at(self.world, score))

            ends = [
                max((low - centre) / self.spread, -FAR),
                min((high - centre) / self.spread, FAR),
            ]
            if ends[0] >= ends[1]:
                continue
            cuts = [*np.linspace(ends[0], ends[1], 13)]
            total += sum(quad(term, *pair, epsabs=1e-10)[0] for pair in itertools.pairwise(cuts))
        return total / len(self.centres)

    def gap(self, low: float = -math.inf, high: float = math.inf) -> float:
        return self.mean(lambda s, p: s - p, low, high)

    def places(self) -> list[float]:
        """Log-odds at which the scores cross the truth."""

        def off(odds: float) -> float:
            score = self.score(odds)
            return score - pooled_at(self.world, score)

        grid = np.linspace(-15.003, 15.004, 3001)  # no crossing of these worlds is on it
        values = [off(odds) for odds in grid]
        return [
            brentq(off, grid[k], grid[k + 1]) for k in range(3000) if values[k] * values[k + 1] < 0
        ]

    def binned(self, edges: list[float]) -> list[tuple[float, float]]:
        """Return the share of rows and the gap of each bin between log-odds."""
        return [
            (self.mean(lambda _s, _p: 1.0, *pair), self.gap(*pair))
            for pair in itertools.pairwise(edges)
        ]

    def equal_width(self, n_bins: int) -> list[tuple[float, float]]:
        least = 0.0 if self.world.n_classes == 2 else 1 / self.world.n_classes
        inner = [(k / n_bins - least) / (1 - least) for k in range(1, n_bins)]
        odds = [math.log(x / (1 - x)) for x in inner if 0 < x < 1]
        return self.binned([-math.inf, *odds, math.inf])

    def equal_mass(self, n_bins: int) -> list[tuple[float, float]]:
        (centre,) = self.centres
        inner = [centre + self.spread * norm.ppf(k / n_bins) for k in range(1, n_bins)]
        return self.binned([-math.inf, *inner, math.inf])


def norm_density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
