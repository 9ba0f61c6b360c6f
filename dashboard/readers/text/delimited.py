"""Text tables: one row a sample, columns told by their names."""

import codecs
import re
from collections.abc import Iterator
from itertools import chain, islice

from dashboard.readers.columns.columns import find_layout, looks_like_header, numbers_columns
from dashboard.readers.columns.layout import Layout
from dashboard.readers.columns.slices import is_number
from dashboard.readers.contents import DEFAULTS, Contents, Options, check_rows
from dashboard.readers.refusal import FileError
from dashboard.readers.text.headless import is_data
from dashboard.readers.text.table_body import read_body
from dashboard.readers.text.table_cells import marks_decimals
from dashboard.readers.text.text_blocks import PIECE, Block, Rows, Text, rows_of
from dashboard.readers.text.text_lists import is_list, list_columns, read_lists
from dashboard.readers.text.unicode_text import as_utf8

_MAX_COLUMNS = 4096
_SAMPLE = 50
_MOST_LISTS = 25_000_000
"""Bytes of text with lists in its cells, which are read more slowly than plain cells."""

_MAX_TITLES = 5
_TYPES = frozenset(
    {"", "continuous", "discrete", "string", "time", "numeric", "categorical", "text"}
)
_ROLES = frozenset({"", "class", "meta", "ignore", "feature", "target"})
_REMARK = re.compile(r"\s*(?:#|sep=.?$)", re.ASCII | re.IGNORECASE)
_JSON = re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{])")


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
    first = [row for _, block in islice(blocks, 2) for row in rows_of(block)]
    header, named, start = _heading(first, options, notes)
    if b'"' not in text.data:
        check_rows(text.data.count(text.newline) - start)
    sample = {
        number: row
        for number, row in enumerate(first[start : start + _SAMPLE], start + 1)
        if len(row) == len(header) and "".join(row).strip()
    }
    if not sample and len(first) <= start:
        raise FileError("file", "a header and no rows", "at least one row of data")
    rest: Block = (start + 1, first[start:])
    names, rows = header if named else None, [*sample.values()] or [header]
    lists = list_columns(names, rows)
    layout = _layout(names, rows, options, [*sample], or_none=bool(lists))
    if layout is None:
        if len(text.data) > _MOST_LISTS:
            found = f"{len(text.data):,} bytes of text with lists in its cells"
            raise FileError("file", found, f"at most {_MOST_LISTS:,}; save it as .parquet")
        every = chain([rest], blocks)
        return read_lists(every, names, lists, options, width=len(header), found=tuple(notes))
    with layout.known():
        body = read_body(
            chain([rest], blocks), layout,
            width=len(header), delimiter=text.delimiter, n_bytes=len(text.data),
            comma_allowed=text.delimiter != "," or marks_decimals(layout, rows),
        )  # fmt: skip
        if not len(body.numbers):
            raise FileError("file", "a header and no rows", "at least one row of data")
        return body.contents(layout, first_row=start + 1, found=tuple(notes))


def _heading(rows: Rows, options: Options, notes: list[str]) -> tuple[list[str], bool, int]:
    """Give the header, or the first row of data, whether it has names, and where data begin."""
    top, header = _header_of(rows)
    above = sum(bool("".join(row).strip()) for row in rows[:top])
    if above:
        lines = "1 line" if above == 1 else f"{above} lines"
        notes.append(f"Remarks above the table were passed over ({lines}).")
    if len(header) > _MAX_COLUMNS:
        most = f"at most {_MAX_COLUMNS:,} columns"
        raise FileError(f"row {top + 1}", f"{len(header):,} columns", most)
    has_header = looks_like_header(header) and not any(map(is_list, header))
    has_header = has_header and not is_data(header, rows[top + 1 : top + 1 + _SAMPLE])
    has_header = has_header if options.header is None else options.header
    named = has_header and (options.header is not None or not numbers_columns(header))
    if not named and options.header is None:
        what = "only counts the columns" if has_header else "holds numbers"
        notes.append(f"No header row with names: the first row {what}.")
    start = top + has_header
    start += _type_lines(rows[start : start + 2], len(header)) if named else 0
    header = _with_row_names(header, rows[start : start + _SAMPLE]) if named else header
    return header, named, start


def _layout(
    names: list[str] | None, rows: Rows, options: Options, numbers: list[int], *, or_none: bool
) -> Layout | None:
    """Tell the columns apart, or give nothing where cells hold lists and no other has numbers."""
    try:
        layout = find_layout(names, rows, options, numbers=numbers)
    except FileError:
        if not or_none:
            raise
        return None
    return layout if layout.numbers or not or_none else None


def _header_of(rows: Rows) -> tuple[int, list[str]]:
    """Find the first row of the table, below remarks and titles."""
    widths = _widths_below(rows)
    for (place, row), below in zip(enumerate(rows), widths, strict=True):
        if "".join(row).strip() and not _is_remark(rows, place, below):
            return place, _without_mark(row, below)
    raise FileError("file", "no rows, only blank lines", "one row a sample")


