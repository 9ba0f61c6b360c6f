"""Calibrators fitted to rows with weights."""

from typing import Any

import numpy as np
import pytest

from calibcore.calibrators import CATALOGUE, Method
from calibcore.calibrators.base import (
    FittedScoreMap,
    FittedVectorMap,
    GroupMap,
    ScoreMap,
    VectorMap,
)
from calibcore.calibrators.by_group import ByGroup
from calibcore.calibrators.ensembles.beta import BetaEnsemble
from calibcore.calibrators.ensembles.temperature import (
    EnsembleTemperatureScaling,
    SmoothedTemperatureScaling,
)
from calibcore.calibrators.gaussian_process import Kernel, bound, place
from calibcore.calibrators.lifts import Chain, OneVsRest, PerRank, PooledClasses, PooledScores
from calibcore.calibrators.linear.fit import FittedLinear
from calibcore.calibrators.linear.maps import DirichletScaling, MatrixScaling, VectorScaling
from calibcore.calibrators.score_maps.bbq import BBQ
from calibcore.calibrators.score_maps.beta import BetaCalibration
from calibcore.calibrators.score_maps.centred import CentredIsotonicCalibration
from calibcore.calibrators.score_maps.histogram import HistogramBinning
from calibcore.calibrators.score_maps.isotonic import IsotonicCalibration
from calibcore.calibrators.score_maps.platt import PlattScaling
from calibcore.calibrators.score_maps.quadratic import QuadraticScaling
from calibcore.calibrators.score_maps.spline import SplineCalibration
from calibcore.calibrators.temperature import TemperatureScaling
from calibcore.errors import CalibrationInputError
from calibcore.metrics import brier, nll
from calibcore.weights import frequency_weights, repeats
from tests import reference_weighted

RNG = np.random.default_rng(0)
N = 120
SCORES = RNG.beta(1.5, 2, N).round(2).clip(0.01, 0.99)
HITS = (RNG.random(N) < SCORES**1.4).astype(int)
LOGITS = RNG.normal(0, 2, (N, 4)).round(2)
LABELS = (LOGITS / 2 + RNG.gumbel(size=LOGITS.shape)).argmax(axis=1)
GROUPS = RNG.integers(0, 2, N)
WEIGHTS = RNG.gamma(2.0, 1.0, N)
COUNTS = frequency_weights(RNG.integers(0, 4, N))
ASKED = np.linspace(0.02, 0.98, 25)

REFUSED = {
    "venn_abers": "own weight nobody knows",
    "multicalibration": "a test of equal rows",
}

SUMS: list[ScoreMap] = [
    PlattScaling(),
    BetaCalibration(),
    BetaCalibration("am"),
    BetaCalibration("ab"),
    IsotonicCalibration(),
    IsotonicCalibration(interpolate=True),
    CentredIsotonicCalibration(),
]
WEIGHED: list[ScoreMap] = [
    *SUMS,
    PlattScaling(smoothed_targets=True),
    QuadraticScaling(),
    HistogramBinning(7),
    HistogramBinning(7, "equal_mass"),
    BBQ(),
    SplineCalibration(),
    SplineCalibration(constrained=False),
    SplineCalibration(cross_validated=True),
]


def _fit(method: Method, rows: Any, sample_weight: Any) -> Any:
    calibrator, chosen = method.make(), slice(None) if rows is None else rows
    if isinstance(calibrator, GroupMap):
        return calibrator.fit(
            SCORES[chosen], HITS[chosen], GROUPS[chosen], sample_weight=sample_weight
        )
    if isinstance(calibrator, ScoreMap):
        return calibrator.fit(SCORES[chosen], HITS[chosen], sample_weight=sample_weight)
    return calibrator.fit(LOGITS[chosen], LABELS[chosen], sample_weight=sample_weight)


def _asked(fitted: Any) -> Any:
    if isinstance(fitted, FittedVectorMap):
        return fitted.predict_proba(LOGITS)
    assert isinstance(fitted, FittedScoreMap)
    return fitted.predict(ASKED)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", CATALOGUE, ids=lambda one: one.key)
def test_frequency_weights_are_repeated_rows(method: Method) -> None:
    weighted = _fit(method, None, COUNTS)
    again = _fit(method, repeats(COUNTS), None)
    np.testing.assert_allclose(_asked(weighted), _asked(again), atol=1e-12)


@pytest.mark.parametrize("method", CATALOGUE, ids=lambda one: one.key)
def test_sampling_weights_count_or_are_refused(method: Method) -> None:
    if not method.weighs:
        with pytest.raises(CalibrationInputError, match=REFUSED[method.key]):
            _fit(method, None, WEIGHTS)
        return
    plain, weighted = _fit(method, None, None), _fit(method, None, WEIGHTS)
    assert np.abs(_asked(plain) - _asked(weighted)).max() > 1e-3
    np.testing.assert_allclose(
        _asked(_fit(method, None, 2.0**-10 * WEIGHTS)), _asked(weighted), atol=1e-9
    )


