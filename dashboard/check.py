"""``fractile check``: a new batch beside an audited one."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from calibcore.batches import compare_batches
from calibcore.errors import CalibrationInputError
from dashboard.headless import event_of, read_paths, scene_of
from dashboard.report.reference import Reference, read_reference
from dashboard.terminal import WIDE, options_of
from dashboard.wording import check as words
from dashboard.wording.plain import plain
from dashboard.wording.subject import subject


def check_files(given: Mapping[str, Any]) -> bool:
    """Compare files with an audit, print what changed, and return whether anything did.

    Parameters
    ----------
    given : mapping
        The command's options by their names; what is not given is as in the audit.

    Raises
    ------
    CalibrationInputError
        Whatever cannot be read, or has not the audited event.
    """
    audited = _read(given["against"])
    reading = _as_audited(given, audited.reading)
    upload = read_paths(reading["files"], options_of(reading))
    scene = scene_of(
        upload, event=event_of(upload, reading["event"]), n_resamples=0, progress=lambda _: None
    )
    found = compare_batches(audited.counted, scene.evaluated.before.counted, size=given["change"])
    console = Console(width=None if sys.stdout.isatty() else WIDE)
    console.print(escape(plain(subject(scene))), style="bold", soft_wrap=True)
    console.print(escape(f"Against: {audited.subject}"), soft_wrap=True)
    style = "bold red" if found.moved else None
    console.print(escape(words.conclusion(found)), style=style, soft_wrap=True)
    table = Table(*words.HEAD, box=None, pad_edge=False)
    for row in found.rows:
        table.add_row(*map(escape, words.cells(row, found)))
    console.print(table)
    for text in (words.power(found), words.NOTE):
        console.print(escape(text), soft_wrap=True)
    return bool(found.moved)


def _as_audited(given: Mapping[str, Any], audited: Mapping[str, Any]) -> dict[str, Any]:
    """Return how files are read: as the audited one, but for what is given."""
    named = [role for role in ("outcome", "score") if given[role] is not None]
    columns = [text for text in audited.get("columns", ()) if text.rpartition("=")[2] not in named]
    kept = {name: given[name] or value for name, value in audited.items() if name in given}
    return {**given, **kept, "columns": [*columns, *given["columns"]]}


def _read(path: Path) -> Reference:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CalibrationInputError("against", str(path), "the JSON of a report") from error
    return read_reference(text)
