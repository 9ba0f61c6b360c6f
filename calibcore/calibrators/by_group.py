"""One map for all rows, and for each group of them a shift and a slope of its own."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import (
    AT_LEAST_0,
    RISING,
    Breaks,
    FittedGroupMap,
    FittedScoreMap,
    GroupMap,
    Lengths,
    Rules,
    ScoreMap,
    weighed_rows,
)
from calibcore.calibrators.descriptions import Recipe
from calibcore.calibrators.lifts import check_score_map
from calibcore.calibrators.method import Choice, Cost, Fits, Method
from calibcore.calibrators.score_maps.bbq import BBQ
from calibcore.calibrators.score_maps.beta import BetaCalibration
from calibcore.calibrators.score_maps.histogram import HistogramBinning
from calibcore.calibrators.score_maps.logistic import ODDS, SIGMOID
from calibcore.calibrators.score_maps.platt import PlattScaling
from calibcore.calibrators.score_maps.spline import SplineCalibration
from calibcore.errors import CalibrationInputError
from calibcore.probabilities import SMALLEST_SPAN, log_odds, sigmoid
from calibcore.results import result_class
from calibcore.validation import Floats, Labels
from calibcore.weights import SampleWeight, weights_named

STRONGEST, WEAKEST = 1e6, 0.1
"""Ends of the path of penalties: groups differ by 0.001 or by 3 in log-odds, or so."""

_PATH = np.array([STRONGEST, *np.logspace(4, -1, 11)])
"""Penalties that are tried, the strongest first."""

_FOLDS = 5

_MOST_ROWS = 50_000
"""Of more rows than this, as many are drawn to choose the penalty, which does not depend on it."""

_ROUGH, _EXACT = 1e-6, 1e-14
"""What a further step of Newton's method could gain, in a group's NLL, where the search ends."""


@result_class
class FittedByGroup(FittedGroupMap):
    """A fitted map of all rows, and what each group adds to it in log-odds."""

    score_map: FittedScoreMap
    """Of all rows; the map of rows whose group is not known, or was not there in the fit."""
    groups: Labels
    """The groups of the fit, in rising order; shape (n_groups,)."""
    shift: Floats
    """A row of group g goes from the score q of ``score_map`` to that of log-odds shift_g + slope_g
    logit(q); 0 where the group is like all; shape (n_groups,).
    """
    slope: Floats
    """As in ``shift``; 1 where the group is like all; shape (n_groups,)."""
    penalty: float
    """Weight of the squares by which groups were pulled towards each other."""

    RULES: ClassVar[Rules] = {"groups": RISING, "penalty": AT_LEAST_0}
    ALIKE: ClassVar[Lengths] = ({"groups": 0, "shift": 0, "slope": 0},)

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Which groups differ from the map of all rows: shape (n_groups,)."""
        return np.asarray((self.shift != 0) | (self.slope != 1))

    @property
    def groups_used(self) -> Mapping[int, Labels]:
        return {0: self.groups} if self.differs.any() else {}

    def predict(self, scores: ArrayLike, groups: ArrayLike | None = None) -> Floats:
        of_all = self.score_map.predict(scores)
        if groups is None:
            return of_all
        own = validation.groups(groups, n_rows=of_all.size)
        place = np.minimum(np.searchsorted(self.groups, own), self.groups.size - 1)
        moved = np.flatnonzero((self.groups[place] == own) & self.differs[place])
        place, result = place[moved], of_all.copy()
        result[moved] = sigmoid(self.shift[place] + self.slope[place] * log_odds(of_all[moved]))
        return result

    def recipe(self) -> Recipe | None:
        """Return the map of all rows, then what the group at each row's place adds to it."""
        inner = self.score_map.recipe()
        if inner is None or not self.differs.any():
            return inner
        numbers, lines = inner
        # The last is for groups that were not self, whose place is -1.
        added = {"shift": np.append(self.shift, 0.0), "slopes": np.append(self.slope, 1.0)}
        return numbers | added, [
            *lines,
            "(place,) = places",
            "of_all = x = y",
            *ODDS,
            "y = SHIFT[place] + SLOPES[place] * (low + high)",
            *SIGMOID,
            "y = np.where((SHIFT[place] == 0) & (SLOPES[place] == 1), of_all, y)",
        ]

    def breaks(self) -> Breaks:
        return self.score_map.breaks()


