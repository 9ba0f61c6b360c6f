"""Drift over the periods of a column of dates, before and after calibration."""

from dataclasses import dataclass, replace

from calibcore.data import EventScores
from calibcore.inference import Drift, drift_test
from dashboard.compute.cache import key_of, once
from dashboard.compute.groups import find_groups
from dashboard.compute.slices import Slicing, of_evaluated
from dashboard.scene import Scene
from dashboard.wording.slice_names import BLANK
from dashboard.wording.verdicts import DETECTION_LEVEL


@dataclass(frozen=True, eq=False)
class FoundDrift:
    """The drift over one column of dates."""

    slicing: Slicing
    """Its periods."""
    before: Drift
    """Uncalibrated."""
    after: Drift | None
    """Calibrated; None where nothing was fitted."""

    @property
    def detected(self) -> bool:
        """Whether there is a drift on one side."""
        sides = self.before, self.after
        return any(one is not None and one.p_value < DETECTION_LEVEL for one in sides)


def find_drift(scene: Scene, by: str = "") -> FoundDrift | None:
    """Test one column of dates, or the one that drifts most; p-values count all of them."""
    key = key_of(scene.upload, replace(scene.settings, n_bins=15)), scene.chosen
    found = once("drift", key, lambda: _find(scene))
    chosen = [one for one in found if by in ("", one.slicing.by)]
    return min(chosen, key=lambda one: (not one.detected, one.before.p_value), default=None)


def _find(scene: Scene) -> list[FoundDrift]:
    evaluated = scene.evaluated
    dated = [one for one in find_groups(scene).slicings if one.in_time]

    def tested(event: EventScores, slicing: Slicing) -> Drift | None:
        periods = of_evaluated(scene, slicing.places[scene.chosen])
        n_periods = len(slicing.names) - (slicing.names[-1] == BLANK)
        found = drift_test(event.scores, event.hits, periods, n_periods=n_periods)
        return found and replace(found, p_value=min(found.p_value * len(dated), 1.0))

    found = []
    for one in dated:
        before = tested(evaluated.before.event, one)
        same = evaluated.after is evaluated.before
        after = None if same else tested(evaluated.after.event, one)
        if before is not None:
            found.append(FoundDrift(one, before, after))
    return found
