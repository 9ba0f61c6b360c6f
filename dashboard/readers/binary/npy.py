"""NumPy's .npy format, read from its published description and not by NumPy's own loader.

NumPy's loader evaluates the header and allocates what it declares; here the header is matched
against one pattern, and its sizes are checked against the bytes before an array is made.
"""

import re
from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.contents import Array, Contents, RawSet
from dashboard.readers.meaning.labels import label_numbers
from dashboard.readers.refusal import FileError, quoted

_MAGIC = b"\x93NUMPY"
_MAX_HEADER = 4096
_MAX_TEXT = 256
_MAX_TEXTS = 100_000
_MOST_TEXT_BYTES = 128 << 20
_PART, _MANY, _SPARE_BYTES = 1 << 20, 1 << 16, 64 << 20
_ENTRY = re.compile(
    r"\s*['\"](descr|fortran_order|shape)['\"]\s*:\s*"
    r"(?:['\"](?P<descr>[^'\"\\]{1,16})['\"]|(?P<order>True|False)|\((?P<shape>[0-9L, ]*)\))"
    r"\s*(?:,|$)"
)
_NUMERIC = re.compile(r"[<>|=]?(b1|i[1248]|u[1248]|f[248])", re.ASCII)
_TEXT = re.compile(r"[<>=]?U([0-9]{1,3})", re.ASCII)
_VALUE = re.compile(r"[+-]?(?:[0-9.]*(?:e[+-]?[0-9]+)?|nan|inf(?:inity)?)")
_STRUCTURED = re.compile(r"\{\s*'descr'\s*:\s*\[")
_SHAPE = re.compile(r"\s*(?:[0-9]{1,18}L?\s*,\s*)*(?:[0-9]{1,18}L?\s*)?", re.ASCII)

NUMBERS = "bool, integers or floats of 1 to 8 bytes"


def numeric_dtype(code: str, place: str) -> np.dtype[np.generic]:
    """Turn a type code into a plain numeric type, or refuse it by name."""
    if not _NUMERIC.fullmatch(code):
        kind = {"O": "Python objects, which are a pickle", "c": "complex numbers"}
        kind |= {"M": "dates, not a numeric type", "m": "spans of time"}
        text = {"U": "text", "S": "text", "V": "structured or untyped bytes", "a": "text"}
        said = (kind | text).get(code.lstrip("<>|=")[:1], "not a numeric type")
        raise FileError(place, f"type {quoted(code)} ({said})", NUMBERS)
    return np.dtype(code)


def array_from(
    raw: bytes | memoryview,
    dtype: np.dtype[np.generic],
    shape: tuple[int, ...],
    place: str,
    *,
    fortran: bool = False,
) -> Array:
    """Lay an array over bytes, once its declared size is known to be exactly theirs."""
    if len(shape) > 3:
        raise FileError(place, f"{len(shape)} dimensions", "a shape of 1 or 2 dimensions")
    declared = prod(shape) * dtype.itemsize
    if declared != len(raw):
        problem = "truncated" if declared > len(raw) else "extra bytes follow"
        raise FileError(
            place,
            f"{len(raw):,} bytes of values where the shape declares {declared:,} ({problem})",
            "exactly the declared size",
        )
    if declared == 0:
        raise FileError(place, f"an empty array of shape {shape}", "at least one row")
    if dtype.kind == "b":
        # A byte other than 0 and 1 behind a NumPy bool has no defined meaning.
        flat: Array = np.frombuffer(raw, dtype=np.uint8) != 0
    else:
        flat = np.frombuffer(raw, dtype=dtype).astype(dtype.newbyteorder("="), copy=False)
    return flat.reshape(shape, order="F" if fortran else "C")


def parse_npy(data: bytes | memoryview, place: str, *, text: bool = False) -> Array:
    """Read one array.

    Parameters
    ----------
    data : bytes
        The whole of a .npy file.
    place : str
        What a refusal calls it.
    text : bool, default False
        Also take an array of text.
    """
    header, raw = _header(memoryview(data), place)
    descr, fortran, shape = _entries(header, place)
    width = _TEXT.fullmatch(descr)
    if text and width:
        return _text_array(raw, descr, int(width[1]), shape, place)
    return array_from(raw, numeric_dtype(descr, place), shape, place, fortran=fortran)


