"""Subgroups of a new batch beside those of an audited one: two that drift oppositely cancel."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.counted import CountedScores, weighted
from calibcore.data import EventScores
from calibcore.errors import CalibrationInputError
from calibcore.inference.draws import group_starts
from calibcore.results import result_class
from calibcore.validation import Floats, Labels
from calibcore.weights import row_mean, shares_of

LEAST_ROWS = 30
"""Of each batch, in a subgroup that is compared."""

_MOST_VALUES = 32
"""Scores of events, and of other rows, that are kept in a simulation; neighbours are joined."""

_MOST_URN = 1_000_000_000
"""Rows below which NumPy takes some of them without putting any back."""


@result_class
class GroupChanges:
    """The mean gap of each subgroup in both batches, of those with enough rows in both."""

    grouping: Labels
    """Which grouping; shape (n_groups,)."""
    place: Labels
    """Which of its subgroups; shape (n_groups,)."""
    rows_reference: Labels
    """Rows of the audited batch; shape (n_groups,)."""
    rows_new: Labels
    """Rows of the new batch; shape (n_groups,)."""
    reference: Floats
    """Mean score minus observed frequency in the audited batch; shape (n_groups,)."""
    new: Floats
    """The same in the new batch; shape (n_groups,)."""
    adjusted: Floats
    """p-value, if the subgroup's rows of both batches were drawn alike, or differ by no more than
    matters; adjusted for all subgroups of all groupings; shape (n_groups,).
    """
    level: float
    """Of the test, for all of them together."""

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Which subgroups moved."""
        return np.asarray(self.adjusted < self.level)


def compare_groups(  # noqa: PLR0913 - options with defaults
    reference: EventScores,
    new: EventScores,
    groupings: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    least: float = 0.0,
    level: float = 0.05,
    n_draws: int = 2000,
    seed: int = 0,
) -> GroupChanges:
    """Compare the mean gap of every subgroup of a new batch with that of an audited one.

    ``reference``, ``new``: the batches. ``groupings``: the subgroup of each row of the reference,
    and of the new batch, from 0; below 0 of none; of rows of a summary, of each cell. ``least``:
    the smallest change that matters. ``level``: of the test. ``n_draws``: how often rows are dealt
    to the batches again. ``seed``: of the draws.

    Raises `CalibrationInputError` for groupings that have not one subgroup a row.

    Within each subgroup, rows are dealt to the batches at random, so that another mix of subgroups
    is no change. The p-value of a subgroup is the share of draws in which any subgroup of its
    grouping changes as much, in units of its spread, times the number of groupings. Scores beyond
    32 of the events, and of other rows, are joined with their neighbours. Of weighted rows and of
    clusters, units are dealt: rows with their weights, or whole clusters. Of 10^9 rows and more a
    part is dealt, and its changes made as small as those of all.
    """
    rng, rows = np.random.default_rng(seed), []
    for k, pair in enumerate(groupings):
        places = [np.asarray(one, dtype=np.int64) for one in pair]
        for one, event in zip(places, (reference, new), strict=True):
            if one.shape != (event.n_cells,):
                wanted = f"one for each of {event.n_cells:,} rows"
                raise CalibrationInputError("groupings", f"shape {one.shape}", wanted)
        rows += _of_grouping(k, (reference, new), places, (least, n_draws), rng)
    table = np.array(rows, dtype=np.float64).reshape(-1, 7).T
    whole = table[:4].astype(np.int64)
    p_values = validation.scores(table[6]) if rows else table[6]
    adjusted = np.minimum(p_values * max(np.unique(whole[0]).size, 1), 1.0)
    return GroupChanges(whole[0], whole[1], whole[2], whole[3], table[4], table[5], adjusted, level)


Row = tuple[float, ...]


