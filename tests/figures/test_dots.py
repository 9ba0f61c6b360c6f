"""The dots of a contest are its values; the sentences beside them hold its numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest

from calibcore.calibrators import (
    HistogramBinning,
    IsotonicCalibration,
    ScoreMap,
    SplineCalibration,
    TemperatureScaling,
    VectorMap,
)
from calibcore.contest import Contestant, Picks, Standing, cross_fit, deal_folds, pick, ranked
from calibcore.data import LogitSet, Split
from calibcore.evaluation import Comparison, audit
from calibcore.events import TopR
from calibcore.inference import Finding, Interval
from calibcore.metrics import METRICS, Measure
from dashboard.figures import DARK, LIGHT
from dashboard.figures.dots import CROSSED, TEST, dot_plot
from dashboard.settings import NO_METHOD, Settings
from dashboard.wording import contest as words
from dashboard.wording import method_name
from tests.figures.conftest import Keep
from tests.figures.made import MINUS, Figure, texts, trace

CALIBRATORS: dict[str, ScoreMap | VectorMap | None] = {
    NO_METHOD: None,
    "temperature": TemperatureScaling(),
    "isotonic": IsotonicCalibration(),
    "histogram": HistogramBinning(),
    "spline": SplineCalibration(),
}


def named(key: str) -> Measure:
    return next(measure for measure in METRICS if measure.key == key)


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
        crossed = cross_fit(split.calibration, event=TopR(1), calibrator=made, fold=fold)
        plain = audit(split, event=TopR(1), calibrator=made)
        standings = Standing.of(crossed.judged, crossed.fitted), Standing.of(plain.test, None)
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


def test_lines_stand_at_doing_nothing(contestants: list[Contestant]) -> None:
    figure, measure = drawn(contestants, "event_nll"), named("event_nll")
    nothing = contestants[0]
    for name, standing in ((CROSSED, nothing.crossed), (TEST, nothing.test)):
        line = trace(figure, f"doing nothing, {name}")
        assert list(line.x) == [standing.compare(measure).before] * 2
    dashes = [trace(figure, f"doing nothing, {name}").line.dash for name in (CROSSED, TEST)]
    assert dashes == ["solid", "dash"]


def test_whiskers_are_counted_from_the_line(contestants: list[Contestant]) -> None:
    measure = named("event_nll")
    names = [method_name(one.key) for one in contestants]
    changes = {
        ("temperature", "crossed"): Interval(-0.3, -0.1),
        ("spline", "test"): Interval(-0.2, 0.1),
        ("isotonic", "test"): Interval(np.nan, np.nan),
    }
    figure = dot_plot(contestants, names, measure, LIGHT, changes)  # type: ignore[arg-type]
    crossed, test = (trace(figure, f"interval, {name}") for name in (CROSSED, TEST))
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
    # As in the table, and on the page's ground, so that no whisker strikes it through.
    assert (number.x, number.text.strip(), number.bgcolor) == (high, "50.000", LIGHT.ground)
    assert low < trace(figure, TEST).x[1] < high
    # A dot at the edge is whole: the browser hides those beyond it.
    assert [trace(figure, name).cliponaxis for name in (CROSSED, TEST)] == [False, False]


def test_whiskers_of_the_better_half_are_whole(contestants: list[Contestant]) -> None:
    measure = named("event_nll")
    contest = ranked(contestants, measure, "crossed")
    names = [method_name(one.key) for one in contest]
    best = contest[0].key
    changes = {(best, "crossed"): Interval(-0.5, -0.01), (best, "test"): Interval(-0.6, 0.0)}
    figure = dot_plot(contest, names, measure, LIGHT, changes)  # type: ignore[arg-type]
    low, high = figure.layout.xaxis.range
    for name in (CROSSED, TEST):
        left, right, _ = trace(figure, f"interval, {name}").x
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


NOTHING = made(NO_METHOD, (0.5, 0.5), (0.6, 0.6))
GOOD = made("temperature", (0.5, 0.3), (0.6, 0.45))
LUCKY = made("isotonic", (0.5, 0.4), (0.6, 0.42))
BAD = made("histogram", (0.5, 0.9), (0.6, 0.9))


def test_the_winner_is_named_with_its_lead() -> None:
    picks = picks_of([NOTHING, LUCKY, GOOD], "event_nll")
    assert words.conclusion(picks, 5, expert=False) == (
        "Temperature scaling does best on rows held out of the fit: NLL of the event 0.300,"
        " 0.200 better than doing nothing (0.500)."
    )
    assert words.conclusion(picks, 7, expert=True) == (
        "Temperature scaling wins by 7-fold cross-fitting: NLL of the event 0.300,"
        " 0.200 better than doing nothing (0.500)."
    )
    assert words.on_test(picks, expert=False, same_data=False) == (
        "On the test set, which had no part in that choice, it shows 0.450, 0.150 better than doing"
        " nothing (0.600). Picking on the test set would have found Isotonic regression with 0.420:"
        " 0.030 better, on the very rows that picked it, so its lead may be luck."
    )
    assert "0.030 better there, the bias of selecting" in words.on_test(
        picks, expert=True, same_data=False
    )
    assert "no part" not in words.on_test(picks, expert=False, same_data=True)


def test_the_same_pick_and_doing_nothing_are_said() -> None:
    same = picks_of([NOTHING, GOOD], "event_nll")
    said = words.on_test(same, expert=False, same_data=False)
    assert said.endswith("Picking on the test set would have found the same.")
    nothing = picks_of([NOTHING, BAD], "event_nll")
    assert words.conclusion(nothing, 5, expert=False) == (
        "No method does better than doing nothing on rows held out of the fit: NLL of the event"
        " 0.500."
    )
    assert "it shows 0.600. Picking" in words.on_test(nothing, expert=False, same_data=False)


def test_a_lead_that_cannot_be_read_off_is_not_called_one() -> None:
    close = made("isotonic", (0.5, 0.4), (0.6, 0.4499))
    said = words.on_test(picks_of([GOOD, close], "event_nll"), expert=False, same_data=False)
    assert said.endswith("Isotonic regression, no better in these digits.")
    level = made("temperature", (0.5, 0.4999), (0.6, 0.7))
    found = picks_of([NOTHING, level], "event_nll")
    assert words.conclusion(found, 5, expert=False) == (
        "Temperature scaling comes first on rows held out of the fit, but no better than doing"
        " nothing in these digits: NLL of the event 0.500."
    )
    said = words.on_test(found, expert=False, same_data=False)
    assert "0.700, 0.100 worse than doing nothing (0.600)" in said


def test_methods_that_are_level_in_the_digits_shown_are_named_together() -> None:
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
            f"{named_} do best on rows held out of the fit: NLL of the event 0.300 each, 0.200"
            " better than doing nothing (0.500)."
        )
    said = words.on_test(picks_of(every, "event_nll"), rivals, expert=False, same_data=False)
    assert "Temperature scaling, first in finer digits, shows 0.450, 0.150 better" in said
    alone = picks_of([NOTHING, LUCKY, GOOD], "event_nll")
    assert words.level_with(alone, [NOTHING, LUCKY, GOOD]) == []


def test_the_caption_names_all_that_are_written_alike() -> None:
    rival = made("beta", (0.5, 0.3004), (0.6, 0.4201))
    shown = [NOTHING, LUCKY, GOOD, rival]
    picks = picks_of(shown, "event_nll")
    said = words.dots_caption(picks, picks.measure, shown, intervals=False)
    assert said.startswith(
        "Temperature scaling and Beta calibration are best by the dots, Isotonic regression and"
        " Beta calibration by the diamonds. "
    )
    best = made("vector", (0.5, 0.2), (0.6, 0.3))
    twin = made("platt", (0.5, 0.2001), (0.6, 0.3))
    picks = picks_of([*shown, best, twin], "event_nll")
    said = words.dots_caption(picks, picks.measure, [*shown, best, twin], intervals=False)
    assert said.startswith("Vector scaling and Platt scaling are best by both. ")
    picks = picks_of([*shown, best], "event_nll")
    said = words.dots_caption(picks, picks.measure, [*shown, best], intervals=False)
    assert said.startswith("Vector scaling is best by both. ")


def test_a_lead_is_that_of_the_figures_shown() -> None:
    near = made("beta", (0.5834, 0.5216), (0.5918, 0.5402))
    rival = made("platt", (0.5834, 0.53), (0.5918, 0.5387))
    picks = picks_of([near, rival], "event_nll")
    said = words.conclusion(picks, 5, expert=False)
    assert said.endswith("0.522, 0.061 better than doing nothing (0.583).")
    said = words.on_test(picks, expert=False, same_data=False)
    assert "shows 0.540, 0.052 better than doing nothing (0.592)." in said
    assert "with 0.539: 0.001 better" in said


def test_sentences_of_real_contests_hold_their_numbers(contestants: list[Contestant]) -> None:
    for measure in METRICS:
        found = pick(contestants, measure)
        if found is None:
            said = words.dots_caption(None, measure, intervals=False)
            assert said.startswith(f"{measure.name} does not say which method is better.")
            continue
        said = words.conclusion(found, 5, expert=False)
        assert measure.name in said
        assert (method_name(found.winner.key) in said) == (found.winner.key != NO_METHOD)
        caption = words.dots_caption(found, measure, intervals=True)
        assert method_name(found.on_test.key) in caption
        assert "Whisker" in caption


def test_changes_are_written_with_sign_unit_and_word() -> None:
    change = Finding("ks_error", None, None, Interval(-0.05, 0.012), "no evidence")
    row = Comparison(named("ks_error"), 0.06, 0.04)
    assert words.change_words(change, row, 1_000) == (
        f"{MINUS}2.0 points",
        f"{MINUS}5.0 to +1.2 points",
        "\u25cb no evidence of change",
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


def test_costs_options_and_refusals_are_said() -> None:
    assert words.dear(21, 170, 5).startswith(
        "21 methods still to be fitted, each 6 times: about 3 m"
    )
    assert words.dear(1, 170, 5).startswith("1 method still to be fitted, 6 times: about 3 m")
    assert words.working_on("vector", 3, 5) == "Vector scaling: fold 3 of 5"
    assert words.working_on("vector", 0, 5) == "Vector scaling: on the whole calibration set"
    settings = Settings(TopR(1), "spline", (("n_knots", 9),))
    assert words.options_note(settings, ["spline"]).startswith("Spline takes part with the options")
    assert words.options_note(settings, ["vector"]).startswith("All methods")
    assert words.refusal("spline", "<b>").endswith("\\<b\\>")
    assert "1,000" in words.table_note(1_000, 2_000, 5, 0)
