"""Lists of batches and of rows, as loops over a model's outputs leave them, put together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from dashboard.readers.binary.arrays import contents_of
from dashboard.readers.columns.growing import GrowingText
from dashboard.readers.columns.named import (
    LABEL_KEYS,
    TABLE_KEYS,
    WEAK_LABEL_KEYS,
    WEAK_TABLE_KEYS,
    left_out_sentence,
)
from dashboard.readers.columns.roles import role_of
from dashboard.readers.columns.table_columns import Column, from_columns
from dashboard.readers.contents import Array, Contents, Options, Role
from dashboard.readers.pickles.arrays import (
    array_of,
    described,
    joined,
    members,
    name_of,
    pair_of,
    shape_of,
    vector,
)
from dashboard.readers.pickles.nodes import Held, Items, Node
from dashboard.readers.pickles.parts import doubts_of_parts, named_parts, said_of_parts
from dashboard.readers.refusal import FileError, quoted

_MAX_CELLS = 2_000_000
_KNOWN = LABEL_KEYS | WEAK_LABEL_KEYS | TABLE_KEYS | WEAK_TABLE_KEYS
_WANTED = 'torch.cat or numpy.concatenate of the batches, as {"logits": ..., "labels": ...}'
Columns = Mapping[str, Sequence[Node]]
Shape = tuple[int, ...]


def dicts_in(node: Node) -> list[Items]:
    """Give the dictionaries of a list that holds nothing else, though it stand alone in another."""
    values = members(node) or []
    if len(values) == 1 and members(values[0]):
        return dicts_in(values[0])
    dicts = [value for value in values if isinstance(value, Items) and value.kind == "dict"]
    return dicts if len(dicts) == len(values) else []


def from_dicts(dicts: Sequence[Items], options: Options) -> Contents:
    """Read dictionaries with the same keys, of a batch each or of a row each."""
    columns = _columns(dicts)
    listed = f"a list of {len(dicts):,} dicts, the first of them {described(dicts[0])}"
    if columns is None:
        raise FileError("pickle", f"{listed}, without the same keys in each", _WANTED)
    if _has_single_label(columns) or all(map(_are_singles, columns.values())):
        return _rows(columns, options)
    sizes = _sizes_of_batches(columns)
    if sizes is None:
        raise FileError("pickle", f"{listed}, which are neither batches nor rows", _WANTED)
    if not any(role_of(name)[1] in _KNOWN for name in columns):
        raise FileError("pickle", f"{listed}: no name of values or labels", _WANTED)
    named = named_parts(columns)
    if named is not None:
        return _named_sets(columns, *named, options)
    if len(dicts) == 2:
        found = f"{listed}: two batches, or a calibration and a test set"
        raise FileError("pickle", found, "one dict, with names such as val_logits for two sets")
    there = {k: v for k, v in columns.items() if _sizes([shape_of(node) for node in v]) == sizes}
    arrays = {name: joined_batches(nodes, quoted(name, 30)) for name, nodes in there.items()}
    left = [name for name in columns if name not in there]
    contents = contents_of(arrays, left_out=left, options=options)
    doubts = _doubts_of_dicts(there)
    return replace(
        contents,
        found=(said_of(sizes), *contents.found),
        doubts=(*contents.doubts, *doubts),
    )


def _named_sets(
    columns: Columns, key: str, places: Mapping[Role, int], options: Options
) -> Contents:
    """Read the parts that a key calls a calibration and a test set."""
    arrays = {
        f"{role}_{name}": array_of(nodes[place], quoted(name, 30))
        for name, nodes in columns.items()
        if len(shape_of(nodes[0])) in (1, 2) and not _are_singles(nodes)
        for role, place in places.items()
    }
    contents = contents_of(arrays, options=options)
    return replace(contents, found=(said_of_parts(key, columns[key], places), *contents.found))


def _doubts_of_dicts(columns: Columns) -> tuple[str, ...]:
    """Look at the parts of a list of dictionaries, where one key holds values and one labels."""
    truths = [name for name in columns if _is_truth(name)]
    tables = [name for name in columns if role_of(name)[1] in TABLE_KEYS | WEAK_TABLE_KEYS]
    if not truths or not tables:
        return ()
    values = [array_of(node) for node in columns[tables[0]][:2]]
    return doubts_of_parts(values, [array_of(node) for node in columns[truths[0]]])


def from_keyed(items: Items, options: Options) -> Contents | None:
    """Read dictionaries of a row each, by the name of the row; None for anything else."""
    dicts = [value for value in items.values[1::2] if isinstance(value, Items)]
    if len(dicts) < max(3, len(items.values) // 2) or any(one.kind != "dict" for one in dicts):
        return None
    columns = _columns(dicts)
    if columns is None or not _has_single_label(columns):
        return None
    return _rows({"id": items.values[::2]} | columns, options)


def from_pairs(node: Node) -> Contents | None:
    """Read a list of pairs of values and labels, of a batch each or of a row each."""
    values = members(node) or []
    if len(values) == 1:
        return from_pairs(values[0])
    pairs = [pair for value in values if (pair := members(value)) is not None and len(pair) == 2]
    if len(pairs) < max(3, len(values)):
        return None
    sides = [[pair[side] for pair in pairs] for side in (0, 1)]
    sizes = [_sizes([shape_of(part) for part in side]) for side in sides]
    if sum(map(_are_singles, sides)) == 1:
        rows = [_column_of_rows(side) for side in sides]
        made = [column for column in rows if isinstance(column, np.ndarray)]
        return Contents({"rows": pair_of(*made)}) if len(made) == 2 else None
    if sizes[0] is None or sizes[0] != sizes[1]:
        return None
    if any(_may_be_rows(side, sizes[0]) for side in sides):
        return None
    whole = [joined_batches(side, "batches") for side in sides]
    ends = np.cumsum(sizes[0])[:-1]
    tables, labels = sorted((np.split(array, ends) for array in whole), key=_like_labels)
    doubts = doubts_of_parts(tables, labels)
    return Contents({"rows": pair_of(*whole)}, (said_of(sizes[0]),), doubts=doubts)


def _like_labels(parts: Sequence[Array]) -> int:
    """Put a table before labels: these are flat, or text, or whole numbers."""
    whole = parts[0].dtype.kind not in "fiub" or bool((parts[0] == np.rint(parts[0])).all())
    return 2 * (parts[0].ndim == 1) + whole


def said_of(sizes: Sequence[int]) -> str:
    """Say how many batches were put together."""
    return f"{len(sizes):,} batches were put together, {sum(sizes):,} rows in all."


def sizes_of_lists(items: Items) -> list[list[int]]:
    """Find the sizes of batches in a dictionary of lists of tables, or of labels."""
    found: list[list[int]] = []
    for key, value in zip(*_turned(items), strict=True):
        parts = members(value) or []
        if not all(isinstance(part, Held) for part in parts):
            continue
        shapes = [shape_of(part) for part in parts]
        tables = all(len(shape) == 2 for shape in shapes)
        labels = _is_truth(name_of(key) or "") and len(set(shapes)) > 1
        if parts and (tables or labels):
            sizes = _sizes(shapes)
            found += [sizes] if sizes is not None and sizes not in found else []
    return found


def in_batches(node: Node, sizes: Sequence[Sequence[int]]) -> list[Node]:
    """Give the batches in a list, if there are as many rows in each as is known of another."""
    parts = members(node) or [] if sizes else []
    return parts if parts and _sizes([shape_of(part) for part in parts]) in sizes else []


def doubts_of_lists(items: Items, sizes: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Look at the batches in a dictionary of lists of tables and of labels."""
    parts = {
        name_of(key) or "": in_batches(value, sizes)
        for key, value in zip(*_turned(items), strict=True)
    }
    return _doubts_of_dicts({name: nodes for name, nodes in parts.items() if len(nodes) > 1})


