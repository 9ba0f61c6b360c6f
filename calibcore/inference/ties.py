"""How far the KS error rests on the order of rows whose scores are equal."""

import numpy as np

from calibcore.cumulative import CumulativeCurves


def ks_by_worst_order(curves: CumulativeCurves) -> float:
    """Find the largest KS error that any order of the rows of equal score gives.

    Parameters
    ----------
    curves : CumulativeCurves
        In which the rows of one score make one step.

    Returns
    -------
    float
        In [0, 1], at least ``curves.ks_error``, which no order undercuts. Were the scores rounded,
        the KS error of the exact order lies between the two, apart from what rounding did to the
        scores themselves.

    Notes
    -----
    Within a step the gap is highest with all misses first, and lowest with all hits first.

    Examples
    --------
    >>> from calibcore.cumulative import cumulative_curves
    >>> curves = cumulative_curves([0.5] * 4, [0, 1, 0, 1])
    >>> curves.ks_error, ks_by_worst_order(curves)
    (0.0, 0.25)
    """
    start, score = curves.gap[:-1], curves.score[1:]
    hits = np.diff(curves.cum_hits)
    highest = start + np.diff(curves.cum_score) - score * hits
    lowest = start - (1 - score) * hits
    return float(max(curves.ks_error, np.abs(highest).max(), np.abs(lowest).max()))
