"""Cross-fitting beside folds fitted by hand, and who wins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore import metrics
from calibcore.auditing import AuditResult, audit
from calibcore.calibrators import (
    Calibrator,
    HistogramBinning,
    IsotonicCalibration,
    OneVsRest,
    PooledScores,
    ScoreMap,
    SplineCalibration,
    TemperatureScaling,
    VectorMap,
    VectorScaling,
)
from calibcore.comparison import Contestant, Standing, can_rank, penalty, pick, ranked
from calibcore.cumulative import ks_error
from calibcore.data import EventScores, LogitSet, Rows
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import Comparison
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.fitting import FoldedScoreMap, FoldedVectorMap
from calibcore.metrics import METRICS, Options, measure_by_key
from calibcore.splits import Folds, Split, deal_folds
from tests.core.draws import overconfident

SCORE_MAPS: list[ScoreMap] = [IsotonicCalibration(), SplineCalibration(), HistogramBinning()]
VECTOR_MAPS: list[VectorMap] = [
    TemperatureScaling(),
    VectorScaling(),
    OneVsRest(IsotonicCalibration()),
]
Event = TopR | WithinTopR | OneClass
EVENTS: list[Event] = [TopR(1), TopR(2), WithinTopR(2), OneClass(1)]

each_event = pytest.mark.parametrize("event", EVENTS, ids=str)


def draw_rows(rng: np.random.Generator, n_samples: int) -> LogitSet:
    rows = overconfident(rng, n_samples, 4)
    return LogitSet(rows.logits.astype(np.float32), rows.labels)


def crossed(
    rows: Rows, fold: Folds, calibrator: Calibrator | None, event: Event = EVENTS[0]
) -> AuditResult:
    return audit(Split(rows, rows, fold=fold), event=event, calibrator=calibrator)


# Folds --------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.integers(2, 12), st.integers(0, 9))
def test_folds_share_out_every_class(labels: list[int], n_folds: int, seed: int) -> None:
    n_folds = min(n_folds, len(labels))
    rows = LogitSet(np.zeros((len(labels), 4)), labels)
    fold = deal_folds(rows, n_folds=n_folds, seed=seed)
    sizes = np.bincount(fold, minlength=n_folds)
    assert sizes.size == n_folds
    assert sizes.max() - sizes.min() <= 1
    for label in set(labels):
        of_class = np.bincount(fold[np.array(labels) == label], minlength=n_folds)
        assert of_class.max() - of_class.min() <= 1
    assert fold.tolist() == deal_folds(rows, n_folds=n_folds, seed=seed).tolist()


def test_folds_of_event_scores_share_out_the_hits_and_the_seed_counts() -> None:
    rows = EventScores(np.linspace(0, 1, 40), [1] * 20 + [0] * 20)
    fold = deal_folds(rows)
    assert np.bincount(fold[:20]).tolist() == np.bincount(fold[20:]).tolist() == [4] * 5
    assert fold.tolist() != deal_folds(rows, seed=1).tolist()


@pytest.mark.parametrize("n_folds", [1, 4])
def test_a_number_of_folds_out_of_range_is_refused(n_folds: int) -> None:
    rows = EventScores([0.1, 0.2, 0.3], [0, 1, 0])
    with pytest.raises(CalibrationInputError, match=f"n_folds: {n_folds}.*from 2 to 3"):
        deal_folds(rows, n_folds=n_folds)
    with pytest.raises(CalibrationInputError, match="rows: 1 row"):
        deal_folds(EventScores([0.1], [0]))
    with pytest.raises(CalibrationInputError, match="seed: -2"):
        deal_folds(rows, n_folds=2, seed=-2)


# Beside folds fitted by hand ----------------------------------------------------------------


@each_event
@pytest.mark.parametrize("calibrator", SCORE_MAPS, ids=lambda one: type(one).__name__)
def test_score_maps_are_those_of_the_other_folds(
    calibrator: ScoreMap, event: Event, rng: np.random.Generator
) -> None:
    rows = draw_rows(rng, 120)
    fold = deal_folds(rows, n_folds=4)
    result = crossed(rows, fold, calibrator, event).test
    plain = event.outcomes(rows.probabilities, rows.labels)
    for number in range(4):
        rest, mine = fold != number, fold == number
        fitted = calibrator.fit(plain.scores[rest], plain.hits[rest])
        wanted = fitted.predict(plain.scores[mine])
        assert result.after.event.scores[mine].tolist() == wanted.tolist()
    assert result.before.event.scores.tolist() == plain.scores.tolist()
    assert result.compare("ks_error").after == ks_error(result.after.event.scores, plain.hits)
    assert result.compare("nll").after is None
    assert result.changed_decisions == 0


@each_event
@pytest.mark.parametrize("calibrator", VECTOR_MAPS, ids=lambda one: type(one).__name__)
def test_vector_maps_are_those_of_the_other_folds(
    calibrator: VectorMap, event: Event, rng: np.random.Generator
) -> None:
    rows = draw_rows(rng, 120)
    fold = deal_folds(rows, n_folds=3, seed=7)
    whole = crossed(rows, fold, calibrator, event)
    wanted = np.empty((120, 4))
    for number in range(3):
        rest, mine = fold != number, fold == number
        fitted = calibrator.fit(rows.logits[rest], rows.labels[rest])
        wanted[mine] = fitted.predict_proba(rows.logits[mine])
    assert isinstance(whole.by_fold, FoldedVectorMap)
    np.testing.assert_allclose(whole.by_fold.predict_proba(rows.logits), wanted, rtol=1e-12)
    outcomes, result = event.outcomes(wanted, rows.labels), whole.test
    pairs = {
        "nll": metrics.nll(wanted, rows.labels),
        "classwise_ece": metrics.classwise_ece(wanted, rows.labels),
        "accuracy": metrics.accuracy(wanted, rows.labels),
        "ks_error": ks_error(outcomes.scores, outcomes.hits),
        "event_brier": metrics.event_brier(outcomes.scores, outcomes.hits),
    }
    for key, value in pairs.items():
        assert result.compare(key).after == pytest.approx(value, rel=1e-9), key
    moved = np.count_nonzero(wanted.argmax(axis=1) != rows.logits.argmax(axis=1))
    assert result.changed_decisions == moved


def test_event_scores_are_cross_fitted_too(rng: np.random.Generator) -> None:
    scores = rng.random(90)
    rows = EventScores(scores, rng.random(90) < scores**2)
    fold = deal_folds(rows)
    result = crossed(rows, fold, IsotonicCalibration()).test
    for number in range(5):
        rest, mine = fold != number, fold == number
        fitted = IsotonicCalibration().fit(scores[rest], rows.hits[rest])
        assert result.after.event.scores[mine].tolist() == fitted.predict(scores[mine]).tolist()
    with pytest.raises(CalibrationInputError, match="needs the logits of all classes"):
        crossed(rows, fold, TemperatureScaling())


def test_pooled_scores_are_cross_fitted_where_they_are_allowed(rng: np.random.Generator) -> None:
    rows = draw_rows(rng, 100)
    fold, calibrator = deal_folds(rows), PooledScores(IsotonicCalibration())
    result = crossed(rows, fold, calibrator).test
    fitted = calibrator.fit(rows.logits[fold != 2], rows.labels[fold != 2])
    scores = TopR(1).outcomes(rows.probabilities, rows.labels).scores[fold == 2]
    assert result.after.event.scores[fold == 2].tolist() == fitted.predict(scores).tolist()
    with pytest.raises(CalibrationInputError, match="within-top-r"):
        crossed(rows, fold, calibrator, WithinTopR(2))


def test_doing_nothing_is_the_same_with_and_without_folds(rng: np.random.Generator) -> None:
    rows = draw_rows(rng, 80)
    whole = crossed(rows, deal_folds(rows), None)
    plain = audit(Split(rows, rows), event=TopR(1), calibrator=None).calibration
    assert whole.by_fold is None
    assert tuple(whole.test.comparisons) == tuple(plain.comparisons)


def test_progress_tells_every_fold_and_can_end_the_work(rng: np.random.Generator) -> None:
    rows = draw_rows(rng, 60)
    told: list[float] = []
    fold, calibrator = deal_folds(rows), IsotonicCalibration()
    split = Split(rows, rows, fold=fold)
    audit(split, event=TopR(1), calibrator=calibrator, progress=told.append)
    assert told == pytest.approx(np.arange(1, 6) / 6)  # after the fit to all rows

    def stop(share: float) -> None:
        if share > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(split, event=TopR(1), calibrator=calibrator, progress=stop)


def test_folded_maps_take_no_other_rows(rng: np.random.Generator) -> None:
    rows = draw_rows(rng, 60)
    fold = deal_folds(rows)
    for calibrator in (TemperatureScaling(), IsotonicCalibration()):
        fitted = crossed(rows, fold, calibrator).by_fold
        given = rows.logits[1:] if isinstance(fitted, FoldedVectorMap) else np.full(59, 0.5)
        assert fitted is not None
        call = fitted.predict_proba if isinstance(fitted, FoldedVectorMap) else fitted.predict
        with pytest.raises(CalibrationInputError, match=r"59\. Expected the 60"):
            call(given)


def test_some_of_the_rows_keep_their_maps(rng: np.random.Generator) -> None:
    rows = draw_rows(rng, 90)
    fold = deal_folds(rows)
    some = (np.arange(90) % 7 < 3) & (fold != 4)  # of one fold, none
    scores = TopR(1).outcomes(rows.probabilities, rows.labels).scores
    fitted = crossed(rows, fold, VectorScaling()).by_fold
    assert isinstance(fitted, FoldedVectorMap)
    wanted = fitted.predict_proba(rows.logits)[some]
    np.testing.assert_allclose(fitted.part(some).predict_proba(rows.logits[some]), wanted, 1e-12)
    of_scores = crossed(rows, fold, SplineCalibration()).by_fold
    assert isinstance(of_scores, FoldedScoreMap)
    result = of_scores.part(some).predict(scores[some])
    assert result.tolist() == of_scores.predict(scores)[some].tolist()


# Who wins -----------------------------------------------------------------------------------

CALIBRATORS: dict[str, ScoreMap | VectorMap | None] = {
    "none": None,
    "temperature": TemperatureScaling(),
    "vector": VectorScaling(),
    "isotonic": IsotonicCalibration(),
    "histogram": HistogramBinning(),
}


def contest(split: Split[LogitSet]) -> list[Contestant]:
    fold = deal_folds(split.calibration)
    results = []
    for key, calibrator in CALIBRATORS.items():
        by_fold = crossed(split.calibration, fold, calibrator)
        plain = audit(split, event=TopR(1), calibrator=calibrator)
        standings = (
            Standing.of(by_fold.test, split.calibration, TopR(1), by_fold.by_fold, Options()),
            Standing.of(plain.test, split.test, TopR(1), plain.of_test, Options()),
        )
        results.append(Contestant(key, *standings))
    return results


@pytest.fixture(scope="module")
def contestants() -> list[Contestant]:
    rng = np.random.default_rng(3)
    return contest(Split(draw_rows(rng, 300), draw_rows(rng, 400)))


@pytest.mark.parametrize("key", ["event_nll", "ks_error", "auroc", "calibration_slope", "nll"])
def test_the_winner_is_the_best_by_cross_fitting(contestants: list[Contestant], key: str) -> None:
    measure = measure_by_key(key)
    result = pick(contestants, measure)
    assert result is not None

    def far(standing: Standing) -> float:
        value = standing.compare(measure.key).after
        if value is None:
            return math.inf
        return {"auroc": -value, "calibration_slope": abs(value - 1)}.get(key, value)

    by_fold = {one.key: far(one.crossed) for one in contestants}
    on_test = {one.key: far(one.test) for one in contestants}
    assert by_fold[result.winner.key] == min(by_fold.values())
    assert on_test[result.on_test.key] == min(on_test.values())
    order = [one.key for one in ranked(contestants, measure, "test")]
    assert [on_test[one] for one in order] == sorted(on_test.values())


def test_labels_of_the_test_set_have_no_part_in_the_choice(rng: np.random.Generator) -> None:
    calibration, test = draw_rows(rng, 300), draw_rows(rng, 400)
    shuffled = LogitSet(test.logits, rng.permutation(test.labels))
    picks = [
        pick(contest(Split(calibration, each)), measure_by_key("event_nll"))
        for each in (test, shuffled)
    ]
    first, second = picks
    assert first is not None
    assert second is not None
    assert first.winner.key == second.winner.key
    assert first.on_test.key != second.on_test.key


def test_equals_keep_their_order_and_measures_without_direction_pick_nobody(
    contestants: list[Contestant],
) -> None:
    alike = [contestants[0], Contestant("again", contestants[0].crossed, contestants[0].test)]
    result = pick(alike, measure_by_key("event_nll"))
    assert result is not None
    assert (result.winner.key, result.on_test.key) == ("none", "none")
    assert pick(contestants, measure_by_key("mean_score")) is None
    assert (
        pick([one for one in contestants if one.key == "isotonic"], measure_by_key("nll")) is None
    )


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_a_penalty_is_the_lower_the_better(first: float, second: float) -> None:
    for measure in METRICS:
        low, high = (penalty(measure, value) for value in (first, second))
        if not can_rank(measure):
            assert low == high == math.inf
            continue
        match measure.better:
            case "lower":
                assert (low < high) == (first < second)
            case "higher":
                assert (low < high) == (first > second)
            case "nearer":
                assert measure.ideal is not None
                near = abs(first - measure.ideal), abs(second - measure.ideal)
                assert (low < high) == (near[0] < near[1])


@pytest.mark.parametrize(
    ("fold", "result"),
    [
        ([0, 1, 0], "0, 1"),
        ([0, 0, 0, 0], "0"),
        ([-1, 0, 1, 3], "-1, 0, 1, 3"),
        ([0, 2, 0, 2], "0, 2"),
        ([0.0, 1.0, 0.0, 1.0], "0.0, 1.0"),
        (["a", "b", "a", "b"], "a, b"),
    ],
)
def test_folds_that_would_leave_rows_out_are_refused(fold: list[int], result: str) -> None:
    rows = EventScores([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    with pytest.raises(CalibrationInputError, match=f"fold: {result}"):
        Split(rows, rows, fold=np.array(fold))
    assert Split(rows, rows, fold=np.array([0, 1, 0, 1])).fold is not None


def test_a_test_set_that_leaves_a_measure_undefined_makes_nobody_else_the_winner() -> None:
    slope = measure_by_key("calibration_slope")

    def one(key: str, crossed: float, test: float) -> Contestant:
        standings = (
            Standing((Comparison(slope, 1.0, value),), 0, 10, None) for value in (crossed, test)
        )
        return Contestant(key, *standings)

    best, other = one("best", 1.1, math.nan), one("other", 1.4, 1.0)
    assert pick([best, other], slope) is None
    undefined = one("undefined", math.inf, 1.0), one("other", 1.4, 1.2)
    result = pick(undefined, slope)
    assert result is not None
    assert (result.winner.key, result.on_test.key) == ("other", "undefined")
