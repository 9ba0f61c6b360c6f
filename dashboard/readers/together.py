"""Several files, or sheets: which belong together, and their rows under or beside one another."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, combinations, product
from math import prod
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dashboard.readers import recognition
from dashboard.readers.formats import FORMATS, ending_of, first_items
from dashboard.readers.recognition.arrays import parts_of, reading_of
from dashboard.readers.recognition.features import feature_of
from dashboard.readers.recognition.groups import ids_of
from dashboard.readers.recognition.set_names import further_sets, is_training, role_of, rows_of_sets
from dashboard.readers.recognition.vocabulary import ID_WORDS, folded, set_words_of, words_of
from dashboard.readers.records import (
    Array,
    Arrays,
    Body,
    Column,
    ColumnRole,
    Contents,
    FileTable,
    RawEvent,
    RawSet,
    ReadingOptions,
    Remarks,
    Role,
    is_whole,
    rows_at,
    sentences_of,
    table_at,
    under,
    within,
)
from dashboard.readers.refusal import Answer, FileError, Question, percent, plain, quoted
from dashboard.readers.sets import contents_of, refuse_halves, sets_from

WANTED = "parts of one table, values with their labels, or a calibration and a test set"
DIGITS = re.compile(r"\d+", re.ASCII)
FEW = 5
"""Below so many rows, columns of other names may hold the same cells by chance."""
_INDEX = ("", "__index_level_0__", "Unnamed: 0")
"""What an index of pandas is called, which says where each row was."""
_FEW_TRUTHS = 12
_FIRST = 1_000
"""So many rows mostly tell fractions from whole numbers."""
_FILE = "file"
_AS_CHOSEN = "as chosen"
_WITH = '" with "'  # between columns that name rows together
_LONGEST_ID = 18
"""Digits of an id that fit into a whole number of 64 bits."""


@dataclass(frozen=True, eq=False)
class File:
    """A table of one of several files."""

    name: str  # of the file without its ending; of several put together, of the first
    table: FileTable
    source: str  # the whole name, as ``together`` of `ReadingOptions` has it
    bare: frozenset[str] = frozenset()  # columns that are bare arrays, called as their file
    apart: str | None = None  # what its name has that those beside it have not; None if alone

    @property
    def role(self) -> Role:
        """The set that its name speaks of."""
        return role_of(self.name if self.apart is None else self.apart)[0]

    @property
    def is_training(self) -> bool:
        """Whether its name speaks of rows that a model was trained on."""
        return is_training(self.name if self.apart is None else self.apart)

    @property
    def headings(self) -> set[str]:
        """The names of its columns."""
        return {column.name for column in self.table.columns}

    def column(self, name: str) -> Column:
        """Return the column of a name."""
        return next(column for column in self.table.columns if column.name == name)


def alike(files: Sequence[File]) -> bool:
    """Return whether all files have the same columns, of the same kinds."""
    first = files[0]
    if any(file.headings != first.headings for file in files):
        return False
    kinds = {tuple(kind_of(file.column(c.name)) for c in first.table.columns) for file in files}
    same = len(kinds) == 1 or not all(file.bare for file in files)
    return same and not any(_are_score_and_truth(*pair) for pair in combinations(files, 2))


def _are_score_and_truth(one: File, other: File) -> bool:
    """Return whether a column is of scores in one file, and of the truth of its rows in another."""
    pairs = [(column, other.column(column.name)) for column in one.table.columns]
    unlike = [pair for pair in pairs if {*map(kind_of, pair)} == {"fractions", "whole"}]
    few = [min(len(np.unique(c.values)) for c in pair) <= _FEW_TRUTHS for pair in unlike]
    return any(few) and order_by_name(one, other)[0] is not None


def has_other_columns(files: Sequence[File]) -> bool:
    """Return whether files have fewer than half of their columns in common."""
    shared = set.intersection(*(file.headings for file in files))
    return not shared or 2 * len(shared) < max(len(file.table.columns) for file in files)


def groups_of(files: Sequence[File]) -> list[list[File]]:
    """Return the files by their columns; bare arrays, whatever they are called, by their kind."""
    groups: list[list[File]] = []
    for file in files:
        group = next((g for g in groups if _are_kin(g[0], file)), None)
        if group is None:
            groups.append([file])
        else:
            group.append(file)
    return groups


def _are_kin(one: File, other: File) -> bool:
    if one.headings == one.bare and other.headings == other.bare:
        kinds = [
            (f.table.columns[0].values.ndim, kind_of(f.table.columns[0])) for f in (one, other)
        ]
        return kinds[0] == kinds[1]
    return alike([one, other])


def order_by_name(one: File, other: File) -> tuple[NDArray[np.intp] | None, str]:
    """Return where each row of one file is in another, and the column that says so."""
    pairs = [
        (first, second)
        for first in one.table.columns
        for second in other.table.columns
        if first.name == second.name or FEW <= len(second.values) == len(first.values)
    ]
    alone = (
        (first.name, ids.values, others.values)
        for first, second in sorted(pairs, key=lambda pair: pair[0].name != pair[1].name)
        if (ids := ids_of(first)) and (others := ids_of(second))
    )
    for name, own, its in chain(alone, _joint_ids(one, other)):
        if len(own) == len(its) and (order := order_of(own, its)) is not None:
            return order, name
    return None, ""


# Models ---------------------------------------------------------------------------------------


def models_of(files: Sequence[File]) -> list[list[File]]:
    """Return the files of each of several models of the same rows; nothing where there are none."""
    by_set = [[file for file in files if file.role == role] for role in dict.fromkeys(
        file.role for file in files
    )]  # fmt: skip
    rivals = [models for part in by_set if (models := _rivals(part))]
    if not rivals or len({len(models) for models in rivals}) > 1:
        return []
    first, *others = rivals
    return [
        [*model, *(file for part in others for file in _of_model(model[0], k, part))]
        for k, model in enumerate(first)
    ]


def _rivals(files: Sequence[File]) -> list[list[File]]:
    """Return the files of each model of one set: with their labels, or with those of all."""
    groups = groups_of(files)
    if len(groups) == 1 and len(files) > 1:
        first = files[0]
        same = all(_are_other_scores(first, other) for other in files[1:])
        return [[file] for file in files] if same else []
    if len({file.table.n_rows for file in files}) > 1 or len(groups) != 2:
        return []
    values, labels = sorted(groups, key=lambda group: not _has_fractions(group[0]))
    if len(values) < 2 or not all(map(_has_fractions, values)) or _has_fractions(labels[0]):
        return []
    if len(labels) == 1:
        return [[file] for file in values]
    pairs = pairings(files)
    of_all = len(labels[0].table.columns) == 1 and labels[0].table.n_rows >= FEW
    columns = [file.table.columns[0] for file in labels]
    same = all(same_cells(columns[0], column) for column in columns[1:])
    return [*pairs[0].pairs] if of_all and same and len(pairs) == 1 else []


def _has_fractions(file: File) -> bool:
    return any(kind_of(column) == "fractions" for column in file.table.columns)


def _are_other_scores(one: File, other: File) -> bool:
    """Return whether two files hold the same rows and differ in fractions, or predictions too."""
    if one.table.n_rows != other.table.n_rows or not alike([one, other]):
        return False
    order, name = order_by_name(one, other)
    same: list[Column] = []
    differing: list[Column] = []
    for column in one.table.columns:
        its = other.column(column.name)
        alone = same_cells(column, its if order is None else rows_at(its, order))
        (same if alone else differing).append(column)
    telling = [
        column
        for column in same
        if len(column.values) and (column.values != column.values[0]).any()
    ]
    kinds = {kind_of(column) for column in differing}
    # With what names the rows and one more column alike, predictions may differ.
    named = any(column.name != name for column in telling) and name != ""
    return bool(telling) and "fractions" in kinds and (named or len(kinds) == 1)


def _of_model(file: File, place: int, rivals: Sequence[list[File]]) -> list[File]:
    """Return the files of a model in another set: those of most words in common."""
    shared = [len(_words(file) & _words(model[0])) for model in rivals]
    best = max(shared)
    return rivals[place] if shared.count(best) > 1 else rivals[shared.index(best)]


def ask_models(models: Sequence[Sequence[File]], *, n_files: int, kind: str) -> NoReturn:
    """Ask which of several models is meant, or of just two files whether they are two sets."""
    names = [" and ".join(quoted(file.source, 30) for file in model) for model in models]
    answers = tuple(
        Answer(
            plain(" + ".join(file.source for file in model), 50),
            "The page Models compares it with the others."
            if kind == "files"
            else "The page Models compares it with others that are saved as files of their own.",
            {"together": without(model, models)},
        )
        for model in models
    )
    if n_files == len(models) == 2:
        why = f"Calibration set {quoted(models[0][0].source, 40)}."
        parts = Answer("Neither: parts of one table", "", {"together": ("rows",)})
        other = Answer("Neither: two sets", why, {"together": ("sets", models[0][0].source)})
        answers = (*answers, other, parts)
    text = f"{len(models)} models of the same rows, in {'; '.join(names[:4])}"
    raise Question(kind, text, "Which model's scores?", answers)


def without(model: Sequence[File], models: Sequence[Sequence[File]]) -> tuple[str, ...]:
    """Return the choice of one model: the files of all others are left out."""
    return ("without", *(f.source for other in models if other is not model for f in other))


# Pairs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two files of values, each with its labels, and what tells that they belong together."""

    pairs: list[list[File]]
    why: str


