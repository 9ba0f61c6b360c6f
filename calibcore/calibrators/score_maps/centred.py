"""Centred isotonic regression: straight lines through the middles of the steps."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import (
    RISING_PARTS,
    Breaks,
    FittedScoreMap,
    Lengths,
    Rules,
    ScoreMap,
)
from calibcore.calibrators.descriptions import Description, DescriptionTable, Recipe, percent
from calibcore.calibrators.method import Cost, Fits, Method
from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
from calibcore.results import result_class
from calibcore.validation import Floats
from calibcore.weights import SampleWeight, event_rows


@result_class
class FittedCentred(FittedScoreMap):
    """A fitted rising line with corners."""

    scores: Floats
    heights: Floats
    """Its corners, ascending; shape (n_corners,)."""

    HAS_BREAKS: ClassVar[bool] = True
    RULES: ClassVar[Rules] = {"scores": RISING_PARTS, "heights": RISING_PARTS}
    ALIKE: ClassVar[Lengths] = ({"scores": 0, "heights": 0},)

    def predict(self, scores: ArrayLike) -> Floats:
        # Between scores below 1e-308 a slope can overflow, hence the clip.
        curve = np.interp(validation.scores(scores), self.scores, self.heights)
        return np.asarray(np.clip(curve, 0.0, 1.0))

    def recipe(self) -> Recipe:
        numbers = {"scores": self.scores, "heights": self.heights}
        return numbers, ["y = np.clip(np.interp(x, SCORES, HEIGHTS), 0.0, 1.0)"]

    def breaks(self) -> Breaks:
        return Breaks(corners=self.scores)

    def describe(self) -> Description:
        pairs = zip(self.scores, self.heights, strict=True)
        rows = [(percent(score), percent(height)) for score, height in pairs]
        return Description(
            f"{len(rows):,} points, joined by straight lines.",
            DescriptionTable(("Score", "Calibrated"), rows),
        )


@dataclass(frozen=True)
class CentredIsotonicCalibration(ScoreMap):
    """Join the middles of the steps of isotonic regression by straight lines.

    Isotonic regression gives many scores the same value; this one keeps apart what it can.

    Notes
    -----
    The steps are those of `IsotonicCalibration`. Each becomes one point: the mean calibration score
    of its rows, and its height; lines join the points, and outside the first and the last it is
    constant. Steps of height 0 and 1 stay whole, from their first to their last score, as no
    frequency lies beyond.

    References
    ----------
    Oron and Flournoy, *Statistics in Biopharmaceutical Research* 2017.

    Examples
    --------
    >>> hits = [0, 1, 0, 1, 0, 1]
    >>> fitted = CentredIsotonicCalibration().fit([0.1, 0.2, 0.4, 0.6, 0.8, 0.9], hits)
    >>> fitted.predict([0.1, 0.3, 0.5, 0.7, 0.9]).round(4).tolist()  # 0.2 to 0.8 is one step
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    HAS_BREAKS: ClassVar[bool] = True

    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedCentred:
        steps = IsotonicCalibration().fit(scores, hits, sample_weight=sample_weight)
        ordered, _, weights = event_rows(scores, hits, sample_weight)
        weights = np.ones(ordered.size) if weights is None else weights
        place = np.searchsorted(steps.first[1:], ordered, side="right")
        sums = np.bincount(place, weights=weights * ordered)
        middles = np.clip(sums / np.bincount(place, weights=weights), steps.first, steps.last)
        whole = (steps.frequency == 0) | (steps.frequency == 1)
        first, last = (np.where(whole, ends, middles) for ends in (steps.first, steps.last))
        corners = np.stack([first, last], axis=1).ravel()
        differ = np.append(True, corners[1:] > corners[:-1])
        heights = np.repeat(steps.frequency, 2)[differ]
        return FittedCentred(corners[differ], heights, warnings=steps.warnings)


CENTRED_ISOTONIC = Method(
    key="centred_isotonic",
    name="Centred isotonic regression of the event",
    short="Centred iso.",
    factory=CentredIsotonicCalibration,
    paper="Oron 2017",
    explained="Isotonic regression whose steps are joined at their middles by straight lines, so"
    " that different scores stay different.",
    formula="straight lines through (mean score, frequency) of the isotonic steps",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("curves", 1),
    cost=Cost((70, 24, 7)),
)
