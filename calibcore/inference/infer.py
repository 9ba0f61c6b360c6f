"""Every measure's interval, what a perfectly calibrated model would show, and every change."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.calibrators.base import Progress, part_of
from calibcore.counted import CountedScores, counted_scores, weighted
from calibcore.cumulative import curves_of
from calibcore.data import EventScores
from calibcore.inference import findings
from calibcore.inference.classwise import evaluate_classes
from calibcore.inference.draws import (
    DrawCounts,
    OrderedCells,
    OrderedRows,
    SideRows,
    chunks,
    draw_by_outcome,
    draw_cells,
    draw_rows,
    draw_units,
    grouped,
    known_of_rows,
    other_labels,
    redrawn_for,
    tally_of,
)
from calibcore.inference.findings import Inference, Plan, Reference, Uncertainty, reference
from calibcore.inference.intervals import (
    DistanceEstimate,
    Interval,
    fewest,
    percentile_interval,
    rank_interval,
    reflected,
    share_interval,
    stretch_of,
    stretched,
)
from calibcore.inference.inversion import N_DRAWS, Distance, invert, likely_frequencies, shifted
from calibcore.metrics.measure import EventMeasure, RowValues
from calibcore.reliability import spline_frequency
from calibcore.tally import Tally
from calibcore.validation import Floats, Labels
from calibcore.weights import shares_of

_PATTERN_KNOTS = 6

_ONE_DRAW = 1.5
"""Draws as far as the value, itself counted, below which there is no other: its law tells more."""

_WRITTEN = 10_000
"""Counted rows up to which each is drawn again, as rows are, so that the draws are the same."""

_FEW_EXPECTED = 20
"""Hits, or misses, below which resamples of them vary clearly less than their number may."""

_FEW_LIFTED = 5
"""Hits, or misses, from which half of what noise is found to lift is taken off the upper end."""


def evaluate_event(
    rng: np.random.Generator, event: EventScores, draws: Mapping[str, Floats], plan: Plan
) -> dict[str, Uncertainty]:
    """Evaluate the measures of one event.

    ``rng``: where draws of labels come from. ``event``: the rows as they are. ``draws``: values of
    each measure in the bootstrap resamples. ``plan``: which measures, how many draws.

    By the key of the measure.
    """
    exact = tally_of(event)
    values = {m.key: float(m.compute(exact, plan.options)) for m in plan.of_events}
    few = grouped(exact)
    seen = {
        m.key: values[m.key] if few is exact else float(m.compute(few, plan.options))
        for m in plan.of_events
        if m.is_distance
    }
    of_null, of_truths, of_lifts = rng.spawn(3)
    null = _null(of_null, few, plan)
    distances = {
        measure.key: Distance(seen[measure.key], null[measure.key], measure, plan.rough)
        for measure in plan.of_events
        if measure.is_distance
    }
    patterns = _patterns(event, few)
    estimates = invert(of_truths, few, distances, patterns, plan.level)
    lifts = _lifts(of_lifts, few, patterns[-1], plan)
    evaluated = {}
    for measure in plan.of_events:
        key, estimate = measure.key, estimates.get(measure.key)
        value, drawn = values[key], draws.get(key)
        stretch = _stretch(measure, exact, plan.level)
        if measure.interval == "wilson":
            interval = _of_shares(measure, few, plan)
        elif measure.interval == "ranks":
            interval = rank_interval(exact, plan.level)
        elif key in lifts and drawn is not None:
            interval = _lowered(measure, exact, value, drawn, lifts[key], plan.level, stretch)
        else:
            interval = _interval(measure, value, drawn, estimate, plan.level)
            if estimate is None:
                interval = stretched(interval, stretch)
            if measure.interval == "expected":
                interval = _as_expected(measure, few, interval, plan)
        interval = _bounded(interval, measure, few, plan)
        law = measure.law if exact.design is None else None
        known = _known(measure, null[key], value, seen.get(key), law)
        evaluated[key] = Uncertainty(value, interval, known, estimate, drawn, stretch)
    return evaluated


def _stretch(measure: EventMeasure, counted: Tally, level: float) -> float:
    """Return by how much an interval is lengthened, as hits or clusters are few."""
    stretch = 1.0
    if measure.interval in ("ranks", "lifted"):
        stretch = stretch_of(fewest(counted), level)
    if counted.design is not None:
        stretch = max(stretch, stretch_of(counted.design.n_units, level))
    return stretch


def _known(
    measure: EventMeasure,
    null: Floats,
    value: float,
    seen: float | None,
    law: Callable[[float], float] | None,
) -> Reference:
    """Compare with perfect calibration; where no draw is as far, by the law of the measure."""
    known = reference(null, value, measure.ideal, seen)
    if law is not None and known.p_value * (1 + null.size) < _ONE_DRAW:
        known = replace(known, p_value=min(known.p_value, law(value)))
    return known


def _interval(
    measure: EventMeasure,
    value: float,
    draws: Floats | None,
    estimate: DistanceEstimate | None,
    level: float,
) -> Interval:
    if estimate is not None:
        return estimate.interval
    if measure.is_tested_only or math.isnan(value):
        return Interval(math.nan, math.nan)
    if draws is None:
        raise AssertionError(measure.key)
    interval = percentile_interval(draws, level)
    return reflected(interval, value) if measure.interval == "reflected" else interval


def _lowered(  # noqa: PLR0913, PLR0917 - all of one measure
    measure: EventMeasure,
    counted: Tally,
    value: float,
    draws: Floats,
    lift: float,
    level: float,
    stretch: float,
) -> Interval:
    """Return the percentile interval of a part of a proper score, less what noise lifts it.

    Of few hits or misses even that is hardly known, so that less of it is taken off the upper end.
    No part is above what the largest or smallest share of hits allows that these rows leave likely.
    """
    few = fewest(counted)
    if measure.most is None:
        raise AssertionError(measure.key)
    most = float(measure.most(np.array(_likely_shares(counted, level))).max())
    percentile, moved = percentile_interval(draws, level), value - float(draws.mean()) - lift
    high = percentile.high + max(moved, moved * few / (few + _FEW_LIFTED))
    wide = stretched(Interval(percentile.low + moved, high), stretch)
    if math.isnan(wide.low):
        return Interval(0.0, most)
    low, high = np.clip([wide.low, wide.high], 0.0, most).tolist()
    return Interval(low, high).with_value(value)


def _likely_shares(counted: Tally, level: float) -> list[float]:
    """Return the interval for the share of hits, and the share in it nearest to 1/2."""
    share = counted.rows_alike / counted.n_samples
    ends = share_interval(float(counted.hits.sum()) * share, counted.n_samples * share, level)
    shares: list[float] = np.clip([ends.low, 0.5, ends.high], ends.low, ends.high).tolist()
    return shares


def _as_expected(measure: EventMeasure, few: Tally, interval: Interval, plan: Plan) -> Interval:
    """Widen the interval, of few hits or misses, by frequencies that their number leaves likely.

    So it holds the ideal where a test of their number does: resamples of few show too little.
    """
    stated = few.design is not None and few.design.prior is not None
    if fewest(few) >= _FEW_EXPECTED or stated or math.isnan(interval.low):
        return interval
    likely = replace(few, hits=few.counts * likely_frequencies(few, plan.level))
    return interval.with_value(*measure.compute(likely, plan.options).tolist())


def _of_shares(measure: EventMeasure, few: Tally, plan: Plan) -> Interval:
    """Return what a measure is between the ends of the interval for the share of hits."""
    shares = _likely_shares(few, plan.level)  # proper scores are greatest at 1/2
    values = measure.compute(replace(few, hits=np.outer(shares, few.counts)), plan.options)
    return Interval(float(values.min()), float(values.max()))


def _lifts(rng: np.random.Generator, few: Tally, frequency: Floats, plan: Plan) -> dict[str, float]:
    """Find by how much noise lifts measures, from labels drawn as the rows suggest."""
    lifted = [measure for measure in plan.of_events if measure.interval == "lifted"]
    if not lifted:
        return {}
    frequency = np.clip(frequency, 0.0, 1.0)
    of_each = redrawn_for(rng, few, frequency, N_DRAWS, lifted)
    true = replace(few, hits=few.counts * frequency)
    return {
        one.key: float(one.compute(drawn, plan.rough).mean() - one.compute(true, plan.options))
        for one, drawn in zip(lifted, of_each, strict=True)
    }


def _null(rng: np.random.Generator, counted: Tally, plan: Plan) -> dict[str, Floats]:
    """Measure labels drawn from the scores."""
    by_key: dict[str, list[Floats]] = {measure.key: [] for measure in plan.of_events}
    for size in chunks(plan.n_resamples, min(counted.n_samples, 32 * counted.scores.size)):
        of_each = redrawn_for(rng, counted, counted.scores, size, plan.of_events)
        for measure, drawn in zip(plan.of_events, of_each, strict=True):
            value = measure.compute(drawn, plan.rough)
            by_key[measure.key].append(np.broadcast_to(value, (size,)))
    null = {key: np.concatenate(parts) for key, parts in by_key.items()}
    if counted.design is None:
        return null
    # Sums that are drawn as normal ones may be beyond what outcomes of 0 and 1 can show.
    return {m.key: np.clip(null[m.key], *_possible(m, counted, plan)) for m in plan.of_events}


def _bounded(interval: Interval, measure: EventMeasure, counted: Tally, plan: Plan) -> Interval:
    """Cut off what no outcomes of weighted rows or clusters show; those of others show no more."""
    if counted.design is None:
        return interval
    low, high = np.clip((interval.low, interval.high), *_possible(measure, counted, plan)).tolist()
    return Interval(low, high)


def _possible(measure: EventMeasure, counted: Tally, plan: Plan) -> tuple[float, float]:
    """Return the least and the largest value that any outcomes of these rows have.

    That of a distance is of no hits, of hits alone, or of those that each score expects least.
    """
    least, most = measure.range
    if measure.is_distance:
        counts, low = counted.counts, counted.scores < 0.5
        extremes = replace(counted, hits=np.array([0 * counts, counts, counts * low]), own=None)
        most = min(most, float(measure.compute(extremes, plan.options).max()))
    return least, most


def _patterns(event: EventScores, few: Tally) -> list[Floats]:
    """Frequencies that the event may truly have: all scores off alike, or as the rows suggest."""
    patterns = [shifted(few, curves_of(few).null_deviation)]
    if event.n_samples >= _PATTERN_KNOTS:
        rows, weights = weighted(event)
        curve = spline_frequency(
            rows.scores, rows.hits, n_knots=_PATTERN_KNOTS, sample_weight=weights
        )
        patterns.append(np.interp(few.scores, curve.score, curve.frequency))
    return patterns


Draws = dict[str, Floats]
"""Values of a measure in each resample, by its key."""


def _streams(plan: Plan) -> list[np.random.Generator]:
    """Return the generators of drawn rows, and of what is drawn of the event and of the classes."""
    return np.random.default_rng(plan.seed).spawn(3)


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
    few misses show too little (see `auroc_intervals.rank_interval`); for the same reason changes of
    both are lengthened. Shares, and uncertainty, which follows from one, have Wilson's interval. Of
    fewer than 20 hits or misses, those of the mean gap, the ratio to what is expected and the
    intercept reach as far as Wilson's does of scores that are all equal. A measure that is
    undefined in more resamples than an interval leaves out has none, and a change from or to
    infinity is not comparable. Where all rows are hits, or none is, resamples have some that are
    not, so that scores of 1 are not called better for want of a miss (see
    `calibcore.inference.draws.draw_rows`). Distances from perfect calibration are biased upwards by
    noise, and more so in a resample; theirs are found by drawing labels under truths at several
    distances (see `calibcore.inference.inversion.invert`), and the interval of their change from
    those of both sides. The calibrator is held fixed: its own fit is not repeated.

    Rows with sampling weights are drawn again with these, clusters as a whole, their intervals
    lengthened as Student's t of so many; distances are compared with gaps that vary as the rows'
    own do, the parts of the log loss with labels of as many equal rows as tell as much. Class-wise
    errors and the SKCE of such rows have a value and no interval.

    Every kind of draws has a generator of its own, and both sides the same ones, so that what is
    found of a measure depends neither on the other measures nor on the other side's draws.
    """
    whole_plan = plan or Plan()
    plan = whole_plan if before.event.weights is None else whole_plan.of_weighted_rows()
    if after is before and isinstance(before.event, CountedScores):
        before = after = SideRows(counted_scores(before.event.counted))  # of which groups are none
    sides = (before,) if after is before else (before, after)
    report = part_of(progress)
    evaluated = _evaluate_rows(sides, plan, part_of(progress, 0.0, 2 / 3))
    for number, (side, by_key) in enumerate(zip(sides, evaluated, strict=True)):
        report((2 + number / len(sides)) / 3)
        other = sides[number - 1].probabilities
        by_key.update(evaluate_classes(_streams(plan)[2], side, other, plan))
    report(1.0)
    was, now = evaluated[0], evaluated[-1]
    return Inference(
        tuple(
            findings.compare(one, was.get(one.key), now.get(one.key), plan.level)
            for one in whole_plan.measures
        ),
        whole_plan,
    )


