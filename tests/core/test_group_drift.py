"""Subgroups of two batches: by a slow permutation, and two halves that drift oppositely."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from calibcore import CalibrationInputError, EventScores
from calibcore.drift import compare_batches
from calibcore.group_drift import compare_groups
from calibcore.tally import tally


def rows(seed: int, n_rows: int, shift: float = 0.0) -> tuple[EventScores, np.ndarray]:
    """Draw rows of two halves; the frequency is raised in one and lowered in the other."""
    rng = np.random.default_rng(seed)
    scores, half = rng.uniform(0.2, 0.8, n_rows), rng.integers(0, 2, n_rows)
    hits = rng.random(n_rows) < scores + np.where(half, shift, -shift)
    return EventScores(scores, hits), half


def test_two_halves_that_drift_oppositely_are_found() -> None:
    result, whole = 0, 0
    for k in range(6):
        (old, was), (new, now) = rows(k, 2000), rows(100 + k, 2000, 0.08)
        changes = compare_groups(old, new, [(was, now)], n_draws=500)
        result += bool(changes.moved.any())
        both = (tally(one.scores, one.hits) for one in (old, new))
        whole += any(row.key == "mean_gap" for row in compare_batches(*both, n_draws=200).moved)
    assert (result, whole) == (6, 0)


def test_the_figures_are_those_of_a_slow_permutation() -> None:
    (old, was), (new, now) = rows(0, 300), rows(1, 200, 0.06)
    changes = compare_groups(old, new, [(was, now)], n_draws=4000)
    rng, n_draws, seen, drawn = np.random.default_rng(5), 3000, [], []
    for half in (0, 1):
        first, rest = ((one.scores - one.hits)[at == half] for one, at in ((old, was), (new, now)))
        assert changes.reference[half] == pytest.approx(first.mean(), abs=1e-12)
        assert changes.new[half] == pytest.approx(rest.mean(), abs=1e-12)
        assert (changes.rows_reference[half], changes.rows_new[half]) == (first.size, rest.size)
        together, moves = np.concatenate([first, rest]), np.empty(n_draws)
        for k in range(n_draws):
            order = rng.permutation(together)
            moves[k] = order[first.size :].mean() - order[: first.size].mean()
        seen.append(abs(rest.mean() - first.mean()) / moves.std())
        drawn.append(np.abs(moves) / moves.std())
    for half in (0, 1):
        expected = (np.max(drawn, axis=0) >= seen[half]).mean()
        assert changes.adjusted[half] == pytest.approx(expected, abs=0.03)


def test_like_subgroups_pass_whatever_their_mix() -> None:
    passed = 0
    for k in range(40):
        (old, was), (new, now) = rows(k, 600), rows(1000 + k, 900)
        kept = (now == 0) | (np.arange(900) % 5 == 0)
        changes = compare_groups(
            old, new.rows(kept), [(was, now[kept]), (was * 0, now[kept] * 0)], n_draws=300
        )
        assert changes.grouping.tolist() == [0, 0, 1]
        passed += not changes.moved.any()
    assert passed >= 35  # at 5%, 34 or fewer of 40 in 1 of 100 cases


def test_rare_events_are_not_blurred_by_the_joining() -> None:
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.001, 0.02, 20_000)
    old, new = (EventScores(scores, rng.random(20_000) < scores) for _ in range(2))
    place = np.zeros(20_000, dtype=np.int64)
    gap = abs(new.hits.mean() - old.hits.mean())
    spread = np.sqrt(2 * np.concatenate([old.hits, new.hits]).var() / 20_000)
    least = compare_groups(old, new, [(place, place)], n_draws=4000)
    expected = 2 * (1 - NormalDist().cdf(gap / spread))
    assert least.adjusted[0] == pytest.approx(expected, abs=0.06)


def test_a_change_that_does_not_matter_is_none() -> None:
    (old, was), (new, now) = rows(0, 20_000), rows(1, 20_000, 0.05)
    assert compare_groups(old, new, [(was, now)], n_draws=300).moved.all()
    assert not compare_groups(old, new, [(was, now)], n_draws=300, least=0.06).moved.any()


def test_thirty_rows_of_a_subgroup_are_enough_and_29_are_not() -> None:
    (old, _), (new, _) = rows(0, 100), rows(1, 59)
    places = np.repeat([3, 7], 50), np.repeat([3, 7], [29, 30])
    changes = compare_groups(old, new, [places], n_draws=200)
    assert (changes.grouping.tolist(), changes.place.tolist()) == ([0], [7])
    assert (changes.rows_reference.tolist(), changes.rows_new.tolist()) == ([50], [30])
    assert changes.reference[0] == pytest.approx((old.scores - old.hits)[50:].mean(), abs=1e-12)
    assert changes.new[0] == pytest.approx((new.scores - new.hits)[29:].mean(), abs=1e-12)
    seeded = compare_groups(old, new, [places], n_draws=200, seed=0)
    assert seeded.adjusted.tolist() == changes.adjusted.tolist()


def test_a_p_value_is_at_most_1_and_below_the_level_a_change() -> None:
    (old, was), (new, now) = rows(0, 300), rows(1, 300)
    changes = compare_groups(old, new, [(was, now)] * 40, n_draws=200)
    assert changes.adjusted.max() == 1
    assert changes.level == 0.05
    ends = replace(changes, adjusted=np.array([0.05, 0.0499]))
    assert ends.moved.tolist() == [False, True]


def test_few_rows_and_none_are_not_compared() -> None:
    (old, was), (new, now) = rows(0, 100), rows(1, 50)
    assert compare_groups(old, new, [(was, np.where(now == 0, -1, 7))]).adjusted.size == 0
    assert compare_groups(old, new, []).moved.tolist() == []
    with pytest.raises(CalibrationInputError, match="one for each of 100 rows"):
        compare_groups(old, new, [(now, now)])
