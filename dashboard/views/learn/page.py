"""Lessons: the list of them, or the one that the address names."""

import streamlit as st

from dashboard.compute.learn import warm
from dashboard.learn.lesson import Lesson
from dashboard.learn.lessons import LESSONS, find
from dashboard.style import project
from dashboard.texts import learn as teachers
from dashboard.texts import learn as words
from dashboard.views.learn import lesson as address
from dashboard.views.learn.lesson import show_lesson
from dashboard.widgets.links import show_teaching

_CHOSEN = "learn_lesson"


def show() -> None:
    """Show the list of lessons, or one of them."""
    warm()
    held, wrong = address.of_class()
    lesson = _choose(wrong)
    if held.size == "projector":
        project()
    if lesson is None:
        _show_list()
        address.write(None, held)
    else:
        wrong += address.take(lesson)
        _show_head(lesson, held)
        if wrong:
            st.warning(words.unusable(wrong), icon=":material/link:")
        if address.asks_for_seat(held):
            held = address.sit(held)
        if held.seat == address.ASK:
            st.info(teachers.SEAT_FIRST, icon=":material/event_seat:")
            address.write(lesson, held)
            return
        show_lesson(lesson, held)
        return
    if wrong:
        st.warning(words.unusable(wrong), icon=":material/link:")


def _choose(wrong: list[str]) -> Lesson | None:
    """Return the lesson that the address names, or that was chosen; None for the list."""
    if address.came_by_link():
        asked = st.query_params.get("lesson")
        st.session_state[_CHOSEN] = asked
        if asked is not None and find(asked) is None:
            wrong.append(f"lesson={asked[:40]}")
    return find(str(st.session_state.get(_CHOSEN)))


def _open(key: str | None) -> None:
    st.session_state[_CHOSEN] = key


def _show_list() -> None:
    show_teaching("learn")
    st.markdown(words.INTRO)
    done = words.progress(address.n_revealed(), len(LESSONS))
    if done:
        st.markdown(done)
    for number, lesson in enumerate(LESSONS, start=1):
        if number % 2:  # two a line, so that they are in order where columns are stacked
            columns = st.columns(2, gap="medium")
        with columns[(number - 1) % 2].container(border=True, gap="small", height="stretch"):
            mark = ":material/check_circle:" if address.is_revealed(lesson) else None
            st.button(
                words.lesson_name(number, lesson.title),
                key=f"open_{lesson.key}",
                type="tertiary",
                icon=mark,
                on_click=_open,
                args=(lesson.key,),
            )
            st.markdown(f":small[{lesson.question}]")


def _show_head(lesson: Lesson, held: address.Class) -> None:
    """Show which lesson it is, and the ways to the others."""
    place = LESSONS.index(lesson)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(words.lesson_name(place + 1, lesson.title), anchor=False, width="content")
        if "lessons" in held.hide:
            return
        for label, icon, other in (
            (words.BEFORE, ":material/chevron_left:", place - 1),
            (words.ALL, ":material/apps:", None),
            (words.NEXT, ":material/chevron_right:", place + 1),
        ):
            inside = other is not None and 0 <= other < len(LESSONS)
            st.button(
                label,
                icon=icon,
                type="tertiary",
                disabled=other is not None and not inside,
                on_click=_open,
                args=(LESSONS[other].key if other is not None and inside else None,),
                key=f"to_{label}",
            )
