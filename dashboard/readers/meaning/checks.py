"""What a table must hold before it is taken for logits or for probabilities."""

import numpy as np

from dashboard.readers.contents import SET_NAMES, Array, RawSet, Role, rows_of_file
from dashboard.readers.meaning.measured import by_rows
from dashboard.readers.refusal import FileError, type_name

MAX_CLASSES = 200_000


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
    """Refuse values that no reading could make sense of."""
    place, table = f"logits {SET_NAMES[role]}".strip(), np.asarray(raw.table)
    with np.errstate(invalid="ignore"):
        halves = table.dtype == np.float16
        if not halves and np.isfinite(table.min()) and np.isfinite(table.max()):
            return
    extremes = list(by_rows(table))
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
