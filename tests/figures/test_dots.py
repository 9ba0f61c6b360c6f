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
from calibcore.comparison import Contestant, Standing, pick, ranked
from calibcore.data import LogitSet
from calibcore.evaluation import Comparison
from calibcore.events import TopR
from calibcore.inference import Interval
from calibcore.metrics import METRICS, Options, measure_by_key
from calibcore.splits import Split, deal_folds
from dashboard.figures import DARK, LIGHT
from dashboard.figures.comparison import CROSSED, TEST, _axis, dot_plot
from dashboard.settings import NO_METHOD
from dashboard.texts import comparison as words
from dashboard.texts.measures import spelled_out
from dashboard.texts.methods import method_name
from tests.figures.conftest import Keep
from tests.figures.small_results import Figure, texts, trace

CALIBRATORS: dict[str, ScoreMap | VectorMap | None] = {
    NO_METHOD: None,
    "temperature": TemperatureScaling(),
    "isotonic": IsotonicCalibration(),
    "histogram": HistogramBinning(),
    "spline": SplineCalibration(),
}


def test_ticks_of_a_narrow_axis_are_told_apart() -> None:
    axis = _axis(measure_by_key("event_nll"), (0.3846, 0.3854), LIGHT)
    assert axis["tickformat"] == ".5~f"  # steps of 0.00008 and more
    assert _axis(measure_by_key("event_nll"), (0.2, 0.5), LIGHT)["tickformat"] == ".3~f"


@pytest.fixture(scope="module")
def contestants() -> list[Contestant]:
    rng = np.random.default_rng(11)

    def figure_of(n_samples: int) -> LogitSet:
        logits = 5 * rng.normal(size=(n_samples, 4))
        return LogitSet(logits, (logits / 2 + rng.gumbel(size=logits.shape)).argmax(axis=1))

    split = Split(figure_of(600), figure_of(900))
    fold = deal_folds(split.calibration)
    results = []
    for key, made in CALIBRATORS.items():
        crossed = audit(
            Split(split.calibration, split.calibration, fold=fold), event=TopR(1), calibrator=made
        )
        plain = audit(split, event=TopR(1), calibrator=made)
        standings = (
            Standing.of(crossed.test, split.calibration, TopR(1), crossed.by_fold, Options()),
            Standing.of(plain.test, split.test, TopR(1), plain.of_test, Options()),
        )
        results.append(Contestant(key, *standings))
    return results


def figure_of(contest: list[Contestant], key: str) -> Figure:
    names = [method_name(one.key) for one in contest]
    return dot_plot(contest, names, measure_by_key(key), LIGHT)


# The figure ---------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["event_nll", "ks_error", "auroc", "calibration_slope"])
def test_the_dots_are_the_values(contestants: list[Contestant], key: str, keep: Keep) -> None:
    measure = measure_by_key(key)
    contest = ranked(contestants, measure, "crossed")
    figure = figure_of(contest, key)
    keep(f"dots_{key}", figure)
    crossed, test = trace(figure, CROSSED), trace(figure, TEST)
    assert list(crossed.x) == [one.crossed.compare(measure.key).after for one in contest]
    assert list(test.x) == [one.test.compare(measure.key).after for one in contest]
    # Each mark keeps to its row, the dot above the diamond.
    for row, (above, below) in enumerate(zip(crossed.y, test.y, strict=True)):
        assert row - 0.5 < above < row < below < row + 0.5
    assert (crossed.marker.symbol, test.marker.symbol) == ("circle", "diamond-open")
    names = [text.replace("<br>", " ") for text in figure.layout.yaxis.ticktext]
    assert names == [method_name(one.key) for one in contest]
    assert list(figure.layout.yaxis.range) == [4.5, -0.5]


def test_lines_stand_at_the_uncalibrated_values(contestants: list[Contestant]) -> None:
    figure, measure = figure_of(contestants, "event_nll"), measure_by_key("event_nll")
    nothing = contestants[0]
    for name, standing in ((CROSSED, nothing.crossed), (TEST, nothing.test)):
        line = trace(figure, f"uncalibrated, {name}")
        assert list(line.x) == [standing.compare(measure.key).before] * 2
    dashes = [trace(figure, f"uncalibrated, {name}").line.dash for name in (CROSSED, TEST)]
    assert dashes == ["solid", "dash"]


