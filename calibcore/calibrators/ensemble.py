"""Ensemble temperature scaling: tempered, plain and uniform probabilities, mixed."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.blocks import block_rows, row_blocks, row_totals
from calibcore.calibrators.base import FittedVectorMap, VectorMap
from calibcore.calibrators.ensemble_losses import Likelihood, Objective, Place, SquaredError
from calibcore.calibrators.row_sums import Precision, Rows
from calibcore.calibrators.simplex import Least, least_on_simplex, newton_step, onto_simplex
from calibcore.calibrators.temperature import (
    LOSSES,
    TEMPERATURE_BOUNDS,
    Loss,
    bound_warning,
    fit_temperature,
    no_optimum,
)
from calibcore.probabilities import below_largest
from calibcore.validation import Floats

_FACTORS = 2.0 ** np.arange(-4, 5)
"""Where valleys are looked for: temperatures as multiples of temperature scaling's own."""

_TRIALS = np.array(
    [
        [(1 - flat) * own, (1 - flat) * (1 - own), flat]
        for flat in (1e-4, 0.01, 0.1, 0.4, 0.9)
        for own in (1.0, 0.9, 0.6, 0.3, 0.05)
    ]
)
"""Weights tried at each of them."""

_FIRST_ROWS = 1024
"""Rows, at least, on which valleys are looked for; all of them if there are not twice as many."""

_CLOSE = 0.01
"""Valleys that are higher by more than this on those rows are not followed on all."""

_MOST_STEPS = 100

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
        table, maxima = validation.logits_and_maxima(logits)
        n_classes = table.shape[1]
        result = np.empty(table.shape)
        kept = np.empty((min(block_rows(n_classes), len(table)), n_classes))
        hot, plain, flat = self.weights.tolist()
        for rows in row_blocks(*table.shape):
            mixed = result[rows]
            part = kept[: len(mixed)]
            below_largest(table[rows], out=part, maxima=maxima[rows])
            with np.errstate(over="ignore"):  # too far below the largest to weigh anything
                np.multiply(part, 1 / self.temperature, out=mixed)
            np.exp(mixed, out=mixed)
            mixed *= hot / row_totals(mixed)
            if plain > 0:
                np.exp(part, out=part)
                part *= plain / row_totals(part)
                mixed += part
            if flat > 0:
                mixed += flat / n_classes
            if mixed.max() > 1:  # three weights may sum to a digit more
                np.minimum(mixed, 1.0, out=mixed)
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
    loss is not above the program's. On many rows, one in 64, or a thousand, tell which valleys are
    deep enough to be followed on all, in float32 first.

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
        rows = Rows.checked(logits, labels)
        if nothing_to_find := no_optimum(rows):
            return FittedEnsembleTemperature(
                1.0, np.array([1.0, 0.0, 0.0]), warnings=(nothing_to_find,)
            )
        found = _fit(rows, self.loss)
        temperature = min(max(1 / found.inverse, TEMPERATURE_BOUNDS[0]), TEMPERATURE_BOUNDS[1])
        said = bound_warning(temperature)
        if found.weights[0] == 0:
            temperature, said = 1.0, (_WITHOUT_EFFECT,)
        return FittedEnsembleTemperature(temperature, found.weights, warnings=said)


class _Found(NamedTuple):
    value: float
    inverse: float
    weights: Floats


_BESIDE_1 = _Found(math.inf, 1.0, np.array([0.95, 0.0, 0.05]))
"""Where to start beside T = 1: the tempered and the plain part are equal, and a valley narrow."""


def _fit(rows: Rows, loss: Loss) -> _Found:
    kind = Likelihood if loss == "nll" else SquaredError
    whole, few = kind(rows), rows.one_in(64, least=_FIRST_ROWS)
    tempered = 1 / fit_temperature(few, loss if few is rows else "nll").temperature
    if few is rows:
        return _lowest(whole, [*_valleys(whole, tempered), _BESIDE_1], np.float64)
    starts = _valleys(kind(few), tempered)
    least = min(one.value for one in starts)
    near = [one for one in starts if one.value <= least + _CLOSE]
    found = _lowest(whole, [_lowest(whole, near, np.float32)], np.float64)
    if found.weights[0] > 0:
        return found
    return _lowest(whole, [found, _BESIDE_1], np.float64)


