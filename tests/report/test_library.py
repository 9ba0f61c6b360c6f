"""Results of the library as reports and JSON: the audit's own figures."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import calibcore
from calibcore import AuditResult, CalibrationInputError, audit, calibrators
from calibcore.calibrators import (
    CATALOGUE,
    BetaCalibration,
    IsotonicCalibration,
    PlattScaling,
    SplineCalibration,
    TemperatureScaling,
)
from calibcore.data import EventScores
from calibcore.events import OneClass
from calibcore.splits import Split
from calibcore.summary import Summary, audit_groups
from dashboard.report.library import _method as named
from dashboard.settings import allowed_values
from tests.marks import first_and_long
from tests.report.test_report import SCHEMA, block
from tests.sample_sets import sample_sets

SPLINE = CATALOGUE[0].make()


def audited(**asked: Any) -> AuditResult:
    return audit(sample_sets("three_garments")[1], **asked)


@pytest.mark.parametrize(
    "asked",
    first_and_long(
        [
            {},
            {"calibrator": SplineCalibration(n_knots=9), "event": OneClass(1)},
            {"calibrator": TemperatureScaling()},
            {"calibrator": IsotonicCalibration(), "seed": 3},
        ]
    ),
)
def test_the_report_holds_the_audit_s_figures(tmp_path: Path, asked: dict[str, Any]) -> None:
    result = audited(**asked)
    result.report(tmp_path / "report.json", title="T", author="A")
    document = json.loads((tmp_path / "report.json").read_text("utf-8"))
    Draft202012Validator(SCHEMA).validate(document)
    assert document["title"] == "T"
    for row in block(document, "measures", "measures")["rows"]:
        compared = result.test.compare(row["key"])
        sides = (compared.before, compared.after) if asked.get("calibrator") else (compared.before,)
        for cell, value in zip(row["cells"], sides, strict=False):
            assert cell["value"] == (value if value is None or np.isfinite(value) else None)


def test_scores_of_one_event_are_reported_as_html(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(400)
    result = audit(scores, rng.random(400) < scores, calibrator=BetaCalibration())
    for page in (False, True):
        shares: list[float] = []
        result.report(tmp_path / "report.html", page=page, purpose="To try", progress=shares.append)
        assert shares == sorted(shares)
        assert shares[-1] == 1
        text = (tmp_path / "report.html").read_text("utf-8")
        assert "To try" in text
        assert ("Measures</h2>" in text) is not page


@pytest.mark.long
def test_two_sets_are_reported_as_two(tmp_path: Path) -> None:
    result = audit(Split(*sample_sets("three_garments")), calibrator=SPLINE)
    result.report(tmp_path / "report.json")
    document = json.loads((tmp_path / "report.json").read_text("utf-8"))
    rows = block(document, "data", "rows")
    assert rows["columns"] == ["Class", "Calibration set", "Test set"]


def test_calibrators_are_compared_where_that_is_asked(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(300)
    result = audit(scores, rng.random(300) < scores, calibrator="platt")
    results = []
    for compare in (False, True):
        result.report(tmp_path / "report.json", compare=compare)
        document = json.loads((tmp_path / "report.json").read_text("utf-8"))
        (section,) = [one for one in document["sections"] if one["key"] == "comparison"]
        results.append([one["key"] for one in section["blocks"]])
    assert "comparison" not in results[0]
    assert "comparison" in results[1]


def test_groups_of_an_audit_are_those_of_its_report(tmp_path: Path) -> None:
    """Scores of two digits tie, so that a summary has many rows in each cell."""
    rng = np.random.default_rng(0)
    scores, ward = rng.uniform(0.2, 0.8, 4000).round(2), rng.choice(["a", "b"], 4000)
    hits = rng.random(4000) < np.where(ward == "a", scores - 0.1, scores + 0.1)
    many = {name: Summary.of(scores[ward == name], hits[ward == name]) for name in "ab"}
    both = audit(scores, hits, groups=pd.DataFrame({"ward": ward, "sex": ward}), calibrator="beta")
    counted = audit_groups(many, calibrator="isotonic", seed=3)
    for result, by in ((both, "ward"), (counted, "groups")):
        result.report(tmp_path / "report.json")
        document = json.loads((tmp_path / "report.json").read_text("utf-8"))
        drawn = {
            row["name"]: row["cells"][0] for row in block(document, "subgroups", f"by {by}")["rows"]
        }
        assert {*drawn} == {"a", "b"}
        for one in result.verdict.groups:
            cell = drawn[one.name]
            ends = [cell[end] for end in ("value", "low", "high")]
            assert ends == pytest.approx([one.gap, one.low, one.high], abs=1e-9)
        lines = [line for one in document["sections"][0]["blocks"] for line in one.get("lines", ())]
        assert any(f"{by} = " in line for line in lines)


@pytest.mark.parametrize("calibrator", first_and_long(["histogram", "beta", None]))
def test_json_has_the_audit_s_verdict_and_table(tmp_path: Path, calibrator: str | None) -> None:
    rng = np.random.default_rng(0)
    scores, ward = rng.uniform(0.2, 0.8, 4000).round(2), rng.choice(["a", "b"], 4000)
    hits = rng.random(4000) < np.where(ward == "a", scores - 0.1, scores + 0.05)
    result = audit(scores, hits, groups=pd.Series(ward, name="ward"), calibrator=calibrator)
    result.report(tmp_path / "report.json")
    document = json.loads((tmp_path / "report.json").read_text("utf-8"))
    verdict, known = document["verdict"], result.verdict
    for name, side in (("before", known.before), ("after", known.after)):
        assert (verdict[name] is None) == (side is None)
        if side is not None:
            its = [verdict[name][key] for key in ("direction", "mean_gap", "ks_error", "p_value")]
            assert its == [side.direction, side.mean_gap, side.ks_error, side.p_value]
    assert verdict["before"]["direction"] == "too high"
    for name, groups in (("groups", known.groups), ("groups_after", known.groups_after)):
        assert [(one["column"], one["name"]) for one in verdict[name]] == [
            ("ward", one.name) for one in groups
        ]
    table = result.to_frame(result.intervals())
    flat = pd.DataFrame(document["measures"]).set_index("measure")
    for name in ("before", "before_low", "before_high", "before_limit_high", "after"):
        np.testing.assert_array_equal(flat[name].astype(float), table[name])
    of_after = [name for name in flat if str(name).startswith(("after", "change", "mark"))]
    assert len(of_after) == 9
    assert flat[of_after].isna().all(axis=None) == (calibrator is None)
    assert flat["before"].notna().any()


def test_reports_of_the_same_scores_with_other_weights_do_not_share_intervals(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(500)
    hits = rng.random(500) < scores
    for weights in (None, np.where(hits, 3.0, 1.0)):
        audit(scores, hits, sample_weight=weights).report(tmp_path / "report.json")
        document = json.loads((tmp_path / "report.json").read_text("utf-8"))
        for row in block(document, "measures", "measures")["rows"]:
            cell = row["cells"][0]
            if cell["low"] is not None and row["key"] in {"ks_error", "event_brier", "mean_gap"}:
                assert cell["low"] <= cell["value"] <= cell["high"], row["key"]


def test_json_is_what_was_measured() -> None:
    result = audited(calibrator=TemperatureScaling())
    answer = json.loads(result.to_json())
    assert answer["evaluated"] == "in folds"
    assert answer["n_samples"] == result.test.n_samples
    for row in result.test.comparisons:
        before = answer["measures"][row.measure.key]["before"]
        assert before == (row.before if row.before is None or np.isfinite(row.before) else None)
    assert answer["calibrator"] == json.loads(result.fitted.to_json()) if result.fitted else False


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CalibrationInputError) as refused:
        audited().report(tmp_path / "report.pdf")
    assert refused.value.field == "path"


def test_every_calibrator_is_known_with_its_options() -> None:
    for method in CATALOGUE:
        names = [option.name for option in method.options]
        ends = [(allowed_values(method.key, name) or (False, True)) for name in names]
        for chosen in product(*((one[0], one[-1]) for one in ends)):
            options = tuple(zip(names, chosen, strict=True))
            assert named(method.make(**dict(options))) == (method.key, options)
    assert dict(named(SplineCalibration(n_knots=200))[1])["n_knots"] == 200


def test_a_calibrator_of_one_s_own_is_refused(tmp_path: Path) -> None:
    chain = PlattScaling(smoothed_targets=True)
    object.__setattr__(chain, "smoothed_targets", 0.5)  # no option of the catalogue
    rng = np.random.default_rng(0)
    scores = rng.random(100)
    result = audit(scores, rng.random(100) < scores)
    assert result.request is not None
    own = replace(result, request=replace(result.request, calibrator=chain))
    with pytest.raises(CalibrationInputError) as refused:
        own.report(tmp_path / "report.html")
    assert refused.value.field == "calibrator"


@pytest.mark.long
def test_a_calibrator_by_group_is_reported_and_how_to_repeat_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores, groups = rng.random(900), rng.integers(0, 3, 900)
    hits = rng.random(900) < np.clip(scores + 0.1 * (groups - 1), 0, 1)
    by_group = next(one for one in CATALOGUE if one.key == "by_group").make()
    wards = pd.Series(np.array(["a", "b", ""])[groups], name="ward")
    audit(scores, hits, calibrator=by_group, groups=wards).report(tmp_path / "report.json")
    document = json.loads((tmp_path / "report.json").read_text("utf-8"))
    (line,) = block(document, "rerun", "command")["lines"]
    assert line.startswith("In Python: calibcore.audit(data, outcomes, event=OneClass(k=1)")
    assert line.endswith("n_bins=15, seed=0, groups=groups)")
    rows = block(document, "calibrator", "calibrator")["rows"]
    texts = {row["name"]: row["cells"][0]["shown"] for row in rows}
    assert texts["Groups of ward"] == "(blank), a, b"


@pytest.mark.parametrize("of_split", first_and_long([False, True]))
def test_the_report_says_what_was_asked_and_its_command_finds_it_again(
    of_split: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    scores, place = rng.random(300), rng.integers(0, 3, 300)
    outcomes = rng.random(300) < np.clip(scores**2 + 0.1 * (place - 1), 0, 1)
    groups = pd.Series(np.array(["a", "b", ""])[place], name="ward")
    half = EventScores(scores[:150], outcomes[:150]), EventScores(scores[150:], outcomes[150:])
    split = Split(*half)
    known: dict[str, Any] = {"calibcore": calibcore, **vars(calibrators), "OneClass": OneClass}
    known |= {"split": split, "data": scores, "outcomes": outcomes, "groups": groups}
    if of_split:
        result = audit(split, calibrator="histogram", n_bins=10)
    else:
        asked: dict[str, Any] = {"calibrator": "by_group", "groups": groups}
        result = audit(scores, outcomes, **asked, seed=5, n_bins=10)
    result.report(tmp_path / "report.json")
    document = json.loads((tmp_path / "report.json").read_text("utf-8"))
    rows = block(document, "rerun", "settings")["rows"]
    texts = {row["name"]: row["cells"][0]["shown"] for row in rows}
    assert texts["Bins"] == "10"
    assert (texts["Seed"], texts.get("Groups")) == (
        ("0", None) if of_split else ("5", "ward: (blank), a, b")
    )
    (line,) = block(document, "rerun", "command")["lines"]
    again = eval(line.removeprefix("In Python: "), known)  # noqa: S307 - what is tested
    for row in result.test.comparisons:
        answer = again.test.compare(row.measure.key)
        assert (answer.before, answer.after) == (row.before, row.after)
    usual = audit(scores, outcomes, calibrator="by_group", groups=groups)
    assert usual.test.compare("ece").after != result.test.compare("ece").after


def test_a_title_that_is_no_text_is_refused(tmp_path: Path) -> None:
    wrong: Any = 5
    with pytest.raises(CalibrationInputError, match=r"title: 5\. Expected a text\."):
        audited().report(tmp_path / "report.html", title=wrong)
    assert not list(tmp_path.iterdir())
