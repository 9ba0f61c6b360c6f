"""Tables of text: encoding, delimiter and heading found, the cells parsed by Arrow in blocks."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from dashboard.readers.formats.heading import SAMPLE, first_rows, heading_of, is_number
from dashboard.readers.formats.rows import without_blank_rows
from dashboard.readers.formats.text_pieces import TextColumns
from dashboard.readers.limits import MAX_COLUMNS, MAX_LINE, MAX_UTF16, megabytes
from dashboard.readers.records import Column, FileTable
from dashboard.readers.refusal import FileError, quoted

_PIECE = 1 << 20
_SHOWN = 10
_JSON = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{])")
_LAST_LINE = re.compile(rb"\n(?:(?:\xe2[\x94\x95].)+|\([0-9,]+ rows? affected\))\s*\Z")
_NOT_UTF8 = (
    "The text is not UTF-8 and was read as Windows-1252, so names may look wrong. If they do, save"
    ' the file as UTF-8 (in Excel: "CSV UTF-8").'
)
_DELIMITERS = {"\t": "Tabs", ";": "Semicolons", ",": "Commas", "|": "Bars", " ": "Blanks"}


def read_text(data: bytes, header: bool | None) -> FileTable:  # noqa: FBT001 - as all readers take it
    """Read a table separated by commas, semicolons, tabs, bars or blanks.

    UTF-8, UTF-16 up to 40 MB, or else taken for Windows-1252.
    """
    body, doubts = _decoded(data)
    notes = []
    if _JSON.match(body):
        raise FileError("file", "JSON text", "a table of text, or a name that ends in .json")
    delimiter = _delimiter(body)
    if delimiter == " ":
        body = _single_blanks(body)
    if delimiter != ",":
        notes.append(f"{_DELIMITERS[delimiter]} separate the columns.")
    rows, lines = _first_rows(body, delimiter)
    heading = heading_of(rows, header=header)
    sample = [row for row in rows[heading.start :] if len(row) == len(heading.names)]
    sample = [row for row in sample if "".join(row).strip()]
    first_row = lines[heading.start] + 1
    start = _offset(body, lines[heading.start])
    blocks = TextColumns(body, start, delimiter, first_row, len(heading.names))
    blocks.read(sample)
    columns = blocks.columns(heading.names)
    shown = tuple(tuple(row) for row in sample[:_SHOWN])
    table = without_blank_rows(FileTable(
        columns, blocks.n_rows, first_row, blocks.among(), blocks.cut, heading.named, shown,
        notes=(*notes, *heading.notes, *_comma_sentences(columns, blocks.by_thousands)),
        repairs=heading.repairs,
        doubts=doubts,
    ))  # fmt: skip
    blocks.check_cut(table.n_rows)
    return table


def _decoded(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Convert a text to UTF-8 without a mark, whose lines end with line feeds; say what is unsure.

    Of other encodings a byte alone does not tell which one it is.
    """
    for magic, what in ((b"\x1f\x8b", "a gzip file"), (b"PK\x03\x04", "a zip archive")):
        if data.startswith(magic):
            raise FileError("file", f"{what}, compressed", "plain text; unpack it first")
    doubts: tuple[str, ...] = ()
    if encoding := _utf16(data):
        if len(data) > MAX_UTF16:
            most = f"at most {megabytes(MAX_UTF16)}, or text in UTF-8"
            raise FileError("file", f"{megabytes(len(data))} of UTF-16", most)
        try:
            data = data.decode(encoding).encode()
        except UnicodeError:
            raise FileError("file", "bytes that are not UTF-16", "text in UTF-8") from None
    elif not _is_utf8(data):
        doubts = (_NOT_UTF8,)
        pieces = (data[at : at + _PIECE] for at in range(0, len(data), _PIECE))
        data = b"".join(piece.decode("cp1252", "replace").encode() for piece in pieces)
    data = data.removeprefix(codecs.BOM_UTF8)
    if (nul := data.find(b"\x00")) >= 0:
        row = data.count(b"\n", 0, nul) + 1
        raise FileError(f"row {row:,}", "a NUL byte, as binary files have", "a table of text")
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data, doubts


