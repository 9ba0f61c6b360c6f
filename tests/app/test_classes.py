"""Every class, power and the number of bins on the page: the numbers are calibcore's.

Pictures are tested by what they draw, the table by what it says.
"""

import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore.auditing import audit
from calibcore.calibrators import TemperatureScaling
from calibcore.events import TopR
from calibcore.inference import ClassScreen, screen_classes
from calibcore.metrics import ece
from calibcore.reliability import binned_reliability
from calibcore.splits import Split
from dashboard.texts.badges import ranges_sentence
from dashboard.texts.classes import (
    HEADING,
    NO_CLASSES,
    NO_CLASSES_LEFT,
    TWO_CLASSES,
    opened,
    page_label,
)
from dashboard.texts.numbers import escape_markdown, p_words, percent
from dashboard.texts.power import power_sentence
from dashboard.texts.reliability import ranges_help
from dashboard.views.reliability import classes
from tests.app.pages import (
    bodies,
    charts,
    check_charts,
    choose,
    html_of,
    made_set,
    npz_of,
    numbers,
    open_page,
    open_upload,
    outcomes,
)
from tests.figures.small_results import side_of
from tests.marks import first_and_long
from tests.sample_sets import sample_sets

CITIES, GARMENTS = "city_country_100", "three_garments"
SPACE, DASH = "\u00a0", "\u2013"

_LINE = re.compile(r"<tr><th scope='row'>(.*?)</th>(.*?)</tr>")
_CELL = re.compile(r"<td>(.*?)</td>")


def table(page: AppTest) -> str:
    """Give the table of classes as it is sent; nothing where there is none."""
    return "".join(html_of(page, "scope='col'>KS error before</th>"))


def lines(page: AppTest) -> dict[str, list[str]]:
    """Read the table: the cells of each class, tags left out."""
    return {
        unescape(name): [unescape(re.sub("<[^>]*>", "|", cell)) for cell in _CELL.findall(cells)]
        for name, cells in _LINE.findall(table(page))
    }


def open_table(title: str, method: str = "temperature", **query: str) -> AppTest:
    return open_page("reliability", sample=title, method=method, classes_as="table", **query)


def both_screens(name: str) -> tuple[ClassScreen, ClassScreen, tuple[str, ...]]:
    """Screen a sample's test set before and after temperature scaling."""
    calibration, test = sample_sets(name)
    fitted = TemperatureScaling().fit(calibration.logits, calibration.labels)
    before = screen_classes(test.probabilities, test.labels)
    after = screen_classes(fitted.predict_proba(test.logits), test.labels)
    # Off before, with a mean gap that explains it, of which more than half is left.
    left = [
        bool(p < 0.05 and abs(was) >= error / 2 and was * now > 0 and abs(now) > abs(was) / 2)
        for p, error, was, now in zip(
            before.adjusted,
            before.ks_error,
            before.mean_score - before.frequency,
            after.mean_score - after.frequency,
            strict=True,
        )
    ]
    return before, replace(after, remains=np.array(left)), test.class_names


def cell(screen: ClassScreen, k: int) -> str:
    """Write one side as the table should, for a sample with two decimals."""
    value, adjusted = f"{100 * screen.ks_error[k]:.2f}%", screen.adjusted[k]
    mean_gap = screen.mean_score[k] - screen.frequency[k]
    badge = "\u25cb not detected"
    if adjusted < 0.05 or screen.remains[k]:
        still = "" if adjusted < 0.05 else "still "
        high = mean_gap > 0
        badge = f"\u25b2 {still}scores too high" if high else f"\u25bc {still}scores too low"
        if not screen.remains[k] and abs(mean_gap) < screen.ks_error[k] / 2:
            badge = "\u25c6 some too high, others too low"
    return f"{value}||{badge}|, {p_words(float(adjusted))}|"


def test_the_worst_come_first_with_calibcores_numbers() -> None:
    page = open_table(CITIES)
    assert not page.exception
    assert not page.error
    before, after, names = both_screens(CITIES)
    shown = lines(page)
    assert list(shown) == [names[k] for k in before.order[:50]]
    for k in before.order[:50]:
        first, second, rows, mean_score, observed = shown[names[k]]
        assert (first, second) == (cell(before, k), cell(after, k))
        assert rows == f"{before.rows[k]:,}"
        assert observed == f"{100 * before.frequency[k]:.2f}%"
        mean = [f"{100 * screen.mean_score[k]:.2f}" for screen in (before, after)]
        both = mean[0] if mean[0] == mean[1] else f"{mean[0]} \u2192 {mean[1]}"
        assert mean_score == f"{both}%"
    off = [int(screen.off().sum()) for screen in (before, after)]
    assert min(off) > 1
    sentence = (
        f"{off[0]} of 100 classes are miscalibrated before calibration, {off[1]} after (test set,"
        " adjusted for 100 tests)."
    )
    assert sentence in bodies(page)


