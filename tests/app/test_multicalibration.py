"""Multicalibration, by the groups of all columns of a file, on the pages and in the command."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from calibcore import audit
from calibcore.calibrators import FittedMulticalibration, Multicalibration
from calibcore.data import EventScores
from calibcore.events import OneClass
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.fitting import prepare
from calibcore.inference import group_gaps
from calibcore.splits import deal_folds
from dashboard.compute.groupings import groupings, subgroupings_for
from dashboard.compute.split import methods_for, whole_split
from dashboard.readers import read
from dashboard.settings import Settings
from dashboard.take_home.words import CALIBRATOR, CODE, NO_TABLE, SCORES, WORKBOOK
from dashboard.texts.subgroups import CALIBRATE_BY, KNOWN_GROUPS
from tests.app.pages import bodies, html_of, open_upload
from tests.app.test_maps_page import traces_of, values
from tests.cli.conftest import run

WARDS = np.array(["cardiology", "geriatrics", "surgery"])
SHIFTS = np.array([1.1, -1.1, 0.0])
COLUMNS = ["ward", "sex", "age"]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Wards and sexes that are off; ages, by which nothing is, are cut into ranges."""
    rng = np.random.default_rng(3)
    place, sex = rng.integers(3, size=3_000), rng.integers(2, size=3_000)
    odds = rng.normal(-0.5, 1.2, 3_000)
    true = 1 / (1 + np.exp(-odds - SHIFTS[place] - np.where(sex, 0.8, -0.8)))
    return pd.DataFrame({
        "ward": WARDS[place], "sex": np.array(["f", "m"])[sex],
        "age": rng.integers(18, 90, 3_000), "risk": np.round(1 / (1 + np.exp(-odds)), 6),
        "readmitted": np.where(rng.random(3_000) < true, "Yes", "No"),
    })  # fmt: skip


@pytest.fixture(scope="module")
def data(rows: pd.DataFrame) -> bytes:
    return rows.to_csv(index=False).encode()


def places(data: bytes, settings: Settings) -> list[np.ndarray]:
    upload = read("rows.csv", data)
    return [one.places["test"] for one in subgroupings_for(upload, settings)]


CHOSEN = Settings(OneClass(1), "multicalibration")


def test_rows_are_told_the_groups_of_every_column_as_subgroups_are(data: bytes) -> None:
    upload = read("rows.csv", data)
    assert groupings(upload) == COLUMNS
    assert "multicalibration" in [method.key for method in methods_for(upload)]
    told = whole_split(upload, CHOSEN).test.groups
    assert told is not None
    assert told.shape == (3_000, 3)
    np.testing.assert_array_equal(told, np.stack(places(data, CHOSEN), axis=1))
    assert len(np.unique(told[:, 2])) == 5  # ages, in ranges
    assert whole_split(upload, Settings(OneClass(1), "platt")).test.groups is None


def test_files_without_groups_or_with_weights_are_not_offered_it(rows: pd.DataFrame) -> None:
    plain = read("rows.csv", rows[["risk", "readmitted"]].to_csv(index=False).encode())
    assert "multicalibration" not in [method.key for method in methods_for(plain)]
    weighted = rows.assign(weight=np.linspace(0.5, 2, 3_000)).to_csv(index=False).encode()
    upload = read("rows.csv", weighted, roles=(("weight", "weight"),))
    assert upload.rows is not None
    assert upload.rows.weights is not None
    offered = [method.key for method in methods_for(upload)]
    assert "by_group" in offered
    assert "multicalibration" not in offered


def test_the_page_names_the_columns_warns_and_needs_no_choice(data: bytes) -> None:
    page = open_upload(("rows.csv", data), path="overview", method="multicalibration")
    assert not page.exception
    assert not page.error
    assert not [one for one in page.selectbox if one.label == CALIBRATE_BY]
    named = "Groups of the columns ward, sex and age."
    assert any(f"{named} {KNOWN_GROUPS}" in body for body in bodies(page))


