"""What is shown while a calibrator is fitted: its progress, and a button that stops it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from dashboard.compute.fits import Estimate
from dashboard.settings import NO_METHOD, Settings
from dashboard.texts.choosing import unpenalised
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import fit_cost
from dashboard.texts.refusal import NOT_FITTED
from dashboard.texts.rows import rows_of, say_rows
from dashboard.widgets import address
from dashboard.widgets.long_work import STOP, agreements, is_agreed, stoppable

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
    if is_agreed(wanted):
        return True
    name = method_name(settings.method)
    cost = fit_cost(estimate.seconds, estimate.bytes, estimate.spread)
    size = f"{rows_of(estimate.n_rows)} of {estimate.n_classes:,} classes"
    risk = unpenalised(settings, estimate.n_classes, estimate.n_rows)
    with place.container():
        if risk:
            st.warning(say_rows(risk), icon=":material/warning:")
        st.info(f"{name} on {size} will take {cost}. {NOT_FITTED}", icon=":material/hourglass_top:")
        st.button("Fit it", on_click=agreements().add, args=(wanted,), type="primary")
    return False


def _wanted(settings: Settings, estimate: Estimate) -> tuple[object, ...]:
    return settings.method, settings.options, estimate.n_rows, estimate.n_classes


@contextmanager
def watched(settings: Settings, estimate: Estimate | None) -> Iterator[Callable[[float], None]]:
    """Show a spinner, and from the first report on a bar and a button that stops the fit."""
    place = st.empty()
    tell = stoppable(place, lambda: st.button(STOP, on_click=_stop, args=(settings, estimate)))

    def report(share: float) -> None:
        tell(share, f"{method_name(settings.method)}: fitting on the calibration set")

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
        agreements().discard(_wanted(settings, estimate))
