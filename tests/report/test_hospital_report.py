"""The report of a hospital's export: what an analyst who did not see the pages must find in it."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calibcore.events import OneClass
from dashboard.compute.fits import run_audit
from dashboard.compute.split import evaluated_split, part_of, split_of
from dashboard.headless import read_paths, scene_of
from dashboard.readers import Upload
from dashboard.readers.records import ReadingOptions
from dashboard.report import ReportRequest, json_of, report_of
from dashboard.scene import Scene
from dashboard.settings import Subgroup
from dashboard.texts.numbers import plain
from dashboard.texts.subject import subject
from dashboard.views.decisions.document import Choices
from tests.hospital import N_ROWS, SHIFT, WARDS, discharges


@cache
def upload() -> Upload:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "discharges.csv"
        path.write_bytes(discharges().data)
        return read_paths([path], ReadingOptions())


@cache
def scene(method: str = "none", group: str | None = None) -> Scene:
    return scene_of(
        upload(), event=OneClass(1), method=method, group=group, n_resamples=0,
        progress=lambda _: None,
    )  # fmt: skip


def filtered(of: Scene, by: str, value: str) -> Scene:
    """Look at a part of the rows, as the pages do."""
    settings = replace(of.settings, only=Subgroup(by, value))
    return replace(
        of,
        settings=settings,
        split=split_of(of.upload, settings),
        rows=evaluated_split(of.upload, settings).test,
        result=run_audit(of.upload, settings, lambda _: None),
        part=part_of(of.upload, settings, of.chosen),
    )


def document(of: Scene, asked: ReportRequest | None = None) -> dict[str, Any]:
    return dict(json.loads(json_of(report_of(of, asked or ReportRequest(), lambda _: None))))


def text_of(document: dict[str, Any], section: str) -> str:
    """Return the sentences of a section."""
    (result,) = [one for one in document["sections"] if one["key"] == section]
    return " ".join(
        line for one in result["blocks"] if one["kind"] == "text" for line in one["lines"]
    )


def test_a_filtered_view_says_so_wherever_its_subject_stands() -> None:
    n_rows = int((discharges().ward == "Geriatrics").sum())
    of = filtered(scene("platt"), "ward", "Geriatrics")
    rows = f"ward = Geriatrics, {n_rows:,} of {N_ROWS:,} rows"
    assert plain(subject(of)).endswith(f"whole set (cross-validated), {rows}")
    report = document(of)
    assert report["subject"] == plain(subject(of))  # in the head of the report and of its one page
    assert "whole set" not in text_of(report, "summary")
    assert f"{n_rows:,} of {N_ROWS:,} rows" in text_of(report, "data")
    assert "whole set (cross-validated), 7,400 rows" in plain(subject(scene("platt")))


def test_a_subgroup_is_not_said_to_be_without_fault_where_its_mean_alone_is_tested() -> None:
    # Risks are too extreme in every ward, Medicine is right on average.
    part = filtered(scene(), "ward", "Medicine")
    assert part.evaluated.before.omnibus.p_value < 0.001
    report = document(scene())
    (wards,) = [b for s in report["sections"] for b in s["blocks"] if b["key"] == "by ward"]
    assert wards["columns"] == ["ward", "Mean gap (pp)", "KS error", "Accuracy"]
    findings = {row["name"]: row["cells"][1]["note"] for row in wards["rows"]}
    assert findings["Medicine"] == "\u25cb no mean gap detected"
    assert "Only the mean gap is tested" in text_of(report, "subgroups")
    assert "No mean gap detected in any of" in text_of(document(part), "summary")


def test_the_verdict_counts_the_wards_that_are_wrong() -> None:
    counted = re.search(
        r"Miscalibrated in 3 of 28 subgroups: ward = (\w+) \(\d\.\d percentage points too low\),"
        r" ward = (\w+) \(\d\.\d too high\), ward = (\w+) \(\d\.\d too high\)\.",
        text_of(document(scene()), "summary"),
    )
    assert counted is not None
    assert counted[1] == "Geriatrics"
    assert {*counted.groups()} == {*SHIFT}
    assert (
        "Miscalibrated in"
        not in text_of(document(scene("by_group", "ward")), "summary").split("After:")[1]
    )


def test_a_report_by_ward_warns_of_groups_and_advises_the_cure() -> None:
    report = document(scene("by_group", "ward"))
    assert "Use the calibrated scores. After By group, no miscalibration" in text_of(
        report, "summary"
    )
    assert "law or ethics" in text_of(report, "summary")
    assert "law or ethics" in text_of(report, "calibrator")
    assert "law or ethics" not in text_of(document(scene("platt")), "calibrator")


def test_a_cut_off_is_said_to_be_the_frequency_unless_it_was_chosen() -> None:
    usual, chosen = document(scene()), document(scene(), ReportRequest(decisions=Choices(0.3)))
    share = round(100 * discharges().back.mean())
    assert f"A cut-off of {share}% is how often the event is" in text_of(usual, "decisions")
    assert "is how often the event is" not in text_of(chosen, "decisions")
    assert text_of(chosen, "rerun").endswith("--event Yes --resamples 0 --cutoff 0.3")
    assert "--cutoff" not in text_of(usual, "rerun")


def test_decisions_are_counted_by_ward() -> None:
    report = document(scene("platt"), ReportRequest(decisions=Choices(0.3)))
    (table,) = [
        b for s in report["sections"] for b in s["blocks"] if b["key"] == "cut-off by group"
    ]
    assert table["columns"][:3] == ["ward", "Flagged before", "Flagged after"]
    _, risk, back, ward = discharges()
    after = scene("platt").evaluated.after.event.scores
    shown = {row["name"]: [cell["shown"] for cell in row["cells"]] for row in table["rows"]}
    assert shown.keys() == {*WARDS}
    assert {row["name"]: row["note"] for row in table["rows"]} == {
        name: f"{(ward == name).sum():,} rows" for name in WARDS
    }
    for name, cells in shown.items():
        mine = ward == name
        missed = [int((mine & back & (scores < 0.3)).sum()) for scores in (risk, after)]
        assert cells[6:8] == [f"{number:,}" for number in missed]


def test_the_report_has_no_names_of_the_program() -> None:
    report = document(scene("by_group", "ward"))
    assert not re.search(r"Fitted[A-Z]|y_true|Settings hold", json.dumps(report["sections"]))
    (table,) = [b for s in report["sections"] for b in s["blocks"] if b["key"] == "calibrator"][-1:]
    pairs = {row["name"]: row["cells"][0]["shown"] for row in table["rows"]}
    assert pairs["groups"] == ", ".join(WARDS)


def test_subgroups_are_said_to_stand_worst_first_but_for_dates() -> None:
    report = document(scene())
    (part,) = [one for one in report["sections"] if one["key"] == "subgroups"]
    notes = {b["key"]: " ".join(b["lines"]) for b in part["blocks"] if b["kind"] == "text"}
    assert notes["note ward"].startswith("Worst first.")
    assert notes["note discharge_date"].startswith("Small print")
