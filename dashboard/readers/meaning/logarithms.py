"""Values that are called logarithms of probabilities."""

import math
import re
from dataclasses import replace

import numpy as np

from calibcore.blocks import row_blocks
from calibcore.validation import SUM_TOLERANCE
from dashboard.readers.columns.headings import key_of
from dashboard.readers.meaning.measured import ROUNDING, Measured
from dashboard.readers.meaning.one_score import Reading
from dashboard.readers.refusal import quoted

_CALLED = re.compile(r"logprobs?(?![a-z])")


def of_logarithms(reading: Reading, rows: Measured) -> Reading:
    """Say what became of values that are called logarithms of probabilities.

    Notes
    -----
    Softmax gives probabilities back from their natural logarithms, divided by the sum of those
    that are there: the likeliest answers alone sum to less than 1.
    """
    names = [name for raw in rows.sets.values() for name in raw.headings or ("",)]
    if reading.natural or rows.one_column or not all(_CALLED.match(key_of(n)) for n in names):
        return reading
    called = f"The values are called {quoted(names[0], 30)}"
    if reading.kind == "probabilities":
        doubt = f"{called}, but they are within 0 to 1 and were read as probabilities."
        return replace(reading, doubts=(*reading.doubts, doubt))
    low, high = _sums(rows)
    if rows.high <= ROUNDING and high <= 1 + SUM_TOLERANCE:
        said = (
            f"{called}: as natural logarithms of probabilities, of which those of a row sum to"
            f" {low:.3g} to {high:.3g}, they were divided by that sum ({len(rows):,} rows)."
        )
        return replace(reading, repairs=(*reading.repairs, said))
    doubt = (
        f"{called}, but they are no natural logarithms of probabilities, which would sum to"
        f" {high:.3g} in a row: they were read as logits."
    )
    return replace(reading, doubts=(*reading.doubts, doubt))


def _sums(rows: Measured) -> tuple[float, float]:
    """Give the smallest and the largest sum of the exponentials of a row."""
    low, high = math.inf, 0.0
    for table in rows.tables:
        for part in row_blocks(*table.shape):
            with np.errstate(over="ignore"):
                sums = np.exp(table[part].astype(np.float64)).sum(axis=1)
            low, high = min(low, float(sums.min())), max(high, float(sums.max()))
    return low, high
