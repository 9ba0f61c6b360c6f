"""Workbooks: the cells come out typed, the right sheet is chosen, damage is refused."""

from typing import Any

import numpy as np
import pytest

from dashboard.readers.formats.workbook import read_workbook
from dashboard.readers.records import FileTable
from dashboard.readers.refusal import FileError
from tests.readers.test_text import columns
from tests.readers.test_xlsx import MAIN, of_rows, rows_xml, sheet_xml, workbook

HEAD = ["risk", "ward", "y"]
BODY: list[list[Any]] = [[0.5, "north", 1], [0.25, "south", 0], [0.75, "north", 1]]
WHOLE = {"risk": [0.5, 0.25, 0.75], "ward": ["north", "south", "north"], "y": [1, 0, 1]}


def read(*sheets: list[list[Any]], names: tuple[str, ...] = ("p", "q", "r")) -> FileTable:
    return read_workbook(workbook(*(sheet_xml(rows_xml(s)) for s in sheets), names=names), None)


@pytest.mark.parametrize(
    ("above", "first_row"), [([], 2), ([["Export of May"], []], 4), ([[], ["a"], ["b"]], 5)]
)
def test_a_sheet_and_what_stands_above(above: list[list[Any]], first_row: int) -> None:
    table = read([*above, HEAD, *BODY])
    assert columns(table) == WHOLE
    assert table.columns[2].values.dtype == np.int64
    assert (table.first_row, table.named) == (first_row, True)
    assert table.shown[0] == ("0.5", "north", "1")


def test_without_a_heading() -> None:
    table = read([[0.5, 1], [0.25, 0]])
    assert columns(table) == {"column 1": [0.5, 0.25], "column 2": [1, 0]}
    assert not table.named
    data = of_rows([["a", "b"], ["c", "d"]])
    assert columns(read_workbook(data, False))["column 1"] == ["a", "c"]  # noqa: FBT003


def test_cells_of_all_kinds() -> None:
    styles = f'<styleSheet {MAIN}><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styleSheet>'
    rows: list[list[Any]] = [
        ["p", "day", "new", "share"],
        [0.5, '<c s="1"><v>45322</v></c>', True, "12,5 %"],
        ["<c><f>A1</f></c>", '<c s="1"><v>45322.5</v></c>', False, "7,25 %"],
        ['<c t="e"><v>#N/A</v></c>', None, True, "8 %"],
        ["n/a", '<c s="1"><v>45323</v></c>', True, "9 %"],
        ["<c><f>A1</f><v>9.5</v></c>", '<c s="1"><v>45323</v></c>', True, "9 %"],
    ]
    p, day, new, share = read_workbook(of_rows(rows, styles=styles), None).columns
    np.testing.assert_array_equal(p.values, [0.5, np.nan, np.nan, np.nan, 9.5])
    assert p.odd is not None
    assert p.odd.texts == ("", "n/a")
    assert day.texts == ("2024-01-31", "2024-01-31 12:00:00", "", "2024-02-01")
    assert new.texts == ("True", "False")
    assert share.values.tolist() == [12.5, 7.25, 8, 9, 9]
    assert (share.commas, share.percents) == (2, 5)


def test_blank_rows_keep_the_numbers_of_the_others() -> None:
    table = read([HEAD, BODY[0], [], *BODY[1:], [], []])
    assert columns(table) == WHOLE
    assert table.among is not None
    assert (np.flatnonzero(table.among) + table.first_row).tolist() == [2, 4, 5]


def test_the_first_visible_sheet_with_numbers() -> None:
    notes: list[list[Any]] = [["key", "value"], ["made", "today"]]
    other: list[list[Any]] = [["z"], [1], [2]]
    table = read(notes, [HEAD, *BODY], other, names=("about", "data", "more"))
    assert columns(table) == WHOLE
    assert table.notes == ("Sheet data was read. Not read: about, more.",)
    hidden = 'old" state="hidden'
    assert columns(read(other, [HEAD, *BODY], names=(hidden, "p"))) == WHOLE
    assert columns(read(notes, [HEAD, *BODY], names=("p", hidden))) == WHOLE


def test_sheets_of_the_same_columns_are_put_together() -> None:
    table = read([HEAD, *BODY], [["x"], ["about"]], [HEAD, *BODY[:1]], names=("val", "i", "test"))
    made = columns(table)
    assert made["risk"] == [0.5, 0.25, 0.75, 0.5]
    assert made["sheet"] == ["val", "val", "val", "test"]
    assert table.notes == ("Sheets val, test were read. Not read: i.",)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "a password, or an old .xls file"),
        (b"a,b,label\n1,2,0\n", "no zip file. Expected a whole .xlsx file"),
        (of_rows([HEAD, *BODY])[:900], "a damaged or truncated zip"),
        (workbook(sheet_xml(rows_xml([HEAD, *BODY]))[:-40]), "workbook: damage"),
        (workbook(sheet_xml(rows_xml([HEAD, *BODY])), parts={"xl/media/a.png": "\0" * (300 << 20)}),
         "expand to 301 MB"),
        (of_rows([]), "only blank lines"),
        (of_rows([HEAD]), "a heading and no rows"),
    ],
)  # fmt: skip
def test_refusals(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_workbook(data, None)
