"""True classes as files write them, brought to whole numbers from 0."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibcore.strips import row_strips
from dashboard.readers.meaning.spelling import folded, matched
from dashboard.readers.records import (
    SET_NAMES,
    Array,
    FileSentences,
    RawEvent,
    RawSet,
    ReadingOptions,
    Role,
    of_set,
    rows_of_file,
)
from dashboard.readers.refusal import (
    Answer,
    FileError,
    Question,
    percent,
    quoted,
    type_name,
    visible,
)

NO_AND_YES = (
    ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("negative", "positive"),
    ("neg", "pos"), ("nein", "ja"), ("nee", "ja"), ("falsch", "wahr"), ("non", "oui"),
    ("faux", "vrai"), ("no", "si"), ("no", "sí"), ("no", "sì"), ("falso", "verdadero"),
    ("falso", "vero"), ("não", "sim"), ("falso", "verdadeiro"),
)  # fmt: skip
"""Words for the classes 0 and 1."""

_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_NUMBERED = re.compile(r"(.*[^0-9.,+-])([0-9]{1,6})", re.ASCII | re.DOTALL)
"""A class that is called by a word and its number, such as LABEL_2."""

_SHOWN, _MOST_ASKED, _MORE, _CLEAR = 6, 20, 0.1, 2.0
"""Standard errors by which more labels must be right in one order than in another."""


@dataclass(frozen=True)
class LabelReading(FileSentences):
    """Labels of every set from 0, and the names that they bring."""

    labels: Mapping[Role, Array]
    class_names: tuple[str, ...] | None = None


def read_labels(
    sets: Mapping[Role, RawSet], n_classes: int, options: ReadingOptions
) -> LabelReading:
    """Convert the labels of all sets to 0 .. n_classes - 1.

    Whether labels count from 1 is decided for all sets together: only where none is 0 and the
    largest equals the number of classes, or where headings or rows say so, unless the user does.
    """
    repairs: list[str] = []
    sets = _as_numbers(sets, repairs)
    places: dict[Role, Array] = {}
    lines: list[str] = []
    names: tuple[str, ...] | None = None
    for role, raw in sets.items():
        if raw.label_texts is not None:
            spelled = _matched(raw, role, options)
            places[role], names = spelled.places, spelled.class_names or names
            lines.append(spelled.note)
            repairs += filter(None, [spelled.repair])
    doubts = [*_in_another_order(places, sets, options)]
    flat = {
        role: _flat(raw, role, n_classes, repairs)
        for role, raw in sets.items()
        if role not in places
    }
    numbered = _by_number(flat, sets, options)
    if numbered:
        repairs.append(f"Labels were matched to the class names, which are numbers{_n(numbered)}.")
        places |= numbered
    elif flat:
        counted = _counted(flat, sets, n_classes, options, repairs)
        places |= _by_order(counted, sets, options, lines)
    lowest = min(int(values.min()) for values in places.values())
    highest = max(int(values.max()) for values in places.values())
    if {*places} == {*flat}:
        lines.insert(0, f"Labels from {lowest} to {highest}.")
    return LabelReading(
        {role: places[role] for role in sets},
        names,
        notes=tuple(dict.fromkeys(lines)),
        repairs=tuple(dict.fromkeys(repairs)),
        doubts=tuple(doubts),
    )


def class_names_of(raw: RawSet, options: ReadingOptions) -> tuple[str, ...] | None:
    """Return what the columns of classes are called: by the user, who may not contradict them."""
    own, given = raw.class_names, options.class_names
    if not given or not raw.headings or not own or len(given) != len(own):
        return given or own
    alike, texts = [*map(folded, given)], {*map(folded, raw.label_texts or ())}
    if {*alike} == {*map(folded, own)}:
        return own
    if texts and texts <= {*alike} and not texts <= {*map(folded, own)}:
        return given  # headings say nothing of these labels
    numbers = _numbers_of(own)
    if numbers is not None and np.ptp(numbers) == len(numbers) - 1:
        return tuple(given[int(k)] for k in numbers - numbers.min())
    for name, column, heading in zip(alike, map(folded, own), raw.headings, strict=True):
        code = len(column) == 1 or any(map(str.isdigit, column))
        if not (code or name in column or column in name):
            text = f"{quoted(name, 30)} for column {quoted(heading, 30)}"
            wanted = "the names in the headings, in the order of the numbers of the labels"
            raise FileError("class names", text, wanted)
    return given


def _n(labels: Mapping[Role, Array]) -> str:
    return f" ({sum(values.size for values in labels.values()):,} labels)"


# Texts ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _TextLabels:
    """Labels that are texts, as places among the classes."""

    places: Array
    note: str
    class_names: tuple[str, ...] | None = None
    repair: str | None = None


def _as_numbers(sets: Mapping[Role, RawSet], repairs: list[str]) -> Mapping[Role, RawSet]:
    """Take texts that are numbers, or such as LABEL_2, for these where classes have no names."""
    as_numbers: dict[Role, RawSet] = {}
    for role, raw in sets.items():
        texts, names = raw.label_texts or (), {*(raw.class_names or ()), *(raw.headings or ())}
        if not texts or names & {*texts}:
            return sets
        parts = [_NUMBERED.fullmatch(text) for text in texts]
        befores = {part[1] for part in parts if part}
        if all(map(_NUMBER.fullmatch, texts)):
            numbers = np.array([float(text) for text in texts])
        elif all(parts) and len(befores) == 1 and all(map(str.isdecimal, raw.class_names or ())):
            numbers = np.array([float(part[2]) for part in parts if part])
            count = len(np.asarray(raw.labels))
            repairs.append(
                f"Labels such as {quoted(texts[0], 30)} were read as their numbers ({count:,}"
                " labels)."
            )
        else:
            return sets
        whole = bool((numbers == np.rint(numbers)).all())
        numbers = numbers.astype(np.int64) if whole else numbers
        as_numbers[role] = replace(raw, labels=numbers[np.asarray(raw.labels)], label_texts=None)
    return as_numbers


def _matched(raw: RawSet, role: Role, options: ReadingOptions) -> _TextLabels:
    """Find the class that each text names: the user's names first, then those of the file."""
    texts, codes = raw.label_texts or (), np.asarray(raw.labels)
    where = of_set(role)
    sentence = f"Labels{where} were matched to the classes by name ({len(codes):,} labels)."
    own = class_names_of(raw, options), raw.class_names, raw.headings
    known = [names for names in own if names]
    for names in known:
        places = {name: k for k, name in enumerate(names)}
        if all(text in places for text in texts):
            return _TextLabels(_looked_up(places, texts, codes), sentence)
    for names in known:
        places = {folded(name): k for k, name in enumerate(names)}
        if len(places) == len(names) and all(folded(text) in places for text in texts):
            odd = next(text for text in texts if text not in names)
            count = int(np.isin(codes, [k for k, t in enumerate(texts) if t not in names]).sum())
            repair = matched(odd, names[places[folded(odd)]], count)
            return _TextLabels(
                _looked_up(places, [*map(folded, texts)], codes), sentence, repair=repair
            )
    ends = [[k for k, name in enumerate(raw.headings or ()) if _ends(name, t)] for t in texts]
    if all(len(fits) == 1 for fits in ends) and len({fits[0] for fits in ends}) == len(ends):
        places = {text: fits[0] for text, fits in zip(texts, ends, strict=True)}
        return _TextLabels(_looked_up(places, texts, codes), sentence)
    lower = [text.lower() for text in texts]
    pair = next((pair for pair in NO_AND_YES if {*lower} <= {*pair}), None)
    one_score = raw.table is not None and raw.table.ndim == 1
    if pair and (one_score or all(name.isdecimal() for name in raw.class_names or ())):
        sentence = (
            f"Labels {pair[0]} and {pair[1]}{where} were read as 0 and 1 ({len(codes):,} labels)."
        )
        written = dict(zip(lower, texts, strict=True))
        names_of = (written.get(pair[0], pair[0]), written.get(pair[1], pair[1]))
        return _TextLabels(_looked_up({pair[0]: 0, pair[1]: 1}, lower, codes), sentence, names_of)
    _ask_of_names(raw, role)
    raise _unmatched(raw, role, {name for names in known for name in names})


