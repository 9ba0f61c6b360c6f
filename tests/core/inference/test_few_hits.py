"""Intervals and words where few rows are hits, or few are misses, or a measure is not finite."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm, t

from calibcore import EventScores
from calibcore.cumulative import curves_of
from calibcore.data import with_design
from calibcore.inference import Interval, Plan, SideRows, infer
from calibcore.inference.draws import grouped, tally_of
from calibcore.inference.findings import reference
from calibcore.inference.infer import _null
from calibcore.inference.intervals import percentile_interval, rank_interval, stretch_of, stretched
from calibcore.metrics import measure_by_key
from calibcore.tally import tally
from calibcore.validation import Floats
from tests.core.inference.uncertainty import finding_of, plan_of, uncertainty_of
from tests.marks import first_and_long
from tests.strategies import seeded_events


def interval_of(key: str, event: EventScores) -> Interval:
    return uncertainty_of(key, event).interval


# The mean gap, and what else compares the hits with those expected -----------------------------


def likely_gaps(scores: Sequence[float], n_hits: int) -> list[float]:
    """Mean gaps under the frequencies of which so many hits are just not unusual, by roots."""

    def frequencies(place: float) -> list[float]:  # from -1, no hits, by 0, the scores, to 1
        return [s * (1 + place) if place < 0 else s + place * (1 - s) for s in scores]

    def too_many(place: float, far: float) -> float:
        f = frequencies(place)
        return math.fsum(f) + far * math.sqrt(math.fsum(p * (1 - p) for p in f)) - n_hits

    z, n = norm.ppf(0.975), len(scores)
    low = -1.0 if n_hits == 0 else brentq(too_many, -1, 1, args=(z,))
    start = -1 + z**2 / 4 / math.fsum(scores)  # beyond where the sum less z deviations falls
    high = 1.0 if n_hits == n else brentq(too_many, start, 1, args=(-z,))
    return [math.fsum(scores) / n - math.fsum(frequencies(at)) / n for at in (high, low)]


@pytest.mark.parametrize("n_hits", [0, 1, 3, 12])
def test_the_mean_gap_of_few_hits_reaches_as_far_as_a_test_of_their_number(n_hits: int) -> None:
    rng = np.random.default_rng(n_hits)
    scores = expit(rng.normal(-4, 1, 400)).round(4)
    hits = np.zeros(400, dtype=int)
    hits[rng.choice(400, n_hits, replace=False)] = 1
    result = interval_of("mean_gap", EventScores(scores, hits))
    low, high = likely_gaps(scores.tolist(), n_hits)
    assert result.low <= low + 1e-9
    assert result.high >= high - 1e-9
    assert min(abs(result.low - low), abs(result.high - high)) < 1e-6  # one of them is its end
    variance = float((scores * (1 - scores)).sum())
    usual = abs(scores.sum() - n_hits) <= norm.ppf(0.975) * math.sqrt(variance)
    assert (result.low <= 0 <= result.high) >= usual


def test_no_event_at_all_leaves_the_same_gaps_as_frequencies() -> None:
    event = EventScores(np.full(400, 0.009), np.zeros(400, dtype=int))
    gap, share = interval_of("mean_gap", event), interval_of("hit_rate", event)
    assert_allclose([gap.low, gap.high], [0.009 - share.high, 0.009 - share.low], atol=1e-9)
    ratio = interval_of("observed_expected_ratio", event)
    assert_allclose([ratio.low, ratio.high], [0, share.high / 0.009], atol=1e-9)


def test_the_mean_gap_of_rare_events_is_held() -> None:
    n_inside = sets = 150
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        odds = rng.normal(-4.5, 1, 300)
        event = EventScores(expit(odds + 0.3), (rng.random(300) < expit(odds)).astype(int))
        true = float((expit(odds + 0.3) - expit(odds)).mean())
        ends = interval_of("mean_gap", event)
        n_inside -= not ends.low <= true <= ends.high
    assert n_inside >= 0.93 * sets


# AUROC ------------------------------------------------------------------------------------------


def share_below(score: float, others: Sequence[float]) -> float:
    return sum(1.0 if other < score else 0.5 if other == score else 0.0 for other in others) / len(
        others
    )


def usual(a: float) -> float:
    """Half of Q1 - A^2 + Q2 - A^2 of Hanley and McNeil."""
    return (a / (2 - a) + 2 * a**2 / (1 + a) - 2 * a**2) / 2


def looked_for(scores: Sequence[float], hits: Sequence[int]) -> list[float]:
    """The ends of the interval of AUROC, by loops over pairs and a search for roots."""
    of_hits = [s for s, h in zip(scores, hits, strict=True) if h]
    of_misses = [s for s, h in zip(scores, hits, strict=True) if not h]
    for_hits = [share_below(s, of_misses) for s in of_hits]
    for_misses = [1 - share_below(s, of_hits) for s in of_misses]
    area = sum(for_hits) / len(for_hits)
    factor = 0.0
    for places in (for_hits, for_misses):
        n = len(places)
        if 0 < area < 1:
            ratio = sum((one - area) ** 2 for one in places) / usual(area)
            factor += (ratio + 10) / (n - 1 + 10) / n
        else:
            factor += 1 / n
    allowed = norm.ppf(0.975) ** 2 * factor

    def off(other: float) -> float:
        return float((other - area) ** 2 - allowed * usual(other))

    low = brentq(off, 0, area - 1e-9) if area > 0 else 0.0
    high = brentq(off, area + 1e-9, 1) if area < 1 else 1.0
    return [low, high]


def test_the_interval_of_auroc_is_that_of_loops() -> None:
    result = 0
    for events in seeded_events(41, 60, max_size=30):
        if 0 < events.hits.sum() < len(events.hits):
            expected = looked_for(events.scores.tolist(), events.hits.tolist())
            ends = rank_interval(tally(*events), 0.95)
            assert_allclose([ends.low, ends.high], expected, atol=1e-6)
            result += 1
    assert result > 20


def test_many_rows_have_delong_s_interval() -> None:
    rng = np.random.default_rng(0)
    scores = expit(rng.normal(size=4000))
    hits = (rng.random(4000) < scores).astype(int)
    counted = tally(scores, hits)
    below = (np.searchsorted(np.sort(scores[hits == 0]), scores[hits == 1])) / (hits == 0).sum()
    above = 1 - np.searchsorted(np.sort(scores[hits == 1]), scores[hits == 0]) / hits.sum()
    deviation = math.sqrt(below.var(ddof=1) / below.size + above.var(ddof=1) / above.size)
    ends = rank_interval(counted, 0.95)
    assert ends.high - ends.low == pytest.approx(2 * 1.95996 * deviation, rel=0.01)


def rare(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    scores = np.clip(1 - 0.01 * rng.exponential(size=n), 0.5, 1 - 1e-6)
    return scores, (rng.random(n) < scores).astype(int)


def test_auroc_of_three_misses_is_held() -> None:
    # Scores and truth of 1 - 0.01 e, e exponential: of 300 rows three are misses.
    every = 1 - 0.01 * (np.arange(20_000) + 0.5) / 2_000  # e up to 10
    weights = np.exp(-(1 - every) / 0.01)
    below = np.cumsum((weights * (1 - every))[::-1])[::-1]
    hits = weights * every
    truth = float(hits @ (below - weights * (1 - every) / 2) / (hits.sum() * below[0]))
    assert truth == pytest.approx(0.753, abs=0.002)
    n_held = sets = 0
    for seed in range(120):
        scores, drawn = rare(np.random.default_rng(seed), 300)
        if drawn.all():
            continue
        ends = interval_of("auroc", EventScores(scores, drawn))
        n_held += ends.low <= truth <= ends.high
        sets += 1
    assert n_held >= 0.92 * sets


def test_one_hit_at_the_top_does_not_exclude_chance() -> None:
    scores = np.linspace(0.001, 0.05, 300)
    ends = interval_of("auroc", EventScores(scores, np.arange(300) == 270))
    assert ends.low < 0.5
    assert ends.high > 0.98


@pytest.mark.parametrize("hit", [0, 1])
def test_without_hits_or_misses_there_is_no_auroc(hit: int) -> None:
    event = EventScores(np.linspace(0.2, 0.9, 50), np.full(50, hit))
    assert math.isnan(interval_of("auroc", event).low)
    assert math.isnan(interval_of("calibration_slope", event).low)


def noisy_pair(seed: int, n: int, intercept: float) -> tuple[EventScores, EventScores]:
    """Two models that are equally good, each with noise of its own."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=n) * 1.5 + intercept
    hits = rng.random(n) < expit(logits)
    one, other = (expit(logits + 0.7 * rng.normal(size=n)) for _ in range(2))
    return EventScores(one, hits), EventScores(other, hits)


