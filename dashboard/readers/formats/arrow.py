"""Columns of Arrow tables, which Parquet and JSON share: nested ones become flat ones."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types

from dashboard.readers.formats.cells import (
    column_of_dates,
    column_of_numbers,
    column_of_texts,
    encoded,
    joined,
)
from dashboard.readers.formats.heading import is_number
from dashboard.readers.limits import MAX_COLUMNS, MAX_NESTED
from dashboard.readers.records import Column, FileTable, Odd, by_number, unread
from dashboard.readers.refusal import FileError, quoted, visible

NO_ARROW = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)
_ONE = (str, int, float, bool, type(None))
_CLASS_KEYS = (
    "label", "class", "class_name", "name", "category", "display_name", "display_names", "classes",
    "labels", "class_names", "class_id", "token", "id", "ids",
)  # fmt: skip
"""What a class is called beside its score, the most telling first."""

_SCORE_KEYS = (
    "score", "prob", "probability", "confidence", "proba", "p", "scores", "probs", "probabilities",
    "confidences", "probas", "logits", "logprob", "value",
)  # fmt: skip
_MAX_CATEGORIES, _MAX_RANKS = 4096, 100
_TOO_MANY = "lists of too many classes"
_N_SHOWN, _ITEMS_SHOWN, _CELL_SHOWN = 10, 4, 60


def table_of(columns: Iterable[Column], n_rows: int, notes: tuple[str, ...] = ()) -> FileTable:
    """Put columns together, and write their first rows."""
    whole = tuple(columns)
    if not n_rows or not whole:
        raise FileError("file", "no rows" if whole else "no columns", "one row or more")
    check_columns(len(whole))
    wide = next((column for column in whole if _is_too_wide(column)), None)
    if wide is not None and not any(
        c.values.dtype.kind == "f" for c in whole if c is not wide and not c.unread
    ):
        text = f"lists of more than {MAX_COLUMNS:,} classes"
        raise FileError(f"column {quoted(wide.name)}", text, "as many at most, or an .npz")
    return FileTable(whole, n_rows, shown=shown_of(whole, n_rows), notes=notes)


def _is_too_wide(column: Column) -> bool:
    """Return whether a column lists more classes than a table may have."""
    long = column.values.ndim == 2 and column.values.shape[1] > MAX_COLUMNS
    return long or column.unread == _TOO_MANY


def check_columns(n_columns: int) -> None:
    """Refuse more columns than are read."""
    if n_columns > MAX_COLUMNS:
        wanted = f"at most {MAX_COLUMNS:,}; of more classes, an .npz"
        raise FileError("file", f"{n_columns:,} columns", wanted)


def columns_of_fields(
    kinds: Mapping[str, pa.DataType],
    load: Callable[[str], pa.ChunkedArray],
    prefix: str = "",
    depth: int = 0,
) -> list[Column]:
    """Make columns of the members of objects, of which two may list classes and their scores."""
    columns: list[Column] = []
    listed = {name: kind.value_type for name, kind in kinds.items() if _is_list(kind)}
    pair = _keys_of_pair(listed)
    if pair is not None:
        classes, scores = (joined(load(key)) for key in pair)
        lengths = _lengths(classes)
        if lengths.any() and (lengths == _lengths(scores)).all():
            kinds = {name: kind for name, kind in kinds.items() if name not in pair}
            values = column_of_numbers("", scores.flatten()).values
            columns = _columns_of_classes(prefix + pair[1], lengths, classes.flatten(), values)
    for name, kind in kinds.items():
        why = _why_unread(kind)
        columns += (
            [unread(prefix + name, why)] if why else columns_of(prefix + name, load(name), depth)
        )
    return columns


def columns_of(name: str, cells: pa.ChunkedArray, depth: int = 0) -> list[Column]:
    """Make columns of one Arrow column: several of a struct, with dots in their names.

    >>> cells = pa.chunked_array([[{"p": [0.5, 0.5], "id": 7}]])
    >>> [(column.name, column.values.shape) for column in columns_of("out", cells)]
    [('out.p', (1, 2)), ('out.id', (1,))]
    """
    kind = cells.type
    if types.is_nested(kind) and depth >= MAX_NESTED:
        return [unread(name, "values nested too deeply")]
    if types.is_struct(kind):
        return _of_struct(name, cells, depth)
    if _is_list(kind):
        return _of_lists(name, cells, depth)
    return [_plain(name, cells)]


def _plain(name: str, cells: pa.ChunkedArray) -> Column:
    """Make a column of single values."""
    kind = cells.type
    if types.is_dictionary(kind):
        coded = types.is_string(kind.value_type) or types.is_large_string(kind.value_type)
        return (
            column_of_texts(name, _used(cells))
            if coded
            else _plain(name, cells.cast(kind.value_type))
        )
    if types.is_string(kind) or types.is_large_string(kind):
        return column_of_texts(name, cells)
    if types.is_null(kind) or types.is_string_view(kind):
        return column_of_texts(name, cells.cast(pa.string()))
    if _is_number(kind):
        return column_of_numbers(name, cells)
    if types.is_temporal(kind) and not _why_unread(kind):
        return column_of_dates(name, cells)
    return unread(name, _why_unread(kind) or "objects")


def _why_unread(kind: pa.DataType) -> str:
    """Return why no column can hold such values, if none can."""
    if types.is_map(kind) or types.is_union(kind):
        return "objects"
    if types.is_duration(kind) or types.is_interval(kind):
        return "durations"
    return "bytes" if "binary" in str(kind) and not types.is_nested(kind) else ""


def _is_list(kind: pa.DataType) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
    )


def _used(cells: pa.ChunkedArray) -> pa.DictionaryArray:
    """Keep the texts that stand in a row, in the order of their rows; a library may keep more."""
    whole = joined(cells.unify_dictionaries())
    places = pc.unique(whole.indices).drop_null()
    return pa.DictionaryArray.from_arrays(
        pc.index_in(whole.indices, places), whole.dictionary.take(places)
    )


def _lengths(lists: pa.Array) -> NDArray[np.int64]:
    """Return the length of each list, 0 for a null."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    return np.asarray(lengths.to_numpy(zero_copy_only=False), dtype=np.int64)


