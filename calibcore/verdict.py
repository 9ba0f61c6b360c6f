"""What an evaluation comes to: facts, which pages and reports put into words."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from calibcore.counted import weighted
from calibcore.data import LogitSet, Rows
from calibcore.evaluation import SetResult, Side
from calibcore.grouping import Grouping
from calibcore.inference import GroupGaps, Interval, OffRange, group_gaps
from calibcore.inference.groups import most_left
from calibcore.inference.omnibus import Departure
from calibcore.results import result_class

DETECTION_LEVEL = 0.05
"""p-value below which miscalibration counts as detected."""

Direction = Literal["too high", "too low", "both", "none"]
"""Scores against observed frequencies; "none" where no difference is detected."""

Uninformative = Literal["constant", "chance"]
"""Why "none" is no praise: all rows have one score, or the interval of the AUROC holds 0.5."""


def direction_of(mean_gap: float, ks_error: float, p_value: float) -> Direction:
    """Return what a mean gap and a KS error amount to.

    ``mean_gap``: mean score minus observed frequency; where it is less than half of the KS error,
    gaps of both signs cancel. ``p_value``: of the test that decides whether miscalibration is
    detected.
    """
    if p_value >= DETECTION_LEVEL:
        return "none"
    if abs(mean_gap) < ks_error / 2:
        return "both"
    return "too high" if mean_gap > 0 else "too low"


@result_class
class SideVerdict:
    """What the scores of one side come to, before or after calibration."""

    direction: Direction
    """Where the joint test detects miscalibration, or where it `remains`."""
    remains: bool
    """Miscalibration was detected before calibration and is not after it, though most of that mean
    gap is left.
    """
    uninformative: Uninformative | None
    """Why "none" is no praise: see `Uninformative`."""
    mean_gap: float
    """Mean score minus observed frequency."""
    ks_error: float
    """The largest cumulative gap."""
    p_value: float
    """Of the joint test: `calibcore.inference.omnibus_test`."""
    departures: tuple[Departure, ...]
    """Which of its statistics are significant: mean, spread, smooth, and so on."""
    ranges: tuple[OffRange, ...]
    """Scores that are too high or too low, where the joint test detects it."""
    auroc: Interval
    """Interval of `calibcore.metrics.auroc`, 95%."""

    @property
    def detected(self) -> bool:
        """Whether the joint test detects miscalibration."""
        return self.p_value < DETECTION_LEVEL


def side_verdict(side: Side, before: Side | None = None) -> SideVerdict:
    """Say what one side comes to.

    ``before``: the same rows before calibration, where this is after it.
    """
    return SideVerdict(
        *state_of(side, before),
        mean_gap=mean_gap_of(side),
        ks_error=side.curves.ks_error,
        p_value=side.omnibus.p_value,
        departures=side.omnibus.departures(DETECTION_LEVEL),
        ranges=side.off_ranges if detected(side) else (),
        auroc=side.auroc,
    )


def state_of(
    side: Side, before: Side | None = None
) -> tuple[Direction, bool, Uninformative | None]:
    """Return the first three facts of `side_verdict`: direction, remains, uninformative."""
    if before is not None and remains(before, side):
        return direction_of_side(before), True, None
    direction = direction_of_side(side)
    return direction, False, uninformative(side) if direction == "none" else None


def direction_of_side(side: Side) -> Direction:
    """Return `direction_of` by the joint test of one side.

    Where no mean gap is significant but the wrong spread or shape is, scores are off in both
    directions, whatever the mean gap.
    """
    departures = side.omnibus.departures(DETECTION_LEVEL)
    shape_alone = "mean" not in departures and bool({"spread", "smooth"} & {*departures})
    gap = 0.0 if shape_alone else mean_gap_of(side)
    return direction_of(gap, side.curves.ks_error, side.omnibus.p_value)


def mean_gap_of(side: Side) -> float:
    """Return mean score minus observed frequency."""
    return float(side.curves.cum_score[-1] - side.curves.cum_hits[-1])


def detected(side: Side) -> bool:
    """Return whether the joint test detects miscalibration."""
    return side.omnibus.p_value < DETECTION_LEVEL


def remains(before: Side, after: Side) -> bool:
    """Return whether a mean gap is detected before and, with most of it left, not after."""
    if not detected(before) or detected(after) or direction_of_side(before) == "both":
        return False
    gaps = (np.array([mean_gap_of(side)]) for side in (before, after))
    return bool(most_left(*gaps)[0])


def uninformative(side: Side) -> Uninformative | None:
    """Return why scores without detected miscalibration may still be of no use."""
    if side.counted.scores.size == 1:
        return "constant" if side.event.n_samples > 1 else None
    return "chance" if side.auroc.low <= 0.5 <= side.auroc.high else None


@result_class
class GroupVerdict:
    """A group whose mean gap is detected, or was before calibration and is mostly left."""

    name: str
    """Of the group."""
    column: str
    """Of its column; "" where that has no name."""
    rows: int
    """How many it has."""
    gap: float
    """Mean score minus observed frequency."""
    low: float
    """Lower end of the gap's interval, which holds for all groups at once."""
    high: float
    """Upper end of it."""
    p_value: float
    """Adjusted for looking at all groups."""
    own: bool
    """Whether it is off by more than the whole score is."""


