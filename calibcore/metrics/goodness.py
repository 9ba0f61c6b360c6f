"""Tests of calibration that are known by their statistic: Spiegelhalter, Hosmer-Lemeshow."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.binning import BinTable, bin_tally
from calibcore.metrics.measure import EventMeasure
from calibcore.results import short_repr
from calibcore.tally import Tally, tally
from calibcore.validation import Floats
from calibcore.weights import SampleWeight, refuse_sampling

N_GROUPS = 10
"""Groups of the Hosmer-Lemeshow test: tenths of the rows."""

_KIND = "a test of counted rows"


@dataclass(frozen=True)
class SpiegelhalterTest:
    """Whether the Brier score is what calibrated scores would have."""

    z: float
    """Normal if calibrated; above 0 where the Brier score is too high, as by overconfidence."""
    p_value: float
    """Two-sided."""

    __repr__ = short_repr


def spiegelhalter_test(
    scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
) -> SpiegelhalterTest:
    """Test by Spiegelhalter's z whether the Brier score is what calibrated scores would have.

    ``scores``: predicted probability of the event (y_prob), in [0, 1]; shape (n_samples,).
    ``hits``: whether the event happened (y_true of the event); shape (n_samples,).
    ``sample_weight``: frequency weights, as in `calibcore.weights`; shape (n_samples,).

    NaN where the scores leave the Brier score no freedom: each is 0, 1/2 or 1. Raises
    `CalibrationInputError` for scores or hits out of range.

    z = sum_i (h_i - s_i)(1 - 2 s_i) / root of sum_i (1 - 2 s_i)^2 s_i (1 - s_i), and
    p = P(|normal| >= |z|). The numerator is N times Brier score less its expectation if the scores
    are true. It says nothing of rows with scores near 1/2, and scores too high in one place can
    make up for scores too low in another: a large p-value does not show calibration.

    Source: Spiegelhalter, *Statistics in Medicine* 1986.

    >>> spiegelhalter_test([0.2, 0.2, 0.8, 0.8], [0, 1, 1, 1])
    SpiegelhalterTest(z=0.25, p_value=0.802587)
    """
    z = spiegelhalter_z(scores, hits, sample_weight=sample_weight)
    return SpiegelhalterTest(z, _beyond_normal(z))


def _beyond_normal(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2))


def spiegelhalter_z(
    scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute Spiegelhalter's z; see `spiegelhalter_test`, which also has the p-value."""
    return float(spiegelhalter_z_of(tally(scores, hits, sample_weight=sample_weight)))


def spiegelhalter_z_of(counted: Tally) -> Floats:
    """Return the `spiegelhalter_z` of score-tallied rows, vectorised over resamples."""
    if counted.squares is not None:
        refuse_sampling("spiegelhalter_z", _KIND)
    total: Floats | float = 0.0
    variance: Floats | float = 0.0
    for part in counted.parts():
        weight = 1 - 2 * part.scores
        spread = part.scores * (1 - part.scores)
        total = total + part.hits @ weight - part.counts @ (weight * part.scores)
        variance = variance + part.counts @ (weight * weight * spread)
    with np.errstate(divide="ignore", invalid="ignore"):  # scores may be 0 or 1 alone
        return np.asarray(total / np.sqrt(variance))


@dataclass(frozen=True)
class HosmerLemeshowTest:
    """Whether observed and expected hits agree in groups of the score."""

    statistic: float
    """Sum of squared differences over their variances; infinite where hits or misses are certain in
    a group but for one.
    """
    degrees: int
    """Degrees of freedom of the chi-squared law that it is compared with."""
    p_value: float

    __repr__ = short_repr


