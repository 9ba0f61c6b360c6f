"""True classes as files write them, brought to whole numbers from 0."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Labels
from dashboard.readers.contents import SET_NAMES, Array, Options, RawSet, Role, row_list
from dashboard.readers.refusal import FileError, quoted

_TRUE_FALSE = {"false": 0, "true": 1}


@dataclass(frozen=True)
class LabelReading:
    """Labels of every set, and what was done to them."""

    labels: Mapping[Role, Labels]
    found: tuple[str, ...]
    repairs: tuple[str, ...]
    class_names: tuple[str, ...] | None = None


def read_labels(sets: Mapping[Role, RawSet], n_classes: int, options: Options) -> LabelReading:
    """Bring the labels of all sets to 0 .. n_classes - 1.

    Notes
    -----
    Whether labels count from 1 is decided for all sets together: only where none is 0 and the
    largest equals the number of classes, unless the user says otherwise.
    """
    repairs: list[str] = []
    spelled = {
        role: match_texts(raw, role, options)
        for role, raw in sets.items()
        if raw.label_texts is not None
    }
    numbered = {role: raw for role, raw in sets.items() if role not in spelled}
    whole = {role: _whole(raw, role, n_classes, repairs) for role, raw in numbered.items()}
    whole = _without_sign(whole, sets, n_classes, repairs)
    by_name = _match_numbers(whole, numbered, options)
    if by_name:
        count = sum(values.size for values in by_name.values())
        repairs.append(
            "Labels were matched to the class numbers that the columns are named by"
            f" ({count:,} labels)."
        )
    shift = 0 if by_name else _first_label(list(whole.values()), n_classes, options)
    whole = by_name or whole
    for role, values in whole.items():
        _refuse_range(values, sets[role], role, shift, n_classes)
    if shift:
        count = sum(values.size for values in whole.values())
        repairs.append(
            f"Labels counted from 1 to {n_classes} were shifted to 0 to {n_classes - 1}"
            f" ({count:,} labels)."
        )
    labels = {role: reading.places for role, reading in spelled.items()} | {
        role: np.subtract(values, shift, dtype=np.int64, casting="unsafe")
        for role, values in whole.items()
    }
    lowest = min(int(values.min()) for values in labels.values())
    highest = max(int(values.max()) for values in labels.values())
    said = [reading.said for reading in spelled.values()]
    names = next((reading.class_names for reading in spelled.values()), None)
    return LabelReading(
        {role: labels[role] for role in sets},
        (f"Labels from {lowest} to {highest}.", *dict.fromkeys(said)),
        tuple(dict.fromkeys(repairs)),
        names,
    )


@dataclass(frozen=True)
class _Spelled:
    """Labels that are text, as places among the classes."""

    places: Labels
    said: str
    class_names: tuple[str, ...] | None = None


def match_texts(raw: RawSet, role: Role, options: Options) -> _Spelled:
    """Find the class that each text names.

    Notes
    -----
    The user's class names come first, then those of the file, then whole headings. Beside a score
    of one class, the class is the text that the score is named by, and any other text is not it.
    """
    texts, codes = raw.label_texts or (), np.asarray(raw.labels)
    said = f"Labels were matched to the class columns by name ({len(codes):,} labels)."
    one_score = raw.table is not None and raw.table.ndim == 1
    known = [options.class_names, *((raw.class_names, raw.headings) if not one_score else ())]
    for names in known:
        places = {name: k for k, name in enumerate(names or ())}
        if texts and all(text in places for text in texts):
            if names is options.class_names:
                said = f"Labels were matched to your class names ({len(codes):,} labels)."
            return _Spelled(_looked_up(places, texts, codes), said)
    lower = [text.lower() for text in texts]
    if all(text in _TRUE_FALSE for text in lower):
        found = f"Labels false and true were read as 0 and 1 ({len(codes):,} labels)."
        return _Spelled(_looked_up(_TRUE_FALSE, lower, codes), found)
    if one_score and len(texts) == 2 and not options.class_names:
        for positive in {*(raw.class_names or ()), *(raw.headings or ())}.intersection(texts):
            (other,) = set(texts) - {positive}
            found = f"The score is of {quoted(positive, 30)}; {quoted(other, 30)} is the other."
            places = {other: 0, positive: 1}
            return _Spelled(_looked_up(places, texts, codes), found, (other, positive))
    all_names = {name for names in known for name in names or ()}
    unmatched = [text for text in texts if text not in all_names] or list(texts)
    bad = np.isin(codes, [k for k, text in enumerate(texts) if text in unmatched])
    raise FileError(
        _place(role, raw),
        f"label {quoted(unmatched[0])}, which is the name of no class column,"
        f" {row_list(bad, raw.first_row)}",
        "class numbers, names of the class columns, or your class names",
    )


def _looked_up(places: Mapping[str, int], texts: Sequence[str], codes: Array) -> Labels:
    return np.array([places[text] for text in texts], dtype=np.int64)[codes]


def _match_numbers(
    whole: Mapping[Role, Array], sets: Mapping[Role, RawSet], options: Options
) -> dict[Role, Array]:
    """Match labels to classes named by other numbers than their places, such as 1, 10, 2."""
    names = next((raw.class_names or () for raw in sets.values()), ())
    if (
        len(names) < 2
        or options.first_label != "auto"
        or not all(name.isascii() and name.isdigit() and len(name) < 16 for name in names)
        or [int(name) for name in names] == list(range(len(names)))
        or any(raw.class_names != names for raw in sets.values())
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


def _place(role: Role, raw: RawSet) -> str:
    where = f"labels {SET_NAMES[role]}".strip()
    return f"{where} in {raw.label_name}" if raw.label_name else where


def _whole(raw: RawSet, role: Role, n_classes: int, repairs: list[str]) -> Array:
    """Bring labels to one whole number a row, whatever its type and first number."""
    values = np.asarray(raw.labels)
    place = _place(role, raw)
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
    return values


def _without_sign(
    whole: dict[Role, Array], sets: Mapping[Role, RawSet], n_classes: int, repairs: list[str]
) -> dict[Role, Array]:
    """Turn labels that are -1 and 1 into 0 and 1, and refuse any other that is negative."""
    if n_classes == 2 and whole and all(map(_is_signed, whole.values())):
        count = sum(values.size for values in whole.values())
        repairs.append(f"Labels -1 and 1 were read as 0 and 1 ({count:,} labels).")
        return {role: values > 0 for role, values in whole.items()}
    for role, values in whole.items():
        _refuse(
            values < 0, _place(role, sets[role]), f"negative labels down to {values.min():.6g}",
            "class numbers; remove rows that were marked to be ignored", sets[role].first_row,
        )  # fmt: skip
    return whole


def _is_signed(values: Array) -> bool:
    """Tell labels that are -1 and 1, both of them."""
    return values.min() == -1 and values.max() == 1 and bool((values != 0).all())


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
        bad, _place(role, raw), f"values such as {worst:.6g}, out of range,",
        f"class numbers from {first} to {last}", raw.first_row,
    )  # fmt: skip
