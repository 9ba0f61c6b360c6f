"""Calibrators: fitted on the calibration set, applied to any other."""

from calibcore.calibrators.base import (
    FittedScoreMap,
    FittedVectorMap,
    ScoreMap,
    SlowVectorMap,
    VectorMap,
    from_json,
)
from calibcore.calibrators.catalogue import CATALOGUE, Choice, Method, Option, Switch, WholeNumber
from calibcore.calibrators.spline import FittedSpline, SplineCalibration
from calibcore.calibrators.temperature import FittedTemperature, TemperatureScaling

__all__ = [
    "CATALOGUE",
    "Choice",
    "FittedScoreMap",
    "FittedSpline",
    "FittedTemperature",
    "FittedVectorMap",
    "Method",
    "Option",
    "ScoreMap",
    "SlowVectorMap",
    "SplineCalibration",
    "Switch",
    "TemperatureScaling",
    "VectorMap",
    "WholeNumber",
    "from_json",
]
