"""Intervals of changes by simulation: ``python -m benchmarks.changes``.

One set is drawn again and again from a model whose truth is known, and a calibrator fitted and
evaluated on it by folds, or on halves; docs/validation.md gets how often the 95 % interval of the
change holds the change by the calibrator that is fitted on all rows (on one half), on infinitely
many rows.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from benchmarks.validation import MODELS, OUT, PERFECT, TWO, Model, with_section
from calibcore import EventScores
from calibcore.auditing import audit
from calibcore.calibrators import IsotonicCalibration, PlattScaling, SplineCalibration
from calibcore.calibrators.base import FittedScoreMap
from calibcore.evaluation import sides_of
from calibcore.events import OneClass
from calibcore.fitting import prepare
from calibcore.inference import Inference, Interval, Plan, infer
from calibcore.inference.refits import N_DRAWS, refit
from calibcore.metrics import METRICS, EventMeasure
from calibcore.splits import cross_split, split_rows
from calibcore.tally import Tally
from calibcore.validation import Floats

SIZES = {500: 400, 5000: 100}
"""Data sets by their rows."""

CALIBRATORS = {
    "Platt scaling": PlattScaling(),
    "Spline": SplineCalibration(constrained=True),
    "Isotonic": IsotonicCalibration(),
}
KEYS = ("event_nll", "event_brier", "ks_error", "ece", "mean_gap", "calibration_slope")
MEASURES = tuple(m for m in METRICS if m.key in KEYS and isinstance(m, EventMeasure))
N_RESAMPLES = 200
_X = np.linspace(-7, 7, 4001)
_DENSITY = norm.pdf(_X, 1) + norm.pdf(_X, -1)
_WEIGHTS = np.round(_DENSITY / _DENSITY.sum() * 10_000_000)
SOME = 1000
"""Rows on which fits are repeated in place of all."""

WAYS = ("fixed", "refitted", "some", "halves")


class IntervalCheck(NamedTuple):
    """Of one measure in one data set: whether the interval held the truth, and its length."""

    inside: bool
    length: float


def truths(scores: Floats) -> dict[str, float]:
    """Give every measure of infinitely many rows."""
    order = np.argsort(scores, kind="stable")
    different, place = np.unique(scores[order], return_inverse=True)
    weights, hits = _WEIGHTS[order], (_WEIGHTS * PERFECT.scores(_X))[order]
    n_rows, n_hits = (np.bincount(place, each).astype(float) for each in (weights, hits))
    counted = Tally(different, n_rows, n_hits, int(_WEIGHTS.sum()))
    return {measure.key: measure.true_distance(counted, Plan().options) for measure in MEASURES}


def simulate(job: tuple[Model, int, int, str]) -> dict[tuple[str, str], IntervalCheck]:
    """Draw one set, and find the changes in each way."""
    model, n_samples, seed, name = job
    rng = np.random.default_rng([seed, n_samples])
    labels = rng.integers(2, size=n_samples)
    rows = EventScores(model.scores(TWO[labels] + rng.normal(size=n_samples)), labels)
    calibrator, event, scores = CALIBRATORS[name], OneClass(1), model.scores(_X)
    plan, was = Plan(MEASURES, n_resamples=N_RESAMPLES, seed=seed), truths(scores)
    found = {}
    crossed, halves = cross_split(rows, seed=seed), split_rows(rows, seed=seed)
    for split in (crossed, halves):
        result = audit(split, event=event, calibrator=calibrator)
        if not isinstance(result.fitted, FittedScoreMap):
            raise TypeError(calibrator)
        now = truths(result.fitted.predict(scores))
        inferred = infer(*sides_of(split.test, result.test, result.of_test), plan)
        of_way: dict[str, Inference] = {"halves": inferred}
        if result.by_fold is not None:
            of_way = {"fixed": inferred}
            draws, prepared = Plan(MEASURES, n_resamples=N_DRAWS, seed=seed), prepare(rows, event)
            for way, most in (("refitted", n_samples), ("some", SOME)):
                if most <= n_samples:
                    fold = result.by_fold.fold
                    added = refit(prepared, event, calibrator, fold, draws, most=most)
                    of_way[way] = added.widened(inferred)
        for way, one in of_way.items():
            for finding, measure in zip(one.findings, MEASURES, strict=True):
                change, truth = finding.change, now[finding.key] - was[finding.key]
                counted = measure.better != "nearer" or way in ("fixed", "halves")
                if change is not None and counted:
                    found[way, finding.key] = _held(change, truth)
    return found


def _held(change: Interval, truth: float) -> IntervalCheck:
    return IntervalCheck(change.low - 1e-9 <= truth <= change.high + 1e-9, change.high - change.low)


def lines_of(
    model: Model, name: str, sets: Sequence[dict[tuple[str, str], IntervalCheck]], n_samples: int
) -> list[str]:
    """Write one line a measure."""
    lines = []
    for measure in MEASURES:
        cells, lengths = [], {}
        for way in WAYS:
            of_way = [one[way, measure.key] for one in sets if (way, measure.key) in one]
            inside, lengths_of = zip(*of_way, strict=True) if of_way else ((), ())
            cells.append(f"{100 * np.mean(inside):.1f}" if of_way else "")
            lengths[way] = float(np.median(lengths_of)) if of_way else np.nan
        ratio = lengths["halves"] / lengths["refitted"]
        length = "" if math.isnan(ratio) else f"{ratio:.2f}"
        title = model.name.partition(" (")[0].capitalize()
        front = f"| {title} | {n_samples:,} | {name} | {measure.name} |"
        lines.append(f"{front} {' | '.join(cells)} | {length} |")
    return lines


def main(words: Sequence[str] | None = None) -> int:
    """Simulate, and put the table into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.changes", description=__doc__)
    parser.add_argument("--sets", type=int, help="simulated data sets, instead of the usual ones")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(words)
    lines = []
    with ProcessPoolExecutor(options.workers) as pool:
        for n_samples, usual in SIZES.items():
            n_sets = options.sets or usual
            for model in MODELS:
                for name in CALIBRATORS:
                    jobs = [(model, n_samples, seed, name) for seed in range(n_sets)]
                    found = list(pool.map(simulate, jobs, chunksize=4))
                    lines += lines_of(model, name, found, n_samples)
                    print(*lines[-len(MEASURES) :], sep="\n", file=sys.stderr, flush=True)
    table = "\n".join([_HEAD, _RULE, *lines])
    page = OUT.read_text(encoding="utf-8")
    OUT.write_text(with_section(page, f"{INTRODUCTION}\n\n{table}\n"), encoding="utf-8")
    return 0


_HEAD = (
    "| Classifier | Rows | Calibrator | Measure | Fits fixed | Fits repeated"
    f" | on {SOME:,} rows | Halves"
    " | Length of halves |"
)
_RULE = "| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |"

INTRODUCTION = f"""# Changes by cross-validation

Written by `python -m benchmarks.changes`. One set of the data above is calibrated and evaluated in
5 folds. Each figure is the share in percent of simulated sets ({SIZES[500]} of 500 rows,
{SIZES[5000]} of 5,000) whose 95% interval of the change holds the change by the calibrator that is
fitted on all rows, on infinitely many. *Fits fixed*: paired resamples of the rows, the folds' fits
as they are. *Fits repeated*: widened and moved by what {N_DRAWS} resamples with fits of their own
add, *on some rows* where fits are slow. The pages show the latter for losses and distances, fixed
fits for what has a sign, and no interval of the change of the slope. *Halves*: fitted on one half,
evaluated on the other, for the calibrator fitted on that half; *length* is that of its interval, in
median, over the length with fits repeated."""


if __name__ == "__main__":
    sys.exit(main())
