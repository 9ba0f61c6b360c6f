"""Every refusal once: what is asked, and the sentence that answers."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibcore import metrics
from calibcore.binning import bin_scores, equal_ranges
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.cumulative import cumulative_curves, ks_error
from calibcore.data import EventScores, LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.probabilities import log_probabilities, log_softmax, softmax
from calibcore.splines import CubicSpline, fit_spline
from calibcore.splits import Split, split_rows

NAN, INF = math.nan, math.inf
THREE = [[0.5, 0.3, 0.2]]
TEN = np.linspace(0, 1, 10)
ROW = LogitSet([[0.0, 1.0]], [1])
ROWS = LogitSet([[0.0, 1.0]] * 4, [0, 1, 0, 1])


def wrong(value: object) -> Any:
    return value


REFUSALS: dict[str, tuple[Callable[[], object], str]] = {
    # Scores and hits
    "no scores": (lambda: ks_error([], []), "scores: .*. Expected"),
    "table of scores": (lambda: ks_error([[0.5]], [1]), r"scores: .*\(1, 1\)"),
    "one number": (lambda: ks_error(0.5, 1), "scores: "),
    "NaN score": (lambda: ks_error([0.5, NAN], [0, 1]), "scores: .*NaN"),
    "score above 1": (lambda: ks_error([0.5, 1.5], [0, 1]), "scores: .*row 2"),
    "score below 0": (lambda: ks_error([-0.1, 0.5], [0, 1]), "scores: .*row 1"),
    "infinite score": (lambda: ks_error([INF, 0.5], [0, 1]), "scores: "),
    "words for scores": (lambda: ks_error(["high", "low"], [0, 1]), "scores: "),
    "complex scores": (lambda: ks_error([0.5 + 1j], [1]), "scores: "),
    "hit of 2": (lambda: ks_error([0.5, 0.5], [0, 2]), "hits: .*2"),
    "half a hit": (lambda: ks_error([0.5, 0.5], [0, 0.5]), "hits: .*row 2"),
    "NaN hit": (lambda: ks_error([0.5, 0.5], [0, NAN]), "hits: "),
    "too few hits": (lambda: ks_error([0.5, 0.5], [0]), "hits: .*1"),
    "too many hits": (lambda: ks_error([0.5], [0, 1]), "hits: .*2"),
    "curves of nothing": (lambda: cumulative_curves([], []), "scores: "),
    "event scores of nothing": (lambda: EventScores([], []), "scores: "),
    # Logits
    "no logits": (lambda: softmax(np.empty((0, 3))), "logits: "),
    "no classes": (lambda: softmax(np.empty((3, 0))), "logits: "),
    "one row without its brackets": (lambda: softmax([1.0, 2.0]), "logits: .*dimension"),
    "NaN logit": (lambda: softmax([[0.0, NAN]]), "logits: .*NaN"),
    "infinite logit": (lambda: log_softmax([[0.0, INF]]), "logits: .*inf"),
    "row ruled out": (lambda: softmax([[0.0, 1.0], [-INF, -INF]]), "logits: "),
    "ragged rows": (lambda: softmax([[0.0, 1.0], [0.0]]), "logits: "),
    "words for logits": (lambda: softmax([["a", "b"]]), "logits: "),
    "NaN in a set": (lambda: LogitSet([[0.0, NAN]], [0]), "logits: .*NaN"),
    # Probabilities
    "sum of 1.1": (lambda: log_probabilities([[0.5, 0.6]]), "probabilities: "),
    "probability below 0": (lambda: log_probabilities([[-0.5, 1.5]]), "probabilities: "),
    "NaN probability": (lambda: log_probabilities([[NAN, 1.0]]), "probabilities: "),
    "logits for probabilities": (
        lambda: LogitSet.from_probabilities([[5.0, -3.0]], [0]),
        "probabilities: ",
    ),
    "nll of logits": (lambda: metrics.nll([[5.0, -3.0]], [0]), "probabilities: "),
    "brier of logits": (lambda: metrics.brier([[5.0, -3.0]], [0]), "probabilities: "),
    "event of logits": (lambda: TopR(1).outcomes([[5.0, -3.0]], [0]), ": .*Expected"),
    # Labels and names
    "label out of range": (lambda: LogitSet([[0.0, 1.0]], [2]), "labels: .*2"),
    "label below 0": (lambda: LogitSet([[0.0, 1.0]], [-1]), "labels: .*-1"),
    "half a label": (lambda: LogitSet([[0.0, 1.0]], [0.5]), "labels: .*row 1"),
    "NaN label": (lambda: LogitSet([[0.0, 1.0]], [NAN]), "labels: "),
    "too many labels": (lambda: LogitSet([[0.0, 1.0]], [0, 1]), "labels: .*2"),
    "one-hot labels": (lambda: LogitSet([[0.0, 1.0]], [[0, 1]]), "labels: "),
    "words for labels": (lambda: LogitSet([[0.0, 1.0]], ["cat"]), "labels: "),
    "nll label": (lambda: metrics.nll(THREE, [3]), "labels: .*3"),
    "accuracy label": (lambda: metrics.accuracy(THREE, [3]), "labels: .*3"),
    "event label": (lambda: TopR(1).outcomes(THREE, [3]), "labels: .*3"),
    "fit label": (lambda: TemperatureScaling().fit(THREE, [3]), "labels: .*3"),
    "too few names": (lambda: LogitSet([[0.0, 1.0]], [0], ["cat"]), "class_names: .*1"),
    "equal names": (lambda: LogitSet([[0.0, 1.0]], [0], ["cat", "cat"]), "class_names: "),
    "label of 1e300": (lambda: LogitSet([[0.0, 1.0]], [1e300]), r"from 1e\+300 to 1e\+300\. "),
    # What is missing
    "masked logits": (
        lambda: LogitSet(np.ma.masked_array([[0.0, 1.0]], [[True, False]]), [0]),
        "logits: masked values",
    ),
    "masked label": (lambda: LogitSet([[0.0, 1.0]], np.ma.masked_array([0], [True])), "labels: "),
    "masked score": (lambda: ks_error(np.ma.masked_array([0.5], [True]), [0]), "scores: masked"),
    "masked row": (lambda: ROWS.rows(np.ma.masked_array([0], [True])), "chosen: masked"),
    "a nullable table's NA": (
        lambda: LogitSet(pd.DataFrame([[0, 1], [None, 2]]).convert_dtypes(), [0, 1]),
        "logits: missing values in row 2",
    ),
    "an object's words": (
        lambda: LogitSet(np.array([[0, "1"]], dtype=object), [0]),
        "logits: values of type",
    ),
    "NaN in accuracy": (lambda: metrics.accuracy([[NAN, 1.0]], [0]), "probabilities: NaN"),
    "NaN in top-r accuracy": (
        lambda: metrics.top_r_accuracy([[1.0, 0.0], [NAN, 1.0]], [0, 0], 1),
        "probabilities: NaN in row 2",
    ),
    "NaN before": (lambda: metrics.changed_decisions([[NAN, 1.0]], [[0, 1]]), "before: NaN"),
    "NaN after": (lambda: metrics.changed_decisions([[0, 1]], [[1.0, NAN]]), "after: NaN"),
    "ragged before": (
        lambda: metrics.changed_decisions([[0, 1], [1]], [[0, 1]]),
        "before: rows of unequal length",
    ),
    # Ranges
    "table of values": (lambda: equal_ranges([[1.0, 2.0]], 2), r"values: .*\(1, 2\)"),
    "words for values": (lambda: equal_ranges(["low", "high"], 2), "values: "),
    # Splits
    "share of 0": (lambda: split_rows(ROWS, calibration_share=0), "calibration_share: .*0"),
    "share of 1": (lambda: split_rows(ROWS, calibration_share=1), "calibration_share: .*1"),
    "NaN share": (lambda: split_rows(ROWS, calibration_share=NAN), "calibration_share: "),
    "one row to split": (lambda: split_rows(ROW), ": .*1"),
    "sets of other classes": (lambda: Split(ROW, LogitSet([[0.0, 1.0, 2.0]], [1])), ": .*Expected"),
    # Events
    "rank 0": (lambda: TopR(0).outcomes(THREE, [0]), "r: .*0"),
    "rank beyond the classes": (lambda: TopR(4).outcomes(THREE, [0]), "r: .*4"),
    "half a rank": (lambda: TopR(wrong(1.5)).outcomes(THREE, [0]), r"r: .*1\.5"),
    "within 0": (lambda: WithinTopR(0).outcomes(THREE, [0]), "r: .*0"),
    "within more than all": (lambda: WithinTopR(4).outcomes(THREE, [0]), "r: .*4"),
    "class below 0": (lambda: OneClass(-1).outcomes(THREE, [0]), "k: .*-1"),
    "class beyond the last": (lambda: OneClass(3).outcomes(THREE, [0]), "k: .*3"),
    # Bins
    "no bins": (lambda: bin_scores([0.5], [1], n_bins=0), "n_bins: .*0"),
    "half a bin": (lambda: metrics.ece([0.5], [1], n_bins=wrong(2.5)), r"n_bins: .*2\.5"),
    "no bins for mce": (lambda: metrics.mce([0.5], [1], n_bins=-3), "n_bins: .*-3"),
    "other bins": (
        lambda: metrics.ece([0.5], [1], binning=wrong("quantile")),
        "binning: .*quantile.*equal_width.*equal_mass",
    ),
    "norm 3": (lambda: metrics.ece([0.5], [1], norm=wrong(3)), "norm: .*3"),
    # Splines
    "one natural knot": (lambda: fit_spline(TEN, TEN, n_knots=1), "n_knots: .*1"),
    "two parabolic knots": (
        lambda: fit_spline(TEN, TEN, n_knots=2, runout="parabolic"),
        "n_knots: .*2.*3",
    ),
    "three cubic knots": (
        lambda: fit_spline(TEN, TEN, n_knots=3, runout="cubic"),
        "n_knots: .*3.*4",
    ),
    "other run-out": (
        lambda: fit_spline(TEN, TEN, runout=wrong("clamped")),
        "runout: .*clamped.*natural",
    ),
    "one value": (lambda: CubicSpline(np.array([1.0])), ": .*1"),
    "fewer points than knots": (lambda: fit_spline([0.0, 1.0], [0.0, 1.0]), ": .*2"),
    "x and y of other lengths": (lambda: fit_spline(TEN, TEN[1:]), ": .*Expected"),
    # Calibrators
    "fewer rows than knots": (
        lambda: SplineCalibration().fit([0.1, 0.2, 0.3, 0.4, 0.5], [0, 0, 0, 1, 1]),
        ": .*5.*6",
    ),
    "three knots for a cubic end": (
        lambda: SplineCalibration(n_knots=3, runout="cubic").fit(TEN, [0, 1] * 5),
        "n_knots: .*3",
    ),
    "other target": (
        lambda: SplineCalibration(fit_to=wrong("scores")).fit(TEN, [0, 1] * 5),
        "fit_to: .*scores",
    ),
    "spline of logits": (lambda: SplineCalibration().fit(3 * TEN, [0, 1] * 5), "scores: "),
    "spline read outside": (
        lambda: SplineCalibration().fit(TEN, [0, 1] * 5).predict([1.5]),
        "scores: .*row 1",
    ),
    "other loss": (
        lambda: TemperatureScaling(loss=wrong("brier")).fit([[0.0, 1.0]], [0]),
        "loss: .*brier",
    ),
    "no rows to fit": (lambda: TemperatureScaling().fit(np.empty((0, 2)), []), "logits: "),
    "NaN to calibrate": (
        lambda: TemperatureScaling().fit([[1.0, 0.0]] * 3, [0, 0, 1]).predict_proba([[NAN, 0.0]]),
        "logits: .*NaN",
    ),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refusals(what: str) -> None:
    call, sentence = REFUSALS[what]
    with pytest.raises(CalibrationInputError, match=sentence) as caught:
        call()
    error = caught.value
    assert isinstance(error, ValueError)
    assert str(error) == f"{error.field}: {error.actual}. Expected {error.expected}."


def test_an_error_survives_copying_and_pickling() -> None:
    error = CalibrationInputError("labels", "5 values", "4")
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301 (own bytes)
        assert (again.field, again.actual, again.expected) == ("labels", "5 values", "4")
        assert str(again) == str(error)


@pytest.mark.parametrize(
    "hits", [[True, False], [1.0, 0.0], np.array([1, 0], dtype=np.uint8), (1, 0)]
)
def test_hits_of_any_type_are_understood(hits: Any) -> None:
    assert ks_error([0.5, 0.5], hits) == 0.0


@pytest.mark.parametrize("labels", [[0.0, 1.0], [[0], [1]], np.array([0, 1], dtype=np.uint8)])
def test_labels_of_any_type_are_understood(labels: Any) -> None:
    assert LogitSet([[0.0, 1.0]] * 2, labels).labels.tolist() == [0, 1]


def test_nullable_tables_without_gaps_are_numbers() -> None:
    table = pd.DataFrame([[0.5, 1.5], [2.0, -1.0]]).convert_dtypes()
    result = LogitSet(table, pd.Series([1, 0]).astype("Int64"))
    assert result.logits.tolist() == [[0.5, 1.5], [2.0, -1.0]]
    assert result.labels.tolist() == [1, 0]
    mixed = pd.DataFrame({"a": pd.array([0, 3], dtype="Int64"), "b": [0.25, 1.0]})
    assert softmax(mixed).tolist() == softmax([[0.0, 0.25], [3.0, 1.0]]).tolist()


def test_infinite_values_can_be_ranked_and_nothing_masked_is_an_array() -> None:
    assert metrics.accuracy([[-INF, INF], [0.0, -INF]], [1, 1]) == 0.5
    assert ks_error(np.ma.masked_array([0.5, 0.5]), [1, 0]) == 0.0


@pytest.mark.parametrize("above", [1.0000001, float(np.nextafter(1, 2)), 1.0005])
@pytest.mark.parametrize("place", [0, 5_000])
def test_what_rounding_lifts_above_1_counts_as_1(above: float, place: int) -> None:
    # Means of float32 rows come out like this.
    table = np.full((6_000, 2), 0.5)
    table[place] = above, 0.0
    given, labels = table.copy(), np.arange(6_000) % 2
    for event in (TopR(1), WithinTopR(1), WithinTopR(2), OneClass(0)):
        assert event.outcomes(table, labels).scores[place] == 1.0
    assert metrics.nll(table[[place]], [0]) == 0.0
    assert metrics.brier(table[[place]], [0]) == 0.0
    assert metrics.classwise_ece(table[[place]], [0]) == 0.0
    assert LogitSet.from_probabilities(table, labels).probabilities.max() <= 1.0
    assert np.array_equal(table, given)


def test_minus_zero_is_a_probability() -> None:
    assert OneClass(0).outcomes([[-0.0, 1.0]], [1]).scores.tolist() == [0.0]


def test_inputs_are_left_as_they_were(rng: np.random.Generator) -> None:
    logits, labels = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    scores, hits = rng.random(20), rng.integers(0, 2, 20)
    before = [array.copy() for array in (logits, labels, scores, hits)]
    probabilities = LogitSet(logits, labels).probabilities
    fitted = TemperatureScaling().fit(logits, labels)
    fitted.predict_proba(logits)
    for event in (TopR(2), WithinTopR(2), OneClass(1)):
        event.outcomes(probabilities, labels)
    cumulative_curves(scores, hits)
    metrics.ece(scores, hits, binning="equal_mass")
    SplineCalibration(constrained=True).fit(scores, hits).predict(scores)
    for array, old in zip((logits, labels, scores, hits), before, strict=True):
        assert np.array_equal(array, old)
