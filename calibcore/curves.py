"""What a fitted calibrator does to scores, and measures against a number set by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import (
    FittedGroupMap,
    FittedMap,
    FittedScoreMap,
    FittedVectorMap,
    Progress,
    part_of,
)
from calibcore.calibrators.lifts import FittedOneVsRest, FittedPerRank, FittedPooledClasses
from calibcore.calibrators.score_maps.spline import SplineCalibration
from calibcore.calibrators.temperature import TEMPERATURE_BOUNDS
from calibcore.counted import weighted
from calibcore.cumulative import ks_of
from calibcore.data import EventScores, LogitSet, like
from calibcore.errors import CalibrationInputError
from calibcore.events import Event, OneClass, TopR
from calibcore.fitting import fold_maps
from calibcore.grouping import UNKNOWN
from calibcore.inference.draws import tally_of
from calibcore.metrics import PROBABILITY_FLOOR, ece, event_nll, ks_error
from calibcore.probabilities import below_largest, log_probabilities
from calibcore.results import result_class
from calibcore.splines import LEAST_KNOTS
from calibcore.splits import Folds
from calibcore.strips import row_strips
from calibcore.validation import Floats
from calibcore.weights import row_mean

_NO_WEIGHT = -1e6
"""A logit this far below its row's largest weighs nothing at any temperature."""


@result_class
class TemperatureSweep:
    """Measures of the same rows at many temperatures."""

    temperatures: Floats
    """What divides the logits, ascending; shape (n_temperatures,)."""
    nll: Floats
    """`calibcore.metrics.nll`; shape (n_temperatures,)."""
    entropy: Floats
    """Mean entropy of the predicted class probabilities, in nats: how undecided they are; shape
    (n_temperatures,).
    """
    ece: Floats
    ks_error: Floats
    """Of the event; shape (n_temperatures,)."""
    n_bins: int
    """Bins of the ECE, of equal width."""

    @property
    def most_likely(self) -> float:
        """Temperature of the sweep with the least NLL, the smaller of equals."""
        return float(self.temperatures[int(self.nll.argmin())])


def temperature_sweep(
    rows: LogitSet,
    event: Event,
    temperatures: ArrayLike,
    *,
    n_bins: int = 15,
    progress: Progress | None = None,
) -> TemperatureSweep:
    """Compute NLL and entropy of the same rows at many temperatures.

    ``rows``: logits and labels. ``event``: what ECE and KS error are about. ``temperatures``:
    between 0.001 and 1,000, ascending; shape (n_temperatures,). ``n_bins``: bins of the ECE.
    ``progress``: told the share that is done; whatever it raises ends the sweep.

    Raises `CalibrationInputError` for a temperature out of range or out of order, and an event that
    the rows do not have.

    With z a row's logits less their largest, S = sum_k exp(z_k / T) and m the mean of z under the
    weights exp(z_k / T): the NLL of a row is ln S - z_y / T, at most that of
    `calibcore.metrics.PROBABILITY_FLOOR`, and its entropy ln S - m / T. One pass of exponentials a
    temperature; no table of the size of the logits is kept.

    Source: Guo et al., ICML 2017, figure S1.

    >>> from calibcore.events import TopR
    >>> swept = temperature_sweep(LogitSet([[2.0, 0.0]] * 4, [0, 0, 0, 1]), TopR(1), [1.0, 1.8205])
    >>> swept.nll.round(4).tolist(), swept.ks_error.round(4).tolist()
    ([0.6269, 0.5623], [0.1308, 0.0])
    """
    checked = _temperatures(temperatures)
    values, report = np.empty((4, checked.size)), part_of(progress)
    for place, temperature in enumerate(checked.tolist()):
        report(place / checked.size)
        nll, entropy, outcomes = _at(rows, event, temperature)
        counted = tally_of(outcomes)
        error = ece(outcomes.scores, outcomes.hits, n_bins=n_bins, sample_weight=rows.weights)
        values[:, place] = nll, entropy, error, float(ks_of(counted))
    nlls, entropies, errors, gaps = values
    return TemperatureSweep(checked, nlls, entropies, errors, gaps, n_bins)


def _temperatures(values: ArrayLike) -> Floats:
    low, high = TEMPERATURE_BOUNDS
    wanted = f"a list of numbers from {low:g} to {high:,g}"
    try:
        checked = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CalibrationInputError("temperatures", "other values", wanted) from error
    if checked.ndim != 1 or not checked.size or not ((checked >= low) & (checked <= high)).all():
        raise CalibrationInputError("temperatures", "other values", wanted)
    if (np.diff(checked) <= 0).any():
        raise CalibrationInputError("temperatures", "values out of order", "ascending ones")
    return checked


