"""Files of torch.save: what PyTorch wrote is read, and what lies about its storages is refused."""

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, read
from dashboard.readers.contents import RawSet
from dashboard.readers.pickles.torch_zip import read_torch
from tests.readers.files import (
    PLAIN,
    Array,
    archive,
    npy,
    pickled,
    storage,
    tensor,
    torch_zip,
    whole,
)
from tests.readers.torch_files import GENUINE
from tests.readers.torch_files import LABELS as TRUE_LABELS
from tests.readers.torch_files import LOGITS as TRUE_LOGITS

CODES = {
    "Float": "f4", "Double": "f8", "Half": "f2",
    "Long": "i8", "Int": "i4", "Short": "i2", "Char": "i1", "Byte": "u1",
}  # fmt: skip
FLOATS = np.arange(12, dtype="<f4")


def labelled(table: bytes) -> bytes:
    return b"(dVlogits\n" + table + b"sVlabels\n(lI0\naI1\naI2\naI0\nas."


def table_of(data: bytes) -> Array:
    raw = read_torch(data).sets["rows"]
    assert isinstance(raw, RawSet)
    assert raw.table is not None
    return raw.table


@pytest.mark.parametrize("name", ["parameter", "parameter.1.6", "lists", "arrays"])
def test_what_pytorch_wrote(name: str) -> None:
    upload = read("a.pt", GENUINE[name])
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.logits.tolist() == TRUE_LOGITS
    assert upload.rows.labels.tolist() == TRUE_LABELS
    assert any("epoch" in said for said in upload.found) == name.startswith("parameter")


