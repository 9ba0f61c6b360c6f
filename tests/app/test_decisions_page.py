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
from calibcore.calibrators import PlattScaling, TemperatureScaling
from calibcore.data import EventScores, LogitSet
from calibcore.decisions import at_cutoff
from calibcore.events import OneClass, TopR
from calibcore.reliability import binomial_interval
from calibcore.selective import risk_coverage
from calibcore.splits import cross_split
from dashboard.views.decisions import words
from dashboard.views.decisions.results import usual_cutoff
from tests.app.pages import bodies, charts, html_of, numbers, open_page, open_upload
from tests.hospital import WARDS, Discharges, discharges
from tests.marks import first_and_long
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
    result = audit(cross_split(rows), event=OneClass(1), calibrator=PlattScaling()).test
    return [result.before.event, result.after.event]


def tables(page: AppTest) -> list[dict[str, list[str]]]:
    """Read the tables: the cells of each line by its name, small print left out."""
    shown = html_of(page, "measures changes all-columns")
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


def test_counts_are_those_of_the_rows_in_both_scores_and_without_a_model(
    export: Discharges,
) -> None:
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
        one.value for one in page.subheader if "cut-off" in one.value and "flagged" in one.value
    ]
    assert f"{after.called:,} of 7,400 rows" in head
    assert f"{after.missed:,} of {after.n_events:,} events are missed" in head
    # The cut-off of uncalibrated scores that flags as many.
    own, calibrated = sides(export)
    lowest = np.sort(own.scores)[::-1][int((calibrated.scores >= 0.3).sum()) - 1]
    called = own.scores >= lowest
    (text,) = [one for one in bodies(page) if "of calibrated scores" in one]
    assert f"a cut-off of {100 * lowest:.3g}% flags as many: {called.sum():,} rows;" in text
    assert f"{own.hits[~called].sum():,} of {own.hits.sum():,} events are missed" in text
    events = int(export.back.sum())
    (text,) = [one for one in bodies(page) if one.startswith(":small[Without a model")]
    assert f"flagging all 7,400 rows makes {7400 - events:,} false alarms" in text
    assert f"flagging none misses {events:,} events" in text


def test_a_cut_off_that_costs_give_is_not_one_that_nobody_chose(export: Discharges) -> None:
    often = usual_cutoff(sides(export)[0])
    note = words.usual_sentence(often / 100)
    by_costs = {"cutoff_by": "costs", "cost_alarm": str(often), "cost_miss": str(100 - often)}
    assert note in " ".join(bodies(opened(export)))
    assert note not in " ".join(bodies(opened(export, **by_costs)))


def test_costs_lead_to_a_cut_off(export: Discharges) -> None:
    page = opened(export, cutoff_by="costs", cost_alarm="1", cost_miss="4")
    result, set_by_hand = tables(page)[0], tables(opened(export, cutoff="20"))[0]
    total = result.pop(words.COST)
    assert result == set_by_hand
    # The total by hand: a false alarm costs 1, a missed event 4.
    costs = [
        int(((side.scores >= 0.2) & (side.hits == 0)).sum())
        + 4 * int(((side.scores < 0.2) & (side.hits == 1)).sum())
        for side in sides(export)
    ]
    none, every = 4 * int(export.back.sum()), int((~export.back).sum())
    assert total == [f"{cost:,}" for cost in costs]
    least = min(none, every)
    (text,) = [one for one in bodies(page) if one.startswith("Total cost at this cut-off")]
    assert text == (
        f"Total cost at this cut-off: {costs[0]:,} before and {costs[1]:,} after calibration."
        f" Flagging none would cost {none:,}, flagging all {every:,}; after calibration, the scores"
        f" save {least - costs[1]:,} ({(least - costs[1]) / least:.0%}) against flagging"
        f" {'none' if none < every else 'all'}."
    )


def test_the_harm_of_a_test_is_taken_off_the_net_benefit(export: Discharges) -> None:
    free, paid = (opened(export, cutoff="30", **more) for more in ({}, {"test_harm": "1.5"}))
    worth = [
        100 * (one.right - one.in_vain * 3 / 7) / 7400
        for one in (at_cutoff(side, 0.3) for side in sides(export))
    ]
    for page, harm in ((free, 0.0), (paid, 1.5)):
        assert tables(page)[0][words.BENEFIT] == [f"{one - harm:.2f}" for one in worth]
    assert not any("test harm" in one for one in bodies(free))
    assert any("A test harm of 1.5 per 100 rows is taken off" in one for one in bodies(paid))
    lines = [_lines(page) for page in (free, paid)]
    assert lines[0]["All rows"].tolist() == lines[1]["All rows"].tolist()
    np.testing.assert_allclose(lines[1]["After"], np.array(lines[0]["After"]) - 1.5, atol=1e-5)


