"""The process that parses files: one always waits, answers for one file, and ends."""

import atexit
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import IO

import psutil

from dashboard.readers.formats import ending_of, parse, prepare
from dashboard.readers.refusal import FileError, PassingError
from dashboard.readers.table import Parsed
from dashboard.readers.worker.answer import (
    read_head,
    read_parsed,
    write_head,
    write_parsed,
    write_refusal,
)
from dashboard.readers.worker.limits import Limits, limits_for, set_limits, system_bounds_memory

_START = (
    "import sys; sys.path[:] = sys.argv[1:];"
    " from dashboard import leave_working_folder; leave_working_folder();"
    " from dashboard.readers.worker.process import main; main()"
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
            found = f"no process to read it in ({error.strerror or type(error).__name__})"
            wanted = "some free memory: close other programs, then choose the file again"
            raise PassingError("file", found, wanted) from error
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
) -> Parsed:
    """Do what `dashboard.readers.formats.parse` does, in the process that waits.

    ``waiting`` is told about ten times a second how many seconds have passed; what it raises ends
    the process.
    """
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
    answer: Parsed | None = field(default=None, init=False)
    refusal: FileError | None = field(default=None, init=False)

    def ask(self) -> None:
        """Hand the file over."""
        pipe = self.process.stdin
        asked = {
            "name": self.name, "header": self.header, "size": len(self.data),
            "limits": asdict(self.limits),
        }  # fmt: skip
        with suppress(OSError, ValueError):  # it has ended, which `hear` finds out as well
            if pipe is not None:
                write_head(pipe, asked)
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
                "file", f"{n_bytes / 1e6:,.0f} MB that were not read within {limits.seconds:g}"
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
    found = f"contents that need more than {limits.memory / 1e6:,.0f} MB of memory to be read"
    return found, "a smaller file, or .npz or .npy"


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
        asked = read_head(read)
    except EOFError:
        return
    limits = Limits(**asked["limits"])
    set_limits(limits)
    try:
        data = sys.stdin.buffer.read(asked["size"])
        write_parsed(out, parse(asked["name"], data, header=asked["header"]))
    except FileError as error:
        write_refusal(out, error)
    except MemoryError:
        write_refusal(out, FileError("file", *_too_large(limits)))
