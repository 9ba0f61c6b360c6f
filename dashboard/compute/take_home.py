"""The calibrator to take home: as a file, as calibrated rows, and as a table of scores."""

import numpy as np

from calibcore.calibrator_file import CalibratorFile
from calibcore.calibrators.base import FittedGroupMap, FittedScoreMap
from calibcore.errors import CalibrationInputError
from calibcore.numpy_code import numpy_code
from dashboard.calibrated import calibrated_rows
from dashboard.scene import Scene
from dashboard.tables import harmless

_GRID = np.linspace(0, 1, 1001)
"""Scores of the table for people without code."""


def calibrator_file(scene: Scene) -> CalibratorFile | None:
    """Return the calibrator as a file; None of one that needs the groups of new rows."""
    fitted, rows = scene.result.fitted, scene.split.calibration
    if fitted is None or isinstance(fitted, FittedGroupMap):
        return None
    digest = scene.upload.digest
    return CalibratorFile.about(rows, fitted, scene.settings.event, scene.result, data=digest)


def rows_csv(scene: Scene, kept: CalibratorFile) -> str:
    """Return the rows of the file with their calibrated probabilities."""
    frame = calibrated_rows(scene.upload, kept)
    return frame.rename(columns=harmless).to_csv(index=False, lineterminator="\r\n")


def score_table(kept: CalibratorFile) -> list[tuple[float, float]] | None:
    """Return scores on a fine grid with what they become; None of a map of all classes."""
    fitted = kept.fitted
    if not isinstance(fitted, FittedScoreMap):
        return None
    return list(zip(_GRID.tolist(), fitted.predict(_GRID).tolist(), strict=True))


def code_of(kept: CalibratorFile) -> str | None:
    """Return Python that applies a calibrator with numpy alone; None of one too long for it."""
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
