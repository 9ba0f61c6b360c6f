"""Rows from what notebooks hold, and what is said of what is no such table."""

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from calibcore import (
    CalibrationInputError,
    EventScores,
    LogitSet,
    audit,
    cumulative_curves,
    metrics,
)
from calibcore.calibrators import CATALOGUE
from calibcore.calibrators.base import ScoreMap
from calibcore.calibrators.method import Method
from calibcore.inference import group_gaps, omnibus_test
from calibcore.prevalence import estimated_prevalence
from calibcore.reliability import binned_reliability
from calibcore.subgroups import screen_subgroups, subgroup_shares
from calibcore.tables import rows_of
from calibcore.weights import RowWeights, frequency_weights

TABLE = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
NAMES = ["cat", "dog", "owl"]


class Tensor:
    """As torch hands out its numbers, without torch."""

    def __init__(self, values: Any) -> None:
        self._values, self.ready = np.asarray(values), False

    def detach(self) -> "Tensor":
        return self

    def cpu(self) -> "Tensor":
        self.ready = True
        return self

    def __array__(self, *_: Any, **__: Any) -> Any:
        assert self.ready
        return self._values


@pytest.mark.parametrize(
    "scores",
    [
        [0.9, 0.4, 0.7],
        np.array([0.9, 0.4, 0.7]),
        np.array([[0.9], [0.4], [0.7]]),
        pd.Series([0.9, 0.4, 0.7], index=[7, 8, 9]),
        pd.DataFrame({"score": [0.9, 0.4, 0.7]}),
        Tensor([0.9, 0.4, 0.7]),
    ],
    ids=["list", "array", "column", "series", "frame", "tensor"],
)
@pytest.mark.parametrize("truth", [[True, False, True], [1, 0, 1], pd.Series([1.0, 0.0, 1.0])])
def test_scores_of_one_event(scores: object, truth: object) -> None:
    rows = rows_of(scores, truth)
    assert isinstance(rows, EventScores)
    assert_array_equal(rows.scores, [0.9, 0.4, 0.7])
    assert_array_equal(rows.hits, [1, 0, 1])


