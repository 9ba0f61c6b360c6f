"""Logits or probabilities: judged for all sets of a file together, with the evidence."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibcore.blocks import NARROW, row_blocks
from calibcore.validation import SUM_TOLERANCE, Floats
from dashboard.readers.contents import (
    SET_NAMES,
    Array,
    Options,
    RawSet,
    Role,
    rows_of_file,
    rows_of_sets,
)
from dashboard.readers.refusal import FileError

RESCALED = 0.05
"""How far rows of probabilities may be from summing to 1 and still be mended."""

_NEARLY = 0.5
"""How far they may be for values without a sign to be faulty probabilities and no logits."""

MAX_CLASSES = 200_000
_ROUNDING = 1e-6
_LIKE = 0.02
_FEW = 20
_NEARLY_RULED_OUT, _SURE_ROWS = 0.01, 0.2
_TWICE = (
    "No probability is above e / (e + K - 1) for K classes, and the logarithms are those of a"
    " softmax of probabilities: it looks as if softmax was taken twice."
)


Marks = NDArray[np.bool_]
_Test = Callable[[Array, Array, Floats], Marks]
"""Marks rows by their smallest value, their largest and their sum."""


@dataclass(frozen=True)
class Reading:
    """What the values were taken for, and why."""

    kind: Literal["logits", "probabilities"]
    found: str
    repairs: tuple[str, ...] = ()
    divisor: float = 1.0
    rescaled: bool = False
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Rows:
    """All rows of all sets: extremes of their values and sums, from which marks are made anew.

    What is kept a row would outweigh a table of few classes.
    """

    sets: Mapping[Role, RawSet]
    low: float
    high: float
    sums: tuple[float, float]
    n_outside: int
    one_value: bool

    @property
    def tables(self) -> tuple[Array, ...]:
        """The values of each set."""
        return tuple(np.asarray(raw.table) for raw in self.sets.values())

    @property
    def one_column(self) -> bool:
        """Tell a single score a row."""
        return self.tables[0].ndim == 1 or self.tables[0].shape[1] == 1

    def __len__(self) -> int:
        """Count the rows."""
        return sum(map(len, self.tables))

    def off(self, divisor: float = 1.0) -> float:
        """Give how far the sum of a row is from 1 at most."""
        return max(abs(one / divisor - 1) for one in self.sums)

    def where(self, test: _Test) -> "_Marked":
        """Mark rows."""
        return _Marked(
            self.sets,
            {
                role: np.concatenate([test(*row) for row in _by_rows(np.asarray(raw.table))])
                for role, raw in self.sets.items()
            },
        )


@dataclass(frozen=True)
class _Marked:
    sets: Mapping[Role, RawSet]
    marks: Mapping[Role, Marks]

    @property
    def count(self) -> int:
        return sum(int(np.count_nonzero(bad)) for bad in self.marks.values())

    def __str__(self) -> str:
        """Say which rows are marked."""
        return rows_of_sets(self.marks, self.sets)


def _by_rows(table: Array) -> Iterator[tuple[Array, Array, Floats]]:
    """Give the smallest value, the largest and the sum of each row, some rows at a time."""
    columns = table[:, np.newaxis] if table.ndim == 1 else table
    for rows in row_blocks(*columns.shape):
        block = columns[rows]
        axis = 1
        if block.shape[1] <= NARROW:
            block, axis = np.ascontiguousarray(block.T), 0
        with np.errstate(over="ignore", invalid="ignore"):
            yield block.min(axis), block.max(axis), block.sum(axis, dtype=np.float64)


def check_shape(table: Array, role: Role) -> None:
    """Refuse an array that is no table."""
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


def check_finite(raw: RawSet, role: Role) -> None:
    """Refuse values that no reading could make sense of."""
    place, table = f"logits {SET_NAMES[role]}".strip(), np.asarray(raw.table)
    with np.errstate(invalid="ignore"):
        if np.isfinite(table.min()) and np.isfinite(table.max()):
            return
    extremes = list(_by_rows(table))
    for bad, what in (
        ([np.isnan(low) for low, _, _ in extremes], "NaN"),
        ([np.isposinf(high) for _, high, _ in extremes], "infinity (inf)"),
        (
            [np.isneginf(high) for _, high, _ in extremes],
            "minus infinity (-inf) for every class",
        ),
    ):
        marks = np.concatenate(bad)
        if marks.any():
            raise FileError(place, f"{what} {rows_of_file(marks, raw)}", "finite numbers")


def judge(sets: Mapping[Role, RawSet], options: Options) -> Reading:
    """Take the values of all sets for logits or for probabilities.

    Notes
    -----
    Probabilities are within 0 to 1 and sum to 1 in every row, to within 5 %; percent are the same
    times 100. What is within 0 to 1 and does neither, or does it in most rows only, is refused
    unless the user says what it is.
    """
    rows = _measure(sets)
    if options.values == "logits":
        return _told_logits(rows)
    if rows.one_column:
        return _judge_scores(rows, options)
    for divisor in (1.0, 100.0):
        if rows.low >= -_ROUNDING and rows.off(divisor) <= RESCALED:
            taken = _probabilities(rows, divisor, options)
            return replace(taken, doubts=_twice(rows) if divisor == 1 else ())
    return _unfit(rows, options)


def _off(sums: Floats, divisor: float = 1.0) -> Floats:
    return np.abs(sums / divisor - 1)


def _inside(lows: Array, highs: Array, _: Floats) -> Marks:
    return (lows >= -_ROUNDING) & (highs <= 1 + SUM_TOLERANCE)


def _outside(lows: Array, highs: Array, sums: Floats) -> Marks:
    return ~_inside(lows, highs, sums)


def _no_probabilities(divisor: float) -> _Test:
    return lambda lows, _, sums: (lows < 0) | ~(_off(sums, divisor) <= SUM_TOLERANCE)


def _unfit(rows: _Rows, options: Options) -> Reading:
    """Take values that are no probabilities for logits, or refuse them."""
    if options.values == "probabilities":
        bad = rows.where(lambda lows, _, sums: (lows < -_ROUNDING) | (_off(sums) > RESCALED))
        raise FileError(
            "probabilities", _misfit(rows, bad), "rows within 0 to 1 that sum to 1 (or 0 to 100)"
        )
    if rows.one_value:
        return Reading("logits", "Logits; all classes are equal in every row, so either fits.")
    if not rows.n_outside:
        bad = rows.where(lambda _, __, sums: _off(sums) > RESCALED)
        raise FileError(
            "values", f"values within 0 to 1 whose {_misfit(rows, bad)}",
            "probabilities that sum to 1 (not one sigmoid a class, nor with a class missing), or"
            " your word that these are logits",
        )  # fmt: skip
    _refuse_logarithms(rows)
    _refuse_shares(rows)
    found = f"Logits, because {rows.n_outside:,} of {len(rows):,} rows have values outside 0 to 1."
    if rows.high <= _ROUNDING and _powers_sum(rows, math.e):
        found += (
            " They are logarithms of probabilities: exponentials sum to 1 in every row, and softmax"
            " gives those probabilities."
        )
    return Reading("logits", found)


def _refuse_shares(rows: _Rows) -> None:
    """Refuse values that look like probabilities with faults, or like shares of another whole."""
    for divisor in (1.0, 100.0):
        misfits = rows.where(_no_probabilities(divisor))
        if 2 * misfits.count < len(rows):
            raise FileError(
                "values",
                f"probabilities in most rows, but not {misfits}",
                "probabilities in every row, or your word that these are logits",
            )
    for divisor in (1.0, 100.0):
        if rows.low >= 0 and rows.off(divisor) <= _NEARLY:
            misfit = _misfit(rows, rows.where(_no_probabilities(divisor)))
            raise FileError(
                "values", f"no value below 0, and {misfit}",
                f"probabilities that sum to {divisor:.0f}, or your word that these are logits",
            )  # fmt: skip
    if rows.low >= 0 and rows.sums[1] - rows.sums[0] <= _LIKE * rows.sums[1]:
        raise FileError(
            "values", f"no value below 0, and rows that sum to {rows.sums[0]:.6g} to"
            f" {rows.sums[1]:.6g} each",
            "probabilities that sum to 1 or 100, or your word that these are logits",
        )  # fmt: skip


def _told_logits(rows: _Rows) -> Reading:
    found = "Logits, because you said so."
    if rows.n_outside or not (rows.one_column or rows.off() <= SUM_TOLERANCE):
        return Reading("logits", found)
    what = "is within 0 to 1" if rows.one_column else "is within 0 to 1 and sums to 1"
    doubt = f"Every row {what}, so these may be probabilities; softmax would flatten them."
    return Reading("logits", found, doubts=(doubt,))


def _refuse_logarithms(rows: _Rows) -> None:
    """Refuse logarithms of probabilities that softmax would not give back."""
    bases = {10.0: "to the base 10", 2.0: "to the base 2"} if rows.high <= _ROUNDING else {}
    if rows.low >= -_ROUNDING:
        bases = {1 / math.e: "with their signs turned (losses)"}
    for base, what in bases.items():
        if _powers_sum(rows, base):
            raise FileError(
                "values", f"logarithms of probabilities {what}",
                "natural logarithms, probabilities, or your word that these are logits",
            )  # fmt: skip


def _powers_sum(rows: _Rows, base: float) -> bool:
    """Tell logarithms of probabilities."""
    factor = math.log(base)
    for table in rows.tables:
        for part in row_blocks(*table.shape):
            with np.errstate(over="ignore", invalid="ignore"):
                sums = np.exp(factor * table[part], dtype=np.float64).sum(axis=1)
            if not np.abs(sums - 1).max() <= SUM_TOLERANCE:
                return False
    return True


def _twice(rows: _Rows) -> tuple[str, ...]:
    """Doubt rows that a softmax of probabilities would give.

    If q is the softmax of p, then p is log q - mean(log q) + 1 / K, so all of that is at least 0;
    and where the model is often sure of what is not so, much of it is nearly 0.
    """
    n_classes = rows.tables[0].shape[1]
    top = math.e / (math.e + n_classes - 1)
    if len(rows) < _FEW or rows.high > top + _ROUNDING or rows.low <= 0:
        return ()
    n_sure = 0
    for table in rows.tables:
        for part in row_blocks(*table.shape):
            logs = np.log(table[part], dtype=np.float64)
            lowest = logs.min(axis=1) - logs.mean(axis=1) + 1 / n_classes
            if lowest.min() < -_ROUNDING:
                return ()
            n_sure += int(np.count_nonzero(lowest < _NEARLY_RULED_OUT))
    return (_TWICE,) if n_sure >= _SURE_ROWS * len(rows) else ()


def as_probabilities(table: Array, reading: Reading) -> Floats:
    """Bring what was read as probabilities to sums of 1, or give the table where it is so."""
    as_wanted = table.ndim == 2 and table.dtype == np.float64 and table.flags.c_contiguous
    if as_wanted and reading.divisor == 1 and not reading.rescaled and table.min() >= 0:
        return table
    found = np.empty((len(table), 2 if table.ndim == 1 else table.shape[1]))
    for rows in row_blocks(*found.shape):
        found[rows] = _as_probabilities(table[rows], reading)
    return found


def _as_probabilities(table: Array, reading: Reading) -> Floats:
    """Bring rows to sums of 1."""
    p = np.asarray(table, dtype=np.float64)
    if reading.divisor != 1:
        p = p / reading.divisor
    if p.ndim == 1:
        p = np.clip(p, 0.0, 1.0)
        return np.column_stack([1 - p, p])
    p = np.maximum(p, 0.0)
    return p / p.sum(axis=1, keepdims=True) if reading.rescaled else p


def _measure(sets: Mapping[Role, RawSet]) -> _Rows:
    low, high, least, most = math.inf, -math.inf, math.inf, -math.inf
    n_outside, one_value = 0, True
    for raw in sets.values():
        for lows, highs, sums in _by_rows(np.asarray(raw.table)):
            low, high = min(low, float(lows.min())), max(high, float(highs.max()))
            least, most = min(least, float(sums.min())), max(most, float(sums.max()))
            n_outside += int(np.count_nonzero(_outside(lows, highs, sums)))
            one_value = one_value and np.array_equal(lows, highs)
    return _Rows(sets, low, high, (least, most), n_outside, one_value)


def _misfit(rows: _Rows, bad: _Marked) -> str:
    return f"rows sum to {rows.sums[0]:.4g} to {rows.sums[1]:.4g}, unfit {bad}"


def _probabilities(rows: _Rows, divisor: float, options: Options) -> Reading:
    off = rows.off(divisor)
    top = f"{divisor:.0f}"
    because = f"every row is within 0 to {top} and sums to {top}"
    if off > 1e-9:
        near = np.format_float_positional(off * divisor, precision=1, fractional=False, trim="-")
        because += f" (to within {near})"
    if options.values == "probabilities":
        because = "you said so"
    repairs = []
    if divisor == 100:
        repairs.append(f"Percentages were divided by 100 in all {len(rows):,} rows.")
    if off > SUM_TOLERANCE:
        count = rows.where(lambda _, __, sums: _off(sums, divisor) > SUM_TOLERANCE).count
        repairs.append(
            f"Probabilities that sum to {1 - off:.3g} to {1 + off:.3g} were rescaled to sum to 1"
            f" ({count:,} rows off by more than {SUM_TOLERANCE:g})."
        )
    if rows.low < 0:
        repairs.append("Probabilities below 0 by less than 0.000001 were set to 0.")
    found = f"Probabilities, because {because}."
    return Reading("probabilities", found, tuple(repairs), divisor, off > SUM_TOLERANCE)


def _judge_scores(rows: _Rows, options: Options) -> Reading:
    """Read a single column: the probability, or the logit, of class 1."""
    if not rows.n_outside:
        said = "Probabilities of class 1, because every score is within 0 to 1."
        return Reading("probabilities", said, doubts=_of_prediction(rows))
    if options.values == "probabilities" and rows.low >= 0 and 2 <= rows.high <= 100:
        repair = f"Percentages were divided by 100 in all {len(rows):,} rows."
        return Reading("probabilities", "Probabilities of class 1, as you said.", (repair,), 100.0)
    if options.values == "auto" and rows.low < 0 and rows.high <= 0 and len(rows) >= _FEW:
        raise FileError(
            "scores", f"one column from {rows.low:.4g} to {rows.high:.4g}, never above 0",
            "probabilities (not their logarithms) of class 1, or your word that these are logits",
        )  # fmt: skip
    if options.values == "auto" and rows.low < 0:
        return Reading(
            "logits",
            f"Logits of class 1 against class 0, because {rows.n_outside:,} of {len(rows):,} scores"
            " are outside 0 to 1.",
        )
    raise FileError(
        "scores",
        f"one column from {rows.low:.4g} to {rows.high:.4g}, outside 0 to 1 {rows.where(_outside)}",
        "probabilities of class 1, or your word on what they are",
    )


def _of_prediction(rows: _Rows) -> tuple[str, ...]:
    """Doubt scores that are never below one half: perhaps those of the predicted class."""
    if len(rows) < _FEW or rows.low < 0.5:
        return ()
    n_rows = f"No score of {len(rows):,} is below 0.5"
    return (f"{n_rows}, so they may be of the predicted class instead of class 1.",)