def test_error_bars_are_counted_from_the_line(contestants: list[Contestant]) -> None:
    measure = measure_by_key("event_nll")
    names = [method_name(one.key) for one in contestants]
    changes = {
        ("temperature", "crossed"): Interval(-0.3, -0.1),
        ("spline", "test"): Interval(-0.2, 0.1),
        ("isotonic", "test"): Interval(np.nan, np.nan),
    }
    figure = dot_plot(contestants, names, measure, LIGHT, changes)  # type: ignore[arg-type]
    crossed, test = (trace(figure, f"95% CI, {name}") for name in (CROSSED, TEST))
    start = contestants[0].crossed.compare(measure.key).before
    assert start is not None
    assert list(crossed.x[:2]) == [start - 0.3, start - 0.1]
    assert crossed.y[0] == trace(figure, CROSSED).y[1]
    start = contestants[0].test.compare(measure.key).before
    assert start is not None
    assert list(test.x[:2]) == [start - 0.2, start + 0.1]
    assert len(test.x) == 3


def test_a_value_far_outside_stands_at_the_edge_with_its_number(
    contestants: list[Contestant],
) -> None:
    measure = measure_by_key("event_nll")
    far = contestants[1]
    rows = tuple(
        Comparison(row.measure, row.before, 50.0) if row.measure == measure else row
        for row in far.crossed.comparisons
    )
    moved = Contestant(far.key, replace(far.crossed, comparisons=rows), far.test)
    figure = figure_of([contestants[0], moved, *contestants[2:]], "event_nll")
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
    measure = measure_by_key("event_nll")
    contest = ranked(contestants, measure, "crossed")
    names = [method_name(one.key) for one in contest]
    best = contest[0].key
    changes = {(best, "crossed"): Interval(-0.5, -0.01), (best, "test"): Interval(-0.6, 0.0)}
    figure = dot_plot(contest, names, measure, LIGHT, changes)  # type: ignore[arg-type]
    low, high = figure.layout.xaxis.range
    for name in (CROSSED, TEST):
        left, right, _ = trace(figure, f"95% CI, {name}").x
        assert low < left < right < high
    without = figure_of(contest, "event_nll").layout.xaxis.range
    assert low < without[0]


def test_the_title_stays_above_the_rows_however_many(contestants: list[Contestant]) -> None:
    for contest in (contestants[:2], contestants * 5):
        layout = figure_of(contest, "ks_error").layout
        top = (1 - layout.title.y) * layout.height
        assert 0 < top < layout.margin.t - 13


def test_undefined_values_leave_a_row_empty(contestants: list[Contestant]) -> None:
    figure = figure_of(contestants, "nll")
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
    assert figure_of(contestants, key).layout.xaxis.title.text == words_said


def test_names_cannot_be_markup(contestants: list[Contestant]) -> None:
    names = ["<b>a</b>", "$x$", "&", "d", "e"]
    for palette in (LIGHT, DARK):
        figure = dot_plot(contestants, names, measure_by_key("event_nll"), palette)
        assert not [text for text in texts(figure) if "<b>a" in text or "$" in text]
        assert len(json.dumps(json.loads(figure.to_json()))) < 30_000


# The sentences ------------------------------------------------------------------------------


def test_sentences_of_real_comparisons_hold_their_numbers(contestants: list[Contestant]) -> None:
    for measure in METRICS:
        result = pick(contestants, measure)
        caption = words.dots_caption(measure, contestants, ranks=result is not None, intervals=True)
        assert caption.endswith("Error bars: 95% CI of the change.")
        if result is None:
            assert caption.startswith(f"{measure.name} does not rank calibrators.")
            continue
        text = words.conclusion(result, 5, expert=False)
        assert spelled_out(measure.name) in text
        improves = not text.startswith("No calibrator improves")
        assert (method_name(result.winner.key) in text) == improves
        test = words.on_test(result, contestants, same_data=False)
        assert test.startswith("Test set: ")
        assert test.endswith(("there.", "on the test set is biased."))
