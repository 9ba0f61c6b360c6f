"""Texts where numbers are wanted, read as strictly as in a text file."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.contents import Array
from dashboard.readers.refusal import FileError

_LONGEST = 256


def number_in(cell: str) -> float | None:
    """Read a text as a number, with or without a percent sign, or as minus infinity.

    Examples
    --------
    >>> number_in("0.5"), number_in(" 87 %"), number_in("-inf"), number_in("x")
    (0.5, 87.0, -inf, None)
    """
    cell = cell.strip()
    if cell.lower() in {"-inf", "-infinity"}:
        return -math.inf
    cell = cell.removesuffix("%").rstrip()
    return float(cell) if len(cell) <= _LONGEST and NUMBER.fullmatch(cell) else None


def signs_in(cells: Sequence[str], codes: NDArray[np.int32]) -> Iterator[NDArray[np.bool_]]:
    """Mark the rows with a percent sign, and those that cannot be read, if any row has one.

    Parameters
    ----------
    cells : sequence of str
        The different texts of a column.
    codes : ndarray of int32
        The place of each row's text among them.
    """
    signed = [cell.rstrip().endswith("%") for cell in cells]
    if any(signed):
        alike = [sign or number_in(cell) is None for sign, cell in zip(signed, cells, strict=True)]
        yield np.array(alike)[codes]


def without_signs(columns: list[Array], signs: Sequence[NDArray[np.bool_]]) -> list[Array]:
    """Divide percentages by 100, where all cells have a percent sign.

    Parameters
    ----------
    columns : list of ndarray
        The numbers of each column.
    signs : sequence of ndarray
        Of each column with a percent sign, the rows that have one.
    """
    total = sum(map(len, columns))
    with_sign = sum(int(np.count_nonzero(rows)) for rows in signs)
    if with_sign not in (0, total):
        raise FileError(
            "values", f"percent signs in {with_sign:,} of {total:,} cells", "all or none"
        )
    return [column / 100 for column in columns] if signs else columns
