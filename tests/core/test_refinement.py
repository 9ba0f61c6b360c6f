"""Losses and errors in parts, of worlds in which these are known, and beside loops over folds."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from calibcore import CalibrationInputError, EventScores, LogitSet
from calibcore.calibrators import BetaCalibration, PlattScaling, ScoreMap, TemperatureScaling
from calibcore.data import with_design
from calibcore.metrics import event_brier, event_nll, net_overconfidence
from calibcore.refinement import OF_CLASSES, OF_EVENTS, error_parts, loss_parts
from calibcore.splits import Folds, deal_folds
from calibcore.validation import Floats
from tests import reference_measures

Marks = NDArray[np.bool_]


def twice(n_rows: int, seed: int = 1) -> EventScores:
    """True probabilities are even from 0 to 1; the log-odds of the scores are twice theirs."""
    rng = np.random.default_rng(seed)
    true = rng.random(n_rows)
    scores = true**2 / (true**2 + (1 - true) ** 2)
    return EventScores(scores, rng.random(n_rows) < true)


def out_of_fold(calibrator: ScoreMap, rows: EventScores, folds: Folds) -> Floats:
    after = np.empty(rows.n_samples)
    for number in range(folds.max() + 1):
        rest, mine = folds != number, folds == number
        after[mine] = calibrator.fit(rows.scores[rest], rows.hits[rest]).predict(rows.scores[mine])
    return after


def test_the_parts_of_a_log_loss_that_is_known() -> None:
    # The entropy of an even share is 1/2 on average, the loss of scores so sharpened pi / 2 - 1.
    result = loss_parts(twice(200_000))
    assert result.refinement == pytest.approx(0.5, abs=0.004)
    assert result.calibration == pytest.approx(math.pi / 2 - 1.5, abs=0.002)
    assert result.share == pytest.approx(result.calibration / result.loss)
    assert result.losses.keys() == OF_EVENTS.keys()


def test_the_parts_of_a_brier_score_that_is_known() -> None:
    # Refinement: the integral of p (1 - p) is 1/6; calibration: that of (p - s)^2 by a fine sum.
    mesh = (np.arange(1_000_000) + 0.5) / 1_000_000
    text = mesh**2 / (mesh**2 + (1 - mesh) ** 2)
    result = loss_parts(twice(200_000), loss="brier")
    assert result.refinement == pytest.approx(1 / 6, abs=0.002)
    assert result.calibration == pytest.approx(float(np.mean((mesh - text) ** 2)), abs=0.001)


def test_it_is_the_loss_of_fits_that_have_not_seen_the_row() -> None:
    rows, tried = twice(300), {"platt": PlattScaling()}
    after = out_of_fold(PlattScaling(), rows, deal_folds(rows, n_folds=3, seed=4))
    for loss, of in (("nll", event_nll), ("brier", event_brier)):
        result = loss_parts(rows, loss=loss, calibrators=tried, n_folds=3, seed=4)  # type: ignore[arg-type]
        assert result.losses["platt"] == pytest.approx(of(after, rows.hits), abs=1e-12)
        assert result.loss == of(rows.scores, rows.hits)
        assert result.calibrator == "platt"


def test_true_probabilities_have_no_calibration_loss_to_speak_of() -> None:
    rng = np.random.default_rng(2)
    true = rng.random(5_000)
    result = loss_parts(EventScores(true, rng.random(5_000) < true))
    assert 0 <= result.calibration < 0.001
    assert result.loss == result.calibration + result.refinement
    nothing = loss_parts(
        EventScores(true, rng.random(5_000) < true), calibrators={"platt": PlattScaling()}
    )
    assert nothing.calibrator in ("", "platt")


def test_intervals_of_both_parts_by_hand() -> None:
    rows, tried = twice(300), {"platt": PlattScaling()}
    clusters = np.repeat(np.arange(60), 5)
    for own in (rows, with_design(rows, clusters=clusters)):
        result = loss_parts(own, loss="brier", calibrators=tried)
        after = out_of_fold(PlattScaling(), rows, deal_folds(own))
        left = (after - rows.hits) ** 2
        removed, expected = (rows.scores - rows.hits) ** 2 - left, (rows.scores - after) ** 2
        for values, interval in (
            (removed, result.calibration_interval),
            (left, result.refinement_interval),
        ):
            sums = values - values.mean()
            width = 1.959963984540054
            if own.clusters is not None:
                sums = sums.reshape(60, 5).sum(axis=1)
                width = 2.0009953780882688  # of Student's t, 59 degrees of freedom
            n = sums.size
            half = width * math.sqrt(float(sums @ sums) * n / (n - 1)) / 300
            assert interval.low == pytest.approx(max(values.mean() - half, 0.0), abs=1e-12)
            if values is left:
                assert interval.high == pytest.approx(values.mean() + half, abs=1e-12)
            else:  # as far from what was seen as a loss so large varies
                varied = half * math.sqrt(interval.high / expected.mean())
                assert interval.high - varied == pytest.approx(values.mean(), abs=1e-12)


@pytest.mark.parametrize("loss", ["nll", "brier"])
def test_intervals_hold_the_parts(loss: Any) -> None:
    mesh = (np.arange(100_000) + 0.5) / 100_000
    text = 1 / (1 + np.exp(-1.3 * np.log(mesh / (1 - mesh))))
    apart = mesh * np.log(mesh / text) + (1 - mesh) * np.log((1 - mesh) / (1 - text))
    calibration = float(np.mean(apart if loss == "nll" else (mesh - text) ** 2))
    refinement, held = 0.5 if loss == "nll" else 1 / 6, []
    for seed in range(200):
        rng = np.random.default_rng([seed, 9])
        true = rng.random(500)
        scores = 1 / (1 + np.exp(-1.3 * np.log(true / (1 - true))))
        rows = EventScores(scores, rng.random(500) < true)
        parts = loss_parts(rows, loss=loss, calibrators={"platt": PlattScaling()})
        both = parts.calibration_interval, parts.refinement_interval
        truths = calibration, refinement
        held.append([one.low <= t <= one.high for one, t in zip(both, truths, strict=True)])
    assert (np.mean(held, axis=0) >= 0.93).all()


def test_where_no_calibrator_lowers_the_loss() -> None:
    rows = EventScores(np.full(40, 0.5), np.tile([0, 1], 20))
    result = loss_parts(rows, calibrators={"beta": BetaCalibration()})
    assert result.calibrator == ""
    assert result.calibration_interval.low == 0
    spread = result.refinement_interval
    assert spread.low == pytest.approx(result.refinement) == spread.high  # each row loses ln 2


def test_of_all_classes() -> None:
    rng = np.random.default_rng(3)
    true = 1.5 * rng.normal(size=(3_000, 4))
    labels = (true + rng.gumbel(size=true.shape)).argmax(axis=1)
    result = loss_parts(LogitSet(2 * true, labels))
    assert result.losses.keys() == OF_CLASSES.keys()
    entropy = LogitSet(true, labels).probabilities
    refined = float(-np.mean(np.sum(entropy * np.log(entropy), axis=1)))
    assert result.refinement == pytest.approx(refined, abs=0.03)
    assert result.refinement_interval.low < refined < result.refinement_interval.high
    assert result.calibration_interval.low < result.calibration < result.calibration_interval.high
    assert result.calibration > 0.05


def test_calibrators_of_another_kind_are_refused() -> None:
    with pytest.raises(CalibrationInputError, match="TemperatureScaling"):
        loss_parts(twice(50), calibrators={"temperature": TemperatureScaling()})
    with pytest.raises(CalibrationInputError, match="loss"):
        loss_parts(twice(50), loss="auc")  # type: ignore[arg-type]
    with pytest.raises(CalibrationInputError, match="centre"):
        error_parts(twice(50), centre=1.5)


# An error in two parts --------------------------------------------------------------------------

ERROR = math.log(2) / 2 - 0.25
"""Mean distance of the scores of `twice` and the true probabilities."""


def test_the_parts_of_an_error_that_is_known() -> None:
    sharpened = error_parts(twice(100_000))
    assert sharpened.over == pytest.approx(ERROR, abs=0.004)
    assert sharpened.under == pytest.approx(0.0, abs=0.001)
    assert sharpened.error == sharpened.over + sharpened.under
    rng = np.random.default_rng(5)
    true = twice(100_000, seed=6).scores  # so that even ones are half as far from even odds
    odds = np.sqrt(true / (1 - true))
    flat = error_parts(EventScores(odds / (1 + odds), rng.random(true.size) < true))
    assert flat.over == pytest.approx(0.0, abs=0.001)
    assert flat.under == pytest.approx(ERROR, abs=0.004)


@pytest.mark.parametrize("centre", [0.5, 0.3])
def test_parts_of_the_error_agree_with_a_slow_loop(centre: float) -> None:
    rows = twice(300)
    scores = np.append(rows.scores, [centre, 0.0, 1.0])
    rows = EventScores(scores, np.append(rows.hits, [1, 0, 1]))
    tried: dict[str, ScoreMap] = {"beta": BetaCalibration(), "platt": PlattScaling()}
    parts = error_parts(rows, centre=centre, calibrators=tried, n_folds=3, seed=4)
    folds = deal_folds(rows, n_folds=3, seed=4)
    after = {key: out_of_fold(calibrator, rows, folds) for key, calibrator in tried.items()}
    losses = {key: event_nll(scores, rows.hits) for key, scores in after.items()}
    best = min(losses, key=losses.__getitem__)
    args = rows.scores.tolist(), rows.hits.tolist(), after[best].tolist(), centre
    over, under = reference_measures.error_parts(*args)
    assert parts.calibrator == best
    assert (parts.over, parts.under) == pytest.approx((over, under), abs=1e-12)
    net = net_overconfidence(rows.scores, rows.hits, centre=centre)
    assert parts.over - parts.under == pytest.approx(net, abs=1e-12)


@pytest.mark.parametrize(("slope", "bias"), [(2.0, 0.006), (1.0, 0.006)])
def test_few_rows_hardly_bias_the_parts_and_margins_hold_them(slope: float, bias: float) -> None:
    tried, truth, held, values = {"platt": PlattScaling()}, ERROR * (slope - 1), [], []
    for seed in range(200):
        rng = np.random.default_rng([seed, 8])
        true = rng.random(500)
        scores = true**slope / (true**slope + (1 - true) ** slope)
        parts = error_parts(EventScores(scores, rng.random(500) < true), calibrators=tried)
        values.append(parts.over)
        held.append(abs(parts.over - truth) <= parts.margin)
    assert np.mean(values) == pytest.approx(truth, abs=bias)
    assert 0.9 <= np.mean(held) <= 1.0


def _is_between(rows: EventScores) -> Marks:
    """Return which scores are neither near 1/2 nor near 0 or 1: these are furthest off."""
    return np.asarray(np.abs(np.abs(rows.scores - 0.5) - 0.3) < 0.12)


def test_weights_undo_unequal_chances_and_clusters_widen_margins() -> None:
    rows = twice(60_000)
    rng = np.random.default_rng(7)
    drawn = rows.rows(rng.random(rows.n_samples) < np.where(_is_between(rows), 0.2, 1.0))
    weights = np.where(_is_between(drawn), 5.0, 1.0)
    weighted = with_design(drawn, sample_weight=weights)
    assert error_parts(weighted).over == pytest.approx(ERROR, abs=0.01)
    assert error_parts(drawn).over != pytest.approx(ERROR, abs=0.01)
    parts = loss_parts(weighted)
    assert parts.loss == pytest.approx(event_nll(drawn.scores, drawn.hits, sample_weight=weights))
    assert parts.refinement == pytest.approx(0.5, abs=0.01)
    few = rows.rows(np.arange(1_000))
    four = np.repeat(np.arange(1_000), 4)
    copies = error_parts(with_design(few.rows(four), clusters=four))
    assert copies.margin == pytest.approx(error_parts(few).margin, rel=0.01)
