"""JSON becomes tables and arrays: every layout gives the same values."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dashboard.readers.formats import json_text
from dashboard.readers.formats.json_text import read_json
from dashboard.readers.records import Arrays, Column, FileTable
from dashboard.readers.refusal import FileError

TABLE = [[0.25, 0.75], [1.5, -0.5], [2.0, 3.0]]
WORDS = ["cat", "dog", "cat"]
RECORDS = [
    {"p": row[0], "q": row[1], "label": word} for row, word in zip(TABLE, WORDS, strict=True)
]
LISTS = {name: [record[name] for record in RECORDS] for name in ("p", "q", "label")}
ROWS = [[*row, word] for row, word in zip(TABLE, WORDS, strict=True)]
LIKELY = [[{"label": "dog", "score": row[1]}, {"label": "cat", "score": row[0]}] for row in TABLE]


def text(value: object) -> bytes:
    return json.dumps(value).encode()


def lines(rows: list[Any], end: str = "\n") -> bytes:
    return end.join(map(json.dumps, rows)).encode()


def table(data: bytes) -> dict[str, Column]:
    result = read_json(data)
    assert isinstance(result, FileTable)
    return {column.name: column for column in result.columns}


def arrays(data: bytes) -> dict[str, Column]:
    result = read_json(data)
    assert isinstance(result, Arrays)
    return {column.name: column for column in result.arrays}


def words(column: Column) -> list[str]:
    assert column.texts is not None
    return [column.texts[code] for code in column.values]


AS_TABLE = {
    "records": text(RECORDS),
    "indented": json.dumps(RECORDS, indent=1).encode(),
    "byte order mark": b"\xef\xbb\xbf" + text(RECORDS),
    "UTF-16": json.dumps(RECORDS).encode("utf-16"),
    "records under a name": text({"schema": {"a": 1}, "data": RECORDS}),
    "lists by column": text(LISTS),
    "pandas columns": text({name: dict(enumerate(v)) for name, v in LISTS.items()}),
    "pandas index": text(dict(enumerate(RECORDS))),
    "pandas split": text({"columns": [*LISTS], "index": [0, 1, 2], "data": ROWS}),
    "rows below a header": text([[*LISTS], *ROWS]),
    "a record a line": lines(RECORDS),
    "a record a line, Windows": lines(RECORDS, "\r\n\r\n") + b"\r\n",
    "a row a line": lines([[*LISTS], *ROWS]),
}


@pytest.mark.parametrize("layout", AS_TABLE)
def test_tables(layout: str) -> None:
    result = table(AS_TABLE[layout])
    assert [*result] == ["p", "q", "label"]
    assert result["p"].values.tolist() == [0.25, 1.5, 2.0]
    assert result["q"].values.tolist() == [0.75, -0.5, 3.0]
    assert words(result["label"]) == WORDS


def test_names_of_rows_are_a_column() -> None:
    for named in (
        {f"{k}.png": {"p": [1, 2], "label": word} for k, word in enumerate(WORDS)},
        {"p": {f"{k}.png": 1 for k in range(3)}, "q": {f"{k}.png": 1 for k in range(3)}},
    ):
        assert words(table(text(named))["index"]) == ["0.png", "1.png", "2.png"]


def test_sets_of_records_are_stacked() -> None:
    result = table(text({"val": RECORDS, "test": RECORDS[:1]}))
    assert words(result["set"]) == ["val"] * 3 + ["test"]
    assert result["p"].values.tolist() == [0.25, 1.5, 2.0, 0.25]


def test_rows_without_a_header_have_no_names() -> None:
    result = read_json(text(ROWS))
    assert isinstance(result, FileTable)
    assert not result.named
    assert [column.name for column in result.columns] == ["column 1", "column 2", "column 3"]


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ({"logits": TABLE, "labels": WORDS}, ["logits", "labels"]),
        ({"val": {"logits": TABLE, "labels": WORDS}}, ["val.logits", "val.labels"]),
        ([TABLE, WORDS], ["0", "1"]),
        ([[TABLE, WORDS], [TABLE, WORDS]], ["0.0", "0.1", "1.0", "1.1"]),
    ],
)
def test_arrays(value: Any, names: list[str]) -> None:
    result = arrays(text(value))
    assert [*result] == names
    assert result[names[0]].values.tolist() == TABLE
    assert words(result[names[-1]]) == WORDS


def test_bare_lists_have_no_name() -> None:
    assert arrays(text(TABLE))[""].values.tolist() == TABLE
    assert arrays(lines(TABLE))[""].values.tolist() == TABLE
    assert words(arrays(text(WORDS))[""]) == WORDS


def test_names_of_classes_by_number_or_numbers_by_name() -> None:
    for given_names in ({"0": "cat", "1": "dog"}, {"dog": 1, "cat": 0}):
        result = arrays(text({"logits": TABLE, "map": given_names, "loss": 0.5}))
        assert words(result["map"]) == ["cat", "dog"]
        assert result["loss"].unread == "a single value"


VERTEX = [{"displayNames": ["dog", "cat"], "confidences": row[::-1]} for row in TABLE]
LISTED: dict[str, tuple[list[Any], str]] = {
    "pipeline": (LIKELY, "out."),
    "batches of one": ([[row] for row in LIKELY], "out."),
    "BigQuery": ([[{"label": o["label"], "prob": o["score"]} for o in r] for r in LIKELY], "out."),
    "Vertex": (VERTEX, "out.confidences."),
    "spaCy": ([{"dog": row[1], "cat": row[0]} for row in TABLE], "out."),
}


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("layout", LISTED)
def test_lists_of_classes_give_a_column_a_class(layout: str, ending: str) -> None:
    cells, prefix = LISTED[layout]
    rows = [{"out": cell, "label": word} for cell, word in zip(cells, WORDS, strict=True)]
    results = table(text(rows) if ending == "json" else lines(rows))
    assert [name for name in results if name != "label"] == [f"{prefix}dog", f"{prefix}cat"]
    assert results[f"{prefix}cat"].values.tolist() == [0.25, 1.5, 2.0]
    assert words(results["label"]) == WORDS


def test_lists_of_classes_without_a_name_and_beside_labels() -> None:
    assert [*table(text(LIKELY))] == ["dog", "cat"]
    assert [*table(text({"out": LIKELY, "labels": WORDS}))] == ["out.dog", "out.cat", "labels"]


def test_a_class_that_a_row_lacks_is_a_blank_cell() -> None:
    result = table(text([{"out": row} for row in (*LIKELY, LIKELY[0][:1])]))
    np.testing.assert_array_equal(result["out.cat"].values, [0.25, 1.5, 2.0, np.nan])
    assert result["out.cat"].odd is not None
    assert result["out.cat"].odd.rows.tolist() == [3]


def test_the_likeliest_of_many_classes_are_ranks() -> None:
    rows = [
        [{"label": f"c{k}", "score": 0.25}, {"label": f"c{k + 1}", "score": 0.5}] for k in range(4)
    ]
    result = table(text([{"out": row} for row in rows]))
    assert [*result] == [f"out.top{k}_{what}" for k in (1, 2) for what in ("class", "prob")]
    assert words(result["out.top1_class"]) == ["c1", "c2", "c3", "c4"]
    assert result["out.top2_prob"].values.tolist() == [0.25] * 4
    twice = [{"out": [{"label": "a", "score": 1}] * 2}]
    assert table(text(twice))["out"].unread == "lists with the same class twice"


@pytest.mark.parametrize("data", [text, lines])
def test_members_that_a_record_lacks_are_blank(data: Any) -> None:
    result = table(data([{"p": 1, "m": {"a": "x"}}, {"q": 2}, {"p": None, "q": 3}]))
    np.testing.assert_array_equal(result["p"].values, [1, np.nan, np.nan])
    assert words(result["m.a"]) == ["x", "", ""]
    assert result["q"].odd is not None
    assert result["q"].odd.rows.tolist() == [0]


@pytest.mark.parametrize("data", [text, lines])
def test_values_of_several_kinds(data: Any) -> None:
    cells = [0.5, 1, "n/a", "2.5", "3", None, 4]
    result = table(data([{"p": cell, "big": 2**70, "w": [1, "2"]} for cell in cells]))
    np.testing.assert_array_equal(result["p"].values, [0.5, 1, np.nan, 2.5, 3, np.nan, 4])
    assert result["p"].odd is not None
    assert result["p"].odd.texts == ("n/a", "")
    assert result["big"].values.tolist() == [2.0**70] * 7
    assert result["w"].values.tolist() == [[1, 2]] * 7
    mixed = table(data([{"a": 1, "m": {"b": "x"}}, {"a": [1], "m": {"b": 7}}]))
    assert mixed["a"].unread == "objects"
    assert words(mixed["m.b"]) == ["x", "7"]


def test_nan_and_infinity_as_python_writes_them() -> None:
    values = [0.5, float("nan"), float("inf"), -float("inf")]
    for data in (
        text([{"p": v, "t": "NaN, [Infinity"} for v in values]),
        text({"p": values, "q": values}),
    ):
        np.testing.assert_array_equal(table(data)["p"].values, values)
    np.testing.assert_array_equal(table(lines([{"p": v} for v in values]))["p"].values, values)


def test_texts_of_any_script_stay() -> None:
    assert [*table(text([{"😀": 1, "é": '":[{'}]))] == ["😀", "é"]
    assert words(table(text([{"a": '":[{'}]))["a"]) == ['":[{']


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([[1, 2], [1, 2, 3]], "lists of unequal length: 3 in row 2, 2 in row 1"),
        ([[1, 2], [1, "x"]], "lists of texts such as "),
        ([[1, 2], 3], "objects"),
        ([], "an empty list"),
    ],
)
def test_arrays_that_are_not_read(value: Any, why: str) -> None:
    assert arrays(text({"a": value, "b": [[1]]}))["a"].unread.startswith(why)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b" ", "nothing but blanks"),
        (b"3", "without lists or objects"),
        (b"{}", "without lists or objects"),
        (b"[]", "empty list"),
        (b"[{}]", "no columns"),
        (b"\x00[1]", "NUL"),
        (b'["\xe9"]', "UTF-8"),
        (b'[NaN, "\xe9"]', "UTF-8"),
        (b'{"a": "\xe9"}\n{"a": "b"}\n', "UTF-8"),
        (b'{"\xe9": "a"}\n{"\xe9": "b"}\n', "UTF-8"),
        (b"[1,\n2,\n}", "line 3: text that is not JSON"),
        (b"[1, 2] 3", "line 1: text that is not JSON"),
        (b'{"a": 1}\n{"a": nope}\n', "line 2: text that is not JSON"),
        (b'{"a": 1, "a": 2}\n{"a": 1}\n', "a member twice"),
        (b'[{"a": 1}, [2]]', "row 2: another kind of value"),
        (b'[[1, "a"], [2]]', "row 2: a list of 1 values"),
        (b'["\\ud800", NaN]', "half of a surrogate"),
        (b'{"columns": ["a"], "data": [[1, 2]]}', "another number of names"),
        (b"[" * 900_000, "not JSON"),
        (b'{"label": [{}, [null]]}', "row 2: another kind of value"),
        (b'{"a":' * 900 + b"1" + b"}" * 900, "nested more than (8|32) deep"),
        (b"[NaN," + b"9" * 5000 + b"]", "not JSON"),
        (text([{f"c{k}": 1 for k in range(4097)}]), "4,097 columns"),
        (text({f"c{k}": [1] for k in range(4097)}), "4,097 columns"),
        (b"[" + b"{}," * 2_000_000 + b"1]", "values take"),
    ],
)  # fmt: skip
def test_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_json(data)


def test_documents_are_smaller_than_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "MAX_DOCUMENT", 100)
    with pytest.raises(FileError, match=r"save as JSON lines, \.npz or \.parquet"):
        read_json(text([{"p": k} for k in range(100)]))
    assert len(table(lines([{"p": k} for k in range(100)]))["p"].values) == 100
    with pytest.raises(FileError, match=r"Column\(/p\) changed from number to string"):
        read_json(lines([{"p": k} for k in range(100)] + [{"p": "x"}]))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["label", "score", "0", "1", "a"]), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(value=VALUES, as_lines=st.booleans())
@example(value=[{}], as_lines=True)
def test_any_value_is_read_or_refused(value: object, *, as_lines: bool) -> None:
    try:
        result = read_json(lines([value] * 3) if as_lines else text(value))
    except FileError:
        return
    columns = result.columns if isinstance(result, FileTable) else result.arrays
    if isinstance(result, FileTable):
        assert all(c.unread or len(c.values) == result.n_rows for c in columns)
    for column in columns:
        assert column.texts is None or (column.values < len(column.texts)).all()


@given(
    layout=st.sampled_from(sorted(AS_TABLE)),
    edits=st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from(list(b'[]{},:"\\01eN-. \xff\n'))), max_size=4
    ),
)
def test_any_damage_is_refused_or_harmless(layout: str, edits: list[tuple[int, int]]) -> None:
    data = bytearray(AS_TABLE[layout])
    for place, byte in edits:
        data[place] = byte
    try:
        assert read_json(bytes(data))
    except FileError as error:
        assert str(error).isprintable()  # noqa: PT017 - either outcome is right


@given(rows=st.lists(st.lists(st.floats(), min_size=2, max_size=2), min_size=1, max_size=9))
def test_numbers_are_those_of_pythons_own_parser(rows: list[list[float]]) -> None:
    np.testing.assert_array_equal(arrays(text({"p": rows}))["p"].values, rows)


def test_a_null_at_the_head_of_the_first_list_shifts_nothing() -> None:
    table = read_json(b'{"p": [null, 0.5], "y": 1}\n{"p": [0.25, 0.75], "y": 0}\n')
    assert isinstance(table, FileTable)
    np.testing.assert_array_equal(table.columns[0].values, [[np.nan, 0.5], [0.25, 0.75]])
