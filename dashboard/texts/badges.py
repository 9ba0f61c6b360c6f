"""The words of a finding: its direction, and how strong the evidence for it is."""

from dataclasses import dataclass, replace
from typing import Literal

from calibcore.evaluation import Side
from calibcore.inference import OffRange, Omnibus
from calibcore.verdict import (
    DETECTION_LEVEL,
    Direction,
    detected,
    direction_of,
    mean_gap_of,
    state_of,
    uninformative,
)
from dashboard.texts.numbers import NO_BREAK, detected_points, pp, span
from dashboard.texts.rows import says_rows

LEFT = "no longer detected, but most of the gap is left"
"""Why a mean gap is called still there whose interval holds 0."""

Colour = Literal["red", "blue", "violet", "gray"]

_COLOURS: dict[Direction, Colour] = {
    "too high": "red", "too low": "blue", "both": "violet", "none": "gray",
}  # fmt: skip
_KINDS = {"too high": "over", "too low": "under", "both": "both", "none": "none"}


@dataclass(frozen=True)
class Badge:
    """What was found about scores."""

    word: str
    """The finding, as a badge shows it."""
    icon: str
    """Sign that says the same without colour."""
    direction: Direction
    """Of the scores; "both" too where it is found in a part of the rows alone."""

    @property
    def one_way(self) -> bool:
        """Whether scores are off in one direction, so that a mean gap is its size."""
        return self.direction in {"too high", "too low"}

    @property
    def colour(self) -> Colour:
        """Colour that says it again."""
        return _COLOURS[self.direction]

    @property
    def kind(self) -> str:
        """Of the cell of a table that holds it."""
        return _KINDS[self.direction]

    @property
    def in_sentence(self) -> str:
        """The finding within a sentence."""
        return self.word[0].lower() + self.word[1:]


NOT_DETECTED = Badge("No miscalibration detected", "\u25cb", "none")

IN_SUBGROUPS = Badge("Miscalibrated in subgroups, not detected overall", "\u25c6", "both")
"""In place of `NOT_DETECTED` where subgroups are miscalibrated: one verdict for both."""

IN_TIME = Badge("Scores drift over time, no miscalibration detected overall", "\u25c6", "both")
"""In place of `NOT_DETECTED` where scores drift, and no subgroup is miscalibrated."""

FITTED = Badge("Fitted on these rows", "\u25cb", "none")
"""In place of a finding where no miscalibration is detected on the rows of the fit."""

CONSTANT = Badge("Constant score", "\u25cb", "none")
CHANCE = Badge("Ranking not shown better than chance", "\u25cb", "none")
"""In place of `NOT_DETECTED` where that is no praise."""

# Confidence is of a prediction; of one class, or of a risk, it is the scores that are high or low.
_CONFIDENT = (
    Badge("Overconfident", "\u25b2", "too high"),
    Badge("Underconfident", "\u25bc", "too low"),
    Badge("Over- and underconfident", "\u25c6", "both"),
    NOT_DETECTED,
)
_SCORED = (
    Badge("Scores too high", "\u25b2", "too high"),
    Badge("Scores too low", "\u25bc", "too low"),
    Badge("Some too high, others too low", "\u25c6", "both"),
    NOT_DETECTED,
)


def badge_for(mean_gap: float, ks_error: float, p_value: float, *, prediction: bool) -> Badge:
    """Return what a mean gap, score minus observed frequency, and a KS error amount to.

    ``mean_gap``, ``ks_error``: of the scores; where the mean gap is less than half of the KS error,
    gaps of both signs cancel. ``p_value``: of the test that decides whether miscalibration is
    detected. ``prediction``: whether the scores are of a prediction, which is over- or
    underconfident, rather than of a class or a risk, whose scores are too high or too low.

    >>> badge_for(0.05, 0.05, 0.001, prediction=True).word
    'Overconfident'
    >>> badge_for(-0.01, 0.04, 0.001, prediction=False).word
    'Some too high, others too low'
    """
    return of_direction(direction_of(mean_gap, ks_error, p_value), prediction=prediction)


