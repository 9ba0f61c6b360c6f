"""Measures of calibration, sharpness and accuracy: one function a quantity, all fractions."""

from calibcore.cumulative import ks_error
from calibcore.metrics.binned import ece, mce
from calibcore.metrics.classwise import classwise_ece
from calibcore.metrics.plain import accuracy, certain_misses, hit_rate, mean_score
from calibcore.metrics.proper import PROBABILITY_FLOOR, brier, event_brier, event_nll, nll
from calibcore.metrics.registry import METRICS, ClassMeasure, EventMeasure, Measure, Options

__all__ = [
    "METRICS",
    "PROBABILITY_FLOOR",
    "ClassMeasure",
    "EventMeasure",
    "Measure",
    "Options",
    "accuracy",
    "brier",
    "certain_misses",
    "classwise_ece",
    "ece",
    "event_brier",
    "event_nll",
    "hit_rate",
    "ks_error",
    "mce",
    "mean_score",
    "nll",
]
