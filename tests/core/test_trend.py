"""Drift: found where it is, since when it is, and no oftener than it should be."""

import numpy as np
import pytest

from calibcore.inference import drift_test
from tests.marks import first_and_long


def draw_rows(
    rng: np.random.Generator, n: int, *, since: int = 12, by: float = 0.0, whole: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw rows of twelve months; the scores of all are too low by ``whole``, the last by more."""
    scores, months = rng.uniform(0.1, 0.7, n), np.sort(rng.integers(0, 12, n))
    return scores, rng.random(n) < scores + whole + by * (months >= since), months


def test_a_change_is_found_with_its_month() -> None:
    scores, hits, months = draw_rows(np.random.default_rng(1), 6_000, since=7, by=0.15, whole=0.05)
    result = drift_test(scores, hits, months, n_periods=12)
    assert result is not None
    assert result.p_value < 0.01
    assert result.since == 7
    assert result.slope < -3
    late = months >= 7
    assert result.gap_since == pytest.approx(float((scores - hits)[late].mean()))
    assert result.gap_before == pytest.approx(float((scores - hits)[~late].mean()))
    assert (result.rows_before, result.rows_since) == (int((~late).sum()), int(late.sum()))


@pytest.mark.parametrize(("n", "runs"), first_and_long([(500, 150), (5_000, 150), (25_000, 200)]))
@pytest.mark.parametrize("whole", [0.0, 0.1])
def test_no_drift_is_found_as_often_as_it_should(n: int, runs: int, whole: float) -> None:
    result = 0
    for seed in range(runs):
        rows = draw_rows(np.random.default_rng([n, seed]), n, whole=whole)
        drift = drift_test(*rows, n_periods=12, n_draws=199)
        assert drift is not None
        result += drift.p_value <= 0.05
    # Four deviations about 5%.
    assert abs(result / runs - 0.05) < 4 * (0.05 * 0.95 / runs) ** 0.5


def test_rows_without_a_date_are_left_out() -> None:
    scores, hits, months = draw_rows(np.random.default_rng(2), 3_000, since=6, by=0.2)
    months[::7] = 12
    result = drift_test(scores, hits, months, n_periods=12)
    assert result is not None
    assert result.rows_before + result.rows_since == int((months < 12).sum())
    assert result.since == 6


def test_too_few_rows_or_nothing_that_varies_is_no_drift() -> None:
    scores, hits, months = draw_rows(np.random.default_rng(3), 50)
    assert drift_test(scores, hits, months, n_periods=12) is None
    assert drift_test([1.0] * 100, [1] * 100, [0, 1] * 50, n_periods=2) is None
    assert drift_test([0.5] * 100, [0, 1] * 50, [0] * 100, n_periods=1) is None
