"""Logistic regression on a few columns and many rows, by Newton's method."""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import FittedScoreMap, ScoreMap
from calibcore.calibrators.descriptions import Description, Recipe, rounded
from calibcore.calibrators.method import Cost, Fits, Method, Switch
from calibcore.probabilities import SMALLEST_SCORE, log_odds, sigmoid
from calibcore.results import result_class
from calibcore.strips import row_strips
from calibcore.validation import Floats, Hits
from calibcore.weights import SampleWeight, event_rows

_GROUPS = 256
"""Groups of like rows on which the search gets its starting point."""


class PlattOptimum(NamedTuple):
    """Where a search ended, and whether the NLL is least there."""

    weights: Floats
    converged: bool


class _Rows(NamedTuple):
    """What is weighted, what is wanted, and how many rows each stands for."""

    columns: Floats
    targets: Floats
    counts: Floats


class _Point(NamedTuple):
    """The mean NLL at some weights, with its first and second derivatives."""

    weights: Floats
    nll: float
    gradient: Floats
    hessian: Floats


def minimise_nll(
    columns: Floats,
    targets: Floats,
    start: Floats,
    *,
    along: Floats,
    bounded: tuple[int, ...] = (),
    weights: Floats | None = None,
) -> PlattOptimum:
    """Find the logistic regression with the least mean NLL.

    ``columns``: what is weighted; of about unit size. A column of ones is an intercept; shape
    (n_columns, n_samples). ``targets``: in [0, 1]; shape (n_samples,). ``start``: first weights
    tried; best those that ignore all but the intercept; shape (n_columns,). ``along``: ascending;
    rows of which it is about equal should have columns that are; shape (n_samples,). ``bounded``:
    columns whose weight must not be negative. ``weights``: of the rows; shape (n_samples,).

    Newton's method with a line search. A step goes to the minimum of the quadratic model under the
    bounds, found by trying every set of weights held at 0; as the NLL is convex, the point where
    this stops is the constrained optimum. It starts from the optimum for the means of groups of
    rows, which takes little time and is near.

    >>> column = np.array([[0.0, 0.0, 1.0, 1.0]])
    >>> targets = np.array([0.0, 1.0, 0.0, 0.0])
    >>> minimum = minimise_nll(column, targets, np.zeros(1), along=column[0], bounded=(0,))
    >>> minimum.weights.tolist(), minimum.converged
    ([0.0], True)
    """
    rows = _Rows(columns, targets, np.ones(targets.size) if weights is None else weights)
    if targets.size > 4 * _GROUPS:
        near = _search(_grouped(rows, along, weights), start, bounded, enough=1e-6)
        start = near.weights if near.converged else start
    return _search(rows, start, bounded)


def _grouped(rows: _Rows, along: Floats, weights: Floats | None) -> _Rows:
    edges = np.linspace(along[0], along[-1], _GROUPS + 1)[1:-1]
    ends = np.append(np.searchsorted(along, edges), along.size)
    starts = np.concatenate([[0], ends[:-1][np.diff(ends) > 0]])
    starts = starts[np.diff(starts, prepend=-1) > 0]
    columns, targets = rows.columns, rows.targets
    if weights is None:
        counts = np.diff(starts, append=along.size).astype(np.float64)
    else:
        counts = np.add.reduceat(weights, starts)
        columns, targets = columns * weights, targets * weights
    return _Rows(
        np.add.reduceat(columns, starts, axis=1) / counts,
        np.add.reduceat(targets, starts) / counts,
        counts,
    )


