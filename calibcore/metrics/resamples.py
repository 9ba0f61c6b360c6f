"""Counts of several resamples as rows of one table, for measures that take them one by one."""

import numpy as np

from calibcore.tally import Tally
from calibcore.validation import Floats


def resample_rows(counted: Tally) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Return counts and hits with one row a resample, and the leading dimensions they came from.

    Returns
    -------
    counts, hits : ndarray of float64, shape (n_resamples, n_blocks)
        Views where that is possible; not to be written to.
    shape : tuple of int
        Leading dimensions of the tally; () for the rows themselves.

    Examples
    --------
    >>> counted = Tally(np.array([0.2, 0.6]), np.array([1.0, 2.0]), np.zeros((5, 2)), 3)
    >>> counts, hits, shape = resample_rows(counted)
    >>> counts.shape, hits.shape, shape
    ((5, 2), (5, 2), (5,))
    """
    counts, hits = np.broadcast_arrays(counted.counts, counted.hits)
    n_blocks = counted.scores.size
    return counts.reshape(-1, n_blocks), hits.reshape(-1, n_blocks), counts.shape[:-1]
