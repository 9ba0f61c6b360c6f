"""Models whose truth is known: to draw rows from, and to compare what is computed with."""

from calibcore.worlds.against import CalibratorAgainstTruth, calibrators_against
from calibcore.worlds.curves import HandCurve, LogOddsCurve, NormalScores
from calibcore.worlds.redraws import Redraws, redraws
from calibcore.worlds.study import EstimatorStudy, redraw_estimates, sturges_bins
from calibcore.worlds.truth import MapDistance, Population, Truth
from calibcore.worlds.world import Drawn, World, zhang_world

__all__ = [
    "CalibratorAgainstTruth",
    "Drawn",
    "EstimatorStudy",
    "HandCurve",
    "LogOddsCurve",
    "MapDistance",
    "NormalScores",
    "Population",
    "Redraws",
    "Truth",
    "World",
    "calibrators_against",
    "redraw_estimates",
    "redraws",
    "sturges_bins",
    "zhang_world",
]
