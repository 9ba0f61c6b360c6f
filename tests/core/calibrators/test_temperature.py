import math
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore.calibrators import (
    EnsembleTemperatureScaling,
    SmoothedTemperatureScaling,
    TemperatureScaling,
)
from calibcore.calibrators import temperature as row_sums
from calibcore.calibrators.temperature import TEMPERATURE_BOUNDS, FittedTemperature, Loss
from calibcore.probabilities import log_softmax
from tests import reference
from tests.strategies import LogitCase, logit_sets, overconfident, seeded_logit_sets

COLDEST, HOTTEST = TEMPERATURE_BOUNDS


def fit(logits: object, labels: object) -> FittedTemperature:
    return TemperatureScaling().fit(logits, labels)  # type: ignore[arg-type]


def check_temperature(case: LogitCase) -> str:
    table, labels = case.logits.tolist(), case.labels.tolist()
    fitted, kind = fit(*case), reference.temperature_case(table, labels)
    result = fitted.temperature
    if kind in ("flat", "separable"):
        assert result == 1.0
        (text,) = fitted.warnings
        assert "temperature" in text.lower()
    elif kind == "anti-informative":
        assert result == HOTTEST
        assert len(fitted.warnings) == 1
    else:
        # The slope must change sign within a millionth of 1 / T, or be 0 but for rounding
        rounding = 1e-12 * float(np.ptp(case.logits, axis=1).max())
        before = reference.scaled_nll_slope(table, labels, (1 - 1e-6) / result)
        after = reference.scaled_nll_slope(table, labels, (1 + 1e-6) / result)
        assert before <= rounding or result == HOTTEST
        assert after >= -rounding or result == COLDEST
        at_bound = result in (COLDEST, HOTTEST)
        assert bool(fitted.warnings) == at_bound
    return kind


@given(logit_sets())
def test_a_fit_is_where_the_loops_say(case: LogitCase) -> None:
    check_temperature(case)


