"""Worlds: the truth against numerical integrals, draws against the truth and their own rules."""

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad

from calibcore.calibrators import (
    ByGroup,
    Calibrator,
    IsotonicCalibration,
    PlattScaling,
    SplineCalibration,
    TemperatureScaling,
)
from calibcore.calibrators.score_maps.platt import FittedPlatt
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR
from calibcore.metrics import METRICS, EventMeasure, Options
from calibcore.synthetic import (
    HandCurve,
    LogOddsCurve,
    NormalScores,
    Population,
    Redraws,
    World,
    WorldSample,
    calibrators_against,
    redraws,
    zhang_world,
)
from calibcore.tally import expected_tally, tally
from calibcore.validation import Floats
from tests.reference_worlds import Slow, frequency_at, logistic, norm_density

MEASURES = {one.key: one for one in METRICS if isinstance(one, EventMeasure)}

WORLDS = {
    "diagonal": World(),
    "too extreme": World(LogOddsCurve(slope=0.5, shift=-0.25), base_rate=0.3),
    "wave": World(LogOddsCurve(slope=0.8, wave=0.9), sharpness=0.7),
    "groups": World(LogOddsCurve(shift=0.3), group_shift=0.8, sharpness=0.3),
    "hand": World(HandCurve((0.1, 0.0, 0.7, 0.6, 1.0)), base_rate=0.6),
    "five classes": World(LogOddsCurve(slope=0.6, shift=-0.3), n_classes=5, base_rate=0.7),
    "zhang": zhang_world(0.5, -1.5),
}
NAMES = pytest.mark.parametrize("name", WORLDS)


# The truth ----------------------------------------------------------------------------------------


@NAMES
def test_means_are_the_integrals(name: str) -> None:
    world, slow = WORLDS[name], Slow(WORLDS[name])
    truth = world.truth()
    for result, of in (
        (truth.rate, lambda _s, p: p),
        (truth.mean_score, lambda s, _p: s),
        (truth.mean_distance, lambda s, p: abs(s - p)),
        (truth.squared_distance, lambda s, p: (s - p) ** 2),
        (truth.brier_floor, lambda _s, p: p * (1 - p)),
        (truth.measure("event_brier"), lambda s, p: p * (1 - s) ** 2 + (1 - p) * s * s),
        (truth.measure("event_nll"), lambda s, p: -p * math.log(s) - (1 - p) * math.log(1 - s)),
    ):
        assert_allclose(result, slow.mean(of), atol=5e-6)
    assert truth.aim("ece") == truth.aim("kde_ece") == truth.measure("kde_ece")
    assert truth.aim("ece") == truth.aim("sweep_ece") == truth.mean_distance
    assert truth.aim("debiased_ece") ** 2 == pytest.approx(truth.squared_distance, abs=1e-15)
    assert truth.is_calibrated == (name == "diagonal")
    assert truth.aim("ks_error") == truth.measure("ks_error") == truth.ks
    for key, wanted in {
        "event_brier": truth.brier_floor + truth.squared_distance,
        "mean_score": truth.mean_score,
        "hit_rate": truth.rate,
        "mean_gap": truth.mean_score - truth.rate,
        "observed_expected_ratio": truth.rate / truth.mean_score,
        "uncertainty": truth.rate * (1 - truth.rate),
        "certain_misses": 0.0,
    }.items():
        assert_allclose(truth.measure(key), wanted, rtol=1e-12, atol=1e-12, err_msg=key)


@NAMES
def test_ks_and_kuiper_are_the_integrals(name: str) -> None:
    slow = Slow(WORLDS[name])
    gaps = [0.0, *(slow.gap(high=place) for place in [*slow.places(), math.inf])]
    truth = WORLDS[name].truth()
    assert_allclose(truth.ks, slow.ks(), atol=5e-6)
    assert_allclose(truth.measure("kuiper"), max(gaps) - min(gaps), atol=1e-5)
    assert_allclose(truth.curves.ks_error, truth.ks, atol=1e-12)


