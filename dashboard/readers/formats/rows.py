"""Rows of a table that hold nothing, as spreadsheet programs leave below one."""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.table import Column, Odd

_UNNAMED = re.compile(r"(?:column [0-9]+)?", re.ASCII)


def without_blank_rows(
    columns: tuple[Column, ...], n_rows: int, among: NDArray[np.bool_] | None
) -> tuple[tuple[Column, ...], int, NDArray[np.bool_] | None]:
    """Return the columns without rows and unnamed columns that are blank, and which are left.

    Parameters
    ----------
    columns : tuple of Column
        Of a text or a sheet.
    n_rows : int
        How many rows they have.
    among : ndarray of bool, optional
        Which rows of the file they are.

    Examples
    --------
    >>> column = Column("a", np.array([0, 1], dtype=np.int32), ("x", ""))
    >>> columns, n_rows, among = without_blank_rows((column,), 2, None)
    >>> n_rows, columns[0].texts, among.tolist()
    (1, ('x',), [True, False])
    """
    columns = tuple(c for c in columns if c.texts != ("",) or not _UNNAMED.fullmatch(c.name))
    blank: NDArray[np.bool_] = np.ones(n_rows, dtype=np.bool_)
    for column in columns:
        blank &= _blank(column, n_rows)
        if not blank.any():
            return columns, n_rows, among
    kept = ~blank
    columns = tuple(_rows(column, kept) for column in columns)
    if among is None:
        return columns, int(kept.sum()), kept
    marks = among.copy()
    marks[among] = kept
    return columns, int(kept.sum()), marks


def _blank(column: Column, n_rows: int) -> NDArray[np.bool_]:
    """Mark the rows of a column without anything."""
    marks = np.zeros(n_rows, dtype=np.bool_)
    if column.texts is not None and "" in column.texts:
        return np.asarray(column.values == column.texts.index(""))
    if column.odd is not None and "" in column.odd.texts:
        marks[column.odd.rows[column.odd.codes == column.odd.texts.index("")]] = True
    return marks


def _rows(column: Column, kept: NDArray[np.bool_]) -> Column:
    """Keep some rows of a column."""
    if column.unread:
        return column
    if column.texts is not None:
        codes, texts = _left(column.values[kept], column.texts)
        return replace(column, values=codes, texts=texts)
    odd = column.odd
    if odd is not None:
        stays = kept[odd.rows]
        rows = (np.cumsum(kept) - 1)[odd.rows[stays]]
        odd = Odd(rows, *_left(odd.codes[stays], odd.texts)) if len(rows) else None
    return replace(column, values=column.values[kept], odd=odd)


def _left(
    codes: NDArray[np.int32], texts: tuple[str, ...]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Drop the texts of no row."""
    used, places = np.unique(codes, return_inverse=True)
    return places.astype(np.int32), tuple(texts[code] for code in used)
