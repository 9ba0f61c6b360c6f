"""Words of the page Data needed."""

import math

import numpy as np

from calibcore.calibrators import CATALOGUE
from calibcore.data_needed import LearningCurves, LearningProgress
from calibcore.metrics import measure_by_key
from dashboard.settings import NO_METHOD
from dashboard.texts.measures import spelled_out
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import DASH, ci, span, with_unit
from dashboard.texts.rows import rows_of, say_rows, says_rows

METHODS = "Calibrators"
METHODS_HELP = "The one chosen on the left keeps its options; the others use their defaults."
ALL = tuple(method.key for method in CATALOGUE if not method.knows_groups)
USUAL = ("spline", "temperature", "one_vs_rest_isotonic")
USUAL_SCORES = ("spline", "platt", "beta", "isotonic")
"""Fitted at first, with three classes and more, and with fewer."""

SETTINGS = "Subsamples"
DRAWS = "Subsamples per size"
DRAWS_HELP = "More subsamples give steadier means and take longer."
ERROR = "Error"
SHORT_MEASURES = {
    "event_nll": "NLL", "event_brier": "Brier score", "ece": "ECE", "kde_ece": "KDE-ECE",
    "ks_error": "KS error",
}  # fmt: skip
WHAT = "Computing the learning curves"
NOTHING_YET = (
    "How many calibration rows does a calibrator need? Each one is fitted on ever smaller"
    " subsamples of the calibration set, and evaluated on the whole test set."
)
HALVED = (
    "For this page the rows are split at random: calibrators are fitted on one half (the"
    " calibration set) and evaluated on the other (the test set)."
)
NO_METHODS = "Choose at least one calibrator."
LEAVES = "Values above twice the uncalibrated value are cut off (\u2191)."
STOPPED = "Incomplete: some points are missing."


def with_chosen(key: str) -> str:
    """Return that the calibrator chosen on the left is drawn although it is not in the list."""
    return f"{method_name(key)}, chosen on the left, is included."


@says_rows
def too_small(n_rows: int) -> str:
    """Return that the calibration set has too few rows for a curve."""
    return (
        f"Too few calibration rows ({n_rows:,}). A curve starts at 50 rows, or at two per class if"
        " that is more."
    )


@says_rows
def step_words(step: LearningProgress) -> str:
    """Return what is being fitted."""
    rows = f"{method_name(step.key)}, {step.size:,} rows"
    return rows if step.n_draws == 1 else f"{rows}, subsample {step.draw} of {step.n_draws}"


OTHERS = "Other measures"


def measure_name(measure: str) -> str:
    """Return the name of a measure."""
    return measure_by_key(measure).name


def shown(measure: str, value: float, n_test: int) -> str:
    """Return a mean with its unit."""
    return with_unit(value, measure_by_key(measure).unit, n_test)


def comparable_nll(curves: LearningCurves) -> str:
    """Return the key of the NLL that all have: that of all classes, or else that of the event."""
    nll = (curve.mean("nll") for curve in curves.curves)
    return "event_nll" if any(np.isnan(mean).any() for mean in nll) else "nll"


def conclusion(curves: LearningCurves, measure: str, n_test: int) -> tuple[str, ...]:
    """Return how many rows are enough, and which calibrator is best with few rows and with all.

    A sentence each; the first is there only where a calibrator is better than none.

    ``curves``: the curves, uncalibrated among them. ``measure``: by which calibrators are compared.
    ``n_test``: rows of the test set.
    """
    best, name = curves.best(measure), spelled_out(SHORT_MEASURES[measure])
    if not best:
        return (f"{SHORT_MEASURES[measure]} is not available for these calibrators.",)
    (few, first), (full, last) = best[0], best[-1]
    early = shown(measure, _mean(curves, first, measure, 0), n_test)
    late = shown(measure, _mean(curves, last, measure, -1), n_test)
    start = f"{early} with {few:,} calibration rows"
    if few == full:
        return (f"Lowest {name}: {method_name(first)} ({start}).",)
    if first == last:
        always, figures = all(key == last for _, key in best), f"{start}, {late} with {full:,}"
        where = "at every size shown" if always else "at both ends"
        if last != NO_METHOD:
            text = f"{method_name(last)} has the lowest {name} {where}: {figures}."
            return (*_enough(curves, last, measure), text)
        if always:
            return (f"No calibrator beats uncalibrated scores: {name} {figures}.",)
        return (f"Uncalibrated scores have the lowest {name} {where}: {figures}.",)
    since = next(size for at, (size, _) in enumerate(best) if all(k == last for _, k in best[at:]))
    when = f"with {full:,} rows ({late})"
    if since < full:
        when = f"from {since:,} rows on ({late} with {full:,})"
    opening = f"Lowest {name}: {method_name(first)} with {few:,} calibration rows ({early})"
    text = f"{opening}, {method_name(last)} {when}."
    return (text,) if last == NO_METHOD else (*_enough(curves, last, measure), text)


