"""Rows of plain cells, nearly all of a sheet, cut from its bytes without an XML parser.

What stands between the values of a row is compared as a whole with that of rows before it, so that
each make of row is looked at once; the values are decoded many at a time. Whatever is not plain is
left to the parser, which alone says what is wrong.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

import orjson

from dashboard.readers.columns.growing import Cell
from dashboard.readers.sheets.xlsx_texts import plain_texts

END = b"</row>"
VALUE, _ROW_NUMBER, _AROUND = b"\1", b"\2", b"\3"
_SIGNS = b"\0\1\2\3"
"""What ends a value, and stands for one, for the row's number and around a text within a cell.

None of them may stand in XML.
"""

_NAME = rb"[A-Za-z][A-Za-z0-9:]{0,20}"
_SPACE = rb"[ \t\r\n]*+"
_ATTRIBUTE = rb"[ ]++" + _NAME + rb'="[\x02 !#-%\'-;=-~]{0,40}"'
_CODE = rb"[ -%'-;=-~]{0,8192}+"
_FORMULA = re.compile(
    rb'<f(?: [a-z]{1,4}="[^"<&]{0,40}"){0,6}+'
    rb"(?:/>|>" + _CODE + rb"(?:&(?:amp|lt|gt|quot|apos);" + _CODE + rb"){0,512}+</f>)(?=<v>)"
)
_INLINE = b"<is><t>", b"</t></is>"
_KEPT_SPACE = b'<is><t xml:space="preserve">'
_ROW = re.compile(_SPACE + rb"<row((?:" + _ATTRIBUTE + rb"){0,12}+)[ ]*+>" + _SPACE)
_CELL = re.compile(rb"<c((?:" + _ATTRIBUTE + rb"){0,8}+)[ ]*+(?:/>|>(\x01?)</c>)" + _SPACE)
_PAIR = re.compile(rb"(" + _NAME + rb')="([^"]*+)"')
_PLACE = re.compile(rb"([A-Z]{1,3})\x02")
_NUMBERS = b"0123456789.eE+-\0"
_WHOLE = 10**15
"""Whole numbers below this are taken for such."""

_LONGEST = 1 << 20
_MOST_SHAPES = 2000
_NUMBER, _TEXT, _SHARED, _DATE = b"ntsd"
_KINDS = {
    b"n": _NUMBER, b"b": _NUMBER, b"s": _SHARED, b"str": _TEXT, b"inlineStr": _TEXT, b"d": _TEXT,
}  # fmt: skip
"""What the types of cells are read as."""


class PlainPieces:
    """Cuts whole elements of a kind, such as rows, out of XML that comes in pieces.

    Parameters
    ----------
    end : bytes
        The tag that ends such an element.

    Notes
    -----
    A tag cannot begin within an attribute or a text, so what looks like an element between two of
    its kind is one, unless it stands in a comment or in character data: after either, or an element
    that is too long to be waited for, nothing is cut out any more.
    """

    def __init__(self, end: bytes) -> None:
        self.end = end
        self.rest = b""
        self.on = True
        self.prologue = 4  # within which a part may begin with its declaration

    def parts(self, piece: bytes) -> Iterator[tuple[bool, bytes]]:
        """Give some elements up to the end of one, or what is for the XML parser in any case."""
        data = self.rest + piece
        self.rest = b""
        if (b"!" in data and b"<!" in data) or (b"]" in data and b"]]>" in data):
            self.on = False
        if b"?" in data and data.find(b"<?", self.prologue) >= 0:
            self.on = False
        end = data.rfind(self.end) + len(self.end) if self.on else 0
        if end >= len(self.end) > 0:
            self.prologue = 0
            yield True, data[:end]
            data = data[end:]
        self.on = self.on and len(data) <= _LONGEST
        if self.on:
            self.rest = data
        elif data:
            yield False, data


@dataclass(frozen=True)
class Block:
    """Some rows of a sheet.

    Parameters
    ----------
    rows, makes : list of bytes
        Each row as it stands there, and with a sign in place of each value and no formulas.
    values : list of bytes
        Of all rows, each followed by a NUL.
    """

    rows: list[bytes]
    makes: list[bytes]
    values: list[bytes]


def parted(text: bytes) -> Block | None:
    r"""Part rows from their values, or nothing where that cannot be done at sight.

    Examples
    --------
    >>> block = parted(b"<row><c><v>1</v></c><c><f>A1</f><v>2</v></c></row>")
    >>> block.makes, block.values
    ([b'<row><c>\x01</c><c>\x01</c>'], [b'1\x00', b'2\x00'])
    """
    if len(text.translate(None, _SIGNS)) < len(text):
        return None
    bare = _FORMULA.sub(b"", text) if b"<f" in text else text
    if b"<is>" in bare:
        bare = bare.replace(_KEPT_SPACE, _INLINE[0])
        bare = bare.replace(_INLINE[0], b"<v>" + _AROUND).replace(_INLINE[1], _AROUND + b"</v>")
    pieces = bare.replace(b"</v>", b"\0<v>").split(b"<v>")
    values, makes = pieces[1::2], VALUE.join(pieces[::2])
    joined = b"".join(values)
    if len(pieces) % 2 == 0 or b"\0" in makes or b"<" in joined:
        return None
    block = Block(text.split(END)[:-1], makes.split(END)[:-1], values)
    fits = joined.count(b"\0") == len(values) and len(block.rows) == len(block.makes)
    return block if fits else None


@dataclass(frozen=True)
class Shape:
    """What the cells of a row are, whatever they hold.

    Parameters
    ----------
    places : tuple of int
        The columns that have a value, in their order.
    kinds : bytes
        What each value is read as.
    n_blank : int
        How many columns have none, and how many cells there are without one.
    """

    places: tuple[int, ...]
    kinds: bytes
    n_blank: int

    @property
    def n_more(self) -> tuple[int, int]:
        """Count the values that are texts, and the dates."""
        n_dates = self.kinds.count(_DATE)
        return len(self.kinds) - self.kinds.count(_NUMBER) - n_dates, n_dates


class Shapes:
    """The shapes of rows by what stands between their values, each found out once.

    Parameters
    ----------
    width : int
        How many columns the table has.
    place : callable
        Counts a column from 0 by its letters.
    dates : collection of str
        The styles that show dates.
    """

    def __init__(self, width: int, place: Callable[[str], int], dates: Collection[str]) -> None:
        self.width = width
        self.place = place
        self.dates = {style.encode() for style in dates}
        self.known: dict[bytes, Shape | None] = {}
        self.latest: tuple[bytes, Shape | None] = b"", None
        self.n_looked_at = 0

    def of_all(self, makes: list[bytes], number: int) -> Shape | None:
        """Give the shape of all rows from this number on, where it is that of the latest."""
        make, shape = self.latest
        if shape is None or makes[-1] != _numbered(make, number + len(makes) - 1):
            return None
        return shape if makes == [_numbered(make, number + k) for k in range(len(makes))] else None

    def of(self, make: bytes, number: int) -> Shape | None:
        """Give the shape of the row of this number, or nothing where it is not plain."""
        # No two rows come out alike, since the sign stands for this number alone.
        make = make.replace(b'%d"' % number, _ROW_NUMBER + b'"')
        if make not in self.known:
            if len(self.known) >= _MOST_SHAPES:
                self.known.clear()
            self.n_looked_at += 1 + make.count(b"<c")
            self.known[make] = self._look_at(make)
        self.latest = make, self.known[make]
        return self.known[make]

    def _look_at(self, make: bytes) -> Shape | None:
        row = _ROW.match(make)
        if row is None or _attributes(row[1]).get(b"r", _ROW_NUMBER) != _ROW_NUMBER:
            return None
        at, column, n_blank = row.end(), -1, self.width
        places: list[int] = []
        kinds: list[int] = []
        while cell := _CELL.match(make, at):
            at = cell.end()
            found = _attributes(cell[1])
            named = _PLACE.fullmatch(found.get(b"r", b"A" + _ROW_NUMBER))
            before = column
            column = self.place(str(named[1], "ascii")) if named and b"r" in found else column + 1
            kind = _KINDS.get(found.get(b"t", b"n"))
            if named is None or kind is None or not before < column < self.width:
                return None
            if kind == _NUMBER and found.get(b"s") in self.dates:
                kind = _DATE
            if _ROW_NUMBER in found.get(b"s", b""):
                return None
            if cell[2]:
                places.append(column)
                kinds.append(kind)
            else:
                n_blank += 1
        whole = at == len(make) and len(places) > 0
        return Shape(tuple(places), bytes(kinds), n_blank - len(places)) if whole else None


def _numbered(make: bytes, number: int) -> bytes:
    return make.replace(_ROW_NUMBER, b"%d" % number)


def _attributes(text: bytes) -> dict[bytes, bytes]:
    """Give attributes by name; of one that stands twice, a value that no attribute has."""
    pairs = _PAIR.findall(text)
    found = dict(pairs)
    return found if len(found) == len(pairs) else {b"r": b"twice"}


@dataclass(frozen=True)
class Cells:
    """What cells refer to, and how they are read.

    Parameters
    ----------
    strings : sequence of str
        The texts that cells refer to by number.
    as_date : callable
        Spells a date.
    """

    strings: Sequence[str]
    as_date: Callable[[float], str]

    def columns(
        self, shapes: Sequence[Shape], values: Sequence[bytes], width: int
    ) -> list[Sequence[Cell]] | None:
        """Read all columns of some rows, or nothing where a value is not as its kind has it."""
        first = shapes[0]
        n_values = len(first.places)
        if all(shape is first for shape in shapes):
            columns: list[Sequence[Cell]] = [[None] * len(shapes)] * width
            if first.kinds == bytes([_NUMBER]) * n_values:
                found = _numbers(values)
                parts: list[Sequence[Cell]] = []
                parts += [] if found is None else [found[k::n_values] for k in range(n_values)]
            else:
                read = (self._read(k, values[j::n_values]) for j, k in enumerate(first.kinds))
                parts = [part for part in read if part is not None]
            for place, part in zip(first.places, parts, strict=False):
                columns[place] = part
            return columns if len(parts) == n_values else None
        cells = self._mixed(b"".join(shape.kinds for shape in shapes), values)
        if cells is None:
            return None
        rows: list[list[Cell]] = []
        at = 0
        for shape in shapes:
            row: list[Cell] = [None] * width
            for place, cell in zip(shape.places, cells[at : at + len(shape.places)], strict=True):
                row[place] = cell
            rows.append(row)
            at += len(shape.places)
        return list(zip(*rows, strict=True))

    def _mixed(self, kinds: bytes, values: Sequence[bytes]) -> Sequence[Cell] | None:
        """Read values of several kinds."""
        if not kinds.strip(bytes([kinds[0]])):
            return self._read(kinds[0], values)
        parts: dict[int, Iterator[Cell]] = {}
        for kind in {*kinds}:
            part = self._read(kind, list(compress(values, map(kind.__eq__, kinds))))
            if part is None:
                return None
            parts[kind] = iter(part)
        return [next(parts[kind]) for kind in kinds]

    def _read(self, kind: int, values: Sequence[bytes]) -> Sequence[Cell] | None:
        if kind == _TEXT:
            cells = plain_texts(_bare(values))
            cells = None if cells is None else [*map(str.strip, cells)]
            return None if cells is None or not all(cells) else cells
        found = _numbers(values)
        if found is None or kind == _NUMBER:
            return found
        different = {*found}
        if kind == _DATE:
            spelled = {days: self.as_date(float(days)) for days in different}
            return [spelled[days] for days in found]
        if {*map(type, different)} != {int} or max(different) >= len(self.strings):
            return None
        texts = {int(k): self.strings[int(k)] for k in different}
        blank = any(not text.strip() for text in texts.values())
        return None if blank else [texts[int(k)] for k in found]


def _bare(values: Sequence[bytes]) -> bytes:
    """Join texts, each followed by a NUL, without what stands around all of them, or none."""
    joined = b"".join(values)
    count = joined.count(_AROUND + b"\0")
    if count == len(values) == (b"\0" + joined).count(b"\0" + _AROUND):
        return joined.replace(_AROUND + b"\0", b"\0").replace(_AROUND, b"")
    return joined


def _numbers(values: Sequence[bytes]) -> list[float] | None:
    """Read numbers, as whole ones only those of few digits without a sign."""
    joined = b"".join(values)
    if joined.translate(None, _NUMBERS) or b"\0-0\0" in b"\0" + joined:
        return None
    try:
        found: list[float] = orjson.loads(b"[" + joined[:-1].replace(b"\0", b",") + b"]")
    except orjson.JSONDecodeError:
        return None
    if len(found) < len(values):
        return None
    if int not in {*map(type, found)}:
        return found
    return [n if type(n) is float or 0 <= n < _WHOLE else float(n) for n in found]
