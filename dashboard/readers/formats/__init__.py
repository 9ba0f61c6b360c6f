"""Bytes to `FileTable` or `Arrays`: a module a format, and what some share, run in the worker."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import cast

from dashboard.readers.formats.rows import of_weka, without_totals
from dashboard.readers.limits import MAX_TEXT, megabytes
from dashboard.readers.records import Body, Column, FileTable
from dashboard.readers.refusal import FileError, only_refusals, quoted

_Reader = Callable[[bytes, bool | None], Body]

_MODULES = {
    "npz": "arrays.read_npz", "npy": "arrays.read_npy", "csv": "text.read_text",
    "pickle": "pickle.read_pickle", "safetensors": "arrays.read_safetensors",
    "parquet": "parquet.read_parquet", "json": "json_text.read_json",
    "xlsx": "workbook.read_workbook", "torch": "torch.read_torch",
}  # fmt: skip
"""What reads each kind of file; imported when such a file comes, or by the worker that waits."""

FORMATS: Mapping[str, str] = {
    ".npz": "npz", ".npy": "npy", ".csv": "csv", ".tsv": "csv", ".txt": "csv",
    ".tab": "csv", ".dat": "csv", ".psv": "csv", ".p": "pickle",
    ".pkl": "pickle", ".pickle": "pickle", ".safetensors": "safetensors", ".parquet": "parquet",
    ".json": "json", ".jsonl": "json", ".ndjson": "json", ".xlsx": "xlsx", ".pt": "torch",
    ".pth": "torch",
}  # fmt: skip
"""Each accepted ending, and what the format is called."""

_TEXT = frozenset({"csv", "json"})
_PACKED = frozenset({".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".tar", ".tgz", ".rar"})


@only_refusals()
def parse(name: str, data: bytes, *, header: bool | None = None) -> Body:
    """Turn a file into columns or arrays, in this process."""
    ending = ending_of(name)
    if ending in _PACKED:
        raise FileError("file name", f"a compressed file ({ending})", "the file in it, unpacked")
    if ending not in FORMATS:
        raise FileError(
            "file name", f"format {quoted(ending or 'without an ending', 20)}, not supported",
            f"a file ending in {', '.join(FORMATS)}",
        )  # fmt: skip
    if not data:
        raise FileError("file", "an empty file of 0 bytes", "logits and labels")
    kind = named = FORMATS[ending]
    if named == "csv" and data[:2] == b"PK" and b"xl/workbook.xml" in data:
        kind = "xlsx"
    elif named == "xlsx" and data[:1] not in b"P\xd0" and b"\x00" not in data:
        kind = "csv"
    if kind in _TEXT and len(data) > MAX_TEXT:
        wanted = f"at most {megabytes(MAX_TEXT)}; as .npz or .parquet the same numbers are smaller"
        raise FileError("file", f"{megabytes(len(data))} of text", wanted)
    parsed = _reader(kind)(data, header)
    if isinstance(parsed, FileTable):
        columns = of_weka(tuple(map(first_items, parsed.columns)))
        table = replace(parsed, columns=columns)
        if any(text[:1] in "[{" for c in columns for text in (c.texts or ())[:1]):
            table = import_module(f"{__name__}.json_text").with_json_cells(table)
        if kind != named:
            other = f"The name ends in {ending}, but the content is {kind} and was read so."
            table = replace(table, repairs=(other, *table.repairs))
        return without_totals(table)
    return parsed


def first_items(column: Column) -> Column:
    """Take lists of one number for the number."""
    flat = column.values.ndim == 2 and column.values.shape[1] == 1
    return replace(column, values=column.values[:, 0]) if flat else column


def ending_of(name: str) -> str:
    """Return the ending of a file's name in small letters, "" where it has none."""
    return "." + name.rpartition(".")[2].lower() if "." in name else ""


def prepare() -> None:
    """Import what reads each format."""
    for kind in _MODULES:
        _reader(kind)


def _reader(kind: str) -> _Reader:
    module, _, name = _MODULES[kind].partition(".")
    return cast("_Reader", getattr(import_module(f"{__name__}.{module}"), name))
