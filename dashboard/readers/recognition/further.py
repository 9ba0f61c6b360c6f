"""What the columns are for that matter to no reading: ids, dates, sets, groups."""

from typing import cast

from dashboard.readers.recognition.features import Feature
from dashboard.readers.recognition.vocabulary import (
    ID_WORDS,
    INDEX_KEYS,
    MEASURE_STEMS,
    SET_COLUMNS,
    SURE_ID_WORDS,
    begins,
    folded,
    set_of,
)
from dashboard.readers.table import ColumnRole

_GROUPS, _SETS = 50, 6


def further_role(feature: Feature) -> tuple[ColumnRole, str]:
    """Return the role of a column that is neither outcome nor score, and why.

    Examples
    --------
    >>> import numpy as np
    >>> from dashboard.readers.recognition.features import feature_of
    >>> from dashboard.readers.table import Column
    >>> visits = Column("visit_no", np.arange(1, 9))
    >>> further_role(feature_of(visits, 0, np.arange(8), named=True))
    ('id', 'counts up')
    """
    for fits, role, why in (
        (feature.kind in ("none", "list"), "left out", feature.column.unread or "no values"),
        (feature.kind == "weight", "left out", "weights, which are not used"),
        (feature.is_date, "date", "dates"),
        (feature.n_kinds <= 1, "left out", "one value"),
        (says_sets(feature), "set", "names sets"),
    ):
        if fits:
            return cast("ColumnRole", role), why
    words = {*feature.words}
    measure = begins(words, MEASURE_STEMS)
    surely = names_rows(feature)
    named = surely or (bool(words & ID_WORDS) and not measure)
    if feature.is_number:
        return _of_numbers(feature, named=named, surely=surely, measure=measure)
    return _of_text(feature, named=named, surely=surely)


def names_rows(feature: Feature) -> bool:
    """Return whether the heading surely says that a column names the rows."""
    return bool({*feature.words} & SURE_ID_WORDS) or feature.key in INDEX_KEYS


def _of_text(feature: Feature, *, named: bool, surely: bool) -> tuple[ColumnRole, str]:
    if feature.is_unique and (named or not _has_blanks(feature)):
        return "id", "every value differs"
    if feature.n_kinds > _GROUPS:
        return ("id", "named as an id") if surely else ("left out", "too many different texts")
    return "group", f"{feature.n_kinds} values"


def _of_numbers(
    feature: Feature, *, named: bool, surely: bool, measure: bool
) -> tuple[ColumnRole, str]:
    if feature.counts_up and (named or not measure):
        return "id", "counts up"
    if named and feature.is_unique:
        return "id", "every value differs"
    if surely and feature.whole and feature.n_kinds > _GROUPS:
        return "id", "named as an id"
    return "group", "numbers"


def says_sets(feature: Feature) -> bool:
    """Return whether all cells name sets, of which there are two or the heading says so."""
    if feature.kind != "text" or not 1 <= feature.n_kinds <= _SETS:
        return False
    sets = {set_of(folded(kind)) for kind in feature.kinds[0]}
    called = bool(SET_COLUMNS.intersection(feature.words))
    return None not in sets and (len(sets) > 1 or called or "training" in sets)


def _has_blanks(feature: Feature) -> bool:
    return any(" " in text.strip() for text in (feature.column.texts or ())[:20])
