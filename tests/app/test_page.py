"""The page on the samples, run without a browser: every number on it is calibcore's."""

import re

import pytest

from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.cumulative import ks_error
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.metrics import METRICS, EventMeasure, Options, accuracy, ece
from calibcore.tally import tally
from dashboard import stage
from dashboard.compute.cache import forget
from dashboard.samples import samples
from dashboard.scene import Scene
from dashboard.texts.numbers import MINUS, percent
from dashboard.texts.verdict import FITTED_HERE
from tests.app.pages import (
    METHODS,
    Event,
    before_after,
    bodies,
    check_page,
    choose,
    ks_before_after,
    measure_cells,
    open_page,
    outcomes,
    tile,
)
from tests.marks import first_and_long
from tests.sample_sets import sample_sets

FIRST = samples()[0].name


# Every sample, event and method -------------------------------------------------------------


def choices(name: str) -> list[tuple[Event, list[tuple[str, object]]]]:
    """Events of a sample, each with the clicks that lead to it from the one before."""
    names = sample_sets(name)[1].class_names
    last = len(names) - 1
    results: list[tuple[Event, list[tuple[str, object]]]] = [(TopR(1), [("event", "top")])]
    if len(names) > 2:
        results += [(TopR(2), [("rank", 2)]), (WithinTopR(2), [("event", "within")])]
    return [*results, (OneClass(last), [("event", "class"), ("class", names[last])])]


@pytest.mark.parametrize(
    "name", first_and_long(["three_garments", FIRST, "city_country_100", "crash_survival"])
)
def test_every_sample_shows_calibcores_numbers(name: str) -> None:
    calibration, test = sample_sets(name)
    page = open_page(sample=name)
    for event, clicks in choices(name):
        for key, value in clicks:
            choose(page, key, value)
        for method in METHODS:
            if page.selectbox(key="method_seen").value != method:
                choose(page, "method", method)
            check_page(page)
            both = ks_before_after(calibration, test, event, method)
            assert tile(page, "KS error") == before_after(*both, test.n_samples), (event, method)
    forget()


def test_the_other_tiles_and_the_table_show_calibcores_numbers() -> None:
    calibration, test = sample_sets(FIRST)
    page = choose(open_page(measures="all"), "method", "temperature")
    fitted = TemperatureScaling().fit(calibration.logits, calibration.labels)
    calibrated = fitted.predict_proba(test.logits)
    before, after = outcomes(TopR(1), test), TopR(1).outcomes(calibrated, test.labels)
    gaps = [ece(side.scores, side.hits, n_bins=15) for side in (before, after)]
    assert tile(page, "ECE, equal-width bins") == before_after(gaps[0], gaps[1], test.n_samples)
    right = accuracy(test.probabilities, test.labels)
    assert tile(page, "Accuracy") == percent(right, test.n_samples)
    evaluated = measure_cells(page)
    for measure in METRICS:
        sides = {"Before": (before, test.probabilities), "After": (after, calibrated)}
        for column, (event, probabilities) in sides.items():
            options = Options(n_bins=15)
            if isinstance(measure, EventMeasure):
                value = float(measure.compute(tally(event.scores, event.hits), options))
            else:
                value = measure.after(test.probabilities, probabilities, test.labels, options)
            wanted = {
                "share": percent(value, test.n_samples),
                "rows": f"{value:,.0f}",
                "small": f"{round(value, 5) + 0:.5f}".replace("-", MINUS),
            }.get(measure.unit, f"{value:.3f}".replace("-", MINUS))
            assert evaluated.loc[measure.name, column] == wanted
    sentences = " ".join(bodies(page))
    assert f"T = {fitted.temperature:.3g}" in sentences
    assert "Before: overconfident" in sentences


