"""Every measure of rows with weights: frequency weights are rows, sampling weights are shares."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from calibcore import metrics
from calibcore.binning import bin_scores
from calibcore.cumulative import cumulative_curves
from calibcore.errors import CalibrationInputError
from calibcore.metrics import METRICS, ClassMeasure, EventMeasure, Measure, Options
from calibcore.metrics.decomposition import corp_nll_of
from calibcore.reliability import binned_reliability
from calibcore.tally import Tally, tally
from calibcore.weights import (
    RowWeights,
    effective_size,
    frequency_weights,
    repeats,
    sampling_weights,
)
from tests.reference_weighted import OF_CLASSES, OF_EVENTS, Rows, Tables

CLOSE = 1e-12
PUBLIC: dict[str, Callable[..., float]] = {
    measure.key: getattr(metrics, measure.key)
    for measure in METRICS
    if hasattr(metrics, measure.key)
}
"""Functions that are called as their measure is, with its usual options."""
OTHERS: dict[str, Callable[..., float]] = {
    "kuiper": lambda s, h, **w: cumulative_curves(s, h, **w).kuiper,
    "ece_equal_mass": lambda s, h, **w: metrics.ece(s, h, binning="equal_mass", **w),
    "ece_l2": lambda s, h, **w: metrics.ece(s, h, binning="equal_mass", norm=2, **w),
    "mce_equal_mass": lambda s, h, **w: metrics.mce(s, h, binning="equal_mass", **w),
    "kde_ece_l2": lambda s, h, **w: metrics.kde_ece(s, h, norm=2, **w),
    "nll_miscalibration": lambda s, h, **w: metrics.corp_nll(s, h, **w).miscalibration,
    "nll_discrimination": lambda s, h, **w: metrics.corp_nll(s, h, **w).discrimination,
    "nll_uncertainty": lambda s, h, **w: metrics.corp_nll(s, h, **w).uncertainty,
    "miscalibration": lambda s, h, **w: metrics.corp(s, h, **w).miscalibration,
    "discrimination": lambda s, h, **w: metrics.corp(s, h, **w).discrimination,
    "uncertainty": lambda s, h, **w: metrics.corp(s, h, **w).uncertainty,
    "classwise_ece_equal_mass": lambda p, y, **w: metrics.classwise_ece(
        p, y, binning="equal_mass", **w
    ),
    "top_2_accuracy": lambda p, y, **w: metrics.top_r_accuracy(p, y, 2, **w),
    "top_5_accuracy": lambda p, y, **w: metrics.top_r_accuracy(p, y, 5, **w),
}


def _event(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.beta(1.5, 2, n).round(2).clip(0.01, 0.99)
    return scores, (rng.random(n) < scores**1.3).astype(int)


def _tables(n: int, n_classes: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 1.5, (n, n_classes))
    before, after = (np.exp(k * logits) for k in (1.6, 1.0))
    before, after = (one / one.sum(axis=1, keepdims=True) for one in (before, after))
    drawn = (after.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return before, after, np.minimum(drawn, n_classes - 1)


def _measured(measure: Measure, data: tuple[Any, ...], weights: RowWeights | None) -> float:
    if isinstance(measure, EventMeasure):
        scores, hits = data
        counted = tally(scores, hits, sample_weight=weights)
        return float(measure.compute(counted, Options()))
    assert isinstance(measure, ClassMeasure)
    before, after, labels = data
    return measure.after(before, after, labels, Options(), weights)


def _public(measure: Measure, data: tuple[Any, ...], weights: RowWeights | None) -> float:
    arguments = data
    if isinstance(measure, ClassMeasure) and measure.key != "calibration_gain":
        arguments = data[1:]
    result = (PUBLIC | OTHERS)[measure.key]
    return float(result(*arguments, sample_weight=weights))


@pytest.mark.parametrize("way", [_measured, _public])
@pytest.mark.parametrize("measure", METRICS, ids=lambda one: one.key)
def test_frequency_weights_are_repeated_rows(
    measure: Measure, way: Callable[[Measure, tuple[Any, ...], RowWeights | None], float]
) -> None:
    data = _event(300) if isinstance(measure, EventMeasure) else _tables(150)
    n = len(data[0])
    if measure.key == "certain_misses":
        data = np.where(data[0] > 0.6, 1.0, data[0]), data[1]
    weights = frequency_weights(np.random.default_rng(2).integers(0, 5, n))
    again = tuple(one[repeats(weights)] for one in data)
    expected = way(measure, again, None)
    assert way(measure, data, weights) == pytest.approx(expected, abs=CLOSE, rel=CLOSE)
    assert way(measure, data, None) != pytest.approx(expected, abs=1e-6)  # weights do matter


CLOSE_TO = {"kde_ece": 2e-6, "kde_ece_l2": 2e-5, "kde_classwise_ece": 1e-5}
"""References without a mesh of their own points are as near as meshes are."""


@pytest.mark.parametrize("measure", METRICS, ids=lambda one: one.key)
def test_sampling_weights_are_shares_of_their_sum(measure: Measure) -> None:
    whole = np.random.default_rng(3).integers(0, 5, 70)
    of_event = isinstance(measure, EventMeasure)
    data: tuple[Any, ...] = _event(70, seed=5) if of_event else _tables(70)
    if not measure.weighs:
        with pytest.raises(CalibrationInputError, match="frequency_weights"):
            _measured(measure, data, sampling_weights(whole))
        return
    if measure.key in (OF_EVENTS | OF_CLASSES):  # effective rows, bins or pairs of other rows
        some = whole > 0
        lists = [one[some].tolist() for one in (*(data if of_event else data[1:]), whole)]
        slow: Any = (OF_EVENTS | OF_CLASSES)[measure.key]
        expected = slow(Rows(*lists) if of_event else Tables(*lists))
    else:
        expected = _measured(measure, tuple(one.repeat(whole, axis=0) for one in data), None)
    near = CLOSE_TO.get(measure.key, 1e-10)
    for scale in (17.3, 1e-6):
        result = _measured(measure, data, sampling_weights(whole * scale))
        assert result == pytest.approx(expected, abs=near)
    result = _public(measure, data, sampling_weights(whole * 0.3))
    assert result == pytest.approx(expected, abs=near)


@pytest.mark.parametrize("measure", METRICS, ids=lambda one: one.key)
def test_equal_sampling_weights_change_nothing(measure: Measure) -> None:
    if not measure.weighs:
        return
    data = _event(300) if isinstance(measure, EventMeasure) else _tables(100)
    weights = sampling_weights(np.full(len(data[0]), 0.1))
    expected = _measured(measure, data, None)
    assert _measured(measure, data, weights) == pytest.approx(expected, abs=CLOSE, rel=CLOSE)


def test_the_debiased_error_is_right_on_average_with_weights() -> None:
    # Over draws of the outcomes of one bin, the sum before the root is the true squared gap.
    rng = np.random.default_rng(4)
    weights, scores = rng.gamma(1.0, 1.0, 40), np.full(40, 0.6)
    total = 0.0
    counted = tally(scores, np.zeros(40), sample_weight=weights)
    kish = float(counted.n_effective)
    for _ in range(20_000):
        rate = float(np.average(rng.random(40) < 0.45, weights=weights))
        total += (0.6 - rate) ** 2 - rate * (1 - rate) / (kish - 1)
    assert total / 20_000 == pytest.approx(0.15**2, abs=6e-4)


def test_the_log_loss_of_drawn_hits_outside_the_rows_is_that_of_the_best_probabilities() -> None:
    # 0.3 hits too few at 0.1, 0.2 too many at 0.9; rising already, so each score its own step.
    drawn = Tally(np.array([0.1, 0.5, 0.9]), np.ones(3), np.array([-0.3, 0.5, 1.2]), 3)
    parts = corp_nll_of(
        replace(drawn, design=tally([0.1, 0.5, 0.9], [0, 1, 1], None, [1, 1, 2]).design)
    )
    rate = (-0.3 + 0.5 + 1.2) / 3
    base = -rate * math.log(rate) - (1 - rate) * math.log(1 - rate)
    # Steps at 0 and 1 cost nothing; that at 1/2 costs ln 2 a row.
    assert parts.discrimination == pytest.approx(base - math.log(2) / 3, abs=1e-12)


def test_curves_and_bins_of_frequency_weights() -> None:
    scores, hits = _event(200)
    weights = frequency_weights(np.random.default_rng(6).integers(0, 4, 200))
    rows = repeats(weights)
    curves = cumulative_curves(scores, hits, sample_weight=weights)
    again = cumulative_curves(scores[rows], hits[rows])
    np.testing.assert_allclose(curves.gap, again.gap, atol=CLOSE)
    assert curves.ks_p_value == pytest.approx(again.ks_p_value, rel=1e-9)
    assert curves.ks_null_95 == pytest.approx(again.ks_null_95, rel=1e-9)
    for binning in ("equal_width", "equal_mass"):
        bins = bin_scores(scores, hits, n_bins=7, binning=binning, sample_weight=weights)
        wanted = bin_scores(scores[rows], hits[rows], n_bins=7, binning=binning)
        assert bins.counts.tolist() == wanted.counts.tolist()
        np.testing.assert_allclose(bins.gap, wanted.gap, atol=CLOSE)
        np.testing.assert_array_equal(bins.edges, wanted.edges)
    result = binned_reliability(scores, hits, sample_weight=weights)
    np.testing.assert_allclose(result.lower, binned_reliability(scores[rows], hits[rows]).lower)


def test_the_p_value_of_weighted_curves_by_hand() -> None:
    scores, hits = [0.4, 0.6], [1, 1]
    curves = cumulative_curves(scores, hits, sample_weight=[1.0, 3.0])
    # Of weights 1/2 and 3/2: gaps of 0.3 and 0.6 rows, over 2; variance 0.24 (1/4 + 9/4).
    assert curves.gap.tolist() == pytest.approx([0, -0.15, -0.45])
    assert curves.null_deviation == pytest.approx(np.sqrt(0.24 * 2.5) / 2)


def test_bins_of_sampling_weights_have_intervals_of_effective_rows() -> None:
    scores, hits = [0.7] * 5, [1, 1, 1, 0, 0]
    weights = [2.0, 2.0, 1.0, 1.0, 1.0]
    result = binned_reliability(scores, hits, n_bins=1, sample_weight=weights)
    n, rate = 49 / 11, 5 / 7  # Kish: (sum w)^2 / sum w^2
    z = 1.959963984540054
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    assert result.lower[0] == pytest.approx(centre - half)
    assert result.upper[0] == pytest.approx(centre + half)
    assert result.bins.kish is not None
    assert result.bins.kish[0] == pytest.approx(n)


def test_kish() -> None:
    assert effective_size([1, 1, 2]) == pytest.approx(16 / 6)
    assert effective_size([5, 5, 0]) == 2


@pytest.mark.parametrize(
    "weights",
    [[1.0], [1.0, -1.0], [1.0, np.nan], [0.0, 0.0], [np.inf, 1.0], [[1.0, 1.0]], ["a"] * 2],
)
def test_weights_that_are_none(weights: Any) -> None:
    with pytest.raises(CalibrationInputError, match="sample_weight"):
        metrics.ece([0.1, 0.9], [0, 1], sample_weight=weights)


def test_frequency_weights_are_whole() -> None:
    with pytest.raises(CalibrationInputError, match="sampling_weights"):
        frequency_weights([0.5, 1.0])
