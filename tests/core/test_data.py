import dataclasses
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import ArrayLike

from calibcore.data import EventScores, LogitSet, Rows
from calibcore.errors import CalibrationInputError
from calibcore.splits import Split, split_rows
from tests import reference
from tests.strategies import EventCase, LogitCase, event_data, logit_sets


@given(logit_sets())
def test_a_logit_set_keeps_logits_and_labels(case: LogitCase) -> None:
    rows = LogitSet(case.logits, case.labels)
    assert rows.logits.dtype == case.logits.dtype
    assert np.array_equal(rows.logits, case.logits)
    assert rows.labels.tolist() == case.labels.tolist()
    assert (rows.n_samples, rows.n_classes) == case.logits.shape
    assert_allclose(rows.probabilities, reference.softmax(case.logits.tolist()), atol=1e-12)


@pytest.mark.parametrize("names", [["cat", "dog"], [0, 1], ["0", "1"], [0.0, 1.0]])
def test_columns_of_a_data_frame_name_the_classes(names: list[object]) -> None:
    frame = pd.DataFrame([[0.25, 0.75], [0.5, 0.5]], columns=names)
    expected = ("cat", "dog") if names[0] == "cat" else ("0", "1")
    assert LogitSet(frame, [0, 1]).class_names == expected
    assert LogitSet.from_probabilities(frame, [0, 1]).class_names == expected
    assert LogitSet(frame, [0, 1], ["a", "b"]).class_names == ("a", "b")


@pytest.mark.parametrize("names", [[1, 0], [1, 2], ["2", "0"], [-1, 1]])
def test_columns_called_by_other_numbers_are_refused(names: list[object]) -> None:
    frame = pd.DataFrame([[0.25, 0.75], [0.5, 0.5]], columns=names)
    makers: tuple[Callable[..., LogitSet], ...] = (LogitSet, LogitSet.from_probabilities)
    for make in makers:
        with pytest.raises(CalibrationInputError, match=rf"columns called {names[0]}, {names[1]}"):
            make(frame, [0, 1])
    assert LogitSet(frame.to_numpy(), [0, 1]).class_names == ("0", "1")


@pytest.mark.parametrize(
    "thing",
    [
        LogitSet([[0.0, 1.0]], [1]),
        EventScores([0.5], [1]),
        Split(LogitSet([[0.0, 1.0]], [1]), LogitSet([[0.0, 1.0]], [0])),
    ],
)
def test_data_is_frozen(thing: Rows | Split[LogitSet]) -> None:
    name = dataclasses.fields(thing)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(thing, name, None)


@given(logit_sets(min_rows=2), st.floats(0.05, 0.95), st.integers(0, 5))
def test_a_split_gives_every_row_to_one_side(case: LogitCase, share: float, seed: int) -> None:
    numbered = np.column_stack([case.logits, np.arange(len(case.labels))]).astype(np.float64)
    split = split_rows(LogitSet(numbered, case.labels), calibration_share=share, seed=seed)
    first, second = split.calibration.logits[:, -1], split.test.logits[:, -1]
    assert sorted([*first, *second]) == list(range(len(case.labels)))
    assert sorted(first) == list(first)
    assert sorted(second) == list(second)
    assert len(first) >= 1
    assert len(second) >= 1
    for half, numbers in ((split.calibration, first), (split.test, second)):
        assert isinstance(half, LogitSet)
        assert half.labels.tolist() == case.labels[numbers.astype(int)].tolist()


@pytest.mark.parametrize("share", [0.001, 0.5, 0.999])
@pytest.mark.parametrize("labels", [[0, 0], [0, 1], [1, 0, 1]])
def test_each_side_gets_a_row(labels: list[int], share: float) -> None:
    split = split_rows(LogitSet([[0.0, 1.0]] * len(labels), labels), calibration_share=share)
    assert split.calibration.n_samples >= 1
    assert split.test.n_samples >= 1
    assert split.calibration.n_samples + split.test.n_samples == len(labels)


@given(logit_sets(min_rows=2, max_rows=40), st.integers(0, 5))
def test_a_split_is_stratified(case: LogitCase, seed: int) -> None:
    split = split_rows(LogitSet(case.logits, case.labels), seed=seed)
    calibration = split.calibration
    assert isinstance(calibration, LogitSet)
    for k in range(case.logits.shape[1]):
        wanted = np.sum(case.labels == k) / 2
        assert abs(np.sum(calibration.labels == k) - wanted) <= 1
    assert abs(calibration.n_samples - len(case.labels) / 2) < 1


