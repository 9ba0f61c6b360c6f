"""Distances that few or no misses leave possible, on either side of the scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore import EventScores, TopR
from calibcore.inference import Inference, Plan, SideRows, infer
from calibcore.inference.inversion import allowed_frequencies
from calibcore.metrics import METRICS, EventMeasure
from calibcore.probabilities import softmax
from calibcore.reliability import binomial_interval
from calibcore.tally import tally
from calibcore.validation import Floats
from tests.core.inference.uncertainty import before_of

DISTANCES = tuple(m for m in METRICS if isinstance(m, EventMeasure) and m.is_distance)
CLASSWISE = tuple(m for m in METRICS if m.key in ("classwise_ece", "max_classwise_ece"))


@pytest.mark.parametrize("hits", [0, 1, 3, 50, 99, 100])
@pytest.mark.parametrize("score", [0.0, 0.02, 0.5, 0.97, 1.0])
def test_of_equal_scores_so_many_hits_are_allowed_as_wilson_s_interval_holds(
    score: float, hits: int
) -> None:
    low, high = binomial_interval(hits, 100)
    counted = tally(np.full(100, score), np.arange(100) < hits)
    fewer, more = allowed_frequencies(counted, 0.95)
    assert_allclose(fewer[0], min(float(low), score), atol=1e-9)
    assert_allclose(more[0], max(float(high), score), atol=1e-9)


def test_hits_of_unequal_scores_are_just_allowed_by_counting() -> None:
    rng = np.random.default_rng(0)
    scores = rng.beta(4, 1, 300)
    counted = tally(scores, rng.random(300) < scores)
    fewer, more = allowed_frequencies(counted, 0.95)
    seen = counted.hits.sum()
    for frequency, beyond in ((fewer, np.greater), (more, np.less)):
        drawn = (rng.random((20_000, 300)) < frequency).sum(axis=1)
        as_far = np.mean(beyond(drawn, seen)) + np.mean(drawn == seen) / 2
        assert as_far == pytest.approx(0.025, abs=0.005)


def squared(key: str, gap: float) -> float:
    """Give what a distance is where all gaps are alike."""
    alike = {"miscalibration": gap**2, "event_skce": 2 * gap**2, "averaged_two_bin": gap**2}
    return alike.get(key, gap)


@pytest.mark.parametrize("hit", [0, 1])
@pytest.mark.parametrize("certain", [False, True])
def test_without_a_miss_no_distance_ends_before_the_gap_that_is_possible(
    hit: int, *, certain: bool
) -> None:
    # A share of 3.84 / (100 + 3.84) may truly be misses, and each distance may be as long.
    scores = np.ones(100) if certain else np.random.default_rng(1).uniform(0.98, 1, 100)
    possible = scores.mean() - binomial_interval(100, 100)[0]
    side = SideRows(EventScores(scores if hit else 1 - scores, np.full(100, hit)))
    for one in infer(side, side, Plan(DISTANCES, n_resamples=60)).findings:
        truth = squared(one.key, possible)
        assert before_of(one).interval.low == 0
        assert truth * 0.98 < before_of(one).interval.high
        if one.key != "nll_miscalibration":  # in nats, of which a certain miss costs hundreds
            assert before_of(one).interval.high < 2 * possible


@pytest.mark.long
def test_so_few_misses_are_expected_that_most_sets_have_none() -> None:
    n_held = dict.fromkeys((one.key for one in DISTANCES), 0)
    for seed in range(40):
        hits = np.random.default_rng(seed).random(200) < 0.99
        side = SideRows(EventScores(np.full(200, 0.999), hits.astype(int)))
        for one in infer(side, side, Plan(DISTANCES, n_resamples=60, seed=seed)).findings:
            truth = squared(one.key, 0.009)
            n_held[one.key] += before_of(one).interval.low <= truth <= before_of(one).interval.high
    assert min(n_held.values()) >= 37


def class_wise(logits: Floats, stretch: float, seed: int) -> tuple[Inference, Floats]:
    """Evaluate labels of other probabilities, and give the true class-wise errors by loops."""
    text, true = softmax(logits), softmax(stretch * logits)
    draws = np.random.default_rng(seed).random((len(logits), 1))
    labels = np.minimum((draws > true.cumsum(axis=1)).sum(axis=1), logits.shape[1] - 1)
    side = SideRows(TopR(1).outcomes(text, labels), text, labels)
    errors = []
    for column, its in zip(text.T, true.T, strict=True):
        bins = np.ceil(column * 15)
        errors.append(sum(abs((column - its)[bins == one].sum()) for one in set(bins)))
    return infer(side, side, Plan(CLASSWISE, n_resamples=100)), np.array(errors) / len(logits)


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "away", "spread", "stretch"),
    [(1000, 3, 7.6, 0.3, 0.75), (100, 4, 3.0, 1.0, 1.4)],
    ids=["few misses", "fewer misses than claimed"],
)
def test_class_wise_errors_are_held_where_few_misses_are_seen(
    n_rows: int, n_classes: int, away: float, spread: float, stretch: float
) -> None:
    n_held = dict.fromkeys((one.key for one in CLASSWISE), 0)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        logits = spread * rng.normal(size=(n_rows, n_classes))
        logits[np.arange(n_rows), rng.integers(n_classes, size=n_rows)] += away
        result, errors = class_wise(logits, stretch, seed + 1000)
        for one, truth in zip(result.findings, (errors.mean(), errors.max()), strict=True):
            n_held[one.key] += before_of(one).interval.low <= truth <= before_of(one).interval.high
    assert min(n_held.values()) >= 55


@pytest.mark.parametrize("certain", [False, True])
def test_without_a_miss_class_wise_errors_reach_what_is_possible(*, certain: bool) -> None:
    labels = np.arange(400) % 4
    text = np.eye(4)[labels] if certain else softmax(9 * np.eye(4)[labels])
    side = SideRows(TopR(1).outcomes(text, labels), text, labels)
    # Of each class, a quarter of the rows miss that share, and the others have as many more hits.
    possible = (text.max(axis=1).mean() - binomial_interval(400, 400)[0]) / 2
    for one in infer(side, side, Plan(CLASSWISE, n_resamples=60)).findings:
        assert before_of(one).interval.low == 0
        assert possible * 0.99 < before_of(one).interval.high < 3 * possible
