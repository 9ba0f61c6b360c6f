from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Literal, NamedTuple

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore import audit
from calibcore.calibrators import CATALOGUE, OneVsRest, PerRank, SplineCalibration
from calibcore.reliability import spline_frequency
from tests import reference
from tests.strategies import EventCase, Floats, event_data

Runout = Literal["natural", "parabolic", "cubic"]
FitTo = Literal["difference", "hits"]
WIDE = 1e-300  # in a narrower gap the slope that numpy.interp divides by it passes the last double
FIT_TO: tuple[FitTo, ...] = ("difference", "hits")
KINDS: list[tuple[Runout, int]] = [
    ("natural", 6),
    ("natural", 2),
    ("natural", 3),
    ("parabolic", 3),
    ("parabolic", 6),
    ("cubic", 4),
    ("cubic", 6),
    ("natural", 8),
]


def check_places(kept: list[float], pairs: list[tuple[float, float]]) -> None:
    """Every score is kept but between two that become the same as it does."""
    assert [kept[0], kept[-1]] == [pairs[0][0], pairs[-1][0]]
    left_out = {score for score, _ in pairs} - set(kept)
    assert len(kept) + len(left_out) == len(pairs)
    for (_, before), (score, value), (_, after) in zip(pairs, pairs[1:], pairs[2:], strict=False):
        three = (before, value, after)
        if score in left_out:
            assert np.ptp(np.clip(three, 0, 1)) <= 1e-12
        else:
            assert max(min(three) - 1, -max(three)) <= 1e-12


@given(event_data(min_size=12), st.sampled_from(KINDS), st.sampled_from(FIT_TO))
def test_a_map_agrees_with_exact_fractions(
    case: EventCase, kind: tuple[Runout, int], fit_to: FitTo
) -> None:
    runout, n_knots = kind
    paper = SplineCalibration(n_knots, runout, fit_to, constrained=False)
    fitted = paper.fit(*case)
    scores, hits = case.scores.tolist(), case.hits.tolist()
    pairs = reference.spline_map(scores, hits, n_knots, runout, fit_to)
    between = [(low + high) / 2 for low, high in pairwise(sorted(scores)) if high - low > WIDE]
    asked = [*scores, *between, 0.0, 0.123, 1.0]
    expected = [reference.read_map(pairs, score) for score in asked]
    assert_allclose(fitted.predict(asked), expected, rtol=0, atol=1e-12)
    check_places(fitted.scores.tolist(), pairs)


@pytest.mark.parametrize("constrained", [False, True])
@given(case=event_data(min_size=6), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(
    constrained: bool,  # noqa: FBT001 (pytest names it)
    case: EventCase,
    random: Random,
) -> None:
    order = list(range(len(case.scores)))
    random.shuffle(order)
    calibrator = SplineCalibration(constrained=constrained)
    first = calibrator.fit(*case).predict(case.scores)
    second = calibrator.fit(case.scores[order], case.hits[order]).predict(case.scores)
    assert np.array_equal(first, second)


def test_one_name_is_one_fit(rng: np.random.Generator) -> None:
    scores = 1 - rng.random(300) ** 4
    hits = (rng.random(300) < scores**8).astype(int)
    (spline,) = (one for one in CATALOGUE if one.key == "spline")
    assert spline.make() == SplineCalibration() == SplineCalibration(constrained=True)
    named = audit(scores, hits, calibrator="spline").fitted
    alone = audit(scores, hits, calibrator=SplineCalibration()).fitted
    paper = audit(scores, hits, calibrator=SplineCalibration(constrained=False)).fitted
    results = [one.predict(scores) for one in (named, alone, paper) if one is not None]  # type: ignore[union-attr]
    assert np.array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])
    made = {one.key: one.make() for one in CATALOGUE}
    assert made["one_vs_rest_spline"] == OneVsRest(SplineCalibration())
    assert made["per_rank"] == PerRank(SplineCalibration())


def test_a_fit_says_what_went_wrong(rng: np.random.Generator) -> None:
    scores = rng.uniform(0.2, 0.8, 500)
    assert SplineCalibration().fit(scores, rng.random(500) < scores).warnings == ()
    # One score alone tells nothing of the others
    constant = SplineCalibration().fit([0.5] * 10, [0, 1] * 5)
    assert any("0.5" in sentence for sentence in constant.warnings)
    # The spline leaves [0, 1] here
    rows, hits = [0.0] * 7 + [0.1], [0] * 8
    all_misses = "Every calibration row is a miss, so every score comes near 0."
    assert SplineCalibration(constrained=True).fit(rows, hits).warnings == (all_misses,)
    free = SplineCalibration(constrained=False).fit(rows, hits).warnings
    assert free[0] == all_misses
    assert "was cut off" in free[1]


