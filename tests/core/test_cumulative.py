import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore import metrics
from calibcore.cumulative import cumulative_curves, ks_error
from tests import reference
from tests.strategies import EventCase, event_data, seeded_events


def check_curves(case: EventCase) -> None:
    scores, hits = case.scores.tolist(), case.hits.tolist()
    found, expected = cumulative_curves(*case), reference.curves(scores, hits)
    assert found.fractile.tolist() == expected.fractile
    assert found.score.tolist() == expected.score
    assert_allclose(found.cum_score, expected.cum_score, rtol=0, atol=1e-12)
    assert_allclose(found.cum_hits, expected.cum_hits, rtol=0, atol=1e-12)
    error = reference.ks_error(scores, hits)
    assert found.ks_error == pytest.approx(error, abs=1e-12)
    assert ks_error(*case) == pytest.approx(error, abs=1e-12)
    assert metrics.ks_error(*case) == ks_error(*case)
    assert found.kuiper == pytest.approx(reference.kuiper(scores, hits), abs=1e-12)
    # The place of the largest gap, whichever of equally large ones rounding made the first
    place = expected.fractile.index(found.ks_fractile)
    assert abs(expected.gap[place]) == pytest.approx(error, abs=1e-12)
    assert found.ks_p_value == pytest.approx(reference.ks_p_value(scores, hits), abs=1e-9)


def test_curves_agree_with_the_loops_on_3000_cases() -> None:
    for case in seeded_events(3, 3_000):
        check_curves(case)


@given(event_data())
def test_curves_agree_with_the_loops(case: EventCase) -> None:
    check_curves(case)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1)), min_size=16, max_size=16),
)
def test_the_gap_is_marked_where_it_is_first_reached(rows: list[tuple[int, int]]) -> None:
    # Eighths and 16 rows: every total is exact in binary, so equal gaps are equal to the bit
    scores, hits = [eighths / 8 for eighths, _ in rows], [hit for _, hit in rows]
    found, expected = cumulative_curves(scores, hits), reference.curves(scores, hits)
    sizes = [abs(gap) for gap in expected.gap]
    assert found.ks_error == max(sizes)
    assert found.ks_fractile == expected.fractile[sizes.index(max(sizes))]
    assert found.kuiper == max(expected.gap) - min(expected.gap)


def test_no_gap_is_marked_at_the_start() -> None:
    found = cumulative_curves([0.0, 1.0], [0, 1])
    assert (found.ks_error, found.ks_fractile, found.kuiper) == (0.0, 0.0, 0.0)


