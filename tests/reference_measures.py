"""Slow, obvious loops for the measures beside those of `tests.reference`.

Plain Python over lists, from the papers and the stated conventions; nothing of calibcore or numpy.
"""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from tests import reference
from tests.reference import Numbers, Table

Hits = Sequence[int]


# Bins -----------------------------------------------------------------------------------------


def debiased_ece(scores: Numbers, hits: Hits, n_bins: int, binning: str) -> float:
    """Kumar 2019: squared gaps less the variance of the bin's frequency; single rows add 0."""
    result = reference.bins(scores, hits, n_bins, binning)
    parts = []
    for count, score, rate in zip(result.counts, result.mean_score, result.frequency, strict=True):
        if count > 1:
            parts.append(count * ((score - rate) ** 2 - rate * (1 - rate) / (count - 1)))
    return math.sqrt(max(0.0, math.fsum(parts) / len(scores)))


def frequencies_rise(scores: Numbers, hits: Hits, n_bins: int) -> bool:
    edges = reference.bin_edges(scores, n_bins, "equal_mass")
    last = Fraction(0)
    for b in range(n_bins):
        inside = [
            hit
            for score, hit in zip(scores, hits, strict=True)
            if (edges[b] < score or (b == 0 and edges[b] == score)) and score <= edges[b + 1]
        ]
        if inside:
            rate = Fraction(sum(inside), len(inside))
            if rate < last:
                return False
            last = rate
    return True


def monotone_bins(scores: Numbers, hits: Hits) -> int:
    """Roelofs 2022: the largest number of bins before the frequency first falls."""
    n_bins = 1
    while n_bins < min(500, len(scores)) and frequencies_rise(scores, hits, n_bins + 1):
        n_bins += 1
    return n_bins


def sweep_ece(scores: Numbers, hits: Hits, norm: int) -> float:
    return reference.ece(scores, hits, monotone_bins(scores, hits), "equal_mass", norm)


def classwise_errors(probabilities: Table, labels: Sequence[int], n_bins: int) -> list[float]:
    errors = []
    for k in range(len(probabilities[0])):
        scores = [min(row[k], 1.0) for row in probabilities]
        hits = [int(label == k) for label in labels]
        errors.append(reference.ece(scores, hits, n_bins, "equal_width"))
    return errors


# CORP -----------------------------------------------------------------------------------------


class Parts(NamedTuple):
    miscalibration: float
    discrimination: float
    uncertainty: float


def isotonic(scores: Numbers, hits: Hits) -> dict[float, Fraction]:
    """The best rising map: at each score, the largest over starts of the least mean to any end."""
    levels = reference.distinct(scores)
    counts = [sum(score == level for score in scores) for level in levels]
    sums = [
        sum(hit for score, hit in zip(scores, hits, strict=True) if score == level)
        for level in levels
    ]
    best: dict[float, Fraction] = {}
    for i, level in enumerate(levels):
        best[level] = max(
            min(
                Fraction(sum(sums[a : b + 1]), sum(counts[a : b + 1]))
                for b in range(i, len(levels))
            )
            for a in range(i + 1)
        )
    return best


def corp(scores: Numbers, hits: Hits) -> Parts:
    """Dimitriadis 2021, in exact fractions."""
    n = len(scores)
    steps = isotonic(scores, hits)
    rate = Fraction(sum(hits), n)
    pairs = list(zip(scores, hits, strict=True))
    whole = sum((Fraction(score) - hit) ** 2 for score, hit in pairs) / n
    mapped = sum((steps[score] - hit) ** 2 for score, hit in pairs) / n
    constant = sum((rate - hit) ** 2 for hit in hits) / n
    return Parts(float(whole - mapped), float(constant - mapped), float(constant))


def entropy(rate: float) -> float:
    return math.fsum(-p * math.log(p) for p in (rate, 1 - rate) if p > 0)


def corp_nll(scores: Numbers, hits: Hits) -> Parts:
    """The same with the log loss, 0 times its logarithm being 0."""
    steps, n = isotonic(scores, hits), len(scores)
    mapped = math.fsum(
        -math.log(float(steps[score]) if hit else float(1 - steps[score]))
        for score, hit in zip(scores, hits, strict=True)
    )
    whole, constant = reference.event_nll(scores, hits), entropy(sum(hits) / n)
    return Parts(whole - mapped / n, constant - mapped / n, constant)


def skill(loss: float, base: float) -> float:
    if base == 0:
        return math.nan if loss == 0 else -math.inf
    return 1 - loss / base


# Tests and errors known by name ---------------------------------------------------------------


def spiegelhalter_z(scores: Numbers, hits: Hits) -> float:
    """Spiegelhalter 1986, eq. 7, in exact fractions up to the root."""
    pairs = [(Fraction(score), hit) for score, hit in zip(scores, hits, strict=True)]
    total = sum((hit - s) * (1 - 2 * s) for s, hit in pairs)
    variance = sum((1 - 2 * s) ** 2 * s * (1 - s) for s, _ in pairs)
    if variance == 0:
        return math.nan if total == 0 else math.copysign(math.inf, total)
    return float(total) / math.sqrt(float(variance))


