"""Rows in many files, or in a frame, are counted by score: a batch at a time, in processes."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby
from operator import add
from typing import Any

import loky
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.grouping import Grouping
from calibcore.summary import AnySummary, BatchCounts
from calibcore.validation import Floats
from dashboard.class_columns import CLASS, ClassColumns
from dashboard.compute.processes import ONE_THREAD, end_with
from dashboard.readers.refusal import visible
from dashboard.remote import InputFile, RemoteFile, opened_by
from dashboard.summaries import BY

_BATCH = 1 << 18
"""Rows that are read at a time."""

_WORTH = 1 << 25
"""Rows that are worth a process, which takes most of a second to begin."""

_CHUNK = 1 << 26
"""Most rows that a process counts before it hands on the sum; the first ones have to be sorted."""

_PROCESS_BYTES = 1 << 29
"""About what a process takes, by groups twice that."""

Kinds = tuple[Callable[[pa.DataType], bool], ...]
_NUMBERS: Kinds = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
)
_GROUPS: Kinds = (
    pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_string,
    pa.types.is_large_string, pa.types.is_date, pa.types.is_null,
)  # fmt: skip
_WANTED = {
    "score": "numbers from 0 to 1 in every row",
    "outcome": "0, 1 or booleans in every row",
    "count": "a whole number of equal rows, 0 or more, in every row",
    "by": "texts, numbers or dates",
}


@dataclass(frozen=True)
class Columns:
    """Which columns are counted, by their names; no other is read."""

    score: str
    """Scores of one event, from 0 to 1; with ``classes`` the pattern of those of every class."""
    outcome: str
    """Whether it happened: booleans, or 0 and 1. Of classes: the name of the true one."""
    by: tuple[str, ...] = ()
    """Groups; of files also parts of their paths, such as ``region=eu``."""
    count: str | None = None
    """How many equal rows each stands for; None for one."""
    classes: ClassColumns | None = None
    """What scores of every class are, and which event of theirs is counted."""
    calibrator: CalibratorFile | None = None
    """Applied to the scores before they are counted."""

    @property
    def numbers(self) -> dict[str, str]:
        """Columns of numbers, by what they are; of scores of classes once these are counted."""
        numbers = {"score": self.score, "outcome": self.outcome}
        return numbers if self.count is None else numbers | {"count": self.count}

    @property
    def named(self) -> list[tuple[str, Any]]:
        """All of them, beside what they are; what a caller gave for a name may be none."""
        return [*self.numbers.items(), *(("by", column) for column in self.by)]

    def by_class(self, columns: Iterable[str]) -> dict[str, str]:
        """Return those of the columns that are scores of classes, by the names of these."""
        if self.classes is None:
            return {}
        others = {self.outcome, self.count, *self.by}
        named = self.classes.by_class(self.score, (one for one in columns if one not in others))
        return self.classes.in_order(named, self.calibrator)

    def kinds(self, columns: Iterable[str]) -> list[tuple[str, str, Kinds]]:
        """Return what each column that is read is, its name, and what types it may have."""
        of_classes = self.by_class(columns).values()
        scores: list[tuple[str, str, Kinds]] = [("score", one, _NUMBERS) for one in of_classes]
        kinds = {"by": _GROUPS, "outcome": _GROUPS if of_classes else _NUMBERS}
        named = [pair for pair in self.named if not (of_classes and pair[0] == "score")]
        return [*scores, *((field, one, kinds.get(field, _NUMBERS)) for field, one in named)]

    def check(self, columns: Iterable[object]) -> None:
        """Refuse a frame of an engine, of such columns, without those that are counted."""
        names = [*map(str, columns)]
        for field, column in self.named:
            if not isinstance(column, str):
                wanted = "the name of a column of the frame"
                raise CalibrationInputError(field, f"a {type(column).__name__}", wanted)
            if column not in names:
                wanted = f"one of the frame's columns: {', '.join(names[:20])}"
                raise CalibrationInputError(field, f"no column {column!r}", wanted)

    @classmethod
    def of(cls, frame: Any, outcome: Any, by: Any) -> "Columns":
        """Return which columns of a frame of an engine `calibcore.audit` is asked for.

        ``frame``: of the column ``outcome``, those of ``by`` (a name, names or None), and of one
        more, the score. Raises `CalibrationInputError` for any other.
        """
        names = (by,) if isinstance(by, str) else () if by is None else by
        texts = isinstance(names, list | tuple) and all(isinstance(one, str) for one in names)
        for field, given, right in (
            ("outcomes", outcome, isinstance(outcome, str)),
            ("groups", by, texts),
        ):
            if not right:
                actual = "none" if given is None else f"a {type(given).__name__}"
                wanted = 'a column by its name, as in audit(frame[["p", "y", "region"]], "y",'
                raise CalibrationInputError(field, actual, f'{wanted} groups="region")')
        columns = [*map(str, getattr(frame, "columns", ()))]
        scores = [one for one in columns if one not in {outcome, *names}]
        if len(scores) != 1:
            actual = f"a frame with {', '.join(scores[:20]) or 'no column'} beside those named"
            raise CalibrationInputError("data", actual, "one column of scores beside them")
        return cls(scores[0], outcome, tuple(names))


class Rows:
    """Counts rows of batches, by columns whose names are what they are."""

    def __init__(self, columns: Columns) -> None:
        self._columns, self._some = columns, False
        self._counts = BatchCounts(columns.by)

    def add(self, batch: pa.RecordBatch) -> None:
        """Count a batch, in which a column of groups begins with `BY`.

        Raises `CalibrationInputError` for values that are no score, outcome or number of rows, and
        for more groups than are counted.
        """
        for field, column in self._columns.numbers.items():
            if batch[field].null_count:
                raise CalibrationInputError(field, f"no value in column {column!r}", _WANTED[field])
        if (times := counts_of(batch, self._columns)) is not None:
            batch = batch.filter(pa.array(times > 0))
        if not batch.num_rows:
            return
        numbers = [batch[one].to_numpy(zero_copy_only=False) for one in self._columns.numbers]
        groups = [_group(batch[f"{BY}{name}"]) for name in self._columns.by]
        self._counts.add(numbers[0], numbers[1], groups, *numbers[2:])
        self._some = True

    @property
    def summary(self) -> AnySummary | None:
        """All rows that were added; None of none."""
        return self._counts.summary if self._some else None


def counts_of(batch: pa.RecordBatch, columns: Columns) -> Floats | None:
    """Return how many equal rows each row stands for; None where each is one.

    Raises `CalibrationInputError` for what is no number of rows.
    """
    if columns.count is None:
        return None
    times: Floats = batch["count"].to_numpy(zero_copy_only=False)
    if not np.all((times >= 0) & (times == np.floor(times))):
        actual = f"other values than whole numbers from 0 in column {columns.count!r}"
        raise CalibrationInputError("count", actual, _WANTED["count"])
    return times


def pooled(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put small batches together, as each that is counted costs as much as thousands of rows."""
    some: list[pa.RecordBatch] = []
    for batch in batches:
        some.append(batch)
        if sum(one.num_rows for one in some) >= _BATCH:
            yield pa.concat_batches(some)
            some = []
    if some:
        yield pa.concat_batches(some)