def pairings(files: Sequence[File]) -> list[Pairing]:
    """Return how four files of two kinds may be paired, the likelier first; else nothing."""
    groups = groups_of(files)
    if [len(group) for group in groups] != [2, 2]:
        return []
    first, second = groups
    both = [
        Pairing([[first[0], second[0]], [first[1], second[1]]], ""),
        Pairing([[first[0], second[1]], [first[1], second[0]]], ""),
    ]
    for why, points in (
        ("by name", [_same_words(one.pairs) for one in both]),
        ("by row counts", [all(a.table.n_rows == b.table.n_rows for a, b in one.pairs)
                           for one in both]),
        ("by ids", [all(order_by_name(*pair)[1] for pair in one.pairs) for one in both]),
    ):  # fmt: skip
        if sum(map(bool, points)) == 1:
            return [Pairing(both[int(not points[0])].pairs, why)]
    shares = [_agreement(one.pairs) for one in both]
    texts = [
        "" if share is None else f"labels agree with the largest value in {percent(share)} of rows"
        for share in shares
    ]
    ranked = [Pairing(one.pairs, why) for one, why in zip(both, texts, strict=True)]
    return ranked if (shares[0] or 0.0) >= (shares[1] or 0.0) else ranked[::-1]


def _words(file: File) -> set[str]:
    role, rest = role_of(file.name)
    return {*words_of(rest.replace("_", " ")), *(() if role == "rows" else (role,))} - {"_"}


