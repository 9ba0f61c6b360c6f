import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import ArrayLike

from benchmarks.timing import peak_bytes
from calibcore import CalibrationInputError
from calibcore.calibrators import CATALOGUE, PlattScaling, SplineCalibration
from calibcore.calibrators.base import FittedScoreMap, ScoreMap, VectorMap, from_json
from calibcore.calibrators.lifts import Chain, Lift, OneVsRest, PerRank, PooledClasses, PooledScores
from calibcore.calibrators.score_maps.beta import BetaCalibration
from calibcore.calibrators.score_maps.histogram import HistogramBinning
from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
from calibcore.calibrators.temperature import TemperatureScaling
from calibcore.events import TopR
from calibcore.metrics import nll
from calibcore.probabilities import softmax
from calibcore.weights import SampleWeight
from tests import reference
from tests import reference_ensembles as slow
from tests.marks import first_and_long
from tests.strategies import Floats, LogitCase, overconfident, seeded_logit_sets

LINES = IsotonicCalibration(interpolate=True)


@dataclass(frozen=True, eq=False)
class FittedAbove(FittedScoreMap):
    limit: float

    def predict(self, scores: ArrayLike) -> Floats:
        checked = np.asarray(scores, dtype=np.float64)
        assert checked.ndim == 1
        return np.where(checked > self.limit, checked, 0.0)


@dataclass(frozen=True)
class Above(ScoreMap):
    """Keeps scores above a limit and makes the others 0; remembers what it was fitted on."""

    limit: float

    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedAbove:
        assert sample_weight is None
        texts = (f"{np.sum(scores):.6f} {np.sum(hits)}",)
        return FittedAbove(self.limit, warnings=texts)


def model(seed: int, n_rows: int = 60, n_classes: int = 4) -> LogitCase:
    return overconfident(np.random.default_rng(seed), n_rows, n_classes, temperature=2.0)


def decimals(table: Floats) -> list[list[float]]:
    """Return rows as maps with steps or corners take them."""
    return [[reference.twelve_decimals(p) for p in row] for row in table.tolist()]


