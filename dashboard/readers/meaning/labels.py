"""True classes as files write them, brought to whole numbers from 0."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.columns.numbered import as_places, class_numbers, counted_from
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.contents import SET_NAMES, Array, Options, RawSet, Role, rows_of_file
from dashboard.readers.meaning.scored import refuse_unscored, scored_text
from dashboard.readers.meaning.spelling import folded, matched
from dashboard.readers.refusal import FileError, plain, quoted, type_name

NO_AND_YES = (
    ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("negative", "positive"),
    ("neg", "pos"), ("nein", "ja"), ("nee", "ja"), ("falsch", "wahr"), ("non", "oui"),
    ("faux", "vrai"), ("no", "si"), ("no", "sí"), ("no", "sì"), ("falso", "verdadero"),
    ("falso", "vero"), ("não", "sim"), ("falso", "verdadeiro"),
)  # fmt: skip
"""Words for the classes 0 and 1."""

NUMBERED = re.compile(r"(.*[^0-9.,+-])([0-9]{1,6})", re.ASCII | re.DOTALL)
"""A class that is called by a word and its number."""


@dataclass(frozen=True)
class LabelReading:
    """Labels of every set, in as small a type as they had, and what was done to them."""

    labels: Mapping[Role, Array]
    found: tuple[str, ...]
    repairs: tuple[str, ...]
    class_names: tuple[str, ...] | None = None
    doubts: tuple[str, ...] = ()


def read_labels(
    sets: Mapping[Role, RawSet], n_classes: int, options: Options, *, columns: Sequence[str] = ()
) -> LabelReading:
    """Bring the labels of all sets to 0 .. n_classes - 1, from the columns of these names.

    Notes
    -----
    Whether labels count from 1 is decided for all sets together: only where none is 0 and the
    largest equals the number of classes, unless the user says otherwise.
    """
    repairs: list[str] = []
    sets = _with_numbers(sets, repairs)
    spelled = {
        role: match_texts(raw, role, options)
        for role, raw in sets.items()
        if raw.label_texts is not None
    }
    _refuse_other_class(spelled)
    repairs += [one.mended for one in spelled.values() if one.mended is not None]
    numbered = {role: raw for role, raw in sets.items() if role not in spelled}
    flat = {role: _flat(raw, role, n_classes, repairs, columns) for role, raw in numbered.items()}
    (whole, doubts), shift = _match_numbers(flat, numbered, options, repairs), 0
    if whole:
        named = _called(numbered, options)
        repairs.append(f"Labels were matched to the {named} ({_count(whole)} labels).")
    else:
        whole = {role: _whole(values, sets[role], role, repairs) for role, values in flat.items()}
        whole = _without_sign(whole, sets, n_classes, repairs)
        shift = _first_label(list(whole.values()), n_classes, options)
    for role, values in whole.items():
        _refuse_range(values, sets[role], role, shift, n_classes)
    if shift:
        repairs.append(
            f"Labels counted from 1 to {n_classes} were shifted to 0 to {n_classes - 1}"
            f" ({_count(whole)} labels)."
        )
    labels = {role: reading.places for role, reading in spelled.items()} | {
        role: _from_zero(values, shift) for role, values in whole.items()
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
        doubts,
    )


def _count(labels: Mapping[Role, Array]) -> str:
    return f"{sum(values.size for values in labels.values()):,}"


def used_texts(raw: RawSet) -> RawSet:
    """Keep the labels that some rows have, as numbers where all of them are."""
    if raw.label_texts is None or raw.labels is None:
        return raw
    codes, places = np.unique(raw.labels, return_inverse=True)
    texts = tuple(raw.label_texts[code] for code in codes.tolist())
    numbers = label_numbers(texts)
    if numbers is None:
        return replace(raw, labels=places, label_texts=texts)
    return replace(raw, labels=numbers[places], label_texts=None)


def label_numbers(cells: Sequence[str]) -> Array | None:
    """Give labels as numbers, of as small a type as holds them, if all are."""
    if not all(NUMBER.fullmatch(cell) for cell in cells):
        return None
    numbers = np.array([float(cell) for cell in cells])
    if all(cell.removeprefix("-").isdigit() and len(cell) < 16 for cell in cells):
        numbers = numbers.astype(np.min_scalar_type(-int(np.abs(numbers).max()) - 1))
    return numbers


@dataclass(frozen=True)
class _Spelled:
    """Labels that are text, as places among the classes."""

    places: Array
    said: str
    class_names: tuple[str, ...] | None = None
    positive: str | None = None
    mended: str | None = None


def match_texts(raw: RawSet, role: Role, options: Options) -> _Spelled:
    """Find the class that each text names.

    Notes
    -----
    The user's class names come first, then those of the file, then whole headings. Beside a score
    of one class, the class is the text that the score is named by, and any other text is not it.
    """
    texts, codes = raw.label_texts or (), np.asarray(raw.labels)
    where = f" of the {SET_NAMES[role]}" if SET_NAMES[role] else ""
    said = f"Labels{where} were matched to the class columns by name ({len(codes):,} labels)."
    one_score = raw.table is not None and raw.table.ndim == 1
    known = [options.class_names, *((raw.class_names, raw.headings) if not one_score else ())]
    for names in known:
        places = {name: k for k, name in enumerate(names or ())}
        if texts and all(text in places for text in texts):
            if names is options.class_names:
                said = f"Labels{where} were matched to your class names ({len(codes):,} labels)."
            return _Spelled(_looked_up(places, texts, codes), said)
    for names in known:
        if (alike := _but_for_case(names or (), texts, codes)) is not None:
            return replace(alike, said=said)
    asked = one_score and len(texts) == 2 and not options.class_names
    if asked and (positive := scored_text(raw, texts)) is not None:
        (other,) = set(texts) - {positive}
        found = f"The score is of {quoted(positive, 30)}; {quoted(other, 30)} is the other."
        coded = _looked_up({other: 0, positive: 1}, texts, codes)
        return _Spelled(coded, found, (other, positive), positive.lower())
    lower = [text.lower() for text in texts]
    pair = next((pair for pair in NO_AND_YES if {*lower} <= {*pair}), None)
    if pair is not None and (one_score or only_numbers(raw.class_names)):
        no, yes = pair
        found = f"Labels {no} and {yes}{where} were read as 0 and 1 ({len(codes):,} labels)."
        own = dict(zip(lower, texts, strict=True))
        named = (own.get(no, no), own.get(yes, yes)) if one_score else None
        return _Spelled(_looked_up({no: 0, yes: 1}, lower, codes), found, named, yes)
    if asked:
        refuse_unscored(_place(role, raw), raw, texts)
    unmatched = _unmatched(texts, {name for names in known for name in names or ()})
    bad = np.isin(codes, unmatched)
    raise FileError(
        _place(role, raw),
        f"{_odd_labels([texts[k] for k in unmatched])} {rows_of_file(bad, raw)}",
        "class numbers, names of the class columns, or your class names",
    )


def _but_for_case(names: Sequence[str], texts: Sequence[str], codes: Array) -> _Spelled | None:
    """Match texts to names from which they differ in what `folded` leaves out alone."""
    places = {folded(name): k for k, name in enumerate(names)}
    if not texts or len(places) < len(names) or not places.keys() >= {*map(folded, texts)}:
        return None
    exact = {*names}
    odd = [k for k, text in enumerate(texts) if text not in exact]
    count = int(np.isin(codes, odd).sum())
    mended = matched(texts[odd[0]], names[places[folded(texts[odd[0]])]], count)
    return _Spelled(_looked_up(places, [*map(folded, texts)], codes), "", mended=mended)


def _odd_labels(texts: Sequence[str]) -> str:
    """Say which labels name no class; of several, the first and how many there are."""
    if len(texts) == 1:
        return f"label {quoted(texts[0])}, which is the name of no class column,"
    listed = " and ".join(quoted(text, 30) for text in texts[:2])
    if len(texts) > 2:
        listed = f"such as {listed} ({len(texts):,} different ones)"
    return f"labels {listed}, each the name of no class column,"


def _unmatched(texts: Sequence[str], names: set[str]) -> list[int]:
    """Give the places of texts that name no class; among class numbers, of what is none."""
    odd = [k for k, text in enumerate(texts) if text not in names] or list(range(len(texts)))
    words = [k for k in odd if not NUMBER.fullmatch(texts[k])]
    return words if 0 < 2 * len(words) < len(odd) else odd


def _refuse_other_class(spelled: Mapping[Role, _Spelled]) -> None:
    """Refuse scores of one class in one set and of the other class in the other."""
    known = {role: one.positive for role, one in spelled.items() if one.positive is not None}
    if len(set(known.values())) > 1:
        said = (f"those of {quoted(name, 30)} in the {SET_NAMES[r]}" for r, name in known.items())
        raise FileError("scores", ", but ".join(said), "scores of the same class in both sets")


def _called(sets: Mapping[Role, RawSet], options: Options) -> str:
    if options.class_names and all(map(NUMBER.fullmatch, options.class_names)):
        return "class numbers that you gave"
    names = tuple(map(str.lower, next(iter(sets.values())).class_names or ()))
    words = "no and yes" if names[::-1] in NO_AND_YES else "class numbers"
    return f"{words} that the columns are named by"


def only_numbers(names: Sequence[str] | None) -> bool:
    """Tell classes that have no names but numbers."""
    return all(name.isascii() and name.isdigit() for name in names or ())


def _with_numbers(sets: Mapping[Role, RawSet], repairs: list[str]) -> Mapping[Role, RawSet]:
    """Take texts such as LABEL_2 for their numbers, where the classes have no other names."""
    made: dict[Role, RawSet] = {}
    for role, raw in sets.items():
        parts = [NUMBERED.fullmatch(text) for text in raw.label_texts or ()]
        found = [part for part in parts if part is not None]
        names = {*(raw.class_names or ()), *(raw.headings or ())}
        alike = found and len(found) == len(parts) and len({part[1] for part in found}) == 1
        if not alike or not only_numbers(raw.class_names) or names & {*(raw.label_texts or ())}:
            return sets
        numbers = np.array([int(part[2]) for part in found])
        one_score = raw.table is not None and raw.table.ndim == 1
        if one_score and not {0, 1} >= {*numbers.tolist()}:
            return sets
        labels = numbers[np.asarray(raw.labels)]
        made[role] = replace(raw, labels=labels, label_texts=None)
        what = f"Labels such as {quoted(found[0][0], 30)} were read as their numbers"
        repairs.append(f"{what} ({len(labels):,} labels).")
    return made


def _looked_up(places: Mapping[str, int], texts: Sequence[str], codes: Array) -> Array:
    dtype = np.min_scalar_type(max(places.values()))
    return np.array([places[text] for text in texts], dtype=dtype)[codes]


def _from_zero(values: Array, first: int) -> Array:
    whole = values if values.dtype.kind in "iu" else values.astype(np.int64)
    return whole - first if first else whole


def _match_numbers(
    flat: Mapping[Role, Array], sets: Mapping[Role, RawSet], options: Options, repairs: list[str]
) -> tuple[dict[Role, Array], tuple[str, ...]]:
    """Match labels to classes named by other numbers than their places, such as 1, 10, 2.

    Classes named yes and no, in this order, are 1 and 0. Words with numbers, in a list of their
    own, go with places unless the values clearly tell otherwise.
    """
    names = next((raw.class_names or () for raw in sets.values()), ())
    by_user = bool(options.class_names) and all(map(NUMBER.fullmatch, options.class_names))
    if by_user:
        names = options.class_names
    lower = tuple(name.lower() for name in names)
    listed = not (all(raw.headings for raw in sets.values()) or all(map(NUMBER.fullmatch, names)))
    if (
        len(names) < 2
        or options.first_label != "auto"
        or any(raw.class_names != names and not by_user for raw in sets.values())
        or any(values.ndim != 1 for values in flat.values())
    ):
        return {}, ()
    if lower[::-1] in NO_AND_YES:
        numbers = np.array([1.0, 0.0])
    elif all(NUMBER.fullmatch(name) and len(name) < 16 for name in names):
        numbers = np.array([float(name) for name in names])
    elif (counted := class_numbers(names)) is not None:
        numbers = counted
    else:
        return {}, ()
    numbers = counted_from(numbers, flat.values()) if flat else numbers
    placed = np.array_equal(numbers, np.arange(len(numbers)))
    if placed or not all(np.isin(values, numbers).all() for values in flat.values()):
        return {}, ()
    order = np.argsort(numbers)
    found = {r: order[np.searchsorted(numbers, v, sorter=order)] for r, v in flat.items()}
    if by_user or lower[::-1] in NO_AND_YES or not found:
        return found, ()
    rows = [(np.asarray(sets[role].table), flat[role], places) for role, places in found.items()]
    turned, said = as_places(rows, listed=listed)
    repairs += said if turned else ()
    return ({}, ()) if turned else (found, said)


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


def _flat(
    raw: RawSet, role: Role, n_classes: int, repairs: list[str], columns: Sequence[str]
) -> Array:
    """Bring labels to one number a row, whatever its type."""
    values = np.asarray(raw.labels)
    place = _place(role, raw)
    if values.dtype.kind not in "biuf" or values.ndim not in (1, 2):
        found = f"values of type {type_name(values.dtype)} and shape {values.shape}"
        raise FileError(place, found, "one class number a row")
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if raw.table is not None and len(values) != len(raw.table):
        turned = raw.table.ndim == 2 and raw.table.shape[1] == len(values)
        wanted = "one row a sample: the table is turned" if turned else "one label a row"
        raise FileError(place, f"{len(values):,} labels for {len(raw.table):,} rows", wanted)
    if values.ndim == 2 and values.shape[1] == n_classes:
        named = ""
        if len(columns) == n_classes:
            named = f" in columns {plain(columns[0], 30)} to {plain(columns[-1], 30)}"
        repairs.append(
            f"One-hot labels{named} were turned into class numbers ({len(values):,} rows)."
        )
        return _from_one_hot(values, place, raw)
    if values.ndim != 1:
        raise FileError(place, f"an array of shape {values.shape}", "one class number a row")
    return values


def _whole(values: Array, raw: RawSet, role: Role, repairs: list[str]) -> Array:
    """Bring labels to whole numbers."""
    place = _place(role, raw)
    if values.dtype.kind == "f":
        _refuse(~np.isfinite(values), place, "NaN or inf", "whole numbers", raw)
        fraction = values != np.floor(values)
        _refuse(fraction, place, "values that are not integers", "class numbers", raw)
        repairs.append(f"Labels stored as decimals were read as integers ({len(values):,} labels).")
    return values


def _without_sign(
    whole: dict[Role, Array], sets: Mapping[Role, RawSet], n_classes: int, repairs: list[str]
) -> dict[Role, Array]:
    """Turn labels that are -1 and 1 into 0 and 1, and refuse any other that is negative."""
    if n_classes == 2 and whole and all(map(_is_signed, whole.values())):
        repairs.append(f"Labels -1 and 1 were read as 0 and 1 ({_count(whole)} labels).")
        return {role: values > 0 for role, values in whole.items()}
    for role, values in whole.items():
        _refuse(
            values < 0, _place(role, sets[role]), f"negative labels down to {values.min():.6g}",
            "class numbers, or these as your class names; remove rows marked to be ignored",
            sets[role],
        )  # fmt: skip
    return whole


def _is_signed(values: Array) -> bool:
    """Tell labels that are -1 and 1, both of them."""
    return values.min() == -1 and values.max() == 1 and bool((values != 0).all())


def _from_one_hot(values: Array, place: str, raw: RawSet) -> Array:
    with np.errstate(invalid="ignore"):
        hot = (values == 1).sum(axis=1) == 1
        cold = (values == 0).sum(axis=1) == values.shape[1] - 1
    _refuse(~(hot & cold), place, "soft or several labels", "a single 1 a row", raw)
    return np.asarray(values.argmax(axis=1))


def _refuse(bad: NDArray[np.bool_], place: str, found: str, wanted: str, raw: RawSet) -> None:
    if bad.any():
        raise FileError(place, f"{found} {rows_of_file(bad, raw)}", wanted)


def _refuse_range(values: Array, raw: RawSet, role: Role, first: int, n_classes: int) -> None:
    last = n_classes - 1 + first
    bad = (values < first) | (values > last)
    worst = values[bad].max() if bad.any() else 0
    one_score = raw.table is not None and raw.table.ndim == 1
    _refuse(
        bad, _place(role, raw), f"values such as {worst:.6g}, out of range,",
        f"class numbers from {first} to {last}"
        + (" beside one column of scores" if one_score else ""), raw,
    )  # fmt: skip
