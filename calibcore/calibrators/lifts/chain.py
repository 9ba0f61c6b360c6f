"""One calibrator of all classes after another."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import FittedVectorMap, Progress, SlowVectorMap, VectorMap
from calibcore.calibrators.lifts.separate import FittedLift, Lift, tall_blocks
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.results import result_class
from calibcore.validation import Floats


def _as_logits(probabilities: Floats) -> Floats:
    """Take logarithms, in place; a probability of 0 rules the class out."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities, out=probabilities))


@result_class
class FittedChain(FittedVectorMap):
    """Two fitted calibrators, one after the other."""

    first: FittedVectorMap
    second: FittedVectorMap
    """The second takes the logarithms of the first's probabilities for logits."""

    def predict_proba(self, logits: ArrayLike) -> Floats:
        checked = validation.logits(logits)
        result = np.empty(checked.shape)
        for rows in tall_blocks(*checked.shape):  # so that one table of results is held, not two
            between = self.first.predict_proba(checked[rows])
            if isinstance(self.second, FittedLift):
                result[rows] = self.second.recalibrate(between)
            else:
                result[rows] = self.second.predict_proba(_as_logits(between))
        return result


@dataclass(frozen=True)
class Chain(SlowVectorMap):
    """Calibrate what another calibrator has calibrated.

    A first calibrator of few parameters leaves the second less to learn. Accuracy cannot change if
    neither of the two can change it.

    Parameters
    ----------
    first, second : VectorMap
        Both are fitted on the whole calibration set: the second on the logarithms of the
        probabilities that the first gives there.

    Notes
    -----
    ``Chain(TemperatureScaling(), OneVsRest(IsotonicCalibration()))`` is IROvA-TS, and with
    ``PooledClasses`` it is IRM-TS. A lift needs no logarithm, and is handed the probabilities.

    References
    ----------
    Zhang et al., ICML 2020, section 3.4.

    Examples
    --------
    >>> from calibcore.calibrators.temperature.scaling import TemperatureScaling
    >>> twice = Chain(TemperatureScaling(), TemperatureScaling())
    >>> fitted = twice.fit([[2.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> round(fitted.second.temperature, 6)
    1.0
    """

    first: VectorMap
    second: VectorMap

    def __post_init__(self) -> None:
        """Check that both calibrate all classes."""
        for field, value in (("first", self.first), ("second", self.second)):
            if not isinstance(value, VectorMap):
                raise CalibrationInputError(
                    field, type(value).__name__, "a calibrator of all classes, or a lift"
                )

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, progress: Progress | None = None
    ) -> FittedChain:
        rows = LogitSet(logits, labels)
        first = _fit(self.first, rows, _half(progress, 0.0))
        second: FittedVectorMap
        if isinstance(self.second, Lift):
            second = self.second.fit_probabilities(
                lambda some: first.predict_proba(rows.logits[some]),
                rows.n_classes,
                rows.labels,
                _half(progress, 0.5),
            )
        else:
            calibrated = LogitSet(_as_logits(first.predict_proba(rows.logits)), rows.labels)
            second = _fit(self.second, calibrated, _half(progress, 0.5))
        return FittedChain(first, second, warnings=first.warnings + second.warnings)


def _half(progress: Progress | None, start: float) -> Progress | None:
    if progress is None:
        return None
    return lambda share: progress(start + share / 2)


def _fit(calibrator: VectorMap, rows: LogitSet, progress: Progress | None) -> FittedVectorMap:
    if isinstance(calibrator, SlowVectorMap):
        return calibrator.fit(rows.logits, rows.labels, progress=progress)
    return calibrator.fit(rows.logits, rows.labels)
