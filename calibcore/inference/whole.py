"""A smooth recalibration of the whole score, beyond which a group has a fault of its own."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore.inference.null_outcomes import grouped
from calibcore.inference.omnibus import ORDER, smooth_powers
from calibcore.tally import Tally, tally
from calibcore.validation import Floats

_RIDGE = 0.1
"""In rows of variance 1."""


def recalibrated(scores: Floats, hits: ArrayLike) -> tuple[Floats, Floats]:
    """Return the scores after a smooth recalibration of the whole, and what it was fitted by.

    Parameters
    ----------
    scores, hits : ndarray, shape (n_samples,)
        Of an event, checked.

    Returns
    -------
    recalibrated : ndarray of float64, shape (n_samples,)
        Scores of 0 and 1 stay.
    powers : ndarray of float64, shape (n_samples, ORDER + 1)
        0 in rows that stay.
    """
    from scipy.special import expit  # noqa: PLC0415 - a tenth of a second to import

    counted = tally(scores, hits)
    place = np.searchsorted(counted.scores, scores)
    variance = counted.counts * counted.scores * (1 - counted.scores)
    moving = variance > 0
    frequency, powers = counted.scores.copy(), np.zeros((counted.scores.size, ORDER + 1))
    if moving.any():
        powers[moving] = smooth_powers(variance[moving])
        odds = _log_odds(counted.scores[moving])
        frequency[moving] = expit(odds + powers[moving] @ _fitted(grouped(counted)))
    return frequency[place], powers[place]


def _log_odds(scores: Floats) -> Floats:
    return np.asarray(np.log(scores) - np.log1p(-scores))


def _fitted(counted: Tally) -> Floats:
    """Fit the weights of `smooth_powers`, with the log-odds as an offset, by Newton's method."""
    from scipy.special import expit  # noqa: PLC0415 - a tenth of a second to import

    variance = counted.counts * counted.scores * (1 - counted.scores)
    moving = variance > 0
    powers, odds = smooth_powers(variance[moving]), _log_odds(counted.scores[moving])
    counts, hits = counted.counts[moving], counted.hits[moving]
    weights, penalty = np.zeros(powers.shape[1]), _RIDGE * np.eye(powers.shape[1])
    for _ in range(50):
        found = expit(odds + powers @ weights)
        slope = powers.T @ (hits - counts * found) - _RIDGE * weights
        curved = (powers * (counts * found * (1 - found))[:, np.newaxis]).T @ powers + penalty
        step = np.linalg.solve(curved, slope)
        weights += step / max(1.0, float(np.abs(powers @ step).max()))
        if np.abs(step).max() < 1e-8:
            break
    return weights
