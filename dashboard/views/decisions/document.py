"""What acting on a score, or on predictions, comes to."""

from dataclasses import dataclass

from calibcore.data import EventScores
from calibcore.decisions import (
    AtCutoff,
    at_cutoff,
    benefit_change,
    decision_curve,
)
from calibcore.events import TopR
from dashboard.document.blocks import Block, Picture, Pictures, Row, Sentences, Table
from dashboard.figures.decisions import MESH, coverage_graph, decision_graph
from dashboard.scene import Scene
from dashboard.texts.classes import shortened
from dashboard.texts.rows import rows_of, say_rows
from dashboard.texts.tiles import commonest_class
from dashboard.views.decisions import words
from dashboard.views.decisions.results import (
    as_many,
    by_group,
    events_of,
    groupings_of,
    has_steps,
    is_start,
    selections_of,
    threshold_coverage,
    usual_cutoff,
    usual_grouping,
)

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
