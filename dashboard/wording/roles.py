"""The words of columns and arrays of a file: their roles, and hints where many are shown."""

from collections.abc import Mapping

from dashboard.readers.records import ColumnRole

COLUMNS = "Columns"
COLUMNS_HELP = "First rows as in the file. Change what a column is for in its heading."
COLUMNS_REFUSED = "First rows that cannot be used. Change what a column is for in its heading."
ARRAYS = "Arrays"
ARRAYS_HELP = "Change what an array is for here."
ROW = "row"
ROLES: Mapping[ColumnRole, str] = {
    "outcome": "Outcome (true class)",
    "score": "Score of the event",
    "class": "Class score",
    "prediction": "Predicted class",
    "correct": "Correct (yes/no)",
    "id": "Row ID",
    "set": "Calibration / test",
    "group": "Grouping",
    "date": "Date (by month)",
    "ranked class": "Ranked class",
    "ranked score": "Ranked score",
    "left out": "Left out",
}
"""What each role is called in the select of a column."""

OF_USE: Mapping[str, ColumnRole] = {
    "label": "outcome", "hit": "correct", "slice": "group", "prediction": "prediction",
    "class": "class", "score": "score", "set": "set", "left out": "left out",
}  # fmt: skip
"""Roles of what is known by its use alone: arrays, and columns beyond the preview's."""

NOT_DETECTED = "Not detected"
CHOSEN = "chosen by you"
UNNAMED = "no name"


def sideways(n_columns: int) -> str:
    """Return the hint that not all columns are in sight at once."""
    return f"{n_columns:,} columns; scroll sideways to see all \u2192"


def more_columns(n_columns: int) -> str:
    """Return the label of the select for further columns."""
    return f"{n_columns:,} more columns"


MORE_PLACEHOLDER = "Choose one to set its role"
