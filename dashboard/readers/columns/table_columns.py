"""Tables of typed columns, told apart by the same rules as the columns of a text table."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.binary.npy import is_whole, side_by_side
from dashboard.readers.columns.alike import same_classes
from dashboard.readers.columns.class_lists import are_beside, listed_classes
from dashboard.readers.columns.columns import find_layout
from dashboard.readers.columns.headings import key_of, strip_prefix
from dashboard.readers.columns.layout import Layout, called
from dashboard.readers.columns.named import LABEL_KEYS, TABLE_KEYS, left_out_sentence
from dashboard.readers.columns.named_sets import TRAINING
from dashboard.readers.columns.rank_lists import RankLists, rank_lists, refuse_unread, truth_in
from dashboard.readers.columns.slices import (
    MAX_COLUMNS,
    Outcome,
    id_of,
    slice_of_array,
    slice_of_texts,
)
from dashboard.readers.columns.two_tables import logits_among, of_two
from dashboard.readers.contents import DEFAULTS, Array, Contents, Options, RawSet, row_list
from dashboard.readers.meaning.values import MAX_CLASSES
from dashboard.readers.refusal import FileError, plain, quoted
from dashboard.readers.text.table_body import Body
from dashboard.readers.text.table_cells import spare_columns
from dashboard.readers.text.text_numbers import number_in, signs_in, without_signs

MAX_TEXTS = 100_000
"""How many different texts of one column are kept."""

MAX_TEXT = 256
"""Longest text that is taken for anything; a format cuts longer ones just above it."""

_SAMPLE = 50
_NO_NUMBERS = frozenset({"nan", "inf", "-inf"})
_PART = 1 << 20


@dataclass(frozen=True, eq=False)
class Text:
    """A column of texts.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_samples,)
        Place of each row's text in `cells`; -1 for a text beyond the first `MAX_TEXTS`.
    cells : tuple of str
        The different texts in order of appearance; a blank cell is "".
    first : tuple of int and str, optional
        Place and text of the first cell that made texts of what were numbers before it.
    """

    codes: NDArray[np.int32]
    cells: tuple[str, ...]
    first: tuple[int, str] | None = None

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.codes)


@dataclass(frozen=True)
class Unusable:
    """A column of something else, such as dates, which may stand beside what is used."""

    kind: str


Column = Array | Text | Unusable


def from_columns(
    names: Sequence[str] | None,
    columns: Sequence[Column],
    options: Options = DEFAULTS,
    *,
    first_row: int = 1,
    found: tuple[str, ...] = (),
) -> Contents:
    """Tell typed columns apart and hand over what they hold.

    Parameters
    ----------
    names : sequence of str, optional
        The header; None where there is none.
    columns : sequence
        Numbers, in which NaN is a blank cell, or `Text`, all of the same length. One column may
        have two dimensions: it is the class table.
    options : Options
        Which columns the user names.
    first_row : int, default 1
        How the file itself would number the first row.
    found : tuple of str
        Sentences that stand before all others.

    Notes
    -----
    Texts are read as numbers where numbers are wanted, as strictly as in a text file.
    """
    heads = [f"column {c + 1}" for c in range(len(columns))] if names is None else names
    usable: list[tuple[str, Array | Text]] = []
    odd: dict[str, str] = {}
    for name, column in zip(heads, columns, strict=True):
        if isinstance(column, Unusable):
            odd[name] = column.kind
        else:
            usable.append((name, column))
    looked_for = [name for name in odd if key_of(name) in LABEL_KEYS | TABLE_KEYS]
    if looked_for or not usable:
        raise _odd({name: odd[name] for name in looked_for or odd})
    _check_lengths([column for _, column in usable])
    refuse_unread(_tables(usable), odd)
    usable, spare, mended = _in_ranks(usable) or _spread(usable)
    table = _Table(
        tuple(column for _, column in usable),
        None if names is None else tuple(name for name, _ in usable),
        first_row,
    )
    try:
        sample = table.sample()
        numbers = range(first_row, first_row + len(sample))
        layout = find_layout(table.names, sample, options, numbers=numbers)
    except FileError as error:
        raise (_odd(odd) if odd else error) from None
    with layout.known():
        if odd and not layout.numbers:
            raise _odd(odd)
        codes, cells = table.codes(layout)
        body = Body(
            table.numbers(layout), codes, cells, columns=table.beside(layout), ids=table.ids(layout)
        )
        body.unread = table.unread[0] if table.unread else None
        body.percent = bool(table.signs)
        said = found + left_out_sentence([*spare, *odd])
        contents = body.contents(layout, first_row=first_row, found=said)
        return replace(contents, repairs=(*mended, *contents.repairs))


def _odd(columns: dict[str, str]) -> FileError:
    if not columns:
        return FileError("file", "no columns", "a column a class and a label")
    name, kind = next(iter(columns.items()))
    return FileError(f"column {quoted(name, 30)}", kind, "plain numbers, or text for labels")


def _check_lengths(columns: Sequence[Array | Text]) -> None:
    lengths = sorted({len(column) for column in columns})
    if len(lengths) > 1:
        counts = " and ".join(f"{length:,}" for length in lengths[:3])
        raise FileError("columns", f"unequal lengths: {counts} rows", "columns of equal length")
    if lengths == [0]:
        raise FileError("file", "no rows of data", "at least one row")


def _spread(
    columns: list[tuple[str, Array | Text]],
) -> tuple[list[tuple[str, Array | Text]], list[str], tuple[str, ...]]:
    """Put a column of lists as one column a class, and name further columns of lists."""
    wide = [*_tables(columns)]
    if not wide:
        return columns, [], ()
    flat = [n for n, column in columns if n not in wide and not isinstance(column, Text)]
    if are_beside(wide, flat):
        return [(name, column) for name, column in columns if name not in wide], wide, ()
    chosen = [name for name in wide if key_of(name) in TABLE_KEYS] or wide
    logits = logits_among({name: np.asarray(dict(columns)[name]) for name in chosen})
    mended = of_two(logits, chosen) if logits else ()
    chosen = [logits] if logits else chosen
    if len(chosen) > 1:
        listed = " and ".join(quoted(name, 30) for name in chosen[:3])
        raise FileError("columns", f"lists in {listed}, which is ambiguous", "one such column")
    table = np.asarray(dict(columns)[chosen[0]])
    # The name of the column goes before the numbers where that makes a telling prefix.
    prefix = f"{key_of(chosen[0])}_"
    prefix = prefix if strip_prefix([f"{prefix}0", f"{prefix}1"]) == ("0", "1") else "class_"
    if table.shape[1] > MAX_CLASSES:
        found = f"lists of {table.shape[1]:,} values"
        raise FileError(f"column {quoted(chosen[0], 30)}", found, f"at most {MAX_CLASSES:,}")
    one = table.shape[1] == 1
    others = [(name, column) for name, column in columns if name not in wide]
    ends: Sequence[object] = range(table.shape[1])
    texts = {name: column.cells for name, column in others if isinstance(column, Text)}
    named = listed_classes(texts, table.shape[1])
    if named is not None:
        ends, said = named[1], f"Classes were named by the list in column {plain(named[0], 40)},"
        mended = (*mended, f"{said} the same in all {len(table):,} rows.")
        others = [(name, column) for name, column in others if name != named[0]]
    spread: list[tuple[str, Array | Text]] = [
        (chosen[0] if one else f"{prefix}{end}", column)
        for end, column in zip(ends, table.T, strict=True)
    ]
    alike = [name for name, _ in others if name.lower().startswith(prefix) and not one]
    if alike:
        listed = f"lists in {quoted(chosen[0], 30)} and a column {quoted(alike[0], 30)}"
        raise FileError("columns", f"{listed}, which is ambiguous", "one class table")
    return [*spread, *others], [name for name in wide if name not in chosen], mended


def _tables(columns: Sequence[tuple[str, Array | Text]]) -> dict[str, Array]:
    return {n: c for n, c in columns if not isinstance(c, Text) and c.ndim == 2}


def _in_ranks(
    columns: list[tuple[str, Array | Text]],
) -> tuple[list[tuple[str, Array | Text]], list[str], tuple[str, ...]] | None:
    """Put lists of classes and of their scores as two columns a rank, and name further lists."""
    wide = _tables(columns)
    texts = {n: (column.codes, column.cells) for n, column in columns if isinstance(column, Text)}
    labels = [name for name, _ in columns if key_of(name) in LABEL_KEYS]
    if (lists := rank_lists(wide, texts, truth_in(dict(columns), texts, labels))) is None:
        return None
    used = (lists.classes, lists.scores)
    others = [(name, column) for name, column in columns if name not in (*wide, *used)]
    return [*_by_rank(lists), *others], [n for n in wide if n not in used], (lists.said,)


def _by_rank(lists: RankLists) -> Iterator[tuple[str, Array | Text]]:
    for k in range(lists.values.shape[1]):
        yield f"top{k + 1}_class", Text(np.ascontiguousarray(lists.places[:, k]), lists.cells)
        yield f"top{k + 1}_prob", lists.values[:, k]


@dataclass(frozen=True, eq=False)
class _Table:
    columns: tuple[Array | Text, ...]
    names: tuple[str, ...] | None
    first_row: int
    unread: list[tuple[str, str, str]] = field(default_factory=list)
    signs: list[NDArray[np.bool_]] = field(default_factory=list)

    def spare(self, layout: Layout) -> NDArray[np.bool_]:
        """Mark the rows that a column calls training rows, which may not be used."""
        marks = np.zeros(len(self.columns[0]), dtype=np.bool_)
        for c in spare_columns(layout):
            column = self.columns[c]
            if isinstance(column, Text):
                training = [k for k, cell in enumerate(column.cells) if key_of(cell) in TRAINING]
                marks |= np.isin(column.codes, training)
        return marks

    def _note(self, rows: NDArray[np.bool_], layout: Layout, told: tuple[str, str, str]) -> None:
        """Refuse what cannot be read, unless all of it is in rows that may not be used."""
        if (rows & ~self.spare(layout)).any():
            raise FileError(*told)
        self.unread.append(told)

    def sample(self) -> list[tuple[str, ...]]:
        """Give the first rows as texts."""
        columns = []
        for column in self.columns:
            if isinstance(column, Text):
                columns.append([column.cells[code] for code in column.codes[:_SAMPLE]])
            else:
                # A blank among numbers does not make it any less a column of numbers.
                columns.append(_spelled(column[:_SAMPLE]))
        return list(zip(*columns, strict=True))

    def numbers(self, layout: Layout) -> Array:
        """Give the columns of numbers as one table, without a copy where they are one already."""
        if not layout.numbers:
            return np.empty((len(self.columns[0]), 0))
        chosen = without_signs([self._as_numbers(c, layout) for c in layout.numbers], self.signs)
        table = side_by_side(chosen)
        with np.errstate(invalid="ignore"):
            complete = table.dtype.kind != "f" or not np.isnan(table.min())
        if not complete:
            for c, column in zip(layout.numbers, chosen, strict=True):
                blank = np.isnan(column)
                if blank.any() and not self.unread:
                    found = f"NaN, or a null or blank cell, {row_list(blank, self.first_row)}"
                    told = (layout.column_name(c), found, "a finite number in every row")
                    self._note(blank, layout, told)
        return table

    def beside(self, layout: Layout) -> dict[int, Outcome]:
        """Give the further columns, or why one cannot be used."""
        made: dict[int, Outcome] = dict.fromkeys(
            layout.slices[MAX_COLUMNS:], f"only {MAX_COLUMNS} are kept"
        )
        for c in layout.beside:
            column = self.columns[c]
            name = called(layout.names, c)
            if not isinstance(column, Text):
                made[c] = slice_of_array(name, column)
            elif (column.codes < 0).any():
                made[c] = f"more than {MAX_TEXTS:,} different texts"
            else:
                made[c] = slice_of_texts(name, column.codes, column.cells)
        return made

    def ids(self, layout: Layout) -> Array | None:
        """Give the names of the rows as numbers, where a column has them all."""
        if layout.ids is None:
            return None
        column = self.columns[layout.ids]
        if isinstance(column, Text):
            known = np.array([id_of(cell.strip()) for cell in column.cells], dtype=np.int64)
            return None if (column.codes < 0).any() else known[column.codes]
        whole = is_whole(column) and float(np.abs(column).max()) < 1 << 53
        return column.astype(np.int64) if whole else None

    def _as_numbers(self, c: int, layout: Layout) -> Array:
        column = self.columns[c]
        if not isinstance(column, Text):
            return column
        place = layout.column_name(c)
        if column.first is not None and number_in(column.first[1]) is None:
            row, text = column.first
            told = (f"row {row + self.first_row}, {place}", quoted(text), "a finite number")
            self._note(np.arange(len(column)) == row, layout, told)
        if (column.codes < 0).any():
            raise FileError(place, f"text in more than {MAX_TEXTS:,} spellings", "numbers")
        self.signs.extend(signs_in(column.cells, column.codes))
        values = []
        for code, cell in enumerate(column.cells):
            number = number_in(cell)
            values.append(math.nan if number is None else number)
            if number is None:
                rows = column.codes == code
                found = quoted(cell) if cell.strip() else "a blank cell (null)"
                where = f"row {int(np.argmax(rows)) + self.first_row}, {place}"
                self._note(rows, layout, (where, found, "a finite number"))
        return np.array(values)[column.codes]

    def codes(self, layout: Layout) -> tuple[dict[int, NDArray[np.int32]], tuple[str, ...]]:
        """Give the columns that are compared as codes of texts, the same for all of them."""
        seen: dict[str, int] = {}
        codes: dict[int, NDArray[np.int32]] = {}
        for c in layout.codes:
            column = self._as_text(c, layout)
            lengths = [len(text.strip()) for text in column.cells]
            blank = [code for code, length in enumerate(lengths) if not length]
            bad = [-1, *(code for code, length in enumerate(lengths) if length > MAX_TEXT)]
            place = layout.column_name(c)
            for rows, found in (
                (np.isin(column.codes, bad), "too long or too many texts"),
                (np.isin(column.codes, blank), "a blank cell or null"),
            ):
                if rows.any():
                    said = f"{found} {row_list(rows, self.first_row)}"
                    self._note(rows, layout, (place, said, "a class in every row"))
            same = [seen.setdefault(cell.strip(), len(seen)) for cell in column.cells]
            codes[c] = np.array(same, dtype=np.int32)[column.codes]
        return codes, tuple(seen)

    def _as_text(self, c: int, layout: Layout) -> Text:
        column = self.columns[c]
        if isinstance(column, Text):
            return column
        # A part at a time, since what `unique` needs on the way is many times its result.
        seen: dict[float, int] = {}
        codes = np.empty(len(column), dtype=np.int32)
        for start in range(0, len(column), _PART):
            part = column[start : start + _PART]
            part = part.view(np.uint8) if part.dtype.kind == "b" else part
            values, places = np.unique(part, return_inverse=True)
            if len(values) + len(seen) > 2 * MAX_TEXTS:
                found = f"more than {MAX_TEXTS:,} different values"
                raise FileError(layout.column_name(c), found, "a class in every row")
            known = [seen.setdefault(value, len(seen)) for value in values.tolist()]
            codes[start : start + _PART] = np.array(known, dtype=np.int32)[places]
        return Text(codes, tuple("" if math.isnan(value) else str(value) for value in seen))


def _spelled(values: Array) -> list[str]:
    """Spell numbers as a text file would, whole ones of whole types without a point."""
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    texts = [*map(str, values.tolist())]
    # There may be 200,000 columns, and to ask NumPy of each takes longer than all the rest.
    if _NO_NUMBERS.isdisjoint(texts):
        return texts
    return [*map(str, np.nan_to_num(values).tolist())]


def both_sets(calibration: Contents, test: Contents) -> Contents:
    """Join two tables of the same file into a calibration and a test set."""
    pair = (calibration, test)
    for role, part in zip(("calibration", "test"), pair, strict=True):
        rows = part.sets["rows"]
        if isinstance(rows, RawSet) and (rows.table is None or rows.labels is None):
            found = "no column of classes" if rows.table is None else "no label column"
            raise FileError(f"{role} set", found, "a column a class and a label")

    def said(which: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line for part in pair for line in getattr(part, which)))

    fitted = calibration.sets["rows"]
    judged, mended, doubts = same_classes(fitted, test.sets["rows"])
    return Contents(
        {"calibration": fitted, "test": judged},
        said("found"), (*said("repairs"), *mended), said("missing"), (*said("doubts"), *doubts),
        uses=calibration.uses, preview=calibration.preview,
    )  # fmt: skip
