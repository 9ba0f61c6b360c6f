"""Lines of text parsed by Arrow a block at a time, typed where a column holds numbers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv as pacsv

from dashboard.readers.formats.cells import MISSING, column_of_texts, encoded
from dashboard.readers.limits import MAX_CELL, check_rows
from dashboard.readers.records import Column, Odd
from dashboard.readers.refusal import FileError, quoted

_BLOCK, _PIECE = 4 << 20, 1 << 20
_MOST_CUT = 0.2
_WHOLE = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_COMMAS = re.compile(r"[+-]?[0-9]+(?:,[0-9]+)?", re.ASCII)
_POINT = re.compile(r"[+-]?(?:[0-9]{4,}|0?|[0-9]+(?=\.(?![0-9]{3}\s*%?$)))\.[0-9]+\s*%?", re.ASCII)
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+", re.ASCII)
_SURE = re.compile(r"[+-]?(?:0|[0-9]{4,}|[0-9]+(?=,(?![0-9]{3}$))),[0-9]+", re.ASCII)
_WITH_COMMAS = pa.string()
"""The type as which a column of numbers with decimal commas is parsed."""

_TEXT = pa.dictionary(pa.int32(), pa.string())
_NULLS = sorted({spell(word) for word in MISSING for spell in (str, str.upper, str.capitalize)})
_NULLS += ["NaN", "<NA>", "N/a"]


def _kind(cells: Sequence[str], *, decimal_comma: bool) -> pa.DataType:
    """Guess the type of a column from its first cells."""
    says = [cell.strip() for cell in cells if cell.strip().lower() not in MISSING]
    if says and all(map(_WHOLE.fullmatch, says)):
        return pa.int64()
    sure = _COMMA if decimal_comma else _SURE
    if all(map(_COMMAS.fullmatch, says)) and any(map(sure.fullmatch, says)):
        return _WITH_COMMAS
    return pa.float64() if all(map(_NUMBER.fullmatch, says)) else _TEXT


@dataclass
class _Odds:
    """Cells of a column of numbers that are missing."""

    rows: list[NDArray[np.int64]] = field(default_factory=list)
    texts: list[pa.Array] = field(default_factory=list)

    def whole(self) -> Odd | None:
        """Put the blocks together."""
        if not self.rows:
            return None
        codes, texts = encoded(pa.chunked_array(self.texts))
        return Odd(np.concatenate(self.rows), codes, tuple(texts.to_pylist()))


class TextColumns:
    """The columns of a table, collected a block of lines at a time.

    A column of numbers is filled as such until a cell is neither a number nor missing; then the
    whole column is read as texts.
    """

    def __init__(self, data: bytes, start: int, delimiter: str, first_row: int, width: int) -> None:
        self.data, self.start, self.delimiter = data, start, delimiter
        self.first_row, self.width = first_row, width
        self.has_quotes = data.find(b'"', start) >= 0
        self.spans = list(self._spans())
        self.most = min(data.count(b"\n", start) + 1, (len(data) - start) // width + 1)
        self.n_rows = self.n_lines = 0
        self.row_flags: list[NDArray[np.bool_]] = []
        self.cut_rows: list[NDArray[np.int64]] = []
        self.by_thousands: list[Column] = []

    def read(self, sample: Sequence[Sequence[str]]) -> None:
        """Read all blocks."""
        columns = [[row[c] for row in sample] for c in range(self.width)]
        # Semicolons part columns where commas part decimals, unless points do.
        points = any(_POINT.fullmatch(cell.strip()) for row in sample for cell in row)
        self.decimal_comma, self.decimal_point = self.delimiter == ";" and not points, points
        self.kinds = [_kind(cells, decimal_comma=self.decimal_comma) for cells in columns]
        dtypes = [np.int64 if kind == pa.int64() else np.float64 for kind in self.kinds]
        self.numbers: list[NDArray[Any]] = [
            np.empty(0 if kind is _TEXT else self.most, dtype)
            for kind, dtype in zip(self.kinds, dtypes, strict=True)
        ]
        self.commas = [0] * self.width
        self.odds = [_Odds() for _ in self.kinds]
        self.texts: list[list[pa.Array]] = [[] for _ in self.kinds]
        self.text_from = [0] * self.width
        for place, span in enumerate(self.spans):
            table = self._typed(place, span)
            check_rows(self.n_rows + len(table))
            self._note_lines(span, len(table))
            for c, column in enumerate(table.columns):
                self._take(c, column)
            self._note_missing(span, table)
            self.n_rows += len(table)
        self._texts_before()

    def columns(self, names: Sequence[str]) -> tuple[Column, ...]:
        """Return the whole columns; decimals in one tell what a comma means in the others."""
        columns = [self._column(c, name) for c, name in enumerate(names)]
        commas = any(column.commas for column in columns)
        if commas or self.decimal_point:
            for c, column in enumerate(columns):
                unsure = column.texts if column.is_text else column.odd and column.odd.texts
                if self.kinds[c] is _TEXT and any("," in text for text in unsure or ()):
                    cells = pa.chunked_array(self.texts[c], _TEXT)
                    columns[c] = column_of_texts(column.name, cells, decimal_comma=commas)
                    by_thousands = column.is_text and not (commas or columns[c].is_text)
                    self.by_thousands += [columns[c]] * by_thousands
        return tuple(columns)

    def among(self) -> NDArray[np.bool_] | None:
        """Mark the lines that are rows, if some are not."""
        return np.concatenate(self.row_flags) if self.n_lines > self.n_rows else None

    @property
    def cut(self) -> NDArray[np.int64] | None:
        """The lines with too few cells or too many, numbered from the top of the file."""
        return np.concatenate(self.cut_rows) if self.cut_rows else None

    def check_cut(self, n_rows: int) -> None:
        """Refuse a text of which more than a fifth of the rows are cut, or that has none."""
        n_cut = 0 if self.cut is None else len(self.cut)
        if self.cut is not None and n_cut > _MOST_CUT * (n_cut + n_rows):
            rows = "1 row" if n_cut == 1 else f"{n_cut:,} rows"
            text = f"{rows} with more or fewer cells than the {self.width:,} of the first"
            raise FileError(f"row {self.cut[0]:,}", text, "as many cells in every row")
        if not n_rows:
            raise FileError("file", "a heading and no rows", "at least one row of data")

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Cut the text between rows."""
        at = self.start
        while at < len(self.data):
            end = len(self.data)
            if at + _BLOCK < end:
                end = self.data.rfind(b"\n", at, at + _BLOCK) + 1
            if not end:
                row = self.first_row + self.data.count(b"\n", self.start, at)
                raise FileError(f"row {row:,}", f"a line of {_BLOCK:,} bytes", "shorter lines")
            if self.has_quotes and self.data.count(b'"', at, end) % 2 and end < len(self.data):
                outside = np.flatnonzero(self._ends(at, end))
                end = at + int(outside[-1]) + 1 if len(outside) else end
            yield at, end
            at = end

    def _ends(self, at: int, end: int) -> NDArray[np.bool_]:
        """Mark the bytes that end a row, outside quotes."""
        raw = np.frombuffer(self.data, np.uint8, end - at, at)
        inside = np.logical_xor.accumulate(raw == ord('"'))
        return np.asarray((raw == ord("\n")) & ~inside, dtype=np.bool_)

    def _parse(self, span: tuple[int, int], kinds: dict[int, pa.DataType]) -> pa.Table:
        """Parse some columns of a block; rows of another width are passed over."""
        at, end = span
        return pacsv.read_csv(
            pa.BufferReader(pa.py_buffer(self.data).slice(at, end - at)),
            read_options=pacsv.ReadOptions(
                column_names=[str(c) for c in range(self.width)], block_size=_PIECE
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=self.has_quotes,
                invalid_row_handler=lambda _: "skip",
            ),
            convert_options=pacsv.ConvertOptions(
                column_types={str(c): kind for c, kind in kinds.items()},
                include_columns=[str(c) for c in kinds],
                null_values=_NULLS,
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )

    def _typed(self, place: int, span: tuple[int, int]) -> pa.Table:
        """Parse a block; columns that hold what their type does not are given another."""
        while True:
            try:
                table = self._parse(span, dict(enumerate(self.kinds)))
            except pa.ArrowInvalid as error:
                named = re.match(r"In CSV column #(\d+):.* conversion error", str(error))
                if named is None:
                    row = self.first_row + self.n_lines
                    raise FileError(f"rows from {row:,}", str(error), "a table of text") from None
                self._loosen(int(named[1]), place)
                continue
            commas = [c for c, kind in enumerate(self.kinds) if kind is _WITH_COMMAS]
            with_points = {c: _with_points(table.column(c)) for c in commas}
            for c, read in with_points.items():
                if read is None:
                    self._loosen(c, place)
                else:
                    table = table.set_column(c, str(c), read[0])
            if None not in with_points.values():
                for c, read in with_points.items():
                    self.commas[c] += read[1] if read else 0
                return table

    def _loosen(self, c: int, place: int) -> None:
        """Take whole numbers for any numbers, and these for texts."""
        if self.kinds[c] == pa.int64():
            self._to_floats(c)
        else:
            self.kinds[c], self.text_from[c] = _TEXT, place
            self.numbers[c] = np.empty(0)

    def _to_floats(self, c: int) -> None:
        floats = np.empty(self.most)
        floats[: self.n_rows] = self.numbers[c][: self.n_rows]
        self.kinds[c], self.numbers[c] = pa.float64(), floats

    def _take(self, c: int, column: pa.ChunkedArray) -> None:
        """Keep a block of one column."""
        if self.kinds[c] is _TEXT:
            self.texts[c] += column.chunks
            return
        if column.null_count and self.kinds[c] == pa.int64():
            self._to_floats(c)
        at = self.n_rows
        for chunk in column.chunks:
            self.numbers[c][at : at + len(chunk)] = chunk.to_numpy(zero_copy_only=False)
            at += len(chunk)

    def _note_missing(self, span: tuple[int, int], table: pa.Table) -> None:
        """Keep what stands in the cells of numbers that are missing."""
        places = [c for c, kind in enumerate(self.kinds) if kind is not _TEXT]
        if places := [c for c in places if table.column(c).null_count]:
            texts = self._parse(span, dict.fromkeys(places, pa.string()))
            for c, cells in zip(places, texts.columns, strict=True):
                rows = np.flatnonzero(table.column(c).is_null().to_numpy())
                self.odds[c].rows.append(rows + self.n_rows)
                self.odds[c].texts += cells.take(pa.array(rows)).chunks

    def _texts_before(self) -> None:
        """Read the blocks again that stand before the first cell that is no number."""
        before: list[list[pa.Array]] = [[] for _ in self.kinds]
        for place, span in enumerate(self.spans[: max(self.text_from, default=0)]):
            late = [c for c, first in enumerate(self.text_from) if first > place]
            table = self._parse(span, dict.fromkeys(late, _TEXT))
            for c, column in zip(late, table.columns, strict=True):
                before[c] += column.chunks
        self.texts = [[*early, *late] for early, late in zip(before, self.texts, strict=True)]

    def _column(self, c: int, name: str) -> Column:
        if self.kinds[c] is not _TEXT:
            odd = self.odds[c].whole()
            if odd is not None and len(odd.rows) == self.n_rows:
                return Column(name, odd.codes, odd.texts)
            return Column(name, self.numbers[c][: self.n_rows], None, odd, 0, self.commas[c])
        cells = pa.chunked_array(self.texts[c], _TEXT)
        for chunk in cells.chunks:
            longest = pc.max(pc.binary_length(chunk.dictionary)).as_py() or 0
            if longest > MAX_CELL:
                text = f"a cell of {longest:,} bytes, or a quote that is not closed"
                raise FileError(f"column {quoted(name)}", text, f"at most {MAX_CELL:,}")
        return column_of_texts(name, cells, decimal_comma=self.decimal_comma or None)

    def _note_lines(self, span: tuple[int, int], n_rows: int) -> None:
        """Note which lines of a block became rows; line ends in quotes are not counted."""
        at, end = span
        n_lines = self.data.count(b"\n", at, end) + (self.data[end - 1] != ord("\n"))
        flags = np.ones(n_rows, dtype=np.bool_)
        if n_lines != n_rows:
            flags, blank = self._lines(at, end)
            if np.count_nonzero(flags) != n_rows:
                flags = np.ones(n_rows, dtype=np.bool_)
            else:
                cut = np.flatnonzero(~flags & ~blank) + self.first_row + self.n_lines
                self.cut_rows += [cut] if len(cut) else []
        self.row_flags.append(flags)
        self.n_lines += len(flags)

    def _lines(self, at: int, end: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Mark the lines with as many cells as wanted, and the blank ones."""
        raw = np.frombuffer(self.data, np.uint8, end - at, at)
        outside = ~np.logical_xor.accumulate(raw == ord('"'))
        if not outside[-1]:
            n_before = int(np.count_nonzero((raw == ord("\n")) & outside))
            row = self.first_row + self.n_lines + n_before
            raise FileError(f"row {row:,}", "a quote that is not closed", "closed quotes")
        starts = np.flatnonzero((raw[:-1] == ord("\n")) & outside[:-1]) + 1
        starts = np.concatenate([[0], starts])
        marks = (raw == ord(self.delimiter)) & outside
        n_cells = np.add.reduceat(marks, starts, dtype=np.int32) + 1
        ink = np.add.reduceat(raw > ord(" "), starts, dtype=np.int32)
        lengths = np.add.reduceat((raw != ord("\r")) & (raw != ord("\n")), starts, dtype=np.int32)
        values: NDArray[np.bool_] = (n_cells == self.width) & (lengths > 0)
        return values, ~values & (ink == 0)


def _with_points(cells: pa.ChunkedArray) -> tuple[pa.ChunkedArray, int] | None:
    """Read numbers with decimal commas, and count these; nothing where a cell is no such number."""
    missing = pc.is_in(cells, value_set=pa.array(_NULLS))
    says = pc.if_else(missing, pa.scalar(None, pa.string()), cells)
    try:
        numbers = pc.replace_substring(says, ",", ".").cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return numbers, pc.sum(pc.match_substring(cells, ",")).as_py() or 0
