"""The figures of a report for programs: the verdict and the measures, beside the layout."""

import math
from dataclasses import asdict
from typing import Any

from calibcore.frames import measures_frame
from calibcore.inference import Inference
from calibcore.verdict import Verdict, group_verdicts, side_verdict
from dashboard.compute.subgroups import find_groups
from dashboard.compute.verdict import badges_of
from dashboard.scene import Scene
from dashboard.texts.badges import FITTED


def facts_of(scene: Scene, inference: Inference | None) -> dict[str, Any]:
    """Return the verdict of each side and a flat object a measure; see ``report.schema.json``."""
    frame = measures_frame(scene.evaluated, inference).reset_index()
    facts = {"verdict": asdict(_verdict(scene)), "measures": frame.to_dict("records")}
    plain: dict[str, Any] = _without_nan(facts)
    return plain


def _verdict(scene: Scene) -> Verdict:
    """Return what a side comes to; not of one that is looked at on the rows of its fit."""
    evaluated, groups = scene.evaluated, find_groups(scene)
    before = side_verdict(evaluated.before)
    off = group_verdicts(groups.before, groups.name)
    if not evaluated.calibrated or badges_of(scene)["After"] is FITTED:
        return Verdict(before, None, off)
    after = side_verdict(evaluated.after, evaluated.before)
    return Verdict(before, after, off, group_verdicts(groups.after, groups.name))


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