def _lowest(loss: Objective, starts: list[_Found], precision: Precision) -> _Found:
    """Go downhill from each of some places, and choose the deepest."""
    return min((_joint(loss, one, precision) for one in starts), key=lambda one: one.value)


def _valleys(loss: Objective, tempered: float) -> list[_Found]:
    """Find what is lower than its neighbours on a grid about an inverse temperature, and 1."""
    low, high = 1 / TEMPERATURE_BOUNDS[1], 1 / TEMPERATURE_BOUNDS[0]
    grid = np.unique(np.clip(np.append(_FACTORS * tempered, 1.0), low, high))
    values = loss.on_grid(grid, _TRIALS)
    least = values.min(axis=1)
    walled = np.concatenate([[math.inf], least, [math.inf]])
    valleys = np.flatnonzero((least < walled[:-2]) & (least <= walled[2:]))
    return [
        _Found(float(least[place]), float(grid[place]), _TRIALS[values[place].argmin()])
        for place in valleys
    ]


def _joint(loss: Objective, start: _Found, precision: Precision) -> _Found:
    """Go downhill in the temperature, with the best weights at each, to the next minimum.

    Newton's steps in the logarithm, none longer than a factor of 1.5, cut until they gain. The
    next after the last would be about its square.
    """
    lowest, highest = 1 / TEMPERATURE_BOUNDS[1], 1 / TEMPERATURE_BOUNDS[0]
    last, slack = (1e-5, 1e-13) if precision is np.float64 else (1e-2, 1e-7)
    inverse = min(max(start.inverse, lowest), highest)
    place = loss.at(inverse, precision)
    best = least_on_simplex(place.on_weights, start.weights, slack)
    for _ in range(_MOST_STEPS):
        step, weights = _newton(place, best, inverse)
        following = min(max(inverse * math.exp(step), lowest), highest)
        if following == inverse:
            break
        if abs(step) <= last:
            return _Found(best.value, following, weights)
        while True:
            there = loss.at(following, precision)
            found = least_on_simplex(there.on_weights, weights, slack)
            if found.value <= best.value + 2 * slack * abs(best.value):
                break
            step /= 4
            if abs(step) < last:
                return _Found(best.value, inverse, best.weights)
            weights = (3 * best.weights + weights) / 4
            following = min(max(inverse * math.exp(step), lowest), highest)
        inverse, place, best = following, there, found
    return _Found(best.value, inverse, best.weights)


def _newton(place: Place, best: Least, inverse: float) -> tuple[float, Floats]:
    """Give Newton's step in ln(1 / T), and the best weights after it.

    Along the step the best weights move; one that reaches 0 stays there.
    """
    bent, weights = place.bent(best.weights), best.weights
    slope, done = inverse * bent.first, 0.0
    while slope != 0:
        free = weights > 0
        along = np.zeros(3)
        along[free] = newton_step(inverse * bent.mixed[free], best.hessian[free][:, free])
        bend = inverse**2 * bent.second + inverse * (bent.first + float(bent.mixed @ along))
        step = -slope / bend if bend > 1e-3 * abs(slope) else -math.copysign(1, slope)
        step = min(max(step, -0.4 - done), 0.4 - done)
        moved = weights + step * along
        if moved.min() >= 0:
            return done + step, onto_simplex(moved)
        shares = np.where(moved < 0, weights / np.where(moved < 0, weights - moved, 1.0), 1.0)
        first = int(shares.argmin())
        step *= float(shares[first])
        weights = weights + step * along
        weights[first] = 0.0
        slope += bend * step
        done += step
    return done, weights
