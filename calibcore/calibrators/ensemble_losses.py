"""What ensemble temperature scaling minimises, with its derivatives."""

import math
from typing import NamedTuple, Protocol

import numpy as np

from calibcore.blocks import block_rows, row_blocks
from calibcore.calibrators.simplex import OnWeights
from calibcore.probabilities import below_largest
from calibcore.validation import Floats, Labels, Logits


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

    def at(self, inverse: float) -> Place:
        """Give the loss at an inverse temperature."""
        ...


class LikelihoodPlace:
    """The mean NLL needs only each row's probabilities of the true class.

    With s the true class's logit minus the mean of the row's under p: dp/du = p s, and ds/du is
    minus their variance.
    """

    def __init__(self, tempered: Floats, plain: Floats, n_classes: int) -> None:
        own, tilt, variance = tempered
        self.parts = np.stack([own, plain, np.full(own.size, 1 / n_classes)])
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
        mixed = weights[0] * (self.parts / mix) @ pull / mix.size
        mixed[0] -= pull.mean()
        second = np.square(weights[0] * pull).mean() - weights[0] * (self.bend / mix).mean()
        first = -weights[0] * pull.mean()
        return Bent(-float(np.log(mix).mean()), float(first), float(second), mixed)


class Likelihood:
    """Mean NLL of the mixture."""

    def __init__(self, logits: Logits, labels: Labels) -> None:
        self.logits, self.labels = logits, labels
        self.plain: Floats | None = None

    def at(self, inverse: float) -> LikelihoodPlace:
        """Give the loss at an inverse temperature."""
        if self.plain is None:
            (self.plain, _, _), tempered = self._pass((1.0, inverse))
        else:
            (tempered,) = self._pass((inverse,))
        return LikelihoodPlace(tempered, self.plain, self.logits.shape[1])

    def _pass(self, inverses: tuple[float, ...]) -> Floats:
        """Give probability, s and variance of each row's true class at some temperatures."""
        n_rows, n_classes = self.logits.shape
        found = np.empty((len(inverses), 3, n_rows))
        kept = np.empty((2, min(block_rows(n_classes), n_rows), n_classes))
        for rows in row_blocks(n_rows, n_classes):
            labels = self.labels[rows]
            shifted, weights = kept[:, : len(labels)]
            below_largest(self.logits[rows], out=shifted)
            own = shifted[np.arange(len(labels)), labels]
            for number, inverse in enumerate(inverses):
                with np.errstate(over="ignore"):  # too far below the largest to weigh anything
                    np.multiply(shifted, inverse, out=weights)
                np.exp(weights, out=weights)
                total = weights.sum(axis=1)
                found[number, 0, rows] = weights[np.arange(len(labels)), labels] / total
                weights *= shifted
                mean = weights.sum(axis=1) / total
                spread = np.einsum("ij,ij->i", weights, shifted) / total - mean * mean
                found[number, 1, rows], found[number, 2, rows] = own - mean, spread
        return found


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

    def __init__(self, logits: Logits, labels: Labels) -> None:
        self.logits, self.labels = logits, labels

    def at(self, inverse: float) -> SquaredPlace:
        """Give the loss at an inverse temperature."""
        n_rows, n_classes = self.logits.shape
        totals = np.zeros(11)
        kept = np.empty((4, min(block_rows(n_classes), n_rows), n_classes))
        for rows in row_blocks(n_rows, n_classes):
            labels = self.labels[rows]
            work = kept[:, : len(labels)]
            below_largest(self.logits[rows], out=work[0])
            totals += _moments(work, labels, inverse)
        totals /= n_rows
        aa, ab, bb, own, plain = totals[:5].tolist()
        flat = 1 / n_classes
        gram = np.array([[aa, ab, flat], [ab, bb, flat], [flat, flat, flat]])
        return SquaredPlace(gram, np.array([own, plain, flat]), totals[5:8], totals[8:])


def _moments(work: Floats, labels: Labels, inverse: float) -> Floats:
    """Sum what the squared error needs over a block of rows, whose logits are in ``work[0]``."""
    shifted, tempered, plain, moved = work
    at = np.arange(len(labels))
    with np.errstate(over="ignore"):  # too far below the largest to weigh anything
        np.multiply(shifted, inverse, out=tempered)
    for source, part in ((tempered, tempered), (shifted, plain)):
        np.exp(source, out=part)
        np.divide(part, part.sum(axis=1, keepdims=True), out=part)
    np.multiply(tempered, shifted, out=moved)
    mean = moved.sum(axis=1)
    own, own_plain = tempered[at, labels], plain[at, labels]
    off = shifted[at, labels] - mean
    pull = own * off

    def dot(one: Floats, two: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", one, two))

    aa, ab, bb = dot(tempered, tempered), dot(tempered, plain), dot(plain, plain)
    variance = dot(moved, shifted) - mean * mean
    aas, abs_, aass = dot(tempered, moved), dot(moved, plain), dot(moved, moved)
    plain *= shifted
    abss = dot(moved, plain)
    # From sums over z to sums over s, which is z minus the mean
    aass += mean * (mean * aa - 2 * aas)
    abss += mean * (mean * ab - 2 * abs_)
    aas -= mean * aa
    abs_ -= mean * ab
    first = (2 * aas, abs_, pull)
    second = (4 * aass - 2 * variance * aa, abss - variance * ab, pull * off - own * variance)
    return np.array([sums.sum() for sums in (aa, ab, bb, own, own_plain, *first, *second)])
