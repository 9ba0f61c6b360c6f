"""Rows of a table that hold nothing, or totals of the others, as stand below one."""

import re
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.formats.cells import MISSING
from dashboard.readers.records import Column, FileTable, Odd, cell_of, table_at
from dashboard.readers.refusal import quoted

_UNNAMED = re.compile(r"(?:column [0-9]+)?", re.ASCII)
_WORDS = (
    r"(?:grand |sub-?)?(?:totals?|sums?|means?|averages?|avg|overall|counts?|median|std|min|max|all"
    r"|gesamt(?:summe)?|insgesamt|summe|mittelwert|durchschnitt|anzahl|somme|moyenne|effectif|suma"
    r"|promedio|media|m[eé]dia|totale|somma|totaal|gemiddelde|soma|\u03a3|\u2211|\u00f8|合計|総計"
    r"|小計|平均値?|总计|合计|小计|平均值?|총계|합계|소계|평균|итого?|всего|сумма|среднее?|toplam|ortalama|genel"
    r"|medelv[aä]rde|summa|snitt|gjennomsnitt|gennemsnit|sum|yhteens[aä]|keskiarvo|razem|[sś]rednia"
    r"|ogó[lł]em|celkem|pr[uů]m[eě]r|[oö]sszesen|[aá]tlag|разом|المجموع|المتوسط|סה\"כ|ממוצע)"
)
_TOTALS = re.compile(
    _WORDS
    + r"(?: g[eé]n[eé]ral| generale?| geral| toplam| of .*|[ :=(]+n?[ =]*[\d.,]+ *%?\)?)?[ :.]*"
    r"|n *[=:] *[\d.,]+|\(?[\d.,]+ (?:rows?|records?)\b.*",
    re.IGNORECASE,
)
"""What the rows below a table say of themselves, in the languages of the word lists and others."""

_NUMBERED, _STARRED = (
    re.compile(r"([0-9]+):(.+)"),
    re.compile(r"\*?[0-9]*\.?[0-9]+(?:[eE]-?[0-9]+)?"),
)
_ONE_WORD = re.compile(_WORDS, re.IGNORECASE)
_MOST_TOTALS, _MOST_TEXTS, _MOST_ABOUT, _FEWEST = 8, 20_000, 200, 10


