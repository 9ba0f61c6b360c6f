"""What acting on a score, or on predictions, comes to."""

from dataclasses import dataclass, replace

import numpy as np

from calibcore.counted import weighted
from calibcore.data import EventScores
from calibcore.decisions import (
    AtCutoff,
    at_cutoff,
    at_cutoff_by_group,
    benefit_change,
    decision_curve,
)
from calibcore.events import TopR
from calibcore.inference.draws import tally_of
from calibcore.selective import (
    OutOfFoldAccuracy,
    RiskCoverage,
    group_accuracies,
    out_of_fold_accuracy,
    risk_coverage,
)
from calibcore.splits import usual_folds
from calibcore.weights import row_mean
from dashboard.compute.cache import key_of, once
from dashboard.compute.split import of_evaluated, subgrouping_of, ways
from dashboard.compute.subgroups import find_groups, looks_like_ids, most_telling
from dashboard.document.blocks import Block, Picture, Pictures, Row, Sentences, Table
from dashboard.figures.decisions import MESH, coverage_graph, decision_graph
from dashboard.scene import Scene
from dashboard.texts import verdict
from dashboard.texts.classes import shortened
from dashboard.texts.rows import rows_of, say_rows
from dashboard.texts.subgroups import PREDICTED, SCORES, TRUE
from dashboard.texts.tiles import commonest_class
from dashboard.views.decisions import words
from dashboard.views.decisions.words import Selection

MOST_GROUPS = 20
"""Subgroups in the table; a page's file has all."""


CHOICES = "decisions_in_use"
"""Where a session keeps what is chosen on the page, for its report."""


@dataclass(frozen=True)
class Choices:
    """What is chosen on the page."""

    cutoff: float | None = None
    """From 0 to 1; None for how often the event is."""
    costs: tuple[float, float] | None = None
    """Of a false alarm and of a missed event, where the cut-off is theirs."""
    accuracy: float = words.USUAL_ACCURACY / 100
    """Wanted of predictions that are kept."""
    harm: float = 0.0
    """What it costs to have the score of a row, in events flagged: from 0 to 1."""
    by: str | None = None
    """What the subgroups are by; None for what tells the most."""

    @property
    def options(self) -> list[str]:
        """The command's options for what is chosen of an event."""
        harm = ["--test-harm", f"{self.harm:.6g}"] if self.harm else []
        if self.costs is not None:
            return ["--costs", *(f"{one:.12g}" for one in self.costs), *harm]
        return harm if self.cutoff is None else ["--cutoff", f"{self.cutoff:.6g}", *harm]


def document(scene: Scene, choices: Choices) -> tuple[Block, ...]:
    """Return the page: of one event what its cut-off comes to, of predictions what is kept."""
    if isinstance(scene.settings.event, TopR):
        return _selection_blocks(scene, choices.accuracy)
    sides = events_of(scene)
    event = sides["Before"]
    cutoff = usual_cutoff(event) / 100 if choices.cutoff is None else choices.cutoff
    calls = {side: at_cutoff(event, cutoff) for side, event in sides.items()}
    curves = [
        (side, decision_curve(event, MESH, test_harm=choices.harm)) for side, event in sides.items()
    ]
    side, last = [*calls.items()][-1]
    acting = [
        words.sentence(last, side=side),
        *cutoff_lines(scene, [*calls.values()], choices.costs),
        *([words.usual_sentence(cutoff)] if is_start(event, cutoff, choices.costs) else []),
    ]
    counts = words.counts_rows([*calls.values()], choices.costs, choices.harm)
    notes = [words.reference_sentence(last)]
    if "After" in sides and 0 < cutoff < 1:
        change, interval = benefit_change(event, sides["After"], cutoff)
        notes.insert(0, words.change_sentence(change, interval))
    if choices.harm:
        notes.append(words.harm_sentence(choices.harm))
    if has_steps(scene):
        notes.append(say_rows(words.STEPS))
    if scene.rows.weights is not None:
        notes.append(say_rows(words.WEIGHTED))
    curve = decision_graph(curves, cutoff, scene.palette)
    caption = say_rows(words.CURVE_CAPTION)
    return (
        Sentences("acting", tuple(acting), headline=True),
        Pictures("curve", (Picture("decisions curve", caption, curve),)),
        Table(
            "cut-off",
            (f"Cut-off {100 * cutoff:.3g}%", *calls),
            tuple(Row(name, say_rows(name), tuple(cells)) for name, cells in counts),
        ),
        Sentences("reference", tuple(notes), small=True),
        Sentences("use", tuple(words.use_sentence(one, side=name) for name, one in curves)),
        *_group_blocks(scene, [*sides.values()], cutoff, choices.by),
    )


