"""Several models of the same rows: their differences, and one cell of their table."""

import math
from collections.abc import Sequence

import numpy as np

from calibcore import validation
from calibcore.calibrators.base import FittedMap, Progress
from calibcore.calibrators.method import Calibrator
from calibcore.cumulative import curves_of
from calibcore.data import EventScores, LogitSet, Rows, check_same_design, with_design
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult, measure_side, side_of
from calibcore.events import Event
from calibcore.fitting import check_pooled, fit, prepare
from calibcore.inference import Interval, Plan, Uncertainty, infer
from calibcore.inference.draws import tally_of
from calibcore.metrics import Measure, Options
from calibcore.results import result_class
from calibcore.splits import AnySplit, calibration_rows
from calibcore.validation import Floats
from calibcore.weights import sampling_weights


def check_same_rows(first: Rows, other: Rows) -> None:
    """Raise if the rows of another model are not those of the first.

    ``first``, ``other``: the rows that both are evaluated on. Of an event's scores only their
    number can be checked, because the models may be right on different rows.

    Raises `CalibrationInputError` for another kind, another number of rows or classes, the same
    class names in another order, and another label, other weights or clusters; the message names
    the first row that differs, counted from 1.
    """
    if isinstance(first, LogitSet) != isinstance(other, LogitSet):
        kinds = "class probabilities", "one score a row"
        actual, wanted = kinds if isinstance(other, LogitSet) else kinds[::-1]
        raise CalibrationInputError("rows", actual, f"{wanted} as in the first model")
    if other.n_samples != first.n_samples:
        raise CalibrationInputError(
            "rows", f"{other.n_samples:,}", f"the {first.n_samples:,} of the first model"
        )
    check_same_design(first, other)
    if not isinstance(first, LogitSet) or not isinstance(other, LogitSet):
        return
    if other.n_classes != first.n_classes:
        raise CalibrationInputError(
            "classes", f"{other.n_classes:,}", f"the {first.n_classes:,} of the first model"
        )
    mine, its = first.class_names, other.class_names
    if mine != its and set(mine) == set(its):
        place = next(k for k, name in enumerate(mine) if name != its[k])
        raise CalibrationInputError(
            "classes",
            f"{its[place]} in place {place + 1:,}",
            f"{mine[place]}, the order of the first model",
        )
    differ = np.flatnonzero(first.labels != other.labels)
    if differ.size:
        row = int(differ[0])
        was, now = (first.class_names[one.labels[row]] for one in (first, other))
        raise CalibrationInputError(
            "labels", f"{now} in row {row + 1:,}", f"{was} as in the first model"
        )


@result_class
class Plane:
    """Miscalibration against discrimination, of several models before and after calibration."""

    miscalibration: Floats
    """Of each model before and after; less is better; shape (n_models, 2)."""
    discrimination: Floats
    """As if all had the first model's uncertainty; more is better; shape (n_models, 2)."""
    uncertainty: float
    """That of the first model, so that ``miscalibration - discrimination + uncertainty`` is the
    Brier score of the event, of every model.
    """
    shared: bool
    """Whether all have that uncertainty, as with the event of one class."""

    @property
    def brier(self) -> Floats:
        """Brier score of the event, shape (n_models, 2)."""
        return self.miscalibration - self.discrimination + self.uncertainty


def plane_of(evaluated: Sequence[SetResult]) -> Plane:
    """Place several models in one plane.

    ``evaluated``: one a model, at least one, on the same rows.

    The parts of `calibcore.metrics.corp`. Models that are right on different rows, as in the event
    top-r, have different uncertainties; so that lines of equal Brier score hold for all, a model's
    discrimination is drawn less what its uncertainty exceeds the first one's.

    Source: Dimitriadis, Gneiting, Jordan, PNAS 2021; Dimitriadis, Gneiting, Jordan, Vogel,
    *Evaluating probabilistic classifiers: the triptych*, International Journal of Forecasting 2024.
    """
    off, sharp, base = (_both(evaluated, key) for key in _PARTS)
    first = float(base[0, 0])
    return Plane(off, sharp - (base - first), first, bool(np.ptp(base) < 1e-12))


