"""Columns that list the names of the classes in every row, beside lists of their scores."""

import re
from collections.abc import Mapping, Sequence

_LIST = re.compile(r"\s*[\[(](.*)[\])]\s*", re.DOTALL)
_LONGEST = 256


def listed_classes(
    texts: Mapping[str, Sequence[str]], width: int
) -> tuple[str, tuple[str, ...]] | None:
    """Find the one column whose only text lists as many different classes as there are scores.

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

    Examples
    --------
    >>> listed_classes({"site": ("A", "B"), "labels": ("['cat', 'dog']",)}, 2)
    ('labels', ('cat', 'dog'))
    """
    lists = {name: _classes_in(cells[0]) for name, cells in texts.items() if len(cells) == 1}
    fitting = {name: found for name, found in lists.items() if len({*found}) == len(found) == width}
    return next(iter(fitting.items())) if len(fitting) == 1 and width > 1 else None


def _classes_in(cell: str) -> tuple[str, ...]:
    """Give the texts of a list as Python, NumPy and JSON write one, or without quotes."""
    inside = _LIST.fullmatch(cell) if len(cell) <= _LONGEST else None
    if inside is None:
        return ()
    parts = [part.strip().strip("'\"").strip() for part in inside[1].split(",")]
    return tuple(parts) if all(parts) else ()
