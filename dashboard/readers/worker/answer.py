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
    """Read JSON behind its length; ValueError beyond ``most`` bytes, TypeError for no object."""
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
    write_head(out, {"refused": [error.field, error.found, error.expected]})
    out.flush()


def read_parsed(read: Read, most: int) -> Parsed:
    """Open an answer whose arrays have at most so many bytes together."""
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
    if kind in _CHECKS:  # columns of any lengths were checked one by one
        _CHECKS[kind](made)
    return made


def _check_odd(odd: Odd) -> None:
    """Raise if the rows and codes of odd cells do not belong together."""
    _check_codes(odd.codes, odd.texts)
    if odd.rows.shape != odd.codes.shape or odd.rows.dtype.kind not in "iu" or odd.rows.ndim != 1:
        raise ValueError(odd.rows.shape)
    if odd.rows.size and (odd.rows[0] < 0 or (np.diff(odd.rows) <= 0).any()):
        raise ValueError(odd.rows[:3])


def _check_column(column: Column) -> None:
    """Raise if a code stands for no text, or an odd cell for no row."""
    if not isinstance(column.values, np.ndarray) or not column.values.ndim:
        raise TypeError(column.values)
    if column.texts is not None:
        _check_codes(column.values, column.texts)
    rows = column.values[:0] if column.odd is None else column.odd.rows
    if rows.size and rows[-1] >= len(column.values):
        raise ValueError(rows[-1])


def _check_table(table: Table) -> None:
    """Raise if a column that is kept, or the rows that were passed over, are not of its length."""
    if type(table.n_rows) is not int or type(table.first_row) is not int or table.n_rows < 0:
        raise TypeError(table.n_rows)
    if any(len(c.values) != table.n_rows for c in table.columns if not c.unread):
        raise ValueError(table.n_rows)
    if table.among is not None and np.count_nonzero(table.among) != table.n_rows:
        raise ValueError(table.among.shape)


def _check_codes(codes: Array, texts: tuple[str, ...]) -> None:
    """Raise if a code stands for no text."""
    if not codes.size:
        return
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= len(texts):
        raise ValueError(texts[:3])


_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "Odd": _check_odd, "Column": _check_column, "Table": _check_table,
}  # fmt: skip
