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
from dashboard.readers import FileError, Upload, parse, read
from dashboard.readers.records import FileTable
from dashboard.readers.refusal import Question
from tests.readers.files import HEADER, LABELS, LOGITS, PROBABILITIES, csv_of, same

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


def test_one_sheet_reads_as_the_same_table_in_text() -> None:
    upload = read("a.xlsx", of_rows(ROWS))
    same(upload.rows)
    assert upload.notes == read("a.csv", csv_of(TABLE, LABELS, header=HEADER)).notes
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
    assert any("holds values, not names" in line for line in upload.notes)
    counted = of_rows([[str(k) for k in range(5)], *ROWS[1:]])
    same(read("a.xlsx", counted).rows)


@pytest.mark.parametrize(
    "names", [("Val", "test set"), ("Validation", "Test"), ("Validation", "Hold-out")]
)
def test_two_sheets_named_after_the_sets(names: tuple[str, str]) -> None:
    sheets = [sheet_xml(rows_xml([NAMES, *rows])) for rows in (ROWS[1:], ROWS[:0:-1])]
    notes = sheet_xml(rows_xml([["Written by hand"]]))
    upload = read("a.xlsx", workbook(*sheets, notes, names=(*names, "notes")))
    same(upload.calibration)
    same(upload.test, TABLE[::-1], LABELS[::-1])
    assert any("Not read: notes" in line for line in upload.notes)


SCORED: list[list[Any]] = [
    ["policy", "probability", "lapsed"],
    *([f"P{k}", (37 * k % 97) / 100, int(k % 3 == 0)] for k in range(60)),
]
OTHERS = [SCORED[0], *([name, p * p, lapsed] for name, p, lapsed in SCORED[1:])]


def book(**sheets: list[list[Any]]) -> bytes:
    names = tuple(name.replace("_", " ") for name in sheets)
    return workbook(*(sheet_xml(rows_xml(rows)) for rows in sheets.values()), names=names)


@pytest.mark.parametrize("second", [OTHERS, [OTHERS[0], *OTHERS[:0:-1]]])
def test_models_in_sheets_are_asked_about_as_models_in_files(second: list[list[Any]]) -> None:
    made = book(Model_A=SCORED, Model_B=second)
    with pytest.raises(Question, match='2 models of the same rows, in "Model A"; "Model B"') as of:
        read("a.xlsx", made)
    first, other, two_sets, parts = of.value.answers
    for answer, rows in ((first, SCORED), (other, second)):
        upload = read("a.xlsx", made, **answer.change)
        alone = read("a.xlsx", of_rows(rows))
        assert isinstance(upload.rows, LogitSet)
        assert isinstance(alone.rows, LogitSet)
        np.testing.assert_array_equal(upload.rows.logits, alone.rows.logits)
        np.testing.assert_array_equal(upload.rows.labels, alone.rows.labels)
        assert any(note.startswith("Left out, as chosen") for note in upload.notes)
    assert [*read("a.xlsx", made, **two_sets.change).sets] == ["calibration", "test"]
    pooled = read("a.xlsx", made, **parts.change)
    assert pooled.sets["rows"].n_samples == 120
    assert "sheet" in pooled.columns["rows"]
    chosen = read("a.xlsx", made, together=("models",))
    assert chosen.sets["rows"].n_samples == 60


@pytest.mark.parametrize("together", [(), ("sets", "of another file"), ("without", "another.csv")])
def test_sheets_of_other_rows_are_put_together_and_doubted(together: tuple[str, ...]) -> None:
    other = [OTHERS[0], *([f"Q{k}", p, 1 - y] for k, (_, p, y) in enumerate(OTHERS[1:]))]
    upload = read("a.xlsx", book(**{"2023": SCORED, "2024": other}), together=together)
    assert upload.sets["rows"].n_samples == 120
    assert upload.doubts[0] == "The rows of 2 sheets were put together: 2023, 2024."
    sets = read("a.xlsx", book(Train=SCORED, Test=other))
    assert sets.sets["rows"].n_samples == 60
    assert not any("put together" in doubt for doubt in sets.doubts)
    chosen = read("a.xlsx", book(Train=SCORED, Test=other), sets="one")
    assert any("put together" in doubt for doubt in chosen.doubts)


def test_outcomes_in_a_sheet_that_is_not_read_are_told_of() -> None:
    scores, outcomes = ([[r[0], r[k]] for r in SCORED] for k in (1, 2))
    upload = read("a.xlsx", book(Predictions=scores, Outcomes=outcomes))
    with pytest.raises(FileError, match=r"Not read: Outcomes.* its sheets as files of their own"):
        upload.split()


@pytest.mark.parametrize("kept", [slice(4), slice(4, None)])
def test_a_sheet_that_lacks_a_part_is_said_to_be_left(kept: slice) -> None:
    sheets = [sheet_xml(rows_xml(ROWS)), sheet_xml(rows_xml([row[kept] for row in ROWS]))]
    upload = read("a.xlsx", workbook(*sheets, names=("val", "test")))
    same(upload.rows)
    assert "Sheet val was read. Not read: test." in upload.notes


