from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
import scipy.interpolate
from numpy.testing import assert_allclose

from calibcore.splines import CubicSpline, fit_spline
from tests import reference

Runout = Literal["natural", "parabolic", "cubic"]
FEWEST_KNOTS: dict[Runout, int] = {"natural": 2, "parabolic": 3, "cubic": 4}
EVERY_KIND = [
    (runout, n_knots)
    for runout, fewest in FEWEST_KNOTS.items()
    for n_knots in (2, 3, 4, 5, 6, 9, 13, 14)
    if n_knots >= fewest
]
every_kind = pytest.mark.parametrize(("runout", "n_knots"), EVERY_KIND)


def knots(n_knots: int) -> list[float]:
    return [k / (n_knots - 1) for k in range(n_knots)]


@every_kind
def test_value_and_derivative_agree_with_exact_fractions(
    runout: Runout, n_knots: int, rng: np.random.Generator
) -> None:
    for _ in range(5):
        values = rng.normal(size=n_knots)
        x = [*knots(n_knots), *rng.random(20).tolist()]
        spline = CubicSpline(values, runout=runout)
        numbers = values.tolist()
        expected = [reference.spline(numbers, runout, xi) for xi in x]
        slopes = [reference.spline(numbers, runout, xi, derivative=True) for xi in x]
        assert_allclose(spline(np.array(x)), expected, rtol=1e-12, atol=1e-12)
        assert_allclose(spline.derivative(np.array(x)), slopes, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("n_knots", [4, 5, 6, 13])
@pytest.mark.parametrize(("runout", "ends"), [("natural", "natural"), ("cubic", "not-a-knot")])
def test_scipy_draws_the_same_spline(
    runout: Runout, ends: Literal["natural", "not-a-knot"], n_knots: int, rng: np.random.Generator
) -> None:
    values, x = rng.normal(size=n_knots), np.linspace(0, 1, 201)
    theirs = scipy.interpolate.CubicSpline(knots(n_knots), values, bc_type=ends)
    ours = CubicSpline(values, runout=runout)
    assert_allclose(ours(x), theirs(x), atol=1e-12)
    assert_allclose(ours.derivative(x), theirs(x, 1), atol=1e-11)


@pytest.mark.parametrize("n_knots", [4, 6, 9])
def test_parabolic_keeps_parabolas_and_cubic_keeps_cubics(n_knots: int) -> None:
    k, x = np.array(knots(n_knots)), np.linspace(0, 1, 31)
    parabola = CubicSpline(k**2 - k, runout="parabolic")
    assert_allclose(parabola(x), x**2 - x, atol=1e-13)
    assert_allclose(parabola.derivative(x), 2 * x - 1, atol=1e-12)
    cubic = CubicSpline(k**3 - k, runout="cubic")
    assert_allclose(cubic(x), x**3 - x, atol=1e-13)
    assert_allclose(cubic.derivative(x), 3 * x**2 - 1, atol=1e-12)


@every_kind
def test_a_fit_is_the_exact_least_squares(
    runout: Runout, n_knots: int, rng: np.random.Generator
) -> None:
    for n_points in (n_knots + 1, 3 * n_knots, 40):
        x = [Fraction(i, n_points) for i in range(n_points + 1)]
        y = rng.normal(size=n_points + 1)
        exact = reference.fit_spline(x, [Fraction(v) for v in y.tolist()], n_knots, runout)
        places = np.arange(n_points + 1) / n_points
        result = fit_spline(places, y, n_knots=n_knots, runout=runout)
        assert result.runout == runout
        assert_allclose(result.values, [float(v) for v in exact], rtol=1e-11, atol=1e-11)


def test_default_is_six_natural_knots() -> None:
    result = fit_spline(np.linspace(0, 1, 20), np.zeros(20))
    assert (len(result.values), result.runout) == (6, "natural")


@every_kind
def test_the_order_of_the_points_does_not_matter(runout: Runout, n_knots: int) -> None:
    rng = np.random.default_rng(n_knots)
    x, y = np.sort(rng.random(20_000)), rng.random(20_000)  # more than one block of rows
    mixed = rng.permutation(x.size)
    result = fit_spline(x[mixed], y[mixed], n_knots=n_knots, runout=runout)
    expected = fit_spline(x, y, n_knots=n_knots, runout=runout)
    assert_allclose(result.values, expected.values, rtol=1e-12)
