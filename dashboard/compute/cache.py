"""What is computed once and kept, keyed by the digest of the bytes and the settings.

Arrays are never part of a key. What is kept is shared between sessions and never changed; the
oldest goes first, by kind and by the bytes of all. Long work runs in a thread of its own, so that a
click elsewhere does not end it.
"""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, TypeVar

import numpy as np
import psutil

from calibcore.calibrators.base import Progress
from dashboard.readers import Upload
from dashboard.settings import Settings

GRACE = 5.0
"""Seconds for which work goes on that no page asks for; another page asks sooner."""

POLL = 0.05
"""Seconds between two looks at how far it is."""


class _LeftAloneError(BaseException):
    """Ends work that nobody asks for; no handler of errors within it may hold this up."""


class _Work:
    """Work that is under way, or has just ended."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self._asked_at = time.monotonic()
        self._share: float | None = None
        self._done = threading.Event()

    def start(self, do: Callable[[Progress], None], at_end: Callable[[], object]) -> None:
        """Run it in a thread, and then what follows its end."""
        threading.Thread(target=self._run, args=(do, at_end), daemon=True).start()

    def _run(self, do: Callable[[Progress], None], at_end: Callable[[], object]) -> None:
        try:
            do(self._note)
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self.error = error
        at_end()
        self._done.set()

    def _note(self, share: float) -> None:
        if time.monotonic() - self._asked_at > GRACE:
            raise _LeftAloneError
        self._share = share

    def wait(self, progress: Progress) -> None:
        """Wait for the end, and report progress."""
        self._asked_at = time.monotonic()
        while not self._done.wait(POLL):
            self._asked_at = time.monotonic()
            if self._share is not None:
                progress(self._share)


_UNDER_WAY: dict[object, _Work] = {}


def see_through(key: object, do: Callable[[Progress], None], progress: Progress) -> None:
    """Run work, or wait for the end of the same work that another run has begun.

    ``key``: identifies the work. ``do``: runs it and keeps its result; called with a function to
    report the share done, 0 to 1. ``progress``: called with that share here. If it raises, the work
    goes on alone for `GRACE` seconds.

    Raises
    ------
    BaseException
        Whatever the work has raised.
    """
    error: BaseException | None = _LeftAloneError()
    while isinstance(error, _LeftAloneError):  # just before this run has asked
        work = _UNDER_WAY.get(key)
        if work is None:
            work = _UNDER_WAY[key] = _Work()
            work.start(do, lambda: _UNDER_WAY.pop(key, None))
        work.wait(progress)
        error = work.error
    if error is not None:
        raise error


MOST_RESULTS = 64
"""Results kept in memory, of each kind."""

MOST_BYTES = max(2 << 30, psutil.virtual_memory().total // 4)
"""Bytes of the arrays of all results, beyond which the oldest go."""

IN_USE = 120.0
"""Seconds for which a result that was asked for stays, however many bytes there are."""

Key = tuple[str, str, str, str]
"""What stands for a result: digest of the bytes, names, how they were read, settings.