def test_dates_flags_and_words_tell_rows_apart() -> None:
    styles = (
        f'<styleSheet {MAIN}><numFmts><numFmt numFmtId="170" formatCode="0.0&quot; days&quot;"/>'
        '<numFmt numFmtId="171" formatCode="[$-409]dd/mm/yyyy"/></numFmts><cellStyleXfs>'
        '<xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>'
        '<xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></styleSheet>'
    )
    rows: list[list[Any]] = [[*NAMES, "day", "wait", "when", "new"]]
    for k, row in enumerate(ROWS[1:]):
        days = [f'<c s="{s}"><v>{45322 + 40 * (k % 2)}</v></c>' for s in (1, 3)]
        rows.append([*row, days[0], f'<c s="2"><v>{k % 3}.5</v></c>', days[1], k % 4 == 0])
    slices = read("a.xlsx", of_rows(rows, styles=styles)).columns["rows"]
    assert slices["day"].categories == slices["when"].categories == ("2024-01", "2024-03")
    assert slices["wait"].values[:3].tolist() == [0.5, 1.5, 2.5]
    assert slices["new"].values.tolist().count(slices["new"].values[0]) == 10


def test_a_stray_cell_far_from_the_table() -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    with pytest.raises(FileError, match=r"XFD and row 1,048,576, .* far from its table"):
        read("a.xlsx", workbook(sheet_xml(rows_xml(ROWS) + far)))


def bad(value: Any, row: int = 5, column: int = 1) -> list[list[Any]]:
    rows = [list(r) for r in ROWS]
    rows[row - 1][column] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (bad('<c t="e"><v>#N/A</v></c>'), r"logit_1 1 \(blank\); in 1 row \(row 5\)"),
        (bad("<c><f>A1</f><v></v></c>"), r"logit_1 1 \(blank\); in 1 row \(row 5\)"),
        (bad("n/a"), r'logit_1 1 \("n/a"\); in 1 row \(row 5\)'),
        (bad(None, column=4), r"label 1 \(blank\); in 1 row \(row 5\)"),
        (bad("<c><v>nan</v></c>"), r"logit_1 1 \(NaN\); in 1 row \(row 5\)"),
        (bad("<c><v>1e999</v></c>"), r"logit_[0-9] 1 \(infinite\); in 1 row \(row 5\)"),
        (bad('<c t="s"><v>7</v></c>'), "damage"),
        (bad('<c t="zz"><v>1</v></c>'), "damage"),
        ([[f"c{k}" for k in range(4097)], [1.0] * 4097], "4,097 columns"),
    ],
)
def test_refused_cells(rows: list[list[Any]], message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.xlsx", of_rows(rows))


TYPE = '<!DOCTYPE worksheet [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "sheet",
    [
        sheet_xml(rows_xml([["&b;"]]), TYPE),
        sheet_xml("<row><c></row>"),
        sheet_xml("<a>" * 100),
        sheet_xml('<row><c r="' + "A" * 3_000_000),
        sheet_xml("<row><c>" + "<t/>" * 50_000),
        sheet_xml('<row r="1048577"/>'),
        sheet_xml('<row r="3"><c r="B3"/><c r="B3"/></row>'),
        sheet_xml('<row><c r="ab1"/></row>'),
        sheet_xml("<row>" + "<c/>" * 16_385 + "</row>"),
    ],
)
def test_refused_sheets(sheet: str) -> None:
    with pytest.raises(FileError, match=r"damage|only blank lines|far from its table"):
        read("a.xlsx", workbook(sheet))


@pytest.mark.parametrize(
    "parts",
    [
        {"workbook": "<workbook/>"},
        {"xl/_rels/workbook.xml.rels": relations()},
        {"xl/_rels/workbook.xml.rels": relations(("worksheet", "../../../etc/passwd"))},
        {"xl/_rels/workbook.xml.rels": relations(("worksheet", "http://x/a.xml"))},
        {"styles": TYPE},
    ],
)
def test_nothing_outside_of_a_workbook_is_read(parts: dict[str, str]) -> None:
    with pytest.raises(FileError, match=r"workbook: (damage|0 sheets)"):
        read("a.xlsx", workbook(sheet_xml(rows_xml(ROWS)), parts=parts))


def test_macros_have_another_ending() -> None:
    with pytest.raises(FileError, match=r'"\.xlsm", not supported'):
        read("a.xlsm", of_rows(ROWS))


CLASSES = ["cat", "dog", "fox", "owl"]
HEAD = [*CLASSES, "label"]
CHANCES: list[list[Any]] = [
    [*map(float, row), CLASSES[label]] for row, label in zip(PROBABILITIES, LABELS, strict=True)
]


def are(upload: Upload) -> None:
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == tuple(CLASSES)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-9)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (lambda p: f"{100 * p:.10f}%", "divided by 100 in all 40 rows"),
        (lambda p: f"{100 * p:.10f} %".replace(".", ","), "divided by 100 in all 40 rows"),
        (lambda p: f"{p:.12f}".replace(".", ","), ""),
    ],
)
def test_numbers_written_as_texts(written: Any, text: str) -> None:
    upload = read("a.xlsx", of_rows([HEAD, *([*map(written, r[:-1]), r[-1]] for r in CHANCES)]))
    are(upload)
    assert text in " ".join(upload.repairs)
    assert bool(text) == bool(upload.repairs)


def test_classes_may_be_called_percentages() -> None:
    names = ["5%", "10%", "20%", "40%"]
    called = dict(zip(CLASSES, names, strict=True))
    data = of_rows([[*names, "label"], *[[*row[:-1], called[row[-1]]] for row in CHANCES]])
    upload = read("a.xlsx", data, header=True)
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == ("5", "10", "20", "40")
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


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


@given(table=st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=20, max_size=40))
def test_numbers_are_as_written(table: list[tuple[float, float]]) -> None:
    rows: list[list[Any]] = [[*row, k % 2] for k, row in enumerate(table)]
    contents = parse("a.xlsx", of_rows([["logit_0", "logit_1", "label"], *rows]))
    assert isinstance(contents, FileTable)
    columns = np.column_stack([column.values for column in contents.columns])
    np.testing.assert_array_equal(columns, np.array(rows, dtype=float))
