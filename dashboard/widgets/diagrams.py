"""The reliability diagrams of both sides, drawn as chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import streamlit as st

from calibcore.evaluation import Side
from dashboard.compute.figures import diagrams_of
from dashboard.figures import Diagram, reliability_diagram
from dashboard.figures.layout import harmless
from dashboard.figures.plotly_json import Titles
from dashboard.figures.reliability import TITLES
from dashboard.scene import Scene
from dashboard.texts.reliability import DIAGRAM_HELP, DIAGRAM_LABEL
from dashboard.texts.rows import say_rows
from dashboard.widgets import address
from dashboard.widgets.blocks import show_picture
from dashboard.widgets.graph import key_of, show_graph, two_sides
from dashboard.widgets.rows_list import on_click

DIAGRAMS: dict[Diagram, str] = {
    "bins": "Bins",
    "plot": "Plot",
    "isotonic": "Isotonic (CORP)",
    "smoothed": "Smoothed",
    "belt": "Belt",
}


def show_diagrams(scene: Scene, diagram: Diagram = "bins", *, clickable: bool = False) -> None:
    """Show the diagram of each side; a click on a bin may choose the rows that are listed."""
    pictures = diagrams_of(scene, diagram).pictures
    places = two_sides("diagram", alone=len(pictures) == 1)
    for place, one in zip(places, pictures, strict=False):
        with place:
            click = None
            if clickable and diagram in {"bins", "plot"}:
                after = one.titles.side == "After"
                side = scene.evaluated.after if after else scene.evaluated.before
                click = on_click(scene, key_of(one.key), side.bins, after=after)
            show_picture(one, on_click=click)


def choose_diagram() -> Diagram:
    """Show the choice of how the diagram is drawn."""
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
