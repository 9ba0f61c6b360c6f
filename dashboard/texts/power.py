"""What this many rows can show, and what the number of bins does to it."""

import numpy as np

from calibcore.evaluation import Side
from calibcore.inference import ks_by_worst_order, smallest_gap_shown
from calibcore.metrics.binned import BinSweep
from calibcore.tally import Tally
from dashboard.texts.numbers import detected_points, percent, span
from dashboard.texts.rows import rows_of, says_rows

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
    text = f"of {low}" if low == high else f"between {low.removesuffix(unit)} and {high}"
    return (
        f"With {FEWEST_BINS} to {sweep.n_bins[-1]} bins the same rows give an ECE {text}. The KS"
        f" error needs no bins: {percent(sweep.ks_error, n_samples)}."
    )


DECIMALS = (1, 2, 3)
"""Of scores from 0 to 1; of percentages, two fewer."""

MATTERS = 0.1
"""Part of the width of its 95% interval by which equal scores may move the KS error unsaid."""

_WIDTH = 2 * 1.96
"""Width of a 95% interval in standard deviations."""


def rounded_to(scores: Tally) -> int | None:
    """Return to how many decimals all scores look rounded; None where they do not.

    >>> from calibcore.tally import tally
    >>> rounded_to(tally([0.25, 0.3], [0, 1])), rounded_to(tally([0.1234, 0.3], [0, 1]))
    (2, None)
    """
    values = scores.scores
    for decimals in DECIMALS:
        scaled = values * 10**decimals
        if np.abs(scaled - np.rint(scaled)).max() < 1e-7 * 10**decimals:
            return decimals
    return None


def rounded_note(side: Side, *, certain: bool = True) -> str:
    """Return what rounded scores leave open in the results; "" where that does not matter.

    Wrong scores of exactly 0 and 1 are left out where they are not ``certain`` to be said here.

    The KS error is mentioned where the order of equal scores, which rounding lost, could move it
    by more than `MATTERS` of the width of its interval under perfect calibration; the NLL where a
    score of exactly 0 or 1 is wrong, as its loss is infinite but for the least probability.
    """
    decimals = rounded_to(side.counted)
    if decimals is None:
        return ""
    doubts, curves, n_samples = [], side.curves, side.event.n_samples
    worst = ks_by_worst_order(curves)
    if worst - curves.ks_error > MATTERS * _WIDTH * curves.null_deviation:
        ends = span(percent(curves.ks_error, n_samples), percent(worst, n_samples))
        doubts.append(f"by the order of equal scores, which is lost, the KS error may be {ends}")
    wrong = _wrong_for_certain(side.counted)
    if wrong and certain:
        doubts.append(
            f"{rows_of(wrong)} {'is' if wrong == 1 else 'are'} wrong with a score of exactly 0% or"
            " 100%, so the NLL would be infinite without a least probability"
        )
    digits = f"{decimals} decimal{'' if decimals == 1 else 's'}"
    return f"Scores are rounded to {digits}: {'; '.join(doubts)}." if doubts else ""


def _wrong_for_certain(counted: Tally) -> int:
    """Count misses at a score of 1 and hits at a score of 0."""
    if (rows := counted.design) is not None:
        return int(np.count_nonzero(rows.scores == 1 - rows.hits))
    scores, misses = counted.scores, counted.counts - counted.hits
    return int(misses[scores == 1].sum() + counted.hits[scores == 0].sum())
