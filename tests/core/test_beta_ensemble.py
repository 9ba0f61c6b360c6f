"""The beta ensemble's maps against their formula, and its optimum; more is in test_ensembles."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore.calibrators.beta_ensemble import BetaEnsemble, FittedBetaEnsemble
from calibcore.calibrators.temperature import Loss
from calibcore.metrics import brier, nll
from calibcore.probabilities import log_softmax
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
