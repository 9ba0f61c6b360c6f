"""The only checks on input: each returns the cleaned value or says what is wrong."""

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore.errors import CalibrationInputError
from calibcore.strips import row_maxima, row_strips, row_totals

Floats = NDArray[np.float64]
Logits = NDArray[np.float32] | NDArray[np.float64]
Labels = NDArray[np.int64]
Hits = NDArray[np.int8]

_Marks = NDArray[np.bool_] | np.bool_

SUM_TOLERANCE = 1e-3
"""How far a row of probabilities may be from summing to 1."""

ROUNDING = 1e-6
"""How far below 0 a probability of a row may be, as differences of float32 are."""

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]*)?", re.ASCII)

_BITS_OF_1 = np.float64(1).view(np.uint64)


def refuse_reordered(**columns: Any) -> None:
    """Raise if two columns or tables name the same rows in another order, as pandas indexes do.

    Those that name other rows go by place, as arrays do: so do a model's scores, numbered from 0,
    beside outcomes that keep the numbers of the table they were cut from.

    Raises `CalibrationInputError` for the later of the two.
    """
    known = ((field, index_of(values)) for field, values in columns.items())
    indexes = {field: index for field, index in known if index is not None}
    for (first, one), (field, other) in itertools.combinations(indexes.items(), 2):
        if len(one) != len(other) or one.equals(other):
            continue
        if one.isin(other).all() and other.isin(one).all():
            wanted = f"one order: {field}.loc[{first}.index], or reset_index(drop=True) of both"
            actual = f"the rows of {first} in another order, by their index"
            raise CalibrationInputError(field, actual, wanted)


def index_of(values: Any) -> Any:
    """Return the index of a pandas column or table; None of anything else."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "isin") else None  # pandas, without importing it


def array_of(values: Any, field: str) -> NDArray[Any]:
    """Take an array out of a tensor, a data frame or a column.

    Numbers that are kept as objects, as nullable columns of data frames hand them out, become
    numbers.

    Raises `CalibrationInputError` for rows of uneven length, and masked values.
    """
    _refuse_masked(values, field)
    if hasattr(values, "detach"):  # torch, without importing it
        values = values.detach().cpu()
        if str(getattr(values, "dtype", "")) == "torch.bfloat16":  # NumPy has none
            values = values.float()
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        return _unboxed(np.asarray(values))
    except (TypeError, ValueError) as error:
        raise CalibrationInputError(
            field, f"a {type(values).__name__} of uneven rows", "numbers in rows of equal length"
        ) from error


def real_array(values: ArrayLike, field: str) -> NDArray[Any]:
    """Check that input is a real numeric array, and return it.

    Tables of data frames may hold numbers as objects, which are taken if none is missing.
    """
    _refuse_masked(values, field)
    try:
        array = _unboxed(np.asarray(values))
    except ValueError as error:
        raise CalibrationInputError(
            field, "rows of unequal length", "a rectangular array"
        ) from error
    if array.dtype.kind not in "biuf":
        refuse_missing(array, field)
        raise CalibrationInputError(field, f"values of type {array.dtype}", "real numbers")
    return array


def _refuse_masked(values: Any, field: str) -> None:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise CalibrationInputError(field, "masked values", "a value in every cell")


def refuse_missing(array: NDArray[Any], field: str) -> None:
    """Raise if an array of objects lacks some: None, NaN, and what pandas writes for them."""
    if array.dtype.kind == "O" and array.ndim:
        missing = np.array([any(map(_is_missing, np.ravel(row))) for row in array], dtype=bool)
        _refuse_where(missing, field, "missing values", "a value in every cell")


def _unboxed(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers that are kept as objects as numbers, and anything else as it is."""
    if array.dtype.kind != "O":
        return array
    plain = np.asarray(array.tolist())
    return plain if plain.dtype.kind in "biuf" else array


def _is_missing(value: Any) -> bool:
    return value is None or str(value) in {"<NA>", "NaT", "nan"}


