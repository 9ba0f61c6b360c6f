"""Temperature scaling, and sums over the classes at one temperature."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import FittedVectorMap, Positive, VectorMap, weighed_rows
from calibcore.calibrators.descriptions import SOFTMAX, Description, Recipe, rounded
from calibcore.calibrators.method import Choice
from calibcore.probabilities import (
    LOG2_E,
    below_largest,
    rank_by_logits,
    read_in_place,
    sum_columns,
)
from calibcore.results import result_class
from calibcore.strips import NARROW, row_strips, row_totals, strip_rows
from calibcore.validation import Floats, Logits
from calibcore.weights import RowWeights, SampleWeight

# Logits with their true classes, and sums over the classes at an inverse temperature ----------


Precision = type[np.float32] | type[np.float64]

FLOOR = -1e6
"""Logits further below their row's largest weigh 0 at any temperature that is looked for."""

_TOGETHER = 1 << 15
"""Rows whose sums are kept at the same time."""

_SMALL = 1500.0
"""Mean square up to which it is tried whether logits serve as they are."""

_SAFE = 1e-12, 1e25
"""Sums of exponentials between which they do, even in float32."""


class LogitRows:
    """Checked logits with their true classes, each of which stands for z.

    ``logits``: float32 or float64; shape (n_samples, n_classes). ``true``: the logit of the true
    class; shape (n_samples,). ``weights``: sampling weights, which the likelihood is weighted by;
    shape (n_samples,), or None.

    z is the difference to the row's largest. Small logits serve as they are wherever a constant
    added to a row changes nothing, which saves to look for the largest and to take it off. Sums
    are made in float64, or in float32, which takes half the time and is exact enough to come near
    a minimum. Rows of few classes are kept as columns, as sums along short rows are slow.
    """

    def __init__(
        self, logits: Logits, true: Floats, maxima: Logits | None, weights: Floats | None = None
    ) -> None:
        self.logits, self.true, self._maxima, self.weights = logits, true, maxima, weights
        self.n_rows, self.n_classes = logits.shape
        self._axis = 0 if self.n_classes <= NARROW else 1
        self._small: dict[Precision, NDArray[Any]] = {}  # z, if it is one block

    @classmethod
    def checked(cls, logits: ArrayLike, labels: ArrayLike) -> "LogitRows":
        """Check logits and labels."""
        table, maxima = validation.matrix(logits, "logits"), None
        with np.errstate(over="ignore", invalid="ignore"):
            small = np.vdot(table, table) <= _SMALL * table.size
        if not small:
            table, maxima = validation.logits_and_maxima(table)
        n_rows, n_classes = table.shape
        truth = validation.labels(labels, n_rows=n_rows, n_classes=n_classes)
        own = table.ravel()[truth + np.arange(0, table.size, n_classes)]
        return cls(table, own.astype(np.float64), maxima)

    @property
    def maxima(self) -> Logits:
        """The largest logit of each row."""
        return self._take_off() if self._maxima is None else self._maxima

    def _take_off(self) -> Logits:
        """Find the largest of each row, which from now on is taken off."""
        self._small.clear()
        self._maxima = validation.logits_and_maxima(self.logits)[1]
        return self._maxima

    @cached_property
    def own(self) -> Floats:
        """Difference of the true class to the row's largest; minus infinity if it is ruled out."""
        with np.errstate(over="ignore"):  # a difference too large for a float is minus infinity
            return np.asarray(self.true - self.maxima)

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Rows whose true class is not ruled out."""
        return np.isfinite(self.true if self._maxima is None else self.own)

    def part(self, chosen: slice | NDArray[np.bool_] | NDArray[np.intp]) -> "LogitRows":
        """Keep some rows."""
        table: Any = self.logits
        maxima = None if self._maxima is None else self._maxima[chosen]
        weights = None if self.weights is None else self.weights[chosen]
        return LogitRows(np.ascontiguousarray(table[chosen]), self.true[chosen], maxima, weights)

    def weighted_by(self, weights: RowWeights | None) -> "LogitRows":
        """Return the rows with sampling weights, if there are any."""
        if weights is None:
            return self
        return LogitRows(self.logits, self.true, self._maxima, weights.values)

    def one_in(self, many: int, *, least: int) -> "LogitRows":
        """Keep one row in so many, spread evenly, or more, so as to keep at least some."""
        step = min(many, self.n_rows // least)
        return self.part(slice(None, None, step)) if step > 1 else self

    def mean(self, terms: Callable[["LogitRows"], Sequence[float]]) -> list[float]:
        """Average over the rows what a function gives as means, of not too many rows at a time."""
        with np.errstate(over="ignore"):  # a mean too large for a float is infinite
            if self.n_rows <= _TOGETHER:
                return list(terms(self))
            totals: Any = sum(part.weight * np.array(terms(part)) for part in self.parts)
            means: list[float] = (totals / self.weight).tolist()
            return means

    @cached_property
    def weight(self) -> float:
        """Number of rows, or the sum of their weights."""
        return self.n_rows if self.weights is None else float(self.weights.sum())

    def sum_of(self, values: NDArray[Any]) -> float:
        """Return the weighted sum of one value a row."""
        return float(values.sum() if self.weights is None else self.weights @ values)

    def average(self, values: NDArray[Any]) -> float:
        """Return the mean of one value a row."""
        return self.sum_of(values) / self.weight

    def averages(self, table: Floats) -> Floats:
        """Return the mean of each line of a table, which has one value a row."""
        if self.weights is None:
            return np.asarray(table.mean(axis=1))
        return np.asarray(table @ self.weights / self.weight)

    @property
    def parts(self) -> list["LogitRows"]:
        """All rows, not too many at a time."""
        return self._cut if self.n_rows > _TOGETHER else [self]

    @cached_property
    def _cut(self) -> list["LogitRows"]:
        starts = range(0, self.n_rows, _TOGETHER)
        return [self.part(slice(start, start + _TOGETHER)) for start in starts]

    def powers(
        self, inverse: float, highest: int, precision: Precision
    ) -> tuple[Floats, NDArray[Any]]:
        """Sum exp(u z) z^j over the classes, up to a constant that is added to a row's z.

        ``inverse``: the inverse temperature u, at least 0.001. ``highest``: the last of the powers
        j, from 0. ``precision``: what is reckoned in.

        z of the true class, shape (n_samples,), and the sums in that precision, which are above 0
        for j = 0; shape (highest + 1, n_samples).
        """
        if self._maxima is None:
            with np.errstate(over="ignore", invalid="ignore"):  # looked for below
                sums = self._powers(inverse, highest, precision)
            if sums[0].min() > _SAFE[0] and sums[0].max() < _SAFE[1]:
                return self.true, sums
        return self.own, self._powers(inverse, highest, precision)

    def _powers(self, inverse: float, highest: int, precision: Precision) -> NDArray[Any]:
        sums = np.empty((highest + 1, self.n_rows), dtype=precision)
        for rows, (z, weights) in self._blocks(precision, 2):
            _exponentials(z, inverse, weights)
            sums[0, rows] = self.total(weights)
            for power in range(1, highest + 1):
                if power == highest and self._axis:
                    sums[power, rows] = self.dot(weights, z)
                else:
                    np.multiply(weights, z, out=weights)
                    sums[power, rows] = self.total(weights)
        return sums

    def rough_totals(self, inverses: Floats) -> Floats:
        """Sum exp(u z) over the classes in float32 for many u, shape (n_inverses, n_samples)."""
        totals = np.empty((inverses.size, self.n_rows))
        for rows, (z,) in self.blocks(np.float32, 1):
            weights = np.multiply.outer(inverses.astype(np.float32), z)
            np.exp(weights, out=weights)
            totals[:, rows] = weights.sum(axis=1 + self._axis)
        return totals

    def products(self, inverse: float, tables: list[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
        """Sum a, az, azz, aa, aaz and aazz over the classes, with a = exp(u z).

        Takes tables of a block, and leaves z, a and az in the first three.
        """
        z, a, az = tables[:3]
        _exponentials(z, inverse, a)
        np.multiply(a, z, out=az)
        dot = self.dot
        return self.total(a), self.total(az), dot(az, z), dot(a, a), dot(a, az), dot(az, az)

    def blocks(
        self, precision: Precision, n_tables: int
    ) -> Iterator[tuple[slice, list[NDArray[Any]]]]:
        """Return blocks of rows: their place, and tables of their shape.

        The first table is the difference to the row's largest, the others are to be written to.
        """
        if self._maxima is None:
            self._take_off()
        return self._blocks(precision, n_tables)

    def _blocks(
        self, precision: Precision, n_tables: int
    ) -> Iterator[tuple[slice, list[NDArray[Any]]]]:
        step = min(strip_rows(self.n_classes) * 8 // np.dtype(precision).itemsize, self.n_rows)
        below = np.empty(step * self.n_classes, dtype=precision)
        room = np.empty((n_tables - 1, below.size), dtype=precision)
        for start in range(0, self.n_rows, step):
            rows = slice(start, start + step)
            block = self._table[:, rows] if self._axis == 0 else self._table[rows]
            tables = [one[: block.size].reshape(block.shape) for one in room]
            if (z := self._small.get(precision)) is None:
                z = self._origin_moved(block, rows, below[: block.size].reshape(block.shape))
                if step == self.n_rows:
                    self._small[precision] = z
            yield rows, [z, *tables]

    @cached_property
    def _table(self) -> NDArray[Any]:
        return self.logits if self._axis else np.ascontiguousarray(self.logits.T)

    def _origin_moved(self, block: NDArray[Any], rows: slice, out: NDArray[Any]) -> NDArray[Any]:
        """Return z of a block in the precision of ``out``, written there unless z is."""
        if self._maxima is None:
            if block.dtype == out.dtype:
                return block
            out[...] = block
            return out
        maxima = np.expand_dims(self._maxima[rows], self._axis)
        with np.errstate(over="ignore"):  # too far below the largest to weigh anything
            if out.dtype == np.float64:
                out[...] = block
                out -= maxima.astype(np.float64)
            else:  # float64 is rounded after the subtraction
                np.subtract(block, maxima, out=out, casting="same_kind")
        if out.min() < FLOOR:
            np.maximum(out, FLOOR, out=out)
        return out

    def total(self, table: NDArray[Any]) -> NDArray[Any]:
        """Sum a block over the classes."""
        ones = _ones(self.n_classes, table.dtype)
        return np.asarray(ones @ table if self._axis == 0 else table @ ones)

    def dot(self, one: NDArray[Any], two: NDArray[Any]) -> NDArray[Any]:
        """Sum the products of two blocks over the classes."""
        if self._axis == 0:
            return np.asarray(np.einsum("ij,ij->j", one, two))
        return np.asarray(np.vecdot(one, two))


@lru_cache(maxsize=16)
def _ones(many: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a vector whose product with a table is its sum."""
    return np.ones(many, dtype=dtype)


