"""Slow, obvious loops that calibcore's quantities are compared with.

One quantity a function, written from the paper and the conventions, in plain Python over lists.
Nothing here imports calibcore or numpy. Where a sum could lose digits, `math.fsum` or fractions
keep them all, so a disagreement above 1e-12 is calibcore's.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import NamedTuple

Numbers = Sequence[float]
Table = Sequence[Sequence[float]]

SMALLEST_NORMAL = 2.2250738585072014e-308


# Probabilities ------------------------------------------------------------------------------


def log_softmax(logits: Table) -> list[list[float]]:
    table = []
    for row in logits:
        largest = max(row)
        log_total = math.log(math.fsum(math.exp(z - largest) for z in row))
        table.append([(z - largest) - log_total for z in row])
    return table


def softmax(logits: Table) -> list[list[float]]:
    table = []
    for row in logits:
        largest = max(row)
        powers = [math.exp(z - largest) for z in row]
        total = math.fsum(powers)
        table.append([power / total for power in powers])
    return table


# Events -------------------------------------------------------------------------------------


class Outcomes(NamedTuple):
    scores: list[float]
    hits: list[int]


def ranking(row: Numbers) -> list[int]:
    """Classes from the most to the least probable; of equal ones the lower index first."""
    return sorted(range(len(row)), key=lambda k: (-row[k], k))


def score_of(probability: float, row: Sequence[float]) -> float:
    """What is at most one smallest number for each class only ranks, and scores 0."""
    return 0.0 if probability <= len(row) * math.ulp(0.0) else probability


def top_r(probabilities: Table, labels: Sequence[int], r: int) -> Outcomes:
    scores, hits = [], []
    for row, label in zip(probabilities, labels, strict=True):
        chosen = ranking(row)[r - 1]
        scores.append(score_of(row[chosen], row))
        hits.append(1 if chosen == label else 0)
    return Outcomes(scores, hits)


def within_top_r(probabilities: Table, labels: Sequence[int], r: int) -> Outcomes:
    scores, hits = [], []
    for row, label in zip(probabilities, labels, strict=True):
        chosen = ranking(row)[:r]
        total = 0.0
        for k in chosen:
            total = total + row[k]
        scores.append(score_of(1.0 if total > 1.0 else total, row))
        hits.append(1 if label in chosen else 0)
    return Outcomes(scores, hits)


def one_class(probabilities: Table, labels: Sequence[int], k: int) -> Outcomes:
    scores = [score_of(row[k], row) for row in probabilities]
    return Outcomes(scores, [int(label == k) for label in labels])


# Cumulative curves --------------------------------------------------------------------------


class Curves(NamedTuple):
    fractile: list[float]
    score: list[float]
    cum_score: list[float]
    cum_hits: list[float]
    gap: list[float]  # cum_score - cum_hits, from one exact sum


def distinct(scores: Numbers) -> list[float]:
    results: list[float] = []
    for score in sorted(scores):
        if not results or score != results[-1]:
            results.append(score)
    return results


def curves(scores: Numbers, hits: Sequence[int]) -> Curves:
    """Gupta 2021, eqs. 9 and 10, read to the letter: for every sigma a sum over all rows."""
    n = len(scores)
    result = Curves([0.0], [0.0], [0.0], [0.0], [0.0])
    for sigma in distinct(scores):
        below = [i for i in range(n) if scores[i] <= sigma]
        result.fractile.append(len(below) / n)
        result.score.append(sigma)
        result.cum_score.append(math.fsum(scores[i] for i in below) / n)
        result.cum_hits.append(sum(hits[i] for i in below) / n)
        both = [scores[i] for i in below] + [-float(hits[i]) for i in below]
        result.gap.append(math.fsum(both) / n)
    return result


def ks_error(scores: Numbers, hits: Sequence[int]) -> float:
    return max(abs(gap) for gap in curves(scores, hits).gap)


def kuiper(scores: Numbers, hits: Sequence[int]) -> float:
    gap = curves(scores, hits).gap
    return max(gap) - min(gap)


def brownian_exceeds(level: float) -> float:
    """P(sup over [0, 1] of |W| >= level), by the reflection principle.

    4 sum over k >= 0 of (-1)^k Q((2k + 1) level), with Q(x) = erfc(x / sqrt 2) / 2. Below 0.05 the
    other series shows that the probability is 1 less about exp(-493).
    """
    if level < 0.05:
        return 1.0
    terms = []
    k = 0
    while (2 * k + 1) * level < 60:
        terms.append((-1) ** k * 2 * math.erfc((2 * k + 1) * level / math.sqrt(2)))
        k += 1
    return min(1.0, max(0.0, math.fsum(terms)))


def poisson_at_least(count: float, mean: float) -> float:
    """P(Poisson >= count), between whole counts by the incomplete gamma function's power series."""
    if count == 0:
        return 1.0
    term, terms, n = 1.0, [1.0], 0
    while term > 1e-17:
        n += 1
        term *= mean / (count + n)
        terms.append(term)
    return math.exp(count * math.log(mean) - mean - math.lgamma(count + 1)) * math.fsum(terms)


