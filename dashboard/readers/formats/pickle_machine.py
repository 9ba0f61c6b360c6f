"""The few operations of the pickle format that arrays, lists and numbers need.

Written from the format's description. Every operation that is not in the table is refused; every
declared length is compared with the bytes that are left before it is used.
"""

import codecs
import re
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dashboard.readers.formats.pickle_nodes import (
    KNOWN,
    Items,
    Node,
    Storage,
    Tag,
    build,
    n_bytes,
    reduce,
    refused,
    tag_for,
    text,
)
from dashboard.readers.refusal import FileError

MAX_STEPS = 2_000_000
"""Most operations in one file. Arrays need a few dozen."""

_FIRST = (b"\x80", b"(", b"]", b"}", b"c")
"""How a pickle of anything but one bare number begins."""
_STEPS_OF_A_LIST = 4
_STEPS_OF_A_CALL = 8
_STEPS_OF_A_LINE = 1
_LONG_TEXT = 1 << 20
_TEXT_ROOM = 64 << 20
_LAST_OF_255 = 0xC3
"""The highest byte with which UTF-8 begins a character up to 255."""

_MAX_MARKS = 64
_MAX_LINE = 4096
_SPARE_WEIGHT = 100_000
_MAX_HEADER_PROTOCOL = 5
# Python loads codecs when they are first used; no file is to be the cause of an import.
codecs.lookup("raw-unicode-escape")
_WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,4})?")
_STRING = re.compile(
    rb"(?:[^\\]|\\(?:x[0-9a-fA-F]{2}|(?![4-7][0-7]{2})[0-7]{1,3}|[\\'\"abfnrtv]))*+", re.DOTALL
)

