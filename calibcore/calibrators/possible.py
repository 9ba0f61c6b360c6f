"""What a fit can leave in the fields of a fitted map, beyond their types."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from calibcore.errors import CalibrationInputError
from calibcore.validation import Floats

_ROUNDING = 1e-9


class _Rule(NamedTuple):
    """What holds of all values of a field, and how it is said."""

    holds: Callable[[Floats], bool]
    wanted: str


def _within(values: Floats) -> bool:
    return bool(np.all((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)))


def _rises(values: Floats) -> bool:
    return bool(np.all(np.diff(values) >= -_ROUNDING))


_POSITIVE = _Rule(lambda values: bool(np.all(values > 0)), "above 0")
_AT_LEAST_0 = _Rule(lambda values: bool(np.all(values >= 0)), "at least 0")
_PARTS = _Rule(_within, "from 0 to 1")
_NOT_ALL = _Rule(lambda values: bool(values.min() >= 0 and values.max() < 1), "from 0 to below 1")
_RISING = _Rule(_rises, "in rising order")
_RISING_PARTS = _Rule(lambda values: _within(values) and _rises(values), "from 0 to 1, rising")
_EDGES = _Rule(
    lambda values: bool(values.size > 1 and values[0] == 0 and values[-1] == 1 and _rises(values)),
    "rising from 0 to 1",
)
_SHARES = _Rule(
    lambda values: bool(values.min(initial=0) >= 0 and abs(values.sum() - 1) <= _ROUNDING),
    "at least 0, summing to 1",
)

_RULES: dict[str, dict[str, _Rule]] = {
    "FittedBBQ": {
        "edges": _RISING_PARTS,
        "heights": _PARTS,
        "n_bins": _POSITIVE,
        "weights": _SHARES,
    },
    "FittedBeta": {"a": _AT_LEAST_0, "b": _AT_LEAST_0},
    "FittedBetaEnsemble": {"a": _POSITIVE, "b": _AT_LEAST_0, "weights": _SHARES},
    "FittedByGroup": {"groups": _RISING, "penalty": _AT_LEAST_0},
    "FittedEnsembleTemperature": {"weights": _SHARES},
    "FittedGaussianProcess": {
        "places": _RISING,
        "noise": _AT_LEAST_0,
        "iterations": _AT_LEAST_0,
        "gradient_norm": _AT_LEAST_0,
    },
    "FittedHistogram": {"edges": _EDGES, "counts": _AT_LEAST_0, "frequency": _PARTS},
    "FittedIsotonic": {"first": _RISING_PARTS, "last": _RISING_PARTS, "frequency": _RISING_PARTS},
    "FittedLinear": {
        "uniform_share": _NOT_ALL,
        "penalty": _AT_LEAST_0,
        "loss": _AT_LEAST_0,
        "gradient_norm": _AT_LEAST_0,
    },
    "FittedPooledClasses": {"strictness": _POSITIVE},
    "FittedPooledScores": {"strictness": _AT_LEAST_0},
    "FittedSpline": {"scores": _RISING_PARTS},
    "FittedVennAbers": dict.fromkeys(
        ("lower_starts", "lower", "upper_ends", "upper"), _RISING_PARTS
    ),
}

_LENGTHS: dict[str, tuple[dict[str, int], ...]] = {
    "FittedBBQ": ({"edges": 1, "heights": 0}, {"n_bins": 0, "weights": 0}),
    "FittedBetaEnsemble": ({"a": 0, "b": 0, "c": 0, "weights": 0},),
    "FittedByGroup": ({"groups": 0, "shift": 0, "slope": 0},),
    "FittedGaussianProcess": ({"places": 0, "q_mean": 0, "q_factor": 0},),
    "FittedHistogram": ({"edges": -1, "counts": 0, "frequency": 0},),
    "FittedIsotonic": ({"first": 0, "last": 0, "frequency": 0},),
    "FittedLinear": ({"weights": 0, "bias": 0},),
    "FittedSpline": ({"scores": 0, "slope": 0},),
    "FittedVennAbers": ({"lower_starts": 1, "lower": 0}, {"upper_ends": 1, "upper": 0}),
}
"""Arrays whose lengths are the same number, above 0, once the one beside each is added."""


def check_values(fitted: Any) -> None:
    """Raise if a map holds what no fit can leave there.

    Raises
    ------
    CalibrationInputError
        Names the field that is out of its range, or the map whose arrays do not fit each other.
    """
    kind = type(fitted).__name__
    for field, rule in _RULES.get(kind, {}).items():
        value = getattr(fitted, field)
        if not rule.holds(np.atleast_1d(np.asarray(value, dtype=np.float64))):
            raise CalibrationInputError(field, f"{value!r:.40}", rule.wanted)
    for alike in _LENGTHS.get(kind, ()):
        lengths = {len(getattr(fitted, field)) + more for field, more in alike.items()}
        if len(lengths) > 1 or min(lengths) < 1:
            raise CalibrationInputError(
                kind, "arrays that do not fit each other", "those of one fit"
            )
