"""Words and numbers on screen: true, plain, and written in one way."""

import math
import re
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dashboard
from calibcore import inference
from calibcore.auditing import AuditResult, audit
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.data import EventScores, LogitSet
from calibcore.evaluation import SetResult, Side
from calibcore.events import Event, OneClass, TopR, WithinTopR
from calibcore.inference import Finding, Inference, Interval, Plan, Reference, Uncertainty
from calibcore.metrics import METRICS, calibration_intercept, calibration_slope, measure_by_key
from calibcore.splines import Runout
from calibcore.splits import Split
from calibcore.verdict import DETECTION_LEVEL
from dashboard import texts
from dashboard.settings import NO_METHOD
from dashboard.texts import badges
from dashboard.texts import tiles as tiles_texts
from dashboard.texts.badges import evidence, opposite_range, side_badge
from dashboard.texts.events import event_words
from dashboard.texts.glossary import GLOSSARY, HOW_TO_READ, OPTIONS
from dashboard.texts.listed import decided_note
from dashboard.texts.measures import GROUPS, NumberText, finding_for, listed, measure_rows
from dashboard.texts.numbers import (
    MINUS,
    amount,
    detected_points,
    escape_markdown,
    measured,
    measured_change,
    null_source,
    percent,
    pp,
    span,
)
from dashboard.texts.power import power_sentence
from dashboard.texts.reliability import (
    bins_caption,
    isotonic_caption,
    plot_caption,
    smoothed_caption,
)
from dashboard.texts.tiles import below_tiles, table_note, uncertainty_note
from dashboard.texts.verdict import bridge, decisions, outcome, set_name, side_badges, verdict_lines
from dashboard.views.ks_graphs import words as graphs
from dashboard.views.ks_graphs.words import band_note
from tests.figures.small_results import blocks, logit_result, pct, result_of, side_of, verdict
from tests.sample_sets import sample_sets

TOP_1 = event_words(TopR(1), None)


# Verdicts -----------------------------------------------------------------------------------

OVER = blocks((0.9, 1000, 800))
UNDER = blocks((0.6, 1000, 750))
MIXED = blocks((0.3, 500, 250), (0.9, 500, 350))
UNDETECTED = blocks((0.7, 50, 35), (0.95, 50, 47))
CONSTANT = blocks((0.8, 10, 7))
CHANCE = blocks((0.78, 50, 40), (0.82, 50, 40))
SIDES = {"over": OVER, "under": UNDER, "mixed": MIXED, "undetected": UNDETECTED}


VERDICTS = {
    "over": (
        "red",
        "Overconfident by 10.0 percentage points: mean score 90.0%, but 80.0% correct.",
    ),
    "under": (
        "blue",
        "Underconfident by 15.0 percentage points: mean score 60.0%, but 75.0% correct.",
    ),
    # Mean score 0.6 and frequency 0.6, yet after the first half the totals are 0.15 and 0.25.
    "mixed": (
        "violet",
        "Over- and underconfident, low ones too low and high ones too high: KS error 10.0%.",
    ),
    "undetected": ("gray", "No miscalibration detected: mean score 82.5%, 82.0% correct."),
}


def test_each_verdict_has_its_own_word_sign_and_colour() -> None:
    badges_of = {name: side_badge(side, prediction=True) for name, side in SIDES.items()}
    assert {
        name: (badge.colour, verdict(SIDES[name], TOP_1)) for name, badge in badges_of.items()
    } == VERDICTS
    for name, badge in badges_of.items():
        assert VERDICTS[name][1].startswith(badge.word)
    assert len({badge.icon for badge in badges_of.values()}) == len(SIDES)


def test_a_score_without_information_is_named_first() -> None:
    assert verdict(CONSTANT, TOP_1) == (
        "Constant score for all rows. No miscalibration detected: mean score 80.0%, 70.0% correct."
    )
    text = verdict(CHANCE, TOP_1)
    assert re.match(
        r"Ranking not shown better than chance \(AUROC 95% CI 0\.\d\d\u20130\.\d\d\)\. No misc",
        text,
    )
    assert verdict(blocks((0.8, 1000, 500)), TOP_1).startswith("Overconfident by ")


