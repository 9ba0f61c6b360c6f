"""What recommendations rest on: the subgroups, the drift over dates, and every class."""

from calibcore.inference import ClassScreen, Inference
from dashboard.compute.by_date import splits_by_date
from dashboard.compute.contest import usual
from dashboard.compute.contest_conclusion import Conclusion, recommendation_of
from dashboard.compute.contest_settings import group_of
from dashboard.compute.correction import find_correction
from dashboard.compute.drift import FoundDrift, find_drift
from dashboard.compute.groups import find_groups, is_of_two
from dashboard.compute.uncertainty import screen
from dashboard.scene import Scene
from dashboard.wording.correction import with_correction
from dashboard.wording.drift import drift_line, drift_step, drifts
from dashboard.wording.events import outcome_name
from dashboard.wording.groups import Groups, worst_lines
from dashboard.wording.next_steps import next_steps
from dashboard.wording.off_ranges import ranges_sentence
from dashboard.wording.sentences import FITTED, findings
from dashboard.wording.slice_names import BLANK
from dashboard.wording.step import Found, Step
from dashboard.wording.verdicts import DETECTION_LEVEL, Finding

QUICK = 4_000_000
"""Cells of the table that are evaluated unasked: they take a fifth of a second."""

BothScreens = tuple[ClassScreen, ClassScreen | None]


def worst_of(scene: Scene) -> Groups:
    """Return what is known of the subgroups of all groupings."""
    found = find_groups(scene)
    words = scene.event_words
    return Groups(found.before, found.after, found.name, words.prediction, _drifts(scene))


def _drifts(scene: Scene) -> tuple[bool, bool]:
    """Return whether scores drift over dates, before and after calibration."""
    found = find_drift(scene)
    if found is None:
        return False, False
    before = drifts(found.before)
    return before, before if found.after is None else drifts(found.after)


def findings_of(scene: Scene) -> dict[str, Finding]:
    """Return the verdict of each side, on the whole and its subgroups, by its name."""
    return findings(scene.result, scene.evaluated, scene.event_words, worst_of(scene))


def ranges_by_side(scene: Scene) -> dict[str, str]:
    """Return at which scores each side is miscalibrated, where it is not fitted on these rows."""
    sides = {"Before": scene.evaluated.before, "After": scene.evaluated.after}
    return {
        name: ranges_sentence(sides[name])
        for name, found in findings_of(scene).items()
        if found is not FITTED
    }


def lines_of(scene: Scene) -> list[str]:
    """Return the worst subgroup on both sides, and the drift over dates if it is detected."""
    return [*worst_lines(worst_of(scene), expert=scene.expert), *_drift_lines(scene)]


def _drift_lines(scene: Scene) -> list[str]:
    found = find_drift(scene)
    if found is None or not found.detected:
        return []
    groups, sides = worst_of(scene), (found.before, found.after)
    alone = any(
        drifts(side) and not groups.worst(after=after)
        for side, after in zip(sides, (False, True), strict=True)
    )
    by, shown = found.slicing.by, found.slicing.shown
    return [drift_line(by, shown, sides, expert=scene.expert, alone=alone)]


def advice_text(said: Conclusion) -> str:
    """Return why a calibrator is advised, or that none is."""
    return f"{said.why} {said.level}".strip() if said.advised else said.head


def advised_group(scene: Scene, said: Conclusion) -> str:
    """Return the column of the groups that the advised calibrator is told; empty for none."""
    return (group_of(scene, said.advised) or "") if said.advised else ""


def drift_step_of(scene: Scene, found: FoundDrift | None) -> Step | None:
    """Advise to look at recent rows where scores drift; not where these alone are shown."""
    only = scene.settings.only
    if found is None or not found.detected or (only is not None and only.by == found.slicing.by):
        return None
    one = found.before if found.before.p_value < DETECTION_LEVEL else found.after
    if one is None:
        raise AssertionError(found)
    slicing = found.slicing
    dated = [name for name in slicing.open_to_all if name != BLANK]
    since = slicing.names[one.since]
    if since not in dated:
        return None
    until = dated[-1] if dated[-1] != since else ""
    split_at = (slicing.by, since)
    offered = not scene.upload.options.split_at and split_at in splits_by_date(scene.upload)
    return drift_step(
        slicing.by, slicing.shown[one.since], (since, until), split_at if offered else ()
    )


def classes_of(scene: Scene) -> BothScreens | None:
    """Return the tests of every class where that is quick; None where one class mirrors another."""
    names = scene.class_names
    if names is None or scene.evaluated.n_samples * len(names) > QUICK:
        return None
    if is_of_two(scene):
        return None
    found = screen(scene)
    return None if found is None else (found.before, found.after)


def steps_of(
    scene: Scene,
    inference: Inference | None,
    classes: BothScreens | None,
    groups: Groups,
    *,
    compare: bool = True,
) -> list[Step]:
    """Return the advice, of which a calibrator that is to be tried first comes last.

    ``compare``: whether calibrators may be compared for it.
    """
    last = inference is not None or not scene.n_resamples
    # A calibrator that is not compared and leaves nothing to be detected is no worse than any.
    off = scene.evaluated.after.omnibus.p_value < DETECTION_LEVEL
    compared = off or scene.settings.method in usual(scene.upload)
    said = recommendation_of(scene) if compare and last and compared else None
    found = Found(
        scene.result,
        scene.evaluated,
        scene.settings.method,
        inference,
        classes,
        scene.settings.event,
        scene.class_names,
        scene.waiting,
        dict(scene.settings.options).get("constrained") is True,
        groups,
        outcome_name(scene.upload),
        *(("", "") if said is None else (said.advised, advice_text(said))),
        drift=drift_step_of(scene, find_drift(scene)),
        advised_group="" if said is None else advised_group(scene, said),
    )
    return with_correction(next_steps(found), find_correction(scene) if last else None)
