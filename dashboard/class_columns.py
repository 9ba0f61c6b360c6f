"""Scores of every class, a column each, of which the score of one event is counted."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from calibcore import LogitSet
from calibcore.calibrators.base import FittedVectorMap
from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
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

    def in_order(self, named: dict[str, str], calibrator: CalibratorFile | None) -> dict[str, str]:
        """Return columns by their classes, in the order of those that a calibrator takes, if any.

        Raises `CalibrationInputError` for a calibrator of other classes or values.
        """
        if calibrator is None:
            return named
        names = ", ".join(calibrator.class_names)
        if calibrator.takes != self.values or {*calibrator.class_names} != {*named}:
            actual = f"a calibrator of {calibrator.takes} {'of ' * bool(names)}{names}".rstrip()
            wanted = f"one of {self.values} of {', '.join(named)}"
            raise CalibrationInputError("with", actual, wanted)
        return {name: named[name] for name in calibrator.class_names}

    def rows(
        self, batch: pa.RecordBatch, names: Sequence[str], order: Sequence[str] = ()
    ) -> LogitSet:
        """Return the rows of a batch.

        ``batch``: ``outcome``, the true class by its name, and of each class a column whose name
        begins with `CLASS`. ``names``: of the classes, in the order of the columns. ``order``: in
        which the result has them, if in another.

        Raises `CalibrationInputError` for scores that are none and for another class.
        """
        wanted = order or names
        labels = pc.index_in(batch["outcome"], pa.array(wanted))
        if labels.null_count:
            stray = batch["outcome"].filter(pc.is_null(labels))[0].as_py()
            actual = "no value" if stray is None else repr(stray)
            known = f"one of the classes {', '.join(names[:20])}"
            raise CalibrationInputError("outcome", actual, known)
        columns = [f"{CLASS}{names.index(one)}" for one in wanted]
        table = np.stack([batch[one].to_numpy(zero_copy_only=False) for one in columns], axis=1)
        of = LogitSet if self.values == "logits" else LogitSet.from_probabilities
        return of(table, labels.to_numpy(), wanted)

    def counted(
        self, batch: pa.RecordBatch, names: Sequence[str], calibrator: CalibratorFile | None
    ) -> pa.RecordBatch:
        """Return a batch with the score of the event and its outcome in place of the classes'.

        ``calibrator``: one of all classes is applied before. The rest as of `rows`.
        """
        rows = self.rows(batch, names)
        fitted = None if calibrator is None else calibrator.fitted
        shares = rows.probabilities
        if isinstance(fitted, FittedVectorMap):
            shares = fitted.predict_proba(rows.logits)
        event = named_event(self.event, names).outcomes(shares, rows.labels)
        both = {"score": event.scores, "outcome": event.hits.astype(np.float64)}
        others = [
            one for one in batch.schema.names if one not in both and not one.startswith(CLASS)
        ]
        return pa.RecordBatch.from_pydict(both | {one: batch[one] for one in others})
