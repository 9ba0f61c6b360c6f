"""What repeated fits add to the uncertainty of a cross-validated change."""

import numpy as np
import pytest

from calibcore.auditing import audit
from calibcore.calibrators import PlattScaling, SplineCalibration, TemperatureScaling
from calibcore.data import EventScores
from calibcore.evaluation import sides_of
from calibcore.events import OneClass, TopR
from calibcore.fitting import prepare
from calibcore.inference import Interval, Plan, infer
from calibcore.inference.refits import Refits, refit
from calibcore.metrics import METRICS
from calibcore.splits import cross_split
from tests.core.draws import overconfident

KEYS = ("event_nll", "ks_error", "mean_gap", "calibration_slope", "nll")
SOME = tuple(m for m in METRICS if m.key in KEYS)


def scored(rng: np.random.Generator, n_samples: int) -> EventScores:
    scores = rng.uniform(0.05, 0.95, n_samples)
    return EventScores(scores, rng.uniform(size=n_samples) < scores)


def test_by_hand(rng: np.random.Generator) -> None:
    rows, calibrator, event = scored(rng, 150), PlattScaling(), TopR(1)
    split = cross_split(rows)
    result = audit(split, event=event, calibrator=calibrator)
    assert result.by_fold is not None
    measures = tuple(m for m in METRICS if m.key == "event_brier")
    plan = Plan(measures, n_resamples=25, seed=4)
    answer = refit(prepare(rows, event), event, calibrator, result.by_fold.fold, plan)
    draws, after = np.random.default_rng(4), result.test.after.event.scores
    fixed, free = [], []
    for _ in range(25):
        drawn = np.sort(draws.integers(150, size=150))
        s, h, fold = rows.scores[drawn], rows.hits[drawn], result.by_fold.fold[drawn]
        again = np.empty(150)
        for k in range(5):
            made = calibrator.fit(s[fold != k], h[fold != k])
            again[fold == k] = made.predict(s[fold == k])
        fixed.append(np.mean((after[drawn] - h) ** 2 - (s - h) ** 2))
        free.append(np.mean((again - h) ** 2 - (s - h) ** 2))
    added = np.var(free, ddof=1) - np.var(fixed, ddof=1)
    assert answer.deviation["event_brier"] == pytest.approx(np.sqrt(max(added, 0)))
    assert answer.shift["event_brier"] == pytest.approx(np.mean(free) - np.mean(fixed))


def test_intervals_grow_and_move(rng: np.random.Generator) -> None:
    rows, event, calibrator = scored(rng, 400), TopR(1), SplineCalibration(constrained=True)
    result = audit(cross_split(rows), event=event, calibrator=calibrator)
    plan = Plan(SOME, n_resamples=60)
    answer = infer(*sides_of(rows, result.test, result.of_test), plan)
    wide = Refits({"event_nll": 0.1, "ks_error": 0.0}, {"event_nll": 0.0, "ks_error": 0.01})
    wider = wide.widened(answer)
    was, now = answer.find("event_nll").change, wider.find("event_nll").change
    assert isinstance(was, Interval)
    assert isinstance(now, Interval)
    assert now.low < was.low
    assert now.high > was.high
    assert wider.find("event_nll").mark == "no evidence"
    before, moved = answer.find("ks_error").change, wider.find("ks_error").change
    assert isinstance(before, Interval)
    assert isinstance(moved, Interval)
    assert moved.low == pytest.approx(before.low - 0.01)
    assert wider.find("mean_gap") == answer.find("mean_gap")  # what has a sign is known of one fit
    assert answer.find("calibration_slope").change is not None
    assert wider.find("calibration_slope").change is None
    assert wider.find("calibration_slope").mark == "not comparable"
    fewer = Refits({"event_nll": 0.1}, {"event_nll": 0.0}).widened(answer)
    assert fewer.find("ks_error").change is None
    assert fewer.find("ks_error").mark == "not comparable"
    assert wider.find("event_nll").before == answer.find("event_nll").before
    assert (answer.fits, wider.fits) == ("fixed", "repeated")
    none = Refits({}, {}).widened(answer)
    assert none.fits == "unknown"
    assert none.find("mean_gap") == answer.find("mean_gap")
    for key in ("event_nll", "ks_error"):
        assert none.find(key).change is None
        assert none.find(key).mark is None
    assert none.find("event_nll").after == answer.find("event_nll").after


def test_vector_maps_and_measures_of_all_classes(rng: np.random.Generator) -> None:
    rows = overconfident(rng, 200, 3, spread=3)
    event, calibrator = OneClass(1), TemperatureScaling()
    result = audit(cross_split(rows), event=event, calibrator=calibrator)
    assert result.by_fold is not None
    answer = refit(
        prepare(rows, event), event, calibrator, result.by_fold.fold, Plan(SOME, n_resamples=20)
    )
    assert answer.deviation.keys() == {measure.key for measure in SOME}
    assert answer.shift["nll"] > 0  # fits on fewer different rows are worse


def test_rows_that_often_cannot_be_fitted_leave_no_interval(rng: np.random.Generator) -> None:
    rows = EventScores(rng.uniform(size=8), [0, 1] * 4)
    event, calibrator = TopR(1), SplineCalibration(n_knots=6)
    result = audit(cross_split(rows, n_folds=2), event=event, calibrator=PlattScaling())
    assert result.by_fold is not None
    plan = Plan(SOME, n_resamples=20)
    answer = refit(prepare(rows, event), event, calibrator, result.by_fold.fold, plan)
    assert (answer.deviation, answer.shift) == ({}, {})


def test_progress_can_end_it(rng: np.random.Generator) -> None:
    rows, event = scored(rng, 60), TopR(1)
    result = audit(cross_split(rows), event=event, calibrator=PlattScaling())
    assert result.by_fold is not None
    told: list[float] = []

    def stop(share: float) -> None:
        told.append(share)
        if share >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refit(
            prepare(rows, event), event, PlattScaling(), result.by_fold.fold,
            Plan(SOME, n_resamples=20), progress=stop,
        )  # fmt: skip
    assert told == sorted(told)


def test_some_rows_stand_for_all(rng: np.random.Generator) -> None:
    rows, event, calibrator = scored(rng, 4000), TopR(1), PlattScaling()
    split = cross_split(rows)
    if split.fold is None:
        raise AssertionError
    some = np.sort(np.random.default_rng(0).permutation(4000)[:1000])
    plan, alone = Plan(SOME, n_resamples=30), EventScores(rows.scores[some], rows.hits[some])
    part = rows.scores < 0.6
    result = refit(prepare(rows, event), event, calibrator, split.fold, plan, part=part, most=1000)
    all_rows = refit(prepare(rows, event), event, calibrator, split.fold, plan, part=part)
    for key in ("event_nll", "mean_gap"):
        assert all_rows.deviation[key] / 3 < result.deviation[key] < 3 * all_rows.deviation[key]
    whole = refit(
        prepare(alone, event), event, calibrator, split.fold[some], plan, part=part[some],
    )  # fmt: skip
    # The same rows, drawn otherwise: a quarter of the variance of a set of their size.
    for key in ("event_nll", "mean_gap"):
        assert 0.2 < result.deviation[key] / whole.deviation[key] < 1.2
