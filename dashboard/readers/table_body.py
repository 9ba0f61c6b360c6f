"""The rows below a header: strict numbers, and labels matched to the class columns."""

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.readers.columns import NUMBER, Layout
from dashboard.readers.contents import Array, Contents, RawEvent, RawSet
from dashboard.readers.refusal import FileError, quoted

_PLAIN = re.compile(r"[0-9eE.+\- ;]*", re.ASCII)
_MAX_DISTINCT = 100_000
_MAX_CELL = 256
_MAX_BLANK = 10_000
_MINUS_INFINITY = frozenset({"-inf", "-infinity"})
_YES_NO = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}
Rows = list[list[str]]
Block = tuple[int, Rows]


@dataclass
class Body:
    """Numbers and codes of all rows."""

    numbers: Floats
    codes: dict[int, NDArray[np.int32]]
    cells: tuple[str, ...]
    notes: tuple[str, ...] = ()
    percent: bool = False

    def contents(self, layout: Layout, *, first_row: int, found: tuple[str, ...]) -> Contents:
        """Hand over what the columns hold."""
        found = (*found, *self.notes, *layout.found)
        repairs: tuple[str, ...] = ()
        if self.percent:
            repairs = (f"Percent signs: {self.numbers.size:,} values were divided by 100.",)
        if layout.is_event:
            event = RawEvent(self.numbers[:, 0], self._hits(layout), first_row)
            return Contents({"rows": event}, found, repairs)
        table = self.numbers
        if layout.names is None and table.shape[1] > 2 and _is_running(table[:, 0]):
            table = table[:, 1:]
            repairs += (f"The first column counts the {len(table):,} rows and was left out.",)
        values = None if not table.size else table[:, 0] if table.shape[1] == 1 else table
        raw = RawSet(values, None, layout.class_names, first_row)
        if layout.labels is not None:
            numbers = self._label_numbers(layout.labels)
            if numbers is None:
                numbers = self._named_labels(layout, layout.labels)
                raw = replace(raw, named_labels=True)
                said = (
                    f"Labels were matched to the class columns by name ({len(numbers):,} labels)."
                )
                found = (*found, said)
            raw = replace(raw, labels=numbers)
        return Contents({"rows": raw}, found, repairs)

    def _hits(self, layout: Layout) -> NDArray[np.bool_]:
        if layout.hits is not None:
            wrong = next((cell for cell in self.cells if cell.lower() not in _YES_NO), None)
            if wrong is not None:
                raise FileError(layout.column_name(layout.hits), quoted(wrong), "0 or 1")
            hit = np.array([_YES_NO[cell.lower()] for cell in self.cells], dtype=np.bool_)
            return np.asarray(hit[self.codes[layout.hits]])
        # "3" and "3.0" are the same class, "cat" and "Cat" are not.
        same: dict[float | str, int] = {}
        keys = (float(cell) if NUMBER.fullmatch(cell) else cell for cell in self.cells)
        canonical = np.array([same.setdefault(key, k) for k, key in enumerate(keys)])
        truth, predicted = (canonical[self.codes[column]] for column in layout.codes[:2])
        return np.asarray(truth == predicted)

    def _label_numbers(self, column: int) -> Array | None:
        """Give the labels as numbers, if all are."""
        if not all(NUMBER.fullmatch(cell) for cell in self.cells):
            return None
        whole = all(cell.isdigit() and len(cell) < 16 for cell in self.cells)
        numbers = [float(cell) for cell in self.cells]
        return np.array(numbers, dtype=np.int64 if whole else np.float64)[self.codes[column]]

    def _named_labels(self, layout: Layout, column: int) -> Array:
        """Give the place among the class columns that each label names."""
        short = {name: k for k, name in enumerate(layout.class_names or ())}
        whole = (
            {layout.names[c].strip(): k for k, c in enumerate(layout.numbers)}
            if short and layout.names
            else {}
        )
        unmatched = [cell for cell in self.cells if cell not in short]
        places = whole if unmatched and all(cell in whole for cell in self.cells) else short
        if places is short and unmatched:
            raise FileError(
                layout.column_name(column),
                f"label {quoted(unmatched[0])}, which is the name of no class column",
                "class numbers, or names of the class columns",
            )
        return np.array([places[cell] for cell in self.cells])[self.codes[column]]


def read_body(blocks: Iterator[Block], layout: Layout, *, width: int, delimiter: str) -> Body:
    """Read all rows below the header.

    Parameters
    ----------
    blocks : iterator of (int, list of rows)
        Number of the first row, as a spreadsheet counts, and the fields of each.
    layout : Layout
        What the columns are.
    width : int
        How many fields every row must have.
    delimiter : str
        Anything but a comma lets commas mark decimals.
    """
    numbers = _Numbers(layout, comma_allowed=delimiter != ",")
    codes = {column: array("i") for column in layout.codes}
    seen: dict[str, int] = {}
    for start, given in blocks:
        rows, counted = _same_width(start, given, width)
        for column, gathered in codes.items():
            cells = [row[column].strip() for row in rows]
            for cell in dict.fromkeys(cells):
                if cell not in seen:
                    if not cell or len(seen) >= _MAX_DISTINCT or len(cell) > _MAX_CELL:
                        place = f"row {counted[cells.index(cell)]}, {layout.column_name(column)}"
                        raise _not_a_label(place, cell, len(seen))
                    seen[cell] = len(seen)
            gathered.extend(map(seen.__getitem__, cells))
        numbers.take(rows, counted)
    return Body(
        numbers.table(),
        {column: np.frombuffer(gathered, dtype=np.int32) for column, gathered in codes.items()},
        tuple(seen),
        ("Commas mark decimals.",) if numbers.comma_row else (),
        percent=numbers.with_sign > 0,
    )


