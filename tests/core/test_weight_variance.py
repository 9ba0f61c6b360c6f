"""How weighted gaps vary where weights depend on outcomes: loops, large samples, both ways."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from calibcore.cumulative import curves_of
from calibcore.data import EventScores, with_design
from calibcore.inference.draws import tally_of
from calibcore.tally import tally
from calibcore.weights import OrderedDesign, Prior
from tests import reference_weighted as slow


def survey(chances: tuple[float, float], mean: float, size: int, seed: int = 0) -> EventScores:
    """Draw calibrated rows with a chance of hits and one of misses."""
    rng = np.random.default_rng(seed)
    x = mean + rng.normal(size=size)
    hits = rng.random(size) < ndtr(x)
    chance = np.where(hits, *chances)
    taken = rng.random(size) < chance
    return with_design(EventScores(ndtr(x)[taken], hits[taken]), sample_weight=1 / chance[taken])


def design_of(event: EventScores) -> OrderedDesign:
    design = tally_of(event).design
    assert design is not None
    return design


def test_the_ratio_of_weights_by_loops() -> None:
    rng = np.random.default_rng(3)
    scores, hits, weights = rng.random(90), rng.integers(0, 2, 90), rng.gamma(2, 1, 90)
    wanted = slow.misses_over_hits(slow.Rows(scores.tolist(), hits.tolist(), weights.tolist()))
    design = tally(scores, hits, sample_weight=weights).design
    assert design is not None
    assert design.misses_over_hits == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("chances", [(0.2, 0.06), (0.06, 0.2), (0.1, 0.1)])
@pytest.mark.parametrize("mean", [-1.2, 0.0, 1.2])
def test_the_variance_is_that_of_what_is_seen(chances: tuple[float, float], mean: float) -> None:
    event = survey(chances, mean, 400_000)
    counted, design = tally_of(event), design_of(event)
    assert design.misses_over_hits == pytest.approx(chances[0] / chances[1], rel=0.01)
    seen = float(design.gaps @ design.gaps)
    assert float(counted.variances.sum()) == pytest.approx(seen, rel=0.03)
    third = abs(float((design.gaps**3).sum()))
    assert float(design.null_moments[1].sum()) >= 0.97 * third  # without the signs, no less
    halves = design.variance_so_far()[[design.scores.size // 2, -1]]
    wanted = np.cumsum(np.square(design.gaps))[[design.scores.size // 2, -1]]
    np.testing.assert_allclose(halves, wanted, rtol=0.15)  # heavy hits are few below


def test_weights_that_depend_on_scores_alone_change_little() -> None:
    rng = np.random.default_rng(5)
    scores = rng.random(200_000)
    hits = rng.random(200_000) < scores
    design = tally(scores, hits, sample_weight=1 + 3 * scores).design
    assert design is not None
    assert design.misses_over_hits == pytest.approx(1, abs=0.05)
    equal = tally(scores, hits, sample_weight=np.full(200_000, 2.0)).design
    assert equal is not None
    np.testing.assert_allclose(equal.tilt(scores), 1, rtol=1e-12)


def test_the_ks_test_of_skewed_surveys_rejects_as_rarely_as_it_should() -> None:
    for chances, mean in (((0.06, 0.2), -1.0), ((0.2, 0.06), 1.0)):
        sets = [curves_of(tally_of(survey(chances, mean, 6_000, seed))) for seed in range(100)]
        assert np.mean([one.ks_p_value < 0.05 for one in sets]) <= 0.11  # of 5%, 1 run in 200
        assert np.mean([one.ks_p_value < 0.5 for one in sets]) >= 0.35


def test_outcomes_of_a_stated_prevalence_are_drawn_and_weighted() -> None:
    prior, frequency = Prior(0.1, math.log(1 / 9)), np.array([0.05, 0.1, 0.4])
    rows = np.array([300.0, 500.0, 200.0])
    counts, hits = prior.drawn_rows(np.random.default_rng(1), frequency, rows, 2_000)
    np.testing.assert_allclose(counts.sum(axis=1), 1_000)
    np.testing.assert_allclose(hits.sum(axis=1), 100)
    share = prior.among_rows(frequency)  # 9 to 1 among the rows for 1 to 9 where scores are used
    np.testing.assert_allclose(share, 9 * frequency / (1 + 8 * frequency))
    seen = hits.mean(axis=0) / counts.mean(axis=0)
    odds = seen / (1 - seen) * (1 - frequency) / frequency
    np.testing.assert_allclose(odds, odds.mean(), rtol=0.02)
