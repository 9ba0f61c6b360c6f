"""What JSON holds in each row beside single values: classes with their scores, and vectors."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from dashboard.readers.columns.growing import GrowingText, spelled
from dashboard.readers.columns.headings import key_of
from dashboard.readers.columns.packed import Packed
from dashboard.readers.columns.table_columns import Text
from dashboard.readers.contents import Array
from dashboard.readers.refusal import FileError

_CLASS_KEYS = (
    "label", "class", "class_name", "name", "category", "display_name", "display_names", "classes",
    "labels", "class_names", "class_id", "id", "ids",
)  # fmt: skip
"""What a class is called beside its score, the most telling first."""

_SCORE_KEYS = (
    "score", "prob", "probability", "confidence", "proba", "p", "scores", "probs", "probabilities",
    "confidences", "probas", "value",
)  # fmt: skip
_VECTOR = frozenset({"type", "size", "indices", "values"})
_MAX_RANKS = 2000
_WANTED = "the same number of classes with their scores in every row"


def keys_of_pair(entry: object) -> tuple[str, str] | None:
    """Find the members of an object that name a class, or classes, and give what they score.

    Examples
    --------
    >>> keys_of_pair({"label": "cat", "score": 0.9})
    ('label', 'score')
    >>> keys_of_pair({"ids": ["3"], "displayNames": ["cat"], "confidences": [0.9]})
    ('displayNames', 'confidences')
    """
    if not isinstance(entry, dict):
        return None
    keys = {key_of(key): key for key in entry}
    name = next((keys[key] for key in _CLASS_KEYS if key in keys), None)
    score = next((keys[key] for key in _SCORE_KEYS if key in keys), None)
    return None if name is None or score is None else (name, score)


def is_likely(item: object) -> bool:
    """Tell a list of classes with their scores, or an object of the two as lists."""
    if isinstance(item, dict):
        found = keys_of_pair(item)
        return found is not None and all(isinstance(item[key], list) for key in found)
    return isinstance(item, list) and bool(item) and keys_of_pair(_inside(item)[0]) is not None


def _inside(item: list[Any]) -> list[Any]:
    """Take off a list around the only list, as for a batch of one."""
    return item[0] if len(item) == 1 and isinstance(item[0], list) and item[0] else item


class Likely:
    """In each row classes with their scores, the same number in every row."""

    def __init__(self) -> None:
        self.width = 0
        self.n_rows = 0
        self.names = GrowingText()
        self.scores = Packed()

    def __len__(self) -> int:
        """Count the rows."""
        return self.n_rows

    def take(self, items: Sequence[Any]) -> None:
        """Add some rows."""
        if self._take_alike(items):
            return
        for row, item in enumerate(items, self.n_rows + 1):
            names, scores = _pairs(item, row)
            self.width = self.width or len(names)
            if not 0 < len(names) == len(scores) == self.width <= _MAX_RANKS:
                found = f"{len(names):,} classes with {len(scores):,} scores"
                wanted = _WANTED + f", here {self.width:,}, at most {_MAX_RANKS:,}"
                raise FileError(f"row {row}", found, wanted)
            named = all(isinstance(value, str | int | float) for value in names)
            if not named or not all(isinstance(value, int | float) for value in scores):
                found = "a class or a score that is null, a text or no single value"
                raise FileError(f"row {row}", found, _WANTED)
            try:
                self.scores.take(scores)
            except OverflowError:
                raise FileError(f"row {row}", "a score beyond 1e308", "scores") from None
            self.names.extend(list(map(spelled, names)))
        self.n_rows += len(items)

    def _take_alike(self, items: Sequence[Any]) -> bool:
        """Add rows that are lists of objects of one make, or leave them as they are."""
        if {*map(type, items)} != {list} or {*map(len, items)} != {self.width}:
            return False
        entries = list(chain.from_iterable(items))
        found = keys_of_pair(entries[0])
        if found is None or {*map(type, entries)} != {dict}:
            return False
        if not all(map(entries[0].keys().__eq__, map(dict.keys, entries))):
            return False
        names, scores = ([entry[key] for entry in entries] for key in found)
        if {*map(type, names)} != {str} or not {*map(type, scores)} <= {int, float}:
            return False
        try:
            self.scores.take(scores)
        except OverflowError:
            return False
        self.names.extend(names)
        self.n_rows += len(items)
        return True

    def table(self) -> tuple[tuple[str, ...], list[Array | Text]]:
        """Give two columns a rank, of the class and of its score, the highest score first."""
        codes = self.names.finish()
        scores = self.scores.whole().reshape(-1, self.width)
        places = codes.codes.reshape(-1, self.width)
        if (np.diff(scores, axis=1) > 0).any():
            order = np.argsort(-scores, axis=1, kind="stable")
            scores = np.take_along_axis(scores, order, axis=1)
            places = np.take_along_axis(places, order, axis=1)
        names: list[str] = []
        columns: list[Array | Text] = []
        for k in range(self.width):
            names += [f"top{k + 1}_class", f"top{k + 1}_prob"]
            columns += [Text(np.ascontiguousarray(places[:, k]), codes.cells), scores[:, k]]
        return tuple(names), columns


def _pairs(item: object, row: int) -> tuple[list[Any], list[Any]]:
    """Give the classes and the scores of one row."""
    if isinstance(item, list) and item:
        entries = _inside(item)
        found = keys_of_pair(entries[0])
        same = found and all(isinstance(e, dict) and e.keys() >= {*found} for e in entries)
        if found and same:
            return [entry[found[0]] for entry in entries], [entry[found[1]] for entry in entries]
    elif isinstance(item, dict) and is_likely(item):
        name, score = keys_of_pair(item) or ("", "")
        return item[name], item[score]
    raise FileError(f"row {row}", "something other than classes with their scores", _WANTED)


def is_vector(item: object) -> bool:
    """Tell a vector as Spark writes one."""
    return isinstance(item, dict) and {"type", "values"} <= item.keys() <= _VECTOR


def vector(item: object, row: int) -> list[Any]:
    """Give the values of a vector.

    Examples
    --------
    >>> vector({"type": 1, "values": [0.5, 0.5]}, 1)
    [0.5, 0.5]
    """
    if not isinstance(item, dict) or not is_vector(item) or not isinstance(item["values"], list):
        raise FileError(f"row {row}", "something other than a vector", "a vector in every row")
    if item["type"] != 1:
        # A size alone may ask for any number of zeros.
        found = "a sparse vector, which leaves values out"
        raise FileError(f"row {row}", found, "dense vectors, of type 1")
    return item["values"]