def _mean(curves: LearningCurves, key: str, measure: str, place: int) -> float:
    return float(curves.curve(key).mean(measure)[place])


def _enough(curves: LearningCurves, key: str, measure: str) -> tuple[str, ...]:
    """Return how many rows a calibrator needs to gain nearly as much as with all."""
    curve, before = curves.curve(key), _before(curves, measure)
    enough, full = curve.enough(measure, before), int(curve.sizes[-1])
    if enough is None:
        return ()
    if curve.sizes.size > 1 and enough.n_rows > curve.sizes[-2]:
        return (f"More than {full:,} rows may still help {method_name(key)}.",)
    low, high = rounded(enough.low), rounded(enough.high)
    return (
        (
            f"About {rounded(enough.n_rows)} rows ({ci(low, high)}) keep 90% of the gain of"
            f" {method_name(key)} over uncalibrated scores; the calibration set has {full:,}."
        ),
    )


def _before(curves: LearningCurves, measure: str) -> float:
    """Return the error of uncalibrated scores; NaN where they have not been evaluated."""
    means = (c.mean(measure) for c in curves.curves if c.key == NO_METHOD)
    return next((float(mean[-1]) for mean in means if mean.size), math.nan)


def rounded(n_rows: float) -> str:
    """Return a number of rows with two digits that count."""
    return f"{float(f'{n_rows:.2g}'):,.0f}"


def need_rows(curves: LearningCurves, measure: str, n_test: int) -> list[tuple[str, ...]]:
    """Return the table: calibrator, error with few rows and with all, and the rows needed."""
    rows, before = list[tuple[str, ...]](), _before(curves, measure)
    for curve in curves.curves:
        mean = curve.mean(measure)
        if not mean.size or math.isnan(mean[-1]):
            continue
        few, full = (shown(measure, float(mean[place]), n_test) for place in (0, -1))
        enough = curve.enough(measure, before)
        needs = DASH if curve.key == NO_METHOD or math.isnan(before) else "no gain"
        if enough is not None:
            low, high = rounded(enough.low), rounded(enough.high)
            needs = f"{rounded(enough.n_rows)} ({span(low, high)})"
        rows.append((method_name(curve.key), few, full, needs))
    return rows


def need_heads(curves: LearningCurves) -> tuple[str, str, str, str]:
    """Return the column heads of the table."""
    sizes = curves.plan.sizes
    return "Calibrator", rows_of(sizes[0]), f"All {sizes[-1]:,}", say_rows("Rows needed")


@says_rows
def need_note(measure: str) -> str:
    """Return what the table holds."""
    return (
        f"Mean {SHORT_MEASURES[measure]} on the test set. Rows needed: they keep 90% of the gain"
        " over uncalibrated scores that all rows give (95% CI, from the subsamples)."
    )


def caption(measure: str) -> str:
    """Return which direction is better in one graph."""
    return f"{measure_by_key(measure).better.capitalize()} is better."


def marks_note(curves: LearningCurves) -> str:
    """Return what the marks of the graphs are."""
    draws = curves.plan.n_draws
    return f"Mean of {draws} stratified subsamples; error bars: 10th\u201390th percentile."


def draws_note(curves: LearningCurves) -> str:
    """Return how rows were drawn, for experts."""
    return (
        "Subsamples are drawn without replacement and shared by all calibrators"
        f" (seed {curves.plan.seed}). Large ones overlap, so their spread is not a confidence"
        " interval."
    )


def missing_note(curves: LearningCurves, measure: str) -> str:
    """Return which calibrators a graph leaves out, and which fits failed; nothing if none."""
    out = [
        method_name(curve.key)
        for curve in curves.curves
        if not curve.sizes.size or any(map(math.isnan, curve.mean(measure).tolist()))
    ]
    parts = []
    if out:
        parts.append(f"{', '.join(out)}: {measure_name(measure)} after calibration not available.")
    for curve in curves.curves:
        if curve.n_refused:
            why = next(point.refused[0] for point in curve.points if point.refused)
            draws = "subsample" if curve.n_refused == 1 else "subsamples"
            parts.append(
                f"{method_name(curve.key)} could not be fitted on {curve.n_refused} {draws}"
                f" ({why.rstrip('.')})."
            )
    return " ".join(parts)
