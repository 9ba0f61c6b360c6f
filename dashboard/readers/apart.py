"""Large files, parsed in a process of their own that gets only so much memory and time.

The process is given the file and answers with numbers, names and sentences: a line of JSON, then
the bytes of the arrays. Nothing in an answer can run, and it is checked like the bytes of a file.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, is_dataclass
from math import prod
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from calibcore.blocks import row_blocks
from dashboard.readers import parse
from dashboard.readers.binary.npy import array_from, numeric_dtype
from dashboard.readers.contents import (
    DEFAULTS,
    Array,
    Contents,
    Options,
    Preview,
    RawEvent,
    RawSet,
    SliceColumn,
)
from dashboard.readers.refusal import FileError

APART_FROM = 50_000_000
"""Bytes from which on a file is parsed in a process of its own."""

_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from dashboard.readers.apart import main; main()"
)
_KINDS = {kind.__name__: kind for kind in (Contents, RawSet, RawEvent, SliceColumn, Preview)}
_ONE_THREAD = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""Each thread sets memory aside that it never uses, and would count against the limit."""


@dataclass(frozen=True)
class Limits:
    """What the process may take.

    Parameters
    ----------
    times, spare_bytes
        Memory: so many times the size of the file, and so much more.
    seconds : float
        From the start to the answer.
    """

    times: float = 4.0
    spare_bytes: int = 256 << 20
    seconds: float = 120.0

    def memory(self, n_bytes: int) -> int:
        """Give the bytes of memory for a file of a size."""
        return int(self.times * n_bytes) + self.spare_bytes


def parse_apart(
    name: str,
    data: bytes,
    options: Options = DEFAULTS,
    limits: Limits = Limits(),
    waiting: Callable[[float], None] = lambda _: None,
) -> Contents:
    """Do what `dashboard.readers.parse` does, in a process of its own.

    Parameters
    ----------
    name, data, options
        As for `parse`.
    limits : Limits, optional
        What the process may take.
    waiting : callable, optional
        Told about ten times a second how many seconds have passed. What it raises ends the process.

    Raises
    ------
    FileError
        The file cannot be used, or takes more than the limits allow.

    Notes
    -----
    The limit on memory is that of Linux on private data; other systems know none, or do not keep
    to it, and there the limit on time is the only one.
    """
    with TemporaryFile() as question, TemporaryFile() as answer:
        asked = {"name": name, "options": asdict(options)}
        question.write(json.dumps(asked).encode("ascii") + b"\n")
        question.write(data)
        question.seek(0)
        code = _run(question, answer, limits, len(data), waiting)
        if code != 0:
            raise FileError(
                "file", f"{len(data) / 1e6:,.0f} MB that ended the process reading it ({code})",
                "an undamaged file, a smaller one, or another format such as .npz",
            )  # fmt: skip
        return _opened(answer, data)


def _run(
    question: IO[bytes],
    answer: IO[bytes],
    limits: Limits,
    n_bytes: int,
    waiting: Callable[[float], None],
) -> int:
    """Run the process to its end, or end it; give its exit code."""
    home = str(Path(__file__).parents[2])
    own = [home, str(limits.memory(n_bytes)), str(limits.seconds)]
    start = time.monotonic()
    with subprocess.Popen(  # noqa: S603 - our own program; the file is only its input
        [sys.executable, "-I", "-c", _START, *own],
        stdin=question,
        stdout=answer,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_ONE_THREAD},
    ) as process:
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    return process.wait(0.1)
                passed = time.monotonic() - start
                if passed > limits.seconds:
                    raise FileError(
                        "file", f"{n_bytes / 1e6:,.0f} MB that were not read within"
                        f" {limits.seconds:g} seconds", "a smaller file, or .npz or .npy",
                    )  # fmt: skip
                waiting(passed)
        finally:
            process.kill()


def _opened(answer: IO[bytes], data: bytes) -> Contents:
    """Check an answer and lay it out again."""
    answer.seek(0)
    try:
        head = json.loads(answer.readline())
        refused = head.get("refused")
        arrays = [
            _within(data, code, tuple(shape), *where)
            if where
            else _array(answer, code, tuple(shape))
            for code, shape, where in head["arrays"]
        ]
        contents = None if refused else _built(head["contents"], arrays)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise FileError("file", "an answer that cannot be read", "the file once more") from error
    if refused or not isinstance(contents, Contents):
        raise FileError(*map(str, refused or ("file", "no answer", "the file once more")))
    return contents


