"""Rows of an event that are counted by score and outcome, and written out only where they must."""

import math
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore.data import EventScores, Rows, with_groups
from calibcore.errors import CalibrationInputError
from calibcore.tally import Tally, tally
from calibcore.validation import Floats, Hits, Labels
from calibcore.weights import RowWeights, mean_error, row_mean, shares_of

_MOST_ROWS = 200_000_000
"""Rows that are written out."""

_MOST_URN = 1_000_000_000
"""Rows below which NumPy takes some of them without putting any back."""

_MOST_DEALT = 1 << 22
"""Rows of one outcome up to which folds have as many of them as each other."""


class CountedScores(EventScores):
    """Rows of an event, of which equal ones are held as one cell and their number.

    They are event scores like any others: ``scores``, ``hits`` and ``groups`` are one a row,
    lowest score first, written out when first asked for. What knows of cells takes these instead.

    Attributes
    ----------
    cells : EventScores
        A row of each kind, with its group where they have some; shape (n_cells,).
    times : RowWeights
        How many rows there are of each: frequency weights, 1 or more; shape (n_cells,).

    Raises
    ------
    CalibrationInputError
        When rows are written out: more than 200,000,000.

    Examples
    --------
    >>> rows = CountedScores(EventScores([0.2, 0.6], [0, 1]), np.array([2.0, 1.0]))
    >>> rows.n_samples, rows.scores.tolist(), rows.hits.tolist()
    (3, [0.2, 0.2, 0.6], [0, 0, 1])
    """

    cells: EventScores
    times: RowWeights

    def __init__(self, cells: EventScores, times: Floats, counted: Tally | None = None) -> None:
        columns = {"cells": cells, "times": RowWeights(times, "frequency")}
        for name, value in (columns | ({} if counted is None else {"counted": counted})).items():
            object.__setattr__(self, name, value)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.times.values.sum())

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.times.values.size

    @property
    def n_hits(self) -> int:
        """Number of rows with the event."""
        return int(self.times.values[self.cells.hits == 1].sum())

    @cached_property
    def counted(self) -> Tally:
        """The rows counted by score."""
        return tally(self.cells.scores, self.cells.hits, sample_weight=self.times)

    @cached_property
    def _of_row(self) -> NDArray[np.intp]:
        """The cell of each row."""
        if self.n_samples > _MOST_ROWS:
            wanted = f"at most {_MOST_ROWS:,} where each row is needed"
            raise CalibrationInputError("rows", f"{self.n_samples:,} rows of a summary", wanted)
        return np.repeat(np.arange(self.times.values.size), self.times.values.astype(np.intp))

    @cached_property
    def scores(self) -> Floats:
        """Of each row."""
        return self.cells.scores[self._of_row]

    @cached_property
    def hits(self) -> Hits:
        """Of each row."""
        return self.cells.hits[self._of_row]

    @property
    def rest(self) -> None:
        """What a summary does not keep."""
        return None

    @cached_property
    def groups(self) -> Labels | None:
        """Of each row."""
        return None if self.cells.groups is None else self.cells.groups[self._of_row]

    def part(self, chosen: NDArray[np.bool_ | np.integer]) -> "CountedScores":
        """Return the rows of some cells, given as indices or as a mask."""
        return CountedScores(self.cells.rows(chosen), self.times.values[chosen])

    def moved(self, scores: Floats) -> "CountedScores":
        """Return the same rows with other scores; shape (n_cells,)."""
        cells = EventScores(scores, self.cells.hits)
        if self.cells.groups is not None:
            cells = with_groups(cells, self.cells.groups)
        return CountedScores(cells, self.times.values)

    def taken(self, rng: np.random.Generator, n_rows: int) -> NDArray[np.intp]:
        """Return the cells of so many of the rows, taken at random, ascending."""
        times = self.times.values.astype(np.int64)
        if self.n_samples < _MOST_URN:
            counts = rng.multivariate_hypergeometric(times, n_rows, method="marginals")
        else:
            counts = rng.multinomial(n_rows, times / times.sum())
        return np.repeat(np.arange(times.size), counts)

    def __repr__(self) -> str:  # noqa: D105 - as of every result
        return f"rows of a summary({self.n_samples})"


@runtime_checkable
class Countable(Protocol):
    """What has its rows counted by score: `calibcore.summary.Summary`, which comes later."""

    @property
    def event_scores(self) -> CountedScores:
        """The rows."""


def counted_scores(counted: Tally, group: int | None = None) -> CountedScores:
    """Return the rows of a tally of equal rows, all of one group where one is given.

    >>> counted_scores(tally([0.6, 0.2, 0.6], [1, 0, 0])).cells.hits.tolist()
    [0, 0, 1]
    """
    times = np.stack([counted.counts - counted.hits, counted.hits], axis=1).ravel()
    some = times > 0
    scores, hits = np.repeat(counted.scores, 2), np.tile([0, 1], counted.scores.size)
    cells = EventScores(scores[some], hits[some])
    if group is not None:
        cells = with_groups(cells, np.full(cells.n_samples, group))
    return CountedScores(cells, times[some], counted)


