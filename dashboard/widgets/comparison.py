"""What a comparison of calibrators lets one say, above its picture."""

import streamlit as st

from calibcore.comparison import Contestant, Picks
from dashboard.compute.advice import advice_text, advised_group
from dashboard.compute.comparison import FoldPlan, conclusion_of, group_of, recommendation_of
from dashboard.scene import Scene
from dashboard.settings import method_by_key, method_of, options_of
from dashboard.texts import comparison as words
from dashboard.texts.advice import recommended
from dashboard.texts.rows import say_rows
from dashboard.widgets import address
from dashboard.widgets.blocks import write
from dashboard.widgets.links import show_button


def show(scene: Scene, picks: Picks, among: list[Contestant], fold_plan: FoldPlan) -> str:
    """Show what is known of the best, of those that are level, and of the test set.

    Return the key of the calibrator that is advised; "" for none.
    """
    with st.spinner(words.TESTING):
        conclusion = conclusion_of(scene, picks, among, fold_plan)
    best, more = conclusion.blocks
    write(best)
    if conclusion.advised not in {"", scene.settings.method}:
        offer(scene, conclusion.advised, key="use_advised")
    write(more)
    same = scene.result.same_data
    if same:
        st.warning(say_rows(words.SAME_DATA), icon=":material/warning:")
    elif scene.chosen == "calibration":
        st.info(words.BOTH_SETS, icon=":material/info:")
    return conclusion.advised


def show_recommended(scene: Scene) -> None:
    """Show which calibrator the comparison advises, in the words of the first page."""
    recommendation = recommendation_of(scene)
    if recommendation is None:
        return
    if not recommendation.advised:
        st.markdown(recommendation.head)
        return
    group = advised_group(scene, recommendation)
    st.markdown(recommended(recommendation.advised, advice_text(recommendation), group).sentence)
    if recommendation.advised != scene.settings.method:
        offer(scene, recommendation.advised, key="use_recommended")


def offer(scene: Scene, method: str, *, key: str) -> None:
    """Show the button that chooses a calibrator, with its usual options, on every page."""
    show_button(words.use(method), key, _use, method, group_of(scene, method))


def _use(method: str, group: str | None) -> None:
    """Choose a calibrator, as the controls on the left do, and the groups that it is told."""
    own = options_of(method)
    values: dict[str, object] = {"method": method_of(method)}
    if group is not None:
        values["group"] = group
    for option in method_by_key(method).options:
        name = f"{method_of(method)}_{option.name}"
        if option.name in own or name in st.session_state:
            values[name] = own.get(option.name, option.default)
    address.put_values(values)
