"""Acting on a score: who is called above a cut-off, and what that is worth."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.counted import CountedScores, mean_loss, weighted
from calibcore.data import EventScores, is_designed
from calibcore.errors import CalibrationInputError
from calibcore.inference.draws import tally_of
from calibcore.inference.intervals import Z_95, Interval, share_interval
from calibcore.results import result_class
from calibcore.tally import Tally, tally
from calibcore.validation import Floats
from calibcore.weights import OrderedDesign, sampling_weights, shares_of

LEVEL = 0.95
"""Of every interval here."""


# Rows that are weighted, or belong together -------------------------------------------------


@result_class
class RowsAlike:
    """How many rows drawn one by one would tell each share as well."""

    rows: float
    """Of the share of all rows that is called."""
    called: float
    events: float
    others: float
    """Of the share of the called that is right, of the events that is called, and of the others
    that is left alone.
    """


def weights_in(event: EventScores) -> Floats | None:
    """Return the sampling weights of rows, of mean 1; None where rows count alike."""
    return None if event.weights is None else shares_of(event.weights.values)


def rows_alike(event: EventScores, flags: NDArray[Any], part: NDArray[np.bool_]) -> float:
    """Return how many rows drawn one by one would tell a share among some rows as well.

    ``flags``: what the share is of; ``part``: among which rows; shape (n_samples,). 0 of no rows.

    Notes
    -----
    By linearisation, at most Kish's number (`calibcore.weights.OrderedDesign.rows_alike`).
    Where a prevalence is stated, by linearisation within the rows of each outcome.
    """
    if not part.any():
        return 0.0
    clusters = None
    if event.clusters is not None:
        clusters = np.unique(event.clusters[part], return_inverse=True)[1]
    weights = None if event.weights is None else sampling_weights(event.weights.values[part])
    some = flags[part]
    counted = tally(np.zeros(some.size), some, sample_weight=weights, clusters=clusters)
    alike, share = counted.rows_alike, float(counted.hits[0] / counted.counts[0])
    if event.prior is None or weights is None or not 0 < share < 1:
        return alike
    off = np.zeros(event.n_samples)
    off[part] = weights.values * (some - share) / weights.values.sum()
    kinds = [off[event.hits == outcome] for outcome in (0, 1)]
    variance = sum(one.size * float(one.var(ddof=1)) for one in kinds if one.size > 1)
    return share * (1 - share) / variance if variance > 0 else alike


# A cut-off ----------------------------------------------------------------------------------


@result_class
class AtCutoff:
    """What happens if every row with this score or a higher one is called."""

    cutoff: float
    """In [0, 1]."""
    called: float
    right: float
    missed: float
    in_vain: float
    left_alone: float
    """Rows that are called; of these, rows with the event and without; of the others, likewise
    missed and rightly left alone. Of rows with sampling weights, sums of these, whose mean over all
    rows is 1.
    """
    alike: RowsAlike | None = None
    """Of rows that are weighted or belong together."""

    @property
    def n_samples(self) -> float:
        """Rows in all."""
        return self.called + self.missed + self.left_alone

    @property
    def n_events(self) -> float:
        """Rows with the event."""
        return self.right + self.missed

    @property
    def share_called(self) -> Interval:
        """Interval of the share of rows that are called (Wilson)."""
        return self._share(self.called, self.n_samples, "rows")

    @property
    def precision(self) -> Interval | None:
        """Interval of the share of right ones among the called (PPV); None if none is called."""
        if not self.called:
            return None
        return self._share(self.right, self.called, "called")

    @property
    def sensitivity(self) -> Interval | None:
        """Interval of the share of the events that is called; None if there is no event."""
        if not self.n_events:
            return None
        return self._share(self.right, self.n_events, "events")

    @property
    def specificity(self) -> Interval | None:
        """Interval of the share of the others that is left alone; None if all are events."""
        others = self.in_vain + self.left_alone
        if not others:
            return None
        return self._share(self.left_alone, others, "others")

    def _share(
        self, some: float, rows: float, of: Literal["rows", "called", "events", "others"]
    ) -> Interval:
        if self.alike is None:
            return share_interval(some, rows, LEVEL)
        alike: float = getattr(self.alike, of)
        return share_interval(min(some / rows, 1.0) * alike, alike, LEVEL)

    @property
    def net_benefit(self) -> float:
        """Net benefit a row, as of `decision_curve`; NaN at a cut-off of 1."""
        if self.cutoff == 1:
            return math.nan
        odds = self.cutoff / (1 - self.cutoff)
        return (self.right - self.in_vain * odds) / self.n_samples

    def cost(self, alarm: float, miss: float) -> "Costs":
        """Return what acting costs in all, and what it would without a model.

        Parameters
        ----------
        alarm, miss : float
            As of `cutoff_of_costs`.
        """
        _check_costs(alarm, miss)
        others = self.n_samples - self.n_events
        return Costs(
            alarm * self.in_vain + miss * self.missed, miss * self.n_events, alarm * others
        )


@result_class
class Costs:
    """What mistakes cost in all, in the unit of the costs."""

    acting: float
    nobody: float
    everybody: float
    """Of calling by the cut-off, of calling no row, and of calling all."""


def at_cutoff(event: EventScores, cutoff: float) -> AtCutoff:
    """Call every row with a score of at least the cut-off.

    Parameters
    ----------
    event : EventScores
        Scores and outcomes.
    cutoff : float
        In [0, 1].

    Raises
    ------
    CalibrationInputError
        A cut-off out of range.

    Examples
    --------
    >>> counts = at_cutoff(EventScores([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1]), 0.4)
    >>> counts.called, counts.right, counts.missed, counts.in_vain, counts.left_alone
    (3, 2, 0, 1, 1)
    """
    everybody = np.zeros(event.n_cells, dtype=np.int64)
    (of_all,) = at_cutoff_by_group(event, cutoff, everybody, n_groups=1)
    if of_all is None:
        raise AssertionError("a set without rows")
    return of_all


def at_cutoff_by_group(
    event: EventScores, cutoff: float, places: ArrayLike, *, n_groups: int
) -> list[AtCutoff | None]:
    """Call every row with a score of at least the cut-off, and count in each group of the rows.

    Parameters
    ----------
    event, cutoff
        As for `at_cutoff`.
    places : array_like of int, shape (n_samples,)
        Group of each row, from 0; of rows of a summary, of each cell.
    n_groups : int
        Number of groups.

    Returns
    -------
    list of AtCutoff or None
        One a group; None of a group without rows.

    Raises
    ------
    CalibrationInputError
        A cut-off out of range, or not one group a row.

    Examples
    --------
    >>> rows = EventScores([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1])
    >>> first, none, last = at_cutoff_by_group(rows, 0.4, [0, 0, 2, 2], n_groups=3)
    >>> first.called, first.right, none, last.called, last.right
    (1, 0, None, 2, 2)
    """
    cutoff = float(_cutoffs(cutoff))
    where = validation.real_array(places, "places")
    if where.shape != (event.n_cells,) or where.dtype.kind not in "iu":
        wanted = f"a whole number for each of {event.n_cells:,} rows"
        raise CalibrationInputError("places", f"shape {where.shape}, {where.dtype}", wanted)
    if not 0 <= where.min() <= where.max() < n_groups:
        raise CalibrationInputError("places", "other numbers", f"from 0 to {n_groups - 1}")
    counted, has_design = isinstance(event, CountedScores), is_designed(event)
    rows, times = weighted(event)
    called = rows.scores >= cutoff
    kind = 2 * called + (rows.hits > 0)  # left alone, missed, in vain, right
    weights = times.values if times is not None and counted else weights_in(event)
    sums = np.bincount(4 * where + kind, weights, minlength=4 * n_groups)
    if counted:
        sums = sums.astype(np.int64)
    return [
        AtCutoff(
            cutoff,
            in_vain + right,
            right,
            missed,
            in_vain,
            left,
            _alike(event, called, where == k) if has_design else None,
        )
        if left + missed + in_vain + right
        else None
        for k, (left, missed, in_vain, right) in enumerate(sums.reshape(n_groups, 4).tolist())
    ]


def _alike(event: EventScores, called: NDArray[np.bool_], part: NDArray[np.bool_]) -> RowsAlike:
    hits = event.hits > 0
    return RowsAlike(
        rows_alike(event, called, part),
        rows_alike(event, hits, part & called),
        rows_alike(event, called, part & hits),
        rows_alike(event, called, part & ~hits),
    )


def cutoff_of_costs(alarm: float, miss: float) -> float:
    """Return the cut-off above which calling is worth its cost, for calibrated scores.

    Parameters
    ----------
    alarm, miss : float
        Cost of a row that is called unnecessarily, and of an event that is missed: above 0, in one
        unit.

    Returns
    -------
    float
        alarm / (alarm + miss).

    References
    ----------
    Pauker and Kassirer, *New England Journal of Medicine* 1975; Elkan, IJCAI 2001.

    Examples
    --------
    >>> cutoff_of_costs(1, 4)
    0.2
    """
    _check_costs(alarm, miss)
    return alarm / (alarm + miss)


def mean_cost(event: EventScores, cutoff: ArrayLike, *, alarm: float, miss: float) -> Floats:
    """Compute what acting costs a row at several cut-offs, from one sort.

    Parameters
    ----------
    event : EventScores
        Scores and outcomes.
    cutoff : array_like of float, shape (n_cutoffs,)
        In [0, 1]. Rows with this score or a higher one are called.
    alarm, miss : float
        As of `cutoff_of_costs`.

    Returns
    -------
    ndarray of float64, shape (n_cutoffs,)
        In the unit of the costs.

    Raises
    ------
    CalibrationInputError
        A cut-off out of range, or a cost that is not above 0.

    Examples
    --------
    >>> rows = EventScores([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1])
    >>> mean_cost(rows, [0.0, 0.4, 0.5, 1.0], alarm=1, miss=4).tolist()
    [0.5, 0.25, 1.0, 2.0]
    """
    _check_costs(alarm, miss)
    counted = tally_of(event)
    called, right = _above(counted, np.atleast_1d(_cutoffs(cutoff)))
    missed = counted.hits.sum() - right
    return np.asarray((alarm * (called - right) + miss * missed) / counted.n_samples)


def _check_costs(alarm: float, miss: float) -> None:
    for name, cost in (("alarm", alarm), ("miss", miss)):
        if not 0 < cost < math.inf:
            raise CalibrationInputError(name, str(cost), "a cost above 0")


# Net benefit --------------------------------------------------------------------------------


@result_class
class DecisionCurve:
    """What a model is worth to who acts on it, by the cut-off."""

    cutoff: Floats
    """In [0, 1), ascending; shape (n_cutoffs,)."""
    model: Floats
    every: Floats
    """Net benefit of calling by the score, and of calling all rows: right calls less unnecessary
    calls at the odds of the cut-off, a row. Of calling none it is 0. The harm of the test is taken
    off the model's; shape (n_cutoffs,).
    """
    low: Floats
    high: Floats
    """95% interval of the model's net benefit less the higher one of `every` and 0; shape
    (n_cutoffs,).
    """
    prevalence: float
    """Share of the rows that have the event: what a model that knew every outcome would gain."""

    @property
    def gain(self) -> Floats:
        """Net benefit above the better one of calling all and calling none."""
        return self.model - np.maximum(self.every, 0.0)

    def useful(self, *, clearly: bool = False) -> list[tuple[float, float]]:
        """Return the ranges of cut-offs in which the model is of use, each from its first to last.

        Parameters
        ----------
        clearly : bool, default False
            Only where the interval leaves 0 out.
        """
        of_use = (self.low if clearly else self.gain) > 0
        ends = np.flatnonzero(np.diff(of_use, prepend=False, append=False))
        return [
            (float(self.cutoff[start]), float(self.cutoff[end - 1]))
            for start, end in zip(ends[::2], ends[1::2], strict=True)
        ]


def decision_curve(
    event: EventScores, cutoff: ArrayLike, *, test_harm: float = 0.0
) -> DecisionCurve:
    """Compute the net benefit at several cut-offs from one sort.

    Parameters
    ----------
    event : EventScores
        Scores and outcomes; at least two rows.
    cutoff : array_like of float, shape (n_cutoffs,)
        In [0, 1), ascending. At 0 all rows are called.
    test_harm : float, default 0
        What it costs to have the score of a row, in events called: 1 / (how many rows one would
        test to find one event). Calling all or none needs no score, so it is taken off the model's
        net benefit alone.

    Returns
    -------
    DecisionCurve

    Raises
    ------
    CalibrationInputError
        A cut-off out of range, a harm below 0 or above 1.

    Notes
    -----
    TP / N - FP / N * t / (1 - t) - harm, where a row is called if its score is at least t. The
    interval is normal, by the variance of the rows' differences: called rows against calling none,
    rows that are not called against calling all. Of weighted rows and of clusters (and by Student's
    t of these) by linearisation.

    References
    ----------
    Vickers and Elkin, *Medical Decision Making* 2006.

    Examples
    --------
    >>> curve = decision_curve(EventScores([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1]), [0.2, 0.5])
    >>> curve.model.round(4).tolist(), curve.every.round(4).tolist()
    ([0.4375, 0.25], [0.375, 0.0])
    """
    at = _cutoffs(cutoff)
    if (at >= 1).any():
        raise CalibrationInputError("cutoff", "1", "from 0 to below 1")
    if not 0 <= test_harm <= 1:
        raise CalibrationInputError("test_harm", str(test_harm), "from 0 to 1")
    counted = tally_of(event)
    n_rows, odds = counted.n_samples, at / (1 - at)
    called, right = _above(counted, at)
    events = float(counted.hits.sum())
    model = (right - (called - right) * odds) / n_rows - test_harm
    every = (events - (n_rows - events) * odds) / n_rows
    # Against calling none a called row counts 1 or -odds; against calling all, one that is not
    # called counts -1 or odds.
    missed, left = events - right, n_rows - called - (events - right)
    squares = np.where(every > 0, missed + left * odds**2, right + (called - right) * odds**2)
    gain = model - np.maximum(every, 0.0)
    of_rows = gain + test_harm
    spread = np.sqrt(np.maximum(squares / n_rows - of_rows**2, 0) / max(n_rows - 1, 1))
    if counted.design is not None:
        spread = _spread_of_units(counted.design, at, every > 0, of_rows)
    return DecisionCurve(
        at, model, every, gain - Z_95 * spread, gain + Z_95 * spread, events / n_rows
    )


def benefit_change(
    before: EventScores, after: EventScores, cutoff: float
) -> tuple[float, Interval]:
    """Compute by how much other scores of the same rows change the net benefit at a cut-off.

    ``before``, ``after``: scores and outcomes of the same rows in one order. ``cutoff``: in [0, 1).

    The change and its interval of 95%, a row at a time: rows that both or neither calls add
    nothing, so it is far narrower than the intervals of the two. By linearisation of weighted rows
    and of clusters. Raises `CalibrationInputError` for a cut-off out of range.

    >>> rows = [1, 0, 0, 1]
    >>> change, _ = benefit_change(
    ...     EventScores([0.6, 0.6, 0.1, 0.1], rows), EventScores([0.6, 0.1, 0.1, 0.1], rows), 0.5
    ... )
    >>> change  # one false alarm less of four rows
    0.25
    """
    at = float(_cutoffs(cutoff))
    if at >= 1:
        raise CalibrationInputError("cutoff", "1", "from 0 to below 1")
    old, new = (weighted(event)[0] for event in (before, after))
    calls = (new.scores >= at).astype(np.float64) - (old.scores >= at)
    middle, error = mean_loss(calls * np.where(old.hits > 0, 1.0, -at / (1 - at)), before)
    return middle, Interval(middle - Z_95 * error, middle + Z_95 * error)


def _spread_of_units(
    design: OrderedDesign, at: Floats, against_all: NDArray[np.bool_], means: Floats
) -> Floats:
    """Return the standard errors of mean differences of weighted rows, or of rows in clusters.

    As uncertain as Student's t of so many clusters makes them; shape (n_cutoffs,).
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - a tenth of a second to import

    n_rows, n_units, errors = design.scores.size, design.n_units, np.empty(at.size)
    times = math.sqrt(n_rows / max(n_rows - 1, 1))
    if design.clusters is not None:
        times = float(stdtrit(n_units - 1, (1 + LEVEL) / 2)) / Z_95
    for k, cutoff in enumerate(at.tolist()):
        called, worth = (
            design.scores >= cutoff,
            np.where(design.hits > 0, 1, -cutoff / (1 - cutoff)),
        )
        own = np.where(called, 0.0, -worth) if against_all[k] else np.where(called, worth, 0.0)
        errors[k] = design.deviation_of(design.weights * (own - means[k])) / n_rows * times
    return errors


def _cutoffs(cutoff: ArrayLike) -> Floats:
    at = validation.real_array(cutoff, "cutoff")
    if not ((at >= 0) & (at <= 1)).all():
        raise CalibrationInputError("cutoff", str(cutoff), "from 0 to 1")
    return at


def _above(counted: Tally, cutoff: Floats) -> tuple[Floats, Floats]:
    """Return rows and hits with a score of at least each cut-off."""
    first: NDArray[np.intp] = np.searchsorted(counted.scores, cutoff, side="left")
    rows, hits = (
        np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])
        for values in (counted.counts, counted.hits)
    )
    return rows[first], hits[first]