@NAMES
@pytest.mark.parametrize("n_bins", [5, 15])
def test_ece_of_equal_width_is_the_integral_bin_by_bin(name: str, n_bins: int) -> None:
    bins = Slow(WORLDS[name]).equal_width(n_bins)
    truth, options = WORLDS[name].truth(), Options(n_bins=n_bins)
    expected = sum(abs(gap) for _, gap in bins)
    assert_allclose(truth.measure("ece", options), expected, atol=5e-5)
    assert truth.measure("ece", options) <= truth.mean_distance + 1e-12
    assert_allclose(
        truth.measure("mce", options), max(abs(gap) / share for share, gap in bins), atol=2e-3
    )


@pytest.mark.parametrize("name", [name for name in WORLDS if name != "zhang"])
def test_ece_of_equal_mass_is_the_integral_bin_by_bin(name: str) -> None:
    bins = Slow(WORLDS[name]).equal_mass(10)
    truth, options = WORLDS[name].truth(), Options(n_bins=10)
    squares = sum(gap * gap / share for share, gap in bins)
    assert_allclose(
        truth.measure("ece_equal_mass", options), sum(abs(gap) for _, gap in bins), atol=5e-6
    )
    for key in ("ece_l2", "debiased_ece"):
        assert_allclose(truth.measure(key, options) ** 2, squares, atol=5e-6)


def test_the_sweep_of_a_rising_truth_has_bins_so_narrow_that_it_is_the_mean_distance() -> None:
    truth = WORLDS["too extreme"].truth()
    assert_allclose(truth.measure("sweep_ece"), truth.mean_distance, atol=1e-5)


@pytest.mark.parametrize("slope", [0.5, 1.0, 1.7])
def test_slope_and_intercept_are_those_of_the_curve(slope: float) -> None:
    truth = World(LogOddsCurve(slope=slope, shift=0.4)).truth()
    assert_allclose(truth.measure("calibration_slope"), slope, rtol=1e-6)
    if slope == 1:
        assert_allclose(truth.measure("calibration_intercept"), 0.4, rtol=1e-6)


@pytest.mark.parametrize("name", ["too extreme", "groups", "five classes", "zhang"])
def test_corp_parts_of_a_rising_truth(name: str) -> None:
    truth, slow = WORLDS[name].truth(), Slow(WORLDS[name])
    assert_allclose(truth.measure("miscalibration"), truth.squared_distance, atol=1e-9)
    spread = slow.mean(lambda _s, p: p * p) - slow.mean(lambda _s, p: p) ** 2
    assert_allclose(truth.measure("discrimination"), spread, atol=5e-6)


@NAMES
def test_auroc_is_the_double_integral(name: str) -> None:
    assert_allclose(WORLDS[name].truth().measure("auroc"), Slow(WORLDS[name]).auroc(), atol=1e-6)


@pytest.mark.parametrize("name", [name for name in WORLDS if name != "diagonal"])
def test_smooth_ece_intercept_and_slope_are_solved_over_the_integrals(name: str) -> None:
    truth, slow = WORLDS[name].truth(), Slow(WORLDS[name])
    for key, expected in (
        ("smooth_ece", slow.smooth_ece()),
        ("calibration_intercept", slow.intercept()),
        ("calibration_slope", slow.slope()),
    ):
        assert_allclose(truth.aim(key), expected, atol=5e-6, err_msg=key)


@NAMES
def test_every_measure_of_very_many_rows_is_near_its_truth(name: str) -> None:
    world, truth = WORLDS[name], WORLDS[name].truth()
    event = world.draw(600_000, seed=11).event
    counted = tally(event.scores, event.hits)
    for key, measure in MEASURES.items():
        if key == "mce" or measure.is_tested_only:  # of few rows; or it grows with them
            continue
        bound = 0.03 if measure.unit == "number" else 0.004
        bound *= 2 if key == "mce_equal_mass" else 1  # the largest of 15
        result = float(measure.compute(counted, Options()))
        assert abs(result - truth.measure(key)) < bound, key


