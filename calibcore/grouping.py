"""Groups of rows by name: the values of a column, or ranges of its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.validation import Floats, Labels

UNKNOWN = -1
"""Number of a group that is none of those that have a name."""


@dataclass(frozen=True)
class Grouping:
    """How the values of a column become the numbers of groups, in any table.

    Numbers and texts that are the same number are one group: 3, 3.0 and "3". A missing value, NaN
    and "" are blank.

    >>> wards = Grouping.of(["surgery", "cardiology", "surgery"])
    >>> wards.names, wards.numbers(["surgery", "dermatology"]).tolist()
    (('cardiology', 'surgery'), [1, -1])
    >>> Grouping(("below 40", "40 and more"), "age", (40.0,)).numbers([39, 40, 81]).tolist()
    [0, 1, 1]
    """

    names: tuple[str, ...]
    """Of the groups, all different, in the order of their numbers; "" is that of blank cells."""
    column: str = ""
    """Name of the column; "" where it has none."""
    cuts: tuple[float, ...] | None = None
    """Of numbers that are grouped by ranges, the least number of each range but the first,
    ascending. None where each value is a group.
    """

    @classmethod
    def of(cls, values: object) -> "Grouping":
        """Name the groups of rows: numbers ascending, texts in alphabetical order.

        ``values``: numbers or names; a column of a data frame has a name of its own; shape
        (n_samples,).

        Raises `CalibrationInputError` for values that are not of one dimension.
        """
        name = getattr(values, "name", None)
        return cls(tuple(_different(_column(values))[0]), name if isinstance(name, str) else "")

    def numbers(self, values: object) -> Labels:
        """Return the group of each row.

        ``values``: of the column, in this table or another one; shape (n_samples,).

        Place of each group's name; `UNKNOWN` where there is none; shape (n_samples,).

        Raises `CalibrationInputError` for values that are not of one dimension.
        """
        known = {name: k for k, name in enumerate(self.names)}
        array = _column(values)
        if self.cuts is not None:
            numbers = _as_numbers(array)
            ranges = np.searchsorted(self.cuts, numbers, side="right")
            return np.where(np.isnan(numbers), known.get("", UNKNOWN), ranges).astype(np.int64)
        texts, place = _different(array)
        by_number: dict[float | None, int] = {
            at: k for name, k in known.items() if (at := number(name)) is not None
        }
        places = [known.get(text, by_number.get(number(text), UNKNOWN)) for text in texts]
        return np.array(places, dtype=np.int64)[place]


def groupings_of(values: object) -> tuple[Grouping, ...]:
    """Name the groups of rows in one column, or in each column of a table.

    ``values``: as for `Grouping.of`; or several columns, shape (n_samples, n_columns).

    >>> [one.names for one in groupings_of([["B", 1], ["A", 2], ["B", 2]])]
    [('A', 'B'), ('1', '2')]
    """
    return tuple(Grouping.of(column) for column in _columns(values))


def numbers_of(groupings: Sequence[Grouping], values: object) -> Labels:
    """Return the group of each row in each column: shape (n_samples,), or of several a table.

    ``groupings``: of the columns. ``values``: the columns, in this order; those of a data frame go
    by their names, whatever others it has.

    Raises `CalibrationInputError` for another number of columns.

    >>> known = Grouping(("A", "B"), "ward"), Grouping(("up to 39", "40 and more"), "age", (40.0,))
    >>> numbers_of(known, [["B", 51], ["C", 12]]).tolist()
    [[1, 1], [-1, 0]]
    """
    columns = _columns(values, [one.column for one in groupings])
    if len(columns) != len(groupings):
        names = ", ".join(one.column for one in groupings if one.column)
        wanted = f"{len(groupings)}{f': {names}' if names else ''}"
        raise CalibrationInputError("groups", f"{len(columns)} columns", wanted)
    numbers = [one.numbers(column) for one, column in zip(groupings, columns, strict=True)]
    return numbers[0] if len(numbers) == 1 else np.stack(numbers, axis=1)


def number(text: str) -> float | None:
    """Return the finite number that a text is, if it is one.

    >>> number("3"), number("ward"), number("nan")
    (3.0, None, None)
    """
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _columns(values: object, names: Sequence[str] = ()) -> list[Any]:
    """Return one column, or the columns of a table; of a data frame those that are named."""
    frame: Any = values
    if hasattr(frame, "columns") and hasattr(frame, "to_numpy"):
        there = [str(name) for name in frame.columns]
        chosen = names if names and {*names} <= {*there} else there
        return [frame[frame.columns[there.index(name)]] for name in chosen]
    array = validation.array_of(values, "groups")
    several = array.ndim == 2 and array.shape[1] > 1
    return [*array.T] if several else [values]


def _column(values: object) -> NDArray[Any]:
    array = validation.array_of(values, "groups")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise CalibrationInputError("groups", f"an array of shape {array.shape}", "one per row")
    return array


def _as_numbers(array: NDArray[Any]) -> Floats:
    """Return the numbers of a column; NaN of cells that are none."""
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    texts, place = _different(array)
    values = [number(text) for text in texts]
    return np.array([np.nan if one is None else one for one in values])[place]


def _different(array: NDArray[Any]) -> tuple[Sequence[str], NDArray[np.intp]]:
    """Return the different values in their order as texts, and the place of each row's among them.

    Numbers stay apart to the last digit, and are written without a fraction that they lack.
    """
    if array.dtype.kind in "biuf":
        different, place = np.unique(array, return_inverse=True)
        return [_written(value) for value in different.tolist()], place
    places: dict[str, int] = {}
    codes = [places.setdefault(_text(value), len(places)) for value in array.tolist()]
    texts = sorted(places)
    order = np.empty(len(texts), dtype=np.intp)
    order[[places[text] for text in texts]] = np.arange(len(texts))
    return texts, order[codes]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return _written(value)
    written = "" if value is None else str(value)
    return "" if written in {"<NA>", "NaT"} else written  # what pandas calls missing


def _written(value: float) -> str:
    if np.isnan(value):
        return ""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(value)
