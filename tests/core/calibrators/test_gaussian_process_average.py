import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from calibcore.calibrators.gaussian_process import N_POINTS, average_softmax, points
from tests.strategies import Floats

TABLES = [(seed, size) for seed in range(6) for size in (0.05, 0.4, 1.5, 10.0, 300.0)]


def table(seed: int, size: float, n_directions: int = 7) -> tuple[Floats, Floats]:
    """Latent means (classes, rows) and directions of some size."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 8))
    mean = rng.choice([1.0, 5.0]) * rng.normal(size=(n_classes, 9))
    return mean, size * rng.normal(size=(n_directions, n_classes, 9)) / math.sqrt(n_directions)


def draw_average(mean: Floats, directions: Floats, rng: np.random.Generator) -> Floats:
    """Average over 20,000 random draws and their opposites."""
    total = np.zeros(mean.shape)
    for _ in range(20):
        half = rng.normal(size=(1000, len(directions)))
        latents = mean + np.tensordot(np.concatenate([half, -half]), directions, 1)
        latents -= latents.max(axis=1, keepdims=True)
        weights = np.exp(latents)
        total += (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
    return total / 20


@pytest.mark.parametrize(("seed", "size"), TABLES)
def test_the_average_is_that_of_many_draws(seed: int, size: float) -> None:
    mean, directions = table(seed, size)
    wanted = draw_average(mean, directions, np.random.default_rng(99))
    result = average_softmax(mean, directions.copy())
    # Half a percent at most is the draws' own deviation
    assert_allclose(result, wanted, atol=0.003 if size < 1 else 0.022)
    assert_allclose(result.sum(axis=0), 1, rtol=1e-12)


@pytest.mark.parametrize("deviation", [0.01, 0.1, 0.3, 0.7, 1.0, 3.0, 10.0, 100.0, 3e3])
def test_two_classes_agree_with_the_integral(deviation: float) -> None:
    mean = np.concatenate([np.linspace(0, 20, 81), np.linspace(0, 6, 41) * deviation])
    quantiles = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    wanted = [(0.5 - 0.5 * np.tanh((m + deviation * quantiles) / 2)).mean() for m in mean]
    directions = np.zeros((3, 2, len(mean)))
    directions[:, 1] = deviation * np.array([[0.6], [0.0], [-0.8]])
    result = average_softmax(np.array([0 * mean, -mean]), directions)
    assert_allclose(result[1], wanted, atol=0.004)


def test_a_class_that_is_nearly_ruled_out_stays_so_however_uncertain() -> None:
    mean = np.array([0.0, -30.0, -90.0, -5000.0, -9000.0])
    deviation = np.array([0.0, 4.0, 7.0, 100.0, 300.0])
    directions = np.zeros((2, 5, 1))
    directions[1, :, 0] = deviation
    result = average_softmax(mean[:, np.newaxis], directions)[:, 0]
    # exp(mean + variance / 2) where its weight lies below the top, else that of being on top
    assert_allclose(np.log(result[1:3]), mean[1:3] + deviation[1:3] ** 2 / 2, rtol=1e-9)
    assert result[3:].max() < 1e-190
    assert result[0] == pytest.approx(1)


def test_rows_and_classes_do_not_depend_on_their_neighbours() -> None:
    parts = [table(3, size) for size in (0.05, 1.5, 300.0)]
    mean = np.concatenate([part[0] for part in parts], axis=1)
    directions = np.concatenate([part[1] for part in parts], axis=2)
    together = average_softmax(mean, directions.copy())
    for row in range(mean.shape[1]):
        alone = average_softmax(mean[:, [row]], directions[:, :, [row]])
        assert_allclose(alone[:, 0], together[:, row], atol=1e-10)
    order = np.random.default_rng(0).permutation(len(mean))
    moved = average_softmax(mean[order], directions[:, order])
    assert_allclose(moved, together[order], atol=1e-10)
    added = average_softmax(mean + 50, directions + 3)
    assert_allclose(added, together, atol=1e-9)


@pytest.mark.parametrize("size", [0.05, 1.5, 300.0])
def test_a_class_that_is_ruled_out_changes_nothing(size: float) -> None:
    mean, directions = table(1, size)
    wanted = average_softmax(mean, directions.copy())
    more = np.concatenate([mean, np.full((1, 9), -np.inf)])
    result = average_softmax(more, np.concatenate([directions, directions[:, :1] + 2], axis=1))
    assert (result[-1] == 0).all()
    assert_allclose(result[:-1], wanted, atol=1e-10)


@pytest.mark.parametrize("n_directions", [1, 2, 10, 32, 100, 128])
def test_points_are_even(n_directions: int) -> None:
    for n_points in N_POINTS:
        if n_points < 4 * n_directions:
            continue
        result = points(n_points, n_directions)
        assert result.shape == (n_points, n_directions)
        assert_allclose(result + result[::-1], 0, atol=1e-9)
        assert_allclose(result.T @ result / n_points, np.eye(n_directions), atol=1e-9)
        quantiles = norm.ppf((np.arange(n_points) + 0.5) / n_points)
        scale = np.sqrt((quantiles**2).mean())
        assert_allclose(np.sort(result[:, 0]), quantiles / scale, atol=1e-9)
        if n_directions > 1:  # as many in each quarter of the plane
            quarters = (result[:, 0] > 0) & (result[:, 1] > 0)
            assert quarters.mean() == pytest.approx(0.25, abs=0.02)


def test_as_many_directions_as_a_map_can_have() -> None:
    mean, directions = table(2, 5.0, n_directions=100)
    wanted = draw_average(mean, directions, np.random.default_rng(5))
    assert_allclose(average_softmax(mean, directions), wanted, atol=0.022)
