"""A summary of rows as a small Parquet file, and how rows in many files become one."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from numpy.typing import NDArray

from calibcore.errors import CalibrationInputError
from calibcore.grouping import Grouping
from calibcore.summary import AnySummary, BatchCounts, Summary
from dashboard.readers.records import SUMMARY
from dashboard.readers.refusal import visible
from dashboard.summaries import BY, CELLS, COUNTS, KIND, VERSION, ColumnCodes, summary_of

_KEY = f"fractile.{SUMMARY}".encode()
_BATCH = 1 << 18
"""Rows that are read at a time."""

_NUMBERS = pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal
_GROUPS = (
    pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_string,
    pa.types.is_large_string, pa.types.is_date, pa.types.is_null,
)  # fmt: skip
_WANTED = {
    "score": "numbers from 0 to 1 in every row",
    "outcome": "0, 1 or booleans in every row",
    "by": "texts, numbers or dates",
}


def write_summary(summary: AnySummary) -> bytes:
    """Return a summary as a Parquet file, whose metadata tell its version."""
    facts: dict[str, object] = {"version": VERSION, "rows": summary.n_samples}
    if isinstance(summary, Summary):
        table = _table(summary)
    else:
        table = pa.concat_tables(
            [
                _grouped(*pair, summary.columns)
                for pair in zip(summary.parts, summary.names, strict=True)
            ]
        )
        facts["by"] = list(summary.columns)
    sink = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata({_KEY: json.dumps(facts)}), sink, compression="zstd"
    )
    return bytes(sink.getvalue())


def _table(summary: Summary) -> pa.Table:
    columns = dict(zip(COUNTS, (summary.scores, summary.rows, summary.events), strict=True))
    if summary.cells is not None:
        columns |= dict(zip(CELLS, summary.cells.columns, strict=True))
    return pa.table(columns)


def _grouped(part: Summary, names: Sequence[str], columns: Sequence[str]) -> pa.Table:
    table = _table(part)
    own = {
        f"{BY}{column}": pa.repeat(name, len(table))
        for column, name in zip(columns, names, strict=True)
    }
    return pa.table({**own, **dict(zip(table.column_names, table.columns, strict=True))})


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


def are_summaries(files: Sequence[Path]) -> bool:
    """Return whether files are summaries.

    Raises `CalibrationInputError` where some are, and some are not.
    """
    kinds = {is_summary(path) for path in files}
    if len(kinds) > 1:
        wanted = "summaries alone, or files of rows alone"
        raise CalibrationInputError("files", "summaries beside files of rows", wanted)
    return kinds == {True}


def read_summaries(paths: Sequence[Path]) -> AnySummary:
    """Read the files of summaries, and add them up.

    Raises `CalibrationInputError` for a file that is no summary, or one of another version.
    """
    return reduce(add, (parse_summary(path.read_bytes(), path.name) for path in paths))


def parse_summary(data: bytes, name: str) -> AnySummary:
    """Read a summary; ``name`` is of its file, for a refusal.

    Raises `CalibrationInputError` for what is no summary, one of another version, and one that has
    been changed.
    """
    try:
        table = pq.read_table(pa.BufferReader(data))
        columns = {column: _values(table[column]) for column in table.column_names}
    except (pa.ArrowException, OSError) as error:
        raise CalibrationInputError(name, "no summary", KIND) from error
    text = (table.schema.metadata or {}).get(_KEY, b"")
    return summary_of(columns, text.decode("utf-8", "replace"), name)


def _values(cells: pa.ChunkedArray) -> NDArray[np.generic] | ColumnCodes:
    if not pa.types.is_string(cells.type):
        return np.asarray(cells.to_numpy())
    coded = cells.dictionary_encode().combine_chunks()
    whole = coded if isinstance(coded, pa.DictionaryArray) else coded.chunk(0)
    places = pc.fill_null(whole.indices, -1).to_numpy()
    return places, tuple(whole.dictionary.to_pylist())


TAIL = 1 << 16
"""Last bytes of a file, in which it tells what it is."""

_TELLS = re.compile(rb'\{"version": \d{1,9}, "rows": (\d{1,15})[,}]')


def rows_in_tail(end: bytes) -> int | None:
    """Return how many rows a file tells that is a summary; None of any other.

    No part of the file is parsed: it is sought in the last bytes, which are given.

    >>> rows_in_tail(write_summary(Summary.of([0.2, 0.6], [0, 1]))[-1000:])
    2
    """
    if not end.endswith(b"PAR1") or _KEY not in end:
        return None
    place = _TELLS.search(end)
    return None if place is None else int(place[1])


def summarise(
    paths: Sequence[Path],
    score: str,
    outcome: str,
    tell: Callable[[float], None],
    by: Sequence[str] = (),
) -> AnySummary:
    """Count the rows of Parquet files by score, a batch at a time, whatever their number.

    ``score``, ``outcome``: names of columns. Outcomes are booleans, or 0 and 1. ``tell``: is told
    the share of the rows that is done. ``by``: columns of groups, or parts of the path of a file
    such as ``region=eu``; no other column is read.

    Raises `CalibrationInputError`, which names the file, for one that is no Parquet, a column that
    is not there, values that are no score or outcome, and more groups than are counted.
    """
    wanted = {"score": score, "outcome": outcome}
    files = [(path, _opened(path, wanted, by)) for path in paths]
    total, done = sum(opened.count_rows() for _, opened in files), 0
    if not total:
        raise CalibrationInputError("files", "no row in any", "files with rows")
    counts = BatchCounts(by)
    for path, opened in files:
        first = 0
        for batch in _batches(path, opened, wanted, by):
            with _named(f"{path.name}, rows from {first + 1:,} on"):
                scores, outcomes = _columns(batch, wanted)
                counts.add(scores, outcomes, groups_of(batch, by))
            first, done = first + batch.num_rows, done + batch.num_rows
            tell(done / total)
    return counts.summary


def groups_of(
    batch: pa.RecordBatch, by: Sequence[str]
) -> list[tuple[NDArray[np.int64], Sequence[str]]]:
    """Return the groups of rows in each column ``by``, whose own name there begins with `BY`."""
    return [_group(batch[f"{BY}{name}"]) for name in by]


def _group(cells: pa.Array) -> tuple[NDArray[np.int64], Sequence[str]]:
    """Return the place of each row among texts, and these."""
    coded = cells.dictionary_encode(null_encoding="encode")
    values = coded.dictionary.to_pylist()
    known = Grouping.of(np.array(values, dtype=np.object_))
    return known.numbers(np.array(values, dtype=np.object_))[coded.indices.to_numpy()], known.names


def _opened(path: Path, wanted: Mapping[str, str], by: Sequence[str]) -> ds.Dataset:
    try:
        opened = ds.dataset(path, format="parquet", partitioning="hive")
    except (pa.ArrowException, OSError) as error:
        raise CalibrationInputError(path.name, "no Parquet file", "files of Parquet") from error
    named = [*wanted.items(), *(("by", column) for column in by)]
    for field, column in named:
        if opened.schema.names.count(column) != 1:
            problem = f"no column {column!r} in {path.name}, or several"
            names = visible(", ".join(opened.schema.names))
            raise CalibrationInputError(field, problem, f"one of its columns: {names}")
        kind = opened.schema.field(column).type
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not any(is_of(plain) for is_of in (_GROUPS if field == "by" else _NUMBERS)):
            problem = f"{kind} in column {column!r} of {path.name}"
            raise CalibrationInputError(field, problem, _WANTED[field])
    return opened


def _batches(
    path: Path, opened: ds.Dataset, wanted: Mapping[str, str], by: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Read batches, few at a time, as what is read ahead stays in memory."""
    columns = {field: ds.field(column).cast("float64") for field, column in wanted.items()}
    for column in by:
        kind = opened.schema.field(column).type
        plain = ds.field(column).cast(kind.value_type) if pa.types.is_dictionary(kind) else None
        columns[f"{BY}{column}"] = ds.field(column) if plain is None else plain
    try:
        read = opened.to_batches(
            columns, batch_size=_BATCH, batch_readahead=1, fragment_readahead=1
        )
        yield from (batch for batch in read if batch.num_rows)
    except (pa.ArrowException, OSError) as error:
        raise CalibrationInputError(path.name, "a damaged file", "files of Parquet") from error


def check_columns(
    columns: Iterable[object], score: str, outcome: str, by: Sequence[str] = ()
) -> None:
    """Refuse a frame of an engine without the columns that are counted."""
    names = [*map(str, columns)]
    for field, column in (("score", score), ("outcome", outcome), *(("by", one) for one in by)):
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
        names = {"scores": "score", "hits": "outcome", "groups": "by"}
        field = names.get(error.field, error.field)
        actual = f"{error.actual} {'in' if field == error.field else 'of'} {where}"
        wanted = error.expected if field == "by" else _WANTED[field]
        raise CalibrationInputError(field, actual, wanted) from error
