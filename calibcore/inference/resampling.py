"""Rows drawn again with replacement, as counts of the rows that are there."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibcore.data import EventScores
from calibcore.ordering import block_ends
from calibcore.tally import Tally
from calibcore.validation import Floats, Labels


@dataclass(frozen=True, eq=False)
class Side:
    """The rows of a set before or after calibration.

    Attributes
    ----------
    event : EventScores
        Of the chosen event.
    probabilities : ndarray of float64, shape (n_samples, n_classes), or None
        Of all classes, where they are known.
    labels : ndarray of int, shape (n_samples,), or None
        True classes, where probabilities are known.
    """

    event: EventScores
    probabilities: Floats | None = None
    labels: Labels | None = None


_CELLS = 1 << 18
"""Counts held at once: 2 MB, which a processor's cache holds."""


def chunks(n_resamples: int, n_rows: int) -> Iterator[int]:
    """Cut resamples into chunks of bounded memory: how many are in each."""
    at_once = max(1, _CELLS // n_rows)
    return (min(at_once, n_resamples - done) for done in range(0, n_resamples, at_once))


def row_counts(rng: np.random.Generator, n_resamples: int, n_rows: int) -> Floats:
    """Count how often each row is drawn, in resamples as large as the set.

    Returns
    -------
    ndarray of float64, shape (n_resamples, n_rows)
        Whole numbers; each resample's sum to ``n_rows``.
    """
    drawn = rng.integers(n_rows, size=(n_resamples, n_rows))
    drawn += np.arange(n_resamples)[:, np.newaxis] * n_rows
    counts = np.bincount(drawn.ravel(), minlength=drawn.size)
    return counts.reshape(drawn.shape).astype(np.float64)


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """An event's rows by score, sorted once, so that any resample is a vector of counts.

    Attributes
    ----------
    scores : ndarray of float64, shape (n_blocks,)
        Distinct scores, ascending.
    order : ndarray of int, shape (n_samples,)
        Rows, lowest score first.
    starts : ndarray of int, shape (n_blocks,)
        First place in ``order`` of each score's rows.
    hits : ndarray of float64, shape (n_samples,)
        Hits in that order.
    """

    scores: Floats
    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    hits: Floats

    @classmethod
    def of(cls, event: EventScores) -> "OrderedRows":
        """Sort the rows of an event."""
        order = np.argsort(event.scores)
        ordered = event.scores[order]
        ends = block_ends(ordered)
        starts = np.concatenate([[0], ends[:-1] + 1])
        return cls(ordered[ends], order, starts, event.hits[order].astype(np.float64))

    def recounted(self, counts: Floats) -> Tally:
        """Tally resamples.

        Parameters
        ----------
        counts : ndarray of float64, shape (n_resamples, n_samples)
            How often each row was drawn.
        """
        sorted_counts = counts[:, self.order]
        hits = sorted_counts * self.hits
        if self.starts.size < self.order.size:
            sorted_counts = np.add.reduceat(sorted_counts, self.starts, axis=1)
            hits = np.add.reduceat(hits, self.starts, axis=1)
        return Tally(self.scores, sorted_counts, hits, self.order.size)
