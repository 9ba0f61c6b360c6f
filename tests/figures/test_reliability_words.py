"""What the page of reliability says, score by score: true of the rows, bin by bin."""

import numpy as np
import pytest

from calibcore.metrics import smooth_ece
from calibcore.metrics.binned import BinSweep
from dashboard.texts.badges import HELP
from dashboard.texts.numbers import percent
from dashboard.texts.reliability import (
    bins_caption,
    isotonic_caption,
    plot_caption,
    ranges_help,
    smoothed_caption,
    wander_sentence,
)
from tests.figures.made import blocks, pct, result_of, side_of

# In bins of one fifteenth; the one that is off most has too few rows to count.
MIXED = blocks((0.97, 10, 0), (0.5, 400, 200), (0.9, 600, 300), (0.3, 400, 320))
TRUE = blocks((0.5, 1000, 500), (0.9, 1000, 900))


def test_bins_with_few_rows_are_summed_up_where_together_they_have_enough() -> None:
    few = blocks(*((place / 15 + 0.03, 4, 0) for place in range(5)), (0.9, 980, 882))
    pale = f"together {pct('2.0')} of the rows, mean score {pct('16.3')}, observed {pct('0.0')}"
    assert ranges_help(few, None) == f"{HELP} Pale bins, with fewer rows: {pale}."
    assert ranges_help(TRUE, None) == HELP
    both = ranges_help(few, few)
    assert f"fewer rows: before {pale}; after {pale}." in both
    assert "fewer rows: after together" in ranges_help(TRUE, few)


# Captions -----------------------------------------------------------------------------------


def test_the_caption_of_bins_reads_the_largest() -> None:
    side = blocks((0.5, 300, 240), (0.97, 100, 80))
    interval = f"{pct('95')} CI 75.1\u2013{pct('84.1')}"
    assert bins_caption(side) == (
        f"Largest bin (46.7\u2013{pct('53.3')}, {pct('75.0')} of rows): score {pct('50.0')},"
        f" observed {pct('80.0')} ({interval})."
    )
    said = bins_caption(side, expert=True)
    assert said.startswith("Largest of 15 equal-width bins: 300 of 400 rows, mean score")
    assert said.endswith(f"({interval}, Wilson).")


def test_the_plot_caption_reads_the_largest_bin() -> None:
    assert plot_caption(TRUE).startswith("2 bins with rows; the largest")
    assert f"mean score {pct('90.0')}, observed {pct('50.0')}." in plot_caption(MIXED)
    assert plot_caption(blocks((0.5, 4, 2))).startswith("1 bin with rows;")


def test_the_isotonic_caption_reads_the_result() -> None:
    side = result_of(3000).test.before
    outside = percent(side.corp_outside, 3000)
    assert side.corp_outside > 0.5
    assert isotonic_caption(side) == (
        f"Outside the grey band for {outside} of rows (about {pct('5')} expected if perfectly"
        f" calibrated). Dotted: {pct('95')} confidence band."
    )
    assert isotonic_caption(side, expert=True).endswith("(399 resamples, seed 0).")


def test_the_smoothed_caption_says_the_smooth_ece() -> None:
    side = result_of(3000).test.before
    error = smooth_ece(side.event.scores, side.event.hits)
    assert side.smooth.bandwidth == pytest.approx(error, rel=1e-5)
    said = smoothed_caption(side)
    assert said.startswith(f"Smooth ECE {percent(error, 3000)}. Pale: few rows nearby.")
    assert said.endswith(f"Shaded: {pct('95')} confidence band.")
    assert smoothed_caption(side, expert=True).endswith("(399 resamples, seed 0).")


def test_an_error_below_the_narrowest_kernel_is_not_overstated() -> None:
    side = side_of([0.0] * 20 + [1.0] * 20, [0] * 20 + [1] * 20)
    assert smoothed_caption(side).startswith(f"Smooth ECE at most {pct('0.1')}.")


# The number of bins -------------------------------------------------------------------------


def sweep_of(low: float, high: float) -> BinSweep:
    wide, even = np.full(99, low), np.full(99, low)
    even[40], wide[0] = high, 0.9  # two bins are not counted
    return BinSweep(np.arange(2, 101), wide, even, wide, ks_error=0.03)


def test_how_far_the_error_wanders() -> None:
    assert wander_sentence(sweep_of(0.05, 0.054), sweep_of(0.01, 0.026), 3_000) == (
        "The choice of bins alone moves the ECE by up to 0.4 percentage points before and up to 1.6"
        " after calibration. The KS error needs no bins."
    )
    said = wander_sentence(sweep_of(0.05, 0.05000001), None, 3_000)
    assert "moves the ECE by less than 0.1 percentage points. The KS" in said
    assert "by less than 0.01 perc" in wander_sentence(sweep_of(0.05, 0.05), None, 60_000)
