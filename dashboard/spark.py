"""Rows on Spark become a summary: it reads and maps, the core counts and adds."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from calibcore.errors import CalibrationInputError
from calibcore.summary import AnySummary, BatchCounts
from dashboard.summaries import BY
from dashboard.summary_file import check_columns, groups_of, parse_summary, write_summary

_PART = "part binary, refusal array<string>"


def summarise_spark(frame: Any, score: str, outcome: str, by: Sequence[str] = ()) -> AnySummary:
    """Count the rows of a Spark data frame by score, where its partitions are.

    Partitions are counted batch by batch (``mapInArrow``) and added up in a tree; retries and
    spilling are Spark's. ``frame``: a pyspark.sql.DataFrame, of which no other columns than
    ``score``, ``outcome`` and those of groups, ``by``, are computed. Needs the extra ``spark``, on
    the workers too.

    Raises `CalibrationInputError` for a column that is not there, no row, a partition with values
    that are no score or outcome, and more groups than are counted.
    """
    check_columns(frame.columns, score, outcome, by)
    names = {"score": score, "outcome": outcome}
    read = [frame[column].cast("double").alias(field) for field, column in names.items()]
    read += [frame[column].alias(f"{BY}{column}") for column in by]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pandas 3, which has no part in this
        parts = frame.select(*read).mapInArrow(partial(_counted, names=names, by=by), _PART)
    counted = parts.rdd
    if counted.isEmpty():
        raise CalibrationInputError("frame", "no row", "a frame with rows")
    merged = counted.map(_read).treeReduce(_both)
    if isinstance(merged, list):
        raise CalibrationInputError(*merged)
    summary: AnySummary = merged
    return summary


def summarise_spark_files(
    master: str, paths: Sequence[Path], score: str, outcome: str, by: Sequence[str] = ()
) -> AnySummary:
    """Count the rows of Parquet files on Spark, whose workers open them.

    Raises `CalibrationInputError` where PySpark or Java is not installed or no cluster answers, and
    as `summarise_spark` does.
    """
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415 - of an extra
        from pyspark.sql import SparkSession  # noqa: PLC0415 - the same
    except ImportError as error:
        wanted = 'Spark to be installed: pip install "fractile[spark]"'
        raise CalibrationInputError("master", master, wanted) from error
    try:
        session = SparkSession.builder.master(master).appName("fractile").getOrCreate()
    except (PySparkException, OSError) as error:
        wanted = "a Spark cluster, such as local[2] or spark://10.0.0.5:7077, and Java 17"
        raise CalibrationInputError("master", master, wanted) from error
    try:
        frame = session.read.parquet(*(str(path.resolve()) for path in paths))
    except PySparkException as error:
        raise CalibrationInputError("files", paths[0].name, "files of Parquet") from error
    return summarise_spark(frame, score, outcome, by)


def _counted(
    batches: Iterable[pa.RecordBatch], names: dict[str, str], by: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Count the rows of batches; a refusal is handed on as it is, not as Spark words it."""
    for batch in batches:
        if batch.num_rows:
            part, refusal = None, None
            try:
                part = write_summary(_summary(batch, names, by))
            except CalibrationInputError as error:
                refusal = _refusal(error)
            columns = {"part": pa.array([part], "binary"), "refusal": [refusal]}
            yield pa.RecordBatch.from_pydict(columns)


def _refusal(error: CalibrationInputError) -> list[str]:
    return [error.field, error.actual, error.expected]


def _summary(batch: pa.RecordBatch, names: dict[str, str], by: Sequence[str]) -> AnySummary:
    for field, column in names.items():
        if batch[field].null_count:
            raise CalibrationInputError(field, f"no value in column {column!r}", "one in every row")
    counts = BatchCounts(by)
    counts.add(batch["score"].to_numpy(), batch["outcome"].to_numpy(), groups_of(batch, by))
    return counts.summary


def _read(row: Any) -> AnySummary | list[str]:
    return row.refusal or parse_summary(bytes(row.part), "a part")


def _both(one: Any, other: Any) -> Any:
    """Add two summaries; of refusals, the first."""
    refusals = [part for part in (one, other) if isinstance(part, list)]
    try:
        return refusals[0] if refusals else one + other
    except CalibrationInputError as error:  # more groups than are counted
        return _refusal(error)
