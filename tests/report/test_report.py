"""The report: its HTML says what its JSON says, and both what the audit found."""

import json
import re
from functools import cache
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from calibcore import audit
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.inference.omnibus import Departure
from calibcore.samples import SAMPLES_FOLDER
from calibcore.splits import Split
from calibcore.verdict import Direction, Uninformative
from dashboard.compute.split import split_of
from dashboard.headless import read_paths, scene_of
from dashboard.readers.records import ReadingOptions
from dashboard.report import (
    Report,
    ReportDetails,
    ReportRequest,
    contents,
    html_of,
    json_of,
    report_of,
)
from dashboard.samples import samples
from dashboard.scene import Scene
from dashboard.settings import ChosenEvent
from dashboard.views.decisions.document import Choices
from tests.hospital import discharges
from tests.marks import first_and_long

SCHEMA = json.loads(Path(contents.__file__).with_name("report.schema.json").read_text("utf-8"))

HOSTILE = '<img src=x onerror="1">*_`$%\\'

SCENES: dict[str, tuple[ChosenEvent, str]] = {
    "crash_survival": (OneClass(1), "spline"),
    "three_garments": (TopR(1), "temperature"),
    "city_country_100": (WithinTopR(3), "none"),
}


@cache
def scene(name: str) -> Scene:
    event, method = SCENES[name]
    upload = read_paths([SAMPLES_FOLDER / f"{name}.npz"], ReadingOptions())
    return scene_of(upload, event=event, method=method, n_resamples=100, progress=lambda _: None)


@cache
def report(name: str) -> Report:
    typed = ReportDetails(purpose=HOSTILE, author="A & B")
    return report_of(scene(name), ReportRequest(typed, Choices(0.3), n_tried=4), lambda _: None)


def document_of(made: Report) -> dict[str, Any]:
    return dict(json.loads(json_of(made)))