def _refuse_where(bad: _Marks, field: str, actual: str, wanted: str) -> None:
    """Raise if any row is marked, naming the first ones, counted from 1 as a spreadsheet does."""
    if not np.any(bad):
        return
    places = np.flatnonzero(bad)
    first = ", ".join(str(place + 1) for place in places[:3])
    rows = f"row {first}" if len(places) == 1 else f"{len(places):,} rows (first: {first})"
    raise CalibrationInputError(field, f"{actual} in {rows}", wanted)


def matrix(values: ArrayLike, field: str) -> NDArray[np.float32] | NDArray[np.float64]:
    """Check a table of one row a sample and one column a class; float32 stays float32."""
    array = real_array(values, field)
    if array.ndim != 2:
        raise CalibrationInputError(
            field, f"{array.ndim} dimensions", "2 (one row a sample, one column a class)"
        )
    if array.shape[0] < 1 or array.shape[1] < 2:
        raise CalibrationInputError(
            field,
            f"{array.shape[0]} rows and {array.shape[1]} columns",
            "at least 1 row and 2 classes",
        )
    if array.dtype in (np.float32, np.float16):
        return np.ascontiguousarray(array, dtype=np.float32)
    return np.ascontiguousarray(array, dtype=np.float64)


def ranked(values: ArrayLike, field: str) -> Logits:
    """Check a table whose rows are only ranked, such as `matrix` gives: any numbers but NaN."""
    array = matrix(values, field)
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isnan(array.sum()):  # also of infinities of both signs
            bad = np.isnan(array).any(axis=1)
            _refuse_where(bad, field, "NaN", "a number in every cell")
    return array


def numbers(values: ArrayLike, field: str) -> Floats:
    """Check one number a row, where NaN stands for none."""
    array = np.asarray(real_array(values, field), dtype=np.float64)
    if array.ndim != 1:
        raise CalibrationInputError(field, f"an array of shape {array.shape}", "one number a row")
    return array


def logits(values: ArrayLike) -> NDArray[np.float32] | NDArray[np.float64]:
    """Check logits: finite, or minus infinity for a class that is ruled out.

    C-contiguous; float16 becomes float32, everything else but float32 becomes float64; shape
    (n_samples, n_classes).
    """
    array = matrix(values, "logits")
    # A finite sum has only finite terms: one pass settles the usual case.
    with np.errstate(invalid="ignore", over="ignore"):
        if not np.isfinite(array.sum()):
            _refuse_logits(array)
    return array


def logits_and_maxima(values: ArrayLike) -> tuple[Logits, Logits]:
    """Check logits as `logits` does, in the pass that finds the largest of each row.

    The logits are float32 or float64; the largest ones, in the same precision, have the shape
    (n_samples,).
    """
    array = matrix(values, "logits")
    maxima = np.empty(len(array), dtype=array.dtype)
    for rows in row_strips(*array.shape):
        maxima[rows] = row_maxima(array[rows])[:, 0]
    # The largest is finite unless the row has NaN, infinity, or nothing finite.
    if not np.isfinite(maxima).all():
        _refuse_logits(array)
    return array, maxima


def _refuse_logits(array: Logits) -> None:
    """Raise if anything is wrong with logits."""
    _refuse_where(np.isnan(array).any(axis=1), "logits", "NaN", "a number in every cell")
    _refuse_where(np.isposinf(array).any(axis=1), "logits", "infinity", "finite numbers")
    _refuse_where(
        np.isneginf(array).all(axis=1),
        "logits",
        "minus infinity for every class",
        "at least one finite logit a row",
    )