def _ask_of_names(raw: RawSet, role: Role) -> None:
    """Ask which class each text is, if there are as many as columns and none is called so."""
    texts, table = raw.label_texts or (), np.asarray(raw.table)
    names = {folded(name) for name in raw.class_names or ()}
    if table.ndim != 2 or not 2 <= table.shape[1] == len(texts) <= _MOST_ASKED:
        return
    if names & {*map(folded, texts)} or len({*texts}) < len(texts):
        return
    codes = {role: np.asarray(raw.labels)}
    sets, best = {role: raw}, _best_order(codes, {role: raw})
    sorted_places = np.empty(len(texts), dtype=np.intp)
    sorted_places[np.argsort(texts)] = np.arange(len(texts))
    orders = {tuple(order.tolist()): order for order in (best, sorted_places)}
    answers = []
    for order in orders.values():
        own = tuple(texts[k] for k in np.argsort(order))
        share = _agreement({role: order[codes[role]]}, sets)
        why = f"In this order the likeliest class is right in {percent(share)} of the rows."
        answers.append(Answer(_listed(own), why, {"class_names": own}))
    text = f"{_listed(texts)}, which no class is called"
    text += f"; the columns are {_listed(raw.headings)}" if raw.headings else ""
    ask = "Which classes are they, in the order of the columns?"
    raise Question(_place(role, raw), text, ask, tuple(answers))


