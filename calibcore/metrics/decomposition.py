"""Brier score and log loss of an event in three parts, by isotonic regression (CORP)."""

import math
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.metrics.measure import ChangeMeasure, EventMeasure, gain_rows
from calibcore.metrics.proper import brier, event_brier_of, event_nll_of
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.tally import (
    Tally,
    count_totals,
    hit_sums,
    hit_totals,
    resample_rows,
    tally,
    whole_numbers,
)
from calibcore.validation import Floats, Logits
from calibcore.weights import SampleWeight

Part = TypeVar("Part", float, Floats)


@dataclass(frozen=True)
class Decomposition(Generic[Part]):
    """Parts of a mean score: miscalibration - discrimination + uncertainty."""

    miscalibration: Part
    """How much the best rising map of the scores would lower it; at least 0, less is better."""
    discrimination: Part
    """How much the scores so mapped improve on one score for all; at least 0, more is better."""
    uncertainty: Part
    """What the best one score for all would give; says nothing about the model."""


def corp(
    scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
) -> Decomposition[float]:
    """Compute the CORP decomposition of the Brier score of an event into its three parts.

    No bins have to be chosen, and the parts add up to the score to rounding.

    ``scores``: predicted probability of the event (y_prob), in [0, 1]; shape (n_samples,).
    ``hits``: whether the event happened (y_true of the event); shape (n_samples,).
    ``sample_weight``: of the rows, as in `calibcore.weights`; shape (n_samples,).

    `event_brier` is ``miscalibration - discrimination + uncertainty``. Raises
    `CalibrationInputError` for scores or hits out of range.

    With S the Brier score, S_C that of the scores mapped by isotonic regression on these same rows
    and S_R that of the observed frequency: miscalibration S - S_C, discrimination S_R - S_C,
    uncertainty S_R = frequency (1 - frequency). Rows of equal score keep equal scores.

    Isotonic regression follows the rows at hand, so both first parts of few rows come out too
    large, also for a calibrated model.

    Source: Dimitriadis, Gneiting, Jordan, *Stable reliability diagrams for probabilistic
    classifiers*, PNAS 2021.
    """
    parts = corp_of(tally(scores, hits, sample_weight=sample_weight))
    return Decomposition(
        float(parts.miscalibration), float(parts.discrimination), float(parts.uncertainty)
    )


def corp_nll(
    scores: ArrayLike,
    hits: ArrayLike,
    rest: ArrayLike | None = None,
    *,
    sample_weight: SampleWeight = None,
) -> Decomposition[float]:
    """Compute the CORP decomposition of the log loss of an event into its three parts.

    ``scores``, ``hits``, ``sample_weight``: as for `corp`. ``rest``: as in `event_nll`; shape
    (n_samples,).

    In nats: `event_nll` is ``miscalibration - discrimination + uncertainty``. Raises as `corp`
    does.

    As of `corp`, with the log loss in place of the Brier score: isotonic regression is the best
    rising map for every proper score. Uncertainty is the entropy of the observed frequency f,
    -f ln f - (1 - f) ln(1 - f); uncertainty less discrimination is what is called refinement.

    Source: Dimitriadis, Gneiting, Jordan, PNAS 2021; Fissler, Lorentzen, Mayer, *Model comparison
    and calibration assessment*, 2022.

    >>> parts = corp_nll([0.25, 0.25, 0.75, 0.75], [0, 0, 1, 1])
    >>> round(parts.miscalibration, 4), round(parts.discrimination, 4), round(parts.uncertainty, 4)
    (0.2877, 0.6931, 0.6931)
    """
    parts = corp_nll_of(tally(scores, hits, rest, sample_weight))
    return Decomposition(
        float(parts.miscalibration), float(parts.discrimination), float(parts.uncertainty)
    )


def corp_nll_of(counted: Tally) -> Decomposition[Floats]:
    """Return the `corp_nll` of score-tallied rows, vectorised over resamples."""
    shape = np.broadcast_shapes(counted.counts.shape, counted.hits.shape)[:-1]
    sizes, frequency, firsts = counted.once(_steps)
    of_steps = np.add.reduceat(sizes * _entropy(frequency), firsts).reshape(shape)
    refined = of_steps / counted.n_samples
    whole = np.asarray(np.broadcast_to(uncertainty_nll_of(counted), shape))
    return Decomposition(
        np.asarray(np.maximum(event_nll_of(counted) - refined, 0.0)),
        np.asarray(np.maximum(whole - refined, 0.0)),
        whole,
    )


