"""Calibrators as workbooks: the formulas in them calibrate, and their values are written along."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from python_calamine import CalamineWorkbook

from calibcore import CalibrationInputError, EventScores, audit
from calibcore.calibrators import (
    BBQ,
    BetaCalibration,
    ByGroup,
    HistogramBinning,
    IsotonicCalibration,
    PlattScaling,
    ScoreMap,
    SplineCalibration,
    TemperatureScaling,
    VennAbers,
)
from calibcore.data import with_groups
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.export.score_table import TABLE_ACCURACY
from calibcore.grouping import Grouping
from calibcore.splits import Split
from dashboard.cli.main import main
from dashboard.take_home import workbook as words
from dashboard.take_home.workbook import N_ROWS, workbook_of
from tests.cli.spreadsheet import Workbook

MAPS: list[ScoreMap] = [
    PlattScaling(), BetaCalibration(), HistogramBinning(), IsotonicCalibration(),
    IsotonicCalibration(interpolate=True), BBQ(), SplineCalibration(), VennAbers(),
]  # fmt: skip
WARDS = np.array(["surgery", "Surgery", "", "=1+1", "3"])


def draw_rows() -> tuple[Any, Any, Any]:
    """Scores of two digits, so that many are at an edge; outcomes; and a place of each row."""
    rng = np.random.default_rng(2)
    scores, place = np.round(rng.beta(1, 3, 1000), 2), np.arange(1000) % 5
    return scores, rng.random(1000) < np.clip(scores + 0.1 * (place - 2), 0, 1), place


def selections_of(calibrator: ScoreMap, **asked: Any) -> CalibratorFile:
    scores, hits, _ = draw_rows()
    return CalibratorFile.of(audit(scores, hits, calibrator=calibrator, **asked))


def opened(kept: CalibratorFile) -> Workbook:
    return Workbook(workbook_of(kept, "Calibrator", "Class Yes"))


SCORES = [0.0, 1.0, 0.5, 0.2, 1 / 3, 0.999999, 1e-9, *np.linspace(0.01, 0.99, 99).round(2).tolist()]


@pytest.mark.parametrize("calibrator", MAPS, ids=lambda one: type(one).__name__)
def test_the_formula_is_the_calibrator(calibrator: ScoreMap) -> None:
    calibrator_file = selections_of(calibrator)
    book, results = opened(calibrator_file), []
    for row, score in enumerate(SCORES, start=5):
        book.typed(f"A{row}", score)
        results.append(book.value(f"B{row}"))
    assert_allclose(results, calibrator_file.apply(SCORES), rtol=0, atol=TABLE_ACCURACY)


def test_the_first_score_is_there_with_its_value_for_programs_that_do_not_compute() -> None:
    calibrator_file = selections_of(SplineCalibration())
    data = workbook_of(calibrator_file, "Spline", "readmitted = Yes")
    book, sheet = Workbook(data), CalamineWorkbook.from_filelike(io.BytesIO(data))
    assert sheet.sheet_names == [words.SHEET, words.TABLE]
    cells = sheet.get_sheet_by_index(0).to_python(skip_empty_area=False)
    assert cells[3][:2] == ["Score", "Calibrated"]
    assert cells[4][:2] == [0.5, pytest.approx(book.value("B5"), abs=1e-15)]
    assert cells[5][:2] == ["", ""]
    texts = {line[4]: line[5] for line in cells if len(line) > 5 and line[4]}
    assert texts["Event"] == "readmitted = Yes"
    assert texts["Accuracy"] == "Within 0.0001 of the calibrator, at every score"
    assert texts["Data (SHA-256)"] == calibrator_file.data
    assert texts["Fitted on"] == "1,000 rows"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("", ""), ("high", words.NO_SCORE[1]), (1.5, words.NO_SCORE[1]), (-0.1, words.NO_SCORE[1])],
)
def test_what_is_no_score_is_said(typed: object, shown: str) -> None:
    book = opened(selections_of(PlattScaling()))
    last = 4 + N_ROWS
    book.typed(f"A{last}", typed)
    assert book.value(f"B{last}") == shown
    assert book.value(f"B{last + 1}") == ""


@pytest.mark.parametrize("in_percent", [False, True])
@pytest.mark.parametrize("by_group", [False, True])
def test_cells_of_the_file_are_read_as_what_they_are_or_asked_about(
    *, in_percent: bool, by_group: bool
) -> None:
    unit, column = (100, "C") if in_percent else (1, "B")
    column = "C" if by_group else "B"
    asked = {"groups": pd.Series(WARDS[draw_rows()[2]], name="ward")} if by_group else {}
    calibrator_file = selections_of(
        ByGroup(PlattScaling()) if by_group else PlattScaling(), **asked
    )
    book = Workbook(workbook_of(calibrator_file, "Platt", "ill = Yes", in_percent=in_percent))
    groups = np.array(["surgery"], dtype=object) if by_group else None
    if by_group:
        book.typed("B5", "surgery")
    wanted = calibrator_file.apply([0.0404], groups)[0]
    shares: list[tuple[Any, bool]] = [(0.0404, True), ("4.04%", False), ("4,04 %", False)]
    of_file = (
        [(4.04, False), ("4.04", False)] if in_percent else [(0.0404, False), ("0,0404", False)]
    )
    for typed, formatted in shares + of_file:
        book.typed("A5", typed, in_percent=formatted)
        assert_allclose(book.value(f"{column}5"), unit * wanted, rtol=0, atol=unit * TABLE_ACCURACY)
    other = 0.0404 if in_percent else 4.04
    for no_score in ("  ", "4.04.1", "-1%", "101%", "n/a", 101, -0.1, True):
        book.typed("A5", no_score)
        assert book.value(f"{column}5") == words.NO_SCORE[unit]
    book.typed("A5", other)
    if not in_percent:
        assert book.value(f"{column}5") == words.NO_SCORE[1]
        return
    # Google's spreadsheet knows no formats of cells.
    for formatted in (False, True):
        book.has_cell_formats = not formatted
        book.typed("A5", other, in_percent=formatted)
        shown = book.value(f"{column}5")
        cell = shown.rpartition(" ")[2]
        assert shown == words.which(cell)
    assert book.value(f"{chr(ord(cell[0]) - 1)}{cell[1:]}") == words.UP_TO_1
    book.typed(cell, "shares")
    assert_allclose(book.value(f"{column}5"), 100 * wanted, rtol=0, atol=100 * TABLE_ACCURACY)
    book.typed(cell, "percent")
    as_percent = 100 * calibrator_file.apply([0.000404], groups)[0]
    assert_allclose(book.value(f"{column}5"), as_percent, rtol=0, atol=100 * TABLE_ACCURACY)
    book.typed(cell, "")
    book.typed("A5", 0)
    as_zero = 100 * calibrator_file.apply([0.0], groups)[0]
    assert_allclose(book.value(f"{column}5"), as_zero, rtol=0, atol=100 * TABLE_ACCURACY)


def test_texts_of_a_file_stay_texts() -> None:
    place = draw_rows()[2]
    calibrator_file = selections_of(
        ByGroup(PlattScaling()), groups=pd.Series(WARDS[place], name="=ward")
    )
    data = workbook_of(calibrator_file, "Platt", "=1+1")
    with zipfile.ZipFile(io.BytesIO(data)) as held:
        styles = ET.fromstring(held.read("xl/styles.xml"))  # noqa: S314 - our own
        texts = ET.fromstring(held.read("xl/sharedStrings.xml"))  # noqa: S314 - our own
        sheets = [ET.fromstring(held.read(f"xl/worksheets/sheet{k}.xml")) for k in (1, 2, 3)]  # noqa: S314
    space = f"{texts.tag.partition('}')[0]}}}"
    formats = next(styles.iter(f"{space}cellXfs")).findall(f"{space}xf")
    shown = ["".join(one.itertext()) for one in texts.iter(f"{space}si")]
    results = set()
    for cell in (cell for sheet in sheets for cell in sheet.iter(f"{space}c")):
        value = cell.find(f"{space}v")
        if cell.get("t") == "s" and value is not None and shown[int(value.text or 0)][0:1] == "=":
            results.add(shown[int(value.text or 0)])
            assert cell.find(f"{space}f") is None
            assert formats[int(cell.get("s", 0))].get("quotePrefix") == "1"
    assert results == {"=ward", "=1+1"}


# By group -----------------------------------------------------------------------------------


def test_groups_are_found_by_their_exact_names() -> None:
    place = draw_rows()[2]
    calibrator_file = selections_of(
        ByGroup(PlattScaling()), groups=pd.Series(WARDS[place], name="ward")
    )
    book = opened(calibrator_file)
    assert [book.value(f"{column}4") for column in "ABCDEFG"] == [
        "Score", "ward", "Calibrated", "All groups", "Shift", "Slope", "Read as",
    ]  # fmt: skip
    asked = [*WARDS.tolist(), "dermatology", 3.0]
    for row, ward in enumerate(asked, start=5):
        book.typed(f"A{row}", 0.3)
        book.typed(f"B{row}", ward)
    results = [book.value(f"C{row}") for row in range(5, 5 + len(asked))]
    wanted = calibrator_file.apply([0.3] * len(asked), np.array(asked, dtype=object))
    assert_allclose(results, wanted, rtol=0, atol=TABLE_ACCURACY)
    assert (
        len({round(value, 6) for value in results}) == 6
    )  # 3 and "3" are one, the unknown another
    book.typed("A5", "high")
    assert book.value("C5") == words.NO_SCORE[1]
    book.typed("A5", "")
    assert book.value("C5") == ""


@pytest.mark.parametrize("blank", [True, False])
def test_groups_by_ranges_are_found_by_their_numbers(*, blank: bool) -> None:
    scores, hits, place = draw_rows()
    age = np.array([25.0, 45.0, 60.0, 88.0, np.nan if blank else 30.0])[place]
    names = ("below 40", "40 to 60", "60 and more", *([""] if blank else []))
    ages = Grouping(names, "age", (40.0, 60.0))
    rows = with_groups(EventScores(scores, hits), ages.numbers(age))
    plain = CalibratorFile.of(audit(Split(rows, rows), calibrator=ByGroup(HistogramBinning())))
    kept = replace(plain, groups=(ages,))
    book, asked = opened(kept), [39.9, 40.0, 59.0, 60.0, 99.0, ""]
    assert isinstance(book.value("B5"), float)
    for row, typed in enumerate(asked, start=5):
        book.typed(f"A{row}", 0.3)
        book.typed(f"B{row}", typed)
    results = [book.value(f"C{row}") for row in range(5, 5 + len(asked))]
    wanted = kept.apply([0.3] * len(asked), np.array(asked, dtype=object))
    assert_allclose(results, wanted, rtol=0, atol=TABLE_ACCURACY)


def test_the_first_group_is_there_with_its_values() -> None:
    place = draw_rows()[2]
    for groups in (WARDS[place], place):
        calibrator_file = selections_of(ByGroup(PlattScaling()), groups=groups)
        book = opened(calibrator_file)
        row = [book.kept["Calibrator", f"{column}5"] for column in "ABCDEF"]
        assert row[:2] == [0.5, "3" if groups is not place else "0"]
        assert_allclose(row[2:], [book.value(f"{one}5") for one in "CDEF"], rtol=0, atol=1e-12)
        assert_allclose(
            row[2], calibrator_file.apply([0.5], [row[1]])[0], rtol=0, atol=TABLE_ACCURACY
        )


# Elsewhere ----------------------------------------------------------------------------------


def test_a_calibrator_of_all_classes_has_none() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(60, 3))
    calibrator_file = CalibratorFile.of(
        audit(logits, logits.argmax(axis=1), calibrator=TemperatureScaling())
    )
    with pytest.raises(CalibrationInputError, match=r"FittedTemperature\. Expected one of scores"):
        workbook_of(calibrator_file, "Temperature scaling", "Top prediction")


def test_the_command_writes_it(tmp_path: Path) -> None:
    scores, hits, _ = draw_rows()
    source, out = tmp_path / "old.csv", tmp_path / "platt.xlsx"
    pd.DataFrame({"risk": scores, "ill": np.where(hits, "Yes", "No")}).to_csv(source, index=False)
    options = ["fit", str(source), "--out", str(out), "--event", "Yes", "--calibrator"]
    assert CliRunner().invoke(main, [*options, "platt"]).exit_code == 0
    book = Workbook(out.read_bytes())
    assert "Platt scaling: scores calibrated" in book.kept["Calibrator", "A1"]
    book.typed("A7", 0.25)
    wanted = PlattScaling().fit(scores, hits).predict([0.25])
    assert_allclose(book.value("B7"), wanted[0], rtol=0, atol=TABLE_ACCURACY)
    refused = CliRunner().invoke(main, [*options, "temperature"])
    assert refused.exit_code == 2
    assert "Expected one of scores, such as platt or spline." in refused.stderr