def joined_batches(nodes: Sequence[Node], place: str) -> Array:
    """Put batches together, one below the other."""
    flat = [value for node in nodes for value in members(node) or ()]
    if len(shape_of(nodes[0])) == 1 and all(members(node) for node in nodes):
        return array_of(Items("list", flat), place)
    return joined([array_of(node, place) for node in nodes], place)


def _columns(dicts: Sequence[Items]) -> dict[str, list[Node]] | None:
    """Give what all dictionaries have under each of their keys, if these are the same."""
    if sum(len(one.values) for one in dicts) > _MAX_CELLS:
        raise FileError("pickle", f"more than {_MAX_CELLS:,} keys and values", _WANTED)
    first = [name_of(key) for key in dicts[0].values[::2]]
    names = [name for name in first if name is not None]
    columns: dict[str, list[Node]] = {name: [] for name in names}
    for one in dicts:
        found = {name_of(key): value for key, value in zip(*_turned(one), strict=True)}
        if found.keys() != columns.keys() or 2 * len(found) != len(one.values):
            return None
        for name, nodes in columns.items():
            nodes.append(found[name])
    return columns or None


def _turned(one: Items) -> tuple[list[Node], list[Node]]:
    return one.values[::2], one.values[1::2]


def _is_truth(name: str) -> bool:
    rest = role_of(name)[1]
    words = set(rest.split("_"))
    told = LABEL_KEYS & words and not (TABLE_KEYS & words or rest in TABLE_KEYS | WEAK_TABLE_KEYS)
    return bool(told) or rest in LABEL_KEYS | WEAK_LABEL_KEYS