def test_the_other_order_and_the_other_page() -> None:
    page = open_table(CITIES, classes_by="after")
    _, after, names = both_screens(CITIES)
    assert list(lines(page)) == [names[k] for k in after.order[:50]]
    page.number_input(key="classes_page").set_value(2).run()
    assert list(lines(page)) == [names[k] for k in after.order[50:]]


def test_neither_event_nor_bins_change_the_classes() -> None:
    page = open_table(GARMENTS)
    before = table(page)
    assert before
    choose(page, "event", "class")
    assert table(page) == before
    page.number_input(key="bins").set_value(40).run()
    assert table(page) == before
    choose(page, "set", "calibration")
    assert table(page) != before
    assert any("(calibration set, adjusted for 3 tests)" in text for text in bodies(page))


def test_a_score_map_leaves_a_dash_with_its_reason() -> None:
    page = open_table(GARMENTS, method="spline")
    shown = lines(page)
    assert len(shown) == 3
    assert {after for _, after, *_ in shown.values()} == {DASH}
    assert any(NO_CLASSES_LEFT in text for text in bodies(page))
    assert any("before calibration (test set" in text for text in bodies(page))
    choose(page, "method", "temperature")
    assert DASH not in {after for _, after, *_ in lines(page).values()}
    assert not any(NO_CLASSES_LEFT in text for text in bodies(page))


@pytest.mark.parametrize("form", first_and_long(["pictures", "table"]))
def test_two_classes_or_none_say_why_there_is_nothing_to_compare(form: str) -> None:
    page = open_page("reliability", sample="crash_survival", classes_as=form)
    assert {HEADING, TWO_CLASSES} <= set(bodies(page))
    assert "Choose" not in TWO_CLASSES  # it is shown with a class chosen too
    assert not table(page)
    assert not pictures(page)
    rows = b"".join(b"%d,%d,0.%d\n" % (i % 2, i % 3, i % 60 + 40) for i in range(60))
    scored = b"true_label,pred_label,confidence\n" + rows
    page = open_upload(("scores.csv", scored), path="reliability", classes_as=form)
    assert not page.exception
    assert {HEADING, NO_CLASSES} <= set(bodies(page))
    check_charts(page, ["Before", "After", "Before", "After"])


def test_large_tables_are_looked_at_when_asked(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classes, "QUICK", 1_000)
    calibration, test = made_set(rng, 100, 14), made_set(rng, 300, 14)
    page = open_upload(("m.npz", npz_of(calibration, test)), path="reliability")
    assert HEADING in bodies(page)
    assert not pictures(page)
    asked = page.toggle(key="all_classes")
    assert "300 rows of 14 classes" in asked.help
    asked.set_value(True).run()
    assert len(pictures(page)) == 12


# Pictures -----------------------------------------------------------------------------------


def pictures(page: AppTest) -> dict[str, Any]:
    """Give the chart of each class by its name."""
    text = ": reliability plot against the other classes. "
    return {chart.alt.split(text)[0]: chart for chart in charts(page) if text in chart.alt}


def traces_of(chart: Any, name: str) -> list[tuple[list[float], list[float]]]:
    """Give places and heights of what has this name, before and after."""
    traces = [one for one in json.loads(chart.spec)["data"] if one["name"] == name]
    return [(numbers(one["x"]).tolist(), numbers(one["y"]).tolist()) for one in traces]


def test_pictures_are_the_bins_of_each_class_worst_first() -> None:
    page = open_page("reliability", sample=CITIES, method="temperature", bins="7", classes_page="2")
    assert not page.exception
    before, after, names = both_screens(CITIES)
    order = before.order[12:24].tolist()
    shown = pictures(page)
    assert list(shown) == [names[k] for k in order]
    calibration, test = sample_sets(CITIES)
    fitted = TemperatureScaling().fit(calibration.logits, calibration.labels)
    tables = test.probabilities, fitted.predict_proba(test.logits)
    for k in order:
        points = traces_of(shown[names[k]], "observed frequency")
        assert len(points) == 2
        for table_of, (x, y) in zip(tables, points, strict=True):
            bins = binned_reliability(table_of[:, k], test.labels == k).bins
            assert x == pytest.approx(bins.mean_score[bins.counts > 0].tolist(), abs=1e-12)
            assert y == bins.frequency[bins.counts > 0].tolist()
        errors = [f"{100 * screen.ks_error[k]:.2f}" for screen in (before, after)]
        assert f"KS error {errors[0]} \u2192 {errors[1]}%" in shown[names[k]].alt
    assert [button.label for button in page.main.button] == [
        f"**{escape_markdown(names[k])}**" for k in order
    ]


