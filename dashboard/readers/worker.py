"""The bounded process in which every file is parsed."""

import atexit
import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from math import prod
from typing import IO, Any

import numpy as np
import psutil
from numpy.typing import NDArray

from dashboard.readers.formats import ending_of, parse, prepare
from dashboard.readers.limits import (
    Limits,
    check_size,
    limits_for,
    megabytes,
    set_limits,
    system_bounds_memory,
)
from dashboard.readers.records import Arrays, Body, Column, FileTable, Odd, Texts
from dashboard.readers.refusal import FileError, PassingError

__all__ = ["WORKERS", "parse_apart"]


# What the worker answers: a line of JSON, then the bytes of arrays, checked when it is opened ---


_KINDS = {kind.__name__: kind for kind in (FileTable, Arrays, Column, Odd, Texts)}
_TYPES = {code: np.dtype(code) for code in (
    "|b1", "|i1", "|u1", *(f"<{k}{n}" for k in "iu" for n in (2, 4, 8)), "<f2", "<f4", "<f8")
}  # fmt: skip
_LENGTH = struct.Struct("<Q")
_MOST_HEAD = 1 << 30
_BLOCK = 1 << 24

Array = NDArray[Any]
Read = Callable[[memoryview], None]
"""Fills a buffer to its end, or raises EOFError."""


def write_head(out: IO[bytes], head: Mapping[str, Any]) -> None:
    """Write JSON behind its length."""
    raw = json.dumps(head).encode("ascii")
    out.write(_LENGTH.pack(len(raw)) + raw)


def read_head(read: Read, most: int = _MOST_HEAD) -> dict[str, Any]:
    """Read JSON behind its length; ValueError beyond ``most`` bytes, TypeError for no object."""
    length = bytearray(_LENGTH.size)
    read(memoryview(length))
    (size,) = _LENGTH.unpack(length)
    if size > most:
        raise ValueError(size)
    raw = bytearray(size)
    read(memoryview(raw))
    head = json.loads(raw)
    if not isinstance(head, dict):
        raise TypeError(head)
    return head


def write_parsed(out: IO[bytes], parsed: Body) -> None:
    """Write what a format handed over."""
    arrays: list[Array] = []
    tree = _flat(parsed, arrays)
    little_endian = [array.astype(array.dtype.newbyteorder("<"), copy=False) for array in arrays]
    write_head(out, {"parsed": tree, "arrays": [[a.dtype.str, a.shape] for a in little_endian]})
    for array in little_endian:
        for block in _blocks(array):
            out.write(np.ascontiguousarray(array[block]).data)
    out.flush()


