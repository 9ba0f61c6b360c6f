"""Several models on the same rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore import CalibrationInputError, EventScores, LogitSet, OneClass, Split, TopR, audit
from calibcore.calibrators import TemperatureScaling
from calibcore.data import Rows
from calibcore.evaluation import SetResult
from calibcore.events import Event
from calibcore.metrics import corp, event_brier
from calibcore.models import check_same_rows, plane_of


def draw_set(seed: int, labels: np.ndarray | None = None, *, sharper: float = 1.0) -> LogitSet:
    rng = np.random.default_rng(seed)
    if labels is None:
        labels = rng.integers(3, size=400)
    logits = 2 * np.eye(3)[labels] + rng.gumbel(size=(labels.size, 3))
    return LogitSet(sharper * logits, labels, ("cat", "dog", "owl"))


def test_the_same_labels_pass() -> None:
    first = draw_set(0)
    check_same_rows(first, draw_set(1, first.labels))
    check_same_rows(EventScores([0.1, 0.2], [0, 1]), EventScores([0.3, 0.2], [1, 1]))


def test_the_first_row_that_differs_is_named() -> None:
    first = draw_set(0)
    labels = first.labels.copy()
    labels[[16, 300]] = (labels[[16, 300]] + 1) % 3
    names = first.class_names[labels[16]], first.class_names[first.labels[16]]
    message = f"labels: {names[0]} in row 17. Expected {names[1]} as in the first model."
    with pytest.raises(CalibrationInputError, match=message):
        check_same_rows(first, draw_set(1, labels))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (draw_set(1).rows(np.arange(399)), "rows: 399. Expected the 400 of"),
        (LogitSet(np.zeros((400, 2)), np.zeros(400, int)), "classes: 2. Expected the 3 of"),
        (EventScores(np.zeros(400), np.zeros(400)), "one score a row. Expected class prob"),
    ],
)
def test_other_rows_are_refused(other: Rows, message: str) -> None:
    with pytest.raises(CalibrationInputError, match=message):
        check_same_rows(draw_set(0), other)
    scores = EventScores(np.zeros(400), np.zeros(400))
    with pytest.raises(CalibrationInputError, match=r"class probabilities\. Expected one score"):
        check_same_rows(scores, draw_set(0))


def evaluated(event: Event) -> list[SetResult]:
    first = draw_set(0)
    sets = [first, draw_set(1, first.labels, sharper=3.0), draw_set(2, first.labels, sharper=0.4)]
    return [
        audit(Split(rows, rows), event=event, calibrator=TemperatureScaling()).test for rows in sets
    ]


@pytest.mark.parametrize("event", [TopR(1), OneClass(2)])
def test_lines_of_equal_brier_score_hold_for_every_model(event: Event) -> None:
    results = evaluated(event)
    plane = plane_of(results)
    for row, one in enumerate(results):
        for column, side in enumerate((one.before, one.after)):
            pair = side.event.scores, side.event.hits
            assert plane.brier[row, column] == pytest.approx(event_brier(*pair), abs=1e-12)
            assert plane.miscalibration[row, column] == pytest.approx(corp(*pair).miscalibration)
    own = [corp(one.before.event.scores, one.before.event.hits) for one in results]
    assert plane.discrimination[0, 0] == pytest.approx(own[0].discrimination)
    assert plane.uncertainty == pytest.approx(own[0].uncertainty)
    assert plane.shared == (event == OneClass(2))
    if plane.shared:
        # The same rows are hits, so nothing is moved.
        assert_allclose(plane.discrimination[:, 0], [one.discrimination for one in own])
    else:
        assert abs(plane.discrimination[1, 0] - own[1].discrimination) > 1e-4


def test_the_same_classes_in_another_order_are_refused() -> None:
    logits = [[1.0, 0.0], [0.0, 1.0]]
    first = LogitSet(logits, [0, 1], ["cat", "dog"])
    with pytest.raises(CalibrationInputError, match=r"classes: dog in place 1\. Expected cat"):
        check_same_rows(first, LogitSet(logits, [0, 1], ["dog", "cat"]))
    check_same_rows(first, LogitSet(logits, [0, 1]))
    check_same_rows(first, LogitSet(logits, [0, 1], ["Cat", "Dog"]))
