"""What the columns are for that matter to no reading: ids, dates, sets, groups."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import cast

import numpy as np

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.features import Feature, may_weigh
from dashboard.readers.records import Array, Column, ColumnRole, GroupingColumn
from dashboard.readers.refusal import plain, visible

_GROUPS, OWNERS, _SETS = 50, 20, 6
ONE_VALUE = "one value"


def further_role(feature: Feature) -> tuple[ColumnRole, str]:
    """Return the role of a column that is neither outcome nor score, and why.

    >>> import numpy as np
    >>> from dashboard.readers.recognition.features import feature_of
    >>> from dashboard.readers.records import Column
    >>> visits = Column("visit_no", np.arange(1, 9))
    >>> further_role(feature_of(visits, 0, np.arange(8), named=True))
    ('id', 'counts up')
    """
    words = {*feature.words}
    measure = terms.begins(words, terms.MEASURE_STEMS)
    surely = names_rows(feature)
    named = surely or (bool(words & terms.ID_WORDS) and not measure)
    lone = named and len(feature.column.values) == 1  # a value of one row tells nothing itself
    for fits, role, why in (
        (feature.kind in ("none", "list"), "left out", feature.column.unread or "no values"),
        (feature.kind == "weight", "left out", "weights, which are not used"),
        (not terms.are_counts(feature.words) and may_weigh(feature), "left out", "may be weights"),
        (feature.is_date, "date", "dates"),
        (feature.n_kinds <= 1 and not lone, "left out", ONE_VALUE),
        (says_sets(feature), "set", "names sets"),
    ):
        if fits:
            return cast("ColumnRole", role), why
    numbered = feature.is_number and feature.key in terms.INDEX_KEYS
    surely = surely or (terms.is_unit(words) and _are_numbered(feature))
    many = OWNERS if numbered or terms.is_owner(words) else _GROUPS if surely else np.inf
    number, counts = feature.is_number, feature.is_number and feature.counts_up
    unlike = named or not (measure if number else _has_blanks(feature))
    unique = (named if number else unlike) and feature.is_unique
    for fits, role, why in (
        (counts and unlike, "id", "counts up"),
        (unique, "id", "every value differs"),
        (lone, "id", "named as an id"),
        (feature.n_kinds > many and (feature.whole or not number), "id", "named as an id"),
        (number, "group", "numbers"),
        (feature.n_kinds > _GROUPS, "left out", "too many different texts"),
    ):
        if fits:
            return cast("ColumnRole", role), why
    return "group", f"{feature.n_kinds} values"


def names_rows(feature: Feature) -> bool:
    """Return whether the heading surely says that a column names the rows."""
    return bool({*feature.words} & terms.SURE_ID_WORDS) or feature.key in terms.INDEX_KEYS


def says_sets(feature: Feature) -> bool:
    """Return whether all cells name sets, of which there are two or the heading says so."""
    if feature.kind != "text" or not 1 <= feature.n_kinds <= _SETS:
        return False
    sets = {*terms.sets_of(feature.kinds[0])}
    called = bool(terms.SET_COLUMNS.intersection(feature.words))
    return None not in sets and (len(sets) > 1 or called or "training" in sets)


def _are_numbered(feature: Feature) -> bool:
    texts = feature.column.texts or ()
    return bool(texts) and all(any(map(str.isdigit, text)) for text in texts if text)


def _has_blanks(feature: Feature) -> bool:
    return any(" " in text.strip() for text in (feature.column.texts or ())[:20])


# Further columns of a table: groups, months of dates, and what names the rows -----------------


FEW_VALUES = 10
"""A column of numbers with at most so many different ones is grouped by its values."""

NUMBER_RANGES = 5
"""Ranges, at most, into which other columns of numbers are cut."""

MOST_COLUMNS, MOST_GROUPS, LONGEST_GROUP = 40, 200, 200
NAME, _SHOWN, _FEWEST_COUNTED, _LONGEST_ID = 60, 8, 5, 18
_ISO = re.compile(r"([12]\d{3})[-/]?(\d{2})(?:[-/]?\d{2})?(?:[T ].*)?", re.ASCII)
_DAY_FIRST = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-]([12]\d{3})(?: .*)?", re.ASCII)
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-]([12]\d{3})(?: .*)?", re.ASCII)
_ARRAY = "column_"
_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?", re.ASCII)


def groups_of(
    columns: Sequence[tuple[Column, ColumnRole]],
) -> tuple[tuple[GroupingColumn, ...], tuple[str, ...]]:
    """Return the grouping columns among groups and dates, and sentences on which they are."""
    groups: list[GroupingColumn] = []
    left: list[tuple[str, str]] = []
    names = {column.name.removeprefix(_ARRAY) for column, _ in columns}
    for named, role in columns:
        # Archives say by this prefix which of their arrays are columns; it is no part of a name.
        short = named.name.removeprefix(_ARRAY) if len(names) == len(columns) else named.name
        column = replace(named, name=short)
        month = month_of(column) if role == "date" else group_of(_named(column))
        if len(groups) >= MOST_COLUMNS:
            month = f"only {MOST_COLUMNS} are kept"
        if isinstance(month, str):
            left.append((column.name, month))
        else:
            groups.append(month)
    return tuple(groups), (*grouping_note([group.name for group in groups]), *_left(left))


def _named(column: Column) -> Column:
    """Take whole numbers that are names, as of branches, for texts: ranges of them say nothing."""
    values = column.values
    if (
        column.texts is not None
        or values.ndim != 1
        or not terms.is_no_quantity(terms.words_of(column.name))
    ):
        return column
    different, codes = np.unique(values, return_inverse=True)  # NaN comes last
    if (different[~np.isnan(different)] != np.rint(different[~np.isnan(different)])).any():
        return column
    texts = tuple("" if np.isnan(n) else f"{n:.0f}" for n in different.tolist())
    return replace(column, values=codes.astype(np.int32), texts=texts)


def group_of(column: Column) -> GroupingColumn | str:
    """Return a column to filter and group by, or why there is none.

    >>> group_of(Column("ward", np.array([1, 0, 1], np.int32), ("B", "A"))).categories
    ('B', 'A')
    """
    name, values = visible(column.name, NAME), column.values
    if column.unread or values.ndim != 1:
        return column.unread or "its cells are lists"
    if column.texts is None:
        if len(values) >= _FEWEST_COUNTED and _counts_rows(values):
            return f"it only counts the {len(values):,} rows"
        return GroupingColumn(name, values.view(np.uint8) if values.dtype.kind == "b" else values)
    codes, texts = in_use(values, column.texts)
    if len(texts) > MOST_GROUPS:
        return f"more than {MOST_GROUPS} different texts"
    if max(map(len, texts), default=0) > LONGEST_GROUP:
        return f"texts of more than {LONGEST_GROUP} characters"
    return GroupingColumn(
        name, codes.astype(np.uint8), tuple(visible(t, LONGEST_GROUP) for t in texts)
    )


def month_of(column: Column) -> GroupingColumn | str:
    """Return the months of a column of dates as texts, or of what is no date the column itself.

    >>> dates = Column("day", np.array([0, 1, 2], np.int32), ("2024-03-05", "2024-03-17", ""))
    >>> month_of(dates).categories, month_of(dates).values.tolist()
    (('2024-03', ''), [0, 0, 1])
    """
    if column.unread or column.values.ndim != 1:
        return group_of(column)
    texts, codes = column.texts, column.values
    if texts is None:
        values, codes = np.unique(codes, return_inverse=True)
        texts = tuple(f"{value:.0f}" for value in values.tolist())
    days = [(int(m[1]), int(m[2])) for text in texts if (m := _SLASHED.fullmatch(text.strip()))]
    unclear = bool(days) and max(map(max, days)) <= 12  # 3/4/2025 is in April or in March
    day_second = any(second > 12 for _, second in days)
    months = [_month(text, day_second=day_second) for text in texts]
    if unclear or any(not m and t not in ("", "nan") for m, t in zip(months, texts, strict=True)):
        return group_of(column)
    months = [m[:4] for m in months] if len({*months}) > MOST_GROUPS else months
    places = {month: k for k, month in enumerate(dict.fromkeys(months))}
    looked_up = np.array([places[month] for month in months], dtype=np.int32)
    return group_of(Column(column.name, looked_up[codes], tuple(places)))


def ids_of(column: Column) -> GroupingColumn | None:
    """Return whole numbers that stand for the names of the rows, the same for 7 and "7.0"."""
    if column.unread or column.values.ndim != 1:
        return None
    if column.texts is not None:
        ids = np.array([_id_of(text) for text in column.texts], dtype=np.int64)[column.values]
        return GroupingColumn(column.name, ids)
    values = column.values
    whole = (np.abs(values) < 1 << 62) & (values == np.rint(values))
    if values.dtype.kind == "f" and not whole.all():
        return None
    return GroupingColumn(column.name, values.astype(np.int64))


def in_use(codes: Array, texts: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
    """Return codes and texts without those texts that no row has."""
    counts = np.bincount(codes.ravel(), minlength=len(texts))
    if counts.all():
        return codes, tuple(texts)
    places = np.cumsum(counts > 0) - 1
    used = tuple(text for text, count in zip(texts, counts, strict=True) if count)
    return places[codes].astype(np.int32), used


def _id_of(text: str) -> int:
    if len(text) < _LONGEST_ID and _WHOLE.fullmatch(text):
        return int(text.partition(".")[0])
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _month(text: str, *, day_second: bool) -> str:
    """Return the year and month of a date, "" of what is none."""
    if match := _ISO.fullmatch(text.strip()):
        year, month = match[1], int(match[2])
    elif match := _DAY_FIRST.fullmatch(text.strip()):
        year, month = match[3], int(match[1 if day_second else 2])
    else:
        return ""
    return f"{year}-{month:02d}" if 1 <= month <= 12 else ""


def _counts_rows(values: Array) -> bool:
    """Return whether a column counts the rows from 0 or from 1."""
    return values[0] in (0, 1) and np.array_equal(values, np.arange(len(values)) + int(values[0]))


GROUPING = "Grouping columns: "


def grouping_note(names: Sequence[str]) -> Iterator[str]:
    """Say by which columns rows can be grouped, if there are any."""
    if names:
        shown = ", ".join(plain(name, 40) for name in names[:_SHOWN])
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        yield f"{GROUPING}{shown}{more}."


def _left(left: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from (f"Column {plain(name, 40)} was left out: {why}." for name, why in left[:_SHOWN])
    if len(left) > _SHOWN:
        yield f"{len(left) - _SHOWN} more columns were left out."
