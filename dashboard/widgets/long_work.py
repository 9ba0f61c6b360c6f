"""Work that can take long: announced, started by a click, watched, and stopped by another."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.texts.numbers import duration

ASK_FROM = 2.0
"""Seconds from which on work waits for a click, unless a page is about little else."""

SHOW_FROM = 1.0
"""Seconds from which on work that nobody asked for shows its progress."""

RUN, STOP = "Compute", "Stop"

Tell = Callable[[float, str], None]


class ResultPlace:
    """Place of a result: what was there stays until it is replaced, so that nothing jumps.

    Unless work starts: `clear` removes it, as it belongs to an earlier choice.
    """

    def __init__(self) -> None:
        self._at = st.container()

    def clear(self) -> None:
        """Remove what was there; the empty place is then first, as a result is."""
        self._at = self._at.empty()

    def container(self) -> DeltaGenerator:
        """Return the place to write to, once."""
        return self._at.container()


class LongWork:
    """One piece of work, and the place on the page where it is offered and watched.

    ``wanted``: stands for the work; its first part, a word, is in the keys of the buttons.
    """

    def __init__(self, wanted: tuple[object, ...]) -> None:
        self.wanted = wanted
        self._place = st.empty()

    def agreed(self, seconds: float, what: str, *, ask_from: float = ASK_FROM) -> bool:
        """Show the cost of the work and a start button; return whether it may run.

        ``seconds``: its cost. ``what``: names it at the start of a sentence. ``ask_from``: seconds
        from which on it waits for a click.
        """
        if seconds < ask_from or is_agreed(self.wanted):
            return True
        about = "about " if seconds >= 5 else ""
        with self._place.container():
            st.markdown(f"{what} takes {about}{duration(seconds)}.")
            st.button(
                RUN,
                key=f"run_{self.wanted[0]}",
                on_click=agreements().add,
                args=(self.wanted,),
                type="primary",
            )
        return False

    @contextmanager
    def watched(self) -> Iterator[Tell]:
        """Show the progress of work, and a button that stops what was asked for."""
        tell, start = stoppable(self._place, self._offer_stop), time.monotonic()

        def report(share: float, text: str) -> None:
            if is_agreed(self.wanted) or time.monotonic() - start >= SHOW_FROM:
                tell(share, text)

        yield report
        self._place.empty()

    def _offer_stop(self) -> None:
        if is_agreed(self.wanted):
            drop = agreements().discard
            st.button(STOP, key=f"stop_{self.wanted[0]}", on_click=drop, args=(self.wanted,))


def stoppable(place: DeltaGenerator, offer_stop: Callable[[], object]) -> Tell:
    """Return what shows how far work is: a bar from the first report on, and what stops the work.

    ``place``: of both. ``offer_stop``: shows a button below the bar, once.
    """
    bar: DeltaGenerator | None = None

    def report(share: float, text: str) -> None:
        nonlocal bar
        if bar is None:
            with place.container():
                bar = st.progress(0.0, text)
                offer_stop()
        # A click on anything makes this call end the run, and with it the work, unless it goes on
        # for a while without one.
        bar.progress(min(max(share, 0.0), 1.0), text)

    return report


def is_agreed(wanted: tuple[object, ...]) -> bool:
    """Return whether the user has started this work, and not stopped it."""
    return wanted in agreements()


def agreements() -> set[tuple[object, ...]]:
    """Return all the work that the user has started, and not stopped, to be changed."""
    started: set[tuple[object, ...]] = st.session_state.setdefault("agreed_work", set())
    return started
