"""Models whose truth is known: to draw rows from, and to compare what is computed with."""

from calibcore.synthetic.study import (
    CalibratorAgainstTruth,
    EstimatorStudy,
    Redraws,
    calibrators_against,
    redraw_estimates,
    redraws,
    sturges_bins,
)
from calibcore.synthetic.truth import MapDistance, Population, Truth
from calibcore.synthetic.world import (
    HandCurve,
    LogOddsCurve,
    NormalScores,
    World,
    WorldSample,
    zhang_world,
)

__all__ = [
    "CalibratorAgainstTruth",
    "EstimatorStudy",
    "HandCurve",
    "LogOddsCurve",
    "MapDistance",
    "NormalScores",
    "Population",
    "Redraws",
    "Truth",
    "World",
    "WorldSample",
    "calibrators_against",
    "redraw_estimates",
    "redraws",
    "sturges_bins",
    "zhang_world",
]
