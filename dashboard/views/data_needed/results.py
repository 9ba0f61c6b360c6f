"""Learning curves, each size of each method kept by itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from calibcore.calibrators import Calibrator
from calibcore.calibrators.method import Cost
from calibcore.data import LogitSet
from calibcore.data_needed import (
    LearningCurve,
    LearningCurves,
    LearningPlan,
    LearningPoint,
    LearningProgress,
    learning_curves,
    learning_sizes,
)
from calibcore.splits import AnySplit
from dashboard.compute.cache import at_hand, is_known, key_of, once
from dashboard.compute.comparison import settings_of
from dashboard.compute.fits import seconds_per_logit
from dashboard.compute.split import split_of
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, method_by_key

SEED = 0
"""Of the draws."""

_UNCERTAINTY = Cost((80.0, 25.0, 15.0))
"""A test set evaluated once, in passes of `numpy.exp`, as measured."""

_LEAST_ROWS = 2_000
"""A fit on fewer rows takes about as long as one on these, as it needs more steps."""


def learning_split(scene: Scene) -> AnySplit:
    """Return rows to draw from and others to evaluate; a set that serves both ends is halved."""
    if not scene.in_folds:
        return scene.split
    return split_of(scene.upload, replace(scene.settings, calibration_share=0.5))


def plan_of(scene: Scene, n_draws: int) -> LearningPlan:
    """Return the sizes, the draws and the bins."""
    sizes = learning_sizes(learning_split(scene).calibration)
    return LearningPlan(sizes, n_draws, SEED, scene.settings.n_bins)


def finished(scene: Scene, keys: Sequence[str], plan: LearningPlan) -> LearningCurves:
    """Return what is known already of some methods, no calibration among them."""
    curves = []
    for key in (NO_METHOD, *keys):
        points = [at_hand(_kind(key), _point_key(scene, key, size, plan)) for size in plan.sizes]
        known = tuple(point for point in points if point is not None)
        if known:
            curves.append(LearningCurve(key, known))
    return LearningCurves(tuple(curves), plan)


def is_complete(curves: LearningCurves, keys: Sequence[str]) -> bool:
    """Return whether every size of every method is known."""
    lengths = {curve.key: len(curve.points) for curve in curves.curves}
    wanted = len(curves.plan.sizes)
    return all(lengths.get(key) == wanted for key in (NO_METHOD, *keys))


def learn(
    scene: Scene,
    keys: Sequence[str],
    plan: LearningPlan,
    progress: Callable[[LearningProgress], None],
) -> LearningCurves:
    """Fit and evaluate what is not known yet; what is finished is kept when the rest is stopped."""

    def keep(key: str, size: int, make: Callable[[], LearningPoint]) -> LearningPoint:
        return once(_kind(key), _point_key(scene, key, size, plan), make)

    calibrators: dict[str, Calibrator | None] = {
        key: settings_of(scene, key).calibrator() for key in (NO_METHOD, *keys)
    }
    event = scene.settings.event
    split = learning_split(scene)
    return learning_curves(split, event, calibrators, plan, progress=progress, keep=keep)


def seconds(scene: Scene, keys: Sequence[str], plan: LearningPlan) -> float:
    """Estimate what is still to be done."""
    split, speed = learning_split(scene), seconds_per_logit()
    rows = split.test
    n_classes = rows.n_classes if isinstance(rows, LogitSet) else 2
    evaluating = _UNCERTAINTY.seconds(rows.n_samples, n_classes, speed)
    whole, total = split.calibration.n_samples, 0.0
    for key in keys:
        method = method_by_key(key)
        cost = method.cost_of(**dict(settings_of(scene, key).options))
        columns = n_classes if method.acts_on == "classes" else 2
        for size in plan.sizes:
            if is_known(_kind(key), _point_key(scene, key, size, plan)):
                continue
            fitting = cost.seconds(max(size, _LEAST_ROWS), columns, speed)
            total += (1 if size == whole else plan.n_draws) * (fitting + evaluating)
    return total


def _kind(key: str) -> str:
    return f"data needed {key}"  # a shelf each, so that many methods do not push each other out


def _point_key(scene: Scene, key: str, size: int, plan: LearningPlan) -> tuple[object, ...]:
    settings = settings_of(scene, key)
    return (*key_of(scene.upload, settings), size, plan.n_draws, plan.seed)
