"""How rows are grouped: by class, by score, by further columns of the file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibcore.binning import equal_ranges, round_ranges
from calibcore.counted import CountedScores
from calibcore.data import LogitSet, Rows
from calibcore.events import TopR
from calibcore.fitting import prepare
from calibcore.grouping import Grouping
from calibcore.subgroups import Places
from dashboard.compute.cache import key_of, once
from dashboard.compute.files import plain_split
from dashboard.compute.periods import in_time
from dashboard.readers import GroupingColumn, Upload
from dashboard.readers.recognition.groups import FEW_VALUES, NUMBER_RANGES
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, SETS, SetChoice, Settings, method_by_key
from dashboard.texts.subgroups import (
    BLANK,
    COLUMN,
    PREDICTED,
    SCORES,
    TRUE,
    category_names,
    cut_names,
    nth_range,
    range_names,
    score_ranges,
    shown_range,
)


@dataclass(frozen=True, eq=False)
class Subgrouping:
    """One way to group the rows of both sets."""

    by: str
    """What they are grouped by."""
    names: tuple[str, ...]
    """Of the subgroups, all different, for the address."""
    shown: tuple[str, ...]
    """What each subgroup holds, as it is written; text of the file, to be escaped."""
    places: Mapping[SetChoice, Places]
    """Subgroup of each row, of a summary of each of its cells; shape (n_cells,)."""
    fair: bool = True
    """Whether the subgroups were made without the true class, so that perfectly calibrated scores
    are calibrated in each.
    """
    in_time: bool = False
    """Whether the subgroups are periods of time, ascending; those without a date come last."""
    grouping: Grouping | None = None
    """How the rows of another table are grouped alike, by their values in the same column."""

    @cached_property
    def open_to_all(self) -> list[str]:
        """Names of the subgroups with rows in both sets, so that all pages can show them."""
        counts = [np.bincount(self.places[name], minlength=len(self.names)) for name in SETS]
        return [
            name
            for name, n_fit, n_test in zip(self.names, *counts, strict=True)
            if n_fit and n_test
        ]


def ways(upload: Upload) -> list[str]:
    """Return what rows can be grouped by, the columns of the file first; a summary has no more."""
    if upload.summary is not None:
        return [*_columns(upload)]
    classes = [PREDICTED, TRUE] if upload.class_names is not None else []
    return [*_columns(upload), *classes, *SCORES]


def _columns(upload: Upload) -> dict[str, str]:
    """Return the further columns that both sets have: the name of each here, and its own."""
    sets = [upload.columns.get(name, {}) for name in upload.sets]
    known = [name for name in sets[0] if all(name in columns for columns in sets)] if sets else []
    taken = {PREDICTED, TRUE, *SCORES}
    return {COLUMN.format(name=name) if name in taken else name: name for name in known}


def subgrouping_of(upload: Upload, settings: Settings, by: str) -> Subgrouping:
    """Group all rows of both sets, whatever the filter."""
    if by in SCORES:
        settings = replace(settings.in_any_bins, method=NO_METHOD, options=(), only=None)
        key = key_of(upload, settings), by
        return once("subgroupings", key, lambda: _by_score(upload, settings, by))
    settings = split_alone(settings)
    return once("subgroupings", (key_of(upload, settings), by), lambda: _by(upload, settings, by))


def split_alone(settings: Settings) -> Settings:
    """Keep what decides the split and nothing else."""
    share, seed = settings.calibration_share, settings.seed
    return Settings(TopR(1), NO_METHOD, calibration_share=share, seed=seed)


def _by_score(upload: Upload, settings: Settings, by: str) -> Subgrouping:
    split = plain_split(upload, settings)
    events = [prepare(rows, settings.event).event for rows in (split.calibration, split.test)]
    scores = [event.scores for event in events]
    ranges = equal_ranges(np.concatenate(scores), SCORES[by])
    n_ranges = ranges.low.size
    return Subgrouping(
        by,
        tuple(nth_range(k, n_ranges) for k in range(n_ranges)),
        score_ranges(ranges.low.tolist(), ranges.high.tolist()),
        _by_set(ranges.places, scores[0].size),
    )


def _by(upload: Upload, settings: Settings, by: str) -> Subgrouping:
    split, names = plain_split(upload, settings), upload.class_names
    if by in {PREDICTED, TRUE} and names is not None:
        classes = {
            name: _classes(rows, by)
            for name, rows in zip(SETS, (split.calibration, split.test), strict=True)
        }
        return Subgrouping(by, names, names, classes, fair=by == PREDICTED)
    name = _columns(upload)[by]
    if isinstance(split.calibration, CountedScores) and isinstance(split.test, CountedScores):
        of_groups = next(iter(upload.columns.values()))[name]
        sets = [rows.cells for rows in (split.calibration, split.test)]
        return _by_column(by, [of_groups.rows(np.asarray(cells.groups)) for cells in sets])
    share, seed = settings.calibration_share, settings.seed
    columns = upload.split_columns(calibration_share=share, seed=seed)
    return _by_column(by, [columns[one][name] for one in SETS])


def _classes(rows: Rows, by: str) -> Places:
    if not isinstance(rows, LogitSet):
        return np.zeros(rows.n_samples, dtype=np.intp)
    return rows.labels.astype(np.intp) if by == TRUE else rows.given.argmax(axis=1)


def _by_column(by: str, columns: list[GroupingColumn]) -> Subgrouping:
    values = np.concatenate([column.values for column in columns])
    n_fit = columns[0].values.size
    texts = columns[0].categories
    periods = in_time(replace(columns[0], values=values))
    if periods is not None:
        of_sets = _by_set(periods.places, n_fit)
        return Subgrouping(by, periods.names, periods.shown, of_sets, in_time=True)
    if texts is not None:
        names = category_names(texts)
        known = Grouping(tuple(map(_unless_blank, names)), columns[0].name)
        of_sets = _by_set(values.astype(np.intp), n_fit)
        return Subgrouping(by, names, names, of_sets, grouping=known)
    different = np.unique(values[~np.isnan(values)])
    cuts: tuple[float, ...] | None = None
    if different.size <= FEW_VALUES:
        places = np.searchsorted(different, values)  # NaN comes after all
        names = range_names(different.tolist(), different.tolist())
    else:
        ranges = round_ranges(values, NUMBER_RANGES)
        places = np.where(ranges.places < 0, ranges.cuts.size + 1, ranges.places)
        cuts = tuple(ranges.cuts.tolist())
        if cuts:
            names = cut_names(cuts, whole=ranges.whole)
        else:
            names = range_names(different[:1].tolist(), different[-1:].tolist())
    if np.isnan(values).any():
        names = (*names, BLANK)
    each = Grouping.of(values).names if cuts is None else tuple(map(_unless_blank, names))
    known = Grouping(each, columns[0].name, cuts)
    shown = tuple(map(shown_range, names))
    return Subgrouping(by, names, shown, _by_set(places, n_fit), grouping=known)


def _unless_blank(name: str) -> str:
    return "" if name == BLANK else name


def _by_set(places: Places, n_fit: int) -> dict[SetChoice, Places]:
    return {"calibration": places[:n_fit], "test": places[n_fit:]}


_ROWS_A_GROUP = 20
"""Rows that a group has on average, at least; other columns name rows."""


def groupings(upload: Upload) -> list[str]:
    """Return the columns of the file by which a calibrator can be told groups."""
    if upload.summary is not None:
        return []
    sets = list(upload.sets.items())
    n_rows = min((rows.n_samples for _, rows in sets), default=0)

    def find() -> list[str]:
        return [
            by
            for by, name in _columns(upload).items()
            if all(_tells_groups(upload.columns[one][name], n_rows) for one, _ in sets)
        ]

    return once("groupings", key_of(upload, Settings(TopR(1)))[:3], find)


def _tells_groups(column: GroupingColumn, n_rows: int) -> bool:
    """Return whether a column holds groups: not one value, nor a number for each row, nor dates.

    A month that is over will not come again, so no new row is of it.
    """
    if in_time(column) is not None:
        return False
    if column.categories is not None:
        return 2 <= len(column.categories) <= n_rows / _ROWS_A_GROUP
    values = column.values.astype(np.float64)
    different = np.unique(values[~np.isnan(values)])
    numbered = different.size == n_rows and bool((different == np.floor(different)).all())
    return different.size > 1 and not numbered and n_rows >= 2 * _ROWS_A_GROUP


def subgroupings_for(upload: Upload, settings: Settings) -> tuple[Subgrouping, ...]:
    """Return how rows are grouped for the chosen calibrator: by the chosen column, or by all."""
    if settings.method != NO_METHOD and method_by_key(settings.method).all_columns:
        columns = groupings(upload)
    else:
        columns = [] if settings.group is None else [settings.group]
    return tuple(subgrouping_of(upload, settings, by) for by in columns)


def names_of_groups(scene: Scene) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what each column is called that the calibrator was given, and its groups.

    Text of the file, or of an audit in Python.
    """
    subgroupings, request = subgroupings_for(scene.upload, scene.settings), scene.result.request
    if subgroupings or request is None:
        return tuple((one.by, one.shown) for one in subgroupings)
    return tuple(
        (one.column, tuple(name or BLANK for name in one.names)) for one in request.groupings
    )