def _group(cells: pa.Array) -> tuple[NDArray[np.int64], Sequence[str]]:
    """Return the place of each row among texts, and these."""
    coded = cells.dictionary_encode(null_encoding="encode")
    values = coded.dictionary.to_pylist()
    known = Grouping.of(np.array(values, dtype=np.object_))
    return known.numbers(np.array(values, dtype=np.object_))[coded.indices.to_numpy()], known.names


Sum = Any
"""What some rows come to, such as a summary: two of them add up, and that of no row is None."""


def added(parts: Iterable[Sum]) -> Sum:
    """Add up what has rows, neighbours first, so that few are in memory and none is added often.

    The result does not depend on when each part came.
    """
    waiting: list[tuple[int, Sum]] = []
    for part in parts:
        if part is None:
            continue
        level, whole = 0, part
        while waiting and waiting[-1][0] == level:
            level, whole = level + 1, waiting.pop()[1] + whole
        waiting.append((level, whole))
    return reduce(add, (part for _, part in waiting)) if waiting else None


# Files --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """Row groups of a file, for one worker."""

    file: InputFile
    groups: tuple[int, ...]
    """Their numbers."""
    first: int
    """Rows of the file before them."""
    n_rows: int
    classes: tuple[str, ...] = ()
    """Whose scores the file has, in the order of its columns."""


Work = Callable[..., Sum]
"""What is done with some parts of files: takes them, and ``tell``, which may be told the share."""

Workers = Callable[[Work], Sum]
"""Does some work with the rows of files, wherever its workers are, and adds up the results."""


def summarise(
    files: Sequence[InputFile],
    columns: Columns,
    tell: Callable[[float], None],
    processes: int | None = None,
) -> AnySummary:
    """Count the rows of Parquet files by score, a batch at a time, whatever their number.

    ``tell``, ``processes``: as of `workers_here`. Raises `CalibrationInputError`, which names the
    file, for one that is no Parquet, a column that is not there, values that are no score or
    outcome, and more groups than are counted.
    """
    return some(workers_here(files, columns, tell, processes)(partial(count_parts, columns)))


