"""What a format hands over, and what its columns are taken for: the nouns of reading.

bytes -> formats (in the worker) -> `FileTable` | `Arrays` -> recognition -> `Reading` -> `Upload`
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.refusal import FileError, Question, quoted

_DIGITS = re.compile(r"(\d*)(\D*)")

ColumnRole = Literal[
    "outcome",
    "score",
    "class",
    "prediction",
    "correct",
    "ranked class",
    "ranked score",
    "id",
    "set",
    "group",
    "date",
    "count",
    "events",
    "weight",
    "cluster",
    "left out",
]
"""What a column is for.

``outcome`` is the true class, ``score`` the one score of the event (or of the prediction, beside
``prediction`` or ``correct``), ``class`` the value of one class, ``correct`` whether the prediction
was right, ``ranked class`` and ``ranked score`` the k most probable classes and their values in the
order of the columns, ``set`` calibration or test, ``group`` a column to filter and to group by, and
``date`` one of which the month is such a group. ``count`` is how many equal rows a row stands for,
``events`` in how many of them the event happened, ``weight`` a sampling weight, and ``cluster``
what rows that belong together share.
"""

ROLES: tuple[ColumnRole, ...] = get_args(ColumnRole)


@dataclass(frozen=True, eq=False)
class Texts(Sequence[str]):
    """Many texts as Arrow holds them, which takes a third of what those of Python would."""

    raw: NDArray[np.uint8]  # of all, in UTF-8
    ends: NDArray[np.int32]  # of each, behind the start of the first

    def __len__(self) -> int:  # noqa: D105 - as of every sequence
        return len(self.ends) - 1

    def __getitem__(self, place: Any) -> Any:  # noqa: D105 - the same
        if isinstance(place, slice):
            return tuple(map(self.__getitem__, range(len(self))[place]))
        start, end = self.ends[range(len(self))[place] :][:2]
        return self.raw[start:end].tobytes().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:  # noqa: D105 - the same
        for at in range(0, len(self), 4096):
            ends = self.ends[at : at + 4097].tolist()
            block = self.raw[ends[0] : ends[-1]].tobytes()
            for start, end in pairwise(ends):
                yield str(block[start - ends[0] : end - ends[0]], "utf-8", "replace")


@dataclass(frozen=True, eq=False)
class Odd:
    """Cells of a column of numbers that are no numbers."""

    rows: NDArray[np.int64]  # counted from 0, ascending
    codes: NDArray[np.int32]  # the text of each by its place among the texts
    texts: tuple[str, ...]  # the different ones, "" for a blank cell


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table, or an array of an archive.

    Numbers are bool, int, uint or float, in the type of the file, of any float16 to float64, NaN
    where a cell is odd; of text, ``values`` has the place of each in ``texts``, as int32. A second
    axis holds the items of a list in each cell. Dates are texts in ISO 8601.
    """

    name: str  # as the file has it, "" where it has none; parts of nested names joined by dots
    values: NDArray[Any]
    texts: Sequence[str] | None = None  # the different ones by their first rows, "" for a blank
    odd: Odd | None = None  # cells that are no numbers, where most are
    percents: int = 0  # cells with a percent sign, which is dropped without dividing the number
    commas: int = 0  # cells with a decimal comma
    unread: str = ""  # why the column was not kept, such as "objects"; its values are then empty

    @property
    def is_text(self) -> bool:
        """Whether the column holds texts."""
        return self.texts is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class FileSentences:
    """What is said of a file."""

    notes: tuple[str, ...] = ()  # what it was taken for
    repairs: tuple[str, ...] = ()  # what was fixed
    missing: tuple[str, ...] = ()  # what cannot be shown, and why
    doubts: tuple[str, ...] = ()  # what may be wrong with data that can be used


NOT_READ = "Not read: "
"""Begins what a note says of sheets that were passed over."""


def sentences_of(*parts: "FileSentences | Remarks") -> dict[str, Any]:
    """Return what is said of several parts, each sentence once, as fields of another."""
    return {
        kind.name: tuple(dict.fromkeys(s for part in parts for s in getattr(part, kind.name)))
        for kind in fields(FileSentences)
    }


