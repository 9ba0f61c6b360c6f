"""Rows of a range of scores, listed: all of them, or those of a page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from calibcore.data import LogitSet
from calibcore.subgroups import Places, RowOrder, rows_in_range
from calibcore.validation import Floats, Labels
from dashboard.compute.cache import key_of, once
from dashboard.compute.files import row_names, row_numbers
from dashboard.compute.split import of_evaluated, predicted_classes
from dashboard.readers import GroupingColumn
from dashboard.readers.records import Array, Role
from dashboard.scene import Scene

Result = TypeVar("Result")


@dataclass(frozen=True)
class ScoreRange:
    """Which rows are listed."""

    low: float
    high: float
    """Lowest and highest score, in [0, 1]."""
    above: bool = False
    """Whether the lowest score itself is left out, as from a bin."""
    after: bool = False
    """Whether it is the score after calibration."""


@dataclass(frozen=True, eq=False)
class ListedRows:
    """Some rows of the set that is looked at, cell by cell."""

    numbers: list[int]
    """Of the rows, in their file or set."""
    true: list[str] | None
    predicted: list[str] | None
    """True and predicted class; None where there are none."""
    hits: Labels
    """Whether the event happened."""
    before: Floats
    after: Floats
    """Score."""
    columns: Mapping[str, list[str | float]]
    """Further columns of the file; NaN where a number is blank."""
    names: Mapping[str, list[str]] = field(default_factory=dict)
    """Row IDs, by their column."""


def rows_of_range(scene: Scene, chosen: ScoreRange, order: RowOrder) -> Places:
    """Return the places of all rows of a range of scores, in an order."""
    evaluated = scene.evaluated
    event = evaluated.after.event if chosen.after else evaluated.before.event

    def make() -> Places:
        return rows_in_range(
            event.scores,
            event.hits,
            low=chosen.low,
            high=chosen.high,
            above=chosen.above,
            order=order,
        )

    key = key_of(scene.upload, scene.settings), scene.chosen, chosen, order
    return once("rows of ranges", key, make)


def cells_of(scene: Scene) -> Callable[[Places], ListedRows]:
    """Return what writes the cells of some rows; it can be called where no page is drawn."""
    before, after = scene.evaluated.before.event, scene.evaluated.after.event
    rows, names, classes = scene.rows, scene.class_names, predicted_classes(scene, calibrated=False)
    numbers, columns, ids = (
        _once(scene, "row numbers", _numbers),
        _once(scene, "row columns", _columns),
        _once(scene, "row names", _names),
    )

    def cells(chosen: Places) -> ListedRows:
        true = None
        if isinstance(rows, LogitSet) and names is not None:
            true = [names[k] for k in rows.labels[chosen]]
        return ListedRows(
            numbers=numbers[chosen].tolist(),
            true=true,
            predicted=None
            if classes is None or names is None
            else [names[k] for k in classes[chosen]],
            hits=before.hits[chosen].astype(np.int64),
            before=before.scores[chosen],
            after=after.scores[chosen],
            columns={name: _cells(column, chosen) for name, column in columns.items()},
            names={name: [*map(_text, of_rows[chosen].tolist())] for name, of_rows in ids.items()},
        )

    return cells


def _numbers(scene: Scene) -> Places:
    """Return the numbers that the rows that are evaluated have in their file or set."""
    return _evaluated(scene, row_numbers(scene.upload))


def _names(scene: Scene) -> dict[str, Array]:
    """Return the row IDs of the rows that are evaluated, by their column."""
    names = row_names(scene.upload)
    role = scene.chosen if scene.upload.rows is None else "rows"
    return {name: _evaluated(scene, {role: ids}) for name, ids in names[role].items()}


def _evaluated(scene: Scene, of_sets: Mapping[Role, Array]) -> Array:
    """Select, of something known of each row of each set, the rows that are evaluated."""
    settings, upload = scene.settings, scene.upload
    if upload.rows is None:
        return of_evaluated(scene, of_sets[scene.chosen])
    chosen = upload.rows_of(settings.calibration_share, settings.seed)[scene.chosen]
    return of_evaluated(scene, of_sets["rows"][chosen])


def _text(name: str | float) -> str:
    return "" if name != name else str(name)  # noqa: PLR0124 - NaN of a blank cell


def _columns(scene: Scene) -> dict[str, GroupingColumn]:
    """Return the further columns of the rows that are evaluated."""
    settings = scene.settings
    columns = scene.upload.split_columns(
        calibration_share=settings.calibration_share, seed=settings.seed
    ).get(scene.chosen, {})
    return {
        name: replace(column, values=of_evaluated(scene, column.values))
        for name, column in columns.items()
    }


def _cells(column: GroupingColumn, chosen: Places) -> list[str | float]:
    values, texts = column.values[chosen].tolist(), column.categories
    return values if texts is None else [texts[place] for place in values]


def _once(scene: Scene, kind: str, make: Callable[[Scene], Result]) -> Result:
    """Find what no range of scores changes."""
    key = key_of(scene.upload, scene.settings), scene.chosen
    return once(kind, key, lambda: make(scene))
