import math
from typing import Literal

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
