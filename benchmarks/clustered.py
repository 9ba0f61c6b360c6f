"""Test size and interval coverage of rows that belong together, or are weighted.

``python -m benchmarks.clustered`` draws calibrated sets again and again and writes two sections of
docs/validation.md, or one with ``--part``. Each score is the probability of its row's outcome, by
construction; rows of one cluster share a part of what decides it. A naive test, for which rows are
drawn one by one, stands beside.
"""

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import ttest_1samp

from benchmarks.validation import with_section
from calibcore.calibrators import PlattScaling
from calibcore.cumulative import curves_of
from calibcore.data import EventScores, with_design
from calibcore.decisions import at_cutoff, decision_curve
from calibcore.events import OneClass
from calibcore.inference import (
    Interval,
    Plan,
    SideRows,
    group_gaps,
    infer,
    omnibus_test,
    rows_that_show,
)
from calibcore.inference.draws import tally_of
from calibcore.inference.off_ranges import ranges_of
from calibcore.inference.omnibus import omnibus_of
from calibcore.metrics import METRICS, EventMeasure
from calibcore.metrics.measure import Options
from calibcore.prevalence import restated
from calibcore.refinement import loss_parts
from calibcore.reliability import (
    Band,
    SplineNullBand,
    belt_of,
    corp_of,
    null_band,
    smooth_of,
    spline_frequency,
    spline_null_band,
)
from calibcore.reliability.bins import binned_of
from calibcore.splits import Split
from calibcore.tally import expected_tally
from calibcore.validation import Floats

OUT = Path(__file__).parents[1] / "docs" / "validation.md"
N_SETS, N_RESAMPLES = 400, 300
N_CLUSTERS, IN_A_CLUSTER = 60, 10
SHARED = 0.5
"""Part of the variance of what decides an outcome, beside its score, that a cluster shares."""

KEYS = (
    "ks_error",
    "kuiper",
    "ece",
    "event_brier",
    "event_nll",
    "mean_score",
    "hit_rate",
    "mean_gap",
    "calibration_intercept",
    "auroc",
    "miscalibration",
    "discrimination",
    "nll_miscalibration",
    "nll_discrimination",
    "spiegelhalter_z",
    "hosmer_lemeshow",
)
"""Of the measures: each kind of interval, and what takes little time."""

MEASURES = tuple(one for one in METRICS if isinstance(one, EventMeasure) and one.key in KEYS)
_TRUE_ROWS = 400_000


def visits(
    rng: np.random.Generator, *, alike: bool, times: float = 1.0, off: float = 0.0
) -> EventScores:
    """Draw 60 patients with ten visits each; scores may be alike within a patient.

    ``times``: as many patients as usual. ``off``: by which the event is rarer than scores say.
    """
    n_clusters = round(times * N_CLUSTERS)
    shape = (n_clusters, IN_A_CLUSTER)
    x = rng.normal(size=shape)
    if alike:
        x = np.sqrt(0.6) * rng.normal(size=(n_clusters, 1)) + np.sqrt(0.4) * x
    own = np.sqrt(SHARED) * rng.normal(size=(n_clusters, 1))
    own = own + np.sqrt(1 - SHARED) * rng.normal(size=shape)
    hits = x + own > 0 if off == 0 else ndtri(np.maximum(ndtr(x) - off, 0)) + own > 0
    rows = EventScores(ndtr(x).ravel(), hits.ravel())
    return with_design(rows, clusters=np.repeat(np.arange(n_clusters), IN_A_CLUSTER))


def survey(
    rng: np.random.Generator, *, alike: bool, times: float = 1.0, off: float = 0.0
) -> EventScores:
    """Draw rows of a population with unequal chances, of which hits may have the larger ones.

    ``times``, ``off``: as of `visits`.
    """
    size = round(6000 * times)
    x = rng.normal(size=size)
    hits = rng.random(size) < ndtr(x) - off
    chance = np.where(hits, 0.2, 0.06) if alike else rng.choice([0.06, 0.2], size)
    taken = rng.random(size) < chance
    rows = EventScores(ndtr(x)[taken], hits[taken])
    return with_design(rows, sample_weight=1 / chance[taken])


