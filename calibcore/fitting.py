"""A calibrator fitted to an event on one set: once, or fold by fold."""

import logging
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import (
    FittedGroupMap,
    FittedMap,
    FittedScoreMap,
    FittedVectorMap,
    GroupMap,
    Progress,
    ScoreMap,
    SlowVectorMap,
    part_of,
)
from calibcore.calibrators.lifts import PooledScores
from calibcore.calibrators.linear.maps import FullLinearMap
from calibcore.calibrators.method import Calibrator
from calibcore.counted import CountedScores, weighted
from calibcore.data import EventScores, LogitSet, Rows, like
from calibcore.errors import CalibrationInputError
from calibcore.events import Event, WithinTopR
from calibcore.results import result_class
from calibcore.splits import Folds, refuse_cut_clusters
from calibcore.validation import Floats, Labels
from calibcore.weights import weights_named

_LOG = logging.getLogger("calibcore")


@result_class
class PreparedSet:
    """One set with its event."""

    rows: Rows
    event: EventScores


def prepare(rows: Rows, event: Event) -> PreparedSet:
    """Find the event in one set."""
    if isinstance(event, type) or not hasattr(event, "outcomes"):
        raise CalibrationInputError("event", repr(event), "one such as TopR(1) or OneClass(0)")
    if isinstance(rows, LogitSet):
        return PreparedSet(rows, like(event.outcomes(rows.probabilities, rows.labels), rows))
    return PreparedSet(rows, rows)


def check_pooled(calibrator: Calibrator | None, event: Event) -> None:
    """Raise if pooled scores meet an event whose score is a sum of probabilities."""
    if isinstance(calibrator, PooledScores) and isinstance(event, WithinTopR) and event.r > 1:
        raise CalibrationInputError(
            "calibrator",
            "pooled classes that are not normalised, and the event within-top-r",
            "a top-r or one-class event, whose score is one class's probability, or normalised"
            " rows",
        )


def fit(
    calibrator: Calibrator | None,
    calibration: PreparedSet,
    progress: Progress | None,
    near: FittedMap | None = None,
) -> FittedMap | None:
    """Fit a calibrator on one set, perhaps near a fit to most of it; None without calibrator."""
    if calibrator is None:
        return None
    begun = time.perf_counter()
    fitted = _fitted(calibrator, calibration, progress, near)
    name, n_rows = type(calibrator).__name__, calibration.rows.n_samples
    _LOG.info("fit calibrator=%s rows=%d seconds=%.3f", name, n_rows, time.perf_counter() - begun)
    return fitted


def _fitted(
    calibrator: Calibrator,
    calibration: PreparedSet,
    progress: Progress | None,
    near: FittedMap | None,
) -> FittedMap:
    if isinstance(calibrator, type) or not hasattr(calibrator, "fit"):
        raise CalibrationInputError("calibrator", repr(calibrator), "one such as PlattScaling()")
    event, weights = weighted(calibration.event)
    weighed = weights_named(weights)
    if isinstance(calibrator, GroupMap):
        groups = event.groups if event is not calibration.event else calibration.rows.groups
        return calibrator.fit(event.scores, event.hits, groups, **weighed)
    if isinstance(calibrator, ScoreMap):
        return calibrator.fit(event.scores, event.hits, **weighed)
    if isinstance(calibration.rows, EventScores):
        raise CalibrationInputError(
            "calibrator",
            "one that needs the logits of all classes",
            "one that acts on the event's score, such as the spline, as these data hold only that",
        )
    logits, labels = calibration.rows.logits, calibration.rows.labels
    if isinstance(calibrator, FullLinearMap) and isinstance(near, FittedVectorMap):
        return calibrator.fit(logits, labels, progress=progress, near=near, **weighed)
    if isinstance(calibrator, SlowVectorMap):
        return calibrator.fit(logits, labels, progress=progress, **weighed)
    return calibrator.fit(logits, labels, **weighed)


def calibrated_scores(fitted: FittedScoreMap, prepared: PreparedSet) -> Floats:
    """Calibrate the event's scores of one set; one that knows groups gets those of its rows."""
    return calibrate(fitted, prepared.event.scores, prepared.rows.groups)


def calibrated_event(fitted: FittedScoreMap, prepared: PreparedSet) -> EventScores:
    """Return the event of one set with calibrated scores."""
    event = prepared.event
    if isinstance(event, CountedScores):
        return event.moved(calibrate(fitted, event.cells.scores, event.cells.groups))
    return like(EventScores(calibrated_scores(fitted, prepared), event.hits), prepared.rows)


def calibrate(fitted: FittedScoreMap, scores: Floats, groups: Labels | None) -> Floats:
    """Calibrate scores; a map that knows groups takes those of the rows."""
    if isinstance(fitted, FittedGroupMap):
        return fitted.predict(scores, groups)
    return fitted.predict(scores)


# Fold by fold -------------------------------------------------------------------------------


