"""Rows of a file with their calibrated probabilities, to write to another file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from calibcore.calibrator_file import CalibratorFile
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from dashboard.compute.files import row_numbers
from dashboard.readers import Upload
from dashboard.readers.contents import RawSet

CALIBRATED = "calibrated"
"""Column of a calibrated score."""


def calibrated_rows(upload: Upload, kept: CalibratorFile) -> DataFrame:
    """Calibrate every row of a file, with or without outcomes.

    Parameters
    ----------
    upload : Upload
        The file, as read; several sets follow each other.
    kept : CalibratorFile
        The calibrator.

    Returns
    -------
    pandas.DataFrame
        ``row``, its number in the file; which set, where there are several; then ``calibrated``, or
        a probability for each class.

    Raises
    ------
    CalibrationInputError
        Whatever `CalibratorFile.apply` refuses; a file without scores of its own.
    """
    parts = [_of_piece(upload.piece, upload)] if upload.piece is not None else _of_sets(upload)
    whole: dict[str, NDArray[Any]] = {}
    for name in parts[0][0]:
        whole[name] = np.concatenate([columns[name] for columns, _ in parts])
    found = np.concatenate([kept.apply(table) for _, table in parts])
    if found.ndim == 1:
        return DataFrame({**whole, CALIBRATED: found})
    return DataFrame(whole).join(DataFrame(found, columns=list(kept.class_names) or None))


Part = tuple[dict[str, NDArray[Any]], Any]


def _of_piece(piece: RawSet, upload: Upload) -> Part:
    """Return the rows of a file without outcomes."""
    table = piece.table
    if table is None:
        raise CalibrationInputError("file", "outcomes alone", "one with scores")
    scale = upload.options.values  # noqa: PD011 - no data frame
    if scale == "percentages":
        table = table / 100
    elif table.ndim == 1 and 1 < table.max() <= 100:
        found = f"scores up to {table.max():g}"
        raise CalibrationInputError("score", found, "numbers from 0 to 1, or values in percent")
    rows = {"row": piece.first_row + np.arange(len(table))}
    named = table.ndim == 2 and piece.class_names is not None
    return rows, DataFrame(table, columns=list(piece.class_names or ())) if named else table


def _of_sets(upload: Upload) -> list[Part]:
    parts: list[Part] = []
    for name, numbers in row_numbers(upload).items():
        rows = upload.sets[name]
        columns = {"row": np.asarray(numbers)}
        if len(upload.sets) > 1:
            columns["set"] = np.full(rows.n_samples, name)
        if isinstance(rows, LogitSet):
            parts.append((columns, DataFrame(rows.given, columns=list(rows.class_names))))
        else:
            parts.append((columns, rows.scores))
    return parts


def write_frame(frame: DataFrame, path: Path) -> None:
    """Write rows as CSV, Parquet or npz, by the ending of the name.

    Raises
    ------
    CalibrationInputError
        Another ending, or a place that cannot be written to.
    """
    arrays: dict[str, NDArray[Any]] = {str(name): np.asarray(frame[name]) for name in frame}
    writers: dict[str, Callable[[], object]] = {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".parquet": lambda: frame.to_parquet(path, index=False),
        ".npz": lambda: np.savez(path, allow_pickle=False, **arrays),
    }
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise CalibrationInputError("out", path.name, f"a name ending in {', '.join(writers)}")
    try:
        writer()
    except OSError as error:
        raise CalibrationInputError("out", str(path), "a place to write to") from error
