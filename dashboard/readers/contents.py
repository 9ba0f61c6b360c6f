"""What a format hands over: bare arrays by set, before anything is taken for anything."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.table import ROLES, Column, ColumnRole, rows_at

Array = NDArray[Any]
Role = Literal["calibration", "test", "rows"]
ValuesKind = Literal["logits", "probabilities", "scores"]

SET_NAMES: Mapping[Role, str] = {"calibration": "calibration set", "test": "test set", "rows": ""}
"""How a set is called in a sentence; one that stands alone needs no name."""

MAX_ROWS = 10_000_000
"""As many rows as a file of any format may have, which is far more than an audit needs."""


ColumnUse = Literal[
    "class", "label", "prediction", "score", "hit", "slice", "set", "left out", "undecided"
]
"""What a column or an array of a file was taken for."""


def check_rows(n_rows: int) -> None:
    """Refuse more rows than are read."""
    if n_rows > MAX_ROWS:
        raise FileError("file", f"{n_rows:,} rows", f"at most {MAX_ROWS:,}")


def picked(array: Array, chosen: NDArray[np.bool_]) -> Array:
    """Take the rows of a mask, without a copy where they stand together."""
    count, start = int(np.count_nonzero(chosen)), int(chosen.argmax())
    if count and chosen[start : start + count].all():
        return array[start : start + count]
    return array[chosen]


@dataclass(frozen=True, eq=False)
class SliceColumn:
    """A further column, by which the rows of a set can be grouped."""

    name: str  # as the file has it, fit to show
    values: Array  # numbers, NaN for a blank cell; of text, the place of each row's category
    categories: tuple[str, ...] | None = None  # the different texts, "" for a blank cell

    def rows(self, chosen: NDArray[np.bool_]) -> "SliceColumn":
        """Keep the rows of a mask."""
        return replace(self, values=picked(self.values, chosen))


@dataclass(frozen=True)
class Preview:
    """The first rows of a file, at most ten, as they were read and fit to show."""

    headings: tuple[str, ...] = ()  # of many classes the first few only
    uses: tuple[ColumnUse, ...] = ()  # what each column was taken for
    rows: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[int, ...] = ()  # of each row, as refusals name it
    of_samples: bool = True  # each is a row of the set; else several were put together to one
    refused: bool = False  # not the first rows of all, but the first that cannot be used
    roles: tuple[ColumnRole, ...] = ()  # what each column is for, of a table; empty of arrays
    reasons: tuple[str, ...] = ()  # why, one short phrase each, as in `Reading`


@dataclass(frozen=True, eq=False)
class RawSet:
    """One set as it stands in a file; a lone piece has only a table or only labels.

    The table is of logits or probabilities, a column a class, or the score of class 1. Labels are
    as found: numbers from 0 or from 1, whole decimals, one-hot; of text, places among their texts.
    """

    table: Array | None
    labels: Array | None
    class_names: tuple[str, ...] | None = None  # of the score of class 1 the name of its column
    first_row: int = 1  # how the file itself would number it, for refusals that name rows
    label_texts: tuple[str, ...] | None = None
    label_name: str | None = None  # what refusals call the column of the labels
    headings: tuple[str, ...] | None = None  # whole, of which class names may be a part
    columns: tuple[SliceColumn, ...] = ()  # what else is known of each row
    predicted: SliceColumn | None = None  # the predictions that the file has beside a table
    among: NDArray[np.bool_] | None = None  # which rows of the file, where they are not all of it
    ids: tuple[Column, ...] = ()  # what names the rows
    divided: bool = False  # the values had percent signs, and were divided by 100
    top_one: bool = False  # of a lone piece: each value is the score of the predicted class

    def __post_init__(self) -> None:
        """Take the only column of a table for the row of scores that it is."""
        if self.table is not None and self.table.ndim == 2 and self.table.shape[1] == 1:
            object.__setattr__(self, "table", self.table[:, 0])

    def rows(self, chosen: NDArray[np.bool_]) -> "RawSet":
        """Keep the rows of a mask."""
        return replace(
            self,
            table=None if self.table is None else picked(self.table, chosen),
            labels=None if self.labels is None else picked(self.labels, chosen),
            columns=tuple(column.rows(chosen) for column in self.columns),
            predicted=None if self.predicted is None else self.predicted.rows(chosen),
            among=_within(self.among, chosen),
            ids=_named(self.ids, chosen),
        )


@dataclass(frozen=True, eq=False)
class RawEvent:
    """The top-1 score of each row, and whether the prediction was right; else as in `RawSet`."""

    scores: Array
    hits: Array
    first_row: int = 1
    columns: tuple[SliceColumn, ...] = ()
    n_classes: int | None = None  # predicted or true in any row, where the file has them
    among: NDArray[np.bool_] | None = None
    numbers: tuple[Array, ...] | None = None  # true and predicted classes called by numbers
    ids: tuple[Column, ...] = ()

    def rows(self, chosen: NDArray[np.bool_]) -> "RawEvent":
        """Keep the rows of a mask."""
        numbers = self.numbers
        return replace(
            self,
            numbers=None if numbers is None else tuple(picked(part, chosen) for part in numbers),
            scores=picked(self.scores, chosen),
            hits=picked(self.hits, chosen),
            columns=tuple(column.rows(chosen) for column in self.columns),
            among=_within(self.among, chosen),
            ids=_named(self.ids, chosen),
        )


@dataclass(frozen=True, eq=False)
class Contents:
    """All that one file, or several together, holds, with sentences as in `Upload`."""

    sets: Mapping[Role, RawSet | RawEvent]  # what was taken for values and labels
    found: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    uses: Mapping[str, ColumnUse] = field(default_factory=dict)  # of every column or array
    preview: Preview | None = None  # None where the arrays themselves are to be shown


class Choices(TypedDict, total=False):
    """What `Options` takes, for functions that pass it on."""

    values: Literal["auto", "logits", "probabilities", "percentages", "none"]
    first_label: Literal["auto", 0, 1]
    class_names: tuple[str, ...]
    header: bool | None
    sets: Literal["auto", "one"]
    prevalence: float | None
    roles: tuple[tuple[str, ColumnRole], ...]
    event: str | None
    leave_out: bool
    together: tuple[str, ...]
    split_at: tuple[str, ...]


@dataclass(frozen=True)
class Options:
    """How the user overrules what a file is taken for; FileError for a choice that is none.

    Of several files, ``together`` says what they are of one another; empty where that is detected.
    ``("rows",)``: parts of one table. ``("sets", *names)``: the named files, or without names the
    first, are the calibration set, the others the test set. ``("models",)``: the first is read
    alone. ``("without", *names)``: the named files are left out. Others than those that are there
    are passed over.
    """

    values: Literal["auto", "logits", "probabilities", "percentages", "none"] = "auto"
    first_label: Literal["auto", 0, 1] = "auto"
    class_names: tuple[str, ...] = ()  # in their order; labels that are text are matched to them
    header: bool | None = None  # whether the first row of a text table names the columns
    sets: Literal["auto", "one"] = "auto"  # whether a column that tells two sets is followed
    prevalence: float | None = None  # of class 1, or of right predictions, where it will be used
    roles: tuple[tuple[str, ColumnRole], ...] = ()  # by name; what is not named is detected
    event: str | None = None  # of an outcome of two values, the one that the score is of
    leave_out: bool = False  # rows that cannot be used, instead of asking about them
    together: tuple[str, ...] = ()
    split_at: tuple[str, ...] = ()  # a column of dates, and the first month or year to test on

    def __post_init__(self) -> None:
        """Refuse choices outside what is offered."""
        for name, value, allowed in (
            ("values", self.values, ("auto", "logits", "probabilities", "percentages", "none")),
            ("first_label", self.first_label, ("auto", 0, 1)),
            ("sets", self.sets, ("auto", "one")),
        ):
            if value not in allowed:
                raise FileError(name, quoted(value), f"one of {', '.join(map(str, allowed))}")
        if self.together and self.together[0] not in _TOGETHER:
            wanted = f"one of {', '.join(_TOGETHER)}"
            raise FileError("together", quoted(self.together[0]), wanted)
        for _, role in self.roles:
            if role not in ROLES:
                raise FileError("roles", quoted(role), f"one of {', '.join(ROLES)}")
        if self.prevalence is not None and not 0 < self.prevalence < 1:
            raise FileError("prevalence", f"{self.prevalence:g}", "a share between 0 and 1")


_TOGETHER = ("rows", "sets", "models", "without")

DEFAULTS = Options()


def _within(whole: NDArray[np.bool_] | None, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark among all rows of the file those that are chosen among some of them."""
    if whole is None:
        return chosen
    marks = whole.copy()
    marks[whole] = chosen
    return marks


