"""From columns with their roles to sets of values and labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dashboard.readers import recognition
from dashboard.readers.design import design_of, opened
from dashboard.readers.preview import preview_of, uses_of
from dashboard.readers.recognition.arrays import (
    Parts,
    parts_of,
    reading_of,
    refuse_axes,
    refuse_unread,
)
from dashboard.readers.recognition.events import is_event_first, no_event
from dashboard.readers.recognition.groups import group_of, groups_of, in_use
from dashboard.readers.recognition.outcomes import Outcome, outcome_of_event, right_or_wrong
from dashboard.readers.recognition.ranks import ranked, top_one, written_otherwise
from dashboard.readers.recognition.refused import usable_rows
from dashboard.readers.recognition.set_names import role_of, rows_by_set, rows_in_use, unclear_sets
from dashboard.readers.recognition.vocabulary import NO, YES, folded
from dashboard.readers.records import (
    SET_NAMES,
    Array,
    Arrays,
    Body,
    Column,
    ColumnRole,
    ColumnUse,
    Contents,
    FileSentences,
    FileTable,
    GroupingColumn,
    RawEvent,
    RawSet,
    Reading,
    ReadingOptions,
    Remarks,
    Role,
    is_whole,
    sentences_of,
    under,
)
from dashboard.readers.refusal import Answer, FileError, Question, plain, quoted

_MOST_EXACT = 2.0**53
_NEAR = 0.01
_BY_ORDER = (
    "Only the order of the sets says which is which: the first was taken for the calibration set,"
    " the second for the test set."
)


def contents_of(parsed: Body, options: ReadingOptions) -> Contents:
    """Return the sets of a file: what its columns or arrays are for, and their rows."""
    if isinstance(parsed, Arrays):
        return _of_arrays(parsed, options)
    refuse_unread(parsed.columns, options)
    return sets_from(parsed, _recognised(parsed, options), options)


def _of_arrays(parsed: Arrays, options: ReadingOptions) -> Contents:
    """Return the sets of arrays, each set read as a table."""
    refuse_axes(parsed.arrays)
    parts = parts_of(parsed, options)
    tables = (parsed.arrays, *(table.columns for table in parts.tables.values()))
    names = [column.name for columns in tables for column in columns]
    strange = [name for name, _ in options.roles if not any(own.endswith(name) for own in names)]
    if strange:
        raise FileError("roles", f"no column {quoted(strange[0])}", "the name of one in the file")
    if len(parts.tables) == 1:
        (role,) = parts.tables
        only = _of_part(parts, role, options)
        preview = only.preview if role not in parts.readings else None
        return replace(only, **sentences_of(only, parts), preview=preview)
    if options.sets == "one":
        return _all_rows(parts, options)
    by_set = {role: _of_part(parts, role, options) for role in parts.tables}
    sets = {role: contents.sets["rows"] for role, contents in by_set.items()}
    refuse_halves(sets)
    first, second = by_set.values()
    named = any(role_of(array.name)[0] != "rows" for array in parsed.arrays)
    return replace(
        first, sets=sets,
        **sentences_of(first, second, parts, FileSentences(doubts=() if named else (_BY_ORDER,))),
        uses={**second.uses, **first.uses}, preview=None,
    )  # fmt: skip


def refuse_halves(sets: Mapping[Role, RawSet | RawEvent]) -> None:
    """Refuse two sets of which one lacks its values, or its labels."""
    for role, part in sets.items():
        if isinstance(part, RawSet) and (part.table is None or part.labels is None):
            lacking = "values" if part.table is None else "labels"
            raise FileError(SET_NAMES[role], f"no {lacking}", "values and labels of both sets")


def _of_part(parts: Parts, role: Role, options: ReadingOptions) -> Contents:
    table = parts.tables[role]
    return sets_from(table, parts.readings.get(role) or _recognised(table, options), options)


def _all_rows(parts: Parts, options: ReadingOptions) -> Contents:
    """Return the arrays of both sets as one, with the set of each row to group by."""
    first, second = parts.tables.values()
    theirs = {column.name: column for column in second.columns}
    if len({*theirs} & {column.name for column in first.columns}) < 2:
        # Without names the arrays of both sets stand in the same order.
        theirs = dict(zip([c.name for c in first.columns], second.columns, strict=False))
    shared = [column for column in first.columns if column.name in theirs]
    columns = tuple(under([column, theirs[column.name]]) for column in shared)
    whole = replace(first, columns=columns, n_rows=first.n_rows + second.n_rows)
    reading = next(iter(parts.readings.values()), None)
    known = _recognised(whole, options) if reading is None else reading_of(
        whole, reading.class_names, options
    )  # fmt: skip
    places = np.repeat(np.arange(2, dtype=np.int32), [first.n_rows, second.n_rows])
    of_row = Column("set", places, tuple(parts.tables))
    whole = replace(whole, columns=(*columns, of_row))
    known = replace(known, roles=(*known.roles, "set"), reasons=(*known.reasons, ""))
    sets = sets_from(whole, known, options)
    return replace(sets, **sentences_of(sets, parts), preview=None)


def _recognised(parsed: FileTable, options: ReadingOptions) -> Reading:
    """Return what the columns are for; a refusal shows the first rows."""
    try:
        return recognition.recognise(parsed, options)
    except FileError as error:
        n_columns = len(parsed.columns)
        unknown: list[ColumnRole] = ["left out"] * n_columns
        preview = preview_of(parsed, Reading(tuple(unknown), ("",) * n_columns))
        undecided: list[ColumnUse] = ["undecided"] * len(preview.uses)
        preview = replace(preview, uses=tuple(undecided))
        uses: dict[str, ColumnUse] = {column.name: "undecided" for column in parsed.columns}
        error.known = error.known or Contents({}, uses=uses, preview=preview)
        raise


def sets_from(table: FileTable, reading: Reading, options: ReadingOptions) -> Contents:
    """Return the sets of a table whose columns are known."""
    known = Contents(
        {}, uses=uses_of(table, reading), preview=preview_of(table, reading),
        proposals=reading.proposals,
    )  # fmt: skip
    try:
        return _sets(table, reading, options, known)
    except FileError as error:
        error.known = error.known or known
        raise


def _sets(table: FileTable, reading: Reading, options: ReadingOptions, known: Contents) -> Contents:
    table, unused, teller = rows_in_use(table, reading, options)
    cleaned, left = usable_rows(table, reading, options)
    cleaned, reading, lines = opened(cleaned, reading)
    remarks = Remarks.of(table, reading)
    remarks.repairs += (*unused, *left)
    roles = _Roles(cleaned, reading, options, remarks)
    roles.lines = lines
    parting, others = rows_by_set(cleaned, reading, options, teller)
    roles.groups += ((column, "group") for column in others)
    remarks.notes += () if parting is None else parting.notes
    remarks.repairs += () if parting is None else parting.repairs
    remarks.doubts += () if parting is None else parting.doubts
    if parting is None and teller is None:
        doubts, proposals = unclear_sets([c for c, _ in roles.groups], others, options)
        remarks.doubts += doubts
        known = replace(known, proposals=(*known.proposals, *proposals))
    raw = _raw_of(roles)
    grouping, group_notes = groups_of(roles.groups)
    raw = replace(raw, columns=(*grouping, *raw.columns))
    remarks.notes += group_notes
    if isinstance(raw, RawSet) and (raw.table is None or raw.labels is None):
        parting = None
    sets: dict[Role, RawSet | RawEvent] = {"rows": raw} if parting is None else parting.of(raw)
    return replace(known, sets=sets, **sentences_of(remarks))


class _Roles:
    """The columns of a table by their roles, and what is said of them."""

    def __init__(
        self, table: FileTable, reading: Reading, options: ReadingOptions, remarks: Remarks
    ) -> None:
        self.table, self.reading, self.options, self.remarks = table, reading, options, remarks
        self.lines: Array | None = None  # row of the file of each, where several are one of it
        pairs = zip(table.columns, reading.roles, strict=True)
        self.groups = [pair for pair in pairs if pair[1] in ("group", "date")]

    def of(self, role: ColumnRole) -> list[Column]:
        """Return the columns of a role in their order."""
        return self.reading.columns_of(self.table, role)

    def one(self, role: ColumnRole) -> Column | None:
        """Return the only column of a role, or ask which one it is."""
        columns = self.of(role)
        if len(columns) > 1:
            raise Question(
                "columns", f"{len(columns)} of the role {quoted(role)}", f"Which is the {role}?",
                tuple(self._instead(column, columns, role) for column in columns[:6]),
            )  # fmt: skip
        return columns[0] if columns else None

    def _instead(self, chosen: Column, columns: Sequence[Column], role: ColumnRole) -> Answer:
        others = ((c.name, "left out") for c in columns if c is not chosen)
        label = plain(chosen.name, 30)
        return Answer(label, "The others are left out.", {"roles": ((chosen.name, role), *others)})


def _raw_of(roles: _Roles) -> RawSet | RawEvent:
    """Return all rows as one set."""
    table, remarks = roles.table, roles.remarks
    ids = (*roles.of("id"), *roles.of("cluster"))
    rows = RawSet(
        None, None, first_row=table.first_row, among=table.among, ids=ids, lines=roles.lines,
        design=design_of(table, roles.reading),
    )  # fmt: skip
    outcomes, classes = roles.of("outcome"), roles.of("class")
    if len(outcomes) > 1 and not all(map(_is_decided, outcomes)):
        outcomes = [column for column in (roles.one("outcome"),) if column is not None]
    truth = outcomes[0] if len(outcomes) == 1 else None
    if lists := roles.of("ranked class"):
        scores = _values(roles.of("ranked score"), remarks)
        raw, missing = ranked(lists, scores, truth, rows)
        remarks.missing += missing
        return raw
    if classes:
        raw = _of_classes(classes, roles, rows)
        if (predicted := roles.one("prediction")) is not None:
            group = group_of(predicted)
            raw = raw if isinstance(group, str) else replace(raw, predicted=group)
        return _labelled(raw, outcomes, classes)
    score = roles.one("score")
    if score is None:
        if not outcomes:
            raise FileError("columns", "neither scores nor outcomes", "a column of each")
        return _labelled(rows, outcomes, ())
    return _of_score(score, outcomes, roles, rows)


def _of_score(
    score: Column, outcomes: list[Column], roles: _Roles, rows: RawSet
) -> RawSet | RawEvent:
    """Return the rows of one score: of the event, or of the predicted class."""
    remarks, options = roles.remarks, roles.options
    values = _values([score], remarks)[:, 0]
    divided = bool(score.percents)
    raw = replace(rows, table=values, headings=(score.name,), class_names=(score.name,),
                  divided=divided)  # fmt: skip
    correct, predicted = roles.one("correct"), roles.one("prediction")
    if correct is not None:
        hits = right_or_wrong(correct)
        return RawEvent(
            values, hits, first_row=rows.first_row, among=rows.among, ids=rows.ids,
            design=rows.design,
        )  # fmt: skip
    if not outcomes:
        group = None if predicted is None else group_of(predicted)
        if isinstance(group, GroupingColumn):
            raw = replace(raw, predicted=group)
        return raw
    if len(outcomes) > 1:
        return _labelled(raw, outcomes, ())
    by_user = predicted is not None and (predicted.name, "prediction") in options.roles
    if predicted is not None and (by_user or not _is_threshold(values, predicted)):
        event = top_one(values, outcomes[0], predicted, rows)
        written_otherwise(outcomes[0], predicted, event.hits, remarks)
        return event
    if predicted is not None:
        roles.groups.append((predicted, "group"))
        remarks.notes.append(
            f"Column {quoted(predicted.name)} follows from {quoted(score.name)} by a threshold, so"
            " the score is of the event."
        )
    outcome = outcome_of_event(
        outcomes[0], options.event or roles.reading.event, options.class_names,
        (no_event(score.name, options),), values,
    )  # fmt: skip
    remarks.repairs += outcome.repairs
    return _of_event(raw, outcome, outcomes[0])


def _of_event(raw: RawSet, outcome: Outcome, column: Column) -> RawSet:
    names = outcome.names
    return replace(
        raw, labels=outcome.labels, label_texts=names, class_names=names or raw.class_names,
        label_name=f"column {quoted(column.name)}",
    )  # fmt: skip


def _is_threshold(scores: Array, predicted: Column) -> bool:
    """Return whether predictions of two classes follow from the score of one of them."""
    _, codes = np.unique(predicted.values, return_inverse=True)
    if codes.max(initial=0) != 1 or scores.min() >= 0.5:
        return False
    low, high = sorted((scores[codes == k].min(), scores[codes == k].max()) for k in (0, 1))
    return bool(low[1] <= high[0])


def _of_classes(classes: Sequence[Column], roles: _Roles, rows: RawSet) -> RawSet:
    names = roles.reading.class_names or tuple(column.name for column in classes)
    two = len(classes) == len(roles.reading.class_names) == 2 and (
        {*map(folded, roles.options.class_names)} <= {*map(folded, names)}
    )
    if two and not is_event_first(names[::-1]):
        first = is_event_first(names)
        classes, names = (classes[::-1], names[::-1]) if first else (classes, names)
        where = f"whose column comes {'first' if first else 'last'}"
        text = f"The event is class {plain(names[1], 30)}, {where}"
        if first:
            roles.remarks.notes.append(f"{text}.")
        else:
            roles.remarks.doubts.append(f"{text}: nothing else says which one it is.")
    table = _values(classes, roles.remarks)
    headings = tuple(column.name for column in classes)
    divided = any(column.percents for column in classes)
    return replace(
        rows, table=table, divided=divided,
        class_names=names if len(names) == table.shape[1] else None,
        headings=headings if len(headings) == table.shape[1] else None,
    )  # fmt: skip


def _labelled(raw: RawSet, outcomes: Sequence[Column], classes: Sequence[Column]) -> RawSet:
    """Return a set with its labels: texts, numbers as found, or one-hot columns."""
    if not outcomes:
        return raw
    named = replace(raw, label_name=f"column {quoted(outcomes[0].name)}")
    if len(outcomes) > 1:
        ordered = _in_order(outcomes, raw.class_names if classes else None)
        marks = [c.values if c.texts is None else right_or_wrong(c) for c in ordered]
        return replace(named, labels=np.column_stack(marks))
    column = outcomes[0]
    if column.texts is not None:
        codes, texts = in_use(column.values, column.texts)
        return replace(named, labels=codes, label_texts=texts)
    values = column.values
    whole = values.dtype.kind == "f" and is_whole(values)
    if whole and np.abs(values).max(initial=0) < _MOST_EXACT:
        values = values.astype(np.int64)
    return replace(named, labels=values)


def _is_decided(column: Column) -> bool:
    """Return whether a column may be one of several of 0 and 1, or of yes and no."""
    return {folded(text) for text in column.texts or ()} <= YES | NO


def _in_order(outcomes: Sequence[Column], names: tuple[str, ...] | None) -> Sequence[Column]:
    """Put one-hot outcomes in the order of the classes that their headings end with."""
    ordered = []
    for name in map(folded, names or ()):
        fitting = [column for column in outcomes if folded(column.name).endswith(name)]
        ordered += fitting if len(fitting) == 1 else []
    alike = len(ordered) == len(outcomes) == len({id(column) for column in ordered})
    return ordered if alike else outcomes


def _values(columns: Sequence[Column], remarks: Remarks) -> Array:
    """Return columns as one table of the narrowest floats that hold them, (n_rows, n_columns)."""
    if not columns:
        raise FileError("columns", "no scores", "a column of scores")
    dtype = np.result_type(np.float16, *(column.values.dtype for column in columns))
    parts = [column.values.astype(dtype, copy=False) for column in columns]
    table = np.column_stack(parts) if len(parts) > 1 else np.atleast_2d(parts[0].T).T  # no copy
    with_signs = [column for column in columns if column.percents]
    if with_signs:
        odd = next((c for c in (*with_signs, *columns) if c.percents < len(table)), None)
        if odd is not None:
            text = f"{odd.percents:,} of {len(table):,} cells with a percent sign"
            raise FileError(f"column {quoted(odd.name)}", text, "the sign in all cells or in none")
        table = table / 100
        remarks.repairs.append(f"Percentages were divided by 100 in all {len(table):,} rows.")
    return table
