"""Fitted maps as JSON: the schema in the repository is what the classes write."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from calibcore import CalibrationInputError
from calibcore.calibrators import CATALOGUE, FittedVectorMap, Method, ScoreMap, from_json
from calibcore.calibrators.schema import json_schema

FILE = Path(__file__).parents[2] / "calibcore" / "calibrators" / "fitted.schema.json"


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    logits = 2 * rng.normal(size=(300, 3))
    labels = (logits + rng.gumbel(size=(300, 3))).argmax(axis=1)
    return logits, labels


def test_the_schema_file_is_up_to_date() -> None:
    made = json.dumps(json_schema(), indent=2) + "\n"
    assert FILE.read_text(encoding="utf-8") == made, f"write json_schema() to {FILE.name}"


@pytest.mark.parametrize("method", CATALOGUE, ids=lambda method: method.key)
def test_every_method_round_trips_to_the_bit_and_keeps_the_schema(method: Method) -> None:
    logits, labels = data(3)
    calibrator = method.make()
    new, _ = data(4)
    if isinstance(calibrator, ScoreMap):
        scores = 1 / (1 + np.exp(-logits[:, 0]))
        fitted = calibrator.fit(scores, labels == 0)
        probes = np.concatenate([[0, 1], 1 / (1 + np.exp(-new[:, 0]))])
        again = from_json(fitted.to_json())
        assert np.array_equal(again.predict(probes), fitted.predict(probes))  # type: ignore[attr-defined]
    else:
        fitted_vector = calibrator.fit(logits, labels)
        assert isinstance(fitted_vector, FittedVectorMap)
        again = from_json(fitted_vector.to_json())
        assert isinstance(again, FittedVectorMap)
        found = again.predict_proba(new)
        assert np.array_equal(found, fitted_vector.predict_proba(new))
        fitted = fitted_vector  # type: ignore[assignment]
    assert again == fitted
    assert hash(again) == hash(fitted)
    jsonschema.validate(json.loads(fitted.to_json()), json_schema())


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"kind": "Path"}', '{"kind": "FittedTemperature"}', "[" * 100_000],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(CalibrationInputError):
        from_json(text)
