"""Resamples of the rows, and labels drawn from the scores themselves."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.counted import CountedScores, weighted
from calibcore.data import EventScores
from calibcore.metrics.measure import EventMeasure
from calibcore.ordering import tie_ends, tie_starts
from calibcore.results import result_class
from calibcore.strips import row_strips
from calibcore.tally import Tally, spared_nats, tally
from calibcore.validation import Floats, Hits, Labels
from calibcore.weights import RowWeights

MOST_GROUPS = 1 << 10
"""Distinct scores kept in a simulation; neighbouring ones are joined where there are more."""

_FEW_A_SCORE = 30
"""Up to so many rows a score, drawing every row is faster than a binomial number."""


def grouped(counted: Tally, most: int = MOST_GROUPS) -> Tally:
    """Join neighbouring scores so that at most ``most`` are left.

    Each group holds about as many rows as the others, at their mean score; 0 and 1 stay alone.
    What the rows' own misses are `spared` is left out, as other labels will be drawn.

    ``counted``: with ``counts`` and ``hits`` of shape (n_blocks,). ``most``: at least 4.
    """
    if counted.scores.size <= most:
        return replace(counted, spared=0.0) if np.any(counted.spared) else counted
    starts = group_starts(counted.scores, counted.counts, most)
    counts = np.add.reduceat(counted.counts, starts)
    sums = np.add.reduceat(counted.counts * counted.scores, starts)
    hits = np.add.reduceat(counted.hits, starts)
    if counted.design is None:
        return Tally(sums / counts, counts, hits, counted.n_samples)
    squares = None if counted.squares is None else np.add.reduceat(counted.squares, starts)
    design = counted.design.joined(starts)
    return Tally(sums / counts, counts, hits, counted.n_samples, 0.0, design, squares, counted.own)


def group_starts(scores: Floats, counts: Floats, most: int = MOST_GROUPS) -> NDArray[np.intp]:
    """Return the first score of each group, as of `grouped`; each score its own if they are few."""
    if scores.size <= most:
        return np.arange(scores.size)
    totals = np.cumsum(counts)
    group = np.ceil(totals / totals[-1] * (most - 3))
    group[scores == 0] = -1
    group[scores == 1] = most
    return tie_starts(tie_ends(group))


def redrawn(rng: np.random.Generator, counted: Tally, frequency: Floats, n_draws: int) -> Tally:
    """Resample outcomes with the given frequency per score.

    ``rng``: where the draws come from. ``counted``: the rows; its hits do not count. ``frequency``:
    in [0, 1]; the scores themselves for a perfectly calibrated model; shape (n_blocks,).
    ``n_draws``: how many times.

    With ``hits`` of shape (n_draws, n_blocks).

    Rows with sampling weights or clusters keep how their own gaps vary, whatever that is
    (`calibcore.weights.OrderedDesign.drawn_gaps`): hits are then what is expected of the frequency,
    less such gaps; no whole numbers, and a few below 0 or above the rows. A draw that would have
    fewer hits than none in all has none, and one of more than all rows has all.
    """
    if counted.design is not None:
        gaps, own = counted.design.drawn_gaps(rng, n_draws, frequency)
        squares = counted.counts if counted.squares is None else counted.squares
        own += float(squares @ np.square(counted.scores - frequency))
        hits = counted.counts * frequency - gaps
        total, n_rows = hits.sum(axis=1), counted.counts.sum()
        hits[total <= 0], hits[total >= n_rows] = 0.0, counted.counts
        return replace(counted, hits=hits, own=own)
    counts = counted.counts.astype(np.intp)
    if counted.n_samples > _FEW_A_SCORE * counts.size:
        drawn = rng.binomial(counts, frequency, size=(n_draws, counts.size))
        return replace(counted, hits=drawn.astype(np.float64))
    of_rows = np.repeat(frequency, counts)
    rows = rng.random((n_draws, counted.n_samples)) < of_rows
    if counts.size == counted.n_samples:
        return replace(counted, hits=rows.astype(np.float64))
    # Differences of running totals take a third of the time of sums from start to start.
    totals = np.cumsum(rows, axis=1, dtype=np.int32)[:, np.cumsum(counts) - 1]
    return replace(counted, hits=np.diff(totals, axis=1, prepend=0).astype(np.float64))


def redrawn_for(
    rng: np.random.Generator,
    counted: Tally,
    frequency: Floats,
    n_draws: int,
    measures: Sequence[EventMeasure],
) -> list[Tally]:
    """Resample outcomes for each of some measures, as `redrawn`.

    Measures that need ``whole`` outcomes have those of as many equal rows as tell as much, or of a
    stated prevalence those of the rows themselves, each weighted by its outcome; all have where
    hits, or misses, are so few that sums of them are far from normal, but for statistics of tests,
    which grow with the number of rows.
    """
    few = are_few(counted)
    wholes = [one.whole or (few and not one.is_tested_only) for one in measures]
    drawn = whole = counted
    if counted.design is None or not all(wholes):
        drawn = redrawn(rng, counted, frequency, n_draws)
    if counted.design is None or not any(wholes):
        return [drawn] * len(measures)
    of_whole = rng.spawn(1)[0]
    if counted.design.prior is not None:
        rows = counted.design.prior.drawn_rows(of_whole, frequency, counted.rows_at, n_draws)
        whole = replace(counted, counts=rows[0], hits=rows[1], own=None)
    else:
        effect = counted.design.effect_at_most if few else counted.design.effect_by_score
        equal, scores = equal_rows(counted, effect)
        whole = redrawn(of_whole, equal, frequency[scores], n_draws)
    return [whole if one else drawn for one in wholes]


_FEW = 20, 100
"""Hits, or misses, among equal rows that are always few, and those that never are."""


def are_few(counted: Tally) -> bool:
    """Return whether weighted rows have few hits or misses, as seen or as the scores expect.

    Few are less than 100; of clusters, less than these: sums of several in each are nearly normal.
    Rows of a stated prevalence have as many as there are: these are given, and drawn as such.

    >>> from calibcore.tally import tally
    >>> are_few(tally([0.01] * 500, [1] * 5 + [0] * 495, None, [1.0] * 500))
    True
    """
    design = counted.design
    if design is None or design.prior is not None:
        return False
    n_rows = counted.counts.sum()
    hits = np.array([counted.hits.sum(), counted.counts @ counted.scores])
    fewest = float(np.minimum(hits, n_rows - hits).min())
    return bool(fewest / design.effect_by_score < np.clip(design.n_units, *_FEW))


def equal_rows(counted: Tally, effect: float) -> tuple[Tally, NDArray[np.bool_]]:
    """Return equal rows that tell frequencies by score as well as weighted ones or clusters do.

    They are spread over the scores as the weights are, with hits alike. Also which scores some of
    them have. ``counted``: with a design. ``effect``: by which so many rows tell less.

    >>> from calibcore.tally import tally
    >>> rows, _ = equal_rows(tally([0.2, 0.2, 0.6, 0.6], [0, 1, 0, 1], None, [1.0] * 4), 1.0)
    >>> rows.counts.tolist(), rows.n_samples
    ([2.0, 2.0], 4)
    """
    n_rows = max(round(counted.n_samples / effect), 1)
    so_far = np.cumsum(counted.counts) / counted.counts.sum() * n_rows
    counts = np.diff(np.floor(so_far + 0.5), prepend=0.0)
    some = counts > 0
    hits = (counts * counted.hits / counted.counts)[some]
    return Tally(counted.scores[some], counts[some], hits, n_rows), some


def tally_of(event: EventScores) -> Tally:
    """Count the rows of an event by score, with their weights and clusters."""
    if isinstance(event, CountedScores):
        return event.counted
    return tally(
        event.scores, event.hits, event.rest, event.weights, event.clusters, prior=event.prior
    )


_MOST_CELLS = 1 << 13
"""Cells of counted rows that are drawn one by one; neighbours are drawn together beyond."""


def neighbours_joined(
    event: EventScores, most: int = _MOST_CELLS
) -> tuple[EventScores, RowWeights | None, NDArray[np.intp]]:
    """Return rows with weights, as `calibcore.counted.weighted` does, of fewer scores.

    Of rows of a summary with more than ``most`` scores, neighbours of one outcome and group are one
    cell with their mean score. Third, the place of one of its rows in the event.

    >>> from calibcore.counted import counted_scores
    >>> scores = np.linspace(0, 1, 101)
    >>> rows, weights, _ = neighbours_joined(counted_scores(tally(scores, [0] * 101)), most=10)
    >>> rows.n_samples < 11, weights.values.sum().item(), (weights.values @ rows.scores).round(9)
    (True, 101.0, np.float64(50.5))
    """
    rows, weights = weighted(event)
    if not isinstance(event, CountedScores) or weights is None or event.counted.scores.size <= most:
        return rows, weights, np.arange(rows.n_samples)
    counted = event.counted
    firsts = counted.scores[group_starts(counted.scores, counted.counts, most)]
    number = 2 * (np.searchsorted(firsts, rows.scores, side="right") - 1) + rows.hits
    if rows.groups is not None:
        number = number * (int(rows.groups.max()) + 1) + rows.groups
    _, place, own = np.unique(number, return_index=True, return_inverse=True)
    times = np.bincount(own, weights.values).astype(np.float64)
    scores = np.clip(np.bincount(own, weights.values * rows.scores) / times, 0, 1)
    return EventScores(scores, rows.hits[place]), RowWeights(times, "frequency"), place


@result_class
class SideRows:
    """The rows of a set before or after calibration."""

    event: EventScores
    """Of the chosen event."""
    probabilities: Floats | None = None
    """Of all classes, where they are known; shape (n_samples, n_classes)."""
    labels: Labels | None = None
    """True classes, where probabilities are known; shape (n_samples,)."""


_CELLS = 1 << 18
"""Counts held at once: 2 MB, which a processor's cache holds."""