def test_one_score_for_all_is_useless_and_calibrated() -> None:
    world = World(sharpness=0, base_rate=0.3)
    truth = world.truth()
    assert_allclose([truth.rate, truth.mean_score], 0.3, atol=1e-6)
    assert_allclose([truth.ks, truth.measure("ece"), truth.mean_distance], 0, atol=1e-12)
    assert truth.is_calibrated
    assert_allclose([truth.brier_floor, truth.measure("event_brier")], 0.21, atol=1e-6)
    assert truth.measure("auroc") == 0.5
    assert np.unique(world.draw(50, seed=0).event.scores).size == 1


def test_scores_that_are_equal_share_their_mean_frequency() -> None:
    some = Population(np.array([0.5, 0.2, 0.5, 0.2]), np.array([0.9, 0.2, 0.3, 0.2]))
    assert_allclose(some.mean_distance, 0.05)
    assert_allclose(some.squared_distance, 0.005)
    assert_allclose(some.brier_floor, (0.09 + 0.16 + 0.21 + 0.16) / 4)
    counted = expected_tally(some.scores, some.frequency)
    assert counted.counts.tolist() == [2, 2]
    assert_allclose(counted.hits, [0.4, 1.2])


def test_a_measure_in_rows_is_a_share() -> None:
    some = Population(np.array([0.0, 0.5, 1.0, 1.0]), np.array([0.5, 0.5, 0.75, 0.75]))
    assert_allclose(some.measure("certain_misses"), 1 / 4)


# Base rate, sharpness, groups ---------------------------------------------------------------------


