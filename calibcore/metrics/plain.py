"""Plain averages that stand beside every calibration figure."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation


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
    return float(validation.scores_and_hits(scores, hits)[0].mean())


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
    return float(validation.scores_and_hits(scores, hits)[1].mean())


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
    checked, happened = validation.scores_and_hits(scores, hits)
    return int(np.count_nonzero(checked == 1 - happened))
