"""JSON read in pieces: what holds rows becomes columns of numbers at once, never Python lists.

The brackets are walked here, to a small depth. Only pieces without deeper nesting, such as a few
hundred rows, are given to a parser, so that neither its recursion nor the weight of its numbers
can grow with the file. Behind such a piece, blocks of rows that are like it are decoded at once.
"""

import codecs
import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dashboard.readers.columns.growing import shared_room
from dashboard.readers.columns.headings import LABELS, key_of
from dashboard.readers.json_files.json_blocks import CONTAINERS, Blocks, decoded, decoded_lines
from dashboard.readers.json_files.json_names import Names
from dashboard.readers.json_files.json_parser import DECODER, PAIR_DECODER, load, said
from dashboard.readers.json_files.json_pieces import (
    ELEMENTS,
    KEY,
    LINES,
    NAMED_ROWS,
    PAIRS,
    ROWS,
    SCHEMA,
    SPACE,
    Steps,
)
from dashboard.readers.json_files.json_rows import Growing, ListRows, Records, Values, started
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.text.unicode_text import as_utf8

_MAX_DEPTH, _MAX_NODES = 8, 64
_MAX_SINGLE = 1000
_MAX_NAMED = 20_000
_MAX_PIECE = 4 << 20
_MAX_ROW = 1 << 18
_MAX_WALKED = 30_000_000
_BYTE, _ROW, _NAMED, _VALUE = 9, 450, 300, 35
_MOST_WORK = 1_500_000_000
"""Nanoseconds, as measured on one computer."""

_WANTED = "logits and labels, or one record a row"


@dataclass(frozen=True, eq=False)
class Indexed:
    """An object of single values only, as pandas writes a column with its index.

    Parameters
    ----------
    digest, names
        Of the keys in their order, and the first of them.
    """

    digest: bytes
    names: tuple[str, ...]
    values: Values


@dataclass(frozen=True, eq=False)
class Members:
    """An object that holds others: those by name, and the names of its single values."""

    nodes: dict[str, "Node"]
    single: tuple[str, ...]


Node = Members | Indexed | Growing | list["Node"]
"""What a value became; a list of nodes where rows are nested deeper."""


def parse(data: bytes) -> Node:
    """Walk one JSON value, or JSON lines.

    Raises
    ------
    FileError
        Anything that is not JSON, keys that stand twice, or values nested too deeply.
    """
    with _uncollected(), shared_room():
        return _parsed(_Walker(data))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python from looking for cycles among rows, which have none: it takes half the time."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()


def _parsed(walker: "_Walker") -> Node:
    data = walker.data
    if LINES.match(data, walker.at, walker.at + _MAX_PIECE):
        return walker.lines()
    node = walker.value(0)
    if walker.skip() in (b"{", b"[") and data.count(b"\n", 0, walker.at):
        found = "JSON lines whose records hold lists of objects, or objects within objects"
        raise FileError("line 1", found, "records of numbers, texts and lists of numbers")
    if walker.at < len(data):
        raise walker.malformed("more after its end")
    return node


