"""Measures of rows with sampling weights that are not those of repeated rows, by slow loops.

Plain Python over lists; nothing of calibcore or numpy. Weights enter as shares of their sum, so
that their scale cannot matter.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from tests import reference_kernel, reference_pairs
from tests.reference import Numbers, Table

Hits = Sequence[int]


class Rows(NamedTuple):
    """Rows of an event."""

    scores: Numbers
    hits: Hits
    weights: Numbers


def share(rows: Rows) -> list[float]:
    total = math.fsum(rows.weights)
    return [w / total for w in rows.weights]


def mean(rows: Rows, values: Numbers) -> float:
    return math.fsum(w * v for w, v in zip(share(rows), values, strict=True))


class Bin(NamedTuple):
    share: float
    score: float
    rate: float
    n_effective: float


def edges(rows: Rows, n_bins: int) -> list[float]:
    results = [0.0]
    n = sum(w > 0 for w in rows.weights)
    for k in range(1, n_bins):
        if k * n < n_bins:
            results.append(0.0)
            continue
        for score in sorted(set(rows.scores)):
            below = math.fsum(
                w for w, s in zip(share(rows), rows.scores, strict=True) if s <= score
            )
            if below * n >= k * n // n_bins - 1e-9:
                results.append(score)
                break
    return [*results, 1.0]


def bins(rows: Rows, n_bins: int) -> list[Bin]:
    """Bins of equal mass."""
    ends, results = edges(rows, n_bins), []
    for b in range(n_bins):
        inside = [
            (w, s, h)
            for w, s, h in zip(share(rows), rows.scores, rows.hits, strict=True)
            if (ends[b] < s or (b == 0 and s == 0)) and s <= ends[b + 1]
        ]
        if inside:
            total = math.fsum(w for w, _, _ in inside)
            results.append(
                Bin(
                    total,
                    math.fsum(w * s for w, s, _ in inside) / total,
                    math.fsum(w * h for w, _, h in inside) / total,
                    total**2 / math.fsum(w * w for w, _, _ in inside),
                )
            )
    return results


def ece(rows: Rows, n_bins: int, norm: int = 1) -> float:
    parts = [b.share * abs(b.score - b.rate) ** norm for b in bins(rows, n_bins)]
    return math.pow(math.fsum(parts), 1 / norm)


def debiased_ece(rows: Rows, n_bins: int) -> float:
    parts = [
        b.share * ((b.score - b.rate) ** 2 - b.rate * (1 - b.rate) / (b.n_effective - 1))
        for b in bins(rows, n_bins)
        if b.n_effective > 1 + 1e-9
    ]
    return math.sqrt(max(0.0, math.fsum(parts)))


def sweep_ece(rows: Rows) -> float:
    n_bins = 1
    while n_bins < min(500, len(rows.scores)):
        rates = [b.rate for b in bins(rows, n_bins + 1)]
        if any(later < sooner for sooner, later in pairwise(rates)):
            break
        n_bins += 1
    return ece(rows, n_bins)


def bbq(rows: Rows, asked: float) -> float:
    """Bayesian binning into quantiles, with sums of weights of mean 1 as rows and hits."""
    total = math.fsum(rows.weights) / len(rows.weights)
    each = [w / total for w in rows.weights]
    evidence, values = [], []
    for n_bins in range(1, math.ceil(len(each) / 5) + 1):
        ends, log_likelihood, value = edges(rows, n_bins), [], math.nan
        for b in range(n_bins):
            inside = [
                (w, h)
                for w, s, h in zip(each, rows.scores, rows.hits, strict=True)
                if (ends[b] < s or (b == 0 and s == 0)) and s <= ends[b + 1]
            ]
            n, hits = math.fsum(w for w, _ in inside), math.fsum(w * h for w, h in inside)
            middle = min(max((ends[b] + ends[b + 1]) / 2, 0.005), 0.995)
            log_likelihood += [
                -math.lgamma(n + 2),
                math.lgamma(hits + 2 * middle) - math.lgamma(2 * middle),
                math.lgamma(n - hits + 2 - 2 * middle) - math.lgamma(2 - 2 * middle),
            ]
            if (ends[b] < asked or (b == 0 and asked == 0)) and asked <= ends[b + 1]:
                value = (hits + 2 * middle) / (n + 2)
        evidence.append(math.fsum(log_likelihood))
        values.append(value)
    likelihood = [math.exp(one - max(evidence)) for one in evidence]
    return math.fsum(p * v for p, v in zip(likelihood, values, strict=True)) / math.fsum(likelihood)


def half_width(rows: Rows) -> float:
    of_hits = [(w, s) for w, s, h in zip(rows.weights, rows.scores, rows.hits, strict=True) if h]
    total = math.fsum(w for w, _ in of_hits)
    middle = math.fsum(w * s for w, s in of_hits) / total
    spread = math.sqrt(math.fsum(w * (s - middle) ** 2 for w, s in of_hits) / total)
    effective = 1 / math.fsum(w * w for w in share(rows))
    return min(1.0, 3 * spread / math.pow(2 * effective, 0.2))


def kde_ece(rows: Rows, norm: int, n_points: int = 2000) -> float:
    width, parts = half_width(rows), []
    for j in range(n_points):
        x = (j + 0.5) / n_points
        values = [
            w * reference_kernel.reflected(x, s, width)
            for w, s in zip(share(rows), rows.scores, strict=True)
        ]
        of_hits = math.fsum(v for v, h in zip(values, rows.hits, strict=True) if h)
        parts.append((x, math.fsum(values), of_hits))
    return math.pow(reference_kernel.average_gap(parts, norm), 1 / norm)


def event_skce(rows: Rows) -> float:
    total, of_weights = [], []
    table = list(zip(share(rows), rows.scores, rows.hits, strict=True))
    for i, (w, s, h) in enumerate(table):
        for j, (v, t, g) in enumerate(table):
            if i != j:
                total.append(w * v * (h - s) * (g - t) * math.exp(-abs(s - t) / 0.4))
                of_weights.append(w * v)
    return 2 * math.fsum(total) / math.fsum(of_weights)


OF_EVENTS: dict[str, Callable[[Rows], float]] = {
    "ece_equal_mass": lambda r: ece(r, 15),
    "ece_l2": lambda r: ece(r, 15, 2),
    "debiased_ece": lambda r: debiased_ece(r, 15),
    "sweep_ece": sweep_ece,
    "mce_equal_mass": lambda r: max(abs(b.score - b.rate) for b in bins(r, 15)),
    "kde_ece": lambda r: kde_ece(r, 1),
    "kde_ece_l2": lambda r: kde_ece(r, 2),
    "event_skce": event_skce,
}
"""By the key of the measure; all others are those of whole weights' repeated rows."""


