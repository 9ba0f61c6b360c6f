"""Where the four graphs of a calibrated model lie: loops, tables, all label sets, simulations."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from calibcore.cumulative import CumulativeCurves, cumulative_curves
from calibcore.errors import CalibrationInputError
from calibcore.reliability import null_band, spline_frequency, spline_null_band
from tests import reference_reliability as slow
from tests.strategies import EventCase, event_data


@given(event_data())
def test_the_null_band_agrees_with_the_loops(case: EventCase) -> None:
    curves = cumulative_curves(*case)
    band = null_band(curves)
    expected = slow.gap_deviations(case.scores.tolist())
    assert_allclose(band.pointwise[1:], 1.959963984540054 * np.array(expected), atol=1e-12)
    assert band.pointwise[0] == 0
    assert band.simultaneous == pytest.approx(curves.ks_null_95, abs=1e-12)
    assert np.all(band.lower <= band.cum_score + 1e-12)
    assert np.all(band.cum_score <= band.upper + 1e-12)
    assert np.all((band.lower >= 0) & (band.upper <= band.fractile))


@pytest.mark.parametrize(
    ("level", "bound"),
    # Erdos and Kac 1946; as tabled for the largest distance of Brownian motion from 0
    [(0.9, 1.9600), (0.95, 2.2414), (0.99, 2.8070)],
)
def test_the_simultaneous_bound_is_the_tabled_one(level: float, bound: float) -> None:
    curves = cumulative_curves([0.5] * 40, [0, 1, 0, 1] * 10)
    width = null_band(curves, level=level).simultaneous
    assert width / curves.null_deviation == pytest.approx(bound, abs=5e-5)


def test_the_band_is_no_wider_than_the_curve_can_stray() -> None:
    for score in (0.3, 0.7):
        curves = cumulative_curves([score], [1])
        assert null_band(curves, level=0.999).simultaneous == curves.largest_gap == 0.7
        hit, miss = (cumulative_curves([score], [happened]).ks_error for happened in (1, 0))
        assert max(hit, miss) == pytest.approx(curves.largest_gap)


def test_where_misses_are_rare_the_band_is_left_where_the_p_value_is_small() -> None:
    rng = np.random.default_rng(4)
    sides = set()
    for expected in np.linspace(0.05, 4, 20):
        scores = 1 - expected / 200 * rng.uniform(0.5, 1.5, 200)
        for n_missed in range(int(expected), int(expected) + 6):
            curves = cumulative_curves(scores, np.arange(200) >= n_missed)
            for level in (0.8, 0.95, 0.99):
                outside = curves.ks_error > null_band(curves, level=level).simultaneous
                assert outside == (curves.ks_p_value < 1 - level), (expected, n_missed, level)
                sides.add((curves.is_rare, outside))
    assert len(sides) == 4


@pytest.mark.parametrize("power", [1.0, 0.2])
def test_fresh_label_sets_leave_the_null_band_in_5_percent(power: float) -> None:
    rng = np.random.default_rng(12)
    scores = np.sort(rng.random(1500) ** power)
    band = null_band(cumulative_curves(scores, np.zeros(1500)))
    gaps = np.cumsum(scores - (rng.random((4000, 1500)) < scores), axis=1) / 1500
    assert 0.04 <= (np.abs(gaps).max(axis=1) > band.simultaneous).mean() <= 0.06
    assert 0.94 <= (np.abs(gaps) <= band.pointwise[1:]).mean() <= 0.96
    hits = band.cum_score[1:] - gaps
    left = ((hits < band.lower[1:] - 1e-12) | (hits > band.upper[1:] + 1e-12)).any(axis=1)
    assert np.array_equal(left, np.abs(gaps).max(axis=1) > band.simultaneous)


@pytest.mark.parametrize("fit_to", ["difference", "hits"])
@pytest.mark.parametrize(
    ("scores", "n_knots", "runout"),
    [
        ([0.2, 0.4, 0.6, 0.8], 2, "natural"),
        ([0.1, 0.4, 0.4, 0.4, 0.7, 0.7, 0.9, 1.0], 4, "cubic"),
        ([0.3] * 5, 3, "parabolic"),
    ],
)
def test_mean_and_deviation_of_the_spline_are_those_of_all_label_sets(
    scores: list[float], n_knots: int, runout: Any, fit_to: Any
) -> None:
    options = {"n_knots": n_knots, "runout": runout, "fit_to": fit_to}
    chances, slopes = [], []
    for hits in product((0, 1), repeat=len(scores)):
        chances.append(np.prod([s if hit else 1 - s for s, hit in zip(scores, hits, strict=True)]))
        slopes.append(spline_frequency(scores, hits, **options).slope)
    mean = np.average(slopes, axis=0, weights=chances)
    variance = np.average((slopes - mean) ** 2, axis=0, weights=chances)
    band = spline_null_band(cumulative_curves(scores, [0] * len(scores)), **options)
    assert_allclose(band.expected, mean, rtol=0, atol=1e-12)
    assert_allclose(band.deviation, np.sqrt(variance), rtol=0, atol=1e-12)
    if fit_to == "difference":
        assert np.array_equal(band.expected, band.score)


def test_the_spline_band_holds_95_percent_of_fresh_estimates(rng: np.random.Generator) -> None:
    scores = np.sort(np.round(rng.random(600) ** 0.5, 3))
    curves = cumulative_curves(scores, np.zeros(600))
    band = spline_null_band(curves)
    assert np.array_equal(band.score, curves.score[1:])
    shares = []
    for _ in range(300):
        fresh = spline_frequency(scores, rng.random(600) < scores)
        assert np.array_equal(fresh.score, band.score)
        shares.append((band.lower <= fresh.frequency) & (fresh.frequency <= band.upper))
    assert 0.94 <= np.mean(shares) <= 0.965


def test_the_spline_band_is_the_same_in_pieces(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = np.round(rng.random(500), 2)
    curves = cumulative_curves(scores, np.zeros(500))
    whole = spline_null_band(curves, fit_to="hits")
    monkeypatch.setattr("calibcore.reliability.bands._ROWS_AT_ONCE", 7)
    pieces = spline_null_band(curves, fit_to="hits")
    assert_allclose(pieces.expected, whole.expected, rtol=0, atol=1e-12)
    assert_allclose(pieces.deviation, whole.deviation, rtol=0, atol=1e-12)


def test_null_bands_do_not_look_at_the_hits(rng: np.random.Generator) -> None:
    scores = np.round(rng.random(50), 1)
    for band in (null_band, spline_null_band):
        calm = vars(band(cumulative_curves(scores, np.zeros(50))))
        other = vars(band(cumulative_curves(scores, np.ones(50))))
        assert all(np.array_equal(calm[name], other[name]) for name in calm)


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda curves: null_band(curves, level=2.0), "level"),
        (spline_null_band, "scores"),
        (lambda curves: spline_null_band(curves, n_knots=1), "n_knots"),
        (lambda curves: spline_null_band(curves, level=0.0), "level"),
        (lambda curves: spline_null_band(curves, fit_to="x"), "fit_to"),  # type: ignore[arg-type]
    ],
)
def test_refusals_name_the_field(call: Callable[[CumulativeCurves], object], field: str) -> None:
    with pytest.raises(CalibrationInputError) as refused:
        call(cumulative_curves([0.25, 0.75], [0, 1]))
    assert refused.value.field == field
