"""What holds of every format: how many rows are read, and which numbers are looked through."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dashboard.readers import FileError, limits, read
from dashboard.readers.worker import parse_apart
from tests.readers.files import GOOD, LABELS, LOGITS, N, npz, parquet


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


FILES = GOOD | {
    "a.parquet": parquet({**{f"z{k}": LOGITS[:, k] for k in range(4)}, "label": LABELS}),
    "columns.json": b'{"score": [' + b"0.5, " * 39 + b'1], "label": [' + b"1, 0, " * 19 + b"0, 1]}",
    "rows.json": b"[" + b"[0.5, 1], " * 39 + b"[0.5, 0]]",
    "lines.jsonl": b'{"score": 0.5, "label": 1}\n{"score": 0.25, "label": 0}\n' * 20,
    "lists.jsonl": b"[0.5, 1]\n[0.25, 0]\n" * 20,
    "quoted.csv": b"score,label\n" + b'"0.5",1\n"0.25",0\n' * 20,
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_rows_are_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ROWS", N)
    read(name, FILES[name])
    monkeypatch.setattr(limits, "MAX_ROWS", N - 1)
    with pytest.raises(FileError, match=f"file: {N} rows. Expected at most {N - 1}"):
        read(name, FILES[name])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_half_precision_is_looked_through(bad: float) -> None:
    table = np.round(LOGITS, 1).astype(np.float16)
    table[7, 1] = bad
    with pytest.raises(FileError, match=r"in 1 row \(row 8\)"):
        read("a.npz", npz(logits=table, labels=LABELS))


def header(shape: tuple[int, ...]) -> bytes:
    written = io.BytesIO()
    npy = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(written, npy)
    return written.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.json", b"[" * 900 + b"]" * 900, "line 1: JSON nested more than 32 deep. "),
        ("a.json", b'{"a":' * 400 + b"1" + b"}" * 400, "line 1: JSON nested more than 32 deep. "),
        ("a.jsonl", b"[1]\n" + b"[" * 900 + b"]" * 900, "line 2: JSON nested more than 32 deep. "),
        ("a.json", b"[" * 2000, "line 1: text that is not JSON (depth limit exceeded). "),
        ("a.npy", header((0, 2**62)), "array: shape (0, 4611686018427387904), more than any "),
        ("a.npy", header((2**62, 0)), "array: shape (4611686018427387904, 0), more than any "),
        (
            "a.npz",
            zipped({"logits.npy": header((0, 2**62))}),
            'array "logits": shape (0, 4611686018427387904), more than any ',
        ),
    ],
)
def test_a_small_file_of_no_bounds_gets_a_sentence(name: str, data: bytes, text: str) -> None:
    for reads in (read, parse_apart):
        with pytest.raises(FileError) as refused:
            reads(name, data)
        assert str(refused.value).startswith(text)


@pytest.mark.parametrize("before", ["", '"x": 1, '])
def test_json_may_nest_as_deep_as_the_page_on_safety_says(before: str) -> None:
    body = b'{"logits": [[2, -1], [-1, 2]], "labels": [0, 1]}'  # three deep

    def nested(depth: int) -> bytes:
        around = depth - 3
        return f'{{{before}"a": '.encode() * around + body + b"}" * around

    read("a.json", nested(limits.MAX_DEPTH))
    with pytest.raises(FileError, match=f"JSON nested more than {limits.MAX_DEPTH} deep"):
        read("a.json", nested(limits.MAX_DEPTH + 1))


def test_the_page_on_safety_lists_the_limits_in_force() -> None:
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    of, mb = limits, limits.MB
    small, large = limits.limits_for(".csv", 1), limits.limits_for(".csv", 10**8)
    assert small.seconds == large.seconds
    for sentence in (
        f"| any | {of.MAX_UPLOAD // mb} MB and {of.MAX_ROWS:,} rows, {of.MAX_CLASSES:,} classes",
        f"| text | {of.MAX_TEXT // mb} MB, {of.MAX_COLUMNS:,} columns;",
        f"UTF-16 {of.MAX_UTF16 // mb} MB",
        f"{of.MAX_CELL:,} bytes, or signs, of a cell;",
        f"a column of more than {of.MAX_TEXTS:,} different texts is not read",
        f"{of.MAX_MEMBERS:,} of them, of an npz {of.MAX_MEMBERS_NPZ}",
        f"| workbook | {of.MAX_SHEETS} sheets |",
        f"| safetensors, pickle | {of.MAX_ARRAYS:,} arrays by name |",
        f"| JSON | {of.MAX_DOCUMENT // mb} MB as one document,",
        f"{of.MAX_OBJECTS // mb} MB of objects made of it, {of.MAX_TEXT // mb} MB as lines",
        f"{of.MAX_DEPTH} lists or objects within each other, {of.MAX_COLUMNS:,} columns |",
        f"lists or structures of a column more than {of.MAX_NESTED} deep are not read |",
        f"members of {of.TIMES} times the file and {of.SPARE // mb} MB once unpacked",
        f"of a workbook {of.TIMES_WORKBOOK} times",
        f"| pickle | {of.MAX_STEPS:,} steps, {of.MAX_PICKLED} containers within each other;",
        f"{of.MAX_REPEATED:,} numbers where it refers to the same rows again |",
        f"| summary | {of.MAX_GROUPINGS} columns of groups |",
        f"| saved calibrator (on the page) | {of.MAX_CALIBRATOR // mb} MB |",
        f"{of.MAX_LINE:,} bytes of its first line |",
        f"{small.cpu_seconds} seconds of computing ({large.cpu_seconds} from 50 MB on)",
        f"{small.seconds:g} seconds of waiting",
    ):
        assert sentence in " ".join(page.split()), sentence
