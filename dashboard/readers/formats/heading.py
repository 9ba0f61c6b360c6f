"""Where a table begins, below titles, and whether its first row names the columns."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dashboard.readers.formats.cells import MISSING
from dashboard.readers.limits import MAX_COLUMNS
from dashboard.readers.records import FileSentences
from dashboard.readers.refusal import FileError, quoted

SAMPLE = 60
"""Rows that are looked at, the first that are not blank."""

_MAX_TITLES = 10
_NUMBER = re.compile(
    r"[+\-\u2212]?(?:[0-9][0-9.,' ]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?\s*%?|[+-]?(?:inf|infinity)",
    re.ASCII | re.IGNORECASE,
)
_OF_LABELS = re.compile(r"label|target|outcome|class|truth|\Ay(_true)?\Z", re.I)
_REMARK = re.compile(r"\s*(?:#|sep=.?$)", re.ASCII | re.IGNORECASE)

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Heading(FileSentences):
    """What stands above the rows of a table."""

    names: tuple[str, ...]  # of the columns, all different; "" at most once
    named: bool  # whether the file names them
    start: int  # how many of the rows are no data: titles, blank ones, and the heading


def first_rows(rows: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Return the rows to look at: as many as `SAMPLE` that are not blank, and the blank ones."""
    left = SAMPLE
    for row in rows:
        yield row
        left -= bool(_filled(row))
        if not left:
            return


def heading_of(rows: Rows, *, header: bool | None) -> Heading:
    """Find the heading in the first rows of a text or a sheet, which the user may deny or assert.

    >>> rows = [["Export of May"], [], ["risk", "sex"], ["0.5", "m"], ["0.7", "f"]]
    >>> heading = heading_of(rows, header=None)
    >>> heading.names, heading.start
    (('risk', 'sex'), 3)
    """
    if any(len(row) > 1 and {*map(str.strip, row)} <= {"..", "...", "\u2026"} for row in rows):
        text = "dots that stand for rows, as in a table that is printed in short"
        raise FileError("file", text, "all rows, as df.to_csv() writes them")
    top = _top(rows)
    above = sum(1 for row in rows[:top] if _filled(row))
    lines = [f"Lines above the table were passed over: {above}."] if above else []
    first = _without_mark(list(rows[top]))
    below = [row for row in rows[top + 1 :] if _filled(row)]
    if len(first) > MAX_COLUMNS:
        raise FileError(f"row {top + 1}", f"{len(first):,} columns", f"at most {MAX_COLUMNS:,}")
    counted = header is None and _counts(first, *below[:1])
    # Numbers out of order are the names of classes.
    named = _is_header(first, below) or _counts(*map(_by_size, (first, *below[:1])))
    has = counted or (named if header is None else header)
    if has and not below:
        raise FileError("file", "a heading and no rows below it", "at least one row of data")
    if not has or counted:
        what = "only counts the columns" if counted else "holds values, not names of columns"
        lines += [f"The first row {what}."] if header is None else []
        width = max(Counter(map(len, below or [first])).most_common(1)[0][0], len(first))
        return Heading(unnamed(width), named=False, start=top + has, notes=tuple(lines))
    names = [cell.strip() for cell in first]
    more = [] if header else _further(rows[top + 1 :])
    if more:
        lines.append(f"The heading is of {1 + len(more)} rows.")
        filled = [name for name in names if name]
        if len({*filled}) < len(filled):  # what several columns share stands above their names
            cells = zip(names, (cell.strip() for cell in more[0]), strict=False)
            names = [".".join(filter(None, dict.fromkeys(pair))) for pair in cells]
    unique, repairs = _different(_with_row_names(names, below[len(more) :]))
    start = top + 1 + len(more)
    return Heading(unique, named=True, start=start, notes=tuple(lines), repairs=repairs)


def _further(rows: Rows) -> Rows:
    """Return at most two more rows of a heading: no numbers, words above columns of numbers.

    So pandas writes columns of two levels, and Orange the types of columns.
    """
    for n_rows in (2, 1):
        more, below = rows[:n_rows], [row for row in rows[n_rows:] if _filled(row)]
        columns = [c for c in range(len(rows[0]) if rows else 0) if (own := _column(below, c))
                   and len(own) > 1 and all(map(is_number, own))]  # fmt: skip
        words = [c for c in columns if len(more[0]) > c and _says([more[0][c]])]
        if len(words) > 1 and all(map(_is_words, more)) and all(map(_filled, more)):
            return more
    return []


def unnamed(n_columns: int) -> tuple[str, ...]:
    """Return what columns without names are called."""
    return tuple(f"column {k + 1}" for k in range(n_columns))


def is_number(cell: str) -> bool:
    """Recognise a text that is written as a number, with whatever marks.

    >>> is_number("1.234,5"), is_number("12%"), is_number("a1")
    (True, True, False)
    """
    return len(cell) < 100 and _NUMBER.fullmatch(cell.strip()) is not None


def _filled(row: Sequence[str]) -> int:
    """Count the cells that are not blank."""
    return sum(bool(cell.strip()) for cell in row)


