"""Which engine counts the rows of files by score, and by which columns, as the command is told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import Any

from calibcore.errors import CalibrationInputError
from calibcore.summary import AnySummary
from dashboard.class_columns import KINDS, STAR, ClassColumns
from dashboard.counting import Columns, summarise
from dashboard.engines import summarise_on
from dashboard.readers import Upload
from dashboard.remote import InputFile
from dashboard.spark import summarise_spark_files
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
        if not engines:
            return None
        for field in ("score", "outcome"):
            if given[field] is None:
                wanted = "the column, as an engine reads no other"
                raise CalibrationInputError(field, "none beside an engine", wanted)
        classes = _classes(given["score"], given.get("values"), given.get("event"))
        columns = Columns(given["score"], given["outcome"], given["by"], given["count"], classes)
        address = given.get("scheduler") or given.get("master")
        return cls(columns, engines.pop(), address, given.get("processes"))

    def summary(self, files: Sequence[InputFile], tell: Callable[[float], None]) -> AnySummary:
        """Count the rows of files."""
        if self.engine == "dask":
            return summarise_on(self.address, files, self.columns)
        if self.engine == "spark":
            return summarise_spark_files(self.address, files, self.columns)
        return summarise(files, self.columns, tell, self.processes)

    @property
    def options(self) -> list[str]:
        """The options again, without an address, which may be nobody else's business."""
        named = [*self.columns.numbers.items(), *(("by", one) for one in self.columns.by)]
        if (of := self.columns.classes) is not None:
            named += [("values", of.values), ("event", of.event)]
        return list(chain(("--engine", self.engine), *((f"--{kind}", one) for kind, one in named)))


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
