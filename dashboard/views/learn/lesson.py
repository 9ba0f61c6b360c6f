"""One lesson: question, guess, interaction, answer, what to keep, check, link."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import streamlit as st

from dashboard import style
from dashboard.compute.learn import shown_of
from dashboard.learn.lesson import (
    DRAW,
    MANY,
    MOST_DRAWS,
    ChoiceGuess,
    Lesson,
    LessonPicture,
    LessonView,
    NumberGuess,
    State,
    Steps,
)
from dashboard.learn.lessons import LESSONS
from dashboard.texts import learn as words
from dashboard.widgets.play import offer_play
from dashboard.widgets.slides import offer_slides

Value = TypeVar("Value")

ANSWERS = ("after", "hidden", "shown")
SIZES = ("screen", "projector")
PARTS = ("link", "computed", "check", "numbers", "lessons")
"""What a link can hide, by its word."""

ASK = "ask"

SEAT_KEY = "learn_seat"
"""Where the typed seat number is."""

MOST_SEED, MOST_SEAT = 9_999, 400

_CLASS, _WRITTEN, _MEMORIES = "learn_asked", "learn_written", "learn_kept"
_DONE = "learn_done"


@dataclass
class Memory:
    """What one lesson was left at, in this tab."""

    chosen: dict[str, str] = field(default_factory=dict)
    draws: int = 1
    guess: str | None = None
    revealed: bool = False


@dataclass(frozen=True)
class Class:
    """What a teacher's link fixes for all lessons."""

    seed: int = 0
    """Of all draws."""
    seat: str = "0"
    """"0" for one draw for all, a number for that seat's; "ask" where every student types it, and
    "ask-7" once it was typed.
    """
    answers: str = "after"
    """When answers are shown: after a guess, not at all, at once."""
    hide: tuple[str, ...] = ()
    """Parts that are left out, of `PARTS`."""
    size: str = "screen"
    """Of the type."""


def memory_of(lesson: Lesson) -> Memory:
    """Return what a lesson was left at; its start where it was not opened yet."""
    every: dict[str, Memory] = st.session_state.setdefault(_MEMORIES, {})
    start = {control.name: control.start for control in lesson.controls}
    memory = every.setdefault(lesson.key, Memory())
    memory.chosen = start | memory.chosen
    return memory


def seat_of(classroom: Class) -> int:
    """Return the seat whose draws are shown; 0 where none was typed yet."""
    if not asks_for_seat(classroom):
        return int(classroom.seat)
    return int(st.session_state.get(SEAT_KEY) or 0)


def asks_for_seat(classroom: Class) -> bool:
    """Return whether every student types a seat number."""
    return classroom.seat.startswith(ASK)


def sit(classroom: Class) -> Class:
    """Let a student type a seat number, which the address keeps; return what then holds."""
    _, _, typed = classroom.seat.partition("-")
    if typed:
        st.session_state.setdefault(SEAT_KEY, int(typed))
    seat = st.number_input(
        words.SEAT, 1, MOST_SEAT, None, key=SEAT_KEY, help=words.SEAT_HELP, width=200,
        persist_state="session", placeholder=words.SEAT_RANGE,
    )  # fmt: skip
    return replace(classroom, seat=ASK if seat is None else f"{ASK}-{seat}")


def done() -> list[str]:
    """Return the lessons of which the answer was shown, by their words; the address keeps them."""
    every: dict[str, Memory] = st.session_state.get(_MEMORIES, {})
    keys: set[str] = st.session_state.setdefault(_DONE, set())
    keys |= {key for key, one in every.items() if one.revealed}
    return [one.key for one in LESSONS if one.key in keys]


def came_by_link() -> bool:
    """Return whether the address is not what this page wrote, so that someone opened a link."""
    return st.query_params.to_dict() != st.session_state.get(_WRITTEN)


def of_class() -> tuple[Class, list[str]]:
    """Take what a link fixes for all lessons; return it, and the settings that make no sense."""
    usual, wrong = Class(), list[str]()
    hide = tuple(part for part in _text_of("hide").split(",") if part)
    wrong += [f"hide={part}" for part in hide if part not in PARTS]
    settings = {
        "seed": _whole("seed", 0, MOST_SEED, wrong),
        "seat": _checked("seat", wrong, _seat),
        "answers": _word("answers", ANSWERS, wrong),
        "size": _word("size", SIZES, wrong),
    }
    given = {name: value for name, value in settings.items() if value is not None}
    if came_by_link():
        _take_done(wrong)
        st.session_state[_CLASS] = Class(
            **{**vars(usual), **given, "hide": tuple(part for part in hide if part in PARTS)}
        )
    classroom: Class = st.session_state.setdefault(_CLASS, usual)
    return classroom, wrong if came_by_link() else []


