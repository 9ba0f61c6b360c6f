"""Text tables: one row a sample, columns told by their names."""

import codecs
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from dashboard.readers.columns import find_layout, looks_like_header, numbers_columns
from dashboard.readers.contents import DEFAULTS, Contents, Options
from dashboard.readers.layout import Layout
from dashboard.readers.refusal import FileError
from dashboard.readers.slices import is_number
from dashboard.readers.table_body import Block, Rows, read_body

_PIECE = 1 << 20
_MAX_COLUMNS = 4096
_SAMPLE = 50
_MAX_TITLES = 5
_BLOCK = 1 << 18
_LONG = 5_000_000
_MAX_SEARCHED = 4
_OF_NUMBERS = b"0123456789eE.,+-% \t\r\n"
_REMARK = re.compile(r"\s*(?:#|sep=.?$)", re.ASCII | re.IGNORECASE)
_JSON = re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{])")


@dataclass(frozen=True)
class _Text:
    data: bytes
    encoding: str
    start: int
    newline: bytes
    delimiter: str

    def blocks(self) -> Iterator[Block]:
        """Give the fields of some rows at a time, numbered as a spreadsheet does."""
        if b'"' in self.data:
            yield from self._quoted()
            return
        mark, number = None if self.delimiter == " " else self.delimiter, 1
        for lines in self.pieces(_BLOCK):
            yield number, [line.split(mark) for line in lines]
            number += len(lines)

    def _quoted(self) -> Iterator[Block]:
        """Give fields some of which may stand in quotes, and hold line ends."""
        fed, number, block = 0, 1, []

        def lines() -> Iterator[str]:
            nonlocal fed
            for line in self.lines():
                fed += len(line) + 1
                if fed > _BLOCK + 2 * _PIECE:
                    raise FileError(f"row {number}", "a quote that is not closed", "closed quotes")
                yield line + "\n"

        reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        try:
            for row in reader:
                block.append(row)
                if fed >= _BLOCK:
                    yield number, block
                    fed, number, block = 0, number + len(block), []
        except csv.Error as error:
            place = f"line {reader.line_num}"
            found = f"a field that cannot be read ({error})"
            raise FileError(place, found, "closed quotes and shorter fields") from error
        yield number, block

    def lines(self) -> Iterator[str]:
        """Give one line after another."""
        for lines in self.pieces(_PIECE):
            yield from lines

    def pieces(self, most: int) -> Iterator[list[str]]:
        """Decode a piece at a time, so that wide characters do not swell the whole file.

        A piece is as long as ``most`` or, if a line is longer than that, as any line may be.
        """
        number = 1
        for raw in self.raw_pieces(most):
            if not raw:
                raise FileError(
                    f"row {number}",
                    f"a line of more than {_PIECE:,} bytes: too many columns or too long a field",
                    "shorter lines",
                )
            piece = raw.decode(self.encoding)
            lines = piece.replace("\r\n", "\n").split(self.newline.decode())
            # The last piece may lack its line end; every other one ends with an empty rest.
            if not lines[-1]:
                lines.pop()
            yield lines
            number += len(lines)

    def raw_pieces(self, most: int) -> Iterator[bytes]:
        """Give pieces that end with lines; nothing where a line is too long, which is the end."""
        position = self.start
        while position < len(self.data):
            end = 0
            for size in sorted({most, _PIECE}):
                end = min(position + size, len(self.data))
                if end < len(self.data):
                    end = self.data.rfind(self.newline, position, end) + 1
                if end:
                    break
            yield self.data[position:end]
            if end == 0:
                return
            position = end

    def suspect(self, width: int, *, numeric: bool) -> Block | None:
        """Find a row far down that may not be read, as fast as bytes are counted.

        Parameters
        ----------
        width : int
            How many fields every row must have.
        numeric : bool
            Whether every cell is to be a number.
        """
        if len(self.data) < _LONG or b'"' in self.data or self.delimiter == " ":
            return None
        mark, number, n_searched = self.delimiter.encode(), 1, 0
        for place, piece in enumerate(self.raw_pieces(_PIECE)):
            n_lines = piece.count(self.newline) + (not piece.endswith(self.newline))
            odd = piece.count(mark) != n_lines * (width - 1)
            # The first piece has the header, and is read at once.
            if place and (odd or (numeric and piece.translate(None, _OF_NUMBERS + mark))):
                n_searched += 1
                for k, line in enumerate(piece.split(self.newline)):
                    words = numeric and line.translate(None, _OF_NUMBERS + mark)
                    if line.strip() and (words or line.count(mark) != width - 1):
                        text = line.decode(self.encoding).rstrip("\r")
                        return number + k, [text.split(self.delimiter)]
            if n_searched > _MAX_SEARCHED:
                return None
            number += n_lines
        return None


