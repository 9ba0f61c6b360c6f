"""The same rows before and now: by slow loops over swaps and resamples, and over many batches."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from calibcore import CalibrationInputError, EventScores
from calibcore.drift import COMPARED, MOST_UNITS, compare_batches, compare_pairs
from calibcore.tally import tally
from tests.core.test_drift import BY_KEY


def scored(
    seed: int, n_rows: int, *, noise: float = 0.1, shift: float = 0.0, flipped: float = 0.0
) -> tuple[EventScores, EventScores]:
    """Score rows twice around their true chance; some outcomes may change."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.0, 1.2, n_rows)
    hits = rng.random(n_rows) < 1 / (1 + np.exp(-logits))
    first, again = (1 / (1 + np.exp(-logits - rng.normal(m, noise, n_rows))) for m in (0, shift))
    changed = hits ^ (rng.random(n_rows) < flipped)
    return EventScores(first, hits), EventScores(again, changed)


Marks = NDArray[np.bool_]


def value(key: str, scores: NDArray[np.float64], hits: NDArray[np.int8]) -> float:
    return float(BY_KEY[key](scores, hits))


def change(key: str, old: EventScores, new: EventScores, swapped: Marks) -> float:
    """Measure both batches once some pairs are swapped."""
    first = np.where(swapped, new.scores, old.scores), np.where(swapped, new.hits, old.hits)
    second = np.where(swapped, old.scores, new.scores), np.where(swapped, old.hits, new.hits)
    return value(key, *second) - value(key, *first)


def share_as_far(key: str, old: EventScores, new: EventScores, ways: list[Marks]) -> float:
    """Return of how many ways to swap the change is as large as that of none."""
    seen = abs(change(key, old, new, np.zeros(old.n_samples, dtype=np.bool_))) * (1 - 1e-9)
    return float(np.mean([abs(change(key, old, new, way)) >= seen for way in ways]))


def test_values_are_those_of_the_measures() -> None:
    old, new = scored(0, 3_000, flipped=0.02)
    result = compare_pairs(old, new, n_draws=100)
    assert [row.key for row in result.rows] == [*COMPARED]
    for row in result.rows:
        assert row.reference == pytest.approx(value(row.key, old.scores, old.hits), abs=1e-12)
        assert row.new == pytest.approx(value(row.key, new.scores, new.hits), abs=1e-12)
        if row.interval is not None:
            assert row.interval.low <= row.change <= row.interval.high
    assert result.changed_outcomes == np.count_nonzero(old.hits != new.hits)
    assert result.n_new == result.n_reference == 3_000


def test_p_values_are_those_of_swaps_in_a_loop() -> None:
    old, new = scored(3, 150, shift=0.03, flipped=0.05)
    result, rng = compare_pairs(old, new, n_draws=4000), np.random.default_rng(0)
    ways = [rng.random(150) < 0.5 for _ in range(600)]
    for row in result.rows:
        share = share_as_far(row.key, old, new, ways)
        assert row.p_value == pytest.approx(share, abs=0.035), row.key


def test_p_values_are_those_of_all_swaps_of_a_few_pairs() -> None:
    old, new = scored(11, 8, noise=0.5, shift=0.4)
    result = compare_pairs(old, new, n_draws=20_000)
    ways = [np.array(way) for way in product([False, True], repeat=8)]
    for key in ("mean_score", "event_brier", "ks_error", "auroc"):
        share = share_as_far(key, old, new, ways)
        assert result.find(key).p_value == pytest.approx(share, abs=0.015), key


def test_what_outcomes_do_not_explain_is_tested_by_swaps_of_the_scores() -> None:
    old, new = scored(5, 120, shift=0.04, flipped=0.1)
    result = compare_pairs(old, new, n_draws=4000)
    turned, rng = EventScores(old.scores, new.hits), np.random.default_rng(1)
    ways, p_values = [rng.random(120) < 0.5 for _ in range(600)], {}
    for row in result.rows:
        assert row.expected == pytest.approx(value(row.key, old.scores, new.hits), abs=1e-12)
        p_values[row.key] = share_as_far(row.key, turned, new, ways)
    assert np.isnan(result.find("hit_rate").beyond)
    smallest = min(p_values, key=lambda key: p_values[key])
    assert result.find(smallest).beyond == pytest.approx(6 * p_values[smallest], abs=0.1)


def test_intervals_are_those_of_pairs_drawn_in_a_loop() -> None:
    old, new = scored(6, 150, shift=0.1, flipped=0.05)
    result = compare_pairs(old, new, n_draws=4000)
    rng, still = np.random.default_rng(2), np.zeros(150, dtype=np.bool_)
    drawn = [rng.integers(150, size=150) for _ in range(1500)]
    for key in ("mean_gap", "event_brier", "event_nll", "auroc", "hit_rate"):
        changes = [change(key, old.rows(places), new.rows(places), still) for places in drawn]
        interval = result.find(key).interval
        assert interval is not None
        near = 0.15 * float(np.std(changes))
        ends = np.quantile(changes, [0.025, 0.975])
        assert [interval.low, interval.high] == pytest.approx(ends, abs=max(near, 0.007)), key


