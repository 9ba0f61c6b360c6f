"""``fractile fit`` and ``calibrate``: a calibrator taken home, and put to new rows."""

import json
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from calibcore import LogitSet, Split, audit
from calibcore.calibrators import (
    ByGroup,
    GaussianProcessCalibration,
    PlattScaling,
    TemperatureScaling,
)
from calibcore.calibrators.base import FittedScoreMap
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.prevalence import estimated_prevalence, prevalence_interval
from calibcore.samples import SAMPLES_FOLDER
from dashboard.compute.cache import forget
from dashboard.readers import read
from tests.cli.conftest import run
from tests.hospital import Discharges

GARMENTS = str(SAMPLES_FOLDER / "three_garments.npz")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    forget()
    yield
    forget()


def fit(data: object, method: str, out: Path, *options: object) -> Path:
    """Keep a calibrator that the command fits."""
    done = run("fit", data, "--calibrator", method, "--out", out, *options)
    assert done.exit_code == 0, done.stderr
    return out


def calibrate(new: object, file: Path, out: Path, *options: object) -> pd.DataFrame:
    """Return what the command writes of new rows."""
    done = run("calibrate", new, "--with", file, "--out", out, *options)
    assert done.exit_code == 0, done.stderr
    return pd.read_csv(out)


def garments() -> Split[LogitSet]:
    split = read("three_garments.npz", Path(GARMENTS).read_bytes()).split()
    assert isinstance(split.calibration, LogitSet)
    assert isinstance(split.test, LogitSet)
    return Split(split.calibration, split.test)


def test_classes_that_are_numbers_have_a_heading_for_both_commands(tmp_path: Path) -> None:
    split = garments().test
    table, heading = split.probabilities[:400].round(5), ("0", "1", "2")
    frame = pd.DataFrame(table, columns=heading)
    frame.assign(label=split.labels[:400]).to_csv(tmp_path / "old.csv", index=False)
    file = fit(tmp_path / "old.csv", "vector", tmp_path / "kept.json")
    frame.to_csv(tmp_path / "new.csv", index=False)
    frame.to_csv(tmp_path / "bare.csv", index=False, header=False)
    frame[["2", "0", "1"]].to_csv(tmp_path / "turned.csv", index=False)
    tables = {}
    for name in ("old", "new", "bare", "turned"):
        tables[name] = calibrate(tmp_path / f"{name}.csv", file, tmp_path / "out.csv")
        assert_array_equal(tables[name][[*heading]], tables["old"][[*heading]])
    assert_array_equal(tables["new"]["row"], np.arange(2, 402))
    assert_array_equal(tables["bare"]["row"], np.arange(1, 401))


