"""What fits add to the uncertainty of a cross-validated change: rows drawn again, fitted again."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.calibrators.base import Progress
from calibcore.calibrators.method import Calibrator
from calibcore.counted import CountedScores
from calibcore.data import EventScores
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import measure_side, side_of
from calibcore.events import Event
from calibcore.fitting import PreparedSet, fit_folds, prepare
from calibcore.inference import Finding, Inference, Interval, Plan, SideRows
from calibcore.inference.intervals import mark_of
from calibcore.metrics import EventMeasure, Measure, Options
from calibcore.results import result_class
from calibcore.splits import Folds
from calibcore.tally import tally
from calibcore.validation import Floats, Labels

N_DRAWS = 40
"""Resamples by default: the spread of a change is then known to about 11%."""

_WIDENED: dict[str, Literal["lower", "higher"]] = {"lower": "lower", "higher": "higher"}
"""Measures whose changes count the fits, by their better direction.

How far a calibrator moves what has a sign, such as the mean score, differs from fit to fit, but is
known of the one at hand: intervals with fixed fits hold it (docs/validation.md).
"""

_NEITHER = frozenset({"calibration_slope"})
"""Measures of whose change neither is an interval: 43 to 97% and 100% of the simulated sets."""


@result_class
class Refits:
    """What repeating the fits adds to the spread of a cross-validated change."""

    deviation: Mapping[str, float]
    """Standard deviation that fits add, by the measure's key: of all of them together with the
    rows, the part beyond that of the rows alone.
    """
    shift: Mapping[str, float]
    """How much higher the change is on average, in resamples, with fits of their own."""

    def widened(self, inference: Inference) -> Inference:
        """Return what was found with fixed fits, its changes as uncertain as the fits make them.

        Without anything that repeated fits add, no change that counts them is known.
        """
        by_key = {measure.key: measure for measure in inference.plan.measures}
        times = NormalDist().inv_cdf((1 + inference.plan.level) / 2)
        findings = tuple(self._widened(one, by_key[one.key], times) for one in inference.findings)
        return replace(
            inference, findings=findings, fits="repeated" if self.deviation else "unknown"
        )

    def _widened(self, finding: Finding, measure: Measure, times: float) -> Finding:
        change, was, now = finding.change, finding.before, finding.after
        if change is None or was is None or now is None:
            return finding
        if measure.better not in _WIDENED and finding.key not in _NEITHER:
            return finding
        if finding.key not in self.deviation or finding.key in _NEITHER:
            known = finding.mark is not None and bool(self.deviation)
            return replace(finding, change=None, mark="not comparable" if known else None)
        value, added = now.value - was.value, times * self.deviation[finding.key]
        centre = value - self.shift[finding.key]
        wider = Interval(
            centre - math.hypot(value - change.low, added),
            centre + math.hypot(change.high - value, added),
        ).with_value(value)
        mark = finding.mark and mark_of(wider, _WIDENED[measure.better])
        return replace(finding, change=wider, mark=mark)


def refit(  # noqa: PLR0913 - what was fitted, on what, and how closely to look
    prepared: PreparedSet,
    event: Event,
    calibrator: Calibrator,
    fold: Folds,
    plan: Plan | None = None,
    *,
    part: NDArray[np.bool_] | None = None,
    most: int | None = None,
    progress: Progress | None = None,
) -> Refits:
    """Draw the rows again, fit every fold again, and compare the changes with those of fixed fits.

    ``prepared``: the rows with their event and probabilities before calibration. ``event``,
    ``calibrator``: as for `calibcore.audit`. ``fold``: the folds by which the rows were evaluated;
    shape (n_samples,). ``plan``: measures whose changes count, resamples and their seed; all
    measures and 40 by default. ``part``: the rows that are evaluated; all are drawn and fitted on;
    shape (n_samples,). ``most``: of more rows than this, as many are taken at random and treated as
    a set of their own. What they add to the variance, and their shift, are taken to be in inverse
    proportion to the number of rows: it is so for distances, and with more rows even less for
    proper scores. ``progress``: told the share that is done; whatever it raises ends the work.

    Without measures that are not defined in a resample, and without any where half of the resamples
    cannot be fitted.

    A row that is drawn twice stays in one fold, so that no row is calibrated by a fit that has
    seen it; rows in clusters are drawn by cluster. With fixed fits a cross-validated change varies
    too little: what a fit gets wrong shows in the rows that are evaluated, and all other folds are
    fitted on these. Both are found in the same resamples, so that few of them are enough.

    Source: Bates, Hastie and Tibshirani, *Journal of the American Statistical Association* 2024.
    """
    plan = plan or Plan(n_resamples=N_DRAWS)
    rng, n_draws = np.random.default_rng(plan.seed), plan.n_resamples
    measures = tuple(one for one in plan.measures if not one.is_tested_only)
    n_all = prepared.event.n_samples
    n_rows = min(n_all, most or n_all)
    if isinstance(prepared.event, CountedScores):
        cell = prepared.event.taken(rng, n_rows)
        taken, part = prepared.event.cells.rows(cell), None if part is None else part[cell]
        prepared, fold = PreparedSet(taken, taken), fold[cell]
    if n_rows < prepared.event.n_samples:
        some = _some_rows(rng, prepared.event.clusters, n_all, n_rows)
        n_rows, prepared, fold = some.size, prepare(prepared.rows.rows(some), event), fold[some]
        part = None if part is None else part[some]
    before, changes = side_of(prepared, event, None), []
    try:
        after = side_of(prepared, event, fit_folds(calibrator, prepared, fold, None))
    except CalibrationInputError:
        return Refits({}, {})
    if after.probabilities is None:
        measures = tuple(one for one in measures if isinstance(one, EventMeasure))
    for draw in range(n_draws):
        if progress is not None:
            progress(draw / n_draws)
        drawn = _drawn_rows(rng, prepared.event)
        rows = PreparedSet(prepared.rows.rows(drawn), prepared.event.rows(drawn))
        try:
            again = fit_folds(calibrator, rows, fold[drawn], None)
        except CalibrationInputError:
            continue
        places = np.arange(drawn.size) if part is None else np.flatnonzero(part[drawn])
        if not places.size:
            continue
        was, fixed = _drawn(before, drawn[places]), _drawn(after, drawn[places])
        free = _drawn(side_of(rows, event, again), places)
        old, *new = (_values(measures, was, side, event, plan.rough) for side in (was, fixed, free))
        with np.errstate(invalid="ignore"):  # of two that are infinite nothing is known
            changes.append(np.subtract(new, old))
    if 2 * len(changes) < n_draws:
        return Refits({}, {})
    return _compared(np.array(changes), measures, n_rows / n_all)


def _some_rows(
    rng: np.random.Generator, clusters: Labels | None, n_all: int, n_rows: int
) -> NDArray[np.intp]:
    """Take some of the rows at random: of clusters whole ones, as many as have so many rows."""
    if clusters is None:
        return np.sort(rng.permutation(n_all)[:n_rows])
    numbers, own = np.unique(clusters, return_inverse=True)
    order = rng.permutation(numbers.size)
    taken = np.cumsum(np.bincount(own)[order]) <= n_rows
    taken[:2] = True
    return np.flatnonzero(np.isin(own, order[taken]))


def _drawn_rows(rng: np.random.Generator, event: EventScores) -> NDArray[np.intp]:
    """Draw the rows again: one by one, whole clusters, or hits and misses among themselves."""
    n_rows = event.n_samples
    if event.prior is not None:
        parts = (np.flatnonzero(event.hits == outcome) for outcome in (0, 1))
        drawn = [part[rng.integers(part.size, size=part.size)] for part in parts if part.size]
        return np.sort(np.concatenate(drawn))
    if event.clusters is None:
        return np.sort(rng.integers(n_rows, size=n_rows))
    numbers, own = np.unique(event.clusters, return_inverse=True)
    times = np.bincount(rng.integers(numbers.size, size=numbers.size), minlength=numbers.size)
    return np.repeat(np.arange(n_rows), times[own])


def _compared(changes: Floats, measures: Sequence[Measure], share: float) -> Refits:
    """Compare changes in the same resamples, one a row and measure, of a share of all rows."""
    fixed, free = changes.swapaxes(0, 1)
    deviation, shift = {}, {}
    for place, measure in enumerate(measures):
        of_fixed, own = fixed[:, place], free[:, place]
        if np.isfinite(of_fixed).all() and np.isfinite(own).all():
            added = float(own.var(ddof=1) - of_fixed.var(ddof=1))
            deviation[measure.key] = math.sqrt(max(added, 0.0) * share)
            shift[measure.key] = float((own - of_fixed).mean()) * share
    return Refits(deviation, shift)


def _drawn(side: SideRows, drawn: Labels) -> SideRows:
    table, labels = side.probabilities, side.labels
    if table is None or labels is None:
        return SideRows(side.event.rows(drawn))
    return SideRows(side.event.rows(drawn), table[drawn], labels[drawn])


def _values(
    measures: Sequence[Measure], before: SideRows, side: SideRows, event: Event, options: Options
) -> Floats:
    """Measure one side, counted without clusters: it was by these that its rows were drawn."""
    rows = side.event
    counted = tally(rows.scores, rows.hits, rows.rest, rows.weights)
    return np.array(measure_side(measures, before, side, event, options, counted), dtype=np.float64)
