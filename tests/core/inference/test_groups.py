"""Groups of several groupings, tested jointly."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import erfc, expit, logit

from calibcore import CalibrationInputError
from calibcore.inference import GroupGaps, group_gaps, groups
from tests.strategies import EventCase, Floats, Integers, event_data


def groupings_of(rng: np.random.Generator, n_rows: int) -> list[Integers]:
    return [rng.integers(2, size=n_rows), rng.integers(5, size=n_rows)]


def members(result: GroupGaps, groupings: list[Integers]) -> list[NDArray[np.bool_]]:
    pairs = zip(result.grouping.tolist(), result.place.tolist(), strict=True)
    return [groupings[which] == place for which, place in pairs]


def slow_p_values(scores: Floats, hits: Floats, chosen: list[NDArray[np.bool_]]) -> list[float]:
    """Normal p-values, one group by one."""
    p_values = []
    for rows in chosen:
        variance = sum(s * (1 - s) for s in scores[rows])
        gap = sum(scores[rows]) - sum(hits[rows])
        p_values.append(float(erfc(abs(gap) / math.sqrt(2 * variance))))
    return p_values


def test_gaps_and_adjusted_p_values_by_redrawing_in_a_loop(rng: np.random.Generator) -> None:
    scores = rng.uniform(0.2, 0.8, 300)
    hits = (rng.random(300) < scores + 0.04).astype(float)
    groupings = groupings_of(rng, 300)
    result = group_gaps(scores, hits, groupings, n_draws=2000)
    chosen = members(result, groupings)
    assert result.n_groups == 7
    for k, rows in enumerate(chosen):
        assert result.rows[k] == rows.sum()
        assert result.gap[k] == pytest.approx(scores[rows].mean() - hits[rows].mean())
    sizes = [(abs(scores[rows].mean() - hits[rows].mean()), rows.sum()) for rows in chosen]
    over_all = sum(size * n for size, n in sizes) / sum(n for _, n in sizes)
    assert result.mean_size == pytest.approx(over_all)
    least = [
        min(slow_p_values(scores, (rng.random(300) < scores).astype(float), chosen))
        for _ in range(400)
    ]
    for k, alone in enumerate(slow_p_values(scores, hits, chosen)):
        share = np.mean(np.array(least) <= alone)
        assert result.adjusted[k] == pytest.approx(share, abs=0.08)


def test_two_groups_whose_errors_cancel_are_both_found(rng: np.random.Generator) -> None:
    odds, group = rng.normal(0, 1.2, 2000), rng.integers(2, size=2000)
    hits = rng.random(2000) < expit(odds + np.where(group == 1, 0.6, -0.6))
    result = group_gaps(expit(odds), hits, [rng.integers(5, size=2000), group])
    both = result.grouping == 1
    assert result.own()[both].all()
    assert result.gap[both][0] > 0.08
    assert result.gap[both][1] < -0.08
    worst = result.worst()
    assert worst is not None
    assert result.grouping[worst] == 1
    assert abs(result.gap[worst]) == np.abs(result.gap[both]).max()


def test_a_fault_of_the_whole_is_no_fault_of_a_group(rng: np.random.Generator) -> None:
    odds, groupings = rng.normal(0, 1.2, 3000), groupings_of(rng, 3000)
    hits = rng.random(3000) < expit(0.6 * odds - 0.5)
    result = group_gaps(expit(odds), hits, groupings)
    assert result.off().all()
    assert not result.own().any()
    worst = result.worst()
    assert worst is not None
    assert abs(result.beyond[worst]) < 0.04 < result.gap[worst]


def test_beyond_is_what_a_recalibration_by_an_optimizer_leaves(rng: np.random.Generator) -> None:
    scores = rng.uniform(0.05, 0.95, 400)
    hits = (rng.random(400) < expit(0.7 * logit(scores) - 0.3)).astype(float)
    groupings = groupings_of(rng, 400)
    result = group_gaps(scores, hits, groupings, n_draws=20)
    variance = scores * (1 - scores)
    place = [
        (variance[scores < s].sum() + s * (1 - s) / 2) / variance.sum() for s in scores.tolist()
    ]
    powers = np.polynomial.legendre.legvander(2 * np.array(place) - 1, 5)

    def loss(weights: Floats) -> float:
        odds = logit(scores) + powers @ weights
        nll = np.logaddexp(0, odds) - hits * odds
        return float(nll.sum() + 0.05 * weights @ weights)

    weights = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-7}).x
    left = expit(logit(scores) + powers @ weights) - hits
    for k, rows in enumerate(members(result, groupings)):
        assert result.beyond[k] == pytest.approx(left[rows].mean(), abs=2e-3)


@pytest.mark.long
def test_one_of_many_groups_is_a_false_alarm_in_5_of_100_cases() -> None:
    rng, alarms = np.random.default_rng(2), []
    for seed in range(150):
        scores = expit(rng.normal(-1, 1.5, 400))
        hits = rng.random(400) < scores
        small = rng.permutation(np.repeat(np.arange(12), [20, 25, 30, 35, 40, *[35] * 6, 40]))
        groupings = [*groupings_of(rng, 400), small]
        result = group_gaps(scores, hits, groupings, least=20, n_draws=199, seed=seed)
        alarms.append((result.off().any(), (result.beyond_adjusted < 0.05).any()))
    raw, beyond = np.mean(alarms, axis=0)
    assert raw < 0.1  # 5 % and 2.8 standard deviations
    assert beyond < 0.1


@pytest.mark.parametrize("n_rows", [150, 600])
def test_an_interval_leaves_out_0_where_the_group_is_off(n_rows: int) -> None:
    rng = np.random.default_rng(4)
    kinds = set()
    for shift in (0.0, 0.5, 1.0):
        for centre in (0.0, -3.5):
            odds, groupings = rng.normal(centre, 1, n_rows), groupings_of(rng, n_rows)
            hits = rng.random(n_rows) < expit(odds + shift * (groupings[0] - 0.5))
            result = group_gaps(expit(odds), hits, groupings, least=10, n_draws=200)
            outside = (result.low > 0) | (result.high < 0)
            assert (outside == result.off()).all()
            assert ((result.low <= result.gap) & (result.gap <= result.high)).all()
            kinds |= set(outside.tolist())
    assert kinds == {True, False}


def test_intervals_are_no_wider_where_the_gap_is_small() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        scores = rng.beta(1, 8, 3000)
        months = np.sort(rng.integers(0, 10, 3000))
        result = group_gaps(scores, rng.random(3000) < scores, [months], n_draws=200)
        width = (result.high - result.low) * np.sqrt(result.rows)
        assert width.max() < 1.4 * np.median(width)  # it was 8 times as wide at a gap of -0.1 pp


@pytest.mark.long
def test_intervals_hold_all_true_gaps_at_once() -> None:
    rng, held = np.random.default_rng(6), []
    for seed in range(120):
        odds, groupings = rng.normal(-1, 1.2, 500), groupings_of(rng, 500)
        true = expit(odds + 0.8 * (groupings[0] - 0.5))
        result = group_gaps(expit(odds), rng.random(500) < true, groupings, n_draws=199, seed=seed)
        gaps = [(expit(odds) - true)[rows].mean() for rows in members(result, groupings)]
        held.append(((result.low <= gaps) & (gaps <= result.high)).all())
    assert np.mean(held) > 0.9


def test_the_normal_limit_says_what_drawn_labels_say(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = rng.uniform(0.1, 0.9, 3000)
    hits, groupings = rng.random(3000) < scores - 0.02, groupings_of(rng, 3000)
    drawn = group_gaps(scores, hits, groupings, n_draws=4000)
    monkeypatch.setattr(groups, "_MOST_ROWS", 0)
    limit = group_gaps(scores, hits, groupings, n_draws=4000)
    np.testing.assert_allclose(limit.adjusted, drawn.adjusted, atol=0.04)
    np.testing.assert_allclose(limit.beyond_adjusted, drawn.beyond_adjusted, atol=0.04)
    np.testing.assert_array_equal(limit.beyond, drawn.beyond)
    monkeypatch.setattr(groups, "_MOST_GROUPS", 0)
    apart = group_gaps(scores, hits, groupings, n_draws=4000)
    assert (apart.adjusted >= limit.adjusted - 0.03).all()


@given(event_data(min_size=2), st.integers(0, 9))
def test_names_of_groups_and_their_order_do_not_matter(case: EventCase, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = len(case.scores)
    first, second = rng.integers(2, size=n_rows), rng.integers(3, size=n_rows)
    result = group_gaps(case.scores, case.hits, [first, second], least=1, n_draws=20)
    again = group_gaps(case.scores, case.hits, [2 - second, first + 4], least=1, n_draws=20)
    order = np.lexsort((np.where(again.grouping == 0, -again.place, again.place), -again.grouping))
    assert (again.rows[order] == result.rows).all()
    for name in ("gap", "adjusted", "beyond", "low", "high"):
        mine, other = getattr(result, name), getattr(again, name)[order]
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-9)
    assert ((result.adjusted > 0) & (result.adjusted <= 1)).all()


def test_scores_that_cannot_vary() -> None:
    ones, group = [1.0] * 40 + [0.0] * 40, [0] * 40 + [1] * 40
    right = group_gaps(ones, ones, [group])
    assert right.adjusted.tolist() == [1, 1]
    assert right.worst() is None
    wrong = group_gaps(ones, [1] * 39 + [0] + [0] * 40, [group])
    assert wrong.off().tolist() == [True, False]


def test_small_groups_and_one_of_all_rows_are_not_tested() -> None:
    scores, hits = [0.5] * 80, [0, 1] * 40
    result = group_gaps(scores, hits, [[0] * 80, [0] * 60 + [1] * 20, [7] * 40 + [2] * 40])
    assert result.grouping.tolist() == [1, 2, 2]
    assert result.place.tolist() == [0, 2, 7]
    none = group_gaps(scores, hits, [list(range(80))])
    assert none.n_groups == 0
    assert none.worst() is None
    assert group_gaps(scores, hits, []).n_groups == 0


@pytest.mark.parametrize("bad", [[0, 1, 1], [0.5, 1.0], [-1, 0]])
def test_refusals(bad: list[float]) -> None:
    with pytest.raises(CalibrationInputError, match="groupings"):
        group_gaps([0.2, 0.4], [0, 1], [bad])


@pytest.mark.parametrize("seed", [157, 186])
def test_few_different_scores_of_many_rows_are_tested(seed: int) -> None:
    """Their recalibration takes nearly all, and rounding took correlations beyond 1."""
    rng = np.random.default_rng(seed)
    kinds = rng.random(int(rng.integers(2, 6))).round(2)
    scores = rng.choice(kinds, 30_000)
    hits = rng.random(30_000) < scores
    shares = rng.random(kinds.size)[np.searchsorted(np.sort(kinds), scores)]
    groups = (rng.random(30_000) < shares).astype(int)
    gaps = group_gaps(scores, hits, [groups], n_draws=200)
    for k in gaps.place:
        chosen = groups == k
        gap = scores[chosen].mean() - hits[chosen].mean()
        assert gaps.gap[k] == pytest.approx(gap, abs=1e-12)
        assert gaps.low[k] < gap < gaps.high[k]
    assert ((gaps.adjusted > 0) & (gaps.adjusted <= 1)).all()
