"""Rows of a file with their calibrated probabilities, to write to another file."""

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from scipy.special import expit

from calibcore.calibrators.base import FittedScoreMap
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.validation import Floats
from dashboard.compute.files import row_names, row_numbers
from dashboard.readers import Upload
from dashboard.readers.formats.heading import unnamed
from dashboard.readers.meaning.scale import SHARES
from dashboard.readers.recognition.refused import HUNDREDTHS
from dashboard.readers.records import ColumnRole, GroupingColumn, RawSet, ReadingOptions, Role
from dashboard.readers.refusal import FileError, Question, quoted
from dashboard.tables import harmless
from dashboard.take_home.words import SCORE_HEAD, in_percent

SCORE, CALIBRATED = SCORE_HEAD
"""Columns of the score as the file has it, and of the calibrated one."""


def calibrated_rows(upload: Upload, file: CalibratorFile) -> DataFrame:
    """Calibrate every row of a file, with or without outcomes.

    ``upload``: the file, as read; several sets follow each other. ``file``: the calibrator.

    ``row``, its number in the file; which set, where there are several; row IDs, and the groups of
    a calibrator by group, under the names of their columns; then ``score`` and ``calibrated``, or a
    calibrated probability for each class. Of a file in percent these are in percent, and their
    names end in ``(%)``.

    Raises `CalibrationInputError` for whatever `CalibratorFile.apply` refuses, and for a file
    without scores of its own, or without a column that tells the groups of a calibrator by group.
    """
    parts = _parts(upload, file)
    calibrated = calibrated_values(upload, file)
    if isinstance(file.fitted, FittedScoreMap):
        before = np.concatenate([file.scores(one.table) for one in parts])
        values = {SCORE: before, CALIBRATED: calibrated}
    else:
        names = file.class_names or map(str, range(calibrated.shape[1]))
        values = dict(zip(names, calibrated.T, strict=True))
    if upload.in_percent:
        values = {in_percent(name): percents(column) for name, column in values.items()}
    fixed, of_file = (
        {name: np.concatenate([one[name] for one in columns])
         for name in columns[0] if all(name in one for one in columns)}
        for columns in ([one.columns for one in parts], [one.of_file for one in parts])
    )  # fmt: skip
    taken = {*fixed, *values}
    renamed = {f"{name} (file)" if name in taken else name: of_file[name] for name in of_file}
    return DataFrame({**fixed, **renamed, **values})


def calibrated_values(upload: Upload, file: CalibratorFile) -> Floats:
    """Calibrate every row: shares, shape (n_rows,) of an event, (n_rows, n_classes) of classes."""
    return np.concatenate([file.apply(one.table, one.groups) for one in _parts(upload, file)])


def rows_for(
    file: CalibratorFile, options: ReadingOptions, read: Callable[[ReadingOptions], Upload]
) -> Upload:
    """Read new rows for a calibrator, from the columns that it was fitted on.

    ``file``: the calibrator. The columns of one by group are groups, whatever they look like.
    ``options``: how the user wants the rows read, which comes first. ``read``: reads them.

    Raises a `Question` where no value is above 1 in the column that was in percent, so that it may
    hold shares; `CalibrationInputError` for a column of the calibrator that is not there, unless
    the rows have a score of each class.
    """
    needed: list[tuple[str, ColumnRole, str]] = []
    needed += [(one.column, "group", _FITTED_BY) for one in file.columns if one.column]
    if file.column and "score" not in dict(options.roles).values():
        wanted = "the scores that the calibrator was fitted on, or --score with another column"
        needed.append((file.column, "score", wanted))
    roles = *options.roles, *((name, role) for name, role, _ in needed)
    try:
        return _in_unit(file, replace(options, roles=roles), read)
    except FileError as error:
        lacks = [one for one in needed if quoted(one[0]) in error.actual]
        if error.field != "roles" or not lacks:
            raise
        name, role, wanted = lacks[0]
        if role == "score" and not _of_one_score(upload := _in_unit(file, options, read)):
            return upload
        raise CalibrationInputError(f"column {quoted(name)}", "not in the file", wanted) from error


def _of_one_score(upload: Upload) -> bool:
    sets = upload.contents.sets.values()
    return any(isinstance(raw, RawSet) and len(raw.headings or ()) == 1 for raw in sets)


def _in_unit(
    file: CalibratorFile, options: ReadingOptions, read: Callable[[ReadingOptions], Upload]
) -> Upload:
    """Read rows; the column that was in percent for the fit is so again, unless they are told."""
    if not file.percent_column or options.values != "auto":  # noqa: PD011 - no data frame
        return read(options)
    try:
        upload = read(replace(options, values="percentages"))
    except FileError:
        return read(options)
    sets = upload.contents.sets.values()
    tables = [raw for raw in sets if isinstance(raw, RawSet) and raw.table is not None]
    if {raw.headings for raw in tables} != {(file.percent_column,)}:
        return read(options)
    highest = max(float(np.max(raw.table)) for raw in tables if raw.table is not None)
    if highest <= 1 and not any(raw.divided for raw in tables):
        text = f"no value above {highest:g}, but the calibrator was fitted on percentages"
        ask, answers = "What are these values?", (HUNDREDTHS, SHARES)
        raise Question(f"column {quoted(file.percent_column)}", text, ask, answers)
    return upload