def test_bundles_of_pairs_say_the_same_as_pairs() -> None:
    """Beyond 2,000 pairs: of a mean the normal interval, and the two tails of a sign test."""
    n_rows = 3 * MOST_UNITS + 1_234
    old, new = scored(7, n_rows, shift=0.002)
    result = compare_pairs(old, new)
    steps = new.scores - old.scores
    half = 1.96 * steps.std() / np.sqrt(n_rows)
    row = result.find("mean_score")
    assert row.interval is not None
    ends = [steps.mean() - half, steps.mean() + half]
    assert [row.interval.low, row.interval.high] == pytest.approx(ends, abs=0.12 * half)
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], size=(1000, n_rows))
    share = np.mean(np.abs(signs @ steps) >= abs(steps.sum()))
    assert row.p_value == pytest.approx(share, abs=0.05)


def test_joined_scores_show_the_change_of_the_measures() -> None:
    old, new = scored(8, 4_000, noise=0.5, shift=0.5)
    result = compare_pairs(old, new, n_draws=200)
    for key in ("auroc", "event_nll", "mean_gap"):
        row = result.find(key)
        assert row.interval is not None
        assert row.interval.low < row.change < row.interval.high
    assert result.find("ks_error").p_value < 0.01


@pytest.mark.long
def test_of_a_hundred_batches_scored_alike_at_least_95_pass() -> None:
    passed = []
    for k in range(100):
        (old, new), rng = scored(k, 250), np.random.default_rng(k)
        flipped = rng.random((2, 250)) < (0.05 if k % 2 else 0.0)
        pair = [
            EventScores(one.scores, one.hits ^ its)
            for one, its in zip((old, new), flipped, strict=True)
        ]
        passed.append(not compare_pairs(*pair, n_draws=200).moved)
    assert sum(passed) >= 95


@pytest.mark.long
def test_a_small_change_is_seen_that_two_samples_miss() -> None:
    paired = unpaired = 0
    for k in range(20):
        old, new = scored(100 + k, 500, shift=0.08)
        paired += bool(compare_pairs(old, new, n_draws=300).moved)
        as_two = tally(old.scores, old.hits), tally(new.scores, new.hits)
        unpaired += bool(compare_batches(*as_two, n_draws=300).moved)
    assert paired >= 18
    assert unpaired <= 1


@pytest.mark.long
def test_power_is_how_often_such_a_change_is_seen() -> None:
    size, seen, power = 0.003, [], []
    for k in range(60):
        old, new = scored(200 + k, 400)
        raised = EventScores(np.clip(new.scores + size, 0, 1), new.hits)
        result = compare_pairs(old, raised, size=size, n_draws=300)
        seen.append(result.find("mean_gap").p_value < 0.05 / 6)
        power.append(result.power)
    assert np.mean(power) == pytest.approx(np.mean(seen), abs=0.15)
    assert 0.3 < np.mean(power) < 1


def test_outcomes_that_are_the_same_are_not_tested() -> None:
    old, new = scored(9, 300, shift=0.3)
    result = compare_pairs(old, new, n_draws=500)
    rate = result.find("hit_rate")
    assert (rate.change, rate.p_value, rate.adjusted, rate.visible) == (0, 1, 1, 0)
    assert result.changed_outcomes == 0
    assert all(np.isnan([row.expected, row.beyond]).all() for row in result.rows)
    # Of seven measures six are tested, which Holm counts.
    score = result.find("mean_score")
    assert score.adjusted == pytest.approx(6 * score.p_value)


def test_new_outcomes_alone_explain_what_they_change() -> None:
    old, _ = scored(10, 800)
    rng = np.random.default_rng(0)
    later = EventScores(old.scores, old.hits | (rng.random(800) < 0.1))
    result = compare_pairs(old, later, n_draws=500)
    assert "hit_rate" in [row.key for row in result.moved]
    assert result.beyond_the_frequency == ()
    assert all(row.expected == row.new for row in result.rows)


def test_new_outcomes_do_not_explain_other_scores() -> None:
    old, new = scored(12, 800, shift=0.3)
    rng = np.random.default_rng(0)
    later = EventScores(new.scores, new.hits | (rng.random(800) < 0.1))
    result = compare_pairs(old, later, n_draws=500)
    assert {"mean_gap", "mean_score"} <= {row.key for row in result.beyond_the_frequency}


def test_the_same_batch_twice_has_not_changed() -> None:
    old, _ = scored(13, 50)
    result = compare_pairs(old, old, n_draws=100)
    assert (result.moved, result.power) == ((), 1)


def test_scores_rounded_to_one_side_have_not_changed() -> None:
    old, _ = scored(15, 500)
    down = np.nextafter(old.scores.astype(np.float32), np.float32(0)).astype(np.float64)
    result = compare_pairs(old, EventScores(down, old.hits), n_draws=300)
    assert result.find("mean_score").p_value < 0.01
    assert result.moved == ()


def test_the_same_seed_finds_the_same() -> None:
    old, new = scored(14, 100)
    one, again = (
        compare_pairs(old, new, n_draws=100),
        compare_pairs(old, new, n_draws=100, size=0.02, seed=0),  # what they are by default
    )
    assert [row.p_value for row in one.rows] == [row.p_value for row in again.rows]
    assert one.power == again.power


@pytest.mark.parametrize(
    ("field", "n_new", "options"),
    [("new", 49, {}), ("size", 50, {"size": 0.0}), ("n_draws", 50, {"n_draws": 5})],
)
def test_what_cannot_be_asked_is_refused(field: str, n_new: int, options: dict[str, float]) -> None:
    old, new = scored(0, 50)
    with pytest.raises(CalibrationInputError) as refused:
        compare_pairs(old, new.rows(np.arange(n_new)), **options)  # type: ignore[arg-type]
    assert refused.value.field == field
