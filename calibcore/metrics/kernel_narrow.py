"""KDE-ECE where the kernel is too narrow for the mesh on [0, 1]."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibcore.tally import Tally
from calibcore.validation import Floats

NARROW = 1 / 128
"""Half width of a kernel below which it has a mesh of its own."""

_ROUNDING = 1e-12
"""Scores that differ by no more are equal."""

_CELLS, _ROUGH_CELLS = 768, 16
"""Cells within the half width, where there are not too many."""

_MOST, _ROUGH_MOST = 1 << 20, 1 << 12
"""Cells in all."""


class Places(NamedTuple):
    """Scores moved together for a mesh of their own, as far as no kernel reaches across a gap."""

    counted: Tally
    """At the moved scores, so scaled that the mesh is [0, 1]."""
    length: float
    """Of the mesh, in units of score."""
    size: int
    """Its cells."""
    points: Floats
    """Score at each of its points; shape (size + 1,)."""


def merged(counted: Tally) -> Tally:
    """Join blocks whose scores differ by rounding alone, or not at all."""
    scores = counted.scores
    starts = np.flatnonzero(np.diff(scores, prepend=-np.inf) > _ROUNDING)
    if starts.size == scores.size:
        return counted
    counts, hits = (
        np.add.reduceat(values, starts, axis=-1) for values in (counted.counts, counted.hits)
    )
    return Tally(scores[starts], counts, hits, counted.n_samples)


def exact_spread(counted: Tally) -> Floats:
    """Return the standard deviation of the hits' scores, or of all if there are fewer than two.

    For resamples as rows. It is exact however near to each other the scores are.
    """
    few = counted.hits.sum(axis=1, keepdims=True) < 2
    weights = np.where(few, counted.counts, counted.hits)
    total = weights.sum(axis=1)
    scores = counted.scores - counted.scores[weights.argmax(axis=1), np.newaxis]
    mean = np.einsum("ij,ij->i", weights, scores) / total
    squares = np.square(scores - mean[:, np.newaxis])
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", weights, squares) / total))


def are_alone(counted: Tally, reach: float) -> NDArray[np.bool_]:
    """Return which blocks no kernel joins with another, nor with 0 or 1, nor with their frequency.

    The error of such a block is the same however narrow its kernel is.
    """
    scores = counted.scores
    apart = np.diff(scores, prepend=-np.inf, append=np.inf) > 2 * reach
    inside = (scores >= reach) & (scores <= 1 - reach)
    gaps = np.abs(counted.counts * scores - counted.hits) >= counted.counts * reach
    sides = gaps.reshape(-1, scores.size).all(axis=0)
    return np.asarray(apart[:-1] & apart[1:] & inside & sides)


def moved_together(counted: Tally, width: Floats, *, rough: bool) -> Places:
    """Shorten the gaps between the scores, and lay a mesh that is fine enough for the kernels."""
    scores, reach = counted.scores, float(width.max())
    cells, most = (_ROUGH_CELLS, _ROUGH_MOST) if rough else (_CELLS, _MOST)
    room = 2 * reach * (1 + 2 / cells)
    gaps = np.diff(scores)
    places = np.concatenate([[0.0], np.cumsum(np.minimum(gaps, room))])
    places += min(float(scores[0]), room / 2)
    length = float(places[-1]) + min(1 - float(scores[-1]), room / 2)
    step = float(np.median(width[width > 0])) / cells
    size = min(most, 1 << int(np.ceil(np.log2(max(length / step, cells)))))
    starts = np.flatnonzero(np.concatenate([[True], gaps > room]))
    ends = places[starts[1:]] - room / 2
    points = np.arange(size + 1) * (length / size)
    shift = (scores - places)[starts]
    at = shift[np.searchsorted(ends, points)] + points
    moved = Tally(np.minimum(places / length, 1.0), counted.counts, counted.hits, counted.n_samples)
    return Places(moved, length, size, at)