def _search(
    rows: _Rows, start: Floats, bounded: tuple[int, ...], *, enough: float = 1e-13
) -> PlattOptimum:
    point = _evaluate(rows, start)
    for _ in range(100):
        step = _newton_step(point, bounded)
        expected = -float(point.gradient @ step)  # twice what the step should gain
        if expected <= enough * point.nll:
            return PlattOptimum(point.weights + step, converged=True)
        share = 1.0
        following = _evaluate(rows, point.weights + step)
        while following.nll > point.nll * (1 + 4e-15) - 1e-4 * share * expected:
            share /= 2
            if share < 1e-12:
                return PlattOptimum(point.weights, converged=False)
            following = _evaluate(rows, point.weights + share * step)
        point = following
    return PlattOptimum(point.weights, converged=False)


def _evaluate(rows: _Rows, weights: Floats) -> _Point:
    n_columns, n_rows = rows.columns.shape
    nll, gradient, hessian = 0.0, np.zeros(n_columns), np.zeros((n_columns, n_columns))
    for part in row_strips(n_rows, 8):  # so that a few temporary columns fit in the cache
        block, wanted, counts = rows.columns[:, part], rows.targets[part], rows.counts[part]
        odds = weights @ block
        tail = np.exp(-np.abs(odds))
        nll += float(counts @ (np.log1p(tail) + np.maximum(odds, 0) - wanted * odds))
        share = 1 / (1 + tail)
        miss = tail * share  # the lesser of the chances of a hit and of a miss
        gradient += block @ (counts * (np.where(odds >= 0, share, miss) - wanted))
        curved = block * (counts * miss * share)
        for number in range(n_columns):  # a product of two short, long matrices is far slower
            hessian[number] += curved @ block[number]
    total = float(rows.counts.sum())
    return _Point(weights, nll / total, gradient / total, hessian / total)


def _newton_step(point: _Point, bounded: tuple[int, ...]) -> Floats:
    """Go to the minimum of the quadratic model of the NLL, with no bounded weight below 0."""
    best = _solved(point.hessian, -point.gradient)
    if not any(point.weights[k] + best[k] < 0 for k in bounded):
        return best
    least = math.inf
    for size in range(1, len(bounded) + 1):
        for at_zero in combinations(bounded, size):
            step = _step_with(point, at_zero)
            value = float(point.gradient @ step + step @ point.hessian @ step / 2)
            if value < least and not any(point.weights[k] + step[k] < 0 for k in bounded):
                best, least = step, value
    return best


def _step_with(point: _Point, at_zero: tuple[int, ...]) -> Floats:
    """Minimise the quadratic model with the held weights brought to 0."""
    step = np.zeros_like(point.weights)
    step[list(at_zero)] = -point.weights[list(at_zero)]
    free = [k for k in range(step.size) if k not in at_zero]
    slope = point.gradient + point.hessian @ step
    step[free] = _solved(point.hessian[free][:, free], -slope[free])
    return step


def _solved(matrix: Floats, right: Floats) -> Floats:
    """Solve a few equations whose matrix is positive semi-definite."""
    rows = [[*row, value] for row, value in zip(matrix.tolist(), right.tolist(), strict=True)]
    for k in range(len(rows)):  # elimination by hand: NumPy takes ten times longer for so few
        pivot = rows[k]
        if pivot[k] <= 1e-9 * matrix[k, k]:
            # Least squares: where scores are few, some directions change nothing.
            return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-15)[0])
        for i in range(len(rows)):
            if i != k:
                factor = rows[i][k] / pivot[k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], pivot, strict=True)]
    return np.array([row[-1] / row[k] for k, row in enumerate(rows)])


# Platt scaling: a logistic curve in the log-odds of the score ---------------------------------


SMALLEST_SPAN = 1e-6
"""Log-odds that differ by less than this share of the largest, or of 1, count as equal."""

NOT_CONVERGED = "The fit did not reach its optimum; do not rely on it."

PARTED = (
    "One score parts the calibration rows: hits lie on one side of it and misses on the other (rows"
    " at that score may be either), so the steeper the curve the better and no finite one is best."
    " Platt's smoothed targets, which give a finite one, were used."
)


