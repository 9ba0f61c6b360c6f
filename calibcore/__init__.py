"""Fractile's core: calibration mathematics on numpy and scipy alone."""

from calibcore.cumulative import CumulativeCurves, cumulative_curves, ks_error
from calibcore.data import EventScores, LogitSet, Split, split_rows
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import AuditResult, audit
from calibcore.events import OneClass, TopR, WithinTopR

__all__ = [
    "AuditResult",
    "CalibrationInputError",
    "CumulativeCurves",
    "EventScores",
    "LogitSet",
    "OneClass",
    "Split",
    "TopR",
    "WithinTopR",
    "audit",
    "cumulative_curves",
    "ks_error",
    "split_rows",
]