def uncertainty_of(counted: Tally) -> Floats:
    """Return the Brier score of the observed frequency, vectorised over resamples."""
    base = counted.once(hit_sums) / counted.n_samples
    return np.asarray(base * (1 - base))


def uncertainty_nll_of(counted: Tally) -> Floats:
    """Return the log loss of the observed frequency, vectorised over resamples."""
    return _entropy(counted.once(hit_sums) / counted.n_samples)


def _entropy(share: Floats) -> Floats:
    """Return -f ln f - (1 - f) ln(1 - f), 0 at both ends; what is drawn may leave [0, 1]."""
    inside = np.clip(share, 0.0, 1.0)
    parts = (one * np.log(np.maximum(one, PROBABILITY_FLOOR)) for one in (inside, 1 - inside))
    return np.asarray(0.0 - sum(parts))


def brier_skill(scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None) -> float:
    """Compute the Brier skill score: the share of the base rate's Brier score that is saved.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    sample_weight : RowWeights or array_like of float, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        1 at most; 0 for what the observed frequency as every score gives, below 0 for worse. NaN
        or minus infinity where all rows are hits, or none is.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range.

    Notes
    -----
    1 - Brier score / (f (1 - f)), f the observed frequency of these rows; by the parts of `corp`
    (discrimination - miscalibration) / uncertainty. Also called scaled Brier score.

    References
    ----------
    Murphy, *Journal of Applied Meteorology* 1973; Steyerberg et al., *Epidemiology* 2010.

    Examples
    --------
    >>> brier_skill([0.25, 0.25, 0.75, 0.75], [0, 0, 1, 1])
    0.75
    """
    return float(brier_skill_of(tally(scores, hits, sample_weight=sample_weight)))


def brier_skill_of(counted: Tally) -> Floats:
    """Return the `brier_skill` of score-tallied rows, vectorised over resamples."""
    return _saved(counted.once(event_brier_of), uncertainty_of(counted))


def nll_skill(
    scores: ArrayLike,
    hits: ArrayLike,
    rest: ArrayLike | None = None,
    *,
    sample_weight: SampleWeight = None,
) -> float:
    """Compute the log-loss skill score: the share of the base rate's log loss that is saved.

    Parameters and errors are those of `corp_nll`, returns those of `brier_skill`.

    Notes
    -----
    1 - log loss / (-f ln f - (1 - f) ln(1 - f)), f the observed frequency of these rows; for a
    logistic regression on its own training rows, McFadden's pseudo-R^2.

    References
    ----------
    McFadden, *Frontiers in Econometrics* 1974; Roulston and Smith, *Monthly Weather Review* 2002.

    Examples
    --------
    >>> round(nll_skill([0.25, 0.25, 0.75, 0.75], [0, 0, 1, 1]), 4)  # 1 - log2(4 / 3)
    0.585
    """
    return float(nll_skill_of(tally(scores, hits, rest, sample_weight)))


def nll_skill_of(counted: Tally) -> Floats:
    """Return the `nll_skill` of score-tallied rows, vectorised over resamples."""
    return _saved(event_nll_of(counted), uncertainty_nll_of(counted))


def _saved(loss: Floats, base: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):  # all rows may be alike
        return np.asarray(1 - loss / base)


def corp_of(counted: Tally) -> Decomposition[Floats]:
    """Return the `corp` of score-tallied rows, vectorised over resamples."""
    shape = np.broadcast_shapes(counted.counts.shape, counted.hits.shape)[:-1]
    base = counted.once(hit_sums) / counted.n_samples
    rate = np.broadcast_to(base, shape).ravel()
    sizes, frequency, firsts = counted.once(_steps)
    own = np.repeat(rate, np.diff(firsts, append=sizes.size))

    def mean(values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(sizes * values, firsts).reshape(shape))

    gain = counted.once(event_brier_of) - mean(frequency * (1 - frequency)) / counted.n_samples
    return Decomposition(
        np.asarray(np.maximum(gain, 0.0)),  # rounding may leave -1e-17
        mean(np.square(frequency - own)) / counted.n_samples,
        np.asarray(np.broadcast_to(uncertainty_of(counted), shape)),
    )


