"""Fewer points for the screen: the picture stays, the numbers are computed from all rows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST_POINTS = 400
"""Points of a drawn line, at most."""


def thin(
    x: NDArray[np.float64],
    signal: NDArray[np.float64],
    *,
    keep: Sequence[int] = (),
    most: int = MOST_POINTS,
) -> NDArray[np.intp]:
    """Choose the points of a line to draw.

    ``x``: horizontal places, ascending; shape (n_points,). ``signal``: what must keep its extremes:
    the height, or the gap between two lines; shape (n_points,). ``keep``: places drawn whatever
    happens. ``most``: how many points to draw at most, at least 10 more than are in ``keep``.

    Ascending places. All, if they are few enough; otherwise the first, the lowest and the highest
    point of each of many equal steps of ``x``, and both ends.
    """
    if x.size <= most:
        return np.arange(x.size)
    steps = (most - len(keep) - 2) // 3
    borders = np.linspace(x[0], x[-1], steps + 1)[:-1]
    starts = np.unique(np.searchsorted(x, borders))
    starts = starts[starts < x.size]
    ends = [*starts[1:], x.size]
    chosen = {0, x.size - 1, *keep}
    for start, end in zip(starts, ends, strict=True):
        piece = signal[start:end]
        chosen.update((int(start), int(start + piece.argmin()), int(start + piece.argmax())))
    return np.array(sorted(chosen), dtype=np.intp)