# The bounds of the calibrated scores --------------------------------------------------------------


def likeliest_lower(rows: list[tuple[float, int]]) -> float:
    """Raise a bound until the rows below it, with half a hit and half a miss, say stop."""
    estimates = sorted({estimate for estimate, _ in rows})
    for estimate, following in zip(estimates, [*estimates[1:], float("inf")], strict=True):
        below = [hit for other, hit in rows if other <= estimate]
        share = (sum(below) + 0.5) / (len(below) + 1)
        if share <= following:
            return max(share, estimate)
    raise AssertionError


@given(event_data(min_size=6), st.sampled_from(KINDS), st.sampled_from(FIT_TO))
def test_scores_are_cut_off_where_outcomes_are_likeliest(
    case: EventCase, kind: tuple[Runout, int], fit_to: FitTo
) -> None:
    runout, n_knots = kind
    if len(case.scores) < n_knots:
        return
    free = spline_frequency(*case, n_knots=n_knots, runout=runout, fit_to=fit_to)
    slope = dict(zip(free.score.tolist(), np.round(free.slope, 9).tolist(), strict=True))
    rows = [(slope[s], h) for s, h in zip(case.scores.tolist(), case.hits.tolist(), strict=True)]
    low, high = likeliest_lower(rows), 1 - likeliest_lower([(1 - e, 1 - h) for e, h in rows])
    if low > high:
        low = high = (case.hits.sum() + 0.5) / (len(rows) + 1)
    fitted = SplineCalibration(n_knots, runout, fit_to).fit(*case)
    result = fitted.predict(case.scores)
    assert_allclose(result, [np.clip(slope[s], low, high) for s in case.scores], atol=2e-9)
    assert np.all((result > 0) & (result < 1))


def test_the_map_follows_a_truth_that_bends_near_0_and_1(rng: np.random.Generator) -> None:
    """Held in [0, 1] as it is fitted, it stays 3 points off however many the rows are."""
    scores = np.sort(rng.random(20_000))
    truth = scores**2.5 / (scores**2.5 + (1 - scores) ** 2.5)
    hits = (rng.random(20_000) < truth).astype(int)
    off, off_bounded = (
        float(np.abs(result - truth).mean())
        for result in (
            SplineCalibration().fit(scores, hits).predict(scores),
            spline_frequency(scores, hits, bounded=True).slope,
        )
    )
    assert off < 0.01
    assert off_bounded > 0.02


# The fit of a bounded slope -----------------------------------------------------------------------


class Programme(NamedTuple):
    """Least |design @ v - target|^2 with lowest <= slopes @ v <= highest."""

    design: Floats
    target: Floats
    slopes: Floats
    lowest: Floats
    highest: Floats

    def loss(self, values: Floats) -> float:
        return float(np.sum((self.design @ values - self.target) ** 2))

    def gradient(self, values: Floats) -> Floats:
        return 2 * self.design.T @ (self.design @ values - self.target)


def programme(case: EventCase, n_knots: int, runout: Runout, fit_to: FitTo) -> Programme:
    rows = reference.calibration_rows(case.scores.tolist(), case.hits.tolist(), fit_to)

    def table(places: list[Fraction], *, derivative: bool) -> Floats:
        lines = [
            reference.spline_weights(x, n_knots, runout, derivative=derivative) for x in places
        ]
        return np.array([[float(w) for w in line] for line in lines])

    scores = [rows.scores[0], *rows.scores]
    offset = np.array([float(s) if fit_to == "difference" else 0.0 for s in scores])
    return Programme(
        design=table(rows.fractile, derivative=False),
        target=np.array([float(v) for v in rows.total]),
        slopes=table([Fraction(0), *rows.fractile], derivative=True),
        lowest=-offset,
        highest=1 - offset,
    )


