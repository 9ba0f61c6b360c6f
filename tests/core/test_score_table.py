"""Calibrators as tables of straight pieces: the calibrator itself, to the stated accuracy."""

import numpy as np
import pytest

from calibcore import CalibrationInputError
from calibcore.calibrators import (
    CATALOGUE,
    ByGroup,
    HistogramBinning,
    IsotonicCalibration,
    PlattScaling,
    ScoreMap,
    SplineCalibration,
    VennAbers,
)
from calibcore.calibrators.base import FittedScoreMap
from calibcore.calibrators.lifts import PooledScores
from calibcore.calibrators.score_maps.histogram import FittedHistogram
from calibcore.export.score_table import TABLE_ACCURACY, ScoreTable, score_table
from calibcore.validation import Floats

MAPS = {one.key: made for one in CATALOGUE if isinstance(made := one.make(), ScoreMap)}
MAPS |= {
    "isotonic_interpolated": IsotonicCalibration(interpolate=True),
    "spline_of_the_paper": SplineCalibration(constrained=False),
    "equal_mass": HistogramBinning(binning="equal_mass"),
    "by_group_spline": ByGroup(SplineCalibration()),
}


def fitted_to(made: ScoreMap, n_rows: int, digits: int | None) -> tuple[FittedScoreMap, Floats]:
    rng = np.random.default_rng(3)
    scores = rng.beta(0.7, 2, n_rows)
    scores = scores if digits is None else np.round(scores, digits)
    hits = rng.random(n_rows) < scores**1.4
    if isinstance(made, ByGroup):
        groups = rng.integers(0, 6, n_rows)
        hits |= (groups == 2) & (rng.random(n_rows) < 0.4)
        return made.fit(scores, hits, groups), scores
    return made.fit(scores, hits), scores


def everywhere(scores: Floats) -> Floats:
    rng = np.random.default_rng(4)
    tiny = 10 ** -rng.uniform(0, 17, 500)
    return np.concatenate([scores, rng.random(2000), tiny, 1 - tiny, [0, 0.5, 1, 1e-300]])


@pytest.mark.parametrize(("n_rows", "digits"), [(60, None), (900, 1), (900, 2), (4000, None)])
@pytest.mark.parametrize("key", list(MAPS))
def test_a_table_is_its_calibrator(key: str, n_rows: int, digits: int | None) -> None:
    fitted, seen = fitted_to(MAPS[key], n_rows, digits)
    table, scores = score_table(fitted), everywhere(seen)
    assert np.abs(table.at(scores) - fitted.predict(scores)).max() <= TABLE_ACCURACY
    assert (np.diff(table.score) > 0).all()
    assert table.score[[0, -1]].tolist() == [0, 1]
    assert table.score.size < 1000


@pytest.mark.parametrize("key", ["platt", "isotonic", "venn_abers", "histogram", "equal_mass"])
def test_scores_that_a_spreadsheet_rounds_are_on_their_side_of_a_step(key: str) -> None:
    """A spreadsheet keeps 15 digits, and writes 16: neither may carry a score over a step."""
    fitted, seen = fitted_to(MAPS[key], 3000, None)
    table = score_table(fitted)
    edges = fitted.edges[1:-1] if isinstance(fitted, FittedHistogram) else seen
    scores = np.concatenate([edges, seen])
    rounded = np.array([float(f"{score:.15g}") for score in scores])
    written = ScoreTable(*(np.array([float(f"{v:.16G}") for v in column.tolist()])
                           for column in (table.score, table.calibrated, table.slope)))  # fmt: skip
    off = np.abs(written.at(rounded) - fitted.predict(scores))
    assert off.max() <= TABLE_ACCURACY


@pytest.mark.parametrize("accuracy", [1e-2, 1e-3, 1e-5])
def test_the_accuracy_is_kept_by_as_many_pieces_as_it_needs(accuracy: float) -> None:
    fitted, seen = fitted_to(PlattScaling(), 900, None)
    table, scores = score_table(fitted, accuracy), everywhere(seen)
    off = np.abs(table.at(scores) - fitted.predict(scores)).max()
    assert accuracy / 10 < off <= accuracy
    finer = score_table(fitted, accuracy / 10)
    assert 2 * table.score.size < finer.score.size < 5 * table.score.size  # as its square root


def test_steps_are_kept_and_nothing_else() -> None:
    fitted = HistogramBinning(n_bins=4).fit([0.1, 0.1, 0.3, 0.6, 0.9], [0, 1, 1, 0, 1])
    table = score_table(fitted)
    assert table.score.size == 5
    assert np.abs(table.score[:-1] - [0, 0.25, 0.5, 0.75]).max() < 1e-12
    assert table.calibrated.tolist() == [0.5, 1.0, 0.0, 1.0, 1.0]
    assert table.slope.tolist() == [0, 0, 0, 0, 0]
    assert table.at([0.25, 0.2500001, 0.5, 0.75]).tolist() == [0.5, 1.0, 1.0, 0.0]
    empty = HistogramBinning(n_bins=4).fit([0.1, 0.1, 0.9], [0, 1, 1])
    assert score_table(empty).at([0.3, 0.7]).round(12).tolist() == [0.3, 0.7]


def test_what_groups_add_is_as_accurate() -> None:
    fitted, seen = fitted_to(ByGroup(PlattScaling()), 3000, None)
    table, scores = score_table(fitted), everywhere(seen)
    of_all = table.at(scores).clip(2**-52, 1 - 2**-52)
    for k in range(6):
        shift, slope = fitted.shift[k], fitted.slope[k]  # type: ignore[attr-defined]
        odds = shift + slope * np.log(of_all / (1 - of_all))
        wanted = fitted.predict(scores, np.full(scores.size, k))  # type: ignore[call-arg]
        assert np.abs(1 / (1 + np.exp(-odds)) - wanted).max() <= TABLE_ACCURACY


def test_many_steps_are_joined_as_far_as_they_do_not_matter() -> None:
    fitted, seen = fitted_to(VennAbers(), 60_000, None)
    table = score_table(fitted)
    assert table.score.size < 2000
    assert np.abs(table.at(seen) - fitted.predict(seen)).max() <= TABLE_ACCURACY


def test_pooled_scores_rise_within_their_steps() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(400, 3)) * 2
    fitted = PooledScores(IsotonicCalibration()).fit(logits, logits.argmax(axis=1))
    assert isinstance(fitted, FittedScoreMap)
    scores = everywhere(rng.random(1000))
    assert np.abs(score_table(fitted).at(scores) - fitted.predict(scores)).max() <= TABLE_ACCURACY


@pytest.mark.parametrize("accuracy", [0.0, -1e-4, np.nan])
def test_no_table_is_exact_by_promise(accuracy: float) -> None:
    fitted, _ = fitted_to(PlattScaling(), 60, None)
    with pytest.raises(CalibrationInputError, match="Expected a number above 0"):
        score_table(fitted, accuracy)
