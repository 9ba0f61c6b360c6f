"""The rows below a header: strict numbers, and labels matched to the class columns."""

import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.readers.columns import Layout, called
from dashboard.readers.contents import Array, Contents, RawEvent, RawSet, SliceColumn
from dashboard.readers.named import kept_sentence
from dashboard.readers.ranked import ranked_set
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.slices import (
    LEAST_COUNTED,
    MAX_COLUMNS,
    NUMBER,
    Outcome,
    TextColumn,
    counts_rows,
    sentence_of,
)

_PLAIN = re.compile(r"[0-9eE.+\- ;]*", re.ASCII)
_MAX_DISTINCT = 100_000
_MAX_CELL = 256
_MAX_BLANK = 10_000
_WORDS = {"-inf": -math.inf, "-infinity": -math.inf, "inf": math.inf, "infinity": math.inf}
_WORDS |= {"+inf": math.inf, "+infinity": math.inf, "nan": math.nan}
"""Numbers that are words: they are counted, and refused where the values are judged."""
_YES_NO = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}
Rows = list[list[str]]
Block = tuple[int, Rows]


@dataclass
class Body:
    """Numbers and codes of all rows, and the columns beside them."""

    numbers: Floats
    codes: dict[int, NDArray[np.int32]]
    cells: tuple[str, ...]
    notes: tuple[str, ...] = ()
    percent: bool = False
    columns: Mapping[int, Outcome] = field(default_factory=dict)

    def contents(self, layout: Layout, *, first_row: int, found: tuple[str, ...]) -> Contents:
        """Hand over what the columns hold."""
        repairs: tuple[str, ...] = ()
        missing: tuple[str, ...] = ()
        if self.percent:
            repairs = (f"Percent signs: {self.numbers.size:,} values were divided by 100.",)
        layout, columns, left = self._beside(layout)
        made: RawSet | RawEvent
        if layout.is_event:
            hits, n_classes = self._hits(layout)
            made = RawEvent(self.numbers[:, 0], hits, first_row, columns, n_classes)
        elif layout.ranked and layout.labels is not None:
            names, codes = self._canonical(layout)
            listed = np.column_stack([codes[c] for c in layout.ranked])
            made, missing = ranked_set(
                self.numbers, listed, codes[layout.labels], names,
                first_row=first_row, columns=columns,
            )  # fmt: skip
        else:
            layout, kept = _without_count(layout, self.numbers)
            if len(kept) < self.numbers.shape[1]:
                said = f"A column counts the {len(self.numbers):,} rows and was left out."
                repairs += (said,)
            made = self._set(layout, self.numbers[:, kept] if repairs else self.numbers)
            made = replace(made, first_row=first_row, columns=columns)
            if layout.predicted is not None:
                beside = self.columns.get(layout.predicted)
                made = replace(made, predicted=beside if isinstance(beside, SliceColumn) else None)
        return Contents(
            {"rows": made}, (*found, *self.notes, *layout.found, *left), repairs, missing,
            uses=layout.uses, preview=layout.preview,
        )  # fmt: skip

    def _beside(self, layout: Layout) -> tuple[Layout, tuple[SliceColumn, ...], tuple[str, ...]]:
        """Give the slicing columns, and say which they are and which cannot be one."""
        kept: dict[int, SliceColumn] = {}
        left: list[tuple[str, str]] = []
        for column in layout.slices:
            made = self.columns.get(column, "it was not read")
            if isinstance(made, SliceColumn):
                kept[column] = made
            else:
                left.append((called(layout.names, column), made))
        said = (*kept_sentence([column.name for column in kept.values()]), *sentence_of(left))
        return replace(layout, slices=tuple(kept)), tuple(kept.values()), said

    def _set(self, layout: Layout, table: Array) -> RawSet:
        values = None if not table.size else table[:, 0] if table.shape[1] == 1 else table
        raw = RawSet(values, None, layout.class_names, headings=layout.headings)
        if layout.one_hot:
            return replace(raw, labels=self._one_hot(layout))
        if layout.labels is None:
            return raw
        raw = replace(raw, label_name=layout.column_name(layout.labels))
        numbers = self._label_numbers(layout.labels)
        if numbers is None:
            codes = self.codes[layout.labels]
            return replace(raw, labels=codes, label_texts=self.cells)
        return replace(raw, labels=numbers)

    def _one_hot(self, layout: Layout) -> Array:
        columns = []
        for place in layout.one_hot:
            column = self.columns.get(place)
            if not isinstance(column, SliceColumn) or column.categories is not None:
                raise FileError(layout.column_name(place), "cells that are not 0 or 1", "0 or 1")
            columns.append(column.values)
        return np.column_stack(columns)

    def _hits(self, layout: Layout) -> tuple[NDArray[np.bool_], int | None]:
        if layout.hits is not None and layout.predicted is None:
            wrong = next((cell for cell in self.cells if cell.lower() not in _YES_NO), None)
            if wrong is not None:
                raise FileError(layout.column_name(layout.hits), quoted(wrong), "0 or 1")
            hit = np.array([_YES_NO[cell.lower()] for cell in self.cells], dtype=np.bool_)
            return np.asarray(hit[self.codes[layout.hits]]), None
        names, codes = self._canonical(layout)
        truth, predicted = (codes[column] for column in layout.codes[:2])
        return np.asarray(truth == predicted), len(names)

    def _canonical(self, layout: Layout) -> tuple[list[str], dict[int, NDArray[np.int32]]]:
        """Count the different classes: "3" and "3.0" are the same, "cat" and "Cat" are not."""
        same: dict[float | str, int] = {}
        names: list[str] = []
        places = []
        for cell in self.cells:
            place = same.setdefault(float(cell) if NUMBER.fullmatch(cell) else cell, len(names))
            if place == len(names):
                names.append(cell)
            places.append(place)
        canonical = np.array(places, dtype=np.int32)
        return names, {column: canonical[self.codes[column]] for column in layout.codes}

    def _label_numbers(self, column: int) -> Array | None:
        """Give the labels as numbers, if all are."""
        if not all(NUMBER.fullmatch(cell) for cell in self.cells):
            return None
        numbers = np.array([float(cell) for cell in self.cells])
        if all(cell.removeprefix("-").isdigit() and len(cell) < 16 for cell in self.cells):
            numbers = numbers.astype(np.min_scalar_type(-int(np.abs(numbers).max()) - 1))
        return numbers[self.codes[column]]


