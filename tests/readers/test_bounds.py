"""What a refusal may take: bounds on work and on room, by format, however a file is made."""

import json
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dashboard.readers import FileError, Options, parse, read
from dashboard.readers.apart import parse_apart
from dashboard.readers.binary import npy, parquet, parquet_footer, parquet_texts
from dashboard.readers.binary.archive import open_archive
from dashboard.readers.binary.npy import text_codes
from dashboard.readers.binary.parquet_texts import CodedTexts
from dashboard.readers.columns import growing
from dashboard.readers.columns.growing import (
    GrowingColumn,
    GrowingText,
    Room,
    shared_room,
    spelled,
)
from dashboard.readers.contents import RawSet
from dashboard.readers.json_files import json_text
from dashboard.readers.pickles import machine
from dashboard.readers.sheets.xlsx_parts import Work
from tests.readers.files import LABELS, LOGITS, npz
from tests.readers.test_parquet import parquet as written
from tests.readers.test_xlsx import ROWS, of_rows, sheet_xml, workbook

HEAD = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in ("p0", "p1", "label"))


@pytest.mark.parametrize(
    ("cells", "nanoseconds"),
    [
        ("<c><v>0.25</v></c>", Work.cell),
        ("<c><f>A1</f><v>0.25</v></c>", Work.cell + Work.formula),
        ('<c t="inlineStr"><is><t>cat</t></is></c>', 2 * Work.cell),
        ('<c s="1"><v>40000</v></c>', Work.cell + Work.date),
        ('<c t="inlineStr"><is><r><t>cat</t></r></is></c>', 4 * Work.element),
    ],
)
def test_what_cells_of_a_workbook_count(
    monkeypatch: pytest.MonkeyPatch, cells: str, nanoseconds: int
) -> None:
    styles = '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
    row = f"<row>{cells}<c><v>0.5</v></c><c><v>1</v></c></row>"
    spent: list[int] = []
    monkeypatch.setattr(Work, "add", lambda _, more, place: spent.append(more if place else 0))
    for count in (100, 1100):
        spent.append(-sum(spent) if count == 1100 else 0)
        sheet = sheet_xml(f"<row>{HEAD}</row>" + row * count)
        with pytest.raises(FileError, match="abc"):
            read("a.xlsx", workbook(sheet.replace("</sheetData>", f"{LAST}</sheetData>"),
                                    parts={"styles": styles}))  # fmt: skip
        if count == 100:
            few = sum(spent)
            spent.clear()
    more = sum(spent) - few
    assert more >= 1000 * nanoseconds
    assert more <= 1000 * (nanoseconds + 2 * Work.cell + Work.row + 8 * Work.element + 900)


LAST = "<row><c><v>0.5</v></c><c><v>0.5</v></c><c t='e'><v>abc</v></c></row>"


def test_rows_of_different_shapes_count_more(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    monkeypatch.setattr(Work, "add", lambda _, more, place: spent.append(more if place else 0))
    plain = "<row><c><v>0.5</v></c><c><v>0.5</v></c><c><v>1</v></c></row>"
    other = plain.replace("<c><v>1", "<c  ><v>1")
    counts = []
    for rows in ((plain + plain) * 500, (plain + other) * 500):
        read("a.xlsx", workbook(sheet_xml(f"<row>{HEAD}</row>{rows}")))
        counts.append(sum(spent))
        spent.clear()
    assert counts[1] - counts[0] >= 1000 * Work.mixed


def test_a_workbook_of_more_work_than_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    data = of_rows(ROWS)
    read("a.xlsx", data)
    monkeypatch.setattr(Work, "most", 60_000)
    with pytest.raises(FileError, match="more cells, texts, formulas and marks than are read"):
        read("a.xlsx", data)


def test_shared_texts_are_work_too(monkeypatch: pytest.MonkeyPatch) -> None:
    strings = "<sst>" + "<si><t>x</t></si>" * 5000 + "</sst>"
    data = workbook(sheet_xml(""), parts={"sharedStrings": strings})
    monkeypatch.setattr(Work, "most", 4000 * Work.cell)
    with pytest.raises(FileError, match=r"sharedStrings.xml.*than are read"):
        read("a.xlsx", data)


def test_texts_of_all_columns_share_their_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "_ROOM", 100_000)
    with shared_room():
        first, second = GrowingText(), GrowingText()
        first.extend([f"a{k}" for k in range(5000)])
        second.extend([f"b{k}" for k in range(5000)])
    kept = first.finish(), second.finish()
    assert 500 < len(kept[0].cells) < 1000
    assert [len(kept[1].cells), (kept[1].codes < 0).sum()] == [50, 4950]
    assert GrowingText().room is not first.room


