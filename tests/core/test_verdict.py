"""The facts of a verdict, on rows whose fault is known."""

from typing import get_args

import numpy as np
import pytest

from calibcore import audit
from calibcore.calibrators import PlattScaling
from calibcore.data import EventScores
from calibcore.inference import group_gaps
from calibcore.verdict import Direction, direction_of, side_verdict


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
    found = audit(scores, hits).verdict
    assert found.after is None
    assert found.before.direction == direction
    assert found.before.detected == (direction != "none")
    assert bool(found.before.ranges) == found.before.detected
    assert found.before.uninformative is None
    mean_gap = np.mean(np.asarray(scores)) - np.mean(np.asarray(hits))
    assert found.before.mean_gap == pytest.approx(mean_gap, abs=1e-12)


def test_a_calibrator_that_mends_leaves_no_direction(rng: np.random.Generator) -> None:
    scores, hits = rows_with(-1.0, 1.0, 4000, rng)
    found = audit(scores, hits, calibrator=PlattScaling()).verdict
    assert found.after is not None
    assert (found.before.direction, found.after.direction) == ("too high", "none")
    assert not found.after.remains


def test_a_gap_that_is_mostly_left_remains_though_none_is_detected() -> None:
    hits = np.arange(400) < 222  # 5.5 points above the score, p = 0.02; then 4.7, p = 0.05
    before, after = (
        audit(EventScores(np.full(400, score), hits)).test.before for score in (0.5, 0.508)
    )
    found = side_verdict(after, before)
    assert (found.direction, found.remains, found.detected) == ("too low", True, False)
    assert found.uninformative is None
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
    found = audit(scores, hits, groups=groups).verdict
    assert [one.name for one in found.groups] == ["low", "high"]
    assert [one.gap < 0 for one in found.groups] == [True, False]
    assert all(one.low < one.gap < one.high and one.p_value < 0.05 for one in found.groups)
    codes = np.unique(groups, return_inverse=True)[1]
    gaps = group_gaps(scores, hits, [codes])
    assert found.groups[0].p_value == gaps.adjusted[2]
    assert found.groups_after == ()


def test_directions_are_those_that_there_are() -> None:
    made = {direction_of(gap, 0.1, p) for gap in (-0.1, 0.01, 0.1) for p in (0.01, 0.5)}
    assert made == set(get_args(Direction))