def joined(parts: list[CountedScores], counted: Tally | None = None) -> CountedScores:
    """Return the rows of several as one, in order of score and outcome.

    ``counted``: all of them by score, where that is known.
    """
    columns = [np.concatenate([getattr(one.cells, name) for one in parts])
               for name in ("scores", "hits", "groups")]  # fmt: skip
    order = np.lexsort(columns[::-1])
    scores, hits, groups = (column[order] for column in columns)
    times = np.concatenate([one.times.values for one in parts])[order]
    return CountedScores(with_groups(EventScores(scores, hits), groups), times, counted)


def score_quantiles(event: EventScores, shares: ArrayLike) -> Floats:
    """Return the scores below which these shares of the rows lie, as `numpy.quantile` does."""
    if not isinstance(event, CountedScores):
        return np.asarray(np.quantile(event.scores, np.asarray(shares, dtype=np.float64)))
    counted, places = event.counted, np.asarray(shares) * (event.n_samples - 1)
    ends, below = np.cumsum(counted.counts), np.floor(places)
    low, high = (
        counted.scores[np.searchsorted(ends, np.minimum(at, event.n_samples - 1), side="right")]
        for at in (below, below + 1)
    )
    return np.asarray(low + (places - below) * (high - low))


def weighted(event: EventScores) -> tuple[EventScores, RowWeights | None]:
    """Return rows as few with weights: cells with their numbers, where they are counted.

    >>> rows, weights = weighted(counted_scores(tally([0.6, 0.2, 0.6], [1, 0, 1])))
    >>> rows.scores.tolist(), weights.values.tolist()
    ([0.2, 0.6], [1.0, 2.0])
    """
    if isinstance(event, CountedScores):
        return event.cells, event.times
    return event, event.weights


def deal_cells(
    rows: CountedScores, *, n_folds: int, seed: int
) -> tuple[CountedScores, NDArray[np.intp]]:
    """Deal rows to folds at random, by outcome; return them in new cells, and the fold of each.

    Of more than `_MOST_DEALT` rows of an outcome, each is dealt by itself.

    >>> rows = counted_scores(tally([0.5] * 6, [0, 0, 1, 1, 1, 1]))
    >>> rows, fold = deal_cells(rows, n_folds=2, seed=0)
    >>> rows.times.values.tolist(), fold.tolist()
    ([1.0, 1.0, 2.0, 2.0], [0, 1, 0, 1])
    """
    if rows.n_samples < 2:
        raise CalibrationInputError("rows", f"{rows.n_samples} of a summary", "at least 2")
    rng, times = np.random.default_rng(seed), rows.times.values.astype(np.int64)
    parts = np.zeros((times.size, n_folds), dtype=np.int64)
    first = 0
    for outcome in (0, 1):
        own = np.flatnonzero(rows.cells.hits == outcome)
        if (n_own := int(times[own].sum())) > _MOST_DEALT:
            parts[own] = rng.multinomial(times[own], np.full(n_folds, 1 / n_folds))
            continue
        shuffled = rng.permutation(np.repeat(np.arange(own.size), times[own]))
        places = shuffled * n_folds + (first + np.arange(n_own)) % n_folds
        parts[own] = np.bincount(places, minlength=own.size * n_folds).reshape(-1, n_folds)
        first += n_own
    cell, fold = np.nonzero(parts)
    each = parts[cell, fold].astype(np.float64)
    return CountedScores(rows.cells.rows(cell), each, rows.counted), fold


def rejoin_cells(rows: CountedScores) -> CountedScores:
    """Return rows in the cells that they had before `deal_cells` cut these up.

    >>> rows = counted_scores(tally([0.5] * 6, [0, 0, 1, 1, 1, 1]))
    >>> rejoin_cells(deal_cells(rows, n_folds=2, seed=0)[0]).times.values.tolist()
    [2.0, 4.0]
    """
    cells = rows.cells
    columns = [one for one in (cells.scores, cells.hits, cells.groups) if one is not None]
    new = np.any([one[1:] != one[:-1] for one in columns], axis=0)
    starts = np.flatnonzero(np.concatenate([[True], new]))
    return CountedScores(
        cells.rows(starts), np.add.reduceat(rows.times.values, starts), rows.counted
    )


def mean_loss(losses: Floats, rows: Rows | None = None) -> tuple[float, float]:
    """Return the mean of what each row loses, or gains, and its standard error.

    ``rows``: whose weights and clusters count, or of which each loss is of many.

    >>> mean, error = mean_loss(np.array([0.0, 1.0, 1.0, 0.0]))
    >>> mean, round(error, 4)
    (0.5, 0.2887)
    """
    if isinstance(rows, CountedScores):
        times, n_rows = rows.times.values, rows.n_samples
        middle = float(times @ losses) / n_rows
        variance = float(times @ np.square(losses - middle)) / max(n_rows - 1, 1)
        return middle, math.sqrt(variance / n_rows)
    weights = None if rows is None else rows.weights
    shares = None if weights is None else shares_of(weights.values)
    error = mean_error(losses, shares, None if rows is None else rows.clusters)
    return row_mean(losses, weights), error
