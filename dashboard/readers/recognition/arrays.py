"""Arrays of one file by set, each set as a table of which a column may hold a row of values."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np

from calibcore.probabilities import softmax
from calibcore.strips import row_strips
from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.columns import beyond_luck, lists_classes
from dashboard.readers.recognition.features import features_of
from dashboard.readers.recognition.groups import OWNERS
from dashboard.readers.recognition.proposals import proposals_of
from dashboard.readers.recognition.set_names import further_sets, role_of, rows_of_sets
from dashboard.readers.recognition.vocabulary import are_weights, is_owner, key_of, words_of
from dashboard.readers.records import (
    Array,
    Arrays,
    Column,
    ColumnRole,
    FileSentences,
    FileTable,
    Reading,
    ReadingOptions,
    Role,
    is_whole,
    sentences_of,
)
from dashboard.readers.refusal import Answer, FileError, Question, plain, quoted

_NESTED = re.compile(r"(\d+)\.(\d+)", re.ASCII)
_UNNAMED = re.compile(r"(arr_)?\d+(\.\d+)?", re.ASCII)
_SHOWN = 8
_WITHIN = "The labels are a column of the array: its numbers agree with the largest value."

_LEAST_WITHIN = 3
_TELLING = terms.VALUE_WORDS | terms.LABEL_WORDS
_TWO = ("Without names, the first two arrays are the calibration set, the others the test set.",)


@dataclass(frozen=True, eq=False)
class Parts(FileSentences):
    """The arrays of a file by set, each a table; an array of two axes is a column of rows."""

    tables: Mapping[Role, FileTable]
    readings: Mapping[Role, Reading] = field(default_factory=dict)  # where names and shapes tell


def parts_of(parsed: Arrays, options: ReadingOptions) -> Parts:
    """Return the arrays of each set as a table, and what they are for where they tell."""
    names, further = _class_names([_flat(array) for array in parsed.arrays if not array.unread])
    arrays = [array for array in further if array.values.size]
    if not arrays:
        why = next((f"{called(a)} of {a.unread}" for a in parsed.arrays if a.unread), "")
        empty = [f"an empty array of shape {array.values.shape}" for array in parsed.arrays]
        item = why or (*empty, "no arrays")[0]
        raise FileError("file", item, "values, labels or both, of a numeric type")
    refuse_unread(parsed.arrays, options)
    lines: tuple[str, ...] = ()
    if len(arrays) == 1 and not options.roles and (apart := _labels_apart(arrays[0])):
        arrays, lines = apart, (_WITHIN,)
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
    blank = {array.name for array in further} - {array.name for array in arrays}
    left += [
        a.name for a in further if id(a.values) not in used and not (lines and a.name in blank)
    ]
    if names and not any(reading.class_names for reading in readings.values()):
        left += [
            a.name for a in parsed.arrays if key_of(last_name(a.name)) in terms.CLASS_NAME_KEYS
        ]
    if len(tables) > 1 and all(_UNNAMED.fullmatch(a.name) for a in arrays):
        lines = _TWO
    notes = *lines, *_left_out([*dict.fromkeys(left)])
    return Parts(tables, readings, notes=notes)


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


def refuse_unread(arrays: Sequence[Column], options: ReadingOptions) -> None:
    """Refuse values or labels, by their names or by the user's word, that could not be read."""
    chosen = {name for name, role in options.roles if role not in ("group", "left out")}
    for array in arrays:
        key = key_of(role_of(last_name(array.name))[1] or array.name)
        counts = key in terms.LABEL_KEYS | terms.TABLE_KEYS or bool(
            {*words_of(key)[-1:]} & _TELLING
        )
        if array.unread and (counts or array.name in chosen):
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


def _table(columns: Sequence[Column], parsed: Arrays, options: ReadingOptions) -> FileTable:
    """Return the arrays that have as many rows as the values, or as most arrays."""
    chosen = {name for name, role in options.roles if role in ("class", "score", "outcome")}
    wide = [column for column in columns if column.values.ndim == 2]
    deciding = [column for column in columns if column.name in chosen] or wide or columns
    lengths = [len(column.values) for column in deciding]
    n_rows = max(lengths, key=lengths.count)
    alike = tuple(c for c in columns if len(c.values) == n_rows and c.values.ndim < 3)
    other = next((c for c in columns if len(c.values) != n_rows and _matters(c, chosen)), None)
    if other is not None:
        text = f"{len(other.values):,} rows where the others have {n_rows:,}"
        raise FileError(called(other), text, "as many labels as values")
    if not alike:
        shape = columns[0].values.shape
        raise FileError("logits", f"an array of shape {shape}", "one row per sample")
    return FileTable(alike, n_rows, **sentences_of(parsed))


