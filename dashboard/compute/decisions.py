"""What acting on predictions keeps, once for each set and calibrator."""

from calibcore.data import EventScores
from calibcore.decisions import HeldAccuracy, RiskCoverage, held_accuracy, risk_coverage
from calibcore.splits import deal_folds
from dashboard.compute.cache import key_of, once
from dashboard.readers.upload import N_FOLDS
from dashboard.scene import Scene


def coverage_of(scene: Scene, event: EventScores) -> RiskCoverage:
    """Return the accuracy of what is kept, before or after."""
    before = event is scene.evaluated.before.event
    key = key_of(scene.upload, scene.settings), scene.chosen, before
    return once("coverages", key, lambda: risk_coverage(event))


def held_of(scene: Scene, side: str, event: EventScores, wanted: float) -> HeldAccuracy:
    """Return what a threshold for an accuracy holds on rows that had no part in its choice."""
    key = key_of(scene.upload, scene.settings), scene.chosen, side, wanted

    def make() -> HeldAccuracy:
        n_folds = min(N_FOLDS, event.n_samples)
        fold = deal_folds(event, n_folds=n_folds, seed=scene.settings.seed)
        return held_accuracy(event, wanted, fold)

    return once("held accuracies", key, make)
