"""Decisions and corrected groups by simulation: ``python -m benchmarks.acting``.

docs/validation.md gets how often the intervals of what happens at a cut-off hold the truth, before
and after calibration by folds, and what a correction for each group leaves of the groups' faults.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from benchmarks.omnibus import interval
from benchmarks.validation import MODELS, PERFECT, TWO, write_section
from calibcore import EventScores
from calibcore.calibrators import ByGroup, IsotonicCalibration, PlattScaling, SplineCalibration
from calibcore.calibrators.base import FittedScoreMap, GroupMap, ScoreMap
from calibcore.data import with_groups
from calibcore.decisions import at_cutoff, decision_curve
from calibcore.events import OneClass
from calibcore.fitting import calibrated_scores, fit, fit_folds, prepare
from calibcore.inference import group_gaps, omnibus_test
from calibcore.selective import out_of_fold_accuracy, risk_coverage
from calibcore.splits import deal_folds
from calibcore.validation import Floats, Labels

N_SETS, N_DRAWS = 1000, 200
EVENT = OneClass(1)
MAPS: dict[str, ScoreMap | None] = {
    "None": None,
    "Platt scaling": PlattScaling(),
    "Spline": SplineCalibration(constrained=True),
    "Isotonic": IsotonicCalibration(),
}
SIZES, CUTOFFS = (500, 5000), (0.3, 0.7)
WANTED = (0.9, 0.95)
BY_WARD: dict[str, ScoreMap | GroupMap | None] = {
    "None": None,
    "Platt scaling": PlattScaling(),
    "By group": ByGroup(PlattScaling()),
}
WARDS, SHIFTS = (0.22, 0.22, 0.2, 0.19, 0.17), np.array([-0.26, -0.26, 0.0, 0.0, 0.65])
"""Share of five wards, and what each adds to the log-odds of the event."""

Test = Callable[[int], tuple[float, ...]]
_X = np.linspace(-7, 7, 20_001)
_DENSITY = norm.pdf(_X, 1) + norm.pdf(_X, -1)
_WEIGHTS = _DENSITY / _DENSITY.sum()
_TRUE = PERFECT.scores(_X)


def _holds(low: float, high: float, truth: float) -> bool:
    return bool(low - 1e-9 <= truth <= high + 1e-9)


def _on_all(
    score_map: ScoreMap | GroupMap | None, rows: EventScores
) -> Callable[[Floats, Labels], Floats]:
    """Return what the calibrator that is fitted on all rows makes of scores in groups."""
    fitted = fit(score_map, prepare(rows, EVENT), None)
    if not isinstance(fitted, FittedScoreMap):
        return lambda scores, _: scores

    def calibrated(scores: Floats, groups: Labels) -> Floats:
        made = with_groups(EventScores(scores, np.zeros(scores.size, int)), groups)
        return calibrated_scores(fitted, prepare(made, EVENT))

    return calibrated


def _by_folds(score_map: ScoreMap | GroupMap | None, rows: EventScores, seed: int) -> EventScores:
    """Return rows with the scores by folds, as the pages evaluate them."""
    if score_map is None:
        return rows
    prepared = prepare(rows, EVENT)
    folded = fit_folds(score_map, prepared, deal_folds(rows, seed=seed), None)
    if not isinstance(folded, FittedScoreMap):
        raise TypeError(folded)
    return EventScores(calibrated_scores(folded, prepared), rows.hits)


def cutoffs(name: str, n_rows: int, cutoff: float, seed: int) -> tuple[bool, ...]:
    """Return whether intervals hold the truth: called, precision, sensitivity, specificity, gain.

    The truth is that of the calibrator fitted on all rows, of infinitely many rows.
    """
    rng = np.random.default_rng([seed, n_rows, 3])
    labels = rng.integers(2, size=n_rows)
    said = MODELS[0].scores(TWO[labels] + rng.normal(size=n_rows))
    rows = EventScores(said, labels)
    after = _by_folds(MAPS[name], rows, seed)
    called = _on_all(MAPS[name], rows)(MODELS[0].scores(_X), np.zeros(_X.size, int)) >= cutoff
    share, right = float(_WEIGHTS @ called), float((_WEIGHTS * _TRUE) @ called)
    events, odds = float(_WEIGHTS @ _TRUE), cutoff / (1 - cutoff)
    found, curve = at_cutoff(after, cutoff), decision_curve(after, [cutoff])
    of_use = right - (share - right) * odds - max(events - (1 - events) * odds, 0.0)
    truths = share, right / share, right / events, 1 - (share - right) / (1 - events)
    seen = found.share_called, found.precision, found.sensitivity, found.specificity
    held = [
        one is not None and _holds(one.low, one.high, truth)
        for one, truth in zip(seen, truths, strict=True)
    ]
    return *held, _holds(float(curve.low[0]), float(curve.high[0]), of_use)


def kept(n_rows: int, wanted: float, seed: int) -> tuple[bool, ...]:
    """Return whether the interval of what a threshold holds, holds what the one of all rows does.

    Beside it, that of the accuracy above that threshold on the rows that chose it.
    """
    rng = np.random.default_rng([seed, n_rows, 4])
    labels = rng.integers(2, size=n_rows)
    said = MODELS[0].scores(TWO[labels] + rng.normal(size=n_rows))
    right = np.where(said >= 0.5, labels, 1 - labels)
    rows = EventScores(np.maximum(said, 1 - said), right)
    mesh = MODELS[0].scores(_X)
    top, true = np.maximum(mesh, 1 - mesh), np.where(mesh >= 0.5, _TRUE, 1 - _TRUE)
    curve = risk_coverage(rows)
    place = curve.lowest_for(wanted)
    held = out_of_fold_accuracy(rows, wanted, deal_folds(rows, seed=seed)).accuracy
    if place is None or held is None:
        return False, False
    above = top >= curve.score[place]
    truth = float((_WEIGHTS * true) @ above / (_WEIGHTS @ above))
    naive = at_cutoff(rows, float(curve.score[place])).precision
    return _holds(held.low, held.high, truth), naive is not None and _holds(
        naive.low, naive.high, truth
    )


def groups(name: str, n_rows: int, seed: int) -> tuple[float, ...]:
    """Return whether all wards' intervals hold, wards said to be off, and the largest true gap.

    Scores are too extreme everywhere, and three of five wards are off besides.
    """
    rng = np.random.default_rng([seed, n_rows, 5])
    ward = rng.choice(len(WARDS), n_rows, p=WARDS)
    true, mesh = rng.normal(-1.6, 0.95, n_rows), np.linspace(-6.5, 3.3, 2001)
    hits = rng.random(n_rows) < expit(true + SHIFTS[ward])
    rows = with_groups(EventScores(_said(true), hits.astype(int)), ward)
    after, calibrated = _by_folds(BY_WARD[name], rows, seed), _on_all(BY_WARD[name], rows)
    found = group_gaps(after.scores, after.hits, [ward], n_draws=N_DRAWS, seed=seed)
    weights = norm.pdf(mesh, -1.6, 0.95)
    gaps = []
    for place, shift in enumerate(SHIFTS):
        scores = calibrated(_said(mesh), np.full(mesh.size, place))
        gaps.append(float(np.average(scores - expit(mesh + shift), weights=weights)))
    truth = np.array(gaps)[found.place]
    held = (found.low - 1e-9 <= truth) & (truth <= found.high + 1e-9)
    return bool(held.all()), int(found.off().sum()), 100 * float(np.abs(gaps).max())


def _said(true: NDArray[np.float64]) -> Floats:
    return np.asarray(expit(-1.75 + 1.3 * (true + 1.6)))


def opposite(off: float, seed: int) -> tuple[bool, ...]:
    """Return what detects the errors of two groups that cancel, and the groups that are found."""
    rng, n_rows = np.random.default_rng([seed, 6]), 2000
    scores, place = 0.15 + 0.7 * rng.beta(2, 2, n_rows), rng.integers(2, size=n_rows)
    hits = rng.random(n_rows) < scores + np.where(place == 0, off, -off)
    whole = omnibus_test(scores, hits, n_draws=N_DRAWS, seed=seed)
    found = group_gaps(scores, hits, [place], n_draws=N_DRAWS, seed=seed)
    seen = whole.part("ks").p_value < 0.05, whole.p_value < 0.05
    return *seen, bool(found.off().any()), bool(found.off().all())


def _cell(column: Sequence[float]) -> str:
    """Write a share of the sets with its interval, or the mean of a number."""
    if isinstance(column[0], bool):
        return interval(int(np.count_nonzero(column)), len(column))
    return f"{np.mean(column):.2f}"


def parts() -> Iterator[tuple[str, list[tuple[str, Test]]]]:
    """Go through the tables: what stands above each, and its lines."""
    some = [(name, n_rows, cutoff) for n_rows in SIZES for name in MAPS for cutoff in CUTOFFS]
    yield (
        INTRODUCTION,
        [(f"{one[0]} | {one[1]:,} | {one[2]}", partial(cutoffs, *one)) for one in some],
    )
    yield (
        HELD,
        [
            (f"{100 * wanted:.0f}% | {n_rows:,}", partial(kept, n_rows, wanted))
            for n_rows in SIZES
            for wanted in WANTED
        ],
    )
    yield (
        GROUPS,
        [
            (f"{name} | {n_rows:,}", partial(groups, name, n_rows))
            for n_rows in (1000, 7400)
            for name in BY_WARD
        ],
    )
    yield OPPOSITE, [(f"{100 * off:.0f}", partial(opposite, off)) for off in (0.06, 0.12)]


def section(n_sets: int, workers: int) -> str:
    """Simulate, and write the section."""
    lines = []
    with ProcessPoolExecutor(workers) as pool:
        for heading, tests in parts():
            lines.append(heading.format(n_sets=n_sets))
            for front, test in tests:
                found = list(pool.map(test, range(n_sets), chunksize=8))
                cells = " | ".join(map(_cell, zip(*found, strict=True)))
                lines.append(f"| {front} | {cells} |")
                print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join([*lines, ""])


INTRODUCTION = """# Decisions and groups

