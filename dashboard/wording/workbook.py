"""Words of the workbook of a calibrator."""

from calibcore.calibrator_file import CalibratorFile

SHEET, TABLE, GROUPS = "Calibrator", "Table", "Groups"

SCORE, CALIBRATED, OF_ALL, SHIFT, SLOPE = "Score", "Calibrated", "All groups", "Shift", "Slope"
TABLE_HEAD = (SCORE, CALIBRATED, "Slope up to the next row")
GROUPS_HEAD = ("Group", SHIFT, SLOPE, "From")

NO_SCORE = "Not a score from 0 to 1"

TYPE = "Type or paste scores from 0 to 1 in column A; column B shows them calibrated."
TYPE_GROUPS = (
    "Type or paste scores from 0 to 1 in column A and groups in column B; column C shows the scores"
    " calibrated. Another group gets the map of all groups."
)
MORE = "For more rows, copy the formulas of the last row down."


def title(name: str) -> str:
    """Return what the workbook is."""
    return f"{name}: scores calibrated"


def facts(kept: CalibratorFile, event: str, accuracy: float) -> list[tuple[str, str]]:
    """Return what is known of the calibrator."""
    return [
        ("Event", event),
        ("Accuracy", f"Within {accuracy:.4f} of the calibrator, at every score"),
        ("Equal scores", "Scores that agree to 12 digits count as equal"),
        ("Fitted on", f"{kept.n_rows:,} rows"),
        ("Data (SHA-256)", kept.data),
        ("Made by", f"Fractile {kept.made_by}"),
    ]
