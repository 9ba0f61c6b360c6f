import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from calibcore.calibrators import TemperatureScaling, from_json
from calibcore.calibrators import gaussian_process as module
from calibcore.calibrators.gaussian_process import (
    LOWEST_INPUT,
    FittedGaussianProcess,
    GaussianProcessCalibration,
    Kernel,
    inputs,
)
from calibcore.errors import CalibrationInputError
from calibcore.metrics import nll
from calibcore.probabilities import softmax
from tests import reference_gaussian_process as slow
from tests.core.calibrators.test_gaussian_process_bound import unwhitened
from tests.strategies import Floats, LogitCase, logit_sets, overconfident


def fit(logits: object, labels: object, **options: int) -> FittedGaussianProcess:
    return GaussianProcessCalibration(**options).fit(logits, labels)  # type: ignore[arg-type]


def warp(x: Floats) -> Floats:
    """Overconfident models make it of log-probabilities: steep near 0, flat far below."""
    return np.asarray(-1.5 * np.log1p(-x))


def warped(rng: np.random.Generator, n_rows: int, n_classes: int = 5) -> LogitCase:
    """Rows whose labels are drawn from softmax(warp(log p))."""
    logits = rng.normal(scale=4, size=(n_rows, n_classes))
    truth = warp(inputs(logits))
    labels = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    return LogitCase(logits, labels.astype(np.int64))


def of_fitted(fitted: FittedGaussianProcess) -> slow.Process:
    return unwhitened(
        fitted.places,
        fitted.q_mean,
        fitted.q_factor @ fitted.q_factor.T,
        Kernel(fitted.amplitude, fitted.lengthscale, fitted.noise),
    )


# The search ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [3, 40, 400, 2000])
def test_the_search_climbs_to_a_flat_place(n_rows: int, rng: np.random.Generator) -> None:
    fitted = fit(*warped(rng, n_rows))
    assert fitted.warnings == () or n_rows == 3
    assert len(fitted.elbo_path) == fitted.iterations + 1
    assert np.diff(fitted.elbo_path).min() >= -1e-9 * abs(fitted.elbo)
    assert fitted.elbo_path[-1] == pytest.approx(fitted.elbo, rel=1e-12)
    assert fitted.elbo_path[0] < fitted.elbo < 0
    assert fitted.gradient_norm < 1e-5


def test_the_fitted_object_agrees_with_the_loops(rng: np.random.Generator) -> None:
    case = warped(rng, 60, 3)
    fitted = fit(*case, n_inducing=5)
    process = of_fitted(fitted)
    table, labels = case.logits.tolist(), case.labels.tolist()
    # The loops invert the prior's covariance, whose condition number is some 1e6
    assert fitted.elbo == pytest.approx(
        slow.elbo(process, table, labels, [1.0] * len(labels)), rel=1e-6
    )
    values = np.array([-30.0, -8.0, -1.0, -0.01])
    mean, deviation = fitted.latent(values)
    for place_, result, spread in zip(values, mean, deviation, strict=True):
        wanted, variance = slow.latent(process, float(place_))
        assert result == pytest.approx(wanted, abs=1e-5)
        assert spread == pytest.approx(math.sqrt(variance), abs=1e-4)


