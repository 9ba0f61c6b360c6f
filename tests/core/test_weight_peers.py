"""Weighted rows against other programs: scikit-learn itself, and figures of survey programs.

The rows of the figures are formulas of their numbers, so that whoever has the programs can compute
them again: samplics 0.6.0 (Taylor linearisation of a mean), statsmodels 0.15.0 (weighted least
squares of a constant, robust by cluster) and model-diagnostics 1.5.0 (bias, decomposition).
"""

import numpy as np
import pytest
from scipy.special import ndtri, stdtrit
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

from calibcore import EventScores, audit, metrics
from calibcore.calibrators import IsotonicCalibration, PlattScaling
from calibcore.cumulative import curves_of
from calibcore.data import with_design
from calibcore.decisions import decision_curve
from calibcore.inference import group_gaps
from calibcore.reliability import binned_reliability
from calibcore.tally import tally
from calibcore.weights import effective_size, frequency_weights, mean_error, shares_of

K = np.arange(60)
SCORES, HITS = ((37 * K) % 60 + 0.5) / 60, ((K * K) % 7 < 3).astype(int)
WEIGHTS, CLUSTERS = 1 + (K * 11) % 5 / 2, K % 12


def test_standard_errors_of_a_survey() -> None:
    gaps, shares = SCORES - HITS, shares_of(WEIGHTS)
    assert metrics.mean_gap(SCORES, HITS, sample_weight=WEIGHTS) == pytest.approx(
        -0.20416666666666666, abs=1e-14
    )
    assert mean_error(gaps, shares, None) == pytest.approx(0.07212458202250398, abs=1e-14)
    times = stdtrit(11, 0.975) / ndtri(0.975)  # of 12 clusters
    by_cluster = mean_error(gaps, shares, CLUSTERS) / times
    assert by_cluster == pytest.approx(0.04333163361079837, abs=1e-14)
    assert by_cluster == pytest.approx(0.043331633610798406, abs=1e-14)  # statsmodels
    # Net benefit of flagging all against flagging none is a mean of the rows, too.
    rows = with_design(EventScores(np.ones(60), HITS), sample_weight=WEIGHTS, clusters=CLUSTERS)
    worth = np.where(HITS > 0, 1.0, -3.0)
    half = 1.959963984540054 * mean_error(worth, shares, CLUSTERS)
    result = decision_curve(rows, [0.75])
    assert result.high[0] - result.model[0] == pytest.approx(half, rel=1e-9)


def test_effective_size_of_a_published_example() -> None:
    # The test of R's flipTables of its EffectiveSampleSize.
    assert effective_size([10.0, *np.ones(9)]) == pytest.approx(3.311927, abs=1e-6)


