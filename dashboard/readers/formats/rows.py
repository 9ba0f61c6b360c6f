"""Rows of a table that hold nothing, as spreadsheet programs leave below one."""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.table import Column, Odd, Table, table_at

_UNNAMED = re.compile(r"(?:column [0-9]+)?", re.ASCII)


def without_blank_rows(table: Table) -> Table:
    """Return a text or a sheet without rows, and unnamed columns, that are blank.

    Examples
    --------
    >>> column = Column("a", np.array([0, 1], dtype=np.int32), ("x", ""))
    >>> table = without_blank_rows(Table((column,), 2))
    >>> table.n_rows, table.columns[0].texts, table.among.tolist()
    (1, ('x',), [True, False])
    """
    columns = [c for c in table.columns if c.texts != ("",) or not _UNNAMED.fullmatch(c.name)]
    table = replace(table, columns=tuple(columns))
    blank: NDArray[np.bool_] = np.ones(table.n_rows, dtype=np.bool_)
    for column in columns:
        blank &= _blank(column, table.n_rows)
        if not blank.any():
            return table
    kept = table_at(table, np.flatnonzero(~blank))
    return replace(kept, columns=tuple(map(_used, kept.columns)), shown=table.shown)


def _blank(column: Column, n_rows: int) -> NDArray[np.bool_]:
    """Mark the rows of a column without anything."""
    marks = np.zeros(n_rows, dtype=np.bool_)
    if column.texts is not None and "" in column.texts:
        return np.asarray(column.values == column.texts.index(""))
    if column.odd is not None and "" in column.odd.texts:
        marks[column.odd.rows[column.odd.codes == column.odd.texts.index("")]] = True
    return marks


def _used(column: Column) -> Column:
    """Drop the texts of no row."""
    if column.texts is not None:
        texts, codes = np.unique(column.values, return_inverse=True)
        names = tuple(column.texts[code] for code in texts)
        return replace(column, values=codes.astype(np.int32), texts=names)
    odd = column.odd
    if odd is not None:
        texts, codes = np.unique(odd.codes, return_inverse=True)
        names = tuple(odd.texts[code] for code in texts)
        odd = Odd(odd.rows, codes.astype(np.int32), names) if len(codes) else None
    return replace(column, odd=odd)