def _top(rows: Rows) -> int:
    """Find the first row of the table, below remarks and titles."""
    filled = [_filled(row) for row in rows]
    if not any(filled):
        raise FileError("file", "no rows, only blank lines", "one row per sample")
    tables = [n for n, row in zip(filled, rows, strict=True) if n and not _is_remark(row)]
    width = Counter(tables[len(tables) // 2 :]).most_common(1)[0][0] if tables else 1
    n_titles = 0
    for place, row in enumerate(rows):
        if not filled[place]:
            continue
        if n_titles >= _MAX_TITLES and not _is_remark(row):
            return place
        if not _is_title(rows, place, filled, width):
            return place
        n_titles += 1
    raise FileError("file", "no rows, only blank lines and remarks", "one row per sample")


def _is_remark(row: Sequence[str]) -> bool:
    """Recognise a line that begins with a number sign, or that tells Excel the delimiter."""
    return bool(row) and _REMARK.match(row[0]) is not None


def _is_title(rows: Rows, place: int, filled: Sequence[int], width: int) -> bool:
    """Recognise a row above the table: a remark, or a few cells above a heading of many more."""
    row = rows[place]
    following = next((k for k in range(place + 1, len(rows)) if filled[k]), None)
    if _is_remark(row):
        # The mark stands before the heading itself where no other heading follows.
        bare = [cell for cell in _without_mark(list(row)) if cell.strip()]
        is_heading = following is not None and len(bare) == filled[following] == width
        return not (is_heading and any(map(is_number, rows[following or 0])))
    if following is None or is_number(row[0]):
        return False
    if filled[place] > width > 2:  # a program's own line, above a heading of as many as the rows
        return filled[following] in (width - 1, width) and _is_words([*row, *rows[following]])
    if filled[place] >= max(width - 1, 2):
        return False
    below = [k for k in range(place + 1, len(rows)) if filled[k] >= max(width - 1, 2)]
    if not below or width < 2:
        return False
    return _is_words(rows[below[0]]) and (len(below) > 1 or width > 2)


def _is_words(row: Sequence[str]) -> bool:
    """Recognise a row without a number, such as a heading."""
    return not any(map(is_number, row))


def _without_mark(first: list[str]) -> list[str]:
    """Take off the number sign that `numpy.savetxt` sets before a heading."""
    if not first or not first[0].lstrip().startswith("#"):
        return first
    bare = first[0].lstrip().lstrip("# ")
    return [bare, *first[1:]] if bare or len(first) == 1 else first[1:]


def _says(cells: Sequence[str]) -> list[str]:
    """Keep the cells that are not missing."""
    return [cell for cell in cells if cell.strip().lower() not in MISSING]


def _column(rows: Rows, place: int) -> list[str]:
    return _says([row[place] for row in rows if len(row) > place])


def _runs(cells: Sequence[str]) -> bool:
    """Recognise whole numbers that count up from 0 or 1."""
    texts = [cell.strip() for cell in cells]
    return any(texts == [str(k) for k in range(low, low + len(texts))] for low in (0, 1))


def _by_size(cells: Sequence[str]) -> list[str]:
    return sorted(sorted(cell.strip() for cell in cells), key=len)


def _counts(first: Sequence[str], *below: Sequence[str]) -> bool:
    """Recognise a row that numbers the columns, as programs write that know no names."""
    cells = first[1:] if not first[0].strip() else first
    return len(cells) > 2 and _runs(cells) and bool(below) and not _runs(below[0])


def _is_header(first: Sequence[str], below: Rows) -> bool:
    """Distinguish names of columns from values: words above numbers, or that do not occur below."""
    words = [c for c, cell in enumerate(first) if _says([cell]) and not is_number(cell)]
    numbers = [c for c, cell in enumerate(first) if is_number(cell)]
    columns = {c: _column(below, c) for c in (*words, *numbers)}
    if not words or not below:
        return bool(words) and not numbers
    if _runs([first[c] for c in numbers]) and len(numbers) > 1:
        return True
    above = [c for c in words if columns[c] and all(map(is_number, columns[c]))]
    if any(_OF_LABELS.search(first[c]) for c in above):
        return True
    if above:  # numbers that occur below a word are the names of classes
        classes = {first[c].strip() for c in numbers}
        return len(words) >= len(numbers) or any(
            len({*columns[c]}) > 1 and {cell.strip() for cell in columns[c]} <= classes
            for c in above
        )
    again = [c for c in words if first[c] in columns[c]]
    if numbers:
        return not again and len(words) > len(numbers)
    return len(again) < len(words)


def _with_row_names(names: list[str], below: Rows) -> list[str]:
    """Add a heading to one that is short of one: row names come first, as R writes them."""
    if names[-1].lower() == "distribution":  # as Weka writes, above one column a class
        return [*names, *[""] * (max(map(len, below)) - len(names))]
    if any(len(row) != len(names) + 1 for row in below):
        return names
    if not any(row[-1].strip() for row in below):
        return [*names, ""]  # a delimiter at the end of every row
    index = [row[0].strip().removesuffix(".") for row in below]
    is_index = _runs(index) or (len(set(index)) == len(index) and not any(map(is_number, index)))
    return ["", *names] if is_index else names


def _different(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names of which each occurs once, and say which had to change."""
    lines: list[str] = []
    repairs = []
    taken = {name for name in names if name}
    for place, name in enumerate(names):
        new, k = name, 2
        while new in lines or (new != name and new in taken):
            new = f"{name} ({k})" if name else f"column {place + k - 1}"
            k += 1
        if name and new != name:
            repairs.append(
                f"Several columns are called {quoted(name)}: column {place + 1} is now"
                f" {quoted(new)}."
            )
        lines.append(new)
    return tuple(lines), tuple(repairs[:5])
