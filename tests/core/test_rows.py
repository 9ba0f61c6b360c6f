"""What a row stands for, in audits: repeated, weighted, and belonging to somebody."""

from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import t

from calibcore import EventScores, LogitSet, Split, audit
from calibcore.auditing import AuditResult
from calibcore.calibrators import PlattScaling
from calibcore.cumulative import cumulative_curves
from calibcore.data import with_design
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass
from calibcore.inference import group_gaps, off_ranges, omnibus_test
from calibcore.inference.draws import tally_of
from calibcore.metrics import METRICS, Options, event_brier, nll
from calibcore.metrics.binned import sweep_bins
from calibcore.reliability import binned_reliability, null_band
from calibcore.splits import cross_split, deal_folds, split_rows
from calibcore.weights import frequency_weights, repeats, sampling_weights

RNG = np.random.default_rng(0)
N = 240
SCORES = RNG.beta(1.5, 2, N).round(2).clip(0.01, 0.99)
HITS = (RNG.random(N) < SCORES**1.4).astype(int)
WEIGHTS = RNG.gamma(2.0, 1.0, N)
COUNTS = frequency_weights(RNG.integers(0, 3, N))
CLUSTERS = np.array([f"p{k}" for k in RNG.integers(0, 40, N)])
LOGITS = RNG.normal(0, 1.5, (N, 3)).round(2)
LABELS = (LOGITS / 1.5 + RNG.gumbel(size=LOGITS.shape)).argmax(axis=1)


def _values(result: AuditResult) -> list[float | None]:
    return [value for one in result.test.comparisons for value in (one.before, one.after)]


@pytest.mark.parametrize("classes", [False, True])
def test_an_audit_of_frequency_weights_is_that_of_the_repeated_rows(*, classes: bool) -> None:
    rows = repeats(COUNTS)
    data, outcomes = (LOGITS, LABELS) if classes else (SCORES, HITS)
    calibrator = "temperature" if classes else "platt"
    weighted = audit(data, outcomes, sample_weight=COUNTS, calibrator=calibrator)
    again = audit(data[rows], outcomes[rows], calibrator=calibrator)
    assert _values(weighted) == _values(again)
    assert weighted.verdict.before.p_value == again.verdict.before.p_value
    keys = "ks_error", "event_brier", "auroc", "hit_rate"
    result, wanted = (one.intervals(*keys, n_resamples=40) for one in (weighted, again))
    for one, other in zip(result.findings, wanted.findings, strict=True):
        assert (one.change, one.before, one.after) == (other.change, other.before, other.after)


def test_an_audit_of_sampling_weights_weighs_all() -> None:
    split = Split(
        with_design(EventScores(SCORES[:100], HITS[:100]), sample_weight=WEIGHTS[:100]),
        with_design(EventScores(SCORES[100:], HITS[100:]), sample_weight=WEIGHTS[100:]),
    )
    result = audit(split, calibrator=PlattScaling())
    fitted = PlattScaling().fit(SCORES[:100], HITS[:100], sample_weight=WEIGHTS[:100])
    assert result.fitted == fitted
    after, weights = fitted.predict(SCORES[100:]), WEIGHTS[100:]
    brier = result.test.compare("event_brier")
    assert brier.before == pytest.approx(
        event_brier(SCORES[100:], HITS[100:], sample_weight=weights)
    )
    assert brier.after == pytest.approx(event_brier(after, HITS[100:], sample_weight=weights))
    assert result.test.compare("certain_misses").before is None
    assert result.n_effective == pytest.approx(weights.sum() ** 2 / (weights @ weights))
    answer = result.intervals("event_brier", "certain_misses", n_resamples=60)
    assert answer.find("certain_misses").before is None
    assert answer.find("event_brier").before is not None


def test_an_audit_of_classes_weighs_their_measures() -> None:
    result = audit(LOGITS, LABELS, sample_weight=WEIGHTS, event=OneClass(1))
    table = LogitSet(LOGITS, LABELS).probabilities
    assert result.test.compare("nll").before == pytest.approx(
        nll(table, LABELS, sample_weight=WEIGHTS)
    )
    shares = np.bincount(LABELS, WEIGHTS) / WEIGHTS.sum()
    assert result.test.commonest == pytest.approx(shares.max())
    answer = result.intervals("nll", "accuracy", "classwise_ks", n_resamples=60)
    known = answer.find("classwise_ks").before
    assert known is not None
    assert known.value == result.test.compare("classwise_ks").before
    assert np.isnan(known.interval.low)
    accuracy = answer.find("accuracy").before
    assert accuracy is not None
    assert accuracy.interval.low < accuracy.value < accuracy.interval.high


