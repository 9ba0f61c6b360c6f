"""The reliability diagrams of both sides, drawn in the way that is chosen."""

from collections.abc import Callable

import streamlit as st

from dashboard import compute, wording
from dashboard.figures import Diagram, reliability_diagram
from dashboard.parts.graph import show_graph, two_sides
from dashboard.scene import Scene
from dashboard.wording.reliability import plot_caption
from dashboard.wording.sentences import isotonic_caption, smoothed_caption

DIAGRAMS: dict[str, Diagram] = {
    "Bins": "bins",
    "Plot": "plot",
    "Isotonic (CORP)": "isotonic",
    "Smoothed": "smoothed",
}
CAPTIONS: dict[Diagram, Callable[..., str]] = {
    "bins": wording.reliability_caption,
    "plot": plot_caption,
    "isotonic": isotonic_caption,
    "smoothed": smoothed_caption,
}


def show_diagrams(scene: Scene, diagram: Diagram = "bins") -> None:
    """Show the diagram of each side."""
    judged = scene.judged
    places = two_sides("diagram")
    sides = (("Before", judged.before, judged.after), ("After", judged.after, judged.before))
    for place, (name, side, beside) in zip(places, sides, strict=True):
        if diagram == "bins":
            figure = compute.draw_reliability(scene, "before" if name == "Before" else "after")
        else:
            figure = reliability_diagram(side, beside, scene.palette, diagram)
        with place:
            st.markdown(f"**{name}**")
            caption = CAPTIONS[diagram](side, expert=scene.expert)
            show_graph(f"{name} reliability", figure, caption)


def choose_diagram() -> Diagram:
    """Let the user choose how the diagram is drawn."""
    chosen = st.segmented_control(
        "Draw the reliability diagram as",
        list(DIAGRAMS),
        default="Bins",
        required=True,
        key="reliability",
        bind="query-params",
        persist_state="session",
        help="Bins are the usual picture, and the plot has a point for each of them. The isotonic"
        " curve finds its own steps. The smoothed one averages the rows near each score.",
    )
    return DIAGRAMS[chosen or "Bins"]