def _at(rows: LogitSet, event: Event, temperature: float) -> tuple[float, float, EventScores]:
    """Return the mean NLL, the mean entropy and the event's scores at one temperature."""
    n_rows = rows.n_samples
    scores, hits = np.empty(n_rows), np.empty(n_rows, dtype=np.int8)
    surprises, entropies = np.empty((2, n_rows))
    for part in row_strips(n_rows, rows.n_classes):
        block, labels = rows.logits[part], rows.labels[part]
        z = np.empty(block.shape)
        below_largest(block, out=z)
        np.maximum(z, _NO_WEIGHT, out=z)
        z /= temperature
        weights = np.exp(z)
        total = weights.sum(axis=1)
        surprise = np.log(total) - z[np.arange(len(z)), labels]
        surprises[part] = np.minimum(surprise, -np.log(PROBABILITY_FLOOR))
        entropies[part] = np.log(total) - np.vecdot(weights, z) / total
        weights /= total[:, np.newaxis]
        outcomes = event.outcomes(weights, labels)
        scores[part], hits[part] = outcomes.scores, outcomes.hits
    nll, entropy = (row_mean(values, rows.weights) for values in (surprises, entropies))
    return nll, entropy, like(EventScores(scores, hits), rows)


@result_class
class KnotSweep:
    """What splines with different numbers of knots do, on both sets."""

    n_knots: NDArray[np.int64]
    """Ascending; shape (n_sizes,)."""
    calibration_ks: Floats
    test_ks: Floats
    """KS error after the spline, on the set it was fitted on and on the other; shape (n_sizes,)."""
    calibration_nll: Floats
    test_nll: Floats
    """NLL of the event; shape (n_sizes,)."""

    def place(self, n_knots: int) -> int:
        """Return the place of a number of knots, the nearest one if it is not there."""
        return int(np.abs(self.n_knots - n_knots).argmin())


def knot_sweep(
    calibration: EventScores,
    test: EventScores,
    spline: SplineCalibration,
    knots: Sequence[int],
    *,
    fold: Folds | None = None,
    progress: Progress | None = None,
) -> KnotSweep:
    """Fit a spline for each number of knots, and evaluate it on both sets.

    ``calibration``, ``test``: each spline is fitted on the first alone. ``spline``: its other
    options; the number of knots is not looked for. ``knots``: numbers of knots, ascending. Those
    that these rows or the run-out do not allow are left out. ``fold``: both sets are the same rows:
    the second is then evaluated by fits on all other folds; shape (n_samples,). ``progress``: told
    the share that is done; whatever it raises ends the sweep.

    Raises `CalibrationInputError` for no numbers of knots, and rows that allow none of them.

    Source: Gupta et al., ICLR 2021, section 4.
    """
    if len(knots) == 0:
        raise CalibrationInputError("knots", "none", "at least one number of knots")
    least, most = LEAST_KNOTS[spline.runout], calibration.n_samples
    if fold is not None:
        most -= int(np.bincount(fold).max())
    allowed = [n_knots for n_knots in knots if least <= n_knots <= most]
    if not allowed:
        raise CalibrationInputError(
            "rows", f"{most:,}", f"at least {max(least, min(knots))}, as many as the fewest knots"
        )
    values, report = np.empty((4, len(allowed))), part_of(progress)
    for place, n_knots in enumerate(allowed):
        report(place / len(allowed))
        chosen = replace(spline, n_knots=n_knots, cross_validated=False)
        of_rows = calibration.scores, calibration.hits
        fitted = chosen.fit(*of_rows, sample_weight=calibration.weights)
        of_test: FittedScoreMap = fitted
        if fold is not None:
            of_test = fold_maps(chosen, calibration, fold)
        for row, (rows, score_map) in enumerate(((calibration, fitted), (test, of_test))):
            after = score_map.predict(rows.scores)
            values[row, place] = ks_error(after, rows.hits, sample_weight=rows.weights)
            values[row + 2, place] = event_nll(after, rows.hits, sample_weight=rows.weights)
    return KnotSweep(np.array(allowed), *values)


