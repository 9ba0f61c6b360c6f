"""Calibration error over as many bins as keep the observed frequency rising."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore.binning import mass_places
from calibcore.errors import CalibrationInputError
from calibcore.metrics.measure import EventMeasure
from calibcore.tally import Tally, count_totals, gaps_in_rows, hit_totals, resample_rows, tally
from calibcore.validation import Floats
from calibcore.weights import SampleWeight

MOST_MONOTONE_BINS = 500
"""Bins at which the sweep ends; ten million calibrated rows stop near 150."""


def sweep_ece(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    norm: Literal[1, 2] = 1,
    sample_weight: SampleWeight = None,
) -> float:
    """Compute the sweep ECE: over equal-mass bins, as many as keep the frequency rising.

    The number of bins need not be chosen, and suits the number of rows.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    norm : {1, 2}, default 1
        Average of absolute gaps, or root of the average of squared gaps. The paper leaves it open;
        its program takes 2.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In probability units, 0 to 1.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range, another norm.

    Notes
    -----
    `ece` with equal-mass bins, as many as the largest b for which the observed frequency never
    falls from bin to bin with 2, 3, ... b bins; empty bins are passed over. Bins end where those of
    `calibcore.binning.bin_scores` do, so rows of equal score share one. There are at most as many
    bins as rows, and at most `MOST_MONOTONE_BINS`, which hits that are separable by score would
    exceed.

    The authors' program shares out the rows in the order they are sorted, ties or not, puts row i
    of N (from 0) into bin floor(i b / N), and stops at N - 1 bins.

    References
    ----------
    Roelofs, Cain, Shlens, Mozer, *Mitigating bias in calibration error estimation*, AISTATS 2022.

    Examples
    --------
    >>> round(sweep_ece([0.1, 0.2, 0.6, 0.7], [0, 0, 0, 1]), 4)
    0.3
    """
    if norm not in (1, 2):
        raise CalibrationInputError("norm", repr(norm), "1 or 2")
    return float(sweep_ece_of(tally(scores, hits, sample_weight=sample_weight), norm=norm))


def sweep_ece_of(counted: Tally, *, norm: Literal[1, 2] = 1) -> Floats:
    """Return the `sweep_ece` of score-tallied rows, vectorised over resamples."""
    n_bins = monotone_bins(counted)
    errors = counted.once(_EqualBins).errors(n_bins.ravel(), counted.once(gaps_in_rows), norm)
    return errors.reshape(n_bins.shape)


def monotone_bins(counted: Tally) -> NDArray[np.int64]:
    """Return the number of bins that `sweep_ece` takes; resamples all at once."""
    counts, hits, shape = resample_rows(counted)
    bins = counted.once(_EqualBins)
    most = min(MOST_MONOTONE_BINS, counted.n_samples)
    numbers = np.full(len(counts), most)
    active = np.arange(len(counts))
    # Blocks that rise one by one rise in any bins, so there is nothing to sweep.
    sure = active[bins.rise(active, most)]
    active = np.setdiff1d(active, sure[_rise(counts[sure], hits[sure])], assume_unique=True)
    for n_bins in range(2, most + 1):
        if not active.size:
            break
        rising = bins.rise(active, n_bins)
        numbers[active[~rising]] = n_bins - 1
        active = active[rising]
    return numbers.reshape(shape)


class _EqualBins:
    """Running totals of each resample, searched for the ends of its bins of equal mass."""

    def __init__(self, counted: Tally) -> None:
        """Take the totals of all resamples, or one of counts for all."""
        n_blocks = counted.scores.size
        lead = np.broadcast_shapes(counted.counts.shape, counted.hits.shape)
        self.n_samples, self.shared = counted.n_samples, counted.counts.ndim == 1
        self._counted = counted
        self.hits = np.broadcast_to(counted.once(hit_totals), lead).reshape(-1, n_blocks)
        of_all = counted.counts.shape if self.shared else lead
        self.counts = np.broadcast_to(counted.once(count_totals), of_all).reshape(-1, n_blocks)
        self.lift = np.arange(len(self.counts)) * (counted.n_samples + 1.0)
        # One search serves all resamples: each is lifted above the one before.
        self.lifted = (self.counts + self.lift[:, np.newaxis]).ravel()
        # Rows before the first hit, and up to the last miss: only between them can it fall.
        own, misses = np.arange(len(self.hits)) % len(self.counts), self.counts - self.hits
        first, last = (self.hits > 0).argmax(axis=1), (misses >= misses[:, -1:]).argmax(axis=1)
        self.low = np.where(first > 0, self.counts[own, first - 1], 0.0)
        self.high = self.counts[own, last]
        if counted.design is not None and counted.hits.ndim > 1:  # drawn gaps may fall anywhere
            self.low, self.high = np.zeros_like(self.low), self.counts[own, -1]

    def rise(self, resamples: NDArray[np.intp], n_bins: int) -> NDArray[np.bool_]:
        """Return for some of the resamples whether the frequency never falls from bin to bin."""
        first = self.low[resamples] * n_bins // self.n_samples
        last = np.ceil(self.high[resamples] * n_bins / self.n_samples)
        if self.shared:
            first, last = first.min(keepdims=True), last.max(keepdims=True)
        width = int(np.maximum(last - first, 0).max(initial=0))
        edges = np.minimum(first[:, np.newaxis] + np.arange(width + 1), n_bins)
        places = mass_places(self._counted, edges, n_bins)
        below, row = places > 0, resamples[:, np.newaxis]
        lift = self.lift if self.shared else self.lift[resamples]
        ends = np.searchsorted(self.lifted, places + lift[:, np.newaxis])
        counts = self.counts.ravel()[ends] * below
        hits = (self.hits[row, ends] if self.shared else self.hits.ravel()[ends]) * below
        return _rise(np.diff(counts), np.diff(hits))

    def errors(self, n_bins: NDArray[np.int64], gaps: Floats, norm: Literal[1, 2]) -> Floats:
        """Return each resample's `ece` with its own number of bins, from its `gaps_in_rows`."""
        row = np.repeat(np.arange(n_bins.size), n_bins)
        firsts = np.cumsum(n_bins) - n_bins
        places = mass_places(self._counted, np.arange(row.size) - firsts[row] + 1, n_bins[row])
        own = np.zeros_like(row) if self.shared else row
        ends = np.searchsorted(self.lifted, places + self.lift[own])
        counts, n_blocks = self.lifted[ends] - self.lift[own], self.hits.shape[1]
        claimed = gaps.reshape(self.hits.shape)[row, ends - own * n_blocks]
        for totals in (counts, claimed):
            before = np.append(0.0, totals[:-1])
            before[firsts] = 0.0
            np.subtract(totals, before, out=totals)
        if norm == 1:
            return np.add.reduceat(np.abs(claimed), firsts) / self.n_samples
        squares = np.divide(claimed**2, counts, out=np.zeros_like(counts), where=counts > 0)
        return np.sqrt(np.add.reduceat(squares, firsts) / self.n_samples)


def _rise(counts: Floats, hits: Floats) -> NDArray[np.bool_]:
    """Return for each row whether the frequency never falls along it, empty places aside."""
    with np.errstate(invalid="ignore"):
        frequency = hits / counts  # an empty place is NaN
        return np.asarray(~(frequency < np.fmax.accumulate(frequency, axis=1)).any(axis=1))


SWEEP_ECE = EventMeasure(
    key="sweep_ece",
    name="ECE, monotone sweep",
    group="binned",
    source="Roelofs 2022",
    explained="Expected calibration error over as many equally filled bins as keep the observed"
    " frequency increasing, so that no number of bins is chosen.",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, _: sweep_ece_of(c),
)
