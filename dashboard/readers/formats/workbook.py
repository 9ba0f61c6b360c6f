"""Workbooks of spreadsheets: the first sheet that holds a table, or several of the same columns."""

import datetime as dt
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetVisibleEnum

from dashboard.readers.formats.archive import member_bytes, open_archive
from dashboard.readers.formats.cells import column_of_texts
from dashboard.readers.formats.heading import Heading, first_rows, heading_of, is_number
from dashboard.readers.formats.rows import without_blank_rows
from dashboard.readers.limits import MAX_CELL, MAX_SHEETS, TIMES_WORKBOOK, check_rows
from dashboard.readers.records import NOT_READ, Column, FileTable
from dashboard.readers.refusal import FileError, plain, quoted

_OLD = b"\xd0\xcf\x11\xe0"
_BLOCK = 4_096
_SHOWN = 10
_SCANNED = 64 << 20
_APART, _MOST_APART = 50, 100_000
"""Cells that may be laid out for one that is there, and for the sheet."""
_FAR_ROW = re.compile(rb'\br="[A-Z]{0,3}(\d{5,7})"')
_FAR_COLUMN = re.compile(rb'\br="([A-Z]{2,3})\d')
_WANTED = "an .xlsx workbook as a spreadsheet program saves it"

Part: TypeAlias = NDArray[np.float64] | pa.Array


def read_workbook(data: bytes, header: bool | None) -> FileTable:  # noqa: FBT001 - as all readers
    """Read the first sheet that holds a table, visible ones first.

    Saved values of formulas are used; nothing is computed. Visible sheets with the same names of
    columns are put below one another, and a column "sheet" says which row is from which:
    `dashboard.readers.together` tells what they are of one another.
    """
    _check(data)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        return _read(book, header=header)
    except CalamineError as error:
        raise FileError("workbook", f"damage ({error})", _WANTED) from None


@dataclass
class _Sheet:
    """A sheet whose heading was found."""

    title: str
    hidden: bool
    first: list[list[str]]
    heading: Heading
    rows: CalamineSheet

    @property
    def has_numbers(self) -> bool:
        """Whether numbers stand below the heading."""
        return any(is_number(cell) for row in self.first[self.heading.start :] for cell in row)


def _check(data: bytes) -> None:
    """Refuse what no library should unpack."""
    if data.startswith(_OLD):
        text = "a workbook with a password, or an old .xls file"
        raise FileError("file", text, "an .xlsx file without a password")
    archive = open_archive(data, ".xlsx", times=TIMES_WORKBOOK)
    for member in archive.infolist():
        if "worksheets/" in member.filename and member.file_size <= _SCANNED:
            _check_cells(member_bytes(archive, member.filename))


def _check_cells(sheet: bytes) -> None:
    """Refuse a few cells far apart, for which the library would lay out all between them."""
    n_rows = max(map(int, _FAR_ROW.findall(sheet)), default=10_000)
    letters = max(_FAR_COLUMN.findall(sheet), key=lambda name: (len(name), name), default=b"Z")
    n_columns = 0
    for letter in letters:
        n_columns = 26 * n_columns + letter - ord("A") + 1
    if n_rows * n_columns > _APART * (sheet.count(b" r=") + _MOST_APART):
        text = f"cells as far as column {letters.decode()} and row {n_rows:,}, most of them blank"
        raise FileError("sheet", text, "a sheet without cells far from its table")


def _read(book: CalamineWorkbook, *, header: bool | None) -> FileTable:
    """Choose the sheets to read."""
    titles = book.sheet_names
    hidden = {s.name for s in book.sheets_metadata if s.visible != SheetVisibleEnum.Visible}
    if not 0 < len(titles) <= MAX_SHEETS:
        raise FileError("workbook", f"{len(titles):,} sheets", f"one to {MAX_SHEETS}")
    refusal: FileError | None = None
    sheets: list[_Sheet] = []
    for title in sorted(titles, key=hidden.__contains__):
        try:
            sheets.append(_opened(book, title, hidden=title in hidden, header=header))
        except FileError as error:
            refusal = refusal or FileError.at(f"sheet {quoted(title, 30)},", error)
    if not sheets:
        raise refusal or FileError("workbook", "no sheet with a table", _WANTED)
    chosen = next((sheet for sheet in sheets if sheet.has_numbers), sheets[0])
    alike = [s for s in sheets if s.heading.names == chosen.heading.names and not s.hidden]
    together = len(alike) > 1 and chosen.heading.named and not chosen.hidden
    used = alike if together else [chosen]
    return replace(
        _stacked(used), notes=(*_notes([s.title for s in used], titles), *chosen.heading.notes)
    )