def _has_single_label(columns: Columns) -> bool:
    """Tell rows from batches by a label in each."""
    return any(_are_singles(nodes) for name, nodes in columns.items() if _is_truth(name))


def _are_singles(nodes: Sequence[Node]) -> bool:
    return all(len(shape) < 3 and prod(shape) == 1 for shape in map(shape_of, nodes))


def _sizes_of_batches(columns: Columns) -> list[int] | None:
    """Give how many rows each batch has, by the labels if there are any."""
    truths = [name for name in columns if _is_truth(name)]
    tables = [name for name in columns if all(len(shape_of(node)) == 2 for node in columns[name])]
    for name in truths or tables:
        sizes = _sizes([shape_of(node) for node in columns[name]])
        if sizes is not None and (tables or not _may_be_rows(columns[name], sizes)):
            return sizes
    return None


def _sizes(shapes: Sequence[Shape]) -> list[int] | None:
    """Give the sizes of batches, which are flat or tables of one width."""
    if any(len(shape) not in (1, 2) or shape[1:] != shapes[0][1:] for shape in shapes):
        return None
    return [shape[0] for shape in shapes]


def _may_be_rows(labels: Sequence[Node], sizes: Sequence[int]) -> bool:
    """Tell labels that may as well be a row each, with a one at its class."""
    if len(set(sizes)) > 1 or any(len(shape_of(node)) != 1 for node in labels):
        return False
    rows = joined_batches(labels, "labels").reshape(len(sizes), -1)
    if rows.dtype.kind not in "biuf":
        return False
    return bool(((rows == 0) | (rows == 1)).all() and (rows.sum(axis=1) == 1).all())


def _rows(columns: Columns, options: Options) -> Contents:
    """Read one row a dictionary, as records of JSON are read."""
    made = {name: _column_of_rows(nodes) for name, nodes in columns.items()}
    left = [name for name, column in made.items() if column is None]
    wanted = [name for name in left if role_of(name)[1] in LABEL_KEYS | TABLE_KEYS]
    if wanted:
        found = f"values of several kinds or lengths, the first {described(columns[wanted[0]][0])}"
        raise FileError(quoted(wanted[0], 30), found, "the same kind in every row")
    there = {name: column for name, column in made.items() if column is not None}
    return from_columns(list(there), list(there.values()), options, found=left_out_sentence(left))


def _column_of_rows(nodes: Sequence[Node]) -> Column | None:
    """Make a column of one value or one list a row; None where that is not so."""
    parts = [_alone(node) for node in nodes]
    if all(isinstance(part, bool | int | float) for part in parts):
        return vector(parts)
    if all(isinstance(part, str | bytes) for part in parts):
        texts = [text for part in parts if (text := name_of(part)) is not None]
        column = GrowingText()
        column.extend(texts)
        return column.finish() if len(texts) == len(parts) else None
    shapes = [shape_of(part) for part in parts]
    lists = all(isinstance(part, Held) or members(part) for part in parts)
    if not lists or any(prod(s) != prod(shapes[0]) or prod(s[:-1]) != 1 for s in shapes):
        return None
    rows = [array_of(part) for part in parts]
    if any(
        row.dtype.kind == "U" or row.shape != shape for row, shape in zip(rows, shapes, strict=True)
    ):
        return None
    table = joined([row.reshape(1, -1) for row in rows], "rows")
    return table[:, 0] if table.shape[1] == 1 else table


def _alone(node: Node) -> Node:
    """Give the only value of a list, and anything else as it is."""
    values = members(node)
    return _alone(values[0]) if values is not None and len(values) == 1 else node
