"""Whether calibration by group would correct the worst subgroup."""

from dataclasses import replace

import numpy as np

from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult
from dashboard.compute.cache import key_of, once
from dashboard.compute.fits import run_audit
from dashboard.compute.groups import find_groups
from dashboard.compute.slices import groupings, of_evaluated
from dashboard.scene import Scene
from dashboard.settings import method_by_key
from dashboard.wording.correction import BY_GROUP, Corrected

_MOST_ROWS = 200_000
"""Up to so many rows the fit is made unasked; it takes a second."""


def find_correction(scene: Scene) -> Corrected | None:
    """Calibrate by the column of the worst subgroup, and look at that subgroup again.

    Returns None where no subgroup has a fault of its own, where its grouping is none that a
    calibrator can be told, and where the mean gap does not fall by half or the NLL rises.
    """
    looked_at = scene.chosen == "test" and not scene.result.same_data
    if not looked_at or scene.settings.method == BY_GROUP or scene.evaluated.n_samples > _MOST_ROWS:
        return None
    key = key_of(scene.upload, replace(scene.settings, n_bins=15))
    return once("corrections", key, lambda: _find(scene))


def _find(scene: Scene) -> Corrected | None:
    found = find_groups(scene)
    own = found.after.own()
    if not own.any():
        return None
    worst = int(np.argmax(np.where(own, np.abs(found.after.gap), -1.0)))
    by, name = found.name(found.after, worst)
    result = _calibrated_by(scene, by)
    if result is None or _raises_nll(result, scene.evaluated):
        return None
    slicing = found.slicings[int(found.after.grouping[worst])]
    mine = of_evaluated(scene, slicing.places[scene.chosen]) == found.after.place[worst]
    event = result.after.event
    corrected = float(event.scores[mine].mean() - event.hits[mine].mean())
    gap = float(found.after.gap[worst])
    helps = 2 * abs(corrected) <= abs(gap)
    return Corrected(by, name, int(mine.sum()), gap, corrected) if helps else None


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
