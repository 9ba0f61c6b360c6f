"""Binned calibration errors, and how much the number of bins decides them."""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.binning import (
    Binning,
    BinTable,
    bin_scores,
    bin_tally,
    equal_mass_starts,
    equal_width_starts,
)
from calibcore.cumulative import ks_of
from calibcore.errors import CalibrationInputError
from calibcore.metrics.measure import EventMeasure
from calibcore.results import result_class
from calibcore.tally import Tally, tally
from calibcore.validation import Floats
from calibcore.weights import SampleWeight, refuse_design

MOST_BINS = 100
"""Bins up to which a sweep goes unless more are asked for."""

_ONE_ROW = 1e-9
"""By so much more than 1 an effective number of rows may be that is 1 but for rounding."""

_Z_95 = 1.6448536269514722
"""Standard deviations that a normal variable exceeds in 5% of cases."""


@result_class
class BinSweep:
    """The expected calibration error of the same rows, by the number of bins."""

    n_bins: NDArray[np.int64]
    """Numbers of bins: 2, 3, ; shape (n_sizes,)."""
    equal_width: Floats
    equal_mass: Floats
    """`calibcore.metrics.ece` with that many bins of either kind; shape (n_sizes,)."""
    limit_equal_width: Floats
    """What that of equal width would exceed in 5% of samples if the scores were the true
    probabilities; shape (n_sizes,).
    """
    ks_error: float
    """Of the same rows; it needs no bins."""


def bin_sweep(scores: ArrayLike, hits: ArrayLike, *, most: int = MOST_BINS) -> BinSweep:
    """Return the expected calibration error for every number of bins from 2 up.

    ``scores``: predicted probability of the event (y_prob), in [0, 1]; shape (n_samples,).
    ``hits``: whether the event happened (y_true of the event); shape (n_samples,). ``most``:
    largest number of bins, at least 2.

    Raises `CalibrationInputError` for scores or hits out of range, and a number below 2.

    Bins are those of `calibcore.binning.bin_scores`. All numbers of bins read one running total,
    so a sweep costs little more than one sort.

    The limit is that of a sum over independent bins of |sum (s_i - h_i)| / N, with independent hits
    of probability s_i, by mean, variance and skewness (Cornish-Fisher). With V = sum s_i (1 - s_i)
    the mean of a bin is sqrt(2 V / pi) where many rows share it (the folded normal) and 2 V where V
    is near 0; the smaller of the two is taken, and the third moment that belongs to it.

    Source: Gupta et al., ICLR 2021, on the choice of bins; Vasilev and D'yakonov 2023, section 3.2;
    Cornish and Fisher, *Revue de l'Institut International de Statistique* 1938.

    >>> swept = bin_sweep([0.2, 0.4, 0.9], [0, 1, 1], most=3)
    >>> swept.n_bins.tolist(), swept.equal_width.round(4).tolist()
    ([2, 3], [0.1667, 0.3])
    """
    return sweep_bins(tally(scores, hits), most=most)


def sweep_bins(counted: Tally, *, most: int = MOST_BINS) -> BinSweep:
    """Return the `bin_sweep` of rows that are counted by score (one set, not resamples)."""
    most = validation.whole_number(most, "most", least=2, most=10_000)
    refuse_design(counted.design, "the limits of a sweep over bins")
    claimed = counted.counts * counted.scores
    gaps = _from_zero(claimed - counted.hits)
    variance = _from_zero(counted.variances)
    totals = np.cumsum(counted.counts)
    curves = np.empty((3, most - 1))
    for place, n_bins in enumerate(range(2, most + 1)):
        starts = equal_width_starts(counted, n_bins), equal_mass_starts(counted, n_bins, totals)
        width, mass = (np.append(first, counted.scores.size) for first in starts)
        curves[:2, place] = [np.abs(np.diff(gaps[ends])).sum() for ends in (width, mass)]
        curves[2, place] = _limit(np.diff(variance[width]))
    curves /= counted.n_samples
    return BinSweep(
        n_bins=np.arange(2, most + 1),
        equal_width=curves[0],
        equal_mass=curves[1],
        limit_equal_width=curves[2],
        ks_error=float(ks_of(counted)),
    )


def _from_zero(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)])


def _limit(variance: Floats) -> float:
    """Return what the sum of the distances from 0 of centred hits exceeds in 5% of draws."""
    second = np.maximum(variance, 0.0)  # a difference of running totals
    usual, rare = np.sqrt(2 / math.pi * second), 2 * second
    mean = np.minimum(usual, rare)
    third = np.where(rare < usual, second, 2 * usual * second) - 3 * mean * second + 2 * mean**3
    deviation = math.sqrt(float((second - mean**2).sum()))
    if deviation**3 == 0:
        return float(mean.sum())
    skewness = float(third.sum()) / deviation**3
    return float(mean.sum()) + deviation * (_Z_95 + (_Z_95**2 - 1) / 6 * skewness)


# Calibration errors over bins of the score ----------------------------------------------------


