"""What a row stands for: so many equal rows, or a share of a population; and whom it belongs to.

Two kinds of weights, which never mix: *frequency* weights count equal rows, so a row of weight 3 is
three rows, and everything is as if it had been written three times. *Sampling* weights undo unequal
chances of being drawn: estimates are weighted, and how uncertain they are follows from the weighted
rows themselves, not from the sum of the weights, whose scale means nothing.
"""

import math
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.ordering import order_of_rows, sort_by_score
from calibcore.results import result_class
from calibcore.validation import Floats, Hits, Labels

Kind = Literal["frequency", "sampling"]

_LEAST_TOTAL = 1e-290
"""Sum of weights below which their scale would overflow."""

_CELLS = 1 << 22
"""Numbers drawn at a time."""

_RANGES = 10
"""Ranges of scores, of equal weight, within which scores count as alike."""

_MOST_ROWS = 200_000_000
"""Rows that frequency weights may stand for where the rows themselves are needed."""


@result_class
class RowWeights:
    """A weight for each row, and what it means."""

    values: Floats
    """At least 0; a row of weight 0 does not count; shape (n_samples,)."""
    kind: Kind
    """Frequency: how many equal rows each stands for, a whole number. Sampling: the inverse of its
    chance of being drawn, on any scale.
    """
    index: object = field(default=None, repr=False, compare=False)
    """Of the pandas column that they were given as, so that rows in another order are noticed."""

    @property
    def counts(self) -> bool:
        """Whether they count rows."""
        return self.kind == "frequency"


SampleWeight = ArrayLike | RowWeights | None
"""What functions take: an array is of sampling weights."""


def frequency_weights(values: ArrayLike) -> RowWeights:
    """Weigh each row by how many equal rows it stands for.

    Parameters
    ----------
    values : array_like of int, shape (n_samples,)
        Whole numbers from 0; not all 0.

    Returns
    -------
    RowWeights

    Raises
    ------
    CalibrationInputError
        Other numbers.

    Examples
    --------
    >>> from calibcore.metrics import ece
    >>> ece([0.2, 0.9], [0, 1], sample_weight=frequency_weights([3, 1])).__round__(3)
    0.175
    """
    numbers = _numbers(values)
    if np.any(numbers != np.floor(numbers)):
        wanted = "whole numbers of rows; sampling_weights(...) takes any weights"
        raise CalibrationInputError("sample_weight", "parts of rows as frequency weights", wanted)
    return RowWeights(numbers, "frequency", validation.index_of(values))


def sampling_weights(values: ArrayLike) -> RowWeights:
    """Weigh each row by how many of a population it stands for, as surveys do.

    Parameters
    ----------
    values : array_like of float, shape (n_samples,)
        Finite, at least 0, not all 0: the inverse of each row's chance of being drawn, on any
        scale.

    Returns
    -------
    RowWeights

    Raises
    ------
    CalibrationInputError
        Other numbers.

    Examples
    --------
    >>> from calibcore.metrics import mean_score
    >>> mean_score([0.2, 0.9], [0, 1], sample_weight=sampling_weights([1.5, 0.5])).__round__(3)
    0.375
    """
    return RowWeights(_numbers(values), "sampling", validation.index_of(values))


def weights_of(sample_weight: SampleWeight, n_rows: int) -> RowWeights | None:
    """Check the weights of so many rows; an array is of sampling weights.

    Raises `CalibrationInputError` for weights below 0, infinite or missing; all 0; not one a row.
    """
    if sample_weight is None:
        return None
    weights = (
        sample_weight if isinstance(sample_weight, RowWeights) else sampling_weights(sample_weight)
    )
    if weights.values.size != n_rows:
        wanted = f"one for each of {n_rows:,} rows"
        raise CalibrationInputError("sample_weight", f"{weights.values.size:,} weights", wanted)
    return weights


