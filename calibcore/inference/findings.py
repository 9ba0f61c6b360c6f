"""What was found of a measure, with its uncertainty; and what to look into, and how closely."""

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from calibcore import validation
from calibcore.cumulative import CumulativeCurves
from calibcore.data import EventScores
from calibcore.errors import CalibrationInputError
from calibcore.inference.intervals import (
    Z_95,
    DistanceEstimate,
    Interval,
    Mark,
    difference_interval,
    mark_of,
    percentile_interval,
    quantiles,
    reflected,
    share_interval,
    stretch_of,
    stretched,
)
from calibcore.metrics import METRICS
from calibcore.metrics.measure import (
    ChangeMeasure,
    EventMeasure,
    Measure,
    Options,
    RowMeasure,
    RowValues,
)
from calibcore.results import find, short_repr
from calibcore.validation import Floats
from calibcore.weights import OrderedDesign, shares_of


@dataclass(frozen=True)
class Plan:
    """How uncertainty is looked for."""

    measures: tuple[Measure, ...] = METRICS
    """Which ones."""
    options: Options = field(default_factory=Options)
    """Of the measures."""
    n_resamples: int = 1000
    """Of the bootstrap, and draws under perfect calibration; at least 20."""
    seed: int = 0
    """Of all draws."""
    level: float = 0.95
    """Of the intervals."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        validation.whole_number(self.n_resamples, "n_resamples", least=20, most=1_000_000)
        validation.whole_number(self.seed, "seed", least=0, most=2**63 - 1)
        if not 0.5 <= self.level < 1:
            raise CalibrationInputError("level", repr(self.level), "0.5 or more, below 1")

    @property
    def rough(self) -> Options:
        """The options for draws, whose spread alone counts."""
        return replace(self.options, rough=True)

    def of_weighted_rows(self) -> "Plan":
        """Keep the measures that have a form for rows with sampling weights."""
        return replace(self, measures=tuple(one for one in self.measures if one.weighs))

    @property
    def of_events(self) -> list[EventMeasure]:
        """Those of one event."""
        return [measure for measure in self.measures if isinstance(measure, EventMeasure)]

    @property
    def of_rows(self) -> list[RowMeasure]:
        """Those that are means over the rows of the class table."""
        return [measure for measure in self.measures if isinstance(measure, RowMeasure)]

    @property
    def of_changes(self) -> list[ChangeMeasure]:
        """Those of what a change of the class table brings."""
        return [measure for measure in self.measures if isinstance(measure, ChangeMeasure)]


# What is known of a measure: its interval, its reference, and how it changed ------------------


_UPPER_95 = 1.6448536269514722
"""Standard deviations that a normal variable exceeds in 5% of cases."""

_ALIKE = 1e-4
"""Share by which the same labels may differ: rounding, and what rough kernel measures are off."""

Fits = Literal["fixed", "repeated", "unknown"]
"""Whether changes count what repeating the fits adds; unknown where they must and it is not."""


@dataclass(frozen=True)
class Reference:
    """What a perfectly calibrated model of this size, with these scores, would show."""

    mean: float
    """On average."""
    upper: float
    """Exceeded in 5% of cases."""
    p_value: float
    """Share of the cases at least as far from the ideal as the value observed; NaN where the
    measure has no ideal.
    """
    lower: float = math.nan
    """Undercut in 5% of cases."""
    central: tuple[float, float] = (math.nan, math.nan)
    """95% of the cases lie between these, 2.5% on either side."""


@dataclass(frozen=True)
class Uncertainty:
    """The uncertainty of one measure on one side."""

    value: float
    """As measured."""
    interval: Interval
    """For the true value."""
    reference: Reference
    """Under perfect calibration."""
    estimate: DistanceEstimate | None = None
    """Of a distance: where its interval comes from."""
    draws: Floats | None = field(default=None, repr=False, compare=False)
    """Values in bootstrap resamples, the same rows on both sides; shape (n_resamples,)."""
    stretch: float = 1.0
    """By how much a change may be farther off than resamples show."""


@dataclass(frozen=True)
class Finding:
    """What is known of one measure."""

    key: str
    """Of the measure."""
    before: Uncertainty | None
    after: Uncertainty | None
    """None where the measure is not defined."""
    change: Interval | None
    """For after minus before, of the same rows."""
    mark: Mark | None
    """The change in a word; None where no direction is better. Moved: it changed, but is not
    clearly nearer to its ideal nor farther from it.
    """

    __repr__ = short_repr


@dataclass(frozen=True)
class Inference:
    """The uncertainty of every measure of one set."""

    findings: tuple[Finding, ...]
    """In the order of the plan's measures."""
    plan: Plan
    """How they were found."""
    fits: Fits = "fixed"
    """Whether changes count what repeating the fits adds (`calibcore.inference.refits`); unknown
    where they should and it could not be found, so no change is known.
    """

    __repr__ = short_repr

    def find(self, key: str) -> Finding:
        """Look up a measure by its key."""
        return find({finding.key: finding for finding in self.findings}, key, "measure")


