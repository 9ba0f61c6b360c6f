"""Class probabilities given as equal stay so, in a fit, after it, and in what is exported of it."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_allclose

from calibcore import LogitSet, audit
from calibcore.calibrators import CATALOGUE, SplineCalibration
from calibcore.calibrators.base import ScoreMap
from calibcore.calibrators.by_group import SCORE_MAPS
from calibcore.calibrators.lifts import OneVsRest, PerRank, PooledClasses, PooledScores
from calibcore.calibrators.method import Calibrator
from calibcore.calibrators.score_maps.bbq import BBQ
from calibcore.calibrators.score_maps.centred import CentredIsotonicCalibration
from calibcore.calibrators.score_maps.histogram import HistogramBinning
from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
from calibcore.calibrators.score_maps.venn_abers import VennAbers
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.export.numpy_code import numpy_code
from calibcore.export.onnx_model import has_model, onnx_model
from calibcore.export.score_table import score_table
from calibcore.probabilities import twelve_decimals
from calibcore.splits import Split
from calibcore.validation import Floats, Labels
from tests import reference
from tests import reference_ensembles as slow


class Case(NamedTuple):
    table: Floats
    labels: Labels
    new: Floats


@cache
def decimals(n_classes: int, digits: int, n_rows: int = 600) -> Case:
    """Draw rows of probabilities with so many digits, zeros among them, and their true classes."""
    rng = np.random.default_rng([n_classes, digits])
    chances = rng.dirichlet(np.full(n_classes, 0.6), 2 * n_rows)
    parts = np.floor(chances * 10**digits).astype(int)
    parts[np.arange(2 * n_rows), parts.argmax(axis=1)] += 10**digits - parts.sum(axis=1)
    table, new = np.split(parts / 10**digits, 2)
    labels = (table.cumsum(axis=1) > rng.random((n_rows, 1))).argmax(axis=1)
    return Case(table, labels, new)


CASES = [(3, 1), (3, 2), (3, 3), (10, 2), (10, 3)]

of_cases = pytest.mark.parametrize("case", [decimals(*one) for one in CASES], ids=map(str, CASES))

MAPS: list[Callable[[], ScoreMap]] = [
    IsotonicCalibration, lambda: IsotonicCalibration(interpolate=True), CentredIsotonicCalibration,
    HistogramBinning, BBQ, VennAbers, SplineCalibration,
]  # fmt: skip

of_maps = pytest.mark.parametrize("make", MAPS)


def file_of(rows: LogitSet, calibrator: Calibrator | str) -> CalibratorFile:
    return CalibratorFile.of(audit(Split(rows, rows), calibrator=calibrator))


def calibrated(case: Case, calibrator: Calibrator) -> Floats:
    rows = LogitSet.from_probabilities(case.table, case.labels)
    return file_of(rows, calibrator).apply(case.new)


# Rounding ----------------------------------------------------------------------------------------


def test_twelve_decimals_are_those_of_the_slow_reading(rng: np.random.Generator) -> None:
    drawn = np.concatenate([rng.random(2000), 10 ** rng.uniform(-30, 0, 2000), [0, 1, 0.5, 1e-9]])
    want = [reference.twelve_decimals(one) for one in drawn.tolist()]
    assert twelve_decimals(drawn).tolist() == want
    assert np.array_equal(twelve_decimals(np.sort(drawn)), np.sort(want))


@pytest.mark.parametrize("n", [3, 7, 128, 999, 1000, 1024, 10**6, 10**9])
def test_decimals_and_shares_come_back_from_a_moved_last_digit(n: int) -> None:
    shares = np.unique(np.linspace(1, n, min(n, 20_000)).astype(int)) / n
    same = [twelve_decimals(shares * (1 + few * 2.0**-52)) for few in (-2, -1, 0, 1, 2)]
    assert all(np.array_equal(same[2], one) for one in same)
    if 10**12 % n == 0 and n % 10 == 0:
        assert np.array_equal(same[2], shares)


@pytest.mark.parametrize("make", [*MAPS, *SCORE_MAPS.values()])
def test_a_map_says_whether_it_has_breaks(make: Callable[[], ScoreMap]) -> None:
    score_map, scores = make(), np.linspace(0.01, 0.99, 200)
    fitted = score_map.fit(scores, np.arange(200) % 3 < 200 * scores / 80)
    assert score_map.HAS_BREAKS == fitted.HAS_BREAKS == any(one.size for one in fitted.breaks())


# Against plain fits of the columns as they were given ---------------------------------------------


@of_cases
@of_maps
def test_one_vs_rest_is_a_plain_fit_of_each_column(
    make: Callable[[], ScoreMap], case: Case
) -> None:
    columns = [
        make().fit(case.table[:, k], case.labels == k).predict(case.new[:, k])
        for k in range(case.table.shape[1])
    ]
    rows = np.transpose(columns).tolist()
    want = [slow.normalised(*both) for both in zip(rows, case.new.tolist(), strict=True)]
    assert_allclose(calibrated(case, OneVsRest(make())), want, rtol=0, atol=1e-8)


@of_cases
@of_maps
def test_per_rank_is_a_plain_fit_of_each_rank(make: Callable[[], ScoreMap], case: Case) -> None:
    order, new_order = (
        np.argsort(-table, axis=1, kind="stable") for table in (case.table, case.new)
    )
    hits = order == case.labels[:, np.newaxis]
    ranked, new = (
        np.take_along_axis(table, places, axis=1)
        for table, places in ((case.table, order), (case.new, new_order))
    )
    columns = [make().fit(ranked[:, r], hits[:, r]).predict(new[:, r]) for r in range(new.shape[1])]
    want = np.empty(new.shape)
    for row, places, own, before in zip(
        want, new_order, np.transpose(columns).tolist(), new.tolist(), strict=True
    ):
        row[places] = slow.normalised(own, before)
    assert_allclose(calibrated(case, PerRank(make())), want, rtol=0, atol=1e-8)


@of_cases
@of_maps
def test_pooled_classes_are_a_plain_fit_of_all_entries(
    make: Callable[[], ScoreMap], case: Case
) -> None:
    hits = case.labels[:, np.newaxis] == np.arange(case.table.shape[1])
    fitted = make().fit(case.table.ravel(), hits.ravel())
    own = fitted.predict(case.new.ravel()).reshape(case.new.shape) + 1e-9 * case.new
    want = own / own.sum(axis=1, keepdims=True)
    assert_allclose(calibrated(case, PooledClasses(make())), want, rtol=0, atol=1e-8)
    rows = LogitSet.from_probabilities(case.table, case.labels)
    alone = PooledScores(make()).fit(rows.logits, rows.labels)
    wanted = np.minimum(fitted.predict(case.new[:, 0]) + 1e-9 * case.new[:, 0], 1)
    assert_allclose(alone.predict(case.new[:, 0]), wanted, rtol=0, atol=1e-8)


def test_a_class_that_is_always_equal_gets_its_frequency() -> None:
    rng = np.random.default_rng(0)
    second = rng.integers(1, 9, 3000) / 10
    table = np.column_stack([np.full(3000, 0.1), second, (9 - 10 * second).round() / 10])
    hits = rng.random(3000) < 0.1
    labels = np.where(hits, 0, 1 + (rng.random(3000) < 0.5))
    fitted: Any = audit(table, labels, calibrator="one_vs_rest_isotonic").fitted
    assert fitted.score_maps[0].frequency.tolist() == [hits.mean()]


# What is exported --------------------------------------------------------------------------------


def exported(file: CalibratorFile, values: Floats) -> tuple[Floats, Floats]:
    """Calibrate by the file's Python and by its ONNX model."""
    names: dict[str, Any] = {}
    exec(numpy_code(file), names)  # noqa: S102 - the code under test
    session = onnxruntime.InferenceSession(onnx_model(file).SerializeToString())
    (answer,) = session.run(None, {session.get_inputs()[0].name: values})
    return np.asarray(names["calibrate"](values)), np.asarray(answer)


