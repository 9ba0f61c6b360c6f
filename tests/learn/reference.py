"""Slow loops over the rows of a sample, for the figures of the lessons."""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from calibcore.samples import load_sample
from tests import reference


class Rows(NamedTuple):
    probabilities: list[list[float]]
    labels: list[int]
    scores: list[float]
    hits: list[int]


@cache
def logits_of(sample: str, which: str) -> tuple[list[list[float]], list[int]]:
    data = load_sample(sample)
    return data[f"logits_{which}"].astype(float).tolist(), data[f"labels_{which}"].tolist()


@cache
def at_temperature(temperature: float, sample: str) -> Rows:
    """The top prediction of each test row, its logits divided by a number."""
    logits, labels = logits_of(sample, "test")
    probabilities = reference.softmax([[z / temperature for z in row] for row in logits])
    outcomes = reference.top_r(probabilities, labels, 1)
    return Rows(probabilities, labels, outcomes.scores, outcomes.hits)


def ks_error(scores: Sequence[float], hits: Sequence[int]) -> float:
    """Add up scores and outcomes from the lowest score; rows of equal scores together."""
    total, largest = 0.0, 0.0
    ordered = sorted(zip(scores, hits, strict=True))
    for i, (score, hit) in enumerate(ordered):
        total += score - hit
        if i + 1 == len(ordered) or ordered[i + 1][0] != score:
            largest = max(largest, abs(total))
    return largest / len(ordered)


def p_text(p_value: float) -> str:
    if p_value < 0.001:
        return "p < 0.001"
    digits = 3 if p_value < 0.1 else 2
    return f"p = {math.floor(p_value * 10**digits) / 10**digits:g}"


def quantile(values: Sequence[float], share: float) -> float:
    """Between the two nearest of the sorted values, in proportion."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    k = min(math.floor(place), len(ordered) - 2)
    return ordered[k] + (place - k) * (ordered[k + 1] - ordered[k])
