"""The beta ensemble's maps against their formula, and its optimum; more is in test_ensembles."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore.calibrators.ensembles.beta import (
    BetaEnsemble,
    FittedBetaEnsemble,
    Maps,
    _at_bounds,
    _laid_out,
)
from calibcore.calibrators.temperature import Loss, TemperatureScaling
from calibcore.data import LogitSet
from calibcore.metrics import brier, nll
from calibcore.probabilities import log_softmax, softmax
from calibcore.validation import Floats, Labels

MEASURES: dict[Loss, Any] = {"nll": nll, "squared_error": brier}


def table(seed: int, n_rows: int, n_classes: int) -> tuple[Floats, Labels]:
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3, size=(n_rows, n_classes))
    return logits, (logits / 2 + rng.gumbel(size=logits.shape)).argmax(axis=1)


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        (1.0, 1.0, 0.0),
        (0.5, 0.0, -8.0),
        (2.0, 7.0, 50.0),
        (1e-3, 1e3, -50.0),
        (1e3, 0.0, -50.0),  # every g of the first row is below the smallest double
        (1e3, 1e3, 50.0),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 40])
def test_one_map_is_its_formula(a: float, b: float, c: float, n_classes: int) -> None:
    logits, _ = table(5, 30, n_classes)
    logits[0] = 0.0  # all alike
    one = FittedBetaEnsemble(np.array([a]), np.array([b]), np.array([c]), np.ones(1))
    low = log_softmax(logits)
    log_g = -np.logaddexp(0.0, -(a * low - b * np.log(-np.expm1(low)) + c))
    expected = np.exp(log_g - log_g.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    expected += 1e-9 * (np.exp(low) - expected)  # a trace of the model's own probabilities
    # Log-odds in the thousands are off by their last digit, 1e-12.
    assert_allclose(one.predict_proba(logits), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("loss", ["nll", "squared_error"])
@pytest.mark.parametrize("n_classes", [3, 40])
def test_no_small_move_of_a_parameter_is_downward(loss: Loss, n_classes: int) -> None:
    logits, labels = table(6, 400, n_classes)
    fitted = BetaEnsemble(loss=loss).fit(logits, labels)
    assert not fitted.warnings
    least = MEASURES[loss](fitted.predict_proba(logits), labels)
    for name, lowest in (("a", 1e-3), ("b", 0.0), ("c", -50.0)):
        for place in range(2):
            for step in (-1e-3, 1e-3):
                moved = getattr(fitted, name).copy()
                moved[place] = max(moved[place] + step, lowest)
                other = replace(fitted, **{name: moved})
                assert MEASURES[loss](other.predict_proba(logits), labels) >= least - 1e-8


def overconfident(seed: int, scale: float, n_impossible: int = 0) -> tuple[Floats, Labels]:
    """Draw probabilities so extreme that many are stored as 0, some of them those of the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(scale=2, size=(400, 6))
    labels = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
    with np.errstate(divide="ignore", under="ignore"):
        logits = np.log(softmax(scale * truth))
    labels[:n_impossible] = logits[:n_impossible].argmin(axis=1)
    logits[np.arange(n_impossible), labels[:n_impossible]] = -np.inf
    return logits, labels


@pytest.mark.parametrize("loss", ["nll", "squared_error"])
@pytest.mark.parametrize("n_maps", [1, 2])
def test_zeros_do_not_make_the_order_of_rows_matter(loss: Loss, n_maps: int) -> None:
    logits, labels = overconfident(0, 150, n_impossible=20)
    assert np.count_nonzero(np.isneginf(logits).any(axis=1)) > 100
    method = BetaEnsemble(n_maps=n_maps, loss=loss)
    first = method.fit(logits, labels)
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(len(labels))
        assert method.fit(logits[rows], labels[rows]).to_json() == first.to_json()


def test_rows_are_laid_out_alike_whatever_their_order() -> None:
    # Without an exact order of their contents, what rounding hides would leave these as they come.
    rows = np.array([[0.0, 1, 2], [1e-300, 1, 2], [-0.0, 1, 2], [-np.inf, 0, 2], [-np.inf, 1, 2]])
    wanted = _laid_out(LogitSet(rows, np.full(5, 2))).logits
    assert_allclose(sorted(wanted.tolist()), sorted((rows - 2).tolist()), atol=1e-5)
    for order in itertools.permutations(range(5)):
        result = _laid_out(LogitSet(rows[[*order]], np.full(5, 2)))
        assert result.logits.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rows_are_laid_out_to_five_digits(scale: float, dtype: Any) -> None:
    logits, labels = table(8, 60, 5)
    logits = (scale * logits).astype(dtype)
    logits[:20, 3] = -np.inf
    labels[labels == 3] = 4
    result = _laid_out(LogitSet(logits, labels))
    below = logits - logits.max(axis=1, keepdims=True)
    assert_allclose(
        np.sort(result.logits, axis=None), np.sort(below, axis=None), rtol=0, atol=1e-5 * scale
    )
    own = result.logits[np.arange(60), result.labels]
    wanted = np.sort(below[np.arange(60), labels])
    assert_allclose(np.sort(own), wanted, rtol=0, atol=1e-5 * scale)