OF_CLASSES = [
    one.key for one in CATALOGUE if one.acts_on == "classes" and one.key != "gaussian_process"
]


@of_cases
@pytest.mark.parametrize("key", OF_CLASSES)
def test_code_and_model_are_the_calibrator_on_ties_and_zeros(key: str, case: Case) -> None:
    file = file_of(LogitSet.from_probabilities(case.table, case.labels), key)
    assert has_model(file.fitted)
    assert (case.new == 0).any()
    want = file.apply(case.new)
    for answer in exported(file, case.new):
        assert_allclose(answer, want, rtol=0, atol=1e-9)


@pytest.mark.parametrize("key", OF_CLASSES)
def test_code_and_model_are_the_calibrator_of_logits_that_rule_classes_out(key: str) -> None:
    rng = np.random.default_rng(4)
    logits = rng.normal(0, 3, (600, 4))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    file = file_of(LogitSet(logits, labels), key)
    new = rng.normal(0, 3, (300, 4)) * 10.0 ** rng.integers(0, 5, (300, 1))
    new[:, :3][rng.random((300, 3)) < 0.3] = -np.inf
    for values in (logits, new):
        want = file.apply(values)
        for answer in exported(file, values):
            assert_allclose(answer, want, rtol=0, atol=1e-9)


@of_cases
def test_pooled_scores_and_their_table_have_steps_where_they_were_given(case: Case) -> None:
    rows = LogitSet.from_probabilities(case.table, case.labels)
    fitted = PooledScores(IsotonicCalibration()).fit(rows.logits, rows.labels)
    file = CalibratorFile(fitted, "scores")
    scores = np.unique(case.table)
    want = fitted.predict(scores)
    assert_allclose(score_table(fitted).at(scores), want, rtol=0, atol=1e-4)
    for answer in exported(file, scores):
        assert_allclose(answer, want, rtol=0, atol=1e-12)
