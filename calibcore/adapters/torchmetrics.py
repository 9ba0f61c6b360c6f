"""Calibration as a metric that batches update, as those of torchmetrics; it needs no torch."""

from functools import reduce
from operator import add
from typing import Any

from calibcore.auditing import audit
from calibcore.errors import CalibrationInputError
from calibcore.events import Event
from calibcore.metrics import METRICS, EventMeasure
from calibcore.results import find
from calibcore.splits import Split
from calibcore.summary import Summary
from calibcore.tables import rows_of

USUAL = "ks_error", "ece", "mean_gap", "event_brier", "event_nll"
"""Keys of the measures where none are named."""


class CalibrationMetric:
    """Measures of one event over all batches, whose rows are counted by score and not stored.

    ``*measures``: keys of measures of an event, by default `USUAL`; another is refused. ``event``:
    as in `calibcore.audit`. ``n_bins``: of the binned measures.

    Examples
    --------
    >>> metric = CalibrationMetric("mean_gap")
    >>> metric.update([0.8, 0.6], [1, 0])
    >>> metric.update([0.1], [0])
    >>> round(metric.compute()["mean_gap"], 3)
    0.167
    """

    def __init__(self, *measures: str, event: Event | None = None, n_bins: int = 15) -> None:
        known = {one.key: one for one in METRICS if isinstance(one, EventMeasure)}
        self._keys = tuple(find(known, key, "measure").key for key in measures or USUAL)
        self._event, self._n_bins = event, n_bins
        self._parts: list[Summary] = []

    def update(self, preds: object, target: object) -> None:
        """Count a batch of tensors, arrays or lists; one that is refused counts nothing.

        ``preds``: scores, shape (n_samples,), or logits or probabilities of all classes, shape
        (n_samples, n_classes). ``target``: outcomes or true classes, shape (n_samples,). Errors are
        those of `calibcore.audit`.
        """
        rows = rows_of(preds, target)
        scored = audit(Split[Any](rows, rows), event=self._event).test.before.event
        self._parts.append(Summary.of(scored.scores, scored.hits))
        # A part is added to the one before it once it is as large: each row moves but a few times.
        while len(self._parts) > 1 and self._parts[-1].n_samples >= self._parts[-2].n_samples:
            self._parts[-2:] = [self._parts[-2] + self._parts[-1]]

    def merge_state(self, other: "CalibrationMetric") -> None:
        """Add the rows of another metric, such as another process's."""
        self._parts.append(other.summary)

    def compute(self) -> dict[str, float]:
        """Return each measure of all rows by its key; refused before any row."""
        test = self.summary.audit(n_bins=self._n_bins).test
        values = {key: test.compare(key).before for key in self._keys}
        return {key: value for key, value in values.items() if value is not None}

    def reset(self) -> None:
        """Forget all rows."""
        self._parts = []

    @property
    def summary(self) -> Summary:
        """All rows, counted by score, which says how near its measures are."""
        if not self._parts:
            raise CalibrationInputError("metric", "no row", "at least one update")
        self._parts = [reduce(add, self._parts)]
        return self._parts[0]
