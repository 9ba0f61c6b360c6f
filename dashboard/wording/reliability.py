"""What reliability diagrams show, score by score."""

from itertools import groupby

import numpy as np

from calibcore.evaluation import Side
from calibcore.metrics.bins import BinSweep
from calibcore.reliability import BinnedReliability
from calibcore.reliability.intervals import LEAST_SHARE
from dashboard.wording.numbers import detected_points, percent, points, rows_of
from dashboard.wording.reach import FEWEST_BINS

DIAGRAM_HEADING = "Score by score"
BINS_LABEL = "Bins"
BINS_HELP = "The same number as under Settings on the left: of the diagrams, ECE and MCE."

_LEAST = f"{100 * LEAST_SHARE:g}%"
_MOST_RANGES = 2


def scores_sentence(before: Side, after: Side | None, *, expert: bool = False) -> str:
    """Say at which scores the model is off, and where it is off most.

    Parameters
    ----------
    before : Side
        Before calibration.
    after : Side or None
        After calibration; None where nothing is changed.
    expert : bool, default False
        Whether the words are for those who know the terms.

    Notes
    -----
    Bins count that hold at least `LEAST_SHARE` of the rows, and are off where the interval of their
    frequency leaves out their mean score.
    """
    say = _expert_clause if expert else _clause
    first = say(before)
    if after is None:
        return f"{first[0].upper()}{first[1:]}."
    return f"Before calibration, {first}; after it, {say(after)}."


def counted_note(before: Side, after: Side | None) -> str:
    """Say which bins the sentence is about, how many chance puts into it, and what is left out."""
    was, pale = _off_of(before.binned), [_pale(before)]
    if after is not None:
        was += f" before and {_off_of(after.binned)} after calibration"
        named = (("before calibration", pale[0]), ("after it", _pale(after)))
        pale = [f"{when} {found}" for when, found in named if found]
    rest = ", ".join(filter(None, pale))
    text = (
        f"Counted are bins with at least {_LEAST} of the rows whose whisker leaves out their mean"
        f" score: {was}. Chance alone does that to about"
        f" {100 * (1 - before.binned.level):.0f} of 100 bins."
    )
    return f"{text} Paler bins have fewer rows: {rest}." if rest else text


def _pale(side: Side) -> str:
    """Say what the bins with few rows show together, if together they have enough."""
    bins, few = side.bins, ~side.binned.telling & (side.bins.counts > 0)
    rows, n_samples = bins.counts[few], side.event.n_samples
    share = rows.sum() / n_samples
    if share < LEAST_SHARE:
        return ""
    claimed, seen = (
        percent(float(np.average(mean[few], weights=rows)), n_samples)
        for mean in (bins.mean_score, bins.frequency)
    )
    return f"together {percent(float(share), n_samples)}, claimed {claimed}, happened {seen}"


def plot_caption(side: Side, *, expert: bool = False) -> str:
    """Say what the reliability plot shows."""
    bins, n_samples = side.bins, side.event.n_samples
    filled = int(np.count_nonzero(bins.counts))
    count = "One point" if filled == 1 else f"{filled} points, each"
    fullest = int(bins.counts.argmax())
    if expert:
        return (
            f"Mean score and observed frequency of the {filled} of {bins.counts.size} bins of equal"
            " width that hold rows, the larger the more; the fullest:"
            f" {bins.counts[fullest]:,.0f} of {rows_of(n_samples)}, mean score"
            f" {percent(float(bins.mean_score[fullest]), n_samples)}, frequency"
            f" {percent(float(bins.frequency[fullest]), n_samples)}."
        )
    return (
        f"{count} a bin of scores, the larger the more rows it holds; the largest is at a mean"
        f" score of {percent(float(bins.mean_score[fullest]), n_samples)}, observed"
        f" {percent(float(bins.frequency[fullest]), n_samples)}. Below the diagonal, scores are too"
        " high."
    )


def wander_sentence(before: BinSweep, after: BinSweep | None, n_samples: int) -> str:
    """Say how far the choice of bins alone moves the error."""
    moves = _moves(before, n_samples)
    if after is not None:
        moves += f" before and by {_moves(after, n_samples)} after calibration"
    return f"The choice of bins alone moves the ECE by {moves}; the KS error has no bins to choose."


