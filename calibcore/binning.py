"""Rows gathered into bins of their score."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.ordering import sort_by_score
from calibcore.validation import Floats, Hits

Binning = Literal["equal_width", "equal_mass"]


@dataclass(frozen=True, eq=False)
class BinTable:
    """What each bin of scores holds.

    Attributes
    ----------
    edges : ndarray of float64, shape (n_bins + 1,)
        From 0 to 1. Bin b is (edges[b], edges[b + 1]]; the first one holds 0 too.
    counts : ndarray of int64, shape (n_bins,)
        Rows in each bin.
    mean_score, frequency : ndarray of float64, shape (n_bins,)
        Mean predicted score and observed frequency; NaN in an empty bin.
    """

    edges: Floats
    counts: NDArray[np.int64]
    mean_score: Floats
    frequency: Floats

    @property
    def gap(self) -> Floats:
        """``mean_score - frequency``: above 0 where the model claims too much."""
        return self.mean_score - self.frequency


def _edges(ordered: Floats, *, n_bins: int, binning: Binning) -> Floats:
    """Give the edges of the bins, shape (n_bins + 1,), from 0 to 1, for sorted scores."""
    if binning == "equal_width":
        return np.arange(n_bins + 1) / n_bins
    places = np.arange(1, n_bins) * ordered.size // n_bins
    inner = np.where(places > 0, ordered[np.maximum(places, 1) - 1], 0.0)
    return np.concatenate([[0.0], inner, [1.0]])


def bin_scores(
    scores: ArrayLike, hits: ArrayLike, *, n_bins: int = 15, binning: Binning = "equal_width"
) -> BinTable:
    """Gather rows into bins of their score.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event, in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened.
    n_bins : int, default 15
        At least 1.
    binning : {"equal_width", "equal_mass"}
        Bins as wide as each other, or holding as many rows as each other.

    Returns
    -------
    BinTable
        As many bins as asked for, empty ones included.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range, fewer than one bin, another binning.

    Notes
    -----
    Bins are (lower, upper], the first one closed below. Equal width: edge k is k / n_bins. Equal
    mass: inner edge k is the score of the row at place floor(k n_samples / n_bins) of the sorted
    rows, counted from 1 (place 0 gives 0); rows with equal scores always share a bin, so with many
    ties some bins are empty. Sums run over the sorted rows, so no bit depends on their order.

    References
    ----------
    Guo et al., ICML 2017, section 2 (equal width); Vasilev and D'yakonov 2023, section 3.2.

    Examples
    --------
    >>> bin_scores([0.1, 0.5, 0.6], [0, 1, 1], n_bins=2).counts.tolist()
    [2, 1]
    """
    checked_scores, checked_hits = validation.scores_and_hits(scores, hits)
    n_bins = validation.whole_number(n_bins, "n_bins", least=1, most=1_000_000)
    validation.choice(binning, "binning", allowed=("equal_width", "equal_mass"))
    ordered, ordered_hits = sort_by_score(checked_scores, checked_hits)
    edges = _edges(ordered, n_bins=n_bins, binning=binning)
    starts = np.concatenate([[0], np.searchsorted(ordered, edges[1:-1], side="right")])
    counts = np.diff(starts, append=ordered.size)
    with np.errstate(invalid="ignore"):  # an empty bin has no mean: 0 / 0 is NaN
        return BinTable(
            edges=edges,
            counts=counts,
            mean_score=_bin_sums(ordered, starts, counts) / counts,
            frequency=_bin_sums(ordered_hits, starts, counts) / counts,
        )


def _bin_sums(values: Floats | Hits, starts: NDArray[np.intp], counts: NDArray[np.int64]) -> Floats:
    """Add up each bin of sorted rows; 0 in an empty bin."""
    sums = np.zeros(counts.size)
    filled = counts > 0
    sums[filled] = np.add.reduceat(values, starts[filled], dtype=np.float64)
    return sums