@pytest.mark.parametrize("n_rows", [1, 2, 50])
def test_columns_are_matched_by_name_and_row_ids_stay_with_rows(
    n_rows: int, tmp_path: Path
) -> None:
    saved, out, new = (tmp_path / name for name in ("kept.json", "out.csv", "new.csv"))
    split = garments().test
    table = pd.DataFrame(split.probabilities.round(5), columns=["cat", "dog", "fox"])
    names = np.array(table.columns)[split.labels]
    table[:400].assign(label=names[:400]).to_csv(new, index=False)
    fit(new, "vector", saved)
    wanted = CalibratorFile.from_json(saved.read_text("utf-8")).apply(table[:n_rows])
    some = table[["fox", "cat", "dog"]][:n_rows]
    some.assign(id=np.arange(1000, 1000 + n_rows)).to_csv(new, index=False)
    result = calibrate(new, saved, out)
    assert result["id"].tolist() == list(range(1000, 1000 + n_rows))
    assert_allclose(result[["cat", "dog", "fox"]], wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_new_rows_without_outcomes_are_calibrated(
    ending: str, hospital: Discharges, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_bytes(hospital.data)
    lines = hospital.data.decode("utf-8-sig").split("\r\n")
    new.write_text("\n".join(line.rpartition(";")[0] for line in lines), encoding="utf-8")
    calibrator_path, out = tmp_path / "platt.json", tmp_path / f"out.{ending}"
    fit(old, "platt", calibrator_path)
    done = run("calibrate", new, "--with", calibrator_path, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert "7,400 rows" in done.output
    readers: dict[str, Any] = {"csv": pd.read_csv, "parquet": pd.read_parquet, "npz": np.load}
    with out.open("rb") as file:
        table = readers[ending](file)
        assert list(table) == ["row", "case_no", "score (%)", "calibrated (%)"]
        results = {name: np.asarray(table[name]) for name in table}
    wanted = PlattScaling().fit(hospital.risk, hospital.back).predict(hospital.risk)
    assert_allclose(results["calibrated (%)"], 100 * wanted, rtol=0, atol=1e-9)
    assert_array_equal(results["row"], 2 + np.arange(len(wanted)))
    assert results["case_no"].tolist() == [f"F{100_000 + k}" for k in range(len(wanted))]
    assert results["score (%)"].tolist() == [float(f"{100 * risk:.1f}") for risk in hospital.risk]


def risks(folder: Path, name: str, heading: str, scores: Any, outcomes: Any = None) -> Path:
    """Write a column of scores under a heading that says nothing of percent."""
    ids = [f"D{k}" for k in range(len(scores))]
    table = pd.DataFrame({"discharge_id": ids, heading: scores})
    if outcomes is not None:
        table["readmitted"] = np.where(outcomes, "Yes", "No")
    table.to_csv(folder / name, index=False)
    return folder / name


def test_the_column_that_was_in_percent_is_so_again(hospital: Discharges, tmp_path: Path) -> None:
    scores, outcomes = 100 * hospital.risk[:900], hospital.back[:900]
    old = risks(tmp_path, "old.csv", "index", scores, outcomes)
    file, out = tmp_path / "kept.json", tmp_path / "out.csv"
    fit(old, "platt", file, "--score", "index", "--values", "percentages")
    assert json.loads(file.read_text(encoding="utf-8"))["percent_column"] == "index"
    wanted = PlattScaling().fit(hospital.risk[:900], outcomes).predict(hospital.risk[:50])
    new = risks(tmp_path, "new.csv", "index", scores[:50])
    result = calibrate(new, file, out, "--score", "index")
    assert_allclose(result["calibrated (%)"], 100 * wanted, rtol=0, atol=1e-9)
    out.unlink()
    # Another column in percent is asked about, and so is the same where it may be shares.
    other = risks(tmp_path, "other.csv", "points", scores[:50])
    low = risks(tmp_path, "low.csv", "index", hospital.risk[:50])
    for path, score in ((other, "points"), (low, "index")):
        refused = run("calibrate", path, "--with", file, "--out", out, "--score", score)
        assert (refused.exit_code, out.exists()) == (2, False)
        assert '--values "percentages"' in refused.stderr
    assert '--values "probabilities"' in refused.stderr
    result = calibrate(low, file, out, "--score", "index", "--values", "probabilities")
    assert list(result) == ["row", "discharge_id", "score", "calibrated"]
    assert_allclose(result["calibrated"], wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("option", [[], ["--values", "percentages"]])
def test_percent_signs_are_divided_once(
    option: list[str], hospital: Discharges, tmp_path: Path
) -> None:
    signs = [f"{100 * risk:.1f}%" for risk in hospital.risk[:900]]
    old = risks(tmp_path, "old.csv", "risk", signs, hospital.back[:900])
    file = fit(old, "platt", tmp_path / "kept.json", *option)
    new = risks(tmp_path, "new.csv", "risk", signs[:50])
    result = calibrate(new, file, tmp_path / "out.csv", *option)
    wanted = PlattScaling().fit(hospital.risk[:900], hospital.back[:900])
    assert_allclose(
        result["calibrated (%)"], 100 * wanted.predict(hospital.risk[:50]), rtol=0, atol=1e-9
    )


def test_every_set_and_class_of_a_file_is_calibrated(tmp_path: Path) -> None:
    file = fit(GARMENTS, "temperature", tmp_path / "temperature.json")
    table, split = calibrate(GARMENTS, file, tmp_path / "out.csv"), garments()
    assert run("calibrate", GARMENTS, "--with", file, "--out", tmp_path / "o.npz").exit_code == 0
    with np.load(tmp_path / "o.npz") as arrays:
        assert arrays["set"].tolist() == table["set"].tolist()
    fitted = TemperatureScaling().fit(split.calibration.logits, split.calibration.labels)
    for name, rows in (("calibration", split.calibration), ("test", split.test)):
        part = table[table["set"] == name][list(rows.class_names)].to_numpy()
        assert_allclose(part, fitted.predict_proba(rows.logits), atol=1e-12)
    content = json.loads(file.read_text(encoding="utf-8"))
    assert content["class_names"] == list(split.test.class_names)
    assert content["n_rows"] == split.calibration.n_samples


def test_percentages_are_divided_as_where_outcomes_are_known(tmp_path: Path) -> None:
    table = garments().test.probabilities[:300]
    labels = garments().test.labels[:300]
    old, new, file, out = (tmp_path / name for name in ("o.csv", "n.csv", "v.json", "out.csv"))
    pd.DataFrame(table, columns=["a", "b", "c"]).assign(label=labels).to_csv(old, index=False)
    fit(old, "temperature", file)
    results = []
    for scale, unit in ((1, ""), (100, " (%)")):
        pd.DataFrame(scale * table, columns=["a", "b", "c"]).to_csv(new, index=False)
        rows = calibrate(new, file, out)
        results.append(rows[[f"{one}{unit}" for one in "abc"]].to_numpy() / scale)
    assert_allclose(results[1], results[0], rtol=0, atol=1e-12)


def test_logits_of_one_event_are_scores_where_the_user_says_so(
    hospital: Discharges, tmp_path: Path
) -> None:
    old, new, file, out = (tmp_path / name for name in ("o.csv", "n.csv", "p.json", "out.csv"))
    risk = np.clip(hospital.risk[:400], 0.001, 0.999)
    pd.DataFrame({"p": risk, "y": hospital.back[:400]}).to_csv(old, index=False)
    fit(old, "platt", file)
    pd.DataFrame({"lp": np.log(risk / (1 - risk))}).to_csv(new, index=False)
    refused = run("calibrate", new, "--with", file, "--out", out, "--values", "logits")
    assert refused.exit_code == 2
    assert refused.stderr == (
        'Error: Column "p": not in the file. Expected the scores that the calibrator was fitted on,'
        " or --score with another column.\n"
    )
    result = calibrate(new, file, out, "--values", "logits", "--score", "lp")
    wanted = PlattScaling().fit(risk, hospital.back[:400]).predict(risk)
    assert_allclose(result["calibrated"], wanted, rtol=0, atol=1e-9)


def test_a_calibrator_knows_its_column_and_no_cell_is_a_formula(
    hospital: Discharges, tmp_path: Path
) -> None:
    old, new, file, out = (tmp_path / name for name in ("o.csv", "n.csv", "p.json", "out.csv"))
    risk, back = hospital.risk[:400], hospital.back[:400]
    table = pd.DataFrame({"new_model": risk, "old_model": np.sqrt(risk), "ill": back.astype(int)})
    table.to_csv(old, index=False)
    fit(old, "platt", file, "--score", "new_model", "--outcome", "ill")
    texts = ["=1+1", "+cmd|x", "-2+3", "@SUM(A1)", "-5", "+4.5%", "a-1"]
    ids = [*texts, *(f"N{k}" for k in range(len(texts), 400))]
    table.drop(columns="ill").assign(**{"=row id": ids}).to_csv(new, index=False)
    roles = "--column", "=row id=id"
    result = calibrate(new, file, out, *roles)
    assert list(result) == ["row", "'=row id", "score", "calibrated"]
    wanted = PlattScaling().fit(risk, back).predict(risk)
    assert_allclose(result["calibrated"], wanted, rtol=0, atol=1e-12)
    escaped = ["'=1+1", "'+cmd|x", "'-2+3", "'@SUM(A1)", "-5", "+4.5%", "a-1"]
    assert result["'=row id"][: len(texts)].tolist() == escaped
    named = calibrate(new, file, out, *roles, "--score", "old_model")
    of_old = PlattScaling().fit(risk, back).predict(np.sqrt(risk))
    assert_allclose(named["calibrated"], of_old, rtol=0, atol=1e-12)


def test_what_does_not_belong_is_one_sentence_and_writes_nothing(tmp_path: Path) -> None:
    file, out = fit(GARMENTS, "temperature", tmp_path / "kept.json"), tmp_path / "out.csv"
    table = garments().test.probabilities[:50]
    for columns, scale, text in (
        (["T-shirt/top", "Pullover", "Shirt"], 1, "probabilities. Expected logits"),
        (["T-shirt/top", "Pullover", "Shirt"], 100, "probabilities. Expected logits"),
        (["Shirt", "Pullover", "Coat"], 1, "Expected T-shirt/top, Pullover, Shirt."),
    ):
        new = tmp_path / "new.csv"
        pd.DataFrame(scale * table, columns=columns).to_csv(new, index=False)
        refused = run("calibrate", new, "--with", file, "--out", out)
        assert (refused.exit_code, out.exists()) == (2, False)
        assert text in refused.stderr
        assert len(refused.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def platt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fit(GARMENTS, "platt", tmp_path_factory.mktemp("platt") / "kept.json")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["fit", GARMENTS, "--calibrator", "none", "--out", "x.json"], "one of the catalogue"),
        (["fit", GARMENTS, "--calibrator", "magic", "--out", "x.json"], "'magic'"),
        (["fit", GARMENTS, "--calibrator", "platt", "--out", "no/x.json"], "No such file or dir"),
        (["audit", GARMENTS, "--page"], "Page: no report to be a page of. Expected --report too."),
        (["audit", GARMENTS, "--title", "T"], "Title: no report to hold it. Expected --report"),
        (["audit", GARMENTS, "--report", "x", "--json", "./x"], "Json: x, the same file as x."),
        (["calibrate", GARMENTS, "--with", "no.json", "--out", "x.csv"], "a calibrator file"),
        (["calibrate", GARMENTS, "--with", "{report}", "--out", "x.csv"], "Expected a calibrator"),
        (["audit", "{alone}"], "File: no outcomes, only scores. Expected a column of outcomes or"),
        (["calibrate", GARMENTS, "--with", GARMENTS, "--out", "x.csv"], "a calibrator file"),
        (["calibrate", GARMENTS, "--with", "{kept}", "--out", "no/x.csv"], "a place to write to"),
    ],
)
def test_refusals(
    arguments: list[str], text: str, platt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(platt, tmp_path / "kept.json")
    held = tmp_path.parent / f"{tmp_path.name}_held"
    held.mkdir()
    report, alone = held / "report.json", held / "alone.csv"
    report.write_text('{"format": 1, "sections": []}', encoding="utf-8")
    alone.write_text("risk\n" + "0.25\n0.5\n" * 30, encoding="utf-8")
    files = {"{kept}": "kept.json", "{report}": report, "{alone}": alone}
    result = run(*(files.get(one, one) for one in arguments))
    assert result.exit_code == 2
    assert text in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]


def test_a_calibrator_is_kept_as_code_too(hospital: Discharges, tmp_path: Path) -> None:
    risk, back, code = hospital.risk[:900], hospital.back[:900], tmp_path / "kept.py"
    old = risks(tmp_path, "old.csv", "risk", risk, back)
    result = runpy.run_path(str(fit(old, "platt", code)))["calibrate"](risk)
    assert_allclose(result, PlattScaling().fit(risk, back).predict(risk), atol=1e-12)
    logits = np.log(np.column_stack([1 - risk, risk]))
    fitted = GaussianProcessCalibration().fit(logits, back.astype(int))
    of_file = runpy.run_path(str(fit(old, "gaussian_process", code)))
    result = of_file["calibrate"](np.exp(logits[:20]))
    assert_allclose(result, fitted.predict_proba(logits[:20]), atol=1e-9)


# By group -----------------------------------------------------------------------------------


def by_ward(hospital: Discharges, folder: Path, **changed: str) -> tuple[Path, Path]:
    """Keep a calibrator by ward, and write rows without outcomes in which a ward was renamed."""
    old, new, calibrator_file = folder / "old.csv", folder / "new.csv", folder / "by_ward.json"
    old.write_bytes(hospital.data)
    text = hospital.data.decode("utf-8-sig")
    for before, after in changed.items():
        text = text.replace(before, after)
    lines = [line.rpartition(";")[0] for line in text.split("\r\n")]
    new.write_text("\n".join(lines), encoding="utf-8")
    return fit(old, "by_group", calibrator_file, "--group", "ward"), new


def test_rows_are_calibrated_by_the_groups_of_their_column(
    hospital: Discharges, tmp_path: Path
) -> None:
    calibrator_file, new = by_ward(hospital, tmp_path, Surgery="Oncology")
    out = tmp_path / "out.csv"
    done = run("calibrate", new, "--with", calibrator_file, "--out", out, "--values", "percentages")
    assert done.exit_code == 0, done.stderr
    n_new = int((hospital.ward == "Surgery").sum())
    text = f"{n_new:,} rows are of groups that were not fitted: they got the map of all rows."
    assert text in done.output
    names, place = np.unique(hospital.ward, return_inverse=True)
    fitted = ByGroup(PlattScaling()).fit(hospital.risk, hospital.back, place)
    groups = np.where(hospital.ward == "Surgery", 99, place)
    result = pd.read_csv(out)
    wanted = 100 * fitted.predict(hospital.risk, groups)
    assert_allclose(result["calibrated (%)"], wanted, rtol=0, atol=1e-9)
    assert list(result) == ["row", "case_no", "ward", "score (%)", "calibrated (%)"]
    assert result["ward"].tolist() == np.where(groups == 99, "Oncology", hospital.ward).tolist()
    content = json.loads(calibrator_file.read_text(encoding="utf-8"))
    assert content["groups"] == [{"column": "ward", "names": names.tolist(), "cuts": None}]


def test_a_column_that_looks_like_something_else_is_the_groups_all_the_same(
    hospital: Discharges, tmp_path: Path
) -> None:
    calibrator_file, _ = by_ward(hospital, tmp_path)
    new = tmp_path / "few.csv"
    # Two wards beside a score would be taken for the outcome.
    new.write_text("risk,ward\n" + "0.2,Surgery\n0.3,Geriatrics\n" * 20, encoding="utf-8")
    result = calibrate(new, calibrator_file, tmp_path / "few_out.csv", "--score", "risk")
    place = np.unique(hospital.ward, return_inverse=True)[1]
    fitted = ByGroup(PlattScaling()).fit(hospital.risk, hospital.back, place)
    wanted = fitted.predict([0.2, 0.3], [4, 1])
    assert_allclose(result["calibrated"], np.tile(wanted, 20), rtol=0, atol=1e-12)


def test_ranges_of_a_number_are_kept_too(hospital: Discharges, tmp_path: Path) -> None:
    old = tmp_path / "old.csv"
    old.write_bytes(hospital.data)
    file = fit(old, "by_group", tmp_path / "stay.json", "--group", "length_of_stay")
    result = calibrate(old, file, tmp_path / "out.csv")
    content = json.loads(file.read_text(encoding="utf-8"))
    cuts, shift = content["groups"][0]["cuts"], np.array(content["fitted"]["shift"])
    assert cuts == [3, 4, 5, 7]
    stay = pd.read_csv(old, sep=";")["length_of_stay"].to_numpy()
    place = (stay[:, np.newaxis] >= np.array(cuts)).sum(axis=1)
    fitted = ByGroup(PlattScaling()).fit(hospital.risk, hospital.back, place)
    assert_allclose(fitted.shift, shift, atol=1e-12)
    wanted = fitted.predict(hospital.risk, place)
    assert_allclose(result["calibrated (%)"], 100 * wanted, rtol=0, atol=1e-9)


def test_groups_that_are_missing_are_said_in_one_sentence(
    hospital: Discharges, tmp_path: Path
) -> None:
    calibrator_file, new = by_ward(hospital, tmp_path, ward="station")
    out = tmp_path / "out.csv"
    refused = run(
        "calibrate", new, "--with", calibrator_file, "--out", out, "--values", "percentages"
    )
    assert refused.exit_code == 2
    wanted = "Expected the groups that the calibrator was fitted by."
    assert refused.stderr == f'Error: Column "ward": not in the file. {wanted}\n'
    assert not out.exists()
    old = tmp_path / "old.csv"
    none = run("fit", old, "--calibrator", "by_group", "--out", calibrator_file)
    assert none.exit_code == 2
    assert none.stderr.startswith("Error: Group: none. Expected one of ward, ")


@pytest.mark.parametrize("weighted", [False, True])
def test_a_share_is_estimated_from_rows_without_outcomes(tmp_path: Path, *, weighted: bool) -> None:
    rng = np.random.default_rng(6)
    known, new = tmp_path / "cases.csv", tmp_path / "clinic.csv"

    def scores_of(hits: NDArray[Any]) -> NDArray[Any]:
        return (1 / (1 + np.exp(-2 * rng.normal(np.where(hits, 1.0, -1.0))))).round(6)

    ill = rng.random(2_000) < 0.5
    risk = scores_of(ill)
    old = pd.DataFrame({"risk": risk, "ill": ill.astype(int)})
    old.assign(stands_for=1).to_csv(known, index=False)
    later = scores_of(rng.random(3_000) < 0.08)
    table, weights = pd.DataFrame({"id": np.arange(3_000), "risk": later}), None
    if weighted:
        weights = rng.integers(1, 4, 3_000)
        table["stands_for"] = weights
    table.to_csv(new, index=False)
    how = ["--weight", "stands_for"] if weighted else []
    done = run("prevalence", known, "--outcome", "ill", *how, "--new", new)
    assert done.exit_code == 0, done.stderr
    moved, among = PlattScaling().fit(risk, ill).predict(later), ill.mean()
    share = estimated_prevalence(moved, among, sample_weight=weights)
    ends = prevalence_interval(moved, among, sample_weight=weights)
    assert ends.low < 0.08 < ends.high
    text = done.output.replace("\n", " ")
    assert f"a share of {100 * share:.1f}% of 3,000 rows without outcomes" in text
    assert f"95% CI {100 * ends.low:.1f}\u2013{100 * ends.high:.1f}%" in text
    assert f"among those with outcomes it is {100 * among:.1f}%" in text
    assert "It is assumed that rows with the event have scores like" in text
    assert done.output.rstrip().endswith(f"--prevalence {share:.4g}")


def test_a_share_that_cannot_be_estimated(hospital: Discharges, tmp_path: Path) -> None:
    old = tmp_path / "old.csv"
    old.write_bytes(hospital.data)
    same = run("prevalence", old, "--new", old)
    assert same.exit_code == 2
    assert "rows without" in same.stderr
    stated = run("prevalence", old, "--new", old, "--prevalence", "0.2")
    assert "none, as it is estimated" in stated.stderr
    ranked = run("prevalence", GARMENTS, "--new", old)
    assert "--event with one class" in ranked.stderr


def test_a_stated_share_goes_home_with_the_calibrator(tmp_path: Path) -> None:
    data, file, out = (tmp_path / name for name in ("cases.csv", "kept.json", "out.csv"))
    rng = np.random.default_rng(4)
    risk = rng.random(400).round(4)
    ill = (rng.random(400) < risk).astype(int)
    pd.DataFrame({"risk": risk, "ill": ill}).to_csv(data, index=False)
    fit(data, "platt", file, "--prevalence", "0.05")
    result = calibrate(data, file, out)
    fitted = audit(risk, ill, prevalence=0.05, calibrator="platt").fitted
    assert isinstance(fitted, FittedScoreMap)
    np.testing.assert_allclose(result["calibrated"], fitted.predict(risk), atol=1e-12)
