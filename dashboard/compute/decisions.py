"""What acting on predictions keeps, once for each set and calibrator."""

import numpy as np

from calibcore.data import EventScores
from calibcore.decisions import AtCutoff, at_cutoff_by_group
from calibcore.selective import HeldAccuracy, RiskCoverage, held_accuracy, risk_coverage
from calibcore.splits import deal_folds
from dashboard.compute.cache import key_of, once
from dashboard.compute.groups import looks_like_ids, most_telling
from dashboard.compute.slices import of_evaluated, slicing_of, ways
from dashboard.readers.upload import N_FOLDS
from dashboard.scene import Scene
from dashboard.wording.slice_names import SCORES, TRUE


def usual_cutoff(event: EventScores) -> int:
    """Return the cut-off, in percent, until one is chosen: how often the event is."""
    return min(max(round(100 * float(event.hits.mean())), 1), 99)


def is_usual(event: EventScores, cutoff: float) -> bool:
    """Return whether a cut-off is the one that nobody chose."""
    return abs(100 * cutoff - usual_cutoff(event)) < 1e-9


def coverage_of(scene: Scene, event: EventScores) -> RiskCoverage:
    """Return the accuracy of what is kept, before or after."""
    before = event is scene.evaluated.before.event
    key = key_of(scene.upload, scene.settings), scene.chosen, before
    return once("coverages", key, lambda: risk_coverage(event))


def has_steps(scene: Scene) -> bool:
    """Return whether the fits by folds gave many rows of different scores the same one."""
    if scene.result.crossed is None or scene.chosen != "test":
        return False

    def make() -> bool:
        before, after = scene.evaluated.before.event, scene.evaluated.after.event
        return 2 * np.unique(after.scores).size < np.unique(before.scores).size

    return once("steps", (key_of(scene.upload, scene.settings), scene.chosen), make)


def held_of(scene: Scene, side: str, event: EventScores, wanted: float) -> HeldAccuracy:
    """Return what a threshold for an accuracy holds on rows that had no part in its choice."""
    key = key_of(scene.upload, scene.settings), scene.chosen, side, wanted

    def make() -> HeldAccuracy:
        n_folds = min(N_FOLDS, event.n_samples)
        fold = deal_folds(event, n_folds=n_folds, seed=scene.settings.seed)
        return held_accuracy(event, wanted, fold)

    return once("held accuracies", key, make)


def groupings_of(scene: Scene) -> list[str]:
    """List what the table of subgroups can be by, what tells the most first."""
    offered = [
        by
        for by in ways(scene.upload)
        if by not in {TRUE, *SCORES} and not looks_like_ids(scene, by)
    ]
    first = most_telling(scene)
    return sorted(offered, key=lambda by: by != first)


def by_group(
    scene: Scene, by: str, sides: list[EventScores], cutoff: float
) -> list[tuple[str, list[AtCutoff]]]:
    """Count calls in each subgroup that has rows, on each side; largest first.

    Names are text of the file.
    """
    slicing = slicing_of(scene.upload, scene.settings, by)
    places, n_groups = of_evaluated(scene, slicing.places[scene.chosen]), len(slicing.names)
    counted = [at_cutoff_by_group(side, cutoff, places, n_groups=n_groups) for side in sides]
    found = [
        (name, [one for one in each if one is not None])
        for name, *each in zip(slicing.shown, *counted, strict=True)
    ]
    return sorted((one for one in found if one[1]), key=lambda one: -one[1][0].n_samples)