ODDS = [
    f"x = np.clip(x, {SMALLEST_SCORE!r}, 1 - {SMALLEST_SCORE!r})",
    "low, high = np.log(x), -np.log1p(-x)",
]
"""From scores to ``low`` and ``high``, the two parts of their log-odds."""

SIGMOID = ["tail = np.exp(-np.abs(y))", "y = np.where(y >= 0, 1.0, tail) / (1 + tail)"]
"""From log-odds to scores."""


@result_class
class FittedPlatt(FittedScoreMap):
    """A fitted logistic curve."""

    slope: float
    """Multiplies the log-odds; below 1 where the model was overconfident."""
    intercept: float
    """Added to them; above 0 where the event happens more often than the model says."""

    def predict(self, scores: ArrayLike) -> Floats:
        odds = self.slope * log_odds(validation.scores(scores))
        return sigmoid(odds + self.intercept)

    def recipe(self) -> Recipe:
        numbers = {"slope": self.slope, "intercept": self.intercept}
        return numbers, [*ODDS, "y = SLOPE * (low + high) + INTERCEPT", *SIGMOID]

    def describe(self) -> Description:
        slope = (
            "below 1, scores become less extreme" if self.slope < 1 else "scores stay as extreme"
        )
        slope = "above 1, scores become more extreme" if self.slope > 1 else slope
        raised = "raises" if self.intercept > 0 else "lowers"
        shift = f"it {raised} all log-odds alike" if self.intercept else "it changes no score"
        return Description(
            f"Slope a = {rounded(self.slope)} of the log-odds: {slope}. Intercept b ="
            f" {rounded(self.intercept)}: {shift}."
        )


@dataclass(frozen=True)
class PlattScaling(ScoreMap):
    """Pass the log-odds of the score through the logistic curve that makes the hits likeliest.

    Parameters
    ----------
    smoothed_targets : bool, default False
        Fit to (n_hits + 1) / (n_hits + 2) for a hit and 1 / (n_misses + 2) for a miss instead of 1
        and 0, as Platt proposes against overfitting; the fit is then always finite.

    Notes
    -----
    log(p / (1 - p)) = slope log(s / (1 - s)) + intercept, at the least mean NLL. Scores count as
    at least 2^-52 from 0 and from 1, where log-odds are infinite.

    Where no finite curve is best because one score parts hits from misses, the smoothed targets are
    used; where all rows are the same, the scores stay as they are; ``warnings`` say so. Log-odds
    that all agree to a millionth determine no slope: it stays 1. A negative slope reverses the
    order of the scores; it is kept, with a warning.

    References
    ----------
    Platt, *Probabilistic outputs for support vector machines*, 1999; Guo et al., ICML 2017,
    section 4.1.

    Examples
    --------
    >>> fitted = PlattScaling().fit([0.1, 0.1, 0.1, 0.9, 0.9, 0.9], [0, 0, 1, 0, 1, 1])
    >>> fitted.predict([0.1, 0.5, 0.9]).round(4).tolist()
    [0.3333, 0.5, 0.6667]
    """

    smoothed_targets: bool = False

    def __post_init__(self) -> None:
        """Check the option."""
        validation.choice(
            repr(self.smoothed_targets), "smoothed_targets", allowed=("False", "True")
        )

    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedPlatt:
        rows = event_rows(scores, hits, sample_weight)
        ordered, ordered_hits, weights = rows
        odds = log_odds(ordered)
        same = only_one_class(ordered_hits)
        if same and self.smoothed_targets:
            chance = logit(float(smoothed(ordered_hits, weights)[0]))
            warning = one_target(ordered_hits, weights)
            return FittedPlatt(0.0, chance, warnings=(warning,))
        if same:
            return FittedPlatt(1.0, 0.0, warnings=(same,))
        parted = not is_constant(odds) and (
            is_separable(odds, ordered_hits) or is_separable(odds, 1 - ordered_hits)
        )
        raw = not (self.smoothed_targets or parted)
        targets = ordered_hits.astype(np.float64) if raw else smoothed(ordered_hits, weights)
        if is_constant(odds):
            intercept = logit(rows.mean(targets)) - float(odds.mean())
            return FittedPlatt(1.0, intercept, warnings=(constant_score(ordered),))
        warnings = (PARTED,) if parted and not self.smoothed_targets else ()
        return _fit(odds, targets, weights, warnings)


