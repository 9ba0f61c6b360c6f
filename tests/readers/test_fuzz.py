"""Damaged files: an Upload or a FileError comes out, and nothing else."""

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.any_files import MAKERS
from benchmarks.fuzz import Tally, Watch, attempt, run_apart, seeds
from dashboard.readers import FORMATS, FileError, Upload, read
from dashboard.readers.contents import Contents
from dashboard.readers.refusal import UnforeseenError

ROOT = Path(__file__).parents[2]
MADE = 3_000
MUTANTS = 1_500
"""Of each good file: about 30 seconds in all; a million are tried by benchmarks/fuzz.py."""


def survives(name: str, data: bytes) -> None:
    try:
        upload = read(name, data)
    except UnforeseenError as error:
        raise AssertionError(data) from error.__cause__
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
        assert str(error).isprintable()  # noqa: PT017
    else:
        assert isinstance(upload, Upload)
        said = (*upload.found, *upload.repairs, *upload.missing, *upload.doubts)
        cells = (*upload.preview.headings, *(cell for row in upload.preview.rows for cell in row))
        assert all(text.isprintable() for text in (*said, *cells))


@given(data=st.binary(max_size=300), ending=st.sampled_from(sorted(FORMATS)))
def test_any_bytes(data: bytes, ending: str) -> None:
    survives("a" + ending, data)


@given(data=st.text(alphabet='0123456789.,;\t-+eE%"\n\r label', max_size=120))
def test_any_table(data: str) -> None:
    survives("a.csv", data.encode())


_HEADS = [
    "label",
    "target",
    "y",
    "pred",
    ".pred_class",
    "confidence",
    "top1_class",
    "top1_prob",
    "class_0",
    "class_1",
    "prob_0",
    "prob_1",
    "logit_0",
    "logit_1",
    "label_0",
    "label_1",
    "score",
    "correct",
    "id",
    "n",
    "age",
    "cat",
    "dog",
    ".pred_cat",
    ".pred_dog",
    "0",
    "1",
    "2",
]
_CELLS = ("0", "1", "2", "0.25", "0.75", "-1.5", "cat", "dog", "", "nan", "-inf", "40%", "true")


@given(data=st.data())
def test_any_columns(data: st.DataObject) -> None:
    heads = data.draw(st.lists(st.sampled_from(_HEADS), min_size=1, max_size=7, unique=True))
    kinds = [data.draw(st.sets(st.sampled_from(_CELLS), min_size=1, max_size=3)) for _ in heads]
    cells = st.tuples(*(st.sampled_from(sorted(kind)) for kind in kinds))
    rows = data.draw(st.lists(cells, min_size=1, max_size=8))
    table = "\n".join(",".join(row) for row in [heads, *rows]).encode()
    label = data.draw(st.none() | st.sampled_from(heads))
    classes = data.draw(st.just([]) | st.lists(st.sampled_from(heads), max_size=3))
    try:
        upload = read("a.csv", table, label_column=label, class_columns=tuple(classes))
        assert label in (None, upload.label_column)
        assert all(upload.uses[name] in ("class", "score") for name in classes)
        split, columns = upload.split(), upload.split_columns()
    except FileError:
        return
    for role, part in (("calibration", split.calibration), ("test", split.test)):
        assert all(len(column.values) == part.n_samples for column in columns[role].values())


@given(
    operations=st.lists(
        st.sampled_from(
            [
                b"(", b")", b"]", b"}", b"t", b"l", b"d", b"a", b"e", b"s", b"u", b"R", b"b", b"N",
                b"\x85", b"\x86", b"\x87", b"\x94", b"h\x00", b"h\x01", b"q\x00", b"q\x01",
                b"K\x00", b"K\x01", b"I01\n", b"S'f8'\n", b"S'b'\n", b"cnumpy\ndtype\n",
                b"cnumpy\nndarray\n",
                b"cnumpy.core.multiarray\n_reconstruct\n", b"cnumpy.core.multiarray\nscalar\n",
                b"cnumpy.core.numeric\n_frombuffer\n", b"c_codecs\nencode\n", b"S'labels'\n",
                b"cnumpy\ndtype\n(S'u1'\nI0\nI1\ntR", b"C\x01\x01", b"S'C'\n", b"S'logits'\n",
            ]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_any_operations(operations: list[bytes]) -> None:
    survives("a.p", b"(" + b"".join(operations) + b".")
    survives("a.p", b"\x80\x02" + b"".join(operations) + b".")


@pytest.mark.parametrize("name", sorted(seeds()))
def test_mutants(name: str) -> None:
    upload = read(name, seeds()[name])
    assert upload.sets or upload.piece
    tally = run_apart(name, 0, MUTANTS)
    assert tally.faults == {}
    assert tally.read + tally.refused == MUTANTS
    assert min(tally.read, tally.refused) > 10


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_files_of_any_layout(name: str) -> None:
    tally = run_apart(name, 0, MADE)
    assert tally.faults == {}
    assert tally.read + tally.refused == MADE
    assert min(tally.read, tally.refused) > 10


def test_a_layout_that_nobody_foresaw_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def reader(*_: object) -> Contents:
        raise ZeroDivisionError

    monkeypatch.setitem(cast("dict[str, Any]", FORMATS), ".npy", ("npy", reader))
    with pytest.raises(UnforeseenError, match=r"not foreseen \(ZeroDivisionError\)") as refused:
        read("a.npy", b"x")
    assert isinstance(refused.value.__cause__, ZeroDivisionError)
    tally = Tally()
    attempt("a.npy", b"x", tally, 7, Watch())
    assert tally.faults == {"ZeroDivisionError()": 7}


def test_a_side_effect_would_be_seen(tmp_path: Path) -> None:
    program = """if True:
        import socket, subprocess, sys
        from benchmarks.fuzz import Tally, Watch, attempt
        from benchmarks import fuzz
        from dashboard.readers import FileError

        def wrong(name, data):
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
            if name == "markup":
                error = FileError("a", "b", "c")
                error.args = ("<b>",)
                raise error

        fuzz.read, watch = wrong, Watch()
        for name in ("import", "write", "socket", "process", "exec", "markup", "none"):
            tally = Tally()
            attempt(name, b"", tally, 0, watch)
            print(name, len(tally.faults) > 0)
    """
    command = [sys.executable, "-c", program, str(tmp_path / "written")]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    seen = dict(line.split() for line in done.stdout.splitlines())
    assert seen.pop("none") == "False"
    assert set(seen.values()) == {"True"}
    assert len(seen) == 6


def test_a_process_that_dies_is_told_with_its_mutant() -> None:
    tally = run_apart("no such file", 0, 10)
    assert list(tally.faults) == ["the process died (1)"]
