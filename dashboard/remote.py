"""Files that are not on this machine, named by an address such as ``s3://bucket/logs``."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
from pyarrow import fs

from calibcore.errors import CalibrationInputError

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_PATTERN = re.compile(r"[*\[]")


@dataclass(frozen=True, order=True)
class RemoteFile:
    """A file that a file system of pyarrow opens, which knows how it is reached."""

    path: str
    """Its place there, such as ``bucket/logs/monday.parquet``."""
    system: Any = field(compare=False, repr=False)
    """The file system; it may hold credentials, and is never shown."""

    @property
    def name(self) -> str:
        """Last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def stem(self) -> str:
        """Its name without the ending."""
        return PurePosixPath(self.path).stem

    @property
    def suffix(self) -> str:
        """Ending of the name."""
        return PurePosixPath(self.path).suffix

    @property
    def folders(self) -> tuple[str, ...]:
        """Parts of the path before the name."""
        return PurePosixPath(self.path).parent.parts

    def __str__(self) -> str:
        """Return the path, without what the file system knows."""
        return self.path

    @property
    def n_bytes(self) -> int:
        """How long it is."""
        return int(self.system.get_file_info(self.path).size)

    def read_bytes(self) -> bytes:
        """Read all of it."""
        with self.system.open_input_stream(self.path) as stream:
            data: bytes = stream.read()
        return data


InputFile = Path | RemoteFile
"""What a command reads."""


def is_address(text: str) -> bool:
    """Return whether a text names a place by its kind, as ``s3://bucket/logs`` does.

    >>> is_address("gs://bucket/day=*/1.parquet"), is_address("logs/1.parquet")
    (True, False)
    """
    return _ADDRESS.match(text) is not None


def shown(address: str) -> str:
    """Return an address without credentials and options.

    >>> shown("s3://key:sec/ret@bucket/logs?region=eu-west-1")
    's3://bucket/logs'
    """
    kind, _, place = address.partition("://")
    return f"{kind}://{place.rpartition('@')[2].partition('?')[0]}"


def remote_files(address: str, endings: Container[str]) -> list[RemoteFile]:
    """List the file at an address, those of a folder, or of a pattern with ``*`` or ``**``.

    ``address``: such as ``s3://bucket/logs``, ``gs://...``, ``abfs://...`` or ``file:///...``, with
    options of `pyarrow.fs.FileSystem.from_uri` after a question mark. ``endings``: of the files of
    a folder, which is searched for its partitions too, such as ``region=eu``; hidden ones are left
    out.

    In the order of their paths; none where nothing is there. Raises `CalibrationInputError` for an
    address that cannot be opened, of which it shows neither credentials nor options.
    """
    place, mark, options = address.partition("?")
    parts = place.split("/")
    plain = next((k for k, part in enumerate(parts) if _PATTERN.search(part)), len(parts))
    pattern = parts[plain:]
    try:
        system, root = fs.FileSystem.from_uri("/".join(parts[:plain]) + mark + options)
        if system.get_file_info(root).type == fs.FileType.File and not pattern:
            return [RemoteFile(root, system)]
        selector = fs.FileSelector(root, allow_not_found=True, recursive=True)
        there = [one.path for one in system.get_file_info(selector) if one.is_file]
    except (pa.ArrowException, OSError, ValueError) as error:
        actual = f"{shown(address)}, which cannot be opened"
        wanted = "a file, a folder or a pattern, and leave to read it"
        raise CalibrationInputError("files", actual, wanted) from error
    within = {path: PurePosixPath(path).relative_to(root).parts for path in sorted(there)}
    if pattern:
        fits = [path for path, its in within.items() if _fits(its, pattern)]
    else:
        fits = [path for path, its in within.items() if _is_part(its, endings)]
    return [RemoteFile(path, system) for path in fits]


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path fits a pattern, in which ``**`` is any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[k:], pattern[1:]) for k in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _is_part(parts: Sequence[str], endings: Container[str]) -> bool:
    """Return whether a file of a folder is one of its own, or of its partitions."""
    *folders, name = parts
    shown = not any(part.startswith(".") for part in parts)
    partitions = all("=" in part for part in folders)
    return shown and partitions and PurePosixPath(name).suffix.lower() in endings


def opened_by(file: InputFile) -> dict[str, Any]:
    """Return how pyarrow's readers are told of a file.

    >>> opened_by(Path("logs/1.parquet"))
    {'source': 'logs/1.parquet', 'filesystem': None}
    """
    if isinstance(file, RemoteFile):
        return {"source": file.path, "filesystem": file.system}
    return {"source": str(file), "filesystem": None}


def size_of(file: InputFile) -> int:
    """Return how many bytes a file has; raises `OSError` where it is not there."""
    return file.n_bytes if isinstance(file, RemoteFile) else file.stat().st_size