def _lines(page: AppTest) -> dict[str, Any]:
    (spec,) = [spec for one in charts(page) if "Net benefit" in (spec := one.spec)]
    return {line["name"]: numbers(line["y"]) for line in json.loads(spec)["data"] if "y" in line}


@pytest.mark.parametrize("method", first_and_long(["none", "spline"]))
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


def tickets() -> tuple[bytes, dict[str, np.ndarray]]:
    """Tickets of three classes, too sure of themselves, and of one language that is often wrong."""
    rng = np.random.default_rng(11)
    n_rows = 3000
    language = rng.choice(["de", "en", "fr", "pl"], n_rows, p=[0.3, 0.4, 0.27, 0.03])
    logits = rng.normal(0, 2.5, (n_rows, 3))
    labels = (logits + rng.gumbel(size=(n_rows, 3))).argmax(axis=1)  # drawn from their softmax
    wrong = (language == "pl") & (rng.random(n_rows) < 0.5)
    labels[wrong] = rng.integers(3, size=int(wrong.sum()))
    logits *= 1.8
    scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    lines = ["billing,outage,other,true,language"]
    names = ("billing", "outage", "other")
    for row, label, spoken in zip(scores, labels, language, strict=True):
        lines.append(",".join([*(f"{one:.9f}" for one in row), names[label], spoken]))
    held = {"scores": scores, "labels": labels, "language": language}
    return "\n".join(lines).encode(), held


def test_both_thresholds_and_the_subgroup_that_does_not_hold_them() -> None:
    data, held = tickets()
    page = open_upload(("tickets.csv", data), path="decisions", method="temperature")
    assert not page.exception
    logits = LogitSet.from_probabilities(np.round(held["scores"], 9), held["labels"])
    result = audit(cross_split(logits), event=TopR(1), calibrator=TemperatureScaling()).test

    def threshold(side: EventScores) -> float:
        """The lowest score above which 95% are right, one after another."""
        order = np.argsort(-side.scores, kind="stable")
        share = np.cumsum(side.hits[order]) / np.arange(1, order.size + 1)
        return float(side.scores[order][np.flatnonzero(share >= 0.95)[-1]])

    own, calibrated = result.before.event, result.after.event
    first, second = threshold(own), threshold(calibrated)
    assert first > second + 0.02  # of scores that are too high, a higher one is needed
    (head,) = [one.value for one in page.subheader if "Acting on" in one.value]
    kept = calibrated.scores >= second
    assert head == (
        f"Acting on calibrated scores of at least {100 * second:.3g}% keeps {kept.sum():,} of 3,000"
        f" rows ({100 * kept.mean():.1f}%); {100 * calibrated.hits[kept].mean():.1f}% of these"
        " predictions are correct."
    )
    texts = [one for one in bodies(page) if "In the file's own scores" in one]
    mistaken = own.scores >= second
    in_own = own.scores >= first
    assert f"the threshold is {100 * first:.3g}%: it keeps {in_own.sum():,} of 3,000" in texts[0]
    share = f"{100 * own.hits[mistaken].mean():.1f}% are correct"
    assert f"of the file's own scores of at least {100 * second:.3g}%, {share}" in texts[0]
    poor = kept & (held["language"] == "pl")
    low, high = (
        100 * float(end) for end in binomial_interval(calibrated.hits[poor].sum(), poor.sum())
    )
    named = (
        f"**Not in every subgroup: of language \\= pl, {100 * calibrated.hits[poor].mean():.1f}% of"
        f" {poor.sum():,} rows are correct** (95% CI {low:.1f}\u2013{high:.1f}%), below 95%"
    )
    assert any(named in one for one in bodies(page) if one not in texts)
    assert "of language \\= pl," in texts[0]


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
    for method, text in (("isotonic", True), ("platt", False)):
        page = open_upload(("export.csv", export.data), path="decisions", method=method)
        assert text is any("gives many rows the same score" in one for one in bodies(page))


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
