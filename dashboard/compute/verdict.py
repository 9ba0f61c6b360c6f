"""The verdict that pages begin with: what is found of all rows, of subgroups and over time."""

from collections.abc import Sequence

from dashboard.compute.subgroups import find_drift, find_groups
from dashboard.document.blocks import Sentences
from dashboard.scene import Scene
from dashboard.texts.advice import drift_line
from dashboard.texts.badges import Badge
from dashboard.texts.numbers import escape_markdown
from dashboard.texts.power import rounded_note
from dashboard.texts.subgroups import worst_lines
from dashboard.texts.verdict import bridge, named_sides, outcome, side_badges, verdict_lines


def badges_of(scene: Scene) -> dict[str, Badge]:
    """Return the verdict of each side, on the whole and its subgroups, by its name."""
    return side_badges(scene.result, scene.evaluated, scene.event_words, find_groups(scene))


def verdict_blocks(scene: Scene) -> tuple[Sentences, ...]:
    """Return the verdict of each side: what is found, its size, what it rests on."""
    evaluated, expert = scene.evaluated, scene.expert
    lines = verdict_lines(
        evaluated, scene.event_words, badges_of(scene), scene.settings.method, expert=expert
    )
    blocks = [
        Sentences(f"verdict {name.lower()}", (line,), large=True, headline=True)
        for name, line in lines.items()
    ]
    if not evaluated.calibrated:
        blocks.append(Sentences("calibrator", (outcome_of(scene),), small=True))
    return tuple(blocks)


def outcome_of(scene: Scene) -> str:
    """Return what the calibrator did."""
    return outcome(
        scene.result,
        scene.evaluated,
        scene.settings.method,
        expert=scene.expert,
        prediction=scene.event_words.prediction,
        waiting=scene.waiting,
    )


def notes_of(scene: Scene, extremes: Sequence[str] = ()) -> Sentences:
    """Return what may mislead: a KS error below its limit, rounded scores, ``extremes``."""
    rounded = rounded_note(scene.evaluated.before, certain=not extremes)
    below = bridge(named_sides(scene.evaluated))
    lines = tuple(filter(None, (below, rounded, *map(escape_markdown, extremes))))
    return Sentences("notes", lines, small=True)


def lines_of(scene: Scene) -> list[str]:
    """Return the worst subgroup on both sides, and the drift over dates if it is detected."""
    return [*worst_lines(find_groups(scene), expert=scene.expert), *_drift_lines(scene)]


def _drift_lines(scene: Scene) -> list[str]:
    drift = find_drift(scene)
    if drift is None or not drift.detected:
        return []
    groups, by, shown = find_groups(scene), drift.subgrouping.by, drift.subgrouping.shown
    alone = any(
        side and not groups.worst(after=after)
        for side, after in zip(drift.sides, (False, True), strict=True)
    )
    sides = drift.before, drift.after
    return [drift_line(by, shown, sides, expert=scene.expert, alone=alone)]