def _best_order(codes: Mapping[Role, Array], sets: Mapping[Role, RawSet]) -> NDArray[np.intp]:
    """Return of each code the class as which most rows are right, each class once."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - few files need it

    n_classes = np.asarray(next(iter(sets.values())).table).shape[1]
    counts = np.zeros(n_classes**2, dtype=np.int64)
    for role, labels in codes.items():
        table = np.asarray(sets[role].table)
        for rows in row_strips(*table.shape):
            pairs = labels[rows].astype(np.intp) * n_classes + table[rows].argmax(axis=1)
            counts += np.bincount(pairs, minlength=counts.size)
    by_class = counts.reshape(n_classes, n_classes)
    return np.asarray(linear_sum_assignment(by_class, maximize=True)[1])


def _in_another_order(
    places: Mapping[Role, Array], sets: Mapping[Role, RawSet], options: ReadingOptions
) -> Iterator[str]:
    """Doubt class names of the user's that fit the labels far better in another order."""
    names = options.class_names
    if not names:
        return
    given = {*map(folded, names)}
    alone = {folded(name) for raw in sets.values() for name in raw.class_names or ()}
    texts = {folded(text) for raw in sets.values() for text in raw.label_texts or ()}
    if not texts or not texts <= given or given == alone or len(places) < len(sets):
        return
    tables = [np.asarray(raw.table) for raw in sets.values()]
    if any(table.ndim != 2 or table.shape[1] != len(names) for table in tables):
        return
    order = _best_order(places, sets)
    best = {role: order[values] for role, values in places.items()}
    now, other = _agreement(places, sets), _agreement(best, sets)
    error = ((now + other) / sum(map(len, places.values()))) ** 0.5
    if other - now > _CLEAR * error:
        own = tuple(names[k] for k in np.argsort(order))
        yield (
            f"The likeliest class is right in {percent(now)} of the rows if the columns are"
            f" {_listed(names)} in this order, as you said, but in {percent(other)} if they are"
            f" {_listed(own)}."
        )


def _ends(heading: str, text: str) -> bool:
    return bool(folded(text)) and folded(heading).endswith(folded(text))


def _unmatched(raw: RawSet, role: Role, names: set[str]) -> FileError:
    """Refuse texts that name no class."""
    texts = raw.label_texts or ()
    odd = [k for k, text in enumerate(texts) if text not in names] or list(range(len(texts)))
    bad = np.isin(np.asarray(raw.labels), odd)
    listed = " and ".join(quoted(texts[k], 30) for k in odd[:2])
    rest = len(odd) - 2
    more = f" and {rest:,} other{'s' * (rest > 1)}" if rest > 0 else ""
    return FileError(
        _place(role, raw),
        f"{listed}{more}, which no class is called, {rows_of_file(bad, raw)}",
        "class numbers, names of the class columns, or your class names (--class-names)",
    )


def _looked_up(places: Mapping[str, int], texts: Sequence[str], codes: Array) -> Array:
    dtype = np.min_scalar_type(max(places.values()))
    return np.array([places[text] for text in texts], dtype=dtype)[codes]


