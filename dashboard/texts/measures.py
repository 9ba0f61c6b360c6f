"""The table of measures, row by row, in words and numbers ready to be shown."""

import math
from dataclasses import dataclass, replace

from calibcore.evaluation import Comparison, SetResult, Side
from calibcore.events import Event, OneClass, WithinTopR
from calibcore.inference import Finding, Inference, Interval, Mark, Uncertainty, perfect_limits
from calibcore.inference.coverage import COVERAGE
from calibcore.metrics import METRICS, ChangeMeasure, Measure, RowMeasure
from calibcore.metrics.regression import (
    calibration_intercept_of,
    calibration_slope_of,
    without_ends,
)
from dashboard.texts.glossary import GLOSSARY
from dashboard.texts.numbers import amount, finer_digits, measured, measured_change, p_words, span

GROUPS = {
    "cumulative": "Cumulative: no bins",
    "binned": "Binned",
    "kernel": "Kernel-smoothed",
    "proper": "Proper scores: calibration and sharpness together",
    "test": "Tests: whether, not how far",
    "plain": "Plain averages",
}
"""Headings of the full list, by the group of the measure."""

SPELLED = {
    "NLL": "log loss",
    "ECE": "binned calibration error",
    "KDE-ECE": "kernel-smoothed calibration error",
    "KS error": "largest cumulative gap",
}
"""What abbreviations stand for where they are met first."""

TESTED_ONLY = {m.key for m in METRICS if m.is_tested_only}
"""Keys of the measures without intervals."""

NO_RESAMPLES = "The 95% CI needs resamples: **Bootstrap resamples** is set to 0."

LEAST_COVERAGE = 93
"""Percent of simulated data sets in which a 95% interval should hold the truth at least."""

_REGRESSIONS = {
    "calibration_intercept": calibration_intercept_of,
    "calibration_slope": calibration_slope_of,
}
_MATTERS = 0.05
"""Change of either without scores of exactly 0 and 1 that is said."""

MARKS: dict[Mark, tuple[str, str]] = {
    "better": ("\u25b2", "better"),
    "no evidence": ("\u25cb", "no clear change"),
    "worse": ("\u25bc", "worse"),
    "not comparable": ("\u2013", "not comparable"),
    "moved": ("\u25c7", "changed, not clearly better"),
}
"""Sign and words of each mark."""


def spelled_out(name: str) -> str:
    """Return the name of a measure with what its abbreviation stands for, inside a sentence.

    >>> spelled_out("NLL of the event")
    'NLL (log loss) of the event'
    >>> spelled_out("Brier score")
    'Brier score'
    """
    for short, words in SPELLED.items():
        after = name.removeprefix(short)
        if after != name and after[:1] in {"", " ", ","}:
            return f"{short} ({words}){after}"
    return name


ABOVE, BELOW = "estimate above it: noise inflates it", "estimate below it: the CI corrects its bias"
"""Beside an interval that leaves its own estimate out."""

DEFINED = "Click a name for its definition."


@dataclass(frozen=True)
class NumberText:
    """A number as it is written, and below it, smaller, what is known of it."""

    value: str
    note: str = ""


@dataclass(frozen=True)
class MeasureRow:
    """One row of the table."""

    name: str
    definition: str
    source: str
    """Of the measure."""
    before: NumberText
    after: NumberText
    change: NumberText
    perfect: NumberText
    """Its cells; ``perfect`` is the 95% limit under perfect calibration."""
    mark: Mark | None
    """The change in a word."""


def listed(
    *, full: bool, n_classes: int | None = None, event: Event | None = None
) -> tuple[Measure, ...]:
    """Return the measures of the short or of the full list, without those that repeat another.

    Where the event is within-top-r, its observed frequency is the top-r accuracy. Of one class,
    the short list has the AUROC.
    """
    of_class = isinstance(event, OneClass)
    repeated = event.r if isinstance(event, WithinTopR) else -1
    return tuple(
        measure
        for measure in telling(n_classes, event)
        if (full or measure.short or (of_class and measure.key == "auroc"))
        and _rank(measure) != repeated
    )


def telling(n_classes: int | None, event: Event | None = None) -> tuple[Measure, ...]:
    """Return the measures but for those that add nothing more with so few classes.

    These are accuracies that are 100%, and, as two classes mirror each other, the class-wise ECE
    of the worst; where the event is one of them, that of both is the ECE.
    """
    if n_classes is None:
        return METRICS
    mirrored = {"max_classwise_ece"} if n_classes == 2 else set()
    if n_classes == 2 and isinstance(event, OneClass):
        mirrored.add("classwise_ece")
    return tuple(m for m in METRICS if _rank(m) < n_classes and m.key not in mirrored)


def _rank(measure: Measure) -> int:
    """Return the r of a top-r accuracy, above 1; 0 for anything else."""
    first = measure.first if isinstance(measure, RowMeasure) else None
    return first if first is not None and first > 1 else 0


def measure_rows(
    evaluated: SetResult,
    inference: Inference | None,
    measures: tuple[Measure, ...],
    *,
    expert: bool = False,
) -> list[MeasureRow]:
    """Return the rows of the table.

    ``evaluated``: the results on one set. ``inference``: what is known of the uncertainty; None
    while it is not. ``measures``: the rows. ``expert``: whether definitions also give the simulated
    coverage of the intervals.
    """
    return [
        _row(evaluated.compare(key), finding_for(inference, key), evaluated, expert=expert)
        for key in (measure.key for measure in measures)
    ]