def hosmer_lemeshow_test(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    n_groups: int = N_GROUPS,
    fitted: int = 0,
    sample_weight: SampleWeight = None,
) -> HosmerLemeshowTest:
    """Test by Hosmer and Lemeshow whether observed and expected hits agree in groups of the score.

    Do not rely on it: its result depends on the number of groups, it misses what differs within
    one, few rows detect nothing and very many detect what does not matter. It is here so that
    reports that ask for it can have it; `calibcore.inference.omnibus` tests without groups.

    ``scores``: predicted probability of the event (y_prob), in [0, 1]; shape (n_samples,).
    ``hits``: whether the event happened (y_true of the event); shape (n_samples,). ``n_groups``: of
    about equally many rows. ``fitted``: numbers that were fitted on these very rows: 2 for the
    model's own training rows (then groups less 2 degrees of freedom, as published), 0 for rows that
    it has not seen. ``sample_weight``: frequency weights, as in `calibcore.weights`; shape
    (n_samples,).

    The p-value is NaN where no degree of freedom is left. Raises `CalibrationInputError` for
    scores, hits or numbers out of range.

    sum_g (O_g - E_g)^2 / (E_g (1 - E_g / n_g)), O_g the hits of group g, E_g the sum of its scores.
    Groups are the bins of equal mass of `calibcore.binning.bin_scores`; rows of equal score share
    one, so there may be fewer. Those in which O = E is certain (all scores 0, or 1) count nothing.

    Source: Hosmer and Lemeshow, *Communications in Statistics* 1980; against it: Hosmer et al.,
    *Statistics in Medicine* 1997; Van Calster et al., *BMC Medicine* 2019.

    >>> hosmer_lemeshow_test([0.2, 0.2, 0.8, 0.8], [0, 1, 1, 1], n_groups=2)
    HosmerLemeshowTest(statistic=1.625, degrees=2, p_value=0.443747)
    """
    fitted = validation.whole_number(fitted, "fitted", least=0, most=1_000)
    counted = tally(scores, hits, sample_weight=sample_weight)
    table = _groups(counted, n_groups)
    statistic = float(hosmer_lemeshow_of(table))
    degrees = max(int(np.count_nonzero(table.counts)) - fitted, 0)
    return HosmerLemeshowTest(statistic, degrees, _beyond_chi_squared(statistic, degrees))


def _beyond_chi_squared(statistic: float, degrees: int = N_GROUPS) -> float:
    from scipy.special import gammaincc  # noqa: PLC0415 - a tenth of a second to import

    return float(gammaincc(degrees / 2, statistic / 2)) if degrees else math.nan


def hosmer_lemeshow(
    scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the statistic of `hosmer_lemeshow_test` over tenths of the rows."""
    return hosmer_lemeshow_test(scores, hits, sample_weight=sample_weight).statistic


def hosmer_lemeshow_of(table: BinTable) -> Floats:
    """Return the statistic of binned rows, vectorised over resamples."""
    variance = table.mean_score * (1 - table.mean_score)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # of certain scores
        parts = table.counts * table.gap**2 / variance
    return np.asarray(np.where(np.isnan(parts), 0.0, parts).sum(axis=-1))


def _groups(counted: Tally, n_groups: int = N_GROUPS) -> BinTable:
    if counted.squares is not None:
        refuse_sampling("hosmer_lemeshow", _KIND)
    return bin_tally(counted, n_bins=n_groups, binning="equal_mass")


SPIEGELHALTER_Z = EventMeasure(
    key="spiegelhalter_z",
    name="Spiegelhalter's z",
    group="test",
    source="Spiegelhalter 1986",
    explained="Brier score minus what calibrated scores would have, in standard deviations. Beyond"
    " \u00b11.96: p < 0.05; above 0: overconfident. It grows with the number of rows.",
    formula="sum_i (h_i - s_i)(1 - 2 s_i) / root of sum_i (1 - 2 s_i)^2 s_i (1 - s_i).",
    unit="number",
    better="nearer",
    ideal=0.0,
    is_tested_only=True,
    counts_rows=True,
    compute=lambda c, _: spiegelhalter_z_of(c),
    law=_beyond_normal,
)

HOSMER_LEMESHOW = EventMeasure(
    key="hosmer_lemeshow",
    name="Hosmer-Lemeshow",
    group="test",
    source="Hosmer 1980",
    explained="Squared differences of observed and expected outcomes in tenths of the rows. Do not"
    " rely on it: the result depends on the groups, few rows detect nothing and very many detect"
    " what does not matter.",
    formula="sum_g (O_g - E_g)^2 / (E_g (1 - E_g / n_g)) over tenths of the rows; O_g outcomes"
    " that were 1, E_g the sum of the scores, n_g rows. About chi-squared with 10 degrees of"
    " freedom for rows that the model has not seen.",
    unit="number",
    ideal=0.0,
    extent=(0.0, math.inf),
    is_tested_only=True,
    counts_rows=True,
    compute=lambda c, _: hosmer_lemeshow_of(c.once(_groups)),
    law=_beyond_chi_squared,
)
