"""The few operations of the pickle format that arrays, lists and numbers need.

Written from the format's description. Every operation that is not in the table is refused.
"""

import codecs
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from dashboard.readers.formats.pickle_nodes import (
    KNOWN,
    Items,
    Node,
    Storage,
    Tag,
    build,
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
_MAX_HEADER_PROTOCOL, _MAX_DEPTH = 5, 16
# Python loads codecs when they are first used; no file is to be the cause of an import.
codecs.lookup("raw-unicode-escape")
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
    """What a pickle may refer to."""

    known: Mapping[tuple[str, str], Tag]
    storage: Callable[[Node], Storage] | None = None


_ARRAYS_ONLY = Surroundings(KNOWN)


def run(data: bytes, around: Surroundings = _ARRAYS_ONLY) -> Node:
    """Interpret a pickle and return what it describes, as inert nodes."""
    machine = _Machine(data, around)
    if data[:1] not in _FIRST:
        raise FileError("pickle", "bytes that are not a pickle", "a pickle of arrays")
    try:
        node = machine.run()
    except FileError:
        raise
    except (LookupError, ValueError, struct.error) as error:
        place = f"a malformed pickle (operation before byte {machine.position:,})"
        raise FileError("pickle", place, "a pickle of arrays") from error
    if left := len(data) - machine.position:
        raise refused(f"{left:,} bytes that follow the end", "trailing bytes")
    return node


class _Machine:
    """One pass over the bytes with a stack, a memo and marks, as the format prescribes."""

    def __init__(self, data: bytes, around: Surroundings) -> None:
        self.data, self.around = data, around
        self.position = 0
        self.stack: list[Node] = []
        self.below: list[list[Node]] = []
        """Stacks that were left at a mark."""
        self.memo: dict[int, Node] = {}

    def run(self) -> Node:
        for _ in range(MAX_STEPS):
            code = self.take(1)
            if code == b".":
                if self.below:
                    raise ValueError(self.below)
                (node,) = self.stack
                return node
            operation = _OPERATIONS.get(code)
            if operation is None or (code == b"Q" and self.around.storage is None):
                what = _REFUSED.get(code, "an unknown operation")
                raise refused(f"{what} (operation 0x{code.hex()} at byte {self.position - 1:,})")
            operation(self)
        raise refused(f"more than {MAX_STEPS:,} steps (save NumPy arrays, not lists)", "size")

    def take(self, size: int) -> bytes:
        """Return the next bytes, of which so many must be left."""
        taken = self.data[self.position : self.position + size]
        if len(taken) < size:
            raise FileError(
                "pickle", f"{len(taken):,} bytes left where {size:,} are declared (truncated)",
                "a whole pickle file",
            )  # fmt: skip
        self.position += size
        return taken

    def small(self, width: int, *, signed: bool = False) -> int:
        return int.from_bytes(self.take(width), "little", signed=signed)

    def sized(self, width: int) -> bytes:
        """Return bytes whose number stands before them."""
        return self.take(self.small(width))

    def line(self) -> bytes:
        end = self.data.index(b"\n", self.position)
        taken = self.data[self.position : end]
        self.position = end + 1
        return taken

    def push(self, node: Node) -> None:
        self.stack.append(node)

    def popped(self, count: int) -> list[Node]:
        nodes = [self.stack.pop() for _ in range(count)]
        return nodes[::-1]

    def mark(self) -> None:
        self.below.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[Node]:
        nodes, self.stack = self.stack, self.below.pop()
        return nodes

    def make(self, kind: Literal["tuple", "list", "dict"], values: list[Node]) -> None:
        self.push(Items(kind))
        self.grow(kind, values)

    def grow(self, kind: str, values: list[Node]) -> None:
        target = self.stack[-1]
        if not isinstance(target, Items) or target.kind != kind:
            raise ValueError(kind)
        if kind == "dict" and len(values) % 2:
            raise ValueError(values)
        target.values += values
        inner = [value.depth + 1 for value in values if isinstance(value, Items)]
        target.depth = max(target.depth, *inner, 1)
        if target.depth > _MAX_DEPTH:
            raise refused(f"more than {_MAX_DEPTH} levels of nesting", "nested")

    def remember(self, index: int) -> None:
        if not 0 <= index <= len(self.data):
            raise refused(f"memo index {index:,} in {len(self.data):,} bytes", "memo")
        self.memo[index] = self.stack[-1]

    def recall(self, index: int) -> None:
        if index not in self.memo:
            raise refused(f"memo index {index:,}, never set (malformed)", "memo")
        self.push(self.memo[index])

    def protocol(self) -> None:
        if self.small(1) > _MAX_HEADER_PROTOCOL:
            raise refused("an unknown protocol", "malformed")

    def frame(self) -> None:
        """Pass over the length of what follows, which is of no use here."""
        self.take(8)

    def whole(self, line: bytes) -> None:
        """Push a whole number, or what protocol 0 writes for true and false."""
        self.push_whole(int(line)) if line not in (b"00", b"01") else self.push(line == b"01")

    def push_whole(self, number: int) -> None:
        if not -(1 << 63) <= number < 1 << 64:
            raise refused("an integer of more than 8 bytes", "integer")
        self.push(number)

    def string(self) -> None:
        line = self.line()
        if line[:1] != line[-1:] or not _STRING.fullmatch(line[1:-1]):
            raise ValueError(line)
        self.push(codecs.escape_decode(line[1:-1])[0])

    def refer(self, module: str | None, name: str | None) -> None:
        if module is None or name is None:
            raise ValueError(module)
        self.push(tag_for(module, name, self.around.known))

    def call(self) -> None:
        callee, arguments = self.popped(2)
        self.push(reduce(callee, arguments))

    def persistent(self) -> None:
        if self.around.storage is not None:
            self.push(self.around.storage(self.stack.pop()))

    def set_state(self) -> None:
        state = self.stack.pop()
        build(self.stack[-1], state)


_OPERATIONS: dict[bytes, Callable[[_Machine], None]] = {
    b"\x80": _Machine.protocol,
    b"\x95": _Machine.frame,
    b"N": lambda m: m.push(None),
    b"\x88": lambda m: m.push(node=True),
    b"\x89": lambda m: m.push(node=False),
    b"I": lambda m: m.whole(m.line()),
    b"L": lambda m: m.push_whole(int(m.line().removesuffix(b"L"))),
    b"F": lambda m: m.push(float(m.line())),
    b"J": lambda m: m.push(m.small(4, signed=True)),
    b"K": lambda m: m.push(m.small(1)),
    b"M": lambda m: m.push(m.small(2)),
    b"\x8a": lambda m: m.push_whole(int.from_bytes(m.sized(1), "little", signed=True)),
    b"G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
    b"S": _Machine.string,
    b"T": lambda m: m.push(m.sized(4)),
    b"U": lambda m: m.push(m.sized(1)),
    b"V": lambda m: m.push(m.line().decode("raw-unicode-escape")),
    b"X": lambda m: m.push(m.sized(4).decode()),
    b"\x8c": lambda m: m.push(m.sized(1).decode()),
    b"\x8d": lambda m: m.push(m.sized(8).decode()),
    b"B": lambda m: m.push(m.sized(4)),
    b"C": lambda m: m.push(m.sized(1)),
    b"\x8e": lambda m: m.push(m.sized(8)),
    b"\x96": lambda m: m.push(m.sized(8)),
    b"(": _Machine.mark,
    b")": lambda m: m.make("tuple", []),
    b"]": lambda m: m.make("list", []),
    b"}": lambda m: m.make("dict", []),
    b"t": lambda m: m.make("tuple", m.since_mark()),
    b"l": lambda m: m.make("list", m.since_mark()),
    b"d": lambda m: m.make("dict", m.since_mark()),
    b"\x85": lambda m: m.make("tuple", m.popped(1)),
    b"\x86": lambda m: m.make("tuple", m.popped(2)),
    b"\x87": lambda m: m.make("tuple", m.popped(3)),
    b"a": lambda m: m.grow("list", m.popped(1)),
    b"e": lambda m: m.grow("list", m.since_mark()),
    b"s": lambda m: m.grow("dict", m.popped(2)),
    b"u": lambda m: m.grow("dict", m.since_mark()),
    b"c": lambda m: m.refer(m.line().decode("latin-1"), m.line().decode("latin-1")),
    b"\x93": lambda m: m.refer(*map(text, m.popped(2))),
    b"R": _Machine.call,
    b"b": _Machine.set_state,
    b"Q": _Machine.persistent,
    b"p": lambda m: m.remember(int(m.line())),
    b"q": lambda m: m.remember(m.small(1)),
    b"r": lambda m: m.remember(m.small(4)),
    b"\x94": lambda m: m.remember(len(m.memo)),
    b"g": lambda m: m.recall(int(m.line())),
    b"h": lambda m: m.recall(m.small(1)),
    b"j": lambda m: m.recall(m.small(4)),
}
