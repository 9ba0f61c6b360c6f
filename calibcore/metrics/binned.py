"""Calibration errors over bins of the score."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibcore.binning import Binning, BinTable, bin_scores
from calibcore.errors import CalibrationInputError


def ece(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_bins: int = 15,
    binning: Binning = "equal_width",
    norm: Literal[1, 2] = 1,
) -> float:
    """Average gap between mean score and observed frequency over bins (ECE).

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event, in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened.
    n_bins : int, default 15
        Number of bins.
    binning : {"equal_width", "equal_mass"}
        Kind of bins, see `calibcore.binning.bin_scores`.
    norm : {1, 2}, default 1
        Average of absolute gaps, or root of the average of squared gaps.

    Returns
    -------
    float
        In probability units, 0 to 1.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range, options that do not exist.

    Notes
    -----
    (sum_b n_b / N |mean score_b - frequency_b|^norm)^(1 / norm); empty bins weigh nothing.

    References
    ----------
    Naeini, Cooper, Hauskrecht, AAAI 2015; Guo et al., ICML 2017, eq. 3.

    Examples
    --------
    >>> round(ece([0.2, 0.4, 0.9], [0, 1, 1], n_bins=2), 4)
    0.1667
    """
    if norm not in (1, 2):
        raise CalibrationInputError("norm", repr(norm), "1 or 2")
    return table_ece(bin_scores(scores, hits, n_bins=n_bins, binning=binning), norm=norm)


def table_ece(table: BinTable, *, norm: Literal[1, 2] = 1) -> float:
    """Give the `ece` of rows that are binned already."""
    filled = table.counts > 0
    weights = table.counts[filled] / table.counts.sum()
    return float(np.sum(weights * np.abs(table.gap[filled]) ** norm) ** (1 / norm))


def mce(
    scores: ArrayLike, hits: ArrayLike, *, n_bins: int = 15, binning: Binning = "equal_width"
) -> float:
    """Largest gap between mean score and observed frequency of any bin (MCE).

    Parameters and errors are those of `ece`.

    Returns
    -------
    float
        In probability units, 0 to 1. A bin with a single row can decide it.

    References
    ----------
    Naeini, Cooper, Hauskrecht, AAAI 2015; Guo et al., ICML 2017, eq. 5.

    Examples
    --------
    >>> round(mce([0.2, 0.4, 0.9], [0, 1, 1], n_bins=2), 4)
    0.2
    """
    return table_mce(bin_scores(scores, hits, n_bins=n_bins, binning=binning))


def table_mce(table: BinTable) -> float:
    """Give the `mce` of rows that are binned already."""
    return float(np.abs(table.gap[table.counts > 0]).max())
