"""The page of decisions: its counts are those of the rows, whatever leads to the cut-off."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore.auditing import audit
from calibcore.calibrators import PlattScaling
from calibcore.data import EventScores
from calibcore.decisions import at_cutoff
from calibcore.events import OneClass
from calibcore.selective import risk_coverage
from calibcore.splits import cross_split
from dashboard.wording import acting as words
from tests.app.pages import bodies, charts, open_page, open_upload
from tests.hospital import WARDS, Discharges, discharges
from tests.readers import files

SIMULATED = (Path(__file__).parents[2] / "docs" / "validation.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def export() -> Discharges:
    return discharges()


def opened(export: Discharges, **query: str) -> AppTest:
    page = open_upload(("export.csv", export.data), path="decisions", method="platt", **query)
    assert not page.exception
    return page


def sides(export: Discharges) -> list[EventScores]:
    rows = EventScores(export.risk, export.back.astype(int))
    found = audit(cross_split(rows), event=OneClass(1), calibrator=PlattScaling()).test
    return [found.before.event, found.after.event]


def tables(page: AppTest) -> list[dict[str, list[str]]]:
    """Read the tables: the cells of each line by its name, small print left out."""
    found: Any = page.get("html")
    shown = [part.proto.body for part in found if "measures changes all-columns" in part.proto.body]
    return [
        {
            unescape(re.sub("<small>.*?</small>", "", name)): [
                unescape(re.sub("<small>.*?</small>", "", cell))
                for cell in re.findall("<td>(.*?)</td>", cells)
            ]
            for name, cells in re.findall(r"<tr><th scope='row'>(.*?)</th>(.*?)</tr>", table)
        }
        for table in shown
    ]


def test_counts_are_those_of_the_rows(export: Discharges) -> None:
    page = opened(export, cutoff="30")
    overall, by_ward = tables(page)
    before, after = (at_cutoff(side, 0.3) for side in sides(export))
    assert overall[words.CALLED] == [f"{one.called:,}" for one in (before, after)]
    assert overall[words.MISSED] == [f"{one.missed:,}" for one in (before, after)]
    assert overall[words.IN_VAIN] == [f"{one.in_vain:,}" for one in (before, after)]
    assert before.called == (export.risk >= 0.3).sum()
    assert before.right == (export.back & (export.risk >= 0.3)).sum()
    assert set(by_ward) == set(WARDS)  # opened on the column that matters most
    mine = export.ward == "Geriatrics"
    missed = [int((side.hits[mine] == 1)[side.scores[mine] < 0.3].sum()) for side in sides(export)]
    assert by_ward["Geriatrics"][3] == " \u2192 ".join(f"{count:,}" for count in missed)
    (head,) = [
        one.value for one in page.subheader if "cut-off" in one.value and "calls" in one.value
    ]
    assert f"calls {after.called:,} of 7,400 rows" in head
    assert f"{after.missed:,} of {after.n_events:,} events are missed" in head


def test_costs_lead_to_a_cut_off(export: Discharges) -> None:
    page = opened(export, cutoff_by="costs", cost_alarm="1", cost_miss="4")
    assert tables(page)[0] == tables(opened(export, cutoff="20"))[0]


def test_what_needs_no_model_stands_beside_it(export: Discharges) -> None:
    page = opened(export, cutoff="20")
    events = int(export.back.sum())
    (said,) = [one for one in bodies(page) if one.startswith(":small[Without a model")]
    assert f"calling all 7,400 rows makes {7400 - events:,} false alarms" in said
    assert f"calling none misses {events:,} events" in said


@pytest.mark.parametrize("method", ["none", "spline"])
def test_other_choices_open(export: Discharges, method: str) -> None:
    page = open_upload(
        ("export.csv", export.data),
        path="decisions",
        method=method,
        only="ward",
        only_which="Surgery",
        cutoff="99",
    )
    assert not page.exception
    overall = tables(page)[0]
    assert len(overall[words.CALLED]) == (1 if method == "none" else 2)
    n_called = int((export.risk[export.ward == "Surgery"] >= 0.99).sum())
    assert overall[words.CALLED][0] == (f"{n_called:,}" if n_called else "0")


def test_predictions_are_kept_from_the_score_on_that_holds_the_accuracy() -> None:
    page = open_page("decisions", method="none", accuracy_wanted="97")
    assert not page.exception
    (head,) = [one.value for one in page.subheader if "Acting on scores" in one.value]
    kept = re.search(r"keeps ([\d,]+) of ([\d,]+) rows", head)
    assert kept is not None
    count, of = (int(text.replace(",", "")) for text in kept.groups())
    (marked,) = [
        line["x0"]
        for chart in charts(page)
        for line in json.loads(chart.spec)["layout"].get("shapes", [])
        if line.get("yref") == "y domain" and line["x0"] == line["x1"]
    ]
    assert marked == pytest.approx(count / of)
    assert any("Always the commonest class: 10.0% accuracy." in one for one in bodies(page))


def test_an_accuracy_out_of_reach_says_so() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(400, 3))
    labels = rng.integers(3, size=400)
    page = open_upload(
        ("chance.npz", files.npz(logits=logits, labels=labels)),
        path="decisions",
        method="none",
        accuracy_wanted="99",
    )
    assert not page.exception
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    right = probabilities.argmax(axis=1) == labels
    curve = risk_coverage(EventScores(probabilities.max(axis=1), right.astype(int)))
    reached = curve.lowest_for(0.99) is not None
    assert any("No score has 99%" in head.value for head in page.subheader) == (not reached)


def test_a_calibrator_with_steps_says_that_counts_are_less_certain(export: Discharges) -> None:
    lines = re.findall(r"^\| Isotonic \| 5(?:00|,000) \| (.*)$", SIMULATED, re.MULTILINE)
    held = [float(one) for line in lines for one in re.findall(r"([\d.]+) \(", line)[:-1]]
    assert f"{min(held):.0f} to {max(held):.0f}%" in words.STEPS  # the last is the gain's
    for method, said in (("isotonic", True), ("platt", False)):
        page = open_upload(("export.csv", export.data), path="decisions", method=method)
        assert said is any("gives many rows the same score" in one for one in bodies(page))


def test_files_name_the_rows_they_are_of_and_no_column_twice(
    export: Discharges, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, list[str]]] = []

    def noted(_: str, data: Any, *, file_name: str, **__: Any) -> None:
        heads = data().decode("utf-8-sig").splitlines()[0].split(",")
        sent.append((file_name, heads))

    monkeypatch.setattr("streamlit.download_button", noted)
    opened(export, only="ward", only_which="Surgery")
    opened(export)
    names = [name for name, _ in sent]
    assert names == [
        "fractile_export_decisions_whole_set_filtered_to_ward_Surgery_cut_off.csv",
        "fractile_export_decisions_whole_set_cut_off.csv",
    ]
    for _, heads in sent:
        assert len({*heads}) == len(heads) > len(words.FILE_HEAD)