def _evaluate_rows(
    sides: Sequence[SideRows], plan: Plan, progress: Progress
) -> list[dict[str, Uncertainty]]:
    """Evaluate each side by its rows drawn again, and by outcomes drawn for its scores."""
    of_rows = [_row_values(sides[0], side, side.labels, plan) for side in sides]
    counted = [side.event for side in sides if isinstance(side.event, CountedScores)]
    if counted and counted[0].n_samples > _WRITTEN:
        resampled = _resample_cells(counted, plan, part_of(progress, 0.0, 1 / 2))
    else:
        resampled = _resample(sides, of_rows, plan, part_of(progress, 0.0, 1 / 2))
    evaluated = []
    for number, (side, values, draws) in enumerate(zip(sides, of_rows, resampled, strict=True)):
        progress((1 + number / len(sides)) / 2)
        by_key = evaluate_event(_streams(plan)[1], side.event, draws, plan)
        for measure in (*plan.of_rows, *plan.of_changes):
            if one := values.get(measure.key):
                by_key[measure.key] = findings.evaluate_mean(
                    one,
                    draws[measure.key],
                    plan.level,
                    is_share=measure.asks_for_order,
                    event=side.event,
                )
        evaluated.append(by_key)
    return evaluated


def _row_values(
    before: SideRows, side: SideRows, labels: Labels | None, plan: Plan
) -> dict[str, RowValues]:
    was, table = before.probabilities, side.probabilities
    if table is None or labels is None:
        return {}
    by_key = {measure.key: measure.rows(table, labels) for measure in plan.of_rows}
    if was is not None:
        by_key |= {measure.key: measure.rows(was, table, labels) for measure in plan.of_changes}
    return by_key