def _same_words(pairs: Sequence[Sequence[File]]) -> bool:
    """Return whether what distinguishes two files of a kind is in the names of their partners."""
    own = [
        [_words(pair[side]) - _words(pairs[1 - k][side]) for side in (0, 1)]
        for k, pair in enumerate(pairs)
    ]
    return any(one & other for one, other in own)


def _agreement(pairs: Sequence[Sequence[File]]) -> float | None:
    """Return in which share of rows labels are the place of the largest value."""
    agreeing = n_rows = 0
    for pair in pairs:
        columns = [column for file in pair for column in file.table.columns]
        wide = [c for c in columns if c.values.ndim == 2 and kind_of(c) == "fractions"]
        flat = [c for c in columns if c.values.ndim == 1 and kind_of(c) == "whole"]
        if len(wide) != 1 or len(flat) != 1 or len(wide[0].values) != len(flat[0].values):
            return None
        agreeing += int((wide[0].values.argmax(axis=1) == flat[0].values).sum())
        n_rows += len(flat[0].values)
    return agreeing / n_rows


def ask_pairs(ways: Sequence[Pairing]) -> NoReturn:
    """Ask which files belong together."""
    answers = []
    for one in ways:
        sources = [file.source for file in in_order(one.pairs)[0]]
        change = {"together": ("sets", *sources)}
        answers.append(Answer(plain(" + ".join(sources), 50), one.why, change))
    names = ", ".join(quoted(file.source, 30) for pair in ways[0].pairs for file in pair)
    raise Question(
        "files", f"two with values and two with labels, {names}",
        "Which two are the calibration set?", tuple(answers),
    )  # fmt: skip


def ask_sets(pairs: Sequence[Sequence[File]]) -> NoReturn:
    """Ask whether two files of the same columns, or two pairs, are one table or two sets."""
    n_rows = sum(pair[0].table.n_rows for pair in pairs)
    why = f"All {n_rows:,} rows are evaluated."
    answers = [Answer("Parts of one table", why, {"together": ("rows",)})]
    for pair, other in (pairs, pairs[::-1]):
        text = f"Two sets: calibration {plain(pair[0].source, 40)}"
        why = f"The {other[0].table.n_rows:,} rows of {quoted(other[0].source, 30)} are evaluated."
        chosen = {"together": ("sets", *(file.source for file in pair))}
        answers.append(Answer(text, why, chosen))
    names = " and ".join(quoted(pair[0].source, 40) for pair in pairs)
    raise Question("files", f"{names} have the same columns", "What are they?", tuple(answers))


def in_order(pairs: Sequence[list[File]]) -> list[list[File]]:
    """Put the test set last, where a name tells which it is."""
    roles = [{file.role for file in pair} for pair in pairs]
    turned = "test" in roles[0] or "calibration" in roles[1]
    return [*pairs][::-1] if turned else [*pairs]


# Row by row -----------------------------------------------------------------------------------


def parts_under(files: Sequence[File], remarks: Remarks) -> FileTable:
    """Return the rows of parts of one table under one another, and say so."""
    names = ", ".join(quoted(file.name, 30) for file in files[:4])
    more = f" and {len(files) - 4} more" if len(files) > 4 else ""
    remarks.notes.append(f"{len(files)} parts of one table: {names}{more}.")
    return stacked([files[0], *(called_as(files[0], file) for file in files[1:])], remarks)


def stacked(files: Sequence[File], remarks: Remarks) -> FileTable:
    """Return the rows of all files under one another, in the columns that all have."""
    tables = [file.table for file in files]
    shared = set.intersection(*(file.headings for file in files))
    if has_other_columns(files):
        raise FileError("files", "other columns in each", WANTED)
    left = sorted(set.union(*(file.headings for file in files)) - shared)
    if left:
        names = ", ".join(quoted(name, 30) for name in left[:6])
        remarks.repairs.append(f"Left out, as not all files have it: {names}.")
    columns = tuple(
        under([file.column(column.name) for file in files])
        for column in tables[0].columns
        if column.name in shared
    )
    cuts = [table.cut for table in tables if table.cut is not None]
    return FileTable(
        columns, sum(table.n_rows for table in tables), named=tables[0].named,
        cut=np.concatenate(cuts) if cuts else None, **sentences_of(*tables),
    )  # fmt: skip


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


