"""Intervals, and what a change between two of them is called."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibcore.reliability import binomial_interval
from calibcore.tally import Tally, count_totals, hit_totals
from calibcore.validation import Floats

Z_95 = 1.959963984540054
"""Standard deviations on either side of a normal mean that hold 95%."""

Mark = Literal["better", "no evidence", "worse", "not comparable", "moved"]


@dataclass(frozen=True)
class Interval:
    """Two ends, low first, in the unit of what they are about."""

    low: float
    high: float

    def with_value(self, *values: float) -> "Interval":
        """Widen the interval so that it has some values in it."""
        return Interval(min(self.low, *values), max(self.high, *values))


@dataclass(frozen=True)
class DistanceEstimate:
    """What one distance is, evaluated by what would be seen under other truths."""

    centre: float
    """Truth under which the observed value is the median."""
    interval: Interval
    """Truths under which it is neither unusually high nor unusually low."""

    def reaching(self, truth: float) -> "DistanceEstimate":
        """Raise the upper end to a truth that is not ruled out."""
        low, high = self.interval.low, max(self.interval.high, truth)
        return DistanceEstimate(self.centre, Interval(low, high))


def percentile_interval(values: Floats, level: float) -> Interval:
    """Return the interval that leaves out as many resamples above as below.

    Resamples where the measure is undefined (NaN) may lie anywhere, so they count as below for the
    lower end and as above for the upper one. Both ends are NaN where they would be among them, or
    where both are the same infinity.
    """
    unknown, tail = np.isnan(values), (1 - level) / 2
    low = high = math.nan
    if unknown.mean() < tail:
        low = quantiles(np.where(unknown, -np.inf, values), tail)[0]
        high = quantiles(np.where(unknown, np.inf, values), 1 - tail)[0]
    if math.isinf(low) and low == high:
        low = high = math.nan
    return Interval(low, high)


def share_interval(hits: float, n_samples: float, level: float) -> Interval:
    """Return Wilson's interval for a share, which has a width even where all or none are hits.

    >>> share_interval(54, 54, 0.95)
    Interval(low=0.9335..., high=1.0)
    """
    low, high = binomial_interval(hits, n_samples, level=level)
    return Interval(float(low), float(high))


def reflected(interval: Interval, value: float) -> Interval:
    """Turn a percentile interval about the value, as resamples are off by as much as it is.

    An interval without end stays as it is.
    """
    if not (math.isfinite(interval.low) and math.isfinite(interval.high) and math.isfinite(value)):
        return interval
    return Interval(2 * value - interval.high, 2 * value - interval.low)


def stretched(interval: Interval, by: float) -> Interval:
    """Lengthen an interval about its middle; NaN if without end, but for one without a length."""
    if by == 1 or interval.low == interval.high:
        return interval
    if math.isinf(by):
        return Interval(math.nan, math.nan)
    more = (by - 1) * (interval.high - interval.low) / 2
    return Interval(interval.low - more, interval.high + more)


def quantiles(values: Floats, *shares: float) -> list[float]:
    """Return values that so large a share does not exceed; NaN is passed over, infinity is not.

    They are values that are there, as one cannot interpolate between infinities.

    >>> quantiles(np.array([np.nan, 1.0, 2.0, np.inf]), 0.5, 0.9)
    [2.0, inf]
    """
    defined = values[~np.isnan(values)]
    if defined.size == 0:
        return [math.nan] * len(shares)
    at_shares: list[float] = np.quantile(defined, shares, method="inverted_cdf").tolist()
    return at_shares


def difference_interval(before: DistanceEstimate, after: DistanceEstimate) -> Interval:
    """Return the interval of after minus before from the interval of each.

    Each end is as far from the difference as the root of the summed squares of how far the
    estimates are from the ends of their own intervals that point there, as if the two were
    independent. Where such an end is 0, the estimate is not merely uncertain but too high, so its
    distance is added whole. Correlations of paired resamples do not help: near 0, where a
    calibrated model is, the estimates do not move together as the resamples do.

    Source: Zou and Donner, *Statistics in Medicine* 2008 (MOVER).
    """
    change = after.centre - before.centre
    fall = after.centre - after.interval.low, before.interval.high - before.centre
    rise = after.interval.high - after.centre, before.centre - before.interval.low
    return Interval(
        change - (math.hypot(*fall) if after.interval.low > 0 else sum(fall)),
        change + (math.hypot(*rise) if before.interval.low > 0 else sum(rise)),
    )


def mark_of(change: Interval | None, better: Literal["lower", "higher"]) -> Mark:
    """Return the word for what the interval of a change shows."""
    if change is None or math.isnan(change.low):
        return "not comparable"
    if change.low <= 0 <= change.high:
        return "no evidence"
    return "better" if (change.high < 0) == (better == "lower") else "worse"


# Where few rows are hits, or few are misses: the interval of AUROC, and how far changes reach ---


_AS_ROWS = 10.0
"""Further hits and misses as many as whose word the usual shape of curves counts."""

_HALVINGS = 60


def rank_interval(counted: Tally, level: float) -> Interval:
    """Return the interval of `calibcore.metrics.auroc`, which holds from one hit and one miss on.

    ``counted``: whole rows, with ``counts`` and ``hits`` of shape (n_blocks,). ``level``: of the
    interval.

    NaN where all rows are hits, or none.

    All areas A whose distance from the one seen is at most z standard deviations at A, so that it
    is wide where all hits score above all misses. The variance is half q(A) / hits + q(A) / misses
    with q(A) = A (1 - A)^2 / (2 - A) + A^2 (1 - A) / (1 + A), as Newcombe's from exponential
    scores, each term times the ratio of DeLong's from these rows to it. The ratio counts the rows
    seen less 1, and 1 as if seen in 10 more. Resamples of few misses show too few orders of them.

    Source: Newcombe, *Statistics in Medicine* 2006 (method 5); DeLong et al., *Biometrics* 1988.

    >>> from calibcore.tally import tally
    >>> rank_interval(tally([0.2, 0.4, 0.6, 0.9], [0, 0, 1, 1]), 0.95)
    Interval(low=0.43..., high=1.0)
    """
    from scipy.special import ndtri  # noqa: PLC0415 - a tenth of a second to import

    hits, misses = counted.hits, counted.counts - counted.hits
    n_hits, n_misses = float(hits.sum()), float(misses.sum())
    if min(n_hits, n_misses) == 0:
        return Interval(math.nan, math.nan)
    hits_up_to, rows_up_to = counted.once(hit_totals), counted.once(count_totals)
    below = (rows_up_to - hits_up_to - misses / 2) / n_misses  # share of misses, for each hit
    above = 1 - (hits_up_to - hits / 2) / n_hits
    area = float(hits @ below) / n_hits
    usual = _usual(area)
    per_row = 0.0
    for weights, place, n in ((hits, below, n_hits), (misses, above, n_misses)):
        seen = float(weights @ np.square(place - area))
        ratio = (seen / usual + _AS_ROWS) / (n - 1 + _AS_ROWS) if usual > 0 else 1.0
        per_row += ratio / n
    times = float(ndtri((1 + level) / 2))
    if counted.design is not None and usual > 0:
        per_row = _design_variance(counted, (below, above), area) / usual
        times *= stretch_of(counted.design.n_units, level)
    allowed = times**2 * per_row

    def is_near(other: float) -> bool:
        return (other - area) ** 2 <= allowed * _usual(other)

    return Interval(_last(is_near, area, 0.0), _last(is_near, area, 1.0))


def _design_variance(counted: Tally, places: tuple[Floats, Floats], area: float) -> float:
    """Return the variance of the area by linearisation over weighted rows or clusters."""
    design = counted.design
    if design is None:
        raise AssertionError
    n_hits = float(counted.hits.sum())
    n_misses = float(counted.counts.sum()) - n_hits
    block = np.repeat(np.arange(design.starts.size), counted.rows_at.astype(np.intp))
    below, above = (place[block] - area for place in places)
    pulls = np.where(design.hits == 1, below / n_hits, above / n_misses)
    return design.deviation_of(design.weights * pulls) ** 2


def _usual(area: float) -> float:
    """Return the variance of places of hits among misses, or the reverse, of exponential scores."""
    return (area * (1 - area) ** 2 / (2 - area) + area**2 * (1 - area) / (1 + area)) / 2


def _last(is_near: Callable[[float], bool], start: float, end: float) -> float:
    """Find the last number on the way that is near, as ``start`` is."""
    for _ in range(_HALVINGS):
        middle = (start + end) / 2
        if is_near(middle):
            start = middle
        else:
            end = middle
    return end


def fewest(counted: Tally) -> int:
    """Count the hits or the misses, whichever are fewer; of weighted rows, as equal ones."""
    n_hits, n_rows = float(counted.hits.sum()), counted.n_samples
    design = counted.design
    if design is not None and design.prior is not None:
        return int(min(design.hits.sum(), (1 - design.hits).sum()))
    return round(min(n_hits, n_rows - n_hits) * (counted.rows_alike / n_rows))


def stretch_of(few: int, level: float) -> float:
    """Return by how much more a change may be off than resamples of so few hits or misses show.

    As Student's t and the spread of a sample do: the few that there are lie nearer to their own
    mean than to the true one, by an amount that is itself uncertain. Infinite for fewer than 2.
    """
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 - a tenth of a second to import

    if few < 2:
        return math.inf
    share = (1 + level) / 2
    return float(stdtrit(few - 1, share) / ndtri(share) * math.sqrt(few / (few - 1)))