@pytest.mark.parametrize(("n", "intercept"), [(100, -5), (300, -5), (300, -3)])
def test_of_equal_models_few_are_called_better_or_worse(n: int, intercept: float) -> None:
    wrong = 0
    for seed in range(100):
        wrong += finding_of("auroc", *noisy_pair(seed, n, intercept)).mark in ("better", "worse")
    assert wrong <= 9  # of 5 expected


def test_a_rising_map_changes_no_auroc_however_few_the_misses() -> None:
    scores = np.linspace(0.5, 0.99, 200)
    before = EventScores(scores, np.arange(200) > 8)
    result = finding_of("auroc", before, EventScores(scores**2, before.hits))
    assert (result.change, result.mark) == (Interval(0, 0), "no evidence")


def test_a_better_order_is_still_seen() -> None:
    rng = np.random.default_rng(3)
    logits = rng.normal(size=800) * 3 - 3
    hits = rng.random(800) < expit(logits)
    noisy = EventScores(expit(logits + 3 * rng.normal(size=800)), hits)
    for key in ("auroc", "discrimination"):
        assert finding_of(key, noisy, EventScores(expit(logits), hits)).mark == "better"
        assert finding_of(key, EventScores(expit(logits), hits), noisy).mark == "worse"


def test_changes_are_stretched_as_student_s_t() -> None:
    for few in (2, 3, 10, 1000):
        expected = t.ppf(0.975, few - 1) / norm.ppf(0.975) * math.sqrt(few / (few - 1))
        assert stretch_of(few, 0.95) == pytest.approx(expected)
    assert stretch_of(1, 0.95) == math.inf
    assert stretched(Interval(1, 2), 1.0) == Interval(1, 2)
    assert math.isnan(stretched(Interval(1, 2), math.inf).low)


