import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore.calibrators.gaussian_process import (
    N_NODES,
    Kernel,
    NodePlaces,
    bound,
    inputs,
    place,
)
from tests import reference_gaussian_process as slow
from tests.strategies import Floats, LogitCase


def unwhitened(places: Floats, q_mean: Floats, covariance: Floats, kernel: Kernel) -> slow.Process:
    empty = np.empty(0)
    process = slow.Process(places.tolist(), empty, empty, *kernel[:3])
    factor = np.linalg.cholesky(slow.prior_covariance(process))
    return process._replace(
        mean=places + factor @ q_mean, covariance=factor @ covariance @ factor.T
    )


def large(rng: np.random.Generator, n_rows: int, n_classes: int) -> LogitCase:
    logits = 4 * rng.normal(size=(n_rows, n_classes))
    labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return LogitCase(logits, labels.astype(np.int64))


def some_bound(seed: int) -> tuple[LogitCase, Floats, Floats, Kernel]:
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(1, 9)), int(rng.integers(2, 6))
    logits = rng.choice([0.5, 4.0, 15.0]) * rng.normal(size=(n_rows, n_classes))
    labels = rng.integers(0, n_classes, n_rows)
    if seed % 3 == 0 and n_classes > 2:
        logits[0, (labels[0] + 1) % n_classes] = -np.inf
    if seed % 4 == 0:
        logits = logits.round()
    places = np.sort(rng.uniform(-15, 0, int(rng.integers(2, 6))))
    amplitude, lengthscale = np.exp(rng.normal(scale=0.7, size=2)) * [2, 5]
    kernel = Kernel(float(amplitude), float(lengthscale), 1e-2)
    return LogitCase(logits, labels), rng.normal(size=len(places)), places, kernel


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_the_slow_one_at_its_best_covariance(seed: int) -> None:
    case, q_mean, places, kernel = some_bound(seed)
    rng = np.random.default_rng(seed)
    weights = rng.gamma(2.0, 1.0, len(case.labels)) if seed % 2 else np.ones(len(case.labels))
    result = bound(q_mean, kernel, places, place(*case, weights))
    table, labels = case.logits.tolist(), case.labels.tolist()
    best = result.factor @ result.factor.T
    process = unwhitened(places, q_mean, best, kernel)
    expected = slow.elbo(process, table, labels, weights.tolist())
    assert result.value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    for size in (0.01, 0.3):
        other = result.factor + size * np.tril(rng.normal(size=best.shape)) * result.factor
        process = unwhitened(places, q_mean, other @ other.T, kernel)
        assert slow.elbo(process, table, labels, weights.tolist()) < result.value


@pytest.mark.parametrize("seed", range(12))
def test_the_gradient_is_that_of_finite_differences(seed: int) -> None:
    case, q_mean, places, kernel = some_bound(seed)
    if seed % 2:  # more cells than nodes
        case = large(np.random.default_rng(seed), 1500, 3)
    weights = np.random.default_rng(seed).gamma(2.0, 1.0, len(case.labels))
    cells = place(*case, weights)
    parameters = np.concatenate([q_mean, np.log(kernel[:2])])

    def value(at: Floats) -> float:
        amplitude, lengthscale = np.exp(at[-2:])
        here = Kernel(float(amplitude), float(lengthscale), kernel.noise)
        return bound(at[:-2], here, places, cells).value

    step = 1e-5
    differences = [
        (value(parameters + step * one) - value(parameters - step * one)) / (2 * step)
        for one in np.eye(len(parameters))
    ]
    gradient = bound(q_mean, kernel, places, cells).gradient
    assert_allclose(gradient, differences, rtol=1e-6, atol=1e-7 * np.abs(gradient).max())


def test_interpolation_between_nodes_loses_little(rng: np.random.Generator) -> None:
    logits, labels = large(rng, 1200, 5)
    cells = place(logits, labels)
    assert len(cells.nodes) == N_NODES < logits.size
    table = inputs(logits)
    nodes = np.unique(table)
    at = np.searchsorted(nodes, table).astype(np.uint16)
    zeros = np.zeros(table.shape, dtype=np.float32)
    exact = NodePlaces(nodes, at, zeros, at[np.arange(1200), labels], zeros[:, 0], np.ones(1200))
    places, q_mean = np.linspace(-25, 0, 8), rng.normal(size=8)
    kernel = Kernel(2.0, 5.0, 1e-6)
    close, right = bound(q_mean, kernel, places, cells), bound(q_mean, kernel, places, exact)
    assert close.value == pytest.approx(right.value, rel=3e-6)
    assert_allclose(close.gradient, right.gradient, atol=4e-5 * np.abs(right.gradient).max())
    assert_allclose(close.factor, right.factor, atol=1e-5)


def test_the_expansion_is_near_the_integral_where_the_variance_is_small() -> None:
    at, weights = np.polynomial.hermite_e.hermegauss(60)
    for mean in (-2.0, 0.0, 0.7, 4.0):
        for variance in (0.01, 0.1):
            drawn = mean + math.sqrt(2 * variance) * at
            integral = -(weights @ np.log1p(np.exp(-drawn))) / weights.sum()
            expansion = slow.expected_log_likelihood([mean, 0.0], [variance, variance], 0)
            assert expansion == pytest.approx(integral, abs=0.1 * variance**2)