# What a fitted calibrator does to scores: its curve, how far rows move, and where to ----------


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

    The grid is even in the score, and even in its log-odds, as some maps are steep at 0 and 1. A
    step is level up to its end: each place where a map jumps is there with its two neighbours
    among the doubles, so that whichever step the place itself belongs to, both heights are drawn.

    Source: Vasilev and D'yakonov 2023, figure 2.
    """
    odds = np.linspace(-16, 16, _IN_LOG_ODDS)
    places = np.concatenate(
        [
            np.linspace(0, 1, _EVEN),
            1 / (1 + np.exp(-odds)),
            fitted.breaks().corners,
            _around_jumps(fitted),
        ]
    )
    score = np.unique(np.clip(places, 0.0, 1.0))
    return ScoreCurve(score, fitted.predict(score))


def group_curves(fitted: FittedGroupMap) -> dict[tuple[int, int], ScoreCurve]:
    """Evaluate the map of every group on the places of the map of all.

    Returns one curve for each group of ``fitted.groups_used``, by the place of its column and its
    number; of several columns, that of rows whose groups in the others are not known.

    >>> from calibcore.calibrators import ByGroup, PlattScaling
    >>> scores, hits = [0.3, 0.7] * 400, [0, 1] * 200 + [1, 1, 0, 1] * 100
    >>> fitted = ByGroup(PlattScaling()).fit(scores, hits, [1] * 400 + [4] * 400)
    >>> of_4 = group_curves(fitted)[0, 4]
    >>> bool((of_4.calibrated == fitted.predict(of_4.score, [4] * of_4.score.size)).all())
    True
    """
    score, curves = score_curve(fitted).score, {}
    for column, groups in fitted.groups_used.items():
        for group in groups.tolist():
            known = np.full((score.size, fitted.n_groupings), UNKNOWN)
            known[:, column] = group
            calibrated = fitted.predict(score, known if known.shape[1] > 1 else known[:, 0])
            curves[column, group] = ScoreCurve(score, calibrated)
    return curves


def _around_jumps(fitted: FittedScoreMap) -> Floats:
    starts, ends, _ = fitted.breaks()
    jumps = np.concatenate([starts, ends])
    return np.concatenate([np.nextafter(jumps, -1), jumps, np.nextafter(jumps, 2)])


def map_inside(fitted: FittedMap | None, event: Event) -> FittedScoreMap | None:
    """Find the map of one score that acts on an event.

    ``fitted``: a score map is that map itself. ``event``: the event whose score is looked at.

    The class's own map, the rank's own map, or the one map of all classes: what a lift does to the
    event's score before it makes rows sum to 1. None where no single map of the score acts.
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
    flat: tuple[float, float, float] | None = None
    """Lowest and highest of the scores that all become one, and that one: of such ranges the
    widest. None where different scores stay different.
    """
    n_flat: int = 0
    """Rows in it."""


def movement(before: EventScores, after: EventScores) -> Movement:
    """Measure how far calibration moves the scores of the same rows.

    ``before``, ``after``: row by row the same rows, at least one.

    Raises `CalibrationInputError` for sets of different sizes.
    """
    if before.n_samples != after.n_samples:
        raise CalibrationInputError(
            "after", f"{after.n_samples:,} rows", f"the {before.n_samples:,} rows of before"
        )
    (was, weights), (now, _) = weighted(before), weighted(after)
    shift = now.scores - was.scores
    distance = np.abs(shift)
    farthest = int(distance.argmax())
    times = np.ones(shift.size)
    if was is not before and weights is not None:
        times = weights.values
    return Movement(
        n_samples=before.n_samples,
        n_lowered=int(times[shift < -_FALL].sum()),
        n_raised=int(times[shift > _FALL].sum()),
        mean_shift=row_mean(shift, weights),
        mean_distance=row_mean(distance, weights),
        score=float(was.scores[farthest]),
        calibrated=float(now.scores[farthest]),
        **_widest_flat(was, now, times),
    )


def _widest_flat(was: EventScores, now: EventScores, times: Floats) -> dict[str, Any]:
    """Return the fields of `Movement` on the widest range of scores that become one."""
    order = np.argsort(was.scores, kind="stable")
    low_to_high, after = was.scores[order], now.scores[order]
    first = np.flatnonzero(np.r_[True, np.diff(after) != 0])
    last = np.r_[first[1:], after.size] - 1
    widest = int(np.argmax(low_to_high[last] - low_to_high[first]))
    ends = first[widest], last[widest]
    if low_to_high[ends[0]] == low_to_high[ends[1]]:
        return {}
    flat = *(float(low_to_high[end]) for end in ends), float(after[ends[0]])
    return {"flat": flat, "n_flat": int(times[order[ends[0] : ends[1] + 1]].sum())}


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

    Raises `CalibrationInputError` for fewer than 3 steps, and a map of another number of classes.

    The map is given the logarithms of the probabilities. For that the same probabilities must
    always become the same, whatever was added to a row of logits; every map of this package
    sees to that.

    Source: Kull et al., NeurIPS 2019, figure 1; Vaicenavicius et al., AISTATS 2019, figure 1.
    """
    n_steps = validation.whole_number(n_steps, "n_steps", least=3)
    first, second = np.meshgrid(np.arange(1, n_steps), np.arange(1, n_steps), indexing="ij")
    inside = first + second < n_steps
    counts = np.stack([first[inside], second[inside], n_steps - first[inside] - second[inside]])
    before = counts.T / n_steps
    return ClassMoves(before, fitted.predict_proba(log_probabilities(before)))
