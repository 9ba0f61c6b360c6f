"""A closer look at what was fitted: uncertainty of each measure, every class."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from calibcore.calibrators.base import FittedVectorMap, Progress, ScoreMap, part_of
from calibcore.counted import CountedScores
from calibcore.data import EventScores, is_designed
from calibcore.evaluation import sides_of
from calibcore.events import TopR
from calibcore.fitting import prepare
from calibcore.inference import ClassScreen, Inference, Plan, infer, screen_classes
from calibcore.inference.refits import N_DRAWS, Refits, refit
from calibcore.metrics import METRICS, EventMeasure, Measure, Options
from calibcore.reliability import BinnedReliability, classwise_reliability
from calibcore.splits import Folds
from calibcore.validation import Floats, Labels
from dashboard.compute.cache import key_of, once
from dashboard.compute.split import evaluated_rows, whole_split
from dashboard.readers import Upload
from dashboard.scene import Scene
from dashboard.settings import CLASS_BINS, NO_METHOD, Settings, method_by_key
from dashboard.texts.measures import listed, telling

Result = TypeVar("Result")

LEAST_RESAMPLES, MOST_DRAWN = 100, 50_000_000
"""With many rows there are fewer resamples than asked for, so that nobody waits for minutes."""

REFIT_SECONDS, _LEAST_REFITTED, _USUAL_SECONDS_PER_LOGIT = 4.0, 500, 4e-9
"""Fits are repeated for about so long, on so many rows or not at all."""

_OF_FEW_NUMBERS = 0.3
"""Share of that time for maps of few numbers, which fewer rows tell as much of."""

_FEW_NUMBERS = 3
"""Numbers of a map of all classes that are few."""


@dataclass(frozen=True)
class Screening:
    """Every class of one set."""

    before: ClassScreen
    """Uncalibrated."""
    after: ClassScreen | None
    """Calibrated; None where the calibrator leaves no class probabilities."""
    where: str
    """Name of the set."""


def measures_of(scene: Scene, *, full: bool) -> tuple[Measure, ...]:
    """List the measures that tell something of a scene, all or those that matter most."""
    n_classes = None if scene.class_names is None else len(scene.class_names)
    every = listed(full=full, n_classes=n_classes, event=scene.settings.event)
    if scene.upload.summary is None:
        return every
    return tuple(one for one in every if isinstance(one, EventMeasure))


def measures_defined(scene: Scene) -> list[Measure]:
    """Return the measures that are defined for these data."""
    if scene.class_names is None:
        return [m for m in METRICS if isinstance(m, EventMeasure)]
    return list(telling(len(scene.class_names), scene.settings.event))


def affordable(n_resamples: int, n_rows: int) -> int:
    """Return how many of the resamples that are asked for are drawn of so many rows."""
    return min(n_resamples, max(LEAST_RESAMPLES, MOST_DRAWN // n_rows))


def closer_look(scene: Scene, measures: tuple[Measure, ...], progress: Progress) -> Inference:
    """Find the uncertainty of measures on one set, once for each plan."""
    evaluated = scene.evaluated
    # Of counted rows neighbours are drawn together, so that their number is no matter.
    counted = isinstance(evaluated.before.event, CountedScores)
    n_drawn = 1 if counted else evaluated.n_samples
    n_resamples = affordable(scene.n_resamples, n_drawn)
    plan = Plan(measures, Options(scene.settings.n_bins), n_resamples)
    sides = scene.rows, evaluated, scene.calibrated_by
    by_folds = scene.result.by_fold is not None and scene.chosen == "test"

    def make() -> Inference:
        share = 0.5 if by_folds else 1.0
        inference = infer(*sides_of(*sides), plan, progress=part_of(progress, 0.0, share))
        if not by_folds:
            return inference
        fold = whole_split(scene.upload, scene.settings).fold
        if fold is None:
            raise AssertionError(scene.settings)

        again = part_of(progress, share)
        upload, settings = scene.upload, scene.settings
        return refits_of(upload, settings, fold, plan, REFIT_SECONDS, again).widened(inference)

    return once("inferences", (key_of(scene.upload, scene.settings), scene.chosen, plan), make)


def refits_of(
    upload: Upload,
    settings: Settings,
    fold: Folds,
    plan: Plan,
    seconds: float,
    progress: Progress = lambda _: None,
) -> Refits:
    """Find what fits by folds add to the uncertainty of changes; nothing where it takes too long.

    As many rows are fitted again as take about the given time on a usual machine, so that what is
    found does not depend on this one.
    """
    calibrator, event = settings.calibrator(), settings.event
    if calibrator is None:
        raise AssertionError(settings)
    rows = whole_split(upload, settings).calibration
    n_rows, n_classes = rows.n_samples, len(upload.class_names or ()) or 2
    method = method_by_key(settings.method)
    cost, fits = method.cost_of(**dict(settings.options)), method.fits
    n_fits = (int(fold.max()) + 1) * (N_DRAWS + 1)
    needed = n_fits * cost.seconds(n_rows, n_classes, _USUAL_SECONDS_PER_LOGIT)
    # What many numbers are fitted to says little on fewer rows of how it does on all.
    few = fits.kind == "numbers" and fits.count(n_classes) <= _FEW_NUMBERS
    few_numbers = few or isinstance(calibrator, ScoreMap)
    most = int(n_rows * min(seconds / needed * (_OF_FEW_NUMBERS if few_numbers else 1), 1))
    if most < min(n_rows, _LEAST_REFITTED if few_numbers else n_rows):
        return Refits({}, {})
    part, prepared = evaluated_rows(upload, settings, "calibration"), prepare(rows, event)
    plan = replace(plan, n_resamples=N_DRAWS)
    return refit(prepared, event, calibrator, fold, plan, part=part, most=most, progress=progress)


def screen(scene: Scene) -> Screening | None:
    """Look at every class of one set before and after, once for each fit of all classes.

    Neither the event nor the number of bins changes what is found; None where there are no classes.
    """
    both_sides = _both_sides(scene, "screens", screen_classes)
    if both_sides is None:
        return None
    before, after = both_sides
    if after is not None and after is not before:
        after = after.since(before)
    return Screening(before, after, scene.where)


def class_bins(scene: Scene) -> tuple[BinnedReliability, BinnedReliability | None] | None:
    """Gather the rows of one set into bins of every class, before and after, as `screen`."""

    def look(probabilities: Floats, labels: Labels) -> BinnedReliability:
        return classwise_reliability(probabilities, labels, n_bins=CLASS_BINS)

    return _both_sides(scene, "class bins", look)


def _both_sides(
    scene: Scene, kind: str, look: Callable[[Floats, Labels], Result]
) -> tuple[Result, Result | None] | None:
    """Look at the class probabilities of both sides; None for a side that has none.

    None also of rows that are weighted or belong together, of which classes have no tests.
    """
    rows, fitted = scene.rows, scene.calibrated_by
    if isinstance(rows, EventScores) or is_designed(rows):
        return None
    alike = replace(scene.settings, event=TopR(1), n_bins=CLASS_BINS)
    plain = replace(alike, method=NO_METHOD, options=())

    def looked(settings: object, make: Callable[[], Result]) -> Result:
        key = (*key_of(scene.upload, scene.settings)[:3], repr(settings), scene.chosen)
        return once(kind, key, make)

    before = looked(plain, lambda: look(rows.probabilities, rows.labels))
    after: Result | None = before if fitted is None else None
    if isinstance(fitted, FittedVectorMap):
        after = looked(alike, lambda: look(fitted.predict_proba(rows.logits), rows.labels))
    return before, after