# Numbers --------------------------------------------------------------------------------------


def _flat(raw: RawSet, role: Role, n_classes: int, repairs: list[str]) -> Array:
    """Convert labels to one number per row, whatever their type."""
    values, place = np.asarray(raw.labels), _place(role, raw)
    if values.dtype.kind not in "biuf" or values.ndim not in (1, 2):
        text = f"values of type {type_name(values.dtype)} and shape {values.shape}"
        raise FileError(place, text, "one class number per row")
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if raw.table is not None and len(values) != len(raw.table):
        turned = raw.table.ndim == 2 and raw.table.shape[1] == len(values)
        wanted = "one row per sample: the table is turned" if turned else "one label per row"
        raise FileError(place, f"{len(values):,} labels for {len(raw.table):,} rows", wanted)
    if values.ndim == 2 and values.shape[1] == n_classes:
        repairs.append(f"One-hot labels were turned into class numbers ({len(values):,} rows).")
        return _from_one_hot(values, place, raw)
    if values.ndim != 1:
        raise FileError(place, f"an array of shape {values.shape}", "one class number per row")
    return values


def _from_one_hot(values: Array, place: str, raw: RawSet) -> Array:
    with np.errstate(invalid="ignore"):
        hot = (values == 1).sum(axis=1) == 1
        cold = (values == 0).sum(axis=1) == values.shape[1] - 1
    _refuse(~(hot & cold), place, "soft or several labels", "a single 1 per row", raw)
    return np.asarray(values.argmax(axis=1))


def _by_number(
    flat: Mapping[Role, Array], sets: Mapping[Role, RawSet], options: ReadingOptions
) -> dict[Role, Array]:
    """Match labels to classes that are named by other numbers than their places, as 1, 10, 2.

    Labels and names may count from 0 and from 1. Of several readings the one in which the values
    are highest at the label most often is taken, or none if that is so of places. What the user
    types is followed.
    """
    first_set = next(iter(sets.values()))
    names, own_names = class_names_of(first_set, options) or (), first_set.class_names or ()
    numbers = _numbers_of(names)
    if own_names != names and (own := _numbers_of(own_names)) is not None:
        numbers = own
    if options.first_label != "auto" or not flat:
        return {}
    if numbers is None:
        return _first_or_not(flat, sets)
    readings = [
        {role: np.searchsorted(ordered, values, sorter=order) for role, values in flat.items()}
        for shift in (0, 1, -1)
        for ordered, order in [(numbers + shift, np.argsort(numbers))]
        if all(np.isin(values, ordered).all() for values in flat.values())
    ]
    turned = np.argsort(numbers)
    known = [{role: turned[places] for role, places in reading.items()} for reading in readings]
    if options.class_names and all(np.isin(values, numbers).all() for values in flat.values()):
        return known[0]
    best = max(known, key=lambda places: _agreement(places, sets), default={})
    lowest = min(float(values.min()) for values in flat.values())
    highest = max(float(values.max()) for values in flat.values())
    first = int(lowest >= 1 and highest == len(numbers))
    if best and first <= lowest and highest < len(numbers) + first:
        as_places = {role: values.astype(np.intp) - first for role, values in flat.items()}
        if _agreement(as_places, sets) > _agreement(best, sets):
            return {}
    return best


def _first_or_not(flat: Mapping[Role, Array], sets: Mapping[Role, RawSet]) -> dict[Role, Array]:
    """Take 1 for the first of two classes 1 and 2, and 0 for the second, if the scores say so."""
    named = all(raw.class_names == ("1", "2") for raw in sets.values())
    if not named or not all(np.isin(values, (0, 1)).all() for values in flat.values()):
        return {}
    as_places = {role: values.astype(np.intp) for role, values in flat.items()}
    turned = {role: 1 - places for role, places in as_places.items()}
    return turned if _agreement(turned, sets) > _agreement(as_places, sets) else {}