@pytest.mark.parametrize("sharpness", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("base_rate", [0.01, 0.35, 0.5, 0.98])
def test_the_event_is_as_frequent_as_the_base_rate(sharpness: float, base_rate: float) -> None:
    for curve in (LogOddsCurve(), LogOddsCurve(0.6, -0.3, 0.4), LogOddsCurve(slope=-1)):
        world = World(curve, sharpness=sharpness, base_rate=base_rate)
        assert_allclose(world.rate, base_rate, rtol=1e-5)
        assert world.rate == world.truth().rate


def test_a_base_rate_that_the_curve_does_not_allow_becomes_the_nearest() -> None:
    assert_allclose(World(HandCurve((0.2, 0.4)), base_rate=0.9).rate, 0.4, atol=1e-4)
    assert_allclose(World(n_classes=4, base_rate=0.1).rate, 0.25, atol=1e-4)
    flat = World(HandCurve((0.3, 0.3)), base_rate=0.6)
    assert_allclose(flat.rate, 0.3, atol=1e-12)
    assert_allclose(flat.truth().mean_score, 0.6, atol=0.05)


@pytest.mark.parametrize("sharpness", [0.0, 1e-6, 0.3])
def test_level_stretches_and_cliffs_of_a_curve(sharpness: float) -> None:
    for handles in ((0.0, 0.5, 0.5, 1.0), (0.5, 0.5), (0.0, 0.0, 1.0, 1.0, 0.0)):
        world = World(HandCurve(handles), sharpness=sharpness)
        assert_allclose(world.rate, 0.5, atol=1e-6)


def test_of_several_centres_the_one_whose_mean_score_is_nearest_is_taken() -> None:
    hill = HandCurve((0.0, 1.0, 0.0))
    low, high = (World(hill, base_rate=rate, sharpness=0.1) for rate in (0.4, 0.6))
    assert_allclose([low.rate, high.rate], [0.4, 0.6], atol=1e-5)
    assert low.truth().mean_score < 0.5
    assert high.truth().mean_score > 0.5


def test_sharper_scores_are_farther_from_their_mean() -> None:
    spreads = [World(sharpness=at / 10).truth().scores.std() for at in range(11)]
    assert spreads == sorted(spreads)
    assert spreads[0] < 1e-12
    assert spreads[-1] > 0.35


def test_groups_that_cancel() -> None:
    world = World(group_shift=0.6)
    pooled, low, high = world.truth(), world.truth(0), world.truth(1)
    assert pooled.ks < 0.02
    assert min(low.ks, high.ks) > 0.08
    assert low.rate < 0.5 < high.rate
    assert_allclose(pooled.rate, (low.rate + high.rate) / 2)
    places = np.array([0.0, 0.3, 1.0])
    expected = World(LogOddsCurve(shift=0.6)).truth().curve(places)
    assert_allclose(high.curve(places), expected, atol=1e-12)
    drawn = world.draw(200_000, seed=3)
    assert drawn.groups is not None
    assert drawn.rows.groups is drawn.event.groups is not None
    for group, truth in ((0, low), (1, high)):
        of_it = drawn.groups == group
        assert abs(of_it.mean() - 0.5) < 0.005
        assert abs(drawn.event.hits[of_it].mean() - truth.rate) < 0.006
        assert_allclose(drawn.frequency[of_it], truth.curve(drawn.event.scores[of_it]))


# Zhang 2020 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("beta0", "beta1"), [(0.5, -1.5), (0.2, -1.9), (0, -2), (-1.0, -0.7)])
def test_the_curve_is_bayes_rule_and_the_ece_its_integral(beta0: float, beta1: float) -> None:
    def density(x: float, mean: float) -> float:
        return norm_density(x - mean)

    def distance(x: float) -> float:
        both = density(x, -1), density(x, 1)
        return abs(logistic(beta0 + beta1 * x) - both[0] / sum(both)) * sum(both) / 2

    world = zhang_world(beta0, beta1)
    for x in (-4.0, -1.0, 0.0, 0.3, 2.5):
        chance = density(x, -1) / (density(x, -1) + density(x, 1))
        result = world.curve.frequency([logistic(beta0 + beta1 * x)])
        assert_allclose(result, [chance], rtol=1e-9)
    cuts = np.linspace(-9, 9, 19).tolist()
    ece = sum(quad(distance, *pair, epsabs=1e-11)[0] for pair in itertools.pairwise(cuts))
    assert_allclose(world.truth().mean_distance, ece, atol=2e-6)
    assert_allclose(world.rate, 0.5, atol=1e-9)


def test_the_papers_order_of_the_two_cases() -> None:
    distances = [zhang_world(*betas).truth().mean_distance for betas in ((0.5, -1.5), (0.2, -1.9))]
    assert distances[0] > 2 * distances[1] > 0


def test_rows_are_as_if_labels_and_inputs_had_been_drawn_as_in_the_paper() -> None:
    rng = np.random.default_rng(5)
    in_class_1 = rng.random(400_000) < 0.5
    x = rng.normal(np.where(in_class_1, -1.0, 1.0))
    scores = 1 / (1 + np.exp(-0.5 + 1.5 * x))
    event = zhang_world(0.5, -1.5).draw(400_000, seed=6).event
    shares = np.linspace(0.02, 0.98, 25)
    for hit in (False, True):
        theirs = np.quantile(scores[in_class_1 == hit], shares)
        assert_allclose(np.quantile(event.scores[event.hits == hit], shares), theirs, atol=0.006)


def test_kernel_densities_are_nearer_to_the_ece_than_bins_as_the_paper_says() -> None:
    result = redraws(zhang_world(0.5, -1.5), 128, 200, seed=1, measures=("ece", "kde_ece"))
    binned, kernel = result.root_mean_squared_error
    assert kernel < 0.8 * binned


# Draws --------------------------------------------------------------------------------------------

curves = st.one_of(
    st.builds(LogOddsCurve, slope=st.floats(-2, 4), shift=st.floats(-3, 3), wave=st.floats(-2, 2)),
    st.builds(HandCurve, st.lists(st.floats(0, 1), min_size=2, max_size=9).map(tuple)),
)
worlds = st.builds(
    World,
    curve=curves,
    n_classes=st.integers(2, 12),
    sharpness=st.floats(0, 1),
    base_rate=st.floats(0, 1),
    group_shift=st.sampled_from([0.0, 0.7, -10.0]),
)


def check_rows(world: World, drawn: WorldSample, n_rows: int) -> None:
    table, event, n_classes = drawn.rows.probabilities, drawn.event, world.n_classes
    assert table.shape == (n_rows, n_classes)
    assert_allclose(table.sum(axis=1), 1, atol=1e-14)
    assert table.min() >= 0
    assert ((drawn.frequency >= 0) & (drawn.frequency <= 1)).all()
    if n_classes == 2:
        assert ((event.scores > 0) & (event.scores < 1)).all()
        assert (event.scores == table[:, 1]).all()
        assert (event.hits == drawn.rows.labels).all()
    else:
        ordered = np.sort(table, axis=1)
        assert (ordered[:, -1] > ordered[:, -2]).all()  # none as large as the top one
        assert (event.scores == ordered[:, -1]).all()
        assert (event.scores > 1 / n_classes).all()
        assert (event.hits == (table.argmax(axis=1) == drawn.rows.labels)).all()
    expected = [frequency_at(world.curve, score) for score in event.scores]
    if drawn.groups is None:
        assert_allclose(drawn.frequency, expected, rtol=1e-9, atol=1e-12)
    else:
        signs = np.where(drawn.groups == 1, 1, -1) * world.group_shift
        factors, known = np.exp(signs), np.array(expected)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = 1 / (1 + (1 / known - 1) / factors)
        assert_allclose(drawn.frequency, np.where(known == 0, 0, at), rtol=1e-7, atol=1e-9)


@given(worlds, st.integers(1, 40), st.integers(0, 1000))
@settings(max_examples=60)
def test_drawn_rows_keep_to_the_rules(world: World, n_rows: int, seed: int) -> None:
    drawn = world.draw(n_rows, seed=seed)
    check_rows(world, drawn, n_rows)
    longer = world.draw(n_rows + 7, seed=seed)
    assert (longer.rows.probabilities[:n_rows] == drawn.rows.probabilities).all()
    assert (longer.rows.labels[:n_rows] == drawn.rows.labels).all()
    again = world.draw(n_rows, seed=(seed,))
    assert (again.rows.labels == drawn.rows.labels).all()


@pytest.mark.parametrize("base_rate", [0.0, 0.5, 1.0])
def test_a_thousand_classes_at_the_ends_of_the_scores(base_rate: float) -> None:
    world = World(n_classes=1_000, sharpness=1.0, base_rate=base_rate)
    check_rows(world, world.draw(2_000, seed=1), 2_000)


def test_two_worlds_with_the_same_scores_differ_in_their_labels_alone() -> None:
    scores = NormalScores(0.3, 1.2, apart=0.5)
    pair = [World(LogOddsCurve(shift=at), scores=scores).draw(500, seed=4) for at in (0.0, 0.4)]
    assert (pair[0].event.scores == pair[1].event.scores).all()
    assert (pair[0].event.hits <= pair[1].event.hits).all()


def test_other_seeds_draw_other_rows() -> None:
    first, second, third = (World().draw(5, seed=seed).event.scores for seed in (1, 2, (1, 0, 5)))
    assert not set(first) & set(second)
    assert not set(first) & set(third)


def test_the_predicted_class_is_any_and_the_true_one_in_proportion() -> None:
    world = World(n_classes=4, base_rate=0.6)
    rows = world.draw(200_000, seed=9).rows
    predicted = rows.probabilities.argmax(axis=1)
    assert_allclose(np.bincount(predicted) / 200_000, 0.25, atol=0.006)
    wrong = predicted != rows.labels
    others = rows.probabilities[wrong]
    others[np.arange(len(others)), predicted[wrong]] = 0
    shares = others / others.sum(axis=1, keepdims=True)
    for k in range(4):
        assert abs((rows.labels[wrong] == k).mean() - shares[:, k].mean()) < 0.006
    # Whatever a class's share, it is the true one as often as that.
    most, chosen = shares.max(axis=1), shares[np.arange(len(shares)), rows.labels[wrong]]
    for low, high in itertools.pairwise([0.33, 0.45, 0.6, 0.8, 1.0]):
        inside = (most >= low) & (most < high)
        rate = (chosen == most)[inside].mean()
        assert abs(rate - most[inside].mean()) < 4 * 0.5 / math.sqrt(inside.sum()), low


def test_the_event_and_the_rows_of_a_world() -> None:
    assert World().event == OneClass(1)
    world = World(n_classes=3)
    assert world.event == TopR(1)
    assert world.draw(100, seed=1).rows.values_kind == "probabilities"


# Many draws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["too extreme", "groups", "five classes"])
def test_the_first_redraw_is_the_draw_of_the_same_seed(name: str) -> None:
    world, keys = WORLDS[name], tuple(MEASURES)
    result = redraws(world, 300, 3, seed=8, measures=keys, n_bins=7)
    event = world.draw(300, seed=8).event
    counted = tally(event.scores, event.hits)
    for key, value in zip(keys, result.values[0], strict=True):
        rough, exact = (
            float(MEASURES[key].compute(counted, Options(n_bins=7, rough=one)))
            for one in (True, False)
        )
        expected = rough / (300 if key == "certain_misses" else 1)
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-15), key  # kernels of all at once
        loess = key in {"ici", "e50", "e90"}  # of joined scores
        assert rough == pytest.approx(exact, abs=5e-4 if loess else 2e-5), key
        assert value == result.of(key)[0]
    truth = world.truth()
    assert result.limits.tolist() == [truth.measure(key, Options(n_bins=7)) for key in keys]
    assert result.aims.tolist() == [truth.aim(key, Options(n_bins=7)) for key in keys]


