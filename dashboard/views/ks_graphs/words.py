"""What the gap and the four graphs show, and the fitted spline: captions, how to read them."""

import math

from calibcore.counted import score_quantiles
from calibcore.evaluation import GRAPH_KNOTS, SetResult, Side
from calibcore.metrics.remarks import ks_is_mean_gap
from calibcore.reliability import SplineFit
from calibcore.verdict import detected
from dashboard.texts.glossary import HOW_TO_READ
from dashboard.texts.numbers import detected_pp, measured, null_source, p_words, percent, pp
from dashboard.texts.rows import say_rows, says_rows

TOO_FEW = "Too few rows for this graph."

VIEW = "View"
BOTH_SETS = "Both sets"
BOTH_SETS_HELP = (
    "Shows the calibration set above the test set. The verdict is about the set chosen under"
    " **Evaluate on**."
)
SECOND_EVENT = "Compare with"
SECOND_EVENT_HELP = "Adds the same graphs of another event, with the same calibrator."
NO_SECOND = "No second event"
WHICH = "Graphs"
WHICH_HELP = "With two events on two sets, two graphs of each fit on the page."
FRACTILE_CURSOR = "Mark rows at (%)"
CURSOR_HELP = (
    "Marks the same rows in every graph. At 25%, a quarter of the rows have this score or a lower"
    " one. Off is the left end."
)

IN_EXPERT_WORDS = (("Share of rows", "Fractile of rows"), ("share of rows", "fractile"))
"""What titles say, and what they say to experts."""

_HOW_TO_READ = f"""
**Gap.** H - G of (a) over the fractile (Arrieta-Ibarra et al. 2022). Its slope between two
fractiles is mean score minus observed frequency there.

**(a)** Over the fractile k / N of rows sorted by score: cumulative score H and cumulative outcomes
G, each divided by N (Gupta et al. 2021 call G the cumulative probability). KS error: the largest
|G - H|, at the black mark. Rows of equal score are one point.

**(b)** G and H over H, so that H is the identity; slopes are ratios of frequency to score.

**(c)** Derivatives of (a): the score at each fractile, and the derivative of a least-squares cubic
spline with {GRAPH_KNOTS} knots through G. It cannot resolve features narrower than its knots.

**(d)** The same spline over the score: P(outcome = 1 | score) against the identity.

**Grey.** Null band, H0: P(outcome = 1 | score) = score. Simultaneous 95% in (a) and (b), from the
Brownian limit with variance sum s (1 - s) / N^2, or a Poisson tail where few outcomes of one kind
are expected; pointwise 95% in (c) and (d), from the linear map of the spline.

**Bins.** Equal width; error bars: Wilson, 95%, each bin on its own. Bins with less than 1% of the
rows are pale. **Isotonic (CORP).** PAV fit with its pointwise consistency band (outcomes drawn
under H0), and a confidence band (outcomes drawn from the fit; no narrower than Clopper-Pearson per
step). **Smoothed.** Reflected Gaussian kernel whose bandwidth equals the smooth ECE; the reference
is the kernel mean of the scores, so the bias of the kernel at 0 and 1 is on both lines.
"""

FIT_HEADING = "Fitted spline"
FIT_LINK = "See the calibration map"


@says_rows
def how_to_read(*, expert: bool = False) -> str:
    """Return how the graphs and the diagrams are read, for Markdown."""
    return _HOW_TO_READ if expert else HOW_TO_READ


@says_rows
def titled(title: str, *, expert: bool = False) -> str:
    """Return a title of a graph or of its axis in the words of the reader.

    >>> titled("Share of rows, lowest score first", expert=True)
    'Fractile of rows, lowest score first'
    """
    for plain, meant in IN_EXPERT_WORDS if expert else ():
        title = title.replace(plain, meant)
    return title


def band_note(side: Side, *, expert: bool = False) -> str:
    """Return what the grey region of the four graphs is."""
    level = f"{100 * side.null.level:.0f}%"
    if expert:
        return (
            f"Grey: {level} band under perfect calibration, simultaneous in the gap, (a) and (b)"
            f" ({null_source(side.curves)}), pointwise in (c) and (d) ({GRAPH_KNOTS}-knot spline)."
        )
    return f"Grey: {level} band if perfectly calibrated."


def errors_note(evaluated: SetResult) -> str:
    """Return the KS error of each side."""
    row, n_samples = evaluated.compare("ks_error"), evaluated.n_samples
    was, now = measured(row, row.before, n_samples), measured(row, row.after, n_samples)
    if not evaluated.calibrated:
        return f"KS error {was}."
    return f"KS error {was} before, {now} after calibration."


def gap_caption(side: Side, *, expert: bool = False) -> str:
    """Return what the graph of the gap shows: how to read its slope, its end, and the band."""
    curves = side.curves
    end = pp(float(curves.gap[-1]), side.event.n_samples, signed=True)
    band = "leaves" if curves.ks_error > side.null.simultaneous else "stays inside"
    if expert:
        return (
            f"Slope: local miscalibration (score \u2212 frequency). End: {end}, the mean gap. It"
            f" {band} the null band.{one_sided(side)}"
        )
    beyond = detected_pp(curves.ks_error - side.null.simultaneous, side.event.n_samples)
    how = f"leaves the grey band by up to {beyond}" if band == "leaves" else f"{band} the grey band"
    return (
        "The line rises where scores are too high, falls where they are too low. It"
        f" {how}. End: mean score minus observed frequency, {end}."
        f"{one_sided(side)}"
    )


