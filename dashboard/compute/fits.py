"""Calibrators fitted and evaluated once, and what a fit will take before it starts."""

import time
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from calibcore.calibrators.base import FittedScoreMap, FittedVectorMap, Progress
from calibcore.data import EventScores
from calibcore.evaluation import AuditResult
from calibcore.events import TopR
from calibcore.fitting import (
    FoldedScoreMap,
    FoldedVectorMap,
    check_pooled,
    fit,
    fit_folds,
    prepare,
)
from calibcore.slices import rebin, reevaluate
from dashboard.compute.cache import Key, is_known, key_of, once, once_going_on
from dashboard.compute.slices import evaluated_rows, evaluated_split, whole_split
from dashboard.readers import Upload
from dashboard.readers.upload import N_FOLDS
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, Settings, method_by_key

_FITS, _FOLD_FITS = "fits", "fold fits"


@dataclass(frozen=True)
class Estimate:
    """What a fit that is still to be made will take.

    Parameters
    ----------
    seconds, bytes : float
        Time, and memory beyond the logits.
    n_rows, n_classes : int
        Of the calibration set.
    spread : float
        Factor within which the time is right, either way.
    """

    seconds: float
    bytes: float
    n_rows: int
    n_classes: int
    spread: float = 3.0

    @property
    def longest(self) -> float:
        """Seconds that it may well take."""
        return self.seconds * self.spread


@st.cache_resource(show_spinner=False)
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
    return Estimate(
        n_fits * cost.seconds(n_rows, len(classes), seconds_per_logit()),
        cost.bytes(n_rows, len(classes)),
        n_rows,
        len(classes),
        cost.spread,
    )


def is_fitted(upload: Upload, settings: Settings) -> bool:
    """Return whether a fit is kept, by folds too where there are folds."""
    key = _fit_key(upload, settings)
    crossed = upload.rows is not None and settings.calibration_share is None
    return is_known(_FITS, key) and (not crossed or is_known(_FOLD_FITS, key))


def _fit_key(upload: Upload, settings: Settings) -> Key:
    """Return what decides a fit: no bins, no part of the rows; and of all classes, no event."""
    of_event = settings.method == NO_METHOD or method_by_key(settings.method).acts_on == "event"
    event = settings.event if of_event else TopR(1)
    return key_of(upload, replace(settings, event=event, n_bins=15, only=None))


def _fitted(
    upload: Upload, settings: Settings, progress: Progress
) -> FittedScoreMap | FittedVectorMap | None:
    rows = whole_split(upload, settings).calibration

    def make(report: Progress) -> FittedScoreMap | FittedVectorMap | None:
        return fit(settings.calibrator(), prepare(rows, settings.event), report)

    return once_going_on(_FITS, _fit_key(upload, settings), make, progress)


def fitted_in_folds(
    upload: Upload, settings: Settings, progress: Progress
) -> FoldedScoreMap | FoldedVectorMap | None:
    """Return what calibrates all rows of a set in folds; None where there are none."""
    split, calibrator = whole_split(upload, settings), settings.calibrator()
    fold = split.fold
    if fold is None or calibrator is None:
        return None

    def make(report: Progress) -> FoldedScoreMap | FoldedVectorMap:
        return fit_folds(calibrator, prepare(split.calibration, settings.event), fold, report)

    return once_going_on(_FOLD_FITS, _fit_key(upload, settings), make, progress)


def run_audit(upload: Upload, settings: Settings, progress: Progress) -> AuditResult:
    """Fit and evaluate, each once: a fit serves every number of bins and every part of the rows.

    Another number of bins changes what is in bins alone.
    """
    any_bins = replace(settings, n_bins=15)

    def evaluate() -> AuditResult:
        check_pooled(settings.calibrator(), settings.event)
        split, n_fits = evaluated_split(upload, settings), N_FOLDS + 1
        in_folds = whole_split(upload, settings).fold is not None

        def first(share: float) -> None:
            progress(share / n_fits if in_folds else share)

        def then(share: float) -> None:
            progress((1 + share * N_FOLDS) / n_fits)

        fitted = _fitted(upload, settings, first)
        crossed = fitted_in_folds(upload, settings, then)
        chosen = evaluated_rows(upload, settings, "test")
        if crossed is not None and chosen is not None:
            crossed = crossed.part(chosen)
        event = settings.event
        return reevaluate(fitted, split, event=event, in_folds=in_folds, crossed=crossed)

    def make() -> AuditResult:
        evaluated = once("evaluated", key_of(upload, any_bins), evaluate)
        if settings == any_bins:
            return evaluated
        return rebin(evaluated, evaluated_split(upload, settings), n_bins=settings.n_bins)

    return once("audits", key_of(upload, settings), make)


def fitted_on(scene: Scene) -> EventScores:
    """Return the event on all rows that calibrators are fitted on."""
    if scene.settings.only is None:
        return scene.result.calibration.before.event
    rows, event = scene.split.calibration, scene.settings.event
    settings = replace(scene.settings, method=NO_METHOD, options=(), only=None)
    return once("fitted on", key_of(scene.upload, settings), lambda: prepare(rows, event).event)
