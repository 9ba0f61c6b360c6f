"""A summary of rows as a small Parquet file, and how rows in many files become one."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from numpy.typing import NDArray

from calibcore.errors import CalibrationInputError
from calibcore.summary import MOST_SCORES, N_CELLS, Cells, GridCounts, Summary
from dashboard.readers.refusal import visible

VERSION = 1
"""Of the files that are written here, and the only one that is read."""

_KEY = b"fractile.summary"
_COUNTS = "score", "rows", "events"
_CELLS = "cell", "score_total", "event_score_total", "brier_total", "nll_total"
_BATCH, _POOLED = 1 << 18, 2 * MOST_SCORES
"""Rows that are read at a time; blocks of scores that are counted before they are added up."""

_NUMBERS = pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal
_WANTED = {"score": "numbers from 0 to 1 in every row", "outcome": "0, 1 or booleans in every row"}
_KIND = f"a summary of version {VERSION}, as fractile summarise writes it"


def write_summary(summary: Summary) -> bytes:
    """Return a summary as a Parquet file, whose metadata tell its version.

    Examples
    --------
    >>> parse_summary(write_summary(Summary.of([0.2, 0.6], [0, 1])), "two rows").n_samples
    2
    """
    columns = dict(zip(_COUNTS, (summary.scores, summary.rows, summary.events), strict=True))
    if summary.cells is not None:
        columns |= dict(zip(_CELLS, summary.cells.columns, strict=True))
    facts = {"version": VERSION, "rows": summary.n_samples}
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(facts)})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def is_summary(path: Path) -> bool:
    """Return whether a file is a summary, of any version, by its metadata alone.

    What has another ending is not opened, as a pipe can be read only once.
    """
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    try:
        return _KEY in (pq.read_schema(path).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def read_summaries(paths: Sequence[Path]) -> Summary:
    """Read the files of summaries, and add them up.

    Raises
    ------
    CalibrationInputError
        A file that is no summary, or one of another version.
    """
    return reduce(add, (parse_summary(path.read_bytes(), path.name) for path in paths))


def parse_summary(data: bytes, name: str) -> Summary:
    """Read a summary; ``name`` is of its file, for a refusal.

    Raises
    ------
    CalibrationInputError
        What is no summary, one of another version, or one that has been changed.
    """
    try:
        table = pq.read_table(pa.BufferReader(data))
        facts = json.loads((table.schema.metadata or {})[_KEY])
        version = facts["version"]
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise CalibrationInputError(name, "no summary", _KIND) from error
    if version != VERSION:
        raise CalibrationInputError(name, f"a summary of version {version}", _KIND)
    try:
        return _of_table(table, facts["rows"])
    except (KeyError, TypeError, ValueError) as error:
        raise CalibrationInputError(name, f"a damaged summary ({error})", _KIND) from error


def _of_table(table: pa.Table, n_rows: int) -> Summary:
    arrays = {column: table[column].to_numpy() for column in table.column_names}
    scores, rows, events = (arrays[column] for column in _COUNTS)
    checked = Summary.of_counts(scores, rows, events)
    if checked.n_samples != n_rows or checked.scores.size != len(scores):
        raise ValueError("other numbers of rows than it tells")
    if "cell" not in arrays:
        return checked
    cells = Cells(*(arrays[column] for column in _CELLS))
    places = cells.place
    if places.dtype != np.int64 or np.any(np.diff(places, prepend=-1, append=N_CELLS) <= 0):
        raise ValueError("cells in disorder")
    if not np.isfinite(cells.columns[1:]).all():
        raise ValueError("sums that are no numbers")
    return Summary(checked.scores, checked.rows, checked.events, cells)


def summarise(
    paths: Sequence[Path], score: str, outcome: str, tell: Callable[[float], None]
) -> Summary:
    """Count the rows of Parquet files by score, a batch at a time, whatever their number.

    ``score``, ``outcome``: names of columns; no other is read. Outcomes are booleans, or 0 and 1.
    ``tell``: is told the share of the rows that is done.

    Raises
    ------
    CalibrationInputError
        A file that is no Parquet, a column that is not there, or values that are no score or
        outcome; it names the file.
    """
    wanted = {"score": score, "outcome": outcome}
    files = [(path, _opened(path, wanted)) for path in paths]
    total, done = sum(opened.count_rows() for _, opened in files), 0
    parts: list[Summary] = []
    grid: GridCounts | None = None
    for path, opened in files:
        first = 0
        for batch in _batches(path, opened, wanted):
            with _named(f"{path.name}, rows from {first + 1:,} on"):
                rows = _columns(batch, wanted)
                if grid is None:
                    parts.append(Summary.of(*rows))
                else:
                    grid.add(*rows)
            first, done = first + batch.num_rows, done + batch.num_rows
            tell(done / total)
            if sum(part.scores.size for part in parts) > _POOLED:
                parts = [reduce(add, parts)]
                if not parts[0].is_exact:  # from now on no score needs to be sorted
                    grid, parts = GridCounts(parts[0]), []
    if grid is not None:
        return grid.summary
    if not parts:
        raise CalibrationInputError("files", "no row in any", "files with rows")
    return reduce(add, parts)


def _opened(path: Path, wanted: Mapping[str, str]) -> ds.Dataset:
    try:
        opened = ds.dataset(path, format="parquet")
    except (pa.ArrowException, OSError) as error:
        raise CalibrationInputError(path.name, "no Parquet file", "files of Parquet") from error
    for field, column in wanted.items():
        if opened.schema.names.count(column) != 1:
            problem = f"no column {column!r} in {path.name}, or several"
            names = visible(", ".join(opened.schema.names))
            raise CalibrationInputError(field, problem, f"one of its columns: {names}")
        if not any(is_of(opened.schema.field(column).type) for is_of in _NUMBERS):
            problem = f"{opened.schema.field(column).type} in column {column!r} of {path.name}"
            raise CalibrationInputError(field, problem, _WANTED[field])
    return opened


def _batches(path: Path, opened: ds.Dataset, wanted: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
    """Read batches, few at a time, as what is read ahead stays in memory."""
    columns = {field: ds.field(column).cast("float64") for field, column in wanted.items()}
    try:
        read = opened.to_batches(
            columns, batch_size=_BATCH, batch_readahead=1, fragment_readahead=1
        )
        yield from (batch for batch in read if batch.num_rows)
    except (pa.ArrowException, OSError) as error:
        raise CalibrationInputError(path.name, "a damaged file", "files of Parquet") from error


def check_columns(columns: Iterable[object], score: str, outcome: str) -> None:
    """Refuse a frame of an engine without the columns that are counted.

    Raises
    ------
    CalibrationInputError
        No column of that name.
    """
    names = [*map(str, columns)]
    for field, column in {"score": score, "outcome": outcome}.items():
        if column not in names:
            wanted = f"one of the frame's columns: {', '.join(names[:20])}"
            raise CalibrationInputError(field, f"no column {column!r}", wanted)


def _columns(batch: pa.RecordBatch, wanted: Mapping[str, str]) -> list[NDArray[np.float64]]:
    """Return scores and outcomes."""
    for field in wanted:
        if batch[field].null_count:
            raise CalibrationInputError(field, "no value", _WANTED[field])
    return [batch[field].to_numpy(zero_copy_only=False) for field in wanted]


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Tell of a refusal which file and rows it is of."""
    try:
        yield
    except CalibrationInputError as error:
        field = {"scores": "score", "hits": "outcome"}.get(error.field, error.field)
        actual = f"{error.actual} {'in' if field == error.field else 'of'} {where}"
        raise CalibrationInputError(field, actual, _WANTED[field]) from error
