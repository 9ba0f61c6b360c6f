"""Summaries say what the rows say."""

import copy
import pickle
from functools import cache, reduce
from importlib import import_module
from operator import add

import duckdb
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from calibcore import AuditResult, CalibrationInputError, EventScores, audit, counted, weights
from calibcore import summary as module
from calibcore.calibrators import CATALOGUE, IsotonicCalibration, PlattScaling
from calibcore.calibrators.base import FittedMap, FittedScoreMap
from calibcore.comparison import advise, row_losses
from calibcore.counted import CountedScores
from calibcore.curves import movement
from calibcore.decisions import at_cutoff, at_cutoff_by_group, decision_curve
from calibcore.drift import compare_batches
from calibcore.events import OneClass
from calibcore.group_drift import compare_groups
from calibcore.inference import SideRows, draws, drift_test, group_gaps
from calibcore.inference.findings import Inference
from calibcore.inference.power import smallest_gap_shown
from calibcore.metrics import METRICS, EventMeasure, measure_by_key
from calibcore.reliability import bands
from calibcore.splits import Split
from calibcore.subgroups import screen_subgroups
from calibcore.summary import (
    MOST_GROUPS,
    N_CELLS,
    BatchCounts,
    GridCounts,
    GroupedSummary,
    Summary,
    audit_groups,
    in_time,
    on_grid,
)
from calibcore.tally import tally
from calibcore.weights import frequency_weights
from tests.marks import first_and_long
from tests.reference import counted_by_group
from tests.reference import ks_error as slow_ks_error

KEYS = [one.key for one in METRICS if isinstance(one, EventMeasure)]


