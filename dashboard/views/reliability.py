"""Reliability: score against observed frequency, in bins and curves, and class by class."""

import streamlit as st

from dashboard.compute.recommendations import ranges_by_side
from dashboard.parts import bins, classes, diagrams, graph, headline, rows_list
from dashboard.scene import Scene
from dashboard.wording.reliability import ranges_help


def show(scene: Scene) -> None:
    """Show the page."""
    headline.show_subject(scene)
    headline.show_verdict(scene, brief=True, ranges=False)
    diagram = diagrams.choose_diagram()
    graph.choose_side_on_phones()
    diagrams.show_diagrams(scene, diagram, clickable=True)
    _show_scores(scene)
    rows_list.show_chosen(scene)
    bins.show(scene)
    classes.show(scene)


def _show_scores(scene: Scene) -> None:
    """Show at which scores each side is miscalibrated, as Overview does."""
    before, after = scene.evaluated.before, scene.evaluated.after
    shown = ranges_by_side(scene)
    named = after is not before
    lines = [f"- **{name}:** {text}" if named else text for name, text in shown.items()]
    note = ranges_help(before, None if after is before else after)
    st.markdown("\n".join(lines), help=note)
