"""What this many rows can show, and what the number of bins does to it."""

import numpy as np

from calibcore.evaluation import Side
from calibcore.inference import smallest_gap_shown
from calibcore.metrics.binned import BinSweep
from dashboard.wording.numbers import detected_points, percent
from dashboard.wording.rows import rows_of, says_rows

BINS_MATTER = "Sensitivity to bin count"

FEWEST_BINS = 5
"""Bins from which on the caption gives the range of the error; fewer hide more than they show."""

SWEEP_NOTE = "ECE grows with the number of bins even under perfect calibration (grey)."


def power_sentence(side: Side, n_samples: int, *, expert: bool = False) -> str:
    """Return which mean gap this many rows detect."""
    smallest, largest = smallest_gap_shown(side.curves), side.curves.largest_gap
    gap = detected_points(smallest, n_samples)
    if smallest == largest:
        if expert:
            return (
                f"Power: the KS test at 5% finds no shift of the scores of"
                f" {rows_of(n_samples)} with probability 80%; the largest possible is {gap}."
            )
        return (
            f"{rows_of(n_samples).capitalize()} cannot detect even the largest possible gap, {gap},"
            " with 80% power."
        )
    if expert:
        return (
            f"Power: the KS test at 5% finds a shift of all {n_samples:,} scores by {gap}"
            f" with probability 80%."
        )
    return f"{rows_of(n_samples).capitalize()} detect a mean gap of {gap} with 80% power."


@says_rows
def sweep_caption(sweep: BinSweep, n_samples: int) -> str:
    """Return the range of the error over the numbers of bins."""
    shown = sweep.n_bins >= FEWEST_BINS
    both = np.concatenate([sweep.equal_width[shown], sweep.equal_mass[shown]])
    low, high = (percent(float(end), n_samples) for end in (both.min(), both.max()))
    unit = "%"
    found = f"of {low}" if low == high else f"between {low.removesuffix(unit)} and {high}"
    return (
        f"With {FEWEST_BINS} to {sweep.n_bins[-1]} bins the same rows give an ECE {found}. The KS"
        f" error needs no bins: {percent(sweep.ks_error, n_samples)}."
    )
