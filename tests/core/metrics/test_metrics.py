import math
from random import Random
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore import metrics
from calibcore.probabilities import softmax
from tests import reference
from tests.strategies import (
    EventCase,
    LogitCase,
    event_data,
    logit_sets,
)

Binning = Literal["equal_width", "equal_mass"]
KINDS: tuple[Binning, ...] = ("equal_width", "equal_mass")
NORMS: tuple[Literal[1, 2], ...] = (1, 2)


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


@given(event_data(), st.integers(1, 40))
def test_event_metrics_agree_with_the_loops(case: EventCase, n_bins: int) -> None:
    scores, hits = case.scores.tolist(), case.hits.tolist()
    for binning in KINDS:
        for norm in NORMS:
            expected = reference.ece(scores, hits, n_bins, binning, norm)
            result = metrics.ece(*case, n_bins=n_bins, binning=binning, norm=norm)
            assert result == close(expected)
        largest = reference.mce(scores, hits, n_bins, binning)
        assert metrics.mce(*case, n_bins=n_bins, binning=binning) == close(largest)
    assert metrics.event_nll(*case) == close(reference.event_nll(scores, hits))
    assert metrics.event_brier(*case) == close(reference.event_brier(scores, hits))
    assert metrics.mean_score(*case) == close(reference.mean(scores))
    assert metrics.hit_rate(*case) == close(reference.mean(hits))


@given(logit_sets())
def test_class_metrics_agree_with_the_loops(case: LogitCase) -> None:
    probabilities = softmax(case.logits)
    table, labels = probabilities.tolist(), case.labels.tolist()
    assert metrics.nll(probabilities, labels) == close(reference.nll(table, labels))
    assert metrics.brier(probabilities, labels) == close(reference.brier(table, labels))
    assert metrics.accuracy(probabilities, labels) == close(reference.accuracy(table, labels))


@given(event_data(), st.sampled_from(KINDS), st.sampled_from(NORMS))
def test_ece_with_one_bin_is_the_overall_gap(
    case: EventCase, binning: Binning, norm: Literal[1, 2]
) -> None:
    overall = abs(metrics.mean_score(*case) - metrics.hit_rate(*case))
    result = metrics.ece(*case, n_bins=1, binning=binning, norm=norm)
    assert result == pytest.approx(overall, abs=1e-14)
    assert metrics.mce(*case, n_bins=1, binning=binning) == pytest.approx(overall, abs=1e-14)


@given(event_data(), st.integers(1, 30), st.sampled_from(KINDS))
def test_errors_are_in_order(case: EventCase, n_bins: int, binning: Binning) -> None:
    overall = abs(metrics.mean_score(*case) - metrics.hit_rate(*case))
    first = metrics.ece(*case, n_bins=n_bins, binning=binning)
    second = metrics.ece(*case, n_bins=n_bins, binning=binning, norm=2)
    largest = metrics.mce(*case, n_bins=n_bins, binning=binning)
    steps = np.array([0.0, overall, first, second, largest, 1.0])
    assert np.all(np.diff(steps) >= -1e-12)


@given(logit_sets(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_classes_changes_no_class_metric(
    case: LogitCase, random: Random
) -> None:
    probabilities = softmax(case.logits)
    rows = list(range(len(case.labels)))
    random.shuffle(rows)
    place = list(range(probabilities.shape[1]))
    random.shuffle(place)
    moved = np.empty_like(probabilities)
    moved[:, place] = probabilities
    labels = np.array(place)[case.labels]
    assert metrics.nll(moved[rows], labels[rows]) == close(metrics.nll(probabilities, case.labels))
    expected = metrics.brier(probabilities, case.labels)
    assert metrics.brier(moved[rows], labels[rows]) == close(expected)
    expected = metrics.accuracy(probabilities, case.labels)
    assert metrics.accuracy(probabilities[rows], case.labels[rows]) == close(expected)


@given(event_data())
def test_two_classes_are_one_event(case: EventCase) -> None:
    table = np.column_stack([1 - case.scores, case.scores])
    assert metrics.nll(table, case.hits) == close(metrics.event_nll(*case))
    assert metrics.brier(table, case.hits) == close(2 * metrics.event_brier(*case))


def test_impossible_truths_count_as_the_smallest_normal_number() -> None:
    floor = -math.log(2.2250738585072014e-308)  # 708.396...
    assert metrics.nll([[1.0, 0.0]], [1]) == pytest.approx(floor, rel=1e-15)
    assert metrics.nll([[1.0, 5e-324]], [1]) == pytest.approx(floor, rel=1e-15)
    assert metrics.event_nll([0.0, 1.0], [1, 0]) == pytest.approx(floor, rel=1e-15)
    assert metrics.event_nll([5e-324], [1]) == pytest.approx(floor, rel=1e-15)


def test_sure_and_right_costs_nothing() -> None:
    assert metrics.nll([[1.0, 0.0]], [0]) == 0.0
    assert metrics.event_nll([1.0, 0.0], [1, 0]) == 0.0
    assert metrics.brier([[1.0, 0.0]], [0]) == 0.0
    assert metrics.event_brier([1.0, 0.0], [1, 0]) == 0.0


def test_accuracy_takes_the_first_of_equal_classes() -> None:
    assert metrics.accuracy([[0.4, 0.4, 0.2], [0.4, 0.4, 0.2]], [0, 1]) == 0.5
