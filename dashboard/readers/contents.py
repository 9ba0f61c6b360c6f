"""What a format hands over: bare arrays by set, before anything is taken for anything."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Role = Literal["calibration", "test", "rows"]
ValuesKind = Literal["logits", "probabilities", "scores"]

SET_NAMES: Mapping[Role, str] = {"calibration": "calibration set", "test": "test set", "rows": ""}
"""How a set is called in a sentence; one that stands alone needs no name."""


@dataclass(frozen=True, eq=False)
class RawSet:
    """One set as it stands in a file; a lone piece has only a table or only labels.

    Parameters
    ----------
    table : ndarray, shape (n_samples, n_classes) or (n_samples,), optional
        Logits or probabilities, a column a class; or the score of class 1.
    labels : ndarray, optional
        As found: numbers from 0 or from 1, whole decimals, one-hot.
    class_names : tuple of str, optional
        One a class.
    first_row : int
        How the file itself would number the first row, for refusals that name rows.
    named_labels : bool
        The labels are already positions among the class columns, matched by name.
    """

    table: Array | None
    labels: Array | None
    class_names: tuple[str, ...] | None = None
    first_row: int = 1
    named_labels: bool = False


@dataclass(frozen=True, eq=False)
class RawEvent:
    """The top-1 score of each row, and whether the prediction was right."""

    scores: Array
    hits: Array
    first_row: int = 1


@dataclass(frozen=True, eq=False)
class Contents:
    """All that one file, or several together, holds."""

    sets: Mapping[Role, RawSet | RawEvent]
    found: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """How the user overrules what the values are taken for."""

    values: Literal["auto", "logits", "probabilities"] = "auto"
    first_label: Literal["auto", 0, 1] = field(default="auto")


def row_list(bad: NDArray[np.bool_], first_row: int) -> str:
    """Say in how many rows something is wrong, and which come first."""
    rows = np.flatnonzero(bad)
    numbers = ", ".join(str(int(row) + first_row) for row in rows[:3])
    many = "rows" if len(rows) > 1 else "row"
    first = f"first in {many} {numbers}" if len(rows) > 3 else f"{many} {numbers}"
    return f"in {len(rows):,} {many} ({first})"
