"""Thrift's compact protocol: the little of it that Parquet's own records need."""

from dataclasses import dataclass
from typing import Any

from dashboard.readers.refusal import FileError

_MAX_DEPTH = 12
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = frozenset({4, 5, 6})
Fields = dict[int, Any]


@dataclass
class Compact:
    """Reads one record after another, never past the end and never more than `budget` values.

    Parameters
    ----------
    data : memoryview
        What the records stand in.
    position : int
        Where the next one begins.
    budget : int
        How many values may be read in all, which bounds time and memory.
    """

    data: memoryview
    position: int = 0
    budget: int = 1_000_000

    def struct(self, depth: int = 0) -> Fields:
        """Read a record as its fields by number; nested records are the same."""
        fields: Fields = {}
        number = 0
        while head := self._byte():
            delta = head >> 4
            number = number + delta if delta else self._zigzag()
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        self.budget -= 1
        if self.budget < 0 or depth > _MAX_DEPTH:
            raise damaged("its footer or a page header holds too many or too deeply nested values")
        if kind in _INTEGERS:
            return self._zigzag()
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._list(depth + 1)
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        raise damaged("a value of an unknown type in its footer or a page header")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head < 0xF0 else self._varint()
        if size > len(self.data) - self.position:
            raise damaged("a list in its footer longer than the footer")
        return [self._value(head & 15, depth) for _ in range(size)]

    def _byte(self) -> int:
        if self.position >= len(self.data):
            raise damaged("its footer or a page header is cut short")
        self.position += 1
        return self.data[self.position - 1]

    def _bytes(self, size: int) -> memoryview:
        if size > len(self.data) - self.position:
            raise damaged("a text in its footer longer than the footer")
        self.position += size
        return self.data[self.position - size : self.position]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise damaged("a number in its footer or a page header of more than 64 bits")

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


def damaged(problem: str) -> FileError:
    """Refuse a file for what is wrong with its records."""
    found = f"a damaged, truncated or corrupted Parquet file ({problem})"
    return FileError("file", found, "a whole .parquet file")