def enriched(rng: np.random.Generator, *, alike: bool) -> EventScores:
    """Draw three rows with the event for each one without, of a population where half have it.

    ``alike``: not used, as scores are those of the population in every set.
    """
    del alike
    x = rng.normal(size=6000)
    hits = rng.random(6000) < ndtr(x)
    places = np.concatenate([np.flatnonzero(hits)[:450], np.flatnonzero(~hits)[:150]])
    rows = EventScores(expit(logit(ndtr(x[places])) + logit(0.75)), hits[places])
    split = Split(rows, rows)
    return restated(split, OneClass(1), 0.5)[0].test


KINDS: dict[str, tuple[Callable[..., EventScores], bool]] = {
    "60 clusters of 10": (visits, False),
    "60 clusters of 10, scores alike within": (visits, True),
    "weights, unlike the outcome": (survey, False),
    "weights that depend on the outcome": (survey, True),
    "a stated prevalence": (enriched, False),
}


def drawn(job: tuple[str, int]) -> EventScores:
    """Draw one set of a kind."""
    make, alike = KINDS[job[0]]
    return make(np.random.default_rng([[*KINDS].index(job[0]), job[1]]), alike=alike)


def truths() -> dict[str, float]:
    """Give every measure of infinitely many calibrated rows."""
    places = (np.arange(_TRUE_ROWS) + 0.5) / _TRUE_ROWS
    expected = expected_tally(places, places)  # the probability of a normal number is uniform
    return {one.key: one.true_distance(expected, Options()) for one in MEASURES}


def tested(job: tuple[str, int]) -> list[bool]:
    """Tell which tests reject one set: KS, Kuiper, joint, any range, t-test, rows taken apart."""
    rows = drawn(job)
    counted = tally_of(rows)
    curves = curves_of(counted)
    return [
        curves.ks_p_value < 0.05,
        curves.kuiper_p_value < 0.05,
        omnibus_of(counted, n_draws=400).p_value < 0.05,
        bool(ranges_of(counted, 15, n_draws=400)),
        _t_test(rows) < 0.05,
        omnibus_test(rows.scores, rows.hits, n_draws=400).p_value < 0.05,
    ]


def _t_test(rows: EventScores) -> float:
    """Test that the gaps of the units that were drawn have a mean of 0: a yardstick."""
    gaps: Floats = rows.scores - rows.hits
    if rows.weights is not None:
        gaps = gaps * rows.weights.values
    if rows.prior is not None:
        parts = [gaps[rows.hits == outcome] for outcome in (0, 1)]
        variance = sum(one.size * one.var(ddof=1) for one in parts)
        return float(2 * ndtr(-abs(gaps.sum()) / np.sqrt(variance)))
    if rows.clusters is not None:
        gaps = np.bincount(rows.clusters, gaps).astype(np.float64)
    return float(ttest_1samp(gaps, 0).pvalue)


def covered(job: tuple[str, int]) -> tuple[list[float], list[float], list[float]]:
    """Give the ends of each measure's interval of one set, and the p-value of its distance."""
    rows = drawn(job)
    side = SideRows(rows)
    found = infer(side, side, Plan(MEASURES, n_resamples=N_RESAMPLES, seed=job[1]))
    known = [one.before for one in found.findings]
    return (
        [one.interval.low if one else np.nan for one in known],
        [one.interval.high if one else np.nan for one in known],
        [one.reference.p_value if one else np.nan for one in known],
    )


# What pages show beside the measures ----------------------------------------------------------

CUTOFF = 0.6
ROOMS = {
    "subgroups": "Any of 7 subgroups, rejects",
    "bins": "Bins of the reliability diagram",
    "net benefit": "Net benefit at 60%",
    "called": "Share flagged at 60%",
    "precision": "Precision at 60%",
    "sensitivity": "Sensitivity at 60%",
    "specificity": "Specificity at 60%",
    "refinement": "Refinement of the log loss",
    "calibration": "Calibration part of the log loss",
}