The names of several files decide which holds which set.
"""

Result = TypeVar("Result")


def key_of(upload: Upload, settings: Settings) -> Key:
    """Return what stands for the data and the settings."""
    return upload.digest, upload.name, f"{upload.values_kind}, {upload.options}", repr(settings)


@dataclass
class _Entry:
    """A result, when it was last asked for, and the arrays that it holds."""

    made: Any
    used: float
    arrays: Mapping[int, int]
    """Bytes by identity."""


class _Store:
    """The results of every kind, the ones that were asked for last at the end."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[str, object], _Entry] = OrderedDict()
        self._holders: Counter[int] = Counter()  # results by the array that they hold
        self._of_kind: Counter[str] = Counter()
        self._bytes = 0
        self._lock = threading.RLock()

    def has(self, kind: str, key: object) -> bool:
        """Return whether a result is kept."""
        return (kind, key) in self._entries

    def take(self, kind: str, key: object) -> Any:
        """Return a result that is kept, as the one that was asked for last."""
        with self._lock:
            entry = self._entries[kind, key]
            entry.used = time.monotonic()
            self._entries.move_to_end((kind, key))
            return entry.made

    def put(self, kind: str, key: object, made: object, most: int) -> None:
        """Keep a result; drop the oldest of its kind, and of all, that are too many."""
        with self._lock:
            if self.has(kind, key):
                self._drop((kind, key))
            arrays = arrays_of(made)
            self._entries[kind, key] = _Entry(made, time.monotonic(), arrays)
            self._of_kind[kind] += 1
            self._bytes += sum(size for of, size in arrays.items() if not self._holders[of])
            self._holders.update(arrays.keys())
            while self._of_kind[kind] > most:
                self._drop(next(one for one in self._entries if one[0] == kind))
            while self._bytes > MOST_BYTES:
                place, oldest = next(iter(self._entries.items()))
                if time.monotonic() - oldest.used < IN_USE:
                    break
                self._drop(place)

    def _drop(self, place: tuple[str, object]) -> None:
        entry = self._entries.pop(place)
        self._of_kind[place[0]] -= 1
        for of, size in entry.arrays.items():
            self._holders[of] -= 1
            if not self._holders[of]:
                del self._holders[of]
                self._bytes -= size

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            for place in list(self._entries):
                self._drop(place)


_STORE = _Store()

_LONG = 1000
"""Items of a list or a mapping up to which each is looked into."""


def arrays_of(made: object) -> dict[int, int]:
    """Return the bytes of the arrays that a result holds, by their identity.

    Examples
    --------
    >>> table = np.zeros((10, 2))
    >>> sum(arrays_of([table, {"first": table[:5]}]).values())
    160
    """
    numbers: dict[int, int] = {}
    seen: set[int] = set()
    waiting = [made]
    while waiting:
        one = waiting.pop()
        if isinstance(one, np.ndarray):
            while isinstance(one.base, np.ndarray):
                one = one.base
            numbers[id(one)] = one.nbytes
        elif id(one) not in seen:
            seen.add(id(one))
            if is_dataclass(one):
                waiting += vars(one).values() if hasattr(one, "__dict__") else ()
            elif isinstance(one, Mapping) and len(one) <= _LONG:
                waiting += one.values()
            elif isinstance(one, tuple | list) and len(one) <= _LONG:
                waiting += one
            elif isinstance(one, bytes):
                numbers[id(one)] = len(one)
    return numbers


def is_known(kind: str, key: object) -> bool:
    """Return whether a result is kept."""
    return _STORE.has(kind, key)


def once(kind: str, key: object, make: Callable[[], Result], *, most: int = MOST_RESULTS) -> Result:
    """Return the result that is kept, or make it.

    Not a cached function, because those cannot show how far they are.

    ``kind``: of the results, which share nothing with those of another kind. ``key``: stands for
    everything that decides the result. ``make``: makes it. Whatever it raises passes, and nothing
    is kept. ``most``: results of this kind that are kept.
    """
    try:
        result: Result = _STORE.take(kind, key)
    except KeyError:
        result = make()
        _STORE.put(kind, key, result, most)
    return result


def once_going_on(
    kind: str, key: object, make: Callable[[Progress], Result], progress: Progress
) -> Result:
    """Return the result that is kept, or make it; a click elsewhere does not end the work.

    ``kind``, ``key``: as in `once`. ``make``: makes it in another thread, so without Streamlit;
    given what to tell the share done. ``progress``: told that share here; what it raises ends the
    waiting, see `see_through`.
    """

    def do(report: Progress) -> None:
        _STORE.put(kind, key, make(report), MOST_RESULTS)

    while True:
        try:
            result: Result = _STORE.take(kind, key)
        except KeyError:  # not made yet, or dropped since by what others keep
            see_through((kind, key), do, progress)
        else:
            return result


def keeper(kind: str, key: object) -> Callable[[object], None]:
    """Return what keeps a result that is made elsewhere, perhaps in another thread."""
    return lambda made: _STORE.put(kind, key, made, MOST_RESULTS)


def forget() -> None:
    """Drop every file and result that is kept in memory."""
    _STORE.clear()