def percents(shares: Floats) -> Floats:
    """Return shares in percent, without the rounding of a division by 100: 28.9 stays 28.9."""
    return np.round(100 * shares, 10)


def n_unfitted(upload: Upload, file: CalibratorFile) -> int:
    """Count the rows of a file whose group was not fitted; 0 where the calibrator knows none."""
    groups = [one.groups for one in _parts(upload, file)]
    return sum(int(file.unfitted(one).sum()) for one in groups if one is not None)


class _Part(NamedTuple):
    """One set of a file: what tells its rows, what is calibrated, and the group of each row."""

    columns: dict[str, NDArray[Any]]
    of_file: dict[str, NDArray[Any]]
    table: Any
    groups: DataFrame | None


def _parts(upload: Upload, file: CalibratorFile) -> list[_Part]:
    return (
        _of_sets(upload, file) if upload.piece is None else [_of_piece(upload.piece, upload, file)]
    )


def _of_piece(piece: RawSet, upload: Upload, file: CalibratorFile) -> _Part:
    """Return the rows of a file without outcomes."""
    table = piece.table
    if table is None:
        raise CalibrationInputError("file", "outcomes alone", "one with scores")
    if upload.in_percent and not piece.divided:
        table = table / 100
    elif file.takes == "scores" and table.ndim == 1 and _are_logits(upload):
        table = expit(table)
    rows = {"row": np.asarray(row_numbers(upload)["rows"])}
    named = table.ndim == 2 and piece.class_names is not None and not _counted(piece, file)
    given = DataFrame(table, columns=list(piece.class_names or ())) if named else table
    groups = _groups(file, {column.name: column for column in piece.columns})
    return _Part(rows, _of_file(upload, "rows", groups), given, groups)


def _counted(piece: RawSet, file: CalibratorFile) -> bool:
    """Return whether columns without names are in the order of classes that are numbers."""
    places = range(len(file.class_names))
    classes = (tuple(str(k + first) for k in places) for first in (0, 1))
    return piece.class_names == unnamed(len(places)) and file.class_names in classes


def _are_logits(upload: Upload) -> bool:
    """Return whether the user said that the values are logits."""
    return upload.options.values == "logits"  # noqa: PD011 - no data frame


def _of_sets(upload: Upload, file: CalibratorFile) -> list[_Part]:
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
        groups = _groups(file, upload.columns.get(name, {}))
        parts.append(_Part(columns, _of_file(upload, name, groups), table, groups))
    return parts


def _of_file(upload: Upload, role: Role, groups: DataFrame | None) -> dict[str, NDArray[Any]]:
    """Return row IDs, and the groups by which a row is calibrated."""
    names = row_names(upload).get(role, {})
    more = {} if groups is None else {str(name): groups[name].to_numpy() for name in groups}
    return {**names, **more}


_FITTED_BY = "the groups that the calibrator was fitted by"


def _groups(file: CalibratorFile, columns: Mapping[str, GroupingColumn]) -> DataFrame | None:
    """Return the values of the columns that a calibrator by group was fitted by."""
    if not file.needs_groups:
        return None
    if not file.columns or not all(one.column for one in file.columns):
        raise CalibrationInputError("calibrator", "groups of no named column", "one fitted by one")
    values: dict[str, NDArray[Any]] = {}
    for name in (one.column for one in file.columns):
        if name not in columns:
            raise CalibrationInputError(f"column {quoted(name)}", "not in the file", _FITTED_BY)
        own, texts = columns[name].values, columns[name].categories  # noqa: PD011 - no data frame
        values[name] = own if texts is None else np.array(texts, dtype=object)[own]
    return DataFrame(values)


FORMATS = (".csv", ".parquet", ".npz")
"""Endings of the files that rows are written to."""


def frame_bytes(frame: DataFrame, ending: str) -> bytes:
    """Return rows as the content of a CSV, Parquet or npz file; in a CSV no cell is a formula.

    Raises `CalibrationInputError` for another ending.
    """
    written = io.BytesIO()
    match ending:
        case ".csv":
            texts = frame.select_dtypes(["str", "object"]).columns
            frame = frame.assign(**{name: frame[name].map(_harmless) for name in texts})
            frame.rename(columns=harmless).to_csv(written, index=False)
        case ".parquet":
            frame.to_parquet(written, index=False)
        case ".npz":
            arrays = {str(name): _array(frame[name]) for name in frame}
            np.savez(written, allow_pickle=False, **arrays)
        case _:
            wanted = f"a name ending in {', '.join(FORMATS)}"
            raise CalibrationInputError("out", f"the ending {ending!r}", wanted)
    return written.getvalue()


def _harmless(cell: Any) -> Any:
    return harmless(cell) if isinstance(cell, str) else cell


def _array(column: Any) -> NDArray[Any]:
    """Return a column as an array that is written without pickling."""
    values = np.asarray(column)
    return values.astype(str) if values.dtype == object else values
