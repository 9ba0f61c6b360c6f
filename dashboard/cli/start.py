"""Where the installed command begins: it says what is missing where the core alone is installed."""

# ruff: noqa: E402 - before anything else is imported, nothing is from the working folder

from dashboard import leave_working_folder

leave_working_folder()

import sys
from importlib.util import find_spec

CANNOT = 2
"""As `dashboard.cli.commands.CANNOT`, which needs packages that may be missing."""

MISSING = (
    "Error: The command and the dashboard are not installed, only the library. Expected the extra"
    ' dashboard: pip install "fractile[dashboard]", or the wheel\'s file followed by [dashboard].\n'
)


def main() -> None:
    """Run the command, if what it needs is installed."""
    if find_spec("streamlit") is None or find_spec("click") is None:
        sys.stderr.write(MISSING)
        sys.exit(CANNOT)
    from dashboard.cli.main import main as command  # noqa: PLC0415 - imports click

    command()
