"""Calibration as a metric that is called as those of Hugging Face's ``evaluate``; without it."""

from calibcore.adapters.torchmetrics import CalibrationMetric
from calibcore.events import Event


class Calibration:
    """Measures of one event by ``compute(predictions=, references=)``, or of batches before it.

    Parameters are those of `calibcore.adapters.torchmetrics.CalibrationMetric`. Predictions are
    scores, probabilities or logits, not classes.

    Examples
    --------
    >>> metric = Calibration("mean_gap", "event_brier")
    >>> metric.compute(predictions=[0.75, 0.5], references=[1, 0])
    {'mean_gap': 0.125, 'event_brier': 0.15625}
    """

    name = "calibration"

    def __init__(self, *measures: str, event: Event | None = None, n_bins: int = 15) -> None:
        self._metric = CalibrationMetric(*measures, event=event, n_bins=n_bins)

    def add_batch(self, *, predictions: object, references: object) -> None:
        """Count a batch, as `calibcore.adapters.torchmetrics.CalibrationMetric.update`."""
        self._metric.update(predictions, references)

    def compute(
        self, *, predictions: object | None = None, references: object | None = None
    ) -> dict[str, float]:
        """Return each measure by its key, of these rows and the batches before, and forget them.

        ``predictions``: shape (n_samples,) or (n_samples, n_classes); ``references``: shape
        (n_samples,).

        Raises
        ------
        CalibrationInputError
            No row at all, or as `calibcore.audit`.
        """
        if predictions is not None or references is not None:
            self.add_batch(predictions=predictions, references=references)
        measures = self._metric.compute()
        self._metric.reset()
        return measures
