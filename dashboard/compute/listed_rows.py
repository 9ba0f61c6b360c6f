"""Rows of a range of scores, listed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from calibcore.data import LogitSet
from calibcore.slices import Places, sure_misses
from calibcore.validation import Floats, Labels
from dashboard.compute.cache import key_of, once
from dashboard.compute.files import row_numbers
from dashboard.compute.slices import of_evaluated, said_classes
from dashboard.readers import SliceColumn
from dashboard.scene import Scene

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class ListedRows:
    """Rows of a range of scores, most confident mistakes first.

    Parameters
    ----------
    numbers : list of int
        Of the rows, in their file or set.
    true, said : list of str or None
        True and predicted class; None where there are none.
    hits : ndarray of int
        Whether the event happened.
    before, after : ndarray of float64
        Score.
    columns : mapping of str to list of str or of float
        Further columns of the file; NaN where a number is blank.
    n_rows, n_misses : int
        How many rows are in the range, and for how many of them the event did not happen.
    """

    numbers: list[int]
    true: list[str] | None
    said: list[str] | None
    hits: Labels
    before: Floats
    after: Floats
    columns: Mapping[str, list[str | float]]
    n_rows: int
    n_misses: int


def list_rows(scene: Scene, low: float, high: float) -> ListedRows:
    """List the rows of the set that is looked at whose score before calibration is in a range."""
    key = key_of(scene.upload, scene.settings), scene.chosen, low, high
    return once("listed rows", key, lambda: _list(scene, low, high))


def _list(scene: Scene, low: float, high: float) -> ListedRows:
    event, rows = scene.evaluated.before.event, scene.rows
    chosen = sure_misses(event.scores, event.hits, low=low, high=high)
    inside = (event.scores >= low) & (event.scores <= high)
    names, said = scene.class_names, said_classes(scene, calibrated=False)
    true = None
    if isinstance(rows, LogitSet) and names is not None:
        true = [names[k] for k in rows.labels[chosen]]
    return ListedRows(
        numbers=_once(scene, "row numbers", _numbers)[chosen].tolist(),
        true=true,
        said=None if said is None or names is None else [names[k] for k in said[chosen]],
        hits=event.hits[chosen].astype(np.int64),
        before=event.scores[chosen],
        after=scene.evaluated.after.event.scores[chosen],
        columns={
            name: _cells(column, chosen)
            for name, column in _once(scene, "row columns", _columns).items()
        },
        n_rows=int(inside.sum()),
        n_misses=int(inside.sum() - event.hits[inside].sum()),
    )


def _numbers(scene: Scene) -> Places:
    """Return the numbers that the rows that are evaluated have in their file or set."""
    settings, upload = scene.settings, scene.upload
    numbers = row_numbers(upload)
    if upload.rows is None:
        return of_evaluated(scene, numbers[scene.chosen])
    chosen = upload.rows_of(settings.calibration_share, settings.seed)[scene.chosen]
    return of_evaluated(scene, numbers["rows"][chosen])


def _columns(scene: Scene) -> dict[str, SliceColumn]:
    """Return the further columns of the rows that are evaluated."""
    settings = scene.settings
    columns = scene.upload.split_columns(
        calibration_share=settings.calibration_share, seed=settings.seed
    ).get(scene.chosen, {})
    return {
        name: replace(column, values=of_evaluated(scene, column.values))
        for name, column in columns.items()
    }


def _cells(column: SliceColumn, chosen: Places) -> list[str | float]:
    values, texts = column.values[chosen].tolist(), column.categories
    return values if texts is None else [texts[place] for place in values]


def _once(scene: Scene, kind: str, make: Callable[[Scene], Found]) -> Found:
    """Find what no range of scores changes."""
    key = key_of(scene.upload, scene.settings), scene.chosen
    return once(kind, key, lambda: make(scene))
