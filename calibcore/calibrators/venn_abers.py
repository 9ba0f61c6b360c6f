"""Venn-Abers: two isotonic regressions, one for each outcome that a new row could have."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import FittedScoreMap, ScoreMap
from calibcore.ordering import block_ends, sort_by_score
from calibcore.validation import Floats, Hits

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FittedVennAbers(FittedScoreMap):
    """A fitted pair of rising step functions.

    Attributes
    ----------
    lower_starts : ndarray of float64, shape (n_lower,)
        Calibration scores at which p0 rises.
    lower : ndarray of float64, shape (n_lower + 1,)
        p0 below, between and from these scores on.
    upper_ends : ndarray of float64, shape (n_upper,)
        Calibration scores after which p1 rises.
    upper : ndarray of float64, shape (n_upper + 1,)
        p1 up to, between and above these scores.
    """

    lower_starts: Floats
    lower: Floats
    upper_ends: Floats
    upper: Floats

    def interval(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Give both calibrated scores.

        Parameters
        ----------
        scores : array_like of float, shape (n_samples,)
            In [0, 1].

        Returns
        -------
        tuple of ndarray of float64, shape (n_samples,)
            p0 and p1, p0 < p1: what isotonic regression gives the score if its own row is added to
            the calibration set as a miss, and as a hit.
        """
        checked = validation.scores(scores)
        low = self.lower[np.searchsorted(self.lower_starts, checked, side="right")]
        high = self.upper[np.searchsorted(self.upper_ends, checked, side="left")]
        return np.asarray(low), np.asarray(high)

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate scores: one number from both.

        Parameters
        ----------
        scores : array_like of float, shape (n_samples,)
            In [0, 1].

        Returns
        -------
        ndarray of float64, shape (n_samples,)
            p1 / (1 - p0 + p1), between p0 and p1; neither 0 nor 1.
        """
        low, high = self.interval(scores)
        return high / (1 - low + high)


@dataclass(frozen=True)
class VennAbers(ScoreMap):
    """Fit isotonic regression with the new row as a miss and as a hit, and give what lies between.

    If rows are exchangeable, one of p0 and p1, according to the outcome, is perfectly calibrated
    whatever the model; how far they are apart shows how much the calibration set leaves open.

    Notes
    -----
    p_y(s) = height at s of the isotonic regression of the calibration rows and (s, y), y = 0, 1;
    the one number p1 / (1 - p0 + p1) is the paper's, least regret under log loss. Tied scores form
    one block, which the new row joins at an equal score.

    Between two calibration scores the new row, as a hit, always pools with the next score if that
    is no higher, and, as a miss, with the one before. So p1(s) is its value at the next calibration
    score, or 1 above all; p0(s) the one at the last, or 0 below all; both are kept as steps.

    References
    ----------
    Vovk, Petej, Fedorova, *Large-scale probabilistic predictors with and without guarantees of
    validity*, NeurIPS 2015; Vovk, Petej, *Venn-Abers predictors*, UAI 2014.

    Examples
    --------
    >>> fitted = VennAbers().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    >>> [p.round(3).tolist() for p in fitted.interval([0.5, 0.9])]
    [[0.333, 0.5], [0.667, 1.0]]
    >>> fitted.predict([0.5, 0.9]).round(3).tolist()
    [0.5, 0.667]
    """

    def fit(self, scores: ArrayLike, hits: ArrayLike) -> FittedVennAbers:
        """Fit on the scores and hits of the calibration set.

        Parameters
        ----------
        scores : array_like of float, shape (n_samples,)
            In [0, 1].
        hits : array_like of {0, 1}, shape (n_samples,)
            Whether the event happened.

        Returns
        -------
        FittedVennAbers

        Raises
        ------
        CalibrationInputError
            Scores and hits out of range.
        """
        ordered, ordered_hits = sort_by_score(*validation.scores_and_hits(scores, hits))
        ends = block_ends(ordered)
        sizes = np.diff(ends, prepend=-1)
        block_hits = np.diff(np.cumsum(ordered_hits, dtype=np.int64)[ends], prepend=0)
        gained, rows = _heights_with_a_hit(sizes, block_hits)
        # A miss among the hits is a hit among the misses, seen from the other end.
        missed, others = _heights_with_a_hit(sizes[::-1], (sizes - block_hits)[::-1])
        lower = np.concatenate([[0.0], ((others - missed) / others)[::-1]])
        upper = np.concatenate([gained / rows, [1.0]])
        rises, climbs = lower[1:] > lower[:-1], upper[1:] > upper[:-1]
        distinct = ordered[ends]
        return FittedVennAbers(
            lower_starts=distinct[rises],
            lower=np.append(lower[:1], lower[1:][rises]),
            upper_ends=distinct[climbs],
            upper=np.append(upper[:-1][climbs], upper[-1:]),
            warnings=_warnings(ordered_hits),
        )


def _heights_with_a_hit(sizes: Counts, hits: Counts) -> tuple[Counts, Counts]:
    """Give, of each block, its height in the isotonic regression with one hit more in that block.

    Parameters
    ----------
    sizes, hits : ndarray of int64, shape (n_blocks,)
        Rows of each distinct score, and the hits among them.

    Returns
    -------
    tuple of ndarray of int64, shape (n_blocks,)
        Hits and rows whose ratio is the height.

    Notes
    -----
    Let P_j = (rows, hits) of the first j blocks. With a hit more in block j the height is the slope
    of the lower common tangent of the points P_i - (1, 1), i < j, and P_i, i >= j. As j grows,
    points pass from the right to the left, and the tangent changes only when one of them falls
    below it; then it starts at that point. It ends at a corner of the lower hull of all points as
    they are for j = 1, and that corner only ever moves right.

    Every comparison is in whole numbers. The points from the present one on are searched in
    stretches that double, so that a Python step is needed only where the tangent changes.
    """
    x = np.concatenate([[0], np.cumsum(sizes)])
    y = np.concatenate([[0], np.cumsum(hits)])
    corners = _hull_corners(sizes, hits)
    rise, run = np.empty_like(sizes), np.empty_like(sizes)
    corner, start = 0, 0
    while start < sizes.size:
        left = (int(x[start]) - 1, int(y[start]) - 1)
        corner = _tangent_corner(left, corners, corner)
        along = corners[corner][0] - left[0], corners[corner][1] - left[1]
        end = _first_below(x, y, start + 1, left, along)
        rise[start:end], run[start:end] = along[1], along[0]
        start = end
    return rise, run


def _hull_corners(sizes: Counts, hits: Counts) -> list[tuple[int, int]]:
    """Give the corners of the lower hull of (-1, -1), P_1, P_2, ..., without the first."""
    from scipy.optimize import (  # noqa: PLC0415 - a third of a second to import
        isotonic_regression,
    )

    rows, heights = sizes.copy(), hits.copy()
    rows[0] += 1
    heights[0] += 1
    steps = isotonic_regression(heights / rows, weights=rows).blocks[1:] - 1
    return list(
        zip(
            (np.cumsum(rows)[steps] - 1).tolist(),
            (np.cumsum(heights)[steps] - 1).tolist(),
            strict=True,
        )
    )


def _tangent_corner(left: tuple[int, int], corners: list[tuple[int, int]], corner: int) -> int:
    """Give the corner at which a line from the left point touches the hull."""
    while corner + 1 < len(corners):
        (here_x, here_y), (next_x, next_y) = corners[corner], corners[corner + 1]
        if (next_y - left[1]) * (here_x - left[0]) > (here_y - left[1]) * (next_x - left[0]):
            return corner  # the line to the next would be steeper
        corner += 1
    return corner


def _first_below(
    x: Counts, y: Counts, start: int, left: tuple[int, int], along: tuple[int, int]
) -> int:
    """Give the first j from ``start`` on whose P_j - (1, 1) is below the line from the left."""
    length, last = 8, x.size - 1
    while start < last:
        end = min(start + length, last)
        above = (y[start:end] - (left[1] + 1)) * along[0]
        below = above < (x[start:end] - (left[0] + 1)) * along[1]
        found = int(np.argmax(below))
        if below[found]:
            return start + found
        start, length = end, 2 * length
    return last


def _warnings(hits: Hits) -> tuple[str, ...]:
    if hits.min() != hits.max():
        return ()
    row = "a hit" if hits[0] else "a miss"
    return (f"Every calibration row is {row}, so only the added row tells scores apart.",)