_REFUSED = {
    b"P": "a persistent reference", b"Q": "a persistent reference",
    b"\x82": "an extension code", b"\x83": "an extension code", b"\x84": "an extension code",
    b"i": "an object to be made", b"o": "an object to be made", b"\x81": "an object to be made",
    b"\x92": "an object to be made", b"\x97": "an outside buffer", b"\x98": "an outside buffer",
    b"\x8b": "an integer of any length", b"\x8f": "a set", b"\x90": "a set", b"\x91": "a set",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What a pickle may refer to.

    Parameters
    ----------
    known : mapping of (module, name) to Tag
        The only names it may use.
    storage : callable, optional
        Looks a persistent reference up, where there may be any.
    n_bytes : int
        Size of the data outside the pickle.
    """

    known: Mapping[tuple[str, str], Tag]
    storage: Callable[[Node], Storage] | None = None
    n_bytes: int = 0


_ARRAYS_ONLY = Surroundings(KNOWN)


def run(data: bytes, around: Surroundings = _ARRAYS_ONLY) -> Node:
    """Interpret a pickle and give what it describes, as inert nodes."""
    node, end = run_from(data, 0, around)
    if end < len(data):
        raise refused(f"{len(data) - end:,} bytes that follow the end", "trailing bytes")
    return node


def run_from(data: bytes, start: int, around: Surroundings = _ARRAYS_ONLY) -> tuple[Node, int]:
    """Interpret the pickle that begins at a place; give also where it ends."""
    machine = _Machine(data, around)
    machine.position = start
    return machine.run(), machine.position


class _Machine:
    """One pass over the bytes with a stack, a memo and marks, as the format prescribes."""

    def __init__(self, data: bytes, around: Surroundings) -> None:
        self.data = data
        self.around = around
        self.position = 0
        self.steps = 0
        self.stack: list[Node] = []
        self.marks: list[int] = []
        self.memo: dict[int, Node] = {}
        # Every number takes a byte of an honest file, and its bytes are copied at most twice.
        self.weight_limit = len(data) + around.n_bytes + _SPARE_WEIGHT
        self.copies_left = 4 * (len(data) + around.n_bytes) + _SPARE_WEIGHT
        self.text_room = _TEXT_ROOM

    def run(self) -> Node:
        if self.data[self.position : self.position + 1] not in _FIRST:
            raise FileError("pickle", "bytes that are not a pickle", "a pickle of arrays")
        while self.steps < MAX_STEPS:
            self.steps += 1
            code = self.take(1)
            if code == b".":
                return self.stop()
            operation = _OPERATIONS.get(code)
            if operation is None:
                raise self.unknown(code)
            operation(self)
        raise refused(f"more than {MAX_STEPS:,} steps (save NumPy arrays, not lists)", "size")

    def unknown(self, code: bytes) -> FileError:
        what = _REFUSED.get(code, "an unknown operation")
        return refused(f"{what} (operation 0x{code.hex()} at byte {self.position - 1:,})")

    def stop(self) -> Node:
        if len(self.stack) != 1 or self.marks:
            raise self.malformed()
        return self.pop()

    def malformed(self) -> FileError:
        place = f"a malformed pickle (operation before byte {self.position:,})"
        return FileError("pickle", place, "a pickle of arrays")

    def take(self, size: int) -> bytes:
        """Give the next bytes, of which so many must be left."""
        end = self.position + size
        if end > len(self.data):
            left = len(self.data) - self.position
            raise FileError(
                "pickle",
                f"{left:,} bytes left where {size:,} are declared (truncated)",
                "a whole pickle file",
            )
        taken = self.data[self.position : end]
        self.position = end
        return taken

    def sized(self, width: int) -> bytes:
        """Give bytes whose number stands before them."""
        return self.take(int.from_bytes(self.take(width), "little"))

    def push_bytes(self, width: int) -> None:
        """Push bytes whose number stands before them, long ones as they lie in the file."""
        size = int.from_bytes(self.take(width), "little")
        start, end = self.position, self.position + size
        if _LONG_TEXT < size <= len(self.data) - start:
            self.push(memoryview(self.data)[start:end])
            self.position = end
        else:
            self.push(self.take(size))

    def line(self, limit: int = _MAX_LINE) -> bytes:
        self.steps += _STEPS_OF_A_LINE
        end = self.data.find(b"\n", self.position, self.position + limit + 1)
        if end < 0:
            raise FileError("pickle", "a truncated or overlong line", "a pickle of arrays")
        taken = self.data[self.position : end]
        self.position = end + 1
        return taken

    def whole(self, line: bytes) -> int:
        if not _WHOLE.fullmatch(line):
            raise self.malformed()
        return int(line)

    def push(self, node: Node) -> None:
        self.stack.append(node)

    def pop(self) -> Node:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise self.malformed()
        return self.stack.pop()

    def popped(self, count: int) -> list[Node]:
        return [self.pop() for _ in range(count)][::-1]

    def top(self) -> Node:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise self.malformed()
        return self.stack[-1]

    def mark(self) -> None:
        if len(self.marks) >= _MAX_MARKS:
            raise refused(f"more than {_MAX_MARKS} open brackets", "nested")
        self.marks.append(len(self.stack))

    def since_mark(self) -> list[Node]:
        if not self.marks:
            raise self.malformed()
        start = self.marks.pop()
        nodes = self.stack[start:]
        del self.stack[start:]
        return nodes

    def push_items(self, kind: str, values: list[Node]) -> None:
        if kind == "dict" and len(values) % 2:
            raise self.malformed()
        self.steps += _STEPS_OF_A_LIST
        items = Items("dict" if kind == "dict" else "list" if kind == "list" else "tuple")
        items.extend(values, self.weight_limit)
        self.push(items)

    def grow(self, kind: str, values: list[Node]) -> None:
        target = self.top()
        if not isinstance(target, Items) or target.kind != kind:
            raise self.malformed()
        if kind == "dict" and len(values) % 2:
            raise self.malformed()
        target.extend(values, self.weight_limit)

    def remember(self, index: int) -> None:
        if not 0 <= index <= len(self.data):
            raise refused(f"memo index {index:,} in {len(self.data):,} bytes", "memo")
        self.memo[index] = self.top()

    def recall(self, index: int) -> None:
        if index not in self.memo:
            raise refused(f"memo index {index:,}, never set (malformed)", "memo")
        self.push(self.memo[index])

    def small(self, width: int, *, signed: bool = False) -> int:
        return int.from_bytes(self.take(width), "little", signed=signed)

    def protocol(self) -> None:
        if self.small(1) > _MAX_HEADER_PROTOCOL:
            raise refused("an unknown protocol", "malformed")

    def frame(self) -> None:
        size = self.small(8)
        if size > len(self.data) - self.position:
            raise FileError("pickle", "a frame longer than the file (truncated)", "a whole pickle")

    def old_int(self) -> None:
        line = self.line()
        self.push(line == b"01" if line in (b"00", b"01") else self.whole(line))

    def old_float(self) -> None:
        line = self.line()
        if not _DECIMAL.fullmatch(line):
            raise self.malformed()
        self.push(float(line))

    def long1(self) -> None:
        raw = self.sized(1)
        if len(raw) > 8:
            raise refused(f"an integer of {len(raw)} bytes", "integer")
        self.push(int.from_bytes(raw, "little", signed=True))

    def old_string(self) -> None:
        line = self.line(len(self.data))
        inside = line[1:-1]
        quotes = line[:1] + line[-1:]
        if len(line) < 2 or quotes not in (b"''", b'""') or not _STRING.fullmatch(inside):
            raise self.malformed()
        self.push(codecs.escape_decode(inside)[0])

    def old_text(self) -> None:
        self.push_text(self.line(len(self.data)), "raw-unicode-escape")

    def push_text(self, raw: bytes, encoding: str = "utf-8") -> None:
        if len(raw) > _LONG_TEXT and _is_wide(raw, encoding):
            raise refused(f"a text of {len(raw):,} bytes", "text")
        try:
            decoded = raw.decode(encoding)
        except UnicodeDecodeError as error:
            raise self.malformed() from error
        # Of some alphabets one character takes four bytes, and each text has a head.
        self.text_room -= sys.getsizeof(decoded) - len(decoded)
        if self.text_room < 0:
            raise refused("more texts than can be kept (save arrays of class numbers)", "size")
        self.push(decoded)

    def refer(self) -> None:
        module, name = self.line(), self.line()
        self.push(tag_for(module.decode("latin-1"), name.decode("latin-1"), self.around.known))

    def refer_from_stack(self) -> None:
        module, name = (text(node) for node in self.popped(2))
        if module is None or name is None:
            raise self.malformed()
        self.push(tag_for(module, name, self.around.known))

    def call(self) -> None:
        callee, arguments = self.popped(2)
        self.steps += _STEPS_OF_A_CALL
        self.charge(arguments)
        node = reduce(callee, arguments)
        self.charge(node)
        self.push(node)

    def persistent(self) -> None:
        if self.around.storage is None:
            raise self.unknown(b"Q")
        self.steps += _STEPS_OF_A_CALL
        self.push(self.around.storage(self.pop()))

    def set_state(self) -> None:
        state = self.pop()
        self.charge(state)
        build(self.top(), state)

    def charge(self, node: Node) -> None:
        """Bound what repeated use of one long string can cost."""
        self.copies_left -= n_bytes(node)
        if self.copies_left < 0:
            raise refused("the same bytes used again and again", "repeated")


def _is_wide(raw: bytes, encoding: str) -> bool:
    """Tell characters above 255, which texts that stand for the bytes of an array do not have."""
    if encoding == "utf-8":
        return int(np.frombuffer(raw, dtype=np.uint8).max()) > _LAST_OF_255
    return b"\\U" in raw or raw.count(b"\\u") > raw.count(b"\\u00")


_OPERATIONS: dict[bytes, Callable[[_Machine], None]] = {
    b"\x80": _Machine.protocol,
    b"\x95": _Machine.frame,
    b"N": lambda m: m.push(None),
    b"\x88": lambda m: m.push(node=True),
    b"\x89": lambda m: m.push(node=False),
    b"I": _Machine.old_int,
    b"L": lambda m: m.push(m.whole(m.line().removesuffix(b"L"))),
    b"F": _Machine.old_float,
    b"J": lambda m: m.push(m.small(4, signed=True)),
    b"K": lambda m: m.push(m.small(1)),
    b"M": lambda m: m.push(m.small(2)),
    b"\x8a": _Machine.long1,
    b"G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
    b"S": _Machine.old_string,
    b"T": lambda m: m.push_bytes(4),
    b"U": lambda m: m.push(m.sized(1)),
    b"V": _Machine.old_text,
    b"X": lambda m: m.push_text(m.sized(4)),
    b"\x8c": lambda m: m.push_text(m.sized(1)),
    b"\x8d": lambda m: m.push_text(m.sized(8)),
    b"B": lambda m: m.push_bytes(4),
    b"C": lambda m: m.push(m.sized(1)),
    b"\x8e": lambda m: m.push_bytes(8),
    b"\x96": lambda m: m.push_bytes(8),
    b"(": _Machine.mark,
    b")": lambda m: m.push_items("tuple", []),
    b"]": lambda m: m.push_items("list", []),
    b"}": lambda m: m.push_items("dict", []),
    b"t": lambda m: m.push_items("tuple", m.since_mark()),
    b"l": lambda m: m.push_items("list", m.since_mark()),
    b"d": lambda m: m.push_items("dict", m.since_mark()),
    b"\x85": lambda m: m.push_items("tuple", m.popped(1)),
    b"\x86": lambda m: m.push_items("tuple", m.popped(2)),
    b"\x87": lambda m: m.push_items("tuple", m.popped(3)),
    b"a": lambda m: m.grow("list", m.popped(1)),
    b"e": lambda m: m.grow("list", m.since_mark()),
    b"s": lambda m: m.grow("dict", m.popped(2)),
    b"u": lambda m: m.grow("dict", m.since_mark()),
    b"c": _Machine.refer,
    b"\x93": _Machine.refer_from_stack,
    b"R": _Machine.call,
    b"b": _Machine.set_state,
    b"Q": _Machine.persistent,
    b"p": lambda m: m.remember(m.whole(m.line())),
    b"q": lambda m: m.remember(m.small(1)),
    b"r": lambda m: m.remember(m.small(4)),
    b"\x94": lambda m: m.remember(len(m.memo)),
    b"g": lambda m: m.recall(m.whole(m.line())),
    b"h": lambda m: m.recall(m.small(1)),
    b"j": lambda m: m.recall(m.small(4)),
}
