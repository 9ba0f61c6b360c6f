"""Every measure's interval, what a perfectly calibrated model would show, and every change."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.calibrators.base import Progress
from calibcore.data import EventScores
from calibcore.inference import findings
from calibcore.inference.classes import judge_classes
from calibcore.inference.events import judge_event
from calibcore.inference.findings import Inference
from calibcore.inference.plan import Plan
from calibcore.inference.resampling import (
    OrderedRows,
    Side,
    chunks,
    draw_rows,
    other_labels,
)
from calibcore.metrics.rows import RowValues
from calibcore.validation import Floats, Labels

Draws = dict[str, Floats]
"""Values of a measure in each resample, by its key."""


def infer(
    before: Side, after: Side, plan: Plan | None = None, *, progress: Progress | None = None
) -> Inference:
    """Find the uncertainty of measures before and after, and of every change.

    Parameters
    ----------
    before, after : Side
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
    Means, ratios, ranks and regressions get percentile bootstrap intervals: rows are drawn again
    with replacement, the same rows before and after. That of the slope is reflected about its
    value, that of discrimination is lowered by what noise lifts it; shares, and uncertainty, which
    follows from one, have Wilson's interval. Where all rows are hits, or none is, resamples have
    some that are not, so that scores of 1 are not called better for want of a miss (see
    `calibcore.inference.resampling.draw_rows`). Distances from perfect calibration are biased
    upwards by noise, and more so in a resample; theirs are found by drawing labels under truths at
    several distances (see `calibcore.inference.inversion.invert`), and the interval of their change
    from those of both sides. The calibrator is taken as given: its own fit is not repeated.
    """
    plan = plan or Plan()
    rng = np.random.default_rng(plan.seed)
    sides = (before,) if after is before else (before, after)

    def report(share: float) -> None:
        if progress is not None:
            progress(share)

    of_rows = [_row_values(before, side, side.labels, plan) for side in sides]
    resampled = _resample(rng, sides, of_rows, plan, lambda share: report(share / 3))
    judged = []
    for number, (side, values, draws) in enumerate(zip(sides, of_rows, resampled, strict=True)):
        report((1 + 2 * number / len(sides)) / 3)
        found = judge_event(rng, side.event, draws, plan)
        for measure in (*plan.of_rows, *plan.of_changes):
            if one := values.get(measure.key):
                found[measure.key] = findings.judge_mean(
                    one, draws[measure.key], plan.level, is_share=measure.asks_for_order
                )
        judged.append(found | judge_classes(rng, side, sides[number - 1].probabilities, plan))
    report(1.0)
    was, now = judged[0], judged[-1]
    return Inference(
        tuple(
            findings.compare(one, was.get(one.key), now.get(one.key), plan.level)
            for one in plan.measures
        ),
        plan,
    )


def _row_values(
    before: Side, side: Side, labels: Labels | None, plan: Plan
) -> dict[str, RowValues]:
    was, table = before.probabilities, side.probabilities
    if table is None or labels is None:
        return {}
    found = {measure.key: measure.rows(table, labels) for measure in plan.of_rows}
    if was is not None:
        found |= {measure.key: measure.rows(was, table, labels) for measure in plan.of_changes}
    return found


def _resample(
    rng: np.random.Generator,
    sides: Sequence[Side],
    of_rows: Sequence[dict[str, RowValues]],
    plan: Plan,
    report: Progress,
) -> list[Draws]:
    """Measure rows drawn again, the same ones on each side."""
    n_rows = sides[0].event.n_samples
    order = _order(sides, of_rows)
    ordered = [
        OrderedRows.of(EventScores(side.event.scores[order], side.event.hits[order]))
        for side in sides
    ]
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


def _order(sides: Sequence[Side], of_rows: Sequence[dict[str, RowValues]]) -> NDArray[np.intp]:
    """Order the rows by what is known of them, so that draws do not depend on their order."""
    keys: list[NDArray[Any]] = [values.seen for of_side in of_rows for values in of_side.values()]
    for side in sides:
        keys += [side.event.hits, side.event.scores]
    return np.lexsort(keys)


def _others(sides: Sequence[Side], order: NDArray[np.intp], plan: Plan) -> list[dict[str, Floats]]:
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
