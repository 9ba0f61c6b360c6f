"""Texts that are compared with what was reviewed, and written anew where that is wanted."""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path


def check_reviewed(file: Path, lines: Sequence[str]) -> None:
    """Expect the lines of a file; ``FRACTILE_SNAPSHOTS=write`` writes them, to be reviewed."""
    if os.environ.get("FRACTILE_SNAPSHOTS") == "write":
        file.write_text("\n".join(lines), encoding="utf-8")
    reviewed = file.read_text("utf-8").split("\n")
    assert not list(difflib.unified_diff(reviewed, lines, "reviewed", "now", lineterm="", n=1))
