"""What is said of summaries: those of a folder, and what no summary can show."""

from datetime import UTC, datetime

FOLDER = "Folder"
SUMMARIES = "Summaries"
HELP = "Files in the folder that this server was started with. Several are added up, such as days."
CHOOSE = "Which summaries?"
HOW = (
    "Choose one or more on the left. They are added up and open like a file; several stand one"
    " after another, by name, on the page Models."
)
NONE_THERE = "No summary is in the folder. `fractile summarise` writes them."
HEAD = ("File", "Rows", "Changed")

NEEDS_ROWS = "This page needs single rows, which a summary does not keep."
NO_LIST = "Single rows, such as those behind a bin, cannot be listed: a summary keeps none."
NO_GROUPS = "This summary has no subgroups. `fractile summarise --by COLUMN` counts by them."
NO_HAND = "Setting knots by hand needs single rows, which a summary does not keep."
ONE_ALONE = "Open two summaries or more, such as days, to see them one after another."

SERIES = ("Summary", "Mean gap, pp (95% CI)", "KS error", "Observed frequency", "Rows")
"""A phone shows the first three."""

NOT_TESTED = "Drift is not tested: it takes 30 rows before a period and 30 from it on."
PICTURE = "Mean gap of each summary"
CAPTION = "Mean score minus observed frequency, 95% CI. In the order of the files' names."


def dated(seconds: float) -> str:
    """Return a day as tables have it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
