"""Pickles of arrays: what their inert nodes hold, as named arrays.

Nothing is imported and nothing is called; `pickle_machine` interprets the few operations needed.
"""

from collections.abc import Sequence

import numpy as np

from dashboard.readers.contents import Array
from dashboard.readers.formats.arrays import column_of_array
from dashboard.readers.formats.pickle_machine import run
from dashboard.readers.formats.pickle_nodes import Held, Items, Node, text
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.table import Arrays, Column

WANTED = (
    "((logits_val, y_val), (logits_test, y_test)) or a dict of arrays; anything else can be saved"
    " by np.savez('mine.npz', logits=..., labels=...)"
)
_MAX_NAME = 256
_MAX_NAMES = 1_000
_MAX_TEXT_BYTES = 64 << 20
_BATCHES = 3
"""Least number of pairs or dictionaries in a list that are taken for batches, or rows."""


def read_pickle(data: bytes, _: bool | None) -> Arrays:  # noqa: FBT001 - as all readers take it
    """Read pickled arrays or lists of numbers."""
    return arrays_of(run(data))


def arrays_of(top: Node) -> Arrays:
    """Return the arrays that a pickle describes, by their names or places.

    Raises
    ------
    FileError
        Anything but arrays, and lists, tuples and dictionaries of them.
    """
    found: list[str] = []
    columns = _columns("", _turned(_alone(top)), found)
    if not any(column.values.size for column in columns):
        raise FileError("pickle", f"another layout: {described(top)}", WANTED)
    return Arrays(tuple(columns), tuple(found))


def _alone(node: Node) -> Node:
    """Return what a list of one list, or of one dictionary, holds."""
    values = _members(node)
    return _alone(values[0]) if values and len(values) == 1 and not _is_row(values[0]) else node


def _is_row(node: Node) -> bool:
    return not isinstance(node, Items) or (node.kind != "dict" and _is_row_of_numbers(node))


def _is_row_of_numbers(node: Items) -> bool:
    return all(isinstance(value, bool | int | float | str | bytes) for value in node.values)


# Batches --------------------------------------------------------------------------------------


def _turned(node: Node) -> Node:
    """Turn a list of batches, or of rows, into a dictionary or a pair of lists."""
    values = _members(node) or []
    if len(values) < _BATCHES:
        return node
    dicts = [value for value in values if isinstance(value, Items) and value.kind == "dict"]
    pairs = [parts for value in values if len(parts := _members(value) or []) == 2]
    if len(dicts) == len(values):
        keys = [name_of(key) for key in dicts[0].values[::2]]
        rows = [dict(zip(map(name_of, d.values[::2]), d.values[1::2], strict=True)) for d in dicts]
        if None in keys or any(row.keys() != {*keys} for row in rows):
            raise FileError("pickle", f"{described(node)}, without the same keys in each", WANTED)
        columns = [(key, Items("list", [row[key] for row in rows])) for key in keys]
        return Items("dict", [part for pair in columns for part in pair])
    if len(pairs) == len(values) and not all(map(_is_row, values)):
        return Items("tuple", [Items("list", [pair[side] for pair in pairs]) for side in (0, 1)])
    return node


def _sizes(node: Node) -> list[int] | None:
    """Return how many rows each table in a list has; None for anything else."""
    shapes = [_shape(value) for value in _members(node) or ()]
    if not shapes or any(len(shape) != 2 or shape[1] != shapes[0][1] for shape in shapes):
        return None
    return [shape[0] for shape in shapes]


# Names ----------------------------------------------------------------------------------------


def _columns(prefix: str, node: Node, found: list[str]) -> list[Column]:
    """Return the arrays in a node: of a dictionary by their keys, of a tuple by their places."""
    parts = _parts(node)
    if parts is None:
        return [_column(prefix, node, [], found)]
    sizes = [sizes for _, value in parts if (sizes := _sizes(value)) is not None]
    columns: list[Column] = []
    for name, value in parts:
        whole = f"{prefix}.{name}" if prefix else name
        if _parts(value) is not None and prefix.count(".") < 2:
            columns += _columns(whole, value, found)
        else:
            columns.append(_column(whole, value, sizes, found))
        if len(columns) > _MAX_NAMES:
            raise FileError("pickle", f"more than {_MAX_NAMES:,} arrays by name", WANTED)
    return columns


def _parts(node: Node) -> list[tuple[str, Node]] | None:
    """Return the named members of a dictionary, or the few arrays of a tuple or list."""
    if not isinstance(node, Items):
        return None
    if node.kind == "dict":
        keys, values = node.values[::2], node.values[1::2]
        if keys and all(isinstance(key, int) for key in keys):
            return None
        names = [name_of(key) for key in keys]
        if any(name is None for name in names):
            raise FileError("pickle", "a dict key that is not a short text", WANTED)
        if keys and all(isinstance(value, int) for value in values) and len(keys) > 1:
            return None if {*map(_number, values)} == {*range(len(keys))} else _named(names, values)
        return _named(names, values)
    shapes = [_shape(value) for value in node.values]
    if not 2 <= len(shapes) <= 4 or not all(shapes) or _are_rows(shapes):
        return None
    return [(str(place), value) for place, value in enumerate(node.values)]


def _named(names: Sequence[str | None], values: Sequence[Node]) -> list[tuple[str, Node]]:
    return [(str(name), value) for name, value in zip(names, values, strict=True)]


def _number(node: Node) -> int:
    return node if isinstance(node, int) else -1


def _are_rows(shapes: Sequence[tuple[int, ...]]) -> bool:
    """Return whether a few parts are rows of one table, or batches, and no arrays of their own."""
    return len({*shapes}) == 1 and len(shapes[0]) == 1 and shapes[0][0] < 50