def draw_rows(n: int, seed: int = 0, digits: int | None = 3) -> tuple[np.ndarray, np.ndarray]:
    """Overconfident scores, 0 and 1 among them."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1, 2, n)
    hits = (rng.random(n) < 1 / (1 + np.exp(-0.7 * logits))).astype(int)
    scores = 1 / (1 + np.exp(-logits))
    scores[:3], hits[:3] = (0.0, 1.0, 1.0), (0, 1, 0)
    return (scores if digits is None else scores.round(digits)), hits


def values(result: AuditResult, side: str = "before") -> dict[str, float]:
    both = {one.measure.key: getattr(one, side) for one in result.test.comparisons}
    return {key: value for key, value in both.items() if value is not None}


def check_counts(result: Summary, wanted: Summary) -> None:
    assert result.rows.tolist() == wanted.rows.tolist()
    assert result.events.tolist() == wanted.events.tolist()
    np.testing.assert_allclose(result.scores, wanted.scores, rtol=1e-12)


def check_fields(result: object, wanted: object, *fields: str, rtol: float, atol: float) -> None:
    for field in fields:
        mine, its = getattr(result, field), getattr(wanted, field)
        np.testing.assert_allclose(mine, its, rtol=rtol, atol=atol, err_msg=field)


@pytest.mark.parametrize("digits", [2, None])
def test_every_measure_and_the_verdict_are_those_of_the_rows(digits: int | None) -> None:
    scores, hits = draw_rows(4000, digits=digits)
    parts = [Summary.of(scores[k::7], hits[k::7]) for k in range(7)]
    summary, rows = reduce(add, parts).audit(n_bins=12), audit(scores, hits, n_bins=12)
    assert values(rows).keys() == {*KEYS}
    assert values(summary) == pytest.approx(values(rows), rel=1e-12, abs=1e-12, nan_ok=True)
    assert repr(summary.verdict) == repr(rows.verdict)
    assert summary.test.n_samples == 4000
    assert summary.test.before.null.simultaneous == rows.test.before.null.simultaneous
    np.testing.assert_array_equal(
        summary.test.before.corp.frequency, rows.test.before.corp.frequency
    )


def test_the_grid_is_within_its_bounds() -> None:
    scores, hits = draw_rows(30_000, digits=None)
    scores[:12_000] = 1 / (1 + np.exp(-np.linspace(0.5, 0.5002, 12_000)))  # in one cell or two
    hits[:12_000] = np.arange(12_000) < 5000
    exact = Summary.of(scores, hits)
    grid = on_grid(exact)
    assert exact.is_exact
    assert not grid.is_exact
    result, wanted = values(grid.audit()), values(audit(scores, hits))
    bounds = grid.error_bounds
    for key, bound in bounds.items():
        assert abs(result[key] - wanted[key]) <= bound + 1e-12, key
    assert wanted["ks_error"] - result["ks_error"] > bounds["ks_error"] / 20
    assert 0 < bounds["ks_error"] < 0.1
    for key in ("miscalibration", "brier_skill", "calibration_slope", "ici", "smooth_ece"):
        assert result[key] == pytest.approx(wanted[key], abs=1e-3), key


def test_a_grid_moves_scores_little_and_keeps_certain_ones_apart() -> None:
    scores = np.array([0.0, 5e-324, 1e-300, 1e-12, 0.5, 0.50001, 1 - 2**-53, 1.0])
    grid = on_grid(Summary.of_counts(scores, [3] * 8, [1] * 8))
    assert grid.scores[0] == 0
    assert 0 < grid.scores[1] < 1e-14
    assert grid.scores[-1] == 1
    assert grid.scores[-2] < 1
    assert np.all(np.diff(grid.scores) > 0)
    fine = np.linspace(0, 1, 50_000)
    cells = module._tops().searchsorted(fine)  # noqa: SLF001 - how far any score is moved
    tops = module._tops()  # noqa: SLF001 - the same
    assert (tops[cells] - tops[np.maximum(cells - 1, 0)]).max() < 6.2e-5


def test_many_scores_go_to_the_grid_whatever_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SCORES", 500)
    scores, hits = draw_rows(2000, digits=None)
    parts = [Summary.of(scores[k::5], hits[k::5]) for k in range(5)]
    whole = Summary.of(scores, hits)
    assert [one.is_exact for one in parts] == [True] * 5
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 1, 3]):
        summed = reduce(add, [parts[k] for k in order])
        assert not summed.is_exact
        check_counts(summed, whole)
    assert whole.scores.size < N_CELLS
    assert whole.audit().test.compare("event_nll").before == pytest.approx(
        audit(scores, hits).test.compare("event_nll").before, rel=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.9, 1.0]) | st.floats(0, 1), st.booleans()),
        min_size=4,
        max_size=40,
    ),
    cuts=st.lists(st.integers(1, 3), min_size=40, max_size=40),
    grids=st.lists(st.booleans(), min_size=3, max_size=3),
    order=st.permutations([0, 1, 2]),
)
def test_parts_add_up_in_any_order(
    rows: list[tuple[float, bool]], cuts: list[int], grids: list[bool], order: list[int]
) -> None:
    scores, hits = np.array([one for one, _ in rows]), np.array([hit for _, hit in rows])
    places = np.array([*range(3), *cuts])[: len(rows)] % 3
    parts = [Summary.of(scores[places == k], hits[places == k]) for k in range(3)]
    parts = [on_grid(one) if grid else one for one, grid in zip(parts, grids, strict=True)]
    whole = Summary.of(scores, hits)
    whole = on_grid(whole) if any(grids) else whole
    first, second, third = (parts[k] for k in order)
    for result in ((first + second) + third, first + (second + third)):
        check_counts(result, whole)
        assert result.n_samples == len(rows)
    slow = slow_ks_error(scores.tolist(), hits.tolist())
    bound = whole.error_bounds["ks_error"]
    assert abs(whole.audit().test.compare("ks_error").before - slow) <= bound + 1e-12  # type: ignore[operator]


def test_two_summaries_are_compared_as_their_rows_are() -> None:
    old, new = draw_rows(2000, seed=1), draw_rows(1500, seed=2)
    batches = [(Summary.of(*one).counted, tally(*one)) for one in (old, new)]
    result, wanted = (compare_batches(*pair, n_draws=100) for pair in zip(*batches, strict=True))
    assert [row.p_value for row in result.rows] == [row.p_value for row in wanted.rows]
    assert [row.new for row in result.rows] == [row.new for row in wanted.rows]


def test_counts_are_rows() -> None:
    scores, hits = draw_rows(300, digits=1)
    times = np.arange(300) % 4
    weighted = Summary.of(scores, hits, frequency_weights(times))
    repeated = Summary.of(np.repeat(scores, times), np.repeat(hits, times))
    taken = Summary.of_counts(scores, times, times * hits)
    for one in (weighted, taken):
        check_counts(one, repeated)


# Intervals, bands, tests ---------------------------------------------------------------------


def test_intervals_of_few_rows_are_those_of_the_rows() -> None:
    rows = draw_rows(300)
    both = Summary.of(*rows).audit(), audit(*rows)
    result, wanted = (one.intervals(n_resamples=25, seed=3) for one in both)
    assert len(result.findings) == len(wanted.findings)
    for mine, its in zip(result.findings, wanted.findings, strict=True):
        assert (mine.before is None) == (its.before is None), mine.key
        if mine.before is not None and its.before is not None:
            near = {"rtol": 1e-12, "atol": 1e-12}
            check_fields(mine.before.interval, its.before.interval, "low", "high", **near)
            check_fields(mine.before.reference, its.before.reference, "p_value", **near)


@cache
def intervals_of_rows() -> Inference:
    return audit(*draw_rows(3000)).intervals()


@pytest.mark.parametrize("most_cells", first_and_long([400, 1 << 13]))
def test_intervals_of_many_rows_are_those_of_the_rows_but_for_the_draws(
    most_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 1,000 draws an end is known to about 4% of half an interval: 25% are four errors."""
    monkeypatch.setattr(import_module("calibcore.inference.infer"), "_WRITTEN", 0)
    monkeypatch.setattr(draws, "_MOST_CELLS", most_cells)
    result, wanted = Summary.of(*draw_rows(3000)).audit().intervals(), intervals_of_rows()
    for key in KEYS:
        mine, its = result.find(key).before, wanted.find(key).before
        assert mine is not None
        assert its is not None
        for end in ("low", "high"):
            mine_end, its_end = getattr(mine.interval, end), getattr(its.interval, end)
            wide = (its.interval.high - its.interval.low) / 2
            exact = mine.estimate is not None  # from labels that are drawn by score
            near = 1e-12 if exact else 0.25 * wide + 1e-12
            assert mine_end == pytest.approx(its_end, rel=1e-12, abs=near, nan_ok=True), key
        assert mine.reference == its.reference, key