def _named(ids: tuple[Column, ...], chosen: NDArray[np.bool_]) -> tuple[Column, ...]:
    return tuple(rows_at(column, np.flatnonzero(chosen)) for column in ids)


def row_list(bad: NDArray[np.bool_], first_row: int) -> str:
    """Return in how many rows something is wrong, and which come first.

    Rows of a text or of a sheet are numbered from its top, as an editor and a spreadsheet number
    them, which is said; rows of arrays and of JSON are numbered from 1.
    """
    rows = np.flatnonzero(bad)
    numbers = ", ".join(str(int(row) + first_row) for row in rows[:3])
    many = "rows" if len(rows) > 1 else "row"
    first = f"first in {many} {numbers}" if len(rows) > 3 else f"{many} {numbers}"
    return f"in {len(rows):,} {many} ({first})" + (" of the file" if first_row > 1 else "")


def rows_of_file(bad: NDArray[np.bool_], raw: RawSet | RawEvent) -> str:
    """Return as `row_list` which rows of a set are meant, by their numbers in the file."""
    return row_list(bad if raw.among is None else _within(raw.among, bad), raw.first_row)


def rows_of_sets(marks: Mapping[Role, NDArray[np.bool_]], sets: Mapping[Role, RawSet]) -> str:
    """Return which rows of one set, or of two, are meant."""
    parts = {role: rows_of_file(bad, sets[role]) for role, bad in marks.items() if bad.any()}
    if len(sets) == 1:
        return next(iter(parts.values()), "in no row")
    return " and ".join(f"{said} of the {SET_NAMES[role]}" for role, said in parts.items())
