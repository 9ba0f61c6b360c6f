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
    means : str
        Part of a sentence with places for the mean score and the observed frequency.
    name : str
        What it is called, for Markdown.
    prediction : bool
        Whether it is that the model's prediction is correct, so that scores are confidences.
    """

    means: str
    name: str
    prediction: bool


def event_name(event: ChosenEvent, class_names: tuple[str, ...] | None) -> str:
    """Return the name of an event; a class name is as it came, to be escaped where it is shown."""
    match event:
        case OneClass(k):
            return f"Class {class_names[k] if class_names else k}"
        case TopR(1):
            return "Top prediction"
        case TopR(r):
            return f"Prediction {r}"
        case WithinTopR(r):
            return f"Top-{r} set"


def event_words(event: ChosenEvent, class_names: tuple[str, ...] | None) -> EventWords:
    """Return the words for an event; a class name is escaped for Markdown."""
    name = escape_markdown(event_name(event, class_names))
    shown = name.replace("{", "{{").replace("}", "}}")
    match event:
        case TopR(1):
            return EventWords("mean score {score}, but {observed} correct", name, prediction=True)
        case TopR(r):
            means = f"prediction {r}, mean score {{score}}, observed {{observed}}"
            return EventWords(means, name, prediction=True)
        case WithinTopR(r):
            means = f"true class in the top {r}, mean score {{score}}, observed {{observed}}"
            return EventWords(means, name, prediction=False)
        case OneClass(_):
            means = f"{shown[0].lower()}{shown[1:]}, mean score {{score}}, observed {{observed}}"
            return EventWords(means, name, prediction=False)