@given(event_data(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(case: EventCase, random: Random) -> None:
    order = list(range(len(case.scores)))
    random.shuffle(order)
    found = cumulative_curves(*case)
    shuffled = cumulative_curves(case.scores[order], case.hits[order])
    for name in ("fractile", "score", "cum_score", "cum_hits"):
        assert getattr(found, name).tobytes() == getattr(shuffled, name).tobytes(), name
    for name in ("ks_error", "ks_fractile", "kuiper", "ks_p_value"):
        assert getattr(found, name) == getattr(shuffled, name), name
    assert ks_error(case.scores[order], case.hits[order]) == ks_error(*case)


@given(event_data())
def test_ks_error_is_at_least_the_overall_gap(case: EventCase) -> None:
    overall = abs(metrics.mean_score(*case) - metrics.hit_rate(*case))
    found = cumulative_curves(*case)
    assert found.ks_error >= overall - 1e-15
    assert found.ks_error <= found.kuiper + 1e-15
    assert found.kuiper <= 2 * found.ks_error + 1e-15


@given(event_data())
def test_curves_run_from_0_to_the_means(case: EventCase) -> None:
    found = cumulative_curves(*case)
    for name in ("fractile", "score", "cum_score", "cum_hits"):
        values = getattr(found, name)
        assert values[0] == 0
        assert np.all(np.diff(values) >= 0)
    assert found.fractile[-1] == 1
    assert found.cum_score[-1] == pytest.approx(metrics.mean_score(*case), abs=1e-14)
    assert found.cum_hits[-1] == pytest.approx(metrics.hit_rate(*case), abs=1e-14)


@given(event_data(), st.integers(2, 4))
def test_repeating_every_row_changes_nothing_but_the_p_value(case: EventCase, times: int) -> None:
    once = cumulative_curves(*case)
    often = cumulative_curves(np.tile(case.scores, times), np.tile(case.hits, times))
    assert_allclose(often.fractile, once.fractile, atol=1e-14)
    assert often.ks_error == pytest.approx(once.ks_error, abs=1e-14)
    assert often.kuiper == pytest.approx(once.kuiper, abs=1e-14)


def test_a_tie_is_one_block() -> None:
    # Row by row the gap after (0.5, hit) would be |0.5 - 1| / 2; the block of both is right
    found = cumulative_curves([0.5, 0.5], [1, 0])
    assert found.fractile.tolist() == [0.0, 1.0]
    assert found.ks_error == 0.0


def test_minus_zero_is_zero() -> None:
    found = cumulative_curves([-0.0, 0.0, 1.0], [0, 1, 1])
    assert found.fractile.tolist() == [0.0, 2 / 3, 1.0]
    assert found.score.tolist() == [0.0, 0.0, 1.0]


def test_many_rows_agree_with_exact_sums(rng: np.random.Generator) -> None:
    scores = rng.random(20_000) ** 0.2
    hits = (rng.random(20_000) < scores).astype(int)
    order = np.argsort(scores)
    gap, largest = 0.0, 0.0
    for score, hit in zip(scores[order].tolist(), hits[order].tolist(), strict=True):
        gap += score - hit
        largest = max(largest, abs(gap))
    assert ks_error(scores, hits) == pytest.approx(largest / 20_000, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "hits", "expected"),
    [
        ([0.0, 1.0], [0, 1], 1.0),  # no spread, no gap
        ([0.0, 1.0], [1, 1], 0.0),  # no spread, but a gap: cannot happen if calibrated
        # A gap of the last digit where the spread is its square root: nothing unusual
        ([5e-324], [0], 1.0),
        ([5e-324, 5e-324, 5e-324], [0, 0, 0], 1.0),
        ([float(np.nextafter(1.0, 0.0))], [1], 1.0),
        # 100 rows at 0.5, 60 hits: gap 0.1, spread 5 / 100, so 2 of Brownian motion's deviations:
        # 4 Q(2) - 4 Q(6) + ... = 4 * 0.0227501319 - 4 * 0.0000000010
        ([0.5] * 100, [1] * 60 + [0] * 40, 0.0910005238),
    ],
)
def test_p_value(scores: list[float], hits: list[int], expected: float) -> None:
    assert cumulative_curves(scores, hits).ks_p_value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n_hits", [550, 600, 700, 900])
def test_p_value_keeps_its_digits_far_out(n_hits: int) -> None:
    # 1000 rows at 0.5: spread sqrt(250) / 1000
    found = cumulative_curves([0.5] * 1000, [1] * n_hits + [0] * (1000 - n_hits)).ks_p_value
    level = (n_hits - 500) / math.sqrt(250)
    assert found == pytest.approx(2 * math.erfc(level / math.sqrt(2)), rel=1e-9)


def test_p_value_is_uniform_for_calibrated_scores(rng: np.random.Generator) -> None:
    values = []
    for _ in range(400):
        scores = rng.random(2_000)
        values.append(cumulative_curves(scores, rng.random(2_000) < scores).ks_p_value)
    # Kolmogorov's own test at level 0.001, with room for the walk being discrete
    steps = np.abs(np.sort(values) - np.arange(1, 401) / 400)
    assert steps.max() < 1.95 / math.sqrt(400) + 0.03