def _of_struct(name: str, cells: pa.ChunkedArray, depth: int) -> list[Column]:
    """Make a column of each member; of a vector as Spark writes it, of its values."""
    names = [field.name for field in cells.type]
    parts = cells.flatten()
    kind = "vectorType" if "vectorType" in names else "type"
    if {kind, "values"} <= {*names} <= {kind, "size", "length", "indices", "values"}:
        if {*pc.unique(parts[names.index(kind)]).to_pylist()} - {1, "dense", None}:
            return [unread(name, "sparse vectors")]
        return columns_of(name, parts[names.index("values")], depth + 1)
    members = dict(zip(names, parts, strict=True))
    kinds = {key: part.type for key, part in members.items()}
    return columns_of_fields(kinds, members.__getitem__, f"{name}." if name else "", depth + 1)


def _of_lists(name: str, cells: pa.ChunkedArray, depth: int) -> list[Column]:
    """Make one column of lists of as many numbers, or several of lists of classes."""
    array = joined(cells)
    lengths, items = _lengths(array), array.flatten()
    kind = items.type
    if types.is_list(kind) and lengths.size and (lengths == 1).all():
        # A batch of one row.
        return columns_of(name, pa.chunked_array([items]), depth + 1)
    if types.is_struct(kind):
        return _of_objects(name, items, lengths, depth)
    if types.is_list(kind) and (first := _first_of_pairs(items)) is not None:
        items, kind = first, first.type
    nested = types.is_nested(kind)
    flat = columns_of(name, pa.chunked_array([items]), depth + 1)[0] if not nested else None
    if flat is None or flat.values.ndim > 1:  # texts may hold lists too
        return [unread(name, "nested lists")]
    words = [text for text in (flat.odd.texts if flat.odd else flat.texts or ()) if text]
    words.sort(key=is_number)
    if flat.unread or words or flat.is_text:
        such = f"texts such as {quoted(words[0])}" if words else "blank cells"
        return [unread(name, f"lists of {flat.unread or such}")]
    return [_even(flat, lengths)]


def _of_objects(name: str, items: pa.Array, lengths: NDArray[np.int64], depth: int) -> list[Column]:
    """Make columns of lists of objects: of one each, or of classes and their scores."""
    kind = items.type
    pair = _keys_of_pair({field.name: field.type for field in kind})
    deeper = pair is None or any(types.is_nested(field.type) for field in kind)
    if deeper and lengths.size and (lengths == 1).all():
        return columns_of(name, pa.chunked_array([items]), depth + 1)
    if pair is None:
        return [unread(name, "lists of objects")]
    classes, scores = (pc.struct_field(items, key) for key in pair)
    return _columns_of_classes(name, lengths, classes, column_of_numbers("", scores).values)