def _resample(
    sides: Sequence[SideRows], of_rows: Sequence[dict[str, RowValues]], plan: Plan, report: Progress
) -> list[Draws]:
    """Measure rows drawn again, the same ones on each side."""
    rng, n_rows = _streams(plan)[0], sides[0].event.n_samples
    order = _order(sides)
    draw = _drawing(sides[0].event.rows(order))
    ordered = [OrderedRows.of(side.event.rows(order)) for side in sides]
    right = _all_right(sides)
    means = [
        {key: one.seen for key, one in values.items()} | _of_events(side.event, plan)
        for side, values in zip(sides, of_rows, strict=True)
    ]
    others = _others(sides, plan, right=right)
    for of_side, other in zip(means, others, strict=True):
        other.update({key: (one - of_side[key])[order] for key, one in other.items()})
        of_side.update({key: one[order] for key, one in of_side.items()})
    alike = right or any(rows.alike for rows in ordered)
    drawings = (draw(rng, size, alike) for size in chunks(plan.n_resamples, n_rows))
    recounted = [rows.recounted for rows in ordered]
    return _measured(drawings, recounted, (means, others), plan, n_rows, report)


def _resample_cells(events: Sequence[CountedScores], plan: Plan, report: Progress) -> list[Draws]:
    """Measure counted rows drawn again, the same ones on each side: numbers of rows of cells.

    Neighbours of many cells are drawn together, with the mean of what their rows add to a mean.
    """
    rng, n_rows = _streams(plan)[0], events[0].n_samples
    ordered = [OrderedCells.of(event, events[0]) for event in events]
    sizes = ordered[0].sizes
    alike, means, others = ordered[0].alike, [], []
    for event, cells in zip(events, ordered, strict=True):
        of_side = {key: cells.mean(one) for key, one in _of_events(event.cells, plan).items()}
        turned = EventScores(event.cells.scores, 1 - event.cells.hits)
        other = {key: cells.mean(one) for key, one in _of_events(turned, plan).items()}
        means.append(of_side)
        others.append({key: one - of_side[key] for key, one in other.items()})
    drawings = (
        draw_cells(rng, size, sizes, alike=alike) for size in chunks(plan.n_resamples, sizes.size)
    )
    recounted = [cells.recounted for cells in ordered]
    return _measured(drawings, recounted, (means, others), plan, n_rows, report)


