"""The sentence on drift: never without the unfavourable side."""

from dataclasses import replace

from calibcore.inference import Drift
from dashboard.texts.advice import TOGETHER, drift_line

MONTHS = ("Jan 2025", "Feb 2025", "Mar 2025")
FOUND = Drift(0.001, -4.0, 2, 0.003, -0.041, 400, 300, 1000, 0)
NOT_FOUND = replace(FOUND, p_value=0.3)


def test_the_drift_is_named_with_its_month_and_sizes() -> None:
    size = "since Mar 2025 scores are too low by 4.1 percentage points; until then, too high by 0.3"
    assert drift_line("day", MONTHS, (FOUND, None)) == (
        f"**Drift over day:** {size} percentage points."
    )
    both = drift_line("day", MONTHS, (FOUND, FOUND))
    assert both == (
        f"**Drift over day before calibration:** {size} percentage points."
        f" It remains after calibration: {size} percentage points."
    )
    # Of each side its own period and sizes.
    less = replace(FOUND, since=1, gap_since=-0.02)
    assert "remains after calibration: since Feb 2025 scores are too low by 2.0" in drift_line(
        "day", MONTHS, (FOUND, less)
    )
    alone = drift_line("day", MONTHS, (FOUND, None), alone=True)
    assert alone == f"**Drift over day:** {size} percentage points. {TOGETHER}"
    assert drift_line("day", MONTHS, (FOUND, NOT_FOUND)).endswith("drift not detected.")
    assert drift_line("day", MONTHS, (NOT_FOUND, FOUND)).startswith(
        "**Drift over day after calibration:** since Mar"
    )
    assert "(p = 0.001)" in drift_line("day", MONTHS, (FOUND, None), expert=True)


def test_no_drift_is_none_detected() -> None:
    assert drift_line("a_b", MONTHS, (NOT_FOUND, None)) == ("**Drift over a\\_b:** none detected.")
    assert drift_line("day", MONTHS, (NOT_FOUND, NOT_FOUND)).endswith(
        "none detected, before or after calibration."
    )