@result_class
class Verdict:
    """What an audit comes to."""

    before: SideVerdict
    """Uncalibrated."""
    after: SideVerdict | None
    """Calibrated; None where nothing was fitted."""
    groups: tuple[GroupVerdict, ...] = ()
    groups_after: tuple[GroupVerdict, ...] = ()
    """Miscalibrated groups, the worst first; () too where no groups are known."""


def verdict_of(result: SetResult, rows: Rows | None, groupings: Sequence[Grouping]) -> Verdict:
    """Say what an evaluation comes to.

    ``result``: of these rows. ``rows``: the set, whose groups are tested where it has some.
    ``groupings``: names of its groups, column by column.
    """
    before = side_verdict(result.before)
    after = side_verdict(result.after, result.before) if result.calibrated else None
    known = rows if rows is None or isinstance(rows, LogitSet) else weighted(rows)[0]
    if known is None or known.groups is None or not groupings:
        return Verdict(before, after)
    columns = known.groups.reshape(known.groups.shape[0], -1).T
    places = [
        np.where(column < 0, len(grouping.names), column)
        for grouping, column in zip(groupings, columns, strict=True)
    ]

    def tested(side: Side) -> GroupGaps:
        event, weights = weighted(side.event)
        return group_gaps(
            event.scores, event.hits, places, sample_weight=weights, clusters=event.clusters
        )

    def name(gaps: GroupGaps, k: int) -> tuple[str, str] | None:
        grouping, place = groupings[gaps.grouping[k]], int(gaps.place[k])
        return (grouping.column, grouping.names[place]) if place < len(grouping.names) else None

    gaps = tested(result.before)
    of_groups = group_verdicts(gaps, name)
    if after is None:
        return Verdict(before, after, of_groups)
    since = tested(result.after).since(gaps)
    return Verdict(before, after, of_groups, group_verdicts(since, name))


def group_verdicts(
    gaps: GroupGaps, name: Callable[[GroupGaps, int], tuple[str, str] | None]
) -> tuple[GroupVerdict, ...]:
    """Return the miscalibrated groups, the worst first.

    ``name``: given ``gaps`` and the place of a group in them, its column and its name; None of
    rows that have none.
    """
    off, own = np.flatnonzero(gaps.off(DETECTION_LEVEL)), gaps.own(DETECTION_LEVEL)
    verdicts = []
    for k in off[np.argsort(-np.abs(gaps.gap[off]), kind="stable")].tolist():
        named = name(gaps, k)
        if named is None:
            continue
        column, group = named
        its = (gaps.gap, gaps.low, gaps.high, gaps.adjusted)
        gap, low, high, p_value = (float(one[k]) for one in its)
        verdicts.append(
            GroupVerdict(group, column, int(gaps.rows[k]), gap, low, high, p_value, bool(own[k]))
        )
    return tuple(verdicts)