def room_truths() -> dict[str, float]:
    """Give what holds of infinitely many calibrated rows whose scores are even from 0 to 1."""
    share = (np.arange(_TRUE_ROWS) + 0.5) / _TRUE_ROWS
    above = share >= CUTOFF
    worth = np.where(above, share - (1 - share) * CUTOFF / (1 - CUTOFF), 0.0)
    return {
        "net benefit": float(worth.mean()),
        "called": float(above.mean()),
        "precision": float(share[above].mean()),
        "sensitivity": float(share[above].sum() / share.sum()),
        "specificity": float((1 - share)[~above].sum() / (1 - share).sum()),
        "refinement": 0.5,
        "calibration": 0.0,
    }


def in_rooms(job: tuple[str, int]) -> dict[str, float]:
    """Tell of one set which intervals hold, as a share where there are several."""
    rows, true = drawn(job), room_truths()
    at, parts = at_cutoff(rows, CUTOFF), loss_parts(rows, calibrators={"platt": PlattScaling()})
    curve = decision_curve(rows, [CUTOFF])  # calling all is worth less than calling none
    intervals = {
        "net benefit": Interval(float(curve.low[0]), float(curve.high[0])),
        "called": at.share_called,
        "precision": at.precision,
        "sensitivity": at.sensitivity,
        "specificity": at.specificity,
        "refinement": parts.refinement_interval,
        "calibration": parts.calibration_interval,
    }
    diagram = binned_of(tally_of(rows), n_bins=10, binning="equal_mass")
    means = diagram.bins.mean_score
    return {
        "subgroups": _groups_rejected(rows, job[1]),
        "bins": float(np.mean((diagram.lower <= means) & (means <= diagram.upper))),
        **{
            key: float(one is not None and one.low <= true[key] <= one.high)
            for key, one in intervals.items()
        },
    }


def _groups_rejected(rows: EventScores, seed: int) -> float:
    """Tell whether any of four groups of units and three of rows is found off."""
    if rows.prior is not None:  # of such rows subgroups are screened by the page alone
        return math.nan
    rng = np.random.default_rng([7, seed])
    units = np.arange(rows.n_samples) if rows.clusters is None else rows.clusters
    wards = rng.integers(0, 4, int(units.max()) + 1)[units]
    gaps = group_gaps(
        rows.scores, rows.hits, [wards, rng.integers(0, 3, rows.n_samples)],
        sample_weight=rows.weights, clusters=rows.clusters, n_draws=300,
    )  # fmt: skip
    return float((gaps.adjusted < 0.05).any())


def rooms_section(columns: Mapping[str, Sequence[dict[str, float]]], n_sets: int) -> str:
    """Write the section of what pages show beside the measures."""
    title = "Rows in clusters, and weighted rows: what pages show beside the measures"
    return _shares_section(title, ROOMS_INTRODUCTION.format(sets=n_sets), ROOMS, columns)


def curves_section(columns: Mapping[str, Sequence[dict[str, float]]], n_sets: int) -> str:
    """Write the section of curves, and of what rows show."""
    title = "Rows in clusters, and weighted rows: curves and power"
    return _shares_section(title, CURVES_INTRODUCTION.format(sets=n_sets), CURVES, columns)


def _shares_section(
    title: str,
    introduction: str,
    names: Mapping[str, str],
    columns: Mapping[str, Sequence[dict[str, float]]],
) -> str:
    lines = [
        f"# {title}",
        "",
        introduction,
        "",
        f"| Percent | {' | '.join(columns)} |",
        f"| --- | {' | '.join(['---:'] * len(columns))} |",
    ]
    for key, name in names.items():
        cells = (_percent(np.array([one[key] for one in found])) for found in columns.values())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _percent(marks: Floats | np.floating) -> str:
    return "" if np.isnan(marks).all() else f"{100 * float(np.nanmean(marks)):.1f}"


# Curves, and what so many rows show ------------------------------------------------------------

OFF = 0.05
"""Percentage points by which all scores are too high, of the rows that are to show it."""

