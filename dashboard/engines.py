"""Rows on a cluster become a summary: the engine reads and maps, the core counts and adds."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from calibcore.auditing import AuditResult
from calibcore.errors import CalibrationInputError
from calibcore.summary import AnySummary
from dashboard.counting import Columns, Rows, Sum, Work, Workers, added, chunks
from dashboard.remote import InputFile
from dashboard.summaries import BY

ALLOCATION = {
    "MALLOC_ARENA_MAX": 1, "MALLOC_TRIM_THRESHOLD_": 1 << 27, "MALLOC_TOP_PAD_": 1 << 27,
    "OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1, "MKL_NUM_THREADS": 1,
}  # fmt: skip
"""Of processes of Dask on this machine: freed memory is used again, not given back at once, which
takes more than half of the time. Threads as Dask sets them."""

_FAN_IN = 8  # summaries that one task adds up


def summarise_dask(
    frame: Any, score: str, outcome: str, by: Sequence[str] = (), count: str | None = None
) -> AnySummary:
    """Count the rows of a Dask data frame by score, on whatever scheduler is in use.

    Partitions are counted where they are read and added up in a tree; progress, retries and
    spilling are Dask's. ``frame``: a dask.dataframe.DataFrame, of which no other columns than
    ``score``, ``outcome``, those of groups, ``by``, and how many equal rows each stands for,
    ``count``, are computed. Needs the extra ``dask``.

    Raises `CalibrationInputError` for a column that is not there, no row, a partition with values
    that are no score or outcome, and more groups than are counted.
    """
    columns = Columns(score, outcome, tuple(by), count)
    columns.check(frame.columns)
    read = frame[[*dict.fromkeys(column for _, column in columns.named)]]
    summary: AnySummary | None = _added_up(partial(_counted, columns), read.to_delayed())
    if summary is None:
        raise CalibrationInputError("frame", "no row", "a frame with rows")
    return summary


def audit_dask(frame: Any, outcome: Any, by: Any, **options: Any) -> AuditResult:
    """Audit a Dask data frame, as `calibcore.audit` does that of its rows, which stay there.

    ``frame``: of the columns ``outcome`` and ``by``, and one of scores. ``options``: as for
    `calibcore.summary.Summary.audit`.
    """
    columns = Columns.of(frame, outcome, by)
    return summarise_dask(frame, columns.score, columns.outcome, columns.by).audit(**options)


@contextmanager
def workers_on_dask(
    scheduler: str | None, files: Sequence[InputFile], columns: Columns
) -> Iterator[Workers]:
    """Begin to use a Dask cluster, whose workers open Parquet files.

    ``scheduler``: its address; None for processes of Dask on this machine.

    Raises `CalibrationInputError` where Dask is not installed or no cluster answers, and as
    `dashboard.counting.summarise` does.
    """
    shown = scheduler or "processes on this machine"
    try:
        from dask import config  # noqa: PLC0415 - of an extra
        from distributed import Client  # noqa: PLC0415 - the same
    except ImportError as error:
        wanted = 'Dask to be installed: pip install "fractile[dask]"'
        raise CalibrationInputError("scheduler", shown, wanted) from error
    local = {"threads_per_worker": 1, "dashboard_address": None} if scheduler is None else {}
    try:
        with config.set({"distributed.nanny.pre-spawn-environ": ALLOCATION}):
            client = Client(scheduler, timeout=10, **local)
    except (OSError, ValueError) as error:
        wanted = "the address of a running Dask scheduler, such as tcp://10.0.0.5:8786"
        raise CalibrationInputError("scheduler", shown, wanted) from error
    with client:
        shares = chunks(files, columns, max(sum(client.nthreads().values()), 1))
        yield lambda work: _added_up(work, shares)


def _added_up(work: Work, parts: Iterable[Any]) -> Sum:
    """Work on parts where Dask puts them, and add up the results in a tree."""
    from dask import delayed  # noqa: PLC0415 - of an extra

    done, combine = delayed(work, pure=True), delayed(added, pure=True)
    sums = [done(part) for part in parts]
    while len(sums) > 1:
        neighbours = range(0, len(sums), _FAN_IN)
        sums = [combine(sums[k : k + _FAN_IN]) for k in neighbours]
    return sums[0].compute()


def _counted(columns: Columns, part: Any) -> AnySummary | None:
    """Count the rows of one partition, a pandas frame; None of none."""
    rows = Rows(columns)
    arrays = {
        field: pa.array(part[column].astype("float64"), from_pandas=True)
        for field, column in columns.numbers.items()
    }
    arrays |= {
        f"{BY}{one}": pa.array(part[one].astype(object), from_pandas=True) for one in columns.by
    }
    rows.add(pa.RecordBatch.from_pydict(arrays))
    return rows.summary
