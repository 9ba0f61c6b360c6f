"""The verdict that pages begin with: what is found of all rows, of subgroups and over time."""

from dashboard.compute.subgroups import find_drift, find_groups
from dashboard.scene import Scene
from dashboard.texts.advice import (
    drift_line,
    drifts,
)
from dashboard.texts.badges import FITTED, Badge, ranges_sentence
from dashboard.texts.subgroups import Groups, worst_lines
from dashboard.texts.verdict import findings


def groups_of(scene: Scene) -> Groups:
    """Return what is known of the subgroups of all groupings."""
    groups = find_groups(scene)
    words = scene.event_words
    return Groups(groups.before, groups.after, groups.name, words.prediction, _drifts(scene))


def _drifts(scene: Scene) -> tuple[bool, bool]:
    """Return whether scores drift over dates, before and after calibration."""
    drift = find_drift(scene)
    if drift is None:
        return False, False
    before = drifts(drift.before)
    return before, before if drift.after is None else drifts(drift.after)


def findings_of(scene: Scene) -> dict[str, Badge]:
    """Return the verdict of each side, on the whole and its subgroups, by its name."""
    return findings(scene.result, scene.evaluated, scene.event_words, groups_of(scene))


def ranges_by_side(scene: Scene) -> dict[str, str]:
    """Return at which scores each side is miscalibrated, where it is not fitted on these rows."""
    sides = {"Before": scene.evaluated.before, "After": scene.evaluated.after}
    return {
        name: ranges_sentence(sides[name])
        for name, finding in findings_of(scene).items()
        if finding is not FITTED
    }


def lines_of(scene: Scene) -> list[str]:
    """Return the worst subgroup on both sides, and the drift over dates if it is detected."""
    return [*worst_lines(groups_of(scene), expert=scene.expert), *_drift_lines(scene)]


def _drift_lines(scene: Scene) -> list[str]:
    drift = find_drift(scene)
    if drift is None or not drift.detected:
        return []
    groups, sides = groups_of(scene), (drift.before, drift.after)
    alone = any(
        drifts(side) and not groups.worst(after=after)
        for side, after in zip(sides, (False, True), strict=True)
    )
    by, shown = drift.slicing.by, drift.slicing.shown
    return [drift_line(by, shown, sides, expert=scene.expert, alone=alone)]
