"""The downloads of a calibrator on the page of calibration maps."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from calibcore import audit
from calibcore.calibrators import ByGroup, PlattScaling, TemperatureScaling
from calibcore.export.calibrator_file import CalibratorFile
from dashboard.take_home import words
from dashboard.texts import listed
from tests.app.pages import bodies, open_upload
from tests.cli.spreadsheet import Workbook
from tests.hospital import Discharges, discharges

Saved = dict[str, Any]
ROWS, PARQUET, NPZ = words.ROWS.values()
TEXTS = (words.CALIBRATOR, words.CODE, ROWS, words.SCORES, listed.DOWNLOAD)
OFFERED = (*TEXTS[:4], PARQUET, NPZ, words.WORKBOOK)


@pytest.fixture(scope="module")
def hospital() -> Discharges:
    return discharges()


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch, hospital: Discharges) -> Callable[..., Saved]:
    """Open the page, and take what each button would save."""

    def opened(path: str = "maps", data: bytes = hospital.data, **query: str) -> Saved:
        made: dict[str, Any] = {}
        monkeypatch.setattr(
            "streamlit.download_button", lambda label, data, **_: made.update({label: data})
        )
        page = open_upload(("discharges.csv", data), path=path, **query)
        assert not page.exception
        files = {name: made[name]() for name in (*OFFERED, listed.DOWNLOAD) if name in made}
        results = {
            name: one.decode("utf-8-sig") if name in TEXTS else one for name, one in files.items()
        }
        return results | {"said": "\n".join(bodies(page))}

    return opened


def table_of(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text))


def test_a_calibrator_of_scores_is_offered_as_file_rows_and_table(
    saved: Callable[..., Saved], hospital: Discharges
) -> None:
    result = saved(method="platt", event="class")
    wanted = PlattScaling().fit(hospital.risk, hospital.back)
    calibrator_file = CalibratorFile.from_json(result[words.CALIBRATOR])
    assert_allclose(calibrator_file.apply(hospital.risk), wanted.predict(hospital.risk), atol=1e-12)
    assert calibrator_file.n_rows == 7_400
    rows = table_of(result[ROWS])
    assert list(rows) == ["row", "case_no", "score (%)", "calibrated (%)"]
    assert rows["row"].tolist()[:3] == [2, 3, 4]
    assert rows["case_no"].tolist() == [f"F{100_000 + k}" for k in range(7_400)]
    percent = [float(f"{100 * risk:.1f}") for risk in hospital.risk]
    assert rows["score (%)"].tolist() == percent
    calibrated = 100 * wanted.predict(hospital.risk)
    assert_allclose(rows["calibrated (%)"], calibrated, rtol=0, atol=1e-9)
    scores = table_of(result[words.SCORES])
    assert scores["score (%)"].tolist() == [tenth / 10 for tenth in range(1_001)]
    made = wanted.predict(np.arange(1_001) / 1000)
    assert_allclose(scores["calibrated (%)"], 100 * made, rtol=0, atol=1e-9)
    beyond = np.select([scores["score (%)"] < min(percent), scores["score (%)"] > max(percent)],
                       ["below", "above"], "")  # fmt: skip
    assert scores[words.BEYOND_HEAD].fillna("").tolist() == beyond.tolist()
    assert {*beyond} == {"", "below", "above"}
    space: dict[str, Any] = {}
    exec(result[words.CODE], space)  # noqa: S102 - what is tested
    assert_allclose(space["calibrate"](hospital.risk), wanted.predict(hospital.risk), atol=1e-12)
    assert_allclose(pd.read_parquet(io.BytesIO(result[PARQUET]))["calibrated (%)"], calibrated)
    with np.load(io.BytesIO(result[NPZ])) as arrays:
        assert_allclose(arrays["calibrated (%)"], calibrated)
        assert arrays["case_no"].tolist() == rows["case_no"].tolist()
    book = Workbook(result[words.WORKBOOK])
    book.typed("A6", 25.8)
    assert_allclose(book.value("B6"), 100 * wanted.predict([0.258])[0], rtol=0, atol=1e-2)
    book.typed("A7", 100.5)
    assert book.value("B7") == "Not a score from 0 to 100"
    assert book.kept["Calibrator", "A4"] == "Score (%)"
    assert ("Calibrator", "E4") in book.kept
    assert "readmitted_30d = Yes" in book.kept.values()
    assert "fitted on all 7,400 rows of the calibration set" in result["said"]
    assert "the pages show cross-validated values" in result["said"]


def test_values_of_a_fit_to_a_part_of_the_rows_are_those_of_the_pages(
    saved: Callable[..., Saved],
) -> None:
    result = saved(method="platt", event="class", evaluation="split", share="60")
    assert words.CALIBRATOR in result
    assert "cross-validated values" not in result["said"]


def test_a_map_of_all_classes_has_no_table_of_scores(
    saved: Callable[..., Saved], hospital: Discharges
) -> None:
    result = saved(method="temperature")
    assert not {words.SCORES, words.WORKBOOK} & set(result)
    calibrator_file = CalibratorFile.from_json(result[words.CALIBRATOR])
    table = np.column_stack([1 - hospital.risk, hospital.risk])
    fitted = TemperatureScaling().fit(np.log(table), hospital.back.astype(int))
    rows = list(csv.reader(io.StringIO(result[ROWS])))
    assert rows[0] == ["row", "case_no", "No (%)", "Yes (%)"]
    values = np.array([line[2:] for line in rows[1:]], dtype=float)
    assert_allclose(values, 100 * fitted.predict_proba(np.log(table)), rtol=0, atol=1e-7)
    assert_allclose(calibrator_file.apply(hospital.risk), calibrator_file.apply(table), atol=1e-12)


def test_a_calibrator_by_group_is_offered_with_its_groups(
    saved: Callable[..., Saved], hospital: Discharges
) -> None:
    result = saved(method="by_group", event="class", group="ward")
    assert set(result) == {"said", *OFFERED}
    names, place = np.unique(hospital.ward, return_inverse=True)
    fitted = ByGroup(PlattScaling()).fit(hospital.risk, hospital.back, place)
    wanted = fitted.predict(hospital.risk, place)
    calibrator_file = CalibratorFile.from_json(result[words.CALIBRATOR])
    assert_allclose(calibrator_file.apply(hospital.risk, hospital.ward), wanted, atol=1e-12)
    rows = table_of(result[ROWS])
    assert list(rows) == ["row", "case_no", "ward", "score (%)", "calibrated (%)"]
    assert rows["ward"].tolist() == hospital.ward.tolist()
    assert_allclose(rows["calibrated (%)"], 100 * wanted, rtol=0, atol=1e-9)
    space: dict[str, Any] = {}
    exec(result[words.CODE], space)  # noqa: S102 - what is tested
    assert_allclose(space["calibrate"](hospital.risk, hospital.ward), wanted, atol=1e-12)
    heads = next(csv.reader(io.StringIO(result[words.SCORES])))
    in_percent = [f"{name} (%)" for name in ("score", "calibrated", *names)]
    assert heads == [*in_percent, words.BEYOND_HEAD]
    scores, grid = table_of(result[words.SCORES]), np.linspace(0, 1, 1_001)
    of_all = 100 * fitted.score_map.predict(grid)
    assert_allclose(scores["calibrated (%)"], of_all, rtol=0, atol=1e-9)
    of_one = 100 * fitted.predict(grid, np.full(1_001, 1))
    assert_allclose(scores[f"{names[1]} (%)"], of_one, rtol=0, atol=1e-9)
    book = Workbook(result[words.WORKBOOK])
    book.typed("A6", 25.8)
    book.typed("B6", names[1])
    shown = 100 * fitted.predict([0.258], [1])[0]
    assert_allclose(book.value("C6"), shown, rtol=0, atol=1e-2)
    assert "New rows need the column ward;" in result["said"]


def test_listed_rows_have_their_ids_and_scores_in_percent(
    saved: Callable[..., Saved], hospital: Discharges
) -> None:
    result = saved("subgroups", method="platt", event="class")
    rows = table_of(result[listed.DOWNLOAD])
    assert list(rows)[:2] == ["Row", "case_no"]
    place = rows["Row"].to_numpy() - 2
    assert rows["case_no"].tolist() == [f"F{100_000 + k}" for k in place]
    percent = [float(f"{100 * risk:.1f}") for risk in hospital.risk[place]]
    assert rows["Score before (%)"].tolist() == percent
    assert rows["Score after (%)"].max() > 1


def test_row_ids_are_no_formulas(saved: Callable[..., Saved], hospital: Discharges) -> None:
    data = hospital.data.replace(b"F100", b"=F100")
    result = saved(data=data, method="platt", event="class")
    assert table_of(result[ROWS])["case_no"][0] == "'=F100000"


def test_a_saved_calibrator_is_applied_to_a_file_without_outcomes(
    hospital: Discharges, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, Any] = {}
    monkeypatch.setattr(
        "streamlit.download_button", lambda label, data, **_: made.update({label: data})
    )
    lines = hospital.data.decode("utf-8-sig").split("\r\n")
    head, *rows = ["=" + line.rpartition(";")[0] for line in lines[:401]]
    column = "predicted_risk_pct"
    risk, back = hospital.risk[:400], hospital.back[:400]
    calibrator_file = CalibratorFile.of(audit(risk, back, calibrator="platt"))
    calibrator_file = replace(calibrator_file, column=column, percent_column=column)
    page = open_upload(("new.csv", "\n".join([head, *rows]).encode()))
    made.clear()  # templates of the page without a file
    uploader = page.file_uploader(key="saved_calibrator")
    page = uploader.set_value(
        ("platt.json", calibrator_file.to_json().encode(), "application/json")
    ).run()
    assert not page.exception
    assert "400 rows calibrated. The calibrator was fitted on 400 rows." in bodies(page)
    assert list(made) == [ROWS, PARQUET, NPZ]
    result = table_of(made[ROWS]().decode("utf-8-sig"))
    assert list(result) == ["row", "'=case_no", "score (%)", "calibrated (%)"]
    assert result["'=case_no"][0] == "'=F100000"
    wanted = 100 * PlattScaling().fit(risk, back).predict(risk)
    assert_allclose(result["calibrated (%)"], wanted, rtol=0, atol=1e-9)
    made.clear()
    other = replace(calibrator_file, column="index").to_json()
    for data, text in ((b"{}", "Expected a calibrator file"), (other.encode(), 'Column "index"')):
        uploader = page.file_uploader(key="saved_calibrator")
        page = uploader.set_value(("other.json", data, "application/json")).run()
        assert any(text in str(one.value) for one in page.error)
        assert not made


def test_nothing_is_offered_without_a_calibrator(saved: Callable[..., Saved]) -> None:
    assert set(saved(method="none")) == {"said"}