@pytest.mark.parametrize("kind", ["whole", "decimal"])
def test_numbers_turned_to_texts_are_kept_in_their_order(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(growing, "_PART", 100)
    rng = np.random.default_rng(0)
    numbers = (
        rng.integers(0, 300, 1000).tolist()
        if kind == "whole"
        else np.round(rng.normal(size=1000), 1).tolist()
    )
    column = GrowingColumn()
    column.extend(numbers)
    column.extend(["x"])
    made = column.finish()
    assert not isinstance(made, np.ndarray)
    texts = [*map(spelled, numbers), "x"]
    assert [made.cells[code] for code in made.codes] == texts
    assert list(made.cells) == list(dict.fromkeys(texts))


def test_json_that_is_not_plain_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"p0": 0.25, "p1": 0.75, "label": k % 2, "age": float("nan")} for k in range(5000)]
    data = json.dumps(rows).encode()
    plain = json.dumps([{**row, "age": None} for row in rows]).encode()
    monkeypatch.setattr(json_text, "_MAX_WALKED", 100_000)
    with pytest.raises(FileError, match=r"bytes of JSON, of which .* not plain in it, such as NaN"):
        parse("a.json", data, Options())
    parse("a.json", plain, Options())


@pytest.mark.parametrize("between", ["\n", ","])
def test_rows_of_json_are_bounded(monkeypatch: pytest.MonkeyPatch, between: str) -> None:
    rows = [json.dumps({"p0": 0.25, "p1": 0.75, "label": k % 2}) for k in range(5000)]
    text = between.join(rows)
    data = (text if between == "\n" else f"[{text}]").encode()
    parse("a.json", data, Options())
    monkeypatch.setattr(json_text, "_MOST_WORK", 9 * len(data) + 450 * 1000)
    with pytest.raises(FileError, match="bytes of JSON with more rows than are read"):
        parse("a.json", data, Options())


def test_values_of_a_parquet_file_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = {"p0": rng.random(100), "p1": rng.random(100), "label": ["a", "b"] * 50}
    monkeypatch.setattr(parquet, "_MOST_VALUES", 400)
    parse("a.parquet", written(table), Options())
    monkeypatch.setattr(parquet, "_MOST_VALUES", 399)
    with pytest.raises(FileError, match="400 values of use, of which texts count twice"):
        read("a.parquet", written(table))


def test_texts_are_looked_up_in_the_dictionary_of_their_rows() -> None:
    words = [f"w{k % 7 if k < 500 else k % 5 + 20}" if k % 11 else None for k in range(1000)]
    table = {"p0": [0.25] * 1000, "p1": [0.75] * 1000, "label": [0, 1] * 500, "town": words}
    for dictionary in (True, False):
        data = written(table, row_group_size=100, use_dictionary=dictionary)
        raw = parse("a.parquet", data, Options()).sets["rows"]
        assert isinstance(raw, RawSet)
        (column,) = raw.columns
        assert column.categories is not None
        assert [column.categories[code] or None for code in column.values] == words


def test_texts_of_many_dictionaries_are_those_of_each_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parquet_texts, "_AT_ONCE_ROWS", 300)
    monkeypatch.setattr(parquet_texts, "_AT_ONCE_ENTRIES", 90)
    rng = np.random.default_rng(0)
    long = ["x" * 300 + end for end in "ab"]
    words: list[str | None] = [None, "", "\u72ac", *long, *(f"w{k}" for k in range(200))]
    rows = [words[k] for k in rng.integers(0, len(words), 3000) * (rng.random(3000) < 0.5)]
    cut = [(row or "")[:257] for row in rows]
    for size in (50, 170, 3000):
        file = pq.ParquetFile(
            pa.BufferReader(written({"town": rows}, row_group_size=size)), read_dictionary=["town"]
        )
        texts = CodedTexts(len(rows), Room())
        assert all(texts.take(batch.column(0)) for batch in file.iter_batches(batch_size=100))
        text = texts.finish()
        assert text is not None
        assert [text.cells[code] for code in text.codes] == cut
        assert sorted(text.cells) == sorted(set(cut))


def test_texts_without_room_are_left_out_at_sight() -> None:
    room = Room()
    room.left = -1
    few, many = (pa.array([f"w{k}" for k in range(n)]).dictionary_encode() for n in (50, 51))
    assert CodedTexts(50, room).take(few)
    assert not CodedTexts(51, room).take(many)


@pytest.mark.parametrize(("dictionary", "most"), [(True, 8), (False, 1000)])
def test_columns_of_the_most_different_texts_are_left_out(
    monkeypatch: pytest.MonkeyPatch, *, dictionary: bool, most: int
) -> None:
    names = [f"{k}.5" for k in range(1000)]
    table = {"p0": [0.25] * 1000, "p1": [0.75] * 1000, "label": [0, 1] * 500, "height": names,
             "town": ["a", "b"] * 500}  # fmt: skip
    data = written(table, use_dictionary=dictionary)
    monkeypatch.setattr(parquet_footer, "_MOST_DIFFERENT", most)
    contents = parse("a.parquet", data, Options())
    raw = contents.sets["rows"]
    assert isinstance(raw, RawSet)
    assert [column.name for column in raw.columns] == ["town"]
    assert any("height" in line for line in contents.found)


