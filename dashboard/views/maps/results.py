"""What the page of calibration maps shows: curves, movements, and sweeps by hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from plotly import graph_objects as go

from calibcore.calibrators import (
    FittedSpline,
    FittedTemperature,
    FittedVectorMap,
    SplineCalibration,
    TemperatureScaling,
)
from calibcore.calibrators.base import FittedGroupMap, FittedScoreMap, Progress, ScoreMap
from calibcore.calibrators.method import Cost
from calibcore.counted import weighted
from calibcore.curves import (
    ClassMoves,
    KnotSweep,
    Movement,
    ScoreCurve,
    TemperatureSweep,
    grid_moves,
    group_curves,
    knot_sweep,
    map_inside,
    movement,
    score_curve,
    temperature_sweep,
)
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult, evaluate
from calibcore.fitting import prepare
from calibcore.metrics import Options, entropy_is_nll
from calibcore.splits import N_FOLDS
from dashboard.compute.cache import is_known, key_of, once
from dashboard.compute.fits import fitted_on, seconds_per_logit
from dashboard.compute.groupings import names_of_groups
from dashboard.compute.split import whole_split
from dashboard.figures.maps import NamedCurve, map_graph, odds_graph, shift_graph
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, method_by_key

FIRST_KNOTS, LAST_KNOTS = 3, 30
"""Numbers of knots that are tried."""

MOST_GROUPS = 4
"""Groups whose curves are drawn: those that differ most from all rows."""

ARROWS = 120
"""Rows whose arrows are drawn, at most."""

_A_TEMPERATURE = Cost((53.0, 16.0, 12.0))
"""One temperature of a sweep, in passes of `numpy.exp`, as measured."""

_A_KNOT_ROW = 4e-7
"""Seconds a row for one number of knots, as measured."""

_NEAR, _WIDE = (-1.0, 1.0, 40), (-3.0, 3.0, 20)
"""First and last power of ten of the temperatures, and steps for each."""

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class AtTemperature:
    """One set at one temperature."""

    measured: TemperatureSweep
    """Of this temperature alone."""
    evaluated: SetResult
    """The set before, and after division by this temperature."""


def moved(scene: Scene) -> Movement:
    """Measure how far the chosen calibrator moves the scores of the set that is looked at."""
    evaluated = scene.evaluated
    return movement(evaluated.before.event, evaluated.after.event)


def chosen_curve(scene: Scene) -> ScoreCurve | None:
    """Return the chosen calibrator as a curve; None where it is none."""
    inside = map_inside(scene.result.fitted, scene.settings.event)
    if inside is None:
        return None
    return once("curves", key_of(scene.upload, scene.settings), lambda: score_curve(inside))


def deepest_fall(curve: ScoreCurve) -> tuple[float, float, float]:
    """Return by how much a curve falls at most, and the scores from which and to which it does."""
    fallen = np.maximum.accumulate(curve.calibrated) - curve.calibrated
    low = int(fallen.argmax())
    high = int(curve.calibrated[: low + 1].argmax())
    return float(fallen[low]), float(curve.score[high]), float(curve.score[low])


STRAIGHT, MIDDLE = 0.02, (0.1, 0.9)
"""Farthest from a line that looks straight, and the scores between which it is looked at."""


def looks_straight(curve: ScoreCurve) -> bool:
    """Return whether a curve is near a straight line over the scores of `MIDDLE`."""
    score = np.linspace(*MIDDLE, 81)
    calibrated = np.interp(score, curve.score, curve.calibrated)
    line = np.polyval(np.polyfit(score, calibrated, 1), score)
    return bool(np.abs(calibrated - line).max() <= STRAIGHT)


def fold_curves(scene: Scene) -> tuple[ScoreCurve, ...]:
    """Return the chosen calibrator fitted without each fold, as curves; none without folds."""
    by_fold, event = scene.result.by_fold, scene.settings.event
    if by_fold is None:
        return ()
    inside = (map_inside(one, event) for one in by_fold.maps)
    key = key_of(scene.upload, scene.settings)
    return once("fold curves", key, lambda: tuple(score_curve(one) for one in inside if one))


def curves_of_groups(scene: Scene) -> list[tuple[str, ScoreCurve]]:
    """Return names, text of the file, and curves of the groups that differ most from all rows.

    How much is the mean distance from the curve of all, over the scores of the set looked at.
    """
    fitted, names = scene.result.fitted, names_of_groups(scene)
    of_all = chosen_curve(scene)
    if not isinstance(fitted, FittedGroupMap) or not names or of_all is None:
        return []
    scores = scene.evaluated.before.event.scores
    usual = np.quantile(scores, np.linspace(0.005, 0.995, 100))
    plain = np.interp(usual, of_all.score, of_all.calibrated)

    def distance(curve: ScoreCurve) -> float:
        return float(np.abs(np.interp(usual, curve.score, curve.calibrated) - plain).mean())

    curves = group_curves(fitted)
    apart = {place: distance(curve) for place, curve in curves.items()}
    ordered = sorted(filter(apart.get, apart), key=lambda place: -apart[place])[:MOST_GROUPS]
    return [(names[column][1][group], curves[column, group]) for column, group in ordered]


def curve_of(scene: Scene, key: str) -> ScoreCurve | None:
    """Fit a map of the event's score with its default options; None where rows are too few."""
    settings = replace(scene.settings.in_any_bins, method=key, options=())

    def make() -> ScoreCurve | None:
        score_map = method_by_key(key).make()
        if not isinstance(score_map, ScoreMap):
            return None
        rows, weights = weighted(fitted_on(scene))
        try:
            return score_curve(score_map.fit(rows.scores, rows.hits, sample_weight=weights))
        except CalibrationInputError:
            return None

    return once("curves", key_of(scene.upload, settings), make)


