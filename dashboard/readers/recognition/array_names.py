"""Arrays of one file by set, each set as a table of which a column may hold a row of values."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

import numpy as np

from dashboard.readers.contents import Options, Role
from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.array_roles import (
    agrees,
    called,
    is_whole,
    last_name,
    reading_of,
)
from dashboard.readers.recognition.set_names import further_sets, role_of
from dashboard.readers.recognition.vocabulary import key_of, words_of
from dashboard.readers.refusal import FileError, plain
from dashboard.readers.table import Arrays, Column, Reading, Table

_NESTED = re.compile(r"(\d+)\.(\d+)", re.ASCII)
_UNNAMED = re.compile(r"(arr_)?\d+(\.\d+)?", re.ASCII)
_SHOWN = 8
_WITHIN = "The labels are a column of the array: its numbers agree with the largest value."

_LEAST_WITHIN = 3
_TELLING = terms.VALUE_WORDS | terms.LABEL_WORDS
_TWO = ("Without names, the first two arrays are the calibration set, the others the test set.",)


@dataclass(frozen=True, eq=False)
class Parts:
    """The arrays of a file by set, each a table; an array of two axes is a column of rows."""

    tables: Mapping[Role, Table]
    readings: Mapping[Role, Reading] = field(default_factory=dict)  # where names and shapes tell
    found: tuple[str, ...] = ()


def parts_of(parsed: Arrays, options: Options) -> Parts:
    """Return the arrays of each set as a table, and what they are for where they tell."""
    names, further = _class_names([_flat(array) for array in parsed.arrays if not array.unread])
    arrays = [array for array in further if array.values.size]
    if not arrays:
        why = next((f"{called(a)} of {a.unread}" for a in parsed.arrays if a.unread), "")
        empty = [f"an empty array of shape {array.values.shape}" for array in parsed.arrays]
        found = why or (*empty, "no arrays")[0]
        raise FileError("file", found, "values, labels or both, of a numeric type")
    refuse_unread(parsed.arrays, options)
    said: tuple[str, ...] = ()
    if len(arrays) == 1 and not options.roles and (apart := _labels_apart(arrays[0])):
        arrays, said = apart, (_WITHIN,)
    tables = {role: _table(columns, parsed, options) for role, columns in _by_set(arrays).items()}
    readings = {
        role: reading_of(table, names, options)
        for role, table in tables.items()
        if any(c.values.ndim > 1 for c in table.columns) or len(table.columns) == 1
    }
    used: set[int] = set()
    for role, table in tables.items():
        roles = readings[role].roles if role in readings else ("group",) * len(table.columns)
        pairs = zip(table.columns, roles, strict=True)
        used |= {id(column.values) for column, its in pairs if its != "left out"}
    left = [array.name for array in parsed.arrays if array.unread]
    kept = {array.name for array in further} - {array.name for array in arrays}
    left += [a.name for a in further if id(a.values) not in used and not (said and a.name in kept)]
    if names and not any(reading.class_names for reading in readings.values()):
        left += [
            a.name for a in parsed.arrays if key_of(last_name(a.name)) in terms.CLASS_NAME_KEYS
        ]
    if len(tables) > 1 and all(_UNNAMED.fullmatch(a.name) for a in arrays):
        said = _TWO
    return Parts(tables, readings, (*said, *_left_out([*dict.fromkeys(left)])))


def _labels_apart(array: Column) -> list[Column] | None:
    """Return values and labels of a bare array of which the last or the first column is labels."""
    values = array.values
    if array.texts is not None or values.ndim != 2 or values.shape[1] < _LEAST_WITHIN:
        return None
    for end, others in ((-1, slice(None, -1)), (0, slice(1, None))):
        labels, rest = values[:, end], values[:, others]
        if is_whole(labels) and not is_whole(rest) and agrees(Column("", labels), rest):
            return [Column("values", rest), Column("label", labels.astype(np.int64))]
    return None


def refuse_unread(arrays: Sequence[Column], options: Options) -> None:
    """Refuse values or labels, by their names or by the user's word, that could not be read."""
    chosen = {name for name, role in options.roles if role not in ("group", "left out")}
    for array in arrays:
        key = key_of(role_of(last_name(array.name))[1] or array.name)
        told = key in terms.LABEL_KEYS | terms.TABLE_KEYS or bool({*words_of(key)[-1:]} & _TELLING)
        if array.unread and (told or array.name in chosen):
            raise FileError(called(array), array.unread, "an array of a numeric type")