@pytest.mark.parametrize("hit", [0, 1])
def test_certain_rows_have_a_verdict(hit: int) -> None:
    result = side_badge(side_of([1.0] * 50, [hit] * 50), prediction=True)
    assert result.word == ("Constant score" if hit else "Overconfident")


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(1, 300), st.floats(0, 1)), min_size=1, max_size=5
    )
)
def test_a_verdict_agrees_with_its_numbers(parts: list[tuple[float, int, float]]) -> None:
    side = blocks(*((score, n, round(rate * n)) for score, n, rate in parts))
    text, curves = verdict(side, TOP_1), side.curves
    result = side_badge(side, prediction=True)
    assert (result.colour == "gray") == (side.omnibus.p_value >= 0.05)
    if result.word in {"Overconfident", "Underconfident"}:
        gap = curves.cum_score[-1] - curves.cum_hits[-1]
        assert (gap > 0) == (result.word == "Overconfident")
        assert abs(gap) >= curves.ks_error / 2
        sizes = [detected_points(abs(gap), curves.n_samples, finer=finer) for finer in (0, 1)]
        # Where scores are off in the other direction somewhere, that is what a reader must know.
        other = opposite_range(side)
        then = f" on average, but {other}" if other else ": mean score "
        assert text.startswith(tuple(f"{result.word} by {size}{then}" for size in sizes))


def test_no_verdict_rests_on_a_difference_that_rounds_to_nothing() -> None:
    # 12 misses where 4 are expected: 0.02 percentage points, yet above the 95% limit under perfect
    # calibration.
    side = blocks((0.9999, 40_000, 39_988))
    assert side.omnibus.p_value < DETECTION_LEVEL
    assert "by 0.0 " not in verdict(side, TOP_1)


@pytest.mark.parametrize(
    ("event", "named"),
    [
        (TopR(3), "Overconfident by {}: prediction 3"),
        (WithinTopR(2), "Scores too high by {}: true class in the top 2"),
        (OneClass(1), "Scores too high by {}: class Shirt"),
        (OneClass(3), "Scores too high by {}: class 3"),  # which has no name
    ],
)
def test_each_event_is_named(event: TopR | WithinTopR | OneClass, named: str) -> None:
    words = event_words(event, ("Coat", "Shirt") if event != OneClass(3) else None)
    start = named.format("10.0 percentage points")
    assert verdict(OVER, words) == f"{start}, mean score 90.0%, observed 80.0%."


@pytest.mark.parametrize("name", ["{says}", "{was!r}", "{0.__class__}", "}{", "{", "a{}b"])
def test_a_class_name_is_never_filled_in(name: str) -> None:
    words = event_words(OneClass(0), (name, "other"))
    sentence = verdict(OVER, words)
    assert f": class {escape_markdown(name)}, mean score 90.0%" in sentence


# What the calibrator did --------------------------------------------------------------------


@pytest.fixture(scope="module", params=["spline", "temperature", NO_METHOD])
def outcome_case(request: pytest.FixtureRequest) -> tuple[str, AuditResult]:
    return request.param, logit_result(request.param)


def test_the_outcome_says_set_method_and_numbers(outcome_case: tuple[str, AuditResult]) -> None:
    method, result = outcome_case
    for where, evaluated in (("test set", result.test), ("calibration set", result.calibration)):
        sentence = outcome(result, evaluated, method)
        assert where in sentence
        assert set_name(result, evaluated) == where
        if method == NO_METHOD:
            assert sentence.startswith("No calibrator chosen")
            continue
        n_samples = evaluated.n_samples
        for side in (evaluated.before, evaluated.after):
            assert percent(side.curves.ks_error, n_samples) in sentence
        assert " \u2192 " in sentence
        kept = evaluated.compare("accuracy").before
        assert kept is not None
        assert f"Predicted classes and accuracy ({percent(kept, n_samples)})" in sentence
    if method == "temperature":
        assert re.search(r"Temperature scaling \(T = [23]\.\d+\)", sentence)