def _matters(column: Column, chosen: AbstractSet[str]) -> bool:
    return (
        column.name in chosen
        or key_of(last_name(column.name)) in terms.LABEL_KEYS | terms.TABLE_KEYS
    )


# What arrays of a set are for, by their names and shapes --------------------------------------


_FRACTION = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?", re.ASCII)
_ONE_HOT = "a single 1 per row"


def called(array: Column) -> str:
    """Return what a refusal calls an array."""
    return f"array {quoted(array.name, 30)}" if array.name else "an array"


def last_name(name: str) -> str:
    """Return the last part of the name of a nested array."""
    return name.rsplit(".", 1)[-1]


def reading_of(table: FileTable, class_names: tuple[str, ...], options: ReadingOptions) -> Reading:
    """Return what the arrays of a set are for, by their names and shapes."""
    arrays = _ArrayRoles(table, options)
    arrays.read()
    roles = tuple(arrays.roles.get(k, "left out") for k in range(len(table.columns)))
    reasons = tuple(arrays.reasons.get(k, "") for k in range(len(table.columns)))
    widths = [c.values.shape[1:] for c, r in zip(table.columns, roles, strict=True) if r == "class"]
    names = class_names if widths[:1] == [(len(class_names),)] else ()
    proposals = tuple(proposals_of(features_of(table), roles, options))
    doubts = (*arrays.doubts, *(one.doubt for one in proposals))
    return Reading(
        roles, reasons, names, options.event, proposals, notes=(*arrays.notes,), doubts=doubts
    )


