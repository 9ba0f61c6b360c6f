"""What a state of a lesson shows, kept for all who look at the same: a class opens one link."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dashboard.compute.cache import once
from dashboard.figures.sent import LightFigure
from dashboard.learn.lesson import Lesson, Shown, State

MOST_STATES = 2_000
"""States kept, of about 15 kB each."""

PROJECTED = 1.5
"""So much larger is the type of a figure that is projected."""


@dataclass(frozen=True)
class Sent:
    """What a state shows, with its figures as they are sent."""

    shown: Shown
    figures: tuple["SentFigure", ...]


class SentFigure(LightFigure):
    """A figure whose contents were made before."""

    def __init__(self, content: dict[str, Any], layout: Any) -> None:
        self._content, self._figure = content, layout

    def to_dict(self) -> dict[str, Any]:
        """Return what is sent."""
        return self._content


def shown_of(lesson: Lesson, state: State, size: str) -> Sent:
    """Compute what a state shows, or return it where somebody has looked at it before."""

    def make() -> Sent:
        shown = lesson.show(state)
        enlarge = (lambda c: _enlarged(c, PROJECTED)) if size == "projector" else _as_is
        return Sent(shown, tuple(_sent(p.figure, state, enlarge) for p in shown.pictures))

    return once("lessons", (lesson.key, repr(state), size), make, most=MOST_STATES)


def _sent(figure: Any, state: State, enlarge: Callable[[Any], Any]) -> SentFigure:
    return SentFigure(enlarge(LightFigure(figure, state.palette).to_dict()), figure)


def _as_is(content: Any) -> Any:
    return content


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
        elif key == "margin":
            made[key] = {side: by * room for side, room in part.items()}
    return made
