"""Ensemble temperature scaling, whose weights are sought on the simplex."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import (
    SHARES,
    FittedVectorMap,
    Positive,
    Rules,
    VectorMap,
    weighed_rows,
)
from calibcore.calibrators.descriptions import SOFTMAX, Description, Recipe, percent, rounded
from calibcore.calibrators.method import Cost, Fits, Method, Switch
from calibcore.calibrators.temperature import (
    FLOOR,
    INDIFFERENT,
    LOSS_OPTION,
    LOSSES,
    TEMPERATURE_BOUNDS,
    LogitRows,
    Loss,
    Precision,
    TemperatureScaling,
    bound_warning,
    fit_temperature,
    is_level,
    mean_term,
    mixture,
    no_optimum,
    squared_terms,
    useless,
)
from calibcore.results import result_class
from calibcore.validation import Floats
from calibcore.weights import SampleWeight

_MOST_SIMPLEX_STEPS = 60


class OnWeights(NamedTuple):
    """A function of the weights with its gradient and Hessian; infinity where it is undefined.

    Where it depends on a number besides: its two derivatives in that, and that of its gradient.
    """

    value: float
    gradient: Floats
    hessian: Floats
    first: float = 0.0
    second: float = 0.0
    mixed: Floats = np.empty(0)


class Least(NamedTuple):
    """A minimum over the simplex, and the last place before it, a tiny step away."""

    weights: Floats
    before: OnWeights
    step: Floats

    @property
    def value(self) -> float:
        """Return the value before the step."""
        return self.before.value

    @property
    def gain(self) -> float:
        """Return what the step was expected to gain."""
        return -float(self.before.gradient @ self.step)


def onto_simplex(weights: Floats) -> Floats:
    """Cut weights off at 0 and make them sum to 1."""
    positive = np.maximum(weights, 0.0)
    return np.asarray(positive / positive.sum())


def newton_step(gradient: Floats, hessian: Floats, free: NDArray[np.bool_]) -> Floats:
    """Return Newton's step among free weights that go on summing to the same; the others stay.

    A trace of curvature is added, because weights of parts that are equal cannot be distinguished.
    """
    ways, unit = _ways(free.tobytes())
    bend = ways @ hessian @ ways.T + 1e-13 * (sum(hessian.diagonal().tolist()) or 1.0) * unit
    slope = ways @ gradient
    return np.asarray(-_solved(bend, slope) @ ways)


def _solved(table: Floats, right: Floats) -> Floats:
    """Solve equations whose table is positive; one or two by hand, as a library takes longer."""
    if len(right) == 1:
        return np.asarray(right / table[0])
    if len(right) != 2:
        return np.asarray(np.linalg.solve(table, right))
    (one, mixed), (_, two) = table.tolist()
    first, second = right.tolist()
    share = mixed / one
    second = (second - share * first) / (two - share * mixed)
    return np.array([(first - mixed * second) / one, second])


@lru_cache(maxsize=64)
def _ways(free: bytes) -> tuple[Floats, Floats]:
    """Return the ways from the first free weight to each other, one a row, and as large a unit."""
    towards = np.eye(len(free))[np.frombuffer(free, dtype=np.bool_)]
    return np.asarray(towards[1:] - towards[0]), np.eye(max(len(towards) - 1, 0))


def least_on_simplex(
    function: Callable[[Floats], OnWeights], start: Floats, tolerance: float = 1e-13
) -> Least:
    """Find the minimum of a convex function over the simplex.

    ``function``: takes weights. ``start``: on the simplex; where the function is infinite, the
    search begins a little further inside; shape (n_weights,). ``tolerance``: share of the
    function's value that a step must promise to gain.

    Weights that do not count are exactly 0.

    Newton's method on the weights that are not held at 0, cut short where one reaches 0; a weight
    at 0 is let go while that would lower the function.
    """
    weights = start
    here = function(weights)
    if not np.isfinite(here.value):
        weights = onto_simplex(weights + 0.01)
        here = function(weights)
    for _ in range(_MOST_SIMPLEX_STEPS):
        step = _feasible_step(here, weights)
        gain = -float(here.gradient @ step)
        if gain <= tolerance * max(abs(here.value), 1e-3):
            least = onto_simplex(weights + step)
            return Least(least, here, least - weights)
        reach = np.where(step < 0, weights / np.where(step < 0, -step, 1.0), np.inf)
        first, length = int(reach.argmin()), min(1.0, float(reach.min()))
        trial = weights + length * step
        if length < 1:
            trial[first] = 0.0
        trial = onto_simplex(trial)
        there = function(trial)
        while not there.value <= here.value - 1e-4 * length * gain:
            length /= 2
            if length < 1e-6:
                return Least(weights, here, np.zeros(weights.size))
            trial = onto_simplex(weights + length * step)
            there = function(trial)
        weights, here = trial, there
    return Least(weights, here, np.zeros(weights.size))


def _feasible_step(here: OnWeights, weights: Floats) -> Floats:
    """Return Newton's step, which takes no weight that is 0 below 0."""
    free = weights > 0
    if not free.all():
        slack = here.gradient - here.gradient @ weights
        free |= slack < -1e-13 * np.abs(here.gradient).max()
    while True:
        step = newton_step(here.gradient, here.hessian, free)
        outward = (weights == 0) & (step < 0)
        if not outward.any():
            return step
        free &= ~outward


