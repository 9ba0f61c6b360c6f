"""Rows on Spark become a summary: it reads and maps, the core counts and adds."""

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from calibcore.auditing import AuditResult
from calibcore.errors import CalibrationInputError
from calibcore.summary import AnySummary
from dashboard.counting import Columns, Part, Rows, Sum, Work, Workers, chunks, pooled
from dashboard.remote import InputFile
from dashboard.summaries import BY
from dashboard.summary_file import parse_summary, write_summary

_PART = "part binary, refusal array<string>"


def summarise_spark(
    frame: Any, score: str, outcome: str, by: Sequence[str] = (), count: str | None = None
) -> AnySummary:
    """Count the rows of a Spark data frame by score, where its partitions are.

    Partitions are counted batch by batch (``mapInArrow``) and added up in a tree; retries and
    spilling are Spark's. ``frame``: a pyspark.sql.DataFrame, of which no other columns than
    ``score``, ``outcome``, those of groups, ``by``, and how many equal rows each stands for,
    ``count``, are computed. Needs the extra ``spark``, on the workers too.

    Raises `CalibrationInputError` for a column that is not there, no row, a partition with values
    that are no score or outcome, and more groups than are counted.
    """
    columns = Columns(score, outcome, tuple(by), count)
    columns.check(frame.columns)
    numbers = columns.numbers.items()
    read = [frame[column].cast("double").alias(field) for field, column in numbers]
    read += [frame[column].alias(f"{BY}{column}") for column in by]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pandas 3, which has no part in this
        parts = frame.select(*read).mapInArrow(partial(_counted, columns=columns), _PART)
    summary: AnySummary | None = _added_up(parts.rdd.map(_read))
    if summary is None:
        raise CalibrationInputError("frame", "no row", "a frame with rows")
    return summary


def audit_spark(frame: Any, outcome: Any, by: Any, **options: Any) -> AuditResult:
    """Audit a Spark data frame as `dashboard.engines.audit_dask` does one of Dask."""
    columns = Columns.of(frame, outcome, by)
    return summarise_spark(frame, columns.score, columns.outcome, columns.by).audit(**options)


@contextmanager
def workers_on_spark(
    master: str | None, files: Sequence[InputFile], columns: Columns
) -> Iterator[Workers]:
    """Begin to use Spark, whose workers open Parquet files.

    ``master``: address of a cluster; None for as many threads on this machine as it has cores.

    Raises `CalibrationInputError` where PySpark or Java is not installed or no cluster answers, and
    as `dashboard.counting.summarise` does.
    """
    master = master or "local[*]"
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415 - of an extra
        from pyspark.sql import SparkSession  # noqa: PLC0415 - the same
    except ImportError as error:
        wanted = 'Spark to be installed: pip install "fractile[spark]"'
        raise CalibrationInputError("master", master, wanted) from error
    if master.startswith("local"):  # a cluster's workers have a Python of their own
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        session = SparkSession.builder.master(master).appName("fractile").getOrCreate()
    except (PySparkException, OSError) as error:
        wanted = "a Spark cluster, such as local[2] or spark://10.0.0.5:7077, and Java 17"
        raise CalibrationInputError("master", master, wanted) from error
    context = session.sparkContext
    shares = chunks(files, columns, context.defaultParallelism)
    parts = context.parallelize(shares, len(shares))
    yield lambda work: _added_up(parts.map(partial(_of_files, work)))


def _added_up(parts: Any) -> Sum:
    """Add up an RDD of results, refusals and None in a tree; raise the first refusal."""
    whole = parts.treeAggregate(None, _both, _both)
    if isinstance(whole, list):
        raise CalibrationInputError(*whole)
    return whole


def _of_files(work: Work, parts: Sequence[Part]) -> Sum:
    """Work on some parts of files; a refusal is handed on as it is, not as Spark words it."""
    try:
        return work(parts)
    except CalibrationInputError as error:
        return _refusal(error)


def _counted(batches: Iterable[pa.RecordBatch], columns: Columns) -> Iterator[pa.RecordBatch]:
    """Count the rows of a partition; of a refusal as `_of_files`."""
    rows, part, refusal = Rows(columns), None, None
    try:
        for batch in pooled(batches):
            rows.add(batch)
        part = None if rows.summary is None else write_summary(rows.summary)
    except CalibrationInputError as error:
        refusal = _refusal(error)
    yield pa.RecordBatch.from_pydict(
        {"part": pa.array([part], "binary"), "refusal": pa.array([refusal], pa.list_(pa.string()))}
    )


def _refusal(error: CalibrationInputError) -> list[str]:
    return [error.field, error.actual, error.expected]


def _read(row: Any) -> AnySummary | list[str] | None:
    if row.refusal is not None:
        return list(row.refusal)
    return None if row.part is None else parse_summary(bytes(row.part), "a part")


def _both(one: Any, other: Any) -> Any:
    """Add two summaries; of refusals, the first."""
    if one is None or other is None:
        return one if other is None else other
    refusals = [part for part in (one, other) if isinstance(part, list)]
    try:
        return refusals[0] if refusals else one + other
    except CalibrationInputError as error:  # more groups than are counted
        return _refusal(error)
