"""Arrays without known names, told apart by their shape."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibcore.blocks import row_blocks
from dashboard.readers.binary.npy import is_whole, piece
from dashboard.readers.columns.roles import role_of
from dashboard.readers.contents import Array, Contents, RawSet, Role
from dashboard.readers.refusal import FileError, quoted

_COUNTED = re.compile(r"arr_[0-9]{1,3}", re.ASCII)
"""What numpy.savez calls arrays that are given without a name."""

_SHARE_KEYS = frozenset({"p", "ps", "phat", "p_hat"})
"""Names that hold probabilities if their values are from 0 to 1 and no other name is known."""


def by_shape(arrays: Mapping[str, Array], class_names: tuple[str, ...] | None) -> Contents:
    """Tell two arrays without known names apart by their shape."""
    if len(arrays) == 1:
        return piece(next(iter(arrays.values())))
    if len(arrays) in (3, 4) and all(map(_COUNTED.fullmatch, arrays)):
        ordered = [arrays[name] for name in sorted(arrays, key=lambda name: int(name[4:]))]
        told = of_four(ordered) if len(ordered) == 4 else of_three(ordered)
        if told is not None:
            return told if class_names is None else _with_names(told, class_names)
    pieces = [piece(array).sets["rows"] for array in arrays.values()]
    parts = [part for part in pieces if isinstance(part, RawSet)]
    tables = [part for part in parts if part.table is not None]
    labels = [part for part in parts if part.labels is not None]
    if len(tables) != 1 or len(labels) != 1:
        listed = ", ".join(quoted(name, 20) for name in list(arrays)[:6])
        raise FileError(
            "names of the arrays", f"{len(arrays)} arrays named {listed}", "logits and labels"
        )
    return Contents(
        {"rows": replace(labels[0], table=tables[0].table, class_names=class_names)},
        ("The logits and the labels were told apart by their shape, not by their names.",),
    )


def of_four(arrays: Sequence[Array]) -> Contents | None:
    """Take four arrays for the values and labels of two sets, or nothing if their order is another.

    Values and labels of one set, then of the other; or the values of both, then the labels, where
    their lengths tell which are of which.
    """
    flat = [array.ndim < 2 or array.shape[1] == 1 for array in arrays]
    counts = [len(array) for array in arrays]
    if flat == [False, False, True, True] and counts[0] != counts[1]:
        order, said = (0, 2, 1, 3), "values of two sets, then their labels"
    elif flat == [False, True, False, True]:
        order, said = (0, 1, 2, 3), "values and labels, then those of another set"
    else:
        return None
    cal_values, cal_labels, values, labels = (arrays[k] for k in order)
    return Contents(
        {"calibration": RawSet(cal_values, cal_labels), "test": RawSet(values, labels)},
        (f"Four arrays without names: {said}; the first set is for calibration.",),
    )


def of_three(arrays: Sequence[Array]) -> Contents | None:
    """Take values and labels beside a third array that repeats the decisions, or holds fractions.

    Loops over a model's outputs give the likeliest classes, or the losses, as well.
    """
    tables = [array for array in arrays if array.ndim == 2 and array.shape[1] > 1]
    columns = [array for array in arrays if array.ndim == 1 and array.dtype.kind in "biuf"]
    if len(arrays) != 3 or len(tables) != 1 or len({*map(len, arrays)}) != 1 or len(columns) != 2:
        return None
    table, labels = tables[0], [column for column in columns if is_whole(column)]
    what = "fractions, such as losses"
    if len(labels) == 2:
        labels = [column for column in labels if not _is_likeliest(column, table)]
        what = "the likeliest class of each row"
    if len(labels) != 1:
        return None
    said = f"Three arrays without names: values, labels and {what}, which were left out."
    return Contents({"rows": RawSet(table, labels[0])}, (said,))


def _is_likeliest(column: Array, table: Array) -> bool:
    """Tell class numbers that are the place of the highest value in every row."""
    blocks = row_blocks(*table.shape)
    return all(np.array_equal(table[rows].argmax(axis=1), column[rows]) for rows in blocks)


def _with_names(contents: Contents, names: tuple[str, ...]) -> Contents:
    sets = {
        role: replace(raw, class_names=names) if isinstance(raw, RawSet) else raw
        for role, raw in contents.sets.items()
    }
    return replace(contents, sets=sets)


def shares_by_name(arrays: Mapping[str, Array]) -> dict[Role, list[str]]:
    """Tell tables, of each set, by short names and values from 0 to 1."""
    tables: dict[Role, list[str]] = {"calibration": [], "test": [], "rows": []}
    for name, array in arrays.items():
        role, rest = role_of(name)
        if rest in _SHARE_KEYS and array.dtype.kind == "f" and array.size and not is_whole(array):
            tables[role] += [name] if array.min() >= 0 and array.max() <= 1 else []
    return tables
