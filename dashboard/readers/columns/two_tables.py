"""Two tables of the same rows: logits, and the softmax of them."""

from collections.abc import Mapping, Sequence

import numpy as np

from calibcore.probabilities import softmax
from dashboard.readers.contents import Array, Role
from dashboard.readers.refusal import quoted

_COMPARED = 1000


def logits_among(tables: Mapping[str, Array]) -> str | None:
    """Of two tables find the logits, where the other holds their softmax."""
    logits = [name for name in tables if "logit" in name.lower()]
    if len(logits) != 1 or len(tables) != 2:
        return None
    (other,) = (table for name, table in tables.items() if name != logits[0])
    table = tables[logits[0]]
    if table.ndim != 2 or table.shape != other.shape or table.shape[1] < 2:
        return None
    if table.dtype.kind != "f" or other.dtype.kind != "f":
        return None
    table, other = table[:_COMPARED], other[:_COMPARED]
    if not (np.isfinite(table).all() and np.isfinite(other).all()):
        return None
    return logits[0] if np.abs(softmax(table) - other).max() < 0.01 else None


def of_two(taken: str, names: Sequence[str]) -> tuple[str, ...]:
    """Say that logits were taken of two tables."""
    other = next(name for name in names if name != taken)
    both = f"{quoted(taken, 30)} and {quoted(other, 30)}"
    return (f"Of {both}, which is their softmax, the logits were taken.",)


def both_tables(
    arrays: Mapping[str, Array], tables: Mapping[Role, Sequence[str]]
) -> tuple[str, ...]:
    """Say where logits were taken of two tables."""
    pairs = [[name for name in names if arrays[name].ndim == 2] for names in tables.values()]
    return tuple(
        said
        for pair in pairs
        if (logits := logits_among({name: arrays[name] for name in pair})) is not None
        for said in of_two(logits, pair)
    )
