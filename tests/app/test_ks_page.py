"""The page of the four graphs: events, sets, the cursor, the spline, and what cannot be shown."""

import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.cumulative import cumulative_curves
from calibcore.data import EventScores, LogitSet
from calibcore.events import OneClass, TopR, WithinTopR
from dashboard.settings import SETS
from dashboard.texts.numbers import percent, pp
from dashboard.views.ks_graphs import words
from dashboard.views.ks_graphs.page import WHICH
from tests.app.pages import (
    bodies,
    charts,
    check_charts,
    choose,
    made_set,
    npz_of,
    numbers,
    open_page,
    open_upload,
    outcomes,
)
from tests.marks import first_and_long
from tests.readers import files
from tests.sample_sets import sample_sets

GARMENTS = "three_garments"
GAP = ["Before", "After"]
PAIR = ["Before"] * 2 + ["After"] * 2
FOUR = GAP + PAIR + PAIR
FIT = ["Fit"]
MARKED = ":small[Lowest "


def sets(name: str = GARMENTS) -> dict[str, LogitSet]:
    return dict(zip(("calibration", "test"), sample_sets(name), strict=True))


def calibrated(event: TopR | WithinTopR | OneClass, rows: LogitSet) -> EventScores:
    """The event after the spline, from calibcore's parts."""
    seen, evaluated = outcomes(event, sets()["calibration"]), outcomes(event, rows)
    fitted = SplineCalibration().fit(seen.scores, seen.hits)
    return EventScores(fitted.predict(evaluated.scores), evaluated.hits)


def line(chart: Any, name: str, axis: str = "y") -> np.ndarray:
    (drawn,) = [one for one in json.loads(chart.spec)["data"] if one["name"] == name]
    return numbers(drawn[axis])


def check_totals(chart: Any, event: EventScores) -> None:
    """Expect the end of graph (a) to be the totals of an event."""
    curves = cumulative_curves(event.scores, event.hits)
    for name, total in (
        ("cumulative score", curves.cum_score),
        ("cumulative outcomes", curves.cum_hits),
    ):
        assert line(chart, name)[-1] == pytest.approx(total[-1], abs=1e-6)


def check_fine(page: AppTest, sides: list[str]) -> None:
    assert not page.exception
    assert not page.error
    check_charts(page, sides)


# Sets and events ----------------------------------------------------------------------------


def test_one_set_and_one_event_are_shown_at_first() -> None:
    page = open_page("ks", sample=GARMENTS)
    check_fine(page, FOUR + FIT)
    test = sets()["test"]
    events = outcomes(TopR(1), test), calibrated(TopR(1), test)
    for number, event in enumerate(events):
        check_totals(charts(page)[2 + 2 * number], event)
        curves = cumulative_curves(event.scores, event.hits)
        drawn = line(charts(page)[number], "cumulative gap")
        assert np.abs(drawn).max() == pytest.approx(curves.ks_error, abs=1e-6)
    offered = page.selectbox(key="second_seen").options  # the event that is shown is none of them
    assert "Top prediction" not in offered
    assert offered[:3] == [words.NO_SECOND, "Prediction 2", "Prediction 3"]
    choose(page, "rank", 2)
    assert "Prediction 2" not in page.selectbox(key="second_seen").options


def test_both_sets_are_shown_one_above_the_other() -> None:
    page = open_page("ks", sample=GARMENTS, both_sets="true")
    check_fine(page, FOUR + FOUR + FIT)
    for number, name in enumerate(SETS):
        rows = sets()[name]
        check_totals(charts(page)[10 * number + 2], outcomes(TopR(1), rows))
        check_totals(charts(page)[10 * number + 4], calibrated(TopR(1), rows))
    titles = [
        text
        for text in bodies(page)
        if text.startswith("Top prediction \u00b7 ") and "rows" in text
    ]
    assert [text.split(" \u00b7 ")[1].split(",")[0] for text in titles] == [
        f"{name} set" for name in SETS
    ]


@pytest.mark.parametrize("method", first_and_long(["temperature", "spline"]))
def test_a_second_event_is_set_below(method: str) -> None:
    page = open_page("ks", sample=GARMENTS, method=method)
    page.selectbox(key="second_seen").set_value("Class Shirt").run()
    check_fine(page, FOUR + FOUR + (FIT if method == "spline" else []))
    test = sets()["test"]
    event = OneClass(test.class_names.index("Shirt"))
    check_totals(charts(page)[12], outcomes(event, test))
    after = calibrated(event, test)
    if method == "temperature":
        calibration = sets()["calibration"]
        scaled = TemperatureScaling().fit(calibration.logits, calibration.labels)
        after = event.outcomes(scaled.predict_proba(test.logits), test.labels)
    check_totals(charts(page)[14], after)


def test_the_address_and_two_events_on_two_sets_choose_two_graphs_of_each() -> None:
    page = open_page("ks", sample=GARMENTS, graphs="ab")
    check_fine(page, GAP + PAIR + FIT)
    page = open_page("ks", sample=GARMENTS, both_sets="true", second="top_2")
    check_fine(page, (GAP + PAIR) * 4 + FIT)
    control = page.segmented_control(key="graphs_few_seen")
    assert control.options == list(WHICH.values())[1:]
    control.set_value("cd").run()
    check_fine(page, (GAP + PAIR) * 4 + FIT)
    shown = [chart for chart in charts(page) if ": (c)" in chart.alt or ": (d)" in chart.alt]
    assert len(shown) == 16


