"""A summary of rows as a small Parquet file."""

import json
import re
from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from calibcore.errors import CalibrationInputError
from calibcore.summary import AnySummary, Summary
from dashboard.readers.records import SUMMARY
from dashboard.remote import InputFile, RemoteFile, opened_by
from dashboard.summaries import BY, CELLS, COUNTS, KIND, VERSION, ColumnCodes, summary_of

_KEY = f"fractile.{SUMMARY}".encode()


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


def is_summary(path: InputFile) -> bool:
    """Return whether a file is a summary, of any version, by its metadata alone.

    What has another ending is not opened, as a pipe can be read only once.
    """
    if path.suffix.lower() != ".parquet" or not (isinstance(path, RemoteFile) or path.is_file()):
        return False
    try:
        return _KEY in (pq.read_schema(*opened_by(path).values()).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def are_summaries(files: Sequence[InputFile]) -> bool:
    """Return whether files are summaries.

    Raises `CalibrationInputError` where some are, and some are not.
    """
    kinds = {is_summary(path) for path in files}
    if len(kinds) > 1:
        wanted = "summaries alone, or files of rows alone"
        raise CalibrationInputError("files", "summaries beside files of rows", wanted)
    return kinds == {True}


def read_summaries(paths: Sequence[InputFile]) -> AnySummary:
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
