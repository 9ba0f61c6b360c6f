"""Lists in pickles: of numbers, of rows and of batches, put together to arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from dashboard.readers.formats.pickle_machine import (
    MAX_NAME,
    ArrayPlace,
    Items,
    Node,
    described,
    members,
    name_of,
    text,
)
from dashboard.readers.limits import MAX_REPEATED
from dashboard.readers.records import Array
from dashboard.readers.refusal import FileError

WANTED = (
    "((logits_val, y_val), (logits_test, y_test)) or a dict of arrays; anything else can be saved"
    " by np.savez('mine.npz', logits=..., labels=...)"
)
_LEAST = 3
"""Least number of pairs in a list that are taken for batches, or rows: two are two sets."""
_FEW = 4
_LEAST_SAME = 8
"""Numbers that rows may have together, where one is referred to many times."""


class NoArrayError(Exception):
    """A node that holds no array."""


@dataclass(frozen=True)
class JoinedArrays:
    """Arrays put together from a list, and what was said of it."""

    arrays: list[tuple[str, Array]]
    unread: list[tuple[str, str]]
    note: str
    doubts: tuple[str, ...] = ()


def put(node: Node) -> JoinedArrays | None:
    """Put the batches, or rows, of a list together; None where there are none."""
    lists = _turned(node)
    if lists is None:
        return None
    columns = {name: _arrays(values) for name, values in lists.items()}
    sizes = _sizes(list(columns.values()))
    if sizes is None:
        return _rows(node, lists)
    named = any(_are_names(values) for values in lists.values())
    batches = _put(node, columns, sizes)
    return replace(batches, doubts=()) if named else batches


def _put(
    node: Node, columns: Mapping[str, list[Array] | None], sizes: Sequence[int]
) -> JoinedArrays:
    """Join the parts of each list; what is no array, or of other lengths, is not read."""
    _check(node, list(columns.values()), sizes)
    arrays: list[tuple[str, Array]] = []
    unread: list[tuple[str, str]] = []
    for name, parts in columns.items():
        whole = _whole(parts, sizes, name) if parts else None
        if whole is None:
            unread.append((name, "something else than the rows of a batch"))
        else:
            arrays.append((name, whole))
    note = f"{len(sizes):,} batches were put together, {sum(sizes):,} rows in all."
    return JoinedArrays(arrays, unread, note, _doubts(sizes))


def _are_names(values: Sequence[Node]) -> bool:
    """Return whether each part has a text of its own, such as the name of its set."""
    return all(isinstance(value, str) for value in values) and len({*map(str, values)}) == len(
        values
    )


def put_beside(named: Sequence[tuple[str, Node]]) -> list[JoinedArrays]:
    """Put batches together that lie in lists beside one another, tables and what is of them."""
    groups: dict[tuple[int, ...], list[tuple[str, list[Array]]]] = {}
    for name, node in named:
        values = members(node)
        parts = [
            one.array for one in values if isinstance(one, ArrayPlace) and one.array is not None
        ]
        whole = 1 < len(values) == len(parts) and all(part.ndim for part in parts)
        # Parts of other widths are no batches: ((logits, labels), (logits, labels)).
        if whole and len({part.shape[1:] for part in parts}) == 1:
            groups.setdefault(tuple(map(len, parts)), []).append((name, parts))
    tables_of_batches = []
    for sizes, group in groups.items():
        # A table of each batch, or its scores, and one class of each row: tables alone may be sets.
        tables = {prod(parts[0].shape[1:]) > 1 for _, parts in group}
        scores = [{part.dtype.kind == "f" for part in parts} for _, parts in group]
        if tables == {True, False} or (
            True not in tables and {True} in scores and {False} in scores
        ):
            tables_of_batches.append(_put(named[0][1], dict(group), sizes))
    return tables_of_batches


def _whole(parts: Sequence[Array], sizes: Sequence[int], name: str) -> Array | None:
    """Join the parts of batches; repeat what is said once of each, such as its set."""
    arrays = [part.reshape(1) if part.ndim == 0 else part for part in parts]
    if [len(part) for part in arrays] == [*sizes]:
        return joined(arrays, name)
    if any(part.size != 1 for part in arrays):
        return None
    return np.repeat(joined([part.reshape(1) for part in arrays], name), sizes)


def _turned(node: Node) -> dict[str, list[Node]] | None:
    """Turn a list of dictionaries or of pairs into lists by name."""
    values = members(node)
    if len(values) >= 2 and all(isinstance(one, Items) and one.kind == "dict" for one in values):
        rows = [_by_name(one) for one in values if isinstance(one, Items)]
        keys = list(rows[0])
        if not keys or any(row.keys() != {*keys} for row in rows):
            raise FileError("pickle", f"{described(node)}, without the same keys in each", WANTED)
        if len(values) < _LEAST:
            layout = f"{described(node)}: two batches, or a calibration and a test set"
            raise FileError("pickle", layout, WANTED)
        return {key: [row[key] for row in rows] for key in keys}
    pairs = [parts for value in values if len(parts := members(value)) == 2]
    if _LEAST <= len(values) == len(pairs) and not all(map(_is_row, pairs)):
        return {str(side): [pair[side] for pair in pairs] for side in (0, 1)}
    return None


def _by_name(items: Items) -> dict[str, Node]:
    """Return a dictionary by the names in it; nothing where they are none, or the same."""
    names = [name_of(key) for key in items.values[::2]]
    if None in names or len({*names}) < len(names):
        return {}
    return {str(name): one for name, one in zip(names, items.values[1::2], strict=True)}


def _is_row(values: list[Node]) -> bool:
    return all(isinstance(value, bool | int | float | str | bytes) for value in values)


def _arrays(values: list[Node]) -> list[Array] | None:
    """Return each of the values as an array; None where one of them is none."""
    try:
        return [_one(value) for value in values]
    except (NoArrayError, FileError):
        return None


def _one(value: Node) -> Array:
    if isinstance(value, ArrayPlace | Items):
        return array_of(value, "pickle")
    return array_of(Items("list", [value]), "pickle").reshape(())


def _sizes(columns: Sequence[Sequence[Array] | None]) -> list[int] | None:
    """Return how many rows each batch has: what two lists agree on, or a table's rows."""
    known = [parts for parts in columns if parts and all(part.ndim for part in parts)]
    lengths = [[len(part) for part in parts] for parts in known]
    tables = [one for parts, one in zip(known, lengths, strict=True) if parts[0].ndim > 1]
    for one in (*tables, *lengths):
        if lengths.count(one) > 1 and (one in tables or not _are_classes(known)):
            return one
    return tables[0] if len(tables) == 1 and len(known) == 1 else None


