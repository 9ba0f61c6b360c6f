"""True classes as files write them, brought to whole numbers from 0."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Labels
from dashboard.readers.contents import SET_NAMES, Array, Options, RawSet, Role, row_list
from dashboard.readers.refusal import FileError


@dataclass(frozen=True)
class LabelReading:
    """Labels of every set, and what was done to them."""

    labels: Mapping[Role, Labels]
    found: tuple[str, ...]
    repairs: tuple[str, ...]


def read_labels(sets: Mapping[Role, RawSet], n_classes: int, options: Options) -> LabelReading:
    """Bring the labels of all sets to 0 .. n_classes - 1.

    Notes
    -----
    Whether labels count from 1 is decided for all sets together: only where none is 0 and the
    largest equals the number of classes, unless the user says otherwise.
    """
    repairs: list[str] = []
    whole = {
        role: _whole(raw, role, n_classes, repairs)
        for role, raw in sets.items()
        if raw.labels is not None
    }
    by_name = _match_numbers(whole, sets, options)
    if by_name:
        whole = by_name
        sets = {role: replace(raw, named_labels=True) for role, raw in sets.items()}
        repairs.append("Labels were matched to the class numbers that the columns are named by.")
    counted = [values for role, values in whole.items() if not sets[role].named_labels]
    shift = _first_label(counted, n_classes, options)
    first = {role: 0 if sets[role].named_labels else shift for role in whole}
    for role, values in whole.items():
        _refuse_range(values, sets[role], role, first[role], n_classes)
    if shift:
        count = sum(values.size for values in counted)
        repairs.append(
            f"Labels counted from 1 to {n_classes} were shifted to 0 to {n_classes - 1}"
            f" ({count:,} labels)."
        )
    labels = {
        role: np.subtract(values, first[role], dtype=np.int64, casting="unsafe")
        for role, values in whole.items()
    }
    lowest = min(int(values.min()) for values in labels.values())
    highest = max(int(values.max()) for values in labels.values())
    span = f"Labels from {lowest} to {highest}."
    return LabelReading(labels, (span,), tuple(dict.fromkeys(repairs)))


def _match_numbers(
    whole: Mapping[Role, Array], sets: Mapping[Role, RawSet], options: Options
) -> dict[Role, Array]:
    """Match labels to classes named by other numbers than their places, such as 1, 10, 2."""
    names = next(iter(sets.values())).class_names or ()
    if (
        options.first_label != "auto"
        or not all(name.isascii() and name.isdigit() and len(name) < 16 for name in names)
        or [int(name) for name in names] == list(range(len(names)))
        or any(raw.named_labels or raw.class_names != names for raw in sets.values())
    ):
        return {}
    numbers = np.array([int(name) for name in names])
    if not all(np.isin(values, numbers).all() for values in whole.values()):
        return {}
    order = np.argsort(numbers)
    return {
        role: order[np.searchsorted(numbers, values, sorter=order)]
        for role, values in whole.items()
    }


def _first_label(counted: Sequence[Array], n_classes: int, options: Options) -> int:
    """Tell whether labels count from 1."""
    if not counted:
        return 0
    if options.first_label != "auto":
        return options.first_label
    lowest = min(int(values.min()) for values in counted)
    highest = max(int(values.max()) for values in counted)
    return int(lowest >= 1 and highest == n_classes)


def _place(role: Role) -> str:
    return f"labels {SET_NAMES[role]}".strip()


def _whole(raw: RawSet, role: Role, n_classes: int, repairs: list[str]) -> Array:
    """Bring labels to one whole number a row, whatever its type and first number."""
    values = np.asarray(raw.labels)
    place = _place(role)
    if values.dtype.kind not in "biuf" or values.ndim not in (1, 2):
        found = f"values of type {values.dtype} and shape {values.shape}"
        raise FileError(place, found, "one class number a row")
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if raw.table is not None and len(values) != len(raw.table):
        raise FileError(
            place, f"{len(values):,} labels for {len(raw.table):,} rows", "one label a row"
        )
    if values.ndim == 2 and values.shape[1] == n_classes:
        repairs.append(f"One-hot labels were turned into class numbers ({len(values):,} rows).")
        return _from_one_hot(values, place, raw.first_row)
    if values.ndim != 1:
        raise FileError(place, f"an array of shape {values.shape}", "one class number a row")
    if values.dtype.kind == "f":
        _refuse(~np.isfinite(values), place, "NaN or inf", "whole numbers", raw.first_row)
        fraction = values != np.floor(values)
        _refuse(fraction, place, "values that are not integers", "class numbers", raw.first_row)
        repairs.append(f"Labels stored as decimals were read as integers ({len(values):,} labels).")
    negative = values < 0
    _refuse(
        negative, place, f"negative labels down to {values.min():.6g}",
        "class numbers; remove rows that were marked to be ignored", raw.first_row,
    )  # fmt: skip
    return values


def _from_one_hot(values: Array, place: str, first_row: int) -> Array:
    with np.errstate(invalid="ignore"):
        hot = (values == 1).sum(axis=1) == 1
        cold = (values == 0).sum(axis=1) == values.shape[1] - 1
    _refuse(~(hot & cold), place, "soft or several labels", "a single 1 a row", first_row)
    return np.asarray(values.argmax(axis=1))


def _refuse(bad: NDArray[np.bool_], place: str, found: str, wanted: str, first_row: int) -> None:
    if bad.any():
        raise FileError(place, f"{found} {row_list(bad, first_row)}", wanted)


def _refuse_range(values: Array, raw: RawSet, role: Role, first: int, n_classes: int) -> None:
    last = n_classes - 1 + first
    bad = (values < first) | (values > last)
    worst = values[bad].max() if bad.any() else 0
    _refuse(
        bad, _place(role), f"values such as {worst:.6g}, out of range,",
        f"class numbers from {first} to {last}", raw.first_row,
    )  # fmt: skip