def _utf16(data: bytes) -> str | None:
    """Name the UTF-16 that a text is in, by its mark or by the zeros between its letters."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = data[:200]
    halves = {"utf-16-be": head[0::2], "utf-16-le": head[1::2]}
    zeros = {name: half.count(0) for name, half in halves.items()}
    best = max(zeros, key=zeros.__getitem__)
    return best if zeros[best] > 0.4 * len(head) and min(zeros.values()) == 0 else None


def _is_utf8(data: bytes) -> bool:
    """Check a piece at a time: decoding at once may take four times the file."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), _PIECE):
            decoder.decode(data[at : at + _PIECE], at + _PIECE >= len(data))
    except UnicodeDecodeError:
        return False
    return True


def _delimiter(data: bytes) -> str:
    """Find what parts as many fields in nearly all of the first lines."""
    head = re.sub(r'"[^"]*"', '""', data[: 1 << 16].decode("utf-8", "replace"))
    lines = [line.strip(" \r") for line in head.split("\n")]
    if len(data) > 1 << 16 and len(lines) > 1:
        lines.pop()
    lines = [re.sub(" +", " ", line) for line in lines if line and not line.startswith("#")]
    del lines[SAMPLE:]
    shares = {}
    for mark in _DELIMITERS:
        counts = Counter(line.count(mark) for line in lines)
        shares[mark] = max((n for count, n in counts.items() if count), default=0)
    blanks = shares.pop(" ")
    best = max(shares, key=shares.__getitem__)
    if 2 * shares[best] >= len(lines) > 0 or blanks < 0.8 * len(lines) or not lines:
        return best if shares[best] else ","
    numbers = sum(any(map(is_number, line.split())) for line in lines)
    return " " if 2 * numbers > len(lines) else ","


def _single_blanks(data: bytes) -> bytes:
    """Part fields by one blank each."""
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    data = data.replace(b" \r\n", b"\n").replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    return _LAST_LINE.sub(b"\n", data)


def _first_rows(data: bytes, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the first rows, and how many lines stand above each."""
    head = data[:MAX_LINE]
    if len(data) > MAX_LINE:
        head = head[: head.rfind(b"\n") + 1]
        if not head:
            text = f"a line of more than {MAX_LINE:,} bytes: too many columns or too long a cell"
            raise FileError("row 1", text, "shorter lines")
    widest = head[: head.find(b"\n")].count(delimiter.encode())
    if widest >= 4 * MAX_COLUMNS:
        raise FileError("row 1", f"{widest + 1:,} columns", f"at most {MAX_COLUMNS:,}")
    reader = csv.reader(io.StringIO(head.decode("utf-8", "replace"), "\n"), delimiter=delimiter)
    rows: list[list[str]] = []
    lines = [0]
    try:
        for row in first_rows(reader):
            rows.append([*row])
            lines.append(reader.line_num)
    except csv.Error as error:
        text = f"a field that cannot be read ({error})"
        raise FileError(f"row {lines[-1] + 1}", text, "closed quotes and shorter cells") from None
    return rows, lines


def _offset(data: bytes, n_lines: int) -> int:
    """Find where a line begins."""
    at = 0
    for _ in range(n_lines):
        at = data.find(b"\n", at) + 1
    return at


def _comma_sentences(columns: Sequence[Column], by_thousands: Sequence[Column]) -> Iterator[str]:
    """Say where commas mark decimals, counted by the cells that have one, and where thousands."""
    for mark, having in (
        ("decimals", [column for column in columns if column.commas]),
        ("thousands", by_thousands),
    ):
        named = ", ".join(quoted(column.name)[1:-1] for column in having[:3])
        more = f" and {len(having) - 3} more columns" if len(having) > 3 else ""
        count = sum(column.commas for column in having)
        why = f"({count:,} values)" if count else "since points mark decimals in this file"
        if having:
            yield f"Commas mark {mark} in {named}{more} {why}."
