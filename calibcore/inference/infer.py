"""Every measure's interval, what a perfectly calibrated model would show, and every change."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.calibrators.base import Progress
from calibcore.inference import findings
from calibcore.inference.bootstrap import (
    OrderedRows,
    SideRows,
    chunks,
    draw_rows,
    known_of_rows,
    other_labels,
)
from calibcore.inference.classwise import evaluate_classes
from calibcore.inference.events import evaluate_event
from calibcore.inference.findings import Inference
from calibcore.inference.plan import Plan
from calibcore.metrics.rows import RowValues
from calibcore.validation import Floats, Labels

Draws = dict[str, Floats]
"""Values of a measure in each resample, by its key."""


class _Streams(NamedTuple):
    """Random generators, one per resampling task."""

    rows: np.random.Generator
    event: np.random.Generator
    classes: np.random.Generator

    @classmethod
    def of(cls, seed: int) -> "_Streams":
        return cls(*np.random.default_rng(seed).spawn(3))


def infer(
    before: SideRows, after: SideRows, plan: Plan | None = None, *, progress: Progress | None = None
) -> Inference:
    """Compute confidence intervals of measures before and after calibration, and of every change.

    Parameters
    ----------
    before, after : SideRows
        The same rows in the same order; the same object where nothing is calibrated.
    plan : Plan, optional
        Which measures, how many draws; all of them and 1,000 by default.
    progress : callable, optional
        Told the share that is done; whatever it raises ends the work.

    Returns
    -------
    Inference

    Notes
    -----
    Means, ratios and regressions get percentile bootstrap intervals: rows are drawn again with
    replacement, the same rows before and after. That of the slope is reflected about its value,
    that of discrimination is lowered by what noise lifts it. AUROC's is Newcombe's, as resamples of
    few misses show too little (see `auroc_intervals.rank_interval`); for the same reason
    changes of both are lengthened. Shares, and uncertainty, which follows from one, have Wilson's
    interval. A measure that is undefined in more resamples than an interval leaves out has none,
    and a change from or to infinity is not comparable. Where all rows are hits, or none is,
    resamples have some that are not, so that scores of 1 are not called better for want of a miss
    (see `calibcore.inference.bootstrap.draw_rows`). Distances from perfect calibration are biased
    upwards by noise, and more so in a resample; theirs are found by drawing labels under truths at
    several distances (see `calibcore.inference.inversion.invert`), and the interval of their change
    from those of both sides. The calibrator is held fixed: its own fit is not repeated.

    Every kind of draws has a generator of its own, and both sides the same ones, so that what is
    found of a measure depends neither on the other measures nor on the other side's draws.
    """
    plan = plan or Plan()
    sides = (before,) if after is before else (before, after)

    def report(share: float) -> None:
        if progress is not None:
            progress(share)

    of_rows = [_row_values(before, side, side.labels, plan) for side in sides]
    resampled = _resample(sides, of_rows, plan, lambda share: report(share / 3))
    evaluated = []
    for number, (side, values, draws) in enumerate(zip(sides, of_rows, resampled, strict=True)):
        report((1 + 2 * number / len(sides)) / 3)
        streams = _Streams.of(plan.seed)
        found = evaluate_event(streams.event, side.event, draws, plan)
        for measure in (*plan.of_rows, *plan.of_changes):
            if one := values.get(measure.key):
                found[measure.key] = findings.evaluate_mean(
                    one, draws[measure.key], plan.level, is_share=measure.asks_for_order
                )
        other = sides[number - 1].probabilities
        evaluated.append(found | evaluate_classes(streams.classes, side, other, plan))
    report(1.0)
    was, now = evaluated[0], evaluated[-1]
    return Inference(
        tuple(
            findings.compare(one, was.get(one.key), now.get(one.key), plan.level)
            for one in plan.measures
        ),
        plan,
    )


def _row_values(
    before: SideRows, side: SideRows, labels: Labels | None, plan: Plan
) -> dict[str, RowValues]:
    was, table = before.probabilities, side.probabilities
    if table is None or labels is None:
        return {}
    found = {measure.key: measure.rows(table, labels) for measure in plan.of_rows}
    if was is not None:
        found |= {measure.key: measure.rows(was, table, labels) for measure in plan.of_changes}
    return found


def _resample(
    sides: Sequence[SideRows],
    of_rows: Sequence[dict[str, RowValues]],
    plan: Plan,
    report: Progress,
) -> list[Draws]:
    """Measure rows drawn again, the same ones on each side."""
    rng, n_rows = _Streams.of(plan.seed).rows, sides[0].event.n_samples
    order = _order(sides)
    ordered = [OrderedRows.of(side.event.rows(order)) for side in sides]
    means = [{key: one.seen[order] for key, one in values.items()} for values in of_rows]
    others = _others(sides, order, plan)
    alike = any(rows.alike for rows in ordered) or bool(others)
    found: list[dict[str, list[Floats]]] = [{} for _ in sides]
    done = 0
    for size in chunks(plan.n_resamples, n_rows):
        drawn = draw_rows(rng, size, n_rows, alike=alike)
        for number, (rows, of_side, draws) in enumerate(zip(ordered, means, found, strict=True)):
            counted = rows.recounted(drawn)
            for measure in plan.of_events:
                if not measure.is_distance:
                    value = measure.compute(counted, plan.rough)
                    draws.setdefault(measure.key, []).append(value)
            for key, values in of_side.items():
                mean = drawn.counts @ values
                if others and drawn.otherwise is not None:
                    mean += drawn.otherwise @ (others[number][key] - values)
                draws.setdefault(key, []).append(mean / n_rows)
        done += size
        report(done / plan.n_resamples)
    return [{key: np.concatenate(parts) for key, parts in draws.items()} for draws in found]


def _order(sides: Sequence[SideRows]) -> NDArray[np.intp]:
    """Order the rows by what is known of them, so that draws do not depend on their order.

    What is known before comes first, so that its draws do not depend on what is known after.
    """
    keys: list[NDArray[Any]] = []
    for side in sides:
        keys += [side.event.scores, side.event.hits]
        if side.probabilities is not None and side.labels is not None:
            keys += known_of_rows(side.probabilities, side.labels, sides[0].probabilities)
        if side.event.rest is not None:
            keys.append(side.event.rest)
    return np.lexsort(keys[::-1])


def _others(
    sides: Sequence[SideRows], order: NDArray[np.intp], plan: Plan
) -> list[dict[str, Floats]]:
    """Measure each row as if it were of another class, where every decision is right."""
    tables = [side.probabilities for side in sides if side.probabilities is not None]
    labels = sides[0].labels
    if labels is None or not any((one.argmax(axis=1) == labels).all() for one in tables):
        return []
    others = other_labels(tables[0], labels)
    return [
        {key: one.seen[order] for key, one in _row_values(sides[0], side, others, plan).items()}
        for side in sides
    ]
