"""A proper loss in two parts, by cross-validated calibrators: calibration and refinement."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibcore import validation
from calibcore.calibrators.base import FittedScoreMap, FittedVectorMap, ScoreMap, VectorMap
from calibcore.calibrators.ensembles.temperature import (
    EnsembleTemperatureScaling,
    SmoothedTemperatureScaling,
)
from calibcore.calibrators.linear.maps import StructuredVectorScaling
from calibcore.calibrators.score_maps.beta import BetaCalibration
from calibcore.calibrators.score_maps.platt import PlattScaling
from calibcore.calibrators.score_maps.quadratic import QuadraticScaling
from calibcore.calibrators.score_maps.venn_abers import VennAbers
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.metrics import brier, event_brier, event_nll, nll
from calibcore.results import result_class
from calibcore.splits import deal_folds
from calibcore.validation import Floats

Loss = Literal["nll", "brier"]
Marks = NDArray[np.bool_]

OF_EVENTS: Mapping[str, ScoreMap] = {
    "platt": PlattScaling(smoothed_targets=True),
    "quadratic": QuadraticScaling(),
    "beta": BetaCalibration(),
    "venn_abers": VennAbers(),
}
"""Calibrators of one event that are tried, none of which gives unseen rows a score of 0 or 1."""

OF_CLASSES: Mapping[str, VectorMap] = {
    "temperature": SmoothedTemperatureScaling(),
    "ensemble_temperature": EnsembleTemperatureScaling(),
    "structured_vector": StructuredVectorScaling(),
}
"""Calibrators of all classes that are tried."""


@result_class
class LossParts:
    """A mean loss: what a calibrator can remove of it, and the rest."""

    loss: float
    """Of the rows as they are; ``calibration + refinement``."""
    calibration: float
    """What the best calibrator removes on rows that it has not seen, at least 0."""
    refinement: float
    """What it leaves."""
    calibrator: str
    """Which one is best; "" if none lowers the loss."""
    losses: dict[str, float]
    """Loss after each that was tried."""

    @property
    def share(self) -> float:
        """Share of the loss that is calibration; NaN of a loss of 0."""
        return self.calibration / self.loss if self.loss else float("nan")


def loss_parts(
    rows: EventScores | LogitSet,
    *,
    loss: Loss = "nll",
    calibrators: Mapping[str, ScoreMap | VectorMap] | None = None,
    n_folds: int = 5,
    seed: int = 0,
) -> LossParts:
    """Part a proper loss into calibration and refinement, by the best calibrator in folds.

    The refinement loss is what remains after recalibration: how well the scores separate rows. A
    calibrator is evaluated on rows that it has not seen, so few rows do not flatter it, as they do
    the isotonic fit of `calibcore.metrics.corp_nll`.

    ``rows``: of one event, or of all classes. ``loss``: `event_nll` or `event_brier` of an event,
    `nll` or `brier` of all classes. ``calibrators``: what is tried; `OF_EVENTS` or `OF_CLASSES` by
    default. ``n_folds``: each row is calibrated by a fit on the other folds. ``seed``: by which the
    folds are dealt.

    Raises `CalibrationInputError` for fewer rows than folds, another loss, and a calibrator of the
    other kind.

    Refinement is the least mean loss of all rows, each calibrated out of its fold, over the
    calibrators and none; calibration is the loss less that. Choosing the least of a few flatters by
    a little; a calibrator that is not flexible enough leaves some calibration in the refinement.

    Source: Berta, Holzmüller, Jordan, Bach, *Rethinking early stopping: refine, then calibrate*,
    2025, and their program probmetrics; Bröcker, *Quarterly Journal of the Royal Meteorological
    Society* 2009.
    """
    validation.choice(loss, "loss", allowed=("nll", "brier"))
    tried = calibrators or (OF_CLASSES if isinstance(rows, LogitSet) else OF_EVENTS)
    folds = deal_folds(rows, n_folds=n_folds, seed=seed)
    before = _scores(rows)
    losses = {}
    for key, calibrator in tried.items():
        after = np.empty_like(before)
        for fold in range(n_folds):
            inside = folds == fold
            after[inside] = _out_of_fold(calibrator, rows, ~inside, inside, key)
        losses[key] = _loss(rows, after, loss)
    whole = _loss(rows, before, loss)
    best = min(losses, key=losses.__getitem__, default="")
    if not best or losses[best] >= whole:
        return LossParts(whole, 0.0, whole, "", losses)
    return LossParts(whole, whole - losses[best], losses[best], best, losses)


def _scores(rows: EventScores | LogitSet) -> Floats:
    return rows.probabilities if isinstance(rows, LogitSet) else rows.scores


def _out_of_fold(
    calibrator: ScoreMap | VectorMap,
    rows: EventScores | LogitSet,
    others: Marks,
    inside: Marks,
    key: str,
) -> Floats:
    if isinstance(rows, LogitSet) and isinstance(calibrator, VectorMap):
        of_all: FittedVectorMap = calibrator.fit(rows.logits[others], rows.labels[others])
        return of_all.predict_proba(rows.logits[inside])
    if isinstance(rows, EventScores) and isinstance(calibrator, ScoreMap):
        of_one: FittedScoreMap = calibrator.fit(rows.scores[others], rows.hits[others])
        return of_one.predict(rows.scores[inside])
    wanted = "of all classes" if isinstance(rows, LogitSet) else "of one event"
    raise CalibrationInputError("calibrators", f"{key}: {type(calibrator).__name__}", wanted)


def _loss(rows: EventScores | LogitSet, scores: Floats, loss: Loss) -> float:
    if isinstance(rows, LogitSet):
        return (nll if loss == "nll" else brier)(scores, rows.labels)
    if loss == "brier":
        return event_brier(scores, rows.hits)
    return event_nll(scores, rows.hits, rows.rest if scores is rows.scores else None)
