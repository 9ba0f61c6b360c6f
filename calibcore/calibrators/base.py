"""The two families of calibrators: maps of one score, and maps of a row of logits."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from calibcore.errors import CalibrationInputError
from calibcore.validation import Floats

Progress = Callable[[float], None]
"""Told the share of a long fit that is done; whatever it raises ends the fit."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """A fitted calibrator: a frozen dataclass of numbers, arrays and further fitted maps.

    Parameters
    ----------
    warnings : tuple of str
        What the user should know of the fit, in sentences.
    """

    warnings: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Write the map as plain JSON, from which `from_json` makes the same map to the bit."""
        return json.dumps(_encode(self), allow_nan=False)

    def __eq__(self, other: object) -> bool:
        """Tell whether both are the same map, to the bit."""
        return isinstance(other, type(self)) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        """Hash the map's content."""
        return hash(self.to_json())


class FittedScoreMap(Fitted, ABC):
    """A fitted map from the score of one event to its calibrated score."""

    @abstractmethod
    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate scores, shape (n_samples,)."""


class FittedVectorMap(Fitted, ABC):
    """A fitted map from logits to calibrated class probabilities."""

    @abstractmethod
    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Calibrate rows of logits, shape (n_samples, n_classes)."""


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


class SlowVectorMap(VectorMap):
    """A vector map whose fit can take long enough to be watched, and to be stopped."""

    @abstractmethod
    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, progress: Progress | None = None
    ) -> FittedVectorMap:
        """Fit on the calibration set, telling ``progress`` how far it is."""


def from_json(text: str) -> Fitted:
    """Make a fitted map from what `Fitted.to_json` wrote.

    Parameters
    ----------
    text : str
        Plain JSON; nothing in it is run.

    Returns
    -------
    Fitted
        A `FittedScoreMap` or a `FittedVectorMap`.

    Raises
    ------
    CalibrationInputError
        No JSON, an unknown kind of map, or fields that do not belong to it.
    """
    try:
        return _decode(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        if isinstance(error, CalibrationInputError):
            raise
        raise CalibrationInputError(
            "fitted map", "text that cannot be read", "JSON written by to_json"
        ) from error


def fitted_kinds(base: type[Fitted] = Fitted) -> dict[str, type[Fitted]]:
    """List every class of fitted maps in this package, by name."""
    found = {}
    for kind in base.__subclasses__():
        ours = kind.__module__.startswith(__package__)
        if ours and not getattr(kind, "__abstractmethods__", None):
            found[kind.__name__] = kind
        found.update(fitted_kinds(kind))
    return found


def _encode(value: Any) -> Any:
    if isinstance(value, Fitted):
        content = {f.name: _encode(getattr(value, f.name)) for f in fields(value)}
        return {"kind": type(value).__name__, **content}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return value


def _decode(content: Any) -> Fitted:
    kinds = fitted_kinds()
    if not isinstance(content, dict) or content.get("kind") not in kinds:
        raise CalibrationInputError("kind", "no known kind of fitted map", ", ".join(kinds))
    kind = kinds[content["kind"]]
    hints = get_type_hints(kind)
    wanted = {f.name for f in fields(kind)}
    if set(content) != wanted | {"kind"}:
        raise CalibrationInputError(
            kind.__name__, f"the fields {', '.join(sorted(content))}", ", ".join(sorted(wanted))
        )
    return kind(**{name: _restored(content[name], hints[name]) for name in wanted})


def _restored(value: Any, hint: Any) -> Any:
    if isinstance(value, dict):
        return _decode(value)
    if not isinstance(value, list):
        return value
    if get_origin(hint) is tuple:
        inner = get_args(hint)[0]
        return tuple(_restored(item, inner) for item in value)
    dtype = get_args(get_args(hint)[1])[0]  # NDArray[T] is ndarray[shape, dtype[T]]
    return np.asarray(value, dtype=dtype)
