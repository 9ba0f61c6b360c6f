"""Files under one another, or side by side by what names their rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.belonging import FEW, File, has_other_columns, order_by_name
from dashboard.readers.contents import Array, Options
from dashboard.readers.recognition.groups import ids_of
from dashboard.readers.refusal import Answer, FileError, Question, quoted
from dashboard.readers.stacked import kind_of, same_cells, under
from dashboard.readers.table import Column, Table, table_at

WANTED = "parts of one table, values with their labels, or a calibration and a test set"
_INDEX = ("", "__index_level_0__", "Unnamed: 0")
"""What an index of pandas is called, which says where each row was."""


@dataclass
class Said:
    """Sentences on what the files were taken for."""

    found: list[str]
    repairs: list[str]
    doubts: list[str]


# Row by row -----------------------------------------------------------------------------------


def parts_under(files: Sequence[File], said: Said) -> Table:
    """Return the rows of parts of one table under one another, and say so."""
    names = ", ".join(quoted(file.name, 30) for file in files[:4])
    more = f" and {len(files) - 4} more" if len(files) > 4 else ""
    said.found.append(f"{len(files)} parts of one table: {names}{more}.")
    return stacked([files[0], *(called_as(files[0], file) for file in files[1:])], said)


def stacked(files: Sequence[File], said: Said) -> Table:
    """Return the rows of all files under one another, in the columns that all have."""
    tables = [file.table for file in files]
    shared = set.intersection(*(file.headings for file in files))
    if has_other_columns(files):
        raise FileError("files", "other columns in each", WANTED)
    left = sorted(set.union(*(file.headings for file in files)) - shared)
    if left:
        names = ", ".join(quoted(name, 30) for name in left[:6])
        said.repairs.append(f"Left out, as not all files have it: {names}.")
    columns = tuple(
        under([file.column(column.name) for file in files])
        for column in tables[0].columns
        if column.name in shared
    )
    cuts = [table.cut for table in tables if table.cut is not None]
    return Table(
        columns, sum(table.n_rows for table in tables), named=tables[0].named,
        cut=np.concatenate(cuts) if cuts else None,
        found=_once(tables, "found"), repairs=_once(tables, "repairs"),
        doubts=_once(tables, "doubts"),
    )  # fmt: skip


def _once(tables: Sequence[Table], what: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(said for table in tables for said in getattr(table, what)))


def called_as(first: File, second: File) -> File:
    """Return a file whose bare arrays are called as those of the same shape in another."""
    columns = list(second.table.columns)
    for k, column in enumerate(columns):
        shape = (column.values.ndim, kind_of(column))
        fitting = [c for c in first.table.columns if (c.values.ndim, kind_of(c)) == shape]
        other = column.name in second.bare and column.name not in first.headings
        if other and len(fitting) == 1 and fitting[0].name in first.bare:
            columns[k] = replace(column, name=fitting[0].name)
    return replace(second, table=replace(second.table, columns=tuple(columns)))


# Side by side ---------------------------------------------------------------------------------


def beside(one: File, other: File, options: Options, said: Said) -> File:
    """Return the columns of two files side by side, the same rows of both together.

    Raises
    ------
    FileError
        Rows of which it cannot be told which belong together.
    Question
        Whether rows that are in one file only are to be left out.
    """
    names = f"{quoted(one.name, 40)} and {quoted(other.name, 40)}"
    order, name = order_by_name(one, other)
    if order is not None:
        other = _at(other, order)
        said.found.append(f"{names} were joined by column {quoted(name, 30)}.")
    elif (both := _in_both(one, other)) is not None:
        name, here, there = both
        _leave_out((one, other), name, len(here), options, said)
        one, other, order = _at(one, here), _at(other, there), there
        said.found.append(f"{names} were joined by column {quoted(name, 30)}.")
    else:
        if one.table.n_rows != other.table.n_rows:
            counts = f"{one.table.n_rows:,} and {other.table.n_rows:,} rows in {names}"
            wanted = "as many labels as values, or one column of ids in both"
            raise FileError("files", counts, wanted)
        one, other = _as_counted(one, said), _as_counted(other, said)
        said.found.append(f"{names} were put side by side in the order of their rows.")
    new = []
    for column in other.table.columns:
        if column.name not in one.headings:
            new.append(column)
        elif not same_cells(one.column(column.name), column):
            if order is None and one.table.named and other.table.named:
                _compare(one.column(column.name), column, said)
            new.append(replace(column, name=f"{column.name} ({other.name})"))
    table = replace(one.table, columns=(*one.table.columns, *new))
    return replace(one, table=table, bare=one.bare | other.bare)


def _at(file: File, places: NDArray[np.intp]) -> File:
    return replace(file, table=table_at(file.table, places))


def _in_both(one: File, other: File) -> tuple[str, NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the column that names rows of which most are in both files, and their places."""
    for first in one.table.columns:
        for second in other.table.columns:
            ids, others = _names(first), _names(second)
            if ids is None or others is None:
                continue
            _, here, there = np.intersect1d(ids, others, assume_unique=True, return_indices=True)
            fewer = min(len(ids), len(others))
            if 2 * len(here) > fewer and not (_counts(ids) and _counts(others)):
                order = np.argsort(here)
                return first.name, here[order], there[order]
    return None


