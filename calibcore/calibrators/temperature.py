"""Temperature scaling: one number that divides every logit."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.blocks import block_rows, row_blocks, row_maxima
from calibcore.calibrators.base import FittedVectorMap, VectorMap
from calibcore.data import LogitSet
from calibcore.probabilities import below_largest
from calibcore.validation import Floats, Labels, Logits

Loss = Literal["nll", "squared_error"]
LOSSES: tuple[Loss, ...] = ("nll", "squared_error")

TEMPERATURE_BOUNDS = (1e-3, 1e3)
"""Temperatures outside are not looked for: they mean that no finite one is best."""

_SEPARABLE = (
    "Every calibration row has its true class on top, so the lower the temperature the better and"
    " no finite one is best; T stays 1."
)
_INDIFFERENT = "All logits of a row are equal, so no temperature changes anything; T = 1."
_NO_INFORMATION = (
    "The logits say nothing about these labels, and the calibrated probabilities are nearly equal."
)

_FIRST_ROWS = 256
"""Rows, at least, from which the search on all of them gets its starting point."""

_MOST_STEPS = 200

_FIRST_CELLS = 1 << 15
"""Size of the part of the table on which valleys of the squared error are looked for."""

_GRID = np.geomspace(1 / TEMPERATURE_BOUNDS[1], 1 / TEMPERATURE_BOUNDS[0], 41)
"""Inverse temperatures, rising by a factor of 1.41, between which a valley is taken to be seen."""


@dataclass(frozen=True, eq=False)
class FittedTemperature(FittedVectorMap):
    """A fitted temperature.

    Attributes
    ----------
    temperature : float
        Divides the logits; above 1 where the model was overconfident.
    """

    temperature: float

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Calibrate rows of logits.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_classes)
            softmax(logits / temperature).
        """
        checked = validation.logits(logits)
        result = np.empty(checked.shape)
        for rows in row_blocks(*checked.shape):
            block = result[rows]
            below_largest(checked[rows], out=block)
            with np.errstate(over="ignore"):  # too far below the largest to weigh anything
                block /= self.temperature
            np.exp(block, out=block)
            block /= block.sum(axis=1, keepdims=True)
        return result


@dataclass(frozen=True)
class TemperatureScaling(VectorMap):
    """Divide every logit by the temperature that fits the calibration labels best.

    The classes keep their order in every row, so accuracy cannot change.

    Parameters
    ----------
    loss : {"nll", "squared_error"}, default "nll"
        What the fit minimises: the mean negative log-likelihood, or the mean squared distance to
        the one-hot labels, which a few confident mistakes sway less.

    Notes
    -----
    The mean NLL is convex in 1 / T. Newton's method inside a bracket finds its minimum; where there
    is none within `TEMPERATURE_BOUNDS`, or every temperature is as good, ``warnings`` say so.

    The squared error, (1/N) sum_i sum_k (p_ik - 1(y_i = k))^2, may have several valleys. They are
    looked for on a grid of 41 temperatures, on at most some 33,000 cells of the table, spread
    evenly; each that is within 0.01 of the deepest there is followed down on all rows.

    References
    ----------
    Guo et al., ICML 2017, section 4.2; the squared error: Zhang et al., ICML 2020, section 5.1.

    Examples
    --------
    >>> fitted = TemperatureScaling().fit([[2.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> round(fitted.temperature, 4)
    1.8205
    """

    loss: Loss = "nll"

    def __post_init__(self) -> None:
        """Check the option."""
        validation.choice(self.loss, "loss", allowed=LOSSES)

    def fit(self, logits: ArrayLike, labels: ArrayLike) -> FittedTemperature:
        """Fit on the logits and labels of the calibration set.

        Parameters
        ----------
        logits : array_like of float, shape (n_samples, n_classes)
            Raw outputs before softmax.
        labels : array_like of int, shape (n_samples,)
            True classes, from 0.

        Returns
        -------
        FittedTemperature

        Raises
        ------
        CalibrationInputError
            NaN or infinity in the logits, labels that do not fit.
        """
        rows = LogitSet(logits, labels)
        if self.loss == "squared_error":  # finite whatever the model rules out
            return _fit(rows.logits, rows.labels, self.loss)
        possible = np.isfinite(rows.logits[np.arange(rows.n_samples), rows.labels])
        if possible.all():
            return _fit(rows.logits, rows.labels, self.loss)
        left_out = f"{np.count_nonzero(~possible):,} calibration rows were left out of the fit:"
        left_out += " the model gives their true class the probability 0 at every temperature."
        if not possible.any():
            return FittedTemperature(1.0, warnings=(left_out, "No row is left, so T stays 1."))
        fitted = _fit(rows.logits[possible], rows.labels[possible], self.loss)
        return FittedTemperature(fitted.temperature, warnings=(left_out, *fitted.warnings))