@dataclass
class Remarks:
    """Sentences that come up on the way, as in `FileSentences`."""

    notes: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, *parts: FileSentences) -> Self:
        """Return what is said of several parts, to be added to."""
        return cls(*map(list, sentences_of(*parts).values()))


def unread(name: str, why: str) -> Column:
    """Return a column that was not kept."""
    return Column(name, np.empty(0), unread=why)


@dataclass(frozen=True, eq=False)
class FileTable(FileSentences):
    """Columns of one length, as a text, a sheet, a Parquet file or JSON records hold them.

    The file itself would number the first row ``first_row``: of text and sheets it is the line from
    the top of the file, else 1. Numbered so too are the rows of ``cut``, which have too few cells
    or too many. ``among``: which of the file's rows these are, where some were passed over.
    """

    columns: tuple[Column, ...]  # of one length, but for those that were not kept
    n_rows: int
    first_row: int = 1
    among: NDArray[np.bool_] | None = None
    cut: NDArray[np.int64] | None = None
    named: bool = True  # by the file; else they are called "column 1", "column 2", ...
    shown: tuple[tuple[str, ...], ...] = ()  # at most ten first rows, cells as the file has them
    summary: str = ""  # what a summary tells of itself, as JSON; "" of rows
    sheet: str = ""  # the column that says of each row from which of several sheets it is

    @property
    def sheets(self) -> Column | None:
        """The column of the sheet of each row; None of a table that is of one."""
        own = (c for c in self.columns if c.name == self.sheet and c.texts is not None)
        return next(own, None) if self.sheet else None


@dataclass(frozen=True, eq=False)
class Arrays(FileSentences):
    """Arrays of any lengths, as npz, safetensors, PyTorch, pickles and JSON objects hold them.

    A bare array has no name, parts of a nested tuple are called "0.0", "0.1", "1.0", "1.1", and
    parts of a dictionary "calibration.logits".
    """

    arrays: tuple[Column, ...]


Body = FileTable | Arrays


@dataclass(frozen=True)
class Proposal:
    """What a column may say that changes figures, once the user agrees."""

    doubt: str  # what is so until then, in one sentence
    question: Question


@dataclass(frozen=True)
class Reading(FileSentences):
    """What the columns of a table were taken for."""

    roles: tuple[ColumnRole, ...]  # one a column
    reasons: tuple[str, ...]  # one short phrase a column; "" where the user said so
    class_names: tuple[str, ...] = ()  # headings of classes without what all of them share
    event: str | None = None  # the value of the outcome that the score is of, where it is known
    proposals: tuple[Proposal, ...] = ()

    def columns_of(self, table: FileTable, role: ColumnRole) -> list[Column]:
        """Return the columns of a role in their order."""
        return [c for c, its in zip(table.columns, self.roles, strict=True) if its == role]


def cell_of(column: Column, row: int) -> str:
    """Return a cell as the file has it, a number with six digits.

    >>> cell_of(Column("risk", np.array([12.5]), commas=1, percents=1), 0)
    '12,5%'
    """
    if column.unread:
        return ""
    odd = column.odd
    if odd is not None and row in odd.rows:
        return odd.texts[int(odd.codes[np.searchsorted(odd.rows, row)])]
    value = column.values[row]
    if column.texts is not None and value.ndim == 0:
        return column.texts[int(value)]
    if value.dtype.kind != "f" or value.ndim:
        return str(value)
    number = f"{value:.6g}%" if column.percents else f"{value:.6g}"
    return number.replace(".", ",") if column.commas else number


def rows_at(column: Column, places: NDArray[np.intp]) -> Column:
    """Return the cells at some different places, in their order."""
    if column.unread:
        return column
    odd = column.odd
    if odd is not None:
        new = np.full(len(column.values), -1)
        new[places] = np.arange(len(places))
        rows = new[odd.rows]
        by_row = np.argsort(rows)[int(np.count_nonzero(rows < 0)) :]
        odd = Odd(rows[by_row].astype(np.int64), odd.codes[by_row], odd.texts)
    return replace(column, values=column.values[places], odd=odd)


