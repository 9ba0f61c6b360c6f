"""Cells of one column, as texts or as numbers of a library's own type, made a `Column`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dashboard.readers.limits import MAX_TEXTS
from dashboard.readers.records import Column, Odd, Texts, unread

MISSING = frozenset(
    {"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", ".", "?", "<na>", "\\n"}
)
"""Texts, in small letters, that say of no column whether it holds numbers."""

_SHARE, _FEW_TEXTS = 0.8, 10_000
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$|^[+-]?(?i:inf|infinity)$"
_SPACES = r"[ \x{a0}\x{2009}\x{202f}'\x{2019}]"
_SPACED = rf"^[+-]?[0-9]{{1,3}}(?:{_SPACES}[0-9]{{3}})+(?:[.,][0-9]+)?$"
_BY_COMMAS = r"^[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?$"
_BY_POINTS = r"^[+-]?[1-9][0-9]{0,2}(?:(?:\.[0-9]{3})+,[0-9]+|(?:\.[0-9]{3}){2,})$"
_EITHER = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"
_POINT = r"^[+-]?[1-9][0-9]{0,2}\.[0-9]{3}$"
_COMMA = r"^[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?$"
_LIST = r"^\[[-+0-9.eEinfatyNIF,\s]+\]$"
_ITEM = rf"{_NUMBER}|^(?i:nan)$"
_MIXED = r",[^\s].*, |, .*,[^\s]|[^,\s\[]\s+[^,\s\]].*,|,.*[^,\s]\s+[^,\s\]]"
"""Lists in which commas, or commas and blanks, mean two things, as decimal commas bring about."""

_OTHER_LIST = rf"(?s)^\[.*(?:{_MIXED}).*\]$|^\([-+0-9.eE, ]+\)$|^[\[(]\s*np\.float|^\[.*,\s*\]$"
_LONG = r"^[+-]?[0-9]{16,}$"


def column_of_texts(
    name: str,
    cells: pa.Array | pa.ChunkedArray | Sequence[str | None],
    *,
    decimal_comma: bool | None = None,
) -> Column:
    """Take texts for numbers, where at least 80% of the cells that say something are.

    ``decimal_comma``: whether other columns show that commas mark decimals, or that points do.
    """
    codes, texts = encoded(cells)
    counts = np.bincount(codes, minlength=len(texts))
    silent = _mask(pc.is_in(pc.utf8_lower(texts), pa.array(sorted(MISSING))))
    says = int(counts[~silent].sum())
    if _holds(texts, "[", "("):
        lists, is_list = _lists(texts, counts)
        if counts[is_list].sum() >= _SHARE * says > 0:
            odd = None if is_list.all() else _odd(codes, texts, ~is_list)
            return Column(name, lists[codes], None, odd)
        if counts[_matches(texts, _OTHER_LIST)].sum() >= _SHARE * says > 0:
            return unread(name, "lists that are not written as [0.1, 0.9]")
    numbers, percents, commas = _numbers(texts, counts, decimal_comma=decimal_comma)
    is_number = _mask(numbers.is_valid())
    if not says or counts[is_number & ~silent].sum() < _SHARE * says or _has_long(texts):
        return _of_texts(name, codes, texts)
    values = numbers.to_numpy(zero_copy_only=False)[codes]
    odd = None if is_number.all() else _odd(codes, texts, ~is_number)
    n_percents, n_commas = (int(counts[marked & is_number].sum()) for marked in (percents, commas))
    return Column(name, values, None, odd, n_percents, n_commas)


def column_of_numbers(name: str, cells: pa.Array | pa.ChunkedArray) -> Column:
    """Take numbers in the type that they have, NaN where there is none."""
    array = joined(cells)
    if pa.types.is_decimal(array.type) or (pa.types.is_boolean(array.type) and array.null_count):
        array = array.cast(pa.int8() if pa.types.is_boolean(array.type) else pa.float64())
    if not array.null_count:
        return Column(name, array.to_numpy(zero_copy_only=False))
    rows = np.flatnonzero(_mask(array.is_null())).astype(np.int64)
    odd = Odd(rows, np.zeros(len(rows), dtype=np.int32), ("",))
    return Column(name, array.to_numpy(zero_copy_only=False), None, odd)


def column_of_dates(name: str, cells: pa.Array | pa.ChunkedArray) -> Column:
    """Write dates and times as texts in ISO 8601, without a time where all are at midnight."""
    array = joined(cells)
    if pa.types.is_timestamp(array.type):
        days = array.cast(pa.date32(), safe=False)
        # Compared as local times: a zone is only how they are shown.
        local = array.cast(pa.timestamp(array.type.unit))
        whole = pc.all(pc.equal(local, days.cast(local.type))).as_py() is not False
        array = days if whole else array
    codes, texts = encoded(array.cast(pa.string()))
    return _of_texts(name, codes, pc.replace_substring_regex(texts, r"\.0+(Z?)$", r"\1"))


def _of_texts(name: str, codes: NDArray[np.int32], texts: pa.Array) -> Column:
    """Keep different texts, many as Arrow has them."""
    if len(texts) > MAX_TEXTS:
        return unread(name, f"more than {MAX_TEXTS:,} different texts")
    if len(texts) <= _FEW_TEXTS:
        return Column(name, codes, tuple(texts.to_pylist()))
    ends, raw = (np.frombuffer(b, t) for b, t in zip(texts.buffers()[1:], "iB", strict=True))
    return Column(name, codes, Texts(raw, ends[texts.offset :][: len(texts) + 1]))


def joined(cells: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Join the chunks, if there are several."""
    if not isinstance(cells, pa.ChunkedArray):
        return cells
    return cells.chunk(0) if cells.num_chunks == 1 else cells.combine_chunks()