def draw_maps(scene: Scene, curves: Sequence[NamedCurve]) -> tuple[go.Figure, ...]:
    """Draw curves and by how much they move scores, over the set looked at; and on log-odds."""
    names = tuple((one.name, one.chosen) for one in curves)
    key = (key_of(scene.upload, scene.settings), scene.chosen, scene.palette, names)
    side, palette = scene.evaluated.before, scene.palette

    def draw() -> tuple[go.Figure, ...]:
        over_rows = (graph(curves, side, palette) for graph in (map_graph, shift_graph))
        return *over_rows, odds_graph(curves, palette)

    return once("maps", key, draw)


def arrows(scene: Scene) -> tuple[ClassMoves, ClassMoves] | None:
    """Return the arrows of a grid and of some rows; None unless three classes are recalibrated."""
    fitted, rows = scene.result.fitted, scene.rows
    if not isinstance(fitted, FittedVectorMap) or not isinstance(rows, LogitSet):
        return None
    if rows.n_classes != 3:
        return None
    # At even steps of the order by score, so that sure and unsure rows are there alike.
    order = np.argsort(scene.evaluated.before.event.scores, kind="stable")
    steps = np.linspace(0, order.size - 1, min(ARROWS, order.size)).round().astype(np.intp)
    chosen = order[steps]
    after = fitted.predict_proba(rows.logits[chosen])
    return grid_moves(fitted), ClassMoves(rows.probabilities[chosen], after)


# Temperature by hand ------------------------------------------------------------------------------


def fitted_temperature(scene: Scene) -> float | None:
    """Return the temperature that the calibration set chooses; None where there are no classes."""
    if isinstance(scene.result.fitted, FittedTemperature):
        return scene.result.fitted.temperature
    rows = scene.split.calibration
    if not isinstance(rows, LogitSet):
        return None
    return _of_data(
        scene,
        "fitted temperatures",
        lambda: TemperatureScaling().fit(rows.logits, rows.labels).temperature,
    )


def entropy_at(scene: Scene, fitted: float) -> float | None:
    """Return mean entropy and NLL of the calibration set at a temperature if they are equal."""
    rows = scene.split.calibration
    if not isinstance(rows, LogitSet):
        return None
    temperature = FittedTemperature(fitted)
    return _of_data(
        scene,
        "entropies",
        lambda: entropy_is_nll(temperature.predict_proba(rows.logits), rows.labels),
        fitted,
    )


