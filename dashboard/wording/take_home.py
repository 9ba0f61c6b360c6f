"""Words of the downloads of a calibrator."""

from dashboard.wording.rows import rows_of
from dashboard.wording.sentences import method_name

TITLE = "Use this calibrator"

CALIBRATOR = "Calibrator (JSON)"
CODE = "NumPy code (.py)"
ONNX = "ONNX model"
ROWS = "Calibrated rows (CSV)"
SCORES = "Score table (CSV)"
SCORE_HEAD = ("score", "calibrated")

HOW = (
    "`fractile calibrate new.csv --with calibrator.json --out calibrated.csv` applies the file to"
    " new rows, which need no outcomes; in Python,"
    " `calibcore.calibrator_file.CalibratorFile.from_json(text).apply(table)`. Other classes, or"
    " values that do not look like those it was fitted on, are refused."
)

OF_GROUPS = (
    "A calibrator by group is not offered as a file, as new rows would need their groups too."
    " `calibcore.audit(..., groups=...)` fits it in Python."
)


def fitted_on(method: str, n_rows: int) -> str:
    """Return what the file holds."""
    return (
        f"{method_name(method)}, fitted on all {rows_of(n_rows)} of the calibration set. The file"
        " says what it takes, on which data it was fitted, and how it did."
    )
