"""The evidence bound of Wenger 2020, cell by cell and without whitening.

Written from the paper: the prior, the conditional of each latent value, the second-order Taylor
expansion with its Hessian written out, and the divergence of two Gaussians by its formula. Nothing
here imports calibcore; numpy serves for solving small systems only.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.reference import Numbers, Table, log_softmax, softmax

Floats = NDArray[np.float64]


class Process(NamedTuple):
    """Prior GP(identity, kernel), inducing places, and q of the function's values there."""

    places: list[float]
    mean: Floats
    covariance: Floats
    amplitude: float
    lengthscale: float
    noise: float


def kernel(process: Process, one: Numbers, other: Numbers) -> Floats:
    """Without the white noise."""
    table = np.empty((len(one), len(other)))
    for i, x in enumerate(one):
        for j, y in enumerate(other):
            distance = (x - y) / process.lengthscale
            table[i, j] = process.amplitude**2 * math.exp(-distance * distance / 2)
    return table


def prior_covariance(process: Process) -> Floats:
    covariance = kernel(process, process.places, process.places)
    for i in range(len(process.places)):
        covariance[i, i] += process.amplitude**2 * process.noise
    return covariance


def latent(process: Process, x: float) -> tuple[float, float]:
    """Mean and variance of g(x) under q, white noise left out."""
    cross = kernel(process, process.places, [x])[:, 0]
    weights = np.linalg.solve(prior_covariance(process), cross)
    mean = x + weights @ (process.mean - np.array(process.places))
    variance = process.amplitude**2 - weights @ cross + weights @ process.covariance @ weights
    return float(mean), float(variance)


def expected_log_likelihood(means: Numbers, variances: Numbers, label: int) -> float:
    """Second-order Taylor expansion of the log of softmax at the means."""
    p = softmax([means])[0]
    curved = 0.0
    for k in range(len(means)):
        for j in range(len(means)):
            hessian = (p[k] if k == j else 0.0) - p[k] * p[j]
            covariance = variances[k] if k == j else 0.0
            curved += hessian * covariance
    return log_softmax([means])[0][label] - curved / 2


def kl_divergence(process: Process) -> float:
    """KL(q(u) || p(u)) of two Gaussians."""
    prior = prior_covariance(process)
    offset = np.array(process.places) - process.mean
    trace = float(np.trace(np.linalg.solve(prior, process.covariance)))
    distance = float(offset @ np.linalg.solve(prior, offset))
    log_dets = np.linalg.slogdet(prior)[1] - np.linalg.slogdet(process.covariance)[1]
    return 0.5 * (trace + distance - len(offset) + float(log_dets))


def elbo(process: Process, logits: Table, labels: Sequence[int], weights: Numbers) -> float:
    terms = [-kl_divergence(process)]
    for row, label, weight in zip(logits, labels, weights, strict=True):
        kept = [k for k in range(len(row)) if row[k] > -math.inf]
        inputs = log_softmax([[row[k] for k in kept]])[0]
        latents = [latent(process, x) for x in inputs]
        noise = process.amplitude**2 * process.noise
        terms.append(
            weight
            * expected_log_likelihood(
                [mean for mean, _ in latents],
                [variance + noise for _, variance in latents],
                kept.index(label),
            )
        )
    return math.fsum(terms)


def average(process: Process, row: Numbers, draws: Floats) -> list[float]:
    """Average softmax of the latent means of one row over draws of q, from standard normal ones."""
    inputs = log_softmax([row])[0]
    weights = np.linalg.solve(prior_covariance(process), kernel(process, process.places, inputs))
    drawn = process.mean + draws @ np.linalg.cholesky(process.covariance).T
    latents = np.array(inputs) + (drawn - np.array(process.places)) @ weights
    table = np.exp(latents - latents.max(axis=1, keepdims=True))
    return [float(p) for p in (table / table.sum(axis=1, keepdims=True)).mean(axis=0)]
