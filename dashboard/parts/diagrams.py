"""The reliability diagrams of both sides, drawn as chosen."""

from collections.abc import Callable
from functools import partial
from typing import cast

import streamlit as st

from dashboard import compute
from dashboard.figures import Diagram, reliability_diagram
from dashboard.figures.layout import harmless
from dashboard.figures.plotly_json import Titles
from dashboard.parts import address
from dashboard.parts.graph import key_of, show_graph, two_sides
from dashboard.parts.rows_list import on_click
from dashboard.scene import Scene
from dashboard.wording.events import EventWords
from dashboard.wording.reliability import (
    DIAGRAM_HELP,
    DIAGRAM_LABEL,
    bins_caption,
    isotonic_caption,
    of_event,
    plot_caption,
    smoothed_caption,
)
from dashboard.wording.rows import say_rows

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
            figure = compute.draw_reliability(scene, "before" if name == "Before" else "after")
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


def choose_diagram() -> Diagram:
    """Show the choice of how the diagram is drawn."""
    chosen = address.choose(
        st.segmented_control,
        DIAGRAM_LABEL,
        {str(key): name for key, name in DIAGRAMS.items()},
        key="reliability",
        default="bins",
        required=True,
        help=DIAGRAM_HELP,
    )
    return cast("Diagram", chosen)
