"""What is recommended: findings, worst subgroups, calibration by group, a calibrator, drift."""

from dataclasses import replace

import numpy as np

from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult
from calibcore.inference import ClassScreen, Inference
from calibcore.verdict import DETECTION_LEVEL, detected
from calibcore.weights import row_mean
from dashboard.compute.cache import key_of, once
from dashboard.compute.comparison import Conclusion, group_of, recommendation_of, usual
from dashboard.compute.fits import run_audit
from dashboard.compute.groupings import groupings
from dashboard.compute.periods import splits_by_date
from dashboard.compute.split import of_evaluated
from dashboard.compute.subgroups import DriftResults, find_drift, find_groups, is_of_two
from dashboard.compute.uncertainty import closer_look, measures_of, screen
from dashboard.scene import Scene
from dashboard.settings import method_by_key
from dashboard.texts.advice import (
    BY_GROUP,
    Evidence,
    GroupCorrection,
    Step,
    drift_step,
    next_steps,
    with_correction,
)
from dashboard.texts.events import outcome_name
from dashboard.texts.subgroups import BLANK

_MOST_ROWS = 200_000
"""Up to so many rows the fit is made unasked; it takes a second."""


def find_correction(scene: Scene) -> GroupCorrection | None:
    """Calibrate by the column of the worst subgroup, and look at that subgroup again.

    Returns None where no subgroup has a fault of its own, where its grouping is none that a
    calibrator can be told, and where the mean gap does not fall by half or the NLL rises.
    """
    looked_at = scene.chosen == "test" and not scene.result.same_data
    if not looked_at or scene.settings.method == BY_GROUP or scene.evaluated.n_samples > _MOST_ROWS:
        return None
    key = key_of(scene.upload, scene.settings.in_any_bins)
    return once("corrections", key, lambda: _find(scene))


def _find(scene: Scene) -> GroupCorrection | None:
    groups = find_groups(scene)
    own = groups.after.own()
    if not own.any():
        return None
    worst = int(np.argmax(np.where(own, np.abs(groups.after.gap), -1.0)))
    by, name = groups.name(groups.after, worst)
    result = _calibrated_by(scene, by)
    if result is None or _raises_nll(result, scene.evaluated):
        return None
    subgrouping = groups.subgroupings[int(groups.after.grouping[worst])]
    mine = of_evaluated(scene, subgrouping.places[scene.chosen]) == groups.after.place[worst]
    event = result.after.event
    part = event.rows(mine)
    corrected = row_mean(part.scores - part.hits, part.weights)
    gap = float(groups.after.gap[worst])
    helps = 2 * abs(corrected) <= abs(gap)
    return GroupCorrection(by, name, int(mine.sum()), gap, corrected) if helps else None


def _calibrated_by(scene: Scene, by: str) -> SetResult | None:
    if by not in groupings(scene.upload):
        return None
    options = tuple((option.name, option.default) for option in method_by_key(BY_GROUP).options)
    settings = replace(scene.settings, method=BY_GROUP, options=options, group=by)
    try:
        return run_audit(scene.upload, settings, lambda _: None).test
    except CalibrationInputError:  # it cannot be fitted to these rows, so there is no advice
        return None


def _raises_nll(result: SetResult, than: SetResult) -> bool:
    new, old = (one.compare("event_nll").after for one in (result, than))
    return new is not None and old is not None and new > old


QUICK = 4_000_000
"""Cells of the table that are evaluated unasked: they take a fifth of a second."""

BothScreens = tuple[ClassScreen, ClassScreen | None]


def advice_text(conclusion: Conclusion) -> str:
    """Return why a calibrator is advised, or that none is."""
    return f"{conclusion.why} {conclusion.level}".strip() if conclusion.advised else conclusion.head


def advised_group(scene: Scene, conclusion: Conclusion) -> str:
    """Return the column of the groups that the advised calibrator is told; empty for none."""
    return (group_of(scene, conclusion.advised) or "") if conclusion.advised else ""


def drift_step_of(scene: Scene, results: DriftResults | None) -> Step | None:
    """Advise to look at recent rows where scores drift; not where these alone are shown."""
    only = scene.settings.only
    if (
        results is None
        or not results.detected
        or (only is not None and only.by == results.subgrouping.by)
    ):
        return None
    one = results.before if results.before.p_value < DETECTION_LEVEL else results.after
    if one is None:
        raise AssertionError(results)
    subgrouping = results.subgrouping
    dated = [name for name in subgrouping.open_to_all if name != BLANK]
    since = subgrouping.names[one.since]
    if since not in dated:
        return None
    until = dated[-1] if dated[-1] != since else ""
    split_at = (subgrouping.by, since)
    offered = not scene.upload.options.split_at and split_at in splits_by_date(scene.upload)
    return drift_step(
        subgrouping.by, subgrouping.shown[one.since], (since, until), split_at if offered else ()
    )


def classes_of(scene: Scene) -> BothScreens | None:
    """Return the tests of every class where that is quick; None where one class mirrors another."""
    names = scene.class_names
    if names is None or scene.evaluated.n_samples * len(names) > QUICK:
        return None
    if is_of_two(scene):
        return None
    screening = screen(scene)
    return None if screening is None else (screening.before, screening.after)


def steps_of(
    scene: Scene, inference: Inference | None, classes: BothScreens | None, *, compare: bool = True
) -> list[Step]:
    """Return the advice, of which a calibrator that is to be tried first comes last.

    ``compare``: whether calibrators may be compared for it.
    """
    last = inference is not None or not scene.n_resamples
    # A calibrator that is not compared and leaves nothing to be detected is no worse than any.
    compared = detected(scene.evaluated.after) or scene.settings.method in usual(scene.upload)
    recommendation = recommendation_of(scene) if compare and last and compared else None
    evidence = Evidence(
        scene.result,
        scene.evaluated,
        scene.settings.method,
        inference,
        classes,
        scene.settings.event,
        scene.class_names,
        scene.waiting,
        dict(scene.settings.options).get("constrained") is True,
        find_groups(scene),
        outcome_name(scene.upload),
        *(
            ("", "")
            if recommendation is None
            else (recommendation.advised, advice_text(recommendation))
        ),
        drift=drift_step_of(scene, find_drift(scene)),
        advised_group="" if recommendation is None else advised_group(scene, recommendation),
    )
    return with_correction(next_steps(evidence), find_correction(scene) if last else None)


def first_step(scene: Scene) -> Step:
    """Return what the first page recommends first, when all that it rests on is known."""
    inference = None
    if scene.n_resamples:
        inference = closer_look(scene, measures_of(scene, full=False), lambda _: None)
    return steps_of(scene, inference, classes_of(scene))[0]
