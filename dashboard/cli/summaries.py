"""Rows in many files become a summary, and summaries are audited without the rows."""

from collections.abc import Sequence
from pathlib import Path

from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass
from calibcore.summary import AnySummary, GroupedSummary, in_time
from dashboard.cli.engine import Counting
from dashboard.cli.output import Lines, showing_progress, write_file
from dashboard.cli.terminal import write
from dashboard.remote import InputFile, RemoteFile
from dashboard.summary_file import are_summaries, read_summaries, write_summary
from dashboard.texts.advice import drifts
from dashboard.texts.events import event_words
from dashboard.texts.numbers import percent
from dashboard.views.models.document import series_blocks


def heading(files: Sequence[InputFile], summary: AnySummary) -> str:
    """Return the names of files of summaries, and how many rows and events they count."""
    words = event_words(OneClass(1), ("0", "1"), "outcome")
    n_rows, n_events = summary.n_samples, summary.n_events
    names, more = ", ".join(path.name for path in files[:3]), len(files) - 3
    heads = (
        names + (f" and {more} more" if more > 0 else ""),
        f"{words.plain}: {n_events:,} of {n_rows:,} ({percent(n_events / n_rows, n_rows)})",
        f"summary of {n_rows:,} rows",
    )
    return " \u00b7 ".join(heads)


def series_of_summaries(files: Sequence[InputFile], n_resamples: int) -> bool:
    """Print summaries in the order of their names, a row each; return whether a drift is detected.

    Raises `CalibrationInputError` for one summary alone, and for what is none.
    """
    if len(files) < 2 or not are_summaries(files):
        wanted = "two summaries or more, as fractile summarise writes them"
        raise CalibrationInputError("files", "no series", wanted)
    parts = {
        name: read_summaries([path]).whole for path, name in _names(sorted(files, key=str)).items()
    }
    periods, drift = in_time(parts, n_resamples=n_resamples)
    console = Lines()
    write(console, *reversed(series_blocks(periods, drift, expert=True)))
    return drifts(drift)


def _names(files: Sequence[InputFile]) -> dict[InputFile, str]:
    """Name files by their stems, and by as many folders as it takes for each to differ."""
    parts = {path: (*path.folders, path.stem) if isinstance(path, RemoteFile)
             else (*path.absolute().parent.parts, path.stem) for path in files}  # fmt: skip
    for n_parts in range(1, max(map(len, parts.values())) + 1):
        names = {path: "/".join(its[-n_parts:]) for path, its in parts.items()}
        if len({*names.values()}) == len(files):
            return names
    return {path: str(path) for path in files}  # which differ in their endings alone


def summarise_files(files: Sequence[InputFile], counting: Counting, out: Path) -> str:
    """Count the rows of files by score, here or on a cluster, write the summary, and say so."""
    with showing_progress("Counting") as tell:
        summary = counting.summary(files, tell)
    data = write_summary(summary)
    try:
        write_file(out, data)
    except OSError as error:
        raise CalibrationInputError("out", str(out), "a place to write to") from error
    whole = summary.whole
    kind = "distinct scores" if whole.is_exact else "cells of scores"
    size = f"{whole.scores.size:,} {kind}, {len(data):,} bytes"
    groups = ""
    if isinstance(summary, GroupedSummary):
        groups = f"; {len(summary.names):,} groups of {' and '.join(summary.columns)}"
    return f"{out}: {summary.n_samples:,} rows in {size}{groups}"
