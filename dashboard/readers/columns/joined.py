"""Logits and labels of two files: the same rows in one order, by what names them in both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.columns.slices import counts_rows, id_of
from dashboard.readers.contents import Array, RawSet, SliceColumn
from dashboard.readers.refusal import FileError, quoted

_INDEX = "__index_level_0__"
_FEW = 5
"""Below so many rows, columns of other names may hold the same cells by chance."""

Order = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Joined:
    """Labels in the order of the rows of another file.

    Parameters
    ----------
    truth : RawSet
        The labels.
    found, repairs, doubts : tuple of str
        Sentences, as in `Upload`.
    """

    truth: RawSet
    found: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def in_order_of(
    values: RawSet, truth: RawSet, place: str, *, in_both: Sequence[str] = ()
) -> Joined:
    """Put labels in the order of the rows of another file, where both name their rows.

    Parameters
    ----------
    values, truth : RawSet
        The rows, and as many labels.
    place : str
        The name of the file of the labels.
    in_both : sequence of str
        Headings that both files have.

    Notes
    -----
    What names the rows differs in every row and has the same cells in both files. Columns of one
    name are looked at first. Where there is none, rows and labels are put together as they stand,
    which is doubted if a column that both files have says something else, or could not be asked.
    """
    for one, other in _pairs(values, truth):
        order = _order(one.values, other.values)
        if order is not None:
            return _put(truth, order, one.name)
    _refuse_other_rows(values.ids, truth.ids, place)
    doubts = tuple(_differing(values, truth)) or tuple(_not_compared(values, truth, in_both))
    return Joined(truth, ("Rows and labels were put together as they stand.",), (), doubts)


def _is_shuffled(ids: Array) -> bool:
    """Tell the numbers of all rows, from 0 or from 1, in another order than the rows'."""
    ordered = np.sort(ids)
    return bool((ids != ordered).any()) and counts_rows(ordered)


def of_index(values: RawSet, truth: RawSet) -> tuple[RawSet, RawSet]:
    """Give rows the index that pandas does not write to a Parquet file, where they stand in order.

    Of two files the one whose index only counts the rows has no column of it; the other's is
    called ``__index_level_0__``.
    """
    bare = [raw for raw in (values, truth) if raw.ids is None]
    told = [raw.ids for raw in (values, truth) if raw.ids is not None]
    if len(told) != 1 or len(bare) != 1 or told[0].name != _INDEX:
        return values, truth
    ids = told[0].values
    if not _is_shuffled(ids) or ids.min() != 0:
        return values, truth
    index = SliceColumn(_INDEX, np.arange(len(ids), dtype=np.int64))
    if values.ids is None:
        return replace(values, ids=index), truth
    return values, replace(truth, ids=index)


def _pairs(values: RawSet, truth: RawSet) -> Iterator[tuple[SliceColumn, SliceColumn]]:
    """Give columns that may name the rows in both files, as numbers that can be compared."""
    if values.ids is not None and truth.ids is not None:
        yield values.ids, truth.ids
    named = {column.name: column for column in truth.columns}
    for column in values.columns:
        if column.name in named:
            yield _numbered(column), _numbered(named[column.name])
    if len(np.asarray(truth.labels)) >= _FEW:
        texts = [_texts(part) for part in (values, truth)]
        yield from ((one, other) for one in texts[0] for other in texts[1])


def _texts(raw: RawSet) -> list[SliceColumn]:
    """Give what tells rows apart by text, and what is called an index."""
    columns = [_numbered(column) for column in raw.columns if column.categories is not None]
    return columns if raw.ids is None else [raw.ids, *columns]


def _numbered(column: SliceColumn) -> SliceColumn:
    if column.categories is None:
        return column
    ids = np.array([id_of(text) for text in column.categories], dtype=np.int64)
    return SliceColumn(column.name, ids[column.values])


def _order(wanted: Array, have: Array) -> Order | None:
    """Give where each wanted row is, if every row is there once."""
    there, here = np.argsort(have, kind="stable"), np.argsort(wanted, kind="stable")
    if not np.array_equal(have[there], wanted[here]) or (have[there][1:] == have[there][:-1]).any():
        return None
    order = np.empty_like(there)
    order[here] = there
    return order


def _put(truth: RawSet, order: Order, name: str) -> Joined:
    called = quoted(name, 30)
    if np.array_equal(order, np.arange(len(order))):
        return Joined(truth, (f"Column {called} is the same in both files, row by row.",))
    said = f"Labels were put in the order of the rows by column {called} ({len(order):,} rows)."
    ordered = replace(
        truth,
        labels=np.asarray(truth.labels)[order],
        columns=tuple(_reordered(column, order) for column in truth.columns),
        predicted=None if truth.predicted is None else _reordered(truth.predicted, order),
    )
    return Joined(ordered, (), (said,))


def _reordered(column: SliceColumn, order: Order) -> SliceColumn:
    return replace(column, values=column.values[order])


def _refuse_other_rows(wanted: SliceColumn | None, have: SliceColumn | None, place: str) -> None:
    """Refuse an index of the same name with other rows, or with some of them twice in disorder."""
    if wanted is None or have is None or wanted.name != have.name or not have.name:
        return
    if np.array_equal(wanted.values, have.values):
        return
    same = np.array_equal(np.sort(wanted.values), np.sort(have.values))
    found = "in another order, and some twice" if same else "that are not those of the other file"
    field = f"column {quoted(have.name, 30)} in {quoted(place, 40)}"
    raise FileError(field, f"rows {found}", "the same rows once")


def _differing(values: RawSet, truth: RawSet) -> Iterator[str]:
    """Doubt rows that a column of both files says are others."""
    named = {column.name: column for column in truth.columns}
    for column in values.columns:
        if column.name not in named:
            continue
        one, other = _numbered(column).values, _numbered(named[column.name]).values
        count = int(np.count_nonzero((one != other) & ~(np.isnan(one) & np.isnan(other))))
        if count:
            yield (
                f"Column {quoted(column.name, 30)} stands in both files and differs in {count:,} of"
                f" {len(one):,} rows, so the labels may be of other rows: they were put together as"
                " they stand."
            )


def _not_compared(values: RawSet, truth: RawSet, in_both: Sequence[str]) -> Iterator[str]:
    """Doubt rows whose names could not be compared."""
    compared = {column.name for column in values.columns}
    left = [name for name in in_both if name.strip() not in compared]
    ids = [raw.ids for raw in (values, truth) if raw.ids is not None]
    if len(ids) > 1:
        counted = any(counts_rows(column.values) for column in ids)
        if not counted and not np.array_equal(ids[0].values, ids[1].values):
            names = " and ".join(quoted(column.name or "(no name)", 30) for column in ids)
            yield (
                f"Columns {names} name the rows of the two files by other cells, so rows and labels"
                " were put together as they stand."
            )
    elif ids and _is_shuffled(ids[0].values):
        yield (
            f"Column {quoted(ids[0].name or '(no name)', 30)} counts the rows of one file in"
            " another order than they stand in, and the other file does not name its rows, so rows"
            " and labels were put together as they stand."
        )
    elif left:
        yield (
            f"Column {quoted(left[0], 30)} stands in both files and was not compared, so rows and"
            " labels were put together as they stand; if it names the rows, call it id."
        )
