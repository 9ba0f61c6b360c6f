"""Venn-Abers: two isotonic regressions, one for each outcome that a new row could have."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import (
    RISING_PARTS,
    Breaks,
    FittedScoreMap,
    Lengths,
    Rules,
    ScoreMap,
    weighed_rows,
)
from calibcore.calibrators.descriptions import Description, Recipe
from calibcore.calibrators.method import Cost, Fits, Method
from calibcore.ordering import sort_by_score, tie_ends
from calibcore.results import result_class
from calibcore.validation import Floats, Hits
from calibcore.weights import SampleWeight, refuse_sampling

Counts = NDArray[np.int64]


@result_class
class FittedVennAbers(FittedScoreMap):
    """A fitted pair of rising step functions."""

    lower_starts: Floats
    """Calibration scores at which p0 rises; shape (n_lower,)."""
    lower: Floats
    """p0 below, between and from these scores on; shape (n_lower + 1,)."""
    upper_ends: Floats
    """Calibration scores after which p1 rises; shape (n_upper,)."""
    upper: Floats
    """p1 up to, between and above these scores; shape (n_upper + 1,)."""

    HAS_BREAKS: ClassVar[bool] = True
    RULES: ClassVar[Rules] = dict.fromkeys(
        ("lower_starts", "lower", "upper_ends", "upper"), RISING_PARTS
    )
    ALIKE: ClassVar[Lengths] = ({"lower_starts": 1, "lower": 0}, {"upper_ends": 1, "upper": 0})

    def interval(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Return both calibrated scores.

        ``scores``: in [0, 1]; shape (n_samples,).

        p0 and p1, p0 < p1: what isotonic regression gives the score if its own row is added to the
        calibration set as a miss, and as a hit; shape (n_samples,).
        """
        checked = validation.scores(scores)
        low = self.lower[np.searchsorted(self.lower_starts, checked, side="right")]
        high = self.upper[np.searchsorted(self.upper_ends, checked, side="left")]
        return np.asarray(low), np.asarray(high)

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate scores: p1 / (1 - p0 + p1), between p0 and p1; neither 0 nor 1."""
        low, high = self.interval(scores)
        return high / (1 - low + high)

    def recipe(self) -> Recipe:
        numbers = {
            "lower_starts": self.lower_starts,
            "lower": self.lower,
            "upper_ends": self.upper_ends,
            "upper": self.upper,
        }
        return numbers, [
            'low = LOWER[np.searchsorted(LOWER_STARTS, x, side="right")]',
            'high = UPPER[np.searchsorted(UPPER_ENDS, x, side="left")]',
            "y = high / (1 - low + high)",
        ]

    def breaks(self) -> Breaks:
        return Breaks(starts=self.lower_starts, ends=self.upper_ends)

    def describe(self) -> Description:
        return Description(
            f"{self.lower.size:,} steps with the new outcome 0, {self.upper.size:,} with outcome 1."
        )


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

    There is no form for sampling weights: the row that is added would need one of its own.

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

    HAS_BREAKS: ClassVar[bool] = True

    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedVennAbers:
        scores, hits, weights = weighed_rows(scores, hits, sample_weight)
        if weights is not None:
            refuse_sampling("Venn-Abers", "of one row more, whose own weight nobody knows")
        ordered, ordered_hits = sort_by_score(*validation.scores_and_hits(scores, hits))
        ends = tie_ends(ordered)
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
    """Return, of each block, its height in the isotonic regression with one hit more in that block.

    ``sizes``, ``hits``: rows of each distinct score, and the hits among them; shape (n_blocks,).

    Hits and rows whose ratio is the height; shape (n_blocks,).

    Let P_j = (rows, hits) of the first j blocks. With a hit more in block j the height is the slope
    of the lower common tangent of the points P_i - (1, 1), i < j, and P_i, i >= j. It is the
    largest, over i < j, of the slopes of the tangents from P_i - (1, 1) to the lower hull of all P,
    of which only corners right of P_i count: a point above the common tangent has a lower one.
    """
    x = np.cumsum(sizes) - sizes
    y = np.cumsum(hits) - hits
    # After a block of hits alone, the tangent is no steeper than from the point before it.
    tried = np.append(0, np.flatnonzero(hits[:-1] < sizes[:-1]) + 1)
    hull_x, hull_y = _hull_corners(sizes, hits)
    corner = _tangent_corners(x[tried] - 1, y[tried] - 1, hull_x, hull_y)
    run, rise = hull_x[corner] - x[tried] + 1, hull_y[corner] - y[tried] + 1
    slope = rise / run
    is_record = slope == np.maximum.accumulate(slope)
    of_block = np.repeat(np.flatnonzero(is_record), np.diff(tried[is_record], append=sizes.size))
    return rise[of_block], run[of_block]


def _hull_corners(sizes: Counts, hits: Counts) -> tuple[Counts, Counts]:
    """Return the corners of the lower hull of (-1, -1), P_1, P_2, ..., without the first."""
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - slow to import

    rows, heights = sizes.copy(), hits.copy()
    rows[0] += 1
    heights[0] += 1
    steps = isotonic_regression(heights / rows, weights=rows).blocks[1:] - 1
    return np.cumsum(rows)[steps] - 1, np.cumsum(heights)[steps] - 1


def _tangent_corners(x: Counts, y: Counts, hull_x: Counts, hull_y: Counts) -> Counts:
    """Return the corner, right of each point by more than 1, where a line from it touches the hull.

    That is where the first edge begins whose line passes below the point; all later ones do too.
    A binary search, in whole numbers.
    """
    across, up = np.diff(hull_x), np.diff(hull_y)
    level = across * hull_y[:-1] - up * hull_x[:-1]
    low = np.searchsorted(hull_x, x + 1, side="right")
    high = np.full_like(low, across.size)
    while np.any(low < high):
        middle = (low + high) // 2
        # Where the search has ended, at the last corner, there is no edge; any one keeps it there.
        edge = np.minimum(middle, across.size - 1)
        below = across[edge] * y - up[edge] * x > level[edge]
        high = np.where(below, middle, high)
        low = np.where(below, low, np.minimum(middle + 1, high))
    return low


def _warnings(hits: Hits) -> tuple[str, ...]:
    if hits.min() != hits.max():
        return ()
    row = "a hit" if hits[0] else "a miss"
    return (f"Every calibration row is {row}, so only the added row distinguishes scores.",)


VENN_ABERS = Method(
    key="venn_abers",
    name="Venn-Abers",
    short="Venn-Abers",
    factory=VennAbers,
    paper="Vovk 2015",
    explained="Fits isotonic regression with the new row as outcome 1 and as outcome 0, and"
    " combines the two values.",
    formula="p1 / (1 - p0 + p1)",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("curves", 2),
    cost=Cost((30, 10, 3)),
    weighs=False,
)
