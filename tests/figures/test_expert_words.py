"""Plain words without terms of art, and the same findings in the experts' words."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.auditing import audit
from calibcore.calibrators import SplineCalibration
from calibcore.cumulative import brownian_range_tail, brownian_tail
from calibcore.data import EventScores
from calibcore.evaluation import SetResult, Side
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.inference import (
    Inference,
    Interval,
    Mark,
    Plan,
    Reference,
    SideRows,
    Uncertainty,
    infer,
)
from calibcore.inference.findings import Finding
from calibcore.metrics import METRICS
from dashboard.texts import numbers
from dashboard.texts import power as reach
from dashboard.texts.events import event_name, event_words
from dashboard.texts.glossary import GLOSSARY, HOW_TO_READ, TERMS
from dashboard.texts.measures import MARKS, measure_rows
from dashboard.texts.numbers import escape_markdown, measured_change, p_words, pp
from dashboard.texts.reliability import (
    belt_caption,
    bins_caption,
    isotonic_caption,
    plot_caption,
    smoothed_caption,
)
from dashboard.texts.tiles import (
    NOT_SEPARATION,
    below_tiles,
    mean_gap_line,
    tiles,
    uncertainty_note,
)
from dashboard.texts.verdict import outcome, statistics
from dashboard.views.ks_graphs import words as graphs
from tests.figures.small_results import (
    MINUS,
    blocks,
    events,
    logit_result,
    pct,
    result_of,
    side_of,
    verdict,
)

TOP_1 = event_words(TopR(1), None)
OVER = blocks((0.9, 1000, 800))
MIXED = blocks((0.3, 500, 250), (0.9, 500, 350))
UNDETECTED = blocks((0.8, 10, 7))
SIDES = {"over": OVER, "mixed": MIXED, "undetected": UNDETECTED, "drawn": result_of(700).test.after}

JARGON = re.compile(
    r"p [=<]|Brownian|\u221a|\u03c3|Kuiper|in-the-large|bootstrap|quantile|Wilson|MOVER|pointwise"
    r"|simultaneous|kernel|regression|Clopper|root mean square|least-squares|power:|H0|statistic",
    re.IGNORECASE,
)

CAPTIONS: dict[str, Callable[..., str]] = {
    "a": graphs.cumulative_caption,
    "b": graphs.warped_caption,
    "c": graphs.fractile_caption,
    "d": graphs.score_caption,
    "grey": graphs.band_note,
    "bins": bins_caption,
    "plot": plot_caption,
    "isotonic": isotonic_caption,
    "smoothed": smoothed_caption,
    "belt": belt_caption,
}


def warnings_of(side: Side, *, expert: bool) -> dict[str, str]:
    texts = {name: caption(side, expert=expert) for name, caption in CAPTIONS.items()}
    texts["verdict"] = verdict(side, TOP_1, expert=expert)
    texts["cursor"] = graphs.cursor_sentence(side, 0.5, expert=expert)
    texts["power"] = reach.power_sentence(side, side.event.n_samples, expert=expert)
    return texts


@pytest.mark.parametrize("side", SIDES.values(), ids=SIDES)
def test_plain_words_hold_no_terms_of_art(side: Side) -> None:
    plain, expert = warnings_of(side, expert=False), warnings_of(side, expert=True)
    for name, text in plain.items():
        assert not JARGON.search(text), text
        none = {"cursor": side.frequency, "belt": side.belt}.get(name, side) is None
        assert expert[name] != text or none
    assert sum(bool(JARGON.search(text)) for text in expert.values()) >= 6


@pytest.mark.parametrize("side", SIDES.values(), ids=SIDES)
def test_both_wordings_find_the_same(side: Side) -> None:
    plain, expert = (verdict(side, TOP_1, expert=expert) for expert in (False, True))
    # The experts' sentence is the plain one, with more in brackets.
    assert expert.startswith(f"{plain.removesuffix('.')} (")


def test_the_experts_verdict_reads_the_result() -> None:
    assert verdict(OVER, TOP_1, expert=True) == (
        "Overconfident by 10.0 percentage points: mean score 90.0%, but 80.0% correct (joint test,"
        " p < 0.001)."
    )
    tested = p_words(UNDETECTED.omnibus.p_value)
    assert verdict(UNDETECTED, TOP_1, expert=True) == (
        "Constant score for all rows. No miscalibration detected: mean score 80.0%, 70.0% correct"
        f" (joint test, {tested})."
    )


def test_statistics_are_those_of_the_definitions() -> None:
    evaluated = SetResult(MIXED, OVER, (), 0)
    sentence = statistics(evaluated)
    # 1000 rows: the totals part by 0.1 half way; variance (500 * 0.21 + 500 * 0.09) / 1000^2.
    deviation = math.sqrt(150) / 1000
    for text in (
        f"Before: \u221aN\u00b7KS = {0.1 * math.sqrt(1000):.3f}",
        f"KS/\u03c3 = {0.1 / deviation:.3f}, {p_words(brownian_tail(0.1 / deviation))}",
        f"Kuiper/\u03c3 = {0.1 / deviation:.3f}, {p_words(brownian_range_tail(0.1 / deviation))}",
        f"After: \u221aN\u00b7KS = {0.1 * math.sqrt(1000):.3f}",
        f"KS/\u03c3 = {0.1 / math.sqrt(0.09 / 1000):.3f}",
    ):
        assert text in sentence
    assert "After" not in statistics(SetResult(OVER, OVER, (), 0))


def test_experts_read_the_temperature_to_four_digits() -> None:
    result = logit_result("temperature")
    fitted = result.fitted
    temperature = fitted.temperature  # type: ignore[union-attr]
    plain, expert = (
        outcome(result, result.test, "temperature", expert=expert) for expert in (False, True)
    )
    assert f"(T = {temperature:.3g})" in plain
    assert f"(T = {temperature:.4g})" in expert


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (TopR(1), "Top prediction"),
        (TopR(3), "Prediction 3"),
        (WithinTopR(2), "Top-2 set"),
        (OneClass(1), "Class <b>"),
    ],
)
def test_events_have_names(event: TopR | WithinTopR | OneClass, name: str) -> None:
    assert event_name(event, ("a", "<b>")) == name
    assert event_words(event, ("a", "<b>")).name == escape_markdown(name)


# The cursor and the fit ---------------------------------------------------------------------


def test_the_cursor_reads_off_the_rows() -> None:
    assert graphs.cursor_sentence(MIXED, 0.25) == (
        f"Lowest {pct('50.0')} of rows: score up to {pct('30.0')}; cumulative score {pct('15.0')},"
        f" outcomes {pct('25.0')}, gap {MINUS}10.0 pp."
    )
    assert graphs.cursor_sentence(MIXED, 1.0).endswith("gap 0.0 pp.")
    assert graphs.cursor_sentence(OVER, 0.3).endswith("gap +10.0 pp.")
    text = graphs.cursor_sentence(MIXED, 0.25, expert=True)
    assert text.startswith(f"At fractile {pct('50.0')}: score {pct('30.0')}; cumulative score")
    few = side_of([0.4, 0.6], [0, 1])
    assert "spline" not in graphs.cursor_sentence(few, 0.5, expert=True)
    assert "spline estimate of the frequency" in graphs.cursor_sentence(MIXED, 0.5, expert=True)


@given(st.integers(0, 100))
def test_the_cursors_gap_is_score_minus_outcomes(percent: int) -> None:
    side = SIDES["drawn"]
    text = graphs.cursor_sentence(side, percent / 100)
    score, outcomes, gap = (
        float(re.findall(rf"{word} ([+{MINUS}]?[\d.]+)", text)[0].replace(MINUS, "-"))
        for word in ("cumulative score", "outcomes", "gap")
    )
    assert score - outcomes == pytest.approx(gap, abs=0.11)


@pytest.mark.parametrize("fit_to", ["difference", "hits"])
def test_the_fits_caption_reads_the_fit(fit_to: str) -> None:
    rows = events(2000)
    calibrator = SplineCalibration(n_knots=7, fit_to=fit_to)  # type: ignore[arg-type]
    fitted = calibrator.fit(rows.scores, rows.hits)
    fit = calibrator.shown(fitted, rows.scores, rows.hits)
    plain, expert = (graphs.fit_caption(fit, expert=expert) for expert in (False, True))
    assert not JARGON.search(plain)
    assert "7-knot spline" in plain
    assert "2,000 calibration rows" in plain
    largest = pp(fit.farthest, 2000)
    assert f"within {largest}" in plain
    assert f"largest {largest}" in expert
    assert ("Score + slope = calibrated score" in plain) == (fit_to == "difference")


# Tiles --------------------------------------------------------------------------------------


def finding(key: str, mark: Mark | None) -> Finding:
    evaluated = Uncertainty(0.05, Interval(0.041, 0.059), Reference(0.012, 0.021, 0.001))
    after = Uncertainty(0.05, Interval(0.0, 0.01), Reference(0.012, 0.021, 0.001))
    return Finding(key, evaluated, after, Interval(-0.01, 0.02), mark)


def inference_of(mark: Mark | None) -> Inference:
    return Inference(tuple(finding(m.key, mark) for m in METRICS), Plan(n_resamples=200))


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("decisions", [0, 12])
def test_tiles_say_what_the_table_says(mark: Mark, decisions: int) -> None:
    evaluated = result_of(500).test
    evaluated = SetResult(evaluated.before, evaluated.after, evaluated.comparisons, decisions)
    shown = tiles(evaluated, inference_of(mark))
    keys = ("ks_error", "ece", "event_nll", "accuracy")
    measures = tuple(evaluated.compare(key).measure for key in keys)
    table = measure_rows(evaluated, inference_of(mark), measures)
    for tile, row in zip(shown, table, strict=True):
        assert row.mark is not None
        words = " ".join(MARKS[row.mark])
        assert tile.interval == f"{row.before.note} \u2192 {row.after.note}"
        colours = {"better": "green", "worse": "red"}
        assert tile.colour == colours.get(row.mark, "gray")
        if tile.name == "Accuracy":
            counted = (
                f"{decisions} predicted classes changed" if decisions else "predictions unchanged"
            )
            told = decisions and row.mark in colours
            assert tile.note == (f"{counted}, {words}" if told else counted)
        else:
            assert tile.note == words


def test_of_one_class_the_auroc_is_shown_and_ks_is_told_from_separation() -> None:
    evaluated = result_of(500).test
    shown = tiles(evaluated, of_class=True)
    assert [tile.name for tile in shown] == [
        evaluated.compare(key).measure.name for key in ("ks_error", "ece", "event_nll", "auroc")
    ]
    assert [tile.beside for tile in shown] == [NOT_SEPARATION, "", "", ""]
    assert NOT_SEPARATION not in {tile.beside for tile in tiles(evaluated)}


def test_the_mean_gap_stands_beside_its_own_interval() -> None:
    """The joint test's p-value stood beside a gap of 0.2 points, 0.6 of its deviations."""
    scores, hits = [0.2] * 500 + [0.8] * 500, [1] * 160 + [0] * 340 + [1] * 338 + [0] * 162
    evaluated = audit(EventScores(scores, hits), event=TopR(1)).test
    assert evaluated.before.omnibus.p_value < 0.01
    plan = Plan((evaluated.compare("mean_gap").measure,), n_resamples=1000)
    rows = SideRows(evaluated.before.event)
    text = mean_gap_line(evaluated, infer(rows, rows, plan))
    start = re.escape("Mean gap (score \u2212 observed): +0.2 pp (95% CI ")
    result = re.fullmatch(rf"{start}(.*) to (.*)\)\.", text)
    assert result is not None, text
    low, high = (float(end.replace(MINUS, "-")) for end in result.groups())
    half = 196 * np.std(np.subtract(scores, hits)) / np.sqrt(1000)
    assert low == pytest.approx(0.2 - half, abs=0.3)
    assert high == pytest.approx(0.2 + half, abs=0.3)
    assert "pp" not in verdict(evaluated.before, TOP_1, expert=True)
    assert mean_gap_line(evaluated) == "Mean gap (score \u2212 observed): +0.2 pp."