def _exponentials(z: NDArray[Any], inverse: float, out: NDArray[Any]) -> None:
    """Write exp(u z)."""
    if out.dtype == np.float64:
        np.multiply(z, inverse * LOG2_E, out=out)
        np.exp2(out, out=out)
    else:  # powers of 2 that underflow take a hundred times as long in float32
        np.multiply(z, inverse, out=out)
        np.exp(out, out=out)


def squared_terms(
    inverse: float, rows: LogitRows, own: Floats, sums: Floats
) -> tuple[tuple[float, ...], tuple[float, ...], Floats, Floats]:
    """Average sum_k p_k^2 and p_y over the rows, with derivatives, given `LogitRows.products`.

    Both are exponentials of logarithms of sums, whose derivatives are means and variances; those
    of z under p come last.
    """
    a, az, azz, aa, aaz, aazz = sums
    mean, twice = az / a, aaz / aa
    variance = azz / a - mean * mean
    bend = 4 * (aazz / aa - twice * twice) - 2 * variance
    itself = mean_term(rows, aa / (a * a), 2 * (twice - mean), bend)
    truth = mean_term(rows, np.exp(inverse * own) / a, own - mean, -variance)
    return itself, truth, mean, variance


def mean_term(
    rows: LogitRows, value: Floats, slope: Floats, bend: Floats
) -> tuple[float, float, float]:
    """Average exp(f) and its two derivatives over the rows, given exp(f), f' and f''."""
    value = value if rows.weights is None else rows.weights * value
    n_rows, once = rows.weight, value * slope
    second = float(once @ slope) + float(value @ bend)
    return float(value.sum()) / n_rows, float(once.sum()) / n_rows, second / n_rows


