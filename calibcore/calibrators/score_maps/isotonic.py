"""Isotonic regression: the rising steps that are nearest to the hits."""

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
)
from calibcore.calibrators.descriptions import Description, DescriptionTable, Recipe, percent, steps
from calibcore.calibrators.method import Cost, Fits, Method, Switch
from calibcore.ordering import in_order, sort_by_score, tie_ends, tie_starts
from calibcore.results import result_class
from calibcore.strips import row_strips
from calibcore.validation import Floats, Hits
from calibcore.weights import EventRows, SampleWeight, event_rows


@result_class
class FittedIsotonic(FittedScoreMap):
    """A fitted rising curve."""

    first: Floats
    last: Floats
    """Lowest and highest calibration score of each step, ascending; shape (n_steps,)."""
    frequency: Floats
    """Height of each step: its observed frequency, ascending; shape (n_steps,)."""
    interpolate: bool
    """Whether the curve is straight between two steps or stays on the lower one."""

    HAS_BREAKS: ClassVar[bool] = True
    RULES: ClassVar[Rules] = {
        "first": RISING_PARTS,
        "last": RISING_PARTS,
        "frequency": RISING_PARTS,
    }
    ALIKE: ClassVar[Lengths] = ({"first": 0, "last": 0, "frequency": 0},)

    def predict(self, scores: ArrayLike) -> Floats:
        checked = validation.scores(scores)
        if self.interpolate:
            ends = np.stack([self.first, self.last], axis=1).ravel()
            differ = np.append(True, ends[1:] > ends[:-1])
            heights = np.repeat(self.frequency, 2)
            # Between scores below 1e-308 a slope can overflow, hence the clip.
            curve = np.interp(checked, ends[differ], heights[differ])
            return np.asarray(np.clip(curve, 0.0, 1.0))
        steps = np.searchsorted(self.first[1:], checked, side="right")
        return np.asarray(self.frequency[steps])

    def recipe(self) -> Recipe:
        if not self.interpolate:
            return steps(self.first[1:], self.frequency, "right")
        ends = np.stack([self.first, self.last], axis=1).ravel()
        differ = np.append(True, ends[1:] > ends[:-1])
        numbers = {"scores": ends[differ], "heights": np.repeat(self.frequency, 2)[differ]}
        return numbers, ["y = np.clip(np.interp(x, SCORES, HEIGHTS), 0.0, 1.0)"]

    def breaks(self) -> Breaks:
        ends = np.concatenate([self.first, self.last])
        return Breaks(corners=ends) if self.interpolate else Breaks(self.first, corners=ends)

    def describe(self) -> Description:
        between = "straight lines between them" if self.interpolate else "jumps between them"
        steps = zip(self.first, self.last, self.frequency, strict=True)
        rows = [
            (f"{percent(first)}\u2013{percent(last)}", percent(high)) for first, last, high in steps
        ]
        return Description(
            f"{len(rows):,} steps, {between}.",
            DescriptionTable(("Calibration scores", "Calibrated"), rows),
        )


