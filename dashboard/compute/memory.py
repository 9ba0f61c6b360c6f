"""Memory in bytes: how much may be kept, what is kept truly takes, and what is free given back."""

import ctypes
import gc
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import psutil

MEMORY = "FRACTILE_MEMORY"
"""Environment variable with the bytes that the server may keep, which `fractile serve` sets."""

_SHARE = 4
"""Without it, one part of so many of the machine's memory."""

_LONG = 1000
"""Items of a list or a mapping up to which each is looked into; of more the sizes alone count."""

_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_NO_DATA = (type, ModuleType, int, float, complex, type(None))


def bytes_of(text: str) -> int:
    """Return how many bytes a size such as ``500MB`` or ``2.5 GB`` is.

    Raises `ValueError` if it is no size.
    """
    number = text.strip().upper().removesuffix("B").strip()
    unit = number[-1:].replace("K", "k") if number[-1:].isalpha() else ""
    try:
        size = float(number.removesuffix(unit.upper())) * _UNITS.get(unit, 0)
    except ValueError:
        size = 0.0
    if not 1 <= size < float("inf"):
        raise ValueError(f"{text!r}. Expected a size such as 500MB or 4GB.")
    return int(size)


def budget() -> int:
    """Return how many bytes of files and results may be kept."""
    if size := os.environ.get(MEMORY):
        return bytes_of(size)
    return _machine() // _SHARE


def _machine() -> int:
    """Return the bytes of memory of the machine, or of the container where that has less."""
    total = int(psutil.virtual_memory().total)
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # no container, or no limit, which is the word max
            return min(total, int(Path("/sys/fs/cgroup", name).read_text("ascii")))
    return total


def sizes_of(result: object) -> dict[int, int]:
    """Return the bytes of what holds data in a result by identity, so that shared ones count once.

    These are the arrays (a view is what it is of), texts, bytes, Arrow's buffers, and frames of
    pandas, in whatever objects.
    """
    sizes: dict[int, int] = {}
    seen: set[int] = set()
    waiting = [result]
    while waiting:
        one = waiting.pop()
        if isinstance(one, np.ndarray):
            while isinstance(one.base, np.ndarray):
                one = one.base
            sizes[id(one)] = one.nbytes
            if one.dtype.hasobject:
                sizes[id(one)] += sum(map(sys.getsizeof, one.flat))
        elif id(one) not in seen and not isinstance(one, _NO_DATA):
            seen.add(id(one))
            size = _size_of(one)
            if size is None:
                waiting += _parts_of(one)
            else:
                sizes[id(one)] = size
    return sizes


def _size_of(one: Any) -> int | None:
    """Return the bytes of something that holds nothing but data; None of anything else."""
    if isinstance(one, str | bytes | bytearray | memoryview):
        return sys.getsizeof(one)
    if isinstance(one, Mapping | tuple | list | set | frozenset) and len(one) > _LONG:
        values = one.values() if isinstance(one, Mapping) else ()
        return sys.getsizeof(one) + sum(map(sys.getsizeof, (*one, *values)))
    kind = type(one).__module__.partition(".")[0]
    if kind == "pyarrow" and hasattr(one, "get_total_buffer_size"):
        return int(one.get_total_buffer_size())
    if kind == "pandas" and hasattr(one, "memory_usage"):
        return int(np.sum(one.memory_usage(deep=True)))
    return None


def _parts_of(one: Any) -> Iterator[object]:
    """Yield what a small container, a function with what it knows, or an object holds."""
    if isinstance(one, Mapping):
        yield from (*one.keys(), *one.values())
    elif isinstance(one, tuple | list | set | frozenset):
        yield from one
    elif isinstance(one, partial):
        yield from (one.func, one.args, one.keywords)
    elif isinstance(one, FunctionType):
        yield from (cell.cell_contents for cell in one.__closure__ or ())
    elif hasattr(one, "__self__"):
        yield one.__self__
    else:
        yield from getattr(one, "__dict__", {}).values()


_M_ARENA_MAX, _ARENAS = -8, 2


def few_arenas() -> None:
    """Let threads share the C library's memory: an arena of each gives little back."""
    with suppress(AttributeError, OSError):  # as in `give_back`
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Give what is free back to the system: the C library and Arrow keep it for the next."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with suppress(AttributeError, OSError):  # another C library, or none that can be opened
        ctypes.CDLL(None).malloc_trim(0)


def sweep() -> None:
    """Free what sessions have held in circles, and give it back.

    What was frozen with the imports is looked through too: sessions that had begun by then held it.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    give_back()
