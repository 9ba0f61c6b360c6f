"""The only place that keeps results; everything is keyed by digest and settings."""

from dashboard.compute.closer import Screening, closer_look, screen
from dashboard.compute.files import (
    SourceFile,
    ValuesChoice,
    read_files,
    settle_imports,
    split_of,
)
from dashboard.compute.fits import (
    Estimate,
    contestants,
    estimate,
    estimate_contest,
    run_audit,
    run_contest,
)
from dashboard.compute.keep import forget
from dashboard.compute.pictures import SideFigures, draw, draw_sweep

__all__ = [
    "Estimate",
    "Screening",
    "SideFigures",
    "SourceFile",
    "ValuesChoice",
    "closer_look",
    "contestants",
    "draw",
    "draw_sweep",
    "estimate",
    "estimate_contest",
    "forget",
    "read_files",
    "run_audit",
    "run_contest",
    "screen",
    "settle_imports",
    "split_of",
]