def test_before_it_is_known_no_tile_says_better_or_worse() -> None:
    evaluated = result_of(500).test
    for tile in tiles(evaluated):
        assert not re.search("better|worse|evidence", tile.note)
        assert (tile.colour, tile.interval) == ("gray", "")
    ks = evaluated.compare("ks_error")
    assert tiles(evaluated)[0].note == measured_change(ks, 500)
    assert tiles(evaluated)[0].note.startswith(MINUS)
    same = SetResult(evaluated.before, evaluated.before, evaluated.comparisons, 0)
    unchanged = [row for row in same.comparisons if row.measure.key == "accuracy"]
    assert unchanged
    assert {tile.note for tile in tiles(same, inference_of("no evidence"))} == {""}


def test_how_to_read_has_both_wordings() -> None:
    assert graphs.how_to_read() == HOW_TO_READ
    expert = graphs.how_to_read(expert=True)
    for term in ("H0", "Brownian", "Wilson", "smooth ECE"):
        assert term in expert
        assert term == "Wilson" or term not in HOW_TO_READ
    for graph in ("(a)", "(b)", "(c)", "(d)"):
        assert f"**{graph}**" in expert


def test_notes_in_both_wordings() -> None:
    evaluated, inference = result_of(500).test, inference_of("better")
    assert not JARGON.search(below_tiles(evaluated))
    assert not JARGON.search(uncertainty_note(inference))
    assert "Brownian" in below_tiles(evaluated, expert=True)
    assert "percentile bootstrap" in uncertainty_note(inference, expert=True)
    assert "200 resamples, seed 0" in uncertainty_note(inference, expert=True)
    for expert in (False, True):
        assert "200 resamples" in uncertainty_note(inference, expert=expert)
        limit = numbers.percent(evaluated.before.curves.ks_null_95, 500)
        assert limit in below_tiles(evaluated, expert=expert)


def test_every_term_has_a_definition() -> None:
    for key, name in TERMS.items():
        assert name
        assert GLOSSARY[key].endswith(".")
    assert not JARGON.search(" ".join(GLOSSARY[key] for key in TERMS))
