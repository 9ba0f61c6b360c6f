"""The number of bins: how much it matters, and a second place to set it."""

import streamlit as st
from plotly import graph_objects as go

from calibcore.metrics.bins import BinSweep
from dashboard import compute
from dashboard.parts.graph import show_graph, two_sides
from dashboard.scene import Scene
from dashboard.wording.reach import BINS_MATTER, SWEEP_NOTE, sweep_caption
from dashboard.wording.reliability import BINS_HELP, BINS_LABEL, wander_sentence


def choose_bins(scene: Scene) -> None:
    """Show the number of bins where its effect is seen; the setting on the left is what counts."""
    st.session_state["bins_here"] = scene.settings.n_bins
    st.slider(BINS_LABEL, 1, 100, key="bins_here", help=BINS_HELP, on_change=_pass_on, width=240)


def _pass_on() -> None:
    st.session_state["bins"] = st.session_state["bins_here"]


def show(scene: Scene) -> None:
    """Show the ECE against the number of bins, before on the left and after on the right."""
    drawn, judged = compute.draw_sweep(scene), scene.judged
    st.subheader(BINS_MATTER, anchor=False)
    after = None if judged.after is judged.before else drawn.sweep_after
    st.markdown(wander_sentence(drawn.sweep_before, after, judged.n_samples))
    left, right = two_sides("sweep")
    with left:
        _show_side("Before", drawn.before, drawn.sweep_before, judged.n_samples)
    with right:
        _show_side("After", drawn.after, drawn.sweep_after, judged.n_samples)
    st.markdown(f":small[{SWEEP_NOTE}]")


def _show_side(name: str, figure: go.Figure, sweep: BinSweep, n_samples: int) -> None:
    st.markdown(f"**{name}**")
    show_graph(f"{name} bins", figure, sweep_caption(sweep, n_samples))