def probabilities(values: ArrayLike) -> Floats:
    """Check class probabilities: in [0, 1], each row summing to 1 within ``SUM_TOLERANCE``.

    What rounding has lifted above 1 in such a row, as in means of float32, becomes 1; what it has
    left below 0, as in 1 - 0.9 - 0.1, by at most ``ROUNDING``, becomes 0.
    """
    array = np.asarray(matrix(values, "probabilities"), dtype=np.float64)
    sums, highest = np.empty(len(array)), np.uint64(0)
    for rows in row_strips(*array.shape):
        sums[rows] = row_totals(array[rows])[:, 0]
        highest = np.maximum(highest, array[rows].view(np.uint64).max())
    if are_probabilities(highest, sums):
        return array
    lowest = array.min(axis=1)
    _refuse_where(np.isnan(sums), "probabilities", "NaN", "a number in every cell")
    below = lowest < -ROUNDING
    _refuse_where(below, "probabilities", f"{lowest.min():.4g}", "nothing below 0")
    off = np.abs(sums - 1) > SUM_TOLERANCE
    if off.any():
        worst = sums[np.argmax(np.abs(sums - 1))]
        _refuse_where(off, "probabilities", f"a sum of {worst:.4g}", "rows that sum to 1")
    return np.clip(array, 0.0, 1.0) + 0.0  # -0.0 becomes 0.0


def are_probabilities(highest: np.uint64, sums: Floats) -> bool:
    """Return whether a table holds what `probabilities` returns without a change.

    ``highest``: the largest of the bits of its cells. Those of doubles from 0 to 1 sort like the
    numbers, and before those of all others. ``sums``: of its rows; shape (n_samples,).
    """
    return bool(highest <= _BITS_OF_1 and max(sums.max() - 1, 1 - sums.min()) <= SUM_TOLERANCE)


def labels(values: ArrayLike, *, n_rows: int, n_classes: int) -> Labels:
    """Check true classes: whole numbers from 0 to ``n_classes - 1``, one a row.

    A column of shape (n_rows, 1) is flattened.
    """
    array = real_array(values, "labels")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n_rows,):
        actual = f"{array.size:,} values" if array.ndim == 1 else f"an array of shape {array.shape}"
        raise CalibrationInputError("labels", actual, f"one label for each of {n_rows:,} rows")
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.floor(array))
        _refuse_where(~whole, "labels", "values that are not whole numbers", "class numbers")
    lowest, highest = array.min(), array.max()
    if lowest < 0 or highest >= n_classes:
        raise CalibrationInputError(
            "labels",
            f"values from {lowest:.15g} to {highest:.15g}",
            f"class numbers from 0 to {n_classes - 1}",
        )
    return np.ascontiguousarray(array, dtype=np.int64)


def labelled(
    values: ArrayLike, true: ArrayLike, sample_weight: Any = None
) -> tuple[Floats, Labels]:
    """Check class probabilities, and true classes that fit them: see `probabilities`, `labels`.

    ``sample_weight``: is not checked, but for the order of its rows.
    """
    refuse_reordered(probabilities=values, labels=true, sample_weight=sample_weight)
    table = probabilities(values)
    return table, labels(true, n_rows=len(table), n_classes=table.shape[1])


def class_names(values: Sequence[str] | None, *, n_classes: int) -> tuple[str, ...]:
    """Check class names: as many as classes, all different; numbers where none are given."""
    if values is None:
        return tuple(str(k) for k in range(n_classes))
    names = tuple(str(name) for name in values)
    if len(names) != n_classes:
        raise CalibrationInputError(
            "class_names", f"{len(names)} names", f"{n_classes}, one a class"
        )
    if len(set(names)) != n_classes:
        twice = next(name for name in names if names.count(name) > 1)
        raise CalibrationInputError("class_names", f"{twice!r} twice", "a name of its own a class")
    return names


def columns_of(table: object, field: str) -> tuple[str, ...] | None:
    """Return the columns of a data frame, None of what names none.

    Labels are places among the columns, so columns called by other numbers are refused.
    """
    columns = getattr(table, "columns", None)
    if columns is None or not hasattr(table, "to_numpy"):
        return None
    names = tuple(map(str, columns))
    if all(map(_NUMBER.fullmatch, names)):
        if any(float(name) != place for place, name in enumerate(names)):
            listed = ", ".join(names[:6])
            wanted = "columns 0, 1, 2, ... in this order; calibcore.tables.rows_of matches others"
            raise CalibrationInputError(field, f"columns called {listed}", wanted)
        return None
    return names


