"""Plain averages that stand beside every calibration figure."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.tally import Tally, tally
from calibcore.validation import Floats


def accuracy(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Share of rows whose most probable class is the true one.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Class probabilities; any scores that grow with them will do.
    labels : array_like of int, shape (n_samples,)
        True classes, from 0.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    CalibrationInputError
        Arrays that do not fit.

    Notes
    -----
    Of equally probable classes the one with the lowest index is predicted.

    Examples
    --------
    >>> accuracy([[0.6, 0.4], [0.3, 0.7]], [0, 0])
    0.5
    """
    table = validation.matrix(probabilities, "probabilities")
    n_rows, n_classes = table.shape
    true = validation.labels(labels, n_rows=n_rows, n_classes=n_classes)
    return float(np.mean(table.argmax(axis=1) == true))


def mean_score(scores: ArrayLike, hits: ArrayLike) -> float:
    """Average predicted probability of the event: how often the model says it happens.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event, in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Not used, so that every measure of an event is called alike.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> mean_score([0.5, 1.0], [0, 1])
    0.75
    """
    return float(mean_score_of(tally(scores, hits)))


def mean_score_of(counted: Tally) -> Floats:
    """Give the `mean_score` of rows that are counted by score; resamples all at once."""
    return np.asarray(counted.counts @ counted.scores / counted.n_samples)


def hit_rate(scores: ArrayLike, hits: ArrayLike) -> float:
    """Observed frequency of the event: how often it does happen.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Not used, so that every measure of an event is called alike.
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> hit_rate([0.5, 1.0], [0, 1])
    0.5
    """
    return float(hit_rate_of(tally(scores, hits)))


def hit_rate_of(counted: Tally) -> Floats:
    """Give the `hit_rate` of rows that are counted by score; resamples all at once."""
    return np.asarray(counted.hits.sum(axis=-1) / counted.n_samples)


def certain_misses(scores: ArrayLike, hits: ArrayLike) -> int:
    """Count rows scored 1 where the event did not happen, or 0 where it did.

    Such a row makes the likelihood 0, so `event_nll` falls back on its floor there.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event, in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened.

    Returns
    -------
    int
        From 0 to ``n_samples``.

    Examples
    --------
    >>> certain_misses([1.0, 1.0, 0.0], [1, 0, 1])
    2
    """
    return int(certain_misses_of(tally(scores, hits)))


def certain_misses_of(counted: Tally) -> Floats:
    """Give the `certain_misses` of rows that are counted by score; resamples all at once."""
    never, always = counted.scores == 0, counted.scores == 1
    return np.asarray(counted.hits @ never + (counted.counts - counted.hits) @ always)