def test_equal_weights_change_no_value() -> None:
    plain, equal = audit(SCORES, HITS), audit(SCORES, HITS, sample_weight=np.full(N, 7.0))
    for one, other in zip(plain.test.comparisons, equal.test.comparisons, strict=True):
        if one.measure.weighs:
            assert other.before == pytest.approx(one.before, abs=1e-12, nan_ok=True)
    assert equal.design_effect == pytest.approx(1.0)


@pytest.mark.parametrize("told", [{"sample_weight": WEIGHTS}, {"clusters": CLUSTERS}])
def test_the_order_of_the_rows_does_not_matter(told: dict[str, Any]) -> None:
    order = np.random.default_rng(1).permutation(N)
    moved = {name: values[order] for name, values in told.items()}
    first = audit(SCORES, HITS, **told)
    second = audit(SCORES[order], HITS[order], **moved)
    assert first.verdict.before.p_value == second.verdict.before.p_value
    keys = "ks_error", "event_nll", "calibration_slope"
    one, other = (each.intervals(*keys, n_resamples=60) for each in (first, second))
    for key in keys:
        was, now = one.find(key).before, other.find(key).before
        assert was is not None
        assert now is not None
        ends = [was.interval.low, was.interval.high]
        assert [now.interval.low, now.interval.high] == pytest.approx(ends, abs=1e-9)


# Clusters -------------------------------------------------------------------------------------


def _visits(
    n: int = 60, each: int = 10, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.2, 0.8, (n, each))
    own = rng.normal(0, 1.2, (n, 1))
    hits = rng.random((n, each)) < 1 / (1 + np.exp(-np.log(scores / (1 - scores)) - own))
    return scores.ravel(), hits.ravel().astype(int), np.repeat(np.arange(n), each)


def test_folds_and_splits_cut_no_cluster() -> None:
    rows = with_design(EventScores(SCORES, HITS), clusters=CLUSTERS)
    for seed in range(5):
        fold = deal_folds(rows, n_folds=5, seed=seed)
        for name in np.unique(CLUSTERS):
            assert np.unique(fold[name == CLUSTERS]).size == 1
        sizes = np.bincount(fold)
        assert sizes.max() - sizes.min() <= 0.25 * sizes.mean()
        halves = split_rows(rows, seed=seed)
        assert halves.calibration.clusters is not None
        assert halves.test.clusters is not None
        assert not set(halves.calibration.clusters) & set(halves.test.clusters)
        assert 0.3 * N < halves.test.n_samples < 0.7 * N
    assert not np.array_equal(deal_folds(rows, seed=0), deal_folds(rows, seed=1))
    for clusters, last in ((CLUSTERS, 4), (np.arange(N) % 2, 1)):
        result = audit(SCORES, HITS, clusters=clusters, calibrator="platt")
        assert result.request is not None
        assert result.request.split.fold is not None
        assert result.request.split.fold.max() == last
    with pytest.raises(CalibrationInputError, match="cut by folds"):
        Split(rows, rows, fold=np.arange(N) % 5)
    with pytest.raises(CalibrationInputError, match="clusters"):
        cross_split(rows, n_folds=41)


def test_the_design_effect_by_hand() -> None:
    scores, hits, clusters = _visits()
    half, gaps = np.arange(600) % 2, scores - hits
    sums = np.array([gaps[clusters == k].sum() for k in range(60)])
    robust = 60 / 59 * ((sums - sums.mean()) ** 2).sum()
    result = audit(scores, hits, clusters=clusters)
    assert result.design_effect == pytest.approx(robust / (gaps @ gaps))
    assert result.design_effect > 2
    wider = (t.ppf(0.975, 59) / 1.959963984540054) ** 2
    assert result.n_effective == pytest.approx(600 / result.design_effect / wider)
    # Few clusters are worth few rows, however alike they happen to be.
    halves = audit(scores, hits, clusters=half)
    assert halves.design_effect < 1  # by chance
    by_hand = 600 / halves.design_effect * (1.959963984540054 / t.ppf(0.975, 1)) ** 2
    assert halves.n_effective == pytest.approx(by_hand)


def test_weights_that_leave_one_cluster_or_cannot_be_scaled_are_refused() -> None:
    scores, hits, clusters = _visits()
    only = (clusters == 3).astype(float)
    for weights in (only, frequency_weights(2 * only)):
        for call in (audit, omnibus_test, group_of_all):
            with pytest.raises(CalibrationInputError, match="clusters: a single cluster"):
                call(scores, hits, sample_weight=weights, clusters=clusters)
    for scale in (1e-310, 1e307):
        with pytest.raises(CalibrationInputError, match="weights that add up to"):
            audit(scores, hits, sample_weight=(1 + np.arange(600) % 3) * scale)


