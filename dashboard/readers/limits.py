"""What a file may have, of whatever format, and what the process that parses it may take.

The server is told the size of an upload in ``dashboard/.streamlit/config.toml``, nginx in
``docs/service/nginx.conf``. docs/security.md lists them.
"""

import sys
from contextlib import suppress
from dataclasses import dataclass

from dashboard.readers.refusal import FileError

MB = 1 << 20

MAX_UPLOAD = 400 * MB  # bytes of a file
MAX_ROWS = 10_000_000  # of a file of any format, which is far more than an audit needs
MAX_COLUMNS = 4_096  # of a table
MAX_TEXTS = 1_000_000  # different ones of a column; more are names of rows, of no use to an audit
MAX_CELL = 1 << 16  # bytes of one cell of a text, or signs of one of a workbook
MAX_LINE = 1 << 20  # bytes of the first line of a text
MAX_SHEETS = 64  # of a workbook
MAX_MEMBERS, MAX_MEMBERS_NPZ = 4_096, 256  # of an archive
MAX_ARRAYS = 1_000  # by name, of a pickle or of a file of tensors
MAX_CLASSES = 200_000  # of logits or probabilities
MAX_TEXT = 300 * MB  # bytes of text, or of JSON by lines; as .npz or .parquet they are fewer
MAX_UTF16 = 40 * MB  # bytes of text in UTF-16
MAX_DOCUMENT = 40 * MB  # bytes of one JSON document, for which 12 times as many are set aside
MAX_OBJECTS = 512 * MB  # bytes of the Python objects of a document, more than ordinary ones have
MAX_DEPTH = 32  # of lists and objects of JSON within each other
MAX_BYTES = 1 << 62  # of an array, as its shape says, which is more than a processor can address
MAX_STEPS = 2_000_000  # of a pickle
MAX_REPEATED = 2_000_000  # numbers of a pickle that refers to the same rows again
MAX_PICKLED = 16  # containers of a pickle within each other
MAX_NESTED = 8  # lists and structures of a column within each other
MAX_GROUPINGS = 32  # columns of groups of a summary, each of which takes a pass
MAX_CALIBRATOR = 40 * MB  # bytes of a saved calibrator; as of JSON that holds rows
TIMES, TIMES_WORKBOOK = 4, 40  # its own size, which a file may take in memory or unpacked
SPARE = 288 * MB  # bytes that any may take beyond that

_TIMES_OBJECTS, _MOST_OBJECTS = 24, 1 << 30
_OBJECTS = frozenset({".json", ".jsonl", ".ndjson", ".xlsx"})
_LARGE = 50_000_000


def megabytes(n_bytes: int) -> str:
    """Return a size in megabytes of 2^20 bytes, those that were begun among them.

    Examples
    --------
    >>> megabytes(MAX_UPLOAD), megabytes(MAX_UPLOAD + 1)
    ('400 MB', '401 MB')
    """
    return f"{-(-n_bytes // MB):,} MB"


def check_size(n_bytes: int) -> None:
    """Refuse a file of more bytes than any may have."""
    if n_bytes > MAX_UPLOAD:
        raise FileError("file", megabytes(n_bytes), f"at most {megabytes(MAX_UPLOAD)}")


def check_rows(n_rows: int) -> None:
    """Refuse more rows than are read."""
    if n_rows > MAX_ROWS:
        raise FileError("file", f"{n_rows:,} rows", f"at most {MAX_ROWS:,}")


@dataclass(frozen=True)
class Limits:
    """What the process may take: bytes of private memory, seconds of computing and of waiting."""

    memory: int
    cpu_seconds: int
    seconds: float = 120.0


def limits_for(ending: str, n_bytes: int) -> Limits:
    """Return the limits for a file with an ending such as ``".csv"``.

    JSON and workbooks become objects before they become arrays: orjson sets 12 times its text
    aside, and a cell of a workbook takes 4 bytes packed and 32 as an object.
    """
    memory = TIMES * n_bytes
    if ending in _OBJECTS:
        memory = max(memory, min(_TIMES_OBJECTS * n_bytes, _MOST_OBJECTS))
    return Limits(memory + SPARE, 20 if n_bytes < _LARGE else 120)


def system_bounds_memory() -> bool:
    """Return whether the system itself holds a process to its memory."""
    return sys.platform.startswith("linux")


def set_limits(limits: Limits) -> None:
    """Let the system refuse more to this process, where it can."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    for which, most in (
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CPU, int(used) + limits.cpu_seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(which, (most, most))
