"""Parquet files become tables: values as written, nested ones flat, damage refused."""

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.readers.formats.parquet import read_parquet
from dashboard.readers.records import Column
from dashboard.readers.refusal import FileError
from tests.readers.files import parquet

SCORES = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]], dtype=np.float32)


def columns_of(columns: dict[str, Any], **options: Any) -> dict[str, Column]:
    table = read_parquet(parquet(columns, **options))
    assert table.n_rows == len(next(iter(columns.values())))
    return {column.name: column for column in table.columns}


def only(values: Any, **options: Any) -> Column:
    (column,) = columns_of({"a": values}, **options).values()
    return column


def test_values_keep_their_type() -> None:
    result = columns_of({"p": SCORES[:, 0], "n": [3, 1, 2], "word": ["b", "a", "b"]})
    assert result["p"].values.dtype == np.float32
    assert result["p"].values.tolist() == [0.25, 0.5, 1.0]
    assert result["n"].values.dtype == np.int64
    assert result["n"].values.tolist() == [3, 1, 2]
    assert result["word"].texts == ("b", "a")
    assert result["word"].values.tolist() == [0, 1, 0]


@pytest.mark.parametrize("values", [[1, None, 3], [1.0, None, 3.0], [True, None, True]])
def test_nulls_among_numbers_are_odd_cells(values: list[Any]) -> None:
    column = only(values)
    assert np.isnan(column.values).tolist() == [False, True, False]
    assert column.odd is not None
    assert (column.odd.rows.tolist(), column.odd.texts) == ([1], ("",))


def test_nan_that_is_no_null_is_a_number() -> None:
    assert only([0.5, float("nan")]).odd is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([True, False], [True, False]),
        ([Decimal("1.25"), Decimal("-2.5")], [1.25, -2.5]),
        (pa.array([5, 6, 5]).dictionary_encode(), [5, 6, 5]),
        (["1.5", "2"], [1.5, 2.0]),
        (np.array([0.5, 2], dtype=np.float16), [0.5, 2.0]),
        (np.array([0.5, 2]), [0.5, 2.0]),
        (np.array([3, -1], dtype=np.int8), [3, -1]),
    ],
)
def test_numbers_of_other_types(values: Any, expected: list[float]) -> None:
    column = only(values)
    assert not column.is_text
    assert column.values.tolist() == expected


def test_a_category_keeps_the_texts_that_stand_in_rows() -> None:
    codes = pa.array([2, 1, None, 2], pa.int8())
    column = only(pa.DictionaryArray.from_arrays(codes, ["never", "a", "b"]))
    assert column.texts is not None
    assert [column.texts[code] for code in column.values] == ["b", "a", "", "b"]
    assert set(column.texts) == {"a", "b", ""}


def test_dates_are_texts() -> None:
    assert only(pa.array([0, 1], pa.date32())).texts == ("1970-01-01", "1970-01-02")
    assert only(pa.array([0, None], pa.timestamp("ns"))).texts == ("1970-01-01", "")


@pytest.mark.parametrize("groups", [2, 3])
def test_lists_of_one_length_have_two_axes(groups: int) -> None:
    for lists in (
        pa.array(list(SCORES)),
        pa.array(list(SCORES), pa.large_list(pa.float32())),
        pa.FixedSizeListArray.from_arrays(SCORES.ravel(), 2),
    ):
        column = only(lists, row_group_size=groups)
        assert column.values.dtype == np.float32
        assert column.values.tolist() == SCORES.tolist()
    assert only([["1", "2.5"]] * 2).values.tolist() == [[1, 2.5]] * 2


def test_a_null_list_is_a_blank_cell() -> None:
    column = only([[1.0, 2.0], None, [3.0, 4.0]])
    assert column.odd is not None
    assert column.odd.rows.tolist() == [1]
    np.testing.assert_array_equal(column.values, [[1, 2], [np.nan, np.nan], [3, 4]])


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([[1, 2], [1, 2], [1]], "lists of unequal length: 2 in row 1, 1 in row 3"),
        ([["x"]], 'lists of texts such as "x"'),
        ([["1", "x"]], 'lists of texts such as "x"'),
        ([[[1.0], [2.0]]], "nested lists"),
        ([[{"a": 1}, {"a": 2}]], "lists of objects"),
        ([b"\xff"], "bytes"),
        ([[b"\xff"]], "lists of bytes"),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())), "objects"),
        (pa.array([1], pa.duration("s")), "durations"),
        ([{"type": 0, "values": [0.5]}], "sparse vectors"),
    ],
)
def test_what_no_column_holds_is_not_read(values: Any, why: str) -> None:
    column = only(values)
    assert (column.unread, column.values.size) == (why, 0)


def test_members_of_structs_are_columns_with_dots() -> None:
    result = columns_of({"s": [{"a": 1, "b": {"c": 0.5}}, None], "label": ["x", "y"]})
    assert [*result] == ["s.a", "s.b.c", "label"]
    np.testing.assert_array_equal(result["s.b.c"].values, [0.5, np.nan])
    vectors = columns_of({"probability": [{"type": 1, "values": [0.25, 0.75]}] * 2})
    assert vectors["probability"].values.tolist() == [[0.25, 0.75]] * 2


def test_the_index_of_pandas_stays_a_column() -> None:
    frame = pa.table({"p": [0.5]}).to_pandas()
    frame.index = ["row 1"]
    table = read_parquet(parquet(pa.Table.from_pandas(frame)))
    assert [column.name for column in table.columns] == ["p", "__index_level_0__"]
    assert table.shown == (("0.5", "row 1"),)


GOOD = parquet(
    {"p": [0.25, 0.5, 0.75], "word": ["a", "b", "a"], "list": [[1, 2]] * 3}, row_group_size=2
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"not a table at all", "not a Parquet file"),
        (GOOD[: len(GOOD) // 2], "without its end"),
        (GOOD[:-4] + b"PARE", "encrypted"),
        (GOOD[:-8] + b"\xff\xff\xff\x7fPAR1", "damaged"),
        (GOOD[:4] + b"\xff" * 60 + GOOD[64:], "damaged"),
        (parquet(pa.table([[1], [2]], names=["a", "a"])), 'column "a" twice'),
        (parquet({"a": pa.array([], pa.int8())}), "no rows"),
    ],
)
def test_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_parquet(data)


@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=4
    )
)
def test_any_damage_is_refused_or_harmless(edits: list[tuple[int, int]]) -> None:
    data = bytearray(GOOD)
    for place, byte in edits:
        data[place] = byte
    try:
        table = read_parquet(bytes(data))
    except (FileError, MemoryError):
        return
    assert all(c.unread or len(c.values) == table.n_rows for c in table.columns)


@pytest.mark.parametrize(
    "lists",
    [
        [[0.5] * 4097] * 2,
        [[{"label": str(k), "score": 0.5} for k in range(4097)]] * 2,
    ],
)
def test_more_classes_in_a_cell_than_a_table_may_have(lists: list[Any]) -> None:
    with pytest.raises(FileError, match=r'column "out": lists of more than 4,096 .*npz'):
        read_parquet(parquet({"out": lists, "label": [0, 4096]}))
    table = read_parquet(parquet({"out": lists, "score": [0.25, 0.5], "label": [0, 1]}))
    assert [column.name for column in table.columns] == ["out", "score", "label"]
