"""What a calibrator does to scores: its curve is the map itself, to the last jump."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from calibcore.calibrators import (
    BBQ,
    CATALOGUE,
    FittedTemperature,
    HistogramBinning,
    IsotonicCalibration,
    OneVsRest,
    PerRank,
    PlattScaling,
    PooledClasses,
    PooledScores,
    ScoreMap,
    SplineCalibration,
    TemperatureScaling,
    VectorMap,
    VennAbers,
)
from calibcore.calibrators.lifts import FittedOneVsRest, FittedPerRank, FittedPooledClasses
from calibcore.calibrators.method import Method
from calibcore.calibrators.score_maps.isotonic import FittedIsotonic
from calibcore.counted import CountedScores
from calibcore.curves import ScoreCurve, grid_moves, map_inside, movement, score_curve
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.probabilities import softmax
from tests.core.draws import overconfident, squared
from tests.strategies import EventCase, event_data

STEPS = [
    HistogramBinning(n_bins=7),
    HistogramBinning(n_bins=5, binning="equal_mass"),
    IsotonicCalibration(),
    BBQ(),
    VennAbers(),
]
SCORE_MAPS = [made for m in CATALOGUE if isinstance(made := m.make(), ScoreMap)]


def three_classes(n_rows: int = 400) -> LogitSet:
    return overconfident(np.random.default_rng(8), n_rows, 3, spread=5, by=3)


# The curve ------------------------------------------------------------------------------------


@pytest.mark.parametrize("score_map", SCORE_MAPS, ids=lambda made: type(made).__name__)
def test_a_curve_is_what_the_map_predicts_from_0_to_1(score_map: ScoreMap) -> None:
    rows = squared(300)
    fitted = score_map.fit(rows.scores, rows.hits)
    curve = score_curve(fitted)
    assert (curve.score[0], curve.score[-1]) == (0.0, 1.0)
    assert (np.diff(curve.score) > 0).all()
    assert curve.calibrated.tolist() == fitted.predict(curve.score).tolist()


@pytest.mark.parametrize("score_map", STEPS, ids=lambda made: f"{type(made).__name__}")
@given(case=event_data(min_size=2))
def test_steps_are_drawn_as_steps(score_map: ScoreMap, case: EventCase) -> None:
    """Between two neighbouring places of the curve, a step map that differs jumps at one of them.

    A histogram's empty bin leaves scores as they are; there the curve is a line, not a step.
    """
    fitted = score_map.fit(*case)
    curve = score_curve(fitted)
    left, right = curve.score[:-1], curve.score[1:]
    jumps = curve.calibrated[1:] != curve.calibrated[:-1]
    apart = jumps & (right > np.nextafter(left, 2))
    level = np.abs(np.diff(curve.calibrated) - (right - left)) < 1e-15
    assert not (apart & ~(level & (curve.calibrated[1:] == right))).any()


@given(case=event_data(min_size=6))
def test_between_two_places_nothing_happens(case: EventCase) -> None:
    """Straight lines between the places of the curve are the map, for splines and staircases."""
    rng = np.random.default_rng(1)
    for score_map in (IsotonicCalibration(), IsotonicCalibration(interpolate=True), BBQ()):
        fitted = score_map.fit(*case)
        curve, scores = score_curve(fitted), rng.random(200)
        drawn = np.interp(scores, curve.score, curve.calibrated)
        assert_allclose(drawn, fitted.predict(scores), atol=1e-9)


def test_a_spline_bends_where_the_curve_has_places() -> None:
    rows = squared(300, seed=3)
    fitted = SplineCalibration(constrained=True).fit(rows.scores, rows.hits)
    curve = score_curve(fitted)
    assert np.isin(fitted.scores, curve.score).all()
    scores = np.random.default_rng(2).random(500)
    drawn = np.interp(scores, curve.score, curve.calibrated)
    assert_allclose(drawn, fitted.predict(scores), atol=1e-12)


def test_a_curve_that_falls_says_so() -> None:
    places = np.array([0.0, 0.5, 1.0])
    assert not ScoreCurve(places, np.array([0.1, 0.1, 0.9])).falls
    assert ScoreCurve(places, np.array([0.1, 0.3, 0.2])).falls


def test_the_map_inside_a_lift_acts_on_one_event() -> None:
    rows = three_classes()
    platt = PlattScaling()
    rest = OneVsRest(platt).fit(rows.logits, rows.labels)
    rank = PerRank(platt, n_ranks=2).fit(rows.logits, rows.labels)
    pooled = PooledClasses(IsotonicCalibration()).fit(rows.logits, rows.labels)
    assert isinstance(rest, FittedOneVsRest)
    assert isinstance(rank, FittedPerRank)
    assert isinstance(pooled, FittedPooledClasses)
    scores = PooledScores(IsotonicCalibration()).fit(rows.logits, rows.labels)
    assert map_inside(rest, OneClass(2)) is rest.score_maps[2]
    assert map_inside(rest, TopR(1)) is None
    assert map_inside(rank, TopR(2)) is rank.score_maps[1]
    assert map_inside(rank, TopR(3)) is None
    assert map_inside(pooled, TopR(3)) is pooled.score_map
    assert map_inside(pooled, WithinTopR(2)) is None
    assert map_inside(scores, TopR(1)) is scores
    assert map_inside(FittedTemperature(2.0), TopR(1)) is None
    assert map_inside(None, TopR(1)) is None
    assert isinstance(scores.score_map, FittedIsotonic)
    assert np.isin(scores.score_map.first, score_curve(scores).score).all()


# How far rows move ----------------------------------------------------------------------------


def test_movement_counts_what_moves() -> None:
    before = EventScores([0.9, 0.8, 0.5, 0.2], [1, 1, 0, 0])
    after = EventScores([0.7, 0.8, 0.6, 0.2 + 1e-9], [1, 1, 0, 0])
    moved = movement(before, after)
    assert (moved.n_samples, moved.n_lowered, moved.n_raised) == (4, 1, 1)
    assert_allclose(moved.mean_shift, -0.1 / 4, atol=1e-8)
    assert_allclose(moved.mean_distance, 0.3 / 4, atol=1e-8)
    assert (moved.score, moved.calibrated) == (0.9, 0.7)
    with pytest.raises(CalibrationInputError, match="after: 3 rows"):
        movement(before, after.rows([0, 1, 2]))


def test_the_widest_range_of_scores_that_become_one_is_found_by_hand() -> None:
    scores = [0.9, 0.1, 0.6, 0.2, 0.6, 0.95]  # 0.1, 0.2 -> 0.15; 0.6, 0.6, 0.9 -> 0.7; 0.95 stays
    now = [0.7, 0.15, 0.7, 0.15, 0.7, 0.95]
    moved = movement(EventScores(scores, [1] * 6), EventScores(now, [1] * 6))
    assert (moved.flat, moved.n_flat) == ((0.6, 0.9, 0.7), 3)
    apart = movement(EventScores(scores, [1] * 6), EventScores(np.sqrt(scores), [1] * 6))
    assert (apart.flat, apart.n_flat) == (None, 0)  # equal scores are no range
    cells = CountedScores(EventScores([0.1, 0.3, 0.8], [0, 1, 1]), np.array([5.0, 2.0, 1.0]))
    moved = movement(cells, cells.moved(np.array([0.2, 0.2, 0.8])))
    assert (moved.flat, moved.n_flat) == ((0.1, 0.3, 0.2), 7)


# The triangle ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_steps", [3, 4, 15])
def test_the_grid_fills_the_triangle_evenly(n_steps: int) -> None:
    moves = grid_moves(FittedTemperature(1.0), n_steps=n_steps)
    counts = moves.before * n_steps
    expected = {
        (i, j, n_steps - i - j)
        for i in range(1, n_steps)
        for j in range(1, n_steps)
        if i + j < n_steps
    }
    assert {tuple(row) for row in counts.round().astype(int).tolist()} == expected
    assert len(moves.before) == len(expected)
    assert_allclose(moves.after, moves.before, atol=1e-12)


@pytest.mark.parametrize(
    "method", [m for m in CATALOGUE if m.acts_on == "classes"], ids=lambda m: m.key
)
def test_a_constant_added_to_a_row_of_logits_changes_nothing(method: Method) -> None:
    """What lets the grid be sent through a map as logarithms of probabilities."""
    made = method.make()
    assert isinstance(made, VectorMap)
    rows = three_classes(150)
    fitted = made.fit(rows.logits, rows.labels)
    # Other rows: a staircase jumps at the scores of those it was fitted on.
    logits = 4 * np.random.default_rng(9).normal(size=(200, 3)) + 3
    again = fitted.predict_proba(np.log(softmax(logits)))
    assert_allclose(again, fitted.predict_proba(logits), atol=1e-7)


def test_the_grid_goes_where_the_map_sends_it() -> None:
    rows = three_classes()
    fitted = TemperatureScaling().fit(rows.logits, rows.labels)
    moves = grid_moves(fitted)
    powers = moves.before ** (1 / fitted.temperature)
    assert moves.before.shape == (91, 3)
    assert_allclose(moves.after, powers / powers.sum(axis=1, keepdims=True), rtol=1e-12)
    with pytest.raises(CalibrationInputError, match="n_steps"):
        grid_moves(fitted, n_steps=2)