def test_a_calibrator_that_harms_is_said_to() -> None:
    # It raises the KS error; the verdict of After is never left out.
    result = audit(
        Split(LogitSet([[3.0, 0.0]] * 20, [0, 1] * 10), LogitSet([[3.0, 0.0]] * 20, [0] * 20)),
        event=TopR(1),
        calibrator=TemperatureScaling(),
    )
    sentence = outcome(result, result.test, "temperature")
    before, after = (side.curves for side in (result.test.before, result.test.after))
    p_value = result.test.after.omnibus.p_value
    assert after.ks_error > before.ks_error
    assert f"{percent(before.ks_error, 20)} \u2192 {percent(after.ks_error, 20)}" in (sentence)
    assert p_value < DETECTION_LEVEL
    assert f"{evidence(p_value)} of miscalibration" in sentence
    badges = side_badges(result, result.test, TOP_1)
    lines = verdict_lines(result.test, TOP_1, badges, "temperature")
    assert re.search(r"-badge\[. After Temperature: underconfident\] by ", lines["After"])


def test_changed_decisions_are_counted() -> None:
    evaluated = logit_result("temperature").test
    changed = SetResult(evaluated.before, evaluated.after, evaluated.comparisons, 1234)
    assert decisions(changed).startswith("1,234 predicted classes changed, accuracy stays ")
    accuracy = evaluated.compare("accuracy")
    others = (one for one in evaluated.comparisons if one is not accuracy)
    better = replace(changed, comparisons=(replace(accuracy, after=1.0), *others))
    assert re.search("accuracy .* \u2192 100", decisions(better))
    assert tiles_texts.tiles(changed)[-1].note == "1,234 predicted classes changed"
    assert tiles_texts.tiles(evaluated)[-1].note == "predictions unchanged"


def test_scores_across_one_half_leave_no_word_of_unchanged_accuracy() -> None:
    evaluated = logit_result("spline").test
    shown = measured(evaluated.compare("accuracy"), evaluated.compare("accuracy").after, 2000)
    crossed = replace(evaluated, past_half=1234)
    assert decisions(crossed) == (
        "1,234 scores crossed 50%, but predicted classes are not updated, so accuracy stays"
        f" {shown}"
    )
    assert tiles_texts.tiles(crossed)[-1].note == "predictions unchanged"  # said above the tiles
    result = replace(logit_result("spline"), test=crossed)
    assert "crossed 50%" in outcome(result, crossed, "spline")
    assert "50%" not in outcome(result, crossed, "spline", prediction=False)
    assert "predicted" not in outcome(result, crossed, "spline", prediction=False)
    assert decisions(replace(evaluated, past_half=1)).startswith("1 score crossed")
    for none in (0, None):
        assert decisions(replace(evaluated, past_half=none)).startswith("predicted classes and")
    text = decided_note(crossed)
    assert text.endswith(f"In all 2,000 rows, {texts.verdict.across_half(1234)}.")
    assert decided_note(evaluated) == ""
    changed = decided_note(replace(evaluated, changed_decisions=5))
    assert changed.endswith("Calibration changes 5 of them.")


def test_no_miscalibration_is_only_said_of_rows_that_were_not_fitted() -> None:
    result = logit_result("spline")
    assert result.calibration.after.omnibus.p_value > 0.05
    assert "no miscalibration" not in outcome(result, result.calibration, "spline")
    fitted, there = (
        verdict_lines(evaluated, TOP_1, side_badges(result, evaluated, TOP_1), "spline")["After"]
        for evaluated in (result.calibration, result.test)
    )
    assert "After Spline: fitted on these rows" in fitted
    assert "no miscalibration" not in fitted
    assert "After Spline: no miscalibration detected" in there


# Tiles and captions -------------------------------------------------------------------------