def _names(column: Column) -> Array | None:
    """Return numbers that stand for the cells, where each is there once."""
    fractions = column.texts is None and kind_of(column) == "fractions"
    ids = None if fractions or column.odd is not None else ids_of(column)
    if ids is None or len(ids.values) < 2 or len(np.unique(ids.values)) < len(ids.values):
        return None
    return ids.values


def _counts(ids: Array) -> bool:
    return bool((np.diff(ids) == 1).all())


def _leave_out(files: Sequence[File], name: str, n_both: int, options: Options, said: Said) -> None:
    """Ask about rows that are in one file only, or say that they are left out."""
    missing = [(file, file.table.n_rows - n_both) for file in files]
    parts = [
        f"{count:,} of {file.table.n_rows:,} rows of {quoted(file.name, 40)}"
        for file, count in missing
        if count
    ]
    found = f"{' and '.join(parts)} are not in the other file, by column {quoted(name, 30)}"
    if not options.leave_out:
        answer = Answer("Leave them out", f"{n_both:,} rows are in both.", {"leave_out": True})
        raise Question("files", found, "Leave out the rows that are in one file only?", (answer,))
    said.repairs.append(f"Left out: {found}.")


def _as_counted(file: File, said: Said) -> File:
    """Return a file in the order that an index of it says; any other count is doubted."""
    for column in file.table.columns:
        ids = _names(column)
        if (
            ids is None
            or len(ids) < FEW
            or _counts(ids)
            or not _counts(np.sort(ids))
            or ids.min() not in (0, 1)
        ):
            continue
        if column.name in _INDEX:
            said.repairs.append(
                f"Put in the order of its index {quoted(column.name, 30)}: {quoted(file.name, 40)}."
            )
            return _at(file, np.argsort(ids))
        said.doubts.append(
            f"Column {quoted(column.name, 30)} of {quoted(file.name, 40)} counts rows in another"
            " order; the other file does not name its rows, so they stand as in the files."
        )
    return file


def _compare(column: Column, its: Column, said: Said) -> None:
    """Refuse, or doubt, a column of one name that says that the rows are not the same."""
    ids, others = ids_of(column), ids_of(its)
    if ids is not None and others is not None:
        different = len(np.unique(ids.values))
        same = np.array_equal(np.sort(ids.values), np.sort(others.values))
        if same and different > len(ids.values) / 2:
            raise FileError(
                f"column {quoted(column.name, 30)}",
                "the same rows in another order in the other file, and some twice", "each row once",
            )  # fmt: skip
    said.doubts.append(
        f"Column {quoted(column.name, 30)} differs between the files, so their rows may not be the"
        " same."
    )
