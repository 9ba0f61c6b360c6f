"""Subgroups of every grouping at once, before and after calibration."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibcore.counted import weighted
from calibcore.data import EventScores, LogitSet, is_designed
from calibcore.events import OneClass, TopR
from calibcore.inference import Drift, GroupGaps, drift_test, group_gaps
from calibcore.inference.draws import neighbours_joined
from calibcore.subgroups import (
    SubgroupScreen,
    SubgroupShares,
    joint_screen,
    screen_subgroups,
    subgroup_shares,
)
from calibcore.validation import Labels
from dashboard.compute.cache import key_of, once
from dashboard.compute.groupings import Subgrouping, subgrouping_of, ways
from dashboard.compute.split import of_evaluated, predicted_classes
from dashboard.scene import Scene
from dashboard.texts.advice import drifts
from dashboard.texts.subgroups import BLANK, PREDICTED, SCORES, Groups

_DIFFERENT = 0.95
"""Share of rows with a value of their own from which whole numbers are taken for ids."""


@dataclass(frozen=True, eq=False)
class DriftResults:
    """The drift over one column of dates."""

    subgrouping: Subgrouping
    """Its periods."""
    before: Drift
    """Uncalibrated."""
    after: Drift | None
    """Calibrated; None where nothing was fitted."""

    @property
    def sides(self) -> tuple[bool, bool]:
        """Whether there is a drift before, and after calibration, if there is an after."""
        before = drifts(self.before)
        return before, before if self.after is None else drifts(self.after)

    @property
    def detected(self) -> bool:
        """Whether there is a drift on one side."""
        return any(self.sides)


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupResults(Groups):
    """The subgroups of every grouping that was made without the outcomes, jointly tested."""

    subgroupings: tuple[Subgrouping, ...]
    """The groupings."""
    drift: Sequence[DriftResults]
    """Over each column of dates; p-values count all of them."""


def find_groups(scene: Scene) -> GroupResults:
    """Test the subgroups of all columns, and of predicted classes that are no ranges of scores."""
    key = key_of(scene.upload, scene.settings.in_any_bins), scene.chosen
    return once("groups", key, lambda: _find(scene))


def _find(scene: Scene) -> GroupResults:
    ranges = {*SCORES, PREDICTED} if is_of_two(scene) else SCORES
    all_subgroupings = [
        subgrouping_of(scene.upload, scene.settings, by)
        for by in ways(scene.upload)
        if by not in ranges
    ]
    subgroupings = tuple(
        one for one in all_subgroupings if one.fair and not looks_like_ids(scene, one.by)
    )
    places = [of_evaluated(scene, one.places[scene.chosen]) for one in subgroupings]

    def tested(event: EventScores) -> GroupGaps:
        rows, weights, some = neighbours_joined(event)
        return group_gaps(
            rows.scores,
            rows.hits,
            [of[some] for of in places],
            sample_weight=weights,
            clusters=rows.clusters,
        )

    evaluated = scene.evaluated
    before = tested(evaluated.before.event)
    after = tested(evaluated.after.event).since(before) if evaluated.calibrated else before

    def name(gaps: GroupGaps, k: int) -> tuple[str, str]:
        subgrouping = subgroupings[int(gaps.grouping[k])]
        return subgrouping.by, subgrouping.shown[int(gaps.place[k])]

    drift = _drift_over(scene, [one for one in subgroupings if one.in_time])
    most = _most_drifting(drift)
    return GroupResults(
        before,
        after,
        name,
        scene.event_words.prediction,
        (False, False) if most is None else most.sides,
        subgroupings=subgroupings,
        drift=drift,
    )


def is_of_two(scene: Scene) -> bool:
    """Return whether scores are of one of two classes: the other's, and the prediction, mirror it.

    Rows predicted to be the class are then those with a score above one half.
    """
    names = scene.class_names
    return names is not None and len(names) == 2 and isinstance(scene.settings.event, OneClass)


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
    """Return what to group rows by first: as the worst subgroup is, else as the likeliest is.

    One that has a fault of its own comes before others: a predicted class often has that of scores.
    Empty where there is none, as of a summary without groups.
    """
    groups, offered = find_groups(scene), ways(scene.upload)
    side = groups.after if groups.before.worst() is None else groups.before
    for chosen in (side.own(), side.off()):
        if chosen.any():
            return groups.name(side, int(np.argmax(np.where(chosen, np.abs(side.gap), -1.0))))[0]
    if side.n_groups:
        return groups.name(side, int(np.argmin(side.adjusted)))[0]
    return next((by for by in offered if not looks_like_ids(scene, by)), "".join(offered[:1]))


def worst_grouping(scene: Scene) -> str:
    """Return the grouping of the worst subgroup after calibration, which the Overview names."""
    groups = find_groups(scene)
    worst = groups.after.worst()
    return most_telling(scene) if worst is None else groups.name(groups.after, worst)[0]


# What the page shows -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SubgroupResults:
    """Every subgroup of the chosen set."""

    subgrouping: Subgrouping
    """How the rows are grouped."""
    before: SubgroupScreen
    """Uncalibrated; a `JointScreen` where the groups are among those of `find_groups`."""
    after: SubgroupScreen
    """Calibrated; the same object where nothing was fitted."""
    right: SubgroupShares | None
    right_after: SubgroupShares | None
    """Accuracy; None where it is not known."""


def find_subgroups(scene: Scene, by: str) -> SubgroupResults:
    """Evaluate every subgroup of the chosen set."""
    key = key_of(scene.upload, scene.settings.in_any_bins), scene.chosen, by
    return once("subgroups", key, lambda: _find_subgroups(scene, by))


def _find_subgroups(scene: Scene, by: str) -> SubgroupResults:
    subgrouping, evaluated = subgrouping_of(scene.upload, scene.settings, by), scene.evaluated
    groups = find_groups(scene)
    places = of_evaluated(scene, subgrouping.places[scene.chosen])
    n_subgroups = len(subgrouping.names)

    def screened(
        event: EventScores, gaps: GroupGaps, before: SubgroupScreen | None = None
    ) -> SubgroupScreen:
        rows, weights, some = neighbours_joined(event)
        alone = screen_subgroups(
            rows.scores, rows.hits, places[some], n_subgroups=n_subgroups,
            evaluate=subgrouping.fair, sample_weight=weights, clusters=rows.clusters,
        )  # fmt: skip
        if before is not None:
            alone = alone.since(before)
        known = [one.by for one in groups.subgroupings]
        return joint_screen(alone, gaps, known.index(by)) if by in known else alone

    def share(flags: NDArray[np.bool_] | None) -> SubgroupShares | None:
        if flags is None:
            return None
        rows = scene.rows
        return subgroup_shares(
            flags,
            places,
            n_subgroups=n_subgroups,
            sample_weight=rows.weights,
            clusters=rows.clusters,
        )

    before = screened(evaluated.before.event, groups.before)
    after = before
    if evaluated.calibrated:
        after = screened(evaluated.after.event, groups.after, before)
    predictions = [predicted_classes(scene, calibrated=calibrated) for calibrated in (False, True)]
    right, right_after = (share(_right(scene, classes)) for classes in predictions)
    return SubgroupResults(subgrouping, before, after, right, right_after)


def _right(scene: Scene, values: Labels | None) -> NDArray[np.bool_] | None:
    if values is not None and isinstance(scene.rows, LogitSet):
        return np.asarray(values == scene.rows.labels)
    if scene.settings.event == TopR(1):
        return scene.evaluated.before.event.hits.astype(np.bool_)
    return None


def find_drift(scene: Scene, by: str = "") -> DriftResults | None:
    """Return the drift over one column of dates, or over the one that drifts most."""
    drift = find_groups(scene).drift
    return _most_drifting([one for one in drift if by in ("", one.subgrouping.by)])


def _most_drifting(drift: Sequence[DriftResults]) -> DriftResults | None:
    return min(drift, key=lambda one: (not one.detected, one.before.p_value), default=None)


def _drift_over(scene: Scene, dated: Sequence[Subgrouping]) -> list[DriftResults]:
    evaluated = scene.evaluated
    if is_designed(scene.rows):  # `drift_test` is of rows drawn one by one
        return []

    def tested(event: EventScores, subgrouping: Subgrouping) -> Drift | None:
        periods = of_evaluated(scene, subgrouping.places[scene.chosen])
        n_periods = len(subgrouping.names) - (subgrouping.names[-1] == BLANK)
        rows, weights = weighted(event)
        test = drift_test(
            rows.scores, rows.hits, periods, n_periods=n_periods, sample_weight=weights
        )
        return test and replace(test, p_value=min(test.p_value * len(dated), 1.0))

    results = []
    for one in dated:
        before = tested(evaluated.before.event, one)
        after = tested(evaluated.after.event, one) if evaluated.calibrated else None
        if before is not None:
            results.append(DriftResults(one, before, after))
    return results
