"""Summaries of rows: their columns checked, files added up, and what no summary can show."""

import json
from collections.abc import Container, Mapping, Sequence
from functools import reduce
from itertools import chain, count
from operator import add
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import CalibrationInputError
from calibcore.summary import (
    N_CELLS,
    AnySummary,
    Cells,
    GroupedSummary,
    Names,
    Summary,
    rows_of_groups,
)
from dashboard.readers import ParsedFile, digest_of
from dashboard.readers.limits import MAX_GROUPINGS
from dashboard.readers.records import SUMMARY, FileTable, GroupingColumn
from dashboard.readers.refusal import FileError, visible
from dashboard.readers.upload import Upload

VERSION = 1
"""Of the files that `dashboard.summary_file` writes, and the only one that is read."""

COUNTS = "score", "rows", "events"
CELLS = "cell", "score_total", "event_score_total", "brier_total", "nll_total"
BY = "by "
"""Before the name of a column of groups, so that it is called as no other."""

KIND = f"a summary of version {VERSION}, as fractile summarise writes it"
NO_ROWS = "Single rows, such as those behind a bin: a summary counts rows and keeps none."
NO_PAIRS = "SKCE, and measures of all classes: a summary has the scores of one event."
NO_COLUMN = "Subgroups: no column of few groups was there to count by."
NO_GROUPS = "Subgroups: this summary has none. `fractile summarise --by COLUMN` counts by them."

ColumnCodes = tuple[NDArray[Any], tuple[str, ...]]
"""Of each row, its text by its place among the different ones; these."""


