"""Worlds by numerical integrals: what infinitely many rows show, from the parameters alone."""

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, root
from scipy.stats import norm

from calibcore.synthetic import HandCurve, LogOddsCurve, World
from calibcore.validation import Floats

FAR = 9.0
"""Standard deviations beyond which a normal distribution holds 1e-19 of all rows."""


def logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds > 0 else math.exp(odds) / (1 + math.exp(odds))


def odds_of(score: float) -> float:
    return math.log(score / (1 - score))


def frequency_at(curve: LogOddsCurve | HandCurve, score: float) -> float:
    if isinstance(curve, LogOddsCurve):
        odds = odds_of(score)
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
    odds = odds_of(p)
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

    def ks(self) -> float:
        """Largest gap of the running totals, which is where the scores cross the truth."""
        return max(abs(self.gap(high=place)) for place in [*self.places(), math.inf])

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

    def intercept(self) -> float:
        """What to add to all log-odds for the mean score to be the frequency."""

        def off(shift: float) -> float:
            return self.mean(lambda s, p: logistic(shift + odds_of(s)) - p)

        return float(brentq(off, -20, 20))

    def slope(self) -> float:
        """Of the logistic regression of the event on the log-odds, with an intercept of its own."""

        def off(line: Floats, /) -> list[float]:
            def miss(s: float, p: float) -> float:
                return logistic(line[0] + line[1] * odds_of(s)) - p

            return [self.mean(miss), self.mean(lambda s, p: miss(s, p) * odds_of(s))]

        return float(root(off, [0.0, 1.0]).x[1])

    def slices(self, n: int) -> list[tuple[float, float, float]]:
        """Score, frequency and share of rows of n slices of each normal, lowest score first."""
        width, slices = 2 * FAR / n, []
        for centre in self.centres:
            for k in range(n):
                z = -FAR + width * (k + 0.5)
                score = self.score(centre + self.spread * z)
                share = norm_density(z) * width / len(self.centres)
                slices.append((score, pooled_at(self.world, score), share))
        return sorted(slices)

    def auroc(self) -> float:
        """Share of pairs of an event and another row in which the event has the higher score."""
        events = others = in_order = 0.0
        for _, p, share in self.slices(10_000):
            in_order += p * share * (others + (1 - p) * share / 2)
            events += p * share
            others += (1 - p) * share
        return in_order / (events * others)

    def blurred(self, sigma: float) -> float:
        """Add up the sizes of the gap, blurred by a Gaussian that turns back once at 0 and at 1."""
        score, p, share = np.array(self.slices(1_000)).T
        images, steps = (score, -score, 2 - score), 500
        total = 0.0
        for k in range(steps):
            x = (k + 0.5) / steps
            reached = sum(np.exp(-(((x - one) / sigma) ** 2) / 2) for one in images)
            total += abs(float(((p - score) * share) @ reached))
        return total / steps / sigma / math.sqrt(2 * math.pi)

    def smooth_ece(self) -> float:
        """The width of the blur that is as large as what it leaves, from 0.005 on."""
        return float(brentq(lambda sigma: self.blurred(sigma) - sigma, 0.005, 0.5, xtol=1e-7))


def norm_density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