Place = Callable[[Floats], OnWeights]
"""A loss at one temperature, with its derivatives in the weights and the inverse temperature u."""


_LEAST: dict[Any, float] = {np.float32: 1e-12, np.float64: 1e-100}
"""Mixed probabilities that count as 0, as the squares of reciprocals soon overflow.

Where the weights are best, none is below 1 / (rows x classes): the uniform part would gain more.
"""


def _on_weights(blocks: list[tuple[NDArray[Any], LogitRows]], weights: Floats) -> OnWeights:
    """Return the mean NLL, given probabilities of the true class, and the first's derivatives."""
    n_rows, nll, products = 0.0, 0.0, np.zeros((5, 4))
    for parts, rows in blocks:
        mix = weights.astype(parts.dtype) @ parts[:3]
        if mix.min() <= _LEAST[mix.dtype.type]:
            return OnWeights(math.inf, np.zeros(3), np.eye(3), 0.0, 0.0, np.zeros(3))
        nll -= rows.sum_of(np.log(mix))
        ratios = parts * (1 / mix)
        counted = ratios[:4] if rows.weights is None else ratios[:4] * rows.weights
        products += np.vecdot(ratios[:, np.newaxis], counted)
        n_rows += rows.weight
    products /= n_rows
    means = products[:, :3] @ weights  # in each row the ratios' own mean is 1
    one, pull, bend = float(weights[0]), float(means[3]), float(means[4])
    mixed = one * products[3, :3]
    mixed[0] -= pull
    second = one * one * float(products[3, 3]) - one * bend
    return OnWeights(nll / n_rows, -means[:3], products[:3, :3], -one * pull, second, mixed)


class Likelihood:
    """Mean NLL of the mixture, for which a row's probabilities of its true class p are enough.

    With s its logit minus the mean of the row's under p: dp/du = p s, and ds/du is minus their
    variance.
    """

    weights_worth = 0.003

    def __init__(self, rows: LogitRows) -> None:
        self.rows = rows

    @cached_property
    def _plain(self) -> list[Floats]:
        return [_around_truth(1.0, np.float64, rows, None)[0] for rows in self.rows.parts]

    def at(self, inverse: float, precision: Precision) -> Place:
        """Return the loss at an inverse temperature."""
        each = zip(self.rows.parts, self._plain, strict=True)
        blocks = [(_around_truth(inverse, precision, rows, plain), rows) for rows, plain in each]
        return partial(_on_weights, blocks)

    def on_grid(self, inverses: Floats, weights: Floats) -> Floats:
        """Return the loss to some digits, one row an inverse temperature, one column weights."""
        n, many = self.rows.n_rows, inverses.size
        below = np.maximum(self.rows.own, FLOOR)
        own = np.exp(np.multiply.outer(inverses, below)) / self.rows.rough_totals(inverses)
        parts = np.empty((3, many, n), dtype=np.float32)
        parts[0], parts[1], parts[2] = own, own[inverses == 1], 1 / self.rows.n_classes
        if self.rows.weights is not None:
            mix = np.tensordot(weights.astype(np.float32), parts, 1).reshape(-1, n)
            with np.errstate(divide="ignore"):
                return -self.rows.averages(np.log(mix)).reshape(-1, many).T
        # The logarithm of a product of four takes the time of one; what is added is 1.
        each = -(-n // 4)
        quarters = np.ones((3, 4, many, each), dtype=np.float32)
        for number in range(4):
            quarter = parts[:, :, number * each : (number + 1) * each]
            quarters[:, number, :, : quarter.shape[2]] = quarter
        mix = weights.astype(np.float32) @ quarters.reshape(3, 4, -1).swapaxes(0, 1)
        mix[:2] *= mix[2:]
        mix[0] *= mix[1]
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(mix[0]).reshape(len(weights), many, -1).sum(axis=2).T / n)