def _widths_below(rows: Rows) -> Iterator[int]:
    """Give for each row the width of the next that is neither blank nor a remark, 0 for none."""
    tables = (
        (place, len(row))
        for place, row in enumerate(rows)
        if "".join(row).strip() and not _starts_with_mark(row)
    )
    after, width = -1, 0
    for place in range(len(rows)):
        while after <= place:
            after, width = next(tables, (len(rows), 0))
        yield width


def _type_lines(rows: Rows, width: int) -> int:
    """Count the lines below a header that Orange writes: types, then roles of the columns."""
    words = [{cell.strip().lower() for cell in row} for row in rows if len(row) == width]
    if not words or not words[0] <= _TYPES or words[0] == {""}:
        return 0
    return 2 if len(words) > 1 and words[1] <= _ROLES else 1


def _open(data: bytes) -> tuple[Text, list[str]]:
    """Find out encoding, line ends and delimiter."""
    for magic, what in ((b"\x1f\x8b", "a gzip file"), (b"PK\x03\x04", "a zip archive")):
        if data.startswith(magic):
            raise FileError("file", f"{what}, compressed", "plain text; unpack it first")
    data, wide = as_utf8(data)
    if b"\x00" in data:
        row = data.count(b"\n", 0, data.index(b"\x00")) + 1
        found = "a NUL byte (binary, or UTF-16 text without its byte order mark)"
        raise FileError(f"row {row}", found, "text in UTF-8")
    notes = ["The text is UTF-16, as its byte order mark says."] if wide else []
    encoding = "utf-8" if data.isascii() or _is_utf8(data) else "latin-1"
    if encoding == "latin-1":
        notes.append("The text is not UTF-8; it was read as Latin-1.")
    start = 3 if data.startswith(codecs.BOM_UTF8) else 0
    newline = b"\n" if b"\n" in data else b"\r"
    text = Text(data, encoding, start, newline, ",")
    lines = [line for line in islice(text.lines(), 20) if line.strip() and not _REMARK.match(line)]
    if lines and _JSON.match(lines[0]):
        raise FileError("file", "JSON text", "a table of text, or a name ending in .json or .jsonl")
    bare = _without_quoted(lines)
    # A title above the table has no delimiters.
    tables = [bare[k:] for k in range(_MAX_TITLES + 1) if len(bare) > k + 1] or [bare]
    delimiter = next(
        (m for table in tables for m in "\t;,| " if table and all(m in line for line in table)), ","
    )
    names = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars", " ": "spaces"}
    if delimiter != ",":
        notes.append(f"Columns are separated by {names[delimiter]}.")
    return Text(data, encoding, start, newline, delimiter), notes


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
    """Tell a line of one text, or of fewer fields than a heading, above rows of several fields."""
    row = rows[place]
    cells = [cell for cell in row if cell.strip()]
    if place > 2 * _MAX_TITLES or not row[0].strip() or is_number(row[0]):
        return False
    below = [other for other in rows[place + 1 : place + _SAMPLE] if "".join(other).strip()]
    if len(cells) > 1:
        return _is_narrow(row, below)
    several = [sum(bool(cell.strip()) for cell in other) > 1 for other in below]
    return len(below) > 2 and all(several[_MAX_TITLES:] or several[1:])


def _is_narrow(row: list[str], below: Rows) -> bool:
    """Tell a line that is too short for the table below, whose own heading has no number."""
    width = len(below[-1]) if below else 0
    top = next((k for k, other in enumerate(below) if len(other) == width), 0)
    table = below[top:]
    if top >= _MAX_TITLES or len(table) < 3 or any(len(other) != width for other in table):
        return False
    return (
        len(row) < width - 1 and not any(map(is_number, table[0])) and any(map(is_number, table[1]))
    )


def _is_remark(rows: Rows, place: int, below: int) -> bool:
    """Tell a line above the table that is no row: a remark, or what tells Excel the delimiter."""
    row = rows[place]
    if not _starts_with_mark(row):
        return _is_title(rows, place)
    widths = {len(row) - 1} if row[0].strip() == "#" else {len(row)}
    return not row[0].lstrip().startswith("#") or below not in widths - {0}


def _without_mark(header: list[str], below: int) -> list[str]:
    """Give a header without the mark of a remark, which `numpy.savetxt` sets before it."""
    if header[0].strip() == "#" and below == len(header) - 1:
        return header[1:]
    first = header[0].lstrip()
    return [first.lstrip("# ") or first, *header[1:]] if first.startswith("#") else header


def _starts_with_mark(row: list[str]) -> bool:
    return bool(row) and _REMARK.match(row[0]) is not None


def _without_quoted(lines: list[str]) -> list[str]:
    """Take out what stands in quotes, also where it goes on in further lines."""
    if any(line.count('"') % 2 for line in lines):
        closed, opened, _ = _unquoted("\n".join(lines)).partition('"')
        whole = closed.split("\n")[:-1] if opened else closed.split("\n")
        if whole:
            return whole
    return [_unquoted(line) for line in lines]


def _unquoted(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line) if '"' in line else line


def _is_utf8(data: bytes) -> bool:
    """Check piece by piece: decoding at once would take up to four times the file."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), PIECE):
            decoder.decode(data[start : start + PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
