"""Overview: the verdict, its picture, what calibration changed, recommendations, measures."""

import streamlit as st

from dashboard.parts import diagrams, graph, headline, measures, terms
from dashboard.scene import Scene

TERMS = (
    "score",
    "observed_frequency",
    "calibrator",
    "calibration_set",
    "test_set",
    "decision",
    "null_band",
)


def show(scene: Scene) -> None:
    """Show the page."""
    headline.show_subject(scene)
    headline.show_verdict(scene)
    gap = st.container(key="mean_gap").empty()
    worst = st.container(key="worst_subgroup").empty()
    graph.choose_side_on_phones()
    diagrams.show_diagrams(scene)
    figures = headline.Figures(scene, gap, worst)
    inference = measures.show(scene)
    if inference is not None:
        figures.show(inference)
    terms.show_terms(TERMS)
