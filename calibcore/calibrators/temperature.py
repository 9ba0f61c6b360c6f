"""Temperature scaling: one number that divides every logit."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.blocks import block_rows, row_blocks, row_maxima
from calibcore.calibrators.base import FittedVectorMap, VectorMap
from calibcore.data import LogitSet
from calibcore.probabilities import below_largest, softmax
from calibcore.validation import Floats, Labels, Logits

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
        return softmax(np.asarray(checked, dtype=np.float64) / self.temperature)


@dataclass(frozen=True)
class TemperatureScaling(VectorMap):
    """Divide every logit by the temperature that makes the calibration labels likeliest.

    The classes keep their order in every row, so accuracy cannot change.

    Parameters
    ----------
    loss : {"nll"}, default "nll"
        What the fit minimises.

    Notes
    -----
    The mean NLL is convex in 1 / T. Newton's method inside a bracket finds its minimum; where there
    is none within `TEMPERATURE_BOUNDS`, or every temperature is as good, ``warnings`` say so.

    References
    ----------
    Guo et al., ICML 2017, section 4.2.

    Examples
    --------
    >>> fitted = TemperatureScaling().fit([[2.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> round(fitted.temperature, 4)
    1.8205
    """

    loss: Literal["nll"] = "nll"

    def __post_init__(self) -> None:
        """Check the option."""
        validation.choice(self.loss, "loss", allowed=("nll",))

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
        possible = np.isfinite(rows.logits[np.arange(rows.n_samples), rows.labels])
        if possible.all():
            return _fit(rows.logits, rows.labels)
        left_out = f"{np.count_nonzero(~possible):,} calibration rows were left out of the fit:"
        left_out += " the model gives their true class the probability 0 at every temperature."
        if not possible.any():
            return FittedTemperature(1.0, warnings=(left_out, "No row is left, so T stays 1."))
        fitted = _fit(rows.logits[possible], rows.labels[possible])
        return FittedTemperature(fitted.temperature, warnings=(left_out, *fitted.warnings))


def _fit(logits: Logits, labels: Labels) -> FittedTemperature:
    own = logits[np.arange(len(labels)), labels]
    if np.array_equal(own, row_maxima(logits)[:, 0]):
        other = np.where(np.isneginf(logits), own[:, np.newaxis], logits)
        indifferent = np.array_equal(own, other.min(axis=1))
        return FittedTemperature(1.0, warnings=(_INDIFFERENT if indifferent else _SEPARABLE,))
    # A class that is ruled out must not make 0 times infinity; far below, it has weight 0 as well.
    ruled_out = not np.isfinite(logits.min())
    finite = np.maximum(logits, np.finfo(np.float32).min / 4) if ruled_out else logits
    few = slice(None, None, max(1, min(len(labels) // _FIRST_ROWS, 12)))
    inverse = _search(finite, labels, _search(finite[few], labels[few], 1.0))
    return FittedTemperature(1 / inverse, warnings=_bound_warning(1 / inverse))


def _bound_warning(temperature: float) -> tuple[str, ...]:
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
        if _is_last(size, last):
            return inverse + step
        last = size
        following = inverse + step
        if following >= high:
            following = coldest if high == coldest else math.sqrt(low * high)
        elif following <= low:
            following = hottest if low == hottest else math.sqrt(low * high)
        inverse = following
    return inverse


def _is_last(size: float, last: float) -> bool:
    """Tell whether the step after this one would be too small to matter.

    Newton's steps shrink quadratically: each is about the square of the one before, times the same
    factor, which the last two show. So the pass that would only confirm it is saved.
    """
    if size <= 1e-13:
        return True
    return last < 1e-2 and size < 1e-5 and 10 * size**3 / last**2 <= 1e-13
