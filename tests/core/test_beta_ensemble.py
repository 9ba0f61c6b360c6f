"""The beta ensemble's maps against their formula, and its optimum; more is in test_ensembles."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore.calibrators.beta_ensemble import BetaEnsemble, FittedBetaEnsemble, _laid_out
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
    assert sorted(wanted.tolist()) == sorted(rows.tolist())
    for order in itertools.permutations(range(5)):
        found = _laid_out(LogitSet(rows[[*order]], np.full(5, 2)))
        assert np.array_equal(found.logits, wanted)


def test_rows_whose_truth_is_ruled_out_are_left_out_of_the_likelihood() -> None:
    logits, labels = overconfident(1, 60, n_impossible=20)
    fitted = BetaEnsemble().fit(logits, labels)
    (said,) = fitted.warnings
    assert said.startswith("20 calibration rows were left out of the fit: the model gives their")
    wanted = BetaEnsemble().fit(logits[20:], labels[20:])
    assert wanted.warnings == ()
    assert_allclose(fitted.predict_proba(logits), wanted.predict_proba(logits), rtol=0, atol=0)
    own = fitted.predict_proba(logits)[np.arange(20), labels[:20]]
    assert own.tolist() == [0.0] * 20
    assert BetaEnsemble(loss="squared_error").fit(logits, labels).warnings == ()


def test_where_every_truth_is_ruled_out_the_probabilities_are_kept() -> None:
    logits = np.array([[0.0, 1.0, -np.inf]] * 3)
    fitted = BetaEnsemble().fit(logits, [2, 2, 2])
    assert [said[:6] for said in fitted.warnings] == ["3 cali", "No row"]
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