@dataclass(frozen=True)
class IsotonicCalibration(ScoreMap):
    """Replace each score by the observed frequency around it, pooled until it never falls.

    Parameters
    ----------
    interpolate : bool, default False
        Join the steps by straight lines.

    Notes
    -----
    The curve minimises sum_i (hit_i - p(s_i))^2 over all curves p that never fall. Rows with equal
    scores form one block. A score between two steps takes the value of the last calibration score
    at or below it; with ``interpolate`` a straight line leads from the last score of the one step
    to the first of the next, as in scikit-learn. Outside the calibration scores it is constant.

    The lowest step is exactly 0 if the lowest rows are misses, the highest 1 if the highest are
    hits, so the NLL of other rows can be infinite.

    References
    ----------
    Zadrozny and Elkan, *Transforming classifier scores into accurate multiclass probability
    estimates*, KDD 2002.

    Examples
    --------
    >>> hits = [0, 1, 0, 1]
    >>> IsotonicCalibration().fit([0.1, 0.2, 0.6, 0.8], hits).predict([0.15, 0.7]).tolist()
    [0.0, 0.5]
    >>> fitted = IsotonicCalibration(interpolate=True).fit([0.1, 0.2, 0.6, 0.8], hits)
    >>> fitted.predict([0.15, 0.7]).round(4).tolist()
    [0.25, 0.75]
    """

    HAS_BREAKS: ClassVar[bool] = True

    interpolate: bool = False

    def __post_init__(self) -> None:
        """Check the option."""
        validation.choice(repr(self.interpolate), "interpolate", allowed=("False", "True"))

    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedIsotonic:
        from scipy.optimize import isotonic_regression  # noqa: PLC0415 - slow to import

        if sample_weight is None:
            given = validation.scores_and_hits(scores, hits)
            # Pooled classes come in order: no copy is made of what may fill the memory.
            rows = EventRows(*(given if in_order(*given) else sort_by_score(*given)), None)
        else:
            rows = event_rows(scores, hits, sample_weight)
        if rows.weights is None:
            starts, hits_before = _groups(rows.scores, rows.hits)
            sizes, sums = np.diff(starts), np.diff(hits_before)
        else:
            starts = np.append(tie_starts(tie_ends(rows.scores)), rows.scores.size)
            sizes = np.add.reduceat(rows.weights, starts[:-1])
            sums = np.add.reduceat(rows.weights * rows.hits, starts[:-1])
        steps = isotonic_regression(sums / sizes, weights=sizes).blocks
        ends = starts[steps]
        # Of whole numbers, the heights are right to the last digit.
        heights = np.add.reduceat(sums, steps[:-1]) / np.add.reduceat(sizes, steps[:-1])
        return FittedIsotonic(
            rows.scores[ends[:-1]],
            rows.scores[ends[1:] - 1],
            np.maximum.accumulate(np.clip(heights, 0.0, 1.0)),
            self.interpolate,
            warnings=_warnings(heights),
        )


def _groups(ordered: Floats, hits: Hits) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Part sorted rows into groups that are sure to share a step.

    The first row of each group, then the number of rows; and the hits among the rows before each of
    these; both of shape (n_groups + 1,).

    Equal scores share a step, and so do neighbours of equal hits, which isotonic regression always
    pools. Where misses are many, as with all classes pooled, few groups are left. Among tied rows
    misses come first, so a block's last hit tells whether it is all misses; blocks of more than one
    row are not looked into further, as parting groups is never wrong.
    """
    starts, hits_before, total = [np.zeros(1, dtype=np.intp)], [np.zeros(1, dtype=np.int64)], 0
    for rows in row_strips(ordered.size, 1):
        # Whether a group starts at a row is seen from two rows before it and one after.
        first, last = max(rows.start - 2, 0), rows.stop + 1
        starts_here = first + _starts_within(ordered[first:last], hits[first:last])
        starts_here = starts_here[(starts_here >= rows.start) & (starts_here < rows.stop)]
        totals = total + np.cumsum(hits[rows], dtype=np.int64)
        starts.append(starts_here)
        hits_before.append(totals[starts_here - rows.start] - hits[starts_here])
        total = int(totals[-1])
    starts.append(np.array([ordered.size]))
    hits_before.append(np.array([total]))
    return np.concatenate(starts), np.concatenate(hits_before)


def _starts_within(ordered: Floats, hits: Hits) -> NDArray[np.intp]:
    parted = ordered[1:] != ordered[:-1]
    single = np.append(parted, True) & np.append(True, parted)
    misses = (hits[:-1] == 0) & (hits[1:] == 0) & single[1:]
    both_hit = (hits[:-1] == 1) & (hits[1:] == 1) & single[:-1]
    return np.flatnonzero(parted & ~misses & ~both_hit) + 1


def _warnings(heights: Floats) -> tuple[str, ...]:
    if heights.size > 1:
        return ()
    if heights[0] in (0, 1):
        row = "a hit" if heights[0] else "a miss"
        return (f"Every calibration row is {row}, so every score becomes {heights[0]:.0f}.",)
    warning = (
        "Hits are not more frequent at higher calibration scores, so every score becomes the same,"
        f" {heights[0]:.4g}."
    )
    return (warning,)


LINES = Switch("interpolate", default=False)
"""An option of every calibrator that is made of steps."""


ISOTONIC = Method(
    key="isotonic",
    name="Isotonic regression of the event",
    short="Isotonic",
    factory=IsotonicCalibration,
    options=(LINES,),
    paper="Zadrozny 2002; Guo 2017, section 4.1 (two classes)",
    explained="Replaces the score of the event with the value of the increasing step function"
    " that is closest to the outcomes.",
    formula="the increasing step function with the least squared error",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("curves", 1),
    cost=Cost((30, 10, 3)),
)