def _fit(
    odds: Floats, targets: Floats, weights: Floats | None, earlier: tuple[str, ...]
) -> FittedPlatt:
    middle, spread = float(odds.mean()), float(odds.std())
    columns = np.stack([(odds - middle) / spread, np.ones(odds.size)])
    start = np.array([0.0, logit(float(np.average(targets, weights=weights)))])
    optimum = minimise_nll(columns, targets, start, along=odds, weights=weights)
    slope = float(optimum.weights[0]) / spread
    warnings = [*earlier] if optimum.converged else [*earlier, NOT_CONVERGED]
    if slope < 0:
        warnings.append(
            "The slope is negative: hits are rarer at higher scores, so the order of the scores is"
            " reversed."
        )
    intercept = float(optimum.weights[1]) - slope * middle
    return FittedPlatt(slope, intercept, warnings=tuple(warnings))


# Shared with beta calibration and quadratic scaling -------------------------------------------


def smoothed(hits: Hits, weights: Floats | None = None) -> Floats:
    """Return Platt's targets: the mean of the posterior under one more row of each kind."""
    n_hits: float = int(np.count_nonzero(hits))
    n_rows: float = hits.size
    if weights is not None:
        n_hits, n_rows = float(weights @ hits), float(weights.sum())
    of_hit, of_miss = (n_hits + 1) / (n_hits + 2), 1 / (n_rows - n_hits + 2)
    return np.where(hits == 1, of_hit, of_miss)


def one_target(hits: Hits, weights: Floats | None = None) -> str:
    """Return a warning that all rows have one smoothed target, if so."""
    if hits.min() != hits.max():
        return ""
    row = "a hit" if hits[0] else "a miss"
    chance = float(smoothed(hits, weights)[0])
    return f"Every calibration row is {row}, so every score becomes {chance:.4g}."


def logit(chance: float) -> float:
    """Return the log-odds of one probability strictly inside (0, 1)."""
    return math.log(chance) - math.log1p(-chance)


def is_constant(odds: Floats) -> bool:
    """Return whether sorted log-odds differ too little to carry a slope."""
    first, last = float(odds[0]), float(odds[-1])
    return abs(last - first) <= SMALLEST_SPAN * max(1.0, abs(first), abs(last))


def is_separable(column: Floats, hits: Hits) -> bool:
    """Return whether no miss has a higher value than any hit; values sorted, both kinds present."""
    first_hit = int(np.argmax(hits))
    last_miss = hits.size - 1 - int(np.argmin(hits[::-1]))
    return bool(column[last_miss] <= column[first_hit])


def only_one_class(hits: Hits) -> str:
    """Return a warning that hits are all the same, if so."""
    if hits.min() != hits.max():
        return ""
    row = "a hit" if hits[0] else "a miss"
    return (
        f"Every calibration row is {row}, so no finite curve is best; the scores stay as they are."
    )


def constant_score(ordered: Floats) -> str:
    """Return a warning that the calibration set has one score only."""
    return (
        f"Every calibration row has the score {ordered[0]:.4g} or one too near it to"
        " distinguish them, so only the height of the curve is fitted."
    )


PLATT = Method(
    key="platt",
    name="Platt scaling",
    short="Platt",
    factory=PlattScaling,
    options=(Switch("smoothed_targets", default=False),),
    paper="Platt 1999; Guo 2017, section 4.1",
    explained="Maps the score of the event by a logistic curve with two parameters.",
    formula="1 / (1 + exp(-(a log-odds + b)))",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("numbers", 2),
    cost=Cost((30, 10, 3)),
)