def _are_classes(columns: Sequence[Sequence[Array]]) -> bool:
    """Return whether one list holds the shares of classes in each of its parts."""
    with np.errstate(all="ignore"):
        return any(
            all(part.dtype.kind not in "US" and abs(float(part.sum()) - 1) < 1e-3 for part in parts)
            for parts in columns
        )


def _rows(node: Node, lists: dict[str, list[Node]]) -> JoinedArrays | None:
    """Put one row after another."""
    arrays: list[tuple[str, Array]] = []
    unread: list[tuple[str, str]] = []
    n_single = 0
    for name, values in lists.items():
        try:
            array = array_of(Items("list", values), name)
        except (NoArrayError, FileError) as error:
            why = error.actual if isinstance(error, FileError) else str(error)
            unread.append((name, why))
            continue
        single = array.size == len(array)
        n_single += single
        arrays.append((name, array.reshape(len(array)) if single else array))
    if not arrays or not n_single or any(array.ndim > 2 for _, array in arrays):
        raise FileError("pickle", f"{described(node)}: neither batches nor rows", WANTED)
    n_rows = len(arrays[0][1])
    return JoinedArrays(arrays, unread, f"{n_rows:,} rows were put together.")


def _check(node: Node, columns: Sequence[Sequence[Array] | None], sizes: Sequence[int]) -> None:
    """Refuse several models, or epochs, of the same rows: batches have labels of their own."""
    for parts in filter(None, columns):
        first = parts[0]
        if sizes[0] < _LEAST_SAME or not _are_labels(first):
            continue
        if (first != first[0]).any() and all(np.array_equal(first, part) for part in parts[1:]):
            raise FileError(
                "pickle", f"{described(node)}, {len(sizes):,} with the same {sizes[0]:,} labels:"
                " several models of the same rows, not batches", WANTED,
            )  # fmt: skip


def _are_labels(array: Array) -> bool:
    """Return whether an array holds classes, or a single 1 in each row."""
    if array.ndim == 1:
        return array.dtype.kind in "iubUS"
    numbers = array.ndim == 2 and array.dtype.kind in "iubf"
    return numbers and bool(
        ((array == 1).sum(axis=1) == 1).all() and (array != 0).sum() == len(array)
    )


def _doubts(sizes: Sequence[int]) -> tuple[str, ...]:
    """Return that a few parts of other lengths may be sets: of batches only the last is shorter."""
    even = len({*sizes[:-1]}) == 1 and sizes[-1] <= sizes[0]
    if even or len(sizes) > _FEW:
        return ()
    listed = ", ".join(f"{size:,}" for size in sizes)
    return (f"A list of {len(sizes)} parts ({listed} rows) was taken for batches of one set.",)


def array_of(node: Node, place: str) -> Array:
    """Return an array, made from lists of numbers or texts where it has to be."""
    if isinstance(node, ArrayPlace) and node.array is not None:
        return node.array
    values = members(node)
    if not values:
        raise NoArrayError(described(node))
    if all(isinstance(value, bool | int | float) for value in values):
        return _vector(values)
    texts = [value for value in values if isinstance(value, str | bytes)]
    if len(texts) == len(values):
        return _texts(texts, place)
    if not all(isinstance(value, ArrayPlace | Items) for value in values):
        raise NoArrayError(f"{described(node)}, of several kinds")
    # A row may be referred to many times over.
    different = dict.fromkeys(values)
    rows = [array_of(value, place) for value in different]
    if any(row.ndim > 2 or row.shape != rows[0].shape for row in rows):
        raise FileError(place, "lists of unequal length or nesting", "rows of equal length")
    if len(rows) < len(values) and rows[0].size * len(values) > MAX_REPEATED:
        raise FileError(
            place, f"{len(values):,} times the same rows by repeated references", WANTED
        )
    table = joined([row[np.newaxis] for row in rows], place)
    if table.ndim > 1 and table.shape[1] == 1:
        table = table[:, 0]
    places = {one: k for k, one in enumerate(different)}
    return table if len(rows) == len(values) else table[[places[value] for value in values]]


def joined(arrays: Sequence[Array], place: str) -> Array:
    """Put arrays below one another, which must have one width, and hold numbers or texts alike."""
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
    if longest > MAX_NAME:
        sizes = f"{len(texts):,} texts of up to {longest:,} characters, too large"
        raise FileError(place, sizes, "class numbers for labels")
    return np.array([text(one) for one in texts])
