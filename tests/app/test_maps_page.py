"""The page of calibration maps: what is drawn, what is moved by hand, and what is missing."""

import json
from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from streamlit.testing.v1 import AppTest

from calibcore import TopR, metrics
from calibcore.calibrators import FittedTemperature, SplineCalibration, TemperatureScaling
from calibcore.curves import knot_sweep
from calibcore.data import EventScores
from calibcore.fitting import prepare
from dashboard.texts.numbers import percent
from dashboard.views.maps import words
from tests.app.pages import (
    bodies,
    charts,
    check_charts,
    choose,
    go_on,
    html_of,
    made_set,
    npz_of,
    numbers,
    open_page,
    open_upload,
    top_1_file,
    turn_to,
)
from tests.sample_sets import sample_sets

GARMENTS = "three_garments"
AT_T = ["Temperature", "Temperature", "Temperature", "Hand", "Fitted"]
KNOTS = "knots"


def traces_of(page: AppTest, title: str, *, last: bool = False) -> dict[str, Any]:
    """Find the first or the last figure with a title: its lines by name."""
    specs = [json.loads(chart.spec) for chart in charts(page)]
    result = [spec for spec in specs if spec["layout"]["title"]["text"] == title][-last]
    return {line.get("name", ""): line for line in result["data"]}


def values(line: dict[str, Any], axis: str) -> np.ndarray:
    return numbers(line[axis])


def table(page: AppTest) -> str:
    return html_of(page, "Manual, T")[0]


def test_a_score_map_shows_its_curve_and_its_correction() -> None:
    page = open_page("maps", sample=GARMENTS)
    assert not page.exception
    check_charts(page, ["Maps", "Maps", "Maps", *AT_T])
    assert words.no_triangle("spline") in bodies(page)
    curves = traces_of(page, "Calibration map")
    assert {"Spline", "Beta", "Isotonic"} < set(curves)
    calibration, _ = sample_sets(GARMENTS)
    seen = TopR(1).outcomes(calibration.probabilities, calibration.labels)
    fitted = SplineCalibration().fit(seen.scores, seen.hits)
    line = curves["Spline"]
    expected = fitted.predict(np.clip(values(line, "x").astype(np.float64), 0, 1))
    assert_allclose(values(line, "y"), expected, atol=2e-4)
    moved = traces_of(page, "Change in score")["Spline"]
    difference = fitted.predict(values(moved, "x").astype(np.float64)) - values(moved, "x")
    assert_allclose(values(moved, "y"), difference, atol=2e-4)


def test_a_vector_map_shows_a_cloud_and_three_classes_a_triangle() -> None:
    page = open_page("maps", sample=GARMENTS, method="temperature")
    assert not page.exception
    check_charts(page, ["Maps", "Maps", "Triangle", "Triangle", *AT_T])
    _, test = sample_sets(GARMENTS)
    cloud = traces_of(page, "Scores before and after")
    n_shown = sum(values(cloud[name], "x").size for name in ("correct", "wrong"))
    assert 900 < n_shown <= 1_000
    rows = traces_of(page, "Rows of the test set")
    assert values(rows["before"], "x").size == 120
    assert not any("adjusts only the selected event" in text for text in bodies(page))
    assert test.n_classes == 3


def test_the_temperature_is_moved_by_hand_and_everything_follows() -> None:
    page = open_page("maps", sample=GARMENTS)
    calibration, test = sample_sets(GARMENTS)
    fitted = TemperatureScaling().fit(calibration.logits, calibration.labels).temperature
    for chosen in (1.0, 2.51, 0.501):
        if chosen != 1.0:
            page.select_slider(key="hand_t").set_value(chosen).run()
        assert not page.exception
        assert any("mean entropy and NLL are equal at the fitted T" in t for t in bodies(page))
        probabilities = FittedTemperature(chosen).predict_proba(test.logits)
        outcomes = TopR(1).outcomes(probabilities, test.labels)
        nll, error = metrics.nll(probabilities, test.labels), metrics.ece(*_pair(outcomes))
        shown = table(page)
        for text in (
            f"Manual, T = {chosen:.3g}",
            f"Fitted, T = {fitted:.3g}",
            f"{nll:.3f}",
            percent(error, test.n_samples),
        ):
            assert text in shown
        lines = traces_of(page, "NLL by temperature")
        mark = lines[f"manual {chosen:.3g}"]
        assert_allclose([mark["x"][0], mark["y"][0]], [chosen, nll], rtol=1e-6)
        assert_allclose(lines[f"fitted {fitted:.3g}"]["x"][0], fitted, rtol=1e-12)
        mark = traces_of(page, "ECE by temperature")[f"manual {chosen:.3g}"]
        assert_allclose(mark["y"][0], error, rtol=1e-6)
        alts = [chart.alt for chart in charts(page)]
        assert sum(alt.startswith(("Hand", "Fitted")) for alt in alts) == 2


