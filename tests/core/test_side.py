"""What a side adds for its pictures: the public functions' results, computed when asked for."""

import numpy as np
import pytest

from calibcore.auditing import audit
from calibcore.cumulative import cumulative_curves
from calibcore.data import EventScores
from calibcore.evaluation import GRAPH_KNOTS, Side
from calibcore.events import TopR
from calibcore.reliability import (
    binned_reliability,
    corp_reliability,
    null_band,
    smooth_reliability,
    spline_null_band,
)
from calibcore.splits import Split
from tests.reference_reliability import isotonic

LAZY = ("null", "frequency", "frequency_null", "corp", "corp_outside", "smooth")


def draw(rng: np.random.Generator, n_samples: int, *, shift: float = 0.1) -> EventScores:
    scores = 0.2 + 0.8 * rng.beta(3, 1, n_samples)
    return EventScores(scores, rng.random(n_samples) < scores - shift)


def side_of(event: EventScores, *, n_bins: int = 15) -> Side:
    return audit(Split(event, event), event=TopR(1), calibrator=None, n_bins=n_bins).test.before


@pytest.fixture
def event(rng: np.random.Generator) -> EventScores:
    return draw(rng, 900)


def same(one: object, other: object) -> None:
    """Compare two result objects field by field, those inside them too."""
    assert type(one) is type(other)
    for name, value in vars(one).items():
        wanted = getattr(other, name)
        if hasattr(value, "__dataclass_fields__"):
            same(value, wanted)
        else:
            assert np.array_equal(value, wanted, equal_nan=isinstance(value, np.ndarray)), name


@pytest.mark.parametrize("n_bins", [1, 15, 40])
def test_the_bins_have_wilsons_intervals(event: EventScores, n_bins: int) -> None:
    side = side_of(event, n_bins=n_bins)
    same(side.binned, binned_reliability(event.scores, event.hits, n_bins=n_bins))
    assert side.bins is side.binned.bins
    assert (side.binned.interval, side.binned.level) == ("wilson", 0.95)


def test_bands_and_curves_are_the_public_functions(event: EventScores) -> None:
    side = side_of(event)
    curves = cumulative_curves(event.scores, event.hits)
    same(side.null, null_band(curves))
    same(side.frequency_null, spline_null_band(curves, n_knots=GRAPH_KNOTS))
    same(side.corp, corp_reliability(event.scores, event.hits, seed=0))
    same(side.smooth, smooth_reliability(event.scores, event.hits, seed=0))
    assert side.corp.consistency.seed == side.smooth.confidence.seed == 0


def test_the_bands_stand_where_the_curves_do(event: EventScores) -> None:
    side = side_of(event)
    assert side.frequency is not None
    assert side.frequency_null is not None
    assert side.null.cum_score.tolist() == side.curves.cum_score.tolist()
    assert side.frequency_null.score.tolist() == side.frequency.score.tolist()
    assert side.frequency_null.fractile == pytest.approx(side.frequency.fractile, abs=1e-12)


def test_nothing_of_the_pictures_is_computed_before_it_is_asked_for(event: EventScores) -> None:
    side = side_of(event)
    assert not set(LAZY) & set(vars(side))
    for name in LAZY:
        assert getattr(side, name) is getattr(side, name)
        assert name in vars(side)


def test_few_rows_have_no_band_for_the_curve_they_do_not_have(rng: np.random.Generator) -> None:
    side = side_of(draw(rng, GRAPH_KNOTS - 1))
    assert side.frequency is None
    assert side.frequency_null is None
    assert side.null.simultaneous > 0
    assert side_of(draw(rng, GRAPH_KNOTS)).frequency_null is not None


def test_rows_outside_the_consistency_band_are_counted_one_by_one(rng: np.random.Generator) -> None:
    event = draw(rng, 120, shift=0.25)
    side = side_of(event)
    band, outside = side.corp.consistency, 0
    steps = isotonic(event.scores.tolist(), event.hits.tolist())
    height = dict(zip(steps.scores, steps.frequency, strict=True))
    for score in event.scores.tolist():
        lower, upper = (np.interp(score, band.score, end) for end in (band.lower, band.upper))
        outside += not lower - 1e-12 <= height[score] <= upper + 1e-12
    assert side.corp_outside == pytest.approx(outside / event.n_samples, abs=1e-12)
    assert 0.1 < side.corp_outside < 1


def test_a_perfect_models_curve_is_outside_at_about_5_of_100(rng: np.random.Generator) -> None:
    shares = [side_of(draw(rng, 300, shift=0.0)).corp_outside for _ in range(60)]
    assert np.mean(shares) == pytest.approx(0.05, abs=0.03)


@pytest.mark.parametrize("hit", [0, 1])
def test_one_certain_score_is_inside_where_it_is_true(hit: int) -> None:
    side = side_of(EventScores(np.ones(30), np.full(30, hit)))
    assert side.corp_outside == 1 - hit
