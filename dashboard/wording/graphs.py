"""What stands over and under the four graphs, and under the spline."""

import math

import numpy as np

from calibcore.cumulative import CumulativeCurves
from calibcore.evaluation import GRAPH_KNOTS, Side
from calibcore.reliability import SplineFit
from dashboard.wording.glossary import HOW_TO_READ
from dashboard.wording.numbers import (
    detected_points,
    null_source,
    of_100,
    p_words,
    percent,
    points,
)

TOO_FEW = "Too few rows for this graph."

BOTH_SETS = "Both sets"
BOTH_SETS_HELP = (
    "Shows the calibration set and the test set one above the other. Which of them the verdict is"
    " about is set by **Judge on** in the panel on the left."
)
SECOND_EVENT = "Compare with"
SECOND_EVENT_HELP = "Draws the same graphs of another event below, with the same calibrator."
NO_SECOND = "No second event"
WHICH = "Graphs"
WHICH_HELP = "Of two events on two sets, two graphs of each are shown at once."
FRACTILE_CURSOR = "Mark the rows at a fractile (%)"
CURSOR_HELP = (
    "Puts a mark on the same rows in every graph. At fractile 25% a quarter of the rows score no"
    " higher. Off is the left end."
)

_HOW_TO_READ = f"""
**(a)** Over the fractile k / N of rows sorted by score: cumulative score H and cumulative hits G,
each divided by N. KS error: the largest |G - H|, at the black mark. Rows of equal score are one
point.

**(b)** G and H over H, so that H is the identity; slopes are ratios of frequency to score.

**(c)** Derivatives of (a): the score at each fractile, and the derivative of a least-squares cubic
spline with {GRAPH_KNOTS} knots through G. It cannot resolve features narrower than its knots.

**(d)** The same spline over the score: P(hit | score) against the identity.

**Grey.** Null band, H0: P(hit | score) = score. Simultaneous 95% in (a) and (b), from the Brownian
limit with variance sum s (1 - s) / N^2, or a Poisson tail where few misses or hits are expected;
pointwise 95% in (c) and (d), from the linear map of the spline.

**Bins.** Equal width; whisker: Wilson, 95%, a bin by itself. Bins with less than 1% of the rows
are pale. **Isotonic (CORP).** PAV fit with its pointwise consistency band under H0, and a
confidence band. **Smoothed.** Reflected Gaussian kernel whose bandwidth equals the smooth ECE; the
reference is the kernel mean of the scores, so the bias of the kernel at 0 and 1 is on both lines.
"""

FIT_HEADING = "The spline itself"
FIT_NOTE = (
    "The number of knots, and how the spline ends, are set in the panel on the left, below the"
    " calibrator."
)
FIT_LINK = "What it makes of each score"


def how_to_read(*, expert: bool = False) -> str:
    """Say how the graphs and the diagrams are read, for Markdown."""
    return _HOW_TO_READ if expert else HOW_TO_READ


def side_title(side: Side, set_name: str = "", *, expert: bool = False) -> str:
    """Give the title over the four graphs: KS error, the event's probability, and the set."""
    n_samples, curves = side.event.n_samples, side.curves
    seen = percent(float(curves.cum_hits[-1]), n_samples)
    error = f"KS error {percent(curves.ks_error, n_samples)}"
    if expert:
        error += f" ({p_words(curves.ks_p_value)})"
    return f"{error}, probability {seen}{f' ({set_name})' if set_name else ''}"


def band_note(side: Side, *, expert: bool = False) -> str:
    """Say what the grey region of the four graphs is."""
    cases = of_100(side.null.level)
    if expert:
        level = f"{100 * side.null.level:.0f}%"
        return (
            f"Grey: {level} band under perfect calibration, simultaneous in (a) and (b)"
            f" ({null_source(side.curves)}), pointwise in (c) and (d) (spline with {GRAPH_KNOTS}"
            " knots)."
        )
    return f"Grey: where a perfect model of this size would stay in {cases} cases."


