"""The reliability diagrams of both sides, drawn as chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import streamlit as st

from calibcore.data import is_designed
from calibcore.evaluation import Side
from dashboard.compute.figures import draw_reliability
from dashboard.figures import Diagram, reliability_diagram
from dashboard.figures.layout import harmless
from dashboard.figures.plotly_json import Titles
from dashboard.figures.reliability import TITLES
from dashboard.scene import Scene
from dashboard.texts.design import NO_CURVES
from dashboard.texts.events import EventWords
from dashboard.texts.reliability import (
    DIAGRAM_HELP,
    DIAGRAM_LABEL,
    bins_caption,
    isotonic_caption,
    of_event,
    plot_caption,
    smoothed_caption,
)
from dashboard.texts.rows import say_rows
from dashboard.widgets import address
from dashboard.widgets.graph import key_of, show_graph, two_sides
from dashboard.widgets.rows_list import on_click

DIAGRAMS: dict[Diagram, str] = {
    "bins": "Bins",
    "plot": "Plot",
    "isotonic": "Isotonic (CORP)",
    "smoothed": "Smoothed",
}
CAPTIONS: dict[Diagram, Callable[..., str]] = {
    "bins": bins_caption,
    "plot": plot_caption,
    "isotonic": isotonic_caption,
    "smoothed": smoothed_caption,
}


def show_diagrams(scene: Scene, diagram: Diagram = "bins", *, clickable: bool = False) -> None:
    """Show the diagram of each side; a click on a bin may choose the rows that are listed."""
    evaluated = scene.evaluated
    places = two_sides("diagram")
    sides = (
        ("Before", evaluated.before, evaluated.after),
        ("After", evaluated.after, evaluated.before),
    )
    for place, (name, side, beside) in zip(places, sides, strict=True):
        if diagram == "bins":
            figure = draw_reliability(scene, "before" if name == "Before" else "after")
        else:
            figure = reliability_diagram(side, beside, scene.palette, diagram)
        with place:
            caption = CAPTIONS[diagram](side, expert=scene.expert)
            titles = Titles(side=name, write=partial(_title, event=scene.event_words))
            key = f"{name} reliability"
            click = None
            if clickable and diagram in {"bins", "plot"}:
                click = on_click(scene, key_of(key), side.bins, after=name == "After")
            show_graph(key, figure, caption, titles=titles, on_click=click)


def _title(title: str, event: EventWords) -> str:
    named = of_event(title, event=event)
    return say_rows(title) if named == title else harmless(named)


def choose_diagram(scene: Scene) -> Diagram:
    """Show the choice of how the diagram is drawn."""
    if is_designed(scene.rows):
        st.markdown(f":small[{NO_CURVES}]")
        return "bins"
    chosen = address.choose_button(
        DIAGRAM_LABEL,
        {str(key): name for key, name in DIAGRAMS.items()},
        key="reliability",
        default="bins",
        help=DIAGRAM_HELP,
    )
    return cast("Diagram", chosen)


A_LINE = 3
"""Diagrams on a line; two are wider."""

_LETTERS = 52
"""Of a name over a diagram, at most."""


@dataclass(frozen=True, eq=False)
class Panel:
    """One diagram."""

    name: str
    """Of the calibrator or model; plain text."""
    line: str
    """Its figures, for Markdown."""
    side: Side
    """What is drawn."""


def show_panels(scene: Scene, panels: Sequence[Panel], diagram: Diagram, *, key: str) -> None:
    """Show the diagrams, each titled by its name, over histograms of the same scale.

    ``scene``: of the page. ``panels``: at least one. ``diagram``: how they are drawn. ``key``: of
    the diagrams, unique on the page.
    """
    a_line = min(max(len(panels), 2), A_LINE)
    highest = max((one.side for one in panels), key=_highest)
    for start in range(0, len(panels), a_line):
        columns = st.columns(a_line, gap="small")
        for column, one in zip(columns, panels[start : start + a_line], strict=False):
            with column:
                _show_panel(scene, one, highest, diagram, key)


def _show_panel(scene: Scene, one: Panel, highest: Side, diagram: Diagram, key: str) -> None:
    def write(title: str) -> str:
        return harmless(_cut(one.name)) if title == TITLES[diagram] else say_rows(title)

    figure = reliability_diagram(one.side, highest, scene.palette, diagram)
    show_graph(f"Diagram {key} {one.name}", figure, one.line, titles=Titles(write=write))


def _cut(name: str) -> str:
    """Return a name that fits over a diagram; its end, where variants differ, stays."""
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 25]}\u2026{name[-24:]}"


def _highest(side: Side) -> float:
    counts = side.bins.counts
    return float(counts.max() / counts.sum())