# Against the slow reading ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_irm_and_irova_are_the_slow_readings(seed: int) -> None:
    logits, labels = model(seed)
    new, _ = model(seed + 100)
    before, after = decimals(softmax(logits)), decimals(softmax(new))
    for lift, slow_of in ((PooledClasses(LINES), slow.irm), (OneVsRest(LINES), slow.irova)):
        result = lift.fit(logits, labels).predict_proba(new)
        assert_allclose(result, slow_of(before, labels.tolist(), after), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_irova_ts_is_the_slow_reading(seed: int) -> None:
    logits, labels = model(seed)
    new, _ = model(seed + 100)
    fitted = Chain(TemperatureScaling(), OneVsRest(LINES)).fit(logits, labels)
    kept = slow.program_temperature(logits.tolist(), labels.tolist(), "nll")
    assert fitted.first.temperature == pytest.approx(kept, rel=1e-6)  # type: ignore[attr-defined]
    temperature = fitted.first.temperature  # type: ignore[attr-defined]
    before, after = (
        decimals(np.array([slow.softmax(row, temperature) for row in table.tolist()]))
        for table in (logits, new)
    )
    expected = slow.irova(before, labels.tolist(), after)
    assert_allclose(fitted.predict_proba(new), expected, rtol=1e-9, atol=1e-12)


def test_sets_with_ties_agree_with_the_slow_reading() -> None:
    for logits, labels in seeded_logit_sets(31, 150, max_rows=10):
        table = decimals(softmax(logits))
        pooled = PooledClasses(LINES).fit(logits, labels).predict_proba(logits)
        assert_allclose(pooled, slow.irm(table, labels.tolist(), table), rtol=1e-9, atol=1e-12)
        apart = OneVsRest(LINES).fit(logits, labels).predict_proba(logits)
        assert_allclose(apart, slow.irova(table, labels.tolist(), table), rtol=1e-9, atol=1e-12)


# Each lift ---------------------------------------------------------------------------------------


def test_one_vs_rest_hands_each_class_its_own_rows() -> None:
    logits, labels = model(1, n_classes=40)
    p = softmax(logits)
    fitted = OneVsRest(Above(0.01)).fit(logits, labels)
    for k, score_map in enumerate(fitted.score_maps):  # type: ignore[attr-defined]
        assert score_map.warnings == (f"{p[:, k].sum():.6f} {np.sum(labels == k)}",)
    kept = np.where(p > 0.01, p, 0)
    expected = kept / kept.sum(axis=1, keepdims=True)
    assert_allclose(fitted.predict_proba(logits), expected, rtol=1e-12)


def test_rows_of_zeros_fall_back() -> None:
    logits, labels = model(2, n_rows=50, n_classes=3)
    fitted = OneVsRest(Above(0.6)).fit(logits, labels)
    p = softmax(logits)
    low = p.max(axis=1) <= 0.6
    assert low.any()
    assert not low.all()
    result = fitted.predict_proba(logits)
    assert np.array_equal(result[low], p[low])
    assert np.array_equal(result[~low].max(axis=1), np.ones(np.count_nonzero(~low)))
    ranked = PerRank(Above(0.6)).fit(logits, labels).predict_proba(logits)
    assert np.array_equal(ranked, result)


def test_absent_classes_are_said_once() -> None:
    logits, labels = model(3, n_classes=12)
    labels = labels % 3
    fitted = OneVsRest(IsotonicCalibration()).fit(logits, labels)
    assert len(fitted.warnings) == 1
    assert fitted.warnings[0].startswith("9 of 12 classes have no row")
    assert np.all(fitted.predict_proba(logits)[:, 3:] == 0)
    logits, labels = model(3, n_classes=3)
    one = OneVsRest(IsotonicCalibration()).fit(logits, labels % 2)
    assert one.warnings[0].startswith("1 of 3 classes has no row")


def test_warnings_of_many_maps_are_few() -> None:
    logits, labels = model(4, n_rows=400, n_classes=9)
    fitted = OneVsRest(Above(0.1)).fit(logits, labels)
    assert [text[:8] for text in fitted.warnings[:3]] == ["Class 0:", "Class 1:", "Class 2:"]
    assert "9 of 9" in fitted.warnings[3]
    ranked = PerRank(Above(0.1)).fit(logits, labels)
    assert [text[:7] for text in ranked.warnings[:3]] == ["Rank 1:", "Rank 2:", "Rank 3:"]


def test_a_slope_at_its_bound_is_no_news_of_a_class() -> None:
    fitted = OneVsRest(BetaCalibration()).fit(*model(5, 100))
    flat = [one for one in fitted.score_maps if 0 in (one.a, one.b)]  # type: ignore[attr-defined]
    assert flat
    assert all("at its bound" in one.warnings[0] for one in flat)
    assert fitted.warnings == ()


def test_pooled_classes_hands_over_every_entry() -> None:
    logits, labels = model(5)
    fitted = PooledClasses(Above(0.2)).fit(logits, labels)
    assert fitted.warnings == ("60.000000 60",)


def test_pooled_scores_are_the_entries_before_they_are_normalised() -> None:
    logits, labels = model(6)
    p = softmax(logits)
    rows = PooledClasses(LINES).fit(logits, labels)
    alone = PooledScores(LINES).fit(logits, labels)
    entries = alone.predict(p.ravel()).reshape(p.shape)
    assert_allclose(
        rows.predict_proba(logits), entries / entries.sum(axis=1, keepdims=True), rtol=1e-8
    )
    assert np.abs(entries.sum(axis=1) - 1).max() > 0.01
    scores = TopR(1).outcomes(p, labels).scores
    assert np.array_equal(alone.predict(scores), entries.max(axis=1))
    again = from_json(alone.to_json())
    assert np.array_equal(again.predict(scores), alone.predict(scores))  # type: ignore[attr-defined]


@pytest.mark.parametrize("n_ranks", [None, 1, 2, 4])
def test_per_rank_sends_each_rank_through_its_map(n_ranks: int | None) -> None:
    logits, labels = model(7)
    new, _ = model(107)
    p, after = (np.array(decimals(softmax(table))) for table in (logits, new))
    maps = []
    for r in range(1, (n_ranks or 4) + 1):
        event = TopR(r).outcomes(p, labels)
        maps.append(IsotonicCalibration().fit(event.scores, event.hits))
    fitted = PerRank(IsotonicCalibration(), n_ranks=n_ranks).fit(logits, labels)
    assert fitted.score_maps == tuple(maps)  # type: ignore[attr-defined]
    expected = []
    for row, before in zip(after.tolist(), softmax(new).tolist(), strict=True):
        ranked = sorted(range(4), key=lambda k: -row[k])
        changed = list(before)
        for score_map, k in zip(maps, ranked, strict=False):
            changed[k] = float(score_map.predict([row[k]])[0])
        expected.append(slow.normalised(changed, before))
    assert_allclose(fitted.predict_proba(new), expected, rtol=1e-12)


def test_of_equal_classes_the_first_has_the_higher_rank() -> None:
    rng = np.random.default_rng(21)
    logits = rng.integers(0, 3, size=(300, 40)).astype(np.float64)
    labels = rng.integers(0, 40, size=300)
    fitted: Any = PerRank(LINES).fit(logits, labels)
    p = np.array(decimals(softmax(logits)))
    ranking = [sorted(range(40), key=row.__getitem__) for row in (-p).tolist()]
    for r in range(40):
        scores = [row[order[r]] for row, order in zip(p, ranking, strict=True)]
        hits = [order[r] == label for order, label in zip(ranking, labels, strict=True)]
        assert fitted.score_maps[r] == LINES.fit(scores, hits)
    for row, order, result in zip(p, ranking, fitted.predict_proba(logits), strict=True):
        maps = zip(fitted.score_maps, order, strict=True)
        changed = {k: float(one.predict([row[k]])[0]) for one, k in maps}
        expected = slow.normalised([changed[k] for k in range(40)], row.tolist())
        assert_allclose(result, expected, rtol=1e-12)


def test_a_chain_fits_the_second_on_what_the_first_gives() -> None:
    logits, labels = model(8)
    first = TemperatureScaling().fit(logits, labels)
    between = np.log(first.predict_proba(logits))
    for second in (TemperatureScaling(loss="squared_error"), OneVsRest(LINES)):
        chained = Chain(TemperatureScaling(), second).fit(logits, labels)
        expected = second.fit(between, labels).predict_proba(between)
        assert_allclose(chained.predict_proba(logits), expected, atol=1e-12)
    thrice = Chain(TemperatureScaling(), Chain(OneVsRest(LINES), TemperatureScaling()))
    fitted = thrice.fit(logits, labels)
    assert fitted.warnings == fitted.first.warnings + fitted.second.warnings
    assert from_json(fitted.to_json()) == fitted


@pytest.mark.parametrize("lift", [OneVsRest(LINES), PerRank(LINES), PooledClasses(LINES)])
def test_blocks_of_rows_are_told_as_they_are_read(lift: Lift) -> None:
    told: list[float] = []
    many = model(9, 5_000, 1_000)  # three blocks
    lift.fit(*many, progress=told.append)
    assert told == sorted(told)
    assert len([share for share in told if share <= 0.3]) >= 3


@pytest.mark.parametrize("n_classes", [4, 60])
@pytest.mark.parametrize("first", [IsotonicCalibration(), HistogramBinning()], ids=str)
def test_the_order_of_the_classes_parts_no_ties(first: ScoreMap, n_classes: int) -> None:
    logits, labels = model(3, 1_500, n_classes)
    for second in (OneVsRest(IsotonicCalibration()), PooledClasses(IsotonicCalibration())):
        chain = Chain(OneVsRest(first), second)
        before = chain.fit(logits, labels).predict_proba(logits)
        for seed in range(3):
            classes = np.random.default_rng(seed).permutation(n_classes)
            renamed = chain.fit(logits[:, classes], np.argsort(classes)[labels])
            assert np.array_equal(renamed.predict_proba(logits[:, classes]), before[:, classes])


# What holds for all ------------------------------------------------------------------------------


def test_irm_keeps_classes_that_differ_in_a_last_digit() -> None:
    close = float(np.nextafter(1.0, 2.0))
    result = PooledClasses(LINES).fit([[1.0, close, 0.0]] * 3, [0, 1, 2])
    assert result.predict_proba([[1.0, close, 0.0]]).argmax() == 1


@pytest.mark.parametrize("lift", [OneVsRest, PooledClasses, PerRank])
def test_more_rows_than_a_block_change_nothing(lift: type[Lift]) -> None:
    logits, labels = model(12, n_rows=400, n_classes=70)
    fitted = lift(LINES).fit(logits, labels)  # type: ignore[call-arg]
    many = np.tile(logits, (120, 1))
    assert np.array_equal(fitted.predict_proba(many)[-400:], fitted.predict_proba(logits))


@pytest.mark.parametrize("lift", [OneVsRest, PooledClasses, PooledScores, PerRank])
def test_only_score_maps_are_lifted(lift: Any) -> None:
    with pytest.raises(CalibrationInputError, match="score_map"):
        lift(TemperatureScaling())


def test_wrong_options_are_refused() -> None:
    for strictness in (0.0, -1e-9, 0.1, math.nan):
        with pytest.raises(CalibrationInputError, match="strictness"):
            PooledClasses(LINES, strictness=strictness)
    with pytest.raises(CalibrationInputError, match="n_ranks"):
        PerRank(LINES, n_ranks=0)
    with pytest.raises(CalibrationInputError, match="n_ranks"):
        PerRank(LINES, n_ranks=5).fit(*model(1))
    with pytest.raises(CalibrationInputError, match="second"):
        Chain(TemperatureScaling(), LINES)  # type: ignore[arg-type]
    for lift in (OneVsRest(LINES), PerRank(LINES)):
        with pytest.raises(CalibrationInputError, match="4 classes"):
            lift.fit(*model(1)).predict_proba([[0.0, 1.0]])


# Memory ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "calibrator",
    first_and_long(
        [
            Chain(TemperatureScaling(), OneVsRest(IsotonicCalibration())),
            PooledClasses(IsotonicCalibration()),
            OneVsRest(IsotonicCalibration()),
            Chain(TemperatureScaling(), PooledClasses(IsotonicCalibration())),
            Chain(TemperatureScaling(), TemperatureScaling()),
        ]
    ),
    ids=str,
)
def test_three_times_the_logits_is_memory_enough(calibrator: VectorMap) -> None:
    logits, labels = model(8, 4_000, 1_000)
    fitted = []
    assert peak_bytes(lambda: fitted.append(calibrator.fit(logits, labels))) < 3 * logits.nbytes
    assert peak_bytes(lambda: fitted[0].predict_proba(logits)) < 3 * logits.nbytes


