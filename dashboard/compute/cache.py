"""What is computed once and kept, keyed by the digest of the bytes and the settings.

Arrays are never part of a key. What is kept is shared between visitors and never changed; the
oldest goes first, by kind and by the bytes of all, and what is made of a visitor's own files goes
with the last who brought them. Long work runs in a thread of its own, so that a click elsewhere
does not end it.
"""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from calibcore.calibrators.base import Progress
from dashboard.compute.memory import budget, sizes_of
from dashboard.readers import Upload
from dashboard.settings import Settings

GRACE = 5.0
"""Seconds for which work goes on that no page asks for; another page asks sooner."""

POLL = 0.05
"""Seconds between two looks at how far it is."""


def who_visits() -> str | None:
    """Return the visitor whose run this is, if files are theirs; the server has its own way."""
    return None


def go_on() -> None:
    """End the run whose visitor has left; the server has its own way."""


_WORKS_FOR: ContextVar[str | None] = ContextVar("works for", default=None)
"""The visitor for whom a thread works that is no run of theirs."""


def _visitor() -> str | None:
    return _WORKS_FOR.get() or who_visits()


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
        args = do, at_end, _visitor()
        threading.Thread(target=self._run, args=args, daemon=True).start()

    def _run(
        self, do: Callable[[Progress], None], at_end: Callable[[], object], whose: str | None
    ) -> None:
        _WORKS_FOR.set(whose)
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

    Raises whatever the work has raised.
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

IN_USE = 30.0
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
    """A result, when it was last asked for, the bytes by identity that it holds, and for whom."""

    result: Any
    used: float
    sizes: Mapping[int, int]
    visitors: set[str | None]
    """Who asked for it; None where no files are of the visitor's own."""


class _Store:
    """The results of every kind, the ones that were asked for last at the end."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[str, object], _Entry] = OrderedDict()
        self._holders: Counter[int] = Counter()  # results by what they hold
        self._of_kind: Counter[str] = Counter()
        self._bytes = 0
        self._most, self._weighed_at = budget(), 0.0
        self._lock = threading.RLock()

    def has(self, kind: str, key: object) -> bool:
        """Return whether a result is kept."""
        return (kind, key) in self._entries

    def take(self, kind: str, key: object) -> Any:
        """Return a result that is kept, as the one that was asked for last."""
        with self._lock:
            entry = self._entries[kind, key]
            entry.used = time.monotonic()
            entry.visitors.add(_visitor())
            self._entries.move_to_end((kind, key))
            return entry.result

    def put(self, kind: str, key: object, result: object, most: int, whose: str | None) -> None:
        """Keep a result; drop the oldest of its kind, and of all, that are too many."""
        with self._lock:
            if self.has(kind, key):
                self._drop((kind, key))
            self._entries[kind, key] = _Entry(result, time.monotonic(), {}, {whose})
            self._of_kind[kind] += 1
            self._weigh(self._entries[kind, key])
            while self._of_kind[kind] > most:
                self._drop(next(one for one in self._entries if one[0] == kind))
            self._make_room()

    def bound(self, most: int) -> None:
        """Keep at most so many bytes from now, of results as they have grown in use."""
        with self._lock:
            since, self._weighed_at, self._most = self._weighed_at, time.monotonic(), most
            for entry in self._entries.values():
                if entry.used >= since:
                    self._unweigh(entry)
                    self._weigh(entry)
            self._make_room()

    def visitors(self) -> set[str]:
        """Return the visitors of whose files results are kept."""
        with self._lock:
            every = (entry.visitors for entry in self._entries.values())
            return {one for visitors in every for one in visitors if one is not None}

    def leave(self, visitor: str, *, shared: bool = False) -> None:
        """Drop what is made of a visitor's files; of others' who are here only where ``shared``."""
        with self._lock:
            for place, entry in list(self._entries.items()):
                if visitor in entry.visitors:
                    entry.visitors.remove(visitor)
                    if shared or not entry.visitors:
                        self._drop(place)

    def drop(self, kind: str, key: object) -> None:
        """Drop a result that nobody is likely to ask for again, if it is kept."""
        with self._lock:
            if self.has(kind, key):
                self._drop((kind, key))

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            for place in list(self._entries):
                self._drop(place)

    def _make_room(self) -> None:
        while self._bytes > self._most:
            place, oldest = next(iter(self._entries.items()))
            if time.monotonic() - oldest.used < IN_USE:
                break
            self._drop(place)

    def _weigh(self, entry: _Entry) -> None:
        entry.sizes = sizes_of(entry.result)
        self._bytes += sum(size for of, size in entry.sizes.items() if not self._holders[of])
        self._holders.update(entry.sizes.keys())

    def _unweigh(self, entry: _Entry) -> None:
        for of, size in entry.sizes.items():
            self._holders[of] -= 1
            if not self._holders[of]:
                del self._holders[of]
                self._bytes -= size

    def _drop(self, place: tuple[str, object]) -> None:
        entry = self._entries.pop(place)
        self._of_kind[place[0]] -= 1
        self._unweigh(entry)


_STORE = _Store()


is_known, drop = _STORE.has, _STORE.drop
leave, visitors, bound = _STORE.leave, _STORE.visitors, _STORE.bound


def at_hand(kind: str, key: object) -> Any:
    """Return the result that is kept, or None."""
    with suppress(KeyError):
        return _STORE.take(kind, key)
    return None


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
        go_on()
        result = make()
        _STORE.put(kind, key, result, most, _visitor())
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
        _STORE.put(kind, key, make(report), MOST_RESULTS, _visitor())

    while True:
        try:
            result: Result = _STORE.take(kind, key)
        except KeyError:  # not made yet, or dropped since by what others keep
            see_through((kind, key), do, progress)
        else:
            return result


def keeper(kind: str, key: object) -> Callable[[object], None]:
    """Return what keeps a result that is made elsewhere, perhaps in another thread."""
    whose = _visitor()
    return lambda result: _STORE.put(kind, key, result, MOST_RESULTS, whose)


def forget() -> None:
    """Drop what is made of the files of the visitor whose run this is, for others with them too.

    Where the visitor has none, or is not known, everything goes.
    """
    whose = _visitor()
    if whose is None:
        _STORE.clear()
    else:
        _STORE.leave(whose, shared=True)
