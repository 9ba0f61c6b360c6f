"""Few points that stand for many log-odds: sums of smooth functions over them are the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore.metrics.measure import EventMeasure
from calibcore.probabilities import SMALLEST_SCORE, SMALLEST_SPAN
from calibcore.tally import Tally, hit_sums, resample_rows, tally
from calibcore.validation import Floats
from calibcore.weights import SampleWeight

WIDTH = 0.5
"""Log-odds that neighbours who are joined are apart at most."""

_N_POINTS = 12
"""Points that stand for neighbours, where there are more of them."""

_LEAST_HALF = 1e-12


class CondensedPoints(NamedTuple):
    """Points with weights that give the sums of the rows."""

    points: Floats
    """Log-odds, none beyond those of the rows; shape (n_points,)."""
    weights: Floats
    """As the counts of the tally; not whole numbers, and some are below 0; shape (..., n_points).
    """
    half: float
    """Half of the log-odds over which points stand for others; 0 if each stands for itself."""

    def rows(self, shape: tuple[int, ...]) -> Floats:
        """Return the weights with one row a resample, for resamples of these leading dimensions."""
        n_points = self.points.size
        return np.broadcast_to(self.weights, (*shape, n_points)).reshape(-1, n_points)


def log_odds(counted: Tally) -> Floats:
    """Return the log-odds of each score of a tally, none infinite."""
    odds = np.empty_like(counted.scores)
    start = 0
    for part in counted.parts():
        inside = np.clip(part.scores, SMALLEST_SCORE, 1 - SMALLEST_SCORE)
        into = odds[start : start + inside.size]
        np.log(inside, out=into)
        into -= np.log1p(-inside)
        start += inside.size
    return odds


def condensed(counted: Tally) -> CondensedPoints:
    """Put few points in place of neighbouring log-odds; resamples all at once.

    A smooth function of the log-odds is nearly a polynomial over so short a range, and its sum over
    the rows nearly that of the polynomial through its values at 12 Chebyshev points, which their
    Chebyshev moments give. 1 / (1 + exp(-a - b x)), whose poles are pi / b from the real axis, is
    off by less than 1e-14 of its largest value in the range if b is 1 and the range is `WIDTH`, and
    by 2e-13 if b is 2.
    """
    odds, start, half = counted.once(log_odds), 0, 0.0
    points, weights = [], []
    for part in counted.parts():
        mine = odds[start : start + part.scores.size]
        start += mine.size
        firsts = np.flatnonzero(np.diff(np.floor(mine / WIDTH), prepend=-np.inf))
        ends = np.append(firsts[1:], mine.size)
        halves = np.maximum((mine[ends - 1] - mine[firsts]) / 2, _LEAST_HALF)
        middles = (mine[ends - 1] + mine[firsts]) / 2
        sizes = ends - firsts
        values = _chebyshev((mine - np.repeat(middles, sizes)) / np.repeat(halves, sizes))
        for group, (first, end) in enumerate(zip(firsts, ends, strict=True)):
            counts = part.counts[..., first:end]
            if end - first <= _N_POINTS:
                points.append(mine[first:end])
                weights.append(counts)
                continue
            points.append(middles[group] + halves[group] * _NODES)
            weights.append((counts @ values[:, first:end].T) @ _SHARES)
            half = max(half, float(halves[group]))
    return CondensedPoints(np.concatenate(points), np.concatenate(weights, axis=-1), half)


def _chebyshev(x: Floats) -> Floats:
    """Return the first Chebyshev polynomials at x, shape (`_N_POINTS`, n)."""
    values = np.empty((_N_POINTS, x.size))
    values[0], values[1] = 1.0, x
    twice = 2 * x
    for degree in range(2, _N_POINTS):
        np.multiply(twice, values[degree - 1], out=values[degree])
        values[degree] -= values[degree - 2]
    return values


_NODES = np.cos((np.arange(_N_POINTS) + 0.5) * np.pi / _N_POINTS)
_SHARES = _chebyshev(_NODES) * np.where(np.arange(_N_POINTS) > 0, 2, 1)[:, np.newaxis] / _N_POINTS


# Logistic regression of the hits on the scores' log-odds: calibration intercept and slope -----


Indices = NDArray[np.intp]
Marks = NDArray[np.bool_]

_STEEPEST = 0.5
"""Change of log-odds within a group of neighbours up to which few points stand for them exactly."""

_LAST_STEP = 1e-6
"""After a Newton step that moves no log-odds by more, the next would move them by its square."""

_ROUNDING = 1e-14
"""Differences of sums that are a smaller share of them are taken for rounding."""

_CELLS = 1 << 16
_MOST_STEPS = 60


def calibration_intercept(
    scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the calibration intercept: what to add to all log-odds to agree with the hits.

    Calibration in the large: above 0 where scores are too low.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In log-odds; 0 is best. Infinite where all rows are hits, minus infinite where none is.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range.

    Notes
    -----
    The a for which sum_i 1 / (1 + exp(-a - ln(s_i / (1 - s_i)))) is the number of hits: logistic
    regression with the log-odds as offset and a slope of 1. Scores count as at least 2^-52 from 0
    and from 1, as in `calibcore.calibrators.PlattScaling`, where log-odds are infinite.

    References
    ----------
    Cox, *Biometrika* 1958; Van Calster et al., *BMC Medicine* 2019 ("weak calibration").

    Examples
    --------
    >>> round(calibration_intercept([0.5, 0.5, 0.5, 0.5], [0, 1, 1, 1]), 4)
    1.0986
    """
    return float(calibration_intercept_of(tally(scores, hits, sample_weight=sample_weight)))


