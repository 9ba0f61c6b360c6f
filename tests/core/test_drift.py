"""A new batch beside an audited one: by slow permutation, and over a hundred draws."""

import numpy as np
import pytest
from numpy.typing import NDArray

from calibcore import CalibrationInputError
from calibcore.drift import COMPARED, BatchComparison, compare_batches
from calibcore.metrics import (
    auroc,
    event_brier,
    event_nll,
    hit_rate,
    ks_error,
    mean_gap,
    mean_score,
)
from calibcore.tally import tally

Rows = tuple[NDArray[np.float64], NDArray[np.bool_]]

BY_KEY = {
    "mean_gap": mean_gap, "ks_error": ks_error, "event_brier": event_brier,
    "event_nll": event_nll, "auroc": auroc, "mean_score": mean_score, "hit_rate": hit_rate,
}  # fmt: skip


def rows(seed: int, n_rows: int, *, slope: float = 1.0, rate: float | None = None) -> Rows:
    """Draw rows of which scores with slope 1 are calibrated, perhaps with so many events."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.6, 1.1, 8 * n_rows)
    hits = rng.random(8 * n_rows) < 1 / (1 + np.exp(-logits))
    scores = 1 / (1 + np.exp(-slope * logits))
    if rate is None:
        return scores[:n_rows], hits[:n_rows]
    n_hits = rng.binomial(n_rows, rate)
    kept = np.concatenate([np.flatnonzero(hits)[:n_hits], np.flatnonzero(~hits)[: n_rows - n_hits]])
    return scores[kept], hits[kept]


def compared(old: Rows, new: Rows, n_draws: int = 300) -> BatchComparison:
    return compare_batches(tally(*old), tally(*new), n_draws=n_draws)


def test_values_are_those_of_the_measures() -> None:
    old, new = rows(0, 300), rows(1, 200, slope=1.5)
    found = compared(old, new)
    assert [row.key for row in found.rows] == [*COMPARED]
    for row in found.rows:
        measure = BY_KEY[row.key]
        assert row.reference == pytest.approx(measure(*old), abs=1e-12)
        assert row.new == pytest.approx(measure(*new), abs=1e-12)
        assert row.change == row.new - row.reference


def test_p_values_are_those_of_a_permutation_of_the_rows() -> None:
    (old, was), (new, now) = rows(3, 400), rows(4, 250, slope=1.35)
    found = compare_batches(tally(old, was), tally(new, now), n_draws=4000)
    scores, hits = np.concatenate([old, new]), np.concatenate([was, now])
    rng = np.random.default_rng(0)
    for key in ("mean_gap", "mean_score", "event_brier"):
        measure, drawn = BY_KEY[key], []
        for _ in range(1500):
            order = rng.permutation(scores.size)
            first, rest = order[:400], order[400:]
            drawn.append(measure(scores[rest], hits[rest]) - measure(scores[first], hits[first]))
        row = found.find(key)
        far = np.abs(np.array(drawn) - np.mean(drawn)) >= abs(row.change - np.mean(drawn))
        assert row.p_value == pytest.approx(far.mean(), abs=0.035)


def test_what_a_new_frequency_alone_would_show_is_the_weighted_reference() -> None:
    (old, was), (new, now) = rows(5, 500), rows(6, 300, rate=0.4)
    found = compared((old, was), (new, now))
    rate = now.mean()
    weight = np.where(was, rate / was.mean(), (1 - rate) / (1 - was.mean()))
    weight /= weight.sum()
    assert found.find("mean_score").expected == pytest.approx(weight @ old, abs=1e-12)
    assert found.find("hit_rate").expected == pytest.approx(rate, abs=1e-12)
    assert found.find("event_brier").expected == pytest.approx(weight @ (old - was) ** 2, abs=1e-12)
    assert found.find("auroc").expected == pytest.approx(auroc(old, was), abs=1e-12)
    assert np.isnan(found.find("hit_rate").beyond)


@pytest.mark.long
def test_of_a_hundred_like_batches_at_least_95_pass() -> None:
    passed = [not compared(rows(k, 500), rows(1000 + k, 250)).moved for k in range(100)]
    assert sum(passed) >= 95


@pytest.mark.long
def test_drifted_batches_fail_and_the_frequency_is_not_blamed() -> None:
    found = [compared(rows(k, 1500), rows(1000 + k, 700, slope=1.5)) for k in range(20)]
    assert all(one.moved for one in found)
    assert all(one.beyond_the_frequency for one in found)


@pytest.mark.long
def test_a_new_frequency_alone_is_told_apart() -> None:
    found = [compared(rows(k, 800), rows(1000 + k, 500, rate=0.45)) for k in range(40)]
    assert all("hit_rate" in [row.key for row in one.moved] for one in found)
    assert sum(bool(one.beyond_the_frequency) for one in found) <= 4


@pytest.mark.long
def test_power_is_how_often_such_a_change_is_seen() -> None:
    size, seen, power = 0.09, [], []
    for k in range(60):
        scores, hits = rows(2000 + k, 600)
        found = compare_batches(
            tally(*rows(k, 1000)), tally(np.clip(scores + size, 0, 1), hits), size=size, n_draws=300
        )
        seen.append(found.find("mean_gap").p_value < 0.05 / len(COMPARED))
        power.append(found.power)
    assert np.mean(power) == pytest.approx(np.mean(seen), abs=0.15)
    assert 0.3 < np.mean(power) < 1


@pytest.mark.long
def test_intervals_hold_the_true_change() -> None:
    held = []
    for k in range(60):
        interval = compared(rows(k, 400), rows(1000 + k, 200)).find("mean_gap").interval
        assert interval is not None
        held.append(interval.low <= 0 <= interval.high)
    assert np.mean(held) >= 0.88


def test_the_ks_error_has_no_interval() -> None:
    assert compared(rows(0, 100), rows(1, 100)).find("ks_error").interval is None


def test_a_batch_without_events_has_no_auroc_and_no_expectation() -> None:
    scores, _ = rows(7, 200)
    found = compared(rows(0, 500), (scores, np.zeros(200, dtype=np.bool_)))
    assert "auroc" not in [row.key for row in found.rows]
    assert all(np.isnan([row.expected, row.beyond]).all() for row in found.rows)
    assert "hit_rate" in [row.key for row in found.moved]


def test_many_rows_are_joined_and_the_values_stay() -> None:
    old, new = rows(8, 30_000), rows(9, 20_000)
    found = compared(old, new, 100)
    for row in found.rows:
        assert row.reference == pytest.approx(BY_KEY[row.key](*old), abs=2e-4)


def test_the_same_seed_finds_the_same() -> None:
    one, again = (compared(rows(1, 100), rows(2, 100)) for _ in range(2))
    assert [row.p_value for row in one.rows] == [row.p_value for row in again.rows]


@pytest.mark.parametrize(
    ("field", "options"), [("size", {"size": 0.0}), ("n_draws", {"n_draws": 5})]
)
def test_what_cannot_be_asked_is_refused(field: str, options: dict[str, float]) -> None:
    counted = tally(*rows(0, 50))
    with pytest.raises(CalibrationInputError) as refused:
        compare_batches(counted, counted, **options)  # type: ignore[arg-type]
    assert refused.value.field == field
