"""Rows counted by score: what every measure of one event is computed from."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.ordering import order_of_rows, sort_by_score, tie_ends, tie_starts
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.results import result_class
from calibcore.validation import Floats, Hits, Labels
from calibcore.weights import (
    OrderedDesign,
    Prior,
    RowWeights,
    SampleWeight,
    cluster_numbers,
    repeats,
    shares_of,
    weights_of,
)

Result = TypeVar("Result")

_PART = 1 << 15

_STATED = 1e15
"""Rows that would tell a share as well as a statement does."""


@result_class
class Tally:
    """How many rows, and how many hits, there are at each distinct score.

    A resample of the rows, or labels drawn again, is the same scores with other counts, so one
    function computes a measure of the rows and of a thousand resamples.
    """

    scores: Floats
    """Distinct scores, ascending; shape (n_blocks,)."""
    counts: Floats
    """Rows at each score; whole numbers, 0 where a resample left a score out; shape (...,
    n_blocks). Of rows with sampling weights, the sums of these, whose mean is 1.
    """
    hits: Floats
    """Hits among them. The leading dimensions of ``counts`` and ``hits`` broadcast; shape (...,
    n_blocks).
    """
    n_samples: int
    """Rows in all, in each resample."""
    spared: Floats | float = 0.0
    """Nats that its misses cost less in all than 1 - score says, where scores are rounded to 1;
    shape (...).
    """
    design: OrderedDesign | None = None
    """The rows themselves, where they have sampling weights or belong to clusters."""
    squares: Floats | None = None
    """Squares of the sampling weights at each score, where there are some; shape (n_blocks,)."""
    own: Floats | float | None = None
    """What rows with sampling weights or clusters add to a sum over pairs by themselves; shape
    (...).
    """
    _known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    _of_rows: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What follows from scores and counts alone, which `dataclasses.replace` hands on."""

    @property
    def n_effective(self) -> float:
        """Equal rows that would be as informative: all, or Kish's number of weighted ones."""
        if self.squares is None:
            return self.n_samples
        return float(self.counts.sum() ** 2 / self.squares.sum())

    @property
    def spreads(self) -> Floats:
        """What f (1 - f) is times at each score in the variance of hits of frequency f.

        The rows, or the squares of their weights; of clusters, times their design effect.
        """
        squares = self.counts if self.squares is None else self.squares
        return squares if self.design is None else squares * self.design.cluster_effect

    @property
    def variances(self) -> Floats:
        """Variance of the gap at each score if it were the true probability; one set of rows."""
        effect = 1.0 if self.design is None else self.design.cluster_effect
        return self.variances_of(self.scores) * effect

    def variances_of(self, frequency: Floats) -> Floats:
        """Return the variance of the hits at each score, of that frequency, of rows by themselves.

        Of one set of rows; of clusters as if their rows were drawn one by one.
        """
        if self.design is not None and self.design.prior is not None:
            n_hits = float(self.design.hits.sum())
            return self.design.prior.variances(frequency, self.rows_at, n_hits)
        if self.squares is None or self.design is None:
            return np.asarray(self.counts * frequency * (1 - frequency))
        return self.squares * frequency * (1 - frequency) * self.design.tilt(frequency)

    @property
    def rows_alike(self) -> float:
        """Rows drawn one by one that would tell the share of hits as well; one set of rows."""
        if self.design is None:
            return self.n_samples
        if self.design.prior is not None:
            return _STATED
        share = float(self.hits.sum() / self.counts.sum())
        return float(self.design.rows_alike(np.array([share]), np.zeros(1, dtype=np.intp))[0])

    @property
    def rows_at(self) -> Floats:
        """Number of rows at each score, whatever their weights; one set of rows."""
        if self.design is None:
            return self.counts
        return np.diff(self.design.starts, append=self.design.scores.size).astype(np.float64)

    def parts(self) -> Iterator["Tally"]:
        """Cut along the scores into parts whose arrays stay in a processor's cache."""
        for start in range(0, self.scores.size, _PART):
            part = slice(start, start + _PART)
            yield Tally(
                self.scores[part], self.counts[..., part], self.hits[..., part], self.n_samples
            )

    def once(self, make: Callable[..., Result], *options: Hashable) -> Result:
        """Return ``make(tally, *options)``, computed once, for measures that share it.

        ``make``: a named function. ``*options``: passed on to it.
        """
        key = make, options
        if key not in self._known:
            self._known[key] = make(self, *options)
        result: Result = self._known[key]
        return result

    def once_of_rows(self, make: Callable[[Floats, Floats], Result]) -> Result:
        """Return ``make(scores, counts)``, computed once for all draws of the labels.

        ``make``: a named function of what does not depend on the hits.
        """
        entry = self._of_rows.get(make)
        if entry is None or entry[0] is not self.scores or entry[1] is not self.counts:
            entry = self.scores, self.counts, make(self.scores, self.counts)
            self._of_rows[make] = entry
        result: Result = entry[2]
        return result


