"""Lessons: the list of them, or the one that the address names."""

import streamlit as st

from dashboard.compute.learn import thumbnail_of, warm
from dashboard.learn.lesson import Lesson
from dashboard.learn.lessons import CHAPTERS, LESSONS, find
from dashboard.style import palette, project
from dashboard.texts import learn as words
from dashboard.views.learn import lesson as address
from dashboard.views.learn.lesson import show_lesson
from dashboard.widgets.links import show_further, show_page, show_teaching

_CHOSEN = "learn_lesson"


def show() -> None:
    """Show the list of lessons, or one of them."""
    warm()
    classroom, wrong = address.of_class()
    lesson = _choose(wrong)
    if classroom.size == "projector":
        project()
    if lesson is None:
        _show_list(classroom)
        address.write(None, classroom)
    else:
        wrong += address.take(lesson)
        _show_head(lesson, classroom)
        if wrong:
            st.warning(words.unusable(wrong), icon=":material/link:")
        if address.asks_for_seat(classroom):
            classroom = address.sit(classroom)
        if classroom.seat == address.ASK:
            st.info(words.SEAT_FIRST, icon=":material/event_seat:")
            address.write(lesson, classroom)
            return
        show_lesson(lesson, classroom)
        if "lessons" not in classroom.hide:
            _show_way_on(lesson)
        return
    if wrong:
        st.warning(words.unusable(wrong), icon=":material/link:")


def _show_way_on(lesson: Lesson) -> None:
    """Show the next lesson at the end of one; after the last, what else there is."""
    place = LESSONS.index(lesson) + 1
    if place < len(LESSONS):
        name = words.lesson_name(place + 1, LESSONS[place].title)
        st.button(
            words.NEXT_LESSON.format(name=name), icon=":material/arrow_forward:", key="way_on",
            on_click=_open, args=(LESSONS[place].key,),
        )  # fmt: skip
        return
    st.markdown(words.LAST_LESSON)
    show_further()


def _choose(wrong: list[str]) -> Lesson | None:
    """Return the lesson that the address names, or that was chosen; None for the list."""
    if address.came_by_link():
        key = st.query_params.get("lesson")
        st.session_state[_CHOSEN] = key
        if key is not None and find(key) is None:
            wrong.append(f"lesson={key[:40]}")
    return find(str(st.session_state.get(_CHOSEN)))


def _open(key: str | None) -> None:
    st.session_state[_CHOSEN] = key


def _show_list(classroom: address.Class) -> None:
    show_teaching("learn")
    done = address.done()
    st.markdown(f"{words.INTRO} {words.progress(len(done), len(LESSONS))}")
    for chapter in CHAPTERS:
        st.markdown(f"**{chapter.title}.** {chapter.about}")
        for place, lesson in enumerate(chapter.lessons):
            if place % 2 == 0:  # two a line, so that they are in order where columns are stacked
                columns = st.columns(2, gap="small")
            with columns[place % 2]:
                _show_card(lesson, classroom, is_done=lesson.key in done)
    st.markdown(f"**{words.FURTHER}**")
    show_further()


def _show_card(lesson: Lesson, classroom: address.Class, *, is_done: bool) -> None:
    """Show a lesson as a card, which is a link as a whole."""
    with st.container(
        border=True, height="stretch", horizontal=True, gap="small", key=f"card_{lesson.key}"
    ):
        st.markdown(thumbnail_of(lesson, palette()), width=144)
        with st.container(gap="xxsmall", width="stretch"):
            title = words.lesson_name(LESSONS.index(lesson) + 1, lesson.title)
            icon = ":material/check_circle:" if is_done else None
            show_page("learn", title, icon=icon, **address.way_to(lesson, classroom))
            st.markdown(f":small[{lesson.question}]")
            st.markdown(f":small[:gray[{words.minutes_of(lesson.minutes)}]]")


def _show_head(lesson: Lesson, classroom: address.Class) -> None:
    """Show which lesson it is, and the ways to the others."""
    place = LESSONS.index(lesson)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(words.lesson_name(place + 1, lesson.title), anchor=False, width="content")
        if "lessons" in classroom.hide:
            return
        with st.container(horizontal=True, gap="small", width="content"):
            _show_ways(place)


def _show_ways(place: int) -> None:
    """Show the ways to the lesson before, the list, and the next lesson; on one line."""
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