@pytest.mark.parametrize(
    "scores",
    [
        TABLE,
        pd.DataFrame(TABLE).astype("Float64"),
        pd.DataFrame(TABLE).astype("double[pyarrow]"),
        TABLE.astype(object),
        TABLE.tolist(),
        np.ma.masked_array(TABLE, mask=np.zeros((3, 3), dtype=bool)),
    ],
    ids=["array", "nullable", "pyarrow", "objects", "lists", "nothing masked"],
)
@pytest.mark.parametrize(
    "truth",
    [[0, 1, 0], np.array([0, 1, 0], object), pd.Series([0, 1, 0]), Tensor([[0], [1], [0]])],
)
def test_probabilities_are_told_from_logits_in_whatever_they_are_kept(
    scores: object, truth: object
) -> None:
    rows, again = rows_of(scores, truth), rows_of(np.log(TABLE), truth)
    assert isinstance(rows, LogitSet)
    assert isinstance(again, LogitSet)
    assert (rows.values_kind, again.values_kind) == ("probabilities", "logits")
    assert_array_equal(rows.probabilities, TABLE)
    assert_allclose(again.probabilities, TABLE)
    assert_array_equal(rows.labels, [0, 1, 0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_rounding_leaves_outside_0_to_1_makes_no_logits_of_probabilities(dtype: type) -> None:
    ninth, tenth = dtype(0.9), dtype(0.1)
    table: Any = np.array(
        [[0.6, 0.3, 0.1]] * 70 + [[ninth, tenth, 1 - ninth - tenth]] * 30, dtype=dtype
    )
    table[-1] = [0.9, 0.1, -1e-8]
    table[0] = [np.nextafter(dtype(1), dtype(2)), 0, 0]
    assert table.min() < 0
    assert table.max() > 1
    rows = rows_of(table, [0] * 100)
    assert isinstance(rows, LogitSet)
    assert rows.values_kind == "probabilities"
    assert_allclose(rows.probabilities, np.clip(table, 0, 1), atol=1e-7)
    table[1] = [0.6, 0.4 + 2e-6, -2e-6]  # no rounding
    with pytest.raises(CalibrationInputError, match="probabilities: -2e-06"):
        LogitSet.from_probabilities(table, [0] * 100)
    assert rows_of(np.array([[0.6, 0.5, -0.1]]), [0]).values_kind == "logits"  # type: ignore[union-attr]


def test_marks_and_half_precision_that_numpy_lacks_are_read() -> None:
    rows = rows_of(np.eye(3, dtype=bool), [0, 1, 1])
    assert isinstance(rows, LogitSet)
    assert_array_equal(rows.probabilities, np.eye(3))

    class Half(Tensor):
        dtype = "torch.bfloat16"

        def float(self) -> Tensor:
            return Tensor(self._values).cpu()

        def __array__(self, *_: Any, **__: Any) -> Any:
            raise TypeError("Got unsupported ScalarType BFloat16")

    rows = rows_of(Half([[0.75, 0.25], [0.5, 0.5]]), [0, 1])
    assert isinstance(rows, LogitSet)
    assert_array_equal(rows.probabilities, [[0.75, 0.25], [0.5, 0.5]])


def test_columns_name_the_classes_and_outcomes_may_be_names() -> None:
    rows = rows_of(pd.DataFrame(TABLE, columns=NAMES), ["dog", "dog", "owl"])
    assert isinstance(rows, LogitSet)
    assert rows.class_names == ("cat", "dog", "owl")
    assert_array_equal(rows.labels, [1, 1, 2])


@pytest.mark.parametrize(
    ("columns", "outcomes", "labels"),
    [
        ([2, 0, 1], [2, 0, 1, 1], [0, 1, 2, 2]),
        (["2", "0", "1"], [2, 0, 1, 1], [0, 1, 2, 2]),
        ([2.0, 0.0, 1.0], [2.0, 0, 1, 1], [0, 1, 2, 2]),
        ([1, 2, 3], [1, 2, 2, 1], [0, 1, 1, 0]),
        (["p2", "p0", "p1"], [2, 0, 1, 1], [0, 1, 2, 2]),
        (["class 1", "class 2", "class 3"], [1, 2, 2, 1], [0, 1, 1, 0]),
        (["class 1", "class 2", "class 3"], [0, 1, 2, 1], [0, 1, 2, 1]),
        ([-1, 0, 1], [1, -1, 0, 0], [2, 0, 1, 1]),
        ([10, 20, 30], [30, 10, 20, 20], [2, 0, 1, 1]),
        ([0, 1, 2], [2, 0, 1, 1], [2, 0, 1, 1]),
        (NAMES, [2, 0, 1, 1], [2, 0, 1, 1]),
    ],
)
def test_columns_called_by_numbers_are_those_classes(
    columns: list[object], outcomes: list[float], labels: list[int]
) -> None:
    scores = pd.DataFrame(np.vstack([TABLE, TABLE[:1]]), columns=columns)
    rows = rows_of(scores, outcomes)
    assert isinstance(rows, LogitSet)
    assert_array_equal(rows.labels, labels)


def test_a_frame_of_two_classes_turned_round_knows_its_outcomes() -> None:
    scores = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], columns=[True, False])
    rows = rows_of(scores, [True, False])
    assert isinstance(rows, LogitSet)
    assert_array_equal(rows.labels, [0, 1])


def test_accuracy_does_not_depend_on_the_order_of_numbered_columns() -> None:
    draws = np.random.default_rng(5)
    table = draws.dirichlet([0.5] * 3, size=400)
    truth = np.array([draws.choice(3, p=row) for row in table])
    frame = pd.DataFrame(table)
    right = float((table.argmax(axis=1) == truth).mean())
    turned = frame[[2, 0, 1]]
    from_one = frame[truth < 2].rename(columns={0: 1, 1: 2, 2: 3})
    assert audit(turned, truth).test.compare("accuracy").before == right
    some = truth < 2
    right = float((table[some].argmax(axis=1) == truth[some]).mean())
    assert audit(from_one, truth[some] + 1).test.compare("accuracy").before == right


