"""Recommendations: each rule on a result made for it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.auditing import AuditResult, audit
from calibcore.calibrators import SplineCalibration
from calibcore.data import EventScores
from calibcore.evaluation import Comparison, SetResult, Side
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.inference import (
    ClassScreen,
    Inference,
    Interval,
    Mark,
    Plan,
    group_gaps,
    screen_classes,
    smallest_gap_shown,
)
from calibcore.inference.findings import Finding
from calibcore.splits import Split
from calibcore.subgroups import joint_screen, screen_subgroups
from dashboard.app import PAGES
from dashboard.settings import NO_METHOD
from dashboard.texts.advice import (
    MOST_STEPS,
    TOP,
    Evidence,
    GroupCorrection,
    Step,
    next_steps,
    with_correction,
)
from dashboard.texts.badges import side_badge
from dashboard.texts.events import event_words
from dashboard.texts.subgroups import Groups, worst_lines
from dashboard.texts.verdict import side_badges, verdict_lines, where_off
from dashboard.views.subgroups.document import subgroup_table
from dashboard.views.subgroups.words import Wording, conclusion
from tests.figures.small_results import blocks, events, logit_result, result_of, verdict
from tests.reviewed import check_reviewed

OVER = blocks((0.9, 1000, 800))
WORSE = blocks((0.95, 1000, 800))
NEARLY = blocks((0.83, 1000, 800))
GOOD = blocks((0.7, 500, 350), (0.9, 500, 451))
CONSTANT = blocks((0.8, 1000, 801))
CHANCE = blocks((0.78, 500, 400), (0.82, 500, 401))
FEW = blocks((0.8, 10, 7))

ADDRESSES = {path for _, path, _ in PAGES}


def result_with(before: Side, after: Side, **values: float) -> AuditResult:
    """A result of two sides, with some measures given as (0, value)."""
    template = result_of(100).test.comparisons
    rows = tuple(
        Comparison(row.measure, 0.0, values[row.measure.key])
        if row.measure.key in values
        else Comparison(row.measure, 0.5, 0.5)
        for row in template
        if row.measure.key != "certain_misses" or "certain_misses" in values
    )
    none = [row for row in template if row.measure.key == "certain_misses"]
    if "certain_misses" not in values:
        rows += (Comparison(none[0].measure, 0.0, 0.0),)
    evaluated = SetResult(before, after, rows, 0)
    return AuditResult(SetResult(before, after, rows, 0), evaluated, None, same_data=False)


def steps(result: AuditResult, method: str = "temperature", **known: object) -> list[Step]:
    return next_steps(Evidence(result, result.test, method, **known))  # type: ignore[arg-type]


def marked(**marks: Mark) -> Inference:
    return Inference(
        tuple(Finding(key, None, None, Interval(0, 0), mark) for key, mark in marks.items()), Plan()
    )


# Each rule ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [NO_METHOD, "temperature"])
def test_scores_without_detected_miscalibration_stay_with_the_gap_that_would_show(
    method: str,
) -> None:
    (step,) = steps(result_with(GOOD, GOOD), method)
    assert step.sentence.startswith("**Use the uncalibrated scores.** No miscalibration detected.")
    gap = 100 * smallest_gap_shown(GOOD.curves)
    text = (
        f"A mean gap of {gap:.1f} percentage points would have been detected with 80% probability"
    )
    assert text in step.sentence
    assert step.sentence.endswith("Subgroups may still be miscalibrated.")
    assert step.page == "subgroups"


def test_a_score_that_tells_nothing_is_named_before_it_is_called_good() -> None:
    (step,) = steps(result_with(CONSTANT, CONSTANT), NO_METHOD)
    assert step.sentence.startswith("**Check the score.** The score is the same for all rows.")
    (step,) = steps(result_with(CHANCE, CHANCE), NO_METHOD)
    low, high = CHANCE.auroc.low, CHANCE.auroc.high
    assert low < 0.5 < high
    assert f"(95% CI {low:.2f}\u2013{high:.2f})" in step.sentence


def test_few_rows_ask_for_more() -> None:
    _, step = steps(result_with(FEW, FEW))
    assert step.sentence.startswith("**Collect more rows.** 10 rows reveal only large gaps. ")
    (number,) = re.findall(r"1 percentage point takes about ([\d,]+) rows", step.sentence)
    n_rows = int(number.replace(",", ""))
    # So many rows at 0.8 show a gap of a point: (2.24 sqrt(0.16) + 0.84 sqrt(0.166)) / sqrt(n).
    assert n_rows == pytest.approx((2.2414 * 0.4 + 0.8416 * 0.166**0.5) ** 2 / 0.01**2, rel=0.05)


def test_a_spline_that_overshoots_points_to_its_switch_which_helps() -> None:
    rows, test = events(2000, shift=0.3), events(4000, shift=0.3, seed=1)
    sure = EventScores(np.append(test.scores, [0.3] * 60), np.append(test.hits, [1] * 60))
    results = {}
    for constrained in (False, True):
        calibrator = SplineCalibration(n_knots=14, constrained=constrained)
        result = audit(Split(rows, sure), event=TopR(1), calibrator=calibrator)
        results[constrained] = [
            step.sentence for step in steps(result, "spline", constrained=constrained)
        ]
    first = '**Turn on "Keep inside 0\u2013100%" first.** '
    assert [text.startswith(first) for text in results[False]] == [True]
    assert "a score of exactly 0% or 100%" in results[False][0]
    assert not [text for text in results[True] if "Keep inside" in text or "exactly" in text]


def screening(*, off: bool) -> ClassScreen:
    rng = np.random.default_rng(2)
    logits = 2 * rng.normal(size=(3000, 4))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    probabilities = np.exp(logits * (3 if off else 1))
    return screen_classes(probabilities / probabilities.sum(axis=1, keepdims=True), labels)


def two_classes(shift: float, *, turn: float = 1.0) -> ClassScreen:
    """Scores of class 1 whose log-odds are too high, or too far from even."""
    rng = np.random.default_rng(6)
    odds = 1.5 * rng.normal(size=3000)
    labels = (rng.random(3000) < 1 / (1 + np.exp(-odds))).astype(int)
    score = 1 / (1 + np.exp(-(turn * odds + shift)))
    return screen_classes(np.stack([1 - score, score], axis=1), labels)


# Each rule, a line of the reviewed text ------------------------------------------------------

WHY = "NLL of the event 0.312 (uncalibrated 0.330) in cross-validation."
KEPT = SplineCalibration().fit([0.2, 0.4, 0.6, 0.7, 0.8, 0.9], [0, 1, 0, 1, 0, 1])
NAMES = ("lived", "**died**")


def moved_mean() -> AuditResult:
    """A calibrator that moves the mean score from 11.6% to 11.9%, of 11.4% observed."""
    means = {"mean_score": (0.116, 0.119), "mean_gap": (0.002, 0.005), "hit_rate": (0.114, 0.114)}
    one = result_with(OVER, GOOD).test
    rows = [row for row in one.comparisons if row.measure.key not in means]
    rows += [Comparison(one.compare(key).measure, *values) for key, values in means.items()]
    evaluated = replace(one, comparisons=tuple(rows))
    return AuditResult(evaluated, evaluated, None, same_data=False, in_folds=True)


def with_test(result: AuditResult, **changed: int) -> AuditResult:
    return replace(result, test=replace(result.test, **changed))  # type: ignore[arg-type]


def corrected(column: str) -> list[Step]:
    known: dict[str, Any] = {"advised": "by_group", "advice": "NLL 0.4.", "advised_group": "a_b"}
    given = steps(result_with(OVER, OVER), NO_METHOD, **known)
    return with_correction(given, GroupCorrection(column, "C", 400, -0.1, 0.002))


def fitted_on() -> list[Step]:
    result = result_of(500)
    return next_steps(Evidence(result, result.calibration, "spline"))


def one_file() -> list[Step]:
    result = result_of(500)
    same = AuditResult(result.calibration, result.test, result.fitted, same_data=True)
    return next_steps(Evidence(same, same.test, "spline"))


def rules() -> dict[str, list[Step]]:
    """Every rule on a result made for it, by what it is about."""
    good, off, even = screening(off=False), screening(off=True), two_classes(0.0)
    high, low, turned = two_classes(0.6), two_classes(-0.6), two_classes(0.0, turn=3.0)
    by_class: dict[str, Any] = {"class_names": NAMES}
    sure = result_with(OVER, GOOD, certain_misses=3.0)
    raised = result_with(OVER, GOOD, certain_misses=3.0, nll=0.9, brier=0.5)
    held, less = result_with(OVER, GOOD), result_with(OVER, NEARLY, event_nll=0.4, nll=0.4)
    same, unclear = result_with(GOOD, GOOD), marked(nll="no evidence", ks_error="better")
    spline = replace(raised, fitted=KEPT)
    flat = marked(ks_error="no evidence", event_nll="no evidence", nll="no evidence")
    gained = marked(ks_error="no evidence", event_nll="better", nll="better")
    return {
        "calibrated": steps(held),
        "no calibrator": steps(result_with(OVER, OVER), NO_METHOD),
        "advised beside none": steps(held, NO_METHOD, advised="beta", advice=WHY),
        "advised beside another": steps(held, advised="beta", advice=WHY),
        "the advised one": steps(held, "beta", advised="beta", advice=WHY),
        "none clearly improves": steps(result_with(OVER, OVER), NO_METHOD, advice="No clear gain."),
        "moves the mean away": steps(moved_mean()),
        "advised, but off": steps(
            result_with(OVER, OVER), advised="temperature", advice="NLL 0.4."
        ),
        "off, another advised": steps(result_with(OVER, OVER), advised="platt", advice="NLL 0.4."),
        "by group, what it does": corrected("a_b"),
        "by group, of another column": corrected("other"),
        "remains off": steps(result_with(OVER, NEARLY)),
        "worse": steps(result_with(OVER, WORSE)),
        "worse, with intervals": steps(
            result_with(OVER, WORSE), inference=marked(ks_error="worse")
        ),
        "within chance": steps(result_with(OVER, NEARLY), inference=marked(ks_error="no evidence")),
        "within chance, also NLL": steps(less, inference=flat),
        "within chance, better NLL": steps(less, inference=gained),
        "spoils good scores": steps(result_with(GOOD, OVER)),
        "certain misses": steps(sure),
        "certain misses, isotonic": steps(sure, "isotonic"),
        "one certain miss": steps(result_with(OVER, GOOD, certain_misses=1.0)),
        "certain misses that raise the NLL": steps(raised, "isotonic"),
        "certain misses that may raise it": steps(raised, "isotonic", inference=unclear),
        "certain misses of a spline": steps(spline, "spline", constrained=False),
        "certain misses of one kept within": steps(spline, "spline", constrained=True),
        "worse NLL": steps(held, inference=marked(nll="worse", ks_error="better")),
        "higher NLL, not known to be worse": steps(result_with(OVER, GOOD, nll=0.9)),
        "NLL that may be the same": steps(held, inference=marked(nll="no evidence")),
        "changed classes": steps(with_test(held, changed_decisions=12), "vector"),
        "scores across one half": steps(with_test(held, past_half=7), "spline"),
        "classes off after": steps(held, classes=(good, off)),
        "classes of a score map": steps(held, "spline", classes=(off, None)),
        "classes off before alone": steps(held, classes=(off, good)),
        "classes first": steps(same, classes=(off, None)),
        "classes first, spoilt": steps(result_with(GOOD, OVER), classes=(off, None)),
        "classes of a set": steps(same, classes=(off, good), event=WithinTopR(2)),
        "good classes": steps(same, classes=(good, good)),
        "two classes, too high": steps(same, classes=(high, None), **by_class),
        "two classes, too low": steps(same, classes=(low, None), **by_class),
        "two classes, both": steps(same, classes=(turned, None), **by_class),
        "two classes, even": steps(same, classes=(even, None), **by_class),
        "two classes, corrected": steps(held, classes=(high, even), **by_class),
        "two classes, off after": steps(held, classes=(even, high), **by_class),
        "two classes of a score map": steps(held, "spline", classes=(high, None), **by_class),
        "rows that were fitted on": fitted_on(),
        "one file": one_file(),
        "subgroup": steps(same, NO_METHOD, groups=groups(0.125, 0.125)),
        "subgroup after": steps(held, groups=groups(0.125, 0.125)),
        "subgroup, and off": steps(result_with(OVER, NEARLY), groups=groups(0.125, 0.125)),
        "subgroups without a finding": steps(same, NO_METHOD, groups=groups(0.0, 0.0)),
        "subgroup corrected": steps(held, groups=groups(0.125, 0.0)),
        "subgroup corrected by group": steps(same, "by_group", groups=groups(0.125, 0.0)),
        "all corrected by group": steps(held, "by_group", groups=groups(0.125, 0.0)),
        "subgroup corrected by one for all": steps(same, "platt", groups=groups(0.125, 0.0)),
        "subgroup turned": steps(same, "platt", groups=groups(0.125, -0.125)),
        "subgroup of spoilt scores": steps(
            result_with(GOOD, OVER), "platt", groups=groups(0.125, 0.0)
        ),
    }


def test_rules_say_what_was_reviewed() -> None:
    lines = []
    for about, advice in rules().items():
        lines.append(f"# {about}")
        for one in advice:
            way = [f"{name}={to}" for name, to in (("page", one.page), ("opens", one.opens),
                                                   ("method", one.method)) if to]  # fmt: skip
            lines.append(f"{one.sentence} [{one.link}: {', '.join(way)}]")
    check_reviewed(Path(__file__).with_name("next_steps.txt"), lines)


# All of them --------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(1, 300), st.floats(0, 1)), min_size=1, max_size=4
    ),
    st.sampled_from(["temperature", "spline", NO_METHOD]),
    st.sampled_from([None, "better", "worse", "no evidence"]),
)
def test_there_are_one_to_three_steps_that_agree_with_the_result(
    parts: list[tuple[float, int, float]], method: str, mark: Mark | None
) -> None:
    side = blocks(*((score, n, round(rate * n)) for score, n, rate in parts))
    inference = None if mark is None else marked(ks_error=mark, nll=mark)
    results = steps(result_with(side, GOOD, certain_misses=2.0), method, inference=inference)
    assert 1 <= len(results) <= MOST_STEPS
    assert {step.page for step in results} <= ADDRESSES | {""}
    assert all(bool(step.page) == bool(step.link) for step in results)
    was_off = side.omnibus.p_value < 0.05
    kept = ("**Use the uncalibrated", "**Check the score.")
    assert results[0].sentence.startswith(kept) == (not was_off)


@pytest.mark.parametrize("method", ["temperature", "spline"])
def test_real_fits_are_to_be_used_or_improved(method: str) -> None:
    result = logit_result(method)
    assert steps(result, method)[0].sentence.startswith("**Use the calibrated scores")


# Subgroups ----------------------------------------------------------------------------------


def groups(before: float, after: float) -> Groups:
    """Two wards of 400 rows, and scores of one half that are so much too high in the first."""
    sides = []
    for gap in (before, after):
        hits = [k < 400 * (0.5 - gap) for k in range(400)] + [
            k < 200 + 400 * gap for k in range(400)
        ]
        sides.append(group_gaps([0.5] * 800, hits, [[0] * 400 + [1] * 400]))
    return Groups(sides[0], sides[1], lambda _, k: ("ward", "AB"[k]), prediction=False)


def test_the_worst_subgroup_is_named_before_and_after() -> None:
    first, second = worst_lines(groups(0.125, 0.0))
    assert re.fullmatch(
        r"\*\*Worst subgroup before:\*\* ward \\= A, scores too high by 12.5 percentage points"
        r" \(95% CI \d\.\d\u2013\d\d\.\d\)\.",
        first,
    )
    assert second == "**Worst subgroup after:** no mean gap detected. Adjusted for 2 subgroups."
    assert worst_lines(groups(0.0, 0.0)) == [
        "No mean gap detected in any of 2 subgroups, before or after calibration."
    ]
    low = groups(-0.125, -0.125)
    assert "scores too low by 12.5" in worst_lines(low)[0]
    assert "p < 0.001" in worst_lines(low, expert=True)[0]


def test_a_fault_of_the_whole_is_said_to_be_one() -> None:
    result = group_gaps([0.7] * 800, [1, 0] * 400, [[0] * 400 + [1] * 400])
    alike = Groups(result, result, lambda _, k: ("ward", "AB"[k]), prediction=True)
    (line,) = worst_lines(alike)
    assert line.startswith(
        "**Worst subgroup:** ward \\= A, overconfident by 20.0 percentage points"
    )
    assert line.endswith(
        "; no subgroup is shown to differ from the whole. Adjusted for 2 subgroups."
    )
    assert steps(result_with(OVER, OVER), NO_METHOD, groups=alike) == steps(
        result_with(OVER, OVER), NO_METHOD
    )


def test_miscalibrated_subgroups_are_counted_and_named_worst_first() -> None:
    shares = {"A": 0.5, "B": 0.3, "C": 0.62}  # of 400 rows each, all scored one half
    hits = [k < 400 * share for share in shares.values() for k in range(400)]
    wards = [k for k in range(3) for _ in range(400)]
    result = group_gaps([0.5] * 1200, hits, [wards, [k % 2 for k in range(1200)]])
    named = Groups(
        result,
        result,
        lambda f, k: (("ward", "half")[f.grouping[k]], "ABC"[f.place[k]]),
        prediction=False,
    )
    assert named.counted(after=False) == (
        "Miscalibrated in 2 of 5 subgroups: ward \\= B (20.0 percentage points too high), ward"
        " \\= C (12.0 too low)."
    )
    assert groups(0.125, 0.0).counted(after=True) == ""


def regions(after: float, *, n_rows: int = 550) -> tuple[EventScores, EventScores, Groups]:
    """Eight regions, all scored one half; the first is observed at 56%, and then scored anew."""
    region = np.repeat(np.arange(8), n_rows)
    hits = np.tile(np.arange(n_rows) < n_rows / 2, 8)
    hits[: round(0.56 * n_rows)] = True
    scores = [np.where(region == 0, first, 0.5) for first in (0.5, after)]
    before, later = (group_gaps(one, hits, [region]) for one in scores)
    named = Groups(
        before, later.since(before), lambda _, k: ("region", "ABCDEFGH"[k]), prediction=False
    )
    return EventScores(scores[0], hits), EventScores(scores[1], hits), named


def test_a_gap_that_is_not_detected_any_more_is_not_gone_for_that() -> None:
    before, after, named = regions(0.503)  # from -6.0 to -5.7, p from 0.045 to 0.058
    assert (named.before.adjusted[0] < 0.05, named.after.adjusted[0] < 0.05) == (True, False)
    assert named.before.gap[0] == pytest.approx(-0.06)
    assert named.counted(after=True) == (
        "Miscalibrated in 1 of 8 subgroups: region \\= A (still 5.7 percentage points too low)."
    )
    line = worst_lines(named)[1]
    assert (
        "region \\= A, still scores too low by 5.7 percentage points (95% CI \u22120.1 to 11.4: no"
        " longer detected, but most of the gap is left)"
    ) in line
    assert "is left" not in worst_lines(named)[0]
    for step in steps(result_with(GOOD, GOOD), "platt", groups=named):
        assert "Use the" not in step.sentence
    # The page of subgroups says the same, by its own screens.
    places = np.repeat(np.arange(8), 550)
    alone = [
        screen_subgroups(one.scores, one.hits, places, n_subgroups=8) for one in (before, after)
    ]
    screens = joint_screen(alone[0], named.before, 0), joint_screen(alone[1], named.after, 0)
    how = Wording(after_first=True, prediction=False, expert=False)
    text = " ".join(conclusion(screens, "region", "ABCDEFGH", how))
    assert text == (
        "Worst by region after calibration: region \\= A, still scores too low by 5.7 percentage"
        " points, though no longer detected. Miscalibrated subgroups by region: 1 of 8 after, 1"
        " before (adjusted for 8 subgroups of all columns)."
    )
    table = subgroup_table("region", "ABCDEFGH", screens, (None, None), [0], prediction=False)
    assert table.rows[0].cells[1].below[0].word.startswith("still scores too low")


@pytest.mark.parametrize("after", [0.54, 0.56, 0.58])
def test_a_gap_that_fell_by_half_is_gone_where_none_is_detected(after: float) -> None:
    *_, named = regions(after)
    assert named.counted(after=True) == ""
    assert worst_lines(named)[1].startswith("**Worst subgroup after:** no mean gap detected")


def test_the_whole_is_not_mended_either_where_most_of_its_gap_is_left() -> None:
    hits = np.arange(400) < 222  # 5.5 points above the score, p = 0.02; then 4.9, p = 0.05
    before, after = (
        audit(Split(rows, rows), event=TopR(1), calibrator=None).test.before
        for rows in (EventScores(np.full(400, score), hits) for score in (0.5, 0.508))
    )
    assert before.omnibus.p_value < 0.05 <= after.omnibus.p_value
    result = side_badge(after, prediction=False, before=before)
    assert result.word == "Still scores too low"
    words = event_words(OneClass(0), ("ill", "well"))
    assert verdict(after, words, result).startswith(
        "Still scores too low by 4.7 percentage points, though no longer detected: "
    )
    (step, *_) = steps(result_with(before, after))
    assert step.sentence == (
        "**Try another calibrator.** Temperature scaling leaves more than half of the mean gap"
        " (\u22125.5 \u2192 \u22124.7 pp)."
    )


def test_one_verdict_is_of_the_whole_and_its_subgroups() -> None:
    result, words = result_with(GOOD, replace(GOOD)), event_words(TOP, None)
    answer = side_badges(result, result.test, words, groups(0.125, 0.125))
    assert {one.word for one in answer.values()} == {
        "Miscalibrated in subgroups, not detected overall"
    }
    for text in verdict_lines(result.test, words, answer).values():
        assert "no miscalibration detected" not in text.lower()
    for text in where_off(result.test, answer, groups(0.125, 0.125)).values():
        assert text.startswith("**Miscalibrated in 2 of 2 subgroups**: ward \\= A (12.5 perc")
    answer = side_badges(result, result.test, words, groups(0.125, 0.0))
    assert answer["After"].word == "No miscalibration detected"


def test_the_worst_subgroup_is_the_worst_of_all_groupings() -> None:
    """A predicted class is a range of scores, so its gap is the whole's fault; it is no less."""
    rng = np.random.default_rng(4)
    scores = rng.choice([0.2, 0.9], 4000, p=[0.9, 0.1])
    ward = rng.integers(2, size=4000)
    hits = rng.random(4000) < np.where(scores > 0.5, 0.6, scores + np.where(ward == 1, 0.08, -0.08))
    result = group_gaps(scores, hits, [ward, (scores > 0.5).astype(int)])
    assert result.own()[result.grouping == 0].all()
    assert not result.own()[result.grouping == 1].any()
    named = Groups(
        result,
        result,
        lambda f, k: (
            ("ward", "Predicted class")[f.grouping[k]],
            ("AB", "ny")[f.grouping[k]][f.place[k]],
        ),
        prediction=False,
    )
    assert "predicted class y, scores too high by " in worst_lines(named)[0].lower()
    assert named.counted(after=False).startswith(
        "Miscalibrated in 3 of 4 subgroups: predicted class y ("
    )