def ece(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_bins: int = 15,
    binning: Binning = "equal_width",
    norm: Literal[1, 2] = 1,
    sample_weight: SampleWeight = None,
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
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

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
    bins = bin_scores(scores, hits, n_bins=n_bins, binning=binning, sample_weight=sample_weight)
    return float(ece_of(bins, norm=norm))


def ece_of(table: BinTable, *, norm: Literal[1, 2] = 1) -> Floats:
    """Return the `ece` of binned rows, vectorised over resamples."""
    weights = table.counts / table.counts.sum(axis=-1, keepdims=True)
    gaps = np.where(table.counts > 0, np.abs(table.gap), 0.0)
    return np.asarray(np.sum(weights * gaps**norm, axis=-1) ** (1 / norm))


def debiased_ece(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_bins: int = 15,
    binning: Binning = "equal_mass",
    sample_weight: SampleWeight = None,
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
    and the maximum it no longer is. With sampling weights n_b / N is the share of the weight, and
    n_b in n_b - 1 is Kish's effective number of the bin's rows, which keeps the sum right on
    average.

    Where rows do not fill the bins evenly, which bins have one row more is a convention, and few
    rows feel it: of calibrated scores, 15 bins, giving the surplus to the first bins instead moves
    it by 0.003 on average with 1,000 rows (seldom more than 0.012), by 0.0008 with 5,000, by
    0.00003 with 100,000; with 500 by 0.008. Larger errors move less.

    References
    ----------
    Kumar, Liang, Ma, *Verified uncertainty calibration*, NeurIPS 2019, section 5.

    Examples
    --------
    >>> scores, hits = [0.25, 0.25, 0.25, 0.25], [1, 1, 0, 1]
    >>> round(debiased_ece(scores, hits, n_bins=1), 4), ece(scores, hits, n_bins=1)
    (0.433, 0.5)
    """
    bins = bin_scores(scores, hits, n_bins=n_bins, binning=binning, sample_weight=sample_weight)
    return float(debiased_ece_of(bins))


def debiased_ece_of(table: BinTable) -> Floats:
    """Return the `debiased_ece` of binned rows, vectorised over resamples."""
    with np.errstate(divide="ignore", invalid="ignore"):  # bins of one row or none are left out
        rows = table.counts if table.kish is None else table.kish
        chance = table.frequency * (1 - table.frequency) / (rows - 1)
    excess = np.where(rows > 1 + _ONE_ROW, table.gap**2 - chance, 0.0)
    total = np.sum(table.counts * excess, axis=-1) / table.counts.sum(axis=-1)
    return np.asarray(np.sqrt(np.maximum(total, 0.0)))


def mce(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_bins: int = 15,
    binning: Binning = "equal_width",
    sample_weight: SampleWeight = None,
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
    bins = bin_scores(scores, hits, n_bins=n_bins, binning=binning, sample_weight=sample_weight)
    return float(mce_of(bins))


def mce_of(table: BinTable) -> Floats:
    """Return the `mce` of binned rows, vectorised over resamples."""
    return np.asarray(np.where(table.counts > 0, np.abs(table.gap), 0.0).max(axis=-1))


def _equal_width(counted: Tally, n_bins: int) -> BinTable:
    return bin_tally(counted, n_bins=n_bins)


def _equal_mass(counted: Tally, n_bins: int) -> BinTable:
    return bin_tally(counted, n_bins=n_bins, binning="equal_mass")


ECE = EventMeasure(
    key="ece",
    name="ECE, equal-width bins",
    group="binned",
    source="Guo 2017, eq. 3",
    explained="Expected calibration error: the gap between mean score and observed frequency,"
    " averaged over bins of equal width. It depends on the number of bins.",
    ideal=0.0,
    short=True,
    interval="inverted",
    compute=lambda c, o: ece_of(c.once(_equal_width, o.n_bins)),
)

ECE_EQUAL_MASS = EventMeasure(
    key="ece_equal_mass",
    name="ECE, equal-mass bins",
    group="binned",
    source="Vasilev 2023, section 3.2",
    explained="Expected calibration error over bins of equally many rows.",
    formula="sum_b n_b / N |mean score_b - frequency_b|, inner edges at the scores of the rows at"
    " places b N / n_bins.",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, o: ece_of(c.once(_equal_mass, o.n_bins)),
)

ECE_L2 = EventMeasure(
    key="ece_l2",
    name="ECE, squared gaps",
    group="binned",
    source="Kumar 2019",
    explained="Root mean squared gap over bins of equally many rows; large gaps weigh more.",
    formula="Root of sum_b n_b / N (mean score_b - frequency_b)^2.",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, o: ece_of(c.once(_equal_mass, o.n_bins), norm=2),
)

DEBIASED_ECE = EventMeasure(
    key="debiased_ece",
    name="ECE, squared gaps, debiased",
    group="binned",
    source="Kumar 2019",
    explained="The same, minus what chance adds to the squared gaps; 0 where chance explains them"
    " all. Below 5,000 rows, where the edges of the bins fall between rows moves it: with 1,000 by"
    " 0.3 percentage points on average.",
    ideal=0.0,
    interval="inverted",
    truth=lambda c, o: ece_of(c.once(_equal_mass, o.n_bins), norm=2),
    compute=lambda c, o: debiased_ece_of(c.once(_equal_mass, o.n_bins)),
)

MCE = EventMeasure(
    key="mce",
    name="MCE",
    group="binned",
    source="Guo 2017, eq. 5",
    explained="Maximum calibration error: the largest gap of any bin. A bin with few rows can"
    " decide it.",
    formula="max_b |mean score_b - frequency_b| over the bins that hold rows.",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, o: mce_of(c.once(_equal_width, o.n_bins)),
)

MCE_EQUAL_MASS = EventMeasure(
    key="mce_equal_mass",
    name="MCE, equal-mass bins",
    group="binned",
    source="Vasilev 2023, section 3.2",
    explained="Maximum calibration error over bins of equally many rows: no bin with few rows"
    " decides it.",
    formula="max_b |mean score_b - frequency_b|, inner edges at the scores of the rows at places b"
    " N / n_bins.",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, o: mce_of(c.once(_equal_mass, o.n_bins)),
)
