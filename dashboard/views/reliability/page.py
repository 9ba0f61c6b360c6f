"""Reliability: score against observed frequency, in bins and curves, and class by class."""

import streamlit as st

from calibcore.data import is_designed
from dashboard.compute.figures import draw_sweep
from dashboard.compute.verdict import badges_of
from dashboard.figures.plotly_json import Titles
from dashboard.scene import Scene
from dashboard.texts.power import BINS_MATTER, sweep_caption
from dashboard.texts.reliability import SWEEP_HELP, ranges_help, wander_sentence
from dashboard.texts.summaries import NO_LIST
from dashboard.texts.verdict import named_sides, where_off
from dashboard.views.reliability import classes
from dashboard.widgets import diagrams, graph, headline, rows_list
from dashboard.widgets.graph import show_graph, two_sides


def show(scene: Scene) -> None:
    """Show the page."""
    headline.show_subject(scene)
    first = headline.show_headline(scene, notes=True)
    diagram = diagrams.choose_diagram()
    graph.choose_side_on_phones(scene.evaluated)
    has_rows = scene.upload.summary is None
    diagrams.show_diagrams(scene, diagram, clickable=has_rows)
    _show_scores(scene)
    if has_rows:
        rows_list.show_chosen(scene)
    else:
        st.markdown(NO_LIST)
    if not is_designed(scene.rows):
        show_bins(scene)
    if has_rows:
        classes.show(scene)
    headline.show_next(scene, first)


def _show_scores(scene: Scene) -> None:
    """Show at which scores each side is miscalibrated, as Overview does."""
    evaluated = scene.evaluated
    shown, named = where_off(evaluated, badges_of(scene)), evaluated.calibrated
    lines = [f"- **{name}:** {text}" if named else text for name, text in shown.items()]
    note = ranges_help(evaluated.before, evaluated.after if named else None)
    st.markdown("\n".join(lines), help=note)


def show_bins(scene: Scene) -> None:
    """Show the ECE against the number of bins, before on the left and after on the right.

    Without a calibrator there is one side alone.
    """
    sides, evaluated = draw_sweep(scene), scene.evaluated
    st.subheader(BINS_MATTER, anchor=False, help=SWEEP_HELP)
    (_, before), (_, after) = sides
    beside = after if evaluated.calibrated else None
    st.markdown(wander_sentence(before, beside, evaluated.n_samples))
    names = named_sides(evaluated)
    places = two_sides("sweep", alone=len(names) == 1)
    for place, name, (figure, sweep) in zip(places, names, sides, strict=False):
        with place:
            note = sweep_caption(sweep, evaluated.n_samples)
            titles = Titles(side=name if len(names) > 1 else "")
            show_graph(f"{name} bins", figure, "", note, titles=titles)
