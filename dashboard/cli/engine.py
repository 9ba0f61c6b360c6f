"""Which engine counts the rows of files by score, and by which columns, as the command is told."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from calibcore.calibrators.base import VectorMap
from calibcore.calibrators.batches import BatchFit
from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.summary import AnySummary
from dashboard.batch_fit import fit_to_files
from dashboard.class_columns import KINDS, STAR, ClassColumns
from dashboard.counting import Columns, Workers, count_parts, some, workers_here
from dashboard.engines import workers_on_dask
from dashboard.readers import Upload
from dashboard.remote import InputFile
from dashboard.spark import workers_on_spark
from dashboard.summaries import upload_of
from dashboard.summary_file import write_summary


@dataclass(frozen=True)
class Counting:
    """What counts the rows of files, and by which columns: options of the command."""

    columns: Columns
    engine: str
    """``here`` (processes on this machine), ``dask`` or ``spark``."""
    address: str | None = None
    """Of a cluster."""
    processes: int | None = None
    """How many count here; None for as many as there are cores and memory for."""
    applied: Path | None = None
    """File of the calibrator that is applied before."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Counting | None":
        """Read the command's options by their names; None where they name no engine.

        Raises `CalibrationInputError` for those that do not go together, and no column.
        """
        named = {"scheduler": "dask", "master": "spark", "processes": "here"}
        options = [name for name in named if given.get(name) is not None]
        engines = {named[name] for name in options} | {given.get("engine") or ""} - {""}
        if len(engines) > 1:
            field, *others = (*options, "engine")
            wanted = "options of one engine: --engine here (--processes), dask (--scheduler) or"
            raise CalibrationInputError(field, f"{others[0]} too", f"{wanted} spark (--master)")
        applied = given.get("applied")
        if not engines and applied is None:
            return None
        for field in ("score", "outcome"):
            if given[field] is None:
                wanted = "the column, as an engine reads no other"
                raise CalibrationInputError(field, "none beside an engine", wanted)
        classes = _classes(given["score"], given.get("values"), given.get("event"))
        columns = Columns(
            given["score"], given["outcome"], given.get("by", ()), given["count"], classes,
            None if applied is None else _of_rows(read_calibrator(applied), classes),
        )  # fmt: skip
        address = given.get("scheduler") or given.get("master")
        engine = (engines or {"here"}).pop()
        return cls(columns, engine, address, given.get("processes"), applied)

    @contextmanager
    def workers(
        self, files: Sequence[InputFile], tell: Callable[[float], None]
    ) -> Iterator[Workers]:
        """Begin to use what reads the rows of files."""
        if self.engine == "dask":
            with workers_on_dask(self.address, files, self.columns) as run:
                yield run
        elif self.engine == "spark":
            with workers_on_spark(self.address, files, self.columns) as run:
                yield run
        else:
            yield workers_here(files, self.columns, tell, self.processes)

    def summary(self, files: Sequence[InputFile], tell: Callable[[float], None]) -> AnySummary:
        """Count the rows of files."""
        with self.workers(files, tell) as run:
            return some(run(partial(count_parts, self.columns)))

    def fit(
        self, files: Sequence[InputFile], calibrator: VectorMap, tell: Callable[[float], None]
    ) -> tuple[CalibratorFile, BatchFit]:
        """Fit a smooth map of all classes to the rows of files.

        Raises `CalibrationInputError` as `dashboard.batch_fit.fit_to_files` does.
        """
        assert self.columns.classes is not None  # noqa: S101 - whoever calls this knows
        with self.workers(files, tell) as run:
            fit, classes = fit_to_files(calibrator, self.columns, run)
        file = CalibratorFile(
            fit.fitted, self.columns.classes.values, classes, n_rows=fit.n_rows,
            made_by=version("fractile"), date=datetime.now(UTC).date().isoformat(),
        )  # fmt: skip
        return file, fit

    @property
    def options(self) -> list[str]:
        """The options again, without an address, which may be nobody else's business."""
        named = [*self.columns.numbers.items(), *(("by", one) for one in self.columns.by)]
        if (of := self.columns.classes) is not None:
            named += [("values", of.values), ("event", of.event)]
        if self.applied is not None:
            named += [("with", self.applied.name)]
        return list(chain(("--engine", self.engine), *((f"--{kind}", one) for kind, one in named)))


def read_calibrator(path: Path) -> CalibratorFile:
    """Read the file of a kept calibrator, which ``--with`` names."""
    try:
        return CalibratorFile.from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CalibrationInputError("with", str(path), "a calibrator file") from error


def _of_rows(file: CalibratorFile, classes: ClassColumns | None) -> CalibratorFile:
    """Refuse a calibrator that takes something else than the columns that are counted."""
    if file.needs_groups or (classes is None and file.takes != "scores"):
        actual = "one that needs groups" if file.needs_groups else f"one of {file.takes}"
        wanted = "one of a score, or --score with a star for one of all classes"
        raise CalibrationInputError("with", actual, wanted)
    return file


def _classes(score: str, values: str | None, event: str | None) -> ClassColumns | None:
    """Return what the scores of classes are; None where one column is the score."""
    if STAR not in score:
        if event is not None:
            wanted = "--score with a star, such as 'logit_*', for scores of every class"
            raise CalibrationInputError("event", f"{event!r} of one column of scores", wanted)
        return None
    for kind in KINDS:
        if values == kind:
            return ClassColumns(kind, event or "top-1")
    wanted = "logits or probabilities, which the scores of the classes are"
    raise CalibrationInputError("values", values or "nothing said", wanted)


def counted_upload(
    files: Sequence[InputFile], counting: Counting, tell: Callable[[float], None]
) -> Upload:
    """Return the rows of files, counted by score, as what is audited."""
    summary = counting.summary(files, tell)
    name = files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1:,} more"
    return upload_of({name: summary}, sha256(write_summary(summary)).hexdigest())