def group_of_all(scores: Any, hits: Any, **told: Any) -> Any:
    return group_gaps(scores, hits, [np.zeros(600, dtype=int)], **told)


def test_the_interval_of_the_mean_gap_is_that_of_the_clusters() -> None:
    scores, hits, clusters = _visits()
    result = audit(scores, hits, clusters=clusters)
    known = result.intervals("mean_gap", n_resamples=4000).find("mean_gap").before
    assert known is not None
    sums = np.array([(scores - hits)[clusters == k].sum() for k in range(60)])
    half = t.ppf(0.975, 59) * sums.std(ddof=1) * np.sqrt(60) / 600
    assert known.interval.low == pytest.approx(known.value - half, abs=0.06 * half)
    assert known.interval.high == pytest.approx(known.value + half, abs=0.06 * half)
    apart = audit(scores, hits).intervals("mean_gap", n_resamples=1000).find("mean_gap").before
    assert apart is not None
    assert apart.interval.high - apart.interval.low < 1.5 * half


def test_gaps_are_drawn_with_the_covariance_of_the_clusters() -> None:
    scores, hits, clusters = _visits(n=12, each=4)
    rows = with_design(EventScores(scores.round(1), hits), clusters=clusters)
    counted = tally_of(rows)
    assert counted.design is not None
    drawn, own = counted.design.drawn_gaps(np.random.default_rng(0), 100_000, counted.scores)
    table = np.zeros((12, counted.scores.size))
    place = np.searchsorted(counted.scores, scores.round(1))
    np.add.at(table, (clusters, place), scores.round(1) - hits)
    off = table - table.mean(axis=0)
    # 12 / 11 of the sum over clusters, times the variance of Student's t of 11.
    wanted = 12 / 11 * off.T @ off * (11 / 9)
    np.testing.assert_allclose(np.cov(drawn.T), wanted, atol=0.05 * wanted.diagonal().max())
    gaps = scores.round(1) - hits
    assert own.mean() == pytest.approx(gaps @ gaps * 11 / 9, rel=0.03)


def test_the_variance_so_far_by_loops() -> None:
    scores, hits, clusters = _visits(n=9, each=5, seed=3)
    scores = scores.round(2)
    weights = np.random.default_rng(2).gamma(2, 1, 45)
    rows = with_design(EventScores(scores, hits), sample_weight=weights, clusters=clusters)
    counted = tally_of(rows)
    assert counted.design is not None
    shares = weights * 45 / weights.sum()
    for place, end in enumerate(counted.scores):
        sums = [
            float((shares * (scores - hits))[(clusters == k) & (scores <= end)].sum())
            for k in range(9)
        ]
        wanted = 9 / 8 * sum((one - np.mean(sums)) ** 2 for one in sums)
        assert counted.design.variance_so_far()[place] == pytest.approx(wanted)


def test_bins_of_clusters_have_wider_intervals() -> None:
    # Each row ten times in a cluster of its own: as if there were 30 rows, less what Student's t
    # of 30 clusters takes off.
    rng = np.random.default_rng(0)
    scores, hits = np.full(30, 0.4), rng.random(30) < 0.4
    ten = np.repeat(np.arange(30), 10)
    result = binned_reliability(scores[ten], hits[ten], n_bins=1, clusters=ten)
    assert result.bins.rows_alike is not None
    factor = (1.959964 / t.ppf(0.975, 29)) ** 2
    assert result.bins.rows_alike[0] == pytest.approx(29 * factor, rel=1e-4)
    assert result.upper[0] - result.lower[0] > 3 * np.ptp(
        [binned_reliability(scores[ten], hits[ten], n_bins=1).lower[0], hits.mean()]
    )