def _take_done(wrong: list[str]) -> None:
    """Take the lessons that were done when the address was kept."""
    keys = {one.key for one in LESSONS}
    entries = {word for word in _text_of("done").split(".") if word}
    wrong += [f"done={word[:40]}" for word in sorted(entries - keys)]
    st.session_state[_DONE] = st.session_state.get(_DONE, set()) | (entries & keys)


def take(lesson: Lesson) -> list[str]:
    """Take what a link says of its lesson; return the settings that make no sense."""
    if not came_by_link():
        return []
    left, wrong = memory_of(lesson), list[str]()
    for control in lesson.controls:
        word = _word(control.name, tuple(control.values), wrong)
        left.chosen[control.name] = word or control.start
    left.draws = _whole("draw", 1, MOST_DRAWS, wrong) or 1
    left.guess = _guess(lesson, wrong)
    drawn = "draw" in st.query_params and not lesson.guess_each_draw
    left.revealed = left.guess is not None or drawn
    return wrong


def place_of(lesson: Lesson) -> dict[str, str]:
    """Return the settings of a link to a lesson as it was left, what is usual left out."""
    left = memory_of(lesson)
    moved = {c.name: left.chosen[c.name] for c in lesson.controls}
    starts = {c.name: c.start for c in lesson.controls}
    query = {"lesson": lesson.key, **dict(moved.items() - starts.items())}
    query |= {"draw": str(left.draws)} if left.draws > 1 else {}
    return query | ({"guess": left.guess} if left.revealed and left.guess is not None else {})


def write(lesson: Lesson | None, classroom: Class) -> None:
    """Write the state into the address, what is usual left out."""
    query = _of_class(classroom)
    if lesson is not None:
        query = {**place_of(lesson), **query}
    before = [key for key in done() if lesson is None or key != lesson.key]
    query |= {"done": ".".join(before)} if before else {}
    # After a link from this page to itself the browser still has the address before it.
    if st.query_params.to_dict() != query or st.session_state.get(_WRITTEN) != query:
        st.query_params.from_dict(query)
    st.session_state[_WRITTEN] = query


def _text_of(name: str) -> str:
    return str(st.query_params.get(name, ""))


def _guess(lesson: Lesson, wrong: list[str]) -> str | None:
    text = _text_of("guess")
    if not text:
        return None
    if isinstance(lesson.guess, ChoiceGuess):
        return _word("guess", tuple(lesson.guess.answers), wrong)
    number = _whole("guess", lesson.guess.low, lesson.guess.high, wrong)
    return None if number is None else str(number)


def _word(name: str, allowed: tuple[str, ...], wrong: list[str]) -> str | None:
    return _checked(name, wrong, lambda text: text if text in allowed else None)


def _whole(name: str, low: int, high: int, wrong: list[str]) -> int | None:
    return _checked(name, wrong, lambda text: _number(text, low, high))


def _number(text: str, low: int, high: int) -> int | None:
    fits = text.isascii() and text.isdigit() and len(text) < 7
    return int(text) if fits and low <= int(text) <= high else None


def _seat(text: str) -> str | None:
    typed = text.removeprefix(f"{ASK}-") if text != ASK else "1"
    return text if _number(typed, 0, MOST_SEAT) is not None else None


def _checked(name: str, wrong: list[str], read: Callable[[str], Value | None]) -> Value | None:
    if name not in st.query_params:
        return None
    text = st.query_params[name]
    value = read(text)
    if value is None:
        wrong.append(f"{name}={text[:40]}")
    return value


def _of_class(classroom: Class) -> dict[str, str]:
    usual = vars(Class())
    moved = {name: value for name, value in vars(classroom).items() if value != usual[name]}
    return {n: ",".join(v) if isinstance(v, tuple) else str(v) for n, v in moved.items()}


def way_to(lesson: Lesson, classroom: Class) -> dict[str, str]:
    """Return the settings of a link to a lesson as it was left, with what holds for all lessons."""
    return {**place_of(lesson), **_of_class(classroom)}


def link_of(lesson: Lesson, chosen: Mapping[str, str], classroom: Class) -> dict[str, str]:
    """Return the settings of a link to a lesson in a state."""
    return {"lesson": lesson.key, **chosen, **_of_class(classroom)}


FIRST = "overview"
"""The page that has no address of its own."""


