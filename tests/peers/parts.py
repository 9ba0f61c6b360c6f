"""What probmetrics finds of losses and an error in two parts, by scikit-learn's fits in folds."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch
from probmetrics.distributions import CategoricalDirac, CategoricalProbs
from probmetrics.metrics import (
    BrierLoss,
    LogLoss,
    MetricsWithCalibration,
    OverConfidenceLoss,
    ProperLpLoss,
    UnderConfidenceLoss,
)
from probmetrics.splitters import Splitter
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from calibcore import EventScores
from calibcore.splits import deal_folds
from calibcore.validation import Floats
from tests.peers.cases import Case, log_odds
from tests.peers.figures import Figure

CONVENTION = "L1 of both classes, halved; scikit-learn's isotonic regression in 5 folds; centre 1/2"
BRIER = "of both classes, halved; scikit-learn's isotonic regression in 5 folds"
NLL = "scikit-learn's LogisticRegression(C=inf) on the log-odds in 5 folds"


def figures(case: Case) -> Iterator[Figure]:
    """Give both parts of the losses and of the error of both events."""
    for suffix, events in case.events.items():
        brier = _loss_parts(events, BrierLoss(), _Curve())
        halves = {part: value / 2 for part, value in brier.items()}
        yield Figure(f"Brier parts{suffix}", "probmetrics", BRIER, {**halves})
        nll = _loss_parts(events, LogLoss(), _Logistic())
        yield Figure(f"NLL parts{suffix}", "probmetrics", NLL, {**nll})
        curve = _curve(events)
        over = _gain(OverConfidenceLoss, events, curve)
        under = _gain(UnderConfidenceLoss, events, curve)
        values = {"over": over, "under": under, "net": over - under}
        figure = Figure("L1 parts", "probmetrics", CONVENTION, {**values})
        yield replace(figure, job=f"L1 parts{suffix}")


def _curve(events: EventScores) -> Floats:
    """Give each row the height of a curve that was fitted to the other folds."""
    folds, after = deal_folds(events), np.empty(events.n_samples)
    for fold in range(5):
        seen = folds != fold
        curve = IsotonicRegression(out_of_bounds="clip")
        curve.fit(events.scores[seen], events.hits[seen])
        after[~seen] = curve.predict(events.scores[~seen])
    return after


def _gain(
    kind: type[OverConfidenceLoss | UnderConfidenceLoss], events: EventScores, curve: Floats
) -> float:
    """Give how much the loss falls from the scores to the curve."""
    truth = CategoricalDirac(torch.from_numpy(events.hits.astype(np.int64)), n_classes=2)
    given, moved = (CategoricalProbs(torch.from_numpy(one)) for one in (events.scores, curve))
    loss = kind(ProperLpLoss(p=1, binary_as_multiclass=True))
    before, after = (loss.compute(truth, one, f_x=given) for one in (given, moved))
    return float(before - after) / 2


class _Folds(Splitter):  # type: ignore[misc]
    """The folds of calibcore, as probmetrics wants them."""

    def __init__(self, events: EventScores) -> None:
        self.folds = deal_folds(events)

    def get_splits(self, y_true: Any, random_state: int | None = None) -> list[tuple[Any, Any]]:
        del y_true, random_state
        return [
            (np.flatnonzero(self.folds != k), np.flatnonzero(self.folds == k)) for k in range(5)
        ]

    def get_name(self) -> str:
        return "folds"


class _Curve(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn's isotonic regression, from both probabilities to both."""

    def fit(self, probabilities: Floats, labels: Any) -> Self:
        self.fitted_ = IsotonicRegression(out_of_bounds="clip").fit(probabilities[:, 1], labels)
        return self

    def predict_proba(self, probabilities: Floats) -> Floats:
        after = self.fitted_.predict(probabilities[:, 1])
        return np.stack([1 - after, after], axis=1)


class _Logistic(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn's logistic regression on the log-odds, as precise as it gets."""

    def fit(self, probabilities: Floats, labels: Any) -> Self:
        model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
        self.fitted_ = model.fit(log_odds(probabilities[:, 1:]), labels)
        return self

    def predict_proba(self, probabilities: Floats) -> Floats:
        return np.asarray(self.fitted_.predict_proba(log_odds(probabilities[:, 1:])))


def _loss_parts(events: EventScores, loss: Any, calibrator: Any) -> dict[str, float]:
    """Give the calibration and the refinement of a loss."""
    parts = MetricsWithCalibration(loss, calibrator, _Folds(events), cal_name="fit")
    truth = CategoricalDirac(torch.from_numpy(events.hits.astype(np.int64)), n_classes=2)
    given = CategoricalProbs(torch.from_numpy(np.stack([1 - events.scores, events.scores], axis=1)))
    values = parts.compute_all(truth, given)
    of = f"{loss.get_name()}_fit_folds"
    return {
        "calibration": float(values[f"calib-err_{of}"]),
        "refinement": float(values[f"refinement_{of}"]),
    }