def one_sided(side: Side) -> str:
    """Say that the KS error is the mean gap, where the gap grows to the end; else nothing."""
    curves, n_samples = side.curves, side.event.n_samples
    if not ks_is_mean_gap(curves) or curves.ks_error <= side.null.simultaneous:
        return ""
    mean_gap = float(curves.gap[-1])
    ks, gap = (percent(abs(one), n_samples) for one in (curves.ks_error, mean_gap))
    if ks != gap:
        return ""
    way = "high" if mean_gap > 0 else "low"
    as_wide = "is widest at its end"
    if curves.ks_index < curves.gap.size - 1:
        as_wide = f"hardly changes after {percent(curves.ks_fractile, n_samples)} of rows"
    return (
        f" As the gap {as_wide}, where scores are too {way} in total, the KS error, {ks}, equals"
        " the overall gap (Gupta 2021, eq. 8)."
    )


@says_rows
def cumulative_caption(side: Side, *, expert: bool = False) -> str:
    """Return what graph (a) shows: where the gap is largest, and how large chance makes it."""
    curves, n_samples = side.curves, side.event.n_samples
    where = percent(curves.ks_fractile, n_samples)
    gap = pp(float(curves.gap[curves.ks_index]), n_samples, signed=True)
    if detected(side):
        gap += f" (scores too {'high' if curves.gap[curves.ks_index] > 0 else 'low'})"
    limit = detected_pp(side.null.simultaneous, n_samples)
    level = f"{100 * side.null.level:.0f}%"
    if expert:
        return (
            f"KS {percent(curves.ks_error, n_samples)} ({p_words(curves.ks_p_value)}), gap {gap} at"
            f" fractile {where}; {level} limit {limit}. Kuiper {percent(curves.kuiper, n_samples)}."
        )
    return f"Largest gap {gap}, at {where} of rows. {level} limit if perfectly calibrated: {limit}."


def warped_caption(side: Side, *, expert: bool = False) -> str:
    """Return what graph (b) shows: mean score and observed frequency, its two ends."""
    curves, n_samples = side.curves, side.event.n_samples
    mean_score, observed = float(curves.cum_score[-1]), float(curves.cum_hits[-1])
    both = f"Mean score {percent(mean_score, n_samples)}, observed {percent(observed, n_samples)}"
    if expert:
        gap = pp(mean_score - observed, n_samples, signed=True)
        return f"{both}; score \u2212 observed {gap}."
    return f"The lines end at the {both[0].lower()}{both[1:]}."


@says_rows
def fractile_caption(side: Side, *, expert: bool = False) -> str:
    """Return what graph (c) shows: the score in the middle of the rows."""
    if side.frequency is None:
        return say_rows(TOO_FEW)
    # Cut, not rounded: at least half of the rows do score this high.
    steps = 1_000 if side.event.n_samples < 50_000 else 10_000
    median = math.floor(float(score_quantiles(side.event, 0.5)) * steps) / steps
    text = f"Half of the rows score {percent(median, side.event.n_samples)} or more."
    return f"{text} Slopes of (a): {GRAPH_KNOTS}-knot least-squares spline." if expert else text


@says_rows
def score_caption(side: Side, *, expert: bool = False) -> str:
    """Return what graph (d) shows: how far apart the lines are."""
    frequency = side.frequency
    if frequency is None:
        return say_rows(TOO_FEW)
    gap = pp(frequency.mean_gap, side.event.n_samples)
    if expert:
        return f"Mean absolute gap between score and spline estimate: {gap}."
    return f"On average over the rows, the lines are {gap} apart."


@says_rows
def cursor_sentence(side: Side, fractile: float, *, expert: bool = False) -> str:
    """Return the numbers of the rows at a fractile."""
    curves, n_samples = side.curves, side.event.n_samples
    place = curves.place_at(fractile)
    where, score, mean_score, observed = (
        percent(float(values[place]), n_samples)
        for values in (curves.fractile, curves.score, curves.cum_score, curves.cum_hits)
    )
    gap = pp(float(curves.gap[place]), n_samples, signed=True)
    rows = f"At fractile {where}: score" if expert else f"Lowest {where} of rows: score up to"
    text = f"{rows} {score}; cumulative score {mean_score}, outcomes {observed}, gap {gap}"
    if expert and side.frequency is not None:
        estimate = percent(float(side.frequency.frequency[place - 1]), n_samples)
        text += f"; spline estimate of the frequency {estimate}"
    return f"{text}."


@says_rows
def fit_caption(fit: SplineFit, *, expert: bool = False) -> str:
    """Return how close the spline comes to what it was fitted to, and what its slope is."""
    n_samples, n_knots = fit.fractile.size, fit.spline.values.size
    farthest = detected_pp(fit.farthest, n_samples)
    slope = "Score + slope" if fit.fit_to == "difference" else "Its slope"
    if expert:
        rms = detected_pp(fit.root_mean_square, n_samples)
        return (
            f"Least-squares cubic spline (run-out {fit.spline.runout}), {n_knots} knots evenly"
            f" spaced in fractile; residuals: root mean square {rms}, largest {farthest}. {slope} ="
            " calibrated score, before clipping."
        )
    return (
        f"The {n_knots}-knot spline fits the cumulative curve of {n_samples:,} calibration rows to"
        f" within {farthest}. {slope} = calibrated score."
    )
