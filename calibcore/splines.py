"""Cubic splines with few, evenly spaced knots, fitted to many points by least squares."""

from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.results import result_class
from calibcore.strips import row_strips
from calibcore.validation import Floats

Runout = Literal["natural", "parabolic", "cubic"]

LEAST_KNOTS = {"natural": 2, "parabolic": 3, "cubic": 4}
"""Fewest knots that determine a spline of each run-out; the keys are the run-outs there are."""

SLOPE_WITHIN = 1e-9
"""How far a slope that is held between bounds may leave them."""


def curvature_matrix(n_knots: int, runout: Runout) -> Floats:
    """Return the linear map from values at the knots to second derivatives there.

    ``n_knots``: evenly spaced on [0, 1]. ``runout``: what the second derivative M does at the ends.
    Natural (linear): 0. Parabolic: constant over the outermost intervals. Cubic: linear across the
    outermost inner knots, M_0 = 2 M_1 - M_2.

    Source: Gupta et al., ICLR 2021, appendix C; McKinley and Levine, *Cubic spline interpolation*,
    1998.
    """
    if n_knots == 2:
        return np.zeros((2, 2))
    inner = n_knots - 2
    system = 4 * np.eye(inner) + np.eye(inner, k=1) + np.eye(inner, k=-1)
    differences = np.eye(inner, n_knots) - 2 * np.eye(inner, n_knots, 1) + np.eye(inner, n_knots, 2)
    # The end values are linear in their inner neighbours; putting them into the first and the
    # last equation leaves a system for the inner ones.
    first_end = {"natural": [], "parabolic": [1.0], "cubic": [2.0, -1.0]}[runout]
    end = np.zeros(inner)
    end[: len(first_end)] = first_end
    system[0] += end
    system[-1] += end[::-1]
    second = np.linalg.solve(system, 6 * (n_knots - 1) ** 2 * differences)
    return np.vstack([end @ second, second, end[::-1] @ second])


@result_class
class CubicSpline:
    """A cubic spline on [0, 1], given by its values at evenly spaced knots."""

    values: Floats
    """At knots k / (n_knots - 1); shape (n_knots,)."""
    runout: Runout = "natural"
    """Behaviour at the ends; see `curvature_matrix`."""

    def __post_init__(self) -> None:
        """Check the run-out and the number of knots."""
        validation.choice(self.runout, "runout", allowed=tuple(LEAST_KNOTS))
        values = np.asarray(self.values, dtype=np.float64)
        check_knots(values.size, self.runout)
        object.__setattr__(self, "values", values)

    @property
    def knots(self) -> Floats:
        """Places of the knots, shape (n_knots,)."""
        return np.linspace(0, 1, self.values.size)

    @cached_property
    def _second(self) -> Floats:
        return curvature_matrix(self.values.size, self.runout) @ self.values

    def __call__(self, x: ArrayLike) -> Floats:
        """Read the spline at ``x``; outside [0, 1] the end pieces go on."""
        j, u, h = _place(x, self.values.size)
        y, m = self.values, self._second
        slope = np.diff(y) / h - h / 6 * (2 * m[:-1] + m[1:])
        bend = np.diff(m) / (6 * h)
        return np.asarray(y[j] + u * (slope[j] + u * (m[j] / 2 + u * bend[j])))

    def derivative(self, x: ArrayLike) -> Floats:
        """Read the first derivative at ``x``."""
        j, u, h = _place(x, self.values.size)
        y, m = self.values, self._second
        slope = np.diff(y) / h - h / 6 * (2 * m[:-1] + m[1:])
        return np.asarray(slope[j] + u * (m[j] + u * (np.diff(m) / (2 * h))[j]))


def _place(x: ArrayLike, n_knots: int) -> tuple[np.ndarray, Floats, float]:
    """Find the interval of each x, the distance from its left knot, and the spacing."""
    points = np.asarray(x, dtype=np.float64)
    h = 1 / (n_knots - 1)
    j = np.clip(np.floor(points * (n_knots - 1)).astype(np.intp), 0, n_knots - 2)
    return j, points - j * h, h


