"""The calibrator to take home: as a file, as calibrated rows, and as a table of scores."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibcore.calibrator_file import CalibratorFile
from calibcore.calibrators.base import FittedGroupMap, FittedScoreMap
from calibcore.errors import CalibrationInputError
from calibcore.numpy_code import numpy_code
from dashboard.calibrated import calibrated_rows, frame_bytes
from dashboard.compute.slices import slicing_of
from dashboard.scene import Scene
from dashboard.tables import harmless
from dashboard.wording import take_home as words
from dashboard.wording.sentences import method_name
from dashboard.wording.slice_names import BLANK
from dashboard.workbook import workbook_of

_GRID = np.linspace(0, 1, 1001)
"""Scores of the table for people without code."""


def calibrator_file(scene: Scene) -> CalibratorFile | None:
    """Return the calibrator as a file, with the names of the groups that it was fitted for."""
    fitted, rows, settings = scene.result.fitted, scene.split.calibration, scene.settings
    if fitted is None:
        return None
    digest, result = scene.upload.digest, scene.result
    kept = CalibratorFile.about(rows, fitted, settings.event, result, data=digest)
    if not kept.needs_groups:
        return kept
    if settings.group is None:  # of an audit in Python
        return replace(kept, groups=None if result.asked is None else result.asked.grouping)
    return replace(kept, groups=slicing_of(scene.upload, settings, settings.group).grouping)


def rows_file(scene: Scene, kept: CalibratorFile, ending: str) -> bytes:
    """Return the rows of the file with their calibrated probabilities: CSV, Parquet or npz."""
    frame = calibrated_rows(scene.upload, kept)
    if ending == ".csv":  # by its mark, spreadsheets know the text as Unicode
        text = frame.rename(columns=harmless).to_csv(index=False, lineterminator="\r\n")
        return text.encode("utf-8-sig")
    return frame_bytes(frame, ending)


def workbook(scene: Scene, kept: CalibratorFile) -> bytes:
    """Return the calibrator of a score as a workbook."""
    return workbook_of(kept, method_name(scene.settings.method), scene.event_words.plain)


def score_table(kept: CalibratorFile) -> tuple[Sequence[str], list[tuple[float, ...]]] | None:
    """Return scores on a fine grid with what they become, and heads; None of a map of classes.

    A calibrator by group has a further column for each group.
    """
    fitted = kept.fitted
    if not isinstance(fitted, FittedScoreMap):
        return None
    columns = {name: fitted.predict(_GRID) for name in words.SCORE_HEAD[1:]}
    if kept.groups is not None and isinstance(fitted, FittedGroupMap):
        for k, name in enumerate(kept.groups.names):
            columns[name or BLANK] = fitted.predict(_GRID, np.full(_GRID.size, k))
    lines = zip(_GRID.tolist(), *(one.tolist() for one in columns.values()), strict=True)
    return [words.SCORE_HEAD[0], *columns], list(lines)


def code_of(kept: CalibratorFile) -> str | None:
    """Return Python that applies a calibrator with numpy alone; None of one without it."""
    try:
        return numpy_code(kept)
    except CalibrationInputError:
        return None


def onnx_of(kept: CalibratorFile) -> bytes | None:
    """Return a calibrator as an ONNX model; None of one that has none, or without the extra."""
    try:
        from calibcore.onnx_model import onnx_model  # noqa: PLC0415 - of an extra

        written: bytes = onnx_model(kept).SerializeToString()
    except (ImportError, CalibrationInputError):
        return None
    return written