def summary_of(
    columns: Mapping[str, NDArray[Any] | ColumnCodes], text: str, name: str
) -> AnySummary:
    """Return the summary that a file's columns hold.

    ``text``: what the file tells of itself, as JSON. ``name``: of the file, for a refusal.

    Raises `CalibrationInputError` for what is no summary, one of another version, and one that has
    been changed.
    """
    try:
        facts = json.loads(text)
        version = facts["version"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise CalibrationInputError(name, "no summary", KIND) from error
    if version != VERSION:
        raise CalibrationInputError(name, f"a summary of version {version!r:.20}", KIND)
    try:
        return _checked(columns, tuple(facts.get("by", ())), facts["rows"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        actual = f"a damaged summary ({visible(str(error), 120)})"
        raise CalibrationInputError(name, actual, KIND) from error


def _checked(columns: Mapping[str, Any], by: Names, n_rows: int) -> AnySummary:
    summary = _one(columns) if not by else _groups(columns, by)
    if summary.n_samples != n_rows:
        raise ValueError("other numbers of rows than it tells")
    return summary


def _groups(columns: Mapping[str, Any], by: Names) -> GroupedSummary:
    counts = {name: columns[name] for name in (*COUNTS, *CELLS) if name in columns}
    if len(by) > MAX_GROUPINGS:
        raise ValueError(f"{len(by):,} columns of groups")
    groups = [columns[f"{BY}{name}"] for name in by]
    for place, names in groups:
        if len({*names}) < len(names) or place.min() < 0 or place.max() >= len(names):
            raise ValueError("groups that are none")
    rows = rows_of_groups(groups, len(counts["score"]), by)
    return GroupedSummary.of_parts(
        by, {own: _one({name: of[some] for name, of in counts.items()}) for own, some in rows}
    )


def _one(counts: Mapping[str, NDArray[Any]]) -> Summary:
    """Return the summary of one group, or of all rows."""
    scores, rows, events = (counts[name] for name in COUNTS)
    checked = Summary.of_counts(scores, rows, events)
    if checked.scores.size != len(scores):
        raise ValueError("a score twice, or one without rows")
    if "cell" not in counts:
        return checked
    cells = Cells(*(counts[name] for name in CELLS))
    places = cells.place
    if places.dtype != np.int64 or np.any(np.diff(places, prepend=-1, append=N_CELLS) <= 0):
        raise ValueError("cells in disorder")
    if not np.isfinite(cells.columns[1:]).all():
        raise ValueError("sums that are no numbers")
    return Summary(checked.scores, checked.rows, checked.events, cells)


def summary_of_table(table: FileTable, name: str) -> AnySummary:
    """Return the summary of a Parquet file as its format handed it over.

    Raises `FileError` where `summary_of` would raise.
    """
    columns: dict[str, NDArray[Any] | ColumnCodes] = {}
    for one in table.columns:
        if one.unread or one.odd is not None or one.values.ndim != 1:
            raise FileError(visible(name, 60), "a damaged summary (cells without a value)", KIND)
        columns[one.name] = one.values if one.texts is None else (one.values, tuple(one.texts))
    try:
        return summary_of(columns, table.summary, visible(name, 60))
    except CalibrationInputError as error:
        raise FileError(error.field, error.actual, error.expected) from error


def added_up(files: Sequence[ParsedFile]) -> Upload | None:
    """Return what files hold together that are summaries; None of files of rows.

    Raises `FileError` where some are and some are not, or one is damaged.
    """
    tables = [
        (file.name, file.body)
        for file in files
        if isinstance(file.body, FileTable) and file.body.summary
    ]
    if not tables:
        return None
    if len(tables) < len(files):
        wanted = "summaries alone, or files of rows alone"
        raise FileError("files", "summaries beside files of rows", wanted)
    summaries: dict[str, AnySummary] = {}
    for name, table in tables:
        summaries[another(name, summaries)] = summary_of_table(table, name)
    return upload_of(summaries, digest_of([file.digest for file in files]))


def another(name: str, taken: Container[str]) -> str:
    """Return the name of a file if it is not taken; else with a number.

    >>> another("week.parquet", ["week.parquet", "week (2).parquet"])
    'week (3).parquet'
    """
    path = PurePath(name)
    numbered = (f"{path.stem} ({k}){path.suffix}" for k in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)


def upload_of(summaries: Mapping[str, AnySummary], digest: str) -> Upload:
    """Return what summaries of files, by their names, hold together.

    ``digest``: stands for the bytes of all.
    """
    whole = reduce(add, summaries.values())
    columns = {} if isinstance(whole, Summary) else _columns(whole)
    groups = f"Other groups than those of {', '.join(columns)}." if columns else NO_GROUPS
    return Upload(
        name=visible(" + ".join(summaries), 120),
        format=SUMMARY,
        digest=digest,
        rows=whole.event_scores,
        values_kind="scores",
        columns={"rows": columns},
        notes=(size_sentence(whole, len(summaries)), *_lost(summaries, whole)),
        missing=(NO_ROWS, NO_PAIRS, groups),
        summary=whole,
        summaries=summaries,
    )


def _columns(summary: GroupedSummary) -> dict[str, GroupingColumn]:
    """Return what groups are by: of each group, which are the ``groups`` of the rows, its value."""
    columns = {}
    for place, column in enumerate(summary.columns):
        values = [names[place] for names in summary.names]
        texts = sorted({*values})
        codes = np.array([texts.index(value) for value in values], dtype=np.int32)
        columns[column] = GroupingColumn(visible(column, 60), codes, tuple(map(visible, texts)))
    return columns


def size_sentence(summary: AnySummary, n_files: int) -> str:
    """Say how many rows a summary has, in what, and how far its figures may be from theirs.

    ``n_files``: summaries that it is of; 0 where rows of a file were counted.
    """
    whole = summary.whole
    kind = "distinct scores" if whole.is_exact else "cells of scores"
    files = ("", ", from a summary")[n_files] if n_files < 2 else f", from {n_files:,} summaries"
    text = f"Counted by score{files}: {whole.n_samples:,} rows in {whole.scores.size:,} {kind}."
    if whole.is_exact:
        return text
    bounds = whole.error_bounds
    return (
        f"{text} The KS error of the rows is up to {100 * bounds['ks_error']:.1g} pp larger, and"
        f" their AUROC within {bounds['auroc']:.1g}."
    )


def _lost(summaries: Mapping[str, AnySummary], whole: AnySummary) -> tuple[str, ...]:
    """Say which groups are left out, as not all files know them."""
    every = {c: None for one in summaries.values() for c in getattr(one, "columns", ())}
    lost = [column for column in every if column not in getattr(whole, "columns", ())]
    if not lost:
        return ()
    return (f"Left out: the groups of {visible(', '.join(lost), 60)}, which not all files have.",)