@pytest.mark.parametrize("loss", ["nll", "squared_error"])
@pytest.mark.parametrize("seed", range(4))
def test_a_constant_added_to_rows_changes_nothing(seed: int, loss: Loss) -> None:
    rng = np.random.default_rng(seed)
    logits, labels = table(seed, 700, 3)
    logits[::2] = logits[::2].round(1)  # many rows that tie but for rounding
    before = BetaEnsemble(loss=loss).fit(logits, labels)
    for shift in (rng.normal(size=(700, 1)), rng.uniform(-1000, 1000, size=(700, 1))):
        assert BetaEnsemble(loss=loss).fit(logits + shift, labels) == before
    single = logits.astype(np.float32)
    before = BetaEnsemble(loss=loss).fit(single, labels)
    assert BetaEnsemble(loss=loss).fit(single.astype(np.float64), labels) == before


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("n_rows", [5, 20, 100])
@pytest.mark.parametrize("seed", range(3))
def test_fits_on_few_rows_keep_every_decision(seed: int, n_rows: int, n_classes: int) -> None:
    fitted = BetaEnsemble().fit(*table(seed, n_rows, n_classes))
    others = np.random.default_rng(seed).normal(scale=4, size=(500, n_classes))
    assert np.array_equal(fitted.predict_proba(others).argmax(axis=1), others.argmax(axis=1))


@pytest.mark.parametrize("n_classes", [2, 40])
def test_curves_that_are_flat_keep_the_order(n_classes: int) -> None:
    flat = np.array([50.0]), np.array([1e3])
    one = FittedBetaEnsemble(flat[1], flat[1], flat[0], np.ones(1))
    logits = np.random.default_rng(0).normal(scale=0.01, size=(300, n_classes))
    logits[0] = 0.0
    logits[0, 1] = 1e-15  # too near for doubles
    result = one.predict_proba(logits)
    assert np.array_equal(result.argmax(axis=1), logits.argmax(axis=1))
    assert_allclose(result.sum(axis=1), 1, rtol=0, atol=1e-12)
    order = logits.argsort(axis=1)
    assert np.all(np.diff(np.take_along_axis(result, order, axis=1), axis=1) >= 0)


def test_a_map_of_weight_at_a_bound_is_named() -> None:
    gaps = np.linspace(0.1, 4, 40)
    chance = (gaps < 2) & (np.arange(40) % 2 == 0)  # certain above a gap of 2, a coin's below
    fitted = BetaEnsemble(n_maps=1).fit(np.stack([gaps, 0 * gaps], axis=1), chance.astype(int))
    assert fitted.b[0] >= 990
    (text,) = fitted.warnings
    assert text.startswith("Map 1 of the mixture, of weight 1, ended at a bound of the search (")


@pytest.mark.parametrize(
    ("a", "b", "c", "weight", "words"),
    [
        (1.0, 0.0, -8.0, 0.5, None),  # b = 0 is no bound of the search
        (1.0, 1.0, 49.9, 0.5, "ended at a bound of the search (c = 49.9)"),
        (1000.0, 999.9, 50.0, 0.5, "(a = 1000, b = 999.9, c = 50): no finite curve"),
        (1000.0, 999.9, 50.0, 1e-7, None),
        (0.001, 0.0, -8.0, 0.5, "as the search allows (a = 0.001); a flatter one would hardly"),
        (0.001, 0.0, 50.0, 0.5, "(c = 50): no finite curve"),
        (1.0, 0.0, -50.0, 0.5, None),  # that is the limit, to the last digit
    ],
)
def test_bounds_are_told_apart(a: float, b: float, c: float, weight: float, words: Any) -> None:
    numbers = np.array([[1.0, a], [1.0, b], [0.0, c], [1 - weight, weight]])
    texts = _at_bounds(Maps(*numbers))
    assert len(texts) == (words is not None)
    assert all(f"Map 2 of the mixture, of weight {weight:.2g}, " in one for one in texts)
    assert all(words in one for one in texts)


def test_rows_whose_truth_is_ruled_out_are_left_out_of_the_likelihood() -> None:
    logits, labels = overconfident(1, 60, n_impossible=20)
    fitted = BetaEnsemble().fit(logits, labels)
    (text,) = fitted.warnings
    assert text.startswith("20 calibration rows were left out of the fit: the model gives their")
    wanted = BetaEnsemble().fit(logits[20:], labels[20:])
    assert wanted.warnings == ()
    assert_allclose(fitted.predict_proba(logits), wanted.predict_proba(logits), rtol=0, atol=0)
    own = fitted.predict_proba(logits)[np.arange(20), labels[:20]]
    assert own.tolist() == [0.0] * 20
    assert BetaEnsemble(loss="squared_error").fit(logits, labels).warnings == ()


def test_where_every_truth_is_ruled_out_the_probabilities_are_kept() -> None:
    logits = np.array([[0.0, 1.0, -np.inf]] * 3)
    fitted = BetaEnsemble().fit(logits, [2, 2, 2])
    assert [text[:6] for text in fitted.warnings] == ["3 cali", "No row"]
    assert_allclose(fitted.predict_proba(logits), softmax(logits), atol=1e-15)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [60, 120])
def test_very_overconfident_models_reach_the_best_single_map(seed: int, scale: float) -> None:
    logits, labels = overconfident(seed, scale)
    inverse = 1 / TemperatureScaling().fit(logits, labels).temperature
    reached = nll(BetaEnsemble(n_maps=1).fit(logits, labels).predict_proba(logits), labels)
    rng = np.random.default_rng(seed)
    for _ in range(300):
        a, b = inverse * np.exp(rng.uniform(-1.5, 1.5, size=(2, 1)))
        other = FittedBetaEnsemble(a, b, rng.uniform(-4, 4, 1), np.ones(1))
        assert reached <= nll(other.predict_proba(logits), labels) + 1e-6
