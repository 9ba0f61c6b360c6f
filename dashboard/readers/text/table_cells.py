"""Cells of a text table, collected a block of rows at a time: strict numbers, and labels."""

import math
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats
from dashboard.readers.columns.headings import key_of
from dashboard.readers.columns.layout import Layout
from dashboard.readers.columns.named_sets import TRAINING, says_sets
from dashboard.readers.columns.packed import Packed
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.contents import Array, Contents, check_rows
from dashboard.readers.refusal import FileError, quoted

_GROUPED = re.compile(r"[+\-\u2212]?[0-9]{1,3}(?:[,.'\u2019\s][0-9]{3})+(?:[.,][0-9]*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(?![1-9][0-9]{0,2},[0-9]{3}(?![0-9]))[0-9]*,[0-9]+.*", re.ASCII)
_PLAIN = re.compile(r"[0-9eE.+\- ;]*", re.ASCII)
_MAX_DISTINCT = 100_000
_MAX_BLANK, _SHOWN = 10_000, 10
_A_CLASS, _NUMBER = "a class in every row", "a finite number"
MAX_CELL = 256
WORDS = {"-inf": -math.inf, "-infinity": -math.inf, "inf": math.inf, "infinity": math.inf}
WORDS |= {"+inf": math.inf, "+infinity": math.inf, "nan": math.nan}
"""Numbers that are words: they are counted, and refused where the values are judged."""


def marks_decimals(layout: Layout, sample: Sequence[Sequence[str]]) -> bool:
    """Tell commas within numbers that mark decimals, by one that cannot part thousands.

    Examples
    --------
    >>> one = Layout(None, (0,))
    >>> marks_decimals(one, [["0,25"]]), marks_decimals(one, [["1,250"]])
    (True, False)
    """
    cells = (row[c].strip() for row in sample for c in layout.numbers)
    return any("," in cell and _DECIMAL_COMMA.fullmatch(cell) for cell in cells)


def spare_columns(layout: Layout) -> tuple[int, ...]:
    """Find the column that calls some rows training rows, which may hold what cannot be read."""
    names, sample = layout.names, layout.sample
    found = [
        c
        for c in layout.slices
        if names and says_sets(names[c], {row[c].strip() for row in sample})
    ]
    return tuple(found) if len(found) == 1 else ()


class Spare:
    """Tells rows that may not be used, and keeps the first fault that was found in them."""

    def __init__(self, columns: Sequence[int]) -> None:
        self.columns = columns
        self.known: dict[str, bool] = {}
        self.unread: FileError | None = None

    def has(self, row: Sequence[str]) -> bool:
        """Tell of one row."""
        return any(self._calls(row[column]) for column in self.columns)

    def note(self, fault: FileError) -> None:
        """Keep a fault if it is the first."""
        self.unread = self.unread or fault

    def _calls(self, cell: str) -> bool:
        if cell not in self.known and len(self.known) < _MAX_DISTINCT:
            self.known[cell] = key_of(cell) in TRAINING
        return self.known.get(cell, False)