def test_rows_pass_and_groups_are_numbered_by_name() -> None:
    rows = EventScores([0.9, 0.4, 0.7], [1, 0, 1])
    assert rows_of(rows) is rows
    grouped = rows_of(rows, groups=["north", "east", "north"])
    assert grouped.groups is not None
    assert grouped.groups.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("data", "outcomes", "text"),
    [
        ([0.9, 0.4], None, "outcomes: none. Expected what came true of each row."),
        ([0.9, 0.4], [1, 0, 1], "outcomes: shape (3,) beside data of shape (2,)."),
        ([0.9, 1.4], [1, 0], "data: 1.4 in row 2"),
        ([0.9, 0.4], [1, 2], "outcomes: 2 in row 2. Expected booleans, or 0 and 1"),
        ([0.9, 0.4], [1, None], "outcomes: "),
        ([0.9, 0.4], [1, np.nan], "outcomes: nan in row 2."),
        ([0.9, np.nan], [1, 0], "data: NaN"),
        ([0.9, 0.4], ["yes", "no"], "outcomes: "),
        (TABLE, [0, 1, 3], "outcomes: values from 0 to 3. Expected class numbers from 0 to 2."),
        (TABLE, ["dog", "cat", "owl"], "outcomes: 'dog'. Expected class numbers from 0."),
        (
            pd.DataFrame(TABLE, columns=NAMES),
            ["dog", "cow", "owl"],
            "outcomes: 'cow'. Expected one of cat, dog, owl.",
        ),
        (
            pd.DataFrame(TABLE, columns=[1, 2, 3]),
            [0, 1, 2],
            "outcomes: 0. Expected one of the columns' names: 1, 2, 3.",
        ),
        (
            pd.DataFrame(TABLE, columns=[2, 0, 1]),
            [0, 1, np.nan],
            "outcomes: nan. Expected one of the columns' names: 2, 0, 1.",
        ),
        (TABLE * 0.5, [0, 1, 2], "data: values between 0 and 1 whose row 1 sums to 0.5."),
        ([[0.9, 0.1], [0.4]], [1, 0], "data: a list of uneven rows."),
        (np.zeros((2, 2, 2)), [1, 0], "data: an array of shape (2, 2, 2). Expected one score"),
        (None, [1, 0], "data: none. Expected one score per row, or one row of all classes each."),
        (0.5, [1, 0], "data: a float."),
        ({"a": 1}, [1, 0], "data: a dict."),
        (np.zeros((0, 3)), [], "data: no rows. Expected at least one."),
        (np.where(TABLE > 0.65, np.nan, TABLE), [0, 1, 2], "data: NaN in row 1."),
        (TABLE + np.diag([0.004, 0, 0]), [0, 1, 2], "row 1 sums to 1.004."),
        (EventScores([0.9], [1]), [1], "outcomes: outcomes beside rows that have theirs."),
        ([], [], "data: no rows."),
        (TABLE * 100, [0, 1, 2], "data: percentages: every row sums to 100. Expected logits, or"),
        (np.ma.masked_array([0.9, 0.4], [False, True]), [1, 0], "data: masked values."),
        (np.ma.masked_array(TABLE, TABLE > 0.65), [0, 1, 2], "data: masked values."),
        ([0.9, 0.4], np.ma.masked_array([1, 0], [True, False]), "outcomes: masked values."),
        (TABLE, np.ma.masked_array([0, 1, 2], [True, False, False]), "outcomes: masked values."),
        (
            pd.DataFrame(TABLE).astype("Float64").mask(TABLE > 0.65),
            [0, 1, 2],
            "data: missing values in row 1. Expected a value in every cell.",
        ),
        (
            pd.DataFrame(TABLE, columns=NAMES),
            pd.array(["dog", None, "owl"], dtype="string"),
            "outcomes: missing values in row 2.",
        ),
    ],
)
def test_what_is_no_such_table_is_named(data: object, outcomes: object, text: str) -> None:
    with pytest.raises(CalibrationInputError) as error:
        rows_of(data, outcomes)
    assert text in str(error.value)


def test_pandas_rows_in_another_order_are_refused_and_others_go_by_place() -> None:
    scores = pd.Series([0.9, 0.2, 0.6], index=[7, 8, 9])
    happened = pd.Series([1, 0, 1], index=[7, 8, 9])
    swapped = happened.loc[[9, 7, 8]]
    assert rows_of(scores, happened).n_samples == 3
    wanted = (
        r"outcomes: the rows of data in another order.*outcomes\.loc\[data\.index\].*reset_index"
    )
    with pytest.raises(CalibrationInputError, match=wanted):
        rows_of(scores, swapped)
    for field in ("groups", "sample_weight", "clusters"):
        with pytest.raises(CalibrationInputError, match=f"{field}: the rows of data"):
            rows_of(scores, happened, **{field: swapped})
    with pytest.raises(CalibrationInputError, match="hits: the rows of scores in another order"):
        EventScores(scores, swapped)
    table = pd.DataFrame({"0": 1 - scores, "1": scores})
    for make in (LogitSet, LogitSet.from_probabilities):
        with pytest.raises(CalibrationInputError, match="labels: the rows of"):
            make(table, swapped)
    named = pd.Series([1, 0, 1], index=["a", 2, None])  # labels that have no order
    with pytest.raises(CalibrationInputError, match="in another order"):
        rows_of(named.iloc[::-1] / 2, named)
    # A model's scores are numbered from 0, outcomes as in the table they were cut from.
    by_place = rows_of(scores.reset_index(drop=True), swapped)
    assert isinstance(by_place, EventScores)
    assert by_place.hits.tolist() == [1, 1, 0]
    assert rows_of(scores.to_numpy(), swapped).n_samples == 3