def test_tiles_show_the_results_numbers(outcome_case: tuple[str, AuditResult]) -> None:
    method, result = outcome_case
    evaluated = result.test
    tiles = tiles_texts.tiles(evaluated)
    nll = "event_nll" if method == "spline" else "nll"
    for tile, key in zip(tiles, ("ks_error", "ece", nll, "accuracy"), strict=True):
        row = evaluated.compare(key)
        before = measured(row, row.before, evaluated.n_samples)
        after = measured(row, row.after, evaluated.n_samples)
        wanted = f"{before.removesuffix(pct(''))} \u2192 {after}" if before != after else before
        assert tile.value == wanted
        assert tile.definition.startswith(GLOSSARY[key])


def test_captions_read_the_result() -> None:
    # 500 rows at 0.3 with 250 hits, 500 at 0.9 with 350: the gap is widest half way.
    assert graphs.cumulative_caption(MIXED) == (
        f"Largest gap {MINUS}10.0 pp (scores too low), at {pct('50.0')} of rows. {pct('95')} limit"
        " if perfectly calibrated: 2.7 pp."
    )
    assert "gap +10.0 pp (scores too high)," in graphs.cumulative_caption(OVER)
    assert "too" not in graphs.cumulative_caption(UNDETECTED)
    assert graphs.warped_caption(OVER) == (
        f"The lines end at the mean score {pct('90.0')}, observed {pct('80.0')}."
    )
    assert graphs.fractile_caption(OVER) == f"Half of the rows score {pct('90.0')} or more."
    assert graphs.score_caption(blocks((0.5, 5, 3))) == "Too few rows for this graph."


def test_the_grey_region_is_explained() -> None:
    text = "Grey: 95% band if perfectly calibrated."
    assert {band_note(side) for side in SIDES.values()} == {text}
    assert "band under perfect calibration" in HOW_TO_READ


@pytest.mark.parametrize("side", SIDES.values(), ids=SIDES)
def test_the_limit_in_the_caption_is_that_of_the_ks_error(side: Side) -> None:
    limit = pp(side.curves.ks_null_95, side.event.n_samples)
    assert graphs.cumulative_caption(side).endswith(f"if perfectly calibrated: {limit}.")
    certain = graphs.cumulative_caption(side_of([1.0] * 50, [1] * 50))
    assert certain.endswith("if perfectly calibrated: 0 pp.")


@pytest.mark.parametrize("expert", [False, True])
def test_one_row_is_a_row_and_shows_no_more_than_it_can(*, expert: bool) -> None:
    rows = Split(EventScores([0.3, 0.7], [0, 1]), EventScores([0.7], [1]))
    evaluated = audit(rows, event=TopR(1), calibrator=None).test
    side = evaluated.before
    power = power_sentence(side, 1, expert=expert)
    texts = (below_tiles(evaluated, expert=expert), power, plot_caption(side, expert=expert))
    for sentence in texts:
        assert not re.search(r"\b1 rows|1 scores", sentence)
    assert percent(0.7, 1) in texts[0]
    assert "70.0 percentage points" in power
    assert ("finds no shift" if expert else "cannot detect") in power
    assert graphs.cumulative_caption(side).endswith("if perfectly calibrated: 70.0 pp.")


def test_where_the_limit_comes_from_is_said_as_it_is() -> None:
    usual, rare = side_of([0.8] * 200, [1] * 200), side_of([0.9986] * 100, [1] * 100)
    assert null_source(usual.curves) == "Brownian limit"
    assert null_source(rare.curves) == "the larger of the Brownian limit and a Poisson tail"
    both = null_source(usual.curves, rare.curves)
    assert both == f"{null_source(rare.curves)}, where few misses or hits are expected"
    assert null_source(rare.curves) in band_note(rare, expert=True)


