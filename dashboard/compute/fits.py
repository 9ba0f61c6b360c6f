"""Calibrators fitted and evaluated once, and what a fit will take before it starts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256

import numpy as np

from calibcore.auditing import AuditResult, audit_fitted, rebin
from calibcore.calibrators.base import FittedMap, Progress, part_of
from calibcore.data import EventScores
from calibcore.events import TopR
from calibcore.fitting import FoldedScoreMap, FoldedVectorMap, check_pooled, fit, fit_folds, prepare
from calibcore.splits import N_FOLDS, Folds
from dashboard.compute.cache import (
    Key,
    at_hand,
    is_known,
    keeper,
    key_of,
    once,
    once_going_on,
    see_through,
)
from dashboard.compute.processes import (
    FitJob,
    Tell,
    fit_side_by_side,
    saves_time,
    side_by_side_seconds,
    timed,
)
from dashboard.compute.split import evaluated_rows, evaluated_split, restated_split, whole_split
from dashboard.readers import Upload
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, Settings, method_by_key

_FITS, _FOLD_FITS, _FIT_SECONDS = "fits", "fold fits", "fit seconds"


@dataclass(frozen=True)
class Estimate:
    """What a fit that is still to be made will take."""

    seconds: float
    bytes: float
    """Time, and memory beyond the logits."""
    n_rows: int
    n_classes: int
    """Of the calibration set."""
    spread: float = 3.0
    """Factor within which the time is right, either way."""

    @property
    def longest(self) -> float:
        """Seconds that it may well take."""
        return self.seconds * self.spread


@cache
def seconds_per_logit() -> float:
    """Time the exponential of a logit on this machine: the least of a few tries."""
    logits = np.linspace(-20, 0, 1 << 18, dtype=np.float32)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        np.exp(logits)
        times.append(time.perf_counter() - start)
    return min(times) / logits.size


def estimate(upload: Upload, settings: Settings) -> Estimate | None:
    """Estimate a fit; None where the result is known, or nothing but an event's score is fitted."""
    if settings.method == NO_METHOD or is_fitted(upload, settings):
        return None
    method, classes = method_by_key(settings.method), upload.class_names
    if method.acts_on == "event" or classes is None:
        return None
    rows = upload.rows or upload.calibration
    share = settings.calibration_share if upload.rows is not None else 1.0
    n_rows = round((share or 1.0) * rows.n_samples) if rows is not None else 0
    cost = method.cost_of(**dict(settings.options))
    n_fits = 1 if share else N_FOLDS  # and one that leaves nothing out, on all the more rows
    seconds = n_fits * cost.seconds(n_rows, len(classes), seconds_per_logit())
    return Estimate(
        seconds if share or rows is None else side_by_side_seconds(seconds, rows),
        cost.bytes(n_rows, len(classes)),
        n_rows,
        len(classes),
        cost.spread,
    )


def is_fitted(upload: Upload, settings: Settings) -> bool:
    """Return whether a fit is kept, by folds too where there are folds."""
    return are_fitted(upload, settings, whole_split(upload, settings).fold)


def are_fitted(upload: Upload, settings: Settings, fold: Folds | None) -> bool:
    """Return whether the fit to all rows is kept, and those without each fold."""
    whole = is_known(_FITS, _fit_key(upload, settings))
    return whole and (fold is None or is_known(_FOLD_FITS, _folds_key(upload, settings, fold)))


def _fit_key(upload: Upload, settings: Settings) -> Key:
    """Return what decides a fit: no bins, no part of the rows; and of all classes, no event."""
    of_event = settings.method == NO_METHOD or method_by_key(settings.method).acts_on == "event"
    event = settings.event if of_event else TopR(1)
    return key_of(upload, replace(settings.in_any_bins, event=event, only=None))


def fitted_whole(upload: Upload, settings: Settings, progress: Progress) -> FittedMap | None:
    """Return the calibrator fitted to all rows of the calibration set; None without one."""
    rows = whole_split(upload, settings).calibration

    key = _fit_key(upload, settings)
    keep_seconds = keeper(_FIT_SECONDS, key)

    def make(report: Progress) -> FittedMap | None:
        prepared = prepare(rows, settings.event)
        calibrator, seconds = timed(lambda: fit(settings.calibrator(), prepared, report))
        keep_seconds(seconds)
        return calibrator

    return once_going_on(_FITS, key, make, progress)


def fit_seconds(upload: Upload, settings: Settings) -> float | None:
    """Return how long the fit to all rows took; None where it was not made, or is forgotten."""
    seconds: float | None = at_hand(_FIT_SECONDS, _fit_key(upload, settings))
    return seconds


def fitted_in_folds(
    upload: Upload, settings: Settings, progress: Progress, fold: Folds | None = None
) -> FoldedScoreMap | FoldedVectorMap | None:
    """Return what calibrates the rows that are fitted on, each by a fit without its fold.

    The folds are those of the set, where it is in folds, or given; None where there are none.
    """
    split, calibrator = whole_split(upload, settings), settings.calibrator()
    folds = split.fold if fold is None else fold
    if folds is None or calibrator is None:
        return None
    whole = fitted_whole(upload, settings, lambda _: None)

    def make(report: Progress) -> FoldedScoreMap | FoldedVectorMap:
        prepared = prepare(split.calibration, settings.event)
        return fit_folds(calibrator, prepared, folds, report, whole)

    return once_going_on(_FOLD_FITS, _folds_key(upload, settings, folds), make, progress)


