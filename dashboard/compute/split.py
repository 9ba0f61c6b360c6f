"""Both sets as they are fitted and evaluated: with groups, at a prevalence, filtered."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.calibrators import CATALOGUE, Method
from calibcore.calibrators.base import FittedVectorMap
from calibcore.counted import CountedScores
from calibcore.data import EventScores, LogitSet, Rows, with_groups
from calibcore.events import OneClass
from calibcore.prevalence import PriorShift, restated
from calibcore.splits import AnySplit, Split
from calibcore.subgroups import Places
from calibcore.validation import Labels
from dashboard.compute.cache import key_of, once
from dashboard.compute.files import plain_split
from dashboard.compute.groupings import (
    Subgrouping,
    groupings,
    split_alone,
    subgrouping_of,
    subgroupings_for,
)
from dashboard.readers import Upload
from dashboard.scene import EvaluatedPart, Scene
from dashboard.settings import NO_METHOD, SETS, SetChoice, Settings, Subgroup
from dashboard.texts.subgroups import (
    subgroup_name,
)

Mask = NDArray[np.bool_]


def methods_for(upload: Upload) -> list[Method]:
    """Return the methods that fit the data."""
    known = bool(groupings(upload))
    weighted = any(rows.weights is not None for rows in upload.sets.values())
    moved = upload.options.prevalence is not None and len(upload.class_names or ()) == 2
    return [
        method
        for method in CATALOGUE
        if (upload.class_names or method.acts_on == "event")
        and (known or not method.knows_groups)
        and (method.weighs or not (weighted or moved))
        and (method.acts_on == "event" or not moved)
    ]


def whole_split(upload: Upload, settings: Settings) -> AnySplit:
    """Return both sets, whatever part of them is evaluated, and the groups that are chosen.

    Where a prevalence is stated, of scores that are moved by it.
    """
    moved = restated_split(upload, settings)
    if moved is not None:
        return moved[0]
    plain = plain_split(upload, settings)
    subgroupings = subgroupings_for(upload, settings)
    if not subgroupings:
        return plain
    key = key_of(upload, split_alone(settings)), tuple(one.by for one in subgroupings)
    return once("grouped splits", key, lambda: grouped(plain, _side_by_side(subgroupings)))


def _side_by_side(subgroupings: Sequence[Subgrouping]) -> dict[SetChoice, Places]:
    """Return the group of each row of both sets, in each column."""
    return {name: np.stack([one.places[name] for one in subgroupings], axis=1) for name in SETS}


def restated_split(
    upload: Upload, settings: Settings
) -> tuple[Split[EventScores], PriorShift] | None:
    """Return both sets as a stated prevalence moves them; None where none of two classes is."""
    share, event = upload.options.prevalence, settings.event
    if share is None or len(upload.class_names or ()) != 2 or not isinstance(event, OneClass):
        return None
    share = share if event.k else 1 - share
    plain = plain_split(upload, settings)
    key = key_of(upload, replace(split_alone(settings), event=event))
    return once("restated", key, lambda: restated(plain, event, share))


def grouped(split: AnySplit, places: Mapping[SetChoice, Places]) -> AnySplit:
    """Tell of every row of both sets the groups it belongs to."""
    fit, evaluated = (places[name] for name in SETS)
    sets = with_groups(split.calibration, fit), with_groups(split.test, evaluated)
    return Split(*sets, split.same_data, split.fold)


# A filter of the rows ------------------------------------------------------------------------


def evaluated_rows(upload: Upload, settings: Settings, chosen: SetChoice) -> Mask | None:
    """Return which rows of a set are evaluated; None for all."""
    if settings.only is None:
        return None
    return _rows_of(subgrouping_of(upload, settings, settings.only.by), settings.only, chosen)


def _rows_of(subgrouping: Subgrouping, only: Subgroup, chosen: SetChoice) -> Mask:
    first, last = _ends(subgrouping, only)
    places = subgrouping.places[chosen]
    return np.asarray((places >= first) & (places <= last))


def _ends(subgrouping: Subgrouping, only: Subgroup) -> tuple[int, int]:
    """Return the first and the last subgroup that is kept: one, or a span of periods."""
    first = subgrouping.names.index(only.value)
    return first, subgrouping.names.index(only.until) if only.until else first


def part_of(upload: Upload, settings: Settings, chosen: SetChoice) -> EvaluatedPart | None:
    """Describe which rows of a set are evaluated; None for all."""
    mask = evaluated_rows(upload, settings, chosen)
    if settings.only is None or mask is None:
        return None
    subgrouping = subgrouping_of(upload, settings, settings.only.by)
    first, last = (subgrouping.shown[place] for place in _ends(subgrouping, settings.only))
    shown = first if first == last else f"{first} \u2013 {last}"
    whole = whole_split(upload, settings)
    rows = whole.test if chosen == "test" else whole.calibration
    return EvaluatedPart(
        subgroup_name(subgrouping.by, shown), _kept(rows, mask).n_samples, rows.n_samples
    )


def evaluated_split(upload: Upload, settings: Settings) -> AnySplit:
    """Return the rows of both sets that are evaluated."""
    whole, only = whole_split(upload, settings), settings.only
    if only is None:
        return whole
    subgrouping = subgrouping_of(upload, settings, only.by)
    key = key_of(upload, replace(settings.in_any_bins, method=NO_METHOD, options=()))
    return once("parts", key, lambda: _cut(whole, subgrouping, only))


def _cut(whole: AnySplit, subgrouping: Subgrouping, only: Subgroup) -> AnySplit:
    fitted, evaluated = (_rows_of(subgrouping, only, chosen) for chosen in SETS)
    calibration, test = _kept(whole.calibration, fitted), _kept(whole.test, evaluated)
    return Split(calibration, test, whole.same_data)


def _kept(rows: Rows, mask: Mask) -> Rows:
    return rows.part(mask) if isinstance(rows, CountedScores) else rows.rows(mask)


def split_of(upload: Upload, settings: Settings) -> AnySplit:
    """Return all calibration rows, to fit on, and the test rows to evaluate."""
    whole = whole_split(upload, settings)
    if settings.only is None:
        return whole
    return Split(whole.calibration, evaluated_split(upload, settings).test, whole.same_data)


# What belongs to the rows that are evaluated --------------------------------------------------


def of_evaluated(scene: Scene, values: NDArray[Any]) -> NDArray[Any]:
    """Select what belongs to the rows that are evaluated."""
    mask = evaluated_rows(scene.upload, scene.settings, scene.chosen)
    return values if mask is None else values[mask]


def predicted_classes(scene: Scene, *, calibrated: bool) -> Labels | None:
    """Return the class predicted for each row; None where there are no classes."""
    rows, fitted = scene.rows, scene.calibrated_by
    if not isinstance(rows, LogitSet):
        return None
    if calibrated and isinstance(fitted, FittedVectorMap):
        return np.asarray(fitted.predict_proba(rows.logits).argmax(axis=1))
    return np.asarray(rows.given.argmax(axis=1))
