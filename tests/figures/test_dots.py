"""The dots of a comparison are its values; the sentences hold its numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest

from calibcore.auditing import audit
from calibcore.calibrators import (
    HistogramBinning,
    IsotonicCalibration,
    ScoreMap,
    SplineCalibration,
    TemperatureScaling,
    VectorMap,
)
from calibcore.comparison import (
    MEASURES,
    Advice,
    Contestant,
    Picks,
    Standing,
    pick,
    ranked,
)
from calibcore.data import LogitSet
from calibcore.evaluation import Comparison
from calibcore.events import TopR
from calibcore.inference import Finding, Interval
from calibcore.metrics import METRICS, Measure
from calibcore.splits import Split, deal_folds
from dashboard.figures import DARK, LIGHT
from dashboard.figures.comparison import CROSSED, TEST, _axis, dot_plot
from dashboard.settings import NO_METHOD
from dashboard.texts import comparison as words
from dashboard.texts.measures import spelled_out
from dashboard.texts.methods import method_name
from tests.figures.conftest import Keep
from tests.figures.made import MINUS, Figure, pct, texts, trace

CALIBRATORS: dict[str, ScoreMap | VectorMap | None] = {
    NO_METHOD: None,
    "temperature": TemperatureScaling(),
    "isotonic": IsotonicCalibration(),
    "histogram": HistogramBinning(),
    "spline": SplineCalibration(),
}


def named(key: str) -> Measure:
    return next(measure for measure in METRICS if measure.key == key)


def test_ticks_of_a_narrow_axis_are_told_apart() -> None:
    axis = _axis(named("event_nll"), (0.3846, 0.3854), LIGHT)
    assert axis["tickformat"] == ".5~f"  # steps of 0.00008 and more
    assert _axis(named("event_nll"), (0.2, 0.5), LIGHT)["tickformat"] == ".3~f"


@pytest.fixture(scope="module")
def contestants() -> list[Contestant]:
    rng = np.random.default_rng(11)

    def drawn(n_samples: int) -> LogitSet:
        logits = 5 * rng.normal(size=(n_samples, 4))
        return LogitSet(logits, (logits / 2 + rng.gumbel(size=logits.shape)).argmax(axis=1))

    split = Split(drawn(600), drawn(900))
    fold = deal_folds(split.calibration)
    found = []
    for key, made in CALIBRATORS.items():
        crossed = audit(
            Split(split.calibration, split.calibration, fold=fold), event=TopR(1), calibrator=made
        )
        plain = audit(split, event=TopR(1), calibrator=made)
        standings = Standing.of(crossed.test, crossed.crossed), Standing.of(plain.test, None)
        found.append(Contestant(key, *standings))
    return found


def drawn(contest: list[Contestant], key: str) -> Figure:
    names = [method_name(one.key) for one in contest]
    return dot_plot(contest, names, named(key), LIGHT)


# The figure ---------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["event_nll", "ks_error", "auroc", "calibration_slope"])
def test_the_dots_are_the_values(contestants: list[Contestant], key: str, keep: Keep) -> None:
    measure = named(key)
    contest = ranked(contestants, measure, "crossed")
    figure = drawn(contest, key)
    keep(f"dots_{key}", figure)
    crossed, test = trace(figure, CROSSED), trace(figure, TEST)
    assert list(crossed.x) == [one.crossed.compare(measure).after for one in contest]
    assert list(test.x) == [one.test.compare(measure).after for one in contest]
    # Each mark keeps to its row, the dot above the diamond.
    for row, (above, below) in enumerate(zip(crossed.y, test.y, strict=True)):
        assert row - 0.5 < above < row < below < row + 0.5
    assert (crossed.marker.symbol, test.marker.symbol) == ("circle", "diamond-open")
    names = [text.replace("<br>", " ") for text in figure.layout.yaxis.ticktext]
    assert names == [method_name(one.key) for one in contest]
    assert list(figure.layout.yaxis.range) == [4.5, -0.5]


def test_lines_stand_at_the_uncalibrated_values(contestants: list[Contestant]) -> None:
    figure, measure = drawn(contestants, "event_nll"), named("event_nll")
    nothing = contestants[0]
    for name, standing in ((CROSSED, nothing.crossed), (TEST, nothing.test)):
        line = trace(figure, f"uncalibrated, {name}")
        assert list(line.x) == [standing.compare(measure).before] * 2
    dashes = [trace(figure, f"uncalibrated, {name}").line.dash for name in (CROSSED, TEST)]
    assert dashes == ["solid", "dash"]


def test_error_bars_are_counted_from_the_line(contestants: list[Contestant]) -> None:
    measure = named("event_nll")
    names = [method_name(one.key) for one in contestants]
    changes = {
        ("temperature", "crossed"): Interval(-0.3, -0.1),
        ("spline", "test"): Interval(-0.2, 0.1),
        ("isotonic", "test"): Interval(np.nan, np.nan),
    }
    figure = dot_plot(contestants, names, measure, LIGHT, changes)  # type: ignore[arg-type]
    crossed, test = (trace(figure, f"95% CI, {name}") for name in (CROSSED, TEST))
    start = contestants[0].crossed.compare(measure).before
    assert start is not None
    assert list(crossed.x[:2]) == [start - 0.3, start - 0.1]
    assert crossed.y[0] == trace(figure, CROSSED).y[1]
    start = contestants[0].test.compare(measure).before
    assert start is not None
    assert list(test.x[:2]) == [start - 0.2, start + 0.1]
    assert len(test.x) == 3


def test_a_value_far_outside_stands_at_the_edge_with_its_number(
    contestants: list[Contestant],
) -> None:
    measure = named("event_nll")
    far = contestants[1]
    rows = tuple(
        Comparison(row.measure, row.before, 50.0) if row.measure == measure else row
        for row in far.crossed.comparisons
    )
    moved = Contestant(far.key, replace(far.crossed, comparisons=rows), far.test)
    figure = drawn([contestants[0], moved, *contestants[2:]], "event_nll")
    edge = trace(figure, f"beyond, {CROSSED}")
    low, high = figure.layout.xaxis.range
    assert high < 5
    height = trace(figure, CROSSED).y[1]
    place = list(edge.y).index(height)
    assert high - 0.01 * (high - low) < edge.x[place] < high
    assert edge.marker.symbol[place] == "triangle-right"
    (number,) = (note for note in figure.layout.annotations if note.y == height)
    # As in the table, and on the page's ground, so that no error bar strikes it through.
    assert (number.x, number.text.strip(), number.bgcolor) == (high, "50.000", LIGHT.ground)
    assert low < trace(figure, TEST).x[1] < high
    # A dot at the edge is whole: the browser hides those beyond it.
    assert [trace(figure, name).cliponaxis for name in (CROSSED, TEST)] == [False, False]


def test_error_bars_of_the_better_half_are_whole(contestants: list[Contestant]) -> None:
    measure = named("event_nll")
    contest = ranked(contestants, measure, "crossed")
    names = [method_name(one.key) for one in contest]
    best = contest[0].key
    changes = {(best, "crossed"): Interval(-0.5, -0.01), (best, "test"): Interval(-0.6, 0.0)}
    figure = dot_plot(contest, names, measure, LIGHT, changes)  # type: ignore[arg-type]
    low, high = figure.layout.xaxis.range
    for name in (CROSSED, TEST):
        left, right, _ = trace(figure, f"95% CI, {name}").x
        assert low < left < right < high
    without = drawn(contest, "event_nll").layout.xaxis.range
    assert low < without[0]


def test_the_title_stays_above_the_rows_however_many(contestants: list[Contestant]) -> None:
    for contest in (contestants[:2], contestants * 5):
        layout = drawn(contest, "ks_error").layout
        top = (1 - layout.title.y) * layout.height
        assert 0 < top < layout.margin.t - 13


def test_undefined_values_leave_a_row_empty(contestants: list[Contestant]) -> None:
    figure = drawn(contestants, "nll")
    defined = np.isfinite(trace(figure, CROSSED).x)
    assert defined.tolist() == [True, True, False, False, False]
    assert len(figure.layout.yaxis.ticktext) == 5


@pytest.mark.parametrize(
    ("key", "words_said"),
    [
        ("event_nll", "NLL of the event, nats<br>better to the left"),
        ("auroc", "AUROC of the score<br>better to the right"),
        ("observed_expected_ratio", "Observed over expected<br>best at 1"),
    ],
)
def test_the_better_direction_is_said(
    contestants: list[Contestant], key: str, words_said: str
) -> None:
    assert drawn(contestants, key).layout.xaxis.title.text == words_said


def test_names_cannot_be_markup(contestants: list[Contestant]) -> None:
    names = ["<b>a</b>", "$x$", "&", "d", "e"]
    for palette in (LIGHT, DARK):
        figure = dot_plot(contestants, names, named("event_nll"), palette)
        assert not [text for text in texts(figure) if "<b>a" in text or "$" in text]
        assert len(json.dumps(json.loads(figure.to_json()))) < 30_000


# The sentences ------------------------------------------------------------------------------


def picks_of(contestants: list[Contestant], key: str) -> Picks:
    found = pick(contestants, named(key))
    assert found is not None
    return found


def made(key: str, crossed: tuple[float, float], test: tuple[float, float]) -> Contestant:
    """A contestant with a given NLL of the event, before and after."""
    measure = named("event_nll")
    standings = (
        Standing((Comparison(measure, *values),), 0, 1_000, None) for values in (crossed, test)
    )
    return Contestant(key, *standings)


NLL = "NLL (log loss) of the event"
"""As sentences call it."""

NOTHING = made(NO_METHOD, (0.5, 0.5), (0.6, 0.6))
GOOD = made("temperature", (0.5, 0.3), (0.6, 0.45))
LUCKY = made("isotonic", (0.5, 0.4), (0.6, 0.42))
BAD = made("histogram", (0.5, 0.9), (0.6, 0.9))


def test_the_best_is_named_with_the_uncalibrated_value() -> None:
    shown = [NOTHING, LUCKY, GOOD]
    picks = picks_of(shown, "event_nll")
    name = NLL
    assert words.conclusion(picks, 5, expert=False) == (
        f"Lowest {name} in cross-validation: Temperature scaling, 0.300 (uncalibrated 0.500)."
    )
    assert words.conclusion(picks, 7, expert=True) == (
        f"Lowest {name} in 7-fold cross-validation: Temperature scaling, 0.300 (uncalibrated"
        " 0.500)."
    )
    there = (
        "0.450 (uncalibrated 0.600). Isotonic regression of the event reaches 0.420 there, but"
        " choosing on the test set is biased."
    )
    assert words.on_test(picks, shown, same_data=False) == f"Test set: {there}"
    assert words.on_test(picks, shown, same_data=True) == f"Same rows as the fit: {there}"


def test_best_is_said_of_a_clear_lead_alone() -> None:
    measure, rival = named("event_nll"), made("beta", (0.5, 0.305), (0.6, 0.44))
    shown = [NOTHING, LUCKY, GOOD, rival]

    def said(found: Advice, *, expert: bool = False) -> tuple[str, str]:
        return words.advice(found, shown, measure, 5, expert=expert), words.level(found)

    figures = f"{NLL} 0.300 (uncalibrated 0.500, 40.0% less)"
    assert said(Advice("temperature", "temperature", ())) == (
        f"Best in cross-validation: Temperature scaling, {figures}.", "",
    )  # fmt: skip
    alone = words.advice(
        Advice("temperature", "temperature", ()), shown, measure, 5, expert=False, keeping=True
    )
    assert alone == (
        "Best in cross-validation of those that keep predicted classes: Temperature scaling,"
        f" {figures}."
    )
    assert said(Advice("temperature", "beta", ("temperature", "isotonic")), expert=True) == (
        (
            f"Use Beta calibration: {NLL} 0.305 (uncalibrated 0.500, 39.0% less) in 5-fold"
            " cross-validation."
        ),
        (
            "Not clearly different: Temperature scaling and Isotonic regression of the event; the"
            " simplest of them is advised."
        ),
    )
    assert said(Advice("temperature", "temperature", ("beta",)))[1] == (
        "Not clearly different: Beta calibration; the simpler one is advised."
    )
    assert said(Advice("temperature", None, ("beta",))) == (
        ("No calibrator clearly improves on uncalibrated scores in cross-validation:"
        f" {NLL} 0.500, at best 0.300 (Temperature scaling)."), "",
    )  # fmt: skip
    shown.append(made("spline", (0.5, 0.51), (0.6, 0.6)))
    assert said(Advice("spline", None, ()))[0].endswith(f": {NLL} 0.500.")


def test_what_gets_worse_and_what_changes_classes_is_said() -> None:
    nll, accuracy = named("nll"), named("accuracy")

    def standing(before: tuple[float, float], after: tuple[float, float]) -> Standing:
        rows = zip((nll, accuracy), before, after, strict=True)
        return Standing(tuple(Comparison(*row) for row in rows), 30, 1_000, None)

    bad, good = standing((1.2, 0.7), (3.7, 0.65)), standing((1.2, 0.7), (1.1, 0.72))
    both = [Contestant("per_rank", bad, bad), Contestant("vector", good, good)]
    assert words.worse_there(both[0], (nll, accuracy)) == (
        f"Worse with {method_name('per_rank')}: {nll.name} 1.200 \u2192 3.700, {accuracy.name}"
        f" {pct('70.0')} \u2192 {pct('65.0')}."
    )
    assert words.worse_there(both[1], (nll, accuracy)) == ""
    opening = "Calibrators that change predicted classes are compared by NLL of all classes: "
    assert words.changers(Advice("vector", "vector", ()), both, nll, accuracy) == (
        f"{opening}Vector scaling, 1.100 (uncalibrated 1.200), accuracy {pct('70.0')} \u2192"
        f" {pct('72.0')}."
    )
    assert words.changers(Advice("vector", None, ()), both, nll, accuracy) == (
        f"{opening}none clearly improves on uncalibrated scores (1.200)."
    )
    assert words.changers(None, both, nll, accuracy) == ""


def test_a_lead_among_those_that_keep_predicted_classes_says_so() -> None:
    # As in a table by ECE: temperature 2.5%, with lower ones below it that change classes.
    shown = [NOTHING, GOOD, LUCKY]
    picks, name = picks_of(shown, "event_nll"), NLL
    lower = made("vector", (0.5, 0.2), (0.6, 0.41))
    lowest = made("matrix", (0.5, 0.1), (0.6, 0.5))
    higher = made("dirichlet", (0.5, 0.301), (0.6, 0.421))
    equal = made("dirichlet", (0.5, 0.3001), (0.6, 0.4201))
    said = words.conclusion(picks, 5, expert=False, keeping=True)
    assert said == (
        f"Lowest {name} in cross-validation of those that keep predicted classes: Temperature"
        " scaling, 0.300 (uncalibrated 0.500)."
    )
    many = "change predicted classes"
    for others, conditions, told in (
        ([higher], (False, False), ""),
        ([equal], (True, True), ""),
        (
            [lower],
            (True, True),
            "Vector scaling, which changes predicted classes, is lower: 0.200.",
        ),
        (
            [lower, higher, lowest],
            (True, True),
            f"2 calibrators that {many} are lower, first of them Matrix scaling: 0.100.",
        ),
        ([lowest], (True, False), None),
    ):
        found = tuple(words.keeping_alone(picks, others, side) for side in ("crossed", "test"))
        assert found == conditions
        assert told is None or words.better_still(picks, others) == told
    kept = picks_of([NOTHING, GOOD], "event_nll")
    said = words.on_test(kept, [NOTHING, GOOD], same_data=False, keeping=True)
    assert said.endswith(" No other that keeps predicted classes is clearly better there.")
    bad = picks_of([NOTHING, BAD], "event_nll")
    said = words.conclusion(bad, 5, expert=False, keeping=True)
    assert said.startswith("No calibrator that keeps predicted classes improves on uncalibrated")


def test_the_same_choice_and_no_calibrator_at_all_are_said() -> None:
    shown = [NOTHING, GOOD]
    said = words.on_test(picks_of(shown, "event_nll"), shown, same_data=False)
    assert said == "Test set: 0.450 (uncalibrated 0.600). No other is clearly better there."
    shown = [NOTHING, BAD]
    nothing = picks_of(shown, "event_nll")
    assert words.conclusion(nothing, 5, expert=False) == (
        f"No calibrator improves on uncalibrated scores in cross-validation: {NLL} 0.500."
    )
    said = words.on_test(nothing, shown, same_data=False)
    assert said == "Test set: uncalibrated 0.600. No other is clearly better there."


def test_a_lead_that_cannot_be_read_off_is_not_called_one() -> None:
    close = made("isotonic", (0.5, 0.4), (0.6, 0.4499))
    shown = [GOOD, close]
    said = words.on_test(picks_of(shown, "event_nll"), shown, same_data=False)
    assert said.endswith("No other is clearly better there.")
    level = made("temperature", (0.5, 0.4999), (0.6, 0.7))
    shown = [NOTHING, level]
    found = picks_of(shown, "event_nll")
    assert words.conclusion(found, 5, expert=False) == (
        f"No calibrator improves on uncalibrated scores in cross-validation: {NLL} 0.500."
    )
    said = words.on_test(found, shown, same_data=False)
    assert said == "Test set: uncalibrated 0.600. No other is clearly better there."
    unlucky = made("temperature", (0.5, 0.3), (0.6, 0.7))
    shown = [NOTHING, unlucky]
    said = words.on_test(picks_of(shown, "event_nll"), shown, same_data=False)
    assert said == (
        "Test set: 0.700, worse than uncalibrated (0.600). No calibrator improves on"
        " uncalibrated scores there."
    )


def test_calibrators_that_are_level_in_the_digits_shown_are_named_together() -> None:
    rivals = [made(key, (0.5, 0.3004), (0.6, 0.44)) for key in ("platt", "beta", "isotonic")]
    every = [NOTHING, GOOD, LUCKY, *rivals]
    for level, named_ in (
        (rivals[:1], "Temperature scaling and Platt scaling"),
        (rivals[:2], "Temperature scaling, Platt scaling and Beta calibration"),
        (rivals, "Temperature scaling, Platt scaling and 2 others"),
    ):
        shown = [NOTHING, GOOD, LUCKY, *level]
        picks = picks_of(shown, "event_nll")
        assert words.level_with(picks, shown) == level
        assert words.conclusion(picks, 5, level, expert=False) == (
            f"Lowest {NLL} in cross-validation: {named_}, 0.300 each (uncalibrated 0.500)."
        )
    said = words.on_test(picks_of(every, "event_nll"), every, rivals, same_data=False)
    assert said.startswith("Test set: 0.450 for Temperature scaling (uncalibrated 0.600). ")
    alone = picks_of([NOTHING, LUCKY, GOOD], "event_nll")
    assert words.level_with(alone, [NOTHING, LUCKY, GOOD]) == []


def test_all_that_are_written_alike_on_the_test_set_are_named() -> None:
    rival = made("beta", (0.5, 0.3004), (0.6, 0.4201))
    shown = [NOTHING, LUCKY, GOOD, rival]
    said = words.on_test(picks_of(shown, "event_nll"), shown, [rival], same_data=False)
    assert "Isotonic regression of the event and Beta calibration reach 0.420 there" in said


def test_the_caption_counts_those_that_are_better_as_written() -> None:
    measure = named("event_nll")
    level = made("beta", (0.5, 0.4999), (0.6, 0.59))
    shown = [NOTHING, LUCKY, GOOD, BAD, level]
    said = words.dots_caption(measure, shown, ranks=True, intervals=False)
    better = "Better than uncalibrated, to the digits shown:"
    assert said == f"{better} 2 of 4 in cross-validation, 3 on the test set."
    with_bars = words.dots_caption(measure, shown, ranks=True, intervals=True)
    assert with_bars == f"{said} Error bars: 95% CI of the change."


def test_sentences_of_real_comparisons_hold_their_numbers(contestants: list[Contestant]) -> None:
    for measure in MEASURES:
        found = pick(contestants, measure)
        caption = words.dots_caption(measure, contestants, ranks=found is not None, intervals=True)
        assert caption.endswith("Error bars: 95% CI of the change.")
        if found is None:
            assert caption.startswith(f"{measure.name} does not rank calibrators.")
            continue
        said = words.conclusion(found, 5, expert=False)
        assert spelled_out(measure.name) in said
        improves = not said.startswith("No calibrator improves")
        assert (method_name(found.winner.key) in said) == improves
        test = words.on_test(found, contestants, same_data=False)
        assert test.startswith("Test set: ")
        assert test.endswith(("there.", "on the test set is biased."))


def test_changes_are_written_with_sign_unit_and_word() -> None:
    change = Finding("ks_error", None, None, Interval(-0.05, 0.012), "no evidence")
    row = Comparison(named("ks_error"), 0.06, 0.04)
    assert words.change_words(change, row, 1_000) == (
        f"{MINUS}2.0 pp",
        f"{MINUS}5.0 to +1.2 pp",
        "\u25cb no clear change",
        "no-evidence",
    )
    blank = Finding("nll", None, None, None, "not comparable")
    assert words.change_words(blank, Comparison(named("nll"), None, None), 1_000) == (
        "\u2013",
        "",
        "\u2013 not comparable",
        "not-comparable",
    )
    small = Finding("event_nll", None, None, Interval(-0.0004, -0.00021), "better")
    row = Comparison(named("event_nll"), 0.0417, 0.0414)
    assert words.change_words(small, row, 1_000)[:2] == (
        f"{MINUS}0.0003",
        f"{MINUS}0.0004 to {MINUS}0.0002",
    )


def test_costs_and_refusals_are_said() -> None:
    assert (
        words.fit_cost_sentence(21, 170, 5)
        == "21 calibrators to fit (6 fits each), about 3 minutes."
    )
    assert words.fit_cost_sentence(1, 170, 5) == "1 calibrator to fit (6 fits), about 3 minutes."
    assert words.working_on("vector", 3, 5) == "Vector scaling: fold 3 of 5"
    assert words.working_on("vector", 0, 5) == "Vector scaling: on the whole calibration set"
    assert words.refusal("spline", "<b>").endswith("\\<b\\>")
    assert words.calibrators_label(8) == "Calibrators (8)"
