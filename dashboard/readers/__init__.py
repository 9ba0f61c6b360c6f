"""Untrusted bytes to `LogitSet`: one file a format, behind one `read`.

No file runs code, whatever its ending says. Each format turns bytes into bare arrays with its own
parser (`Contents`); `interpret` alone takes arrays for logits, probabilities or labels and says so.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from calibcore.data import LogitSet
from dashboard.readers.binary.npy import read_npy
from dashboard.readers.binary.npz import read_npz
from dashboard.readers.binary.parquet import read_parquet
from dashboard.readers.binary.safetensors import read_safetensors
from dashboard.readers.combine import combine
from dashboard.readers.contents import Choices, Contents, Options, Reader, SliceColumn
from dashboard.readers.interpret import interpret
from dashboard.readers.json_files.json_layouts import read_json
from dashboard.readers.pickles import read_pickle
from dashboard.readers.pickles.torch_zip import read_torch
from dashboard.readers.refusal import FileError, only_refusals, quoted, visible
from dashboard.readers.sheets.xlsx import read_xlsx
from dashboard.readers.text.delimited import read_delimited
from dashboard.readers.upload import Upload
from dashboard.readers.weight import check_weight

__all__ = [
    "FORMATS",
    "REFUSAL",
    "FileError",
    "Options",
    "SliceColumn",
    "Upload",
    "combine",
    "parse",
    "read",
    "understand",
]


def _bare(reader: Callable[[bytes], Contents]) -> Reader:
    """Adapt a reader of files in which the user has nothing to choose."""
    return lambda data, _: reader(data)


FORMATS: Mapping[str, tuple[str, Reader]] = {
    ".npz": ("npz", read_npz),
    ".npy": ("npy", _bare(read_npy)),
    ".csv": ("csv", read_delimited),
    ".tsv": ("csv", read_delimited),
    ".txt": ("csv", read_delimited),
    ".p": ("pickle", read_pickle),
    ".pkl": ("pickle", read_pickle),
    ".pickle": ("pickle", read_pickle),
    ".safetensors": ("safetensors", read_safetensors),
    ".parquet": ("parquet", read_parquet),
    ".json": ("json", read_json),
    ".jsonl": ("json", read_json),
    ".ndjson": ("json", read_json),
    ".xlsx": ("xlsx", read_xlsx),
    ".pt": ("torch", read_torch),
    ".pth": ("torch", read_torch),
}
"""Each accepted ending: what the format is called, and what reads it."""

_MOST_TEXT = {"csv": 300_000_000, "json": 100_000_000}
"""Bytes of text of which a fault at the end is still found in about two seconds."""

_PACKED = frozenset({".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".tar", ".tgz", ".rar"})
REFUSAL = FileError


def read(name: str, data: bytes, **choices: Unpack[Choices]) -> Upload:
    r"""Read a file of logits or probabilities with their labels.

    Parameters
    ----------
    name : str
        Its ending picks the format; otherwise only shown.
    data : bytes
        The whole file, trusted in nothing.
    **choices
        How the user overrules what the file is taken for: the parameters of `Options`.

    Returns
    -------
    Upload
        The sets, what they were taken for, and what was mended.

    Raises
    ------
    FileError
        The file cannot be used; nothing else is raised for any bytes.

    Examples
    --------
    >>> upload = read("a.csv", b"cat,dog,label" + b"\n2.5,-1,cat" * 2)
    >>> upload.rows.labels.tolist(), upload.found[2]
    ([0, 0], 'Logits, because 2 of 2 rows have values outside 0 to 1.')
    """
    options = Options(**choices)
    contents = parse(name, data, options)
    return understand(name, hashlib.sha256(data).hexdigest(), options, contents)


@only_refusals()
def parse(name: str, data: bytes, options: Options) -> Contents:
    """Turn a file into bare arrays: all that looks at its bytes.

    Of the options only those of columns matter, `Options.of_columns`. A file that is refused once
    its columns are known is handed over as `Contents.refused`, so that they can be chosen among;
    `understand` refuses it.
    """
    ending = "." + name.rpartition(".")[2].lower() if "." in name else ""
    if ending in _PACKED:
        raise FileError("file name", f"a compressed file ({ending})", "the file in it, unpacked")
    if ending not in FORMATS:
        raise FileError(
            "file name", f"format {quoted(ending or 'without an ending', 20)}, not supported",
            f"a file ending in {', '.join(FORMATS)}",
        )  # fmt: skip
    if not data:
        raise FileError("file", "an empty file of 0 bytes", "logits and labels")
    kind, reader = FORMATS[ending]
    most = _MOST_TEXT.get(kind, len(data))
    if len(data) > most:
        wanted = f"at most {most:,}; as .npz or .parquet the same numbers are smaller"
        raise FileError("file", f"{len(data):,} bytes of text", wanted)
    try:
        contents = reader(data, options)
    except FileError as error:
        if not isinstance(error.known, Contents):
            raise
        return replace(error.known, refused=(error.field, error.found, error.wanted))
    if options.label_column is not None and not contents.uses:
        found = f"no column {quoted(options.label_column)}: nothing in the file has a name"
        raise FileError("label_column", found, "no choice of a column")
    check_weight(contents, len(data))
    return contents


@only_refusals()
def understand(name: str, digest: str, options: Options, contents: Contents) -> Upload:
    """Take what `parse` found in a file for logits, probabilities or labels."""
    return interpret(
        contents,
        options,
        name=visible(name, 120),
        kind=FORMATS["." + name.rpartition(".")[2].lower()][0],
        digest=digest,
    )


def check_adapter(name: str, data: bytes) -> Upload:
    """Read a file as the corpus of hostile files wants it."""
    return read(name, data)


def warnings_of(upload: Upload) -> tuple[str, ...]:
    """List what a careful tool would warn of."""
    return upload.repairs + upload.doubts + upload.missing


def arrays_of(upload: Upload) -> dict[str, np.ndarray[Any, Any]]:
    """Give the numbers for comparison with the truth."""
    if upload.piece is not None:
        parts = {"logits": upload.piece.table, "labels": upload.piece.labels}
        return {key: array for key, array in parts.items() if array is not None}
    first = next(iter(upload.sets.values()))
    if not isinstance(first, LogitSet):
        return {}
    key = "probs" if upload.values_kind == "probabilities" else "logits"
    table = first.probabilities if key == "probs" else first.logits
    return {key: table, "labels": first.labels}
