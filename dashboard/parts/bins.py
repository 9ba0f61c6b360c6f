"""How much the number of bins matters."""

import streamlit as st

from dashboard import compute
from dashboard.figures.plotly_json import Titles
from dashboard.parts.graph import show_graph, two_sides
from dashboard.scene import Scene
from dashboard.wording.reach import BINS_MATTER, sweep_caption
from dashboard.wording.reliability import SWEEP_HELP, wander_sentence


def show(scene: Scene) -> None:
    """Show the ECE against the number of bins, before on the left and after on the right."""
    drawn, evaluated = compute.draw_sweep(scene), scene.evaluated
    st.subheader(BINS_MATTER, anchor=False, help=SWEEP_HELP)
    after = None if evaluated.after is evaluated.before else drawn.sweep_after
    st.markdown(wander_sentence(drawn.sweep_before, after, evaluated.n_samples))
    sides = (
        ("Before", drawn.before, drawn.sweep_before),
        ("After", drawn.after, drawn.sweep_after),
    )
    for place, (name, figure, sweep) in zip(two_sides("sweep"), sides, strict=True):
        with place:
            note = sweep_caption(sweep, evaluated.n_samples)
            show_graph(f"{name} bins", figure, "", note, titles=Titles(side=name))