def check_knots(n_knots: int, runout: Runout) -> int:
    """Raise if there are fewer knots than the run-out needs."""
    least = LEAST_KNOTS[validation.choice(runout, "runout", allowed=tuple(LEAST_KNOTS))]
    return validation.whole_number(n_knots, "n_knots", least=least, most=1000)


def _basis_derivative(x: Floats, n_knots: int, second: Floats) -> Floats:
    j, u, h = _place(x, n_knots)
    rows = np.zeros((x.size, n_knots))
    places = np.arange(x.size)
    rows[places, j] = -1 / h
    rows[places, j + 1] = 1 / h
    left = u - u * u / (2 * h) - h / 3
    right = u * u / (2 * h) - h / 6
    rows += left[:, np.newaxis] * second[j] + right[:, np.newaxis] * second[j + 1]
    return rows


def _pieces(n_knots: int, second: Floats) -> Floats:
    """Return the cubic basis coefficients per knot and interval.

    Factors of the powers 0 to 3 of the place in the interval, from 0 to 1; shape (n_knots - 1, 4,
    n_knots).
    """
    values, bends = np.eye(n_knots), second / (n_knots - 1) ** 2
    constant, rise = values[:-1], np.diff(values, axis=0)
    left, right = bends[:-1], bends[1:]
    linear = rise - left / 3 - right / 6
    return np.stack([constant, linear, left / 2, (right - left) / 6], axis=1)