def _numbers_of(names: Sequence[str]) -> Array | None:
    """Return the numbers that classes are named by, unless these are their places."""
    if tuple(name.lower() for name in names)[::-1] in NO_AND_YES:
        return np.array([1.0, 0.0])
    parts = [_NUMBERED.fullmatch(name) for name in names]
    if parts and all(parts) and len({part[1] for part in parts if part}) == 1:
        names = [part[2] for part in parts if part]
    if len(names) < 2 or not all(map(_NUMBER.fullmatch, names)):
        return None
    numbers = np.array([float(name) for name in names])
    placed = np.array_equal(numbers, np.arange(len(numbers)) + numbers[0])
    return None if len({*names}) < len(names) or (placed and numbers[0] in (0, 1)) else numbers


def _agreement(places: Mapping[Role, Array], sets: Mapping[Role, RawSet]) -> float:
    """Return how often the value of the label is the highest of its row."""
    count = total = 0
    for role, labels in places.items():
        table = np.asarray(sets[role].table)
        if table.ndim == 1:
            continue
        for rows in row_strips(*table.shape):
            count += int(np.count_nonzero(table[rows].argmax(axis=1) == labels[rows]))
        total += len(table)
    return count / max(total, 1)


def _counted(
    flat: Mapping[Role, Array],
    sets: Mapping[Role, RawSet],
    n_classes: int,
    options: ReadingOptions,
    repairs: list[str],
) -> dict[Role, Array]:
    """Convert numbers that count from 0 or from 1, or are -1 and 1, to numbers from 0."""
    whole = {role: _whole(values, sets[role], role, repairs) for role, values in flat.items()}
    if n_classes == 2 and all(map(_is_signed, whole.values())):
        repairs.append(f"Labels -1 and 1 were read as 0 and 1{_n(whole)}.")
        return {role: (values > 0).astype(np.uint8) for role, values in whole.items()}
    lowest = min(float(values.min()) for values in whole.values())
    highest = max(float(values.max()) for values in whole.values())
    first = int(lowest >= 1 and highest == n_classes)
    if lowest >= 1 and highest < n_classes:
        # By the numbers in the headings, or where far more rows are right so.
        numbered = [*(next(iter(sets.values())).class_names or ())][:1] == ["1"]
        zero, one = (
            _agreement({role: values.astype(np.intp) - k for role, values in whole.items()}, sets)
            for k in (0, 1)
        )
        enough = sum(map(len, whole.values())) >= _FEW
        first = int(one >= zero if numbered else enough and one > zero + _MORE)
    if options.first_label != "auto":
        first = options.first_label
    _ask_of_codes(whole, sets, n_classes, options)
    for role, values in whole.items():
        last = n_classes - 1 + first
        bad = (values < first) | (values > last)
        worst = values[bad][0] if bad.any() else 0
        text = f"labels such as {worst:.6g}"
        _refuse(
            bad, _place(role, sets[role]), text, f"class numbers from {first} to {last}",
            sets[role],
        )  # fmt: skip
    if first:
        repairs.append(
            f"Labels counted from 1 to {n_classes} were shifted to 0 to {n_classes - 1}{_n(whole)}."
        )
    return {
        role: (values if values.dtype.kind in "iu" else values.astype(np.int64)) - first
        for role, values in whole.items()
    }


def _ask_of_codes(
    whole: Mapping[Role, Array],
    sets: Mapping[Role, RawSet],
    n_classes: int,
    options: ReadingOptions,
) -> None:
    """Ask about as many numbers as classes, of which some are the number of none."""
    kinds, counts = np.unique(np.concatenate([*whole.values()]), return_counts=True)
    in_a_run = kinds[-1] - kinds[0] == n_classes - 1
    if len(kinds) != n_classes or in_a_run or counts.sum() < _FEW or options.class_names:
        return
    right = _agreement({role: np.searchsorted(kinds, v) for role, v in whole.items()}, sets)
    names = tuple(f"{kind:g}" for kind in kinds.tolist())
    text = f"{_listed(names)}, which are no numbers of the classes 0 to {n_classes - 1}"
    why = f"The likeliest class is then right in {percent(right)} of the rows."
    answer = Answer(_listed(names), why, {"class_names": names})
    raise Question("labels", text, "Are they the classes in the order of the columns?", (answer,))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(visible(name, 20) for name in names[:_SHOWN])


