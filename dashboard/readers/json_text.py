"""JSON read in pieces: what holds rows becomes columns of numbers at once, never Python lists.

The brackets are walked here, to a small depth. Only pieces without deeper nesting, such as a few
hundred rows, are given to Python's own parser, so that neither its recursion nor the weight of
its numbers can grow with the file.
"""

import codecs
import json
import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from dashboard.readers.json_rows import Growing, ListRows, Values, started
from dashboard.readers.refusal import FileError, plain, quoted

_MAX_DEPTH = 8
_MAX_NODES = 64
_MAX_MEMBERS = 1_000_000
_MAX_PIECE = 4 << 20
_WANTED = "logits and labels, or one record a row"

_STRING = rb'"(?:[^"\\\x00-\x1f]++|\\.)*+"'
_SCALAR = rb'[^][{},:"\s]++'
_FLAT = rb'\[(?:[^][{}"]++|' + _STRING + rb")*+\]"
_INNER = rb'\{(?:[^][{}"]++|' + _STRING + rb")*+\}"
_RECORD = rb'\{(?:[^][{}"]++|' + b"|".join([_STRING, _FLAT, _INNER]) + rb")*+\}"
_ELEMENT = b"|".join([_SCALAR, _STRING, _FLAT, _RECORD])
_PAIR = _STRING + rb"\s*+:\s*+(?:" + _SCALAR + b"|" + _STRING + b")"
_SPACE = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(b"(" + _STRING + rb")\s*+:", re.DOTALL)
_ROW = _FLAT + b"|" + _RECORD
_LINES = re.compile(rb"\s*+(?:" + _ROW + rb")[ \t\r]*+\n\s*+[\[{]", re.DOTALL)
_LONE = re.compile(
    rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]", re.DOTALL
)


class _Steps:
    """Patterns of up to so many elements in a row, each with what ends it."""

    def __init__(self, element: bytes, end: bytes) -> None:
        one = rb"\s*+(?:" + element + b")" + end
        self.patterns = [
            re.compile(b"(?:" + one + b"){1,%d}+" % most, re.DOTALL) for most in (256, 16, 1)
        ]
        self.element = re.compile(element, re.DOTALL)


_AFTER = rb"\s*+(?:,|(?=[]}]))"
_ELEMENTS = _Steps(_ELEMENT, _AFTER)
_PAIRS = _Steps(_PAIR, _AFTER)
_ROWS = _Steps(_ROW, rb"[ \t\r]*+(?:\n|\Z)")


@dataclass(frozen=True, eq=False)
class Indexed:
    """An object of single values only, as pandas writes a column with its index.

    Parameters
    ----------
    digest : bytes
        Of the keys in their order.
    """

    digest: bytes
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
    walker = _Walker(data)
    if _LINES.match(data, walker.at):
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
        if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or b"\x00" in data[:4]:
            raise FileError("file", "UTF-16 text or NUL bytes", "JSON in UTF-8")
        self.data = data
        self.at = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        self.comma = False

    def malformed(self, problem: str) -> FileError:
        """Refuse what is not JSON, with the line it stands in."""
        line = self.data.count(b"\n", 0, self.at) + 1
        found = f"text that is not JSON ({problem})"
        return FileError(f"line {line:,}", found, _WANTED)

    def skip(self) -> bytes:
        """Go to the next character that is no space, and give it."""
        space = _SPACE.match(self.data, self.at)
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
            piece, step = self._piece(_ROWS, step)
            if piece is None:
                row = (0 if grown is None else len(grown)) + 1
                raise FileError(f"row {row:,}", "what is neither a record nor a list", _WANTED)
            grown = self._grow(grown, b",".join(_ROWS.element.findall(piece)))
        if grown is None:
            raise self.malformed("its end")
        return grown

    def _list(self, depth: int) -> Node:
        grown: Growing | None = None
        nodes: list[Node] = []
        step = 0
        while self._more(b"]"):
            piece, step = self._piece(_ELEMENTS, step)
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
        values, keys, digest = Values(), dict[str, None](), blake2b()
        nodes: dict[str, Node] = {}
        step = 0
        while self._more(b"}"):
            piece, step = self._piece(_PAIRS, step)
            if piece is None:
                name = self._key()
                pairs = [(name, None)]
                nodes[name] = self.value(depth + 1)
                self._end_value(b"}")
            else:
                pairs = self._decoded(b"{" + piece + b"}", _PAIR_DECODER)
                values.take([value for _, value in pairs])
            for key, _ in pairs:
                if key in keys or len(keys) >= _MAX_MEMBERS:
                    found = f"member {quoted(key, 40)} twice" if key in keys else "too many members"
                    raise FileError("object", found, "each member once, and lists for rows")
                keys[key] = None
                digest.update(repr(key).encode())
        if nodes:
            return Members(nodes, tuple(key for key in keys if key not in nodes))
        return Indexed(digest.digest(), values)

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

    def _piece(self, steps: _Steps, step: int) -> tuple[bytes | None, int]:
        """Cut off some elements without deeper nesting, as many as make a piece."""
        for place in range(step, len(steps.patterns)):
            match = steps.patterns[place].match(self.data, self.at)
            if match is None:
                return None, step
            if match.end() - self.at <= _MAX_PIECE:
                self.at = match.end()
                piece = match[0].rstrip()
                self.comma = piece.endswith(b",")
                return piece.removesuffix(b","), place
        return None, step

    def _key(self) -> str:
        match = _KEY.match(self.data, self.at)
        if match is None or len(match[1]) > _MAX_PIECE:
            raise self.malformed("a name in quotes is missing")
        self.at = match.end()
        return str(self._decoded(match[1], _DECODER))

    def _grow(self, grown: Growing | None, piece: bytes) -> Growing:
        """Add the elements of a piece to those before."""
        items = self._decoded(b"[" + piece + b"]", _DECODER, 0 if grown is None else len(grown))
        grown = started(items[0]) if grown is None else grown
        grown.take(items)
        return grown

    def _decoded(self, piece: bytes, decoder: json.JSONDecoder, n_before: int = 0) -> Any:
        """Give a piece to Python's parser, and name the row if it will not have it."""
        try:
            return _load(piece, decoder)
        except ValueError as error:
            problem = error
        row = n_before + 1
        for element in _ELEMENTS.element.finditer(piece, 1, len(piece) - 1):
            try:
                _load(element[0], decoder)
            except ValueError as error:
                problem = error
                break
            row += 1
        raise FileError(f"row {row:,}", f"text that is not JSON ({_said(problem)})", _WANTED)


def _said(problem: ValueError) -> str:
    """Say what Python's parser found, in words of use to a reader."""
    if isinstance(problem, UnicodeDecodeError):
        return "bytes that are not UTF-8"
    if isinstance(problem, json.JSONDecodeError):
        return plain(problem.msg, 80)
    return plain(str(problem), 80) if "digits" not in str(problem) else "a number of many digits"


def _load(piece: bytes, decoder: json.JSONDecoder) -> Any:
    if b"\\u" in piece and _LONE.search(piece):
        raise ValueError("half of a surrogate pair")
    return decoder.decode(piece.decode("utf-8"))


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a record, in which no key may stand twice."""
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = next(key for k, (key, _) in enumerate(pairs) if key in dict(pairs[:k]))
        raise ValueError(f"member {quoted(twice, 30)} twice")
    return record


_DECODER = json.JSONDecoder(object_pairs_hook=_record)
_PAIR_DECODER = json.JSONDecoder(object_pairs_hook=list)
