"""One set used whole: fitted on all rows, each row evaluated by a map that has not seen it."""

import numpy as np
import pytest
from numpy.typing import NDArray

from calibcore.auditing import audit, audit_fitted, rebin
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.calibrators.base import FittedScoreMap
from calibcore.data import EventScores, LogitSet, with_design
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR
from calibcore.splits import N_FOLDS, Split, cross_split, deal_folds, usual_folds, usual_split
from tests.core.draws import overconfident


@pytest.fixture
def rows(rng: np.random.Generator) -> LogitSet:
    return overconfident(rng, 213, 3)


@pytest.mark.parametrize("event", [TopR(1), OneClass(2)], ids=str)
def test_what_is_fitted_is_of_all_rows_and_evaluates_none(
    rows: LogitSet, event: TopR | OneClass
) -> None:
    split, calibrator = cross_split(rows, seed=3), SplineCalibration(constrained=True)
    result = audit(split, event=event, calibrator=calibrator)
    np.testing.assert_array_equal(split.fold, deal_folds(rows, seed=3))
    whole = event.outcomes(rows.probabilities, rows.labels)
    assert isinstance(result.fitted, FittedScoreMap)
    home = calibrator.fit(whole.scores, whole.hits).predict(whole.scores)
    np.testing.assert_array_equal(result.fitted.predict(whole.scores), home)
    assert result.calibration is result.test
    assert result.of_test is result.by_fold is not result.fitted
    assert not result.same_data


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
