"""The tables of comparisons and of models, ready to be shown, and files for spreadsheets."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from calibcore.comparison import Contestant, EvaluatedOn, Standing, can_rank, penalty, sides_shown
from calibcore.evaluation import SetResult
from calibcore.metrics import METRICS, Measure, measure_by_key
from dashboard.document.blocks import Cell, Place, Row, Table
from dashboard.texts.classes import shortened
from dashboard.texts.comparison import ADVISED, PAST_HALF, crosses_half
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import DASH, is_whole, measured, took

CHANGED, FIT_TIME = "Predictions changed", "Fit time"


_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?(e[+-]?\d+)? ?%?", re.ASCII | re.IGNORECASE)

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0")
"""Signs with which a cell begins that a spreadsheet would take for a formula."""


def measures_shown(keys: Sequence[str], decides: Measure) -> tuple[Measure, ...]:
    """List the measures of the table: the one that decides, the chosen ones, accuracy."""
    accuracy = measure_by_key("accuracy")
    chosen = (m for m in METRICS if m.key in keys and m.key not in {decides.key, accuracy.key})
    return tuple(dict.fromkeys((decides, *chosen, accuracy)))


def comparison_table(
    contestants: Sequence[Contestant],
    measures: Sequence[Measure],
    seconds: Mapping[str, float] | None = None,
    *,
    look: str = "measures",
    advised: str = "",
) -> Table:
    """Write a comparison, the best and the second best of each measure marked.

    ``contestants``: one a row. ``measures``: one a column; predictions changed come last, and
    scores across one half where there are any. ``seconds``: what fits to the whole calibration set
    took, by key: a last column. ``look``: of a page. ``advised``: key of a calibrator that is
    marked.

    Cross-validated and, of two sets, below it on the test set. Values that are written alike count
    as equal. Where all are, none is marked.
    """
    sides = sides_shown(contestants)
    columns = [[_column(contestants, measure, side) for side in sides] for measure in measures] + [
        [[Cell(_counted(counts(one.on(side)))) for one in contestants] for side in sides]
        for counts in _counts(contestants).values()
    ]
    names = [*(measure.name for measure in measures), *_counts(contestants)]
    if seconds is not None:
        names.append(FIT_TIME)
        columns.append([[_took(seconds.get(one.key)) for one in contestants]])
    rows = tuple(
        Row(
            one.key,
            method_name(one.key),
            tuple(_both(*(cells[row] for cells in column)) for column in columns),
            ADVISED if one.key == advised else "",
        )
        for row, one in enumerate(contestants)
    )
    return Table("comparison", ("Calibrator", *names), rows, look=look)


def _both(crossed: Cell, test: Cell | None = None) -> Cell:
    return crossed if test is None else replace(crossed, below=(Cell("test "), test))


def _took(seconds: float | None) -> Cell:
    return Cell(DASH if seconds is None else took(seconds))


def _counts(contestants: Sequence[Contestant]) -> dict[str, Callable[[Standing], int | None]]:
    """Return the columns that count rows."""
    columns: dict[str, Callable[[Standing], int | None]] = {
        CHANGED: lambda one: one.changed_decisions
    }
    if crosses_half(contestants):
        columns[PAST_HALF] = lambda one: one.past_half
    return columns


def _counted(count: int | None) -> str:
    return DASH if count is None else f"{count:,}"


def _column(contestants: Sequence[Contestant], measure: Measure, side: EvaluatedOn) -> list[Cell]:
    values = [one.value(measure, side) for one in contestants]
    texts = [
        measured(one.on(side).compare(measure.key), value, one.on(side).n_samples)
        for one, value in zip(contestants, values, strict=True)
    ]
    return ranked_cells(texts, values, measure)


def ranked_cells(
    texts: Sequence[str], values: Sequence[float | None], measure: Measure
) -> list[Cell]:
    """Mark the best and the second best of some values; those written alike count as equal."""
    numbers: dict[str, float] = {}
    for text, value in zip(texts, values, strict=True):
        if value is not None and can_rank(measure):
            numbers[text] = min(numbers.get(text, penalty(measure, value)), penalty(measure, value))
    places: dict[str, Place] = {}
    if len(numbers) > 1:
        best, second, *_ = sorted(numbers, key=numbers.__getitem__)
        places = {best: "best", second: "second"}
    return [Cell(text, place=places.get(text, "")) for text in texts]


def models_table(
    names: Sequence[str],
    evaluated: Sequence[SetResult],
    measures: Sequence[Measure],
    *,
    calibrated: bool,
    look: str = "measures models",
) -> Table:
    """Write several models, the best and the second best of each measure marked.

    ``names``, ``evaluated``: one a model, on the same rows. ``measures``: one a column.
    ``calibrated``: whether values after calibration stand below those before. ``look``: of a page.
    """
    columns = []
    for measure in measures:
        rows = [one.compare(measure.key) for one in evaluated]
        sides = ([row.before for row in rows], [row.after for row in rows])
        cells = [
            ranked_cells(
                [
                    measured(row, v, evaluated[0].n_samples)
                    for row, v in zip(rows, values, strict=True)
                ],
                values,
                measure,
            )
            for values in sides
        ]
        columns.append(
            [
                replace(before, below=(after,)) if calibrated else before
                for before, after in zip(*cells, strict=True)
            ]
        )
    lines = (
        Row(name, shortened(name), tuple(column[k] for column in columns))
        for k, name in enumerate(names)
    )
    heads = "Model", *(measure.name for measure in measures)
    return Table("models", heads, tuple(lines), look=look)


def comparison_csv(
    contestants: Sequence[Contestant],
    measures: Sequence[Measure],
    seconds: Mapping[str, float] | None = None,
) -> str:
    """Write a comparison for a spreadsheet: every digit, shares from 0 to 1, nothing to be run.

    ``contestants``, ``measures``, ``seconds``: as for `comparison_table`.

    Comma-separated; empty where a measure is not defined. Text that a spreadsheet would take for a
    formula begins with an apostrophe.
    """
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    counts = _counts(contestants)
    names = [*(measure.name for measure in measures), *counts]
    sides = sides_shown(contestants)
    both = "cross-validated on the calibration set", "test set"
    ends = both if len(sides) > 1 else ("cross-validated",)
    head = ["Calibrator", *(harmless(f"{name}, {end}") for name in names for end in ends)]
    writer.writerow(head if seconds is None else [*head, f"{FIT_TIME} (s)"])
    for one in contestants:
        cells: list[object] = [harmless(method_name(one.key))]
        for measure in measures:
            cells += [_plain(one.value(measure, side)) for side in sides]
        for count in counts.values():
            numbers = (count(one.on(side)) for side in sides)
            cells += ["" if number is None else number for number in numbers]
        if seconds is not None:
            cells.append(_plain(seconds.get(one.key)))
        writer.writerow(cells)
    return written.getvalue()


def harmless(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula, but no number."""
    is_formula = text.startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def _plain(value: float | None) -> str:
    return "" if value is None else repr(float(value))


def csv_of(head: Sequence[str], lines: Iterable[Sequence[str | float | None]]) -> str:
    """Write lines for a spreadsheet: text held back as `harmless`, numbers with every digit."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow([harmless(name) for name in head])
    for line in lines:
        writer.writerow(
            [harmless(cell) if isinstance(cell, str) else _number(cell) for cell in line]
        )
    return written.getvalue()


def with_facts(table: str, facts: Mapping[str, str]) -> str:
    r"""Add columns that say what a table is about, the same in every line.

    >>> with_facts("measure,value\r\nECE,0.1\r\n", {"data": "a.csv", "n": "52"})
    'measure,value,data,n\r\nECE,0.1,a.csv,52\r\n'
    """
    head, *lines = csv.reader(io.StringIO(table, newline=""))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow([*head, *facts])
    writer.writerows([*line, *map(harmless, facts.values())] for line in lines)
    return written.getvalue()


def _number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return f"{value:.0f}" if is_whole(value) else repr(value)
