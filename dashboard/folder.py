"""The folder of summaries that a server may open: what is in it, and the bytes of one."""

import hashlib
import os
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dashboard.compute.files import SourceFile
from dashboard.readers.limits import check_size
from dashboard.readers.refusal import FileError, PassingError
from dashboard.summary_file import TAIL, rows_in_tail

SUMMARIES = "FRACTILE_SUMMARIES"
"""Environment variable with the folder, which `fractile serve --summaries` sets; none without."""

MOST_SUMMARIES = 1_000
"""Files that are listed: the last by name, as of days."""

_ENDING = ".parquet"
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""How a file is opened: never through a link, and without waiting for who fills a pipe."""

State = tuple[int, int, int]
"""Of a file: its number, bytes, and when it was changed, in nanoseconds."""


@dataclass(frozen=True)
class FolderEntry:
    """A summary in the folder, as far as its last bytes tell."""

    name: str
    """Of the file; text of the folder."""
    rows: int
    """How many it tells to count; it is checked when it is opened."""
    changed: float
    """When it was, in seconds since 1970."""


def root() -> Path | None:
    """Return the folder; None of a server without one."""
    named = os.environ.get(SUMMARIES)
    return Path(named) if named else None


def listed(folder: Path) -> tuple[FolderEntry, ...]:
    """List the summaries in a folder by name, none of those within it and nothing that is a link.

    Raises `FileError` for a folder that cannot be read.
    """
    try:
        names = sorted(one.name for one in folder.iterdir() if _is_named(one.name))
    except OSError as error:
        raise FileError("folder", error.strerror or "no folder", "one to read") from error
    files = (_listed(folder, name) for name in names[-MOST_SUMMARIES:])
    return tuple(one for one in files if one is not None)


def _is_named(name: str) -> bool:
    return name.lower().endswith(_ENDING) and not name.startswith(".")


def _listed(folder: Path, name: str) -> FolderEntry | None:
    """Return a summary that is in the folder under this name; None where none is."""
    try:
        state = _state(folder, name)
        rows = _rows(folder, name, state)
    except (OSError, ValueError):  # a name that no file can have; a file that is too large
        return None
    return None if rows is None else FolderEntry(name, rows, state[2] / 1e9)


def source(folder: Path, name: str) -> SourceFile:
    """Return a file of the folder, to be read like one that was brought.

    ``name``: of one that could be listed; any other is refused, a path among them.

    Raises `FileError` for no such file, and for one that is too large or cannot be read.
    """
    if not _is_named(name) or _listed(folder, name) is None:
        raise FileError("file", "no such summary in the folder", "one of those that are listed")
    try:
        digest = _digest(folder, name, _state(folder, name))
    except OSError as error:
        raise _gone(error) from error

    def load() -> bytes:
        try:
            data = _bytes(folder, name)
        except OSError as error:
            raise _gone(error) from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise PassingError("file", "a file that changes while it is read", "it once more")
        return data

    return SourceFile(name, digest, load)


def _gone(error: OSError) -> PassingError:
    return PassingError("file", error.strerror or "no plain file", "a summary in the folder")


def _open(folder: Path, name: str) -> int:
    """Open a file in the folder itself; OSError for anything that is no plain file there."""
    if Path(name).name != name:
        raise OSError(0, "no plain name")
    path = folder / name
    if path.is_symlink():  # where the system has no way to say so as it opens
        raise OSError(0, "a link")
    opened = os.open(path, os.O_RDONLY | _PLAIN)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(0, "no plain file")
    return opened


def _state(folder: Path, name: str) -> State:
    opened = _open(folder, name)
    try:
        about = os.fstat(opened)
    finally:
        os.close(opened)
    check_size(about.st_size)
    return about.st_ino, about.st_size, about.st_mtime_ns


@lru_cache(maxsize=4 * MOST_SUMMARIES)
def _rows(folder: Path, name: str, state: State) -> int | None:
    with os.fdopen(_open(folder, name), "rb") as file:
        file.seek(max(state[1] - TAIL, 0))
        return rows_in_tail(file.read(TAIL))


@lru_cache(maxsize=4 * MOST_SUMMARIES)
def _digest(folder: Path, name: str, _: State) -> str:
    return hashlib.sha256(_bytes(folder, name)).hexdigest()


def _bytes(folder: Path, name: str) -> bytes:
    with os.fdopen(_open(folder, name), "rb") as file:
        check_size(os.fstat(file.fileno()).st_size)
        return file.read()
