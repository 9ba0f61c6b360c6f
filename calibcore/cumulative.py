"""Cumulative score against cumulative hits, and the Kolmogorov-Smirnov (KS) calibration error."""

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from calibcore.results import result_class
from calibcore.tally import Tally, counted_rows, gaps_in_rows, tally
from calibcore.validation import Floats
from calibcore.weights import OrderedDesign, SampleWeight

BROWNIAN_95 = 2.241402727332142
"""Where `brownian_tail` is 0.05."""

FEW_EXPECTED = 3.0
"""Steps of the gap (see `expected_steps`) below which the Brownian limit gives false alarms."""

_N_DRAWS, _CELLS = 2000, 1 << 22
"""Of the gaps of clusters; how many at a time."""

_LEAST_STEP = 1e-3
"""Steps smaller than this, in rows, are as good as none: the gap is normal."""


@result_class
class CumulativeCurves:
    """Running totals of predicted score and observed hits, lowest score first."""

    fractile: Floats
    """Share of the rows up to the end of each block of equal scores; starts at 0, ends at 1; shape
    (n_blocks + 1,).
    """
    score: Floats
    """Score of each block; starts at 0; shape (n_blocks + 1,)."""
    cum_score: Floats
    cum_hits: Floats
    """Totals of scores and hits over the rows so far, divided by ``n_samples``; start at 0 and end
    at the mean score and at the probability of the event; shape (n_blocks + 1,).
    """
    n_samples: int
    """Number of rows."""
    null_deviation: float
    """Standard deviation of the final gap if the scores were the true probabilities."""
    design: OrderedDesign | None = None
    """The rows, where they have sampling weights or clusters."""
    cumulants: tuple[float, float] | None = None
    """Variance and skew of the weighted hits, where rows have sampling weights."""

    @cached_property
    def gap(self) -> Floats:
        """``cum_score - cum_hits``: above 0 where the scores have been too high so far."""
        return self.cum_score - self.cum_hits

    @cached_property
    def ks_index(self) -> int:
        """Place of the largest gap in the arrays (the first, if several are equal)."""
        return int(np.argmax(np.abs(self.gap)))

    @property
    def ks_error(self) -> float:
        """Largest absolute gap, in probability units, 0 to 1."""
        return float(abs(self.gap[self.ks_index]))

    @property
    def ks_fractile(self) -> float:
        """Fractile at which the largest gap is reached."""
        return float(self.fractile[self.ks_index])

    def place_at(self, fractile: float) -> int:
        """Find the rows at a fractile: the first block that ends there or above, never the start.

        Parameters
        ----------
        fractile : float
            In [0, 1].
        """
        return max(1, int(np.searchsorted(self.fractile, fractile)))

    @property
    def kuiper(self) -> float:
        """Highest minus lowest gap: the largest miscalibration of any range of scores."""
        return float(self.gap.max() - self.gap.min())

    @cached_property
    def counts(self) -> Floats:
        """Rows in each block, shape (n_blocks,)."""
        rows = self.fractile * self.n_samples
        return np.diff(rows if self.design is not None else np.rint(rows))

    @property
    def largest_gap(self) -> float:
        """Largest KS error that any hits could give: the mean score, or 1 minus it."""
        mean = float(self.cum_score[-1])
        return max(mean, 1 - mean)

    @property
    def ks_p_value(self) -> float:
        """Probability of a KS error this large if the scores were the true probabilities.

        The Brownian limit; if `is_rare`, at least twice `rare_tail`. Of clusters, the share of gaps
        drawn as the clusters' own vary that are as large.
        """
        if self._drawn is not None:
            return _share_above(self._drawn[0], self.ks_error)
        return self._p_value(brownian_tail(self.ks_statistic), self.ks_error, weight=2)

    @cached_property
    def ks_null_95(self) -> float:
        """KS error that a perfectly calibrated model of this size exceeds in 5% of cases."""
        return self.ks_null(0.95)

    def ks_null(self, level: float) -> float:
        """Find the KS error that a perfectly calibrated model of this size rarely exceeds.

        Parameters
        ----------
        level : float
            In (0, 1): the probability of not exceeding it.

        Returns
        -------
        float
            Where the p-value is 1 - level, but at most `largest_gap`. It is for scores that are the
            true probabilities.
        """
        if self.null_deviation == 0:
            return 0.0
        if self._drawn is not None:
            return min(float(np.quantile(self._drawn[0], level)), self.largest_gap)

        def p_value(gap: float) -> float:
            return self._p_value(brownian_tail(self._scaled(gap)), gap, weight=2)

        return _where_below(p_value, 1 - level, self.largest_gap)

    @property
    def ks_statistic(self) -> float:
        """KS error in standard deviations of the final gap under perfect calibration."""
        return self._scaled(self.ks_error)

    @property
    def kuiper_statistic(self) -> float:
        """Kuiper's measure in standard deviations of the final gap under perfect calibration."""
        return self._scaled(self.kuiper)

    @property
    def kuiper_p_value(self) -> float:
        """Probability of a Kuiper measure this large if the scores were the true probabilities.

        The Brownian limit; if `is_rare`, at least four times `rare_tail`; of clusters, as
        `ks_p_value`.
        """
        if self._drawn is not None:
            return _share_above(self._drawn[1], self.kuiper)
        return self._p_value(brownian_range_tail(self.kuiper_statistic), self.kuiper, weight=4)

    @property
    def is_rare(self) -> bool:
        """Whether so few misses, or hits, are expected that the Brownian limit is too small."""
        return bool(expected_steps(*self.null_cumulants) < FEW_EXPECTED)

    @cached_property
    def null_cumulants(self) -> tuple[float, float]:
        """Variance and skew of the number of hits, as `rare_tail` takes them.

        Of weighted rows, of the sum of the weights of hits.
        """
        if self.cumulants is not None:
            return self.cumulants
        score = self.score[1:]
        spread = self.counts * score * (1 - score)
        return float(spread.sum()), float(spread @ np.abs(1 - 2 * score))

    @cached_property
    def _drawn(self) -> tuple[Floats, Floats] | None:
        """Largest gaps, and ranges, that are drawn; None where they have a law."""
        if self.design is None or not self.design.is_drawn:
            return None
        rng, step = np.random.default_rng(0), max(1, _CELLS // self.design.starts.size)
        extremes = []
        for first in range(0, _N_DRAWS, step):
            gaps, _ = self.design.drawn_gaps(rng, min(step, _N_DRAWS - first), self.score[1:])
            gaps = np.cumsum(gaps, axis=1, out=gaps) / self.n_samples
            extremes.append(np.stack([gaps.max(axis=1), gaps.min(axis=1)]))
        high, low = np.concatenate(extremes, axis=1)
        high, low = np.maximum(high, 0), np.minimum(low, 0)
        return np.maximum(high, -low), high - low

    def _p_value(self, limit: float, gap: float, *, weight: int) -> float:
        if not self.is_rare:
            return limit
        tail = float(rare_tail(gap * self.n_samples, *self.null_cumulants))
        return max(limit, min(weight * tail, 1.0))

    def _scaled(self, gap: float) -> float:
        if self.null_deviation == 0:
            return 0.0 if gap == 0 else math.inf
        return gap / self.null_deviation


def _share_above(drawn: Floats, seen: float) -> float:
    """Return the share of draws as large as what was seen, which counts as one of them."""
    return float(1 + np.count_nonzero(drawn >= seen)) / (1 + drawn.size)


def _where_below(tail: Callable[[float], float], level: float, high: float) -> float:
    """Find where a falling tail comes down to a level, or ``high`` if it does not up to there."""
    if tail(high) > level:
        return high
    low = 0.0
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > level else (low, middle)
    return high


def expected_steps(variance: ArrayLike, skew: ArrayLike) -> Floats:
    """Return how many steps of their usual size the gap makes, if the scores are the truth.

    Parameters and conventions are those of `rare_tail`. If all scores are near 0 it is the number
    of hits that are expected; if all are near 1, of misses; infinite without a skew.
    """
    spread, bent = np.asarray(variance, dtype=np.float64), np.asarray(skew, dtype=np.float64)
    step = np.divide(bent, spread, out=np.zeros_like(spread), where=spread > 0)
    steps = np.full_like(spread, np.inf)
    np.divide(spread, step**2, out=steps, where=step > _LEAST_STEP)
    return steps


def rare_tail(largest: ArrayLike, variance: ArrayLike, skew: ArrayLike) -> Floats:
    """Compute the two-sided p-value of the final gap where steps are few.

    ``largest``: gap in rows, at least 0. ``variance``: of the number of hits: sum_i s_i (1 - s_i).
    ``skew``: sum_i s_i (1 - s_i) |1 - 2 s_i|: its third cumulant if all scores are on one side of
    1/2.

    P(Z >= x) + P(Z <= -x); 0 without a skew.

    Z is a Poisson variable, shifted to mean 0 and scaled, of this variance and skew, so its steps
    are as large as those of the gap where it varies. Between its steps the tail is interpolated by
    the incomplete gamma function. By the reflection principle the largest gap is as far with at
    most about twice, and the range with four times this probability.
    """
    from scipy.special import gammainc, gammaincc  # noqa: PLC0415 - a tenth of a second to import

    beyond, spread, bent = (np.asarray(of, dtype=np.float64) for of in (largest, variance, skew))
    mean = expected_steps(spread, bent)
    some = np.isfinite(mean)
    p_values = np.zeros_like(mean)
    mean, beyond = mean[some], beyond[some] * spread[some] / bent[some]
    above, below = gammainc(mean + beyond, mean), gammaincc(np.maximum(mean - beyond, 0) + 1, mean)
    p_values[some] = above + np.where(beyond < mean, below, 0.0)
    return p_values


def brownian_tail(x: float) -> float:
    """Compute the probability that standard Brownian motion on [0, 1] strays ``x`` from 0.

    ``x``: at least 0.

    Accurate far into the tail, where one minus the distribution function would be 0.

    By reflection, 4 sum_k (-1)^k Q((2k + 1) x) with Q the normal upper tail; for small ``x``, where
    that converges slowly, one minus the theta series of the distribution function.

    Source: Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu, *Metrics of calibration for probabilistic
    predictions*, JMLR 2022.
    """
    if x < 1:
        if x < 0.1:
            return 1.0
        terms = (
            (-1) ** k / (2 * k + 1) * math.exp(-(((2 * k + 1) * math.pi / x) ** 2) / 8)
            for k in range(4)
        )
        return 1 - 4 / math.pi * math.fsum(terms)
    tails = ((-1) ** k * math.erfc((2 * k + 1) * x / math.sqrt(2)) / 2 for k in range(5))
    return 4 * math.fsum(tails)


def brownian_range_tail(x: float) -> float:
    """Compute the probability that the range of standard Brownian motion is at least ``x``.

    ``x``: at least 0.

    Accurate far into the tail.

    8 sum_k (-1)^(k - 1) k Q(k x) with Q the normal upper tail, the integral of Feller's density.
    Below 0.4 it is 1 to all digits.

    Source: Feller, *Annals of Mathematical Statistics* 1951; Arrieta-Ibarra et al., JMLR 2022.
    """
    if x < 0.4:
        return 1.0
    n_terms = min(int(math.sqrt(1 + 120 / x**2)) + 1, 29)  # those that follow are below 1e-26 of it
    terms = (-((-1) ** k) * k * math.erfc(k * x / math.sqrt(2)) / 2 for k in range(1, n_terms + 1))
    return min(8 * math.fsum(terms), 1.0)


def cumulative_curves(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
) -> CumulativeCurves:
    """Compute cumulative scores and cumulative hits, lowest score first (Gupta's graphs).

    If the event is calibrated, the two totals grow together.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1]. Any order.
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.
    clusters : array_like, shape (n_samples,), optional
        Whom each row belongs to, such as a patient: p-values then allow for rows that belong
        together.

    Returns
    -------
    CumulativeCurves
        Arrays of shape (n_blocks + 1,), each starting at 0, divided by n_samples; ``fractile`` is a
        fraction.

    Raises
    ------
    CalibrationInputError
        Empty input, unequal lengths, NaN, values outside the stated range.

    Notes
    -----
    At score sigma the totals are sum_i 1(s_i <= sigma) s_i / N and sum_i 1(s_i <= sigma) h_i / N.
    Tied scores form one block, so no figure depends on the order of the rows.

    References
    ----------
    Gupta et al., ICLR 2021, eqs. 9-12.

    Examples
    --------
    >>> curves = cumulative_curves([0.2, 0.6, 0.6, 0.8], [0, 1, 0, 1])
    >>> curves.fractile.tolist()
    [0.0, 0.25, 0.75, 1.0]
    >>> round(curves.ks_error, 3)
    0.1
    """
    return curves_of(counted_rows(scores, hits, sample_weight, clusters))


def curves_of(counted: Tally) -> CumulativeCurves:
    """Accumulate rows that are counted by score, as `cumulative_curves`."""
    n_samples, scores = counted.n_samples, counted.scores

    def totals(values: Floats) -> Floats:
        return np.concatenate([[0.0], np.cumsum(values) / n_samples])

    deviation, cumulants = math.sqrt(float(counted.variances.sum())), None
    if counted.design is not None:
        spread, third = counted.design.null_moments
        cumulants = float(spread.sum()), float(third.sum())
        if counted.design.is_drawn:
            deviation = counted.design.deviation_of(counted.design.gaps)
    return CumulativeCurves(
        fractile=totals(counted.counts),
        score=np.concatenate([[0.0], scores]),
        cum_score=totals(counted.counts * scores),
        cum_hits=totals(counted.hits),
        n_samples=n_samples,
        null_deviation=deviation / n_samples,
        design=counted.design,
        cumulants=cumulants,
    )


def ks_error(scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None) -> float:
    """Compute the KS calibration error: the largest gap of cumulative score and cumulative hits.

    Parameters and errors are those of `cumulative_curves`, whose ``ks_error`` this is, without
    the curves.

    Examples
    --------
    >>> ks_error([0.5, 1.0], [0, 1])
    0.25
    """
    return float(ks_of(tally(scores, hits, sample_weight=sample_weight)))


def ks_of(counted: Tally) -> Floats:
    """Return the `ks_error` of score-tallied rows, vectorised over resamples."""
    highest, lowest = counted.once(_extremes)
    return np.maximum(np.abs(highest), np.abs(lowest))


def kuiper_of(counted: Tally) -> Floats:
    """Return `CumulativeCurves.kuiper` of score-tallied rows, vectorised over resamples."""
    highest, lowest = counted.once(_extremes)
    return np.asarray(np.maximum(highest, 0.0) - np.minimum(lowest, 0.0))


def _extremes(counted: Tally) -> tuple[Floats, Floats]:
    """Return the highest and the lowest gap."""
    gaps = counted.once(gaps_in_rows)
    return gaps.max(axis=-1) / counted.n_samples, gaps.min(axis=-1) / counted.n_samples
