"""Cumulative (KS): the four cumulative and fractile graphs before and after."""

from dataclasses import dataclass
from functools import partial

import streamlit as st
from plotly import graph_objects as go

from calibcore.errors import CalibrationInputError
from calibcore.evaluation import Side
from calibcore.events import OneClass, TopR, WithinTopR
from dashboard.figures import FourGraphs, Palette, mark_rows
from dashboard.figures.plotly_json import Titles
from dashboard.scene import Scene
from dashboard.settings import ChosenEvent, SetChoice
from dashboard.texts.events import event_name, outcome_name
from dashboard.texts.rows import call_rows
from dashboard.texts.subgroups import SCORES
from dashboard.texts.subject import row_title
from dashboard.texts.verdict import refusal
from dashboard.views.ks_graphs import drawing, words
from dashboard.widgets import address, graph, headline, terms
from dashboard.widgets.links import show_link

WHICH = {"abcd": "All four", "ab": "(a) and (b)", "cd": "(c) and (d)"}

SETS: tuple[SetChoice, SetChoice] = ("calibration", "test")

TERMS = ("ks_error", "score", "probability", "fractile", "cumulative", "null_band", "knots")

_OFF = "Off"


@dataclass(frozen=True)
class _Shown:
    """How every row of graphs is shown."""

    letters: str
    fractile: float | None
    n_rows: int
    expert: bool


@dataclass(frozen=True)
class _Side:
    """One side of a row of graphs: before or after."""

    name: str
    side: Side
    gap: go.Figure
    graphs: FourGraphs
    captions: drawing.Captions


def show(scene: Scene) -> None:
    """Show the graphs before on the left and after on the right, a row for each set and event."""
    headline.show_subject(scene)
    headline.show_headline(scene, notes=True)
    _show_graphs(scene)
    _show_fit(scene)
    with st.expander("How to read these graphs"):
        st.markdown(words.how_to_read(expert=scene.expert))
        terms.show_terms(TERMS)


@st.fragment
def _show_graphs(scene: Scene) -> None:
    """Show the graphs with their controls, none of which changes anything else on the page."""
    call_rows(scene.rows_are)  # a run of this part alone begins here
    head = st.container(horizontal=True, vertical_alignment="center", gap="medium", key="ks_head")
    with head, st.popover(words.VIEW, icon=":material/tune:"):
        second = _choose_second(scene)
        both = not scene.crossed and _choose_both()
        chosen_sets = SETS if both else (scene.chosen,)
        scenes = [scene, *_second_scene(scene, second)]
        n_rows = len(scenes) * len(chosen_sets)
        letters = _choose_graphs(n_rows)
        fractile = _choose_fractile()
    shown = _Shown(letters, fractile, n_rows, scene.expert)
    note = words.band_note(scene.evaluated.before, expert=scene.expert)
    note = f"{words.errors_note(scene.evaluated)} {note}"
    head.markdown(f":small[{note}]", width="content")
    graph.choose_side_on_phones()
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
    chosen = address.choose(
        st.selectbox,
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


def _choose_both() -> bool:
    return st.toggle(
        words.BOTH_SETS,
        key="both_sets",
        **address.IN_ADDRESS,
        help=words.BOTH_SETS_HELP,
    )


def _choose_graphs(n_rows: int) -> str:
    """Show the choice of which of the four graphs are drawn, as many as a page can hold."""
    fits = {p: name for p, name in WHICH.items() if 2 * n_rows * len(p) <= drawing.MOST_FIGURES}
    return address.choose(
        st.segmented_control,
        words.WHICH,
        fits,
        key="graphs" if len(fits) == len(WHICH) else "graphs_few",
        default=next(iter(fits)),
        required=True,
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


def _show_row(scene: Scene, alike: list[Scene], shown: _Shown, suffix: str) -> None:
    """Show the graphs of one event on one set."""
    if shown.n_rows > 1:
        st.subheader(row_title(scene), anchor=False, divider="gray")
    n_figures = 2 * shown.n_rows * len(shown.letters)
    drawn = drawing.draw_graphs(scene, alike=alike, n_figures=n_figures)
    gaps = drawing.draw_gaps(scene, alike=alike, n_figures=n_figures)
    captions = drawing.captions_of(scene)
    evaluated = scene.evaluated
    both = ("Before", "After"), (evaluated.before, evaluated.after), gaps, drawn, captions
    sides = [_Side(*one) for one in zip(*both, strict=True)]
    number = suffix.replace(" ", "_")
    # Row by row, so that before and after stand at one height whatever is longer.
    if shown.fractile is not None:
        for place, one in zip(graph.two_sides(f"heads{number}"), sides, strict=True):
            with place:
                _show_head(one.name, one.side, shown)
    for place, one in zip(graph.two_sides(f"gaps{number}"), sides, strict=True):
        with place:
            if shown.fractile is None:
                _show_head(one.name, one.side, shown)
            _show_gap(one, suffix, shown, scene.palette)
    for first in range(0, len(shown.letters), 2):
        pair = shown.letters[first : first + 2]
        places = graph.two_sides(f"graphs{number}" if first == 0 else f"graphs{number}_{pair}")
        for place, one in zip(places, sides, strict=True):
            with place:
                _show_pair(one, pair, suffix, shown, scene.palette)


def _show_head(name: str, side: Side, shown: _Shown) -> None:
    """Show whose graphs these are, and the numbers of the marked rows."""
    marked = ""
    if shown.fractile is not None:
        sentence = words.cursor_sentence(side, shown.fractile, expert=shown.expert)
        marked = f"  \n:small[{sentence}]"
    st.markdown(f"**{name}**{marked}")


def _show_gap(one: _Side, suffix: str, shown: _Shown, palette: Palette) -> None:
    note = words.band_note(one.side, expert=shown.expert)
    mark = None
    if shown.fractile is not None:
        mark = mark_rows(one.side, shown.fractile, palette)["gap"]
    titles = Titles(write=partial(words.titled, expert=shown.expert))
    key = f"{one.name} gap{suffix}"
    graph.show_graph(key, one.gap, one.captions["gap"], note, mark=mark, titles=titles)


def _show_pair(one: _Side, pair: str, suffix: str, shown: _Shown, palette: Palette) -> None:
    note = words.band_note(one.side, expert=shown.expert)
    marks = {} if shown.fractile is None else mark_rows(one.side, shown.fractile, palette)
    key = f"narrow_{one.name}_{pair}{suffix.replace(' ', '_')}"
    columns = st.container(key=key).columns(2, gap="small")
    for column, letter in zip(columns, pair, strict=True):
        figure, _ = drawing.PANELS[letter]
        key = f"{one.name} {letter}{suffix}"
        with column:
            graph.show_graph(
                key,
                figure(one.graphs),
                one.captions[letter],
                note,
                mark=marks.get(letter),
                titles=Titles(write=partial(words.titled, expert=shown.expert)),
            )


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
