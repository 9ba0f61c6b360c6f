"""The monotone sweep of Roelofs 2022, after the program the authors published with it.

It is not among the packages one can install (google-research, ``caltrain``), so its rule is read
again: rows in the order they are sorted, ties or not, row i of N in bin floor(i b / N), and the
largest b below N before the frequency first falls. Once more with bins as calibcore cuts them.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calibcore.validation import Floats, Hits

Places = Callable[[Floats, int], NDArray[np.intp]]


def authors_places(ranked: Floats, n_bins: int) -> NDArray[np.intp]:
    """Give the bin of each row: floor(i b / N)."""
    return np.arange(len(ranked)) * n_bins // len(ranked)


def tied_places(ranked: Floats, n_bins: int) -> NDArray[np.intp]:
    """Give the bin of each row: up to the score at place floor(k N / b), ties together."""
    ends = np.arange(1, n_bins) * len(ranked) // n_bins
    return np.searchsorted(ranked[ends - 1], ranked)


def sweep_error(scores: Floats, hits: Hits, norm: int, places: Places) -> float:
    """Give the error over the bins at which the sweep stops."""
    order = np.argsort(scores, kind="stable")
    ranked, ranked_hits = scores[order], hits[order]

    def means(values: Floats | Hits, n_bins: int) -> Floats:
        place = places(ranked, n_bins)
        counts = np.bincount(place, minlength=n_bins)
        return np.bincount(place, values, minlength=n_bins)[counts > 0] / counts[counts > 0]

    n_bins = 1
    while n_bins < len(scores) - 1 and (np.diff(means(ranked_hits, n_bins + 1)) >= 0).all():
        n_bins += 1
    counts = np.bincount(places(ranked, n_bins))
    gaps = np.abs(means(ranked, n_bins) - means(ranked_hits, n_bins))
    return float((counts[counts > 0] / len(scores) @ gaps**norm) ** (1 / norm))
