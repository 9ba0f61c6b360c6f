"""One sheet of a workbook, from its cells to columns."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dashboard.readers.binary.archive import Archive
from dashboard.readers.columns.columns import looks_like_header, numbers_columns
from dashboard.readers.columns.growing import Cell, GrowingColumn, Room, spelled
from dashboard.readers.columns.headings import LABELS, key_of
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.columns.table_columns import Text, from_columns
from dashboard.readers.contents import Array, Contents, Options
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.sheets.xlsx_names import LAST_COLUMN, as_date, letters_of, place_of
from dashboard.readers.sheets.xlsx_parts import Attributes, Texts, Work
from dashboard.readers.sheets.xlsx_rows import (
    END,
    VALUE,
    Block,
    Cells,
    PlainPieces,
    Shape,
    Shapes,
    parted,
)
from dashboard.readers.sheets.xlsx_texts import numbers_in_texts

_MAX_COLUMNS = 4096
_LAST_ROW = 1 << 20
_BLOCK = 256
_BETWEEN_ROWS = 2
_SPARE_BLANKS = 300_000
_MAX_TITLES = 5


class Sheet(Texts):
    """Reads the rows of one sheet, of which the first that is not blank sets the width.

    Parameters
    ----------
    archive, name
        Where the sheet's part is.
    work : Work
        What was done for the workbook so far.
    strings : list of str
        The texts that cells refer to.
    dates : set of str
        The styles that show dates.
    header : bool, optional
        Whether the first row names the columns, where the user says so.

    Notes
    -----
    Only cells with a value take memory, and blank ones within the table are bounded, so that a
    cell at the far end of the sheet costs nothing.
    """

    def __init__(
        self,
        archive: Archive,
        name: str,
        work: Work,
        *,
        strings: list[str],
        dates: set[str],
        header: bool | None,
    ) -> None:
        super().__init__(archive, name, work)
        self.strings = strings
        self.dates = dates
        self.header = header
        self.names: list[str] | None = None
        self.notes: list[str] = []
        self.row = self.column = self.last = self.top = 0
        self.cells: dict[int, Cell] = {}
        self.cell: Attributes = {}
        self.raw: str | None = None
        self.n_formulas = self.n_blank = self.n_filled = self.n_outside = 0
        self.has_formula = False
        self.outside = ""
        self.block: list[list[Cell]] = []
        self.columns: list[GrowingColumn] = []
        self.shapes: Shapes | None = None
        self.n_looked_at = 0
        self.plain_cells = Cells(strings, as_date)
        self.titles: list[tuple[int, dict[int, Cell]]] = []
        self.plain = PlainPieces(END)
        self.start |= {"row": self._begin_row, "c": self._begin_cell, "v": self.collect}
        self.start["f"] = self._begin_formula
        self.end |= {"row": self._end_row, "c": self._end_cell, "v": self._end_value}

    def contents(self, options: Options) -> Contents:
        """Tell the columns apart."""
        if not self.columns or not len(self.columns[0]):
            raise FileError("header", "no rows below it", "a table")
        columns = [column.finish() for column in self.columns]
        names = self.names or [""] * len(columns)
        used = [c for c, column in enumerate(columns) if names[c].strip() or not _blank(column)]
        found = list(self.notes)
        if self.n_formulas:
            found.append(f"Formulas: the saved values of {self.n_formulas:,} cells were used.")
        if self.n_outside:
            found.append(
                f"Outside the columns of the first row {self.n_outside:,} cells were left out,"
                f" first {self.outside}."
            )
        told, mended = numbers_in_texts({c: columns[c] for c in used}, names)
        contents = from_columns(
            None if self.names is None else [names[c] for c in used],
            [told[c] for c in used],
            options,
            first_row=self.top,
            found=tuple(found),
        )
        return replace(contents, repairs=(*mended, *contents.repairs))

    def read(self) -> None:
        """Walk the sheet."""
        super().read()
        self._take_titles()
        self._flush()

    def place(self) -> str:
        """Say how far it was read."""
        return f"row {self.row:,}"

    def feed(self, piece: bytes) -> None:
        """Walk a piece, taking what rows can be taken as they stand."""
        for whole, part in self.plain.parts(piece):
            block = parted(part) if whole else None
            if block is None:
                super().feed(part)
            else:
                self._take_block(block)

    def close(self) -> None:
        """Walk what was waiting for the end of a row."""
        super().feed(self.plain.rest)
        super().close()

    def _take_block(self, block: Block) -> None:
        """Take rows of plain cells together, as many as follow each other, and walk the others."""
        together = self._shape_of_all(block.makes)
        if together is not None:
            self._take_rows(block.rows, [together] * len(block.rows), block.values)
            return
        at = start = first = 0
        shapes: list[Shape] = []
        for place, (row, make) in enumerate(zip(block.rows, block.makes, strict=True)):
            shape = self._shape(make, len(shapes))
            if shape is None:
                self._take_rows(block.rows[first:place], shapes, block.values[start:at])
                shapes = []
                shape = self._shape(make, 0)
                if shape is None:
                    super().feed(row + END)
                first, start = place + (shape is None), at
            if shape is not None:
                shapes.append(shape)
            at += make.count(VALUE) if shape is None else len(shape.places)
            start = start if shapes else at
        self._take_rows(block.rows[first:], shapes, block.values[start:at])

    def _shape_of_all(self, makes: list[bytes]) -> Shape | None:
        """Give the shape of rows that follow those before, are plain and are all alike."""
        between = self.depth == _BETWEEN_ROWS and self.row == self.last
        if self.shapes is None or not between or self.row + len(makes) > _LAST_ROW:
            return None
        return self.shapes.of_all(makes, self.row + 1)

    def _shape(self, make: bytes, n_waiting: int) -> Shape | None:
        """Give the shape of a row that follows those before and is plain."""
        number = self.row + 1 + n_waiting
        between = self.depth == _BETWEEN_ROWS and self.row == self.last and number <= _LAST_ROW
        return self.shapes.of(make, number) if self.shapes is not None and between else None

    def _take_rows(
        self, rows: Sequence[bytes], shapes: Sequence[Shape], values: Sequence[bytes]
    ) -> None:
        """Take rows of plain cells, one by one where not all can be read."""
        if self.row != self.last:
            # After a blank row, which is to be refused where it is no end.
            super().feed(END.join([*rows, b""]))
            return
        columns = self.plain_cells.columns(shapes, values, len(self.columns)) if shapes else []
        if columns is None and len(shapes) > 1:
            self.work.add(Work.again * len(values), self.place())
            half = len(shapes) // 2
            at = sum(len(shape.places) for shape in shapes[:half])
            self._take_rows(rows[:half], shapes[:half], values[:at])
            self._take_rows(rows[half:], shapes[half:], values[at:])
        elif columns is None:
            super().feed(rows[0] + END)
        elif shapes:
            self._charge(shapes, values)
            self._flush()
            self.row = self.last = self.row + len(shapes)
            self.values += len(values)
            self.n_filled += len(values)
            n_formulas = sum(row.count(b"<f") for row in rows if b"<f" in row)
            self.work.add(Work.formula * n_formulas, self.place())
            self.n_formulas += n_formulas
            self.silent = 0
            self._count_blank(sum(shape.n_blank for shape in shapes))
            for column, cells in zip(self.columns, columns, strict=True):
                column.extend(cells)

    def _charge(self, shapes: Sequence[Shape], values: Sequence[bytes]) -> None:
        """Count the work that some rows are."""
        made = 0 if self.shapes is None else self.shapes.n_looked_at
        nanoseconds = Work.row * len(shapes) + Work.make * (made - self.n_looked_at)
        self.n_looked_at = made
        texts = False
        for shape in shapes:
            n_texts, n_dates = shape.n_more
            texts = texts or n_texts > 0
            nanoseconds += Work.cell * (len(shape.places) + n_texts) + Work.date * n_dates
        nanoseconds += Work.byte * sum(map(len, values)) if texts else 0
        if any(shape is not shapes[0] for shape in shapes):
            nanoseconds += Work.mixed * len(shapes)
        self.work.add(nanoseconds, self.place())

    def _begin_row(self, attributes: Attributes) -> None:
        number = attributes.get("r", "")
        row = int(number) if number.isdigit() and len(number) < 9 else self.row + 1
        if not self.row < row <= _LAST_ROW:
            raise self.refused(f"row {row:,} after row {self.row:,}", "rows in their order")
        self.row, self.column = row, -1

    def _begin_cell(self, attributes: Attributes) -> None:
        letters = attributes.get("r", "").rstrip("0123456789")
        column = place_of(letters) if letters else self.column + 1
        if not self.column < column < LAST_COLUMN or not self.row:
            found = f"cell {quoted(attributes.get('r', ''), 20)} out of order"
            raise self.refused(found, "cells in their order, in rows")
        self.column = column
        self.cell = attributes
        self.raw = None
        self.has_formula = False
        self.begin_parts()

    def _begin_formula(self, _: Attributes) -> None:
        self.has_formula = True

    def _end_value(self) -> None:
        self.raw = self.collected()

    def _end_cell(self) -> None:
        if self.raw is None and self.parts:
            self.raw = "".join(self.parts)
        if self.raw is None or not self.raw.strip():
            self._skip_blank()
            return
        value = self._value(self.raw.strip(), self.cell.get("t", "n"))
        self.values += 1
        self.n_formulas += self.has_formula
        if self.columns and self.column >= len(self.columns):
            self.n_outside += 1
            self.outside = self.outside or self._name()
        else:
            self.cells[self.column] = value

    def _skip_blank(self) -> None:
        if self.has_formula and self.cell.get("t") != "str":
            raise FileError(
                f"cell {self._name()}", "a formula without a saved value", "numbers, not formulas"
            )
        self._count_blank(1)

    def _count_blank(self, count: int) -> None:
        self.n_blank += count
        if self.n_blank > 4 * self.n_filled + _SPARE_BLANKS:
            raise self.refused(f"more than {self.n_blank:,} blank cells, too many", "a dense table")

    def _name(self) -> str:
        """Name the present cell as a spreadsheet does."""
        return f"{letters_of(self.column)}{self.row}"

    def _value(self, raw: str, kind: str) -> Cell:
        """Read a cell by its type."""
        if kind == "s":
            if not raw.isdecimal() or len(raw) > 7 or int(raw) >= len(self.strings):
                found = f"text number {quoted(raw, 20)}, which is not there"
                raise FileError(f"cell {self._name()}", found, "a whole workbook")
            return self.strings[int(raw)]
        if kind == "e":
            raise FileError(f"cell {self._name()}", f"the error {quoted(raw, 20)}", "a value")
        if kind in ("str", "inlineStr", "d"):
            return raw
        if kind not in ("n", "b") or not NUMBER.fullmatch(raw):
            raise FileError(f"cell {self._name()}", quoted(raw, 40), "a number or a text")
        if self.cell.get("s") in self.dates:
            return as_date(float(raw))
        return int(raw) if raw.isdecimal() and len(raw) < 16 else float(raw)

    def _end_row(self) -> None:
        if not self.cells:
            return
        if not self.columns and self._is_title():
            self.titles.append((self.row, self.cells))
        else:
            if self.titles:
                self._end_titles()
            self._take_row()
        self.cells = {}

    def _is_title(self) -> bool:
        """Tell a row of one text, which names a table if wider rows follow."""
        cell = self.cells.get(0)
        if len(self.cells) > 1 or not isinstance(cell, str) or key_of(cell) in LABELS:
            return False
        return len(self.titles) < _MAX_TITLES

    def _end_titles(self) -> None:
        """Pass titles over where a wider row of names follows, or a blank one; else take them."""
        count, apart = len(self.titles), self.row > self.titles[-1][0] + 1
        named = apart or all(isinstance(cell, str) for cell in self.cells.values())
        if max(self.cells) == 0 or not named:
            self._take_titles()
            return
        self.titles = []
        rows = "1 row" if count == 1 else f"{count:,} rows"
        self.notes.append(f"Titles above the table were passed over ({rows}).")

    def _take_titles(self) -> None:
        """Take rows for those of a narrow table after all."""
        present = self.row, self.cells
        titles, self.titles = self.titles, []
        for self.row, self.cells in titles:
            self._take_row()
        self.row, self.cells = present

    def _take_row(self) -> None:
        if not self.columns:
            self._open_table()
        elif self.row != self.last + 1:
            where = f"row {self.last + 1:,}"
            raise FileError(where, "a blank row inside the table", "a table without blank rows")
        if self.row >= self.top:
            self.n_filled += len(self.cells)
            self._count_blank(len(self.columns) - len(self.cells))
            self._keep_row([self.cells.get(c) for c in range(len(self.columns))])
        self.last = self.row

    def _keep_row(self, cells: list[Cell]) -> None:
        self.block.append(cells)
        if len(self.block) >= _BLOCK:
            self._flush()

    def _open_table(self) -> None:
        """Take the first row for a header, or for the first row of data."""
        width = max(self.cells) + 1
        if width > _MAX_COLUMNS:
            found = f"{width:,} columns"
            raise FileError(f"row {self.row}", found, f"at most {_MAX_COLUMNS:,} columns")
        texts = [spelled(self.cells.get(c)) for c in range(width)]
        has_header = looks_like_header(texts) if self.header is None else self.header
        if has_header and (self.header is not None or not numbers_columns(texts)):
            self.names = texts
        elif self.header is None:
            what = "only counts the columns" if has_header else "holds numbers"
            self.notes.append(f"No header row with names: the first row {what}.")
        self.top = self.row + has_header
        room = Room()
        self.columns = [GrowingColumn(room) for _ in range(width)]
        self.shapes = Shapes(width, place_of, self.dates)

    def _flush(self) -> None:
        for column, cells in zip(self.columns, zip(*self.block, strict=True), strict=False):
            column.extend(cells)
        self.block = []


def _blank(column: Array | Text) -> bool:
    """Tell a column without any value."""
    if isinstance(column, Text):
        return column.cells == ("",)
    return column.dtype.kind == "f" and bool(np.isnan(column).all())
