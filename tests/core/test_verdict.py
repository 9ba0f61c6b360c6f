"""The facts of a verdict, on rows whose fault is known."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from calibcore import audit
from calibcore.calibrators import PlattScaling
from calibcore.data import EventScores, LogitSet, with_groups
from calibcore.evaluation import Side
from calibcore.grouping import Grouping
from calibcore.inference import group_gaps
from calibcore.splits import Split
from calibcore.verdict import (
    DETECTION_LEVEL,
    Direction,
    direction_of,
    direction_of_side,
    remains,
    side_verdict,
    uninformative,
    verdict_of,
)


def rows_with(shift: float, slope: float, n: int, rng: np.random.Generator) -> tuple[object, ...]:
    """Scores, and outcomes whose log-odds are a line of the scores' log-odds."""
    scores = rng.uniform(0.05, 0.95, n)
    truth = 1 / (1 + np.exp(-(shift + slope * np.log(scores / (1 - scores)))))
    return scores, (rng.random(n) < truth).astype(int)


@pytest.mark.parametrize(
    ("shift", "slope", "direction"),
    [(-1.0, 1.0, "too high"), (1.0, 1.0, "too low"), (0.0, 0.4, "both"), (0.0, 1.0, "none")],
)
def test_the_direction_is_that_of_the_fault(
    shift: float, slope: float, direction: Direction, rng: np.random.Generator
) -> None:
    scores, hits = rows_with(shift, slope, 4000, rng)
    result = audit(scores, hits).verdict
    assert result.after is None
    assert result.before.direction == direction
    assert result.before.detected == (direction != "none")
    assert bool(result.before.ranges) == result.before.detected
    assert result.before.uninformative is None
    mean_gap = np.mean(np.asarray(scores)) - np.mean(np.asarray(hits))
    assert result.before.mean_gap == pytest.approx(mean_gap, abs=1e-12)


def test_a_calibrator_that_mends_leaves_no_direction(rng: np.random.Generator) -> None:
    scores, hits = rows_with(-1.0, 1.0, 4000, rng)
    result = audit(scores, hits, calibrator=PlattScaling()).verdict
    assert result.after is not None
    assert (result.before.direction, result.after.direction) == ("too high", "none")
    assert not result.after.remains


def test_a_gap_that_is_mostly_left_remains_though_none_is_detected() -> None:
    hits = np.arange(400) < 222  # 5.5 points above the score, p = 0.02; then 4.7, p = 0.05
    before, after = (
        audit(EventScores(np.full(400, score), hits)).test.before for score in (0.5, 0.508)
    )
    result = side_verdict(after, before)
    assert (result.direction, result.remains, result.detected) == ("too low", True, False)
    assert result.uninformative is None
    alone = side_verdict(after)
    assert (alone.direction, alone.remains, alone.uninformative) == ("none", False, "constant")


def test_scores_that_say_nothing_are_named(rng: np.random.Generator) -> None:
    hits = (rng.random(500) < 0.3).astype(int)
    level = float(hits.mean())
    assert audit(np.full(500, level), hits).verdict.before.uninformative == "constant"
    noise = level + 0.01 * (rng.random(500) - 0.5)
    assert audit(noise, hits).verdict.before.uninformative == "chance"


def test_groups_that_are_off_come_worst_first(rng: np.random.Generator) -> None:
    groups = np.repeat(["good", "low", "high"], 1500)
    scores = rng.uniform(0.2, 0.8, 4500)
    shift = np.select([groups == "low", groups == "high"], [0.2, -0.15], 0.0)
    hits = (rng.random(4500) < np.clip(scores + shift, 0, 1)).astype(int)
    result = audit(scores, hits, groups=groups).verdict
    assert [one.name for one in result.groups] == ["low", "high"]
    assert [one.gap < 0 for one in result.groups] == [True, False]
    assert all(one.low < one.gap < one.high and one.p_value < 0.05 for one in result.groups)
    codes = np.unique(groups, return_inverse=True)[1]
    gaps = group_gaps(scores, hits, [codes])
    assert result.groups[0].p_value == gaps.adjusted[2]
    assert result.groups_after == ()


