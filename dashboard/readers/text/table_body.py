"""The rows below a header: strict numbers, and labels matched to the class columns."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import row_blocks
from calibcore.validation import Floats
from dashboard.readers.columns.classes import ones_of
from dashboard.readers.columns.headings import JUDGED
from dashboard.readers.columns.layout import Layout, called
from dashboard.readers.columns.long_form import refuse_fractions, samples_of
from dashboard.readers.columns.named import kept_sentence
from dashboard.readers.columns.ranked import in_words_of, ranked_set
from dashboard.readers.columns.slices import (
    LEAST_COUNTED,
    MAX_COLUMNS,
    NUMBER,
    Outcome,
    TextColumn,
    counts_rows,
    id_of,
    sentence_of,
)
from dashboard.readers.contents import Array, Contents, RawEvent, RawSet, SliceColumn, check_rows
from dashboard.readers.meaning.first_label import numbers_of
from dashboard.readers.meaning.labels import NO_AND_YES, label_numbers
from dashboard.readers.refusal import FileError, quoted, visible
from dashboard.readers.text.table_cells import Labels, Numbers, Spare, spare_columns
from dashboard.readers.text.text_blocks import Block, Rows, rows_of
from dashboard.readers.text.text_columns import Quick

_MAX_BLANK = 10_000
_YES_NO = {"1": True, "1.0": True, "0": False, "0.0": False}
_YES_NO |= {word: bool(k) for pair in (*NO_AND_YES, *JUDGED) for k, word in enumerate(pair)}


@dataclass
class Body:
    """Numbers and codes of all rows, and the columns beside them."""

    numbers: Floats
    codes: dict[int, NDArray[np.int32]]
    cells: tuple[str, ...]
    notes: tuple[str, ...] = ()
    percent: bool = False
    columns: Mapping[int, Outcome] = field(default_factory=dict)
    ids: Array | None = None
    among: NDArray[np.bool_] | None = None
    unread: tuple[str, str, str] | None = None

    def contents(self, layout: Layout, *, first_row: int, found: tuple[str, ...]) -> Contents:
        """Hand over what the columns hold."""
        repairs: tuple[str, ...] = ()
        missing: tuple[str, ...] = ()
        if self.percent:
            repairs = (f"Percent signs: {self.numbers.size:,} values were divided by 100.",)
        layout, columns, left = self._beside(layout)
        preview = layout.preview
        made: RawSet | RawEvent
        if layout.is_event and (samples := self._samples(layout, columns)) is not None:
            made, put = samples
            repairs += put
            left, layout = kept_sentence([c.name for c in made.columns]), replace(layout, doubts=())
            preview = replace(preview, of_samples=False)
        elif layout.is_event:
            made, told = self._event(layout, first_row, columns)
            found = (*found, *told)
        elif layout.top_one:
            made = self._top_one(layout, first_row, columns)
        elif layout.ranked:
            made, missing, told = self._ranked(layout, first_row, columns)
            found = (*found, *told)
        else:
            layout, kept = _without_count(layout, self.numbers)
            if len(kept) < self.numbers.shape[1]:
                said = f"A column counts the {len(self.numbers):,} rows and was left out."
                repairs += (said,)
            made = self._set(layout, self.numbers[:, kept] if repairs else self.numbers)
            made = replace(made, first_row=first_row, columns=columns, divided=self.percent)
            if layout.predicted is not None:
                beside = self.columns.get(layout.predicted)
                made = replace(made, predicted=beside if isinstance(beside, SliceColumn) else None)
        made = replace(made, among=self.among, unread=self.unread)
        return Contents(
            {"rows": made}, (*found, *self.notes, *layout.found, *left), repairs, missing,
            doubts=layout.doubts,
            uses=layout.uses, preview=preview,
        )  # fmt: skip

    def _beside(self, layout: Layout) -> tuple[Layout, tuple[SliceColumn, ...], tuple[str, ...]]:
        """Give the slicing columns, and say which they are and which cannot be one."""
        kept: dict[int, SliceColumn] = {}
        left: list[tuple[str, str]] = []
        for column in layout.slices:
            made = self.columns.get(column, "it was not read")
            if isinstance(made, SliceColumn):
                kept[column] = made
            else:
                left.append((called(layout.names, column), made))
        said = (*kept_sentence([column.name for column in kept.values()]), *sentence_of(left))
        return replace(layout, slices=tuple(kept)), tuple(kept.values()), said

    def _ranked(
        self, layout: Layout, first_row: int, columns: tuple[SliceColumn, ...]
    ) -> tuple[RawSet | RawEvent, tuple[str, ...], tuple[str, ...]]:
        """Take lists of classes with their scores."""
        names, codes = self._canonical(layout)
        listed = np.column_stack([codes[c] for c in layout.ranked])
        rows = RawSet(None, None, first_row=first_row, columns=columns, among=self.among)
        rows = replace(rows, ids=self._ids(layout))
        if layout.labels is None:
            return (*ranked_set(self.numbers, listed, None, names, rows), ())
        truth, told = in_words_of(names, codes[layout.labels], listed)
        return (*ranked_set(self.numbers, listed, truth, names, rows), told)

    def _ids(self, layout: Layout) -> SliceColumn | None:
        if layout.ids is None or self.ids is None:
            return None
        named = layout.names[layout.ids].strip() if layout.names else ""
        return SliceColumn(visible(named, 60), self.ids)

    def _set(self, layout: Layout, table: Array) -> RawSet:
        values = None if not table.size else table[:, 0] if table.shape[1] == 1 else table
        raw = RawSet(values, None, layout.class_names, headings=layout.headings)
        raw = replace(raw, ids=self._ids(layout))
        if layout.one_hot:
            return replace(raw, labels=self._one_hot(layout))
        if layout.labels is None:
            return raw
        raw = replace(raw, label_name=layout.column_name(layout.labels))
        numbers = self._label_numbers(layout.labels)
        if numbers is None:
            codes = self.codes[layout.labels]
            return replace(raw, labels=codes, label_texts=self.cells)
        return replace(raw, labels=numbers)

    def _one_hot(self, layout: Layout) -> Array:
        columns = []
        for place in layout.one_hot:
            column = self.columns.get(place)
            ones = ones_of(column) if isinstance(column, SliceColumn) else None
            if ones is None:
                raise FileError(layout.column_name(place), "cells that are not 0 or 1", "0 or 1")
            columns.append(ones)
        return np.column_stack(columns)

    def _hits(
        self, layout: Layout
    ) -> tuple[NDArray[np.bool_], int | None, tuple[Array, ...] | None, tuple[str, ...]]:
        """Give whether each row is right, of how many classes, their numbers, and what is said."""
        if layout.hits is not None and layout.predicted is None:
            wrong = next((cell for cell in self.cells if cell.lower() not in _YES_NO), None)
            if wrong is not None:
                raise FileError(layout.column_name(layout.hits), quoted(wrong), "0 or 1")
            hit = np.array([_YES_NO[cell.lower()] for cell in self.cells], dtype=np.bool_)
            return np.asarray(hit[self.codes[layout.hits]]), None, None, ()
        names, codes = self._canonical(layout)
        truth, predicted = (codes[column] for column in layout.codes[:2])
        truth, told = in_words_of(names, truth, predicted)
        count, numbers = (
            _n_different(len(names), truth, predicted),
            numbers_of(names, truth, predicted),
        )
        return np.asarray(truth == predicted), count, numbers, told

    def _samples(
        self, layout: Layout, columns: tuple[SliceColumn, ...]
    ) -> tuple[RawSet | RawEvent, tuple[str, ...]] | None:
        """Take rows of one sample and class for a table of all classes, where they show it."""
        if layout.predicted is None or layout.labels is None:
            return None
        names, codes = self._canonical(layout)
        truth, predicted = (codes[column] for column in layout.codes[:2])
        places = layout.column_name(layout.labels), layout.column_name(layout.predicted)
        refuse_fractions(names, truth, predicted, places)
        return samples_of(self.numbers[:, 0], truth, predicted, names, columns)

    def _event(
        self, layout: Layout, first_row: int, columns: tuple[SliceColumn, ...]
    ) -> tuple[RawSet | RawEvent, tuple[str, ...]]:
        """Take scores for those of the predicted class, or of one of two where they show it."""
        scores = self.numbers[:, 0]
        if layout.predicted is not None:
            names, codes = self._canonical(layout)
            truth, predicted = (codes[column] for column in layout.codes[:2])
            if len(names) == 2 and (one := scored_class(scores, predicted)) is not None:
                said = (
                    f"The score is of {quoted(names[one], 30)} in every row, not of the predicted"
                    " class: rows with that prediction have the higher scores, and"
                    f" {np.count_nonzero(scores < 0.5):,} scores are below 0.5."
                )
                return RawSet(
                    scores, truth, (names[one],), first_row, label_texts=tuple(names),
                    columns=columns,
                ), (said,)  # fmt: skip
        hits, n_classes, numbers, told = self._hits(layout)
        return RawEvent(scores, hits, first_row, columns, n_classes, numbers=numbers), told

    def _top_one(self, layout: Layout, first_row: int, columns: tuple[SliceColumn, ...]) -> RawSet:
        """Keep the predicted class of each row beside its score."""
        names, codes = self._canonical(layout)
        column = layout.codes[0]
        title = visible(called(layout.names, column), 60)
        return RawSet(
            self.numbers[:, 0], None, first_row=first_row, columns=columns,
            predicted=SliceColumn(title, codes[column], tuple(names)), ids=self._ids(layout),
            divided=self.percent, top_one=True,
        )  # fmt: skip

    def _canonical(self, layout: Layout) -> tuple[list[str], dict[int, NDArray[np.int32]]]:
        """Count the different classes: "3" and "3.0" are the same, "cat" and "Cat" are not."""
        same: dict[float | str, int] = {}
        names: list[str] = []
        places = []
        for cell in self.cells:
            place = same.setdefault(float(cell) if NUMBER.fullmatch(cell) else cell, len(names))
            if place == len(names):
                names.append(cell)
            places.append(place)
        if places == list(range(len(names))):
            return names, self.codes
        canonical = np.array(places, dtype=np.int32)
        return names, {column: canonical[self.codes[column]] for column in layout.codes}

    def _label_numbers(self, column: int) -> Array | None:
        """Give the labels as numbers, if all are."""
        numbers = label_numbers(self.cells)
        return None if numbers is None else numbers[self.codes[column]]


def scored_class(scores: Floats, predicted: Array) -> int | None:
    """Tell scores of one of two classes in every row from those of the predicted class.

    No score of the likelier of two classes is below 0.5. Where some are, and one prediction has
    all of the higher scores, they are scores of that class.

    Examples
    --------
    >>> scored_class(np.array([0.1, 0.9, 0.4]), np.array([0, 1, 0]))
    1
    """
    if not (scores.min() >= 0 and scores.min() < 0.5 and scores.max() <= 1):
        return None
    for one in (0, 1):
        chosen = predicted == one
        if not chosen.any() or chosen.all():
            continue
        least, most = _extremes(scores, chosen)
        lowest, highest = _extremes(scores, ~chosen)
        if least >= highest and most > lowest:
            return one
    return None


def _extremes(scores: Floats, chosen: NDArray[np.bool_]) -> tuple[float, float]:
    least = scores.min(where=chosen, initial=scores.max())
    return float(least), float(scores.max(where=chosen, initial=scores.min()))


def _n_different(n_codes: int, *columns: Array) -> int:
    """Count the codes that occur, some rows at a time, since an index takes 8 bytes a row."""
    marks = np.zeros(n_codes, dtype=np.bool_)
    for column in columns:
        for rows in row_blocks(len(column), 1):
            marks[column[rows]] = True
    return int(np.count_nonzero(marks))


def _without_count(layout: Layout, table: Floats) -> tuple[Layout, list[int]]:
    """Leave out a column that only counts the rows, unless the user calls it a class."""
    least = 3 if layout.names is None and table.shape[1] > 2 else LEAST_COUNTED
    kept = [
        place
        for place in range(table.shape[1])
        if layout.by_user or len(table) < least or not counts_rows(table[:, place])
    ]
    if len(kept) == table.shape[1] or not kept:
        return layout, list(range(table.shape[1]))
    return replace(layout, numbers=tuple(layout.numbers[place] for place in kept)), kept


def read_body(
    blocks: Iterator[Block],
    layout: Layout,
    *,
    width: int,
    delimiter: str,
    comma_allowed: bool,
    n_bytes: int,
) -> Body:
    """Read all rows below the header.

    Parameters
    ----------
    blocks : iterator of (int, rows or Lines)
        Number of the first row, as a spreadsheet counts, and some rows.
    layout : Layout
        What the columns are.
    width : int
        How many fields every row must have.
    delimiter : str
        Of the fields.
    comma_allowed : bool
        Whether commas may mark decimals.
    n_bytes : int
        Size of the whole text.
    """
    spare = Spare(spare_columns(layout))
    numbers = Numbers(layout, spare, comma_allowed=comma_allowed)
    labels = Labels(layout, spare)
    beside = {
        column: TextColumn(called(layout.names, column), comma_allowed=comma_allowed)
        for column in layout.beside
    }
    top = 0
    quick = Quick(layout, numbers, labels, beside, width=width, delimiter=delimiter)
    ids, blank = quick.ids, quick.blank
    with labels.blanks_first(), closing(quick.left(blocks, n_bytes)) as left:
        for start, block in left:
            top = top or start
            given = rows_of(block)
            rows, counted = same_width(start, given, width)
            if len(rows) < len(given):
                blank.extend(set(range(start, start + len(given))).difference(counted))
            labels.take(rows, counted)
            if layout.ids is not None:
                ids.extend(id_of(row[layout.ids].strip()) for row in rows)
            for column, collected in beside.items():
                collected.take([row[column].strip() for row in rows])
            numbers.take(rows, counted)
            check_rows(numbers.n_rows + len(blank))
    quick.finish()
    first = spare.unread
    among = _without(blank, top, numbers.n_rows) if blank else None
    return Body(
        numbers.table(lambda rows: top + (rows if among is None else np.flatnonzero(among)[rows])),
        labels.columns(),
        tuple(labels.seen),
        (f"Commas mark decimals ({len(numbers.values):,} values).",) if numbers.comma_row else (),
        percent=numbers.with_sign > 0,
        columns={column: collected.outcome() for column, collected in beside.items()}
        | dict.fromkeys(layout.slices[MAX_COLUMNS:], f"only {MAX_COLUMNS} are kept"),
        ids=np.frombuffer(ids, dtype=np.int64) if ids else None,
        among=among,
        unread=None if first is None else (first.field, first.found, first.wanted),
    )


def _without(blank: Sequence[int], top: int, n_rows: int) -> NDArray[np.bool_]:
    """Mark the rows that are there among all lines from the first."""
    among = np.ones(n_rows + len(blank), dtype=np.bool_)
    among[np.asarray(blank) - top] = False
    return among


def same_width(start: int, rows: Rows, width: int) -> tuple[Rows, Sequence[int]]:
    """Drop blank rows, refuse rows of another width, and number the others."""
    if all(len(row) == width for row in rows) and width > 1:
        return rows, range(start, start + len(rows))
    numbered = [
        (number, row)
        for number, row in enumerate(rows, start)
        if len(row) > 1 or "".join(row).strip()
    ]
    if not numbered and len(rows) > _MAX_BLANK:
        raise FileError(f"row {start}", f"{len(rows):,} blank rows", "one row a sample")
    for number, row in numbered:
        if len(row) != width:
            raise FileError(
                f"row {number}", f"{len(row):,} fields", f"{width:,} columns as in the first row"
            )
    return [row for _, row in numbered], [number for number, _ in numbered]
