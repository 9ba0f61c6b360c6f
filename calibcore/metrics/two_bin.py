"""Averaged two-bin calibration error: all ways of cutting the scores into two bins at once."""

import numpy as np
from numpy.typing import ArrayLike

from calibcore.metrics.measure import EventMeasure
from calibcore.tally import Tally, gaps_in_rows, tally
from calibcore.validation import Floats
from calibcore.weights import SampleWeight


def averaged_two_bin(
    scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
) -> float:
    """Compute the averaged two-bin calibration error (ATB): squared gaps below and above a cut.

    No number of bins is chosen, and it is truthful: no other scores are lower on average than the
    true probabilities, so that none is bent to look better.

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
        In squared probability units, 0 to 1.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range.

    Notes
    -----
    int_0^1 (A(q)^2 + B(q)^2) dq, A(q) = sum of s_i - h_i over the rows with s_i < q, divided by N,
    and B(q) likewise over those with s_i >= q. Between two scores the integrand is constant. As
    every row counts in one of two sums over N, not over the rows of its bin, its expectation for
    true probabilities is their variance: sum_i s_i (1 - s_i) / N^2.

    References
    ----------
    Hartline, Hu, Wu, *A perfectly truthful calibration measure*, COLT 2026.

    Examples
    --------
    >>> averaged_two_bin([0.25, 0.75], [0, 0])  # 1/4 (1/2)^2 + 1/2 (1/64 + 9/64) + 1/4 (1/2)^2
    0.203125
    """
    return float(averaged_two_bin_of(tally(scores, hits, sample_weight=sample_weight)))


def averaged_two_bin_of(counted: Tally) -> Floats:
    """Return the `averaged_two_bin` of score-tallied rows, vectorised over resamples."""
    gaps = gaps_in_rows(counted)
    last = gaps[..., -1:]
    widths = np.diff(counted.scores, append=1.0)
    ends = last[..., 0] ** 2 * counted.scores[0]
    inner = (gaps * gaps + np.square(last - gaps)) @ widths
    return np.asarray((ends + inner) / counted.n_samples**2)


AVERAGED_TWO_BIN = EventMeasure(
    key="averaged_two_bin",
    name="Averaged two-bin error (ATB)",
    group="cumulative",
    source="Hartline 2026",
    explained="Squared gaps of the scores below and above a cut, averaged over all cuts. No number"
    " of bins, and truthful: on average no scores are lower than the true probabilities.",
    unit="small",
    ideal=0.0,
    extent=(0.0, 1.0),
    interval="inverted",
    compute=lambda c, _: averaged_two_bin_of(c),
)
