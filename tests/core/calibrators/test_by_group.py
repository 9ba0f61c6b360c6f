"""Maps by group: beside fits of each group alone, slow fits of all, and what must not matter."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from calibcore.auditing import audit
from calibcore.calibrators import (
    BetaCalibration,
    ByGroup,
    IsotonicCalibration,
    PlattScaling,
    ScoreMap,
    SplineCalibration,
    TemperatureScaling,
    from_json,
)
from calibcore.calibrators.by_group import FittedByGroup
from calibcore.data import EventScores, LogitSet, with_groups
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR
from calibcore.fitting import calibrated_scores, prepare
from calibcore.metrics import event_nll
from calibcore.splits import Split, cross_split, split_rows
from tests.reference_score_maps import chance, log_odds, nll
from tests.strategies import Floats

Case = tuple[Floats, NDArray[np.int64], NDArray[np.int64]]

MAPS: list[ScoreMap] = [PlattScaling(), BetaCalibration(), SplineCalibration()]

each_map = pytest.mark.parametrize("score_map", MAPS, ids=lambda made: type(made).__name__)


def draw_case(rng: np.random.Generator, sizes: tuple[int, ...], shifts: tuple[float, ...]) -> Case:
    """Scores, hits and groups, where log-odds are off by the shift of each group."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    odds = rng.normal(-0.5, 1.2, groups.size)
    true = 1 / (1 + np.exp(-odds - np.array(shifts)[groups]))
    hits = (rng.uniform(size=groups.size) < true).astype(np.int64)
    return 1 / (1 + np.exp(-odds)), hits, groups


# Beside other fits --------------------------------------------------------------------------


@each_map
@pytest.mark.parametrize("penalty", [0.1, 3.0, 100.0])
def test_beside_a_slow_fit_of_all_groups(
    score_map: ScoreMap, penalty: float, rng: np.random.Generator
) -> None:
    scores, hits, groups = draw_case(rng, (60, 25, 40), (0.8, -0.7, 0.0))
    fitted = ByGroup(score_map, penalty).fit(scores, hits, groups)
    of_all = score_map.fit(scores, hits).predict(scores).tolist()
    odds = [log_odds(q) for q in of_all]
    weights = [chance(z) * (1 - chance(z)) for z in odds]
    middle = math.fsum(w * z for w, z in zip(weights, odds, strict=True)) / math.fsum(weights)
    squares = math.fsum(w * (z - middle) ** 2 for w, z in zip(weights, odds, strict=True))
    spread = math.sqrt(squares / math.fsum(weights))

    def loss(added: Floats) -> float:
        moved = [
            z + added[g] + added[3 + g] * (z - middle) / spread
            for z, g in zip(odds, groups.tolist(), strict=True)
        ]
        return len(moved) * nll(moved, hits.tolist()) + penalty * float(added @ added) / 2

    result = scipy.optimize.minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-7}).x
    assert_allclose(fitted.slope, 1 + result[3:] / spread, atol=2e-5)
    assert_allclose(fitted.shift, result[:3] - result[3:] * middle / spread, atol=2e-5)


@each_map
def test_without_a_penalty_each_group_is_fitted_alone(
    score_map: ScoreMap, rng: np.random.Generator
) -> None:
    scores, hits, groups = draw_case(rng, (400, 150, 300), (1.0, -0.5, 0.2))
    fitted = ByGroup(score_map, 0.0).fit(scores, hits, groups)
    of_all = score_map.fit(scores, hits).predict(scores)
    for number in range(3):
        own = groups == number
        alone = PlattScaling().fit(of_all[own], hits[own])
        assert fitted.shift[number] == pytest.approx(alone.intercept, abs=1e-8)
        assert fitted.slope[number] == pytest.approx(alone.slope, abs=1e-8)


