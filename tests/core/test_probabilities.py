import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore import CalibrationInputError
from calibcore.calibrators import TemperatureScaling
from calibcore.probabilities import log_probabilities, log_softmax, softmax, sum_columns
from tests import reference
from tests.strategies import LogitCase, logit_sets


@given(logit_sets())
def test_softmax_and_its_logarithm_agree_with_the_loops(case: LogitCase) -> None:
    table = case.logits.tolist()
    assert_allclose(softmax(case.logits), reference.softmax(table), rtol=1e-12, atol=1e-12)
    expected = reference.log_softmax(table)
    assert_allclose(log_softmax(case.logits), expected, rtol=1e-12, atol=1e-12)
    assert softmax(case.logits).dtype == log_softmax(case.logits).dtype == np.float64


@given(logit_sets())
def test_equal_logits_get_equal_probabilities_and_order_is_kept(case: LogitCase) -> None:
    for logits, probabilities in zip(case.logits, softmax(case.logits), strict=True):
        order = np.argsort(logits, kind="stable")
        assert np.all(np.diff(probabilities[order]) >= 0)
        assert np.all(np.diff(probabilities[order])[np.diff(logits[order]) == 0] == 0)


@given(st.integers(0, 1_000), st.integers(2, 32))
def test_few_classes_sum_alike_in_any_order(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.random((n_classes, 50)) ** 9
    total = sum_columns(weights)
    assert np.array_equal(sum_columns(weights[rng.permutation(n_classes)]), total)
    assert_allclose(total, [math.fsum(column) for column in weights.T.tolist()], rtol=3e-16)


@pytest.mark.parametrize("n_classes", [3, 100, 300])
def test_numpy_is_left_as_it_was(n_classes: int, rng: np.random.Generator) -> None:
    logits, before = rng.normal(size=(20, n_classes)), np.getbufsize()
    softmax(logits)
    TemperatureScaling().fit(logits, np.arange(20) % n_classes).predict_proba(logits)
    assert np.getbufsize() == before


def test_minus_infinity_rules_a_class_out() -> None:
    logits = [[0.0, -math.inf, 0.0]]
    assert softmax(logits).tolist() == [[0.5, 0.0, 0.5]]
    assert log_softmax(logits)[0, 1] == -math.inf
    assert_allclose(log_softmax(logits)[0, [0, 2]], -math.log(2), rtol=1e-15)


def test_magnitude_does_no_harm() -> None:
    # The largest logit is taken off first: exp(0) and exp(-2000), the second below the least double
    assert softmax([[1000.0, -1000.0]]).tolist() == [[1.0, 0.0]]
    assert log_softmax([[1000.0, -1000.0]]).tolist() == [[0.0, -2000.0]]
    assert softmax([[1e308, -1e308]]).tolist() == [[1.0, 0.0]]


@given(st.integers(0, 1_000), st.sampled_from([2, 7, 33, 150]))
def test_a_row_has_the_same_probabilities_in_any_table(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.choice([0.01, 1.0, 30.0, 1e4], (40, 1))
    logits = sizes * rng.normal(size=(40, n_classes)) + rng.choice([0, 0, 90, -500], (40, 1))
    logits[rng.random(logits.shape) < 0.05] = -math.inf
    logits[:, 0] = np.maximum(logits[:, 0], -1e4)
    together = softmax(logits)
    assert np.array_equal(softmax(logits[::-1])[::-1], together)
    assert np.array_equal(np.vstack([softmax(row) for row in logits[:, np.newaxis]]), together)
    assert_allclose(together, reference.softmax(logits.tolist()), rtol=1e-12, atol=1e-300)
    assert_allclose(together.sum(axis=1), 1, rtol=1e-14)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 500, 999])
def test_bad_rows_are_refused_wherever_they_are(bad: float, place: int) -> None:
    logits = np.zeros((1_000, 400))
    logits[place] = bad
    with pytest.raises(CalibrationInputError, match=f"in row {place + 1}"):
        softmax(logits)
    with pytest.raises(CalibrationInputError, match=f"in row {place + 1}"):
        TemperatureScaling().fit(logits, np.zeros(1_000, dtype=np.int64))


def test_float32_logits_are_read_as_the_numbers_they_are() -> None:
    narrow = np.array([[0.1, 0.7, -0.3]], dtype=np.float32)
    assert np.array_equal(softmax(narrow), softmax(narrow.astype(np.float64)))


def test_wide_tables_agree_with_narrow_ones(rng: np.random.Generator) -> None:
    # More rows and columns than any block the implementation may cut the table into
    logits = rng.normal(scale=5, size=(3_000, 257))
    some = rng.choice(3_000, 5, replace=False)
    expected = reference.softmax(logits[some].tolist())
    assert_allclose(softmax(logits)[some], expected, rtol=1e-12, atol=1e-12)


def test_log_probabilities() -> None:
    logits = log_probabilities([[1.0, 0.0], [0.25, 0.75]])
    assert logits[0].tolist() == [0.0, -math.inf]
    assert logits[1].tolist() == [math.log(0.25), math.log(0.75)]


@given(logit_sets())
def test_softmax_undoes_log_probabilities(case: LogitCase) -> None:
    probabilities = softmax(case.logits)
    assert_allclose(softmax(log_probabilities(probabilities)), probabilities, atol=1e-14)
