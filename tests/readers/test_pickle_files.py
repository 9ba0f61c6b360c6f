"""Pickles: the layouts that are read, and that nothing in one is imported, called or made."""

import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.readers.formats import pickle_machine, prepare
from dashboard.readers.formats.pickle import read_pickle
from dashboard.readers.records import Arrays
from dashboard.readers.refusal import FileError
from tests.readers.files import GOOD, LABELS, LOGITS, NN, PROBABILITIES, K, N, pickled

ONE_HOT = np.eye(K)[LABELS]
TYPE = b"cnumpy\ndtype\n"
MAKE = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
FLOAT = TYPE + b"(S'f8'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb"
STATE = MAKE + b"(I1\n(I1\nt" + FLOAT + b"I0\nS'12345678'\ntb"
LAUGHS: Any = [1] * 1000
for _ in range(3):
    LAUGHS = [LAUGHS] * 1000


class Runs:
    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call[0], self.call[1:]


def opened(value: Any, protocol: int = 4) -> Arrays:
    return read_pickle(pickled(value, protocol), None)


def named(arrays: Arrays) -> dict[str, Any]:
    return {
        column.name: np.array(column.texts)[column.values] if column.texts else column.values
        for column in arrays.arrays
        if not column.unread
    }


def is_right(arrays: Arrays, names: tuple[str, str]) -> bool:
    contents = named(arrays)
    return np.allclose(contents[names[0]], LOGITS) and (contents[names[1]] == LABELS).all()


WATCHED = ("exec", "import", "compile", "open", "marshal", "os.", "pickle.", "subprocess", "ctypes")
_EVENTS: list[str] = []
_WATCHING = [False]


def _watch(event: str, _: tuple[Any, ...]) -> None:
    if _WATCHING[0] and event.startswith(WATCHED):
        _EVENTS.append(event)


sys.addaudithook(_watch)


@contextmanager
def nothing_happens() -> Iterator[None]:
    """Hold that Python imports, opens, compiles and runs nothing meanwhile."""
    prepare()
    _EVENTS.clear()
    _WATCHING[0] = True
    try:
        yield
    finally:
        _WATCHING[0] = False
    assert _EVENTS == []


def test_the_watch_sees_what_the_unpickler_of_python_does() -> None:
    with pytest.raises(AssertionError), nothing_happens():
        pickle.loads(pickled(LOGITS))  # noqa: S301 - of our own


@pytest.mark.parametrize("protocol", range(6))
def test_the_layout_of_nn_calibration(protocol: int) -> None:
    with nothing_happens():
        contents = (
            named(opened(NN, protocol)) if protocol else named(read_pickle(GOOD["good.p"], None))
        )
    assert list(contents) == ["0.0", "0.1", "1.0", "1.1"]
    for name, array in zip(contents, [*NN[0], *NN[1]], strict=True):
        np.testing.assert_array_equal(contents[name], array)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ((LOGITS, LABELS), ("0", "1")),
        ([LOGITS, LABELS], ("0", "1")),
        ((np.asfortranarray(LOGITS), LABELS), ("0", "1")),
        ((LOGITS.tolist(), LABELS.tolist()), ("0", "1")),
        ([(LOGITS, LABELS)], ("0", "1")),
        ({"logits": LOGITS, "labels": LABELS}, ("logits", "labels")),
        ({"test": {"logits": LOGITS, "y": list(LABELS)}}, ("test.logits", "test.y")),
        ({"logits": list(LOGITS), "y": [int(y) for y in LABELS]}, ("logits", "y")),
    ],
)
def test_arrays_by_name_and_by_place(value: Any, names: tuple[str, str]) -> None:
    assert is_right(opened(value), names)


def test_a_bare_array_has_no_name() -> None:
    assert named(opened(PROBABILITIES))[""].tolist() == PROBABILITIES.tolist()


@pytest.mark.parametrize("kind", ["U", "S"])
def test_arrays_of_texts_and_what_is_no_array(kind: str) -> None:
    texts = np.array(["cat", "owl", "cat"]).astype(kind)
    rest = {"epoch": 3, "note": "hello", "classes": {"owl": 1, "cat": 0}, "more": [texts[1]] * 3}
    arrays = opened({"labels": texts, **rest})
    assert {name: held.tolist() for name, held in named(arrays).items()} == {
        "labels": ["cat", "owl", "cat"], "classes": ["cat", "owl"], "more": ["owl"] * 3,
    }  # fmt: skip
    assert {c.name: c.unread for c in arrays.arrays if c.unread} == {
        "epoch": "a number", "note": "a text",
    }  # fmt: skip


def test_two_pairs_in_a_list_are_two_sets_and_it_is_said() -> None:
    halves = [(LOGITS[:20], LABELS[:20]), (LOGITS[20:], LABELS[20:])]
    assert list(named(opened(halves))) == ["0.0", "0.1", "1.0", "1.1"]
    assert "two batches of one set" in opened(halves).doubts[0]
    assert opened(tuple(halves)).doubts == ()


