"""The words of a finding: its direction, and how strong the evidence for it is."""

from dataclasses import dataclass
from typing import Literal

from calibcore.evaluation import Side
from calibcore.inference import OffRange, Omnibus
from calibcore.verdict import (
    DETECTION_LEVEL,
    Direction,
    direction_of,
    direction_of_side,
    remains,
    uninformative,
)
from dashboard.texts.numbers import NO_BREAK, detected_points, pp, span
from dashboard.texts.rows import says_rows

LEFT = "no longer detected, but most of the gap is left"
"""Why a mean gap is called still there whose interval holds 0."""

Colour = Literal["red", "blue", "violet", "gray"]


@dataclass(frozen=True)
class Finding:
    """What was found about scores."""

    word: str
    """The finding, as a badge shows it."""
    icon: str
    """Sign that says the same without colour."""
    colour: Colour
    """Colour that says it again."""

    @property
    def in_sentence(self) -> str:
        """The finding within a sentence."""
        return self.word[0].lower() + self.word[1:]


NOT_DETECTED = Finding("No miscalibration detected", "\u25cb", "gray")

IN_SUBGROUPS = Finding("Miscalibrated in subgroups, not detected overall", "\u25c6", "violet")
"""In place of `NOT_DETECTED` where subgroups are miscalibrated: one verdict for both."""

IN_TIME = Finding("Scores drift over time, no miscalibration detected overall", "\u25c6", "violet")
"""In place of `NOT_DETECTED` where scores drift, and no subgroup is miscalibrated."""

CONSTANT = Finding("Constant score", "\u25cb", "gray")
CHANCE = Finding("Ranking not shown better than chance", "\u25cb", "gray")
"""In place of `NOT_DETECTED` where that is no praise."""

# Confidence is of a prediction; of one class, or of a risk, it is the scores that are high or low.
_CONFIDENT = (
    Finding("Overconfident", "\u25b2", "red"),
    Finding("Underconfident", "\u25bc", "blue"),
    Finding("Over- and underconfident", "\u25c6", "violet"),
)
_SCORED = (
    Finding("Scores too high", "\u25b2", "red"),
    Finding("Scores too low", "\u25bc", "blue"),
    Finding("Scores too high and too low", "\u25c6", "violet"),
)


def finding(mean_gap: float, ks_error: float, p_value: float, *, prediction: bool) -> Finding:
    """Return what a mean gap, score minus observed frequency, and a KS error amount to.

    ``mean_gap``, ``ks_error``: of the scores; where the mean gap is less than half of the KS error,
    gaps of both signs cancel. ``p_value``: of the test that decides whether miscalibration is
    detected. ``prediction``: whether the scores are of a prediction, which is over- or
    underconfident, rather than of a class or a risk, whose scores are too high or too low.

    Examples
    --------
    >>> finding(0.05, 0.05, 0.001, prediction=True).word
    'Overconfident'
    >>> finding(-0.01, 0.04, 0.001, prediction=False).word
    'Scores too high and too low'
    >>> finding(0.05, 0.05, 0.2, prediction=True).word
    'No miscalibration detected'
    """
    return _of_direction(direction_of(mean_gap, ks_error, p_value), prediction=prediction)


def _of_direction(direction: Direction, *, prediction: bool) -> Finding:
    too_high, too_low, both = _CONFIDENT if prediction else _SCORED
    known = {"too high": too_high, "too low": too_low, "both": both, "none": NOT_DETECTED}
    return known[direction]


def finding_since(
    mean_gap: float, ks_error: float, p_value: float, *, remains: bool, prediction: bool
) -> Finding:
    """Return what one of many amounts to, as `finding`, or that its mean gap still `remains`."""
    if not remains:
        return finding(mean_gap, ks_error, p_value, prediction=prediction)
    found = finding(mean_gap, abs(mean_gap), 0.0, prediction=prediction)
    return found if p_value < DETECTION_LEVEL else still(found)


def finding_of(side: Side, *, prediction: bool, before: Side | None = None) -> Finding:
    """Return what one side amounts to by the joint test of five statistics.

    Where no mean gap is detected but the wrong spread or shape is, scores are off in both
    directions. A score that is constant, or ranks rows no better than chance, is named first. Given
    the side `before` calibration, a mean gap that was found there and `remains` is named.
    """
    if before is not None and remains(before, side):
        return still(finding_of(before, prediction=prediction))
    if side.omnibus.p_value >= DETECTION_LEVEL:
        return _not_detected(side)
    return _of_direction(direction_of_side(side), prediction=prediction)


def still(found: Finding) -> Finding:
    """Return that a finding before calibration holds after it, though no longer detected."""
    return Finding(f"Still {found.in_sentence}", found.icon, found.colour)


def _not_detected(side: Side) -> Finding:
    return {"constant": CONSTANT, "chance": CHANCE, None: NOT_DETECTED}[uninformative(side)]


@says_rows
def no_information(side: Side) -> str:
    """Return why scores without detected miscalibration may still be of no use; empty if none."""
    what = _not_detected(side)
    if what is CONSTANT:
        return "The score is the same for all rows"
    if what is CHANCE:
        ends = f"95% CI {side.auroc.low:.2f}\u2013{side.auroc.high:.2f}"
        return f"AUROC ({ends}) is not shown to differ from 0.5, chance"
    return ""


def shape(omnibus: Omnibus) -> str:
    """Return how scores that are off in both directions are: a part of a sentence.

    Examples
    --------
    >>> from calibcore.inference import omnibus_test
    >>> shape(omnibus_test([0.2] * 100 + [0.8] * 100, [0, 1] * 100))
    'right on average, but too extreme'
    """
    found = omnibus.found(DETECTION_LEVEL)
    if "spread" in found:
        how = "too extreme" if omnibus.part("spread").value > 0 else "not extreme enough"
    else:
        how = "too high at some scores and too low at others"
    return how if "mean" in found else f"right on average, but {how}"


def evidence(p_value: float) -> str:
    """Return how strong the evidence is, in the words of Muff et al. 2022.

    Examples
    --------
    >>> [evidence(p) for p in (0.0002, 0.004, 0.03, 0.2)]
    ['very strong evidence', 'strong evidence', 'moderate evidence', 'no evidence']
    """
    levels = ((0.001, "very strong"), (0.01, "strong"), (DETECTION_LEVEL, "moderate"))
    return next((f"{word} evidence" for level, word in levels if p_value < level), "no evidence")


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
