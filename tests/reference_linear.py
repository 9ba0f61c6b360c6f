"""Slow, obvious loops for the linear maps, in plain Python over lists.

Nothing here imports calibcore or numpy. A map is a full matrix and a bias; a diagonal one is
written out with its zeros.
"""

import math
from collections.abc import Sequence

from tests.reference import Numbers, Table, log_softmax


def centred(logits: Table) -> list[list[float]]:
    table = []
    for row in logits:
        mean = math.fsum(row) / len(row)
        table.append([z - mean for z in row])
    return table


def mixed(logits: Table, temperature: float, share: float) -> list[list[float]]:
    """Logarithms of temperature-scaled probabilities mixed with the uniform distribution."""
    return [
        [math.log((1 - share) * math.exp(z) + share / len(row)) for z in row]
        for row in log_softmax([[z / temperature for z in row] for row in logits])
    ]


def outputs(inputs: Table, weights: Table, bias: Numbers) -> list[list[float]]:
    table = []
    for row in inputs:
        products = [[w * x for w, x in zip(line, row, strict=True)] for line in weights]
        table.append([math.fsum([*one, b]) for one, b in zip(products, bias, strict=True)])
    return table


def mean_nll(inputs: Table, labels: Sequence[int], weights: Table, bias: Numbers) -> float:
    logs = log_softmax(outputs(inputs, weights, bias))
    return math.fsum(-row[label] for row, label in zip(logs, labels, strict=True)) / len(labels)


def odir(weights: Table, bias: Numbers, off_diagonal: float, intercept: float) -> float:
    n = len(bias)
    off = [w * w for i, row in enumerate(weights) for j, w in enumerate(row) if i != j]
    mean_off = math.fsum(off) / (n * (n - 1))
    return off_diagonal * mean_off + intercept * math.fsum(b * b for b in bias) / n


def ridge(weights: Table, bias: Numbers, strength: float) -> float:
    entries = [w * w for row in weights for w in row]
    return strength * math.fsum([*entries, *(b * b for b in bias)])


def structured(weights: Table, bias: Numbers, strengths: Numbers) -> float:
    """Penalty of structured scaling: bias, diagonal's distance from 1, and off the diagonal."""
    on_bias, on_diagonal, on_rest = strengths
    parts = [on_bias * b * b for b in bias]
    for i, row in enumerate(weights):
        for j, w in enumerate(row):
            parts.append(on_diagonal * (w - 1) ** 2 if i == j else on_rest * w * w)
    return math.fsum(parts)
