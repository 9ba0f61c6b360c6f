"""What is known of each column by itself: words of its heading, and kinds of its values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition.vocabulary import (
    MISSING_TEXTS,
    PERCENT_WORDS,
    folded,
    key_of,
    missing_among,
    words_of,
)
from dashboard.readers.table import Column, Table

MANY = 4_096
"""Of more different values no column says a class."""

_SAMPLE = 2_000
_RANKED = 20_000
_DATES = re.compile(
    r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})( .*)?"
    r"|\d{1,2}[-. ][A-Za-z]{3,9}[-. ]\d{2,4}|[A-Za-z]{3,9} \d{1,2}, \d{4}|\d{4}-?[Qq][1-4]",
    re.ASCII,
)
_ASKED, _FEW = 200, 4


@dataclass(frozen=True, eq=False)
class Feature:
    """A column, and what its heading and its values are like.

    Parameters
    ----------
    place : int
        Of the column in the table.
    column : Column
        The column itself.
    words : tuple of str
        Of the heading, folded; none where the file does not name its columns.
    kind : str
        "number", "text", "list" or "none".
    rows : ndarray of int
        Rows of a sample, spread evenly over the table.
    low, high : float
        Range of the numbers; NaN where there are none.
    whole : bool
        All numbers are whole.
    n_kinds : int
        Different values, missing ones not counted; at most `MANY` + 1.
    blank : float
        Share of rows without a value.
    """

    place: int
    column: Column
    words: tuple[str, ...]
    kind: str
    rows: NDArray[np.intp]
    low: float = np.nan
    high: float = np.nan
    whole: bool = False
    n_kinds: int = 0
    blank: float = 0.0

    @property
    def name(self) -> str:
        """Heading as the file has it."""
        return self.column.name

    @cached_property
    def key(self) -> str:
        """Heading in the spelling in which whole names are compared."""
        return key_of(self.name) if self.words else ""

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return self.kind == "number"

    @property
    def is_share(self) -> bool:
        """Whether all are numbers from 0 to 1."""
        return self.is_number and self.low >= -1e-6 and self.high <= 1 + 1e-6

    @property
    def is_decided(self) -> bool:
        """Whether all are 0 or 1."""
        return self.is_share and self.whole

    @property
    def is_percent(self) -> bool:
        """Whether the cells, or the heading and the range, say that it is percent."""
        called = bool(PERCENT_WORDS.intersection(self.words))
        within = self.is_number and self.low >= 0 and 1 < self.high <= 100
        return self.is_number and (self.column.percents > 0 or (called and within))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Folded texts of a column of text, a missing one as ""."""
        found = [folded(text) for text in self.column.texts or ()]
        missing = missing_among(found)
        return tuple("" if text in missing else text for text in found)

    @cached_property
    def kinds(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """The different values as the file writes them, and the place of each row's, -1 for none.

        Texts that differ by accents, capitals or blanks are one kind, written as the first is.
        """
        values = self.column.values
        if self.kind == "text":
            places: dict[str, int] = {}
            names: list[str] = []
            for text, own in zip(self.texts, self.column.texts or (), strict=True):
                if text and text not in places:
                    places[text] = len(places)
                    names.append(own.strip())
            looked_up = np.array([places.get(text, -1) for text in self.texts] or [-1])
            return tuple(names), looked_up[values]
        if values.dtype.kind == "b":
            return ("false", "true"), values.astype(np.int64)
        if self.whole and self.high - self.low <= MANY and not self.blank:
            above = (values - self.low).astype(np.int64)
            there = np.bincount(above) > 0
            written = [f"{number + self.low:g}" for number in np.flatnonzero(there)]
            return tuple(written), (np.cumsum(there) - 1)[above]
        known = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), np.bool_)
        codes = np.full(len(values), -1, np.int64)
        different, codes[known] = np.unique(values[known], return_inverse=True)
        return tuple(f"{value:g}" for value in different.tolist()), codes

    @cached_property
    def folded_kinds(self) -> frozenset[str]:
        """The different values, folded."""
        return frozenset(map(folded, self.kinds[0]))

    @cached_property
    def listed(self) -> frozenset[str]:
        """The different numbers in the lists of a sample."""
        return frozenset(f"{v:g}" for v in np.unique(self.column.values[self.rows]).tolist())

    @property
    def is_two(self) -> bool:
        """Whether there are two different values."""
        return self.n_kinds == 2

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Rows of each kind."""
        names, codes = self.kinds
        return np.bincount(codes[codes >= 0], minlength=len(names))

    @cached_property
    def is_unique(self) -> bool:
        """Whether all values differ."""
        n_rows = len(self.column.values)
        if self.kind == "text":
            return n_rows > 1 and len(self.column.texts or ()) == n_rows
        if self.kind != "number" or not self.whole or n_rows < 2:
            return False
        values = self.column.values
        return self.counts_up or len(np.unique(values)) == n_rows

    @cached_property
    def counts_up(self) -> bool:
        """Whether whole numbers rise from row to row."""
        values = self.column.values
        return bool(self.whole and len(values) > _FEW and (values[1:] > values[:-1]).all())

    @cached_property
    def is_date(self) -> bool:
        """Whether the texts are dates."""
        own = (self.column.texts or ())[:_ASKED]
        texts = [text.strip() for text in own if folded(text) not in MISSING_TEXTS]
        fits = sum(_DATES.fullmatch(text) is not None for text in texts)
        return self.kind == "text" and bool(texts) and fits >= 0.9 * len(texts)

    @cached_property
    def ranks(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Rows of a larger sample that have a number, and the ranks of their numbers."""
        return self.ranked(_RANKED)

    def ranked(self, most: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return at most so many rows that have a number, and the ranks of their numbers."""
        rows = spread(len(self.column.values), most)
        numbers = self.column.values[rows].astype(np.float64)
        rows = rows[np.isfinite(numbers)]
        numbers = numbers[np.isfinite(numbers)]
        _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        return rows, (ends - (counts - 1) / 2)[places]


def spread(n_rows: int, most: int) -> NDArray[np.intp]:
    """Return rows that are spread evenly over a table."""
    return np.unique(np.linspace(0, max(n_rows - 1, 0), min(n_rows, most)).astype(np.intp))


def features_of(table: Table) -> list[Feature]:
    """Return the feature of each column of a table."""
    rows = spread(table.n_rows, _SAMPLE)
    return [
        feature_of(column, place, rows, named=table.named)
        for place, column in enumerate(table.columns)
    ]


def feature_of(column: Column, place: int, rows: NDArray[np.intp], *, named: bool) -> Feature:
    """Return what is known of a column by itself."""
    words = words_of(column.name) if named else ()
    if column.unread or not len(column.values):
        return Feature(place, column, words, "none", rows)
    if column.values.ndim == 2 and column.values.dtype.kind in "fiu":
        return Feature(place, column, words, "list", rows)
    if column.values.ndim != 1:
        return Feature(place, column, words, "none", rows)
    if column.is_text:
        return _of_text(column, place, words, rows)
    if column.values.dtype.kind not in "biuf":
        return Feature(place, column, words, "none", rows)
    return _of_numbers(column, place, words, rows)


def _of_text(column: Column, place: int, words: tuple[str, ...], rows: NDArray[np.intp]) -> Feature:
    texts = column.texts or ()
    few = len(texts) <= MANY
    keys = [folded(text) for text in texts] if few else []
    none = missing_among(keys)
    kinds = {*keys} - none
    missing = [k for k, key in enumerate(keys) if key in none]
    blank = float(np.isin(column.values, missing).mean()) if missing else 0.0
    return Feature(
        place, column, words, "text", rows, n_kinds=len(kinds) if few else MANY + 1, blank=blank
    )


def _of_numbers(
    column: Column, place: int, words: tuple[str, ...], rows: NDArray[np.intp]
) -> Feature:
    values = column.values
    low, high = float(values.min()), float(values.max())
    blank = 0.0
    if np.isnan(low):
        known = values[~np.isnan(values)]
        blank = 1 - len(known) / len(values)
        if not len(known):
            return Feature(place, column, words, "none", rows, blank=1.0)
        low, high = float(known.min()), float(known.max())
        values = known
    whole = _is_whole(values, rows)
    return Feature(
        place, column, words, "number", rows, low, high, whole,
        _count_kinds(values, low, high, rows, whole=whole), blank,
    )  # fmt: skip


def _is_whole(values: NDArray[Any], rows: NDArray[np.intp]) -> bool:
    if values.dtype.kind != "f":
        return True
    some = values[rows[rows < len(values)]]
    if not (np.isfinite(some).all() and (some == np.rint(some)).all()):
        return False
    return bool(np.isfinite(values).all() and (values == np.rint(values)).all())


def _count_kinds(
    values: NDArray[Any], low: float, high: float, rows: NDArray[np.intp], *, whole: bool
) -> int:
    """Return how many numbers differ, without sorting columns that surely have many."""
    if whole and high - low <= 1:
        return 1 + (high > low)
    if whole and high - low <= MANY:
        return int(np.count_nonzero(np.bincount((values - low).astype(np.int64))))
    some = len(np.unique(values[rows[rows < len(values)]]))
    if some > 200 and len(values) > len(rows):
        return MANY + 1
    return min(len(np.unique(values)), MANY + 1)


def table_of(features: Sequence[Feature], rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return some rows of columns of numbers side by side, shape (n_rows, n_columns)."""
    if len(features) == 1 and features[0].kind == "list":
        return features[0].column.values[rows].astype(np.float64)
    return np.column_stack([f.column.values[rows].astype(np.float64) for f in features])