def _first_of_pairs(pairs: pa.ListArray) -> pa.Array | None:
    """Return the log-likelihoods of pairs as `_is_pair`, where both are texts."""
    if not types.is_string(pairs.type.value_type) or not (_lengths(pairs) == 2).all():
        return None
    items = pairs.flatten()
    flags = {*pc.unique(items.take(pa.array(range(1, len(items), 2)))).to_pylist()}
    fits = flags <= {"True", "False", "true", "false"} and len(items)
    return items.take(pa.array(range(0, len(items), 2))) if fits else None


def _even(flat: Column, lengths: NDArray[np.int64]) -> Column:
    """Put the items of all lists in rows, if all have as many; an empty list is a blank cell."""
    width = int(lengths.max(initial=0))
    blank = lengths == 0
    if not width:
        return unread(flat.name, "empty lists")
    wrong = (lengths != width) & ~blank
    if wrong.any():
        row = int(wrong.argmax())
        first = int((lengths == width).argmax())
        why = f"lists of unequal length: {width:,} in row {first + 1:,}, {lengths[row]:,} in row"
        return unread(flat.name, f"{why} {row + 1:,}")
    if not blank.any():
        return replace(flat, values=flat.values.reshape(-1, width), odd=None)
    values = np.full((len(lengths), width), np.nan, np.result_type(flat.values, np.float32))
    values[~blank] = flat.values.reshape(-1, width)
    rows = np.flatnonzero(blank)
    return replace(flat, values=values, odd=Odd(rows, np.zeros(len(rows), dtype=np.int32), ("",)))


def arrow_of(cells: Sequence[Any], depth: int = 0) -> pa.ChunkedArray:
    """Return values as Arrow has them: several kinds as texts, lists and others as objects."""
    first = next(filter(None, cells), None)
    if isinstance(first, list) and _is_pair(first[0]):
        rows = [row for row in cells if isinstance(row, list)]
        if len(rows) == len(cells) and all(map(_is_pair, chain.from_iterable(rows))):
            cells = [[item[0] for item in row] for row in rows]
    try:
        return pa.chunked_array([pa.array(cells)])
    except NO_ARROW:
        pass
    except UnicodeEncodeError:
        raise FileError("file", "half of a surrogate pair in a text", "whole characters") from None
    kinds = {*map(type, cells)} - {type(None)}
    values: list[Any]
    if kinds <= {int, float, bool}:
        values = [None if cell is None else _as_float(cell) for cell in cells]
    elif kinds == {dict} and depth < MAX_NESTED:
        names = dict.fromkeys(chain.from_iterable(filter(None, cells)))
        check_columns(len(names))
        parts = [arrow_of(member_of(cells, name), depth + 1).combine_chunks() for name in names]
        return pa.chunked_array([pa.StructArray.from_arrays(parts, [*names])])
    elif not kinds & {dict, list}:
        values = [_spelled(cell) for cell in cells]
    elif kinds == {list} and all(isinstance(item, _ONE) for row in cells for item in row or ()):
        values = [row and [*map(_spelled, row)] for row in cells]
    else:
        # Nothing of it can be kept, which its type says.
        return pa.chunked_array([pa.nulls(len(cells), pa.map_(pa.string(), pa.string()))])
    return pa.chunked_array([pa.array(values)])


def _is_pair(item: object) -> bool:
    """Recognise a log-likelihood and whether it is the likeliest, as lm-eval logs them."""
    return isinstance(item, list) and len(item) == 2 and isinstance(item[1], bool)