@given(event_data(min_size=2))
def test_scores_of_an_event_split_by_hit(case: EventCase) -> None:
    split = split_rows(EventScores(case.scores, case.hits))
    calibration, test = split.calibration, split.test
    assert isinstance(calibration, EventScores)
    assert isinstance(test, EventScores)
    both = [*calibration.scores.tolist(), *test.scores.tolist()]
    assert sorted(both) == sorted(case.scores.tolist())
    assert calibration.hits.sum() + test.hits.sum() == case.hits.sum()
    assert abs(float(calibration.hits.sum()) - float(case.hits.sum()) / 2) <= 1


def test_the_same_rows_twice_are_said_to_be() -> None:
    rows = LogitSet([[0.0, 1.0]] * 4, [0, 1, 0, 1])
    assert not split_rows(rows).same_data
    assert not Split(rows, rows).same_data
    assert Split(rows, rows, same_data=True).same_data


def test_the_seed_decides_the_split(rng: np.random.Generator) -> None:
    rows = LogitSet(rng.normal(size=(200, 3)), rng.integers(0, 3, 200))

    def calibration_logits(seed: int) -> list[list[float]]:
        half = split_rows(rows, seed=seed).calibration
        assert isinstance(half, LogitSet)
        values: list[list[float]] = half.logits.tolist()
        return values

    assert calibration_logits(3) == calibration_logits(3)
    assert calibration_logits(3) != calibration_logits(4)
    # 0 is the seed when none is named
    unnamed = split_rows(rows).calibration
    assert isinstance(unnamed, LogitSet)
    assert unnamed.logits.tolist() == calibration_logits(0)


@pytest.mark.parametrize(
    "rows", [LogitSet([[0.0, 1.0]] * 3, [0, 1, 0]), EventScores([0.5] * 3, [0, 1, 0])]
)
@pytest.mark.parametrize(
    ("chosen", "result"),
    [
        ([3], "row numbers from 3 to 3"),
        ([-1, 0], "row numbers from -1 to 0"),
        ([0.5], "type float64"),
        ([], "shape \\(0,\\)"),
        ([True, False], "a mask of shape \\(2,\\)"),
        (1, "shape \\(\\)"),
    ],
)
def test_rows_that_are_not_there_are_refused(rows: Rows, chosen: ArrayLike, result: str) -> None:
    with pytest.raises(CalibrationInputError, match=f"chosen: .*{result}"):
        rows.rows(chosen)
    assert rows.rows([2, 0]).n_samples == 2
    assert rows.rows([True, False, True]).n_samples == 2


def test_two_sets_of_different_kinds_are_refused() -> None:
    logits, scores = LogitSet([[0.0, 1.0]], [0]), EventScores([0.5], [1])
    with pytest.raises(CalibrationInputError, match=r"test: an event's scores\. Expected logits"):
        Split(logits, scores)
    with pytest.raises(CalibrationInputError, match=r"test: logits .* Expected an event's"):
        Split(scores, logits)


def test_a_seed_below_0_is_refused() -> None:
    with pytest.raises(CalibrationInputError, match="seed: -1"):
        split_rows(EventScores([0.5] * 4, [0, 1, 0, 1]), seed=-1)


def test_what_is_kept_for_all_cannot_be_changed() -> None:
    rows = LogitSet([[0.0, 1.0]], [0])
    with pytest.raises(ValueError, match="read-only"):
        rows.probabilities[0, 0] = 0.5


@given(st.integers(0, 1_000), st.integers(2, 6))
def test_probabilities_that_were_given_are_kept_to_the_last_digit(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, 101, (30, k - 1)), axis=1)
    hundredths = np.diff(cuts, axis=1, prepend=0, append=100)
    table, labels = hundredths / 100, rng.integers(0, k, 30)
    result = LogitSet.from_probabilities(table, labels)
    assert np.array_equal(result.probabilities, table)
    assert np.array_equal(result.rows([4, 2]).probabilities, table[[4, 2]])
    assert_allclose(reference.softmax(result.logits.tolist()), table, rtol=1e-13, atol=1e-300)
    scaled = LogitSet.from_probabilities(table * 1.0005, labels)
    assert_allclose(scaled.probabilities, table, rtol=1e-14)
    assert not scaled.probabilities.flags.writeable