def _group_blocks(
    scene: Scene, sides: list[EventScores], cutoff: float, by: str | None
) -> list[Block]:
    """Return the same counts in each subgroup, where there is something to group by."""
    offered = groupings_of(scene)
    if not offered:
        return []
    by = by if by in offered else usual_grouping(offered)
    if by is None:
        return []
    groups = by_group(scene, by, sides, cutoff)
    shown = groups[:MOST_GROUPS]
    rows = tuple(
        Row(name, shortened(name), tuple(words.group_cells(each)), rows_of(each[0].n_samples))
        for name, each in shown
    )
    heads = (by, *map(say_rows, words.GROUP_HEAD[1:]))
    note = words.groups_note(len(shown), len(groups))
    return [Table("cut-off by group", heads, rows), Sentences("by group", (note,), small=True)]


def _selection_blocks(scene: Scene, wanted: float) -> tuple[Block, ...]:
    selections = selections_of(scene, wanted)
    curves = [(side, one.curve) for side, one in zip(events_of(scene), selections, strict=True)]
    figure = coverage_graph(curves, threshold_coverage(selections), scene.palette)
    areas = [curve.aurc for _, curve in curves]
    all_rows = [words.all_rows_sentence(areas, scene.evaluated.after.event)]
    if scene.settings.event == TopR(1):
        all_rows.append(commonest_class(scene.evaluated))
    headline, *more = words.selection_lines(selections, wanted)
    return (
        Sentences("acting", (headline,), headline=True),
        Pictures("kept", (Picture("decisions kept", say_rows(words.COVERAGE_CAPTION), figure),)),
        Sentences("held", tuple(more)),
        Sentences("all rows", tuple(text for text in all_rows if text)),
    )


# Computed once for each set and calibrator ----------------------------------------------------


def usual_cutoff(event: EventScores) -> int:
    """Return the cut-off, in percent, until one is chosen: how often the event is."""
    rows, weights = weighted(event)
    return min(max(round(100 * row_mean(rows.hits, weights)), 1), 99)


def is_start(event: EventScores, cutoff: float, costs: tuple[float, float] | None) -> bool:
    """Return whether a cut-off is the one that nobody chose; costs that give it are a choice."""
    return costs is None and abs(100 * cutoff - usual_cutoff(event)) < 1e-9


def coverage_of(scene: Scene, event: EventScores) -> RiskCoverage:
    """Return the accuracy of what is kept, before or after."""
    before = event is scene.evaluated.before.event
    key = key_of(scene.upload, scene.settings), scene.chosen, before
    return once("coverages", key, lambda: risk_coverage(event))


def has_steps(scene: Scene) -> bool:
    """Return whether the fits by folds gave many rows of different scores the same one."""
    if scene.result.by_fold is None or scene.chosen != "test":
        return False

    before, after = scene.evaluated.before.counted, scene.evaluated.after.counted
    return 2 * after.scores.size < before.scores.size


def accuracy_elsewhere(
    scene: Scene, side: str, event: EventScores, wanted: float
) -> OutOfFoldAccuracy:
    """Return what a threshold for an accuracy holds on rows that had no part in its choice."""
    key = key_of(scene.upload, scene.settings), scene.chosen, side, wanted

    def make() -> OutOfFoldAccuracy:
        fold = usual_folds(event, seed=scene.settings.seed)
        return out_of_fold_accuracy(event, wanted, fold)

    return once("held accuracies", key, make)


