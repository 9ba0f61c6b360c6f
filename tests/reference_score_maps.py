"""Slow, obvious readings of the score maps' definitions, which calibcore is compared with.

Plain Python over lists, written from the papers and the stated conventions; nothing here imports
calibcore or numpy. Counts and averages of hits are fractions, so they are exact.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from tests.reference import Numbers

Hits = Sequence[int]


# Logistic curves ------------------------------------------------------------------------------


def held_inside(score: float) -> float:
    """A score at least 2^-52 from 0 and from 1."""
    return min(max(score, 2.0**-52), 1 - 2.0**-52)


def log_odds(score: float) -> float:
    inside = held_inside(score)
    return math.log(inside) - math.log1p(-inside)


def beta_columns(score: float) -> tuple[float, float]:
    inside = held_inside(score)
    return math.log(inside), -math.log1p(-inside)


def smoothed_targets(hits: Hits) -> list[float]:
    n_hits = sum(hits)
    n_misses = len(hits) - n_hits
    return [(n_hits + 1) / (n_hits + 2) if hit else 1 / (n_misses + 2) for hit in hits]


def chance(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds > -700 else math.exp(odds)


def nll(odds: Numbers, targets: Numbers) -> float:
    """Mean of -t log(p) - (1 - t) log(1 - p) where p has these log-odds."""
    terms = [
        max(z, 0.0) + math.log1p(math.exp(-abs(z))) - t * z
        for z, t in zip(odds, targets, strict=True)
    ]
    return math.fsum(terms) / len(terms)


def slopes(odds: Numbers, targets: Numbers, columns: Sequence[Numbers]) -> list[float]:
    """Derivatives of the mean NLL in the weights of the columns, each divided by its size."""
    results = []
    for column in columns:
        size = max(abs(x) for x in column) or 1.0
        terms = [(chance(z) - t) * x for z, t, x in zip(odds, targets, column, strict=True)]
        results.append(math.fsum(terms) / size / len(terms))
    return results


def curve_case(scores: Numbers, hits: Hits) -> str:
    """Whether a rising or falling curve in the log-odds has a finite best fit, or why not."""
    if len(set(hits)) == 1:
        return "one class"
    odds = [log_odds(score) for score in scores]
    if max(odds) - min(odds) <= 1e-6 * max(1.0, *(abs(z) for z in odds)):
        return "constant"
    of_hits = [z for z, hit in zip(odds, hits, strict=True) if hit]
    of_misses = [z for z, hit in zip(odds, hits, strict=True) if not hit]
    if max(of_misses) <= min(of_hits):
        return "separable"
    if max(of_hits) <= min(of_misses):
        return "reversed"
    return "interior"


# Histograms -------------------------------------------------------------------------------------


class Bin(NamedTuple):
    lower: float
    upper: float
    rows: int
    hits: int


def bins(scores: Numbers, hits: Hits, edges: Numbers) -> list[Bin]:
    """Bins (lower, upper], the first one closed below."""
    results = []
    for b in range(len(edges) - 1):
        lower, upper = edges[b], edges[b + 1]
        inside = [
            hit
            for score, hit in zip(scores, hits, strict=True)
            if lower < score <= upper or (b == 0 and score == lower)
        ]
        # Of bins without width only the first one that a score is in has it
        taken = b > 0 and lower == edges[0] == 0 and upper == 0
        results.append(Bin(lower, upper, 0 if taken else len(inside), 0 if taken else sum(inside)))
    return results


def edges(scores: Numbers, n_bins: int, binning: str) -> list[float]:
    if binning == "equal_width":
        return [k / n_bins for k in range(n_bins + 1)]
    ordered = sorted(scores)
    inner = []
    for k in range(1, n_bins):
        place = math.floor(Fraction(k * len(scores), n_bins))
        inner.append(ordered[place - 1] if place > 0 else 0.0)
    return [0.0, *inner, 1.0]


def bin_of(score: float, table: Sequence[Bin]) -> Bin:
    for one in table:
        if score <= one.upper:
            return one
    raise AssertionError


def histogram(scores: Numbers, hits: Hits, n_bins: int, binning: str, asked: float) -> float:
    own = bin_of(asked, bins(scores, hits, edges(scores, n_bins, binning)))
    return float(Fraction(own.hits, own.rows)) if own.rows else asked


# Bayesian binning into quantiles ----------------------------------------------------------------


def bin_counts(n_rows: int) -> range:
    """floor(N^(1/3) / 10) to ceil(10 N^(1/3)), at least 1 and at most ceil(N / 5)."""
    least = max(k for k in range(n_rows + 2) if (10 * k) ** 3 <= n_rows)
    most = min(k for k in range(1, 10 * n_rows + 1) if k**3 >= 1000 * n_rows)
    return range(max(1, least), min(most, math.ceil(n_rows / 5)) + 1)


def prior_mean(one: Bin) -> float:
    return min(max((one.lower + one.upper) / 2, 0.005), 0.995)


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def log_evidence(one: Bin) -> float:
    """Marginal likelihood of a bin: B(hits + a, misses + b) / B(a, b), with a + b = 2."""
    a = 2 * prior_mean(one)
    b = 2 * (1 - prior_mean(one))
    return log_beta(one.hits + a, one.rows - one.hits + b) - log_beta(a, b)


class Average(NamedTuple):
    tables: list[list[Bin]]
    weights: list[float]


def bbq(scores: Numbers, hits: Hits) -> Average:
    tables = [
        bins(scores, hits, edges(scores, n_bins, "equal_mass"))
        for n_bins in bin_counts(len(scores))
    ]
    evidence = [math.fsum(log_evidence(one) for one in table) for table in tables]
    likelihood = [math.exp(e - max(evidence)) for e in evidence]
    return Average(tables, [one / math.fsum(likelihood) for one in likelihood])


def read_bbq(average: Average, asked: float) -> float:
    terms = []
    for table, weight in zip(average.tables, average.weights, strict=True):
        own = bin_of(asked, table)
        terms.append(weight * (own.hits + 2 * prior_mean(own)) / (own.rows + 2))
    return math.fsum(terms)


# Isotonic regression ----------------------------------------------------------------------------


class Step(NamedTuple):
    score: float
    rows: int
    hits: int


def blocks(scores: Numbers, hits: Hits) -> list[Step]:
    """Rows of equal score together, ascending."""
    results = []
    for score in sorted(set(scores)):
        own = [hit for other, hit in zip(scores, hits, strict=True) if other == score]
        results.append(Step(score, len(own), sum(own)))
    return results


def pool_adjacent(steps: Sequence[Step]) -> list[Fraction]:
    """Pool neighbours that fall until none does; give the height of each step."""
    pools: list[list[Step]] = []
    for step in steps:
        pools.append([step])
        while len(pools) > 1 and mean(pools[-2]) >= mean(pools[-1]):
            last = pools.pop()
            pools[-1] = [*pools[-1], *last]
    return [mean(pool) for pool in pools for _ in pool]


def mean(pool: Sequence[Step]) -> Fraction:
    return Fraction(sum(step.hits for step in pool), sum(step.rows for step in pool))


def isotonic(scores: Numbers, hits: Hits) -> list[tuple[float, Fraction]]:
    steps = blocks(scores, hits)
    heights = pool_adjacent(steps)
    return [(step.score, height) for step, height in zip(steps, heights, strict=True)]


def centred(scores: Numbers, hits: Hits) -> list[tuple[float, Fraction]]:
    """Oron and Flournoy 2017: each step at the mean of its rows' scores; 0 and 1 stay whole."""
    steps: dict[Fraction, list[float]] = {}
    heights = dict(isotonic(scores, hits))
    for score in sorted(scores):
        steps.setdefault(heights[score], []).append(score)
    corners: list[tuple[float, Fraction]] = []
    for height, rows in steps.items():
        if height in (0, 1):
            corners += [(rows[0], height), (rows[-1], height)]
        else:
            corners.append((math.fsum(rows) / len(rows), height))
    return corners