def of_direction(direction: Direction, *, prediction: bool) -> Badge:
    """Return the words of a direction, as `badge_for`."""
    words = _CONFIDENT if prediction else _SCORED
    return next(one for one in words if one.direction == direction)


def badge_since(
    mean_gap: float, ks_error: float, p_value: float, *, remains: bool, prediction: bool
) -> Badge:
    """Return what one of many amounts to, as `badge_for`, or that its mean gap still `remains`."""
    if not remains:
        return badge_for(mean_gap, ks_error, p_value, prediction=prediction)
    badge = of_direction("too high" if mean_gap > 0 else "too low", prediction=prediction)
    return badge if p_value < DETECTION_LEVEL else still(badge)


def side_badge(side: Side, *, prediction: bool, before: Side | None = None) -> Badge:
    """Return the words of `calibcore.verdict.state_of`, which are facts."""
    direction, left, why = state_of(side, before)
    if why is not None:
        return _UNINFORMATIVE[why]
    words = of_direction(direction, prediction=prediction)
    return still(words) if left else words


_UNINFORMATIVE = {"constant": CONSTANT, "chance": CHANCE}


def still(badge: Badge) -> Badge:
    """Return that a finding before calibration holds after it, though no longer detected."""
    return replace(badge, word=f"Still {badge.in_sentence}")


@says_rows
def no_information(side: Side) -> str:
    """Return why scores without detected miscalibration may still be of no use; empty if none."""
    why = uninformative(side)
    if why == "constant":
        return "The score is the same for all rows"
    if why == "chance":
        ends = f"95% CI {side.auroc.low:.2f}\u2013{side.auroc.high:.2f}"
        return f"AUROC ({ends}) is not shown to differ from 0.5, chance"
    return ""


def shape(omnibus: Omnibus, *, named: bool = False) -> str:
    """Return how scores that are off in both directions are: a part of a sentence.

    ``named``: whether a badge before it says already that they are too high and too low.

    >>> from calibcore.inference import omnibus_test
    >>> shape(omnibus_test([0.2] * 100 + [0.8] * 100, [0, 1] * 100))
    'right on average, but low ones too low and high ones too high'
    """
    parts = omnibus.departures(DETECTION_LEVEL)
    if "spread" in parts:
        extreme = omnibus.part("spread").value > 0
        if "mean" in parts:
            return "too extreme" if extreme else "not extreme enough"
        low, high = ("low", "high") if extreme else ("high", "low")
        how = f"low ones too {low} and high ones too {high}"
        if named:
            return how
    elif named:
        return "" if "mean" in parts else "right on average"
    else:
        how = "too high in some ranges and too low in others"
    return how if "mean" in parts else f"right on average, but {how}"


def evidence(p_value: float) -> str:
    """Return how strong the evidence is, in the words of Muff et al. 2022.

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
    if not detected(side):
        return NONE
    off_ranges = side.off_ranges
    if not off_ranges:  # the joint test looks at all scores together
        return NO_SINGLE
    worst = sorted(off_ranges, key=lambda one: -abs(one.gap) * one.n_rows)
    parts = [_part(one, again=place > 0) for place, one in enumerate(worst[:MOST])]
    more = len(off_ranges) - len(parts)
    if more:
        parts.append(f"{more} further range{'' if more == 1 else 's'} less")
    return f"Scores {'; '.join(parts)}."


def opposite_range(side: Side) -> str:
    """Return where scores are off in the other direction than on average; nothing if nowhere.

    An example: "13.7 too high at 46.7\u201386.7%".
    """
    if not detected(side):
        return ""
    gap = mean_gap_of(side)
    others = [one for one in side.off_ranges if one.gap * gap < 0]
    if not others:
        return ""
    worst = max(others, key=lambda one: abs(one.gap) * one.n_rows)
    size = detected_points(abs(worst.gap), worst.n_rows).removesuffix(" percentage points")
    where = _place(worst).replace("of ", "at ")
    return f"{size} too {'high' if worst.gap > 0 else 'low'} {where}"


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