class _ArrayRoles:
    """Roles of arrays, found one after another."""

    def __init__(self, table: FileTable, options: ReadingOptions) -> None:
        self.columns, self.options = table.columns, options
        self.keys = [key_of(last_name(column.name)) for column in table.columns]
        self.roles: dict[int, ColumnRole] = {}
        self.reasons: dict[int, str] = {}
        self.doubts: list[str] = []
        self.notes: list[str] = []
        forced = dict(options.roles)
        for k, column in enumerate(table.columns):
            if column.name in forced:
                self.roles[k] = forced[column.name]

    def read(self) -> None:
        """Find the values, the labels, the predictions, and then the others."""
        if len(self.columns) == 1 and not self.roles:
            self._lone()
            return
        if not {"class", "score", "ranked score"} & {*self.roles.values()}:
            self._values()
        values = next((k for k, role in self.roles.items() if role == "class"), None)
        if "outcome" not in self.roles.values():
            self._labels(None if values is None else self.columns[values].values)
        called_sets = [
            bool(terms.SET_COLUMNS & {*words_of(column.name)}) for column in self.columns
        ]
        for k in sorted(self._open(1), key=lambda k: not called_sets[k]):
            self._set(k, self._further(k), "")
        for k in [k for k, role in self.roles.items() if role == "prediction"][1:]:
            self.roles[k] = "group"

    def _set(self, k: int, role: ColumnRole, reason: str) -> None:
        self.roles[k], self.reasons[k] = role, reason

    def _open(self, ndim: int) -> list[int]:
        """Return arrays of so many axes that have no role yet."""
        return [
            k for k, column in enumerate(self.columns)
            if k not in self.roles and column.values.ndim == ndim
        ]  # fmt: skip

    def _lone(self) -> None:
        column = self.columns[0]
        texts = column.texts or ()
        if column.values.ndim == 2 and column.texts is None:
            hot = self.keys[0] in terms.LABEL_KEYS and _is_one_hot(column.values)
            self._set(0, *(("outcome", _ONE_HOT) if hot else ("class", "one column per class")))
        elif any(map(_FRACTION.fullmatch, texts)):
            raise FileError("array", "numbers as text", "an array of a numeric type")
        elif column.texts is not None or is_whole(column.values):
            self._set(0, "outcome", "one class per row")
        else:
            self._set(0, "score", "one number per row")

    def _values(self) -> None:
        """Find the table of the values, or lists of ranked classes with their scores."""
        wide = [k for k in self._open(2) if self.columns[k].texts is None]
        hot = [k for k in wide if _is_one_hot(self.columns[k].values)]
        if hot and (len(wide) > 1 or self.keys[hot[0]] in terms.LABEL_KEYS or self._fractions()):
            # A hot table beside the values is the labels, whatever it is called.
            named = [k for k in hot if self.keys[k] in terms.LABEL_KEYS] or hot[:1]
            self._set(named[0], "outcome", _ONE_HOT)
            wide = [k for k in wide if k != named[0]]
        texts = [k for k in self._open(2) if self.keys[k] in terms.TABLE_KEYS and k not in wide]
        if not wide and texts:
            raise FileError(called(self.columns[texts[0]]), "texts", "an array of a numeric type")
        if not wide:
            self._score()
        if self._ranked(wide) or not wide:
            return
        name = self._by_name(wide)
        logits = [k for k in name if "logit" in self.keys[k]]
        if len(name) == 2 and len(logits) == 1 and self._say_the_same(logits[0], name):
            name = logits
        if len(name) > 1 and len(logits) == 1:
            others = " and ".join(quoted(self.columns[k].name, 30) for k in name if k != logits[0])
            self.doubts.append(
                f"Of both {quoted(self.columns[logits[0]].name, 30)} and {others}, which may"
                " disagree, the former was used."
            )
            name = logits
        if len(name) > 1:
            self._ask(name, "class", "Which array holds the values?")
        self._set(name[0], "class", "one column per class")

    def _score(self) -> None:
        """Find the score of the event beside labels with a single 1 per row."""
        name = self._by_name(self._fractions())
        if "outcome" in self.roles.values() and len(name) == 1:
            self._set(name[0], "score", "one number per row")

    def _fractions(self) -> list[int]:
        """Return arrays of one axis that hold numbers with fractions."""
        columns = [(k, self.columns[k]) for k in self._open(1)]
        return [k for k, c in columns if c.texts is None and not is_whole(c.values)]

    def _say_the_same(self, logits: int, numbers: Sequence[int]) -> bool:
        """Return whether the other of two tables is the softmax of the first, in some rows."""
        one, two = (self.columns[k].values[:200].astype(np.float64) for k in numbers)
        values, other = (one, two) if numbers[0] == logits else (two, one)
        same = values.shape == other.shape and np.isfinite(values).all()
        return bool(same and np.allclose(softmax(values), other, atol=0.02))

    def _ranked(self, wide: Sequence[int]) -> bool:
        whole = [k for k in wide if is_whole(self.columns[k].values)]
        if len(wide) != 2 or len(whole) != 1:
            return False
        scores = next(k for k in wide if k != whole[0])
        classes, values = (self.columns[k] for k in (whole[0], scores))
        same = classes.values.shape == values.values.shape
        if not same or not lists_classes(classes.values, values.values, words_of(classes.name)):
            return False
        self._set(whole[0], "ranked class", "different class numbers in each row")
        self._set(scores, "ranked score", "as many scores")
        return True

    def _labels(self, table: Array | None) -> None:
        """Find the labels by name, or by how often they agree with the largest value."""
        flat = [k for k in self._open(1) if _may_be_labels(self.columns[k])]
        wide = [k for k in self._open(2) if _is_one_hot(self.columns[k].values)]
        for keys in (terms.LABEL_KEYS, terms.WEAK_LABEL_KEYS):
            if named := [k for k in (*flat, *wide) if self.keys[k] in keys]:
                self._label_of(named, "by its name")
                return
        others = [
            k for k in flat
            if self.keys[k] not in terms.PREDICTED_KEYS | terms.TABLE_KEYS
            and self.keys[k] not in terms.CORRECT_KEYS | terms.INDEX_KEYS
            and not {*words_of(self.columns[k].name)} & (terms.PREDICTION_WORDS | terms.MARK_WORDS)
        ]  # fmt: skip
        named = [k for k in others if {*words_of(self.columns[k].name)} & terms.LABEL_WORDS]
        if named:
            self._label_of(named, "by its name")
        elif table is not None and table.ndim == 2:
            agreeing = [k for k in others if agrees(self.columns[k], table)]
            if agreeing or len(others) == 1:
                self._label_of(agreeing or others, "the only array of class numbers")
            if agreeing:
                name = quoted(self.columns[agreeing[0]].name, 30)
                self.notes.append(f"Labels: array {name}, which agrees with the largest values.")

    def _label_of(self, places: Sequence[int], reason: str) -> None:
        if len(places) > 1:
            self._ask(places, "outcome", "Which array holds the labels?")
        self._set(places[0], "outcome", reason)

    def _further(self, k: int) -> ColumnRole:
        key = self.keys[k]
        if rows_of_sets(self.columns[k]) is not None and "set" not in self.roles.values():
            return "set"
        if are_weights(words_of(self.columns[k].name)):
            return "left out"
        owner, values = is_owner(words_of(self.columns[k].name)), self.columns[k].values
        if key in terms.INDEX_KEYS or (
            owner and values.ndim == 1 and len(np.unique(values)) > OWNERS
        ):
            return "id"
        if key in terms.CORRECT_KEYS and {*self.roles.values()} & {"score"}:
            return "correct"
        predicted = key in terms.PREDICTED_KEYS | terms.TABLE_KEYS and _may_be_labels(
            self.columns[k]
        )
        return "prediction" if predicted else "group"

    def _by_name(self, places: Sequence[int]) -> Sequence[int]:
        """Return the arrays that are named as values are; all of them where none is."""
        for keys in (terms.TABLE_KEYS, terms.WEAK_TABLE_KEYS):
            if named := [k for k in places if self.keys[k] in keys]:
                return named
        return [
            k for k in places if {*words_of(self.columns[k].name)} & terms.VALUE_WORDS
        ] or places

    def _ask(self, places: Sequence[int], role: ColumnRole, ask: str) -> NoReturn:
        names = [self.columns[k].name for k in places]
        answers = tuple(
            Answer(
                plain(name, 30), f"Shape {self.columns[k].values.shape}.",
                self.options.with_roles(
                    (name, role), *((n, "left out") for n in names if n != name)
                ),
            )
            for k, name in zip(places, names, strict=True)
        )  # fmt: skip
        listed = ", ".join(quoted(name, 30) for name in names[:6])
        raise Question("arrays", f"{len(names)} that may be it: {listed}", ask, answers[:6])


