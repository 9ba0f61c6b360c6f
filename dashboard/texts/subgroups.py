"""Names of subgroups of the rows, and of the ways to group and filter rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibcore.inference import GroupGaps
from calibcore.verdict import DETECTION_LEVEL, Direction
from dashboard.texts.badges import LEFT, of_direction, still
from dashboard.texts.classes import shortened
from dashboard.texts.numbers import (
    MINUS,
    detected_points,
    escape_markdown,
    in_full,
    listing,
    p_words,
    pp,
    span,
)
from dashboard.texts.rows import rows_of

PREDICTED, TRUE = "Predicted class", "True class"
SCORES = {"Score, 5 ranges": 5, "Score, 10 ranges": 10}
"""Ways to group rows by their score, and into how many ranges each cuts them."""

COLUMN = "{name} (column)"
"""Name of a column of the file that is called as one of the ways above."""

BLANK = "(blank)"
ALL_ROWS = "All rows"
ONLY, ONLY_VALUE = "Filter by", "Value"
ONLY_FROM, ONLY_UNTIL, ONLY_SAME = "From", "Until", "The same period"
ONLY_HELP = (
    "All pages then evaluate these rows only. The calibrator is still fitted on the whole"
    " calibration set."
)
SHOW_ALL = "Show all rows"

CALIBRATE_BY = "Calibrate by"
CALIBRATE_BY_HELP = (
    "Each group of this column gets its own shift and slope, as far as its rows support them. A"
    " group that the calibration set does not have gets the map of all rows."
)
KNOWN_GROUPS = (
    "The group must be known for every new row. For some groups, such as sex or ethnicity, law or"
    " ethics may forbid its use."
)


def all_known(columns: Sequence[str]) -> str:
    """Return which columns a calibrator takes, and what that needs, for Markdown."""
    named = columns_named(columns)
    return f"{named[:1].upper()}{named[1:]} {KNOWN_GROUPS}"


def columns_named(columns: Sequence[str]) -> str:
    """Return the columns whose groups a calibrator is given, for Markdown.

    >>> columns_named(["ward", "sex", "age"])
    'groups of the columns ward, sex and age.'
    """
    names = listing([escape_markdown(column) for column in columns])
    return f"groups of the column{'s' * (len(columns) > 1)} {names}."


def category_names(texts: Sequence[str]) -> tuple[str, ...]:
    """Return names of categories, all different.

    >>> category_names(["day", "", "day"])
    ('day', '(blank)', 'day [3]')
    """
    names: list[str] = []
    for place, text in enumerate(texts, start=1):
        name = text or BLANK
        names.append(f"{name} [{place}]" if name in names else name)
    return tuple(names)


def nth_range(k: int, n_ranges: int) -> str:
    """Return a name for a range of scores that outlives a change of event."""
    return f"range {k + 1} of {n_ranges}"


def score_ranges(low: Sequence[float], high: Sequence[float]) -> tuple[str, ...]:
    """Return ranges of scores, with as few decimals as keep them and their ends apart.

    Only a score of 1 is written as 100%.
    """
    names: list[str] = []
    for a, b in zip(low, high, strict=True):
        name = ""
        for digits in range(1, 14):
            first, last = f"{100 * a:.{digits}f}%", f"{100 * b:.{digits}f}%"
            name = first if first == last else span(first, last)
            full = b == 1 or float(last.removesuffix("%")) < 100
            if (first == last) == (a == b) and full and name not in names:
                break
        names.append(name)
    return tuple(names)


def range_names(low: Sequence[float], high: Sequence[float]) -> tuple[str, ...]:
    """Return names of ranges of numbers, with as few digits as keep them apart."""
    ends, names = list(zip(low, high, strict=True)), [""]
    for digits in (4, 6, 9, 17):
        written = [(in_full(a, digits), in_full(b, digits)) for a, b in ends]
        names = [a if a == b else f"{a} to {b}" for a, b in written]
        apart = [a == b for a, b in ends] == [a == b for a, b in written]
        if apart and len(set(names)) == len(names):
            break
    return tuple(name.replace("-", MINUS).replace("e+", "e") for name in names)


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def period_name(name: str) -> str:
    """Return a month, week or quarter as it is written; a year and other texts stay.

    >>> period_name("2025-03"), period_name("2025-Q1"), period_name("2025")
    ('Mar 2025', 'Q1 2025', '2025')
    """
    year, _, part = name.partition("-")
    if not part:
        return name
    return f"{part if part[0] in 'QW' else _MONTHS[int(part) - 1]} {year}"


def cut_names(cuts: Sequence[float], *, whole: bool) -> tuple[str, ...]:
    """Return names of the ranges between numbers; each number belongs to the range above it.

    >>> cut_names([3.0, 6.0, 7.0], whole=True), cut_names([2.5, 10.0], whole=False)
    (('up to 2', '3 to 5', '6', '7 and more'), ('below 2.5', '2.5 to 10', '10 and more'))
    """
    written = [_number(cut) for cut in cuts]
    last = [_number(cut - 1) for cut in cuts] if whole else written
    inner = [
        low if low == high else f"{low} to {high}"
        for low, high in zip(written[:-1], last[1:], strict=True)
    ]
    return (f"{'up to' if whole else 'below'} {last[0]}", *inner, f"{written[-1]} and more")


def _number(value: float) -> str:
    return in_full(value, 15).replace("-", MINUS).replace("e+", "e")


def shown_range(name: str) -> str:
    """Return a range of numbers as it is shown; its name in an address stays as it was.

    >>> shown_range("18 to 29"), shown_range("\u22121 to 1"), shown_range("up to 17")
    ('18\u201329', '\u22121 to 1', 'up to 17')
    """
    low, _, high = name.partition(" to ")
    return span(low, high) if high and low != "up" else name


def subgroup_name(by: str, shown: str) -> str:
    """Describe the rows of a subgroup, as the file has it: to be escaped where it is shown."""
    if by in SCORES:
        return f"score {shown}"
    if by in {PREDICTED, TRUE}:
        return f"{by.lower()} {shown}"
    return f"{by} = {shown}"


def only_line(part: str, n_rows: int, n_all: int) -> str:
    """Describe on every page which rows are evaluated, for Markdown."""
    return f"Filtered to {escape_markdown(part)}: {n_rows:,} of {rows_of(n_all)}."


_NAMED = 4
"""Miscalibrated subgroups that are named."""

GroupNamer = Callable[[GroupGaps, int], tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Groups:
    """The subgroups, as sentences need them."""

    before: GroupGaps
    after: GroupGaps
    """The same object where nothing was fitted."""
    name: GroupNamer
    """Given one of them and a group, what it is grouped by and its name."""
    prediction: bool
    """Whether scores are of a prediction, rather than of a class or a risk."""
    drifts: tuple[bool, bool] = (False, False)
    """Whether scores drift over a column of dates, before and after."""

    def off(self, *, after: bool) -> bool:
        """Return whether a subgroup is off by more than the whole score is."""
        side = self.after if after else self.before
        return bool(side.own(DETECTION_LEVEL).any())

    def worst(self, *, after: bool) -> str:
        """Return the worst subgroup of one side with direction and size; empty if none is off.

        Example: "ward = C, scores too low by 10.0 percentage points (95% CI 7.1\u201312.9)".
        """
        side = self.after if after else self.before
        k = side.worst(DETECTION_LEVEL)
        return "" if k is None else self._described(side, k)

    def counted(self, *, after: bool) -> str:
        """Return which subgroups of all groupings are miscalibrated, worst first, for Markdown.

        Empty where none is. An example:
        "Miscalibrated in 2 of 12 subgroups: ward = B (10.0 percentage points too low), age = 60 to
        80 (still 4.1 too high)."
        """
        side = self.after if after else self.before
        off = np.flatnonzero(side.off(DETECTION_LEVEL))
        if not off.size:
            return ""
        off = off[np.argsort(-np.abs(side.gap[off]), kind="stable")]
        named = [self._counted(side, k, first=not n) for n, k in enumerate(off[:_NAMED].tolist())]
        more = [f"{off.size - _NAMED:,} more"] if off.size > _NAMED else []
        return f"Miscalibrated in {off.size:,} of {_subgroups(side)}: {', '.join([*named, *more])}."

    def over_all(self) -> str:
        """Return the error over the subgroups of all groupings, before and after.

        Example: "Error over all 12 subgroups (size of the mean gap, weighted by rows): 1.2 pp on
        average, 4.0 pp at most; before calibration 6.1 and 15.0 pp."
        """
        if not self.before.n_groups:
            return ""
        n_rows = int(self.before.rows.max())

        def sizes(side: GroupGaps) -> tuple[str, str]:
            return pp(side.mean_size, n_rows), pp(float(np.abs(side.gap).max()), n_rows)

        mean, largest = sizes(self.after)
        was = ""
        if self.after is not self.before:
            mean_was, largest_was = sizes(self.before)
            was = f"; before calibration {mean_was.removesuffix(' pp')} and {largest_was}"
        return (
            f"Error over all {_subgroups(self.before)} (size of the mean gap, weighted by rows):"
            f" {mean} on average, {largest} at most{was}."
        )

    def _counted(self, side: GroupGaps, k: int, *, first: bool) -> str:
        gap = detected_points(abs(float(side.gap[k])), int(side.rows[k]))
        size = gap if first else gap.removesuffix(" percentage points")
        when = "still " if side.adjusted[k] >= DETECTION_LEVEL else ""
        return f"{self._name(side, k)} ({when}{size} too {'high' if side.gap[k] > 0 else 'low'})"

    def _name(self, side: GroupGaps, k: int) -> str:
        by, shown = self.name(side, k)
        return escape_markdown(subgroup_name(shortened(by), shortened(shown)))

    def _described(self, side: GroupGaps, k: int) -> str:
        gap, rows = float(side.gap[k]), int(side.rows[k])
        way: Direction = "too high" if gap > 0 else "too low"
        badge = of_direction(way, prediction=self.prediction)
        shown = side.adjusted[k] < DETECTION_LEVEL
        what = (badge if shown else still(badge)).in_sentence
        left = "" if shown else f": {LEFT}"
        sign = 1 if gap > 0 else -1
        ends = sorted(sign * float(end[k]) for end in (side.low, side.high))
        low, high = (pp(end, rows).removesuffix(" pp") for end in ends)
        size = detected_points(abs(gap), rows)
        return f"{self._name(side, k)}, {what} by {size} (95% CI {span(low, high)}{left})"


def worst_lines(groups: Groups, *, expert: bool = False) -> list[str]:
    """Return the worst subgroup before and after, for Markdown; empty where none is tested."""
    if not groups.before.n_groups:
        return []
    n_groups = _subgroups(groups.before)
    same = groups.after is groups.before
    texts = [
        _line(groups, after=after, expert=expert) for after in ((False,) if same else (False, True))
    ]
    if not any(texts):
        when = "" if same else ", before or after calibration"
        return [f"No mean gap detected in any of {n_groups}{when}."]
    names = ("Worst subgroup",) if same else ("Worst subgroup before", "Worst subgroup after")
    lines = [
        f"**{name}:** {text or 'no mean gap detected'}"
        for name, text in zip(names, texts, strict=True)
    ]
    return [*(f"{line}." for line in lines[:-1]), f"{lines[-1]}. Adjusted for {n_groups}."]


def _subgroups(side: GroupGaps) -> str:
    return f"{side.n_groups:,} subgroup{'s' * (side.n_groups > 1)}"


def _line(groups: Groups, *, after: bool, expert: bool) -> str:
    text = groups.worst(after=after)
    if not text:
        return ""
    side = groups.after if after else groups.before
    if expert:
        k = side.worst(DETECTION_LEVEL)
        text += f" ({p_words(float(side.adjusted[k or 0]))})"
    if not groups.off(after=after):
        text += "; no subgroup is shown to differ from the whole"
    return text
