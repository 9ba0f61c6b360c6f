"""One lesson: question, guess, interaction, answer, what to keep, check, link."""

from urllib.parse import urlencode

import streamlit as st

from dashboard import style
from dashboard.compute.lessons import Sent, shown_of
from dashboard.learn.lesson import ChoiceGuess, Lesson, NumberGuess, State, Steps
from dashboard.parts.lesson_address import Class, Kept, kept, seat_of, write
from dashboard.wording import learn as words

FIRST = "overview"
"""The page that has no address of its own."""


@st.fragment
def show_lesson(lesson: Lesson, held: Class) -> None:
    """Show a lesson; nothing of it changes anything else on the page.

    ``lesson``: what is shown. ``held``: what a link fixes for all lessons.
    """
    left = kept(lesson)
    if held.answers == "shown":
        left.revealed = True
    with st.container(key=f"lesson_{held.size}", gap="small"):
        st.markdown(lesson.question)
        revealed = left.revealed and held.answers != "hidden"
        _show_terms(lesson)
        place = st.container(gap="small")
        if not revealed:
            _ask(lesson, left, held, place)
        if revealed or lesson.guess_each_draw:
            with place:
                _show_controls(lesson, left)
        _show(lesson, left, held, revealed=revealed)
    write(lesson, held)


def _ask(lesson: Lesson, left: Kept, held: Class, place: st.delta_generator.DeltaGenerator) -> None:
    """Let a guess be made, and show the answer when it is."""
    with place.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        guess = _choose_guess(lesson, left)
        st.button(
            words.LOCK,
            key=f"lock_{lesson.key}",
            type="primary",
            on_click=_reveal,
            args=(left, guess),
            disabled=guess is None,
        )
        st.button(
            words.SKIP,
            key=f"skip_{lesson.key}",
            type="tertiary",
            on_click=_reveal,
            args=(left, None),
        )
    if held.answers == "hidden" and left.revealed:
        place.info(words.HIDDEN, icon=":material/lock:")


def _choose_guess(lesson: Lesson, left: Kept) -> str | None:
    key = _guess_key(lesson)
    match lesson.guess:
        case NumberGuess() as number:
            st.session_state.setdefault(key, int(left.guess or number.start))
            return str(
                st.slider(
                    words.GUESS,
                    number.low,
                    number.high,
                    step=number.step,
                    key=key,
                    format=f"%d{number.unit.replace('%', '%%')}",
                    width=420,
                )
            )
        case ChoiceGuess() as choice:
            st.session_state.setdefault(key, left.guess)
            chosen = st.radio(
                words.GUESS,
                list(choice.answers),
                format_func=choice.answers.__getitem__,
                key=key,
                horizontal=True,
            )
            return None if chosen is None else str(chosen)


def _guess_key(lesson: Lesson) -> str:
    return f"guess_{lesson.key}"


def _reveal(left: Kept, guess: str | None) -> None:
    left.guess, left.revealed = guess, True


def _guess_again(lesson: Lesson, left: Kept) -> None:
    left.guess, left.revealed = None, False
    st.session_state.pop(_guess_key(lesson), None)


def _show_controls(lesson: Lesson, left: Kept) -> None:
    """Show the interaction."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for control in lesson.controls:
            _show_control(lesson, control, left)
        if lesson.draw:
            st.button(
                lesson.draw,
                key=f"draw_{lesson.key}",
                icon=":material/casino:",
                on_click=_draw,
                args=(lesson, left),
                shortcut="D",
            )


def _show_control(lesson: Lesson, control: Steps, left: Kept) -> None:
    key = f"control_{lesson.key}_{control.name}"
    st.session_state.setdefault(key, left.chosen[control.name])
    show = st.segmented_control if control.as_buttons else st.select_slider
    more = {"required": True} if control.as_buttons else {"width": 420}
    left.chosen[control.name] = str(
        show(
            control.label,
            list(control.values),
            format_func=control.values.__getitem__,
            key=key,
            on_change=_guess_again if lesson.guess_each_draw else None,
            args=(lesson, left),
            **more,
        )
    )


def _draw(lesson: Lesson, left: Kept) -> None:
    left.draws += 1
    if lesson.guess_each_draw:
        _guess_again(lesson, left)


def _show(lesson: Lesson, left: Kept, held: Class, *, revealed: bool) -> None:
    """Show the pictures, and what they say."""
    state = State(
        left.chosen, held.seed, seat_of(held), left.draws, revealed, left.guess, style.palette()
    )
    sent = shown_of(lesson, state, held.size)
    _show_pictures(lesson, sent)
    if sent.shown.sentence:
        st.markdown(sent.shown.sentence)
    if sent.shown.note:
        st.markdown(f":small[{sent.shown.note}]")
    if not revealed:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(_guessed(lesson, left, sent), width="content")
        if not lesson.guess_each_draw:  # what was shown cannot be guessed
            st.button(
                words.AGAIN,
                key=f"again_{lesson.key}",
                type="tertiary",
                on_click=_guess_again,
                args=(lesson, left),
            )
    st.success(f"**{words.KEEP}:** {lesson.takeaway}", icon=":material/bookmark:")
    if "check" not in held.hide:
        _show_check(lesson)
    _show_more(lesson, sent, state, held)


def _guessed(lesson: Lesson, left: Kept, sent: Sent) -> str:
    if left.guess is None:
        return words.guessed(sent.shown.answer)
    right = left.guess == sent.shown.right if sent.shown.right else None
    return words.guessed(sent.shown.answer, lesson.guess.shown(left.guess), right=right)


def _show_pictures(lesson: Lesson, sent: Sent) -> None:
    columns = st.columns(len(sent.pictures), gap="medium")
    for column, picture in zip(columns, sent.pictures, strict=True):
        with column.container(gap=None):
            st.plotly_chart(
                picture.figure,
                theme=None,
                key=f"picture_{lesson.key}_{picture.name}",
                config={"displayModeBar": False, "scrollZoom": False},
                alt=words.alt_text(picture.title, picture.text),
            )
            st.markdown(f":small[{picture.text}]")


def _show_check(lesson: Lesson) -> None:
    check = lesson.check
    chosen = st.radio(
        f"**{words.CHECK}.** {check.question}",
        list(check.answers),
        format_func=check.answers.__getitem__,
        index=None,
        key=f"check_{lesson.key}",
    )
    if chosen is not None:
        show = st.success if chosen == check.right else st.info
        show(words.checked(check.answers, chosen, check.right, check.why))


def _show_more(lesson: Lesson, sent: Sent, state: State, held: Class) -> None:
    """Show the link to the pages, the numbers, the words and how it is computed."""
    if "link" not in held.hide:
        link = lesson.link(state)
        page = "" if link.page == FIRST else link.page  # it stands at the address itself
        st.link_button(
            link.label, f"./{page}?{urlencode(link.query)}", icon=":material/open_in_new:"
        )
    if sent.shown.numbers and "numbers" not in held.hide:
        with st.expander(words.NUMBERS):
            st.markdown(words.table(sent.shown.numbers))
    if "computed" not in held.hide:
        with st.expander(words.COMPUTED):
            st.markdown(lesson.computed)


def _show_terms(lesson: Lesson) -> None:
    """Define the words that stand here first."""
    if lesson.terms:
        defined = (f"**{term}**: {meaning}" for term, meaning in lesson.terms.items())
        st.markdown(f":small[{' '.join(defined)}]")
