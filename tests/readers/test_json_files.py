"""JSON files: the same numbers come out of every layout, and what is malformed is refused."""

import json
from typing import Any, TypeGuard

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, read
from tests.readers.files import HEADER, LABELS, LOGITS, Array, N, csv_of

TABLE = LOGITS.astype(float)
ROWS, TRUTH = TABLE.tolist(), LABELS.tolist()
WORDS = ["abcd"[label] for label in TRUTH]
RECORDS = [
    {f"logit_{k}": value for k, value in enumerate(row)} | {"label": label}
    for row, label in zip(ROWS, TRUTH, strict=True)
]
INDEXED = {name: {str(k): r[name] for k, r in enumerate(RECORDS)} for name in RECORDS[0]}
LISTS = {name: [record[name] for record in RECORDS] for name in RECORDS[0]}
WHOLE = [[*row, label] for row, label in zip(ROWS, TRUTH, strict=True)]


def text(value: object) -> bytes:
    return json.dumps(value).encode()


def test_rows_under_names_with_lists() -> None:
    named = {
        f"img_{k}.png": {"logits": row, "label": label, "site": "ab"[k % 2]}
        for k, (row, label) in enumerate(zip(ROWS, TRUTH, strict=True))
    }
    upload = read("a.json", text(named))
    same(upload.rows)
    assert [*upload.columns["rows"]] == ["site"]
    scores = {"score": [0.25, 0.75] * 20, "label": [0, 1] * 20}
    sets = read("a.json", text({"val": scores, "test": scores}))
    assert [rows.n_samples for rows in sets.sets.values()] == [40, 40]
    records = [{"logits": row, "label": label} for row, label in zip(ROWS, TRUTH, strict=True)]
    sets = read("a.json", text({"val": records[:20], "test": records, "holdout": records[:10]}))
    assert [rows.n_samples for rows in sets.sets.values()] == [20, 40]
    named["img_30.png"] = {"logits": ROWS[0], "label": 1}
    with pytest.raises(FileError, match='row 31: found an object without member "site"'):
        read("a.json", text(named))


def test_very_many_lists_by_name() -> None:
    many = {f"img_{k}": {"logits": [0.5, 1.5]} for k in range(30_000)}
    with pytest.raises(FileError, match="more than 20,000 lists or objects by name"):
        read("a.json", text(many))


def lines(values: list[Any], end: str = "\n") -> bytes:
    return end.join(map(json.dumps, values)).encode()


def same(rows: object, table: Array = TABLE) -> LogitSet:
    assert isinstance(rows, LogitSet)
    np.testing.assert_array_equal(rows.logits, table)
    np.testing.assert_array_equal(rows.labels, LABELS)
    return rows


ONE_SET = {
    "lists": text({"logits": ROWS, "labels": TRUTH}),
    "indented": json.dumps({"labels": TRUTH, "logits": ROWS}, indent=1).encode(),
    "byte order mark": b"\xef\xbb\xbf" + text({"logits": ROWS, "labels": TRUTH}),
    "hugging face": text({"predictions": ROWS, "label_ids": TRUTH, "metrics": {"loss": 0.3}}),
    "netcal": text({"predictions": ROWS, "ground_truth": TRUTH}),
    "columns of labels": text({"logits": ROWS, "labels": [[label] for label in TRUTH]}),
    "one-hot": text({"logits": ROWS, "labels": np.eye(4, dtype=int)[LABELS].tolist()}),
    "text labels": text({"logits": ROWS, "labels": WORDS, "class_names": list("abcd")}),
    "records": text(RECORDS),
    "records with lists": text(
        [{"logits": r, "label": t, "m": {"a": 1}} for r, t in zip(ROWS, TRUTH, strict=True)]
    ),
    "records under a name": text({"schema": {"fields": [{"name": "a"}]}, "data": RECORDS}),
    "lists by column": text(LISTS),
    "objects by column": text(INDEXED),
    "pandas split": text({"columns": list(LISTS), "index": list(range(N)), "data": WHOLE}),
    "rows": text(WHOLE),
    "rows below a header": text([list(LISTS), *WHOLE]),
    "pair": text([ROWS, TRUTH]),
    "pair the other way": text([TRUTH, ROWS]),
    "record a line": lines(RECORDS),
    "record a line, Windows": lines(RECORDS, "\r\n\r\n") + b"\r\n",
    "row a line": lines(WHOLE),
}