@pytest.mark.parametrize("wide", [ONE_HOT, ONE_HOT.astype(int), LABELS[:, np.newaxis]])
def test_sets_of_lists_are_never_taken_for_batches(wide: Any) -> None:
    contents = named(opened({"val": [LOGITS, wide], "test": [LOGITS, wide]}))
    assert list(contents) == ["val.0", "val.1", "test.0", "test.1"]
    assert list(named(opened([[LOGITS, wide], [LOGITS, wide]]))) == ["0.0", "0.1", "1.0", "1.1"]


def test_a_few_parts_of_other_lengths_may_be_sets() -> None:
    parts = [(LOGITS[p], LABELS[p]) for p in (slice(0, 10), slice(10, 16), slice(16, N))]
    assert "A list of 3 parts (10, 6, 24 rows)" in opened(parts).doubts[0]


REFUSED: list[tuple[str, bytes, str]] = [
    *(("os.system", pickled(Runs(os.system, "touch canary"), p), "refers to") for p in range(6)),
    ("eval", pickled((LOGITS, Runs(eval, "1")), 4), "eval"),
    ("after arrays", pickled((LOGITS, LABELS, Runs(exec, "1")), 2), "refers to"),
    ("fromfile", pickled(Runs(np.fromfile, "/etc/passwd"), 4), "fromfile"),
    ("dotted", b"\x80\x04\x8c\x05numpy\x8c\x0endarray.tofile\x93.", "ndarray.tofile"),
    ("objects", pickled(np.array([None, 1]), 2), "Python objects"),
    ("inst", b"(S'touch canary'\nios\nsystem\n.", "object to be made"),
    ("obj", b"(cnumpy\nndarray\nI1\no.", "object to be made"),
    ("newobj", b"\x80\x02cnumpy\nndarray\n)\x81.", "object to be made"),
    ("extension", b"\x80\x02\x82\x01.", "extension"),
    ("persistent", b"(K\x01Q.", "persistent"),
    ("buffer", b"\x80\x05\x97.", "outside buffer"),
    ("protocol", b"\x80\x09N.", "protocol"),
    ("length", b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7f.", "truncated"),
    ("trailing", pickled((LOGITS, LABELS)) + b"N.", "follow the end"),
    ("deep", b"]" + b"\x85" * 1000 + b".", "levels of nesting"),
    ("itself", b"(lp0\ng0\nag0\na.", "nested too deeply, or in themselves|levels"),
    ("many laughs", pickled(LAUGHS), "repeated references"),
    ("ndarray called", b"cnumpy\nndarray\n(I17179869184\ntR.", "ndarray called directly"),
    ("declared", STATE.replace(b"(I1\n(I1\n", b"(I1\n(I99999999999\n") + b".", "declares"),
    ("negative", STATE.replace(b"(I1\n(I1\n", b"(I1\n(I-1\n") + b".", "not whole numbers"),
    ("state twice", STATE + b"(I1\n(I0\nt" + FLOAT + b"I0\nS''\ntb.", "state for something"),
    ("state of a class", b"cnumpy\nndarray\n}b.", "state for something"),
    ("state of a type", TYPE + b"}b.", "state for something"),
    ("fields", FLOAT.replace(b"NNN", b"N(S'a'\nt}") + b".", "state for something"),
    ("type twice", FLOAT + b"(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb.", "state for something"),
    ("void", TYPE + b"(S'V8'\nI0\nI1\ntR.", "not a numeric type"),
    ("codec", b"c_codecs\nencode\n(Vabc\nVpunycode\ntR.", "encode with other"),
    ("nothing", pickled(None), "another layout: something that is no array"),
    ("names twice", b"(dS'y'\n(lI0\nasS'y'\n(lI0\nas.", '"y" twice'),
]


@pytest.mark.parametrize(("data", "text"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused(data: bytes, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with nothing_happens(), pytest.raises(FileError, match=text) as caught:
        read_pickle(data, None)
    assert str(caught.value).isprintable()
    assert list(tmp_path.iterdir()) == []


def test_steps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickle_machine, "MAX_STEPS", 10)
    with pytest.raises(FileError, match="10 steps"):
        opened(list(range(100)))


@pytest.mark.parametrize("seed", range(2))
def test_damaged_files_are_refused_or_read(seed: int) -> None:
    data = (GOOD["good.p"], GOOD["good.pickle"])[seed]
    draw = np.random.default_rng(seed)
    for _ in range(500):
        changed = bytearray(data)
        changed[int(draw.integers(min(len(data), 400)))] = int(draw.integers(256))
        try:
            assert read_pickle(bytes(changed), None).arrays
        except FileError as error:
            assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
