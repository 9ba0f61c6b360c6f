"""Scores of every class, a column each, of which the score of one event is counted."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from calibcore import LogitSet
from calibcore.errors import CalibrationInputError
from dashboard.settings import named_event

Kind = Literal["probabilities", "logits"]
KINDS: tuple[Kind, Kind] = ("probabilities", "logits")
STAR, CLASS = "*", "class "


@dataclass(frozen=True)
class ClassColumns:
    """What scores of classes are, and of what event a row is counted."""

    values: Kind = "probabilities"
    """What they hold."""
    event: str = "top-1"
    """``top-1``, ``within-2`` and so on, or a class."""

    def by_class(self, pattern: str, columns: Iterable[str]) -> dict[str, str]:
        """Return columns by the names of their classes, in their order.

        ``pattern``: of their names, such as ``logit_*``: the star stands for the name of the class.

        Raises `CalibrationInputError` for fewer than two, and an event that they do not have.
        """
        before, _, after = pattern.partition(STAR)
        fits = re.compile(f"{re.escape(before)}(.+){re.escape(after)}", re.DOTALL)
        named = {match[1]: match[0] for match in map(fits.fullmatch, columns) if match}
        if len(named) < 2:
            actual = f"{pattern!r}, which is {len(named)} of the columns"
            raise CalibrationInputError("score", actual, "the columns of two classes or more")
        named_event(self.event, tuple(named))
        return named

    def counted(self, batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
        """Return a batch with the score of the event and its outcome in place of the classes'.

        ``batch``: ``outcome``, the true class by its name, and of each class a column whose name
        begins with `CLASS`. ``names``: of the classes.

        Raises `CalibrationInputError` for scores that are none and for another class.
        """
        labels = pc.index_in(batch["outcome"], pa.array(names))
        if labels.null_count:
            stray = batch["outcome"].filter(pc.is_null(labels))[0].as_py()
            actual = "no value" if stray is None else repr(stray)
            wanted = f"one of the classes {', '.join(names[:20])}"
            raise CalibrationInputError("outcome", actual, wanted)
        columns = [f"{CLASS}{k}" for k in range(len(names))]
        table = np.stack([batch[one].to_numpy(zero_copy_only=False) for one in columns], axis=1)
        of = LogitSet if self.values == "logits" else LogitSet.from_probabilities
        rows = of(table, labels.to_numpy(), names)
        event = named_event(self.event, names).outcomes(rows.probabilities, rows.labels)
        both = {"score": event.scores, "outcome": event.hits.astype(np.float64)}
        others = {*batch.schema.names} - {*columns, *both}
        return pa.RecordBatch.from_pydict(both | {one: batch[one] for one in others})