def _around_truth(
    inverse: float, precision: Precision, rows: LogitRows, plain: Floats | None
) -> NDArray[Any]:
    """Return the true class's probabilities in the three parts, and the first's two derivatives.

    Without the plain ones, the first part alone.
    """
    z, (total, *moments) = rows.powers(inverse, 0 if plain is None else 2, precision)
    z = np.maximum(z, FLOOR).astype(precision, copy=False)
    own = np.exp(inverse * z) / total
    if plain is None:
        return np.asarray(own[np.newaxis])
    mean, square = moments
    mean /= total
    square /= total
    tilt = z - mean
    parts = np.empty((5, rows.n_rows), dtype=precision)
    parts[0], parts[1], parts[2] = own, plain, 1 / rows.n_classes
    parts[3], parts[4] = own * tilt, own * (tilt * tilt - square + mean * mean)
    return parts


class _SquaredPlace(NamedTuple):
    """The mean squared error is quadratic in the weights: w'Gw - 2 h'w + 1.

    ``gram`` holds G and ``own`` h; the others, the derivatives in u of their entries that depend
    on it: the tempered part with itself and with the plain part, and the tempered true class.
    """

    gram: Floats
    own: Floats
    first: Floats
    second: Floats

    def on_weights(self, weights: Floats) -> OnWeights:
        """Return the loss as a function of the weights and the inverse temperature."""
        turned = self.gram @ weights
        value, gradient = float(weights @ (turned - 2 * self.own) + 1), 2 * (turned - self.own)
        one, two, _ = weights.tolist()
        shape = np.array([one * one, 2 * one * two, -2 * one])
        itself, other, own = self.first.tolist()
        mixed = np.array([2 * (one * itself + two * other - own), 2 * one * other, 0.0])
        bent = float(shape @ self.first), float(shape @ self.second), mixed
        return OnWeights(value, gradient, 2 * self.gram, *bent)


class SquaredError:
    """Mean over the rows of the squared distance of the mixture to the one-hot label."""

    weights_worth = 0.0

    def __init__(self, rows: LogitRows) -> None:
        self.rows, self.own = rows, np.maximum(rows.own, FLOOR)

    def at(self, inverse: float, precision: Precision) -> Place:
        """Return the loss at an inverse temperature."""
        means = self.rows.mean(partial(_products, inverse, precision))
        value, first, second = np.reshape(means[:9], (3, 3)).T
        (plain, plain_own), flat = means[9:], 1 / self.rows.n_classes
        gram = np.array([[value[0], value[1], flat], [value[1], plain, flat], [flat] * 3])
        return _SquaredPlace(gram, np.array([value[2], plain_own, flat]), first, second).on_weights

    def on_grid(self, inverses: Floats, weights: Floats) -> Floats:
        """Return the loss to some digits, one row an inverse temperature, one column weights."""
        n, flat = inverses.size, 1 / self.rows.n_classes
        exponents = np.concatenate([inverses, 2 * inverses, inverses + 1, [1.0, 2.0]])
        totals = self.rows.rough_totals(exponents)
        a, aa, ab, b, bb = totals[:n], totals[n : 2 * n], totals[2 * n : -2], totals[-2], totals[-1]
        average, averages = self.rows.average, self.rows.averages
        itself, other = averages(aa / (a * a)), averages(ab / (a * b))
        own = averages(np.exp(np.multiply.outer(inverses, self.own)) / a)
        plain, plain_own = average(bb / (b * b)), average(np.exp(self.own) / b)
        one, two, _ = weights.T
        # A uniform third part adds as much to w'Gw however the weights are: (1 - (w1 + w2)^2) / K.
        fixed = two * two * plain - 2 * two * plain_own + 1 + flat * (1 - (one + two) ** 2)
        fixed -= 2 * flat * (1 - one - two)
        moving = np.stack([one * one, 2 * one * two, -2 * one])
        return np.asarray(np.stack([itself, other, own], axis=1) @ moving + fixed)


