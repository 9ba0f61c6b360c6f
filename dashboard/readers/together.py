"""Several files that belong together: parts of a table, values with labels, or two sets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dashboard.readers import recognition
from dashboard.readers.contents import Contents, Options, RawEvent, RawSet, Role
from dashboard.readers.recognition.array_names import parts_of, reading_of
from dashboard.readers.recognition.groups import ids_of
from dashboard.readers.recognition.set_names import is_training, role_of
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.sets import contents_of, sets_from
from dashboard.readers.stacked import kind_of, order_of, reordered, same_cells, under
from dashboard.readers.table import Arrays, Column, ColumnRole, Parsed, Table

_WANTED = "parts of one table, values with their labels, or a calibration and a test set"
_DIGITS = re.compile(r"\d+", re.ASCII)
_FEW = 5
"""Below so many rows, columns of other names may hold the same cells by chance."""

_FILE = "file"


@dataclass(frozen=True, eq=False)
class _File:
    """A table with the name of its file, without the ending."""

    name: str
    table: Table

    @property
    def role(self) -> Role:
        return role_of(self.name)[0]

    @property
    def headings(self) -> set[str]:
        return {column.name for column in self.table.columns}

    def column(self, name: str) -> Column:
        return next(column for column in self.table.columns if column.name == name)


@dataclass
class _Said:
    """Sentences on what the files were taken for."""

    found: list[str]
    repairs: list[str]
    doubts: list[str]


def combine_parsed(parsed: Sequence[tuple[str, Parsed]], options: Options) -> Contents:
    """Return what several files together hold.

    Parameters
    ----------
    parsed : sequence of (str, Table or Arrays)
        The name of each file and what its format has read.
    options : Options
        What the user says; ``roles`` name the columns of the files as they were put together.

    Returns
    -------
    Contents
        Its ``found`` says what the files were taken for. Files of the same columns are parts of
        one table, or by their names, or by being just two, a calibration and a test set. Files of
        other columns are put side by side, by a column that names the rows in both or in order.

    Raises
    ------
    FileError
        Files that do not belong together.
    Question
        As of one file.
    """
    if len(parsed) == 1:
        return contents_of(parsed[0][1], options)
    said = _Said([], [], [])
    files = _without_training([_as_file(name, one, options) for name, one in parsed], said)
    roles = {file.role for file in files}
    if {"calibration", "test"} == roles:
        sets = [[file for file in files if file.role == role] for role in ("calibration", "test")]
        return _two_sets([_one(part, said) for part in sets], options, said, "by name")
    if len(files) == 2 and _alike(files) and (pair := _named_pair(files)):
        return _two_sets(pair, options, said, "by name")
    if {"calibration", "test"} < roles:
        names = " and ".join(quoted(file.name, 30) for file in files if file.role == "rows")
        raise FileError("files", f"{names} beside a calibration and a test set", _WANTED)
    if len(files) == 2 and _alike(files) and not _are_parts(files):
        _refuse_models(files)
        said.doubts.append(
            f"The names {quoted(files[0].name, 40)} and {quoted(files[1].name, 40)} do not tell"
            " which is the calibration set: the first was taken."
        )
        return _two_sets(files, options, said, "being the first")
    lengths = [*dict.fromkeys(file.table.n_rows for file in files)]
    if len(files) == 4 and len(lengths) == 2 and not _alike(files):
        sets = [[file for file in files if file.table.n_rows == n] for n in lengths]
        if {*map(len, sets)} == {2}:
            ordered = _in_order_of_sets([_one(part, said) for part in sets])
            ordered = [ordered[0], _called_as(ordered[0], ordered[1])]
            return _two_sets(ordered, options, said, "paired by row counts")
    whole = _one(files, said).table
    columns: tuple[Column, ...] = ()
    if _alike(files):
        counts = [file.table.n_rows for file in files]
        places = np.repeat(np.arange(len(files), dtype=np.int32), counts)
        columns = (Column(_FILE, places, tuple(file.name for file in files)),)
    return _with(_read(whole, options, columns), said)


def _as_file(name: str, parsed: Parsed, options: Options) -> _File:
    """Return a file as one table; a bare array is called as its file."""
    stem = name.rsplit(".", 1)[0] or name
    if isinstance(parsed, Arrays):
        parts = parts_of(parsed, options)
        if len(parts.tables) > 1:
            raise FileError(f"file {quoted(name)}", "two sets, beside other files", "one file")
        (parsed,) = parts.tables.values()
        if len(parsed.columns) == 1:
            own = role_of(stem)
            called = own[1] if own[0] != "rows" else stem
            parsed = replace(parsed, columns=(replace(parsed.columns[0], name=called or "values"),))
    return _File(stem, parsed)


def _without_training(files: list[_File], said: _Said) -> list[_File]:
    """Leave out files of a training set beside those of a calibration and of a test set."""
    left = [file for file in files if file.role == "rows" and is_training(file.name)]
    rest = [file for file in files if file not in left]
    if not left or {file.role for file in rest} != {"calibration", "test"}:
        return files
    names = " and ".join(quoted(file.name) for file in left)
    said.repairs.append(f"Left out as a training set: {names}.")
    return rest


# Reading --------------------------------------------------------------------------------------


def _read(table: Table, options: Options, columns: Sequence[Column] = ()) -> Contents:
    """Return the sets of a table, with further columns to group by."""
    wide = any(c.values.ndim > 1 and c.texts is None for c in table.columns)
    known = reading_of(table, (), options) if wide else recognition.recognise(table, options)
    group: list[ColumnRole] = ["group"] * len(columns)
    reading = replace(
        known,
        roles=(*known.roles, *group),
        reasons=(*known.reasons, *("the name of the file" for _ in columns)),
    )
    whole = replace(table, columns=(*table.columns, *columns), shown=())
    return sets_from(whole, reading, options)


def _with(contents: Contents, said: _Said) -> Contents:
    return replace(
        contents, found=(*said.found, *contents.found), repairs=(*said.repairs, *contents.repairs),
        doubts=(*said.doubts, *contents.doubts),
    )  # fmt: skip


def _two_sets(files: Sequence[_File], options: Options, said: _Said, why: str) -> Contents:
    """Return two files as the calibration and the test set, read as one table."""
    fitted, judged = files
    said.found.append(
        f"Calibration set from {quoted(fitted.name)}, test set from {quoted(judged.name)} ({why})."
    )
    if is_training(fitted.name):
        said.doubts.append(
            f"File {quoted(fitted.name)} is called a training set: a model looks better there than"
            " on rows that it has not seen."
        )
    contents = _with(_read(_stacked(files, said), options), said)
    raw = contents.sets.get("rows")
    if raw is None:
        raise FileError("files", "a column of sets in files of two sets", "one of the two")
    first = fitted.table.n_rows
    kept = np.ones(first + judged.table.n_rows, np.bool_) if raw.among is None else raw.among
    is_first = (np.arange(len(kept)) < first)[kept]
    sets: dict[Role, RawSet | RawEvent] = {
        "calibration": _of_file(raw.rows(is_first), fitted.table, kept[:first]),
        "test": _of_file(raw.rows(~is_first), judged.table, kept[first:]),
    }
    for role, part in sets.items():
        if isinstance(part, RawSet) and (part.table is None or part.labels is None):
            lacking = "values" if part.table is None else "labels"
            raise FileError(f"{role} set", f"no {lacking}", "values and labels of both sets")
    return replace(contents, sets=sets)


def _of_file(raw: RawSet | RawEvent, table: Table, kept: NDArray[np.bool_]) -> RawSet | RawEvent:
    """Return rows that are numbered as their own file numbers them."""
    among = kept
    if table.among is not None:
        among = table.among.copy()
        among[table.among] = kept
    return replace(raw, among=among, first_row=table.first_row)


# Which belong together ------------------------------------------------------------------------


def _alike(files: Sequence[_File]) -> bool:
    """Return whether all files have the same columns, of the same kinds."""
    first = files[0]
    if any(file.headings != first.headings for file in files):
        return False
    kinds = {tuple(kind_of(file.column(c.name)) for c in first.table.columns) for file in files}
    alone = len(first.table.columns) == 1 and not first.table.named
    return len(kinds) == 1 or not alone


def _named_pair(files: list[_File]) -> list[_File] | None:
    """Return the calibration file and the test file, where the name of one of them tells."""
    one, other = files
    if is_training(one.name) != is_training(other.name):
        return files if is_training(one.name) else files[::-1]
    return _in_order_of_sets(files) if {one.role, other.role} - {"rows"} else None


def _are_parts(files: Sequence[_File]) -> bool:
    """Return whether names differ by their numbers alone, such as ``part-0`` and ``part-1``."""
    return len({_DIGITS.sub("0", file.name) for file in files}) == 1


def _refuse_models(files: Sequence[_File]) -> None:
    """Refuse two files of the same rows that differ in fractions alone: scores of two models."""
    one, other = files
    if one.table.n_rows != other.table.n_rows:
        return
    differing = [
        column for column in one.table.columns if not same_cells(column, other.column(column.name))
    ]
    told = len(differing) < len(one.table.columns)
    if told and all(kind_of(column) == "fractions" for column in differing):
        names = " and ".join(quoted(file.name, 40) for file in files)
        raise FileError(
            "files", f"the same rows in {names}, with other scores", "one model; Models compares"
        )


def _in_order_of_sets(files: list[_File]) -> list[_File]:
    """Put the test set last, where a name tells which it is."""
    return files[::-1] if files[0].role == "test" or files[1].role == "calibration" else files


def _called_as(first: _File, second: _File) -> _File:
    """Return a file whose columns are called as those of the same shape in another."""
    columns = list(second.table.columns)
    for k, column in enumerate(columns):
        shape = (column.values.ndim, kind_of(column))
        fitting = [c for c in first.table.columns if (c.values.ndim, kind_of(c)) == shape]
        if column.name not in first.headings and len(fitting) == 1:
            columns[k] = replace(column, name=fitting[0].name)
    return replace(second, table=replace(second.table, columns=tuple(columns)))


def _one(files: Sequence[_File], said: _Said) -> _File:
    """Return files of one set as one: alike ones row by row, others side by side."""
    groups: list[list[_File]] = []
    for file in files:
        group = next((g for g in groups if _alike([g[0], file])), None)
        if group is None:
            groups.append([file])
        else:
            group.append(file)
    whole = []
    for group in groups:
        if len(group) > 1:
            names = ", ".join(quoted(file.name, 30) for file in group[:4])
            more = f" and {len(group) - 4} more" if len(group) > 4 else ""
            said.found.append(f"{len(group)} parts of one table: {names}{more}.")
        table = _stacked(group, said) if len(group) > 1 else group[0].table
        whole.append(_File(group[0].name, table))
    if len(whole) > 2:
        raise FileError("files", f"{len(whole)} files of other columns each", _WANTED)
    return _beside(whole[0], whole[1], said) if len(whole) == 2 else whole[0]


# Row by row -----------------------------------------------------------------------------------


def _stacked(files: Sequence[_File], said: _Said) -> Table:
    """Return the rows of all files under one another, in the columns that all have."""
    tables = [file.table for file in files]
    shared = set.intersection(*(file.headings for file in files))
    most = max(len(table.columns) for table in tables)
    if 2 * len(shared) < most or not shared:
        raise FileError("files", "other columns in each", _WANTED)
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


# Side by side ---------------------------------------------------------------------------------


def _beside(one: _File, other: _File, said: _Said) -> _File:
    """Return the columns of two files side by side, the same rows of both together."""
    names = f"{quoted(one.name, 40)} and {quoted(other.name, 40)}"
    order, name = _order_by_name(one, other)
    if order is None and one.table.n_rows != other.table.n_rows:
        counts = f"{one.table.n_rows:,} and {other.table.n_rows:,} rows in {names}"
        raise FileError("files", counts, "as many labels as values, or one column of ids in both")
    table = other.table
    if order is not None:
        columns = tuple(reordered(column, order) for column in table.columns)
        table = replace(table, columns=columns)
        said.found.append(f"{names} were joined by column {quoted(name, 30)}.")
    else:
        said.found.append(f"{names} were put side by side in the order of their rows.")
    new = []
    for column in table.columns:
        if column.name not in one.headings:
            new.append(column)
        elif not same_cells(one.column(column.name), column):
            if order is None and one.table.named and other.table.named:
                said.doubts.append(
                    f"Column {quoted(column.name, 30)} differs between the files, so their rows may"
                    " not be the same."
                )
            new.append(replace(column, name=f"{column.name} ({other.name})"))
    return _File(one.name, replace(one.table, columns=(*one.table.columns, *new)))


def _order_by_name(one: _File, other: _File) -> tuple[NDArray[np.intp] | None, str]:
    """Return where each row of one file is in another, and the column that says so."""
    pairs = [
        (first, second)
        for first in one.table.columns
        for second in other.table.columns
        if first.name == second.name or _FEW <= len(second.values) == len(first.values)
    ]
    for first, second in sorted(pairs, key=lambda pair: pair[0].name != pair[1].name):
        ids, others = ids_of(first), ids_of(second)
        if ids is None or others is None or len(ids.values) != len(others.values):
            continue
        order = order_of(ids.values, others.values)
        if order is not None:
            return order, first.name
    return None, ""