class PlaceReader(HTMLParser):
    """Collects the text of every element that names its place in the JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str | None] = []
        self.texts: dict[str, str] = {}
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in {"meta", "path", "rect", "circle"}:
            place = dict(attrs).get("data-json")
            self.open.append(place)
            if place is not None:
                assert place not in self.texts
                self.texts[place] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"path", "rect", "circle"}:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] is not None:
            self.texts[self.open[-1]] += data


def parsed(html: str) -> PlaceReader:
    result = PlaceReader()
    result.feed(html)
    result.close()
    assert not result.open
    return result


def at(document: Any, place: str) -> Any:
    for part in place.strip("/").split("/"):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def block(document: dict[str, Any], section: str, key: str) -> dict[str, Any]:
    blocks = next(one["blocks"] for one in document["sections"] if one["key"] == section)
    return dict(next(one for one in blocks if one["key"] == key))


def texts_of(document: Any, under: str = "") -> dict[str, str]:
    """List the texts of a JSON that a reader is to see."""
    if isinstance(document, str):
        return {under: document} if document else {}
    unseen = {"key", "kind", "drawn", "value", "low", "high", "large", "reference"}
    unseen |= {"verdict", "measures"}
    parts: dict[Any, Any] = {}
    if isinstance(document, list):
        parts = dict(enumerate(document))
    elif isinstance(document, dict):
        parts = {key: value for key, value in document.items() if key not in unseen}
    results: dict[str, str] = {}
    for key, value in parts.items():
        results |= texts_of(value, f"{under}/{key}")
    return results


@pytest.mark.parametrize("name", first_and_long(SCENES))
def test_html_says_what_the_json_says_and_all_of_it(name: str) -> None:
    document = document_of(report(name))
    shown = parsed(html_of(report(name))).texts
    assert {place: at(document, place) for place in shown} == shown
    titles = {place for place in texts_of(document) if place.endswith("title") and "pict" in place}
    assert texts_of(document).keys() - shown.keys() == titles  # which the pictures hold


@pytest.mark.parametrize("name", first_and_long(SCENES))
def test_json_keeps_to_the_published_schema(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    document = document_of(report(name))
    Draft202012Validator(SCHEMA).validate(document)
    document["sections"][0]["blocks"][0]["lines"] = [1]
    assert not Draft202012Validator(SCHEMA).is_valid(document)


def test_what_the_schema_lists_is_what_the_code_knows() -> None:
    side = SCHEMA["$defs"]["side"]["properties"]
    assert side["direction"]["enum"] == [*get_args(Direction)]
    assert side["uninformative"]["enum"] == [*get_args(Uninformative), None]
    assert side["departures"]["items"]["enum"] == [*get_args(Departure)]


@pytest.mark.parametrize("name", first_and_long(SCENES))
def test_the_file_is_small_and_needs_nothing_else(name: str) -> None:
    for brief in (False, True):
        html = html_of(report(name), brief=brief)
        assert len(html.encode()) < 2_000_000
        assert not parsed(html).tags & {"script", "link", "img", "iframe", "style-sheet"}
        assert not re.findall(
            r"(?:src|href)=|@import|url\((?!#)", html.replace(escape(HOSTILE), "")
        )
        assert "<img" not in html


@pytest.mark.parametrize("name", first_and_long(SCENES))
def test_pictures_are_drawn_within_their_frame(name: str) -> None:
    html = html_of(report(name))
    pictures = re.findall(r"<svg viewBox=\"0 0 (\d+) (\d+)\".*?</svg>", html)
    document = document_of(report(name))
    n_pictures = sum(
        len(one["pictures"])
        for part in document["sections"]
        for one in part["blocks"]
        if one["kind"] == "pictures"
    )
    assert len(pictures) == n_pictures > 4
    assert "NaN" not in html
    assert "nan" not in re.sub(r"[^\d\W]*nan[^\d\W]+", "", html)


@pytest.mark.parametrize("name", first_and_long(SCENES))
def test_measures_are_those_of_the_library(name: str) -> None:
    shown = scene(name)
    rows = {
        r["key"]: r["cells"]
        for r in block(document_of(report(name)), "measures", "measures")["rows"]
    }
    split: Split[Any] = split_of(shown.upload, shown.settings)
    result = audit(split, event=shown.settings.event, calibrator=shown.settings.calibrator())
    for row in result.test.comparisons:
        if row.measure.key in rows:
            cells = rows[row.measure.key]
            sides = (row.before, row.after) if shown.result.fitted is not None else (row.before,)
            for cell, value in zip(cells, sides, strict=False):
                assert cell["value"] == (None if value is None or np.isinf(value) else value)
    assert len(rows) > 15


def test_rows_are_counted_by_set_and_class() -> None:
    shown = scene("crash_survival")
    rows = block(document_of(report("crash_survival")), "data", "rows")["rows"]
    counted = {row["name"]: [cell["value"] for cell in row["cells"]] for row in rows}
    for k, name in enumerate(shown.class_names or ()):
        sets = (shown.split.calibration, shown.split.test)
        assert counted[name] == [int((one.labels == k).sum()) for one in sets]  # type: ignore[union-attr]
    assert counted["All rows"] == [shown.split.calibration.n_samples, shown.split.test.n_samples]


def test_decisions_are_at_the_chosen_cutoff() -> None:
    shown = scene("crash_survival")
    table = block(document_of(report("crash_survival")), "decisions", "cut-off")
    assert table["columns"][0] == "Cut-off 30%"
    called = {row["key"]: row["cells"] for row in table["rows"]}["Flagged"]
    for cell, side in zip(called, (shown.evaluated.before, shown.evaluated.after), strict=True):
        assert cell["shown"] == f"{int((side.event.scores >= 0.3).sum()):,}"


def test_the_report_says_what_limits_it() -> None:
    document = document_of(report("crash_survival"))
    text = " ".join(
        line
        for part in document["sections"]
        for one in part["blocks"]
        if one["kind"] == "text"
        for line in one["lines"]
    )
    assert "4 combinations of event, calibrator and options" in text
    assert "Only one event was evaluated: Class died." in text
    assert "fractile audit crash_survival.npz --event died --calibrator spline" in text
    assert "KS error" in text
    assert not re.search(r"\*\*|-badge\[|\\_", text)


def test_the_page_is_the_first_section_of_the_report() -> None:
    whole, page = (parsed(html_of(report("crash_survival"), brief=b)).texts for b in (False, True))
    assert page.items() <= whole.items()
    assert {place.split("/")[2] for place in page if place.startswith("/sections/")} == {"0"}


def test_one_set_is_reported_as_cross_validated(tmp_path: Path) -> None:
    path = tmp_path / "ward export.csv"
    path.write_bytes(discharges().data)
    upload = read_paths([path], ReadingOptions())
    of = scene_of(upload, event=OneClass(1), method="platt", n_resamples=0, progress=lambda _: None)
    document = document_of(report_of(of, ReportRequest(), lambda _: None))
    Draft202012Validator(SCHEMA).validate(document)
    assert document["title"] == "Calibration report: ward export.csv"
    columns = {r["key"]: r["cells"][0]["shown"] for r in block(document, "data", "columns")["rows"]}
    assert columns["Outcome (true class)"] == "readmitted_30d"
    by_ward = block(document, "subgroups", "by ward")["rows"]
    assert by_ward[0]["name"] == "Geriatrics"
    command = block(document, "rerun", "command")["lines"][0]
    assert command == (
        "In a terminal: fractile audit 'ward export.csv' --event Yes --calibrator platt"
        " --resamples 0"
    )
    settings = {
        r["key"]: r["cells"][0]["shown"] for r in block(document, "rerun", "settings")["rows"]
    }
    assert settings["Evaluation"] == "cross-validated"


def test_every_sample_has_a_report() -> None:
    assert {*SCENES} <= {sample.name for sample in samples()}


@pytest.mark.parametrize("name", ["crash_survival", "three_garments"])
def test_the_items_of_tripod_are_named_for_risks_alone(name: str) -> None:
    practices = [part["practice"] for part in document_of(report(name))["sections"]]
    assert any("TRIPOD" in one for one in practices) is (name == "crash_survival")
    assert sum("Model card" in one for one in practices) > 6
