"""The XML parts of a workbook, read as a stream that can neither swell nor reach outside."""

import re
from collections.abc import Callable
from xml.parsers import expat

from dashboard.readers.binary.archive import Archive
from dashboard.readers.columns.table_columns import MAX_TEXT
from dashboard.readers.refusal import FileError, plain, quoted
from dashboard.readers.sheets.xlsx_rows import PlainPieces
from dashboard.readers.sheets.xlsx_texts import MAX_CELL, plain_texts

_STEP = 1 << 18
_MAX_SILENT = 4
_MAX_DEPTH = 64
_MAX_NAMES = 5_000
_ELEMENTS_EACH, _SPARE_ELEMENTS = 16, 500_000
_MAX_STRINGS = 500_000
_MAX_STYLES = 100_000
_MAX_CHARACTERS = 32 << 20
_WANTED = "a workbook as a spreadsheet program saves it"
_DATE = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_STRING = b"<si><t>", b"</t></si>"
_KEPT_SPACE = b'<si><t xml:space="preserve">'
Attributes = dict[str, str]

XML = (".xml", ".rels")
"""Endings of the parts that are read, whose sizes are bounded together."""


class Work:
    """What it took to read the parts of a workbook so far, which is bounded for all together.

    Notes
    -----
    Nanoseconds as measured on one computer; what is counted is the same on all.
    """

    most = 1_300_000_000
    byte, element, cell, row = 5, 1500, 300, 300
    formula, date, make, again, mixed = 300, 1600, 2500, 300, 1200

    def __init__(self) -> None:
        self.spent = 0

    def add(self, nanoseconds: int, place: str) -> None:
        """Add some work, and refuse more than all of it may be."""
        self.spent += nanoseconds
        if self.spent > self.most:
            raise FileError(
                place,
                "more cells, texts, formulas and marks than are read",
                "about 2,000,000 cells of plain numbers, or half as many with formulas or texts; as"
                " .csv or .parquet more",
            )


class Part:
    """Walks the elements of one part, known by their names without a prefix.

    Notes
    -----
    Document types, and with them all entities, are refused, and the text is UTF-8 whatever it
    says of itself. Expat keeps every name, every open element and every unfinished piece in
    memory, so all three are bounded.
    """

    def __init__(self, archive: Archive, name: str, work: Work) -> None:
        self.name = name
        self.archive = archive
        self.work = work
        self.start: dict[str, Callable[[Attributes], None]] = {}
        self.end: dict[str, Callable[[], None]] = {}
        self.text: list[str] = []
        self.n_text = self.depth = self.silent = self.elements = self.values = 0
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse_type

    def read(self) -> None:
        """Walk the whole part."""
        if self.name not in self.archive.members or not self.name.endswith(XML):
            raise FileError("workbook", f"no part {quoted(self.name, 60)}", _WANTED)
        try:
            for piece in self.archive.pieces(self.name):
                self.work.add(Work.byte * len(piece), self.place())
                for at in range(0, len(piece), _STEP):
                    self.feed(bytes(piece[at : at + _STEP]))
            self.close()
        except expat.ExpatError as error:
            # Where it stands the parser does not know of a sheet whose rows are cut out before it.
            problem = plain(expat.ErrorString(error.code) or "", 80)
            raise self.refused(f"damaged XML ({problem})") from error
        finally:
            # The parser holds methods of this object, and it the parser.
            self.start.clear()
            self.end.clear()
            del self.parser

    def feed(self, piece: bytes) -> None:
        """Walk a piece."""
        self.silent += 1
        before = self.elements
        self.parser.Parse(piece, False)  # noqa: FBT003 - expat takes it by place
        self.work.add(Work.element * (self.elements - before), self.place())
        if self.silent > _MAX_SILENT or len(self.parser.intern) > _MAX_NAMES:
            raise self.refused("one very long piece, or thousands of names")

    def close(self) -> None:
        """Walk to the end."""
        self.parser.Parse(b"", True)  # noqa: FBT003 - as above

    def refused(self, found: str, wanted: str = _WANTED) -> FileError:
        """Refuse the part by its name."""
        return FileError(f"part {quoted(self.name, 60)}", found, wanted)

    def place(self) -> str:
        """Say how far it was read."""
        return f"part {quoted(self.name, 60)}"

    def collect(self, _: Attributes) -> None:
        """Keep the text from here on."""
        self.text = []
        self.parser.CharacterDataHandler = self._keep

    def collected(self) -> str:
        """Give the text kept, and keep no more."""
        self.parser.CharacterDataHandler = None
        return "".join(self.text)

    def _start(self, name: str, attributes: Attributes) -> None:
        self.silent = 0
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.refused("elements nested too deeply")
        self.elements += 1
        if self.elements > _ELEMENTS_EACH * self.values + _SPARE_ELEMENTS:
            raise self.refused("hundreds of thousands of elements without a value")
        handler = self.start.get(name) or self.start.get(name.rpartition(":")[2])
        if handler is not None:
            handler(attributes)

    def _end(self, name: str) -> None:
        self.depth -= 1
        handler = self.end.get(name) or self.end.get(name.rpartition(":")[2])
        if handler is not None:
            handler()

    def _keep(self, text: str) -> None:
        self.silent = 0
        self.n_text += len(text)
        if self.n_text > MAX_CELL:
            raise self.refused(f"a cell of more than {MAX_CELL:,} characters", "shorter texts")
        self.text.append(text)

    def _refuse_type(self, *_: object) -> None:
        raise self.refused("a document type, with which entities are declared")


