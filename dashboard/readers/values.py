"""Logits or probabilities: judged for all sets of a file together, with the evidence."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import row_blocks
from calibcore.validation import SUM_TOLERANCE, Floats
from dashboard.readers.contents import SET_NAMES, Array, Options, Role, row_list
from dashboard.readers.refusal import FileError

RESCALED = 0.05
"""How far rows of probabilities may be from summing to 1 and still be mended."""

MAX_CLASSES = 200_000
_ROUNDING = 1e-6
_FEW = 20
_NEARLY_RULED_OUT, _SURE_ROWS = 0.01, 0.2
_TWICE = (
    "No probability is above e / (e + K - 1) for K classes, and the logarithms are those of a"
    " softmax of probabilities: it looks as if softmax was taken twice."
)


@dataclass(frozen=True)
class Reading:
    """What the values were taken for, and why."""

    kind: Literal["logits", "probabilities"]
    found: str
    repairs: tuple[str, ...] = ()
    divisor: float = 1.0
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Rows:
    """Smallest, largest and sum of each row of all sets."""

    lows: Floats
    highs: Floats
    sums: Floats
    inside: NDArray[np.bool_]
    off: Floats
    one_column: bool


def check_table(table: Array, role: Role, first_row: int) -> None:
    """Refuse a table that no reading could make sense of."""
    place = f"logits {SET_NAMES[role]}".strip()
    if table.dtype.kind not in "biuf":
        raise FileError(place, f"values of type {table.dtype}", "numbers")
    if table.ndim not in (1, 2):
        raise FileError(
            place, f"{table.ndim} dimensions", "2: one row a sample and one column a class"
        )
    if table.ndim == 2 and table.shape[1] > MAX_CLASSES:
        raise FileError(place, f"{table.shape[1]:,} classes", f"at most {MAX_CLASSES:,}")
    if table.size == 0:
        raise FileError(place, f"no rows (shape {table.shape})", "at least one row")
    with np.errstate(invalid="ignore"):
        columns = table[:, np.newaxis] if table.ndim == 1 else table
        lows = columns.min(axis=1).astype(np.float64, copy=False)
        highs = columns.max(axis=1).astype(np.float64, copy=False)
    for bad, what in (
        (np.isnan(lows), "NaN"),
        (np.isposinf(highs), "infinity (inf)"),
        (np.isneginf(highs), "minus infinity (-inf) for every class"),
    ):
        if bad.any():
            raise FileError(place, f"{what} {row_list(bad, first_row)}", "finite numbers")


def judge(tables: Mapping[Role, Array], options: Options) -> Reading:
    """Take the values of all sets for logits or for probabilities.

    Notes
    -----
    Probabilities are within 0 to 1 and sum to 1 in every row, to within 5 %; percent are the same
    times 100. What is within 0 to 1 and does neither, or does it in most rows only, is refused
    unless the user says what it is.
    """
    rows = _measure(tables)
    if options.values == "logits":
        return _told_logits(rows)
    if rows.one_column:
        return _judge_scores(rows, options)
    percent = replace(rows, off=np.abs(rows.sums / 100 - 1))
    for reading, divisor in ((rows, 1.0), (percent, 100.0)):
        if rows.lows.min() >= -_ROUNDING and reading.off.max() <= RESCALED:
            taken = _probabilities(reading, divisor, options)
            return replace(taken, doubts=_twice(rows, tables) if divisor == 1 else ())
    return _unfit(rows, percent, tables, options)


def _unfit(rows: _Rows, percent: _Rows, tables: Mapping[Role, Array], options: Options) -> Reading:
    """Take values that are no probabilities for logits, or refuse them."""
    n_rows = len(rows.sums)
    if options.values == "probabilities":
        bad = (rows.lows < -_ROUNDING) | (rows.off > RESCALED)
        raise FileError(
            "probabilities", _misfit(rows, bad), "rows within 0 to 1 that sum to 1 (or 0 to 100)"
        )
    if np.array_equal(rows.lows, rows.highs):
        return Reading("logits", "Logits; all classes are equal in every row, so either fits.")
    if rows.inside.all():
        raise FileError(
            "values", f"values within 0 to 1 whose {_misfit(rows, rows.off > RESCALED)}",
            "probabilities that sum to 1 (not one sigmoid a class, nor with a class missing), or"
            " your word that these are logits",
        )  # fmt: skip
    for reading in (rows, percent):
        fits = (rows.lows >= 0) & (reading.off <= SUM_TOLERANCE)
        if 2 * np.count_nonzero(fits) > n_rows:
            raise FileError(
                "values",
                f"probabilities in most rows, but not {row_list(~fits, 1)}",
                "probabilities in every row, or your word that these are logits",
            )
    outside = int(np.count_nonzero(~rows.inside))
    found = f"Logits, because {outside:,} of {n_rows:,} rows have values outside 0 to 1."
    if rows.highs.max() <= _ROUNDING and _exponentials_sum(tables):
        found += (
            " They are logarithms of probabilities: exponentials sum to 1 in every row, and softmax"
            " gives those probabilities."
        )
    return Reading("logits", found)


def _told_logits(rows: _Rows) -> Reading:
    found = "Logits, because you said so."
    fits = rows.inside if rows.one_column else rows.inside & (rows.off <= SUM_TOLERANCE)
    if not fits.all():
        return Reading("logits", found)
    what = "is within 0 to 1" if rows.one_column else "is within 0 to 1 and sums to 1"
    doubt = f"Every row {what}, so these may be probabilities; softmax would flatten them."
    return Reading("logits", found, doubts=(doubt,))


def _exponentials_sum(tables: Mapping[Role, Array]) -> bool:
    """Tell logarithms of probabilities."""
    for table in tables.values():
        for rows in row_blocks(*table.shape):
            sums = np.exp(table[rows], dtype=np.float64).sum(axis=1)
            if np.abs(sums - 1).max() > SUM_TOLERANCE:
                return False
    return True


def _twice(rows: _Rows, tables: Mapping[Role, Array]) -> tuple[str, ...]:
    """Doubt rows that a softmax of probabilities would give.

    If q is the softmax of p, then p is log q - mean(log q) + 1 / K, so all of that is at least 0;
    and where the model is often sure of what is not so, much of it is nearly 0.
    """
    n_classes = next(iter(tables.values())).shape[1]
    top = math.e / (math.e + n_classes - 1)
    if len(rows.lows) < _FEW or rows.highs.max() > top + _ROUNDING or rows.lows.min() <= 0:
        return ()
    lowest = np.concatenate(
        [
            logs.min(axis=1) - logs.mean(axis=1) + 1 / n_classes
            for table in tables.values()
            for block in row_blocks(*table.shape)
            for logs in [np.log(table[block], dtype=np.float64)]
        ]
    )
    if lowest.min() < -_ROUNDING or np.mean(lowest < _NEARLY_RULED_OUT) < _SURE_ROWS:
        return ()
    return (_TWICE,)


def as_probabilities(table: Array, reading: Reading) -> Floats:
    """Bring what was read as probabilities to rows that sum to 1."""
    p = np.asarray(table, dtype=np.float64)
    if reading.divisor != 1:
        p = p / reading.divisor
    if p.ndim == 1:
        p = np.clip(p, 0.0, 1.0)
        return np.column_stack([1 - p, p])
    if p.min() < 0:
        p = np.maximum(p, 0.0)
    sums = p.sum(axis=1, keepdims=True)
    return p / sums if np.abs(sums - 1).max() > SUM_TOLERANCE else p


def _measure(tables: Mapping[Role, Array]) -> _Rows:
    columns = [t[:, np.newaxis] if t.ndim == 1 else t for t in tables.values()]
    with np.errstate(over="ignore", invalid="ignore"):
        lows = _joined([c.min(axis=1) for c in columns])
        highs = _joined([c.max(axis=1) for c in columns])
        sums = _joined([c.sum(axis=1, dtype=np.float64) for c in columns])
    inside = (lows >= -_ROUNDING) & (highs <= 1 + SUM_TOLERANCE)
    return _Rows(lows, highs, sums, inside, np.abs(sums - 1), columns[0].shape[1] == 1)


def _joined(parts: list[NDArray[Any]]) -> Floats:
    joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return joined.astype(np.float64, copy=False)


def _misfit(rows: _Rows, bad: NDArray[np.bool_]) -> str:
    return f"rows sum to {rows.sums.min():.4g} to {rows.sums.max():.4g}, unfit {row_list(bad, 1)}"


def _probabilities(rows: _Rows, divisor: float, options: Options) -> Reading:
    off = float(rows.off.max())
    top = f"{divisor:.0f}"
    because = f"every row is within 0 to {top} and sums to {top} (to within {off * divisor:.1g})"
    if options.values == "probabilities":
        because = "you said so"
    repairs = []
    if divisor == 100:
        repairs.append(f"Percentages were divided by 100 in all {len(rows.sums):,} rows.")
    if off > SUM_TOLERANCE:
        count = int(np.count_nonzero(rows.off > SUM_TOLERANCE))
        repairs.append(
            f"Probabilities that sum to {1 - off:.3g} to {1 + off:.3g} were rescaled to sum to 1"
            f" ({count:,} rows off by more than {SUM_TOLERANCE:g})."
        )
    if rows.lows.min() < 0:
        repairs.append("Probabilities below 0 by less than 0.000001 were set to 0.")
    return Reading("probabilities", f"Probabilities, because {because}.", tuple(repairs), divisor)


def _judge_scores(rows: _Rows, options: Options) -> Reading:
    """Read a single column: the probability, or the logit, of class 1."""
    high = float(rows.highs.max())
    if rows.inside.all():
        said = "Probabilities of class 1, because every score is within 0 to 1."
        return Reading("probabilities", said, doubts=_of_prediction(rows))
    if options.values == "probabilities" and rows.lows.min() >= 0 and 2 <= high <= 100:
        repair = f"Percentages were divided by 100 in all {len(rows.sums):,} rows."
        return Reading("probabilities", "Probabilities of class 1, as you said.", (repair,), 100.0)
    if options.values == "auto" and rows.lows.min() < 0:
        outside = int(np.count_nonzero(~rows.inside))
        return Reading(
            "logits",
            f"Logits of class 1 against class 0, because {outside:,} of {len(rows.sums):,} scores"
            " are outside 0 to 1.",
        )
    raise FileError(
        "scores",
        f"one column from {rows.lows.min():.4g} to {high:.4g}, outside 0 to 1"
        f" {row_list(~rows.inside, 1)}",
        "probabilities of class 1, or your word on what they are",
    )


def _of_prediction(rows: _Rows) -> tuple[str, ...]:
    """Doubt scores that are never below one half: perhaps those of the predicted class."""
    if len(rows.lows) < _FEW or rows.lows.min() < 0.5:
        return ()
    n_rows = f"No score of {len(rows.lows):,} is below 0.5"
    return (f"{n_rows}, so they may be of the predicted class instead of class 1.",)
