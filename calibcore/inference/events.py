"""The uncertainty of the measures of one event."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from calibcore.cumulative import curves_of
from calibcore.data import EventScores
from calibcore.inference.bootstrap import chunks
from calibcore.inference.findings import Plan, Uncertainty, reference
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
from calibcore.inference.inversion import N_DRAWS, Distance, invert, shifted
from calibcore.inference.null_outcomes import grouped, redrawn
from calibcore.metrics.measure import EventMeasure
from calibcore.reliability import spline_frequency
from calibcore.tally import Tally, tally
from calibcore.validation import Floats

_PATTERN_KNOTS = 6

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
    exact = tally(event.scores, event.hits, event.rest)
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
        stretch = 1.0
        if measure.interval in ("ranks", "lifted"):
            stretch = stretch_of(fewest(exact), plan.level)
        if measure.interval == "wilson":
            interval = _of_shares(measure, few, plan)
        elif measure.interval == "ranks":
            interval = rank_interval(exact, plan.level)
        elif key in lifts and drawn is not None:
            interval = _lowered(exact, value, drawn, lifts[key], plan.level)
        else:
            interval = _interval(measure, value, drawn, estimate, plan.level)
        known = reference(null[key], value, measure.ideal, seen.get(key))
        evaluated[key] = Uncertainty(value, interval, known, estimate, drawn, stretch)
    return evaluated


def _interval(
    measure: EventMeasure,
    value: float,
    draws: Floats | None,
    estimate: DistanceEstimate | None,
    level: float,
) -> Interval:
    if estimate is not None:
        return estimate.interval
    if draws is None:
        raise AssertionError(measure.key)
    found = percentile_interval(draws, level)
    if math.isnan(value):
        return Interval(math.nan, math.nan)
    return reflected(found, value) if measure.interval == "reflected" else found


def _lowered(counted: Tally, value: float, draws: Floats, lift: float, level: float) -> Interval:
    """Return the percentile interval of a part of the Brier score, less what noise lifts it.

    Of few hits or misses even that is hardly known, so that less of it is taken off the upper end.
    No part is above what the largest or smallest share of hits allows that these rows leave likely.
    """
    ends, few = _likely_shares(counted, level), fewest(counted)
    most = max(share * (1 - share) for share in ends)
    found, moved = percentile_interval(draws, level), value - float(draws.mean()) - lift
    high = found.high + max(moved, moved * few / (few + _FEW_LIFTED))
    wide = stretched(Interval(found.low + moved, high), stretch_of(few, level))
    if math.isnan(wide.low):
        return Interval(0.0, most)
    low, high = np.clip([wide.low, wide.high], 0.0, most).tolist()
    return Interval(low, high).with_value(value)


def _likely_shares(counted: Tally, level: float) -> list[float]:
    """Return the interval for the share of hits, and the share in it nearest to 1/2."""
    ends = share_interval(float(counted.hits.sum()), counted.n_samples, level)
    found: list[float] = np.clip([ends.low, 0.5, ends.high], ends.low, ends.high).tolist()
    return found


def _of_shares(measure: EventMeasure, few: Tally, plan: Plan) -> Interval:
    """Return what a measure is between the ends of the interval for the share of hits."""
    shares = _likely_shares(few, plan.level)  # the Brier score is greatest at 1/2
    values = measure.compute(replace(few, hits=np.outer(shares, few.counts)), plan.options)
    return Interval(float(values.min()), float(values.max()))


def _lifts(rng: np.random.Generator, few: Tally, frequency: Floats, plan: Plan) -> dict[str, float]:
    """Find by how much noise lifts measures, from labels drawn as the rows suggest."""
    lifted = [measure for measure in plan.of_events if measure.interval == "lifted"]
    if not lifted:
        return {}
    frequency = np.clip(frequency, 0.0, 1.0)
    drawn = redrawn(rng, few, frequency, N_DRAWS)
    true = replace(few, hits=few.counts * frequency)
    return {
        one.key: float(one.compute(drawn, plan.rough).mean() - one.compute(true, plan.options))
        for one in lifted
    }


def _null(rng: np.random.Generator, counted: Tally, plan: Plan) -> dict[str, Floats]:
    """Measure labels drawn from the scores."""
    found: dict[str, list[Floats]] = {measure.key: [] for measure in plan.of_events}
    for size in chunks(plan.n_resamples, min(counted.n_samples, 32 * counted.scores.size)):
        drawn = redrawn(rng, counted, counted.scores, size)
        for measure in plan.of_events:
            value = measure.compute(drawn, plan.rough)
            found[measure.key].append(np.broadcast_to(value, (size,)))
    return {key: np.concatenate(parts) for key, parts in found.items()}


def _patterns(event: EventScores, few: Tally) -> list[Floats]:
    """Frequencies that the event may truly have: all scores off alike, or as the rows suggest."""
    patterns = [shifted(few, curves_of(few).null_deviation)]
    if event.n_samples >= _PATTERN_KNOTS:
        curve = spline_frequency(event.scores, event.hits, n_knots=_PATTERN_KNOTS)
        patterns.append(np.interp(few.scores, curve.score, curve.frequency))
    return patterns
