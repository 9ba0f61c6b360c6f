"""Rows counted by score, to be added up over days, files and machines, and audited without them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.auditing import AuditResult, audit
from calibcore.calibrators.method import Calibrator
from calibcore.counted import CountedScores, counted_scores, joined, weighted
from calibcore.data import with_groups
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import Comparison, Comparisons, SetResult
from calibcore.events import OneClass
from calibcore.grouping import Grouping
from calibcore.inference import Drift, Interval, drift_test
from calibcore.metrics import Measure
from calibcore.ordering import tie_ends, tie_starts
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.results import result_class
from calibcore.splits import Split
from calibcore.strips import row_strips
from calibcore.tally import Tally, tally
from calibcore.validation import Floats, Hits, Labels
from calibcore.verdict import mean_gap_of
from calibcore.weights import SampleWeight, frequency_weights, weights_of

Whole = NDArray[np.int64]

MOST_SCORES = 1 << 20
"""Distinct scores up to which a summary is exact."""

N_CELLS = 1 << 18
"""Cells of the grid of a summary of more; score 0 and score 1 have one of their own."""

PER_UNIT = 1 << 12
"""Cells per unit of log-odds, which they cover from -32 to 32; the outermost hold all beyond."""

MOST_GROUPS = 100
"""Groups of a `GroupedSummary`; of several columns, their combinations."""

_FEW = 1 << 53
"""Rows up to which float64 counts exactly."""

_POOLED = 2 * MOST_SCORES
"""Blocks of scores of batches that are counted before they are added up."""

_AT_ONCE = 1 << 18
"""Rows that are counted together."""

Names = tuple[str, ...]


@result_class
class Cells:
    """What a grid has besides rows and events, so that means over the rows stay exact."""

    place: Whole
    """Of each cell that has rows, ascending, from 0 to `N_CELLS` - 1; shape (n_blocks,)."""
    score_total: Floats
    """Sum of the scores of its rows; shape (n_blocks,)."""
    event_score_total: Floats
    """Sum of the scores of its rows with the event; shape (n_blocks,)."""
    brier_total: Floats
    """Sum of what its rows add to `calibcore.metrics.event_brier`; shape (n_blocks,)."""
    nll_total: Floats
    """Sum of what its rows add to `calibcore.metrics.event_nll`, in nats; shape (n_blocks,)."""

    @property
    def columns(self) -> tuple[Whole, Floats, Floats, Floats, Floats]:
        """All of them, in this order."""
        scores = self.score_total, self.event_score_total
        return self.place, *scores, self.brier_total, self.nll_total


@result_class
class Summary:
    """How many rows, and how many with the event, there are at each score.

    Summaries of parts of the rows add up to that of all of them: ``a + b``, in any order. It is
    made by `of` or `of_counts`.

    Notes
    -----
    Up to `MOST_SCORES` distinct scores the summary is exact: every measure of an event is that of
    the rows. Beyond that, scores are counted in cells of 1 / `PER_UNIT` in log-odds, whose scores
    differ by 0.00006 at most, and `error_bounds` tells how far its measures may be from those of
    the rows.

    Examples
    --------
    >>> monday, tuesday = Summary.of([0.2, 0.6], [0, 1]), Summary.of([0.6], [0])
    >>> week = monday + tuesday
    >>> week.scores.tolist(), week.rows.tolist(), week.events.tolist()
    ([0.2, 0.6], [1, 2], [0, 1])
    >>> round(week.audit().test.compare("ks_error").before, 3)
    0.133
    """

    scores: Floats
    """Distinct scores in [0, 1], ascending; on a grid, the mean score of each cell; shape
    (n_blocks,).
    """
    rows: Whole
    events: Whole
    """Rows at each score, 1 or more, and those of them with the event; shape (n_blocks,)."""
    cells: Cells | None = None
    """Of a grid; None while every distinct score is counted by itself."""

    @classmethod
    def of(
        cls, scores: ArrayLike, outcomes: ArrayLike, sample_weight: SampleWeight = None
    ) -> "Summary":
        """Count rows by score.

        Parameters
        ----------
        scores : array_like of float, shape (n_samples,)
            Predicted probability of the event (y_prob), in [0, 1].
        outcomes : array_like of {0, 1}, shape (n_samples,)
            Whether the event happened (y_true of the event).
        sample_weight : RowWeights, shape (n_samples,), optional
            How many equal rows each stands for: `calibcore.weights.frequency_weights`.

        Raises
        ------
        CalibrationInputError
            Empty input, unequal lengths, NaN, values outside the stated range; sampling weights,
            whose intervals and tests need the weight of each row.
        """
        n_rows = validation.scores(scores).size
        weights = weights_of(sample_weight, n_rows)
        if weights is not None and not weights.counts:
            wanted = "frequency weights or none, as a summary keeps no weight of each row"
            raise CalibrationInputError("sample_weight", "sampling weights", wanted)
        if weights is None and n_rows > max(MOST_SCORES, _AT_ONCE):
            batches = BatchCounts()
            batches.add(scores, outcomes)
            return batches.summary.whole
        counted = tally(scores, outcomes, sample_weight=weights)
        counts, hits = counted.counts.astype(np.int64), counted.hits.astype(np.int64)
        return _fitted(cls(counted.scores, counts, hits))

    @classmethod
    def of_counts(cls, scores: ArrayLike, rows: ArrayLike, events: ArrayLike) -> "Summary":
        """Take rows that are counted by score already, as `summary_sql` counts them.

        Parameters
        ----------
        scores : array_like of float, shape (n_groups,)
            In [0, 1]; a score may come more than once.
        rows, events : array_like of int, shape (n_groups,)
            Rows at each score, 0 or more, and those of them with the event.

        Raises
        ------
        CalibrationInputError
            Values outside the stated range, unequal lengths, NaN, or no row at all.

        Examples
        --------
        >>> Summary.of_counts([0.6, 0.2], [2, 1], [1, 0]).n_samples
        3
        """
        checked = validation.scores(scores) + 0.0
        counts = _whole(rows, "rows", checked.size)
        hits = _whole(events, "events", checked.size)
        if np.any(hits > counts):
            raise CalibrationInputError("events", "more than rows", "at most as many as rows")
        seen = counts > 0
        if not seen.any():
            raise CalibrationInputError("rows", "none at any score", "at least 1 row")
        if float(counts.sum(dtype=np.float64)) > _FEW:
            raise CalibrationInputError("rows", f"more than {_FEW:,}", "as many as can be counted")
        distinct, *sums = _added(checked[seen], counts[seen], hits[seen])
        return _fitted(cls(distinct, sums[0], sums[1]))

    def __add__(self, other: "Summary") -> "Summary":
        """Summarise the rows of both."""
        if not isinstance(other, Summary):
            return NotImplemented
        if self.cells is None and other.cells is None:
            pairs = (self.scores, other.scores), *_counts(self, other)
            scores, rows, events = _added(*map(np.concatenate, pairs))
            return _fitted(Summary(scores, rows, events))
        return _added_grids(on_grid(self), on_grid(other))

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @property
    def n_events(self) -> int:
        """Number of rows with the event."""
        return int(self.events.sum())

    @property
    def is_exact(self) -> bool:
        """Whether every distinct score is counted by itself."""
        return self.cells is None

    @property
    def whole(self) -> "Summary":
        """Itself; of a `GroupedSummary` all of its rows."""
        return self

    @property
    def counted(self) -> Tally:
        """What measures of an event take."""
        counts = self.rows.astype(np.float64), self.events.astype(np.float64)
        return Tally(self.scores, *counts, self.n_samples)

    @property
    def error_bounds(self) -> dict[str, float]:
        """By how much measures may be from those of the rows, by their keys; all 0 while exact.

        Others than these are of scores that are moved by less than 0.00006, without a proven bound.

        Notes
        -----
        Along the rows of a cell the cumulative gap rises at misses, by U in all, and falls at hits,
        by D in all. From one end of the cell it rises by U at most, and seen from the other end it
        is above it by D at most: so it is beyond both ends by no more than min(U, D), from which
        the KS error's bound, and twice that for Kuiper's. Pairs of a hit and a miss in one cell
        count one half for the AUROC, and are worth 0 to 1.

        Examples
        --------
        >>> Summary.of([0.2, 0.6], [0, 1]).error_bounds["ks_error"]
        0.0
        """
        keys = "mean_score", "hit_rate", "mean_gap", "event_brier", "event_nll", "certain_misses"
        bounds = dict.fromkeys((*keys, "observed_expected_ratio"), 0.0)
        gap = pairs = 0.0
        if self.cells is not None:
            rises = self.cells.score_total - self.cells.event_score_total
            falls = self.events - self.cells.event_score_total
            gap = float(np.maximum(np.minimum(rises, falls), 0).max()) / self.n_samples
            hits, misses = self.events.astype(np.float64), (self.rows - self.events) + 0.0
            possible = hits.sum() * misses.sum()
            pairs = float(hits @ misses / 2 / possible) if possible else 0.0
        return bounds | {"ks_error": gap, "kuiper": 2 * gap, "auroc": pairs}

    @property
    def event_scores(self) -> CountedScores:
        """The rows, which are written out only where something needs each of them."""
        return counted_scores(self.counted)

    def audit(
        self,
        *,
        calibrator: Calibrator | str | None = None,
        calibration: "Summary | None" = None,
        n_bins: int = 15,
        seed: int = 0,
    ) -> AuditResult:
        """Say whether the probabilities can be believed, as `calibcore.audit` says it of the rows.

        Parameters
        ----------
        calibrator : ScoreMap, str or None
            Of scores: an object, or a key of `calibcore.calibrators.CATALOGUE`.
        calibration : Summary, optional
            Of other rows, to fit on; by default rows are dealt to five folds at random.
        n_bins : int, default 15
            Bins of the reliability diagram and of the binned measures.
        seed : int, default 0
            Of the folds.

        Returns
        -------
        AuditResult
            As of the rows; measures of all classes are None.

        Raises
        ------
        CalibrationInputError
            A calibrator that needs the logits of all classes; of more than 200,000,000 rows, later,
            whatever needs each of them, such as a report.

        Notes
        -----
        Of up to 10,000 rows intervals are those of the rows; of more, equal rows are drawn by their
        number, which is the same in distribution. On a grid, whatever is fitted or drawn is of the
        mean scores of its cells.
        """
        given = self if calibration is None else Split(calibration.event_scores, self.event_scores)
        result = audit(given, event=OneClass(1), calibrator=calibrator, n_bins=n_bins, seed=seed)
        return self.better_known(result)

    def better_known(self, result: AuditResult) -> AuditResult:
        """Return an audit of these very rows with what a grid knows better than its scores tell.

        Parameters
        ----------
        result : AuditResult
            Of `event_scores`; as it is where each distinct score is counted by itself.
        """
        if self.cells is None:
            return result
        known = Comparisons(_ExactMeasures(result.test, self._exact))
        test = replace(result.test, comparisons=known)
        return replace(
            result, test=test, calibration=test if result.in_folds else result.calibration
        )

    @property
    def _exact(self) -> dict[str, float]:
        """Return what a grid knows better than its scores tell."""
        if self.cells is None:
            return {}
        totals = {"event_brier": self.cells.brier_total, "event_nll": self.cells.nll_total}
        return {key: float(total.sum()) / self.n_samples for key, total in totals.items()}


@dataclass(frozen=True, eq=False)
class _ExactMeasures:
    """The measures of a grid, some of which it knows better of the rows as they are."""

    result: SetResult
    exact: Mapping[str, float]

    def __call__(self, measures: Sequence[Measure]) -> list[Comparison]:
        return [self._of(self.result.compare(one.key)) for one in measures]

    def _of(self, row: Comparison) -> Comparison:
        before = self.exact.get(row.measure.key, row.before)
        return replace(row, before=before, after=row.after if self.result.calibrated else before)


@result_class
class GroupedSummary:
    """How many rows there are at each score, and with the event, in each group of some columns.

    Grouped summaries of parts of the rows add up like summaries. Where their columns differ, the
    sum has the groups of those that both have; with a summary without groups it has none.

    While the distinct scores of all groups together are `MOST_SCORES` at most, each is counted by
    itself; beyond that, all groups are on the grid.
    """

    columns: Names
    """What the rows are grouped by."""
    names: tuple[Names, ...]
    """Of each group its value in each column, "" where that is missing; all different, in
    alphabetical order. Of several columns, a group is a combination of values.
    """
    parts: tuple[Summary, ...]
    """The rows of each group."""

    @classmethod
    def of(
        cls, scores: ArrayLike, outcomes: ArrayLike, groups: Mapping[str, ArrayLike]
    ) -> "GroupedSummary":
        """Count rows by score and group.

        ``scores``, ``outcomes``: as for `Summary.of`. ``groups``: by the column, numbers or names
        by which rows are grouped, as for `calibcore.grouping.Grouping`; shape (n_samples,).

        Raises `CalibrationInputError` as `Summary.of` does, and for no column or more than
        `MOST_GROUPS` groups.
        """
        counts = BatchCounts(tuple(groups))
        known = [Grouping.of(values) for values in groups.values()]
        places = (one.numbers(values) for one, values in zip(known, groups.values(), strict=True))
        coded = [(place, one.names) for place, one in zip(places, known, strict=True)]
        counts.add(scores, outcomes, coded)
        summary = counts.summary
        if not isinstance(summary, GroupedSummary):
            raise CalibrationInputError("groups", "none", "a column of groups")
        return summary

    @classmethod
    def of_parts(cls, columns: Sequence[str], parts: Mapping[Names, Summary]) -> "GroupedSummary":
        """Take groups that are counted already.

        ``columns``: what they are by, at least one; all different. ``parts``: the rows of each
        group, by its value in each column; no row is in two.

        Raises `CalibrationInputError` for no group, more than `MOST_GROUPS`, and one without a
        value for each column.
        """
        check_groups(columns, len(parts))
        if any(len(name) != len(columns) for name in parts):
            raise CalibrationInputError("groups", "other names", "a value of each column")
        names = tuple(sorted(parts))
        summaries = [parts[name] for name in names]
        fine = sum(one.scores.size for one in summaries) <= MOST_SCORES
        if not (fine and all(one.is_exact for one in summaries)):
            summaries = [on_grid(one) for one in summaries]
        return cls(tuple(columns), names, tuple(summaries))

    def __add__(self, other: "AnySummary") -> "AnySummary":
        """Summarise the rows of both, in the groups that both know."""
        if not isinstance(other, Summary | GroupedSummary):
            return NotImplemented
        both = [name for name in self.columns if name in getattr(other, "columns", ())]
        if not both or isinstance(other, Summary):
            return self.whole + other.whole
        parts = self._by(both)
        for name, part in other._by(both).items():
            parts[name] = parts[name] + part if name in parts else part
        return GroupedSummary.of_parts(both, parts)

    __radd__ = __add__

    @cached_property
    def whole(self) -> Summary:
        """All rows."""
        return reduce(add, self.parts)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return sum(part.n_samples for part in self.parts)

    @property
    def n_events(self) -> int:
        """Number of rows with the event."""
        return sum(part.n_events for part in self.parts)

    @property
    def is_exact(self) -> bool:
        """Whether every distinct score is counted by itself."""
        return all(part.is_exact for part in self.parts) and self.whole.is_exact

    def audit(
        self, *, calibrator: Calibrator | str | None = None, n_bins: int = 15, seed: int = 0
    ) -> AuditResult:
        """Audit all rows, and the groups of each column, as `calibcore.audit` does with groups.

        ``calibrator``, ``n_bins``, ``seed``: as for `Summary.audit`.

        The verdict names the groups that are miscalibrated. Raises `CalibrationInputError` as
        `Summary.audit` does.
        """
        rows = self.event_scores
        groupings = tuple(
            Grouping(tuple(sorted({names[k] for names in self.names})), column)
            for k, column in enumerate(self.columns)
        )
        places = [
            one.numbers([names[k] for names in self.names]) for k, one in enumerate(groupings)
        ]
        cells = with_groups(rows.cells, np.stack(places, axis=1)[rows.cells.groups])
        known = CountedScores(cells, rows.times.values, rows.counted)
        result = audit(known, event=OneClass(1), calibrator=calibrator, n_bins=n_bins, seed=seed)
        request = result.request and replace(result.request, groupings=groupings)
        return self.whole.better_known(replace(result, request=request))

    def by(self, column: str) -> dict[str, Summary]:
        """Return the rows of each group of one column, by its name; as `audit_groups` takes them.

        Raises `CalibrationInputError` for no such column.
        """
        if column not in self.columns:
            wanted = f"one of {', '.join(self.columns)}"
            raise CalibrationInputError("column", repr(column), wanted)
        return {name: part for (name,), part in sorted(self._by([column]).items())}

    def _by(self, columns: Sequence[str]) -> dict[Names, Summary]:
        places = [self.columns.index(column) for column in columns]
        parts: dict[Names, Summary] = {}
        for names, part in zip(self.names, self.parts, strict=True):
            own = tuple(names[place] for place in places)
            parts[own] = parts[own] + part if own in parts else part
        return parts

    @cached_property
    def event_scores(self) -> CountedScores:
        """The rows, whose ``groups`` are places among ``names``.

        On the grid, the score of a cell is that of all groups together.
        """
        parts = [counted_scores(self._counted(part), k) for k, part in enumerate(self.parts)]
        return joined(parts, self.whole.counted)

    def _counted(self, part: Summary) -> Tally:
        whole, cells = self.whole, part.cells
        if cells is None or whole.cells is None:
            return part.counted
        scores = whole.scores[np.searchsorted(whole.cells.place, cells.place)]
        return replace(part.counted, scores=scores)


AnySummary = Summary | GroupedSummary


def check_groups(columns: Sequence[str], n_groups: int) -> None:
    """Refuse columns that are none, or with more groups than are counted."""
    if not columns or len({*columns}) < len(columns):
        raise CalibrationInputError("groups", "no column, or one twice", "different columns")
    if not 0 < n_groups <= MOST_GROUPS:
        named = " and ".join(columns)
        actual = f"more than {MOST_GROUPS} groups of {named}" if n_groups else "none"
        wanted = f"at most {MOST_GROUPS} of all columns together: fewer values, or fewer columns"
        raise CalibrationInputError("groups", actual, wanted)


def audit_groups(
    groups: Mapping[str, Summary],
    *,
    calibrator: Calibrator | str | None = None,
    n_bins: int = 15,
    seed: int = 0,
) -> AuditResult:
    """Audit the rows of several groups together, and each group, as `calibcore.audit` does.

    ``groups``: the rows of each group, by its name; no row is in two. ``calibrator``, ``n_bins``,
    ``seed``: as for `Summary.audit`.

    The verdict names the groups that are miscalibrated. Raises `CalibrationInputError` for no
    group, and as `Summary.audit` does.
    """
    if not groups:
        raise CalibrationInputError("groups", "none", "a summary of each group")
    grouping = Grouping(tuple(groups))
    rows = joined([counted_scores(one.counted, k) for k, one in enumerate(groups.values())])
    result = audit(rows, event=OneClass(1), calibrator=calibrator, n_bins=n_bins, seed=seed)
    return replace(
        result, request=result.request and replace(result.request, groupings=(grouping,))
    )


@result_class
class Period:
    """One of several summaries in the order of time."""

    name: str
    """Of the summary."""
    n_samples: int
    """Rows."""
    hit_rate: float
    """Observed frequency."""
    ks_error: float
    mean_gap: float
    """Mean score minus observed frequency."""
    interval: Interval
    """Of the mean gap, 95%."""


def in_time(
    parts: Mapping[str, Summary], *, n_resamples: int = 1000, seed: int = 0
) -> tuple[tuple[Period, ...], Drift | None]:
    """Evaluate summaries one by one, such as one a day, and test whether the gap changes.

    ``parts``: by their names, the first first; no row is in two. ``n_resamples``: draws for each
    interval. ``seed``: of all draws.

    A period for each, and what `calibcore.inference.drift_test` finds in them. Raises
    `CalibrationInputError` for no summary, one of a single row, and fewer than 20 draws.
    """
    if not parts:
        raise CalibrationInputError("parts", "none", "summaries in the order of time")
    periods = []
    for name, part in parts.items():
        result = part.audit()
        known = result.intervals("mean_gap", n_resamples=n_resamples, seed=seed).find("mean_gap")
        side = result.test.before
        assert known.before is not None  # noqa: S101 - for the type
        figures = float(side.curves.cum_hits[-1]), side.curves.ks_error, mean_gap_of(side)
        periods.append(Period(name, part.n_samples, *figures, known.before.interval))
    rows, weights = weighted(
        joined([counted_scores(part.counted, k) for k, part in enumerate(parts.values())])
    )
    drift = drift_test(
        rows.scores,
        rows.hits,
        np.asarray(rows.groups),
        n_periods=len(parts),
        sample_weight=weights,
        seed=seed,
    )
    return tuple(periods), drift


def on_grid(summary: Summary) -> Summary:
    """Count the rows in the cells of the grid, where each distinct score was counted by itself."""
    if summary.cells is not None:
        return summary
    scores, rows, events = summary.scores, summary.rows, summary.events
    misses, left = rows - events, 1 - scores
    hit_nats, miss_nats = (-np.log(np.maximum(side, PROBABILITY_FLOOR)) for side in (scores, left))
    places, *totals, of_rows, of_events = _added(
        np.searchsorted(_tops(), scores).astype(np.int64),
        rows * scores,
        events * scores,
        events * np.square(left) + misses * np.square(scores),
        events * hit_nats + misses * miss_nats,
        rows,
        events,
    )
    return _of_cells(Cells(places, *totals), of_rows, of_events)


class GridCounts:
    """Counts batches of rows in the cells of the grid, where no score has to be sorted."""

    def __init__(self, start: Summary | None = None) -> None:
        self._sums = np.zeros((6, N_CELLS))
        if start is not None and (cells := on_grid(start).cells) is not None:
            first = on_grid(start)
            self._sums[:, cells.place] = first.rows, first.events, *cells.columns[1:]

    def add(self, scores: ArrayLike, outcomes: ArrayLike, times: ArrayLike | None = None) -> None:
        """Count rows; parameters and errors are those of `Summary.of`.

        ``times``: how many equal rows each stands for, whole numbers from 0; shape (n_samples,).
        """
        given, hits = validation.scores_and_hits(scores, outcomes)
        each = None if times is None else _whole(times, "times", given.size).astype(np.float64)
        place, nats = np.empty(given.size, dtype=np.int64), np.empty(given.size)
        for rows in row_strips(given.size, 4):  # of numbers that stay in a processor's cache
            sides = given[rows], 1 - given[rows]
            hit_nats, miss_nats = (-np.log(np.maximum(side, PROBABILITY_FLOOR)) for side in sides)
            place[rows] = _places(given[rows], miss_nats - hit_nats)
            nats[rows] = np.where(hits[rows], hit_nats, miss_nats)
        first = int(place.min())
        place -= first
        n_cells = int(place.max()) + 1
        kind = 2 * place + hits

        def weighed(values: Floats) -> Floats:
            return values if each is None else values * each

        counts = np.bincount(kind, each, minlength=2 * n_cells).reshape(-1, 2)
        totals = np.bincount(kind, weighed(given), minlength=2 * n_cells).reshape(-1, 2)
        sums = self._sums[:, first : first + n_cells]
        sums[0] += counts[:, 0] + counts[:, 1]  # which sums along two numbers do slowly
        sums[1] += counts[:, 1]
        sums[2] += totals[:, 0] + totals[:, 1]
        sums[3] += totals[:, 1]
        sums[4] += np.bincount(place, weighed(np.square(given - hits)))
        sums[5] += np.bincount(place, weighed(nats))

    @property
    def summary(self) -> Summary:
        """All rows that were added, one at least."""
        place = np.flatnonzero(self._sums[0])
        rows, events, *totals = self._sums[:, place]
        return _of_cells(Cells(place, *totals), rows.astype(np.int64), events.astype(np.int64))


class BatchCounts:
    """Counts batches of rows, whatever their number, by groups where they have some.

    Distinct scores are counted one by one while they are few, then in the cells of the grid.

    ``columns``: what rows are grouped by; () for not at all.
    """

    def __init__(self, columns: Sequence[str] = ()) -> None:
        self.columns = tuple(columns)
        self._parts: dict[Names, list[Summary]] = {}
        self._grids: dict[Names, GridCounts] | None = None

    def add(
        self,
        scores: ArrayLike,
        outcomes: ArrayLike,
        groups: Sequence[tuple[Labels, Sequence[str]]] = (),
        times: ArrayLike | None = None,
    ) -> None:
        """Count rows.

        ``groups``: of each column the place of each row among names. ``times``: how many equal rows
        each stands for, whole numbers from 1; shape (n_samples,).
        """
        given, hits = validation.scores_and_hits(scores, outcomes)
        each = None if times is None else _whole(times, "times", given.size)
        for first in range(0, given.size, _AT_ONCE):
            rows = slice(first, first + _AT_ONCE)
            own = [(places[rows], names) for places, names in groups]
            self._add(given[rows], hits[rows], own, None if each is None else each[rows])

    def _add(
        self,
        given: Floats,
        hits: Hits,
        groups: Sequence[tuple[Labels, Sequence[str]]],
        each: Whole | None,
    ) -> None:
        for names, rows in rows_of_groups(groups, given.size, self.columns):
            own, weight = (given[rows], hits[rows]), None if each is None else each[rows]
            if self._grids is not None:
                self._grids.setdefault(names, GridCounts()).add(*own, weight)
            else:
                weights = None if weight is None else frequency_weights(weight)
                self._parts.setdefault(names, []).append(Summary.of(*own, weights))
        known = self._parts if self._grids is None else self._grids
        if self.columns:
            check_groups(self.columns, len(known))
        if self._grids is None and _size(self._parts) > _POOLED:
            self._parts = {names: [reduce(add, some)] for names, some in self._parts.items()}
            if _size(self._parts) > MOST_SCORES or not all(
                some[0].is_exact for some in self._parts.values()
            ):  # from now on no score needs to be sorted
                self._grids = {names: GridCounts(some[0]) for names, some in self._parts.items()}

    @property
    def summary(self) -> AnySummary:
        """All rows that were added, one at least."""
        if self._grids is not None:
            parts = {names: grid.summary for names, grid in self._grids.items()}
        else:
            parts = {names: reduce(add, some) for names, some in self._parts.items()}
        return GroupedSummary.of_parts(self.columns, parts) if self.columns else parts[()]


def _size(parts: Mapping[Names, Sequence[Summary]]) -> int:
    return sum(one.scores.size for some in parts.values() for one in some)


def rows_of_groups(
    groups: Sequence[tuple[Labels, Sequence[str]]], n_rows: int, columns: Sequence[str]
) -> list[tuple[Names, slice | NDArray[np.intp]]]:
    """Return each group that has rows by its names, and these rows; all of them without columns.

    ``groups``: as for `BatchCounts.add`. ``n_rows``: how many there are. ``columns``: of groups.

    Raises `CalibrationInputError` where there is not a group of each row in each column, and for
    more groups than are counted.

    >>> rows_of_groups([(np.array([0, 1, 0]), ("eu", "us"))], 3, ["region"])
    [(('eu',), array([0, 2])), (('us',), array([1]))]
    """
    if len(groups) != len(columns) or any(len(place) != n_rows for place, _ in groups):
        raise CalibrationInputError("groups", "other columns", "a group of each row in each column")
    if not groups:
        return [((), slice(None))]
    every: list[Names] = [()]
    of_row = np.zeros(n_rows, dtype=np.int64)
    for place, names in groups:
        different, of_row = np.unique(of_row * len(names) + place, return_inverse=True)
        check_groups(columns, different.size)
        pairs = (divmod(number, len(names)) for number in different.tolist())
        every = [(*every[before], names[own]) for before, own in pairs]
    order, ends = np.argsort(of_row, kind="stable"), np.cumsum(np.bincount(of_row))
    return [*zip(every, np.split(order, ends[:-1]), strict=True)]


def _places(scores: Floats, log_odds: Floats) -> Whole:
    """Return the cell of each score, as a search among the largest scores of cells finds it."""
    tops = _tops()
    place = np.ceil(log_odds * PER_UNIT + N_CELLS // 2)
    place = np.clip(place, 1, N_CELLS - 1).astype(np.int64)
    # Rounding moves few by one; near 0 and 1, where cells are narrower than that, they are sought.
    off = np.flatnonzero((tops[place] < scores) | (tops[place - 1] >= scores))
    place[off] = np.searchsorted(tops, scores[off])
    return place


def _fitted(summary: Summary) -> Summary:
    """Keep distinct scores while they are few enough."""
    return on_grid(summary) if summary.scores.size > MOST_SCORES else summary


def _of_cells(cells: Cells, rows: Whole, events: Whole) -> Summary:
    tops = _tops()
    bottoms = np.nextafter(tops[np.maximum(cells.place - 1, 0)], 1)
    bottoms[cells.place == 0] = 0.0
    # A mean that is rounded out of its cell could be a certain score.
    return Summary(
        np.clip(cells.score_total / rows, bottoms, tops[cells.place]), rows, events, cells
    )


def _added_grids(one: Summary, other: Summary) -> Summary:
    of_one, of_other = one.cells, other.cells
    assert of_one is not None  # noqa: S101 - for the type
    assert of_other is not None  # noqa: S101 - the same
    pairs = *zip(of_one.columns, of_other.columns, strict=True), *_counts(one, other)
    *columns, rows, events = _added(*map(np.concatenate, pairs))
    return _of_cells(Cells(*columns), rows, events)


def _counts(one: Summary, other: Summary) -> tuple[tuple[Whole, Whole], ...]:
    return (one.rows, other.rows), (one.events, other.events)


def _added(keys: NDArray[Any], *columns: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the distinct keys, ascending, and for each the sums of the columns."""
    order = np.argsort(keys, kind="stable")  # of two that are in order already, one pass
    ordered = keys[order]
    starts = tie_starts(tie_ends(ordered))
    return ordered[starts], *(np.add.reduceat(column[order], starts) for column in columns)


