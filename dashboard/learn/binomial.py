"""How often luck gives each count, and the counts between which it usually stays."""

import numpy as np

from calibcore.validation import Floats


def chances_of(probability: float, n: int) -> Floats:
    """Return the binomial probability of each count from 0 to n, shape (n + 1,)."""
    from scipy.special import bdtr  # noqa: PLC0415 - a tenth of a second to import

    below = bdtr(np.arange(-1, n + 1), n, probability)
    return np.diff(np.nan_to_num(below))


def usual_range(chances: Floats) -> tuple[int, int]:
    """Return the counts outside which at most 2.5% lie on either side, so 95% or more between."""
    below = np.cumsum(chances)
    return int(np.searchsorted(below, 0.025)), int(np.searchsorted(below, 0.975))


def share_within(chances: Floats) -> str:
    """Return how many of all groups are in the usual range: of counts, it is never exactly 95%."""
    low, high = usual_range(chances)
    return f"{100 * chances[low : high + 1].sum():.1f}%"
