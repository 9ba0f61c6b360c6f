"""Parquet files: the same numbers come out, and what is declared falsely is refused."""

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, read
from tests.readers.files import LABELS, LOGITS, Array, N
from tests.readers.test_xlsx import of_rows

COLUMNS = {f"logit_{k}": LOGITS[:, k] for k in range(4)}
NAMED = dict(zip("abcd", LOGITS.T, strict=True))
WORDS = ["abcd"[label] for label in LABELS]


def parquet(table: dict[str, Any] | pa.Table, **options: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), buffer, **options)
    return buffer.getvalue()


def rows_of(data: bytes, logits: Array = LOGITS) -> LogitSet:
    rows = read("a.parquet", data).rows
    assert isinstance(rows, LogitSet)
    np.testing.assert_array_equal(rows.logits, logits)
    np.testing.assert_array_equal(rows.labels, LABELS)
    return rows


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "none"}, {"compression": "zstd"}, {"compression": "gzip"},
        {"compression": "brotli"}, {"compression": "lz4"}, {"row_group_size": 7},
        {"data_page_version": "2.0"}, {"store_schema": False}, {"use_dictionary": False},
        {"write_page_checksum": True}, {"data_page_size": 64},
        {
            "use_dictionary": False,
            "column_encoding": {"logit_0": "BYTE_STREAM_SPLIT", "label": "DELTA_BINARY_PACKED"},
        },
    ],
)  # fmt: skip
def test_ways_of_writing(options: dict[str, Any]) -> None:
    assert rows_of(parquet(COLUMNS | {"label": LABELS}, **options)).logits.dtype == np.float32


@pytest.mark.parametrize(
    "lists",
    [
        pa.array(list(LOGITS)),
        pa.array(list(LOGITS), pa.large_list(pa.float32())),
        pa.FixedSizeListArray.from_arrays(LOGITS.ravel(), 4),
    ],
)
@pytest.mark.parametrize("name", ["logits", "scores_of_all"])
def test_lists(name: str, lists: Any) -> None:
    rows_of(parquet({name: lists, "label": LABELS, "other": list("xy") * 20}, row_group_size=9))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u2", "i8"])
def test_types_of_numbers(dtype: str) -> None:
    table = LOGITS.round().astype(dtype)
    columns = {f"logit_{k}": table[:, k] for k in range(4)}
    rows_of(parquet(columns | {"label": LABELS}), table.astype(float))


def test_decimals_mixed_types_and_flags() -> None:
    exact = [pa.array(np.round(v, 3).astype(float)).cast(pa.decimal128(12, 3)) for v in LOGITS.T]
    columns = {f"logit_{k}": column for k, column in enumerate(exact)}
    columns["logit_3"] = pa.array(np.arange(N) % 2 == 0)
    table = LOGITS.astype(float).round(3)
    table[:, 3] = np.arange(N) % 2 == 0
    rows = read("a.parquet", parquet(columns | {"label": pa.array(LABELS)})).rows
    assert isinstance(rows, LogitSet)
    # Arrow divides by a power of ten, which may miss the nearest double by one.
    np.testing.assert_allclose(rows.logits, table, rtol=3e-16)


@pytest.mark.parametrize(
    "label",
    [pa.array(WORDS), pa.array(WORDS).dictionary_encode(), pa.array(WORDS, pa.large_string())],
)
def test_labels_that_are_text(label: Any) -> None:
    assert rows_of(parquet(NAMED | {"label": label}, row_group_size=11)).class_names == tuple(
        "abcd"
    )


def test_events() -> None:
    scores = np.linspace(0.1, 0.9, N)
    columns = {"true_label": WORDS, "pred_label": WORDS[::-1], "confidence": scores}
    rows = read("a.parquet", parquet(columns)).rows
    assert isinstance(rows, EventScores)
    np.testing.assert_array_equal(rows.scores, scores)
    np.testing.assert_array_equal(rows.hits, np.array(WORDS) == np.array(WORDS[::-1]))
    hits = read("a.parquet", parquet({"confidence": scores, "correct": rows.hits})).rows
    assert isinstance(hits, EventScores)
    np.testing.assert_array_equal(hits.hits, rows.hits)


def test_further_columns_stay() -> None:
    ages = [None, *range(1, N)]
    more = {
        "age": ages, "site": ["x", None] * 20, "day": pa.array([1] * N, pa.date32()),
        "box": [{"a": 1}] * N, "raw": [b"\xff"] * N,
    }  # fmt: skip
    upload = read("a.parquet", parquet(COLUMNS | {"label": LABELS} | more))
    slices = upload.columns["rows"]
    np.testing.assert_array_equal(slices["age"].values, [np.nan, *range(1, N)])
    assert slices["site"].categories == ("x", "")
    assert slices["site"].values.tolist() == [0, 1] * 20
    assert "Left out, being neither a class nor the label: day, box, raw." in upload.found