def test_directions_are_those_that_there_are() -> None:
    made = {direction_of(gap, 0.1, p) for gap in (-0.1, 0.01, 0.1) for p in (0.01, 0.5)}
    assert made == set(get_args(Direction))


def side_at(p_value: float, gap: float = 0.2) -> Side:
    """Two hundred rows of two scores, with the joint test's p-value as wanted."""
    scores = np.repeat([0.3, 0.6], 100)
    hits = np.arange(200) % 100 < np.round(100 * (scores - gap))
    side = audit(EventScores(scores, hits)).test.before
    side.__dict__["omnibus"] = replace(side.omnibus, p_value=p_value)
    return side


def test_a_p_value_at_the_level_detects_nothing() -> None:
    assert DETECTION_LEVEL == 0.05
    assert direction_of(0.1, 0.1, 0.05) == "none"
    assert direction_of(0.1, 0.1, 0.0499) == "too high"
    result = side_verdict(side_at(0.05))
    assert (result.direction, result.ranges, result.detected) == ("none", (), False)
    below = side_verdict(side_at(0.0499))
    assert (below.direction, below.detected) == ("too high", True)
    assert below.ranges


def test_gaps_cancel_where_the_mean_is_less_than_half_of_the_largest() -> None:
    assert direction_of(0.0625, 0.125, 0.01) == "too high"
    assert direction_of(-0.0625, 0.125, 0.01) == "too low"
    assert direction_of(0.0624, 0.125, 0.01) == "both"


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [(0.01, 0.2, True), (0.01, 0.05, True), (0.01, 0.0499, False), (0.05, 0.2, False),
     (0.2, 0.01, False), (0.2, 0.2, False)],
)  # fmt: skip
def test_a_gap_remains_only_where_it_was_detected_and_is_not_any_more(
    before: float, after: float, *, left: bool
) -> None:
    assert remains(side_at(before), side_at(after, 0.19)) == left
    assert not remains(side_at(before), side_at(after, 0.01))  # little of it is left


def test_gaps_of_both_signs_do_not_remain() -> None:
    scores, hits = np.repeat([0.3, 0.7], 200), np.arange(400) % 200 < 100
    sides = [audit(EventScores(scores, hits)).test.before for _ in range(2)]
    for side, p_value in zip(sides, (0.01, 0.2), strict=True):
        side.__dict__["omnibus"] = replace(side.omnibus, p_value=p_value)
    assert direction_of_side(sides[0]) == "both"
    assert not remains(sides[0], sides[1])


@pytest.mark.parametrize(("low", "high", "why"), [
    (0.5, 0.6, "chance"), (0.4, 0.5, "chance"), (0.51, 0.6, None), (0.3, 0.49, None),
])  # fmt: skip
def test_an_auroc_whose_interval_holds_one_half_is_chance(
    low: float, high: float, why: str | None
) -> None:
    side = side_at(0.5)
    side.__dict__["auroc"] = replace(side.auroc, low=low, high=high)
    assert uninformative(side) == why


def test_one_row_is_not_said_to_be_constant() -> None:
    many, one, two = (EventScores(np.full(n, 0.5), np.arange(n) % 2 == 0) for n in (200, 1, 2))
    assert uninformative(audit(Split(many, one)).test.before) is None
    for rows in (two, many):
        assert uninformative(audit(Split(many, rows)).test.before) == "constant"


def test_the_first_group_counts_and_rows_without_one_are_none() -> None:
    scores, hits = np.full(1200, 0.5), np.arange(1200) % 10 < np.repeat([2, 5, 9], 400)
    side, names = audit(EventScores(scores, hits)).test, [Grouping(("north", "south"))]
    for rows in (EventScores(scores, hits), LogitSet(np.zeros((1200, 2)), hits)):
        (group,) = verdict_of(side, with_groups(rows, np.repeat([0, 1, -1], 400)), names).groups
        assert (group.name, group.rows) == ("north", 400)
        assert group.gap == pytest.approx(0.3)
    assert verdict_of(side, None, names).groups == ()
