import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import LinearConstraint, minimize

from calibcore import CalibrationInputError
from calibcore.calibrators import temperature as row_sums
from calibcore.calibrators.ensembles.beta import BetaEnsemble
from calibcore.calibrators.ensembles.temperature import (
    EnsembleTemperatureScaling,
    OnWeights,
    least_on_simplex,
)
from calibcore.calibrators.temperature import TEMPERATURE_BOUNDS, Loss, TemperatureScaling
from calibcore.metrics import brier, nll
from calibcore.probabilities import softmax
from calibcore.validation import Floats
from tests import reference_ensembles as slow
from tests.strategies import LogitCase, logit_sets, overconfident, seeded_logit_sets

LOSSES: tuple[Loss, ...] = ("nll", "squared_error")
MEASURES = {"nll": nll, "squared_error": brier}
Map = TemperatureScaling | EnsembleTemperatureScaling | BetaEnsemble


def model(
    seed: int, n_rows: int = 60, n_classes: int = 3, wrong: float = 0.1, temperature: float = 2.0
) -> LogitCase:
    """Logits that are too confident, with labels of which some are random."""
    rng = np.random.default_rng(seed)
    logits, labels = overconfident(rng, n_rows, n_classes, temperature)
    labels = np.where(rng.random(n_rows) < wrong, rng.integers(0, n_classes, n_rows), labels)
    return LogitCase(logits, labels)


def reached(calibrator: Map, case: LogitCase, kind: str) -> float:
    return MEASURES[kind](calibrator.fit(*case).predict_proba(case.logits), case.labels)


# Temperature scaling with the squared error ------------------------------------------------------


def test_squared_error_reaches_the_least_on_a_fine_grid() -> None:
    checked = 0
    for case in seeded_logit_sets(21, 120, max_rows=12):
        fitted = TemperatureScaling(loss="squared_error").fit(*case)
        if fitted.temperature == 1 and fitted.warnings:
            continue
        table, labels = case.logits.tolist(), case.labels.tolist()
        curve = slow.temperature_loss(table, labels, "squared_error")
        low, high = np.log(TEMPERATURE_BOUNDS)
        least, _ = slow.least_on_grid(curve, low, high, 400)
        assert curve(math.log(fitted.temperature)) <= least + 1e-9
        checked += 1
    assert checked > 50


@pytest.mark.parametrize("seed", range(6))
def test_squared_error_agrees_with_scipy(seed: int) -> None:
    case = model(seed)
    fitted = TemperatureScaling(loss="squared_error").fit(*case)
    curve = slow.temperature_loss(case.logits.tolist(), case.labels.tolist(), "squared_error")
    _, place = slow.least_on_grid(curve, -3, 3, 300)
    assert fitted.temperature == pytest.approx(math.exp(place), rel=1e-5)  # flat at the bottom
    step = 1e-4
    log_t = math.log(fitted.temperature)
    slope = (curve(log_t + step) - curve(log_t - step)) / (2 * step)
    assert abs(slope) < 1e-8
    assert fitted.warnings == ()


def test_squared_error_on_many_rows_agrees_with_the_grid() -> None:
    logits, labels = model(5, n_rows=20_000, n_classes=5)
    fitted = TemperatureScaling(loss="squared_error").fit(logits, labels)
    losses = [
        brier(softmax(logits / (fitted.temperature * factor)), labels)
        for factor in (0.99, 0.999, 1.0, 1.001, 1.01)
    ]
    assert int(np.argmin(losses)) == 2


def test_squared_error_says_what_the_likelihood_says() -> None:
    separable = TemperatureScaling(loss="squared_error").fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    assert separable.temperature == 1.0
    assert separable.warnings
    opposite = TemperatureScaling(loss="squared_error").fit([[1.0, 0.0]] * 4, [1] * 4)
    assert opposite.temperature == TEMPERATURE_BOUNDS[1]
    assert opposite.warnings
    impossible = TemperatureScaling(loss="squared_error").fit([[0.0, -math.inf]] * 2, [1, 1])
    assert np.isfinite(impossible.temperature)


# Ensemble temperature scaling --------------------------------------------------------------------


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_not_above_the_slow_reading(seed: int, kind: Loss) -> None:
    case = model(seed, n_rows=40)
    table, labels = case.logits.tolist(), case.labels.tolist()
    result = reached(EnsembleTemperatureScaling(loss=kind), case, kind)
    temperature = slow.program_temperature(table, labels, kind)
    assert result <= slow.ensemble_loss(table, labels, kind, temperature) + 1e-9
    searched = min(
        slow.ensemble_loss(table, labels, kind, math.exp(log_t))
        for log_t in np.linspace(-2, 2.5, 46).tolist()
    )
    assert result <= searched + 1e-9


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("seed", [7, 8])
def test_the_weights_are_the_slow_readings_at_the_same_temperature(seed: int, kind: Loss) -> None:
    case = model(seed, n_rows=80, wrong=0.2)
    fitted = EnsembleTemperatureScaling(loss=kind).fit(*case)
    table, labels = case.logits.tolist(), case.labels.tolist()
    theirs = slow.program_weights(table, labels, fitted.temperature, kind)
    ours = slow.loss(slow.mixture(table, fitted.temperature, fitted.weights), labels, kind)
    assert ours <= slow.loss(slow.mixture(table, fitted.temperature, theirs), labels, kind) + 1e-10
    assert_allclose(fitted.weights, theirs, atol=2e-3)
    expected = slow.mixture(table, fitted.temperature, fitted.weights)
    assert_allclose(fitted.predict_proba(case.logits), expected, atol=1e-14)


