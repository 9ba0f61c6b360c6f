"""The two families of calibrators: maps of one score, and maps of a row of logits."""

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from calibcore.validation import Floats


@runtime_checkable
class FittedScoreMap(Protocol):
    """A fitted map from the score of one event to its calibrated score."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know of the fit, in sentences."""
        ...

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate scores, shape (n_samples,)."""
        ...


@runtime_checkable
class FittedVectorMap(Protocol):
    """A fitted map from logits to calibrated class probabilities."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know of the fit, in sentences."""
        ...

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Calibrate rows of logits, shape (n_samples, n_classes)."""
        ...


class ScoreMap(ABC):
    """A calibrator that learns from the scores and hits of one event."""

    @abstractmethod
    def fit(self, scores: ArrayLike, hits: ArrayLike) -> FittedScoreMap:
        """Fit on the calibration set."""


class VectorMap(ABC):
    """A calibrator that learns from the logits of all classes and the labels."""

    @abstractmethod
    def fit(self, logits: ArrayLike, labels: ArrayLike) -> FittedVectorMap:
        """Fit on the calibration set."""