def test_draws_do_not_depend_on_how_many_there_are() -> None:
    world = World(group_shift=0.5)
    many, few = (redraws(world, 100_000, n, seed=2) for n in (50, 2))  # many: in several chunks
    assert (many.values[:2] == few.values).all()
    assert np.unique(many.values[:, 0]).size == 50


def test_summaries_by_hand() -> None:
    values = np.array([[0.1, 0.5], [0.3, np.nan], [0.2, 0.7], [0.2, np.inf]])
    result = Redraws(("ece", "auroc"), values, np.array([0.1, 0.6]), np.array([0.1, 0.6]), 9)
    assert_allclose(result.mean, [0.2, 0.6])
    assert_allclose(result.bias, [0.1, 0.0], atol=1e-15)
    assert_allclose(result.deviation, [math.sqrt(0.005), 0.1])
    assert_allclose(result.root_mean_squared_error, [math.sqrt(0.015), 0.1])


def test_a_measure_that_is_never_defined_has_no_mean() -> None:
    result = redraws(World(sharpness=0, base_rate=0), 3, 4, seed=0, measures=("auroc", "hit_rate"))
    assert math.isnan(result.mean[0])
    assert result.mean[1] == 0


def test_unbiased_measures_have_no_bias_and_ece_of_few_rows_has() -> None:
    keys = ("hit_rate", "mean_score", "event_brier", "event_nll", "ece", "debiased_ece")
    result = redraws(WORLDS["too extreme"], 200, 2_000, seed=3, measures=keys)
    error = result.deviation / math.sqrt(2_000)
    assert (np.abs(result.bias[:4]) < 4 * error[:4]).all()
    assert result.bias[4] > 10 * error[4]
    squares = result.root_mean_squared_error**2
    assert_allclose(squares, result.bias**2 + result.deviation**2, rtol=1e-9)


