"""Calibrators: fitted on the calibration set, applied to any other."""

from calibcore.calibrators.base import (
    FittedScoreMap,
    FittedVectorMap,
    ScoreMap,
    SlowVectorMap,
    VectorMap,
    from_json,
)
from calibcore.calibrators.by_group import ByGroup, FittedByGroup
from calibcore.calibrators.catalogue import CATALOGUE
from calibcore.calibrators.ensembles.beta import BetaEnsemble
from calibcore.calibrators.ensembles.temperature import (
    EnsembleTemperatureScaling,
    SmoothedTemperatureScaling,
)
from calibcore.calibrators.gaussian_process import GaussianProcessCalibration
from calibcore.calibrators.lifts import Chain, OneVsRest, PerRank, PooledClasses, PooledScores
from calibcore.calibrators.linear.maps import (
    DirichletScaling,
    MatrixScaling,
    StructuredMatrixScaling,
    StructuredVectorScaling,
    VectorScaling,
)
from calibcore.calibrators.method import (
    Calibrator,
    Choice,
    Fits,
    Method,
    Option,
    Switch,
    WholeNumber,
)
from calibcore.calibrators.multicalibration import FittedMulticalibration, Multicalibration
from calibcore.calibrators.score_maps.bbq import BBQ
from calibcore.calibrators.score_maps.beta import BetaCalibration
from calibcore.calibrators.score_maps.centred import CentredIsotonicCalibration
from calibcore.calibrators.score_maps.histogram import HistogramBinning
from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
from calibcore.calibrators.score_maps.platt import PlattScaling
from calibcore.calibrators.score_maps.quadratic import QuadraticScaling
from calibcore.calibrators.score_maps.spline import FittedSpline, SplineCalibration
from calibcore.calibrators.score_maps.venn_abers import VennAbers
from calibcore.calibrators.temperature import FittedTemperature, TemperatureScaling

__all__ = [
    "BBQ",
    "CATALOGUE",
    "BetaCalibration",
    "BetaEnsemble",
    "ByGroup",
    "Calibrator",
    "CentredIsotonicCalibration",
    "Chain",
    "Choice",
    "DirichletScaling",
    "EnsembleTemperatureScaling",
    "Fits",
    "FittedByGroup",
    "FittedMulticalibration",
    "FittedScoreMap",
    "FittedSpline",
    "FittedTemperature",
    "FittedVectorMap",
    "GaussianProcessCalibration",
    "HistogramBinning",
    "IsotonicCalibration",
    "MatrixScaling",
    "Method",
    "Multicalibration",
    "OneVsRest",
    "Option",
    "PerRank",
    "PlattScaling",
    "PooledClasses",
    "PooledScores",
    "QuadraticScaling",
    "ScoreMap",
    "SlowVectorMap",
    "SmoothedTemperatureScaling",
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
