"""What reliability diagrams show: captions, and what stands below them."""

from collections.abc import Callable

import numpy as np

from calibcore.evaluation import Comparison, Side
from calibcore.metrics.binned import BinSweep
from calibcore.reliability import Band
from calibcore.reliability.bins import LEAST_SHARE
from calibcore.reliability.smooth import LEAST_BANDWIDTH
from dashboard.texts.badges import HELP
from dashboard.texts.events import EventWords
from dashboard.texts.numbers import (
    ci,
    detected_points,
    detected_pp,
    listing,
    measured,
    p_words,
    percent,
    span,
)
from dashboard.texts.power import FEWEST_BINS, SWEEP_NOTE
from dashboard.texts.rows import rows_of, says_rows

DIAGRAM_LABEL = "Reliability diagram as"
DIAGRAM_HELP = (
    "**Bins**: height is the observed frequency, the dot the mean score, the hatched part their"
    " gap. The error bar is a 95% CI; bins with less than 1% of the rows are pale.\n\n"
    "**Plot**: the same bins as points, larger with more rows.\n\n"
    "**Isotonic (CORP)**: the best increasing step function, without bins. Outside the grey band,"
    " chance is an unlikely explanation.\n\n"
    "**Smoothed**: averages over nearby rows. The width of the average is the smooth ECE.\n\n"
    "**Belt** (GiViTI calibration belt): a polynomial in the log-odds, with its 80% and 95% belts."
    " Where a belt leaves the diagonal, the calibration test rejects at that level."
)
SWEEP_HELP = f"{SWEEP_NOTE} The number of bins is set under **Settings**."

_LONGEST_AXIS = 30


_BELOW = {"ece": "ECE", "ks_error": "KS error", "accuracy": "accuracy"}


def panel_line(compare: Callable[[str], Comparison], n_samples: int, *, after: bool = True) -> str:
    """Return the figures of one side below its diagram, by the comparison of each key."""
    parts = []
    for key, name in _BELOW.items():
        row = compare(key)
        value = row.after if after else row.before
        if value is not None:
            parts.append(f"{name} {measured(row, value, n_samples)}")
    return " \u00b7 ".join(parts)


def ranges_help(before: Side, after: Side | None) -> str:
    """Return how ranges are found, and what bins with few rows show together."""
    pale = [_pale(before)]
    if after is not None:
        named = (("before", pale[0]), ("after", _pale(after)))
        pale = [f"{when} {text}" for when, text in named if text]
    rest = "; ".join(filter(None, pale))
    return f"{HELP} Pale bins, with fewer rows: {rest}." if rest else HELP


@says_rows
def _pale(side: Side) -> str:
    """Return what the bins with few rows show together, if together they have enough."""
    bins, few = side.bins, ~side.binned.telling & (side.bins.counts > 0)
    rows, n_samples = bins.counts[few], side.event.n_samples
    share = rows.sum() / n_samples
    if share < LEAST_SHARE:
        return ""
    mean_score, observed = (
        percent(float(np.average(mean[few], weights=rows)), n_samples)
        for mean in (bins.mean_score, bins.frequency)
    )
    together = percent(float(share), n_samples)
    return f"together {together} of the rows, mean score {mean_score}, observed {observed}"


def of_event(title: str, *, event: EventWords) -> str:
    """Return a title of the diagram or its axis, the event as the file calls it, as plain text."""
    if not event.named or title != "Observed frequency" or len(event.plain) > _LONGEST_AXIS:
        return title
    return f"Frequency of {event.plain}"


# Captions -----------------------------------------------------------------------------------


@says_rows
def bins_caption(side: Side, *, expert: bool = False) -> str:
    """Return what the diagram in bins shows: its largest bin."""
    bins, n_samples = side.bins, side.event.n_samples
    fullest = int(bins.counts.argmax())
    lower, upper = float(side.binned.lower[fullest]), float(side.binned.upper[fullest])
    interval = ci(percent(lower, n_samples), percent(upper, n_samples))
    if expert:
        return (
            f"Largest of {bins.counts.size} equal-width bins: {_rows_in_fullest(side)},"
            f" {_means_in_fullest(side)} ({interval}, Wilson)."
        )
    edges = (percent(float(bins.edges[fullest + end]), n_samples) for end in (0, 1))
    pale = "" if side.binned.telling[bins.counts > 0].all() else " Pale bars: few rows."
    share = percent(float(bins.counts[fullest] / bins.counts.sum()), n_samples)
    return (
        f"Largest bin ({span(*edges)}, {share} of rows): {_means_in_fullest(side, 'score')}"
        f" ({interval}).{pale}"
    )


@says_rows
def plot_caption(side: Side, *, expert: bool = False) -> str:
    """Return what the reliability plot shows: how many bins, and the largest."""
    filled = int(np.count_nonzero(side.bins.counts))
    means = _means_in_fullest(side)
    if expert:
        of = f"{filled} of {side.bins.counts.size} equal-width bins hold rows"
        return f"{of}; the largest {_rows_in_fullest(side)}, {means}."
    return f"{filled} bin{'' if filled == 1 else 's'} with rows; the largest has {means}."