# Temperature scaling: one number that divides every logit -------------------------------------


Loss = Literal["nll", "squared_error"]
LOSSES: tuple[Loss, ...] = ("nll", "squared_error")

TEMPERATURE_BOUNDS = (1e-3, 1e3)
"""Temperatures outside are not looked for: they mean that no finite one is best."""

SEPARABLE = (
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
    """A fitted temperature."""

    temperature: Positive
    """Divides the logits; above 1 where the model was overconfident."""

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Compute softmax(logits / temperature)."""
        table = mixture(logits, [(1.0, 1 / self.temperature)])
        rank_by_logits(table, validation.logits(logits))
        return table

    def recipe(self) -> Recipe:
        return {"temperature": self.temperature}, ["y = x / TEMPERATURE", *SOFTMAX]

    def describe(self) -> Description:
        return Description(f"T = {rounded(self.temperature)}. {_effect(self.temperature)}")


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

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedTemperature:
        logits, labels, weights = weighed_rows(logits, labels, sample_weight)
        return fit_temperature(LogitRows.checked(logits, labels).weighted_by(weights), self.loss)


def fit_temperature(rows: LogitRows, loss: Loss, *, rough: bool = False) -> FittedTemperature:
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


def _fit(rows: LogitRows, best_inverse: Callable[[LogitRows], float]) -> FittedTemperature:
    if nothing_to_find := no_optimum(rows):
        return FittedTemperature(1.0, warnings=(nothing_to_find,))
    temperature = 1 / best_inverse(rows)
    return FittedTemperature(temperature, warnings=bound_warning(temperature, rows))


def no_optimum(rows: LogitRows) -> str:
    """Return a warning where no temperature is best; otherwise nothing."""
    several = _SEVERAL_ROWS if rows.n_rows > _SEVERAL_ROWS[-1] else ()
    few = [rows.part(slice(many)) for many in several]
    if all(is_level(some) for some in (*few, rows)):
        return INDIFFERENT
    return "" if any(some.own.any() for some in (*few, rows)) else SEPARABLE


def is_level(rows: LogitRows) -> bool:
    """Return whether in every row the classes that are not ruled out have equal logits."""
    first = rows.logits[:1]
    if not np.isneginf(first).any() and first.min() < first.max():
        return False
    return np.array_equal(rows.maxima, _smallest(rows))


def _smallest(rows: LogitRows) -> Logits:
    """Return the smallest logit of each row among the classes that are not ruled out."""
    other = np.where(np.isneginf(rows.logits), rows.maxima[:, np.newaxis], rows.logits)
    return np.asarray(other.min(axis=1))


def bound_warning(temperature: float, rows: LogitRows) -> tuple[str, ...]:
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


def useless(rows: LogitRows) -> str:
    """Return why equal probabilities fit best, of logits on which they do."""
    with np.errstate(over="ignore", invalid="ignore"):
        higher = np.concatenate([_above_mean(part) for part in rows.parts])
        higher = higher[np.isfinite(higher)]
        error = higher.std() / math.sqrt(len(higher)) if len(higher) >= _FEW_ROWS else math.inf
        wrong = higher.sum() < -_BEYOND_CHANCE * error * len(higher)
    return _WRONG_WAY if wrong else _NO_INFORMATION


def _above_mean(rows: LogitRows) -> Floats:
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


def _rough_slope(inverse: float, rows: LogitRows) -> tuple[float, ...]:
    """Evaluate four derivatives in one pass: the cumulants of each row's logits under p."""
    own, (total, *powers) = rows.powers(inverse, 4, np.float32)
    one, two, three, four = (power / total for power in powers)
    square = one * one
    second = two - square
    third = three - one * (second + 2 * two - square)
    fourth = four - 4 * one * three - 3 * two * two + 6 * square * (second + two)
    terms = one - own, second, third, fourth
    return tuple(rows.average(term) for term in terms)


def _slope(inverse: float, rows: LogitRows) -> tuple[float, ...]:
    """Evaluate two derivatives in float64."""
    own, (total, once, twice) = rows.powers(inverse, 2, np.float64)
    mean = once / total
    return rows.average(mean - own), rows.average(twice / total - mean * mean)


def _most_likely(rows: LogitRows, *, rough: bool = False) -> float:
    """Find the inverse temperature of the least mean NLL, on more and more of the rows."""
    inverse = 1.0
    for many, last in ((1, 0.3),) if rough else ((64, 0.5), (8, 0.3), (1, 0.05)):
        inverse = _search(_rough_slope, rows.one_in(many, least=_FIRST_ROWS), inverse, last)
    return inverse if rough else _search(_slope, rows, inverse, 3e-6)


def _search(
    derivatives: Callable[[float, LogitRows], tuple[float, ...]],
    rows: LogitRows,
    start: float,
    last: float,
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


def _squared_error(rows: LogitRows, inverse: float) -> _Point:
    """Evaluate the squared error, a sum of p_k^2 less 2 p_y plus 1."""
    value, first, second = rows.mean(partial(_squared_terms, inverse))
    return _Point(value + 1, first, second)


def _squared_terms(inverse: float, rows: LogitRows) -> list[float]:
    """Return the mean over the rows of the terms that depend on u, and its two derivatives."""
    sums = np.empty((6, rows.n_rows))
    for place, tables in rows.blocks(np.float64, 3):
        sums[:, place] = rows.products(inverse, tables)
    squares, truth, _, _ = squared_terms(inverse, rows, np.maximum(rows.own, FLOOR), sums)
    return [one - 2 * two for one, two in zip(squares, truth, strict=True)]


def _on_grid(rows: LogitRows) -> Floats:
    """Evaluate the squared error to some digits at each inverse temperature of the grid."""
    total, twice = np.split(rows.rough_totals(np.concatenate([_GRID, 2 * _GRID])), 2)
    truth = np.exp(np.multiply.outer(_GRID, np.maximum(rows.own, FLOOR))) / total
    return rows.averages(twice / (total * total) - 2 * truth) + 1


def _deepest(rows: LogitRows) -> float:
    """Find the inverse temperature of the least squared error."""
    step = -(-rows.logits.size // _FIRST_CELLS)
    few = rows.part(slice(None, None, step))
    rough = partial(_squared_error, few)
    exact = partial(_squared_error, rows)
    values = _on_grid(few)
    walled = np.concatenate([[np.inf], values, [np.inf]])
    valleys = (values < walled[:-2]) & (values <= walled[2:])
    minima = sorted(_downhill(rough, inverse) for inverse in _GRID[valleys].tolist())
    if step == 1:
        return minima[0][1]
    near = [inverse for value, inverse in minima if value <= minima[0][0] + 0.01]
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


# Softmax of logits at one temperature, or a mixture of several, in few passes -----------------


Part = tuple[float, float]
"""A share of the mixture, and its inverse temperature."""

_SAFE_TOTALS = 1e-30, 1e30
"""Sums of exponentials between which they are exact without the row's largest logit taken off."""


def mixture(logits: ArrayLike, parts: Iterable[Part], *, flat: float = 0.0) -> Floats:
    """Mix the probabilities of rows of logits at some temperatures with the uniform ones.

    ``logits``: raw outputs before softmax; shape (n_samples, n_classes). ``parts``: shares and
    inverse temperatures u, above 0; at most two. ``flat``: the uniform distribution's share.

    sum of share * softmax(u * logits), plus flat / n_classes; shape (n_samples, n_classes).

    Raises `CalibrationInputError` for logits that cannot be used.

    The first logit of each row is subtracted, so that adding a constant changes no bit; nothing has
    to be looked for. The largest is only where exponentials do not sum to a moderate number so,
    and among few classes, where ties must not depend on the order of the classes.
    Sums run along each row by itself: equal rows have equal probabilities wherever they are.
    """
    table = validation.matrix(logits, "logits")
    parts, uniform = [part for part in parts if part[0] > 0], flat / table.shape[1]
    parts = parts or [(0.0, 1.0)]
    result, totals = np.empty(table.shape), np.empty((len(parts), len(table)))
    mix = _mix_columns if table.shape[1] <= NARROW else _mix_rows
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # such rows are done again
        read_in_place(table.shape[1])
        for rows in row_strips(*table.shape):
            mix(table[rows], parts, uniform, result[rows], totals[:, rows])
        if not (_SAFE_TOTALS[0] < totals.min() and totals.max() < _SAFE_TOTALS[1]):
            validation.logits(table)
            far = ~((totals > _SAFE_TOTALS[0]) & (totals < _SAFE_TOTALS[1])).all(axis=0)
            again = np.empty((np.count_nonzero(far), table.shape[1]))
            _mix_rows(table[far], parts, uniform, again, totals[:, : len(again)], largest=True)
            result[far] = again
    return result


def _mix_rows(
    block: Logits,
    parts: list[Part],
    uniform: float,
    out: Floats,
    totals: Floats,
    *,
    largest: bool = False,
) -> None:
    """Write the mixture of some rows, and the sums of their exponentials.

    What is taken off is the first logit, or the ``largest``.
    """
    below = out if len(parts) == 1 else np.empty(block.shape)
    if largest:
        below_largest(block, out=below)
    else:
        below[...] = block
        below -= below[:, :1].copy()
    _mix(below, parts, uniform, out, totals[:, :, np.newaxis], row_totals)


def _mix_columns(
    block: Logits, parts: list[Part], uniform: float, out: Floats, totals: Floats
) -> None:
    """Do the same where classes are few, with the largest taken off."""
    below = np.empty(block.shape[::-1])
    below[...] = block.T
    below -= below.max(axis=0)
    mixed = below if len(parts) == 1 else np.empty_like(below)
    _mix(below, parts, uniform, mixed, totals, sum_columns)
    out[...] = mixed.T


def _mix(
    below: Floats,
    parts: list[Part],
    uniform: float,
    out: Floats,
    totals: Floats,
    add_up: Callable[[Floats], Floats],
) -> None:
    """Write the mixture of one or two parts, given differences of logits, which are lost."""
    for number, (share, inverse) in enumerate(parts):
        part = below if number else out
        np.multiply(below, inverse * LOG2_E, out=part)
        np.exp2(part, out=part)
        totals[number] = add_up(part)
        part *= share / totals[number]
        if number:
            out += part
    if uniform > 0:
        out += uniform
    if len(parts) > 1 and out.max() > 1:  # shares may sum to a digit more
        np.minimum(out, 1.0, out=out)


def _effect(temperature: float) -> str:
    if temperature == 1:
        return "Logits stay as they are."
    how = "less" if temperature > 1 else "more"
    return f"All logits are divided by T, which makes predictions {how} confident."


LOSS_OPTION = Choice("loss", "nll", ("nll", "squared_error"))
"""An option of every calibrator that fits a temperature."""