def test_weighted_cases_of_mcgrad() -> None:
    # The figures in the tests of MCGrad 0.1.5: ecce, its own in sigmas, normalized_entropy (the log
    # loss over that of the base rate) and calibration_ratio (expected over observed).
    parts = [0.4, 0.3, 0.2, 0.1]
    curves = curves_of(tally([0.6, 0.8, 0.2, 0.4], [0, 1, 0, 0], sample_weight=parts))
    assert curves.kuiper == pytest.approx(0.32, abs=1e-12)
    assert curves.kuiper_statistic == pytest.approx(1.289317, abs=1e-5)
    for scores, hits, weights, entropy in (
        ([0.2, 0.3, 0.5, 0.1, 0.3, 0.5, 0.2], [0, 0, 1, 0, 1, 0, 1], [2] * 7, 1.0218659880033287),
        (
            [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [0, 0, 0, 0, 1, 0, 1], [5, 4, 2, 2, 2, 2, 2],
            0.7247193682397917,
        ),
    ):  # fmt: skip
        for told in (weights, frequency_weights(weights)):
            skill = metrics.nll_skill(scores, hits, sample_weight=told)
            assert 1 - skill == pytest.approx(entropy, rel=1e-6)  # which is as close as its own
    scores, hits, weights = [0.1, 0.9, 0.2, 0.8, 0.7], [0, 1, 0, 1, 1], [1, 1, 1, 1, 10]
    for told in (weights, frequency_weights(weights)):
        ratio = metrics.observed_expected_ratio(scores, hits, sample_weight=told)
        assert 1 / ratio == pytest.approx(0.75, abs=1e-12)


def test_bias_and_parts_of_model_diagnostics() -> None:
    result = group_gaps(SCORES, HITS, [K % 3], sample_weight=WEIGHTS, least=1)
    assert result.gap.tolist() == pytest.approx(
        [-0.19166666666666668, -0.25000000000000006, -0.17083333333333334], abs=1e-14
    )
    parts = audit(SCORES, HITS, sample_weight=WEIGHTS).test
    for key, value in {
        "miscalibration": 0.11536544668010179,
        "discrimination": 0.004833039272694434,
        "uncertainty": 0.20659722222222224,
        "event_brier": 0.3171296296296296,
        "nll_miscalibration": 0.3777048359148467,
        "nll_discrimination": 0.012787016502190052,
        "nll_uncertainty": 0.6036372515003262,
        "event_nll": 0.9685550709129829,
    }.items():
        assert parts.compare(key).before == pytest.approx(value, abs=1e-10), key


Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(params=range(4))
def rows(request: pytest.FixtureRequest) -> Rows:
    """Scores with ties, outcomes and fractional weights."""
    rng = np.random.default_rng(request.param)
    scores = rng.beta(1, 1.5, 300).round(2 + request.param % 2).clip(0.01, 0.99)
    return scores, (rng.random(300) < scores**1.3).astype(int), rng.gamma(0.7, 1.0, 300)


def test_measures_of_scikit_learn(rows: Rows) -> None:
    scores, hits, weights = rows
    told = {"sample_weight": weights}
    for result, wanted in (
        (metrics.event_brier(scores, hits, **told), brier_score_loss(hits, scores, **told)),
        (metrics.event_nll(scores, hits, **told), log_loss(hits, scores, **told)),
        (metrics.auroc(scores, hits, **told), roc_auc_score(hits, scores, **told)),
    ):
        assert result == pytest.approx(wanted, abs=1e-12)
    table = np.stack([1 - scores, scores], axis=1)
    assert metrics.nll(table, hits, **told) == pytest.approx(log_loss(hits, table, **told))
    decided = (scores > 0.5).astype(int)
    assert metrics.accuracy(table, hits, **told) == pytest.approx(
        accuracy_score(hits, decided, **told)
    )


def test_isotonic_regression_of_scikit_learn(rows: Rows) -> None:
    scores, hits, weights = rows
    result = IsotonicCalibration().fit(scores, hits, sample_weight=weights).predict(scores)
    wanted = IsotonicRegression(out_of_bounds="clip").fit(scores, hits, sample_weight=weights)
    np.testing.assert_allclose(result, wanted.predict(scores), atol=1e-12)
    zero = weights * (np.arange(300) % 3 > 0)
    result = IsotonicCalibration().fit(scores, hits, sample_weight=zero).predict(scores[zero > 0])
    some = zero > 0
    wanted = IsotonicRegression().fit(scores[some], hits[some], sample_weight=zero[some])
    np.testing.assert_allclose(result, wanted.predict(scores[some]), atol=1e-12)


def test_platt_scaling_is_a_weighted_logistic_regression(rows: Rows) -> None:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - of this test alone

    scores, hits, weights = rows
    odds = np.log(scores / (1 - scores))[:, np.newaxis]
    fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    wanted = fitted.fit(odds, hits, sample_weight=weights).predict_proba(odds)[:, 1]
    result = PlattScaling().fit(scores, hits, sample_weight=weights).predict(scores)
    np.testing.assert_allclose(result, wanted, atol=1e-5)


def test_calibration_curve_of_repeated_rows(rows: Rows) -> None:
    scores, hits, weights = rows
    times = np.ceil(weights).astype(int)
    scores = np.where(scores * 10 % 1 == 0, scores + 1e-4, scores)  # bins close at other ends
    result = binned_reliability(
        scores, hits, n_bins=10, sample_weight=frequency_weights(times)
    ).bins
    frequency, score = calibration_curve(
        np.repeat(hits, times), np.repeat(scores, times), n_bins=10
    )
    some = result.counts > 0
    np.testing.assert_allclose(result.mean_score[some], score, atol=1e-12)
    np.testing.assert_allclose(result.frequency[some], frequency, atol=1e-12)
