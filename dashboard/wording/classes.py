"""The table of classes, worst first, in words and numbers ready to be shown."""

import math
from dataclasses import dataclass

import numpy as np

from calibcore.inference import ClassScreen
from dashboard.settings import CLASS_BINS
from dashboard.wording.numbers import escape_markdown, p_words
from dashboard.wording.verdicts import DETECTION_LEVEL

HEADING = "Classes, worst first"
WORST_BEFORE, WORST_AFTER = "Worst before", "Worst after"
LOOK = "Look at every class"
LOOK_HELP = (
    "Each class against the others, before and after. With {n_samples:,} rows of {n_classes:,}"
    " classes it takes a few seconds."
)
PICTURES, TABLE = "Pictures", "Table"

_ALONE = (
    "this calibrator changes the score of the chosen event alone, so there are no class"
    " probabilities to look at afterwards. One that acts on all classes, such as temperature"
    " scaling, leaves some."
)
NO_CLASSES_LEFT = f"\u2013: {_ALONE}"

NO_CLASSES = (
    "This file holds one score a row and no class probabilities, so there are no classes to look"
    " at. A file with one column a class has them."
)
TWO_CLASSES = (
    "With two classes each mirrors the other, so there is no more to compare. With **Class** on the"
    " left every graph shows one of them."
)

_PICTURES_NOTE = (
    "Across: mean score of a bin, always one of {n_bins}. Up: how often the class was the true one,"
    " with its interval. Both from 0 to 100%; dotted: a perfect model; below it, the class"
    " is claimed too often. A name opens its class in every graph of every page."
)

_NOTE = (
    "KS error of each class against the others, and whether it claims too much or too little. Off:"
    " chance alone does not explain it; p-values are adjusted (Holm) for looking at {n_classes:,}"
    " classes at once, so that even one wrong call is made in at most 5 of 100 cases. Not detected:"
    " no miscalibration detected at this sample size. Says: its average score. Was: how often it"
    " was the true class."
)


_LONGEST_NAME = 40


@dataclass(frozen=True)
class OneSide:
    """A class on one side, in words.

    Parameters
    ----------
    ks_error : str
        How far it is off.
    sign, verdict, p_value : str
        A sign, the finding, and the adjusted p-value.
    kind : {"over", "under", "none"}
        The finding, for colours.
    """

    ks_error: str
    sign: str
    verdict: str
    p_value: str
    kind: str


@dataclass(frozen=True)
class ClassRow:
    """One class of the table.

    Parameters
    ----------
    name : str
        As the file has it: to be escaped.
    rows, says, was : str
        How many rows it has, its mean score, its observed frequency.
    before : OneSide
        How far it is off.
    after : OneSide or None
        The same after calibration; None where no class probabilities are left.
    """

    name: str
    rows: str
    says: str
    was: str
    before: OneSide
    after: OneSide | None


def class_rows(
    names: tuple[str, ...], before: ClassScreen, after: ClassScreen | None, order: list[int]
) -> list[ClassRow]:
    """Write the rows of the table.

    Parameters
    ----------
    names : tuple of str
        Of all classes.
    before, after : ClassScreen
        What was found; None where no class probabilities are left.
    order : list of int
        The classes to write.
    """
    digits = _digits(before)
    rows = []
    for k in order:
        says = _share(before.mean_score[k], digits)
        if after is not None and (then := _share(after.mean_score[k], digits)) != says:
            says = f"{says.removesuffix('%')} \u2192 {then}"
        rows.append(
            ClassRow(
                name=names[k],
                rows=f"{before.rows[k]:,}",
                says=says,
                was=_share(before.frequency[k], digits),
                before=_side(before, k, digits),
                after=None if after is None else _side(after, k, digits),
            )
        )
    return rows