def temperatures(fitted: float, *, fine: bool) -> list[float]:
    """List temperatures at even steps of their logarithm: to be set by hand if fine.

    From 0.1 to 10, or from 0.001 to 1,000 if the fitted one is outside.
    """
    first, last, steps = _WIDE if is_wide(fitted) else _NEAR
    size = round((last - first) * (steps if fine else steps // 2)) + 1
    values = np.geomspace(10**first, 10**last, size)
    return [float(f"{value:.3g}") if fine else float(value) for value in values]


def is_wide(fitted: float) -> bool:
    """Return whether a temperature is outside those that usually are enough."""
    return not 0.11 < fitted < 9


def sweep_seconds(scene: Scene, rows: LogitSet, fitted: float) -> float:
    """Estimate what the sweep over temperatures will take; 0 where it is known."""
    if is_known("temperature sweeps", _data_key(scene)):
        return 0.0
    one = _A_TEMPERATURE.seconds(rows.n_samples, rows.n_classes, seconds_per_logit())
    return one * len(temperatures(fitted, fine=False))


def sweep_temperature(
    scene: Scene, rows: LogitSet, fitted: float, progress: Progress
) -> TemperatureSweep:
    """Measure the set that is looked at at many temperatures."""
    settings = scene.settings
    grid = temperatures(fitted, fine=False)
    return _of_data(
        scene,
        "temperature sweeps",
        lambda: temperature_sweep(
            rows, settings.event, grid, n_bins=settings.n_bins, progress=progress
        ),
    )


def at_temperature(scene: Scene, rows: LogitSet, temperature: float) -> AtTemperature:
    """Measure and evaluate the set that is looked at at one temperature."""
    settings = scene.settings

    def make() -> AtTemperature:
        event, n_bins = settings.event, settings.n_bins
        measured = temperature_sweep(rows, event, [temperature], n_bins=n_bins)
        fitted = FittedTemperature(temperature)
        evaluated = evaluate(prepare(rows, event), event, fitted, Options(n_bins=n_bins))
        return AtTemperature(measured, evaluated)

    return _of_data(scene, "temperatures", make, temperature)


# Knots by hand ------------------------------------------------------------------------------------


def spline_at_hand(scene: Scene) -> SplineCalibration:
    """Return the spline with the options that are chosen, or the usual ones."""
    calibrator = scene.settings.calibrator()
    return calibrator if isinstance(calibrator, SplineCalibration) else SplineCalibration()


def chosen_knots(scene: Scene) -> int | None:
    """Return the number of knots of the spline that is chosen; None where it is another method."""
    fitted = scene.result.fitted
    return fitted.knot_values.size if isinstance(fitted, FittedSpline) else None


def knots_seconds(scene: Scene) -> float:
    """Estimate what the sweep over knots will take; 0 where it is known."""
    spline = spline_at_hand(scene)
    if is_known("knot sweeps", (*_data_key(scene, with_set=False), spline)):
        return 0.0
    n_rows = sum(rows.n_samples for rows in (scene.split.calibration, scene.split.test))
    n_fits = N_FOLDS if scene.in_folds else 1
    return _A_KNOT_ROW * n_fits * n_rows * (LAST_KNOTS - FIRST_KNOTS + 1)


def sweep_knots(scene: Scene, progress: Progress) -> KnotSweep:
    """Fit splines with many numbers of knots, and evaluate them on both sets."""
    spline, knots = spline_at_hand(scene), range(FIRST_KNOTS, LAST_KNOTS + 1)

    def make() -> KnotSweep:
        rows = fitted_on(scene)
        if scene.in_folds:
            fold = whole_split(scene.upload, scene.settings).fold
            return knot_sweep(rows, rows, spline, knots, fold=fold, progress=progress)
        test = scene.result.test.before.event
        return knot_sweep(rows, test, spline, knots, progress=progress)

    return once("knot sweeps", (*_data_key(scene, with_set=False), spline), make)


def spline_curve(scene: Scene, n_knots: int) -> ScoreCurve:
    """Fit the spline with a number of knots."""
    spline = replace(spline_at_hand(scene), n_knots=n_knots, cross_validated=False)

    def make() -> ScoreCurve:
        rows = fitted_on(scene)
        fitted: FittedScoreMap = spline.fit(rows.scores, rows.hits, sample_weight=rows.weights)
        return score_curve(fitted)

    return once("spline curves", (*_data_key(scene, with_set=False), spline), make)


def _data_key(scene: Scene, *, with_set: bool = True) -> tuple[object, ...]:
    """Return what stands for the data, the event and the bins, whatever calibrator is chosen."""
    alike = replace(scene.settings, method=NO_METHOD, options=())
    return (*key_of(scene.upload, alike), *((scene.chosen,) if with_set else ()))


def _of_data(scene: Scene, kind: str, make: Callable[[], Result], *more: object) -> Result:
    return once(kind, (*_data_key(scene), *more), make)
