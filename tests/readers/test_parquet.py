"""Parquet files: the same numbers come out, and what lies is refused."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, read
from dashboard.readers.records import ColumnRole
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, Array, N, parquet, same, same_hits
from tests.readers.test_xlsx import of_rows

COLUMNS = {f"logit_{k}": LOGITS[:, k] for k in range(4)}
NAMED = dict(zip("abcd", LOGITS.T, strict=True))
WORDS = ["abcd"[label] for label in LABELS]


def rows_of(data: bytes, logits: Array = LOGITS) -> LogitSet:
    return same(read("a.parquet", data), logits)


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "none"}, {"compression": "zstd"}, {"compression": "gzip"},
        {"compression": "brotli"}, {"compression": "lz4"}, {"row_group_size": 7},
        {"data_page_version": "2.0"}, {"store_schema": False}, {"use_dictionary": False},
        {"write_page_checksum": True}, {"data_page_size": 64},
        {"use_dictionary": False, "column_encoding": {"note": "DELTA_BYTE_ARRAY"}},
        {
            "use_dictionary": False,
            "column_encoding": {"logit_0": "BYTE_STREAM_SPLIT", "label": "DELTA_BINARY_PACKED"},
        },
    ],
)  # fmt: skip
def test_ways_of_writing(options: dict[str, Any]) -> None:
    rows = rows_of(parquet(COLUMNS | {"label": LABELS, "note": WORDS}, **options))
    assert rows.logits.dtype == np.float32


@pytest.mark.parametrize(
    "label",
    [pa.array(WORDS), pa.array(WORDS).dictionary_encode(), pa.array(WORDS, pa.large_string())],
)
def test_labels_that_are_text(label: Any) -> None:
    assert rows_of(parquet(NAMED | {"label": label}, row_group_size=11)).class_names == tuple(
        "abcd"
    )


def test_a_list_of_any_name_is_the_values() -> None:
    lists = {"scores_of_all": pa.array(list(LOGITS)), "other": list("xy") * 20}
    rows_of(parquet(lists | {"label": LABELS}, row_group_size=9))


def test_events() -> None:
    scores = PROBABILITIES.max(axis=1)
    told = ["abcd"[best] for best in PROBABILITIES.argmax(axis=1)]
    columns = {"true_label": WORDS, "pred_label": told, "confidence": scores}
    hits = np.array(WORDS) == np.array(told)
    for given_columns in (columns, {"confidence": scores, "correct": hits}):
        rows = read("a.parquet", parquet(given_columns)).rows
        same_hits(rows, scores, hits)


def test_further_columns_stay() -> None:
    more = {
        "age": [None, *range(1, N)], "site": ["x", "y", None, "x"] * 10,
        "day": pa.array([1, 40] * 20, pa.date32()), "raw": [b"\xff"] * N,
    }  # fmt: skip
    upload = read("a.parquet", parquet(COLUMNS | {"label": LABELS} | more))
    slices = upload.columns["rows"]
    np.testing.assert_array_equal(slices["age"].values, [np.nan, *range(1, N)])
    assert slices["site"].categories == ("x", "y", "")
    assert slices["day"].categories == ("1970-01", "1970-02")
    assert upload.uses["raw"] == "left out"


def with_null(values: Array) -> list[Any]:
    return [*values[:4].tolist(), None, *values[5:].tolist()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"logit_1": with_null(LOGITS[:, 1])}, r"logit_1 1 \(blank\); in 1 row \(row 5\)"),
        ({"label": with_null(LABELS)}, r"label 1 \(blank\); in 1 row \(row 5\)"),
        ({"logit_1": ["1.5"] * 39 + ["n/a"]}, r'logit_1 1 \("n/a"\); in 1 row \(row 40\)'),
        ({"label": [1] * 39 + [7]}, "row 40"),
        ({"label": [b"a"] * N}, 'array "label": bytes'),
    ],
)
def test_refused_cells(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.parquet", parquet(COLUMNS | {"label": LABELS} | change))


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([None, *LOGITS[1:].tolist()], r"logits 1 \(blank\); in 1 row \(row 1\)"),
        ([[1.0, None]] * N, "cells that cannot be used"),
        (pa.array([[]] * N, pa.list_(pa.float32())), "empty lists"),
        ([["x"]] * N, 'lists of texts such as "x"'),
    ],
)
def test_refused_lists(lists: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.parquet", parquet({"logits": lists, "label": LABELS}))


def test_further_numbers_keep_their_type_until_they_are_shown() -> None:
    ages = np.arange(N, dtype=np.int8)[::-1].copy()
    upload = read("a.parquet", parquet({**COLUMNS, "label": LABELS, "age": ages}))
    assert upload.columns["rows"]["age"].values.dtype == np.int8
    parts = upload.split_columns(calibration_share=0.5)
    shown = [part["age"].values for part in parts.values()]
    assert [values.dtype for values in shown] == [np.float64] * 2
    assert sorted(np.concatenate(shown)) == sorted(ages)


def test_two_tables_are_asked_about() -> None:
    lists = LOGITS.tolist()
    with pytest.raises(FileError, match=r'"probs" or "logits"\. Expected an answer'):
        read(
            "a.parquet", parquet({"probs": lists, "logits": (2 * LOGITS).tolist(), "label": LABELS})
        )
    rows_of(
        parquet({"features": [[1.0, 2.0]] * N, "logits": pa.array(list(LOGITS)), "label": LABELS})
    )


def test_one_long_text_repeated_is_decoded_once() -> None:
    data = parquet(COLUMNS | {"label": LABELS, "note": ["x" * (1 << 20)] * N})
    assert len(data) < 1 << 20
    rows_of(data)


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


@pytest.mark.parametrize(
    "data",
    [
        # In a page header 15 00 is its kind, 15 and a number its size, 2c 15 its number of values
        # and 4c 15 the number of entries of a dictionary, all of them doubled.
        edited(PLAIN, b"\x2c\x15\x50", b"\x2c\x15\x4e"),
        edited(PLAIN, b"\x2c\x15\x50", b"\x2c\x15\x7e"),
        edited(CODED, b"\x4c\x15\x08", b"\x4c\x15\x7e"),
        edited(PLAIN, b"\x15\x00\x15", b"\x15\x0e\x15"),
        PLAIN[:4] + PLAIN[200:],
    ],
)
def test_pages_that_lie(data: bytes) -> None:
    with pytest.raises(FileError, match="damaged"):
        read("a.parquet", data)


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
    roles: tuple[tuple[str, ColumnRole], ...] = (("t", "outcome"), ("q", "class"), ("p", "class"))
    upload = read(name, data, roles=roles)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.logits, LOGITS[:, [0, 1]].astype(float))
    assert upload.rows.labels.tolist() == [0, 1] * 20
    assert list(upload.columns["rows"]) == ["z", "label"]
