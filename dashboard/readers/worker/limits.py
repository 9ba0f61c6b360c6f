"""What the process that parses a file may take."""

import sys
from contextlib import suppress
from dataclasses import dataclass

_TIMES, _TIMES_OBJECTS = 4, 24
_OBJECTS = frozenset({".json", ".jsonl", ".ndjson", ".xlsx"})
_MOST_OBJECTS = 1 << 30
_LARGE = 50_000_000


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

    Examples
    --------
    >>> limits_for(".csv", 100_000_000).memory >> 20
    637
    """
    memory = _TIMES * n_bytes
    if ending in _OBJECTS:
        memory = max(memory, min(_TIMES_OBJECTS * n_bytes, _MOST_OBJECTS))
    return Limits(memory + (256 << 20), 20 if n_bytes < _LARGE else 120)


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