class _Walker:
    def __init__(self, data: bytes) -> None:
        data, _ = as_utf8(data)
        if b"\x00" in data[:4]:
            found = "NUL bytes (binary, or UTF-16 text without its byte order mark)"
            raise FileError("file", found, "JSON in UTF-8")
        self.data = data
        self.at = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        self.comma = False
        self.blocks = Blocks(data)
        self.n_walked = 0
        self.work = _BYTE * len(data)

    def malformed(self, problem: str) -> FileError:
        """Refuse what is not JSON, with the line it stands in."""
        line = self.data.count(b"\n", 0, self.at) + 1
        found = f"text that is not JSON ({problem})"
        return FileError(f"line {line:,}", found, _WANTED)

    def skip(self) -> bytes:
        """Go to the next character that is no space, and give it."""
        space = SPACE.match(self.data, self.at)
        self.at = space.end() if space else self.at
        return self.data[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        """Walk a list or an object."""
        start = self.skip()
        if depth > _MAX_DEPTH:
            raise FileError("file", f"JSON nested more than {_MAX_DEPTH} deep", _WANTED)
        if start not in (b"[", b"{"):
            found = quoted(start.decode("latin-1")) if start else "its end"
            raise self.malformed(f"{found} where a list or an object should begin")
        self.at += 1
        self.comma = False
        return self._list(depth) if start == b"[" else self._object(depth)

    def lines(self) -> Node:
        """Read one value a line."""
        grown: Growing | None = None
        step = 0
        while self.skip():
            if grown is not None and self._took_lines(grown):
                continue
            piece, step = self._piece(ROWS, step)
            if piece is None:
                row = (0 if grown is None else len(grown)) + 1
                raise FileError(f"row {row:,}", "what is neither a record nor a list", _WANTED)
            grown = self._grow(grown, b",".join(ROWS.element.findall(piece)))
        if grown is None:
            raise self.malformed("its end")
        return grown

    def _list(self, depth: int) -> Node:
        grown: Growing | None = None
        nodes: list[Node] = []
        step = 0
        while self._more(b"]"):
            if grown is not None and self._took_elements(grown):
                continue
            piece, step = self._piece(ELEMENTS, step)
            if piece is not None:
                grown = self._grow(grown, piece)
                continue
            nodes.append(self.value(depth + 1))
            self._end_value(b"]")
            if len(nodes) > _MAX_NODES:
                raise FileError(f"row {len(nodes)}", "lists nested too deeply", _WANTED)
        if grown is None:
            return nodes
        if not nodes:
            return grown
        if not isinstance(grown, ListRows) or len(grown) > _MAX_NODES:
            raise FileError("list", "single values and rows among deeper lists", _WANTED)
        return [*nodes, *grown.rows()]

    def _object(self, depth: int) -> Node:
        if depth == 0:
            self._pass_schema()
            if self._holds_rows():
                return self._rows_under_names()
        values, names = Values(), Names()
        nodes: dict[str, Node] = {}
        single: list[str] = []
        step = 0
        while self._more(b"}"):
            keys, found, step = self._pairs(step, further=len(values) > 0)
            if not keys:
                name = self._key()
                names.add([name])
                nodes[name] = self.value(depth + 1)
                self._end_value(b"}")
                if len(nodes) > _MAX_NAMED:
                    raise FileError(
                        "file", f"more than {_MAX_NAMED:,} lists or objects by name",
                        f"{_WANTED}; of rows by name, a list of records",
                    )  # fmt: skip
                continue
            self._work(len(keys), _NAMED)
            values.take(found)
            names.add(keys)
            single += keys[: _MAX_SINGLE - len(single)]
        if nodes:
            return Members(nodes, tuple(single))
        return Indexed(names.digest(), tuple(single), values)

    def _pairs(self, step: int, *, further: bool) -> tuple[list[str], list[Any], int]:
        """Decode some single values with their names, of which there may be none here."""
        end = self.blocks.values(self.at) if further else 0
        found = decoded(b"{" + self._block(end) + b"}") if end else None
        if found and CONTAINERS.isdisjoint(map(type, found.values())):
            self._over(end)
            return list(found), list(found.values()), step
        self.blocks.leave(end)
        piece, step = self._piece(PAIRS, step)
        pairs = [] if piece is None else self._decoded(b"{" + piece + b"}", PAIR_DECODER)
        return [key for key, _ in pairs], [value for _, value in pairs], step

    def _pass_schema(self) -> None:
        """Step over what pandas says of its columns with orient="table"."""
        self.skip()
        match = SCHEMA.match(self.data, self.at)
        if match and len(match[1]) <= _MAX_PIECE:
            self._decoded(match[1], DECODER)
            self.at = match.end()

    def _holds_rows(self) -> bool:
        """Tell an object a row, under the name or the number of the row, by the first two."""
        start = self.at
        step = len(NAMED_ROWS.patterns) - 1
        first, _ = self._piece(NAMED_ROWS, step)
        second = None if first is None else self._piece(NAMED_ROWS, step)[0]
        self.at, self.comma = start, False
        if first is None or second is None or len(first) + len(second) > _MAX_ROW:
            return False
        two = self._decoded(b"{" + first + b"," + second + b"}", DECODER)
        (one, row), (other, below) = two.items()
        heads = {key_of(key) for key in row}
        lists = any(isinstance(v, list) for key, v in row.items() if key_of(key) in LABELS)
        if row.keys() != below.keys() or all(map(str.isdigit, row)):
            return False
        named = bool(heads & LABELS) and not {key_of(one), key_of(other)} & LABELS
        numbered = one.isdigit() and other.isdigit()
        return numbered or (named and not lists)

    def _rows_under_names(self) -> Node:
        """Read an object a row; its name is a column unless one is called so."""
        grown, names, index, step = Records(), Names(), Values(), 0
        while self._more(b"}"):
            end = self.blocks.rows_under_names(self.at) if len(grown) else 0
            rows = decoded(b"{" + self._block(end) + b"}") if end else None
            if rows:
                self._over(end)
            else:
                self.blocks.leave(end)
                piece, step = self._piece(NAMED_ROWS, step)
                if piece is None:
                    found = "what is no record under a name, as the rows above it are"
                    raise FileError(f"row {len(grown) + 1:,}", found, _WANTED)
                rows = self._decoded(b"{" + piece + b"}", DECODER, len(grown))
            self._work(len(rows), _ROW)
            names.add(list(rows))
            if names.seen is not None:
                index.take(list(map(str, range(len(index), len(grown)))))
                index.take(list(rows))
            grown.take(list(rows.values()))
        if names.seen is None:
            index.numbers.add(np.arange(len(grown), dtype=np.float64))
        grown.fields.setdefault("index", index)
        return grown

    def _more(self, close: bytes) -> bool:
        """Tell whether an element follows, and step over the bracket if none does."""
        if self.skip() != close:
            return True
        if self.comma:
            raise self.malformed("a comma before a closing bracket")
        self.at += 1
        return False

    def _end_value(self, close: bytes) -> None:
        """Step over the comma after a value."""
        after = self.skip()
        if after not in (b",", close):
            raise self.malformed("a comma or bracket is missing" if after else "its end")
        self.comma = after == b","
        self.at += self.comma

    def _took_elements(self, grown: Growing) -> bool:
        """Add a block of elements, if all in it is plain."""
        if len(grown) <= _MAX_NODES:
            return False
        end = self.blocks.elements(self.at)
        if isinstance(grown, ListRows) and grown.take_text(self._block(end), b"],["):
            return self._over(end)
        items = decoded(b"[" + self._block(end) + b"]") if end else None
        if items:
            self._work(len(items), _ROW if type(items[0]) in CONTAINERS else _VALUE)
            grown.take(items)
        return self._over(end) if items else self.blocks.leave(end)

    def _took_lines(self, grown: Growing) -> bool:
        """Add a block of lines, if all in it is plain."""
        end = self.blocks.lines(self.at)
        block = self.data[self.at : end].rstrip(b"\r\n")
        if isinstance(grown, ListRows) and grown.take_text(block, b"]\n["):
            return self._over(end)
        items = decoded_lines(block)
        if items:
            self._work(len(items), _ROW)
            grown.take(items)
        return self._over(end) if items else self.blocks.leave(end)

    def _block(self, end: int) -> bytes:
        """Give what stands before the comma at the end of a block."""
        block = self.data[self.at : end].rstrip(b" \t\r\n")
        return block[:-1] if block.endswith(b",") else b""

    def _over(self, end: int) -> Literal[True]:
        """Step over a block and the comma that ends it."""
        self.at, self.comma = end, True
        return True

    def _piece(self, steps: Steps, step: int) -> tuple[bytes | None, int]:
        """Cut off some elements without deeper nesting, as many as make a piece."""
        for place in range(step, len(steps.patterns)):
            match = steps.patterns[place].match(self.data, self.at)
            if match is None:
                return None, step
            if match.end() - self.at <= _MAX_PIECE:
                self._count(match.end() - self.at)
                self.at = match.end()
                piece = match[0].rstrip()
                self.comma = piece.endswith(b",")
                return piece.removesuffix(b","), place
        return None, step

    def _count(self, size: int) -> None:
        """Bound what is walked, which takes three times as long as what is decoded in blocks."""
        self.n_walked += size
        if self.n_walked > _MAX_WALKED and len(self.data) + 2 * self.n_walked > 3 * _MAX_WALKED:
            raise FileError(
                "file",
                f"{len(self.data):,} bytes of JSON, of which {self.n_walked:,} so far have what is"
                " not plain in it, such as NaN",
                f"null for a missing number, or at most {_MAX_WALKED:,} bytes of such text",
            )

    def _work(self, count: int, each: int) -> None:
        """Count what rows take beside their bytes, and refuse more than is read."""
        self.work += count * each
        if self.work > _MOST_WORK:
            found = f"{len(self.data):,} bytes of JSON with more rows than are read of so much text"
            raise FileError("file", found, "fewer rows, or .npz or .parquet")

    def _key(self) -> str:
        match = KEY.match(self.data, self.at)
        if match is None or len(match[1]) > _MAX_PIECE:
            raise self.malformed("a name in quotes is missing")
        self.at = match.end()
        return str(self._decoded(match[1], DECODER))

    def _grow(self, grown: Growing | None, piece: bytes) -> Growing:
        """Add the elements of a piece to those before."""
        items = self._decoded(b"[" + piece + b"]", DECODER, 0 if grown is None else len(grown))
        grown = started(items[0]) if grown is None else grown
        grown.take(items)
        return grown

    def _decoded(self, piece: bytes, decoder: json.JSONDecoder, n_before: int = 0) -> Any:
        """Give a piece to Python's parser, and name the row if it will not have it."""
        try:
            return load(piece, decoder)
        except ValueError as error:
            problem = error
        row = n_before + 1
        named = piece.startswith(b"{")
        parts = (NAMED_ROWS if named else ELEMENTS).element
        for element in parts.finditer(piece, 1, len(piece) - 1):
            try:
                load(b"{" + element[0] + b"}" if named else element[0], decoder)
            except ValueError as error:
                problem = error
                break
            row += 1
        raise FileError(f"row {row:,}", f"text that is not JSON ({said(problem)})", _WANTED)
