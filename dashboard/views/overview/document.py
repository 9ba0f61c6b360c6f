"""The first page: verdict, diagrams, recommendations, miscalibrated parts, measures."""

from collections.abc import Sequence

from calibcore.evaluation import Comparison, SetResult
from calibcore.inference import Inference, Interval, Uncertainty, perfect_limits
from calibcore.metrics import Measure
from dashboard.compute.advice import classes_of, steps_of
from dashboard.compute.figures import diagrams_of
from dashboard.compute.subgroups import find_groups
from dashboard.compute.uncertainty import measures_of
from dashboard.compute.verdict import badges_of, lines_of, notes_of, outcome_of, verdict_blocks
from dashboard.document.blocks import Block, Cell, Row, Sentences, Table, finite
from dashboard.scene import Scene
from dashboard.tables import csv_of
from dashboard.texts import report as words
from dashboard.texts.advice import HEADING
from dashboard.texts.badges import HELP
from dashboard.texts.measures import (
    GROUPS,
    MARKS,
    NumberText,
    finding_for,
    measure_rows,
    narrow_note,
)
from dashboard.texts.opening import of_extremes
from dashboard.texts.rows import say_rows
from dashboard.texts.tiles import below_tiles, mean_gap_line, table_note, uncertainty_note
from dashboard.texts.verdict import DETAILS, where_off


def document(
    scene: Scene, inference: Inference | None, *, compare: bool = True
) -> tuple[Block, ...]:
    """Return the page, with what is known of the uncertainty.

    ``compare``: whether calibrators may be compared for what is recommended.
    """
    steps = steps_of(scene, inference, classes_of(scene), compare=compare)
    measures = measures_of(scene, full=False)
    both = scene.evaluated.calibrated
    return (
        *verdict_blocks(scene),
        diagrams_of(scene),
        Sentences("recommendations", tuple(step.sentence for step in steps), HEADING),
        *details_of(scene, inference),
        measures_table(
            scene.evaluated, inference, measures, both=both, defined=False, expert=scene.expert
        ),
    )


def details_of(scene: Scene, inference: Inference | None = None) -> tuple[Sentences, ...]:
    """Return the mean gap, the parts that are miscalibrated, and what may mislead."""
    evaluated, badges = scene.evaluated, badges_of(scene)
    where = where_off(evaluated, badges, find_groups(scene))
    lines = [f"{name}: {line}" if len(badges) > 1 else line for name, line in where.items()]
    if evaluated.calibrated:
        lines.append(outcome_of(scene))
    gap = Sentences("gap", (mean_gap_line(evaluated, inference),), DETAILS, HELP)
    worst = "  \n".join(lines_of(scene))
    if worst:
        lines.append(worst)
    notes = notes_of(scene, of_extremes(scene.upload.doubts))
    return gap, Sentences("where", tuple(lines)), notes


def measure_notes(
    scene: Scene, inference: Inference | None, measures: tuple[Measure, ...]
) -> Sentences:
    """Return what the figures of the table of measures are."""
    evaluated, notes = scene.evaluated, [table_note(scene.evaluated, measures)]
    if inference is not None:
        notes += [uncertainty_note(inference, expert=scene.expert), narrow_note(measures)]
    return Sentences("notes", (*notes, below_tiles(evaluated, expert=scene.expert)))


def measures_table(  # noqa: PLR0913 - each has a default that serves
    evaluated: SetResult,
    inference: Inference | None,
    measures: Sequence[Measure],
    *,
    both: bool = True,
    closer: bool = True,
    grouped: bool = False,
    defined: bool = True,
    expert: bool = False,
) -> Table:
    """Return the table of measures.

    ``evaluated``: of one set. ``inference``: what is known of the uncertainty; None while it is
    not. ``measures``: the rows. ``both``: whether there is an after. ``closer``: whether there are
    the columns of the uncertainty. ``grouped``: whether a heading stands above each kind.
    ``defined``: whether each row says what its measure is. ``expert``: as `measure_rows`.
    """
    written = measure_rows(evaluated, inference, tuple(measures), expert=expert)
    rows = []
    for measure, row in zip(measures, written, strict=True):
        compared, known = evaluated.compare(measure.key), finding_for(inference, measure.key)
        before, after = (known.before, known.after) if known else (None, None)
        cells = [_cell(row.before, compared.before, before.interval if before else None)]
        if both:
            cells += [
                _cell(row.after, compared.after, after.interval if after else None),
                _cell(row.change, compared.change, known.change if known else None),
            ]
        if both and closer:
            kind = row.mark.replace(" ", "-") if row.mark else "unmarked"
            cells.append(Cell(" ".join(MARKS[row.mark]) if row.mark else "", kind=kind))
        if closer:
            cells.append(_limit(row.perfect, compared, after, evaluated))
        note, source = (say_rows(row.definition), row.source) if defined else ("", "")
        group = GROUPS[measure.group] if grouped else ""
        opens = bool(source)
        rows.append(Row(measure.key, row.name, tuple(cells), note, source, opens, group))
    heads = [words.BEFORE, words.AFTER, words.CHANGE] if both else [words.VALUE]
    heads += ([words.CLEAR] if both else []) + [words.PERFECT] if closer else []
    return Table("measures", ("Measure", *heads), tuple(rows), look="measures")


def _cell(shown: NumberText, value: float | None, interval: Interval | None) -> Cell:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return Cell(shown.value, shown.note, *map(finite, (value, low, high)))


def _limit(
    shown: NumberText, row: Comparison, known: Uncertainty | None, evaluated: SetResult
) -> Cell:
    """Return the 95% limits under perfect calibration; on the side that is worse, or on both."""
    if known is None or not any(map(str.isdigit, shown.value)):
        return Cell(shown.value)
    ends = perfect_limits(row.measure, known, evaluated.after.curves)
    return Cell(shown.value, shown.note, None, *map(finite, ends))


def measures_csv(table: Table) -> str:
    """Return the measures for a spreadsheet, with every digit; empty where one is not defined.

    Each value is followed by the ends of its interval, as far as they are known. ``table``: of
    `measures_table`.
    """
    name, *sides = table.columns[:4]
    heads = [name, *(head for side in sides for head in (side, f"{side}, from", f"{side}, to"))]
    lines = []
    for row in table.rows:
        *values, mark, _ = row.cells
        numbers = [end for one in values for end in (one.value, one.low, one.high)]
        lines.append((row.name, *numbers, mark.word))
    return csv_of([*heads, "In words"], lines)