def rare_tail(rows_off: float, scores: Numbers) -> float | None:
    """P(the final gap is so many rows off), where fewer than 3 steps are expected; else None."""
    variance = math.fsum(score * (1 - score) for score in scores)
    skew = math.fsum(score * (1 - score) * abs(1 - 2 * score) for score in scores)
    if variance == 0 or skew / variance < 0.001:
        return None
    step = skew / variance
    mean, far = variance / step**2, rows_off / step
    if mean >= 3:
        return None
    below = 1 - poisson_at_least(mean - far + 1, mean) if far < mean else 0.0
    return poisson_at_least(mean + far, mean) + below


def ks_p_value(scores: Numbers, hits: Sequence[int]) -> float:
    return gap_p_value(scores, ks_error(scores, hits))


def gap_p_value(scores: Numbers, error: float) -> float:
    spread = math.sqrt(math.fsum(score * (1 - score) for score in scores)) / len(scores)
    if spread == 0:
        return 1.0 if error == 0 else 0.0
    limit = brownian_exceeds(error / spread)
    tail = rare_tail(error * len(scores), scores)
    return limit if tail is None else max(limit, min(2 * tail, 1.0))


# Binning ------------------------------------------------------------------------------------


class Bins(NamedTuple):
    edges: list[float]
    counts: list[int]
    mean_score: list[float]  # NaN where empty
    frequency: list[float]  # NaN where empty


def bin_edges(scores: Numbers, n_bins: int, binning: str) -> list[float]:
    if binning == "equal_width":
        return [k / n_bins for k in range(n_bins + 1)]
    ordered = sorted(scores)
    edges = [0.0]
    for i in range(1, n_bins):
        position = i * len(scores) // n_bins
        edges.append(ordered[position - 1] if position > 0 else 0.0)
    return [*edges, 1.0]


def bins(scores: Numbers, hits: Sequence[int], n_bins: int, binning: str) -> Bins:
    edges = bin_edges(scores, n_bins, binning)
    result = Bins(edges, [], [], [])
    for b in range(n_bins):
        lower, upper = edges[b], edges[b + 1]
        inside = [
            i
            for i, score in enumerate(scores)
            if (lower < score or (b == 0 and lower == score)) and score <= upper
        ]
        count = len(inside)
        result.counts.append(count)
        result.mean_score.append(
            math.fsum(scores[i] for i in inside) / count if count else math.nan
        )
        result.frequency.append(sum(hits[i] for i in inside) / count if count else math.nan)
    return result


def bin_gaps(table: Bins) -> list[tuple[int, float]]:
    """Count and |mean score - frequency| of every bin that holds a row."""
    columns = zip(table.counts, table.mean_score, table.frequency, strict=True)
    return [(count, abs(score - rate)) for count, score, rate in columns if count]