def test_the_subgroups_page_has_the_error_over_all_groups_on_rows_not_fitted(
    rows: pd.DataFrame, data: bytes
) -> None:
    page = open_upload(("rows.csv", data), path="subgroups", method="multicalibration")
    assert not page.exception
    scores, hits = rows["risk"].to_numpy(), (rows["readmitted"] == "Yes").to_numpy(int)
    columns = places(data, CHOSEN)
    fold, after = deal_folds(EventScores(scores, hits)), np.empty(3_000)
    table = np.stack(columns, axis=1)
    for k in range(5):
        seen = fold != k
        fitted = Multicalibration().fit(scores[seen], hits[seen], table[seen])
        after[~seen] = fitted.predict(scores[~seen], table[~seen])
    written = []
    for side in (after, scores):
        gaps = [
            ((side - hits)[column == k].mean(), (column == k).sum())
            for column in columns for k in np.unique(column)
        ]  # fmt: skip
        size = np.abs([gap for gap, _ in gaps])
        mean = np.average(size, weights=[n for _, n in gaps])
        written += [f"{100 * mean:.1f}", f"{100 * size.max():.1f}"]
    assert float(written[0]) < 0.3 * float(written[2])
    text = (
        f"Error over all 10 subgroups (size of the mean gap, weighted by rows): {written[0]} pp on"
        f" average, {written[1]} pp at most; before calibration {written[2]} and {written[3]} pp."
    )
    assert any(text in body for body in bodies(page))


def test_it_is_compared_with_the_others(data: bytes) -> None:
    query = {"methods": "by_group,multicalibration,platt", "by": "event_nll"}
    page = open_upload(("rows.csv", data), path="calibrators", method="platt", **query)
    assert not page.exception
    texts = bodies(page)
    assert any("Multicalibration: groups of the columns ward, sex and age." in one for one in texts)
    (best,) = [head.value for head in page.subheader if "cross-validation" in head.value]
    assert best.startswith("Best in cross-validation: Multicalibration")


def test_the_maps_page_draws_all_rows_and_groups_and_lists_each_shift(data: bytes) -> None:
    page = open_upload(("rows.csv", data), path="maps", method="multicalibration")
    assert not page.exception
    fitted = fit_of(data)
    curves = traces_of(page, "Calibration map")
    assert "All rows" in curves
    x, y = (values(curves["geriatrics"], axis) for axis in "xy")
    groups = np.tile([1, -1, -1], (x.size, 1))
    inside = (x > 0.01) & (x < 0.99) & (np.abs(x[:, None] - fitted.edges).min(axis=1) > 0.01)
    assert_allclose(y[inside], fitted.predict(np.clip(x, 0, 1), groups)[inside], atol=3e-3)
    assert any("groups of all columns whose curves differ most" in body for body in bodies(page))
    assert not any("A calibrated curve passes" in body for body in bodies(page))  # all rows' do not
    (listed,) = [one for one in html_of(page, "parameters") if "ward = geriatrics" in one]
    assert listed.count("<tr>") == 1 + fitted.shift.size


def fit_of(data: bytes) -> FittedMulticalibration:
    rows = whole_split(read("rows.csv", data), CHOSEN).calibration
    event = prepare(rows, CHOSEN.event).event
    return Multicalibration().fit(event.scores, event.hits, rows.groups)


def test_it_is_taken_home_without_what_one_score_cannot_tell(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, Any] = {}
    monkeypatch.setattr(
        "streamlit.download_button", lambda label, data, **_: made.update({label: data})
    )
    page = open_upload(("rows.csv", data), path="maps", method="multicalibration")
    assert not page.exception
    assert {CALIBRATOR, CODE} <= {*made}
    assert not {WORKBOOK, SCORES, "ONNX model"} & {*made}
    assert any("columns ward and sex;" in body and NO_TABLE in body for body in bodies(page))
    calibrator_file = CalibratorFile.from_json(made[CALIBRATOR]().decode())
    assert calibrator_file.fitted == fit_of(data)
    assert [one.column for one in calibrator_file.groups] == COLUMNS
    assert [one.column for one in calibrator_file.columns] == ["ward", "sex"]