def _normal_equations(
    x: Floats, y: Floats, n_knots: int, second: Floats, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Add up A'A and A'y, A holding a row a point: what each knot value contributes there.

    In each interval the entries of A are cubics, so sums of powers are all that is needed. They
    are taken block by block, so that memory does not grow with the points, which are in order.
    """
    powers, with_y = np.zeros((7, n_knots - 1)), np.zeros((4, n_knots - 1))
    for rows in row_strips(x.size, 8):
        j, u, h = _place(x[rows], n_knots)
        starts = np.flatnonzero(np.diff(j, prepend=-1))
        place, power = u / h, np.ones(j.size) if weights is None else weights[rows].copy()
        for degree in range(7):
            powers[degree, j[starts]] += np.add.reduceat(power, starts)
            if degree < 4:
                with_y[degree, j[starts]] += np.add.reduceat(power * y[rows], starts)
            power *= place
    pieces = _pieces(n_knots, second)
    squares = powers[np.add.outer(np.arange(4), np.arange(4))].transpose(2, 0, 1)
    gram = np.tensordot(pieces, squares @ pieces, axes=([0, 1], [0, 1]))
    return gram, np.einsum("jap,aj->p", pieces, with_y)


def _checked_points(x: ArrayLike, y: ArrayLike, n_knots: int) -> tuple[Floats, Floats]:
    points, heights = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if points.ndim != 1 or points.shape != heights.shape:
        raise CalibrationInputError(
            "y", f"an array of shape {heights.shape}", f"the shape of x, {points.shape}"
        )
    if points.size < n_knots:
        raise CalibrationInputError(
            "n_knots", f"{n_knots} knots for {points.size} points", "at least as many points"
        )
    return points, heights


def fit_spline(
    x: ArrayLike,
    y: ArrayLike,
    *,
    n_knots: int = 6,
    runout: Runout = "natural",
    weights: Floats | None = None,
) -> CubicSpline:
    """Fit a spline to points by least squares.

    ``x``, ``y``: points; ``x`` in [0, 1], at least ``n_knots`` of them; shape (n_points,).
    ``n_knots``: evenly spaced on [0, 1]. ``runout``: see `curvature_matrix`. ``weights``: of the
    squares, of points in order; shape (n_points,).

    Where the points leave the knot values undetermined, the smallest values are taken. Raises
    `CalibrationInputError` for too few points or knots, and arrays that do not fit.

    Source: Gupta et al., ICLR 2021, section 4.1 and appendix C.

    >>> line = fit_spline([0.0, 0.5, 1.0], [0.0, 1.0, 2.0], n_knots=3)
    >>> line.derivative([0.1, 0.9]).round(12).tolist()
    [2.0, 2.0]
    """
    check_knots(n_knots, runout)
    points, heights = _checked_points(x, y, n_knots)
    if np.any(points[1:] < points[:-1]):
        order = np.argsort(points)
        points, heights = points[order], heights[order]
    second = curvature_matrix(n_knots, runout)
    gram, moment = _normal_equations(points, heights, n_knots, second, weights)
    knot_values = np.asarray(np.linalg.lstsq(gram, moment)[0], dtype=np.float64)
    return CubicSpline(knot_values, runout)


def fit_bounded_slope(
    x: Floats,
    y: Floats,
    *,
    at: Floats,
    bounds: tuple[Floats, Floats],
    start: CubicSpline,
    weights: Floats | None = None,
) -> CubicSpline:
    """Fit by least squares with the slope held between bounds.

    ``x``, ``y``: points to fit, ``x`` ascending; shape (n_points,). ``at``: where the slope is
    bounded, ascending; shape (n_bounds,). ``bounds``: lowest and highest slope at each place; some
    spline must keep them; shape (n_bounds,). ``start``: the fit without bounds, whose knots and
    run-out are kept. ``weights``: as in `fit_spline`.

    Its slope is within the bounds to `SLOPE_WITHIN`.

    A convex quadratic programme. Bounds are added where the last solution breaks them most, one an
    interval and side, until none is broken; each small programme is a least-distance problem
    solved through non-negative least squares (Lawson and Hanson 1974, chapter 23).
    """
    n_knots, runout = start.values.size, start.runout
    second = curvature_matrix(n_knots, runout)
    gram, moment = _normal_equations(x, y, n_knots, second, weights)
    factor = np.asarray(np.linalg.cholesky(gram).T, dtype=np.float64)
    free = np.asarray(np.linalg.solve(factor.T, moment), dtype=np.float64)
    starts = np.flatnonzero(np.diff(_place(at, n_knots)[0], prepend=-1))
    lower, upper = bounds
    active: list[tuple[int, int]] = []
    spline = start
    while True:
        slope = spline.derivative(at)
        broken = [
            (side, place)
            for side, excess in ((1, lower - slope), (-1, slope - upper))
            for place in _worst_places(excess, starts)
            if excess[place] > SLOPE_WITHIN and (side, place) not in active
        ]
        if not broken:
            return spline
        active += broken
        sides, places = np.array(active).T
        rows = _basis_derivative(at[places], n_knots, second) * sides[:, np.newaxis]
        limits = np.where(sides > 0, lower[places], -upper[places])
        spline = CubicSpline(_least_distance(factor, free, rows, limits), runout)


def _worst_places(excess: Floats, starts: np.ndarray) -> list[int]:
    """Return, of each interval of points, the place of the largest excess."""
    ends = [*starts[1:], excess.size]
    return [int(a + np.argmax(excess[a:b])) for a, b in zip(starts, ends, strict=True)]


def _least_distance(factor: Floats, free: Floats, rows: Floats, limits: Floats) -> Floats:
    """Minimise |factor v - free| subject to rows v >= limits."""
    from scipy.optimize import nnls  # noqa: PLC0415 - half a second to import, rarely needed

    # With w = factor v - free: the shortest w subject to G w >= g.
    g_rows = np.linalg.solve(factor.T, rows.T).T
    stacked = np.vstack([g_rows.T, limits - g_rows @ free])
    target = np.zeros(stacked.shape[0])
    target[-1] = 1.0
    dual, _ = nnls(stacked, target)
    residual = stacked @ dual - target
    return np.asarray(np.linalg.solve(factor, free - residual[:-1] / residual[-1]))
