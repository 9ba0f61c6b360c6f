"""For teachers: links, exercises, a plan, and how a class works with it."""

from urllib.parse import urlencode, urlsplit

import streamlit as st

from dashboard.learn.exercises import exercises, sheet
from dashboard.learn.lessons import LESSONS, find
from dashboard.texts import learn
from dashboard.texts import learn as words
from dashboard.texts.numbers import escape_markdown
from dashboard.views.learn.lesson import MOST_SEED, PARTS, Class, link_of
from dashboard.widgets.downloads import offer_file
from dashboard.widgets.links import full_address, show_teaching


def show() -> None:
    """Show four parts, one at a time."""
    show_teaching("teachers")
    link, tasks, plan, in_class = st.tabs([words.LINK, words.EXERCISES, words.PLAN, words.IN_CLASS])
    with link:
        _make_link()
    with tasks:
        _show_exercises()
    with plan:
        _show_plan()
    with in_class:
        st.markdown(words.IN_CLASS_TEXT.format(measured=words.MEASURED))


def _make_link() -> None:
    st.markdown(words.LINK_INTRO)
    titles = {one.key: learn.lesson_name(k, one.title) for k, one in enumerate(LESSONS, start=1)}
    left, right = st.columns(2, gap="medium")
    with left:
        key = st.selectbox(words.LESSON, list(titles), format_func=titles.__getitem__)
        seed = st.number_input(words.SEED, 0, MOST_SEED, 1)
        seat = st.segmented_control(
            words.SEATS, list(words.SEATS_OFFERED), default="0", required=True,
            format_func=words.SEATS_OFFERED.__getitem__,
        )  # fmt: skip
    with right:
        answers = st.segmented_control(
            words.ANSWERS, list(words.ANSWERS_OFFERED), default="after", required=True,
            format_func=words.ANSWERS_OFFERED.__getitem__,
        )  # fmt: skip
        size = st.segmented_control(
            words.SIZE, list(words.SIZES_OFFERED), default="screen", required=True,
            format_func=words.SIZES_OFFERED.__getitem__,
        )  # fmt: skip
        hide = st.pills(
            words.HIDE, PARTS, selection_mode="multi", format_func=words.HIDE_OFFERED.__getitem__
        )
    lesson = find(str(key))
    if lesson is None:
        return
    held = Class(int(seed), str(seat), str(answers), tuple(hide), str(size))
    address = f"learn?{urlencode(link_of(lesson, {}, held))}"
    st.code(full_address(address), language=None)
    if urlsplit(str(st.context.url or "")).hostname in {"127.0.0.1", "localhost", "::1"}:
        st.markdown(f":small[:material/info: {words.LOCAL}]")
    st.link_button(words.OPEN, address, icon=":material/open_in_new:")
    st.markdown(f":small[{words.SET}]")
    st.markdown(f":small[{words.NO_LOCK}]")
    st.markdown(f":small[{words.OWN}]")
    st.code(full_address(f"you?seed={int(seed)}"), language=None)


def _show_exercises() -> None:
    st.markdown(words.EXERCISES_INTRO)
    seed = int(st.number_input(words.SEED, 0, MOST_SEED, 1, key="exercises_seed", width=200))
    with st.container(horizontal=True):
        for label, solved, name in (
            (words.SAVE, True, "exercises-and-solutions"),
            (words.SAVE_WITHOUT, False, "exercises"),
        ):
            offer_file(
                lambda solved=solved: sheet(seed, solutions=solved),  # type: ignore[misc]
                label=label,
                name=f"{name}-{seed}.html",
                kind="text/html",
            )
    for number, one in enumerate(exercises(seed), start=1):
        st.markdown(f"**{number}.** {escape_markdown(one.task)}")
        if one.table:
            head, *rows = one.table
            st.table(
                {name: [row[k] for row in rows] for k, name in enumerate(head)}, width="content"
            )
        with st.expander(words.SOLUTION):
            for line in one.solution:
                st.markdown(escape_markdown(line))


def _show_plan() -> None:
    st.markdown(words.PLAN_INTRO)
    for minutes, key, told in words.PLAN_ROWS:
        lesson = find(key)
        title = "" if lesson is None else f"[{lesson.title}](learn?lesson={key}): "
        st.markdown(f"**{minutes}** \u00b7 {title}{told}")
    later = [one for one in LESSONS if one.key in words.HOMEWORK]
    st.markdown(words.homework([(one.key, one.title) for one in later]))