# Calibrators --------------------------------------------------------------------------------------


def test_a_map_is_as_far_from_the_truth_as_its_integral_says() -> None:
    world, fitted = WORLDS["wave"], FittedPlatt(0.7, 0.2)
    slow, truth = Slow(world), world.truth()

    def off(score: float, frequency: float) -> float:
        return logistic(0.7 * math.log(score / (1 - score)) + 0.2) - frequency

    after = truth.after(fitted)
    result = after.distance
    squares = slow.mean(lambda s, p: off(s, p) ** 2)
    assert_allclose(result.mean_absolute, slow.mean(lambda s, p: abs(off(s, p))), atol=5e-6)
    assert_allclose(result.root_mean_squared, math.sqrt(squares), atol=5e-6)
    assert_allclose(after.measure("event_brier"), truth.brier_floor + squares, atol=5e-6)
    assert_allclose(after.mean_distance, result.mean_absolute, rtol=1e-9)
    assert after.brier_floor == truth.brier_floor


def test_a_map_with_steps_is_calibrated_where_each_step_is_at_its_mean() -> None:
    world = WORLDS["too extreme"]
    (result,) = calibrators_against(
        world, {"any": IsotonicCalibration(interpolate=False)}, world.draw(100_000, seed=1)
    )
    assert result.after.mean_distance < 0.7 * result.distance.mean_absolute
    assert result.after.counted.scores.size < 500


