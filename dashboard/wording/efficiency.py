"""What the page of data efficiency says."""

import math
from typing import NamedTuple

import numpy as np

from calibcore.calibrators import CATALOGUE
from calibcore.learning import LearningCurves, Step
from calibcore.metrics import METRICS
from calibcore.metrics.measure import Unit
from dashboard.settings import NO_METHOD
from dashboard.wording.numbers import amount
from dashboard.wording.sentences import method_name

METHODS = "Calibrators"
METHODS_HELP = (
    "The one chosen on the left keeps its options; the others are fitted with their defaults."
)
ALL = tuple(method.key for method in CATALOGUE)
SCORE_MAPS = tuple(method.key for method in CATALOGUE if method.acts_on == "event")
USUAL = ("spline", "temperature", "one_vs_rest_isotonic")
USUAL_SCORES = ("spline", "platt", "isotonic")
DRAWS, DRAWS_HELP = "Draws of each size", "More draws make the averages steadier and take longer."
ERROR = "Error"
ERRORS = {"ECE": "ece", "KDE-ECE": "kde_ece", "KS error": "ks_error"}
SHORT_MEASURES = {key: name for name, key in ERRORS.items()}
WHAT = "Drawing the curves"
NOTHING_YET = (
    "How many calibration rows does a calibrator need? Each one is fitted on fewer and fewer rows"
    " of the calibration set, and judged on the whole test set."
)
NO_METHODS = "Choose at least one calibrator."
LEAVES = (
    "Above the graph: more than twice what doing nothing gives; an arrow at a name says that its"
    " line ends there."
)
STOPPED = "Not all of it is worked out yet; the graphs show what is."


class NeedRow(NamedTuple):
    """One method in the table of needs.

    Parameters
    ----------
    name : str
        Of the method.
    few, full : str
        Mean error with the fewest rows and with all.
    enough : str
        Rows from which on it is nearly as good as with all.
    """

    name: str
    few: str
    full: str
    enough: str


def with_chosen(key: str) -> str:
    """Say that the method chosen on the left is drawn although it is not in the list."""
    return f"{method_name(key)}, chosen on the left, is drawn too."


def too_small(n_rows: int) -> str:
    """Say that there is no size to go up from."""
    return (
        f"The calibration set has {n_rows:,} rows. A curve starts at 50 rows, or at two a class if"
        " that is more, so there is nothing to draw here."
    )


def step_words(step: Step) -> str:
    """Say what is at work."""
    rows = f"{method_name(step.key)}, {step.size:,} rows"
    return rows if step.n_draws == 1 else f"{rows}, draw {step.draw} of {step.n_draws}"


def measure_name(measure: str) -> str:
    """Name a measure as everywhere else."""
    return next(known.name for known in METRICS if known.key == measure)


def shown(measure: str, value: float, n_test: int) -> str:
    """Write a mean with its unit."""
    unit: Unit = next(known.unit for known in METRICS if known.key == measure)
    text = amount(value, unit, n_test)
    return f"{text}%" if unit == "share" else text


def comparable_nll(found: LearningCurves) -> str:
    """Choose the NLL that all methods have: that of all classes, or else that of the event."""
    nll = (curve.mean("nll") for curve in found.curves)
    return "event_nll" if any(np.isnan(mean).any() for mean in nll) else "nll"


def conclusion(found: LearningCurves, measure: str, n_test: int) -> str:
    """Say which method is best with few rows, which overtakes it, and how many are enough.

    Parameters
    ----------
    found : LearningCurves
        What was learnt, doing nothing among it.
    measure : str
        By which methods are compared.
    n_test : int
        Rows of the test set.
    """
    best, name = found.best(measure), SHORT_MEASURES[measure]
    if not best:
        return f"No calibrator could be judged by {name}."
    (first_size, first), (last_size, last) = best[0], best[-1]
    early = shown(measure, _mean(found, first, measure, 0), n_test)
    late = shown(measure, _mean(found, last, measure, -1), n_test)
    start = f"With {first_size:,} calibration rows"
    if first == last == NO_METHOD:
        ending = f"nor with all {last_size:,} ({name} {late})"
        return f"{start} no calibrator beats doing nothing, {ending}."
    if first == last:
        text = f"{start} {method_name(first)} has the lowest {name} ({early})"
        if first_size == last_size:
            return f"{text}."
        return f"{text}, and again with all {last_size:,} ({late}). {_enough(found, last, measure)}"
    opening = f"{start} {method_name(first)} has the lowest {name} ({early})"
    if first == NO_METHOD:
        opening = f"{start} no calibrator beats doing nothing ({name} {early})"
    since = next(size for at, (size, _) in enumerate(best) if all(k == last for _, k in best[at:]))
    when = f"with all {since:,}" if since == last_size else f"from {since:,} rows on"
    if last == NO_METHOD:
        return f"{opening}; {when} no calibrator beats doing nothing ({late})."
    down = late if since == last_size else f"{late} with all {last_size:,}"
    ending = f"{when} {method_name(last)} is lowest ({down})"
    return f"{opening}; {ending}. {_enough(found, last, measure)}"