def test_a_name_opens_its_class_as_the_event() -> None:
    page = open_page("reliability", sample=GARMENTS, method="temperature")
    name = list(pictures(page))[1]
    test = sample_sets(GARMENTS)[1]
    k = test.class_names.index(name)
    page.button(key=f"open_{k}").click().run()
    assert not page.exception
    assert page.segmented_control(key="event_seen").value == "class"
    assert page.selectbox(key="class").value == name
    n_hits, n_rows = int((test.labels == k).sum()), test.n_samples
    often = f"{n_hits:,} of {n_rows:,} ({percent(n_hits / n_rows, n_rows)})"
    sentence = escape_markdown(f"Class {name}: {often}")
    assert any(f"\u00b7 {sentence} \u00b7" in text for text in bodies(page))
    assert opened(name) in [toast.value for toast in page.toast]
    # The picture of the class and the large diagram are the same bins.
    (before,) = traces_of(charts(page)[0], "mean score")
    assert traces_of(pictures(page)[name], "observed frequency")[0][0] == pytest.approx(before[0])


@pytest.mark.parametrize("method", ["spline", "none"])
def test_one_picture_a_class_where_nothing_is_left_or_changed(method: str) -> None:
    page = open_page("reliability", sample=GARMENTS, method=method)
    shown = pictures(page)
    assert len(shown) == 3
    assert {len(traces_of(chart, "observed frequency")) for chart in shown.values()} == {1}
    texts = [text for text in bodies(page) if "Only before: this calibrator" in text]
    assert len(texts) == (method == "spline")


def test_a_page_beyond_the_last_is_the_last() -> None:
    page = open_page("reliability", sample=CITIES, method="temperature", classes_page="77")
    assert not page.exception
    assert pictures(page)
    page.number_input(key="classes_page").set_value(9).run()
    assert page.number_input(key="classes_page").label == page_label(9)
    assert len(pictures(page)) == 100 - 8 * 12
    page.segmented_control(key="classes_as_seen").set_value("table").run()
    assert not page.exception
    assert page.number_input(key="classes_page").value == 2
    assert len(lines(page)) == 50
    choose(page, "sample", GARMENTS)
    assert not page.exception
    assert len(lines(page)) == 3


# Power and bins -----------------------------------------------------------------------------


def test_the_error_is_drawn_by_the_number_of_bins_and_the_bins_are_those_of_the_settings() -> None:
    page = open_page("reliability", sample=GARMENTS, method="temperature", bins="20")
    assert not page.exception
    shown = [chart for chart in charts(page) if "ECE by number of bins" in chart.alt]
    assert [chart.alt.split(":")[0] for chart in shown] == ["Before", "After"]
    assert all("20 bins" in chart.spec for chart in shown)
    _, test = sample_sets(GARMENTS)
    event = outcomes(TopR(1), test)
    errors = [
        100 * ece(event.scores, event.hits, n_bins=n, binning=kind)
        for n in range(5, 101)
        for kind in ("equal_width", "equal_mass")
    ]
    least, most = (f"{end:.1f}" for end in (min(errors), max(errors)))
    assert re.search(rf"{least}\D+{most}%", shown[0].alt)
    wanders = f"moves the ECE by up to {max(errors) - min(errors):.1f} percentage points before and"
    assert any(wanders in text for text in bodies(page))
    page.number_input(key="bins").set_value(8).run()
    width = json.loads(charts(page)[0].spec)["data"][0]["width"]
    assert numbers(width) == pytest.approx([1 / 8] * len(numbers(width)))


def test_ranges_of_scores_stand_below_the_pictures_and_the_smallest_gap_below_the_tiles() -> None:
    page = open_page("reliability", sample=GARMENTS, method="temperature")
    calibration, test = sample_sets(GARMENTS)
    result = audit(Split(calibration, test), event=TopR(1), calibrator=TemperatureScaling())
    sides = result.test.before, result.test.after
    texts = [ranges_sentence(side) for side in sides]
    listed = f"- **Before:** {texts[0]}\n- **After:** {texts[1]}"
    (shown,) = [one for one in page.markdown if one.value == listed]
    assert shown.help == ranges_help(*sides)
    overview = open_page(sample=GARMENTS, method="temperature")
    event = outcomes(TopR(1), test)
    power = power_sentence(side_of(event.scores, event.hits), test.n_samples)
    for sentence in (*texts, power):  # the first two are the same on both pages
        assert any(sentence in text for text in bodies(overview))