def _fit(logits: Logits, labels: Labels, loss: Loss) -> FittedTemperature:
    if nothing_to_find := without_optimum(logits, labels):
        return FittedTemperature(1.0, warnings=(nothing_to_find,))
    finite = without_infinity(logits)
    if loss == "squared_error":
        inverse = _deepest(finite, labels)
        return FittedTemperature(1 / inverse, warnings=bound_warning(1 / inverse))
    few = slice(None, None, max(1, min(len(labels) // _FIRST_ROWS, 12)))
    inverse = _search(finite, labels, _search(finite[few], labels[few], 1.0))
    return FittedTemperature(1 / inverse, warnings=bound_warning(1 / inverse))


def without_optimum(logits: Logits, labels: Labels) -> str:
    """Say why no temperature is best, where that is so; otherwise nothing."""
    own = logits[np.arange(len(labels)), labels]
    if not np.array_equal(own, row_maxima(logits)[:, 0]):
        return ""
    other = np.where(np.isneginf(logits), own[:, np.newaxis], logits)
    return _INDIFFERENT if np.array_equal(own, other.min(axis=1)) else _SEPARABLE


def without_infinity(logits: Logits) -> Logits:
    """Put a class that is ruled out so far below that its weight is 0 and 0 times it is 0."""
    if np.isfinite(logits.min()):
        return logits
    return np.maximum(logits, np.finfo(np.float32).min / 4)


def bound_warning(temperature: float) -> tuple[str, ...]:
    """Say so where a fit ended at a bound."""
    low, high = TEMPERATURE_BOUNDS
    if temperature >= high:
        return (f"The fit reached the largest temperature tried, {high:g}. {_NO_INFORMATION}",)
    if temperature <= low:
        return (f"The fit reached the smallest temperature tried, {low:g}; do not rely on it.",)
    return ()


class _Slope(NamedTuple):
    """First and second derivative of the mean NLL in the inverse temperature."""

    first: float
    second: float


def _slope(logits: Logits, labels: Labels, inverse: float) -> _Slope:
    """Evaluate both derivatives in one pass: mean and variance of each row's logits under p."""
    first = second = 0.0
    n_rows, n_classes = logits.shape
    kept = np.empty((2, min(block_rows(n_classes), n_rows), n_classes))
    for rows in row_blocks(n_rows, n_classes):
        block = logits[rows]
        shifted, weights = kept[:, : len(block)]
        below_largest(block, out=shifted)
        with np.errstate(over="ignore"):  # too far below the largest to weigh anything
            np.multiply(shifted, inverse, out=weights)
        np.exp(weights, out=weights)
        total = weights.sum(axis=1)
        own = shifted[np.arange(len(shifted)), labels[rows]]
        weights *= shifted
        mean = weights.sum(axis=1) / total
        spread = np.einsum("ij,ij->i", weights, shifted) / total - mean * mean
        first += float((mean - own).sum())
        second += float(spread.sum())
    return _Slope(first / n_rows, second / n_rows)


def _search(logits: Logits, labels: Labels, start: float) -> float:
    """Find the inverse temperature where the slope of the convex mean NLL is 0, or a bound."""
    coldest, hottest = 1 / TEMPERATURE_BOUNDS[0], 1 / TEMPERATURE_BOUNDS[1]
    low, high = hottest, coldest
    inverse, last = min(max(start, low), high), math.inf
    while high - low > 1e-15 * high:
        slope = _slope(logits, labels, inverse)
        at_bound = inverse == (coldest if slope.first < 0 else hottest)
        if slope.first == 0 or at_bound:
            return inverse
        if slope.first < 0:
            low = inverse
        else:
            high = inverse
        step = -slope.first / slope.second if slope.second > 0 else -slope.first * math.inf
        size = abs(step) / inverse
        if is_last_step(size, last):
            return inverse + step
        last = size
        following = inverse + step
        if following >= high:
            following = coldest if high == coldest else math.sqrt(low * high)
        elif following <= low:
            following = hottest if low == hottest else math.sqrt(low * high)
        inverse = following
    return inverse


def is_last_step(size: float, last: float) -> bool:
    """Tell whether the step after this one would be too small to matter.

    Newton's steps shrink quadratically: each is about the square of the one before, times the same
    factor, which the last two show. So the pass that would only confirm it is saved.
    """
    if size <= 1e-13:
        return True
    return last < 1e-2 and size < 1e-5 and 10 * size**3 / last**2 <= 1e-13


class _Point(NamedTuple):
    """The mean squared error with its first and second derivative in the inverse temperature."""

    value: float
    first: float
    second: float


def _squared_error(logits: Logits, labels: Labels, inverse: float) -> _Point:
    """Evaluate the squared error in one pass.

    With s = z minus its mean under p: dp/du = p s, and ds/du = minus the variance under p.
    """
    totals = np.zeros(3)
    n_rows, n_classes = logits.shape
    kept = np.empty((3, min(block_rows(n_classes), n_rows), n_classes))
    for rows in row_blocks(n_rows, n_classes):
        block, at = logits[rows], np.arange(len(labels[rows]))
        shifted, p, moved = kept[:, : len(block)]
        below_largest(block, out=shifted)
        with np.errstate(over="ignore"):  # too far below the largest to weigh anything
            np.multiply(shifted, inverse, out=p)
        np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        np.multiply(p, shifted, out=moved)
        mean = moved.sum(axis=1)
        variance = np.einsum("ij,ij->i", moved, shifted) - mean * mean
        squares, tilt, bend = (
            np.einsum("ij,ij->i", one, two) for one, two in ((p, p), (p, moved), (moved, moved))
        )
        bend += mean * (mean * squares - 2 * tilt)
        tilt -= mean * squares
        own, off = p[at, labels[rows]], shifted[at, labels[rows]] - mean
        pull = own * off
        totals += [
            float((squares - 2 * own + 1).sum()),
            float(2 * (tilt - pull).sum()),
            float(2 * (2 * bend - variance * (squares - own) - pull * off).sum()),
        ]
    return _Point(*(totals / n_rows).tolist())


def _deepest(logits: Logits, labels: Labels) -> float:
    """Find the inverse temperature of the least squared error."""
    step = -(-logits.size // _FIRST_CELLS)
    few, few_labels = logits[::step], labels[::step]

    def rough(inverse: float) -> _Point:
        return _squared_error(few, few_labels, inverse)

    def exact(inverse: float) -> _Point:
        return _squared_error(logits, labels, inverse)

    values = np.array([rough(inverse).value for inverse in _GRID.tolist()])
    walled = np.concatenate([[np.inf], values, [np.inf]])
    valleys = (values < walled[:-2]) & (values <= walled[2:])
    found = sorted(_downhill(rough, inverse) for inverse in _GRID[valleys].tolist())
    if step == 1:
        return found[0][1]
    near = [inverse for value, inverse in found if value <= found[0][0] + 0.01]
    apart = [a for a, b in zip(near, [math.inf, *near], strict=False) if abs(a - b) > 1e-6 * a]
    return min(_downhill(exact, inverse) for inverse in apart)[1]


def _downhill(curve: Callable[[float], _Point], start: float) -> tuple[float, float]:
    """Follow a curve from a place to the next minimum, or a bound: its value and its place.

    Newton's steps in the logarithm, none longer than a factor of 1.5, inside the bracket so far.
    """
    bounds = 1 / TEMPERATURE_BOUNDS[1], 1 / TEMPERATURE_BOUNDS[0]
    low, high = 0.0, math.inf
    inverse, last = min(max(start, bounds[0]), bounds[1]), math.inf
    point = curve(inverse)
    for _ in range(_MOST_STEPS):
        slope = inverse * point.first
        if slope == 0 or inverse == bounds[slope < 0]:
            break
        low, high = (inverse, high) if slope < 0 else (low, inverse)
        bend = inverse * inverse * point.second + slope
        step = -slope / bend if bend > abs(slope) * 1e-3 else -math.copysign(1, slope)
        step = min(max(step, -0.4), 0.4)
        following = min(max(inverse * math.exp(step), bounds[0]), bounds[1])
        if is_last_step(abs(step), last):
            return point.value, following
        if not low < following < high:
            following = math.sqrt(low * high)  # 0 or infinity where one side is still open
            if following in (0.0, inverse, math.inf):
                break
        inverse, last = following, abs(step)
        point = curve(inverse)
    return point.value, inverse
