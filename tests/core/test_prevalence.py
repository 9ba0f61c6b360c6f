"""A stated share of the event: scores move by an offset, rows weigh accordingly."""

import json
import math

import numpy as np
import pytest

from calibcore import EventScores, LogitSet, Split, audit
from calibcore.calibrators import PlattScaling, from_json
from calibcore.calibrators.base import FittedScoreMap
from calibcore.calibrators.score_maps.offset import FittedOffset, FittedScoreChain
from calibcore.data import with_design
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR
from calibcore.inference.draws import redrawn, tally_of
from calibcore.prevalence import estimated_prevalence, prevalence_interval
from calibcore.weights import frequency_weights

SCORES = np.array([0.9, 0.5, 0.5, 0.1])
HITS = np.array([1, 1, 0, 0])


def _enriched(seed: int = 0, n: int = 200) -> tuple[np.ndarray, np.ndarray, float]:
    """As many rows with the event as without, of a population where fewer have it."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-9, 6, 200_001)
    density = np.exp(-((x + 1.6) ** 2) / 2)
    share = float(density @ (1 / (1 + np.exp(-1.5 * x))) / density.sum())
    x = rng.normal(-1.6, 1, 40 * n)
    hits = rng.random(x.size) < 1 / (1 + np.exp(-1.5 * x))
    rows = np.concatenate([np.flatnonzero(hits == outcome)[:n] for outcome in (1, 0)])
    odds = 1.5 * x[rows] - math.log(share / (1 - share))
    return 1 / (1 + np.exp(-odds)), hits[rows].astype(int), share


def test_scores_move_and_rows_weigh_by_hand() -> None:
    result = audit(SCORES, HITS, prevalence=0.1)
    shift = result.prior_shift
    assert shift is not None
    # From odds of 1 to 1 / 9.
    assert shift.offset == pytest.approx(-math.log(9))
    event = result.test.before.event
    assert event.scores.tolist() == pytest.approx([0.5, 0.1, 0.1, 1 / 82])
    assert event.weights is not None
    assert event.weights.values.tolist() == pytest.approx([0.2, 0.2, 1.8, 1.8])
    mean_score = (0.2 * 0.6 + 1.8 * (0.1 + 1 / 82)) / 4
    assert result.test.compare("mean_score").before == pytest.approx(mean_score)
    assert result.test.compare("hit_rate").before == pytest.approx(0.1)
    brier = (0.2 * (0.25 + 0.81) + 1.8 * (0.01 + 1 / 82**2)) / 4
    assert result.test.compare("event_brier").before == pytest.approx(brier)
    assert "10%" in shift.assumed
    assert "50%" in shift.assumed
    assert json.loads(result.to_json())["assumed"] == shift.assumed


def test_the_share_among_the_rows_changes_nothing_that_is_read_off() -> None:
    plain, stated = audit(SCORES, HITS), audit(SCORES, HITS, prevalence=0.5)
    for key in ("mean_score", "event_brier", "ks_error", "auroc", "calibration_slope"):
        was, now = plain.test.compare(key).before, stated.test.compare(key).before
        assert now == pytest.approx(was, nan_ok=True)


def test_ranks_and_the_slope_know_no_prevalence() -> None:
    scores, hits, share = _enriched()
    plain, stated = audit(scores, hits), audit(scores, hits, prevalence=share)
    was, now = (one.test.compare("auroc").before for one in (plain, stated))
    assert now == pytest.approx(was)


def test_certain_scores_and_what_is_left_to_them_move_too() -> None:
    rows = EventScores([1.0, 0.0, 0.5, 1.0], [1, 0, 1, 0], [1e-20, 1.0, 0.5, 1e-20])
    event = audit(rows, prevalence=0.1).test.before.event
    assert event.scores.tolist() == [1.0, 0.0, pytest.approx(0.1), 1.0]
    assert event.rest is not None
    assert event.rest[3] == pytest.approx(9e-20)


def test_what_is_taken_home_moves_the_scores_given() -> None:
    scores, hits, share = _enriched()
    result = audit(scores, hits, prevalence=share, calibrator=PlattScaling())
    fitted = result.fitted
    assert isinstance(fitted, FittedScoreChain)
    odds = math.log(share / (1 - share))
    moved = 1 / (1 + np.exp(-(np.log(scores / (1 - scores)) + odds)))
    weights = np.where(hits == 1, share / 0.5, (1 - share) / 0.5)
    by_hand = PlattScaling().fit(moved, hits, sample_weight=weights)
    np.testing.assert_allclose(fitted.predict(scores), by_hand.predict(moved), atol=1e-9)
    again = from_json(fitted.to_json())
    assert isinstance(again, FittedScoreMap)
    np.testing.assert_array_equal(again.predict(scores), fitted.predict(scores))
    recipe = fitted.recipe()
    assert recipe is not None
    names = {name.upper(): value for name, value in recipe[0].items()} | {"np": np, "x": scores}
    exec("\n".join(recipe[1]), names)  # noqa: S102 - the lines are ours
    np.testing.assert_allclose(names["y"], fitted.predict(scores), atol=1e-12)
    # On the population's rows the calibrated scores have the stated mean.
    after = fitted.predict(scores)
    assert np.average(after, weights=weights) == pytest.approx(share, abs=1e-9)


def test_a_split_takes_the_share_of_its_calibration_set() -> None:
    calibration, test = EventScores(SCORES, HITS), EventScores([0.5, 0.5, 0.5], [1, 0, 0])
    result = audit(Split(calibration, test), prevalence=0.2)
    assert result.prior_shift is not None
    assert result.prior_shift.among_rows == 0.5
    assert result.test.compare("hit_rate").before == pytest.approx(0.2)
    assert result.test.before.event.scores.tolist() == pytest.approx([0.2] * 3)


def test_classes_and_counted_rows() -> None:
    table = np.stack([1 - SCORES, SCORES], axis=1)
    of_classes = audit(table, HITS, prevalence=0.1)
    alone = audit(SCORES, HITS, prevalence=0.1)
    for one, other in zip(of_classes.test.comparisons, alone.test.comparisons, strict=True):
        assert one.before == pytest.approx(other.before, nan_ok=True)
    counted = audit(SCORES, HITS, prevalence=0.1, sample_weight=frequency_weights([2, 2, 2, 2]))
    assert counted.test.n_samples == 8
    brier = alone.test.compare("event_brier").before
    assert counted.test.compare("event_brier").before == pytest.approx(brier)


def test_outcomes_are_drawn_among_the_rows() -> None:
    scores, hits, share = _enriched()
    event = audit(scores, hits, prevalence=share).test.before.event
    counted = tally_of(event)
    drawn = redrawn(np.random.default_rng(0), counted, counted.scores, 4000)
    gaps = (drawn.counts * drawn.scores - drawn.hits).sum(axis=1)
    assert abs(gaps.mean()) < 4 * gaps.std() / np.sqrt(4000) + 0.1
    # Of fresh rows from that population, the gap varies as much.
    fresh = []
    for seed in range(300):
        other = audit(*_enriched(seed, n=200)[:2], prevalence=share).test.before
        fresh.append(400 * (other.curves.cum_score[-1] - other.curves.cum_hits[-1]))
    assert gaps.std() == pytest.approx(np.std(fresh), rel=0.12)


@pytest.mark.long
def test_tests_hold_their_size_and_have_power() -> None:
    rejected, result = 0, 0
    for seed in range(60):
        scores, hits, share = _enriched(seed)
        rejected += audit(scores, hits, prevalence=share).verdict.before.detected
        if seed < 10:
            result += audit(scores, hits, prevalence=share / 2).verdict.before.detected
            wrong = np.clip(scores * 1.3, 0, 1)
            result += audit(wrong, hits, prevalence=share).verdict.before.detected
    assert rejected <= 8
    # Scores meant for the share among the rows are right at any stated share; others are not.
    assert 10 <= result <= 13


def test_intervals_of_what_is_stated_have_no_length() -> None:
    scores, hits, share = _enriched()
    result = audit(scores, hits, prevalence=share, calibrator="platt")
    answer = result.intervals("hit_rate", "mean_gap", "ks_error", n_resamples=60, most=200)
    rate, gap = answer.find("hit_rate").before, answer.find("mean_gap").before
    assert rate is not None
    assert gap is not None
    assert rate.interval.high - rate.interval.low < 1e-6
    assert gap.interval.low < gap.value < gap.interval.high


@pytest.mark.parametrize("prevalence", [0.0, 1.0, -0.1, math.nan, 1, "0.1"])
def test_a_share_that_is_none(prevalence: float) -> None:
    with pytest.raises(CalibrationInputError, match="prevalence"):
        audit(SCORES, HITS, prevalence=prevalence)


def test_what_a_prevalence_cannot_be_stated_of() -> None:
    table = np.full((6, 3), 1 / 3)
    with pytest.raises(CalibrationInputError, match="OneClass"):
        audit(table, [0, 1, 2] * 2, prevalence=0.1, event=TopR(1))
    with pytest.raises(CalibrationInputError, match="without the event"):
        audit([0.5, 0.6], [1, 1], prevalence=0.1)
    for told in ({"sample_weight": [1.0, 2, 3, 4]}, {"clusters": [0, 0, 1, 1]}):
        with pytest.raises(CalibrationInputError, match="beside"):
            audit(with_design(EventScores(SCORES, HITS), **told), prevalence=0.1)
    rows = LogitSet([[0.0, 1.0], [1.0, 0.0]] * 5, [0, 1] * 5)
    with pytest.raises(CalibrationInputError, match="logits"):
        audit(rows, prevalence=0.1, calibrator="temperature", event=OneClass(1))


def test_an_offset_by_hand() -> None:
    fitted = FittedOffset(math.log(4))
    assert fitted.predict([0.0, 0.2, 0.5, 1.0]).tolist() == pytest.approx([0, 0.5, 0.8, 1])
    assert FittedOffset(-800.0).predict([0.5]).tolist() == pytest.approx([0.0])
    assert "raised by 1.39" in fitted.describe().sentence


# From rows without outcomes -------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_an_estimated_share_is_where_the_algorithm_of_saerens_ends(*, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 3, 500).tolist()
    weights = rng.gamma(2, 1, 500).tolist() if weighted else [1.0] * 500
    share = 0.4
    for _ in range(5000):
        moved = [share / 0.4 * s / (share / 0.4 * s + (1 - share) / 0.6 * (1 - s)) for s in scores]
        share = math.fsum(w * m for w, m in zip(weights, moved, strict=True)) / math.fsum(weights)
    result = estimated_prevalence(scores, 0.4, sample_weight=weights if weighted else None)
    assert result == pytest.approx(share, abs=1e-9)


def test_an_estimated_share_is_near_the_true_one() -> None:
    rng = np.random.default_rng(1)
    hits = rng.random(40_000) < 0.1
    logits = rng.normal(np.where(hits, 1.0, -1.0), 1.0)  # as 1 / (1 + exp(-2 x)) of half events
    result = estimated_prevalence(1 / (1 + np.exp(-2 * logits)), 0.5)
    assert result == pytest.approx(hits.mean(), abs=0.006)


def test_the_interval_of_a_share_is_where_a_slow_likelihood_falls_by_1_92() -> None:
    rng = np.random.default_rng(3)
    scores, times = rng.beta(2, 3, 60).tolist(), rng.integers(1, 4, 60).tolist()
    repeated = [one for one, n in zip(scores, times, strict=True) for _ in range(n)]

    def log_likelihood(share: float) -> float:
        return math.fsum(math.log(share * s / 0.4 + (1 - share) * (1 - s) / 0.6) for s in repeated)

    best = log_likelihood(estimated_prevalence(repeated, 0.4))
    result = prevalence_interval(scores, 0.4, sample_weight=frequency_weights(times))
    assert 0 < result.low < result.high < 1
    for end in (result.low, result.high):
        assert best - log_likelihood(end) == pytest.approx(1.959963984540054**2 / 2, abs=1e-6)
    equal = prevalence_interval(repeated, 0.4, sample_weight=[7.0] * len(repeated))
    assert (equal.low, equal.high) == pytest.approx((result.low, result.high), abs=1e-9)
    few = prevalence_interval([0.1, 0.2], 0.5)
    assert few.low == 0
    assert few.high > 0.5


@pytest.mark.parametrize(("share", "n_rows"), [(0.02, 100), (0.1, 400)])
def test_intervals_of_a_share_hold_it(share: float, n_rows: int) -> None:
    held = []
    for seed in range(300):
        rng = np.random.default_rng([seed, 5])
        hits, weights = rng.random(n_rows) < share, None
        logits = rng.normal(np.where(hits, 1.0, -1.0), 1.0)
        if n_rows > 100:  # half of the rows have a fifth of the chance to be there
            chance = np.where(rng.random(n_rows) < 0.5, 1.0, 0.2)
            taken = rng.random(n_rows) < chance
            logits, weights = logits[taken], 1 / chance[taken]
        scores = 1 / (1 + np.exp(-2 * logits))
        result = prevalence_interval(scores, 0.5, sample_weight=weights)
        held.append(result.low <= share <= result.high)
    assert 0.92 <= np.mean(held) <= 0.99


def test_shares_at_the_ends_and_what_cannot_be_estimated() -> None:
    assert estimated_prevalence([0.1, 0.2], 0.5) == pytest.approx(0.0, abs=1e-9)
    assert estimated_prevalence([0.9, 1.0], 0.5) == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(CalibrationInputError, match="without which nothing is known"):
        estimated_prevalence([0.5, 0.5], 0.5)
    with pytest.raises(CalibrationInputError, match="among_rows"):
        estimated_prevalence([0.1, 0.2], 1.0)
