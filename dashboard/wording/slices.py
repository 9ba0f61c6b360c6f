"""Parts of the rows: what they are called, how far each is off, and which rows were wrong."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calibcore.slices import SliceScreen, SliceShares
from dashboard.readers import Upload
from dashboard.wording.classes import shortened
from dashboard.wording.numbers import (
    MINUS,
    escape_markdown,
    in_full,
    p_words,
    percent,
    points,
)
from dashboard.wording.verdicts import DETECTION_LEVEL

PREDICTED, TRUE = "Predicted class", "True class"
SCORES = {"Score, 5 ranges": 5, "Score, 10 ranges": 10}
"""Ways to tell rows apart by their score, and into how many ranges each cuts them."""

COLUMN = "{name} (column)"
"""Name of a column of the file that is called as one of the ways above."""

BLANK = "(blank)"
ALL_ROWS = "All rows"
ONLY, ONLY_VALUE = "Only rows told apart by", "which are"
ONLY_HELP = (
    "Every page then judges these rows alone. The calibrator stays fitted on all rows of the"
    " calibration set."
)
SHOW_ALL = "Show all rows"

BY = "Tell the rows apart by"
BY_HELP = (
    "Classes, the score, or any further column of the file: its words, its few values, or ranges of"
    " its numbers that hold about as many rows each."
)
OPEN, OPEN_PLACE = "Show one of them alone, on every page", "Choose a slice"
OPEN_HELP = (
    "Slices without rows in one of the two sets are not offered, as no page could show both."
)
WORST_BEFORE, WORST_AFTER = "Worst before", "Worst after"
HEAD = ("Slice", "Mean gap, points", "KS error", "Accuracy")
NO_CLASSES = (
    "This file holds one score a row and no class probabilities, so its rows cannot be told apart"
    " by class; only by score and by further columns."
)
NO_COLUMNS = "Beside scores and labels the file has no column to offer, such as light or hospital."
SAME_SCORES = "Ranges of the score before calibration, so that both sides are of the same rows."


# Names ---------------------------------------------------------------------------------------


def category_names(texts: Sequence[str]) -> tuple[str, ...]:
    """Name categories, all differently.

    Examples
    --------
    >>> category_names(["day", "", "day"])
    ('day', '(blank)', 'day [3]')
    """
    names: list[str] = []
    for place, text in enumerate(texts, start=1):
        name = text or BLANK
        names.append(f"{name} [{place}]" if name in names else name)
    return tuple(names)


def nth_range(k: int, n_ranges: int) -> str:
    """Name a range of scores whatever its ends are, so that the name outlives a change of event."""
    return f"range {k + 1} of {n_ranges}"


def score_ranges(low: Sequence[float], high: Sequence[float]) -> tuple[str, ...]:
    """Write ranges of scores, each with as few decimals as tell it, and its ends, apart.

    Only a score of 1 is written as 100 %.

    Examples
    --------
    >>> ranges = score_ranges([0.2, 0.9991, 0.99998], [0.999, 0.99997, 1.0])
    >>> list(ranges)
    ['20.0 to 99.9%', '99.910 to 99.997%', '99.998 to 100.000%']
    """
    names: list[str] = []
    for a, b in zip(low, high, strict=True):
        name = ""
        for digits in range(1, 14):
            first, last = f"{100 * a:.{digits}f}", f"{100 * b:.{digits}f}"
            name = f"{first if first == last else f'{first} to {last}'}%"
            parted = (first == last) == (a == b) and (b == 1 or float(last) < 100)
            if parted and name not in names:
                break
        names.append(name)
    return tuple(names)


def range_names(low: Sequence[float], high: Sequence[float]) -> tuple[str, ...]:
    """Name ranges of numbers with as few digits as tell them apart.

    Examples
    --------
    >>> range_names([18.0, 30.0], [29.0, 30.0]), range_names([100_234.0], [100_833.0])
    (('18 to 29', '30'), ('100234 to 100833',))
    """
    ends, names = list(zip(low, high, strict=True)), [""]
    for digits in (4, 6, 9, 17):
        written = [(in_full(a, digits), in_full(b, digits)) for a, b in ends]
        names = [a if a == b else f"{a} to {b}" for a, b in written]
        parted = [a == b for a, b in ends] == [a == b for a, b in written]
        if parted and len(set(names)) == len(names):
            break
    return tuple(name.replace("-", MINUS).replace("e+", "e") for name in names)


def slice_name(by: str, shown: str) -> str:
    """Say which rows a slice holds, as the file has it: to be escaped where it is shown."""
    if by in SCORES:
        return f"score {shown}"
    if by in {PREDICTED, TRUE}:
        return f"{by.lower()} {shown}"
    return f"{by} = {shown}"


def only_line(part: str, n_rows: int, n_all: int) -> str:
    """Say on every page which rows are judged, for Markdown."""
    shown = escape_markdown(part)
    return f"Only rows where {shown}: {n_rows:,} of {n_all:,}."


# The conclusion ------------------------------------------------------------------------------


def conclusion(
    screens: tuple[SliceScreen, SliceScreen | None],
    by: str,
    shown: Sequence[str],
    *,
    after_first: bool,
    expert: bool,
) -> str:
    """Say which slice is worst and how many are off.

    Parameters
    ----------
    screens : tuple of SliceScreen
        Before and after; after is None where nothing was fitted.
    by, shown
        How the slices are called; the text is escaped here.
    after_first : bool
        Whether the worst after calibration is meant.
    expert : bool
        Whether p-values are named.
    """
    before, after = screens
    first = after if after is not None and after_first else before
    worst = int(first.order(DETECTION_LEVEL)[0])
    name = escape_markdown(slice_name(by, shortened(shown[worst])))
    if not before.judged.any():
        return _not_judged(before, worst, name)
    n_judged = int(before.judged.sum())
    together = "the only slice with enough rows" if n_judged == 1 else f"{n_judged:,} slices"
    counts = [int(screen.off(DETECTION_LEVEL).sum()) for screen in screens if screen is not None]
    if not any(counts):
        when = "before calibration" if after is None else "before or after calibration"
        return f"Of {together}, none is found off {when} at this sample size."
    start = ""
    if first.off(DETECTION_LEVEL)[worst]:
        when = "after" if first is not before else "before"
        adjusted = f" ({p_words(float(first.adjusted[worst]))}, Holm)" if expert else ""
        start = f"Worst {when} calibration: {name}, {_far(first, worst)}{adjusted}. "
    if n_judged == 1:
        return start + _only_one(counts)
    found = [_count(count) for count in counts]
    then = f" and {found[1]} after it" if after is not None else ""
    how = "family-wise 5%, Holm" if expert else f"corrected for looking at {n_judged:,}"
    return f"{start}Of {together}, {found[0]} off before calibration{then} ({how})."


def _only_one(counts: Sequence[int]) -> str:
    """Say whether the only slice with enough rows is off, before and, if that differs, after."""
    found = ["is off" if count else "is not found off" for count in counts]
    then = f" and {found[1]} after it" if len(found) > 1 else ""
    return f"The only slice with enough rows {found[0]} before calibration{then}."


def _count(number_off: int) -> str:
    if number_off == 0:
        return "none is found"
    return f"{number_off:,} {'is' if number_off == 1 else 'are'}"


def _far(screen: SliceScreen, k: int) -> str:
    """Say how a slice is off."""
    gap, error = float(screen.mean_gap[k]), float(screen.ks_error[k])
    how = "overconfident" if gap > 0 else "underconfident"
    if abs(gap) < error / 2:
        how = "too sure at some scores and not sure enough at others"
    return f"{how}, KS error {percent(error, int(screen.rows[k]))}"


def _not_judged(screen: SliceScreen, worst: int, name: str) -> str:
    """Say why no slice is judged: all are small, or they are made by the truth."""
    rows = int(screen.rows[worst])
    if rows < screen.least:
        return f"No slice has the {screen.least} rows that a judgement needs."
    says, was = (
        percent(float(value[worst]), rows) for value in (screen.mean_score, screen.frequency.share)
    )
    return (
        f"Farthest apart: {name}, which says {says} on average where {was} came true. By true class"
        " nothing is judged: the true class is not known when the model speaks, so a perfect model"
        " is off in it too."
    )


# The table -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class OneSide:
    """A slice on one side, in words.

    Parameters
    ----------
    ks_error, gap, interval : str
        KS error, mean gap and the interval of the latter.
    sign, verdict, kind : str
        A sign and a word for the finding, and its kind, for colours.
    p_value : str
        Adjusted; nothing where the slice is not judged.
    """

    ks_error: str
    gap: str
    interval: str
    sign: str
    verdict: str
    kind: str
    p_value: str


@dataclass(frozen=True)
class SliceRow:
    """One slice of the table.

    Parameters
    ----------
    name, rows : str
        As the file has it, to be escaped; and how many rows it holds.
    before : OneSide
        Uncalibrated.
    after : OneSide or None
        Calibrated; None where nothing was fitted.
    right, right_interval : str
        Accuracy, before and after where it changed, and its interval; "" where it is not known.
    """

    name: str
    rows: str
    before: OneSide
    after: OneSide | None
    right: str
    right_interval: str


def slice_rows(
    shown: Sequence[str],
    screens: tuple[SliceScreen, SliceScreen | None],
    right: tuple[SliceShares | None, SliceShares | None],
    order: Sequence[int],
) -> list[SliceRow]:
    """Write the rows of the table.

    Parameters
    ----------
    shown : sequence of str
        What each slice holds.
    screens, right : tuple
        What was found before and after; after is None where nothing was fitted.
    order : sequence of int
        The slices to write.
    """
    before, after = screens
    return [
        SliceRow(
            name=shown[k],
            rows=f"{before.rows[k]:,} row{'' if before.rows[k] == 1 else 's'}",
            before=_side(before, k),
            after=None if after is None else _side(after, k),
            right=_right(right, k, int(before.rows[k])),
            right_interval=_right_interval(right[0], k, int(before.rows[k])),
        )
        for k in order
    ]


def _side(screen: SliceScreen, k: int) -> OneSide:
    rows, adjusted = int(screen.rows[k]), float(screen.adjusted[k])
    low, high = (
        points(float(end[k]), rows, signed=True) for end in (screen.gap_low, screen.gap_high)
    )
    return OneSide(
        percent(float(screen.ks_error[k]), rows),
        points(float(screen.mean_gap[k]), rows, signed=True),
        f"{low.removesuffix(' points')} to {high.removesuffix(' points')}",
        *_finding(screen, k),
        "" if math.isnan(adjusted) else p_words(adjusted),
    )


def _finding(screen: SliceScreen, k: int) -> tuple[str, str, str]:
    """Give a sign, a word and a kind for what is found of a slice."""
    gap = float(screen.mean_gap[k])
    if not screen.judged[k]:
        return "\u2013", "too few rows" if screen.rows[k] < screen.least else "not judged", "none"
    if not screen.off(DETECTION_LEVEL)[k]:
        return "\u25cb", "not detected", "none"
    if abs(gap) < screen.ks_error[k] / 2:
        return "\u25c6", "off, mixed", "over"
    return ("\u25b2", "off, too sure", "over") if gap > 0 else ("\u25bc", "off, not sure", "under")


def _right(right: tuple[SliceShares | None, SliceShares | None], k: int, rows: int) -> str:
    before, after = right
    if before is None:
        return ""
    was = percent(float(before.share[k]), rows)
    now = was if after is None else percent(float(after.share[k]), rows)
    return was if was == now else f"{was.removesuffix('%')} \u2192 {now}"


def _right_interval(right: SliceShares | None, k: int, rows: int) -> str:
    if right is None:
        return ""
    low, high = (percent(float(end[k]), rows) for end in (right.low, right.high))
    return f"{low.removesuffix('%')} to {high}"


def both(shares: Iterable[str]) -> str:
    """Write shares before and after, with the unit once."""
    return " \u2192 ".join(shares).replace("% \u2192", " \u2192")


def table_note(screen: SliceScreen, n_shown: int, *, by: str, expert: bool) -> str:
    """Say what the columns are, and what is not judged and why."""
    text = (
        "Mean gap: average score less observed frequency; above 0 the scores say too much. KS"
        " error: the widest gap of the running totals. Small figures: 95 of 100 such intervals hold"
        " the true value."
    )
    if by in SCORES:
        text += f" {SAME_SCORES}"
    if screen.judged.any():
        text += (
            " Off: chance alone does not explain the KS error, allowing for"
            f" {screen.judged.sum():,} slices looked at together"
        )
        text += " (Brownian limit or Poisson tail, Holm)." if expert else "."
    small = int(((screen.rows > 0) & (screen.rows < screen.least)).sum())
    if small:
        several = "1 slice has" if small == 1 else f"{small:,} slices have"
        text += (
            f" {several} fewer than {screen.least} rows: shown, but not judged, because so few rows"
            " can show anything by chance."
        )
    empty = screen.n_slices - n_shown
    if empty:
        several = "1 slice has" if empty == 1 else f"{empty:,} slices have"
        text += f" {several} no row here."
    return text


def dots_caption(screen: SliceScreen, after: SliceScreen | None) -> str:
    """Say what the dots show."""
    name = (
        "Circle: before; dot: after calibration." if after is not None else "Circle: its mean gap."
    )
    covering = (screen.gap_low <= 0) & (screen.gap_high >= 0)
    covered = int(covering[screen.rows > 0].sum())
    return (
        f"{name} Whisker: interval of the mean gap, each slice by itself. Dotted: no gap; right of"
        f" it the scores say too much. Before calibration {covered:,} of"
        f" {int((screen.rows > 0).sum()):,} whiskers reach it."
    )


def missing(upload: Upload, by: str) -> list[str]:
    """Say what the rows cannot be told apart by, and why."""
    said = [NO_CLASSES] if upload.class_names is None else []
    if not any(upload.columns.values()) and by not in {PREDICTED, TRUE}:
        said.append(NO_COLUMNS)
    return said
