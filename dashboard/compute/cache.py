"""Long work in a thread of its own, so that a click elsewhere does not end it."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

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

Key = tuple[str, str, str, str]
"""What stands for a result: digest of the bytes, names, how they were read, settings.

The names of several files decide which holds which set.
"""

Result = TypeVar("Result")


def key_of(upload: Upload, settings: Settings) -> Key:
    """Return what stands for the data and the settings."""
    how = replace(upload.options, prevalence=None)  # which changes no number
    return upload.digest, upload.name, f"{upload.values_kind}, {how}", repr(settings)


_SHELVES: dict[str, OrderedDict[object, Any]] = {}


def _shelf(kind: str) -> OrderedDict[object, Any]:
    """Keep the latest results of a kind, shared between sessions, the oldest first."""
    return _SHELVES.setdefault(kind, OrderedDict())


def is_known(kind: str, key: object) -> bool:
    """Return whether a result is kept."""
    return key in _shelf(kind)


def once(kind: str, key: object, make: Callable[[], Result], *, most: int = MOST_RESULTS) -> Result:
    """Return the result that is kept, or make it.

    Not a cached function, because those cannot show how far they are.

    ``kind``: of the results, which share nothing with those of another kind. ``key``: stands for
    everything that decides the result. ``make``: makes it. Whatever it raises passes, and nothing
    is kept. ``most``: results of this kind that are kept.
    """
    shelf = _shelf(kind)
    if key not in shelf:
        _put(shelf, key, make(), most)
    shelf.move_to_end(key)
    found: Result = shelf[key]
    return found


def once_going_on(
    kind: str, key: object, make: Callable[[Progress], Result], progress: Progress
) -> Result:
    """Return the result that is kept, or make it; a click elsewhere does not end the work.

    ``kind``, ``key``: as in `once`. ``make``: makes it in another thread, so without Streamlit;
    given what to tell the share done. ``progress``: told that share here; what it raises ends the
    waiting, see `see_through`.
    """
    shelf = _shelf(kind)

    def do(report: Progress) -> None:
        _put(shelf, key, make(report), MOST_RESULTS)

    if key not in shelf:
        see_through((kind, key), do, progress)
    shelf.move_to_end(key)
    found: Result = shelf[key]
    return found


def keeper(kind: str, key: object) -> Callable[[object], None]:
    """Return what keeps a result that is made elsewhere, perhaps in another thread."""
    shelf = _shelf(kind)
    return lambda made: _put(shelf, key, made, MOST_RESULTS)


def _put(shelf: OrderedDict[object, Any], key: object, made: object, most: int) -> None:
    shelf[key] = made
    while len(shelf) > most:
        shelf.popitem(last=False)


def forget() -> None:
    """Drop every file and result that is kept in memory."""
    _SHELVES.clear()