def beside(one: File, other: File, options: ReadingOptions, remarks: Remarks) -> File:
    """Return the columns of two files side by side, the same rows of both together."""
    names = f"{quoted(one.name, 40)} and {quoted(other.name, 40)}"
    order, name = order_by_name(one, other)
    if order is not None:
        other = _at(other, order)
    elif (both := _in_both(one, other)) is not None:
        name, here, there = both
        if (whole := _of_a_list((one, other), both, options, remarks)) is not None:
            return whole
        _leave_out((one, other), name, len(here), options, remarks)
        one, other, order = _at(one, here), _at(other, there), there
    elif (alike_ids := _order_of_likened(one, other, options, remarks)) is not None:
        one, other, name = alike_ids
        order = np.arange(one.table.n_rows)
    else:
        _refuse_other_ids(one, other)
        if one.table.n_rows != other.table.n_rows:
            counts = f"{one.table.n_rows:,} and {other.table.n_rows:,} rows in {names}"
            wanted = "as many labels as values, or one column of ids in both"
            raise FileError("files", counts, wanted)
        one, other = _as_counted(one, remarks), _as_counted(other, remarks)
    by_name = f"joined by column {quoted(name, 30)}"
    how = "put side by side in the order of their rows" if order is None else by_name
    remarks.notes.append(f"{names} were {how}.")
    new = []
    for column in other.table.columns:
        if column.name not in one.headings:
            new.append(column)
        elif not same_cells(one.column(column.name), column):
            if order is None and one.table.named and other.table.named:
                remarks.doubts.append(
                    f"Column {quoted(column.name, 30)} differs between the files, so their rows may"
                    " not be the same."
                )
            new.append(replace(column, name=f"{column.name} ({other.name})"))
    table = replace(one.table, columns=(*one.table.columns, *new))
    return replace(one, table=table, bare=one.bare | other.bare)


def _at(file: File, places: NDArray[np.intp]) -> File:
    return replace(file, table=table_at(file.table, places))


