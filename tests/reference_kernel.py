"""Slow, obvious loops that the kernel measures are compared with.

Written from the papers and the conventions, in plain Python over lists: nothing here imports
calibcore or numpy, nothing is transformed, and of each measure one version has no mesh at all.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from tests.reference import Numbers

MESH = 4096


# KDE-ECE ----------------------------------------------------------------------------------------


def half_width(scores: Numbers, hits: Sequence[int]) -> float:
    """Three standard deviations of the triweight kernel, as Zhang 2020's program has them."""
    chosen = [s for s, h in zip(scores, hits, strict=True) if h == 1]
    if len(chosen) < 2:
        chosen = list(scores)
    mean = math.fsum(chosen) / len(chosen)
    spread = math.sqrt(math.fsum((s - mean) ** 2 for s in chosen) / len(chosen))
    return min(1.0, 3 * spread / math.pow(2 * len(scores), 0.2))


def triweight(u: float) -> float:
    return 35 / 32 * (1 - u * u) ** 3 if abs(u) < 1 else 0.0


def reflected(x: float, s: float, w: float) -> float:
    """The kernel around s, its parts beyond 0 and 1 folded back, at x."""
    return math.fsum(triweight((x - z) / w) / w for z in (s, -s, 2 - s, 2 + s, s - 2))


def average_gap(parts: list[tuple[float, float, float]], norm: int) -> float:
    """From (x, density of all rows, density of hits) of places that stand for equal widths."""
    gaps = [m * abs(x - g / m) ** norm for x, m, g in parts if m > 0]
    return math.fsum(gaps) / math.fsum(m for _, m, _ in parts)


def kde_ece(scores: Numbers, hits: Sequence[int], norm: int, n_points: int = 1000) -> float:
    """Zhang 2020, eq. 6, by the midpoint rule; for kernels much wider than 1 / n_points."""
    w = half_width(scores, hits)
    parts = []
    for j in range(n_points):
        x = (j + 0.5) / n_points
        values = [reflected(x, s, w) for s in scores]
        parts.append(
            (x, math.fsum(values), math.fsum(v for v, h in zip(values, hits, strict=True) if h))
        )
    return average_gap(parts, 1) if norm == 1 else math.sqrt(average_gap(parts, 2))


def kde_ece_of_narrow(scores: Numbers, hits: Sequence[int], norm: int) -> float:
    """Zhang 2020, eq. 6, without a mesh: a sum over the pieces on which densities are polynomials.

    A kernel without a width leaves the gap of each score.
    """
    w = half_width(scores, hits)
    if w < 1e-12:
        total = 0.0
        for s in {round(s, 12) for s in scores}:
            here = [h for one, h in zip(scores, hits, strict=True) if round(one, 12) == s]
            total += len(here) * abs(s - sum(here) / len(here)) ** norm
        return math.pow(total / len(scores), 1 / norm)
    images = [
        (z, h) for s, h in zip(scores, hits, strict=True) for z in (s, -s, 2 - s) if -w < z < 1 + w
    ]

    def off(x: float) -> float:
        return math.fsum((x - h) * triweight((x - z) / w) / w for z, h in images)

    def height(x: float) -> float:
        if norm == 1:
            return abs(off(x))
        density = math.fsum(triweight((x - z) / w) / w for z, _ in images)
        return off(x) ** 2 / density if density > 0 else 0.0

    ends = sorted({min(max(z + side, 0.0), 1.0) for z, _ in images for side in (-w, w)})
    total = 0.0
    for first, last in pairwise(ends):
        places = [first + (last - first) * j / 8 for j in range(9)]
        if not any(abs((first + last) / 2 - z) < w for z, _ in images):
            continue
        for a, b in pairwise(places):
            crosses = norm == 1 and off(a) * off(b) < 0
            middle = sign_change(off, a, b) if crosses else (a + b) / 2
            total += gauss(height, a, middle) + gauss(height, middle, b)
    return math.pow(total / len(scores), 1 / norm)


