"""Calibrators: fitted on the calibration set, applied to any other."""

from calibcore.calibrators.base import (
    FittedScoreMap,
    FittedVectorMap,
    ScoreMap,
    SlowVectorMap,
    VectorMap,
    from_json,
)
from calibcore.calibrators.bbq import BBQ
from calibcore.calibrators.beta import BetaCalibration
from calibcore.calibrators.beta_ensemble import BetaEnsemble
from calibcore.calibrators.catalogue import CATALOGUE
from calibcore.calibrators.chain import Chain
from calibcore.calibrators.ensemble import EnsembleTemperatureScaling
from calibcore.calibrators.gaussian_process import GaussianProcessCalibration
from calibcore.calibrators.histogram import HistogramBinning
from calibcore.calibrators.isotonic import IsotonicCalibration
from calibcore.calibrators.lifts import OneVsRest, PerRank
from calibcore.calibrators.linear_maps import DirichletScaling, MatrixScaling, VectorScaling
from calibcore.calibrators.method import Calibrator, Choice, Method, Option, Switch, WholeNumber
from calibcore.calibrators.platt import PlattScaling
from calibcore.calibrators.pooled import PooledClasses, PooledScores
from calibcore.calibrators.spline import FittedSpline, SplineCalibration
from calibcore.calibrators.structured import StructuredMatrixScaling, StructuredVectorScaling
from calibcore.calibrators.temperature import FittedTemperature, TemperatureScaling
from calibcore.calibrators.venn_abers import VennAbers

__all__ = [
    "BBQ",
    "CATALOGUE",
    "BetaCalibration",
    "BetaEnsemble",
    "Calibrator",
    "Chain",
    "Choice",
    "DirichletScaling",
    "EnsembleTemperatureScaling",
    "FittedScoreMap",
    "FittedSpline",
    "FittedTemperature",
    "FittedVectorMap",
    "GaussianProcessCalibration",
    "HistogramBinning",
    "IsotonicCalibration",
    "MatrixScaling",
    "Method",
    "OneVsRest",
    "Option",
    "PerRank",
    "PlattScaling",
    "PooledClasses",
    "PooledScores",
    "ScoreMap",
    "SlowVectorMap",
    "SplineCalibration",
    "StructuredMatrixScaling",
    "StructuredVectorScaling",
    "Switch",
    "TemperatureScaling",
    "VectorMap",
    "VectorScaling",
    "VennAbers",
    "WholeNumber",
    "from_json",
]