@dataclass(frozen=True)
class ByGroup(GroupMap):
    """Calibrate all rows by one map, and correct it for each group as far as its rows support.

    A model can be calibrated overall and wrong in every hospital or ward. A map for each group
    alone would follow chance where a group is small; so groups share one map, and their own shift
    and slope are pulled towards none (partial pooling). The group must be known for new rows. Of
    several columns at once, `Multicalibration` takes the groups.

    Parameters
    ----------
    score_map : ScoreMap
        Fitted on all rows.
    penalty : float, optional
        At least 0: a group's NLL has this times half the squares of its shift and slope added, as
        if these had a normal distribution with a variance of 1 / penalty. Chosen by 5-fold
        cross-validation without it, from 0.1 to 1e6.

    Notes
    -----
    log-odds = logit(q) + a_g + b_g (logit(q) - m) / s, at the least sum of NLL and
    penalty (a_g^2 + b_g^2) / 2 over all groups, where q is the score by ``score_map`` and m and s
    are mean and standard deviation of its log-odds with weights q (1 - q). So both numbers of a
    group are differences in log-odds, at a usual score and a deviation above it, and the penalty
    means the same for rare events and frequent ones. Without a penalty these are the logistic
    regressions of each group alone. Scores count as at least 2^-52 from 0 and from 1.

    A group that no finite curve fits best, as one of hits alone, has a penalty of 0.1 at least.
    Log-odds that agree to a millionth within a group determine no slope. Without groups, and with
    groups that the fit has not seen, the map of all rows is used.

    The penalty with the least NLL of rows left out is taken; ``score_map`` is fitted once, as all
    penalties share it. Folds are dealt at random, from seed 0, to the rows in the order of their
    scores, so the order in which they came does not change the fit; nor do the groups' numbers,
    but where rows of two groups are tied.

    References
    ----------
    Van Calster et al., *BMC Medicine* 2019 (recalibration of shift and slope by centre); Gelman
    and Hill, *Data Analysis Using Regression and Multilevel/Hierarchical Models*, 2007, chapter 12
    (partial pooling); Hebert-Johnson et al., *Multicalibration*, ICML 2018.

    Examples
    --------
    >>> scores, hits = [0.5] * 200, [1, 0, 0, 0] * 25 + [1, 1, 1, 0] * 25
    >>> from calibcore.calibrators.score_maps.platt import PlattScaling
    >>> fitted = ByGroup(PlattScaling()).fit(scores, hits, [1] * 100 + [2] * 100)
    >>> fitted.predict([0.5, 0.5, 0.5], [1, 2, 3]).round(2).tolist()
    [0.26, 0.74, 0.5]
    """

    score_map: ScoreMap
    penalty: float | None = None

    def __post_init__(self) -> None:
        """Check map and penalty."""
        check_score_map(self.score_map)
        if self.penalty is not None and not 0 <= self.penalty < math.inf:
            raise CalibrationInputError("penalty", str(self.penalty), "a number of at least 0")

    def fit(
        self,
        scores: ArrayLike,
        hits: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        sample_weight: SampleWeight = None,
    ) -> FittedByGroup:
        if groups is not None and sample_weight is not None:
            groups = weighed_rows(np.asarray(scores), groups, sample_weight)[1]
        scores, hits, weights = weighed_rows(scores, hits, sample_weight)
        checked, outcomes = validation.scores_and_hits(scores, hits)
        of_all = self.score_map.fit(checked, outcomes, **weights_named(weights))
        known = np.zeros(checked.size, np.int64)
        if groups is not None:
            known = validation.groups(groups, n_rows=checked.size)
        names, place = np.unique(known, return_inverse=True)
        odds = log_odds(of_all.predict(checked))
        each = np.ones(checked.size) if weights is None else weights.values
        middle, spread = _usual(odds, each)
        rows = _Rows(odds, (odds - middle) / spread, outcomes.astype(np.float64), place, each)
        penalty, added = self.penalty, np.zeros((2, names.size))
        if penalty is None:
            ordered = rows.part(np.lexsort((each, place, outcomes, checked)))
            penalty = STRONGEST if groups is None else _chosen(ordered, names.size)
        if groups is not None:
            added = _fit(rows, names.size, penalty, added, _EXACT)
        slope = 1 + added[1] / spread
        warnings = of_all.warnings + _reversed(int(np.count_nonzero(slope < 0)), names.size)
        shift = added[0] - added[1] * middle / spread
        return FittedByGroup(of_all, names, shift, slope, float(penalty), warnings=warnings)