def test_calibrators_are_compared_in_their_order() -> None:
    world = WORLDS["too extreme"]
    given_rows = world.draw(20_000, seed=2)
    calibrators: dict[str, Calibrator] = {
        "temperature": TemperatureScaling(), "spline": SplineCalibration(), "platt": PlattScaling(),
    }  # fmt: skip
    temperature, spline, platt = calibrators_against(world, calibrators, given_rows)
    assert [one.key for one in (temperature, spline, platt)] == list(calibrators)
    assert platt.distance.root_mean_squared < 0.01 < temperature.distance.root_mean_squared
    assert platt.after.ks < world.truth().ks / 5
    for one in (spline, platt, temperature):
        assert (one.curve.calibrated == one.fitted.predict(one.curve.score)).all()
    by_hand = PlattScaling().fit(given_rows.event.scores, given_rows.event.hits)
    assert platt.fitted == by_hand


def test_temperature_is_a_map_of_the_score_of_two_classes() -> None:
    world = World(LogOddsCurve(slope=0.5))
    drawn = world.draw(200_000, seed=3)
    (result,) = calibrators_against(world, {"t": TemperatureScaling()}, drawn)
    assert result.distance.root_mean_squared < 0.003  # one over its temperature is the slope
    whole = TemperatureScaling().fit(drawn.rows.logits, drawn.rows.labels)
    expected = whole.predict_proba(drawn.rows.logits)[:, 1]
    assert_allclose(result.fitted.predict(drawn.event.scores), expected, rtol=1e-9)


def test_score_maps_of_three_classes_act_on_the_top_prediction() -> None:
    world = WORLDS["five classes"]
    drawn = world.draw(50_000, seed=4)
    (result,) = calibrators_against(world, {"platt": PlattScaling()}, drawn)
    assert result.distance.mean_absolute < 0.01 < world.truth().mean_distance
    with pytest.raises(CalibrationInputError, match=r"^calibrators: t\. Expected one that acts"):
        calibrators_against(world, {"t": TemperatureScaling()}, drawn)


def test_a_map_by_group_is_fitted_with_the_groups() -> None:
    world = World(LogOddsCurve(slope=0.6), group_shift=0.8)
    drawn = world.draw(20_000, seed=5)
    (result,) = calibrators_against(world, {"group": ByGroup(PlattScaling())}, drawn)
    event = drawn.event
    by_hand = ByGroup(PlattScaling()).fit(event.scores, event.hits, drawn.groups)
    assert result.fitted == by_hand
    assert result.distance.mean_absolute < 0.01


# Refusals -----------------------------------------------------------------------------------------