def scores(values: ArrayLike, field: str = "scores") -> Floats:
    """Check probabilities of one event: one dimension, not empty, in [0, 1]."""
    array = np.asarray(real_array(values, field), dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise CalibrationInputError(
            field, f"an array of shape {array.shape}", "one score a row, at least one"
        )
    # Written so that NaN fails too.
    if not (array.min() >= 0 and array.max() <= 1):
        _refuse_where(np.isnan(array), field, "NaN", "numbers from 0 to 1")
        outside = (array < 0) | (array > 1)
        _refuse_where(outside, field, f"{array[outside][0]:.4g}", "numbers from 0 to 1")
    return array


def rest(values: ArrayLike, *, n_rows: int) -> Floats:
    """Check the probabilities that are left to 1, one a score."""
    array = scores(values, "rest")
    if array.size != n_rows:
        actual = f"an array of shape {array.shape}"
        raise CalibrationInputError("rest", actual, f"one value for each of {n_rows:,} scores")
    return array


def hits(values: ArrayLike, *, n_rows: int) -> Hits:
    """Check whether the event happened: 0 or 1 a row."""
    array = real_array(values, "hits")
    if array.shape != (n_rows,):
        raise CalibrationInputError(
            "hits", f"an array of shape {array.shape}", f"one value for each of {n_rows:,} scores"
        )
    if array.dtype.kind != "b":
        _refuse_where((array != 0) & (array != 1), "hits", "values other than 0 and 1", "0 or 1")
    return np.ascontiguousarray(array, dtype=np.int8)


def scores_and_hits(
    score_values: ArrayLike, hit_values: ArrayLike, **others: Any
) -> tuple[Floats, Hits]:
    """Check the scores and hits of one event together; of other columns the order of the rows."""
    refuse_reordered(scores=score_values, hits=hit_values, **others)
    checked = scores(score_values)
    return checked, hits(hit_values, n_rows=checked.size)


def groups(values: ArrayLike, *, n_rows: int) -> Labels:
    """Check the group of each row: whole numbers, of any size."""
    array = real_array(values, "groups")
    if array.shape != (n_rows,) or array.dtype.kind not in "biu":
        actual = f"an array of type {array.dtype} and shape {array.shape}"
        raise CalibrationInputError("groups", actual, f"a whole number for each of {n_rows:,} rows")
    return array.astype(np.int64, copy=False)


def group_columns(values: ArrayLike, *, n_rows: int) -> Labels:
    """Check the group of each row in one column or in several: whole numbers, of any size.

    Shape (n_rows,) of one column, (n_rows, n_columns) of several.
    """
    array = real_array(values, "groups")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 2:
        return groups(array, n_rows=n_rows)
    if len(array) != n_rows or not array.shape[1] or array.dtype.kind not in "biu":
        actual = f"an array of type {array.dtype} and shape {array.shape}"
        wanted = f"{n_rows:,} rows of whole numbers, a column for each grouping"
        raise CalibrationInputError("groups", actual, wanted)
    return array.astype(np.int64, copy=False)


def whole_number(value: int, field: str, *, least: int, most: int | None = None) -> int:
    """Check a count such as the number of bins."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise CalibrationInputError(field, repr(value), "a whole number")
    if value < least or (most is not None and value > most):
        wanted = f"at least {least}" if most is None else f"from {least} to {most}"
        raise CalibrationInputError(field, str(value), wanted)
    return int(value)


def number(value: float, field: str, *, least: float, most: float) -> float:
    """Check a number in a range, both ends of it included."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise CalibrationInputError(field, repr(value), "a number")
    if not least <= value <= most:
        raise CalibrationInputError(field, f"{value:g}", f"a number from {least:g} to {most:g}")
    return float(value)


def choice(value: str, field: str, *, allowed: Sequence[str]) -> str:
    """Check an option that is one of a few words."""
    if value not in allowed:
        raise CalibrationInputError(field, repr(value), f"one of {', '.join(allowed)}")
    return value
