"""Blocks of a long JSON text in which all is as it should be, decoded by orjson many times faster.

Whatever is not plain is left to be walked, which alone says what is wrong. A block that does not
end where an element ends is no JSON, so wherever it is cut, it is whole or it is left.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal

import orjson

_SIZES = (1 << 16, 1 << 20)
_SPACE = b" \t\r\n"
_NUMBERS = b"0123456789.eE+-"
_KEY = rb'"[^"\\]*+"'
_HEAD = re.compile(rb"(?:\[\s*+)*+(?:\{\s*+" + _KEY + b")?")
_HEAD_UNDER_NAME = re.compile(_KEY + rb"\s*+:\s*+(\{\s*+" + _KEY + b")")
_SPACED = re.compile(rb'"[ \t\r\n]++:')
CONTAINERS = frozenset({list, dict})
"""What single values are not."""


def decoded(text: bytes) -> Any:
    """Decode a list or an object, or nothing where it is no JSON or a member may stand twice.

    Examples
    --------
    >>> decoded(b'[{"a": 1.5}]'), decoded(b'{"a": 1, "a": 2}'), decoded(b"[NaN]")
    ([{'a': 1.5}], None, None)
    """
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if _each_once([found], text) else None


def _each_once(values: Sequence[Any], text: bytes) -> bool:
    """See that as many members were read as names, which end in a quote before a colon."""
    n_names = text.count(b'":')
    if n_names != text.count(b":"):
        n_names += len(_SPACED.findall(text))
    while n_names > 0 and values:
        alike = {*map(type, values)} == {dict}
        objects = values if alike else [value for value in values if type(value) is dict]
        n_names -= sum(map(len, objects))
        if n_names:
            inside = chain(*(value for value in values if type(value) is list))
            values = [*inside, *chain.from_iterable(map(dict.values, objects))]
    return n_names == 0


def decoded_lines(text: bytes) -> list[Any] | None:
    r"""Decode a list or an object a line, or nothing where a line is something else.

    Examples
    --------
    >>> decoded_lines(b"[1, 2]\n[3, 4]"), decoded_lines(b"[1,\n2]")
    ([[1, 2], [3, 4]], None)
    """
    try:
        found = [orjson.loads(line) for line in text.split(b"\n")]
    except orjson.JSONDecodeError:
        return None
    rows = CONTAINERS.issuperset(map(type, found)) and _each_once(found, text)
    return found if rows else None


def number_rows(block: bytes, width: int, between: bytes) -> list[float] | None:
    r"""Decode lists of so many numbers, one after another, or nothing where there is more.

    Parameters
    ----------
    block : bytes
        Lists without what encloses them.
    width : int
        How many numbers each has.
    between : bytes
        How one ends and the next begins, without space.

    Examples
    --------
    >>> number_rows(b"[1, 2], [3, 4]", 2, b"],["), number_rows(b"[1, 2], [3]", 2, b"],[")
    ([1, 2, 3, 4], None)
    >>> number_rows(b"[1, 2]\n[3, 4]", 2, b"]\n[")
    [1, 2, 3, 4]
    """
    mark = between[1:-1]
    bare = block.translate(None, _SPACE.replace(mark, b""))
    n_rows = bare.count(between) + 1
    marks = bare.translate(None, _NUMBERS)
    if marks != mark.join([b"[" + b"," * (width - 1) + b"]"] * n_rows):
        return None
    if not (bare.startswith(b"[") and bare.endswith(b"]")):
        return None
    try:
        found = orjson.loads(b"[" + block.replace(mark, b",").translate(None, b"[]") + b"]")
    except orjson.JSONDecodeError:
        return None
    return list(found)


class Blocks:
    """Finds where blocks of many elements end, up to which a text can be decoded at once.

    Each method takes the place where an element begins, and gives the place after a comma, or after
    a line, that may stand behind some of them; 0 where none is found.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.walked_to = 0

    def leave(self, end: int) -> Literal[False]:
        """Have everything up to a place walked."""
        self.walked_to = max(self.walked_to, end)
        return False

    def elements(self, at: int) -> int:
        """End before an element that begins as this one does, or at a comma where all may."""
        head = _HEAD.match(self.data, at)
        return self._last(head[0], at) if head and head[0] else self.values(at)

    def values(self, at: int) -> int:
        """End after a comma."""
        return self._last(b",", at, after=1)

    def lines(self, at: int) -> int:
        """End after a line."""
        return self._last(b"\n", at, after=1)

    def rows_under_names(self, at: int) -> int:
        """End before the name of a row that begins as this one does."""
        head = _HEAD_UNDER_NAME.match(self.data, at)
        begin = self._last(head[1], at) if head else 0
        return self.data.rfind(b",", at, begin) + 1

    def _last(self, mark: bytes, at: int, after: int = 0) -> int:
        """Find a mark as far ahead as a block may end."""
        if at < self.walked_to:
            return 0
        for size in _SIZES:
            found = self.data.rfind(mark, at + 1, at + size)
            if found > 0:
                return found + after
        self.walked_to = at + _SIZES[-1]
        return 0
