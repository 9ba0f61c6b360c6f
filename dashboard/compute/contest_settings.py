"""The settings with which calibrators take part in a comparison."""

from dataclasses import replace

from calibcore.calibrators import Switch
from calibcore.events import WithinTopR
from dashboard.compute.groups import most_telling
from dashboard.compute.slices import groupings
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, Settings, method_by_key, method_of, options_of


def settings_of(scene: Scene, key: str) -> Settings:
    """Return the settings with which a method takes part."""
    if key == scene.settings.method:
        return scene.settings
    if key == NO_METHOD:
        return replace(scene.settings, method=key, options=(), group=None)
    chosen = options_of(key)
    # Listed as the panel lists them, so that a method chosen there is not fitted once more.
    within = isinstance(scene.settings.event, WithinTopR)
    options = tuple(
        (option.name, chosen.get(option.name, option.default))
        for option in method_by_key(key).options
        if not (within and isinstance(option, Switch) and option.one_class)
    )
    return replace(
        scene.settings, method=method_of(key), options=options, group=group_of(scene, key)
    )


def group_of(scene: Scene, key: str) -> str | None:
    """Return the column by which a method is told groups: the one chosen, or the most telling."""
    if key == NO_METHOD or not method_by_key(key).knows_groups:
        return None
    offered, telling = groupings(scene.upload), most_telling(scene)
    return scene.settings.group or (telling if telling in offered else offered[0])