def reference(
    null: Floats, value: float, ideal: float | None, seen: float | None = None
) -> Reference:
    """Sum up what was drawn under perfect calibration.

    A distance whose draws join neighbouring scores is compared with them as it is ``seen`` when the
    rows' are joined likewise; what that takes off its value is given back to the draws. Only larger
    distances are farther; an unbiased estimate of one may be below 0. The p-value
    counts the rows observed as one draw, so it is never 0. A draw of the same labels is as far as
    they are, whatever the rounding.
    """
    distance, p_value = seen is not None, math.nan
    seen = value if seen is None else seen
    if ideal is not None and not math.isnan(seen):
        far, least = (null, seen) if distance else (np.abs(null - ideal), abs(seen - ideal))
        as_far = int(np.count_nonzero(far >= least - abs(least) * _ALIKE))
        p_value = (1 + as_far) / (1 + null.size)
    if value != seen:
        null = np.maximum(null + (value - seen), np.fmin.reduce(null, initial=0.0))
    defined = null[np.isfinite(null)]
    if 2 * defined.size < null.size:  # the ideal is no limit that perfect scores come near to
        p_value = math.nan
    mean = float(defined.mean()) if defined.size else math.nan
    upper, lower, *central = quantiles(null, 0.95, 0.05, 0.025, 0.975)
    return Reference(mean, upper, p_value, lower, (central[0], central[1]))


def evaluate_mean(
    values: RowValues, draws: Floats, level: float, *, is_share: bool, event: EventScores
) -> Uncertainty:
    """Evaluate a mean over the rows, or a share of them; by perfect scores it is nearly normal."""
    n_samples = values.seen.size
    if event.weights is not None or event.clusters is not None:
        return _evaluate_weighted(values, draws, level, is_share=is_share, event=event)
    mean = float(values.mean.mean())
    deviation = math.sqrt(float(values.variance.sum())) / n_samples
    seen = float(values.seen.sum())
    interval = share_interval(seen, n_samples, level) if is_share else None
    interval = interval or percentile_interval(draws, level)
    return _mean_of(seen / n_samples, interval, mean, deviation, draws)


def _evaluate_weighted(
    values: RowValues, draws: Floats, level: float, *, is_share: bool, event: EventScores
) -> Uncertainty:
    """Evaluate a mean over weighted rows, or over rows in clusters."""
    each = np.ones(values.seen.size) if event.weights is None else event.weights.values
    weights, clusters = shares_of(each), event.clusters
    n_samples = weights.size
    value, mean = (float(weights @ one / n_samples) for one in (values.seen, values.mean))
    numbers = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    design = OrderedDesign(values.seen, values.seen, weights, np.zeros(1, dtype=np.intp), numbers)
    if numbers is None:
        deviation = math.sqrt(float(np.square(weights) @ values.variance)) / n_samples
    else:
        deviation = design.deviation_of(weights * (values.seen - values.mean)) / n_samples
    stretch = stretch_of(design.n_units, level)
    if is_share:
        rows = float(design.rows_alike(np.array([value]), np.zeros(1, dtype=np.intp))[0])
        interval = share_interval(value * rows, rows, level)
    else:
        interval = stretched(percentile_interval(draws, level), stretch)
    return replace(_mean_of(value, interval, mean, deviation, draws), stretch=stretch)


