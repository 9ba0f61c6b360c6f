"""How often each measure's 95 % interval held the truth in simulated data.

Written by ``python -m benchmarks.validation``: percent of the data sets, least and most over models
and sizes; docs/validation.md has all of it.
"""

from collections.abc import Mapping

HELD: Mapping[str, tuple[float, float]] = {
    "ks_error": (93.3, 97.2),
    "kuiper": (93.6, 97.2),
    "ece": (95.5, 97.6),
    "ece_equal_mass": (95.0, 97.5),
    "ece_l2": (94.6, 97.3),
    "debiased_ece": (94.9, 97.3),
    "sweep_ece": (95.2, 97.6),
    "mce": (94.6, 97.9),
    "classwise_ece": (93.0, 97.6),
    "max_classwise_ece": (93.0, 97.6),
    "kde_ece": (91.3, 98.0),
    "smooth_ece": (94.8, 98.0),
    "event_brier": (93.9, 95.5),
    "miscalibration": (94.2, 97.8),
    "discrimination": (93.4, 93.9),
    "uncertainty": (98.4, 99.5),
    "event_nll": (93.3, 94.9),
    "brier": (93.9, 95.5),
    "calibration_gain": (93.4, 95.3),
    "nll": (93.3, 94.9),
    "certain_misses": (100.0, 100.0),
    "mean_score": (94.8, 96.2),
    "hit_rate": (93.6, 94.9),
    "mean_gap": (94.3, 94.8),
    "observed_expected_ratio": (94.1, 94.7),
    "calibration_intercept": (94.2, 94.8),
    "calibration_slope": (93.7, 95.1),
    "auroc": (93.7, 94.3),
    "accuracy": (93.7, 94.6),
    "top_2_accuracy": (93.4, 94.6),
    "top_5_accuracy": (93.7, 95.1),
}
