"""Advice to calibrate by group, with its warning."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dashboard.wording.classes import shortened
from dashboard.wording.numbers import escape_markdown, pp
from dashboard.wording.slice_names import KNOWN_GROUPS, slice_name
from dashboard.wording.step import Step

BY_GROUP = "by_group"
"""Key of calibration by group."""


@dataclass(frozen=True)
class Corrected:
    """What calibration by a column comes to in the worst subgroup."""

    by: str
    name: str
    """The column and the subgroup; text of the file."""
    rows: int
    """Of the subgroup."""
    gap: float
    corrected: float
    """Its mean gap without and with it: mean score minus observed frequency."""


def with_correction(steps: Sequence[Step], found: Corrected | None) -> list[Step]:
    """Put the advice to calibrate by group behind that to look at subgroups.

    Where the comparison advises it already, only what it does to the worst subgroup is added.

    Example: "**Consider calibration by group (ward).** It takes the mean gap of ward = C from
    -10.0 to +0.2 pp (cross-validated). ..."
    """
    places = [place for place, step in enumerate(steps) if step.page == "slices"]
    advised = any(step.method == BY_GROUP for step in steps)
    if found is None or not (places or advised):
        return list(steps)
    by = escape_markdown(shortened(found.by))
    subgroup = escape_markdown(slice_name(found.by, shortened(found.name)))
    was, now = (pp(value, found.rows, signed=True) for value in (found.gap, found.corrected))
    size = f"It takes the mean gap of {subgroup} from {was} to {now}."
    if advised:
        return [
            replace(step, sentence=f"{step.sentence} {size}")
            if f"({by})" in step.sentence
            else step
            for step in steps
        ]
    advice = Step(
        f"**Consider calibration by group ({by}).** {size} {KNOWN_GROUPS}",
        link=f"Calibrate by {by}",
        groups=found.by,
    )
    after = places[0] + 1
    return [*steps[:after], advice, *steps[after:]]
