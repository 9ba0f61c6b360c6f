"""Quadratic scaling: a parabola in the log-odds of the score."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import FittedScoreMap, ScoreMap
from calibcore.calibrators.descriptions import Description, Recipe, rounded
from calibcore.calibrators.method import Cost, Fits, Method
from calibcore.calibrators.score_maps.logistic import (
    NOT_CONVERGED,
    ODDS,
    SIGMOID,
    constant_score,
    is_constant,
    logit,
    minimise_nll,
    one_target,
    smoothed,
)
from calibcore.probabilities import log_odds, sigmoid
from calibcore.results import result_class
from calibcore.validation import Floats
from calibcore.weights import SampleWeight, event_rows


@result_class
class FittedQuadratic(FittedScoreMap):
    """A fitted parabola in the log-odds."""

    square: float
    """Multiplies the square of the log-odds."""
    slope: float
    """Multiplies the log-odds."""
    intercept: float
    """Added to them."""

    def predict(self, scores: ArrayLike) -> Floats:
        odds = log_odds(validation.scores(scores))
        return sigmoid((self.square * odds + self.slope) * odds + self.intercept)

    def recipe(self) -> Recipe:
        numbers = {"square": self.square, "slope": self.slope, "intercept": self.intercept}
        lines = ["x = low + high", "y = (SQUARE * x + SLOPE) * x + INTERCEPT"]
        return numbers, [*ODDS, *lines, *SIGMOID]

    def describe(self) -> Description:
        if self.square == 0:
            turn = "no turning point"
        else:
            at = float(sigmoid(np.array([-self.slope / (2 * self.square)]))[0])
            turn = f"the curve turns at a score of {100 * at:.3g}%"
        return Description(
            f"Log-odds = {rounded(self.square)} x\u00b2 + {rounded(self.slope)} x +"
            f" {rounded(self.intercept)}, x the log-odds of the score: {turn}."
        )


@dataclass(frozen=True)
class QuadraticScaling(ScoreMap):
    """Pass the log-odds of the score through the parabola that makes the hits likeliest.

    Platt scaling with a square beside it, so that low and high scores can be moved apart.

    Notes
    -----
    log(p / (1 - p)) = square x^2 + slope x + intercept, x = log(s / (1 - s)), at the least mean
    NLL with Platt's smoothed targets, (hits + 1) / (hits + 2) for a hit and 1 / (misses + 2) for a
    miss, so that the fit is always finite. Scores count as at least 2^-52 from 0 and from 1. Two
    distinct scores or fewer determine no parabola: of all that are as good, the one of least
    weights.

    A parabola turns somewhere: beyond, higher scores become lower ones. If that is between the
    calibration scores, ``warnings`` say so.

    References
    ----------
    Berta, Holzmüller, Jordan, Bach, *CalArena* 2026 ("quadratic"); Platt 1999 for the targets.

    Examples
    --------
    >>> fitted = QuadraticScaling().fit([0.1, 0.1, 0.5, 0.5, 0.9, 0.9], [0, 0, 0, 1, 1, 1])
    >>> fitted.predict([0.1, 0.5, 0.9]).round(4).tolist()
    [0.2, 0.5, 0.8]
    """

    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedQuadratic:
        rows = event_rows(scores, hits, sample_weight)
        ordered, ordered_hits, weights = rows
        odds, targets = log_odds(ordered), smoothed(ordered_hits, weights)
        start = logit(rows.mean(targets))
        if warning := one_target(ordered_hits, weights):
            return FittedQuadratic(0.0, 0.0, start, warnings=(warning,))
        if is_constant(odds):
            shift = start - float(odds.mean())
            return FittedQuadratic(0.0, 1.0, shift, warnings=(constant_score(ordered),))
        middle, spread = float(odds.mean()), float(odds.std())
        inner = (odds - middle) / spread
        size = float(np.square(inner).mean())
        columns = np.stack([inner * inner - size, inner, np.ones(odds.size)])
        optimum = minimise_nll(
            columns, targets, np.array([0.0, 0.0, start]), along=odds, weights=weights
        )
        square, slope = float(optimum.weights[0]) / spread**2, float(optimum.weights[1]) / spread
        intercept = float(optimum.weights[2] - optimum.weights[0] * size)
        return FittedQuadratic(
            square,
            slope - 2 * square * middle,
            intercept - slope * middle + square * middle**2,
            warnings=_warnings(optimum.weights, inner, converged=optimum.converged),
        )


def _warnings(weights: Floats, inner: Floats, *, converged: bool) -> tuple[str, ...]:
    warnings = [] if converged else [NOT_CONVERGED]
    ends = weights[1] + 2 * weights[0] * inner[[0, -1]]
    if min(ends) < 0:
        kind = "falls" if max(ends) <= 0 else "turns"
        warnings.append(
            f"The curve {kind} between the calibration scores, so the order of the scores changes."
        )
    return tuple(warnings)


QUADRATIC = Method(
    key="quadratic",
    name="Quadratic scaling",
    short="Quadratic",
    factory=QuadraticScaling,
    paper="Berta 2026 (CalArena)",
    explained="Passes the score of the event through a parabola in its log-odds: Platt scaling with"
    " a square beside it.",
    formula="log-odds = c x\u00b2 + a x + b, x the log-odds of the score",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("numbers", 3),
    cost=Cost((45, 15, 4.5)),
)
