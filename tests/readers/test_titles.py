"""What stands above a table, and numbers in a sheet that are written as texts."""

from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from dashboard.readers.text.delimited import _widths_below
from tests.readers.files import LABELS, PROBABILITIES, N
from tests.readers.test_xlsx import rows_xml, sheet_xml, workbook

NAMES = ["cat", "dog", "fox", "owl"]
HEAD = [*NAMES, "label"]
ROWS = [[*map(float, row), NAMES[label]] for row, label in zip(PROBABILITIES, LABELS, strict=True)]
TABLE = "\n".join(",".join(map(str, row)) for row in [HEAD, *ROWS]) + "\n"
BODY = TABLE.partition("\n")[2]


def saved(*sheets: list[list[Any]], names: tuple[str, ...] = ("p", "q", "r")) -> Upload:
    return read("a.xlsx", workbook(*(sheet_xml(rows_xml(rows)) for rows in sheets), names=names))


def are(upload: Upload, digits: float = 1e-9) -> None:
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == tuple(NAMES)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=digits)


@pytest.mark.parametrize(
    "above", ["model,resnet\n", "model,resnet\nepoch,7\n\n", "made by,Bob,2024\n"]
)
def test_lines_that_are_too_short_for_the_table(above: str) -> None:
    upload = read("a.csv", (above + TABLE).encode())
    are(upload)
    count = len(above.split()) if "by" not in above else 1
    lines = "1 line" if count == 1 else f"{count} lines"
    assert f"Remarks above the table were passed over ({lines})." in upload.found


@pytest.mark.parametrize(
    "text",
    [
        "cat,dog\n" + BODY,
        "cat,dog\nx,y,z,u,v\n" + BODY[:40],
        "a,b\n" * 6 + TABLE,
        "a,b\n" + TABLE + "0.5,0.5\n",
    ],
)
def test_rows_of_other_widths_are_refused(text: str) -> None:
    with pytest.raises(FileError):
        read("a.csv", text.encode())


def test_lines_of_types_below_a_heading() -> None:
    types = "continuous," * 4 + "discrete\n"
    for lines in (types, types + "meta,meta,meta,meta,class\n", types + ",,,,class\n"):
        upload = read("a.csv", (",".join(HEAD) + "\n" + lines + BODY).encode())
        are(upload)
    with pytest.raises(FileError, match='row 3, column "cat": found "x"'):
        read("a.csv", (",".join(HEAD) + "\n" + types + "x,1,1,1,cat\n" + BODY).encode())


def test_widths_below_as_a_slow_search_finds_them() -> None:
    rows = [["#"], ["# a", "b"], [], ["x", "y"], ["#c"], ["1", "2", "3"], ["#"]]
    slow = [
        next((len(r) for r in rows[k + 1 :] if r and not r[0].startswith("#")), 0)
        for k in range(len(rows))
    ]
    assert list(_widths_below(rows)) == slow == [2, 2, 2, 3, 3, 0, 0]


def test_remarks_take_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0

    def starts_with_mark(row: list[str]) -> bool:
        nonlocal seen
        seen += 1
        return row[0].startswith("#")

    monkeypatch.setattr("dashboard.readers.text.delimited._starts_with_mark", starts_with_mark)
    are(read("a.csv", b"# x\n" * 2000 + TABLE.encode()))
    assert seen < 3 * 2100


@pytest.mark.parametrize(
    "above",
    [
        [["Predictions of model 7"], []],
        [["Predictions of model 7"]],
        [["Predictions"], ["of model 7"], [], []],
    ],
)
def test_titles_of_a_sheet(above: list[list[Any]]) -> None:
    upload = saved([*above, HEAD, *ROWS])
    are(upload)
    assert "Titles above the table were passed over" in " ".join(upload.found)


def test_narrow_sheets_have_no_title() -> None:
    labels = [NAMES[label] for label in LABELS]
    for rows in ([["label"], *[[t] for t in labels]], [["animal"], *[[t] for t in labels]]):
        upload = saved(rows)
        assert upload.piece is not None
        assert len(np.asarray(upload.piece.labels)) == N
    upload = saved([["label"], *[[t, "note"] for t in labels]])
    assert upload.piece is not None
    assert "Outside the columns of the first row 40 cells were left out" in " ".join(upload.found)
    with pytest.raises(FileError, match="blank row inside"):
        saved([HEAD, *ROWS[:5], [], *ROWS[5:]])
    upload = saved([["model"], *[[0.5, 1]] * 3])
    assert not any("Titles" in line for line in upload.found)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (lambda p: f"{100 * p:.10f}%", "Texts with percent signs were divided by 100"),
        (lambda p: f"{100 * p:.10f} %".replace(".", ","), "Texts with percent signs"),
        (lambda p: f"{p:.12f}".replace(".", ","), "Texts with decimal commas were read as numbers"),
    ],
)
def test_numbers_written_as_texts(written: Any, said: str) -> None:
    rows = [[*map(written, row[:-1]), row[-1]] for row in ROWS]
    upload = saved([HEAD, *rows])
    are(upload)
    assert said in upload.repairs[0]
    assert upload.repairs[0].endswith("(columns cat, dog, fox, owl).")


@pytest.mark.parametrize("cell", ["1,234", "12.5,3", "5%,", "%", "x%", "9" * 300 + "%"])
def test_what_is_no_such_number(cell: str) -> None:
    with pytest.raises(FileError):
        saved([HEAD, *[[cell, *row[1:]] for row in ROWS]])


def test_classes_may_be_called_percentages() -> None:
    names = ["5%", "10%", "20%", "40%"]
    called = dict(zip(HEAD[:-1], names, strict=True))
    upload = saved([[*names, HEAD[-1]], *[[*row[:-1], called[row[-1]]] for row in ROWS]])
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == tuple(names)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


def test_hidden_sheets_come_last() -> None:
    table: list[list[Any]] = [HEAD, *ROWS]
    other: list[list[Any]] = [HEAD, *[[*[0.25] * 4, "cat"]] * 3]
    hidden, very = '" state="hidden', '" state="veryHidden'
    are(saved(other, table, names=(f"old{hidden}", "p")))
    are(saved([["nothing", "here"]], table, names=("notes", f"p{very}")))
    are(saved(other, other, table, names=(f"val{hidden}", f"test{hidden}", "p")))
    upload = saved(other, other, table, names=("val", "test", "p"))
    assert isinstance(upload.test, LogitSet)