def table_at(table: FileTable, places: NDArray[np.intp]) -> FileTable:
    """Return the rows at some different places, in their order."""
    among = table.among
    if len(places) < table.n_rows:
        chosen = np.zeros(table.n_rows, np.bool_)
        chosen[places] = True
        among = within(among, chosen)
    columns = tuple(rows_at(column, places) for column in table.columns)
    return replace(table, columns=columns, n_rows=len(places), among=among, shown=())


def under(columns: Sequence[Column]) -> Column:
    """Return the cells of all columns under one another."""
    first = columns[0]
    unread = next((column.unread for column in columns if column.unread), "")
    if unread:
        return replace(first, values=first.values[:0], unread=unread)
    if len({column.values.shape[1:] for column in columns}) > 1:
        widths = dict.fromkeys((*column.values.shape[1:], 1)[0] for column in columns)
        unlike = f"parts {' and '.join(map(str, [*widths][:2]))} wide"
        raise FileError(f"array {quoted(first.name)}", unlike, "parts of the same classes")
    counts = [len(column.values) for column in columns]
    if any(column.texts is not None for column in columns):
        parts = [texts_of(column) for column in columns]
        texts = tuple(dict.fromkeys(text for _, own in parts for text in own))
        place = {text: k for k, text in enumerate(texts)}
        codes = [np.array([place[t] for t in own], np.int32)[code] for code, own in parts]
        return Column(first.name, np.concatenate(codes), texts)
    starts = np.cumsum([0, *counts])
    odds = [(column.odd, start) for column, start in zip(columns, starts, strict=False)]
    with_odd = [(odd, start) for odd, start in odds if odd is not None]
    odd = None
    if with_odd:
        texts = tuple(dict.fromkeys(text for own, _ in with_odd for text in own.texts))
        place = {text: k for k, text in enumerate(texts)}
        coded = [
            np.array([place[t] for t in own.texts], np.int32)[own.codes] for own, _ in with_odd
        ]
        rows = np.concatenate([own.rows + start for own, start in with_odd])
        odd = Odd(rows, np.concatenate(coded), texts)
    return Column(
        first.name, np.concatenate([column.values for column in columns]), None, odd,
        sum(column.percents for column in columns), sum(column.commas for column in columns),
    )  # fmt: skip


def texts_of(column: Column) -> tuple[NDArray[Any], Sequence[str]]:
    """Return cells as texts, numbers in their shortest form and blank where there are none."""
    if column.texts is not None:
        return column.values, column.texts
    values, codes = np.unique(column.values, return_inverse=True)
    return codes, tuple("" if np.isnan(value) else f"{value:.12g}" for value in values.tolist())


def is_whole(values: NDArray[Any]) -> bool:
    """Return whether all are whole numbers."""
    kind = values.dtype.kind
    return kind in "biu" or (kind == "f" and bool((values == np.rint(values)).all()))


def by_number(text: str) -> tuple[bool, bool, list[tuple[float, str]]]:
    """Return a key that sorts texts by their numbers, words by letters, the blank one last.

    >>> sorted(["60+", "<18", "", "100+", "ward B", "18-59", "ward A"], key=by_number)
    ['<18', '18-59', '60+', '100+', 'ward A', 'ward B', '']
    """
    parts = [(float(digits or "inf"), rest) for digits, rest in _DIGITS.findall(text)]
    return not text, text[:1] not in {"<", "≤"}, parts


# What a format hands over: bare arrays by set, before anything is taken for anything ----------


SUMMARY = "summary"
"""Format of what `fractile summarise` writes, and the key of what its file tells of itself."""

Array = NDArray[Any]
Role = Literal["calibration", "test", "rows"]
ValuesKind = Literal["logits", "probabilities", "scores"]

