"""The downloads of a calibrator on the page of calibration maps."""

import csv
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from calibcore.calibrator_file import CalibratorFile
from calibcore.calibrators import ByGroup, PlattScaling, TemperatureScaling
from dashboard.wording import take_home as words
from tests.app.pages import bodies, open_upload
from tests.cli.spreadsheet import Workbook
from tests.hospital import Discharges, discharges

Saved = dict[str, Any]
ROWS, PARQUET, NPZ = words.ROWS.values()
TEXTS = (words.CALIBRATOR, words.CODE, ROWS, words.SCORES)
OFFERED = (*TEXTS, PARQUET, NPZ, words.WORKBOOK)


@pytest.fixture(scope="module")
def hospital() -> Discharges:
    return discharges()


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch, hospital: Discharges) -> Callable[..., Saved]:
    """Open the page, and take what each button would save."""

    def opened(**query: str) -> Saved:
        made: dict[str, Any] = {}
        monkeypatch.setattr(
            "streamlit.download_button", lambda label, data, **_: made.update({label: data})
        )
        page = open_upload(("discharges.csv", hospital.data), path="maps", **query)
        assert not page.exception
        data = {name: made[name]() for name in OFFERED if name in made}
        found = {
            name: one.decode("utf-8-sig") if name in TEXTS else one for name, one in data.items()
        }
        return found | {"said": "\n".join(bodies(page))}

    return opened


def table_of(text: str) -> list[list[float]]:
    return [[float(cell) for cell in line] for line in list(csv.reader(io.StringIO(text)))[1:]]


def test_a_calibrator_of_scores_is_offered_as_file_rows_and_table(
    saved: Callable[..., Saved], hospital: Discharges
) -> None:
    found = saved(method="platt", event="class")
    wanted = PlattScaling().fit(hospital.risk, hospital.back)
    kept = CalibratorFile.from_json(found[words.CALIBRATOR])
    assert_allclose(kept.apply(hospital.risk), wanted.predict(hospital.risk), atol=1e-12)
    assert kept.n_rows == 7_400
    rows = np.array(table_of(found[ROWS]))
    assert rows[:3, 0].tolist() == [2, 3, 4]
    assert_allclose(rows[:, 1], wanted.predict(hospital.risk), atol=1e-12)
    scores = np.array(table_of(found[words.SCORES]))
    assert len(scores) == 1_001
    assert_allclose(scores[:, 1], wanted.predict(scores[:, 0]), atol=1e-12)
    space: dict[str, Any] = {}
    exec(found[words.CODE], space)  # noqa: S102 - what is tested
    assert_allclose(space["calibrate"](hospital.risk), wanted.predict(hospital.risk), atol=1e-12)
    assert_allclose(pd.read_parquet(io.BytesIO(found[PARQUET]))["calibrated"], rows[:, 1])
    with np.load(io.BytesIO(found[NPZ])) as arrays:
        assert_allclose(arrays["calibrated"], rows[:, 1])
    book = Workbook(found[words.WORKBOOK])
    book.typed("A6", 0.25)
    assert_allclose(book.value("B6"), wanted.predict([0.25])[0], atol=1e-4)
    assert ("Calibrator", "D4") in book.kept
    assert "readmitted_30d = Yes" in book.kept.values()
    assert "fitted on all 7,400 rows of the calibration set" in found["said"]


def test_a_map_of_all_classes_has_no_table_of_scores(
    saved: Callable[..., Saved], hospital: Discharges
) -> None:
    found = saved(method="temperature")
    assert not {words.SCORES, words.WORKBOOK} & set(found)
    kept = CalibratorFile.from_json(found[words.CALIBRATOR])
    table = np.column_stack([1 - hospital.risk, hospital.risk])
    fitted = TemperatureScaling().fit(np.log(table), hospital.back.astype(int))
    rows = list(csv.reader(io.StringIO(found[ROWS])))
    assert rows[0] == ["row", "No", "Yes"]
    assert_allclose(
        np.array(rows[1:], dtype=float)[:, 1:], fitted.predict_proba(np.log(table)), atol=1e-9
    )
    assert_allclose(kept.apply(hospital.risk), kept.apply(table), atol=1e-12)


def test_a_calibrator_by_group_is_offered_with_its_groups(
    saved: Callable[..., Saved], hospital: Discharges
) -> None:
    found = saved(method="by_group", event="class", group="ward")
    assert set(found) == {"said", *OFFERED}
    names, place = np.unique(hospital.ward, return_inverse=True)
    fitted = ByGroup(PlattScaling()).fit(hospital.risk, hospital.back, place)
    wanted = fitted.predict(hospital.risk, place)
    kept = CalibratorFile.from_json(found[words.CALIBRATOR])
    assert_allclose(kept.apply(hospital.risk, hospital.ward), wanted, atol=1e-12)
    assert_allclose(np.array(table_of(found[ROWS]))[:, 1], wanted, atol=1e-12)
    space: dict[str, Any] = {}
    exec(found[words.CODE], space)  # noqa: S102 - what is tested
    assert_allclose(space["calibrate"](hospital.risk, hospital.ward), wanted, atol=1e-12)
    heads = next(csv.reader(io.StringIO(found[words.SCORES])))
    assert heads == ["score", "calibrated", *names]
    scores = np.array(table_of(found[words.SCORES]))
    assert_allclose(scores[:, 1], fitted.score_map.predict(scores[:, 0]), atol=1e-12)
    assert_allclose(scores[:, 3], fitted.predict(scores[:, 0], np.full(1_001, 1)), atol=1e-12)
    assert "New rows need the column ward;" in found["said"]


def test_nothing_is_offered_without_a_calibrator(saved: Callable[..., Saved]) -> None:
    assert set(saved(method="none")) == {"said"}