@lru_cache(maxsize=1)
def _tops() -> Floats:
    """Return the largest score of each cell, shape (N_CELLS,)."""
    places = np.arange(N_CELLS)
    tops = 1 / (1 + np.exp((N_CELLS // 2 - places) / PER_UNIT))
    tops[0], tops[-2:] = 0.0, (np.nextafter(1.0, 0.0), 1.0)
    tops.flags.writeable = False
    return tops


def _whole(values: ArrayLike, field: str, size: int) -> Whole:
    """Check numbers of rows."""
    array = validation.numbers(values, field)
    if array.size != size:
        actual = f"{array.size:,} values"
        raise CalibrationInputError(field, actual, f"one for each of {size:,} scores")
    if not np.all((array >= 0) & (array == np.floor(array)) & (array <= _FEW)):
        raise CalibrationInputError(
            field, "other values than whole numbers from 0", "a number of rows for each score"
        )
    return array.astype(np.int64)


def summary_sql(table: str, score: str, outcome: str) -> str:
    """Write the query whose rows `Summary.of_counts` takes, so that the data stay where they are.

    ``table``: its name, with those it is within before it, separated by dots. ``score``: the column
    of scores, numbers in [0, 1]. ``outcome``: the column of outcomes: booleans, or whole numbers 0
    and 1.

    SQL as in the standard, with names in double quotes; its columns are score, n_rows and n_events.
    Scores without a value, and outcomes that are none, are left to `Summary.of_counts`, which
    refuses them: n_events is then NULL. Raises `CalibrationInputError` for an empty name.
    """
    names = {"table": table, "score": score, "outcome": outcome}
    for field, name in names.items():
        if not name or "" in name.split("."):
            raise CalibrationInputError(field, repr(name), "a name")
    source = ".".join(map(_quoted, table.split(".")))
    column, value = _quoted(score), f"CAST({_quoted(outcome)} AS INTEGER)"
    # A sum passes over what has no value.
    return (
        f"SELECT {column} AS score, COUNT(*) AS n_rows,\n"
        f"  CASE WHEN COUNT(CASE WHEN {value} IN (0, 1) THEN 1 END) = COUNT(*)\n"
        f"  THEN SUM({value}) END AS n_events\n"
        f"FROM {source} GROUP BY {column}"
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
