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
from dashboard.readers.formats.arrays import read_safetensors
from tests.readers.files import LABELS, LOGITS, Array, logit_set, safetensors

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


GOOD = saved(logits=LOGITS, labels=LABELS)


def rows_of(data: bytes) -> LogitSet:
    return logit_set(read("a.safetensors", data))


@pytest.mark.parametrize("floats", ["float16", "float32", "float64"])
@pytest.mark.parametrize("whole", [name for name in CODES if not name.startswith("float")])
def test_each_type(floats: str, whole: str) -> None:
    table, labels = LOGITS.astype(floats), (LABELS % (2 if whole == "bool" else 4)).astype(whole)
    table = table[:, :2] if whole == "bool" else table
    rows = rows_of(saved({"format": "np", "a": '{[["\\'}, logits=table, labels=labels))
    np.testing.assert_array_equal(rows.logits, table)
    np.testing.assert_array_equal(rows.labels, labels)


@given(bits=st.lists(st.integers(0, 0xFFFF), min_size=1, max_size=40))
def test_bfloat16_is_the_upper_half_of_a_float32(bits: list[int]) -> None:
    half = np.array(bits, "<u2")
    tensor = {"dtype": "BF16", "shape": [len(bits)], "data_offsets": [0, half.nbytes]}
    (column,) = read_safetensors(safetensors({"logits": tensor}, half.tobytes()), None).arrays
    assert column.values.dtype == np.float32
    assert column.values.tobytes() == b"".join(struct.pack("<HH", 0, number) for number in bits)


def test_tensors_come_in_one_order() -> None:
    """The library hands them over in another order each time."""
    names = [f"a{k}" for k in range(9)]
    contents = read_safetensors(saved(**dict.fromkeys(names[::-1], LABELS)), None)
    assert [column.name for column in contents.arrays] == names


def entry(
    dtype: object = "F32", shape: object = (2, 2), at: object = (0, 16), **more: object
) -> Any:
    return {"dtype": dtype, "shape": shape, "data_offsets": at} | more


def one(**tensors: object) -> bytes:
    return safetensors(tensors, bytes(16))


TWO = entry(shape=(1, 2), at=(0, 8))
OTHER = entry(shape=(1, 2), at=(8, 16))
DAMAGED: dict[str, bytes] = {
    "longer than the file": struct.pack("<Q", 99) + b"{}",
    "not UTF-8": safetensors(b'{"\xff": 1}'),
    "deep": safetensors(b'{"a":' + b"[" * 500_000),
    "a number": one(a=1),
    "negative": one(a=entry(shape=[-2, -2])),
    "backwards": one(a=entry(at=[16, 0])),
    "outside": one(a=entry(at=[0, 17])),
    "truncated": GOOD[:-1],
    "bytes at the end": GOOD + b"x",
    "overlap": one(a=entry(), b=TWO),
    "gap": one(a=TWO, b=entry(shape=[1], at=[12, 16])),
    "shape": one(a=entry(shape=[2, 3])),
    "wraps round": one(a=entry(shape=[2**32, 2**32 // 2])),
    "a name that is none": safetensors(json.dumps({"\ud800<b>\x1b[31m" + "x" * 1000: 1}).encode()),
}
REFUSALS: list[tuple[str, bytes, str]] = [
    *((name, data, "file: damage") for name, data in DAMAGED.items()),
    ("nothing", safetensors({}), "no arrays"),
    ("nothing but metadata", safetensors({"__metadata__": {"format": "pt"}}), "no arrays"),
    ("float8", one(a=entry(dtype="F8_E4M3", shape=[4, 4])), "numbers of type F8_E4M3"),
    ("complex", one(a=entry(dtype="C64", shape=[2, 1])), "numbers of type C64"),
    ("four axes", one(a=entry(shape=[1, 1, 2, 2])), "4 axes"),
    ("empty", safetensors({"a": entry(shape=[0, 4], at=[0, 0])}), r"empty array of shape \(0, 4\)"),
    ("weights", one(**{"fc.weight": TWO, "fc.bias": OTHER}), "weights of a model"),
    ("two tables", one(a=TWO, b=OTHER), '2 that may be it: "a", "b"'),
]


@pytest.mark.parametrize(
    ("data", "message"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        read("a.safetensors", data)
    assert str(caught.value).isprintable()
    assert "<" not in str(caught.value)
    assert len(str(caught.value)) <= 600


@given(place=st.integers(0, len(GOOD) - 1), value=st.integers(0, 255), cut=st.booleans())
def test_one_wrong_byte(place: int, value: int, cut: bool) -> None:  # noqa: FBT001
    data = GOOD[:place] + b"x" if cut else GOOD[:place] + bytes([value]) + GOOD[place + 1 :]
    try:
        assert isinstance(read("a.safetensors", data), Upload)
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