def check_never_worse(case: LogitCase, kind: Loss) -> None:
    fitted = EnsembleTemperatureScaling(loss=kind).fit(*case)
    assert fitted.weights.min() >= 0
    assert fitted.weights.sum() == pytest.approx(1, abs=1e-15)
    alone = TemperatureScaling(loss=kind).fit(*case)
    if kind == "squared_error" or not any("left out" in text for text in alone.warnings):
        measure = MEASURES[kind]
        after = measure(fitted.predict_proba(case.logits), case.labels)
        before = measure(alone.predict_proba(case.logits), case.labels)
        assert after <= before + 1e-11 * max(1, before)


@given(logit_sets(), st.sampled_from(LOSSES))
def test_a_set_is_never_worse_than_by_temperature_scaling(case: LogitCase, kind: Loss) -> None:
    check_never_worse(case, kind)


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("wrong", [0.0, 0.2])
@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_many_rows_are_never_worse_and_at_a_minimum(
    kind: Loss, wrong: float, temperature: float
) -> None:
    case = model(3, 6_000, 4, wrong, temperature)
    check_never_worse(case, kind)
    fitted = EnsembleTemperatureScaling(loss=kind).fit(*case)
    best = MEASURES[kind](fitted.predict_proba(case.logits), case.labels)
    plain, uniform = softmax(case.logits), np.full(case.logits.shape, 0.25)
    for factor in (0.99, 0.9999, 1.0001, 1.01):
        hot = softmax(case.logits / (fitted.temperature * factor))
        for moved in np.vstack([np.zeros(3), np.eye(3)]):
            weights = 0.999 * fitted.weights + 0.001 * (moved if moved.any() else fitted.weights)
            mixed = weights[0] * hot + weights[1] * plain + weights[2] * uniform
            assert MEASURES[kind](mixed, case.labels) >= best - 1e-12


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_where_few_rows_mislead_all_of_them_are_searched(seed: int, kind: Loss) -> None:
    case = model(seed, 2_500, 2, wrong=0.9, temperature=20)
    parts = [softmax(case.logits), np.full(case.logits.shape, 0.5)]

    def least(temperature: float) -> float:
        hot = softmax(case.logits / temperature)

        def loss(weights: Floats) -> float:
            mixed = weights[0] * hot + weights[1] * parts[0] + weights[2] * parts[1]
            return MEASURES[kind](mixed / mixed.sum(axis=1, keepdims=True), case.labels)

        sum_to_1, start = LinearConstraint(np.ones(3), 1, 1), np.array([0.3, 0.3, 0.4])
        result: Any = minimize(loss, start, bounds=[(0, 1)] * 3, constraints=[sum_to_1])
        return float(result.fun)

    searched = min(least(temperature) for temperature in np.geomspace(0.5, 500, 40).tolist())
    assert reached(EnsembleTemperatureScaling(loss=kind), case, kind) <= searched + 1e-8


def test_a_useless_temperature_is_said() -> None:
    fitted = EnsembleTemperatureScaling().fit([[1.0, 0.0]] * 4, [1] * 4)
    assert_allclose(fitted.predict_proba([[1.0, 0.0]]), [[0.5, 0.5]], atol=1e-3)
    assert fitted.warnings


