"""Cumulative (KS): the four cumulative and fractile graphs before and after."""

import weakref
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from calibcore.errors import CalibrationInputError
from calibcore.evaluation import Side
from calibcore.events import OneClass, TopR, WithinTopR
from dashboard.compute.cache import key_of, once
from dashboard.document.blocks import Picture
from dashboard.figures.plotly_json import Titles
from dashboard.scene import Scene
from dashboard.settings import SETS, ChosenEvent
from dashboard.texts.events import event_name, outcome_name
from dashboard.texts.refusal import refusal
from dashboard.texts.rows import call_rows
from dashboard.texts.subgroups import SCORES
from dashboard.texts.subject import row_title
from dashboard.texts.verdict import named_sides
from dashboard.views.ks_graphs import drawing, words
from dashboard.views.ks_graphs.document import document, note_of
from dashboard.widgets import address, graph, headline, terms
from dashboard.widgets.blocks import show_picture
from dashboard.widgets.links import show_link

WHICH = {"abcd": "All four", "ab": "(a) and (b)", "cd": "(c) and (d)"}


TERMS = ("ks_error", "score", "probability", "fractile", "cumulative", "null_band", "knots")

_OFF = "Off"


@dataclass(frozen=True)
class _GraphLook:
    """How every row of graphs is shown."""

    letters: str
    fractile: float | None
    n_rows: int


def show(scene: Scene) -> None:
    """Show the graphs before on the left and after on the right, a row for each set and event."""
    headline.show_subject(scene)
    first = headline.show_headline(scene, notes=True)
    _show_graphs(_held(scene))
    _show_fit(scene)
    with st.expander("How to read these graphs"):
        st.markdown(words.how_to_read(expert=scene.expert))
        terms.show_terms(TERMS)
    headline.show_next(scene, first)


def _held(scene: Scene) -> "weakref.ref[Scene]":
    """Let a scene go with other results: Streamlit keeps what it gives to a part of the page."""
    key = key_of(scene.upload, scene.settings), scene.chosen, scene.waiting, scene.n_resamples
    return weakref.ref(
        once("scenes", (key, scene.expert, scene.palette, scene.rows_are), lambda: scene)
    )


@st.fragment
def _show_graphs(held: "weakref.ref[Scene]") -> None:
    """Show the graphs with their controls, none of which changes anything else on the page."""
    scene = held()  # a run of this part alone begins here
    if scene is None:
        st.rerun()
    call_rows(scene.rows_are)
    head = st.container(horizontal=True, vertical_alignment="center", gap="medium", key="ks_head")
    with head, st.popover(words.VIEW, icon=":material/tune:"):
        second = _choose_second(scene)
        both = not scene.in_folds and address.choose_switch(
            words.BOTH_SETS, key="both_sets", help=words.BOTH_SETS_HELP
        )
        chosen_sets = SETS if both else (scene.chosen,)
        scenes = [scene, *_second_scene(scene, second)]
        n_rows = len(scenes) * len(chosen_sets)
        letters = _choose_graphs(n_rows)
        fractile = _choose_fractile()
    shown = _GraphLook(letters, fractile, n_rows)
    head.markdown(f":small[{note_of(scene).lines[0]}]", width="content")
    graph.choose_side_on_phones(scene.evaluated)
    number = 0
    for one in scenes:
        rows = [drawing.on_set(one, name) for name in chosen_sets]
        for row in rows:
            number += 1
            _show_row(row, rows, shown, "" if number == 1 else f" {number}")


# Controls -----------------------------------------------------------------------------------


def _choose_second(scene: Scene) -> ChosenEvent | None:
    """Show the choice of an event to compare with; none for data of one event.

    A subgroup by the score of an event is none of another event.
    """
    names, outcome, only = scene.class_names, outcome_name(scene.upload), scene.settings.only
    if names is None or (only is not None and only.by in SCORES):
        return None
    events: list[ChosenEvent] = [TopR(r) for r in range(1, len(names) + 1)]
    events += [WithinTopR(r) for r in range(2, len(names))]
    events += [OneClass(k) for k in range(len(names))]
    offered = {_word(event, names): event for event in events if event != scene.settings.event}
    chosen = address.choose_box(
        words.SECOND_EVENT,
        {_OFF: words.NO_SECOND}
        | {word: event_name(one, names, outcome) for word, one in offered.items()},
        key="second",
        default=_OFF,
        help=words.SECOND_EVENT_HELP,
        width=220,
    )
    return offered.get(chosen)