class Texts(Part):
    """Texts that may be parts of different formats, without their pronunciation."""

    def __init__(self, archive: Archive, name: str, work: Work) -> None:
        super().__init__(archive, name, work)
        self.parts: list[str] = []
        self.spoken = False
        self.start |= {"t": self.collect, "rPh": self._begin_spoken}
        self.end |= {"t": self._end_text, "rPh": self._end_spoken}

    def begin_parts(self) -> None:
        """Begin another text."""
        self.parts = []
        self.n_text = 0

    def _end_text(self) -> None:
        text = self.collected()
        self.n_text += 1
        if text and not self.spoken:
            self.parts.append(text)
        if self.n_text > MAX_CELL:
            raise self.refused("a text of thousands of parts", "shorter texts")

    def _begin_spoken(self, _: Attributes) -> None:
        self.spoken = True

    def _end_spoken(self) -> None:
        self.spoken = False


class Strings(Texts):
    """The texts that cells refer to by number."""

    def __init__(self, archive: Archive, name: str, work: Work) -> None:
        super().__init__(archive, name, work)
        self.strings: list[str] = []
        self.n_characters = 0
        self.plain = PlainPieces(b"</si>")
        self.start["si"] = self._begin_string
        self.end["si"] = self._end_string

    def feed(self, piece: bytes) -> None:
        """Walk a piece, taking what texts can be taken as they stand."""
        for whole, part in self.plain.parts(piece):
            begin = part.find(_STRING[0]) if whole else -1
            texts = _plain_strings(part[begin:]) if begin >= 0 else None
            if texts is None:
                super().feed(part)
                continue
            if begin:
                super().feed(part[:begin])
            if self.depth != 1:
                super().feed(part[begin:])
                continue
            self.silent = 0
            self.work.add(Work.cell * len(texts), self.place())
            self._keep_strings(texts)

    def close(self) -> None:
        """Walk what was waiting for the end of a text."""
        super().feed(self.plain.rest)
        super().close()

    def _begin_string(self, _: Attributes) -> None:
        self.begin_parts()

    def _end_string(self) -> None:
        self._keep_strings(["".join(self.parts)])

    def _keep_strings(self, texts: list[str]) -> None:
        texts = [text[: MAX_TEXT + 1] for text in texts]
        self.n_characters += sum(map(len, texts))
        self.strings += texts
        self.values += len(texts)
        if len(self.strings) > _MAX_STRINGS or self.n_characters > _MAX_CHARACTERS:
            raise self.refused("more texts than can be kept, too large", "fewer texts")


def _plain_strings(block: bytes) -> list[str] | None:
    """Read texts without formats that follow each other at once, or nothing where some are not."""
    head, tail = _STRING
    bare = block.replace(_KEPT_SPACE, head)
    if b"\0" in bare or not (bare.startswith(head) and bare.endswith(tail)):
        return None
    joined = bare[len(head) : -len(tail)].replace(tail + head, b"\0") + b"\0"
    return None if b"<" in joined else plain_texts(joined)


class Styles(Part):
    """Which formats of cells show a number as a date."""

    def __init__(self, archive: Archive, name: str, work: Work) -> None:
        super().__init__(archive, name, work)
        self.dates = set(map(str, _DATES))
        self.styles: list[str] = []
        self.in_cells = False
        self.n_styles = 0
        self.start |= {"numFmt": self._format, "cellXfs": self._begin_cells, "xf": self._style}
        self.end["cellXfs"] = self._end_cells

    @property
    def of_dates(self) -> set[str]:
        """Numbers of the styles that show a date, as cells name them."""
        return {str(k) for k, number in enumerate(self.styles) if number in self.dates}

    def _format(self, attributes: Attributes) -> None:
        code = _DATE.sub("", attributes.get("formatCode", "")[:1000].lower())
        if re.search("[ymdhs]", code) and "general" not in code:
            self.dates.add(attributes.get("numFmtId", "")[:9])
        self._check()

    def _style(self, attributes: Attributes) -> None:
        if self.in_cells:
            self.styles.append(attributes.get("numFmtId", ""))
        self._check()

    def _check(self) -> None:
        self.n_styles += 1
        if self.n_styles > _MAX_STYLES:
            raise self.refused("more styles than a spreadsheet program allows", "fewer styles")

    def _begin_cells(self, _: Attributes) -> None:
        self.in_cells = True

    def _end_cells(self) -> None:
        self.in_cells = False


class Named(Part):
    """Elements of which only their attributes count, such as a workbook's sheets."""

    def __init__(self, archive: Archive, name: str, work: Work, element: str) -> None:
        super().__init__(archive, name, work)
        self.found: list[Attributes] = []
        self.start[element] = self._take

    def _take(self, attributes: Attributes) -> None:
        self.found.append({key.rpartition(":")[2]: value for key, value in attributes.items()})
        if len(self.found) > _MAX_NAMES:
            raise self.refused("thousands of sheets or parts", "one sheet, or one a set")
