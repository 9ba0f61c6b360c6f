"""What every measure of an event keeps: resamples at once, and any order of the rows."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcore.errors import CalibrationInputError
from calibcore.metrics import METRICS, EventMeasure, Options, measure_by_key
from calibcore.tally import Tally, tally
from tests.strategies import EventCase, event_data

each_measure = pytest.mark.parametrize(
    "measure", [one for one in METRICS if isinstance(one, EventMeasure)], ids=lambda one: one.key
)
fewer = settings(max_examples=settings().max_examples // 4)
"""For each measure."""


def check_resamples(measure: EventMeasure, counted: Tally) -> None:
    """Expect of many sets what each set alone has, without the scores that it has not."""
    counts, hits = np.broadcast_arrays(counted.counts, counted.hits)
    result = np.broadcast_to(measure.compute(counted, Options(n_bins=7)), counts.shape[:-1])
    for place in np.ndindex(result.shape):
        there = counts[place] > 0
        own = counted.scores[there], counts[place][there], hits[place][there]
        alone = measure.compute(Tally(*own, counted.n_samples), Options(n_bins=7))
        assert result[place] == pytest.approx(float(alone), rel=1e-6, abs=1e-7, nan_ok=True)


def bootstrapped(counted: Tally, rng: np.random.Generator, shape: tuple[int, ...]) -> Tally:
    """Rows drawn again: some scores come out with no row at all."""
    n = counted.n_samples
    counts = rng.multinomial(n, counted.counts / n, size=shape)
    hits = rng.binomial(counts, counted.hits / counted.counts)
    return Tally(counted.scores, counts.astype(float), hits.astype(float), n)


def redrawn(counted: Tally, rng: np.random.Generator, n_resamples: int) -> Tally:
    """Labels drawn again: every score keeps its rows, and two sets have no hit or one."""
    rates = np.tile(counted.scores, (n_resamples, 1))
    rates[-2:] = 0
    hits = rng.binomial(counted.counts.astype(int), rates).astype(float)
    hits[-1, 0] = 1
    return Tally(counted.scores, counted.counts, hits, counted.n_samples)


@each_measure
@fewer
@given(case=event_data(), seed=st.integers(0, 1_000))
def test_resamples_together_are_resamples_one_by_one(
    measure: EventMeasure, case: EventCase, seed: int
) -> None:
    rng, counted = np.random.default_rng(seed), tally(*case)
    check_resamples(measure, counted)
    check_resamples(measure, bootstrapped(counted, rng, (2, 3)))
    check_resamples(measure, redrawn(counted, rng, 4))


@each_measure
def test_resamples_of_many_scores_are_those_one_by_one(
    measure: EventMeasure, rng: np.random.Generator
) -> None:
    scores = np.append(rng.beta(0.4, 0.3, 2_000), rng.choice([0.0, 0.25, 1.0], 40))
    counted = tally(scores, rng.random(scores.size) < scores**1.5)
    for shape in ((6,), (1, 1)):
        check_resamples(measure, bootstrapped(counted, rng, shape))
    check_resamples(measure, redrawn(counted, rng, 6))


@each_measure
@fewer
@given(case=event_data(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(
    measure: EventMeasure, case: EventCase, random: Random
) -> None:
    order = list(range(len(case.scores)))
    random.shuffle(order)
    one, other = (
        measure.compute(tally(*rows), Options())
        for rows in (case, (case.scores[order], case.hits[order]))
    )
    np.testing.assert_array_equal(one, other)


def test_each_measure_is_found_by_its_key_and_no_other() -> None:
    assert [measure_by_key(one.key) for one in METRICS] == [*METRICS]
    with pytest.raises(CalibrationInputError, match="measure: 'ks'"):
        measure_by_key("ks")
