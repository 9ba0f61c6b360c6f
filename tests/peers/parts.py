"""What probmetrics finds of over- and underconfidence, with scikit-learn's curves in folds."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from probmetrics.distributions import CategoricalDirac, CategoricalProbs
from probmetrics.metrics import OverConfidenceLoss, ProperLpLoss, UnderConfidenceLoss
from sklearn.isotonic import IsotonicRegression

from calibcore import EventScores
from calibcore.splits import deal_folds
from calibcore.validation import Floats
from tests.peers.cases import Case
from tests.peers.figures import Figure

CONVENTION = "L1 of both classes, halved; scikit-learn's isotonic regression in 5 folds; centre 1/2"


def figures(case: Case) -> Iterator[Figure]:
    """Give both parts of the error of both events, and their difference."""
    for suffix, events in case.events.items():
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