def test_a_start_from_fewer_rows_ends_in_the_same_place(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = warped(rng, 1500)
    direct = fit(*case)
    monkeypatch.setattr(module, "_FEW_CELLS", 1500)
    reports: list[float] = []
    staged = GaussianProcessCalibration().fit(*case, progress=reports.append)
    # The bound has more than one flat top; both searches end on one
    assert staged.elbo == pytest.approx(direct.elbo, rel=1e-4)
    before, after = (fitted.predict_proba(case.logits) for fitted in (direct, staged))
    assert_allclose(after, before, atol=0.01)
    assert reports == sorted(reports)
    assert reports[-1] == 1


def test_few_iterations_are_said() -> None:
    fitted = fit(*overconfident(np.random.default_rng(0)), max_iterations=2)
    assert fitted.iterations == 2
    assert "did not converge in 2 iterations" in fitted.warnings[0]


def uncertain(kind: str, rng: np.random.Generator) -> FittedGaussianProcess:
    """Fits whose latent functions are less and less certain."""
    if kind == "narrow":
        return fit(*warped(rng, 1000))
    if kind == "few":
        return fit(*warped(rng, 12))
    logits = 3 * rng.normal(size=(200, 5))
    return fit(logits, logits.argmax(axis=1))


@pytest.mark.parametrize(
    ("kind", "error"), [("narrow", 0.002), ("few", 0.008), ("right", 0.02), ("right again", 0.02)]
)
def test_predictions_are_the_average_over_q(
    kind: str, error: float, rng: np.random.Generator
) -> None:
    fitted = uncertain(kind, rng)
    process = of_fitted(fitted)
    half = rng.normal(size=(20_000, len(fitted.places)))
    draws = np.concatenate([half, -half])
    rows = 4 * rng.normal(size=(25, 5))
    result = fitted.predict_proba(rows)
    for row, probabilities in zip(rows.tolist(), result, strict=True):
        # 0.002 is the draws' own deviation at most, three of which are left to them
        wanted = slow.average(process, row, draws)
        noise = 0.006 if kind.startswith("right") else 0.002
        assert_allclose(probabilities, wanted, atol=error + noise)


# What it is for -----------------------------------------------------------------------------------


def test_a_known_warp_is_found(rng: np.random.Generator) -> None:
    fitted = fit(*warped(rng, 6000))
    test = warped(rng, 6000)
    truth = nll(softmax(warp(inputs(test.logits))), test.labels)
    result = nll(fitted.predict_proba(test.logits), test.labels)
    before = nll(softmax(test.logits), test.labels)
    temperature = TemperatureScaling().fit(*warped(rng, 6000)).predict_proba(test.logits)
    assert truth - 0.002 < result < truth + 0.004
    assert result < nll(temperature, test.labels) - 0.003
    assert result < before - 0.2
    values = np.linspace(-15, -0.1, 50)
    mean, deviation = fitted.latent(values)
    # softmax sees differences only, so the function is known up to a constant
    off = (mean - mean.mean()) - (warp(values) - warp(values).mean())
    assert np.abs(off).max() < 0.4
    assert deviation.max() < 0.5


# What cannot matter -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_rows", [50, 700])
def test_what_cannot_matter_does_not(seed: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    logits, labels = overconfident(rng, n_rows)
    fitted = fit(logits, labels)
    before = fitted.predict_proba(logits)
    rows, classes = rng.permutation(n_rows), rng.permutation(logits.shape[1])
    after = fit(logits[rows], labels[rows]).predict_proba(logits)
    assert_allclose(after, before, atol=1e-9)
    moved = np.argsort(classes)[labels]
    after = fit(logits[:, classes], moved).predict_proba(logits[:, classes])
    assert_allclose(after, before[:, classes], atol=1e-9)
    shift = rng.uniform(-100, 100, (n_rows, 1))
    assert_allclose(fitted.predict_proba(logits + shift), before, atol=1e-9)
    assert_allclose(fit(logits + shift, labels).predict_proba(logits), before, atol=1e-5)


def test_a_power_of_two_shifts_to_the_bit(rng: np.random.Generator) -> None:
    logits, labels = overconfident(rng)
    logits = (logits * 1024).round() / 1024
    assert fit(logits + 64, labels) == fit(logits, labels)


def few_values(rng: np.random.Generator, n_rows: int = 150) -> LogitCase:
    """Logits of a forest of 20 trees: many are equal, and all rows are right."""
    votes = rng.multinomial(20, [0.6, 0.3, 0.1], n_rows)
    votes = np.array([rng.permutation(row) for row in votes])
    logits = np.log(np.maximum(votes, 0.1) / 20)
    return LogitCase(logits, logits.argmax(axis=1).astype(np.int64))


@pytest.mark.parametrize("seed", range(4))
def test_equal_inputs_stay_one_whatever_is_added_to_their_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits, labels = few_values(rng)
    fitted = fit(logits, labels)
    before = fitted.predict_proba(logits)
    for shift in (rng.normal(size=(150, 1)), rng.uniform(-1e3, 1e3, (150, 1)), np.full((1, 1), 7)):
        moved = fit(logits + shift, labels)
        assert len(moved.places) == len(fitted.places)
        assert_allclose(moved.predict_proba(logits), before, atol=1e-6)
    rounded = fit(logits.astype(np.float32), labels)
    assert len(rounded.places) == len(fitted.places)
    assert_allclose(rounded.predict_proba(logits), before, atol=1e-4)


def test_inputs_equal_but_for_rounding_are_one_place() -> None:
    nodes = np.array([-3.0, -1.0, -1.0 + 2e-16, -1e-16, 0.0])
    assert_allclose(module.inducing_places(nodes, np.ones(5), 5), [-3, -1, 0], atol=1e-15)
    # Neither the quantiles nor the middles between two places are decided by rounding
    nodes = np.arange(-8.0, 0)
    wanted = module.inducing_places(nodes, np.ones(8), 2)
    for size in (-1e-15, 1e-15):
        weights = np.ones(8) + size * np.linspace(-1, 1, 8)
        for moved in (nodes * (1 + size), nodes + size * np.cos(nodes)):
            assert_allclose(module.inducing_places(moved, weights, 2), wanted, atol=1e-12)


# Hard inputs --------------------------------------------------------------------------------------


def check(case: LogitCase) -> None:
    fitted = fit(*case, max_iterations=40)
    assert_allclose(fitted.predict_proba(case.logits).sum(axis=1), 1, rtol=1e-12)
    assert np.diff(fitted.elbo_path, append=fitted.elbo).min() >= -1e-9 * (1 + abs(fitted.elbo))
    for field in fields(fitted):
        value = getattr(fitted, field.name)
        if field.name != "warnings":
            assert np.isfinite(value).all(), field.name


@settings(max_examples=40)
@given(logit_sets())
def test_hard_corners(case: LogitCase) -> None:
    check(case)


@settings(max_examples=12)
@given(st.integers(0, 1000), st.sampled_from([1e-3, 30.0, 1e3]))
def test_larger_tables_at_any_scale(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    check(LogitCase(scale * rng.normal(size=(500, 5)), rng.integers(0, 5, 500)))


def test_logits_of_another_scale_are_said(rng: np.random.Generator) -> None:
    logits, labels = overconfident(rng, 400)
    assert "scale them by their temperature" in fit(100 * logits, labels).warnings[0]
    # A model that knows nothing is another matter: its function is flat
    assert fit(logits, rng.permutation(labels)).warnings == ()


def test_rows_that_are_always_right_are_said(rng: np.random.Generator) -> None:
    logits, _ = overconfident(rng, 3000, 10)
    fitted = fit(logits, logits.argmax(axis=1))
    assert "largest amplitude" in fitted.warnings[-1]
    # The function need not rise everywhere, so its average can put another class on top
    assert (fitted.predict_proba(logits).argmax(axis=1) == logits.argmax(axis=1)).mean() > 0.999


def test_absurd_logits_are_clipped_and_said() -> None:
    logits = np.array([[0.0, -3e38], [0.0, -3e38], [0.0, -5.0]] * 10, dtype=np.float32)
    fitted = fit(logits, [0, 1, 0] * 10)
    assert any(f"{LOWEST_INPUT:,.0f}" in text for text in fitted.warnings)
    assert_allclose(fitted.predict_proba(logits).sum(axis=1), 1)


def test_classes_that_are_ruled_out_stay_so(rng: np.random.Generator) -> None:
    logits, labels = overconfident(rng, 200)
    logits[:, 3] = -np.inf
    possible = labels != 3
    fitted = fit(logits, labels)
    assert f"{np.count_nonzero(~possible)} calibration rows were left out" in fitted.warnings[0]
    result = fitted.predict_proba(logits)
    assert (result[:, 3] == 0).all()
    without = fit(logits[possible][:, :3], labels[possible])
    assert_allclose(result[:, :3], without.predict_proba(logits[:, :3]), atol=1e-9)


def test_nothing_left_to_fit_on_changes_nothing() -> None:
    fitted = fit([[0.0, -np.inf, 1.0]], [1])
    assert "nothing is changed" in fitted.warnings[-1]
    assert_allclose(fitted.predict_proba([[0.0, 2.0, 1.0]]), softmax([[0.0, 2.0, 1.0]]))
    assert from_json(fitted.to_json()) == fitted


def test_an_absent_class_is_said(rng: np.random.Generator) -> None:
    logits, labels = overconfident(rng, 300)
    fitted = fit(logits, np.minimum(labels, 1))
    assert fitted.warnings[0].startswith("2 of 4 classes have no calibration row")


def test_places_are_in_order_and_within_the_inputs(rng: np.random.Generator) -> None:
    logits, labels = overconfident(rng, 300)
    table = inputs(logits)
    for n_inducing in (2, 10, 25):
        places = fit(logits, labels, n_inducing=n_inducing, max_iterations=1).places
        assert len(places) == n_inducing
        assert (np.diff(places) > 0).all()
        assert table.min() <= places[0] < places[-1] <= table.max()
    assert len(fit([[0.0, 0.0]] * 3, [0, 1, 0]).places) == 1


# Progress and refusals ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"n_inducing": 1}, "n_inducing"),
        ({"n_inducing": 101}, "n_inducing"),
        ({"n_inducing": 2.5}, "n_inducing"),
        ({"max_iterations": 0}, "max_iterations"),
    ],
)
def test_options_are_checked(options: dict[str, int], field: str) -> None:
    with pytest.raises(CalibrationInputError, match=field):
        GaussianProcessCalibration(**options)


@pytest.mark.parametrize("values", [[np.nan], [-np.inf], [[0.0]], 0.0])
def test_the_latent_function_takes_finite_lists(values: NDArray[np.float64]) -> None:
    with pytest.raises(CalibrationInputError, match="values"):
        fit([[0.0, 1.0]] * 2, [0, 1]).latent(values)
