"""What acting on a score comes to, computed once for each set and calibrator."""

from dataclasses import replace

import numpy as np

from calibcore.counted import weighted
from calibcore.data import EventScores
from calibcore.decisions import (
    AtCutoff,
    at_cutoff,
    at_cutoff_by_group,
)
from calibcore.inference.draws import tally_of
from calibcore.selective import (
    OutOfFoldAccuracy,
    RiskCoverage,
    group_accuracies,
    out_of_fold_accuracy,
    risk_coverage,
)
from calibcore.splits import usual_folds
from calibcore.weights import row_mean
from dashboard.compute.cache import key_of, once
from dashboard.compute.groupings import subgrouping_of, ways
from dashboard.compute.split import of_evaluated
from dashboard.compute.subgroups import find_groups, looks_like_ids, most_telling
from dashboard.scene import Scene
from dashboard.texts import verdict
from dashboard.texts.subgroups import PREDICTED, SCORES, TRUE
from dashboard.views.decisions.words import Selection


def usual_cutoff(event: EventScores) -> int:
    """Return the cut-off, in percent, until one is chosen: how often the event is."""
    rows, weights = weighted(event)
    return min(max(round(100 * row_mean(rows.hits, weights)), 1), 99)


def is_start(event: EventScores, cutoff: float, costs: tuple[float, float] | None) -> bool:
    """Return whether a cut-off is the one that nobody chose; costs that give it are a choice."""
    return costs is None and abs(100 * cutoff - usual_cutoff(event)) < 1e-9


def coverage_of(scene: Scene, event: EventScores) -> RiskCoverage:
    """Return the accuracy of what is kept, before or after."""
    before = event is scene.evaluated.before.event
    key = key_of(scene.upload, scene.settings), scene.chosen, before
    return once("coverages", key, lambda: risk_coverage(event))


def has_steps(scene: Scene) -> bool:
    """Return whether the fits by folds gave many rows of different scores the same one."""
    if scene.result.by_fold is None or scene.chosen != "test":
        return False

    before, after = scene.evaluated.before.counted, scene.evaluated.after.counted
    return 2 * after.scores.size < before.scores.size


def accuracy_elsewhere(
    scene: Scene, side: str, event: EventScores, wanted: float
) -> OutOfFoldAccuracy:
    """Return what a threshold for an accuracy holds on rows that had no part in its choice."""
    key = key_of(scene.upload, scene.settings), scene.chosen, side, wanted

    def make() -> OutOfFoldAccuracy:
        fold = usual_folds(event, seed=scene.settings.seed)
        return out_of_fold_accuracy(event, wanted, fold)

    return once("held accuracies", key, make)


def selections_of(scene: Scene, wanted: float) -> list[Selection]:
    """Return the threshold for an accuracy before and, where a calibrator is in use, after."""
    key = key_of(scene.upload, scene.settings), scene.chosen, wanted

    def make() -> list[Selection]:
        before, *after = (_selection(scene, *side, wanted) for side in events_of(scene).items())
        if after and after[0].at is not None:
            mistaken = at_cutoff(scene.evaluated.before.event, after[0].at.cutoff)
            before = replace(before, mistaken=mistaken)
        return [before, *after]

    return once("kept", key, make)


def events_of(scene: Scene) -> dict[str, EventScores]:
    """Return the scores before and, where a calibrator changed them, after."""
    return {name: side.event for name, side in verdict.named_sides(scene.evaluated).items()}


def _selection(scene: Scene, side: str, event: EventScores, wanted: float) -> Selection:
    curve, elsewhere = coverage_of(scene, event), accuracy_elsewhere(scene, side, event, wanted)
    place, subgroupings = curve.lowest_for(wanted), find_groups(scene).subgroupings
    if place is None:
        return Selection(curve, None, elsewhere)
    score = float(curve.score[place])
    places = [of_evaluated(scene, one.places[scene.chosen]) for one in subgroupings]
    groups = group_accuracies(event, score, wanted, places)
    names = tuple((one.by, one.shown) for one in subgroupings)
    return Selection(curve, at_cutoff(event, score), elsewhere, groups, names)


def threshold_coverage(sides: list[Selection]) -> float | None:
    """Return the share of the rows that the last side's threshold keeps."""
    at = sides[-1].at
    return None if at is None else at.called / at.n_samples


def as_many(event: EventScores, called: float) -> AtCutoff | None:
    """Return the cut-off by which other scores of the rows flag as many; None for none flagged."""
    if not called:
        return None
    counted = tally_of(event)
    flagged = np.cumsum(counted.counts[::-1])
    last = min(int(np.searchsorted(flagged, called - 1e-9)), flagged.size - 1)
    return at_cutoff(event, float(counted.scores[::-1][last]))


def groupings_of(scene: Scene) -> list[str]:
    """List what the table of subgroups can be by, what tells the most first."""
    offered = [
        by
        for by in ways(scene.upload)
        if by not in {TRUE, *SCORES} and not looks_like_ids(scene, by)
    ]
    first = most_telling(scene)
    return sorted(offered, key=lambda by: by != first)


def usual_grouping(offered: list[str]) -> str | None:
    """Return the grouping until one is chosen: no predicted class, which only repeats the score."""
    return None if offered[0] == PREDICTED else offered[0]


def by_group(
    scene: Scene, by: str, sides: list[EventScores], cutoff: float
) -> list[tuple[str, list[AtCutoff]]]:
    """Count calls in each subgroup that has rows, on each side; largest first.

    Names are text of the file.
    """
    subgrouping = subgrouping_of(scene.upload, scene.settings, by)
    places, n_groups = of_evaluated(scene, subgrouping.places[scene.chosen]), len(subgrouping.names)
    counted = [at_cutoff_by_group(side, cutoff, places, n_groups=n_groups) for side in sides]
    groups = [
        (name, [one for one in each if one is not None])
        for name, *each in zip(subgrouping.shown, *counted, strict=True)
    ]
    return sorted((one for one in groups if one[1]), key=lambda one: -one[1][0].n_samples)
