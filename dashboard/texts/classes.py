"""The table of classes, worst first, in words and numbers ready to be shown."""

import math
from dataclasses import dataclass

import numpy as np

from calibcore.inference import ClassScreen
from calibcore.verdict import DETECTION_LEVEL
from dashboard.settings import CLASS_BINS
from dashboard.texts.badges import NOT_DETECTED, badge_since
from dashboard.texts.numbers import escape_markdown, p_words

HEADING = "Classes"
ORDERS = {"before": "Worst before", "after": "Worst after"}
LOOK = "Show all classes"
LOOK_HELP = (
    "Each class against the others, before and after. With {n_samples:,} rows of {n_classes:,}"
    " classes it takes a few seconds."
)
FORMS = {"pictures": "Pictures", "table": "Table"}
HEAD = ("Class", "KS error before", "KS error after", "Rows", "Mean score", "Observed")

_ALONE = "this calibrator adjusts only the selected event."
NO_CLASSES_LEFT = f"\u2013: not available; {_ALONE}"

NO_CLASSES = (
    "This file has one score per row and no class probabilities, so classes cannot be compared. A"
    " file with one column per class has them."
)
TWO_CLASSES = (
    "With two classes, each mirrors the other. With **Class** on the left, every graph shows one of"
    " them."
)

_PICTURES_NOTE = (
    "Reliability diagrams, {n_bins} bins, 95% CI. Below the diagonal: scores too high. Click a"
    " class to select it on all pages."
)

_NOTE = (
    "Each class against the others; p-values are {adjusted}. Not detected: no miscalibration"
    " detected at this sample size."
)


@dataclass(frozen=True)
class OneSide:
    """A class on one side, in words."""

    ks_error: str
    """Its largest cumulative gap."""
    sign: str
    verdict: str
    p_value: str
    """A sign, the finding, and the adjusted p-value."""
    kind: str
    """The finding, for colours."""


def class_side(screen: ClassScreen, k: int, digits: int) -> OneSide:
    """Return what is shown of a class on one side."""
    mean_gap, left = float(screen.mean_gap[k]), bool(screen.remains[k])
    error, adjusted = float(screen.ks_error[k]), float(screen.adjusted[k])
    since = badge_since(mean_gap, error, adjusted, remains=left, prediction=False)
    verdict = "not detected" if since is NOT_DETECTED else since.in_sentence
    return OneSide(share(error, digits), since.icon, verdict, p_words(adjusted), since.kind)


def digits_of(screen: ClassScreen) -> int:
    """Return the decimals of a percentage that the rows of a usual class resolve."""
    finest = 100 * float(np.median(screen.null_deviation))
    return 1 if finest <= 0 else min(max(math.ceil(-math.log10(finest)), 1), 4)


def share(value: float, digits: int) -> str:
    """Return a percentage."""
    return f"{100 * value:.{digits}f}%"


def page_label(n_pages: int) -> str:
    """Return the name of the control that turns the pages."""
    return f"Page (of {n_pages:,})"


def button_label(name: str) -> str:
    """Return a class name for a button, cut where it is long."""
    return f"**{escape_markdown(shortened(name))}**"


def opened(name: str) -> str:
    """Return the message that a class was chosen as the event."""
    return f"Every graph now shows class {escape_markdown(shortened(name))}."


def shortened(name: str, most: int = 40) -> str:
    """Return a name, cut where it would fill the line.

    >>> shortened("Shirt"), shortened("x" * 60)[-3:], len(shortened("x" * 60))
    ('Shirt', 'xx\u2026', 40)
    """
    return name if len(name) <= most else f"{name[: most - 1]}\u2026"


def picture_title(
    before: ClassScreen, after: ClassScreen | None, k: int, *, expert: bool = False
) -> tuple[str, str]:
    """Return the title of the picture of a class: its KS error and the finding, each side."""
    digits = digits_of(before)
    was, *then = (class_side(one, k, digits) for one in (before, after) if one is not None)
    lines = [f"{s.sign} {s.p_value if expert else s.verdict}" for s in (was, *then)]
    if not then:
        return f"KS error {was.ks_error}", lines[0]
    error = was.ks_error.removesuffix("%")
    meaning = f"{lines[0]} \u2192 {lines[1]}" if lines[0] != lines[1] else f"{lines[0]} (both)"
    return f"KS error {error} \u2192 {then[0].ks_error}", meaning


def no_classes(class_names: tuple[str, ...] | None) -> str | None:
    """Return why there are no classes to compare; None where there are."""
    if class_names is None:
        return NO_CLASSES
    return TWO_CLASSES if len(class_names) < 3 else None


def classes_sentence(
    before: ClassScreen, after: ClassScreen | None, where: str, *, expert: bool = False
) -> str:
    """Return how many classes are miscalibrated, before and after."""
    n_classes = f"{before.n_classes:,}"
    how = f"({where}, {_adjusted(before, expert=expert)})."
    was = int(before.off(DETECTION_LEVEL).sum())
    now = None if after is None else int(after.off(DETECTION_LEVEL).sum())
    if not was and not now:
        when = "" if after is before else " before calibration"
        when = when if after in (None, before) else " before or after calibration"
        return f"No miscalibration detected in any of {n_classes} classes{when} {how}"
    then = " before calibration" if now is None else f" before calibration, {now:,} after"
    verb, then = "is" if was == 1 else "are", "" if after is before else then
    return f"{was:,} of {n_classes} classes {verb} miscalibrated{then} {how}"


def _adjusted(screen: ClassScreen, *, expert: bool) -> str:
    """Return how p-values allow for many classes."""
    return f"{'Holm-' if expert else ''}adjusted for {screen.n_classes:,} tests"


def pictures_note(after: ClassScreen | None) -> str:
    """Return how the pictures are read, and why there may be none after calibration."""
    text = _PICTURES_NOTE.format(n_bins=CLASS_BINS)
    return text if after is not None else f"{text} Only before: {_ALONE}"


def classes_note(before: ClassScreen, after: ClassScreen | None, *, expert: bool = False) -> str:
    """Return what the p-values are of, and what a dash means."""
    text = _NOTE.format(adjusted=_adjusted(before, expert=expert))
    return text if after is not None else f"{text} {NO_CLASSES_LEFT}"
