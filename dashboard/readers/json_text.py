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

from dashboard.readers.headings import LABELS, key_of
from dashboard.readers.json_rows import Growing, ListRows, Records, Values, started
from dashboard.readers.refusal import FileError, plain, quoted
from dashboard.readers.unicode_text import as_utf8

_MAX_DEPTH = 8
_MAX_NODES = 64
_MAX_MEMBERS = 1_000_000
_MAX_SINGLE = 1000
_MAX_PIECE = 4 << 20
_MAX_ROW = 1 << 16
_WANTED = "logits and labels, or one record a row"

_STRING = rb'"(?:[^"\\\x00-\x1f]++|\\.)*+"'
_SCALAR = rb'[^][{},:"\s]++'
_FLAT = rb'\[(?:[^][{}"]++|' + _STRING + rb")*+\]"
_INNER = rb'\{(?:[^][{}"]++|' + _STRING + b"|" + _FLAT + rb")*+\}"
_LISTED = rb"\[\s*+" + _INNER + rb"(?:\s*+,\s*+" + _INNER + rb")*+\s*+\]"
_BATCHED = rb"\[\s*+" + _LISTED + rb"\s*+\]"
_RECORD = rb'\{(?:[^][{}"]++|' + b"|".join([_STRING, _FLAT, _INNER, _LISTED, _BATCHED]) + rb")*+\}"
_ELEMENT = b"|".join([_SCALAR, _STRING, _FLAT, _LISTED, _RECORD])
_PAIR = _STRING + rb"\s*+:\s*+(?:" + _SCALAR + b"|" + _STRING + b")"
_ROW_UNDER_NAME = _STRING + rb"\s*+:\s*+" + _RECORD
_SPACE = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(b"(" + _STRING + rb")\s*+:", re.DOTALL)
_ROW = b"|".join([_FLAT, _LISTED, _RECORD])
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
_NAMED_ROWS = _Steps(_ROW_UNDER_NAME, _AFTER)
_FIELD = rb'\{(?:[^][{}"]++|' + b"|".join([_STRING, _FLAT, _INNER]) + rb")*+\}"
_FIELDS = rb"\[\s*+" + _FIELD + rb"(?:\s*+,\s*+" + _FIELD + rb")*+\s*+\]"
_TOLD = rb'\{(?:[^][{}"]++|' + b"|".join([_STRING, _FLAT, _FIELDS]) + rb")*+\}"
_SCHEMA = re.compile(rb'"schema"\s*+:\s*+(' + _TOLD + rb")\s*+,", re.DOTALL)
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
    data = walker.data
    if _LINES.match(data, walker.at):
        return walker.lines()
    node = walker.value(0)
    if walker.skip() in (b"{", b"[") and data.count(b"\n", 0, walker.at):
        found = "JSON lines whose records hold lists of objects, or objects within objects"
        raise FileError("line 1", found, "records of numbers, texts and lists of numbers")
    if walker.at < len(data):
        raise walker.malformed("more after its end")
    return node


class _Names:
    """Names of the members of an object, kept only where they do not count up from 0."""

    def __init__(self) -> None:
        self.n_counted = 0
        self.seen: set[str] | None = None

    def add(self, names: list[str]) -> None:
        """Add names, none of which may stand twice."""
        if self.seen is None:
            further = self.n_counted + len(names)
            if names == [str(k) for k in range(self.n_counted, further)]:
                self.n_counted = further
                return
            self.seen = {str(k) for k in range(min(self.n_counted, _MAX_MEMBERS + 1))}
        if len(self.seen) + len(names) > _MAX_MEMBERS:
            raise FileError("object", "too many members", "lists for rows")
        if len({*names}) < len(names) or not self.seen.isdisjoint(names):
            twice = next(n for k, n in enumerate(names) if n in self.seen or n in names[:k])
            raise FileError("object", f"member {quoted(twice, 40)} twice", "each member once")
        self.seen.update(names)


