"""Tensors over the storages of a file of torch.save: any regular part, and nothing beyond."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.readers import FileError, Upload, read
from tests.readers.files import PLAIN, Array, storage, tensor, torch_zip, whole
from tests.readers.test_torch_files import FLOATS, one

CODES = {
    "Byte": "u1", "Char": "i1", "Short": "i2", "Int": "i4", "Long": "i8", "Half": "f2",
    "Float": "f4", "Double": "f8",
}  # fmt: skip
Layout = tuple[Array, int, tuple[int, ...], tuple[int, ...]]


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """A part of a storage, taken by NumPy's own slices, with its offset, shape and strides."""
    base = np.arange(draw(st.integers(24, 60)), dtype=np.float32)
    shape = draw(st.sampled_from([(4, 6), (6, 4), (2, 12), (24, 1), (3, 8)]))
    whole_table = base[draw(st.integers(0, len(base) - 24)) :][:24].reshape(shape)
    table = whole_table.T if draw(st.booleans()) else whole_table
    part = table[draw(st.integers(0, len(table) - 1)) :: draw(st.integers(1, 3))]
    part = part[:, :: draw(st.integers(1, 3))]
    offset = (part.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 4
    return base, offset, part.shape, tuple(step // 4 for step in part.strides)


@given(layouts(), st.sampled_from(sorted(CODES)), st.sampled_from([b"little", b"big", None]))
def test_any_part_of_a_storage(layout: Layout, kind: str, order: bytes | None) -> None:
    base, offset, shape, steps = layout
    code = CODES[kind]
    program = tensor(storage(kind=f"{kind}Storage", count=len(base)), offset, shape, steps)
    raw = base.astype((">" if order == b"big" else "<") + code).tobytes()
    result = one(program, order, s0=raw)
    values = base.astype(code)
    at = [step * values.itemsize for step in steps]
    np.testing.assert_array_equal(
        result, np.ndarray(shape, code, values, offset * values.itemsize, at)
    )
    assert result.dtype == np.dtype(code)
    assert result.flags.c_contiguous


PARAMETER = b"ctorch._utils\n_rebuild_parameter\n("
REFUSED: list[tuple[bytes, str]] = [
    (tensor(stride=(-3, 1)), "not whole numbers"),
    (tensor().replace(b"I0\n(I4", b"I01\n(I4"), "not whole numbers"),
    (tensor(offset=1), "beyond its 48"),
    (tensor(size=(2, 2), stride=(11, 1)), "beyond its 48"),
    (tensor(stride=()), "2 dimensions with 0 strides"),
    (tensor(size=(1,) * 999, stride=(1,) * 999), "999 dimensions"),
    (tensor(storage(count=11)), "48 bytes where the pickle declares 44"),
    (tensor(storage(kind="ComplexFloatStorage")), "ComplexFloatStorage"),
    (storage(), "another layout"),
    (tensor(b"N"), "no plain tensor"),
    (tensor(rest=PLAIN + b"NN"), "no plain tensor"),
    (PARAMETER + b"Va\ntR", "no plain parameter"),
    (PARAMETER + tensor() + b"I00\n(dVa\nI1\nstR", "no plain parameter"),
    (b"ccollections\nOrderedDict\n((ltR", "made from a list"),
    (b"ctorch\nFloatStorage\n(I1\ntR", "FloatStorage called directly"),
    (b"(d(dVa\n(dsb", "state for something"),
    (b"\x80\x04\x8c\x05torch\x8c\x11FloatStorage.load\x93", "FloatStorage.load"),
    (b"ctorch.cuda\nFloatStorage\n", "torch.cuda.FloatStorage"),
]


@pytest.mark.parametrize(("program", "text"), REFUSED)
def test_refused(program: bytes, text: str) -> None:
    with pytest.raises(FileError, match=text):
        read("a.pt", torch_zip(program + b".", s0=FLOATS.tobytes()))


PIECES = [
    *(b"(", b")", b"t", b"l", b"d", b"s", b"a", b"R", b"b", b"Q", b"N", b"p0\n", b"g0\n"),
    *(b"I%d\n" % number for number in (0, 1, 3, 4, 12)), whole(4, 3), whole(3, 1), PLAIN,
    *(f"V{text}\n".encode() for text in ("storage", "0", "cpu", "logits", "labels")),
    storage(), tensor(), b"ctorch\nFloatStorage\n", b"ctorch\nuint16\n",
    b"ctorch.storage\nUntypedStorage\n", b"ccollections\nOrderedDict\n", PARAMETER,
    b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch._utils\n_rebuild_tensor_v3\n",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.sampled_from([b"(", b"\x80\x02"]))
def test_any_operations(parts: list[bytes], start: bytes) -> None:
    data = torch_zip(start + b"".join(parts) + b".", s0=FLOATS.tobytes())
    try:
        assert isinstance(read("a.pt", data), Upload)
    except FileError as error:
        assert "not foreseen" not in str(error)  # noqa: PT017 - either outcome is right
