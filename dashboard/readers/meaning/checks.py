"""What a table must hold before it is taken for logits or for probabilities."""

import numpy as np

from dashboard.readers.limits import MAX_CLASSES
from dashboard.readers.meaning.measured import by_rows
from dashboard.readers.records import SET_NAMES, Array, RawSet, Role, rows_of_file
from dashboard.readers.refusal import FileError, type_name


def check_shape(table: Array, role: Role) -> None:
    """Refuse an array that is no table."""
    place = f"logits {SET_NAMES[role]}".strip()
    if table.dtype.kind not in "biuf":
        raise FileError(place, f"values of type {type_name(table.dtype)}", "numbers")
    if table.ndim not in (1, 2):
        raise FileError(
            place, f"{table.ndim} dimensions", "2: one row a sample and one column a class"
        )
    if table.ndim == 2 and table.shape[1] > MAX_CLASSES:
        raise FileError(place, f"{table.shape[1]:,} classes", f"at most {MAX_CLASSES:,}")
    if table.size == 0:
        raise FileError(place, f"no rows (shape {table.shape})", "at least one row")


def check_finite(raw: RawSet, role: Role) -> None:
    """Refuse rows that rule every class out; others without end are left out before."""
    table = np.asarray(raw.table)
    if table.min() > -np.inf:
        return
    marks = np.concatenate([np.isneginf(high) for _, high, _ in by_rows(table)])
    if marks.any():
        text = f"minus infinity (-inf) for every class {rows_of_file(marks, raw)}"
        raise FileError(f"logits {SET_NAMES[role]}".strip(), text, "finite numbers")
