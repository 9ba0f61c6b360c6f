"""What a state of a lesson shows, kept for all who look at the same: a class opens one link."""

import gc
import threading
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import orjson
import streamlit as st

from dashboard.compute.cache import once
from dashboard.figures.drawing import title_of
from dashboard.figures.plotly_json import LightFigure
from dashboard.learn.lesson import Lesson, Shown, State, start_of
from dashboard.learn.lessons import LESSONS

MOST_STATES = 2_000
"""States kept, of about 15 kB each."""

PROJECTED, HIGHER = 1.5, 1.2
"""So much larger is the type of a figure that is projected, and so much higher is the figure."""


@dataclass(frozen=True)
class Sent:
    """What a state shows, with its pictures as they are sent."""

    shown: Shown
    """Without pictures."""
    pictures: tuple["SentPicture", ...]
    """In their place."""


class SentPicture(NamedTuple):
    """A picture of a lesson as it is sent."""

    name: str
    title: str
    text: str
    figure: "SentFigure"


class SentFigure(LightFigure):
    """A figure that was written before; text costs the garbage collector nothing."""

    def __init__(self, figure: LightFigure, size: str) -> None:
        content = figure.to_dict()
        self._written = orjson.dumps(
            _enlarged(content, PROJECTED) if size == "projector" else content,
            option=orjson.OPT_SERIALIZE_NUMPY,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is sent."""
        content: dict[str, Any] = orjson.loads(self._written)
        return content


def shown_of(lesson: Lesson, state: State, size: str) -> Sent:
    """Compute what a state shows, or return it where somebody has looked at it before."""

    def make() -> Sent:
        shown = lesson.show(state)
        pictures = tuple(
            SentPicture(
                one.name,
                title_of(one.figure),
                one.text,
                SentFigure(LightFigure(one.figure, state.palette), size),
            )
            for one in shown.pictures
        )
        return Sent(replace(shown, pictures=()), pictures)

    return once("lessons", (lesson.key, repr(state), size), make, most=MOST_STATES)


@st.cache_resource(show_spinner=False)
def warm() -> None:
    """Compute how each lesson opens, beside the work on the pages, for whoever opens it first.

    What that imports and keeps is then taken out of the garbage collector's rounds, which follow
    every run of a page.
    """

    def work() -> None:
        for lesson in LESSONS:
            lesson.show(start_of(lesson))
        gc.collect()
        gc.freeze()

    threading.Thread(target=work, daemon=True).start()


def _enlarged(content: Any, by: float) -> Any:
    """Return a figure with larger type, lines and margins, so that a hall can read it."""
    if isinstance(content, list):
        plain = not content or not isinstance(content[0], dict)
        return content if plain else [_enlarged(part, by) for part in content]
    if not isinstance(content, dict):
        return content
    made = {key: _enlarged(part, by) for key, part in content.items()}
    for key, part in made.items():
        if key in {"font", "textfont", "tickfont"} and "size" in part:
            made[key] = {**part, "size": by * part["size"]}
        elif key == "line" and isinstance(part.get("width"), int | float):
            made[key] = {**part, "width": by * part["width"]}
        elif key == "height":
            made[key] = round(HIGHER * part)
        elif key == "margin":
            made[key] = {side: by * room for side, room in part.items()}
    return made