def _by_order(
    codes: dict[Role, Array], sets: Mapping[Role, RawSet], options: ReadingOptions, lines: list[str]
) -> dict[Role, Array]:
    """Match numbers to classes with names: by the order of their columns, or of their letters."""
    raw = next(iter(sets.values()))
    names, given = raw.class_names or (), [*map(folded, options.class_names)]
    own = [*map(folded, names)]
    one_hot = np.asarray(raw.labels).shape[1:] not in ((), (1,))
    if not raw.headings or one_hot or all(any(map(str.isdigit, name)) for name in names):
        return codes
    order = np.argsort(names)
    if given and {*given} == {*own}:
        order = np.array([own.index(name) for name in given])
        return {role: order[values] for role, values in codes.items()}
    if given or (np.diff(order) > 0).all() or options.first_label != "auto":
        return codes
    by_letter = {role: order[values] for role, values in codes.items()}
    right = [_agreement(places, sets) for places in (codes, by_letter)]
    error = (max(sum(right), 1e-9) / sum(map(len, codes.values()))) ** 0.5
    text = (
        f"numbers of the classes: the likeliest is right in {percent(right[0])} of the rows if they"
        f" are {_listed(names)} in this order, in {percent(right[1])} in alphabetical order"
    )
    if right[0] - right[1] > _CLEAR * error:
        lines.append(f"Labels are {text}.")
        return codes
    answers = [
        Answer(_listed(its), f"{by}right in {percent(share)} of the rows.", {"class_names": its})
        for its, by, share in (
            (names, "In this order ", right[0]),
            (tuple(names[k] for k in order), "As scikit-learn sorts them, ", right[1]),
        )
    ]
    raise Question(
        "labels", text, "Which classes are they, from the lowest number on?",
        tuple(answers if right[0] >= right[1] else answers[::-1]),
    )  # fmt: skip


def _whole(values: Array, raw: RawSet, role: Role, repairs: list[str]) -> Array:
    place = _place(role, raw)
    if values.dtype.kind == "f":
        fraction = values != np.floor(values)
        _refuse(fraction, place, "values that are not integers", "class numbers", raw)
        repairs.append(f"Labels stored as decimals were read as integers ({len(values):,} labels).")
    return values


def _is_signed(values: Array) -> bool:
    """Return whether labels are -1 and 1, both of them."""
    return bool(values.min() == -1 and values.max() == 1 and (values != 0).all())


def _refuse(bad: NDArray[np.bool_], place: str, text: str, wanted: str, raw: RawSet) -> None:
    if bad.any():
        raise FileError(place, f"{text} {rows_of_file(bad, raw)}", wanted)


def _place(role: Role, raw: RawSet) -> str:
    where = f"labels {SET_NAMES[role]}".strip()
    return f"{where} in {raw.label_name}" if raw.label_name else where


# Predicted classes ----------------------------------------------------------------------------

_FEW, _FAR = 20, 0.2


def counted_alike(
    events: Mapping[Role, RawEvent], options: ReadingOptions, repairs: list[str]
) -> Mapping[Role, RawEvent]:
    """Compare true with predicted classes, of which one may count from 0 and the other from 1."""
    pairs = [raw.numbers for raw in events.values() if raw.numbers is not None]
    if len(pairs) < len(events) or options.first_label == 0:
        return events
    truth, predicted = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    agreed = {shift: float(np.mean(truth == predicted + shift)) for shift in (0, 1, -1)}
    shift = max((1, -1), key=lambda s: agreed[s])
    text = (
        f"true classes from {truth.min():g} to {truth.max():g} and predicted ones from"
        f" {predicted.min():g} to {predicted.max():g}, which agree in {percent(agreed[0])} of the"
        f" rows, and in {percent(agreed[shift])} if one of them counts from 1"
    )
    if options.first_label == 1:
        if agreed[shift] <= agreed[0]:
            return events
        repairs.append(f"Classes were numbered again: {text}.")
        return {
            role: replace(raw, hits=raw.numbers[0] == raw.numbers[1] + shift)
            for role, raw in events.items()
            if raw.numbers is not None
        }
    if len(truth) >= _FEW and agreed[shift] - agreed[0] > max(_FAR, 2 / len(truth) ** 0.5):
        yes = Answer("Yes", "They agree more often.", {"first_label": 1})
        no = Answer("No", "They are compared as they are.", {"first_label": 0})
        raise Question("labels", text, "Does one of the two count from 1?", (yes, no))
    return events
