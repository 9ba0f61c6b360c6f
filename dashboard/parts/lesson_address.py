"""What the address of a lesson holds, so that a link opens it in the very same state."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import streamlit as st

from dashboard.learn.lesson import ChoiceGuess, Lesson
from dashboard.wording import teachers as words

Found = TypeVar("Found")

ANSWERS = ("after", "hidden", "shown")
SIZES = ("screen", "projector")
PARTS = ("link", "computed", "check", "numbers", "lessons")
"""What a link can hide, by its word."""

ASK = "ask"

SEAT_KEY = "learn_seat"
"""Where the typed seat number is."""

MOST_SEED, MOST_SEAT, MOST_DRAWS = 9_999, 400, 500

_ASKED, _WRITTEN, _KEPT = "learn_asked", "learn_written", "learn_kept"


@dataclass
class Kept:
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


def kept(lesson: Lesson) -> Kept:
    """Return what a lesson was left at; its start where it was not opened yet."""
    every: dict[str, Kept] = st.session_state.setdefault(_KEPT, {})
    start = {control.name: control.start for control in lesson.controls}
    found = every.setdefault(lesson.key, Kept())
    found.chosen = start | found.chosen
    return found


def seat_of(held: Class) -> int:
    """Return the seat whose draws are shown; 0 where none was typed yet."""
    if not asks_for_seat(held):
        return int(held.seat)
    return int(st.session_state.get(SEAT_KEY) or 0)


def asks_for_seat(held: Class) -> bool:
    """Return whether every student types a seat number."""
    return held.seat.startswith(ASK)


def sit(held: Class) -> Class:
    """Let a student type a seat number, which the address keeps; return what then holds."""
    _, _, typed = held.seat.partition("-")
    if typed:
        st.session_state.setdefault(SEAT_KEY, int(typed))
    seat = st.number_input(
        words.SEAT, 1, MOST_SEAT, None, key=SEAT_KEY, help=words.SEAT_HELP, width=200,
        persist_state="session", placeholder=words.SEAT_RANGE,
    )  # fmt: skip
    return replace(held, seat=ASK if seat is None else f"{ASK}-{seat}")


def n_revealed() -> int:
    """Count the lessons of which the answer was shown in this tab."""
    every: dict[str, Kept] = st.session_state.get(_KEPT, {})
    return sum(one.revealed for one in every.values())


def is_revealed(lesson: Lesson) -> bool:
    """Return whether the answer of a lesson was shown in this tab."""
    every: dict[str, Kept] = st.session_state.get(_KEPT, {})
    return lesson.key in every and every[lesson.key].revealed


def came_by_link() -> bool:
    """Return whether the address is not what this page wrote, so that someone opened a link."""
    return st.query_params.to_dict() != st.session_state.get(_WRITTEN)


def of_class() -> tuple[Class, list[str]]:
    """Take what a link fixes for all lessons; return it, and the settings that make no sense."""
    usual, wrong = Class(), list[str]()
    hide = tuple(part for part in _asked("hide", "").split(",") if part)
    wrong += [f"hide={part}" for part in hide if part not in PARTS]
    asked = {
        "seed": _whole("seed", 0, MOST_SEED, wrong),
        "seat": _checked("seat", wrong, _seat),
        "answers": _word("answers", ANSWERS, wrong),
        "size": _word("size", SIZES, wrong),
    }
    given = {name: value for name, value in asked.items() if value is not None}
    if came_by_link():
        st.session_state[_ASKED] = Class(
            **{**vars(usual), **given, "hide": tuple(part for part in hide if part in PARTS)}
        )
    found: Class = st.session_state.setdefault(_ASKED, usual)
    return found, wrong if came_by_link() else []


def take(lesson: Lesson) -> list[str]:
    """Take what a link says of its lesson; return the settings that make no sense."""
    if not came_by_link():
        return []
    left, wrong = kept(lesson), list[str]()
    for control in lesson.controls:
        word = _word(control.name, tuple(control.values), wrong)
        left.chosen[control.name] = word or control.start
    left.draws = _whole("draw", 1, MOST_DRAWS, wrong) or 1
    left.guess = _guess(lesson, wrong)
    drawn = "draw" in st.query_params and not lesson.guess_each_draw
    left.revealed = left.guess is not None or drawn
    return wrong


def write(lesson: Lesson | None, held: Class) -> None:
    """Write the state into the address, what is usual left out."""
    query = _of_class(held)
    if lesson is not None:
        left = kept(lesson)
        moved = {c.name: left.chosen[c.name] for c in lesson.controls}
        starts = {c.name: c.start for c in lesson.controls}
        query = {"lesson": lesson.key, **dict(moved.items() - starts.items()), **query}
        query |= {"draw": str(left.draws)} if left.draws > 1 else {}
        query |= {"guess": left.guess} if left.revealed and left.guess is not None else {}
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)
    st.session_state[_WRITTEN] = query


def _asked(name: str, usual: str) -> str:
    return str(st.query_params.get(name, usual))


def _guess(lesson: Lesson, wrong: list[str]) -> str | None:
    asked = _asked("guess", "")
    if not asked:
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


def _checked(name: str, wrong: list[str], read: Callable[[str], Found | None]) -> Found | None:
    if name not in st.query_params:
        return None
    text = st.query_params[name]
    found = read(text)
    if found is None:
        wrong.append(f"{name}={text[:40]}")
    return found


def _of_class(held: Class) -> dict[str, str]:
    usual = vars(Class())
    moved = {name: value for name, value in vars(held).items() if value != usual[name]}
    return {n: ",".join(v) if isinstance(v, tuple) else str(v) for n, v in moved.items()}


def link_of(lesson: Lesson, chosen: Mapping[str, str], held: Class) -> dict[str, str]:
    """Return the settings of a link to a lesson in a state."""
    return {"lesson": lesson.key, **chosen, **_of_class(held)}