def test_counted_rows_that_turned_out_alike_may_turn_out_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(import_module("calibcore.inference.infer"), "_WRITTEN", 0)
    scores, hits = np.full(400, 0.99), np.ones(400, dtype=int)
    both = Summary.of(scores, hits).audit(), audit(scores, hits)
    result, wanted = (one.intervals("event_nll").find("event_nll").before for one in both)
    assert result is not None
    assert wanted is not None
    assert result.interval.high == pytest.approx(wanted.interval.high, rel=0.25)
    assert result.interval.high > result.value


def test_bands_tests_and_power_are_those_of_the_rows() -> None:
    rows = draw_rows(3000)
    result, wanted = (one.test.before for one in (Summary.of(*rows).audit(), audit(*rows)))
    assert result.omnibus.p_value == wanted.omnibus.p_value
    assert result.null.simultaneous == wanted.null.simultaneous
    assert smallest_gap_shown(result.curves) == smallest_gap_shown(wanted.curves)
    assert repr(result.off_ranges) == repr(wanted.off_ranges)
    assert result.auroc == wanted.auroc
    assert result.corp_outside == wanted.corp_outside
    bands_of = result.frequency_null, wanted.frequency_null
    check_fields(*bands_of, "lower", "upper", rtol=1e-12, atol=0)
    np.testing.assert_array_equal(result.smooth.frequency, wanted.smooth.frequency)
    check_fields(result.frequency, wanted.frequency, "slope", rtol=1e-9, atol=0)


def test_parts_of_very_many_rows_serve_as_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = draw_rows(40_000, digits=2)
    wanted = audit(*rows).test.before
    assert wanted.frequency is not None
    assert wanted.frequency_null is not None
    monkeypatch.setattr(weights, "MOST_PARTS", 10_000)
    monkeypatch.setattr(bands, "MOST_PARTS", 10_000)
    result = Summary.of(*rows).audit().test.before
    for name, field in (("frequency", "slope"), ("frequency_null", "deviation")):
        mine, its = (getattr(getattr(one, name), field) for one in (result, wanted))
        np.testing.assert_allclose(mine, its, atol=1e-4)
        assert not np.array_equal(mine, its), name


@pytest.mark.parametrize("n", [6000, 60_000])
def test_subgroups_of_summaries_are_those_of_the_rows(n: int) -> None:
    scores, hits = draw_rows(n)
    names = np.random.default_rng(5).choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    hits = np.where((names == "b") & (np.arange(n) % 6 == 0), 1, hits)
    parts = {name: Summary.of(scores[names == name], hits[names == name]) for name in "abc"}
    result, wanted = audit_groups(parts), audit(scores, hits, groups=names)
    assert result.verdict.groups[0].name == "b"
    assert len(result.verdict.groups) == len(wanted.verdict.groups)
    for mine, its in zip(result.verdict.groups, wanted.verdict.groups, strict=True):
        assert (mine.name, mine.rows, mine.own) == (its.name, its.rows, its.own)
        # Up to 20,000 rows labels are drawn row by row, and these are in another order.
        near = 1e-9 if n > 20_000 else 0.03
        check_fields(mine, its, "gap", "low", "high", "p_value", rtol=0, atol=near)


