"""Rows on a cluster become a summary: the engine reads and maps, the core counts and adds."""

from functools import reduce
from operator import add
from typing import Any

from calibcore.errors import CalibrationInputError
from calibcore.summary import Summary

_FAN_IN = 8
"""Summaries that one task adds up, so that no worker holds many."""


def summarise_dask(frame: Any, score: str, outcome: str) -> Summary:
    """Count the rows of a Dask data frame by score, on whatever scheduler is in use.

    Partitions are counted where they are read and added up in a tree; progress, retries and
    spilling are Dask's. No partition comes here, only their summary. Needs the extra ``dask``.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Of any number of partitions; no other columns than these two are computed.
    score : str
        Name of the column of scores, numbers in [0, 1].
    outcome : str
        Name of the column of outcomes: booleans, or 0 and 1.

    Raises
    ------
    CalibrationInputError
        A column that is not there, no row, or a partition with values that are no score or outcome.
    """
    from dask import delayed  # noqa: PLC0415 - of an extra

    names = [str(name) for name in frame.columns]
    for field, column in {"score": score, "outcome": outcome}.items():
        if column not in names:
            wanted = f"one of the frame's columns: {', '.join(names[:20])}"
            raise CalibrationInputError(field, f"no column {column!r}", wanted)
    count, combine = delayed(_counted, pure=True), delayed(_added, pure=True)
    parts = [count(part, score, outcome) for part in frame[[score, outcome]].to_delayed()]
    while len(parts) > 1:
        parts = [combine(parts[k : k + _FAN_IN]) for k in range(0, len(parts), _FAN_IN)]
    summary: Summary | None = parts[0].compute()
    if summary is None:
        raise CalibrationInputError("frame", "no row", "a frame with rows")
    return summary


def _counted(part: Any, score: str, outcome: str) -> Summary | None:
    """Count the rows of one partition, a pandas frame; None of none."""
    for field, column in {"score": score, "outcome": outcome}.items():
        if part[column].isna().any():
            raise CalibrationInputError(field, f"no value in column {column!r}", "one in every row")
    return Summary.of(part[score], part[outcome]) if len(part) else None


def _added(parts: list[Summary | None]) -> Summary | None:
    with_rows = [part for part in parts if part is not None]
    return reduce(add, with_rows) if with_rows else None