# Discrimination -----------------------------------------------------------------------------------


@pytest.mark.long
def test_discrimination_of_three_misses_is_held() -> None:
    # The variance of the scores themselves, 0.01 squared.
    n_held = 0
    for seed in range(100):
        ends = interval_of("discrimination", EventScores(*rare(np.random.default_rng(seed), 300)))
        n_held += ends.low <= 0.0001 <= ends.high
    assert n_held >= 94


# Not finite, not defined --------------------------------------------------------------------------


def test_undefined_resamples_may_lie_anywhere() -> None:
    values = np.arange(1000.0)
    values[-20:] = math.nan
    result = percentile_interval(values, 0.95)
    # The lower end is the 26th value, 20 unknown ones counted; the upper one is the 975th.
    assert result == Interval(5.0, 974.0)
    values[-30:] = math.nan
    assert math.isnan(percentile_interval(values, 0.95).low)
    assert math.isnan(percentile_interval(np.full(5, math.inf), 0.95).low)


@pytest.mark.parametrize("powers", [(1, 3), (3, 1), (0.5, 1)])
def test_infinite_before_and_after_is_not_comparable(powers: tuple[float, float]) -> None:
    scores = np.linspace(0.95, 0.999, 200)
    one, other = (EventScores(scores**power, np.ones(200)) for power in powers)
    for key in ("calibration_intercept", "calibration_slope", "auroc"):
        result = finding_of(key, one, other)
        assert (result.change, result.mark) == (None, "not comparable"), key


def test_a_separated_slope_has_no_change() -> None:
    scores = np.linspace(0.1, 0.9, 80)
    parted = EventScores(scores, scores > 0.5)
    mixed = EventScores(np.where(np.arange(80) % 9, scores, 1 - scores), scores > 0.5)
    assert finding_of("calibration_slope", parted, mixed).mark == "not comparable"
    assert math.isnan(interval_of("calibration_slope", parted).low)