def workers_here(
    files: Sequence[InputFile],
    columns: Columns,
    tell: Callable[[float], None],
    processes: int | None = None,
) -> Workers:
    """Return processes of this machine, or this one.

    ``tell``: is told the share of the rows that is done. ``processes``: how many work at most; by
    default as many as there are cores, within the memory that is free. A process that is ended
    from outside is begun again, once for what it was at.
    """
    parts = _parts(files, columns)
    n_rows = sum(part.n_rows for part in parts)
    n = min(_usable(columns), math.ceil(n_rows / _WORTH)) if processes is None else processes

    def run(work: Work) -> Sum:
        return added(_apart(_chunks(parts, n), work, n, tell)) if n > 1 else work(parts, tell)

    return run


def chunks(files: Sequence[InputFile], columns: Columns, n: int) -> list[list[Part]]:
    """Divide the rows of Parquet files into about as many for each of ``n`` workers.

    Raises `CalibrationInputError` as `summarise` does.
    """
    there = [file if isinstance(file, RemoteFile) else file.resolve() for file in files]
    return _chunks(_parts(there, columns), n)


def some(summary: AnySummary | None) -> AnySummary:
    """Return what was counted; refuse files of which every row stands for none."""
    if summary is None:
        raise CalibrationInputError("count", "0 in every row", "some rows")
    return summary


def _parts(files: Sequence[InputFile], columns: Columns) -> list[Part]:
    parts = [part for file in files for part in _parts_of(file, columns)]
    if not parts:
        raise CalibrationInputError("files", "no row in any", "files with rows")
    for part in parts:
        if {*part.classes} != {*parts[0].classes}:
            actual = f"other classes in {part.file.name} than in {parts[0].file.name}"
            raise CalibrationInputError(
                "score", actual, "columns of the same classes in every file"
            )
    return parts


def _usable(columns: Columns) -> int:
    """Return how many processes there are cores and memory for."""
    each = _PROCESS_BYTES * (2 if columns.by else 1)
    n_within = int(psutil.virtual_memory().available) // each
    return max(min(int(loky.cpu_count()), n_within), 1)


def _parts_of(file: InputFile, columns: Columns) -> Iterator[Part]:
    """Return the row groups of a file, once its columns are known to be there."""
    opened = _opened(file, columns)
    classes = tuple(columns.by_class(opened.schema.names))
    for fragment in opened.get_fragments():
        first = 0
        for group in fragment.row_groups:
            if group.num_rows:
                yield Part(file, (group.id,), first, group.num_rows, classes)
            first += group.num_rows