def test_an_impossible_truth_is_given_a_chance() -> None:
    logits, labels = model(10, n_rows=100)
    with_impossible = np.vstack([logits, [[0.0, -math.inf, 1.0]] * 2])
    fitted = EnsembleTemperatureScaling().fit(with_impossible, [*labels.tolist(), 1, 1])
    assert fitted.weights[2] > 0
    assert np.isfinite(nll(fitted.predict_proba(with_impossible), [*labels.tolist(), 1, 1]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [3, 10])
@pytest.mark.parametrize("seed", range(12))
def test_one_mistake_among_many_rows_overflows_nowhere(
    seed: int, n_classes: int, dtype: type
) -> None:
    rng = np.random.default_rng(seed)
    n_rows = 300
    logits: Any = rng.normal(scale=3.6, size=(n_rows, n_classes)).astype(dtype)
    labels = logits.argmax(axis=1)
    labels[seed] = (labels[seed] + 1) % n_classes
    fitted = EnsembleTemperatureScaling().fit(logits, labels)
    # Were the coldest probabilities certain, a part q of 1 / (n (K - 1)) for each class is best.
    q = 1 / (n_rows * (n_classes - 1))
    by_hand = (1 - n_classes * q) * softmax(logits.astype(np.float64) / TEMPERATURE_BOUNDS[0]) + q
    reached = nll(fitted.predict_proba(logits), labels)
    assert reached <= nll(by_hand, labels) * (1 + 1e-6)


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("n_classes", [2, 5, 40])
@pytest.mark.parametrize("seed", range(3))
def test_many_rows_are_fitted_as_exactly_as_few(seed: int, n_classes: int, kind: Loss) -> None:
    logits, labels = model(seed, n_rows=200, n_classes=n_classes, wrong=0.2)
    scaling = EnsembleTemperatureScaling(loss=kind)
    few = scaling.fit(logits, labels)
    many = scaling.fit(np.tile(logits, (20, 1)), np.tile(labels, 20))
    measure = MEASURES[kind]
    after = measure(many.predict_proba(logits), labels)
    assert after == pytest.approx(measure(few.predict_proba(logits), labels), abs=1e-13)
    assert_allclose(many.predict_proba(logits), few.predict_proba(logits), atol=1e-7)


@pytest.mark.parametrize("kind", LOSSES)
def test_how_rows_are_laid_out_does_not_matter(kind: Loss, monkeypatch: pytest.MonkeyPatch) -> None:
    case = model(1, n_rows=700, n_classes=6, wrong=0.2)
    scaling = EnsembleTemperatureScaling(loss=kind)
    first = scaling.fit(*case)
    monkeypatch.setattr(row_sums, "_TOGETHER", 150)
    monkeypatch.setattr(row_sums, "NARROW", 2)
    second = scaling.fit(*case)
    assert second.temperature == pytest.approx(first.temperature, rel=1e-9)
    assert_allclose(second.weights, first.weights, atol=1e-9)


# What holds for all of them ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("seed", [0, 1])
def test_beta_maps_do_better_than_temperature(seed: int, kind: Loss) -> None:
    case = model(seed, n_rows=400, wrong=0.15)
    alone = reached(TemperatureScaling(loss=kind), case, kind)
    one, two, three = (
        reached(BetaEnsemble(n_maps=n_maps, loss=kind), case, kind) for n_maps in (1, 2, 3)
    )
    mixed = reached(EnsembleTemperatureScaling(loss=kind), case, kind)
    assert one <= alone + 1e-5
    assert max(two, three) <= min(one, mixed) + 1e-4


@pytest.mark.parametrize("kind", [TemperatureScaling, EnsembleTemperatureScaling, BetaEnsemble])
def test_an_unknown_loss_is_refused(kind: Any) -> None:
    with pytest.raises(CalibrationInputError, match="nll, squared_error"):
        kind(loss="brier")


@pytest.mark.parametrize("n_maps", [0, 11, 1.5])
def test_a_wrong_number_of_maps_is_refused(n_maps: Any) -> None:
    with pytest.raises(CalibrationInputError, match="n_maps"):
        BetaEnsemble(n_maps=n_maps)


@given(st.integers(0, 500))
def test_quadratics_on_the_simplex_meet_their_conditions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    root, target = rng.normal(size=(n + 1, n)), rng.normal(size=n + 1)

    def function(weights: slow.Floats) -> OnWeights:
        off = root @ weights - target
        return OnWeights(float(off @ off), 2 * root.T @ off, 2 * root.T @ root)

    least = least_on_simplex(function, np.full(n, 1 / n))
    assert least.weights.sum() == pytest.approx(1)
    assert least.weights.min() >= 0
    gradient = function(least.weights).gradient
    level = float(gradient @ least.weights)
    assert np.all(gradient >= level - 1e-6)
    assert np.all(np.abs(gradient - level)[least.weights > 1e-9] < 1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_logits_that_point_the_wrong_way_are_said_to(loss: Loss) -> None:
    draws = np.random.default_rng(1)
    logits = 2 * draws.normal(size=(500, 3))
    turned = (draws.gumbel(size=logits.shape) - logits).argmax(axis=1)
    for calibrator in (TemperatureScaling(loss=loss), EnsembleTemperatureScaling(loss=loss)):
        (text,) = calibrator.fit(logits, turned).warnings
        assert "The logits point the wrong way" in text
        assert "nearly equal" not in text
    useless = draws.integers(0, 2, size=500)
    (text,) = TemperatureScaling(loss=loss).fit(logits[:, :2], useless).warnings or ("",)
    assert "wrong way" not in text


def test_a_part_at_a_bound_is_not_said_to_be_the_whole() -> None:
    draws = np.random.default_rng(7)
    logits = 3 * draws.normal(size=(400, 3))
    labels = (draws.random((400, 1)) > softmax(logits).cumsum(axis=1)).sum(axis=1)
    labels = np.where(draws.random(400) < 0.08, logits.argmax(axis=1), labels)
    labels = np.where(draws.random(400) < 0.04, draws.integers(0, 3, 400), labels)
    fitted = EnsembleTemperatureScaling().fit(logits, labels)
    hot, plain, _ = 100 * fitted.weights
    assert fitted.temperature in TEMPERATURE_BOUNDS
    assert plain > 50
    (text,) = fitted.warnings
    assert text.startswith(f"The part with the temperature, which weighs {hot:.2g}%, reached the")
    assert text.endswith(f"The model's own probabilities weigh {plain:.2g}%.")