def _reversed(n_reversed: int, n_groups: int) -> tuple[str, ...]:
    if n_reversed == 0:
        return ()
    warning = (
        f"In {n_reversed:,} of {n_groups:,} groups the slope is negative: hits are rarer at higher"
        " scores, so the order of the scores is reversed."
    )
    return (warning,)


def _usual(odds: Floats, each: Floats) -> tuple[float, float]:
    """Return mean and standard deviation of log-odds, by what rows tell; 1 where all agree."""
    chance = sigmoid(odds)
    weight = each * chance * (1 - chance)
    middle = float(np.average(odds, weights=weight))
    spread = math.sqrt(float(np.average((odds - middle) ** 2, weights=weight)))
    return middle, spread if spread > SMALLEST_SPAN * max(1.0, abs(middle)) else 1.0


# Two parameters a group ---------------------------------------------------------------------------


class _Rows(NamedTuple):
    """Log-odds by the map of all, the same in units of their spread, hits, group, and weight."""

    odds: Floats
    unit: Floats
    hits: Floats
    place: NDArray[np.intp]
    weight: Floats

    def part(self, chosen: NDArray[np.bool_ | np.intp]) -> "_Rows":
        odds, unit, hits, place, weight = self
        return _Rows(odds[chosen], unit[chosen], hits[chosen], place[chosen], weight[chosen])


class _Point(NamedTuple):
    """Penalised NLL of each group, its first derivatives, and its second: of a, of both, of b."""

    loss: Floats
    gradient: Floats
    curved: Floats


def _chosen(rows: _Rows, n_groups: int) -> float:
    """Choose the penalty by the NLL of rows left out; of equal ones the strongest."""
    drawn = np.random.default_rng(0).permutation(rows.hits.size)
    fold = np.empty(drawn.size, dtype=np.intp)
    fold[drawn] = np.arange(drawn.size) % _FOLDS
    some = drawn[:_MOST_ROWS]
    rows, fold = rows.part(some), fold[some]
    total = np.zeros(_PATH.size)
    for number in range(_FOLDS):
        seen, own = rows.part(fold != number), rows.part(fold == number)
        if not (seen.hits.size and own.hits.size):
            continue
        added = np.zeros((2, n_groups))
        for step, penalty in enumerate(_PATH):
            added = _fit(seen, n_groups, float(penalty), added, _ROUGH)
            total[step] += _nll(own, added).sum()
    return float(_PATH[np.argmin(total)])


def _fit(rows: _Rows, n_groups: int, penalty: float, start: Floats, enough: float) -> Floats:
    """Find shift and slope of every group, in units of the spread, at the least penalised NLL."""
    lowest, highest = _ends(rows, n_groups)
    pull = np.full(n_groups, penalty)
    parted = (lowest[1] >= highest[0]) | (lowest[0] >= highest[1])
    pull[parted] = max(penalty, WEAKEST)
    bottom, top = lowest.min(axis=0), highest.max(axis=0)
    free = top - bottom > SMALLEST_SPAN * np.maximum(1.0, np.maximum(abs(bottom), abs(top)))
    alone = ~free & np.isfinite(lowest).all(axis=0)  # one score, and both outcomes: a shift fits
    pull[alone] = penalty
    added, point = start, _evaluate(rows, start, pull)
    for _ in range(100):
        step = _newton_step(point, free)
        expected = (point.gradient * step).sum(axis=0)
        if expected.max(initial=0.0) <= enough:
            return added + step
        following = _evaluate(rows, added + step, pull)
        for _ in range(60):
            slack = 4e-15 * np.abs(point.loss) - 1e-4 * expected
            worse = following.loss > point.loss + slack
            if not worse.any():
                break
            step[:, worse] /= 2
            expected[worse] /= 2
            following = _evaluate(rows, added + step, pull)
        added, point = added + step, following
    return added


