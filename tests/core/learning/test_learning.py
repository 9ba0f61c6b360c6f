"""Learning curves beside a slow loop, and what is read off them."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore import metrics
from calibcore.calibrators import (
    Calibrator,
    IsotonicCalibration,
    SplineCalibration,
    TemperatureScaling,
)
from calibcore.cumulative import ks_error
from calibcore.data import EventScores, LogitSet
from calibcore.data_needed import (
    LEARNED,
    LearningCurve,
    LearningCurves,
    LearningPlan,
    LearningPoint,
    LearningProgress,
    drawn_rows,
    learning_curves,
    learning_sizes,
)
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.splits import Split


def draw_set(seed: int, n_rows: int, n_classes: int = 3) -> LogitSet:
    rng = np.random.default_rng(seed)
    logits = 6 * rng.normal(size=(n_rows, n_classes))
    return LogitSet(logits, (logits / 3 + rng.gumbel(size=logits.shape)).argmax(axis=1))


SPLIT = Split(draw_set(1, 400), draw_set(2, 300))
PLAN = LearningPlan((60, 150, 400), n_draws=4, seed=9, n_bins=10)


def by_hand(calibrator: Calibrator | None, size: int, draw: int) -> list[float]:
    """Fit and evaluate one draw with public functions alone."""
    event, test = TopR(1), SPLIT.test
    rows = drawn_rows(SPLIT.calibration, size, seed=9, draw=draw)
    assert isinstance(rows, LogitSet)
    table = test.probabilities
    outcomes = event.outcomes(table, test.labels)
    nll = metrics.nll(table, test.labels)
    if isinstance(calibrator, TemperatureScaling):
        table = calibrator.fit(rows.logits, rows.labels).predict_proba(test.logits)
        outcomes = event.outcomes(table, test.labels)
        nll = metrics.nll(table, test.labels)
    elif isinstance(calibrator, SplineCalibration):
        seen = event.outcomes(rows.probabilities, rows.labels)
        fitted = calibrator.fit(seen.scores, seen.hits)
        outcomes = EventScores(fitted.predict(outcomes.scores), outcomes.hits)
        nll = math.nan
    scores, hits = outcomes.scores, outcomes.hits
    return [
        ks_error(scores, hits),
        metrics.ece(scores, hits, n_bins=10),
        metrics.kde_ece(scores, hits),
        metrics.event_nll(scores, hits),
        metrics.event_brier(scores, hits),
        nll,
        metrics.accuracy(test.probabilities, test.labels),
    ]


def test_the_curves_are_a_slow_loop_over_draws() -> None:
    calibrators = {"none": None, "t": TemperatureScaling(), "spline": SplineCalibration()}
    result = learning_curves(SPLIT, TopR(1), calibrators, PLAN)
    assert [curve.key for curve in result.curves] == ["none", "t", "spline"]
    for key, calibrator in calibrators.items():
        curve = result.curve(key)
        assert curve.sizes.tolist() == [60, 150, 400]
        for point in curve.points:
            n_draws = 1 if point.size == 400 or calibrator is None else 4
            slow = [by_hand(calibrator, point.size, draw) for draw in range(n_draws)]
            assert_allclose(point.values, slow, rtol=1e-10)
            assert point.refused == ()
        for column, measure in enumerate(LEARNED):
            tables = [point.values[:, column] for point in curve.points]
            assert_allclose(curve.mean(measure), [np.mean(values) for values in tables])
            for share in (0.1, 0.9):
                spread = [np.quantile(values, share) for values in tables]
                assert_allclose(curve.quantile(measure, share), spread)
    assert np.isnan(result.curve("spline").mean("nll")).all()
    assert len(set(result.curve("none").mean("ece").tolist())) == 1


@pytest.mark.parametrize("event", [WithinTopR(2), OneClass(1)])
def test_other_events_are_evaluated_too(event: WithinTopR | OneClass) -> None:
    plan = LearningPlan((400,))
    result = learning_curves(SPLIT, event, {"t": TemperatureScaling()}, plan)
    fitted = TemperatureScaling().fit(SPLIT.calibration.logits, SPLIT.calibration.labels)
    table = fitted.predict_proba(SPLIT.test.logits)
    outcomes = event.outcomes(table, SPLIT.test.labels)
    values = dict(zip(LEARNED, result.curves[0].points[0].values[0].tolist(), strict=True))
    assert_allclose(values["ks_error"], ks_error(outcomes.scores, outcomes.hits))
    assert_allclose(values["accuracy"], metrics.accuracy(table, SPLIT.test.labels))


def test_scores_alone_have_no_measures_of_all_classes() -> None:
    rows = EventScores(np.linspace(0.1, 0.9, 80), np.arange(80) % 3 > 0)
    plan = LearningPlan((50, 80), n_draws=2)
    result = learning_curves(Split(rows, rows), TopR(1), {"i": IsotonicCalibration()}, plan)
    curve = result.curve("i")
    assert np.isnan(curve.mean("nll")).all()
    assert_allclose(curve.mean("accuracy"), rows.hits.mean())
    ranked = learning_curves(Split(rows, rows), TopR(2), {"i": IsotonicCalibration()}, plan)
    assert np.isnan(ranked.curves[0].mean("accuracy")).all()


# Draws ----------------------------------------------------------------------------------------


def test_draws_keep_the_shares_of_the_classes_and_differ() -> None:
    rows = draw_set(3, 1_000, n_classes=5)
    shares = np.bincount(rows.labels, minlength=5)
    seen = set()
    for size in (50, 333, 999):
        for draw in range(3):
            drawn = drawn_rows(rows, size, seed=0, draw=draw)
            assert isinstance(drawn, LogitSet)
            assert drawn.n_samples == size
            counts = np.bincount(drawn.labels, minlength=5)
            assert (np.abs(counts - size * shares / 1_000) < 1).all()
            again = drawn_rows(rows, size, seed=0, draw=draw)
            assert isinstance(again, LogitSet)
            assert np.array_equal(again.logits, drawn.logits)
            seen.add(drawn.logits.tobytes())
    assert len(seen) == 9
    assert drawn_rows(rows, 1_000, seed=0, draw=7) is rows
    with pytest.raises(CalibrationInputError, match="size"):
        drawn_rows(rows, 1_001, seed=0, draw=0)


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "expected"),
    [
        (5_000, 10, (50, 110, 230, 500, 1_100, 2_300, 5_000)),
        (5_000, 100, (200, 340, 580, 1_000, 1_700, 2_900, 5_000)),
        (51, 2, (50, 51)),
        (50, 2, (50,)),
        (8, 3, (8,)),
    ],
)
def test_sizes_rise_from_fifty_or_two_a_class_to_all(
    n_rows: int, n_classes: int, expected: tuple[int, ...]
) -> None:
    rows = LogitSet(np.zeros((n_rows, n_classes)), np.zeros(n_rows, dtype=int))
    assert learning_sizes(rows) == expected


# Work -----------------------------------------------------------------------------------------


def test_progress_says_what_is_at_work_and_can_stop_it() -> None:
    steps: list[LearningProgress] = []
    calibrators = {"none": None, "t": TemperatureScaling()}
    learning_curves(SPLIT, TopR(1), calibrators, PLAN, progress=steps.append)
    assert [(step.key, step.size, step.draw, step.n_draws) for step in steps] == [
        *(("none", size, 1, 1) for size in (60, 150, 400)),
        *(("t", size, draw, 4) for size in (60, 150) for draw in (1, 2, 3, 4)),
        ("t", 400, 1, 1),
    ]
    shares = [step.share for step in steps]
    assert shares[0] == 0.0
    assert (np.diff(shares) > 0).all()
    assert shares[-1] < 1
    assert_allclose(steps[3].share, 0.5)


def test_what_is_finished_is_kept() -> None:
    kept: dict[tuple[str, int], LearningPoint] = {}

    def keep(key: str, size: int, make: object) -> LearningPoint:
        if (key, size) not in kept:
            kept[key, size] = make()  # type: ignore[operator]
        return kept[key, size]

    class Stopped(Exception):  # noqa: N818 - a click, not an error
        pass

    def stop(step: LearningProgress) -> None:
        if step.size == 400:
            raise Stopped

    calibrators = {"t": TemperatureScaling()}
    with pytest.raises(Stopped):
        learning_curves(SPLIT, TopR(1), calibrators, PLAN, progress=stop, keep=keep)
    assert list(kept) == [("t", 60), ("t", 150)]
    later: list[LearningProgress] = []
    result = learning_curves(SPLIT, TopR(1), calibrators, PLAN, progress=later.append, keep=keep)
    assert [step.size for step in later] == [400]
    plain = learning_curves(SPLIT, TopR(1), calibrators, PLAN)
    for left, right in zip(result.curves[0].points, plain.curves[0].points, strict=True):
        assert np.array_equal(left.values, right.values)


def test_fits_that_refuse_are_left_out_and_said() -> None:
    plan = LearningPlan((60, 150, 400), n_draws=2)
    many = SplineCalibration(n_knots=100)
    result = learning_curves(SPLIT, TopR(1), {"many": many}, plan).curve("many")
    assert result.sizes.tolist() == [150, 400]
    assert [len(point.refused) for point in result.points] == [2, 0, 0]
    assert result.n_refused == 2
    assert "one a knot" in result.points[0].refused[0]
    assert result.mean("ece").shape == (2,)


# What is read off -----------------------------------------------------------------------------


def curve_of(key: str, measure: str, means: dict[int, float]) -> LearningCurve:
    points = []
    for size, mean in means.items():
        values = np.full((2, len(LEARNED)), math.nan)
        values[:, LEARNED.index(measure)] = [0.9 * mean, 1.1 * mean]
        points.append(LearningPoint(size, values, ()))
    return LearningCurve(key, tuple(points))


def rows_enough(measure: str, before: float, means: dict[int, float]) -> float | None:
    result = curve_of("a", measure, means).enough(measure, before)
    return None if result is None else result.n_rows


def test_enough_rows_keep_nine_tenths_of_the_gain() -> None:
    falling = {50: 0.10, 100: 0.06, 200: 0.05, 400: 0.04}
    # All rows gain 0.06 on 0.1, nine tenths are 0.054: 0.046, between 200 and 400.
    assert rows_enough("ece", 0.1, falling) == pytest.approx(200 * 2**0.4)
    # The last time it falls short counts, not the first time it is enough.
    assert rows_enough("ece", 0.1, {50: 0.04, 100: 0.07, 200: 0.04}) == pytest.approx(
        100 * 2 ** ((0.054 - 0.03) / 0.03)
    )
    assert rows_enough("ece", 0.1, {50: 0.03, 100: 0.03, 200: 0.04}) == 50
    assert rows_enough("accuracy", 0.5, {50: 0.6, 100: 0.8, 200: 0.9}) == pytest.approx(
        100 * 2 ** ((0.36 - 0.3) / 0.1)
    )
    assert rows_enough("ece", 0.03, falling) is None  # no gain
    assert rows_enough("event_nll", 0.7, {50: math.inf, 100: 0.5}) == pytest.approx(100)
    assert rows_enough("ece", 0.1, {50: 0.05}) == 50
    assert curve_of("a", "ece", falling).enough("nll", 1.0) is None
    assert LearningCurve("a", ()).enough("ece", 0.1) is None


def test_the_interval_of_enough_rows_holds_the_truth(rng: np.random.Generator) -> None:
    # A loss with an excess of 1 / n nats: of a gain of 0.1 - 1 / 2000, nine tenths remain at ...
    sizes, n_draws, n_held = (50, 100, 200, 400, 800, 2000), 10, 0
    excess = 0.1 - 0.9 * (0.1 - 1 / 2000)
    for _ in range(100):
        points = []
        for size in sizes:
            values = np.full((1 if size == 2000 else n_draws, len(LEARNED)), math.nan)
            noise = rng.normal(size=len(values)) / size if size < 2000 else 0
            values[:, LEARNED.index("event_nll")] = 0.5 + 1 / size + 0.5 * noise
            points.append(LearningPoint(size, values, ()))
        result = LearningCurve("a", tuple(points)).enough("event_nll", 0.6)
        assert result is not None
        assert result.low <= result.n_rows <= result.high
        n_held += result.low <= 1 / excess * 1.03 and result.high >= 1 / excess * 0.97
    assert n_held >= 85


def test_the_best_at_each_size() -> None:
    plan = LearningPlan((50, 100, 200), n_draws=2)
    one = curve_of("one", "ece", {50: 0.05, 100: 0.05, 200: 0.05})
    two = curve_of("two", "ece", {100: 0.06, 200: 0.04})
    result = LearningCurves((one, two), plan)
    assert result.best("ece") == [(50, "one"), (100, "one"), (200, "two")]
    assert result.best("nll") == []
    sharp = LearningCurves(
        (
            curve_of("one", "accuracy", {50: 0.5}),
            curve_of("two", "accuracy", {50: 0.6}),
        ),
        plan,
    )
    assert sharp.best("accuracy") == [(50, "two")]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (lambda: LearningPlan(()), "sizes: none"),
        (lambda: LearningPlan((100, 50)), "sizes: 100, 50"),
        (lambda: LearningPlan((50, 50)), "sizes: 50, 50"),
        (lambda: LearningPlan((0, 50)), "sizes: 0"),
        (lambda: LearningPlan((50,), n_draws=0), "n_draws: 0"),
        (lambda: LearningPlan((50,), seed=-1), "seed: -1"),
    ],
)
def test_plans_that_cannot_be_followed_are_refused(
    plan: Callable[[], LearningPlan], message: str
) -> None:
    with pytest.raises(CalibrationInputError, match=message):
        plan()
