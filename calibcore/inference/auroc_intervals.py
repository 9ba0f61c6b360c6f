"""Where few rows are hits, or few are misses: the interval of AUROC, and how far changes reach."""

import math
from collections.abc import Callable

import numpy as np

from calibcore.inference.intervals import Interval
from calibcore.tally import Tally, count_totals, hit_totals

_AS_ROWS = 10.0
"""Further hits and misses as many as whose word the usual shape of curves counts."""

_HALVINGS = 60


def rank_interval(counted: Tally, level: float) -> Interval:
    """Return the interval of `calibcore.metrics.auroc`, which holds from one hit and one miss on.

    ``counted``: whole rows, with ``counts`` and ``hits`` of shape (n_blocks,). ``level``: of the
    interval.

    NaN where all rows are hits, or none.

    Notes
    -----
    All areas A whose distance from the one seen is at most z standard deviations at A, so that it
    is wide where all hits score above all misses. The variance is half q(A) / hits + q(A) / misses
    with q(A) = A (1 - A)^2 / (2 - A) + A^2 (1 - A) / (1 + A), as Newcombe's from exponential
    scores, each term times the ratio of DeLong's from these rows to it. The ratio counts the rows
    seen less 1, and 1 as if seen in 10 more. Resamples of few misses show too few orders of them.

    References
    ----------
    Newcombe, *Statistics in Medicine* 2006 (method 5); DeLong et al., *Biometrics* 1988.

    Examples
    --------
    >>> from calibcore.tally import tally
    >>> rank_interval(tally([0.2, 0.4, 0.6, 0.9], [0, 0, 1, 1]), 0.95)
    Interval(low=0.43..., high=1.0)
    """
    from scipy.special import ndtri  # noqa: PLC0415 - a tenth of a second to import

    hits, misses = counted.hits, counted.counts - counted.hits
    n_hits, n_misses = float(hits.sum()), float(misses.sum())
    if min(n_hits, n_misses) == 0:
        return Interval(math.nan, math.nan)
    hits_up_to, rows_up_to = counted.once(hit_totals), counted.once(count_totals)
    below = (rows_up_to - hits_up_to - misses / 2) / n_misses  # share of misses, for each hit
    above = 1 - (hits_up_to - hits / 2) / n_hits
    area = float(hits @ below) / n_hits
    usual = _usual(area)
    per_row = 0.0
    for weights, place, n in ((hits, below, n_hits), (misses, above, n_misses)):
        seen = float(weights @ np.square(place - area))
        ratio = (seen / usual + _AS_ROWS) / (n - 1 + _AS_ROWS) if usual > 0 else 1.0
        per_row += ratio / n
    allowed = float(ndtri((1 + level) / 2)) ** 2 * per_row

    def is_near(other: float) -> bool:
        return (other - area) ** 2 <= allowed * _usual(other)

    return Interval(_last(is_near, area, 0.0), _last(is_near, area, 1.0))


def _usual(area: float) -> float:
    """Return the variance of places of hits among misses, or the reverse, of exponential scores."""
    return (area * (1 - area) ** 2 / (2 - area) + area**2 * (1 - area) / (1 + area)) / 2


def _last(is_near: Callable[[float], bool], start: float, end: float) -> float:
    """Find the last number on the way that is near, as ``start`` is."""
    for _ in range(_HALVINGS):
        middle = (start + end) / 2
        if is_near(middle):
            start = middle
        else:
            end = middle
    return end


def fewest(counted: Tally) -> int:
    """Count the hits or the misses, whichever are fewer."""
    n_hits = float(counted.hits.sum())
    return round(min(n_hits, counted.n_samples - n_hits))


def stretch_of(few: int, level: float) -> float:
    """Return by how much more a change may be off than resamples of so few hits or misses show.

    As Student's t and the spread of a sample do: the few that there are lie nearer to their own
    mean than to the true one, by an amount that is itself uncertain. Infinite for fewer than 2.

    Examples
    --------
    >>> [round(stretch_of(few, 0.95), 2) for few in (1, 2, 3, 10, 100)]
    [inf, 9.17, 2.69, 1.22, 1.02]
    """
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 - a tenth of a second to import

    if few < 2:
        return math.inf
    share = (1 + level) / 2
    return float(stdtrit(few - 1, share) / ndtri(share) * math.sqrt(few / (few - 1)))
