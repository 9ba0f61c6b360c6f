"""Text tables in which a cell holds a list of numbers, as pandas writes a column of lists."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from calibcore.validation import Floats
from dashboard.readers.columns.growing import Cell, GrowingColumn
from dashboard.readers.columns.headings import SCORE_WORDS, is_score, key_of
from dashboard.readers.columns.named import TABLE_KEYS, WEAK_TABLE_KEYS
from dashboard.readers.columns.packed import Packed
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.columns.table_columns import Column, from_columns
from dashboard.readers.contents import DEFAULTS, Array, Contents, Options, check_rows
from dashboard.readers.json_files.json_blocks import number_rows
from dashboard.readers.meaning.values import MAX_CLASSES
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.text.arrow_text import bare, batch_of, coded
from dashboard.readers.text.list_numbers import numbers_in
from dashboard.readers.text.table_body import same_width
from dashboard.readers.text.table_cells import MAX_CELL, WORDS
from dashboard.readers.text.text_blocks import Block, Lines, Parsed, Rows, numbered, rows_of

_WRAPPED = re.compile(r"np\.float(?:16|32|64)\(([^()]*+)\)")
_LIST = re.compile(r"\s*+[\[(]\s*+(?:[-+.0-9]|nan|inf|np\.float)", re.IGNORECASE)
_END = re.compile(r"[\])]\s*+\Z")
_COMMA, _BLANK = re.compile(r"\s*+,\s*+"), re.compile(r"\s++")
_SPACE = re.compile(r"(?<=[0-9.])\s++(?=[-.0-9])")
_LAST = re.compile(r",\s*+(?=\])")
_MIXED = re.compile(r";[^\[\];,]*+,|,[^\[\];,]*+;")
"""Blanks, spelled as semicolons, and commas in one list."""

_UNLIKE = re.compile(r"\[[^\[\]()]*+\)|\([^\[\]()]*+\]")
_TWO_WAYS = re.compile(r", [^\[\](),]*+,(?=[^\s\])])|,(?=[^\s\])])[^\[\](),]*+, ")
"""A comma before a blank next to one before a digit: the latter may mark decimals."""

_POINT = re.compile(r"(?<=[0-9])\.(?=[\],\s])")
_BRACKETS = str.maketrans("()", "[]")
_CLOSING = {"[": "]", "(": ")"}
_MOST_DIGITS = 15
_FEW = 1_000
_SLOW, _STRICT, _MOST = 80, 250, 1_600_000_000
"""Nanoseconds that a byte takes in rows that are read slowly, and more in lists that are read one
by one, and how many all may take."""


def is_list(cell: str) -> bool:
    """Tell a list of numbers, as Python and NumPy write one.

    Examples
    --------
    >>> is_list("[0.5, 0.5]"), is_list("[1. 0.]"), is_list("['a', 'b']"), is_list("[0.5")
    (True, True, False, False)
    """
    opens, closes = _LIST.match(cell), _END.search(cell)
    return bool(opens and closes) and _CLOSING[cell.lstrip()[0]] == cell.rstrip()[-1]


def list_columns(names: Sequence[str] | None, sample: Rows) -> tuple[int, ...]:
    """Find the columns whose cells are lists of numbers that may be of the classes.

    Examples
    --------
    >>> list_columns(["features", "label", "probs"], [["[1, 2]", "0", "[0.5, 0.5]"]])
    (2,)
    """
    share = {c: sum(is_list(row[c]) for row in sample) / len(sample) for c in range(len(sample[0]))}
    if names is None:
        return tuple(c for c, lists in share.items() if lists == 1)
    telling = tuple(c for c, lists in share.items() if lists > 0.5 and _tells(key_of(names[c])))
    found = [key_of(names[c]) for c in telling]
    weak = [c for c, key in zip(telling, found, strict=True) if key in WEAK_TABLE_KEYS - TABLE_KEYS]
    return tuple(c for c in telling if c not in weak) or telling


def _tells(key: str) -> bool:
    words = SCORE_WORDS.intersection(key.split("_"))
    return bool(words) or key in TABLE_KEYS | WEAK_TABLE_KEYS or is_score(key)


def read_lists(
    blocks: Iterable[Block],
    names: Sequence[str] | None,
    lists: Sequence[int],
    options: Options = DEFAULTS,
    *,
    width: int,
    found: tuple[str, ...] = (),
) -> Contents:
    """Read all rows below the header.

    Parameters
    ----------
    blocks : iterable of (int, rows or Lines)
        Number of the first row, as a spreadsheet counts, and some rows.
    names : sequence of str, optional
        The header.
    lists : sequence of int
        Which columns hold lists.
    options : Options
        Which columns the user names.
    width : int
        How many fields every row must have.
    found : tuple of str
        Sentences that stand before all others.
    """
    heads = None if names is None else [name.strip() for name in names]
    _refuse_twice(heads or ())
    columns: list[_Lists | GrowingColumn] = [
        _Lists(_called(heads, c)) if c in lists else GrowingColumn() for c in range(width)
    ]
    top, n_rows, slow = 0, 0, 0
    names_of_all = [str(c) for c in range(width)]
    for start, block in _plain_first(blocks, columns, names_of_all):
        top = top or start
        if isinstance(block, int):
            if start - top > n_rows:
                raise _blank(start)
            n_rows += block
            check_rows(n_rows)
            continue
        slow += block.n_bytes if not isinstance(block, list) else 0
        strict = sum(column.n_strict for column in columns if isinstance(column, _Lists))
        if _SLOW * slow + _STRICT * strict > _MOST:
            what = f"{slow:,} bytes of lists that are spelled in several ways, up to row {start:,}"
            raise FileError("file", what, "lists as [0.25, 0.75], or the table as .parquet")
        rows, counted = same_width(start, rows_of(block), width)
        if rows and counted[-1] - top >= n_rows + len(rows):
            place = next(k for k, row in enumerate(counted) if row - top > n_rows + k)
            raise _blank(counted[place])
        n_rows += len(rows)
        check_rows(n_rows)
        for c, column in enumerate(columns):
            cells = [row[c] for row in rows]
            if isinstance(column, _Lists):
                column.take(cells, counted)
            else:
                known = {cell: _cell(cell.strip()) for cell in {*cells}}
                column.extend([known[cell] for cell in cells])
    made: list[Column] = [column.finish() for column in columns]
    return from_columns(heads, made, options, first_row=top, found=found)


def _plain_first(
    blocks: Iterable[Block], columns: "Sequence[_Lists | GrowingColumn]", names: list[str]
) -> Iterator[tuple[int, Rows | Lines | Parsed | int]]:
    """Read blocks in which all is as it should be, give how many rows they had, and the others."""
    for number, block in blocks:
        if not isinstance(block, Lines):
            yield number, block
        elif _taken(block, columns, names):
            yield number, len(block)
        else:
            for start, part in numbered(block.parts(), number):
                yield start, len(part) if _taken(part, columns, names) else part


def _taken(lines: Lines, columns: "Sequence[_Lists | GrowingColumn]", names: list[str]) -> bool:
    """Read a block as columns, or leave it as it is."""
    import pyarrow as pa  # noqa: PLC0415 - a tenth of a second to import

    if b"\r" in lines.raw or lines.delimiter == " ":
        return False
    raw = lines.raw if lines.encoding == "utf-8" else lines.raw.decode("latin-1").encode()
    texts = pa.dictionary(pa.int32(), pa.string())
    types = {
        name: pa.string() if isinstance(column, _Lists) else texts
        for name, column in zip(names, columns, strict=True)
    }
    batch = batch_of(raw, names, types, lines.delimiter)
    if batch is None or len(batch) != len(lines):
        return False
    lists: dict[int, Floats] = {}
    for c, column in enumerate(columns):
        if isinstance(column, _Lists):
            numbers = numbers_in(batch.column(c), column.width)
            if numbers is None:
                return False
            lists[c] = numbers
    for c, column in enumerate(columns):
        if isinstance(column, _Lists):
            column.numbers.add(lists[c])
        else:
            _extend(column, batch.column(c))
    return True


def _extend(column: GrowingColumn, cells: Any) -> None:
    """Add the cells of a block to a column beside the lists."""
    places, different = coded(cells)
    if len(different) > _FEW and column.text is None and not column.whole:
        numbers = _finite(cells)
        if numbers is not None:
            column.numbers.add(numbers)
            return
    known = [_cell(cell.strip()) for cell in different]
    column.extend([known[place] for place in places.tolist()])


def _finite(cells: Any) -> Floats | None:
    """Give plain numbers, or nothing where there is another cell."""
    import pyarrow as pa  # noqa: PLC0415 - as above

    try:
        numbers = bare(cells.dictionary.cast(pa.float64()), np.float64)
    except pa.ArrowException:
        return None
    return numbers[bare(cells.indices, np.int32)] if np.isfinite(numbers).all() else None


class _Lists:
    """A column of lists, all of the same length."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers = Packed()
        self.width = 0
        self.n_strict = 0
        self.spelling: Callable[[str], str] = str

    def take(self, cells: Sequence[str], counted: Sequence[int]) -> None:
        """Add some rows."""
        if not cells:
            return
        self.width = self.width or len(self._strict(cells[0], counted[0]))
        # No cell holds this mark and is a list, so each opens and closes its own.
        text = "|".join(cells)
        numbers = None if _TWO_WAYS.search(text) else self._plain(text, len(cells))
        if numbers is None:
            numbers = []
            self.n_strict += len(text)
            for cell, row in zip(cells, counted, strict=True):
                values = self._strict(cell, row)
                if len(values) != self.width:
                    found = f"a list of {len(values):,} values"
                    raise FileError(self._place(row), found, f"{self.width:,} as in the first row")
                numbers += values
        self.numbers.take(numbers)

    def _plain(self, text: str, n_rows: int) -> list[float] | None:
        """Read lists in which all is as it should be, at once."""
        spellings: tuple[Callable[[str], str], ...] = (self.spelling, str, _as_json)
        for spelling in dict.fromkeys(spellings):
            numbers = number_rows(spelling(text).encode(), self.width, b"]|[")
            if numbers is not None and len(numbers) == self.width * n_rows:
                self.spelling = spelling
                return numbers
        return None

    def finish(self) -> Array:
        """Give the whole column as a table."""
        return self.numbers.whole().reshape(-1, self.width)

    def _place(self, row: int) -> str:
        return f"row {row}, {self.name}"

    def _strict(self, cell: str, row: int) -> list[float]:
        """Read one list."""
        bare = (_WRAPPED.sub(r"\1", cell) if "np." in cell else cell).strip()
        if not is_list(bare):
            found = quoted(cell) if cell.strip() else "a blank cell"
            raise FileError(self._place(row), found, "a list of numbers, as in the rows above")
        if _TWO_WAYS.search(bare):
            wanted = "one way to part values; commas may not mark decimals (0.5, not 0,5)"
            raise FileError(self._place(row), f"{quoted(cell)} with two kinds of commas", wanted)
        inner = bare[1:-1].strip()
        between = _COMMA if "," in inner else _BLANK
        parts = between.split(inner.removesuffix(",").rstrip())
        if len(parts) > MAX_CLASSES:
            raise FileError(self._place(row), f"{len(parts):,} values", f"at most {MAX_CLASSES:,}")
        numbers = []
        for part in parts:
            number = WORDS.get(part.lower()) if len(part) < MAX_CELL else None
            if number is None and (len(part) > MAX_CELL or not NUMBER.fullmatch(part)):
                if "..." in part:
                    wanted = "a whole list, which NumPy shortens; write row.tolist()"
                    raise FileError(self._place(row), quoted("..."), wanted)
                raise FileError(self._place(row), quoted(part), "a number")
            numbers.append(float(part) if number is None else number)
        return numbers


