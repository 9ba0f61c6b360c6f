"""Workbooks: the same numbers come out, and no part of one can swell or reach outside."""

import io
import zipfile
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from tests.readers.files import HEADER, LABELS, LOGITS, Array, csv_of

TABLE = LOGITS.astype(float)
NAMES = HEADER.split(",")
ROWS: list[list[Any]] = [
    NAMES, *([*r, int(t)] for r, t in zip(TABLE.tolist(), LABELS, strict=True))
]  # fmt: skip
WORDS = ["abcd"[label] for label in LABELS]
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def cell(value: Any) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{value:d}</v></c>'
    if isinstance(value, str):
        return value if value[:1] == "<" else f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value!r}</v></c>"


def rows_xml(rows: list[list[Any]]) -> str:
    return "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)


def sheet_xml(rows: str, before: str = "") -> str:
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f"{head}{before}<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"


def relations(*pairs: tuple[str, str]) -> str:
    links = (
        f'<Relationship Id="r{k}" Type="{LINK}/{kind}" Target="{target}"/>'
        for k, (kind, target) in enumerate(pairs)
    )
    return f"<Relationships>{''.join(links)}</Relationships>"


def workbook(
    *sheets: str,
    names: tuple[str, ...] = ("Sheet1", "Sheet2"),
    parts: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """Write a workbook as the format asks; `parts` replace whole parts by their short names."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{k + 1}" r:id="r{k}"/>'
        for k, (name, _) in enumerate(zip(names, sheets, strict=False))
    )
    files = {
        "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns:r="{LINK}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            *(("worksheet", f"worksheets/sheet{k}.xml") for k in range(len(sheets))),
            ("sharedStrings", "sharedStrings.xml"), ("styles", "/xl/styles.xml"),
        ),
        "xl/sharedStrings.xml": f"<sst {MAIN}></sst>",
        "xl/styles.xml": f"<styleSheet {MAIN}></styleSheet>",
    }  # fmt: skip
    files |= {f"xl/worksheets/sheet{k}.xml": sheet for k, sheet in enumerate(sheets)}
    short = {name.rpartition("/")[2].removesuffix(".xml"): name for name in files}
    files |= {short.get(key, key): text for key, text in parts.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, text in files.items():
            zipped.writestr(name, text)
    return buffer.getvalue()


def of_rows(rows: list[list[Any]], **parts: str) -> bytes:
    return workbook(sheet_xml(rows_xml(rows)), parts=parts)


def same(rows: object, table: Array = TABLE, labels: Array = LABELS) -> LogitSet:
    assert isinstance(rows, LogitSet)
    np.testing.assert_array_equal(rows.logits, table)
    np.testing.assert_array_equal(rows.labels, labels)
    return rows


def test_one_sheet_reads_as_the_same_table_in_text() -> None:
    upload = read("a.xlsx", of_rows(ROWS))
    same(upload.rows)
    assert upload.found == read("a.csv", csv_of(TABLE, LABELS, header=HEADER)).found
    assert upload.repairs == upload.missing == ()


def test_more_rows_than_one_piece() -> None:
    many = [[k / 7, -k / 3, k % 2] for k in range(1000)]
    rows = read("a.xlsx", of_rows([["logit_0", "logit_1", "label"], *many])).rows
    same(rows, np.array(many)[:, :2], np.arange(1000) % 2)


def test_shared_and_rich_texts() -> None:
    spoken = '<rPh sb="0" eb="1"><t>say</t></rPh>'
    texts = [*"abcd", "label"]
    items = "".join(f"<si><r><t>{t[:1]}</t></r><r><t>{t[1:]}</t></r>{spoken}</si>" for t in texts)
    shared = [[f'<c t="s"><v>{k}</v></c>' for k in range(5)]]
    body = [
        [*row, f'<c t="s"><v>{label}</v></c>']
        for row, label in zip(TABLE.tolist(), LABELS, strict=True)
    ]
    data = of_rows(shared + body, sharedStrings=f"<sst {MAIN}>{items}</sst>")
    assert same(read("a.xlsx", data).rows).class_names == tuple("abcd")


def test_prefixed_elements_and_references() -> None:
    places = [
        "".join(f'<x:c r="{chr(66 + c)}{r}"><x:v>{v}</x:v></x:c>' for c, v in enumerate(row))
        for r, row in enumerate([[1.5, -2, 0], [0.5, 7, 1]], 4)
    ]
    head = "".join(
        f'<x:c r="{chr(66 + c)}3" t="str"><x:v>{v}</x:v></x:c>'
        for c, v in enumerate(["logit_0", "logit_1", "label"])
    )
    rows = "".join(f'<x:row r="{r}">{c}</x:row>' for r, c in enumerate([head, *places], 3))
    data = workbook(
        f'<x:worksheet xmlns:x="u"><x:sheetData><x:row r="1"><x:c r="A1" s="3"/></x:row>{rows}'
        '<x:row r="9"><x:c r="A9"/></x:row></x:sheetData></x:worksheet>'
    )
    same(read("a.xlsx", data).rows, np.array([[1.5, -2], [0.5, 7]]), np.array([0, 1]))


def test_without_a_header() -> None:
    upload = read("a.xlsx", of_rows(ROWS[1:]))
    same(upload.rows)
    assert any("No header row" in line for line in upload.found)
    counted = of_rows([[str(k) for k in range(5)], *ROWS[1:]])
    same(read("a.xlsx", counted).rows)


def test_two_sheets_named_after_the_sets() -> None:
    sheets = [sheet_xml(rows_xml([NAMES, *rows])) for rows in (ROWS[1:], ROWS[:0:-1])]
    notes = sheet_xml(rows_xml([["Written by hand"]]))
    upload = read("a.xlsx", workbook(*sheets, notes, names=("Val", "test set", "notes")))
    same(upload.calibration)
    same(upload.test, TABLE[::-1], LABELS[::-1])
    assert any("not read: notes" in line for line in upload.found)
    upload = read("a.xlsx", workbook(*sheets, sheets[0], names=("Validation", "Test", "Holdout")))
    same(upload.calibration)
    same(upload.test, TABLE[::-1], LABELS[::-1])
    upload = read("a.xlsx", workbook(*sheets, names=("Validation", "Hold-out")))
    same(upload.test, TABLE[::-1], LABELS[::-1])


@pytest.mark.parametrize(("kept", "message"), [(4, "no label column"), (1, "no column of classes")])
def test_two_sheets_of_which_one_lacks_a_part(kept: int, message: str) -> None:
    part = [row[:4] if kept == 4 else row[4:] for row in ROWS]
    sheets = [sheet_xml(rows_xml(ROWS)), sheet_xml(rows_xml(part))]
    with pytest.raises(FileError, match=f"test set: found {message}"):
        read("a.xlsx", workbook(*sheets, names=("val", "test")))


def test_the_first_sheet_that_holds_a_table() -> None:
    about = sheet_xml(rows_xml([["key", "value"], ["made", "today"]]))
    upload = read("a.xlsx", workbook(about, sheet_xml(rows_xml(ROWS)), names=("about", "data")))
    same(upload.rows)
    assert "Sheet data was read; not read: about." in upload.found
    faulty = sheet_xml(rows_xml([NAMES, [1, 2, None, 3, 0]]))
    with pytest.raises(FileError, match='sheet "one", column "logit_2": found NaN, or a null'):
        read("a.xlsx", workbook(faulty, sheet_xml(rows_xml(ROWS)), names=("one", "two")))


def test_dates_flags_and_words_tell_rows_apart() -> None:
    styles = (
        f'<styleSheet {MAIN}><numFmts><numFmt numFmtId="170" formatCode="0.0&quot; days&quot;"/>'
        '<numFmt numFmtId="171" formatCode="[$-409]dd/mm/yyyy"/></numFmts><cellStyleXfs>'
        '<xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>'
        '<xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></styleSheet>'
    )
    more = ['<c s="1"><v>45322</v></c>', '<c s="2"><v>2.5</v></c>', '<c s="3"><v>1.5</v></c>', True]
    rows = [[*NAMES, "day", "wait", "when", "new"], *([*row, *more] for row in ROWS[1:])]
    slices = read("a.xlsx", of_rows(rows, styles=styles)).columns["rows"]
    assert slices["day"].categories == ("2024-01-31 00:00:00",)
    assert slices["when"].categories == ("1899-12-31 12:00:00",)
    assert slices["wait"].values[0] == 2.5
    assert slices["new"].values[0] == 1


def test_saved_values_of_formulas() -> None:
    rows = [*ROWS[:-1], ["<c><f>A2</f><v>9.5</v></c>", *ROWS[-1][1:]]]
    upload = read("a.xlsx", of_rows(rows))
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.logits[-1, 0] == 9.5
    assert "Formulas: the saved values of 1 cells were used." in upload.found


def test_cells_to_the_right_are_left_out() -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    upload = read("a.xlsx", workbook(sheet_xml(rows_xml(ROWS) + far)))
    same(upload.rows)
    assert any("1 cells were left out, first XFD1048576" in line for line in upload.found)


def bad(value: Any, row: int = 5, column: int = 1) -> list[list[Any]]:
    rows = [list(r) for r in ROWS]
    rows[row - 1][column] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (bad('<c t="e"><v>#N/A</v></c>'), 'cell B5: found the error "#N/A"'),
        (bad("<c><f>A1</f></c>"), "cell B5: found a formula without a saved value"),
        (bad("<c><f>A1</f><v></v></c>"), "cell B5: found a formula without a saved value"),
        (bad("n/a"), 'row 5, column "logit_1": found "n/a"'),
        (bad(None), r'column "logit_1": found NaN, or a null or blank cell, in 1 row \(row 5\)'),
        (bad(None, column=4), r'"label": found a blank cell or null in 1 row \(row 5\)'),
        (bad('<c t="s"><v>7</v></c>'), 'cell B5: found text number "7", which is not there'),
        (bad('<c t="s"><v>-1</v></c>'), 'cell B5: found text number "-1"'),
        (bad("<c><v>nan</v></c>"), 'cell B5: found "nan"'),
        (bad('<c t="zz"><v>1</v></c>'), 'cell B5: found "1"'),
        (bad("<c><v>1e999</v></c>"), r"infinity \(inf\) in 1 row \(row 5\)"),
        ([*ROWS[:9], [None] * 5, *ROWS[9:]], "row 10: found a blank row inside the table"),
        (ROWS[:1], "no rows below it"),
        ([], "no rows below it"),
        ([[f"c{k}" for k in range(4097)], [1.0] * 4097], "4,097 columns"),
        ([["x" * 50_000, "label"], [1, 0]], "a cell of more than 40,000 characters"),
        ([["a", "a", "label"], [1, 2, 0]], 'column "a" twice'),
    ],
)
def test_refused_cells(rows: list[list[Any]], message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.xlsx", of_rows(rows))


TYPE = '<!DOCTYPE worksheet [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
HEAD = rows_xml([["logit_0", "logit_1", "label"], [1, 2, 0]])


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        (sheet_xml(rows_xml([["&b;"]]), TYPE), "a document type"),
        (sheet_xml(HEAD, '<!DOCTYPE a SYSTEM "file:///etc/passwd">'), "a document type"),
        (sheet_xml(HEAD)[:-20], "damaged XML"),
        (sheet_xml("<row><c></row>"), "damaged XML"),
        (sheet_xml("<a>" * 100), "nested too deeply"),
        (sheet_xml("".join(f"<a{k}/>" for k in range(6000))), "thousands of names"),
        (sheet_xml('<row><c r="' + "A" * 3_000_000), "very long piece"),
        (sheet_xml(HEAD + " " * 3_000_000), "very long piece"),
        (sheet_xml(HEAD + "<b/>" * 600_000), "elements without a value"),
        (sheet_xml("<row><c>" + "<t/>" * 50_000), "thousands of parts"),
        (sheet_xml(HEAD + ("<row>" + "<c/>" * 1000 + "</row>") * 400), "blank cells, too many"),
        (
            sheet_xml(rows_xml([[1] * 4000]) + "<row><c><v>1</v></c></row>" * 100),
            "blank cells, too many",
        ),
        (sheet_xml('<row r="3"/><row r="2"/>'), "row 2 after row 3"),
        (sheet_xml('<row r="1048577"/>'), "row 1,048,577"),
        (sheet_xml('<row r="3"><c r="B3"/><c r="B3"/></row>'), 'cell "B3" out of order'),
        (sheet_xml('<row><c r="XFE1"/></row>'), 'cell "XFE1" out of order'),
        (sheet_xml('<row><c r="ab1"/></row>'), 'cell "ab1" out of order'),
        (sheet_xml("<row>" + "<c/>" * 16_385 + "</row>"), "out of order"),
        (sheet_xml("<c><v>1</v></c>"), "out of order"),
    ],
)
def test_refused_sheets(sheet: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.xlsx", workbook(sheet))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"workbook": "<workbook/>"}, "0 sheets"),
        ({"xl/_rels/workbook.xml.rels": relations()}, "0 sheets"),
        (
            {"xl/_rels/workbook.xml.rels": relations(("worksheet", "../../../etc/passwd"))},
            'no part "etc/passwd"',
        ),
        (
            {
                "xl/_rels/workbook.xml.rels": relations(("worksheet", "http://x/a.xml")).replace(
                    "Target=", 'TargetMode="External" Target='
                )
            },
            "0 sheets",
        ),
        (
            {"workbook": '<w><sheet name="a" id="r0"/><sheet name="b" id="r0"/></w>'},
            "2 sheets",
        ),
        ({"xl/vbaProject.bin": "x"}, "macros"),
        ({"sharedStrings": "<sst>" + "<si><t>x</t></si>" * 500_001 + "</sst>"}, "more texts than"),
        (
            {"sharedStrings": "<sst>" + f"<si><t>{'x' * 300}</t></si>" * 20_000 + "</sst>"},
            "logit_0",
        ),
        ({"styles": "<styleSheet>" + "<numFmt/>" * 100_001 + "</styleSheet>"}, "more styles"),
        ({"styles": TYPE}, "a document type"),
        ({"xl/media/a.png": "\0" * (80 << 20)}, "size limit"),
    ],
)  # fmt: skip
def test_refused_workbooks(parts: dict[str, str], message: str) -> None:
    data = workbook(sheet_xml(rows_xml(bad("n/a", column=0))), parts=parts)
    with pytest.raises(FileError, match=message):
        read("a.xlsx", data)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.xlsx", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "a password, or an old .xls file"),
        ("a.xlsx", b"a,b,label\n1,2,0\n", "not a zip file"),
        ("a.xlsx", of_rows(ROWS)[:900], "damaged or truncated zip"),
        ("a.xlsm", of_rows(ROWS), '".xlsm", not supported'),
    ],
)
def test_refused_files(name: str, data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(name, data)


GOOD = sheet_xml(rows_xml(ROWS[:5]))


@given(
    edits=st.lists(
        st.tuples(
            st.integers(0, len(GOOD) - 1),
            st.sampled_from(
                ["<", ">", '"', "/", "<c>", "</row>", "<v>", "&#0;", "9", " r='A1'", "t"]
            ),
        ),
        max_size=4,
    )
)
def test_any_damage_is_refused_or_harmless(edits: list[tuple[int, str]]) -> None:
    sheet = GOOD
    for place, text in edits:
        sheet = sheet[:place] + text + sheet[place + 1 :]
    try:
        upload = read("a.xlsx", workbook(sheet))
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
        assert str(error).isprintable()  # noqa: PT017
    else:
        assert isinstance(upload, Upload)


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(table=st.lists(st.tuples(numbers, numbers), min_size=2, max_size=20))
def test_numbers_are_as_written(table: list[tuple[float, float]]) -> None:
    rows: list[list[Any]] = [[*row, k % 2] for k, row in enumerate(table)]
    try:
        upload = read("a.xlsx", of_rows([["logit_0", "logit_1", "label"], *rows]))
    except FileError:
        return
    if upload.values_kind == "logits":
        same(upload.rows, np.array(table), np.arange(len(table)) % 2)
