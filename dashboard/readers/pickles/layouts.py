"""From the nesting of a pickle's arrays to sets."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dashboard.readers.binary.arrays import contents_of
from dashboard.readers.binary.npy import piece
from dashboard.readers.columns.by_shape import of_four, of_three
from dashboard.readers.columns.given_names import (
    NAME_OF_NUMBER,
    NUMBER_OF_NAME,
    in_order,
    named_by,
)
from dashboard.readers.columns.named import CLASS_NAME_KEYS, LABEL_KEYS, TABLE_KEYS
from dashboard.readers.columns.roles import role_of
from dashboard.readers.contents import DEFAULTS, Array, Contents, Options, RawSet
from dashboard.readers.pickles.arrays import (
    WANTED,
    array_of,
    described,
    levels,
    members,
    name_of,
    pair_of,
)
from dashboard.readers.pickles.batches import (
    dicts_in,
    doubts_of_lists,
    from_dicts,
    from_keyed,
    from_pairs,
    in_batches,
    joined_batches,
    said_of,
    sizes_of_lists,
)
from dashboard.readers.pickles.machine import run
from dashboard.readers.pickles.nodes import Held, Items, Node
from dashboard.readers.refusal import FileError, quoted

_MAX_NAMES = 1000
_TWO_PAIRS = (
    "A list of two parts was taken for a calibration set and a test set: if they are two batches of"
    " one set, put them together first, with numpy.concatenate or torch.cat."
)


def read_pickle(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read pickled arrays or lists of numbers."""
    return sets_of(run(data), options)


def sets_of(top: Node, options: Options) -> Contents:
    """Sort what a pickle describes into sets."""
    dicts = [top] if isinstance(top, Items) and top.kind == "dict" else dicts_in(top)
    if len(dicts) > 1:
        return from_dicts(dicts, options)
    if dicts:
        return from_keyed(dicts[0], options) or _of_names(dicts[0], options)
    contents = from_pairs(top) or _of_arrays(top)
    if contents is not None:
        return contents
    if levels(top) not in (1, 2):
        raise FileError("pickle", f"another layout: {described(top)}", WANTED)
    return piece(array_of(top))


def _of_arrays(top: Node) -> Contents | None:
    """Read two or four arrays without names, or a pair of pairs."""
    values = members(top) or []
    if len(values) == 2 and all(map(_is_pair, values)):
        fitted, judged = (_pair(members(value) or []) for value in values)
        batches = isinstance(top, Items) and top.kind == "list"
        return Contents(
            {"calibration": fitted, "test": judged}, doubts=(_TWO_PAIRS,) if batches else ()
        )
    if len(values) == 2 and sorted(map(levels, values)) in ([1, 1], [1, 2], [2, 2]):
        return Contents({"rows": _pair(values)})
    if len(values) == 3:
        return _three(values)
    return _four(values) if len(values) == 4 and max(map(levels, values)) == 2 else None


def _three(values: Sequence[Node]) -> Contents | None:
    """Read values and labels beside a third part: measures by name, decisions or losses."""
    told = [*map(levels, values)]
    last = values[2]
    if isinstance(last, Items) and last.kind == "dict" and sorted(told[:2]) == [1, 2]:
        said = "The third part of the tuple, measures by name, was left out."
        return Contents({"rows": _pair(values[:2])}, (said,))
    return of_three([*map(array_of, values)]) if sorted(told) == [1, 1, 2] else None


def _of_names(items: Items, options: Options) -> Contents:
    """Sort the arrays of a dictionary."""
    named = _Named()
    named.take(items, "")
    contents = contents_of(named.arrays, left_out=named.left_out, options=options)
    for name, names in named.classes.items():
        contents = named_by(contents, name, names)
    doubts = (*contents.doubts, *named.doubts)
    return replace(contents, found=(*named.joined, *contents.found), doubts=doubts)