def _as_json(text: str) -> str:
    """Spell lists as NumPy or Python writes them, or tuples, as those of plain numbers.

    Nothing is given where brackets or separators differ within a list.
    """
    if "np." in text:
        text = _WRAPPED.sub(r"\1", text)
    if "(" in text or ")" in text:
        if _UNLIKE.search(text):
            return ""
        text = text.translate(_BRACKETS)
    parted = _SPACE.sub(";", text)
    if ";" in text or (parted is not text and _MIXED.search(parted)):
        return ""
    return _POINT.sub("", _LAST.sub("", parted.replace(";", ",")))


def _cell(cell: str) -> Cell:
    """Read a number that is spelled as it would be again, and leave anything else."""
    if cell.isdecimal() and cell.isascii() and len(cell) <= _MOST_DIGITS:
        return int(cell) if str(int(cell)) == cell else cell
    if len(cell) <= MAX_CELL and NUMBER.fullmatch(cell):
        return float(cell)
    return cell or None


def _blank(number: int) -> FileError:
    """Refuse a blank row before another one."""
    return FileError(f"row {number - 1}", "a blank row inside the table", "one row a sample")


def _called(names: Sequence[str] | None, column: int) -> str:
    return f"column {quoted(names[column], 30)}" if names else f"column {column + 1}"


def _refuse_twice(names: Sequence[str]) -> None:
    twice = next((name for k, name in enumerate(names) if name and name in names[:k]), None)
    if twice is not None:
        raise FileError("header", f"column {quoted(twice, 30)} twice", "each name once")
