"""Values of which a part looks like probabilities, though others are outside 0 to 1."""

import math

import numpy as np

from calibcore.validation import SUM_TOLERANCE
from dashboard.readers.contents import Array, Options
from dashboard.readers.meaning.measured import Marks, Measured, outside
from dashboard.readers.refusal import FileError

_FEW = 20
_LEAST = 5
"""Below so many rows, nothing is said: what is within 0 to 1 may be so by chance."""

_NEARLY_ALL, _MANY = 0.9, 0.6
"""Shares of scores within 0 to 1, which logits have for a model that says the same of all rows."""

_SOME, _FEWEST = 0.05, 3
"""Share and number of rows of probabilities that are no chance among rows of logits."""


def scores_within(rows: Measured) -> tuple[str, ...]:
    """Refuse a score that is outside 0 to 1 in few rows, and doubt it in some.

    Real log-odds are within 0 to 1 in 9 of 10 rows only where all chances are nearly the same.
    """
    n_rows = len(rows)
    n_within = n_rows - rows.n_outside
    if n_rows < _LEAST or n_within < _MANY * n_rows:
        return ()
    odd = _odd(rows)
    if n_rows >= _FEW and (n_within >= _NEARLY_ALL * n_rows or (len(odd) > 1 and _alike(odd))):
        raise FileError(
            "scores",
            f"probabilities in {n_within:,} of {n_rows:,} rows, but values outside 0 to 1, such as"
            f" {odd[0]:.4g}, {rows.where(outside)}",
            "probabilities of class 1 in every row, or your word that these are logits",
        )
    said = (
        f"{n_within:,} of {n_rows:,} scores are within 0 to 1, and others, such as {odd[0]:.4g},"
        " are not: if these are probabilities, mend or remove the other rows."
    )
    return (said,)


def _odd(rows: Measured) -> Array:
    """Give the scores outside 0 to 1."""
    flat = [table.reshape(len(table)) for table in rows.tables]
    return np.concatenate([t[outside(t, t, np.empty(0))] for t in flat])


def _alike(values: Array) -> bool:
    """Tell the same number in all rows, such as -1 or -999 for what is missing."""
    return bool((values == values[0]).all())


def refuse_rows_of_both(rows: Measured, options: Options) -> None:
    """Refuse logits in some rows and probabilities in others, unless the user says what they are.

    Rows of whole numbers, one of which is 1, may be counts.
    """
    least = max(_FEWEST, math.ceil(_SOME * len(rows)))
    if options.values != "auto" or len(rows) - rows.n_outside < least:
        return
    both = rows.where(_shares)
    if both.count >= least:
        raise FileError(
            "values",
            f"probabilities that sum to 1 in {both.count:,} of {len(rows):,} rows, and values"
            f" outside 0 to 1 or other sums {rows.where(_no_shares)}",
            "either in every row, or your word that these are logits",
        )


def _shares(lows: Array, highs: Array, sums: Array) -> Marks:
    return np.asarray((lows >= 0) & (highs < 1) & (np.abs(sums - 1) <= SUM_TOLERANCE))


def _no_shares(lows: Array, highs: Array, sums: Array) -> Marks:
    return ~_shares(lows, highs, sums)