Written by `python -m benchmarks.acting`. Each share is of {n_sets:,} simulated sets, in percent
with its 95% interval.

## At a cut-off

How often 95% intervals hold the truth, for the less calibrated classifier above. After a
calibrator, evaluated by folds, the truth is that of the fit on all rows, of infinitely many rows.
*Gain*: net benefit above the better one of calling all and calling none.

| Calibrator | Rows | Cut-off | Share called | Precision | Sensitivity | Specificity | Gain |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""

HELD = """
## Accuracy that a threshold holds

A threshold is chosen for an accuracy. *By folds*: how often the interval that the Decisions page
gives holds the true accuracy above the threshold that all rows choose; *same rows*: that of the
rows which chose it. Sets in which no threshold reaches the accuracy count as missed.

| Wanted | Rows | By folds | Same rows |
| ---: | ---: | ---: | ---: |"""

GROUPS = """
## Gaps of groups after a calibrator

Scores are too extreme, and three of five wards are off by -10, 4 and 4 percentage points besides.
*All hold*: the wards' intervals hold the true gaps of the fit on all rows, all five at once. *Said
to be off*: wards, on average. *Largest true gap*, in percentage points, on average.

| Calibrator | Rows | All hold | Said to be off | Largest true gap, pp |
| --- | ---: | ---: | ---: | ---: |"""

OPPOSITE = """
## Power where the errors of two groups cancel

2,000 rows in two groups, whose scores are too low and too high by so much.

| Off by, pp | KS test | Joint test | Either group | Both groups |
| ---: | ---: | ---: | ---: | ---: |"""


if __name__ == "__main__":
    write_section(section, N_SETS, __doc__)
