"""What is known of each column by itself: words of its heading, and kinds of its values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.records import Column, FileTable
from dashboard.readers.refusal import quoted

MANY = 4_096
"""Of more different values no column says a class."""

_MOST_FOLDED = 1_000_000
"""Different texts that are compared letter by letter, in all columns of a table."""

_SAMPLE = 2_000
_RANKED = 20_000
_DATES = re.compile(
    r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})( .*)?"
    r"|\d{1,2}[-. ][A-Za-z]{3,9}[-. ]\d{2,4}|[A-Za-z]{3,9} \d{1,2}, \d{4}|\d{4}-?[Qq][1-4]",
    re.ASCII,
)
_COMMA = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}\s*%?", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)\s*%?", re.ASCII)
_LIMIT = re.compile(rf"(?:[<>≤≥]=?|~)\s*{_DECIMAL.pattern}", re.ASCII)
_SIGN = "[$\u20ac\u00a3\u00a5\u00a2*\u2020\u2021\u00a7#^]"
_SIGNED = re.compile(rf"({_SIGN}(?=\s*[\d.]))?\s*{_DECIMAL.pattern}\s*({_SIGN}+)?", re.ASCII)
_FIRST_TEXTS, _FEW, _MOST = 200, 4, 0.9
_LIGHT = 10
"""Of bodies, the weights are mostly above it."""
_MOST_KINDS, _FEW_OTHERS, _HALF, _LEAST_ROWS = 12, 0.2, 0.5, 20


@dataclass(frozen=True, eq=False)
class Feature:
    """A column with its place in the table, and what its heading and its values are like."""

    place: int
    column: Column
    words: tuple[str, ...]  # of the heading, terms.folded; none where the file names no columns
    kind: str  # "number", "text", "list" or "none"
    rows: NDArray[np.intp]  # of a sample, spread evenly over the table
    low: float = np.nan
    high: float = np.nan
    whole: bool = False
    n_kinds: int = 0  # different values but for missing ones; at most `MANY` + 1
    blank: float = 0.0  # share of rows without a value

    @property
    def name(self) -> str:
        """Heading as the file has it."""
        return self.column.name

    @cached_property
    def key(self) -> str:
        """Heading in the spelling in which whole names are compared."""
        return terms.key_of(self.name) if self.words else ""

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
        called = bool(terms.PERCENT_WORDS.intersection(self.words))
        within = self.is_number and self.low >= 0 and 1 < self.high <= 100
        return self.is_number and (self.column.percents > 0 or (called and within))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Folded texts of a column of text, a missing one as ""."""
        keys = [terms.folded(text) for text in self.column.texts or ()]
        missing = terms.missing_among(keys)
        return tuple("" if text in missing else text for text in keys)

    @cached_property
    def kinds(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """The different values as the file writes them, and the place of each row's, -1 for none.

        Texts that differ by accents, capitals or blanks are one kind, written as the first is, and
        so are those that say yes, and those that say no, where a column says it in several ways.
        """
        values = self.column.values
        if self.kind == "text":
            places: dict[str, int] = {}
            names: list[str] = []
            keys = terms.one_yes(self.texts)
            for text, own in zip(keys, self.column.texts or (), strict=True):
                if text and text not in places:
                    places[text] = len(places)
                    names.append(own.strip())
            looked_up = np.array([places.get(text, -1) for text in keys] or [-1])
            return tuple(names), looked_up[values]
        if values.dtype.kind == "b":
            return ("false", "true"), values.astype(np.int64)
        if self.whole and self.high - self.low <= MANY and not self.blank:
            above = (values - self.low).astype(np.int64)
            there = np.bincount(above) > 0
            written = [f"{number + self.low:g}" for number in np.flatnonzero(there)]
            return tuple(written), (np.cumsum(there) - 1)[above]
        known = values < np.inf
        codes = np.full(len(values), -1, np.int64)
        different, codes[known] = np.unique(values[known], return_inverse=True)
        return tuple(f"{value:g}" for value in different.tolist()), codes

    @cached_property
    def folded_kinds(self) -> frozenset[str]:
        """The different values, folded."""
        return frozenset(map(terms.folded, self.kinds[0]))

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
    def main(self) -> tuple[int, int] | None:
        """The places of the two kinds of an outcome, no before yes where words say so."""
        return main_kinds(self, named=self.claims_outcome > 0)

    @cached_property
    def claims_outcome(self) -> int:
        """How surely the heading says that this is the outcome, from 0 to 2."""
        words = {*self.words}
        named = self.key in terms.WEAK_LABEL_KEYS or bool(terms.LABEL_WORDS & words)
        happens = terms.begins(words, terms.EVENT_STEMS) and not words & terms.DATE_WORDS
        return 2 if self.key in terms.LABEL_KEYS else int(named or happens)

    @cached_property
    def unusable(self) -> str:
        """Why it can be neither score nor outcome, as in ``blank in all 240 rows``; or ""."""
        total = len(self.column.values)
        n_rows = f"in all {total:,} rows"
        if self.n_kinds == 0 and self.kind != "list":
            return self.column.unread or f"blank {n_rows}"
        if self._begins_formula and all(text[:1] in ("", "=", "#") for text in self.texts):
            return f"a formula without a value {n_rows}"
        if self.n_kinds != 1:
            return ""
        count = int(self.counts.sum())
        if count < total:
            n_rows = f"in {count:,} rows and blank in {total - count:,}"
        return f"{self.kinds[0][0]} {n_rows}"

    @property
    def _begins_formula(self) -> bool:
        texts = (self.column.texts or ())[:_FIRST_TEXTS] if self.kind == "text" else ()
        return any(text.lstrip()[:1] in ("=", "#") for text in texts)

    @cached_property
    def spelt(self) -> str:
        """Why texts that look like numbers are none; "" of other texts."""
        stripped = (text.strip() for text in self.column.texts or ())
        texts = list(islice(filter(None, stripped), _FIRST_TEXTS))
        texts = texts if self.kind == "text" and not self.is_date else []
        commas = [text for text in texts if _COMMA.fullmatch(text)]
        if len(commas) > _HALF * len(texts):
            text = quoted(commas[0], 20)
            return f"numbers such as {text}, whose comma may mark decimals or thousands"
        limits = [text for text in texts if _LIMIT.fullmatch(text)]
        numbers = sum(_DECIMAL.fullmatch(text) is not None for text in texts)
        if limits and len(limits) + numbers > _MOST * len(texts):
            return f"numbers with limits such as {' and '.join(map(quoted, limits[:2]))} among them"
        signs = [
            (text, one) for text in texts if (one := _SIGNED.fullmatch(text)) and any(one.groups())
        ]
        if signs and len(signs) + numbers > _MOST * len(texts):
            text, one = signs[0]
            return f"numbers such as {quoted(text, 20)}, whose {one[1] or one[2]} must be taken out"
        return ""

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
        own = (self.column.texts or ())[:_FIRST_TEXTS]
        texts = [text.strip() for text in own if terms.folded(text) not in terms.MISSING_TEXTS]
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


def says_event(kinds: set[str]) -> str:
    """Return the one of two cells that says that something happened, "" where neither does.

    >>> says_event({"churned", "stayed"}), says_event({"north", "south"})
    ('churned', '')
    >>> says_event({"relevant", "not relevant"}), says_event({"inactive", "active"})
    ('relevant', 'inactive')
    """
    ordered = sorted(kinds, key=lambda kind: (len(kind), kind not in terms.YES | terms.NO, kind))
    short, long = ordered if len(kinds) == 2 else ("", "")
    if not short or short in terms.YES | terms.NO:
        return ""
    events, quiet = (
        {kind for kind in (short, long) if terms.begins(terms.words_of(kind), stems)}
        for stems in (terms.EVENT_STEMS, terms.QUIET_STEMS)
    )
    if len(short) > 2 and long.endswith((" " + short, "_" + short, "-" + short)):
        return long if short in quiet else short
    only = events - quiet or (kinds - quiet if len(quiet) == 1 else set())
    only = only or (events if quiet == kinds else set())
    return only.pop() if len(only) == 1 else ""


def main_kinds(outcome: Feature, *, named: bool) -> tuple[int, int] | None:
    """Return the places of the two kinds of an outcome among more, no before yes if words say so.

    The other rows hold words such as "pending", or codes such as 9; or they are few, where the
    column is named as an outcome or its texts say yes and no.
    """
    if not 2 <= outcome.n_kinds <= _MOST_KINDS:
        return None
    names = [terms.folded(name) for name in outcome.kinds[0]]
    counts = outcome.counts / max(int(outcome.counts.sum()), 1)
    if outcome.is_number and len(names) > 2:
        pairs = [
            (counts[no] + counts[yes], no, yes)
            for no, yes in (
                (names.index(no), names.index(yes))
                for no, yes in (("0", "1"), ("-1", "1"), ("1", "2")) if {no, yes} <= {*names}
            )
            if terms.NEITHER_NUMBERS.issuperset({*names} - {names[no], names[yes]})
            or (named and names[no] != "1" and counts[no] + counts[yes] >= 1 - _FEW_OTHERS)
        ]  # fmt: skip
        return max(pairs)[1:] if pairs else None
    rest = [
        k
        for k, own in enumerate(names)
        if not terms.begins(terms.words_of(own), terms.NEITHER_STEMS)
    ]
    rest = rest if len(names) > 2 else [0, 1]
    for word in terms.OPEN_WORDS:
        known = [k for k in rest if word not in terms.words_of(names[k])]
        rest = known if len(known) == 2 else rest
    opposites = [
        (no, yes) for no in rest for yes in rest
        if (names[yes] in terms.YES and names[no] in terms.NO)
        or (no != yes and says_event({names[no], names[yes]}) == names[yes])
    ]  # fmt: skip
    if len(rest) == 2:
        return opposites[0] if opposites else (rest[0], rest[1])
    return opposites[0] if len(opposites) == 1 and counts[[*opposites[0]]].sum() >= _HALF else None


def says_the_same(one: Feature, other: Feature) -> bool:
    """Return whether a column equals another in all rows, or has the other of two kinds in all."""
    if not all(2 <= f.n_kinds <= _MOST_KINDS for f in (one, other)):
        return False
    (names, first), (others, second) = one.kinds, other.kinds
    if one.main and other.main:
        known = np.isin(first, one.main) & np.isin(second, other.main)
        same = (first == one.main[1]) == (second == other.main[1])
    else:
        known = (first >= 0) & (second >= 0)
        own, its = (np.array([*map(terms.folded, part), ""]) for part in (names, others))
        same = own[first] == its[second]
    alike = same[known]
    if len(alike) < _LEAST_ROWS or known.mean() <= _HALF or not np.ptp(first[known]):
        return False
    return bool(alike.all() or (one.main and other.main and not alike.any()))


def spread(n_rows: int, most: int) -> NDArray[np.intp]:
    """Return rows that are spread evenly over a table."""
    return np.linspace(0, max(n_rows - 1, 0), min(n_rows, most)).astype(np.intp)


def features_of(table: FileTable) -> list[Feature]:
    """Return the feature of each column of a table."""
    rows = spread(table.n_rows, _SAMPLE)
    most = _MOST_FOLDED // max(sum(column.is_text for column in table.columns), 1)
    return [
        feature_of(column, place, rows, named=table.named, most=min(most, MANY))
        for place, column in enumerate(table.columns)
    ]


def feature_of(
    column: Column, place: int, rows: NDArray[np.intp], *, named: bool, most: int = MANY
) -> Feature:
    """Return what is known of a column by itself; more texts than ``most`` are only called many."""
    words = terms.words_of(column.name) if named else ()
    if column.unread or not len(column.values):
        return Feature(place, column, words, "none", rows)
    if column.values.ndim == 2 and column.values.dtype.kind in "fiu":
        return Feature(place, column, words, "list", rows)
    if column.values.ndim != 1:
        return Feature(place, column, words, "none", rows)
    if column.is_text:
        return _of_text(column, place, words, rows, most)
    if terms.are_weights(words) or column.values.dtype.kind not in "biuf":
        kind = "weight" if terms.are_weights(words) else "none"
        return Feature(place, column, words, kind, rows)
    return _of_numbers(column, place, words, rows)


def may_weigh(feature: Feature) -> bool:
    """Return whether a column may be what rows stand for: called so, and no weight of bodies."""
    values = feature.column.values
    if feature.column.is_text or values.ndim != 1 or values.dtype.kind not in "iuf":
        return False
    if not values.size or not np.isfinite(values).all() or values.min() == values.max():
        return False
    called = terms.begins(feature.words, terms.WEIGHT_STEMS) and not terms.begins(
        feature.words, terms.BODY_STEMS
    )
    light = bool(values.min() < _LIGHT)
    return feature.kind == "weight" or terms.are_counts(feature.words) or (called and light)


def _of_text(
    column: Column, place: int, words: tuple[str, ...], rows: NDArray[np.intp], most: int
) -> Feature:
    texts = column.texts or ()
    few = len(texts) <= most
    keys = [terms.folded(text) for text in texts] if few else []
    none = terms.missing_among(keys)
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
    if not high < np.inf:  # a logit of minus infinity rules a class out
        known = values[values < np.inf]
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
    parts = values[rows[rows < len(values)]], values
    return all(bool(np.isfinite(v).all() and (v == np.rint(v)).all()) for v in parts)


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


def table_of(features: Sequence[Feature]) -> NDArray[np.float64]:
    """Return the sample of columns of numbers side by side, shape (n_rows, n_columns)."""
    rows = features[0].rows
    if len(features) == 1 and features[0].kind == "list":
        return features[0].column.values[rows].astype(np.float64)
    return np.column_stack([f.column.values[rows].astype(np.float64) for f in features])