@pytest.mark.parametrize("layout", sorted(ONE_SET))
@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_one_set(layout: str, ending: str) -> None:
    upload = read("a" + ending, ONE_SET[layout])
    same(upload.rows)
    assert upload.values_kind == "logits"
    assert [
        line for line in upload.repairs if "decimals" in line and layout != "columns of labels"
    ] == []


PART = {"logits": ROWS, "labels": TRUTH}
BOTH_SETS = {
    "names": {
        "val_logits": ROWS, "val_labels": TRUTH,
        "test_logits": ROWS[::-1], "test_labels": TRUTH[::-1],
    },
    "objects": {"val": PART, "test": {"logits": ROWS[::-1], "labels": TRUTH[::-1]}},
    "records": {"calibration": RECORDS, "test": RECORDS[::-1]},
    "pairs": [[ROWS, TRUTH], [ROWS[::-1], TRUTH[::-1]]],
    "columns": [[ROWS, [[t] for t in TRUTH]], [ROWS[::-1], [[t] for t in TRUTH[::-1]]]],
}  # fmt: skip


@pytest.mark.parametrize("layout", sorted(BOTH_SETS))
def test_both_sets(layout: str) -> None:
    upload = read("a.json", text(BOTH_SETS[layout]))
    same(upload.calibration)
    assert isinstance(upload.test, LogitSet)
    np.testing.assert_array_equal(upload.test.logits, TABLE[::-1])
    np.testing.assert_array_equal(upload.test.labels, LABELS[::-1])


def test_more_rows_than_one_piece() -> None:
    many = 700
    table = np.arange(4.0 * many).reshape(many, 4) / 7
    label = (np.arange(many) % 4).tolist()
    for data in (
        text({"logits": table.tolist(), "labels": label}),
        lines([{"logits": row, "label": t} for row, t in zip(table.tolist(), label, strict=True)]),
        text({f"p_{k}": dict(enumerate(v)) for k, v in enumerate([*table.T.tolist(), label])})
        .replace(b"p_4", b"label"),
    ):  # fmt: skip
        rows = read("a.json", data).rows
        assert isinstance(rows, LogitSet)
        np.testing.assert_array_equal(rows.logits, table)
        np.testing.assert_array_equal(rows.labels, label)


def test_the_same_table_as_text() -> None:
    plain = read("a.csv", csv_of(TABLE, TRUTH, header=HEADER))
    found = read("a.json", text(RECORDS))
    assert found.class_names == plain.class_names
    assert found.found == plain.found
    same(plain.rows)


def test_events_scores_and_pieces() -> None:
    scores = np.linspace(0.05, 0.95, N)
    hits = [bool(k % 3) for k in range(N)]
    event = read("a.json", text({"confidence": scores.tolist(), "correct": hits})).rows
    assert isinstance(event, EventScores)
    np.testing.assert_array_equal(event.hits, hits)
    binary = {"y_prob": scores.tolist(), "y_true": [int(hit) for hit in hits]}
    rows = read("a.json", text(binary)).rows
    assert isinstance(rows, LogitSet)
    np.testing.assert_allclose(rows.probabilities[:, 1], scores, rtol=1e-15)
    piece = read("a.json", text(ROWS)).piece
    assert piece is not None
    np.testing.assert_array_equal(piece.table, TABLE)
    labels = read("a.json", text(TRUTH)).piece
    assert labels is not None
    np.testing.assert_array_equal(labels.labels, LABELS)


