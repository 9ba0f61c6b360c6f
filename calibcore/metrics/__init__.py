"""Measures of calibration, sharpness and accuracy: one function a quantity, all fractions."""

from calibcore.cumulative import ks_error
from calibcore.metrics.binned import debiased_ece, ece, mce
from calibcore.metrics.classwise import (
    classwise_ece,
    classwise_errors,
    classwise_ks,
    classwise_ks_errors,
    max_classwise_ece,
    max_classwise_ks,
)
from calibcore.metrics.decomposition import Decomposition, calibration_gain, changed_decisions, corp
from calibcore.metrics.discrimination import auroc
from calibcore.metrics.kernel import KernelTest, kde_classwise_ece, kde_ece, smooth_ece
from calibcore.metrics.measure import (
    ChangeMeasure,
    ClassMeasure,
    EventMeasure,
    Measure,
    Options,
    RowMeasure,
)
from calibcore.metrics.pairwise import event_skce, event_skce_test, mmce, skce, skce_test
from calibcore.metrics.plain import (
    accuracy,
    certain_misses,
    hit_rate,
    mean_gap,
    mean_score,
    observed_expected_ratio,
    top_r_accuracy,
)
from calibcore.metrics.proper import brier, event_brier, event_nll, nll
from calibcore.metrics.registry import METRICS
from calibcore.metrics.regression import calibration_intercept, calibration_slope
from calibcore.metrics.remarks import (
    EntropyIsNll,
    KsIsMeanGap,
    entropy_is_nll,
    ks_is_mean_gap,
    mean_entropy,
)
from calibcore.metrics.sweep import sweep_ece
from calibcore.probabilities import PROBABILITY_FLOOR

__all__ = [
    "METRICS",
    "PROBABILITY_FLOOR",
    "ChangeMeasure",
    "ClassMeasure",
    "Decomposition",
    "EntropyIsNll",
    "EventMeasure",
    "KernelTest",
    "KsIsMeanGap",
    "Measure",
    "Options",
    "RowMeasure",
    "accuracy",
    "auroc",
    "brier",
    "calibration_gain",
    "calibration_intercept",
    "calibration_slope",
    "certain_misses",
    "changed_decisions",
    "classwise_ece",
    "classwise_errors",
    "classwise_ks",
    "classwise_ks_errors",
    "corp",
    "debiased_ece",
    "ece",
    "entropy_is_nll",
    "event_brier",
    "event_nll",
    "event_skce",
    "event_skce_test",
    "hit_rate",
    "kde_classwise_ece",
    "kde_ece",
    "ks_error",
    "ks_is_mean_gap",
    "max_classwise_ece",
    "max_classwise_ks",
    "mce",
    "mean_entropy",
    "mean_gap",
    "mean_score",
    "mmce",
    "nll",
    "observed_expected_ratio",
    "skce",
    "skce_test",
    "smooth_ece",
    "sweep_ece",
    "top_r_accuracy",
]
