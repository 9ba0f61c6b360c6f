"""A loss in two parts, of worlds in which both are known, and beside loops over the folds."""

import math

import numpy as np
import pytest

from calibcore import CalibrationInputError, EventScores, LogitSet
from calibcore.calibrators import PlattScaling, TemperatureScaling
from calibcore.metrics import event_brier, event_nll
from calibcore.refinement import OF_CLASSES, OF_EVENTS, loss_parts
from calibcore.splits import deal_folds


def twice(n_rows: int, seed: int = 1) -> EventScores:
    """True probabilities are even from 0 to 1; the log-odds of the scores are twice theirs."""
    rng = np.random.default_rng(seed)
    true = rng.random(n_rows)
    scores = true**2 / (true**2 + (1 - true) ** 2)
    return EventScores(scores, rng.random(n_rows) < true)


def test_the_parts_of_a_log_loss_that_is_known() -> None:
    # The entropy of an even share is 1/2 on average, the loss of scores so sharpened pi / 2 - 1.
    found = loss_parts(twice(200_000))
    assert found.refinement == pytest.approx(0.5, abs=0.004)
    assert found.calibration == pytest.approx(math.pi / 2 - 1.5, abs=0.002)
    assert found.share == pytest.approx(found.calibration / found.loss)
    assert found.losses.keys() == OF_EVENTS.keys()


def test_the_parts_of_a_brier_score_that_is_known() -> None:
    # Refinement: the integral of p (1 - p) is 1/6; calibration: that of (p - s)^2 by a fine sum.
    mesh = (np.arange(1_000_000) + 0.5) / 1_000_000
    said = mesh**2 / (mesh**2 + (1 - mesh) ** 2)
    found = loss_parts(twice(200_000), loss="brier")
    assert found.refinement == pytest.approx(1 / 6, abs=0.002)
    assert found.calibration == pytest.approx(float(np.mean((mesh - said) ** 2)), abs=0.001)


def test_it_is_the_loss_of_fits_that_have_not_seen_the_row() -> None:
    rows, tried = twice(300), {"platt": PlattScaling()}
    folds = deal_folds(rows, n_folds=3, seed=4)
    after = np.empty(300)
    for k in range(300):
        others = folds != folds[k]
        fitted = PlattScaling().fit(rows.scores[others], rows.hits[others])
        after[k] = fitted.predict(rows.scores[k : k + 1])[0]
    for loss, of in (("nll", event_nll), ("brier", event_brier)):
        found = loss_parts(rows, loss=loss, calibrators=tried, n_folds=3, seed=4)  # type: ignore[arg-type]
        assert found.losses["platt"] == pytest.approx(of(after, rows.hits), abs=1e-12)
        assert found.loss == of(rows.scores, rows.hits)
        assert found.calibrator == "platt"


def test_true_probabilities_have_no_calibration_loss_to_speak_of() -> None:
    rng = np.random.default_rng(2)
    true = rng.random(5_000)
    found = loss_parts(EventScores(true, rng.random(5_000) < true))
    assert 0 <= found.calibration < 0.001
    assert found.loss == found.calibration + found.refinement
    nothing = loss_parts(
        EventScores(true, rng.random(5_000) < true), calibrators={"platt": PlattScaling()}
    )
    assert nothing.calibrator in ("", "platt")


def test_of_all_classes() -> None:
    rng = np.random.default_rng(3)
    true = 1.5 * rng.normal(size=(3_000, 4))
    labels = (true + rng.gumbel(size=true.shape)).argmax(axis=1)
    found = loss_parts(LogitSet(2 * true, labels))
    assert found.losses.keys() == OF_CLASSES.keys()
    entropy = LogitSet(true, labels).probabilities
    refined = float(-np.mean(np.sum(entropy * np.log(entropy), axis=1)))
    assert found.refinement == pytest.approx(refined, abs=0.03)
    assert found.calibration > 0.05


def test_calibrators_of_another_kind_are_refused() -> None:
    with pytest.raises(CalibrationInputError, match="TemperatureScaling"):
        loss_parts(twice(50), calibrators={"temperature": TemperatureScaling()})
    with pytest.raises(CalibrationInputError, match="loss"):
        loss_parts(twice(50), loss="auc")  # type: ignore[arg-type]
