"""Pickles of arrays: what their inert nodes hold, as named arrays.

Nothing is imported and nothing is called; `pickle_machine` interprets the few operations needed.
"""

from collections.abc import Iterator

import numpy as np

from dashboard.readers.formats.arrays import column_of_array
from dashboard.readers.formats.pickle_lists import (
    WANTED,
    JoinedArrays,
    NoArrayError,
    array_of,
    joined,
    put,
    put_beside,
)
from dashboard.readers.formats.pickle_machine import (
    ArrayPlace,
    Items,
    Node,
    described,
    members,
    name_of,
    run,
)
from dashboard.readers.limits import MAX_ARRAYS
from dashboard.readers.records import Array, Arrays, Column, unread
from dashboard.readers.refusal import FileError, quoted

_MOST_PARTS = 4
_MOST_CLASSES = 50
_TWO_PARTS = (
    "A list of two pairs was taken for two sets; if they are two batches of one set, put them"
    " together."
)


def read_pickle(data: bytes, _: bool | None) -> Arrays:  # noqa: FBT001 - as all readers take it
    """Read pickled arrays or lists of numbers."""
    return arrays_of(run(data))


def arrays_of(top: Node) -> Arrays:
    """Return the arrays that a pickle describes, by their names or places."""
    try:
        return _arrays(top)
    except RecursionError as error:
        raise FileError("pickle", "lists nested too deeply, or in themselves", WANTED) from error


def _arrays(top: Node) -> Arrays:
    for _ in range(_MOST_PARTS):
        if len(values := members(top)) == 1 and _holds_arrays(values[0]):
            top = values[0]
    columns: list[Column] = []
    lines: list[str] = []
    doubts: list[str] = []
    for name, part in _parts("", top, 0):
        if isinstance(part, JoinedArrays):
            columns += [column_of_array(_dotted(name, key), one) for key, one in part.arrays]
            columns += [unread(_dotted(name, key), why) for key, why in part.unread]
            lines.append(part.note)
            doubts += part.doubts
        else:
            columns.append(_column(name, part))
        if len(columns) > MAX_ARRAYS:
            raise FileError("pickle", f"more than {MAX_ARRAYS:,} arrays by name", WANTED)
    if not any(column.values.size for column in columns):
        raise FileError("pickle", f"another layout: {described(top)}", WANTED)
    names = [column.name for column in columns]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FileError("pickle", f"the name {quoted(twice)} twice", "one array of a name")
    if isinstance(top, Items) and top.kind == "list" and names == ["0.0", "0.1", "1.0", "1.1"]:
        doubts.append(_TWO_PARTS)
    return Arrays(tuple(columns), notes=tuple(dict.fromkeys(lines)), doubts=tuple(doubts))


def _dotted(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _holds_arrays(node: Node) -> bool:
    """Return whether a node is more than one row of numbers or texts."""
    inner = node.values if isinstance(node, Items) else []
    return isinstance(node, ArrayPlace) or any(
        isinstance(value, Items | ArrayPlace) for value in inner
    )


def _parts(prefix: str, node: Node, depth: int) -> Iterator[tuple[str, Node | JoinedArrays]]:
    """Go over the arrays in a node: of a dictionary by keys, of a tuple by places."""
    batches = put(node)
    if batches is not None:
        yield prefix, batches
        return
    named = _named(node, depth) if depth < 3 else None
    if named is None:
        yield prefix, node
        return
    together = put_beside(named)
    yield from ((prefix, one) for one in together)
    done = {name for one in together for name, _ in one.arrays}
    for name, value in named:
        if name not in done:
            yield from _parts(_dotted(prefix, name), value, depth + 1)


def _named(node: Node, depth: int) -> list[tuple[str, Node]] | None:
    """Return the members of a dictionary, or the few arrays of a tuple or list, by name."""
    if isinstance(node, Items) and node.kind == "dict":
        if _classes(node) is not None:
            return None
        names = [name_of(key) for key in node.values[::2]]
        if depth and node.values and all(isinstance(key, int) for key in node.values[::2]):
            return None
        if None in names:
            raise FileError("pickle", "a dict key that is not a short text", WANTED)
        return [(str(name), one) for name, one in zip(names, node.values[1::2], strict=True)]
    values = members(node)
    parts = list(enumerate(values[: _MOST_PARTS + 1]))
    if not 2 <= len(parts) <= _MOST_PARTS or not all(_is_part(value) for value in values):
        return None
    if _are_rows(node, values):
        return None
    return [(str(place), value) for place, value in parts]


def _is_part(node: Node) -> bool:
    return isinstance(node, Items) or (isinstance(node, ArrayPlace) and node.array is not None)


def _are_rows(node: Node, values: list[Node]) -> bool:
    """Return whether a few parts are rows of one table, and no arrays of their own."""
    lists = [members(value) for value in values]
    if all(isinstance(value, Items) and value.kind != "dict" for value in values):
        if any(_holds_arrays(value) for value in values):
            return False
        sizes, kinds = {len(one) for one in lists}, {type(one[0]) for one in lists if one}
        # Rows of unequal length are refused as such, and are no arrays of their own.
        return len(sizes) > 1 or (max(sizes) < _MOST_CLASSES and len(kinds) == 1)
    arrays = [one.array for one in values if isinstance(one, ArrayPlace) and one.array is not None]
    alike = len({(array.shape, array.dtype.kind) for array in arrays}) == 1
    one_axis = len(arrays) == len(values) and arrays[0].ndim == 1
    return one_axis and alike and isinstance(node, Items) and node.kind == "list"


def _column(name: str, node: Node) -> Column:
    classes = _classes(node)
    if classes:
        return column_of_array(name, np.array(classes))
    try:
        array = _array(name, node)
    except NoArrayError as error:
        if _is_place(name) and _holds_arrays(node):
            raise FileError(f"part {name}", str(error), WANTED) from error
        return unread(name, str(error))
    except FileError as error:
        if not name or _is_place(name):
            raise
        return unread(name, error.actual)
    return column_of_array(name, array)


def _array(name: str, node: Node) -> Array:
    """Return an array, or batches of a table put together."""
    values = members(node)
    axes = {
        one.array.ndim for one in values if isinstance(one, ArrayPlace) and one.array is not None
    }
    if axes in ({2}, {3}):
        return joined([array_of(value, name) for value in values], name)
    return array_of(node, name or "pickle")


def _is_place(name: str) -> bool:
    """Return whether an array is told by its place alone, so that it may be what is wanted."""
    return name.replace(".", "").isdigit()


def _classes(node: Node) -> list[str] | None:
    """Return the names of a dictionary of names by number, or of numbers by name, in order."""
    if not isinstance(node, Items) or node.kind != "dict" or len(node.values) < 4:
        return None
    pairs = list(zip(node.values[::2], node.values[1::2], strict=True))
    if not isinstance(pairs[0][0], int):
        pairs = [(number, name) for name, number in pairs]
    ordered = {number: name_of(name) for number, name in pairs if type(number) is int}
    if {*ordered} != {*range(len(pairs))} or None in ordered.values():
        return None
    return [str(ordered[number]) for number in range(len(pairs))]
