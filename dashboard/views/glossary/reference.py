"""What the glossary says: most of it is what the program itself says of its parts."""

import inspect
import re

import calibcore.metrics
from calibcore.calibrators import CATALOGUE, Method
from calibcore.metrics import METRICS, Measure
from dashboard.texts.glossary import GLOSSARY, TERMS
from dashboard.texts.measures import GROUPS

INTRO = "Every word, measure and calibrator of the pages: what it is, its formula, its source."

WORDS, MEASURES, CALIBRATORS = "Words", "Measures", "Calibrators"

SITE = "Documentation: browser, command, Python"
SEEN_ON = "See what it does to the scores"

_UNITS = {
    "share": "a share", "squared": "squared", "small": "squared", "nats": "nats", "rows": "rows",
    "number": "",
}  # fmt: skip
_BETTER = {
    "lower": "lower is better", "higher": "higher is better", "nearer": "nearer to ideal is better",
    "neither": "neither high nor low is better",
}  # fmt: skip


def words() -> list[tuple[str, str]]:
    """Return each term and its definition."""
    return [(name, GLOSSARY[key]) for key, name in TERMS.items()]


def measures() -> list[tuple[str, tuple[Measure, ...]]]:
    """Return the measures by group, each under its heading."""
    return [
        (title, tuple(one for one in METRICS if one.group == group))
        for group, title in GROUPS.items()
    ]


def facts(measure: Measure) -> str:
    """Return unit, direction, source and key of a measure."""
    parts = (_UNITS[measure.unit], _BETTER[measure.better], measure.source, f"`{measure.key}`")
    return " \u00b7 ".join(filter(None, parts))


def calibrators() -> tuple[Method, ...]:
    """Return every calibrator that is offered."""
    return CATALOGUE


def needs(method: Method) -> str:
    """Say when a calibrator can be used, and what it keeps."""
    if method.knows_groups:
        known = "the scores of one event, and the group of each row, are known"
    elif method.acts_on == "event":
        known = "only the scores of one event are known, or only they matter"
    else:
        known = "the logits or probabilities of all classes are known"
    text = "stay" if method.preserves_accuracy else "may change"
    return f"Use it where {known}; predicted classes {text}."


def notes_of_measure(measure: Measure) -> str:
    """Return formula and conventions of a measure, as its function has them where it does."""
    return measure.formula or section(getattr(calibcore.metrics, measure.key, None), "Notes")


def notes_of_calibrator(method: Method) -> str:
    """Return formula and conventions of a calibrator, as its class has them; "" for none."""
    return section(type(method.make()), "Notes")


def section(of: object, name: str) -> str:
    """Return a section of a docstring as plain text; "" where there is none.

    >>> section(calibcore.metrics.ece, "Notes").endswith("empty bins weigh nothing.")
    True
    """
    text = inspect.getdoc(of) if callable(of) else None
    match = re.search(
        rf"^{name}\n-+\n(.*?)(?=\n\n[A-Z][A-Za-z ]*\n-+\n|\Z)", text or "", re.S | re.M
    )
    return match[1].strip() if match else ""