def _folds_key(upload: Upload, settings: Settings, fold: Folds) -> tuple[Key, str]:
    few_bytes = fold.astype(np.min_scalar_type(int(fold.max())))
    return _fit_key(upload, settings), sha256(few_bytes.tobytes()).hexdigest()


def fit_together(upload: Upload, wanted: Sequence[Settings], fold: Folds, report: Tell) -> int:
    """Fit several calibrators side by side, as far as that saves time; their fits are kept.

    ``upload``: the data. ``wanted``: with their methods; those that are fitted are left out.
    ``fold``: of each row that is fitted on; shape (n_samples,). ``report``: told how far all are;
    what it raises ends them.

    Returns how often processes were ended from outside: see `fit_side_by_side`.
    """
    return fit_side_by_side(_jobs(upload, wanted, fold), report)


def _jobs(upload: Upload, wanted: Sequence[Settings], fold: Folds) -> list[FitJob]:
    n_classes, jobs = len(upload.class_names or ()) or 2, []
    for settings in wanted:
        calibrator, whole = settings.calibrator(), (_FITS, _fit_key(upload, settings))
        folds = _FOLD_FITS, _folds_key(upload, settings, fold)
        if calibrator is None or is_known(*folds):
            continue
        prepared = prepare(whole_split(upload, settings).calibration, settings.event)
        cost = method_by_key(settings.method).cost_of(**dict(settings.options))
        jobs.append(
            FitJob(
                settings.method,
                calibrator,
                prepared,
                fold,
                cost.seconds(prepared.event.n_cells, n_classes, seconds_per_logit()),
                _keeper_of(whole[1]),
                keeper(*folds),
                at_hand(*whole),
            )
        )
    return jobs


def _keeper_of(key: Key) -> Callable[[FittedMap, float], None]:
    """Return what keeps a fit to all rows and its seconds."""
    keep, keep_seconds = keeper(_FITS, key), keeper(_FIT_SECONDS, key)

    def take(fitted: FittedMap, seconds: float) -> None:
        keep(fitted)
        keep_seconds(seconds)

    return take


def _fit_ahead(upload: Upload, settings: Settings, fold: Folds, progress: Progress) -> None:
    """Fit one calibrator and those of its folds side by side; a click elsewhere goes on with it."""
    jobs = _jobs(upload, [settings], fold)
    if saves_time(jobs):
        key = "side by side", _folds_key(upload, settings, fold)
        see_through(key, lambda tell: _side_by_side(jobs, tell), progress)


def _side_by_side(jobs: list[FitJob], tell: Progress) -> None:
    fit_side_by_side(jobs, lambda share, *_: tell(share))


def run_audit(upload: Upload, settings: Settings, progress: Progress) -> AuditResult:
    """Fit and evaluate, each once: a fit serves every number of bins and every part of the rows.

    Another number of bins changes what is in bins alone.
    """
    any_bins = settings.in_any_bins

    def evaluate() -> AuditResult:
        check_pooled(settings.calibrator(), settings.event)
        split = evaluated_split(upload, settings)
        fold = whole_split(upload, settings).fold
        in_folds = fold is not None
        whole = 1 / (N_FOLDS + 1) if in_folds else 1.0
        if fold is not None:
            _fit_ahead(upload, settings, fold, progress)
        fitted = fitted_whole(upload, settings, part_of(progress, 0.0, whole))
        by_fold = fitted_in_folds(upload, settings, part_of(progress, whole))
        chosen = evaluated_rows(upload, settings, "test")
        if by_fold is not None and chosen is not None:
            by_fold = by_fold.part(chosen)
        event = settings.event
        result = audit_fitted(fitted, split, event=event, in_folds=in_folds, by_fold=by_fold)
        if upload.summary is not None and settings.only is None:
            result = upload.summary.whole.better_known(result)
        moved = restated_split(upload, settings)
        return result if moved is None else replace(result, prior_shift=moved[1])

    def make() -> AuditResult:
        evaluated = once("evaluated", key_of(upload, any_bins), evaluate)
        if settings == any_bins:
            return evaluated
        split = evaluated_split(upload, settings)
        return rebin(evaluated, split, settings.event, n_bins=settings.n_bins)

    return once("audits", key_of(upload, settings), make)


def fitted_on(scene: Scene) -> EventScores:
    """Return the event on all rows that calibrators are fitted on."""
    if scene.settings.only is None:
        return scene.result.calibration.before.event
    rows, event = scene.split.calibration, scene.settings.event
    settings = replace(scene.settings, method=NO_METHOD, options=(), only=None)
    return once("fitted on", key_of(scene.upload, settings), lambda: prepare(rows, event).event)
