"""Cells of a table of models by calibrators, beside `audit` and a loop over splits."""

from typing import Any

import numpy as np
import pytest

from calibcore.auditing import audit
from calibcore.calibrators import (
    HistogramBinning,
    PlattScaling,
    SplineCalibration,
    TemperatureScaling,
)
from calibcore.calibrators.method import Calibrator
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import sides_of
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.fitting import fit, prepare
from calibcore.inference import Plan, infer
from calibcore.metrics import METRICS, Options, measure_by_key
from calibcore.models import is_level, pooled, resplit, table_cell
from calibcore.splits import Split, split_rows
from tests.core.draws import overconfident


@pytest.mark.parametrize("calibrator", [None, PlattScaling(), TemperatureScaling()])
@pytest.mark.parametrize("event", [TopR(1), OneClass(2), WithinTopR(2)])
def test_every_measure_is_that_of_the_audit(
    rng: np.random.Generator, calibrator: Calibrator | None, event: TopR | OneClass | WithinTopR
) -> None:
    split = Split(overconfident(rng, 80, 3), overconfident(rng, 90, 3))
    result = audit(split, event=event, calibrator=calibrator, n_bins=7)
    for measure in METRICS:
        options = Options(n_bins=7)
        cell = table_cell(
            split.test, event=event, fitted=result.of_test, measure=measure, options=options
        )
        wanted = result.test.compare(measure.key).after
        if wanted is None or np.isnan(wanted):
            assert cell.value is None or np.isnan(cell.value), measure.key
        else:
            assert cell.value == pytest.approx(wanted, rel=1e-12), measure.key


def test_scores_alone_have_an_accuracy_as_top_predictions(rng: np.random.Generator) -> None:
    scores = rng.uniform(size=50)
    rows = EventScores(scores, rng.uniform(size=50) < scores)
    cells = [
        table_cell(rows, event=event, fitted=None, measure=measure_by_key("accuracy"))
        for event in (TopR(1), OneClass(1))
    ]
    assert cells[0].value == pytest.approx(rows.hits.mean())
    assert cells[1].value is None


def test_intervals_and_levels_are_those_of_the_inference(rng: np.random.Generator) -> None:
    split = Split(overconfident(rng, 150, 3), overconfident(rng, 150, 3))
    result = audit(split, event=TopR(1), calibrator=TemperatureScaling())
    keys = ("ece", "ks_error", "accuracy", "mean_gap", "auroc")
    plan = Plan(tuple(measure_by_key(key) for key in keys), n_resamples=40)
    answer = infer(*sides_of(split.test, result.test, result.of_test), plan)
    for key in keys:
        measure, one = measure_by_key(key), answer.find(key).after
        assert one is not None
        alone = Plan((measure,), n_resamples=40)
        cell = table_cell(
            split.test, event=TopR(1), fitted=result.of_test, measure=measure, plan=alone
        )
        assert cell.interval == one.interval
        if key != "ks_error":
            assert cell.level == is_level(measure, one)
    limit = result.test.after.curves.ks_null_95
    for fitted, side in ((result.of_test, result.test.after), (None, result.test.before)):
        cell = table_cell(
            split.test, event=TopR(1), fitted=fitted, measure=measure_by_key("ks_error")
        )
        assert cell.level == (side.curves.ks_error <= limit)
    assert not cell.level  # logits were doubled


def test_repeated_splits_are_a_loop_over_seeds(rng: np.random.Generator) -> None:
    rows, event = overconfident(rng, 120, 3), TopR(1)
    measures = measure_by_key("ece"), measure_by_key("nll")
    calibrators: list[Calibrator] = [TemperatureScaling(), HistogramBinning(n_bins=4)]
    for calibrator in calibrators:
        given: dict[str, Any] = {
            "event": event,
            "calibrator": calibrator,
            "measures": measures,
            "n_splits": 4,
        }
        result = resplit(rows, **given, calibration_share=0.4, seed=7)
        wanted = []
        for seed in (7, 8, 9, 10):
            split = split_rows(rows, calibration_share=0.4, seed=seed)
            fitted = fit(calibrator, prepare(split.calibration, event), None)
            wanted.append([
                table_cell(split.test, event=event, fitted=fitted, measure=one).value
                for one in measures
            ])  # fmt: skip
        ece = [one for one, _ in wanted if one is not None]
        cell = result.cell(measures[0])
        mean = sum(ece) / 4
        assert cell.value == pytest.approx(mean)
        spread = (sum((one - mean) ** 2 for one in ece) / 3) ** 0.5
        assert cell.deviation == pytest.approx(spread)
        assert cell.n_splits == 4
        if calibrator is calibrators[1]:  # a map of scores leaves no class probabilities
            assert result.cell(measures[1]).value is None


def test_what_no_split_can_fit_is_refused(rng: np.random.Generator) -> None:
    rows = EventScores(rng.uniform(size=8), [0, 1] * 4)
    calibrator, measures = SplineCalibration(n_knots=6), (measure_by_key("ece"),)
    with pytest.raises(CalibrationInputError):
        resplit(rows, event=TopR(1), calibrator=calibrator, measures=measures, n_splits=2)


def test_sets_are_joined_as_they_are(rng: np.random.Generator) -> None:
    first, second = overconfident(rng, 30, 3), overconfident(rng, 10, 3)
    rows, share = pooled(Split(first, second))
    assert share == 0.75
    assert isinstance(rows, LogitSet)
    np.testing.assert_array_equal(rows.logits, np.concatenate([first.logits, second.logits]))
    np.testing.assert_array_equal(rows.labels, np.concatenate([first.labels, second.labels]))
    was, now = (
        LogitSet.from_probabilities(one.probabilities, one.labels) for one in (first, second)
    )
    rows, _ = pooled(Split(was, now))
    assert isinstance(rows, LogitSet)
    assert rows.values_kind == "probabilities"
    same = Split(first, first, same_data=True)
    assert pooled(same) == (first, 0.5)
