"""What acting on predictions keeps, once for each set and calibrator."""

from dataclasses import replace

import numpy as np

from calibcore.data import EventScores
from calibcore.decisions import AtCutoff, at_cutoff, at_cutoff_by_group
from calibcore.selective import (
    HeldAccuracy,
    RiskCoverage,
    held_accuracy,
    kept_groups,
    risk_coverage,
)
from calibcore.splits import deal_folds
from dashboard.compute.cache import key_of, once
from dashboard.compute.groups import find_groups, looks_like_ids, most_telling
from dashboard.compute.slices import of_evaluated, slicing_of, ways
from dashboard.readers.upload import N_FOLDS
from dashboard.scene import Scene
from dashboard.wording import acting
from dashboard.wording.acting import Kept
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


def kept_of(scene: Scene, wanted: float) -> list[Kept]:
    """Return the threshold for an accuracy before and, where a calibrator is in use, after."""
    key = key_of(scene.upload, scene.settings), scene.chosen, wanted

    def make() -> list[Kept]:
        before, *after = (_kept(scene, *side, wanted) for side in sides_of(scene).items())
        if after and after[0].at is not None:
            mistaken = at_cutoff(scene.evaluated.before.event, after[0].at.cutoff)
            before = replace(before, mistaken=mistaken)
        return [before, *after]

    return once("kept", key, make)


def sides_of(scene: Scene) -> dict[str, EventScores]:
    """Return the scores before and, where a calibrator changed them, after."""
    before, after = scene.evaluated.before, scene.evaluated.after
    sides = {"Before": before.event}
    return sides if after is before else {**sides, "After": after.event}


def _kept(scene: Scene, side: str, event: EventScores, wanted: float) -> Kept:
    curve, held = coverage_of(scene, event), held_of(scene, side, event, wanted)
    place, slicings = curve.lowest_for(wanted), find_groups(scene).slicings
    if place is None:
        return Kept(curve, None, held)
    score = float(curve.score[place])
    places = [of_evaluated(scene, one.places[scene.chosen]) for one in slicings]
    groups = kept_groups(event, score, wanted, places)
    names = tuple((one.by, one.shown) for one in slicings)
    return Kept(curve, at_cutoff(event, score), held, groups, names)


def share_kept(sides: list[Kept]) -> float | None:
    """Return the share of the rows that the last side's threshold keeps."""
    at = sides[-1].at
    return None if at is None else at.called / at.n_samples


def cutoff_lines(
    scene: Scene, found: list[AtCutoff], costs: tuple[float, float] | None
) -> list[str]:
    """Return the same cut-off in the file's own scores, and what acting costs, for Markdown."""
    sides, lines = sides_of(scene), []
    if costs is not None:
        lines.append(acting.cost_sentence(dict(zip(sides, found, strict=True)), costs))
    own = as_many(sides["Before"], found[-1].called) if "After" in sides else None
    if own is not None:
        lines.append(acting.as_many_sentence(own, scene.event_words.name))
    return lines


def as_many(event: EventScores, called: int) -> AtCutoff | None:
    """Return the cut-off by which other scores of the rows call as many; None for none called."""
    return at_cutoff(event, float(np.sort(event.scores)[-called])) if called else None


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
