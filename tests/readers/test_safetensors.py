"""The .safetensors format: what it holds, and headers that lie."""

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from dashboard.readers.binary.safetensors import read_safetensors
from tests.readers.files import LABELS, LABELS_TEST, LOGITS, LOGITS_TEST, Array, safetensors

CODES = {
    "bool": "BOOL", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "int8": "I8",
    "int16": "I16", "int32": "I32", "int64": "I64", "float16": "F16", "float32": "F32",
    "float64": "F64",
}  # fmt: skip


def saved(metadata: Any = None, **arrays: Array) -> bytes:
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    body = b""
    for name, array in arrays.items():
        place = [len(body), len(body) + array.nbytes]
        code = CODES[array.dtype.name]
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": place}
        body += array.tobytes()
    return safetensors(header, body)


def rows_of(data: bytes) -> LogitSet:
    rows = read("a.safetensors", data).rows
    assert isinstance(rows, LogitSet)
    return rows


@pytest.mark.parametrize("floats", ["float16", "float32", "float64"])
@pytest.mark.parametrize("whole", [name for name in CODES if name.lstrip("u").startswith("int")])
def test_each_type(floats: str, whole: str) -> None:
    table, labels = LOGITS.astype(floats), LABELS.astype(whole)
    rows = rows_of(saved({"format": "np"}, logits=table, labels=labels))
    np.testing.assert_array_equal(rows.logits, table)
    np.testing.assert_array_equal(rows.labels, labels)


def test_bool_labels() -> None:
    rows = rows_of(saved(logits=LOGITS[:, :2], labels=LABELS > 1))
    np.testing.assert_array_equal(rows.labels, LABELS > 1)


def test_both_sets() -> None:
    arrays = {
        "val_logits": LOGITS, "val_y": LABELS, "test_logits": LOGITS_TEST, "test_y": LABELS_TEST,
    }  # fmt: skip
    upload = read("a.safetensors", saved(**arrays))
    calibration, test = upload.sets["calibration"], upload.sets["test"]
    assert isinstance(calibration, LogitSet)
    assert isinstance(test, LogitSet)
    np.testing.assert_array_equal(calibration.logits, LOGITS)
    np.testing.assert_array_equal(test.labels, LABELS_TEST)


@given(bits=st.lists(st.integers(0, 0xFFFF), min_size=1, max_size=40))
def test_bfloat16_is_the_upper_half_of_a_float32(bits: list[int]) -> None:
    half = np.array(bits, "<u2")
    entry = {"dtype": "BF16", "shape": [len(bits), 1], "data_offsets": [0, half.nbytes]}
    raw = read_safetensors(safetensors({"logits": entry}, half.tobytes())).sets["rows"]
    table: Array = raw.table  # type: ignore[union-attr, assignment]
    assert table.dtype == np.float32
    expected = b"".join(struct.pack("<HH", 0, number) for number in bits)
    assert table.tobytes() == expected


def entry(
    dtype: object = "F32", shape: object = (2, 2), at: object = (0, 16), **more: object
) -> Any:
    return {"dtype": dtype, "shape": shape, "data_offsets": at} | more


def one(**tensors: object) -> bytes:
    return safetensors(tensors, bytes(16))