@pytest.mark.parametrize("name", ["slices", "slices.1.6", "types"])
def test_both_sets(name: str) -> None:
    sets = read("a.pth", GENUINE[name]).sets
    calibration, test = sets["calibration"], sets["test"]
    assert isinstance(calibration, LogitSet)
    assert isinstance(test, LogitSet)
    assert calibration.logits.tolist() == TRUE_LOGITS[:2]
    assert calibration.labels.tolist() == TRUE_LABELS[:2]
    assert test.logits.tolist() == TRUE_LOGITS[2:]
    assert test.labels.tolist() == ([1, 0] if name == "types" else TRUE_LABELS[2:])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("before 1.6", "PyTorch before 1.6.*torch.save.torch.load"),
        ("model", "torch.nn.modules.linear.Linear"),
        ("model.1.6", "torch.nn.modules.linear.Linear"),
        ("script", "__torch__.torch.nn.modules.linear.Linear"),
        ("weights", 'weights of a model ."weight", "bias"'),
        ("checkpoint", 'weights of a model ."model_state_dict"'),
        ("convolution", "4 dimensions .* not the weights of a model"),
        ("negated", "no plain tensor"),
        ("expanded", r"strides \(0, 1\) of shape \(4, 3\), whose values overlap.*contiguous"),
        ("float8", "torch.float8_e4m3fn"),
        ("sparse", "torch._utils._rebuild_sparse_tensor"),
    ],
)
def test_what_holds_no_plain_tensors(name: str, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        read("a.pt", GENUINE[name])
    assert str(caught.value).isprintable()


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Array, int, tuple[int, ...], tuple[int, ...]]:
    """A part of a storage, taken by NumPy's own slices, with its offset, shape and strides."""
    base = np.arange(draw(st.integers(24, 60)), dtype=np.float32)
    shape = draw(st.sampled_from([(4, 6), (6, 4), (2, 12), (24, 1), (3, 8)]))
    whole_table = base[draw(st.integers(0, len(base) - 24)) :][:24].reshape(shape)
    table = whole_table.T if draw(st.booleans()) else whole_table
    part = table[draw(st.integers(0, len(table) - 1)) :: draw(st.integers(1, 3))]
    part = part[:, :: draw(st.integers(1, 3))]
    offset = (part.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 4
    return base, offset, part.shape, tuple(step // 4 for step in part.strides)


@given(
    layout=layouts(),
    kind=st.sampled_from(sorted(CODES)),
    order=st.sampled_from([b"little", b"big", None]),
)
def test_any_part_of_a_storage(
    layout: tuple[Array, int, tuple[int, ...], tuple[int, ...]], kind: str, order: bytes | None
) -> None:
    base, offset, shape, steps = layout
    code = CODES[kind]
    raw = base.astype((">" if order == b"big" else "<") + code).tobytes()
    program = b"(" + tensor(storage(kind=kind + "Storage", count=len(base)), offset, shape, steps)
    values = base.astype(code)
    expected = np.ndarray(
        shape, code, values, offset * values.itemsize, [s * values.itemsize for s in steps]
    )
    program += b"(l" + b"I0\na" * shape[0] + b"t."
    found = table_of(torch_zip(program, order, s0=raw))
    np.testing.assert_array_equal(found, expected[:, 0] if shape[1] == 1 else expected)
    assert found.dtype == np.dtype(code)
    assert found.flags.c_contiguous


@given(bits=st.lists(st.integers(0, 0xFFFF), min_size=1, max_size=20), big=st.booleans())
def test_bfloat16(bits: list[int], big: bool) -> None:  # noqa: FBT001
    n = len(bits)
    place = storage(kind="BFloat16Storage", count=n)
    program = b"(dVlogits\n" + tensor(place, 0, (n, 1), (1, 1)) + b"s."
    raw = struct.pack(f"{'>' if big else '<'}{n}H", *bits)
    table = table_of(torch_zip(program, b"big" if big else b"little", s0=raw))
    assert table.tobytes() == struct.pack(f"<{2 * n}H", *(v for b in bits for v in (0, b)))


def test_bools_of_any_byte() -> None:
    place = storage(kind="BoolStorage", count=4)
    data = torch_zip(b"(dVlabels\n" + tensor(place, 0, (4,), (1,)) + b"s.", s0=b"\x00\x01\x02\xff")
    raw = read_torch(data).sets["rows"]
    assert isinstance(raw, RawSet)
    assert raw.labels is not None
    assert raw.labels.dtype == bool
    assert raw.labels.view(np.uint8).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("kind", ["uint16", "uint32", "uint64"])
@pytest.mark.parametrize("big", [False, True])
def test_types_without_a_storage_of_their_own(kind: str, big: bool) -> None:  # noqa: FBT001
    labels = np.array([3, 0, 1, 2], kind)
    raw = labels.astype(labels.dtype.newbyteorder(">" if big else "<")).tobytes()
    place = storage(kind="storage.UntypedStorage", count=labels.nbytes)
    rest = PLAIN + f"ctorch\n{kind}\n".encode()
    program = b"(dVlabels\n" + tensor(place, 0, (4,), (1,), rest, "_rebuild_tensor_v3") + b"s."
    found = read_torch(torch_zip(program, b"big" if big else b"little", s0=raw)).sets["rows"]
    assert isinstance(found, RawSet)
    assert found.labels is not None
    assert found.labels.tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize("rest", [b"", PLAIN, PLAIN + b"N", PLAIN + b"(d", b"I01\n(d"])
def test_nothing_hung_on_a_tensor(rest: bytes) -> None:
    data = torch_zip(labelled(tensor(rest=rest)), s0=FLOATS.tobytes())
    np.testing.assert_array_equal(table_of(data), FLOATS.reshape(4, 3))


def test_the_step_of_a_dimension_of_one_is_never_taken() -> None:
    table = tensor(storage(kind="DoubleStorage"), size=(4, 1), stride=(3, 77))
    far = b"\x8a\x08" + ((1 << 62) - 1).to_bytes(8, "little")
    program = labelled(table.replace(b"I77\n", far))
    found = table_of(torch_zip(program, s0=FLOATS.astype("<f8").tobytes()))
    assert found.tolist() == [0, 3, 6, 9]


def test_names_of_classes_and_values_by_the_way() -> None:
    program = b"(dVclass_names\n(lVcat\naVdog\naVcow\nasVaccuracy\nF0.5\nsVlogits\n" + tensor()
    data = torch_zip(
        program + b"sVnote\nVhello\nsVy\n(lI0\naI1\naI2\naI0\nas.", s0=FLOATS.tobytes()
    )
    upload = read("a.pt", data)
    assert isinstance(upload.rows, LogitSet)
    assert upload.rows.class_names == ("cat", "dog", "cow")
    assert any("accuracy, note" in said for said in upload.found)


STATED = tensor() + b"(dV_metadata\n(dsb"
REFUSALS: list[tuple[str, bytes, str]] = [
    # where and how large
    ("negative offset", tensor(offset=-1), "not whole numbers"),
    ("negative stride", tensor(stride=(-3, 1)), "not whole numbers"),
    ("negative size", tensor(size=(-4, -3)), "not whole numbers"),
    ("offset true", tensor().replace(b"I0\n(I4", b"I01\n(I4"), "not whole numbers"),
    ("offset text", tensor().replace(b"I0\n(I4", b"V0\n(I4"), "not whole numbers"),
    ("huge size", tensor(size=(10**17, 10**17)), "overlap|storage of 12"),
    ("wraps round", tensor(size=(1 << 32, 1 << 32), stride=(1 << 32, 1)), "storage of 12"),
    ("one more row", tensor(size=(5, 3)), "number 15 of a storage of 12"),
    ("one further", tensor(offset=1), "number 13 of a storage of 12"),
    ("far offset", tensor(offset=10**18 - 1), "of a storage of 12"),
    ("wide stride", tensor(size=(2, 2), stride=(11, 1)), "number 13 of a storage of 12"),
    ("expanded", tensor(size=(4, 3), stride=(0, 1)), "overlap"),
    ("expanded far", tensor(size=(1 << 40, 3), stride=(0, 1)), "overlap"),
    ("overlap", tensor(size=(4, 3), stride=(2, 1)), "overlap"),
    ("overlap the other way", tensor(size=(3, 4), stride=(1, 2)), "overlap"),
    ("overlap of three", tensor(size=(2, 2, 2), stride=(3, 2, 1)), "overlap"),
    ("no strides", tensor(stride=()), "2 dimensions with 0 strides"),
    ("four dimensions", tensor(size=(1,) * 4, stride=(1,) * 4), "4 dimensions"),
    ("thousand dimensions", tensor(size=(1,) * 999, stride=(1,) * 999), "999 dimensions"),
    ("no rows", tensor(size=(0, 3)), "empty tensor"),
    # storages
    ("not there", tensor(storage("7")), 'reference to "any/data/7", not there'),
    ("outside", tensor(storage("../data.pkl")), "not there"),
    ("fewer bytes", tensor(storage(count=13)), "48 bytes where the pickle declares 52"),
    ("more bytes", tensor(storage(count=11)), "48 bytes where the pickle declares 44"),
    ("huge count", tensor(storage(count=1 << 59)), "declares 2,305"),
    ("negative count", tensor(storage(count=-12)), "declares -48"),
    ("another type", tensor(storage(kind="DoubleStorage")), "declares 96"),
    ("no storage", tensor(storage().replace(b"Vstorage", b"Vmodule")), "no storage of tensors"),
    ("type of another kind", tensor(storage(kind="uint16")), "no storage of tensors"),
    ("type of text", tensor(b"(Vstorage\nVtorch\nV0\nVcpu\nI12\ntQ"), "no storage of tensors"),
    ("unknown type", tensor(storage(kind="ComplexFloatStorage")), "ComplexFloatStorage"),
    ("a number for a reference", b"(I1\nQ.", "no storage of tensors"),
    ("nothing for a reference", b"(Q.", "malformed"),
    ("reference of text", b"(P1\n.", "persistent reference"),
    ("bare storage", labelled(storage()), "no array where an array"),
    ("storage alone", storage() + b".", "another layout"),
    # calls
    ("no storage in it", tensor(b"N"), "no plain tensor"),
    ("hooks", tensor(rest=b"I00\n(dVa\nI1\ns"), "no plain tensor"),
    ("conjugated", tensor(rest=PLAIN + b"(dVconj\nI01\ns"), "no plain tensor"),
    ("more arguments", tensor(rest=PLAIN + b"NN"), "no plain tensor"),
    ("no type of its own", tensor(storage(kind="UntypedStorage", count=48)), "no plain tensor"),
    ("type twice", tensor(rest=PLAIN + b"ctorch\nuint16\n", name="_rebuild_tensor_v3"), "no plain"),
    ("parameter of text", b"ctorch._utils\n_rebuild_parameter\n(Va\ntR.", "no plain parameter"),
    (
        "parameter with hooks",
        b"ctorch._utils\n_rebuild_parameter\n(" + tensor() + b"I00\n(dVa\nI1\nstR.",
        "no plain parameter",
    ),
    ("arguments of a list", b"ccollections\nOrderedDict\n(lR.", "a call of something"),
    ("OrderedDict of a list", b"ccollections\nOrderedDict\n((ltR.", "made from a list"),
    ("storage called", b"ctorch\nFloatStorage\n(I1\ntR.", "FloatStorage called directly"),
    ("type called", b"ctorch\nuint16\n(I1\ntR.", "uint16 called directly"),
    ("state of a tensor", STATED, "state for something"),
    ("state of a dict", b"(d(dVa\n(dsb.", "state for something"),
    ("load", b"ctorch\nload\n(Va\ntR.", "torch.load"),
    ("from bytes", b"ctorch.storage\n_load_from_bytes\n(Va\ntR.", "_load_from_bytes"),
    ("dotted", b"\x80\x04\x8c\x05torch\x8c\x11FloatStorage.load\x93.", "FloatStorage.load"),
    ("another module", b"ctorch.cuda\nFloatStorage\n.", "torch.cuda.FloatStorage"),
    ("system", b"cposix\nsystem\n(Vtrue\ntR.", "posix.system"),
]


@pytest.mark.parametrize(
    ("program", "message"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refused(
    program: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = program if program.endswith(b".") else labelled(program)
    with pytest.raises(FileError, match=message) as caught:
        read("a.pt", torch_zip(program, s0=FLOATS.tobytes()))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= 600
    assert list(tmp_path.iterdir()) == []


ARCHIVES: list[tuple[str, bytes, str]] = [
    ("a pickle", pickled((TRUE_LOGITS, TRUE_LABELS), 2), "a pickle where a zip file"),
    ("text", b"hello", "not a zip file"),
    ("arrays", archive(**{"logits.npy": npy(FLOATS)}), "does not write"),
    ("no folder", archive(**{"data.pkl": b"N."}), "does not write"),
    ("two folders", archive(**{"a/data.pkl": b"N.", "b/data.pkl": b"N."}), "does not write"),
    ("nothing", archive(), "does not write"),
    ("up and out", archive(**{"a/data.pkl": b"N.", "a/../b": b""}), "a path for a name"),
    ("byte order", torch_zip(b"N.", b"middle"), 'byteorder: found "middle"'),
    ("two orders", torch_zip(b"N.", b"littlelittle"), "byteorder"),
    ("many members", torch_zip(b"N.", **{f"s{k}": b"" for k in range(5000)}), "5,003 members"),
    ("empty pickle", torch_zip(b""), "not a pickle"),
    ("truncated pickle", torch_zip(labelled(tensor())[:-1], s0=FLOATS.tobytes()), "truncated"),
    ("checksum", GENUINE["slices"].replace(b"\0\0\xc0\x3f", b"\0\0\xc1\x3f"), "CRC"),
]


@pytest.mark.parametrize(
    ("data", "message"), [r[1:] for r in ARCHIVES], ids=[r[0] for r in ARCHIVES]
)
def test_archives_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read("a.pt", data)


@pytest.mark.parametrize("then", [b"a", b""], ids=["in a list", "left on the stack"])
@pytest.mark.parametrize("stride", [(1, 500), (500, 1)], ids=["copied", "viewed"])
def test_a_thousand_tensors_on_one_storage(stride: tuple[int, ...], then: bytes) -> None:
    values = np.zeros(250_000, "<f4")
    view = tensor(storage(count=len(values)), 0, (500, 500), stride) + then
    data = torch_zip(b"(l" + view * 1000 + b".", s0=values.tobytes())
    tracemalloc.start()
    with pytest.raises(FileError, match=r"repeated|again and again"):
        read("a.pt", data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(data)


@given(
    name=st.sampled_from(sorted(GENUINE)),
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_damaged_files(name: str, changes: list[tuple[float, int]]) -> None:
    data = bytearray(GENUINE[name])
    for place, value in changes:
        data[int(place * (len(data) - 1))] = value
    survives(bytes(data))


@given(
    parts=st.lists(
        st.sampled_from(
            [
                b"(", b")", b"t", b"l", b"d", b"s", b"a", b"R", b"b", b"Q", b"N", b"I0\n", b"I1\n",
                b"I3\n", b"I4\n", b"I12\n", b"p0\n", b"g0\n", b"Vstorage\n", b"V0\n", b"Vcpu\n",
                b"Vlogits\n", b"Vlabels\n", b"ctorch\nFloatStorage\n", storage(), tensor(), PLAIN,
                b"ctorch.storage\nUntypedStorage\n", b"ccollections\nOrderedDict\n", whole(4, 3),
                b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch._utils\n_rebuild_parameter\n",
                whole(3, 1), b"ctorch\nuint16\n", b"ctorch._utils\n_rebuild_tensor_v3\n",
            ]
        ),
        max_size=30,
    )
)  # fmt: skip
def test_any_operations(parts: list[bytes]) -> None:
    survives(torch_zip(b"(" + b"".join(parts) + b".", s0=FLOATS.tobytes()))
    survives(torch_zip(b"\x80\x02" + b"".join(parts) + b".", s0=FLOATS.tobytes()))


def survives(data: bytes) -> None:
    try:
        assert isinstance(read("a.pt", data), Upload)
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
        assert str(error).isprintable()  # noqa: PT017
