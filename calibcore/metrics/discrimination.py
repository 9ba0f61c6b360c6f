"""How well scores tell hits from misses, whatever their calibration."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore.metrics.measure import EventMeasure
from calibcore.tally import Tally, count_totals, hit_sums, tally
from calibcore.validation import Floats
from calibcore.weights import SampleWeight


def auroc(scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None) -> float:
    """Compute the area under the ROC curve (AUROC): the probability that a hit outscores a miss.

    A rising map of the scores leaves it as it is, so calibration should not change it.

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
        From 0 to 1; 1/2 for scores that say nothing. NaN where all rows are hits, or none.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range.

    Notes
    -----
    Share of the pairs of a hit and a miss in which the hit scores higher; equal scores count half.
    A pair weighs the product of its rows' weights.

    References
    ----------
    Hanley and McNeil, *Radiology* 1982.

    Examples
    --------
    >>> auroc([0.2, 0.6, 0.6, 0.9], [0, 0, 1, 1])
    0.875
    """
    return float(auroc_of(tally(scores, hits, sample_weight=sample_weight)))


def auroc_of(counted: Tally) -> Floats:
    """Return the `auroc` of score-tallied rows, vectorised over resamples."""
    n_hits = counted.once(hit_sums)
    below = counted.once(count_totals) - counted.counts / 2  # half of the rows of equal score too
    ahead = np.einsum("...i,...i->...", counted.hits, below)
    with np.errstate(invalid="ignore"):  # no pair: 0 / 0 is NaN
        # Of two hits one is ahead of the other; of a hit and itself, half.
        return np.asarray((ahead - n_hits**2 / 2) / (n_hits * (counted.n_samples - n_hits)))


AUROC = EventMeasure(
    key="auroc",
    name="AUROC of the score",
    group="plain",
    source="Hanley 1982",
    explained="Chance that a row with the event has a higher score than one without (area under"
    " the ROC curve). It says nothing about calibration.",
    unit="number",
    better="higher",
    interval="ranks",
    compute=lambda c, _: auroc_of(c),
    extent=(0.0, 1.0),
)
