"""What the columns of a table were taken for, and its first rows."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from dashboard.readers.records import ColumnRole, ColumnUse, Preview, Reading, Table, cell_of
from dashboard.readers.refusal import visible

_USES: dict[ColumnRole, ColumnUse] = {
    "outcome": "label", "score": "score", "class": "class", "prediction": "prediction",
    "correct": "hit", "ranked class": "prediction", "ranked score": "score", "id": "left out",
    "set": "set", "group": "slice", "date": "slice", "count": "design", "events": "label",
    "weight": "design", "cluster": "design", "left out": "left out",
}  # fmt: skip
_FIRST: tuple[tuple[ColumnRole, ...], ...] = (
    ("outcome",), ("score", "class", "ranked score"), ("prediction", "correct", "ranked class"),
)  # fmt: skip
_ROWS, _SHOWN, _CELL = 10, 20, 60


def uses_of(table: Table, reading: Reading) -> dict[str, ColumnUse]:
    """Return what each column was taken for; the only score of an event is a class's."""
    of_top_one = {"prediction", "correct", "ranked class"} & {*reading.roles}
    uses = {c.name: _USES[role] for c, role in zip(table.columns, reading.roles, strict=True)}
    if of_top_one:
        return uses
    return {name: "class" if use == "score" else use for name, use in uses.items()}


def preview_of(table: Table, reading: Reading) -> Preview:
    """Return the first rows, what matters standing first; of many classes the first few."""
    groups = [[k for k, role in enumerate(reading.roles) if role in part] for part in _FIRST]
    first = [*chain.from_iterable(part[:_SHOWN] for part in groups)]
    seen = {*chain.from_iterable(groups)}
    rest = [k for k in range(len(table.columns)) if k not in seen]
    order = [*first, *rest[:_SHOWN]]
    uses = uses_of(table, reading)
    names = [table.columns[k].name for k in order]
    rows = tuple(tuple(visible(row[k], _CELL) for k in order) for row in _cells(table))
    places = np.arange(len(rows)) if table.among is None else np.flatnonzero(table.among)
    return Preview(
        tuple(visible(name, _CELL) for name in names),
        tuple(uses[name] for name in names),
        rows,
        tuple(int(place) + table.first_row for place in places[: len(rows)]),
        roles=tuple(reading.roles[k] for k in order),
        reasons=tuple(reading.reasons[k] for k in order),
    )


def _cells(table: Table) -> Sequence[Sequence[str]]:
    """Return the cells of the first rows, as the file has them where that is known."""
    if all(len(row) == len(table.columns) for row in table.shown) and table.shown:
        return table.shown[:_ROWS]
    first = range(min(_ROWS, table.n_rows))
    return [[cell_of(column, k) for column in table.columns] for k in first]