@result_class
class FoldedScoreMap(FittedGroupMap):
    """One score map a fold; each row goes through the one that was fitted without its fold."""

    fold: Folds
    """Fold of each row of the set that the maps were fitted on; shape (n_samples,)."""
    maps: tuple[FittedScoreMap, ...]
    """One a fold."""

    def predict(self, scores: ArrayLike, groups: ArrayLike | None = None) -> Floats:
        """Calibrate the scores of the very rows that were dealt, in their order."""
        checked = validation.scores(scores)
        _check_rows(checked.size, self.fold)
        known = None if groups is None else validation.group_columns(groups, n_rows=checked.size)
        result = np.empty(checked.shape)
        for number, fitted in enumerate(self.maps):
            mine = np.flatnonzero(self.fold == number)
            if mine.size:
                own = None if known is None else known[mine]
                result[mine] = calibrate(fitted, checked[mine], own)
        return result

    def part(self, chosen: NDArray[np.bool_]) -> "FoldedScoreMap":
        """Return the same maps for some of the rows, in their order."""
        return FoldedScoreMap(self.fold[chosen], self.maps, warnings=self.warnings)


@result_class
class FoldedVectorMap(FittedVectorMap):
    """One vector map a fold; each row goes through the one that was fitted without its fold."""

    fold: Folds
    """Fold of each row of the set that the maps were fitted on; shape (n_samples,)."""
    maps: tuple[FittedVectorMap, ...]
    """One a fold."""

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Calibrate the logits of the very rows that were dealt, in their order."""
        checked = validation.logits(logits)
        _check_rows(len(checked), self.fold)
        result = np.empty(checked.shape)
        for number, fitted in enumerate(self.maps):
            mine = np.flatnonzero(self.fold == number)
            if mine.size:
                result[mine] = fitted.predict_proba(checked[mine])
        return result

    def part(self, chosen: NDArray[np.bool_]) -> "FoldedVectorMap":
        """Return the same maps for some of the rows, in their order."""
        return FoldedVectorMap(self.fold[chosen], self.maps, warnings=self.warnings)


def _check_rows(n_rows: int, fold: Folds) -> None:
    if n_rows != fold.size:
        raise CalibrationInputError("rows", f"{n_rows:,}", f"the {fold.size:,} that were dealt")


def without_fold(prepared: PreparedSet, fold: Folds, number: int) -> PreparedSet:
    """Return the rows that a fold's calibrator is fitted to: those of all others."""
    seen = np.flatnonzero(fold != number)
    if isinstance(prepared.event, CountedScores):
        event = prepared.event.part(seen)
        return PreparedSet(event, event)
    return PreparedSet(prepared.rows.rows(seen), prepared.event.rows(seen))


def joined(maps: Sequence[FittedMap], fold: Folds) -> FoldedScoreMap | FoldedVectorMap:
    """Join the maps that were fitted without each fold, in the order of the folds."""
    warnings = tuple(dict.fromkeys(text for each in maps for text in each.warnings))
    of_scores = tuple(each for each in maps if isinstance(each, FittedScoreMap))
    of_classes = tuple(each for each in maps if isinstance(each, FittedVectorMap))
    if of_scores:
        return FoldedScoreMap(fold, of_scores, warnings=warnings)
    return FoldedVectorMap(fold, of_classes, warnings=warnings)


def fit_folds(
    calibrator: Calibrator,
    prepared: PreparedSet,
    fold: Folds,
    progress: Progress | None,
    near: FittedMap | None = None,
) -> FoldedScoreMap | FoldedVectorMap:
    """Fit a calibrator once a fold, on the rows of all others, perhaps near the fit to all rows."""
    n_folds = int(fold.max()) + 1
    maps = []
    for number in range(n_folds):
        report = part_of(progress, number / n_folds, (number + 1) / n_folds)
        report(0.0)
        fitted = fit(calibrator, without_fold(prepared, fold, number), report, near)
        maps += [] if fitted is None else [fitted]
    return joined(maps, fold)


def fold_maps(score_map: ScoreMap, rows: EventScores, fold: Folds) -> FoldedScoreMap:
    """Fit a score map once a fold, each time on the rows of all others."""
    refuse_cut_clusters(fold, rows)
    seen = (rows.rows(fold != number) for number in range(int(fold.max()) + 1))
    maps = (score_map.fit(of.scores, of.hits, **weights_named(of.weights)) for of in seen)
    return FoldedScoreMap(fold, tuple(maps))


def fit_split(
    calibrator: Calibrator | None,
    calibration: PreparedSet,
    fold: Folds | None,
    progress: Progress | None = None,
) -> tuple[FittedMap | None, FoldedScoreMap | FoldedVectorMap | None]:
    """Fit a calibrator on the whole calibration set, and fold by fold where there are folds."""
    if calibrator is None or fold is None:
        return fit(calibrator, calibration, progress), None
    whole = 1 / (int(fold.max()) + 2)  # of the work
    fitted = fit(calibrator, calibration, part_of(progress, 0.0, whole))
    by_fold = fit_folds(calibrator, calibration, fold, part_of(progress, whole), fitted)
    return fitted, by_fold
