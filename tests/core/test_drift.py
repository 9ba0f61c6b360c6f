"""A new batch beside an audited one: by slow permutation, and over a hundred draws."""

import numpy as np
import pytest
from numpy.typing import NDArray

from calibcore import CalibrationInputError
from calibcore.drift import COMPARED, BatchComparison, Rule, compare_batches
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


def permuted(old: Rows, new: Rows, keys: tuple[str, ...], n_draws: int) -> dict[str, np.ndarray]:
    """Compute changes of measures between batches to which rows are dealt at random."""
    scores, hits = (np.concatenate(pair) for pair in zip(old, new, strict=True))
    rng, changes = np.random.default_rng(0), []
    for _ in range(n_draws):
        first, rest = np.split(rng.permutation(scores.size), [old[0].size])
        changes.append([
            BY_KEY[key](scores[rest], hits[rest]) - BY_KEY[key](scores[first], hits[first])
            for key in keys
        ])  # fmt: skip
    return dict(zip(keys, np.array(changes).T, strict=True))


def test_values_are_those_of_the_measures() -> None:
    old, new = rows(0, 300), rows(1, 200, slope=1.5)
    result = compared(old, new)
    assert [row.key for row in result.rows] == [*COMPARED]
    for row in result.rows:
        measure = BY_KEY[row.key]
        assert row.reference == pytest.approx(measure(*old), abs=1e-12)
        assert row.new == pytest.approx(measure(*new), abs=1e-12)
        assert row.change == row.new - row.reference


def test_p_values_are_those_of_a_permutation_of_the_rows() -> None:
    old, new = rows(3, 400), rows(4, 250, slope=1.35)
    result = compared(old, new, 4000)
    keys = "mean_gap", "mean_score", "event_brier"
    for key, changes in permuted(old, new, keys, 1500).items():
        row, middle = result.find(key), changes.mean()
        far = np.abs(changes - middle) >= abs(row.change - middle)
        assert row.p_value == pytest.approx(far.mean(), abs=0.035)


def test_what_a_new_frequency_alone_would_show_is_the_weighted_reference() -> None:
    (old, was), (new, now) = rows(5, 500), rows(6, 300, rate=0.4)
    result = compared((old, was), (new, now))
    rate = now.mean()
    weight = np.where(was, rate / was.mean(), (1 - rate) / (1 - was.mean()))
    weight /= weight.sum()
    assert result.find("mean_score").expected == pytest.approx(weight @ old, abs=1e-12)
    assert result.find("hit_rate").expected == pytest.approx(rate, abs=1e-12)
    assert result.find("event_brier").expected == pytest.approx(
        weight @ (old - was) ** 2, abs=1e-12
    )
    assert result.find("auroc").expected == pytest.approx(auroc(old, was), abs=1e-12)
    assert np.isnan(result.find("hit_rate").beyond)


@pytest.mark.long
def test_of_a_hundred_like_batches_at_least_95_pass() -> None:
    passed = [not compared(rows(k, 500), rows(1000 + k, 250)).moved for k in range(100)]
    assert sum(passed) >= 95


@pytest.mark.long
def test_drifted_batches_fail_and_the_frequency_is_not_blamed() -> None:
    results = [compared(rows(k, 1500), rows(1000 + k, 700, slope=1.5)) for k in range(20)]
    assert all(one.moved for one in results)
    assert all(one.beyond_the_frequency for one in results)


@pytest.mark.long
def test_a_new_frequency_alone_is_told_apart() -> None:
    results = [compared(rows(k, 800), rows(1000 + k, 500, rate=0.45)) for k in range(40)]
    assert all("hit_rate" in [row.key for row in one.moved] for one in results)
    assert sum(bool(one.beyond_the_frequency) for one in results) <= 4


@pytest.mark.long
def test_power_is_how_often_such_a_change_is_seen() -> None:
    size, seen, power = 0.09, [], []
    for k in range(60):
        scores, hits = rows(2000 + k, 600)
        result = compare_batches(
            tally(*rows(k, 1000)), tally(np.clip(scores + size, 0, 1), hits), size=size, n_draws=300
        )
        seen.append(result.find("mean_gap").p_value < 0.05 / len(COMPARED))
        power.append(result.power)
    assert np.mean(power) == pytest.approx(np.mean(seen), abs=0.15)
    assert 0.3 < np.mean(power) < 1