def read_step(curve: Sequence[tuple[float, Fraction]], asked: float) -> float:
    """Height at the last score at or below the one asked, or the first."""
    height = curve[0][1]
    for score, here in curve:
        if score <= asked:
            height = here
    return float(height)


def read_line(curve: Sequence[tuple[float, Fraction]], asked: float) -> float:
    """Height on straight lines between neighbouring scores, constant outside."""
    if asked <= curve[0][0]:
        return float(curve[0][1])
    for (x0, y0), (x1, y1) in neighbours(curve):
        if x0 <= asked <= x1:
            share = (Fraction(asked) - Fraction(x0)) / (Fraction(x1) - Fraction(x0))
            return float(y0 + share * (y1 - y0))
    return float(curve[-1][1])


Knot = tuple[float, Fraction]


def neighbours(curve: Sequence[Knot]) -> Iterator[tuple[Knot, Knot]]:
    for k in range(len(curve) - 1):
        yield curve[k], curve[k + 1]


def venn_abers(scores: Numbers, hits: Hits, asked: float) -> tuple[Fraction, Fraction]:
    """The definition: fit isotonic regression twice, with the new row as a miss and as a hit."""
    results = []
    for outcome in (0, 1):
        curve = isotonic([*scores, asked], [*hits, outcome])
        results.append(next(height for score, height in curve if score == asked))
    return results[0], results[1]