@st.fragment
def show_lesson(lesson: Lesson, classroom: Class) -> None:
    """Show a lesson; nothing of it changes anything else on the page.

    ``lesson``: what is shown. ``classroom``: what a link fixes for all lessons.
    """
    left = memory_of(lesson)
    if classroom.answers == "shown":
        left.revealed = True
    with st.container(key=f"lesson_{classroom.size}", gap="xsmall"):
        st.markdown(lesson.question)
        answer = st.container()  # below the question: a phone shows no more beside the picture
        revealed = left.revealed and classroom.answers != "hidden"
        if not revealed:
            st.markdown(_defined(lesson.terms))
        place = st.container(gap="small")
        if not revealed:
            _ask(lesson, left, place)
        if revealed or lesson.guess_each_draw:
            with place:
                _show_controls(lesson, left, revealed=revealed)
        _show(lesson, left, classroom, answer if revealed else None)
    write(lesson, classroom)


def _ask(lesson: Lesson, left: Memory, place: st.delta_generator.DeltaGenerator) -> None:
    """Let a guess be made, and show the answer when it is; a hidden one leaves the guess as it is.

    ``place``: where the guess is made.
    """
    hidden = left.revealed
    with place.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        guess = _choose_guess(lesson, left, disabled=hidden)
        if hidden:
            _offer(words.AGAIN, f"again_{lesson.key}", _guess_again, lesson, left, type="tertiary")
            place.info(
                words.HIDDEN_SKIPPED if left.guess is None else words.HIDDEN,
                icon=":material/lock:",
            )
            return
        lock, skip = (f"{name}_{lesson.key}" for name in ("lock", "skip"))
        label = words.LOCK
        if guess is not None and isinstance(lesson.guess, NumberGuess):
            # Where the slider starts is nobody's guess until it is named and clicked.
            label = words.my_guess(lesson.guess.shown(guess))
        _offer(label, lock, _reveal, left, guess, type="primary", disabled=guess is None)
        _offer(words.SKIP, skip, _reveal, left, None, type="tertiary")


def _choose_guess(lesson: Lesson, left: Memory, *, disabled: bool) -> str | None:
    key = _guess_key(lesson)
    match lesson.guess:
        case NumberGuess() as number:
            st.session_state.setdefault(key, int(left.guess or number.start))
            guess = st.slider(
                words.GUESS_NUMBER,
                number.low,
                number.high,
                step=number.step,
                key=key,
                format=f"%d{number.unit.replace('%', '%%')}",
                width=420,
                disabled=disabled,
            )
            return str(guess)
        case ChoiceGuess() as choice:
            st.session_state.setdefault(key, left.guess)
            chosen = st.radio(
                words.GUESS,
                list(choice.answers),
                format_func=choice.answers.__getitem__,
                key=key,
                horizontal=True,
                disabled=disabled,
            )
            return None if chosen is None else str(chosen)


def _guess_key(lesson: Lesson) -> str:
    return f"guess_{lesson.key}"


def _reveal(left: Memory, guess: str | None) -> None:
    left.guess, left.revealed = guess, True


def _guess_again(lesson: Lesson, left: Memory) -> None:
    left.guess, left.revealed = None, False
    st.session_state.pop(_guess_key(lesson), None)