def _pair(outcomes: EventScores) -> tuple[np.ndarray, np.ndarray]:
    return outcomes.scores, outcomes.hits


def test_knots_are_moved_by_hand() -> None:
    page = open_page("maps", sample=GARMENTS, by_hand=KNOTS, spline_n_knots="9")
    check_charts(page, ["Maps", "Maps", "Maps", "Knots", "Knots", "Knots", "Knots"])
    fit_on, evaluate_on = (prepare(rows, TopR(1)).event for rows in sample_sets(GARMENTS))
    swept = knot_sweep(fit_on, evaluate_on, SplineCalibration(constrained=True), range(3, 31))
    lines = traces_of(page, "KS error by number of knots")
    assert values(lines["Test set"], "y").tolist() == swept.test_ks.tolist()
    assert values(lines["Calib. set"], "y").tolist() == swept.calibration_ks.tolist()
    assert values(lines["chosen 9"], "x").tolist() == [9, 9]
    page.slider(key="hand_knots").set_value(14).run()
    assert not page.exception
    place = swept.place(14)
    shown = percent(float(swept.test_ks[place]), 3_000)
    assert any("with 14 knots" in text and shown in text for text in bodies(page))
    assert "14 knots" in traces_of(page, "Calibration map", last=True)


def test_two_classes_and_nothing_chosen_are_drawn() -> None:
    page = open_page("maps", sample="crash_survival", event="class", method="histogram")
    for method in ("histogram", "none"):
        if method == "none":
            choose(page, "method", method)
        assert not page.exception
        check_charts(page, ["Maps", "Maps", "Maps", *AT_T])


def test_many_classes_are_drawn_and_a_lift_shows_the_map_inside() -> None:
    page = open_page("maps", sample="city_country_100", event="class", method="one_vs_rest")
    assert not go_on(page).exception
    check_charts(page, ["Maps", "Maps", *AT_T])
    assert "One vs rest" in traces_of(page, "Calibration map")
    assert any("before each row is normalised" in text for text in bodies(page))


def top_scores(n_rows: int) -> bytes:
    """Write a file of predictions with their confidence and no other class."""
    rng = np.random.default_rng(1)
    scores = rng.uniform(0.5, 1, n_rows)
    return top_1_file(scores, rng.random(n_rows) < scores)


def test_scores_alone_say_what_is_missing() -> None:
    page = open_upload(("alone.csv", top_scores(300)), path="maps")
    assert not page.exception
    assert words.ONLY_SCORES in bodies(page)
    check_charts(page, ["Maps", "Maps", "Maps"])
    page.segmented_control(key="by_hand_seen").set_value("knots").run()
    assert not page.exception
    check_charts(page, ["Maps", "Maps", "Maps", "Knots", "Knots", "Knots", "Knots"])


def test_eight_rows_are_enough_to_open_the_page() -> None:
    tiny = made_set(np.random.default_rng(2), 8)
    file = "tiny.npz", npz_of(tiny, tiny)
    page = open_upload(file, path="maps", by_hand=KNOTS, hand_knots="20")
    assert any("allow at most 8 knots" in text for text in bodies(page))
    for by_hand in (KNOTS, "temperature"):
        page.segmented_control(key="by_hand_seen").set_value(by_hand).run()
        assert not page.exception
        assert not page.error


def test_another_page_and_back_keeps_what_was_set() -> None:
    page = open_page("maps", sample=GARMENTS)
    page.select_slider(key="hand_t").set_value(3.16).run()
    turn_to(page, "overview")
    turn_to(page, "maps")
    assert "Manual, T = 3.16" in table(page)
    choose(page, "method", "platt")
    assert not page.exception
    assert "Platt" in traces_of(page, "Calibration map")


# What was fitted ------------------------------------------------------------------------------


def test_what_was_fitted_is_shown_of_each_step_and_of_the_chosen_class() -> None:
    page = open_page("maps", sample=GARMENTS, method="temperature_isotonic")
    texts = bodies(page)
    assert any(text.startswith(":small[Fitted on 1,500 rows of the calibration") for text in texts)
    assert any(text.startswith("T = ") for text in texts)
    before = next(text for text in texts if text.endswith("steps, jumps between them."))
    page.selectbox(key="fitted_class").set_value(2).run()
    assert not page.exception
    assert before not in bodies(page)


def test_the_numbers_of_a_spline_of_outcomes_say_so() -> None:
    """Of what is usual, the snapshots say it."""
    text = " ".join(bodies(open_page("maps", method="spline", spline_fit_to="hits")))
    assert "Values: cumulative outcomes." in text