def _numbers(values: ArrayLike) -> Floats:
    array = np.array(validation.real_array(values, "sample_weight"), dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        text = f"an array of shape {array.shape}"
        raise CalibrationInputError("sample_weight", text, "one weight a row")
    if not (np.isfinite(array).all() and array.min() >= 0):
        text = "weights that are missing, infinite or below 0"
        raise CalibrationInputError("sample_weight", text, "numbers from 0")
    if not array.any():
        raise CalibrationInputError(
            "sample_weight", "weights that are all zero", "at least one above 0"
        )
    with np.errstate(over="ignore"):
        total = float(array.sum())
    if not _LEAST_TOTAL < total < math.inf:
        text = f"weights that add up to {total:.3g}"
        raise CalibrationInputError(
            "sample_weight", text, "a scale nearer to 1, which has no effect"
        )
    return array


def weights_named(weights: RowWeights | None) -> dict[str, RowWeights]:
    """Name weights only where there are some: a map of one's own need not know of them."""
    return {} if weights is None else {"sample_weight": weights}


def shares_of(weights: Floats) -> Floats:
    """Scale sampling weights so that their mean over the rows that count is 1.

    Equal ones become 1 exactly, so that equal weights change no digit.

    >>> shares_of(np.array([0.1, 0.3, 0.0])).round(3).tolist()
    [0.5, 1.5, 0.0]
    """
    some = weights > 0
    if weights.min(where=some, initial=np.inf) == weights.max():
        return some.astype(np.float64)
    return np.asarray(weights * (np.count_nonzero(some) / weights.sum()))


def row_mean(values: NDArray[Any], sample_weight: SampleWeight) -> float:
    """Return the weighted mean of one value a row.

    >>> row_mean(np.array([0.0, 1.0]), [1.0, 3.0])
    0.75
    """
    weights = weights_of(sample_weight, values.size)
    if weights is None:
        return float(values.mean())
    some = weights.values > 0  # what does not count may be infinite
    return float(weights.values[some] @ values[some] / weights.values.sum())


def refuse_sampling(name: str, kind: str) -> None:
    """Raise as something has no form for rows with sampling weights.

    ``kind``: what ``name`` is, as the reason.
    """
    text = f"sampling weights for {name}, which is {kind}"
    wanted = "none, or frequency_weights(...), where each is a number of equal rows"
    raise CalibrationInputError("sample_weight", text, wanted)


def refuse_design(design: "OrderedDesign | None", name: str) -> None:
    """Raise if rows have sampling weights or clusters, of which something knows nothing.

    ``name``: what is of equal rows that are drawn one by one.
    """
    if design is not None:
        what = "sampling weights" if design.clusters is None else "clusters"
        wanted = f"none for {name}, which is of equal rows drawn one by one"
        raise CalibrationInputError("rows", f"rows with {what}", wanted)


def repeats(weights: RowWeights) -> NDArray[np.intp]:
    """Return the row that each of the rows is that frequency weights stand for.

    >>> repeats(frequency_weights([2, 0, 1])).tolist()
    [0, 0, 2]
    """
    total = float(weights.values.sum())
    if total > _MOST_ROWS:
        wanted = f"at most {_MOST_ROWS:,} where each row is drawn or fitted"
        raise CalibrationInputError("sample_weight", f"{total:,.0f} rows", wanted)
    return np.repeat(np.arange(weights.values.size), weights.values.astype(np.intp))


MOST_PARTS = 1 << 21
"""Rows up to which frequency weights repeat them; of more, about so many parts are weighted."""


class EventRows(NamedTuple):
    """Checked rows of an event, with weights where they have some."""

    scores: Floats
    hits: Hits
    weights: Floats | None
    """Sampling weights, of mean 1; of very many counted rows, how many each stands for; shape
    (n_samples,).
    """

    def mean(self, values: Floats) -> float:
        """Return the weighted mean of one value a row."""
        if self.weights is None:
            return float(values.mean())
        return float(self.weights @ values / self.weights.sum())


def event_rows(scores: ArrayLike, hits: ArrayLike, sample_weight: SampleWeight) -> EventRows:
    """Check and sort rows: those of frequency weights repeated, those of weight 0 left out.

    Of more than `MOST_PARTS` counted rows, equal ones are in parts, none of which has more than
    that share of all rows, so that a running total is followed as closely.

    Raises `CalibrationInputError` for scores, hits or weights out of range.

    >>> event_rows([0.9, 0.2], [1, 0], frequency_weights([1, 2])).scores.tolist()
    [0.2, 0.2, 0.9]
    """
    given, happened = validation.scores_and_hits(scores, hits, sample_weight=sample_weight)
    weights = weights_of(sample_weight, given.size)
    if weights is None:
        return EventRows(*sort_by_score(given, happened), None)
    if weights.counts and (total := float(weights.values.sum())) > MOST_PARTS:
        order, ordered = order_of_rows(given, happened)
        n_parts = np.ceil(weights.values[order] * (MOST_PARTS / total)).astype(np.intp)
        each = weights.values[order] / np.maximum(n_parts, 1)
        of_hits, parts = happened[order].repeat(n_parts), each.repeat(n_parts)
        return EventRows(ordered.repeat(n_parts), of_hits, parts)
    if weights.counts:
        rows = repeats(weights)
        return EventRows(*sort_by_score(given[rows], happened[rows]), None)
    values = shares_of(weights.values)
    order, ordered = order_of_rows(given, happened, values)
    if not values.all():  # none is negative
        some = values[order] > 0
        order, ordered = order[some], ordered[some]
    return EventRows(ordered, happened[order], values[order])


class RowDesign(NamedTuple):
    """What rows stand for and whom they belong to, checked."""

    chosen: NDArray[np.intp] | None
    """Rows that count: those of frequency weights so often; None where each counts once."""
    weights: Floats | None
    """Sampling weights of the chosen ones, of mean 1; shape (n_chosen,)."""
    clusters: Labels | None
    """Of the chosen ones, from 0; shape (n_chosen,)."""
    times: Floats | None = None
    """How many equal rows each of the chosen ones is, where they are not repeated; shape
    (n_chosen,).
    """

    @property
    def tells(self) -> bool:
        """Whether rows are anything but equal ones drawn one by one."""
        return self.weights is not None or self.clusters is not None

    def of(self, values: ArrayLike) -> NDArray[Any]:
        """Return the values of the chosen rows; what is not one a row stays as it is."""
        array = np.asarray(values)
        if self.chosen is None or array.ndim == 0 or len(array) <= self.chosen.max():
            return array
        return array[self.chosen]


def design_of(
    sample_weight: SampleWeight, clusters: object | None, n_rows: int, most: float = math.inf
) -> RowDesign:
    """Check weights and clusters of so many rows.

    ``most``: rows of no clusters up to which those of frequency weights are repeated.

    Raises `CalibrationInputError` for what `weights_of` and `cluster_numbers` refuse.

    >>> design_of(frequency_weights([2, 0, 1]), ["a", "b", "b"], 3).of([5, 6, 7]).tolist()
    [5, 5, 7]
    """
    weights = weights_of(sample_weight, n_rows)
    numbers = None if clusters is None else cluster_numbers(clusters, n_rows)
    if weights is None:
        return RowDesign(None, None, numbers)
    if weights.counts and numbers is None and float(weights.values.sum()) > most:
        chosen = np.flatnonzero(weights.values)
        return RowDesign(chosen, None, None, weights.values[chosen])
    if weights.counts:
        chosen, values = repeats(weights), None
    else:
        chosen = np.flatnonzero(weights.values > 0)
        values = shares_of(weights.values)[chosen]
    if numbers is not None:
        names, numbers = np.unique(numbers[chosen], return_inverse=True)
        refuse_one_cluster(names.size)
    return RowDesign(chosen, values, numbers)


def mean_error(values: Floats, weights: Floats | None, clusters: Labels | None) -> float:
    """Return the standard error of the mean of one value a row, by linearisation.

    Of clusters, as uncertain as Student's t of so many makes it, in units of 1.96. ``weights``: of
    mean 1. NaN of a single row, or rows of a single cluster.
    """
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 - a tenth of a second to import

    n_rows = values.size
    each = np.ones(n_rows) if weights is None else weights
    sums = np.asarray(each * (values - float(each @ values) / float(each.sum())))
    times = 1.0
    if clusters is not None:
        sums = np.asarray(np.bincount(np.unique(clusters, return_inverse=True)[1], sums))
    if sums.size < 2:
        return math.nan
    if clusters is not None:
        times = float(stdtrit(sums.size - 1, 0.975) / ndtri(0.975))
    variance = float(sums @ sums) * sums.size / (sums.size - 1)
    return math.sqrt(variance) / float(each.sum()) * times


def effective_size(sample_weight: ArrayLike) -> float:
    """Compute Kish's effective sample size: equal rows that would be as informative.

    (sum w)^2 / sum w^2, from 1 to the number of rows. Raises `CalibrationInputError` for weights
    below 0, infinite or missing, or all 0.

    Source: Kish, *Survey Sampling*, 1965, section 11.7.
    """
    values = shares_of(_numbers(sample_weight))
    return float(values.sum() ** 2 / (values @ values))


def refuse_one_cluster(n_clusters: int) -> None:
    """Raise if all rows belong to one cluster."""
    if n_clusters < 2:
        wanted = "at least 2, as rows of one cluster do not show how clusters differ"
        raise CalibrationInputError("clusters", "a single cluster", wanted)


def cluster_numbers(clusters: object, n_rows: int) -> Labels:
    """Return the number of each row's cluster, from 0, in the order of their names.

    ``clusters``: a number or a name for each row; shape (n_samples,).

    Raises `CalibrationInputError` for clusters that are not one a row; missing values; a single
    cluster.

    >>> cluster_numbers(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    array = validation.array_of(clusters, "clusters")
    if array.shape != (n_rows,):
        text = f"an array of shape {array.shape}"
        raise CalibrationInputError("clusters", text, f"one for each of {n_rows:,} rows")
    validation.refuse_missing(array, "clusters")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise CalibrationInputError("clusters", "missing values", "a cluster for each row")
    values = array.astype(str) if array.dtype.kind == "O" else array
    names, numbers = np.unique(values, return_inverse=True)
    refuse_one_cluster(names.size)
    return np.asarray(numbers.reshape(-1), dtype=np.int64)


@result_class
class Prior:
    """Rows of which the event has another share than where scores are used."""

    stated: float
    """Share of the event there."""
    offset: float
    """By which the log-odds of their scores were moved."""

    def among_rows(self, frequency: Floats) -> Floats:
        """Return the frequency among the rows of one that is meant where scores are used."""
        odds = frequency * math.exp(-self.offset / 2)
        return np.asarray(odds / (odds + (1 - frequency) * math.exp(self.offset / 2)))

    def weights(self, n_hits: Floats, n_rows: int) -> tuple[Floats, Floats]:
        """Return the weight of a hit and of a miss, of mean 1, by the number of hits."""
        of_hit = self.stated * n_rows / np.maximum(n_hits, 1)
        return of_hit, (1 - self.stated) * n_rows / np.maximum(n_rows - n_hits, 1)

    def drawn_gaps(
        self, rng: np.random.Generator, frequency: Floats, rows: Floats, n_hits: float, n_draws: int
    ) -> tuple[Floats, Floats]:
        """Draw the weighted gaps of frequency and outcome at each score, and their own squares.

        Outcomes are drawn among the rows. That rows were taken by their outcome lessens the
        variance of any sum of gaps by the square of its covariance with the number of hits, over
        n r (1 - r): so much of that number is taken off.

        Shapes (n_draws, n_blocks) and (n_draws,).
        """
        n_rows = int(rows.sum())
        of_hit, of_miss = self.weights(np.array(n_hits), n_rows)
        share = self.among_rows(frequency)
        hits = rng.binomial(rows.astype(np.intp), share, (n_draws, rows.size))
        up, down = of_miss * frequency, of_hit * (1 - frequency)
        gaps = up * (rows - hits) - down * hits
        own = hits @ np.square(down) + (rows - hits) @ np.square(up)
        pull, varied = -rows * share * down, float(rows @ (share * (1 - share)))
        if varied > 0:
            fixed = n_hits * (1 - n_hits / n_rows)
            times = (1 - math.sqrt(max(1 - varied / fixed, 0.0))) / varied
            gaps -= times * np.multiply.outer(hits.sum(axis=1) - rows @ share, pull)
        return gaps, own

    def drawn_rows(
        self, rng: np.random.Generator, frequency: Floats, rows: Floats, n_draws: int
    ) -> tuple[Floats, Floats]:
        """Draw outcomes among the rows; return the weights of rows, and of hits, at each score.

        Both of shape (n_draws, n_blocks), weighted by the number of hits that are drawn.
        """
        share = self.among_rows(frequency)
        hits = rng.binomial(rows.astype(np.intp), share, (n_draws, rows.size))
        of_hit, of_miss = self.weights(hits.sum(axis=1, keepdims=True), int(rows.sum()))
        weighted = of_hit * hits
        return weighted + of_miss * (rows - hits), weighted

    def variances(self, scores: Floats, rows: Floats, n_hits: float) -> Floats:
        """Return the variance of the weighted gaps at each score, if scores are the truth."""
        of_hit, of_miss = self.weights(np.array(n_hits), int(rows.sum()))
        share = self.among_rows(scores)
        hit, miss = np.square(of_hit * (1 - scores)), np.square(of_miss * scores)
        return np.asarray(rows * (share * hit + (1 - share) * miss))


@result_class
class OrderedDesign:
    """Rows that are weighted, or belong together, in the order of their scores.

    What is drawn from it are gaps of score and outcome that vary as the rows' own do: nothing is
    assumed of how rows of a cluster depend on each other, nor of how weights and outcomes do.
    """

    scores: Floats
    hits: Floats
    weights: Floats
    """Of mean 1; shape (n_samples,), as all."""
    starts: NDArray[np.intp]
    """First row of each block of scores; shape (n_blocks,)."""
    clusters: Labels | None
    """Of each row, from 0; None where each row is a draw of its own."""
    prior: "Prior | None" = None
    """What a stated prevalence does to rows that are equal but for their outcome."""

    @property
    def n_units(self) -> int:
        """Number of units that were drawn: clusters, or rows."""
        return self.scores.size if self.clusters is None else int(self.clusters.max()) + 1

    @cached_property
    def gaps(self) -> Floats:
        """Weighted score less outcome of each row."""
        gaps = self.scores - self.hits
        gaps *= self.weights
        return gaps

    @cached_property
    def effect(self) -> float:
        """Design effect: the variance of the mean gap over that of as many rows drawn one by one.

        Kish's where rows are not in clusters.
        """
        alone = float(self.gaps @ self.gaps)
        if alone == 0:
            return 1.0
        unequal = float(self.weights @ self.weights) / self.weights.size
        return self.deviation_of(self.gaps) ** 2 / alone * unequal

    @cached_property
    def cluster_effect(self) -> float:
        """By how much rows that belong together raise the variance of the mean gap; at least 1."""
        alone = float(self.gaps @ self.gaps)
        if self.clusters is None or alone == 0:
            return 1.0
        return max(1.0, self.deviation_of(self.gaps) ** 2 / alone)

    @cached_property
    def effect_by_score(self) -> float:
        """Design effect of the frequency among rows of alike scores, on average over ten ranges.

        By so much less do the rows tell of frequencies than as many equal ones drawn one by one:
        Rao and Scott, Annals of Statistics 1984, the first-order correction.
        """
        alone = float(self.weights @ np.square(self.scores - self.hits))
        if alone == 0:
            return 1.0
        places = self._ranges
        spread = [self.deviation_of(np.where(places == k, self.gaps, 0.0)) for k in range(_RANGES)]
        return math.fsum(np.square(spread).tolist()) / alone

    @cached_property
    def _ranges(self) -> NDArray[np.intp]:
        """Range of alike scores of each row, from 0; equal scores are in one."""
        of_blocks = np.add.reduceat(self.weights, self.starts)
        so_far = (np.cumsum(of_blocks) - of_blocks / 2)[self.block]
        return np.asarray(np.floor(so_far * (_RANGES / self.weights.sum())), dtype=np.intp)

    @cached_property
    def misses_over_hits(self) -> float:
        """How many times as large the weights of misses are as those of hits with alike scores.

        Over the ranges as Mantel and Haenszel have it, each weight counted by itself; 1 where no
        range has both. So weights that depend on the scores alone give about 1.
        """
        of_ranges = np.zeros((2, 2, _RANGES))
        for outcome in (0, 1):
            own = self.hits == outcome
            each, place = self.weights[own], self._ranges[own]
            of_ranges[outcome] = [
                np.bincount(place, one, minlength=_RANGES) for one in (each, np.square(each))
            ]
        (misses, misses_squared), (hits, hits_squared) = of_ranges
        total = misses + hits
        both = total > 0
        of_misses = float(misses_squared[both] @ (hits[both] / total[both]))
        of_hits = float(hits_squared[both] @ (misses[both] / total[both]))
        return of_misses / of_hits if of_hits > 0 < of_misses else 1.0

    def tilt(self, frequency: Floats) -> Floats:
        """Return the variance of gaps over what it would be if weights told nothing of outcomes.

        ``frequency``: of the event. Of weights w, w_h those of hits: the mean of w^2 (f - h)^2 is
        f (1 - f) times (1 - f) w_h + f w_m, that of w^2 itself f w_h + (1 - f) w_m.
        """
        times = self.misses_over_hits
        even = frequency + (1 - frequency) * times
        return np.asarray((1 - frequency + frequency * times) / even)

    @property
    def null_moments(self) -> tuple[Floats, Floats]:
        """Variance of each row's gap, and third moment without its sign, if scores are the truth.

        Rows count as drawn one by one.
        """
        s, times = self.scores, self.misses_over_hits
        spread = np.square(self.weights) * s * (1 - s)
        bent = np.abs((1 - s) ** 2 - (s * times) ** 2) / (s + (1 - s) * times**2)
        return spread * self.tilt(s), spread * self.weights * bent

    @cached_property
    def effect_at_most(self) -> float:
        """`effect_by_score`, or the design effect of the mean gap by itself where that is larger.

        That of clusters is as uncertain as Student's t of so many.
        """
        alone = float(self.weights @ np.square(self.scores - self.hits))
        if self.clusters is None or alone == 0:
            return self.effect_by_score
        effect = max(self.effect_by_score, self.deviation_of(self.gaps) ** 2 / alone)
        return effect * self.times_by_t

    @cached_property
    def times_by_t(self) -> float:
        """By how much few clusters raise a variance: 95% intervals are of Student's t, squared."""
        if self.clusters is None:
            return 1.0
        from scipy.special import ndtri, stdtrit  # noqa: PLC0415 - a tenth of a second to import

        return float(stdtrit(self.n_units - 1, 0.975) / ndtri(0.975)) ** 2

    @property
    def is_drawn(self) -> bool:
        """Whether gaps have no variance of their own at each row, and are drawn together."""
        return self.clusters is not None or self.prior is not None

    def deviation_of(self, values: Floats) -> float:
        """Return the standard deviation of a sum over the rows whose mean is near 0."""
        return math.sqrt(float(self.covariance_of(values[:, np.newaxis])[0, 0]))

    def covariance_of(self, values: Floats) -> Floats:
        """Return the covariance of sums over the rows whose means are near 0.

        ``values``: of each row, shape (n_samples, n_sums). Shape (n_sums, n_sums).

        By how much the units' parts differ; of a stated prevalence, those of rows of one outcome.
        """
        if self.prior is not None:
            parts = [values[self.hits == outcome] for outcome in (0, 1)]
        elif self.clusters is None:
            return np.asarray(values.T @ values)
        else:
            parts = [np.stack([np.bincount(self.clusters, one) for one in values.T], axis=1)]
            refuse_one_cluster(len(parts[0]))
        covariance = np.zeros((values.shape[1], values.shape[1]))
        for units in parts:
            if len(units) > 1:
                off = units - units.mean(axis=0)
                covariance += off.T @ off * (len(units) / (len(units) - 1))
        return covariance

    def variance_so_far(self) -> Floats:
        """Return the variance of the sum of gaps up to each block, if the scores are the truth.

        Of clusters, by how much the sums of their own gaps differ.
        """
        ends = np.append(self.starts[1:], self.scores.size) - 1
        if self.prior is not None:
            return self._variance_by_outcome(ends)
        if self.clusters is None:
            return np.asarray(np.cumsum(self.null_moments[0])[ends])
        # sum_c (g_c - g)^2 = sum_c g_c^2 - n g^2, each g_c^2 grown by 2 g_c x + x^2 at a row of x
        order = np.argsort(self.clusters, kind="stable")
        own = self.gaps[order]
        totals = np.cumsum(own) - own
        firsts = np.flatnonzero(np.diff(self.clusters[order], prepend=-1))
        totals -= np.repeat(totals[firsts], np.diff(firsts, append=own.size))
        grown = np.empty_like(own)
        grown[order] = own * (2 * totals + own)
        n, sums = self.n_units, np.cumsum(self.gaps)[ends]
        return np.asarray((np.cumsum(grown)[ends] - np.square(sums) / n) * n / (n - 1))

    def _variance_by_outcome(self, ends: NDArray[np.intp]) -> Floats:
        variance = np.zeros(ends.size)
        for outcome in (0, 1):
            own = np.where(self.hits == outcome, self.gaps, 0.0)
            n = np.count_nonzero(self.hits == outcome)
            off = np.cumsum(np.square(own))[ends] - np.square(np.cumsum(own)[ends]) / n
            variance += off * n / max(n - 1, 1)
        return variance

    def about(self, frequency: Floats) -> "OrderedDesign":
        """Take gaps from another frequency than the scores; of each block, shape (n_blocks,)."""
        return replace(self, scores=frequency[self.block])

    @cached_property
    def block(self) -> NDArray[np.intp]:
        """Block of each row, shape (n_samples,)."""
        sizes = np.diff(self.starts, append=self.scores.size)
        return np.repeat(np.arange(self.starts.size), sizes)

    def joined(self, firsts: NDArray[np.intp]) -> "OrderedDesign":
        """Join blocks: each from one of the first ones on."""
        return replace(self, starts=self.starts[firsts])

    @cached_property
    def _by_cluster(self) -> Any:
        """Gaps added up by block and cluster, a sparse matrix."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - only where rows have clusters

        shape, clusters = (self.starts.size, self.n_units), np.asarray(self.clusters)
        return csr_matrix((self.gaps, (self.block, clusters)), shape)

    def drawn_gaps(
        self, rng: np.random.Generator, n_draws: int, frequency: Floats
    ) -> tuple[Floats, Floats]:
        """Draw the sum of the gaps of each block, about 0, and what rows add with themselves.

        Each unit's gaps are multiplied by one normal number, less the mean over the clusters; each
        draw by what makes it as uncertain as Student's t of so many clusters.

        ``frequency``: of hits in each block, on which those of a stated prevalence depend.

        Shapes (n_draws, n_blocks) and (n_draws,).
        """
        if self.prior is not None:
            rows = np.diff(self.starts, append=self.scores.size).astype(np.float64)
            return self.prior.drawn_gaps(rng, frequency, rows, float(self.hits.sum()), n_draws)
        squares = np.square(self.gaps)
        if self.clusters is None:
            spread = np.sqrt(np.add.reduceat(squares, self.starts))
            own = np.full(n_draws, float(squares.sum()))
            return rng.standard_normal((n_draws, spread.size)) * spread, own
        n_units = self.n_units
        of_units = np.bincount(self.clusters, squares, minlength=n_units)
        step, gaps = max(1, _CELLS // n_units), np.empty((n_draws, self.starts.size))
        pairs = np.empty(n_draws)
        for first in range(0, n_draws, step):
            times = rng.standard_normal((min(step, n_draws - first), n_units))
            times -= times.mean(axis=1, keepdims=True)
            # n / (n - 1) for the centre, (n - 1) / chi-squared for the variance not being known
            times *= np.sqrt(n_units / rng.chisquare(n_units - 1, len(times)))[:, np.newaxis]
            gaps[first : first + step] = (self._by_cluster @ times.T).T
            pairs[first : first + step] = np.square(times) @ of_units
        return gaps, pairs

    def rows_alike(self, frequency: Floats, starts: NDArray[np.intp]) -> Floats:
        """Return how many rows drawn one by one would tell the frequency of each part as well.

        ``frequency``: of hits in each part; ``starts``: first block of each, rising, none empty;
        shape (n_parts,), as what is returned.

        Kish's effective size, but not more than the variance of the frequency allows, by
        linearisation: it is larger where hits have the larger weights. Of clusters less what
        Student's t of so many takes off.
        """
        from scipy.special import ndtri, stdtrit  # noqa: PLC0415 - a tenth of a second to import

        firsts = self.starts[starts]
        total = np.add.reduceat(self.weights, firsts)
        kish = total**2 / np.add.reduceat(np.square(self.weights), firsts)
        sizes = np.diff(firsts, append=self.scores.size)
        off = self.weights * (self.hits - np.repeat(frequency, sizes))
        if self.clusters is None:
            square_sums, spread = np.add.reduceat(np.square(off), firsts), frequency * total**2
            seen = np.divide(
                spread * (1 - frequency), square_sums, out=np.copy(kish), where=square_sums > 0
            )
            # Of equal weights both are the number of rows, which rounding is not to lessen.
            return np.asarray(np.minimum(seen * (1 + 1e-9), kish))
        part = np.repeat(np.arange(firsts.size), sizes)
        pairs, place = np.unique(part * self.n_units + self.clusters, return_inverse=True)
        square_sums = np.bincount(
            pairs // self.n_units, np.square(np.bincount(place, off)), minlength=firsts.size
        )
        n_clusters = np.bincount(pairs // self.n_units, minlength=firsts.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = square_sums * n_clusters / (n_clusters - 1) / total**2
            seen = frequency * (1 - frequency) / variance
            seen *= (ndtri(0.975) / stdtrit(n_clusters - 1, 0.975)) ** 2
        # All alike, or one cluster: each cluster may be no more than one row.
        vague = ~np.isfinite(seen) | (n_clusters < 2) | (seen <= 0)
        return np.where(vague, np.minimum(n_clusters, kish), np.minimum(seen, kish))