SET_NAMES: Mapping[Role, str] = {"calibration": "calibration set", "test": "test set", "rows": ""}
"""How a set is called in a sentence; one that stands alone needs no name."""


def of_set(role: Role, word: str = "of") -> str:
    """Return of which set something is said, behind it; "" of one that stands alone."""
    return f" {word} the {SET_NAMES[role]}" if SET_NAMES[role] else ""


ColumnUse = Literal[
    "class",
    "label",
    "prediction",
    "score",
    "hit",
    "group",
    "set",
    "design",
    "left out",
    "undecided",
]
"""What a column or an array of a file was taken for."""


def picked(part: Any, chosen: NDArray[Any]) -> Any:
    """Take the rows of a mask, or at places; without a copy where those stand together."""
    if part is None or isinstance(part, _OfRows):
        return part and part.rows(chosen)
    if isinstance(part, tuple):
        return tuple(picked(one, chosen) for one in part)
    is_mask = chosen.dtype == np.bool_
    if isinstance(part, Column):
        return rows_at(part, np.flatnonzero(chosen) if is_mask else chosen)
    count, start = int(np.count_nonzero(chosen)), int(chosen.argmax()) if chosen.size else 0
    if is_mask and count and chosen[start : start + count].all():
        return part[start : start + count]
    return part[chosen]


@dataclass(frozen=True, eq=False)
class _OfRows:
    """What has a part for each row."""

    by_row: ClassVar[tuple[str, ...]] = ()

    def rows(self, chosen: NDArray[Any]) -> Self:
        """Keep the rows of a mask, or at places."""
        return replace(self, **{name: picked(getattr(self, name), chosen) for name in self.by_row})


@dataclass(frozen=True, eq=False)
class GroupingColumn(_OfRows):
    """A further column, by which the rows of a set can be grouped."""

    by_row = ("values",)
    name: str  # as the file has it, fit to show
    values: Array  # numbers, NaN for a blank cell; of text, the place of each row's category
    categories: tuple[str, ...] | None = None  # the different texts, "" for a blank cell


@dataclass(frozen=True, eq=False)
class Design(_OfRows):
    """What each row stands for, and whom it belongs to."""

    by_row = ("weights", "clusters")
    weights: Array | None = None
    counts: bool = False  # whether weights are numbers of equal rows, and no sampling weights
    weight_name: str = ""
    clusters: Array | None = None  # the same whole number for rows that belong together
    cluster_name: str = ""  # as the weights', the name of the column


@dataclass(frozen=True)
class Preview:
    """The first rows of a file, at most ten, as they were read and fit to show."""

    headings: tuple[str, ...] = ()  # of many classes the first few only
    uses: tuple[ColumnUse, ...] = ()  # what each column was taken for
    rows: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[int, ...] = ()  # of each row, as refusals name it
    refused: bool = False  # not the first rows of all, but the first that cannot be used
    roles: tuple[ColumnRole, ...] = ()  # what each column is for, of a table; empty of arrays
    reasons: tuple[str, ...] = ()  # why, one short phrase each, as in `Reading`


@dataclass(frozen=True, eq=False, kw_only=True)
class _Raw(_OfRows):
    """The rows of a set, with where in the file they stand."""

    among: NDArray[np.bool_] | None = None  # which of all its rows
    first_row: int = 1  # how the file itself numbers it, for refusals
    columns: tuple[GroupingColumn, ...] = ()  # what else is known of each
    ids: tuple[Column, ...] = ()  # what names the rows
    design: Design | None = None

    def rows(self, chosen: NDArray[Any]) -> Self:
        """Keep the rows of a mask, or at places."""
        among = within(self.among, chosen) if chosen.dtype == np.bool_ else None
        return replace(super().rows(chosen), among=among)


