"""One network of a series, by epoch, capacity or another number, before a temperature and after."""

import numpy as np

from calibcore.auditing import audit
from calibcore.calibrators import FittedTemperature, TemperatureScaling
from calibcore.calibrators.base import FittedMap
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult, sides_of
from calibcore.events import Event, TopR
from calibcore.fitting import FoldedVectorMap
from calibcore.metrics import PROBABILITY_FLOOR, mean_entropy
from calibcore.results import result_class
from calibcore.splits import Split
from calibcore.validation import Floats, Hits
from calibcore.weights import RowWeights, row_mean

Both = tuple[float, float]
"""Before temperature scaling and after."""


@result_class
class Checkpoint:
    """Error and calibration of one network on its test set."""

    number: float
    """Its place in the series, such as the epoch."""
    n_samples: int
    """Rows of the test set."""
    temperature: float
    """What divides the logits, fitted on the calibration set; with folds, the mean of theirs."""
    correct: Hits
    """Whether the most probable class is the true one: no temperature changes it; shape
    (n_samples,).
    """
    losses: Floats
    """Of each row before, in nats; their mean is the NLL; shape (n_samples,)."""
    nll: Both
    entropy: Both
    """Of all classes, in nats, before and after."""
    ece: Both
    ks_error: Both
    """Of the event, before and after."""
    classwise_ece: Both
    """Of each class against the rest, the mean, before and after."""
    weights: RowWeights | None = None
    """Of the rows, by which all means are weighted."""

    @property
    def error(self) -> float:
        """Share of the rows whose most probable class is wrong."""
        return 1 - row_mean(self.correct, self.weights)


def checkpoint(
    number: float, split: Split[LogitSet], *, event: Event | None = None, n_bins: int = 15
) -> Checkpoint:
    """Fit a temperature on the calibration set of one network, and evaluate it on the test set.

    ``number``: its place in the series, such as the epoch. ``split``: both sets of the network.
    ``event``: what ECE and KS error are about. ``n_bins``: bins of the ECE, of equal width.

    Raises `CalibrationInputError` as `calibcore.audit` does.

    Source: Guo et al., ICML 2017, figures 2, 3 and S1; Vasilev and D'yakonov 2023, tables 1 and 2.

    >>> rows = LogitSet([[2.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.0, 2.0]] * 2, [0, 0, 1, 0] * 2)
    >>> point = checkpoint(1, Split(rows, rows))
    >>> point.error, round(point.temperature, 3)  # ln 3 is the logit that 3 of 4 need
    (0.25, 1.82)
    """
    result = audit(split, event=event or TopR(1), calibrator=TemperatureScaling(), n_bins=n_bins)
    return checkpoint_of(number, split.test, result.test, result.of_test)


def checkpoint_of(
    number: float, rows: LogitSet, result: SetResult, fitted: FittedMap | None
) -> Checkpoint:
    """Return the `checkpoint` of rows that were evaluated at a fitted temperature."""
    maps = fitted.maps if isinstance(fitted, FoldedVectorMap) else (fitted,)
    temperatures = [one.temperature for one in maps if isinstance(one, FittedTemperature)]
    if len(temperatures) < len(maps):
        raise CalibrationInputError("calibrator", type(fitted).__name__, "a temperature")
    before, after = (
        mean_entropy(side.probabilities, sample_weight=rows.weights)
        for side in sides_of(rows, result, fitted)
        if side.probabilities is not None
    )
    own = rows.probabilities[np.arange(rows.n_samples), rows.labels]
    return Checkpoint(
        number=float(number),
        n_samples=result.n_samples,
        temperature=sum(temperatures) / len(temperatures),
        correct=TopR(1).outcomes(rows.probabilities, rows.labels).hits,
        losses=-np.log(np.maximum(own, PROBABILITY_FLOOR)),
        nll=_both(result, "nll"),
        entropy=(before, after),
        ece=_both(result, "ece"),
        ks_error=_both(result, "ks_error"),
        classwise_ece=_both(result, "classwise_ece"),
        weights=rows.weights,
    )


def _both(result: SetResult, key: str) -> Both:
    comparison = result.compare(key)
    if comparison.before is None or comparison.after is None:
        raise CalibrationInputError("rows", f"no {key}", "logits of all classes")
    return comparison.before, comparison.after
