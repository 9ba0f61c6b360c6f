"""A measure before and after calibration."""

import copyreg
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from calibcore import inference
from calibcore.binning import BinTable
from calibcore.calibrators.base import FittedMap, FittedScoreMap
from calibcore.counted import weighted
from calibcore.cumulative import CumulativeCurves, curves_of
from calibcore.data import EventScores, LogitSet, Rows, like
from calibcore.errors import CalibrationInputError
from calibcore.events import Event, TopR, past_half
from calibcore.fitting import PreparedSet, calibrated_event
from calibcore.inference.draws import tally_of
from calibcore.inference.intervals import rank_interval
from calibcore.inference.off_ranges import OffRange, ranges_of
from calibcore.inference.omnibus import omnibus_of
from calibcore.metrics import (
    METRICS,
    ClassMeasure,
    EventMeasure,
    Measure,
    Options,
    RowMeasure,
    changed_decisions,
    measure_by_key,
)
from calibcore.reliability import (
    BinnedReliability,
    CalibrationBelt,
    CorpReliability,
    FrequencyCurve,
    NullBand,
    SmoothReliability,
    SplineNullBand,
    belt_of,
    binned_of,
    corp_of,
    null_band,
    smooth_of,
    spline_frequency,
    spline_null_band,
)
from calibcore.results import find, result_class, short_repr
from calibcore.tally import Tally
from calibcore.validation import Floats, Labels
from calibcore.weights import row_mean