def gauss(f: Callable[[float], float], a: float, b: float) -> float:
    """Integrate by the three points of Gauss."""
    middle, far = (a + b) / 2, (b - a) / 2 * math.sqrt(0.6)
    return (b - a) / 18 * (5 * f(middle - far) + 8 * f(middle) + 5 * f(middle + far))


def shared_out(scores: Numbers, weights: Numbers) -> dict[int, float]:
    """Points of the mesh with what they hold."""
    held: dict[int, float] = {}
    for score, weight in zip(scores, weights, strict=True):
        j = math.floor(score * MESH)
        beyond = score * MESH - j
        for point, share in ((j, 1 - beyond), (j + 1, beyond)):
            if share > 0:
                held[point] = held.get(point, 0.0) + weight * share
    return held


def blurred(held: dict[int, float], w: float) -> list[float]:
    """Move what each point holds to the points within w of it, turning back at 0 and at MESH."""
    reach = math.floor(w * MESH)
    kernel = [triweight(lag / (w * MESH)) for lag in range(reach + 1)] if w > 0 else [1.0]
    total = kernel[0] + 2 * math.fsum(kernel[1:])
    mass = [0.0] * (MESH + 1)
    for point, weight in held.items():
        for lag in range(-reach, reach + 1):
            there = abs(point + lag)
            there = 2 * MESH - there if there > MESH else there
            mass[there] += weight * kernel[abs(lag)] / total
    return mass


def kde_ece_on_mesh(scores: Numbers, hits: Sequence[int]) -> tuple[float, float]:
    """Both norms on the points k / MESH, with rows shared out between the two nearest."""
    w = half_width(scores, hits)
    rows = blurred(shared_out(scores, [1.0] * len(scores)), w)
    hit_rows = blurred(shared_out(scores, [float(h) for h in hits]), w)
    pairs = zip(rows, hit_rows, strict=True)
    parts = [(j / MESH, m, g) for j, (m, g) in enumerate(pairs)]
    return average_gap(parts, 1), math.sqrt(average_gap(parts, 2))


# Smooth ECE -------------------------------------------------------------------------------------


def images(s: float, sigma: float) -> list[float]:
    """The score and its mirror images whose Gaussian reaches [0, 1]."""
    far = math.ceil(5 * sigma) + 1
    results = [2 * k + sign * s for k in range(-far, far + 1) for sign in (1, -1)]
    return [z for z in results if -9 * sigma <= z <= 1 + 9 * sigma]


def sign_change(r: Callable[[float], float], a: float, b: float) -> float:
    for _ in range(40):
        middle = (a + b) / 2
        a, b = (middle, b) if (r(a) > 0) == (r(middle) > 0) else (a, middle)
    return (a + b) / 2


def smoothed_gap(scores: Numbers, hits: Sequence[int], sigma: float) -> float:
    """smECE_sigma: the blurred residual's integral in closed form between its changes of sign."""
    sources = [
        ((h - s) / len(scores), z)
        for s, h in zip(scores, hits, strict=True)
        for z in images(s, sigma)
    ]
    scale = sigma * math.sqrt(2)

    def r(x: float) -> float:
        return math.fsum(c * math.exp(-(((x - z) / scale) ** 2)) for c, z in sources)

    def integral(x: float) -> float:
        return math.fsum(c * math.erf((x - z) / scale) / 2 for c, z in sources)

    n_pieces = max(50, math.ceil(4 / sigma))
    ends = [0.0]
    for j in range(n_pieces):
        a, b = j / n_pieces, (j + 1) / n_pieces
        if r(a) * r(b) < 0:
            ends.append(sign_change(r, a, b))
        ends.append(b)
    return math.fsum(abs(integral(b) - integral(a)) for a, b in pairwise(ends))


def smooth_ece(scores: Numbers, hits: Sequence[int]) -> float:
    """For errors above 0.02."""
    low, high = 0.02, 1.0
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if smoothed_gap(scores, hits, middle) > middle else (low, middle)
    return (low + high) / 2