def test_further_columns_stay() -> None:
    more = [r | {"site": "xy"[k % 2], "age": k or None} for k, r in enumerate(RECORDS)]
    slices = read("a.json", text(more)).columns["rows"]
    assert slices["site"].categories == ("x", "y")
    np.testing.assert_array_equal(slices["age"].values, [np.nan, *range(1, N)])
    upload = read("a.json", text({"logits": ROWS, "labels": TRUTH, "site": WORDS, "T": 1.5}))
    assert upload.columns["rows"]["site"].categories == ("a", "b", "c", "d")
    assert any("T" in line for line in upload.found if line.startswith("Left out"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"logits": [[1, 2], [NaN, 3]], "labels": [0, 1]}', r"NaN in 1 row \(row 2\)"),
        ('{"logits": [[1, 2], [null, 3]], "labels": [0, 1]}', r"NaN in 1 row \(row 2\)"),
        ('{"logits": [[1, 1e999], [2, 3]], "labels": [0, 1]}', r"infinity \(inf\) in 1 row"),
        ('{"logits": [[1, 2], [1, 2, 3]], "labels": [0, 1]}', "row 2: found a list of 3 values"),
        ('{"logits": [[1, 2], [1, "x"]], "labels": [0, 1]}', 'row 2, value 2: found text "x"'),
        ('{"logits": [[1, 2], [3, 0x1]], "labels": [0, 1]}', "row 2: found text that is not JSON"),
        ('{"logits": [[1, 2], 3], "labels": [0, 1]}', "row 2: found a single value, wanted lists"),
        ('{"logits": [[]], "labels": [0]}', "row 1: found a list of 0 values"),
        ('{"logits": [], "labels": []}', "without lists of numbers"),
        ('{"logits": [[1, 2]], "logits": [[1, 2]], "labels": [0]}', 'member "logits" twice'),
        ('[{"a": 1, "a": 2, "label": 0}]', 'row 1: .*member "a" twice'),
        ('{"a": 1, "a": 2}', 'member "a" twice'),
        ('[{"a": 1, "b": 2, "label": 0}, {"a": 1, "label": 0}]', 'row 2: .* without member "b"'),
        ('{"a": 1, "label": 0}\n{"a": 1, "b": 1, "label": 0}', 'row 2: .* further member "b"'),
        ('{"a": 1, "label": 0}\n{"a": nope}\n', "row 2: found text that is not JSON"),
        ('{"a": 1, "label": 0}\nnope\n', "more after its end"),
        ('{"a": 1}\n{"a": 2}\nnope\n', "row 3: found what is neither a record nor a list"),
        ('[{"a": 1}, [2]]', "row 2: found a list, wanted objects"),
        ('[{"a": [1, 2], "label": 0}, {"a": [1], "label": 0}]', 'member "a", row 2'),
        ('[{"a": 1, "b": 2, "label": null}]', r'"label": found a blank cell or null in 1 row'),
        ('[{"a": 1, "b": 2, "label": 0}, {"a": "x", "b": 2, "label": 0}]', 'row 2, column "a"'),
        ('[{"a": 1, "b": 2, "label": "\\ud800"}]', "half of a surrogate"),
        ("[[1, 2], [3, 4],]", "a comma before a closing bracket"),
        ('{"a": [1, 2],}', "a comma before a closing bracket"),
        ("[[1, 2] [3, 4]]", "comma or bracket is missing"),
        ("[[1, 2], [3, 4]", "its end"),
        ("[1, 2] 3", "more after its end"),
        ("{'a': [1]}", "a name in quotes is missing"),
        ("", "0 bytes"),
        (" ", "its end"),
        ("3", "where a list or an object should begin"),
        ("[]", "another layout"),
        ("{}", "another layout"),
        ("[{}]", "0 members"),
        ('{"columns": ["a"], "data": [[1, 2]]}', "another number of names"),
        ('{"logits": [[1, ' + "9" * 400 + "]]}", "too large"),
        ('{"logits": [[1, ' + "9" * 5000 + "]]}", "a number of many digits"),
        ('{"logits": [["' + "x" * 300 + '", 1]]}', "row 1, value 1"),
        ("[" * 900_000, "nested more than 8 deep"),
        ('{"a":' * 500_000, "nested more than 8 deep"),
        ('[{"a":[' * 100_000, "nested more than 8 deep"),
        ("[" + "[[1]]," * 1000 + "[[1]]]", "nested too deeply"),
        ("[1, [2, [3, 4]]]", "deeper|single values"),
        ('["' + "\\" * 1_000_000, "not JSON"),
        ("[" + '"",' * 300_000 + '""]', "text"),
        ("{" + ",".join(f'"a{k}":1' for k in range(1_000_001)) + "}", "too many members"),
        (json.dumps([{f"c{k}": 1 for k in range(4097)}]), "4,097 members"),
    ],
)  # fmt: skip
def test_refused(data: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.json", data.encode())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (text(PART).decode().encode("utf-16-le"), "UTF-16 text without its byte order mark"),
        (b"\x00" + text(PART), "NUL"),
        (b"[1, 2, 3, \x004]", "not JSON"),
        (b'{"logits": [[1, 2]], "labels": ["\xe9"]}', "bytes that are not UTF-8"),
        (b"[[1, 2], [3, \xff]]", "row 2: .*bytes that are not UTF-8"),
    ],
)
def test_refused_encodings(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.json", data)


def test_words_from_anywhere() -> None:
    data = text([{"😀": 2.5, "é": -1, "label": "😀"}, {"😀": 2.5, "é": -1, "label": "é"}])
    rows = read("a.json", data).rows
    assert isinstance(rows, LogitSet)
    assert rows.class_names == ("😀", "é")
    assert rows.labels.tolist() == [0, 1]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["logits", "label", "val", "test", "a", "b"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@given(value=values)
def test_any_value_is_read_or_refused(value: object) -> None:
    try:
        upload = read("a.json", text(value))
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
        assert str(error).isprintable()  # noqa: PT017
    else:
        assert isinstance(upload, Upload)


@given(
    layout=st.sampled_from(sorted(ONE_SET)),
    edits=st.lists(
        st.tuples(
            st.floats(0, 1, exclude_max=True), st.sampled_from(list(b'[]{},:"\\01eN-. \xff\n'))
        ),
        max_size=4,
    ),
)
def test_any_damage_is_refused_or_harmless(layout: str, edits: list[tuple[float, int]]) -> None:
    data = bytearray(ONE_SET[layout])
    for place, byte in edits:
        data[int(place * len(data))] = byte
    try:
        upload = read("a.json", bytes(data))
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
    else:
        assert isinstance(upload, Upload)


@given(
    table=st.lists(
        st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3), min_size=2, max_size=30
    ),
    indent=st.sampled_from([None, 0, 2]),
)
def test_numbers_are_those_of_pythons_own_parser(
    table: list[list[float]], indent: int | None
) -> None:
    data = json.dumps({"logits": table, "labels": [0] * len(table)}, indent=indent)
    try:
        rows = read("a.json", data.encode()).rows
    except FileError:
        return
    assert isinstance(rows, LogitSet)
    expected = np.array(json.loads(data)["logits"])
    if read("a.json", data.encode()).values_kind == "logits":
        np.testing.assert_array_equal(rows.logits, expected)


def test_text_labels_of_an_unknown_name_keep_their_texts() -> None:
    data = text({"a": ROWS, "b": WORDS})
    with pytest.raises(FileError, match="your class names"):
        read("x.json", data)
    named = read("x.json", data, class_names=("a", "b", "c", "d"))
    assert both(named) == both(read("x.json", text({"logits": ROWS, "labels": TRUTH})))


def both(upload: Upload) -> list[list[int]]:
    """Give the labels of both sets."""
    return [part.labels.tolist() for part in (upload.calibration, upload.test) if is_table(part)]


def is_table(part: LogitSet | EventScores | None) -> TypeGuard[LogitSet]:
    return isinstance(part, LogitSet)
