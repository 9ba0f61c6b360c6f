"""Averages hide groups: two groups with opposite errors, and what calibration by group does."""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from calibcore.binning import BinTable, bin_scores
from calibcore.calibrators import ByGroup, PlattScaling
from calibcore.results import result_class
from calibcore.subgroups import screen_subgroups
from calibcore.synthetic import WorldSample
from calibcore.validation import Floats, Labels
from calibcore.verdict import DETECTION_LEVEL
from dashboard.figures import Palette
from dashboard.learn import data, pictures
from dashboard.learn.laboratory import LaboratoryModel, drawn_of
from dashboard.learn.lesson import (
    Check,
    Lesson,
    LessonPicture,
    LessonView,
    Link,
    NumberGuess,
    State,
    Steps,
)
from dashboard.texts.badges import badge_for
from dashboard.texts.numbers import MINUS, ci, detected_points, percent, points, pp, span

KEY = "groups"

N_ROWS, N_BINS, LEAST = 5_000, 10, 50
"""Rows, bins, and rows from which on a bin is drawn."""

MODELS: Mapping[str, LaboratoryModel] = {
    gap: LaboratoryModel(rows=N_ROWS, sharpness=34, slope=slope, groups=shift)
    for gap, slope, shift in (
        ("2", 100, 1), ("4", 101, 2), ("6", 102, 3), ("10", 106, 5), ("15", 115, 8), ("20", 128, 11)
    )
}  # fmt: skip
"""Models by the true mean gap of each group; with their slopes all rows are calibrated best."""

VIEWS = {"all": "Together", "groups": "By group", "one": "One fit", "each": "Fit by group"}

TITLES = {
    "all": f"All {N_ROWS:,} rows together",
    "groups": "By group",
    "one": "After one calibrator for all rows",
    "each": "After calibration by group",
}

METHODS = {"all": "none", "groups": "none", "one": "platt", "each": "by_group"}
"""Calibrator of the page that shows the same."""

WHY = {
    "one": "Equal scores stay equal, whichever group they come from.",
    "each": "Each group has a map of its own.",
}

PENALTY = 1.0
"""What cross-validation mostly chooses for such rows, in ten times the time."""

NAMES = ("All rows", "Group A", "Group B")

LOOKS = (("solid", "circle", "\u25cf"), ("dash", "diamond", "\u25c6"))
"""How a group is drawn: its line, its marks, and how these are written."""

EXAMPLE = 0.3

OFF = 12
"""Percentage points by which the scores of each group of the check are off."""

WIDEST = 27.0
"""End of the axis of gaps, in percentage points."""


# What is found ------------------------------------------------------------------------------


@result_class
class GroupCalibration:
    """All rows, or those of a group: how far scores are from what is observed."""

    name: str
    """One of `NAMES`."""
    score: float
    frequency: float
    gap: float
    low: float
    high: float
    """Mean score, observed frequency, and their difference with its 95% interval."""
    ks_error: float
    p_value: float
    """KS error and p-value of its test; of the groups adjusted for two."""
    true_gap: float
    """What the gap would be with infinitely many rows."""
    table: BinTable
    """Its rows in bins of the score."""

    @property
    def verdict(self) -> str:
        """What is detected, as the end of a sentence."""
        badge = badge_for(self.gap, self.ks_error, self.p_value, prediction=False)
        one_way = badge.one_way
        size = f" by {detected_points(abs(self.gap), N_ROWS)}" if one_way else ""
        return f"{badge.word.lower()}{size}"

    @property
    def is_detected(self) -> bool:
        """Whether miscalibration is detected."""
        return self.p_value < DETECTION_LEVEL


Parts = tuple[GroupCalibration, ...]
Map = Callable[[Floats, Labels], Floats]


