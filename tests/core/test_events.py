import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore import LogitSet, audit
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.metrics import top_r_accuracy
from calibcore.probabilities import rank_by_logits, softmax
from tests import reference
from tests.strategies import LogitCase, logit_sets

Result = tuple[list[float], list[int]]


def outcomes(
    event: TopR | WithinTopR | OneClass,
    probabilities: reference.Table | np.ndarray,
    labels: list[int] | np.ndarray,
) -> Result:
    result = event.outcomes(probabilities, labels)
    return result.scores.tolist(), result.hits.tolist()


@given(logit_sets())
def test_every_event_is_the_loops_to_the_last_bit(case: LogitCase) -> None:
    probabilities = softmax(case.logits)
    table, labels = probabilities.tolist(), case.labels.tolist()
    n_classes = probabilities.shape[1]
    for r in range(1, n_classes + 1):
        assert outcomes(TopR(r), probabilities, labels) == reference.top_r(table, labels, r)
        within = reference.within_top_r(table, labels, r)
        assert outcomes(WithinTopR(r), probabilities, labels) == within
    for k in range(n_classes):
        assert outcomes(OneClass(k), probabilities, labels) == reference.one_class(table, labels, k)


def test_many_rows_and_classes(rng: np.random.Generator) -> None:
    table = softmax(np.round(rng.normal(scale=3, size=(150, 200)))).tolist()
    labels = rng.integers(0, 200, 150).tolist()
    for r in (1, 2, 5, 10, 49, 50, 51, 200):
        assert outcomes(TopR(r), table, labels) == reference.top_r(table, labels, r)
        within = reference.within_top_r(table, labels, r)
        assert outcomes(WithinTopR(r), table, labels) == within


def test_equal_probabilities_rank_by_class() -> None:
    # Classes 1 and 2 tie at 0.4: 1 comes first, so rank 2 is class 2
    row = [[0.2, 0.4, 0.4]]
    assert outcomes(TopR(1), row, [1]) == ([0.4], [1])
    assert outcomes(TopR(1), row, [2]) == ([0.4], [0])
    assert outcomes(TopR(2), row, [2]) == ([0.4], [1])
    assert outcomes(WithinTopR(2), row, [0]) == ([0.8], [0])
    assert outcomes(WithinTopR(3), row, [0]) == ([1.0], [1])


def test_within_top_r_is_capped_at_1() -> None:
    # Added one after another in doubles: 0.7 + 0.2 + 0.1 = 0.9999999999999999; these three pass 1
    row = [0.5, 0.3, 0.2 + 1e-7]
    assert outcomes(WithinTopR(3), [row], [0]) == ([1.0], [1])


@pytest.mark.parametrize("event", [TopR(2), WithinTopR(2), OneClass(2)])
def test_events_compare_and_hash_by_value(event: TopR | WithinTopR | OneClass) -> None:
    again = type(event)(2)
    assert event == again
    assert hash(event) == hash(again)
    assert event != type(event)(1)


def test_defaults_are_the_prediction_and_the_first_two() -> None:
    assert TopR() == TopR(1)
    assert WithinTopR() == WithinTopR(2)


@pytest.mark.parametrize("r", [1, 2, 15, 16, 60])
@pytest.mark.parametrize("bad", [float("nan"), -0.25, float("inf"), 1.25, 0.4])
def test_a_table_is_checked_however_it_is_ranked(r: int, bad: float) -> None:
    # 60 classes: up to 15 ranks are looked for one by one; 5,000 rows are several blocks
    table = np.full((5_000, 60), 1 / 60)
    TopR(r).outcomes(table, [0] * 5_000)
    table[4_321, 7] = bad
    for event in (TopR(r), WithinTopR(r)):
        with pytest.raises(CalibrationInputError, match=r"probabilities: .*row 4322"):
            event.outcomes(table, [0] * 5_000)


@pytest.mark.parametrize("r", [1, 2, 3, 5])
def test_minus_zero_ranks_as_zero(r: int) -> None:
    plain, signed = [[0.0, 0.0, 1.0, 0.0, 0.0]] * 2, [[-0.0, 0.0, 1.0, 0.0, -0.0]] * 2
    assert outcomes(TopR(r), signed, [0, 4]) == outcomes(TopR(r), plain, [0, 4])


def test_classes_too_unlikely_for_a_float_rank_by_their_logits() -> None:
    # Sums of log-likelihoods: in half of the rows the truth is second, 1,000 nats below the first.
    logits, labels = np.array([[0.0, -3000.0, -1000.0]] * 100), np.array([0] * 50 + [2] * 50)
    for order in ([0, 1, 2], [0, 2, 1], [2, 1, 0]):
        table, true = logits[:, order], np.argsort(order)[labels]
        rows = LogitSet(table, true)
        for calibrator in (None, "temperature"):
            seen = audit(rows, calibrator=calibrator).test.compare("top_2_accuracy")
            assert (seen.before, seen.after) == (1.0, 1.0)
        assert outcomes(WithinTopR(2), rows.probabilities, true) == ([1.0] * 100, [1] * 100)
        assert outcomes(TopR(2), rows.probabilities, true) == ([0.0] * 100, [0] * 50 + [1] * 50)
        assert top_r_accuracy(rows.probabilities, true, 2) == 1.0


@given(st.lists(st.sampled_from([0.0, -1.0, -744.0, -745.0, -746.0, -800.0, -9e5, -np.inf]),
                min_size=2, max_size=7), st.randoms())  # fmt: skip
def test_ranks_are_those_of_the_logits(others: list[float], random: Random) -> None:
    row = [0.0, *others]
    random.shuffle(row)
    by_hand = sorted(range(len(row)), key=lambda k: (-row[k], k))
    table = softmax([row])
    for r, k in enumerate(by_hand, start=1):
        assert TopR(r).outcomes(table, [k]).hits.tolist() == [1]
        first = by_hand[:r]
        for other in range(len(row)):
            hit = WithinTopR(r).outcomes(table, [other]).hits.tolist()
            assert hit == [int(other in first)]
    exact = np.exp(np.array(row) - 0.0) / math.fsum(math.exp(one) for one in row)
    np.testing.assert_allclose(table[0], exact, rtol=1e-12, atol=1e-322)


def test_probabilities_keep_their_order_and_those_of_0_rank_by_the_logits() -> None:
    table = np.array([[0.0, 0.25, 0.0, 0.75, 0.0, 5e-324], [0.5, 0.5, 0.0, 0.0, 0.0, 0.0]])
    logits = np.array([[5.0, 1.0, 7.0, 2.0, 7.0, 9.0], [0.0, 9.0, -np.inf, 3.0, -np.inf, -4.0]])
    rank_by_logits(table, logits)
    least = 5e-324
    assert table[0].tolist() == [0.0, 0.25, least, 0.75, least, 2 * least]
    assert table[1].tolist() == [0.5, 0.5, 0.0, 2 * least, 0.0, least]