_PARTS = "miscalibration", "discrimination", "uncertainty"


def _both(evaluated: Sequence[SetResult], key: str) -> Floats:
    rows = [one.compare(key) for one in evaluated]
    return np.array([[row.before, row.after] for row in rows], dtype=np.float64)


# One cell of a table of models by calibrators: a measure, its level, and repeated splits ------


@result_class
class TableCell:
    """What a table of models by calibrators says of one of each."""

    value: float | None
    """The measure after calibration, or its mean over splits; None where it is not defined."""
    interval: Interval | None = None
    """95% interval, where it was asked for and the measure has one."""
    level: bool | None = None
    """Whether the value is what a perfectly calibrated model may well show: see `is_level`."""
    deviation: float | None = None
    """Standard deviation over repeated splits."""
    n_splits: int = 0
    """Splits that could be fitted; 0 where the file's own split is shown."""


def table_cell(
    rows: Rows,
    *,
    event: Event,
    fitted: FittedMap | None,
    measure: Measure,
    options: Options | None = None,
    plan: Plan | None = None,
) -> TableCell:
    """Measure what a fitted calibrator makes of one set.

    ``rows``: the set, which the fit has not seen. ``event``: what the scores are about. ``fitted``:
    what calibrates the rows; None leaves them as they are. ``measure``: one of
    `calibcore.metrics.METRICS`. ``options``: of the measure. ``plan``: how uncertainty is looked
    for; without one there is no interval, and of the KS error alone it is known whether it is
    level.
    """
    prepared, options = prepare(rows, event), options or Options()
    before, side = (side_of(prepared, event, one) for one in (None, fitted))
    [value] = measure_side([measure], before, side, event, options)
    if value is not None and math.isnan(value):
        value = None
    uncertainty = None
    if plan is not None:
        uncertainty = infer(before, side, plan).find(measure.key).after
    level = is_level(measure, uncertainty)
    if measure.key == "ks_error" and value is not None:  # the limit of its test, as elsewhere
        level = value <= curves_of(tally_of(side.event)).ks_null_95
    interval = (
        uncertainty.interval if uncertainty and not math.isnan(uncertainty.interval.low) else None
    )
    return TableCell(value, interval, level)


def is_level(measure: Measure, uncertainty: Uncertainty | None) -> bool | None:
    """Return whether a value is what a perfectly calibrated model of this size may well show.

    ``measure``: which decides the side that is worse. ``uncertainty``: the value with its reference
    under perfect calibration.

    Whether it is not beyond the 95% limit under perfect calibration on the worse side, or between
    both limits where a value in between is best. None where nothing is known, or no direction is
    better.
    """
    if uncertainty is None or measure.better == "neither" or math.isnan(uncertainty.reference.mean):
        return None
    value, limit = uncertainty.value, uncertainty.reference
    if measure.better == "nearer":
        return limit.central[0] <= value <= limit.central[1]
    return value >= limit.lower if measure.better == "higher" else value <= limit.upper


# Repeated random splits ----------------------------------------------------------------------


@result_class
class Resplits:
    """Measures of the test sets of many random splits, after a fit to each calibration set."""

    measures: tuple[Measure, ...]
    """One a column."""
    values: Floats
    """NaN where a split cannot be fitted, or leaves the measure undefined; shape (n_splits,
    n_measures).
    """

    def cell(self, measure: Measure) -> TableCell:
        """Return mean and standard deviation of a measure over the splits that have it."""
        place = [one.key for one in self.measures].index(measure.key)
        known = self.values[:, place]
        known = known[~np.isnan(known)]
        if not known.size:
            return TableCell(None)
        with np.errstate(invalid="ignore"):  # of infinite values
            deviation = float(known.std(ddof=1)) if known.size > 1 else None
        if deviation is not None and math.isnan(deviation):
            deviation = None
        return TableCell(float(known.mean()), deviation=deviation, n_splits=int(known.size))