@pytest.mark.parametrize("calibrator", WEIGHED, ids=repr)
def test_equal_and_whole_sampling_weights(calibrator: ScoreMap) -> None:
    plain = calibrator.fit(SCORES, HITS).predict(ASKED)
    equal = calibrator.fit(SCORES, HITS, sample_weight=np.full(N, 0.3)).predict(ASKED)
    np.testing.assert_allclose(equal, plain, atol=1e-9)


@pytest.mark.parametrize("calibrator", [*SUMS, HistogramBinning(7)], ids=repr)
def test_whole_sampling_weights_fit_as_repeated_rows_do(calibrator: ScoreMap) -> None:
    # A fit that minimises a weighted sum knows no number of rows; equal-mass edges, priors and
    # smoothed targets do, and so do splines over the share of rows.
    rows = repeats(COUNTS)
    weighted = calibrator.fit(SCORES, HITS, sample_weight=COUNTS.values).predict(ASKED)
    again = calibrator.fit(SCORES[rows], HITS[rows]).predict(ASKED)
    np.testing.assert_allclose(weighted, again, atol=1e-7)


@pytest.mark.parametrize(
    "calibrator",
    [
        VectorScaling(),
        VectorScaling(bias=False, space="log_probabilities"),
        MatrixScaling(odir=(1.0, 0.1)),
        MatrixScaling(bias=False),
        DirichletScaling(l2=1e-3),
    ],
    ids=repr,
)
def test_whole_sampling_weights_fit_linear_maps_as_repeated_rows_do(calibrator: VectorMap) -> None:
    rows, labels = repeats(COUNTS), LABELS.copy()
    weighted = calibrator.fit(LOGITS, labels, sample_weight=COUNTS.values)
    again = calibrator.fit(LOGITS[rows], labels[rows])
    assert isinstance(weighted, FittedLinear)
    assert isinstance(again, FittedLinear)
    assert weighted.gradient_norm < 1e-8
    assert weighted.loss == pytest.approx(again.loss, abs=1e-10)
    np.testing.assert_allclose(
        weighted.predict_proba(LOGITS), again.predict_proba(LOGITS), atol=1e-6
    )


