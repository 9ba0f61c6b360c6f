import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore import metrics
from calibcore.cumulative import cumulative_curves, ks_error, rare_tail
from tests import reference
from tests.strategies import EventCase, event_data


@given(event_data())
def test_curves_agree_with_the_loops(case: EventCase) -> None:
    scores, hits = case.scores.tolist(), case.hits.tolist()
    result, expected = cumulative_curves(*case), reference.curves(scores, hits)
    assert result.fractile.tolist() == expected.fractile
    assert result.score.tolist() == expected.score
    assert_allclose(result.cum_score, expected.cum_score, rtol=0, atol=1e-12)
    assert_allclose(result.cum_hits, expected.cum_hits, rtol=0, atol=1e-12)
    error = reference.ks_error(scores, hits)
    assert result.ks_error == pytest.approx(error, abs=1e-12)
    assert ks_error(*case) == pytest.approx(error, abs=1e-12)
    assert metrics.ks_error(*case) == ks_error(*case)
    assert result.kuiper == pytest.approx(reference.kuiper(scores, hits), abs=1e-12)
    # The place of the largest gap, whichever of equally large ones rounding made the first
    place = expected.fractile.index(result.ks_fractile)
    assert abs(expected.gap[place]) == pytest.approx(error, abs=1e-12)
    assert result.ks_p_value == pytest.approx(reference.ks_p_value(scores, hits), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1)), min_size=16, max_size=16))
def test_the_gap_is_marked_where_it_is_first_reached(rows: list[tuple[int, int]]) -> None:
    # Eighths and 16 rows: every total is exact in binary, so equal gaps are equal to the bit
    scores, hits = [eighths / 8 for eighths, _ in rows], [hit for _, hit in rows]
    result, expected = cumulative_curves(scores, hits), reference.curves(scores, hits)
    sizes = [abs(gap) for gap in expected.gap]
    assert result.ks_error == max(sizes)
    assert result.ks_fractile == expected.fractile[sizes.index(max(sizes))]
    assert result.kuiper == max(expected.gap) - min(expected.gap)


def test_no_gap_is_marked_at_the_start() -> None:
    result = cumulative_curves([0.0, 1.0], [0, 1])
    assert (result.ks_error, result.ks_fractile, result.kuiper) == (0.0, 0.0, 0.0)