def test_texts_are_bounded() -> None:
    many = [f"{k:06}" for k in range(100_001)]
    table = {"p_0": np.ones(len(many)), "p_1": np.zeros(len(many)), "name_of": many}
    labelled = parquet(table | {"label": np.arange(len(many)) % 2})
    assert any("name_of" in line for line in read("a.parquet", labelled).found)
    with pytest.raises(FileError, match='column "label": found more than 100,000 diff'):
        read("a.parquet", parquet(table | {"label": many}))


def with_null(values: Array) -> list[Any]:
    return [*values[:4].tolist(), None, *values[5:].tolist()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"logit_1": with_null(LOGITS[:, 1])}, r'column "logit_1": found NaN, or a null.*row 5\)'),
        ({"logit_1": with_null(LABELS)}, r'column "logit_1": found NaN, or a null.*row 5\)'),
        ({"label": with_null(LABELS)}, r'column "label": found a blank cell or null.*row 5\)'),
        ({"logit_1": ["1.5"] * 39 + ["n/a"]}, 'row 40, column "logit_1": found "n/a"'),
        ({"label": [1] * 39 + [7]}, "row 40"),
        (
            {"label": pa.array([1] * N, pa.date32())},
            r'column "label": found values of type "date32',
        ),
        ({"label": [b"a"] * N}, 'column "label": found values of type "binary"'),
        ({"label": [{"a": 1}] * N}, 'column "label": found a nested column of type "struct'),
    ],
)
def test_refused_cells(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.parquet", parquet(COLUMNS | {"label": LABELS} | change))


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([*map(list, LOGITS[:-1].tolist()), [1.0]], r'"logits": found .*unequal length .*row 40\)'),
        ([[1.0], *map(list, LOGITS[1:].tolist())], "unequal length in 39 rows"),
        ([None, *map(list, LOGITS[1:].tolist())], r"a null, .*row 1\), wanted lists of 4"),
        ([[1.0, None]] * N, '"logits_1": found NaN, or a null'),
        (pa.array([[]] * N, pa.list_(pa.float32())), "an empty list"),
        ([["x"]] * N, 'lists of type "string"'),
        ([[[1.0]]] * N, "nested"),
    ],
)
def test_refused_lists(lists: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.parquet", parquet({"logits": lists, "label": LABELS}))


def test_more_classes_than_the_file_has_bytes() -> None:
    data = parquet({"logits": pa.array([[0.0] * 60_000] * 2), "label": [0, 1]})
    with pytest.raises(FileError, match=r"lists of 60,000 values in a file of [0-9,]{3,5} bytes"):
        read("a.parquet", data)
    noise = np.random.default_rng(0).normal(size=(2, 60_000))
    rows = read("a.parquet", parquet({"logits": noise.tolist(), "label": [0, 1]})).rows
    assert isinstance(rows, LogitSet)
    assert rows.n_classes == 60_000


def test_further_numbers_keep_their_type_until_they_are_shown() -> None:
    ages = np.arange(N, dtype=np.int8)[::-1].copy()
    columns = {f"logit_{k}": LOGITS[:, k] for k in range(4)}
    upload = read("a.parquet", parquet({**columns, "label": LABELS, "age": ages}))
    assert upload.columns["rows"]["age"].values.dtype == np.int8
    shown = [part["age"].values for part in upload.split_columns().values()]
    assert [values.dtype for values in shown] == [np.float64] * 2
    assert sorted(np.concatenate(shown)) == sorted(ages)


def test_a_table_that_is_nested_or_ambiguous() -> None:
    nested = {"s": [{f"logit_{k}": v for k, v in enumerate(row)} for row in LOGITS.tolist()]}
    with pytest.raises(FileError, match='column "s": found a nested column'):
        read("a.parquet", parquet(nested | {"label": LABELS}))
    lists = LOGITS.tolist()
    with pytest.raises(FileError, match='"probs" and "logits", which is ambiguous'):
        read("a.parquet", parquet({"probs": lists, "logits": lists, "label": LABELS}))
    rows_of(
        parquet({"features": [[1.0, 2.0]] * N, "logits": pa.array(list(LOGITS)), "label": LABELS})
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table([LABELS, LABELS], names=["a", "a"]), 'column "a" twice'),
        (pa.table({"a": pa.array([], pa.float32()), "label": pa.array([], pa.int8())}), "no rows"),
        (pa.table({f"c{k}": [1.0] for k in range(4097)}), "4,097 columns"),
        (pa.table({"": LABELS, "a": LABELS}), "no name for column 1"),
        (
            pa.table({"a": np.zeros(6_000_000), "label": np.zeros(6_000_000, "i1")}),
            "6,000,000 rows",
        ),
        (pa.table({"logits": [[0.0] * 20_000_000], "label": [0]}), "152 MB of values .* too large"),
    ],
)
def test_refused_tables(table: pa.Table, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.parquet", parquet(table))


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "PLAIN"])
def test_texts_that_swell_are_not_decoded(encoding: str) -> None:
    long = ["x" * (1 << 20)] * N
    columns = COLUMNS | {"label": LABELS, "note": long}
    written = {"use_dictionary": False, "column_encoding": {"note": encoding}}
    upload = read("a.parquet", parquet(columns, compression="zstd", **written))
    assert "Left out, being neither a class nor the label: note." in upload.found
    with pytest.raises(FileError, match='column "label": found texts'):
        read(
            "a.parquet",
            parquet(
                COLUMNS | {"label": long}, compression="zstd",
                use_dictionary=False, column_encoding={"label": encoding},
            ),
        )  # fmt: skip


