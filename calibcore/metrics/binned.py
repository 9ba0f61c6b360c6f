"""Calibration errors over bins of the score."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibcore.binning import Binning, BinTable, bin_scores
from calibcore.errors import CalibrationInputError
from calibcore.validation import Floats


def ece(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_bins: int = 15,
    binning: Binning = "equal_width",
    norm: Literal[1, 2] = 1,
) -> float:
    """Compute the expected calibration error (ECE): the mean gap of score and frequency over bins.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
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
    return float(ece_of(bin_scores(scores, hits, n_bins=n_bins, binning=binning), norm=norm))


def ece_of(table: BinTable, *, norm: Literal[1, 2] = 1) -> Floats:
    """Return the `ece` of binned rows, vectorised over resamples."""
    weights = table.counts / table.counts.sum(axis=-1, keepdims=True)
    gaps = np.where(table.counts > 0, np.abs(table.gap), 0.0)
    return np.asarray(np.sum(weights * gaps**norm, axis=-1) ** (1 / norm))


def debiased_ece(
    scores: ArrayLike, hits: ArrayLike, *, n_bins: int = 15, binning: Binning = "equal_mass"
) -> float:
    """Compute the debiased ECE: root mean squared gap over bins, less what chance adds to it.

    Few rows make gaps even where there are none; this takes off how much they do on average.

    Parameters and errors are those of `ece`; the bins are of equal mass by default.

    Returns
    -------
    float
        In probability units, 0 to 1; exactly 0 where chance explains all of the gaps.

    Notes
    -----
    Root of max(0, sum_b n_b / N ((mean score_b - frequency_b)^2 - f_b (1 - f_b) / (n_b - 1))), f_b
    the frequency. A single row does not show its chance, so a bin with one adds 0, as in the
    authors' program. Before the root, the sum is right on average over draws of the hits; after it
    and the maximum it no longer is.

    References
    ----------
    Kumar, Liang, Ma, *Verified uncertainty calibration*, NeurIPS 2019, section 5.

    Examples
    --------
    >>> scores, hits = [0.25, 0.25, 0.25, 0.25], [1, 1, 0, 1]
    >>> round(debiased_ece(scores, hits, n_bins=1), 4), ece(scores, hits, n_bins=1)
    (0.433, 0.5)
    """
    return float(debiased_ece_of(bin_scores(scores, hits, n_bins=n_bins, binning=binning)))


def debiased_ece_of(table: BinTable) -> Floats:
    """Return the `debiased_ece` of binned rows, vectorised over resamples."""
    with np.errstate(divide="ignore", invalid="ignore"):  # bins of one row or none are left out
        chance = table.frequency * (1 - table.frequency) / (table.counts - 1)
    excess = np.where(table.counts > 1, table.gap**2 - chance, 0.0)
    total = np.sum(table.counts * excess, axis=-1) / table.counts.sum(axis=-1)
    return np.asarray(np.sqrt(np.maximum(total, 0.0)))


def mce(
    scores: ArrayLike, hits: ArrayLike, *, n_bins: int = 15, binning: Binning = "equal_width"
) -> float:
    """Compute the maximum calibration error (MCE): the largest gap of score and frequency in a bin.

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
    return float(mce_of(bin_scores(scores, hits, n_bins=n_bins, binning=binning)))


def mce_of(table: BinTable) -> Floats:
    """Return the `mce` of binned rows, vectorised over resamples."""
    return np.asarray(np.where(table.counts > 0, np.abs(table.gap), 0.0).max(axis=-1))
