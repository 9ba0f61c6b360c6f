"""How often an event happens at each score: six estimates of the curve, and their bands."""

from calibcore.reliability.bands import Band, NullBand, SplineNullBand, null_band, spline_null_band
from calibcore.reliability.belt import CalibrationBelt, belt_of, calibration_belt
from calibcore.reliability.bins import (
    BinnedReliability,
    Interval,
    binned_of,
    binned_reliability,
    binomial_interval,
    classwise_reliability,
)
from calibcore.reliability.isotonic import CorpReliability, corp_of, corp_reliability
from calibcore.reliability.smooth import SmoothReliability, smooth_of, smooth_reliability
from calibcore.reliability.spline import (
    FitTo,
    FrequencyCurve,
    SplineFit,
    running_totals,
    spline_frequency,
)

__all__ = [
    "Band",
    "BinnedReliability",
    "CalibrationBelt",
    "CorpReliability",
    "FitTo",
    "FrequencyCurve",
    "Interval",
    "NullBand",
    "SmoothReliability",
    "SplineFit",
    "SplineNullBand",
    "belt_of",
    "binned_of",
    "binned_reliability",
    "binomial_interval",
    "calibration_belt",
    "classwise_reliability",
    "corp_of",
    "corp_reliability",
    "null_band",
    "running_totals",
    "smooth_of",
    "smooth_reliability",
    "spline_frequency",
    "spline_null_band",
]
