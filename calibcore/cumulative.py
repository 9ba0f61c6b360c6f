"""Cumulative score against cumulative hits, and the Kolmogorov-Smirnov (KS) calibration error."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from calibcore.tally import Tally, tally
from calibcore.validation import Floats

BROWNIAN_95 = 2.241402727332142
"""Where `brownian_tail` is 0.05."""


@dataclass(frozen=True, eq=False)
class CumulativeCurves:
    """Running totals of predicted score and observed hits, lowest score first.

    Attributes
    ----------
    fractile : ndarray of float64, shape (n_blocks + 1,)
        Share of the rows up to the end of each block of equal scores; starts at 0, ends at 1.
    score : ndarray of float64, shape (n_blocks + 1,)
        Score of each block; starts at 0.
    cum_score, cum_hits : ndarray of float64, shape (n_blocks + 1,)
        Totals of scores and hits over the rows so far, divided by ``n_samples``; start at 0 and
        end at the mean score and at the probability of the event.
    n_samples : int
        Number of rows.
    null_deviation : float
        Standard deviation of the final gap if the scores were the true probabilities.
    """

    fractile: Floats
    score: Floats
    cum_score: Floats
    cum_hits: Floats
    n_samples: int
    null_deviation: float

    @cached_property
    def gap(self) -> Floats:
        """``cum_score - cum_hits``: above 0 where the model has claimed too much so far."""
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

    @property
    def ks_p_value(self) -> float:
        """Probability of a KS error this large if the scores were the true probabilities.

        The Brownian limit, good from some hundred rows that are not all sure.
        """
        return brownian_tail(self.ks_statistic)

    @property
    def ks_null_95(self) -> float:
        """KS error that a perfectly calibrated model of this size exceeds in 5 % of cases.

        The Brownian limit again, so it is for scores that are the true probabilities.
        """
        return BROWNIAN_95 * self.null_deviation

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

        The Brownian limit, good from some hundred rows that are not all sure.
        """
        return brownian_range_tail(self.kuiper_statistic)

    def _scaled(self, gap: float) -> float:
        if self.null_deviation == 0:
            return 0.0 if gap == 0 else math.inf
        return gap / self.null_deviation


def brownian_tail(x: float) -> float:
    """Probability that standard Brownian motion on [0, 1] strays as far as ``x`` from 0.

    Parameters
    ----------
    x : float
        At least 0.

    Returns
    -------
    float
        Accurate far into the tail, where one minus the distribution function would be 0.

    Notes
    -----
    By reflection, 4 sum_k (-1)^k Q((2k + 1) x) with Q the normal upper tail; for small ``x``, where
    that converges slowly, one minus the theta series of the distribution function.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu, *Metrics of calibration for probabilistic
    predictions*, JMLR 2022.

    Examples
    --------
    >>> round(brownian_tail(2.2414), 4)
    0.05
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
    """Probability that the range of standard Brownian motion on [0, 1] is at least ``x``.

    Parameters
    ----------
    x : float
        At least 0.

    Returns
    -------
    float
        Accurate far into the tail.

    Notes
    -----
    8 sum_k (-1)^(k - 1) k Q(k x) with Q the normal upper tail, the integral of Feller's density.
    Below 0.4 it is 1 to all digits.

    References
    ----------
    Feller, *Annals of Mathematical Statistics* 1951; Arrieta-Ibarra et al., JMLR 2022.

    Examples
    --------
    >>> round(brownian_range_tail(2.4978), 4)
    0.05
    """
    if x < 0.4:
        return 1.0
    terms = (-((-1) ** k) * k * math.erfc(k * x / math.sqrt(2)) / 2 for k in range(1, 30))
    return min(8 * math.fsum(terms), 1.0)


def cumulative_curves(scores: ArrayLike, hits: ArrayLike) -> CumulativeCurves:
    """Accumulate predicted score and observed hits, lowest score first.

    If the event is calibrated, the two totals grow together.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event, in [0, 1]. Any order.
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened.

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
    return curves_of(tally(scores, hits))


def curves_of(counted: Tally) -> CumulativeCurves:
    """Accumulate rows that are counted by score, as `cumulative_curves`."""
    n_samples, scores = counted.n_samples, counted.scores

    def totals(values: Floats) -> Floats:
        return np.concatenate([[0.0], np.cumsum(values) / n_samples])

    return CumulativeCurves(
        fractile=totals(counted.counts),
        score=np.concatenate([[0.0], scores]),
        cum_score=totals(counted.counts * scores),
        cum_hits=totals(counted.hits),
        n_samples=n_samples,
        null_deviation=math.sqrt(float((counted.counts * scores) @ (1 - scores))) / n_samples,
    )


def ks_error(scores: ArrayLike, hits: ArrayLike) -> float:
    """Largest gap between cumulative score and cumulative hits, in probability units.

    Parameters and errors are those of `cumulative_curves`, whose ``ks_error`` this is, without
    the curves.

    Examples
    --------
    >>> ks_error([0.5, 1.0], [0, 1])
    0.25
    """
    return float(ks_of(tally(scores, hits)))


def ks_of(counted: Tally) -> Floats:
    """Give the `ks_error` of rows that are counted by score; resamples all at once."""
    return np.asarray(np.abs(_gaps(counted)).max(axis=-1))


def kuiper_of(counted: Tally) -> Floats:
    """Give `CumulativeCurves.kuiper` of rows counted by score; resamples all at once."""
    gaps = _gaps(counted)
    return np.asarray(np.maximum(gaps.max(axis=-1), 0.0) - np.minimum(gaps.min(axis=-1), 0.0))


def _gaps(counted: Tally) -> Floats:
    gaps = counted.counts * counted.scores - counted.hits
    np.cumsum(gaps, axis=-1, out=gaps)
    gaps /= counted.n_samples
    return gaps
