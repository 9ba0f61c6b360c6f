"""What a row stands for, by columns of the file: equal rows, a weight; and whom it belongs to."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calibcore.data import LogitSet, Rows, with_design
from calibcore.errors import CalibrationInputError
from calibcore.weights import effective_size, frequency_weights, repeats
from dashboard.readers.limits import MAX_ROWS, MAX_UPLOAD
from dashboard.readers.recognition.groups import ids_of
from dashboard.readers.records import (
    Column,
    ColumnRole,
    Design,
    FileTable,
    GroupingColumn,
    RawEvent,
    RawSet,
    Reading,
    Role,
    of_set,
)
from dashboard.readers.refusal import FileError, quoted

Places = NDArray[np.intp]

# Events and trials ---------------------------------------------------------------------------


def opened(table: FileTable, reading: Reading) -> tuple[FileTable, Reading, Places | None]:
    """Return a table of events and trials with two rows for each: with the event, and without.

    Also from which row each is; None where the table is as it was.

    Raises `FileError` for more events than trials, parts of events, and trials that no column
    tells.
    """
    if "events" not in reading.roles:
        return table, reading, None
    events = _only(table, reading, "events")
    if "count" not in reading.roles:
        text = "how often the event happened, without of how many"
        raise FileError(f"column {quoted(events.name)}", text, "a column of how many rows each is")
    trials = _only(table, reading, "count")
    k, n = (np.asarray(column.values, dtype=np.float64) for column in (events, trials))
    bad = np.flatnonzero((k < 0) | (k > n) | (k != np.rint(k)))
    if bad.size:
        row = int(bad[0])
        text = f"{k[row]:g} events of {n[row]:g} in row {row + table.first_row}"
        wanted = f"whole numbers from 0 to {quoted(trials.name)}"
        raise FileError(f"column {quoted(events.name)}", text, wanted)
    lines = np.repeat(np.arange(table.n_rows), 2)
    happened = np.tile([1, 0], table.n_rows)
    counts = np.where(happened == 1, k[lines], (n - k)[lines])
    new = {id(events): happened, id(trials): counts}
    columns = [
        c if c.unread else replace(
            c, values=new.get(id(c), c.values[lines]), odd=None, percents=2 * c.percents,
            commas=2 * c.commas,
        )
        for c in table.columns
    ]  # fmt: skip
    roles = tuple("outcome" if role == "events" else role for role in reading.roles)
    whole = replace(table, columns=tuple(columns), n_rows=len(lines), among=None, shown=())
    sentence = f"Outcome: column {quoted(events.name)} of {quoted(trials.name)}."
    return whole, replace(reading, roles=roles, notes=(*reading.notes, sentence)), lines


def _only(table: FileTable, reading: Reading, role: ColumnRole) -> Column:
    columns = reading.columns_of(table, role)
    if len(columns) > 1:
        text = f"the same role as {quoted(columns[0].name)}"
        raise FileError(f"column {quoted(columns[1].name)}", text, "one column that says it")
    return columns[0]


# What was chosen -----------------------------------------------------------------------------


def design_of(table: FileTable, reading: Reading) -> Design | None:
    """Return what each row of a table stands for, and whom it belongs to; None for one row each.

    Raises `FileError` for both kinds of weights, and for several columns of one kind.
    """
    columns = {
        role: _only(table, reading, role)
        for role in ("count", "weight", "cluster")
        if role in reading.roles
    }
    if not columns:
        return None
    if {"count", "weight"} <= columns.keys():
        text = f"sampling weights beside {quoted(columns['count'].name)}, a number of rows"
        raise FileError(f"column {quoted(columns['weight'].name)}", text, "one kind of weight")
    weights = next((columns[role] for role in ("count", "weight") if role in columns), None)
    clusters = columns.get("cluster")
    numbers = None if clusters is None else ids_of(clusters)
    if clusters is not None and numbers is None:
        kinds = np.unique(clusters.values, return_inverse=True)[1]
        numbers = GroupingColumn(clusters.name, np.asarray(kinds, dtype=np.int64))
    return Design(
        None if weights is None else np.asarray(weights.values, dtype=np.float64),
        "count" in columns,
        "" if weights is None else weights.name,
        None if numbers is None else numbers.values,
        "" if clusters is None else clusters.name,
    )


def standing(
    rows: Mapping[Role, Rows], raw: Mapping[Role, RawSet | RawEvent]
) -> tuple[dict[Role, Rows], dict[Role, Places]]:
    """Return the rows as their columns say, and which row of the file each is where some are not.

    Raises `FileError` for weights that are none, more rows than memory holds, and a single cluster.
    """
    sets, copies = dict[Role, Rows](), dict[Role, Places]()
    for role, each in rows.items():
        design = raw[role].design
        places = None if design is None or design.weights is None else _places(design, each)
        if places is not None:
            copies[role] = places
        sets[role] = each if design is None else _designed(each, design, places, role)
    return sets, copies


def _designed(rows: Rows, design: Design, places: Places | None, role: Role) -> Rows:
    weights, clusters = design.weights, design.clusters
    if places is not None and weights is not None:
        rows, weights = rows.rows(places), None if design.counts else weights[places]
        clusters = None if clusters is None else clusters[places]
    try:
        if isinstance(rows, LogitSet):
            return with_design(rows, sample_weight=weights, clusters=clusters)
        return with_design(rows, sample_weight=weights, clusters=clusters)
    except CalibrationInputError as error:
        name = design.cluster_name if error.field == "clusters" else design.weight_name
        field = f"column {quoted(name)}{of_set(role)}"
        raise FileError(field, error.actual, error.expected) from error


def _places(design: Design, rows: Rows) -> Places:
    """Return the row that each row stands for; those of weight 0 for none."""
    weights = np.asarray(design.weights)
    bad = weights[(weights < 0) | (design.counts & (weights != np.rint(weights)))]
    if bad.size or not weights.any():
        wanted = "whole numbers of rows from 0" if design.counts else "weights from 0"
        text = f"{bad[0]:g}" if bad.size else "0 in every row"
        raise FileError(f"column {quoted(design.weight_name)}", text, wanted)
    if not design.counts:
        return np.flatnonzero(weights != 0)
    n_bytes = 8 * weights.sum() * (rows.n_classes if isinstance(rows, LogitSet) else 1)
    if weights.sum() > MAX_ROWS or n_bytes > MAX_UPLOAD:
        text = f"{weights.sum():,.0f} rows in all"
        raise FileError(f"column {quoted(design.weight_name)}", text, _FEWER)
    return repeats(frequency_weights(weights))


_FEWER = "fewer, or the numbers as sampling weights"


def design_sentences(
    sets: Mapping[Role, Rows], raw: Mapping[Role, RawSet | RawEvent]
) -> Iterator[str]:
    """Say what rows stand for, and how many they are then."""
    for role, rows in sets.items():
        design = raw[role].design
        if design is None:
            continue
        where = of_set(role)
        if design.weights is not None:
            name, n_lines = quoted(design.weight_name, 30), len(design.weights)
            if design.counts:
                yield (
                    f"Column {name} counts equal rows: {n_lines:,} rows{where} of the file stand"
                    f" for {rows.n_samples:,}."
                )
            else:
                size = effective_size(design.weights)
                yield (
                    f"Column {name} holds sampling weights: {n_lines:,} rows{where} are worth"
                    f" {size:,.0f} drawn with equal chances."
                )
        if rows.clusters is not None:
            n_clusters = int(np.unique(rows.clusters).size)
            yield (
                f"Rows{where} of the same {quoted(design.cluster_name, 30)} belong together:"
                f" {rows.n_samples:,} rows of {n_clusters:,}."
            )


def copied(
    raw: Mapping[Role, RawSet | RawEvent], copies: Mapping[Role, Places]
) -> dict[Role, RawSet | RawEvent]:
    """Return sets as they stood in the file, each row as often as it counts."""
    sets: dict[Role, RawSet | RawEvent] = {**raw}
    for role, places in copies.items():
        each = raw[role]
        # A row that counts for many repeats no id.
        counts = each.design is not None and each.design.counts
        sets[role] = (replace(each, ids=()) if counts else each).rows(places)
    return sets