@dataclass(frozen=True, eq=False)
class RawSet(_Raw):
    """One set as it stands in a file; a lone piece has only a table or only labels.

    The table is of logits or probabilities, a column a class, or the score of class 1. Labels are
    as found: numbers from 0 or from 1, whole decimals, one-hot; of text, places among their texts.
    """

    by_row = ("table", "labels", "columns", "predicted", "ids", "lines", "design")
    table: Array | None
    labels: Array | None
    class_names: tuple[str, ...] | None = None  # of the score of class 1 the name of its column
    label_texts: tuple[str, ...] | None = None
    label_name: str | None = None  # what refusals call the column of the labels
    headings: tuple[str, ...] | None = None  # whole, of which class names may be a part
    predicted: GroupingColumn | None = None  # the predictions that the file has beside a table
    divided: bool = False  # the values had percent signs, and were divided by 100
    lines: Array | None = None  # row of the file, from 0, where several rows are one of it

    def __post_init__(self) -> None:
        """Take the only column of a table for the row of scores that it is."""
        if self.table is not None and self.table.ndim == 2 and self.table.shape[1] == 1:
            object.__setattr__(self, "table", self.table[:, 0])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        array = self.table if self.labels is None else self.labels
        return 0 if array is None else len(array)


@dataclass(frozen=True, eq=False)
class RawEvent(_Raw):
    """The top-1 score of each row, and whether the prediction was right."""

    by_row = ("scores", "hits", "columns", "numbers", "ids", "design")
    scores: Array
    hits: Array
    n_classes: int | None = None  # predicted or true in any row, where the file has them
    numbers: tuple[Array, ...] | None = None  # true and predicted classes called by numbers

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.scores)


@dataclass(frozen=True, eq=False)
class Contents(FileSentences):
    """All that one file, or several together, holds."""

    sets: Mapping[Role, RawSet | RawEvent]  # what was taken for values and labels
    proposals: tuple[Proposal, ...] = ()
    uses: Mapping[str, ColumnUse] = field(default_factory=dict)  # of every column or array
    preview: Preview | None = None  # None where the arrays themselves are to be shown


@dataclass(frozen=True)
class ReadingOptions:
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
    many: Literal["auto", "counted", "every"] = "auto"  # rows: counted by score, or each kept

    def with_roles(self, *roles: tuple[str, ColumnRole]) -> dict[str, Any]:
        """Return the change of an answer that sets roles beside those that were set already."""
        names = {name for name, _ in roles}
        return {"roles": (*(pair for pair in self.roles if pair[0] not in names), *roles)}

    def __post_init__(self) -> None:
        """Refuse choices outside what is offered."""
        for one in fields(self):
            value, allowed = getattr(self, one.name), get_args(one.type)
            if get_origin(one.type) is Literal and value not in allowed:
                raise FileError(one.name, quoted(value), f"one of {', '.join(map(str, allowed))}")
        if self.together and self.together[0] not in _TOGETHER:
            wanted = f"one of {', '.join(_TOGETHER)}"
            raise FileError("together", quoted(self.together[0]), wanted)
        for _, role in self.roles:
            if role not in ROLES:
                raise FileError("roles", quoted(role), f"one of {', '.join(ROLES)}")
        if self.prevalence is not None and not 0 < self.prevalence < 1:
            raise FileError("prevalence", f"{self.prevalence:g}", "a share between 0 and 1")


_TOGETHER = ("rows", "sets", "models", "without")

DEFAULTS = ReadingOptions()


def within(whole: NDArray[np.bool_] | None, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark among all rows of the file those that are chosen among some of them."""
    if whole is None:
        return chosen
    marks = whole.copy()
    marks[whole] = chosen
    return marks


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
    return row_list(bad if raw.among is None else within(raw.among, bad), raw.first_row)


def rows_of_sets(marks: Mapping[Role, NDArray[np.bool_]], sets: Mapping[Role, RawSet]) -> str:
    """Return which rows of one set, or of two, are meant."""
    parts = {role: rows_of_file(bad, sets[role]) for role, bad in marks.items() if bad.any()}
    if len(sets) == 1:
        return next(iter(parts.values()), "in no row")
    return " and ".join(f"{part} of the {SET_NAMES[role]}" for role, part in parts.items())
