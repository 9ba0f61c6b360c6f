"""Every class, power and the number of bins on the page: the numbers are calibcore's."""

import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore.calibrators import TemperatureScaling
from calibcore.data import LogitSet
from calibcore.events import TopR
from calibcore.inference import ClassScreen, screen_classes
from calibcore.metrics import ece
from dashboard.parts import classes
from dashboard.readers import read
from dashboard.samples import samples
from dashboard.wording.classes import HEADING, NO_CLASSES_LEFT, p_words
from dashboard.wording.reach import power_sentence
from tests.app.pages import (
    MARKUP,
    bodies,
    charts,
    choose,
    made_set,
    npz_of,
    open_page,
    open_upload,
    outcomes,
)
from tests.figures.made import side_of

SAMPLES = {sample.name: sample for sample in samples()}
CITIES, GARMENTS = SAMPLES["city_country_100"], SAMPLES["three_garments"]
SPACE, DASH = "\u00a0", "\u2013"

_LINE = re.compile(r"<tr><th scope='row'>(.*?)</th>(.*?)</tr>")
_CELL = re.compile(r"<td>(.*?)</td>")


def table(page: AppTest) -> str:
    """Give the table of classes as it is sent; nothing where there is none."""
    found: Any = page.get("html")
    bodies_sent = [part.proto.body for part in found]
    return "".join(body for body in bodies_sent if "class='classes measures'" in body)


def lines(page: AppTest) -> dict[str, list[str]]:
    """Read the table: the cells of each class, tags left out."""
    return {
        unescape(name): [unescape(re.sub("<[^>]*>", "|", cell)) for cell in _CELL.findall(cells)]
        for name, cells in _LINE.findall(table(page))
    }


def sets(name: str) -> tuple[LogitSet, LogitSet]:
    upload = read(f"{name}.npz", SAMPLES[name].read_bytes())
    assert isinstance(upload.calibration, LogitSet)
    assert isinstance(upload.test, LogitSet)
    return upload.calibration, upload.test


def both_screens(name: str) -> tuple[ClassScreen, ClassScreen, tuple[str, ...]]:
    """Screen a sample's test set before and after temperature scaling."""
    calibration, test = sets(name)
    fitted = TemperatureScaling().fit(calibration.logits, calibration.labels)
    after = screen_classes(fitted.predict_proba(test.logits), test.labels)
    return screen_classes(test.probabilities, test.labels), after, test.class_names


def cell(screen: ClassScreen, k: int) -> str:
    """Write one side as the table should, for a sample with two decimals."""
    value, adjusted = f"{100 * screen.ks_error[k]:.2f}{SPACE}%", screen.adjusted[k]
    found = "\u25cb not detected"
    if adjusted < 0.05:
        found = "\u25b2 off, too much" if screen.gap[k] > 0 else "\u25bc off, too little"
    return f"{value}||{found}|, {p_words(float(adjusted))}|"


def test_the_worst_come_first_with_calibcores_numbers() -> None:
    page = open_page("reliability", sample=CITIES.title, method="Temperature scaling")
    assert not page.exception
    assert not page.error
    before, after, names = both_screens(CITIES.name)
    shown = lines(page)
    assert list(shown) == [names[k] for k in before.order[:10]]
    for k in before.order[:10]:
        first, second, rows, says, was = shown[names[k]]
        assert (first, second) == (cell(before, k), cell(after, k))
        assert rows == f"{before.rows[k]:,}"
        assert was == f"{100 * before.frequency[k]:.2f}{SPACE}%"
        mean = [f"{100 * screen.mean_score[k]:.2f}" for screen in (before, after)]
        assert says == f"{mean[0]} \u2192 {mean[1]}{SPACE}%"
    off = [int(screen.off().sum()) for screen in (before, after)]
    assert min(off) > 1
    sentence = (
        f"Of 100 classes looked at together, {off[0]} are off before calibration and {off[1]} are"
        f" off after it (test set, Holm-adjusted at 5{SPACE}%)."
    )
    assert sentence in bodies(page)


def test_the_other_order_and_all_classes() -> None:
    page = open_page(
        "reliability", sample=CITIES.title, method="Temperature scaling", classes_by="Worst after"
    )
    _, after, names = both_screens(CITIES.name)
    assert list(lines(page)) == [names[k] for k in after.order[:10]]
    page.toggle(key="classes_all").set_value(True).run()
    assert list(lines(page)) == [names[k] for k in after.order]