def _same_width(start: int, rows: Rows, width: int) -> tuple[Rows, Sequence[int]]:
    """Drop blank rows, refuse rows of another width, and number the others."""
    if all(len(row) == width for row in rows) and width > 1:
        return rows, range(start, start + len(rows))
    numbered = [
        (number, row)
        for number, row in enumerate(rows, start)
        if len(row) > 1 or "".join(row).strip()
    ]
    if not numbered and len(rows) > _MAX_BLANK:
        raise FileError(f"row {start}", f"{len(rows):,} blank rows", "one row a sample")
    for number, row in numbered:
        if len(row) != width:
            raise FileError(
                f"row {number}", f"{len(row):,} fields", f"{width:,} columns as in the first row"
            )
    return [row for _, row in numbered], [number for number, _ in numbered]


def _not_a_label(place: str, cell: str, distinct: int) -> FileError:
    found = quoted(cell) if cell else "a blank cell"
    if distinct >= _MAX_DISTINCT:
        found = f"more than {_MAX_DISTINCT:,} different values"
    return FileError(place, found, "a class in every row")


class _Numbers:
    """Collects the numbers of one block of rows after another."""

    def __init__(self, layout: Layout, *, comma_allowed: bool) -> None:
        self.layout = layout
        self.comma_allowed = comma_allowed
        self.values = array("d")
        self.n_rows = 0
        self.with_sign = 0
        self.comma_row = 0
        self.point_row = 0
        columns = layout.numbers
        together = bool(columns) and columns[-1] - columns[0] + 1 == len(columns)
        self.pick = itemgetter(*columns) if columns else itemgetter(slice(0, 0))
        if together:
            self.pick = itemgetter(slice(columns[0], columns[-1] + 1))

    def take(self, rows: Rows, counted: Sequence[int]) -> None:
        """Read a block, the usual one in a few calls and any other cell by cell."""
        self.n_rows += len(rows)
        cells = list(chain.from_iterable(map(self.pick, rows)))
        if self.comma_allowed and cells:
            cells = self._with_points(cells, counted)
        if _PLAIN.fullmatch(";".join(cells)):
            # float() takes words and underscores too, but these letters cannot form them.
            try:
                self.values.fromlist(list(map(float, cells)))
            except ValueError:
                pass
            else:
                return
        n_columns = len(self.layout.numbers)
        for place, cell in enumerate(cells):
            column = self.layout.numbers[place % n_columns]
            self.values.append(self._strict(counted[place // n_columns], column, cell.strip()))

    def table(self) -> Floats:
        """Give all rows as one array."""
        total = len(self.values)
        if self.with_sign not in (0, total):
            raise FileError(
                "values", f"percent signs in {self.with_sign:,} of {total:,} cells", "all or none"
            )
        if not total:
            return np.empty((self.n_rows, 0))
        table = np.frombuffer(self.values, dtype=np.float64).reshape(self.n_rows, -1)
        return table / 100 if self.with_sign else table

    def _with_points(self, cells: list[str], counted: Sequence[int]) -> list[str]:
        """Turn decimal commas into points, which a file may not mix."""
        self.comma_row = self.comma_row or self._row_with(",", cells, counted)
        self.point_row = self.point_row or self._row_with(".", cells, counted)
        if self.comma_row and self.point_row:
            raise FileError(
                f"row {max(self.comma_row, self.point_row)}",
                f"both commas (row {self.comma_row}) and points (row {self.point_row}) in numbers",
                "one decimal mark",
            )
        return [cell.replace(",", ".") for cell in cells] if self.comma_row else cells

    def _row_with(self, mark: str, cells: list[str], counted: Sequence[int]) -> int:
        """Give the number of the first row with a mark, 0 for none."""
        place = next((k for k, cell in enumerate(cells) if mark in cell), None)
        return 0 if place is None else counted[place // len(self.layout.numbers)]

    def _strict(self, number: int, column: int, cell: str) -> float:
        if cell.endswith("%"):
            self.with_sign += 1
            cell = cell[:-1].rstrip()
        if cell.lower() in _MINUS_INFINITY:
            return -math.inf
        if len(cell) > _MAX_CELL or not NUMBER.fullmatch(cell):
            place = f"row {number}, {self.layout.column_name(column)}"
            raise FileError(place, quoted(cell) if cell else "a blank cell", "a finite number")
        return float(cell)


def _is_running(column: Floats) -> bool:
    """Tell a column that counts the rows, from 0 or from 1."""
    steps = np.arange(len(column))
    return len(column) > 2 and any(np.array_equal(column, steps + start) for start in (0, 1))
