"""What ensemble temperature scaling minimises, with its derivatives."""

import math
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from calibcore.calibrators.row_sums import FLOOR, Precision, Rows, mean_term, squared_terms
from calibcore.calibrators.simplex import OnWeights
from calibcore.validation import Floats


class Bent(NamedTuple):
    """The loss, its derivatives in the inverse temperature u, and that of its gradient in w."""

    value: float
    first: float
    second: float
    mixed: Floats


class Place(Protocol):
    """A loss at one temperature."""

    def on_weights(self, weights: Floats) -> OnWeights:
        """Give the loss as a function of the weights."""
        ...

    def bent(self, weights: Floats) -> Bent:
        """Give the loss as a function of the inverse temperature."""
        ...


class Objective(Protocol):
    """A loss on given rows."""

    def at(self, inverse: float, precision: Precision) -> Place:
        """Give the loss at an inverse temperature."""
        ...

    def on_grid(self, inverses: Floats, weights: Floats) -> Floats:
        """Give the loss to some digits, one row an inverse temperature, one column weights."""
        ...


class LikelihoodPlace:
    """The mean NLL needs only each row's probabilities of the true class.

    With s the true class's logit minus the mean of the row's under p: dp/du = p s, and ds/du is
    minus their variance.
    """

    def __init__(self, own: Floats, tilt: Floats, variance: Floats, others: Floats) -> None:
        self.parts = np.concatenate([own[np.newaxis], others])
        self.pull = own * tilt
        self.bend = self.pull * tilt - own * variance

    def on_weights(self, weights: Floats) -> OnWeights:
        """Give the loss as a function of the weights."""
        mix = weights @ self.parts
        if mix.min() <= 0:
            return OnWeights(math.inf, np.zeros(3), np.eye(3))
        ratio = self.parts / mix
        hessian = ratio @ ratio.T / mix.size
        return OnWeights(-float(np.log(mix).mean()), -ratio.mean(axis=1), hessian)

    def bent(self, weights: Floats) -> Bent:
        """Give the loss as a function of the inverse temperature."""
        mix = weights @ self.parts
        if mix.min() <= 0:
            return Bent(math.inf, 0.0, 0.0, np.zeros(3))
        pull = self.pull / mix
        mixed = weights[0] * (self.parts @ (pull / mix)) / mix.size
        mean = float(pull.mean())
        mixed[0] -= mean
        one = float(weights[0])
        second = one * one * float(pull @ pull) - one * float((self.bend / mix).sum())
        return Bent(-float(np.log(mix).mean()), -one * mean, second / mix.size, mixed)


class Likelihood:
    """Mean NLL of the mixture."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.own = rows, np.maximum(rows.own, FLOOR)
        plain = np.exp(self.own) / rows.powers(1.0, 0, np.float64)[0]
        self.others = np.stack([plain, np.full(rows.n_rows, 1 / rows.n_classes)])

    def at(self, inverse: float, precision: Precision) -> LikelihoodPlace:
        """Give the loss at an inverse temperature."""
        total, mean, variance = self.rows.moments(inverse, precision)
        own = np.exp(inverse * self.own) / total
        return LikelihoodPlace(own, self.own - mean, variance, self.others)

    def on_grid(self, inverses: Floats, weights: Floats) -> Floats:
        """Give the loss to some digits, one row an inverse temperature, one column weights."""
        own = np.exp(np.multiply.outer(inverses, self.own)) / self.rows.rough_totals(inverses)
        few = weights.astype(np.float32)
        mix = few[:, :1] * own.astype(np.float32)[:, np.newaxis]
        mix += few[:, 1:] @ self.others.astype(np.float32)
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(mix, out=mix).mean(axis=2))


class SquaredPlace(NamedTuple):
    """The mean squared error is quadratic in the weights: w'Gw - 2 h'w + 1.

    ``gram`` holds G and ``own`` h; the others, the derivatives in u of their entries that depend
    on it: the tempered part with itself and with the plain part, and the tempered true class.
    """

    gram: Floats
    own: Floats
    first: Floats
    second: Floats

    def on_weights(self, weights: Floats) -> OnWeights:
        """Give the loss as a function of the weights."""
        turned = self.gram @ weights
        value = float(weights @ turned - 2 * self.own @ weights + 1)
        return OnWeights(value, 2 * (turned - self.own), 2 * self.gram)

    def bent(self, weights: Floats) -> Bent:
        """Give the loss as a function of the inverse temperature."""
        value = self.on_weights(weights).value
        one, two, _ = weights.tolist()
        shape = np.array([one * one, 2 * one * two, -2 * one])
        itself, other, own = self.first.tolist()
        mixed = np.array([2 * (one * itself + two * other - own), 2 * one * other, 0.0])
        return Bent(value, float(shape @ self.first), float(shape @ self.second), mixed)


class SquaredError:
    """Mean over the rows of the squared distance of the mixture to the one-hot label."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.own = rows, np.maximum(rows.own, FLOOR)

    def at(self, inverse: float, precision: Precision) -> SquaredPlace:
        """Give the loss at an inverse temperature."""
        means = self.rows.mean(partial(_products, inverse, precision))
        value, first, second = np.reshape(means[:9], (3, 3)).T
        (plain, plain_own), flat = means[9:], 1 / self.rows.n_classes
        gram = np.array([[value[0], value[1], flat], [value[1], plain, flat], [flat] * 3])
        return SquaredPlace(gram, np.array([value[2], plain_own, flat]), first, second)

    def on_grid(self, inverses: Floats, weights: Floats) -> Floats:
        """Give the loss to some digits, one row an inverse temperature, one column weights."""
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