@dataclass(frozen=True)
class Comparison:
    """One measure before and after calibration."""

    measure: Measure
    """What is compared."""
    before: float | None
    after: float | None
    """None where the data or the calibrator leave it undefined."""

    __repr__ = short_repr

    @property
    def change(self) -> float | None:
        """After minus before."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


class Comparisons(Sequence[Comparison]):
    """One comparison a measure, in the order of `METRICS`, each made when first asked for.

    ``make``: given measures of one kind, their comparisons. Those that need the probabilities of
    all classes are made together, so that these are found once and not kept.
    ``known``: those that were made elsewhere.
    """

    def __init__(
        self,
        make: Callable[[Sequence[Measure]], Sequence[Comparison]],
        known: Sequence[Comparison] = (),
    ) -> None:
        self._make = make
        self._by_key = {one.measure.key: one for one in known}

    def __len__(self) -> int:  # noqa: D105 - as of every sequence
        return len(METRICS)

    @overload
    def __getitem__(self, place: int) -> Comparison: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Comparison, ...]: ...

    def __getitem__(self, place: int | slice) -> Comparison | tuple[Comparison, ...]:  # noqa: D105
        if isinstance(place, slice):
            return tuple(self[k] for k in range(*place.indices(len(self))))
        wanted = METRICS[place]
        if wanted.key not in self._by_key:
            alone = isinstance(wanted, EventMeasure) or wanted.compares_pairs
            alike = [wanted] if alone else [one for one in METRICS if _together(one, wanted)]
            self._by_key |= {one.measure.key: one for one in self._make(alike)}
        return self._by_key[wanted.key]


def comparison_of(comparisons: Sequence[Comparison], key: str) -> Comparison:
    """Find a measure's comparison by the measure's key, and make no other."""
    if isinstance(comparisons, Comparisons):
        places = {measure.key: place for place, measure in enumerate(METRICS)}
        return comparisons[find(places, key, "measure")]
    return find({row.measure.key: row for row in comparisons}, key, "measure")


def _together(one: Measure, other: Measure) -> bool:
    """Return whether one is measured with another; sorts wait for the full list."""
    alike = type(one) is type(other) and not one.compares_pairs
    return alike and (isinstance(one, RowMeasure) or one.short == other.short)


# What was fitted, evaluated on one set: before and after --------------------------------------


GRAPH_KNOTS = 6
"""Knots of the spline that draws the frequency in graphs (c) and (d)."""


@result_class
class Side:
    """Everything about the event on one set, before or after calibration.

    Notes
    -----
    What only pictures show is computed when first asked for, and kept with ``counted``. Resamples
    are drawn from seed 0.
    """

    event: EventScores
    """Score and hit, row by row."""
    counted: Tally
    """The same, counted by score."""
    curves: CumulativeCurves
    """Graphs (a) and (b), and the KS error."""
    binned: BinnedReliability
    """Reliability diagram: equal-width bins with Wilson intervals."""

    @property
    def bins(self) -> BinTable:
        """Bins of the reliability diagram."""
        return self.binned.bins

    @cached_property
    def omnibus(self) -> inference.Omnibus:
        """Whether scores differ from the truth at all: `calibcore.inference.omnibus_test`."""
        return self.counted.once(omnibus_of)

    @cached_property
    def off_ranges(self) -> tuple[OffRange, ...]:
        """Scores that are too high or too low: `calibcore.inference.off_ranges` at these bins."""
        return self.counted.once(ranges_of, self.bins.counts.size)

    @cached_property
    def auroc(self) -> inference.Interval:
        """95% interval of `calibcore.metrics.auroc`; NaN where all outcomes are equal."""
        return self.counted.once(_auroc_of)

    @cached_property
    def null(self) -> NullBand:
        """Band under perfect calibration of graphs (a) and (b)."""
        return null_band(self.curves)

    @cached_property
    def frequency(self) -> FrequencyCurve | None:
        """Graphs (c) and (d); None where there are fewer rows than knots."""
        enough = self.event.n_samples >= GRAPH_KNOTS
        return self.counted.once(_frequency_of, self.event) if enough else None

    @cached_property
    def frequency_null(self) -> SplineNullBand | None:
        """Band under perfect calibration of graphs (c) and (d); None where they are."""
        enough = self.event.n_samples >= GRAPH_KNOTS
        return self.counted.once(_frequency_null_of) if enough else None

    @cached_property
    def corp(self) -> CorpReliability:
        """Reliability diagram: isotonic curve with its bands."""
        return self.counted.once(corp_of)

    @cached_property
    def corp_outside(self) -> float:
        """Share of the rows at whose score the isotonic curve is outside its consistency band."""
        curve, band = self.corp, self.corp.consistency
        lower = np.interp(curve.score, band.score, band.lower)
        upper = np.interp(curve.score, band.score, band.upper)
        outside = (curve.frequency < lower) | (curve.frequency > upper)
        return float(self.counted.counts @ outside / self.counted.n_samples)

    @cached_property
    def smooth(self) -> SmoothReliability:
        """Reliability diagram: smoothed curve with its band."""
        return self.counted.once(smooth_of)

    @cached_property
    def belt(self) -> CalibrationBelt | None:
        """Reliability diagram: calibration belt; None where no curve fits best."""
        return self.counted.once(_belt_of)


@result_class
class SetResult:
    """The evaluation on one set."""

    before: Side
    after: Side
    """The event uncalibrated and calibrated."""
    comparisons: Sequence[Comparison]
    """One a measure, in the order of `METRICS`; of an evaluation, made when first asked for."""
    changed_decisions: int
    """Rows whose most probable class is another one after calibration."""
    past_half: int | None = None
    """Rows whose decision a score map keeps though its score, of one of two classes, has come to
    the other side of one half; None for other maps and data.
    """
    commonest: float | None = None
    """Share of the rows of the commonest class: the accuracy of always predicting it; None where
    the classes of the rows are not known.
    """

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.before.event.n_samples

    @property
    def calibrated(self) -> bool:
        """Whether something was fitted, so that `after` is not `before` itself."""
        return self.after is not self.before

    def compare(self, key: str) -> Comparison:
        """Find a measure's comparison by the measure's key."""
        return comparison_of(self.comparisons, key)


def sides_of(
    rows: Rows, result: SetResult, fitted: FittedMap | None
) -> tuple[inference.SideRows, inference.SideRows]:
    """Gather what `calibcore.inference.infer` needs of one set.

    Parameters
    ----------
    rows : LogitSet or EventScores
        The set.
    result : SetResult
        Its evaluation.
    fitted : FittedScoreMap, FittedVectorMap or None
        The calibrator it was evaluated with.

    Returns
    -------
    tuple of SideRows
        Before and after; the same object where nothing was fitted.
    """
    return _with_classes(rows, result.before.event, result.after.event, fitted)


def _with_classes(
    rows: Rows, before: EventScores, after: EventScores, fitted: FittedMap | None
) -> tuple[inference.SideRows, inference.SideRows]:
    was = inference.SideRows(before, *_table_of(rows, None))
    return was, was if fitted is None else inference.SideRows(after, *_table_of(rows, fitted))


def side_of(prepared: PreparedSet, event: Event, fitted: FittedMap | None) -> inference.SideRows:
    """Return the rows of one set as they were predicted, or as a calibrator leaves them."""
    outcomes, (table, labels) = prepared.event, _table_of(prepared.rows, fitted)
    if isinstance(fitted, FittedScoreMap):
        outcomes = calibrated_event(fitted, prepared)
    elif fitted is not None and table is not None and labels is not None:
        outcomes = like(event.outcomes(table, labels), prepared.rows)
    return inference.SideRows(outcomes, table, labels)


def _table_of(rows: Rows, fitted: FittedMap | None) -> tuple[Floats | None, Labels | None]:
    """Return probabilities and labels of all classes; a map of scores leaves none."""
    if isinstance(rows, EventScores) or isinstance(fitted, FittedScoreMap):
        return None, None
    return (
        rows.probabilities if fitted is None else fitted.predict_proba(rows.logits)
    ), rows.labels


def measure_side(
    measures: Sequence[Measure],
    before: inference.SideRows,
    side: inference.SideRows,
    event: Event,
    options: Options,
    counted: Tally | None = None,
) -> list[float | None]:
    """Measure one side of the rows, given those before; None where a measure is undefined.

    ``counted``: the side counted by score, where that is at hand. A map of scores leaves no class
    probabilities but the order of the classes, so what asks for the order alone is as before.
    """
    weights, values = side.event.weights, list[float | None]()
    if counted is None and any(isinstance(measure, EventMeasure) for measure in measures):
        counted = tally_of(side.event)
    was, labels = before.probabilities, before.labels
    for measure in measures:
        now = side.probabilities
        if now is None and measure.asks_for_order:
            now = was
        if weights is not None and not measure.weighs:
            values.append(None)
        elif isinstance(measure, EventMeasure) and counted is not None:
            values.append(float(measure.compute(counted, options)))
        elif isinstance(measure, ClassMeasure) and was is not None and now is not None:
            if labels is None:
                raise AssertionError(before)
            values.append(measure.after(was, now, labels, options, weights))
        elif measure.key == "accuracy" and event == TopR(1):
            values.append(row_mean(side.event.hits, weights))  # known without the other classes
        else:
            values.append(None)
    return values


def evaluate(
    prepared: PreparedSet, event: Event, fitted: FittedMap | None, options: Options
) -> SetResult:
    """Evaluate what was fitted on one set."""
    rows, changed, past, commonest = prepared.rows, 0, None, None
    after = side_of(prepared, event, fitted)
    before_side = _side(prepared.event, options)
    after_side = before_side if after.event is prepared.event else _side(after.event, options)
    if isinstance(rows, LogitSet):
        each = None if rows.weights is None else rows.weights.values
        of_classes = np.bincount(rows.labels, each)
        commonest = float(of_classes.max() / of_classes.sum())
        if after.probabilities is None:  # a map of scores leaves the order of the classes alone
            past = past_half(event, rows.probabilities, after.event.scores)
        elif fitted is not None:
            changed = changed_decisions(rows.probabilities, after.probabilities)
    counted = before_side.counted, after_side.counted
    make = BeforeAfter(prepared.event, after.event, rows, event, fitted, options, counted)
    return SetResult(before_side, after_side, Comparisons(make), changed, past, commonest)


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """What measures before and after calibration are made of."""

    before: EventScores
    after: EventScores
    """The same object where nothing was fitted."""
    rows: Rows
    event: Event
    fitted: FittedMap | None
    options: Options
    counted: tuple[Tally | None, Tally | None] = (None, None)
    """Both counted by score, where that is at hand."""

    def __call__(self, measures: Sequence[Measure]) -> list[Comparison]:
        """Measure both; probabilities after calibration are found where a measure is of them."""
        before, after = inference.SideRows(self.before), inference.SideRows(self.after)
        if any(isinstance(measure, ClassMeasure) for measure in measures):
            before, after = _with_classes(self.rows, self.before, self.after, self.fitted)
        how = self.event, self.options
        was = now = measure_side(measures, before, before, *how, self.counted[0])
        if self.after is not self.before:
            now = measure_side(measures, before, after, *how, self.counted[1])
        return [Comparison(*row) for row in zip(measures, was, now, strict=True)]


def _by_key(measure: Measure) -> tuple[Any, ...]:
    """Return how a measure is pickled and copied: those of `METRICS`, which hold functions, by key.

    So results can be sent to another process, and a copy of one has the same measures.
    """
    if any(measure is one for one in METRICS):
        return measure_by_key, (measure.key,)
    reduced: tuple[Any, ...] = object.__reduce_ex__(measure, 4)  # type: ignore[assignment]
    return reduced


for _kind in {type(measure) for measure in METRICS}:
    copyreg.pickle(_kind, _by_key)


def _auroc_of(counted: Tally) -> inference.Interval:
    return rank_interval(counted, 0.95)


def _belt_of(counted: Tally) -> CalibrationBelt | None:
    try:
        return belt_of(counted)
    except CalibrationInputError:  # too few rows, or an outcome that a score separates
        return None


def _frequency_of(_: Tally, event: EventScores) -> FrequencyCurve:
    rows, weights = weighted(event)
    return spline_frequency(rows.scores, rows.hits, n_knots=GRAPH_KNOTS, sample_weight=weights)


def _frequency_null_of(counted: Tally) -> SplineNullBand:
    return spline_null_band(curves_of(counted), n_knots=GRAPH_KNOTS)


def _side(event: EventScores, options: Options) -> Side:
    counted = tally_of(event)
    return Side(
        event=event,
        counted=counted,
        curves=curves_of(counted),
        binned=binned_of(counted, n_bins=options.n_bins),
    )
