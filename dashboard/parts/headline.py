"""The conclusion, and the four figures that matter most."""

import streamlit as st

from dashboard import wording
from dashboard.scene import Scene
from dashboard.wording.reach import power_sentence


def show_verdict(scene: Scene) -> None:
    """Say the conclusion in two sentences."""
    judged = scene.judged
    found = wording.verdict(
        judged.before, wording.event_words(scene.settings.event, scene.class_names)
    )
    with st.container(key="verdict"):
        st.markdown(f":{found.colour}-badge[{found.icon} {found.word}]")
        st.subheader(found.sentence, anchor=False)
        st.markdown(wording.outcome(scene.result, judged, scene.settings.method))
    if scene.chosen == "calibration":
        st.info(wording.FITTED_HERE, icon=":material/info:")
    if scene.result.same_data:
        st.warning(wording.SAME_DATA, icon=":material/warning:")


def show_tiles(scene: Scene) -> None:
    """Show the four figures before and after, what the fit warns of, and what rows can show."""
    judged = scene.judged
    with st.container(key="tiles"):
        columns = st.columns(4)
        for column, tile in zip(columns, wording.tiles(judged), strict=True):
            column.metric(
                tile.name,
                tile.value,
                delta=tile.note,
                delta_color=tile.colour,
                delta_arrow="off",
                help=tile.definition,
                border=True,
            )
    st.markdown(f":small[{wording.below_tiles(judged)}]")
    for sentence in scene.result.warnings:
        st.markdown(f":small[:material/warning: {wording.escape_markdown(sentence)}]")
    st.markdown(f":small[{power_sentence(judged.before, judged.n_samples)}]")
