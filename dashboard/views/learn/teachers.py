"""For teachers: links, exercises, a plan, and how a class works with it."""

from urllib.parse import urlencode, urlsplit

import streamlit as st

from dashboard.learn import plan
from dashboard.learn.exercises import exercises, sheet
from dashboard.learn.lessons import LESSONS, find
from dashboard.texts import learn as words
from dashboard.texts.numbers import escape_markdown
from dashboard.views.learn.lesson import MOST_SEED, PARTS, Class, link_of
from dashboard.widgets.address import is_whole
from dashboard.widgets.downloads import offer_file
from dashboard.widgets.links import full_address, show_teaching
from dashboard.widgets.qr import LARGE, show_qr

_PART, _WRITTEN = "teachers_part", "teachers_written"

CODE = "code"
"""In the address: the lesson whose code is shown alone."""


def show() -> None:
    """Show four parts, one at a time; the address keeps which."""
    step = _step_of(str(st.query_params.get(CODE, "")))
    if step is not None:
        _show_code(step)
        return
    show_teaching("teachers")
    word = st.query_params.get("part")
    if word in words.PARTS and st.session_state.get(_WRITTEN) != word:
        st.session_state[_PART] = word
    part = st.segmented_control(
        words.PART, list(words.PARTS), default="plan", required=True, key=_PART,
        format_func=words.PARTS.__getitem__, label_visibility="collapsed",
    )  # fmt: skip
    st.session_state[_WRITTEN] = part
    query = {} if part == "plan" else {"part": str(part)}
    match part:
        case "link":
            _make_link()
        case "exercises":
            query["seed"] = str(_show_exercises())
        case "class":
            st.markdown(words.IN_CLASS_TEXT.format(measured=words.MEASURED))
        case _:
            _show_plan()
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)


def _warn_of_local() -> None:
    """Say it where nobody else reaches the addresses."""
    if urlsplit(str(st.context.url or "")).hostname in {"127.0.0.1", "localhost", "::1"}:
        st.markdown(f":small[:material/info: {words.LOCAL}]")


def _step_of(key: str) -> plan.LessonStep | None:
    """Return the step of the plan whose lesson is this one."""
    every = (*plan.PLAN, *plan.BIOSTATISTICS)
    return next((step for step in every if step.lesson and step.lesson == key), None)


def _show_code(step: plan.LessonStep) -> None:
    """Show the code of a step alone, to be projected: nothing of what is to be guessed."""
    lesson = find(step.lesson)
    if lesson is None:
        return
    address = full_address(step.address)
    st.subheader(lesson.title, anchor=False)
    _warn_of_local()
    show_qr(address, words.QR_OF.format(name=lesson.title), pixels=LARGE)
    st.code(address, language=None, wrap_lines=True)


def _make_link() -> None:
    st.markdown(words.LINK_INTRO)
    titles = {one.key: words.lesson_name(k, one.title) for k, one in enumerate(LESSONS, start=1)}
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
    classroom = Class(int(seed), str(seat), str(answers), tuple(hide), str(size))
    address = f"learn?{urlencode(link_of(lesson, {}, classroom))}"
    st.code(full_address(address), language=None, wrap_lines=True)
    show_qr(full_address(address), words.QR_OF.format(name=lesson.title))
    _warn_of_local()
    st.link_button(words.OPEN, address, icon=":material/open_in_new:")
    st.markdown(f":small[{words.SET}]")
    st.markdown(f":small[{words.NO_LOCK}]")
    st.markdown(f":small[{words.OWN}]")
    st.code(full_address(f"you?seed={int(seed)}"), language=None, wrap_lines=True)


def _show_exercises() -> int:
    """Show the exercises of a seed, that of the address at first; return it."""
    st.markdown(words.EXERCISES_INTRO)
    given = str(st.query_params.get("seed", ""))
    start = int(given) if is_whole(given, 0, MOST_SEED) else 1
    seed = int(st.number_input(words.SEED, 0, MOST_SEED, start, key="exercises_seed", width=200))
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
    return seed


def _show_plan() -> None:
    st.markdown(words.PLAN_INTRO)
    with_codes = st.toggle(words.QR, value=True, key="plan_qr", help=words.QR_HELP)
    if with_codes:
        _warn_of_local()
    for start, step in zip(plan.starts(), plan.PLAN, strict=True):
        _show_step(step, words.span_of(start, step.minutes), with_code=with_codes)
    titles = [(one.key, one.title) for one in LESSONS if one.key in plan.HOMEWORK]
    st.markdown(f"{words.later(words.HOMEWORK, titles)} {words.OWN_LATER}")
    instead = [one.title for one in LESSONS if one.key in plan.INSTEAD]
    n_minutes = sum(step.minutes for step in plan.BIOSTATISTICS)
    st.markdown(f"**{words.biostatistics(n_minutes, instead)}**")
    for step in plan.BIOSTATISTICS:
        _show_step(step, words.minutes_short(step.minutes), with_code=with_codes)


def _show_step(step: plan.LessonStep, when: str, *, with_code: bool) -> None:
    """Show what to ask, to do and to say in some minutes."""
    lesson = find(step.lesson)
    with st.container(border=True, horizontal=True, gap="medium"):
        st.markdown(f"**{when}**", width=52)
        with st.container(gap="xxsmall", width="stretch"):
            if lesson is not None:
                st.markdown(f"[**{lesson.title}**]({step.address})")
            parts = ((words.ASK, step.ask), (words.DO, step.do), (words.SAY, step.say))
            st.markdown("  \n".join(f"**{name}:** {text}" for name, text in parts))
        if with_code and lesson is not None:
            with st.container(key=f"qr_{step.lesson}", width="content"):
                show_qr(
                    full_address(step.address),
                    words.QR_OF.format(name=lesson.title),
                    opens=f"teachers?{CODE}={step.lesson}",
                )
