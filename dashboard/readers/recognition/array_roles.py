"""What arrays of a set are for, by their names and shapes."""

import re
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from calibcore.blocks import row_blocks
from calibcore.probabilities import softmax
from dashboard.readers.contents import Array, Options
from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.agreement import beyond_luck
from dashboard.readers.recognition.candidates import lists_classes
from dashboard.readers.recognition.further import OWNERS
from dashboard.readers.recognition.set_names import parting_of
from dashboard.readers.recognition.vocabulary import is_owner, key_of, words_of
from dashboard.readers.refusal import Answer, FileError, Question, plain, quoted
from dashboard.readers.table import Column, ColumnRole, Reading, Table

_FRACTION = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?", re.ASCII)
_ONE_HOT = "a single 1 per row"


def called(array: Column) -> str:
    """Return what a refusal calls an array."""
    return f"array {quoted(array.name, 30)}" if array.name else "an array"


def last_name(name: str) -> str:
    """Return the last part of the name of a nested array."""
    return name.rsplit(".", 1)[-1]


def reading_of(table: Table, class_names: tuple[str, ...], options: Options) -> Reading:
    """Return what the arrays of a set are for, by their names and shapes."""
    arrays = _Named(table, options)
    arrays.read()
    roles = tuple(arrays.roles.get(k, "left out") for k in range(len(table.columns)))
    reasons = tuple(arrays.reasons.get(k, "") for k in range(len(table.columns)))
    widths = [c.values.shape[1:] for c, r in zip(table.columns, roles, strict=True) if r == "class"]
    names = class_names if widths[:1] == [(len(class_names),)] else ()
    return Reading(roles, reasons, names, options.event, (*arrays.found,), (*arrays.doubts,))


class _Named:
    """Roles of arrays, found one after another."""

    def __init__(self, table: Table, options: Options) -> None:
        self.columns, self.options = table.columns, options
        self.keys = [key_of(last_name(column.name)) for column in table.columns]
        self.roles: dict[int, ColumnRole] = {}
        self.reasons: dict[int, str] = {}
        self.doubts: list[str] = []
        self.found: list[str] = []
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
        told = self._by_name(wide)
        logits = [k for k in told if "logit" in self.keys[k]]
        if len(told) == 2 and len(logits) == 1 and self._say_the_same(logits[0], told):
            told = logits
        if len(told) > 1 and len(logits) == 1:
            others = " and ".join(quoted(self.columns[k].name, 30) for k in told if k != logits[0])
            self.doubts.append(
                f"Of both {quoted(self.columns[logits[0]].name, 30)} and {others}, which may"
                " disagree, the former was used."
            )
            told = logits
        if len(told) > 1:
            self._ask(told, "class", "Which array holds the values?")
        self._set(told[0], "class", "one column per class")

    def _score(self) -> None:
        """Find the score of the event beside labels with a single 1 per row."""
        told = self._by_name(self._fractions())
        if "outcome" in self.roles.values() and len(told) == 1:
            self._set(told[0], "score", "one number per row")

    def _fractions(self) -> list[int]:
        """Return arrays of one axis that hold numbers with fractions."""
        columns = [(k, self.columns[k]) for k in self._open(1)]
        return [k for k, c in columns if c.texts is None and not is_whole(c.values)]

    def _say_the_same(self, logits: int, told: Sequence[int]) -> bool:
        """Return whether the other of two tables is the softmax of the first, in some rows."""
        one, two = (self.columns[k].values[:200].astype(np.float64) for k in told)
        values, other = (one, two) if told[0] == logits else (two, one)
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
                self.found.append(f"Labels: array {name}, which agrees with the largest values.")

    def _label_of(self, places: Sequence[int], reason: str) -> None:
        if len(places) > 1:
            self._ask(places, "outcome", "Which array holds the labels?")
        self._set(places[0], "outcome", reason)

    def _further(self, k: int) -> ColumnRole:
        key = self.keys[k]
        if parting_of(self.columns[k]) is not None and "set" not in self.roles.values():
            return "set"
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
        kept = [pair for pair in self.options.roles if pair[0] not in names]
        answers = tuple(
            Answer(
                plain(name, 30), f"Shape {self.columns[k].values.shape}.",
                {"roles": (*kept, (name, role), *((n, "left out") for n in names if n != name))},
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


def is_whole(values: Array) -> bool:
    """Return whether all numbers are whole."""
    kind = values.dtype.kind
    return kind in "biu" or (kind == "f" and bool((values == np.rint(values)).all()))


def _may_be_labels(column: Column) -> bool:
    return column.texts is not None or is_whole(column.values)


def _is_one_hot(values: Array) -> bool:
    """Return whether each row holds a single 1 among zeros."""
    if values.dtype.kind not in "biuf" or values.ndim != 2:
        return False
    return all(
        bool(((block == 1).sum(axis=1) == 1).all() and (block != 0).sum() == len(block))
        for block in (values[rows] for rows in row_blocks(*values.shape))
    )


def agrees(column: Column, table: Array) -> bool:
    """Return whether class numbers are the largest value's more often than by chance."""
    values = column.values
    if column.texts is not None or values.min() < 0 or values.max() > table.shape[1]:
        return False
    truth = values.astype(np.int64)
    largest = np.concatenate([table[rows].argmax(axis=1) for rows in row_blocks(*table.shape)])
    return any(beyond_luck(truth - first, largest) for first in (0, 1))
