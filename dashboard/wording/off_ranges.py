"""At which scores a model is miscalibrated, and how far: said before any measure."""

from calibcore.evaluation import Side
from calibcore.inference import OffRange
from dashboard.wording.numbers import NO_BREAK, detected_points, pp, span
from dashboard.wording.verdicts import DETECTION_LEVEL

MOST = 4
"""Ranges that are named, the ones that most rows are off by most."""

NONE = "No range of scores is shown to be too high or too low."
NO_SINGLE = "No single range of scores stands out."
HELP = (
    "All runs of neighbouring bins of the score are tested together (5%), and the clearest of those"
    " that are miscalibrated are named, where the joint test detects miscalibration. By bin: bins"
    " with at least 1% of the rows. n: how many have such a score."
)


def ranges_sentence(side: Side) -> str:
    """Return at which scores one side is miscalibrated, and how far, the worst range first.

    An example: "Scores above 60% are 18.0 percentage points too high (11.2\u201326.0 by bin,
    n = 294)."
    """
    if side.omnibus.p_value >= DETECTION_LEVEL:
        return NONE
    found = side.off_ranges
    if not found:  # the joint test looks at all scores together
        return NO_SINGLE
    worst = sorted(found, key=lambda one: -abs(one.gap) * one.n_rows)
    parts = [_part(one, again=place > 0) for place, one in enumerate(worst[:MOST])]
    more = len(found) - len(parts)
    if more:
        parts.append(f"{more} further range{'' if more == 1 else 's'} less")
    return f"Scores {'; '.join(parts)}."


def _part(one: OffRange, *, again: bool) -> str:
    gap = detected_points(abs(one.gap), one.n_rows)
    if again:
        gap = gap.removesuffix(" percentage points")
    direction = "high" if one.gap > 0 else "low"
    least, most = (pp(end, one.n_rows).removesuffix(" pp") for end in (one.least, one.most))
    by_bin = "" if least == most else f"{span(least, most)} by bin, "
    return f"{_place(one)} are {gap} too {direction} ({by_bin}n{NO_BREAK}={NO_BREAK}{one.n_rows:,})"


def _place(one: OffRange) -> str:
    low, high = (f"{100 * end:.1f}".removesuffix(".0") + "%" for end in (one.low, one.high))
    if one.first and one.last:
        return "at all levels"
    if one.last:
        return f"above {low}"
    return f"up to {high}" if one.first else f"of {span(low, high)}"
