"""What the worker answers: a line of JSON, then the bytes of arrays, checked when it is opened."""

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import prod
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.refusal import FileError
from dashboard.readers.table import Arrays, Column, Odd, Parsed, Table

_KINDS = {kind.__name__: kind for kind in (Table, Arrays, Column, Odd)}
_TYPES = frozenset({"|b1", "|i1", "|u1", *(f"<{k}{n}" for k in "iu" for n in (2, 4, 8)),
                    "<f2", "<f4", "<f8"})  # fmt: skip
_LENGTH = struct.Struct("<Q")
_MOST_HEAD = 1 << 30
_BLOCK = 1 << 24

Array = NDArray[Any]
Read = Callable[[memoryview], None]
"""Fills a buffer to its end, or raises EOFError."""


def write_head(out: IO[bytes], head: Mapping[str, Any]) -> None:
    """Write JSON behind its length."""
    raw = json.dumps(head).encode("ascii")
    out.write(_LENGTH.pack(len(raw)) + raw)


def read_head(read: Read, most: int = _MOST_HEAD) -> dict[str, Any]:
    """Read JSON behind its length.

    Raises
    ------
    ValueError
        A length beyond ``most`` bytes, or no JSON object.
    """
    length = bytearray(_LENGTH.size)
    read(memoryview(length))
    (size,) = _LENGTH.unpack(length)
    if size > most:
        raise ValueError(size)
    raw = bytearray(size)
    read(memoryview(raw))
    head = json.loads(raw)
    if not isinstance(head, dict):
        raise TypeError(head)
    return head


def write_parsed(out: IO[bytes], parsed: Parsed) -> None:
    """Write what a format handed over."""
    arrays: list[Array] = []
    tree = _flat(parsed, arrays)
    kept = [array.astype(array.dtype.newbyteorder("<"), copy=False) for array in arrays]
    write_head(out, {"parsed": tree, "arrays": [[a.dtype.str, a.shape] for a in kept]})
    for array in kept:
        for block in _blocks(array):
            out.write(np.ascontiguousarray(array[block]).data)
    out.flush()


def _blocks(array: Array) -> Iterator[slice]:
    """Part an array so that no large copy is made of one that does not lie in order."""
    step = max(1, _BLOCK // max(1, array.nbytes // max(1, len(array))))
    step = len(array) if array.flags.c_contiguous else step
    yield from (slice(start, start + step) for start in range(0, len(array), max(1, step)))


def write_refusal(out: IO[bytes], error: FileError) -> None:
    """Write why a file was refused."""
    write_head(out, {"refused": [error.field, error.found, error.wanted]})
    out.flush()


def read_parsed(read: Read, most: int) -> Parsed:
    """Open an answer.

    Parameters
    ----------
    read : callable
        Fills a buffer.
    most : int
        Bytes that all arrays may have together.

    Raises
    ------
    FileError
        The file was refused, or the answer is none.
    """
    try:
        head = read_head(read, most)
        refused = head.get("refused")
        parsed = None if refused else _opened(head, read, most)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise FileError("file", "an answer that cannot be read", "the file once more") from error
    if not isinstance(parsed, (Table, Arrays)):
        raise FileError(*map(str, refused or ("file", "no answer", "the file once more")))
    return parsed


def _opened(head: Mapping[str, Any], read: Read, most: int) -> Any:
    shapes = [(np.dtype(_known(code)), tuple(map(int, shape))) for code, shape in head["arrays"]]
    if sum(dtype.itemsize * prod(shape) for dtype, shape in shapes) > most:
        raise ValueError(most)
    return _built(head["parsed"], [_array(read, dtype, shape) for dtype, shape in shapes])


def _known(code: str) -> str:
    if code not in _TYPES:
        raise ValueError(code)
    return code


def _array(read: Read, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    array = np.empty(shape, dtype)
    if array.nbytes:
        read(array.reshape(-1).view(np.uint8).data)
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ValueError(dtype)
    return array


def _flat(value: object, arrays: list[Array]) -> Any:
    """Turn nouns into JSON, whose every object has one key: what it is."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if is_dataclass(value):
        inside = {f.name: _flat(getattr(value, f.name), arrays) for f in fields(value)}
        return {type(value).__name__: inside}
    if isinstance(value, (tuple, list)):
        return [_flat(part, arrays) for part in value]
    return value


def _built(value: Any, arrays: list[Array]) -> Any:
    """Undo `_flat`."""
    if isinstance(value, list):
        return tuple(_built(part, arrays) for part in value)
    if not isinstance(value, dict):
        return value
    ((kind, inside),) = value.items()
    if kind == "array":
        return arrays[inside]
    made = _KINDS[kind](**{name: _built(part, arrays) for name, part in inside.items()})
    if isinstance(made, (Column, Odd)):
        _check_codes(made)
    return made


def _check_codes(part: Column | Odd) -> None:
    """Raise if a code stands for no text."""
    codes = part.codes if isinstance(part, Odd) else part.values
    if part.texts is None or not codes.size:
        return
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= len(part.texts):
        raise ValueError(part.texts[:3])