def _column(name: str, node: Node, sizes: list[list[int]], found: list[str]) -> Column:
    """Return one array, put together from batches where it lies in such."""
    if isinstance(node, Items) and node.kind == "dict":
        return _class_names(name, node)
    batches = [_shape(value) for value in _members(node) or ()]
    flat = [shape[0] for shape in batches if len(shape) == 1]
    of_labels = len(flat) == len(batches) > 0 and (flat in sizes or len({*flat}) > 1)
    if batches and (_sizes(node) is not None or of_labels):
        arrays = [_array(value, name) for value in _members(node) or ()]
        found.append(
            f"{len(arrays):,} batches of {quoted(name, 30)} were put together,"
            f" {sum(map(len, arrays)):,} rows."
        )
        return column_of_array(name, _joined(arrays, name))
    if batches and not all(batches) and any(batches):
        return _unread(name, described(node))
    try:
        return column_of_array(name, _array(node, name or "pickle"))
    except _NoArrayError as error:
        return _unread(name, str(error))


def _unread(name: str, what: str) -> Column:
    return Column(name, np.empty(0), unread=what)


def _class_names(name: str, items: Items) -> Column:
    """Return the names in a dictionary of names by number, or of numbers by name, in order."""
    keys, values = items.values[::2], items.values[1::2]
    by_number = all(isinstance(key, int) for key in keys)
    numbers, names = (keys, values) if by_number else (values, keys)
    told = [name_of(one) for one in names]
    order = [number for number in numbers if isinstance(number, int)]
    if None in told or {*order} != {*range(len(told))}:
        return _unread(name, described(items))
    ordered = [str(text) for _, text in sorted(zip(order, told, strict=True))]
    return column_of_array(name, np.array(ordered))


# Arrays ---------------------------------------------------------------------------------------


class _NoArrayError(Exception):
    """A node that holds no array."""


def _array(node: Node, place: str) -> Array:
    """Return an array, made from lists of numbers or texts where it has to be."""
    if isinstance(node, Held) and node.array is not None:
        return node.array
    values = _members(node)
    if not values:
        raise _NoArrayError(described(node))
    if all(isinstance(value, bool | int | float) for value in values):
        return _vector(values)
    texts = [value for value in values if isinstance(value, str | bytes)]
    if len(texts) == len(values):
        return _texts(texts, place)
    # A row may be referred to many times over.
    different = dict.fromkeys(values)
    rows = [_array(value, place) for value in different]
    if any(row.ndim > 1 or row.shape != rows[0].shape for row in rows):
        raise FileError(place, "lists of unequal length or nesting", "rows of equal length")
    table = _joined([row[np.newaxis] for row in rows], place)
    if table.shape[1:] == (1,):
        table = table[:, 0]
    places = {one: k for k, one in enumerate(different)}
    return table if len(rows) == len(values) else table[[places[value] for value in values]]


def _joined(arrays: Sequence[Array], place: str) -> Array:
    kinds = {array.dtype.kind in "US" for array in arrays}
    if len(kinds) > 1 or len({array.shape[1:] for array in arrays}) > 1:
        raise FileError(place, "parts of several kinds or widths", "parts that fit together")
    return np.concatenate(arrays)


def _vector(values: Sequence[Node]) -> Array:
    """Return numbers as an array, of decimals where one of them is one."""
    numbers = [value for value in values if isinstance(value, bool | int | float)]
    if any(isinstance(value, float) for value in numbers):
        return np.array(numbers, dtype=np.float64)
    if max(numbers) < 1 << 63:
        return np.array(numbers, dtype=np.int64)
    return np.array(numbers, dtype=np.uint64 if min(numbers) >= 0 else np.float64)


def _texts(texts: Sequence[str | bytes], place: str) -> Array:
    """Return texts, of which each takes as much as the longest."""
    longest = max(map(len, texts))
    if longest > _MAX_NAME or 4 * longest * len(texts) > _MAX_TEXT_BYTES:
        found = f"{len(texts):,} texts of up to {longest:,} characters, too large"
        raise FileError(place, found, "class numbers for labels")
    return np.array([text(one) for one in texts])


def _members(node: Node) -> list[Node] | None:
    return node.values if isinstance(node, Items) and node.kind != "dict" else None


def _shape(node: Node) -> tuple[int, ...]:
    """Return the shape of an array or of nested lists, looking at first elements only."""
    if isinstance(node, Held):
        return () if node.array is None else node.array.shape
    values = _members(node)
    return (len(values), *_shape(values[0])) if values else ()


def name_of(node: Node) -> str | None:
    """Return a text that may be a name; None for anything else, and for one that is too long."""
    # One very long text that is referred to a million times must not be decoded each time.
    return text(node) if isinstance(node, str | bytes) and len(node) <= _MAX_NAME else None


def described(node: Node) -> str:
    """Describe a node, and of a list what comes first in it."""
    values = _members(node)
    if values is not None and isinstance(node, Items):
        first = f", the first of them {described(values[0])}" if values else ""
        return f"a {node.kind} of {len(values):,}{first}"
    if isinstance(node, Items):
        names = [quoted(name, 20) for key in node.values[:6:2] if (name := name_of(key))]
        return f"a dict of {len(node.values) // 2:,}" + f" ({', '.join(names)})" * bool(names)
    if isinstance(node, Held):
        return f"an array of shape {_shape(node)}" if node.array is not None else "no whole array"
    if isinstance(node, bool | int | float):
        return "a number"
    return "a text" if isinstance(node, str | bytes) else "something that is no array"