def test_infinity_is_a_sign_and_has_its_reason() -> None:
    rows = EventScores([0.2, 0.3, 0.8, 0.9], [0, 0, 1, 1])
    evaluated = audit(Split(rows, rows), event=TopR(1), calibrator=None).test
    row = evaluated.compare("calibration_slope")
    assert row.before is not None
    assert math.isinf(row.before)
    assert measured(row, row.before, 4) == "\u221e"
    assert measured(row, -row.before, 4) == f"{MINUS}\u221e"
    assert amount(math.inf, "number", 4, signed=True) == "+\u221e"
    assert "\u221e: not finite" in table_note(evaluated, METRICS)
    assert "\u221e" not in table_note(result_of(500).test, METRICS)


@pytest.mark.parametrize(
    ("runout", "sentence"), [("natural", r"(\d+)\u201320 knots"), ("cubic", r"(\d+)\u201320 with")]
)
def test_the_knots_that_are_tried_are_those_that_are_said(runout: Runout, sentence: str) -> None:
    _, text = OPTIONS["spline", "cross_validated"]
    result = re.search(sentence, text)
    assert result is not None
    # Hits that follow the scores need no bend, so the fewest knots that are tried are enough.
    scores = np.linspace(0.2, 0.8, 400)
    hits = np.floor(np.cumsum(scores) + 0.5) > np.floor(np.cumsum(scores) - scores + 0.5)
    fitted = SplineCalibration(cross_validated=True, runout=runout).fit(scores, hits)
    assert fitted.knot_values.size == int(result[1])


@given(st.lists(st.floats(0, 1), min_size=6, max_size=30))
def test_half_of_the_rows_do_score_as_high_as_said(scores: list[float]) -> None:
    text = graphs.fractile_caption(side_of(scores, [1] * len(scores)))
    (number,) = re.findall(r"score ([\d.]+)", text)
    assert 2 * sum(score >= float(number) / 100 - 1e-12 for score in scores) >= len(scores)


def test_a_percent_sign_is_written_in_one_way() -> None:
    texts = [text for side in SIDES.values() for text in sentences_of(side)]
    assert not [text for text in texts if re.search(r"\d\s%", text)]


def test_the_table_has_one_row_a_measure() -> None:
    evaluated = logit_result("spline").test
    rows = measure_rows(evaluated, None, METRICS)
    assert [row.name for row in rows] == [measure.name for measure in METRICS]
    for row, shown in zip(evaluated.comparisons, rows, strict=True):
        n_samples = evaluated.n_samples
        assert shown.before == NumberText(measured(row, row.before, n_samples))
        assert shown.after == NumberText(measured(row, row.after, n_samples))
        tested = row.measure.is_tested_only
        assert shown.change == NumberText("\u2013" if tested else measured_change(row, n_samples))
        assert shown.mark is None
    assert [row.name for row in measure_rows(evaluated, None, listed(full=False))] == [
        measure.name for measure in METRICS if measure.short
    ]
    assert {measure.group for measure in METRICS} == set(GROUPS)


def test_a_slope_that_scores_of_exactly_0_and_1_decide_says_so() -> None:
    draws = np.random.default_rng(3)
    scores = draws.uniform(0.02, 0.98, 900)
    scores[:150] = draws.integers(0, 2, 150)
    hits = draws.random(900) < np.clip(scores, 0.1, 0.9)
    by_key = {measure.key: measure for measure in METRICS}
    asked = by_key["calibration_slope"], by_key["calibration_intercept"], by_key["auroc"]
    evaluated = audit(EventScores(scores, hits)).test
    slope, intercept, area = measure_rows(evaluated, None, asked)
    inner = (scores > 0) & (scores < 1)
    own = calibration_slope(scores[inner], hits[inner])
    assert own - calibration_slope(scores, hits) > 0.3
    assert slope.before.note == f"{own:.3f} without scores of exactly 0% and 100%"
    changed = calibration_intercept(scores, hits) - calibration_intercept(
        scores[inner], hits[inner]
    )
    assert abs(changed) < 0.05
    assert (intercept.before.note, area.before.note) == ("", "")
    (slope,) = measure_rows(audit(EventScores(scores[inner], hits[inner])).test, None, asked[:1])
    assert slope.before.note == ""


