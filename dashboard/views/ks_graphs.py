"""KS graphs: the four cumulative and fractile graphs before and after."""

import streamlit as st

from calibcore.evaluation import Side
from dashboard import compute, wording
from dashboard.compute import SideFigures
from dashboard.parts import graph, headline
from dashboard.scene import Scene
from dashboard.wording.sentences import band_note


def show(scene: Scene) -> None:
    """Show the graphs before on the left and after on the right."""
    headline.show_verdict(scene)
    graph.choose_side_on_phones()
    judged = scene.judged
    left, right = graph.two_sides("graphs")
    with left:
        _show_side("Before", judged.before, compute.draw(scene, "before"), scene.where)
    with right:
        _show_side("After", judged.after, compute.draw(scene, "after"), scene.where)
    with st.expander("How to read these graphs"):
        st.markdown(wording.HOW_TO_READ)


def _show_side(name: str, side: Side, figures: SideFigures, where: str) -> None:
    st.subheader(name, anchor=False)
    note = band_note(side)
    st.markdown(f"**{wording.side_title(side, where)}**  \n:small[{note}]")
    graphs = figures.graphs
    panels = (
        ("a", graphs.cumulative_by_fractile, wording.cumulative_caption(side)),
        ("b", graphs.cumulative_by_score, wording.warped_caption(side)),
        ("c", graphs.frequency_by_fractile, wording.fractile_caption(side)),
        ("d", graphs.frequency_by_score, wording.score_caption(side)),
    )
    for pair in (panels[:2], panels[2:]):
        for column, (letter, figure, caption) in zip(st.columns(2, gap="small"), pair, strict=True):
            with column:
                graph.show_graph(f"{name} {letter}", figure, caption, note)
