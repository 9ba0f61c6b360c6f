"""The .safetensors format, read from its published description.

The header is JSON, and the bytes of the tensors follow it without gaps. The library that writes
such files is not used: what it checks changes from version to version.
"""

import json
import re
from collections import Counter
from itertools import accumulate
from typing import Any, Never

import numpy as np

from dashboard.readers.binary.arrays import contents_of
from dashboard.readers.binary.npy import array_from
from dashboard.readers.binary.tensors import refuse_weights, widened
from dashboard.readers.contents import DEFAULTS, Array, Contents, Options
from dashboard.readers.refusal import FileError, quoted

_MAX_HEADER = 1 << 20
_MAX_LEVELS = 8
_MAX_DIGITS = 18
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_CLOSE = "tensors one after another up to the end of the file"
_STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}
_CODES = {
    "BOOL": "?", "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "I8": "i1", "I16": "<i2",
    "I32": "<i4", "I64": "<i8", "F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip


def read_safetensors(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read named tensors: both sets, or one."""
    header, body = _split(data)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise FileError("header (__metadata__)", "something other than text", "text by name")
    places = {name: _entry(name, entry, len(body)) for name, entry in header.items()}
    _check_places([place for _, _, place in places.values()], len(body))
    refuse_weights(places)
    arrays: dict[str, Array] = {}
    for name, (code, shape, place) in places.items():
        array = array_from(body[place], np.dtype(_CODES[code]), shape, f"tensor {quoted(name)}")
        arrays[name] = widened(array) if code == "BF16" else array
    return contents_of(arrays, options=options)


def _bad_header(problem: str) -> FileError:
    return FileError("header", f"{problem} (invalid header)", "a whole .safetensors file")


def _split(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """Cut the header from the bytes of the tensors, and parse it."""
    size = int.from_bytes(data[:8], "little")
    if size > _MAX_HEADER:
        raise FileError(
            "header", f"a size of {size:,} bytes", f"a header of at most {_MAX_HEADER:,}"
        )
    if size > len(data) - 8:
        raise _bad_header(f"{len(data):,} bytes, too few for it (truncated)")
    try:
        text = data[8 : 8 + size].decode("utf-8")
    except UnicodeDecodeError as error:
        raise _bad_header("bytes that are not UTF-8 text") from error
    levels = accumulate(_STEPS.get(char, 0) for char in _STRING.sub("", text))
    if max(levels, default=0) > _MAX_LEVELS:
        raise _bad_header(f"more than {_MAX_LEVELS} levels of nesting")
    if not text.startswith("{"):
        raise _bad_header("something other than a JSON object")
    try:
        header: dict[str, Any] = json.loads(
            text, object_pairs_hook=_once, parse_int=_whole, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        raise _bad_header("text that is not JSON") from error
    return header, memoryview(data)[8 + size :]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that is there twice, of which a parser would silently take the last."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise _bad_header(f"the name {quoted(twice)} twice")
    return entries


def _whole(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise _bad_header(f"a number of {len(digits):,} digits")
    return int(digits)


def _no_constant(name: str) -> Never:
    raise _bad_header(f"{name} for a number")


def _entry(name: str, entry: Any, n_bytes: int) -> tuple[str, tuple[int, ...], slice]:
    """Give type code, shape and place of one tensor."""
    place = f"tensor {quoted(name)}"
    match entry:
        case {"dtype": str(code), "shape": list(shape), "data_offsets": [start, end]}:
            whole = all(type(n) is int and n >= 0 for n in (*shape, start, end))
        case _:
            whole = False
    if not whole or len(entry) != 3:
        raise FileError(
            place, "an entry of the header that describes no tensor (invalid)",
            "dtype, shape and data_offsets",
        )  # fmt: skip
    if code not in _CODES:
        small = " (8-bit floats hold too few digits)" if code.startswith("F8") else ""
        raise FileError(place, f"type {quoted(code)}{small}", f"one of {', '.join(_CODES)}")
    if not start <= end <= n_bytes:
        raise FileError(
            place, f"offsets {start:,} to {end:,} in {n_bytes:,} bytes (truncated or invalid)",
            "offsets inside the file",
        )  # fmt: skip
    return code, tuple(shape), slice(start, end)


def _check_places(places: list[slice], n_bytes: int) -> None:
    """Refuse bytes that belong to two tensors or to none."""
    position = 0
    for place in sorted(places, key=lambda place: (place.start, place.stop)):
        if place.start != position:
            problem = "overlap" if place.start < position else "leave a gap"
            raise FileError("tensors", f"offsets that {problem} at byte {place.start:,}", _CLOSE)
        position = place.stop
    if position != n_bytes:
        raise FileError("tensors", f"{n_bytes - position:,} bytes after the last", _CLOSE)