def _measured(
    drawings: Iterable[DrawCounts],
    recounted: Sequence[Callable[[DrawCounts], Tally]],
    means: tuple[Sequence[Mapping[str, Floats]], Sequence[Mapping[str, Floats]]],
    plan: Plan,
    n_rows: int,
    report: Progress,
) -> list[Draws]:
    """Measure each drawing on each side.

    ``recounted``: of a side, its rows by a drawing. ``means``: of a side, what rows add to measures
    that are means, and how much more where they turn out otherwise.
    """
    draws_of_sides: list[dict[str, list[Floats]]] = [{} for _ in recounted]
    done = 0
    for drawn in drawings:
        for count, of_side, other, draws in zip(recounted, *means, draws_of_sides, strict=True):
            counted = count(drawn)
            for measure in plan.of_events:
                if measure.is_resampled:
                    value = measure.compute(counted, plan.rough)
                    draws.setdefault(measure.key, []).append(value)
            for key, values in of_side.items():
                mean = drawn.counts @ values
                if drawn.otherwise is not None and key in other:
                    mean += drawn.otherwise @ other[key]
                draws.setdefault(key, []).append(mean / n_rows)
        done += len(drawn.counts)
        report(done / plan.n_resamples)
    return [
        {key: np.concatenate(parts) for key, parts in draws.items()} for draws in draws_of_sides
    ]


