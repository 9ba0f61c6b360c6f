"""One set used whole: fitted on all rows, each row evaluated by a map that has not seen it."""

import numpy as np
import pytest
from numpy.typing import NDArray

from calibcore.auditing import audit, audit_fitted, rebin
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.calibrators.base import FittedScoreMap, FittedVectorMap
from calibcore.data import EventScores, LogitSet, with_design
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR
from calibcore.splits import N_FOLDS, Split, cross_split, deal_folds, usual_folds, usual_split
from tests.core.draws import overconfident


@pytest.fixture
def rows(rng: np.random.Generator) -> LogitSet:
    return overconfident(rng, 213, 3)


@pytest.mark.parametrize("event", [TopR(1), OneClass(2)], ids=str)
def test_score_maps_by_hand(rows: LogitSet, event: TopR | OneClass) -> None:
    split, calibrator = cross_split(rows, seed=3), SplineCalibration(constrained=True)
    result = audit(split, event=event, calibrator=calibrator)
    whole = event.outcomes(rows.probabilities, rows.labels)
    fold = deal_folds(rows, seed=3)
    for k in range(5):
        seen, own = fold != k, fold == k
        by_hand = calibrator.fit(whole.scores[seen], whole.hits[seen]).predict(whole.scores[own])
        np.testing.assert_array_equal(result.test.after.event.scores[own], by_hand)
    np.testing.assert_array_equal(result.test.before.event.scores, whole.scores)
    assert isinstance(result.fitted, FittedScoreMap)
    home = calibrator.fit(whole.scores, whole.hits).predict(whole.scores)
    np.testing.assert_array_equal(result.fitted.predict(whole.scores), home)
    assert result.calibration is result.test  # none is evaluated by a fit that has seen it


def test_vector_maps_by_hand(rows: LogitSet) -> None:
    result = audit(cross_split(rows), event=TopR(1), calibrator=TemperatureScaling())
    fold, of_test = deal_folds(rows), result.of_test
    assert isinstance(of_test, FittedVectorMap)
    answer = of_test.predict_proba(rows.logits)
    for k in range(5):
        seen, own = fold != k, fold == k
        by_hand = TemperatureScaling().fit(rows.logits[seen], rows.labels[seen])
        np.testing.assert_array_equal(answer[own], by_hand.predict_proba(rows.logits[own]))
    assert result.fitted is not of_test


def test_before_and_after_are_of_all_rows_and_what_the_comparison_finds(rows: LogitSet) -> None:
    split, event, calibrator = cross_split(rows), TopR(1), SplineCalibration()
    result = audit(split, event=event, calibrator=calibrator)
    crossed = audit(Split(rows, rows, fold=deal_folds(rows)), event=event, calibrator=calibrator)
    assert tuple(result.test.comparisons) == tuple(crossed.test.comparisons)
    assert result.test.n_samples == rows.n_samples
    assert not result.same_data


def test_nothing_fitted_is_the_same_on_both_sets(rows: LogitSet) -> None:
    result = audit(cross_split(rows), event=TopR(1), calibrator=None)
    assert result.of_test is None
    assert all(row.before == row.after for row in result.test.comparisons if row.before is not None)


def test_event_scores_are_crossed_too(rng: np.random.Generator) -> None:
    scores = rng.uniform(size=100)
    rows = EventScores(scores, rng.uniform(size=100) < scores**2)
    result = audit(cross_split(rows, n_folds=4), event=TopR(1), calibrator=SplineCalibration())
    assert result.of_test is not result.fitted
    assert result.test.after.event.n_samples == 100


def test_the_same_maps_on_a_part_of_the_rows_and_in_other_bins(rows: LogitSet) -> None:
    split, event = cross_split(rows), TopR(1)
    result = audit(split, event=event, calibrator=TemperatureScaling())
    part = np.arange(rows.n_samples) % 3 == 0
    crossed = result.by_fold
    assert crossed is not None
    some = Split(rows.rows(part), rows.rows(part))
    answer = audit_fitted(result.fitted, some, event=event, by_fold=crossed.part(part))
    np.testing.assert_array_equal(
        answer.test.after.event.scores, result.test.after.event.scores[part]
    )
    again = rebin(result, split, event, n_bins=7)
    wanted = audit(split, event=event, calibrator=TemperatureScaling(), n_bins=7)
    assert tuple(again.test.comparisons) == tuple(wanted.test.comparisons)


def test_progress_rises_to_the_end(rows: LogitSet) -> None:
    told: list[float] = []
    calibrator = TemperatureScaling()
    audit(cross_split(rows), event=TopR(1), calibrator=calibrator, progress=told.append)
    assert told == sorted(told)
    assert told[0] >= 0
    assert told[-1] < 1


@pytest.mark.parametrize("fold", [[0, 1], [0] * 213, [0.5] * 213, [1, 2] * 106 + [1]])
def test_folds_that_do_not_fit_are_refused(rows: LogitSet, fold: list[float]) -> None:
    wrong: NDArray[np.intp] = np.asarray(fold)
    with pytest.raises(CalibrationInputError, match="fold"):
        Split(rows, rows, fold=wrong)


@pytest.mark.parametrize(("n_clusters", "n_folds"), [(None, N_FOLDS), (40, N_FOLDS), (3, 3)])
def test_there_are_no_more_folds_than_clusters(n_clusters: int | None, n_folds: int) -> None:
    scores = np.linspace(0.1, 0.9, 40)
    rows = EventScores(scores, np.arange(40) % 2)
    if n_clusters is not None:
        rows = with_design(rows, clusters=np.arange(40) % n_clusters)
    assert np.unique(usual_folds(rows)).size == n_folds
    fold = usual_split(rows, seed=1).fold
    assert fold is not None
    assert np.unique(fold).size == n_folds


def test_rows_of_two_are_two_folds_and_one_row_or_cluster_is_none() -> None:
    assert usual_folds(EventScores([0.1, 0.9], [0, 1])).tolist() in ([0, 1], [1, 0])
    with pytest.raises(CalibrationInputError, match="1 row"):
        usual_folds(EventScores([0.1], [0]))
