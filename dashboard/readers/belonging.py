"""Which of several files belong together: pairs of values and labels, sets, or models."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.contents import Role
from dashboard.readers.recognition.groups import ids_of
from dashboard.readers.recognition.set_names import role_of
from dashboard.readers.recognition.vocabulary import words_of
from dashboard.readers.refusal import Answer, Question, percent, plain, quoted
from dashboard.readers.stacked import kind_of, order_of, same_cells
from dashboard.readers.table import Column, Table, rows_at

DIGITS = re.compile(r"\d+", re.ASCII)
FEW = 5
"""Below so many rows, columns of other names may hold the same cells by chance."""


@dataclass(frozen=True, eq=False)
class File:
    """A table of one of several files."""

    name: str  # of the file without its ending; of several put together, of the first
    table: Table
    source: str  # the whole name, as ``together`` of `Options` has it
    bare: frozenset[str] = frozenset()  # columns that are bare arrays, called as their file

    @property
    def role(self) -> Role:
        """The set that its name speaks of."""
        return role_of(self.name)[0]

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
    return len(kinds) == 1 or not all(file.bare for file in files)


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
    for first, second in sorted(pairs, key=lambda pair: pair[0].name != pair[1].name):
        ids, others = ids_of(first), ids_of(second)
        if ids is None or others is None or len(ids.values) != len(others.values):
            continue
        order = order_of(ids.values, others.values)
        if order is not None:
            return order, first.name
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


def ask_models(models: Sequence[Sequence[File]], *, n_files: int) -> NoReturn:
    """Ask which of several models is meant, or of just two files whether they are two sets."""
    names = [" and ".join(quoted(file.source, 30) for file in model) for model in models]
    answers = tuple(
        Answer(
            plain(" + ".join(file.source for file in model), 50),
            "The page Models compares it with the others.",
            {"together": without(model, models)},
        )
        for model in models
    )
    if n_files == len(models) == 2:
        why = f"Calibration set {quoted(models[0][0].source, 40)}."
        other = Answer("Neither: two sets", why, {"together": ("sets", models[0][0].source)})
        answers = (*answers, other)
    found = f"{len(models)} models of the same rows, in {'; '.join(names[:4])}"
    raise Question("files", found, "Which model's scores?", answers)


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
    said = [
        "" if share is None else f"labels agree with the largest value in {percent(share)} of rows"
        for share in shares
    ]
    ranked = [Pairing(one.pairs, why) for one, why in zip(both, said, strict=True)]
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


def ask_pairs(found: Sequence[Pairing]) -> NoReturn:
    """Ask which files belong together."""
    answers = tuple(
        Answer(
            plain(" + ".join(file.source for file in in_order(one.pairs)[0]), 50),
            one.why,
            {"together": ("sets", *(file.source for file in in_order(one.pairs)[0]))},
        )
        for one in found
    )
    names = ", ".join(quoted(file.source, 30) for pair in found[0].pairs for file in pair)
    raise Question(
        "files", f"two with values and two with labels, {names}",
        "Which two are the calibration set?", answers,
    )  # fmt: skip


def in_order(pairs: Sequence[list[File]]) -> list[list[File]]:
    """Put the test set last, where a name tells which it is."""
    roles = [{file.role for file in pair} for pair in pairs]
    turned = "test" in roles[0] or "calibration" in roles[1]
    return [*pairs][::-1] if turned else [*pairs]
