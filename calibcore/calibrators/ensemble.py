"""Ensemble temperature scaling: tempered, plain and uniform probabilities, mixed."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.blocks import block_rows, row_blocks
from calibcore.calibrators.base import FittedVectorMap, VectorMap
from calibcore.calibrators.ensemble_losses import Likelihood, Objective, Place, SquaredError
from calibcore.calibrators.simplex import Least, least_on_simplex, newton_step, onto_simplex
from calibcore.calibrators.temperature import (
    LOSSES,
    TEMPERATURE_BOUNDS,
    Loss,
    TemperatureScaling,
    bound_warning,
    without_infinity,
    without_optimum,
)
from calibcore.data import LogitSet
from calibcore.probabilities import below_largest
from calibcore.validation import Floats, Labels, Logits

_FIRST_ROWS = 256
"""Rows, at least, from which the search on all of them gets its starting point."""

_FACTORS = tuple(2.0**power for power in range(-4, 5))
"""Where valleys are looked for: temperatures as multiples of temperature scaling's own."""

_MOST_STEPS = 100

_EXACT, _ROUGH = 1e-6, 1e-3
"""Steps in ln T at which a search ends; what is left is about their square."""

_WITHOUT_EFFECT = (
    "The part with the temperature got the weight 0, so the temperature, set to 1, changes nothing."
)


