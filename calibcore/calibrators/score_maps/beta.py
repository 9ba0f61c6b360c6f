"""Beta calibration: a curve with a slope for each end of the scores."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import AT_LEAST_0, FittedScoreMap, Rules, ScoreMap
from calibcore.calibrators.descriptions import Description, Recipe, rounded
from calibcore.calibrators.method import Choice, Cost, Fits, Method
from calibcore.calibrators.score_maps.logistic import (
    NOT_CONVERGED,
    ODDS,
    PARTED,
    SIGMOID,
    constant_score,
    is_constant,
    is_separable,
    logit,
    minimise_nll,
    only_one_class,
    smoothed,
)
from calibcore.probabilities import SMALLEST_SCORE, SMALLEST_SPAN, log_odds, sigmoid
from calibcore.results import result_class
from calibcore.validation import Floats, Hits
from calibcore.weights import EventRows, SampleWeight, event_rows

Parameters = Literal["abm", "am", "ab"]

_ALL_HALF = (
    "Every calibration row has the score 1/2, which no curve may change, or one too near it to"
    " distinguish them; the scores stay as they are."
)
_FLAT = (
    "Both slopes are at their bound, 0: hits are not more frequent at higher scores, so every score"
    " becomes the same."
)
_ONE_FLAT = (
    "The slope {} is at its bound, 0, which is no fault: of the curves that never fall, none fits"
    " better."
)
CURVE = (
    "Log-odds = a ln s \u2212 b ln(1 \u2212 s) + c. a is the slope at low scores, b at high ones:"
    " below 1, scores there become less extreme. c raises all log-odds alike if above 0, lowers"
    " them if below. No change: a = b = 1, c = 0."
)


@result_class
class FittedBeta(FittedScoreMap):
    """A fitted beta calibration curve."""

    a: float
    b: float
    """Slopes at low and at high scores, at least 0; both are 1 where nothing changes."""
    c: float
    """Added to the log-odds."""

    HARMLESS: ClassVar[frozenset[str]] = frozenset(_ONE_FLAT.format(slope) for slope in "ab")
    RULES: ClassVar[Rules] = {"a": AT_LEAST_0, "b": AT_LEAST_0}

    def predict(self, scores: ArrayLike) -> Floats:
        low, high = _logarithms(validation.scores(scores))
        return sigmoid(self.a * low + self.b * high + self.c)

    def recipe(self) -> Recipe:
        numbers = {"a": self.a, "b": self.b, "c": self.c}
        return numbers, [*ODDS, "y = A * low + B * high + C", *SIGMOID]

    def describe(self) -> Description:
        a, b, c = (rounded(value) for value in (self.a, self.b, self.c))
        return Description(f"a = {a}, b = {b}, c = {c}. {CURVE}")


@dataclass(frozen=True)
class BetaCalibration(ScoreMap):
    """Fit the curve that is right where the scores of each class follow a beta distribution.

    Unlike Platt scaling it can leave scores as they are, and bend the two ends differently.

    Parameters
    ----------
    parameters : {"abm", "am", "ab"}, default "abm"
        All three; equal slopes; or the score 1/2 held where it is.

    Notes
    -----
    log(p / (1 - p)) = a log(s) - b log(1 - s) + c with a, b >= 0, at the least mean NLL. The paper
    writes c = b log(1 - m) - a log(m), where m is the score that becomes 1/2: ``am`` holds a = b,
    ``ab`` holds m = 1/2, so that c = (a - b) log 2. Scores count as at least 2^-52 from 0 and 1.

    The paper refits without a slope that comes out negative. Here the constrained problem itself,
    which is convex, is solved: the same wherever that refit is the best curve allowed.

    Where no finite curve is best because one score parts misses from hits above it, Platt's
    smoothed targets are used; where all rows are the same, the scores stay as they are;
    ``warnings`` say so. Scores whose log-odds agree to a millionth determine no slope: with ``abm``
    and ``am`` it stays 1, and so it does with ``ab`` if they are all within a millionth of 0.

    References
    ----------
    Kull, Silva Filho, Flach, *Beta calibration*, AISTATS 2017.

    Examples
    --------
    >>> fitted = BetaCalibration().fit([0.1, 0.1, 0.1, 0.9, 0.9, 0.9], [0, 0, 1, 0, 1, 1])
    >>> fitted.predict([0.1, 0.5, 0.9]).round(4).tolist()
    [0.3333, 0.5, 0.6667]
    """

    parameters: Parameters = "abm"

    def __post_init__(self) -> None:
        """Check the option."""
        validation.choice(self.parameters, "parameters", allowed=("abm", "am", "ab"))

    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedBeta:
        rows = event_rows(scores, hits, sample_weight)
        ordered, ordered_hits, weights = rows
        if self.parameters == "ab":
            return _fit_through_half(rows)
        odds = log_odds(ordered)
        if same := only_one_class(ordered_hits):
            return FittedBeta(1.0, 1.0, 0.0, warnings=(same,))
        if is_constant(odds):
            c = logit(rows.mean(ordered_hits.astype(np.float64))) - float(odds.mean())
            return FittedBeta(1.0, 1.0, c, warnings=(constant_score(ordered),))
        columns = (odds,) if self.parameters == "am" else _logarithms(ordered)
        parted = is_separable(odds, ordered_hits)
        targets = _targets(ordered_hits, weights, parted=parted)
        slopes, intercept, converged = _rising(columns, targets, weights)
        warnings = _warnings(slopes[0], slopes[-1], converged=converged, parted=parted)
        return FittedBeta(slopes[0], slopes[-1], intercept, warnings=warnings)


def _logarithms(scores: Floats) -> tuple[Floats, Floats]:
    """Return log(s) and -log(1 - s), with scores held away from 0 and 1."""
    inside = np.clip(scores, SMALLEST_SCORE, 1 - SMALLEST_SCORE)
    return np.log(inside), -np.log1p(-inside)


def _targets(hits: Hits, weights: Floats | None, *, parted: bool) -> Floats:
    return smoothed(hits, weights) if parted else hits.astype(np.float64)


def _rising(
    columns: tuple[Floats, ...], targets: Floats, weights: Floats | None
) -> tuple[list[float], float, bool]:
    """Fit slopes of at least 0 and an intercept; the last tells whether the search arrived."""
    middles = [float(column.mean()) for column in columns]
    spreads = [float(column.std()) or 1.0 for column in columns]
    scaled = [(x - m) / w for x, m, w in zip(columns, middles, spreads, strict=True)]
    mean = float(np.average(targets, weights=weights))
    start = np.array([*np.zeros(len(columns)), logit(mean)])
    optimum = minimise_nll(
        np.stack([*scaled, np.ones(targets.size)]),
        targets,
        start,
        along=np.sum(columns, axis=0),  # the log-odds, or twice that
        bounded=tuple(range(len(columns))),
        weights=weights,
    )
    slopes = [float(x) / w for x, w in zip(optimum.weights[:-1], spreads, strict=True)]
    moved = math.fsum(x * m for x, m in zip(slopes, middles, strict=True))
    return slopes, float(optimum.weights[-1]) - moved, optimum.converged


def _fit_through_half(rows: EventRows) -> FittedBeta:
    """Fit both slopes with the score 1/2 held where it is."""
    ordered, hits, weights = rows
    low, high = _logarithms(ordered)
    columns = np.stack([low + math.log(2), high - math.log(2)])
    above, below = ordered > 0.5, ordered < 0.5
    if np.abs(log_odds(ordered[[0, -1]])).max() <= SMALLEST_SPAN:
        return FittedBeta(1.0, 1.0, 0.0, warnings=(_ALL_HALF,))
    parted = not (hits[below].any() or (1 - hits[above]).any())
    if parted and (same := only_one_class(hits)):
        return FittedBeta(1.0, 1.0, 0.0, warnings=(same,))
    sizes = np.sqrt((columns * columns).mean(axis=1))
    columns /= sizes[:, np.newaxis]
    targets = _targets(hits, weights, parted=parted)
    optimum = minimise_nll(
        columns, targets, np.zeros(2), along=low + high, bounded=(0, 1), weights=weights
    )
    a, b = (float(x) for x in optimum.weights / sizes)
    c = (a - b) * math.log(2)
    warnings = _warnings(a, b, converged=optimum.converged, parted=parted)
    return FittedBeta(a, b, c, warnings=warnings)


def _warnings(a: float, b: float, *, converged: bool, parted: bool) -> tuple[str, ...]:
    warnings = [PARTED] if parted else []
    if not converged:
        warnings.append(NOT_CONVERGED)
    if a == b == 0:
        warnings.append(_FLAT)
    elif a == 0 or b == 0:
        warnings.append(_ONE_FLAT.format("a" if a == 0 else "b"))
    return tuple(warnings)


BETA = Method(
    key="beta",
    name="Beta calibration",
    short="Beta",
    factory=BetaCalibration,
    options=(Choice("parameters", "abm", ("abm", "am", "ab")),),
    paper="Kull 2017",
    explained="Maps the score of the event by a curve with up to three parameters, which"
    " includes no change.",
    formula="log-odds = a ln s - b ln(1 - s) + c",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("numbers", 3),
    cost=Cost((30, 10, 3)),
)
