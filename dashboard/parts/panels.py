"""Reliability diagrams of several calibrators or models, next to each other."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from calibcore.evaluation import Side
from dashboard.figures import Diagram, reliability_diagram
from dashboard.figures.sent import LightFigure
from dashboard.parts.graph import key_of
from dashboard.scene import Scene
from dashboard.wording.classes import shortened
from dashboard.wording.numbers import escape_markdown

A_LINE = 3
"""Diagrams on a line."""


@dataclass(frozen=True, eq=False)
class Panel:
    """One diagram.

    Parameters
    ----------
    name : str
        Of the calibrator or model; plain text.
    line : str
        Its figures, for Markdown.
    side : Side
        What is drawn.
    """

    name: str
    line: str
    side: Side


def show_panels(
    scene: Scene, panels: Sequence[Panel], diagram: Diagram, *, key: str, a_line: int = A_LINE
) -> None:
    """Show the diagrams over histograms of the same scale.

    Parameters
    ----------
    scene : Scene
        Of the page.
    panels : sequence of Panel
        At least one.
    diagram : {"bins", "plot", "isotonic", "smoothed"}
        How they are drawn.
    key : str
        Of the diagrams, unique on the page.
    a_line : int, default `A_LINE`
        Diagrams on a line.
    """
    highest = max((one.side for one in panels), key=_highest)
    for start in range(0, len(panels), a_line):
        columns = st.columns(a_line, gap="small")
        for column, one in zip(columns, panels[start : start + a_line], strict=False):
            with column:
                _show_panel(scene, one, highest, diagram, key)


def _show_panel(scene: Scene, one: Panel, highest: Side, diagram: Diagram, key: str) -> None:
    st.markdown(f"**{escape_markdown(shortened(one.name))}**  \n:small[{one.line}]")
    figure = reliability_diagram(one.side, highest, scene.palette, diagram)
    st.plotly_chart(
        LightFigure(figure, scene.palette),
        theme=None,
        key=key_of(f"{key} {one.name}"),
        config={"displayModeBar": False},
        alt=f"{one.name}: {figure.layout.title.text}. {one.line}",
    )


def _highest(side: Side) -> float:
    counts = side.bins.counts
    return float(counts.max() / counts.sum())