# Calibrators ----------------------------------------------------------------------------------


SCORE_MAPS = [one.key for one in CATALOGUE if one.acts_on == "event" and not one.knows_groups]


def written_out(rows: EventScores) -> EventScores:
    return EventScores(rows.scores, rows.hits)


@pytest.mark.parametrize("key", SCORE_MAPS)
def test_a_score_map_fitted_on_a_summary_is_that_of_the_rows(key: str) -> None:
    fit, test = draw_rows(900, seed=1, digits=2), draw_rows(800, seed=2, digits=2)
    result = Summary.of(*test).audit(calibrator=key, calibration=Summary.of(*fit))
    wanted = audit(Split(EventScores(*fit), EventScores(*test)), event=OneClass(1), calibrator=key)
    check_maps(result.fitted, wanted.fitted, rtol=1e-9, atol=1e-12)
    after = values(wanted, "after")
    assert values(result, "after") == pytest.approx(after, rel=1e-9, abs=1e-9, nan_ok=True)


def check_maps(
    result: FittedMap | None, wanted: FittedMap | None, *, rtol: float, atol: float
) -> None:
    places = np.linspace(0, 1, 500)
    assert isinstance(result, FittedScoreMap)
    assert isinstance(wanted, FittedScoreMap)
    pair = result.predict(places), wanted.predict(places)
    np.testing.assert_allclose(*pair, rtol=rtol, atol=atol)
    assert result.warnings == wanted.warnings


@pytest.mark.parametrize("key", ["platt", "isotonic", "spline"])
def test_a_summary_in_folds_is_its_rows_in_the_same_folds(key: str) -> None:
    result = Summary.of(*draw_rows(1000, digits=2)).audit(calibrator=key)
    assert result.request is not None
    split = result.request.split
    cells = split.test
    assert isinstance(cells, CountedScores)
    assert split.fold is not None
    times = cells.times.values.astype(int)
    for outcome in (0, 1):
        own = cells.cells.hits == outcome
        sizes = np.bincount(split.fold[own], times[own])
        assert sizes.max() - sizes.min() <= 1
    rows = written_out(cells)
    again = Split(rows, rows, fold=np.repeat(split.fold, times))
    wanted = audit(again, event=OneClass(1), calibrator=key)
    after = values(wanted, "after")
    assert values(result, "after") == pytest.approx(after, rel=1e-9, abs=1e-9, nan_ok=True)
    changes = [one.intervals("ks_error", "event_nll", n_resamples=40) for one in (result, wanted)]
    for name in ("ks_error", "event_nll"):
        mine, its = (one.find(name).change for one in changes)
        check_fields(mine, its, "low", "high", rtol=0, atol=0.002)


def test_rows_of_many_are_dealt_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "_MOST_DEALT", 100)
    cells, fold = counted.deal_cells(Summary.of(*draw_rows(5000)).event_scores, n_folds=5, seed=0)
    sizes = np.bincount(fold, cells.times.values)
    assert sizes.sum() == 5000
    assert np.abs(sizes - 1000).max() < 5 * np.sqrt(5000 * 0.16)


