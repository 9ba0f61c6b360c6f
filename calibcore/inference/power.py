"""What this many rows can show."""

import math

from calibcore.cumulative import BROWNIAN_95, CumulativeCurves

_TERMS = 12


def stays_within(drift: float, width: float) -> float:
    """Give the probability that Brownian motion with drift stays within a width of 0 up to 1.

    Examples
    --------
    >>> from calibcore.cumulative import BROWNIAN_95
    >>> round(1 - stays_within(DRIFT_80, BROWNIAN_95), 12)
    0.8

    Notes
    -----
    The density of a motion that is stopped at the walls, as a sine series, weighted by the drift
    (Girsanov), and summed over where it ends.
    """
    total = 0.0
    for n in range(1, 2 * _TERMS, 2):
        k = n * math.pi / (2 * width)
        sign = -1 if n % 4 == 3 else 1
        total += sign * math.exp(-k * k / 2) * k / (drift**2 + k**2)
    return 2 / width * math.cosh(drift * width) * math.exp(-(drift**2) / 2) * total


DRIFT_80 = 2.8807255566602
"""Drift with which Brownian motion leaves `BROWNIAN_95` with a probability of 80 %."""


def smallest_gap_shown(curves: CumulativeCurves) -> float:
    """Smallest average gap that the KS test would show with 80 % probability at 5 %.

    Parameters
    ----------
    curves : CumulativeCurves
        Of the rows at hand.

    Returns
    -------
    float
        In probability units: mean score minus observed frequency, if every score is off alike. A
        smaller one is likely to go unseen; and so is this one, if it is ``curves.largest_gap``.

    Notes
    -----
    Under such a gap the running difference is nearly Brownian motion with a drift, of standard
    deviation ``null_deviation`` at the end; the test shows it where it leaves +-2.2414 deviations,
    which is ``ks_null_95``. Where few misses or hits are expected, the latter is the measure.
    """
    return min(DRIFT_80 / BROWNIAN_95 * curves.ks_null_95, curves.largest_gap)