Objective = Likelihood | SquaredError
"""A loss on given rows.

Newton's steps in the temperature improve the weights, too, so these need not be exact before:
``weights_worth`` is how far not, where to evaluate a loss at other weights takes long.
"""


def _products(inverse: float, precision: Precision, rows: LogitRows) -> list[float]:
    """Average over the rows the products of probabilities of which the squared error is made.

    First those that depend on u, each with two derivatives: the tempered part with itself, with
    the plain one, and its true class; then the plain part with itself, and its true class.
    """
    sums, own = _sums(inverse, precision, rows), np.maximum(rows.own, FLOOR)
    itself, truth, mean, variance = squared_terms(inverse, rows, own, sums[:6])
    ab, abz, abzz, b, bb = sums[6:]
    cross = abz / ab
    other = mean_term(rows, ab / (sums[0] * b), cross - mean, abzz / ab - cross * cross - variance)
    plain = rows.average(bb / (b * b)), rows.average(np.exp(own) / b)
    return [*itself, *other, *truth, *plain]


def _sums(inverse: float, precision: Precision, rows: LogitRows) -> Floats:
    """Sum products of a = exp(u z), b = exp(z) and z over the classes."""
    sums, dot = np.empty((11, rows.n_rows)), rows.dot
    for place, tables in rows.blocks(precision, 4):
        sums[:6, place] = rows.products(inverse, tables)
        z, a, az, b = tables
        np.exp(z, out=b)
        sums[6:8, place] = dot(a, b), dot(az, b)
        sums[9:, place] = rows.total(b), dot(b, b)
        np.multiply(az, z, out=az)
        sums[8, place] = dot(az, b)
    return sums


# Ensemble temperature scaling: tempered, plain and uniform probabilities, mixed ---------------


_LEAST_SHARE = 1e-8
"""Of the model's own probabilities where the fit leaves them none, to keep the classes' order."""

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

_SEVERAL_ROWS = 32
"""Rows that mostly tell that logits differ."""

_FIRST_ROWS = 512
"""Rows, at least, on which valleys are looked for; all of them if there are not twice as many."""

_CLOSE = 0.01
"""Valleys that are higher by more than this on those rows are not followed on all."""

_USUAL = 0.8, 0.05
"""Least tempered and most uniform share with which a fit is taken for the best there is."""

_AS_LOW = 1e-5
"""What float32 cannot distinguish."""

_MOST_STEPS = 100

_UNSEEN = 0.5
"""Percent that the model's own probabilities weigh, below which they change next to nothing."""

_NOTHING_LEARNT = "Equal probabilities for all classes fit the calibration labels best."
_WITHOUT_EFFECT = (
    "The part with the temperature got the weight 0, so the temperature, set to 1, changes nothing."
)


