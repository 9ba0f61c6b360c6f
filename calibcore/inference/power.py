"""What this many rows can show."""

import math
from typing import NamedTuple, Self

import numpy as np

from calibcore.cumulative import BROWNIAN_95, CumulativeCurves

POWER = 0.8
"""Probability with which a gap is to be found."""

_NORMAL_80 = 0.8416212335729143
"""A standard normal variable stays below it with probability `POWER`."""

_SMALLEST_STEP = 1e-3
"""Skew of a row over its variance, below which the normal distribution serves."""


class _Rows(NamedTuple):
    """Sums over the rows, in rows; scores are flipped so that most of them lie above 1/2.

    Weighted rows and clusters are as many equal rows as tell the mean gap as well.
    """

    n_rows: float
    effect: float
    expected: float
    variance: float
    step: float
    inward: float
    most_variance: float
    drawn: bool
    """Whether what the test allows is drawn from the gaps of clusters, and grows as they do."""

    @classmethod
    def of(cls, curves: CumulativeCurves) -> Self:
        score, counts, effect = curves.score[1:], curves.counts, 1.0
        slant, spread = np.abs(1 - 2 * score), counts * score * (1 - score)
        variance, skew = float(spread.sum()), float(spread @ slant)
        if curves.design is not None and variance and curves.null_deviation:
            effect = (curves.n_samples * curves.null_deviation) ** 2 / variance
        n_rows, expected = curves.n_samples / effect, float(counts @ score) / effect
        return cls(
            n_rows,
            effect,
            max(expected, n_rows - expected),
            variance / effect,
            skew / variance if variance else 1.0,
            float(counts @ slant) / curves.n_samples,
            n_rows / 4,
            curves.design is not None and curves.design.is_drawn and variance > 0,
        )

    def moved(self, gap: float) -> float:
        """Return the variance if the scores are off by a gap."""
        return min(self.variance + self.inward * gap, self.most_variance)


def smallest_gap_shown(curves: CumulativeCurves) -> float:
    """Return the smallest mean gap that the KS test detects with 80% power at the 5% level.

    Parameters
    ----------
    curves : CumulativeCurves
        Of the rows at hand.

    Returns
    -------
    float
        In probability units: the average of score minus probability, all scores being off as those
        of an overconfident model are, too near to 0 or to 1, whichever most of them are near. A
        smaller one is likely to go unseen; and so is this one, if it is ``curves.largest_gap``.

    Notes
    -----
    The test shows the gap if the hits of all rows, a whole number, fall short of the sum of the
    scores by more than ``ks_null_95`` allows; a wider gap on the way makes this only likelier.
    Their number is treated as a Poisson variable, shifted, and scaled to the variance of the scores
    plus what moving each of them inwards can add. In simulations of 10 to 5,000 rows, with scores
    of any shape, the probability is 77 to 98%, mostly 79 to 86%, and higher if scores are off the
    other way. Of rows with sampling weights it is 80%, of 60 clusters 72 to 77%, as outcomes that
    are less certain also depend more on each other.

    Examples
    --------
    >>> from calibcore.cumulative import cumulative_curves
    >>> always_sure = cumulative_curves([1.0] * 400, [1] * 400)
    >>> round(400 * smallest_gap_shown(always_sure), 4), round(-math.log(0.2), 4)  # one miss shows
    (1.6094, 1.6094)
    """
    rows = _Rows.of(curves)
    beyond = rows.expected - rows.n_rows * curves.ks_null_95
    shown = rows.expected - (math.ceil(beyond - 1e-9) - 1)
    low, high = 0.0, rows.expected
    if _power(rows, shown, high) < POWER:
        return curves.largest_gap
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _power(rows, shown, middle) < POWER else (low, middle)
    return high / rows.n_rows


def rows_that_show(curves: CumulativeCurves, gap: float) -> float:
    """Return the approximate number of rows for 80% power at a given mean gap.

    Parameters
    ----------
    curves : CumulativeCurves
        Of the rows at hand.
    gap : float
        In probability units, above 0.

    Returns
    -------
    float
        By the normal distribution, which holds where many misses and hits are expected.

    Examples
    --------
    >>> from calibcore.cumulative import cumulative_curves
    >>> at_half = cumulative_curves([0.5] * 10, [0, 1] * 5)
    >>> round(rows_that_show(at_half, 0.01), -2), round((2.2414 + 0.8416) ** 2 * 50**2, -2)
    (23800.0, 23800.0)
    """
    rows = _Rows.of(curves)
    if rows.drawn:  # gaps that vary as they do, whatever they are of
        beyond, moved = curves.ks_null_95 * math.sqrt(curves.n_samples), rows.variance
    else:
        beyond = BROWNIAN_95 * curves.null_deviation * math.sqrt(curves.n_samples)
        moved = rows.moved(rows.n_rows * gap)
    deviation = math.sqrt(rows.effect * moved / rows.n_rows)
    return ((beyond + _NORMAL_80 * deviation) / gap) ** 2


def _power(rows: _Rows, shown: float, gap: float) -> float:
    """Return the probability that the rows show as large a gap if the scores are off by another."""
    from scipy.special import gammainc, ndtr  # noqa: PLC0415 - a tenth of a second to import

    variance = rows.moved(gap)
    if rows.drawn:
        return float(ndtr(gap / math.sqrt(variance) - shown / math.sqrt(rows.variance)))
    if rows.step < _SMALLEST_STEP:
        return float(ndtr((gap - shown) / math.sqrt(variance)))
    mean = variance / rows.step**2
    return float(gammainc(max(mean + (shown - gap) / rows.step, 1e-12), mean))
