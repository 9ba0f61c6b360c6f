"""What the columns are for that matter to no reading: ids, dates, sets, groups."""

from typing import cast

import numpy as np

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.features import Feature
from dashboard.readers.recognition.vocabulary import begins, folded, is_owner, set_of
from dashboard.readers.table import ColumnRole

_GROUPS, OWNERS, _SETS = 50, 20, 6


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
    measure = begins(words, terms.MEASURE_STEMS)
    surely = names_rows(feature)
    named = surely or (bool(words & terms.ID_WORDS) and not measure)
    numbered = feature.is_number and feature.key in terms.INDEX_KEYS
    many = OWNERS if numbered or is_owner(words) else _GROUPS if surely else np.inf
    number, counts = feature.is_number, feature.is_number and feature.counts_up
    unlike = named or not (measure if number else _has_blanks(feature))
    unique = (named if number else unlike) and feature.is_unique
    for fits, role, why in (
        (counts and unlike, "id", "counts up"),
        (unique, "id", "every value differs"),
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
    sets = {set_of(folded(kind)) for kind in feature.kinds[0]}
    called = bool(terms.SET_COLUMNS.intersection(feature.words))
    return None not in sets and (len(sets) > 1 or called or "training" in sets)


def _has_blanks(feature: Feature) -> bool:
    return any(" " in text.strip() for text in (feature.column.texts or ())[:20])
