"""The table of measures, which the page, its file, the report and the command write."""

from collections.abc import Sequence

from calibcore.evaluation import Comparison, SetResult
from calibcore.inference import Inference, Interval, Uncertainty
from calibcore.metrics import Measure
from dashboard.document.blocks import Cell, Row, Table, finite
from dashboard.tables import csv_of
from dashboard.texts import report as words
from dashboard.texts.measures import GROUPS, MARKS, Shown, finding_for, measure_rows
from dashboard.texts.rows import say_rows


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


def _cell(shown: Shown, value: float | None, interval: Interval | None) -> Cell:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return Cell(shown.value, shown.note, *map(finite, (value, low, high)))


def _limit(shown: Shown, row: Comparison, known: Uncertainty | None, evaluated: SetResult) -> Cell:
    """Return the 95% limits under perfect calibration; on the side that is worse, or on both."""
    if known is None or not any(map(str.isdigit, shown.value)):
        return Cell(shown.value)
    ends: tuple[float | None, float | None] = known.reference.central
    if row.measure.better == "higher":
        ends = known.reference.lower, None
    elif row.measure.better != "nearer":
        is_ks = row.measure.key == "ks_error"
        limit = evaluated.after.curves.ks_null_95 if is_ks else known.reference.upper
        ends = None, limit
    return Cell(shown.value, shown.note, None, *map(finite, ends))


def measures_csv(
    evaluated: SetResult, measures: Sequence[Measure], inference: Inference | None
) -> str:
    """Return the measures for a spreadsheet, with every digit; empty where one is not defined.

    Each value is followed by the ends of its interval, as far as they are known.
    """
    table = measures_table(evaluated, inference, measures)
    name, *sides = table.columns[:4]
    heads = [name, *(head for side in sides for head in (side, f"{side}, from", f"{side}, to"))]
    lines = []
    for row in table.rows:
        *values, mark, _ = row.cells
        numbers = [end for one in values for end in (one.value, one.low, one.high)]
        lines.append((row.name, *numbers, mark.word))
    return csv_of([*heads, "In words"], lines)