def lower_bound(problem: Programme, values: Floats) -> float:
    """A loss that no feasible spline can beat, from the bounds that hold ``values`` back.

    Non-negative multipliers of the bounds that are nearly reached give a dual value, which is below
    the best feasible loss whatever the multipliers (weak duality); so the best of several will do.
    """
    slope = problem.slopes @ values
    sides = np.vstack([problem.slopes, -problem.slopes])
    limits = np.concatenate([problem.highest, -problem.lowest])
    slack = np.concatenate([problem.highest - slope, slope - problem.lowest])
    free = np.asarray(np.linalg.lstsq(problem.design, problem.target)[0], dtype=np.float64)
    gradient = problem.gradient(values)
    curvature = 2 * problem.design.T @ problem.design
    results = [problem.loss(free)]
    for near in (slack < distance for distance in (1e-7, 1e-9, 1e-11, 1e-13)):
        if near.any():
            weights, _ = scipy.optimize.nnls(sides[near].T, -gradient)
            # The loss plus weights @ (sides v - limits) is least where its gradient is 0
            pull = sides[near].T @ weights
            least = free - np.linalg.solve(curvature, pull)
            results.append(problem.loss(least) + float(pull @ least - weights @ limits[near]))
    return max(results)


def check_bounded(case: EventCase, kind: tuple[Runout, int], fit_to: FitTo) -> bool:
    runout, n_knots = kind
    held, free = (
        spline_frequency(*case, n_knots=n_knots, runout=runout, fit_to=fit_to, bounded=bounded)
        for bounded in (True, False)
    )
    problem = programme(case, n_knots, runout, fit_to)
    slope = problem.slopes @ held.spline.values
    assert np.all(slope >= problem.lowest - 1.01e-9)
    assert np.all(slope <= problem.highest + 1.01e-9)
    loss = problem.loss(held.spline.values)
    # Rounding of the dual value grows with the size of the target
    rounding = 1e-13 * (1 + float(problem.target @ problem.target))
    assert loss - lower_bound(problem, held.spline.values) <= 1e-9 * loss + rounding
    free_slope = problem.slopes @ free.spline.values
    was_feasible = bool(
        np.all((free_slope >= problem.lowest) & (free_slope <= problem.highest)),
    )
    if was_feasible:
        assert_allclose(held.spline.values, free.spline.values, atol=1e-9)
    calibrated = problem.slopes[1:] @ held.spline.values - problem.lowest[1:]
    ordered = np.sort(case.scores)
    means = [float(calibrated[ordered == score].mean()) for score in held.score]
    assert_allclose(held.slope, means, atol=1e-9)
    # Rounding, which depends on the processor, must not decide between 0 and 1e-17
    near = np.minimum(held.slope, 1 - held.slope)
    assert np.all((near == 0) | (near > 1e-9))
    return was_feasible


@given(event_data(min_size=8), st.sampled_from(KINDS), st.sampled_from(FIT_TO))
def test_a_bounded_fit_is_proved_best(
    case: EventCase, kind: tuple[Runout, int], fit_to: FitTo
) -> None:
    check_bounded(case, kind, fit_to)


@pytest.mark.parametrize("fit_to", FIT_TO)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_general_solver_finds_nothing_better(seed: int, fit_to: FitTo) -> None:
    rng = np.random.default_rng(seed)
    scores = np.sort(1 - rng.random(60) ** 3)
    case = EventCase(scores, (rng.random(60) < scores**4).astype(np.int64))
    problem = programme(case, 6, "natural", fit_to)
    start = np.linspace(0, 0.5, 6) if fit_to == "hits" else np.zeros(6)
    theirs = scipy.optimize.minimize(
        problem.loss,
        start,
        jac=problem.gradient,
        method="SLSQP",
        constraints=scipy.optimize.LinearConstraint(
            problem.slopes, problem.lowest, problem.highest
        ),
        options={"maxiter": 1000, "ftol": 1e-16},
    )
    ours = spline_frequency(*case, fit_to=fit_to, bounded=True).spline.values
    slope = problem.slopes @ ours
    assert np.all(slope >= problem.lowest - 1e-9)
    assert np.all(slope <= problem.highest + 1e-9)
    assert problem.loss(ours) <= theirs.fun * (1 + 1e-9) + 1e-15


def test_rows_that_are_all_hits_are_said(rng: np.random.Generator) -> None:
    fitted = SplineCalibration(constrained=True).fit(rng.random(50), np.ones(50))
    assert fitted.warnings == ("Every calibration row is a hit, so every score comes near 1.",)