def _in_both(one: File, other: File) -> tuple[str, NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the column that names rows of which most are in both files, and their places."""
    alone = (
        (first.name, ids, others)
        for first, second in product(one.table.columns, other.table.columns)
        if (ids := _names(first)) is not None and (others := _names(second)) is not None
        and not (_counts(ids) and _counts(others))
    )  # fmt: skip
    for name, ids, others in chain(alone, _joint_ids(one, other)):
        _, here, there = np.intersect1d(ids, others, assume_unique=True, return_indices=True)
        if 2 * len(here) > min(len(ids), len(others)):
            order = np.argsort(here)
            return name, here[order], there[order]
    return None


def _joint_ids(one: File, other: File) -> Iterator[tuple[str, Array, Array]]:
    """Return numbers of what columns of both files name together, as a patient and a visit do."""
    pairs = [
        (first, second)
        for name in (c.name for c in one.table.columns if c.name in other.headings)
        if (first := ids_of(one.column(name))) and (second := ids_of(other.column(name)))
    ]
    cells = [np.concatenate([column.values for column in pair]) for pair in pairs]
    if len(pairs) > 1 and prod(len(np.unique(own)) for own in cells) >= one.table.n_rows:
        codes = np.unique(np.column_stack(cells), axis=0, return_inverse=True)[1].ravel()
        ids, others = np.split(codes, [one.table.n_rows])
        if all(len(np.unique(part)) == len(part) for part in (ids, others)):
            yield _WITH.join(first.name for first, _ in pairs), ids, others


def _order_of_likened(
    one: File, other: File, options: ReadingOptions, remarks: Remarks
) -> tuple[File, File, str] | None:
    """Return both files in one order by ids that are the same once they are written alike."""
    for likened, why in (
        (folded, "without regard to capitals and accents"),
        (_number_in, "by their numbers alone, without the letters and zeros around them"),
    ):
        files = [_ids_written(file, likened) for file in (one, other)]
        if not all(file.table.columns for file in files):
            continue
        order, name = order_by_name(*files)
        here = np.arange(one.table.n_rows)
        if order is None:
            both = _in_both(*files) if likened is folded else None
            if both is None:
                continue
            name, here, order = both
            _leave_out((one, other), name, len(here), options, remarks)
        one, other = _at(one, here), _at(other, order)
        first = one.column(name.partition(_WITH)[0])
        ids = [column for column in other.table.columns if _is_called_id(column)]
        second = next(column for column in ids if _same_ids(first, column, likened))
        examples = f"{quoted(_cell(first), 30)} is {quoted(_cell(second), 30)}"
        remarks.repairs.append(
            f"Ids of column {quoted(name, 30)} were compared {why} ({len(here):,} rows):"
            f" {examples}."
        )
        return one, other, name
    return None


def _same_ids(one: Column, other: Column, likened: Callable[[str], str]) -> bool:
    ids = [ids_of(_written(column, likened)) for column in (one, other)]
    first, second = ids
    return first is not None and second is not None and np.array_equal(first.values, second.values)


def _ids_written(file: File, likened: Callable[[str], str]) -> File:
    """Return the columns that are called ids alone, each of them written alike."""
    columns = [_written(column, likened) for column in file.table.columns if _is_called_id(column)]
    return replace(file, table=replace(file.table, columns=tuple(columns), shown=()))


def _written(column: Column, likened: Callable[[str], str]) -> Column:
    if column.texts is None:
        return column
    return replace(column, texts=tuple(map(likened, column.texts)))


def _number_in(text: str) -> str:
    """Return the only number in an id without the zeros before it, or else the id.

    >>> _number_in("P0057"), _number_in("2024-056")
    ('57', '2024-056')
    """
    parts = DIGITS.findall(text)
    return str(int(parts[0])) if len(parts) == 1 and len(parts[0]) < _LONGEST_ID else text


def _is_called_id(column: Column) -> bool:
    return bool({*words_of(column.name)} & ID_WORDS)


def _cell(column: Column) -> str:
    """Return the first cell as it is written."""
    first = column.values[0]
    return column.texts[first] if column.texts is not None else f"{first:.15g}"


def _names(column: Column) -> Array | None:
    """Return numbers that stand for the cells, where each is there once."""
    fractions = column.texts is None and kind_of(column) == "fractions"
    ids = None if fractions or column.odd is not None else ids_of(column)
    if ids is None or len(ids.values) < 2 or len(np.unique(ids.values)) < len(ids.values):
        return None
    return ids.values


def _counts(ids: Array) -> bool:
    return bool((np.diff(ids) == 1).all())


def _leave_out(
    files: Sequence[File], name: str, n_both: int, options: ReadingOptions, remarks: Remarks
) -> None:
    """Ask about rows that are in one file only, or say that they are left out."""
    missing = [(file, file.table.n_rows - n_both) for file in files]
    parts = [
        f"{count:,} of {file.table.n_rows:,} rows of {quoted(file.name, 40)}"
        for file, count in missing
        if count
    ]
    text = f"{' and '.join(parts)} are not in the other file, by column {quoted(name, 30)}"
    if not options.leave_out:
        answer = Answer("Leave them out", f"{n_both:,} rows are in both.", {"leave_out": True})
        raise Question("files", text, "Leave out the rows that are in one file only?", (answer,))
    remarks.repairs.append(f"Left out: {text}.")


def _of_a_list(
    files: tuple[File, File], both: tuple[str, Array, Array], options: ReadingOptions,
    remarks: Remarks,
) -> File | None:  # fmt: skip
    """Return all rows of a file, each with whether a list of those with the event has it, or ask.

    None where neither file is such a list, or the user leaves out those that are not in it.
    """
    ways = zip(files, files[::-1], both[1:], strict=True)
    scored = [way for way in ways if len(way[2]) < way[0].table.n_rows and _has_fractions(way[0])]
    fitting = [way for way in scored if _lists(*way[1:])]
    if not fitting:
        return None
    whole, listed, places = fitting[0]
    name, n_rest = f"in {listed.name}", whole.table.n_rows - len(places)
    counts = f"{len(places):,} of {whole.table.n_rows:,} rows are in {quoted(listed.name, 40)}"
    if (name, "outcome") not in options.roles:
        if options.leave_out:
            return None
        why = f"{len(places):,} rows with the event, {n_rest:,} without."
        answers = (
            Answer("Yes, the others did not have it", why, options.with_roles((name, "outcome"))),
            Answer("Leave the others out", f"{len(places):,} rows are left.", {"leave_out": True}),
        )
        ask = "Does it list all rows with the event?"
        raise Question("files", f"{counts}, by column {quoted(both[0], 30)}", ask, answers)
    remarks.repairs.append(f"Outcome: {counts}; the other {n_rest:,} count as without the event.")
    marks = np.zeros(whole.table.n_rows, dtype=np.int32)
    marks[places] = 1
    columns = (*whole.table.columns, Column(name, marks, ("no", "yes")))
    return replace(whole, table=replace(whole.table, columns=columns))


def _lists(file: File, places: Array) -> bool:
    """Return whether another file has all rows of one that tells no two outcomes apart."""
    rows = np.arange(file.table.n_rows)
    return len(places) == len(rows) and all(
        _names(column) is not None
        or len(np.unique(column.values)) < 2
        or feature_of(column, 0, rows, named=True).is_date
        for column in file.table.columns
    )


def _as_counted(file: File, remarks: Remarks) -> File:
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
            remarks.repairs.append(
                f"Put in the order of its index {quoted(column.name, 30)}: {quoted(file.name, 40)}."
            )
            return _at(file, np.argsort(ids))
        remarks.doubts.append(
            f"Column {quoted(column.name, 30)} of {quoted(file.name, 40)} counts rows in another"
            " order; the other file does not name its rows, so they stand as in the files."
        )
    return file


def _refuse_other_ids(one: File, other: File) -> None:
    """Refuse ids of which few are in both files, or some more than once in one of them."""
    for first in filter(_is_called_id, one.table.columns):
        for second in filter(_is_called_id, other.table.columns):
            ids, others = ids_of(first), ids_of(second)
            if ids is None or others is None or not _may_be_same(first, second):
                continue
            parts = [np.unique(part.values, return_counts=True) for part in (ids, others)]
            unlike = [2 * len(kinds) > counts.sum() for kinds, counts in parts]
            one_called = folded(first.name) == folded(second.name)
            turned = np.array_equal(np.sort(ids.values), np.sort(others.values))
            if not (all(unlike) or (one_called and (turned or any(unlike)))):
                continue
            if np.array_equal(ids.values, others.values):
                continue
            n_both = len(np.intersect1d(parts[0][0], parts[1][0]))
            fewer = min(len(kinds) for kinds, _ in parts)
            twice = [
                f"{n:,} id{'s occur' if n > 1 else ' occurs'} more than once in {quoted(file.name)}"
                for file, (_, counts) in zip((one, other), parts, strict=True)
                if (n := int((counts > 1).sum()))
            ]
            field = f"column {quoted(first.name, 30)}"
            if 2 * n_both <= fewer and all(unlike):
                examples = (
                    f"{quoted(_cell(column), 20)} in {quoted(column.name, 30)} of"
                    f" {quoted(file.name, 30)}"
                    for file, column in ((one, first), (other, second))
                )
                text = f"{n_both:,} of {fewer:,} ids are in both files, as {', '.join(examples)}"
                raise FileError(field, text, "the ids of the same rows in both")
            if twice and 2 * n_both > fewer:
                raise FileError(
                    field, " and ".join(twice), "each row once, by one column or several"
                )


def _may_be_same(one: Column, other: Column) -> bool:
    """Return whether two columns of ids may name the same rows: not a mere count beside names."""
    if kind_of(one) == kind_of(other) or folded(one.name) == folded(other.name):
        return True
    counts = [
        ids is not None and _counts(ids) for ids in (_names(column) for column in (one, other))
    ]
    return not any(counts)


# Columns ---------------------------------------------------------------------------------------


def kind_of(column: Column) -> str:
    """Return whether a column holds text, whole numbers or fractions."""
    if column.texts is not None:
        return "text"
    values = column.values
    return "whole" if all(map(is_whole, (values[:_FIRST], values))) else "fractions"


def order_of(wanted: Array, have: Array) -> NDArray[np.intp] | None:
    """Return where each wanted row is, if every row is there once."""
    there, here = np.argsort(have, kind="stable"), np.argsort(wanted, kind="stable")
    ordered = have[there]
    if not np.array_equal(ordered, wanted[here]) or bool((ordered[1:] == ordered[:-1]).any()):
        return None
    order = np.empty_like(there)
    order[here] = there
    return order


def same_cells(one: Column, other: Column) -> bool:
    """Return whether two columns have the same cells."""
    if (one.texts is None) != (other.texts is None) or one.values.shape != other.values.shape:
        return False
    if one.texts is not None and other.texts is not None:
        cells = [np.array(c.texts, dtype=object)[c.values] for c in (one, other)]
        return bool(np.array_equal(*cells))
    number = one.values.dtype.kind == "f" and other.values.dtype.kind == "f"
    return bool(np.array_equal(one.values, other.values, equal_nan=number))


# What they hold --------------------------------------------------------------------------------


def contents_together(parsed: Sequence[tuple[str, Body]], options: ReadingOptions) -> Contents:
    """Return what one file holds, or several together; models in sheets of one as in files."""
    sheets = sheets_of(parsed)
    if len(parsed) > 1:
        return combine_parsed(parsed, options)
    way, names = options.together[:1], options.together[1:]
    if names and not {*names} & {name for name, _ in sheets}:
        way = ()  # chosen for other files
    files = _files_of(sheets, options)
    if sheets and way != ("rows",) and options.sets == "auto" and (way or models_of(files)):
        return combine_parsed(sheets, options, kind="sheets")
    ((_, whole),) = parsed
    contents = contents_of(whole, options)
    column = whole.sheets if isinstance(whole, FileTable) else None
    if column is None or (rows_of_sets(column) and options.sets == "auto"):
        return contents
    listed = ", ".join(plain(name, 30) for name, _ in sheets[:6])
    more = f" and {len(sheets) - 6} more" if len(sheets) > 6 else ""
    doubt = f"The rows of {len(sheets)} sheets were put together: {listed}{more}."
    return replace(contents, doubts=(doubt, *contents.doubts))


def sheets_of(parsed: Sequence[tuple[str, Body]]) -> list[tuple[str, FileTable]]:
    """Return the tables of the sheets that one file put together, by their names."""
    whole = parsed[0][1] if len(parsed) == 1 else None
    column = whole.sheets if isinstance(whole, FileTable) else None
    if column is None or not isinstance(whole, FileTable):
        return []
    rest = replace(whole, columns=tuple(c for c in whole.columns if c is not column), sheet="")
    return [
        (name, table_at(rest, np.flatnonzero(column.values == k)))
        for k, name in enumerate(column.texts or ())
    ]


def combine_parsed(
    parsed: Sequence[tuple[str, Body]], options: ReadingOptions, *, kind: str = "files"
) -> Contents:
    """Return what several files together hold, or several sheets, as ``kind`` calls them."""
    remarks = Remarks()
    chosen_files = _not_left_out(parsed, options, remarks)
    if len(chosen_files) == 1:
        return _with(contents_of(chosen_files[0][1], options), remarks)
    files = _without_training(_files_of(chosen_files, options), remarks)
    way = options.together[:1]
    models = models_of(files) if way in ((), ("without",)) else []
    if models and options.sets == "auto":
        ask_models(models, n_files=len(files), kind=kind)
    if way == ("models",):
        chosen = replace(options, together=_first_model(files))
        return combine_parsed(parsed, chosen)
    sets, why = ([], "") if way == ("rows",) or options.sets == "one" else _sets(files, options)
    if not sets:
        return _one_set(files, options, remarks)
    first, second = (_one(part, options, remarks) for part in sets)
    return _two_sets([first, called_as(first, second)], options, remarks, why)


def ways_of(
    parsed: Sequence[tuple[str, Body]], options: ReadingOptions
) -> tuple[tuple[str, ...], ...]:
    """Return what several files may be of one another: ``together`` of `ReadingOptions`."""
    try:
        files = _files_of(parsed, options)
        both = pairings(files)
    except FileError:
        return ()
    ways: list[tuple[str, ...]] = []
    if alike(files) and len(files) > 1:
        pairs = [[file] for file in files] if len(files) == 2 else []
    else:
        pairs = [pair for one in both for pair in one.pairs]
    by_name = _by_role(files)
    if not pairs and all(by_name) and sum(map(len, by_name)) == len(files):
        pairs = by_name
    ways += [("sets", *(file.source for file in pair)) for pair in pairs]
    if pairs or (alike(files) and len(files) > 1):
        ways.append(("rows",))
    models = models_of(files)
    ways += [without(model, models) for model in models]
    return tuple(ways) if len(ways) > 1 else ()


def _files_of(parsed: Sequence[tuple[str, Body]], options: ReadingOptions) -> list[File]:
    """Return files, each with what tells its name from the others': of all words, those between."""
    files = [_as_file(name, one, options) for name, one in parsed]
    words = [set_words_of(file.name) for file in files]
    if len(files) < 2 or len({*words}) < 2:
        return files
    first = _n_alike(words)
    last = _n_alike([own[first:][::-1] for own in words])
    between = ["_".join(own[first : len(own) - last]) for own in words]
    return [replace(file, apart=own) for file, own in zip(files, between, strict=True)]


def _n_alike(words: Sequence[tuple[str, ...]]) -> int:
    """Count the words that all begin with."""
    differ = (k for k, own in enumerate(zip(*words, strict=False)) if len({*own}) > 1)
    return next(differ, min(map(len, words)))


def _as_file(name: str, parsed: Body, options: ReadingOptions) -> File:
    """Return a file as one table; a bare array is called as its file."""
    stem = (name.rsplit(".", 1)[0] if ending_of(name) in FORMATS else name) or name
    if isinstance(parsed, Arrays):
        parts = parts_of(parsed, options)
        if len(parts.tables) > 1:
            wanted = "that file alone, and further models on the page Models"
            raise FileError(f"file {quoted(name)}", "two sets, and other files", wanted)
        (parsed,) = parts.tables.values()
        unnamed = True
    else:
        unnamed = not parsed.named
    if len(parsed.columns) > 1 or not unnamed:
        return File(stem, parsed, name)
    if parsed.columns[0].values.shape[1:] == (1,):
        parsed = replace(parsed, columns=(first_items(parsed.columns[0]),))
    role, rest = role_of(stem)
    called = (rest if role != "rows" else stem) or "values"
    columns = (replace(parsed.columns[0], name=called),)
    parsed = replace(parsed, columns=columns, named=True)
    return File(stem, parsed, name, frozenset([called]))


def _not_left_out(
    parsed: Sequence[tuple[str, Body]], options: ReadingOptions, remarks: Remarks
) -> Sequence[tuple[str, Body]]:
    """Return the files without those that the user leaves out, at least one."""
    names = {*options.together[1:]} if options.together[:1] == ("without",) else {""}
    left = [name for name, _ in parsed if name in names]
    if not left or len(left) == len(parsed):
        return parsed
    listed = " and ".join(quoted(name, 40) for name in left)
    remarks.notes.append(f"Left out, as chosen: {listed}. The page Models compares models.")
    return [(name, one) for name, one in parsed if name not in names]


def _without_training(files: list[File], remarks: Remarks) -> list[File]:
    """Leave out files of a training set among those of a calibration and of a test set."""
    left = [file for file in files if file.role == "rows" and file.is_training]
    rest = [file for file in files if file not in left]
    if not left or {file.role for file in rest} != {"calibration", "test"}:
        return files
    names = " and ".join(quoted(file.name) for file in left)
    remarks.repairs.append(f"Left out as a training set: {names}.")
    return rest


# Reading --------------------------------------------------------------------------------------


def _read(table: FileTable, options: ReadingOptions, columns: Sequence[Column] = ()) -> Contents:
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


def _with(contents: Contents, remarks: Remarks) -> Contents:
    return replace(contents, **sentences_of(remarks, contents))


def _one_set(files: Sequence[File], options: ReadingOptions, remarks: Remarks) -> Contents:
    """Return all files as one set: pairs, or parts, with the file of each row to group by."""
    groups = groups_of(files)
    ways = pairings(files)
    parts = [list(files)] if not ways else ways[0].pairs
    if len(ways) > 1:
        ask_pairs(ways)
    if len(groups) > 1 and not ways:
        return _with(_read(_one(files, options, remarks).table, options), remarks)
    joined_files = [_one(part, options, remarks) for part in parts] if ways else files
    table = parts_under(joined_files, remarks)
    counts = [file.table.n_rows for file in joined_files]
    places = np.repeat(np.arange(len(joined_files), dtype=np.int32), counts)
    name = next(
        n for n in (_FILE, "name of the file", "source file") if n not in joined_files[0].headings
    )
    column = Column(name, places, tuple(file.name for file in joined_files))
    return _with(_read(table, options, (column,)), remarks)


def _two_sets(
    files: Sequence[File], options: ReadingOptions, remarks: Remarks, why: str
) -> Contents:
    """Return two files as the calibration and the test set, read as one table."""
    fitted, evaluated = files
    remarks.notes.append(
        f"Calibration set from {quoted(fitted.name)}, test set from {quoted(evaluated.name)}"
        f" ({why})."
    )
    if fitted.is_training or (is_training(fitted.name) and role_of(fitted.name)[0] == "rows"):
        remarks.doubts.append(
            f"File {quoted(fitted.name)} is called a training set: a model looks better there than"
            " on rows that it has not seen."
        )
    # A column of sets in both files tells less than the files.
    together = replace(options, sets="one")
    if fitted.headings - evaluated.headings and evaluated.headings - fitted.headings:
        return _each_alone(files, together, remarks)
    contents = _with(_read(stacked(files, remarks), together), remarks)
    raw = contents.sets["rows"]
    first = fitted.table.n_rows
    flags = np.ones(first + evaluated.table.n_rows, np.bool_) if raw.among is None else raw.among
    is_first = (np.arange(len(flags)) < first)[flags]
    sets: dict[Role, RawSet | RawEvent] = {
        "calibration": _of_file(raw.rows(is_first), fitted.table, flags[:first]),
        "test": _of_file(raw.rows(~is_first), evaluated.table, flags[first:]),
    }
    refuse_halves(sets)
    return replace(contents, sets=sets)


def _each_alone(files: Sequence[File], options: ReadingOptions, remarks: Remarks) -> Contents:
    """Return two files of other columns as two sets, each read on its own."""
    first, second = (_read(file.table, options) for file in files)
    sets: dict[Role, RawSet | RawEvent] = {
        "calibration": first.sets["rows"], "test": second.sets["rows"],
    }  # fmt: skip
    refuse_halves(sets)
    names = [part.class_names or () for part in sets.values() if isinstance(part, RawSet)]
    if [len(name) for name in names] == [2, 2] and names[0] == names[1][::-1]:
        event, other = (quoted(name[1]) for name in names)
        text = f"scores of {event} in one file and of {other} in the other"
        raise FileError("files", text, "scores of the same event in both")
    if len({*names}) > 1:
        remarks.doubts.append(
            "The two files call their scores differently: the same classes in the same order were"
            " assumed."
        )
    uses = {**second.uses, **first.uses}
    return replace(first, sets=sets, uses=uses, **sentences_of(remarks, first, second))


def _of_file(
    raw: RawSet | RawEvent, table: FileTable, values: NDArray[np.bool_]
) -> RawSet | RawEvent:
    """Return rows that are numbered as their own file numbers them."""
    return replace(raw, among=within(table.among, values), first_row=table.first_row)


# Which belong together ------------------------------------------------------------------------


def _sets(files: Sequence[File], options: ReadingOptions) -> tuple[Sequence[Sequence[File]], str]:
    """Return the files of the calibration set and of the test set, and why; nothing if one set."""
    chosen = [file for file in files if file.source in options.together[1:]]
    others = [file for file in files if file not in chosen]
    by_user = options.together[:1] == ("sets",)
    if by_user and chosen and others:
        return [chosen, others], _AS_CHOSEN
    roles = {file.role for file in files}
    if roles == {"calibration", "test"}:
        return _by_role(files), "by name"
    ways = [] if len(files) == 2 and alike(files) else pairings(files)
    if len(ways) > 1:
        ask_pairs(ways)
    pairs = ways[0].pairs if ways else [[file] for file in files]
    if len(pairs) == 2 and (ways or alike(files)):
        if ordered := _named(pairs):
            return ordered, f"paired {ways[0].why}" if ways else "by name"
        if not by_user and not _are_parts(pairs):
            ask_sets(pairs)
    elif {"calibration", "test"} < roles:
        names = " and ".join(quoted(file.name, 30) for file in files if file.role == "rows")
        raise FileError("files", f"{names} beside a calibration and a test set", WANTED)
    return ([pairs[0], [*chain(*pairs[1:])]], _AS_CHOSEN) if by_user else ([], "")


def _by_role(files: Sequence[File]) -> list[list[File]]:
    return [[file for file in files if file.role == role] for role in ("calibration", "test")]


def _named(pairs: Sequence[list[File]]) -> Sequence[list[File]]:
    """Return two sets in their order, where a name tells which is which."""
    trained = [pair[0].is_training for pair in pairs]
    if trained[0] != trained[1]:
        return pairs if trained[0] else pairs[::-1]
    one, other = (pair[0].name for pair in pairs)
    if further := further_sets((one, other)):
        return pairs if one in further else pairs[::-1]
    return in_order(pairs) if {file.role for pair in pairs for file in pair} - {"rows"} else []


def _are_parts(pairs: Sequence[Sequence[File]]) -> bool:
    """Return whether numbers in the names, or a column of sets, say that two are one table."""
    one, other = (pair[0] for pair in pairs)
    numbered = DIGITS.sub("0", one.name) == DIGITS.sub("0", other.name)
    columns = [*one.table.columns, *other.table.columns]
    return numbered or any(rows_of_sets(column) is not None for column in columns)


def _first_model(files: Sequence[File]) -> tuple[str, ...]:
    """Return the choice of the first of several models."""
    models = models_of(files)
    if not models:
        wanted = "scores of the same rows in each, with their outcomes or beside one file of them"
        raise FileError("files", "no models of the same rows", wanted)
    return without(models[0], models)


def _one(files: Sequence[File], options: ReadingOptions, remarks: Remarks) -> File:
    """Return files of one set as one: alike ones row by row, others side by side."""
    whole = [
        replace(group[0], table=parts_under(group, remarks) if len(group) > 1 else group[0].table)
        for group in groups_of(files)
    ]
    if len(whole) > 2 and not all(order_by_name(whole[0], file)[1] for file in whole[1:]):
        raise FileError("files", f"{len(whole)} files of other columns each", WANTED)
    return reduce(lambda one, other: beside(one, other, options, remarks), whole)