@pytest.mark.parametrize(
    "query",
    [
        {"both_sets": "true", "second": "top_2", "fractile": "30"},
        {"second": "Class Bag", "fractile": "70"},
    ],
    ids=str,
)
def test_a_page_of_graphs_is_light(query: dict[str, str]) -> None:
    page = open_page("ks", **query)
    assert not page.exception
    assert sum(len(chart.spec) for chart in charts(page)) < 285_000


# The cursor ---------------------------------------------------------------------------------


def test_the_cursor_marks_and_reads_off_the_same_rows() -> None:
    page = open_page("ks", sample=GARMENTS)
    page.select_slider(key="fractile").set_value("25").run()
    check_fine(page, FOUR + FIT)
    test = sets()["test"]
    texts = [text for text in bodies(page) if MARKED in text]
    for number, event in enumerate((outcomes(TopR(1), test), calibrated(TopR(1), test))):
        curves = cumulative_curves(event.scores, event.hits)
        k = next(k for k, end in enumerate(curves.fractile.tolist()) if end >= 0.25)
        n = test.n_samples
        assert f"score up to {percent(float(curves.score[k]), n)}; cumulative" in texts[number]
        assert f"gap {pp(float(curves.gap[k]), n, signed=True)}" in texts[number]
        first, second = charts(page)[2:6], charts(page)[6:10]
        (a, b), (c, d) = (half[2 * number : 2 * number + 2] for half in (first, second))
        totals = [curves.cum_score[k], curves.cum_hits[k]]
        assert line(a, "Cursor").tolist() == line(b, "Cursor").tolist() == totals
        assert line(a, "Cursor", "x")[0] == line(c, "Cursor", "x")[0] == curves.fractile[k]
        assert line(b, "Cursor", "x")[0] == curves.cum_score[k]
        assert line(d, "Cursor", "x")[0] == curves.score[k]
        assert line(charts(page)[number], "Cursor").tolist() == [curves.gap[k], 0]
    page.select_slider(key="fractile").set_value("Off").run()
    assert not [text for text in bodies(page) if MARKED in text]
    assert not [chart for chart in charts(page) if "Cursor" in chart.spec]


# The spline ---------------------------------------------------------------------------------


def test_the_spline_is_drawn_with_the_knots_of_the_panel() -> None:
    page = open_page("ks", sample=GARMENTS, spline_n_knots="9", spline_fit_to="hits")
    check_fine(page, FOUR + FIT)
    seen = outcomes(TopR(1), sets()["calibration"])
    fitted = SplineCalibration(n_knots=9, fit_to="hits").fit(seen.scores, seen.hits)
    assert line(charts(page)[-1], "knots").tolist() == fitted.knot_values.tolist()
    assert line(charts(page)[-1], "cumulative curve")[-1] == pytest.approx(
        seen.hits.mean(), abs=1e-6
    )
    assert any("9-knot spline" in text for text in bodies(page))


@pytest.mark.parametrize("method", first_and_long(["none", "isotonic", "per_rank"]))
def test_other_calibrators_have_no_spline_to_show(method: str) -> None:
    page = choose(open_page("ks", sample=GARMENTS), "method", method)
    check_fine(page, FOUR if method != "none" else ["Before"] * 5)
    assert words.FIT_HEADING not in {shown.label for shown in page.expander}


# What files leave out -----------------------------------------------------------------------


def test_scores_alone_have_no_second_event(rng: np.random.Generator) -> None:
    rows = np.stack([rng.integers(0, 3, 300), rng.beta(4, 1, 300)], axis=1)
    table = files.csv_of(rows, rng.integers(0, 3, 300), header="pred_label,confidence,true_label")
    page = open_upload(("scores.csv", table), path="ks")
    check_fine(page, FOUR + FIT)
    assert not [box for box in page.selectbox if box.key == "second_seen"]


def test_two_classes_have_no_within(rng: np.random.Generator) -> None:
    data = npz_of(made_set(rng, 200, 2), made_set(rng, 200, 2))
    page = open_upload(("two.npz", data), path="ks", both_sets="true", event="top")
    check_fine(page, FOUR + FOUR + FIT)
    offered = page.selectbox(key="second_seen").options
    assert offered[1] == "Prediction 2"
    assert not [name for name in offered if name.endswith(" set")]


def test_five_rows_say_which_graphs_are_missing(rng: np.random.Generator) -> None:
    data = npz_of(made_set(rng, 50), made_set(rng, 5))
    page = open_upload(("five.npz", data), path="ks", fractile="50", wording="expert")
    check_fine(page, GAP + PAIR + FIT)
    assert sum(words.TOO_FEW in text for text in bodies(page)) == 4


def test_an_event_that_the_calibrator_refuses_is_said(rng: np.random.Generator) -> None:
    data = npz_of(made_set(rng, 100), made_set(rng, 100))
    page = open_upload(
        ("some.npz", data),
        path="ks",
        method="pooled_isotonic",
        pooled_isotonic_normalised="false",
        second="within_2",
    )
    assert page.selectbox(key="method_seen").value == "pooled_isotonic"
    check_fine(page, FOUR)
    assert any("within" in info.value for info in page.info)
