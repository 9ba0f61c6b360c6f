"""Columns that say how often, or how much, each row counts."""

from collections.abc import Iterator, Mapping

import numpy as np

from dashboard.readers.columns.headings import key_of
from dashboard.readers.contents import Array, RawEvent, RawSet, Role
from dashboard.readers.refusal import quoted

_COUNTS = frozenset(
    {"count", "counts", "cnt", "n", "n_samples", "n_rows", "n_obs", "num", "freq", "frequency",
     "freqs", "frequencies", "trials", "multiplicity"}
)  # fmt: skip
_WEIGHTS = frozenset(
    {"weight", "weights", "sample_weight", "sample_weights", "case_weight", "case_weights", "wt",
     "wts", "survey_weight", "sampling_weight", "importance_weight", "class_weight"}
)  # fmt: skip

_OF_BODIES, _KILOGRAMS = frozenset({"weight", "weights", "wt"}), (30, 300)
"""Names, and usual values, of what bodies weigh."""


def counted_once(raw: Mapping[Role, RawSet] | Mapping[Role, RawEvent]) -> Iterator[str]:
    """Doubt columns that are called counts or weights: here each row counts once.

    Parameters
    ----------
    raw : mapping of role to RawSet or RawEvent
        As they will be judged.
    """
    said = dict[str, None]()
    for part in raw.values():
        for column in part.columns:
            key, values = key_of(column.name), column.values
            if column.categories is not None or not {key} & (_COUNTS | _WEIGHTS):
                continue
            if values.min() >= 0 and values.max() > values.min() and _may_weigh(key, values):
                said[column.name] = None
    for name in said:
        yield (
            f"Column {quoted(name, 30)} may say how often, or how much, each row counts: here each"
            " row counts once."
        )


def _may_weigh(key: str, values: Array) -> bool:
    """Tell counts from marks that are 0 or 1, and weights of rows from those of bodies."""
    low, high = float(values.min()), float(values.max())
    if key in _COUNTS:
        return high > 1 and bool((values == np.rint(values)).all())
    return key not in _OF_BODIES or not _KILOGRAMS[0] <= low <= high <= _KILOGRAMS[1]