def hit_sums(counted: Tally) -> Floats:
    """Add up the hits of a tally; of several resamples, of each."""
    return np.asarray(counted.hits.sum(axis=-1))


def score_sums(counted: Tally) -> Floats:
    """Add up the scores of the rows of a tally; of several resamples, of each."""
    return np.asarray(counted.counts @ counted.scores)


def count_totals(counted: Tally) -> Floats:
    """Return the rows of a tally up to each score, shape (..., n_blocks)."""
    return _running_totals(counted.counts)


def hit_totals(counted: Tally) -> Floats:
    """Return the hits of a tally up to each score, shape (..., n_blocks)."""
    return _running_totals(counted.hits)


def gaps_in_rows(counted: Tally) -> Floats:
    """Return by how many hits the scores expect too many so far, up to the end of each score.

    `calibcore.cumulative.CumulativeCurves.gap` times the number of rows; shape (..., n_blocks).

    >>> gaps_in_rows(tally([0.25, 0.5], [0, 1])).tolist()
    [0.25, -0.25]
    """
    gaps = counted.counts * counted.scores - counted.hits
    return np.cumsum(gaps, axis=-1, out=gaps)


def _running_totals(values: Floats) -> Floats:
    """Return cumulative sums along the last axis (integers are 4x faster)."""
    whole = whole_numbers(values)
    if whole is None:
        return np.cumsum(values, axis=-1)
    return np.cumsum(whole, axis=-1, dtype=np.int64).astype(np.float64)


def whole_numbers(values: Floats) -> NDArray[np.int32] | None:
    """Return rows or hits as whole numbers, which add up faster; None if any is a part of one."""
    with np.errstate(invalid="ignore"):  # of more than 2^31 rows the comparison tells
        whole = values.astype(np.int32)
    return whole if np.array_equal(whole, values) else None


def spared_nats(scores: Floats, rest: Floats) -> Floats:
    """Return by how many nats a miss of each row costs less than 1 - score says.

    >>> spared_nats(np.array([0.5, 1.0]), np.array([0.5, 1e-20])).round(1).tolist()
    [0.0, 662.3]
    """
    rounded, nats = 1 - scores, np.zeros(scores.size)
    rows = np.flatnonzero(rest != rounded)
    exact = np.maximum(rest[rows], PROBABILITY_FLOOR)
    nats[rows] = np.log(exact) - np.log(np.maximum(rounded[rows], PROBABILITY_FLOOR))
    return nats


def tally(
    scores: ArrayLike,
    hits: ArrayLike,
    rest: ArrayLike | None = None,
    sample_weight: SampleWeight = None,
    clusters: Labels | None = None,
    *,
    prior: Prior | None = None,
) -> Tally:
    """Count rows and hits at each distinct score.

    ``scores``: predicted probability of the event (y_prob), in [0, 1]. Any order; shape
    (n_samples,). ``hits``: whether the event happened (y_true of the event); shape (n_samples,).
    ``rest``: as in `calibcore.data.EventScores`; shape (n_samples,). ``sample_weight``: as in
    `calibcore.weights`. ``clusters``: of each row, numbers from 0; shape (n_samples,).
    ``prior``: of a stated prevalence.

    With ``counts`` and ``hits`` of shape (n_blocks,).

    Raises
    ------
    CalibrationInputError
        Empty input, unequal lengths, NaN, values outside the stated range.

    Examples
    --------
    >>> counted = tally([0.6, 0.2, 0.6], [1, 0, 0])
    >>> counted.scores.tolist(), counted.counts.tolist(), counted.hits.tolist()
    ([0.2, 0.6], [1.0, 2.0], [0.0, 1.0])
    """
    others = {"rest": rest, "sample_weight": sample_weight, "clusters": clusters}
    checked_scores, checked_hits = validation.scores_and_hits(scores, hits, **others)
    weights = weights_of(sample_weight, checked_scores.size)
    if weights is not None or clusters is not None:
        left = None if rest is None else validation.rest(rest, n_rows=checked_scores.size)
        weighted_tally = _weighted(checked_scores, checked_hits, left, weights, clusters)
        if prior is not None and weighted_tally.design is not None:
            return replace(weighted_tally, design=replace(weighted_tally.design, prior=prior))
        return weighted_tally
    ordered, ordered_hits = sort_by_score(checked_scores, checked_hits)
    n_samples, spared = ordered.size, 0.0
    if rest is not None:
        left = validation.rest(rest, n_rows=n_samples)
        spared = float(spared_nats(checked_scores, left) @ (1 - checked_hits))
    ends = tie_ends(ordered)
    if ends.size == n_samples:
        return Tally(
            ordered, np.ones(n_samples), ordered_hits.astype(np.float64), n_samples, spared
        )
    starts = tie_starts(ends)
    counts = (ends - starts + 1).astype(np.float64)
    counted_hits = np.add.reduceat(ordered_hits, starts, dtype=np.float64)
    return Tally(ordered[ends], counts, counted_hits, n_samples, spared)