def refuse_axes(columns: Sequence[Column]) -> None:
    """Refuse numbers of three axes, as of tokens or of draws, where no others are values."""
    fractions = [c for c in columns if c.texts is None and len(c.values) and not is_whole(c.values)]
    parts = [c for c in columns if last_name(c.name).isdigit()]
    kinds = {(c.name.rpartition(".")[0], c.values.shape) for c in parts}
    # A list of tables of one shape, beside which nothing else is a list, is one array.
    if len(parts) > 1 and fractions == parts and len(kinds) == 1:
        ((name, shape),) = kinds
        fractions = [Column(name, np.empty((len(parts), *shape), np.uint8))]
    if fractions and all(column.values.ndim > 2 for column in fractions):
        wanted = "two axes, rows and classes: tokens under one another, several draws as their mean"
        raise FileError(called(fractions[0]), f"shape {fractions[0].values.shape}", wanted)


def _may_be_labels(column: Column) -> bool:
    return column.texts is not None or is_whole(column.values)


def _is_one_hot(values: Array) -> bool:
    """Return whether each row holds a single 1 among zeros."""
    if values.dtype.kind not in "biuf" or values.ndim != 2:
        return False
    return all(
        bool(((block == 1).sum(axis=1) == 1).all() and (block != 0).sum() == len(block))
        for block in (values[rows] for rows in row_strips(*values.shape))
    )


def agrees(column: Column, table: Array) -> bool:
    """Return whether class numbers are the largest value's more often than by chance."""
    values = column.values
    if column.texts is not None or values.min() < 0 or values.max() > table.shape[1]:
        return False
    truth = values.astype(np.int64)
    largest = np.concatenate([table[rows].argmax(axis=1) for rows in row_strips(*table.shape)])
    return any(beyond_luck(truth - first, largest) for first in (0, 1))
