"""Subgroups of every grouping at once, before and after calibration."""

from dataclasses import dataclass, replace

import numpy as np

from calibcore.data import EventScores
from calibcore.inference import GroupGaps, group_gaps
from dashboard.compute.cache import key_of, once
from dashboard.compute.slices import Slicing, of_evaluated, slicing_of, ways
from dashboard.scene import Scene
from dashboard.wording.slice_names import SCORES

_DIFFERENT = 0.95
"""Share of rows with a value of their own from which whole numbers are taken for ids."""


@dataclass(frozen=True, eq=False)
class FoundGroups:
    """The subgroups of every grouping that was made without the outcomes, jointly tested.

    Parameters
    ----------
    slicings : tuple of Slicing
        The groupings.
    before : GroupGaps
        Uncalibrated.
    after : GroupGaps
        Calibrated; the same object where nothing was fitted.
    """

    slicings: tuple[Slicing, ...]
    before: GroupGaps
    after: GroupGaps

    def name(self, found: GroupGaps, k: int) -> tuple[str, str]:
        """Return what a subgroup is grouped by, and its name; text of the file."""
        slicing = self.slicings[int(found.grouping[k])]
        return slicing.by, slicing.shown[int(found.place[k])]


def find_groups(scene: Scene) -> FoundGroups:
    """Test the subgroups of all columns and of the predicted class."""
    key = key_of(scene.upload, replace(scene.settings, n_bins=15)), scene.chosen
    return once("groups", key, lambda: _find(scene))


def _find(scene: Scene) -> FoundGroups:
    found = [
        slicing_of(scene.upload, scene.settings, by)
        for by in ways(scene.upload)
        if by not in SCORES
    ]
    kept = tuple(one for one in found if one.fair and not looks_like_ids(scene, one.by))
    places = [of_evaluated(scene, one.places[scene.chosen]) for one in kept]

    def tested(event: EventScores) -> GroupGaps:
        return group_gaps(event.scores, event.hits, places)

    evaluated = scene.evaluated
    before = tested(evaluated.before.event)
    same = evaluated.after is evaluated.before
    return FoundGroups(kept, before, before if same else tested(evaluated.after.event))


def looks_like_ids(scene: Scene, by: str) -> bool:
    """Return whether a column holds whole numbers of which nearly every row has its own."""
    columns = next(iter(scene.upload.columns.values()), {})
    column = columns.get(by)
    if column is None or column.categories is not None:
        return False
    values = column.values[~np.isnan(column.values.astype(np.float64))]
    whole = values.size > 0 and bool((values == np.rint(values)).all())
    return whole and np.unique(values).size >= _DIFFERENT * values.size


def most_telling(scene: Scene) -> str:
    """Return what to group rows by first: as the worst subgroup is, else as the likeliest is."""
    found, offered = find_groups(scene), ways(scene.upload)
    side = found.after if found.before.worst() is None else found.before
    worst = side.worst()
    if worst is None and side.n_groups:
        worst = int(np.argmin(side.adjusted))
    if worst is not None:
        return found.name(side, worst)[0]
    return next((by for by in offered if not looks_like_ids(scene, by)), offered[0])