@pytest.mark.long
@pytest.mark.parametrize(
    "lift",
    [OneVsRest(SplineCalibration()), PerRank(SplineCalibration())],
    ids=["one_vs_rest", "per_rank"],
)
def test_many_maps_and_their_result_take_the_memory_that_the_catalogue_says(lift: Lift) -> None:
    logits, labels = model(8, 12_000, 1_000)
    assert peak_bytes(lambda: lift.fit(logits, labels).predict_proba(logits)) < 3.25 * logits.nbytes


def test_a_chain_calibrates_blocks_of_rows_as_it_does_rows() -> None:
    logits, labels = model(9, 9_000, 300)  # more than one block
    for second in (TemperatureScaling(), OneVsRest(HistogramBinning())):
        fitted = Chain(TemperatureScaling(), second).fit(logits[:500], labels[:500])
        some = [0, 6_989, 6_990, 6_991, 8_999]
        assert_allclose(
            fitted.predict_proba(logits)[some], fitted.predict_proba(logits[some]), rtol=1e-14
        )


def test_platt_of_many_classes_has_smoothed_targets() -> None:
    """With few rows a class, raw targets are too sure: 50 classes, 300 rows, as in the notes."""
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        true = rng.normal(size=(2_300, 50))
        labels = (true + rng.gumbel(size=true.shape)).argmax(axis=1)
        rows, new = 1.7 * true[:300], 1.7 * true[300:]
        made = next(one for one in CATALOGUE if one.key == "one_vs_rest").make(score_map="platt")
        assert made == OneVsRest(PlattScaling(smoothed_targets=True))
        losses = [
            nll(one.fit(rows, labels[:300]).predict_proba(new), labels[300:])
            for one in (OneVsRest(PlattScaling()), OneVsRest(PlattScaling(smoothed_targets=True)))
        ]
        gains.append(losses[0] - losses[1])
    assert min(gains) > 0
    assert np.mean(gains) > 0.03