def unfit(data: bytes | memoryview, place: str, *, text_room: int) -> FileError | None:
    """Tell from its header an array that holds neither numbers nor names.

    Parameters
    ----------
    data, place
        As in `parse_npy`.
    text_room : int
        Most bytes of text.
    """
    header, raw = _header(memoryview(data), place)
    if _STRUCTURED.match(header):
        return FileError(place, "a structured type", NUMBERS)
    descr, _, shape = _entries(header, place)
    width = _TEXT.fullmatch(descr)
    if not shape or 0 in shape or len(shape) > 3:
        what = "" if shape else "a single value, "
        return FileError(
            place, f"{what}an array of shape {shape}", "at least one row, and 1 or 2 dimensions"
        )
    if width and (len(shape) > 1 or not 0 < int(width[1]) <= _MAX_TEXT or len(raw) > text_room):
        found = f"text of {width[1]} characters, shape {shape}"
        return FileError(place, found, "a list of short names")
    if width and len(raw) > _MOST_TEXT_BYTES:
        return FileError(place, f"{len(raw) >> 20:,} MB of text", "class numbers, or fewer rows")
    return None if width else _unlike_numbers(descr, place)


def _unlike_numbers(descr: str, place: str) -> FileError | None:
    try:
        numeric_dtype(descr, place)
    except FileError as error:
        return error
    return None


def read_npy(data: bytes) -> Contents:
    """Read a bare array: the logits or the labels of one set, to be joined with the other."""
    return piece(parse_npy(data, "the array", text=True))


def piece(array: Array) -> Contents:
    """Tell whether a bare array is a table of values or a column of labels."""
    if array.dtype.kind == "U":
        return _labels(array)
    place = _joint_label(array)
    if place is not None:
        said = f"The {'last' if place else 'first'} column was taken for the label, having whole"
        table = array[:, :-1] if place else array[:, 1:]
        if table.shape[1] == 1:
            table = table[:, 0]
        return Contents({"rows": RawSet(table, array[:, place])}, (f"{said} numbers alone.",))
    column = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if column.ndim == 1 and is_whole(column):
        return Contents({"rows": RawSet(None, column)})
    return Contents({"rows": RawSet(column, None)})


def _labels(array: Array) -> Contents:
    """Take texts for labels, unless some are values or blank."""
    texts, codes = text_codes(array, "the array")
    named = [text.strip().lower() for text in texts]
    values = [t for t in named if _VALUE.fullmatch(t) and not t.isdigit()]
    if values:
        found = f"type {quoted(array.dtype.str)} (text, such as {quoted(values[0], 20)})"
        raise FileError("the array", found, f"{NUMBERS}, or names of classes")
    numbers = label_numbers(named)
    if numbers is not None:
        return Contents({"rows": RawSet(None, numbers[codes])})
    return Contents({"rows": RawSet(None, codes, label_texts=texts)})


def text_codes(array: Array, place: str) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Give the different texts in their order, and each row's place among them.

    Notes
    -----
    A part at a time, since what ``numpy.unique`` needs on the way is many times the array.
    """
    if array.size != len(array):
        raise FileError(place, f"texts of shape {array.shape}", "one text a row")
    array = array.reshape(-1)
    seen: dict[str, int] = {}
    codes = np.empty(len(array), dtype=np.int32)
    few = len(array) < _MANY
    for start in range(0, len(array), _PART):
        texts, places = _different(array[start : start + _PART], sort=few)
        known = [seen.setdefault(text, len(seen)) for text in texts.tolist()]
        if len(seen) > _MAX_TEXTS:
            raise FileError(place, f"more than {_MAX_TEXTS:,} different texts", "fewer classes")
        codes[start : start + _PART] = np.array(known, dtype=np.int32)[places]
    order = sorted(seen)
    ranks = np.empty(len(seen), dtype=np.int32)
    ranks[[seen[text] for text in order]] = np.arange(len(order))
    return tuple(order), ranks[codes]


def _different(array: Array, *, sort: bool) -> tuple[Array, Array]:
    """Give the different texts of an array, and each row's place among them."""
    if sort:
        texts, places = np.unique(array, return_inverse=True)
        return texts, places
    import pyarrow as pa  # noqa: PLC0415 - a sixth of a second to import

    # Texts are the same where their bytes are; to sort them takes ten times as long.
    whole = np.ascontiguousarray(array)
    buffers = [None, pa.py_buffer(whole.view(np.uint8))]
    rows = pa.FixedSizeBinaryArray.from_buffers(pa.binary(whole.itemsize), len(whole), buffers)
    coded = rows.dictionary_encode()
    raw = coded.dictionary.buffers()[1]
    return np.frombuffer(raw, whole.dtype, len(coded.dictionary)), coded.indices.to_numpy()


