"""Measures that are asked for by name, beside slow loops, hand sums and what they must obey."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore import CalibrationInputError, EventScores, metrics
from calibcore.inference import Plan, SideRows, infer
from calibcore.metrics import METRICS, EventMeasure
from calibcore.metrics.loess import MOST, ici_of, local_weights
from calibcore.probabilities import softmax
from calibcore.tally import tally
from tests import reference as loops
from tests import reference_measures as reference
from tests.core.inference.uncertainty import before_of, uncertainty_of
from tests.strategies import EventCase, event_data, seeded_logit_sets


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-10, abs=1e-10, nan_ok=True)


# Against the loops --------------------------------------------------------------------------------


def check_loess(one: EventCase) -> None:
    gaps = reference.loess_gaps(one.scores.tolist(), one.hits.tolist())
    assert metrics.ici(*one) == close(math.fsum(gaps) / len(gaps))
    assert metrics.e50(*one) == close(reference.type_7(gaps, Fraction(1, 2)))
    assert metrics.e90(*one) == close(reference.type_7(gaps, Fraction(9, 10)))


@given(event_data(max_size=15))
def test_event_measures_agree_with_the_loops(one: EventCase) -> None:
    scores, hits = one.scores.tolist(), one.hits.tolist()
    assert metrics.averaged_two_bin(*one) == close(reference.averaged_two_bin(scores, hits))
    # Of scores an epsilon from 1 alone, both sums are of single bits.
    z = reference.spiegelhalter_z(scores, hits)
    assert metrics.spiegelhalter_z(*one) == pytest.approx(z, rel=1e-10, abs=5e-8, nan_ok=True)
    rounded = np.round(one.scores, 6)  # nearer to 1, what is left to it has few digits
    for n_groups in (1, 4, 10):
        result = metrics.hosmer_lemeshow_test(rounded, hits, n_groups=n_groups).statistic
        expected = reference.hosmer_lemeshow(rounded.tolist(), hits, n_groups)
        assert result == pytest.approx(expected, rel=1e-8, abs=1e-12)
    brier = reference.skill(loops.event_brier(scores, hits), reference.corp(scores, hits)[2])
    assert metrics.brier_skill(*one) == close(brier)
    parts, sums = metrics.corp_nll(*one), reference.corp_nll(scores, hits)
    assert parts.miscalibration == close(max(sums.miscalibration, 0.0))
    assert parts.discrimination == close(sums.discrimination)
    assert parts.uncertainty == close(sums.uncertainty)
    nll = reference.skill(loops.event_nll(scores, hits), sums.uncertainty)
    assert metrics.nll_skill(*one) == close(nll)


sixty_fourths = st.lists(
    st.tuples(st.integers(0, 64), st.integers(0, 1)), min_size=1, max_size=24
).map(
    lambda rows: EventCase(
        np.array([s / 64 for s, _ in rows]), np.array([h for _, h in rows], dtype=np.int64)
    )
)


@given(sixty_fourths)
def test_loess_agrees_with_exact_fractions(one: EventCase) -> None:
    check_loess(one)


def test_loess_agrees_with_exact_fractions_on_10_cases() -> None:
    rng = np.random.default_rng(62)
    for n_rows in range(5, 55, 5):
        scores = np.round(rng.beta(0.8, 1.5, n_rows), 3)
        check_loess(EventCase(scores, (rng.random(n_rows) < scores).astype(np.int64)))


def test_top_label_ece_agrees_with_the_loops_on_200_cases() -> None:
    for one, n_bins in zip(seeded_logit_sets(63, 200), [1, 4, 15] * 67, strict=False):
        table = softmax(one.logits)
        expected = reference.top_label_ece(table.tolist(), one.labels.tolist(), n_bins)
        assert metrics.top_label_ece(table, one.labels, n_bins=n_bins) == close(expected)


# By hand ------------------------------------------------------------------------------------------


def test_spiegelhalter_by_hand() -> None:
    # Each row: (h - s)(1 - 2 s): -0.2 0.6, 0.8 0.6, 0.2 (-0.6), 0.2 (-0.6); variance 4 0.36 0.16.
    result = metrics.spiegelhalter_test([0.2, 0.2, 0.8, 0.8], [0, 1, 1, 1])
    assert result.z == close((-0.12 + 0.48 - 0.12 - 0.12) / math.sqrt(4 * 0.36 * 0.16))
    assert result.p_value == close(math.erfc(0.25 / math.sqrt(2)))


def test_scores_that_decide_the_brier_score_have_no_z() -> None:
    assert math.isnan(metrics.spiegelhalter_z([0.0, 0.5, 1.0], [0, 1, 1]))
    assert math.isnan(metrics.spiegelhalter_test([0.5], [1]).p_value)
    assert metrics.spiegelhalter_z([0.0, 1.0], [1, 1]) == math.inf


def test_hosmer_lemeshow_by_hand() -> None:
    # Two groups of 2: expected 0.4 and 1.6, seen 1 and 2: 0.36 / 0.32 + 0.16 / 0.32.
    result = metrics.hosmer_lemeshow_test([0.2, 0.2, 0.8, 0.8], [0, 1, 1, 1], n_groups=2)
    assert result.statistic == close(1.625)
    assert result.p_value == close(math.exp(-1.625 / 2))  # chi-squared with 2 degrees
    assert math.isnan(
        metrics.hosmer_lemeshow_test([0.2, 0.8], [0, 1], n_groups=2, fitted=2).p_value
    )
    with pytest.raises(CalibrationInputError, match="fitted"):
        metrics.hosmer_lemeshow_test([0.2], [1], fitted=-1)


def test_averaged_two_bin_of_true_probabilities_is_their_variance_on_average() -> None:
    scores = np.array([0.1, 0.3, 0.3, 0.8])
    total, outcomes = 0.0, list(product((0, 1), repeat=4))
    for hits in outcomes:
        chance = np.prod(np.where(np.array(hits) == 1, scores, 1 - scores))
        total += float(chance) * metrics.averaged_two_bin(scores, hits)
    assert total == close(float(np.sum(scores * (1 - scores))) / 16)


@given(st.lists(st.integers(0, 8), min_size=3, max_size=3), st.integers(0, 10_000))
def test_no_other_scores_have_a_lower_averaged_two_bin_error(texts: list[int], seed: int) -> None:
    true = np.random.default_rng(seed).random(3)
    outcomes = list(product((0, 1), repeat=3))
    chances = [float(np.prod(np.where(np.array(h) == 1, true, 1 - true))) for h in outcomes]

    def expected(scores: np.ndarray) -> float:
        return sum(
            p * metrics.averaged_two_bin(scores, h) for p, h in zip(chances, outcomes, strict=True)
        )

    assert expected(true) <= expected(np.array(texts) / 8) + 1e-12


def test_a_top_label_error_that_cancels_in_the_ece() -> None:
    table = [[0.75, 0.25]] * 4 + [[0.25, 0.75]] * 4
    labels = [0, 0, 0, 0, 1, 1, 0, 0]  # of class 0 all are right, of class 1 half are
    assert metrics.ece([0.75] * 8, [1, 1, 1, 1, 1, 1, 0, 0]) == 0.0
    assert metrics.top_label_ece(table, labels) == 0.25


# What must hold -----------------------------------------------------------------------------------


def test_a_rounded_score_costs_what_its_rest_says() -> None:
    scores, hits, rest = [1.0, 1.0, 0.5], [1, 0, 1], [1e-20, 1e-20, 0.5]
    whole = metrics.event_nll(scores, hits, rest)
    parts = metrics.corp_nll(scores, hits, rest)
    assert parts.miscalibration - parts.discrimination + parts.uncertainty == close(whole)
    assert metrics.nll_skill(scores, hits, rest) == close(1 - whole / parts.uncertainty)


def test_joining_scores_hardly_moves_the_index() -> None:
    rng = np.random.default_rng(5)
    for a, b in ((0.7, 1.2), (0.1, 0.1), (5.0, 40.0)):
        scores = np.unique(rng.beta(a, b, 2_000))
        hits = (rng.random(scores.size) < scores**1.3).astype(np.int64)
        assert scores.size > 3 * MOST // 2
        exact = local_weights(scores, np.ones(scores.size)) @ hits
        gaps = np.abs(scores - exact)
        assert metrics.ici(scores, hits) == pytest.approx(float(gaps.mean()), abs=2e-4)
        assert metrics.e50(scores, hits) == pytest.approx(float(np.median(gaps)), abs=2e-4)
        assert metrics.e90(scores, hits) == pytest.approx(float(np.quantile(gaps, 0.9)), abs=5e-4)
        counted = tally(scores, hits)
        assert float(ici_of(counted, rough=True)) == pytest.approx(float(gaps.mean()), abs=5e-4)


# What is known of them ----------------------------------------------------------------------------


def test_a_test_has_a_p_value_and_no_interval() -> None:
    rng = np.random.default_rng(7)
    scores = rng.random(400)
    event = EventScores(scores, rng.random(400) < 0.25 + scores / 2)
    measures = tuple(one for one in METRICS if one.group == "test")
    results = infer(SideRows(event), SideRows(event), Plan(measures, n_resamples=200)).findings
    assert [one.key for one in results] == ["spiegelhalter_z", "hosmer_lemeshow"]
    for one in map(before_of, results):
        assert math.isnan(one.interval.low)
        assert one.reference.p_value < 1e-4  # of its law: fewer are drawn


def test_a_z_of_0_does_not_show_calibration() -> None:
    scores = (np.arange(20_000) + 0.5) / 20_000
    hits = np.random.default_rng(7).random(20_000) < scores**2  # too high everywhere
    assert metrics.spiegelhalter_test(scores, hits).p_value > 0.05
    assert metrics.hosmer_lemeshow_test(scores, hits).p_value < 1e-6


def test_drawn_tests_have_the_p_values_of_their_laws() -> None:
    rng = np.random.default_rng(8)
    scores = rng.random(2_000)
    event = EventScores(scores, rng.random(2_000) < scores + 0.02 * np.sin(7 * scores))
    measures = tuple(
        replace(one, law=None)
        for one in METRICS
        if isinstance(one, EventMeasure) and one.group == "test"
    )
    result = infer(SideRows(event), SideRows(event), Plan(measures, n_resamples=4_000))
    z = metrics.spiegelhalter_test(event.scores, event.hits)
    groups = metrics.hosmer_lemeshow_test(event.scores, event.hits)
    for key, p_value in (("spiegelhalter_z", z.p_value), ("hosmer_lemeshow", groups.p_value)):
        known = before_of(result.find(key)).reference
        assert known.p_value == pytest.approx(p_value, abs=0.035)


def test_resamples_keep_what_rounded_misses_are_spared() -> None:
    rng = np.random.default_rng(9)
    scores = np.concatenate([rng.random(60), np.ones(40)])
    rest = np.concatenate([1 - scores[:60], np.full(40, 1e-18)])
    hits = np.concatenate([rng.random(60) < scores[:60], rng.random(40) < 0.9]).astype(np.int64)
    result = uncertainty_of("nll_skill", EventScores(scores, hits, rest), 400)
    assert result.interval.low < result.value < result.interval.high
    assert result.interval.low > 1 - (result.value - 1) * -4  # a miss costs 41 nats, not 708