@pytest.mark.parametrize("temperature", [0.05, 0.5, 1.0, 2.5, 40.0])
@pytest.mark.parametrize("n_classes", [2, 7])
def test_two_searches_find_the_same_temperature(
    temperature: float, n_classes: int, rng: np.random.Generator
) -> None:
    case = overconfident(rng, n_classes=n_classes, temperature=temperature)
    table, labels = case.logits.tolist(), case.labels.tolist()
    fitted = fit(*case)
    assert fitted.warnings == ()
    halving = reference.best_temperature(table, labels)
    assert fitted.temperature == pytest.approx(halving, rel=1e-9)
    search = scipy.optimize.minimize_scalar(
        lambda inverse: reference.scaled_nll(table, labels, inverse),
        bounds=(0.1 / temperature, 10 / temperature),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert 1 / fitted.temperature == pytest.approx(search.x, rel=1e-6)
    slope = reference.scaled_nll_slope(table, labels, 1 / fitted.temperature)
    assert abs(slope) < 1e-9 * float(np.ptp(case.logits))


@given(st.integers(0, 1_000))
def test_what_cannot_matter_does_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits, labels = overconfident(rng, n_rows=80)
    best = fit(logits, labels).temperature
    rows, classes = rng.permutation(len(labels)), rng.permutation(logits.shape[1])
    assert fit(logits[rows], labels[rows]).temperature == pytest.approx(best, rel=1e-9)
    moved = np.argsort(classes)[labels]
    assert fit(logits[:, classes], moved).temperature == pytest.approx(best, rel=1e-9)
    shift = rng.uniform(-1000, 1000, (len(labels), 1))
    assert fit(logits + shift, labels).temperature == pytest.approx(best, rel=1e-9)
    assert fit(log_softmax(logits), labels).temperature == pytest.approx(best, rel=1e-9)


@given(logit_sets())
def test_probabilities_are_the_softmax_of_the_divided_logits(case: LogitCase) -> None:
    fitted = fit(*case)
    result = fitted.predict_proba(case.logits)
    divided = [[z / fitted.temperature for z in row] for row in case.logits.tolist()]
    # A last digit of a logit of 1e3 / T is worth 1e-13 / T in the exponent
    loose = 1e-12 * max(1.0, 1 / fitted.temperature)
    assert_allclose(result, reference.softmax(divided), rtol=loose, atol=1e-12)
    assert result.dtype == np.float64


def test_float32_is_fitted_as_the_numbers_it_holds(rng: np.random.Generator) -> None:
    logits, labels = overconfident(rng, n_rows=300)
    narrow = logits.astype(np.float32)
    best = reference.best_temperature(narrow.tolist(), labels.tolist())
    assert fit(narrow, labels).temperature == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_logits_that_know_the_opposite_end_at_the_hottest(scale: float) -> None:
    fitted = fit([[scale, 0.0]] * 10, [1] * 9 + [0])
    assert fitted.temperature == HOTTEST
    (text,) = fitted.warnings
    nearly_equal = fitted.predict_proba([[scale, 0.0]]).max() < 0.55
    assert ("nearly equal" in text) == nearly_equal == (scale < 1e3)


def test_logits_that_a_larger_temperature_would_suit_are_not_said_to_be_useless() -> None:
    # Right in 3 rows of 4 at a difference of 5,000: T = 5,000 / ln 3, hotter than any tried
    fitted = fit([[5e3, 0.0, -math.inf]] * 4, [0, 0, 0, 1])
    assert fitted.temperature == HOTTEST
    (text,) = fitted.warnings
    assert text.endswith("a larger one would fit better.")


def test_a_best_temperature_out_of_reach_is_reported() -> None:
    # Right in 3 rows of 4 at a difference of 1e-4: T = 1e-4 / ln 3, colder than any tried
    cold = fit([[1e-4, 0.0]] * 4, [0, 0, 0, 1])
    hot = fit([[1e-4, 0.0]] * 4, [1, 1, 1, 0])
    assert (cold.temperature, hot.temperature) == (COLDEST, HOTTEST)
    assert len(cold.warnings) == len(hot.warnings) == 1
    assert cold.warnings != hot.warnings


def test_an_impossible_truth_is_left_out(rng: np.random.Generator) -> None:
    logits, labels = overconfident(rng)
    best = fit(logits, labels).temperature
    impossible = np.array([[0.0, -math.inf, 1.0, 2.0]] * 3)
    fitted = fit(np.vstack([logits, impossible]), [*labels.tolist(), 1, 1, 1])
    assert fitted.temperature == pytest.approx(best, rel=1e-12)
    assert len(fitted.warnings) == 1
    assert "3" in fitted.warnings[0]


def test_only_impossible_truths_leave_the_temperature_at_1() -> None:
    fitted = fit([[0.0, -math.inf]] * 2, [1, 1])
    assert fitted.temperature == 1.0
    assert fitted.warnings


def test_logits_near_the_largest_number_give_a_number(rng: np.random.Generator) -> None:
    logits = 1e307 * rng.uniform(-1, 1, (50, 4))
    fitted = fit(logits, rng.integers(0, 4, 50))
    assert COLDEST <= fitted.temperature <= HOTTEST
    assert np.all(np.isfinite(fitted.predict_proba(logits)))


def repeated(case: LogitCase, times: int) -> LogitCase:
    return LogitCase(np.tile(case.logits, (times, 1)), np.tile(case.labels, times))


def test_many_rows_are_fitted_where_the_loops_say() -> None:
    kinds = [check_temperature(repeated(case, 100)) for case in seeded_logit_sets(9, 150)]
    assert {*kinds} == {"flat", "separable", "anti-informative", "interior"}


@pytest.mark.parametrize("temperature", [0.02, 1.0, 50.0])
@pytest.mark.parametrize("n_classes", [2, 7, 60])
def test_many_rows_are_fitted_as_exactly_as_few(
    temperature: float, n_classes: int, rng: np.random.Generator
) -> None:
    case = overconfident(rng, n_rows=150, n_classes=n_classes, temperature=temperature)
    few, many = fit(*case), fit(*repeated(case, 30))
    assert many.temperature == pytest.approx(few.temperature, rel=3e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [32, 33])
def test_rows_of_many_classes_are_fitted_where_the_loops_say(
    n_classes: int, dtype: type[np.floating[Any]], rng: np.random.Generator
) -> None:
    logits, labels = overconfident(rng, n_rows=30, n_classes=n_classes)
    case = LogitCase(logits.astype(dtype), labels)
    assert check_temperature(case) == "interior"
    rows = fit(*case).predict_proba(case.logits)
    one_by_one = [fit(*case).predict_proba(case.logits[i : i + 1])[0] for i in range(30)]
    assert_allclose(rows, one_by_one, rtol=1e-14)


@pytest.mark.parametrize("n_classes", [3, 10, 33, 100])
def test_equal_rows_are_equal_to_the_bit_wherever_they_are(
    n_classes: int, rng: np.random.Generator
) -> None:
    logits = rng.normal(scale=6, size=(203, n_classes))
    logits[7] *= 1e299
    logits[8, 0] = logits[9, 1] = -math.inf
    logits[10] += 1e6
    logits[11, 0] = 900.0
    fitted, order = FittedTemperature(2.0), rng.permutation(203)
    result = fitted.predict_proba(logits)
    assert np.array_equal(fitted.predict_proba(logits[order]), result[order])
    one_by_one = np.vstack([fitted.predict_proba(logits[i : i + 1]) for i in range(203)])
    assert np.array_equal(one_by_one, result)
    assert_allclose(result, reference.softmax((logits / 2).tolist()), rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("loss", ["nll", "squared_error"])
@pytest.mark.parametrize("n_classes", [3, 40])
def test_rows_taken_in_parts_are_fitted_the_same(
    loss: Any, n_classes: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = overconfident(rng, n_rows=700, n_classes=n_classes)
    whole = TemperatureScaling(loss).fit(*case)
    monkeypatch.setattr(row_sums, "_TOGETHER", 150)
    parts = TemperatureScaling(loss).fit(*case)
    assert parts.temperature == pytest.approx(whole.temperature, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_class_far_below_weighs_as_one_that_is_ruled_out(
    dtype: type[np.floating[Any]], rng: np.random.Generator
) -> None:
    logits, labels = overconfident(rng, n_rows=600)
    best = fit(logits.astype(dtype), labels).temperature
    for far in (-1e5, -1e7, -1e30, -math.inf):
        wider = np.column_stack([logits, np.full(len(labels), far)]).astype(dtype)
        assert fit(wider, labels).temperature == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("loss", ["nll", "squared_error"])
@pytest.mark.parametrize("method", [TemperatureScaling, EnsembleTemperatureScaling])
def test_hard_decisions_have_no_temperature(
    method: type[TemperatureScaling | EnsembleTemperatureScaling], loss: Loss
) -> None:
    decided = np.random.default_rng(0).integers(3, size=2000)
    logits = np.where(np.eye(3)[decided] == 1, 0.0, -np.inf)
    labels = np.where(np.arange(2000) % 10 == 0, (decided + 1) % 3, decided)
    fitted = method(loss=loss).fit(logits, labels)
    assert fitted.temperature == 1
    assert any("no temperature changes anything" in text for text in fitted.warnings)


def test_a_smoothed_temperature_is_one_row_more_of_even_probabilities() -> None:
    rng = np.random.default_rng(5)
    logits = 3 * rng.normal(size=(40, 4))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    losses: tuple[Loss, ...] = ("nll", "squared_error")
    for loss in losses:
        smoothed = SmoothedTemperatureScaling(loss).fit(logits, labels)
        plain = TemperatureScaling(loss).fit(logits, labels)
        assert smoothed.temperature == plain.temperature
        expected = 40 / 41 * plain.predict_proba(logits) + 1 / 41 / 4
        assert_allclose(smoothed.predict_proba(logits), expected, rtol=0, atol=1e-15)
    certain = SmoothedTemperatureScaling().fit(logits, labels).predict_proba([[2e4, 0, 0, 0]])
    assert_allclose(certain[0, 1:], 1 / 164)
