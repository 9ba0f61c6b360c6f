"""Subgroups that take the joint test of all groupings in place of their own."""

import numpy as np

from calibcore.inference import GroupGaps, group_gaps
from calibcore.subgroups import JointScreen, joint_screen, screen_subgroups


def joint(
    scores: np.ndarray, hits: np.ndarray, groupings: list[np.ndarray], k: int
) -> tuple[JointScreen, GroupGaps]:
    gaps = group_gaps(scores, hits, groupings)
    alone = screen_subgroups(scores, hits, groupings[k], n_subgroups=int(groupings[k].max()) + 1)
    return joint_screen(alone, gaps, k), gaps


def test_numbers_are_those_of_the_joint_test() -> None:
    rng = np.random.default_rng(3)
    scores = rng.uniform(0.1, 0.9, 2_000)
    first, second = rng.integers(0, 4, 2_000), np.repeat([0, 1, 2], [10, 990, 1_000])
    shift = np.where(first == 2, 0.1, 0.0)
    hits = rng.random(2_000) < scores + shift
    for k, places in enumerate((first, second)):
        result, gaps = joint(scores, hits, [first, second], k)
        for place in range(places.max() + 1):
            where = np.flatnonzero((gaps.grouping == k) & (gaps.place == place))
            if where.size == 0:
                assert (places == place).sum() < 30
                assert not result.evaluated[place]
                assert result.gap_low[place] <= result.mean_gap[place] <= result.gap_high[place]
                continue
            at = int(where[0])
            assert result.adjusted[place] == gaps.adjusted[at]
            assert (result.gap_low[place], result.gap_high[place]) == (gaps.low[at], gaps.high[at])
            assert np.isclose(result.mean_gap[place], gaps.gap[at])
        assert result.n_tests == 6
    result, gaps = joint(scores, hits, [first, second], 0)
    worst = gaps.worst()
    assert worst is not None
    assert (gaps.grouping[worst], gaps.place[worst]) == (0, result.order()[0]) == (0, 2)


def test_a_fault_of_the_whole_is_told_from_one_of_a_group() -> None:
    rng = np.random.default_rng(5)
    scores, places = rng.uniform(0.2, 0.7, 6_000), np.repeat([0, 1, 2], 2_000)
    # All rows are 10 points off, and the last group by further 15.
    hits = rng.random(6_000) < scores + np.where(places == 2, 0.25, 0.1)
    result, _ = joint(scores, hits, [places], 0)
    assert result.off().all()
    assert result.differs.tolist() == [False, False, True]
    assert result.order()[0] == 2
    # Other groups are off by less than the whole, which is no fault of their own.
    alike, _ = joint(scores, rng.random(6_000) < scores + 0.1, [places], 0)
    assert alike.off().all()
    assert not alike.differs.any()


def test_a_group_of_all_rows_is_not_tested() -> None:
    result, _ = joint(np.full(100, 0.5), np.arange(100) < 90, [np.zeros(100, dtype=int)], 0)
    assert not result.evaluated.any()
    assert result.n_tests == 0
