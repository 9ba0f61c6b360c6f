"""A way to fit and apply a calibrator: Fractile's, or a peer's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from benchmarks.data import Table
from calibcore import EventScores
from calibcore.calibrators import ScoreMap, VectorMap
from calibcore.calibrators.method import Calibrator
from calibcore.validation import Floats

Kind = Literal["event", "classes"]
"""Whether the score of the top-1 event is calibrated, or the probabilities of all classes."""


def logits(table: Table) -> Any:
    """Give the logits, in float32 as they are."""
    return table.logits


def probabilities(table: Table) -> Floats:
    """Give the class probabilities, in float64."""
    return table.probabilities


def scores(events: EventScores) -> Floats:
    """Give the event's scores, in float64."""
    return events.scores


@dataclass(frozen=True)
class Way:
    """How a library calibrates.

    Attributes
    ----------
    given : function
        Makes what the library takes of a `Table` or, for an event, of its `EventScores`; outside
        the timing.
    fit : function
        Takes that, and the labels or hits; gives whatever `predict` needs.
    predict : function
        Takes that, and what is given of other rows; gives calibrated probabilities or scores.
    parameters : function, optional
        Takes what was fitted; gives a linear map's matrix with its bias as the last column.
    """

    given: Callable[[Any], Any]
    fit: Callable[[Any, Any], Any]
    predict: Callable[[Any, Any], Any]
    parameters: Callable[[Any], Floats] | None = None


def with_bias(weights: Any, bias: Any) -> Floats:
    """Join a matrix, or the diagonal of one, and a bias."""
    matrix = np.diag(weights) if np.ndim(weights) == 1 else np.asarray(weights)
    return np.column_stack([matrix, bias]).astype(np.float64)


def ours(calibrator: Calibrator) -> Way:
    """Calibrate with Fractile, from the logits or from the event's scores."""
    if isinstance(calibrator, ScoreMap):
        return Way(scores, calibrator.fit, lambda fitted, rows: fitted.predict(rows))
    if not isinstance(calibrator, VectorMap):
        raise TypeError(f"{type(calibrator).__name__} has no row in the table")
    return Way(
        logits,
        calibrator.fit,
        lambda fitted, rows: fitted.predict_proba(rows),
        lambda fitted: with_bias(fitted.weights, fitted.bias),
    )


def one_vs_rest(single: Way) -> Way:
    """Calibrate each class's probability as an event's score, and make rows sum to 1."""

    def fit(table: Floats, labels: Any) -> list[Any]:
        return [single.fit(table[:, k], labels == k) for k in range(table.shape[1])]

    def predict(maps: list[Any], table: Floats) -> Floats:
        found = np.empty_like(table)
        for k, fitted in enumerate(maps):
            found[:, k] = single.predict(fitted, table[:, k])
        total = found.sum(axis=1, keepdims=True)
        total[total == 0] = 1
        found /= total
        return found

    return Way(probabilities, fit, predict)
