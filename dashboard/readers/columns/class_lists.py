"""Columns that list the names of the classes in every row, beside lists of their scores."""

import re
from collections.abc import Mapping, Sequence

from dashboard.readers.columns.headings import CONFIDENCE, SCORE_WORDS, is_score, key_of
from dashboard.readers.columns.named import TABLE_KEYS, WEAK_TABLE_KEYS
from dashboard.readers.columns.rank_lists import LIST, classes_in
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.refusal import FileError, quoted

_MOST_ASKED = 100
_NAMES = frozenset(
    {"classes", "labels", "class_names", "label_names", "target_names", "categories", "names",
     "class_labels", "class_list", "class_order", "all_classes", "all_labels", "classnames"}
)  # fmt: skip
_ORDER = frozenset(
    {"index", "indices", "indexes", "idx", "idxs", "ids", "class", "classes", "label", "labels",
     "names", "categories"}
)  # fmt: skip


def listed_classes(
    texts: Mapping[str, Sequence[str]], width: int
) -> tuple[str, tuple[str, ...]] | None:
    """Find the one column whose only text lists as many different classes as there are scores.

    Its heading says so, or another column has none but its texts, which are no numbers.

    Parameters
    ----------
    texts : mapping of str to sequence of str
        The different texts of each column.
    width : int
        How many scores each row lists.

    Returns
    -------
    tuple, optional
        The column, and the classes.

    Raises
    ------
    FileError
        The classes stand in another order in some rows than in others.

    Examples
    --------
    >>> listed_classes({"site": ("A", "B"), "labels": ("['cat', 'dog']",)}, 2)
    ('labels', ('cat', 'dog'))
    """
    for name, cells in texts.items():
        _refuse_orders(name, cells, width)
    lists = {name: classes_in(cells[0]) for name, cells in texts.items() if len(cells) == 1}
    fitting = {
        name: found
        for name, found in lists.items()
        if len({*found}) == len(found) == width
        and (key_of(name) in _NAMES or _are_spoken(name, found, texts))
    }
    return next(iter(fitting.items())) if len(fitting) == 1 and width > 1 else None


def _are_spoken(column: str, classes: Sequence[str], texts: Mapping[str, Sequence[str]]) -> bool:
    """Tell classes that are no numbers, and of which another column has one in every row."""
    known = {*classes}
    return not any(map(NUMBER.fullmatch, classes)) and any(
        known.issuperset(cell.strip() for cell in cells)
        for name, cells in texts.items()
        if name != column
    )


def _refuse_orders(column: str, cells: Sequence[str], width: int) -> None:
    """Refuse lists of classes that say of every row in which order its scores are."""
    if len(cells) < 2 or width < 2 or _ORDER.isdisjoint(key_of(column).split("_")):
        return
    for cell in cells[:_MOST_ASKED]:
        inside = LIST.fullmatch(cell)
        parts = re.split(r"\s*,\s*|\s+", inside[1].strip()) if inside else []
        if len({*parts}) < width or len(parts) != width:
            return
    raise FileError(
        f"column {quoted(column, 30)}",
        "a list of classes in every row, not the same in all: lists of scores are in its order",
        "the scores of all rows in one order of the classes",
    )


def are_beside(lists: Sequence[str], others: Sequence[str]) -> bool:
    """Tell lists of another kind, such as embeddings, beside a column of scores.

    Examples
    --------
    >>> are_beside(["embedding"], ["score"]), are_beside(["probs"], ["score"])
    (True, False)
    """
    keys = {*map(key_of, lists)}
    words = {word for key in keys for word in key.split("_")}
    if words & SCORE_WORDS or keys & (TABLE_KEYS | WEAK_TABLE_KEYS):
        return False
    return any(is_score(key) or key in CONFIDENCE for key in map(key_of, others))