@cache
def truth_of(word: str) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return scores that stand for all, and the true frequency at each in group A and group B."""
    first, second = (MODELS[word].model.truth(group) for group in (0, 1))
    return first.scores, (first.frequency, second.frequency)


def most_at(score: float) -> float:
    """Return how far the frequency of a group can be from a score that is right of both together.

    Both have equally many rows at the score; of a group with few of them it can be farther.

    >>> most_at(0.3), round(most_at(0.9), 2)
    (0.3, 0.1)
    """
    return min(score, 1 - score)


def most_possible(word: str) -> float:
    """Return the largest mean gap of a group while all rows stay calibrated.

    Of two groups with equally many rows at a score s, whose frequencies have s as their mean,
    neither is farther from it than the smaller of s and 1 - s, as none is beyond 0 and 1.
    """
    scores, _ = truth_of(word)
    return float(np.minimum(scores, 1 - scores).mean())


def find(state: State) -> tuple[Parts, Parts]:
    """Return what the test rows show before calibration, and in the chosen view."""
    word, view = state.chosen["gap"], state.chosen["view"]
    chosen = data.in_laboratory(MODELS[word], state, KEY)
    test = drawn_of(chosen, 1)
    before = _parts(word, test, lambda scores, _: scores)
    if METHODS[view] == "none":
        return before, before
    fit = drawn_of(chosen, 0)
    fitted = ByGroup(PlattScaling(), PENALTY).fit(fit.event.scores, fit.event.hits, fit.groups)
    one: Map = lambda scores, _: fitted.predict(scores)  # noqa: E731 - the map of all rows
    return before, _parts(word, test, one if view == "one" else fitted.predict)


def _parts(word: str, test: WorldSample, mapped: Map) -> Parts:
    """Screen all rows together, and the two groups."""
    hits, groups = test.event.hits, np.asarray(test.groups)
    scores, together = mapped(test.event.scores, groups), np.zeros_like(groups)
    one, two = (
        screen_subgroups(scores, hits, places, n_subgroups=n)
        for n, places in ((1, together), (2, groups))
    )
    every, frequency = truth_of(word)
    gaps = [float((mapped(every, np.full(every.size, k)) - frequency[k]).mean()) for k in (0, 1)]
    of_each = ((one, 0, together == 0), (two, 0, groups == 0), (two, 1, groups == 1))
    return tuple(
        GroupCalibration(
            name,
            score=float(screen.mean_score[k]),
            frequency=float(screen.frequency.share[k]),
            gap=float(screen.mean_gap[k]),
            low=float(screen.gap_low[k]),
            high=float(screen.gap_high[k]),
            ks_error=float(screen.ks_error[k]),
            p_value=float(screen.adjusted[k]),
            true_gap=gap,
            table=bin_scores(scores[rows], hits[rows], n_bins=N_BINS),
        )
        for name, gap, (screen, k, rows) in zip(NAMES, (sum(gaps) / 2, *gaps), of_each, strict=True)
    )


# What is said -------------------------------------------------------------------------------


def show(state: State) -> LessonView:
    """Show the diagram of all rows or of each group, and the mean gaps."""
    before, parts = find(state)
    together = before[0]
    if not state.revealed:
        return LessonView((_pooled(together, state.palette),), _of_all(together))
    word, view = state.chosen["gap"], state.chosen["view"]
    diagram = (
        _pooled(together, state.palette)
        if view == "all"
        else _by_group(parts[1:], TITLES[view], state.palette)
    )
    most = f"{100 * most_possible(word):.0f}"
    return LessonView(
        (diagram, _gaps(before, parts, view, state.palette)),
        _sentence(before, parts, view),
        answer=f"{100 * most_at(EXAMPLE):.0f} percentage points: never in one group, in the other"
        f" {2 * EXAMPLE:.0%} of the time",
        note=_note(before, word, most),
        numbers=_table(parts),
    )


def _of_all(together: GroupCalibration) -> str:
    gap = points(together.gap, N_ROWS, signed=True)
    return f"{together.name}: mean gap {gap}, **{together.verdict}**."


def _sentence(before: Parts, parts: Parts, view: str) -> str:
    lines = [_of_all(before[0])]
    lines += [" ".join(f"{one.name}: **{one.verdict}**." for one in before[1:])]
    if parts is not before:
        gaps = " and ".join(
            f"**{points(one.gap, N_ROWS, signed=True)}** in {one.name[-1]}" for one in parts[1:]
        )
        lines += [f"{TITLES[view]}: mean gap {gaps}. {WHY[view]}"]
    return "  \n".join(lines)


def _note(before: Parts, word: str, most: str) -> str:
    """Say what is possible, and where a draw does not show what most show."""
    together, *groups = before
    possible = (
        f"At a score of 50% it could be {100 * most_at(0.5):.0f} percentage points; over all of"
        f" these scores, up to {most} on average. A group with few of the rows at a score could be"
        " off by more."
    )
    if together.is_detected:
        luck = "With this draw, luck moves even all rows together off the diagonal. Draw again."
    elif not all(one.is_detected for one in groups):
        luck = (
            f"True gaps of {word} percentage points are not detected in both groups with this draw:"
            " \u201cnot detected\u201d does not mean calibrated. More rows would show them."
        )
    else:
        return possible
    return f"{luck} {possible}"


def _table(parts: Parts) -> tuple[tuple[str, ...], ...]:
    head = ("", "Mean score", "Observed", "Mean gap", "95% CI", "True gap", "KS error")
    rows = (
        (
            one.name,
            percent(one.score, N_ROWS),
            percent(one.frequency, N_ROWS),
            _pp(one.gap),
            span(_pp(one.low), _pp(one.high)),
            _pp(one.true_gap),
            percent(one.ks_error, N_ROWS),
        )
        for one in parts
    )
    return (head, *rows)


def _pp(value: float) -> str:
    return pp(value, N_ROWS, signed=True)


# Pictures -----------------------------------------------------------------------------------


def _diagram(
    title: str, traces: list[pictures.Trace], names: list[pictures.Trace], caption: str
) -> LessonPicture:
    figure = pictures.by_score(
        title,
        traces,
        names=names,
    )
    return LessonPicture("diagram", figure, caption)


def _pooled(together: GroupCalibration, palette: Palette) -> LessonPicture:
    return _diagram(
        TITLES["all"],
        pictures.bin_bars(together.table, palette, LEAST),
        [pictures.label("dotted: perfectly calibrated", 0.02, 0.9, palette.neutral)],
        "Bars: observed frequency. Dots: mean score of a bin.",
    )


def _by_group(groups: Parts, title: str, palette: Palette) -> LessonPicture:
    """Draw the diagram of each group, named below the line of A and above that of B."""
    traces = [pictures.diagonal(palette)]
    names = [
        pictures.label("above: scores too low", 0.02, 0.92, palette.neutral),
        pictures.label("below: scores too high", 0.98, 0.02, palette.neutral, xanchor="right"),
    ]
    places = ((0.7, "left", "top", 8), (0.3, "right", "bottom", -8))
    for one, look, place in zip(groups, LOOKS, places, strict=True):
        (dash, symbol, sign), (near, side, above, away) = look, place
        shown = one.table.counts >= LEAST
        x, y = one.table.mean_score[shown], one.table.frequency[shown]
        traces += [
            pictures.line(x, y, palette.frequency, dash=dash),
            pictures.dots(x, y, palette.frequency, symbol=symbol, size=12),
        ]
        k = int(np.abs(x - near).argmin())
        where = {"xanchor": side, "yanchor": above, "xshift": away}
        text = f"<b>{sign} {one.name}</b>"
        names.append(pictures.label(text, float(x[k]), float(y[k]), palette.frequency, **where))
    caption = (
        "Observed frequency by score: group A with circles (solid), group B with diamonds (dashed)."
        " Dotted: perfectly calibrated."
    )
    return _diagram(title, traces, names, caption)


def _gaps(before: Parts, parts: Parts, view: str, palette: Palette) -> LessonPicture:
    """Draw the mean gaps with their intervals, and the true ones."""
    traces, names = [pictures.line([0, 0], [-0.6, 2.7], palette.neutral, dash="dot")], []
    for k, (was, now) in enumerate(zip(before, parts, strict=True)):
        if view == "all" and k:
            continue
        y = 2 - k
        traces += [
            pictures.line([100 * now.low, 100 * now.high], [y, y], palette.score),
            pictures.dots([100 * now.true_gap], [y], palette.text, size=22, symbol="line-ns-open"),
            pictures.dots([100 * now.gap], [y], palette.score, size=13),
        ]
        if parts is not before:
            traces.append(
                pictures.dots([100 * was.gap], [y], palette.neutral, size=13, symbol="circle-open")
            )
        text = f"<b>{now.name}</b>: {_pp(now.gap)} ({ci(_pp(now.low), _pp(now.high))})"
        names.append(pictures.boxed(text, 1 - WIDEST, y + 0.22, palette.text, palette))
    figure = pictures.picture(
        f"Mean gap: score {MINUS} observed frequency",
        traces,
        x=pictures.number_axis("Mean gap (pp); right of 0: scores too high", -WIDEST, WIDEST),
        y=pictures.no_axis(-0.6, 2.7),
        names=names,
        margin=pictures.margin(24),
    )
    ring = " Ring: before calibration." if parts is not before else ""
    caption = f"Dot: mean gap. Line: 95% CI. Upright mark: the true gap.{ring}"
    return LessonPicture("gaps", figure, caption)


# The lesson ---------------------------------------------------------------------------------


def _link(state: State) -> Link:
    method = METHODS[state.chosen["view"]]
    chosen = data.in_laboratory(MODELS[state.chosen["gap"]], state, KEY)
    more = {"group": "group"} if method == "by_group" else {}
    return data.laboratory_link(
        "subgroups", chosen, "These rows in the dashboard", method, subgroups_by="group", **more
    )


LESSON = Lesson(
    key=KEY,
    title="Averages hide groups",
    question=f"{N_ROWS:,} rows come from **two groups**, such as two hospitals, with equally many"
    " rows at every score."
    f" Together, their scores are calibrated: {EXAMPLE:.0%} of the rows with a **score of"
    f" {EXAMPLE:.0%}** have the event. How far from {EXAMPLE:.0%} can that share be **within a"
    " group, at most**?",
    guess=NumberGuess(0, 50, 1, 5, unit=" percentage points"),
    controls=(
        Steps(
            "gap", "True mean gap in each group, about", {w: f"\u00b1{w} pp" for w in MODELS}, "15"
        ),
        Steps("view", "Show", VIEWS, "groups", as_buttons=True),
    ),
    show=show,
    takeaway="Calibrated over all rows does not mean calibrated within a group. Look at the groups"
    " that matter; where the group of each new row is known, calibration by group helps.",
    check=Check(
        "All rows together have a mean gap of 0. In group A, half of the rows, scores are"
        f" {OFF} percentage points too high. And in group B?",
        {
            "right": "They are right, as all together are",
            "low": f"{OFF} percentage points too low",
            "high": f"{OFF} percentage points too high, too",
        },
        "low",
        f"Half of the rows {OFF} percentage points too high, half {OFF} too low: on average 0. The"
        " gaps cancel, so all rows together show neither.",
    ),
    link=_link,
    computed="Rows are drawn by `calibcore.synthetic` from a model of the laboratory. At each"
    " score, the log-odds of the event are higher in group B and lower in group A, such that both"
    " together are calibrated: to 0.4 percentage points on average. Verdicts: KS test, of the"
    " groups adjusted for two (Holm: the smaller p-value counts twice), by"
    " `calibcore.subgroups.screen_subgroups`. Calibrators:"
    f" `PlattScaling` of all rows, and `ByGroup` with a penalty of {PENALTY:g}, fitted on"
    f" {N_ROWS:,} other rows; the page chooses the penalty by cross-validation. Intervals take the"
    " calibrator as it is. The most that is possible: neither of two groups with equally many"
    " rows at a score s can be farther from it than the smaller of s and 1 \u2212 s.",
    draw=f"Draw {N_ROWS:,} other rows",
    terms={
        "Calibrated": "at each score, the event happens as often as the score says.",
        "Mean gap": "mean score minus observed frequency.",
        "pp": "percentage points.",
    },
)
