"""What the interpreter builds instead of Python objects: inert things that can run nothing."""

import codecs
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Literal

import numpy as np

from dashboard.readers.limits import MAX_PICKLED, MAX_STEPS
from dashboard.readers.records import Array
from dashboard.readers.refusal import FileError, plain, quoted

_TYPE = re.compile(r"[<>|=]?(b1|i[1248]|u[1248]|f[248]|[SU][1-9][0-9]{0,2})", re.ASCII)
_ORDERS = ("<", ">", "|", "=")
_NUMBERS = "texts, bool, integers or floats of 1 to 8 bytes"

MAX_NAME = 256
"""Longest name of an array or of a class."""


def plain_dtype(code: str) -> np.dtype[np.generic]:
    """Return the type of numbers or texts of a code."""
    if not _TYPE.fullmatch(code):
        kinds = {"O": "Python objects", "M": "dates", "U": "long texts", "S": "long texts"}
        kind = kinds.get(code.lstrip("<>|=")[:1], "not a numeric type")
        raise FileError("pickled array", f"type {quoted(code)} ({kind})", _NUMBERS)
    return np.dtype(code)


def array_from(
    raw: bytes, dtype: np.dtype[np.generic], shape: tuple[int, ...], *, fortran: bool = False
) -> Array:
    """Lay an array over bytes, once its declared size is known to be exactly theirs."""
    declared = prod(shape) * dtype.itemsize
    if len(shape) > 3 or declared != len(raw) or declared == 0:
        problem = "truncated" if declared > len(raw) else "extra bytes follow"
        raise FileError(
            "pickled array",
            f"{len(raw):,} bytes of values where shape {shape} declares {declared:,} ({problem})",
            "exactly the declared size, in at most 3 dimensions",
        )
    flat: Array = np.frombuffer(raw, np.uint8 if dtype.kind == "b" else dtype)
    # A byte other than 0 and 1 behind a NumPy bool has no defined meaning.
    array = flat != 0 if dtype.kind == "b" else flat.astype(dtype.newbyteorder("="), copy=False)
    return array.reshape(shape, order="F" if fortran else "C")


@dataclass(frozen=True)
class Tag:
    """What a pickle may refer to: a name to compare, and what stands in for a call of it."""

    name: str
    make: "Callable[[list[Node]], Node] | None" = None


@dataclass(eq=False)
class Dtype:
    """A plain numeric type, its byte order set once."""

    code: str
    order: str = ""

    def numpy(self) -> np.dtype[np.generic]:
        """Return the real type, made from a code that was checked."""
        return plain_dtype((self.order or "=") + self.code)


@dataclass(eq=False)
class Storage:
    """The bytes that tensors lie in, and the code of their type."""

    code: str
    raw: bytes
    order: Literal["<", ">"]


@dataclass(eq=False)
class ArrayPlace:
    """An array, or the place for one between its making and its one state.

    Never a bare array: comparing one with anything gives an array instead of an answer.
    """

    array: Array | None = None


@dataclass(eq=False, slots=True)
class Items:
    """A tuple, a list, or a dictionary as keys and values in turn, and its levels of nesting."""

    kind: Literal["tuple", "list", "dict"]
    values: list["Node"] = field(default_factory=list)
    depth: int = 1


Node = None | bool | int | float | str | bytes | Tag | Dtype | Storage | ArrayPlace | Items


def refused(problem: str, field_: str = "pickle") -> FileError:
    """Refuse something in a pickle."""
    place = "pickle" if field_ == "pickle" else f"pickle ({field_})"
    return FileError(place, f"{problem}: refused", "plain arrays, lists and numbers only")


def tag_for(module: str, name: str, known: Mapping[tuple[str, str], Tag]) -> Tag:
    """Look a name up among the few that arrays need; nothing is imported for it."""
    if (module, name) in known:
        return known[module, name]
    raise FileError(
        "pickle",
        f"code: it refers to {quoted(plain(module, 40) + '.' + plain(name, 40), 90)}, which is"
        " not array data; refused",
        "plain arrays, lists and numbers, or tensors of float32 and int64 in a .pt file",
    )


def reduce(callee: Node, arguments: Node) -> Node:
    """Do what the named function would have done, with checked arguments."""
    if not isinstance(callee, Tag) or not isinstance(arguments, Items) or arguments.kind != "tuple":
        raise refused("a call of something that is not array data")
    if callee.make is None:
        raise refused(f"{callee.name} called directly", callee.name)
    return callee.make(arguments.values)


def build(target: Node, state: Node) -> None:
    """Set the state of an array or of a type, each at most once."""
    match target, state:
        case Dtype(order=""), Items("tuple", [int(), mark, None, None, None, *_]) if (
            text(mark) in _ORDERS
        ):
            target.order = str(text(mark))
        case ArrayPlace(array=None), Items(
            "tuple",
            [1, Items("tuple") as shape, Dtype() as dtype, bool() | 0 | 1 as order, bytes() as raw],
        ):
            fortran = bool(order)
            target.array = array_from(raw, dtype.numpy(), whole_numbers(shape), fortran=fortran)
        case Items("dict"), Items("dict", ["_metadata", Items("dict")]):
            pass  # version numbers that PyTorch hangs on a dictionary of weights
        case _:
            raise refused("state for something that is not a plain array", "state")


