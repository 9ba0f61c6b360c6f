"""What a format hands over, and what its columns are taken for: the nouns of reading.

bytes -> formats (in the worker) -> `Table` | `Arrays` -> recognition -> `Reading` -> `Upload`
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

_DIGITS = re.compile(r"(\d*)(\D*)")

ColumnRole = Literal[
    "outcome",
    "score",
    "class",
    "prediction",
    "correct",
    "ranked class",
    "ranked score",
    "id",
    "set",
    "group",
    "date",
    "left out",
]
"""What a column is for.

``outcome`` is the true class, ``score`` the one score of the event (or of the prediction, beside
``prediction`` or ``correct``), ``class`` the value of one class, ``correct`` whether the prediction
was right, ``ranked class`` and ``ranked score`` the k most probable classes and their values in the
order of the columns, ``set`` calibration or test, ``group`` a column to filter and to group by, and
``date`` one of which the month is such a group.
"""

ROLES: tuple[ColumnRole, ...] = get_args(ColumnRole)


@dataclass(frozen=True, eq=False)
class Odd:
    """Cells of a column of numbers that are no numbers."""

    rows: NDArray[np.int64]  # counted from 0, ascending
    codes: NDArray[np.int32]  # the text of each by its place among the texts
    texts: tuple[str, ...]  # the different ones, "" for a blank cell


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table, or an array of an archive.

    Numbers are bool, int, uint or float, in the type of the file, of any float16 to float64, NaN
    where a cell is odd; of text, ``values`` has the place of each in ``texts``, as int32. A second
    axis holds the items of a list in each cell. Dates are texts in ISO 8601.
    """

    name: str  # as the file has it, "" where it has none; parts of nested names joined by dots
    values: NDArray[Any]
    texts: tuple[str, ...] | None = None  # the different ones by their first rows, "" for a blank
    odd: Odd | None = None  # cells that are no numbers, where most are
    percents: int = 0  # cells with a percent sign, which is dropped without dividing the number
    commas: int = 0  # cells with a decimal comma
    unread: str = ""  # why the column was not kept, such as "objects"; its values are then empty

    @property
    def is_text(self) -> bool:
        """Whether the column holds texts."""
        return self.texts is not None


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length, as a text, a sheet, a Parquet file or JSON records hold them.

    The file itself would number the first row ``first_row``: of text and sheets it is the line from
    the top of the file, else 1. Numbered so too are the rows of ``cut``, which have too few cells
    or too many. ``among``: which of the file's rows these are, where some were passed over.
    """

    columns: tuple[Column, ...]  # of one length, but for those that were not kept
    n_rows: int
    first_row: int = 1
    among: NDArray[np.bool_] | None = None
    cut: NDArray[np.int64] | None = None
    named: bool = True  # by the file; else they are called "column 1", "column 2", ...
    shown: tuple[tuple[str, ...], ...] = ()  # at most ten first rows, cells as the file has them
    found: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Arrays:
    """Arrays of any lengths, as npz, safetensors, PyTorch, pickles and JSON objects hold them.

    A bare array has no name, parts of a nested tuple are called "0.0", "0.1", "1.0", "1.1", and
    parts of a dictionary "calibration.logits".
    """

    arrays: tuple[Column, ...]
    found: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


Parsed = Table | Arrays


@dataclass(frozen=True)
class Reading:
    """What the columns of a table were taken for."""

    roles: tuple[ColumnRole, ...]  # one a column
    reasons: tuple[str, ...]  # one short phrase a column; "" where the user said so
    class_names: tuple[str, ...] = ()  # headings of classes without what all of them share
    event: str | None = None  # the value of the outcome that the score is of, where it is known
    found: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def cell_of(column: Column, row: int) -> str:
    """Return a cell as the file has it, a number with six digits.

    Examples
    --------
    >>> cell_of(Column("risk", np.array([12.5]), commas=1, percents=1), 0)
    '12,5%'
    """
    if column.unread:
        return ""
    odd = column.odd
    if odd is not None and row in odd.rows:
        return odd.texts[int(odd.codes[np.searchsorted(odd.rows, row)])]
    value = column.values[row]
    if column.texts is not None and value.ndim == 0:
        return column.texts[int(value)]
    if value.dtype.kind != "f" or value.ndim:
        return str(value)
    number = f"{value:.6g}%" if column.percents else f"{value:.6g}"
    return number.replace(".", ",") if column.commas else number


def rows_at(column: Column, places: NDArray[np.intp]) -> Column:
    """Return the cells at some different places, in their order."""
    if column.unread:
        return column
    odd = column.odd
    if odd is not None:
        new = np.full(len(column.values), -1)
        new[places] = np.arange(len(places))
        rows = new[odd.rows]
        by_row = np.argsort(rows)[int(np.count_nonzero(rows < 0)) :]
        odd = Odd(rows[by_row].astype(np.int64), odd.codes[by_row], odd.texts)
    return replace(column, values=column.values[places], odd=odd)


def table_at(table: Table, places: NDArray[np.intp]) -> Table:
    """Return the rows at some different places, in their order."""
    among = table.among
    if len(places) < table.n_rows:
        kept = np.zeros(table.n_rows, np.bool_)
        kept[places] = True
        if among is None:
            among = kept
        else:
            among = among.copy()
            among[table.among] = kept
    columns = tuple(rows_at(column, places) for column in table.columns)
    return replace(table, columns=columns, n_rows=len(places), among=among, shown=())


def by_number(text: str) -> tuple[bool, bool, list[tuple[float, str]]]:
    """Return a key that sorts texts by their numbers, words by letters, the blank one last.

    Examples
    --------
    >>> sorted(["60+", "<18", "", "100+", "ward B", "18-59", "ward A"], key=by_number)
    ['<18', '18-59', '60+', '100+', 'ward A', 'ward B', '']
    """
    parts = [(float(digits or "inf"), rest) for digits, rest in _DIGITS.findall(text)]
    return not text, text[:1] not in {"<", "≤"}, parts
