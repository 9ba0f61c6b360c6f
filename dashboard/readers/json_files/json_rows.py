"""What the elements of a long JSON list grow into: a column, rows of lists, or records."""

from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from calibcore.validation import Floats
from dashboard.readers.binary.npy import is_whole
from dashboard.readers.columns.columns import looks_like_header
from dashboard.readers.columns.growing import EXACT, GrowingColumn
from dashboard.readers.columns.headings import is_score, key_of
from dashboard.readers.columns.objects import gives_classes, headings_of, is_table
from dashboard.readers.columns.packed import Packed
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.columns.table_columns import Column, Unusable
from dashboard.readers.contents import Array, check_rows
from dashboard.readers.json_files.json_blocks import CONTAINERS, number_rows
from dashboard.readers.json_files.json_likely import (
    Likely,
    is_likely,
    is_vector,
    keys_of_pair,
    vector,
)
from dashboard.readers.json_files.json_lists import Listed, as_numbers, listed_pair
from dashboard.readers.refusal import FileError, quoted

_MAX_WIDTH = 200_000
_MAX_COLUMNS = 4096
_INPUTS = frozenset({"instance", "input", "inputs", "features", "row", "example"})
"""What the object is called that holds the columns given to a model beside its prediction."""

_HUGE = "a whole number too large to compute with"


class Values(GrowingColumn):
    """A list of single values."""

    def take(self, items: Sequence[Any]) -> None:
        """Add some elements."""
        if not CONTAINERS.isdisjoint(map(type, items)):
            for row, item in enumerate(items, len(self) + 1):
                if isinstance(item, list | dict):
                    raise _mixed(row, item, "single values")
        try:
            self.extend(items)
            check_rows(len(self))
        except OverflowError as error:
            place = f"rows {len(self) + 1} to {len(self) + len(items)}"
            raise FileError(place, _HUGE, "numbers below 1e308") from error


class ListRows:
    """A list of lists: one table of numbers while there is nothing else, then columns."""

    def __init__(self) -> None:
        self.width = 0
        self.n_rows = 0
        self.numbers = Packed()
        self.names: tuple[str, ...] | None = None
        self.columns: list[Values] = []

    def __len__(self) -> int:
        """Count the rows."""
        return self.n_rows

    def take(self, items: Sequence[Any]) -> None:
        """Add some rows."""
        if not self.n_rows and isinstance(items[0], list):
            self.width = len(items[0])
        alike = {*map(type, items)} == {list} and {*map(len, items)} == {self.width}
        for row, item in enumerate(
            () if alike and 0 < self.width <= _MAX_WIDTH else items, self.n_rows + 1
        ):
            if not isinstance(item, list):
                raise _mixed(row, item, "lists")
            if len(item) != self.width or not 0 < self.width <= _MAX_WIDTH:
                wanted = f"lists of equal length, here {self.width:,}, of 1 to {_MAX_WIDTH:,}"
                raise FileError(f"row {row}", f"a list of {len(item):,} values", wanted)
        self.n_rows += len(items)
        check_rows(self.n_rows)
        if not self.columns:
            try:
                self.numbers.take(list(chain.from_iterable(items)))
            except (TypeError, OverflowError):
                items = self._part(items)
            else:
                return
        for column, cells in zip(self.columns, zip(*items, strict=True), strict=False):
            column.take(cells)

    def take_text(self, block: bytes, between: bytes) -> bool:
        """Add rows of numbers as a file has them, or leave them; see `number_rows`."""
        if self.columns or not block:
            return False
        numbers = number_rows(block, self.width, between)
        if numbers is not None:
            self.numbers.take(numbers)
            self.n_rows += len(numbers) // self.width
            check_rows(self.n_rows)
        return numbers is not None

    def matrix(self) -> Array:
        """Give the rows as a table of numbers."""
        if not self.columns:
            return self.numbers.whole().reshape(-1, self.width)
        columns = [column.finish() for column in self.columns]
        return np.column_stack([as_numbers(c, place) for place, c in enumerate(columns, 1)])

    def table(self) -> tuple[tuple[str, ...] | None, list[Column]]:
        """Give the rows as columns, with names where the first row is a header."""
        if not self.columns:
            return None, [counted(column) for column in self.matrix().T]
        return self.names, [column.finish() for column in self.columns]

    def rows(self) -> list[Values]:
        """Give each row as a list of its own."""
        if self.columns:
            raise FileError("list", "texts among deeper lists", "rows of numbers")
        rows = [Values() for _ in range(self.n_rows)]
        for row, numbers in zip(rows, self.matrix(), strict=True):
            row.take(numbers.tolist())
        return rows

    def _part(self, items: Sequence[Any]) -> Sequence[Any]:
        """Turn the rows so far into columns, and take a header off the first rows of all."""
        if self.width > _MAX_COLUMNS:
            found = "something that is not a number"
            raise FileError(f"rows from {self.n_rows - len(items) + 1}", found, "rows of numbers")
        self.columns = [Values() for _ in range(self.width)]
        if len(self.numbers):
            for column, numbers in zip(self.columns, self._so_far().T, strict=True):
                column.begin(numbers)
            self.numbers = Packed()
        elif all(isinstance(cell, str) for cell in items[0]) and looks_like_header(items[0]):
            self.names = tuple(items[0])
            return items[1:]
        return items

    def _so_far(self) -> Floats:
        return self.numbers.whole().reshape(-1, self.width)


class Vectors(ListRows):
    """A list of vectors as Spark writes them."""

    def take(self, items: Sequence[Any]) -> None:
        """Add some rows."""
        super().take([vector(item, row) for row, item in enumerate(items, len(self) + 1)])