class Blanks:
    """Counts blank cells that are refused, and keeps the first rows that have one."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.n_cells = 0
        self.first = (0, 0)
        self.numbers: list[int] = []
        self.rows: list[tuple[str, ...]] = []

    def add(self, number: int, column: int, row: Sequence[str]) -> bool:
        """Count a cell, and tell whether these are more than are looked for."""
        self.first = self.first if self.n_cells else (number, column)
        self.n_cells += 1
        if len(self.rows) < _SHOWN and number not in self.numbers:
            self.numbers.append(number)
            self.rows.append(tuple(row))
        return self.n_cells > _MAX_BLANK

    def refused(self, more: str, wanted: str) -> FileError:
        """Refuse them, with the rows to be shown."""
        number, column = self.first
        place = f"row {number}, {self.layout.column_name(column)}"
        error = FileError(place, f"a blank cell{more}", wanted)
        rows = replace(self.layout, sample=tuple(self.rows), numbers_of_rows=tuple(self.numbers))
        shown = replace(rows.preview, refused=True)
        error.known = Contents({}, uses=self.layout.uses, preview=shown)
        return error


def _counted(n_cells: int, n_rows: int, what: str, first: Sequence[int]) -> str:
    """Say of more cells than one how many there are, and which rows have the first of them."""
    if n_cells < 2:
        return ""
    are = "1 row are" if n_rows == 1 else f"{n_rows:,} rows are"
    listed = ", ".join(map(str, first[:3]))
    rows = f"{'rows' if n_rows > 1 else 'row'} {listed}"
    return f" ({n_cells:,} cells in {are} {what}, {'first ' if n_rows > 3 else ''}in {rows})"


class Labels:
    """Collects the cells that are compared, as places among the different ones."""

    def __init__(self, layout: Layout, spare: Spare) -> None:
        self.layout = layout
        self.spare = spare
        self.seen: dict[str, int] = {}
        self.blanks, self.blank_rows = Blanks(layout), set[int]()
        self.codes = {column: array("i") for column in layout.codes}

    def take(self, rows: Sequence[Sequence[str]], counted: Sequence[int]) -> None:
        """Read a block."""
        for column, gathered in self.codes.items():
            cells = [row[column].strip() for row in rows]
            for cell in dict.fromkeys(cells):
                if not cell:
                    self._blank(column, cells, rows, counted)
                if cell not in self.seen:
                    if len(self.seen) >= _MAX_DISTINCT or len(cell) > MAX_CELL:
                        raise self._refused(column, cell, counted[cells.index(cell)])
                    self.seen[cell] = len(self.seen)
            gathered.extend(map(self.seen.__getitem__, cells))

    def take_coded(self, coded: Mapping[int, tuple[NDArray[np.int32], list[str]]]) -> bool:
        """Read a block given as places among its different cells, or leave it as it is."""
        cells = chain.from_iterable(part for _, part in coded.values())
        if "" in self.seen and not all(map(str.strip, cells)):
            return False
        places = {c: list(map(self.seen.get, part)) for c, (_, part) in coded.items()}
        new = {
            cell.strip()
            for c, (_, part) in coded.items()
            if None in places[c]
            for cell, place in zip(part, places[c], strict=True)
            if place is None
        }.difference(self.seen)
        if "" in new or len(self.seen) + len(new) > _MAX_DISTINCT:
            return False
        if any(len(cell) > MAX_CELL for cell in new):
            return False
        for column, (rows, part) in coded.items():
            known = places[column]
            if None in known:
                known = [self.seen.setdefault(cell.strip(), len(self.seen)) for cell in part]
            self.codes[column].frombytes(np.array(known, dtype=np.int32)[rows].tobytes())
        return True

    def columns(self) -> dict[int, NDArray[np.int32]]:
        """Give the whole columns."""
        return {
            column: np.frombuffer(gathered, dtype=np.int32)
            for column, gathered in self.codes.items()
        }

    def _blank(
        self,
        column: int,
        cells: Sequence[str],
        rows: Sequence[Sequence[str]],
        counted: Sequence[int],
    ) -> None:
        """Count blank cells, or note them where all are in rows that may not be used."""
        places = [place for place, cell in enumerate(cells) if not cell]
        used = [place for place in places if not self.spare.has(rows[place])]
        for place in used:
            self.blank_rows.add(counted[place])
            if self.blanks.add(counted[place], column, rows[place]):
                raise self.blanks.refused("", _A_CLASS)
        if not used:
            self.spare.note(self._refused(column, "", counted[places[0]]))

    @contextmanager
    def blanks_first(self) -> Iterator[None]:
        """Refuse blank cells once all are counted, and before any fault that comes after them."""
        try:
            yield
        except FileError:
            if n_cells := self.blanks.n_cells:
                more = f", the first of {n_cells:,} or more" if n_cells > 1 else ""
                raise self.blanks.refused(more, _A_CLASS) from None
            raise
        if self.blanks.n_cells:
            n_cells, numbers = self.blanks.n_cells, sorted(self.blank_rows)
            more = _counted(n_cells, len(numbers), "blank", numbers)
            raise self.blanks.refused(more, _A_CLASS)

    def _refused(self, column: int, cell: str, number: int) -> FileError:
        found = quoted(cell) if cell else "a blank cell"
        if len(self.seen) >= _MAX_DISTINCT:
            found = f"more than {_MAX_DISTINCT:,} different values"
        place = f"row {number}, {self.layout.column_name(column)}"
        return FileError(place, found, _A_CLASS)


class Numbers:
    """Collects the numbers of one block of rows after another."""

    def __init__(self, layout: Layout, spare: Spare, *, comma_allowed: bool) -> None:
        self.layout = layout
        self.spare = spare
        self.n_unread = 0
        self.comma_allowed = comma_allowed
        self.values = Packed()
        self.n_rows = 0
        self.with_sign = 0
        self.comma_row = 0
        self.point_row = 0
        self.blanks = Blanks(layout)
        columns = layout.numbers
        together = bool(columns) and columns[-1] - columns[0] + 1 == len(columns)
        self.pick = itemgetter(*columns) if columns else itemgetter(slice(0, 0))
        if together:
            self.pick = itemgetter(slice(columns[0], columns[-1] + 1))

    def take(self, rows: Sequence[Sequence[str]], counted: Sequence[int]) -> None:
        """Read a block, the usual one in a few calls and any other cell by cell."""
        self._count(len(rows))
        cells = list(chain.from_iterable(map(self.pick, rows)))
        if self.comma_allowed and cells:
            cells = self._with_points(cells, counted)
        if _PLAIN.fullmatch(";".join(cells)):
            # float() takes words and underscores too, but these letters cannot form them.
            try:
                self.values.take(list(map(float, cells)))
            except ValueError:
                pass
            else:
                self._refuse_some_signs()
                return
        n_columns = len(self.layout.numbers)
        known = {cell: self._strict(cell.strip()) for cell in dict.fromkeys(cells)}
        signs = {cell for cell in known if cell.rstrip().endswith("%")}
        self.with_sign += sum(map(signs.__contains__, cells)) if signs else 0
        values = list(map(known.__getitem__, cells))
        if None in known.values():
            odd = [place for place, value in enumerate(values) if value is None]
            self.n_unread += len(odd)
            with_odd = dict.fromkeys(place // n_columns for place in odd)
            unused = {row for row in with_odd if self.spare.has(rows[row])}
            for place in odd:
                row, column = divmod(place, n_columns)
                if row not in unused or self.spare.unread is None:
                    where = counted[row], self.layout.numbers[column]
                    self._fault(*where, cells[place], rows[row], spare=row in unused)
        self.values.take([math.nan if value is None else value for value in values])
        self._refuse_some_signs()

    def _refuse_some_signs(self) -> None:
        """Refuse percent signs in some cells only."""
        total = len(self.values)
        if self.with_sign not in (0, total - self.n_unread):
            raise FileError(
                "values", f"percent signs in {self.with_sign:,} of the first {total:,} cells",
                "all or none",
            )  # fmt: skip

    def take_table(self, values: Floats) -> None:
        """Read a block whose numbers are known, as cells with or without percent signs."""
        self._count(len(values))
        self.with_sign += values.size if self.with_sign else 0
        self.values.add(values.ravel())

    def table(self, numbered: Callable[[Array], Array]) -> Floats:
        """Give all rows as one array; their places are numbered if some are to be refused."""
        if not len(self.values):
            return np.empty((self.n_rows, 0))
        table = self.values.whole().reshape(self.n_rows, -1)
        if self.blanks.n_cells:
            raise self._blanks(table, numbered)
        return np.divide(table, 100, out=table) if self.with_sign else table

    def _count(self, n_rows: int) -> None:
        self.n_rows += n_rows
        check_rows(self.n_rows)

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

    def _strict(self, cell: str) -> float | None:
        if len(cell) <= MAX_CELL and NUMBER.fullmatch(cell):
            return float(cell)
        cell = cell.removesuffix("%").rstrip()
        word = WORDS.get(cell.lower()) if len(cell) < 10 else None
        if word is not None:
            return word
        return float(cell) if len(cell) <= MAX_CELL and NUMBER.fullmatch(cell) else None

    def _blanks(self, table: Floats, numbered: Callable[[Array], Array]) -> FileError:
        """Say where the first blank cells are, and how many there are, with those that are NaN."""
        if self.spare.columns:
            return self._too_many() if self.blanks.n_cells > 1 else self.blanks.refused("", _NUMBER)
        unknown = np.isnan(table)
        rows = np.flatnonzero(unknown.any(axis=1))
        first = numbered(rows[:3]).tolist()
        n_cells = int(np.count_nonzero(unknown))
        return self.blanks.refused(_counted(n_cells, len(rows), "blank or NaN", first), _NUMBER)

    def _too_many(self) -> FileError:
        return self.blanks.refused(f", the first of {self.blanks.n_cells:,}", _NUMBER)

    def _fault(
        self, number: int, column: int, cell: str, row: Sequence[str], *, spare: bool
    ) -> None:
        """Refuse a cell, or note it in a row that may not be used."""
        if not cell.strip() and not spare:
            if self.blanks.add(number, column, row):
                raise self._too_many()
            return
        place = f"row {number}, {self.layout.column_name(column)}"
        cell = cell.strip().removesuffix("%").rstrip()
        wanted = _NUMBER
        if _GROUPED.fullmatch(cell):
            wanted = "a number without marks between its thousands"
        fault = FileError(place, quoted(cell) if cell else "a blank cell", wanted)
        if not spare:
            raise fault
        self.spare.note(fault)