def _within(data: bytes, code: str, shape: tuple[int, ...], start: int, order: str) -> Array:
    """Lay an array over the bytes of the file where it lies in them."""
    dtype = numeric_dtype(code, "array")
    raw = memoryview(data)[start : start + prod(shape) * dtype.itemsize]
    return array_from(raw, dtype, shape, "array", fortran=order == "F")


def _array(answer: IO[bytes], code: str, shape: tuple[int, ...]) -> Array:
    """Take an array from the answer."""
    dtype = numeric_dtype(code, "array")
    # What is asked for is set aside before it is read, so no more is asked for than there is.
    left = os.fstat(answer.fileno()).st_size - answer.tell()
    raw = answer.read(max(0, min(prod(shape) * dtype.itemsize, left)))
    return array_from(raw, dtype, shape, "array")


def _flat(value: object, arrays: list[Array]) -> Any:
    """Turn contents into JSON, whose every object has one key: what it is."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if is_dataclass(value):
        inside = {f.name: _flat(getattr(value, f.name), arrays) for f in fields(value)}
        return {type(value).__name__: inside}
    if isinstance(value, Mapping):
        return {"mapping": {key: _flat(part, arrays) for key, part in value.items()}}
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
    parts = {name: _built(part, arrays) for name, part in inside.items()}
    return parts if kind == "mapping" else _KINDS[kind](**parts)


# In the process ------------------------------------------------------------------------------


def main() -> None:
    """Parse the file on standard input and answer on standard output."""
    memory, seconds = int(sys.argv[2]), float(sys.argv[3])
    _limit(memory, seconds)
    arrays: list[Array] = []
    head: dict[str, Any]
    try:
        question = sys.stdin.buffer
        asked = json.loads(question.readline())
        options: dict[str, Any] = {
            key: tuple(part) if isinstance(part, list) else part
            for key, part in asked["options"].items()
        }
        # Read to its end, the file would for a moment be there twice.
        data = question.read(os.fstat(question.fileno()).st_size - question.tell())
        contents = parse(asked["name"], data, Options(**options))
        tree = _flat(contents, arrays)
        places = [_place_in(data, array) for array in arrays]
        codes = [numeric_dtype(array.dtype.str, "array").str for array in arrays]
        shapes = [array.shape for array in arrays]
        head = {"contents": tree, "arrays": list(zip(codes, shapes, places, strict=True))}
        arrays = [a for a, place in zip(arrays, places, strict=True) if place is None]
    except FileError as error:
        head = {"refused": [error.field, error.found, error.wanted]}
    except MemoryError:
        found = f"numbers that need more than {memory / 1e6:,.0f} MB of memory to be read"
        head = {"refused": ["file", found, "a smaller file, or .npz or .npy"]}
    out = sys.stdout.buffer
    out.write(json.dumps({"arrays": []} | head).encode("ascii") + b"\n")
    for array in arrays if "contents" in head else []:
        for block in row_blocks(len(array), max(array.size // max(len(array), 1), 1)):
            out.write(np.ascontiguousarray(array[block]).data)
    out.flush()


def _place_in(data: bytes, array: Array) -> tuple[int, str] | None:
    """Tell where in the file the bytes of an array lie, and in which order, if they do."""
    start: int = array.__array_interface__["data"][0]
    start -= np.frombuffer(data, dtype=np.uint8).__array_interface__["data"][0]
    order = "C" if array.flags.c_contiguous else "F"
    # Any other byte than 0 and 1 behind a NumPy bool would be looked at again.
    whole = array.flags.forc and array.dtype.kind != "b"
    return (start, order) if whole and 0 <= start <= len(data) - array.nbytes else None


def _limit(memory: int, seconds: float) -> None:
    """Let the system refuse more memory, and end what nobody waits for any more."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    for which, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, memory),
        (resource.RLIMIT_CPU, int(seconds) * (os.cpu_count() or 1) + 1),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(which, (most, most))
