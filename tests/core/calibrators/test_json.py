"""Fitted maps as JSON: the schema in the repository is what the classes write."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcore import CalibrationInputError
from calibcore.calibrators import (
    CATALOGUE,
    ByGroup,
    HistogramBinning,
    IsotonicCalibration,
    OneVsRest,
    ScoreMap,
    SplineCalibration,
    TemperatureScaling,
    VectorScaling,
    from_json,
)
from calibcore.calibrators.base import FittedCalibrator
from calibcore.calibrators.schema import json_schema

FILE = Path(__file__).parents[3] / "calibcore" / "calibrators" / "fitted.schema.json"


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    logits = 2 * rng.normal(size=(300, 3))
    labels = (logits + rng.gumbel(size=(300, 3))).argmax(axis=1)
    return logits, labels


def test_the_schema_file_is_up_to_date() -> None:
    made = json.dumps(json_schema(), indent=2) + "\n"
    assert FILE.read_text(encoding="utf-8") == made, f"write json_schema() to {FILE.name}"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"kind": "Path"}', '{"kind": "FittedTemperature"}', "[" * 100_000],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(CalibrationInputError):
        from_json(text)


LOGITS, LABELS = data(3)
SCORES = 1 / (1 + np.exp(-LOGITS[:, 0]))
FITTED = (
    TemperatureScaling().fit(LOGITS, LABELS),
    VectorScaling().fit(LOGITS, LABELS),
    OneVsRest(IsotonicCalibration()).fit(LOGITS, LABELS),
    HistogramBinning().fit(SCORES, LABELS == 0),
    SplineCalibration().fit(SCORES, LABELS == 0),
    ByGroup(HistogramBinning()).fit(SCORES, LABELS == 0, np.arange(300) % 3),
)
"""Maps of every kind of field."""

WRONG: tuple[Any, ...] = (
    *("x", None, {}, [["a"]], [[1], [2, 3]], math.inf, math.nan, {"kind": "FittedTemperature"}),
    *(json.loads(FITTED[0].to_json()), 10**400),
)


@pytest.mark.parametrize("fitted", FITTED, ids=lambda fitted: type(fitted).__name__)
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong!r:.20}")
def test_a_field_that_does_not_hold_its_type_is_refused(
    fitted: FittedCalibrator, wrong: Any
) -> None:
    content = json.loads(fitted.to_json())
    for name in content:
        with pytest.raises(CalibrationInputError):
            from_json(json.dumps({**content, name: wrong}))


WRONG_FIELDS: tuple[tuple[str, str, Any], ...] = (
    ("temperature", "temperature", -1),
    ("temperature", "temperature", 0.0),
    ("temperature", "temperature", True),
    ("temperature", "temperature", [1.0]),
    ("temperature", "warnings", [1]),
    ("vector", "space", "probabilities"),
    ("vector", "penalty", [0.5, "x"]),
    ("vector", "weights", [1.0, math.inf, 1.0]),
    ("histogram", "counts", [0.5] * 15),
    ("bbq", "edges", [0.9, 0.1]),
    ("bbq", "heights", [1.5]),
    ("bbq", "n_bins", [0]),
    ("bbq", "weights", [0.5]),
    ("beta", "a", -1.0),
    ("beta", "b", -0.1),
    ("beta_ensemble", "a", [0.0, 1.0]),
    ("beta_ensemble", "b", [-1.0, 1.0]),
    ("beta_ensemble", "weights", [1.5, -0.5]),
    ("ensemble_temperature", "weights", [2.0, -1.0, 0.0]),
    ("ensemble_temperature", "weights", [0.5, 0.1, 0.1]),
    ("gaussian_process", "places", [0.0, -1.0]),
    ("gaussian_process", "noise", -1.0),
    ("gaussian_process", "iterations", -1),
    ("gaussian_process", "gradient_norm", -1.0),
    ("histogram", "edges", []),
    ("histogram", "edges", [0.0, 0.5]),
    ("histogram", "edges", [0.0, 0.7, 0.3, 1.0]),
    ("histogram", "counts", [-1]),
    ("histogram", "frequency", [2.0]),
    ("isotonic", "first", [0.5, 0.1]),
    ("isotonic", "last", [2.0]),
    ("isotonic", "frequency", [0.5, 0.1]),
    ("vector", "uniform_share", -1.0),
    ("vector", "uniform_share", 1.0),
    ("vector", "penalty", [-1.0]),
    ("vector", "loss", -0.1),
    ("vector", "gradient_norm", -0.1),
    ("pooled_isotonic", "strictness", -1e-9),
    ("spline", "scores", [0.5, 0.1]),
    ("venn_abers", "lower_starts", [0.5, 0.1]),
    ("venn_abers", "lower", [-0.1]),
    ("venn_abers", "upper_ends", [1.1]),
    ("venn_abers", "upper", [0.5, 0.1]),
)


@cache
def json_of(key: str) -> str:
    method = next(method for method in CATALOGUE if method.key == key)
    calibrator: Any = method.make()
    rows = (SCORES, LABELS == 0) if isinstance(calibrator, ScoreMap) else (LOGITS, LABELS)
    text: str = calibrator.fit(*rows).to_json()
    return text


def refuse(key: str, field: str, wrong: Any, message: str) -> None:
    with pytest.raises(CalibrationInputError, match=message):
        from_json(json.dumps({**json.loads(json_of(key)), field: wrong}))


@pytest.mark.parametrize(("key", "field", "wrong"), WRONG_FIELDS)
def test_a_value_that_no_fit_can_give_is_refused_by_name(key: str, field: str, wrong: Any) -> None:
    refuse(key, field, wrong, f"^{field}: ")


@pytest.mark.parametrize(
    ("key", "field", "wrong"),
    [
        ("vector", "weights", [1.0, 1.0]),
        ("vector", "bias", []),
        ("vector", "bias", [0.0, 0.0]),
        ("one_vs_rest", "score_maps", []),
        ("histogram", "counts", [1, 2]),
        ("spline", "scores", [0.0, 1.0]),
        ("spline", "slope", []),
        ("bbq", "edges", []),
        ("bbq", "n_bins", [1]),
        ("beta_ensemble", "c", [0.0]),
        ("gaussian_process", "q_mean", [0.0]),
        ("histogram", "edges", [0.0, 1.0]),
        ("isotonic", "last", [0.5]),
        ("spline", "slope", [0.5]),
        ("venn_abers", "lower_starts", []),
        ("venn_abers", "upper_ends", []),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_refused(key: str, field: str, wrong: Any) -> None:
    refuse(key, field, wrong, rf"^{json.loads(json_of(key))['kind']}: arrays that do not fit")


def test_a_map_inside_another_is_of_the_right_family() -> None:
    content = json.loads(FITTED[2].to_json())
    content["score_maps"][1] = json.loads(FITTED[0].to_json())
    with pytest.raises(CalibrationInputError, match=r"^score_maps: "):
        from_json(json.dumps(content))
