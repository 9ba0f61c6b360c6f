"""What the chosen calibrator has learned, closed at first."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from calibcore.events import OneClass
from dashboard.compute.fits import fit_seconds
from dashboard.compute.slices import slicing_of
from dashboard.figures.weights import MOST_CLASSES, weights_map
from dashboard.parts.graph import show_graph
from dashboard.parts.tables import cell, table
from dashboard.scene import Scene
from dashboard.wording import fitted as words

_TALL = 12
"""Lines from which on a table scrolls in a box of its own."""


def show(scene: Scene) -> None:
    """Show the fitted numbers; nothing where there is no calibrator."""
    fitted, group = scene.result.fitted, scene.settings.group
    if fitted is None:
        return
    with st.expander(words.TITLE):
        seconds = fit_seconds(scene.upload, replace(scene.settings, only=None))
        st.markdown(f":small[{words.fitted_on(scene.split.calibration.n_samples, seconds)}]")
        for place, node in enumerate(words.nodes(fitted)):
            _show_node(scene, node, place)
        if group is not None:
            listed = words.groups(fitted, slicing_of(scene.upload, scene.settings, group).shown)
            st.markdown(words.GROUPS)
            _show_listed("fitted_groups", listed)


def _show_node(scene: Scene, node: words.Node, place: int) -> None:
    """Show one map of a part: the only one, or that of a class or rank that the user chooses."""
    names = scene.class_names or ()
    if node.title:
        st.markdown(f"**{node.title}**")
    fitted = node.maps[_choose(scene, node, names) if node.choose else 0]
    shown, matrix = words.describe(fitted, names), words.matrix(fitted)
    if shown.sentence:
        st.markdown(shown.sentence)
    if matrix is not None and len(names) <= MOST_CLASSES:
        figure = weights_map(*matrix, names, words.WEIGHTS, scene.palette)
        show_graph(f"Weights {place}", figure, words.WEIGHTS_CAPTION)
    _show_listed(f"fitted_{place}", shown.listed)


def _choose(scene: Scene, node: words.Node, names: Sequence[str]) -> int:
    """Let the user choose a class or a rank; at first that of the event."""
    by_class, event = node.choose == words.CLASS, scene.settings.event
    chosen = st.selectbox(
        node.choose,
        range(len(node.maps)),
        event.k if by_class and isinstance(event, OneClass) else 0,
        format_func=lambda place: names[place] if by_class else f"{place + 1}",
        key="fitted_class" if by_class else "fitted_rank",
        width=280,
    )
    return int(chosen or 0)


def _show_listed(key: str, listed: words.Listed | None) -> None:
    if listed is not None:
        with st.container(key=key, height=380 if len(listed.rows) > _TALL else "content"):
            st.html(_table(listed))


def _table(listed: words.Listed) -> str:
    return table(
        "measures parameters",
        [cell(name) for name in listed.heads],
        [[cell(text) for text in row] for row in listed.rows],
    )