@result_class
class FittedEnsembleTemperature(FittedVectorMap):
    """A fitted ensemble temperature scaling."""

    temperature: Positive
    """Divides the logits of the first part."""
    weights: Floats
    """Of the tempered, the uncalibrated and the uniform probabilities; at least 0, summing to 1;
    shape (3,).
    """

    RULES: ClassVar[Rules] = {"weights": SHARES}

    def predict_proba(self, logits: ArrayLike) -> Floats:
        """Compute w1 softmax(logits / T) + w2 softmax(logits) + w3 / n_classes."""
        hot, plain, flat = self.weights.tolist()
        return mixture(logits, [(hot, 1 / self.temperature), (plain, 1.0)], flat=flat)

    def recipe(self) -> Recipe:
        numbers = {"temperature": self.temperature, "weights": self.weights}
        mixed = "y = WEIGHTS[0] * hot + WEIGHTS[1] * y + WEIGHTS[2] / x.shape[1]"
        return numbers, [
            "y = x / TEMPERATURE", *SOFTMAX, "hot = y", "y = x", *SOFTMAX, mixed
        ]  # fmt: skip

    def describe(self) -> Description:
        scaled, plain, equal = (percent(weight) for weight in self.weights)
        return Description(
            f"T = {rounded(self.temperature)}. Mixture: {scaled} temperature scaling, {plain}"
            f" uncalibrated probabilities, {equal} equal probabilities of all classes."
        )


