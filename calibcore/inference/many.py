"""Many classes at once: which of them are off, when all are looked at."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.validation import Floats


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values so that all of them may be looked at.

    Parameters
    ----------
    p_values : array_like of float, shape (n_tests,)
        Each in [0, 1].

    Returns
    -------
    ndarray of float64, shape (n_tests,)
        The chance of even one adjusted p-value of at most 5 % is at most 5 % if nothing is off.

    Raises
    ------
    CalibrationInputError
        NaN, or values outside [0, 1].

    Notes
    -----
    Sorted, the i-th of m (from 0) is multiplied by m - i; none is below one before it, nor above 1.

    References
    ----------
    Holm, *Scandinavian Journal of Statistics* 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    values = validation.scores(p_values)
    order = np.argsort(values)
    factors = np.arange(values.size, 0, -1)
    rising = np.maximum.accumulate(np.minimum(values[order] * factors, 1.0))
    adjusted = np.empty_like(rising)
    adjusted[order] = rising
    return adjusted
