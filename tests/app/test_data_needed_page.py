"""Data needed: nothing expensive unasked, the core's numbers, what is done is kept."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from streamlit.testing.v1 import AppTest

from calibcore import Split, TopR
from calibcore.calibrators import IsotonicCalibration, PlattScaling, TemperatureScaling
from calibcore.data import LogitSet
from calibcore.data_needed import LearningPlan, learning_curves, learning_sizes
from dashboard.headless import scene_of
from dashboard.readers import read
from dashboard.views.data_needed import results, words
from dashboard.widgets.long_work import RUN
from tests.app.pages import bodies, charts, check_charts, made_set, npz_of, open_upload, turn_to
from tests.app.test_maps_page import top_scores, traces_of, values
from tests.marks import first_and_long

GRAPHS = ["Learning", "Learning", "Learning"]


def small(n_rows: int = 400) -> tuple[LogitSet, LogitSet]:
    rng = np.random.default_rng(6)
    return made_set(rng, n_rows), made_set(rng, 500)


def opened(rows: tuple[LogitSet, LogitSet], *keys: str, **query: str) -> AppTest:
    page = open_upload(("small.npz", npz_of(*rows)), path="data-needed", draws="5", **query)
    page.multiselect(key="learners_seen").set_value(list(keys)).run()
    return page


def run(page: AppTest) -> AppTest:
    next(button for button in page.button if button.label == RUN).click().run()
    return page


@pytest.fixture(autouse=True)
def _all_is_expensive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.views.data_needed.page.ASK_FROM", 0.0)


def test_what_takes_a_few_seconds_is_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.views.data_needed.page.ASK_FROM", 8.0)
    page = opened(small(420), "temperature")
    check_charts(page, GRAPHS)
    assert words.NOTHING_YET not in bodies(page)


def test_nothing_expensive_starts_unasked_and_what_is_drawn_although_not_listed_is_said() -> None:
    page = opened(small(300), "temperature", method="platt")
    assert not page.exception
    assert charts(page) == []
    assert any(text.startswith(f"{words.WHAT} takes") for text in bodies(page))
    assert words.NOTHING_YET in bodies(page)
    text = words.with_chosen("platt")
    assert any(text in body for body in bodies(page))
    page.multiselect(key="learners_seen").set_value(["temperature", "platt"]).run()
    assert not any(text in body for body in bodies(page))


def test_the_curves_are_the_core_s() -> None:
    rows = small()
    page = run(opened(rows, "temperature", "platt", method="none"))
    assert not page.exception
    check_charts(page, GRAPHS)
    plan = LearningPlan(learning_sizes(rows[0]), 5)
    methods = {"none": None, "temperature": TemperatureScaling(), "platt": PlattScaling()}
    result = learning_curves(Split(*rows), TopR(1), methods, plan)
    assert words.conclusion(result, "event_nll", 500)[0] in [head.value for head in page.subheader]
    assert words.conclusion(result, "event_nll", 500)[1] in bodies(page)
    lines = traces_of(page, "NLL of the event")
    for name, key in (("Temperature", "temperature"), ("Platt", "platt"), ("Uncalibrated", "none")):
        assert_allclose(values(lines[name], "y"), result.curve(key).mean("event_nll"), rtol=1e-9)
    assert set(traces_of(page, "KS error")) == {"Uncalibrated", "Temperature", "Platt"}
    page.segmented_control(key="data_needed_error_seen").set_value("ks_error").run()
    assert words.conclusion(result, "ks_error", 500)[0] in [head.value for head in page.subheader]
    lines = traces_of(page, "KS error")
    assert_allclose(values(lines["Platt"], "y"), result.curve("platt").mean("ks_error"))


@pytest.mark.long
def test_another_method_is_added_to_what_is_kept() -> None:
    rows = small(300)
    page = run(opened(rows, "temperature", method="none"))
    check_charts(page, GRAPHS)
    page.multiselect(key="learners_seen").set_value(["temperature", "isotonic"]).run()
    assert words.STOPPED in bodies(page)
    assert set(traces_of(page, "Accuracy")) == {"Uncalibrated", "Temperature"}
    run(page)
    assert set(traces_of(page, "Accuracy")) == {"Uncalibrated", "Temperature", "Isotonic"}
    assert words.STOPPED not in bodies(page)
    plan = LearningPlan(learning_sizes(rows[0]), 5)
    result = learning_curves(Split(*rows), TopR(1), {"isotonic": IsotonicCalibration()}, plan)
    line = traces_of(page, "Accuracy")["Isotonic"]
    assert_allclose(values(line, "y"), result.curves[0].mean("accuracy"))
    turn_to(page, "maps")
    turn_to(page, "data-needed")
    check_charts(page, GRAPHS)
    assert not any(button.label == RUN for button in page.button)


def test_other_draws_are_other_work() -> None:
    page = run(opened(small(200), "platt", method="none"))
    check_charts(page, GRAPHS)
    page.segmented_control(key="draws").set_value(10).run()
    assert charts(page) == []
    assert [button.label for button in page.button if button.label == RUN] == [RUN]
    page.segmented_control(key="draws").set_value(5).run()
    check_charts(page, GRAPHS)


def test_the_chosen_calibrator_is_there_with_its_options() -> None:
    page = run(opened(small(120), "temperature", method="histogram", histogram_n_bins="3"))
    assert not page.exception
    assert "Histogram" in traces_of(page, "Accuracy")
    assert any("NLL of the event" in chart.alt for chart in charts(page))


def test_methods_of_every_kind_are_drawn() -> None:
    keys = ("venn_abers", "bbq", "pooled_isotonic", "structured_vector")
    page = run(opened(small(120), *keys))
    assert not page.exception
    check_charts(page, GRAPHS)
    named = {"Spline", "Venn-Abers", "BBQ", "IRM", "SVS", "Uncalibrated"}
    assert set(traces_of(page, "NLL of the event")) == named


def test_scores_alone_offer_score_maps() -> None:
    page = open_upload(("top.csv", top_scores(300)), path="data-needed", draws="5")
    assert not page.exception
    offered: Any = page.multiselect(key="score_learners_seen").options
    assert "Temperature scaling" not in offered
    assert "Spline" in offered
    run(page)
    assert not page.exception
    check_charts(page, GRAPHS)


def test_what_is_dropped_once_it_was_looked_for_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = scene_of(
        read("dropped.npz", npz_of(*small(301))), event=TopR(1), progress=lambda _: None
    )
    monkeypatch.setattr(results, "is_known", lambda *_: True)
    assert results.finished(scene, ["platt"], results.plan_of(scene, 5)).curves == ()


@pytest.mark.parametrize("method", first_and_long(["spline", "none"]))
def test_a_tiny_file_says_what_is_missing(method: str) -> None:
    rng = np.random.default_rng(2)
    tiny = made_set(rng, 8)
    data = npz_of(tiny, tiny)
    page = open_upload(("tiny.npz", data), path="data-needed", method=method)
    assert not page.exception
    assert words.too_small(8) in bodies(page)
    assert charts(page) == []


def test_no_calibrator_at_all_is_said() -> None:
    page = opened(small(), method="none")
    assert not page.exception
    assert words.NO_METHODS in bodies(page)
