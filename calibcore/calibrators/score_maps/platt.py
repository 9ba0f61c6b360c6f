"""Platt scaling: a logistic curve in the log-odds of the score."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import FittedScoreMap, ScoreMap
from calibcore.calibrators.descriptions import Description, Recipe, rounded
from calibcore.calibrators.method import Cost, Fits, Method, Switch
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
    one_target,
    only_one_class,
    smoothed,
)
from calibcore.probabilities import log_odds, sigmoid
from calibcore.results import result_class
from calibcore.validation import Floats
from calibcore.weights import SampleWeight, event_rows


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