def _rows_in_fullest(side: Side) -> str:
    return f"{side.bins.counts.max():,.0f} of {rows_of(side.event.n_samples)}"


def _means_in_fullest(side: Side, name: str = "mean score") -> str:
    bins, n_samples = side.bins, side.event.n_samples
    fullest = int(bins.counts.argmax())
    mean_score, observed = (
        percent(float(means[fullest]), n_samples) for means in (bins.mean_score, bins.frequency)
    )
    return f"{name} {mean_score}, observed {observed}"


@says_rows
def isotonic_caption(side: Side, *, expert: bool = False) -> str:
    """Return what the isotonic reliability curve shows: how much of it is outside its band."""
    band, n_samples = side.corp.consistency, side.event.n_samples
    outside = percent(side.corp_outside, n_samples)
    by_chance, level = f"about {100 * (1 - band.level):.0f}% expected", f"{100 * band.level:.0f}%"
    if expert:
        return (
            f"Isotonic regression (PAV): outside the pointwise {level} consistency band for"
            f" {outside} of rows ({by_chance} under H0). Dotted: {level} confidence band"
            f" ({_resamples(band)})."
        )
    return (
        f"Outside the grey band for {outside} of rows ({by_chance} if perfectly calibrated)."
        f" Dotted: {level} confidence band."
    )


@says_rows
def smoothed_caption(side: Side, *, expert: bool = False) -> str:
    """Return what the smoothed reliability curve shows: the smooth ECE."""
    smooth, n_samples = side.smooth, side.event.n_samples
    # The kernel is as wide as the error itself, unless that is too small.
    error = f"{detected_pp(smooth.bandwidth, n_samples).removesuffix(' pp')}%"
    most = "at most " if smooth.bandwidth < 1.01 * LEAST_BANDWIDTH else ""
    level = f"{100 * smooth.confidence.level:.0f}%"
    if expert:
        return (
            f"Smooth ECE and bandwidth of the Gaussian kernel: {most}{error}. Shaded: pointwise"
            f" {level} bootstrap band ({_resamples(smooth.confidence)})."
        )
    return f"Smooth ECE {most}{error}. Pale: few rows nearby. Shaded: {level} confidence band."


def _resamples(band: Band) -> str:
    return f"{band.n_resamples:,} resamples, seed {band.seed}"


# The number of bins -------------------------------------------------------------------------


def wander_sentence(before: BinSweep, after: BinSweep | None, n_samples: int) -> str:
    """Return how far the number and kind of bins alone move the error."""
    moves = _moves(before, n_samples)
    if after is not None:
        unit = " percentage points"
        moves += f" before and {_moves(after, n_samples).removesuffix(unit)} after calibration"
    return f"The choice of bins alone moves the ECE by {moves}. The KS error needs no bins."


def _moves(sweep: BinSweep, n_samples: int) -> str:
    width, least = _wander(sweep), 0.001 if n_samples < 50_000 else 0.0001
    start = "up to" if width >= least else "less than"
    return f"{start} {detected_points(max(width, least), n_samples)}"


def _wander(sweep: BinSweep) -> float:
    """Return the distance between the lowest and the highest error."""
    shown = sweep.n_bins >= FEWEST_BINS
    both = np.concatenate([sweep.equal_width[shown], sweep.equal_mass[shown]])
    return float(both.max() - both.min())


_BELT_LEVEL = 0.95

NO_BELT = (
    "No belt: it needs 10 rows of each outcome at least (or as many clusters with some), and scores"
    " that do not separate them completely."
)


@says_rows
def belt_caption(side: Side, *, expert: bool = False) -> str:
    """Return what the calibration belt shows: where it leaves the diagonal."""
    belt, n_samples = side.belt, side.event.n_samples
    if belt is None:
        return NO_BELT
    ranges: dict[bool, list[str]] = {True: [], False: []}
    for low, high, above in belt.departures(_BELT_LEVEL):
        ranges[above].append(span(percent(low, n_samples), percent(high, n_samples)))
    sides = {True: "above the diagonal (scores too low)", False: "below it (scores too high)"}
    if not ranges[True]:
        sides[False] = "below the diagonal (scores too high)"
    texts = [f"{sides[above]} at {listing(spans)}" for above, spans in ranges.items() if spans]
    text = ", ".join(texts) if texts else "holds the diagonal at all scores"
    text = f"The 95% belt is {text}." if texts else f"The 95% belt {text}."
    if not expert:
        return text
    test = "likelihood-ratio test" if side.counted.design is None else "test by robust covariance"
    return (
        f"{text} Degree {belt.degree} by forward selection from 1; {test} of the diagonal:"
        f" {p_words(belt.p_value)}, which counts the selection."
    )
