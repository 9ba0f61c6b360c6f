"""Rows of a table that hold nothing, or totals of the others, as stand below one."""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.formats.cells import MISSING
from dashboard.readers.refusal import quoted
from dashboard.readers.table import Column, Odd, Table, cell_of, table_at

_UNNAMED = re.compile(r"(?:column [0-9]+)?", re.ASCII)
_TOTALS = re.compile(
    r"(?:grand |sub-?)?(?:totals?|sums?|means?|averages?|avg|overall|counts?|median|std|min|max|all"
    r"|gesamt(?:summe)?|insgesamt|summe|mittelwert|durchschnitt|anzahl|somme|moyenne|effectif|suma"
    r"|promedio|media|m[eé]dia|totale|somma|totaal|gemiddelde|soma|\u03a3|\u2211|\u00f8)"
    r"(?: g[eé]n[eé]ral| generale?| geral| of .*|[ :=(]+n?[ =]*[\d.,]+ *%?\)?)?[ :.]*"
    r"|n *[=:] *[\d.,]+|\(?[\d.,]+ (?:rows?|records?)\b.*",
    re.IGNORECASE,
)
"""What the rows below a table say of themselves, in the languages of the word lists."""
_MOST_TOTALS = 8


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


def without_totals(table: Table) -> Table:
    """Return a table without the rows at its end that are about all others, and say so.

    Examples
    --------
    >>> ids = Column("id", np.array([0, 1, 2], dtype=np.int32), ("a", "b", "Total"))
    >>> table = without_totals(Table((ids, Column("y", np.array([0, 1, 113]))), 3))
    >>> table.n_rows, table.repairs
    (2, ('1 row below the data left out: "Total".',))
    """
    sheets = [c for c in table.columns[-1:] if c.name.endswith("sheet") and c.texts is not None]
    ends = [*np.flatnonzero(np.diff(sheets[0].values)).tolist()] if sheets else []
    found: dict[int, str] = {}
    for end in (*ends, table.n_rows - 1):
        for row in range(end, max(end - _MOST_TOTALS, 0), -1):
            text = _total_in(table, row, 1 + len(ends))
            if not text:
                break
            found[row] = text
    if not found:
        return table
    chosen = np.ones(table.n_rows, dtype=np.bool_)
    chosen[[*found]] = False
    kept = table_at(table, np.flatnonzero(chosen))
    shown = tuple(cells for row, cells in enumerate(table.shown) if row not in found)
    listed = ", ".join(map(quoted, dict.fromkeys(reversed(found.values()))))
    said = f"{len(found)} row{'s' * (len(found) > 1)} below the data left out: {listed}."
    return replace(
        kept, columns=tuple(map(_used, kept.columns)), shown=shown, repairs=(*table.repairs, said)
    )


def _total_in(table: Table, row: int, most: int) -> str:
    """Return the cell that says of a row that it is about the others, "" where none does.

    A word that stands in more rows than `most` is a category, such as "all" or "media".
    """
    first = True
    for column in table.columns:
        text = cell_of(column, row).strip()
        if text.lower() in MISSING:
            continue
        names_rows = first or column.texts is None or 2 * len(column.texts) > table.n_rows
        if names_rows and _TOTALS.fullmatch(text):
            alike = column.texts is not None and np.sum(column.values == column.values[row]) > most
            return "" if alike else text
        first = False
    return ""
