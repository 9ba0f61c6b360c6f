"""Kernel errors by relplot, netcal and probcal, and by KDEpy as Zhang 2020's program calls it.

The program (``ece_kde_binary`` of Mix-n-Match) is no package; what it does around KDEpy is read
again, once on its own grid and once on the points that `calibcore.metrics.kernel` has. relplot
weighs a score of 1 half, so the definition of Blasiok 2024 is reimplemented too, row by row. No
library has the SKCE of several classes: it is reimplemented from its authors' other formulation.
"""

import math
from collections.abc import Iterator

import numpy as np
import relplot.metrics
from KDEpy import FFTKDE
from netcal.metrics import MMCE
from probcal.metrics import skce
from probcal.metrics.kernel import skce_test
from scipy.optimize import brentq

from calibcore import EventScores, OneClass
from calibcore.metrics.kernel import MESH
from calibcore.metrics.pairwise import WIDTH
from calibcore.validation import Floats
from tests.peers.cases import Case
from tests.peers.figures import Figure

SOME = 1_000
"""Rows of which pairs are compared: peers hold the whole matrix of pairs."""

AUTHORS = np.linspace(-0.6, 1.6, 2**14)
ALIGNED = np.arange(-MESH, 2 * MESH + 1) / MESH
_THEIRS = "grid of 2^14 points on [-0.6, 1.6], accuracy cut at 1"
_OURS = "points k / 4096, 0 and 1 among them, accuracy not cut"


def of_event(events: EventScores) -> Iterator[Figure]:
    """Give the kernel errors of an event."""
    value = relplot.metrics.smECE(events.scores, events.hits.astype(np.float64))
    convention = "reflected Gaussian on a grid, ten bisections; a score of 1 counts half"
    yield Figure("smooth ECE", "relplot", convention, {"value": float(value)})
    convention = "no mesh: every row's own Gaussian and its mirror images, at 4,097 points"
    yield Figure("smooth ECE, reimplemented", "numpy", convention, {"value": _smooth_error(events)})
    value = _kde_error(events, AUTHORS)
    yield Figure("KDE-ECE, authors' grid", "KDEpy", _THEIRS, {"value": value})
    value = _kde_error(events, ALIGNED)
    yield Figure("KDE-ECE, same points", "KDEpy", _OURS, {"value": value})
    value = _kde_error(events, ALIGNED, norm=2)
    yield Figure("KDE-ECE, d = 2", "KDEpy", f"root of the mean square; {_OURS}", {"value": value})
    yield from _pairs(events)


def _pairs(events: EventScores) -> Iterator[Figure]:
    """Give what is a mean over pairs of rows."""
    scores, hits = events.scores[:SOME], events.hits[:SOME].astype(np.int64)
    # netcal asks for the top prediction of rows: here of two classes, of which the first is it
    table = np.column_stack([scores, np.where(scores > 0.5, 1 - scores, -1.0)])
    value = MMCE().measure(table, 1 - hits)
    convention = f"kernel exp(-2.5 abs(s - t)), all pairs of the first {SOME:,} rows"
    yield Figure("MMCE", "netcal", convention, {"value": float(value)})
    value = skce(hits, scores, bandwidth=WIDTH)
    convention = f"estimator uq, Laplacian kernel of bandwidth 0.4, first {SOME:,} rows"
    yield Figure("SKCE of the event", "probcal", convention, {"value": float(value)})
    result = skce_test(hits, scores, bandwidth=WIDTH, n_boot=4_999)
    convention = f"bootstrap of Arcones and Gine, 4,999 resamples of the first {SOME:,} rows"
    yield Figure("SKCE p-value", "probcal", convention, {"value": float(result.p_value)})


