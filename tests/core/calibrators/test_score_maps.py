"""The score maps against slow readings of their definitions, and what all of them keep."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore.binning import Binning
from calibcore.calibrators import from_json
from calibcore.calibrators.base import ScoreMap
from calibcore.calibrators.score_maps.bbq import BBQ, bin_range
from calibcore.calibrators.score_maps.beta import BetaCalibration, FittedBeta, Parameters
from calibcore.calibrators.score_maps.centred import CentredIsotonicCalibration
from calibcore.calibrators.score_maps.histogram import HistogramBinning
from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
from calibcore.calibrators.score_maps.logistic import NOT_CONVERGED, PARTED
from calibcore.calibrators.score_maps.platt import FittedPlatt, PlattScaling
from calibcore.calibrators.score_maps.quadratic import FittedQuadratic, QuadraticScaling
from calibcore.calibrators.score_maps.venn_abers import VennAbers
from calibcore.errors import CalibrationInputError
from tests import reference_score_maps as reference
from tests.strategies import EventCase, Floats, event_data, seeded_events

WIDE = 1e-300  # in a narrower gap the slope that numpy.interp divides by it passes the last double

MAPS: list[ScoreMap] = [
    PlattScaling(),
    PlattScaling(smoothed_targets=True),
    BetaCalibration(),
    BetaCalibration("am"),
    BetaCalibration("ab"),
    HistogramBinning(),
    HistogramBinning(4, "equal_mass"),
    IsotonicCalibration(),
    IsotonicCalibration(interpolate=True),
    BBQ(),
    VennAbers(),
    QuadraticScaling(),
    CentredIsotonicCalibration(),
]
RISING = [
    one
    for one in MAPS
    if isinstance(
        one, BetaCalibration | IsotonicCalibration | VennAbers | CentredIsotonicCalibration
    )
]
PARAMETERS: tuple[Parameters, ...] = ("abm", "am", "ab")
BINNINGS: tuple[Binning, ...] = ("equal_width", "equal_mass")

each_map = pytest.mark.parametrize("score_map", MAPS, ids=str)


def wrong(value: object) -> Any:
    return value


def events(
    rng: np.random.Generator, n_rows: int, true: Callable[[Floats], Floats] = lambda s: s**1.5
) -> EventCase:
    scores = 1 / (1 + np.exp(-2 * rng.normal(size=n_rows)))
    return EventCase(scores, (rng.random(n_rows) < true(scores)).astype(np.int64))


def asked_of(case: EventCase) -> list[float]:
    """The calibration scores, the middles of their gaps, and others."""
    scores = sorted(set(case.scores.tolist()))
    between = [(low + high) / 2 for low, high in pairwise(scores) if high - low > WIDE]
    return [*scores, *between, 0.0, 0.123, 0.5, 1.0]


# Platt scaling ----------------------------------------------------------------------------------


def platt_odds(fitted: FittedPlatt, scores: list[float]) -> list[float]:
    return [fitted.slope * reference.log_odds(s) + fitted.intercept for s in scores]


def check_platt(case: EventCase, *, smoothed: bool) -> str:
    fitted = PlattScaling(smoothed_targets=smoothed).fit(*case)
    scores, hits = case.scores.tolist(), case.hits.tolist()
    kind = reference.curve_case(scores, hits)
    assert NOT_CONVERGED not in fitted.warnings
    if kind == "one class" and not smoothed:
        assert (fitted.slope, fitted.intercept) == (1, 0)
        assert len(fitted.warnings) == 1
        return kind
    parted = kind in ("separable", "reversed") and not smoothed
    assert (PARTED in fitted.warnings) == parted
    targets = reference.smoothed_targets(hits) if smoothed or parted else hits
    if kind == "one class":
        assert fitted.slope == 0
        assert_allclose(fitted.predict(scores), targets)
        assert len(fitted.warnings) == 1
        return kind
    odds = platt_odds(fitted, scores)
    column = [reference.log_odds(s) for s in scores]
    one = [1.0] * len(scores)
    if kind == "constant":
        assert fitted.slope == 1
        assert_allclose(reference.slopes(odds, targets, [one]), 0, atol=1e-8)
    else:
        assert_allclose(reference.slopes(odds, targets, [one, column]), 0, atol=1e-10)
    assert bool(fitted.warnings) == (kind == "constant" or parted or fitted.slope < 0)
    assert any("negative" in text for text in fitted.warnings) == (fitted.slope < 0)
    assert_allclose(fitted.predict(scores), [reference.chance(z) for z in odds], atol=1e-9)
    return kind


@given(event_data(), st.booleans())
def test_a_platt_curve_is_at_the_optimum(case: EventCase, smoothed: bool) -> None:  # noqa: FBT001
    check_platt(case, smoothed=smoothed)


def test_no_other_search_finds_a_better_platt_curve(rng: np.random.Generator) -> None:
    case = events(rng, 300)
    fitted = PlattScaling().fit(*case)
    column = np.array([reference.log_odds(s) for s in case.scores.tolist()])

    def loss(weights: Floats) -> float:
        odds = weights[0] * column + weights[1]
        return float(np.mean(np.logaddexp(0, odds) - case.hits * odds))

    search = scipy.optimize.minimize(loss, [1.0, 0.0], method="Nelder-Mead", tol=1e-12)
    own = loss(np.array([fitted.slope, fitted.intercept]))
    assert own <= search.fun * (1 + 1e-9)
    assert_allclose([fitted.slope, fitted.intercept], search.x, atol=1e-5)


def test_rows_that_one_score_parts_get_the_curve_of_smoothed_targets() -> None:
    # At 1.0, 90 of 100 are hits, and a lone hit lies below: the steepest curve falls.
    fitted = PlattScaling().fit([1.0] * 100 + [0.6], [1] * 90 + [0] * 10 + [1])
    mixed = (90 * (92 / 93) + 10 * (1 / 12)) / 100
    assert_allclose(fitted.predict([1.0, 0.6]), [mixed, 92 / 93], atol=1e-9)
    assert fitted.warnings[0] == PARTED
    # And 9 of 10 at 0.99 with a lone miss below: beta calibration too.
    case = [0.99] * 10 + [0.6], [1] * 9 + [0, 0]
    wanted = [(9 * (10 / 11) + 1 / 4) / 10, 1 / 4]
    for method in (PlattScaling(), BetaCalibration(), BetaCalibration("am")):
        assert_allclose(method.fit(*case).predict([0.99, 0.6]), wanted, atol=1e-8)
        assert method.fit(*case).warnings == (PARTED,)


# Beta calibration -------------------------------------------------------------------------------


def separable_at_half(scores: list[float], hits: list[int]) -> bool:
    return all(s >= 0.5 if hit else s <= 0.5 for s, hit in zip(scores, hits, strict=True))


def check_beta(case: EventCase, parameters: Parameters) -> str:
    fitted = BetaCalibration(parameters).fit(*case)
    scores, hits = case.scores.tolist(), case.hits.tolist()
    assert NOT_CONVERGED not in fitted.warnings
    assert min(fitted.a, fitted.b) >= 0
    kind = reference.curve_case(scores, hits)
    if parameters == "ab":
        kind = "separable" if separable_at_half(scores, hits) else "interior"
        if max(abs(reference.log_odds(s)) for s in scores) <= 1e-6:
            kind = "all half"
    if kind in ("one class", "all half") or (kind == "separable" and len(set(hits)) == 1):
        assert (fitted.a, fitted.b, fitted.c) == (1, 1, 0)
        assert len(fitted.warnings) == 1
        return kind
    assert (PARTED in fitted.warnings) == (kind == "separable")
    targets = reference.smoothed_targets(hits) if kind == "separable" else hits
    check_constraints(fitted, parameters)
    low, high = zip(*(reference.beta_columns(s) for s in scores), strict=True)
    odds = [fitted.a * x + fitted.b * y + fitted.c for x, y in zip(low, high, strict=True)]
    assert_allclose(fitted.predict(scores), [reference.chance(z) for z in odds], atol=1e-9)
    if kind == "constant":
        assert (fitted.a, fitted.b) == (1, 1)
        assert_allclose(reference.slopes(odds, hits, [[1.0] * len(hits)]), 0, atol=1e-8)
        return kind
    check_optimal(fitted, parameters, odds, targets, (list(low), list(high)))
    return "bound" if kind == "interior" and 0 in (fitted.a, fitted.b) else kind


def check_constraints(fitted: FittedBeta, parameters: Parameters) -> None:
    if parameters == "am":
        assert fitted.a == fitted.b
    if parameters == "ab":
        assert fitted.predict([0.5]).tolist() == pytest.approx([0.5], abs=1e-9)


def check_optimal(
    fitted: FittedBeta,
    parameters: Parameters,
    odds: list[float],
    targets: Sequence[float],
    columns: tuple[list[float], list[float]],
) -> None:
    """No slope of the NLL along an allowed move may be downward (Karush, Kuhn, Tucker)."""
    low, high = columns
    if parameters == "am":
        low = high = [x + y for x, y in zip(low, high, strict=True)]
    if parameters == "ab":
        low, high = [x + math.log(2) for x in low], [y - math.log(2) for y in high]
    else:
        intercept = reference.slopes(odds, targets, [[1.0] * len(targets)])
        assert_allclose(intercept, 0, atol=1e-10)
    result = reference.slopes(odds, targets, [low, high])
    for weight, slope in zip((fitted.a, fitted.b), result, strict=True):
        assert slope >= -1e-10
        assert slope <= 1e-10 or weight == 0


@given(event_data(), st.sampled_from(PARAMETERS))
def test_a_beta_curve_is_at_the_optimum_under_the_bounds(
    case: EventCase, parameters: Parameters
) -> None:
    check_beta(case, parameters)


@pytest.mark.parametrize("shape", ["rising", "hump", "falling"])
def test_no_other_search_finds_a_better_beta_curve(shape: str, rng: np.random.Generator) -> None:
    shapes: dict[str, Callable[[Floats], Floats]] = {
        "rising": lambda s: s**1.5,
        "hump": lambda s: 0.1 + 2 * s * (1 - s),
        "falling": lambda s: 1 - s,
    }
    case = events(rng, 3_000, shapes[shape])
    fitted = BetaCalibration().fit(*case)
    low, high = np.array([reference.beta_columns(s) for s in case.scores.tolist()]).T

    def loss(weights: Floats) -> float:
        odds = weights[0] * low + weights[1] * high + weights[2]
        return float(np.mean(np.logaddexp(0, odds) - case.hits * odds))

    bounds = [(0, None), (0, None), (None, None)]
    search = scipy.optimize.minimize(loss, [1.0, 1.0, 0.0], bounds=bounds, tol=1e-14)
    own = loss(np.array([fitted.a, fitted.b, fitted.c]))
    assert own <= search.fun * (1 + 1e-9)
    assert bool(fitted.warnings) == (0 in (fitted.a, fitted.b)) == (shape != "rising")


# Histogram binning ------------------------------------------------------------------------------


def test_a_histogram_by_hand() -> None:
    # Up to 1/4: 0, 0.25 -> 1/2. Up to 1/2: none. Up to 3/4: 0.6 -> 1. Above: 0.8, 1, 1 -> 2/3
    fitted = HistogramBinning(4).fit([0.0, 0.25, 0.6, 0.8, 1.0, 1.0], [0, 1, 1, 0, 1, 1])
    assert fitted.counts.tolist() == [2, 0, 1, 3]
    asked = [0.0, 0.25, 0.2501, 0.5, 0.51, 0.75, 0.76, 1.0]
    assert fitted.predict(asked).tolist() == [0.5, 0.5, 0.2501, 0.5, 1, 1, 2 / 3, 2 / 3]
    (text,) = fitted.warnings
    assert text.startswith("1 of the 4 bins from the lowest calibration score up hold no")


def test_bins_below_every_score_are_not_missed() -> None:
    # The score of the likeliest of 3 classes is at least 1/3.
    assert HistogramBinning(4).fit([0.4, 0.6, 0.8], [0, 1, 1]).warnings == ()
    (text,) = HistogramBinning(4).fit([0.4, 0.4, 0.8], [0, 1, 1]).warnings
    assert text.startswith("1 of the 3 bins from the lowest calibration score up hold no")


def test_histograms_agree_with_loops() -> None:
    for number, case in enumerate(seeded_events(23, 200)):
        n_bins, binning = (1, 2, 7, 15, 20)[number % 5], BINNINGS[number % 2]
        fitted = HistogramBinning(n_bins, binning).fit(*case)
        scores, hits = case.scores.tolist(), case.hits.tolist()
        probes = asked_of(case)
        expected = [reference.histogram(scores, hits, n_bins, binning, s) for s in probes]
        assert fitted.predict(probes).tolist() == expected
        assert fitted.counts.size == n_bins


# Isotonic regression ----------------------------------------------------------------------------


@given(event_data())
def test_an_isotonic_curve_agrees_with_pooling_by_hand(case: EventCase) -> None:
    curve = reference.isotonic(case.scores.tolist(), case.hits.tolist())
    probes = asked_of(case)
    stepped = IsotonicCalibration().fit(*case).predict(probes)
    assert stepped.tolist() == [reference.read_step(curve, s) for s in probes]
    lines = IsotonicCalibration(interpolate=True).fit(*case).predict(probes)
    assert_allclose(lines, [reference.read_line(curve, s) for s in probes], rtol=0, atol=1e-12)


# Bayesian binning into quantiles ----------------------------------------------------------------


def check_bbq(case: EventCase) -> None:
    fitted = BBQ().fit(*case)
    average = reference.bbq(case.scores.tolist(), case.hits.tolist())
    expected = dict(zip(reference.bin_counts(case.scores.size), average.weights, strict=True))
    for n_bins, weight in zip(fitted.n_bins.tolist(), fitted.weights.tolist(), strict=True):
        assert weight == pytest.approx(expected.pop(n_bins), abs=1e-11)
    assert all(weight < 1e-15 for weight in expected.values())
    probes = asked_of(case)
    assert_allclose(
        fitted.predict(probes), [reference.read_bbq(average, s) for s in probes], rtol=0, atol=1e-11
    )


@given(event_data(max_size=60))
def test_an_average_of_histograms_agrees_with_the_paper_read_slowly(case: EventCase) -> None:
    check_bbq(case)


def test_an_average_over_many_histograms(rng: np.random.Generator) -> None:
    case = events(rng, 500)
    check_bbq(EventCase(case.scores.round(3), case.hits))


@pytest.mark.parametrize("n_rows", [1, 2, 5, 6, 124, 125, 126, 343, 354, 355, 999, 1_000, 1_001])
def test_the_numbers_of_bins_are_those_of_the_paper(n_rows: int) -> None:
    expected = reference.bin_counts(n_rows)
    assert bin_range(n_rows) == (expected[0], expected[-1])


def test_the_numbers_of_bins_at_cubes() -> None:
    assert bin_range(100**3) == (10, 1_000)
    assert bin_range(100**3 - 1) == (9, 1_000)
    assert bin_range(100**3 + 1) == (10, 1_001)
    assert bin_range(10**9) == (100, 10_000)


# Venn-Abers -------------------------------------------------------------------------------------


@given(event_data(max_size=25))
def test_a_pair_agrees_with_two_fits_a_score(case: EventCase) -> None:
    fitted = VennAbers().fit(*case)
    probes = asked_of(case)
    low, high = fitted.interval(probes)
    scores, hits = case.scores.tolist(), case.hits.tolist()
    both = [reference.venn_abers(scores, hits, s) for s in probes]
    assert low.tolist() == [float(p0) for p0, _ in both]
    assert high.tolist() == [float(p1) for _, p1 in both]
    merged = [float(p1 / (1 - p0 + p1)) for p0, p1 in both]
    assert_allclose(fitted.predict(probes), merged, rtol=0, atol=1e-15)


@pytest.mark.parametrize("digits", [2, 12])
def test_pairs_on_many_rows_agree_with_two_fits_a_score(
    digits: int, rng: np.random.Generator
) -> None:
    case = events(rng, 2_000)
    scores, hits = case.scores.round(digits), case.hits
    fitted = VennAbers().fit(scores, hits)
    probes = np.concatenate([rng.random(40), rng.choice(scores, 40), [0.0, 1.0]])
    low, high = fitted.interval(probes)
    for place, score in enumerate(probes.tolist()):
        for outcome, result in ((0, low[place]), (1, high[place])):
            order = np.sort(np.unique(np.append(scores, score)))
            block = np.searchsorted(order, np.append(scores, score))
            sizes = np.bincount(block)
            means = np.bincount(block, weights=np.append(hits, outcome)) / sizes
            curve = scipy.optimize.isotonic_regression(means, weights=sizes).x
            assert result == pytest.approx(curve[block[-1]], abs=1e-12)


# Quadratic scaling ------------------------------------------------------------------------------


def parabola(fitted: FittedQuadratic, scores: list[float]) -> list[float]:
    odds = [reference.log_odds(s) for s in scores]
    return [fitted.square * x * x + fitted.slope * x + fitted.intercept for x in odds]


def check_quadratic(case: EventCase) -> None:
    """At the least NLL of the smoothed targets its derivatives are 0, as it is convex."""
    fitted = QuadraticScaling().fit(*case)
    scores, hits = case.scores.tolist(), case.hits.tolist()
    assert NOT_CONVERGED not in fitted.warnings
    odds = parabola(fitted, scores)
    assert_allclose(fitted.predict(scores), [reference.chance(z) for z in odds], atol=1e-7)
    column = [reference.log_odds(s) for s in scores]
    columns = [[x * x for x in column], column, [1.0] * len(column)]
    if max(column) - min(column) > 1e-3:
        result = reference.slopes(odds, reference.smoothed_targets(hits), columns)
        assert_allclose(result, 0, atol=1e-8)


def test_parabolas_are_at_the_optimum() -> None:
    for case in seeded_events(29, 150):
        check_quadratic(case)


def test_quadratic_scaling_undoes_a_known_parabola() -> None:
    rng = np.random.default_rng(3)
    odds = rng.normal(size=100_000)
    true = 1 / (1 + np.exp(-(0.2 * odds**2 + 0.8 * odds - 0.3)))
    fitted = QuadraticScaling().fit(1 / (1 + np.exp(-odds)), rng.random(odds.size) < true)
    results = [fitted.square, fitted.slope, fitted.intercept]
    assert_allclose(results, [0.2, 0.8, -0.3], atol=0.03)
    assert "turns" in fitted.warnings[0]  # at log-odds of -2
    assert "turns at a score of" in fitted.describe().sentence


def test_a_parabola_that_rises_throughout_has_no_warning() -> None:
    scores = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 10)
    hits = np.concatenate([np.arange(10) < share for share in (1, 2, 4, 7, 9)])
    assert QuadraticScaling().fit(scores, hits).warnings == ()


# Centred isotonic regression --------------------------------------------------------------------


def check_centred(case: EventCase) -> None:
    fitted = CentredIsotonicCalibration().fit(*case)
    corners = reference.centred(case.scores.tolist(), case.hits.tolist())
    probes = asked_of(case)
    expected = [reference.read_line(corners, s) for s in probes]
    assert_allclose(fitted.predict(probes), expected, atol=1e-9)


def test_centred_curves_agree_with_pooling_by_hand() -> None:
    for case in seeded_events(30, 200):
        check_centred(EventCase(case.scores.round(3), case.hits))


def test_centred_isotonic_of_a_published_example() -> None:
    # Oron and Flournoy 2017 as cir-model has it: of y 1, 21, 41, 34 the last two become 37.5.
    scores = np.repeat([0.1, 0.2, 0.3, 0.4], 100)
    hits = np.concatenate([np.arange(100) < share for share in (1, 21, 41, 34)])
    result = CentredIsotonicCalibration().fit(scores, hits).predict([0.1, 0.2, 0.3, 0.4])
    assert_allclose(result, [0.01, 0.21, 0.32, 0.375], atol=1e-12)


# What every map keeps ---------------------------------------------------------------------------


@each_map
def test_the_order_of_the_rows_changes_no_bit(
    score_map: ScoreMap, rng: np.random.Generator
) -> None:
    many = events(rng, 30_000)
    tied = EventCase(many.scores.round(2), many.hits)
    for case in (many, tied, *seeded_events(28, 60)):
        order = rng.permutation(case.scores.size)
        shuffled = score_map.fit(case.scores[order], case.hits[order])
        assert shuffled == score_map.fit(*case)


CORNERS: dict[str, EventCase] = {
    "one miss": EventCase(np.array([0.3]), np.array([0])),
    "one hit": EventCase(np.array([0.3]), np.array([1])),
    "one hit at 0": EventCase(np.array([0.0]), np.array([1])),
    "two rows": EventCase(np.array([0.2, 0.9]), np.array([0, 1])),
    "two rows reversed": EventCase(np.array([0.2, 0.9]), np.array([1, 0])),
    "two rows of one score": EventCase(np.array([0.7, 0.7]), np.array([1, 0])),
    "all hits": EventCase(np.linspace(0, 1, 30), np.ones(30, dtype=np.int64)),
    "all misses": EventCase(np.linspace(0, 1, 30), np.zeros(30, dtype=np.int64)),
    "saturated and wrong": EventCase(np.repeat([0.0, 1.0], 20), np.arange(40) % 2),
    "one hit in many": EventCase(np.linspace(0, 1, 5_000), (np.arange(5_000) == 2_000) * 1),
    "one hit, not in the first search": EventCase(
        np.linspace(0, 1, 5_000), (np.arange(5_000) == 2_001) * 1
    ),
}


@each_map
def test_corners_give_probabilities_without_a_numpy_warning(score_map: ScoreMap) -> None:
    for name, corner in CORNERS.items():
        fitted = score_map.fit(*corner)
        probes = np.array([*asked_of(corner), 5e-324, 1e-300, 2.0**-53, 1 - 2.0**-53])
        result = fitted.predict(probes)
        assert ((result >= 0) & (result <= 1)).all(), name
        if score_map in RISING:
            assert (np.diff(result[np.argsort(probes)]) >= -1e-15).all(), name
        if isinstance(score_map, BBQ | VennAbers):
            assert ((result > 0) & (result < 1)).all(), name
        assert from_json(fitted.to_json()) == fitted, name


@each_map
@pytest.mark.parametrize("row", [0, 1])
def test_every_map_says_that_all_rows_are_the_same(score_map: ScoreMap, row: int) -> None:
    fitted = score_map.fit(np.linspace(0.6, 0.9, 20), np.full(20, row))
    if not (isinstance(score_map, BetaCalibration) and score_map.parameters == "ab"):
        assert "Every calibration row is a" in fitted.warnings[0]
    assert len(fitted.warnings) >= 1


def test_a_parabola_of_one_score_is_its_frequency() -> None:
    fitted = QuadraticScaling().fit([0.7] * 400, [1, 0, 0, 0] * 100)
    assert fitted.predict([0.7]) == pytest.approx(0.25, abs=0.01)


REFUSALS: dict[str, tuple[Callable[[], object], str]] = {
    "smoothed by a word": (lambda: PlattScaling(smoothed_targets=wrong("no")), "smoothed_targets"),
    "other parameters": (lambda: BetaCalibration(wrong("bm")), "parameters: 'bm'"),
    "no bins": (lambda: HistogramBinning(0), "n_bins: 0"),
    "half a bin": (lambda: HistogramBinning(wrong(2.5)), "n_bins: 2.5"),
    "other bins": (lambda: HistogramBinning(3, wrong("quantile")), "binning: 'quantile'"),
    "interpolation by 1": (lambda: IsotonicCalibration(interpolate=wrong(1)), "interpolate"),
}


@pytest.mark.parametrize(("ask", "text"), REFUSALS.values(), ids=REFUSALS)
def test_options_are_checked(ask: Callable[[], object], text: str) -> None:
    with pytest.raises(CalibrationInputError, match=text):
        ask()


# Many rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.5, 1e-3])
@pytest.mark.parametrize("score_map", [PlattScaling(), *map(BetaCalibration, PARAMETERS)], ids=str)
def test_curves_of_many_rows_are_at_the_optimum(score_map: ScoreMap, share: float) -> None:
    """The search starts from groups of rows; rare hits with far log-odds are hard for it."""
    rng = np.random.default_rng(30)
    hits = (rng.random(20_000) < share).astype(np.int64)
    odds = np.where(hits == 1, rng.normal(0, 4, hits.size), rng.normal(-12, 8, hits.size))
    scores = 1 / (1 + np.exp(-odds))
    fitted = score_map.fit(scores, hits)
    assert NOT_CONVERGED not in fitted.warnings
    kept, column = scores.tolist(), [reference.log_odds(s) for s in scores.tolist()]
    if isinstance(fitted, FittedPlatt):
        columns = [column, [1.0] * len(column)]
        assert_allclose(
            reference.slopes(platt_odds(fitted, kept), hits.tolist(), columns), 0, atol=1e-10
        )
    elif isinstance(fitted, FittedBeta):
        low, high = zip(*(reference.beta_columns(s) for s in kept), strict=True)
        calibrated = [
            fitted.a * x + fitted.b * y + fitted.c for x, y in zip(low, high, strict=True)
        ]
        assert isinstance(score_map, BetaCalibration)
        check_optimal(
            fitted, score_map.parameters, calibrated, hits.tolist(), (list(low), list(high))
        )


@pytest.mark.parametrize("digits", [3, 17])
def test_isotonic_steps_of_many_rows_do_not_depend_on_their_order(digits: int) -> None:
    case = events(np.random.default_rng(31), 150_000)  # more than two blocks of rows
    scores = case.scores.round(digits)
    order = np.lexsort((case.hits, scores))
    fitted = IsotonicCalibration().fit(scores, case.hits)
    assert fitted == IsotonicCalibration().fit(scores[order], case.hits[order])
    distinct, block = np.unique(scores, return_inverse=True)
    sizes = np.bincount(block)
    means = np.bincount(block, weights=case.hits) / sizes
    expected = scipy.optimize.isotonic_regression(means, weights=sizes).x
    assert_allclose(fitted.predict(distinct), expected, rtol=0, atol=1e-12)


def test_sorted_scores_with_a_negative_zero_are_ties() -> None:
    result = IsotonicCalibration().fit([-0.0, 0.0, 0.5], [1, 0, 1])
    assert result == IsotonicCalibration().fit([0.0, 0.5, 0.0], [0, 1, 1])
