"""Reliability: said against seen, in bins and curves, and class by class."""

import streamlit as st

from dashboard.parts import bins, classes, diagrams, graph, headline
from dashboard.scene import Scene
from dashboard.wording.reliability import DIAGRAM_HEADING, counted_note, scores_sentence


def show(scene: Scene) -> None:
    """Show the page."""
    headline.show_subject(scene)
    headline.show_verdict(scene)
    judged = scene.judged
    after = None if judged.after is judged.before else judged.after
    st.subheader(DIAGRAM_HEADING, anchor=False)
    st.markdown(
        f"{scores_sentence(judged.before, after, expert=scene.expert)}"
        f"  \n:small[{counted_note(judged.before, after)}]"
    )
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        diagram = diagrams.choose_diagram()
        bins.choose_bins(scene)
    graph.choose_side_on_phones()
    diagrams.show_diagrams(scene, diagram)
    bins.show(scene)
    classes.show(scene)