def _steps(counted: Tally) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return the steps of the isotonic regression of hits on score, one resample after the other.

    Rows in each step of any resample, and the frequency of its hits, both of shape (n_steps,); and
    the first step of each resample, shape (n_resamples,).
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - slow to import

    # A third of the time that scipy takes to pool them all
    counts, hits, begins = _pooled(*_joined(counted))
    resample = np.repeat(np.arange(begins.size), np.diff(begins, append=counts.size))
    # Each resample lies above the one before, so that no step is part of two; what is drawn of
    # weighted rows may leave [0, 1].
    frequency = hits / counts
    apart = 2.0 if counted.design is None else 2 + 2 * float(np.abs(frequency).max())
    steps = isotonic_regression(frequency + apart * resample, weights=counts).blocks[:-1]
    # From whole numbers, the frequencies are right to the last digit.
    sizes = np.add.reduceat(counts, steps)
    return sizes, np.add.reduceat(hits, steps) / sizes, np.searchsorted(steps, begins)


def _joined(counted: Tally) -> tuple[Floats, Floats]:
    """Return counts and hits, one row a resample; neighbours that no resample parts are joined.

    Those are scores with hits alone, then perhaps one with both, then scores with misses alone.
    """
    counts, hits, shape = resample_rows(counted)
    if counted.counts.ndim == 1:  # of hits drawn anew, most scores have both
        return counts, hits
    kind = np.subtract((hits > 0).any(axis=0), (counts > hits).any(axis=0), dtype=np.int8)
    parted = (kind[1:] > kind[:-1]) | ((kind[1:] == 0) & (kind[:-1] == 0))
    ends = np.append(np.flatnonzero(parted), kind.size - 1)

    def joined(totals: Floats) -> Floats:
        sums = np.diff(totals[..., ends], prepend=0.0)
        return np.broadcast_to(sums, (*shape, ends.size)).reshape(-1, ends.size)

    return joined(counted.once(count_totals)), joined(counted.once(hit_totals))