def pooled(split: AnySplit) -> tuple[Rows, float]:
    """Join the two sets of a split, so that they can be split again.

    All rows, the calibration set first, and its share of them; of one set that serves both ends,
    its rows and one half.
    """
    first, second = split.calibration, split.test
    if split.same_data or split.fold is not None:
        return second, 0.5
    share = first.n_samples / (first.n_samples + second.n_samples)
    rows: Rows
    if isinstance(first, LogitSet) and isinstance(second, LogitSet):
        alike = first.values_kind == second.values_kind == "probabilities"
        make = LogitSet.from_probabilities if alike else LogitSet
        tables = [one.probabilities if alike else one.logits for one in (first, second)]
        labels = np.concatenate([first.labels, second.labels])
        rows = make(np.concatenate(tables), labels, first.class_names)
    elif isinstance(first, EventScores) and isinstance(second, EventScores):
        rests = None if first.rest is None or second.rest is None else (first.rest, second.rest)
        rows = EventScores(
            np.concatenate([first.scores, second.scores]),
            np.concatenate([first.hits, second.hits]),
            None if rests is None else np.concatenate(rests),
        )
    else:
        raise TypeError(split)
    weights = clusters = None
    if first.weights is not None and second.weights is not None:
        weights = sampling_weights(np.concatenate([first.weights.values, second.weights.values]))
    if first.clusters is not None and second.clusters is not None:  # none is in both sets
        after = first.clusters.max() + 1
        clusters = np.concatenate([first.clusters, second.clusters + after])
    return with_design(rows, sample_weight=weights, clusters=clusters), share


def resplit(  # noqa: PLR0913 - as `audit`, many times
    rows: Rows,
    *,
    event: Event,
    calibrator: Calibrator | None,
    measures: tuple[Measure, ...],
    n_splits: int = 100,
    calibration_share: float = 0.5,
    seed: int = 0,
    options: Options | None = None,
    progress: Progress | None = None,
) -> Resplits:
    """Split rows at random again and again; each time fit on one part and measure the other.

    ``rows``: all of them. ``event``, ``calibrator``: as for `calibcore.audit`. ``measures``: what
    is measured on each test set. ``n_splits``: from 2 to 10,000. ``calibration_share``: of the
    rows, in each split. ``seed``: of the first split; each further one has the next. ``options``:
    of the measures. ``progress``: told the share that is done; whatever it raises ends the work.

    The splits are those of `calibcore.splits.split_rows`, the same for all calibrators.

    Raises `CalibrationInputError` for numbers that are out of range, and where no split can be
    fitted.

    The spread over splits is of sets that share rows: it shows how much luck one split holds, and
    is not a standard error.

    Zhang 2020, section 5.2, repeats its draws of calibration rows 100 times.
    """
    n_splits = validation.whole_number(n_splits, "n_splits", least=2, most=10_000)
    check_pooled(calibrator, event)
    options, refused = options or Options(), None
    values = np.full((n_splits, len(measures)), np.nan)
    for number in range(n_splits):
        if progress is not None:
            progress(number / n_splits)
        chosen = calibration_rows(rows, calibration_share=calibration_share, seed=seed + number)
        prepared = prepare(rows.rows(~chosen), event)
        try:
            fitted = fit(calibrator, prepare(rows.rows(chosen), event), None)
        except CalibrationInputError as error:
            refused = error
            continue
        before, side = (side_of(prepared, event, one) for one in (None, fitted))
        values[number] = np.array(measure_side(measures, before, side, event, options), float)
    if refused is not None and np.isnan(values).all():
        raise refused
    return Resplits(measures, values)