def cumulative_caption(side: Side, *, expert: bool = False) -> str:
    """Say what graph (a) shows."""
    curves, n_samples = side.curves, side.event.n_samples
    where = percent(curves.ks_fractile, n_samples)
    ahead = _ahead(curves, curves.ks_index)
    near = detected_points(side.null.simultaneous, n_samples)
    if expert:
        level = f"{100 * side.null.level:.0f}%"
        return (
            f"KS {percent(curves.ks_error, n_samples)} at fractile {where}, {ahead}; {level} limit"
            f" {near}. Kuiper {percent(curves.kuiper, n_samples)}."
        )
    return (
        f"Widest gap {points(curves.ks_error, n_samples)}, at fractile {where}, {ahead}; of a"
        f" perfect model, at most {near}."
    )


def warped_caption(side: Side, *, expert: bool = False) -> str:
    """Say what graph (b) shows."""
    curves, n_samples = side.curves, side.event.n_samples
    claimed, seen = float(curves.cum_score[-1]), float(curves.cum_hits[-1])
    said, was = percent(claimed, n_samples), percent(seen, n_samples)
    if expert:
        gap = points(claimed - seen, n_samples, signed=True)
        return f"Calibration-in-the-large {gap}: mean score {said}, observed frequency {was}."
    return f"Claimed in all {said}, happened {was}."


def fractile_caption(side: Side, *, expert: bool = False) -> str:
    """Say what graph (c) shows."""
    if side.frequency is None:
        return TOO_FEW
    # Cut, not rounded: at least half of the rows do score this high.
    steps = 1_000 if side.event.n_samples < 50_000 else 10_000
    median = math.floor(float(np.median(side.event.scores)) * steps) / steps
    said = percent(median, side.event.n_samples)
    if expert:
        return (
            f"Slope of (a) by a least-squares spline of {GRAPH_KNOTS} knots. Median score {said}."
        )
    return f"Half of the rows score {said} or more."


def score_caption(side: Side, *, expert: bool = False) -> str:
    """Say what graph (d) shows."""
    frequency = side.frequency
    if frequency is None:
        return TOO_FEW
    gap = points(frequency.mean_gap, side.event.n_samples)
    if expert:
        return f"Mean absolute distance of the score from the spline estimate: {gap}."
    return f"The lines are {gap} apart, averaged over the rows."


def cursor_sentence(side: Side, fractile: float, *, expert: bool = False) -> str:
    """Read off the numbers of the rows at a fractile."""
    curves, n_samples = side.curves, side.event.n_samples
    place = curves.place_at(fractile)
    where, score, claimed, seen = (
        percent(float(values[place]), n_samples)
        for values in (curves.fractile, curves.score, curves.cum_score, curves.cum_hits)
    )
    gap = points(abs(float(curves.gap[place])), n_samples)
    if gap.strip("0. points"):
        gap += f", {_ahead(curves, place)}"
    text = (
        f"At fractile {where}: score {score}, so far claimed {claimed}, happened {seen}, gap {gap}"
    )
    if expert and side.frequency is not None:
        estimate = percent(float(side.frequency.frequency[place - 1]), n_samples)
        text += f"; spline estimate of the frequency {estimate}"
    return f"{text}."


def _ahead(curves: CumulativeCurves, place: int) -> str:
    return "claim ahead" if curves.gap[place] > 0 else "truth ahead"


def fit_caption(fit: SplineFit, *, expert: bool = False) -> str:
    """Say how near the spline comes to what it was fitted to, and what its slope is."""
    n_samples, n_knots = fit.fractile.size, fit.spline.values.size
    farthest = detected_points(fit.farthest, n_samples)
    added = "its slope, added to the score, is" if fit.fit_to == "difference" else "its slope is"
    if expert:
        rms = detected_points(fit.root_mean_square, n_samples)
        return (
            f"Least-squares cubic spline, run-out {fit.spline.runout}, {n_knots} knots evenly"
            f" spaced in fractile; residuals: root mean square {rms}, largest {farthest}."
            f" {added.capitalize()} the calibrated score, before clipping."
        )
    return (
        f"The dashed line through {n_knots} knots stays within {farthest} of what {n_samples:,}"
        f" rows of the calibration set add up to; {added} the calibrated score."
    )
