"""The lines of a text, some at a time, and their fields."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from dashboard.readers.refusal import FileError

PIECE = 1 << 20
_BLOCK = 1 << 18
_MAX_FIELD = 1 << 16
Rows = list[list[str]]


@dataclass(frozen=True)
class Lines:
    """Whole lines without quotes, or with quotes around whole fields that hold no line end.

    Parameters
    ----------
    raw : bytes
        As they stand in the file.
    encoding, newline, delimiter
        As in `Text`.
    """

    raw: bytes
    encoding: str
    newline: bytes
    delimiter: str

    def rows(self) -> Rows:
        """Give the fields of each line."""
        lines = _split(self.raw.decode(self.encoding), self.newline.decode())
        if b'"' in self.raw:
            return list(csv.reader(lines, delimiter=self.delimiter, strict=True))
        mark = None if self.delimiter == " " else self.delimiter
        return [line.split(mark) for line in lines]

    def __len__(self) -> int:
        """Count the lines."""
        return self.raw.count(self.newline) + (not self.raw.endswith(self.newline))


Block = tuple[int, Rows | Lines]
"""Number of the first row, as a spreadsheet counts, and some rows."""


def rows_of(block: Rows | Lines) -> Rows:
    """Give the fields of each row of a block."""
    return block.rows() if isinstance(block, Lines) else block


@dataclass(frozen=True)
class Text:
    """A text whose bytes are known to be of an encoding, with what ends its lines and fields."""

    data: bytes
    encoding: str
    start: int
    newline: bytes
    delimiter: str

    def blocks(self) -> Iterator[Block]:
        """Give some rows at a time, numbered as a spreadsheet does."""
        number = 1
        pieces = self._pieces(_BLOCK)
        for first_line, raw in pieces:
            if b'"' not in raw or self._regular.fullmatch(raw):
                lines = Lines(raw, self.encoding, self.newline, self.delimiter)
                yield number, lines
                number += len(lines)
            else:
                rows = self._quoted(raw, pieces, first_line, number)
                yield number, rows
                number += len(rows)

    def lines(self) -> Iterator[str]:
        """Give one line after another."""
        for _, raw in self._pieces(PIECE):
            yield from self._lines_of(raw)

    @cached_property
    def _regular(self) -> re.Pattern[bytes]:
        """Match lines whose quotes stand around whole fields, without line ends or quotes inside.

        Otherwise a line may end inside a field, or a quote be doubled or out of place.
        """
        mark, most = re.escape(self.delimiter.encode()), b"{0,%d}+" % _MAX_FIELD
        field = b'(?:"[^"\r\n]' + most + b'"|[^"\r\n' + mark + b"]" + most + b")"
        end = b"(?:\r?\n|\\Z)" if self.newline == b"\n" else b"(?:\r|\\Z)"
        return re.compile(b"(?:" + field + b"(?:" + mark + b"|" + end + b"))*+")

    def _lines_of(self, raw: bytes) -> list[str]:
        # A piece is decoded at a time, so that wide characters do not swell the whole file.
        return _split(raw.decode(self.encoding), self.newline.decode())

    def _quoted(
        self, raw: bytes, further: Iterator[tuple[int, bytes]], first_line: int, number: int
    ) -> Rows:
        """Read the fields of a piece, and of further ones while a quote is open."""
        fed, last = 0, False

        def lines() -> Iterator[str]:
            nonlocal fed, last
            for _, piece in chain([(0, raw)], further):
                parts = self._lines_of(piece)
                for place, line in enumerate(parts, 1):
                    fed, last = fed + len(line) + 1, place == len(parts)
                    if fed > _BLOCK + 2 * PIECE:
                        found = "a quote that is not closed"
                        raise FileError(f"row {number}", found, "closed quotes")
                    yield line + "\n"

        reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        rows: Rows = []
        try:
            for row in reader:
                rows.append(row)
                if last:
                    break
        except csv.Error as error:
            place = f"line {first_line - 1 + reader.line_num}"
            found = f"a field that cannot be read ({error})"
            raise FileError(place, found, "closed quotes and shorter fields") from error
        return rows

    def _pieces(self, most: int) -> Iterator[tuple[int, bytes]]:
        """Cut at ends of lines, as long as ``most`` or, if a line is longer, as any line may be."""
        position, number = self.start, 1
        while position < len(self.data):
            end = 0
            for size in (most, PIECE):
                end = min(position + size, len(self.data))
                if end < len(self.data):
                    end = self.data.rfind(self.newline, position, end) + 1
                if end:
                    break
            if not end:
                raise FileError(
                    f"row {number}",
                    f"a line of more than {PIECE:,} bytes: too many columns or too long a field",
                    "shorter lines",
                )
            raw = self.data[position:end]
            yield number, raw
            number += raw.count(self.newline)
            position = end


def _split(text: str, newline: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split(newline)
    # The last piece may lack its line end; every other one ends with an empty rest.
    if not lines[-1]:
        lines.pop()
    return lines