def test_one_long_text_repeated_is_decoded_once() -> None:
    upload = read("a.parquet", parquet(COLUMNS | {"label": LABELS, "note": ["x" * (1 << 20)] * N}))
    assert any("note was left out: texts of more than 200" in line for line in upload.found)


GOOD = parquet(COLUMNS | {"label": LABELS, "word": WORDS}, compression="zstd", row_group_size=15)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (GOOD[: len(GOOD) // 2], "no footer at its end"),
        (b"PAR1PAR1", "no footer"),
        (b"not a table at all", "bytes that are not a Parquet file"),
        (GOOD[:-4] + b"PARE", "encrypted"),
        (GOOD[:-8] + b"\xff\xff\xff\x7fPAR1", "a footer of 2,147,483,647 bytes"),
        (GOOD[:-8] + b"\x00\x00\x00\x00PAR1", "damaged"),
        (GOOD[:4] + b"\x00" * 40 + GOOD[44:], "damaged"),
    ],
)
def test_damaged_files(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.parquet", data)


def test_a_page_that_fails_its_checksum() -> None:
    data = bytearray(
        parquet(COLUMNS | {"label": LABELS}, write_page_checksum=True, compression="none")
    )
    data[data.index(LOGITS[:, 0].tobytes())] ^= 1
    with pytest.raises(FileError, match="damaged"):
        read("a.parquet", bytes(data))


def edited(data: bytes, old: bytes, new: bytes) -> bytes:
    assert data.count(old) >= 1
    assert len(old) == len(new)
    return data.replace(old, new)


PLAIN = parquet(
    {"p_0": LOGITS[:, 0], "p_1": LOGITS[:, 1], "label": LABELS},
    use_dictionary=False, compression="none",
)  # fmt: skip
CODED = parquet({"p_0": LABELS / 4, "p_1": LABELS / 8, "label": LABELS}, compression="none")
LONG = parquet(
    {"p": np.zeros(200 * 1024), "label": np.zeros(200 * 1024)}, use_dictionary=False,
    compression="zstd", data_page_size=8192, write_batch_size=1024,
)  # fmt: skip


@pytest.mark.parametrize(
    ("data", "message"),
    [
        # In a page header 15 00 is its kind, 15 and a number its size, 2c 15 its number of values
        # and 4c 15 the number of entries of a dictionary, all of them doubled.
        (edited(PLAIN, b"\x2c\x15\x50", b"\x2c\x15\x4e"), "pages that do not add up"),
        (edited(PLAIN, b"\x2c\x15\x50", b"\x2c\x15\x7e"), "pages that do not add up"),
        (edited(CODED, b"\x4c\x15\x08", b"\x4c\x15\x7e"), "more entries than bytes"),
        (
            edited(LONG, b"\x15\x00\x15\x8e\x80\x01", b"\x15\x00\x15\xfe\xff\x7f"),
            "pages that expand to more than 96 MB, too large",
        ),
        (edited(PLAIN, b"\x15\x00\x15", b"\x15\x0e\x15"), "a page of an unknown kind"),
        (PLAIN[:4] + PLAIN[200:], "a column that lies outside the file"),
    ],
)
def test_pages_that_lie(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.parquet", data)


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
        upload = read("a.parquet", bytes(data))
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
    else:
        assert upload.format == "parquet"


def test_nested_deeper_than_any_table() -> None:
    value: Any = 1.0
    for _ in range(40):
        value = {"a": value}
    with pytest.raises(FileError, match="nested too deeply"):
        read("a.parquet", parquet({"a": [value], "label": [0]}))


@pytest.mark.parametrize("name", ["a.parquet", "a.json", "a.xlsx"])
def test_the_user_names_columns(name: str) -> None:
    rows = [
        {"p": row[0], "q": row[1], "z": row[2], "t": k % 2, "label": k % 3}
        for k, row in enumerate(LOGITS.tolist())
    ]
    data = {
        "a.parquet": parquet(pa.Table.from_pylist(rows)),
        "a.json": json.dumps(rows).encode(),
        "a.xlsx": of_rows([list(rows[0]), *(list(row.values()) for row in rows)]),
    }[name]
    upload = read(name, data, label_column="t", class_columns=("q", "p"))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.logits, LOGITS[:, [1, 0]].astype(float))
    assert upload.rows.labels.tolist() == [0, 1] * 20
    assert list(upload.columns["rows"]) == ["z", "label"]
    with pytest.raises(FileError, match=r'label_column: found no column "nope"'):
        read(name, data, label_column="nope")
