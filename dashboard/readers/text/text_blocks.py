"""The lines of a text, some at a time, and their fields."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from io import StringIO
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.refusal import FileError

PIECE = 1 << 20
_BLOCKS = (1 << 18, 1 << 18, 3 << 20)
_PART = 1 << 16
_MAX_FIELD = 1 << 16
_MANY = 1 << 20
"""Rows of which to keep the places takes much memory."""

_QUOTE, _RETURN, _END = b'"\r\n'
Rows = list[list[str]]
Places = NDArray[np.integer]


@dataclass(frozen=True)
class Parsed:
    """Rows whose fields had to be told apart one by one, and the bytes they were."""

    fields: Rows
    n_bytes: int

    def rows(self) -> Rows:
        """Give the fields of each row."""
        return self.fields

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.fields)


@dataclass(frozen=True)
class Lines:
    """Whole rows without quotes, or with quotes around whole fields.

    Parameters
    ----------
    raw : bytes
        As they stand in the file, but that every line ends with a line feed.
    n_rows, n_quotes : int
        How many, blank ones too, and how many quotes in them.
    encoding, delimiter
        As in `Text`.
    """

    raw: bytes
    n_rows: int
    n_quotes: int
    encoding: str
    delimiter: str

    def rows(self) -> Rows:
        """Give the fields of each row."""
        text = self.raw.decode(self.encoding)
        if self.n_quotes:
            lines = StringIO(text, newline="\n")
            return list(csv.reader(lines, delimiter=self.delimiter, strict=True))
        mark = None if self.delimiter == " " else self.delimiter
        return [line.split(mark) for line in _split(text)]

    def __len__(self) -> int:
        """Count the rows."""
        return self.n_rows

    @property
    def n_bytes(self) -> int:
        """How many bytes."""
        return len(self.raw)

    @property
    def n_breaks(self) -> int:
        """How many line ends are inside quotes."""
        return _count(self.raw, _END) - self.n_rows

    def parts(self) -> Iterator["Lines"]:
        """Give some of the rows at a time."""
        ends = self.ends()
        for raw, n_rows in _parts(self.raw, ends):
            yield replace(self, raw=raw, n_rows=n_rows, n_quotes=self.n_quotes and raw.count(b'"'))

    def ends(self) -> Places:
        """Find where rows end."""
        data = np.frombuffer(self.raw, dtype=np.uint8)
        ends: Places = np.flatnonzero(data == _END)
        if self.n_quotes:
            ends = _outside(np.flatnonzero(data == _QUOTE), ends)
        return ends.astype(np.int32)

    def without_blank(self) -> tuple[bytes | None, Places]:
        """Give the rows without empty ones, or nothing where they are many, and their places."""
        end = np.frombuffer(self.raw, dtype=np.uint8) == _END
        if not (end[1:] & end[:-1]).any() and not end[:1].any():
            return self.raw, np.empty(0, dtype=np.int32)
        if self.n_rows > _MANY:
            return None, np.empty(0, dtype=np.int32)
        ends = self.ends()
        blank = np.flatnonzero(np.diff(ends, prepend=np.int32(-1)) == 1).astype(np.int32)
        kept = np.delete(np.frombuffer(self.raw, dtype=np.uint8), ends[blank])
        return kept.tobytes(), blank


Block = tuple[int, Rows | Lines | Parsed]
"""Number of the first row, as a spreadsheet counts, and some rows."""


def rows_of(block: Rows | Lines | Parsed) -> Rows:
    """Give the fields of each row of a block."""
    return block if isinstance(block, list) else block.rows()


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
        number, at, odd_to = 1, self.start, 0
        sizes = chain(_BLOCKS, repeat(_BLOCKS[-1]))
        while at < len(self.data):
            size = next(sizes) if at >= odd_to else min(_PART, _BLOCKS[-1])
            raw = self._piece(at, size, number)
            n_rows, n_quotes, n_bytes = self._regular(raw)
            if n_rows:
                fed = self._fed(raw[:n_bytes])
                yield number, Lines(fed, n_rows, n_quotes, self.encoding, self.delimiter)
            elif len(raw) > _PART and at >= odd_to:
                # What is odd is mostly in few places.
                odd_to = at + len(raw)
                continue
            else:
                rows, n_bytes = self._quoted(at, raw, number)
                yield number, Parsed(rows, n_bytes)
                n_rows = len(rows)
            number, at = number + n_rows, at + n_bytes

    def lines(self) -> Iterator[str]:
        """Give one line after another."""
        number, at = 1, self.start
        while at < len(self.data):
            raw = self._piece(at, PIECE, number)
            yield from self._lines_of(raw)
            number, at = number + raw.count(self.newline), at + len(raw)

    def _regular(self, raw: bytes) -> tuple[int, int, int]:
        """Count the rows whose quotes stand around whole fields, these, and the bytes of them.

        None are counted where a quote is out of place, a field is very long, or no row ends.
        """
        if b'"' not in raw:
            n_rows = _count(raw, self.newline[0]) + (not raw.endswith(self.newline))
            return n_rows, 0, len(raw)
        if self.newline == b"\n" and b"\r" in self._fed(raw):
            return 0, 0, 0
        if len(raw) > _PART and _count(raw, self.newline[0]) > _MANY:
            return 0, 0, 0
        data = np.frombuffer(raw, dtype=np.uint8)
        quotes = np.flatnonzero(data == _QUOTE)
        ends = _outside(quotes, np.flatnonzero(data == self.newline[0]))
        n_bytes = len(raw)
        if len(quotes) % 2:
            n_bytes = int(ends[-1]) + 1 if len(ends) else 0
            quotes = quotes[: np.searchsorted(quotes, n_bytes)]
        if not self._in_place(data[:n_bytes], quotes, ends):
            return 0, 0, 0
        rest = n_bytes == len(raw) and not raw.endswith(self.newline)
        return len(ends) + rest, len(quotes), n_bytes

    def _in_place(self, data: NDArray[np.uint8], quotes: Places, ends: Places) -> bool:
        """Tell whether every other quote begins a field and the next ends it, or is doubled."""
        if not len(quotes):
            return len(data) > 0
        mark = ord(self.delimiter)
        opens, closes = quotes[::2], quotes[1::2]
        doubled = opens[1:] == closes[:-1] + 1
        before = data[opens[1:] - 1]
        after = data[closes[:-1] + 1]
        begins = doubled | (before == mark) | (before == self.newline[0])
        finishes = doubled | (after == mark) | (after == _RETURN) | (after == _END)
        if not (begins.all() and finishes.all()):
            return False
        first, last = int(opens[0]), int(closes[-1])
        around = (mark, _RETURN, _END)
        if (first and data[first - 1] not in (mark, self.newline[0])) or (
            last + 1 < len(data) and data[last + 1] not in around
        ):
            return False
        if np.diff(ends, prepend=-1, append=len(data)).max() <= _MAX_FIELD:
            return True
        whole = np.append(closes[:-1][~doubled], last) - np.append(first, opens[1:][~doubled])
        parted = np.flatnonzero((data == mark) | (data == self.newline[0]) | (data == _QUOTE))
        gaps = np.diff(parted, prepend=-1, append=len(data))
        return bool(whole.max() <= _MAX_FIELD and gaps.max() <= _MAX_FIELD)

    def _fed(self, raw: bytes) -> bytes:
        """End every line with a line feed."""
        if b"\r" not in raw:
            return raw
        if self.newline == b"\r":
            return raw.replace(b"\r", b"\n")
        data = np.frombuffer(raw, dtype=np.uint8)
        returns = data == _RETURN
        if np.count_nonzero(returns[:-1] & (data[1:] == _END)) == np.count_nonzero(returns):
            return raw.translate(None, b"\r")
        return raw.replace(b"\r\n", b"\n")

    def _lines_of(self, raw: bytes) -> list[str]:
        # A piece is decoded at a time, so that wide characters do not swell the whole file.
        return _split(self._fed(raw).decode(self.encoding))

    def _quoted(self, at: int, raw: bytes, number: int) -> tuple[Rows, int]:
        """Read the fields of a piece, and of further ones while a quote is open."""
        fed, taken, last = 0, 0, False
        rows: Rows = []

        def lines() -> Iterator[str]:
            nonlocal fed, taken, last
            piece = raw
            while piece:
                taken += len(piece)
                parts = self._lines_of(piece)
                for place, line in enumerate(parts, 1):
                    fed, last = fed + len(line) + 1, place == len(parts)
                    if fed > len(raw) + 2 * PIECE:
                        found = "a quote that is not closed"
                        raise FileError(f"row {number + len(rows)}", found, "closed quotes")
                    yield line + "\n"
                more = at + taken < len(self.data)
                piece = self._piece(at + taken, _PART, number + len(rows)) if more else b""

        reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        try:
            for row in reader:
                rows.append(row)
                if last:
                    break
        except csv.Error as error:
            place = f"line {self.data.count(self.newline, 0, at) + reader.line_num}"
            found = f"a field that cannot be read ({error})"
            raise FileError(place, found, "closed quotes and shorter fields") from error
        return rows, taken

    def _piece(self, at: int, size: int, number: int) -> bytes:
        """Cut at the end of a line, after so many bytes, or as many as a line may have."""
        for most in (size, PIECE):
            if at + most >= len(self.data):
                return self.data[at:]
            end = self.data.rfind(self.newline, at, at + most) + 1
            if end:
                return self.data[at:end]
        raise FileError(
            f"row {number}",
            f"a line of more than {PIECE:,} bytes: too many columns or too long a field",
            "shorter lines",
        )


def numbered(parts: Iterable[Lines], number: int) -> Iterator[tuple[int, Lines]]:
    """Give lines with the number of the first, from the first of all."""
    for part in parts:
        yield number, part
        number += len(part)


def _count(raw: bytes, byte: int) -> int:
    """Count a byte, many times faster than Python does where there are many."""
    return int(np.count_nonzero(np.frombuffer(raw, dtype=np.uint8) == byte))


def _outside(quotes: Places, ends: Places) -> Places:
    """Keep the ends of lines that are not inside quotes."""
    if len(quotes) > len(ends):
        inside = np.searchsorted(quotes, ends) % 2
    else:
        before = np.bincount(np.searchsorted(ends, quotes), minlength=len(ends))
        inside = before[: len(ends)].cumsum() % 2
    kept: Places = ends[inside == 0]
    return kept


def _parts(raw: bytes, ends: Places) -> Iterator[tuple[bytes, int]]:
    """Cut at ends of rows, and count these."""
    at, done = 0, 0
    while at < len(raw):
        place = int(np.searchsorted(ends, at + _PART))
        place = min(max(place, done + 1), len(ends))
        end = int(ends[place - 1]) + 1 if place > done else len(raw)
        yield raw[at:end], max(place - done, 1)
        at, done = end, place


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    # The last piece may lack its line end; every other one ends with an empty rest.
    if not lines[-1]:
        lines.pop()
    return lines
