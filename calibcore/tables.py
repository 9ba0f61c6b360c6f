"""Rows from whatever table a program holds them in: NumPy, pandas, polars, or torch on the CPU."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore import validation
from calibcore.counted import Countable
from calibcore.data import EventScores, LogitSet, Rows, SomeRows, with_design, with_groups
from calibcore.errors import CalibrationInputError
from calibcore.grouping import groupings_of, numbers_of
from calibcore.validation import Labels
from calibcore.weights import SampleWeight

_OFF_100 = 5
"""By so much a row of percentages may miss 100: each may be a whole number."""

_NUMBERED = re.compile(r"(.*?)(-?\d+)(?:\.0*)?", re.ASCII | re.DOTALL)
_TRUTHS = {"False": "0", "True": "1"}


def rows_of(
    data: object,
    outcomes: object | None = None,
    *,
    groups: object | None = None,
    sample_weight: SampleWeight = None,
    clusters: object | None = None,
) -> Rows:
    """Make a set of rows of what a notebook holds.

    ``data``: probabilities of one event, shape (n_samples,), or of all classes or their logits,
    shape (n_samples, n_classes). The columns of a data frame name the classes. ``outcomes``: of one
    event whether it happened: booleans, or 0 and 1. Of classes the true one: names of columns, or
    numbers from 0 where no column has a number for a name. None where ``data`` are rows already.
    ``groups``: group of each row, numbers or names, in one column or in several; for calibrators
    that know groups.
    ``sample_weight``, ``clusters``: as in `calibcore.data.with_design`.

    Raises `CalibrationInputError` for what is no such table, or does not fit; missing values;
    pandas objects whose indexes have the same labels in another order.

    Rows between 0 and 1, but for rounding, that each sum to 1 within 0.001 are probabilities; rows
    between 0 and 100 that each sum to 100 within 5 are percentages, and refused; all others are
    logits.

    Columns called 2, 0, 1 are classes 2, 0 and 1, whatever their places. So are columns called p2,
    p0, p1 where every outcome is one of these numbers.

    >>> rows_of([0.9, 0.4, 0.7], [True, False, True]).n_samples
    3
    >>> rows_of([[0.9, 0.1], [0.2, 0.8]], [0, 1]).values_kind
    'probabilities'
    """
    validation.refuse_reordered(
        data=data, outcomes=outcomes, groups=groups, sample_weight=sample_weight, clusters=clusters
    )
    if isinstance(data, Countable):
        for field, beside in {"sample_weight": sample_weight, "clusters": clusters}.items():
            if beside is not None:
                wanted = "none, as a summary keeps nothing of each row"
                raise CalibrationInputError(field, "some beside a summary", wanted)
        data = data.event_scores
    if isinstance(data, Rows):
        if outcomes is not None:
            raise CalibrationInputError(
                "outcomes", "outcomes beside rows that have theirs", "nothing beside them"
            )
        rows = data
    else:
        rows = _read(data, outcomes)
    return _with_columns(rows, groups, sample_weight, clusters)


def _with_columns(
    rows: SomeRows, groups: object | None, weights: SampleWeight, clusters: object
) -> SomeRows:
    """Tell of rows their groups, weights and clusters, of those that there are."""
    if groups is not None:
        rows = with_groups(rows, numbers_of(groupings_of(groups), groups))
    if weights is None and clusters is None:
        return rows
    return with_design(rows, sample_weight=weights, clusters=clusters)


def _read(data: object, outcomes: object | None) -> Rows:
    if outcomes is None:
        raise CalibrationInputError("outcomes", "none", "what came true of each row")
    # Copies, as a result is looked at again when the arrays may hold other rows.
    table = np.array(validation.array_of(data, "data"))
    truth = np.array(validation.array_of(outcomes, "outcomes"))
    if table.ndim not in {1, 2}:
        kind = f"a {type(data).__name__}" if table.ndim == 0 else f"an array of shape {table.shape}"
        wanted = "one score per row, or one row of all classes each"
        raise CalibrationInputError("data", "none" if data is None else kind, wanted)
    if not len(table):
        raise CalibrationInputError("data", "no rows", "at least one")
    if truth.ndim == 2 and truth.shape[1] == 1:
        truth = truth[:, 0]
    if table.ndim == 2 and table.shape[1] == 1:
        table = table[:, 0]
    if truth.ndim != 1 or len(truth) != len(table):
        actual = f"shape {truth.shape} beside data of shape {table.shape}"
        raise CalibrationInputError("outcomes", actual, "one outcome a row of data")
    if table.ndim == 1:
        return EventScores(validation.scores(table, "data"), _happened(truth))
    table, names = validation.real_array(table, "data"), class_names_of(data)
    labels = _labels(truth, names, table.shape[1])
    if are_probabilities(table):
        return LogitSet.from_probabilities(table, labels, names)
    _refuse_shares(table)
    refuse_percentages(table, "data")
    try:
        return LogitSet(table, labels, names)
    except CalibrationInputError as error:
        field = "data" if error.field == "logits" else error.field
        raise CalibrationInputError(field, error.actual, error.expected) from None


def _happened(truth: NDArray[Any]) -> NDArray[np.bool_]:
    array = validation.real_array(truth, "outcomes")
    other = ~np.isin(array, (0, 1))
    if other.any():
        row = int(other.argmax())
        actual = f"{array[row].item()!r} in row {row + 1}"
        raise CalibrationInputError(
            "outcomes", actual, "booleans, or 0 and 1: whether the event happened"
        )
    return array.astype(bool)


def class_names_of(data: Any) -> tuple[str, ...] | None:
    """Return the columns of a data frame; None of what names none."""
    columns = getattr(data, "columns", None)
    return None if columns is None else tuple(str(name) for name in columns)


def _labels(truth: NDArray[Any], names: Sequence[str] | None, n_classes: int) -> Labels:
    if truth.dtype.kind in "bfiu":
        named = _by_number(truth, names or ())
        if named is not None:
            return named
        try:
            return validation.labels(truth, n_rows=len(truth), n_classes=n_classes)
        except CalibrationInputError as error:
            raise CalibrationInputError("outcomes", error.actual, error.expected) from None
    validation.refuse_missing(truth, "outcomes")
    known = {name: number for number, name in enumerate(names or ())}
    unknown = next((str(value) for value in truth if str(value) not in known), None)
    if unknown is not None:
        wanted = f"one of {', '.join(known)}" if known else "class numbers from 0"
        raise CalibrationInputError("outcomes", repr(unknown), wanted)
    return np.array([known[str(value)] for value in truth], dtype=np.int64)


def _by_number(truth: NDArray[Any], names: Sequence[str]) -> Labels | None:
    """Match outcomes with the columns that are called by a number; None where places serve.

    Raises `CalibrationInputError` for an outcome that is the name of no column, where columns are
    called by a number alone.
    """
    ends = [_NUMBERED.fullmatch(_TRUTHS.get(name, name)) for name in names]
    numbers = [int(end[2]) for end in ends if end]
    words = {end[1] for end in ends if end}
    counted = numbers == list(range(len(names)))
    if counted or len(words) != 1 or not len(numbers) == len({*numbers}) == len(names):
        return None
    kinds, of_row = np.unique(truth, return_inverse=True)
    at = {number: place for place, number in enumerate(numbers)}
    unknown = [kind for kind in kinds.tolist() if kind not in at]
    if not unknown:
        return np.array([at[kind] for kind in kinds.tolist()], dtype=np.int64)[of_row]
    if words != {""}:
        return None
    wanted = f"one of the columns' names: {', '.join(map(str, numbers))}"
    raise CalibrationInputError("outcomes", f"{unknown[0]!r}", wanted)


def are_probabilities(table: NDArray[Any]) -> bool:
    """Return whether every row lies between 0 and 1 and sums to 1, but for rounding."""
    if table.dtype.kind not in "bfiu" or not len(table):
        return False
    # Written so that NaN is outside.
    off = validation.SUM_TOLERANCE
    if not (table.min() >= -validation.ROUNDING and table.max() <= 1 + off):
        return False
    return bool((np.abs(table.sum(axis=1, dtype=np.float64) - 1) <= off).all())


def are_percentages(table: NDArray[Any]) -> bool:
    """Return whether every row lies between 0 and 100 and sums to 100; logits never do.

    >>> are_percentages(np.array([[80.0, 20.0], [33.0, 66.0]]))
    True
    """
    if not len(table) or not (table.min() >= 0 and table.max() <= 100 + _OFF_100):
        return False
    return bool((np.abs(table.sum(axis=1, dtype=np.float64) - 100) <= _OFF_100).all())


def refuse_percentages(table: NDArray[Any], field: str) -> None:
    """Raise if values are percentages.

    They would be taken for logits, and almost every row for certain.
    """
    if are_percentages(table):
        wanted = "logits, or probabilities from 0 to 1 (divide percentages by 100)"
        raise CalibrationInputError(field, "percentages: every row sums to 100", wanted)


def _refuse_shares(table: NDArray[Any]) -> None:
    """Raise if values look like probabilities but for their sum."""
    if not (table.min() >= 0 and table.max() <= 1):
        return
    row = int(np.abs(table.sum(axis=1, dtype=np.float64) - 1).argmax())
    raise CalibrationInputError(
        "data",
        f"values between 0 and 1 whose row {row + 1} sums to {table[row].sum():.6g}",
        "probabilities that sum to 1, or logits (LogitSet takes any values for logits)",
    )