def without_blank_rows(table: FileTable) -> FileTable:
    """Return a text or a sheet without rows, and unnamed columns, that are blank.

    >>> column = Column("a", np.array([0, 1], dtype=np.int32), ("x", ""))
    >>> table = without_blank_rows(FileTable((column,), 2))
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
    filled = table_at(table, np.flatnonzero(~blank))
    return replace(filled, columns=tuple(map(_used, filled.columns)), shown=table.shown)


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


def without_totals(table: FileTable) -> FileTable:
    """Return a table without the rows at its end that are about all others, and say so.

    A last row without a word is one if its numbers, none of which stands above it, are all sums or
    means, and one is above all others or a fraction below whole numbers.

    >>> ids = Column("id", np.array([0, 1, 2], dtype=np.int32), ("a", "b", "Total"))
    >>> table = without_totals(FileTable((ids, Column("y", np.array([0, 1, 113]))), 3))
    >>> table.n_rows, table.repairs
    (2, ('1 row below the data left out: "Total".',))
    """
    sheets = table.sheets
    ends = [] if sheets is None else np.flatnonzero(np.diff(sheets.values)).tolist()
    texts: dict[int, str] = {}
    for end in (*ends, table.n_rows - 1):
        for row in range(end, max(end - _MOST_TOTALS, 0), -1):
            text = _total_in(table, row, 1 + len(ends))
            if not text:
                break
            texts[row] = quoted(text)
    texts |= {row: quoted(text) for row, text in _among(table, texts).items()}
    for start, end in pairwise((-1, *ends, table.n_rows - 1)):
        numbers = "" if end in texts else _unlabelled(table, end, np.arange(start + 1, end))
        texts |= {end: f"{quoted(numbers)}, sums or means of the rows above"} if numbers else {}
    if not texts:
        return table
    chosen = np.ones(table.n_rows, dtype=np.bool_)
    chosen[[*texts]] = False
    rest = table_at(table, np.flatnonzero(chosen))
    shown = tuple(cells for row, cells in enumerate(table.shown) if row not in texts)
    listed = ", ".join(dict.fromkeys(texts[row] for row in sorted(texts)))
    where = "below" if table.n_rows - min(texts) <= _MOST_TOTALS else "among"
    repair = f"{len(texts)} row{'s' * (len(texts) > 1)} {where} the data left out: {listed}."
    return replace(
        rest, columns=tuple(map(_used, rest.columns)), shown=shown, repairs=(*table.repairs, repair)
    )


def _total_in(table: FileTable, row: int, most: int) -> str:
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


def _among(table: FileTable, known: Collection[int]) -> dict[int, str]:
    """Return rows anywhere that say so, of a part that stands beside, or by their numbers.

    These are then all sums or means of rows above.
    """
    words: dict[int, str] = {}
    parts: dict[int, str] = {}
    for column in table.columns:
        texts, codes, rows = column.texts or (), column.values, np.arange(table.n_rows)
        if column.odd is not None:
            texts, codes, rows = column.odd.texts, column.odd.codes, column.odd.rows
        if not 0 < len(texts) <= _MOST_TEXTS or codes.ndim > 1:
            continue
        about = [k for k, text in enumerate(texts) if _is_about(text)]
        for place in np.flatnonzero(np.isin(codes, about))[:_MOST_ABOUT].tolist():
            words.setdefault(int(rows[place]), texts[codes[place]].strip())
        if not about:
            continue
        once = np.flatnonzero(np.bincount(codes, minlength=len(texts)) == 1)
        whole = {text.strip().lower() for text in texts}
        of_parts = [k for k in {*about} & {*once.tolist()} if _part_of(texts[k]) in whole]
        for place in np.flatnonzero(np.isin(codes, of_parts))[:_MOST_ABOUT].tolist():
            parts[int(rows[place])] = texts[codes[place]].strip()
    data = np.ones(table.n_rows, dtype=np.bool_)
    data[[*words, *known]] = False
    totals, starts = dict[int, str](), [0]
    for row in sorted({*words, *known}):
        blocks = [np.arange(first, row)[data[first:row]] for first in {0, *starts[-2:]}]
        if row in words and any(_sums_up(table, row, b) for b in (*blocks, np.flatnonzero(data))):
            totals[row] = words[row]
        if data[row - 1 : row].any():
            starts.append(row + 1)
    return totals | parts


def _part_of(text: str) -> str:
    """Return what "Subtotal North" and "North total" are of, in small letters."""
    words = [word.strip(":.,()") for word in text.lower().split()]
    return " ".join(word for word in words if not _ONE_WORD.fullmatch(word))


def _is_about(text: str) -> bool:
    """Return whether a text begins or ends as "Average North" and "North total" do."""
    words = [word.strip(":.,()") for word in text.split()]
    return any(_ONE_WORD.fullmatch(word) for word in (*words[:1], *words[-1:]))


def _sums_up(table: FileTable, row: int, rows: NDArray[np.intp]) -> bool:
    """Return whether all numbers of a row are sums or means of some other rows, as rounded."""
    alike = []
    for column in table.columns:
        if column.unread or column.texts is not None or column.values.ndim > 1:
            continue
        value, others = float(column.values[row]), column.values[rows].astype(np.float64)
        others = others[np.isfinite(others)]
        if np.isfinite(value) and len(others) and np.ptp(others):
            alike.append(_equals(value, others))
    return bool(alike) and all(alike)


def _equals(value: float, others: NDArray[np.float64]) -> bool:
    """Return whether a number is the sum or the mean of others, as rounded."""
    slack = 0.51 * 0.1 ** len(f"{value:.6g}".partition(".")[2])
    wanted = np.array([others.sum(), others.mean()])
    return bool((np.abs(wanted - value) <= slack + 1e-5 * np.abs(wanted)).any())


def _unlabelled(table: FileTable, row: int, rows: NDArray[np.intp]) -> str:
    """Return the numbers of a row that are all sums or means of the rows above; "" of any other."""
    numbers = [c for c in table.columns if not c.unread and c.texts is None and c.values.ndim == 1]
    filled = [c for c in numbers if cell_of(c, row).strip().lower() not in MISSING]
    words = (c for c in table.columns if c.texts is not None and c is not table.sheets)
    if len(rows) < _FEWEST or any(cell_of(c, row).lower() not in MISSING for c in words):
        return ""
    surely = False
    for column in filled:
        value, others = float(column.values[row]), column.values[rows].astype(np.float64)
        others = others[np.isfinite(others)]
        if not len(others) or value in others or not _equals(value, others):
            return ""
        # Of scores alone, one may be their mean by chance.
        surely |= value > others.max() or (value % 1 > 0 and not (others % 1).any())
    return ", ".join(cell_of(column, row) for column in filled) if surely else ""


def of_weka(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Read the columns of classes in which Weka marks the predicted one with a star."""
    names = [column.name.lower() for column in columns]
    first = names.index("distribution") if "distribution" in names else len(columns)
    starred = [text for column in columns[first:] for text in column.texts or ()]
    if not all(map(_STARRED.fullmatch, starred)) or "*" not in "".join(starred):
        return columns
    plain_columns, known = list(columns), dict[str, str]()
    for place, column in enumerate(columns):
        texts = column.texts or ()
        parts = [part for part in map(_NUMBERED.fullmatch, texts) if part]
        if place >= first:
            name = f"prob_{known.get(str(place - first + 1), place - first + 1)}"
            numbers = np.array([float(text.lstrip("*")) for text in texts])
            values = numbers[column.values] if texts else column.values
            plain_columns[place] = replace(column, name=name, values=values, texts=None)
        elif parts and len(parts) == len(texts):
            known |= {part[1]: part[2] for part in parts}
            plain_columns[place] = replace(column, texts=tuple(part[2] for part in parts))
    return tuple(plain_columns)