def _side(screen: ClassScreen, k: int, digits: int) -> OneSide:
    adjusted = float(screen.adjusted[k])
    if adjusted >= DETECTION_LEVEL:
        sign, verdict, kind = "\u25cb", "not detected", "none"
    elif screen.gap[k] > 0:
        sign, verdict, kind = "\u25b2", "off, too much", "over"
    else:
        sign, verdict, kind = "\u25bc", "off, too little", "under"
    return OneSide(_share(screen.ks_error[k], digits), sign, verdict, p_words(adjusted), kind)


def _digits(screen: ClassScreen) -> int:
    """Give the decimals of a percentage that the rows of a usual class can tell apart."""
    finest = 100 * float(np.median(screen.null_deviation))
    return 1 if finest <= 0 else min(max(math.ceil(-math.log10(finest)), 1), 4)


def _share(value: float, digits: int) -> str:
    return f"{100 * value:.{digits}f}%"


def page_label(n_pages: int) -> str:
    """Name the control that turns the pages."""
    return f"Page, of {n_pages:,}"


def button_label(name: str) -> str:
    """Write a class name on a button, cut where it is long."""
    return f"**{escape_markdown(shortened(name))}**"


def opened(name: str) -> str:
    """Say that a class was chosen as the event."""
    return f"Every graph now shows class {escape_markdown(shortened(name))}."


def shortened(name: str) -> str:
    """Cut a name that would fill the line.

    Examples
    --------
    >>> shortened("Shirt"), shortened("x" * 60)[-3:], len(shortened("x" * 60))
    ('Shirt', 'xx\u2026', 40)
    """
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}\u2026"


def picture_title(row: ClassRow, *, expert: bool = False) -> tuple[str, str]:
    """Say what stands over the picture of a class: its KS error, and what that means, each side."""
    was, now = row.before, row.after
    found = [f"{s.sign} {s.p_value if expert else s.verdict}" for s in (was, now) if s is not None]
    if now is None:
        return f"KS error {was.ks_error}", found[0]
    before = was.ks_error.removesuffix("%")
    meaning = f"{found[0]} \u2192 {found[1]}" if found[0] != found[1] else f"{found[0]} (both)"
    return f"KS error {before} \u2192 {now.ks_error}", meaning


def no_classes(class_names: tuple[str, ...] | None) -> str | None:
    """Say why there are no classes to compare; None where there are."""
    if class_names is None:
        return NO_CLASSES
    return TWO_CLASSES if len(class_names) < 3 else None


def classes_sentence(before: ClassScreen, after: ClassScreen | None, where: str) -> str:
    """Say how many classes are off, before and after."""
    start = f"Of {before.n_classes:,} classes looked at together,"
    how = f"({where}, Holm-adjusted at 5%)."
    was = int(before.off(DETECTION_LEVEL).sum())
    now = None if after is None else int(after.off(DETECTION_LEVEL).sum())
    if not was and not now:
        when = " before calibration" if now is None else ", before or after calibration"
        return f"{start} none is found off at this sample size{when} {how}"
    then = "" if now is None else f" and {_count(now)} after it"
    return f"{start} {_count(was)} before calibration{then} {how}"


def _count(number: int) -> str:
    if number == 0:
        return "none is found off"
    return "1 is off" if number == 1 else f"{number:,} are off"


def pictures_note(before: ClassScreen, after: ClassScreen | None) -> str:
    """Say how the pictures are read, and why there may be none after calibration."""
    text = _PICTURES_NOTE.format(n_bins=CLASS_BINS)
    adjusted = (
        f"Off: chance alone does not explain it, allowing for {before.n_classes:,} classes looked"
        " at together (Holm)."
    )
    missing = "" if after is not None else f" Only before: {_ALONE}"
    return f"{text} {adjusted}{missing}"


def classes_note(before: ClassScreen, after: ClassScreen | None) -> str:
    """Say what the columns are, and what a dash means."""
    text = _NOTE.format(n_classes=before.n_classes)
    return text if after is not None else f"{text} {NO_CLASSES_LEFT}"
