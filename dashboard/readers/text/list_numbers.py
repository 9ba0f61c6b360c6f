"""Cells that hold lists of numbers, of the same length and spelled alike, decoded at once."""

import re
from typing import Any

import numpy as np

from calibcore.validation import Floats
from dashboard.readers.text.arrow_text import bare, batch_of, is_plain_nan

_WRAPS = (b"np.float64(", b"np.float32(", b"np.float16(")
_WRAP = b"\x01"
_BLANKS = bytes.maketrans(b"\t\n\v\f", b"    ")
_TO_LINES = bytes.maketrans(b",[])\x01", b"\n \n  ")
_NO_MARKS = bytes(set(range(256)).difference(b"[](),\x01"))
_NO_BLANKS = bytes(set(range(256)).difference(b"[] "))
_LAST = re.compile(rb", *+\]")
_TWO_WAYS = re.compile(rb", [^\[\],]*+,(?=[^ \]])|,(?=[^ \]])[^\[\],]*+, ")
"""A comma before a blank next to one before a digit: the latter may mark decimals."""


def numbers_in(cells: Any, width: int) -> Floats | None:
    """Give the numbers of all lists, or nothing where one is not as it should be.

    Parameters
    ----------
    cells : pyarrow.StringArray
        The lists, as Python or NumPy writes them, or tuples.
    width : int
        How many numbers each has.
    """
    import pyarrow as pa  # noqa: PLC0415 - a tenth of a second to import

    text = _together(cells)
    if not width or text is None or _WRAP in text:
        return None
    for wrap in _WRAPS:
        text = text.replace(wrap, _WRAP)
    text = text.translate(_BLANKS)
    if b"(" in text:
        if b"[" in text:
            return None
        text = text.replace(b"(", b"[")
        text = text.replace(b"))", b")]") if _WRAP in text else text.replace(b")", b"]")
    listed = _parted(text, width, len(cells))
    batch = listed and batch_of(listed, ["0"], {"0": pa.float64()}, "\x02")
    if not batch or len(batch) != width * len(cells):
        return None
    numbers = bare(batch.column(0), np.float64)
    return numbers if np.isfinite(numbers).all() or is_plain_nan(text) else None


def _together(cells: Any) -> bytes | None:
    """Give the cells one after another, if each begins and ends with a bracket."""
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    for some in (cells, pc.ascii_trim_whitespace(cells)):
        _, places, data = some.buffers()
        ends = np.frombuffer(places, np.int32, len(some) + 1, some.offset * 4)
        text = np.frombuffer(data or b"", dtype=np.uint8)
        if not len(text) or (np.diff(ends) == 0).any():
            return None
        opens, closes = text[ends[:-1]], text[ends[1:] - 1]
        lists = ((opens == ord("[")) & (closes == ord("]"))).all()
        if lists or ((opens == ord("(")) & (closes == ord(")"))).all():
            return text[ends[0] : ends[-1]].tobytes()
    return None


def _parted(text: bytes, width: int, n_lists: int) -> bytes | None:
    """Give a number a line, if all lists have as many and the same separators."""
    one = b"[" + b",".join([_WRAP + b")" if _WRAP in text else b""] * width) + b"]"
    marks = text.translate(None, _NO_MARKS)
    if width and marks == (one[:-1] + b",]") * n_lists:
        text = _LAST.sub(b"]", text)
        marks = one * n_lists
    if marks == one * n_lists:
        n_commas, n_spaced = text.count(b","), text.count(b", ")
        if 0 < n_spaced < n_commas and _TWO_WAYS.search(text):
            return None
        return text.translate(_TO_LINES)
    if b"," in text or _WRAP in text:
        return None
    bare_text = b" ".join(text.split()).replace(b"[ ", b"[").replace(b" ]", b"]")
    if bare_text.translate(None, _NO_BLANKS) != (b"[" + b" " * (width - 1) + b"]") * n_lists:
        return None
    return bare_text.replace(b" ", b",").translate(_TO_LINES)
