"""Long work in a thread of its own, so that a click elsewhere does not end it."""

import threading
import time
from collections.abc import Callable

from calibcore.calibrators.base import Progress

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
