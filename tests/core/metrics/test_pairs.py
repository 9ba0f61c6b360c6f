"""MMCE and SKCE, with its test, beside slow loops over pairs and all labels that rows can have."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.timing import peak_bytes
from calibcore import OneClass, metrics
from calibcore.errors import CalibrationInputError
from calibcore.inference import SideRows
from calibcore.inference.classwise import drawn_labels
from calibcore.metrics import KernelTest
from calibcore.metrics.pairwise import (
    WIDTH,
    event_skce_of,
    event_skce_test_of,
    mmce_of,
    true_skce_of,
)
from calibcore.probabilities import softmax
from calibcore.tally import Tally, tally
from tests import reference_pairs as reference
from tests.core.inference.uncertainty import uncertainty_of
from tests.strategies import EventCase, LogitCase, event_data, logit_sets

HALF = [[0.5, 0.5], [0.5, 0.5]]


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-9, abs=1e-12)


# By hand ----------------------------------------------------------------------------------------


def test_three_rows_of_three_classes_by_hand() -> None:
    table = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]
    # distances 1, 1/2, 1/2; residuals (0,0,0), (1,-1,0), (-0.5,-0.5,1): products 0, 0, 0
    assert metrics.skce(table, [0, 0, 2]) == 0
    # residuals (-1,0,1), (0,-1,1), (-0.5,-0.5,1): products 1, 1.5, 1.5; the median distance is 1/2
    expected = (math.exp(-2) + 2 * 1.5 * math.exp(-1)) / 3
    assert metrics.skce(table, [2, 2, 2]) == close(expected)
    assert metrics.skce_test(table, [2, 2, 2]).width == 0.5


@pytest.mark.parametrize("width", [0.0, 0.001, -1.0, math.nan])
def test_widths_are_refused(width: float) -> None:
    for function in (metrics.mmce, metrics.event_skce, metrics.event_skce_test):
        with pytest.raises(CalibrationInputError, match=r"width.*0\.01 or more"):
            function([0.5, 0.5], [0, 1], width=width)
    if width != 0.001:
        with pytest.raises(CalibrationInputError, match=r"width.*above 0"):
            metrics.skce(HALF, [0, 1], width=width)


# Beside loops -----------------------------------------------------------------------------------


@given(event_data(), st.sampled_from([0.05, 0.4, 3.0]))
def test_an_event_agrees_with_the_loops(case: EventCase, width: float) -> None:
    scores, hits = case.scores.tolist(), case.hits.tolist()
    result = metrics.mmce(*case, width=width)
    assert result**2 == close(reference.mmce(scores, hits, width) ** 2)
    if len(scores) < 2:
        assert math.isnan(metrics.event_skce(*case))
        assert math.isnan(metrics.event_skce_test(*case).p_value)
        return
    table = reference.event_table(scores)
    assert metrics.event_skce(*case, width=width) == close(reference.skce(table, hits, width))


@given(logit_sets())
def test_all_classes_agree_with_both_formulations(case: LogitCase) -> None:
    probabilities = softmax(case.logits)
    table, labels = probabilities.tolist(), case.labels.tolist()
    if len(table) < 2:
        assert math.isnan(metrics.skce(probabilities, labels))
        return
    width = reference.median_distance(table)
    result = metrics.skce_test(probabilities, labels)
    assert result.width == close(width)
    if width < 1e-6:  # rounding decides what is alike
        return
    assert result.value == metrics.skce(probabilities, labels)
    assert result.value == pytest.approx(reference.skce(table, labels, width), abs=1e-9)
    other = reference.skce_by_expectations(table, labels, width)
    assert result.value == pytest.approx(other, abs=1e-9)


def test_moments_are_those_of_all_labels(rng: np.random.Generator) -> None:
    for n_classes in (2, 3):
        table = rng.dirichlet(np.ones(n_classes), 6)
        result = metrics.skce_test(table, [0] * 6)
        mean, deviation = reference.skce_null(table.tolist(), result.width)
        assert mean == pytest.approx(0, abs=1e-15)
        assert result.deviation == close(deviation)
    scores = rng.choice([0.1, 0.5, 0.9], 6)
    result = metrics.event_skce_test(scores, [1] * 6)
    _, deviation = reference.skce_null(reference.event_table(scores.tolist()), WIDTH)
    assert result.deviation == close(deviation)
    assert result.mean == close(2 * float((scores * (1 - scores)).sum()) / 30)


def test_two_classes_are_the_event(rng: np.random.Generator) -> None:
    scores, hits = rng.random(300), rng.integers(0, 2, 300)
    table = np.column_stack([1 - scores, scores])
    one, both = metrics.event_skce_test(scores, hits), metrics.skce_test(table, hits, width=WIDTH)
    for field in ("value", "p_value", "deviation", "mean", "width"):
        assert getattr(one, field) == close(getattr(both, field))


def test_the_truth_is_what_many_rows_show(rng: np.random.Generator) -> None:
    scores = rng.random(200_000)
    frequency = scores**2
    hits = rng.random(scores.size) < frequency
    counted = tally(scores, hits)
    expected = Tally(np.sort(scores), np.ones(scores.size), np.sort(scores) ** 2, scores.size)
    assert event_skce_of(counted) == pytest.approx(float(true_skce_of(expected)), rel=0.02)
    assert mmce_of(counted) == pytest.approx(float(mmce_of(expected)), rel=0.01)


# The test ---------------------------------------------------------------------------------------


def test_p_values_are_even_if_the_scores_are_true(rng: np.random.Generator) -> None:
    scores = rng.beta(4, 1, 300)
    p_values = [
        event_skce_test_of(tally(scores, rng.random(300) < scores)).p_value for _ in range(2_000)
    ]
    for level, error in ((0.01, 0.008), (0.05, 0.016), (0.5, 0.045)):
        assert np.mean(np.array(p_values) < level) == pytest.approx(level, abs=error)


def test_p_values_of_all_classes_are_even_too(rng: np.random.Generator) -> None:
    table = rng.dirichlet([0.3] * 4, 200)
    p_values = [
        metrics.skce_test(table, labels).p_value for labels in drawn_labels(rng, table, 800)
    ]
    for level, error in ((0.01, 0.012), (0.05, 0.025), (0.5, 0.06)):
        assert np.mean(np.array(p_values) < level) == pytest.approx(level, abs=error)


def test_faults_are_found_that_no_class_shows(rng: np.random.Generator) -> None:
    """Each class is right on average at each of its probabilities, and no row is right."""
    table = np.tile([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]], (400, 1))
    # row 0 is class 0 or 1 at 1/2; row 1 class 1 or 2; row 2 class 2 or 0
    labels = (np.arange(1_200) % 3 + rng.integers(0, 2, 1_200)) % 3
    assert metrics.classwise_ece(table, labels) < 0.02
    assert metrics.skce_test(table, labels).p_value < 1e-6


def test_nothing_that_can_vary() -> None:
    assert metrics.event_skce_test([0.0, 1.0, 1.0], [0, 1, 1]).p_value == 1
    assert metrics.event_skce_test([0.0, 1.0, 1.0], [1, 0, 1]).p_value == 1  # gaps cancel
    assert metrics.event_skce_test([1.0, 1.0], [0, 0]).p_value == 0
    assert metrics.skce_test([[1.0, 0.0], [1.0, 0.0]], [1, 1]).p_value == 0
    assert KernelTest(0.0, 1.0, 0.0, 0.0, 0.4).shape == math.inf


def test_the_list_has_the_test_too(rng: np.random.Generator) -> None:
    scores = rng.beta(2, 1, 400)
    table = np.column_stack([1 - scores, scores])
    labels = (rng.random(400) < scores**1.3).astype(int)
    event = OneClass(1).outcomes(table, labels)
    side = SideRows(event, table, labels)
    one, whole = (uncertainty_of(key, side, 2_000) for key in ("event_skce", "skce"))
    own = metrics.event_skce_test(event.scores, event.hits)
    assert one.reference.p_value == pytest.approx(own.p_value, abs=0.015)
    assert one.reference.upper == pytest.approx(own.null_quantiles(0.95)[0], rel=0.15)
    assert one.reference.lower < 0
    test = metrics.skce_test(table, labels)
    assert whole.value == test.value
    assert whole.reference.p_value == test.p_value
    assert whole.reference.upper == test.null_quantiles(0.95)[0]
    assert math.isnan(whole.interval.low)


# Many rows --------------------------------------------------------------------------------------


def test_rows_in_blocks_are_unbiased(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = rng.dirichlet(np.ones(3), 640)
    drawn = drawn_labels(rng, table, 150)
    whole = metrics.skce_test(table, drawn[0], width=0.5)
    monkeypatch.setattr("calibcore.metrics.pairwise._WORK", 1)
    parts = [metrics.skce_test(table, labels, width=0.5) for labels in drawn]
    deviation = parts[0].deviation
    n_pairs = 640 * 639, 10 * 64 * 63  # ten blocks of 64
    assert deviation == pytest.approx(whole.deviation * math.sqrt(n_pairs[0] / n_pairs[1]), rel=0.1)
    values = [one.value for one in parts]
    assert np.mean(values) == pytest.approx(0, abs=4 * deviation / math.sqrt(150))
    assert np.std(values) == pytest.approx(deviation, rel=0.25)
    assert parts[0].value != whole.value


@given(logit_sets(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_count(case: LogitCase, random: Random) -> None:
    order = list(range(len(case.labels)))
    random.shuffle(order)
    table = softmax(case.logits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calibcore.metrics.pairwise._WORK", 1)
        patch.setattr("calibcore.metrics.pairwise._LEAST_BLOCK", 2)
        patch.setattr("calibcore.metrics.pairwise._SOME_ROWS", 4)
        result = metrics.skce(table, case.labels)
        assert metrics.skce(table[order], case.labels[order]) == pytest.approx(
            result, abs=1e-12, nan_ok=True
        )


def test_memory_is_bounded(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20,000 rows all pairs would take 3.2 GB."""
    scores = rng.random(20_000)
    table = np.column_stack([1 - scores, scores])
    labels = rng.integers(0, 2, 20_000)
    monkeypatch.setattr("calibcore.metrics.pairwise._WORK", 10_000_000)
    for run in (
        lambda: metrics.mmce(scores, labels),
        lambda: metrics.event_skce_test(scores, labels),
        lambda: metrics.skce_test(table, labels),
    ):
        assert peak_bytes(run) < 16 * 2**20