def _opened(book: CalamineWorkbook, title: str, *, hidden: bool, header: bool | None) -> _Sheet:
    """Find the heading of a sheet."""
    rows = book.get_sheet_by_name(title)
    first = [
        [*row] for row in first_rows([_text(cell) for cell in row] for row in rows.iter_rows())
    ]
    width = max((k + 1 for row in first for k, cell in enumerate(row) if cell), default=0)
    first = [row[:width] for row in first]
    return _Sheet(title, hidden, first, heading_of(first, header=header), rows)


def _stacked(sheets: Sequence[_Sheet]) -> FileTable:
    """Put the rows of sheets below one another, and keep which are from where."""
    names = sheets[0].heading.names
    parts: list[list[Part]] = [[] for _ in names]
    counts = [_gather(sheet, parts) for sheet in sheets]
    columns = [_column(name, cells) for name, cells in zip(names, parts, strict=True)]
    n_rows, first_row, title = sum(counts), 1, ""
    check_rows(n_rows)
    if len(sheets) == 1:
        first_row += sheets[0].heading.start
    else:
        codes = np.repeat(np.arange(len(sheets), dtype=np.int32), counts)
        title = "sheet" if "sheet" not in names else "name of the sheet"
        columns.append(Column(title, codes, tuple(plain(sheet.title, 60) for sheet in sheets)))
    heading = sheets[0].heading
    shown = [row for row in sheets[0].first[heading.start :] if "".join(row).strip()]
    table = without_blank_rows(FileTable(
        tuple(columns), n_rows, first_row, None, None, heading.named,
        tuple(tuple(row) for row in shown[:_SHOWN]), sheet=title, repairs=heading.repairs,
    ))  # fmt: skip
    if not table.n_rows:
        raise FileError("file", "a heading and no rows", "at least one row of data")
    return table


def _gather(sheet: _Sheet, parts: list[list[Part]]) -> int:
    """Collect the cells of each column, and count the rows down to the last that is not blank."""
    rows = islice(sheet.rows.iter_rows(), sheet.heading.start, None)
    n_rows = 0
    while block := list(islice(rows, _BLOCK)):
        n_rows += len(block)
        check_rows(n_rows)
        for place, cells in zip(parts, zip(*block, strict=True), strict=False):
            place.append(_part(cells))
    return n_rows


def _part(cells: Sequence[Any]) -> Part:
    """Return a block of a column as numbers, or where some cell is none as texts."""
    if set(map(type, cells)) == {float}:
        return np.array(cells)
    return pa.array(map(_text, cells), pa.string())


def _column(name: str, parts: Sequence[Part]) -> Column:
    """Put the blocks of a column together."""
    numbers = [part for part in parts if isinstance(part, np.ndarray)]
    if parts and len(numbers) == len(parts):
        return Column(name, _whole(np.concatenate(numbers)))
    texts = [
        pa.array(map(_text, part.tolist()), pa.string()) if isinstance(part, np.ndarray) else part
        for part in parts
    ]
    column = column_of_texts(name, pa.chunked_array(texts, pa.string()))
    if column.texts is not None or column.odd is not None or column.unread:
        return column
    return replace(column, values=_whole(column.values))


def _whole(values: NDArray[np.float64]) -> NDArray[Any]:
    """Return whole numbers as such: a sheet knows only one kind of numbers."""
    if len(values) and (np.abs(values) < 2**53).all() and (values == np.floor(values)).all():
        return values.astype(np.int64)
    return values


def _text(cell: object) -> str:
    """Write a cell as a text file would have it, dates in ISO 8601."""
    if isinstance(cell, str):
        if len(cell) > MAX_CELL:
            text = f"a cell of {len(cell):,} characters"
            raise FileError("workbook", text, f"at most {MAX_CELL:,}")
        return cell
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, dt.datetime):
        return cell.isoformat(" ").removesuffix(" 00:00:00")
    return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)


def _notes(used: Sequence[str], titles: Sequence[str]) -> tuple[str, ...]:
    """Return which sheets were read and which were not."""
    others = [plain(title, 30) for title in titles if title not in used]
    left = f" {NOT_READ}{', '.join(others[:6])}{' and more' if len(others) > 6 else ''}."
    named = ", ".join(plain(title, 30) for title in used[:6])
    text = f"Sheet {named} was read." if len(titles) > 1 else ""
    if len(used) > 1:
        text = f"Sheets {named}{' and more' if len(used) > 6 else ''} were read."
    return (text + (left if others else ""),) if text else ()
