"""What is shown while a calibrator is fitted: its progress, and a button that stops it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.compute.fits import Estimate
from dashboard.settings import NO_METHOD, Settings
from dashboard.texts.choosing import unpenalised
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import fit_cost
from dashboard.texts.refusal import NOT_FITTED
from dashboard.texts.rows import rows_of, say_rows
from dashboard.widgets import address

ASK_FROM = 60.0
"""Seconds from which on a fit waits for a click."""

SAY_FROM = 10.0
"""Seconds from which on its cost is shown."""


def agreed(estimate: Estimate | None, settings: Settings) -> bool:
    """Show the cost of an expensive fit and a start button; return whether it may run."""
    place = st.empty()  # there with or without a question, so that none stays with the bar
    if estimate is None or estimate.longest < ASK_FROM:
        return True
    wanted = _wanted(settings, estimate)
    if wanted in _agreements():
        return True
    name = method_name(settings.method)
    cost = fit_cost(estimate.seconds, estimate.bytes, estimate.spread)
    size = f"{rows_of(estimate.n_rows)} of {estimate.n_classes:,} classes"
    risk = unpenalised(settings, estimate.n_classes, estimate.n_rows)
    with place.container():
        if risk:
            st.warning(say_rows(risk), icon=":material/warning:")
        st.info(f"{name} on {size} will take {cost}. {NOT_FITTED}", icon=":material/hourglass_top:")
        st.button("Fit it", on_click=_agreements().add, args=(wanted,), type="primary")
    return False


def _wanted(settings: Settings, estimate: Estimate) -> tuple[object, ...]:
    return settings.method, settings.options, estimate.n_rows, estimate.n_classes


def _agreements() -> set[tuple[object, ...]]:
    agreements: set[tuple[object, ...]] = st.session_state.setdefault("agreed", set())
    return agreements


@contextmanager
def watched(settings: Settings, estimate: Estimate | None) -> Iterator[Callable[[float], None]]:
    """Show a spinner, and from the first report on a bar and a button that stops the fit."""
    place = st.empty()
    bar: DeltaGenerator | None = None

    def report(share: float) -> None:
        nonlocal bar
        share = min(max(share, 0.0), 1.0)
        text = f"{method_name(settings.method)}: fitting on the calibration set"
        if bar is not None:
            # A click on anything makes this end the run; the fit waits a little to be asked for.
            bar.progress(share, text)
            return
        with place.container():
            bar = st.progress(share, text)
            st.button("Stop", on_click=_stop, args=(settings, estimate))

    text = "Fitting on the calibration set, evaluating both sets"
    if estimate is not None and estimate.longest >= SAY_FROM:
        text += f": {fit_cost(estimate.seconds, estimate.bytes, estimate.spread)}"
    with st.spinner(text):
        yield report
    place.empty()


def _stop(settings: Settings, estimate: Estimate | None) -> None:
    """Choose uncalibrated scores, and withdraw the agreement."""
    address.put_values({"method": NO_METHOD})
    if estimate is not None:
        _agreements().discard(_wanted(settings, estimate))
