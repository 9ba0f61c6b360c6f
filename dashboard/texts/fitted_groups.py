"""What a calibrator by group does to each group."""

from collections.abc import Sequence
from itertools import pairwise

from calibcore.calibrators import FittedByGroup, FittedMulticalibration
from calibcore.calibrators.base import FittedCalibrator
from calibcore.calibrators.descriptions import DescriptionTable, percent, rounded
from dashboard.texts.numbers import span
from dashboard.texts.rows import rows, say_rows
from dashboard.texts.subgroups import subgroup_name

BY_GROUP = (
    "Each group changes the log-odds of this map: times the slope, plus the shift. No change: slope"
    " 1, shift 0."
)
CORRECTIONS = (
    "Each shift is added to the log-odds of the rows in that group and range of scores, as given; a"
    " row in several gets the sum. Above 0, scores were too low."
)

Names = Sequence[tuple[str, Sequence[str]]]
"""Of each column what it is called, and its groups; text of the file."""


def how(fitted: FittedCalibrator) -> str:
    """Return how the numbers of groups are read; empty where there are none."""
    match fitted:
        case FittedByGroup():
            return BY_GROUP
        case FittedMulticalibration(shift=shift) if shift.size:
            return say_rows(CORRECTIONS)
        case _:
            return ""


def listed(fitted: FittedCalibrator, names: Names) -> DescriptionTable | None:
    """Return what is added for each group, by its name; None where there is nothing to list."""
    match fitted:
        case FittedByGroup(groups=groups, shift=shift, slope=slope):
            (_, own) = names[0]
            numbers = zip(groups.tolist(), shift, slope, strict=True)
            return DescriptionTable(
                ("Group", "Shift", "Slope"),
                [(own[code], rounded(added), rounded(times)) for code, added, times in numbers],
            )
        case FittedMulticalibration(shift=shift) if shift.size:
            return DescriptionTable(("Group", "Scores", "Shift"), _cells(fitted, names))
        case _:
            return None


def _cells(fitted: FittedMulticalibration, names: Names) -> list[tuple[str, str, str]]:
    ranges = _ranges(fitted.edges.tolist())
    columns = fitted.grouping.tolist(), fitted.group.tolist(), fitted.bin.tolist()
    lines = []
    for grouping, group, own_bin, shift in zip(*columns, fitted.shift.tolist(), strict=True):
        by, own = names[grouping] if grouping >= 0 else ("", ())
        name = subgroup_name(by, own[group]) if own else f"all {rows()}"
        sign = "+" if shift > 0 else ""
        lines.append((name, ranges[own_bin] if own_bin >= 0 else "all", f"{sign}{rounded(shift)}"))
    return lines


def _ranges(edges: Sequence[float]) -> list[str]:
    """Return the range of scores of every bin; each begins with its lower end.

    >>> _ranges([0.2, 0.55])
    ['below 20%', '20\u201355%', '55% and more']
    """
    ends = [percent(edge) for edge in edges]
    inner = [span(low, high) for low, high in pairwise(ends)]
    return [f"below {ends[0]}", *inner, f"{ends[-1]} and more"] if ends else ["all"]