def all_classes(case: Case) -> Iterator[Figure]:
    """Give the mean of the classes' kernel errors."""
    table = case.test
    each = [
        _kde_error(OneClass(k).outcomes(table.probabilities, table.labels), ALIGNED)
        for k in range(case.n_classes)
    ]
    value = float(np.mean(each))
    yield Figure("class-wise KDE-ECE", "KDEpy", f"mean over classes, {_OURS}", {"value": value})
    convention = "kernel of predictions and labels (Widmann 2021), first 1,000 rows, width 0.4"
    yield Figure("SKCE, all classes", "numpy", convention, {"value": _skce(case)})


def _skce(case: Case) -> float:
    """Give the mean of exp(-TV / 0.4) 1(y = z), less its means over y from p and over z from q."""
    rows, labels = case.test.probabilities[:SOME], case.test.labels[:SOME]
    total = 0.0
    for i, (p, y) in enumerate(zip(rows, labels, strict=True)):
        near = np.exp(-np.abs(rows - p).sum(axis=1) / 2 / WIDTH)
        terms = (labels == y) - p[labels] - rows[:, y] + rows @ p
        terms[i] = 0.0
        total += float(near @ terms)
    return total / (len(rows) * (len(rows) - 1))


def _kde_error(events: EventScores, grid: Floats, norm: int = 1) -> float:
    scores, hits = events.scores, events.hits == 1
    bandwidth = np.std(scores[hits]) * (2 * len(scores)) ** -0.2
    inside = (grid > 0) & (grid < 1) if grid is AUTHORS else (grid >= 0) & (grid <= 1)
    of_hits, of_all = (_density(part, bandwidth, grid)[inside] for part in (scores[hits], scores))
    x, joint = grid[inside], hits.mean() * of_hits
    if grid is AUTHORS:
        seen = np.maximum(of_hits, of_all) > 1e-6
        accuracy = np.minimum(np.divide(joint, of_all, out=np.ones_like(x), where=of_all > 0), 1)
        gap = np.abs(x - accuracy) * of_all
        for i in np.flatnonzero(~seen):  # where there is no density, the cell before is repeated
            gap[i] = gap[i - 1] if i else 0.0
    else:
        gap = np.abs(x * of_all - joint)
    if norm == 2:
        squares = np.divide(gap**2, of_all, out=np.zeros_like(gap), where=of_all > 1e-12)
        return math.sqrt(float(np.trapezoid(squares, x) / np.trapezoid(of_all, x)))
    return float(np.trapezoid(gap, x) / np.trapezoid(of_all, x))


def _density(scores: Floats, bandwidth: float, grid: Floats) -> Floats:
    """Give the triweight density of scores, each mirrored at its nearer end."""
    mirrored = np.where(scores < 0.5, -scores, 2 - scores)
    kernel = FFTKDE(bw=bandwidth, kernel="triweight").fit(np.concatenate([scores, mirrored]))
    density: Floats = 2 * kernel.evaluate(grid)
    return density


def _smooth_error(events: EventScores) -> float:
    """Give the sigma that equals the mean absolute residual it blurs."""
    residual = events.hits - events.scores
    return float(brentq(lambda s: _blurred(events.scores, residual, s) - s, 1e-4, 1, xtol=1e-11))


def _blurred(scores: Floats, residual: Floats, sigma: float) -> float:
    x = np.arange(MESH + 1) / MESH
    far = range(-math.ceil(4 * sigma), math.ceil(4 * sigma) + 1)
    images = np.concatenate([side + 2 * k for k in far for side in (scores, -scores)])
    mass = np.tile(residual, 2 * len(far))
    near = (images > -9 * sigma) & (images < 1 + 9 * sigma)
    images, mass = images[near], mass[near]
    density = np.empty_like(x)
    for place in np.array_split(np.arange(x.size), 64):
        away = (x[place, np.newaxis] - images) / sigma
        density[place] = np.exp(-(away**2) / 2) @ mass
    density /= len(scores) * sigma * math.sqrt(2 * math.pi)
    return float(np.trapezoid(np.abs(density), x))