@pytest.mark.parametrize("statistics", [True, False])
def test_what_nulls_make_of_whole_numbers_is_counted(
    monkeypatch: pytest.MonkeyPatch, *, statistics: bool
) -> None:
    rng = np.random.default_rng(0)
    monkeypatch.setattr(parquet, "_SPARE_BYTES", 250_000)

    def table(share: float) -> bytes:
        gone = rng.random((12, 10_000)) < share
        values = rng.integers(0, 2, (12, 10_000), dtype=np.int8)
        beside = {f"x{k}": pa.array(values[k], mask=gone[k]) for k in range(12)}
        score = {"score": np.full(10_000, 0.5), "label": pa.array(values[0])}
        return written({**beside, **score}, write_statistics=statistics)

    parse("a.parquet", table(0), Options())
    with pytest.raises(FileError, match=r"10,000 rows, 0 MB of values in a file of .* too large"):
        parse("a.parquet", table(0.5), Options())


@pytest.mark.parametrize(
    ("dtype", "wider"), [("int8", "f4"), ("uint16", "f4"), ("int32", "f8"), ("bool", "f4")]
)
def test_whole_numbers_with_nulls_are_exact(dtype: str, wider: str) -> None:
    most = 1 if dtype == "bool" else np.iinfo(dtype).max
    values = np.array([most, 0, 1, most - 1] * 25).astype(dtype)
    beside = pa.array(values, mask=np.arange(100) == 2)
    table = {"score": np.full(100, 0.5), "label": [0, 1] * 50, "x": beside}
    raw = parse("a.parquet", written(table), Options()).sets["rows"]
    (column,) = raw.columns
    assert column.values.dtype == wider
    assert np.isnan(column.values[2])
    assert np.array_equal(np.delete(column.values, 2), np.delete(values, 2).astype(float))


def test_texts_that_are_not_utf_8_are_refused() -> None:
    texts = pa.array([b"ok", b"\xff\xfe"] * 50).view(pa.binary())
    table = {"p0": [0.25] * 100, "p1": [0.75] * 100, "label": [0, 1] * 50, "town": texts}
    data = written(table).replace(b"\xff\xfe", b"\xff\xff")
    columns = parse("a.parquet", data, Options())
    assert any("town" in line for line in columns.found)


def test_compressed_members_are_bounded() -> None:
    arrays = {"logits": LOGITS, "labels": LABELS}
    open_archive(npz(**arrays), ".npz", most_deflated=10)
    with pytest.raises(FileError, match=r"compressed members that expand .* numpy\.savez does"):
        open_archive(npz(compress=True, **arrays), ".npz", most_deflated=10)


def test_many_texts_are_coded_as_few_are() -> None:
    rng = np.random.default_rng(0)
    texts = np.array(["b", "a\0b", "ü", "", "z" * 9])[rng.integers(0, 5, 70_000)]
    different, codes = text_codes(texts, "x")
    expected, places = np.unique(texts, return_inverse=True)
    assert list(different) == expected.tolist()
    np.testing.assert_array_equal(codes, places)


def test_labels_of_much_text_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = npz(logits=LOGITS, labels=np.array(["cat", "dog"] * (len(LOGITS) // 2)))
    monkeypatch.setattr(npy, "_MOST_TEXT_BYTES", 100)
    with pytest.raises(FileError, match="MB of text, wanted class numbers"):
        read("a.npz", data)


def test_an_array_that_lies_in_the_file_is_not_copied() -> None:
    data = npz(logits=LOGITS, labels=LABELS)
    raw = parse_apart("a.npz", data).sets["rows"]
    assert isinstance(raw, RawSet)
    assert raw.table is not None
    assert np.shares_memory(raw.table, np.frombuffer(data, dtype=np.uint8))
    np.testing.assert_array_equal(raw.table, LOGITS)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_half_precision_is_looked_through(bad: float) -> None:
    table = np.round(LOGITS, 1).astype(np.float16)
    table[7, 1] = bad
    with pytest.raises(FileError, match=r"in 1 row \(row 8\)"):
        read("a.npz", npz(logits=table, labels=LABELS))


def test_lines_of_old_pickles_count_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pickle.dumps([[0.5, 0.25]] * 2 + [0.125] * 4, protocol=0)
    steps = 60
    monkeypatch.setattr(machine, "_STEPS_OF_A_LINE", 0)
    monkeypatch.setattr(machine, "MAX_STEPS", steps)
    machine.run(data)
    monkeypatch.setattr(machine, "_STEPS_OF_A_LINE", 10)
    with pytest.raises(FileError, match="more than 60 steps"):
        machine.run(data)


def test_columns_of_types_that_swell_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    small, wide = [np.zeros(1000, dtype=np.int8)] * 20, [np.zeros(1000)]
    assert npy.side_by_side([*small, *wide]).dtype == np.float64
    monkeypatch.setattr(npy, "_SPARE_BYTES", 0)
    assert npy.side_by_side(small).dtype == np.int8
    with pytest.raises(FileError, match="numbers of types float64 and int8, wanted numbers of one"):
        npy.side_by_side([*small, *wide])