CURVES = {
    "consistency": "Isotonic curve, inside its consistency band",
    "isotonic": "Confidence band of the isotonic curve",
    "smoothed": "Band of the smoothed curve",
    "spline": "Spline curve, inside its band",
    "gaps": "Cumulative gap, inside its pointwise band",
    "belt": "Calibration belt, its test rejects",
    "power": "KS test, rejects where rows are said to show 5 points",
}


def in_curves(job: tuple[str, int]) -> dict[str, float]:
    """Tell of one set at which share of the scores bands hold, and what the belt's test says."""
    rows = drawn(job)
    counted = tally_of(rows)
    curves = curves_of(counted)
    corp, smooth, belt = corp_of(counted), smooth_of(counted), belt_of(counted)
    spline = spline_frequency(rows.scores, rows.hits, sample_weight=rows.weights)
    at = corp.confidence.score
    read = np.interp(at, corp.score, corp.frequency)
    near, null = ~np.isnan(smooth.frequency), null_band(curves)
    return {
        "consistency": _inside(read, corp.consistency),
        "isotonic": _inside(at, corp.confidence),
        "smoothed": _inside(smooth.mean_score[near], smooth.confidence, near),
        "spline": _inside(spline.frequency, spline_null_band(curves)),
        "gaps": float(np.mean(np.abs(curves.gap) <= null.pointwise)),
        "belt": float(belt.p_value < 0.05),
    }


def _inside(
    values: Floats, band: Band | SplineNullBand, some: NDArray[np.bool_] | None = None
) -> float:
    """Return the share of the scores at which a band holds."""
    lower, upper = (one if some is None else one[some] for one in (band.lower, band.upper))
    return float(np.mean((lower <= values) & (values <= upper)))


def rejects_where_shown(job: tuple[str, int, float]) -> float:
    """Tell whether the KS test shows that all scores are off, of as many rows as are to show it.

    ``job``: kind, seed, and how many times the usual rows these are.
    """
    (make, alike), rng = KINDS[job[0]], np.random.default_rng([8, [*KINDS].index(job[0]), job[1]])
    return float(
        curves_of(tally_of(make(rng, alike=alike, times=job[2], off=OFF))).ks_p_value < 0.05
    )


def times_needed(kind: str, n_sets: int) -> float:
    """Return how many times the usual rows are said to show it with 80% probability."""
    sets = [drawn((kind, seed)) for seed in range(n_sets)]
    needed = [rows_that_show(curves_of(tally_of(one)), OFF) / one.n_samples for one in sets]
    return float(np.mean(needed))


def curves_of_kind(kind: str, n_sets: int, pool: ProcessPoolExecutor) -> list[dict[str, float]]:
    """Simulate one kind of rows."""
    known = list(pool.map(in_curves, [(kind, seed) for seed in range(n_sets)], chunksize=8))
    if KINDS[kind][0] is enriched:  # its scores would be moved by another share than the true one
        return [{**one, "power": math.nan} for one in known]
    times = times_needed(kind, 40)
    jobs = [(kind, seed, times) for seed in range(n_sets)]
    power = pool.map(rejects_where_shown, jobs, chunksize=8)
    return [{**one, "power": by_test} for one, by_test in zip(known, power, strict=True)]


Column = tuple[str, Floats, Floats, Floats]
"""A kind of rows; how often each test rejects; whether each interval holds; p-values."""


def column_of(kind: str, n_sets: int, pool: ProcessPoolExecutor, true: Floats) -> Column:
    """Simulate one kind of rows."""
    jobs = [(kind, seed) for seed in range(n_sets)]
    rejects = np.mean(list(pool.map(tested, jobs, chunksize=8)), axis=0)
    low, high, p_values = np.array(list(pool.map(covered, jobs, chunksize=4))).swapaxes(0, 1)
    off = 1e-9 * np.maximum(1, np.abs(true))
    holds = np.where(np.isnan(low), np.nan, (low <= true + off) & (true - off <= high))
    return kind, rejects, holds, p_values


