"""Acting on a score, beside loops over the rows, hand arithmetic and what limits must be."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore.data import EventScores
from calibcore.decisions import (
    at_cutoff,
    at_cutoff_by_group,
    benefit_change,
    cutoff_of_costs,
    decision_curve,
    mean_cost,
)
from calibcore.errors import CalibrationInputError
from calibcore.reliability import binomial_interval
from calibcore.selective import group_accuracies, out_of_fold_accuracy, risk_coverage
from calibcore.splits import deal_folds
from tests.strategies import EventCase, event_data

MESH = np.linspace(0.0, 0.99, 100)


def slow_counts(event: EventScores, cutoff: float) -> tuple[int, int, int, int]:
    """Right, in vain, missed, left alone, one row after another."""
    results = {(True, 1): 0, (True, 0): 0, (False, 1): 0, (False, 0): 0}
    for score, hit in zip(event.scores.tolist(), event.hits.tolist(), strict=True):
        results[score >= cutoff, int(hit)] += 1
    return results[True, 1], results[True, 0], results[False, 1], results[False, 0]


@given(event_data(), st.floats(0, 1))
def test_counts_at_a_cutoff(case: EventCase, cutoff: float) -> None:
    event = EventScores(case.scores, case.hits)
    result = at_cutoff(event, cutoff)
    assert slow_counts(event, cutoff) == (
        result.right, result.in_vain, result.missed, result.left_alone,
    )  # fmt: skip
    assert result.called == result.right + result.in_vain
    assert result.n_samples == event.n_samples
    assert result.n_events == event.hits.sum()


@given(event_data(), st.floats(0.01, 0.9))
def test_the_change_of_the_net_benefit_is_that_of_two_curves(
    case: EventCase, cutoff: float
) -> None:
    before = EventScores(case.scores, case.hits)
    after = EventScores(np.sqrt(case.scores), case.hits)
    change, interval = benefit_change(before, after, cutoff)
    one, other = (at_cutoff(event, cutoff).net_benefit for event in (before, after))
    assert change == pytest.approx(other - one, abs=1e-12)
    odds, n = cutoff / (1 - cutoff), before.n_samples
    rows = [
        (int(new >= cutoff) - int(old >= cutoff)) * (1 if hit else -odds)
        for old, new, hit in zip(before.scores, after.scores, before.hits, strict=True)
    ]
    if n > 1:
        variance = math.fsum((row - change) ** 2 for row in rows) / (n - 1)
        wide = 1.959963984540054 * math.sqrt(variance / n)
        assert_allclose([interval.low, interval.high], [change - wide, change + wide], atol=1e-9)


@given(event_data(), st.floats(0.01, 100), st.floats(0.01, 100))
def test_mean_cost_is_that_of_a_loop(case: EventCase, alarm: float, miss: float) -> None:
    event = EventScores(case.scores, case.hits)
    cutoffs = [0.0, *MESH.tolist(), *event.scores.tolist(), 1.0]
    result = mean_cost(event, cutoffs, alarm=alarm, miss=miss)
    for t, cost in zip(cutoffs, result.tolist(), strict=True):
        _, in_vain, missed, _ = slow_counts(event, t)
        assert cost == pytest.approx((alarm * in_vain + miss * missed) / event.n_samples)


def test_mean_cost_refuses_costs_and_cutoffs() -> None:
    event = EventScores([0.2, 0.8], [0, 1])
    for cutoff, alarm, miss in (([0.5], 0.0, 1.0), ([0.5], 1.0, -1.0), ([1.5], 1.0, 1.0)):
        with pytest.raises(CalibrationInputError):
            mean_cost(event, cutoff, alarm=alarm, miss=miss)


@given(event_data())
def test_net_benefit_is_that_of_a_loop(case: EventCase) -> None:
    event = EventScores(case.scores, case.hits)
    result, n = decision_curve(event, MESH), event.n_samples
    for place, t in enumerate(MESH.tolist()):
        right, in_vain, missed, left = slow_counts(event, t)
        odds = t / (1 - t)
        assert result.model[place] == pytest.approx(right / n - in_vain / n * odds, abs=1e-10)
        every = (right + missed) / n - (in_vain + left) / n * odds
        assert result.every[place] == pytest.approx(every, abs=1e-10)
        if place % 25 == 10:
            benefit = at_cutoff(event, t).net_benefit
            assert benefit == pytest.approx(result.model[place], abs=1e-12)
    assert math.isnan(at_cutoff(event, 1.0).net_benefit)
    assert result.prevalence == event.hits.mean()
    assert (result.low <= result.gain + 1e-12).all()
    assert (result.high >= result.gain - 1e-12).all()


def test_at_a_cutoff_of_0_all_rows_are_called() -> None:
    result = decision_curve(EventScores([0.0, 0.4, 0.9], [0, 0, 1]), [0.0])
    assert result.model.tolist() == result.every.tolist() == [pytest.approx(1 / 3)]
    assert result.low.tolist() == result.high.tolist() == [0.0]


def test_the_harm_of_the_test_is_taken_off_the_model_alone() -> None:
    event = EventScores([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1])
    free, paid = (decision_curve(event, [0.2, 0.5], test_harm=harm) for harm in (0.0, 0.05))
    assert paid.model.tolist() == pytest.approx([0.5 - 0.25 * 0.25 - 0.05, 0.25 - 0.05])
    assert paid.every.tolist() == free.every.tolist()
    for one, other in ((paid.low, free.low), (paid.high, free.high), (paid.gain, free.gain)):
        assert_allclose(one, other - 0.05, atol=1e-15)
    for bad in (-0.1, 1.5, math.nan):
        with pytest.raises(CalibrationInputError, match="test_harm"):
            decision_curve(event, [0.5], test_harm=bad)


def test_shares_have_wilson_intervals() -> None:
    event = EventScores([0.1, 0.2, 0.6, 0.7, 0.8], [0, 1, 0, 1, 1])
    result = at_cutoff(event, 0.5)
    for interval, hits, rows in (
        (result.share_called, 3, 5),
        (result.precision, 2, 3),
        (result.sensitivity, 2, 3),
        (result.specificity, 1, 2),
    ):
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx(
            tuple(float(end) for end in binomial_interval(hits, rows, level=0.95))
        )
    assert at_cutoff(event, 1.0).precision is None
    assert at_cutoff(EventScores([0.5], [1]), 0.0).specificity is None
    assert at_cutoff(EventScores([0.5], [0]), 0.0).sensitivity is None


def test_a_cutoff_by_costs() -> None:
    assert cutoff_of_costs(1, 9) == pytest.approx(0.1)
    for bad in (0, -1, math.inf, math.nan):
        with pytest.raises(CalibrationInputError, match="a cost above 0"):
            cutoff_of_costs(bad, 1)
        with pytest.raises(CalibrationInputError, match="a cost above 0"):
            cutoff_of_costs(1, bad)


def test_the_cutoff_of_the_costs_costs_least_for_true_probabilities(
    rng: np.random.Generator,
) -> None:
    truth = rng.uniform(size=200_000)
    event = EventScores(truth, rng.random(200_000) < truth)
    costs = []
    for t in MESH:
        result = at_cutoff(event, float(t))
        costs.append(1.0 * result.in_vain + 4.0 * result.missed)
    assert MESH[int(np.argmin(costs))] == pytest.approx(cutoff_of_costs(1, 4), abs=0.02)


def test_limits_of_net_benefit(rng: np.random.Generator) -> None:
    hits = rng.random(400) < 0.3
    perfect = decision_curve(EventScores(hits.astype(float), hits), MESH)
    assert perfect.model == pytest.approx(np.full(100, hits.mean()))
    (useful,) = perfect.useful()
    assert useful == pytest.approx((0.01, 0.99))  # at 0, calling all is as good
    constant = decision_curve(EventScores(np.full(400, 0.3), hits), MESH)
    assert constant.useful(clearly=True) == []
    everybody = constant.model[MESH <= 0.3]
    assert everybody == pytest.approx(constant.every[MESH <= 0.3])
    assert (constant.model[MESH > 0.3] == 0).all()


def test_ranges_of_use_end_where_they_end() -> None:
    # Above 0.5 it calls nobody; below 0.2 it calls everybody; between, the right ones.
    event = EventScores([0.2] * 60 + [0.5] * 40, [0] * 60 + [1] * 40)
    result = decision_curve(event, MESH)
    ((first, last),) = result.useful()
    assert first == pytest.approx(0.21)
    assert last == pytest.approx(0.5)


@pytest.mark.parametrize("n_rows", [500, 5000])
def test_its_interval_holds_the_truth_in_93_to_97_of_100(n_rows: int) -> None:
    cutoffs, sets = np.array([0.1, 0.3, 0.6]), 400
    many = np.random.default_rng(9).beta(1.2, 2.5, 400_000)

    def shrunk(truth: np.ndarray) -> np.ndarray:
        return np.asarray(truth**1.3)

    scores, odds = shrunk(many), cutoffs / (1 - cutoffs)
    called = scores[:, None] >= cutoffs
    worth = many[:, None] - (1 - many[:, None]) * odds
    gain = (called * worth).mean(axis=0) - np.maximum(worth.mean(axis=0), 0)
    n_held = np.zeros(3)
    for seed in range(sets):
        rng = np.random.default_rng([seed, n_rows])
        truth = rng.beta(1.2, 2.5, n_rows)
        result = decision_curve(EventScores(shrunk(truth), rng.random(n_rows) < truth), cutoffs)
        n_held += (result.low <= gain) & (gain <= result.high)
    assert (n_held / sets > 0.915).all()
    assert (n_held / sets < 0.985).all()


# What is kept -------------------------------------------------------------------------------


@given(event_data())
def test_risk_and_coverage_are_those_of_a_loop(case: EventCase) -> None:
    event = EventScores(case.scores, case.hits)
    result, area = risk_coverage(event), 0.0
    for place, score in enumerate(result.score.tolist()):
        kept = [h for s, h in zip(event.scores, event.hits, strict=True) if s >= score]
        assert result.coverage[place] == pytest.approx(len(kept) / event.n_samples, abs=1e-12)
        assert result.accuracy[place] == pytest.approx(sum(kept) / len(kept), abs=1e-12)
    for score in event.scores.tolist():
        kept = [h for s, h in zip(event.scores, event.hits, strict=True) if s >= score]
        area += (1 - sum(kept) / len(kept)) / event.n_samples
    assert result.aurc == pytest.approx(area, abs=1e-10)


def test_the_lowest_threshold_for_an_accuracy() -> None:
    result = risk_coverage(EventScores([0.9, 0.8, 0.7, 0.6], [1, 0, 1, 1]))
    # 1, 1/2, 2/3, 3/4
    assert result.lowest_for(0.7) == 3
    assert result.lowest_for(0.8) == 0
    assert result.lowest_for(0.0) == 3
    assert risk_coverage(EventScores([0.9], [0])).lowest_for(0.5) is None


def test_what_a_threshold_holds_is_found_on_rows_that_had_no_part(rng: np.random.Generator) -> None:
    scores, hits = rng.uniform(size=60), rng.integers(2, size=60)
    event, fold = EventScores(scores, hits), rng.permutation(60) % 4
    kept = right = 0
    for number in range(4):
        seen = [(s, h) for s, h, f in zip(scores, hits, fold, strict=True) if f != number]
        reached = [
            s for s, _ in seen
            if np.mean([h for t, h in seen if t >= s]) >= 0.6
        ]  # fmt: skip
        for s, h, f in zip(scores, hits, fold, strict=True):
            if f == number and reached and s >= min(reached):
                kept, right = kept + 1, right + int(h)
    result = out_of_fold_accuracy(event, 0.6, fold)
    assert (result.rows, result.right, result.n_samples) == (kept, right, 60)
    assert (
        out_of_fold_accuracy(EventScores([0.5] * 4, [0] * 4), 0.9, np.array([0, 1] * 2)).rows == 0
    )


def test_the_chosen_threshold_promises_too_much_and_held_out_rows_do_not() -> None:
    apparent, held, true = [], [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        truth = rng.uniform(0.5, 1, 200)
        event = EventScores(truth, rng.random(200) < truth)
        curve = risk_coverage(event)
        place = curve.lowest_for(0.85)
        out = out_of_fold_accuracy(event, 0.85, deal_folds(event, seed=seed))
        if place is None or not out.rows:
            continue
        apparent.append(curve.accuracy[place])
        held.append(out.right / out.rows)
        true.append((1 + curve.score[place]) / 2)  # what scores above this hold
    assert np.mean(apparent) - np.mean(true) > 0.004
    assert abs(np.mean(held) - np.mean(true)) < 0.004


@pytest.mark.parametrize("cutoff", [-0.1, 1.1, math.nan])
def test_a_cutoff_out_of_range_is_refused(cutoff: float) -> None:
    rows = EventScores([0.2, 0.8], [0, 1])
    with pytest.raises(CalibrationInputError, match="from 0 to 1"):
        at_cutoff(rows, cutoff)
    with pytest.raises(CalibrationInputError, match="an accuracy"):
        out_of_fold_accuracy(rows, cutoff, np.array([0, 1]))
    for one in (cutoff, 1.0):
        with pytest.raises(CalibrationInputError, match="cutoff"):
            benefit_change(rows, rows, one)
        with pytest.raises(CalibrationInputError):
            decision_curve(rows, [0.5, one])


@given(event_data(), st.floats(0, 1), st.integers(1, 4))
def test_groups_are_counted_as_sets_of_their_own(
    case: EventCase, cutoff: float, n_groups: int
) -> None:
    event = EventScores(case.scores, case.hits)
    places = np.arange(event.n_samples) % n_groups
    for k, result in enumerate(at_cutoff_by_group(event, cutoff, places, n_groups=n_groups + 1)):
        mine = places == k
        if not mine.any():
            assert result is None
            continue
        assert result is not None
        alone = at_cutoff(event.rows(mine), cutoff)
        assert vars(result) == vars(alone)


@pytest.mark.parametrize("places", [[0, 1], [0, 0, 1, 2], [0.0, 1.0, 1.0, 0.0], [-1, 0, 0, 1]])
def test_groups_that_are_none_are_refused(places: list[int]) -> None:
    event = EventScores([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1])
    with pytest.raises(CalibrationInputError, match="places"):
        at_cutoff_by_group(event, 0.5, places, n_groups=2)


def test_costs_in_all_beside_calling_none_and_all() -> None:
    # Called at 0.4: rows 2 to 4, one of them in vain; one event of three is missed.
    result = at_cutoff(EventScores([0.1, 0.4, 0.4, 0.9, 0.2], [0, 0, 1, 1, 1]), 0.4)
    costs = result.cost(1.5, 4)
    assert (costs.acting, costs.nobody, costs.everybody) == (1.5 * 1 + 4 * 1, 4 * 3, 1.5 * 2)
    with pytest.raises(CalibrationInputError, match="alarm"):
        result.cost(0, 1)


@given(event_data(), st.floats(0.01, 0.99), st.floats(0, 1))
def test_costs_are_those_of_the_mean(case: EventCase, cutoff: float, miss: float) -> None:
    event, alarm, miss = EventScores(case.scores, case.hits), 1.0, 0.1 + miss
    result = at_cutoff(event, cutoff).cost(alarm, miss)
    (acting,) = event.n_samples * mean_cost(event, [cutoff], alarm=alarm, miss=miss)
    assert result.acting == pytest.approx(acting)
    assert at_cutoff(event, 0.0).cost(alarm, miss).acting == pytest.approx(result.everybody)


def test_kept_groups_are_compared_with_the_accuracy_one_by_one() -> None:
    rng = np.random.default_rng(6)
    scores, language = rng.random(900), rng.choice([0, 2, 5], 900, p=[0.6, 0.35, 0.05])
    route = rng.integers(2, size=900)
    hits = rng.random(900) < np.where(language == 5, 0.55, 0.95)
    event = EventScores(scores, hits.astype(int))
    result = group_accuracies(event, 0.3, 0.95, [language, route, np.zeros(900, dtype=int)])
    expected, p_values = [], []
    for which, places in ((0, language), (1, route)):
        for place in sorted({*places.tolist()}):
            mine = (places == place) & (scores >= 0.3)
            n, right = int(mine.sum()), int(hits[mine].sum())
            expected.append((which, place, n, right))
            p_values.append(
                sum(math.comb(n, k) * 0.95**k * 0.05 ** (n - k) for k in range(right + 1))
            )
    columns = result.grouping, result.place, result.rows, result.right
    assert [*zip(*(column.tolist() for column in columns), strict=True)] == expected
    order = np.argsort(p_values)
    held = 0.0
    for rank, k in enumerate(order.tolist()):  # Holm
        held = max(held, min(1.0, (len(p_values) - rank) * p_values[k]))
        assert result.adjusted[k] == pytest.approx(held, rel=1e-9)
    assert result.below().tolist() == [2]
    low, high = binomial_interval(expected[2][3], expected[2][2])
    assert (result.accuracy(2).low, result.accuracy(2).high) == pytest.approx((low, high))
    with pytest.raises(CalibrationInputError, match="wanted"):
        group_accuracies(event, 0.3, 1.5, [])
    assert group_accuracies(event, 2.0, 0.5, [route]).below().size == 0
