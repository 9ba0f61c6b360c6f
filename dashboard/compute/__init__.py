"""The only place that keeps results; everything is keyed by digest and settings."""

from dashboard.compute.cache import forget
from dashboard.compute.comparison import (
    ComparisonResults,
    Dealt,
    advice_of,
    contest_closer,
    contestants,
    estimate_contest,
    group_of,
    run_contest,
    seconds_of,
    usual,
)
from dashboard.compute.figures import draw_classes, draw_reliability, draw_slices, draw_sweep
from dashboard.compute.files import (
    SourceFile,
    parsed,
    read_files,
    row_numbers,
    sets_said,
    settle_imports,
    taken_as,
)
from dashboard.compute.fits import Estimate, estimate, run_audit
from dashboard.compute.split import evaluated_split, part_of, split_of
from dashboard.compute.uncertainty import Screening, closer_look, screen

__all__ = [
    "ComparisonResults",
    "Dealt",
    "Estimate",
    "Screening",
    "SourceFile",
    "advice_of",
    "closer_look",
    "contest_closer",
    "contestants",
    "draw_classes",
    "draw_reliability",
    "draw_slices",
    "draw_sweep",
    "estimate",
    "estimate_contest",
    "evaluated_split",
    "forget",
    "group_of",
    "parsed",
    "part_of",
    "read_files",
    "row_numbers",
    "run_audit",
    "run_contest",
    "screen",
    "seconds_of",
    "sets_said",
    "settle_imports",
    "split_of",
    "taken_as",
    "usual",
]
