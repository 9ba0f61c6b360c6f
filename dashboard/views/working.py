"""What is seen while a calibrator is fitted: what is done, how far it is, and a way to stop."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from dashboard.settings import NO_METHOD
from dashboard.wording import method_name


@contextmanager
def watched(method: str) -> Iterator[Callable[[float], None]]:
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

    with st.spinner("Fitting on the calibration set, judging both sets"):
        yield report
    place.empty()


def _stop() -> None:
    st.session_state["method"] = NO_METHOD
