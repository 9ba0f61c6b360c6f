"""Rows cut from the bytes of a sheet are what the XML parser would make of them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dashboard.readers import FileError, read
from dashboard.readers.contents import RawSet
from dashboard.readers.sheets.xlsx_rows import END, PlainPieces, Shapes, parted
from tests.readers.test_xlsx import ROWS, cell, of_rows, rows_xml, sheet_xml, workbook


def at_once_and_slowly(data: bytes) -> tuple[object, object]:
    """Read with rows cut out of the bytes, and by the XML parser alone."""

    def outcome() -> object:
        try:
            upload = read("a.xlsx", data)
        except FileError as error:
            return str(error)
        raw = upload.contents.sets["rows"]
        assert isinstance(raw, RawSet)
        columns = [(column.name, column.categories, column.values) for column in raw.columns]
        made = raw.table, raw.labels, raw.label_texts, raw.class_names, columns
        return upload.found, repr(jsonable(made))

    cut = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlainPieces, "parts", lambda _, piece: iter([(False, piece)]))
        return cut, outcome()


def jsonable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    return [jsonable(part) for part in value] if isinstance(value, list | tuple) else value


ROW = "<row><c><v>1</v></c><c><v>2</v></c><c><v>0</v></c></row>"
ODD = (
    f"<!--{ROW}{ROW}-->", f"<?pi {ROW}{ROW}?>", f"<![CDATA[{ROW}{ROW}]]>", "<row/>",
    "</row>", "<x>",
    '<row r="2"><c><v>1</v></c></row>',
    '<row><c r="B5"><v>1</v></c><c r="A5"><v>2</v></c><c r="C5"><v>0</v></c></row>',
    '<row><c r="A5"><v>1</v></c><c r="B5"><v>2</v></c><c r="D5"><v>0</v></c></row>',
)  # fmt: skip
ANY_CELL = st.sampled_from(
    [
        "<c><v>1.5</v></c>", "<c><v>-2</v></c>", "<c><v>0</v></c>", '<c t="n"><v>1e3</v></c>',
        '<c s="1"><v>2</v></c>', '<c s="2"><v>4.5</v></c>', '<c t="s"><v>0</v></c>',
        '<c t="s"><v>77</v></c>', '<c t="s"><v>1</v></c>', '<c t="b"><v>1</v></c>', "<c/>",
        "<c><v>1.25</v></c>",
        "<c><v>3</v></c>", "<c><v>-0.5</v></c>", "<c><v>7e-3</v></c>", "<c><v>1</v></c>",
        "<c><f>1+1</f><v>2</v></c>", '<c><f t="shared" si="0"/><v>2</v></c>',
        '<c><f t="array" ref="A1:B2">IF(A1&gt;"x",1,2)</f><v>3</v></c>', "<c><f>é</f><v>2</v></c>",
        '<c t="s"><f>A1</f><v>1</v></c>', "<c><f>A1</f><f>A2</f><v>1</v></c>", "<c><f>A1</f></c>",
        "<c><f>a]]>b</f><v>1</v></c>", "<c><f>a&b;</f><v>1</v></c>", "<c><f>a<v>1</v></f></c>",
        '<c t="str"><f>A1</f><v>1</v></c>', "<c><v>1_0</v></c>", "<c><v> 3 </v></c>",
        '<c t="s"><v>2</v></c>', '<c t="inlineStr"><is><t>x &amp; y</t></is></c>',
        '<c t="inlineStr"><is><t xml:space="preserve"> z </t></is></c>',
        '<c t="inlineStr"><is><t></t></is></c>', '<c t="inlineStr"><is><t>&#65;</t></is></c>',
        '<c t="inlineStr"><is><r><t>b</t></r></is></c>', '<c t="inlineStr"><v>w</v></c>',
        "<c><is><t>4</t></is></c>", "<c><is><t>5</v></c>", "<c><v>5</t></is></c>",
        '<c t="d"><v>2020-01-01</v></c>', '<c t="e"><v>#N/A</v></c>', '<c s="1"><v>2.75</v></c>',
        "<c><v>123456789012345678</v></c>", "<c><v>-0</v></c>", "<c><v>1e999</v></c>",
        "<c><v>007</v></c>", "<c><v></v></c>", '<c t="b"><v>x</v></c>', "<c><v>true</v></c>",
        '<c t="s"><v>1.5</v></c>', '<c t="s"><v>-1</v></c>', '<c s="1" s="1"><v>1</v></c>',
        "<c ><v>1</v></c >", "<c>\n<v>1</v></c>", "<c><v>1,2</v></c>", "<c><v>1<v>2</v></c>",
    ]
)  # fmt: skip


GOOD = [("<c><v>1.5</v></c>", "<c><v>-2</v></c>", "<c><v>0</v></c>")] * 2


@example(GOOD, [(1, ODD[0])], 0)
@example(GOOD, [(1, ODD[1])], 0)
@example(GOOD, [(1, ODD[2])], 0)
@example([*GOOD, ("<c><f>a]]>b</f><v>1</v></c>", *GOOD[0][1:]), *GOOD], [], 0)
@example([("<c><v>1.5</v></c>", '<c t="s"><v>1</v></c>', "<c><v></v></c>")], [], 0)
@example([("<c><v>1.5</v></c>", '<c t="s"><v></v></c>', "<c><v>0</v></c>")], [], 0)
@given(
    st.lists(st.tuples(ANY_CELL, ANY_CELL, ANY_CELL), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 8), st.sampled_from(ODD)), max_size=2),
    st.integers(0, 3),
)
def test_rows_cut_from_the_bytes_are_those_of_the_parser(
    cells: list[tuple[str, str, str]], edits: list[tuple[int, str]], named: int
) -> None:
    rows = [f"<row>{cell('p0')}{cell('p1')}{cell('label')}</row>"]
    for number, row in enumerate(cells, 2):
        parts = list(row)
        if named == 1:
            places = (f'<c r="{letter}{number}"' for letter in "ABC")
            parts = [part.replace("<c", at, 1) for part, at in zip(row, places, strict=True)]
        attributes = f' r="{number}" spans="1:3"' if named > 1 else ""
        rows.append(f"<row{attributes}>{''.join(parts)}</row>")
    for place, odd in edits:
        rows.insert(min(place, len(rows)), odd)
    strings = "<sst><si><t>0</t></si><si><t>a</t></si><si><t> </t></si></sst>"
    styles = '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="2"/>'
    styles += "</cellXfs></styleSheet>"
    data = workbook(sheet_xml("".join(rows)), parts={"sharedStrings": strings, "styles": styles})
    cut, slow = at_once_and_slowly(data)
    assert cut == slow


def test_whole_rows_are_cut_whatever_the_pieces() -> None:
    sheet = sheet_xml(rows_xml(ROWS)).encode()
    for step in (1, 7, 50, 10_000):
        plain, cut = PlainPieces(END), []
        for at in range(0, len(sheet), step):
            cut += list(plain.parts(sheet[at : at + step]))
        assert all(whole and part.endswith(END) for whole, part in cut)
        assert b"".join(part for _, part in cut) + plain.rest == sheet
        assert plain.rest == b"</sheetData></worksheet>"


def test_a_fault_in_the_last_row_is_named() -> None:
    rows = [*ROWS, [1.0, 2.0, 3.0, "abc", 0]]
    with pytest.raises(FileError, match=f'row {len(rows)}, column "logit_3": found "abc"'):
        read("a.xlsx", of_rows(rows))


def test_rows_with_formulas_are_of_the_same_shape_as_others() -> None:
    row = '<row><c><f>1-B2</f><v>0.5</v></c><c><f t="shared" si="0"/><v>1</v></c></row>'
    block = parted(row.encode() * 3)
    assert block is not None
    assert block.values == [b"0.5\0", b"1\0"] * 3
    shapes = Shapes(2, "AB".index, ())
    found = [shapes.of(make, number) for number, make in enumerate(block.makes, 2)]
    assert found[0] is not None
    assert found == [found[0]] * 3
    assert found[0].places == (0, 1)
