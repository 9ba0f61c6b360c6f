"""What other libraries do of the same jobs: one function a peer's job.

Each makes a `Rival`, importing its library only then, so that a library that is not installed is
an `ImportError` there and nowhere else. What a peer takes is prepared here, outside the timing.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Table
from calibcore import EventScores, TopR, WithinTopR
from calibcore.binning import Binning, bin_scores
from calibcore.metrics import hit_rate
from calibcore.validation import Floats, Labels, Logits

N_BINS = 15

_BETWEEN_ROWS = "an edge is an interpolated quantile, so one row may change bin at each"


@dataclass(frozen=True)
class Rival:
    """A peer's way to do a job.

    Attributes
    ----------
    run : function
        What is timed.
    tolerance : float
        Largest absolute difference from Fractile's numbers that its conventions explain.
    note : str
        Conventions that differ, and what is missing or extra.
    expected : function, optional
        Fractile's value of what the peer returns, where that is not what the job returns.
    """

    run: Callable[[], Any]
    tolerance: float
    note: str
    expected: Callable[[], Any] | None = None


def numpy_ks(events: EventScores) -> Rival:
    """KS error, by an indirect sort."""
    scores, hits = events.scores, events.hits

    def run() -> float:
        order = np.argsort(scores)
        gap = np.cumsum(scores[order]) - np.cumsum(hits[order])
        return float(np.abs(gap).max() / len(scores))

    return Rival(run, 1e-9, "no checks; every prefix counts, so ties depend on the row order")


def _one_row_an_edge(events: EventScores) -> float:
    """How far bins of equal mass differ if one row at each edge falls on its other side."""
    return 2 * N_BINS / events.n_samples


def sklearn_curve(events: EventScores, binning: Binning) -> Rival:
    """Curve of bins: `calibration_curve`."""
    from sklearn.calibration import (  # noqa: PLC0415 - optional library
        calibration_curve,
    )

    strategy = {"equal_width": "uniform", "equal_mass": "quantile"}[binning]

    def run() -> Any:
        return calibration_curve(events.hits, events.scores, n_bins=N_BINS, strategy=strategy)

    def expected() -> tuple[Floats, Floats]:
        table = bin_scores(events.scores, events.hits, n_bins=N_BINS, binning=binning)
        filled = table.counts > 0
        return table.frequency[filled], table.mean_score[filled]

    note = "the curve of bins alone, compared bin by bin: without counts it gives no ECE"
    if binning == "equal_mass":
        return Rival(run, _one_row_an_edge(events), f"{note}; {_BETWEEN_ROWS}", expected)
    return Rival(run, 1e-9, note, expected)


def netcal_ece(events: EventScores, binning: Binning) -> Rival:
    """ECE of the scores: `netcal.metrics.ECE`."""
    from netcal.metrics import ECE  # noqa: PLC0415 - optional library

    measure = ECE(N_BINS, equal_intervals=binning == "equal_width")

    def run() -> float:
        return float(measure.measure(events.scores, events.hits))

    if binning == "equal_mass":
        return Rival(run, _one_row_an_edge(events), f"bins [lower, upper); {_BETWEEN_ROWS}")
    return Rival(run, 1e-6, "bins [lower, upper)")


def _torch() -> Any:
    import torch  # noqa: PLC0415 - optional library

    torch.set_num_threads(1)
    return torch


def torchmetrics_ece(events: EventScores) -> Rival:
    """ECE of the scores: `binary_calibration_error`."""
    from torchmetrics.functional.classification import (  # noqa: PLC0415 - optional library
        binary_calibration_error,
    )

    torch = _torch()
    scores, hits = torch.from_numpy(events.scores), torch.from_numpy(events.hits)
    return Rival(
        lambda: float(binary_calibration_error(scores, hits, n_bins=N_BINS, norm="l1")),
        1e-6,
        "bins [lower, upper); float64 scores given, since float32 sums lose rows",
    )


def sklearn_brier(events: EventScores) -> Rival:
    """Brier score of the event: `brier_score_loss`."""
    from sklearn.metrics import brier_score_loss  # noqa: PLC0415 - optional library

    return Rival(lambda: float(brier_score_loss(events.hits, events.scores)), 1e-12, "")


def sklearn_log_loss(events: EventScores) -> Rival:
    """NLL of the event: `log_loss`."""
    from sklearn.metrics import log_loss  # noqa: PLC0415 - optional library

    note = "probabilities clipped at 2.2e-16"
    return Rival(lambda: float(log_loss(events.hits, events.scores)), 1e-6, note)


def sklearn_auroc(events: EventScores) -> Rival:
    """AUROC: `roc_auc_score`."""
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - optional library

    return Rival(lambda: float(roc_auc_score(events.hits, events.scores)), 1e-12, "sorts too")


def relplot_smooth_ece(events: EventScores) -> Rival:
    """Smooth ECE: `relplot.smECE`."""
    import relplot.metrics  # noqa: PLC0415 - optional library

    hits = events.hits.astype(np.float64)
    note = "sigma to 1/1024, mesh of 200 points, saturated rows count half"
    return Rival(lambda: float(relplot.metrics.smECE(events.scores, hits)), 5e-2, note)


def unccal_debiased(events: EventScores) -> Rival:
    """Debiased ECE: `lower_bound_scaling_ce`."""
    from calibration import utils  # noqa: PLC0415 - optional library

    hits = events.hits.astype(np.int64)

    def run() -> float:
        return float(
            utils.lower_bound_scaling_ce(events.scores, hits, p=2, debias=True, num_bins=N_BINS)
        )

    return Rival(run, 1e-4, "numpy.array_split, edges halfway between rows")


def numpy_softmax(table: Table) -> Rival:
    """Softmax, on the whole table at once."""

    def run() -> Floats:
        weights = table.logits.astype(np.float64)
        weights -= weights.max(axis=1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    return Rival(run, 1e-12, "no checks")


def sklearn_softmax(table: Table) -> Rival:
    """Softmax: `sklearn.utils.extmath.softmax`."""
    from sklearn.utils.extmath import softmax  # noqa: PLC0415 - optional library

    return Rival(
        lambda: softmax(table.logits.astype(np.float64), copy=False),
        1e-12,
        "logits turned to float64 first: it keeps float32 otherwise",
    )


def numpy_event(table: Table, event: TopR | WithinTopR) -> Rival:
    """Event of the first ranks, by an indirect sort of each row."""
    rank = event.r

    def run() -> tuple[Floats, NDArray[np.bool_]]:
        order = np.argsort(-table.probabilities, axis=1)[:, :rank]
        ranked = np.take_along_axis(table.probabilities, order, axis=1)
        right = order == table.labels[:, np.newaxis]
        if isinstance(event, TopR):
            return ranked[:, -1], right[:, -1]
        return ranked.sum(axis=1), right.any(axis=1)

    return Rival(run, 1e-12, "no checks; sorts every row; ties in any order")


def numpy_top1(table: Table) -> Rival:
    """Top-1 score and hit, by max and argmax."""

    def run() -> tuple[Floats, NDArray[np.bool_]]:
        return table.probabilities.max(axis=1), table.probabilities.argmax(axis=1) == table.labels

    return Rival(run, 0.0, "no checks")


def _hit_rate(table: Table, event: WithinTopR) -> float:
    events = event.outcomes(table.probabilities, table.labels)
    return hit_rate(events.scores, events.hits)


def sklearn_within(table: Table, event: WithinTopR) -> Rival:
    """Share of within-top-r hits: `top_k_accuracy_score`."""
    from sklearn.metrics import top_k_accuracy_score  # noqa: PLC0415 - optional library

    classes = np.arange(table.logits.shape[1])

    def run() -> float:
        return float(
            top_k_accuracy_score(table.labels, table.probabilities, k=event.r, labels=classes)
        )

    return Rival(
        run,
        1e-12,
        "top_k_accuracy_score: the hits' mean alone, no scores; of equals the last class first",
        lambda: _hit_rate(table, event),
    )


def torchmetrics_hits(table: Table, event: WithinTopR) -> Rival:
    """Share of hits: `multiclass_accuracy`."""
    from torchmetrics.functional.classification import (  # noqa: PLC0415 - optional library
        multiclass_accuracy,
    )

    torch = _torch()
    probabilities = torch.from_numpy(table.probabilities)
    labels = torch.from_numpy(table.labels)
    n_classes = table.logits.shape[1]

    def run() -> float:
        return float(
            multiclass_accuracy(probabilities, labels, n_classes, top_k=event.r, average="micro")
        )

    return Rival(
        run,
        1e-6,
        "multiclass_accuracy: the hits' mean alone, in float32, no scores",
        lambda: _hit_rate(table, event),
    )


def netcal_top1_ece(table: Table) -> Rival:
    """Top-1 ECE of probabilities: `netcal.metrics.ECE`."""
    from netcal.metrics import ECE  # noqa: PLC0415 - optional library

    measure = ECE(N_BINS)
    return Rival(
        lambda: measure.measure(table.probabilities, table.labels), 1e-6, "bins [lower, upper)"
    )


def torchmetrics_top1_ece(table: Table) -> Rival:
    """Top-1 ECE of probabilities: `multiclass_calibration_error`."""
    from torchmetrics.functional.classification import (  # noqa: PLC0415 - optional library
        multiclass_calibration_error,
    )

    torch = _torch()
    probabilities = torch.from_numpy(table.probabilities)
    labels = torch.from_numpy(table.labels)
    n_classes = table.logits.shape[1]

    def run() -> float:
        return float(
            multiclass_calibration_error(probabilities, labels, n_classes, n_bins=N_BINS, norm="l1")
        )

    note = "scores and sums in float32, those that become 1.0 in a bin of their own; [lower, upper)"
    return Rival(run, 1e-4, note)


def numpy_top1_ks(table: Table) -> Rival:
    """Top-1 KS error from logits, on the whole table at once."""

    def run() -> float:
        weights = np.exp(table.logits.astype(np.float64))
        probabilities = weights / weights.sum(axis=1, keepdims=True)
        scores = probabilities.max(axis=1)
        order = np.argsort(scores)
        hits = probabilities.argmax(axis=1) == table.labels
        gap = np.cumsum(scores[order]) - np.cumsum(hits[order])
        return float(np.abs(gap).max() / len(scores))

    return Rival(run, 1e-9, "no checks, softmax without the row's maximum taken off")


def frozen_logits(n_classes: int) -> Any:
    """Make a scikit-learn classifier, fitted already, whose input is its logits."""
    from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: PLC0415 - optional library
    from sklearn.frozen import FrozenEstimator  # noqa: PLC0415 - optional library

    class PassThrough(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # untyped library
        """A classifier whose input is its logits."""

        def fit(self, logits: Logits, labels: Labels) -> "PassThrough":
            self.classes_ = np.arange(logits.shape[1])
            self.n_rows_ = len(labels)
            return self

        def decision_function(self, logits: Logits) -> Logits:
            return logits

        def predict(self, logits: Logits) -> NDArray[np.intp]:
            largest: NDArray[np.intp] = np.argmax(logits, axis=1)
            return largest

    return FrozenEstimator(PassThrough().fit(np.zeros((1, n_classes)), np.zeros(1, np.int64)))


def sklearn_temperature(table: Table) -> Rival:
    """Temperature: `CalibratedClassifierCV` around a classifier that is fitted already."""
    from sklearn.calibration import (  # noqa: PLC0415 - optional library
        CalibratedClassifierCV,
    )

    frozen = frozen_logits(table.logits.shape[1])

    def run() -> float:
        fitted = CalibratedClassifierCV(frozen, method="temperature")
        fitted.fit(table.logits, table.labels)
        return float(1 / fitted.calibrated_classifiers_[0].calibrators[0].beta_)

    return Rival(run, 1e-3, "bounded search on the logarithm of 1 / T, in the logits' float32")


def netcal_temperature(table: Table) -> Rival:
    """Temperature: `netcal.scaling.TemperatureScaling`, on probabilities."""
    from netcal.scaling import TemperatureScaling  # noqa: PLC0415 - optional library

    def run() -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of libraries below it, about each other
            fitted = TemperatureScaling()
            fitted.fit(table.probabilities, table.labels)
        return float(1 / np.asarray(fitted.temperature).item())

    return Rival(run, 1e-3, "takes probabilities, clipped away from 0; its temperature is 1 / T")