def test_clusters_of_certain_outcomes_count_as_rows() -> None:
    result = binned_reliability([0.9] * 20, [1] * 20, n_bins=1, clusters=np.arange(20) // 5)
    assert result.lower[0] == pytest.approx(4 / (4 + 1.959964**2), rel=1e-5)  # Wilson, 4 of 4


def test_tests_of_clusters_reject_as_rarely_as_they_should() -> None:
    rejected, apart = np.zeros(4), 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = np.sqrt(0.8) * rng.normal(size=(60, 1)) + np.sqrt(0.2) * rng.normal(size=(60, 10))
        own = np.sqrt(0.8) * rng.normal(size=(60, 1)) + np.sqrt(0.2) * rng.normal(size=(60, 10))
        data = ndtr(x).ravel(), (x + own > 0).ravel()
        clusters = np.repeat(np.arange(60), 10)
        curves = cumulative_curves(*data, clusters=clusters)
        rejected += [
            curves.ks_p_value < 0.05,
            curves.kuiper_p_value < 0.05,
            omnibus_test(*data, clusters=clusters, n_draws=200).p_value < 0.05,
            bool(off_ranges(*data, clusters=clusters, n_draws=200)),
        ]
        apart += cumulative_curves(*data).ks_p_value < 0.05
    assert rejected.max() <= 9  # of 60; of a true 6% that is exceeded in 1 of 300 runs
    assert apart >= 25


def test_a_miscalibrated_model_is_found_by_clusters() -> None:
    scores, hits, clusters = _visits(seed=4)
    high = np.clip(scores + 0.17, 0, 1)
    assert omnibus_test(high, hits, clusters=clusters).p_value < 0.01
    assert cumulative_curves(high, hits, clusters=clusters).ks_p_value < 0.01
    ranges = off_ranges(high, hits, clusters=clusters, n_bins=5)
    assert ranges
    assert all(one.gap > 0 for one in ranges)
    assert sum(one.n_rows for one in ranges) <= 600


def test_the_band_of_curves_is_by_cluster() -> None:
    scores, hits, clusters = _visits()
    wide = null_band(cumulative_curves(scores, hits, clusters=clusters))
    apart = null_band(cumulative_curves(scores, hits))
    assert wide.simultaneous > 1.3 * apart.simultaneous
    assert wide.pointwise[-1] > 1.4 * apart.pointwise[-1]


@pytest.mark.parametrize("told", [{"sample_weight": WEIGHTS}, {"clusters": CLUSTERS}])
def test_changes_of_a_cross_validated_audit_have_intervals(told: dict[str, Any]) -> None:
    result = audit(SCORES, HITS, calibrator="platt", **told)
    answer = result.intervals("event_brier", "ks_error", n_resamples=60, most=150)
    assert answer.fits == "repeated"
    change = answer.find("event_brier").change
    assert change is not None
    value = result.test.compare("event_brier").change
    assert value is not None
    assert change.low < value < change.high


# What knows nothing of them says so -----------------------------------------------------------

WEIGHTED = with_design(EventScores(SCORES, HITS), sample_weight=WEIGHTS)
CLUSTERED = with_design(EventScores(SCORES, HITS), clusters=CLUSTERS)


@pytest.mark.parametrize("rows", [WEIGHTED, CLUSTERED], ids=["weights", "clusters"])
def test_the_sweep_over_bins_has_no_form_and_refuses(rows: EventScores) -> None:
    with pytest.raises(CalibrationInputError, match=r"sampling weights|clusters"):
        sweep_bins(tally_of(rows))


def test_weights_beside_a_split_or_wrong_ones_are_refused() -> None:
    with pytest.raises(CalibrationInputError, match="beside a split"):
        audit(Split(CLUSTERED, CLUSTERED, same_data=True), clusters=CLUSTERS)
    with pytest.raises(CalibrationInputError, match="a single cluster"):
        audit(SCORES, HITS, clusters=["a"] * N)
    with pytest.raises(CalibrationInputError, match="clusters"):
        audit(SCORES, HITS, clusters=["a", "b"])
    with pytest.raises(CalibrationInputError, match="Venn-Abers"):
        audit(SCORES, HITS, sample_weight=WEIGHTS, calibrator="venn_abers")


def test_weights_and_clusters_go_along_with_rows() -> None:
    rows = with_design(LogitSet(LOGITS, LABELS), sample_weight=WEIGHTS, clusters=CLUSTERS)
    part = rows.rows(np.arange(N) % 3 == 0)
    assert part.weights is not None
    assert part.weights.values.tolist() == WEIGHTS[::3].tolist()
    assert part.clusters is not None
    assert (part.clusters == np.unique(CLUSTERS, return_inverse=True)[1][::3]).all()
    some = WEIGHTS * (np.arange(N) % 2)
    assert with_design(rows, sample_weight=some).n_samples == N // 2
    repeated = with_design(rows, sample_weight=COUNTS)
    assert repeated.n_samples == COUNTS.values.sum()
    assert sampling_weights([1, 2]).kind == "sampling"


def test_every_measure_says_whether_it_weighs() -> None:
    assert {one.key for one in METRICS if not one.weighs} == {
        "certain_misses", "ici", "e50", "e90", "spiegelhalter_z", "hosmer_lemeshow",
    }  # fmt: skip
    assert Options().n_bins == 15