def _without_count(layout: Layout, table: Floats) -> tuple[Layout, list[int]]:
    """Leave out a column that only counts the rows, unless the user calls it a class."""
    least = 3 if layout.names is None and table.shape[1] > 2 else LEAST_COUNTED
    kept = [
        place
        for place in range(table.shape[1])
        if layout.by_user or len(table) < least or not counts_rows(table[:, place])
    ]
    if len(kept) == table.shape[1] or not kept:
        return layout, list(range(table.shape[1]))
    return replace(layout, numbers=tuple(layout.numbers[place] for place in kept)), kept


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
    comma_allowed = delimiter != ","
    numbers = _Numbers(layout, comma_allowed=comma_allowed)
    beside = {
        column: TextColumn(called(layout.names, column), comma_allowed=comma_allowed)
        for column in layout.beside
    }
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
        for column, collected in beside.items():
            collected.take([row[column].strip() for row in rows])
        numbers.take(rows, counted)
    return Body(
        numbers.table(),
        {column: np.frombuffer(gathered, dtype=np.int32) for column, gathered in codes.items()},
        tuple(seen),
        (f"Commas mark decimals ({len(numbers.values):,} values).",) if numbers.comma_row else (),
        percent=numbers.with_sign > 0,
        columns={column: collected.outcome() for column, collected in beside.items()}
        | dict.fromkeys(layout.slices[MAX_COLUMNS:], f"only {MAX_COLUMNS} are kept"),
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
        word = _WORDS.get(cell.lower()) if len(cell) < 10 else None
        if word is not None:
            return word
        if len(cell) > _MAX_CELL or not NUMBER.fullmatch(cell):
            place = f"row {number}, {self.layout.column_name(column)}"
            raise FileError(place, quoted(cell) if cell else "a blank cell", "a finite number")
        return float(cell)
