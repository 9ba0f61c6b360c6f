"""Reliability curves and their bands agree with slow loops, published values and simulations."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from calibcore.binning import bin_scores
from calibcore.errors import CalibrationInputError
from calibcore.metrics import classwise_ece
from calibcore.reliability import (
    Band,
    Interval,
    binned_reliability,
    binomial_interval,
    classwise_reliability,
    corp_reliability,
    isotonic,
    smooth_reliability,
)
from calibcore.reliability.bands import quantile_band
from calibcore.tally import Tally, tally
from tests import reference
from tests import reference_reliability as slow
from tests.strategies import EventCase, Floats, event_data, seeded_events, seeded_logit_sets

INTERVALS: tuple[Interval, ...] = ("wilson", "clopper_pearson")


def same_arrays(first: object, second: object) -> None:
    for name, value in vars(first).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, getattr(second, name), equal_nan=True), name
        elif isinstance(value, Band):
            same_arrays(value, getattr(second, name))


def shuffled(case: EventCase, random: Random) -> EventCase:
    order = list(range(len(case.scores)))
    random.shuffle(order)
    return EventCase(case.scores[order], case.hits[order])


def inside(band: Band, curve: Floats) -> NDArray[np.bool_]:
    return (band.lower <= curve) & (curve <= band.upper)


# Bins ----------------------------------------------------------------------------------------


@given(event_data(), st.integers(1, 20), st.sampled_from(INTERVALS))
def test_bins_are_the_bin_table_with_intervals(case: EventCase, n: int, kind: Interval) -> None:
    result = binned_reliability(*case, n_bins=n, binning="equal_mass", interval=kind, level=0.9)
    same_arrays(result.bins, bin_scores(*case, n_bins=n, binning="equal_mass"))
    empty = result.bins.counts == 0
    assert np.array_equal(np.isnan(result.lower), empty)
    assert np.array_equal(np.isnan(result.upper), empty)
    filled = result.bins.frequency[~empty]
    assert np.all((result.lower[~empty] <= filled) & (filled <= result.upper[~empty]))
    hits = np.rint(filled * result.bins.counts[~empty])
    assert hits.sum() == case.hits.sum()
    expected = binomial_interval(hits, result.bins.counts[~empty], interval=kind, level=0.9)
    assert np.array_equal(result.lower[~empty], expected[0])


# Every class ----------------------------------------------------------------------------------


def test_classes_agree_with_the_loops() -> None:
    for number, case in enumerate(seeded_logit_sets(11, 150, max_rows=40)):
        table = reference.softmax(case.logits.astype(np.float64).tolist())
        labels, n_bins = case.labels.tolist(), (1, 2, 10, 15)[number % 4]
        result = classwise_reliability(table, labels, n_bins=n_bins)
        assert result.lower.shape == result.bins.counts.shape == (len(table[0]), n_bins)
        for k in range(len(table[0])):
            own = reference.one_class(table, labels, k)
            bins = reference.bins(own.scores, own.hits, n_bins, "equal_width")
            assert result.bins.edges.tolist() == bins.edges
            assert result.bins.counts[k].tolist() == bins.counts
            assert_allclose(result.bins.mean_score[k], bins.mean_score, rtol=0, atol=1e-12)
            assert_allclose(result.bins.frequency[k], bins.frequency, rtol=0, atol=1e-15)
            one = binned_reliability(own.scores, own.hits, n_bins=n_bins)
            assert_allclose(result.lower[k], one.lower, rtol=0, atol=1e-15)
            assert_allclose(result.upper[k], one.upper, rtol=0, atol=1e-15)


def test_class_bins_are_those_of_classwise_ece(rng: np.random.Generator) -> None:
    # More rows than a block holds, and probabilities on the edges.
    table = rng.multinomial(15, [0.2, 0.3, 0.5], 70_000) / 15
    labels = rng.integers(0, 3, 70_000)
    bins = classwise_reliability(table, labels).bins
    error = np.sum(np.nan_to_num(np.abs(bins.gap)) * bins.counts) / table.size
    assert_allclose(error, classwise_ece(table, labels), rtol=1e-12)
    assert bins.counts.sum() == table.size
    assert np.nansum(bins.frequency * bins.counts) == pytest.approx(70_000)


# The isotonic curve ---------------------------------------------------------------------------


@given(event_data())
def test_the_isotonic_curve_is_exactly_that_of_the_loops(case: EventCase) -> None:
    result = corp_reliability(*case, n_resamples=2)
    expected = slow.isotonic(case.scores.tolist(), case.hits.tolist())
    assert result.score.tolist() == expected.scores
    assert result.frequency.tolist() == expected.frequency
    assert result.first.tolist() == expected.first
    assert result.last.tolist() == expected.last
    assert result.step_frequency.tolist() == expected.heights
    assert result.step_count.tolist() == expected.counts
    assert result.step_hits.tolist() == expected.hits


@settings(max_examples=50)
@given(event_data(), st.randoms(use_true_random=False))
def test_isotonic_curve_and_bands_keep_their_rules(case: EventCase, random: Random) -> None:
    result = corp_reliability(*case, n_resamples=9, level=0.8)
    same_arrays(result, corp_reliability(*shuffled(case, random), n_resamples=9, level=0.8))
    assert result.step_hits.sum() == case.hits.sum()
    assert result.step_count.sum() == len(case.hits)
    assert np.all(np.diff(result.step_frequency) > 0)
    assert np.all(result.first <= result.last)
    for band in (result.consistency, result.confidence):
        assert np.array_equal(band.score, result.score)
        assert np.all((band.lower >= 0) & (band.lower <= band.upper) & (band.upper <= 1))
        assert np.all(np.diff(band.lower) >= 0)
        assert np.all(np.diff(band.upper) >= 0)
    assert np.all(inside(result.confidence, result.frequency))


def test_scores_of_0_and_1_leave_the_consistency_band_no_width() -> None:
    result = corp_reliability([0.0, 0.0, 1.0], [0, 1, 1], n_resamples=19)
    assert result.consistency.lower.tolist() == result.consistency.upper.tolist() == [0.0, 1.0]


def test_a_step_of_misses_is_no_surer_than_its_rows() -> None:
    result = corp_reliability(np.linspace(0.1, 0.3, 20), np.zeros(20), n_resamples=19)
    assert_allclose(result.confidence.upper, 0.1684, rtol=0, atol=5e-5)  # 0 of 20, as above
    assert np.all(result.confidence.lower == 0)


def test_the_confidence_band_is_widened_by_the_intervals_of_the_steps() -> None:
    # Steps of 0 of 3, 1 of 2 and 3 of 3. A single resample is a band without width.
    scores, hits = np.arange(1, 9) / 10, [0, 0, 0, 1, 0, 1, 1, 1]
    result = corp_reliability(scores, hits, n_resamples=1)
    assert result.step_hits.tolist() == [0, 1, 3]
    assert result.step_count.tolist() == [3, 2, 3]
    intervals = [slow.clopper_pearson(k, n, 0.95) for k, n in ((0, 3), (1, 2), (3, 3))]
    lowest = np.maximum.accumulate([lower for lower, _ in intervals])[[0, 0, 0, 1, 1, 2, 2, 2]]
    highest = [min(upper for _, upper in intervals[step:]) for step in (0, 0, 0, 1, 1, 2, 2, 2)]
    assert np.all(result.confidence.lower <= lowest + 1e-9)
    assert np.all(result.confidence.upper >= np.array(highest) - 1e-9)
    assert result.confidence.lower[-1] == pytest.approx(0.2924, abs=5e-5)  # 0.025^(1/3)
    assert result.confidence.upper[0] == pytest.approx(1 - 0.2924, abs=5e-5)


def refitted(counted: Tally, rng: np.random.Generator, times: int) -> Floats:
    """Curves of fresh label sets at every score, drawn and fitted without calibcore."""
    rows = np.repeat(counted.scores, counted.counts.astype(int))
    draws = (rng.random((times, rows.size)) < rows).astype(np.float64)
    _, starts = np.unique(rows, return_index=True)
    shares = np.add.reduceat(draws, starts, axis=1) / counted.counts
    return np.array([isotonic_regression(row, weights=counted.counts).x for row in shares])


@pytest.mark.parametrize(("decimals", "n_rows"), [(9, 400), (1, 1000), (9, 5000)])
def test_the_consistency_band_holds_95_percent_of_fresh_curves(decimals: int, n_rows: int) -> None:
    rng = np.random.default_rng(8)
    scores = np.round(rng.random(n_rows), decimals)
    band = corp_reliability(scores, rng.random(n_rows) < scores, n_resamples=799).consistency
    counted = tally(scores, np.zeros(n_rows))
    fresh = refitted(counted, rng, 400)[:, np.searchsorted(counted.scores, band.score)]
    share = ((band.lower - 1e-12 <= fresh) & (fresh <= band.upper + 1e-12)).mean()
    # With few distinct scores, drawn curves are often equal, and those of 0 and 1 always.
    assert 0.94 <= share <= (0.965 if decimals > 1 else 0.975)


def test_the_confidence_band_is_about_the_curve(rng: np.random.Generator) -> None:
    scores = rng.random(3000)
    truth = scores**2
    band = corp_reliability(scores, rng.random(3000) < truth, n_resamples=199).confidence
    middle = (band.score > 0.05) & (band.score < 0.95)
    assert inside(band, band.score**2)[middle].mean() > 0.9
    assert inside(band, band.score)[middle].mean() < 0.2


def test_bands_of_many_scores_are_few_places_and_hardly_coarser(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = rng.random(6000) ** 0.2
    hits = rng.random(6000) < scores
    grouped = corp_reliability(scores, hits, n_resamples=199)
    assert grouped.score.size == grouped.frequency.size == 6000
    places = grouped.consistency.score
    assert 500 <= places.size <= isotonic.MOST_PLACES
    assert np.all(np.diff(places) > 0)
    assert (places[0], places[-1]) == (scores.min(), scores.max())
    monkeypatch.setattr(isotonic, "MOST_GROUPS", 6000)
    single = corp_reliability(scores, hits, n_resamples=199)
    for one, other in (
        (grouped.consistency, single.consistency),
        (grouped.confidence, single.confidence),
    ):
        assert np.abs(one.lower - other.lower).mean() < 0.01
        assert np.abs(one.upper - other.upper).mean() < 0.01


# The smoothed curve ---------------------------------------------------------------------------


@pytest.mark.parametrize("bandwidth", [0.01, 0.05, 0.3, 1.0])
def test_the_smoothed_curve_agrees_with_the_loops(bandwidth: float) -> None:
    for case in seeded_events(6, 12, min_size=2):
        result = smooth_reliability(*case, bandwidth=bandwidth, n_resamples=1)
        assert result.bandwidth == bandwidth
        for j in range(0, 513, 32):
            if np.isnan(result.frequency[j]):
                nearest = np.abs(case.scores - result.score[j]).min()
                assert nearest > 3.9 * bandwidth
                continue
            expected = slow.smooth(
                case.scores.tolist(), case.hits.tolist(), float(result.score[j]), bandwidth
            )
            tolerance = 0.004 if expected.density * len(case.hits) * bandwidth < 0.2 else 0.002
            assert result.frequency[j] == pytest.approx(expected.frequency, abs=tolerance)
            assert result.mean_score[j] == pytest.approx(expected.mean_score, abs=tolerance)
            assert result.density[j] == pytest.approx(expected.density, rel=0.01, abs=0.002)


@settings(max_examples=50)
@given(event_data(), st.randoms(use_true_random=False))
def test_the_smoothed_curve_keeps_its_rules(case: EventCase, random: Random) -> None:
    result = smooth_reliability(*case, bandwidth=0.1, n_resamples=5)
    again = smooth_reliability(*shuffled(case, random), bandwidth=0.1, n_resamples=5)
    same_arrays(result, again)
    assert np.trapezoid(result.density, result.score) == pytest.approx(1, abs=1e-9)
    known = ~np.isnan(result.frequency)
    assert known.any()
    for values in (result.mean_score, result.confidence.lower, result.confidence.upper):
        assert np.array_equal(~np.isnan(values), known)
        assert np.all((values[known] >= 0) & (values[known] <= 1))
    assert np.all(inside(result.confidence, result.frequency)[known])


def test_a_row_weighs_the_same_wherever_its_score_is() -> None:
    # Half of the rows saturated, none of them hits: the smoothed frequency there is near 0.
    mixed = smooth_reliability([1.0] * 5 + [0.9] * 5, [0] * 5 + [1] * 5, bandwidth=0.05)
    expected = slow.smooth([1.0] * 5 + [0.9] * 5, [0] * 5 + [1] * 5, 1.0, 0.05)
    assert mixed.frequency[-1] == pytest.approx(expected.frequency, abs=1e-3)


def test_the_bandwidth_is_its_own_smooth_ece(rng: np.random.Generator) -> None:
    scores = rng.random(60)
    hits = (rng.random(60) < scores**3).astype(int)
    result = smooth_reliability(scores, hits, n_resamples=1)
    error = slow.smooth_ece(scores.tolist(), hits.tolist(), result.bandwidth)
    assert result.bandwidth == pytest.approx(error, abs=1e-4)
    from_curve = np.trapezoid(np.abs(result.gap) * result.density, result.score)
    assert from_curve == pytest.approx(error, abs=1e-4)


def test_the_least_and_the_greatest_bandwidth() -> None:
    perfect = smooth_reliability([0.0, 1.0], [0, 1], n_resamples=1)
    assert perfect.bandwidth == pytest.approx(0.001, abs=1e-5)
    worst = smooth_reliability([0.0] * 3, [1] * 3, n_resamples=1)
    assert 0.9 <= worst.bandwidth <= 1


def test_the_smoothed_band_is_as_wide_as_its_rows_allow(rng: np.random.Generator) -> None:
    scores = rng.random(2000)
    hits = (rng.random(2000) < 0.5).astype(int)
    result = smooth_reliability(scores, hits, bandwidth=0.05, n_resamples=799)
    for j in (0, 64, 256, 512):
        at = slow.smooth(scores.tolist(), hits.tolist(), float(result.score[j]), 0.05)
        width = result.confidence.upper[j] - result.confidence.lower[j]
        assert width == pytest.approx(2 * 1.96 * np.sqrt(0.25 / at.rows), rel=0.1)
    share = inside(result.confidence, np.full(513, 0.5)).mean()
    assert share > 0.85


def test_where_all_rows_are_hits_the_band_is_wilsons(rng: np.random.Generator) -> None:
    scores = rng.random(100)
    result = smooth_reliability(scores, np.ones(100), bandwidth=0.05, n_resamples=19)
    assert np.all(result.frequency == 1)
    for j in (0, 100, 400):
        rows = slow.smooth(scores.tolist(), [1] * 100, float(result.score[j]), 0.05).rows
        expected = binomial_interval(rows, rows)[0]
        assert result.confidence.lower[j] == pytest.approx(float(expected), rel=0.01)


# Quantiles, seeds and refusals ----------------------------------------------------------------


@given(st.lists(st.one_of(st.floats(0, 1), st.just(np.nan)), min_size=1, max_size=30))
def test_quantiles_agree_with_the_loops(values: list[float]) -> None:
    lower, upper = quantile_band(np.array(values)[:, np.newaxis], 0.8)
    expected = [slow.quantile(values, 0.1), slow.quantile(values, 0.9)]
    assert_allclose([lower[0], upper[0]], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("curve", [corp_reliability, smooth_reliability])
def test_a_seed_gives_the_same_band_again_and_another_one_another(
    curve: Callable[..., Any], rng: np.random.Generator
) -> None:
    scores = rng.random(300)
    hits = rng.random(300) < scores
    first, again, other = (curve(scores, hits, n_resamples=50, seed=s) for s in (1, 1, 2))
    same_arrays(first, again)
    assert (first.confidence.n_resamples, first.confidence.seed) == (50, 1)
    assert not np.array_equal(first.confidence.lower, other.confidence.lower)


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda s, h: binned_reliability(s, h, n_bins=0), "n_bins"),
        (lambda s, h: binned_reliability(s, h, interval="wald"), "interval"),  # type: ignore[arg-type]
        (lambda s, h: binned_reliability(s, h, level=1.0), "level"),
        (lambda s, h: binned_reliability(s, h[:1]), "hits"),
        (lambda s, _: classwise_reliability([s], [0], level=0.0), "level"),
        (lambda s, _: classwise_reliability([s], [0], n_bins=0), "n_bins"),
        (lambda s, _: classwise_reliability([s], [2]), "labels"),
        (lambda s, h: corp_reliability(s, h, n_resamples=0), "n_resamples"),
        (lambda s, h: corp_reliability(s, h, seed=-1), "seed"),
        (lambda s, h: corp_reliability(s, h, level=95), "level"),
        (lambda _, h: corp_reliability([], h), "scores"),
        (lambda s, h: smooth_reliability(s, h, bandwidth=0.0), "bandwidth"),
        (lambda s, h: smooth_reliability(s, h, bandwidth=np.nan), "bandwidth"),
        (lambda s, h: smooth_reliability(s, h, bandwidth="wide"), "bandwidth"),  # type: ignore[arg-type]
        (lambda s, h: smooth_reliability(s, h, level=np.nan), "level"),
    ],
)
def test_refusals_name_the_field(call: Callable[[Any, Any], object], field: str) -> None:
    with pytest.raises(CalibrationInputError) as refused:
        call([0.25, 0.75], [0, 1])
    assert refused.value.field == field
