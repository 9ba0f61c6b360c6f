"""Labels drawn from the scores themselves: what a perfectly calibrated model would show."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calibcore.ordering import block_ends
from calibcore.tally import Tally
from calibcore.validation import Floats

MOST_GROUPS = 1 << 10
"""Distinct scores kept in a simulation; neighbouring ones are joined where there are more."""

_FEW_A_SCORE = 30
"""Up to so many rows a score, drawing every row is faster than a binomial number."""


def grouped(counted: Tally, most: int = MOST_GROUPS) -> Tally:
    """Join neighbouring scores so that at most ``most`` are left.

    Each group holds about as many rows as the others, at their mean score; 0 and 1 stay alone.
    What the rows' own misses are `spared` is left out, as other labels will be drawn.

    ``counted``: with ``counts`` and ``hits`` of shape (n_blocks,). ``most``: at least 4.
    """
    if counted.scores.size <= most:
        return replace(counted, spared=0.0) if np.any(counted.spared) else counted
    starts = group_starts(counted.scores, counted.counts, most)
    counts = np.add.reduceat(counted.counts, starts)
    sums = np.add.reduceat(counted.counts * counted.scores, starts)
    hits = np.add.reduceat(counted.hits, starts)
    return Tally(sums / counts, counts, hits, counted.n_samples)


def group_starts(scores: Floats, counts: Floats, most: int = MOST_GROUPS) -> NDArray[np.intp]:
    """Return the first score of each group, as of `grouped`; each score its own if they are few."""
    if scores.size <= most:
        return np.arange(scores.size)
    totals = np.cumsum(counts)
    group = np.ceil(totals / totals[-1] * (most - 3))
    group[scores == 0] = -1
    group[scores == 1] = most
    return np.concatenate([[0], block_ends(group)[:-1] + 1])


def redrawn(rng: np.random.Generator, counted: Tally, frequency: Floats, n_draws: int) -> Tally:
    """Resample outcomes with the given frequency per score.

    ``rng``: where the draws come from. ``counted``: the rows; its hits do not count. ``frequency``:
    in [0, 1]; the scores themselves for a perfectly calibrated model; shape (n_blocks,).
    ``n_draws``: how many times.

    With ``hits`` of shape (n_draws, n_blocks).
    """
    counts = counted.counts.astype(np.intp)
    if counted.n_samples > _FEW_A_SCORE * counts.size:
        drawn = rng.binomial(counts, frequency, size=(n_draws, counts.size))
        return replace(counted, hits=drawn.astype(np.float64))
    of_rows = np.repeat(frequency, counts)
    rows = rng.random((n_draws, counted.n_samples)) < of_rows
    if counts.size == counted.n_samples:
        return replace(counted, hits=rows.astype(np.float64))
    # Differences of running totals take a third of the time of sums from start to start.
    totals = np.cumsum(rows, axis=1, dtype=np.int32)[:, np.cumsum(counts) - 1]
    return replace(counted, hits=np.diff(totals, axis=1, prepend=0).astype(np.float64))
