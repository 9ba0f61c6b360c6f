"""Groups by name: the same numbers for the same values, in whatever table they come."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from calibcore import CalibrationInputError, EventScores
from calibcore.data import with_groups
from calibcore.grouping import UNKNOWN, Grouping, groupings_of, numbers_of


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["b", "a", "b"], ("a", "b")),
        ([10, 9, 10], ("9", "10")),
        ([2.5, -1.0, 2.5, 0.1], ("-1", "0.1", "2.5")),
        ([1.0, np.nan, 0.0], ("0", "1", "")),
        ([True, False], ("0", "1")),
        (["b", None, float("nan"), ""], ("", "b")),
        (pd.Series(["b", None], dtype="string"), ("", "b")),
        (pd.Series([3, None], dtype="Int64"), ("3", "")),
        (pd.Series(["b", "a"], dtype="category"), ("a", "b")),
        (np.array([["a"], ["b"]]), ("a", "b")),
    ],
)
def test_groups_are_named_in_their_order(values: Any, names: tuple[str, ...]) -> None:
    result = Grouping.of(values)
    assert result.names == names
    assert {*result.numbers(values).tolist()} == {*range(len(names))}


def test_numbers_are_those_of_a_slow_look_up(rng: np.random.Generator) -> None:
    values = rng.choice(["ward A", "ward B", "", "7", "ward C"], 500)
    known = Grouping.of(values[values != "ward C"])
    listed = ["", "7", "ward A", "ward B"]
    wanted = [listed.index(one) if one in listed else UNKNOWN for one in values.tolist()]
    assert_array_equal(known.numbers(values), wanted)
    assert Grouping.of(pd.Series(values, name="ward")).column == "ward"
    assert Grouping.of(pd.Series(values, name=3)).column == ""


@pytest.mark.parametrize("same", [3, 3.0, "3", "3.0", np.float32(3), np.int8(3)])
def test_what_is_the_same_number_is_the_same_group(same: Any) -> None:
    for values in (["1", "3", "x"], [1, 3, 4], [1.5, 3.0, 4]):
        place = Grouping.of(values).names.index("3")
        assert Grouping.of(values).numbers([same]).tolist() == [place]


def test_an_exact_text_comes_before_an_equal_number() -> None:
    known = Grouping(("1", "01", "1.0"))
    assert known.numbers(["1", "01", "1.0"]).tolist() == [0, 1, 2]
    assert known.numbers([1]).tolist() == [0]


def test_ranges_hold_their_lower_ends_and_blanks_are_a_group_where_there_is_one() -> None:
    ages = Grouping(("below 40", "40 to 60", "60 and more", ""), "age", (40.0, 60.0))
    values = [39.99, 40, 59.99, 60, 1e9, -np.inf, np.nan, 200]
    wanted = [0, 1, 1, 2, 2, 0, 3, 2]
    assert ages.numbers(values).tolist() == wanted
    texts = ["" if np.isnan(one) else str(one) for one in values]
    texts[5] = "unknown"
    assert ages.numbers(texts).tolist() == [0, 1, 1, 2, 2, 3, 3, 2]
    bare = Grouping(ages.names[:3], "age", ages.cuts)
    assert bare.numbers([np.nan, 50]).tolist() == [UNKNOWN, 1]
    assert Grouping(("all",), "age", ()).numbers([1, 2]).tolist() == [0, 0]


@pytest.mark.parametrize("values", [[["a", "b"]], 3, [["a"], ["b", "c"]]])
def test_what_is_no_column_is_refused(values: Any) -> None:
    with pytest.raises(CalibrationInputError) as refused:
        Grouping.of(values)
    assert refused.value.field == "groups"


# Several columns ----------------------------------------------------------------------------


def test_columns_of_a_frame_go_by_name_and_of_a_table_by_place() -> None:
    frame = pd.DataFrame({"ward": ["B", "A", "B"], "bed": [7, 7, 9], "risk": [0.1, 0.2, 0.3]})
    known = groupings_of(frame[["ward", "bed"]])
    assert [one.column for one in known] == ["ward", "bed"]
    wanted = [[1, 0], [0, 0], [1, 1]]
    assert numbers_of(known, frame[["bed", "risk", "ward"]]).tolist() == wanted
    assert numbers_of(known, frame[["ward", "bed"]].to_numpy(dtype=object)).tolist() == wanted
    assert numbers_of(known[:1], frame["ward"]).tolist() == [1, 0, 1]
    assert numbers_of(known[:1], frame).tolist() == [1, 0, 1]


@pytest.mark.parametrize("values", [["A", "B"], [["A", 1, 2]], pd.DataFrame({"ward": ["A"]})])
def test_another_number_of_columns_is_refused(values: Any) -> None:
    known = Grouping(("A",), "ward"), Grouping(("1",), "bed")
    with pytest.raises(CalibrationInputError, match=r"columns\. Expected 2: ward, bed"):
        numbers_of(known, values)


def test_rows_keep_the_groups_of_every_column() -> None:
    rows = with_groups(EventScores([0.1, 0.2, 0.3], [0, 1, 0]), [[4, -1], [5, 2], [4, 2]])
    part = rows.rows([2, 0]).groups
    assert part is not None
    assert part.tolist() == [[4, 2], [4, -1]]
    one = with_groups(rows, [[4], [5], [4]]).groups
    assert one is not None
    assert one.tolist() == [4, 5, 4]


@pytest.mark.parametrize(
    "groups", [[[1, 2]] * 2, [[1.5, 2.0]] * 3, [[[1]], [[2]], [[3]]], np.empty((3, 0), int), [1, 2]]
)
def test_groups_that_are_not_of_the_rows_are_refused(groups: Any) -> None:
    with pytest.raises(CalibrationInputError, match=r"^groups: "):
        with_groups(EventScores([0.1, 0.2, 0.3], [0, 1, 0]), groups)
