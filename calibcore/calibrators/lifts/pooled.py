"""From a map of one score to a map of all classes: the same map for all of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.blocks import row_blocks
from calibcore.calibrators.base import FittedScoreMap, Progress, ScoreMap
from calibcore.calibrators.lifts.separate import (
    FittedLift,
    Lift,
    Part,
    check_score_map,
    normalise,
    tall_blocks,
    tell,
)
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.ordering import sort_together
from calibcore.probabilities import softmax
from calibcore.results import result_class
from calibcore.validation import Floats, Labels

_READING, _SORTED = 0.3, 0.8
"""Shares of a fit that are over when the table has been read, and when it is sorted."""


def _check_strictness(value: float) -> None:
    if not 0 < value <= 1e-3:
        raise CalibrationInputError("strictness", repr(value), "above 0, at most 0.001")


def _fit_pooled(
    score_map: ScoreMap, probabilities: Floats, labels: Labels, progress: Progress | None = None
) -> FittedScoreMap:
    """Fit on all entries of a table, which is overwritten."""
    table = np.zeros(probabilities.shape, dtype=np.int8)
    table[np.arange(len(labels)), labels] = 1
    scores, hits = probabilities.reshape(-1), table.reshape(-1)
    # Sorted here, in place, as a score map would sort a copy of a table that fills the memory.
    sort_together(scores, hits)
    tell(progress, _SORTED)
    fitted = score_map.fit(scores, hits.view(np.bool_))
    tell(progress, 1.0)
    return fitted


def keep_decisions(block: Floats, decided: NDArray[np.intp]) -> None:
    """Let decided classes win by a last digit where doubles are too coarse to keep the order."""
    at, first = np.arange(len(block)), block.argmax(axis=1)
    largest, own = block[at, first], block[at, decided]
    lost = (first != decided) & (own >= largest * (1 - 1e-14))
    block[at[lost], decided[lost]] = np.nextafter(largest[lost], 2.0)


@result_class
class FittedPooledClasses(FittedLift):
    """One fitted map for the probabilities of all classes."""

    score_map: FittedScoreMap
    """Fitted on the entries of all rows and classes together."""
    strictness: float
    """Part of the uncalibrated probability that is added."""

    def recalibrate(self, probabilities: Floats) -> Floats:
        """Calibrate rows of probabilities, in place."""
        for rows in row_blocks(*probabilities.shape):
            block = probabilities[rows]
            decided = block.argmax(axis=1)
            mapped = self.score_map.predict(block.ravel()).reshape(block.shape)
            block *= self.strictness
            block += mapped
            normalise(block)
            keep_decisions(block, decided)
        return probabilities


@dataclass(frozen=True)
class PooledClasses(Lift):
    """Calibrate the probabilities of all classes by one map, then make every row sum to 1.

    If the map never falls, as isotonic regression (this is IRM), the classes keep their order in
    every row, so accuracy cannot change.

    Parameters
    ----------
    score_map : ScoreMap
        Fitted once, on the probabilities of all classes and rows and on whether each class was
        the true one.
    strictness : float, default 1e-9
        Part of the uncalibrated probability that is added to the map, so that it rises strictly;
        the authors' program adds 1e-9.

    Notes
    -----
    p_k becomes h(p_k) / sum_j h(p_j) with h(p) = g(p) + strictness p (step 3 and eq. 4). Where two
    classes differ by less than doubles can hold after that, the uncalibrated decision is kept.
    The authors' program does not divide by the sum; see `PooledScores`.

    References
    ----------
    Zhang et al., ICML 2020, section 3.3.2 (IRM).

    Examples
    --------
    >>> from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
    >>> fitted = PooledClasses(IsotonicCalibration()).fit([[1.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> fitted.predict_proba([[1.0, 0.0]]).round(6).tolist()
    [[0.75, 0.25]]
    """

    score_map: ScoreMap
    strictness: float = 1e-9

    def __post_init__(self) -> None:
        """Check the options."""
        check_score_map(self.score_map)
        _check_strictness(self.strictness)

    def fit_probabilities(
        self,
        part: Part,
        n_classes: int,
        labels: Labels,
        progress: Progress | None = None,
    ) -> FittedPooledClasses:
        """Fit on checked class probabilities."""
        table = np.empty((labels.size, n_classes))
        for rows in tall_blocks(*table.shape):
            table[rows] = part(rows)
            tell(progress, _READING * min(rows.stop / labels.size, 1.0))
        fitted = _fit_pooled(self.score_map, table, labels, progress)
        return FittedPooledClasses(fitted, self.strictness, warnings=fitted.warnings)


@result_class
class FittedPooledScores(FittedScoreMap):
    """One map fitted on the probabilities of all classes, for the score of the chosen event."""

    score_map: FittedScoreMap
    """Fitted on the entries of all rows and classes together."""
    strictness: float
    """Part of the uncalibrated score that is added."""

    def predict(self, scores: ArrayLike) -> Floats:
        checked = validation.scores(scores)
        return np.minimum(self.score_map.predict(checked) + self.strictness * checked, 1.0)


@dataclass(frozen=True)
class PooledScores:
    """`PooledClasses` without its last step: rows are not made to sum to 1.

    What comes out are no class probabilities, so it acts on the score of the chosen event alone,
    as a score map does; but it learns from all classes. The classes keep their order.

    Parameters
    ----------
    score_map, strictness
        As for `PooledClasses`.

    Notes
    -----
    The score s of a top-r or one-class event becomes min(1, g(s) + strictness s), which is what
    the authors' program of Zhang 2020 evaluates. The score of a within-top-r event is a sum of
    probabilities, which this map was not made for.

    Examples
    --------
    >>> from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
    >>> fitted = PooledScores(IsotonicCalibration()).fit([[1.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> fitted.predict([0.8]).round(6).tolist()
    [0.75]
    """

    score_map: ScoreMap
    strictness: float = 1e-9

    def __post_init__(self) -> None:
        """Check the options."""
        check_score_map(self.score_map)
        _check_strictness(self.strictness)

    def fit(self, logits: ArrayLike, labels: ArrayLike) -> FittedPooledScores:
        """Fit on the logits and labels of the calibration set, as `PooledClasses.fit`."""
        rows = LogitSet(logits, labels)
        fitted = _fit_pooled(self.score_map, softmax(rows.logits), rows.labels)
        return FittedPooledScores(fitted, self.strictness, warnings=fitted.warnings)
