"""Two members of each JSON object that list classes and their scores."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from dashboard.readers.columns.headings import key_of
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.columns.table_columns import Text
from dashboard.readers.contents import Array
from dashboard.readers.json_files.json_likely import Likely, keys_of_pair
from dashboard.readers.refusal import FileError, quoted

_NUMBERS = {int, float}
_LONGEST = 256


def listed_pair(item: object) -> tuple[str, str] | None:
    """Find the members of an object that list two or more classes, as texts, and their scores.

    Examples
    --------
    >>> listed_pair({"text": "x", "labels": ["cat", "dog"], "scores": [0.9, 0.1]})
    ('labels', 'scores')
    >>> listed_pair({"label": "cat", "scores": [0.9, 0.1]}) is None
    True
    """
    if not isinstance(item, dict):
        return None
    lists = {key: value for key, value in item.items() if isinstance(value, list)}
    found = keys_of_pair(lists)
    if found is None:
        return None
    names, scores = (lists[key] for key in found)
    told = len(names) == len(scores) > 1 and {*map(type, names)} == {str}
    return found if told and {*map(type, scores)} <= _NUMBERS else None


def as_numbers(column: Array | Text, place: int) -> Array:
    """Give the values at one place of all lists as numbers, also where they are texts of such."""
    if not isinstance(column, Text):
        return column
    plain = (len(cell) <= _LONGEST and NUMBER.fullmatch(cell) for cell in column.cells)
    if (column.codes < 0).any() or not all(plain):
        row, text = column.first or (0, column.cells[0])
        raise FileError(f"row {row + 1:,}, value {place:,}", f"text {quoted(text)}", "numbers")
    return np.array([*map(float, column.cells)])[column.codes]


class Listed(Likely):
    """In each row a list of classes and one of their scores, of the same lengths in every row."""

    def __init__(self, classes: str, scores: str) -> None:
        super().__init__()
        self.classes, self.key = classes, scores

    def take_lists(self, names: Sequence[Any], scores: Sequence[Any]) -> None:
        """Add some rows, by their lists."""
        places = quoted(self.classes, 30), quoted(self.key, 30)
        for row, lists in enumerate(zip(names, scores, strict=True), self.n_rows + 1):
            if not all(isinstance(part, list) for part in lists):
                found = f"no list in {places[0]} or {places[1]}"
                raise FileError(f"row {row}", found, "classes and their scores in every row")
        self.width = self.width or len(names[0])
        flat = [*chain.from_iterable(names)], [*chain.from_iterable(scores)]
        alike = {*map(len, names)} == {*map(len, scores)} == {self.width}
        if alike and {*map(type, flat[0])} == {str} and {*map(type, flat[1])} <= _NUMBERS:
            try:
                self.scores.take(flat[1])
            except OverflowError:
                pass
            else:
                self.names.extend(flat[0])
                self.n_rows += len(names)
                return
        self.take([{"classes": n, "scores": s} for n, s in zip(names, scores, strict=True)])

    def table(self) -> tuple[tuple[str, ...], list[Array | Text]]:
        """Give two columns a rank; one a class where all rows list the classes in one order."""
        codes = self.names.finish()
        places = codes.codes.reshape(-1, self.width)
        first = places[0]
        if len({*first.tolist()}) < self.width or first.min() < 0 or (places != first).any():
            return super().table()
        prefix = "logits_" if "logit" in key_of(self.key) else "probs_"
        names = tuple(f"{prefix}{codes.cells[code]}" for code in first.tolist())
        return names, [*np.ascontiguousarray(self.scores.whole().reshape(-1, self.width).T)]
