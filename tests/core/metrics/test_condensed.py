"""Few points in place of many log-odds, and the regressions that are fitted to them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq, root
from scipy.special import expit

from calibcore import metrics
from calibcore.metrics.regression import WIDTH, calibration_slope_of, condensed, log_odds
from calibcore.tally import Tally, tally
from calibcore.validation import Floats


def rows(rng: np.random.Generator, n: int, spread: float) -> Tally:
    scores = expit(rng.normal(1.0, spread, n))
    return tally(scores, rng.random(n) < scores)


@pytest.mark.parametrize("spread", [0.05, 1.0, 6.0])
@pytest.mark.parametrize(("slope", "off"), [(0.3, 5e-14), (1.0, 5e-14), (2.0, 2e-13)])
def test_sums_over_few_points_are_those_of_the_rows(
    spread: float, slope: float, off: float, rng: np.random.Generator
) -> None:
    counted = rows(rng, 5_000, spread)
    few, odds = condensed(counted), log_odds(counted)
    assert few.points.size < odds.size / 5
    assert few.points.min() >= odds[0]
    assert few.points.max() <= odds[-1]
    assert 0 < few.half <= WIDTH / 2
    for intercept in (-9.0, -1.0, 4.0):
        exact = counted.counts @ expit(intercept + slope * odds)
        result = few.weights @ expit(intercept + slope * few.points)
        assert result == pytest.approx(exact, rel=off)


def test_every_resample_has_weights_of_its_own(rng: np.random.Generator) -> None:
    counted = rows(rng, 2_000, 2.0)
    counts = rng.integers(0, 3, (2, 3, 2_000)).astype(float)
    few = condensed(Tally(counted.scores, counts, counts, 2_000))
    result = few.rows((2, 3)) @ expit(few.points)
    assert_allclose(result, counts.reshape(6, -1) @ expit(log_odds(counted)), rtol=1e-13)


def test_few_neighbours_stand_for_themselves() -> None:
    counted = tally([0.0, 0.1, 0.1, 0.9, 1.0], [0, 0, 1, 1, 1])
    few = condensed(counted)
    assert few.half == 0
    assert few.points.tolist() == log_odds(counted).tolist()
    assert few.weights.tolist() == [1.0, 2.0, 1.0, 1.0]


def test_parts_of_many_scores_are_put_together(rng: np.random.Generator) -> None:
    counted = rows(rng, 100_000, 3.0)  # several parts of a tally
    few = condensed(counted)
    exact = counted.counts @ expit(log_odds(counted))
    assert few.weights @ expit(few.points) == pytest.approx(exact, rel=1e-13)


def solved(odds: Floats, hits: Floats) -> tuple[float, float]:
    """Solve both regressions over all rows by another library's search."""

    def off(line: Floats) -> Floats:
        left = expit(line[0] + line[1] * odds) - hits
        return np.array([left.sum(), left @ odds])

    shift = brentq(lambda a: float((expit(a + odds) - hits).sum()), -60, 60, xtol=1e-14)
    return float(shift), float(root(off, [0.0, 1.0], tol=1e-14).x[1])


@pytest.mark.parametrize("slope", [-0.5, 0.2, 1.0, 1.9, 2.1, 6.0])
def test_regressions_are_those_over_all_rows(slope: float, rng: np.random.Generator) -> None:
    odds = rng.normal(0.5, 1.5, 4_000)
    scores, hits = expit(odds), rng.random(4_000) < expit(0.3 + slope * odds)
    shift, factor = solved(odds, hits.astype(float))
    assert metrics.calibration_intercept(scores, hits) == pytest.approx(shift, rel=1e-10)
    assert metrics.calibration_slope(scores, hits) == pytest.approx(factor, rel=1e-10)


def test_steep_and_flat_resamples_of_one_tally_are_both_right(rng: np.random.Generator) -> None:
    odds = np.sort(rng.normal(0.0, 1.5, 3_000))
    scores, slopes = expit(odds), (0.1, 1.0, 8.0, 40.0)
    hits = np.array([rng.random(odds.size) < expit(slope * odds) for slope in slopes], dtype=float)
    result = calibration_slope_of(Tally(scores, np.ones(odds.size), hits, odds.size))
    alone = [metrics.calibration_slope(scores, one) for one in hits]
    assert_allclose(result, alone, rtol=1e-9)
    assert_allclose(result[:3], [solved(odds, one)[1] for one in hits[:3]], rtol=1e-8)
