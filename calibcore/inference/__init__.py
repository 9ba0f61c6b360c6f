"""Uncertainty: intervals, references under perfect calibration, power, many tests at once."""

from calibcore.inference.draws import SideRows
from calibcore.inference.findings import (
    Finding,
    Fits,
    Inference,
    Plan,
    Reference,
    Uncertainty,
    perfect_limits,
)
from calibcore.inference.groups import GroupGaps, group_gaps
from calibcore.inference.infer import infer
from calibcore.inference.intervals import DistanceEstimate, Interval, Mark
from calibcore.inference.multiple_testing import ClassScreen, holm, screen_classes
from calibcore.inference.off_ranges import OffRange, off_ranges
from calibcore.inference.omnibus import Omnibus, ks_by_worst_order, omnibus_test
from calibcore.inference.power import rows_that_show, smallest_gap_shown
from calibcore.inference.trend import Drift, drift_test

__all__ = [
    "ClassScreen",
    "DistanceEstimate",
    "Drift",
    "Finding",
    "Fits",
    "GroupGaps",
    "Inference",
    "Interval",
    "Mark",
    "OffRange",
    "Omnibus",
    "Plan",
    "Reference",
    "SideRows",
    "Uncertainty",
    "drift_test",
    "group_gaps",
    "holm",
    "infer",
    "ks_by_worst_order",
    "off_ranges",
    "omnibus_test",
    "perfect_limits",
    "rows_that_show",
    "screen_classes",
    "smallest_gap_shown",
]
