"""How much the number of bins matters, drawn when it is asked for."""

import streamlit as st
from plotly import graph_objects as go

from calibcore.metrics.bins import BinSweep
from dashboard import compute
from dashboard.scene import Scene
from dashboard.wording.reach import BINS_MATTER, SWEEP_NOTE, sweep_caption


def show(scene: Scene) -> None:
    """Show the ECE against the number of bins, before on the left and after on the right."""
    place = st.expander(BINS_MATTER, key="bins_matter", on_change="rerun")
    if not place.open:
        return
    drawn, n_samples = compute.draw_sweep(scene), scene.judged.n_samples
    with place:
        left, right = st.columns(2, gap="medium")
        with left:
            _show_side("Before", drawn.before, drawn.sweep_before, n_samples)
        with right:
            _show_side("After", drawn.after, drawn.sweep_after, n_samples)
        st.markdown(f":small[{SWEEP_NOTE}]")


def _show_side(name: str, figure: go.Figure, sweep: BinSweep, n_samples: int) -> None:
    caption = sweep_caption(sweep, n_samples)
    st.markdown(f"**{name}**")
    st.plotly_chart(
        figure,
        key=f"{name.lower()}_bins",
        config={"displayModeBar": False},
        alt=f"{name}: {figure.layout.title.text}. {caption}",
    )
    st.markdown(f":small[{caption}]")