def perfect_limits(
    measure: Measure, known: Uncertainty | None, curves: CumulativeCurves
) -> tuple[float, float]:
    """Return the ends between which a perfectly calibrated model of this size is in 95% of cases.

    One end where one side is worse: the upper of an error, the lower of what should be high. Both
    where a value in between is best, each left by 2.5%. The KS error's is that of its test.

    ``known``: of one side; ``curves``: of the same side. Low first; NaN where there is no end: all
    of a measure that the scores alone decide, as where nothing is known.

    Examples
    --------
    >>> known = Uncertainty(0.1, Interval(0.0, 0.2), Reference(0.1, 0.3, 0.5, 0.05, (0.0, 0.4)))
    >>> from calibcore.cumulative import cumulative_curves
    >>> curves = cumulative_curves([0.5], [1])
    >>> [perfect_limits(one, known, curves) for one in METRICS if one.key in {"ece", "auroc"}]
    [(nan, 0.3), (0.05, nan)]
    """
    if known is None or measure.better == "neither" or math.isnan(known.reference.mean):
        return math.nan, math.nan
    if measure.better == "nearer":
        return known.reference.central
    if measure.better == "higher":
        return known.reference.lower, math.nan
    is_ks = measure.key == "ks_error"
    return math.nan, curves.ks_null_95 if is_ks else known.reference.upper


def _mean_of(
    value: float, interval: Interval, mean: float, deviation: float, draws: Floats
) -> Uncertainty:
    return Uncertainty(
        value,
        interval,
        Reference(
            mean,
            mean + _UPPER_95 * deviation,
            math.nan,
            mean - _UPPER_95 * deviation,
            (mean - Z_95 * deviation, mean + Z_95 * deviation),
        ),
        draws=draws,
    )


def compare(
    measure: Measure, was: Uncertainty | None, now: Uncertainty | None, level: float
) -> Finding:
    """Put both sides of a measure together."""
    if was is not None and was is now:
        return Finding(measure.key, was, now, Interval(0.0, 0.0), _unless(measure, "no evidence"))
    if was is None or now is None or _unknown(was) or _unknown(now):
        return Finding(measure.key, was, now, None, _unless(measure, "not comparable"))
    old, new = was.draws, now.draws
    if was.estimate is not None and now.estimate is not None:
        change = difference_interval(was.estimate, now.estimate).with_value(now.value - was.value)
        return Finding(measure.key, was, now, change, mark_of(change, "lower"))
    if old is None or new is None:
        raise AssertionError(measure.key)
    change = percentile_interval(_difference(new, old), level)
    change = stretched(change, max(was.stretch, now.stretch))
    if math.isnan(change.low):
        return Finding(measure.key, was, now, None, _unless(measure, "not comparable"))
    mark = _mark(measure, old, new, change, level)
    if isinstance(measure, EventMeasure) and measure.interval == "reflected":
        change = reflected(change, now.value - was.value)
    if mark == "no evidence" and not change.low <= 0 <= change.high:
        mark = "moved"  # past its ideal, perhaps: it changed, but is not clearly nearer to that
    return Finding(measure.key, was, now, change, mark)


def _unknown(evaluated: Uncertainty) -> bool:
    """Return whether a side has no interval, or is infinitely far off: no change is seen."""
    return math.isnan(evaluated.interval.low) or not math.isfinite(evaluated.value)


def _unless(measure: Measure, mark: Mark) -> Mark | None:
    """Return a mark, unless no direction is better."""
    return None if measure.better == "neither" else mark


def _mark(
    measure: Measure, old: Floats, new: Floats, change: Interval, level: float
) -> Mark | None:
    if measure.better == "neither":
        return None
    if measure.better != "nearer" or measure.ideal is None:
        better: Literal["lower", "higher"] = "higher" if measure.better == "higher" else "lower"
        return mark_of(change, better)
    nearer = _difference(np.abs(new - measure.ideal), np.abs(old - measure.ideal))
    return mark_of(percentile_interval(nearer, level), "lower")


def _difference(new: Floats, old: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # infinity less infinity is not defined
        return new - old