def test_the_table_shows_what_is_known_of_the_uncertainty() -> None:
    result = logit_result("temperature")
    evaluated = Uncertainty(0.05, Interval(0.041, 0.059), Reference(0.012, 0.021, 0.001))
    finding = Finding("ks_error", evaluated, evaluated, Interval(-0.01, 0.02), "no evidence")
    inference = Inference((finding,), Plan(n_resamples=200, seed=7))
    measure = measure_by_key("ks_error")
    (shown,) = measure_rows(result.test, inference, (measure,))
    assert shown.before.note == "4.1\u20135.9"
    assert shown.change.note == f"{MINUS}1.0 to +2.0"
    # The limit of its own test, as everywhere; never the mean of what was drawn.
    limit = result.test.after.curves.ks_null_95
    assert shown.perfect == NumberText(f"< {percent(limit, result.test.n_samples)}")
    assert shown.mark == "no evidence"
    note = uncertainty_note(inference)
    assert "95% CI (200 resamples" in note
    assert "200 resamples, seed 7" in uncertainty_note(inference, expert=True)
    for expert in (False, True):
        assert "is held fixed" in uncertainty_note(inference, expert=expert)
        repeated = uncertainty_note(replace(inference, fits="repeated"), expert=expert)
        assert "refitt" in repeated
        unknown = uncertainty_note(replace(inference, fits="unknown"), expert=expert)
        assert "Changes have no 95% CI" in unknown


@pytest.mark.parametrize("n_samples", [12, 24, 2000])
def test_the_ks_error_has_one_limit_under_perfect_calibration(n_samples: int) -> None:
    evaluated = result_of(n_samples).test
    before, after = (inference.SideRows(side.event) for side in (evaluated.before, evaluated.after))
    measure = evaluated.compare("ks_error").measure
    result = inference.infer(before, after, Plan((measure,), n_resamples=200))
    (row,) = measure_rows(evaluated, result, (measure,))
    limit = row.perfect.value.removeprefix("< ").removesuffix("%")
    for expert in (False, True):
        assert re.search(rf"\b{limit}%( \(After\))? in ", below_tiles(evaluated, expert=expert))


def test_of_two_classes_no_measure_is_listed_that_repeats_another() -> None:
    def keys(n_classes: int, event: Event) -> set[str]:
        return {one.key for one in listed(full=True, n_classes=n_classes, event=event)}

    class_wise = {"classwise_ece", "max_classwise_ece"}
    assert class_wise & keys(2, OneClass(1)) == set()
    assert class_wise & keys(2, TopR(1)) == {"classwise_ece"}
    assert class_wise <= keys(3, OneClass(1))
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(200, 2))
    rows = LogitSet(logits, rng.integers(0, 2, 200))
    evaluated = audit(Split(rows, rows), event=OneClass(1), calibrator=None).test
    for key in class_wise:
        assert evaluated.compare(key).before == pytest.approx(evaluated.compare("ece").before)


# The whole of it ----------------------------------------------------------------------------


def sentences_of(side: Side) -> list[str]:
    captions = [
        graphs.cumulative_caption(side),
        graphs.warped_caption(side),
        graphs.fractile_caption(side),
        graphs.score_caption(side),
        bins_caption(side),
        band_note(side),
        isotonic_caption(side),
        smoothed_caption(side),
    ]
    return [*captions, side_badge(side, prediction=True).word, verdict(side, TOP_1)]


@cache
def said_of_results() -> list[str]:
    texts = [text for side in SIDES.values() for text in sentences_of(side)]
    for method, n_test in product(["spline", "temperature", NO_METHOD], [20, 2000]):
        result = logit_result(method, n_test=n_test)
        for evaluated in (result.test, result.calibration):
            texts += [outcome(result, evaluated, method), table_note(evaluated, METRICS)]
            texts += [decisions(evaluated), below_tiles(evaluated)]
            texts += [f"{tile.name} {tile.note}" for tile in tiles_texts.tiles(evaluated)]
    return texts