def chunks(n_resamples: int, n_rows: int) -> Iterator[int]:
    """Cut resamples into chunks of bounded memory: how many are in each."""
    at_once = max(1, _CELLS // n_rows)
    return (min(at_once, n_resamples - done) for done in range(0, n_resamples, at_once))


class DrawCounts(NamedTuple):
    """How often each row is drawn, in resamples as large as the set."""

    counts: Floats
    """Whole numbers, times the weights of weighted rows; each resample's sum to ``n_rows``; shape
    (n_resamples, n_rows).
    """
    otherwise: Floats | None
    """How many of these turn out otherwise than the row did, where all rows turned out alike; shape
    (n_resamples, n_rows).
    """


def draw_rows(
    rng: np.random.Generator, n_resamples: int, n_rows: int, *, alike: bool = False
) -> DrawCounts:
    """Draw rows again.

    Where all rows turned out ``alike``, say as hits, drawing them again never shows a miss, though
    the next set may have some. Then a share of each resample's rows turns out otherwise, drawn from
    what so many rows leave likely: the beta distribution (1/2, n + 1/2) of Jeffreys' prior.
    """
    drawn = rng.integers(n_rows, size=(n_resamples, n_rows))
    drawn += np.arange(n_resamples)[:, np.newaxis] * n_rows
    counts = count_places(drawn, drawn.shape)
    if not alike:
        return DrawCounts(counts, None)
    other = rng.binomial(n_rows, rng.beta(0.5, n_rows + 0.5, size=n_resamples))
    first = np.arange(n_rows) < other[:, np.newaxis]
    return DrawCounts(counts, count_places(drawn[first], drawn.shape))


def draw_cells(
    rng: np.random.Generator, n_resamples: int, sizes: Floats, *, alike: bool = False
) -> DrawCounts:
    """Draw rows again that are counted in cells, as `draw_rows`; ``sizes``: rows of each cell."""
    n_rows = int(sizes.sum())
    counts = rng.multinomial(n_rows, sizes / n_rows, size=n_resamples)
    otherwise = None
    if alike:
        share = rng.beta(0.5, n_rows + 0.5, size=n_resamples)
        otherwise = rng.binomial(counts, share[:, np.newaxis]).astype(np.float64)
    return DrawCounts(counts.astype(np.float64), otherwise)


def other_labels(probabilities: Floats, labels: Labels) -> Labels:
    """Return each row the most probable of the classes that it is not of."""
    others = np.empty_like(labels)
    for rows in row_strips(*probabilities.shape):
        left = probabilities[rows].copy()
        left[np.arange(len(left)), labels[rows]] = -1.0
        others[rows] = left.argmax(axis=1)
    return others


def known_of_rows(
    probabilities: Floats, labels: Labels, before: Floats | None
) -> list[NDArray[Any]]:
    """Return the numbers of each row from which every measure that is a mean over rows follows.

    They are the probability of the true class, its rank, the sum of the squares, and that of the
    products with the probabilities before.

    >>> table = np.array([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])
    >>> own, rank, squares = known_of_rows(table, np.array([0, 2]), None)
    >>> own.tolist(), rank.tolist(), squares.tolist()
    ([0.5, 0.25], [0, 2], [0.375, 0.375])
    """
    own = probabilities[np.arange(len(labels)), labels]
    rank = np.empty(len(labels), dtype=np.intp)
    for rows in row_strips(*probabilities.shape):
        block, its = probabilities[rows], own[rows, np.newaxis]
        first = np.arange(block.shape[1]) < labels[rows, np.newaxis]
        rank[rows] = np.count_nonzero((block > its) | ((block == its) & first), axis=1)
    tables = [probabilities]
    if before is not None and before is not probabilities:
        tables.append(before)
    return [own, rank, *(np.einsum("ij,ij->i", probabilities, table) for table in tables)]


def count_places(places: NDArray[np.intp], shape: tuple[int, int]) -> Floats:
    """Count how often each place is drawn; places are numbered through all resamples."""
    counts = np.bincount(places.ravel(), minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


def draw_by_outcome(
    rng: np.random.Generator, n_resamples: int, weights: Floats, hits: Hits
) -> DrawCounts:
    """Draw weighted hits and misses again, each among themselves, as `draw_rows`."""
    counts = np.empty((n_resamples, hits.size))
    for outcome in (0, 1):
        own = np.flatnonzero(hits == outcome)
        drawn = draw_rows(rng, n_resamples, own.size).counts * weights[own]
        counts[:, own] = drawn * (weights[own].sum() / drawn.sum(axis=1, keepdims=True))
    return DrawCounts(counts, None)


def draw_units(
    rng: np.random.Generator,
    n_resamples: int,
    weights: Floats,
    clusters: Labels | None,
    *,
    alike: bool = False,
) -> DrawCounts:
    """Draw weighted rows, or whole clusters of rows, again; as `draw_rows`.

    ``weights``: of the rows; shape (n_rows,). ``clusters``: of each row, from 0; shape (n_rows,).
    """
    n_rows = weights.size
    n_units = n_rows if clusters is None else int(clusters.max()) + 1
    counts = draw_rows(rng, n_resamples, n_units).counts
    counts = counts if clusters is None else counts[:, clusters]
    otherwise = None
    if alike:
        share = rng.beta(0.5, n_units + 0.5, size=n_resamples)
        otherwise = rng.binomial(counts.astype(np.intp), share[:, np.newaxis]) * weights
    counts = counts * weights
    scale = n_rows / counts.sum(axis=1, keepdims=True)
    return DrawCounts(counts * scale, None if otherwise is None else otherwise * scale)


@result_class
class OrderedRows:
    """An event's rows by score, sorted once, so that any resample is a vector of counts.

    Neighbouring scores are joined where there are many, as in `null_outcomes.grouped`.
    """

    scores: Floats
    """Distinct scores, ascending, or the means of those joined; shape (n_blocks,)."""
    order: NDArray[np.intp]
    """Rows, lowest score first; shape (n_samples,)."""
    starts: NDArray[np.intp]
    """First place in ``order`` of the rows of each; shape (n_blocks,)."""
    hits: Floats
    """Hits in that order; shape (n_samples,)."""
    spared: Floats | None = None
    """Nats that a miss costs less than 1 - score says, in that order; None where none does; shape
    (n_samples,).
    """

    @classmethod
    def of(cls, event: EventScores, sizes: Floats | None = None) -> "OrderedRows":
        """Sort the rows of an event, which stand for so many equal ones, by default for one."""
        order = np.argsort(event.scores)
        ordered = event.scores[order]
        ends = tie_ends(ordered)
        starts, counts = tie_starts(ends), np.diff(ends, prepend=-1.0)
        if sizes is not None:
            counts = np.add.reduceat(sizes[order], starts)
        firsts = group_starts(ordered[ends], counts)
        scores = ordered[ends]
        if firsts.size < ends.size:
            sums = np.add.reduceat(counts * scores, firsts)
            scores = sums / np.add.reduceat(counts, firsts)
        hits = event.hits[order].astype(np.float64)
        spared = None if event.rest is None else spared_nats(ordered, event.rest[order])
        spared = spared if spared is not None and spared.any() else None
        return cls(scores, order, starts[firsts], hits, spared)

    @property
    def alike(self) -> bool:
        """Whether all rows are hits, or none is."""
        return bool(self.hits.min() == self.hits.max())

    def recounted(self, drawn: DrawCounts) -> Tally:
        """Tally resamples."""
        sorted_counts = drawn.counts[:, self.order]
        hits = sorted_counts * self.hits
        if self.alike and drawn.otherwise is not None:
            hits = np.abs(hits - drawn.otherwise[:, self.order])
        spared = 0.0 if self.spared is None else (sorted_counts - hits) @ self.spared
        if self.starts.size < self.order.size:
            sorted_counts = np.add.reduceat(sorted_counts, self.starts, axis=1)
            hits = np.add.reduceat(hits, self.starts, axis=1)
        return Tally(self.scores, sorted_counts, hits, self.order.size, spared)


@result_class
class OrderedCells:
    """An event's cells by score and outcome, neighbours joined where there are many.

    They are joined by their scores before, so that one draw serves both sides.
    """

    order: NDArray[np.intp]
    """Cells, of misses first, lowest score first; shape (n_cells,)."""
    starts: NDArray[np.intp]
    """First place in ``order`` of each part; shape (n_parts,)."""
    times: Floats
    """Rows of each cell, in that order; shape (n_cells,)."""
    sizes: Floats
    """Rows of each part; shape (n_parts,)."""
    rows: OrderedRows
    """A row of each part."""

    @classmethod
    def of(cls, event: CountedScores, before: CountedScores) -> "OrderedCells":
        """Sort the cells of an event, which has those of another with other scores."""
        hits = event.cells.hits
        order = np.lexsort((before.cells.scores, hits))
        times = event.times.values[order]
        starts = np.arange(order.size)
        if order.size > _MOST_CELLS:
            place = np.ceil(np.cumsum(times) / times.sum() * _MOST_CELLS)
            certain = np.isin(before.cells.scores[order], (0.0, 1.0))
            keys = np.stack([place, hits[order], certain])
            starts = np.flatnonzero(np.any(np.diff(keys, prepend=-1.0), axis=0))
        sizes = np.add.reduceat(times, starts)
        scores = np.add.reduceat(event.cells.scores[order] * times, starts) / sizes
        parts = EventScores(np.minimum(scores, 1.0), hits[order][starts])
        return cls(order, starts, times, sizes, OrderedRows.of(parts, sizes))

    @property
    def alike(self) -> bool:
        """Whether all rows are hits, or none is."""
        return self.rows.alike

    def mean(self, values: Floats) -> Floats:
        """Return the mean over the rows of each part of one value a cell; shape (n_parts,)."""
        return np.asarray(
            np.add.reduceat(values[self.order] * self.times, self.starts) / self.sizes
        )

    def recounted(self, drawn: DrawCounts) -> Tally:
        """Tally resamples."""
        return replace(self.rows.recounted(drawn), n_samples=int(self.sizes.sum()))