@dataclass(frozen=True)
class SmoothedTemperatureScaling(VectorMap):
    """Scale by a temperature, and mix in the uniform probabilities as if of one row more.

    No class then has a probability of 0, which one miss would make an infinite loss. The classes
    keep their order in every row, so accuracy cannot change.

    ``loss``: what the fit minimises, as for `TemperatureScaling`.

    n / (n + 1) softmax(z / T) + 1 / (n + 1) / K, n the calibration rows, K the classes: Laplace
    smoothing. T is that of `TemperatureScaling`; the weights are not fitted, other than those of
    `EnsembleTemperatureScaling`, whose fitted map this is.

    Source: Berta, Holzmüller, Jordan, Bach, arXiv 2511.03685 ("ts-mix" of probmetrics).

    >>> fitted = SmoothedTemperatureScaling().fit([[2.0, 0.0]] * 4, [0, 0, 0, 1])
    >>> fitted.weights.tolist(), fitted.predict_proba([[2.0, 0.0]]).round(4).tolist()
    ([0.8, 0.0, 0.2], [[0.7, 0.3]])
    """

    loss: Loss = "nll"

    def __post_init__(self) -> None:
        """Check the option."""
        validation.choice(self.loss, "loss", allowed=LOSSES)

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedEnsembleTemperature:
        logits, labels, sampling = weighed_rows(logits, labels, sample_weight)
        rows = LogitRows.checked(logits, labels).weighted_by(sampling)
        fitted = fit_temperature(rows, self.loss)
        even = 1 / (rows.n_rows + 1)
        weights = np.array([1 - even, 0.0, even])
        return FittedEnsembleTemperature(fitted.temperature, weights, warnings=fitted.warnings)


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
    loss is not above the program's. On many rows, one in 64, or five hundred, tell which valleys
    are deep enough to be followed on all, in float32 first; where that ends far from temperature
    scaling, all rows are looked at for valleys.

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

    def fit(
        self, logits: ArrayLike, labels: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedEnsembleTemperature:
        logits, labels, sampling = weighed_rows(logits, labels, sample_weight)
        rows = LogitRows.checked(logits, labels).weighted_by(sampling)
        few = rows.one_in(64, least=_FIRST_ROWS)
        if not (few.own.any() or rows.own.any()) and (nothing_to_find := no_optimum(rows)):
            return FittedEnsembleTemperature(
                1.0, np.array([1.0, 0.0, 0.0]), warnings=(nothing_to_find,)
            )
        minimum = _fit(rows, few, self.loss)
        temperature = min(max(1 / minimum.inverse, TEMPERATURE_BOUNDS[0]), TEMPERATURE_BOUNDS[1])
        warnings = _at_bound(temperature, minimum.weights, rows)
        if all(is_level(some) for some in (few.part(slice(_SEVERAL_ROWS)), few, rows)):
            temperature, warnings = 1.0, (INDIFFERENT,)
        if minimum.weights[0] == 0:
            temperature, warnings = 1.0, (_WITHOUT_EFFECT,)
        weights = minimum.weights
        if weights[2] == 1:
            weights, warnings = (
                np.array([0.0, _LEAST_SHARE, 1 - _LEAST_SHARE]),
                (f"{_NOTHING_LEARNT} {useless(rows)}",),
            )
        return FittedEnsembleTemperature(temperature, weights, warnings=warnings)


def _at_bound(temperature: float, weights: Floats, rows: LogitRows) -> tuple[str, ...]:
    """Return a warning where a temperature ended at a bound, or that of a part of the mixture."""
    warnings, hot, plain = bound_warning(temperature, rows), 100 * weights[0], 100 * weights[1]
    if not warnings or plain < _UNSEEN:
        return warnings
    which = "smallest" if temperature == TEMPERATURE_BOUNDS[0] else "largest"
    part = (
        f"The part with the temperature, which weighs {hot:.2g}%, reached the {which} one tried,"
        f" {temperature:g}. The model's own probabilities weigh {plain:.2g}%."
    )
    return (part,)


class _Minimum(NamedTuple):
    value: float
    inverse: float
    weights: Floats


_BESIDE_1 = _Minimum(math.inf, 1.0, np.array([0.95, 0.0, 0.05]))
"""Where to start beside T = 1: the tempered and the plain part are equal, and a valley narrow."""


def _fit(rows: LogitRows, few: LogitRows, loss: Loss) -> _Minimum:
    kind = Likelihood if loss == "nll" else SquaredError
    whole, starts = kind(rows), [_BESIDE_1]
    if few is not rows:
        minimum = _followed(whole, _valleys(kind(few), _tempered(few, "nll", rough=True)))
        if minimum.weights[0] >= _USUAL[0] and minimum.weights[2] <= _USUAL[1]:
            return minimum
        starts.append(minimum)
    return _lowest(whole, [*_valleys(whole, _tempered(rows, loss)), *starts])


def _tempered(rows: LogitRows, loss: Loss, *, rough: bool = False) -> float:
    """Return the inverse temperature of temperature scaling."""
    return 1 / fit_temperature(rows, loss, rough=rough).temperature


def _followed(loss: Objective, starts: list[_Minimum]) -> _Minimum:
    """Go downhill on all rows from the deepest valleys of some of them, in float32 first."""
    least = min(one.value for one in starts)
    near = [one for one in starts if one.value <= least + _CLOSE]
    rough = [_joint(loss, one, np.float32) for one in near]
    least = min(one.value for one in rough) + _AS_LOW
    apart = {f"{one.inverse:.2g}": one for one in rough if one.value <= least}
    return _lowest(loss, [*apart.values()])


def _lowest(loss: Objective, starts: list[_Minimum]) -> _Minimum:
    """Go downhill from each of some places, and choose the deepest."""
    return min((_joint(loss, one, np.float64) for one in starts), key=lambda one: one.value)


def _valleys(loss: Objective, tempered: float) -> list[_Minimum]:
    """Find what is lower than its neighbours on a grid about an inverse temperature, and 1."""
    low, high = 1 / TEMPERATURE_BOUNDS[1], 1 / TEMPERATURE_BOUNDS[0]
    grid = np.unique(np.clip(np.append(_FACTORS * tempered, 1.0), low, high))
    values = loss.on_grid(grid, _TRIALS)
    least = values.min(axis=1)
    walled = np.concatenate([[math.inf], least, [math.inf]])
    valleys = np.flatnonzero((least < walled[:-2]) & (least <= walled[2:]))
    return [
        _Minimum(float(least[place]), float(grid[place]), _TRIALS[values[place].argmin()])
        for place in valleys
    ]


def _joint(loss: Objective, start: _Minimum, precision: Precision) -> _Minimum:
    """Go downhill in the temperature, with the best weights at each, to the next minimum.

    Newton's steps in the logarithm, none longer than a factor of 1.5, cut until they gain. The
    next after the last would be about its square.
    """
    lowest, highest = 1 / TEMPERATURE_BOUNDS[1], 1 / TEMPERATURE_BOUNDS[0]
    last, slack, noise = (3e-5, 1e-12, 2e-13) if precision is np.float64 else (6e-3, 1e-4, 1e-6)
    close = max(1e-13, last * loss.weights_worth)
    inverse = min(max(start.inverse, lowest), highest)
    best = least_on_simplex(loss.at(inverse, precision), start.weights, close)
    for _ in range(_MOST_STEPS):
        step, weights = _newton(best, inverse)
        following = min(max(inverse * math.exp(step), lowest), highest)
        moved = abs(following - inverse)
        if moved == 0:  # at a bound
            weights = best.weights
        near = moved <= last * inverse and best.gain <= slack * abs(best.value)
        if near or _will_do(best, inverse, moved / inverse):
            return _Minimum(best.value, following, weights)
        while True:
            least = _least_at(loss.at(following, precision), weights, close, slack, best.value)
            if least.value <= best.value + noise * abs(best.value):
                break
            step /= 4
            if abs(step) < last:
                return _Minimum(best.value, inverse, best.weights)
            weights = (3 * best.weights + weights) / 4
            following = min(max(inverse * math.exp(step), lowest), highest)
        inverse, best = following, least
    return _Minimum(best.value, inverse, best.weights)


def _will_do(best: Least, inverse: float, share: float) -> bool:
    """Return whether the loss would fall by less than a digit in 1e13 after this step.

    What is left is about the square. Beside T = 1 valleys are so flat that this does not hold.
    """
    return abs(math.log(inverse)) > 0.2 and share <= 1e-4 and best.gain <= 1e-8 * abs(best.value)


def _least_at(place: Place, start: Floats, close: float, closer: float, before: float) -> Least:
    """Find the best weights at a temperature, more exactly if the loss would not fall otherwise."""
    least = least_on_simplex(place, start, close)
    if least.value > before:
        return least_on_simplex(place, least.weights, closer)
    return least


def _newton(best: Least, inverse: float) -> tuple[float, Floats]:
    """Return Newton's step in ln(1 / T), and the best weights after it.

    Along the step the best weights move; one that reaches 0 stays there.
    """
    weights, (_, _, hessian, first, second, mixed) = best.weights, best.before
    first += float(mixed @ best.step)
    slope, done = inverse * first, 0.0
    while slope != 0:
        along = newton_step(inverse * mixed, hessian, weights > 0)
        bend = inverse * (inverse * second + first + float(mixed @ along))
        step = -slope / bend if bend > 1e-3 * abs(slope) else -math.copysign(1, slope)
        step = min(max(step, -0.4 - done), 0.4 - done)
        moved = weights + step * along
        if moved.min() >= 0:
            return done + step, onto_simplex(moved)
        shares = np.where(moved < 0, weights / np.where(moved < 0, weights - moved, 1.0), 1.0)
        gone = int(shares.argmin())
        step *= float(shares[gone])
        weights = weights + step * along
        weights[gone] = 0.0
        slope += bend * step
        done += step
    return done, weights


def _temperature(loss: Loss, *, smoothed: bool) -> TemperatureScaling | SmoothedTemperatureScaling:
    return (SmoothedTemperatureScaling if smoothed else TemperatureScaling)(loss)


TEMPERATURE = Method(
    key="temperature",
    name="Temperature scaling",
    short="Temperature",
    factory=_temperature,
    options=(LOSS_OPTION, Switch("smoothed", default=False)),
    paper="Guo 2017, section 4.2",
    explained="Divides all logits by one number, the temperature, that fits the labels of the"
    " calibration set best.",
    formula="calibrated probabilities = softmax(logits / T)",
    acts_on="classes",
    preserves_accuracy=True,
    fits=Fits("numbers", 1),
    cost=Cost((60, 35, 13)),
)

ENSEMBLE_TEMPERATURE = Method(
    key="ensemble_temperature",
    name="Ensemble temperature scaling",
    short="Ensemble T",
    factory=EnsembleTemperatureScaling,
    options=(LOSS_OPTION,),
    paper="Zhang 2020, eq. 5",
    explained="Mixes temperature scaling with the uncalibrated and with equal probabilities, so"
    " that the labels of the calibration set fit best.",
    formula="w1 softmax(logits / T) + w2 softmax(logits) + w3 / K, weights summing to 1",
    acts_on="classes",
    preserves_accuracy=True,
    fits=Fits("numbers", 3),
    cost=Cost((190, 65, 18)),
)
