"""Texts of a workbook: many at once from its bytes, and columns of them that are numbers.

Such columns are written with percent signs or decimal commas.
"""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.readers.columns.headings import LABELS, PREDICTED, key_of
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.columns.table_columns import MAX_TEXT, Column, Text
from dashboard.readers.refusal import plain

_PERCENT = re.compile(r"(.*?)\s*%")
_DECIMAL = re.compile(r"[+-]?(?:0?,[0-9]+|[0-9]+,(?![0-9]{3}\Z)[0-9]+)")
"""A comma that parts no thousands."""

MAX_CELL = 40_000
"""Longest text that is read at all."""

_CONTROLS = bytes({*range(1, 32)} - {9, 10})
_NO_SIGNS = b"\xef\xbf\xbe", b"\xef\xbf\xbf"
_OTHER_ENTITY = re.compile(b"&(?!(?:amp|lt|gt|quot|apos);)")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))


def plain_texts(joined: bytes) -> list[str] | None:
    r"""Decode texts of XML, each followed by a NUL, or nothing where a parser is to look at them.

    Examples
    --------
    >>> plain_texts(b"cat\0R&amp;B\0"), plain_texts(b"&#65;\0")
    (['cat', 'R&B'], None)
    """
    if len(joined.translate(None, _CONTROLS)) < len(joined) or any(map(joined.count, _NO_SIGNS)):
        return None
    if b"&" in joined and _OTHER_ENTITY.search(joined):
        return None
    try:
        text = joined.decode("utf-8")
    except UnicodeDecodeError:
        return None
    for entity, sign in _ENTITIES if "&" in text else ():
        text = text.replace(entity, sign)
    texts = text.split("\0")[:-1]
    return texts if max(map(len, texts), default=0) <= MAX_CELL else None


def numbers_in_texts(
    columns: Mapping[int, Column], names: Sequence[str]
) -> tuple[dict[int, Column], tuple[str, ...]]:
    """Turn columns of such texts into numbers, and say of which; a class may be called ``5%``.

    Parameters
    ----------
    columns : mapping of int to column
        By their places in the sheet.
    names : sequence of str
        Of all columns.
    """
    told = dict(columns)
    mended: dict[str, list[str]] = {}
    for c, column in columns.items():
        named = key_of(names[c]) in LABELS | PREDICTED
        if isinstance(column, Text) and column.cells and not named:
            values, what = _values(column.cells)
            if what:
                told[c] = np.array(values)[column.codes]
                mended.setdefault(what, []).append(plain(names[c].strip() or f"{c + 1}", 30))
    return told, tuple(f"{what} ({_listed(of)})." for what, of in mended.items())


def _values(cells: Sequence[str]) -> tuple[list[float], str]:
    """Read texts as numbers, and say how; nothing where that cannot be told."""
    bare = [cell.strip() for cell in cells]
    there = [cell for cell in bare if cell]
    signs = [_PERCENT.fullmatch(cell) for cell in there if len(cell) <= MAX_TEXT]
    percent = bool(there) and len(signs) == len(there) and all(signs)
    texts = [str(sign[1]) for sign in signs if sign] if percent else there
    commas = any(map(_DECIMAL.fullmatch, texts)) and not any("." in text for text in texts)
    points = [text.replace(",", ".", 1) if commas else text for text in texts]
    long = any(len(text) > MAX_TEXT for text in points)
    if not (percent or commas) or long or not all(map(NUMBER.fullmatch, points)):
        return [], ""
    read = iter(float(text) / (100 if percent else 1) for text in points)
    signed = "Texts with percent signs were divided by 100" if percent else ""
    what = signed or "Texts with decimal commas were read as numbers"
    return [next(read) if cell else math.nan for cell in bare], what


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 6:,} more" if len(names) > 6 else ""
    return f"column{'s' * (len(names) > 1)} {', '.join(names[:6])}{more}"