def _mean(found: LearningCurves, key: str, measure: str, place: int) -> float:
    return float(found.curve(key).mean(measure)[place])


def _enough(found: LearningCurves, key: str, measure: str) -> str:
    """Say how many rows a method needs to be nearly as good as with all."""
    curve = found.curve(key)
    enough, full = curve.enough(measure), int(curve.sizes[-1])
    if enough == full or enough is None:
        return f"More rows than these {full:,} may help it further."
    return f"{enough:,} rows bring it within 10% of what all {full:,} do."


def need_rows(found: LearningCurves, measure: str, n_test: int) -> list[NeedRow]:
    """Write the table: what each method gives with few rows and with all, and how many it needs."""
    rows = []
    for curve in found.curves:
        mean = curve.mean(measure)
        if not mean.size or math.isnan(mean[-1]):
            continue
        few, full = (shown(measure, float(mean[place]), n_test) for place in (0, -1))
        enough = curve.enough(measure)
        needs = "\u2013" if curve.key == NO_METHOD or enough is None else f"{enough:,}"
        rows.append(NeedRow(short(curve.key), few, full, needs))
    return rows


def short(key: str) -> str:
    """Name a method in the table."""
    return "Do nothing" if key == NO_METHOD else method_name(key)


def need_heads(found: LearningCurves) -> tuple[str, str, str, str]:
    """Name the columns of the table."""
    sizes = found.plan.sizes
    return "Calibrator", f"{sizes[0]:,} rows", f"All {sizes[-1]:,}", "Enough"


def need_note(measure: str) -> str:
    """Say what the table holds."""
    return (
        f"{measure_name(measure)} on the test set, mean over the draws. Enough: rows from which on"
        f" it is at most 10% worse than with all."
    )


def caption(found: LearningCurves, measure: str, *, leaves: bool = False) -> str:
    """Say what one graph shows, and why a line leaves it where one does."""
    better = next(known.better for known in METRICS if known.key == measure)
    plan = found.plan
    text = (
        f"{measure_name(measure)} on the test set: {better} is better. Mean over {plan.n_draws}"
        " draws; whiskers hold the middle 80 of 100."
    )
    return f"{text} {LEAVES}" if leaves else text


def draws_note(found: LearningCurves, *, expert: bool) -> str:
    """Say how rows were drawn."""
    plan = found.plan
    text = (
        f"Of each size {plan.n_draws} draws without repetition, every class by its share, the same"
        f" for all calibrators (seed {plan.seed}); of the whole set there is one."
    )
    if not expert:
        return text
    return (
        f"{text} Large draws overlap, so their spread is that of the choice of calibration rows"
        " given this test set, not a confidence interval."
    )


def missing_note(found: LearningCurves, measure: str) -> str:
    """Say which methods a graph leaves out, and which fits were refused; nothing if none."""
    out = [
        method_name(curve.key)
        for curve in found.curves
        if not curve.sizes.size or any(map(math.isnan, curve.mean(measure).tolist()))
    ]
    parts = []
    if out:
        parts.append(f"{', '.join(out)}: {measure_name(measure)} is not defined afterwards.")
    for curve in found.curves:
        if curve.n_refused:
            why = next(point.refused[0] for point in curve.points if point.refused)
            draws = "draw" if curve.n_refused == 1 else "draws"
            parts.append(
                f"{method_name(curve.key)} could not be fitted on {curve.n_refused} {draws} and is"
                f" left out there ({why.rstrip('.')})."
            )
    return " ".join(parts)
