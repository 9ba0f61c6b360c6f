"""Platt scaling: a logistic curve in the log-odds of the score."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import FittedScoreMap, ScoreMap
from calibcore.calibrators.score_maps.logistic import minimise_nll
from calibcore.ordering import sort_by_score
from calibcore.results import result_class
from calibcore.validation import Floats, Hits

SMALLEST_SCORE = 2.0**-52
"""Nearest that a score comes to 0 or 1 before its logarithm is taken."""

SMALLEST_SPAN = 1e-6
"""Log-odds that differ by less than this share of the largest, or of 1, count as equal."""

NOT_CONVERGED = "The fit did not reach its optimum; do not rely on it."

PARTED = (
    "One score parts the calibration rows: hits lie on one side of it and misses on the other (rows"
    " at that score may be either), so the steeper the curve the better and no finite one is best."
    " Platt's smoothed targets, which give a finite one, were used."
)


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

    def fit(self, scores: ArrayLike, hits: ArrayLike) -> FittedPlatt:
        ordered, ordered_hits = sort_by_score(*validation.scores_and_hits(scores, hits))
        odds = log_odds(ordered)
        same = only_one_class(ordered_hits)
        if same and self.smoothed_targets:
            return _flat(smoothed(ordered_hits))
        if same:
            return FittedPlatt(1.0, 0.0, warnings=(same,))
        parted = not is_constant(odds) and (
            is_separable(odds, ordered_hits) or is_separable(odds, 1 - ordered_hits)
        )
        raw = not (self.smoothed_targets or parted)
        targets = ordered_hits.astype(np.float64) if raw else smoothed(ordered_hits)
        if is_constant(odds):
            intercept = logit(float(targets.mean())) - float(odds.mean())
            return FittedPlatt(1.0, intercept, warnings=(constant_score(ordered),))
        said = (PARTED,) if parted and not self.smoothed_targets else ()
        return _fit(odds, targets, said)


def _fit(odds: Floats, targets: Floats, said: tuple[str, ...]) -> FittedPlatt:
    middle, spread = float(odds.mean()), float(odds.std())
    columns = np.stack([(odds - middle) / spread, np.ones(odds.size)])
    start = np.array([0.0, logit(float(targets.mean()))])
    optimum = minimise_nll(columns, targets, start, along=odds)
    slope = float(optimum.weights[0]) / spread
    warnings = [*said] if optimum.converged else [*said, NOT_CONVERGED]
    if slope < 0:
        warnings.append(
            "The slope is negative: hits are rarer at higher scores, so the order of the scores is"
            " reversed."
        )
    intercept = float(optimum.weights[1]) - slope * middle
    return FittedPlatt(slope, intercept, warnings=tuple(warnings))


def _flat(targets: Floats) -> FittedPlatt:
    """Return every score the one smoothed target that all rows have."""
    chance = float(targets[0])
    row = "a hit" if chance > 0.5 else "a miss"
    found = f"Every calibration row is {row}, so every score becomes {chance:.4g}."
    return FittedPlatt(0.0, logit(chance), warnings=(found,))


# Shared with beta calibration -----------------------------------------------------------------


def smoothed(hits: Hits) -> Floats:
    """Return Platt's targets: the mean of the posterior under one more row of each kind."""
    n_hits = int(np.count_nonzero(hits))
    of_hit, of_miss = (n_hits + 1) / (n_hits + 2), 1 / (hits.size - n_hits + 2)
    return np.where(hits == 1, of_hit, of_miss)


def log_odds(scores: Floats) -> Floats:
    """Return log(s / (1 - s)), with scores held `SMALLEST_SCORE` from 0 and 1."""
    inside = np.clip(scores, SMALLEST_SCORE, 1 - SMALLEST_SCORE)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def logit(chance: float) -> float:
    """Return the log-odds of one probability strictly inside (0, 1)."""
    return math.log(chance) - math.log1p(-chance)


def sigmoid(odds: Floats) -> Floats:
    """Turn log-odds into probabilities, without overflow."""
    tail = np.exp(-np.abs(odds))
    return np.asarray(np.where(odds >= 0, 1.0, tail) / (1 + tail))


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
    found = "a hit" if hits[0] else "a miss"
    return (
        f"Every calibration row is {found}, so no finite curve is best; the scores stay as they"
        " are."
    )


def constant_score(ordered: Floats) -> str:
    """Return a warning that the calibration set has one score only."""
    return (
        f"Every calibration row has the score {ordered[0]:.4g} or one too near it to"
        " distinguish them, so only the height of the curve is fitted."
    )