GOOD = saved(logits=LOGITS, labels=LABELS)
TWO = entry(shape=(1, 2), at=(0, 8))
REFUSALS: list[tuple[str, bytes, str]] = [
    ("short", b"1234567", "too few for it|a size of"),
    ("eight bytes", bytes(8), "not a JSON object|other than a JSON"),
    ("header size", struct.pack("<Q", 1 << 62) + b"{}", "header of at most 1,048,576"),
    ("large header", safetensors({"a" * (1 << 20): 1}), "header of at most"),
    ("longer than the file", struct.pack("<Q", 99) + b"{}", "truncated"),
    ("not UTF-8", safetensors(b'{"\xff": 1}'), "not UTF-8"),
    ("UTF-16", safetensors("{}".encode("utf-16")), "UTF-8|JSON"),
    ("a list", safetensors([1]), "other than a JSON object"),
    ("space before", safetensors(b" {}"), "other than a JSON object"),
    ("not JSON", safetensors(b"{"), "not JSON"),
    ("two objects", safetensors(b"{}{}"), "not JSON"),
    ("NaN", safetensors(b'{"a": NaN}'), "NaN for a number"),
    ("deep", safetensors(b'{"a":' + b"[" * 500_000), "levels of nesting"),
    ("deep objects", safetensors(b'{"a":' * 100_000), "levels of nesting"),
    ("brackets in text", safetensors(b'{"' + b"]" * 99 + b'":' + b"[" * 99), "levels of nesting"),
    ("escapes", safetensors(b'{"' + b'\\"' * 400_000), "not JSON"),
    ("lone escape", safetensors(b'{"\\'), "not JSON"),
    ("digits", one(a=entry(shape=[10**19])), "number of 20 digits"),
    ("many digits", safetensors(b'{"a":' + b"9" * 900_000 + b"}"), "number of 900,000 digits"),
    ("same name", safetensors(b'{"ab": 1, "c": 2, "ab": 3}'), 'name "ab" twice'),
    ("same key", safetensors(b'{"a": {"dtype": "F32", "dtype": "F64"}}'), 'name "dtype" twice'),
    ("metadata list", one(__metadata__=[1]), "__metadata__.*other than text"),
    ("metadata number", one(__metadata__={"a": 1}), "__metadata__.*other than text"),
    ("metadata twice", safetensors(b'{"__metadata__":{},"__metadata__":{}}'), "twice"),
    ("nothing", safetensors({}), "no arrays"),
    ("nothing but metadata", safetensors({"__metadata__": {"format": "pt"}}), "no arrays"),
    ("a number", one(a=1), "describes no tensor"),
    ("no type", one(a={"shape": [2, 2], "data_offsets": [0, 16]}), "describes no tensor"),
    ("one more key", one(a=entry(more=1)), "describes no tensor"),
    ("shape of text", one(a=entry(shape="22")), "describes no tensor"),
    ("negative", one(a=entry(shape=[-2, -2])), "describes no tensor"),
    ("fraction", one(a=entry(shape=[2.0, 2])), "describes no tensor"),
    ("true", one(a=entry(shape=[True, 4])), "describes no tensor"),
    ("three offsets", one(a=entry(at=[0, 16, 16])), "describes no tensor"),
    ("offsets of text", one(a=entry(at=["0", "16"])), "describes no tensor"),
    ("negative offset", one(a=entry(at=[-16, 0])), "describes no tensor"),
    ("type a list", one(a=entry(dtype=["F32"])), "describes no tensor"),
    ("float8", one(a=entry(dtype="F8_E4M3")), 'type "F8_E4M3" .8-bit floats'),
    ("float4", one(a=entry(dtype="F4")), 'type "F4", wanted one of BOOL'),
    ("complex", one(a=entry(dtype="C64")), 'type "C64"'),
    ("no such type", one(a=entry(dtype="f32")), 'type "f32"'),
    ("backwards", one(a=entry(at=[16, 0])), "offsets 16 to 0"),
    ("outside", one(a=entry(at=[0, 17])), "offsets 0 to 17 in 16 bytes"),
    ("far outside", one(a=entry(at=[10**17, 10**18 - 1])), "in 16 bytes"),
    ("truncated", GOOD[:-1], "truncated"),
    ("bytes at the end", GOOD + b"x", "1 bytes after the last"),
    ("overlap", one(a=entry(), b=TWO), "offsets that overlap at byte 0"),
    (
        "part overlap",
        one(a=entry(shape=[3], at=[0, 12]), b=entry(shape=[2], at=[8, 16])),
        "overlap",
    ),
    ("gap", one(a=TWO, b=entry(shape=[1], at=[12, 16])), "leave a gap at byte 12"),
    ("gap before", one(a=entry(shape=[3], at=[4, 16])), "leave a gap at byte 4"),
    ("shape", one(a=entry(shape=[2, 3])), "16 bytes of values where the shape declares 24"),
    ("huge shape", one(a=entry(shape=[10**17, 10**17])), "declares 4"),
    ("wraps round", one(a=entry(shape=[2**32, 2**32 // 2])), "declares 36,893"),
    ("small shape", one(a=entry(shape=[2])), "extra bytes follow"),
    ("four dimensions", one(a=entry(shape=[1, 1, 2, 2])), "4 dimensions"),
    ("empty", safetensors({"a": entry(shape=[0, 4], at=[0, 0])}), "empty array"),
    ("two empty", safetensors({k: entry(shape=[0], at=[0, 0]) for k in "ab"}), "empty array"),
    ("three dimensions", one(a=entry(shape=[2, 2, 1])), "3 dimensions"),
    ("weights", one(**{"fc.weight": TWO, "fc.bias": entry(shape=[2], at=[8, 16])}), "of a model"),
    ("two tables", one(a=TWO, b=entry(shape=[1, 2], at=[8, 16])), '2 arrays named "a", "b"'),
]


@pytest.mark.parametrize(
    ("data", "message"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        read("a.safetensors", data)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= 600


def test_names_are_shown_harmless() -> None:
    name = "\ud800<b>\x1b[31m" + "x" * 1000
    with pytest.raises(FileError, match="describes no tensor") as caught:
        read("a.safetensors", safetensors(json.dumps({name: 1}).encode()))
    assert str(caught.value).isprintable()
    assert "<" not in str(caught.value)
    assert len(str(caught.value)) <= 600


def test_names_may_hold_brackets_and_quotes() -> None:
    upload = read(
        "a.safetensors", saved({"a": '{[["\\'}, logits=LOGITS, labels=LABELS, **{'{"[' * 9: LABELS})
    )
    assert upload.rows is not None


@given(place=st.integers(0, len(GOOD) - 1), value=st.integers(0, 255), cut=st.booleans())
def test_one_wrong_byte(place: int, value: int, cut: bool) -> None:  # noqa: FBT001
    data = GOOD[:place] + b"x" if cut else GOOD[:place] + bytes([value]) + GOOD[place + 1 :]
    try:
        assert isinstance(read("a.safetensors", data), Upload)
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
