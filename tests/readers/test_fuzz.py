"""Damaged files: an Upload, a question or a refusal comes out, and nothing else.

A million are tried by benchmarks/fuzz.py, of which this is a small part.
"""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.any_files import MAKERS, seeds
from benchmarks.fuzz import Tally, Watch, attempt, run_apart
from dashboard.readers import FORMATS, FileError, formats, read
from dashboard.readers.formats import ending_of
from dashboard.readers.records import Body
from dashboard.readers.refusal import UnforeseenError
from tests.marks import first_and_long

ROOT = Path(__file__).parents[2]
FEW, EACH = 25, 100
"""Mutants of each kind: in a few, some are all refused."""
_OPERATIONS = (
    b"(", b")", b"]", b"}", b"t", b"l", b"d", b"a", b"e", b"s", b"u", b"R", b"b", b"N", b"\x85",
    b"\x86", b"\x87", b"\x94", b"h\x00", b"h\x01", b"q\x00", b"q\x01", b"K\x00", b"K\x01", b"I01\n",
    b"S'f8'\n", b"S'b'\n", b"cnumpy\ndtype\n", b"cnumpy\nndarray\n", b"S'logits'\n", b"S'labels'\n",
    b"cnumpy.core.multiarray\n_reconstruct\n", b"cnumpy.core.multiarray\nscalar\n", b"S'C'\n",
    b"cnumpy.core.numeric\n_frombuffer\n", b"c_codecs\nencode\n", b"C\x01\x01",
    b"cnumpy\ndtype\n(S'u1'\nI0\nI1\ntR",
)  # fmt: skip


def survives(name: str, data: bytes, **choices: Any) -> None:
    try:
        read(name, data, **choices)
    except UnforeseenError as error:
        raise AssertionError(data) from error.__cause__
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
        assert str(error).isprintable()  # noqa: PT017


FOUND: list[tuple[str, bytes, dict[str, Any]]] = [
    ("a.json", b'{"columns": ["logit_0"], "data": [[["[0.5, 0.5]"]], [[""]]]}', {}),
    ("a.jsonl", b'[["test"], 1]\n[["[0.5, 0.5]"], null]\n[[""], 100]', {}),
    (
        "a.json",
        (
            b'{"a": [[1, 0], [1, 0]], "y_true": [true, Infinity], "logits": [0, 3],'
            b' "class_names": [11, 13]}'
        ),
        {},
    ),
    ("a.csv", b'p,k\n"[0.7, 0.3]","[0, 1]"\n"[0.2, 0.8]",\n', {"roles": (("k", "outcome"),)}),
]
"""What mutants have shown."""


@pytest.mark.parametrize(("name", "data", "choices"), FOUND)
def test_what_was_found(name: str, data: bytes, choices: dict[str, Any]) -> None:
    survives(name, data, **choices)


@given(data=st.binary(max_size=300), ending=st.sampled_from(sorted(FORMATS)))
def test_any_bytes(data: bytes, ending: str) -> None:
    survives("a" + ending, data)


@given(data=st.text(alphabet='0123456789.,;\t-+eE%"\n\r label', max_size=120))
def test_any_table(data: str) -> None:
    survives("a.csv", data.encode())


@given(operations=st.lists(st.sampled_from(_OPERATIONS), max_size=40))
def test_any_operations(operations: list[bytes]) -> None:
    survives("a.p", b"(" + b"".join(operations) + b".")
    survives("a.p", b"\x80\x02" + b"".join(operations) + b".")


def test_every_format_is_tried() -> None:
    kinds = {*FORMATS.values()}
    assert {FORMATS[ending_of(name)] for name in seeds()} == kinds
    assert {FORMATS[ending_of(name)] for name in MAKERS} == kinds


@pytest.mark.parametrize("name", sorted(seeds()))
def test_good_files_are_read(name: str) -> None:
    assert read(name, seeds()[name]).sets or name == "good.npy"


@pytest.mark.parametrize("each", first_and_long([FEW, EACH]))
def test_mutants_and_files_of_any_layout(each: int) -> None:
    tallies = run_apart(dict.fromkeys([*seeds(), *MAKERS], 0), each)
    # A library that aborts ends the process, as it would end the worker.
    faults = {name: {*tally.faults} - {"ended by signal 6"} for name, tally in tallies.items()}
    assert {name: result for name, result in faults.items() if result} == {}
    for name, tally in tallies.items():
        assert tally.tried == each, name
        assert each < EACH or min(tally.read, tally.refused + tally.asked) > 0, name
        assert tally.ended < 10, name


def test_a_layout_that_nobody_foresaw_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def reader(_: bytes, __: bool | None) -> Body:  # noqa: FBT001 - as all readers
        raise ZeroDivisionError

    monkeypatch.setattr(formats, "_reader", lambda _: reader)
    with pytest.raises(UnforeseenError, match=r"not foreseen \(ZeroDivisionError\)") as refused:
        read("a.npy", b"x")
    assert isinstance(refused.value.__cause__, ZeroDivisionError)
    tally = Tally()
    attempt("a.npy", b"x", tally, 7, Watch())
    assert [*tally.faults.values()] == [7]
    assert next(iter(tally.faults)).startswith("ZeroDivisionError")


def test_a_side_effect_would_be_seen(tmp_path: Path) -> None:
    program = """if True:
        import socket, subprocess, sys
        from benchmarks import fuzz
        from dashboard.readers import FileError

        def wrong(name, data, **choices):
            if name == "import":
                import this_is_nowhere
            if name == "write":
                open(sys.argv[1], "w").close()
            if name == "socket":
                socket.socket().close()
            if name == "process":
                subprocess.run([sys.executable, "-c", ""])
            if name == "exec":
                eval("1 + 1")
            error = FileError("a", "b", "c")
            if name == "markup":
                error.args = ("<b>",)
            raise error

        fuzz.read, watch = wrong, fuzz.Watch()
        for name in ("import", "write", "socket", "process", "exec", "markup", "none"):
            tally = fuzz.Tally()
            fuzz.attempt(name, b"", tally, 0, watch)
            print(name, len(tally.faults) > 0)
    """
    command = [sys.executable, "-c", program, str(tmp_path / "written")]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    seen = dict(line.split() for line in done.stdout.splitlines())
    assert seen.pop("none") == "False"
    assert [*seen.values()] == ["True"] * 6


def test_after_a_process_that_dies_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = []

    def run(command: list[str], stdin: IO[bytes], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command[-2:])
        if len(commands) == 1:
            stdin.write(json.dumps(["b", 6, {"a": asdict(Tally(read=9))}]).encode())
            return subprocess.CompletedProcess(command, -11)
        return subprocess.CompletedProcess(command, 0, json.dumps({"b": asdict(Tally(refused=2))}))

    monkeypatch.setattr(subprocess, "run", run)
    tallies = run_apart({"a": 0, "b": 0}, 9)
    assert commands == [["a:0", "b:0"], ["9", "b:7"]]
    assert tallies["a"] == Tally(read=9)
    assert tallies["b"] == Tally(refused=2, ended=1, faults={"ended by signal 11": 6})