def _pooled(counts: Floats, hits: Floats) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Pool neighbours whose frequency does not rise: isotonic regression does so in any case.

    Counts and hits of the pools, one resample after the other, both of shape (n_pools,); and the
    first pool of each resample, shape (n_resamples,).
    """
    begins = np.arange(len(counts)) * counts.shape[1]
    counts, hits = counts.ravel(), hits.ravel()
    if counts.min() == 0:
        filled = np.flatnonzero(counts > 0)
        begins, counts, hits = np.searchsorted(filled, begins), counts[filled], hits[filled]
    frequency = hits / counts
    rises = np.empty(counts.size, dtype=np.bool_)
    np.greater(frequency[1:], frequency[:-1], out=rises[1:])
    rises[begins] = True
    starts = np.flatnonzero(rises)
    return _sums(counts, starts), _sums(hits, starts), np.searchsorted(starts, begins)


def _sums(values: Floats, starts: NDArray[np.intp]) -> Floats:
    """Add up from each start to the next; whole numbers take a third of the time."""
    whole = whole_numbers(values)
    if whole is None:
        return np.add.reduceat(values, starts)
    totals = np.cumsum(whole, dtype=np.int64)
    ends = totals[np.append(starts[1:], values.size) - 1].astype(np.float64)
    return np.diff(ends, prepend=0.0)


# Class probabilities before and after calibration ---------------------------------------------


def calibration_gain(
    before: ArrayLike, after: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Return how much calibration lowers the squared calibration error, from the Brier scores.

    It needs no bins and no density, and many classes are no harder than two.

    Parameters
    ----------
    before, after : array_like of float, shape (n_samples, n_classes)
        Class probabilities without and with calibration; rows that sum to 1.
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

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
    validation.refuse_reordered(before=before, after=after)
    first, second = (validation.matrix(one, "probabilities") for one in (before, after))
    _check_alike(first, second)
    was, now = (brier(one, labels, sample_weight=sample_weight) for one in (before, after))
    return was - now


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
    actual, wanted = after.shape, before.shape
    if actual != wanted:
        raise CalibrationInputError("after", f"shape {actual}", f"that of before, {wanted}")


MISCALIBRATION = EventMeasure(
    key="miscalibration",
    name="Miscalibration (CORP)",
    group="proper",
    source="Dimitriadis 2021",
    explained="Part of the Brier score that the best monotone recalibration removes (CORP). Brier"
    " score = miscalibration \u2212 discrimination + uncertainty.",
    formula="Brier score of the scores minus that of the isotonic fit to the outcomes.",
    unit="squared",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, _: c.once(corp_of).miscalibration,
)

DISCRIMINATION = EventMeasure(
    key="discrimination",
    name="Discrimination (CORP)",
    group="proper",
    source="Dimitriadis 2021",
    explained="Part of the Brier score gained by ranking rows correctly. Higher is better.",
    formula="Uncertainty minus the Brier score of the isotonic fit to the outcomes.",
    unit="squared",
    better="higher",
    interval="lifted",
    compute=lambda c, _: c.once(corp_of).discrimination,
    most=lambda share: share * (1 - share),
)

UNCERTAINTY = EventMeasure(
    key="uncertainty",
    name="Uncertainty (CORP)",
    group="proper",
    source="Dimitriadis 2021",
    explained="Brier score of the observed frequency used as every score. For the event of one"
    " class it does not depend on the model.",
    formula="f (1 - f), f the observed frequency.",
    unit="squared",
    better="neither",
    interval="wilson",
    compute=lambda c, _: c.once(corp_of).uncertainty,
)

BRIER_SKILL = EventMeasure(
    key="brier_skill",
    name="Brier skill score",
    group="proper",
    source="Murphy 1973",
    explained="Share of the Brier score of the observed frequency (base rate) that the scores save."
    " 0: no better than the base rate; below 0: worse. Higher is better.",
    better="higher",
    compute=lambda c, _: brier_skill_of(c),
    extent=(-math.inf, 1.0),
)

NLL_SKILL = EventMeasure(
    key="nll_skill",
    name="Log-loss skill score",
    group="proper",
    source="Roulston 2002",
    explained="Share of the log loss (NLL) of the observed frequency (base rate) that the scores"
    " save; McFadden's pseudo-R\u00b2. 0: no better than the base rate; below 0: worse. Higher is"
    " better.",
    better="higher",
    compute=lambda c, _: nll_skill_of(c),
    extent=(-math.inf, 1.0),
)

NLL_MISCALIBRATION = EventMeasure(
    key="nll_miscalibration",
    name="Miscalibration, log loss (CORP)",
    group="proper",
    source="Dimitriadis 2021",
    explained="Part of the NLL of the event that the best monotone recalibration removes, in nats:"
    " calibration loss. NLL = miscalibration \u2212 discrimination + uncertainty.",
    formula="NLL of the scores minus that of the isotonic fit to the outcomes.",
    unit="nats",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, _: c.once(corp_nll_of).miscalibration,
    whole=True,
)

NLL_DISCRIMINATION = EventMeasure(
    key="nll_discrimination",
    name="Discrimination, log loss (CORP)",
    group="proper",
    source="Dimitriadis 2021",
    explained="Part of the NLL of the event gained by ranking rows correctly, in nats. Uncertainty"
    " minus discrimination is the refinement loss. Higher is better.",
    formula="Uncertainty minus the NLL of the isotonic fit to the outcomes.",
    unit="nats",
    better="higher",
    interval="lifted",
    compute=lambda c, _: c.once(corp_nll_of).discrimination,
    whole=True,
    most=_entropy,
)

NLL_UNCERTAINTY = EventMeasure(
    key="nll_uncertainty",
    name="Uncertainty, log loss (CORP)",
    group="proper",
    source="Dimitriadis 2021",
    explained="NLL of the observed frequency used as every score, in nats: its entropy.",
    formula="-f ln f - (1 - f) ln(1 - f), f the observed frequency.",
    unit="nats",
    better="neither",
    interval="wilson",
    compute=lambda c, _: c.once(corp_nll_of).uncertainty,
)

CALIBRATION_GAIN = ChangeMeasure(
    key="calibration_gain",
    name="Calibration gain",
    group="proper",
    source="Zhang 2020, eq. 8",
    explained="Reduction of the squared calibration error of all classes, from the drop of their"
    " Brier score (its post-hoc improvement, PHI). No bins. Higher is better; below 0, calibration"
    " made it worse. Where predicted classes changed, it is a lower bound.",
    unit="squared",
    better="higher",
    brought=calibration_gain,
    rows=gain_rows,
    extent=(-2.0, 2.0),
)
