"""Words of the downloads of a calibrator."""

from collections.abc import Sequence

from dashboard.texts.methods import method_name
from dashboard.texts.numbers import escape_markdown, listing
from dashboard.texts.rows import rows_of

TITLE = "Use this calibrator"

CALIBRATOR = "Calibrator (JSON)"
CODE = "NumPy code (.py)"
ONNX = "ONNX model"
WORKBOOK = "Spreadsheet (.xlsx)"
ROWS = {
    ".csv": "Calibrated rows (CSV)",
    ".parquet": "Calibrated rows (Parquet)",
    ".npz": "Calibrated rows (npz)",
}
"""By the ending of the file."""
SCORES = "Score table (CSV)"
SCORE_HEAD = ("score", "calibrated")
BEYOND_HEAD = "beyond the fitted scores"
BELOW, ABOVE = "below", "above"
"""Of a score lower, or higher, than all that a calibrator was fitted on."""

CROSSED = (
    "Everything saved here is by this fit to all rows; the pages show cross-validated values,"
    " which differ a little."
)
SHARES = (
    "Rows, spreadsheet and score table are in percent, as in the file; in Python and in the ONNX"
    " model scores are from 0 to 1."
)

HOW = (
    "`fractile calibrate new.csv --with calibrator.json --out calibrated.csv` applies the file to"
    " new rows, which need no outcomes; in Python,"
    " `calibcore.export.calibrator_file.CalibratorFile.from_json(text).apply(table)`. Other"
    " classes, or values that do not look like those it was fitted on, are refused."
)


APPLY = "Apply a saved calibrator"
APPLY_HELP = (
    "A calibrator (JSON) that was saved under **Use this calibrator** or by `fractile fit`. These"
    " rows need no outcomes; the calibrated ones are saved as a file."
)
NOT_APPLIED = "Calibrator not applied"


def applied(n_rows: int, n_fitted: int) -> str:
    """Return that rows are calibrated, and by what."""
    fitted = f" The calibrator was fitted on {rows_of(n_fitted)}." if n_fitted else ""
    return f"{rows_of(n_rows).capitalize()} calibrated.{fitted}"


def in_percent(name: str) -> str:
    """Return the name of a column that is in percent."""
    return f"{name} (%)"


def unfitted(n_rows: int, n_columns: int = 1) -> list[str]:
    """Return how many rows have a group that was not fitted, and what they got.

    ``n_columns``: that tell groups.

    >>> unfitted(0), unfitted(2)
    ([], ['2 rows are of groups that were not fitted: they got the map of all rows.'])
    >>> unfitted(1, 3)
    ['1 row is of a group that was not fitted: it got no correction for that column.']
    """
    if not n_rows:
        return []
    are = "is of a group that was" if n_rows == 1 else "are of groups that were"
    got = "it" if n_rows == 1 else "they"
    what = "the map of all rows" if n_columns < 2 else "no correction for that column"
    return [f"{rows_of(n_rows)} {are} not fitted: {got} got {what}."]


def by_group(columns: Sequence[str], *, table: bool) -> str:
    """Return what new rows need, for Markdown; ``table``: whether a table of scores tells it."""
    names = listing([escape_markdown(column) for column in columns])
    names = f"column{'s' * (len(columns) > 1)} {names}"
    if table:
        return (
            f"New rows need the {names}; those of a group that was not fitted get the map of all"
            " rows."
        )
    return f"New rows need the {names}; a group that was not fitted gets no correction. {NO_TABLE}"


NO_TABLE = (
    "There is no spreadsheet, score table or ONNX model of corrections by group and range of"
    " scores."
)


def fitted_on(method: str, n_rows: int) -> str:
    """Return what the file holds."""
    return (
        f"{method_name(method)}, fitted on all {rows_of(n_rows)} of the calibration set. The file"
        " says what it takes, on which data it was fitted, and how it did."
    )
