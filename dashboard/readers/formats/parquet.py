"""Parquet files, decoded one column at a time."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from dashboard.readers.formats.arrow import check_columns, columns_of_fields, table_of
from dashboard.readers.limits import check_rows
from dashboard.readers.records import SUMMARY, FileTable
from dashboard.readers.refusal import FileError, quoted, visible

_LONGEST = 100_000
"""Bytes that a summary may tell of itself."""


def read_parquet(data: bytes, header: bool | None = None) -> FileTable:  # noqa: ARG001, FBT001
    """Read the columns of a Parquet file.

    Lists of as many items become columns with two axes, members of structs columns of their own,
    dates texts, and what no column can hold stays unread.
    """
    if len(data) < 12 or data[:4] not in (b"PAR1", b"PARE"):
        raise FileError("file", "bytes that are not a Parquet file", "a Parquet file")
    if data[-4:] == b"PARE" or data[:4] == b"PARE":
        raise FileError("file", "an encrypted Parquet file", "one without encryption")
    if data[-4:] != b"PAR1":
        raise FileError("file", "a Parquet file without its end", "the whole file: copy it again")
    try:
        return _table(data)
    except MemoryError:
        # Arrow's own is an ArrowException too.
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        damage = visible(str(error).splitlines()[0] if str(error) else type(error).__name__, 120)
        raise FileError(
            "file", f"a damaged Parquet file ({damage})", "one that can be read"
        ) from error


def _table(data: bytes) -> FileTable:
    meta = pq.read_metadata(pa.BufferReader(data))
    check_rows(meta.num_rows)
    check_columns(meta.num_columns)
    schema = meta.schema.to_arrow_schema()
    if len({*schema.names}) < len(schema):
        twice = next(name for k, name in enumerate(schema.names) if name in schema.names[:k])
        raise FileError("file", f"column {quoted(twice)} twice", "each column once")
    file = pq.ParquetFile(
        pa.BufferReader(data), read_dictionary=_texts(meta, schema), page_checksum_verification=True
    )

    def load(name: str) -> pa.ChunkedArray:
        # One at a time: what Arrow has decoded is let go where it was copied.
        column = file.read(columns=[name], use_threads=False).column(name)
        column.validate(full=True)
        if len(column) != meta.num_rows:
            raise pa.ArrowInvalid(f"column {name} has {len(column):,} rows")
        return column

    kinds = {field.name: field.type for field in schema}
    table = table_of(columns_of_fields(kinds, load), meta.num_rows)
    text = (schema.metadata or {}).get(f"fractile.{SUMMARY}".encode(), b"")
    return replace(table, summary=text[:_LONGEST].decode("utf-8", "replace"))


def _texts(meta: pq.FileMetaData, schema: pa.Schema) -> list[str]:
    """Name the columns of texts that Arrow can decode as codes: not those written as changes."""
    changes = {
        chunk.path_in_schema
        for group in map(meta.row_group, range(meta.num_row_groups))
        for chunk in map(group.column, range(meta.num_columns))
        if any(encoding.startswith("DELTA") for encoding in chunk.encodings)
    }
    names = [field.name for field in schema if types.is_string(field.type)]
    return [name for name in names if name not in changes]