def _drawing(event: EventScores) -> Callable[[np.random.Generator, int, bool], DrawCounts]:
    """Return what draws the rows again: one by one, with their weights, or by clusters."""
    n_rows, weights = event.n_samples, event.weights
    if weights is None and event.clusters is None:
        return lambda rng, size, alike: draw_rows(rng, size, n_rows, alike=alike)
    each = np.ones(n_rows) if weights is None else shares_of(weights.values)
    if event.prior is not None:
        return lambda rng, size, _: draw_by_outcome(rng, size, each, event.hits)
    numbers = None if event.clusters is None else np.unique(event.clusters, return_inverse=True)[1]
    return lambda rng, size, alike: draw_units(rng, size, each, numbers, alike=alike)


def _of_events(event: EventScores, plan: Plan) -> dict[str, Floats]:
    """Return what each row adds to the measures of an event that are means over rows."""
    return {one.key: one.rows(event) for one in plan.of_events if one.rows is not None}


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
    first = sides[0].event
    if first.weights is not None:
        keys.append(first.weights.values)
    if first.clusters is not None:
        keys.append(first.clusters)
    return np.lexsort(keys[::-1])


def _all_right(sides: Sequence[SideRows]) -> bool:
    """Return whether on any side the most probable class is every row's true one."""
    tables = [side.probabilities for side in sides if side.probabilities is not None]
    labels = sides[0].labels
    return labels is not None and any((one.argmax(axis=1) == labels).all() for one in tables)


def _others(sides: Sequence[SideRows], plan: Plan, *, right: bool) -> list[dict[str, Floats]]:
    """Measure each row as if it had turned out otherwise, where all turned out alike.

    Of the event that is where all are hits, or none is; of classes, where every decision is right.
    """
    first, labels = sides[0].probabilities, None
    if right and first is not None and sides[0].labels is not None:
        labels = other_labels(first, sides[0].labels)
    of_sides = []
    for side in sides:
        values = {} if labels is None else _row_values(sides[0], side, labels, plan)
        of_side, event = {key: one.seen for key, one in values.items()}, side.event
        if event.hits.min() == event.hits.max():
            of_side |= _of_events(EventScores(event.scores, 1 - event.hits, event.rest), plan)
        of_sides.append(of_side)
    return of_sides
