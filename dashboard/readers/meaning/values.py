"""Logits or probabilities: judged for all sets of a file together, with the evidence."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from calibcore.blocks import row_blocks, row_totals
from calibcore.validation import SUM_TOLERANCE, Floats
from dashboard.readers.contents import SET_NAMES, Array, Options, RawSet, Role
from dashboard.readers.meaning.logarithms import of_logarithms
from dashboard.readers.meaning.measured import (
    ROUNDING,
    Marked,
    Measured,
    Test,
    measure,
    together,
)
from dashboard.readers.meaning.one_score import Reading, judge_scores
from dashboard.readers.meaning.partly import refuse_rows_of_both
from dashboard.readers.refusal import FileError

RESCALED = 0.05
"""How far rows of probabilities may be from summing to 1 and still be mended."""

_OF_A_SUM = 1e-12
"""How far from 1 a row of probabilities may sum because of rounding, as in `LogitSet`."""
_NEARLY = 0.5
"""How far they may be for values without a sign to be faulty probabilities and no logits."""

MAX_CLASSES = 200_000
_LIKE = 0.02
_FEW = 20
_TELLING = 5
"""Below so many rows, scores within 0 to 1 may be logits by chance."""

_NEARLY_RULED_OUT, _SURE_ROWS = 0.01, 0.2
_TWICE = (
    "No probability is above e / (e + K - 1) for K classes, and the logarithms are those of a"
    " softmax of probabilities: it looks as if softmax was taken twice."
)


def judge(sets: Mapping[Role, RawSet], options: Options) -> Reading:
    """Take the values of all sets for logits or for probabilities.

    Notes
    -----
    Probabilities are within 0 to 1 and sum to 1 in every row, to within 5 %; percent are the same
    times 100. What is within 0 to 1 and does neither, or does it in most rows only, is refused
    unless the user says what it is. So are two sets of which each would be read as something else.
    """
    apart = {role: measure({role: raw}) for role, raw in sets.items()}
    rows = together([*apart.values()])
    if options.values == "logits":
        return _told_logits(rows, apart)
    if options.values == "probabilities":
        return _of_all(rows, options)
    alone = {role: _of_one(part, options) for role, part in apart.items()} if len(apart) > 1 else {}
    _refuse_unlike(alone)
    reading = _of_all(rows, options)
    for role, found in alone.items():
        if isinstance(found, FileError) and len(apart[role]) >= _FEW:
            raise FileError.at(SET_NAMES[role], found)
    return of_logarithms(reading, rows)


def _of_all(rows: Measured, options: Options) -> Reading:
    if rows.one_column:
        return judge_scores(rows, options)
    for divisor in (1.0, 100.0):
        if rows.low >= -ROUNDING and rows.off(divisor) <= RESCALED:
            taken = _probabilities(rows, divisor, options)
            return replace(taken, doubts=_twice(rows) if divisor == 1 else ())
    return _unfit(rows, options)


def _of_one(rows: Measured, options: Options) -> Reading | FileError | None:
    """Give how one set alone would be read, or refused; None where its rows cannot tell."""
    if len(rows) < _TELLING if rows.one_column else rows.one_value:
        return None
    try:
        return _of_all(rows, options)
    except FileError as error:
        return error


def _refuse_unlike(alone: Mapping[Role, Reading | FileError | None]) -> None:
    """Refuse logits in one set and probabilities, or percentages, in the other."""
    called = {
        role: "percentages" if found.divisor == 100 else found.kind
        for role, found in alone.items()
        if isinstance(found, Reading)
    }
    if len(set(called.values())) > 1:
        raise FileError(
            "values", ", but ".join(f"{is_} in the {SET_NAMES[r]}" for r, is_ in called.items()),
            "the same in both sets, or your word that these are logits",
        )  # fmt: skip


def _off(sums: Floats, divisor: float = 1.0) -> Floats:
    return np.abs(sums / divisor - 1)


def _no_probabilities(divisor: float) -> Test:
    return lambda lows, _, sums: (lows < 0) | ~(_off(sums, divisor) <= SUM_TOLERANCE)


def _unfit(rows: Measured, options: Options) -> Reading:
    """Take values that are no probabilities for logits, or refuse them."""
    if options.values == "probabilities":
        bad = rows.where(lambda lows, _, sums: (lows < -ROUNDING) | (_off(sums) > RESCALED))
        raise FileError(
            "probabilities", _misfit(rows, bad), "rows within 0 to 1 that sum to 1 (or 0 to 100)"
        )
    if rows.one_value:
        return Reading("logits", "Logits; all classes are equal in every row, so either fits.")
    if not rows.n_outside:
        bad = rows.where(lambda _, __, sums: _off(sums) > RESCALED)
        wanted = (
            "probabilities that sum to 1 (not one sigmoid a class, nor with a class missing), or"
            " your word that these are logits"
        )
        if all(map(_may_be_models, rows.sets.values())):
            wanted = (
                "probabilities that sum to 1; or one score alone, chosen under Columns of the"
                " classes, if each is a model's; or your word that these are logits"
            )
        raise FileError("values", f"values within 0 to 1 whose {_misfit(rows, bad)}", wanted)
    natural = rows.high <= ROUNDING and rows.sum_to_one(np.exp)
    if not natural:
        _refuse_turned(rows)
    _refuse_shares(rows)
    refuse_rows_of_both(rows, options)
    found = f"Logits, because {rows.n_outside:,} of {len(rows):,} rows have values outside 0 to 1."
    if natural:
        found += (
            " They are logarithms of probabilities: exponentials sum to 1 in every row, and softmax"
            " gives those probabilities."
        )
    return Reading("logits", found, doubts=_opposite(rows), natural=natural)


def _may_be_models(raw: RawSet) -> bool:
    """Tell named columns beside labels of two kinds: each may be the score of another model."""
    labels, several = raw.labels, len(raw.headings or ()) > 1
    if not several or labels is None or labels.ndim != 1:
        return False
    return bool(((labels == labels.min()) | (labels == labels.max())).all())


def _refuse_shares(rows: Measured) -> None:
    """Refuse values that look like probabilities with faults, or like shares of another whole."""
    # To mark rows takes as long as to measure them, so what is plain is seen without.
    for divisor in (1.0, 100.0) if 2 * rows.n_below < len(rows) else ():
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


def _told_logits(rows: Measured, apart: Mapping[Role, Measured]) -> Reading:
    found = "Logits, because you said so."
    like = [
        role
        for role, part in apart.items()
        if not part.n_outside and (part.one_column or part.off() <= SUM_TOLERANCE)
    ]
    if not like:
        return Reading("logits", found)
    what = "is within 0 to 1" if rows.one_column else "is within 0 to 1 and sums to 1"
    where = "" if len(like) == len(apart) else f" of the {SET_NAMES[like[0]]}"
    doubt = f"Every row{where} {what}, so these may be probabilities; softmax would flatten them."
    return Reading("logits", found, doubts=(doubt,))


def _refuse_turned(rows: Measured) -> None:
    """Refuse what probabilities were turned into, where softmax would not give them back."""
    for turned, what in _turns(rows):
        if rows.sum_to_one(turned):
            raise FileError(
                "values", what,
                "natural logarithms, probabilities, or your word that these are logits",
            )  # fmt: skip


def _turns(rows: Measured) -> tuple[tuple[Callable[[Array], Array], str], ...]:
    """Give what may turn the values back into probabilities, and what they would be."""
    if rows.high <= ROUNDING:
        logs = "logarithms of probabilities to the base"
        return (lambda x: 10**x, f"{logs} 10"), (np.exp2, f"{logs} 2")
    if rows.low >= -ROUNDING:
        signs = "logarithms of probabilities with their signs turned (losses)"
        return (lambda x: np.exp(-x), signs), (lambda x: x / (1 + x), "odds of each class")
    if rows.tables[0].shape[1] > 2:
        said = "log-odds of each class (log p / (1 - p), whose sigmoids sum to 1 in every row)"
        return ((_sigmoid, said),)
    return ()


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-values)))


def _opposite(rows: Measured) -> tuple[str, ...]:
    """Doubt two columns of which one is the other with its sign turned."""
    if rows.tables[0].shape[1] != 2 or max(map(abs, rows.sums)) > ROUNDING or len(rows) < _FEW:
        return ()
    said = (
        "The two columns are the same but for their sign in every row: if they are the log-odds of"
        " each class, and no logits, softmax makes them too sure."
    )
    return (said,)


def _twice(rows: Measured) -> tuple[str, ...]:
    """Doubt rows that a softmax of probabilities would give.

    If q is the softmax of p, then p is log q - mean(log q) + 1 / K, so all of that is at least 0;
    and where the model is often sure of what is not so, much of it is nearly 0.
    """
    n_classes = rows.tables[0].shape[1]
    top = math.e / (math.e + n_classes - 1)
    if len(rows) < _FEW or rows.high > top + ROUNDING or rows.low <= 0:
        return ()
    n_sure = 0
    for table in rows.tables:
        for part in row_blocks(*table.shape):
            logs = np.log(table[part], dtype=np.float64)
            lowest = logs.min(axis=1) - logs.mean(axis=1) + 1 / n_classes
            if lowest.min() < -ROUNDING:
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
        _scale(found[rows])
    return found


def _scale(block: Floats) -> None:
    """Do in place, where `LogitSet` would make a further table, what it does with rounded rows."""
    near = np.abs(row_totals(block) - 1) <= SUM_TOLERANCE
    np.minimum(block, 1.0, out=block, where=near)
    totals = row_totals(block)
    np.divide(block, totals, out=block, where=near & (np.abs(totals - 1) > _OF_A_SUM))


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


def _misfit(rows: Measured, bad: Marked) -> str:
    return f"rows sum to {rows.sums[0]:.4g} to {rows.sums[1]:.4g}, unfit {bad}"


def _probabilities(rows: Measured, divisor: float, options: Options) -> Reading:
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