def test_the_command_fits_saves_and_applies_it(
    rows: pd.DataFrame, data: bytes, tmp_path: Path
) -> None:
    old, kept, new, out = (tmp_path / name for name in ("old.csv", "c.json", "new.csv", "out.csv"))
    old.write_bytes(data)
    done = run("fit", old, "--calibrator", "multicalibration", "--out", kept)
    assert done.exit_code == 0, done.stderr
    few = rows[["ward", "risk", "sex"]].head(200).copy()
    few.loc[:2, "ward"] = "oncology"
    few.to_csv(new, index=False)
    done = run("calibrate", new, "--with", kept, "--out", out)
    assert done.exit_code == 0, done.stderr
    lost = "3 rows are of groups that were not fitted: they got no correction for that column."
    assert lost in done.output
    ward = [{name: k for k, name in enumerate(WARDS)}.get(one, -1) for one in few["ward"]]
    place = np.stack([ward, few["sex"] == "m", np.full(200, -1)], axis=1)
    result = pd.read_csv(out)
    assert_allclose(result["calibrated"], fit_of(data).predict(few["risk"], place), atol=1e-12)
    assert list(result) == ["row", "ward", "sex", "score", "calibrated"]
    few.drop(columns="sex").to_csv(new, index=False)
    refused = run("calibrate", new, "--with", kept, "--out", out)
    assert refused.exit_code == 2
    assert refused.stderr == (
        'Error: Column "sex": not in the file. Expected the groups that the calibrator was fitted'
        " by.\n"
    )


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (["--group", "ward"], "'ward' beside multicalibration, which takes all columns."),
        (
            ["--out", "c.xlsx"],
            "one of scores or by_group; corrections by group and range are JSON or NumPy code.",
        ),
        (["--out", "c.onnx"], "calibrator: "),
    ],
)
def test_what_it_cannot_be_is_said_in_one_sentence(
    asked: list[str], text: str, data: bytes, tmp_path: Path
) -> None:
    old = tmp_path / "old.csv"
    old.write_bytes(data)
    given = [str(tmp_path / one) if one.startswith("c.") else one for one in asked]
    more = [] if "--out" in asked else ["--out", str(tmp_path / "c.json")]
    done = run("fit", str(old), "--calibrator", "multicalibration", *given, *more)
    assert done.exit_code == 2
    assert text.lower() in done.stderr.lower()
    assert done.stderr.count("\n") == 1


def test_the_report_says_what_was_corrected(data: bytes, tmp_path: Path) -> None:
    old, made = tmp_path / "old.csv", tmp_path / "report.json"
    old.write_bytes(data)
    done = run("audit", old, "--calibrator", "multicalibration", "--resamples", "0", "--json", made)
    assert done.exit_code == 0, done.stderr
    text = made.read_text("utf-8")
    assert "ward = geriatrics, all" in text
    assert "Error over all 10 subgroups" in text
    assert KNOWN_GROUPS in text
    assert "known_group" not in text


@pytest.mark.long
def test_an_audit_in_python_is_reported_with_the_names_of_its_columns(
    rows: pd.DataFrame, tmp_path: Path
) -> None:
    result = audit(
        rows["risk"], rows["readmitted"] == "Yes", calibrator="multicalibration",
        groups=rows[["ward", "sex"]],
    )  # fmt: skip
    result.report(tmp_path / "report.json")
    text = json.dumps(json.loads((tmp_path / "report.json").read_text("utf-8")))
    assert "ward = geriatrics, all" in text
    assert "Groups of sex" in text


def test_the_largest_gap_of_a_group_on_new_rows_is_far_smaller(data: bytes) -> None:
    rng = np.random.default_rng(8)
    place, sex = rng.integers(3, size=20_000), rng.integers(2, size=20_000)
    odds = rng.normal(-0.5, 1.2, 20_000)
    true = 1 / (1 + np.exp(-odds - SHIFTS[place] - np.where(sex, 0.8, -0.8)))
    hits, scores = (rng.random(20_000) < true).astype(int), 1 / (1 + np.exp(-odds))
    table = np.stack([place, sex, np.full(20_000, -1)], axis=1)
    after = fit_of(data).predict(scores, table)
    was, now = (
        float(np.abs(group_gaps(side, hits, [place, sex], n_draws=20).gap).max())
        for side in (scores, after)
    )
    assert was > 0.15
    assert now < 0.04
