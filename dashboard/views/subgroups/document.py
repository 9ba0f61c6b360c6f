"""The subgroups of one grouping: which is worst, the picture, and the table."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibcore.subgroups import JointScreen, Places, SubgroupScreen, SubgroupShares
from calibcore.verdict import DETECTION_LEVEL
from dashboard.compute.figures import draw_subgroups
from dashboard.compute.subgroups import SubgroupResults, find_drift, find_subgroups
from dashboard.document.blocks import Cell, Picture, Pictures, Row, Sentences, Table, finite
from dashboard.scene import Scene
from dashboard.texts.advice import drift_line, drifts
from dashboard.texts.numbers import DASH, p_words, percent, pp, span
from dashboard.texts.rows import rows, rows_of
from dashboard.views.subgroups import words
from dashboard.views.subgroups.words import badge_of, compared

HEAD = ("Mean gap (pp)", "KS error", "Accuracy")
STILL, NOT_OFF = "still", "\u25cb none"


Sides = tuple[SubgroupScreen, SubgroupScreen | None]
Accuracies = tuple[SubgroupShares | None, SubgroupShares | None]


def document(
    scene: Scene, by: str, shown: Places | None = None, *, after_first: bool = True
) -> tuple[Sentences, Pictures, Table, Sentences]:
    """Return which subgroup is worst and how many are miscalibrated, picture, table, and its note.

    ``by``: what they are by. ``shown``: those in both, by their places; None for all.
    ``after_first``: whether the worst after calibration is meant, except over time.
    """
    results, prediction = find_subgroups(scene, by), scene.event_words.prediction
    subgrouping, first = results.subgrouping, _first(results, after_first=after_first)
    order = order_of(results, after_first=after_first)
    screens = results.before, None if results.after is results.before else results.after
    how = words.Wording(first is not results.before, prediction, scene.expert)
    lines = [*words.conclusion(screens, by, subgrouping.shown, how)]
    drift = find_drift(scene, by) if subgrouping.in_time else None
    if drift is not None:
        sides = drift.before, drift.after
        alone = any(
            drifts(one) and screen is not None and not screen.off(DETECTION_LEVEL).any()
            for one, screen in zip(sides, screens, strict=True)
        )
        line = drift_line(by, drift.subgrouping.shown, sides, expert=scene.expert, alone=alone)
        lines = [line.replace("**", ""), *lines] if drift.detected else [*lines, line]
    places = order if shown is None else shown
    caption = words.dots_caption(*screens)
    if subgrouping.in_time:
        caption = f"{caption} {words.worst_caption(subgrouping.shown, results.before)}"
    picture = Picture("subgroups", caption, draw_subgroups(scene, results, places))
    table = subgroup_table(
        by, subgrouping.shown, screens, (results.right, results.right_after),
        places.tolist(), prediction=prediction, expert=scene.expert,
    )  # fmt: skip
    note = words.table_note(first, order.size, by=by, worst_first=not subgrouping.in_time)
    notes = (" ".join((note, *words.missing(scene.upload, by))),)
    about = words.about(first, expert=scene.expert)
    return (
        Sentences(f"worst {by}", tuple(lines), headline=True),
        Pictures(f"gaps {by}", (picture,)),
        table,
        Sentences(f"note {by}", notes, help=about, small=True),
    )


def order_of(results: SubgroupResults, *, after_first: bool = True) -> Places:
    """List the subgroups that have rows: periods in time order, others worst first."""
    worst_first = _first(results, after_first=after_first).order(DETECTION_LEVEL)
    return np.sort(worst_first) if results.subgrouping.in_time else worst_first


def _first(results: SubgroupResults, *, after_first: bool) -> SubgroupScreen:
    return results.after if after_first and not results.subgrouping.in_time else results.before


def subgroup_table(  # noqa: PLR0913 - a table, of what, and how it is worded
    by: str,
    shown: Sequence[str],
    screens: Sides,
    accuracies: Accuracies,
    order: Sequence[int],
    *,
    prediction: bool,
    expert: bool = False,
) -> Table:
    """Return the table of subgroups.

    ``by``, ``shown``: what they are by, and what each holds. ``screens``, ``accuracies``: results
    before and after; after is None where nothing was fitted. ``order``: the subgroups to write.
    ``prediction``: whether scores are of a prediction, rather than of a class or a risk.
    ``expert``: whether p-values are written.
    """
    before, after = screens

    def side(screen: SubgroupScreen, k: int, *, briefly: bool = False) -> tuple[Cell, Cell]:
        text, kind = _finding(screen, k, prediction=prediction, briefly=briefly)
        finding = [Cell(text, kind=kind)]
        if expert and not math.isnan(screen.adjusted[k]):
            finding.append(Cell(f", {p_words(float(screen.adjusted[k]))}", kind=kind))
        gap, error = _sizes(screen, k)
        return gap, replace(error, below=tuple(finding))

    def row(k: int) -> Row:
        gap, error = side(before, k, briefly=after is not None)
        if after is not None:
            now, its = side(after, k)
            (was, *of_was), (then, *p_value) = error.below, its.below
            if was.kind == "none" != then.kind and before.evaluated[k]:
                error = replace(error, below=(replace(was, shown=NOT_OFF), *of_was))
            if then.word.startswith(f"{was.word}, "):
                left = f"{then.shown.partition(' ')[0]} {STILL}{then.word.removeprefix(was.word)}"
                its = replace(its, below=(replace(then, shown=left), *p_value))
            gap, error = replace(now, before=gap), replace(its, before=error)
        n_rows = int(before.rows[k])
        cells = gap, error, _accuracy(accuracies, k, n_rows)
        return Row(shown[k], shown[k], cells, rows_of(n_rows))

    look = "measures subgroups all-columns"
    return Table(f"by {by}", (by, *HEAD), tuple(row(k) for k in order), look=look)


def _sizes(screen: SubgroupScreen, k: int) -> tuple[Cell, Cell]:
    """Return mean gap and KS error of a subgroup."""
    n_rows, error = int(screen.rows[k]), float(screen.ks_error[k])
    numbers = [float(one[k]) for one in (screen.mean_gap, screen.gap_low, screen.gap_high)]
    gap, low, high = (pp(one, n_rows, signed=True).removesuffix(" pp") for one in numbers)
    return (
        Cell(gap, span(low, high), *map(finite, numbers)),
        Cell(percent(error, n_rows), value=finite(error)),
    )


def _finding(screen: SubgroupScreen, k: int, *, prediction: bool, briefly: bool) -> tuple[str, str]:
    """Return a sign with a word, and a kind, for what is found of a subgroup."""
    if not screen.evaluated[k]:
        few = f"too few {rows()}"
        return f"\u2013 {few if screen.rows[k] < screen.least else 'not tested'}", "none"
    badge = badge_of(screen, k, prediction=prediction)
    none, word = badge.direction == "none", badge.in_sentence
    if isinstance(screen, JointScreen):
        beside = "" if briefly else f", {compared(screen, k)}"
        word = "no mean gap detected" if none else f"{word}{beside}"
    elif none:
        word = "not detected"
    return f"{badge.icon} {word.removeprefix('scores ')}", badge.kind


def _accuracy(accuracies: Accuracies, k: int, n_rows: int) -> Cell:
    """Return the accuracy, before and after where it changed, and its interval."""
    before, after = accuracies
    if before is None:
        return Cell(DASH)
    ends = [float(end[k]) for end in (before.low, before.high)]
    interval = span(*(percent(end, n_rows) for end in ends))
    share = float(before.share[k])
    was = Cell(percent(share, n_rows), interval, *map(finite, (share, *ends)))
    now = None if after is None else float(after.share[k])
    if now is None or percent(now, n_rows) == was.shown:
        return was
    return Cell(percent(now, n_rows), value=finite(now), before=was)