def _moves(sweep: BinSweep, n_samples: int) -> str:
    found, least = _wander(sweep), 0.001 if n_samples < 50_000 else 0.0001
    up_to = points(found, n_samples)
    return f"up to {up_to}" if found >= least else f"less than {points(least, n_samples)}"


def _wander(sweep: BinSweep) -> float:
    """Give the distance between the lowest and the highest error."""
    shown = sweep.n_bins >= FEWEST_BINS
    both = np.concatenate([sweep.equal_width[shown], sweep.equal_mass[shown]])
    return float(both.max() - both.min())


def _off_of(binned: BinnedReliability) -> str:
    telling = binned.telling
    return f"{np.count_nonzero(binned.off[telling]):,} of {np.count_nonzero(telling):,}"


def _clause(side: Side) -> str:
    binned, n_samples = side.binned, side.event.n_samples
    if not binned.off[binned.telling].any():
        return "no bin is off by more than chance explains"
    worst = _worst(binned)
    claimed, seen, gap = _worst_numbers(binned, worst, n_samples)
    high = "high" if binned.off[worst] > 0 else "low"
    where = _places(binned)
    only = np.count_nonzero(binned.off[binned.telling]) == 1
    most = "" if only else f", most of all from {_range(binned, worst, worst)}"
    return f"scores are {where}{most}: claimed {claimed}, happened {seen}, {gap} too {high}"


def _expert_clause(side: Side) -> str:
    binned, n_samples = side.binned, side.event.n_samples
    level = f"{100 * binned.level:.0f}%"
    found = (
        f"the mean score is outside the {level} Wilson interval in {_off_of(binned)} bins with at"
        f" least {_LEAST} of the rows"
    )
    if not binned.off[binned.telling].any():
        return found
    worst = _worst(binned)
    claimed, seen, gap = _worst_numbers(binned, worst, n_samples)
    sign = "+" if binned.off[worst] > 0 else "\u2212"
    ends = f"{_end(binned.bins.edges[worst])}, {_end(binned.bins.edges[worst + 1])}"
    low, high = (percent(float(end[worst]), n_samples) for end in (binned.lower, binned.upper))
    return (
        f"{found}; the largest such gap is {sign}{gap}, at scores in ({ends}]% (mean score"
        f" {claimed}, frequency {seen}, interval {low.removesuffix('%')} to {high})"
    )


def _worst(binned: BinnedReliability) -> int:
    """Find the bin with the largest gap among those that are off and hold enough rows."""
    counted = binned.telling & (binned.off != 0)
    return int(np.where(counted, np.abs(binned.bins.gap), -1.0).argmax())


def _worst_numbers(binned: BinnedReliability, worst: int, n_samples: int) -> tuple[str, str, str]:
    """Write mean score, frequency and gap of a bin."""
    score, seen = float(binned.bins.mean_score[worst]), float(binned.bins.frequency[worst])
    gap = detected_points(abs(score - seen), n_samples)
    return percent(score, n_samples), percent(seen, n_samples), gap


def _places(binned: BinnedReliability) -> str:
    """Say where scores are too high and where they are too low, the worst kind first."""
    worst_sign = int(binned.off[_worst(binned)])
    parts = []
    for sign in (worst_sign, -worst_sign):
        runs = [run for found, run in _runs(binned) if found == sign]
        if not runs:
            continue
        if len(runs) <= _MOST_RANGES:
            where = " and ".join(f"from {_range(binned, low, high)}" for low, high in runs)
        else:
            where = f"in {len(runs)} ranges from {_range(binned, runs[0][0], runs[-1][1])}"
        parts.append(f"too {'high' if sign > 0 else 'low'} {where}")
    return ", ".join(parts)


def _runs(binned: BinnedReliability) -> list[tuple[int, tuple[int, int]]]:
    """Join neighbouring bins of one sign; bins with few rows neither join nor part them."""
    told = np.flatnonzero(binned.telling)
    grouped = groupby(told.tolist(), key=lambda place: int(binned.off[place]))
    runs = [(sign, list(places)) for sign, places in grouped]
    return [(sign, (places[0], places[-1])) for sign, places in runs if sign]


def _range(binned: BinnedReliability, first: int, last: int) -> str:
    edges = binned.bins.edges
    return f"{_end(edges[first])} to {_end(edges[last + 1])}%"


def _end(edge: float) -> str:
    return f"{100 * edge:.1f}".removesuffix(".0")
