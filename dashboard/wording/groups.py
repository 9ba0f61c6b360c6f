"""The worst subgroup of all groupings, in sentences."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibcore.inference import GroupGaps
from dashboard.wording.classes import shortened
from dashboard.wording.numbers import detected_points, escape_markdown, p_words, pp, span
from dashboard.wording.slice_names import slice_name
from dashboard.wording.verdicts import DETECTION_LEVEL, LEFT, finding, still

_NAMED = 4
"""Miscalibrated subgroups that are named."""

Named = Callable[[GroupGaps, int], tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Groups:
    """The subgroups, as sentences need them."""

    before: GroupGaps
    after: GroupGaps
    """The same object where nothing was fitted."""
    name: Named
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

    def _counted(self, side: GroupGaps, k: int, *, first: bool) -> str:
        gap = detected_points(abs(float(side.gap[k])), int(side.rows[k]))
        size = gap if first else gap.removesuffix(" percentage points")
        when = "still " if side.adjusted[k] >= DETECTION_LEVEL else ""
        return f"{self._name(side, k)} ({when}{size} too {'high' if side.gap[k] > 0 else 'low'})"

    def _name(self, side: GroupGaps, k: int) -> str:
        by, shown = self.name(side, k)
        return escape_markdown(slice_name(shortened(by), shortened(shown)))

    def _described(self, side: GroupGaps, k: int) -> str:
        gap, rows = float(side.gap[k]), int(side.rows[k])
        found = finding(gap, abs(gap), 0.0, prediction=self.prediction)
        shown = side.adjusted[k] < DETECTION_LEVEL
        what = (found if shown else still(found)).in_sentence
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
    return [*lines[:-1], f"{lines[-1]}. Adjusted for {n_groups}."]


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