def test_switching_the_sample_keeps_what_fits_and_drops_what_does_not() -> None:
    page = choose(open_page(sample="city_country_100"), "rank", 50)
    check_page(choose(page, "sample", "crash_survival"))
    page = choose(choose(page, "event", "class"), "class", "died")
    check_page(choose(page, "sample", FIRST))
    page = choose(choose(page, "event", "within"), "within", 9)
    check_page(choose(page, "sample", "three_garments"))
    check_page(choose(page, "sample", "crash_survival"))


# Switches and the address -------------------------------------------------------------------


def test_the_set_switch_says_that_the_rows_were_fitted_on() -> None:
    calibration, test = sample_sets(FIRST)
    page = open_page()
    assert FITTED_HERE not in bodies(page)
    assert f":small[Test set, {test.n_samples:,} rows]" in bodies(page)
    choose(page, "set", "calibration")
    check_page(page)
    assert FITTED_HERE in bodies(page)
    assert f":small[Calibration set, {calibration.n_samples:,} rows]" in bodies(page)
    both = ks_before_after(calibration, calibration, TopR(1), "spline")
    assert tile(page, "KS error") == before_after(*both, calibration.n_samples)
    assert not any("test set" in text for text in bodies(page) if "KS error" in text)
    choose(page, "set", "test")
    assert FITTED_HERE not in bodies(page)


def test_the_address_sets_everything() -> None:
    name = "three_garments"
    page = open_page(
        sample=name,
        event="class",
        method="temperature",
        bins="20",
        set="calibration",
        **{"class": "Shirt"},
    )
    check_page(page)
    calibration, _ = sample_sets(name)
    k = calibration.class_names.index("Shirt")
    both = ks_before_after(calibration, calibration, OneClass(k), "temperature")
    assert tile(page, "KS error") == before_after(*both, calibration.n_samples)
    event = outcomes(OneClass(k), calibration)
    binned = percent(ece(event.scores, event.hits, n_bins=20), calibration.n_samples)
    assert measure_cells(page).loc["ECE, equal-width bins", "Before"] == binned


def test_the_address_sets_the_splines_options() -> None:
    calibration, test = sample_sets("three_garments")
    page = open_page(
        sample="three_garments",
        spline_n_knots="10",
        spline_runout="cubic",
        spline_fit_to="hits",
        spline_constrained="true",
    )
    check_page(page)
    seen, evaluated = outcomes(TopR(1), calibration), outcomes(TopR(1), test)
    spline = SplineCalibration(n_knots=10, runout="cubic", fit_to="hits", constrained=True)
    after = spline.fit(seen.scores, seen.hits).predict(evaluated.scores)
    both = ks_error(evaluated.scores, evaluated.hits), ks_error(after, evaluated.hits)
    assert tile(page, "KS error") == before_after(*both, test.n_samples)


def test_many_rows_get_fewer_resamples_and_the_note_says_how_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dashboard.compute.uncertainty.MOST_DRAWN", 3000 * 120)
    page = open_page(sample="three_garments", resamples="1000", measures="short")
    assert any("120 resamples" in text for text in bodies(page))


def test_a_run_that_meets_the_end_of_the_one_before_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepare, runs = stage.scene_for, list[str]()
    changing = compile(
        "for key in held:\n    held[key + 1] = 0",
        "streamlit/runtime/state/session_state.py",
        "exec",
    )

    def meet(page: str, *, first: bool) -> Scene | None:
        runs.append(page)
        if len(runs) == 1:
            exec(changing, {"held": {0: 0}})  # noqa: S102 - as Streamlit's own code fails
        return prepare(page, first=first)

    monkeypatch.setattr(stage, "scene_for", meet)
    page = open_page()
    check_page(page)
    assert len(runs) == 2
    assert page.subheader


def test_a_fault_of_our_own_of_that_kind_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(page: str, *, first: bool) -> Scene | None:
        held = {page: first}
        for key in held:
            held[f"{key} again"] = first
        return None

    monkeypatch.setattr(stage, "scene_for", fail)
    (fault,) = open_page().exception  # in words of Streamlit, where it hides details
    assert re.search("changed size during iteration|encountered an error", fault.value)