def _show_controls(lesson: Lesson, left: Memory, *, revealed: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for control in lesson.controls:
            _show_control(lesson, control, left)
        offer = partial(_offer, disabled=left.draws >= MOST_DRAWS)
        if lesson.draw:
            icon = ":material/casino:"
            offer(lesson.draw, f"draw_{lesson.key}", _draw, lesson, left, icon=icon, shortcut="D")
        if lesson.draw_open and revealed:
            offer(lesson.draw_open, f"open_{lesson.key}", _draw_open, lesson, left)
        if lesson.play and revealed:
            _show_play(lesson)
        if lesson.draw_many:
            offer(lesson.draw_many, f"many_{lesson.key}", _draw, lesson, left, MANY)


def _offer(label: str, key: str, on_click: Callable[..., None], *args: object, **look: Any) -> None:
    st.button(label, key=key, on_click=on_click, args=args, **look)


def _show_play(lesson: Lesson) -> None:
    """Show the button that moves a control, or draws, step by step."""
    if lesson.play == DRAW:
        offer_play(words.PLAY, words.STOP_PLAYING, button=lesson.draw_open or lesson.draw)
        return
    (moved,) = (one for one in lesson.controls if one.name == lesson.play)
    offer_play(words.PLAY, words.STOP_PLAYING, slider=moved.label)


def _show_control(lesson: Lesson, control: Steps, left: Memory) -> None:
    key = f"control_{lesson.key}_{control.name}"
    st.session_state.setdefault(key, left.chosen[control.name])
    show = st.segmented_control if control.as_buttons else st.select_slider
    more = {"required": True} if control.as_buttons else {"width": 360}
    left.chosen[control.name] = str(
        show(
            control.label,
            list(control.values),
            format_func=control.values.__getitem__,
            key=key,
            **more,
        )
    )


def _draw(lesson: Lesson, left: Memory, n: int = 1) -> None:
    left.draws = min(left.draws + n, MOST_DRAWS)
    if lesson.guess_each_draw:
        _guess_again(lesson, left)


def _draw_open(lesson: Lesson, left: Memory) -> None:
    _draw(lesson, left)
    _reveal(left, None)


def _show(
    lesson: Lesson, left: Memory, classroom: Class, answer: st.delta_generator.DeltaGenerator | None
) -> None:
    """Show the pictures, and what they say; of the answer the most important first.

    ``answer``: place of the answer; None before it is shown.
    """
    seat, revealed = seat_of(classroom), answer is not None
    is_question = not revealed and not lesson.guess_each_draw  # the picture is that of the question
    starts = {control.name: control.start for control in lesson.controls}
    state = State(
        starts if is_question else left.chosen,
        classroom.seed,
        seat,
        left.draws,
        revealed,
        left.guess,
        style.palette(),
    )
    shown = shown_of(lesson, state, classroom.size)
    _show_pictures(lesson, shown.pictures)
    if answer is None:
        _say(shown)
        return
    with answer.container(horizontal=True, vertical_alignment="center", gap="small", key="answer"):
        st.markdown(_guessed(lesson, left, shown), width="content")
        if not lesson.guess_each_draw:  # what was shown cannot be guessed
            key = f"again_{lesson.key}"
            _offer(words.AGAIN, key, _guess_again, lesson, left, type="tertiary")
        with st.popover(words.TERMS, type="tertiary", icon=":material/dictionary:"):
            st.markdown(_defined({**lesson.terms, **lesson.later}))
    st.markdown(words.takeaway(lesson.takeaway))
    _say(shown)
    if "check" not in classroom.hide:
        _show_check(lesson)
    _show_more(lesson, shown, state, classroom)


def _say(shown: LessonView) -> None:
    """Show the sentence of a state, and the note."""
    if shown.sentence:
        st.markdown(shown.sentence)
    if shown.note:
        st.markdown(f":small[{shown.note}]")


def _guessed(lesson: Lesson, left: Memory, shown: LessonView) -> str:
    if left.guess is None:
        return words.guessed(shown.answer)
    right = left.guess == shown.right if shown.right else None
    return words.guessed(
        shown.answer, lesson.guess.shown(left.guess), right=right, if_right=shown.if_right
    )


def _show_pictures(lesson: Lesson, pictures: Sequence[LessonPicture]) -> None:
    columns = st.columns(len(pictures), gap="medium")
    for column, picture in zip(columns, pictures, strict=True):
        with column.container(gap=None):
            st.plotly_chart(
                picture.figure,
                theme=None,
                key=f"picture_{lesson.key}_{picture.name}",
                config={"displayModeBar": False, "scrollZoom": False},
                alt=words.alt_text(picture.figure.title, picture.text),
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


def _show_more(lesson: Lesson, shown: LessonView, state: State, classroom: Class) -> None:
    """Show the link to the pages, the numbers, the words and how it is computed."""
    if "link" not in classroom.hide:
        link = lesson.link(state)
        page = "" if link.page == FIRST else link.page  # it stands at the address itself
        st.link_button(
            link.label, f"./{page}?{urlencode(link.query)}", icon=":material/open_in_new:"
        )
    if shown.behind:
        with st.expander(shown.behind[0].figure.title):
            _show_pictures(lesson, shown.behind)
    offer_slides(words.SLIDES, f"{lesson.title} (Fractile)", lesson.key)
    if shown.numbers and "numbers" not in classroom.hide:
        with st.expander(words.NUMBERS):
            st.markdown(words.table(shown.numbers))
    if "computed" not in classroom.hide:
        with st.expander(words.COMPUTED):
            st.markdown(lesson.computed)


def _defined(terms: Mapping[str, str]) -> str:
    """Define words, as Markdown."""
    defined = (f"**{term}**: {meaning}" for term, meaning in terms.items())
    return f":small[{' '.join(defined)}]"
