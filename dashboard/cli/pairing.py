"""Which rows of a new batch are audited rows, by what names them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.counted import CountedScores
from calibcore.data import EventScores
from calibcore.grouping import Grouping

MATCHING = 0.9
"""Share of the new rows that have to be audited ones, as the others are not compared."""

FEWEST = 30
"""Pairs that are compared."""

_TELLING = 5
"""Rows of another outcome than most whose place tells that rows are the same."""

Names = NDArray[np.int64]
Fault = Literal["few", "repeated", "counted"]


@dataclass(frozen=True, eq=False)
class Batch:
    """The evaluated rows of a file."""

    file: str
    """Its name."""
    event: EventScores
    """Scores and outcomes."""
    ids: Mapping[str, Names]
    """By the column, numbers that stand for the names of the rows; shape (n_samples,)."""
    ids_by_user: frozenset[str]
    """Columns that the user says name the rows."""
    numbers: Names
    """Of the rows in the file; shape (n_samples,)."""
    truth: NDArray[np.integer]
    """The true class of each row; of scores alone, whether the event happened; shape (n_samples,).
    """
    class_names: tuple[str, ...] | None
    """Of the classes."""
    columns: Mapping[str, NDArray[Any]]
    """By the column, texts or numbers by which rows can be grouped; shape (n_cells,)."""
    groupings: Mapping[str, Grouping]
    """How the values of some of these are grouped, in this file and in others."""

    @property
    def is_counted(self) -> bool:
        """Whether its rows are those of a summary."""
        return isinstance(self.event, CountedScores)


@dataclass(frozen=True, eq=False)
class NoPairs:
    """Why the rows of two files are no pairs."""

    why: Fault | Literal["none"]
    """No column of row IDs in both; too few in common; some twice in a file; they count the rows of
    both, and outcomes do not show that these are the same.
    """
    column: str = ""
    """Of the row IDs, "" where there is none."""
    n_matched: int = 0
    n_new: int = 0
    """How many are in both files, of those in the new one."""
    file: str = ""
    """In which some are there twice."""


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Rows that are in both files."""

    column: str
    """That names them."""
    reference: EventScores
    new: EventScores
    """The same rows in the same order."""
    n_reference: int
    n_new: int
    """Rows of each file."""


def match(reference: Batch, new: Batch) -> PairedRows | NoPairs:
    """Match the rows of two files by a column of row IDs that both have.

    Rows are pairs where at least 9 of 10 new ones are in the audited file, 30 or more, and no row
    ID is twice in a file. Row IDs that only count the rows of both name them if the user says so,
    or if all outcomes are the same, five or more of them of another kind than most.
    """
    outcomes = [_by(column, reference, new) for column in new.ids if column in reference.ids]
    matched = next((one for one in outcomes if isinstance(one, PairedRows)), None)
    order: tuple[Fault, ...] = "few", "repeated", "counted"
    faults = [
        one for why in order for one in outcomes if isinstance(one, NoPairs) and one.why == why
    ]
    return matched or (faults[0] if faults else NoPairs("none"))


def _by(column: str, reference: Batch, new: Batch) -> PairedRows | NoPairs:
    both = reference, new
    for batch in both:
        if np.unique(batch.ids[column]).size < batch.event.n_samples:
            return NoPairs("repeated", column, file=batch.file)
    _, here, there = np.intersect1d(
        reference.ids[column], new.ids[column], assume_unique=True, return_indices=True
    )
    if there.size < max(FEWEST, MATCHING * new.event.n_samples):
        return NoPairs("few", column, there.size, new.event.n_samples)
    counted = all(_counts(batch.ids[column], batch.numbers) for batch in both)
    same = reference.class_names == new.class_names and _are_same(
        reference.truth[here], new.truth[there]
    )
    if counted and column not in new.ids_by_user and not same:
        return NoPairs("counted", column)
    order = np.argsort(there)
    return PairedRows(
        column,
        reference.event.rows(here[order]),
        new.event.rows(there[order]),
        *(batch.event.n_samples for batch in both),
    )


def _counts(ids: Names, numbers: Names) -> bool:
    """Return whether row IDs say no more than where a row is in its file."""
    return bool(ids[0] >= 0 and ids[-1] <= numbers[-1] and (np.diff(ids) > 0).all())


def _are_same(one: NDArray[np.integer], other: NDArray[np.integer]) -> bool:
    """Return whether outcomes are the same, and would hardly be of other rows."""
    _, counts = np.unique(one, return_counts=True)
    return bool(np.array_equal(one, other) and counts.sum() - counts.max() >= _TELLING)
