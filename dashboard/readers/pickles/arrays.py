"""From the inert nodes of a pickle to arrays."""

from collections.abc import Sequence

import numpy as np

from dashboard.readers.binary.npy import text_codes
from dashboard.readers.contents import Array, RawSet
from dashboard.readers.pickles.nodes import Held, Items, Node, text
from dashboard.readers.refusal import FileError, quoted

WANTED = "((logits_val, y_val), (logits_test, y_test)), (logits, labels) or a dict of them"
"""What a refusal asks for."""

MAX_NAME = 256
"""Longest text that is taken for anything."""

_MAX_TEXT_BYTES = 64 << 20
_SPARE_BYTES = 1 << 20


def members(node: Node) -> list[Node] | None:
    """Give what is in a list or a tuple; None for anything else."""
    return node.values if isinstance(node, Items) and node.kind != "dict" else None


def array_of(node: Node, place: str = "pickle") -> Array:
    """Give an array, made from lists of numbers where it has to be.

    Parameters
    ----------
    node : Node
        An array, or lists of numbers, of texts or of arrays.
    place : str
        What a refusal calls it.
    """
    if isinstance(node, Held) and node.array is not None:
        return node.array
    values = members(node)
    if values is None:
        raise FileError(place, f"{described(node)} where an array was looked for", WANTED)
    if not values:
        raise FileError(place, "an empty list", "at least one row")
    if all(isinstance(value, bool | int | float) for value in values):
        return vector(values)
    texts = [value for value in values if isinstance(value, str | bytes)]
    if len(texts) == len(values):
        return _texts(texts, place)
    # A row may be referred to many times over.
    different = dict.fromkeys(values)
    rows = [array_of(value, place) for value in different]
    if any(row.ndim > 1 or row.shape != rows[0].shape for row in rows):
        raise FileError(place, "lists of unequal length or nesting", "rows of equal length")
    table = joined([row[np.newaxis] for row in rows], place)
    places = {one: k for k, one in enumerate(different)}
    return table if len(rows) == len(values) else table[[places[value] for value in values]]


def joined(arrays: Sequence[Array], place: str) -> Array:
    """Put arrays one below the other, of types that do not make them much larger."""
    common = np.result_type(*{array.dtype for array in arrays})
    before = sum(array.nbytes for array in arrays)
    if sum(array.size for array in arrays) * common.itemsize > 2 * before + _SPARE_BYTES:
        kinds = " and ".join(sorted({array.dtype.name for array in arrays})[:3])
        raise FileError(place, f"numbers of types {kinds}", "numbers of one type")
    return np.concatenate(arrays, dtype=common)


def pair_of(first: Array, second: Array) -> RawSet:
    """Take two arrays for a table and its labels, told apart by their shape if need be."""
    whole_first = first.dtype.kind in "biu" and second.dtype.kind == "f"
    flat = is_column(first), is_column(second)
    if flat == (True, False) or (flat == (True, True) and whole_first):
        first, second = second, first
    if second.dtype.kind != "U":
        return RawSet(first, second)
    texts, codes = text_codes(second, "labels")
    return RawSet(first, codes, label_texts=texts)


def levels(node: Node) -> int:
    """Count the dimensions of an array or of nested lists, looking at first elements only."""
    return len(shape_of(node))


def shape_of(node: Node) -> tuple[int, ...]:
    """Give the shape of an array or of nested lists, looking at first elements only."""
    if isinstance(node, Held):
        return () if node.array is None else node.array.shape
    values = members(node)
    return (len(values), *shape_of(values[0])) if values else ()


def is_column(array: Array) -> bool:
    """Tell one value a row from a table."""
    return array.ndim < 2 or array.shape[1] == 1


def described(node: Node) -> str:
    """Say what a node is, and of a list what comes first in it."""
    values = members(node)
    if values is not None and isinstance(node, Items):
        first = f", the first of them {described(values[0])}" if values else ""
        return f"a {node.kind} of {len(values):,}{first}"
    if isinstance(node, Items):
        names = [quoted(name, 20) for key in node.values[:6:2] if (name := name_of(key))]
        return f"a dict of {len(node.values) // 2:,}" + f" ({', '.join(names)})" * bool(names)
    if isinstance(node, Held):
        there = node.array is not None
        return f"an array of shape {shape_of(node)}" if there else "an unfinished array"
    if isinstance(node, bool | int | float):
        return "a number"
    return "a text" if isinstance(node, str | bytes) else "something that is no array"


def name_of(node: Node) -> str | None:
    """Give a text that may be a name; None for anything else, and for one that is too long.

    Notes
    -----
    One very long text that is referred to a million times must not be decoded each time.
    """
    return text(node) if isinstance(node, str | bytes) and len(node) <= MAX_NAME else None


def _texts(texts: Sequence[str | bytes], place: str) -> Array:
    """Give labels that are text; each takes as much as the longest."""
    longest = max(map(len, texts))
    if longest > MAX_NAME or 4 * longest * len(texts) > _MAX_TEXT_BYTES:
        found = f"{len(texts):,} texts of up to {longest:,} characters, too large"
        raise FileError(place, found, "class numbers for labels")
    return np.array([text(one) for one in texts])


def vector(values: list[Node]) -> Array:
    """Give numbers as an array, of decimals where one of them is one."""
    numbers = [value for value in values if isinstance(value, bool | int | float)]
    if any(isinstance(value, float) for value in numbers):
        return np.array(numbers, dtype=np.float64)
    if max(numbers) < 1 << 63:
        return np.array(numbers, dtype=np.int64)
    return np.array(numbers, dtype=np.uint64 if min(numbers) >= 0 else np.float64)
