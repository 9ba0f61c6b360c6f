"""What is measured of the rows of a file's tables before they are taken for anything."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibcore.strips import NARROW, row_strips
from calibcore.validation import ROUNDING, SUM_TOLERANCE, Floats
from dashboard.readers.records import Array, RawSet, Role, rows_of_sets

_SURELY, _JUST_ABOVE_1 = 0.05, 1.01
"""How far below 0, or above it, a value may be by rounding alone."""

Marks = NDArray[np.bool_]
Test = Callable[[Array, Array, Floats], Marks]
"""Marks rows by their smallest value, their largest and their sum."""


@dataclass(frozen=True)
class ValueSummary:
    """What the rows of some sets are like, found while going over them once.

    ``low``, ``high`` and ``sums`` are over all values and rows; ``n_outside`` and ``n_below`` count
    rows with values outside 0 to 1, and below 0; ``one_value``: in every row all are equal.
    """

    sets: Mapping[Role, RawSet]
    low: float
    high: float
    sums: tuple[float, float]
    n_outside: int
    n_below: int
    one_value: bool

    @property
    def tables(self) -> tuple[Array, ...]:
        """The values of each set."""
        return tuple(np.asarray(raw.table) for raw in self.sets.values())

    @property
    def one_column(self) -> bool:
        """Recognise a single score a row."""
        return self.tables[0].ndim == 1 or self.tables[0].shape[1] == 1

    def __len__(self) -> int:
        """Count the rows."""
        return sum(map(len, self.tables))

    def off(self, divisor: float = 1.0) -> float:
        """Return how far the sum of a row is from 1 at most."""
        return max(abs(one / divisor - 1) for one in self.sums)

    def where(self, test: Test) -> "MarkedRows":
        """Mark rows."""
        return MarkedRows(
            self.sets,
            {
                role: np.concatenate([test(*row) for row in by_rows(np.asarray(raw.table))])
                for role, raw in self.sets.items()
            },
        )

    def sum_to_one(
        self, turned: Callable[[Array], Array], tolerance: float = SUM_TOLERANCE
    ) -> bool:
        """Return whether every row sums to 1 once its values are turned into something else."""
        for table in self.tables:
            for part in row_strips(*table.shape):
                with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                    sums = turned(table[part].astype(np.float64)).sum(axis=1)
                if not np.abs(sums - 1).max() <= tolerance:
                    return False
        return True


@dataclass(frozen=True)
class MarkedRows:
    """Rows of each set that are marked."""

    sets: Mapping[Role, RawSet]
    marks: Mapping[Role, Marks]

    @property
    def count(self) -> int:
        """How many they are."""
        return sum(int(np.count_nonzero(bad)) for bad in self.marks.values())

    def __str__(self) -> str:
        """Return which rows are marked."""
        return rows_of_sets(self.marks, self.sets)


def by_rows(table: Array) -> Iterator[tuple[Array, Array, Floats]]:
    """Return the smallest value, the largest and the sum of each row, some rows at a time."""
    columns = table[:, np.newaxis] if table.ndim == 1 else table
    for rows in row_strips(*columns.shape):
        block = columns[rows]
        if block.dtype == np.float16:
            # Of which NumPy finds the smallest value six times slower.
            block = block.astype(np.float32)
        axis = 1
        if block.shape[1] <= NARROW:
            block, axis = np.ascontiguousarray(block.T), 0
        with np.errstate(over="ignore", invalid="ignore"):
            yield block.min(axis), block.max(axis), block.sum(axis, dtype=np.float64)


def outside(lows: Array, highs: Array, _: Floats) -> Marks:
    """Mark rows with values outside 0 to 1."""
    return (lows < -ROUNDING) | (highs > 1 + SUM_TOLERANCE)


def measure(sets: Mapping[Role, RawSet]) -> ValueSummary:
    """Go over the rows once."""
    low, high, least, most = math.inf, -math.inf, math.inf, -math.inf
    n_outside, n_below, one_value = 0, 0, True
    for raw in sets.values():
        for lows, highs, sums in by_rows(np.asarray(raw.table)):
            low, high = min(low, float(lows.min())), max(high, float(highs.max()))
            least, most = min(least, float(sums.min())), max(most, float(sums.max()))
            n_outside += int(np.count_nonzero(outside(lows, highs, sums)))
            n_below += int(np.count_nonzero(lows < 0))
            one_value = one_value and np.array_equal(lows, highs)
    return ValueSummary(sets, low, high, (least, most), n_outside, n_below, one_value)


def together(parts: Sequence[ValueSummary]) -> ValueSummary:
    """Join what was measured of several sets."""
    if len(parts) == 1:
        return parts[0]
    return ValueSummary(
        {role: raw for part in parts for role, raw in part.sets.items()},
        min(part.low for part in parts),
        max(part.high for part in parts),
        (min(part.sums[0] for part in parts), max(part.sums[1] for part in parts)),
        sum(part.n_outside for part in parts),
        sum(part.n_below for part in parts),
        all(part.one_value for part in parts),
    )


def few_decimals(tables: Sequence[Array]) -> str:
    """Return, as the end of a clause, that values have few decimals; "" where they have many.

    Shares of votes have as few, such as those of 10, 100 or 500 trees.

    >>> few_decimals([np.array([0.123, 0.4]), np.array([0.0])])
    ', because the values of the file are rounded to 3 decimals'
    >>> few_decimals([np.array([0.1, 0.4])]), few_decimals([np.array([1 / 3])])
    (', where the values of the file have 1 decimal (rounded, or shares of votes)', '')
    """
    places, step, top = 0, 0, 0.0
    for table in tables:
        for rows in row_strips(len(table), table.size // len(table)):
            block = table[rows].astype(np.float64)
            top = max(top, float(block.max()))
            if block.min() < 0 or 1 < top < _JUST_ABOVE_1:
                return ""  # what is set to an end of the scale, not rounding, makes its zeros
            slack = (1e-9 if table.dtype.itemsize == 8 else 1e-7) * max(1.0, top)
            while np.abs(block - np.round(block, places)).max() > slack:
                places, step = places + 1, 10 * step
                if slack * 10**places > _SURELY:
                    return ""
            whole = np.rint(block * 10**places).astype(np.int64)
            step = int(np.gcd.reduce(whole, axis=None, initial=step))
    decimals = f"{places or 'no'} decimal{'' if places == 1 else 's'}"
    if places > 2 and step == 1:
        return f", because the values of the file are rounded to {decimals}"
    votes = f", where the values of the file have {decimals} (rounded, or shares of votes)"
    return votes if step < top * 10**places else ""