def calibration_intercept_of(counted: Tally) -> Floats:
    """Return the `calibration_intercept` of score-tallied rows, vectorised over resamples."""
    shape = np.broadcast_shapes(counted.counts.shape, counted.hits.shape)[:-1]
    odds = counted.once(log_odds)
    n_hits = np.broadcast_to(counted.once(hit_sums), shape).ravel()
    n_misses = counted.n_samples - n_hits
    intercepts = np.where(n_hits > 0, np.inf, -np.inf)
    mixed = (n_hits > 0) & (n_misses > 0)
    if mixed.any():
        few = counted.once(condensed)
        weights = few.rows(shape)[_chosen(mixed)]
        base = np.log(n_hits[mixed]) - np.log(n_misses[mixed])
        bounds = base - odds[-1] - 1, base - odds[0] + 1  # 1 more, for rounding
        start = base - np.einsum("ij,j->i", weights, few.points) / counted.n_samples
        intercepts[mixed] = _shift(few.points, weights, n_hits[mixed], start, bounds)
    return intercepts.reshape(shape)


def calibration_slope(
    scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the calibration slope: the factor that makes the log-odds agree with the hits.

    Below 1 where the scores are too extreme (overconfident), above 1 where they are too timid.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        1 is best; below 0, higher scores go with fewer hits. Infinite, or minus infinite, where one
        score separates hits from misses; NaN where all rows are hits, or none, or where all
        log-odds are equal.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range.

    Notes
    -----
    The b of log-odds(hit) = a + b ln(s / (1 - s)) at the greatest likelihood, with an intercept a
    of its own; the slope of `calibcore.calibrators.PlattScaling`. Scores count as at least 2^-52
    from 0 and from 1, where log-odds are infinite. Log-odds that agree to a millionth count as
    equal. Separation allows ties: a score that both hits and misses have may lie between.
    Hits and misses that overlap in a millionth of the range or less may not be solved for: NaN.

    References
    ----------
    Cox, *Biometrika* 1958; Van Calster et al., *BMC Medicine* 2019 ("weak calibration").

    Examples
    --------
    >>> round(calibration_slope([0.1, 0.1, 0.1, 0.9, 0.9, 0.9], [0, 0, 1, 0, 1, 1]), 4)
    0.3155
    """
    return float(calibration_slope_of(tally(scores, hits, sample_weight=sample_weight)))


def calibration_slope_of(counted: Tally) -> Floats:
    """Return the `calibration_slope` of score-tallied rows, vectorised over resamples."""
    counts, hits, shape = resample_rows(counted)
    odds, ranges = counted.once(log_odds), _ranges(counts, hits)
    slopes = ranges.limits(odds)
    inner = slopes == 0
    if inner.any():
        rows, (low, high) = _chosen(inner), ranges.overlap(inner)
        centre = (odds[low] + odds[high]) / 2  # no digit is lost where few overlap
        half = max(centre - odds[0], odds[-1] - centre)
        few = counted.once(condensed)
        near = _WeightedPoints((few.points - centre) / half, few.rows(shape)[rows])
        exact = _WeightedPoints((odds - centre) / half, counts[rows])
        n_hits = np.broadcast_to(counted.once(hit_sums), shape).ravel()[rows]
        goal = np.stack([n_hits, hits[rows] @ exact.points])
        start = np.zeros_like(goal)
        start[0] = np.log(n_hits) - np.log(counted.n_samples - n_hits)
        steepest = _STEEPEST * half / few.half if few.half > 0 else np.inf
        slopes[inner] = _slopes(exact, near, steepest, goal, start) / half
    return slopes.reshape(shape)


def without_ends(counted: Tally) -> Tally | None:
    """Return the rows whose log-odds are finite; None where those are all, or none, of them.

    A score of exactly 0 or 1 stands for log-odds of 36 only because something has to: a few such
    rows decide intercept and slope.

    >>> inside = without_ends(tally([0.0, 0.5, 0.5, 1.0], [1, 0, 1, 1]))
    >>> inside.n_samples, inside.scores.tolist()
    (2, [0.5])
    """
    inner = (counted.scores > 0) & (counted.scores < 1)
    if inner.all() or not inner.any():
        return None
    counts, hits = counted.counts[..., inner], counted.hits[..., inner]
    total = counts.sum()
    n_samples = max(round(total), 1)
    if counted.squares is not None:  # of weighted rows, whose mean weight is 1
        counts, hits = (one * (n_samples / total) for one in (counts, hits))
    return Tally(counted.scores[inner], counts, hits, n_samples)


# What both share ------------------------------------------------------------------------------


def _chosen(marks: Marks) -> slice | Marks:
    """Return an index that copies nothing where all are chosen."""
    return slice(None) if marks.all() else marks


def _sums(points: Floats, weights: Floats, intercept: Floats, slope: Floats) -> Floats:
    """Add up what a Newton step needs, with p = 1 / (1 + exp(-intercept - slope point)).

    Weighted sums of p, p x, v, v x, v x^2, where v = p (1 - p) and x are the points; shape (5,
    n_resamples).
    """
    sums = np.zeros((5, len(weights)))
    for rows, columns in _tiles(*weights.shape):
        x, weight = points[rows, columns], weights[rows, columns]
        with np.errstate(over="ignore"):  # exp of 710 is infinite and p then 0, as it should be
            p = 1 / (1 + np.exp(-intercept[rows, np.newaxis] - slope[rows, np.newaxis] * x))
        expected = weight * p
        spread = expected - expected * p
        spread_x = spread * x
        sums[0, rows] += expected.sum(axis=1)
        sums[1, rows] += np.einsum("ij,ij->i", expected, x)
        sums[2, rows] += spread.sum(axis=1)
        sums[3, rows] += spread_x.sum(axis=1)
        sums[4, rows] += np.einsum("ij,ij->i", spread_x, x)
    return sums


def _tiles(n_rows: int, n_columns: int) -> Iterator[tuple[slice, slice]]:
    """Cut a table into tiles that stay in a processor's cache."""
    width = min(n_columns, _CELLS)
    height = max(1, _CELLS // width)
    for top in range(0, n_rows, height):
        for left in range(0, n_columns, width):
            yield slice(top, top + height), slice(left, left + width)


# Intercept ------------------------------------------------------------------------------------


def _shift(
    points: Floats, weights: Floats, n_hits: Floats, start: Floats, bounds: tuple[Floats, Floats]
) -> Floats:
    """Find by Newton's steps, halving the bounds where one leaves them, what fits ``n_hits``."""
    points = np.broadcast_to(points, weights.shape)
    low, high = (bound.copy() for bound in bounds)
    shift, active = start.copy(), np.ones(start.size, dtype=np.bool_)
    for _ in range(_MOST_STEPS):
        rows = _chosen(active)
        at = shift[rows]
        expected, _, spread, _, _ = _sums(points[rows], weights[rows], at, np.ones(at.size))
        over = expected - n_hits[rows]
        low[rows] = np.where(over < 0, at, low[rows])
        high[rows] = np.where(over > 0, at, high[rows])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            moved = at - over / spread
        outside = ~((moved >= low[rows]) & (moved <= high[rows]))
        moved[outside] = ((low[rows] + high[rows]) / 2)[outside]
        long = outside | (np.abs(moved - at) > _LAST_STEP)
        shift[rows] = moved  # and at, which may be a view
        active[active] = long
        if not active.any():
            break
    return shift


# Slope ----------------------------------------------------------------------------------------


class _WeightedPoints(NamedTuple):
    """Points, shape (n_points,), with weights of each resample, shape (n_resamples, n_points)."""

    points: Floats
    weights: Floats


@dataclass(frozen=True)
class _Ranges:
    """Blocks between which each resample has hits, and those between which it has misses."""

    first_hit: Indices
    last_hit: Indices
    first_miss: Indices
    last_miss: Indices

    def limits(self, odds: Floats) -> Floats:
        """Return 0 where a finite slope is best; else infinity, minus infinity or NaN."""
        low = odds[np.minimum(self.first_hit, self.first_miss)]
        high = odds[np.maximum(self.last_hit, self.last_miss)]
        span = SMALLEST_SPAN * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
        rising = odds[self.last_miss] <= odds[self.first_hit]
        falling = odds[self.last_hit] <= odds[self.first_miss]
        endless = np.where(rising, np.inf, np.where(falling, -np.inf, 0.0))
        one_kind = (self.first_hit > self.last_hit) | (self.first_miss > self.last_miss)
        return np.where(one_kind | (high - low <= span), np.nan, endless)

    def overlap(self, chosen: Marks) -> tuple[int, int]:
        """Return the blocks in which hits and misses meet in any of the chosen resamples."""
        low = np.maximum(self.first_hit, self.first_miss)[chosen]
        high = np.minimum(self.last_hit, self.last_miss)[chosen]
        return int(low.min()), int(high.max())


def _ranges(counts: Floats, hits: Floats) -> _Ranges:
    """Find the ranges; one without a block begins above its end."""
    return _Ranges(*_ends(hits > 0), *_ends(counts > hits))


def _ends(marks: Marks) -> tuple[Indices, Indices]:
    """Return the first and the last marked place of each row; the last is -1 if none is."""
    n_places = marks.shape[1]
    last = n_places - 1 - marks[:, ::-1].argmax(axis=1)
    first = marks.argmax(axis=1)
    return first, np.where(marks[np.arange(len(marks)), first], last, -1)


def _slopes(
    exact: _WeightedPoints, near: _WeightedPoints, steepest: float, goal: Floats, start: Floats
) -> Floats:
    """Fit the slope over points in [-1, 1]; NaN where no fit is found in `_MOST_STEPS`.

    Points ``near`` stand for the exact ones in slopes up to ``steepest``.
    """
    parameters, done = _newton(*near, goal, _together(near, goal, start))
    rest = ~done | (np.abs(parameters[1]) > steepest)
    if rest.any():
        start[:, done] = parameters[:, done]
        parameters[:, rest], done[rest] = _newton(
            exact.points, exact.weights[_chosen(rest)], goal[:, rest], start[:, rest]
        )
    return np.where(done, parameters[1], np.nan)


def _together(near: _WeightedPoints, goal: Floats, start: Floats) -> Floats:
    """Begin where all resamples together lead, which is a step or two from each."""
    if len(near.weights) == 1:
        return start
    weights, middle = near.weights.mean(axis=0)[np.newaxis], start.mean(axis=1)[:, np.newaxis]
    parameters, done = _newton(near.points, weights, goal.mean(axis=1)[:, np.newaxis], middle)
    return np.broadcast_to(parameters, start.shape) if done[0] else start


def _newton(points: Floats, weights: Floats, goal: Floats, start: Floats) -> tuple[Floats, Marks]:
    """Minimise sum of weight ln(1 + exp(a + b x)) - goal (a, b); tell where that succeeded.

    A Newton step that moves no log-odds by more than 1 surely lowers this, as the curvature changes
    by less than a factor of e on the way; a longer one is halved until it does.
    """
    points = np.broadcast_to(points, weights.shape)
    parameters, active = start.copy(), np.ones(start.shape[1], dtype=np.bool_)
    done = np.zeros_like(active)
    for _ in range(_MOST_STEPS):
        rows = _chosen(active)
        x, weight, at, wanted = points[rows], weights[rows], parameters[:, rows], goal[:, rows]
        step = _newton_step(_sums(x, weight, *at), wanted)
        reach = np.abs(step).sum(axis=0)  # points are in [-1, 1]
        long = np.flatnonzero(reach > 1)
        if long.size:
            step[:, long] *= _shortening(
                x[long], weight[long], wanted[:, long], at[:, long], step[:, long]
            )
        possible = np.isfinite(reach)
        parameters[:, rows] = np.where(possible, at + step, at)
        near = reach <= _LAST_STEP * (1 + np.abs(at).sum(axis=0))
        done[rows] = near
        active[active] = possible & ~near
        if not active.any():
            break
    return parameters, done


def _newton_step(sums: Floats, goal: Floats) -> Floats:
    """Solve two equations for each resample; NaN where they determine nothing."""
    expected, spread = sums[:2], sums[2:]
    left = goal - expected
    determinant = spread[0] * spread[2] - spread[1] ** 2
    determinant = np.where(determinant > 0, determinant, np.nan)
    steps = (spread[2] * left[0] - spread[1] * left[1], spread[0] * left[1] - spread[1] * left[0])
    return np.stack(steps) / determinant


def _shortening(points: Floats, weights: Floats, goal: Floats, at: Floats, step: Floats) -> Floats:
    """Return the share of each step, 1, 1/2, 1/4 ..., that lowers what `_newton` minimises."""

    def loss(place: Floats) -> tuple[Floats, Floats]:
        odds = place[0][:, np.newaxis] + place[1][:, np.newaxis] * points
        fitted = np.einsum("ij,ij->i", weights, np.logaddexp(0.0, odds))
        return fitted - (goal * place).sum(axis=0), _ROUNDING * fitted

    (before, error), share = loss(at), np.ones(at.shape[1])
    for _ in range(_MOST_STEPS):
        after, more_error = loss(at + share * step)
        worse = after > before + error + more_error
        if not worse.any():
            break
        share[worse] /= 2
    return share


CALIBRATION_INTERCEPT = EventMeasure(
    key="calibration_intercept",
    name="Calibration intercept",
    group="plain",
    source="Cox 1958",
    explained="Log-odds shift that matches the observed frequency (calibration-in-the-large). 0"
    " is ideal; negative: scores too high.",
    unit="number",
    better="nearer",
    ideal=0.0,
    interval="expected",
    compute=lambda c, _: calibration_intercept_of(c),
)

CALIBRATION_SLOPE = EventMeasure(
    key="calibration_slope",
    name="Calibration slope",
    group="plain",
    source="Cox 1958",
    explained="Factor on the log-odds that best matches the outcomes. 1 is ideal; below 1: scores"
    " too extreme.",
    unit="number",
    better="nearer",
    ideal=1.0,
    interval="reflected",
    compute=lambda c, _: calibration_slope_of(c),
)