def _blocks(array: Array) -> Iterator[slice]:
    """Part an array so that no large copy is made of one that does not lie in order."""
    step = max(1, len(array) if array.flags.c_contiguous else _BLOCK * len(array) // array.nbytes)
    yield from (slice(start, start + step) for start in range(0, len(array), step))


def write_refusal(out: IO[bytes], error: FileError) -> None:
    """Write why a file was refused."""
    write_head(out, {"refused": [error.field, error.actual, error.expected]})
    out.flush()


def read_parsed(read: Read, most: int) -> Body:
    """Open an answer whose arrays have at most so many bytes together."""
    try:
        head = read_head(read, most)
        refused = head.get("refused")
        parsed = None if refused else _opened(head, read, most)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise FileError("file", "an answer that cannot be read", "the file once more") from error
    if not isinstance(parsed, (FileTable, Arrays)):
        raise FileError(*map(str, refused or ("file", "no answer", "the file once more")))
    return parsed


def _opened(head: Mapping[str, Any], read: Read, most: int) -> Any:
    shapes = [(_TYPES[code], tuple(map(int, shape))) for code, shape in head["arrays"]]
    if sum(dtype.itemsize * prod(shape) for dtype, shape in shapes) > most:
        raise ValueError(most)
    return _built(head["parsed"], [_array(read, dtype, shape) for dtype, shape in shapes])


def _array(read: Read, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    array = np.empty(shape, dtype)
    if array.nbytes:
        read(array.reshape(-1).view(np.uint8).data)
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ValueError(dtype)
    return array


def _flat(value: object, arrays: list[Array]) -> Any:
    """Turn nouns into JSON, whose every object has one key: what it is."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if is_dataclass(value):
        inside = {f.name: _flat(getattr(value, f.name), arrays) for f in fields(value)}
        return {type(value).__name__: inside}
    if isinstance(value, (tuple, list)):
        return [_flat(part, arrays) for part in value]
    return value


def _built(value: Any, arrays: list[Array]) -> Any:
    """Undo `_flat`."""
    if isinstance(value, list):
        return tuple(_built(part, arrays) for part in value)
    if not isinstance(value, dict):
        return value
    ((kind, inside),) = value.items()
    if kind == "array":
        return arrays[inside]
    noun = _KINDS[kind](**{name: _built(part, arrays) for name, part in inside.items()})
    if kind in _CHECKS:  # columns of any lengths were checked one by one
        _CHECKS[kind](noun)
    return noun


def _check_odd(odd: Odd) -> None:
    """Raise if the rows and codes of odd cells do not belong together."""
    _check_codes(odd.codes, odd.texts)
    if odd.rows.shape != odd.codes.shape or odd.rows.dtype.kind not in "iu" or odd.rows.ndim != 1:
        raise ValueError(odd.rows.shape)
    if odd.rows.size and (odd.rows[0] < 0 or (np.diff(odd.rows) <= 0).any()):
        raise ValueError(odd.rows[:3])


def _check_column(column: Column) -> None:
    """Raise if a code stands for no text, or an odd cell for no row."""
    if not isinstance(column.values, np.ndarray) or not column.values.ndim:
        raise TypeError(column.values)
    if column.texts is not None:
        _check_codes(column.values, column.texts)
    rows = column.values[:0] if column.odd is None else column.odd.rows
    if rows.size and rows[-1] >= len(column.values):
        raise ValueError(rows[-1])


def _check_table(table: FileTable) -> None:
    """Raise if a column that is kept, or the rows that were passed over, are not of its length."""
    if type(table.n_rows) is not int or type(table.first_row) is not int or table.n_rows < 0:
        raise TypeError(table.n_rows)
    if type(table.summary) is not str:
        raise TypeError(table.summary)
    if any(len(c.values) != table.n_rows for c in table.columns if not c.unread):
        raise ValueError(table.n_rows)
    if table.among is not None and np.count_nonzero(table.among) != table.n_rows:
        raise ValueError(table.among.shape)


def _check_texts(texts: Texts) -> None:
    """Raise if a text does not lie within the bytes."""
    raw, ends = texts.raw, texts.ends
    typed = raw.dtype == np.uint8 and ends.dtype == np.int32 and raw.ndim == ends.ndim == 1
    if not (typed and ends.size) or (np.diff(ends, prepend=0, append=len(raw)) < 0).any():
        raise ValueError(ends[:3])


def _check_codes(codes: Array, texts: Sequence[str]) -> None:
    """Raise if a code stands for no text."""
    if not codes.size:
        return
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= len(texts):
        raise ValueError(texts[:3])


_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "Odd": _check_odd, "Column": _check_column, "FileTable": _check_table, "Texts": _check_texts,
}  # fmt: skip


# The process that parses files: one always waits, answers for one file, and ends --------------


_START = (
    "import sys; sys.path[:] = sys.argv[1:];"
    " from dashboard import leave_working_folder; leave_working_folder();"
    " from dashboard.readers.worker import main; main()"
)
_ONE_THREAD = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""Each thread sets memory aside that it never uses, and would count against the limit."""

_LOOK = 0.05
_WANTED = "an undamaged file, a smaller one, or another format such as .npz"

Process = subprocess.Popen[bytes]


class Workers:
    """Keeps one process waiting, and starts the next when it is used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: Process | None = None

    def prepare(self) -> None:
        """Start a process to wait, if none does and the system has room for one."""
        with self._lock, suppress(OSError):
            if self._waiting is None or self._waiting.poll() is not None:
                self._waiting = _started()

    def take(self) -> Process:
        """Return the process that waits, or a new one, and start the next."""
        with self._lock:
            taken, self._waiting = self._waiting, None
        try:
            process = taken if taken is not None and taken.poll() is None else _started()
        except OSError as error:
            text = f"no process to read it in ({error.strerror or type(error).__name__})"
            wanted = "some free memory: close other programs, then choose the file again"
            raise PassingError("file", text, wanted) from error
        threading.Thread(target=self.prepare, daemon=True).start()
        return process

    def end(self) -> None:
        """End the process that waits."""
        with self._lock:
            taken, self._waiting = self._waiting, None
        if taken is not None:
            _end(taken)


WORKERS = Workers()
atexit.register(WORKERS.end)


def _started() -> Process:
    return subprocess.Popen(  # noqa: S603 - our own program; the file is only its input
        [sys.executable, "-I", "-c", _START, *filter(None, sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_ONE_THREAD},
    )


def _end(process: Process) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not written yet can no longer be
            if pipe is not None:
                pipe.close()
    process.wait()


def parse_apart(
    name: str,
    data: bytes,
    *,
    header: bool | None = None,
    limits: Limits | None = None,
    waiting: Callable[[float], None] = lambda _: None,
) -> Body:
    """Do what `dashboard.readers.formats.parse` does, in the process that waits.

    ``waiting`` is told about ten times a second how many seconds have passed; what it raises ends
    the process.
    """
    check_size(len(data))
    limits = limits or limits_for(ending_of(name), len(data))
    process = WORKERS.take()
    try:
        exchange = _Exchange(process, name, data, header, limits)
        threads = [threading.Thread(target=t, daemon=True) for t in (exchange.ask, exchange.hear)]
        for thread in threads:
            thread.start()
        _wait(process, threads[1], len(data), limits, waiting)
    finally:
        _end(process)
    if exchange.answer is None:
        raise exchange.refusal or PassingError(
            "file", f"{len(data):,} bytes that ended the process reading it", _WANTED
        )
    return exchange.answer


@dataclass
class _Exchange:
    """One question to a process and its answer."""

    process: Process
    name: str
    data: bytes
    header: bool | None
    limits: Limits
    answer: Body | None = field(default=None, init=False)
    refusal: FileError | None = field(default=None, init=False)

    def ask(self) -> None:
        """Hand the file over."""
        pipe = self.process.stdin
        question = {
            "name": self.name, "header": self.header, "size": len(self.data),
            "limits": asdict(self.limits),
        }  # fmt: skip
        with suppress(OSError, ValueError):  # it has ended, which `hear` finds out as well
            if pipe is not None:
                write_head(pipe, question)
                pipe.write(self.data)
                pipe.flush()

    def hear(self) -> None:
        """Take the answer."""
        pipe = self.process.stdout
        try:
            if pipe is not None:
                self.answer = read_parsed(_reader(pipe), self.limits.memory)
        except FileError as error:
            self.refusal = error
        except (EOFError, OSError, ValueError, MemoryError, RecursionError):
            pass  # it has ended, or answers nonsense, which the lack of an answer says


def _wait(
    process: Process,
    thread: threading.Thread,
    n_bytes: int,
    limits: Limits,
    waiting: Callable[[float], None],
) -> None:
    """Wait for the answer within the limits."""
    start = time.monotonic()
    while thread.is_alive():
        thread.join(_LOOK)
        passed = time.monotonic() - start
        if passed > limits.seconds:
            raise PassingError(
                "file", f"{megabytes(n_bytes)} that were not read within {limits.seconds:g}"
                " seconds", "a smaller file, or .npz or .npy",
            )  # fmt: skip
        if not system_bounds_memory() and _resident(process) > limits.memory:
            raise FileError("file", *_too_large(limits))
        waiting(passed)


def _resident(process: Process) -> int:
    try:
        return int(psutil.Process(process.pid).memory_info().rss)
    except psutil.Error:
        return 0


def _too_large(limits: Limits) -> tuple[str, str]:
    text = f"contents that need more than {megabytes(limits.memory)} of memory to be read"
    return text, "a smaller file, or .npz or .npy"


def _reader(pipe: IO[bytes]) -> Callable[[memoryview], None]:
    def fill(buffer: memoryview) -> None:
        while len(buffer):
            count = pipe.readinto(buffer)  # type: ignore[attr-defined] # pipes have it
            if not count:
                raise EOFError
            buffer = buffer[count:]

    return fill


# In the process -------------------------------------------------------------------------------


class _NoPandas:
    """Keeps pandas out, which pyarrow would import (0.3 s) to see whether it is there."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Raise for pandas; leave all else to others."""
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)


def main() -> None:
    """Wait for a file on standard input, parse it and answer on standard output."""
    sys.meta_path.insert(0, _NoPandas)
    prepare()
    # What a library prints must not stand in the answer.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    read = _reader(sys.stdin.buffer)
    try:
        head = read_head(read)
    except EOFError:
        return
    limits = Limits(**head["limits"])
    set_limits(limits)
    try:
        parsed = parse(head["name"], sys.stdin.buffer.read(head["size"]), header=head["header"])
        write_parsed(out, parsed)
    except FileError as error:
        write_refusal(out, error)
    except MemoryError:
        write_refusal(out, FileError("file", *_too_large(limits)))
