"""Rows of a file with their calibrated probabilities, to write to another file."""

import io
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from scipy.special import expit

from calibcore.calibrator_file import CalibratorFile
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.tables import are_percentages
from dashboard.compute.files import row_numbers
from dashboard.readers import Upload
from dashboard.readers.contents import RawSet, SliceColumn
from dashboard.readers.refusal import quoted

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
        Whatever `CalibratorFile.apply` refuses; a file without scores of its own, or without the
        column that tells the groups of a calibrator by group.
    """
    parts = _parts(upload, kept)
    whole: dict[str, NDArray[Any]] = {}
    for name in parts[0].columns:
        whole[name] = np.concatenate([one.columns[name] for one in parts])
    found = np.concatenate([kept.apply(one.table, one.groups) for one in parts])
    if found.ndim == 1:
        return DataFrame({**whole, CALIBRATED: found})
    return DataFrame(whole).join(DataFrame(found, columns=list(kept.class_names) or None))


def n_unfitted(upload: Upload, kept: CalibratorFile) -> int:
    """Count the rows of a file whose group was not fitted; 0 where the calibrator knows none."""
    groups = [one.groups for one in _parts(upload, kept)]
    return sum(int(kept.unfitted(one).sum()) for one in groups if one is not None)


class _Part(NamedTuple):
    """One set of a file: what tells its rows, what is calibrated, and the group of each row."""

    columns: dict[str, NDArray[Any]]
    table: Any
    groups: NDArray[Any] | None


def _parts(upload: Upload, kept: CalibratorFile) -> list[_Part]:
    return (
        _of_sets(upload, kept) if upload.piece is None else [_of_piece(upload.piece, upload, kept)]
    )


def _of_piece(piece: RawSet, upload: Upload, kept: CalibratorFile) -> _Part:
    """Return the rows of a file without outcomes."""
    table = piece.table
    if table is None:
        raise CalibrationInputError("file", "outcomes alone", "one with scores")
    scale = upload.options.values  # noqa: PD011 - no data frame
    if scale == "percentages" or (scale == "auto" and table.ndim == 2 and are_percentages(table)):
        table = table / 100
    elif scale == "logits" and table.ndim == 1 and kept.takes == "scores":
        table = expit(table)
    elif table.ndim == 1 and 1 < table.max() <= 100:
        found = f"scores up to {table.max():g}"
        raise CalibrationInputError("score", found, "numbers from 0 to 1, or values in percent")
    rows = {"row": piece.first_row + np.arange(len(table))}
    named = table.ndim == 2 and piece.class_names is not None
    given = DataFrame(table, columns=list(piece.class_names or ())) if named else table
    return _Part(rows, given, _groups(kept, {column.name: column for column in piece.columns}))


def _of_sets(upload: Upload, kept: CalibratorFile) -> list[_Part]:
    parts = []
    for name, numbers in row_numbers(upload).items():
        rows = upload.sets[name]
        columns = {"row": np.asarray(numbers)}
        if len(upload.sets) > 1:
            columns["set"] = np.full(rows.n_samples, name)
        table: Any = (
            DataFrame(rows.given, columns=list(rows.class_names))
            if isinstance(rows, LogitSet)
            else rows.scores
        )
        parts.append(_Part(columns, table, _groups(kept, upload.columns.get(name, {}))))
    return parts


def _groups(kept: CalibratorFile, columns: Mapping[str, SliceColumn]) -> NDArray[Any] | None:
    """Return the values of the column that a calibrator by group was fitted by."""
    if not kept.needs_groups:
        return None
    name = "" if kept.groups is None else kept.groups.column
    if not name:
        raise CalibrationInputError("calibrator", "groups of no named column", "one fitted by one")
    if name not in columns:
        wanted = "the groups that the calibrator was fitted by"
        raise CalibrationInputError(f"column {quoted(name)}", "not in the file", wanted)
    values, texts = columns[name].values, columns[name].categories  # noqa: PD011 - no data frame
    return values if texts is None else np.array(texts, dtype=object)[values]


FORMATS = (".csv", ".parquet", ".npz")
"""Endings of the files that rows are written to."""


def frame_bytes(frame: DataFrame, ending: str) -> bytes:
    """Return rows as the content of a CSV, Parquet or npz file.

    Raises
    ------
    CalibrationInputError
        Another ending.
    """
    written = io.BytesIO()
    match ending:
        case ".csv":
            frame.to_csv(written, index=False)
        case ".parquet":
            frame.to_parquet(written, index=False)
        case ".npz":
            arrays = {str(name): np.asarray(frame[name]) for name in frame}
            np.savez(written, allow_pickle=False, **arrays)
        case _:
            wanted = f"a name ending in {', '.join(FORMATS)}"
            raise CalibrationInputError("out", f"the ending {ending!r}", wanted)
    return written.getvalue()