@pytest.mark.parametrize("key", SCORE_MAPS)
def test_parts_of_very_many_rows_are_fitted_as_rows(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the spline, whose points are then fewer, to the last digits."""
    fit, test = draw_rows(20_000, seed=1, digits=3), draw_rows(50, seed=2)
    summaries = Summary.of(*test), Summary.of(*fit)
    wanted = summaries[0].audit(calibrator=key, calibration=summaries[1]).fitted
    monkeypatch.setattr(weights, "MOST_PARTS", 2000)
    result = summaries[0].audit(calibrator=key, calibration=summaries[1]).fitted
    check_maps(result, wanted, rtol=1e-7, atol=2e-3 if key == "spline" else 1e-9)


def test_decisions_and_comparisons_take_a_summary() -> None:
    rows = draw_rows(2000, digits=2)
    mine, its = Summary.of(*rows).event_scores, EventScores(*rows)
    curves = [decision_curve(one, [0.1, 0.5]) for one in (mine, its)]
    np.testing.assert_allclose(curves[0].low, curves[1].low, rtol=1e-12)
    assert repr(at_cutoff(mine, 0.3)) == repr(at_cutoff(its, 0.3))
    cells, fold = counted.deal_cells(mine, n_folds=5, seed=0)
    written = written_out(cells), np.repeat(fold, cells.times.values.astype(int))
    makers = {"platt": PlattScaling(), "isotonic": IsotonicCalibration()}
    loss = measure_by_key("event_nll")
    advice = []
    for one, folds in ((cells, fold), written):
        losses = {}
        for key, made in makers.items():
            crossed = audit(Split(one, one, fold=folds), event=OneClass(1), calibrator=made)
            losses[key] = row_losses(loss, SideRows(crossed.test.after.event))
        advice.append(advise(losses, lambda _: True, list(makers), 5, one))  # type: ignore[arg-type]
    assert advice[0] == advice[1]


@pytest.mark.parametrize("n", [3000, 24_000])
def test_drift_of_summaries_is_that_of_the_rows(n: int) -> None:
    scores, hits = draw_rows(n)
    days = np.arange(n) * 6 // n
    hits = np.where((days > 3) & (np.arange(n) % 11 == 0), 1, hits)
    parts = {f"{k}": Summary.of(scores[days == k], hits[days == k]) for k in range(6)}
    periods, result = in_time(parts, n_resamples=200)
    wanted = drift_test(scores, hits, days, n_periods=6)
    assert result is not None
    assert wanted is not None
    check_fields(result, wanted, "since", "rows_before", "rows_since", rtol=0, atol=0)
    check_fields(result, wanted, "slope", "gap_before", "gap_since", rtol=1e-6, atol=0)
    assert result.p_value == pytest.approx(wanted.p_value, abs=1e-9 if n > 20_000 else 0.03)
    rows = audit(scores[days == 2], hits[days == 2])
    assert periods[2].ks_error == pytest.approx(rows.test.compare("ks_error").before, abs=1e-12)
    gap = rows.intervals("mean_gap", n_resamples=200).find("mean_gap").before
    assert gap is not None
    assert periods[2].mean_gap == pytest.approx(gap.value, abs=1e-12)
    assert periods[2].interval.low == pytest.approx(gap.interval.low, rel=1e-9)


def test_batches_are_counted_on_the_grid_as_sorted_scores_are() -> None:
    rng = np.random.default_rng(1)
    ends = [0.0, 5e-324, 1e-300, 1e-17, 1e-14, 1 - 2**-53, 1 - 1e-15, 1.0]
    tops = module._tops()[:: N_CELLS // 4000]  # noqa: SLF001 - where rounding could move a score
    scores = np.concatenate([ends, tops, np.nextafter(tops, 0), draw_rows(9000, digits=None)[0]])
    hits = rng.integers(2, size=scores.size)
    halves = [on_grid(Summary.of(scores[k::2], hits[k::2])) for k in range(2)]
    wanted = halves[0] + halves[1]
    for start in (None, Summary.of(scores[:100], hits[:100])):
        counts = GridCounts(start)
        for part in np.array_split(np.arange(0 if start is None else 100, scores.size), 3):
            counts.add(scores[part], hits[part])
        result = counts.summary
        assert result.cells is not None
        assert wanted.cells is not None
        check_counts(result, wanted)
        for mine, its in zip(result.cells.columns, wanted.cells.columns, strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-300)


MANY = Summary.of_counts([0.2, 0.6], [2_000_000_000] * 2, [400_000_000, 1_200_000_004])


def test_billions_of_rows_are_audited() -> None:
    result = MANY.audit()
    assert result.test.n_samples == 4_000_000_000
    assert result.test.compare("ks_error").before == pytest.approx(1e-9, rel=1e-6)
    assert result.verdict.before.direction == "none"
    gap = result.intervals("mean_gap", n_resamples=400).find("mean_gap").before
    assert gap is not None
    assert gap.interval.high - gap.interval.low == pytest.approx(
        2 * 1.96 * 0.447 / 4e9**0.5, rel=0.2
    )


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Summary.of([0.2], [0], [0.5]), "sample_weight: sampling weights"),
        (lambda: Summary.of_counts([0.2], [1], [2]), "events: more than rows"),
        (lambda: Summary.of_counts([0.2, 0.3], [1], [1]), "rows: 1 values"),
        (lambda: Summary.of_counts([0.2], [1.5], [1]), "rows: other values than whole"),
        (lambda: Summary.of_counts([0.2], [1], [np.nan]), "events: other values than whole"),
        (lambda: Summary.of_counts([0.2], [0], [0]), "rows: none at any score"),
        (lambda: Summary.of_counts([1.2], [1], [0]), "scores: "),
        (lambda: audit(Summary.of([0.2, 0.6], [0, 1]), clusters=[1, 2]), "clusters: some beside a"),
        (lambda: audit(Summary.of([0.2, 0.6], [0, 1]), prevalence=0.1), "prevalence: one beside a"),
        (lambda: audit_groups({}), "groups: none"),
        (lambda: in_time({}), "parts: none"),
        (lambda: Summary.of([0.2], [0]).audit(), "rows: 1 of a summary"),
        (lambda: MANY.audit().test.before.event.scores, "rows: 4,000,000,000 rows of a summary"),
        (lambda: MANY.audit(calibrator="temperature"), "calibrator: one that needs the logits"),
        (lambda: module.summary_sql("logs", "", "y"), "score: ''"),
    ],
)
def test_refusals(call: object, text: str) -> None:
    with pytest.raises(CalibrationInputError) as caught:
        call()  # type: ignore[operator]
    assert str(caught.value).startswith(text)


QUERIES = {
    "DOUBLE, BOOLEAN": ("p DOUBLE, y BOOLEAN", "p"),
    "FLOAT, INTEGER": ("p FLOAT, y INTEGER", "p"),
    "a name that needs quotes": ('"a ""b"" c" DOUBLE, y TINYINT', 'a "b" c'),
}


@pytest.mark.parametrize("name", QUERIES)
def test_duckdb_counts_rows_by_score(name: str) -> None:
    columns, score = QUERIES[name]
    scores, hits = draw_rows(2000)
    with duckdb.connect() as base:
        base.execute(f"CREATE SCHEMA logs; CREATE TABLE logs.march ({columns})")
        base.executemany(
            "INSERT INTO logs.march VALUES (?, ?)",
            list(zip(scores[:500].tolist(), hits[:500].tolist(), strict=True)),
        )
        query = module.summary_sql("logs.march", score, "y")
        counted = base.execute(query).fetchnumpy()
        result = Summary.of_counts(counted["score"], counted["n_rows"], counted["n_events"])
    stored = scores[:500].astype(np.float32 if "FLOAT" in columns else np.float64)
    wanted = Summary.of(stored, hits[:500])
    check_counts(result, wanted)
    assert result.scores.tolist() == wanted.scores.tolist()


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ((0.5, None), "events: "),
        ((0.5, 2), "events: "),
        ((None, 1), "scores: "),
        ((float("nan"), 1), "scores: "),
    ],
)
def test_what_is_no_score_or_outcome_in_duckdb_is_refused(
    row: tuple[object, ...], text: str
) -> None:
    with duckdb.connect() as base:
        base.execute("CREATE TABLE logs (p DOUBLE, y INTEGER)")
        base.executemany("INSERT INTO logs VALUES (?, ?)", [(0.5, 1), row])
        counted = base.execute(module.summary_sql("logs", "p", "y")).fetchnumpy()
    with pytest.raises(CalibrationInputError) as caught:
        Summary.of_counts(counted["score"], counted["n_rows"], counted["n_events"])
    assert str(caught.value).startswith(text)


def test_more_rows_than_can_be_counted_are_refused() -> None:
    assert Summary.of_counts([0.2, 0.3], [2**52, 2**52], [0, 1]).n_samples == 2**53
    with pytest.raises(CalibrationInputError, match="rows: more than"):
        Summary.of_counts([0.2, 0.3], [2**53, 2], [0, 1])


def test_what_is_no_summary_is_not_added() -> None:
    with pytest.raises(TypeError):
        Summary.of([0.2], [0]) + 1  # type: ignore[operator]


def test_summaries_and_their_audits_are_copied() -> None:
    summary = on_grid(Summary.of(*draw_rows(100)))
    for again in (pickle.loads(pickle.dumps(summary)), copy.deepcopy(summary)):  # noqa: S301 - own
        assert again.audit().to_json() == summary.audit().to_json()
    held = summary.audit()
    assert pickle.loads(pickle.dumps(held)).to_json() == held.to_json()  # noqa: S301 - own
    assert "rows of a summary(100)" in repr(held.test.before.event)


# Groups ---------------------------------------------------------------------------------------


def grouped(n: int, seed: int = 0, digits: int | None = 2) -> tuple[np.ndarray, ...]:
    """Scores, outcomes, and two columns of groups; the scores are too high in one group."""
    scores, hits = draw_rows(n, seed, digits)
    rng = np.random.default_rng(seed + 100)
    regions, devices = rng.choice(["eu", "us", "asia"], n, p=[0.5, 0.3, 0.2]), rng.choice([3, 7], n)
    hits = np.where((regions == "us") & (rng.random(n) < 0.2), 0, hits)
    return scores, hits, regions, devices


def counts_of(summary: GroupedSummary) -> dict[tuple[str, ...], dict[float, tuple[int, int]]]:
    return {
        name: {
            score: (rows, events)
            for score, rows, events in zip(
                part.scores.tolist(), part.rows.tolist(), part.events.tolist(), strict=True
            )
        }
        for name, part in zip(summary.names, summary.parts, strict=True)
    }


def test_groups_are_counted_as_row_by_row_whatever_the_batches() -> None:
    scores, hits, regions, devices = grouped(2000)
    names = [(region, str(device)) for region, device in zip(regions, devices, strict=True)]
    slow = counted_by_group(scores.tolist(), hits.tolist(), names)
    by = {"region": regions, "device": devices}
    assert counts_of(GroupedSummary.of(scores, hits, by)) == slow
    parts = [
        GroupedSummary.of(scores[k::5], hits[k::5], {key: of[k::5] for key, of in by.items()})
        for k in range(5)
    ]
    for order in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
        summed = reduce(add, [parts[k] for k in order])
        assert isinstance(summed, GroupedSummary)
        assert counts_of(summed) == slow
        assert summed.whole.rows.tolist() == Summary.of(scores, hits).rows.tolist()
    alone = summed.by("device")
    assert [alone[name].n_samples for name in ("3", "7")] == [(devices == k).sum() for k in (3, 7)]


def test_many_scores_of_groups_go_to_the_grid_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SCORES", 700)
    monkeypatch.setattr(module, "_POOLED", 900)
    scores, hits, regions, devices = grouped(3000, digits=None)
    counts = BatchCounts(["region", "device"])
    for k in range(12):
        places = [np.unique(of[k::12], return_inverse=True)[1] for of in (regions, devices)]
        coded = [(places[0], ("asia", "eu", "us")), (places[1], ("3", "7"))]
        counts.add(scores[k::12], hits[k::12], coded)
    summary = counts.summary
    assert isinstance(summary, GroupedSummary)
    assert not any(part.is_exact for part in summary.parts)
    own = {name: (regions == name[0]) & (devices == int(name[1])) for name in summary.names}
    for name, part in zip(summary.names, summary.parts, strict=True):
        check_counts(part, on_grid(Summary.of(scores[own[name]], hits[own[name]])))
    whole = on_grid(Summary.of(scores, hits))
    assert summary.whole.rows.tolist() == whole.rows.tolist()
    rows = summary.event_scores
    assert rows.counted.scores.tolist() == np.unique(rows.cells.scores).tolist()
    again = tally(rows.cells.scores, rows.cells.hits, sample_weight=rows.times)
    assert again.counts.tolist() == rows.counted.counts.tolist()
    assert summary.event_scores.n_hits == hits.sum()


def test_sums_have_the_groups_that_both_know() -> None:
    scores, hits, regions, devices = grouped(600)
    both = GroupedSummary.of(scores, hits, {"region": regions, "device": devices})
    alone = GroupedSummary.of(scores, hits, {"device": devices, "hour": devices})
    plain = Summary.of(scores, hits)
    for summed in (both + alone, alone + both):
        assert isinstance(summed, GroupedSummary)
        assert summed.columns == ("device",)
        assert summed.n_samples == 1200
    for summed in (both + plain, plain + both, both + GroupedSummary.of([0.5], [1], {"x": ["a"]})):
        assert isinstance(summed, Summary)
        assert summed.n_samples > 600


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"k": range(MOST_GROUPS + 1)}, "more than 100 groups of k"),
        ({"k": np.arange(101) % 11, "m": np.arange(101) % 10}, "more than 100 groups of k and m"),
        ({}, "none"),
    ],
)
def test_too_many_groups_are_refused_and_none(columns: dict[str, object], text: str) -> None:
    given = {name: np.asarray(values) for name, values in columns.items()}
    with pytest.raises(CalibrationInputError, match=text):
        GroupedSummary.of(np.full(101, 0.5), np.arange(101) % 2, given)


def test_subgroups_of_a_grouped_summary_are_tested_as_those_of_rows() -> None:
    scores, hits, regions, devices = grouped(30_000)
    summary = GroupedSummary.of(scores, hits, {"region": regions, "device": devices})
    cells = summary.event_scores.cells
    assert cells.groups is not None
    names = np.array(summary.names)[cells.groups]
    mine = group_gaps(
        cells.scores,
        cells.hits,
        [np.unique(names[:, k], return_inverse=True)[1] for k in (0, 1)],
        sample_weight=summary.event_scores.times,
    )
    its = group_gaps(
        scores, hits, [np.unique(of, return_inverse=True)[1] for of in (regions, devices)]
    )
    fields = "rows", "mean_score", "frequency", "low", "high", "adjusted", "beyond"
    check_fields(mine, its, *fields, rtol=1e-9, atol=1e-9)
    assert its.off().any()


def test_a_grouped_summary_is_audited_by_its_columns_as_rows_are() -> None:
    scores, hits, region, device = grouped(6000)
    hits = np.where(region == region[0], hits, 0)
    columns = {"region": region, "device": device}
    summary = GroupedSummary.of(scores, hits, columns)
    wanted = audit(scores, hits, groups=np.stack([region, device], axis=1))
    result = summary.audit()
    of_rows = values(wanted)
    assert values(result) == pytest.approx(of_rows, rel=1e-12)
    assert result.request is not None
    assert [one.column for one in result.request.groupings] == ["region", "device"]
    worst = [(one.name, round(one.gap, 12), one.rows) for one in wanted.verdict.groups]
    assert worst
    assert [(one.name, round(one.gap, 12), one.rows) for one in result.verdict.groups] == worst
    coarse = GroupedSummary.of_parts(
        summary.columns, dict(zip(summary.names, map(on_grid, summary.parts), strict=True))
    )
    assert values(coarse.audit())["event_nll"] == pytest.approx(of_rows["event_nll"], rel=1e-12)


def test_screens_changes_and_movements_of_counted_rows_are_those_of_the_rows() -> None:
    old, new = grouped(4000, seed=1), grouped(3000, seed=2)
    cells, rows, places = [], [], []
    for scores, hits, regions, _ in (old, new):
        one = GroupedSummary.of(scores, hits, {"region": regions})
        cells.append(one.event_scores)
        rows.append(EventScores(scores, hits))
        assert cells[-1].cells.groups is not None
        places.append((cells[-1].cells.groups, np.unique(regions, return_inverse=True)[1]))
    mine, its = (
        compare_groups(events[0], events[1], [(places[0][k], places[1][k])], n_draws=200)
        for k, events in ((0, cells), (1, rows))
    )
    fields = "rows_reference", "rows_new", "reference", "new", "adjusted"
    check_fields(mine, its, *fields, rtol=1e-9, atol=0)
    screens = [
        screen_subgroups(one.scores, one.hits, of, n_subgroups=3, sample_weight=times)
        for one, of, times in (
            (cells[0].cells, places[0][0], cells[0].times),
            (rows[0], places[0][1], None),
        )
    ]
    screened = "rows", "mean_score", "ks_error", "p_value", "adjusted", "gap_low"
    check_fields(screens[0], screens[1], *screened, rtol=1e-9, atol=1e-12)
    moved = [
        movement(cells[0], cells[0].moved(np.sqrt(cells[0].cells.scores))),
        movement(rows[0], EventScores(np.sqrt(rows[0].scores), rows[0].hits)),
    ]
    assert (moved[0].n_raised, moved[0].n_samples) == (moved[1].n_raised, 4000)
    assert moved[0].mean_shift == pytest.approx(moved[1].mean_shift)
    calls = [
        at_cutoff_by_group(*pair, n_groups=3)
        for pair in ((cells[0], 0.3, places[0][0]), (rows[0], 0.3, places[0][1]))
    ]
    assert repr(calls[0]) == repr(calls[1])


def test_changes_in_very_many_rows_are_dealt_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, hits, regions, _ = grouped(40_000)
    summary = GroupedSummary.of(scores, hits, {"region": regions}).event_scores
    assert summary.cells.groups is not None
    whole = changes_by_chance(summary)
    monkeypatch.setattr(import_module("calibcore.group_drift"), "_MOST_URN", 9000)
    assert changes_by_chance(summary).std() == pytest.approx(whole.std(), rel=0.15)


def changes_by_chance(event: CountedScores) -> np.ndarray:
    rng, drift = np.random.default_rng(0), import_module("calibcore.group_drift")
    return np.asarray(drift._changes_by_chance(event, event, 500, rng))  # noqa: SLF001 - how far it spreads


@settings(max_examples=50, deadline=None)
@given(
    scores=st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.9, 1.0]), min_size=1, max_size=20),
    share=st.floats(0, 1),
)
def test_quantiles_of_counted_scores(scores: list[float], share: float) -> None:
    mine = counted.score_quantiles(Summary.of(scores, [0] * len(scores)).event_scores, share)
    assert float(mine) == pytest.approx(float(np.quantile(scores, share)), abs=1e-12)
