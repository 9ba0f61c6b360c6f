"""Which calibrators take part in a comparison, and by which measures."""

import streamlit as st

from calibcore.metrics import METRICS, EventMeasure, Measure
from dashboard import compute
from dashboard.parts import address
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, USUAL
from dashboard.wording import contest as words
from dashboard.wording import method_name
from dashboard.wording.measures import telling


def choose_calibrators(scene: Scene) -> list[str]:
    """Show the choice of what is compared; uncalibrated scores always are."""
    offered = [key for key in compute.contestants(scene.upload) if key != NO_METHOD]
    usual = [key for key in offered if key in USUAL]

    # Before the choice is drawn, an address may hold it.
    n_chosen = len(address.several("methods", usual))
    with st.popover(words.calibrators_label(n_chosen), key="methods_popover"):
        chosen = address.choose_several(
            words.METHODS,
            {key: method_name(key) for key in offered},
            key="methods",
            default=usual,
            help=words.METHODS_HELP,
            placeholder=words.NO_METHODS,
        )
        with st.container(horizontal=True):
            st.button(words.EVERY, on_click=address.put, args=("methods", offered))
            st.button(words.USUAL, on_click=address.put, args=("methods", usual))
        if scene.class_names is None:
            st.markdown(f":small[{words.ONLY_EVENT}]")
    return [NO_METHOD, *(key for key in offered if key in chosen)]


def measures_defined(scene: Scene) -> list[Measure]:
    """Return the measures that are defined for these data."""
    if scene.class_names is None:
        return [m for m in METRICS if isinstance(m, EventMeasure)]
    return list(telling(len(scene.class_names), scene.settings.event))
