"""Rows in many files become a summary, and summaries are audited without the rows."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass
from calibcore.metrics import EventMeasure
from calibcore.summary import Period, Summary, in_time
from dashboard.cli.commands import SUBGROUP, Condition
from dashboard.cli.output import Lines, write_file
from dashboard.cli.terminal import write
from dashboard.document.blocks import Sentences
from dashboard.engines import summarise_on
from dashboard.settings import NO_METHOD
from dashboard.spark import summarise_spark_files
from dashboard.summary_file import is_summary, read_summaries, summarise, write_summary
from dashboard.texts.advice import drift_line, drifts
from dashboard.texts.events import event_words
from dashboard.texts.measures import listed
from dashboard.texts.numbers import amount, percent, plain
from dashboard.texts.tiles import NOT_SEPARATION, in_the_nll
from dashboard.texts.verdict import findings, verdict_lines, where_off
from dashboard.views.overview.document import measures_table

_SERVES = "files", "resamples", "calibrator", "bins", "seed"
"""Options of an audit that a summary allows."""


def are_summaries(files: Sequence[Path]) -> bool:
    """Return whether files are summaries.

    Raises
    ------
    CalibrationInputError
        Some are, and some are not.
    """
    kinds = {is_summary(path) for path in files}
    if len(kinds) > 1:
        wanted = "summaries alone, or files of rows alone"
        raise CalibrationInputError("files", "summaries beside files of rows", wanted)
    return kinds == {True}


def audit_summaries(given: Mapping[str, Any], fail_if: Sequence[str], *, full: bool) -> bool:
    """Add summaries up, evaluate and print them; return whether a condition holds.

    Parameters are those of `dashboard.cli.terminal.audit_files`.

    Raises
    ------
    CalibrationInputError
        An option that needs the rows; what is no summary, or one of another version.
    """
    conditions = [Condition.parse(text) for text in fail_if]
    _refuse_rows(given, conditions)
    summary = read_summaries(given["files"])
    calibrated = given["calibrator"] not in {None, NO_METHOD}
    result = summary.audit(
        calibrator=given["calibrator"] if calibrated else None,
        n_bins=given["bins"],
        seed=given["seed"],
    )
    event = OneClass(1)
    measures = [one for one in listed(full=full, event=event) if isinstance(one, EventMeasure)]
    intervals = None
    if n_resamples := given["resamples"]:
        keys = (one.key for one in measures)
        with _progress("Finding intervals") as tell:
            intervals = result.intervals(*keys, n_resamples=n_resamples, progress=tell)
    words = event_words(event, ("0", "1"), "outcome")
    console, badges = Lines(), findings(result, result.test, words)
    console.print(escape(plain(heading(given["files"], summary))), style="bold", soft_wrap=True)
    lines = verdict_lines(result.test, words, badges, given["calibrator"] or NO_METHOD)
    write(
        console,
        Sentences("verdict", (*lines.values(), *where_off(result.test, badges).values())),
        measures_table(
            result.test, intervals, measures, both=calibrated, closer=intervals is not None
        ),
    )
    notes = NOT_SEPARATION, in_the_nll(result.test, calibrated=calibrated), _limits(summary)
    for note in filter(None, (*notes, *map(escape, result.warnings))):
        console.print(note, soft_wrap=True)
    figures = {one.measure.key: one.after for one in result.test.comparisons}
    holding = [one for one in conditions if one.holds(figures)]
    for one in holding:
        console.print(f"Fails: {one} ({figures[one.name]:.4g})", style="bold red", soft_wrap=True)
    return bool(holding)


def heading(files: Sequence[Path], summary: Summary) -> str:
    """Return the names of files of summaries, and how many rows and events they count."""
    words = event_words(OneClass(1), ("0", "1"), "outcome")
    n_rows, n_events = summary.n_samples, int(summary.events.sum())
    names, more = ", ".join(path.name for path in files[:3]), len(files) - 3
    heads = (
        names + (f" and {more} more" if more > 0 else ""),
        f"{words.plain}: {n_events:,} of {n_rows:,} ({percent(n_events / n_rows, n_rows)})",
        f"summary of {n_rows:,} rows",
    )
    return " \u00b7 ".join(heads)


def series_of_summaries(files: Sequence[Path], n_resamples: int) -> bool:
    """Print summaries in the order of their names, a row each; return whether a drift is detected.

    Raises
    ------
    CalibrationInputError
        One summary alone, or what is none.
    """
    if len(files) < 2 or not are_summaries(files):
        wanted = "two summaries or more, as fractile summarise writes them"
        raise CalibrationInputError("files", "no series", wanted)
    parts = {path.stem: read_summaries([path]) for path in sorted(files)}
    periods, drift = in_time(parts, n_resamples=n_resamples)
    console = Lines()
    console.table(_SERIES, [_of_period(one) for one in periods])
    names = [one.name for one in periods]
    if drift is None:
        text = "Drift is not tested: it takes 30 rows before a period and 30 from it on."
    else:
        text = drift_line("the files", names, (drift, None), expert=True).replace("**", "")
    console.print(escape(text), style="bold" if drifts(drift) else None, soft_wrap=True)
    return drifts(drift)


_SERIES = "Summary", "Rows", "Observed frequency", "KS error", "Mean gap, pp (95% CI)"


def _of_period(one: Period) -> tuple[str, ...]:
    n_rows = one.n_samples
    gap, low, high = (
        amount(value, "share", n_rows, signed=True)
        for value in (one.mean_gap, one.interval.low, one.interval.high)
    )
    shares = (percent(value, n_rows) for value in (one.hit_rate, one.ks_error))
    return one.name, f"{n_rows:,}", *shares, f"{gap} ({low} to {high})"


def _refuse_rows(given: Mapping[str, Any], conditions: Sequence[Condition]) -> None:
    of_rows = (name for name, value in given.items() if value and name not in _SERVES)
    option = next(of_rows, None)
    if option is not None:
        wanted = "none with a summary, which counts rows by score and does not keep them"
        raise CalibrationInputError(option.replace("_", "-"), "an option for rows", wanted)
    if any(one.name == SUBGROUP for one in conditions):
        wanted = "the key of a measure, as a summary has no subgroups"
        raise CalibrationInputError("condition", SUBGROUP, wanted)


def _limits(summary: Summary) -> str:
    """Return what a summary does not tell, and how far its figures may be from those of rows."""
    unknown = "Subgroups need the rows, which a summary does not keep."
    if summary.is_exact:
        return unknown
    bounds = summary.error_bounds
    return (
        f"Scores are counted in {summary.scores.size:,} cells: the KS error of the rows is up to"
        f" {100 * bounds['ks_error']:.1g} pp larger, and their AUROC within"
        f" {bounds['auroc']:.1g}. {unknown}"
    )


def summarise_files(
    files: Sequence[Path],
    columns: tuple[str, str],
    out: Path,
    *,
    scheduler: str | None = None,
    master: str | None = None,
) -> str:
    """Count the rows of files by score, here or on a cluster, write the summary, and say so.

    ``columns``: of the score and of the outcome. ``scheduler``: address of a Dask cluster.
    ``master``: of a Spark cluster.
    """
    if scheduler is not None and master is not None:
        raise CalibrationInputError("master", "a scheduler too", "one of the two")
    if scheduler is not None:
        summary = summarise_on(scheduler, files, *columns)
    elif master is not None:
        summary = summarise_spark_files(master, files, *columns)
    else:
        summary = _here(files, columns)
    data = write_summary(summary)
    try:
        write_file(out, data)
    except OSError as error:
        raise CalibrationInputError("out", str(out), "a place to write to") from error
    kind = "distinct scores" if summary.is_exact else "cells of scores"
    size = f"{summary.scores.size:,} {kind}, {len(data):,} bytes"
    return f"{out}: {summary.n_samples:,} rows in {size}"


def _here(files: Sequence[Path], columns: tuple[str, str]) -> Summary:
    with _progress("Counting") as tell:
        return summarise(files, *columns, tell)


@contextmanager
def _progress(work: str) -> Iterator[Callable[[float], None]]:
    """Show how much of slow work is done."""
    shown = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    quiet, console = not sys.stderr.isatty(), Console(stderr=True)
    with Bar(*shown, console=console, transient=True, disable=quiet) as progress:
        task = progress.add_task(work, total=1.0)
        yield lambda share: progress.update(task, completed=share)
