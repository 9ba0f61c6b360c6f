"""Columns of a sheet whose numbers are written as texts: with percent signs or decimal commas."""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.readers.headings import LABELS, PREDICTED, key_of
from dashboard.readers.refusal import plain
from dashboard.readers.slices import NUMBER
from dashboard.readers.table_columns import MAX_TEXT, Column, Text

_PERCENT = re.compile(r"(.*?)\s*%")
_DECIMAL = re.compile(r"[+-]?(?:0?,[0-9]+|[0-9]+,(?![0-9]{3}\Z)[0-9]+)")
"""A comma that parts no thousands."""


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
