"""Truths that the number of hits does not rule out, however near to perfect the rows look."""

import math
from collections.abc import Callable
from statistics import NormalDist

from calibcore.tally import Tally
from calibcore.validation import Floats

_HALVINGS = 40


def allowed_frequencies(counted: Tally, level: float) -> list[Floats]:
    """Return frequencies of which the hits seen are just not too many, and not too few.

    ``counted``: with ``counts`` and ``hits`` of shape (n_blocks,). ``level``: of the interval for
    the number of hits expected.

    Scores of which the same share is missing; then those of which the misses are so. Nearly the
    scores themselves, where those are ruled out on that side; shape (n_blocks,).

    Examples
    --------
    >>> from calibcore.tally import tally
    >>> fewer, *_ = allowed_frequencies(tally([1.0] * 54, [1] * 54), 0.95)
    >>> fewer.round(4).tolist()  # the lower end of Wilson's interval for 54 of 54
    [0.9336]
    """
    counts, hits = counted.counts, float(counted.hits.sum())

    def fewest(scores: Floats, seen: float) -> Floats:
        share = largest_allowed(lambda missing: scores * (1 - missing), counts, seen, level)
        return scores * (1 - share)

    misses = fewest(1 - counted.scores, counted.n_samples - hits)
    return [fewest(counted.scores, hits), 1 - misses]


def largest_allowed(
    frequency_at: Callable[[float], Floats], counts: Floats, hits: float, level: float
) -> float:
    """Find how strongly frequencies may fall before the hits seen would be too many.

    ``frequency_at``: frequencies at a strength from 0 to 1, shape (n_blocks,); their mean falls.
    ``counts``: rows at each; shape (n_blocks,). ``hits``: seen in all. ``level``: of the interval
    for the number of hits expected.

    Below 1.

    Notes
    -----
    Hits are too many beyond as many standard deviations as the normal quantile of (1 + level) / 2.
    For frequencies that are all equal, this is the lower end of Wilson's interval.
    """
    far = NormalDist().inv_cdf((1 + level) / 2)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        frequency = frequency_at(middle)
        variance = float(counts @ (frequency * (1 - frequency)))
        most = float(counts @ frequency) + far * math.sqrt(max(variance, 0.0))
        low, high = (middle, high) if most >= hits else (low, middle)
    return low