def text(value: Node) -> str | None:
    """Return text, which Python 2 wrote as bytes."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else None


def whole_numbers(items: Items) -> tuple[int, ...]:
    """Return sizes or steps, none of them negative."""
    sizes = tuple(
        size for size in items.values
        if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 1 << 62
    )  # fmt: skip
    if len(sizes) != len(items.values):
        raise refused("a shape that is not whole numbers", "shape")
    return sizes


def _reconstruct(values: list[Node]) -> ArrayPlace:
    match values:
        case [Tag("ndarray"), Items("tuple", [0]), "b" | b"b"]:
            return ArrayPlace()
    raise refused("arguments of _reconstruct that no array has (a shape)", "array")


def _dtype(values: list[Node]) -> Dtype:
    match values:
        case [code, 0, 1] if text(code) is not None:
            name = str(text(code))
            # Refused here already when it is no plain numeric type.
            plain_dtype(name)
            return Dtype(name.lstrip("<>=|"), name[0] if name[0] in "<>=|" else "")
    raise refused("a type that is not a plain numeric type", "type")


def _scalar(values: list[Node]) -> float | str | bytes:
    match values:
        case [Dtype() as dtype, bytes() as raw]:
            try:
                value: float | str | bytes = array_from(raw, dtype.numpy(), ()).item()
            except (ValueError, SystemError) as error:
                raise refused("a text that is no Unicode", "text") from error
            return value
    raise refused("a number of an unknown kind", "type")


def _frombuffer(values: list[Node]) -> ArrayPlace:
    match values:
        case [bytes() as raw, Dtype() as dtype, Items("tuple") as shape, "C" | "F" as order]:
            fortran = order == "F"
            return ArrayPlace(array_from(raw, dtype.numpy(), whole_numbers(shape), fortran=fortran))
    raise refused("arguments of _frombuffer that no array has", "array")


def _encode(values: list[Node]) -> bytes:
    match values:
        case [str() as characters, "latin1" | "latin-1"]:
            try:
                return characters.encode("latin-1")
            except UnicodeEncodeError as error:
                raise refused("characters that are not bytes", "encode") from error
    raise refused("encode with other arguments than text and latin1", "encode")


def name_of(node: Node) -> str | None:
    """Return a text that may be a name; None for anything else, and for one that is too long."""
    return text(node) if isinstance(node, str | bytes) and len(node) <= MAX_NAME else None


def members(node: Node) -> list[Node]:
    """Return what a list or tuple holds; nothing for anything else."""
    return node.values if isinstance(node, Items) and node.kind != "dict" else []


def described(node: Node) -> str:
    """Describe a node, and of a list what comes first in it."""
    if isinstance(node, Items) and node.kind == "dict":
        names = [quoted(name, 20) for key in node.values[:6:2] if (name := name_of(key))]
        return f"a dict of {len(node.values) // 2:,}" + f" ({', '.join(names)})" * bool(names)
    if isinstance(node, Items):
        first = f", the first of them {described(node.values[0])}" if node.values else ""
        return f"a {node.kind} of {len(node.values):,}{first}"
    if isinstance(node, ArrayPlace):
        return "no whole array" if node.array is None else f"an array of shape {node.array.shape}"
    if isinstance(node, bool | int | float):
        return "a number"
    return "a text" if isinstance(node, str | bytes) else "something that is no array"


_ARRAY = (
    "numpy.core.multiarray", "numpy._core.multiarray",
    "numpy.core._multiarray_umath", "numpy._core._multiarray_umath",
)  # fmt: skip
_NUMERIC = ("numpy.core.numeric", "numpy._core.numeric")
KNOWN: Mapping[tuple[str, str], Tag] = {
    ("numpy", "ndarray"): Tag("ndarray"),
    ("numpy", "dtype"): Tag("dtype", _dtype),
    ("_codecs", "encode"): Tag("encode", _encode),
    **{(module, "_reconstruct"): Tag("_reconstruct", _reconstruct) for module in _ARRAY},
    **{(module, "scalar"): Tag("scalar", _scalar) for module in _ARRAY},
    **{(module, "_frombuffer"): Tag("_frombuffer", _frombuffer) for module in _NUMERIC},
}
"""All that pickles of arrays refer to, under the names of NumPy before and after version 2."""


# The few operations of the pickle format that arrays, lists and numbers need ------------------


_FIRST = (b"\x80", b"(", b"]", b"}", b"c")
"""How a pickle of anything but one bare number begins."""
_MAX_HEADER_PROTOCOL = 5
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
        if target.depth > MAX_PICKLED:
            raise refused(f"more than {MAX_PICKLED} levels of nesting", "nested")

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