@dataclass(frozen=True, eq=False)
class FittedEnsembleTemperature(FittedVectorMap):
    """A fitted ensemble temperature scaling.

    Attributes
    ----------
    temperature : float
        Divides the logits of the first part.
    weights : ndarray of float64, shape (3,)
        Of the tempered, the uncalibrated and the uniform probabilities; at least 0, summing to 1.
    """

    temperature: float
    weights: Floats

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Calibrate rows of logits.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            w1 softmax(logits / T) + w2 softmax(logits) + w3 / n_classes.
        """
        checked = validation.logits(logits)
        n_classes = checked.shape[1]
        result = np.empty(checked.shape)
        kept = np.empty((2, min(block_rows(n_classes), len(checked)), n_classes))
        parts = [(1 / self.temperature, float(self.weights[0])), (1.0, float(self.weights[1]))]
        for rows in row_blocks(*checked.shape):
            shifted, part = kept[:, : len(checked[rows])]
            below_largest(checked[rows], out=shifted)
            mixed = result[rows]
            mixed[...] = self.weights[2] / n_classes
            for inverse, weight in parts:
                if weight > 0:
                    with np.errstate(over="ignore"):  # too far below the largest to weigh anything
                        np.multiply(shifted, inverse, out=part)
                    np.exp(part, out=part)
                    part *= weight / part.sum(axis=1, keepdims=True)
                    mixed += part
            np.minimum(mixed, 1.0, out=mixed)  # three weights may sum to a digit more
        return result


@dataclass(frozen=True)
class EnsembleTemperatureScaling(VectorMap):
    """Mix probabilities at one temperature with the uncalibrated and with the uniform ones.

    The classes keep their order in every row, so accuracy cannot change.

    Parameters
    ----------
    loss : {"nll", "squared_error"}, default "nll"
        What the fit minimises, as for `TemperatureScaling`. The paper uses the squared error.

    Notes
    -----
    w1 softmax(z / T) + w2 softmax(z) + w3 / K, with weights of at least 0 that sum to 1. Eq. 5
    asks for the best temperature and weights together; the authors' program takes the temperature
    of temperature scaling and fits the weights alone. Here both move: for each temperature the
    weights are solved exactly (a convex problem), and Newton's method follows the temperature.
    Although the paper calls it so, the problem is not convex in the temperature; valleys
    are looked for beside 1 and on a grid about temperature scaling's own, which is on it, so the
    loss is never above the program's. On many rows, a part of them tells which valley is deepest.

    References
    ----------
    Zhang et al., ICML 2020, section 3.2.2, eq. 5.

    Examples
    --------
    >>> fitted = EnsembleTemperatureScaling().fit([[2.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> fitted.predict_proba([[2.0, 0.0]]).round(4).tolist()
    [[0.75, 0.25]]
    """

    loss: Loss = "nll"

    def __post_init__(self) -> None:
        """Check the option."""
        validation.choice(self.loss, "loss", allowed=LOSSES)

    def fit(self, logits: ArrayLike, labels: ArrayLike) -> FittedEnsembleTemperature:
        """Fit on the logits and labels of the calibration set.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.
        labels : array_like of int, shape (n_samples,)
            True classes, from 0.

        Returns
        -------
        FittedEnsembleTemperature

        Raises
        ------
        CalibrationInputError
            NaN or infinity in the logits, labels that do not fit.
        """
        rows = LogitSet(logits, labels)
        if nothing_to_find := without_optimum(rows.logits, rows.labels):
            return FittedEnsembleTemperature(
                1.0, np.array([1.0, 0.0, 0.0]), warnings=(nothing_to_find,)
            )
        found = _fit(without_infinity(rows.logits), rows.labels, self.loss)
        temperature = min(max(1 / found.inverse, TEMPERATURE_BOUNDS[0]), TEMPERATURE_BOUNDS[1])
        said = bound_warning(temperature)
        if found.weights[0] == 0:
            temperature, said = 1.0, (_WITHOUT_EFFECT,)
        return FittedEnsembleTemperature(temperature, found.weights, warnings=said)


class _Found(NamedTuple):
    value: float
    inverse: float
    weights: Floats


def _fit(logits: Logits, labels: Labels, loss: Loss) -> _Found:
    kind = Likelihood if loss == "nll" else SquaredError
    few = slice(None, None, max(1, min(len(labels) // _FIRST_ROWS, 12)))
    scaling = TemperatureScaling(loss=loss)
    tempered = 1 / scaling.fit(logits[few], labels[few]).temperature
    rough = _EXACT if few.step == 1 else _ROUGH
    found = _search(kind(logits[few], labels[few]), tempered, rough)
    if few.step == 1:
        return found
    whole = kind(logits, labels)
    alone = whole.at(tempered).bent(np.array([1.0, 0.0, 0.0]))
    found = _joint(whole, found, _EXACT)
    # Temperature scaling alone could gain about first^2 / (2 second) on all rows. Unless that
    # clearly leaves it above what was found, the search from its temperature is made as well.
    with np.errstate(invalid="ignore", over="ignore"):
        reach = alone.value - 2 * alone.first**2 / max(alone.second, 1e-300)
    if found.value > reach or found.weights[0] == 0:
        tempered = 1 / scaling.fit(logits, labels).temperature
        found = min(found, _search(whole, tempered, _EXACT), key=lambda one: one.value)
    return found


def _search(loss: Objective, tempered: float, precision: float) -> _Found:
    """Find the deepest of the valleys on a grid about an inverse temperature, and beside 1."""
    tried: list[_Found] = []
    weights = np.array([0.9, 0.05, 0.05])
    for factor in _FACTORS:
        tried.append(_at(loss, factor * tempered, weights))
        weights = tried[-1].weights
    values = np.array([math.inf, *(one.value for one in tried), math.inf])
    valleys = (values[1:-1] < values[:-2]) & (values[1:-1] <= values[2:])
    starts = [one for one, lowest in zip(tried, valleys, strict=True) if lowest]
    # Beside T = 1 the tempered and the plain part are nearly the same, and a valley is narrow.
    starts.append(_Found(math.inf, 1.0, np.array([0.95, 0.0, 0.05])))
    return min((_joint(loss, one, precision) for one in starts), key=lambda one: one.value)


def _at(loss: Objective, inverse: float, weights: Floats) -> _Found:
    """Find the best weights at a temperature."""
    low, high = TEMPERATURE_BOUNDS
    inverse = min(max(inverse, 1 / high), 1 / low)
    best = least_on_simplex(loss.at(inverse).on_weights, weights)
    return _Found(best.value, inverse, best.weights)


# The search ---------------------------------------------------------------------------------------


def _joint(loss: Objective, start: _Found, precision: float) -> _Found:
    """Go downhill in the temperature, with the best weights at each, to the next minimum.

    Newton's steps in the logarithm, none longer than a factor of 1.5, cut until they gain.
    """
    lowest, highest = 1 / TEMPERATURE_BOUNDS[1], 1 / TEMPERATURE_BOUNDS[0]
    inverse = min(max(start.inverse, lowest), highest)
    place = loss.at(inverse)
    best = least_on_simplex(place.on_weights, start.weights)
    for _ in range(_MOST_STEPS):
        step, along = _newton(place, best, inverse)
        following = min(max(inverse * math.exp(step), lowest), highest)
        if following == inverse:
            break
        if abs(step) <= precision:  # the next would be about its square
            return _Found(best.value, following, onto_simplex(best.weights + step * along))
        while True:
            there = loss.at(following)
            found = least_on_simplex(there.on_weights, best.weights)
            if found.value <= best.value + 2e-13 * abs(best.value):
                break
            step /= 4
            if abs(step) < precision:
                return _Found(best.value, inverse, best.weights)
            following = min(max(inverse * math.exp(step), lowest), highest)
        inverse, place, best = following, there, found
    return _Found(best.value, inverse, best.weights)


def _newton(place: Place, best: Least, inverse: float) -> tuple[float, Floats]:
    """Give Newton's step in ln(1 / T), and how the best weights move along it."""
    bent = place.bent(best.weights)
    free = best.weights > 0
    along = np.zeros(3)
    along[free] = newton_step(inverse * bent.mixed[free], best.hessian[np.ix_(free, free)])
    slope = inverse * bent.first
    bend = inverse**2 * bent.second + slope + inverse * float(bent.mixed @ along)
    if slope == 0:
        return 0.0, along
    step = -slope / bend if bend > 1e-3 * abs(slope) else -math.copysign(1, slope)
    return min(max(step, -0.4), 0.4), along
