"""What a fitted calibrator does to scores: its curve, how far rows move, and where to."""

from dataclasses import dataclass

import numpy as np

from calibcore import validation
from calibcore.calibrators.base import FittedScoreMap, FittedVectorMap
from calibcore.calibrators.lifts.by_group import FittedByGroup
from calibcore.calibrators.lifts.pooled import FittedPooledClasses, FittedPooledScores
from calibcore.calibrators.lifts.separate import FittedOneVsRest, FittedPerRank
from calibcore.calibrators.score_maps.bbq import FittedBBQ
from calibcore.calibrators.score_maps.histogram import FittedHistogram
from calibcore.calibrators.score_maps.isotonic import FittedIsotonic
from calibcore.calibrators.score_maps.spline import FittedSpline
from calibcore.calibrators.score_maps.venn_abers import FittedVennAbers
from calibcore.data import EventScores
from calibcore.errors import CalibrationInputError
from calibcore.events import Event, OneClass, TopR
from calibcore.probabilities import log_probabilities
from calibcore.results import result_class
from calibcore.validation import Floats

_EVEN, _IN_LOG_ODDS = 401, 201

_FALL = 1e-6
"""A fall by less is rounding."""


@result_class
class ScoreCurve:
    """A score map as a function, at enough places to draw it."""

    score: Floats
    """Scores from 0 to 1, ascending; shape (n_places,)."""
    calibrated: Floats
    """What each becomes; shape (n_places,)."""

    @property
    def falls(self) -> bool:
        """Whether some higher score becomes a lower one."""
        highest_so_far = np.maximum.accumulate(self.calibrated)
        return bool((highest_so_far - self.calibrated).max() > _FALL)


def score_curve(fitted: FittedScoreMap) -> ScoreCurve:
    """Evaluate a score map on a grid and at its own breaks.

    ``fitted``: any of this package.

    Every value is what ``fitted.predict`` gives there.

    Notes
    -----
    The grid is even in the score, and even in its log-odds, as some maps are steep at 0 and 1. A
    step is level up to its end: each place where a map jumps is there with its two neighbours
    among the doubles, so that whichever step the place itself belongs to, both heights are drawn.

    References
    ----------
    Vasilev and D'yakonov 2023, figure 2.

    Examples
    --------
    >>> from calibcore.calibrators import HistogramBinning
    >>> fitted = HistogramBinning(n_bins=2).fit([0.1, 0.4, 0.6, 0.7], [0, 1, 1, 1])
    >>> curve = score_curve(fitted)
    >>> curve.calibrated[curve.score <= 0.5].tolist() == [0.5] * int((curve.score <= 0.5).sum())
    True
    """
    odds = np.linspace(-16, 16, _IN_LOG_ODDS)
    places = np.concatenate(
        [np.linspace(0, 1, _EVEN), 1 / (1 + np.exp(-odds)), _bends(fitted), _around_jumps(fitted)]
    )
    score = np.unique(np.clip(places, 0.0, 1.0))
    return ScoreCurve(score, fitted.predict(score))


def group_curves(fitted: FittedByGroup) -> tuple[ScoreCurve, ...]:
    """Evaluate the map of every group on the places of the map of all.

    Returns one curve for each of ``fitted.groups``, in their order.

    Examples
    --------
    >>> from calibcore.calibrators import ByGroup, PlattScaling
    >>> scores, hits = [0.3, 0.7] * 20, [0, 1, 1, 0] * 10
    >>> fitted = ByGroup(PlattScaling()).fit(scores, hits, [1] * 20 + [4] * 20)
    >>> of_4 = group_curves(fitted)[1]
    >>> bool((of_4.calibrated == fitted.predict(of_4.score, [4] * of_4.score.size)).all())
    True
    """
    score = score_curve(fitted).score
    of_each = (fitted.predict(score, np.full(score.size, group)) for group in fitted.groups)
    return tuple(ScoreCurve(score, calibrated) for calibrated in of_each)


def _around_jumps(fitted: FittedScoreMap) -> Floats:
    jumps = _jumps(fitted)
    return np.concatenate([np.nextafter(jumps, -1), jumps, np.nextafter(jumps, 2)])


def _jumps(fitted: FittedScoreMap) -> Floats:
    """Return the scores at which a step map jumps."""
    match fitted:
        case FittedHistogram() | FittedBBQ():
            return fitted.edges
        case FittedIsotonic() if not fitted.interpolate:
            return fitted.first
        case FittedVennAbers():
            return np.concatenate([fitted.lower_starts, fitted.upper_ends])
        case FittedPooledScores() | FittedByGroup():
            return _jumps(fitted.score_map)
        case _:
            return np.empty(0)