def read_delimited(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read a table separated by commas, semicolons, tabs or spaces.

    Notes
    -----
    Numbers are plain decimals in ASCII digits; every row has as many fields as the first. The
    first row is a header where most of its fields are not numbers.
    """
    text, notes = _open(data)
    blocks = text.blocks()
    # Two, since a very long header may fill the first one.
    first = [row for _, rows in islice(blocks, 2) for row in rows]
    top, header = _header_of(first)
    above = sum(bool("".join(row).strip()) for row in first[:top])
    if above:
        notes.append(f"Remarks above the table were passed over ({above} lines).")
    if len(header) > _MAX_COLUMNS:
        most = f"at most {_MAX_COLUMNS:,} columns"
        raise FileError(f"row {top + 1}", f"{len(header):,} columns", most)
    has_header = looks_like_header(header) if options.header is None else options.header
    named = has_header and (options.header is not None or not numbers_columns(header))
    if not named and options.header is None:
        what = "only counts the columns" if has_header else "holds numbers"
        notes.append(f"No header row with names: the first row {what}.")
    start = top + has_header
    header = _with_row_names(header, first[start : start + _SAMPLE]) if named else header
    sample = {
        number: row
        for number, row in enumerate(first[start : start + _SAMPLE], start + 1)
        if len(row) == len(header) and "".join(row).strip()
    }
    if not sample and len(first) <= start:
        raise FileError("file", "a header and no rows", "at least one row of data")
    layout = find_layout(
        header if named else None, [*sample.values()] or [header], options, numbers=[*sample]
    )
    rest: Block = (start + 1, first[start:])
    with layout.known():
        _look_ahead(text, layout, len(header))
        body = read_body(chain([rest], blocks), layout, width=len(header), delimiter=text.delimiter)
        if not len(body.numbers):
            raise FileError("file", "a header and no rows", "at least one row of data")
        return body.contents(layout, first_row=start + 1, found=tuple(notes))


def _header_of(rows: Rows) -> tuple[int, list[str]]:
    """Find the first row of the table, below remarks and titles."""
    there = (k for k, row in enumerate(rows) if "".join(row).strip() and not _is_remark(rows, k))
    top = next(there, None)
    if top is None:
        raise FileError("file", "no rows, only blank lines", "one row a sample")
    return top, _without_mark(rows, top)


def _look_ahead(text: _Text, layout: Layout, width: int) -> None:
    """Refuse a row far down at once, if there is one that cannot be read."""
    cells = chain.from_iterable(layout.sample)
    numeric = not layout.beside and all(map(is_number, cells))
    suspect = text.suspect(width, numeric=numeric)
    if suspect is not None:
        read_body(iter([suspect]), layout, width=width, delimiter=text.delimiter)


def _open(data: bytes) -> tuple[_Text, list[str]]:
    """Find out encoding, line ends and delimiter."""
    for magic, what in ((b"\x1f\x8b", "a gzip file"), (b"PK\x03\x04", "a zip archive")):
        if data.startswith(magic):
            raise FileError("file", f"{what}, compressed", "plain text; unpack it first")
    if b"\x00" in data:
        row = data.count(b"\n", 0, data.index(b"\x00")) + 1
        raise FileError(f"row {row}", "a NUL byte (binary, or UTF-16 text)", "text in UTF-8")
    notes: list[str] = []
    encoding = "utf-8" if data.isascii() or _is_utf8(data) else "latin-1"
    if encoding == "latin-1":
        notes.append("The text is not UTF-8; it was read as Latin-1.")
    start = 3 if data.startswith(codecs.BOM_UTF8) else 0
    newline = b"\n" if b"\n" in data else b"\r"
    text = _Text(data, encoding, start, newline, ",")
    lines = [line for line in islice(text.lines(), 20) if line.strip() and not _REMARK.match(line)]
    if lines and _JSON.match(lines[0]):
        raise FileError("file", "JSON text", "a table of text, or a name ending in .json or .jsonl")
    bare = [_unquoted(line) for line in lines]
    # A title above the table has no delimiters.
    tables = [bare[k:] for k in range(_MAX_TITLES + 1) if len(bare) > k + 1] or [bare]
    delimiter = next(
        (m for table in tables for m in "\t;,| " if table and all(m in line for line in table)), ","
    )
    names = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars", " ": "spaces"}
    if delimiter != ",":
        notes.append(f"Columns are separated by {names[delimiter]}.")
    return _Text(data, encoding, start, newline, delimiter), notes


def _with_row_names(header: list[str], rows: Rows) -> list[str]:
    """Add a heading to one that is short of one: row names come first, as R writes them.

    A delimiter at the end of every row makes a field too, which is blank.
    """
    rows = [row for row in rows if "".join(row).strip()]
    if not rows or any(len(row) != len(header) + 1 for row in rows):
        return header
    if not any(row[-1].strip() for row in rows):
        return [*header, ""]
    names = [row[0].strip() for row in rows]
    counted = [str(k) for k in range(len(names) + 1)]
    running = names in (counted[:-1], counted[1:])
    # A decimal comma would part a number in two, and begin many rows alike.
    words = len(set(names)) == len(names) and not any(map(is_number, names))
    return ["", *header] if words or (running and len(names) > 2) else header


def _is_title(rows: Rows, place: int) -> bool:
    """Tell a line of one text above rows of several fields."""
    row = rows[place]
    cells = [cell for cell in row if cell.strip()]
    if place > 2 * _MAX_TITLES or len(cells) != 1 or not row[0].strip() or is_number(row[0]):
        return False
    below = [other for other in rows[place + 1 : place + _SAMPLE] if "".join(other).strip()]
    several = [sum(bool(cell.strip()) for cell in other) > 1 for other in below]
    return len(below) > 2 and all(several[_MAX_TITLES:] or several[1:])


def _is_remark(rows: Rows, place: int) -> bool:
    """Tell a line above the table that is no row: a remark, or what tells Excel the delimiter."""
    row = rows[place]
    if not _starts_with_mark(row):
        return _is_title(rows, place)
    widths = {len(row) - 1} if row[0].strip() == "#" else {len(row)}
    return not row[0].lstrip().startswith("#") or _width_below(rows, place) not in widths


def _without_mark(rows: Rows, place: int) -> list[str]:
    """Give a header without the mark of a remark, which `numpy.savetxt` sets before it."""
    header = rows[place]
    if header[0].strip() == "#" and _width_below(rows, place) == len(header) - 1:
        return header[1:]
    first = header[0].lstrip()
    return [first.lstrip("# ") or first, *header[1:]] if first.startswith("#") else header


def _starts_with_mark(row: list[str]) -> bool:
    return bool(row) and _REMARK.match(row[0]) is not None


def _width_below(rows: Rows, place: int) -> int:
    below = (row for row in rows[place + 1 :] if "".join(row).strip())
    return next((len(row) for row in below if not _starts_with_mark(row)), 0)


def _unquoted(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line) if '"' in line else line


def _is_utf8(data: bytes) -> bool:
    """Check piece by piece: decoding at once would take up to four times the file."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _PIECE):
            decoder.decode(data[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
