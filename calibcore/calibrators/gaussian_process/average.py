"""Class probabilities averaged over a Gaussian posterior of the latent values.

Tables here have classes first, so that sums over classes run along memory.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from calibcore.probabilities import LOG2_E
from calibcore.validation import Floats

N_POINTS = (128, 512, 1024)
"""Points for rows that are a little unsure, unsure, and unsure between many classes."""

SETTLED, UNSURE, BETWEEN_MANY = 0.03, 100.0, 0.03
"""Where a row goes from one rule to the next: see `average_softmax`."""

TURNS = 4
"""Directions of a row that come first."""

GENERATOR = 117
"""Its powers make one of the evenest lattices in few dimensions."""

_PASS, _CELLS = 64, 1 << 16
"""Points at a time, and cells for them."""

_LOWEST_POWER = -1000.0
"""Lower powers of 2 take several times as long."""


def average_softmax(mean: Floats, directions: Floats) -> Floats:
    """Average softmax(mean + e @ directions) over standard Gaussian e.

    ``mean``: latent means; minus infinity rules a class out; shape (n_classes, n_rows).
    ``directions``: what each coordinate of e adds to the latent values; overwritten; shape
    (n_directions, n_classes, n_rows).

    Notes
    -----
    Softmax sees only differences: with v the variance of a class's difference from the one on top,
    and w about the probability that it is above that one (by MacKay's approximation), a row is
    unsure by the largest w v^2. Rows up to `SETTLED` have a closed form, `_of_settled`.

    For the others softmax is a step along most lines, and `points` are averaged. Each row's
    coordinates are first turned by reflections: the first one then carries the whole difference of
    the class that matters most, w v / (1 + v), the second one the rest of the class that then
    matters most, and so on, as the points are evenest in their first coordinates. Where classes
    that matter by more than `BETWEEN_MANY` are left after `TURNS` reflections, there are most
    points.

    Measured against at least 32,768 points of a Sobol sequence, 5,900 rows of 111 fits were off by
    0.02 at most, those of the closed form by 0.002.
    """
    rows = np.arange(mean.shape[1])
    top = mean.argmax(axis=0)
    mean = mean - mean[top, rows]
    directions -= directions[:, top, rows][:, np.newaxis]
    variance = np.einsum("mkr,mkr->kr", directions, directions)
    rivalry = _rivalry(mean, variance)
    doubt = (rivalry * variance * variance).max(axis=0)
    unsure = doubt > SETTLED
    result = _of_settled(mean, variance, directions)
    if not unsure.any():
        return result
    turned = directions[:, :, unsure]
    left = _turn(turned, rivalry[:, unsure] / (1 + variance[:, unsure]))
    level = np.where(left > BETWEEN_MANY, 2, 1)
    level[doubt[unsure] <= UNSURE] = 0
    result[:, unsure] = _of_unsure(mean[:, unsure], turned, level)
    return result


def _rivalry(mean: Floats, variance: Floats) -> Floats:
    """Return about the probability that a class is above the one on top, 1/2 for that itself."""
    margin = mean / np.sqrt(1 + (math.pi / 8) * variance)
    return np.asarray(1 / (1 + np.exp(np.minimum(-margin, 700.0))))


def _of_settled(mean: Floats, variance: Floats, directions: Floats) -> Floats:
    """Return softmax(mean + s / 2), s the variance of what a class has above the row's average.

    This is right to the second order in the directions, and for a class far below the others,
    where softmax is exponential. One so uncertain that it would end on top is held to
    exp(-mean^2 / (2 v)), about its probability of being there.
    """
    p = np.exp(mean)
    p /= p.sum(axis=0)
    centre = np.einsum("kr,mkr->mr", p, directions)
    half = 0.5 * (variance + np.einsum("mr,mr->r", centre, centre))
    half -= np.einsum("mr,mkr->kr", centre, directions)
    far = variance > 1
    if far.any():
        v, beyond = variance[far], np.maximum(mean[far] + variance[far], 0)
        half[far] -= beyond * beyond / (2 * v)
    half += mean
    half -= half.max(axis=0)
    np.exp(half, out=half)
    half /= half.sum(axis=0)
    return np.asarray(half)


def _turn(directions: Floats, importance: Floats) -> Floats:
    """Turn each row's coordinates so that the first ones tell the important classes apart.

    Gives how much the most important class is left to the other coordinates.
    """
    n_directions, n_classes, n_rows = directions.shape
    rows = np.arange(n_rows)
    turns = min(TURNS, n_directions - 1, n_classes - 1)
    for turn in range(turns):
        rest = directions[turn:]
        left = np.einsum("mkr,mkr->kr", rest, rest)
        chosen = (importance * left).argmax(axis=0)
        mirror = rest[:, chosen, rows]
        mirror[0] += np.copysign(np.sqrt(left[chosen, rows]), mirror[0])
        size = np.einsum("mr,mr->r", mirror, mirror)
        along = np.einsum("mr,mkr->kr", mirror, rest)
        along *= 2 / np.where(size > 0, size, 1.0)
        rest -= mirror[:, np.newaxis] * along
    if turns < TURNS:
        return np.zeros(n_rows)
    rest = directions[turns:]
    return np.asarray((importance * np.einsum("mkr,mkr->kr", rest, rest)).max(axis=0))


def _of_unsure(mean: Floats, directions: Floats, level: NDArray[np.intp]) -> Floats:
    """Average over as many points as each row's level asks for."""
    result = np.zeros(mean.shape)
    rows_a_time = max(1, _CELLS // (_PASS * len(mean)))
    for at, wanted in enumerate(N_POINTS):
        chosen = np.flatnonzero(level == at)
        for start in range(0, len(chosen), rows_a_time):
            rows = chosen[start : start + rows_a_time]
            part = points(max(wanted, fewest(len(directions))), len(directions))
            result[:, rows] = _over(part, mean[:, rows], directions[:, :, rows])
    result[np.isneginf(mean)] = 0.0
    result /= result.sum(axis=0)
    return result


def _over(all_points: Floats, mean: Floats, directions: Floats) -> Floats:
    """Sum softmax over points."""
    n_classes, n_rows = mean.shape
    cells = LOG2_E * directions.reshape(len(directions), -1).T
    centre = LOG2_E * mean.reshape(-1, 1)
    total = np.zeros(mean.shape)
    for first in range(0, len(all_points), _PASS):
        table = cells @ all_points[first : first + _PASS].T
        table += centre
        table = table.reshape(n_classes, n_rows, _PASS)
        table -= table.max(axis=0)
        np.maximum(table, _LOWEST_POWER, out=table)
        np.exp2(table, out=table)
        total += np.einsum("krp,rp->kr", table, 1 / table.sum(axis=0))
    return total


def fewest(n_directions: int) -> int:
    """Return the least power of 2 whose `points` have directions enough."""
    return 1 << (4 * n_directions - 1).bit_length()


@cache
def points(n_points: int, n_directions: int) -> Floats:
    """Return even points of a standard Gaussian, shape (n_points, n_directions).

    ``n_points``: a power of 2, at least 4 a direction. ``n_directions``: coordinates of each.

    Symmetric around 0, and the identity is their covariance; shape (n_points, n_directions).

    Notes
    -----
    They are a lattice of Korobov: coordinate j of point i is the quantile of the normal
    distribution at (i - (n_points - 1) / 2) a^j / n_points modulo 1, so every coordinate has all
    evenly spaced quantiles. A triangular matrix then makes the covariance exact.
    """
    from scipy.special import ndtri  # noqa: PLC0415 - a tenth of a second to import

    steps = np.array([pow(GENERATOR, power, n_points) for power in range(n_directions)])
    times = np.arange(n_points) - (n_points - 1) / 2
    gauss = ndtri(np.outer(times, steps) / n_points % 1)
    factor = np.linalg.cholesky(gauss.T @ gauss / n_points)
    result = np.asarray(gauss @ np.linalg.inv(factor).T, dtype=np.float64)
    result.flags.writeable = False
    return result
