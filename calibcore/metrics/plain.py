"""Plain averages that stand beside every calibration figure."""

import math

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.metrics.measure import EventMeasure, RowMeasure, accuracy_rows, top_r_rows
from calibcore.strips import row_strips
from calibcore.tally import Tally, hit_sums, score_sums, tally
from calibcore.validation import Floats
from calibcore.weights import SampleWeight, refuse_sampling, row_mean


def accuracy(
    probabilities: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the accuracy: the share of rows whose most probable class is the true one.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Class probabilities; any scores that grow with them will do.
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    CalibrationInputError
        NaN, arrays that do not fit.

    Notes
    -----
    Of equally probable classes the one with the lowest index is predicted.

    Examples
    --------
    >>> accuracy([[0.6, 0.4], [0.3, 0.7]], [0, 0])
    0.5
    """
    validation.refuse_reordered(
        probabilities=probabilities, labels=labels, sample_weight=sample_weight
    )
    table = validation.ranked(probabilities, "probabilities")
    n_rows, n_classes = table.shape
    true = validation.labels(labels, n_rows=n_rows, n_classes=n_classes)
    return row_mean(table.argmax(axis=1) == true, sample_weight)


def top_r_accuracy(
    probabilities: ArrayLike, labels: ArrayLike, r: int, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the top-k accuracy: the share of rows whose true class is among the r most probable.

    ``probabilities``: of the classes; any scores that grow with them will do; shape (n_samples,
    n_classes). ``labels``: true classes (y_true), from 0; shape (n_samples,). ``r``: how many
    classes count, from 1 to n_classes, when the result is 1. ``sample_weight``: of the rows, as in
    `calibcore.weights`; shape (n_samples,).

    From 0 to 1. Raises `CalibrationInputError` for NaN, arrays that do not fit, and fewer than
    ``r`` classes.

    Classes of equal probability rank by their index, the lower first, as in
    `calibcore.events.WithinTopR`, whose observed frequency this is; r = 1 gives `accuracy`.
    """
    validation.refuse_reordered(
        probabilities=probabilities, labels=labels, sample_weight=sample_weight
    )
    table = validation.ranked(probabilities, "probabilities")
    n_rows, n_classes = table.shape
    true = validation.labels(labels, n_rows=n_rows, n_classes=n_classes)
    r = validation.whole_number(r, "r", least=1, most=n_classes)
    within, classes = np.empty(n_rows, dtype=np.bool_), np.arange(n_classes)
    for rows in row_strips(n_rows, n_classes):
        block, truth = table[rows], true[rows, np.newaxis]
        own = block[np.arange(len(block)), true[rows]][:, np.newaxis]
        ahead = (block > own) | ((block == own) & (classes < truth))
        within[rows] = np.count_nonzero(ahead, axis=1) < r
    return row_mean(within, sample_weight)


def mean_score(scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None) -> float:
    """Compute the mean predicted probability of the event: the mean of y_prob.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Not used, so that every measure of an event is called alike.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> mean_score([0.5, 1.0], [0, 1])
    0.75
    """
    return float(mean_score_of(tally(scores, hits, sample_weight=sample_weight)))


def mean_score_of(counted: Tally) -> Floats:
    """Return the `mean_score` of score-tallied rows, vectorised over resamples."""
    return np.asarray(counted.once(score_sums) / counted.n_samples)


def hit_rate(scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None) -> float:
    """Compute the observed frequency of the event: the mean of y_true.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Not used, so that every measure of an event is called alike.
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> hit_rate([0.5, 1.0], [0, 1])
    0.5
    """
    return float(hit_rate_of(tally(scores, hits, sample_weight=sample_weight)))


def hit_rate_of(counted: Tally) -> Floats:
    """Return the `hit_rate` of score-tallied rows, vectorised over resamples."""
    return np.asarray(counted.once(hit_sums) / counted.n_samples)


def mean_gap(scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None) -> float:
    """Compute the mean score minus the observed frequency: above 0 where scores are too high.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        From -1 to 1, in probability units; 0 is best. Gaps of either sign cancel out.

    Examples
    --------
    >>> mean_gap([0.5, 1.0], [0, 1])
    0.25
    """
    return float(mean_gap_of(tally(scores, hits, sample_weight=sample_weight)))


def mean_gap_of(counted: Tally) -> Floats:
    """Return the `mean_gap` of score-tallied rows, vectorised over resamples."""
    return np.asarray(mean_score_of(counted) - hit_rate_of(counted))


def net_overconfidence(
    scores: ArrayLike, hits: ArrayLike, *, centre: float = 0.5, sample_weight: SampleWeight = None
) -> float:
    """Compute by how much scores are too far from 1/2, less by how much others are too near to it.

    In other words, the mean probability of what each score calls more probable, less the share of
    rows in which that is so. Of the top prediction it is about the mean gap; of one class it tells
    what the mean gap does not: that high scores are too high and low ones too low.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    centre : float, default 0.5
        From which distances are taken, in [0, 1], such as a base rate.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        From -1 to 1, in probability units; 0 is best. Over- and underconfidence cancel out.

    Raises
    ------
    CalibrationInputError
        Scores, hits or centre out of range.

    Notes
    -----
    sum_i sign(s_i - 1/2) (s_i - h_i) / N; a score of 1/2 adds nothing. With E the mean distance of
    score and true frequency (the L1 error), (E + this) / 2 is the part of E that is overconfident,
    (E - this) / 2 the underconfident one. E depends on how the true frequency is estimated; this
    needs no bins, no calibrator and no folds, and is right on average.
    `calibcore.refinement.error_parts` estimates both parts.

    References
    ----------
    Berta, Braun, Holzmüller, Bach, Jordan, *A variational estimator for Lp calibration errors*,
    arXiv 2602.24230, 2026: the difference of its two parts.

    Examples
    --------
    >>> round(net_overconfidence([0.1, 0.9, 0.9, 0.9], [0, 0, 1, 1]), 4)  # 0.9 less 3 of 4
    0.15
    """
    middle = validation.number(centre, "centre", least=0, most=1)
    counted = tally(scores, hits, sample_weight=sample_weight)
    return float(net_overconfidence_of(counted, centre=middle))


def net_overconfidence_of(counted: Tally, *, centre: float = 0.5) -> Floats:
    """Return the `net_overconfidence` of score-tallied rows, vectorised over resamples."""
    side = np.sign(counted.scores - centre)
    gaps = counted.counts @ (side * counted.scores) - counted.hits @ side
    return np.asarray(gaps / counted.n_samples)


def observed_expected_ratio(
    scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the O/E ratio: hits over the sum of the scores, below 1 where these are too high.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        At least 0; 1 is best. If all scores are 0, infinite with hits and NaN without.

    References
    ----------
    Debray et al., *BMJ* 2017 ("total O:E ratio").

    Examples
    --------
    >>> round(observed_expected_ratio([0.5, 1.0], [0, 1]), 4)
    0.6667
    """
    return float(observed_expected_ratio_of(tally(scores, hits, sample_weight=sample_weight)))


def observed_expected_ratio_of(counted: Tally) -> Floats:
    """Return the `observed_expected_ratio` of score-tallied rows, vectorised over resamples."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # scores may be all 0
        return np.asarray(counted.once(hit_sums) / counted.once(score_sums))


def certain_misses(
    scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
) -> int:
    """Count rows scored 1 where the event did not happen, or 0 where it did.

    A score so near to 1 that it is rounded to it counts as 1. Such a row costs `event_nll` its
    floor, or less where what is left to 1 is known to more digits.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    sample_weight : RowWeights, shape (n_samples,), optional
        Frequency weights: see `calibcore.weights`.

    Returns
    -------
    int
        From 0 to ``n_samples``.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range; sampling weights, as this counts rows.

    Examples
    --------
    >>> certain_misses([1.0, 1.0, 0.0], [1, 0, 1])
    2
    """
    return int(certain_misses_of(tally(scores, hits, sample_weight=sample_weight)))


def certain_misses_of(counted: Tally) -> Floats:
    """Return the `certain_misses` of score-tallied rows, vectorised over resamples."""
    if counted.squares is not None:
        refuse_sampling("certain_misses", "a number of rows")
    first, last = counted.scores[0] == 0, counted.scores[-1] == 1
    return np.asarray(
        first * counted.hits[..., 0] + last * (counted.counts[..., -1] - counted.hits[..., -1])
    )


CERTAIN_MISSES = EventMeasure(
    key="certain_misses",
    name="Certain and wrong",
    group="plain",
    source="Fractile",
    explained="Rows with a score of exactly 0% or 100% (to 16 digits) that were wrong. Each adds"
    " 37 to 708 nats, divided by the number of rows, to the NLL of the event; 708 where it would"
    " otherwise be infinite.",
    formula="Number of rows with s_i = 1 and h_i = 0, or s_i = 0 and h_i = 1.",
    unit="rows",
    ideal=0.0,
    counts_rows=True,
    compute=lambda c, _: certain_misses_of(c),
)

MEAN_SCORE = EventMeasure(
    key="mean_score",
    name="Mean score",
    group="plain",
    source="Guo 2017, section 2",
    explained="Average of the scores.",
    formula="sum_i s_i / N.",
    better="neither",
    short=True,
    compute=lambda c, _: mean_score_of(c),
)

HIT_RATE = EventMeasure(
    key="hit_rate",
    name="Observed frequency",
    group="plain",
    source="Guo 2017, section 2",
    explained="How often the event happened (rate of positives). For a top-k set, this is the"
    " top-k accuracy.",
    formula="sum_i h_i / N.",
    better="neither",
    short=True,
    interval="wilson",
    compute=lambda c, _: hit_rate_of(c),
)

MEAN_GAP = EventMeasure(
    key="mean_gap",
    name="Mean score minus frequency",
    group="plain",
    source="Guo 2017, section 2",
    explained="Mean score minus observed frequency. Above 0: scores too high on average.",
    formula="sum_i (s_i - h_i) / N.",
    better="nearer",
    ideal=0.0,
    short=True,
    interval="expected",
    compute=lambda c, _: mean_gap_of(c),
    extent=(-1.0, 1.0),
)

NET_OVERCONFIDENCE = EventMeasure(
    key="net_overconfidence",
    name="Net overconfidence",
    group="plain",
    source="Berta 2026 (Lp)",
    explained="By how much scores are too far from 50%, minus by how much others are too near to"
    " it. Above 0: overconfident on balance; below 0: underconfident. As large as the calibration"
    " error where one of the two is all of it; near 0 beside a large error, they cancel.",
    better="nearer",
    ideal=0.0,
    interval="expected",
    compute=lambda c, _: net_overconfidence_of(c),
    extent=(-1.0, 1.0),
)

OBSERVED_EXPECTED_RATIO = EventMeasure(
    key="observed_expected_ratio",
    name="Observed over expected",
    group="plain",
    source="Van Calster 2019",
    explained="Observed frequency divided by mean score; 1 is ideal, below 1: scores too high.",
    formula="sum_i h_i / sum_i s_i.",
    unit="number",
    better="nearer",
    ideal=1.0,
    interval="expected",
    compute=lambda c, _: observed_expected_ratio_of(c),
    extent=(0.0, math.inf),
)

ACCURACY = RowMeasure(
    key="accuracy",
    name="Accuracy",
    group="plain",
    source="Guo 2017, section 2",
    explained="How often the most probable class is the true one.",
    better="higher",
    short=True,
    compute=lambda p, y, _: accuracy(p, y),
    rows=accuracy_rows,
    first=1,
)


def _top_r_accuracy(r: int, word: str) -> RowMeasure:
    return RowMeasure(
        key=f"top_{r}_accuracy",
        name=f"Top-{r} accuracy",
        group="plain",
        source="Gupta 2021, eq. 5",
        explained=f"How often the true class is among the {word} most probable ones.",
        formula=f"Share of rows whose true class is one of the {word} most probable ones.",
        better="higher",
        compute=lambda p, y, _: float(top_r_rows(p, y, r).seen.mean()),
        rows=lambda p, y: top_r_rows(p, y, r),
        first=r,
    )


TOP_2_ACCURACY = _top_r_accuracy(2, "two")
TOP_5_ACCURACY = _top_r_accuracy(5, "five")