def test_one_miss_is_too_few_to_compare_slopes() -> None:
    scores = np.linspace(0.5, 0.99, 200)
    before = EventScores(scores, np.arange(200) != 30)
    for key in ("calibration_slope", "calibration_intercept"):
        result = finding_of(key, before, EventScores(scores**3, before.hits))
        assert (result.change, result.mark) == (None, "not comparable")


# Limits under perfect calibration of weighted rows with few hits ---------------------------------


def few_events(rng: np.random.Generator, kind: str) -> EventScores:
    """Draw calibrated rows of which 5 to 20 are hits, with weights or in clusters."""
    n = 4000 if kind == "misses drawn" else 1000
    scores = rng.beta(0.3, 3, n)
    scores = np.minimum(scores * rng.uniform(5, 20) / scores.sum(), 0.9)
    hits = (rng.random(n) < scores).astype(int)
    if kind == "clusters":
        return with_design(EventScores(scores, hits), clusters=np.arange(n) // 2)
    weights = {"equal": np.ones(n), "gamma": rng.gamma(2, 1, n)}.get(kind)
    if weights is None:  # all hits and one in four misses
        drawn = (hits == 1) | (rng.random(n) < 0.25)
        scores, hits = scores[drawn], hits[drawn]
        weights = np.where(hits == 1, 1.0, 4.0)
    return with_design(EventScores(scores, hits), sample_weight=weights)


@pytest.mark.parametrize("kind", first_and_long(["equal", "gamma", "misses drawn", "clusters"]))
def test_calibrated_rows_with_few_hits_are_seldom_beyond_their_limits(kind: str) -> None:
    keys = ("ks_error", "ece_equal_mass", "mean_gap", "calibration_slope", "auroc")
    plan = plan_of(*keys, n_resamples=100)
    rng, n_sets = np.random.default_rng(1), 100
    beyond = dict.fromkeys(keys, 0)
    for seed in range(n_sets):
        event = few_events(rng, kind)
        few = grouped(tally_of(event))
        null = _null(np.random.default_rng(seed), few, plan)
        for one in plan.of_events:
            low, high = one.range
            assert low <= np.nanmin(null[one.key]) <= np.nanmax(null[one.key]) <= high
            value = float(one.compute(few, plan.options))
            known = reference(null[one.key], value, one.ideal)
            low, high = known.central if one.better == "nearer" else (-math.inf, known.upper)
            beyond[one.key] += not low <= value <= high
    assert max(beyond.values()) <= 0.12 * n_sets, beyond  # 5%, and three deviations of 100 sets


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_intervals_and_limits_of_few_clusters_are_possible_values(n_clusters: int) -> None:
    rng = np.random.default_rng(n_clusters)
    scores = rng.random(40 * n_clusters)
    hits = (rng.random(scores.size) < scores).astype(int)
    numbers = np.arange(scores.size) // 40
    for each in ((scores, hits, numbers), (np.array([0.3, 0.3]), [0, 1], [0, 1])):
        event = with_design(EventScores(*each[:2]), clusters=each[2])
        side = SideRows(event)
        result = infer(side, side, Plan(n_resamples=100))
        largest = max(event.scores.mean(), 1 - event.scores.mean())
        for finding in result.findings:
            if (known := finding.before) is None:
                continue
            measure = measure_by_key(finding.key)
            low, high = measure.range
            high = min(high, largest) if finding.key in {"ks_error", "kuiper"} else high
            limits = known.reference
            for end in (
                known.interval.low, known.interval.high, limits.lower, limits.upper, *limits.central
            ):  # fmt: skip
                assert math.isnan(end) or low - 1e-12 <= end <= high + 1e-12, finding.key
        assert curves_of(tally_of(event)).ks_null_95 <= largest


def test_auroc_of_equal_weights_has_about_the_limits_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    scores = rng.beta(0.3, 3, 5000)
    scores = np.minimum(scores * 8 / scores.sum(), 0.9)
    hits = np.zeros(5000, dtype=int)
    hits[rng.choice(5000, 5, replace=False, p=scores / scores.sum())] = 1
    rows = EventScores(scores, hits)
    weighted = with_design(rows, sample_weight=np.ones(5000))
    plain, known = (uncertainty_of("auroc", one).reference for one in (rows, weighted))
    assert_allclose(known.lower, plain.lower, atol=0.05)
    assert_allclose(known.upper, plain.upper, atol=0.02)
