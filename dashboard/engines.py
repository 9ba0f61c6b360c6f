"""Rows on a cluster become a summary: the engine reads and maps, the core counts and adds."""

from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pyarrow as pa

from calibcore.errors import CalibrationInputError
from calibcore.summary import AnySummary, BatchCounts
from dashboard.summaries import BY
from dashboard.summary_file import check_columns, groups_of

_FAN_IN = 8  # summaries that one task adds up


def summarise_dask(frame: Any, score: str, outcome: str, by: Sequence[str] = ()) -> AnySummary:
    """Count the rows of a Dask data frame by score, on whatever scheduler is in use.

    Partitions are counted where they are read and added up in a tree; progress, retries and
    spilling are Dask's. ``frame``: a dask.dataframe.DataFrame, of which no other columns than
    ``score``, ``outcome`` and those of groups, ``by``, are computed. Needs the extra ``dask``.

    Raises `CalibrationInputError` for a column that is not there, no row, a partition with values
    that are no score or outcome, and more groups than are counted.
    """
    from dask import delayed  # noqa: PLC0415 - of an extra

    check_columns(frame.columns, score, outcome, by)
    count, combine = delayed(_counted, pure=True), delayed(_added, pure=True)
    read = frame[[*dict.fromkeys((score, outcome, *by))]]
    parts = [count(part, score, outcome, by) for part in read.to_delayed()]
    while len(parts) > 1:
        parts = [combine(parts[k : k + _FAN_IN]) for k in range(0, len(parts), _FAN_IN)]
    summary: AnySummary | None = parts[0].compute()
    if summary is None:
        raise CalibrationInputError("frame", "no row", "a frame with rows")
    return summary


def summarise_on(
    scheduler: str, paths: Sequence[Path], score: str, outcome: str, by: Sequence[str] = ()
) -> AnySummary:
    """Count the rows of Parquet files on a Dask cluster, whose workers open them.

    Raises `CalibrationInputError` where Dask is not installed or no cluster answers, and as
    `summarise_dask` does.
    """
    try:
        from dask.dataframe import read_parquet  # noqa: PLC0415 - of an extra
        from distributed import Client  # noqa: PLC0415 - the same
    except ImportError as error:
        wanted = 'Dask to be installed: pip install "fractile[dask]"'
        raise CalibrationInputError("scheduler", scheduler, wanted) from error
    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        wanted = "the address of a running Dask scheduler, such as tcp://10.0.0.5:8786"
        raise CalibrationInputError("scheduler", scheduler, wanted) from error
    with client:
        try:
            hive = {"partitioning": {"flavor": "hive"}}
            frame = read_parquet([str(path.resolve()) for path in paths], dataset=hive)
        except (OSError, ValueError) as error:
            raise CalibrationInputError("files", str(error), "files of Parquet") from error
        return summarise_dask(frame, score, outcome, by)


def _counted(part: Any, score: str, outcome: str, by: Sequence[str]) -> AnySummary | None:
    """Count the rows of one partition, a pandas frame; None of none."""
    for field, column in {"score": score, "outcome": outcome}.items():
        if part[column].isna().any():
            raise CalibrationInputError(field, f"no value in column {column!r}", "one in every row")
    if not len(part):
        return None
    counts = BatchCounts(by)
    columns = {f"{BY}{one}": pa.array(part[one].astype(object), from_pandas=True) for one in by}
    counts.add(part[score], part[outcome], groups_of(pa.RecordBatch.from_pydict(columns), by))
    return counts.summary


def _added(parts: list[AnySummary | None]) -> AnySummary | None:
    with_rows = [part for part in parts if part is not None]
    return reduce(add, with_rows) if with_rows else None
