"""What a lesson is made of; every one is such an object, and one page draws them all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from plotly import graph_objects as go

from dashboard.figures import LIGHT, Palette

MOST_DRAWS = 500
"""How often can be drawn in a lesson."""

DRAW = "draw"

MANY = 100
"""Draws by one click, where a lesson offers it."""


@dataclass(frozen=True)
class NumberGuess:
    """A guess at a number, by a slider."""

    low: int
    high: int
    step: int
    start: int
    """Of the slider."""
    unit: str = "%"
    """Written behind the number."""

    def shown(self, guess: str) -> str:
        """Write a guess as the slider shows it."""
        return f"{guess}{self.unit}"


@dataclass(frozen=True)
class ChoiceGuess:
    """A guess by choosing one of a few answers."""

    answers: Mapping[str, str]
    """The word stands in the address."""

    def shown(self, guess: str) -> str:
        """Write a guess as its button shows it."""
        return self.answers[guess]


@dataclass(frozen=True)
class Steps:
    """A control of a lesson: a slider over a few values, so that every state can be kept."""

    name: str
    """In the address, and in `State.chosen`."""
    label: str
    """Shown above it."""
    values: Mapping[str, str]
    """What can be chosen, in order, and how it is shown."""
    start: str
    """The word that is chosen first: the state that surprises."""
    as_buttons: bool = False
    """Whether all values stand side by side, for two to four of them."""


@dataclass(frozen=True)
class Check:
    """A question after the lesson."""

    question: str
    """One sentence."""
    answers: Mapping[str, str]
    """Two to four."""
    right: str
    """Word of the right one."""
    why: str
    """One or two sentences."""


@dataclass(frozen=True)
class State:
    """All that decides what a lesson shows; the address holds it."""

    chosen: Mapping[str, str]
    """Of the lesson's controls."""
    seed: int
    """Of everything random in it: the teacher's."""
    seat: int
    """A student's own draw; 0 for the one of the class."""
    draws: int
    """How often was drawn."""
    revealed: bool
    """Whether the answer is shown."""
    guess: str | None
    """What was guessed; None where it was passed over."""
    palette: Palette
    """Colours."""

    def number(self, name: str) -> float:
        """Return the number that a control stands at."""
        return float(self.chosen[name])

    def rng(self, key: str, draw: int | None = None) -> np.random.Generator:
        """Return the generator of a lesson's draw: the same for the same address, on any machine.

        ``key``: of the lesson. ``draw``: which draw; by default the last one.
        """
        words = (self.seed, self.seat, self.draws if draw is None else draw, *key.encode())
        return np.random.default_rng(np.random.SeedSequence(words))


@dataclass(frozen=True)
class LessonPicture:
    """A figure of a lesson, and what it shows in words for those who do not see it."""

    name: str
    """Unique in the lesson; names the file that is saved."""
    figure: go.Figure
    """Drawn so that it can be projected: see `dashboard.learn.pictures`."""
    text: str
    """One sentence, computed."""


@dataclass(frozen=True)
class LessonView:
    """What a state of a lesson shows; all of it computed."""

    pictures: tuple[LessonPicture, ...]
    """One or two."""
    sentence: str
    """What the picture shows, as Markdown; "" before the answer where there is nothing to say."""
    answer: str = ""
    """The number or answer that was to be guessed, as it is written; "" before."""
    right: str = ""
    """Word of the right one where an answer was chosen; "" before, and where a number was guessed.
    """
    if_right: str = "right"
    """What a right guess is called."""
    note: str = ""
    """What else is needed to understand it; "" for nothing."""
    behind: tuple[LessonPicture, ...] = ()
    """Pictures that are shown after a click."""
    numbers: tuple[tuple[str, ...], ...] = ()
    """The picture as a table, the first row its head; empty for none."""


@dataclass(frozen=True)
class Link:
    """A page of the dashboard in the state that a lesson speaks of."""

    page: str
    """Its address, such as "reliability"."""
    query: Mapping[str, str]
    """As in the address."""
    label: str = "Open this in the dashboard"
    """On the link."""


@dataclass(frozen=True)
class Lesson:
    """One idea: a question, a guess, one interaction, the answer, what to keep, a check."""

    key: str
    """In the address; stays as it is."""
    title: str
    """A few words."""
    question: str
    """To be guessed before anything is shown; one sentence, as Markdown."""
    guess: NumberGuess | ChoiceGuess
    """How it is guessed."""
    controls: tuple[Steps, ...]
    """The interaction; two at most."""
    show: Callable[[State], LessonView]
    """Computes what a state shows. Before the answer is revealed, none of it may be in any picture,
    text or table.
    """
    takeaway: str
    """One sentence to keep."""
    check: Check
    """A question after it."""
    link: Callable[[State], Link]
    """The pages in the state of the lesson."""
    computed: str
    """Which functions and which data stand behind it, and the source."""
    draw: str = ""
    """Label of the button that draws again; "" where nothing is random."""
    draw_many: str = ""
    """Label of the button that draws `MANY` times; "" where only the last draw counts."""
    terms: Mapping[str, str] = field(default_factory=dict)
    """Words that stand here first: those of the question and of the pictures before the answer."""
    later: Mapping[str, str] = field(default_factory=dict)
    """Words that the answer needs, which stand beside it alone."""
    draw_open: str = ""
    """Label of the button that draws again and shows the answer at once, where each draw is a new
    thing to be guessed; "" for none.
    """
    play: str = ""
    """Name of the control that a play button moves through all its steps, or `DRAW` where it draws
    again; "" for no such button.
    """
    minutes: int = 5
    """How long it takes with a class, about."""
    guess_each_draw: bool = False
    """Whether each draw is a new thing to be guessed; the controls are then there before the answer
    too, and a step of them changes neither what is right nor what was guessed.
    """


def start_of(lesson: Lesson, **fixed: Any) -> State:
    """Return a state of a lesson: where its controls start, but for what is given.

    ``lesson``: which. ``**fixed``: fields of `State`; ``chosen`` may name some controls only.
    """
    chosen = {control.name: control.start for control in lesson.controls}
    usual: dict[str, Any] = {
        "seed": 0, "seat": 0, "draws": 1, "revealed": True, "guess": None, "palette": LIGHT,
    }  # fmt: skip
    return State(**{**usual, **fixed, "chosen": chosen | dict(fixed.get("chosen", {}))})
