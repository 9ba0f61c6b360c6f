"""Pickles that attack: refused, and nothing in them ever runs."""

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, read
from dashboard.readers.pickles import machine
from tests.readers.files import LABELS, LOGITS, pickled

CANARY = "touch canary-of-fractile"
TYPE = b"cnumpy\ndtype\n"
MAKE = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
FLOAT = TYPE + b"(S'f8'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb"
BOMB = b"(lp0\n" + b"I1\na" * 1000
for _level in range(3):
    BOMB += b"(" + b"g0\n" * 1000 + b"lp0\n"


class Runs:
    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call[0], self.call[1:]


def state(dtype: bytes, rest: bytes = b"") -> bytes:
    return MAKE + b"(I1\n(I1\nt" + dtype + b"I0\nS'12345678'\nt" + b"b" + rest


REFUSALS: list[tuple[str, bytes, str]] = [
    *(("os.system", pickled(Runs(os.system, CANARY), p), "refers to") for p in range(6)),
    ("eval", pickled((LOGITS, Runs(eval, "1")), 4), "builtins.eval|__builtin__.eval"),
    ("exec after arrays", pickled((LOGITS, LABELS, Runs(exec, CANARY)), 2), "refers to"),
    ("fromfile", pickled(Runs(np.fromfile, "/etc/passwd"), 4), "fromfile"),
    ("objects", pickled(np.array([None, 1]), 2), "type"),
    ("dotted", b"\x80\x04\x8c\x05numpy\x8c\x0endarray.tofile\x93.", "ndarray.tofile"),
    ("not text", b"\x80\x04K\x01K\x02\x93.", "malformed"),
    ("inst", b"(S'touch canary-of-fractile'\nios\nsystem\n.", "object to be made"),
    ("obj", b"(cnumpy\nndarray\nI1\no.", "object to be made"),
    ("newobj", b"\x80\x02cnumpy\nndarray\n)\x81.", "object to be made"),
    ("newobj_ex", b"\x80\x04cnumpy\nndarray\n)}\x92.", "object to be made"),
    ("ext1", b"\x80\x02\x82\x01.", "extension"),
    ("ext4", b"\x80\x02\x84\x01\x00\x00\x00.", "extension"),
    ("persid", b"(P1\n.", "persistent"),
    ("binpersid", b"(K\x01Q.", "persistent"),
    ("a bare number", b"K\x01.", "not a pickle"),
    ("next buffer", b"\x80\x05\x97.", "outside buffer"),
    ("set", b"\x80\x04\x8f.", "set"),
    ("long4", b"\x80\x02\x8b\xff\xff\x00\x00.", "integer"),
    ("long1", b"\x80\x02\x8a\x09" + b"1" * 9 + b".", "integer of 9 bytes"),
    ("unknown", b"\x80\x02\x00.", "unknown operation"),
    ("text", b"hello pickle", "not a pickle"),
    ("protocol", b"\x80\x09N.", "protocol"),
    ("frame", b"\x80\x04\x95\xff\x00\x00\x00\x00\x00\x00\x00N.", "truncated"),
    ("length", b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.", "truncated"),
    ("no stop", b"\x80\x02N", "truncated"),
    ("no line", b"\x80\x02I123", "line"),
    ("long line", b"(I" + b"1" * 5000 + b"\n.", "line"),
    ("whole", b"(I1_0\n.", "malformed"),
    ("decimal", b"(Fnan\n.", "malformed"),
    ("string", b"(S'a\"\n.", "malformed"),
    ("one quote", b"(S'\n.", "malformed"),
    ("open escape", b"(S'a\\'\n.", "malformed"),
    ("unknown escape", b"(S'\\q'\n.", "malformed"),
    ("large escape", b"(S'\\777'\n.", "malformed"),
    ("utf-8", b"\x80\x02X\x01\x00\x00\x00\xff.", "malformed"),
    ("escape", b"(V\\u00\n.", "malformed"),
    ("trailing", pickled((LOGITS, LABELS)) + b"N.", "follow the end"),
    ("left on stack", b"\x80\x02NN.", "malformed"),
    ("open mark", b"\x80\x02(N.", "malformed"),
    ("nothing", b"\x80\x02.", "malformed"),
    ("empty stack", b"\x80\x02\x85.", "malformed"),
    ("below the mark", b"\x80\x02N(\x85.", "malformed"),
    ("no mark", b"\x80\x02t.", "malformed"),
    ("append to nothing", b"\x80\x02q\x00.", "malformed"),
    ("append to a tuple", b"\x80\x02)Na.", "malformed"),
    ("odd dict", b"(Nd.", "malformed"),
    ("odd items", b"\x80\x02}(Nu.", "malformed"),
    ("memo index", b"\x80\x02Nr\xff\xff\xff\x7f.", "memo"),
    ("memo unset", b"\x80\x02h\x05.", "memo"),
    ("memo negative", b"(Np-1\n.", "memo"),
    ("deep", b"(" + b")" + b"\x85" * 1000 + b".", "levels of nesting"),
    ("marks", b"(" * 1000, "open brackets"),
    ("itself", b"(lp0\ng0\na.", "nesting|after its use"),
    ("grown late", b"(lp0\n\x85g0\nNa.", "after its use"),
    ("many laughs", BOMB + b".", "repeated"),
    ("call of a number", b"\x80\x02K\x01)R.", "a call of something"),
    ("call without tuple", b"\x80\x02cnumpy\nndarray\n]R.", "a call of something"),
    ("ndarray", b"cnumpy\nndarray\n(I17179869184\ntR.", "ndarray called directly"),
    (
        "reconstruct shape",
        MAKE.replace(b"I0", b"I17179869184") + b".",
        "arguments of _reconstruct",
    ),
    ("unfinished", MAKE + b".", "another layout"),
    ("unfinished in a list", b"(" + MAKE + b"l.", "an unfinished array where an array"),
    ("declared", state(FLOAT).replace(b"(I1\n(I1\n", b"(I1\n(I99999999999\n") + b".", "declares"),
    ("negative", state(FLOAT).replace(b"(I1\n(I1\n", b"(I1\n(I-1\n") + b".", "not whole numbers"),
    (
        "array as version",
        state(FLOAT).replace(b"(I1\n(I1\n", b"(" + MAKE + b"(I1\n") + b".",
        "state",
    ),
    ("twice", state(FLOAT, b"(I1\n(I0\nt" + FLOAT + b"I0\nS''\ntb."), "state for something"),
    ("state of a name", TYPE + b"}b.", "not a plain array"),
    ("object type", state(TYPE + b"(S'O8'\nI0\nI1\ntR") + b".", "objects, which are a pickle"),
    ("void", TYPE + b"(S'V8'\nI0\nI1\ntR.", "structured"),
    ("type arguments", TYPE + b"(I1\nI0\nI1\ntR.", "not a plain numeric type"),
    ("type fields", FLOAT.replace(b"NNN", b"N(S'a'\nt}") + b".", "fields, flags or offsets"),
    ("type flags", FLOAT.replace(b"I-1\nI0\nt", b"I-1\nI63\nt") + b".", "fields, flags or offsets"),
    ("type order", FLOAT.replace(b"'<'", b"'?'") + b".", "fields, flags or offsets"),
    ("type twice", FLOAT + b"(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb.", "state for something"),
    ("encode", b"c_codecs\nencode\n(Vabc\nVpunycode\ntR.", "encode with other"),
    ("not bytes", b"c_codecs\nencode\n(V\\u1234\nVlatin1\ntR.", "not bytes"),
    ("scalar", b"cnumpy.core.multiarray\nscalar\n(" + FLOAT + b"I1\ntR.", "unknown kind"),
    (
        "scalar size",
        b"cnumpy.core.multiarray\nscalar\n(" + FLOAT + b"S'1234'\ntR.",
        "declares 8",
    ),
    ("frombuffer", b"cnumpy.core.numeric\n_frombuffer\n(I1\ntR.", "_frombuffer"),
    ("layout", pickled((LOGITS, LABELS, LABELS)), "another layout"),
    ("a number", pickled(3), "another layout"),
    ("empty list", pickled(([], [])), "empty list"),
    ("deeper list", pickled(([[1.0], []], [0, 1])), "an empty list"),
    ("ragged", pickled(([[1.0, 2.0], [1.0]], [0, 1])), "unequal length"),
    ("text inside", pickled(([[1.0, "2"], [1.0, 2.0]], [0, 1])), "a number where"),
    ("dict keys", pickled({1: LOGITS}), "dict key"),
    ("names", pickled({"logits": LOGITS, "labels": LABELS, "classes": [1.5, None]}), "class names"),
    ("empty dict", pickled({}), "no arrays"),
    ("many names", pickled({str(k): 1 for k in range(1001)}), "more than 1,000 names"),
    ("many nested", pickled({str(k): {"a": 1, "b": 2} for k in range(501)}), "more than 1,000"),
    ("no logits", pickled({"logits": 3, "labels": LABELS}), "a number where an array"),
    ("same name", pickled({"a": {"logits": LOGITS}, "a_logits": LOGITS}), '"a_logits" twice'),
    ("same key", b"(dS'y'\n(lI0\nasS'y'\n(lI0\nas.", '"y" twice'),
    ("tensors", b"ctorch._utils\n_rebuild_tensor_v2\n.", "_rebuild_tensor_v2.*in a .pt file"),
    ("OrderedDict", b"ccollections\nOrderedDict\n)R.", "collections.OrderedDict"),
]
if sys.version_info < (3, 11, 5):
    # Their `re` keeps what a failed turn of a repetition has taken: refused in other words.
    REFUSALS = [r for r in REFUSALS if r[0] not in {"open escape", "large escape"}]


@pytest.mark.parametrize(
    ("data", "message"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refused(
    data: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match=message) as caught:
        read("attack.p", data)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= 600
    assert list(tmp_path.iterdir()) == []


def test_the_reader_never_sees_the_unpickler(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError

    data = pickled((LOGITS, LABELS), 5)
    for name in ("load", "loads", "Unpickler", "_Unpickler"):
        monkeypatch.setattr(pickle, name, forbidden)
    assert read("a.pkl", data).rows is not None


def test_steps_and_copies_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "MAX_STEPS", 10)
    with pytest.raises(FileError, match="10 steps"):
        read("a.pkl", pickled(list(range(100))))
    monkeypatch.undo()
    long = b"c_codecs\nencode\np0\n(V" + b"a" * 60_000 + b"\np1\nVlatin1\ntp2\nR"
    with pytest.raises(FileError, match="again and again"):
        read("a.pkl", long + b"g0\ng2\nR" * 10 + b".")


def short(text: str) -> bytes:
    return b"\x8c" + bytes([len(text.encode())]) + text.encode()


WIDE = "a" * (1 << 20) + "\u0100"


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04X" + len(WIDE.encode()).to_bytes(4, "little") + WIDE.encode() + b".",
        b"(V" + b"a" * (1 << 20) + b"\\u0100\n.",
        b"(V" + b"a" * (1 << 20) + b"\\U00000100\n.",
    ],
)
def test_a_long_text_that_stands_for_no_array(data: bytes) -> None:
    with pytest.raises(FileError, match=r"a text of 1,048,5[0-9]{2} bytes: refused"):
        read("a.pkl", data)


@pytest.mark.parametrize("protocol", range(3))
def test_long_arrays_that_are_written_as_texts(protocol: int) -> None:
    table = np.random.default_rng(0).normal(size=(100_000, 2))
    rows = read("a.pkl", pickled((table, table.argmin(axis=1)), protocol)).rows
    assert isinstance(rows, LogitSet)
    np.testing.assert_array_equal(rows.logits, table)


def test_many_texts_are_bounded_by_what_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_TEXT_ROOM", 10_000)
    opened = read("a.pkl", pickled({"logits": LOGITS, "labels": LABELS}))
    assert opened.rows is not None
    with pytest.raises(FileError, match="more texts than can be kept"):
        read("a.pkl", b"\x80\x04](" + b"".join(short(f"{k}\U0001f600") for k in range(200)))


def test_escapes_of_python_2() -> None:
    raw = "".join(f"\\x{byte:02x}" for byte in np.array([1.5, -2.0], ">f8").tobytes())
    row = state(FLOAT.replace(b"'<'", b"'>'"), b".").replace(b"(I1\nt", b"(I2\nt")
    data = row.replace(b"12345678", raw.encode() + b"")
    piece = read("a.p", data).piece
    assert piece is not None
    assert piece.table is not None
    assert piece.table.tolist() == [1.5, -2.0]
    text = b"(dS'class_names'\n(lS'\\101\\n\\'\\x42'\naS'b'\nas"
    rest = b"S'y'\n(lI0\naI1\nasS'logits'\n(l(lI5\naI1\naa(lI0\naI7\naas."
    rows = read("a.p", text + rest).rows
    assert isinstance(rows, LogitSet)
    assert rows.class_names == ("A 'B", "b")


@pytest.mark.parametrize("protocol", range(6))
def test_whole_numbers_of_every_size(protocol: int) -> None:
    table = [[0, 255, -3], [70_000, -70_000, 1], [2**40, -(2**40), 65_535]]
    rows = read("a.p", pickled((table, [0, 1, 2]), protocol)).rows
    assert isinstance(rows, LogitSet)
    assert rows.logits.tolist() == table


def test_single_values_are_left_out() -> None:
    extra = {"epoch": 3, "accuracy": 0.5, "note": "hello", "nothing": None, "done": True}
    upload = read("a.p", pickled({"logits": LOGITS, "labels": LABELS} | extra))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.logits, LOGITS)
    assert any(all(name in said for name in extra) for said in upload.found)


def test_only_by_ending() -> None:
    with pytest.raises(FileError, match="not a NumPy array"):
        read("a.npy", pickled((LOGITS, LABELS)))
