"""From the inert nodes of a pickle to arrays, and from their nesting to sets."""

import numpy as np

from dashboard.readers.arrays import contents_of
from dashboard.readers.contents import DEFAULTS, Array, Contents, Options, RawSet
from dashboard.readers.named import CLASS_NAME_KEYS, LABEL_KEYS, TABLE_KEYS, role_of
from dashboard.readers.npy import piece
from dashboard.readers.pickles.machine import run
from dashboard.readers.pickles.nodes import Held, Items, Node, text
from dashboard.readers.refusal import FileError, quoted

_MAX_NAMES = 1000
_MAX_TEXT, _MAX_TEXT_BYTES = 256, 64 << 20
_WANTED = "((logits_val, y_val), (logits_test, y_test)), (logits, labels) or a dict of them"


def read_pickle(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read pickled arrays or lists of numbers."""
    return sets_of(run(data), options)


def sets_of(top: Node, options: Options) -> Contents:
    """Sort what a pickle describes into sets."""
    if isinstance(top, Items) and top.kind == "dict":
        left_out: list[str] = []
        return contents_of(_named(top, "", left_out), left_out=left_out, options=options)
    if isinstance(top, Items) and len(top.values) == 2:
        first, second = top.values
        if _is_pair(first) and _is_pair(second):
            return Contents({"calibration": _pair(first), "test": _pair(second)})
        if sorted((_levels(first), _levels(second))) in ([1, 1], [1, 2], [2, 2]):
            return Contents({"rows": _pair(top)})
    if isinstance(top, Items) and len(top.values) == 4 and max(map(_levels, top.values)) == 2:
        return _four(top)
    if _levels(top) in (1, 2):
        return piece(_array(top))
    raise FileError("pickle", "another layout (nested tuples, lists or values)", _WANTED)


def _four(top: Items) -> Contents:
    """Take four arrays for the values and labels of two sets, told apart by their shape."""
    arrays = [_array(part) for part in top.values]
    flat = [_is_column(array) for array in arrays]
    counts = [len(array) for array in arrays]
    if flat == [False, False, True, True] and counts[0] != counts[1]:
        order, said = (0, 2, 1, 3), "values of two sets, then their labels"
    elif flat == [False, True, False, True]:
        order, said = (0, 1, 2, 3), "values and labels, then those of another set"
    else:
        found = f"four arrays of {', '.join(f'{n:,}' for n in counts)} rows"
        raise FileError("pickle", f"{found}, whose order does not tell the sets apart", _WANTED)
    cal_values, cal_labels, values, labels = (arrays[k] for k in order)
    return Contents(
        {"calibration": RawSet(cal_values, cal_labels), "test": RawSet(values, labels)},
        (f"Four arrays without names: {said}; the first set is for calibration.",),
    )


def _levels(node: Node) -> int:
    """Count the dimensions of an array or of nested lists, looking at first elements only."""
    if isinstance(node, Held):
        return 0 if node.array is None else node.array.ndim
    if isinstance(node, Items) and node.kind != "dict" and node.values:
        return 1 + _levels(node.values[0])
    return 0


def _is_pair(node: Node) -> bool:
    """Tell a pair of a table and labels from a table of two rows."""
    if not isinstance(node, Items) or node.kind == "dict" or len(node.values) != 2:
        return False
    levels = [_levels(part) for part in node.values]
    return max(levels) == 2 and min(levels) >= 1


def _pair(node: Node) -> RawSet:
    """Take two arrays for a table and its labels, told apart by their shape if need be."""
    parts = node.values if isinstance(node, Items) else []
    first, second = (_array(part) for part in parts)
    if _is_column(first) and not _is_column(second):
        return RawSet(second, first)
    return RawSet(first, second)


def _is_column(array: Array) -> bool:
    return array.ndim < 2 or array.shape[1] == 1


def _named(items: Items, prefix: str, left_out: list[str]) -> dict[str, Array]:
    """Give the arrays of a dictionary, and of dictionaries within it, by name.

    Single values, such as an epoch or an accuracy, only add their names to those left out.
    """
    named: dict[str, Array] = {}
    for key, value in zip(items.values[::2], items.values[1::2], strict=True):
        name = text(key)
        if name is None:
            raise FileError("pickle", "a dict key that is not text", _WANTED)
        new: dict[str, Array] = {}
        if isinstance(value, Items) and value.kind == "dict" and not prefix:
            new = _named(value, f"{name}_", left_out)
        elif name.lower() in CLASS_NAME_KEYS:
            new = {prefix + name: _names(value)}
        elif role_of(name)[1] in LABEL_KEYS | TABLE_KEYS or _of_numbers(value):
            new = {prefix + name: _array(value)}
        else:
            left_out.append(prefix + name)
        twice = next(iter(named.keys() & new), None)
        if twice is not None:
            raise FileError("pickle", f"the name {quoted(twice)} twice", _WANTED)
        named |= new
        if len(named) + len(left_out) > _MAX_NAMES:
            raise FileError("pickle", f"a dict of more than {_MAX_NAMES:,} names", _WANTED)
    return named


def _of_numbers(node: Node) -> bool:
    """Tell arrays, and lists of numbers or arrays, from other things, such as tags."""
    if not isinstance(node, Items):
        return isinstance(node, Held)
    first = node.values[0] if node.kind != "dict" and node.values else None
    return isinstance(first, bool | int | float) or _of_numbers(first)


def _names(node: Node) -> Array:
    names = [text(part) for part in node.values] if isinstance(node, Items) else [None]
    if None in names or not names:
        raise FileError("class names", "something other than a list of text", "one name a class")
    return np.array([str(name)[:256] for name in names])


def _array(node: Node) -> Array:
    """Give an array, made from lists of numbers where it has to be."""
    if isinstance(node, Held) and node.array is not None:
        return node.array
    if not isinstance(node, Items) or node.kind == "dict":
        raise FileError("pickle", "a value where an array was looked for", _WANTED)
    if not node.values:
        raise FileError("pickle", "an empty list", "at least one row")
    if all(isinstance(value, bool | int | float) for value in node.values):
        return _vector(node.values)
    if all(text(value) is not None for value in node.values):
        return _texts([str(text(value)) for value in node.values])
    rows = [_array(value) for value in node.values]
    if any(row.ndim != 1 or len(row) != len(rows[0]) for row in rows):
        raise FileError("pickle", "lists of unequal length or nesting", "rows of equal length")
    return np.stack(rows)


def _texts(texts: list[str]) -> Array:
    """Give labels that are text; each takes as much as the longest."""
    longest = max(map(len, texts))
    if longest > _MAX_TEXT or 4 * longest * len(texts) > _MAX_TEXT_BYTES:
        found = f"{len(texts):,} texts of up to {longest:,} characters, too large"
        raise FileError("pickle", found, "class numbers for labels")
    return np.array(texts)


def _vector(values: list[Node]) -> Array:
    numbers = [value for value in values if isinstance(value, bool | int | float)]
    whole = not any(isinstance(value, float) for value in numbers)
    return np.array(numbers, dtype=np.int64 if whole else np.float64)
