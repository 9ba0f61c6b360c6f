"""What a comparison of calibrators lets one say, above its picture."""

import streamlit as st

from calibcore.contest import Contestant, Picks
from dashboard.compute import Dealt
from dashboard.compute.contest_conclusion import conclusion_of
from dashboard.scene import Scene
from dashboard.wording import contest as words
from dashboard.wording.rows import say_rows


def show(scene: Scene, picks: Picks, among: list[Contestant], dealt: Dealt) -> None:
    """Show what is known of the best, of those that are level, and of the test set."""
    with st.spinner(words.TESTING):
        said = conclusion_of(scene, picks, among, dealt)
    if said.head:
        st.subheader(said.head, anchor=False)
        small = f":small[{said.not_tested}]" if said.not_tested else ""
        st.markdown(" ".join(filter(None, (said.level, small))))
    if said.changers:
        st.markdown(said.changers)
    if said.on_test:
        st.markdown(said.on_test)
    same = scene.result.same_data
    if same:
        st.warning(say_rows(words.SAME_DATA), icon=":material/warning:")
    elif scene.chosen == "calibration":
        st.info(words.BOTH_SETS, icon=":material/info:")
