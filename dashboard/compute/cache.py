"""What is computed once and kept, keyed by the digest of the bytes and the settings.

Arrays are never part of a key, because Streamlit hashes large ones by a sample. What is kept is
shared between sessions and never changed.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from calibcore.calibrators.base import Progress
from dashboard.compute.background import see_through
from dashboard.readers import Upload
from dashboard.settings import Settings

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
