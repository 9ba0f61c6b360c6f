"""What the chosen calibrator has learned, closed at first."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from calibcore.calibrators.base import Fitted
from calibcore.calibrators.lifts.by_group import FittedByGroup
from calibcore.calibrators.lifts.chain import FittedChain
from calibcore.calibrators.lifts.pooled import FittedPooledClasses, FittedPooledScores
from calibcore.calibrators.lifts.separate import FittedOneVsRest, FittedPerRank
from calibcore.calibrators.linear.fitted import FittedLinear
from calibcore.events import OneClass
from dashboard.compute.fits import fit_seconds
from dashboard.compute.slices import slicing_of
from dashboard.figures.weights import MOST_CLASSES, weights_map
from dashboard.parts.graph import show_graph
from dashboard.scene import Scene
from dashboard.wording import fitted as words

_TALL = 12
"""Lines from which on a table scrolls in a box of its own."""


def show(scene: Scene) -> None:
    """Show the fitted numbers; nothing where there is no calibrator."""
    fitted = scene.result.fitted
    if fitted is None:
        return
    with st.expander(words.TITLE):
        seconds = fit_seconds(scene.upload, replace(scene.settings, only=None))
        st.markdown(f":small[{words.fitted_on(scene.split.calibration.n_samples, seconds)}]")
        _show(scene, fitted)


def _show(scene: Scene, fitted: Fitted) -> None:
    match fitted:
        case FittedChain(first=first, second=second):
            for title, one in ((words.FIRST, first), (words.SECOND, second)):
                st.markdown(f"**{title}**")
                _show(scene, one)
        case FittedOneVsRest(score_maps=maps) | FittedPerRank(score_maps=maps):
            _show(scene, maps[_choose(scene, fitted, len(maps))])
        case FittedPooledClasses(score_map=inner) | FittedPooledScores(score_map=inner):
            st.markdown(words.SHARED)
            _show(scene, inner)
        case FittedByGroup(score_map=inner):
            _show(scene, inner)
            if scene.settings.group is not None:
                names = slicing_of(scene.upload, scene.settings, scene.settings.group).shown
                _show_listed("groups", words.groups(fitted, names))
        case _:
            _show_numbers(scene, fitted)


def _choose(scene: Scene, fitted: Fitted, n_maps: int) -> int:
    """Let the user choose a class or a rank; at first that of the event."""
    names, event = scene.class_names or (), scene.settings.event
    by_class = isinstance(fitted, FittedOneVsRest)
    first = event.k if by_class and isinstance(event, OneClass) else 0
    place = st.selectbox(
        words.CLASS if by_class else words.RANK,
        range(n_maps),
        first,
        format_func=lambda place: names[place] if by_class else f"{place + 1}",
        key="fitted_class" if by_class else "fitted_rank",
        width=280,
    )
    return int(place or 0)


def _show_numbers(scene: Scene, fitted: Fitted) -> None:
    names = scene.class_names or ()
    shown = words.describe(fitted, names)
    if shown.sentence:
        st.markdown(shown.sentence)
    if isinstance(fitted, FittedLinear) and words.is_matrix(fitted) and len(names) <= MOST_CLASSES:
        figure = weights_map(fitted, names, words.WEIGHTS, scene.palette)
        show_graph("Weights", figure, words.WEIGHTS_CAPTION)
    if shown.listed is not None:
        _show_listed("numbers", shown.listed)


def _show_listed(key: str, listed: words.Listed) -> None:
    tall = len(listed.rows) > _TALL
    with st.container(key=f"fitted_{key}", height=380 if tall else "content", border=False):
        st.html(_table(listed.heads, listed.rows))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in heads)
    body = "".join(
        f"<tr><th scope='row'>{escape(name)}</th>"
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in rows
    )
    return (
        "<table class='measures parameters' tabindex='0'><thead><tr>"
        f"{head}</tr></thead><tbody>{body}</tbody></table>"
    )