def section_of(columns: Sequence[Column], n_sets: int) -> str:
    """Write the section, of the kinds that are simulated."""
    names = ["KS test", "Kuiper test", "Joint test", "Any range"]
    names += ["t-test of the gaps, a yardstick", "Joint test, rows taken apart"]
    heads = " | ".join(one[0] for one in columns)
    rule = " | ".join(["---:"] * len(columns))
    lines = [
        "# Rows in clusters, and weighted rows",
        "",
        INTRODUCTION.format(sets=n_sets, resamples=N_RESAMPLES),
        "",
        f"| Rejects, percent | {heads} |",
        f"| --- | {rule} |",
    ]
    for place, name in enumerate(names):
        shares = " | ".join(_percent(one[1][place]) for one in columns)
        lines.append(f"| {name} | {shares} |")
    lines += [
        "",
        "How often 95% intervals hold the truth, and in brackets how often the measure's own test",
        "at the 5% level rejects:",
        "",
        f"| Holds, percent | {heads} |",
        f"| --- | {rule} |",
    ]
    for place, measure in enumerate(MEASURES):
        cells = []
        for _, _, holds, p_values in columns:
            p_value = p_values[:, place]
            level = _percent(np.where(np.isnan(p_value), np.nan, p_value < 0.05))
            share = _percent(holds[:, place])
            cells.append(f"{share} ({level})".strip() if level else share)
        lines.append(f"| `{measure.key}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> int:
    """Simulate, and put the section into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=N_SETS)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--part", choices=["measures", "rooms", "curves"], help="by default all")
    parser.add_argument("--only", nargs="+", choices=[*KINDS], default=[*KINDS])
    options = parser.parse_args(words)
    true = truths()
    values, columns = np.array([true[one.key] for one in MEASURES]), []
    rooms: dict[str, list[dict[str, float]]] = {}
    shown: dict[str, list[dict[str, float]]] = {}
    with ProcessPoolExecutor(options.workers) as pool:
        for kind in options.only:
            if options.part in (None, "measures"):
                columns.append(column_of(kind, options.sets, pool, values))
                _put(options.out, section_of(columns, options.sets))
            if options.part in (None, "rooms"):
                jobs = [(kind, seed) for seed in range(options.sets)]
                rooms[kind] = list(pool.map(in_rooms, jobs, chunksize=8))
                _put(options.out, rooms_section(rooms, options.sets))
            if options.part in (None, "curves"):
                shown[kind] = curves_of_kind(kind, options.sets, pool)
                _put(options.out, curves_section(shown, options.sets))
    return 0


def _put(out: Path, section: str) -> None:
    page = out.read_text(encoding="utf-8") if out.exists() else ""
    out.write_text(with_section(page, section), encoding="utf-8")


ROOMS_INTRODUCTION = """Written by `python -m benchmarks.clustered`, of the same {sets} sets of each
kind: how often 95% intervals hold the truth, of ten bins of equal mass on average; in the first
line, how often any of four subgroups of whole clusters (or rows) and three of rows is found
miscalibrated at 5%, adjusted for all seven. The calibration part is 0, the end of what is possible,
which an interval from 0 on holds nearly always."""

CURVES_INTRODUCTION = """Written by `python -m benchmarks.clustered --part curves`, of the same
{sets} sets of each kind: at which share of the scores a 95% band, which is of each score on its
own, holds what is true; how often the belt's test rejects at 5%; and how often the KS test does
where all scores are 5 percentage points too high, of as many rows as `rows_that_show` finds for a
power of 80% (by the mean over 40 calibrated sets)."""

INTRODUCTION = """Written by `python -m benchmarks.clustered`: {sets} calibrated sets of each kind,
{resamples} resamples. Outcomes of a cluster share half of what decides them beside the score; where
scores are alike within, these do too. Weighted rows, some 780 of 6,000, have chances of 6% or 20%
of being drawn, which depend on their outcome or on a coin. Of a stated prevalence of 50% there are
450 rows with the event and 150 without. Tests at the 5% level should reject 3 to 7%; the last line
of the first table is of the same rows without their clusters or weights, the line above of a t-test
of the same clusters' (or rows') gaps, which shows what the luck of the sets is."""


if __name__ == "__main__":
    sys.exit(main())