def test_no_model_is_called_calibrated() -> None:
    # A model of reference may be; the user's is one in which nothing was detected.
    for text in said_of_results():
        rest = re.sub(r"(if|a) perfectly calibrated", "", text)
        assert not re.search(r"(?i)\bcalibrated\b", rest), text


def test_nothing_is_called_significant() -> None:
    sources = Path(dashboard.__file__).parent.rglob("*.py")
    for text in (*said_of_results(), *(source.read_text("utf-8") for source in sources)):
        assert "significant" not in text.lower(), text


def test_confidence_is_the_top_1_score_alone() -> None:
    shown = [*said_of_results(), *GLOSSARY.values(), HOW_TO_READ]
    shown += [text for pair in OPTIONS.values() for text in pair]
    named = "for the top prediction also called confidence."
    assert GLOSSARY["score"].endswith(named)
    for text in shown:
        rest = text.removesuffix(named)
        assert not re.search(r"(?i)\bconfidence\b(?!\s(band|interval))", rest), text


def test_the_reference_of_every_measure_is_a_95_percent_limit() -> None:
    evaluated = result_of(400).test
    before, after = (inference.SideRows(side.event) for side in (evaluated.before, evaluated.after))
    measures = tuple(row.measure for row in evaluated.comparisons if row.before is not None)
    result = inference.infer(before, after, Plan(measures, n_resamples=200))
    shown = measure_rows(evaluated, result, measures)
    kinds = set()
    for measure, row in zip(measures, shown, strict=True):
        known = finding_for(result, measure.key)
        assert not row.perfect.note
        if row.perfect.value == "\u2013":
            continue
        assert known is not None
        assert known.after is not None
        reference, comparison = known.after.reference, evaluated.compare(measure.key)
        lower, upper, *central = (
            measured(comparison, end, 400)
            for end in (reference.lower, reference.upper, *reference.central)
        )
        if measure.key == "ks_error":
            upper = percent(evaluated.after.curves.ks_null_95, 400)
        sign = "\u2264" if measure.unit == "rows" else "<"
        expected = {"lower": f"{sign} {upper}", "higher": f"> {lower}", "nearer": span(*central)}
        assert row.perfect.value == expected[measure.better]
        assert reference.lower <= reference.mean <= reference.upper
        assert reference.central[0] <= reference.lower
        assert reference.upper <= reference.central[1]
        kinds.add(measure.better)
    assert kinds == {"lower", "higher", "nearer"}


def test_a_fault_that_the_ks_error_does_not_show_is_explained() -> None:
    # Right on average, but too extreme: 0.1 and 0.9 where 0.16 and 0.84 were right.
    side = blocks((0.1, 200, 32), (0.9, 200, 168))
    assert side.omnibus.p_value < 0.05
    assert side.curves.ks_error <= side.curves.ks_null_95
    assert bridge({"Before": side}).startswith("Before: the KS error is below its limit.")
    far = blocks((0.1, 200, 100), (0.9, 200, 100))
    assert bridge({"Before": far, "After": side}).startswith("After: ")
    assert bridge({"Before": blocks((0.5, 200, 100))}) == ""


@pytest.mark.parametrize("sample", ["fashion_cnn_overconfident", "perfect_synthetic"])
def test_the_library_and_the_pages_come_to_one_verdict(sample: str) -> None:
    """`AuditResult.verdict` and the badge of the first page are words of the same facts."""
    result = audit(Split(*sample_sets(sample)), calibrator="temperature")
    facts, sides = result.verdict, (result.test.before, result.test.after)
    before = side_badge(sides[0], prediction=True)
    after = side_badge(sides[1], prediction=True, before=sides[0])
    assert facts.after is not None
    for words, side in ((before, facts.before), (after, facts.after)):
        assert words.direction == side.direction
        assert words.word.startswith("Still") == side.remains
        assert (words in (badges.CONSTANT, badges.CHANCE)) == (side.uninformative is not None)