def encoded(
    cells: pa.Array | pa.ChunkedArray | Sequence[str | None],
) -> tuple[NDArray[np.int32], pa.Array]:
    """Return each cell's place among the different texts, without blanks around them."""
    if not isinstance(cells, pa.Array | pa.ChunkedArray):
        cells = pa.array(cells, pa.string())
    if not pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    if isinstance(cells, pa.ChunkedArray):
        cells = joined(cells.unify_dictionaries())
    places, texts, has_null = cells.indices, cells.dictionary.cast(pa.string()), cells.null_count
    del cells  # of many texts each copy counts
    if has_null:
        places = places.fill_null(len(texts))
        texts = pa.concat_arrays([texts, pa.array([""])])
    n_texts, texts = len(texts), pc.utf8_trim_whitespace(texts)
    trimmed = texts.dictionary_encode()
    codes = places.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    if len(trimmed.dictionary) == n_texts and not has_null:
        return codes, trimmed.dictionary
    # A text without its blanks may be one that stands in another row.
    codes = trimmed.indices.to_numpy(zero_copy_only=False)[codes]
    return _by_first_row(codes.astype(np.int32, copy=False), trimmed.dictionary)


def _by_first_row(codes: NDArray[np.int32], texts: pa.Array) -> tuple[NDArray[np.int32], pa.Array]:
    """Put texts in the order of their first rows, and drop those of none."""
    first = np.full(len(texts), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    order = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    place = np.zeros(len(texts), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place[codes], texts.take(pa.array(order))


_NARROW = "\u00a0\u2009\u202f"
"""Spaces that the regular expressions of Arrow do not know as such."""


def _numbers(
    texts: pa.Array, counts: NDArray[np.int64], *, decimal_comma: bool | None
) -> tuple[pa.Array, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the number in each text, null where there is none, and its percent sign and comma."""
    none = np.zeros(len(texts), dtype=np.bool_)
    plain, percents, points, commas = texts, none, none, none
    if _holds(texts, "\u2212"):
        plain = pc.replace_substring(plain, "\u2212", "-")
    if _holds(texts, "\u066b"):  # of decimals, in Arabic
        plain = pc.replace_substring(plain, "\u066b", ".")
    if _holds(texts, "%"):
        percents = _matches(plain, "%$")
        plain = pc.replace_substring_regex(plain, f"[\\s{_NARROW}]*%$", "")
    if _holds(plain, *" '\u00a0\u2009\u202f\u2019"):
        plain = _where(plain, _SPACED, _SPACES, "")
    if _holds(plain, "."):
        points = _matches(plain, _BY_POINTS)
    if _holds(plain, ","):
        commas = _matches(plain, _COMMA) | (points & _matches(plain, ","))
        plain, commas = _without_commas(
            plain, commas, counts, by_points=bool(points.any()), decimal_comma=decimal_comma
        )
    elif points.any():
        plain = _where(plain, _BY_POINTS, r"\.", "")
    if _holds(plain, "+"):
        plain = pc.replace_substring_regex(plain, r"^\+", "")
    numbers = pc.if_else(
        pc.match_substring_regex(plain, _NUMBER), plain, pa.scalar(None, pa.string())
    )
    return numbers.cast(pa.float64()), percents, commas


def _without_commas(
    plain: pa.Array,
    commas: NDArray[np.bool_],
    counts: NDArray[np.int64],
    *,
    by_points: bool,
    decimal_comma: bool | None,
) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Write numbers with points, and tell which of the commas were decimal ones."""
    either = _matches(plain, _EITHER) & (decimal_comma is not False)
    grouped = _matches(plain, _BY_COMMAS) & ~either
    n_commas = counts[commas & ~either & ~grouped].sum()
    plain = _where(plain, _BY_POINTS, r"\.", "") if by_points else plain
    if (n_commas or decimal_comma) and n_commas >= counts[grouped].sum():
        # A point alone parts thousands only where another number shows that points do.
        plain = _where(plain, _POINT, r"\.", "") if by_points else plain
        return _where(plain, _COMMA, ",", ".", literal=True), commas
    return _where(plain, _BY_COMMAS, ",", "") if grouped.any() else plain, commas & False


def _holds(texts: pa.Array, *marks: str) -> bool:
    """Return whether a sign is anywhere in the texts, far faster than text by text."""
    data = texts.buffers()[2]
    raw = b"" if data is None else data.to_pybytes()
    return any(mark.encode() in raw for mark in marks)


def _where(texts: pa.Array, shape: str, part: str, new: str, *, literal: bool = False) -> pa.Array:
    """Replace a part of the texts of one shape."""
    matched = pc.match_substring_regex(texts, shape)
    if not pc.any(matched).as_py():
        return texts
    replace = pc.replace_substring if literal else pc.replace_substring_regex
    return pc.if_else(matched, replace(texts, part, new), texts)


def _lists(
    texts: pa.Array, counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Read lists of numbers in square brackets, and mark those of the usual length."""
    is_list = _matches(texts, _LIST) & ~_matches(texts, f"(?s){_MIXED}")
    if not is_list.any():
        return np.empty((len(texts), 0)), is_list
    bare = pc.utf8_trim(texts.filter(pa.array(is_list)), "[] \n\t\r")
    parts = pc.split_pattern(pc.replace_substring_regex(bare, r"\s*,\s*|\s+", ","), ",")
    widths = pc.list_value_length(parts).to_numpy()
    width = int(np.bincount(widths, counts[is_list]).argmax())
    parts = parts.filter(pa.array(widths == width))
    is_list[is_list] = widths == width
    cells = parts.flatten()
    good = _matches(cells, _ITEM).reshape(-1, width).all(axis=1)
    is_list[is_list] = good
    numbers = pc.replace_substring_regex(parts.filter(pa.array(good)).flatten(), r"^\+", "")
    values = np.full((len(texts), width), np.nan)
    values[is_list] = numbers.cast(pa.float64()).to_numpy(zero_copy_only=False).reshape(-1, width)
    return values, is_list


def _has_long(texts: pa.Array) -> bool:
    """Recognise whole numbers of more digits than a double has: they are names."""
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    return longest > 15 and bool(_matches(texts, _LONG).any())


def _odd(codes: NDArray[np.int32], texts: pa.Array, odd: NDArray[np.bool_]) -> Odd:
    """Note the cells whose text is no number."""
    places = np.flatnonzero(odd)
    rows = np.flatnonzero(odd[codes])
    kinds = np.searchsorted(places, codes[rows]).astype(np.int32)
    return Odd(rows.astype(np.int64), kinds, tuple(texts.take(pa.array(places)).to_pylist()))


def _matches(texts: pa.Array, shape: str) -> NDArray[np.bool_]:
    return _mask(pc.match_substring_regex(texts, shape))


def _mask(booleans: Any) -> NDArray[np.bool_]:
    """Return an array of numpy that can be changed."""
    return np.array(booleans.to_numpy(zero_copy_only=False), dtype=np.bool_)
