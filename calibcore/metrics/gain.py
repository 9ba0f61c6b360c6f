"""Class probabilities before and after calibration."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.metrics.proper import brier
from calibcore.validation import Logits


def calibration_gain(before: ArrayLike, after: ArrayLike, labels: ArrayLike) -> float:
    """Return how much calibration lowers the squared calibration error, from the Brier scores.

    It needs no bins and no density, and many classes are no harder than two.

    Parameters
    ----------
    before, after : array_like of float, shape (n_samples, n_classes)
        Class probabilities without and with calibration; rows that sum to 1.
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.

    Returns
    -------
    float
        From -2 to 2, in squared probability summed over the classes; above 0 if calibration helps.

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, tables of unlike shape, labels that do not fit.

    Notes
    -----
    (1/N) sum_i (|z_i - y_i|^2 - |T(z_i) - y_i|^2), y_i the true class as a row of 0 and 1. In
    expectation this is the fall in squared calibration error of a map T that preserves accuracy;
    of one that does not, it bounds that fall from below.

    References
    ----------
    Zhang et al., ICML 2020, definition 4.1, proposition 4.2 and eq. 8.

    Examples
    --------
    >>> calibration_gain([[1.0, 0.0], [1.0, 0.0]], [[0.75, 0.25], [0.75, 0.25]], [0, 1])
    0.375
    """
    first, second = (validation.matrix(one, "probabilities") for one in (before, after))
    _check_alike(first, second)
    return brier(before, labels) - brier(after, labels)


def changed_decisions(before: ArrayLike, after: ArrayLike) -> int:
    """Count rows whose most probable class is another one after calibration.

    Parameters
    ----------
    before, after : array_like of float, shape (n_samples, n_classes)
        Class probabilities without and with calibration; any scores that grow with them will do.

    Returns
    -------
    int
        From 0 to ``n_samples``.

    Raises
    ------
    CalibrationInputError
        NaN, tables of unlike shape.

    Notes
    -----
    Of equally probable classes the one with the lowest index is predicted.

    Examples
    --------
    >>> changed_decisions([[0.6, 0.4], [0.2, 0.8]], [[0.5, 0.5], [0.7, 0.3]])
    1
    """
    first, second = validation.ranked(before, "before"), validation.ranked(after, "after")
    _check_alike(first, second)
    return int(np.count_nonzero(first.argmax(axis=1) != second.argmax(axis=1)))


def _check_alike(before: Logits, after: Logits) -> None:
    found, wanted = after.shape, before.shape
    if found != wanted:
        raise CalibrationInputError("after", f"shape {found}", f"that of before, {wanted}")
