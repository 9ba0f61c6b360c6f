"""Words of the workbook of a calibrator."""

from calibcore.export.calibrator_file import CalibratorFile
from dashboard.wording.take_home import in_percent

SHEET, TABLE, GROUPS = "Calibrator", "Table", "Groups"

SCORE, CALIBRATED, OF_ALL, SHIFT, SLOPE = "Score", "Calibrated", "All groups", "Shift", "Slope"
TABLE_HEAD = (SCORE, CALIBRATED, "Slope up to the next row")
GROUPS_HEAD = ("Group", SHIFT, SLOPE, "From")

READ = "Read as"
UP_TO_1, UNITS = "Scores up to 1 are", ("percent", "shares")
"""Of a sheet in percent, where a cell without a percent sign may be either."""

NO_SCORE = {1: "Not a score from 0 to 1", 100: "Not a score from 0 to 100"}
SCORES = {
    1: "scores from 0 to 1, or with a percent sign,",
    100: "scores in percent, from 0 to 100 or with a percent sign,",
}
"""By what the highest score is, 1 or 100."""

TYPE = "Type or paste {} in column A; column B shows them calibrated."
TYPE_GROUPS = (
    "Type or paste {} in column A and groups in column B; column C shows the scores calibrated."
    " Another group gets the map of all groups."
)
MORE = (
    "The last of these columns shows what each was read as. For more rows, copy the formulas of the"
    " last row down."
)


def which(cell: str) -> str:
    """Return what is asked of a score that may be percent or a share."""
    return f"Percent or a share? Choose in {cell.replace('$', '')}"


def title(name: str) -> str:
    """Return what the workbook is."""
    return f"{name}: scores calibrated"


def in_unit(head: str, unit: int) -> str:
    """Return the head of a column of scores up to 1 or, in percent, to 100."""
    return head if unit == 1 else in_percent(head)


def facts(kept: CalibratorFile, event: str, accuracy: float, unit: int) -> list[tuple[str, str]]:
    """Return what is known of the calibrator."""
    within = f"{accuracy:.4f}" if unit == 1 else f"{100 * accuracy:.2f} percentage points"
    return [
        ("Event", event),
        ("Accuracy", f"Within {within} of the calibrator, at every score"),
        ("Equal scores", "Scores that agree to 12 digits count as equal"),
        ("Fitted on", f"{kept.n_rows:,} rows"),
        ("Data (SHA-256)", kept.data),
        ("Made by", f"Fractile {kept.made_by}"),
    ]