@given(event_data(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(case: EventCase, random: Random) -> None:
    order = list(range(len(case.scores)))
    random.shuffle(order)
    result = cumulative_curves(*case)
    shuffled = cumulative_curves(case.scores[order], case.hits[order])
    for name in ("fractile", "score", "cum_score", "cum_hits"):
        assert getattr(result, name).tobytes() == getattr(shuffled, name).tobytes(), name
    for name in ("ks_error", "ks_fractile", "kuiper", "ks_p_value"):
        assert getattr(result, name) == getattr(shuffled, name), name
    assert ks_error(case.scores[order], case.hits[order]) == ks_error(*case)


def test_a_tie_is_one_block() -> None:
    # Row by row the gap after (0.5, hit) would be |0.5 - 1| / 2; the block of both is right
    result = cumulative_curves([0.5, 0.5], [1, 0])
    assert result.fractile.tolist() == [0.0, 1.0]
    assert result.ks_error == 0.0


def test_minus_zero_is_zero() -> None:
    result = cumulative_curves([-0.0, 0.0, 1.0], [0, 1, 1])
    assert result.fractile.tolist() == [0.0, 2 / 3, 1.0]
    assert result.score.tolist() == [0.0, 0.0, 1.0]


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
    result = cumulative_curves([0.5] * 1000, [1] * n_hits + [0] * (1000 - n_hits)).ks_p_value
    level = (n_hits - 500) / math.sqrt(250)
    assert result == pytest.approx(2 * math.erfc(level / math.sqrt(2)), rel=1e-9)


def shares_below_5_percent(scores: list[float], seed: int, n_draws: int) -> list[float]:
    """How often a perfect model's p-values of KS and Kuiper, and its line, find it off."""
    rng, results = np.random.default_rng(seed), np.zeros((n_draws, 3))
    line = cumulative_curves(scores, np.zeros(len(scores))).ks_null_95  # the hits do not matter
    for draw in results:
        curves = cumulative_curves(scores, rng.random(len(scores)) < scores)
        over = curves.ks_error > line
        draw[:] = curves.ks_p_value < 0.05, curves.kuiper_p_value < 0.05, over
    return [float(share) for share in results.mean(axis=0)]


@pytest.mark.parametrize("both_ends", [False, True])
@pytest.mark.parametrize("spread", [0.0, 0.2])
@pytest.mark.parametrize(
    ("n_rows", "score"), [(100, 0.9986), (1_000, 0.99986), (200, 0.99), (200, 0.002)]
)
def test_rare_misses_or_hits_give_few_false_alarms(
    n_rows: int, score: float, spread: float, *, both_ends: bool
) -> None:
    # One miss where 0.14 are expected comes in 13 of 100 sets, and is no sign of anything.
    near = np.linspace(1 - spread, 1 + spread, n_rows) * min(score, 1 - score)
    turned = np.arange(n_rows) % 2 == 0 if both_ends else score > 0.5
    scores = np.where(turned, 1 - near, near).tolist()
    assert max(shares_below_5_percent(scores, 8, 1_000)) <= 0.05


@pytest.mark.parametrize("n_rows", [200, 2_000])
@pytest.mark.parametrize("powers", [(1, 1), (4, 1), (0.3, 0.3)])
def test_usual_scores_give_5_false_alarms_of_100(n_rows: int, powers: tuple[float, float]) -> None:
    scores = np.random.default_rng(2).beta(*powers, n_rows).tolist()
    shares = shares_below_5_percent(scores, 9, 1_000)
    # 5 % exactly would give up to 7.2 % in 999 of 1,000 such simulations.
    assert max(shares) <= 0.072
    assert min(shares) >= 0.025


def test_the_tail_of_rare_misses_is_that_of_all_of_them() -> None:
    # Poisson with 0.7 expected, a step at a time: 1.3 more, or 0.7 less, is what 2 or 0 would be.
    chances = [math.exp(-0.7) * 0.7**k / math.factorial(k) for k in range(30)]
    assert rare_tail(1.3, 0.7, 0.7) == pytest.approx(sum(chances[2:]), rel=1e-12)
    assert rare_tail(0.7 - 1e-12, 0.7, 0.7) == pytest.approx(
        reference.poisson_at_least(1.4, 0.7) + chances[0], rel=1e-9
    )
    assert rare_tail([5.0, 5.0], [2.0, 0.0], [0.0, 0.0]).tolist() == [0.0, 0.0]


def test_p_values_where_one_miss_is_rare() -> None:
    # 0.14 misses are expected, variance and skew a little less: 1 of them is 0.86 too many.
    curves = cumulative_curves([0.9986] * 100, [0] + [1] * 99)
    assert curves.ks_error == pytest.approx(0.0086)
    at_least = 1 - math.exp(-0.14)
    assert curves.ks_p_value == pytest.approx(2 * at_least, rel=0.01)
    assert curves.kuiper_p_value == pytest.approx(4 * at_least, rel=0.01)
    assert 0.0086 < curves.ks_null_95 < 0.0186


def test_p_value_is_uniform_for_calibrated_scores(rng: np.random.Generator) -> None:
    values = []
    for _ in range(400):
        scores = rng.random(2_000)
        values.append(cumulative_curves(scores, rng.random(2_000) < scores).ks_p_value)
    # Kolmogorov's own test at level 0.001, with room for the walk being discrete
    steps = np.abs(np.sort(values) - np.arange(1, 401) / 400)
    assert steps.max() < 1.95 / math.sqrt(400) + 0.03
