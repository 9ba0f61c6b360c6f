"""Every measure of rows with sampling weights, by slow loops from its formula.

Plain Python over lists; nothing of calibcore or numpy. Weights enter as shares of their sum, so
that their scale cannot matter.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from tests import reference_kernel, reference_measures, reference_pairs
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


def gaps(rows: Rows) -> list[float]:
    """The gap of cumulative scores and outcomes after each distinct score."""
    found = []
    for end in sorted(set(rows.scores)):
        below = [
            w * (s - h)
            for w, s, h in zip(share(rows), rows.scores, rows.hits, strict=True)
            if s <= end
        ]
        found.append(math.fsum(below))
    return found


def ks(rows: Rows) -> float:
    return max(abs(gap) for gap in gaps(rows))


def kuiper(rows: Rows) -> float:
    return max(0.0, *gaps(rows)) - min(0.0, *gaps(rows))


class Bin(NamedTuple):
    share: float
    score: float
    rate: float
    n_effective: float


def edges(rows: Rows, n_bins: int, binning: str) -> list[float]:
    if binning == "equal_width":
        return [k / n_bins for k in range(n_bins + 1)]
    found = [0.0]
    n = sum(w > 0 for w in rows.weights)
    for k in range(1, n_bins):
        if k * n < n_bins:
            found.append(0.0)
            continue
        for score in sorted(set(rows.scores)):
            below = math.fsum(
                w for w, s in zip(share(rows), rows.scores, strict=True) if s <= score
            )
            if below * n >= k * n // n_bins - 1e-9:
                found.append(score)
                break
    return [*found, 1.0]


def bins(rows: Rows, n_bins: int, binning: str) -> list[Bin]:
    ends, found = edges(rows, n_bins, binning), []
    for b in range(n_bins):
        inside = [
            (w, s, h)
            for w, s, h in zip(share(rows), rows.scores, rows.hits, strict=True)
            if (ends[b] < s or (b == 0 and s == 0)) and s <= ends[b + 1]
        ]
        if inside:
            total = math.fsum(w for w, _, _ in inside)
            found.append(
                Bin(
                    total,
                    math.fsum(w * s for w, s, _ in inside) / total,
                    math.fsum(w * h for w, _, h in inside) / total,
                    total**2 / math.fsum(w * w for w, _, _ in inside),
                )
            )
    return found


def ece(rows: Rows, n_bins: int, binning: str = "equal_width", norm: int = 1) -> float:
    parts = [b.share * abs(b.score - b.rate) ** norm for b in bins(rows, n_bins, binning)]
    return math.pow(math.fsum(parts), 1 / norm)


def mce(rows: Rows, n_bins: int, binning: str) -> float:
    return max(abs(b.score - b.rate) for b in bins(rows, n_bins, binning))


def debiased_ece(rows: Rows, n_bins: int) -> float:
    parts = [
        b.share * ((b.score - b.rate) ** 2 - b.rate * (1 - b.rate) / (b.n_effective - 1))
        for b in bins(rows, n_bins, "equal_mass")
        if b.n_effective > 1 + 1e-9
    ]
    return math.sqrt(max(0.0, math.fsum(parts)))


def sweep_ece(rows: Rows) -> float:
    n_bins = 1
    while n_bins < min(500, len(rows.scores)):
        rates = [b.rate for b in bins(rows, n_bins + 1, "equal_mass")]
        if any(later < sooner for sooner, later in pairwise(rates)):
            break
        n_bins += 1
    return ece(rows, n_bins, "equal_mass")


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


def smooth_ece(rows: Rows, n_points: int = 1000) -> float:
    """The sigma at which the blurred gap is sigma, by bisection."""

    def blurred(sigma: float) -> float:
        total = []
        for j in range(n_points):
            x = (j + 0.5) / n_points
            here = math.fsum(
                w * (h - s) * math.exp(-((x - z) ** 2) / (2 * sigma**2))
                for w, s, h in zip(share(rows), rows.scores, rows.hits, strict=True)
                for k in (-1, 0, 1)
                for z in (2 * k + s, 2 * k - s)
            )
            total.append(abs(here) / (sigma * math.sqrt(2 * math.pi)))
        return math.fsum(total) / n_points

    low, high = 0.001, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if blurred(middle) > middle else (low, middle)
    return low


def pair_sum(rows: Rows, width: float, *, own: bool) -> tuple[float, float]:
    total, of_weights = [], []
    table = list(zip(share(rows), rows.scores, rows.hits, strict=True))
    for i, (w, s, h) in enumerate(table):
        for j, (v, t, g) in enumerate(table):
            if own or i != j:
                total.append(w * v * (h - s) * (g - t) * math.exp(-abs(s - t) / width))
                of_weights.append(w * v)
    return math.fsum(total), math.fsum(of_weights)


def mmce(rows: Rows) -> float:
    return math.sqrt(pair_sum(rows, 0.4, own=True)[0])


def event_skce(rows: Rows) -> float:
    total, weights = pair_sum(rows, 0.4, own=False)
    return 2 * total / weights


def isotonic(rows: Rows) -> dict[float, float]:
    """Pool adjacent violators over distinct scores."""
    pools: list[list[float]] = []  # weight, weight of hits, how many scores
    for score in sorted(set(rows.scores)):
        same = [
            (w, h)
            for w, s, h in zip(share(rows), rows.scores, rows.hits, strict=True)
            if s == score
        ]
        pools.append([math.fsum(w for w, _ in same), math.fsum(w * h for w, h in same), 1])
        while len(pools) > 1 and pools[-2][1] / pools[-2][0] >= pools[-1][1] / pools[-1][0]:
            last = pools.pop()
            pools[-1] = [a + b for a, b in zip(pools[-1], last, strict=True)]
    values = [hits / weight for weight, hits, n in pools for _ in range(int(n))]
    return dict(zip(sorted(set(rows.scores)), values, strict=True))


def corp(rows: Rows) -> tuple[float, float, float]:
    def brier(values: Numbers) -> float:
        return mean(rows, [(v - h) ** 2 for v, h in zip(values, rows.hits, strict=True)])

    curve, rate = isotonic(rows), mean(rows, rows.hits)
    best, flat = brier([curve[s] for s in rows.scores]), brier([rate] * len(rows.scores))
    return brier(rows.scores) - best, flat - best, flat


def entropy(rate: float) -> float:
    return -sum(p * math.log(p) for p in (rate, 1 - rate) if p > 0)


def nll(rows: Rows) -> float:
    return mean(
        rows, [-math.log(s if h else 1 - s) for s, h in zip(rows.scores, rows.hits, strict=True)]
    )


def corp_nll(rows: Rows) -> tuple[float, float, float]:
    """Log loss of the scores, of the isotonic curve, and of the base rate: their differences."""
    curve, rate = isotonic(rows), mean(rows, rows.hits)
    best = mean(rows, [entropy(curve[s]) for s in rows.scores])
    return nll(rows) - best, entropy(rate) - best, entropy(rate)


def averaged_two_bin(rows: Rows) -> float:
    """Integrate the squared gaps below and from a cut on, from one score to the next."""
    parts = list(zip(rows.scores, rows.hits, share(rows), strict=True))
    cuts = [0.0, *sorted(set(rows.scores)), 1.0]
    total = 0.0
    for low, high in itertools.pairwise(cuts):
        below = math.fsum(w * (s - h) for s, h, w in parts if s < high)
        above = math.fsum(w * (s - h) for s, h, w in parts if s >= high)
        total += (high - low) * (below**2 + above**2)
    return total


def intercept_for(rows: Rows, slope: float) -> float:
    odds, low, high = reference_measures.log_odds(rows.scores), -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        expected = [reference_measures.sigmoid(middle + slope * x) for x in odds]
        low, high = (
            (middle, high) if mean(rows, expected) < mean(rows, rows.hits) else (low, middle)
        )
    return (low + high) / 2


def slope(rows: Rows) -> float:
    odds, low, high = reference_measures.log_odds(rows.scores), -5.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        a = intercept_for(rows, middle)
        left = [
            (h - reference_measures.sigmoid(a + middle * x)) * x
            for x, h in zip(odds, rows.hits, strict=True)
        ]
        low, high = (middle, high) if mean(rows, left) > 0 else (low, middle)
    return (low + high) / 2


def auroc(rows: Rows) -> float:
    won, pairs = [], []
    table = list(zip(share(rows), rows.scores, rows.hits, strict=True))
    for w, s, h in table:
        for v, t, g in table:
            if h and not g:
                pairs.append(w * v)
                won.append(w * v * ((s > t) + (s == t) / 2))
    return math.fsum(won) / math.fsum(pairs)


OF_EVENTS: dict[str, Callable[[Rows], float]] = {
    "ks_error": ks,
    "kuiper": kuiper,
    "ece": lambda r: ece(r, 15),
    "ece_equal_mass": lambda r: ece(r, 15, "equal_mass"),
    "ece_l2": lambda r: ece(r, 15, "equal_mass", 2),
    "debiased_ece": lambda r: debiased_ece(r, 15),
    "sweep_ece": sweep_ece,
    "mce": lambda r: mce(r, 15, "equal_width"),
    "mce_equal_mass": lambda r: mce(r, 15, "equal_mass"),
    "kde_ece": lambda r: kde_ece(r, 1),
    "kde_ece_l2": lambda r: kde_ece(r, 2),
    "smooth_ece": smooth_ece,
    "mmce": mmce,
    "event_skce": event_skce,
    "event_brier": lambda r: mean(r, [(s - h) ** 2 for s, h in zip(r.scores, r.hits, strict=True)]),
    "averaged_two_bin": averaged_two_bin,
    "brier_skill": lambda r: (corp(r)[1] - corp(r)[0]) / corp(r)[2],
    "nll_skill": lambda r: 1 - nll(r) / entropy(mean(r, r.hits)),
    "nll_miscalibration": lambda r: corp_nll(r)[0],
    "nll_discrimination": lambda r: corp_nll(r)[1],
    "nll_uncertainty": lambda r: corp_nll(r)[2],
    "miscalibration": lambda r: corp(r)[0],
    "discrimination": lambda r: corp(r)[1],
    "uncertainty": lambda r: corp(r)[2],
    "event_nll": lambda r: mean(
        r, [-math.log(s if h else 1 - s) for s, h in zip(r.scores, r.hits, strict=True)]
    ),
    "mean_score": lambda r: mean(r, r.scores),
    "hit_rate": lambda r: mean(r, r.hits),
    "mean_gap": lambda r: mean(r, r.scores) - mean(r, r.hits),
    "observed_expected_ratio": lambda r: mean(r, r.hits) / mean(r, r.scores),
    "calibration_intercept": lambda r: intercept_for(r, 1.0),
    "calibration_slope": slope,
    "auroc": auroc,
}
"""By the key of the measure; those that are numbers of rows have no such form."""


class Tables(NamedTuple):
    """Rows of all classes, before and after calibration."""

    before: Table
    after: Table
    labels: Sequence[int]
    weights: Numbers


def of_class(tables: Tables, k: int) -> Rows:
    return Rows(
        [row[k] for row in tables.after], [int(y == k) for y in tables.labels], tables.weights
    )


def top_label_ece(tables: Tables) -> float:
    """The ECE in 15 bins of the rows of each predicted class, by their share of the weight."""
    total = 0.0
    whole = math.fsum(tables.weights)
    first = [max(range(len(row)), key=row.__getitem__) for row in tables.after]
    for k in set(first):
        mine = [i for i, one in enumerate(first) if one == k]
        rows = Rows(
            [tables.after[i][k] for i in mine],
            [int(tables.labels[i] == k) for i in mine],
            [tables.weights[i] for i in mine],
        )
        total += ece(rows, 15) * math.fsum(rows.weights) / whole
    return total


def each_class(tables: Tables, measure: Callable[[Rows], float]) -> list[float]:
    return [measure(of_class(tables, k)) for k in range(len(tables.after[0]))]


def row_mean(tables: Tables, values: Numbers) -> float:
    return mean(Rows(values, tables.labels, tables.weights), values)


def top(tables: Tables, r: int) -> float:
    found = []
    for row, y in zip(tables.after, tables.labels, strict=True):
        ranking = sorted(range(len(row)), key=lambda k: (-row[k], k))
        found.append(float(y in ranking[:r]))
    return row_mean(tables, found)


def brier(tables: Tables, table: Table) -> float:
    return row_mean(
        tables,
        [
            math.fsum((p - (k == y)) ** 2 for k, p in enumerate(row))
            for row, y in zip(table, tables.labels, strict=True)
        ],
    )


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
    "classwise_ks": lambda t: average(each_class(t, ks)),
    "max_classwise_ks": lambda t: max(each_class(t, ks)),
    "classwise_ece": lambda t: average(each_class(t, lambda r: ece(r, 15))),
    "max_classwise_ece": lambda t: max(each_class(t, lambda r: ece(r, 15))),
    "classwise_ece_equal_mass": lambda t: average(
        each_class(t, lambda r: ece(r, 15, "equal_mass"))
    ),
    "kde_classwise_ece": lambda t: average(each_class(t, lambda r: kde_ece(r, 1))),
    "skce": skce,
    "top_label_ece": top_label_ece,
    "brier": lambda t: brier(t, t.after),
    "calibration_gain": lambda t: brier(t, t.before) - brier(t, t.after),
    "nll": lambda t: row_mean(
        t, [-math.log(row[y]) for row, y in zip(t.after, t.labels, strict=True)]
    ),
    "accuracy": lambda t: top(t, 1),
    "top_2_accuracy": lambda t: top(t, 2),
    "top_5_accuracy": lambda t: top(t, 5),
}
"""By the key of the measure."""
