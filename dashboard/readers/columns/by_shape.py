"""Arrays without known names, told apart by their shape."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np

from calibcore.blocks import row_blocks
from dashboard.readers.binary.npy import is_whole, piece
from dashboard.readers.columns.roles import role_of
from dashboard.readers.contents import Array, Contents, RawSet, Role
from dashboard.readers.refusal import FileError, percent, quoted

_COUNTED = re.compile(r"arr_[0-9]{1,3}", re.ASCII)
"""What numpy.savez calls arrays that are given without a name."""

_CLEAR = 5
"""So many standard errors above chance tell labels by the values beside them."""

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


def with_labels(
    chosen: dict[Role, tuple[str | None, str | None]],
    arrays: Mapping[str, Array],
    *,
    but: AbstractSet[str],
) -> tuple[dict[Role, tuple[str | None, str | None]], tuple[str, ...]]:
    """Find the labels of the only table by its values, where no name tells them, and doubt it.

    Names with words ``but`` are of something else.
    """
    table = chosen["rows"][0] if "rows" in chosen else None
    if table is None or [*filter(any, chosen.values())] != [(table, None)]:
        return chosen, ()
    others = {
        name: array
        for name, array in arrays.items()
        if name != table and not but & {*role_of(name)[1].split("_")}
    }
    found = _by_values(arrays[table], others)
    if found is None:
        return chosen, ()
    said = (
        f"Array {quoted(found[0], 30)} was taken for the labels: no name says so, but it agrees"
        f" with the likeliest class in {percent(found[1])} of the rows."
    )
    return chosen | {"rows": (table, found[0])}, (said,)


def _by_values(table: Array, others: Mapping[str, Array]) -> tuple[str, float] | None:
    """Find the one array of class numbers that the values agree with more often than by chance.

    Examples
    --------
    >>> rows = np.tile([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]], (10, 1))
    >>> true = np.tile([0, 1, 2], 10)
    >>> true[:2] = 2
    >>> _by_values(rows, {"klass": true, "site": np.repeat([0, 1], 15)})
    ('klass', 0.933...)
    """
    if table.ndim != 2 or not len(table) or table.shape[1] < 2 or table.dtype.kind not in "biuf":
        return None
    likeliest = np.concatenate([table[rows].argmax(axis=1) for rows in row_blocks(*table.shape)])
    found = []
    for name, array in others.items():
        if array.shape != likeliest.shape or array.dtype.kind not in "iuf" or not is_whole(array):
            continue
        if array.min() < 0 or array.max() >= table.shape[1]:
            continue
        shares = [
            np.bincount(c.astype(np.intp), minlength=table.shape[1]) for c in (array, likeliest)
        ]
        chance = float(shares[0] @ shares[1]) / len(array) ** 2
        share = float(np.mean(array == likeliest))
        if chance < 1 and chance + _CLEAR * np.sqrt(chance * (1 - chance) / len(array)) < share < 1:
            found.append((name, share))
    return found[0] if len(found) == 1 else None
