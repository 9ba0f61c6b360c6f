"""Text tables: one row a sample, columns told by their names."""

import codecs
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from dashboard.readers.columns import find_layout, looks_like_header, numbers_columns
from dashboard.readers.contents import DEFAULTS, Contents, Options
from dashboard.readers.refusal import FileError
from dashboard.readers.table_body import Block, Rows, read_body

_PIECE = 1 << 20
_MAX_COLUMNS = 4096
_SAMPLE = 50
_BLOCK = 1 << 18
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
        fed, number, block = 0, 1, []

        def lines() -> Iterator[str]:
            nonlocal fed
            for line in self.lines():
                fed += len(line) + 1
                if fed > _BLOCK + 2 * _PIECE:
                    raise FileError(f"row {number}", "a quote that is not closed", "closed quotes")
                yield line + "\n" if quotes else line

        quotes = b'"' in self.data
        mark = None if self.delimiter == " " else self.delimiter
        reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        rows = reader if quotes else (line.split(mark) for line in lines())
        try:
            for row in rows:
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
        """Decode a piece at a time, so that wide characters do not swell the whole file."""
        position, number = self.start, 1
        while position < len(self.data):
            end = min(position + _PIECE, len(self.data))
            if end < len(self.data):
                end = self.data.rfind(self.newline, position, end) + 1
            if end == 0:
                raise FileError(
                    f"row {number}",
                    f"a line of more than {_PIECE:,} bytes: too many columns or too long a field",
                    "shorter lines",
                )
            piece = self.data[position:end].decode(self.encoding)
            lines = piece.replace("\r\n", "\n").split(self.newline.decode())
            # The last piece may lack its line end; every other one ends with an empty rest.
            yield from lines[:-1] if not lines[-1] else lines
            position, number = end, number + len(lines) - 1


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
    top = next(
        (k for k, row in enumerate(first) if "".join(row).strip() and not _is_remark(first, k)),
        None,
    )
    if top is None:
        raise FileError("file", "no rows, only blank lines", "one row a sample")
    header = _without_mark(first, top)
    above = sum(map(_starts_with_mark, first[:top]))
    if above:
        notes.append(f"Remarks above the table were passed over ({above} lines).")
    if len(header) > _MAX_COLUMNS:
        raise FileError(
            f"row {top + 1}", f"{len(header):,} columns", f"at most {_MAX_COLUMNS:,} columns"
        )
    has_header = looks_like_header(header) if options.header is None else options.header
    named = has_header and (options.header is not None or not numbers_columns(header))
    if not named and options.header is None:
        what = "only counts the columns" if has_header else "holds numbers"
        notes.append(f"No header row with names: the first row {what}.")
    start = top + has_header
    sample = [row for row in first[start : start + _SAMPLE] if len(row) == len(header)]
    if not sample and len(first) <= start:
        raise FileError("file", "a header and no rows", "at least one row of data")
    layout = find_layout(header if named else None, sample or [header], options)
    rest: Block = (start + 1, first[start:])
    with layout.known():
        body = read_body(chain([rest], blocks), layout, width=len(header), delimiter=text.delimiter)
        if not len(body.numbers):
            raise FileError("file", "a header and no rows", "at least one row of data")
        return body.contents(layout, first_row=start + 1, found=tuple(notes))


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
    delimiter = next(
        (mark for mark in "\t;,| " if lines and all(mark in _unquoted(line) for line in lines)), ","
    )
    names = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars", " ": "spaces"}
    if delimiter != ",":
        notes.append(f"Columns are separated by {names[delimiter]}.")
    return _Text(data, encoding, start, newline, delimiter), notes


def _is_remark(rows: Rows, place: int) -> bool:
    """Tell a line above the table that is no row: a remark, or what tells Excel the delimiter."""
    row = rows[place]
    if not _starts_with_mark(row):
        return False
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