class Tables(NamedTuple):
    """Rows of all classes."""

    after: Table
    labels: Sequence[int]
    weights: Numbers


def of_class(tables: Tables, k: int) -> Rows:
    return Rows(
        [row[k] for row in tables.after], [int(y == k) for y in tables.labels], tables.weights
    )


def each_class(tables: Tables, measure: Callable[[Rows], float]) -> list[float]:
    return [measure(of_class(tables, k)) for k in range(len(tables.after[0]))]


def skce(tables: Tables) -> float:
    width = reference_pairs.median_distance(tables.after)
    rows = list(zip(tables.weights, tables.after, tables.labels, strict=True))
    total, weights = [], []
    for i, (w, p, y) in enumerate(rows):
        for j, (v, q, z) in enumerate(rows):
            if i == j:
                continue
            distance = math.fsum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
            product = math.fsum(
                ((k == y) - a) * ((k == z) - b) for k, (a, b) in enumerate(zip(p, q, strict=True))
            )
            total.append(w * v * product * math.exp(-distance / width))
            weights.append(w * v)
    return math.fsum(total) / math.fsum(weights)


def average(values: Numbers) -> float:
    return math.fsum(values) / len(values)


OF_CLASSES: dict[str, Callable[[Tables], float]] = {
    "classwise_ece_equal_mass": lambda t: average(each_class(t, lambda r: ece(r, 15))),
    "kde_classwise_ece": lambda t: average(each_class(t, lambda r: kde_ece(r, 1))),
    "skce": skce,
}
"""By the key of the measure."""


def misses_over_hits(rows: Rows) -> float:
    """How many times as large weights of misses are as those of hits, range of scores by range."""
    n = len(rows.scores)
    ordered = sorted(zip(rows.scores, rows.hits, share(rows), strict=True))
    ranges: list[list[tuple[float, int, float]]] = [[] for _ in range(10)]
    so_far = 0.0
    for score in sorted({score for score, _, _ in ordered}):
        block = [row for row in ordered if row[0] == score]
        own = math.fsum(w for _, _, w in block)
        ranges[int((so_far + own / 2) * 10)] += block
        so_far += own
    above = below = 0.0
    for one in ranges:
        misses, hits = ([w * n for _, h, w in one if h == kind] for kind in (0, 1))
        total = math.fsum([*misses, *hits])
        if total > 0:
            above += math.fsum(w * w for w in misses) * math.fsum(hits) / total
            below += math.fsum(w * w for w in hits) * math.fsum(misses) / total
    return above / below


def tilt(frequency: float, times: float) -> float:
    """Variance of weighted gaps over that of weights which tell nothing of outcomes."""
    seen = frequency * (1 - frequency) ** 2 + (1 - frequency) * frequency**2 * times
    if_even = frequency * (1 - frequency) * (frequency + (1 - frequency) * times)
    return seen / if_even
