"""Every limit of the table in docs/security.md is tried by a file just over it."""

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xlsxwriter

from dashboard.headless import read_paths
from dashboard.readers import FileError, ReadingOptions, limits, parse, read
from dashboard.readers.records import FileTable
from dashboard.readers.worker import parse_apart
from tests.readers.files import npz, parquet, safetensors
from tests.readers.test_bounds import header, zipped

MB = limits.MB


def swollen(name: str) -> bytes:
    """Pack a member that declares 300 MB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, b"0" * 64)
        archive.infolist()[0].file_size = 300 * MB
    return buffer.getvalue()


def workbook(n_sheets: int, cell: str = "") -> bytes:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"constant_memory": True}) as book:
        for _ in range(n_sheets):
            sheet = book.add_worksheet()
            sheet.write_row(0, 0, ["score", "label"])
            sheet.write_row(1, 0, [0.5, "Yes"])
            sheet.write_row(2, 0, [0.25, "No"])
    with zipfile.ZipFile(buffer) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    return zipped(
        {one: data.replace(b"Yes", cell.encode() or b"Yes") for one, data in members.items()}
    )


def tensors(n_tensors: int) -> bytes:
    each = {
        f"t{k}": {"dtype": "F32", "shape": [1], "data_offsets": [4 * k, 4 * k + 4]}
        for k in range(n_tensors)
    }
    return safetensors(each, bytes(4 * n_tensors))


def wide(n_columns: int, separator: str = ",") -> bytes:
    return (
        f"{separator.join(f'c{k}' for k in range(n_columns))}\n{'1,' * (n_columns - 1)}1\n".encode()
    )


def array(shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(shape, dtype=np.int8))
    return buffer.getvalue()


FILES: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "rows": (
        "a.npy", lambda: array((limits.MAX_ROWS + 1, 1)),
        "file: 10,000,001 rows. Expected at most 10,000,000",
    ),
    "classes": (
        "a.npz",
        lambda: npz(logits=np.zeros((2, 200_001), np.float16), labels=np.array([0, 1])),
        "200,001 classes. Expected at most 200,000",
    ),
    "text": (
        "a.csv", lambda: bytes(limits.MAX_TEXT + 1), "file: 301 MB of text. Expected at most 300 MB"
    ),
    "lines": (
        "a.jsonl", lambda: bytes(limits.MAX_TEXT + 1),
        "file: 301 MB of text. Expected at most 300 MB",
    ),
    "columns": ("a.csv", lambda: wide(4_097), "4,097 columns. Expected at most 4,096"),
    "UTF-16": (
        "a.csv", lambda: b"\xff\xfe" + bytes(limits.MAX_UTF16),
        "file: 41 MB of UTF-16. Expected at most 40 MB",
    ),
    "cell": (
        "a.csv", lambda: b"score,label\n0.5," + b"x" * 65_537 + b"\n0.25,y\n",
        "a cell of 65,537 bytes, or a quote that is not closed. Expected at most 65,536",
    ),
    "signs": (
        "a.xlsx", lambda: workbook(1, "x" * 65_537),
        "workbook: a cell of 65,537 characters. Expected at most 65,536",
    ),
    "document": (
        "a.json", lambda: b"[" + b" " * limits.MAX_DOCUMENT + b"]",
        "one JSON document of 41 MB. Expected at most 40 MB",
    ),
    "objects": (
        "a.json", lambda: b"[" + b"0," * (limits.MAX_OBJECTS // 40) + b"0]",
        "JSON whose values take 513 MB of memory. Expected at most 512 MB",
    ),
    "depth": (
        "a.json", lambda: b'{"a": ' * 32 + b"[1]" + b"}" * 32, "JSON nested more than 32 deep"
    ),
    "members": (
        "a.xlsx", lambda: zipped({f"{k}": b"" for k in range(4_097)}),
        "archive: 4,097 members. Expected at most 4,096",
    ),
    "members of PyTorch": (
        "a.pt", lambda: zipped({f"{k}": b"" for k in range(4_097)}),
        "archive: 4,097 members. Expected at most 4,096",
    ),
    "arrays of an npz": (
        "a.npz", lambda: zipped({f"{k}.npy": b"" for k in range(257)}),
        "archive: 257 members. Expected at most 256",
    ),
    "unpacked": ("a.npz", lambda: swollen("a.npy"), "members that expand to 300 MB from a file of"),
    "unpacked workbook": (
        "a.xlsx", lambda: swollen("a"), "members that expand to 300 MB from a file of"
    ),
    "sheets": ("a.xlsx", lambda: workbook(65), "workbook: 65 sheets. Expected one to 64"),
    "tensors": ("a.safetensors", lambda: tensors(1_001), "1,001 tensors. Expected at most 1,000"),
    "arrays of a pickle": (
        "a.pkl", lambda: pickle.dumps({f"a{k}": np.zeros(2) for k in range(1_001)}),
        "pickle: more than 1,000 arrays by name",
    ),
    "columns of Parquet": (
        "a.parquet", lambda: parquet({f"c{k}": [0.5] for k in range(4_097)}),
        "4,097 columns. Expected at most 4,096"
    ),
    "steps": (
        "a.pkl", lambda: b"\x80\x04" + b"N" * 2_000_000 + b".", "more than 2,000,000 steps"
    ),
    "shape": ("a.npy", lambda: header((2**62, 2)), "shape (4611686018427387904, 2), more than any"),
}  # fmt: skip
"""What is just over a limit: the name of the file, its bytes and the sentence."""


@pytest.mark.parametrize("limit", FILES)
def test_a_file_just_over_a_limit_gets_its_sentence(limit: str) -> None:
    name, data, sentence = FILES[limit]
    with pytest.raises(FileError) as refused:
        read(name, data())
    assert sentence in str(refused.value)


def test_a_column_of_more_texts_than_are_read_is_left_out_with_its_reason() -> None:
    texts = "\n".join(f"n{k},{k % 2}" for k in range(limits.MAX_TEXTS + 1))
    table = parse("a.csv", f"id,label\n{texts}\n".encode(), header=None)
    assert isinstance(table, FileTable)
    unread = [one.unread for one in table.columns]
    assert unread == ["more than 1,000,000 different texts", ""]


def test_a_file_of_more_bytes_than_any_may_have_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with path.open("wb") as file:
        file.truncate(limits.MAX_UPLOAD + 1)
    for reads in (
        lambda: parse_apart("a.npz", bytes(limits.MAX_UPLOAD + 1)),
        lambda: read_paths([path], ReadingOptions()),
    ):
        with pytest.raises(FileError, match=r"file: 401 MB\. Expected at most 400 MB"):
            reads()
