"""The catalogue: one-vs-rest forms beside maps of the event, and what is said of each method."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from calibcore import Split, TopR, audit
from calibcore.calibrators import CATALOGUE, FittedVectorMap, Method
from calibcore.calibrators.base import FittedCalibrator
from calibcore.data import LogitSet
from calibcore.probabilities import softmax
from tests import reference
from tests import reference_score_maps as slow
from tests.sample_sets import sample_sets

BY_KEY = {method.key: method for method in CATALOGUE}
CLASSES = [m for m in CATALOGUE if m.acts_on == "classes"]
RNG = np.random.default_rng(5)
LABELS = RNG.integers(0, 3, 60)
LOGITS = np.round(2 * np.eye(3)[LABELS] + RNG.normal(scale=2, size=(60, 3)), 1)
OTHER = np.round(RNG.normal(scale=2, size=(20, 3)), 1)


def one_class(key: str, options: dict[str, Any], k: int, asked: float) -> float:
    """Calibrate a probability of one class by the definitions."""
    scores = list(map(reference.twelve_decimals, softmax(LOGITS)[:, k].tolist()))
    hits, asked = np.equal(LABELS, k).astype(int).tolist(), reference.twelve_decimals(asked)
    if key == "one_vs_rest_histogram":
        return float(slow.histogram(scores, hits, options["n_bins"], options["binning"], asked))
    curve = slow.isotonic(scores, hits)
    return float((slow.read_line if options["interpolate"] else slow.read_step)(curve, asked))


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("one_vs_rest_histogram", {"n_bins": 4, "binning": "equal_width"}),
        ("one_vs_rest_histogram", {"n_bins": 4, "binning": "equal_mass"}),
        ("one_vs_rest_isotonic", {"interpolate": False}),
        ("one_vs_rest_isotonic", {"interpolate": True}),
    ],
)
def test_options_of_one_vs_rest_forms_are_those_of_each_class(
    key: str, options: dict[str, Any]
) -> None:
    fitted: Any = BY_KEY[key].make(**options).fit(LOGITS, LABELS)
    for row, result in zip(softmax(OTHER).tolist(), fitted.predict_proba(OTHER), strict=True):
        mapped = [one_class(key, options, k, asked) for k, asked in enumerate(row)]
        assert sum(mapped) > 0
        assert result == pytest.approx([one / sum(mapped) for one in mapped], abs=1e-12)


@pytest.mark.parametrize(
    ("key", "options", "ece", "ks"),
    [
        ("histogram", {}, 0.0129, 0.0059),
        ("one_vs_rest_histogram", {}, 0.0661, 0.0443),
        ("one_vs_rest_histogram", {"n_bins": 20}, 0.0826, 0.0696),
        ("one_vs_rest_isotonic", {}, 0.0587, 0.0589),
        ("one_vs_rest_isotonic", {"interpolate": True}, 0.0620, 0.0622),
    ],
)
def test_the_event_and_one_vs_rest_differ_on_a_hundred_classes(
    key: str, options: dict[str, Any], ece: float, ks: float
) -> None:
    split, calibrator = Split(*sample_sets("city_country_100")), BY_KEY[key].make(**options)
    result = audit(split, event=TopR(1), calibrator=calibrator).test
    assert result.compare("ece").after == pytest.approx(ece, abs=5.1e-5)
    assert result.compare("ks_error").after == pytest.approx(ks, abs=5.1e-5)


def test_the_ensemble_can_come_before_isotonic() -> None:
    alone: Any = BY_KEY["ensemble_temperature"].make().fit(LOGITS, LABELS)
    chain: Any = BY_KEY["temperature_isotonic"].make(first="ensemble_temperature")
    assert chain.fit(LOGITS, LABELS).first == alone


# What is said of each method ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", [m for m in CLASSES if m.preserves_accuracy], ids=lambda m: m.key
)
def test_what_keeps_accuracy_keeps_the_order_of_the_classes(method: Method) -> None:
    fitted = method.make().fit(LOGITS, LABELS)
    assert isinstance(fitted, FittedVectorMap)
    order = np.argsort(OTHER, axis=1, kind="stable")
    assert (np.diff(np.take_along_axis(fitted.predict_proba(OTHER), order, axis=1)) >= 0).all()


@pytest.mark.parametrize(
    "method", [m for m in CLASSES if not m.preserves_accuracy], ids=lambda m: m.key
)
def test_what_may_change_the_order_does_on_some_rows(method: Method) -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 300)
    skew = np.array([3.0, 0.0, -3.0])  # two classes of three are distinguished by their bias alone
    rows = LogitSet(np.eye(3)[labels] + skew + rng.normal(size=(300, 3)), labels)
    fitted = method.make().fit(rows.logits, rows.labels)
    assert isinstance(fitted, FittedVectorMap)
    order = np.argsort(rows.logits, axis=1)
    after = np.take_along_axis(fitted.predict_proba(rows.logits), order, axis=1)
    assert (np.diff(after) < 0).any()


def n_numbers(fitted: FittedCalibrator) -> int:
    """Count what a fitted map holds, but for weights' last one, which follows from the others."""
    count = 0
    for field in dataclasses.fields(fitted):
        value = getattr(fitted, field.name)
        fixed = field.name == "temperature" and value == 1  # of linear maps that are not structured
        if not fixed and field.name in {
            "temperature",
            "slope",
            "square",
            "intercept",
            "a",
            "b",
            "c",
            "weights",
            "bias",
        }:
            count += np.size(value)
        elif field.name == "score_maps":
            count += sum(map(n_numbers, value))
    ensemble = type(fitted).__name__ in {"FittedEnsembleTemperature", "FittedBetaEnsemble"}
    return count - ensemble


@pytest.mark.parametrize("key", [one.key for one in CATALOGUE if one.fits.kind == "numbers"])
def test_the_numbers_of_a_fit_are_counted(key: str) -> None:
    method = BY_KEY[key]
    if method.acts_on == "event":
        top = softmax(LOGITS)
        fitted: Any = method.make().fit(top.max(axis=1), top.argmax(axis=1) == LABELS)
    else:
        fitted = method.make().fit(LOGITS, LABELS)
    assert method.fits.count(3) == n_numbers(fitted)