_SLOPE = [math.nan, math.inf, 101, "1", True, None]
BAD: list[tuple[str, Callable[[Any], object], list[Any]]] = [
    ("slope", lambda x: LogOddsCurve(slope=x), _SLOPE),
    ("shift", lambda x: LogOddsCurve(shift=x), _SLOPE),
    ("wave", lambda x: LogOddsCurve(wave=x), _SLOPE),
    ("handles", HandCurve, [(), (0.5,), [0.1, 0.2], (0.1, 1.1), (0.1, math.nan), ("a", 0.1)]),
    ("scores", LogOddsCurve().frequency, [[1.1], [-0.1], [math.nan], ["a"], []]),
    ("centre", lambda x: NormalScores(x, 1), [math.nan, 101]),
    ("spread", lambda x: NormalScores(0, x), [-1, math.nan]),
    ("apart", lambda x: NormalScores(0, 1, x), [-1, 101]),
    ("curve", World, [None, "diagonal", 0.5]),
    ("n_classes", lambda x: World(n_classes=x), [1, 1001, 2.0, True]),
    ("sharpness", lambda x: World(sharpness=x), [-0.1, 1.1, math.nan, None]),
    ("base_rate", lambda x: World(base_rate=x), [-0.1, 1.1, math.nan]),
    ("group_shift", lambda x: World(group_shift=x), [-11, 11, math.nan]),
    ("scores", lambda x: World(scores=x), [0.5, (0, 1)]),
    ("n_rows", lambda x: World().draw(x, seed=1), [0, -1, 5_000_001, 2.5]),
    ("seed", lambda x: World().draw(5, seed=x), [-1, 0.5, None, (1, -1), "a"]),
    ("groups", lambda x: World(group_shift=1).frequency([0.5], x), [[2], [0.5], [-1]]),
    ("groups", lambda x: World().frequency([0.5], x), [[0], [1]]),
    ("groups", lambda x: World().truth(x), [0, 1]),
    ("groups", lambda x: World(group_shift=1).truth(x), [2]),
    ("measure", lambda x: World().truth().measure(x), ["brier", "ECE", ""]),
    ("measure", lambda x: World().truth().aim(x), ["accuracy"]),
    ("measure", lambda x: redraws(World(), 5, 5, seed=1, measures=x), [("ece", "nll")]),
    ("measure", lambda x: redraws(World(), 5, 5, seed=1).of(x), ["kuiper"]),
    ("n_rows", lambda x: redraws(World(), x, 5, seed=1), [0, 5_000_001]),
    ("n_draws", lambda x: redraws(World(), 5, x, seed=1), [0, 100_001]),
    ("n_bins", lambda x: redraws(World(), 5, 5, seed=1, n_bins=x), [0, 2.0]),
    ("beta0", lambda x: zhang_world(x, -2), [math.nan, 11]),
    ("beta1", partial(zhang_world, 0), [0, 2, -0.05, math.nan]),
]


@pytest.mark.parametrize(
    ("field", "call", "value"), [(field, call, value) for field, call, bad in BAD for value in bad]
)
def test_a_bad_value_is_refused_by_its_name(
    field: str, call: Callable[[Any], object], value: object
) -> None:
    with pytest.raises(CalibrationInputError) as caught:
        call(value)
    assert caught.value.field == field


def test_worlds_are_values() -> None:
    first, second = (World(HandCurve((0.0, 0.7, 1.0)), base_rate=0.4) for _ in range(2))
    assert first.rate == second.rate  # what was computed is no part of the value
    assert first == second
    assert len({first, second, World()}) == 2


def test_frequencies_of_any_shape() -> None:
    scores: Floats = np.linspace(0, 1, 12).reshape(3, 4)
    for curve in (LogOddsCurve(0.5, 0.1, 0.3), HandCurve((0.2, 0.9))):
        result = curve.frequency(scores)
        assert result.shape == (3, 4)
        assert_allclose(result.ravel(), [curve.frequency([s])[0] for s in scores.ravel()])
