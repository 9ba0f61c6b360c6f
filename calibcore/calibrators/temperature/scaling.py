"""Temperature scaling: one number that divides every logit."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import FittedVectorMap, Positive, VectorMap
from calibcore.calibrators.temperature.row_sums import FLOOR, Rows, squared_terms
from calibcore.calibrators.temperature.tempered import mixture
from calibcore.results import result_class
from calibcore.validation import Floats, Logits

Loss = Literal["nll", "squared_error"]
LOSSES: tuple[Loss, ...] = ("nll", "squared_error")

TEMPERATURE_BOUNDS = (1e-3, 1e3)
"""Temperatures outside are not looked for: they mean that no finite one is best."""

_SEPARABLE = (
    "Every calibration row has its true class on top, so the lower the temperature the better and"
    " no finite one is best; T stays 1."
)
INDIFFERENT = (
    "In every calibration row the classes that are possible have equal logits, so no temperature"
    " changes anything; T stays 1."
)
_NO_INFORMATION = (
    "The true class has no higher logit than the other classes on average, so the calibrated"
    " probabilities are nearly equal."
)
_WRONG_WAY = (
    "The logits point the wrong way: beyond chance, the true class has a lower logit than the other"
    " classes on average. Check the labels and the order of the columns."
)
_BEYOND_CHANCE = 3.0
"""Standard errors by which the true class is lower on average, for it to be said."""

_HOTTER = "Logits reach so far apart here that a larger one would fit better."

_NEARLY_EQUAL = 0.1
"""Difference of logits, over the temperature, up to which the probabilities are said to be so."""

_FIRST_ROWS = 256
"""Rows, at least, from which a search on all of them gets its starting point."""

_SEVERAL_ROWS = 32, 1024
"""How many rows are looked through for a mistake before all are."""

_MOST_STEPS = 200
_FEW_ROWS = 20

_FIRST_CELLS = 1 << 15
"""Size of the part of the table on which valleys of the squared error are looked for."""

_GRID = np.geomspace(1 / TEMPERATURE_BOUNDS[1], 1 / TEMPERATURE_BOUNDS[0], 41)
"""Inverse temperatures, rising by a factor of 1.41, between which a valley is taken to be seen."""


@result_class
class FittedTemperature(FittedVectorMap):
    """A fitted temperature.

    Attributes
    ----------
    temperature : float
        Divides the logits; above 1 where the model was overconfident.
    """

    temperature: Positive

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Compute softmax(logits / temperature)."""
        return mixture(logits, [(1.0, 1 / self.temperature)])


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
    The mean NLL is convex in 1 / T. Householder's method inside a bracket comes near its minimum in
    float32, on some of the rows first, and Newton's method in float64 finds it; where there is none
    within `TEMPERATURE_BOUNDS`, or every temperature is as good, ``warnings`` say so.

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
        return fit_temperature(Rows.checked(logits, labels), self.loss)


def fit_temperature(rows: Rows, loss: Loss, *, rough: bool = False) -> FittedTemperature:
    """Fit on checked rows; the likelihood, if wished, to some digits."""
    if loss == "squared_error":  # finite whatever the model rules out
        return _fit(rows, _deepest)
    possible = rows.possible
    if possible.all():
        return _fit(rows, partial(_most_likely, rough=rough))
    left_out = f"{np.count_nonzero(~possible):,} calibration rows were left out of the fit:"
    left_out += " the model gives their true class the probability 0 at every temperature."
    if not possible.any():
        return FittedTemperature(1.0, warnings=(left_out, "No row is left, so T stays 1."))
    fitted = _fit(rows.part(possible), partial(_most_likely, rough=rough))
    return FittedTemperature(fitted.temperature, warnings=(left_out, *fitted.warnings))


def _fit(rows: Rows, best_inverse: Callable[[Rows], float]) -> FittedTemperature:
    if nothing_to_find := no_optimum(rows):
        return FittedTemperature(1.0, warnings=(nothing_to_find,))
    temperature = 1 / best_inverse(rows)
    return FittedTemperature(temperature, warnings=bound_warning(temperature, rows))


def no_optimum(rows: Rows) -> str:
    """Return a warning where no temperature is best; otherwise nothing."""
    several = _SEVERAL_ROWS if rows.n_rows > _SEVERAL_ROWS[-1] else ()
    few = [rows.part(slice(many)) for many in several]
    if all(is_level(some) for some in (*few, rows)):
        return INDIFFERENT
    return "" if any(some.own.any() for some in (*few, rows)) else _SEPARABLE


def is_level(rows: Rows) -> bool:
    """Return whether in every row the classes that are not ruled out have equal logits."""
    first = rows.logits[:1]
    if not np.isneginf(first).any() and first.min() < first.max():
        return False
    return np.array_equal(rows.maxima, _smallest(rows))


def _smallest(rows: Rows) -> Logits:
    """Return the smallest logit of each row among the classes that are not ruled out."""
    other = np.where(np.isneginf(rows.logits), rows.maxima[:, np.newaxis], rows.logits)
    return np.asarray(other.min(axis=1))


def bound_warning(temperature: float, rows: Rows) -> tuple[str, ...]:
    """Return a warning where a fit on some rows ended at a bound."""
    low, high = TEMPERATURE_BOUNDS
    if temperature >= high:
        with np.errstate(over="ignore"):
            apart = (rows.maxima - _smallest(rows)).max()
        why = useless(rows) if apart <= _NEARLY_EQUAL * high else _HOTTER
        return (f"The fit reached the largest temperature tried, {high:g}. {why}",)
    if temperature <= low:
        return (f"The fit reached the smallest temperature tried, {low:g}; do not rely on it.",)
    return ()


