"""The lines of a text, some at a time, and their fields."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, repeat

from dashboard.readers.refusal import FileError

PIECE = 1 << 20
_BLOCKS = (1 << 18, 1 << 18, 1 << 22)
_PART = 1 << 16
_MAX_FIELD = 1 << 16
Rows = list[list[str]]


@dataclass(frozen=True)
class Lines:
    """Whole lines without quotes, or with quotes around whole fields that hold no line end.

    Parameters
    ----------
    raw : bytes
        As they stand in the file.
    n_lines : int
        How many.
    encoding, newline, delimiter
        As in `Text`.
    """

    raw: bytes
    n_lines: int
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
        return self.n_lines

    def parts(self) -> Iterator["Lines"]:
        """Give some of the lines at a time."""
        for raw in _cut(self.raw, self.newline, _PART):
            yield replace(self, raw=raw, n_lines=_count(raw, self.newline))


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
        pieces = self._pieces(*_BLOCKS)
        for first_line, n_lines, raw in pieces:
            if b'"' not in raw or self._regular.fullmatch(raw):
                yield number, Lines(raw, n_lines, self.encoding, self.newline, self.delimiter)
                number += n_lines
            else:
                rows = self._quoted(raw, pieces, first_line, number)
                yield number, rows
                number += len(rows)

    def lines(self) -> Iterator[str]:
        """Give one line after another."""
        for _, _, raw in self._pieces(PIECE):
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
        self, raw: bytes, further: Iterator[tuple[int, int, bytes]], first_line: int, number: int
    ) -> Rows:
        """Read the fields of a piece, and of further ones while a quote is open."""
        fed, last = 0, False

        def lines() -> Iterator[str]:
            nonlocal fed, last
            for piece in chain([raw], (piece for _, _, piece in further)):
                parts = self._lines_of(piece)
                for place, line in enumerate(parts, 1):
                    fed, last = fed + len(line) + 1, place == len(parts)
                    if fed > len(raw) + 2 * PIECE:
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

    def _pieces(self, *most: int) -> Iterator[tuple[int, int, bytes]]:
        """Cut at ends of lines; give the number of the first line, how many there are, and them."""
        number = 1
        for raw in _cut(self.data, self.newline, *most, start=self.start):
            if not raw:
                raise FileError(
                    f"row {number}",
                    f"a line of more than {PIECE:,} bytes: too many columns or too long a field",
                    "shorter lines",
                )
            n_lines = _count(raw, self.newline)
            yield number, n_lines, raw
            number += n_lines


def numbered(parts: Iterable[Lines], number: int) -> Iterator[tuple[int, Lines]]:
    """Give lines with the number of the first, from the first of all."""
    for part in parts:
        yield number, part
        number += len(part)


def _cut(data: bytes, newline: bytes, *most: int, start: int = 0) -> Iterator[bytes]:
    """Cut at ends of lines, as long as ``most`` or, if a line is longer, as any line may be.

    The last of ``most`` holds for all further pieces. A line that is too long is given as nothing.
    """
    sizes = chain(most, repeat(most[-1]))
    while start < len(data):
        end = 0
        for size in (next(sizes), PIECE):
            end = min(start + size, len(data))
            if end < len(data):
                end = data.rfind(newline, start, end) + 1
            if end:
                break
        yield data[start:end] if end else b""
        start = end or len(data)


def _count(raw: bytes, newline: bytes) -> int:
    return raw.count(newline) + (not raw.endswith(newline))


def _split(text: str, newline: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split(newline)
    # The last piece may lack its line end; every other one ends with an empty rest.
    if not lines[-1]:
        lines.pop()
    return lines
