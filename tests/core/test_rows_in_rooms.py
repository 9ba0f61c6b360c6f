"""Weighted rows and rows in clusters: groups, decisions, comparisons, drift, calibrators."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binomtest, t

from benchmarks.clustered import survey
from calibcore import EventScores, LogitSet, audit
from calibcore.calibrators import PlattScaling, SplineCalibration
from calibcore.calibrators.base import FittedScoreMap
from calibcore.calibrators.temperature import TemperatureScaling
from calibcore.comparison import advise, lead
from calibcore.curves import knot_sweep, movement, temperature_sweep
from calibcore.data import with_design
from calibcore.data_needed import LearningPlan, drawn_rows, learning_curves
from calibcore.decisions import at_cutoff, at_cutoff_by_group, decision_curve, mean_cost
from calibcore.drift import compare_batches, compare_pairs
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass
from calibcore.group_drift import compare_groups
from calibcore.inference import Plan, SideRows, Uncertainty, group_gaps, infer
from calibcore.inference.draws import tally_of
from calibcore.metrics import METRICS, ece, event_brier, event_nll, measure_by_key, nll
from calibcore.metrics.goodness import spiegelhalter_test
from calibcore.models import check_same_rows, pooled, resplit, table_cell
from calibcore.prevalence import restated
from calibcore.reliability import (
    binned_reliability,
    calibration_belt,
    corp_reliability,
    smooth_reliability,
)
from calibcore.selective import group_accuracies, out_of_fold_accuracy, risk_coverage
from calibcore.series import checkpoint
from calibcore.splits import Split, deal_folds, split_rows
from calibcore.subgroups import screen_subgroups, subgroup_shares
from calibcore.weights import frequency_weights, repeats
from tests.reference_weighted import Rows, mean

RNG = np.random.default_rng(0)
N = 400
SCORES = RNG.beta(1.5, 2, N).round(2).clip(0.01, 0.99)
HITS = (RNG.random(N) < SCORES**1.4).astype(int)
WEIGHTS = RNG.gamma(2.0, 1.0, N)
COUNTS = frequency_weights(RNG.integers(0, 3, N))
AGAIN = repeats(COUNTS)
PATIENTS = RNG.integers(0, 50, N)
GROUPS = RNG.integers(0, 4, N)
AREAS = PATIENTS % 5


# Intervals of measures --------------------------------------------------------------------------

PARTS = ("miscalibration", "discrimination", "nll_miscalibration", "nll_discrimination")


def _parts_of(event: EventScores) -> dict[str, Uncertainty]:
    measures = tuple(one for one in METRICS if one.key in PARTS)
    side = SideRows(event)
    results = infer(side, side, Plan(measures, n_resamples=200)).findings
    return {one.key: one.before for one in results if one.before is not None}


@pytest.mark.parametrize("weights", [None, np.ones(1500), np.tile([1.0, 1.02], 750)])
def test_parts_of_equal_weights_are_as_uncertain_as_unweighted(weights: np.ndarray | None) -> None:
    design: dict[str, Any] = {"sample_weight": weights}
    if weights is None:  # each row a cluster of its own
        design = {"clusters": np.arange(1500)}
    plain, designed = _plain_parts(), _parts_of(with_design(_too_high(), **design))
    for key in PARTS:
        wanted, result = plain[key].interval, designed[key].interval
        length = wanted.high - wanted.low
        assert result.low == pytest.approx(wanted.low, abs=0.15 * length), key
        assert result.high == pytest.approx(wanted.high, abs=0.15 * length), key
        wanted_p, own_p = (one[key].reference.p_value for one in (plain, designed))
        assert (own_p < 0.01) == (wanted_p < 0.01), key


def _too_high() -> EventScores:
    rng = np.random.default_rng(3)
    odds = rng.normal(size=1500)
    return EventScores(expit(odds + 0.5).round(4), rng.random(1500) < expit(odds))


@cache
def _plain_parts() -> dict[str, Uncertainty]:
    return _parts_of(_too_high())


# Subgroups ------------------------------------------------------------------------------------


def test_groups_of_frequency_weights_are_those_of_the_repeated_rows() -> None:
    result = group_gaps(SCORES, HITS, [GROUPS, AREAS], sample_weight=COUNTS, n_draws=100)
    again = SCORES[AGAIN], HITS[AGAIN]
    wanted = group_gaps(*again, [GROUPS[AGAIN], AREAS[AGAIN]], n_draws=100)
    for name in ("gap", "low", "high", "adjusted", "beyond", "beyond_adjusted", "rows"):
        np.testing.assert_allclose(getattr(result, name), getattr(wanted, name), atol=1e-12)
    by_patient: dict[str, Any] = {"sample_weight": COUNTS, "clusters": PATIENTS}
    result = group_gaps(SCORES, HITS, [GROUPS], **by_patient, n_draws=100)
    wanted = group_gaps(*again, [GROUPS[AGAIN]], clusters=PATIENTS[AGAIN], n_draws=100)
    np.testing.assert_allclose(result.adjusted, wanted.adjusted, atol=1e-12)
    alone = screen_subgroups(SCORES, HITS, GROUPS, n_subgroups=4, **by_patient)
    other = screen_subgroups(*again, GROUPS[AGAIN], n_subgroups=4, clusters=PATIENTS[AGAIN])
    np.testing.assert_allclose(alone.adjusted, other.adjusted, atol=1e-12)
    np.testing.assert_allclose(alone.gap_low, other.gap_low, atol=1e-12)


def test_gaps_of_weighted_groups_by_loops() -> None:
    result = group_gaps(SCORES, HITS, [GROUPS], sample_weight=WEIGHTS)
    alone = screen_subgroups(SCORES, HITS, GROUPS, n_subgroups=4, sample_weight=WEIGHTS)
    shares = subgroup_shares(HITS, GROUPS, n_subgroups=4, sample_weight=WEIGHTS)
    for k in range(4):
        own = [
            (s, h, w) for s, h, w, g in zip(SCORES, HITS, WEIGHTS, GROUPS, strict=True) if g == k
        ]
        total = sum(w for _, _, w in own)
        score, hit = sum(s * w for s, _, w in own) / total, sum(h * w for _, h, w in own) / total
        assert result.gap[k] == pytest.approx(score - hit)
        assert alone.mean_gap[k] == pytest.approx(score - hit)
        assert shares.share[k] == pytest.approx(hit)
        kish = total**2 / sum(w * w for _, _, w in own)
        assert shares.high[k] - shares.low[k] == pytest.approx(
            2 * 1.96 * np.sqrt(hit * (1 - hit) / kish), rel=0.1
        )


def test_the_gap_of_a_group_of_clusters_is_tested_by_students_t() -> None:
    # Two groups that share no patient: their tests are nearly independent, so the smaller p-value
    # is adjusted to about 1 - (1 - p)^2.
    groups, off = PATIENTS % 2, SCORES - HITS
    result = group_gaps(SCORES, HITS, [groups], clusters=PATIENTS, n_draws=20_000)
    for k in range(2):
        sums = np.array([off[p == PATIENTS].sum() for p in range(50) if p % 2 == k])
        deviation = max(sums.std(ddof=1) * 5, np.sqrt((SCORES * (1 - SCORES))[groups == k].sum()))
        p = 2 * t.sf(abs(sums.sum()) / deviation, 24)
        assert result.adjusted[k] == pytest.approx(1 - (1 - p) ** 2, abs=0.01)


def test_groups_of_few_clusters_are_not_tested() -> None:
    groups = (PATIENTS < 4).astype(int)
    assert group_gaps(SCORES, HITS, [groups], clusters=PATIENTS, least=1).place.tolist() == [0]
    alone = screen_subgroups(SCORES, HITS, groups, n_subgroups=2, clusters=PATIENTS, least=1)
    assert alone.evaluated.tolist() == [True, False]
    one = screen_subgroups(SCORES, HITS, PATIENTS == 3, n_subgroups=2, clusters=PATIENTS)
    assert one.frequency.high[1] - one.frequency.low[1] > 0.4  # of one patient


def _visits(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    own = rng.normal(0, 1.0, (60, 1))
    x = rng.normal(0, 0.5, (60, 1)) + rng.normal(0, 0.5, (60, 10))
    # Calibrated by construction: the score is the mean of the chance over patients alike.
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    score = (weights / weights.sum() / (1 + np.exp(-x[..., None] - nodes))).sum(axis=-1)
    hits = rng.random((60, 10)) < 1 / (1 + np.exp(-x - own))
    return score.ravel(), hits.ravel().astype(int), np.repeat(np.arange(60), 10)


def test_tests_of_groups_of_clusters_reject_as_rarely_as_they_should() -> None:
    joint, apart, slices = 0, 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores, hits, patients = _visits(rng)
        groups = [patients % 4, rng.integers(0, 3, 600)]
        joint += bool(group_gaps(scores, hits, groups, clusters=patients, n_draws=200).off().any())
        if seed < 20:
            apart += bool(group_gaps(scores, hits, groups, n_draws=200).off().any())
        alone = screen_subgroups(scores, hits, groups[0], n_subgroups=4, clusters=patients)
        slices += bool(alone.off().any())
    assert max(joint, slices) <= 9  # of 60; of a true 6% that is exceeded in 1 of 300 runs
    assert apart >= 5  # of 20


def test_an_audit_of_groups_is_by_weight_and_cluster() -> None:
    high = np.where(GROUPS == 1, np.clip(SCORES + 0.4, 0, 0.99), SCORES)
    told: dict[str, Any] = {"sample_weight": WEIGHTS, "clusters": PATIENTS}
    result = audit(high, HITS, groups=GROUPS.astype(str), calibrator="platt", **told)
    assert result.verdict.groups[0].name == "1"
    gap = result.verdict.groups[0].gap
    own = np.flatnonzero(GROUPS == 1)
    rows = Rows(high[own].tolist(), HITS[own].tolist(), WEIGHTS[own].tolist())
    hit = mean(Rows(rows.scores, rows.hits, rows.weights), [float(h) for h in rows.hits])
    assert gap == pytest.approx(mean(rows, rows.scores) - hit)
    assert audit(with_design(EventScores(high, HITS), **told)).design_effect > 0


# Decisions ------------------------------------------------------------------------------------

ROWS = EventScores(SCORES, HITS)
REPEATED = ROWS.rows(AGAIN)
COUNTED = with_design(ROWS, sample_weight=COUNTS)
WEIGHTED = with_design(ROWS, sample_weight=WEIGHTS)
CLUSTERED = with_design(ROWS, clusters=PATIENTS)
CUTS = np.array([0.0, 0.1, 0.3, 0.5, 0.8])


@pytest.mark.parametrize(
    "compute", [corp_reliability, smooth_reliability, calibration_belt, spiegelhalter_test]
)
def test_curves_and_tests_of_frequency_weights_are_those_of_the_repeated_rows(
    compute: Callable[..., object],
) -> None:
    wanted = vars(compute(SCORES[AGAIN], HITS[AGAIN]))
    for name, value in vars(compute(SCORES, HITS, sample_weight=COUNTS)).items():
        if isinstance(value, float | np.ndarray):
            np.testing.assert_allclose(value, wanted[name], atol=1e-12, err_msg=name)


def test_tests_that_count_rows_refuse_sampling_weights() -> None:
    with pytest.raises(CalibrationInputError, match="sampling weights"):
        spiegelhalter_test(SCORES, HITS, sample_weight=WEIGHTS)


def test_decisions_of_frequency_weights_are_those_of_the_repeated_rows() -> None:
    result, wanted = at_cutoff(COUNTED, 0.4), at_cutoff(REPEATED, 0.4)
    for name in ("called", "right", "missed", "precision"):
        assert getattr(result, name) == getattr(wanted, name)
    one, other = decision_curve(COUNTED, CUTS), decision_curve(REPEATED, CUTS)
    np.testing.assert_allclose(one.low, other.low, atol=1e-12)
    assert risk_coverage(COUNTED).aurc == risk_coverage(REPEATED).aurc


def test_weighted_decisions_by_loops() -> None:
    shares = WEIGHTS * N / WEIGHTS.sum()
    result, cost = at_cutoff(WEIGHTED, 0.4), mean_cost(WEIGHTED, CUTS, alarm=1, miss=4)
    curve = decision_curve(WEIGHTED, CUTS, test_harm=0.01)
    rows = list(zip(SCORES, HITS, shares, strict=True))
    called = [(h, w) for s, h, w in rows if s >= 0.4]
    right, alike = sum(w for h, w in called if h), sum(w for _, w in called)
    assert result.called == pytest.approx(alike)
    assert result.right == pytest.approx(right)
    assert result.missed == pytest.approx(sum(w for s, h, w in rows if h and s < 0.4))
    assert result.net_benefit == pytest.approx((right - (alike - right) * 0.4 / 0.6) / N)
    kish = alike**2 / sum(w * w for _, w in called)
    assert result.alike is not None
    share = right / alike
    variance = sum((w * (h - share)) ** 2 for h, w in called) / alike**2
    assert result.alike.called == pytest.approx(min(kish, share * (1 - share) / variance))
    assert result.alike.called < kish  # as hits happen to have the larger weights
    assert result.precision is not None
    assert result.precision.low < right / alike < result.precision.high
    for k, cut in enumerate(CUTS.tolist()):
        odds = cut / (1 - cut)
        model = sum(w if h else -w * odds for s, h, w in rows if s >= cut) / N
        every = sum(w if h else -w * odds for _, h, w in rows) / N
        assert curve.model[k] == pytest.approx(model - 0.01)
        assert curve.every[k] == pytest.approx(every)
        assert cost[k] == pytest.approx(
            sum((4 * w if s < cut else 0) if h else (w if s >= cut else 0) for s, h, w in rows) / N
        )
    both = at_cutoff_by_group(WEIGHTED, 0.4, GROUPS, n_groups=4)
    assert sum(one.right for one in both if one) == pytest.approx(right)


def test_intervals_hold_where_weights_depend_on_the_outcome() -> None:
    share = (np.arange(100_000) + 0.5) / 100_000
    precision, held, bins = float(share[share >= 0.6].mean()), [], []
    for seed in range(200):
        rows = survey(np.random.default_rng([3, seed]), alike=True)
        result = at_cutoff(rows, 0.6).precision
        assert result is not None
        held.append(result.low <= precision <= result.high)
        diagram = binned_reliability(
            rows.scores, rows.hits, n_bins=10, binning="equal_mass", sample_weight=rows.weights
        )
        means = diagram.bins.mean_score
        bins.append((diagram.lower <= means) & (means <= diagram.upper))
    assert 0.92 <= np.mean(held) <= 0.99
    assert 0.93 <= np.mean(bins) <= 0.97


def test_equal_weights_change_no_decision() -> None:
    equal = with_design(ROWS, sample_weight=np.full(N, 3.0))
    one, other = decision_curve(equal, CUTS), decision_curve(ROWS, CUTS)
    np.testing.assert_allclose([one.low, one.high], [other.low, other.high], atol=1e-12)
    result, wanted = at_cutoff(equal, 0.4), at_cutoff(ROWS, 0.4)
    for name in ("precision", "sensitivity", "specificity", "share_called"):
        ends = getattr(wanted, name)
        assert getattr(result, name).low == pytest.approx(ends.low)
        assert getattr(result, name).high == pytest.approx(ends.high)
    kept, plain = (group_accuracies(rows, 0.3, 0.7, [GROUPS]) for rows in (equal, ROWS))
    np.testing.assert_allclose(kept.adjusted, plain.adjusted, atol=1e-9)


def test_decisions_of_clusters_are_less_certain() -> None:
    # Every row ten times over, each with its copies in a cluster: as the rows themselves.
    ten = np.repeat(np.arange(N), 10)
    copies = with_design(ROWS.rows(ten), clusters=ten)
    result, plain = at_cutoff(copies, 0.4), at_cutoff(ROWS, 0.4)
    assert result.called == 10 * plain.called
    for name in ("precision", "sensitivity", "specificity", "share_called"):
        one, other = getattr(result, name), getattr(plain, name)
        assert one.high - one.low == pytest.approx(other.high - other.low, rel=0.03)
    curve, rows = decision_curve(copies, CUTS[1:]), decision_curve(ROWS, CUTS[1:])
    np.testing.assert_allclose(curve.model, rows.model)
    np.testing.assert_allclose(curve.high - curve.low, rows.high - rows.low, rtol=0.01)


def test_selective_prediction_weighs_rows_and_cuts_no_cluster() -> None:
    result, shares = risk_coverage(WEIGHTED), WEIGHTS / WEIGHTS.sum()
    for score, coverage, accuracy in zip(
        result.score, result.coverage, result.accuracy, strict=True
    ):
        kept = score <= SCORES
        assert coverage == pytest.approx(shares[kept].sum())
        assert accuracy == pytest.approx(shares[kept] @ HITS[kept] / shares[kept].sum())
    held = out_of_fold_accuracy(CLUSTERED, 0.6, deal_folds(CLUSTERED))
    apart = out_of_fold_accuracy(ROWS, 0.6, deal_folds(CLUSTERED))
    assert (held.rows, held.right) == (apart.rows, apart.right)
    assert held.accuracy is not None
    with pytest.raises(CalibrationInputError, match="cut by folds"):
        out_of_fold_accuracy(CLUSTERED, 0.6, np.arange(N) % 5)
    groups = group_accuracies(CLUSTERED, 0.3, 0.9, [AREAS])
    assert groups.alike is not None
    assert (groups.alike < groups.rows).any()


def test_decisions_at_a_stated_prevalence_count_as_many_events() -> None:
    split, shift = restated(Split(ROWS, ROWS, same_data=True), OneClass(1), 0.1)
    result = at_cutoff(split.test, 0.2)
    assert shift.stated == 0.1
    assert result.n_events / result.n_samples == pytest.approx(0.1)
    called = split.test.scores >= 0.2
    sensitivity = HITS[called].sum() / HITS.sum()
    specificity = (1 - HITS)[~called].sum() / (1 - HITS).sum()
    assert result.right / result.n_events == pytest.approx(sensitivity)
    right, wrong = 0.1 * sensitivity, 0.9 * (1 - specificity)
    assert result.precision is not None
    assert result.right / result.called == pytest.approx(right / (right + wrong))
    # Sensitivity and specificity vary as shares of the rows of their outcome; the delta method.
    odds = right / wrong
    spread = (1 - sensitivity) / HITS[called].sum() + specificity / (1 - HITS)[called].sum()
    width = 2 * 1.96 * odds / (1 + odds) ** 2 * np.sqrt(spread)
    assert result.precision.high - result.precision.low == pytest.approx(width, rel=0.1)


# Comparisons, models, learning curves ------------------------------------------------------------

BRIER, NLL = (measure_by_key(key) for key in ("event_brier", "nll"))
LOGITS = RNG.normal(0, 1.5, (N, 3)).round(2)
LABELS = (LOGITS / 1.5 + RNG.gumbel(size=LOGITS.shape)).argmax(axis=1)
CLASSES = with_design(LogitSet(LOGITS, LABELS), sample_weight=WEIGHTS)
EVENT = OneClass(1)


def test_a_comparison_weighs_rows_and_cuts_no_cluster() -> None:
    rows = with_design(ROWS, sample_weight=WEIGHTS, clusters=PATIENTS)
    fold = deal_folds(rows)
    result = audit(Split(rows, rows, fold=fold), event=EVENT, calibrator=PlattScaling())
    after = np.empty(N)
    for k in range(5):
        rest = fold != k
        fitted = PlattScaling().fit(SCORES[rest], HITS[rest], sample_weight=WEIGHTS[rest])
        after[~rest] = fitted.predict(SCORES[~rest])
    wanted = event_brier(after, HITS, sample_weight=WEIGHTS)
    assert result.test.compare("event_brier").after == pytest.approx(wanted)
    with pytest.raises(CalibrationInputError, match="cut by folds"):
        audit(Split(rows, rows, fold=np.arange(N) % 5), event=EVENT, calibrator=PlattScaling())


def test_a_lead_is_of_weighted_rows_and_of_clusters() -> None:
    first, second = RNG.random((2, N))
    off, shares = first - second, WEIGHTS / WEIGHTS.sum()
    mean_off = sum(o * w for o, w in zip(off, shares, strict=True))
    pulls = [w * (o - mean_off) for o, w in zip(off, shares, strict=True)]
    half = 1.959964 * np.sqrt(2.25 * N / (N - 1) * sum(p * p for p in pulls))
    result = lead(first, second, 5, WEIGHTED)
    assert [result.low, result.high] == pytest.approx([mean_off - half, mean_off + half])
    sums = np.array([(off - off.mean())[p == PATIENTS].sum() for p in range(50)])
    half = t.ppf(0.975, 49) * np.sqrt(2.25 * 50 / 49 * sums @ sums) / N
    result = lead(first, second, 5, CLUSTERED)
    assert [result.low, result.high] == pytest.approx([off.mean() - half, off.mean() + half])
    plain, equal = (lead(first, second, 5, rows) for rows in (None, ROWS))
    assert plain == equal
    losses = {"a": np.where(WEIGHTS > 2, 0.0, 1.0), "b": np.where(WEIGHTS > 2, 0.9, 0.0)}
    advice = (advise(losses, lambda _: True, ["a", "b"], 5, rows) for rows in (ROWS, WEIGHTED))
    assert [one.best if one else "" for one in advice] == ["b", "a"]


def test_cells_of_models_weigh_rows() -> None:
    fitted = TemperatureScaling().fit(LOGITS, LABELS, sample_weight=WEIGHTS)
    result = table_cell(CLASSES, event=EVENT, fitted=fitted, measure=NLL)
    table = fitted.predict_proba(LOGITS)
    assert result.value == pytest.approx(nll(table, LABELS, sample_weight=WEIGHTS))
    check_same_rows(CLASSES, CLASSES)
    with pytest.raises(CalibrationInputError, match=r"weights: none in another model"):
        check_same_rows(CLASSES, LogitSet(LOGITS, LABELS))
    other = with_design(
        LogitSet(LOGITS, LABELS), sample_weight=np.where(np.arange(N) == 4, 9, WEIGHTS)
    )
    with pytest.raises(CalibrationInputError, match="weights: another in row"):
        check_same_rows(CLASSES, other)


def test_splits_again_hand_on_weights_and_clusters() -> None:
    weighted_rows = with_design(ROWS, sample_weight=WEIGHTS, clusters=PATIENTS)
    halves = split_rows(weighted_rows)
    rows, share = pooled(halves)
    assert share == pytest.approx(0.5, abs=0.1)
    assert rows.weights is not None
    assert rows.weights.values.sum() == pytest.approx(WEIGHTS.sum())
    assert rows.clusters is not None
    assert np.unique(rows.clusters).size == 50
    result = resplit(rows, event=EVENT, calibrator=None, measures=(BRIER,), n_splits=3)
    assert result.cell(BRIER).value == pytest.approx(
        event_brier(SCORES, HITS, sample_weight=WEIGHTS), rel=0.15
    )


def test_learning_curves_draw_whole_clusters() -> None:
    drawn = drawn_rows(CLUSTERED, 200, seed=0, draw=0)
    assert drawn.clusters is not None
    for patient in np.unique(drawn.clusters):
        assert (drawn.clusters == patient).sum() == (patient == PATIENTS).sum()
    rows = with_design(ROWS, sample_weight=WEIGHTS, clusters=PATIENTS)
    plan = LearningPlan((200, N), n_draws=2)
    result = learning_curves(Split(rows, rows), EVENT, {"platt": PlattScaling()}, plan)
    fitted = PlattScaling().fit(SCORES, HITS, sample_weight=WEIGHTS)
    wanted = event_brier(fitted.predict(SCORES), HITS, sample_weight=WEIGHTS)
    assert wanted == pytest.approx(result.curve("platt").mean("event_brier")[-1])


def test_sweeps_and_movements_weigh_rows() -> None:
    swept = temperature_sweep(CLASSES, EVENT, [0.5, 2.0])
    z = np.exp(LOGITS / 2.0)
    table = z / z.sum(axis=1, keepdims=True)
    assert swept.nll[1] == pytest.approx(nll(table, LABELS, sample_weight=WEIGHTS))
    hits = (LABELS == 1).astype(int)
    assert swept.ece[1] == pytest.approx(ece(table[:, 1], hits, sample_weight=WEIGHTS))
    knots = knot_sweep(WEIGHTED, WEIGHTED, SplineCalibration(), [4, 6])
    spline: FittedScoreMap = SplineCalibration(n_knots=6).fit(SCORES, HITS, sample_weight=WEIGHTS)
    assert knots.test_nll[1] == pytest.approx(
        event_nll(spline.predict(SCORES), HITS, sample_weight=WEIGHTS)
    )
    moved = movement(WEIGHTED, EventScores(SCORES**2, HITS))
    assert moved.mean_shift == pytest.approx(WEIGHTS @ (SCORES**2 - SCORES) / WEIGHTS.sum())
    assert moved.n_lowered == N


# Drift and series -----------------------------------------------------------------------------


def test_batches_of_frequency_weights_are_those_of_the_repeated_rows() -> None:
    result, wanted = (
        compare_batches(tally_of(one), tally_of(ROWS), n_draws=200) for one in (COUNTED, REPEATED)
    )
    for one, other in zip(result.rows, wanted.rows, strict=True):
        assert (one.reference, one.p_value) == (other.reference, other.p_value)


def test_batches_of_weighted_rows_by_loops() -> None:
    result = compare_batches(tally_of(WEIGHTED), tally_of(ROWS), n_draws=1000)
    gap = next(one for one in result.rows if one.key == "mean_gap")
    shares = WEIGHTS / WEIGHTS.sum()
    assert gap.reference == pytest.approx(shares @ (SCORES - HITS))
    pulls = shares * (SCORES - HITS - gap.reference)
    spread = np.sqrt(pulls @ pulls + (SCORES - HITS).var() / N)
    assert gap.interval is not None
    assert gap.interval.high - gap.interval.low == pytest.approx(2 * 1.96 * spread, rel=0.05)
    pairs = compare_pairs(
        WEIGHTED, with_design(EventScores(SCORES**2, HITS), sample_weight=WEIGHTS)
    )
    change = next(one for one in pairs.rows if one.key == "mean_score")
    assert change.new - change.reference == pytest.approx(shares @ (SCORES**2 - SCORES))
    with pytest.raises(CalibrationInputError, match="weights: none in another"):
        compare_pairs(WEIGHTED, ROWS)


def test_batches_of_clusters_are_drawn_by_cluster() -> None:
    rejected = np.zeros(4)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        batches = []
        for _ in range(2):
            scores, hits, patients = _visits(rng)
            batches.append(EventScores(scores, hits))
        told = [with_design(one, clusters=patients) for one in batches]
        part = patients % 3
        of_clusters, of_rows = (list(map(tally_of, some)) for some in (told, batches))
        rejected += [
            bool(compare_batches(of_clusters[0], of_clusters[1], n_draws=200).moved),
            bool(compare_batches(of_rows[0], of_rows[1], n_draws=200).moved),
            compare_groups(told[0], told[1], [(part, part)], n_draws=200).moved.any().item(),
            compare_groups(batches[0], batches[1], [(part, part)], n_draws=200).moved.any().item(),
        ]
    assert max(rejected[0], rejected[2]) <= 3  # of 30
    assert min(rejected[1], rejected[3]) >= 6


def test_pairs_of_a_cluster_are_swapped_together() -> None:
    rng, ten = np.random.default_rng(0), np.repeat(np.arange(40), 10)
    scores = np.full(400, 0.5)
    moved = np.repeat(rng.choice([-0.05, 0.05], 40), 10) + 0.5
    hits = rng.integers(0, 2, 400)
    told = [with_design(EventScores(one, hits), clusters=ten) for one in (scores, moved)]
    result = compare_pairs(told[0], told[1], n_draws=2000)
    p = next(one for one in result.rows if one.key == "mean_score").p_value
    up = int((moved[::10] > 0.5).sum())
    # Each patient's score is as likely to fall as to rise: a two-sided binomial test of 40.
    assert p == pytest.approx(binomtest(up, 40).pvalue, abs=0.03)


def test_a_checkpoint_weighs_rows() -> None:
    result = checkpoint(1, Split(CLASSES, CLASSES, same_data=True))
    table = CLASSES.probabilities
    assert result.error == pytest.approx(
        1 - WEIGHTS @ (table.argmax(axis=1) == LABELS) / WEIGHTS.sum()
    )
    entropies = [-sum(p * np.log(p) for p in row) for row in table]
    assert result.entropy[0] == pytest.approx(WEIGHTS @ np.array(entropies) / WEIGHTS.sum())
