"""Reliability: score against observed frequency, in bins and curves, and class by class."""

import streamlit as st

from dashboard.parts import bins, classes, diagrams, graph, headline, rows_list
from dashboard.scene import Scene
from dashboard.wording.reliability import counted_note, scores_sentence


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
    """Show at which scores each side is miscalibrated; the details are in the tooltip."""
    before, after = scene.evaluated.before, scene.evaluated.after
    if after is before:
        note = counted_note(before, None)
        st.markdown(scores_sentence(before, expert=scene.expert), help=note)
        return
    sides = (("Before", before), ("After", after))
    lines = (f"- {scores_sentence(side, name, expert=scene.expert)}" for name, side in sides)
    st.markdown("\n".join(lines), help=counted_note(before, after))
