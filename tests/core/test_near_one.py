"""Scores that are rounded to 1: what is left to 1 is the sum of the other classes."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from calibcore.auditing import audit, audit_fitted
from calibcore.calibrators import IsotonicCalibration, TemperatureScaling
from calibcore.data import EventScores, LogitSet
from calibcore.data_needed import LEARNED, LearningPlan, learning_curves
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import sides_of
from calibcore.events import Event, OneClass, TopR, WithinTopR
from calibcore.inference import infer
from calibcore.inference.draws import grouped
from calibcore.inference.findings import Plan
from calibcore.metrics import METRICS, PROBABILITY_FLOOR, event_nll, nll
from calibcore.probabilities import softmax
from calibcore.splits import Split, deal_folds
from calibcore.tally import tally
from tests.strategies import PRECISIONS, LogitCase

FLOOR = -math.log(PROBABILITY_FLOOR)
MEASURES = tuple(one for one in METRICS if one.key in {"event_nll", "nll"})
OF_TWO: list[Event] = [TopR(1), OneClass(0), OneClass(1)]


@st.composite
def far_logits(draw: st.DrawFn, most: int = 5) -> LogitCase:
    """Logits up to +-1e4 or just where 1 - score loses its digits, with classes ruled out."""
    n_rows, n_classes = draw(st.integers(1, 6)), draw(st.integers(2, most))
    dtype, width = draw(st.sampled_from(PRECISIONS))
    some = [st.floats(-size, size, width=width, allow_subnormal=False) for size in (1, 20, 10_000)]
    cell = st.one_of(*some, st.sampled_from([-math.inf, 0.0, 36.0, 36.75, 37.5]))
    row = st.lists(cell, min_size=n_classes, max_size=n_classes)
    finite = row.filter(lambda logits: max(logits) > -math.inf)
    table = draw(st.lists(finite, min_size=n_rows, max_size=n_rows))
    labels = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    return LogitCase(np.array(table, dtype=dtype), np.array(labels, dtype=np.int64))


def of(event: Event, table: NDArray[np.float64], labels: NDArray[Any]) -> float:
    result = event.outcomes(table, labels)
    return event_nll(result.scores, result.hits, result.rest)


@given(far_logits(most=2))
def test_of_two_classes_every_event_has_the_likelihood_of_both(case: LogitCase) -> None:
    table = softmax(case.logits)
    for event in OF_TWO:
        expected = pytest.approx(nll(table, case.labels), rel=1e-9, abs=1e-15)
        assert of(event, table, case.labels) == expected


def log_sum(logits: list[float]) -> float:
    most = max(logits, default=-math.inf)
    if most == -math.inf:
        return -math.inf
    return most + math.log(math.fsum(math.exp(one - most) for one in logits))


def slow(logits: list[float], label: int, event: list[int]) -> float:
    """Minus the logarithm of what came true, of the classes of the event or of the others."""
    came_true = label in event
    of_them = [z for k, z in enumerate(logits) if (k in event) == came_true]
    return min(log_sum(logits) - log_sum(of_them), FLOOR)


@given(far_logits())
def test_every_event_is_a_loop_over_logarithms(case: LogitCase) -> None:
    table, rows = softmax(case.logits), case.logits.astype(float).tolist()
    n_classes = table.shape[1]
    ranks = np.argsort(-table, axis=1, kind="stable").tolist()
    events: list[tuple[Event, list[list[int]]]] = [
        *((OneClass(k), [[k]] * len(rows)) for k in range(n_classes)),
        *((TopR(r), [[order[r - 1]] for order in ranks]) for r in (1, 2)),
        *((WithinTopR(r), [order[:r] for order in ranks]) for r in (1, 2)),
    ]
    for event, classes in events:
        each = [slow(*row) for row in zip(rows, case.labels.tolist(), classes, strict=True)]
        # A probability of 1e-308 has fewer digits than others.
        assert of(event, table, case.labels) == pytest.approx(np.mean(each), rel=1e-8, abs=1e-9)


def far_rows(rng: np.random.Generator, n_rows: int, *, right: bool = False) -> LogitSet:
    """Two classes whose logits differ by some dozens."""
    apart = rng.normal(scale=40, size=n_rows)
    chance = apart > 0 if right else rng.random(n_rows) < 1 / (1 + np.exp(-apart / 10))
    return LogitSet(np.column_stack([np.zeros(n_rows), apart]), chance.astype(np.int64))


@pytest.mark.parametrize("event", OF_TWO)
@pytest.mark.parametrize("right", [False, True])
def test_intervals_of_two_classes_are_those_of_both(
    event: Event, *, right: bool, rng: np.random.Generator
) -> None:
    rows = far_rows(rng, 300, right=right)
    evaluated = audit(Split(rows, rows), event=event, calibrator=TemperatureScaling())
    sides = sides_of(rows, evaluated.test, evaluated.fitted)
    event_found, result = infer(*sides, Plan(measures=MEASURES, n_resamples=100)).findings
    for one, other in (event_found.before, result.before), (event_found.after, result.after):
        assert one is not None
        assert other is not None
        assert one.value == pytest.approx(other.value, rel=1e-9)
        if right and event != TopR(1):
            continue  # hits and misses are there, so no label is turned
        assert [one.interval.low, one.interval.high] == pytest.approx(
            [other.interval.low, other.interval.high], rel=1e-9
        )


def test_every_road_gives_it(rng: np.random.Generator) -> None:
    rows = far_rows(rng, 400)
    part = rows.rows(np.arange(0, 400, 2))
    crossed = audit(Split(rows, rows, fold=deal_folds(rows)), event=TopR(1), calibrator=None)
    for evaluated in (
        audit(Split(rows, rows), event=OneClass(1), calibrator=None).test,
        crossed.test,
        audit_fitted(None, Split(part, part), event=TopR(1)).test,
    ):
        result, both = (evaluated.compare(key).after for key in ("event_nll", "nll"))
        assert result == pytest.approx(both, rel=1e-9)
    plan = LearningPlan((100, 400), n_draws=2)
    curve = learning_curves(Split(rows, rows), TopR(1), {"none": None}, plan).curve("none")
    result, both = (curve.points[0].values[0, LEARNED.index(key)] for key in ("event_nll", "nll"))
    assert result == pytest.approx(both, rel=1e-9)
    kept = TopR(1).outcomes(rows.probabilities, rows.labels).rows(np.arange(0, 400, 2))
    alone = TopR(1).outcomes(part.probabilities, part.labels)
    assert kept.rest is not None
    assert alone.rest is not None
    assert kept.rest.tolist() == alone.rest.tolist()


def test_what_is_certain_keeps_the_floor(rng: np.random.Generator) -> None:
    sure = TopR(1).outcomes([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [1, 1])
    assert event_nll(sure.scores, sure.hits, sure.rest) == pytest.approx(FLOOR / 2, rel=1e-14)
    rows = far_rows(rng, 400)
    before = TopR(1).outcomes(rows.probabilities, rows.labels)
    after = IsotonicCalibration().fit([0.2, 0.6], [0, 1]).predict(before.scores)
    assert event_nll(after, before.hits) == pytest.approx(FLOOR * (before.hits == 0).mean())


def test_scores_that_lose_no_digits_need_nothing_more() -> None:
    result = TopR(1).outcomes([[1 - 1e-6, 1e-6], [1 - 1e-9, 1e-9]], [1, 0])
    assert result.rest is None


def test_labels_drawn_anew_are_not_spared_what_the_rows_are() -> None:
    rows = tally([1.0, 0.5], [0, 1], [1e-20, 0.5])
    assert rows.spared == pytest.approx(FLOOR + math.log(1e-20))
    assert grouped(rows).spared == 0.0


@pytest.mark.parametrize("rest", [[0.5], [0.5, 1.5], [0.5, math.nan], [[0.5, 0.5]]])
def test_other_rests_are_refused(rest: list[Any]) -> None:
    with pytest.raises(CalibrationInputError, match="rest"):
        EventScores([0.5, 0.5], [0, 1], rest)
    with pytest.raises(CalibrationInputError, match="rest"):
        event_nll([0.5, 0.5], [0, 1], rest)