def _chunks(parts: Sequence[Part], n: int) -> list[list[Part]]:
    """Put neighbours together: about as many rows each, as often for each of n workers."""
    n_rows = sum(part.n_rows for part in parts)
    size = math.ceil(n_rows / (n * math.ceil(n_rows / (n * _CHUNK))))
    ends = np.cumsum([part.n_rows for part in parts])
    numbers = ((ends - 1) // size).tolist()
    together = groupby(zip(numbers, parts, strict=True), key=lambda pair: pair[0])
    return [[part for _, part in pairs] for _, pairs in together]


def _apart(
    shares: Sequence[Sequence[Part]],
    work: Work,
    n: int,
    tell: Callable[[float], None],
) -> Iterator[Sum]:
    """Work on chunks in processes, and give their sums in order."""
    waiting, lost = list(shares), False
    while waiting:
        pool = loky.ProcessPoolExecutor(
            n, env=ONE_THREAD, initializer=end_with, initargs=(os.getpid(),)
        )
        try:
            futures = [pool.submit(work, chunk) for chunk in waiting]
            while futures:
                part = futures.pop(0).result()
                del waiting[0]
                lost = False
                tell(1 - len(waiting) / len(shares))
                yield part
        except BrokenProcessPool as error:
            if lost:
                wanted = "memory for each, or fewer: --processes 1"
                raise CalibrationInputError(
                    "processes", "one that was ended from outside, twice", wanted
                ) from error
            lost = True
        finally:
            pool.shutdown(kill_workers=True)


def count_parts(
    columns: Columns, parts: Sequence[Part], tell: Callable[[float], None] | None = None
) -> AnySummary | None:
    """Count the rows of some parts of files; None of none.

    Raises `CalibrationInputError` as `summarise` does.
    """
    rows = Rows(columns)
    for where, _, batch in batches_of(columns, parts, tell, of_event=True):
        with named(where):
            rows.add(batch)
    return rows.summary


def batches_of(
    columns: Columns,
    parts: Sequence[Part],
    tell: Callable[[float], None] | None,
    *,
    of_event: bool,
) -> Iterator[tuple[str, Part, pa.RecordBatch]]:
    """Read batches of some parts of files: where each stands, its part, and its rows.

    ``of_event``: whether scores of classes are those of one event already, and small batches put
    together.
    """
    done, total = 0, sum(part.n_rows for part in parts)
    for part in _joined(parts):
        first, read = part.first, _batches(part, columns, threads=tell is not None)
        for batch in pooled(_of_event(one, columns, part) for one in read) if of_event else read:
            yield f"{part.file.name}, rows from {first + 1:,} on", part, batch
            first, done = first + batch.num_rows, done + batch.num_rows
            if tell is not None:
                tell(done / total)


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Put the row groups of a file together, so that the next is read while one is counted."""
    joined: list[Part] = []
    for part in parts:
        if joined and joined[-1].file == part.file:
            before = joined.pop()
            n_rows = before.n_rows + part.n_rows
            joined.append(replace(before, groups=before.groups + part.groups, n_rows=n_rows))
        else:
            joined.append(part)
    return joined


def _opened(file: InputFile, columns: Columns) -> ds.Dataset:
    try:
        opened = ds.dataset(**opened_by(file), format="parquet", partitioning="hive")
    except (pa.ArrowException, OSError) as error:
        raise CalibrationInputError(file.name, "no Parquet file", "files of Parquet") from error
    for field, column, kinds in columns.kinds(opened.schema.names):
        if opened.schema.names.count(column) != 1:
            problem = f"no column {column!r} in {file.name}, or several"
            names = visible(", ".join(opened.schema.names))
            raise CalibrationInputError(field, problem, f"one of its columns: {names}")
        kind = opened.schema.field(column).type
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not any(is_of(plain) for is_of in kinds):
            problem = f"{kind} in column {column!r} of {file.name}"
            wanted = _WANTED["by"] if kinds is _GROUPS else _WANTED[field]
            raise CalibrationInputError(field, problem, wanted)
    return opened


def _batches(part: Part, columns: Columns, *, threads: bool) -> Iterator[pa.RecordBatch]:
    """Read batches, few at a time, as what is read ahead stays in memory."""
    opened = _opened(part.file, columns)
    classes = columns.by_class(opened.schema.names)

    def plain(column: str) -> pc.Expression:
        kind = opened.schema.field(column).type
        field = ds.field(column)
        return field.cast(kind.value_type) if pa.types.is_dictionary(kind) else field

    read = {f"{BY}{column}": plain(column) for column in columns.by}
    read |= {field: plain(column).cast("float64") for field, column in columns.numbers.items()
             if not (classes and field in {"score", "outcome"})}  # fmt: skip
    if classes:
        read["outcome"] = plain(columns.outcome).cast("string")
        read |= {f"{CLASS}{k}": ds.field(column) for k, column in enumerate(classes.values())}
    try:
        for fragment in opened.get_fragments():
            some = fragment.subset(row_group_ids=list(part.groups))
            batches = some.to_batches(
                schema=opened.schema, columns=read, batch_readahead=1,
                batch_size=max(_BATCH // max(len(classes), 1), 1), use_threads=threads,
            )  # fmt: skip
            for batch in batches:
                if batch.num_rows:
                    yield batch
    except (pa.ArrowException, OSError) as error:
        name = part.file.name
        raise CalibrationInputError(name, "a damaged file", "files of Parquet") from error


def _of_event(batch: pa.RecordBatch, columns: Columns, part: Part) -> pa.RecordBatch:
    """Return a batch with the score of one event, calibrated if that is wished."""
    try:
        if columns.classes is not None:
            return columns.classes.counted(batch, part.classes, columns.calibrator)
        if columns.calibrator is not None:
            scores = columns.calibrator.apply(batch["score"].to_numpy(zero_copy_only=False))
            batch = batch.set_column(batch.schema.names.index("score"), "score", pa.array(scores))
    except CalibrationInputError as error:
        actual = f"{error.actual} of {part.file.name}"
        raise CalibrationInputError(error.field, actual, error.expected) from error
    return batch


@contextmanager
def named(where: str) -> Iterator[None]:
    """Tell of a refusal which file and rows it is of."""
    try:
        yield
    except CalibrationInputError as error:
        names: Mapping[str, str] = {"scores": "score", "hits": "outcome", "groups": "by"}
        field = names.get(error.field, error.field)
        wanted = error.expected if field == "by" else _WANTED.get(field, error.expected)
        raise CalibrationInputError(field, f"{error.actual} of {where}", wanted) from error
