"""The audit of a notebook: the pages' figures, with intervals, as a table."""

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibcore import CalibrationInputError, EventScores, LogitSet, OneClass, Split, TopR, audit
from calibcore.calibrators import ByGroup, PlattScaling, TemperatureScaling
from calibcore.evaluation import evaluate, sides_of
from calibcore.fitting import fit_folds, prepare
from calibcore.inference import Plan, infer
from calibcore.inference.refits import refit
from calibcore.metrics import Options
from calibcore.splits import deal_folds


def draw_rows(rng: np.random.Generator, n_rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    scores = rng.random(n_rows)
    return scores, rng.random(n_rows) < scores**2


def table(rng: np.random.Generator, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    logits = rng.normal(size=(300, n_classes)) * 2
    return logits, (logits + rng.gumbel(size=logits.shape) * 2).argmax(axis=1)


def test_figures_are_those_of_the_parts(rng: np.random.Generator) -> None:
    scores, happened = draw_rows(rng)
    result = audit(pd.Series(scores), pd.Series(happened), calibrator=PlattScaling(), seed=4)
    rows = EventScores(scores, happened)
    fold = deal_folds(rows, seed=4)
    prepared = prepare(rows, OneClass(1))
    crossed = fit_folds(PlattScaling(), prepared, fold, None)
    alone = evaluate(prepared, OneClass(1), crossed, Options())
    assert result.in_folds
    frame: Any = result.to_frame()
    for one in alone.comparisons:
        for side in ("before", "after", "change"):
            value = getattr(one, side)
            expected = np.nan if value is None else value
            assert frame.loc[one.measure.key, side] == pytest.approx(expected, nan_ok=True)
    by_hand = -np.where(happened, np.log(scores), np.log1p(-scores)).mean()
    assert frame.loc["event_nll", "before"] == pytest.approx(by_hand)
    assert frame.loc["nll"].drop(["name", "unit"]).isna().all()


@pytest.mark.parametrize(("n_classes", "event"), [(2, OneClass(1)), (3, TopR(1))])
def test_the_event_is_the_second_of_two_classes_or_the_predicted_one(
    n_classes: int, event: TopR | OneClass, rng: np.random.Generator
) -> None:
    logits, labels = table(rng, n_classes)
    result = audit(logits, labels).test.before.event
    wanted = event.outcomes(LogitSet(logits, labels).probabilities, labels)
    np.testing.assert_array_equal(result.scores, wanted.scores)


def test_calibrators_and_classes_are_known_by_name(rng: np.random.Generator) -> None:
    logits, labels = table(rng, 3)
    named = pd.DataFrame(logits, columns=["a", "b", "c"])
    outcomes = np.array(["a", "b", "c"])[labels]
    result = audit(named, outcomes, event="b", calibrator="platt")
    wanted = audit(named, outcomes, event=OneClass(1), calibrator=PlattScaling())
    pd.testing.assert_frame_equal(result.to_frame(), wanted.to_frame())
    with pytest.raises(CalibrationInputError, match=r"event: 'd'.*one of a, b, c"):
        audit(named, outcomes, event="d")
    with pytest.raises(CalibrationInputError, match=r"event: 'b'.*no names of classes"):
        audit(rng.random(40), np.arange(40) % 2, event="b")
    with pytest.raises(CalibrationInputError, match=r"calibrator: 'plat'.*one of spline, "):
        audit(logits, labels, calibrator="plat")


def test_intervals_are_the_inference_widened_by_repeated_fits(rng: np.random.Generator) -> None:
    logits, labels = table(rng, 3)
    result = audit(logits, labels, calibrator=TemperatureScaling())
    shares: list[float] = []
    answer = result.intervals("nll", "ks_error", n_resamples=200, seed=3, progress=shares.append)
    rows = LogitSet(logits, labels)
    plan = Plan(answer.plan.measures, Options(), 200, 3)
    fixed = infer(*sides_of(rows, result.test, result.by_fold), plan)
    fold = deal_folds(rows)
    refits = refit(
        prepare(rows, TopR(1)), TopR(1), TemperatureScaling(), fold,
        Plan(plan.measures, Options(), 40, 3), most=5000,
    )  # fmt: skip
    assert answer.findings == refits.widened(fixed).findings
    assert answer.fits == "repeated"
    assert shares == sorted(shares)
    assert shares[-1] > 0.9
    frame: Any = result.to_frame(answer)
    nll = answer.find("nll")
    assert nll.change is not None
    assert nll.before is not None
    ends = nll.change.low, nll.change.high
    assert tuple(frame.loc["nll", ["change_low", "change_high"]]) == ends
    assert frame.loc["nll", "before_limit_high"] == nll.before.reference.upper
    assert frame.loc["nll", "mark"] == nll.mark
    unknown = ["before_low", "change_high", "after_limit_low", "after_limit_high"]
    assert frame.loc["ece", unknown].isna().all()


def test_limits_are_on_the_side_that_is_worse() -> None:
    rng = np.random.default_rng(5)
    truth = rng.uniform(0.2, 0.8, 2000)
    low = audit(truth - 0.11, rng.random(2000) < truth)  # 11 points too low: nothing overconfident
    frame: Any = low.to_frame(low.intervals(n_resamples=40))
    gap = frame.loc["mean_gap"]
    assert gap.before < gap.before_limit_low < 0 < gap.before_limit_high
    assert frame.before_limit_low.loc["auroc"] < 1
    assert np.isnan(frame.before_limit_high.loc["auroc"])
    assert frame.loc["ks_error", "before_limit_high"] == low.test.before.curves.ks_null_95
    assert frame.loc[["ks_error", "ece", "event_nll"], "before_limit_low"].isna().all()
    scores_alone = frame.loc["mean_score", ["before_limit_low", "before_limit_high"]]
    assert scores_alone.isna().all()


@pytest.mark.parametrize("with_intervals", [False, True])
def test_nothing_comes_after_where_nothing_was_fitted(*, with_intervals: bool) -> None:
    rng = np.random.default_rng(5)
    scores = rng.uniform(0.2, 0.8, 300)
    result = audit(scores, rng.random(300) < scores)
    frame: Any = result.to_frame(result.intervals(n_resamples=40) if with_intervals else None)
    empty = [name for name in frame if name.startswith(("after", "change", "mark"))]
    assert len(empty) == (9 if with_intervals else 2)
    assert frame[empty].isna().all(axis=None)
    assert frame["before"].notna().any()
    measures = json.loads(result.to_json())["measures"]
    assert {one["after"] for one in measures.values()} == {None}
    assert measures["mean_gap"]["before"] == pytest.approx(frame.loc["mean_gap", "before"])


def test_a_split_is_evaluated_on_its_test_set(rng: np.random.Generator) -> None:
    fitted_on, judged_on = (EventScores(*draw_rows(rng)) for _ in range(2))
    result = audit(Split(fitted_on, judged_on), calibrator=PlattScaling())
    assert not result.in_folds
    map_ = PlattScaling().fit(fitted_on.scores, fitted_on.hits)
    np.testing.assert_allclose(result.test.after.event.scores, map_.predict(judged_on.scores))
    assert result.intervals("event_nll", n_resamples=100).fits == "fixed"


def test_groups_reach_a_calibrator_that_knows_them(rng: np.random.Generator) -> None:
    scores, happened = draw_rows(rng)
    wards = np.where(rng.random(scores.size) < 0.5, "north", "south")
    shifted = np.where(wards == "north", scores, np.sqrt(scores))
    own = ByGroup(PlattScaling(), penalty=0.01)
    result = audit(shifted, happened, calibrator=own, groups=wards)
    plain = audit(shifted, happened, calibrator=PlattScaling())
    after, without = (one.test.compare("event_nll").after for one in (result, plain))
    assert after is not None
    assert without is not None
    assert after < without


def test_what_cannot_be_asked_is_said(rng: np.random.Generator) -> None:
    rows = EventScores(*draw_rows(rng))
    with pytest.raises(CalibrationInputError, match=r"outcomes: some beside a split\."):
        audit(Split(rows, rows), [0, 1])
    with pytest.raises(CalibrationInputError, match="measure: 'ks'"):
        audit(rows).intervals("ks")
    with pytest.raises(CalibrationInputError, match="rows: 1 row"):
        audit([0.5], [1])


def test_a_notebook_shows_the_measures_as_a_table(rng: np.random.Generator) -> None:
    result = audit(*draw_rows(rng))
    lines = re.findall(r"<tr>.*?</tr>", result._repr_html_() or "", re.DOTALL)
    (line,) = (one for one in lines if "<th>ks_error</th>" in one)
    assert f"<td>{result.test.compare('ks_error').before:.4g}</td>" in line
    (line,) = (one for one in lines if "<th>nll</th>" in one)
    assert line.count("<td>\u2013</td>") == 3


@pytest.mark.parametrize("n_classes", [1, 3])
def test_a_result_stays_when_the_arrays_it_was_made_of_are_used_again(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    table = rng.dirichlet([1, 1, 1], 300)
    data = table[:, 0].copy() if n_classes == 1 else table
    truth, weights = rng.integers(0, min(n_classes, 2) + 1, 300), rng.gamma(2, size=300)
    calibrator = "platt" if n_classes == 1 else None
    result = audit(data, truth, sample_weight=weights, calibrator=calibrator)
    before = result.to_json()
    wanted = audit(
        data.copy(), truth.copy(), sample_weight=weights.copy(), calibrator=calibrator
    ).intervals("event_brier", n_resamples=50)
    data[:], truth[:], weights[:] = 0.5, 0, 1
    assert result.to_json() == before
    assert result.intervals("event_brier", n_resamples=50).findings == wanted.findings