def ece(scores: Numbers, hits: Sequence[int], n_bins: int, binning: str, norm: int = 1) -> float:
    n = len(scores)
    parts = [count / n * gap**norm for count, gap in bin_gaps(bins(scores, hits, n_bins, binning))]
    total = math.fsum(parts)
    return math.sqrt(total) if norm == 2 else total


def mce(scores: Numbers, hits: Sequence[int], n_bins: int, binning: str) -> float:
    return max(gap for _, gap in bin_gaps(bins(scores, hits, n_bins, binning)))


# Other metrics ------------------------------------------------------------------------------


def mean(values: Numbers) -> float:
    return math.fsum(values) / len(values)


def surprise(probability: float) -> float:
    return -math.log(max(probability, SMALLEST_NORMAL))


def nll(probabilities: Table, labels: Sequence[int]) -> float:
    return mean([surprise(row[y]) for row, y in zip(probabilities, labels, strict=True)])


def event_nll(scores: Numbers, hits: Sequence[int]) -> float:
    return mean(
        [surprise(s) if h == 1 else surprise(1 - s) for s, h in zip(scores, hits, strict=True)]
    )


def brier(probabilities: Table, labels: Sequence[int]) -> float:
    rows = []
    for row, label in zip(probabilities, labels, strict=True):
        rows.append(math.fsum((p - (1 if k == label else 0)) ** 2 for k, p in enumerate(row)))
    return mean(rows)


def event_brier(scores: Numbers, hits: Sequence[int]) -> float:
    return mean([(s - h) ** 2 for s, h in zip(scores, hits, strict=True)])


def accuracy(probabilities: Table, labels: Sequence[int]) -> float:
    pairs = zip(probabilities, labels, strict=True)
    return mean([1.0 if ranking(row)[0] == label else 0.0 for row, label in pairs])


# Splines, in exact fractions ------------------------------------------------------------------

Matrix = list[list[Fraction]]