def _ends(rows: _Rows, n_groups: int) -> tuple[Floats, Floats]:
    """Return each group's lowest and highest log-odds of a miss and of a hit; infinite if none."""
    key = rows.place + n_groups * (rows.hits > 0)
    lowest, highest = np.full(2 * n_groups, np.inf), np.full(2 * n_groups, -np.inf)
    np.minimum.at(lowest, key, rows.odds)
    np.maximum.at(highest, key, rows.odds)
    return lowest.reshape(2, -1), highest.reshape(2, -1)


def _moved(rows: _Rows, added: Floats) -> Floats:
    return np.asarray(rows.odds + added[0][rows.place] + added[1][rows.place] * rows.unit)


def _nll(rows: _Rows, added: Floats) -> Floats:
    odds = _moved(rows, added)
    nll = np.log1p(np.exp(-np.abs(odds))) + np.maximum(odds, 0) - rows.hits * odds
    return np.asarray(rows.weight * nll)


def _evaluate(rows: _Rows, added: Floats, pull: Floats) -> _Point:
    odds = _moved(rows, added)
    tail = np.exp(-np.abs(odds))
    share = 1 / (1 + tail)
    least = tail * share  # the lesser of the chances of a hit and of a miss
    left = rows.hits - np.where(odds >= 0, share, least)
    each = np.log1p(tail) + np.maximum(odds, 0) - rows.hits * odds
    weight = least * share

    def summed(values: Floats) -> Floats:
        weighted = rows.weight * values
        return np.asarray(np.bincount(rows.place, weighted, pull.size), dtype=np.float64)

    loss = summed(each) + pull * (added**2).sum(axis=0) / 2
    gradient = np.stack([summed(left), summed(left * rows.unit)]) - pull * added
    weighted = weight * rows.unit
    curved = np.stack([summed(weight), summed(weighted), summed(weighted * rows.unit)])
    curved[[0, 2]] += pull
    return _Point(loss, gradient, curved)


def _newton_step(point: _Point, free: NDArray[np.bool_]) -> Floats:
    """Solve two equations a group; one where no slope is free, none where nothing is curved."""
    (of_a, both, of_b), (left_a, left_b) = point.curved, point.gradient
    determinant = of_a * of_b - both**2
    two = free & (determinant > 1e-13 * of_a * of_b)
    one = ~two & (of_a > 0)
    step = np.zeros_like(point.gradient)
    np.divide(left_a, of_a, out=step[0], where=one)
    np.divide(of_b * left_a - both * left_b, determinant, out=step[0], where=two)
    np.divide(of_a * left_b - both * left_a, determinant, out=step[1], where=two)
    return step


SCORE_MAPS: dict[str, type[ScoreMap]] = {
    "beta": BetaCalibration,
    "platt": PlattScaling,
    "histogram": HistogramBinning,
    "bbq": BBQ,
    "spline": SplineCalibration,
}
"""What a map of all rows can be, by its word."""


def _by_group(score_map: str) -> ByGroup:
    return ByGroup(SCORE_MAPS[score_map]())


BY_GROUP = Method(
    key="by_group",
    name="By group",
    short="By group",
    factory=_by_group,
    options=(Choice("score_map", "platt", tuple(SCORE_MAPS)),),
    paper="Van Calster 2019; Gelman and Hill 2007 (partial pooling); Hebert-Johnson 2018",
    explained="Fits one map on all rows, and a shift and slope for each group, near none where"
    " its rows are few.",
    formula="log-odds = a_g + b_g logit(q), q by one map of all rows; a_g and b_g penalised",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("curves", 1),
    cost=Cost((500, 50, 5)),
    knows_groups=True,
)