def _joint_label(array: Array) -> int | None:
    """Find the last or the first column of a table to hold class numbers, and no other to."""
    if array.ndim != 2 or array.dtype.kind != "f" or len(array) < 5 or array.shape[1] < 2:
        return None
    last = max(1, array.shape[1] - 1)
    for place in (-1, 0):
        labels = array[:, place]
        others = array[:, :-1] if place else array[:, 1:]
        first = array[0, :-1] if place else array[0, 1:]
        with np.errstate(invalid="ignore"):
            of_counts = bool((first == np.floor(first)).all())
        if not is_whole(labels) or of_counts:
            continue
        low, high = labels.min(), labels.max()
        in_range = 0 <= low < high <= last and not counts(labels)
        if in_range and not any(is_whole(column) for column in others.T):
            return place
    return None


def counts(column: Array) -> bool:
    """Tell a column in which each number is one more than the one before."""
    return bool((np.diff(column) == 1).all())


def is_whole(array: Array) -> bool:
    """Tell whether every value is a whole number."""
    if array.dtype.kind != "f":
        return True
    with np.errstate(invalid="ignore"):
        return bool(np.isfinite(array).all()) and bool(np.all(array == np.floor(array)))


def side_by_side(columns: Sequence[Array]) -> Array:
    """Make a table of columns, without a copy where they stand side by side in one already."""
    first = columns[0]
    if len(columns) == 1:
        return first[:, np.newaxis]
    base, dtype, strides, step = first.base, first.dtype, first.strides, first.itemsize
    if (
        base is not None
        and len(columns) * step <= strides[0]
        and all(column.base is base and column.dtype == dtype for column in columns)
        and all(column.strides == strides for column in columns)
        and _are_steps([column.__array_interface__["data"][0] for column in columns], step)
    ):
        shape = len(first), len(columns)
        return np.lib.stride_tricks.as_strided(first, shape, (strides[0], step), writeable=False)
    common = np.result_type(*{column.dtype for column in columns})
    before, after = sum(c.nbytes for c in columns), len(columns) * len(first) * common.itemsize
    if after > 2 * before + _SPARE_BYTES:
        kinds = " and ".join(sorted({column.dtype.name for column in columns})[:3])
        raise FileError("columns", f"numbers of types {kinds}", "numbers of one type")
    return np.column_stack(columns)


def _are_steps(places: list[int], step: int) -> bool:
    return places == [*range(places[0], places[0] + len(places) * step, step)]


def _header(data: memoryview, place: str) -> tuple[str, memoryview]:
    """Cut the header's text from the values."""
    if bytes(data[:6]) != _MAGIC:
        raise FileError(
            place, "bytes that are not a NumPy array", "a .npy array as numpy.save writes"
        )
    if len(data) < 12 or data[6] not in (1, 2, 3):
        raise FileError(place, "a truncated or unknown .npy header", "format version 1, 2 or 3")
    start = 10 if data[6] == 1 else 12
    length = int.from_bytes(data[8:start], "little")
    if length > _MAX_HEADER:
        raise FileError(
            place, f"a header of {length:,} bytes", f"a header of at most {_MAX_HEADER:,}"
        )
    if start + length > len(data):
        raise FileError(place, "a truncated header", "a whole .npy file")
    return bytes(data[start : start + length]).decode("latin-1"), data[start + length :]


def _entries(header: str, place: str) -> tuple[str, bool, tuple[int, ...]]:
    """Match the three entries of the header, each once and nothing else."""
    body = header.strip()
    values: dict[str, str] = {}
    inside = body[1:-1].rstrip() if body[:1] == "{" and body[-1:] == "}" else ""
    position = 0
    while position < len(inside):
        entry = _ENTRY.match(inside, position)
        if entry is None:
            break
        name = {"descr": "descr", "order": "fortran_order", "shape": "shape"}[str(entry.lastgroup)]
        if name != entry[1] or name in values:
            break
        values[name] = str(entry[str(entry.lastgroup)])
        position = entry.end()
    if position < len(inside) or len(values) != 3 or not _SHAPE.fullmatch(values["shape"]):
        raise FileError(
            place, "a damaged header, or a structured type", "one simple type and a shape"
        )
    shape = tuple(int(n) for n in re.findall("[0-9]+", values["shape"]))
    return values["descr"], values["fortran_order"] == "True", shape


def _text_array(
    raw: memoryview, descr: str, width: int, shape: tuple[int, ...], place: str
) -> Array:
    """Read names, whose code points NumPy itself does not check until they are used."""
    if not 1 <= width <= _MAX_TEXT or len(shape) != 1:
        raise FileError(
            place, f"text of {width} characters, shape {shape}", "a list of short names"
        )
    order = ">" if descr[0] == ">" else "<"
    points = array_from(raw, np.dtype(f"{order}u4"), (*shape, width), place)
    if ((points > 0x10FFFF) | ((points >= 0xD800) & (points < 0xE000))).any():
        raise FileError(place, "bytes that are not characters", "text")
    return np.ascontiguousarray(points).view(f"U{width}")[:, 0]
