"""Rows of plain cells, nearly all of a sheet, cut from its bytes without an XML parser."""

import re
from collections.abc import Iterator, Sequence

from dashboard.readers.growing import Cell

_NAME = rb"[A-Za-z][A-Za-z0-9:]{0,20}"
_NUMBER = rb"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,4})?"
_FORMULA = (
    rb'<f(?: [a-z]{1,4}="[^"<&]{0,40}"){0,6}+'
    rb"(?:/>|>(?:[ -%'-;=-~]|&(?:amp|lt|gt|quot|apos);){0,8192}+</f>)"
)
_PLAIN = (
    rb'<c(?: r="([A-Z]{1,3})[0-9]{1,7}")?(?: s="([0-9]{1,5})")?(?: t="(n|s)")?>'
    rb"(?:" + _FORMULA + rb")?+<v>(" + _NUMBER + rb")</v></c>"
)
_CELL = re.compile(_PLAIN)
_ROW = re.compile(
    rb'<row(?: r="([0-9]{1,7})")?(?: ' + _NAME + rb'="[^"<&]{0,40}"){0,12}+>'
    rb"((?:" + re.sub(rb"\((?!\?)", b"(?:", _PLAIN) + rb")++)</row>[ \t\r\n]*+"
)
_END = b"</row>"
_LONGEST = 1 << 20


class PlainRows:
    """Cuts rows of numbers and of numbered texts out of a sheet that comes in pieces.

    Notes
    -----
    A tag cannot begin within an attribute or a text, so what looks like a row between two rows is
    one, unless it stands in a comment or in character data: after either, or a row that is too
    long to be waited for, nothing is cut out any more.
    """

    def __init__(self) -> None:
        self.rest = b""
        self.on = True
        self.prologue = 4  # within which a sheet may begin with its declaration

    def parts(self, piece: bytes) -> Iterator[bytes | re.Match[bytes]]:
        """Give rows of plain cells, and between them what is for the XML parser, in their order.

        A row that is not fit after all is for the parser too.
        """
        data, at = self.rest + piece, 0
        self.rest = b""
        if b"<!" in data or b"]]>" in data or data.find(b"<?", self.prologue) >= 0:
            self.on = False
        while self.on:
            row = _ROW.match(data, at)
            if row is not None:
                yield row
                at = row.end()
                continue
            end = data.find(_END, at) + len(_END)
            if end < len(_END):
                break
            yield data[at:end]
            at = end
        self.prologue = self.prologue if at == 0 else 0
        self.on = self.on and len(data) - at <= _LONGEST
        if self.on:
            self.rest = data[at:]
        else:
            yield data[at:]


def cells_of(
    row: bytes, letters: tuple[bytes, ...], strings: Sequence[str], dates: frozenset[bytes]
) -> list[Cell] | None:
    """Read the cells of a row that has one in every column, none blank; None where it is not so.

    Parameters
    ----------
    row : bytes
        What `PlainRows` found within a row.
    letters : tuple of bytes
        Of the columns.
    strings : sequence of str
        The texts that cells refer to.
    dates : set of bytes
        The styles that show dates.
    """
    named, styles, kinds, raw = zip(*_CELL.findall(row), strict=True)
    if len(raw) != len(letters) or (named != letters and any(named)):
        return None
    if not dates.isdisjoint(styles):
        return None
    cells: list[Cell] = [
        int(text) if text.isdigit() and len(text) < 16 else float(text) for text in raw
    ]
    for place, kind in enumerate(kinds) if b"s" in kinds else ():
        if kind == b"s":
            text = raw[place]
            if not text.isdigit() or len(text) > 7 or int(text) >= len(strings):
                return None
            cell = strings[int(text)]
            if not cell.strip():
                return None
            cells[place] = cell
    return cells
