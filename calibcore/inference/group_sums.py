"""Sums over the groups of several groupings, with their covariance."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.validation import Floats

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of one grouping that are tested: their names, and each row's, -1 for none."""

    names: Places
    rows: Places
    of_row: Places


def groups_of(given: ArrayLike, n_rows: int, least: int) -> Grouping:
    """Choose the groups with enough rows, but not one that holds all."""
    where = validation.real_array(given, "groupings")
    if where.shape != (n_rows,) or where.dtype.kind not in "biu" or where.min() < 0:
        found = f"shape {where.shape}, type {where.dtype}"
        wanted = f"a whole number from 0 for each of {n_rows:,} rows"
        raise CalibrationInputError("groupings", found, wanted)
    counts = np.bincount(where)
    chosen = np.flatnonzero((counts >= max(least, 1)) & (counts < n_rows))
    renamed = np.full(counts.size, -1)
    renamed[chosen] = np.arange(chosen.size)
    return Grouping(chosen, counts[chosen], renamed[where])


class Sums:
    """Adds up over the rows of each group."""

    def __init__(self, groupings: list[Grouping], n_rows: int) -> None:
        self.groupings, self.n_rows = groupings, n_rows
        self.ends = np.cumsum([0, *(one.names.size for one in groupings)]).tolist()

    def of(self, values: Floats) -> Floats:
        """Return the sum over each group, shape (n_groups,)."""
        found = [
            np.bincount(one.of_row + 1, values, minlength=one.names.size + 1)[1:]
            for one in self.groupings
        ]
        return np.concatenate(found)

    def covariance(self, variance: Floats) -> Floats:
        """Return the covariance of the groups' sums, shape (n_groups, n_groups)."""
        found = np.zeros((self.ends[-1], self.ends[-1]))
        for k, first in enumerate(self.groupings):
            for m, second in enumerate(self.groupings[: k + 1]):
                shape = first.names.size + 1, second.names.size + 1
                both = (first.of_row + 1) * shape[1] + second.of_row + 1
                sums = np.bincount(both, variance, minlength=shape[0] * shape[1])
                here, there = (slice(*self.ends[j : j + 2]) for j in (k, m))
                found[here, there] = sums.reshape(shape)[1:, 1:]
                found[there, here] = found[here, there].T
        return found

    @cached_property
    def members(self) -> Any:
        """Which rows are in each group: a sparse array of shape (n_groups, n_samples)."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - a tenth of a second to import

        order = [np.argsort(one.of_row, kind="stable")[-one.rows.sum() :] for one in self.groupings]
        rows = np.concatenate(order)
        ends = np.cumsum([0, *np.concatenate([one.rows for one in self.groupings])])
        shape = ends.size - 1, self.n_rows
        return csr_array((np.ones(rows.size, dtype=np.float32), rows, ends), shape=shape)

    def of_labels(self, labels: NDArray[np.float32]) -> Floats:
        """Return the hits of each group in several sets of labels, shape (n_groups, n_draws)."""
        return np.asarray(self.members @ labels, dtype=np.float64)  # exact up to 2 ** 24 rows