def counted_rows(
    scores: ArrayLike, hits: ArrayLike, sample_weight: SampleWeight, clusters: object | None
) -> Tally:
    """Count rows as `tally`, of clusters by any names."""
    if clusters is None:
        return tally(scores, hits, sample_weight=sample_weight)
    validation.refuse_reordered(scores=scores, clusters=clusters)
    size = len(validation.scores(scores))
    numbers = cluster_numbers(clusters, size)
    return tally(scores, hits, sample_weight=sample_weight, clusters=numbers)


def _weighted(
    scores: Floats,
    hits: Hits,
    rest: Floats | None,
    weights: RowWeights | None,
    clusters: Labels | None,
) -> Tally:
    """Add up the weights of rows and of hits at each distinct score, in an order of their own."""
    counts = weights is not None and weights.counts
    if weights is not None and counts and clusters is not None:
        each = repeats(weights)
        left = None if rest is None else rest[each]
        return _weighted(scores[each], hits[each], left, None, clusters[each])
    if weights is None:
        values = np.ones(scores.size)
    else:
        values = weights.values if counts else shares_of(weights.values)
    keys = (hits, values) if clusters is None else (hits, values, clusters)
    order, ordered = order_of_rows(scores, *keys)
    if not values.all():  # none is negative
        some = values[order] > 0
        order, ordered = order[some], ordered[some]
    ordered_hits, own = hits[order].astype(np.float64), values[order]
    ends = tie_ends(ordered)
    apart = ends.size == ordered.size
    starts = ends if apart else tie_starts(ends)
    spared = 0.0
    if rest is not None:
        spared = float(spared_nats(ordered, rest[order]) @ (own * (1 - ordered_hits)))
    n_samples = round(own.sum()) if counts else own.size

    def summed(of_rows: Floats) -> Floats:
        return of_rows if apart else np.add.reduceat(of_rows, starts)

    at, sums = ordered if apart else ordered[ends], (summed(own), summed(own * ordered_hits))
    if counts:
        return Tally(at, *sums, n_samples, spared)
    groups = None if clusters is None else np.unique(clusters[order], return_inverse=True)[1]
    design = OrderedDesign(ordered, ordered_hits, own, starts, groups)
    return Tally(
        at,
        *sums,
        n_samples,
        spared,
        design,
        None if weights is None else summed(np.square(own)),
        float(np.einsum("i,i->", design.gaps, design.gaps)),  # threads of BLAS wait for each other
    )


def expected_tally(scores: Floats, frequency: Floats) -> Tally:
    """Count rows at each distinct score, with as many hits as are expected there.

    ``scores``: in [0, 1]. Any order; shape (n_samples,). ``frequency``: of the event in rows like
    each of these, in [0, 1]; shape (n_samples,).

    With ``hits`` of shape (n_blocks,) that are fractions.
    """
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    ends = tie_ends(ordered)
    starts = tie_starts(ends)
    hits = np.add.reduceat(frequency[order], starts)
    return Tally(ordered[ends], (ends - starts + 1).astype(np.float64), hits, ordered.size)


def resample_rows(counted: Tally) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Return counts and hits with one row a resample, and the leading dimensions they came from.

    Both have the shape (n_resamples, n_blocks), views where that is possible, which are not to be
    written to. Of the rows themselves the leading dimensions are ().

    >>> counted = Tally(np.array([0.2, 0.6]), np.array([1.0, 2.0]), np.zeros((5, 2)), 3)
    >>> counts, hits, shape = resample_rows(counted)
    >>> counts.shape, hits.shape, shape
    ((5, 2), (5, 2), (5,))
    """
    counts, hits = np.broadcast_arrays(counted.counts, counted.hits)
    n_blocks = counted.scores.size
    return counts.reshape(-1, n_blocks), hits.reshape(-1, n_blocks), counts.shape[:-1]