_N = 120
_SCORES, _HITS = (pd.Series(one) for one in (np.linspace(0.02, 0.98, _N), np.arange(_N) % 3 % 2))
_TABLE = pd.DataFrame({"no": 1 - _SCORES, "yes": _SCORES})
_ORDER = np.random.default_rng(0).permutation(_N)
_WEIGHTS = pd.Series(np.arange(_N) % 4 + 1)


def _told(name: str) -> list[str]:
    measure = getattr(metrics, name)
    return list(inspect.signature(measure).parameters) if inspect.isfunction(measure) else []


@pytest.mark.parametrize(
    "name", [one for one in metrics.__all__ if {"sample_weight", "hits", "labels"} & {*_told(one)}]
)
def test_no_measure_joins_columns_by_place_where_the_index_says_otherwise(name: str) -> None:
    measure, told = getattr(metrics, name), _told(name)
    data, truth = (_SCORES if "scores" in told else _TABLE), {"hits", "labels"} & {*told}
    more = {"r": 2} if "r" in told else {}
    tables = [data, data] if "after" in told else [data]
    tried: list[tuple[list[Any], dict[str, Any]]] = [([_HITS.iloc[_ORDER]], {})] if truth else []
    if "sample_weight" in told:
        tried += [
            ([_HITS] * len(truth), {"sample_weight": _reordered(weights)})
            for weights in (_WEIGHTS, frequency_weights(_WEIGHTS))
        ]
    for columns, weights in tried:
        with pytest.raises(CalibrationInputError, match="in another order"):
            measure(*tables, *columns, **more, **weights)


def _reordered(weights: Any) -> Any:
    if isinstance(weights, RowWeights):
        return frequency_weights(_WEIGHTS.iloc[_ORDER])
    return weights.iloc[_ORDER]


@pytest.mark.parametrize("method", CATALOGUE, ids=lambda one: one.key)
def test_no_calibrator_joins_by_place_where_the_index_says_otherwise(method: Method) -> None:
    calibrator: Any = method.make()
    data = _SCORES if isinstance(calibrator, ScoreMap) else _TABLE
    more = {"groups": np.arange(_N) % 2} if method.knows_groups else {}
    with pytest.raises(CalibrationInputError, match="in another order"):
        calibrator.fit(data, _HITS, sample_weight=_WEIGHTS.iloc[_ORDER], **more)
    with pytest.raises(CalibrationInputError, match="in another order"):
        calibrator.fit(data, _HITS.iloc[_ORDER], **more)


def test_no_other_function_joins_by_place_where_the_index_says_otherwise() -> None:
    weights, clusters = _WEIGHTS.iloc[_ORDER], pd.Series(np.arange(_N) // 4).iloc[_ORDER]
    for call in (
        lambda **told: binned_reliability(_SCORES, _HITS, **told),
        lambda **told: cumulative_curves(_SCORES, _HITS, **told),
        lambda **told: omnibus_test(_SCORES, _HITS, **told),
        lambda **told: group_gaps(_SCORES, _HITS, [np.arange(_N) % 2], **told),
        lambda **told: screen_subgroups(_SCORES, _HITS, np.arange(_N) % 2, n_subgroups=2, **told),
        lambda **told: subgroup_shares(_HITS, pd.Series(np.arange(_N) % 2), n_subgroups=2, **told),
    ):
        for told in ({"sample_weight": weights}, {"clusters": clusters}):
            with pytest.raises(CalibrationInputError, match="in another order"):
                call(**told)
    with pytest.raises(CalibrationInputError, match=r"groupings\[0\]: .*in another order"):
        group_gaps(_SCORES, _HITS, [clusters])
    with pytest.raises(CalibrationInputError, match="in another order"):
        estimated_prevalence(_SCORES, 0.3, sample_weight=weights)
    # Columns of other rows go by place, as arrays do.
    other = pd.Series(_WEIGHTS.to_numpy(), index=np.arange(_N) + 1000)
    assert metrics.mean_gap(_SCORES, _HITS, sample_weight=other) == metrics.mean_gap(
        _SCORES, _HITS, sample_weight=_WEIGHTS
    )
