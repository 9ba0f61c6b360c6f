"""How events are called and spoken of."""

from dataclasses import dataclass, replace

from calibcore.events import OneClass, TopR, WithinTopR
from dashboard.readers import Upload
from dashboard.settings import ChosenEvent
from dashboard.texts.classes import shortened
from dashboard.texts.numbers import escape_markdown


@dataclass(frozen=True)
class EventWords:
    """How an event is called and spoken of."""

    means: str
    """Part of a sentence with places for the mean score and the observed frequency."""
    plain: str
    """What it is called, as plain text: "readmitted_30d = Yes" where the file names the outcome."""
    prediction: bool
    """Whether it is that the model's prediction is correct, so that scores are confidences."""
    named: bool = False
    """Whether it is called as the file calls it."""
    top: bool = False
    """Whether it is that the top prediction is correct."""

    @property
    def name(self) -> str:
        """What it is called, for Markdown."""
        return escape_markdown(self.plain)

    @property
    def in_sentence(self) -> str:
        """What it is called within a sentence, for Markdown."""
        return self.name if self.named else f"{self.name[0].lower()}{self.name[1:]}"

    @property
    def missed(self) -> str:
        """What a row is whose outcome is not the event, as plain text."""
        if self.top:
            return "wrong"
        return f"without {self.plain}" if self.named else "without the event"


def outcome_name(upload: Upload) -> str | None:
    """Return the name of the column of the true class; None where a file has none, or several."""
    if upload.summary is not None:
        return upload.counted_event[0]
    named = zip(upload.preview.headings, upload.preview.roles, strict=False)
    names = [name for name, role in named if role == "outcome" and name]
    return names[0] if len(names) == 1 and upload.class_names is not None else None


def event_name(
    event: ChosenEvent, class_names: tuple[str, ...] | None, outcome: str | None = None
) -> str:
    """Return the name of an event as plain text.

    ``event``: the event. ``class_names``: of all classes, as they came. ``outcome``: name of the
    column of the true class, where the file has one.
    """
    match event:
        case OneClass(k):
            name = str(class_names[k] if class_names else k)
            return (
                f"{shortened(outcome)} = {shortened(name)}"
                if outcome
                else f"Class {shortened(name)}"
            )
        case TopR(1):
            return "Top prediction"
        case TopR(r):
            return f"Prediction {r}"
        case WithinTopR(r):
            return f"Top-{r} set"


def event_words(
    event: ChosenEvent, class_names: tuple[str, ...] | None, outcome: str | None = None
) -> EventWords:
    """Return the words for an event; parameters are those of `event_name`."""
    plain = event_name(event, class_names, outcome)
    match event:
        case TopR(1):
            means = "mean score {score}, but {observed} correct"
            return EventWords(means, plain, prediction=True, top=True)
        case TopR(r):
            means = f"prediction {r}, mean score {{score}}, observed {{observed}}"
            return EventWords(means, plain, prediction=True)
        case WithinTopR(r):
            means = f"true class in the top {r}, mean score {{score}}, observed {{observed}}"
            return EventWords(means, plain, prediction=False)
        case OneClass(_):
            words = EventWords("", plain, prediction=False, named=outcome is not None)
            shown = words.in_sentence.replace("{", "{{").replace("}", "}}")
            return replace(words, means=f"{shown}, mean score {{score}}, observed {{observed}}")


def event_option(event: ChosenEvent, class_names: tuple[str, ...] | None) -> str:
    """Return what an event is called on the command line."""
    match event:
        case TopR(r):
            return f"top-{r}"
        case WithinTopR(r):
            return f"within-{r}"
        case OneClass(k):
            return class_names[k] if class_names else str(k)