def selections_of(scene: Scene, wanted: float) -> list[Selection]:
    """Return the threshold for an accuracy before and, where a calibrator is in use, after."""
    key = key_of(scene.upload, scene.settings), scene.chosen, wanted

    def make() -> list[Selection]:
        before, *after = (_selection(scene, *side, wanted) for side in events_of(scene).items())
        if after and after[0].at is not None:
            mistaken = at_cutoff(scene.evaluated.before.event, after[0].at.cutoff)
            before = replace(before, mistaken=mistaken)
        return [before, *after]

    return once("kept", key, make)


def events_of(scene: Scene) -> dict[str, EventScores]:
    """Return the scores before and, where a calibrator changed them, after."""
    return {name: side.event for name, side in verdict.named_sides(scene.evaluated).items()}


def _selection(scene: Scene, side: str, event: EventScores, wanted: float) -> Selection:
    curve, elsewhere = coverage_of(scene, event), accuracy_elsewhere(scene, side, event, wanted)
    place, subgroupings = curve.lowest_for(wanted), find_groups(scene).subgroupings
    if place is None:
        return Selection(curve, None, elsewhere)
    score = float(curve.score[place])
    places = [of_evaluated(scene, one.places[scene.chosen]) for one in subgroupings]
    groups = group_accuracies(event, score, wanted, places)
    names = tuple((one.by, one.shown) for one in subgroupings)
    return Selection(curve, at_cutoff(event, score), elsewhere, groups, names)


def threshold_coverage(sides: list[Selection]) -> float | None:
    """Return the share of the rows that the last side's threshold keeps."""
    at = sides[-1].at
    return None if at is None else at.called / at.n_samples


def cutoff_lines(
    scene: Scene, cutoffs: list[AtCutoff], costs: tuple[float, float] | None
) -> list[str]:
    """Return the same cut-off in the file's own scores, and what acting costs, for Markdown."""
    sides, lines = events_of(scene), []
    if costs is not None:
        lines.append(words.cost_sentence(dict(zip(sides, cutoffs, strict=True)), costs))
    own = as_many(sides["Before"], cutoffs[-1].called) if "After" in sides else None
    if own is not None:
        lines.append(words.as_many_sentence(own, cutoffs[-1], cutoffs[0]))
    return lines


def as_many(event: EventScores, called: float) -> AtCutoff | None:
    """Return the cut-off by which other scores of the rows flag as many; None for none flagged."""
    if not called:
        return None
    counted = tally_of(event)
    flagged = np.cumsum(counted.counts[::-1])
    last = min(int(np.searchsorted(flagged, called - 1e-9)), flagged.size - 1)
    return at_cutoff(event, float(counted.scores[::-1][last]))


def groupings_of(scene: Scene) -> list[str]:
    """List what the table of subgroups can be by, what tells the most first."""
    offered = [
        by
        for by in ways(scene.upload)
        if by not in {TRUE, *SCORES} and not looks_like_ids(scene, by)
    ]
    first = most_telling(scene)
    return sorted(offered, key=lambda by: by != first)


def usual_grouping(offered: list[str]) -> str | None:
    """Return the grouping until one is chosen: no predicted class, which only repeats the score."""
    return None if offered[0] == PREDICTED else offered[0]


def by_group(
    scene: Scene, by: str, sides: list[EventScores], cutoff: float
) -> list[tuple[str, list[AtCutoff]]]:
    """Count calls in each subgroup that has rows, on each side; largest first.

    Names are text of the file.
    """
    subgrouping = subgrouping_of(scene.upload, scene.settings, by)
    places, n_groups = of_evaluated(scene, subgrouping.places[scene.chosen]), len(subgrouping.names)
    counted = [at_cutoff_by_group(side, cutoff, places, n_groups=n_groups) for side in sides]
    groups = [
        (name, [one for one in each if one is not None])
        for name, *each in zip(subgrouping.shown, *counted, strict=True)
    ]
    return sorted((one for one in groups if one[1]), key=lambda one: -one[1][0].n_samples)