def middling(seed: int, n_rows: int, higher: float = 0.0) -> Rows:
    """Draw calibrated rows far from 0 and 1, and raise their scores by as much."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.2, 0.7, n_rows)
    return scores + higher, rng.random(n_rows) < scores


def simulated_power(old: Rows, new: Rows, change: float, level: float, least: float) -> float:
    """Return how often batches of rows like all of these show a change of the mean gap.

    By 20,000 pairs of like batches, which tell what is significant; then the second of each has
    scores that are so much higher.
    """
    rng = np.random.default_rng(0)
    apart = np.concatenate([scores - hits for scores, hits in (old, new)])
    means = [rng.choice(apart, (20_000, scores.size)).mean(axis=1) for scores, _ in (old, new)]
    differences = means[1] - means[0]
    significant = least + np.quantile(np.abs(differences), 1 - level)
    return float((np.abs(differences + change) > significant).mean())


@pytest.mark.parametrize(
    ("rule", "level"),
    [
        (Rule(("mean_gap",)), 0.05),
        (Rule(("mean_gap",), level=0.2), 0.2),
        (Rule(), 0.05 / len(COMPARED)),
        (Rule(("mean_gap",), least={"mean_gap": 0.02}), 0.05),
    ],
)
def test_the_change_that_would_have_been_seen_is_seen_in_80_of_100_draws(
    rule: Rule, level: float
) -> None:
    old, new = middling(3, 300), middling(4, 200)
    batches = tally(*old), tally(*new)
    visible = compare_batches(*batches, rule=rule).find("mean_gap").visible
    again = compare_batches(*batches, size=visible, rule=rule)
    assert again.power == pytest.approx(0.8, abs=0.002)
    power = simulated_power(old, new, visible, level, rule.least.get("mean_gap", 0.0))
    assert power == pytest.approx(0.8, abs=0.03)


@pytest.mark.long
@pytest.mark.parametrize("key", ["mean_gap", "mean_score"])
def test_of_400_batches_that_changed_so_80_in_100_are_found(key: str) -> None:
    rule, moved = Rule((key,)), 0
    visible = np.mean([
        compare_batches(
            tally(*middling(k, 600)), tally(*middling(500 + k, 400)), rule=rule
        ).rows[0].visible
        for k in range(20)
    ])  # fmt: skip
    for k in range(400):
        batches = tally(*middling(7000 + k, 600)), tally(*middling(3000 + k, 400, float(visible)))
        moved += bool(compare_batches(*batches, n_draws=600, rule=rule).moved)
    assert moved / 400 == pytest.approx(0.8, abs=0.06)  # three standard errors


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


def test_a_batch_without_events_is_compared_with_the_rows_without() -> None:
    old, was = rows(0, 500)
    scores, hits = rows(7, 400)
    alone = scores[~hits]
    result = compared((old, was), (alone, np.zeros(alone.size, dtype=np.bool_)))
    assert "auroc" not in [row.key for row in result.rows]
    assert result.find("mean_score").expected == pytest.approx(old[~was].mean(), abs=1e-12)
    assert result.find("mean_gap").expected == pytest.approx(old[~was].mean(), abs=1e-12)
    assert result.find("event_brier").expected == pytest.approx((old[~was] ** 2).mean(), abs=1e-12)
    assert "hit_rate" in [row.key for row in result.moved]
    assert (result.beyond_the_frequency, result.cause) == ((), "frequency")


def test_other_scores_in_a_batch_without_events_are_beyond_its_frequency() -> None:
    scores, hits = rows(7, 800)
    alone = np.sqrt(scores[~hits])
    result = compared(rows(0, 500), (alone, np.zeros(alone.size, dtype=np.bool_)))
    assert {"mean_gap", "mean_score"} <= {row.key for row in result.beyond_the_frequency}
    assert result.cause == "fit"


@pytest.mark.parametrize("outcome", [False, True])
def test_a_reference_of_one_outcome_expects_nothing(*, outcome: bool) -> None:
    scores, _ = rows(7, 200)
    result = compared((scores, np.full(200, outcome)), rows(0, 500))
    assert all(np.isnan([row.expected, row.beyond]).all() for row in result.rows)


def test_one_row_is_a_batch() -> None:
    result = compared((np.array([0.3]), np.array([True])), (np.array([0.6]), np.array([False])))
    assert (result.n_reference, result.n_new) == (1, 1)
    assert result.find("mean_gap").change == pytest.approx(0.6 - (0.3 - 1))


# The rule ---------------------------------------------------------------------------------------


def test_a_change_that_does_not_matter_is_no_change() -> None:
    old, (scores, hits) = rows(0, 20_000), rows(1, 20_000)
    batches = tally(*old), tally(np.clip(scores + 0.02, 0, 1), hits)
    plain = compare_batches(*batches, n_draws=300)
    assert plain.find("mean_gap") in plain.moved
    for least, moved in ((0.005, True), (0.02, False), (0.05, False)):
        rule = Rule(("mean_gap",), least={"mean_gap": least})
        result = compare_batches(*batches, n_draws=300, rule=rule)
        assert bool(result.moved) is moved
        spread = result.rows[0].visible - least
        assert spread == pytest.approx(plain.find("mean_gap").visible, rel=0.3)


def test_a_least_change_is_the_slow_permutation_of_what_is_beyond_it() -> None:
    old, new = rows(3, 400), rows(4, 250, slope=1.35)
    rule = Rule(("event_brier",), least={"event_brier": 0.004})
    row = compare_batches(tally(*old), tally(*new), n_draws=4000, rule=rule).rows[0]
    (changes,) = permuted(old, new, ("event_brier",), 2000).values()
    far = np.abs(changes) >= abs(row.change) - 0.004
    assert row.p_value == pytest.approx(far.mean(), abs=0.035)


@pytest.mark.long
def test_a_change_of_the_least_that_matters_is_rarely_rejected() -> None:
    rule, rejected = Rule(("mean_gap",), least={"mean_gap": 0.02}), 0
    for k in range(200):
        scores, _ = rows(5000 + k, 3000)
        rng = np.random.default_rng(k)
        new = np.minimum(scores + 0.02, 1), rng.random(3000) < np.minimum(scores, 0.98)
        result = compare_batches(tally(*rows(k, 3000)), tally(*new), n_draws=300, rule=rule)
        rejected += bool(result.moved)
    assert rejected <= 18  # of 200 at 5%, 19 or more in 1 of 100 cases; one-sided it is 2.5%


def test_fewer_measures_are_adjusted_for_fewer() -> None:
    old, new = tally(*rows(3, 400)), tally(*rows(4, 250, slope=1.3))
    one = compare_batches(old, new, n_draws=300, rule=Rule(("event_nll",)))
    assert [row.key for row in one.rows] == ["event_nll"]
    assert one.rows[0].adjusted == one.rows[0].p_value
    assert np.isnan(one.power)


def test_a_level_is_that_of_all_measures_together() -> None:
    old, new = tally(*rows(3, 400)), tally(*rows(4, 250, slope=1.3))
    for level in (0.01, 0.2):
        result = compare_batches(old, new, n_draws=2000, rule=Rule(level=level))
        assert result.moved == tuple(row for row in result.rows if row.adjusted < level)
    assert (Rule().n_draws, Rule(level=0.01).n_draws) == (2000, 10_000)


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("measures", {"measures": ("ece",)}),
        ("measures", {"measures": ()}),
        ("measures", {"least": {"ece": 0.1}}),
        ("level", {"level": 0.0}),
        ("level", {"level": 0.00099}),
        ("level", {"level": 0.501}),
        ("least", {"least": {"auroc": np.inf}}),
        ("least", {"least": {"auroc": -0.1}}),
    ],
)
def test_a_rule_that_cannot_be_is_refused(field: str, options: dict[str, object]) -> None:
    with pytest.raises(CalibrationInputError) as refused:
        Rule(**options)  # type: ignore[arg-type]
    assert refused.value.field == field


def test_the_ends_of_what_a_rule_may_be_are_no_error() -> None:
    assert [Rule(level=level).level for level in (0.001, 0.5)] == [0.001, 0.5]
    assert Rule(least={"auroc": 0.0}).least == {"auroc": 0.0}


def test_measures_that_both_batches_lack_are_refused() -> None:
    scores, _ = rows(7, 200)
    none = tally(scores, np.zeros(200, dtype=np.bool_))
    with pytest.raises(CalibrationInputError, match="auroc, which these rows leave undefined"):
        compare_batches(none, none, rule=Rule(("auroc",)))


def test_many_rows_are_joined_and_the_values_stay() -> None:
    old, new = rows(8, 30_000), rows(9, 20_000)
    result = compared(old, new, 100)
    for row in result.rows:
        for value, batch in ((row.reference, old), (row.new, new)):
            assert value == pytest.approx(BY_KEY[row.key](*batch), rel=1e-12)


def test_the_same_seed_finds_the_same() -> None:
    batches = tally(*rows(1, 100)), tally(*rows(2, 100))
    one, again = (compare_batches(*batches, n_draws=100, **how) for how in ({}, {"seed": 0}))  # type: ignore[arg-type]
    assert [row.p_value for row in one.rows] == [row.p_value for row in again.rows]
    assert one.size == 0.02


@pytest.mark.parametrize(
    ("field", "options"),
    [("size", {"size": 0.0}), ("size", {"size": np.inf}), ("n_draws", {"n_draws": 99})],
)
def test_what_cannot_be_asked_is_refused(field: str, options: dict[str, float]) -> None:
    counted = tally(*rows(0, 50))
    with pytest.raises(CalibrationInputError) as refused:
        compare_batches(counted, counted, **options)  # type: ignore[arg-type]
    assert refused.value.field == field
