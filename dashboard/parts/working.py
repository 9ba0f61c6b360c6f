"""What is seen while a calibrator is fitted: what is done, how far it is, and a way to stop."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from dashboard.compute import Estimate
from dashboard.settings import NO_METHOD, Settings
from dashboard.wording import fit_cost, method_name

ASK_FROM = 30.0
"""Seconds from which on a fit waits for a click."""

SAY_FROM = 5.0
"""Seconds from which on a fit says how long it will take."""


def agreed(estimate: Estimate | None, settings: Settings) -> bool:
    """Say what a dear fit will take, and offer to start it; True if nothing stands in its way."""
    if estimate is None or estimate.seconds < ASK_FROM:
        return True
    asked = st.session_state.setdefault("agreed", set())
    wanted = settings.method, settings.options, estimate.n_rows, estimate.n_classes
    if wanted in asked:
        return True
    name, cost = method_name(settings.method), fit_cost(estimate.seconds, estimate.bytes)
    size = f"{estimate.n_rows:,} rows of {estimate.n_classes:,} classes"
    st.info(f"{name} on {size} will take {cost}.", icon=":material/hourglass_top:")
    st.button("Fit it", on_click=asked.add, args=(wanted,), type="primary")
    return False


@contextmanager
def watched(method: str, estimate: Estimate | None) -> Iterator[Callable[[float], None]]:
    """Show a spinner, and from the first report on a bar and a button that stops the fit."""
    place = st.empty()
    bar = None

    def report(share: float) -> None:
        nonlocal bar
        text = f"{method_name(method)}: fitting on the calibration set"
        if bar is None:
            with place.container():
                bar = st.progress(0.0, text)
                st.button("Stop", on_click=_stop)
        # A click on anything makes this call end the run, and with it the fit.
        bar.progress(min(max(share, 0.0), 1.0), text)

    text = "Fitting on the calibration set, judging both sets"
    if estimate is not None and estimate.seconds >= SAY_FROM:
        text += f": {fit_cost(estimate.seconds, estimate.bytes)}"
    with st.spinner(text):
        yield report
    place.empty()


def _stop() -> None:
    st.session_state["method"] = NO_METHOD
