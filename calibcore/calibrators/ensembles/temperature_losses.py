"""What ensemble temperature scaling minimises, with its derivatives."""

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from calibcore.calibrators.ensembles.simplex import OnWeights
from calibcore.calibrators.temperature.row_sums import (
    FLOOR,
    Precision,
    Rows,
    mean_term,
    squared_terms,
)
from calibcore.validation import Floats

Place = Callable[[Floats], OnWeights]
"""A loss at one temperature, with its derivatives in the weights and the inverse temperature u."""


_LEAST: dict[Any, float] = {np.float32: 1e-12, np.float64: 1e-100}
"""Mixed probabilities that count as 0, as the squares of reciprocals soon overflow.

Where the weights are best, none is below 1 / (rows x classes): the uniform part would gain more.
"""


class Objective(Protocol):
    """A loss on given rows.

    Newton's steps in the temperature improve the weights, too, so these need not be exact before:
    ``weights_worth`` is how far not, where to evaluate a loss at other weights takes long.
    """

    weights_worth: float

    def at(self, inverse: float, precision: Precision) -> Place:
        """Return the loss at an inverse temperature."""
        ...

    def on_grid(self, inverses: Floats, weights: Floats) -> Floats:
        """Return the loss to some digits, one row an inverse temperature, one column weights."""
        ...


def _on_weights(blocks: list[NDArray[Any]], weights: Floats) -> OnWeights:
    """Return the mean NLL, given probabilities of the true class, and the first's derivatives."""
    n_rows, nll, products = 0, 0.0, np.zeros((5, 4))
    for parts in blocks:
        mix = weights.astype(parts.dtype) @ parts[:3]
        if mix.min() <= _LEAST[mix.dtype.type]:
            return OnWeights(math.inf, np.zeros(3), np.eye(3), 0.0, 0.0, np.zeros(3))
        nll -= float(np.log(mix).sum())
        ratios = parts * (1 / mix)
        products += np.vecdot(ratios[:, np.newaxis], ratios[:4])
        n_rows += mix.size
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

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    @cached_property
    def _plain(self) -> list[Floats]:
        return [_around_truth(1.0, np.float64, rows, None)[0] for rows in self.rows.parts]

    def at(self, inverse: float, precision: Precision) -> Place:
        """Return the loss at an inverse temperature."""
        each = zip(self.rows.parts, self._plain, strict=True)
        blocks = [_around_truth(inverse, precision, rows, plain) for rows, plain in each]
        return partial(_on_weights, blocks)

    def on_grid(self, inverses: Floats, weights: Floats) -> Floats:
        """Return the loss to some digits, one row an inverse temperature, one column weights."""
        n, many = self.rows.n_rows, inverses.size
        below = np.maximum(self.rows.own, FLOOR)
        own = np.exp(np.multiply.outer(inverses, below)) / self.rows.rough_totals(inverses)
        parts = np.empty((3, many, n), dtype=np.float32)
        parts[0], parts[1], parts[2] = own, own[inverses == 1], 1 / self.rows.n_classes
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
    inverse: float, precision: Precision, rows: Rows, plain: Floats | None
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
    found = np.empty((5, rows.n_rows), dtype=precision)
    found[0], found[1], found[2] = own, plain, 1 / rows.n_classes
    found[3], found[4] = own * tilt, own * (tilt * tilt - square + mean * mean)
    return found


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

    def __init__(self, rows: Rows) -> None:
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
        itself, other = (aa / (a * a)).mean(axis=1), (ab / (a * b)).mean(axis=1)
        own = (np.exp(np.multiply.outer(inverses, self.own)) / a).mean(axis=1)
        plain, plain_own = (bb / (b * b)).mean(), (np.exp(self.own) / b).mean()
        one, two, _ = weights.T
        # A uniform third part adds as much to w'Gw however the weights are: (1 - (w1 + w2)^2) / K.
        fixed = two * two * plain - 2 * two * plain_own + 1 + flat * (1 - (one + two) ** 2)
        fixed -= 2 * flat * (1 - one - two)
        moving = np.stack([one * one, 2 * one * two, -2 * one])
        return np.asarray(np.stack([itself, other, own], axis=1) @ moving + fixed)


def _products(inverse: float, precision: Precision, rows: Rows) -> list[float]:
    """Average over the rows the products of probabilities of which the squared error is made.

    First those that depend on u, each with two derivatives: the tempered part with itself, with
    the plain one, and its true class; then the plain part with itself, and its true class.
    """
    sums, own = _sums(inverse, precision, rows), np.maximum(rows.own, FLOOR)
    itself, truth, mean, variance = squared_terms(inverse, own, sums[:6])
    ab, abz, abzz, b, bb = sums[6:]
    cross = abz / ab
    other = mean_term(ab / (sums[0] * b), cross - mean, abzz / ab - cross * cross - variance)
    plain = float((bb / (b * b)).mean()), float((np.exp(own) / b).mean())
    return [*itself, *other, *truth, *plain]


def _sums(inverse: float, precision: Precision, rows: Rows) -> Floats:
    """Sum products of a = exp(u z), b = exp(z) and z over the classes."""
    found, dot = np.empty((11, rows.n_rows)), rows.dot
    for place, tables in rows.blocks(precision, 4):
        found[:6, place] = rows.products(inverse, tables)
        z, a, az, b = tables
        np.exp(z, out=b)
        found[6:8, place] = dot(a, b), dot(az, b)
        found[9:, place] = rows.total(b), dot(b, b)
        np.multiply(az, z, out=az)
        found[8, place] = dot(az, b)
    return found