def _bends(fitted: FittedScoreMap) -> Floats:
    """Return the scores between which a map is a straight line."""
    match fitted:
        case FittedSpline():
            return fitted.scores
        case FittedIsotonic():
            return np.concatenate([fitted.first, fitted.last])
        case FittedPooledScores() | FittedByGroup():
            return _bends(fitted.score_map)
        case _:
            return np.empty(0)


def map_inside(
    fitted: FittedScoreMap | FittedVectorMap | None, event: Event
) -> FittedScoreMap | None:
    """Find the map of one score that acts on an event.

    ``fitted``: a score map is that map itself. ``event``: the event whose score is looked at.

    The class's own map, the rank's own map, or the one map of all classes: what a lift does to the
    event's score before it makes rows sum to 1. None where no single map of the score acts.

    Examples
    --------
    >>> from calibcore.calibrators import OneVsRest, PlattScaling
    >>> fitted = OneVsRest(PlattScaling()).fit([[1.0, 0.0], [0.0, 1.0]] * 3, [0, 1, 0, 0, 1, 1])
    >>> map_inside(fitted, OneClass(1)) is fitted.score_maps[1], map_inside(fitted, TopR(1))
    (True, None)
    """
    match fitted, event:
        case FittedScoreMap(), _:
            return fitted
        case FittedOneVsRest(), OneClass(k):
            return fitted.score_maps[k]
        case FittedPerRank(), TopR(r) if r <= len(fitted.score_maps):
            return fitted.score_maps[r - 1]
        case FittedPooledClasses(), OneClass() | TopR():
            return fitted.score_map
        case _:
            return None


@dataclass(frozen=True)
class Movement:
    """How far calibration moves the scores of some rows."""

    n_samples: int
    n_lowered: int
    n_raised: int
    """Rows; those whose score falls and rises by more than a rounding."""
    mean_shift: float
    """Mean of after minus before."""
    mean_distance: float
    """Mean of its absolute value."""
    score: float
    calibrated: float
    """Before and after of the row that is moved farthest."""


def movement(before: EventScores, after: EventScores) -> Movement:
    """Measure how far calibration moves the scores of the same rows.

    ``before``, ``after``: row by row the same rows, at least one.

    Raises
    ------
    CalibrationInputError
        Sets of different sizes.

    Examples
    --------
    >>> moved = movement(EventScores([0.9, 0.5], [1, 0]), EventScores([0.7, 0.5], [1, 0]))
    >>> moved.n_lowered, round(moved.mean_shift, 3), moved.score
    (1, -0.1, 0.9)
    """
    if before.n_samples != after.n_samples:
        raise CalibrationInputError(
            "after", f"{after.n_samples:,} rows", f"the {before.n_samples:,} rows of before"
        )
    shift = after.scores - before.scores
    distance = np.abs(shift)
    farthest = int(distance.argmax())
    return Movement(
        n_samples=shift.size,
        n_lowered=int(np.count_nonzero(shift < -_FALL)),
        n_raised=int(np.count_nonzero(shift > _FALL)),
        mean_shift=float(shift.mean()),
        mean_distance=float(distance.mean()),
        score=float(before.scores[farthest]),
        calibrated=float(after.scores[farthest]),
    )


@result_class
class ClassMoves:
    """Rows of class probabilities, and where calibration takes each."""

    before: Floats
    after: Floats
    """Rows that sum to 1 (y_prob); shape (n_rows, n_classes)."""


def grid_moves(fitted: FittedVectorMap, *, n_steps: int = 15) -> ClassMoves:
    """Send an even grid of three class probabilities through a vector map.

    ``fitted``: of three classes. ``n_steps``: steps along each side of the triangle, at least 3;
    the grid has ``(n_steps - 1) (n_steps - 2) / 2`` places inside it.

    Raises
    ------
    CalibrationInputError
        Fewer than 3 steps, or a map of another number of classes.

    Notes
    -----
    The map is given the logarithms of the probabilities. For that the same probabilities must
    always become the same, whatever was added to a row of logits; every map of this package
    sees to that.

    References
    ----------
    Kull et al., NeurIPS 2019, figure 1; Vaicenavicius et al., AISTATS 2019, figure 1.

    Examples
    --------
    >>> from calibcore.calibrators import FittedTemperature
    >>> grid_moves(FittedTemperature(2.0), n_steps=3).after.round(3).tolist()
    [[0.333, 0.333, 0.333]]
    """
    n_steps = validation.whole_number(n_steps, "n_steps", least=3)
    first, second = np.meshgrid(np.arange(1, n_steps), np.arange(1, n_steps), indexing="ij")
    inside = first + second < n_steps
    counts = np.stack([first[inside], second[inside], n_steps - first[inside] - second[inside]])
    before = counts.T / n_steps
    return ClassMoves(before, fitted.predict_proba(log_probabilities(before)))