def _of_grouping(
    number: int,
    batches: tuple[EventScores, EventScores],
    places: list[Labels],
    how: tuple[float, int],
    rng: np.random.Generator,
) -> list[Row]:
    """Return, of each subgroup: grouping, place, rows of both, mean gap in both, p-value."""
    (least, n_draws), shared = how, np.intersect1d(places[0], places[1])
    rows, largest = [], np.zeros(n_draws)
    for place in shared[shared >= 0]:
        old, fresh = (
            _some(event, np.flatnonzero(one == place))
            for event, one in zip(batches, places, strict=True)
        )
        n_old, n_new = old.n_samples, fresh.n_samples
        if min(n_old, n_new) < LEAST_ROWS:
            continue
        gaps = [_gap(one) for one in (old, fresh)]
        changes = _changes_by_chance(old, fresh, n_draws, rng)
        spread = max(float(changes.std()), 1e-12)
        far = max(abs(gaps[1] - gaps[0]) - least, 0.0) / spread
        largest = np.maximum(largest, np.abs(changes) / spread)
        rows.append((number, int(place), n_old, n_new, *gaps, far))
    return [
        (*one[:-1], (1 + float((largest >= one[-1] * (1 - 1e-9)).sum())) / (1 + n_draws))
        for one in rows
    ]


def _some(event: EventScores, chosen: NDArray[np.intp]) -> EventScores:
    return event.part(chosen) if isinstance(event, CountedScores) else event.rows(chosen)


def _gap(event: EventScores) -> float:
    rows, weights = weighted(event)
    return row_mean(rows.scores - rows.hits, weights)


def _changes_by_chance(
    old: EventScores, new: EventScores, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Return by how much the mean gap changes where rows are dealt at random; shape (n_draws,)."""
    if any(one.weights is not None or one.clusters is not None for one in (old, new)):
        return _changes_by_units(old, new, n_draws, rng)
    values, counts = [], []
    for kind in (0, 1):
        scores, times = (
            np.concatenate(of)
            for of in zip(*(_of_kind(one, kind) for one in (old, new)), strict=True)
        )
        if not scores.size:
            continue
        different, place = np.unique(scores, return_inverse=True)
        rows = np.bincount(place, times).astype(np.float64)
        starts = group_starts(different, rows, _MOST_VALUES)
        counts.append(np.add.reduceat(rows, starts))
        values.append(np.add.reduceat(different * rows, starts) / counts[-1] - kind)
    value, count = np.concatenate(values), np.concatenate(counts)
    n_old, n_new = old.n_samples, new.n_samples
    fewer = 1 + (n_old + n_new) // _MOST_URN
    n_rows = np.rint(count / fewer).astype(np.int64)
    n_dealt = round(n_rows.sum() * n_new / (n_old + n_new))
    drawn = rng.multivariate_hypergeometric(n_rows, n_dealt, n_draws, method="marginals")
    sums = drawn @ value
    changes = sums / n_dealt - (n_rows @ value - sums) / (n_rows.sum() - n_dealt)
    return np.asarray(changes / np.sqrt(fewer))


def _of_kind(event: EventScores, kind: int) -> tuple[Floats, Floats]:
    """Return the scores of rows of one outcome, and how many rows each is."""
    rows, weights = weighted(event)
    chosen = rows.hits == kind
    times = np.ones(rows.n_samples) if weights is None else weights.values
    return rows.scores[chosen], times[chosen]


def _changes_by_units(
    old: EventScores, new: EventScores, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Return by how much the mean gap changes where units, clusters or rows, are dealt at random.

    Each with all of its weight; shape (n_draws,).
    """
    sums, sizes = [], []
    for one in (old, new):
        each = np.ones(one.n_samples) if one.weights is None else shares_of(one.weights.values)
        own = np.arange(one.n_samples)
        if one.clusters is not None:
            own = np.unique(one.clusters, return_inverse=True)[1]
        sums.append(np.bincount(own, each * (one.scores - one.hits)))
        sizes.append(np.bincount(own, each))
    n_old, gaps, rows = sizes[0].size, np.concatenate(sums), np.concatenate(sizes)
    changes = np.empty(n_draws)
    for k in range(n_draws):
        order = rng.permutation(rows.size)
        first, rest = order[:n_old], order[n_old:]
        changes[k] = gaps[rest].sum() / rows[rest].sum() - gaps[first].sum() / rows[first].sum()
    return changes
