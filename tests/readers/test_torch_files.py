"""Files of torch.save: what PyTorch wrote is read, and what lies about its storages is refused."""

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.readers.formats.torch import read_torch
from dashboard.readers.refusal import FileError
from tests.readers.files import PLAIN, archive, npy, pickled, storage, tensor, torch_zip
from tests.readers.test_pickle_files import named, nothing_happens
from tests.readers.torch_files import GENUINE
from tests.readers.torch_files import LABELS as TRUE_LABELS
from tests.readers.torch_files import LOGITS as TRUE_LOGITS

FLOATS = np.arange(12, dtype="<f4")


def one(program: bytes, order: bytes | None = b"little", **storages: bytes) -> Any:
    """Read a file of one tensor."""
    return named(read_torch(torch_zip(program + b".", order, **storages), None))[""]


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("parameter", ("logits", "labels")),
        ("parameter.1.6", ("logits", "labels")),
        ("arrays", ("logits", "labels")),
        ("lists", ("0", "1")),
    ],
)
def test_what_pytorch_wrote(name: str, names: tuple[str, str]) -> None:
    with nothing_happens():
        contents = named(read_torch(GENUINE[name], None))
    assert contents[names[0]].tolist() == TRUE_LOGITS
    assert contents[names[1]].tolist() == TRUE_LABELS


@pytest.mark.parametrize("name", ["slices", "slices.1.6"])
def test_parts_of_storages(name: str) -> None:
    contents = list(named(read_torch(GENUINE[name], None)).values())
    assert contents[0].tolist() == TRUE_LOGITS[:2]
    assert contents[1].tolist() == TRUE_LABELS[:2]
    assert contents[2].tolist() == TRUE_LOGITS[2:]
    assert contents[3].tolist() == TRUE_LABELS[2:]


def test_rows_that_share_their_bytes() -> None:
    assert named(read_torch(GENUINE["expanded"], None))["0"].tolist() == [TRUE_LOGITS[0]] * 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("model", "torch.nn.modules.linear.Linear"),
        ("script", "__torch__.torch.nn.modules.linear.Linear"),
        ("weights", 'weights of a model ."weight", "bias"'),
        ("checkpoint", 'weights of a model ."model_state_dict"'),
        ("convolution", "4 dimensions .* not the weights of a model"),
        ("negated", "no plain tensor"),
        ("float8", "_rebuild_tensor_v3.*tensors of float32 and int64"),
        ("types", "_rebuild_tensor_v3.*tensors of float32 and int64"),
        ("before 1.6", "before PyTorch 1.6.* saved again by a later PyTorch"),
        ("sparse", "torch._utils._rebuild_sparse_tensor"),
    ],
)
def test_what_holds_no_plain_tensors(name: str, text: str) -> None:
    with nothing_happens(), pytest.raises(FileError, match=text):
        read_torch(GENUINE[name], None)


@given(bits=st.lists(st.integers(0, 0xFFFF), min_size=1, max_size=20), big=st.booleans())
def test_bfloat16(bits: list[int], big: bool) -> None:  # noqa: FBT001
    n = len(bits)
    program = tensor(storage(kind="BFloat16Storage", count=n), 0, (n, 1), (1, 1))
    raw = struct.pack(f"{'>' if big else '<'}{n}H", *bits)
    result = one(program, b"big" if big else b"little", s0=raw)
    assert result.tobytes() == struct.pack(f"<{2 * n}H", *(v for b in bits for v in (0, b)))


def test_bools_of_any_byte() -> None:
    program = tensor(storage(kind="BoolStorage", count=4), 0, (4,), (1,))
    assert one(program, s0=b"\x00\x01\x02\xff").tolist() == [False, True, True, True]


REFUSED: list[tuple[str, bytes, str]] = [
    ("negative offset", tensor(offset=-1), "not whole numbers"),
    ("negative size", tensor(size=(-4, -3)), "not whole numbers"),
    ("huge size", tensor(size=(10**17, 10**17)), "overlap|beyond its 48"),
    ("wraps round", tensor(size=(1 << 32, 1 << 32), stride=(1 << 32, 1)), "beyond its 48"),
    ("one more row", tensor(size=(5, 3)), "beyond its 48"),
    ("far offset", tensor(offset=10**18 - 1), "beyond its 48"),
    ("expanded far", tensor(size=(1 << 40, 3), stride=(0, 1)), "overlap"),
    ("no rows", tensor(size=(0, 3)), "empty tensor"),
    ("not there", tensor(storage("7")), 'reference to "any/data/7", not there'),
    ("outside", tensor(storage("../data.pkl")), "not there"),
    ("fewer bytes", tensor(storage(count=13)), "48 bytes where the pickle declares 52"),
    ("huge count", tensor(storage(count=1 << 59)), "declares 2,305"),
    ("no storage", tensor(storage().replace(b"Vstorage", b"Vmodule")), "no storage of tensors"),
    ("hooks", tensor(rest=b"I00\n(dVa\nI1\ns"), "no plain tensor"),
    ("conjugated", tensor(rest=PLAIN + b"(dVconj\nI01\ns"), "no plain tensor"),
    ("state of a tensor", tensor() + b"(dVa\n(dsb", "state for something"),
    ("load", b"ctorch\nload\n(Va\ntR", "torch.load"),
    ("from bytes", b"ctorch.storage\n_load_from_bytes\n(Va\ntR", "_load_from_bytes"),
    ("system", b"cposix\nsystem\n(Vtrue\ntR", "posix.system"),
]


@pytest.mark.parametrize(("program", "text"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused(program: bytes, text: str) -> None:
    with nothing_happens(), pytest.raises(FileError, match=text):
        one(program, s0=FLOATS.tobytes())


FILES: list[tuple[str, bytes, str]] = [
    ("a pickle", pickled((TRUE_LOGITS, TRUE_LABELS), 2), "a pickle where a file of torch.save"),
    ("text", b"hello", "no zip file"),
    ("arrays", archive(**{"logits.npy": npy(FLOATS)}), "does not write"),
    ("byte order", torch_zip(b"N.", b"middle"), 'byteorder: "middle"'),
    ("checksum", GENUINE["slices"].replace(b"\0\0\xc0\x3f", b"\0\0\xc1\x3f"), "CRC"),
]


@pytest.mark.parametrize(("data", "text"), [r[1:] for r in FILES], ids=[r[0] for r in FILES])
def test_files_refused(data: bytes, text: str) -> None:
    with nothing_happens(), pytest.raises(FileError, match=text):
        read_torch(data, None)


@given(
    name=st.sampled_from(sorted(GENUINE)),
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_damaged_files_are_refused_or_read(name: str, changes: list[tuple[float, int]]) -> None:
    data = bytearray(GENUINE[name])
    for place, value in changes:
        data[int(place * (len(data) - 1))] = value
    try:
        assert read_torch(bytes(data), None).arrays
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