@pytest.mark.parametrize(
    "calibrator",
    [
        TemperatureScaling("squared_error"),
        EnsembleTemperatureScaling(),
        EnsembleTemperatureScaling("squared_error"),
        BetaEnsemble(n_maps=1),
        BetaEnsemble(loss="squared_error"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("times", [1, 30])
def test_whole_sampling_weights_fit_ensembles_as_repeated_rows_do(
    calibrator: VectorMap, times: int
) -> None:
    rng = np.random.default_rng(times)  # of many rows, some tell where to search
    logits = rng.normal(0, 2, (times * N, 4)).round(2)
    labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(axis=1)
    counts = frequency_weights(rng.integers(0, 4, times * N))
    rows = repeats(counts)
    fits = (
        calibrator.fit(logits, labels, sample_weight=counts.values),
        calibrator.fit(logits[rows], labels[rows]),
    )
    if isinstance(calibrator, BetaEnsemble) and times > 1:  # valleys are flat, and so are starts
        losses = [
            (brier if calibrator.loss == "squared_error" else nll)(
                one.predict_proba(logits[rows]), labels[rows]
            )
            for one in fits
        ]
        assert losses[0] == pytest.approx(losses[1], abs=2e-5)
        return
    weighted, again = (one.predict_proba(LOGITS) for one in fits)
    np.testing.assert_allclose(weighted, again, atol=1e-6)


def test_smoothed_temperature_counts_weighted_rows_once_each() -> None:
    smoothed = SmoothedTemperatureScaling().fit(LOGITS, LABELS, sample_weight=WEIGHTS)
    plain = TemperatureScaling().fit(LOGITS, LABELS, sample_weight=WEIGHTS)
    assert smoothed.temperature == plain.temperature
    assert smoothed.weights[2] == pytest.approx(1 / (N + 1))


def test_bayesian_binning_of_weights_agrees_with_a_slow_loop() -> None:
    rows = reference_weighted.Rows(SCORES.tolist(), HITS.tolist(), WEIGHTS.tolist())
    fitted = BBQ().fit(SCORES, HITS, sample_weight=WEIGHTS)
    asked = ASKED[::8]  # each takes the loop anew
    expected = [reference_weighted.bbq(rows, score) for score in asked.tolist()]
    np.testing.assert_allclose(fitted.predict(asked), expected, atol=1e-11)


def test_a_gaussian_process_of_whole_weights_has_the_bound_of_repeated_rows() -> None:
    rows = repeats(COUNTS)
    places, kernel = np.array([-6.0, -3.0, -1.0, 0.0]), Kernel(1.5, 2.0, 1e-6)
    mean = np.array([0.3, -0.2, 0.1, 0.4])
    weighted = bound(mean, kernel, places, place(LOGITS, LABELS, COUNTS.values))
    again = bound(mean, kernel, places, place(LOGITS[rows], LABELS[rows]))
    assert weighted.value == pytest.approx(again.value, rel=1e-12)
    np.testing.assert_allclose(weighted.gradient, again.gradient, rtol=1e-9)


def test_many_weighted_rows_start_from_their_groups() -> None:
    rng = np.random.default_rng(3)
    scores, weights = rng.random(5000), rng.gamma(1.0, 1.0, 5000)
    hits = rng.random(5000) < scores**2
    fitted = PlattScaling().fit(scores, hits, sample_weight=weights)
    odds = np.log(scores / (1 - scores))
    chance = 1 / (1 + np.exp(-fitted.slope * odds - fitted.intercept))
    left = weights * (hits - chance) / weights.sum()
    assert [left.sum(), left @ odds] == pytest.approx([0, 0], abs=1e-10)


def test_histogram_binning_by_hand() -> None:
    fitted = HistogramBinning(2).fit([0.1, 0.2, 0.9], [1, 0, 1], sample_weight=[1.0, 3.0, 2.0])
    assert fitted.predict([0.3, 0.8]).tolist() == pytest.approx([0.25, 1.0])


@pytest.mark.parametrize("constrained", [True, False])
def test_a_spline_of_weights_is_near_that_of_repeated_rows(*, constrained: bool) -> None:
    # The points of copies lie between those of rows, so the two agree as rows become many.
    rng = np.random.default_rng(4)
    scores = rng.random(4000)
    hits = (rng.random(4000) < scores**1.5).astype(int)
    counts = frequency_weights(rng.integers(1, 5, 4000))
    spline, rows = SplineCalibration(constrained=constrained), repeats(counts)
    weighted = spline.fit(scores, hits, sample_weight=counts.values).predict(ASKED)
    again = spline.fit(scores[rows], hits[rows]).predict(ASKED)
    np.testing.assert_allclose(weighted, again, atol=2e-3)
    assert np.abs(again - spline.fit(scores, hits).predict(ASKED)).max() > 5e-3


@pytest.mark.parametrize("n_classes", [2, 30])
def test_temperature_scaling_minimises_the_weighted_nll(n_classes: int) -> None:
    rng = np.random.default_rng(5)
    logits = rng.normal(0, 3, (3000, n_classes))
    labels = (logits / 2.2 + rng.gumbel(size=logits.shape)).argmax(axis=1)
    weights = rng.gamma(0.5, 1.0, 3000) * np.where(logits[:, 0] > 0, 5, 1)
    weights[:7] = 0
    fitted = TemperatureScaling().fit(logits, labels, sample_weight=weights)

    def slope(temperature: float) -> float:
        scaled = logits / temperature
        p = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        off = (p * logits).sum(axis=1) - logits[np.arange(3000), labels]
        return float(weights @ off / weights.sum())

    assert slope(fitted.temperature) == pytest.approx(0.0, abs=1e-9)
    assert slope(TemperatureScaling().fit(logits, labels).temperature) != pytest.approx(0, abs=1e-5)


def test_pooled_scores_repeat_rows_too() -> None:
    pooled, rows = PooledScores(IsotonicCalibration()), repeats(COUNTS)
    weighted = pooled.fit(LOGITS, LABELS, sample_weight=COUNTS).predict(ASKED)
    assert weighted.tolist() == pooled.fit(LOGITS[rows], LABELS[rows]).predict(ASKED).tolist()


@pytest.mark.parametrize("kind", [OneVsRest, PerRank, PooledClasses])
def test_lifts_of_whole_sampling_weights_fit_as_repeated_rows_do(kind: Any) -> None:
    lift, rows = kind(IsotonicCalibration()), repeats(COUNTS)
    weighted = lift.fit(LOGITS, LABELS, sample_weight=COUNTS.values).predict_proba(LOGITS)
    again = lift.fit(LOGITS[rows], LABELS[rows]).predict_proba(LOGITS)
    np.testing.assert_allclose(weighted, again, atol=1e-9)
    chain = Chain(TemperatureScaling(), lift)
    weighted = chain.fit(LOGITS, LABELS, sample_weight=COUNTS.values).predict_proba(LOGITS)
    again = chain.fit(LOGITS[rows], LABELS[rows]).predict_proba(LOGITS)
    np.testing.assert_allclose(weighted, again, atol=1e-7)


def test_groups_of_whole_sampling_weights_fit_as_repeated_rows_do() -> None:
    # A penalty counts against the rows, whose weights have a mean of 1 over those that count.
    rows, some = repeats(COUNTS), int((COUNTS.values > 0).sum())
    weighted = ByGroup(PlattScaling(), penalty=3.0)
    again = ByGroup(PlattScaling(), penalty=3.0 * rows.size / some)
    one = weighted.fit(SCORES, HITS, GROUPS, sample_weight=COUNTS.values)
    other = again.fit(SCORES[rows], HITS[rows], GROUPS[rows])
    for group in (0, 1):
        asked = np.full(ASKED.size, group)
        np.testing.assert_allclose(
            one.predict(ASKED, asked), other.predict(ASKED, asked), atol=1e-8
        )
