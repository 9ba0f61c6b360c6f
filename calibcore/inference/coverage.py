"""How often each measure's 95% interval held the truth in simulated data.

Written by ``python -m benchmarks.validation``: percent of the data sets, least and most over models
and sizes; docs/validation.md has all of it.
"""

from collections.abc import Mapping

HELD: Mapping[str, tuple[float, float]] = {
    "ks_error": (95.7, 97.7),
    "kuiper": (96.0, 97.7),
    "classwise_ks": (94.0, 97.0),
    "max_classwise_ks": (93.5, 97.1),
    "ece": (96.2, 98.4),
    "ece_equal_mass": (95.8, 97.6),
    "ece_l2": (94.6, 97.5),
    "debiased_ece": (94.9, 97.2),
    "sweep_ece": (95.8, 97.6),
    "mce": (96.0, 98.3),
    "mce_equal_mass": (96.7, 98.2),
    "classwise_ece": (92.8, 97.7),
    "max_classwise_ece": (92.8, 97.7),
    "classwise_ece_equal_mass": (93.2, 96.5),
    "kde_ece": (91.3, 98.3),
    "kde_ece_l2": (95.2, 97.2),
    "smooth_ece": (95.4, 98.0),
    "mmce": (96.8, 98.1),
    "event_skce": (96.9, 98.0),
    "event_brier": (93.8, 95.4),
    "miscalibration": (94.8, 97.7),
    "discrimination": (93.5, 94.0),
    "uncertainty": (93.6, 95.5),
    "event_nll": (93.3, 94.4),
    "brier": (93.8, 95.4),
    "calibration_gain": (93.8, 95.2),
    "nll": (93.3, 94.4),
    "certain_misses": (100.0, 100.0),
    "mean_score": (94.0, 96.2),
    "hit_rate": (93.6, 95.5),
    "mean_gap": (94.3, 94.9),
    "observed_expected_ratio": (94.2, 95.2),
    "calibration_intercept": (94.3, 94.8),
    "calibration_slope": (93.8, 95.4),
    "auroc": (94.4, 94.5),
    "accuracy": (94.4, 95.6),
    "top_2_accuracy": (94.3, 95.1),
    "top_5_accuracy": (94.4, 95.7),
}