def _four(nodes: Sequence[Node]) -> Contents:
    """Take four arrays for the values and labels of two sets, told apart by their shape."""
    arrays = [array_of(part) for part in nodes]
    told = of_four(arrays)
    if told is None:
        found = f"four arrays of {', '.join(f'{len(array):,}' for array in arrays)} rows"
        raise FileError("pickle", f"{found}, whose order does not tell the sets apart", WANTED)
    return told


def _is_pair(node: Node) -> bool:
    """Tell a pair of a table and labels from a table of two rows."""
    parts = members(node) or ()
    of = [levels(part) for part in parts]
    return len(of) == 2 and max(of) == 2 and min(of) >= 1


def _pair(values: Sequence[Node]) -> RawSet:
    first, second = map(array_of, values)
    return pair_of(first, second)


class _Named:
    """The arrays of a dictionary, and of dictionaries within it, by name.

    Single values, such as an epoch or an accuracy, only add their names to those left out.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.left_out: list[str] = []
        self.joined: list[str] = []
        self.doubts: list[str] = []
        self.classes: dict[str, tuple[str, ...]] = {}

    def take(self, items: Items, prefix: str) -> None:
        """Take what is in a dictionary."""
        sizes = sizes_of_lists(items)
        self.joined += map(said_of, sizes)
        self.doubts += doubts_of_lists(items, sizes)
        for key, value in zip(items.values[::2], items.values[1::2], strict=True):
            name = name_of(key)
            if name is None:
                raise FileError("pickle", "a dict key that is not a short text", WANTED)
            if isinstance(value, Items) and (names := _given_names(name, value)):
                self.classes[prefix + name] = names
            elif isinstance(value, Items) and value.kind == "dict" and not prefix:
                self.take(value, f"{name}_")
            else:
                self.add(prefix + name, name, value, sizes)
            if len(self.arrays) + len(self.left_out) > _MAX_NAMES:
                found = f"a dict of more than {_MAX_NAMES:,} names"
                raise FileError("pickle", found, WANTED)

    def add(self, whole: str, name: str, value: Node, sizes: list[list[int]]) -> None:
        """Add one array, or name what is none."""
        place, batches = quoted(whole, 30), in_batches(value, sizes)
        if name.lower() in CLASS_NAME_KEYS:
            array = _names(value)
        elif batches:
            array = joined_batches(batches, place)
        elif role_of(name)[1] in LABEL_KEYS | TABLE_KEYS or _of_numbers(value):
            array = array_of(value, place)
        else:
            self.left_out.append(whole)
            return
        if whole in self.arrays:
            raise FileError("pickle", f"the name {quoted(whole)} twice", WANTED)
        self.arrays[whole] = array


def _of_numbers(node: Node) -> bool:
    """Tell arrays, and lists of numbers or arrays, from other things, such as tags."""
    if not isinstance(node, Items):
        return isinstance(node, Held)
    first = node.values[0] if node.kind != "dict" and node.values else None
    return isinstance(first, bool | int | float) or _of_numbers(first)


def _given_names(name: str, node: Items) -> tuple[str, ...]:
    """Give the names of the classes from a dict of names by number, or of numbers by name."""
    keys, values = node.values[::2], node.values[1::2]
    names, numbers = (keys, values) if name.lower() in NUMBER_OF_NAME else (values, keys)
    told = [text for part in names if (text := name_of(part)) is not None]
    known = node.kind == "dict" and name.lower() in NUMBER_OF_NAME | NAME_OF_NUMBER
    return in_order(told, numbers) if known and len(told) == len(names) else ()


def _names(node: Node) -> Array:
    if isinstance(node, Held) and node.array is not None and node.array.dtype.kind in "iu":
        return node.array
    parts = members(node) or []
    if parts and all(type(part) is int for part in parts):
        return array_of(node)
    names = [name_of(part) for part in parts]
    if None in names or not names:
        raise FileError(
            "class names", "something other than a list of short texts", "one name a class"
        )
    return np.array([str(name) for name in names])
