"""Slow, obvious loops over pairs of rows: MMCE, SKCE and their moments under perfect calibration.

Plain Python over lists, from the papers; nothing of calibcore or numpy.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import product

from tests.reference import Numbers, Table

Hits = Sequence[int]


def mmce(scores: Numbers, hits: Hits, width: float) -> float:
    """Kumar, Sarawagi, Jain 2018: root of the mean over all pairs, a row with itself too."""
    terms = []
    for score, hit in zip(scores, hits, strict=True):
        for other, its in zip(scores, hits, strict=True):
            kernel = math.exp(-abs(score - other) / width)
            terms.append((hit - score) * (its - other) * kernel)
    return math.sqrt(max(0.0, math.fsum(terms))) / len(scores)


def total_variation(first: Numbers, second: Numbers) -> float:
    return math.fsum(abs(p - q) for p, q in zip(first, second, strict=True)) / 2


def _residual(row: Numbers, label: int) -> list[float]:
    return [(k == label) - p for k, p in enumerate(row)]


def skce_terms(table: Table, labels: Sequence[int], width: float) -> Iterator[float]:
    """Widmann 2019, section 5: (e_y - p)^T k(p, q) I (e_z - q) of every pair of two rows."""
    for i, (row, label) in enumerate(zip(table, labels, strict=True)):
        for other, its in zip(table[:i], labels[:i], strict=True):
            kernel = math.exp(-total_variation(row, other) / width)
            both = zip(_residual(row, label), _residual(other, its), strict=True)
            yield kernel * math.fsum(a * b for a, b in both)


def skce(table: Table, labels: Sequence[int], width: float) -> float:
    """Mean over the pairs of two rows: the unbiased quadratic estimator."""
    terms = list(skce_terms(table, labels, width))
    return math.fsum(terms) / len(terms)


def skce_by_expectations(table: Table, labels: Sequence[int], width: float) -> float:
    """Widmann 2021, eq. 3: the same from a scalar kernel of predictions and labels.

    k((p, y), (q, z)) = exp(-TV / width) 1(y = z); each label's term less what it is on average.
    """
    n, total = len(table), 0.0
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            p, q, y, z = table[i], table[j], labels[i], labels[j]
            near = math.exp(-total_variation(p, q) / width)
            classes = range(len(p))
            total += near * (
                (y == z)
                - sum(p[k] * (k == z) for k in classes)
                - sum(q[k] * (k == y) for k in classes)
                + sum(p[k] * q[m] * (k == m) for k in classes for m in classes)
            )
    return total / (n * (n - 1))


def event_table(scores: Numbers) -> list[list[float]]:
    return [[1 - score, score] for score in scores]


def median_distance(table: Table) -> float:
    """Median over the pairs of two rows; their mean where it is 0, and 1 where that is too."""
    distances = sorted(
        total_variation(row, other) for i, row in enumerate(table) for other in table[:i]
    )
    if not distances:
        return 1.0
    middle = len(distances) // 2
    median = distances[middle]
    if len(distances) % 2 == 0:
        median = (distances[middle - 1] + median) / 2
    return median or math.fsum(distances) / len(distances) or 1.0


def skce_null(table: Table, width: float) -> tuple[float, float]:
    """Mean and standard deviation over all labels that the rows can have, by their probability."""
    total = squares = 0.0
    for labels in product(range(len(table[0])), repeat=len(table)):
        chance = math.prod(row[label] for row, label in zip(table, labels, strict=True))
        value = skce(table, labels, width)
        total += chance * value
        squares += chance * value**2
    return total, math.sqrt(squares - total**2)
