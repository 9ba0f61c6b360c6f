"""Sweeps over the temperature and over the knots: each value is that of a fit made by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore import metrics
from calibcore.calibrators import FittedTemperature, SplineCalibration, TemperatureScaling
from calibcore.cumulative import ks_error
from calibcore.curves import knot_sweep, temperature_sweep
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR, WithinTopR
from tests import reference
from tests.core.draws import overconfident, squared
from tests.strategies import LogitCase, logit_sets

GRID = (0.05, 0.4, 1.0, 1.7, 30.0)


def draw_set(seed: int, n_rows: int = 300, n_classes: int = 4) -> LogitSet:
    return overconfident(np.random.default_rng(seed), n_rows, n_classes, spread=5, by=3)


# Temperature ----------------------------------------------------------------------------------


def test_the_sweep_is_softmax_by_hand_at_every_temperature() -> None:
    rows = draw_set(1, n_rows=80)
    swept = temperature_sweep(rows, TopR(1), GRID, n_bins=7)
    labels = rows.labels.tolist()
    assert swept.temperatures.tolist() == list(GRID)
    assert swept.n_bins == 7
    for place, temperature in enumerate(GRID):
        scaled = [[z / temperature for z in row] for row in rows.logits.tolist()]
        table = reference.softmax(scaled)
        scores, hits = reference.top_r(table, labels, 1)
        entropy = -math.fsum(p * math.log(p) for row in table for p in row if p) / len(table)
        assert_allclose(swept.nll[place], reference.nll(table, labels), rtol=1e-10)
        assert_allclose(swept.entropy[place], entropy, rtol=1e-9, atol=1e-13)
        expected = reference.ece(scores, hits, 7, "equal_width")
        assert_allclose(swept.ece[place], expected, rtol=1e-9, atol=1e-13)
        assert_allclose(swept.ks_error[place], reference.ks_error(scores, hits), atol=1e-12)


@pytest.mark.parametrize("event", [TopR(2), WithinTopR(2), OneClass(3)])
def test_the_sweep_agrees_with_temperature_scaling(event: TopR | WithinTopR | OneClass) -> None:
    rows = draw_set(2, n_rows=30_000)  # many blocks of rows
    swept = temperature_sweep(rows, event, [0.7, 2.3])
    for place, temperature in enumerate((0.7, 2.3)):
        table = FittedTemperature(temperature).predict_proba(rows.logits)
        result = event.outcomes(table, rows.labels)
        assert_allclose(swept.nll[place], metrics.nll(table, rows.labels), rtol=1e-10)
        assert_allclose(swept.ece[place], metrics.ece(result.scores, result.hits), rtol=1e-8)
        assert_allclose(swept.ks_error[place], ks_error(result.scores, result.hits), rtol=1e-8)


@given(case=logit_sets(), temperature=st.sampled_from([0.001, 0.1, 1.0, 7.0, 1000.0]))
def test_nll_and_entropy_hold_for_any_logits(case: LogitCase, temperature: float) -> None:
    rows = LogitSet(*case)
    swept = temperature_sweep(rows, TopR(1), [temperature])
    table = FittedTemperature(temperature).predict_proba(rows.logits)
    terms = np.where(table > 0, table * np.log(np.where(table > 0, table, 1)), 0.0)
    assert_allclose(swept.nll[0], metrics.nll(table, rows.labels), rtol=1e-9, atol=1e-12)
    assert_allclose(swept.entropy[0], -terms.sum(axis=1).mean(), rtol=1e-9, atol=1e-12)
    assert -1e-12 <= swept.entropy[0] <= math.log(rows.n_classes) + 1e-12


def test_the_fitted_temperature_is_where_nll_is_least_and_entropy_rises() -> None:
    rows = draw_set(3, n_rows=2_000)
    fitted = TemperatureScaling().fit(rows.logits, rows.labels).temperature
    around = fitted * np.array([0.5, 0.8, 0.99, 1.0, 1.01, 1.25, 2.0])
    swept = temperature_sweep(rows, TopR(1), around)
    assert swept.most_likely == around[3]
    assert (np.diff(swept.entropy) > 0).all()


def test_a_sweep_says_how_far_it_is_and_can_be_stopped() -> None:
    told: list[float] = []
    temperature_sweep(draw_set(4, 20), TopR(1), GRID, progress=told.append)
    assert told == [0.0, 0.2, 0.4, 0.6, 0.8]

    def stop(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        temperature_sweep(draw_set(4, 20), TopR(1), GRID, progress=stop)


@pytest.mark.parametrize(
    ("temperatures", "wanted"),
    [
        ([0.0], "from 0.001 to 1,000"),
        ([], "from 0.001 to 1,000"),
        ([float("nan")], "from 0.001 to 1,000"),
        ([2.0, 1.0], "ascending"),
        ([1.0, 1.0], "ascending"),
    ],
)
def test_temperatures_that_make_no_sense_are_refused(
    temperatures: list[float], wanted: str
) -> None:
    with pytest.raises(CalibrationInputError, match=f"temperatures: .*{wanted}"):
        temperature_sweep(draw_set(5, 10), TopR(1), temperatures)


# Knots ----------------------------------------------------------------------------------------


def test_each_number_of_knots_is_a_fit_of_its_own() -> None:
    calibration, test = squared(60, 1), squared(40, 2)
    spline = SplineCalibration(
        runout="parabolic", fit_to="hits", constrained=False, cross_validated=True
    )
    swept = knot_sweep(calibration, test, spline, range(3, 9))
    assert swept.n_knots.tolist() == [3, 4, 5, 6, 7, 8]
    scores, hits = calibration.scores.tolist(), calibration.hits.tolist()
    for place, n_knots in enumerate(swept.n_knots.tolist()):
        pairs = reference.spline_map(scores, hits, n_knots, "parabolic", "hits")
        for rows, ks, nll in (
            (calibration, swept.calibration_ks, swept.calibration_nll),
            (test, swept.test_ks, swept.test_nll),
        ):
            after = [reference.read_map(pairs, score) for score in rows.scores.tolist()]
            result = rows.hits.tolist()
            assert_allclose(ks[place], reference.ks_error(after, result), atol=1e-8)
            if 0 < min(after) <= max(after) < 1:
                assert_allclose(nll[place], reference.event_nll(after, result), rtol=1e-6)


def test_only_knots_that_the_rows_allow_are_tried() -> None:
    few = squared(8, 3)
    swept = knot_sweep(few, few, SplineCalibration(), range(3, 31))
    assert swept.n_knots.tolist() == [3, 4, 5, 6, 7, 8]
    assert swept.n_knots[swept.place(6)] == 6
    assert swept.n_knots[swept.place(30)] == 8
    with pytest.raises(CalibrationInputError, match=r"rows: 2\. .*at least 3"):
        knot_sweep(squared(2, 4), few, SplineCalibration(), range(3, 31))


def test_a_knot_sweep_says_how_far_it_is() -> None:
    told: list[float] = []
    rows = squared(30, 5)
    knot_sweep(rows, rows, SplineCalibration(), [4, 5], progress=told.append)
    assert told == [0.0, 0.5]


def test_words_are_no_temperatures_and_no_knots_are_nothing_to_try() -> None:
    with pytest.raises(CalibrationInputError, match="temperatures"):
        temperature_sweep(draw_set(7, 10), TopR(1), ["warm"])
    with pytest.raises(CalibrationInputError, match="knots: none"):
        knot_sweep(squared(30, 5), squared(30, 6), SplineCalibration(), [])