def test_neither_event_nor_bins_change_the_classes() -> None:
    page = open_page("reliability", sample=GARMENTS.title, method="Temperature scaling")
    before = table(page)
    assert before
    choose(page, "event", "Class")
    assert table(page) == before
    page.number_input(key="bins").set_value(40).run()
    assert table(page) == before
    choose(page, "set", "Calibration set")
    assert table(page) != before
    assert any("(calibration set, Holm-adjusted" in text for text in bodies(page))


def test_a_score_map_leaves_a_dash_with_its_reason() -> None:
    page = open_page("reliability", sample=GARMENTS.title)
    shown = lines(page)
    assert len(shown) == 3
    assert {after for _, after, *_ in shown.values()} == {DASH}
    assert any(NO_CLASSES_LEFT in text for text in bodies(page))
    assert any("before calibration (test set" in text for text in bodies(page))
    choose(page, "method", "temperature")
    assert DASH not in {after for _, after, *_ in lines(page).values()}
    assert not any(NO_CLASSES_LEFT in text for text in bodies(page))


def test_two_classes_or_none_have_no_table() -> None:
    page = open_page("reliability", sample=SAMPLES["crash_survival"].title)
    assert HEADING not in bodies(page)
    assert not table(page)
    scored = b"score,label\n" + b"".join(b"0.%d,%d\n" % (i % 90 + 10, i % 2) for i in range(60))
    page = open_upload(("scores.csv", scored), path="reliability")
    assert not page.exception
    assert HEADING not in bodies(page)


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<b>bold</b>",
    "'><script>alert(1)</script>",
    "[link](https://evil.example)",
    "$x^2$ :red[red] {says}",
    "</th></tr></table>",
)


def test_class_names_are_escaped(rng: np.random.Generator) -> None:
    calibration, test = made_set(rng, 200, len(HOSTILE)), made_set(rng, 200, len(HOSTILE))
    page = open_upload(("m.npz", npz_of(calibration, test, HOSTILE)), path="reliability")
    assert not page.exception
    assert not page.error
    assert set(lines(page)) == set(HOSTILE)
    sent = table(page)
    assert not any(name in sent for name in HOSTILE if "<" in name)
    assert not re.search("<(img|b|script)", sent)
    assert sent.count("</table>") == 1
    assert not any(MARKUP.search(text) for text in bodies(page))


def test_large_tables_are_looked_at_when_asked(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classes, "QUICK", 1_000)
    calibration, test = made_set(rng, 100, 12), made_set(rng, 300, 12)
    page = open_upload(("m.npz", npz_of(calibration, test)), path="reliability")
    assert HEADING in bodies(page)
    assert not table(page)
    page.toggle(key="classes").set_value(True).run()
    assert len(lines(page)) == 10
    page.toggle(key="classes_all").set_value(True).run()
    assert len(lines(page)) == 12


# Power and bins -----------------------------------------------------------------------------


def test_the_smallest_gap_is_said_below_the_tiles() -> None:
    _, test = sets(GARMENTS.name)
    event = outcomes(TopR(1), test)
    said = power_sentence(side_of(event.scores, event.hits), test.n_samples)
    assert any(said in text for text in bodies(open_page(sample=GARMENTS.title)))


def test_the_number_of_bins_is_drawn_when_asked() -> None:
    page = open_page("reliability", sample=GARMENTS.title, method="Temperature scaling", bins="20")
    assert not any("number of bins" in chart.alt for chart in charts(page))
    page.session_state["bins_matter"] = True
    page.run()
    assert not page.exception
    drawn = [chart for chart in charts(page) if "ECE by number of bins" in chart.alt]
    assert [chart.alt.split(":")[0] for chart in drawn] == ["Before", "After"]
    assert all("20 bins" in chart.spec for chart in drawn)
    _, test = sets(GARMENTS.name)
    event = outcomes(TopR(1), test)
    errors = [
        100 * ece(event.scores, event.hits, n_bins=n, binning=kind)
        for n in range(5, 101)
        for kind in ("equal_width", "equal_mass")
    ]
    wanted = f"an ECE between {min(errors):.1f} and {max(errors):.1f}{SPACE}%."
    assert wanted in drawn[0].alt
    assert any(wanted in text for text in bodies(page))