def solve(equations: Matrix, n_unknowns: int) -> Matrix:
    """Gauss and Jordan on rows of [coefficients | right-hand sides]; returns the solutions."""
    rows = [list(row) for row in equations]
    for column in range(n_unknowns):
        pivot = next(r for r in range(column, n_unknowns) if rows[r][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        factor = rows[column][column]
        rows[column] = [value / factor for value in rows[column]]
        for r in range(n_unknowns):
            share = rows[r][column]
            if r != column and share != 0:
                rows[r] = [a - share * b for a, b in zip(rows[r], rows[column], strict=True)]
    return [row[n_unknowns:] for row in rows]


@cache
def cardinal_pieces(n_knots: int, runout: str) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
    """Coefficients of the splines that are 1 at one knot and 0 at the others.

    On interval j the spline is a + b u + c u^2 + d u^3 with u = x - knot j. The 4 (K - 1) unknowns
    come from: value at both ends of every interval, equal slopes and equal second derivatives at
    inner knots, one run-out condition at each end. Entry [j][power] holds one number a knot.
    """
    n_pieces = n_knots - 1
    n_unknowns = 4 * n_pieces
    h = Fraction(1, n_pieces)
    equations: Matrix = []

    def equation(terms: dict[tuple[int, int], Fraction], knot: int | None = None) -> None:
        left = [Fraction(0)] * n_unknowns
        for (piece, power), factor in terms.items():
            left[4 * piece + power] += factor
        equations.append([*left, *(Fraction(int(k == knot)) for k in range(n_knots))])

    one = Fraction(1)
    for j in range(n_pieces):
        equation({(j, 0): one}, knot=j)
        equation({(j, power): h**power for power in range(4)}, knot=j + 1)
    for j in range(n_pieces - 1):
        equation({(j, 1): one, (j, 2): 2 * h, (j, 3): 3 * h**2, (j + 1, 1): -one})
        equation({(j, 2): 2 * one, (j, 3): 6 * h, (j + 1, 2): -2 * one})
    last = n_pieces - 1
    if runout == "natural":  # no second derivative at the two ends
        equation({(0, 2): 2 * one})
        equation({(last, 2): 2 * one, (last, 3): 6 * h})
    elif runout == "parabolic":  # no third derivative on the first and the last interval
        equation({(0, 3): one})
        equation({(last, 3): one})
    else:  # cubic: the same third derivative on the two first and on the two last intervals
        equation({(0, 3): one, (1, 3): -one})
        if n_knots == 4:
            equation({(1, 3): one, (2, 3): -one})
        else:
            equation({(last - 1, 3): one, (last, 3): -one})
    solved = solve(equations, n_unknowns)
    return tuple(tuple(tuple(solved[4 * j + power]) for power in range(4)) for j in range(n_pieces))


def spline_weights(x: Fraction, n_knots: int, runout: str, *, derivative: bool) -> list[Fraction]:
    """The weight of each knot's value in the spline, or in its derivative, at x."""
    j = min(max(math.floor(x * (n_knots - 1)), 0), n_knots - 2)
    u = x - Fraction(j, n_knots - 1)
    powers = [Fraction(0), Fraction(1), 2 * u, 3 * u**2] if derivative else [u**p for p in range(4)]
    piece = cardinal_pieces(n_knots, runout)[j]
    return [sum((powers[p] * piece[p][k] for p in range(4)), Fraction(0)) for k in range(n_knots)]


def weighted(weights: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    return sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0))


def spline(values: Numbers, runout: str, x: float, *, derivative: bool = False) -> float:
    weights = spline_weights(Fraction(x), len(values), runout, derivative=derivative)
    return float(weighted(weights, [Fraction(v) for v in values]))


def fit_spline(
    x: Sequence[Fraction], y: Sequence[Fraction], n_knots: int, runout: str
) -> list[Fraction]:
    """Knot values of least squares, from the normal equations solved without rounding."""
    design = [spline_weights(xi, n_knots, runout, derivative=False) for xi in x]
    normal = [
        [
            *(sum((row[a] * row[b] for row in design), Fraction(0)) for b in range(n_knots)),
            sum((row[a] * yi for row, yi in zip(design, y, strict=True)), Fraction(0)),
        ]
        for a in range(n_knots)
    ]
    return [row[0] for row in solve(normal, n_knots)]


# Spline calibration -----------------------------------------------------------------------------


class CalibrationRows(NamedTuple):
    """The rows a spline is fitted to, lowest score first."""

    scores: list[Fraction]
    fractile: list[Fraction]
    total: list[Fraction]


def calibration_rows(scores: Numbers, hits: Sequence[int], fit_to: str) -> CalibrationRows:
    n = len(scores)
    ordered = sorted(scores)
    total = Fraction(0)
    rows = CalibrationRows([], [], [])
    for i, score in enumerate(ordered, start=1):
        block = [h for s, h in zip(scores, hits, strict=True) if s == score]
        step = Fraction(sum(block), len(block))
        if fit_to == "difference":
            step -= Fraction(score)
        total += step
        rows.scores.append(Fraction(score))
        rows.fractile.append(Fraction(i, n))
        rows.total.append(total / n)
    return rows


def spline_map(
    scores: Numbers, hits: Sequence[int], n_knots: int, runout: str, fit_to: str
) -> list[tuple[float, float]]:
    """Each distinct calibration score with its calibrated value, before clipping."""
    rows = calibration_rows(scores, hits, fit_to)
    knots = fit_spline(rows.fractile, rows.total, n_knots, runout)
    values = []
    for score, x in zip(rows.scores, rows.fractile, strict=True):
        slope = weighted(spline_weights(x, n_knots, runout, derivative=True), knots)
        values.append(slope + score if fit_to == "difference" else slope)
    pairs = []
    for sigma in distinct(scores):
        block = [v for s, v in zip(rows.scores, values, strict=True) if s == Fraction(sigma)]
        pairs.append((sigma, float(sum(block, Fraction(0)) / len(block))))
    return pairs


def read_map(pairs: Sequence[tuple[float, float]], score: float) -> float:
    """Straight lines between the pairs, constant outside them, clipped to [0, 1]."""
    value = pairs[-1][1]
    if score <= pairs[0][0]:
        value = pairs[0][1]
    else:
        for (left, low), (right, high) in pairwise(pairs):
            if left < score <= right:
                share = (Fraction(score) - Fraction(left)) / (Fraction(right) - Fraction(left))
                value = float((1 - share) * Fraction(low) + share * Fraction(high))
                break
    return min(1.0, max(0.0, value))


# Temperature ----------------------------------------------------------------------------------


def usable(logits: Table, labels: Sequence[int]) -> list[tuple[list[float], float]]:
    """Each row's logits that are not ruled out, with its true class's, where that is finite."""
    rows = []
    for row, label in zip(logits, labels, strict=True):
        if row[label] > -math.inf:
            rows.append(([z for z in row if z > -math.inf], row[label]))
    return rows


def scaled_nll(logits: Table, labels: Sequence[int], inverse_temperature: float) -> float:
    losses = []
    for row, true in usable(logits, labels):
        largest = max(row)
        total = math.fsum(math.exp(inverse_temperature * (z - largest)) for z in row)
        losses.append(math.log(total) + inverse_temperature * (largest - true))
    return mean(losses)


def scaled_nll_slope(logits: Table, labels: Sequence[int], inverse_temperature: float) -> float:
    """Derivative of `scaled_nll`: the mean of (expected logit - true class's logit)."""
    slopes = []
    for row, true in usable(logits, labels):
        largest = max(row)
        powers = [math.exp(inverse_temperature * (z - largest)) for z in row]
        total = math.fsum(powers)
        slopes.append(math.fsum(p * (z - true) for p, z in zip(powers, row, strict=True)) / total)
    return mean(slopes)


def temperature_case(logits: Table, labels: Sequence[int]) -> str:
    """Where the best temperature lies.

    "flat": no row prefers any class; "separable": every row's label has the largest logit, so the
    loss falls all the way to T = 0; "anti-informative": it falls all the way to T = infinity;
    "interior": one finite T is best; "no rows": every true class is ruled out.
    """
    rows = usable(logits, labels)
    if not rows:
        return "no rows"
    if all(min(row) == max(row) for row, _ in rows):
        return "flat"
    if all(true == max(row) for row, true in rows):
        return "separable"
    at_infinity = sum(
        (
            sum((Fraction(z) for z in row), Fraction(0)) / len(row) - Fraction(true)
            for row, true in rows
        ),
        Fraction(0),
    )
    return "anti-informative" if at_infinity >= 0 else "interior"


def best_temperature(logits: Table, labels: Sequence[int]) -> float:
    """The root of the slope by halving, for an interior case."""
    low, high = 1.0, 1.0
    while scaled_nll_slope(logits, labels, low) > 0:
        low /= 2
    while scaled_nll_slope(logits, labels, high) < 0:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if scaled_nll_slope(logits, labels, middle) < 0:
            low = middle
        else:
            high = middle
    return 2 / (low + high)


# Rows counted by score and group ---------------------------------------------------------------


def counted_by_group(
    scores: Numbers, hits: Sequence[int], groups: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], dict[float, tuple[int, int]]]:
    """Of each group, how many rows have each score, and with the event: a row after the other."""
    counted: dict[tuple[str, ...], dict[float, tuple[int, int]]] = {}
    for score, hit, group in zip(scores, hits, groups, strict=True):
        rows, events = counted.setdefault(group, {}).get(score, (0, 0))
        counted[group][score] = (rows + 1, events + hit)
    return counted


def twelve_decimals(probability: float) -> float:
    """By the decimals that the number has, but of one below 1e-9, which has no more than three."""
    return float(round(Fraction(probability), 12)) if probability >= 2**-30 else probability
