"""What pages begin with: their subject, the verdict, and the way to what is recommended."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.compute.advice import first_step
from dashboard.compute.verdict import notes_of, verdict_blocks
from dashboard.document.blocks import Sentences
from dashboard.opening import choices
from dashboard.scene import Scene
from dashboard.texts.advice import BY_GROUP, NEXT, Step
from dashboard.texts.classes import opened
from dashboard.texts.design import design_line
from dashboard.texts.numbers import escape_markdown
from dashboard.texts.rows import say_rows
from dashboard.texts.subgroups import period_name
from dashboard.texts.subject import subject
from dashboard.texts.verdict import FITTED_HERE, SAME_DATA, statistics
from dashboard.widgets import address
from dashboard.widgets import comparison as comparison_widgets
from dashboard.widgets.blocks import write
from dashboard.widgets.filter import choose_part
from dashboard.widgets.links import show_button, show_link


def show_subject(scene: Scene) -> None:
    """Show in one small line what the page is about."""
    st.markdown(f":small[{subject(scene)}]")
    show_design(scene)


def show_design(scene: Scene) -> None:
    """Show what rows stand for, where each does not stand for itself."""
    if line := design_line(scene):
        st.markdown(f":small[{escape_markdown(line)}]")


def show_headline(scene: Scene, *, notes: bool = False) -> DeltaGenerator:
    """Show the verdict of each side as a heading: what is found, its size, what it rests on.

    ``notes``: whether what may mislead is said too, where no details follow. Return the place
    below, for what is recommended first.
    """
    with st.container(key="verdict", gap="small"):
        write(*verdict_blocks(scene))
        place = promise_next()
    if notes:
        show_notes(scene, notes_of(scene))
    return place


def promise_next() -> DeltaGenerator:
    """Return the place of what is recommended first, which `show_next` fills at a page's end."""
    place = st.empty()
    place.markdown(f":small[{NEXT} \u2026]")  # as high as what follows
    return place


def show_next(scene: Scene, place: DeltaGenerator) -> None:
    """Show what is recommended first, as a link to the page that says why."""
    step = first_step(scene)
    with place.container(key="next"):
        show_link("overview", step.as_next)


def show_notes(scene: Scene, notes: Sentences) -> None:
    """Show the test statistics to experts, and what may mislead."""
    with st.container():  # there with or without notes, so that what follows keeps its place
        if scene.expert:
            with st.expander("Test statistics"):
                st.markdown(statistics(scene.evaluated))
        write(notes)
        if scene.chosen == "calibration":
            st.info(say_rows(FITTED_HERE), icon=":material/info:")
        if scene.result.same_data:
            st.warning(say_rows(SAME_DATA), icon=":material/warning:")


def show_step(scene: Scene, step: Step, shown: str) -> None:
    """Show one recommendation with its way to more, as ``shown`` in one run."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(step.sentence, width="content")
        _show_way(scene, step, shown)


def _show_way(scene: Scene, step: Step, shown: str) -> None:
    """Show the way to the page or class with more; in one run it may be shown twice."""
    if step.page:
        show_link(step.page, step.link)
    if step.opens and scene.class_names is not None:
        show_button(step.link, f"open_next_{shown}", open_class, step.opens)
    if step.method:
        comparison_widgets.offer(scene, step.method, key=f"use_{shown}")
    if step.since:
        show_button(step.link, f"filter_{shown}", choose_part, *step.since)
    if step.split_at:
        show_button(
            f"Split at {period_name(step.split_at[1])}", f"split_{shown}", _split, step.split_at
        )
    if step.groups:
        show_button(step.link, f"calibrate_by_{shown}", _calibrate_by, step.groups)


def _split(split_at: tuple[str, ...]) -> None:
    choices.change(split_at=split_at)


def _calibrate_by(column: str) -> None:
    """Choose calibration by group, as the controls on the left do."""
    address.put_values({"method": BY_GROUP, "group": column})


def open_class(name: str) -> None:
    """Choose a class as the event, as the controls on the left do."""
    address.put_values({"event": "class", "class": name})
    st.toast(opened(name))
