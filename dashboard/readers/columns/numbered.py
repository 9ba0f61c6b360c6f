"""Classes that are called by running numbers, which need not stand in their order."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from dashboard.readers.contents import Array

_CLEAR = 3.0
"""So many standard errors apart, one of two readings agrees better with the values."""

_NO_NUMBER = re.compile(r"[0-9][.,]\Z|[+-]\Z", re.ASCII)


def class_numbers(names: Sequence[str]) -> Array | None:
    """Give the numbers of classes such as class1, class0, which are not in their order.

    All names have the same before their number and, but for a plural, the same after it.

    Examples
    --------
    >>> class_numbers(["2 stars", "1 star", "3 stars"]).tolist()
    [2, 1, 3]
    >>> class_numbers(["class0", "class1"]) is None
    True
    """
    one = [name.strip().removesuffix("s") for name in names]
    before = re.sub("[0-9]*$", "", _shared(one))
    ends = [name[len(before) :][::-1] for name in one]
    after = re.sub("[0-9]*$", "", _shared(ends))
    found = [end[len(after) :][::-1] for end in ends]
    if _NO_NUMBER.search(before) or not all(map(_is_number, found)):
        return None
    numbers = [int(number) for number in found]
    return np.array(numbers) if _first(numbers) is not None and numbers != sorted(numbers) else None


def counted_from(numbers: Array, labels: Iterable[Array]) -> Array:
    """Count the numbers of classes from 0 or 1 as labels do.

    Numbers that do not run from 0 or 1, or that are in their order, stay as they are.

    Examples
    --------
    >>> counted_from(np.array([2, 1]), [np.array([0, 1, 1])]).tolist()
    [1, 0]
    """
    first, parts = _first(numbers.tolist()), [*labels]
    if first is None or bool((np.diff(numbers) > 0).all()):
        return numbers
    lowest = min(float(values.min()) for values in parts)
    highest = max(float(values.max()) for values in parts)
    if first == 1 and lowest == 0 and highest < len(numbers):
        return numbers - 1
    if first == 0 and lowest >= 1 and highest == len(numbers):
        return numbers + 1
    return numbers


def as_places(
    sets: Sequence[tuple[Array, Array, Array]], *, listed: bool
) -> tuple[bool, tuple[str, ...]]:
    """Tell labels that are the places of the columns, not the numbers these are called by.

    Parameters
    ----------
    sets : sequence of (table, labels, places)
        Of each set the values, the labels, and the columns that are called by them.
    listed : bool
        The names stand in a list of their own: the labels are places, unless the values are clearly
        higher where the names say.

    Returns
    -------
    bool
        Whether they are places: their values are the higher ones in clearly more rows.
    tuple of str
        What is to be said of it, or may be doubted.
    """
    width = {table.shape[1] if table.ndim == 2 else 0 for table, _, _ in sets}.pop()
    lowest = min(float(labels.min()) for _, labels, _ in sets)
    highest = max(float(labels.max()) for _, labels, _ in sets)
    first = int(lowest >= 1 and highest == width)
    most = max(int(called.max()) for _, _, called in sets)
    if lowest < first or highest >= width + first or most >= width:
        return False, ()
    numbers = places = differ = 0
    for table, labels, called in sets:
        placed = labels - first
        rows = np.flatnonzero(placed != called)
        by_number, by_place = table[rows, called[rows]], table[rows, placed[rows].astype(np.intp)]
        numbers += int(np.count_nonzero(by_number > by_place))
        places += int(np.count_nonzero(by_place > by_number))
        differ += len(rows)
    clear = _CLEAR * (places + numbers) ** 0.5
    if listed:
        return numbers - places <= clear, ()
    if places - numbers > clear:
        said = (
            "Labels were read as places of the class columns, not as the numbers that these are"
            f" named by: the values are higher there in {places:,} of {differ:,} rows that differ."
        )
        return True, (said,)
    if not differ or numbers - places > clear:
        return False, ()
    said = (
        "Labels were read as the numbers that the class columns are named by; they may be places"
        f" of the columns, which would differ in {differ:,} rows: the values do not clearly tell."
    )
    return False, (said,)


def _shared(names: Sequence[str]) -> str:
    """Give the beginning that all names share."""
    first, last = min(names), max(names)
    parts = (k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(parts, min(len(first), len(last)))]


def _first(numbers: Sequence[float]) -> int | None:
    """Give where numbers begin that run from 0 or 1."""
    runs = (first for first in (0, 1) if sorted(numbers) == [*range(first, first + len(numbers))])
    return next(runs, None)


def _is_number(text: str) -> bool:
    return 0 < len(text) <= 6 and text.isascii() and text.isdigit()