class _Walker:
    def __init__(self, data: bytes) -> None:
        data, _ = as_utf8(data)
        if b"\x00" in data[:4]:
            found = "NUL bytes (binary, or UTF-16 text without its byte order mark)"
            raise FileError("file", found, "JSON in UTF-8")
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
        if depth == 0:
            self._pass_schema()
            if self._holds_rows():
                return self._rows_under_names()
        values, names, digest = Values(), _Names(), blake2b()
        nodes: dict[str, Node] = {}
        single: list[str] = []
        step = 0
        while self._more(b"}"):
            piece, step = self._piece(_PAIRS, step)
            if piece is None:
                name = self._key()
                names.add([name])
                nodes[name] = self.value(depth + 1)
                self._end_value(b"}")
                continue
            pairs = self._decoded(b"{" + piece + b"}", _PAIR_DECODER)
            values.take([value for _, value in pairs])
            keys = [key for key, _ in pairs]
            names.add(keys)
            single += keys[: _MAX_SINGLE - len(single)]
            digest.update("".join(map(repr, keys)).encode())
        if nodes:
            return Members(nodes, tuple(single))
        return Indexed(digest.digest(), values)

    def _pass_schema(self) -> None:
        """Step over what pandas says of its columns with orient="table"."""
        self.skip()
        match = _SCHEMA.match(self.data, self.at)
        if match and len(match[1]) <= _MAX_PIECE:
            self._decoded(match[1], _DECODER)
            self.at = match.end()

    def _holds_rows(self) -> bool:
        """Tell an object a row, under the name or the number of the row, by the first two."""
        start = self.at
        step = len(_NAMED_ROWS.patterns) - 1
        first, _ = self._piece(_NAMED_ROWS, step)
        second = None if first is None else self._piece(_NAMED_ROWS, step)[0]
        self.at, self.comma = start, False
        if first is None or second is None or len(first) + len(second) > _MAX_ROW:
            return False
        two = self._decoded(b"{" + first + b"," + second + b"}", _DECODER)
        (one, row), (other, below) = two.items()
        heads = {key_of(key) for key in row}
        if row.keys() != below.keys() or all(map(str.isdigit, row)):
            return False
        named = bool(heads & LABELS) and not {key_of(one), key_of(other)} & LABELS
        numbered = one.isdigit() and other.isdigit()
        return numbered or (named and not any(isinstance(v, list) for v in row.values()))

    def _rows_under_names(self) -> Node:
        """Read an object a row; its name is a column unless one is called so."""
        grown, names, index, step = Records(), _Names(), Values(), 0
        while self._more(b"}"):
            piece, step = self._piece(_NAMED_ROWS, step)
            if piece is None:
                found = "what is no record under a name, as the rows above it are"
                raise FileError(f"row {len(grown) + 1:,}", found, _WANTED)
            rows = self._decoded(b"{" + piece + b"}", _DECODER, len(grown))
            names.add(list(rows))
            index.take(list(rows))
            grown.take(list(rows.values()))
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
        named = piece.startswith(b"{")
        parts = (_NAMED_ROWS if named else _ELEMENTS).element
        for element in parts.finditer(piece, 1, len(piece) - 1):
            try:
                _load(b"{" + element[0] + b"}" if named else element[0], decoder)
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
    text = piece.decode("utf-8")
    n_colons = piece.count(b":")
    if decoder is not _DECODER or not n_colons or n_colons != piece.count(b'":'):
        return decoder.decode(text)
    found = _PLAIN_DECODER.decode(text)
    # Where every colon ends a name, as many members as colons means that none stands twice.
    alike = isinstance(found, list) and {*map(type, found)} == {dict}
    n_members = sum(map(len, found)) if alike else 0
    return found if n_members == n_colons else decoder.decode(text)


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a record, in which no key may stand twice."""
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = next(key for k, (key, _) in enumerate(pairs) if key in dict(pairs[:k]))
        raise ValueError(f"member {quoted(twice, 30)} twice")
    return record


_DECODER = json.JSONDecoder(object_pairs_hook=_record)
_PLAIN_DECODER = json.JSONDecoder()
_PAIR_DECODER = json.JSONDecoder(object_pairs_hook=list)