def test_a_strong_penalty_leaves_the_map_of_all(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_case(rng, (400, 150, 300), (1.0, -0.5, 0.2))
    fitted = ByGroup(PlattScaling(), 1e13).fit(scores, hits, groups)
    assert_allclose(fitted.predict(scores, groups), fitted.predict(scores), atol=1e-8, rtol=0)


# What it does with few rows and with many ---------------------------------------------------


def test_groups_alike_are_left_alike_and_groups_apart_are_not(rng: np.random.Generator) -> None:
    alike, apart = [], []
    for _ in range(10):
        scores, hits, groups = draw_case(rng, (500,) * 4, (0.0,) * 4)
        alike.append(ByGroup(PlattScaling()).fit(scores, hits, groups).penalty)
        scores, hits, groups = draw_case(rng, (500,) * 4, (1.0, -1.0, 0.5, -0.5))
        apart.append(ByGroup(PlattScaling()).fit(scores, hits, groups).penalty)
    assert np.median(alike) >= 100
    assert np.median(apart) <= 10


# What is defined where there is little to learn ---------------------------------------------


def test_groups_that_are_not_known_get_the_map_of_all(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_case(rng, (200, 200), (1.0, -1.0))
    fitted = ByGroup(PlattScaling()).fit(scores, hits, groups)
    of_all = PlattScaling().fit(scores, hits).predict(scores)
    assert_array_equal(fitted.predict(scores), of_all)
    for unseen in (-1, 2, 99):
        assert_array_equal(fitted.predict(scores, np.full(400, unseen)), of_all)
    blind = ByGroup(PlattScaling()).fit(scores, hits)
    assert_array_equal(blind.predict(scores, groups), of_all)
    mixed = fitted.predict(scores, np.where(groups == 0, 7, groups))
    assert_array_equal(mixed[:200], of_all[:200])
    assert_array_equal(mixed[200:], fitted.predict(scores, groups)[200:])


@pytest.mark.parametrize("penalty", [None, 0.0, 1.0])
def test_a_group_of_one_outcome_and_one_of_one_row(
    penalty: float | None, rng: np.random.Generator
) -> None:
    scores, hits, groups = draw_case(rng, (200, 200, 30, 1), (0.3, -0.3, 0.0, 0.0))
    hits[400:430] = 1
    fitted = ByGroup(PlattScaling(), penalty).fit(scores, hits, groups)
    assert np.isfinite([fitted.shift, fitted.slope]).all()
    result = fitted.predict(scores, groups)
    assert ((result > 0) & (result < 1)).all()
    assert result[400:430].mean() >= fitted.predict(scores)[400:430].mean()
    assert fitted.slope[3] == 1  # one row has no slope


def test_one_score_a_group_has_a_shift_and_no_slope() -> None:
    scores = np.repeat([0.2, 0.6], 100)
    hits = np.tile([1, 0, 0, 0], 50)
    fitted = ByGroup(PlattScaling(), 0.0).fit(scores, hits, np.repeat([5, 9], 100))
    assert fitted.slope.tolist() == [1, 1]
    assert_allclose(fitted.predict([0.2, 0.6], [5, 9]), 0.25, atol=1e-9)


def test_one_group_of_all_rows_is_what_its_map_is(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_case(rng, (500,), (0.4,))
    fitted = ByGroup(PlattScaling()).fit(scores, hits, groups)
    assert_allclose(fitted.shift, 0, atol=1e-8)  # of two logistic curves the first is best already
    assert_allclose(fitted.slope, 1, atol=1e-8)


def test_scores_of_0_and_1_stay_inside_and_the_fit_is_finite(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_case(rng, (200, 300), (0.6, -0.6))
    scores[::5], scores[1::5] = 0, 1
    for score_map in (PlattScaling(), IsotonicCalibration(), SplineCalibration(constrained=True)):
        fitted = ByGroup(score_map).fit(scores, hits, groups)
        result = fitted.predict(scores, groups)
        assert ((result >= 0) & (result <= 1)).all()
        assert np.isfinite([fitted.shift, fitted.slope]).all()


# What must not matter -----------------------------------------------------------------------


def test_the_order_of_rows_and_the_groups_numbers_do_not_matter(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_case(rng, (120, 80, 300), (0.8, -0.4, 0.0))
    fitted = ByGroup(BetaCalibration()).fit(scores, hits, groups)
    mixed = rng.permutation(500)
    again = ByGroup(BetaCalibration()).fit(scores[mixed], hits[mixed], groups[mixed])
    renamed = np.array([41, -7, 12])
    other = ByGroup(BetaCalibration()).fit(scores, hits, renamed[groups])
    assert fitted.penalty == again.penalty == other.penalty
    assert other.groups.tolist() == [-7, 12, 41]
    wanted = fitted.predict(scores, groups)
    assert_allclose(again.predict(scores, groups), wanted, atol=1e-9)
    assert_allclose(other.predict(scores, renamed[groups]), wanted, atol=1e-9)


@given(
    rows=st.lists(
        st.tuples(
            st.one_of(st.sampled_from([0.0, 0.5, 1.0, 1e-9]), st.floats(0, 1)),
            st.integers(0, 1),
            st.integers(-2, 3),
        ),
        min_size=1,
        max_size=30,
    ),
    penalty=st.sampled_from([None, 0.0, 0.5, 1e4]),
)
def test_any_rows_give_probabilities_and_no_worse_a_fit(
    rows: list[tuple[float, int, int]], penalty: float | None
) -> None:
    scores, hits, groups = (np.array(column) for column in zip(*rows, strict=True))
    fitted = ByGroup(PlattScaling(), penalty).fit(scores, hits, groups)
    result = fitted.predict(scores, groups)
    assert ((result >= 0) & (result <= 1)).all()
    assert event_nll(result, hits) <= event_nll(fitted.predict(scores), hits) + 1e-9
    again = from_json(fitted.to_json())
    assert isinstance(again, FittedByGroup)
    assert_array_equal(again.predict(scores, groups), result)


# Where the groups come from -----------------------------------------------------------------


def test_an_audit_in_folds_by_hand(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_case(rng, (150, 100), (0.9, -0.9))
    rows = with_groups(EventScores(scores, hits), groups)
    split, calibrator = cross_split(rows, n_folds=4), ByGroup(PlattScaling())
    result = audit(split, event=TopR(1), calibrator=calibrator)
    assert split.fold is not None
    for number in range(4):
        seen, own = split.fold != number, split.fold == number
        made = calibrator.fit(scores[seen], hits[seen], groups[seen])
        wanted = made.predict(scores[own], groups[own])
        assert_array_equal(result.test.after.event.scores[own], wanted)
    home = calibrator.fit(scores, hits, groups)
    assert result.fitted == home
    assert result.calibration is result.test


def test_an_audit_of_classes_with_a_test_set(rng: np.random.Generator) -> None:
    logits = 2 * rng.normal(size=(300, 3))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    groups = rng.integers(3, size=300)
    split = split_rows(with_groups(LogitSet(logits, labels), groups))
    event, calibrator = OneClass(1), ByGroup(PlattScaling(), 1.0)
    result = audit(split, event=event, calibrator=calibrator)
    fit, test = (prepare(rows, event) for rows in (split.calibration, split.test))
    assert fit.rows.groups is not None
    assert test.rows.groups is not None
    made = calibrator.fit(fit.event.scores, fit.event.hits, fit.rows.groups)
    wanted = made.predict(test.event.scores, test.rows.groups)
    assert_array_equal(result.test.after.event.scores, wanted)
    assert_array_equal(calibrated_scores(made, test), wanted)
    assert result.test.changed_decisions == 0


def test_other_calibrators_do_not_see_groups(rng: np.random.Generator) -> None:
    logits = rng.normal(size=(60, 2))
    labels = rng.integers(2, size=60)
    plain = LogitSet(logits, labels)
    rows = with_groups(plain, np.arange(60))
    for calibrator in (PlattScaling(), TemperatureScaling()):
        result, wanted = (
            audit(Split(one, one, same_data=True), event=TopR(1), calibrator=calibrator)
            for one in (rows, plain)
        )
        assert tuple(result.test.comparisons) == tuple(wanted.test.comparisons)


def test_rows_keep_their_groups_and_sets_stay_as_they_are() -> None:
    rows = EventScores([0.1, 0.2, 0.3], [0, 1, 0])
    weighted_rows = with_groups(rows, [4, 5, 6])
    assert rows.groups is None
    assert weighted_rows.groups is not None
    assert weighted_rows.rows([2, 0, 0]).rows([True, False, True]).groups.tolist() == [6, 4]  # type: ignore[union-attr]
    logits = with_groups(LogitSet([[1.0, 0.0]] * 3, [0, 1, 0]), [4, 5, 6])
    assert logits.rows([False, True, True]).groups.tolist() == [5, 6]  # type: ignore[union-attr]


@pytest.mark.parametrize("groups", [[0, 1], [[0, 1, 2]], [0.5, 1, 2], ["a", "b", "c"]])
def test_groups_that_are_none_are_refused(groups: Any) -> None:
    with pytest.raises(CalibrationInputError, match="groups"):
        with_groups(EventScores([0.1, 0.2, 0.3], [0, 1, 0]), groups)
    with pytest.raises(CalibrationInputError, match="groups"):
        ByGroup(PlattScaling()).fit([0.1, 0.2, 0.3], [0, 1, 0], groups)


@pytest.mark.parametrize("penalty", [-1.0, math.nan, math.inf])
def test_options_are_checked(penalty: float) -> None:
    with pytest.raises(CalibrationInputError, match="penalty"):
        ByGroup(PlattScaling(), penalty)
    with pytest.raises(CalibrationInputError, match="score_map"):
        ByGroup(TemperatureScaling())  # type: ignore[arg-type]
