"""The calibrator to take home: as a file, as calibrated rows, and as a table of scores."""

import codecs
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from calibcore.calibrators.base import FittedGroupMap, FittedScoreMap
from calibcore.calibrators.score_maps.offset import FittedScoreChain
from calibcore.counted import weighted
from calibcore.data import EventScores
from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.export.numpy_code import numpy_code
from calibcore.validation import Floats
from dashboard.compute.files import plain_split, row_numbers
from dashboard.compute.groupings import subgroupings_for
from dashboard.readers import ReadingOptions, Upload
from dashboard.readers.limits import MAX_CALIBRATOR
from dashboard.readers.records import RawSet
from dashboard.scene import Scene
from dashboard.take_home import words
from dashboard.take_home.calibrated import calibrated_rows, frame_bytes, percents, rows_for
from dashboard.take_home.workbook import has_table, workbook_of
from dashboard.texts.methods import method_name
from dashboard.texts.subgroups import BLANK

_GRID = np.linspace(0, 1, 1001)
"""Scores of the table for people without code."""


def calibrator_file(scene: Scene) -> CalibratorFile | None:
    """Return the calibrator as a file, with the names of the groups that it was fitted for."""
    fitted, rows, settings = scene.result.fitted, scene.split.calibration, scene.settings
    shift = scene.result.prior_shift
    if shift is not None and scene.result.request is None:  # `calibcore.audit` has put it there
        moved = shift.moved
        fitted = FittedScoreChain(moved, fitted) if isinstance(fitted, FittedScoreMap) else moved
        rows = plain_split(scene.upload, settings).calibration
    if fitted is None:
        return None
    digest, result = scene.upload.digest, scene.result
    file = CalibratorFile.about(rows, fitted, settings.event, result, data=digest)
    column = _score_column(scene.upload)
    in_percent = column if scene.upload.in_percent else ""
    file = replace(file, column=column, percent_column=in_percent)
    if not file.needs_groups:
        return file
    subgroupings = subgroupings_for(scene.upload, settings)
    if not subgroupings:  # of an audit in Python
        return replace(file, groups=() if result.request is None else result.request.groupings)
    return replace(file, groups=tuple(one.grouping for one in subgroupings if one.grouping))


def _score_column(upload: Upload) -> str:
    """Return the column of a file's scores of one event; "" where it has none of this kind."""
    raw = next(iter(upload.contents.sets.values()), None)
    headings = raw.headings if isinstance(raw, RawSet) else None
    return headings[0] if headings and len(headings) == 1 else ""


def rows_file(upload: Upload, file: CalibratorFile, ending: str) -> bytes:
    """Return the rows of the file with their calibrated probabilities: CSV, Parquet or npz."""
    content = frame_bytes(calibrated_rows(upload, file), ending)
    # By its mark, spreadsheets know the text as Unicode.
    return codecs.BOM_UTF8 + content if ending == ".csv" else content


def saved(
    data: bytes, upload: Upload, read: Callable[[ReadingOptions], Upload]
) -> tuple[CalibratorFile, Upload]:
    """Return a saved calibrator, and rows without outcomes as it takes them; see `rows_for`.

    Raises `CalibrationInputError` for what is no calibrator file, and for rows that are not what it
    takes.
    """
    try:
        if len(data) > MAX_CALIBRATOR:
            raise CalibrationInputError("calibrator", "a file above 40 MB", "a calibrator file")
        file = CalibratorFile.from_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise CalibrationInputError("calibrator", "no text", "a calibrator file") from error
    rows = rows_for(file, upload.options, read)
    calibrated_rows(rows, file)
    return file, rows


def n_rows(upload: Upload) -> int:
    """Count the rows of all sets."""
    return sum(len(numbers) for numbers in row_numbers(upload).values())


def workbook(scene: Scene, file: CalibratorFile) -> bytes:
    """Return the calibrator of a score as a workbook."""
    name, event = method_name(scene.settings.method), scene.event_words.plain
    return workbook_of(file, name, event, in_percent=scene.upload.in_percent)


def score_table(
    scene: Scene, file: CalibratorFile
) -> tuple[list[str], list[list[str | float]]] | None:
    """Return scores on a fine grid with what they become, and heads; None of one without a table.

    Such are maps of classes, and of the groups of several columns. A calibrator by group has a
    further column for each group. The last one marks scores below and above all that were fitted
    on. Of a file in percent, all are in percent.
    """
    fitted = file.fitted
    if not isinstance(fitted, FittedScoreMap) or not has_table(file):
        return None
    heads, columns = [*words.SCORE_HEAD], [_GRID, fitted.predict(_GRID)]
    if file.groups and isinstance(fitted, FittedGroupMap):
        names = file.groups[0].names
        heads += [name or BLANK for name in names]
        columns += [fitted.predict(_GRID, np.full(_GRID.size, k)) for k in range(len(names))]
    if scene.upload.in_percent:
        heads, columns = [*map(words.in_percent, heads)], [*map(percents, columns)]
    known = _fitted_scores(scene)
    grid, (low, high) = percents(_GRID), percents(np.array([known.min(), known.max()]))
    marks = np.select([grid < low, grid > high], [words.BELOW, words.ABOVE], "").tolist()
    lines = zip(*(one.tolist() for one in columns), marks, strict=True)
    return [*heads, words.BEYOND_HEAD], [list(line) for line in lines]


def _fitted_scores(scene: Scene) -> Floats:
    """Return the scores that the calibrator was fitted on."""
    rows = scene.split.calibration
    if isinstance(rows, EventScores):
        return weighted(rows)[0].scores
    return scene.settings.event.outcomes(rows.probabilities, rows.labels).scores


def code_of(file: CalibratorFile) -> str | None:
    """Return Python that applies a calibrator with numpy alone; None of one without it."""
    try:
        return numpy_code(file)
    except CalibrationInputError:
        return None


def onnx_of(file: CalibratorFile) -> Callable[[], bytes] | None:
    """Return what writes a calibrator as an ONNX model; None of one that has none, or no extra."""
    try:
        from calibcore.export.onnx_model import has_model, onnx_model  # noqa: PLC0415 - of an extra
    except ImportError:
        return None
    return (lambda: onnx_model(file).SerializeToString()) if has_model(file.fitted) else None