def hosmer_lemeshow(scores: Numbers, hits: Hits, n_groups: int) -> float:
    """As it is published: hits and misses of every group, each over what is expected."""
    result = reference.bins(scores, hits, n_groups, "equal_mass")
    total = 0.0
    for count, score, rate in zip(result.counts, result.mean_score, result.frequency, strict=True):
        for seen, expected in ((rate, score), (1 - rate, 1 - score)):
            if count and expected > 0:
                total += count * (seen - expected) ** 2 / expected
            elif count and seen > 0:
                total = math.inf
    return total


def averaged_two_bin(scores: Numbers, hits: Hits) -> float:
    """Hartline 2026: the definition, at the middle of every range between neighbouring scores."""
    pairs = [(Fraction(score), hit) for score, hit in zip(scores, hits, strict=True)]
    ends = sorted({Fraction(0), Fraction(1), *(score for score, _ in pairs)})
    total = Fraction(0)
    zero = Fraction(0)
    for low, high in itertools.pairwise(ends):
        cut = (low + high) / 2
        below = sum((score - hit for score, hit in pairs if score < cut), zero)
        above = sum((score - hit for score, hit in pairs if score >= cut), zero)
        total += (high - low) * (below**2 + above**2)
    return float(total / len(pairs) ** 2)


def top_label_ece(probabilities: Table, labels: Sequence[int], n_bins: int) -> float:
    """Gupta and Ramdas 2022: the ECE of the rows of each predicted class, by how many they are."""
    by_class: dict[int, list[tuple[float, int]]] = {}
    for row, label in zip(probabilities, labels, strict=True):
        decided = reference.ranking(row)[0]
        by_class.setdefault(decided, []).append((min(row[decided], 1.0), int(label == decided)))
    total = 0.0
    for rows in by_class.values():
        scores, hits = zip(*rows, strict=True)
        total += len(rows) * reference.ece(scores, hits, n_bins, "equal_width")
    return total / len(labels)


def loess(scores: Numbers, hits: Hits) -> list[float]:
    """Cleveland's local parabola at each score, in exact fractions: span 0.75, tricube weights."""
    xs = [Fraction(score) for score in scores]
    near = max(math.floor(0.75 * len(xs) + 1e-5), 1)
    return [_local(x, xs, hits, near) for x in xs]


def _local(x: Fraction, xs: Sequence[Fraction], hits: Hits, near: int) -> float:
    radius = sorted(abs(other - x) for other in xs)[near - 1]
    weighted = []
    for other, hit in zip(xs, hits, strict=True):
        away = abs(other - x)
        weight = (
            Fraction(away == 0) if radius == 0 else (1 - min(away / radius, Fraction(1)) ** 3) ** 3
        )
        weighted.append((weight, (other - x) / (radius or 1), hit))
    places = {away for weight, away, _ in weighted if weight > 0}
    n = min(len(places), 3)  # a parabola needs three places
    equations = [
        [sum((w * u ** (i + j) for w, u, _ in weighted), Fraction(0)) for j in range(n)]
        + [sum((w * u**i * hit for w, u, hit in weighted), Fraction(0))]
        for i in range(n)
    ]
    return float(reference.solve(equations, n)[0][0])


def loess_gaps(scores: Numbers, hits: Hits) -> list[float]:
    """Sorted distances of score and curve."""
    fitted = loess(scores, hits)
    return sorted(abs(value - score) for value, score in zip(fitted, scores, strict=True))