def _word(event: ChosenEvent, names: tuple[str, ...]) -> str:
    """Return the word for an event in the address."""
    match event:
        case OneClass(k):
            return f"class_{names[k]}"
        case WithinTopR(r):
            return f"within_{r}"
        case TopR(r):
            return f"top_{r}"


def _choose_graphs(n_rows: int) -> str:
    """Show the choice of which of the four graphs are drawn, as many as a page can hold."""
    fits = {p: name for p, name in WHICH.items() if 2 * n_rows * len(p) <= drawing.MOST_FIGURES}
    return address.choose_button(
        words.WHICH,
        fits,
        key="graphs" if len(fits) == len(WHICH) else "graphs_few",
        default=next(iter(fits)),
        help=words.WHICH_HELP,
        width="content",
    )


def _choose_fractile() -> float | None:
    """Show the choice of where to mark the same rows in all graphs; None for nowhere."""
    chosen = st.select_slider(
        words.FRACTILE_CURSOR,
        [_OFF, *(str(percent) for percent in range(101))],
        _OFF,
        key="fractile",
        **address.IN_ADDRESS,
        help=words.CURSOR_HELP,
        width=260,
    )
    return None if chosen == _OFF else int(chosen) / 100


def _second_scene(scene: Scene, event: ChosenEvent | None) -> list[Scene]:
    """Return the scene of the second event; show why not where the calibrator refuses it."""
    if event is None:
        return []
    try:
        return [drawing.with_event(scene, event)]
    except CalibrationInputError as error:
        st.info(refusal(error), icon=":material/info:")
        return []


# Graphs -------------------------------------------------------------------------------------


def _show_row(scene: Scene, alike: list[Scene], shown: _GraphLook, suffix: str) -> None:
    """Show the graphs of one event on one set."""
    if shown.n_rows > 1:
        st.subheader(row_title(scene), anchor=False, divider="gray")
    gap, *panels = document(
        scene, shown.letters, alike=alike, n_rows=shown.n_rows, fractile=shown.fractile
    )
    evaluated, number = scene.evaluated, suffix.replace(" ", "_")
    heads = [
        _head(name, side, shown.fractile, expert=scene.expert)
        for name, side in named_sides(evaluated).items()
    ]
    alone = len(heads) == 1
    # Row by row, so that before and after stand at one height whatever is longer.
    if shown.fractile is not None:
        places = graph.two_sides(f"heads{number}", alone=alone)
        for place, head in zip(places, heads, strict=False):
            place.markdown(head)
    places = graph.two_sides(f"gaps{number}", alone=alone)
    for place, head, one in zip(places, heads, gap.pictures, strict=False):
        with place:
            if shown.fractile is None and evaluated.calibrated:
                st.markdown(head)
            _show_picture(one, suffix)
    for first in range(0, len(panels), 2):
        pair = panels[first : first + 2]
        name = f"{number}_{pair[0].key}" if first else number
        for side, place in enumerate(graph.two_sides(f"graphs{name}", alone=alone)[: len(heads)]):
            with place, st.container(key=f"narrow_{side}{name}"):
                for column, panel in zip(st.columns(2, gap="small"), pair, strict=True):
                    with column:
                        _show_picture(panel.pictures[side], suffix)


def _head(name: str, side: Side, fractile: float | None, *, expert: bool) -> str:
    """Return whose graphs these are, and the numbers of the marked rows."""
    if fractile is None:
        return f"**{name}**"
    return f"**{name}**  \n:small[{words.cursor_sentence(side, fractile, expert=expert)}]"


def _show_picture(one: Picture, suffix: str) -> None:
    """Show a graph, whose side the head names."""
    titles = replace(one.titles, side="")
    show_picture(replace(one, key=f"{one.key}{suffix}", titles=titles))


def _show_fit(scene: Scene) -> None:
    """Show the spline over what it was fitted to, closed at first, where the calibrator is one."""
    fit = drawing.spline_fit(scene)
    if fit is None:
        return
    caption = words.fit_caption(fit, expert=scene.expert)
    titles = Titles(write=partial(words.titled, expert=scene.expert))
    with st.expander(words.FIT_HEADING):
        graph.show_graph("Fit spline", drawing.draw_fit(scene, fit), caption, titles=titles)
        show_link("maps", words.FIT_LINK)
