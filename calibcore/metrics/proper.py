"""Proper scores: lowest for the true probabilities, so they reward calibration and sharpness."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.data import EventScores
from calibcore.metrics.measure import EventMeasure, RowMeasure, brier_rows, nll_rows
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.strips import row_strips
from calibcore.tally import Tally, tally
from calibcore.validation import Floats
from calibcore.weights import SampleWeight, row_mean


def nll(
    probabilities: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the log loss: the mean negative log-likelihood (NLL) of the true classes.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1 (y_prob).
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In nats, at least 0.

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit.

    Notes
    -----
    -(1/N) sum_i ln p_i[y_i], with `PROBABILITY_FLOOR` for anything smaller.

    References
    ----------
    Guo et al., ICML 2017, eq. 6.

    Examples
    --------
    >>> round(nll([[0.5, 0.5], [0.25, 0.75]], [0, 1]), 4)
    0.4904
    """
    table, true = validation.labelled(probabilities, labels, sample_weight)
    own = table[np.arange(len(true)), true]
    # 0.0, never -0.0
    return 0.0 - row_mean(np.log(np.maximum(own, PROBABILITY_FLOOR)), sample_weight)


def event_nll(
    scores: ArrayLike,
    hits: ArrayLike,
    rest: ArrayLike | None = None,
    *,
    sample_weight: SampleWeight = None,
) -> float:
    """Compute the log loss of one event: its mean negative log-likelihood (NLL).

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    rest : array_like of float, shape (n_samples,), optional
        As in `calibcore.data.EventScores`: what is left to 1 where a score is rounded to it.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In nats, at least 0.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range.

    Notes
    -----
    -(1/N) sum_i ln(s_i if h_i else r_i), with `PROBABILITY_FLOOR` for anything smaller; r_i is
    1 - s_i where no ``rest`` is given. That is 0 if s_i is within 1.1e-16 of 1, as where two logits
    differ by 37, and would then count 708 nats for a miss that costs 37. The events of
    `calibcore.events` add up the other classes there, so the NLL of two classes is that of either.
    It is the binary log loss of the event; Guo 2017, eq. 6, is `nll`, of all classes.

    References
    ----------
    Good, *Rational decisions*, Journal of the Royal Statistical Society B 1952.

    Examples
    --------
    >>> round(event_nll([0.5, 0.25], [1, 0]), 4)
    0.4904
    >>> round(event_nll([1.0], [0]), 1), round(event_nll([1.0], [0], rest=[1e-20]), 1)
    (708.4, 46.1)
    """
    return float(event_nll_of(tally(scores, hits, rest, sample_weight)))


def event_nll_of(counted: Tally) -> Floats:
    """Return the `event_nll` of score-tallied rows, vectorised over resamples."""
    total: Floats | float = 0.0
    for part in counted.parts():
        hit, miss = (
            np.log(np.maximum(side, PROBABILITY_FLOOR)) for side in (part.scores, 1 - part.scores)
        )
        total = total - part.hits @ hit - (part.counts - part.hits) @ miss
    return np.asarray((total - counted.spared) / counted.n_samples)


def event_nll_rows(event: EventScores) -> Floats:
    """Return each row's `event_nll`."""
    left = 1 - event.scores if event.rest is None else event.rest
    likelihoods = np.where(event.hits == 1, event.scores, left)
    return np.asarray(-np.log(np.maximum(likelihoods, PROBABILITY_FLOOR)))


def brier(
    probabilities: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the Brier score of all classes: the mean squared distance of probabilities and truth.

    Parameters and errors are those of `nll`.

    Returns
    -------
    float
        From 0 to 2.

    Notes
    -----
    (1/N) sum_i sum_k (p_ik - 1(y_i = k))^2: summed over the classes, as Brier did, not averaged.

    References
    ----------
    Brier, *Monthly Weather Review* 1950; Zhang et al., ICML 2020.

    Examples
    --------
    >>> brier([[0.5, 0.5], [0.0, 1.0]], [0, 1])
    0.25
    """
    table, true = validation.labelled(probabilities, labels, sample_weight)
    if sample_weight is not None:
        return row_mean(brier_rows(table, true).seen, sample_weight)
    # |p - e_y|^2 = |p|^2 - 2 p_y + 1 would lose digits near 0, so the true class is taken apart.
    total = 0.0
    for rows in row_strips(*table.shape):
        block = table[rows].copy()
        block[np.arange(len(block)), true[rows]] -= 1
        total += float(np.square(block, out=block).sum())
    return total / len(true)


def event_brier(scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None) -> float:
    """Compute the Brier score of one event: the mean squared distance of score and outcome.

    Parameters and errors are those of `event_nll`.

    Returns
    -------
    float
        From 0 to 1.

    References
    ----------
    Gupta et al., ICLR 2021, Table 7 ("top-1 Brier score").

    Examples
    --------
    >>> event_brier([0.5, 1.0], [1, 1])
    0.125
    """
    return float(event_brier_of(tally(scores, hits, sample_weight=sample_weight)))


def event_brier_of(counted: Tally) -> Floats:
    """Return the `event_brier` of score-tallied rows, vectorised over resamples."""
    total: Floats | float = 0.0
    for part in counted.parts():
        hit, miss = np.square(1 - part.scores), np.square(part.scores)
        total = total + part.hits @ hit + (part.counts - part.hits) @ miss
    return np.asarray(total / counted.n_samples)


def event_brier_rows(event: EventScores) -> Floats:
    """Return each row's `event_brier`."""
    return np.square(event.scores - event.hits)


EVENT_BRIER = EventMeasure(
    key="event_brier",
    name="Brier score of the event",
    group="proper",
    source="Gupta 2021, Table 7",
    explained="Mean squared distance between score and outcome. Lower is better; it rewards"
    " calibration and sharpness together.",
    formula="sum_i (s_i - h_i)^2 / N.",
    unit="squared",
    short=True,
    compute=lambda c, _: c.once(event_brier_of),
    rows=event_brier_rows,
)

EVENT_NLL = EventMeasure(
    key="event_nll",
    name="NLL of the event",
    group="proper",
    source="Good 1952",
    explained="Mean negative log-likelihood of the outcomes, in nats. Binary log loss: it asks"
    " whether the event happened, not which class is true. Lower is better; confident mistakes"
    " cost much.",
    unit="nats",
    short=True,
    compute=lambda c, _: event_nll_of(c),
    rows=event_nll_rows,
)

BRIER = RowMeasure(
    key="brier",
    name="Brier score, all classes",
    group="proper",
    source="Brier 1950",
    explained="Mean squared distance between class probabilities and true class, summed over the"
    " classes. Lower is better.",
    unit="squared",
    compute=lambda p, y, _: brier(p, y),
    rows=brier_rows,
    extent=(0.0, 2.0),
)

NLL = RowMeasure(
    key="nll",
    name="NLL, all classes",
    group="proper",
    source="Guo 2017, eq. 6",
    explained="Mean negative log-likelihood of the true class, in nats (log loss). Guo 2017, eq."
    " 6, is its sum. Lower is better; confident mistakes cost much.",
    unit="nats",
    short=True,
    compute=lambda p, y, _: nll(p, y),
    rows=nll_rows,
)