def _as_float(number: float) -> float:
    """Take whole numbers beyond doubles for infinite ones."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _spelled(cell: object) -> str | None:
    """Write one value as JSON does."""
    return cell if isinstance(cell, str) or cell is None else json.dumps(cell)


def member_of(records: Sequence[Mapping[str, Any] | None], name: str) -> list[Any]:
    """List one member of all records, None where there is none."""
    return [None if record is None else record.get(name) for record in records]


def shown_of(columns: Sequence[Column], n_rows: int) -> tuple[tuple[str, ...], ...]:
    """Write the first rows."""
    rows = range(min(n_rows, _N_SHOWN))
    return tuple(tuple(_cell(column, row) for column in columns) for row in rows)


def _cell(column: Column, row: int) -> str:
    """Write one cell, of a long list its first items."""
    if column.unread:
        return ""
    if column.texts is not None:
        return visible(column.texts[column.values[row]], _CELL_SHOWN)
    if column.odd is not None and row in column.odd.rows:
        place = int(np.searchsorted(column.odd.rows, row))
        return visible(column.odd.texts[column.odd.codes[place]], _CELL_SHOWN)
    value = column.values[row]
    if value.ndim == 0:
        return str(value)
    more = ", …" if len(value) > _ITEMS_SHOWN else ""
    return f"[{', '.join(map(str, value[:_ITEMS_SHOWN]))}{more}]"


# Lists of classes with their scores in each row -----------------------------------------------


def _keys_of_pair(kinds: Mapping[str, pa.DataType]) -> tuple[str, str] | None:
    """Find the members of an object that name a class, or classes, and give what they score.

    >>> _keys_of_pair({"id": pa.int64(), "displayName": pa.string(), "score": pa.float64()})
    ('displayName', 'score')
    """
    keys = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): name for name in kinds}
    name = next((keys[key] for key in _CLASS_KEYS if key in keys), None)
    score = next((keys[key] for key in _SCORE_KEYS if key in keys), None)
    if name is None or score is None:
        return None
    fits = types.is_string(kinds[name]) or types.is_integer(kinds[name])
    scored = types.is_floating(kinds[score]) or types.is_integer(kinds[score])
    return (name, score) if fits and scored else None


def _columns_of_classes(
    name: str, lengths: NDArray[np.int64], classes: pa.Array, scores: NDArray[np.generic]
) -> list[Column]:
    """Make one column a class, or two a rank where rows list only their likeliest classes."""
    codes, kinds = encoded(classes.cast(pa.string()))
    texts = kinds.to_pylist()
    n_rows, rows = len(lengths), np.repeat(np.arange(len(lengths)), lengths)
    if len(np.unique(rows * max(len(texts), 1) + codes)) < len(codes):
        return [unread(name, "lists with the same class twice")]
    prefix = f"{name}." if name else ""
    listed = lengths[lengths > 0]
    even = bool(listed.size) and bool((listed == listed[0]).all())
    most = len(texts) * len(listed)
    if len(codes) == most or (not even and 2 * len(codes) >= most):
        if len(texts) <= _MAX_CATEGORIES:
            if not even or (codes.reshape(len(listed), -1) != codes[: listed[0]]).any():
                # Sorted by score, rows tell no order of the classes.
                ordered = sorted(range(len(texts)), key=lambda k: by_number(texts[k]))
                codes = np.argsort(ordered).astype(np.int32)[codes]
                texts = [texts[k] for k in ordered]
            return _columns([prefix + text for text in texts], n_rows, (codes, rows), scores)
    elif (width := int(lengths.max(initial=0))) <= _MAX_RANKS:
        order = np.lexsort((-scores.astype(np.float64), rows))
        place = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        names = [f"{prefix}top{k + 1}_prob" for k in range(width)]
        ranked = np.full((width, n_rows), len(texts))
        ranked[place, rows] = codes[order]
        every = pa.array([*texts, None], pa.string())
        pairs = zip(ranked, _columns(names, n_rows, (place, rows), scores[order]), strict=True)
        return [*chain(*((_rank(column, every.take(pa.array(r))), column) for r, column in pairs))]
    return [unread(name, _TOO_MANY)]


def _rank(scores: Column, cells: pa.Array) -> Column:
    """Make the column of the classes beside their scores."""
    codes, texts = encoded(cells)
    return Column(scores.name.removesuffix("prob") + "class", codes, tuple(texts.to_pylist()))


def _columns(
    names: Sequence[str],
    n_rows: int,
    places: tuple[NDArray[Any], NDArray[Any]],
    scores: NDArray[np.generic],
) -> list[Column]:
    """Lay scores out by column and row; a cell without one is odd."""
    table = np.full((len(names), n_rows), np.nan)
    there = np.zeros(table.shape, dtype=np.bool_)
    table[places], there[places] = scores, True
    columns = []
    for name, values, known in zip(names, table, there, strict=True):
        rows = np.flatnonzero(~known)
        odd = Odd(rows, np.zeros(len(rows), dtype=np.int32), ("",)) if len(rows) else None
        columns.append(Column(name, values, None, odd))
    return columns
