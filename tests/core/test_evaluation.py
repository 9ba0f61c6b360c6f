"""One audit: what it fits on, what it evaluates, and that every number is the public function's."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from calibcore import metrics
from calibcore.auditing import AuditResult, audit, rebin
from calibcore.calibrators import (
    FittedScoreMap,
    FittedSpline,
    FittedTemperature,
    FittedVectorMap,
    IsotonicCalibration,
    PlattScaling,
    PooledClasses,
    PooledScores,
    ScoreMap,
    SplineCalibration,
    TemperatureScaling,
    VectorMap,
)
from calibcore.calibrators.base import FittedMap
from calibcore.comparison import Standing
from calibcore.cumulative import brownian_tail, cumulative_curves
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.metrics import METRICS, ClassMeasure, Options
from calibcore.probabilities import softmax
from calibcore.splits import Split
from calibcore.weights import SampleWeight
from tests.core.draws import overconfident

Floats = NDArray[np.float64]
ChosenEvent = TopR | WithinTopR | OneClass

EVENTS = [TopR(1), TopR(2), WithinTopR(2), OneClass(1)]
CALIBRATORS: list[ScoreMap | VectorMap] = [
    SplineCalibration(),
    SplineCalibration(n_knots=9, runout="cubic", fit_to="hits", constrained=False),
    TemperatureScaling(),
]
MAPS: list[ScoreMap | VectorMap | None] = [*CALIBRATORS, None]

each_event = pytest.mark.parametrize("event", EVENTS, ids=str)
each_calibrator = pytest.mark.parametrize("calibrator", CALIBRATORS, ids=str)


def draw_rows(rng: np.random.Generator, n_samples: int) -> LogitSet:
    rows = overconfident(rng, n_samples, 4)
    return LogitSet(rows.logits.astype(np.float32), rows.labels)


@pytest.fixture
def split(rng: np.random.Generator) -> Split[LogitSet]:
    return Split(draw_rows(rng, 300), draw_rows(rng, 400))


def outcomes(event: ChosenEvent, rows: LogitSet) -> EventScores:
    return event.outcomes(rows.probabilities, rows.labels)


def parameters(fitted: FittedMap | None) -> list[object]:
    match fitted:
        case FittedSpline():
            arrays = [fitted.scores, fitted.slope, fitted.knot_values]
            return [*(array.tolist() for array in arrays), fitted.warnings]
        case FittedTemperature():
            return [fitted.temperature, fitted.warnings]
    raise AssertionError(fitted)


def values(evaluated: SetResult) -> list[tuple[str, float | None, float | None]]:
    return [(row.measure.key, row.before, row.after) for row in evaluated.comparisons]


# What a fit sees ----------------------------------------------------------------------------


@each_event
@each_calibrator
def test_a_fit_sees_the_calibration_set_alone(
    split: Split[LogitSet],
    event: ChosenEvent,
    calibrator: ScoreMap | VectorMap,
    rng: np.random.Generator,
) -> None:
    rows, test = split.calibration, split.test
    shuffled, relabelled = (
        LogitSet(one.logits, rng.permutation(one.labels)) for one in (test, rows)
    )
    plain, other, elsewhere, refitted = (
        audit(Split(*sets), event=event, calibrator=calibrator)
        for sets in (
            (rows, test), (rows, shuffled), (rows, draw_rows(rng, 50)), (relabelled, test),
        )
    )  # fmt: skip
    assert parameters(plain.fitted) == parameters(other.fitted) == parameters(elsewhere.fitted)
    assert parameters(plain.fitted) != parameters(refitted.fitted)
    assert values(plain.calibration) == values(other.calibration)
    assert plain.test.after.event.scores.tolist() == other.test.after.event.scores.tolist()
    assert plain.test.compare("ks_error") != other.test.compare("ks_error")


@each_event
def test_the_fit_is_the_calibrators_own(split: Split[LogitSet], event: ChosenEvent) -> None:
    seen = outcomes(event, split.calibration)
    spline = audit(split, event=event, calibrator=SplineCalibration())
    assert parameters(spline.fitted) == parameters(SplineCalibration().fit(seen.scores, seen.hits))
    temperature = audit(split, event=event, calibrator=TemperatureScaling())
    direct = TemperatureScaling().fit(split.calibration.logits, split.calibration.labels)
    assert temperature.fitted == direct


# What calibration changes -------------------------------------------------------------------


def evaluated_rows(result: AuditResult, split: Split[LogitSet]) -> list[tuple[SetResult, LogitSet]]:
    return [(result.calibration, split.calibration), (result.test, split.test)]


@each_event
def test_a_score_map_changes_the_events_score_alone(
    split: Split[LogitSet], event: ChosenEvent
) -> None:
    result = audit(split, event=event, calibrator=SplineCalibration())
    assert isinstance(result.fitted, FittedSpline)
    for evaluated, rows in evaluated_rows(result, split):
        before, after = outcomes(event, rows), evaluated.after.event
        assert after.hits.tolist() == before.hits.tolist()
        assert after.scores.tolist() == result.fitted.predict(before.scores).tolist()
        assert evaluated.changed_decisions == 0
        assert evaluated.past_half is None  # of more than two classes
        right = metrics.accuracy(rows.probabilities, rows.labels)
        accuracy = evaluated.compare("accuracy")
        assert (accuracy.before, accuracy.after, accuracy.change) == (right, right, 0)
        undefined = [row.measure.key for row in evaluated.comparisons if row.after is None]
        assert sorted(undefined) == [
            "brier", "calibration_gain", "classwise_ece", "classwise_ece_equal_mass",
            "classwise_ks", "kde_classwise_ece", "max_classwise_ece", "max_classwise_ks", "nll",
            "skce", "top_label_ece",
        ]  # fmt: skip
        for row in map(evaluated.compare, ("nll", "brier")):
            assert row.before is not None
            assert row.change is None


@pytest.mark.parametrize(
    "event", [TopR(1), TopR(2), WithinTopR(1), OneClass(0), OneClass(1)], ids=str
)
def test_scores_of_two_classes_across_one_half_are_counted(
    event: ChosenEvent, rng: np.random.Generator
) -> None:
    logits = np.round(rng.normal(size=(900, 2)), 1)
    labels = (logits @ [1, -1] + rng.normal(scale=3, size=900) < 1.5).astype(int)
    rows = LogitSet(logits, labels)
    result = audit(Split(rows, rows), event=event, calibrator=PlattScaling())
    # Row by row: the event's class, the class decided for, the one its calibrated score favours.
    count = 0
    for row, score in zip(rows.probabilities, result.test.after.event.scores, strict=True):
        decided = int(row[1] > row[0])
        rank = getattr(event, "r", None)
        about = getattr(event, "k", decided if rank == 1 else 1 - decided)
        favoured = about if score > 0.5 else 1 - about
        count += score != 0.5 and favoured != decided
    assert result.test.past_half == count
    assert result.test.changed_decisions == 0
    assert count > 50 or not isinstance(event, OneClass)
    assert audit(Split(rows, rows), event=event, calibrator=Shift(1.0)).test.past_half is None
    assert audit(Split(rows, rows), event=WithinTopR(2), calibrator=None).test.past_half is None


@pytest.mark.parametrize("event", [TopR(1), TopR(2), OneClass(1)], ids=str)
def test_pooled_scores_learn_from_all_classes_and_change_one_score(
    split: Split[LogitSet], event: ChosenEvent
) -> None:
    result = audit(split, event=event, calibrator=PooledScores(IsotonicCalibration()))
    assert isinstance(result.fitted, FittedScoreMap)
    rows = PooledClasses(IsotonicCalibration()).fit(
        split.calibration.logits, split.calibration.labels
    )
    assert result.fitted.score_map == rows.score_map  # type: ignore[attr-defined]
    evaluated = result.test
    before = outcomes(event, split.test)
    assert evaluated.after.event.scores.tolist() == result.fitted.predict(before.scores).tolist()
    assert evaluated.changed_decisions == 0
    assert evaluated.compare("nll").after is None


def test_pooled_scores_refuse_a_sum_of_probabilities(split: Split[LogitSet]) -> None:
    with pytest.raises(
        CalibrationInputError, match=r"not normalised.*within-top-r. Expected a top"
    ):
        audit(split, event=WithinTopR(2), calibrator=PooledScores(IsotonicCalibration()))


@dataclass(frozen=True, eq=False)
class FittedShift(FittedVectorMap):
    shift: Floats

    def predict_proba(self, logits: ArrayLike) -> Floats:
        return softmax(np.asarray(logits) + self.shift)


@dataclass(frozen=True)
class Shift(VectorMap):
    """Adds to the last class, so that decisions change."""

    amount: float

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedShift:
        del labels, sample_weight
        shift = self.amount * np.eye(np.shape(logits)[1])[-1]
        return FittedShift(shift, warnings=("Shifted.",))


def test_a_vector_map_that_changes_decisions_is_counted(split: Split[LogitSet]) -> None:
    result = audit(split, event=TopR(1), calibrator=Shift(3.0))
    for evaluated, rows in evaluated_rows(result, split):
        moved = np.asarray(rows.logits, dtype=np.float64)
        moved[:, -1] += 3
        changed = int(np.count_nonzero(moved.argmax(axis=1) != rows.logits.argmax(axis=1)))
        assert evaluated.changed_decisions == changed > 10
        assert evaluated.compare("accuracy").before == metrics.accuracy(rows.logits, rows.labels)
        assert evaluated.compare("accuracy").after == metrics.accuracy(moved, rows.labels)
    assert result.warnings == ("Shifted.",)


@each_event
def test_no_calibrator_changes_nothing(split: Split[LogitSet], event: ChosenEvent) -> None:
    result = audit(split, event=event, calibrator=None)
    assert result.fitted is None
    assert result.warnings == ()
    for evaluated, rows in evaluated_rows(result, split):
        assert all(row.before == row.after is not None for row in evaluated.comparisons)
        assert all(row.change == 0 for row in evaluated.comparisons)
        assert evaluated.changed_decisions == 0
        assert evaluated.after.event.scores.tolist() == evaluated.before.event.scores.tolist()
        assert evaluated.before.event.scores.tolist() == outcomes(event, rows).scores.tolist()
        assert evaluated.after.curves.ks_error == evaluated.before.curves.ks_error


# Every number is the public function's ------------------------------------------------------


OF_EVENT = (
    "ks_error", "event_brier", "event_nll", "certain_misses", "mean_score", "hit_rate",
    "sweep_ece", "kde_ece", "mmce", "event_skce", "smooth_ece", "mean_gap", "net_overconfidence",
    "observed_expected_ratio", "calibration_intercept", "calibration_slope", "auroc",
    "averaged_two_bin", "ici", "e50", "e90", "brier_skill", "nll_skill", "spiegelhalter_z",
    "hosmer_lemeshow",
)  # fmt: skip
OF_CLASSES = (
    "brier", "nll", "accuracy", "kde_classwise_ece", "classwise_ks", "max_classwise_ks", "skce",
)  # fmt: skip
OF_BINS = "ece", "debiased_ece", "mce"
OF_BINS_OF_CLASSES = "classwise_ece", "max_classwise_ece", "top_label_ece"
PARTS = "miscalibration", "discrimination", "uncertainty"
"""Measures whose public functions are of their keys."""


def direct_values(
    event: EventScores, rows: LogitSet, probabilities: Floats, n_bins: int
) -> dict[str, float]:
    scored, table = (event.scores, event.hits), (probabilities, rows.labels)
    bins: dict[str, Any] = {"n_bins": n_bins}
    mass: dict[str, Any] = {"n_bins": n_bins, "binning": "equal_mass"}
    of_keys: list[tuple[tuple[str, ...], Any, dict[str, Any]]] = [
        (OF_EVENT, scored, {}), (OF_BINS, scored, bins),
        (OF_CLASSES, table, {}), (OF_BINS_OF_CLASSES, table, bins),
    ]  # fmt: skip
    return {
        **{key: getattr(metrics, key)(*of, **how) for keys, of, how in of_keys for key in keys},
        **{key: getattr(metrics.corp(*scored), key) for key in PARTS},
        **{f"nll_{key}": getattr(metrics.corp_nll(*scored), key) for key in PARTS},
        **{f"top_{r}_accuracy": metrics.top_r_accuracy(*table, min(r, 4)) for r in (2, 5)},
        "kuiper": cumulative_curves(*scored).kuiper,
        "kde_ece_l2": metrics.kde_ece(*scored, norm=2),
        "ece_equal_mass": metrics.ece(*scored, **mass),
        "ece_l2": metrics.ece(*scored, **mass, norm=2),
        "mce_equal_mass": metrics.mce(*scored, **mass),
        "classwise_ece_equal_mass": metrics.classwise_ece(*table, **mass),
        "calibration_gain": metrics.calibration_gain(rows.probabilities, *table),
    }


@pytest.mark.parametrize(("event", "n_bins"), list(zip(EVENTS, (1, 15, 25, 15), strict=True)))
def test_comparisons_equal_the_metric_functions(
    split: Split[LogitSet], event: ChosenEvent, n_bins: int
) -> None:
    result = audit(split, event=event, calibrator=TemperatureScaling(), n_bins=n_bins)
    assert isinstance(result.fitted, FittedTemperature)
    assert result.fitted.temperature > 1.5
    for evaluated, rows in evaluated_rows(result, split):
        calibrated = result.fitted.predict_proba(rows.logits)
        wanted = event.outcomes(calibrated, rows.labels)
        assert evaluated.after.event.scores.tolist() == wanted.scores.tolist()
        assert evaluated.after.event.hits.tolist() == wanted.hits.tolist()
        assert evaluated.changed_decisions == 0
        before = direct_values(outcomes(event, rows), rows, rows.probabilities, n_bins)
        after = direct_values(wanted, rows, calibrated, n_bins)
        assert [row.measure for row in evaluated.comparisons] == list(METRICS)
        for key, was, now in values(evaluated):
            assert was == pytest.approx(before[key], rel=1e-12, abs=1e-15, nan_ok=True)
            assert now == pytest.approx(after[key], rel=1e-12, abs=1e-15, nan_ok=True)


def fail(*_: object, **__: object) -> None:
    raise AssertionError


def test_the_short_list_sorts_no_class_and_compares_no_pairs(
    split: Split[LogitSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated = audit(split, event=TopR(1), calibrator=TemperatureScaling()).test
    for name in ("pairwise._compare", "classwise._tallies"):
        monkeypatch.setattr(f"calibcore.metrics.{name}", fail)
    assert all(evaluated.compare(one.key).after is not None for one in METRICS if one.short)
    with pytest.raises(AssertionError):
        evaluated.compare("classwise_ks")


def test_only_who_asks_for_them_waits_for_pairs_of_rows(
    split: Split[LogitSet], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = audit(split, event=TopR(1), calibrator=TemperatureScaling())
    monkeypatch.setattr("calibcore.metrics.pairwise._compare", fail)
    asked = [one.key for one in METRICS if one.key != "skce"]
    for evaluated in (result.test, rebin(result, split, TopR(1), n_bins=9).test):
        assert None not in [evaluated.compare(key).after for key in asked]
        with pytest.raises(AssertionError):
            evaluated.compare("skce")
    standing = Standing.of(result.test, split.test, TopR(1), result.of_test, Options())
    assert [standing.compare(key) for key in asked] == [result.test.compare(key) for key in asked]


@each_event
@pytest.mark.parametrize("calibrator", MAPS, ids=str)
def test_pictures_and_measures_say_the_same(
    split: Split[LogitSet], event: ChosenEvent, calibrator: ScoreMap | VectorMap | None
) -> None:
    result = audit(split, event=event, calibrator=calibrator, n_bins=20)
    for evaluated, rows in evaluated_rows(result, split):
        assert evaluated.n_samples == rows.n_samples
        for name, side in (("before", evaluated.before), ("after", evaluated.after)):
            shown = {row.measure.key: getattr(row, name) for row in evaluated.comparisons}
            assert side.curves.ks_error == pytest.approx(shown["ks_error"], abs=1e-15)
            assert side.curves.cum_score[-1] == pytest.approx(shown["mean_score"], abs=1e-12)
            assert side.curves.cum_hits[-1] == pytest.approx(shown["hit_rate"], abs=1e-12)
            gaps = side.bins.counts / rows.n_samples * np.abs(np.nan_to_num(side.bins.gap))
            assert gaps.sum() == pytest.approx(shown["ece"], abs=1e-12)
            assert side.bins.counts.size == 20


# Event scores alone -------------------------------------------------------------------------


@pytest.fixture
def events(split: Split[LogitSet]) -> Split[EventScores]:
    return Split(outcomes(TopR(1), split.calibration), outcomes(TopR(1), split.test))


def test_event_scores_give_the_same_numbers_as_the_logits(
    split: Split[LogitSet], events: Split[EventScores]
) -> None:
    whole = audit(split, event=TopR(1), calibrator=SplineCalibration())
    alone = audit(events, event=TopR(1), calibrator=SplineCalibration())
    for measure in METRICS:
        row = alone.test.compare(measure.key)
        if isinstance(measure, ClassMeasure) and measure.key != "accuracy":
            assert (row.before, row.after, row.change) == (None, None, None)
        else:
            assert row == whole.test.compare(measure.key)
    assert alone.test.changed_decisions == 0


def test_temperature_needs_more_than_an_events_scores(events: Split[EventScores]) -> None:
    with pytest.raises(CalibrationInputError) as refused:
        audit(events, event=TopR(1), calibrator=TemperatureScaling())
    assert refused.value.field == "calibrator"
    assert "logits of all classes" in refused.value.actual
    assert "such as the spline" in refused.value.expected


# Stamps and refusals ------------------------------------------------------------------------


@pytest.mark.parametrize("calibrator", MAPS, ids=str)
def test_the_same_data_flag_is_handed_on(
    split: Split[LogitSet], calibrator: ScoreMap | VectorMap | None
) -> None:
    rows = split.calibration
    same = Split(rows, rows, same_data=True)
    assert audit(same, event=TopR(1), calibrator=calibrator).same_data
    assert not audit(split, event=TopR(1), calibrator=calibrator).same_data


@pytest.mark.parametrize("n_rows", [1, 5])
def test_the_spline_wants_a_row_a_knot(
    split: Split[LogitSet], rng: np.random.Generator, n_rows: int
) -> None:
    few = Split(draw_rows(rng, n_rows), split.test)
    with pytest.raises(CalibrationInputError, match="Expected at least 6, one a knot"):
        audit(few, event=TopR(1), calibrator=SplineCalibration())
    enough = Split(draw_rows(rng, 6), split.test)
    assert audit(enough, event=TopR(1), calibrator=SplineCalibration()).fitted is not None


def test_few_rows_have_no_frequency_curve(split: Split[LogitSet], rng: np.random.Generator) -> None:
    few = Split(split.calibration, draw_rows(rng, 5))
    result = audit(few, event=TopR(1), calibrator=SplineCalibration())
    assert result.test.before.frequency is None
    assert result.test.after.frequency is None
    assert result.calibration.before.frequency is not None


@pytest.mark.parametrize("event", [TopR(5), WithinTopR(5), OneClass(4)], ids=str)
def test_an_event_the_data_do_not_have_is_refused(
    split: Split[LogitSet], event: ChosenEvent
) -> None:
    with pytest.raises(CalibrationInputError):
        audit(split, event=event, calibrator=None)


def test_two_classes_and_an_absent_one(rng: np.random.Generator) -> None:
    rows = LogitSet(rng.normal(size=(40, 2)), np.zeros(40, dtype=int))
    for calibrator in MAPS:
        result = audit(Split(rows, rows), event=OneClass(1), calibrator=calibrator)
        assert result.test.compare("hit_rate").after == 0


# What a perfect model of this size shows ----------------------------------------------------


def test_the_null_line_is_where_the_p_value_is_5_percent(rng: np.random.Generator) -> None:
    scores = rng.beta(4, 1, 3000)
    curves = cumulative_curves(scores, rng.random(3000) < scores)
    assert brownian_tail(curves.ks_null_95 / curves.null_deviation) == pytest.approx(0.05, abs=1e-9)
    assert curves.null_deviation == pytest.approx(
        np.sqrt(np.sum(scores * (1 - scores))) / 3000, rel=1e-12
    )


def test_the_null_line_and_the_p_value_agree_on_which_side(rng: np.random.Generator) -> None:
    sides = set()
    for strength in np.linspace(0, 0.1, 60):
        scores = rng.uniform(0.2, 0.9, 500)
        curves = cumulative_curves(scores, rng.random(500) < scores - strength)
        assert (curves.ks_error > curves.ks_null_95) == (curves.ks_p_value < 0.05)
        sides.add(curves.ks_p_value < 0.05)
    assert sides == {True, False}


@pytest.mark.parametrize("calibrator", ["a temperature", TemperatureScaling])
def test_what_is_no_calibrator_is_refused(calibrator: TemperatureScaling) -> None:
    rows = LogitSet([[0.0, 1.0]] * 4, [0, 1, 0, 1])
    with pytest.raises(CalibrationInputError, match=r"calibrator: .*emperature"):
        audit(Split(rows, rows), event=TopR(1), calibrator=calibrator)


@pytest.mark.parametrize("event", ["top-1", TopR])
def test_what_is_no_event_is_refused(event: TopR) -> None:
    rows = LogitSet([[0.0, 1.0]] * 4, [0, 1, 0, 1])
    with pytest.raises(CalibrationInputError, match="event: "):
        audit(Split(rows, rows), event=event, calibrator=None)
