"""What the interpreter builds instead of Python objects: inert things that can run nothing."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Literal

import numpy as np

from dashboard.readers.contents import Array
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
        said = kinds.get(code.lstrip("<>|=")[:1], "not a numeric type")
        raise FileError("pickled array", f"type {quoted(code)} ({said})", _NUMBERS)
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
class Held:
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


Node = None | bool | int | float | str | bytes | Tag | Dtype | Storage | Held | Items


def refused(found: str, field_: str = "pickle") -> FileError:
    """Refuse something in a pickle."""
    place = "pickle" if field_ == "pickle" else f"pickle ({field_})"
    return FileError(place, f"{found}: refused", "plain arrays, lists and numbers only")


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
        case Held(array=None), Items(
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


def _reconstruct(values: list[Node]) -> Held:
    match values:
        case [Tag("ndarray"), Items("tuple", [0]), "b" | b"b"]:
            return Held()
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


def _frombuffer(values: list[Node]) -> Held:
    match values:
        case [
            bytes() as raw,
            Dtype() as dtype,
            Items("tuple") as shape,
            "C" | "F" as order,
        ]:
            fortran = order == "F"
            return Held(array_from(raw, dtype.numpy(), whole_numbers(shape), fortran=fortran))
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
    if isinstance(node, Held):
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