class Records:
    """A list of objects with the same keys."""

    def __init__(self) -> None:
        self.fields: dict[str, Growing | Unusable] = {}
        self.n_rows = 0

    def __len__(self) -> int:
        """Count the rows."""
        return self.n_rows

    def take(self, items: Sequence[Any]) -> None:
        """Add some rows."""
        if not self.n_rows and isinstance(items[0], dict):
            self.fields = _fields(items)
            if not 0 < len(self.fields) <= _MAX_COLUMNS:
                found = f"an object of {len(self.fields):,} members"
                raise FileError("row 1", found, f"1 to {_MAX_COLUMNS:,} members")
        alike = {*map(type, items)} == {dict} and {*map(len, items)} == {len(self.fields)}
        try:
            columns = [list(map(itemgetter(key), items)) for key in self.fields if alike]
        except KeyError:
            alike = False
        for row, item in enumerate(() if alike else items, self.n_rows + 1):
            if not isinstance(item, dict):
                raise _mixed(row, item, "objects")
            if item.keys() != self.fields.keys():
                keys = (*self.fields, *item)
                other = next(k for k in keys if (k in item) != (k in self.fields))
                have = "without" if other in self.fields else "with a further"
                found = f"an object {have} member {quoted(other, 30)}"
                raise FileError(f"row {row}", found, "the same members in every row")
        for (key, field), column in zip(self.fields.items(), columns, strict=True):
            if isinstance(field, Unusable):
                continue
            try:
                _extend(field, column, items)
            except FileError as error:
                raise FileError.at(f"member {quoted(key, 30)},", error) from error
        self.n_rows += len(items)
        check_rows(self.n_rows)

    def table(self) -> tuple[tuple[str, ...], list[Column]]:
        """Give the columns by name."""
        names: list[str] = []
        columns: list[Column] = []
        for key, field in self.fields.items():
            if isinstance(field, Unusable) and not field.kind:
                continue
            if isinstance(field, Likely):
                ranks, listed = field.table()
                names += ranks
                columns += listed
            elif isinstance(field, Records):
                inner, within = field.table()
                if key_of(key) in _INPUTS:
                    names += [f"{key}.{n}" if n in self.fields else n for n in inner]
                    columns += within
                    continue
                pair = keys_of_pair(dict.fromkeys(inner)) or ("", "")
                ranked = dict(zip(pair, ("top1_class", "top1_prob"), strict=True))
                told = zip(inner, headings_of(key, inner), strict=True)
                names += [ranked.get(name, heading) for name, heading in told]
                columns += within
            else:
                names.append(key)
                columns.append(_column(field))
            self.fields[key] = Unusable("")
        return tuple(names), columns


Growing = Values | ListRows | Records | Likely


def started(item: object) -> Growing:
    """Begin what elements such as this one grow into."""
    if isinstance(item, list):
        return Likely() if is_likely(item) else ListRows()
    return Records() if isinstance(item, dict) else Values()


def counted(column: Array) -> Array:
    """Take numbers for whole ones where all are, since JSON does not tell 3.0 from 3."""
    first = column[:1]
    alike = column.dtype.kind == "f" and column.size and (first == np.floor(first)).all()
    whole = alike and is_whole(column)
    return column.astype(np.int64) if whole and np.abs(column).max() < EXACT else column


def _fields(items: Sequence[Any]) -> dict[str, Growing | Unusable]:
    """Begin the columns of objects; of two lists in each, one of classes, that of their scores."""
    pair = listed_pair(items[0])
    if pair is None:
        return {key: _started(items, key) for key in items[0]}
    classes, scores = pair
    kept = (key for key in items[0] if key != classes)
    return {
        classes: Unusable(""),
        **{key: Listed(*pair) if key == scores else _started(items, key) for key in kept},
    }


def _extend(field: Growing, column: Sequence[Any], items: Sequence[Any]) -> None:
    if isinstance(field, Listed):
        field.take_lists([item[field.classes] for item in items], column)
    else:
        field.take(column)


def _column(field: Values | ListRows | Unusable) -> Column:
    if isinstance(field, Values):
        return field.finish()
    return field.matrix() if isinstance(field, ListRows) else field


def _started(items: Sequence[Any], key: str) -> Growing | Unusable:
    """Begin a column by the first of its values that is there."""
    values = (item.get(key) for item in items if isinstance(item, dict))
    first = next((value for value in values if value is not None), None)
    if is_likely(first):
        return Likely()
    if is_vector(first):
        return Vectors()
    if isinstance(first, dict):
        kept = key_of(key) in _INPUTS or _gives_classes(items[0], key, first)
        return Records() if kept else Unusable("an object in every row")
    if isinstance(first, list) and not all(
        isinstance(value, bool | int | float) for value in first
    ):
        if is_table(key) and all(isinstance(v, str) and NUMBER.fullmatch(v) for v in first):
            return ListRows()
        what = "texts" if all(isinstance(value, str) for value in first) else "objects or lists"
        return Unusable(f"a list of {what} in every row")
    return ListRows() if isinstance(first, list) else Values()


def _gives_classes(item: dict[str, Any], key: str, first: dict[str, Any]) -> bool:
    others = (k for k, v in item.items() if isinstance(v, list | dict) or is_score(key_of(k)))
    numbers = all(isinstance(value, int | float) for value in first.values())
    return is_table(key) or (numbers and gives_classes(key, others))


def _mixed(row: int, item: object, wanted: str) -> FileError:
    kinds = {list: "a list", dict: "an object", str: "text", type(None): "null"}
    return FileError(f"row {row}", kinds.get(type(item), "a single value"), f"{wanted} only")