def useless(rows: Rows) -> str:
    """Return why equal probabilities fit best, of logits on which they do."""
    with np.errstate(over="ignore", invalid="ignore"):
        higher = np.concatenate([_above_mean(part) for part in rows.parts])
        higher = higher[np.isfinite(higher)]
        error = higher.std() / math.sqrt(len(higher)) if len(higher) >= _FEW_ROWS else math.inf
        wrong = higher.sum() < -_BEYOND_CHANCE * error * len(higher)
    return _WRONG_WAY if wrong else _NO_INFORMATION


def _above_mean(rows: Rows) -> Floats:
    """Return how far each true class is above the mean of the classes that are not ruled out."""
    logits = rows.logits.astype(np.float64)
    out = np.isneginf(logits)
    means: Floats = np.where(out, 0.0, logits).sum(axis=1) / (~out).sum(axis=1)
    return rows.true - means


class _Slope(NamedTuple):
    """First four derivatives of the mean NLL in the inverse temperature, as far as wanted."""

    first: float
    second: float
    third: float = 0.0
    fourth: float = 0.0

    def to_root(self) -> float:
        """Return Householder's step to where the slope is 0, or Newton's where that is unsafe."""
        if self.second <= 0:
            return -self.first * math.inf
        newton = -self.first / self.second
        bend = 1 + newton * self.third / (2 * self.second)
        twist = 2 * bend - 1 + newton * newton * self.fourth / (6 * self.second)
        return newton * bend / twist if bend > 0.1 and twist > 0.1 else newton


def _rough_slope(inverse: float, rows: Rows) -> tuple[float, ...]:
    """Evaluate four derivatives in one pass: the cumulants of each row's logits under p."""
    own, (total, *powers) = rows.powers(inverse, 4, np.float32)
    one, two, three, four = (power / total for power in powers)
    square = one * one
    second = two - square
    third = three - one * (second + 2 * two - square)
    fourth = four - 4 * one * three - 3 * two * two + 6 * square * (second + two)
    terms = one - own, second, third, fourth
    return tuple(float(term.sum()) / rows.n_rows for term in terms)


def _slope(inverse: float, rows: Rows) -> tuple[float, ...]:
    """Evaluate two derivatives in float64."""
    own, (total, once, twice) = rows.powers(inverse, 2, np.float64)
    mean = once / total
    return float((mean - own).mean()), float((twice / total - mean * mean).mean())


def _most_likely(rows: Rows, *, rough: bool = False) -> float:
    """Find the inverse temperature of the least mean NLL, on more and more of the rows."""
    inverse = 1.0
    for many, last in ((1, 0.3),) if rough else ((64, 0.5), (8, 0.3), (1, 0.05)):
        inverse = _search(_rough_slope, rows.one_in(many, least=_FIRST_ROWS), inverse, last)
    return inverse if rough else _search(_slope, rows, inverse, 3e-6)


def _search(
    derivatives: Callable[[float, Rows], tuple[float, ...]], rows: Rows, start: float, last: float
) -> float:
    """Find the inverse temperature where the slope of the convex mean NLL is 0, or a bound.

    The step that is at most the share ``last`` of the inverse temperature is the last; what is
    left then is about its fourth power with four derivatives, its square with two.
    """
    coldest, hottest = 1 / TEMPERATURE_BOUNDS[0], 1 / TEMPERATURE_BOUNDS[1]
    low, high = hottest, coldest
    inverse = min(max(start, low), high)
    while high - low > 1e-15 * high:
        slope = _Slope(*rows.mean(partial(derivatives, inverse)))
        at_bound = inverse == (coldest if slope.first < 0 else hottest)
        if slope.first == 0 or at_bound:
            return inverse
        if slope.first < 0:
            low = inverse
        else:
            high = inverse
        following = inverse + slope.to_root()
        if abs(following - inverse) <= last * inverse:
            return min(max(following, hottest), coldest)
        if following >= high:
            following = coldest if high == coldest else math.sqrt(low * high)
        elif following <= low:
            following = max(inverse / 4, low) if low == hottest else math.sqrt(low * high)
        inverse = following
    return inverse


def is_last_step(size: float, last: float) -> bool:
    """Return whether the step after this one would be too small to matter.

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


def _squared_error(rows: Rows, inverse: float) -> _Point:
    """Evaluate the squared error, a sum of p_k^2 less 2 p_y plus 1."""
    value, first, second = rows.mean(partial(_squared_terms, inverse))
    return _Point(value + 1, first, second)


def _squared_terms(inverse: float, rows: Rows) -> list[float]:
    """Return the mean over the rows of the terms that depend on u, and its two derivatives."""
    sums = np.empty((6, rows.n_rows))
    for place, tables in rows.blocks(np.float64, 3):
        sums[:, place] = rows.products(inverse, tables)
    squares, truth, _, _ = squared_terms(inverse, np.maximum(rows.own, FLOOR), sums)
    return [one - 2 * two for one, two in zip(squares, truth, strict=True)]


def _on_grid(rows: Rows) -> Floats:
    """Evaluate the squared error to some digits at each inverse temperature of the grid."""
    total, twice = np.split(rows.rough_totals(np.concatenate([_GRID, 2 * _GRID])), 2)
    truth = np.exp(np.multiply.outer(_GRID, np.maximum(rows.own, FLOOR))) / total
    return np.asarray((twice / (total * total) - 2 * truth).mean(axis=1) + 1)


def _deepest(rows: Rows) -> float:
    """Find the inverse temperature of the least squared error."""
    step = -(-rows.logits.size // _FIRST_CELLS)
    few = rows.part(slice(None, None, step))
    rough = partial(_squared_error, few)
    exact = partial(_squared_error, rows)
    values = _on_grid(few)
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
