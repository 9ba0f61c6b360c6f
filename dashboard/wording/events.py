"""How events are called and spoken of."""

from dataclasses import dataclass

from calibcore.events import OneClass, TopR, WithinTopR
from dashboard.settings import ChosenEvent
from dashboard.wording.numbers import escape_markdown


@dataclass(frozen=True)
class EventWords:
    """How an event is spoken of.

    Parameters
    ----------
    claim : str
        Sentence with places for what the model says and for what was so.
    name : str
        What it is called, for Markdown.
    """

    claim: str
    name: str


def event_name(event: ChosenEvent, class_names: tuple[str, ...] | None) -> str:
    """Name an event; a class name is as it came, to be escaped where it is shown."""
    match event:
        case OneClass(k):
            return f"Class {class_names[k] if class_names else k}"
        case TopR(1):
            return "Top-1 prediction"
        case TopR(r):
            return f"Top-{r}"
        case WithinTopR(r):
            return f"Within top-{r}"


def event_words(event: ChosenEvent, class_names: tuple[str, ...] | None) -> EventWords:
    """Find the words for an event; a class name is escaped for Markdown."""
    name = escape_markdown(event_name(event, class_names))
    match event:
        case OneClass(_):
            claim = "scored {says} on average, was the true one {was} of the time"
            return EventWords(f"{name.replace('{', '{{').replace('}', '}}')}, {claim}", name)
        case TopR(1):
            claim = "Among predictions scored {says} on average, {was} were right"
            return EventWords(claim, name)
        case TopR(r):
            claim = "scored {says} on average, was right {was} of the time"
            return EventWords(f"The class ranked {r}, {claim}", name)
        case WithinTopR(r):
            claim = "is given {says} on average, and was so {was} of the time"
            return EventWords(f"That the truth is among the first {r} classes {claim}", name)
