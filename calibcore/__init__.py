"""Fractile's core: calibration mathematics on numpy and scipy alone."""

import logging
from importlib.metadata import version

from calibcore.auditing import AuditResult, audit
from calibcore.cumulative import CumulativeCurves, cumulative_curves, ks_error
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.samples import load_sample
from calibcore.splits import Split, split_rows

__version__ = version("fractile")

# Quiet unless the program that imports it says otherwise, as libraries are.
logging.getLogger("calibcore").addHandler(logging.NullHandler())

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
    "__version__",
    "audit",
    "cumulative_curves",
    "ks_error",
    "load_sample",
    "split_rows",
]