def finding_for(inference: Inference | None, key: str) -> Finding | None:
    """Return what is known of a measure.

    Where only top-1 scores are there, the accuracy is the observed frequency.
    """
    if inference is None:
        return None
    finding = inference.find(key)
    if key == "accuracy" and finding.before is None:
        alike = [one for one in inference.findings if one.key == "hit_rate"]
        return replace(finding, before=alike[0].before, after=alike[0].after) if alike else finding
    return finding


def _row(
    row: Comparison, finding: Finding | None, evaluated: SetResult, *, expert: bool
) -> MeasureRow:
    n_samples = evaluated.n_samples
    before, after = (finding.before, finding.after) if finding else (None, None)
    mark = finding.mark if finding else None
    if mark == "not comparable" and row.change == 0:
        mark = "no evidence"  # accuracy, which a map of scores cannot change
    has_both = not isinstance(row.measure, ChangeMeasure)
    definition, note = GLOSSARY[row.measure.key], coverage_note(row.measure.key, expert=expert)
    return MeasureRow(
        name=row.measure.name,
        definition=f"{definition} {note}".strip(),
        source=row.measure.source,
        before=NumberText(
            measured(row, row.before, n_samples),
            _note(row, row.before, before, evaluated.before) if has_both else "",
        ),
        after=NumberText(
            measured(row, row.after, n_samples), _note(row, row.after, after, evaluated.after)
        ),
        change=_change(row, finding.change if finding else None, n_samples),
        perfect=_perfect(row, after, evaluated),
        mark=mark,
    )


def coverage_note(key: str, *, expert: bool = False) -> str:
    """Return that a measure has no interval, or, for experts, how often that covered the truth."""
    if key in TESTED_ONLY:
        return "No 95% CI: its value does not say how miscalibrated the scores are."
    if not expert:
        return ""
    if key not in COVERAGE:
        return "The coverage of its 95% CI has not been simulated."
    least, most = COVERAGE[key]
    low, high = f"{least:.0f}%", f"{most:.0f}%"
    return f"Simulated coverage of its 95% CI: {low if low == high else span(low, high)}."


def narrow_note(measures: tuple[Measure, ...]) -> str:
    """Name the listed measures whose interval covered the truth too rarely in simulations."""
    narrow = [m for m in measures if m.key in COVERAGE and COVERAGE[m.key][0] < LEAST_COVERAGE]
    if not narrow:
        return ""
    least = f"{min(COVERAGE[measure.key][0] for measure in narrow):.1f}%"
    names = ", ".join(measure.name for measure in narrow)
    return (
        f"The 95% CIs of some measures are too narrow (simulated coverage down to {least}):"
        f" {names}."
    )


def _change(row: Comparison, change: Interval | None, n_samples: int) -> NumberText:
    if row.measure.group == "test":
        return NumberText("\u2013")
    finer = finer_digits(change, row.measure.unit, n_samples)
    interval = _interval(row.measure, change, n_samples, signed=True, finer=finer)
    return NumberText(measured_change(row, n_samples, interval=change), interval)


def _note(row: Comparison, value: float | None, known: Uncertainty | None, side: Side) -> str:
    """Return an interval, and what a regression finds without scores of exactly 0 and 1.

    These have no log-odds, so what they are set to may decide it.
    """
    between = _between(row, known, side.event.n_samples)
    inner = side.counted.once(without_ends) if row.measure.key in _REGRESSIONS else None
    if inner is None or value is None:
        return between
    own = float(_REGRESSIONS[row.measure.key](inner))
    if math.isnan(own) or abs(own - value) < _MATTERS:
        return between
    without = f"{measured(row, own, inner.n_samples)} without scores of exactly 0% and 100%"
    return f"{between}; {without}" if between else without


def _between(row: Comparison, uncertainty: Uncertainty | None, n_samples: int) -> str:
    """Return an interval, and why an estimate is outside its own; the p-value of a test."""
    if uncertainty is None:
        return ""
    if row.measure.is_tested_only:
        p_value = uncertainty.reference.p_value
        return "" if math.isnan(p_value) else p_words(p_value)
    interval = _interval(row.measure, uncertainty.interval, n_samples)
    value, low, high = uncertainty.value, uncertainty.interval.low, uncertainty.interval.high
    if not interval or not (value < low or value > high):
        return interval
    return f"{interval}, {ABOVE if value > high else BELOW}"


def _interval(
    measure: Measure,
    interval: Interval | None,
    n_samples: int,
    *,
    signed: bool = False,
    finer: int = 0,
) -> str:
    if interval is None or math.isnan(interval.low):
        return ""
    low, high = (
        amount(end, measure.unit, n_samples, signed=signed, finer=finer)
        for end in (interval.low, interval.high)
    )
    return span(low, high)


def _perfect(row: Comparison, uncertainty: Uncertainty | None, evaluated: SetResult) -> NumberText:
    """Return the 95% limit under perfect calibration; a dash where the scores alone decide it.

    Those of after, as `perfect_limits` decides.
    """
    n_samples = evaluated.n_samples
    low, high = perfect_limits(row.measure, uncertainty, evaluated.after.curves)
    if math.isnan(low) and math.isnan(high):
        return NumberText("\u2013")
    if not math.isnan(low) and not math.isnan(high):
        return NumberText(span(measured(row, low, n_samples), measured(row, high, n_samples)))
    if math.isnan(high):
        return NumberText(f"> {measured(row, low, n_samples)}")
    sign = "\u2264" if row.measure.unit == "rows" else "<"  # no count is below 0
    return NumberText(f"{sign} {measured(row, high, n_samples)}")