def type_7(ordered: Sequence[float], share: Fraction) -> float:
    """Hyndman and Fan's seventh quantile."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + float(place - low) * (ordered[high] - ordered[low])


# Ranking and averages -------------------------------------------------------------------------


def auroc(scores: Numbers, hits: Hits) -> float:
    """Share of the pairs of a hit and a miss in which the hit is above, half where equal."""
    above = [score for score, hit in zip(scores, hits, strict=True) if hit]
    below = [score for score, hit in zip(scores, hits, strict=True) if not hit]
    if not above or not below:
        return math.nan
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a in above for b in below]
    return math.fsum(wins) / len(wins)


def mean_gap(scores: Numbers, hits: Hits) -> float:
    return math.fsum([*scores, *(-hit for hit in hits)]) / len(scores)


def net_overconfidence(scores: Numbers, hits: Hits) -> float:
    """Mean probability of the more probable outcome, less the share of rows that have it."""
    sure, right = [], []
    for score, hit in zip(scores, hits, strict=True):
        if score != 0.5:
            sure.append(max(score, 1 - score))
            right.append(hit if score > 0.5 else 1 - hit)
    return (math.fsum(sure) - sum(right)) / len(scores)


def error_parts(
    scores: Numbers, hits: Hits, calibrated: Numbers, centre: float
) -> tuple[float, float]:
    """arXiv 2602.24230: the gain of moving each score to where a calibrator would have it.

    The proper loss of p = 1 is -|g - f| - sign(g - f) (y - g), f the score, g what is predicted in
    its place; overconfident is what a g no further from f than the centre, and towards it, gains.
    """
    over: list[float] = []
    under: list[float] = []
    for f, y, calibrated_to in zip(scores, hits, calibrated, strict=True):
        for parts, towards in ((over, True), (under, False)):
            g = calibrated_to
            if f == centre:
                g = f
            elif (f > centre) == towards:
                g = min(g, f)
            else:
                g = max(g, f)
            sign = (g > f) - (g < f)
            parts.append(abs(g - f) + sign * (y - g))
    return math.fsum(over) / len(scores), math.fsum(under) / len(scores)


def observed_expected_ratio(scores: Numbers, hits: Hits) -> float:
    expected, observed = math.fsum(scores), sum(hits)
    if expected == 0:
        return math.inf if observed else math.nan
    return observed / expected


def top_r_accuracy(probabilities: Table, labels: Sequence[int], r: int) -> float:
    rows = zip(probabilities, labels, strict=True)
    return reference.mean([float(label in reference.ranking(row)[:r]) for row, label in rows])


def squares_to_truth(row: Sequence[float], label: int) -> float:
    return math.fsum((p - (k == label)) ** 2 for k, p in enumerate(row))


def calibration_gain(before: Table, after: Table, labels: Sequence[int]) -> float:
    falls = []
    for was, now, label in zip(before, after, labels, strict=True):
        falls += [squares_to_truth(was, label), -squares_to_truth(now, label)]
    return math.fsum(falls) / len(labels)


def squared_calibration_error(table: Table, labels: Sequence[int]) -> float:
    """Zhang 2020, eq. 2, d = 2: frequencies are those of the rows with the very same table row."""
    alike: dict[tuple[float, ...], list[int]] = {}
    for row, label in zip(table, labels, strict=True):
        alike.setdefault(tuple(row), []).append(label)
    terms = []
    for row, seen in alike.items():
        for k, p in enumerate(row):
            terms.append(len(seen) * (p - seen.count(k) / len(seen)) ** 2)
    return math.fsum(terms) / len(labels)


def changed_decisions(before: Table, after: Table) -> int:
    rows = zip(before, after, strict=True)
    return sum(reference.ranking(a)[0] != reference.ranking(b)[0] for a, b in rows)


# Logistic regression on log-odds ----------------------------------------------------------------


def log_odds(scores: Numbers) -> list[float]:
    inside = [min(max(score, 2.0**-52), 1 - 2.0**-52) for score in scores]
    return [math.log(score) - math.log1p(-score) for score in inside]


def sigmoid(odds: float) -> float:
    if odds >= 0:
        return 1 / (1 + math.exp(-odds))
    return math.exp(odds) / (1 + math.exp(odds))


def missing(odds: Numbers, hits: Hits) -> list[float]:
    """Hit minus fitted probability of each row."""
    return [sigmoid(-x) if hit else -sigmoid(x) for x, hit in zip(odds, hits, strict=True)]


def fitted_intercept(odds: Numbers, hits: Hits, slope: float) -> float:
    """The intercept that makes the fitted probabilities add up to the hits, by halving."""
    stretched = [slope * x for x in odds]
    low, high = -max(stretched) - 50, -min(stretched) + 50
    for _ in range(100):
        middle = (low + high) / 2
        if math.fsum(missing([middle + x for x in stretched], hits)) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def slope_case(scores: Numbers, hits: Hits) -> float:
    """NaN, infinity or minus infinity where no finite slope is best; else 0."""
    odds = log_odds(scores)
    of_hits = [x for x, hit in zip(odds, hits, strict=True) if hit]
    of_misses = [x for x, hit in zip(odds, hits, strict=True) if not hit]
    largest = max(1.0, *(abs(x) for x in odds))
    if not of_hits or not of_misses or max(odds) - min(odds) <= 1e-6 * largest:
        return math.nan
    if max(of_misses) <= min(of_hits):
        return math.inf
    if max(of_hits) <= min(of_misses):
        return -math.inf
    return 0.0


def slope_off(scores: Numbers, hits: Hits, slope: float) -> float:
    """How far, in Newton's next step, a slope is from the best one, as a share of itself or 1.

    What rounding alone could cause is taken off.
    """
    odds = log_odds(scores)
    intercept = fitted_intercept(odds, hits, slope)
    rows = [intercept + slope * x for x in odds]
    weights = [sigmoid(x) * sigmoid(-x) for x in rows]
    middle = math.fsum(w * x for w, x in zip(weights, odds, strict=True)) / math.fsum(weights)
    away = [x - middle for x in odds]
    gradient = math.fsum(m * x for m, x in zip(missing(rows, hits), away, strict=True))
    curvature = math.fsum(w * x * x for w, x in zip(weights, away, strict=True))
    noise = 1e-13 * math.fsum(abs(x) for x in away)
    return max(0.0, abs(gradient) - noise) / curvature / max(1.0, abs(slope))