def _left_out(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    shown = ", ".join(plain(name or "(no name)", 40) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (f"Arrays left out: {shown}{more}.",)


def _flat(array: Column) -> Column:
    """Return an array without axes of length 1 after the first."""
    values = array.values
    if values.ndim < 2 or 1 not in values.shape[1:]:
        return array
    longer = [size for size in values.shape[1:] if size > 1]
    return replace(array, values=values.reshape(len(values), *longer))


def _class_names(arrays: Sequence[Column]) -> tuple[tuple[str, ...], list[Column]]:
    """Return the names of the classes, where an array lists them, and the other arrays."""
    for array in arrays:
        listed = key_of(last_name(array.name)) in terms.CLASS_NAME_KEYS and array.values.ndim == 1
        if listed and len(arrays) > 1 and array.values.dtype.kind in "iu":
            codes = array.values.tolist()
            names = tuple(str(code) if array.texts is None else array.texts[code] for code in codes)
            return names, [other for other in arrays if other is not array]
    return (), [*arrays]


def _by_set(arrays: Sequence[Column]) -> dict[Role, list[Column]]:
    """Return the arrays of each set; a set that alone is named needs no name."""
    nested = [match for array in arrays if (match := _NESTED.fullmatch(array.name))]
    firsts = dict.fromkeys(match[1] for match in nested)
    roles: list[tuple[Role, str]]
    if len(nested) == len(arrays) and len(firsts) == 2:
        first = nested[0][1]
        roles = [("calibration" if match[1] == first else "test", match[2]) for match in nested]
    elif len(arrays) == 4 and all(_UNNAMED.fullmatch(array.name) for array in arrays):
        return _four(arrays)
    else:
        further = further_sets([array.name for array in arrays])
        arrays = [array for array in arrays if array.name not in further]
        roles = [role_of(array.name) for array in arrays]
        roles = _other_set(roles)
    if {"calibration", "test"} <= {role for role, _ in roles}:
        parts: dict[Role, list[Column]] = {"calibration": [], "test": []}
        for array, (role, rest) in zip(arrays, roles, strict=True):
            if role != "rows":
                parts[role].append(replace(array, name=rest))
        return parts
    return {"rows": [*arrays]}


def _other_set(roles: list[tuple[Role, str]]) -> list[tuple[Role, str]]:
    """Take values and labels without a set beside those of one for the other set."""
    named = {role for role, _ in roles} - {"rows"}
    if len(named) != 1:
        return roles
    other: Role = "test" if named == {"calibration"} else "calibration"
    lasts = [
        {last_name(rest) for role, rest in roles if (role == "rows") == alone} for alone in (1, 0)
    ]
    both = lasts[0] & lasts[1]
    if len(both) < 2:
        return roles
    return [
        (other if role == "rows" and last_name(rest) in both else role, rest)
        for role, rest in roles
    ]


def _four(arrays: Sequence[Column]) -> dict[Role, list[Column]]:
    """Pair four arrays without names, values and labels in turn."""
    pairs = [list(arrays[:2]), list(arrays[2:])]
    for pair in pairs:
        axes, lengths = {a.values.ndim for a in pair}, {len(a.values) for a in pair}
        if axes != {1, 2} or len(lengths) > 1:
            wanted = "names such as val_logits, val_labels, test_logits and test_labels"
            raise FileError("arrays", "four without names, which do not tell the sets", wanted)
    return {"calibration": pairs[0], "test": pairs[1]}


def _table(columns: Sequence[Column], parsed: Arrays, options: Options) -> Table:
    """Return the arrays that have as many rows as the values, or as most arrays."""
    chosen = {name for name, role in options.roles if role in ("class", "score", "outcome")}
    wide = [column for column in columns if column.values.ndim == 2]
    told = [column for column in columns if column.name in chosen] or wide or columns
    lengths = [len(column.values) for column in told]
    n_rows = max(lengths, key=lengths.count)
    kept = tuple(c for c in columns if len(c.values) == n_rows and c.values.ndim < 3)
    other = next((c for c in columns if len(c.values) != n_rows and _matters(c, chosen)), None)
    if other is not None:
        found = f"{len(other.values):,} rows where the others have {n_rows:,}"
        raise FileError(called(other), found, "as many labels as values")
    if not kept:
        shape = columns[0].values.shape
        raise FileError("logits", f"an array of shape {shape}", "one row per sample")
    return Table(kept, n_rows, found=parsed.found, repairs=parsed.repairs, doubts=parsed.doubts)


def _matters(column: Column, chosen: AbstractSet[str]) -> bool:
    return (
        column.name in chosen
        or key_of(last_name(column.name)) in terms.LABEL_KEYS | terms.TABLE_KEYS
    )
