"""What a read file becomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from calibcore.counted import CountedScores
from calibcore.data import LogitSet, Rows
from calibcore.errors import CalibrationInputError
from calibcore.splits import AnySplit, Split, calibration_rows, split_rows, usual_split
from calibcore.summary import AnySummary
from dashboard.readers.preview import preview_of_arrays, which_outcome
from dashboard.readers.recognition.choose import NO_OUTCOME, NO_SCORE
from dashboard.readers.recognition.groups import ids_of
from dashboard.readers.records import (
    NOT_READ,
    Array,
    ColumnUse,
    Contents,
    FileSentences,
    GroupingColumn,
    Preview,
    Proposal,
    RawSet,
    ReadingOptions,
    Role,
    ValuesKind,
)
from dashboard.readers.refusal import FileError


@dataclass(frozen=True, eq=False)
class Upload(FileSentences):
    """What was found in a file, what it was taken for, and what was fixed."""

    name: str  # as shown; never a path
    format: str
    digest: str  # SHA-256 of the bytes, in hexadecimal; of the digests in order for several files
    calibration: Rows | None = None
    test: Rows | None = None
    rows: Rows | None = None  # the one set of a file that does not tell calibration from test
    piece: RawSet | None = None  # a table without labels, or labels without a table
    values_kind: ValuesKind | None = None
    in_percent: bool = False  # in the file; in the sets they are shares
    proposals: tuple[Proposal, ...] = ()  # what columns may say that changes figures
    # Row of the file's sets that each row is, where those of a number of rows are repeated.
    copies: Mapping[Role, NDArray[np.intp]] = field(default_factory=dict, repr=False)
    # Further columns of each set by name, the same names and categories in both. Of a summary each
    # has a value for each group of the rows.
    columns: Mapping[str, Mapping[str, GroupingColumn]] = field(default_factory=dict, repr=False)
    contents: Contents = field(default_factory=lambda: Contents({}), repr=False)
    options: ReadingOptions = field(default_factory=ReadingOptions, repr=False)
    summary: AnySummary | None = None  # of the rows, where files are summaries
    summaries: Mapping[str, AnySummary] = field(default_factory=dict, repr=False)  # by their names
    # Of a summary: what its event is called, as the name of a column and those of both outcomes.
    counted_event: tuple[str, tuple[str, str]] = ("outcome", ("0", "1"))

    @property
    def sets(self) -> Mapping[str, Rows]:
        """The sets that are there, by name, calibration first."""
        named = {"calibration": self.calibration, "test": self.test, "rows": self.rows}
        return {name: rows for name, rows in named.items() if rows is not None}

    @property
    def ids(self) -> Mapping[str, Mapping[str, NDArray[np.int64]]]:
        """Of each set, by the column, whole numbers that stand for the names of its rows."""
        return {
            role: {
                c.name: self.copied(role, ids.values)
                for c in raw.ids
                if (ids := ids_of(c)) is not None
            }
            for role, raw in self.contents.sets.items()
        }

    def copied(self, role: Role, values: Array) -> Array:
        """Return of each row of a set what belongs to the row of the file that it is."""
        return values[self.copies[role]] if role in self.copies else values

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """Names of the classes; None where the file holds one event's scores only."""
        sets = list(self.sets.values())
        return sets[0].class_names if sets and isinstance(sets[0], LogitSet) else None

    @property
    def uses(self) -> Mapping[str, ColumnUse]:
        """Every column or array of the file by name, and what it was taken for.

        The names are those that ``roles`` take, as the file has them and not made fit to show. A
        bare array, or a tuple of them, has none.
        """
        return self.contents.uses

    @property
    def preview(self) -> Preview:
        """The first rows as they were read; of several files, as they were put together."""
        return self.contents.preview or preview_of_arrays(self.contents)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Which rows were left out, and why: sentences of ``repairs``."""
        return tuple(one for one in self.repairs if "left out" in one.lower())

    @property
    def lacks(self) -> FileError:
        """Why a file without outcomes, or without scores, cannot be evaluated.

        A `Question` where a column may say what happened after all.
        """
        alone = self.piece is None or self.piece.table is not None
        text, wanted = "no outcomes, only scores", "a column of outcomes or true classes"
        lacking = NO_OUTCOME
        if not alone:
            text, lacking = "outcomes, but no scores", NO_SCORE
            wanted = "scores, or logits of shape (rows, classes)"
        why = next((note for note in self.notes if note.startswith(lacking)), lacking)
        text += why.removeprefix(lacking).rstrip(".")
        unusable = (doubt.rstrip(".") for doubt in self.doubts if "cannot be the" in doubt)
        text = "; ".join((text, *unusable))
        beside = "a file with them beside it"
        if sheets := next((note for note in self.notes if NOT_READ in note), ""):
            text = f"{text}; {sheets.rstrip('.')}"
            beside = "its sheets as files of their own, chosen together"
        question = which_outcome(("file", text), self.contents, self.options) if alone else None
        return question or FileError("file", text, f"{wanted} in it, or {beside}")

    def split(self, *, calibration_share: float | None = None, seed: int = 0) -> AnySplit:
        """Return a set to fit on and a set to evaluate on.

        Without a ``calibration_share`` of one set to fit on, all its rows serve both ends by folds.
        """
        try:
            if self.calibration is not None and self.test is not None:
                return Split(self.calibration, self.test)
            counted = isinstance(self.rows, CountedScores)
            if self.rows is not None and calibration_share is not None and not counted:
                return split_rows(self.rows, calibration_share=calibration_share, seed=seed)
            if self.rows is not None:
                return usual_split(self.rows, seed=seed)
        except CalibrationInputError as error:
            raise FileError.at("", error) from error
        raise self.lacks

    def split_columns(
        self, *, calibration_share: float | None = None, seed: int = 0
    ) -> Mapping[str, Mapping[str, GroupingColumn]]:
        """Return the further columns of each set of `split` by name; numbers in float64."""
        if self.rows is None:
            return {
                role: {name: _decimals(column) for name, column in columns.items()}
                for role, columns in self.columns.items()
            }
        whole, masks = self.columns["rows"], self.rows_of(calibration_share, seed)
        return {
            role: {name: _decimals(column.rows(mask)) for name, column in whole.items()}
            for role, mask in masks.items()
        }

    def rows_of(
        self, calibration_share: float | None, seed: int
    ) -> Mapping[str, NDArray[np.bool_]]:
        """Return which rows of one set are in each set of `split`, under the same options."""
        if self.rows is None:
            raise FileError("file", "two sets", "one set")
        if calibration_share is None:
            return dict.fromkeys(("calibration", "test"), np.ones(self.rows.n_samples, np.bool_))
        try:
            chosen = calibration_rows(self.rows, calibration_share=calibration_share, seed=seed)
        except CalibrationInputError as error:
            raise FileError.at("", error) from error
        return {"calibration": chosen, "test": ~chosen}


def _decimals(column: GroupingColumn) -> GroupingColumn:
    if column.categories is not None:
        return column
    return replace(column, values=column.values.astype(np.float64, copy=False))
