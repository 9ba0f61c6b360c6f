"""Texts of a column become numbers where they are, and stay as written where they are not."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.readers.formats.cells import (
    column_of_dates,
    column_of_numbers,
    column_of_texts,
    encoded,
)


@pytest.mark.parametrize(
    ("cells", "numbers", "commas", "percents"),
    [
        (["12,5", "8"], [12.5, 8], 1, 0),
        (["12,5", "1,234"], [12.5, 1.234], 2, 0),
        (["0,123", "-0,5"], [0.123, -0.5], 2, 0),
        (["1,234.5", "950"], [1234.5, 950], 0, 0),
        (["1,234,567", "1,234"], [1234567, 1234], 0, 0),
        (["1.234,5", "1.234", "7"], [1234.5, 1234, 7], 1, 0),
        (["1 234,5", "2"], [1234.5, 2], 1, 0),
        (["1'234.5", "1\u202f000"], [1234.5, 1000], 0, 0),
        (["12.5 %", "12,5%", "3"], [12.5, 12.5, 3], 1, 2),
        (["+1.5", " 2 ", "\u22123", ".5", "5.", "1e-3"], [1.5, 2, -3, 0.5, 5, 0.001], 0, 0),
        (["inf", "-Infinity", "1e400"], [np.inf, -np.inf, np.inf], 0, 0),
    ],
)
def test_numbers_however_written(
    cells: list[str], numbers: list[float], commas: int, percents: int
) -> None:
    column = column_of_texts("a", cells)
    assert column.values.tolist() == numbers
    assert column.odd is None
    assert (column.commas, column.percents) == (commas, percents)


@pytest.mark.parametrize(
    "cells",
    [
        ["1,234", "950"], ["True", "False"], ["1_000", "0x10"], ["\u0661", "\u0662"],
        ["01.05.2024", "2.5.2024"], ["2024-01-05"], ["[1, 2]", "[3]"], ["[]"], ["192.168.0.1"],
        ["12345678901234567890", "12345678901234567891"], ["1", "2", "a", "b"], ["", "n/a"],
    ],
)  # fmt: skip
def test_what_is_no_number_stays_as_written(cells: list[str]) -> None:
    column = column_of_texts("a", cells)
    assert column.texts == tuple(cells)
    assert column.values.tolist() == list(range(len(cells)))


def test_other_columns_tell_what_a_comma_is() -> None:
    assert column_of_texts("a", ["1,234"], decimal_comma=True).values.tolist() == [1.234]
    assert column_of_texts("a", ["1,234,567"], decimal_comma=True).values.tolist() == [1234567]


def test_few_odd_cells_are_kept_beside_numbers() -> None:
    column = column_of_texts("a", ["1", "n/a", "2", "", "3", "4", None, "<5"])
    np.testing.assert_array_equal(column.values, [1, np.nan, 2, np.nan, 3, 4, np.nan, np.nan])
    assert column.odd is not None
    assert column.odd.rows.tolist() == [1, 3, 6, 7]
    assert column.odd.texts == ("n/a", "", "<5")
    assert column.odd.codes.tolist() == [0, 1, 1, 2]


def test_missing_cells_do_not_decide() -> None:
    column = column_of_texts("a", ["n/a"] * 90 + ["1"] * 8 + ["x"] * 2)
    assert not column.is_text
    assert column_of_texts("a", ["n/a"] * 90 + ["1"] * 7 + ["x"] * 2).is_text


def test_texts_come_in_the_order_of_their_first_rows() -> None:
    column = column_of_texts("a", ["b ", None, " a", "b", " ", "a"])
    assert column.texts == ("b", "", "a")
    assert column.values.tolist() == [0, 1, 2, 0, 1, 2]


def test_lists_of_as_many_numbers() -> None:
    for cells in (["[0.1, 0.9]", "[0.25,0.75]"], ["[0.1  0.9]", "[ 0.25 0.75 ]"]):
        assert column_of_texts("a", cells).values.tolist() == [[0.1, 0.9], [0.25, 0.75]]


def test_more_texts_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.readers.formats.cells.MAX_TEXTS", 2)
    column = column_of_texts("id", ["a", "b", "c"])
    assert column.unread == "more than 2 different texts"
    assert len(column.values) == 0
    assert column_of_texts("p", ["0,1", "0,2", "0,3"]).values.tolist() == [0.1, 0.2, 0.3]


def test_numbers_of_a_library() -> None:
    half = column_of_numbers("a", pa.array([0.5, None], pa.float32()))
    assert half.values.dtype == np.float32
    assert half.odd is not None
    assert (half.odd.rows.tolist(), half.odd.texts) == ([1], ("",))
    assert column_of_numbers("a", pa.chunked_array([[1], [2]])).values.tolist() == [1, 2]
    assert column_of_numbers("a", pa.array([True, False])).values.dtype == np.bool_
    assert column_of_numbers("a", pa.array([True, None])).values[0] == 1


def test_dates_of_a_library() -> None:
    days = pa.array([0, 86_400, None], pa.timestamp("s"))
    assert column_of_dates("a", days).texts == ("1970-01-01", "1970-01-02", "")
    times = pa.array([0, 1_500], pa.timestamp("ms"))
    assert column_of_dates("a", times).texts == ("1970-01-01 00:00:00", "1970-01-01 00:00:01.500")


@given(st.lists(st.one_of(st.none(), st.text(max_size=4), st.sampled_from(["a", " a", "1,5"]))))
def test_places_and_texts_give_the_cells_back(cells: list[str | None]) -> None:
    codes, texts = encoded(cells)
    written = texts.to_pylist()
    # pyarrow's white space is Unicode's, as str.strip's nearly is.
    assert [written[code] for code in codes] == [
        pa.compute.utf8_trim_whitespace(pa.scalar(cell or "")).as_py() for cell in cells
    ]
    assert written == list(dict.fromkeys(written[code] for code in codes))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_come_back_as_written(numbers: list[float]) -> None:
    assert column_of_texts("a", list(map(repr, numbers))).values.tolist() == numbers
    commas = [repr(number).replace(".", ",") for number in numbers]
    assert column_of_texts("a", commas, decimal_comma=True).values.tolist() == numbers
