"""Intervals where luck hides the truth: no miss seen, a low draw, hard decisions, common values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore import EventScores, TopR
from calibcore.inference import Inference, Plan, SideRows, infer
from calibcore.inference.draws import OrderedRows, draw_rows, other_labels
from calibcore.inference.inversion import Usual
from calibcore.metrics import METRICS, RowMeasure
from calibcore.reliability import binomial_interval
from calibcore.validation import Floats
from tests.core.inference.uncertainty import (
    after_of,
    before_of,
    change_of,
    plan_of,
    uncertainty_of,
)

SHARES = {m.key for m in METRICS if isinstance(m, RowMeasure) and m.asks_for_order}


def two_classes(scores: Floats, hits: Floats) -> SideRows:
    """Rows of which class 0 was decided for."""
    table = np.stack([scores, 1 - scores], axis=1)
    return SideRows(EventScores(scores, hits), table, (1 - hits).astype(np.int64))


@pytest.fixture(scope="module")
def sure() -> Inference:
    """No miss among 60 rows; afterwards every score is 1."""
    scores = np.random.default_rng(0).uniform(0.95, 0.99, 60)
    hits = np.ones(60)
    return infer(two_classes(scores, hits), two_classes(np.ones(60), hits), Plan(n_resamples=200))


def test_nothing_is_better_for_want_of_a_miss(sure: Inference) -> None:
    assert [one.key for one in sure.findings if one.mark == "better"] == []
    for key in ("event_nll", "nll", "event_brier", "brier"):
        change = change_of(sure.find(key))
        assert change.low < 0 < change.high


@pytest.mark.parametrize("key", sorted({"hit_rate"} | SHARES))
def test_shares_have_wilson_s_interval(sure: Inference, key: str) -> None:
    interval = after_of(sure.find(key)).interval
    assert_allclose([interval.low, interval.high], binomial_interval(60, 60))


def test_no_interval_leaves_out_its_value_or_the_range(sure: Inference) -> None:
    for key in ("discrimination", "uncertainty"):
        for one in (before_of(sure.find(key)), after_of(sure.find(key))):
            assert 0 <= one.interval.low <= one.value <= one.interval.high <= 0.25


def test_rows_that_turn_out_otherwise_are_as_likely_as_so_many_rows_leave_it() -> None:
    rng = np.random.default_rng(1)
    drawn = draw_rows(rng, 4000, 50, alike=True)
    assert drawn.otherwise is not None
    assert np.all(drawn.otherwise <= drawn.counts)
    # Jeffreys' prior and 50 hits: a mean share of 0.5 / 51.
    assert drawn.otherwise.sum() / 4000 == pytest.approx(50 * 0.5 / 51, rel=0.15)
    assert draw_rows(rng, 10, 50).otherwise is None
    for hit in (0, 1):
        rows = OrderedRows.of(EventScores(np.linspace(0, 1, 50), np.full(50, hit)))
        otherwise = np.abs(rows.recounted(drawn).hits - hit * drawn.counts)
        assert_allclose(otherwise, drawn.otherwise)


def test_the_most_probable_other_class_is_found() -> None:
    table = np.random.default_rng(2).dirichlet([0.5] * 5, size=40)
    labels = np.random.default_rng(3).integers(5, size=40)
    for row, label, other in zip(table, labels, other_labels(table, labels), strict=True):
        assert other != label
        assert row[other] == max(np.delete(row, label))


def test_hard_decisions_have_an_interval_for_class_wise_errors() -> None:
    # 8 of 100 decisions are wrong, so the error of either class is truly 8 %.
    rng = np.random.default_rng(4)
    n_held = 0
    for seed in range(40):
        labels = rng.integers(2, size=200)
        table = np.eye(2)[np.where(rng.random(200) < 0.08, 1 - labels, labels)]
        side = SideRows(TopR(1).outcomes(table, labels), table, labels)
        interval = uncertainty_of("classwise_ece", side, 100, seed).interval
        assert interval.high < 0.2
        n_held += interval.low <= 0.08 <= interval.high
    assert n_held >= 36


def test_a_low_draw_does_not_exclude_what_so_many_rows_cannot() -> None:
    usual = Usual.beginning(np.linspace(0.1, 0.3, 1001), 0.95)
    usual.add(0.2, np.linspace(0.2, 0.4, 1001))
    assert usual.estimate(0.01).interval.low == 0
    # Like a value at the 16 % quantile of perfectly calibrated sets, 0.132.
    assert usual.estimate(0.01).interval.high == pytest.approx(0.2 * (0.132 - 0.105) / 0.1)
    assert usual.estimate(0.01) == usual.estimate(0.05)


def test_a_value_that_many_truths_show_excludes_none_of_them() -> None:
    common = np.full(1001, 0.5)
    usual = Usual.beginning(common, 0.95)
    for truth in (0.1, 0.2):
        usual.add(truth, common)
    usual.add(0.4, np.full(1001, 0.9))
    result = usual.estimate(0.5)
    assert result.interval.low == 0
    assert result.centre == pytest.approx(0.1)
    assert result.interval.high == pytest.approx(0.2, abs=1e-6)


def saturated(rng: np.random.Generator, n: int) -> tuple[EventScores, Floats]:
    logits = 4 + 2 * rng.normal(size=n)
    scores, truth = (1 / (1 + np.exp(-z)) for z in (logits, logits / 1.5))
    return EventScores(scores, (rng.random(n) < truth).astype(int)), truth


def test_the_widest_gap_of_few_rows_in_a_bin_is_not_known() -> None:
    # Nearly all scores are near 1; the widest of 15 gaps is truly 0.088, at scores about 0.7.
    n_held = 0
    for seed in range(40):
        event, _ = saturated(np.random.default_rng(seed), 300)
        interval = uncertainty_of("mce", event, 100, seed).interval
        n_held += interval.low <= 0.088 <= interval.high
    assert n_held >= 36


def test_a_change_has_the_change_that_was_seen() -> None:
    for seed in range(5):
        event, truth = saturated(np.random.default_rng(seed), 300)
        after = SideRows(EventScores(truth, event.hits))
        plan = plan_of("ks_error", "ece", "kde_ece", n_resamples=60)
        for one in infer(SideRows(event), after, plan).findings:
            change = change_of(one)
            assert change.low <= after_of(one).value - before_of(one).value <= change.high


def test_the_order_of_the_rows_changes_no_draw() -> None:
    rng = np.random.default_rng(5)
    scores = rng.choice([0.2, 0.6, 0.9], 80)
    side = two_classes(scores, (rng.random(80) < scores).astype(float))
    after = two_classes(scores**1.5, side.event.hits.astype(float))
    plan = plan_of("event_nll", "nll", "auroc", "calibration_slope", "accuracy", "calibration_gain")
    result = infer(side, after, plan)
    order = rng.permutation(80)
    moved = [
        two_classes(one.event.scores[order], one.event.hits[order].astype(float))
        for one in (side, after)
    ]
    again = infer(moved[0], moved[1], plan)
    for one, other in zip(result.findings, again.findings, strict=True):
        assert one.mark == other.mark
        mine, its = change_of(one), change_of(other)
        assert_allclose([mine.low, mine.high], [its.low, its.high], atol=1e-12)
